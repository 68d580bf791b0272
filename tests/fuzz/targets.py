"""What is fuzzed: one row a door, with how an input of it is made, and what is done with it.

A row's function takes the bytes and the place, and says what came of them; whatever it raises but
an answer is a finding. What has to hold of all of them is in `tried`.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from io import StringIO
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import symattn
from symattn.errors import SymattnError
from symattn.status import Status
from tests.fuzz import making
from tests.fuzz.asking import ask
from tests.fuzz.making import packed, unpacked
from tests.fuzz.target import SEEDS, WORDS, check_input
from tests.fuzz.watch import SIGNS, Broken, Place, clean, watching

#: What may come of an input; the rest are findings.
OUTCOMES = ("done", "wrong", "unsettled", "refused", "nothing")

_OF_STATUS = {
    Status.AGREES: "done",
    Status.WRONG: "wrong",
    Status.UNUSABLE: "refused",
    Status.UNSETTLED: "unsettled",
}


@dataclass(frozen=True)
class Target:
    """A door: how an input is made, what becomes of it, and which files it may write."""

    name: str
    make: Callable[[Random], bytes]
    run: Callable[[bytes, Place], str]
    #: Names in the folder that may be written, found in the words of an input.
    written: Callable[[bytes], tuple[str, ...]] = lambda _: ()
    #: What is there before any input is tried.
    begin: Callable[[Place], object] = lambda _: None


@dataclass(frozen=True)
class Tried:
    """What came of an input: an outcome, or the kind of a finding with what was seen."""

    kind: str
    told: str = ""
    #: Where in the package it came from, as far as that is known.
    where: str = ""
    seconds: float = 0.0
    memory: int = 0

    @property
    def found(self) -> bool:
        """Whether it is a finding."""
        return self.kind not in OUTCOMES

    @property
    def signature(self) -> tuple[str, str]:
        """What is alike in two findings of the same cause."""
        return self.kind, self.where or self.told[:40]


def tried(target: Target, data: bytes, place: Place) -> Tried:
    """What came of an input at a door."""
    place.last = 0.0, 0
    kind, told, where = "done", "", ""
    target.begin(place)
    try:
        with watching(place, target.written(data)):
            kind = target.run(data, place)
    except Broken as broken:
        kind, told = broken.kind, broken.told
        where = told.partition(" at ")[2].split(";")[0].split(" ")[0] if kind == "internal" else ""
    except Exception as error:
        kind, told = "traceback", f"{type(error).__name__}: {error}"[:300]
        where = _where(error)
    return Tried(kind, " ".join(told.split()), where, *place.last)


def _where(error: BaseException) -> str:
    """The innermost line of the package that the exception came through."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/symattn/" in frame.filename and "/tests/" not in frame.filename
    ]
    return (
        f"symattn/{frames[-1].filename.rpartition('/symattn/')[2]}:{frames[-1].lineno}"
        if frames
        else ""
    )


def one_line(message: str, name: str = "", signs: str = "") -> None:
    """Raises `Broken` where a message is not one line, says not where, or has such `signs`."""
    clean(message, signs=signs)
    if "internal error" in message:
        raise Broken("internal", message)
    if not message.strip() or len(message.splitlines()) > 1:
        raise Broken("lines", repr(message[:300]))
    if name and not message.startswith(f"{name}:"):
        raise Broken("place", message[:300])


def _library(data: bytes, place: Place, name: str, make: Callable[[], Any]) -> str:
    """What a call of the library gives: an answer, or a message of one line."""
    try:
        answer = make()
    except SymattnError as error:
        one_line(str(error), name)
        return "refused"
    clean(*([answer] if isinstance(answer, str) else []), signs="")
    return "done" if answer is not None else "nothing"


# ---- the command line --------------------------------------------------------------------------


def command(words: list[str], standard_input: bytes = b"") -> str:
    """What ``symattn`` with these words ends with; `Broken` for what it may not do or say."""
    from click.testing import CliRunner

    from symattn.cli import main

    result = CliRunner().invoke(main, words, input=standard_input, prog_name="symattn")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    said, told = result.stdout_bytes.decode("utf-8", "replace"), result.stderr
    clean(said, told)
    lines = told.splitlines()
    for line in lines:
        if not line.startswith("symattn: "):
            raise Broken("lines", repr(told[:300]))
        if "internal error" in line:
            raise Broken("internal", line)
        if "too large for the memory" in line:
            raise Broken("memory", line)
    if result.exit_code not in _OF_STATUS.keys() | {Status.INTERNAL}:
        raise Broken("status", f"{result.exit_code}: {told[:200]}")
    if result.exit_code == Status.INTERNAL or (result.exit_code == Status.UNUSABLE and not lines):
        raise Broken("status", f"{result.exit_code} and {len(lines)} lines: {told[:200]}")
    if len(lines) > 1 and words[0] not in ("check", "render"):
        raise Broken("lines", repr(told[:300]))
    if "github" not in words and any(line.startswith("::") for line in said.splitlines()):
        raise Broken(
            "forged", next(line for line in said.splitlines() if line.startswith("::"))[:200]
        )
    return _OF_STATUS[Status(result.exit_code)]


