"""Certificates: what is proven for all sizes is replayed, and nothing else is accepted.

Ten thousand changed certificates are tried by ``python -m tests.fuzz.traces``; here is a sample.
False statements get traces of a prover that lies in one place, so that everything else fits.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from click.testing import CliRunner

# has the true `within`, which is replaced below, by being imported before
import symattn.verifying.loading  # noqa: F401
from symattn import Attention, equal
from symattn.algebra import certificate as checker
from symattn.algebra import claims, forms, functions, kinds, polynomials, texts, traces
from symattn.algebra.certificate import check
from symattn.algebra.equality import certified, stated
from symattn.algebra.forms import Form, Refused
from symattn.algebra.identities import IDENTITIES, prove
from symattn.algebra.identities.sides import slopes
from symattn.algebra.texts import Atom
from symattn.cli import main
from symattn.cli.prove import prove as command
from symattn.errors import SymattnError
from symattn.isolation import here
from symattn.nodes.entrywise import Entrywise
from symattn.nodes.heads import Concat, Head, HeadSum, Split
from symattn.nodes.powers import WhereAtMost
from symattn.step import HEAD
from tests import ROOT
from tests.fuzz.traces import (
    Forger,
    certificates,
    is_false,
    mutated,
    of_heads,
    outcomes,
    table,
)
from tests.opened import opened
from tests.oracle import Statement
from tests.shares import share
from tests.statements import STATEMENTS, TELLING

Made = dict[str, Any]


def made(text: str, **options: Any) -> Made:
    """A certificate of a statement, as it comes out of a file."""
    found = traces.certificate(next(stated(text, None, **options)))
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


# ---- what is proven is certified -----------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        [row for row in STATEMENTS if row.holds and row.text in TELLING],
        pytest.param([row for row in STATEMENTS if row.holds], marks=pytest.mark.nightly),
    ],
    ids=["telling", "all"],
)
def test_what_is_equal_for_all_sizes_is_certified(rows: list[Statement]) -> None:
    asked = 0
    for row in rows:
        try:
            answer = equal(row.text, **row.options)
        except SymattnError:
            continue
        if answer and answer.scope == "for all sizes":
            asked += 1
            assert answer.certified, row.text
            check(json.loads(json.dumps(answer.certificate)))
    assert asked > 25


@pytest.mark.parametrize(
    "every", [15, pytest.param(1, marks=pytest.mark.nightly)], ids=["sample", "all"]
)
def test_the_catalogue_is_certified_link_by_link(every: int) -> None:
    for row in [row for row in IDENTITIES if row.holds and row.for_all][::every]:
        proof = prove(row)
        assert proof.equality.certified, row.name
        assert all(link.equality.certified for link in proof.links), row.name


def test_a_derivation_is_certified_with_its_steps() -> None:
    answer = equal(Attention().derivation(), "softmax(Q K^T / sqrt(d_k)) V")
    assert answer.summary == "equal (for all sizes)"
    assert answer.certificate["statement"]["left"]["steps"]
    check(json.loads(json.dumps(answer.certificate)))


#: Statements, and why there is no certificate of them.
NOT_CERTIFIED: tuple[tuple[str, str], ...] = (
    ("A / (B - B) = A", "division by 0"),
    ("A ⊘ I = A", "division by something that is 0 off a diagonal"),
    ("causal() / b = causal()", "−∞ times something that may be negative or 0"),
    ("rowsum(S + causal()) = rowsum(S)", "−∞ where a number has to be"),
    ("cos(S + causal()) = cos(S)", "a function of −∞"),
    ("cos(1000 A) = cos(A)", "a large multiple of an angle"),
    ("sqrt(10^64 + 1) A = A", "a root or logarithm of a very large number"),
    ("hardmax([A, B]) = hardmax([B, A])", "the largest of a row in parts"),
)


@pytest.mark.parametrize(("text", "words"), NOT_CERTIFIED, ids=[a for a, _ in NOT_CERTIFIED])
def test_what_the_checker_does_not_cover_is_told(text: str, words: str) -> None:
    proof, missing = certified(
        next(stated(text, None, shapes={"b": ("n", 1)} if "b" in text else {}))
    )
    assert proof is None
    assert missing == words


# ---- what the checker is made of ------------------------------------------------------------


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, in functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or ""} | {f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return {name for name in found if name.startswith("symattn")}


def _docs() -> str:
    return (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")


def trusted() -> list[Path]:
    """The files of the checker, which the docs list."""
    listed = re.findall(r"^\| `(symattn/algebra/[^`]*)` \|", _docs(), re.MULTILINE)
    assert "symattn/algebra/certificate.py" in listed
    return [ROOT / name for name in listed]


@pytest.mark.parametrize("path", trusted(), ids=lambda path: path.stem)
def test_the_checker_imports_nothing_of_the_provers(path: Path) -> None:
    rooms = ("budget", "errors", "grammar", "nodes", "notation", "step")
    own = [f"algebra.{other.stem}" for other in trusted()]
    found = imports(path)
    assert found
    assert all(name.startswith(tuple(f"symattn.{one}" for one in (*rooms, *own))) for name in found)


@pytest.mark.parametrize("path", trusted(), ids=lambda path: path.stem)
def test_the_checker_asks_sympy_for_no_algebra(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not re.search(
        r"simplify\(|expand\(|\.equals\(|\beval\(|sympify\((?!value, strict=True\))", source
    )


def test_the_trusted_lines_are_those_that_the_docs_count() -> None:
    listed = re.findall(r"^\| `(symattn/[^`]*)` \|.*\| ([\d,]+) \|$", _docs(), re.MULTILINE)
    assert listed
    for name, count in listed:
        lines = len((ROOT / name).read_text(encoding="utf-8").splitlines())
        assert lines == int(count.replace(",", "")), name


def test_every_rule_of_a_step_is_told() -> None:
    exact = (ROOT / "docs" / "proof-rules.md").read_text(encoding="utf-8")
    names = {name for rules, _ in kinds.RULES for name in rules}
    assert len(names) == 12
    assert all(f"| `{name}` |" in text for name in names for text in (_docs(), exact))


def _keys(kind: Any) -> set[str]:
    """The keys of the tables in a kind, and in the kinds in it that have no name."""
    match kind:
        case dict():
            own = {key.removesuffix("?") for key in kind}
            return own.union(*map(_keys, kind.values()))
        case list() | tuple():
            return set().union(*map(_keys, kind))
        case kinds.Either(of):
            return _keys(of)
    return set()


def test_every_key_of_a_certificate_is_told() -> None:
    """Those of an equation on the page of rules; the steps of an inequality on the other."""
    exact = (ROOT / "docs" / "proof-rules.md").read_text(encoding="utf-8")
    bounds = {"inequality", "claim"}
    told = {name: _docs() if name in bounds else exact for name in kinds.KINDS}
    named = re.compile(r"[`\"](\w+)[`\"]")
    for name, kind in kinds.KINDS.items():
        assert _keys(kind) <= {*named.findall(told[name])} | {"statement", "proof"}, name


# ---- changed certificates -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("every", "count"),
    [(80, 60), pytest.param(12, 10_000, marks=pytest.mark.nightly)],
    ids=["sample", "all"],
)
def test_no_changed_certificate_proves_what_is_false(every: int, count: int) -> None:
    found = list(outcomes(mutated(certificates(every), count, 11)))
    assert not [one for one in found if one.became == "false"], table(found)
    assert sum(one.became == "refused" for one in found) > count // 2


def test_a_false_claim_is_seen_by_the_numbers() -> None:
    """What judges the changed certificates can tell true from false."""
    claim = check(made("softmax(S + c 1^T) = softmax(S)", shapes={"c": ("n", 1)}))
    assert not is_false(claim)
    other = made("softmax(2 S) = ratio(softmax(S) ∘ softmax(S))")["statement"]
    other["left"]["text"] = "softmax(3 S)"
    assert is_false(claims.goal_of(other))


# ---- the entries that a certificate speaks of -------------------------------------------------


def _kinds(told: Any) -> set[str]:
    """The kinds of rules in what is told of entries."""
    if not isinstance(told, list):
        return set()
    return {told[0]}.union(*map(_kinds, told[1:])) if told and isinstance(told[0], str) else set()


@pytest.mark.parametrize(
    ("text", "options", "kinds"),
    [
        ("softmax(S + c) = softmax(S)", {"shapes": {"c": ("n", 1)}}, {"over", "exp", "total"}),
        ("A (A^-1 B) = B", {"shapes": dict.fromkeys("AB", ("n", "n"))}, {"inverse", "times"}),
        ("rowsum(hardmax(S)) = 1", {}, {"cases", "ofrow"}),
        ("relu(relu(A)) = relu(A)", {}, {"apply", "entry"}),
    ],
)
def test_the_entries_of_a_certificate_are_data(
    text: str, options: dict[str, Any], kinds: set[str]
) -> None:
    one = json.loads(json.dumps(opened(made(text, **options))))
    left, right = one["entries"]["sides"]
    assert kinds <= _kinds(left["entry"]) | _kinds(right["entry"])
    assert "other" not in _kinds(left["entry"]) | _kinds(right["entry"])
    one["certificate"]["statement"]["left"]["text"] = "A +"
    assert "entries" not in opened(one["certificate"])


def test_the_cases_of_sizes_are_told_with_their_entries() -> None:
    """Which of two sizes is larger, and what stands for it in each case."""
    told = opened(made("softmax(S + causal()) 1 = 1"))["entries"]
    assert told["sizes"] == [{"n": "+0 + m"}, {"m": "+0 + n + 1"}]
    one, other = (case["sides"][0]["entry"] for case in told["cases"])
    assert '["size", "+0"]' in json.dumps(one) + json.dumps(other)


# ---- false statements, and provers that lie in one place ------------------------------------


class Ranges(traces.Tracer):
    """Every range holds."""

    def nonnegative(self, one: Form, inside: Any = ()) -> bool:
        return True


class Positive(traces.Tracer):
    """Everything is positive."""

    def is_positive(self, atom: Any) -> bool:
        return True


class NeverZero(traces.Tracer):
    """Nothing is 0."""

    def never_zero(self, poly: Any) -> bool:
        return True


class Rooted(traces.Tracer):
    """A root is taken of everything of which an absolute value is taken."""

    def absolute(self, poly: Any) -> Any:
        return poly


class Diagonal(traces.Tracer):
    """All indices are the same."""

    def delta(self, one: Form, other: Form) -> Any:
        return polynomials.constant(1)


class Inverses(traces.Tracer):
    """Every matrix is its own inverse."""

    def ends(self, uses: Any, index: str, size: Form) -> Any:
        for atom, _ in uses:
            self.units[atom.name, False, atom.name, False] = size
        return super().ends(uses, index, size)


class Signs(traces.Tracer):
    """Everything is ≥ 0."""

    def all_nonnegative(self, poly: Any) -> bool:
        return True


class Largest(traces.Tracer):
    """Whatever stands beside the first of the largest is 1."""

    def said_of_line(self, run: Any) -> Any:
        found = any(atom.kind == "first" for atom, _ in run.uses)
        return (polynomials.constant(1), {}) if found else None


class Levels(traces.Tracer):
    """Every sum of absolute values is one above a threshold, which is 0."""

    def said_of_line(self, run: Any) -> Any:
        for atom, _ in run.uses:
            if atom[:2] == ("fn", "abs"):
                return polynomials.constant(2), polynomials.scaled(dict(atom.terms), -1)
        return None


class Slopes(traces.Tracer):
    """Every derivative is 0."""

    def derived(self, poly: Any, name: str, i: Form, j: Form) -> Any:
        return {}


class Vanishing(traces.Tracer):
    """Every difference is 0."""

    def vanishes(self, difference: Any) -> None:
        self.settle(self.kept({"rule": "zero"}, texts.text_of(difference)), [], "0")


LIES: tuple[tuple[type[traces.Tracer], str, dict[str, Any]], ...] = (
    (Ranges, "softmax(S + causal()) V = softmax(S) V", {}),
    (Ranges, "exp(S + causal()) = exp(S)", {}),
    (Positive, "abs(A) = A", {}),
    (Positive, "sqrt(A ∘ A) = A", {}),
    (Positive, "relu(A) = A", {}),
    (Rooted, "abs(A) = A", {}),
    (Rooted, "abs(A + B) = abs(A) + abs(B)", {}),
    (Diagonal, "I = 1 1^T", {"shapes": {}}),
    (Diagonal, "A ∘ I = A", {"shapes": {"A": ("n", "n")}}),
    (Inverses, "A A = I", {"shapes": {"A": ("n", "n")}}),
    (Signs, "relu(A + B) = A + B", {}),
    (Signs, "abs(A - B) = A - B", {}),
    (Largest, "rowsum(hardmax(S) ∘ Z) = 1", {"shapes": dict.fromkeys("SZ", ("n", "m"))}),
    (Levels, "rowsum(abs(S)) = 2 - rowsum(S)", {"shapes": {"S": ("n", "m")}}),
    (Vanishing, "A B = B A", {"shapes": {"A": ("n", "n"), "B": ("n", "n")}}),
    (Vanishing, "softmax(2 S) = softmax(S)", {}),
    (Vanishing, "exp(A B) = exp(A) exp(B)", {"shapes": {"A": ("n", "n"), "B": ("n", "n")}}),
    (Vanishing, "softmax([A, B]) = [softmax(A), softmax(B)]", {}),
    (Vanishing, "exp(rowsum(A)) = rowsum(exp(A))", {}),
    (Vanishing, "B = C", {"where": ["A B = A C"], "shapes": dict.fromkeys("ABC", ("n", "n"))}),
    (Vanishing, "A B = I", {"where": ["A = A^T"], "shapes": dict.fromkeys("AB", ("n", "n"))}),
)


def told(liar: type[traces.Tracer], left: Any, right: Any = None, **options: Any) -> Made | None:
    """The certificate of a prover that lies."""

    class Lying(traces.Tracing):
        checker = liar

    statement = next(stated(left, right, **options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces, "Tracing", Lying)
        with suppress(Refused):
            return json.loads(json.dumps(traces.certificate(statement)))  # type: ignore[no-any-return]
    return None


@pytest.mark.parametrize(
    ("liar", "text", "options"), LIES, ids=[f"{a.__name__}: {b}" for a, b, _ in LIES]
)
def test_a_lie_is_found_out(liar: type[traces.Tracer], text: str, options: dict[str, Any]) -> None:
    lie = told(liar, text, **options)
    assert lie is not None
    with pytest.raises(Refused):
        check(lie)


FALSE_SLOPES: tuple[tuple[str, str, str], ...] = (
    ("sum(dA ∘ softmax(S))", "S", "softmax(S) ∘ dA"),
    ("sum(dO ∘ (A V))", "V", "A^T dO / 2"),
    ("sum(dO ∘ (A V))", "A", "0 dO V^T"),
    ("lse(S) (1 - lse(S))", "S", "softmax(S)"),
    ("sum(relu(A))", "A", "exp(0 A)"),
    ("tr(inv(M))", "M", "0 M"),
)


@pytest.mark.parametrize("liar", [traces.Tracer, Slopes])
@pytest.mark.parametrize(("value", "letter", "formula"), FALSE_SLOPES)
def test_no_derivative_is_another(
    liar: type[traces.Tracer], value: str, letter: str, formula: str
) -> None:
    shapes = {"S": (1, "m"), "A": ("n", "m"), "V": ("m", "d_v"), "dO": ("n", "d_v")}
    shapes["M"] = ("n", "n")
    if "dA" in value:
        shapes = {"S": ("n", "m"), "dA": ("n", "m")}
    lie = told(liar, *slopes(value, letter, formula, shapes))
    if lie is not None:
        with pytest.raises(Refused):
            check(lie)


def test_there_is_no_derivative_by_what_is_not_free() -> None:
    one, other = slopes("sum(A ∘ A)", "A", "2 A", {"A": ("n", "n")})
    assert certified(next(stated(one, other)))[0] is not None
    bound: dict[str, Any]
    for bound in ({"where": [("A", "A^T")]}, {"permuting": ["A"]}):
        with suppress(SymattnError):
            assert certified(next(stated(one, other, **bound)))[0] is None


def test_only_what_turns_pairs_has_even_sizes() -> None:
    one = made("A + B = B + A", shapes=SHAPES)
    one["proof"], one["partial"] = {"even": "n", "half": one["proof"]}, True
    with pytest.raises(Refused, match="nothing requires it to be even"):
        check(one)


def test_a_divisor_that_may_be_zero_is_told() -> None:
    lie = told(NeverZero, "(A / c) c = A")
    assert lie is not None
    assert lie["partial"] is False
    with pytest.raises(Refused, match="where both sides are defined"):
        check(lie)


@pytest.mark.parametrize("every", [60, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_prover_of_traces_proves_nothing_false(every: int) -> None:
    """Asked by itself, without the numbers that refute nearly everything first."""
    for row in [row for row in STATEMENTS if not row.holds][::every]:
        options = {name: x for name, x in row.options.items() if name not in ("sizes", "effort")}
        try:
            statement = next(stated(row.text, None, **options))
        except SymattnError:
            continue
        with suppress(Refused):
            found = traces.certificate(statement)
            assert found["partial"] or row.options.get("sizes"), row.text


# ---- forged certificates --------------------------------------------------------------------


def _steps(one: Made) -> list[Made]:
    return one["proof"]["steps"]  # type: ignore[no-any-return]


def _where(one: Made, *texts: str) -> None:
    one["statement"]["where"].append([{"text": text, "spare": []} for text in texts])


def _cofactor(one: Made, left: Any, relation: list[Any]) -> None:
    one["proof"]["cofactors"].append(["1", left, relation, None])


A = ["letter", "A", ["size", "n"], ["size", "n"]]
SHAPES = {"A": ("n", "n"), "B": ("n", "n"), "C": ("n", "n")}


def _claims(text: str, where: str = "") -> Made:
    """A certificate of a true statement whose texts now say something else."""
    left, right = text.split(" = ")
    out = made("A + B = B + A", shapes=SHAPES)
    out["statement"]["left"]["text"], out["statement"]["right"]["text"] = left, right
    out["statement"]["letters"] = [[name, "n × n"] for name in "ABC"]
    out["letters_only"] = False
    if where:
        _where(out, *where.split(" = "))
    return out


def no_permutation(one: Made) -> None:
    """A matrix that is not square permutes nothing."""
    one["statement"]["letters"] = [["A", "n × m"], ["B", "n × m"]]
    one["statement"]["permuting"] = ["A"]


def no_permutation_inside(one: Made) -> None:
    """So is one that stands within a function alone."""
    for side in ("left", "right"):
        one["statement"][side]["text"] = "relu(A)"
    one["statement"]["letters"] = [["A", "n × m"]]
    one["statement"]["permuting"] = ["A"]
    one["letters_only"], one["proof"] = True, {"same": True}


def split(one: Made) -> None:
    """Two cases that are not all."""
    one["proof"] = {"split": "n", "least": "m", "cases": [one["proof"]]}


def _side(one: Made, *expr: Any) -> None:
    one["statement"]["left"] = {"expr": [*expr]}


def _used(kind: str, left: str, right: str, flipped: Any = 0) -> Callable[[Made], None]:
    def forge(one: Made) -> None:
        _where(one, left, right)
        one["uses"].append([kind, 0, flipped])

    return forge


def _of_place(place: Any) -> Callable[[Made], None]:
    """An equation that is used is at this place."""

    def forge(one: Made) -> None:
        _where(one, "A", "B")
        one["uses"].append(["letter", place, 0])

    return forge


def _related(*relation: Any, around: Any = None) -> Callable[[Made], None]:
    def forge(one: Made) -> None:
        _where(one, "A", "B")
        _cofactor(one, around, [*relation])

    return forge


def _at(*path: Any, value: Any) -> Callable[[Made], None]:
    """Something else stands at a place of a certificate."""

    def forge(one: Any) -> None:
        *way, last = path
        for part in way:
            one = one[part]
        one[last] = value

    return forge


def _proof(**proof: Any) -> Callable[[Made], None]:
    return _at("proof", value=proof)


def _expr(*expr: Any) -> Callable[[Made], None]:
    return lambda one: _side(one, *expr)


def _other_shape(one: Made) -> None:
    """Two letters of different shapes as the sides."""
    n, m = ["size", "n"], ["size", "m"]
    _side(one, "letter", "A", n, m)
    one["statement"]["right"] = {"expr": ["letter", "B", m, n]}
    one["statement"]["letters"] = []


def _of_numbers(one: Made) -> None:
    """A cofactor of an equation of numbers."""
    _where(one, "c", "2")
    _cofactor(one, None, ["equation", 0, False])


def _cases(depth: int, proof: Made) -> Made:
    """A proof within so many cases of one."""
    for _ in range(depth):
        proof = {"split": "k", "least": "1", "cases": [proof]}
    return proof


_PERMUTED: Made = {"rule": "permute", "of": "", "gives": "", "index": 0}

#: What is changed in a certificate of A + B = B + A, and what is said of it.
REFUSED: dict[str, tuple[Callable[[Made], None], str]] = {
    "a number for a letter": (
        _expr("letter", 7, ["size", "n"], ["size", "n"]),
        "is not an expression",
    ),
    "a letter with a sign": (_expr("size", "#1"), "is not an expression"),
    "no expression": (_expr(7), "is not an expression"),
    "a quotient by 0": (_expr("MatMul", "1/0", A), "not how a number is written"),
    "two shapes": (_other_shape, "n and m are not the same size"),
    "a cut at an index that has ended": (
        _at("proof", "steps", -2, "cuts", value=["#1", "#2"]),
        "not open here",
    ),
    "a size with the name of an index": (
        _at("statement", "letters", 0, 1, value="#1 × n"),
        "is not a size",
    ),
    "a letter of two shapes": (
        _at("statement", "right", value={"expr": ["letter", "A", ["size", "m"], ["size", "n"]]}),
        "are not the same size",
    ),
    "no mirror image": (_used("mirror", "A", "B"), "no letter symmetric"),
    "a permutation that is not square": (no_permutation, "is not square"),
    "one that is not square within a function": (no_permutation_inside, "is not square"),
    "cases that are not all": (split, "it is about"),
    "a power that is too large": (_expr("Pow", ["real", "c"], "1000000000"), "too large"),
    "code": (_expr("__import__", ["word", "os"]), "is not an expression"),
    "sides that are not the same": (_at("proof", value={"same": True}), "not the same expression"),
    "a size in terms of itself": (_used("number", "n", "n + 1"), "is not defined"),
    "a number that is a matrix": (_used("number", "A", "B"), "cannot be used as a number"),
    "no letter": (_used("letter", "A + B", "B"), "cannot be used as a letter"),
    "a letter by itself": (_used("letter", "A", "A B"), "in terms of itself"),
    "a square that is I": (_used("orthonormal", "A A", "A A^-1"), "no letter orthonormal"),
    "no use": (_used("wish", "A", "B"), 'uses[0][0] is "wish"'),
    "no relation": (_related("wish", 0, False), 'cofactors[0][2][0] is "wish"'),
    "an equation of numbers": (_of_numbers, "not an equation of matrices"),
    "a cofactor of another shape": (
        _related("equation", 0, False, around=["letter", "B", ["size", "m"], ["size", "m"]]),
        "the cofactors do not fit",
    ),
    "cases of a number": (_proof(split="3", least="n", cases=[]), "not those of a size"),
    "cases of itself": (_proof(split="n", least="n", cases=[]), "not those of a size"),
    "a cofactor that does not fit its equation": (
        _related("equation", 0, False, around=["letter", "D", ["size", "n"], ["size", "m"]]),
        "the cofactors do not fit",
    ),
    "a cofactor with other rows": (
        _related("equation", 0, False, around=["letter", "D", ["size", "m"], ["size", "n"]]),
        "the cofactors do not fit",
    ),
    "cases within cases": (
        lambda one: one.update(proof=_cases(9, one["proof"])),
        "too many cases of sizes",
    ),
    "a key that no rule reads": (_at("proof", "steps", 0, "width", value="1"), "has the keys"),
    "a key that no proof has": (_at("proof", "why", value="so"), "has the keys"),
    "a key that no side has": (_at("statement", "left", "why", value="so"), "has the keys"),
    "a key that no statement has": (_at("statement", "why", value="so"), "has the keys"),
    "a key that no certificate has": (_at("why", value="so"), "has the keys"),
    "no obligations in a list": (_at("proof", "steps", -1, "needs", value=[]), "obligations"),
    "the same, if it is not": (_at("proof", value={"same": False}), "proof.same is false"),
    "too many cases": (_proof(split="n", least="40", cases=[]), "too many"),
    "null for no list": (_at("proof", "steps", -1, "needs", value=None), "needs is None"),
    "true for 1": (_at("certificate", value=True), "certificate is true"),
    "1 for true": (_at("proof", value={"same": 1}), "proof.same is 1"),
    "0 for false": (_at("letters_only", value=0), "letters_only is 0"),
    "a text for a whole number": (
        _at("proof", "steps", 0, "cuts", value="n"),
        'steps[0].cuts is "n"',
    ),
    "false for 0": (_used("letter", "A", "B", False), "uses[0][2] is false"),
    "a place before the first": (_of_place(-1), "uses[0][1] is -1"),
    "a place that is true": (_of_place(True), "uses[0][1] is true"),
    "a place that is a fraction": (_of_place(0.0), "uses[0][1] is 0.0"),
    "a place that is a text": (_of_place("0"), 'uses[0][1] is "0"'),
    "an equation before the first": (_related("equation", -1, False), "[2][1] is -1"),
    "0 for a relation that is not turned": (_related("equation", 0, 0), "[2][2] is 0"),
    "a permutation neither as it is nor inverse": (
        _at("proof", "steps", 0, value={**_PERMUTED, "by": ["P", 2]}),
        "steps[0].by[1] is 2",
    ),
    "false for null": (
        _related("equation", 0, False, around=False),
        "false … is not an expression",
    ),
    "half of what a relation has": (_related("around", [0], False), "[2][1] is a list"),
    "a form from its end": (_at("proof", "steps", 0, "cuts", value=["1 + #1"]), "is written"),
    "a form with a zero before": (_at("proof", "steps", 0, "cuts", value=["01"]), "is written"),
    "a form with a 1 before": (_at("proof", "steps", 0, "cuts", value=["1n"]), "is written"),
    "a form with a plus before": (_at("proof", "steps", 0, "cuts", value=["+ n"]), "is written"),
    "a form in two terms": (_at("proof", "steps", 0, "cuts", value=["n + n"]), "is written"),
    "a form with two blanks": (_at("proof", "steps", 0, "cuts", value=["n  - 1"]), "is written"),
    "a form with a product turned": (
        _at("proof", "steps", 0, "cuts", value=["n·d"]),
        "is written",
    ),
    "a form with a place": (_at("proof", "steps", 0, "cuts", value=["P(#1)"]), "is written"),
    "digits of another script": (_at("proof", "steps", 0, "cuts", value=["٣"]), "is written"),
    "no form": (_at("proof", "steps", 0, "cuts", value=[""]), "is written"),
    "a size with a blank": (_at("statement", "letters", 0, 1, value="n  × n"), "is written"),
    "a letter read as no kind": (_at("statement", "letters", 0, 1, value="7"), "read as"),
    "a letter declared twice": (_at("statement", "declared", value=["A", "A"]), "in order"),
    "positive letters out of order": (_at("statement", "positive", value=["B", "A"]), "in order"),
    "a fraction that is not in lowest terms": (_expr("MatMul", "2/4", A), "is written"),
    "a number with a zero before": (_expr("MatMul", "02", A), "is written"),
    "a decimal": (_expr("MatMul", "0.5", A), "is written"),
    "minus zero": (_expr("MatMul", "-0", A), "is written"),
    "a size with more than a name": (_expr("size", "n", "m"), "is not an expression"),
    "an expression of a number": (_expr("MatMul", 2, A), "is not an expression"),
    "a letter without a shape": (_expr("letter", "A"), "is not an expression"),
    "nothing as an expression": (_expr(), "is not an expression"),
    "null for an expression": (_at("statement", "left", value={"expr": None}), "an expression"),
    "a tuple": (_at("uses", value=()), "uses is a list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_with_a_certificate_is_told(name: str) -> None:
    forge, words = REFUSED[name]
    one = _claims("A + B = B + A")
    check(one)
    forge(one)
    with pytest.raises(Refused, match=re.escape(words)):
        check(one)


#: A value of every type of JSON.
VALUES: tuple[Any, ...] = (None, False, True, 0, 1, 0.0, 1.0, "", "0", [], {})


def _retyped(one: Any) -> Iterator[Any]:
    """The data with one value in it exchanged for one of another type."""
    yield from (value for value in VALUES if type(value) is not type(one))
    match one:
        case dict():
            yield from ({**one, key: x} for key, part in one.items() for x in _retyped(part))
        case list():
            for k, part in enumerate(one):
                yield from ([*one[:k], x, *one[k + 1 :]] for x in _retyped(part))


#: Statements whose proofs have obligations, equations, cofactors, cases of sizes, permutations.
RETYPED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("softmax(S + causal()) 1 = 1", {}),
    ("B A = I", {"where": ["A B = I"], "shapes": dict.fromkeys("AB", ("n", "n"))}),
    ("A B = B A", {"where": ["A = c I", "c = 2"], "shapes": dict.fromkeys("AB", ("n", "n"))}),
    ("rowsum(P S) = P rowsum(S)", {"permuting": ["P"]}),
)


@pytest.mark.parametrize(("text", "options"), share(RETYPED, 2), ids=[text for text, _ in RETYPED])
def test_no_value_is_of_another_type(text: str, options: dict[str, Any]) -> None:
    one = made(text, **options)
    accepted = []
    for other in _retyped(one):
        try:
            check(other)
        except SymattnError:
            continue
        accepted.append(other)
    assert accepted == []


def test_cases_may_be_nested_to_a_depth() -> None:
    one = _claims("A + B = B + A")
    check({**one, "proof": _cases(8, one["proof"])})


#: Statements whose proofs use rules, or properties of functions, that few others do.
SELDOM: tuple[tuple[str, dict[str, Any]], ...] = (
    ("A ∘ I = I ∘ A^T", {"shapes": {"A": ("n", "n")}}),
    ("P^-1 = P^T", {"permuting": ["P"]}),
    ("rowmax(S P) = rowmax(S)", {"permuting": ["P"]}),
    ("sparsemax(P S) = P sparsemax(S)", {"permuting": ["P"]}),
    ("rowsum(sparsemax(S)) = 1", {}),
    ("rowsum(hardmax(S) ∘ S) = rowmax(S)", {}),
    ("diag(a)^-1 = diag(1 ⊘ a)", {}),
    ("(A / c)^-1 = c A^-1", {"shapes": {"A": ("n", "n")}}),
    ("gelu(S) - gelu(-S) = S", {}),
    ("relu(sqrt(A)) = sqrt(A)", {}),
    ("sqrt(A) ∘ A = sqrt(A ∘ A ∘ A)", {}),
    ("ln(A ∘ A) = 2 ln(A)", {}),
    ("ln(sqrt(A)) = ln(A) / 2", {}),
    ("relu(relu(A) + relu(B)) = relu(A) + relu(B)", {"shapes": dict.fromkeys("AB", ("n", "m"))}),
    ("exp(I) = 1 1^T + (exp(1) - 1) I", {"shapes": {}}),
    ("1 / (1 + sqrt(2)) = sqrt(2) - 1", {}),
    ("rowmax(exp(S)) = exp(rowmax(S))", {}),
    ("ratio(softmax1(S)) = softmax(S)", {}),
    ("(I - A)^-1 (I - A^2) = I + A", {"shapes": {"A": ("n", "n")}}),
    ("X^T X (X^T X)^-1 X^T = X^T", {}),
    ("σ(S + causal()) = σ(S) ∘ exp(causal())", {}),
    ("B A = I", {"where": ["A B = I"], "shapes": dict.fromkeys("AB", ("n", "n"))}),
)


@pytest.mark.parametrize(("text", "options"), SELDOM, ids=[text for text, _ in SELDOM])
def test_what_is_seldom_used_is_replayed(text: str, options: dict[str, Any]) -> None:
    check(made(text, **options))


def test_the_largest_of_two_is_told_from_the_smallest() -> None:
    a, b = (sympy.MatrixSymbol(name, 2, 2) for name in "AB")
    most, least = WhereAtMost(a, b, b, a), WhereAtMost(a, b, a, b)
    relu = Entrywise(b - a, sympy.Symbol("max0"))
    for right, holds in ((a + relu, True), (b - relu, False)):
        goal = claims.Goal(most, right)
        try:
            steps = traces.Tracing(goal, [], False).proof(goal, [])
            checker.Replay(goal, [], False).check(steps, goal)
        except Refused:
            assert not holds
        else:
            assert holds
    with pytest.raises(Refused, match="not seen to vanish"):
        traces.Tracing(claims.Goal(most, least), [], False).proof(claims.Goal(most, least), [])


def test_forms_are_of_sizes_and_open_indices() -> None:
    here = forms.place("P", L, 0)
    assert forms.times_form(here, forms.number(2)) == ((here[0][0], 2),)
    for other in (here, N):
        with pytest.raises(Refused, match="a product with a permuted index"):
            forms.times_form(here, other)
    index = sympy.Symbol("k", integer=True)
    with pytest.raises(Refused, match="not linear"):
        forms.linear(index, {})
    with pytest.raises(Refused, match="not known"):
        checker.Checker([]).at(
            sympy.Mod(index, sympy.Symbol("n", integer=True, positive=True)), {index: L}
        )


@pytest.mark.parametrize(
    ("top", "below", "quotient", "rest"),
    [
        ("2n + 3", "2", "n + 1", "1"),
        ("-3", "2", "-2", "1"),
        ("d·h + n", "h", "d", "n"),
        ("n", "0", "0", "n"),
        ("n", "2h", "0", "n"),
    ],
)
def test_forms_are_divided(top: str, below: str, quotient: str, rest: str) -> None:
    found = forms.quotient_form(*map(texts.read_form, (top, below)))
    assert found == tuple(map(texts.read_form, (quotient, rest)))


def test_indices_are_put_in_within_quotients() -> None:
    top, below = forms.times_form(L, M), N
    whole, rest = checker.Checker([]).divided(top, below)
    assert rest is None
    at = {"#1": K, "#2": L}
    assert forms.put(whole, at) == ((("⌊⌋", "", N, forms.times_form(K, M)), 1),)
    assert forms.names(whole) == {"#1"}


def test_a_line_has_a_largest_entry_if_it_is_not_empty() -> None:
    one = checker.Checker([])
    one.sizes.update({"#1": N, "#2": M})
    places = (("#1", L, N), ("#2", K, M))
    parts: functions.Parts = [
        (polynomials.single(_entry("A", TOP, at)), [(name, size)]) for name, at, size in places
    ]
    assert one.largest("max", parts)
    with pytest.raises(Refused, match="in parts"):
        one.largest("τ", parts)
    with pytest.raises(Refused, match="may be empty"):
        one.largest("max", [(parts[0][0], [("#1", forms.variable("+0"))])])
    with pytest.raises(Refused, match="in parts"):
        one.largest("τ", [(parts[0][0], [("", forms.number(1))])])
    with pytest.raises(Refused, match="of blocks"):
        one.largest("max", [(parts[0][0], [*parts[0][1], *parts[1][1]])])


@pytest.mark.parametrize("name", ["abs", "√", "ln", "tanh", "cos", "erf", "sign"])
def test_a_function_has_no_value_at_minus_infinity(name: str) -> None:
    with pytest.raises(Refused, match="a function of −∞"):
        checker.Checker([]).applied(name, None)


def test_what_leaves_a_root_and_what_stays_is_the_whole() -> None:
    one = checker.Checker([])
    a, b = (polynomials.single(Atom("name", name)) for name in "ab")
    whole = polynomials.times(
        one.power(a, Fraction(3)), polynomials.plus(b, polynomials.constant(1))
    )
    root = one.power(whole, Fraction(1, 2))
    apart = polynomials.plus(polynomials.times(root, root), polynomials.scaled(whole, -1))
    assert polynomials.is_zero(apart)


def test_a_factor_that_may_be_zero_stays_where_the_largest_is_looked_for() -> None:
    one = checker.Checker([])
    along = _power(_entry("B", TOP, forms.variable("_1a")))
    line = polynomials.single(_entry("A", TOP, L))
    for size, leaves in ((N, True), (forms.variable("+0"), False)):
        factor = polynomials.single(_summed(size, along))
        found = one.first(ZERO, polynomials.times(line, factor), "#1", M)
        assert (found == one.first(ZERO, line, "#1", M)) is leaves


X, TWO = Atom("positive", "x"), Atom("prime", 2)


def _root(value: Any, p: Any = -1) -> Any:
    """A polynomial, none of whose factors are taken out, to a power."""
    return polynomials.single(Atom("poly", terms=frozenset(value.items())), Fraction(p))


def _quotients() -> tuple[Any, Any, Any]:
    """1/(1 + x), x/(1 + x) and √2, of which 1/(1 + √2) is √2 − 1."""
    one, x = polynomials.constant(1), polynomials.single(X)
    over = _root(polynomials.plus(one, x))
    return over, polynomials.times(x, over), polynomials.single(TWO, Fraction(1, 2))


def test_a_quotient_is_0_over_its_atoms() -> None:
    over, rest, root = _quotients()
    one, minus = polynomials.constant(1), polynomials.constant(-1)
    plus, times, is_zero = polynomials.plus, polynomials.times, polynomials.is_zero
    assert is_zero(plus(over, rest, minus))
    assert not is_zero(plus(over, rest, one))
    assert is_zero(plus(_root(plus(one, root)), polynomials.scaled(root, -1), one))
    assert not is_zero(plus(_root(plus(one, root)), root, one))
    nested = _root(plus(one, over))  # (1 + x)/(2 + x)
    two = plus(polynomials.single(X), polynomials.constant(2))
    assert is_zero(plus(times(two, nested), minus, polynomials.scaled(polynomials.single(X), -1)))
    assert not is_zero(plus(nested, minus))
    halves = times(_root(plus(one, root), Fraction(-1, 2)), _root(plus(one, root), Fraction(1, 2)))
    assert is_zero(plus(halves, minus))


def test_what_divides_by_0_is_not_0() -> None:
    assert not polynomials.is_zero(polynomials.single(Atom("poly"), -1))
    zero = polynomials.single(Atom("poly"), -1)
    assert not polynomials.is_zero(polynomials.times(zero, polynomials.single(X)))


def test_powers_have_a_limit() -> None:
    one, x = checker.Checker([]), polynomials.single(Atom("name", "c"))
    assert one.power(x, Fraction(64))
    with pytest.raises(Refused, match="too large"):
        one.power(x, Fraction(65))


def test_what_is_not_covered_has_no_entry() -> None:
    one = checker.Checker([])
    for number in (sympy.I, sympy.oo, sympy.gamma(sympy.Symbol("c", real=True))):
        with pytest.raises(Refused, match="not covered"):
            one.scalar(number)
    with pytest.raises(Refused, match="not covered"):
        one.letter(sympy.MatPow(sympy.MatrixSymbol("A", 2, 2), sympy.Symbol("k")), ZERO, ZERO)


def test_letters_that_stand_for_something_else_are_not_the_same() -> None:
    a, b, c = (sympy.MatrixSymbol(name, 2, 2) for name in "ABC")
    goal = claims.Goal(c, c, steps=((("C", a),), (("C", b),)))
    with pytest.raises(Refused, match="not the same"):
        checker.Replay(goal, [], False).check({"same": True}, goal)


def test_a_cofactor_may_hold_what_the_statement_holds() -> None:
    """The same inverse as in `inverted`, where the statement supposes it."""
    check(made("A^-1 A B = A^-1 A C", where=["A B = A C"], shapes=SHAPES))


def test_a_cut_may_not_be_at_an_index_that_is_closed() -> None:
    """Of a range that may be empty everything holds, so that nothing may be cut there."""
    one = checker.Checker(
        [{"rule": "range", "of": "0 … n - 1", "cuts": ["#1"], "gives": "2 parts"}]
    )
    one.new(forms.number(0))
    with pytest.raises(Refused, match="not open"):
        one.in_parts(forms.variable("n"), lambda at: at)


# ---- one obligation at a time ---------------------------------------------------------------

N, M, ZERO = forms.variable("n"), forms.variable("m"), forms.number(0)
L, K, TOP = (forms.variable(name) for name in ("#1", "#2", "#3"))
ONE_MORE = forms.plus_form(L, forms.number(1))
ENDS = forms.place("P", L, 0)


def _entry(name: str, row: Form, column: Form) -> Any:
    return Atom("entry", name, (row, column))


def _delta(one: Form, other: Form) -> Any:
    return Atom("δ", places=tuple(sorted((one, other), key=str)))


def _power(one: Any) -> Any:
    """E to an atom."""
    return Atom("exp", terms=frozenset({(_mono(one), Fraction(1))}))


def _summed(size: Form, one: Any) -> Any:
    """The sum of an atom along an index."""
    terms = frozenset({(_mono(one), Fraction(1))})
    return Atom("sum", bound=(("_1a", size),), terms=terms)


def _sum(power: str = "1") -> Any:
    return _summed(M, _entry("A", L, forms.variable("_1a"))), Fraction(power)


def _mono(*atoms: Any) -> Any:
    return frozenset(one if isinstance(one[1], Fraction) else (one, Fraction(1)) for one in atoms)


def _line(name: str, size: Form, row: Form) -> Any:
    """A function of a row of A."""
    items = frozenset({(_mono(_entry("A", row, forms.variable("_1a"))), Fraction(1))})
    return Atom("line", name, (), (("_1a", size),), items)


def _above(one: Any, level: Any) -> Any:
    """How far an atom is from another one."""
    terms = frozenset({(_mono(one), Fraction(1)), (_mono(level), Fraction(-1))})
    return Atom("fn", "abs", terms=terms)


#: What a step says, the indices of the sum, and its factors: none of these may be done.
SUMS: dict[str, tuple[Made, list[tuple[str, Form]], Any]] = {
    "the index is above its range": (
        {"rule": "delta", "index": 0, "factor": 1},
        [("#1", N)],
        _mono(_entry("A", L, TOP), _delta(L, N)),
    ),
    "the index is below its range": (
        {"rule": "delta", "index": 0, "factor": 1},
        [("#1", N)],
        _mono(_entry("A", L, TOP), _delta(L, forms.number(-1))),
    ),
    "the other's range depends on the index": (
        {"rule": "delta", "index": 0, "factor": 0},
        [("#1", N), ("#2", ONE_MORE)],
        _mono(_delta(L, K)),
    ),
    "a range depends on what is counted": (
        {"rule": "count", "index": 0},
        [("#1", N), ("#2", ONE_MORE)],
        _mono(),
    ),
    "what is counted occurs": (
        {"rule": "count", "index": 0},
        [("#1", N)],
        _mono(_entry("A", L, TOP)),
    ),
    "a range depends on what is taken apart": (
        {"rule": "separate", "indices": [0]},
        [("#1", N), ("#2", ONE_MORE)],
        _mono(_entry("A", L, K)),
    ),
    "an index is taken apart twice": (
        {"rule": "separate", "indices": [0, 0]},
        [("#1", N), ("#2", M)],
        _mono(_entry("A", L, TOP), _entry("B", K, TOP)),
    ),
    "no index is taken apart": (
        {"rule": "separate", "indices": []},
        [("#1", N), ("#2", M)],
        _mono(_entry("A", L, TOP), _entry("B", K, TOP)),
    ),
    "there is no such index": (
        {"rule": "separate", "indices": [-1]},
        [("#1", N)],
        _mono(_entry("A", L, TOP)),
    ),
    "the inverse has another size": (
        {"rule": "identity", "index": 0},
        [("#1", M)],
        _mono(_entry("R", TOP, L), _entry("R⁻¹", L, ZERO)),
    ),
    "the index is left in the identity": (
        {"rule": "identity", "index": 0},
        [("#1", N)],
        _mono(_entry("R", L, L), _entry("R⁻¹", L, ZERO)),
    ),
    "these are no inverses": (
        {"rule": "identity", "index": 0},
        [("#1", N)],
        _mono(_entry("R", TOP, L), _entry("R", L, ZERO)),
    ),
    "the permutation is of more": (
        {"rule": "permute", "index": 0, "by": ["P", 0]},
        [("#1", M)],
        _mono(_entry("A", ENDS, ZERO)),
    ),
    "there is no such permutation": (
        {"rule": "permute", "index": 0, "by": ["A", 0]},
        [("#1", N)],
        _mono(_entry("A", ENDS, L)),
    ),
    "the range of another depends on what is permuted": (
        {"rule": "permute", "index": 0, "by": ["P", 0]},
        [("#1", N), ("#2", L)],
        _mono(_entry("A", ENDS, L)),
    ),
    "the line of a first entry is longer": (
        {"rule": "line", "index": 0},
        [("#1", N)],
        _mono(_line("argmax", M, TOP)._replace(kind="first", places=(L,))),
    ),
    "the line of a first entry is another one for each index": (
        {"rule": "line", "index": 0},
        [("#1", N)],
        _mono(_line("argmax", N, L)._replace(kind="first", places=(L,))),
    ),
    "the line of a level is longer": (
        {"rule": "line", "index": 0},
        [("#1", N)],
        _mono(_above(_entry("A", TOP, L), _line("τ", M, TOP))),
    ),
    "the line of a level is another one for each index": (
        {"rule": "line", "index": 0},
        [("#1", N)],
        _mono(_above(_entry("A", L, L), _line("τ", N, L))),
    ),
    "the level is one of other numbers": (
        {"rule": "line", "index": 0},
        [("#1", N)],
        _mono(_above(_entry("B", TOP, L), _line("τ", N, TOP))),
    ),
    "a sum under a root": (
        {"rule": "merge", "factor": 0},
        [("#1", N)],
        _mono(_sum("1/2")),
    ),
    "a sum below a fraction bar": (
        {"rule": "merge", "factor": 0},
        [("#1", N)],
        _mono(_sum("-1")),
    ),
}


def _sum_of(one: checker.Checker, bound: list[tuple[str, Form]], mono: Any) -> None:
    one.sizes.update({"#1": N, "#2": M, "#3": N, **dict(bound)})
    one.count, one.permuted = 9, {"P": N}
    one.units = {("R", False, "R⁻¹", False): N}
    one.total(bound, mono)


@pytest.mark.parametrize("case", SUMS)
def test_a_sum_is_not_rewritten_without_its_obligation(case: str) -> None:
    step, bound, mono = SUMS[case]
    apart = {"rule": "separate", "indices": [0]}
    joined = {"rule": "separate", "indices": [0, 1]}
    for rest in ([], [apart], [apart, apart], [apart, apart, apart], [joined]):
        steps = copy.deepcopy([step, *rest])
        with pytest.raises(Refused):
            _sum_of(Forger(steps), bound, mono)  # fills in what the steps say, if it gets so far
            _sum_of(checker.Checker(steps), bound, mono)


@pytest.mark.parametrize("cuts", [["n + 1"], ["n", "1"], ["0 - 1"], ["m"]], ids=str)
def test_a_range_is_cut_within(cuts: list[str]) -> None:
    steps: list[Made] = [{"rule": "range", "cuts": cuts}]
    with pytest.raises(Refused):
        Forger(steps).in_parts(N, lambda at: at)
        checker.Checker(steps).in_parts(N, lambda at: at)


@pytest.mark.parametrize(
    ("size", "width"), [("2n + 1", "2"), ("n", "h"), ("d·n", "#1"), ("d·#1", "#1"), ("d·n", "-1")]
)
def test_blocks_fill_a_range(size: str, width: str) -> None:
    of = f"0 … {size} - 1"
    steps: list[Made] = [
        {"rule": "range", "of": of, "width": width},
        *({"rule": "range", "of": of, "cuts": []},) * 2,
    ]
    for one in (Forger(copy.deepcopy(steps)), checker.Checker(copy.deepcopy(steps))):
        one.sizes["#1"] = N
        with pytest.raises(Refused), one.inside(scope=frozenset({"#1"})):
            one.in_parts(texts.read_form(size), lambda at: at)


def test_a_range_of_blocks_is_that_of_blocks_and_places() -> None:
    steps: list[Made] = [{"rule": "range", "width": "h"}]
    steps += [{"rule": "range", "cuts": []}, {"rule": "range", "cuts": ["1"]}]
    Forger(steps).in_parts(texts.read_form("d·h"), lambda at: at)
    found = checker.Checker(steps).in_parts(texts.read_form("d·h"), texts.form_text)
    assert found == [
        ("#1·h", [("#1", forms.variable("d"))]),
        ("#1·h + #2 + 1", [("#1", forms.variable("d")), ("#2", texts.read_form("h - 1"))]),
    ]


@pytest.mark.parametrize("back", [0, 1])
def test_a_condition_on_a_permuted_index_is_solved_by_the_inverse(back: int) -> None:
    """From π(l) = k follows l = π⁻¹(k), and from π⁻¹(l) = k follows l = π(k)."""
    one = checker.Checker([])
    one.sizes.update({"#1": N, "#2": N})
    one.permuted = {"P": N}
    assert one.solved(_delta(forms.place("P", L, back), K), "#1") == forms.place("P", K, 1 - back)


def test_a_sum_that_may_be_empty_is_no_divisor_that_is_positive() -> None:
    one = checker.Checker([])
    one.sizes["#3"] = N
    power = _power(_entry("A", TOP, forms.variable("_1a")))
    full, empty = (polynomials.single(_summed(size, power)) for size in (N, TOP))
    assert one.never_zero(full)
    assert not one.never_zero(empty)
    with pytest.raises(Refused, match="may be empty"):
        one.divisor(empty, sympy.S.Zero)


def _row_sum(name: str, row: str) -> Any:
    entry = _entry(name, texts.read_form(row), forms.variable("_1a"))
    return _summed(forms.number(3), entry)


@pytest.mark.parametrize(
    ("about", "at"),
    [
        (_row_sum("B", "0"), ["0", "0"]),  # of another letter
        (_row_sum("A", "2"), ["2", "0"]),  # below the last row
        (_power(_row_sum("A", "#2")), ["#2", "0"]),  # of something around it
        (_row_sum("A", "0"), ["#2", "0"]),  # at another row
    ],
    ids=["letter", "row", "exponent", "index"],
)
def test_an_equation_speaks_of_its_own_sum_alone(about: Any, at: list[str]) -> None:
    rows = sympy.MatMul(sympy.MatrixSymbol("A", 2, 3), sympy.OneMatrix(3, 1))
    said: Made = {"rule": "hypothesis", "equation": 0, "at": at}
    steps: list[Made] = [{"rule": "range", "cuts": []}, {"rule": "separate", "indices": [0]}]
    with pytest.raises(Refused):
        for one in (Forger(steps), checker.Checker(steps)):
            one.sizes["#2"] = forms.number(2)
            with one.inside(known=((rows, sympy.ZeroMatrix(2, 1)),)):
                _, needs = one.said(said, about)
                one.settle(copy.deepcopy(said), needs, "")


class Trusting(traces.Tracing):
    """A prover that takes any cofactor."""

    def is_whole(self, expr: Any) -> bool:
        return True


def _trusted(text: str, where: str, factors: list[Any]) -> Made:
    claim_data = _claims(text, where)
    claim = claims.goal_of(claim_data["statement"])
    replay = Trusting(claim, [], False)
    replay.given = [*replay.given, sympy.Inverse(sympy.MatrixSymbol("A", *claim.left.shape))]  # type: ignore[assignment]
    proof = json.loads(json.dumps(replay.proof(replay.goal, factors)))
    return {**claim_data, "uses": [], "partial": replay.partial, "proof": proof}


def test_no_inverse_is_brought_in_by_a_cofactor() -> None:
    """B = C does not follow from A B = A C, though it does for every A that has an inverse."""
    lie = _trusted("B = C", "A B = A C", [["1", ["Inverse", A], ["equation", 0, False], None]])
    with pytest.raises(Refused, match="does not occur in the statement"):
        check(lie)


def test_an_inverse_is_one_of_the_statement() -> None:
    claim = claims.goal_of(_claims("A + B = B + A")["statement"])
    replay = checker.Replay(claim, [], False)
    with pytest.raises(Refused, match="does not occur in the statement"):
        replay.product_of(claim, None, ["inverse", A, False], None, claim.left.shape)


def test_no_root_is_brought_in_by_a_cofactor() -> None:
    """|A| = A does not follow from a root of A that only a cofactor takes."""
    root = ["Entrywise", A, ["word", "√"]]
    with pytest.raises(Refused, match="vanish"):
        _trusted("abs(A) = A", "A B = A C", [["1", root, ["equation", 0, False], None]])


def test_a_number_of_a_cofactor_is_no_divisor_that_may_be_zero() -> None:
    """A = B does not follow from c A = c B."""
    number = ["Pow", ["real", "c"], "-1"]
    with pytest.raises(Refused, match="divides"):
        _trusted("A = B", "c A = c B", [[number, None, ["equation", 0, False], None]])


def test_a_product_that_is_not_square_is_not_turned_around() -> None:
    a, b = sympy.symbols("n m", integer=True, positive=True)
    wide, tall = sympy.MatrixSymbol("A", a, b), sympy.MatrixSymbol("B", b, a)
    with pytest.raises(Refused, match="cannot be reversed"):
        claims.turned_around((sympy.MatMul(wide, tall), sympy.Identity(a)), 1)
    one, other = sympy.MatrixSymbol("A", a, a), sympy.MatrixSymbol("B", a, a)
    with pytest.raises(Refused, match="cannot be reversed"):  # of a multiple of I neither
        claims.turned_around((sympy.MatMul(2, one, other), sympy.Identity(a)), 1)


@pytest.mark.parametrize(
    ("of_size", "of_x", "holds"),
    [
        *((1, 1, True), (1, -1, True), (-1, 1, False), (-1, -1, False)),
        *((1, 2, False), (1, -2, False), (2, 1, True)),
    ],
)
def test_a_size_is_no_less_than_its_number(of_size: int, of_x: int, holds: bool) -> None:
    x = polynomials.single(_entry("A", (("i", 1),), (("j", 1),)))
    size = polynomials.single(Atom("fn", "abs", terms=frozenset(x.items())))
    total = polynomials.plus(polynomials.scaled(size, of_size), polynomials.scaled(x, of_x))
    assert checker.Checker([]).all_nonnegative(total) is holds


def test_a_letter_has_one_shape_and_steps_are_not_assumed() -> None:
    one, other = sympy.MatrixSymbol("A", 2, 3), sympy.MatrixSymbol("A", 3, 2)
    with pytest.raises(Refused, match="two shapes"):
        claims.Goal(one, sympy.Transpose(other)).check_letters()
    step = (("A", sympy.MatrixSymbol("B", 2, 3)),)
    with pytest.raises(Refused, match="about a step"):
        claims.Goal(one, one, ((one, sympy.ZeroMatrix(2, 3)),), steps=(step, ())).check_letters()


@pytest.mark.parametrize("text", ["S + causal() = S", "causal() = 0 S", "S = S + causal()"])
def test_a_side_that_is_hidden_is_not_the_other(text: str) -> None:
    assert told(Vanishing, text) is None


def test_a_trace_ends_where_its_proof_does() -> None:
    one = made("softmax(S + c 1^T) = softmax(S)", shapes={"c": ("n", 1)})
    _steps(one).append(_steps(one)[-1])
    with pytest.raises(Refused, match="complete before"):
        check(one)


# ---- files ----------------------------------------------------------------------------------


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are replayed in a worker; what is said of them does not depend on that."""
    run = contextmanager(lambda *_: iter([here()]))
    monkeypatch.setattr("symattn.isolation.within", run)


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments), standalone_mode=False)


