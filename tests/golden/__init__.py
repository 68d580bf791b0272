"""What is printed, kept: one digest a row, and a few whole texts for those who read the changes.

A row is a variant (or a file, a node, the catalogue of identities), what is made of it, a format
and a view. `digests.txt` has one line for each; `texts/` has the whole output of some of them.

- ``python -m tests.golden``: prints every row again and lists those that have changed;
- ``python -m tests.golden causal t5``: only those rows whose keys hold one of these words;
- ``python -m tests.golden --write``: takes what is printed now for right;
- ``python -m tests.golden --show "causal values text all"``: what has changed in that row since the
  last commit, or since another with ``--since REVISION``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import sympy
from click.testing import CliRunner
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn import Notation
from symattn.attention.example import small_example
from symattn.attention.variants import VARIANTS
from symattn.cli import main
from symattn.derivations import Derivation, Evaluation, Input, Step
from symattn.documents.job import FORMATS, PICTURES, Job, document_of, written
from symattn.documents.page.frame import scripts
from symattn.documents.views import VIEWS
from symattn.errors import SymattnError

ROOT = Path(__file__).parent.parent.parent
HERE = ROOT / "tests" / "golden"
DIGESTS = HERE / "digests.txt"

#: The formats of a derivation that are texts and need no numbers.
TEXTS = ("text", "latex", "mathml", "json", "md", "html", "tex", "ipynb")

#: Pages with claims: every format of ``check`` is printed for each.
PAGES = ("examples/*.toml", "examples/*.md", "docs/*.md")
REPORTS = ("text", "md", "latex", "html", "json", "github")

#: Of which the logs for servers are printed, too: what is wrong, what is right, what has no claims.
LOGGED = (
    "examples/checked_hand_calculation.toml",
    "examples/attention_by_hand.md",
    "docs/writing.md",
)
LOGS = ("sarif", "junit")

#: How long something took is no part of what is kept.
_TIMES = re.compile(r'\b\d+(\.\d+)? ?m?s\b|((?:"(?:ms|seconds|time)": |\btime="))[\d.]+')


#: What is the same on every page, and has tests of its own, is no part of what is kept either: the
#: style, and the digests by which the page's policy names its style and its program.
_OF_EVERY_PAGE = re.compile(r"(?s)(?<=<style>).*?(?=</style>)|sha256-[\w+/]{43}=")


@dataclass(frozen=True)
class Row:
    """One thing that is printed: what of, what is made of it, its format and its view."""

    of: str
    made: str
    form: str
    view: str
    printed: Callable[[], str]

    @property
    def key(self) -> str:
        """The row's name in `digests.txt`."""
        return f"{self.of} {self.made} {self.form} {self.view}"

    @property
    def text(self) -> str:
        """What is printed, or the one line that says why there is nothing to print."""
        try:
            text = _TIMES.sub(r"\2", self.printed())
        except SymattnError as error:
            return f"{error}\n"
        if self.form == "html":
            text = _OF_EVERY_PAGE.sub("", text).replace(scripts(), "")
        return text


def digest(text: str) -> str:
    """What stands in `digests.txt` for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


#: The rows whose whole texts are kept.
WHOLE = (
    "scaled-dot-product symbolic text all",
    "causal values text all",
    "rotary symbolic latex entry",
    "t5 values text worked",
    "off-by-one backward text all",
    "causal program numpy all",
    "examples/checked_hand_calculation.toml check text all",
    "catalogue prove text all",
)


def path_of(key: str) -> Path:
    """Where the whole text of a row is kept."""
    return HERE / "texts" / (re.sub(r"[^\w.-]+", "_", key) + ".txt")


def kept() -> dict[str, str]:
    """The digests as they were written last."""
    if not DIGESTS.exists():
        return {}
    lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    pairs = (line.rpartition(" ") for line in lines)
    return {key: found for key, _, found in pairs}


def changed(rows: Iterable[Row], known: Mapping[str, str]) -> list[str]:
    """The keys of the rows that are not printed as they were."""
    return [row.key for row in rows if known.get(row.key) != digest(row.text)]


def assert_kept(rows: Iterable[Row]) -> None:
    """Fail where a row is not printed as it was, or where there is none."""
    rows = [*rows]
    told = "python -m tests.golden --show says what has changed, --write takes it for right"
    assert rows and changed(rows, kept()) == [], told


def matches(key: str, words: list[str]) -> bool:
    """Whether a row was asked for."""
    return not words or any(word in key.split() for word in words)


def of_group(task: tuple[str, list[str]]) -> list[tuple[str, str]]:
    """The digests of one group's rows, where they were asked for."""
    name, words = task
    rows = groups()[name]()
    return [(row.key, digest(row.text)) for row in rows if matches(row.key, words)]


