"""LaTeX: every document compiles in pdflatex, fits the page, and KaTeX takes every formula."""

from __future__ import annotations

import json
import os
import re
import subprocess
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from symattn import VARIANTS, Notation, SymattnError
from symattn.documents.latex import latex_document
from symattn.documents.outline import outline
from symattn.notation.latex import latex
from symattn.notation.tree import Text
from tests.conftest import Tool
from tests.gates import (
    EXAMPLES,
    HOSTILE_LABELS,
    HOSTILE_TITLE,
    NOTATIONS,
    ODD_SYMBOLS,
    SUBJECTS,
    displays,
    inlines,
    labelled,
    page,
)

#: Takes documents by name, gives what the log holds against each.
Typeset = Callable[[Mapping[str, str]], dict[str, list[str]]]
#: Takes formulas (whether displayed, source), gives what KaTeX holds against each, "" if nothing.
Katex = Callable[[list[tuple[bool, str]]], list[str]]

_COMPLAINT = re.compile(
    r"!|LaTeX( Font)? Warning|Missing character"
    r"|Overfull \\[hv]box \((?P<over>[\d.]+)pt too (?P<direction>wide|high)\)"
)
_KATEX = """
const katex = require("katex");
const said = JSON.parse(require("fs").readFileSync(0, "utf8")).map(([displayMode, source]) => {
  try {
    katex.renderToString(source, {displayMode, throwOnError: true, strict: "error", trust: false});
    return "";
  } catch (error) {
    return String(error);
  }
});
process.stdout.write(JSON.stringify(said));
"""


@cache
def documents() -> dict[str, str]:
    """Every document, by subject and notation."""
    return {
        f"{subject} ({notation})": latex_document(page(subject, notation))
        for notation in NOTATIONS
        for subject in SUBJECTS
    }


def _run(pdflatex: str, folder: Path, wanted: Mapping[str, str]) -> dict[str, list[str]]:
    """All documents in one run; the complaints of the log under the document they are about."""
    body = "\n".join(
        f"\\clearpage\\typeout{{DOCUMENT {number}}}\n{document}"
        for number, document in enumerate(wanted.values())
    )
    source = (
        "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
        f"{body}\n\\clearpage\\typeout{{THE END}}\n\\end{{document}}\n"
    )
    (folder / "all.tex").write_text(source, "utf-8")
    subprocess.run(
        [pdflatex, "-interaction=nonstopmode", "-no-shell-escape", "all.tex"],
        cwd=folder, env={**os.environ, "max_print_line": "2000"}, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    log = (folder / "all.log").read_text("utf-8", "replace")
    log, ended, _ = log.partition("\nTHE END")
    assert ended, log[-2000:]
    assert (folder / "all.pdf").exists()
    found: dict[str, list[str]] = {}
    for name, part in zip(wanted, re.split(r"^DOCUMENT \d+$", log, flags=re.M)[1:], strict=True):
        lines = ((line, _COMPLAINT.match(line)) for line in part.splitlines())
        found[name] = [line for line, match in lines if match and float(match["over"] or 9) > 1]
    return found


@pytest.fixture(scope="session")
def typeset(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> Typeset:
    program = tool("pdflatex")
    return lambda wanted: _run(program, tmp_path_factory.mktemp("latex"), wanted)


@pytest.fixture(scope="session")
def typeset_all(typeset: Typeset) -> dict[str, list[str]]:
    return typeset(documents())


@pytest.fixture(scope="session")
def katex(tool: Tool, unavailable: Callable[[str], NoReturn]) -> Katex:
    node = tool("node")
    if subprocess.run(
        [node, "-e", 'require("katex")'], capture_output=True, check=False
    ).returncode:
        unavailable("katex (for node, through NODE_PATH)")

    def complaints(formulas: list[tuple[bool, str]]) -> list[str]:
        ran = subprocess.run(
            [node, "-e", _KATEX], input=json.dumps(formulas), capture_output=True, check=True,
            encoding="utf-8", timeout=60,
        )  # fmt: skip
        said: list[str] = json.loads(ran.stdout)
        assert len(said) == len(formulas)
        return said

    return complaints


def formulas(document: str) -> list[tuple[bool, str]]:
    """Every formula of a document, displayed or in a sentence."""
    return [*((True, each) for each in displays(document)),
            *((False, each) for each in inlines(document))]  # fmt: skip


@pytest.mark.parametrize("notation", NOTATIONS)
def test_documents_compile(typeset_all: dict[str, list[str]], notation: str) -> None:
    errors = {
        name: [line for line in lines if not line.startswith("Overfull")]
        for name, lines in typeset_all.items()
        if name.endswith(f" ({notation})")
    }
    assert len(errors) == len(SUBJECTS)
    assert {name: lines for name, lines in errors.items() if lines} == {}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_nothing_runs_off_the_page(typeset_all: dict[str, list[str]], notation: str) -> None:
    over = {
        name: [line for line in lines if line.startswith("Overfull")]
        for name, lines in typeset_all.items()
        if name.endswith(f" ({notation})")
    }
    assert len(over) == len(SUBJECTS)
    assert {name: lines for name, lines in over.items() if lines} == {}


def test_single_views_compile(typeset: Typeset) -> None:
    documents = {
        f"{path.stem} {views}": latex_document(page(path.stem, "exact", *views))
        for path in EXAMPLES
        for views in (("worked",), ("value",))
    }
    assert {name: lines for name, lines in typeset(documents).items() if lines} == {}


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        (r"\[ \frac{1} \]", "! "),
        (r"$\unknown$", "! Undefined control sequence"),
        ("a \u4e00 b", "! LaTeX Error: Unicode character"),
        (r"\[ " + "x + " * 80 + r"x \]", "Overfull \\hbox"),
        (r"\[ \rule{1pt}{900pt} \]", "Overfull \\vbox"),
        (r"\ref{nowhere}", "LaTeX Warning"),
    ],
)
def test_a_spoilt_document_is_noticed(typeset: Typeset, document: str, complaint: str) -> None:
    found = typeset({"sound": "A sentence.", "spoilt": document, "after": r"\[ x \]"})
    assert found["sound"] == []
    assert any(line.startswith(complaint) for line in found["spoilt"]), found
    assert found["after"] == []