def test_a_certificate_is_written_and_checked(tmp_path: Path) -> None:
    name = str(tmp_path / "shift.json")
    assert _run("shift", "--format", "certificate", "-o", name).return_value == 0
    found = _run(name)
    assert found.return_value == 0
    assert "softmax(S + c 1^T) = softmax(S)" in found.output
    assert "replayed: equal (for all sizes)" in found.output


UNUSABLE: tuple[str, ...] = (
    "",
    "[1, 2",
    "7",
    "[]",
    "{}",
    '{"certificate": 2}',
    '{"certificate": 1.5}',
    '{"certificate": 1, "proof": NaN}',
    "[" * 100_000 + "]" * 100_000,
    json.dumps({"certificate": 1, "proof": [[0] * 60_000]}),
    json.dumps({"certificate": 1, "proof": 10**40}),
    json.dumps({"certificate": 1, "proof": "x" * 10_000}),
    '{"certificate": 1, "certificate": 1}',
    '{"certificate": 1, "proof": {"same": true, "same": true}}',
    '{"certificate": 1, "proof": Infinity}',
    '{"certificate": 1, "proof": -0}',
    '{"certificate": 01}',
    '{"certificate": 1,}',
    '{"certificate": 1} {}',
)


def test_an_inverse_of_what_is_not_square_is_refused() -> None:
    found = copy.deepcopy(made("M^-T = (M^T)^-1"))
    check(found)
    found["statement"]["letters"] = [["M", "1 × n"]]
    with pytest.raises(SymattnError, match="has no inverse: it is not square"):
        check(found)