# ---- all rows ----------------------------------------------------------------------------------


def groups() -> dict[str, Callable[[], Iterator[Row]]]:
    """Rows by what they are of, which share what is made of it."""
    found: dict[str, Callable[[], Iterator[Row]]] = {}
    for variant in VARIANTS:
        found[variant.name] = partial(_of_variant, variant.name)
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            name = str(path.relative_to(ROOT))
            found[name] = partial(_of_page, name)
    found["catalogue"] = _of_catalogue
    found["nodes"] = _of_nodes
    return found


def rows() -> Iterator[Row]:
    """Every row."""
    for group in groups().values():
        yield from group()


def _of_variant(name: str) -> Iterator[Row]:
    """A variant by letters and by numbers, forwards and backwards, and as a program."""
    spec = next(row.spec for row in VARIANTS if row.name == name)

    @cache
    def symbolic(backward: bool) -> Derivation:
        derivation = spec.derivation(title=name)
        return derivation.gradient(None) if backward else derivation

    @cache
    def example(backward: bool, counted: bool = True) -> tuple[Derivation, Evaluation]:
        gradient = () if backward else None
        return small_example(spec, title=name, gradient=gradient, counted=counted)

    def document(form: str, job: Job) -> str:
        if job.evaluation is not None:
            job = replace(job, check=job.evaluation.check())
        made = document_of(form, [job])
        assert isinstance(made, str)
        return made

    def letters(form: str, view: str = "all", backward: bool = False, **changes: Any) -> str:
        views = VIEWS if view == "all" else (view,)
        notation = Notation().but(**changes)
        job = Job(symbolic(backward), None, notation, views, code="derivation = …")
        return document(form, job)

    def numbers(
        form: str,
        view: str = "all",
        backward: bool = False,
        flavor: str | None = None,
        **changes: Any,
    ) -> str:
        views = VIEWS if view == "all" else (view,)
        notation, code = Notation().but(**changes), "derivation, values = …"
        job = Job(*example(backward), notation, views, flavor=flavor, code=code)
        return document(form, job)

    def program(language: str) -> str:
        return document(language, Job(*example(False, counted=False), Notation()))

    for form in TEXTS:
        yield Row(name, "symbolic", form, "all", partial(letters, form))
        yield Row(name, "values", form, "all", partial(numbers, form))
    for form, view in product(("text", "latex", "mathml"), ("formula", "entry")):
        yield Row(name, "symbolic", form, view, partial(letters, form, view))
    for form, view in product(("text", "latex"), ("worked", "value")):
        yield Row(name, "values", form, view, partial(numbers, form, view))
    for view, changes in _NOTATIONS.items():
        yield Row(name, "symbolic", "text", view, partial(letters, "text", **changes))
    yield Row(name, "values", "text", "exact", partial(numbers, "text", exact=True))
    yield Row(name, "values", "text", "falk", partial(numbers, "text", "value", layout="falk"))
    for form, picture in product(("svg", "tikz"), PICTURES):
        yield Row(name, "values", form, picture, partial(numbers, form, flavor=picture))
    for language in (name for name, row in FORMATS.items() if row.kind == "program"):
        yield Row(name, "program", language, "all", partial(program, language))
    for form in ("text", "latex", "json"):
        yield Row(name, "gradient", form, "all", partial(letters, form, backward=True))
    columns = partial(letters, "text", backward=True, convention="columns")
    yield Row(name, "gradient", "text", "columns", columns)
    for form in ("text", "json"):
        yield Row(name, "backward", form, "all", partial(numbers, form, backward=True))