def test_hostile_words_are_set_as_words(
    typeset: Typeset, tool: Tool, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program, reader = tool("pdflatex"), tool("pdftotext")
    document = latex_document(labelled(tmp_path, HOSTILE_TITLE, HOSTILE_LABELS))
    found = _run(program, tmp_path, {"hostile": document})
    assert [line for line in found["hostile"] if not line.startswith("Overfull")] == []
    ran = subprocess.run(
        [reader, "-layout", "-enc", "UTF-8", "all.pdf", "-"], cwd=tmp_path, capture_output=True,
        check=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    shown = _letters(ran.stdout)
    missing = [words for words in (HOSTILE_TITLE, *HOSTILE_LABELS) if _letters(words) not in shown]
    assert missing == []


def _letters(words: str) -> str:
    """Words without what TeX's oldest fonts hide: blanks, _ (a rule), the shape of quotes."""
    plain = unicodedata.normalize("NFKC", words.replace("ı", "i"))
    plain = plain.translate(str.maketrans("∧∼”“’‘", '^~""\'`'))
    return re.sub(r"[\s_]", "", plain)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_katex_takes_every_formula(katex: Katex, notation: str) -> None:
    wanted: dict[tuple[bool, str], str] = {}
    for subject in SUBJECTS:
        document = documents()[f"{subject} ({notation})"]
        assert len(displays(document)) == document.count("\\[\n") > 0
        assert not re.search(r"\\\(|\$\$", document)
        wanted |= dict.fromkeys(formulas(document), subject)
    said = katex(list(wanted))
    bad = [(subject, why) for subject, why in zip(wanted.values(), said, strict=True) if why]
    assert len(said) > 100
    assert bad == []


def test_katex_takes_hostile_labels(katex: Katex, tmp_path: Path) -> None:
    document = latex_document(labelled(tmp_path, "", HOSTILE_LABELS))
    letters = [
        chr(code) for code in (*range(0x20, 0x7F), *range(0xC0, 0x100)) if code not in (0xD7, 0xF7)
    ]
    words = [
        *((True, latex(Text(each * 2))) for each in letters),
        (True, latex(Text("".join(letters)))),
    ]
    grids = [(True, each) for each in displays(document)]
    said = katex([*grids, *words])
    assert len(grids) > 8
    assert [pair for pair in zip([*grids, *words], said, strict=True) if pair[1]] == []


def test_katex_notices_what_is_wrong(katex: Katex) -> None:
    sound, *spoilt = katex(
        [
            (True, r"\frac{1}{2}"),
            (True, r"\frac{1}"),
            (False, r"\unknown"),
            (True, "é"),
            (True, "{"),
        ]
    )
    assert sound == ""
    assert all("ParseError" in why for why in spoilt)


def test_a_symbol_is_refused_or_set(katex: Katex, typeset: Typeset) -> None:
    documents: dict[str, str] = {}
    derivation = VARIANTS[0].spec.derivation()
    for symbol in ODD_SYMBOLS:
        try:
            notation = Notation(symbols={"weights": symbol})
        except SymattnError:
            continue
        documents[symbol] = latex_document(outline(derivation, notation=notation))
    assert documents
    said = {
        symbol: [why for why in katex(formulas(document)) if why]
        for symbol, document in documents.items()
    }
    assert {symbol: why for symbol, why in said.items() if why} == {}
    assert {symbol: lines for symbol, lines in typeset(documents).items() if lines} == {}


def test_formulas_are_found_in_a_document() -> None:
    document = "A \\$5 $x$ b $y_{1}$.\n\\[\nx \\\\[2pt] y\n\\]\nmore \\$ and $z$\n\\[\nu\n\\]\n"
    assert displays(document) == ["x \\\\[2pt] y", "u"]
    assert inlines(document) == ["x", "y_{1}", "z"]
