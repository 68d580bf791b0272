"""Every line that a proof prints is equal to the one before it: read back and worked out."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn import IDENTITIES, Attention, SymattnError, equal, prove
from symattn.algebra.equality import Equality
from symattn.algebra.identities.numbers import numbers_put_in
from symattn.algebra.proof_lines import Lines
from symattn.cli import main
from symattn.documents.blocks import spelled
from symattn.grammar import sides as halves
from symattn.nodes.spell import Speller
from symattn.notation.latex import latex
from symattn.notation.text import line as text_line
from tests import oracle
from tests.oracle import SIZES, Statement
from tests.proof_reader import Reader, Unread, tokens, whole
from tests.shares import share
from tests.statements import STATEMENTS

_COMPARED = {"≤": operator.le, "≥": operator.ge, ">": operator.gt, "=": operator.eq}

TRUE = [row for row in STATEMENTS if row.holds and not row.options.get("sizes")]


def bound(row: Statement, answer: Equality, drawn: dict[str, Any], sides: Any) -> dict[str, Any]:
    """The letters and sizes of a draw, with the sizes that the reading has names of its own for.

    A row may draw A and B for Q1 and Q2, in any order, and a letter that an equation defines is the
    value of its other side: the text's value must be that of the row's sides, where it is known.
    """
    known = {name: drawn[name] for name, _ in answer.reading if name in drawn}
    where = row.options.get("where", ())
    pairs = [halves(one) for one in ([where] if isinstance(where, str) else where)]
    named = {side.strip() for pair in pairs for side in pair}
    letters = [name for name in drawn if name not in SIZES and name not in known]
    free = [name for name, _ in answer.reading if name not in known and name not in named]
    for order in permutations(letters, min(len(letters), len(free))):
        values = known | {name: drawn[letter] for name, letter in zip(free, order, strict=False)}
        with suppress(Unread):
            values = with_sizes(values, pairs, answer, drawn)
            if not any(differs(half, values, sides) for half in halves(row.text)):
                return values
    raise Unread("the letters that the row draws are not those of its text")


def differs(text: str, values: dict[str, Any], side: Any) -> bool:
    """Whether the value of a text is known, and another one than it should be."""
    with suppress(Unread):
        value = whole(text, values, np.shape(side))
        return np.shape(value) == np.shape(side) and not oracle.agree(value, side)
    return False


def with_sizes(
    values: dict[str, Any], where: list[list[str]], answer: Equality, drawn: dict[str, Any]
) -> dict[str, Any]:
    """Letters with those that equations define, and with sizes."""
    values |= {f"{name}'": value for name, value in values.items()}  # of A = Aᵀ
    for pair in [*where, *where]:  # what one defines may stand in another
        for name, side in (pair, pair[::-1]):
            shape = dict(answer.reading).get(name.strip(), "")
            with suppress(Unread):
                if name.strip() not in values and shape:
                    dims = tuple(drawn.get(one, 0) for one in shape.split(" × "))
                    value = whole(side, values, dims)
                    values[name.strip()] = np.ravel(value)[0] if shape == "a number" else value
    for name, shape in answer.reading:
        if " × " in shape and name in values:
            dims = np.atleast_2d(values[name]).shape
            for size, number in zip(shape.split(" × "), dims, strict=True):
                named = re.fullmatch(r"[^\W\d]\w*", size)
                if named and values.setdefault(size, number) != number:
                    raise Unread("sizes that differ from the reading's")
    sizes = {name: value for name, value in drawn.items() if isinstance(value, int)}
    sizes = {name: value for name, value in sizes.items() if name.upper() not in values}
    return {**sizes, **values}


def places(chain: Lines, values: dict[str, Any], shape: tuple[int, ...]) -> Iterator[Any]:
    """The indices of a chain, and the entry of the matrix that it is about."""
    for i in range(1, shape[0] + 1):
        for j in range(1, shape[1] + 1):
            at = {"i": i, "j": j}
            if all(within(words, values, at) for words in chain.when.split(", ") if words):
                texts = [latex(Speller().index(one)) for one in chain.entry] or ["1", "1"]
                entry = [int(Reader("", values, at).index(tokens(text))) for text in texts]
                if entry[0] <= shape[0] and entry[1] <= shape[1]:
                    yield at, entry


def within(words: str, values: dict[str, Any], at: dict[str, int]) -> bool:
    """Whether indices and sizes are as ``i + 1 ≤ j ≤ n``, ``j = i`` or ``n ≥ m`` says."""
    words = re.sub(r"_(\w\w+)", r"_{\1}", words.replace("−", "-"))
    *ends, last = re.split(r" ([≤≥>=]) ", words)
    numbers = [Reader(end, values, at).value() for end in (*ends[::2], last)]
    signs = [_COMPARED[sign] for sign in ends[1::2]]
    return all(sign(*pair) for sign, pair in zip(signs, pairwise(numbers), strict=True))


#: Statements whose lines are not read here, and why.
UNREAD = {
    "softmax(-dist2(Q, K) / 2) V = softmax(Q K^T) V": "the row's K is three times the drawn one",
    "norm2(2 K) = 4 c": "the same",
    "c - x y^T = 1/2 (x - y) (x - y)^T": "the row's x and y are twice the drawn ones",
    "(diag(p) - p p^T) 1 = 0 p": "the row has its p from a z that its text does not name",
    "(diag(p) - p p^T) (g + c 1) = (diag(p) - p p^T) g": "a column of ones of a size not told",
    "A = B": "the row draws no B where A + C = B + C",
    "A^2 = A": "ones in an assumption have a size that is not told",
    "[M, A; 0 B, D]^-1 [M, A; 0 B, D] = I": "the row draws no B, which is multiplied by 0",
    "RMSNorm(X) diag(g) W = RMSNorm(X) (diag(g) W)": "a fraction within a fraction of matrices",
    **dict.fromkeys(
        (
            "softmax(P X W_Q (P X W_K)^T) P X W_V = P softmax(X W_Q (X W_K)^T) X W_V",
            "softmax(Q K^T) V = softmax(X W_Q W_K^T X^T) X W_V",
            "M A M^-1 M B M^-1 = M A B M^-1",
            "A^5 = A",
        ),
        "sums within sums have too many terms",
    ),
}


def wrong_lines(row: Statement, answer: Equality, change: Any = None) -> tuple[int, list[str]]:
    """How many lines were read, and those that are not what NumPy says of the side.

    `change` of a line and its number plants a mistake. Every case of sizes has a draw.
    """
    count, wrong = 0, list[str]()
    assert answer.exposition is not None
    chains = [*answer.exposition.chains]
    for drawn in row.draws(3, 8):
        parameters = inspect.signature(row.sides).parameters
        with np.errstate(all="ignore"):
            sides = row.sides(**{name: drawn[name] for name in parameters})
        side = np.broadcast_arrays(*map(np.atleast_2d, sides))[0]
        values = bound(row, answer, drawn, side)
        for chain in [*chains]:
            found = [*of_chain(chain, values, side, change)]
            count += len(found)
            wrong += [f"{row.text}: {one}" for one in found if one]
            if found:
                chains.remove(chain)
        if not chains:
            break
    return count, wrong


def of_chain(chain: Lines, values: dict[str, Any], side: Any, change: Any) -> Iterator[str]:
    """Each line of a chain at each place: what is wrong with it, or nothing."""
    shown = [line.value for line in chain.lines if line.value is not None and chain.lines[1:]]
    matrices = [one for one in shown if isinstance(one, MatrixExpr)]
    for one in matrices:
        text = text_line(Speller().matrix(one))
        found = whole(text, values, side.shape)
        yield "" if np.allclose(found, side, rtol=1e-7) else f"{text} is not {side}"
    texts = [latex(Speller().rule(one)) for one in shown if one not in matrices]
    texts = [change(k, text) for k, text in enumerate(texts)] if change else texts
    for at, (i, j) in list(places(chain, values, side.shape))[:6]:
        expected = float(side[i - 1, j - 1])
        for text in texts:
            found = Reader(text, values, at).value()
            same = math.isclose(found, expected, rel_tol=1e-7, abs_tol=1e-9)
            yield "" if same else f"{text} at {at} is {found}, not {expected}"


@pytest.mark.parametrize("start", share(range(100), 100))
def test_every_line_is_equal_to_the_one_before(start: int) -> None:
    """Every line is the number that NumPy gets for the side; what cannot be read is named."""
    for row in TRUE[start::100]:
        try:
            answer = equal(row.text, **row.options)
        except SymattnError:  # some true statements are written in words that are refused
            continue
        if answer.certified and answer.exposition is not None and answer.exposition.chains:
            try:
                count, wrong = wrong_lines(row, answer)
            except Unread as trouble:
                assert row.text in UNREAD, f"{row.text}: {trouble}"
                continue
            assert not wrong
            assert count > 0


@pytest.mark.parametrize(
    ("statement", "cases"),
    [
        ("softmax(S + causal()) 1 = 1", ["n ≥ m, i ≤ m", "n ≥ m, i ≤ n − m", "m > n"]),
        (
            "2 causal() = causal()",
            [
                *("n ≥ m, i ≤ m, j ≤ i", "n ≥ m, i ≤ m, i + 1 ≤ j ≤ m", "n ≥ m, i ≤ n − m, j ≤ m"),
                *("m > n, i ≤ n, j ≤ i", "m > n, i ≤ n, i + 1 ≤ j ≤ m"),
            ],
        ),
    ],
)
def test_cases_of_sizes_are_named_by_sizes(statement: str, cases: list[str]) -> None:
    """All of them, also those where both sides are −∞."""
    found = equal(statement).exposition
    assert found is not None
    assert [chain.when for chain in found.chains] == cases


@pytest.mark.parametrize(
    ("statement", "line", "options"),
    [
        ("rowsum(hardmax(S)) = 1", "Σ_l [[1, if l = argmax_t(s_it)], [0, otherwise]]", {}),
        ("relu(relu(A)) = relu(A)", "max(0, max(0, a_ij))", {}),
        (
            "softmax([S, 0 c]) = [softmax1(S), 1 - rowsum(softmax1(S))]",
            "1/((Σ_l e^(s_il)) + 1)",
            {},
        ),
        ("colsum(P S) = colsum(S)", "Σ_l s_π(l),j", {"permuting": ["P"]}),
        (
            "P (S ∘ exp(causal())) = (P S) ∘ (P exp(causal()))",
            "s_π(i),j [exp(causal(n, m))]_π(i),j",
            {"permuting": ["P"]},
        ),
    ],
)
def test_a_line_with_conditions(statement: str, line: str, options: dict[str, Any]) -> None:
    """Cases of an index or of signs, a part that is one column, permuted indices with commas."""
    found = equal(statement, **options).exposition
    assert found is not None
    shown = [line_ for chain in found.chains for line_ in chain.lines if line_.value is not None]
    assert line in [text_line(Speller().rule(one.value)) for one in shown]


def test_a_wrong_line_is_noticed() -> None:
    """A factor, an index and a sign are changed, in each line that has them."""
    row = TRUE[0]
    assert row.text == "softmax(S + c 1^T) = softmax(S)"
    answer = equal(row.text, **row.options)
    for old, new in (("e^{", "2 e^{"), ("s_{il}", "s_{ij}"), ("_{l = 1}", "_{l = 2}")):
        for line in range(3):
            planted: list[str] = []

            def change(k: int, text: str, at: Any = (line, old, new, planted)) -> str:
                number, before, after, found = at
                if k == number and before in text:
                    found.append(text)
                    return text.replace(before, after, 1)
                return text

            _, wrong = wrong_lines(row, answer, change)
            assert bool(wrong) is bool(planted)


def test_a_proof_says_what_it_needs() -> None:
    answer = equal("softmax(-dist2(Q, K) / 2) V = softmax(Q K^T) V", where="norm2(K) = c")
    found = answer.exposition
    assert found is not None
    assert found.steps > 10
    assert len(found.divisors) == 2
    (chain,) = found.chains
    reasons = [spelled(line.reason, str, text_line) for line in chain.lines]
    assert any("by rowsum(K ∘ K) = c 1" in reason for reason in reasons)
    assert reasons[-1] == "by definition"


def test_an_assumed_equation_is_named_where_it_is_used() -> None:
    """A condition that an equation brings is used on the line after it, not before."""
    answer = equal("A^3 = A", where="A^2 = I")
    assert answer.exposition is not None
    (chain,) = answer.exposition.chains
    texts = ["" if x.value is None else text_line(Speller().rule(x.value)) for x in chain.lines]
    reasons = [spelled(x.reason, str, text_line) for x in chain.lines]
    assert texts[1] == "Σ_l (a_il Σ_t a_lt a_tj)"
    assert "a_ij" in texts[2:]
    assert "by A A = I" in " ".join(reasons[2:])


# ---- numbers put in, and the identity behind a step --------------------------------------------


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(words))
    return result.exit_code, result.output


def test_numbers_are_put_in(tmp_path: Path) -> None:
    status, out = run("prove", "gaussian-kernel", "--with", "small")
    assert status == 0
    assert "With numbers put in:" in out
    assert "The lines for entry (1, 1):" in out
    file = tmp_path / "numbers.toml"
    file.write_text('A = [[1, 2], ["1/2", 0]]\nB = [[2, 0], [1, 1]]\n', encoding="utf-8")
    status, out = run("prove", "A (B + B) = 2 A B", "--with", str(file))
    assert status == 0
    assert "Both sides are [[8, 4], [2, 0]]" in out
    file.write_text('x = [1, "1/2", 3]\ny = [[4], [2], [-1]]\n', encoding="utf-8")
    words = ("--shape", "x=n,1", "--shape", "y=n,1", "--with", str(file))
    assert "Both sides are 2\n" in run("prove", "x^T y = y^T x", *words)[1]
    more = ("--where", "rowsum(A) = 7", "--with", "small")
    assert "Both sides are [[14], [14]]" in run("prove", "rowsum(2 A) = 14", *more)[1]
    found = run("prove", "jacobian-times-1", "--with", "small")[1]
    assert "With numbers put in: z = [3, 2], p = [[0.7311], [0.2689]]" in found


def test_where_no_small_numbers_are_found_it_is_said() -> None:
    proof = prove("shift")
    row = replace(proof.identity, where=("rowsum(S ∘ S) = -1",))
    with pytest.raises(SymattnError, match="no small numbers were found"):
        [*numbers_put_in(replace(proof, identity=row))]


#: Statements, how they are asked, and what both sides are in NumPy.
PUT_IN: tuple[tuple[str, str, Any], ...] = (
    (
        "softmax(P S) = P softmax(S)",
        "--where 'P a permutation'",
        lambda P, S: oracle.softmax(P @ S),
    ),
    ("ln(exp(A) ∘ B) = A + ln(B)", "--where 'B positive'", lambda A, B: A + np.log(B)),
    ("x^T R^T R x = x^T x", "--where 'R orthogonal'", lambda x, **_: x.T @ x),
    ("c (A + B) = c A + c B", "--shape c=scalar", lambda c, A, B: c * (A + B)),
    ("A B = B A", "--where B=2*A --shape A=n,n", lambda A, B: 2 * A @ A),
    ("c A = 2 A", "--where c=2 --shape c=scalar", lambda A: 2 * A),
    ("rowmax(2 S) = 2 rowmax(S)", "", lambda S: 2 * oracle.rowmax(S)),
    ("relu(A) - relu(-A) = A", "", lambda A: A),
    ("A [B, B] = [A B, A B]", "", lambda A, B: np.hstack([A @ B, A @ B])),
    ("softmax(S + causal()) 1 = 1", "", lambda S: np.ones((len(S), 1))),
    ("M M^-1 A = A", "", lambda A, **_: A),
    ("softmax(Q K^T / sqrt(d_k)) 1 = 1", "", lambda Q, K: np.ones((len(Q), 1))),
    (
        "softmax(-dist2(Q, K) / 2) = softmax(Q K^T)",
        "--where norm2(K)=c",
        lambda Q, K, **_: oracle.softmax(Q @ K.T),
    ),
)


def _numbers(text: str) -> Any:
    return np.array(ast.literal_eval(text.replace("−", "-")), dtype=float)


@pytest.mark.parametrize(("text", "words", "side"), PUT_IN, ids=[row[0] for row in PUT_IN])
def test_small_numbers_satisfy_all_and_give_what_numpy_gives(
    text: str, words: str, side: Any
) -> None:
    status, out = run("prove", text, *shlex.split(words), "--with", "small")
    assert status == 0, out
    (listed,) = re.findall("With numbers put in: (.*)", out)
    letters = re.findall(r"(\w+) = (\[\[.*?\]\]|[-−\d]+)", listed)
    given = {name: _numbers(value) for name, value in letters}
    (value,) = re.findall("Both sides are (.*)", out)
    found, wanted = np.ravel(_numbers(value)), np.ravel(side(**given))
    assert found.size == wanted.size
    np.testing.assert_allclose(found, wanted, atol=6e-5)


@pytest.mark.parametrize(
    ("text", "words", "numbers", "told"),
    [
        ("c A = A c", "--shape c=scalar", "A = [[1]]", "no number is given for c"),
        ("A + B = B + A", "", "A = [[1]]", "no numbers are given"),
        ("A + B = B + A", "", "Z = 1", "no such letter"),
        ("A + A = 2 A", "", "A = [[1, 2], [2]]", "rows differ in length"),
        ("A + A = 2 A", "", "A = [", "n.toml"),
        ("B = 2 A", "--where B=2*A", "A = [[1]]\nB = [[1]]", "does not hold"),
        ("abs(A) = A", "--where 'A positive'", "A = [[1, 0]]", "A > 0 does not hold"),
        (
            "P^T P = I",
            "--where 'P a permutation'",
            "P = [[1, 1], [0, 1]]",
            "that P is a permutation",
        ),
        ("A + B = B + A", "", "A = [[1, 2]]\nB = [[1]]", "B: m is 2, but here it is 1"),
        ("A + A = 2 A", "", f"A = [{[1] * 65}]", "more than 64 numbers"),
        ("A + A = 2 A", "", 'A = [["?"]]', "is left blank"),
        ("A + A = 2 A", "--shape A=n,2", "A = [[1, 2, 3]]", "2 is 2, but here it is 3"),
    ],
)
def test_numbers_that_break_what_is_assumed_are_refused(
    tmp_path: Path, text: str, words: str, numbers: str, told: str
) -> None:
    file = tmp_path / "n.toml"
    file.write_text(f"{numbers}\n", encoding="utf-8")
    status, out = run("prove", text, *shlex.split(words), "--with", str(file))
    assert (status, out.count("\n")) == (2, 1)
    assert told in out


def test_the_identity_behind_a_step() -> None:
    status, out = run("prove", "causal#masked")
    assert status == 0
    assert "mask-deletes" in out
    status, out = run("prove", "causal#nothing")
    assert status == 2
    for row in IDENTITIES:
        assert row.holds or not row.behind


def test_row_dots_is_a_step_of_the_backward_pass() -> None:
    """D = rowsum(dO ∘ O) gives the same gradients, for several heads too."""
    spec = Attention(mask="causal", heads=2)
    derivation = spec.derivation()
    random = np.random.default_rng(5)
    inputs = {
        name: random.normal(size=shape)
        for name, shape in {"Q": (2, 3, 2), "K": (2, 3, 2), "V": (2, 3, 2), "dH": (3, 4)}.items()
    }
    plain = derivation.gradient(("Q", "K"))
    dots = derivation.gradient(("Q", "K"), row_dots=True)
    assert "output_dots" in [step.name for step in dots.steps]
    given = {item.name: inputs[item.letter] for item in plain.inputs if item.letter in inputs}
    one, other = (each.evaluate(**given) for each in (plain, dots))
    for name in ("dQ", "dK"):
        np.testing.assert_allclose(one.array(name), other.array(name))
    with pytest.raises(SymattnError, match="row_dots"):
        Attention(normaliser="sigmoid").derivation().gradient(row_dots=True)


def test_a_derivative_is_not_what_it_is_taken_of() -> None:
    """All lines of the softmax's Jacobian, times a row w, at numbers."""
    exposition = prove("jacobian").equality.exposition
    assert exposition is not None
    (chain,) = exposition.chains
    z, w = np.array([[0.3, -1.0, 0.8]]), np.array([[1.5, 0.2, -0.7]])
    p = np.exp(z) / np.exp(z).sum()
    expected = w * p - (w * p).sum() * p
    texts = [latex(Speller().rule(line.value)) for line in chain.lines if line.value is not None]
    assert len(texts) >= 2
    for j in (1, 2, 3):
        values = {"z": z, "w": w.T, "m": 3, "n": 3}
        found = [Reader(text, values, {"j": j}).value() for text in texts]
        np.testing.assert_allclose(found, expected[0, j - 1])