def _outputs(data: bytes) -> tuple[str, ...]:
    """The files that ``-o`` names."""
    words, _ = unpacked(data)
    given = [after for word, after in pairwise(words) if word in ("-o", "--output")]
    glued = [
        word.removeprefix("-o").removeprefix("--output=")
        for word in words
        if word.startswith(("-o", "--output="))
    ]
    return tuple(str(Path(name)) for name in (*given, *glued) if name)


def _derive(data: bytes, place: Place) -> str:
    words, sheet = unpacked(data)
    place.put("x.toml", sheet)
    return command(["derive", "x.toml", *words])


def _equal(data: bytes, place: Place) -> str:
    """`equal` of a statement with options, which answers as `symattn.equal` in a program does."""
    words, _ = unpacked(data)
    text, options = (*words, "{}")[-2:] if len(words) < 2 else words[:2]
    outcome = ask(text, json.loads(options))
    if outcome.kind == "traceback":
        raise Broken("traceback", outcome.told)
    return "refused" if outcome.kind == "refused" else "done"


def _prove(data: bytes, place: Place) -> str:
    words, _ = unpacked(data)
    return command(["prove", *(word for word in words if word != "--all")])


def _line(data: bytes, place: Place) -> str:
    words, content = unpacked(data)
    place.put("x.toml", content)
    place.put("x.md", b"```symattn\n" + content + b"\n```\n{claim}`weights[1,1] = 0.33`\n")
    if {"--watch", "--all"} & {*words}:
        return "nothing"  # which go on for long because they are told to
    return command(words, content)


def _fixed(data: bytes) -> tuple[str, ...]:
    """What a command line may write: what ``-o`` names, and the pages that it is told to change."""
    words, _ = unpacked(data)
    pages = ("x.toml", "x.md", "sheet.toml", "sub/more.csv")
    changes = words[:1] == ["render"] or "--fix" in words
    return (*_outputs(data), *(pages if changes else ()))


def _page(data: bytes, place: Place) -> str:
    """``symattn render``: a page that is filled in twice is filled in."""
    words, page = unpacked(data)
    path = place.put("x.md", page)
    flavor = words[0] if words and words[0] in ("katex", "quarto", "sphinx") else "github"
    outcome = command(["render", "x.md", "--flavor", flavor])
    clean(path.read_text("utf-8", "replace"), signs="")
    if outcome == "done" and command(["render", "x.md", "--check", "--flavor", flavor]) == "wrong":
        raise Broken("unstable", "a page that is filled in would change")
    return outcome


def _checked(data: bytes, place: Place) -> str:
    """``symattn check`` on a file of any syntax, with its report in a format."""
    words, content = unpacked(data)
    name = f"x{words[0] if words and words[0] in _SUFFIXES else '.toml'}"
    place.put(name, content)
    return command(["check", name, *words[1:]])


# ---- the library -------------------------------------------------------------------------------


def _check(data: bytes, place: Place) -> str:
    return {"marked": "done", "empty": "nothing"}.get(kind := check_input(data), kind)


def _python(data: bytes, place: Place) -> str:
    """`symattn.check` of a text, and its report."""
    text = data.decode("utf-8", "replace")
    return _library(data, place, "", lambda: str(symattn.check("\n" + text)))


def _numbers(data: bytes, place: Place) -> str:
    """A file of numbers: read by itself, and as a worksheet's matrix where it is small."""
    from symattn.files.matrices import named_matrix

    words, content = unpacked(data)
    name, reference = (*words, "x.npy", "x.npy")[:2]
    if name not in ("x.npy", "x.npz", "x.safetensors", "x.csv"):
        name = "x.npy"
    place.put(name, content)
    try:
        found = named_matrix(reference, place.folder).read()
    except SymattnError as error:
        one_line(str(error))
        found = None
    if found is not None and (
        len(found) > 8 or any(len(row) > 8 for row in found if hasattr(row, "__len__"))
    ):
        return "done"
    given = f'scores = {json.dumps(reference)}\nV = "numbers.csv"\n'
    sheet = f"[attention]\nscale = false\n[given]\n{given}"
    place.put("x.toml", sheet.encode("utf-8", "replace"))
    outcome = command(["derive", "x.toml"])
    if outcome == "done" and found is None:
        raise Broken("refused", f"{reference} alone, but not in a worksheet")
    return outcome


def _cell(data: bytes, place: Place) -> str:
    """``%%symattn``."""
    from IPython.core.error import UsageError

    from symattn.ipython import cell

    words, body = unpacked(data)
    try:
        page = cell(" ".join(words), body.decode("utf-8", "replace"))
    except UsageError as error:
        one_line(str(error), signs=SIGNS)
        return "refused"
    clean(repr(page), *page._repr_mimebundle_().values())
    return "done"


# ---- pages -------------------------------------------------------------------------------------