def test_a_refused_certificate_says_which_step(tmp_path: Path) -> None:
    one = made("softmax(S + c 1^T) = softmax(S)", shapes={"c": ("n", 1)})
    del _steps(one)[4]
    file = tmp_path / "one.json"
    file.write_text(json.dumps(one), encoding="utf-8")
    found = _run(str(file))
    assert found.return_value == 1
    assert re.search(r"refused: step \d+: ", found.output)


@pytest.mark.usefixtures("in_this_process")
def test_the_json_of_proofs_can_be_checked(tmp_path: Path) -> None:
    name = str(tmp_path / "proof.json")
    assert _run("sharpen", "--format", "json", "-o", name).return_value == 0
    assert _run(name).return_value == 0


def unusable(text: str, folder: Path) -> str:
    """What is said of a file that holds this text and no certificate."""
    file = folder / "one.json"
    file.write_text(text, encoding="utf-8")
    found = CliRunner().invoke(main, ["prove", str(file)])
    assert found.exit_code == 2
    (line,) = found.stderr.splitlines()
    assert line.startswith(f"symattn: {file}: ")
    return line


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("text", UNUSABLE, ids=range(len(UNUSABLE)))
def test_a_file_that_is_no_certificate_is_told_in_a_line(text: str, tmp_path: Path) -> None:
    unusable(text, tmp_path)