#: The reader's choices that change every formula.
_NOTATIONS: Mapping[str, Mapping[str, Any]] = {
    "from-0": {"index_base": 0},
    "columns": {"convention": "columns"},
}


def _of_page(name: str) -> Iterator[Row]:
    """A worksheet or a page, marked; a worksheet derived, too."""
    for form in (*REPORTS, *(LOGS if name in LOGGED else ())):
        yield Row(name, "check", form, "all", partial(told, "check", name, "--format", form))
    if name.endswith(".toml"):
        for form in ("text", "latex", "json", "ipynb"):
            yield Row(name, "derive", form, "all", partial(told, "derive", name, "--format", form))


def _of_nodes() -> Iterator[Row]:
    """Every node as the only step of a derivation: forwards and backwards, and as a program."""
    from tests.nodes.test_nodes_contract import MEANT, SAMPLES, SIZES, VALUES, WRITTEN

    def derivation(node: MatrixExpr) -> Derivation:
        given = sorted(node.atoms(sympy.MatrixSymbol), key=str)
        inputs = tuple(Input(each.name, each, "numbers") for each in given)
        return Derivation(inputs, (Step("y", sympy.MatrixSymbol("Y", *node.shape), node),))

    def document(form: str, made: Derivation, values: Evaluation | None, **changes: Any) -> str:
        job = Job(made, values, Notation().but(**changes), code="derivation, values = …")
        return str(document_of(form, [job]))

    def letters(form: str, node: MatrixExpr, **changes: Any) -> str:
        return document(form, derivation(node), None, **changes)

    def backward(node: MatrixExpr) -> str:
        return document("text", derivation(node).gradient(None), None)

    def numbers(form: str, node: MatrixExpr) -> str:
        made = derivation(node.subs(SIZES))
        values = made.evaluate(**{each.name: VALUES[each.letter] for each in made.inputs})
        return document(form, made, values)

    for kind, node in {**SAMPLES, **MEANT}.items():
        for form in ("text", "latex", "mathml"):
            yield Row("nodes", kind.__name__, form, "all", partial(letters, form, node))
        columns = partial(letters, "text", node, convention="columns")
        yield Row("nodes", kind.__name__, "text", "columns", columns)
        yield Row("nodes", kind.__name__, "text", "gradient", partial(backward, node))
        if kind in (*WRITTEN, *MEANT):
            yield Row("nodes", kind.__name__, "text", "values", partial(numbers, "text", node))
        if kind in (*WRITTEN, *MEANT) and node.atoms(sympy.MatrixSymbol):
            yield Row("nodes", kind.__name__, "numpy", "values", partial(numbers, "numpy", node))


def _of_catalogue() -> Iterator[Row]:
    """Every identity and false belief decided, and what else is listed."""
    from symattn.algebra.identities import IDENTITIES, prove, reports
    from symattn.algebra.identities.proofs import Proof

    @cache
    def proofs() -> tuple[Proof, ...]:
        return tuple(prove(row) for row in IDENTITIES)

    def printed(form: str) -> str:
        brief = FORMATS[form].brief
        documents = [reports.proof_document(proof, brief) for proof in proofs()]
        return "\n".join(str(written(form, [one])).rstrip("\n") for one in documents)

    def data() -> str:
        rows = (reports.data(proof) for proof in proofs())
        return "\n".join(json.dumps(row, ensure_ascii=False, indent=2) for row in rows)

    for form in ("text", "latex", "mathml", "md", "html"):
        yield Row("catalogue", "prove", form, "all", partial(printed, form))
    yield Row("catalogue", "prove", "json", "all", data)
    for command in ("variants", "ladder"):
        yield Row("catalogue", command, "text", "all", partial(told, command))
    jacobian = partial(told, "derive", "softmax(2, 1, 0)", "--gradient", "all")
    yield Row("catalogue", "jacobian", "text", "all", jacobian)


def told(*arguments: str) -> str:
    """What a command prints, and its status."""
    before = Path.cwd()
    os.chdir(ROOT)  # files are named as they are given
    try:
        result = CliRunner().invoke(main, arguments)
    finally:
        os.chdir(before)
    return f"{result.output}exit status {result.exit_code}\n"