@cache
def _sphinx(place: Place) -> tuple[Any, StringIO]:
    """A Sphinx project whose app is open for as long as the place, and what it warns of."""
    from sphinx.application import Sphinx
    from sphinx.util.console import nocolor
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    nocolor()
    told = StringIO()
    place.open.enter_context(docutils_namespace())
    place.open.enter_context(patch_docutils())
    settings = {
        "extensions": ["myst_parser", "symattn.sphinxext"],
        "master_doc": "x",
        "myst_enable_extensions": ["dollarmath", "colon_fence"],
    }
    app = Sphinx(
        place.folder,
        None,
        place.root / "built",
        place.root / "trees",
        "text",
        settings,
        StringIO(),
        told,
    )
    return app, told


def _sphinx_page(suffix: str) -> Callable[[bytes, Place], str]:
    def run(data: bytes, place: Place) -> str:
        _, page = unpacked(data)
        app, told = _sphinx(place)
        told.seek(0)
        told.truncate()
        path = place.put(f"x{suffix}", page.decode("utf-8", "ignore").encode())
        app.project.discover()
        app.project.docnames.add("x")
        app.project._docname_to_path["x"] = Path(path.name)
        try:
            app.builder.read_doc("x")
            tree = app.env.get_and_resolve_doctree("x", app.builder)
        except Exception as error:
            if not _where(error):
                return "nothing"  # docutils, Sphinx or MyST failed on their own
            raise
        finally:
            path.unlink(missing_ok=True)
            app.env.clear_doc("x")
        clean(tree.pformat() if SECRET_MAY_SHOW not in page else "", signs="")
        warned = told.getvalue()
        clean(warned)
        if "internal error" in warned:
            line = next(line for line in warned.splitlines() if "internal error" in line)
            raise Broken("internal", line)
        lines = [line for line in warned.splitlines() if "WARNING" in line or "ERROR" in line]
        if lines and all("you wrote" in line for line in lines):
            return "wrong"
        return "refused" if lines else "done"

    return run


#: Sphinx's own directives read what they are told to.
SECRET_MAY_SHOW = b"include::"


def _mkdocs(data: bytes, place: Place) -> str:
    """The hook of MkDocs."""
    from symattn import mkdocsext

    text = unpacked(data)[1].decode("utf-8", "replace")
    path = place.put("x.md", text.encode())
    told: list[str] = []
    name = SimpleNamespace(abs_src_path=str(path), src_uri="x.md", content_string=text)
    sink: Any = SimpleNamespace(
        isEnabledFor=lambda level: True, log=lambda level, line: told.append(line)
    )
    before, mkdocsext._log = mkdocsext._log, sink
    try:
        page: Any = SimpleNamespace(file=name)
        plugin = mkdocsext.Fills()
        plugin.load_config({})
        filled = plugin.on_page_markdown(text, page=page)
    finally:
        mkdocsext._log = before
    clean(filled, signs="")
    for line in told:
        one_line(line, signs=SIGNS)
    return "refused" if told else "done"


# ---- the rows ----------------------------------------------------------------------------------

_SUFFIXES = (".toml", ".md", ".rst", ".tex", ".ipynb")
_REPORTS = (
    (),
    (),
    ("--format", "md"),
    ("--format", "html"),
    ("--format", "json"),
    ("--diff",),
    ("--format", "github"),
    ("--format", "sarif"),
    ("--format", "junit"),
    ("--full",),
    ("--no-explain",),
)


def _any_text(random: Random) -> bytes:
    if random.random() < 0.5:
        return b"\0" + making.sheet(random).encode("utf-8", "replace")
    return making.changed(random, random.choice(SEEDS), WORDS)


def _any_file(random: Random) -> bytes:
    if random.random() < 0.4:
        seed = making.changed(random, random.choice(SEEDS), (*WORDS, *making.OUTSIDE, *making.RUN))
        suffix = _SUFFIXES[seed[0] % 5] if seed else ".toml"
        return packed([suffix, *random.choice(_REPORTS)], seed[1:])
    rst = random.random() < 0.3
    return packed([".rst" if rst else ".md", *random.choice(_REPORTS)], making.page(random, rst))


def _any_page(random: Random) -> bytes:
    return packed([random.choice(("github", "katex", "quarto", "sphinx"))], making.page(random))


#: Adding a door is adding a row.
TARGETS: Mapping[str, Target] = {
    row.name: row
    for row in (
        Target("check", _any_text, _check),
        Target("check file", _any_file, _checked),
        Target("python", lambda random: making.sheet(random).encode("utf-8", "replace"), _python),
        Target("derive", making.derivation, _derive, _outputs),
        Target("equal", making.question, _equal),
        Target("prove", making.statement, _prove, _outputs),
        Target("data", making.numbers, _numbers),
        Target("render", _any_page, _page, lambda _: ("x.md",)),
        Target(
            "sphinx",
            lambda random: packed([], making.page(random, rst=True)),
            _sphinx_page(".rst"),
            lambda _: ("x.rst",),
            _sphinx,
        ),
        Target(
            "myst",
            lambda random: packed([], making.page(random)),
            _sphinx_page(".md"),
            lambda _: ("x.md",),
            _sphinx,
        ),
        Target("mkdocs", _any_page, _mkdocs),
        Target("cells", making.cell, _cell),
        Target("command line", making.arguments, _line, _fixed),
    )
}
