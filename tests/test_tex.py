"""LaTeX files: each flavor compiled by pdflatex and lualatex over all variants, and the PDF."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from symattn import Notation, SymattnError
from symattn.documents import pdf
from symattn.documents.pdf import pdf_document
from symattn.documents.tex import FLAVORS, tex_document
from tests.gates import EXAMPLES, HOSTILE_LABELS, HOSTILE_TITLE, SUBJECTS, labelled, page

FILES = tuple(name for name in FLAVORS if name != "fragment")
PROGRAMS = ("pdflatex", "lualatex")

#: What a log must not hold; an Overfull box below a point is not seen.
_COMPLAINT = re.compile(
    r"^(!.*|.*Warning: (?!Label\(s\)|Font shape|Some font|Shell escape|Size subst|File `page.out).*"
    r"|Missing character.*"
    r"|Overfull \\[hv]box \((?!0\.)[\d.]+pt.*)$",
    re.MULTILINE,
)

Typeset = Callable[[str, str, Path], list[str]]


@pytest.fixture(scope="session")
def typeset(tool: Callable[[str], str]) -> Typeset:
    """The complaints of a program about a file, whose PDF is left in the folder."""

    def run(program: str, source: str, folder: Path) -> list[str]:
        (folder / "page.tex").write_text(source, "utf-8")
        (folder / "page.pdf").unlink(missing_ok=True)
        ran = subprocess.run(
            [tool(program), "-no-shell-escape", "-interaction=nonstopmode", "page.tex"],
            cwd=folder, capture_output=True, timeout=300, check=False,
        )  # fmt: skip
        log = (folder / "page.log").read_text("utf-8", "replace")
        found = _COMPLAINT.findall(log)
        assert (folder / "page.pdf").exists(), log[-1500:]
        assert (ran.returncode != 0) == any(line.startswith("!") for line in found)
        return found

    return run


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("flavor", FILES)
def test_every_derivation_compiles_and_fits(
    flavor: str, program: str, typeset: Typeset, tmp_path: Path
) -> None:
    outlines = [page(subject) for subject in SUBJECTS]
    assert len(outlines) > 60
    assert typeset(program, tex_document(*outlines, flavor=flavor), tmp_path) == []


@pytest.mark.parametrize("flavor", FILES)
def test_every_notation_compiles_and_fits(flavor: str, typeset: Typeset, tmp_path: Path) -> None:
    outlines = [page(path.stem, "mixed") for path in EXAMPLES]
    assert typeset("pdflatex", tex_document(*outlines, flavor=flavor), tmp_path) == []


@pytest.mark.parametrize("flavor", FILES)
def test_hostile_words_stay_words(
    flavor: str, typeset: Typeset, tool: Callable[[str], str], tmp_path: Path
) -> None:
    source = tex_document(labelled(tmp_path, HOSTILE_TITLE, HOSTILE_LABELS), flavor=flavor)
    for program in PROGRAMS:
        found = typeset(program, source, tmp_path)
        assert [line for line in found if not line.startswith("Overfull")] == []
        text = subprocess.run([tool("pdftotext"), "page.pdf", "-"], cwd=tmp_path,
                              capture_output=True, encoding="utf-8", check=True).stdout  # fmt: skip
        assert "cannot be in it" not in text
        assert "script" in text


@pytest.mark.parametrize("flavor", FILES)
def test_a_spoilt_file_is_noticed(flavor: str, typeset: Typeset, tmp_path: Path) -> None:
    source = tex_document(page("causal"), flavor=flavor)
    wide = r"\noindent\hbox to 3\textwidth{x\hfil x}"
    for spoilt, complaint in ((r"\nothing", "!"), (wide, "Overfull")):
        where = source.rindex(r"\end{frame}" if flavor == "beamer" else r"\end{document}")
        changed = f"{source[:where]}{spoilt}\n{source[where:]}"
        if flavor != "standalone" or complaint == "!":  # a standalone page grows
            found = typeset("pdflatex", changed, tmp_path)
            assert any(line.startswith(complaint) for line in found)


def test_each_step_can_be_referred_to(typeset: Typeset, tmp_path: Path) -> None:
    one, other = page("causal"), page("backward")
    source = tex_document(one, other)
    labels = re.findall(r"\\label\{(.*?)\}", source)
    assert labels[: len(one.steps)] == [f"eq:{section.name}" for section in one.steps]
    assert labels[len(one.steps) :] == [f"eq:2-{section.name}" for section in other.steps]
    ends = source.rindex(r"\end{document}")
    cited = source[:ends] + "By \\eqref{eq:weights}.\n" + source[ends:]
    for _ in range(2):
        found = typeset("pdflatex", cited, tmp_path)
    assert found == []


def test_the_pdf_shows_the_digits(tool: Callable[[str], str], tmp_path: Path) -> None:
    tool("pdflatex")
    for flavor in FILES:
        (tmp_path / "page.pdf").write_bytes(
            pdf_document(tex_document(page("causal"), flavor=flavor))
        )
        text = subprocess.run([tool("pdftotext"), "-layout", "page.pdf", "-"], cwd=tmp_path,
                              capture_output=True, encoding="utf-8", check=True).stdout  # fmt: skip
        for number in ("0.2840", "0.1400", "0.5760", "1.7199", "2.8640"):
            assert number in text


def test_no_tex_and_tex_that_fails_are_said(
    tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("pdflatex")
    with pytest.raises(SymattnError, match=r"fails: Undefined control sequence") as failed:
        pdf_document(r"\documentclass{article}\begin{document}\nothing\end{document}")
    assert "\n" not in str(failed.value)
    marker = Path("written-by-tex")
    with pytest.raises(SymattnError, match="fails"):
        pdf_document(
            rf"\documentclass{{article}}\immediate\write18{{touch {marker.resolve()}}}\bad"
        )
    assert not marker.exists()
    monkeypatch.setattr(pdf, "PROGRAMS", ("no-such-tex",))
    with pytest.raises(SymattnError, match="no TeX is installed"):
        pdf_document("")


def test_large_matrices_fit_a_slide(typeset: Typeset, tmp_path: Path) -> None:
    wide = labelled(tmp_path, "wide", [f"token {k}" for k in range(16)])
    sized = replace(wide, notation=Notation(limit=0))
    assert typeset("pdflatex", tex_document(sized, flavor="beamer"), tmp_path) == []