def test_a_worker_tells_it_in_the_same_line(tmp_path: Path) -> None:
    told = unusable(UNUSABLE[8], tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symattn.isolation.within", contextmanager(lambda *_: iter([here()])))
        assert unusable(UNUSABLE[8], tmp_path) == told


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": {}},
        {"statement": []},
        {"proof": {}},
        {"proof": {"steps": [None], "cofactors": []}},
        {"proof": {"steps": [{"rule": "zero"}], "cofactors": []}},
        {"uses": [["letter"]]},
        {"uses": 3},
        {"partial": 0},
    ],
    ids=str,
)
def test_a_certificate_with_parts_missing_is_refused(changes: Made) -> None:
    one = {**copy.deepcopy(made("A + B = B + A", shapes=SHAPES)), **changes}
    with pytest.raises(Refused):
        check(one)


# ---- heads whose number is open --------------------------------------------------------------

_N, _D, _H, _G = (sympy.Symbol(name, integer=True, positive=True) for name in ("n", "d", "h", "g"))
_W, _V = (Head(sympy.MatrixSymbol(name, _N, _N), HEAD) for name in "WV")
_FIRST = Head(sympy.MatrixSymbol("W", _N, _N), 0)
_SERVING = Head(sympy.MatrixSymbol("W", _N, _N), sympy.floor(HEAD * _G / _H))
_B = sympy.MatrixSymbol("B", _D * _H, _N)
_Q = Head(sympy.MatrixSymbol("Q", _N, _D), HEAD)


