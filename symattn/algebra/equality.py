"""`equal(A, B)`: whether two expressions or derivations are the same function of their inputs.

The answer is a decision, not a sample. First both sides are brought to a normal form over symbolic
indices, which settles many identities for all sizes (`allsizes.py`). Otherwise the entries are
computed at small sizes in an exact field of functions (`field.py`): "equal" then means that every
entry of the difference is the function 0, and "different" comes with numbers for which Arb proves
it. What neither settles is "undecided", with the reason; Richardson, *Some Undecidable Problems
Involving Elementary Functions of a Real Variable* (1968), is why there has to be such an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, permutations, product
from math import prod
from typing import Any, Literal

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.entries import Entries
from symattn.algebra.field import Undefined
from symattn.algebra.functions import Functions
from symattn.algebra.hypotheses import Statement, examples, inputs, nested
from symattn.algebra.known import Again, Empty, Known, NeedSign, TooHard
from symattn.algebra.statement import build
from symattn.algebra.witness import Counterexample, Side, broadcast, differ
from symattn.derivation import Derivation
from symattn.errors import CannotSpell, SymattnError
from symattn.grammar import sides as split_sides
from symattn.nodes.base import shape_of
from symattn.step import Step, check_shapes, listed_sizes

Answer = Literal["equal", "different", "undecided"]

#: How often signs may be split, and how many entries the difference may have.
_MOST_CASES, _MOST_ENTRIES, _MOST_ROUNDS = 64, 400, 200

#: How many numbers are tried before the proof: most of what is false shows at once.
_FIRST_TRIES = 4

#: The sizes at which a statement is decided if none are given; two, so that no accident of one
#: size (√d = d/√2 at d = 2) passes.
_SMALL: tuple[Mapping[str, int], ...] = (
    {"m": 3, "g": 1},
    {"n": 3, "d": 3, "d_k": 3, "g": 1},
)
_EVEN: tuple[Mapping[str, int], ...] = ({"m": 3, "g": 1}, {"n": 3, "d_k": 4, "d": 4, "g": 1})


@dataclass(frozen=True)
class Equality:
    """The answer of `equal`; true if and only if the two are equal.

    `scope` is "for all sizes" or says at which sizes it was decided. A "different" has a
    counterexample, an "undecided" a reason.
    """

    verdict: Answer
    scope: str
    reason: str
    counterexample: Counterexample | None = field(default=None)

    def __bool__(self) -> bool:
        return self.verdict == "equal"

    def __str__(self) -> str:
        told = f" ({self.scope})" if self.scope else ""
        shown = f": {self.counterexample}" if self.counterexample else f": {self.reason}"
        return f"{self.verdict}{told}{shown}"


def equal(
    left: Any,
    right: Any = None,
    *,
    sizes: Mapping[str, int] | None = None,
    shapes: Mapping[str, tuple[Any, Any]] | None = None,
    where: str | Sequence[Any] = (),
    positive: Sequence[str] = (),
    permuting: Sequence[str] = (),
) -> Equality:
    """Decide whether two matrix expressions, steps or derivations are equal.

    Each side is a text (see `symattn.grammar`), a SymPy expression, a `Step` or a
    `Derivation` (its last step is meant); one text may hold both sides around ``=``. `sizes` are
    the sizes to decide at (small ones, if none are given), `shapes` those of letters that a text
    does not tell, `where` equations that are assumed, `positive` letters whose entries are > 0,
    `permuting` letters of permutation matrices.

    Raises `SymattnError` for what cannot be read and for shapes that do not fit.

    >>> equal("softmax(S + c 1^T)", "softmax(S)").verdict
    'equal'
    >>> answer = equal("Q K^T = K Q^T", shapes={"Q": (2, 1), "K": (2, 1)})
    >>> print(answer.verdict, answer.counterexample.left, answer.counterexample.right)
    different 1 0
    """
    statement = stated(
        left, right, shapes=shapes, where=where, positive=positive, permuting=permuting
    )
    return decide(statement, sizes)


def stated(
    left: Any, right: Any = None, *, shapes: Any = None, where: Any = (), positive: Any = (),
    permuting: Any = (),
) -> Statement:  # fmt: skip
    """The statement that the arguments of `equal` make; a list is a chain of equal expressions."""
    if isinstance(left, list) and right is None:
        chain = left
    elif right is None:
        chain = split_sides(left) if isinstance(left, str) else [left]
    else:
        chain = [left, right]
    if len(chain) < 2:
        raise SymattnError("two sides are needed: equal(A, B), or a text with =")
    pairs = [chain, *(_halves(one) for one in ([where] if isinstance(where, str) else where))]
    square = {name: (f"#{name}", f"#{name}") for name in permuting}
    told = {**square, **_known_shapes(pairs), **(shapes or {})}
    texts = [[one for one in pair if isinstance(one, str)] for pair in pairs]
    built = build(texts, told, tuple(positive))
    meant = []
    for pair, ready in zip(pairs, built, strict=True):
        left_over = iter(ready)
        meant.append([next(left_over) if isinstance(one, str) else _meant(one) for one in pair])
    for one in (one for pair in meant for one in pair):
        if isinstance(one, MatrixExpr):
            check_shapes(one, "equal")
    assumed = tuple((Side(one), Side(two)) for one, two in meant[1:])
    return Statement(
        Side(meant[0][0]), Side(meant[0][-1]), assumed, frozenset(positive), frozenset(permuting),
        tuple(meant[0]),
    )  # fmt: skip


def _halves(one: Any) -> list[Any]:
    halves = split_sides(one) if isinstance(one, str) else list(one)
    if len(halves) != 2:
        raise SymattnError(f"where: {one} is no equation")
    return halves


def _meant(one: Any) -> Any:
    if isinstance(one, Step):
        return one.expr
    if isinstance(one, Derivation):
        return one
    if isinstance(one, sympy.MatrixBase):
        return sympy.ImmutableDenseMatrix(one)
    if isinstance(one, sympy.Expr | int):
        return sympy.sympify(one, strict=True)
    raise SymattnError(f"{type(one).__name__}: give a text, a SymPy expression or a derivation")


def _known_shapes(pairs: list[list[Any]]) -> dict[str, tuple[Any, Any]]:
    """The shapes of the letters in the sides that are no texts."""
    return {
        name: letter.shape
        for pair in pairs
        for one in pair
        if not isinstance(one, str)
        for name, letter in Side(_meant(one)).letters().items()
        if letter.group is None
    }


def decide(statement: Statement, sizes: Mapping[str, int] | None = None) -> Equality:
    """Decide a statement: for all sizes if possible, else at these sizes or at small ones."""
    symbols = _sizes_of(statement)
    if not sizes and symbols:
        from symattn.algebra.allsizes import proven_for_all_sizes

        if proven_for_all_sizes(statement):
            return Equality(
                "equal", "for all sizes", "both sides have the same normal form over indices"
            )
    answers = []
    for chosen in [sizes] if sizes else _chosen(statement, symbols):
        told = {symbol: int(chosen.get(symbol.name, 2)) for symbol in symbols}
        answer = _decided_at(statement, told)
        if answer.verdict == "undecided" and not sizes:  # one row has fewer cases of signs
            answer = _decided_at(statement, {**told, **{s: 1 for s in told if s.name == "n"}})
        if answer.verdict != "equal":
            return answer
        answers.append(answer)
        if not symbols:
            break
    scopes = "; ".join(dict.fromkeys(answer.scope for answer in answers))
    return Equality("equal", scopes, answers[-1].reason)


def _chosen(statement: Statement, symbols: set[sympy.Symbol]) -> tuple[Mapping[str, int], ...]:
    rotary = any("Rotary" in sympy.srepr(expr) for side in statement.all_sides
                 for expr in _expressions(side))  # fmt: skip
    return _EVEN if rotary else _SMALL


def _expressions(side: Side) -> list[Any]:
    if isinstance(side.meaning, Derivation):
        return [step.expr for step in side.meaning.steps]
    return [side.meaning]


def _sizes_of(statement: Statement) -> set[sympy.Symbol]:
    """The symbols that are sizes: those in shapes, and positive whole ones."""
    found: set[sympy.Symbol] = set()
    for side in statement.all_sides:
        for letter in side.letters().values():
            for size in letter.shape:
                found |= sympy.sympify(size, strict=True).free_symbols
            if letter.group is not None:
                found.add(sympy.Symbol(letter.group, integer=True, positive=True))
        found |= {s for s in side.scalars() if s.is_integer and s.is_positive}
        if isinstance(side.meaning, MatrixExpr):
            for size in shape_of(side.meaning):
                found |= size.free_symbols
    return found


def _decided_at(statement: Statement, sizes: dict[sympy.Symbol, int]) -> Equality:
    """The decision at these sizes, for every permutation that a letter may stand for."""
    answer = None
    for arranged in _arranged(statement, sizes):
        answer = _decided_for(arranged, sizes)
        if answer.verdict != "equal":
            return answer
    assert answer is not None
    return answer


def _arranged(statement: Statement, sizes: dict[sympy.Symbol, int]) -> Iterator[Statement]:
    letters = statement.letters()
    names = [name for name in letters if name in statement.permutations]
    choices = [list(permutations(range(letters[name].dims(sizes)[0]))) for name in names]
    if prod(map(len, choices)) > _MOST_CASES:
        raise SymattnError("too many permutations to go through; choose smaller sizes")
    for chosen in product(*choices):
        told = []
        for name, order in zip(names, chosen, strict=True):
            rows = [[int(j == k) for j in range(len(order))] for k in order]
            symbol = sympy.MatrixSymbol(name, *letters[name].shape)
            told.append((Side(symbol), Side(sympy.ImmutableDenseMatrix(rows))))
        yield replace(statement, where=(*told, *statement.where))


def _decided_for(statement: Statement, sizes: dict[sympy.Symbol, int]) -> Equality:
    listed = listed_sizes(sizes) or {s.name: k for s, k in sizes.items()}
    rest = {s.name: k for s, k in sizes.items() if s.name not in listed}
    told = ", ".join(f"{name} = {count}" for name, count in {**listed, **rest}.items())
    scope = f"decided for {told}" if told else "at the sizes written"
    found = counterexample(statement, sizes, _FIRST_TRIES)
    if found is not None:
        return Equality("different", scope, "Arb proves that the values differ", found)
    try:
        cases, doubts = _cases(statement, sizes)
    except (TooHard, CannotSpell, Undefined) as trouble:
        cases, doubts = None, {str(trouble): None}
    if cases == []:
        return Equality("equal", scope, "every entry of the difference is the function 0")
    found = counterexample(statement, sizes)
    if found is not None:
        return Equality("different", scope, "Arb proves that the values differ", found)
    why = "; ".join(doubts) or "the normal forms differ, but no numbers were found that show it"
    return Equality("undecided", scope, why)


def _cases(
    statement: Statement, sizes: dict[sympy.Symbol, int]
) -> tuple[list[dict[str, int]], dict[str, None]]:
    """The assumptions about signs under which an entry differs (none: equal), and doubts."""
    wrong: list[dict[str, int]] = []
    doubts: dict[str, None] = {}
    try:
        if _round(statement, sizes, Known(opaque=True))[0]:
            return wrong, doubts
    except (NeedSign, Empty):
        pass  # then by cases
    waiting, seen, defined = [Known()], 0, False
    while waiting:
        known = waiting.pop()
        try:
            same, functions = _round(statement, sizes, known)
        except NeedSign as need:
            seen += 1
            if seen > _MOST_CASES:
                raise TooHard("too many cases of signs") from None
            waiting += [known.assuming(need.key, 1), known.assuming(need.key, -1)]
            continue
        except Empty:
            continue  # the signs contradict what a root or logarithm needs
        defined = True
        doubts.update(functions.doubts)
        if not same:
            wrong.append(known.signs)
            break
    if not defined:
        raise Undefined("it has no value, whatever the inputs are")
    return wrong, doubts


def _round(
    statement: Statement, sizes: dict[sympy.Symbol, int], known: Known
) -> tuple[bool, Functions]:
    """Whether all entries agree under what is known about signs."""
    for _ in range(_MOST_ROUNDS):
        functions = Functions(known)
        entries = Entries(functions, statement.positive)
        try:
            given = inputs(statement, entries, sizes)
            one, two = broadcast(
                *(side.value(given, entries, sizes) for side in (statement.left, statement.right))
            )
            if one.size > _MOST_ENTRIES:
                raise TooHard(f"{one.size} entries are too many; choose smaller sizes")
            pairs = zip(one.ravel(), two.ravel(), strict=True)
            return all(a == b for a, b in pairs), functions
        except Again:
            continue
    raise TooHard("the scales of the exponents do not come to rest")


def _simpler(statement: Statement, given: Any, put: Any, found: Any) -> Any:
    """The numbers made 0 or 1 one by one, as long as the sides still differ; `given` changes."""
    for name, array in given.items():
        for place in np.ndindex(*array.shape):
            before = array[place]
            least = int(name in statement.positive)
            for number in (sympy.S.Zero, sympy.S.One)[least:]:
                if before == number:
                    break
                array[place] = number
                still = differ(statement.left, statement.right, given, put)
                if still is not None:
                    found = still
                    break
                array[place] = before
    return found


def counterexample(
    statement: Statement, sizes: dict[sympy.Symbol, int], tries: int | None = None
) -> Counterexample | None:
    """Small numbers for which the sides provably differ, among the first so many or all."""
    for put, given in islice(examples(statement, sizes), tries):
        found = differ(statement.left, statement.right, given, put)
        if found is not None:
            if not statement.where:
                found = _simpler(statement, given, put, found)
            made = statement.defined
            shown = [(name, nested(array)) for name, array in given.items() if name not in made]
            shown += [(s.name, number) for s, number in put.items() if s not in sizes]
            return Counterexample(tuple(shown), *found)
    return None