def _all(body: Any) -> Any:
    return HeadSum(body, HEAD, _H)


OF_HEADS: dict[str, tuple[Any, Any, bool]] = {
    "beside": (Concat(_Q, HEAD, _H, 1) * _B, _all(_Q * Split(_B, HEAD, _H, 0)), True),
    "one group": (_all(_SERVING.subs(_G, 1)), _H * _FIRST, True),
    "as many groups": (_all(_SERVING.subs(_G, _H)), _all(_W), True),
    "the first rows": (Concat(_Q, HEAD, _H, 1) * _B, _all(_Q * Split(_B, 0, _H, 0)), False),
    "of one": (_all(_W), _H * _FIRST, False),
    "crossed": (_all(_W) * _all(_V), _H * _all(_W * _V), False),
    "crossed inverses": (
        _all(sympy.Inverse(_W)) * _all(sympy.Inverse(_V)),
        _H * _all(sympy.Inverse(_W) * sympy.Inverse(_V)),
        False,
    ),
    "the number of a head": (_all(HEAD * _W) * _all(_V), _all(_W) * _all(HEAD * _V), False),
    "groups": (_all(_SERVING), _all(_W), False),
    "within itself": (_all(_all(_W)), _H * _H * _FIRST, False),
}


@pytest.mark.parametrize("name", OF_HEADS)
def test_heads_whose_number_is_open(name: str) -> None:
    """Only what is the same for every number of heads has a proof."""
    left, right, holds = OF_HEADS[name]
    try:
        made = json.loads(json.dumps(of_heads(left, right)))
        check(made)
    except Refused:
        assert not holds
    else:
        assert holds


@pytest.mark.parametrize("name", ["π", "d½"])
def test_what_the_checker_names_itself_is_no_letter(name: str) -> None:
    """A number called π would be the constant, a size d½ the half of an even d."""
    for kind in ("size", "positive", "real"):
        with pytest.raises(Refused):
            claims.decoded([kind, name])
    with pytest.raises(Refused):
        claims.decoded(["letter", name, ["size", "n"], "1"])
    with pytest.raises(Refused):
        claims.read_size(f"2{name}")


def test_what_is_printed_of_letters_is_of_the_statement() -> None:
    certificate = equal("softmax(S + 1) = softmax(S)").certificate
    said = certificate["statement"]
    told = [*check(certificate).lines(said)]
    more = {**said, "letters": [*said["letters"], ["Z", "7 × banana"]], "positive": ["q"]}
    assert [*check({**certificate, "statement": more}).lines(more)] == told
    twice = {**said, "letters": [["S", "n × 1"], ["S", "n × m"]]}
    with pytest.raises(Refused, match="two ways"):
        check({**certificate, "statement": twice})
