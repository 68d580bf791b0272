"""`equal(A, B)`: whether two expressions or derivations are the same function of their inputs.

The answer is a decision, not a sample. Numbers are tried first: where Arb proves that the two
sides differ, they are different. Otherwise a proof for all sizes is looked for (`traces.py`) by
the steps of a checker (`certificate.py`), which then replays it. Sizes that are given are assumed
like anything else: n = 2. What holds only at sizes that were chosen here is not called equal, and
what nothing settles is "undecided", with the reason; Richardson, *Some Undecidable Problems
Involving Elementary Functions of a Real Variable* (1968), is why there has to be such an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, pairwise, permutations, product
from math import factorial, prod
from typing import Any, Literal

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import replayed
from symattn.algebra.comparison import Joint, joined
from symattn.algebra.counterexample import Counterexample, Letter, Meaning, Side
from symattn.algebra.forms import Refused
from symattn.algebra.hypotheses import Statement
from symattn.algebra.inequalities import certificate as of_bounds
from symattn.algebra.inequalities import joined as joined_bounds
from symattn.algebra.inequalities import reason as reason_of_bounds
from symattn.algebra.kinds import Data
from symattn.algebra.proof_lines import Exposition, exposition
from symattn.algebra.refute import (
    is_refuted,
    refuted,
    sizes_of,
    smallest,
    trial_sizes,
)
from symattn.algebra.traces import certificate, reason
from symattn.arguments import instance, table, whole, words, wrong
from symattn.budget import STEPS, Spent, within
from symattn.derivations import Derivation
from symattn.errors import ShapeError, SymattnError, quote
from symattn.grammar import MAX_NESTED, is_inequality, relations
from symattn.grammar import sides as split_sides
from symattn.language.shapes import SQUARE, GivenShape
from symattn.language.statement import Written, readings
from symattn.nodes.base import shape_of
from symattn.nodes.defined import expanded
from symattn.nodes.written import put_in
from symattn.step import MOST_OF_A_SIZE, Step, check_shapes, listed_sizes

Answer = Literal["equal", "proven", "holds at the sizes tried", "different", "refuted", "undecided"]

#: What is said of an inequality where an equation is called so.
_OF_BOUNDS: Mapping[Answer, Answer] = {"equal": "proven", "different": "refuted"}

#: Decided for every size, at sizes that were given, or only at sizes that were chosen here.
FOR_ALL = "for all sizes"
AT_GIVEN = "at the sizes given"

#: How many permutations are gone through, and how many other readings are compared.
_MOST_ORDERS, _MOST_OTHERS = 64, 4

#: What is said where it is spent, and what to do.
_NOT_FOUND = "no proof was found"
_MORE = "allow more with effort=10 (--effort 10)"

#: The most that the budget of work is multiplied by.
MOST_EFFORT = 1_000_000

#: How many entries a matrix may have where its size is given.
_MOST_CELLS = 1024


@dataclass(frozen=True, repr=False)
class Equality:
    """The answer of `equal`; true if and only if the two are equal, or an inequality is proven.

    `scope` is "for all sizes", or says which sizes were given or tried. A "different" has a
    counterexample, an "undecided" a reason. "holds at the sizes tried" is no proof: the sizes were
    not given, and nothing was shown for others. `partial`: some inputs have no value (a divisor
    may be 0), and the two are equal where both are defined. `reading` is each letter's shape, as
    the statement was read, and `notes` say where another reading has another answer.
    """

    verdict: Answer
    scope: str
    reason: str
    counterexample: Counterexample | None = field(default=None)
    partial: bool = False
    reading: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    #: What to say or allow, so that more is decided: options of `equal` and of the command.
    hint: str = ""
    #: Of "equal" for all sizes, the certificate that the checker accepted.
    certificate: Data = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.verdict in ("equal", "proven")

    @property
    def is_false(self) -> bool:
        """Whether numbers show that it does not hold."""
        return self.verdict in ("different", "refuted")

    @property
    def certified(self) -> bool:
        """Whether the checker accepted a trace of the proof for all sizes."""
        return self.certificate is not None

    @cached_property
    def exposition(self) -> Exposition | None:
        """The proof for all sizes as a textbook has it; None without a certificate."""
        is_equation = self.certified and self.verdict == "equal"
        return exposition(self.certificate) if is_equation else None

    @property
    def summary(self) -> str:
        """The answer in a line: equal (for all sizes, where both sides are defined)."""
        where = [self.scope] if self.scope and not self.is_false else []
        where += ["where both sides are defined"] if self.partial else []
        return f"{self.verdict} ({', '.join(where)})" if where else self.verdict

    @property
    def read_as(self) -> str:
        """The reading in a line: Q n × d_k, c a number."""
        return ", ".join(f"{name} {shape}" for name, shape in self.reading)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        why = self.counterexample if self.counterexample else self.reason
        reading = f"read as {self.read_as}" if self.reading else ""
        lines = (f"{self.summary}: {why}", self.hint, reading, *self.notes)
        return "; ".join(filter(None, lines))


def equal(
    left: Meaning,
    right: Meaning = None,
    *,
    sizes: Mapping[str, int] | None = None,
    shapes: Mapping[str, GivenShape] | None = None,
    where: str | Sequence[Meaning] = (),
    positive: Sequence[str] = (),
    permuting: Sequence[str] = (),
    orthogonal: Sequence[str] = (),
    symmetric: Sequence[str] = (),
    effort: int = 1,
) -> Equality:
    """Decide whether two matrix expressions, steps or derivations are equal.

    Each side is a text (see `symattn.grammar`), a SymPy expression, a `Step` or a `Derivation`
    (its last step is meant); one text may hold both sides around ``=``. `sizes` are the sizes to
    decide at (all, if none are given), `shapes` those of letters that a text does not tell
    (``("n", "d")``, ``(2, 3)`` or ``"scalar"``), `where` equations that are assumed, `positive`
    letters whose entries are > 0, `permuting`, `orthogonal` and `symmetric` letters of such
    matrices. `effort` multiplies the budget of work, which is counted in steps.

    Two derivations are compared as functions of the same inputs, those of the same name; `where`
    says what other inputs are: ``"W_K[1] = W_K[2]"``, ``"W_K = repeat(W_K')"`` with the second's
    W_K, ``"memory = X"`` (see `symattn.algebra.comparison`).

    Raises `SymattnError` for what cannot be read and for shapes that do not fit.

    >>> equal("softmax(S + c 1^T)", "softmax(S)").summary
    'equal (for all sizes)'
    >>> answer = equal("Q K^T = K Q^T", shapes={"Q": (2, 1), "K": (2, 1)})
    >>> print(answer.verdict, answer.counterexample.left, answer.counterexample.right)
    different 1 0
    """
    if isinstance(left, list):
        raise SymattnError(
            "equal: give two sides, or a text with =; a chain is proven link by link"
        )
    sizes, effort = table(sizes, "sizes"), whole(effort, "effort", 1, MOST_EFFORT)
    statements = stated(
        left,
        right,
        shapes=shapes,
        where=where,
        positive=positive,
        permuting=permuting,
        orthogonal=orthogonal,
        symmetric=symmetric,
    )
    return answered(statements, sizes, effort)


def answered(
    statements: Iterator[Statement], sizes: Mapping[str, int] | None = None, effort: int = 1
) -> Equality:
    """The answer to the first reading, with a note for others that have another answer.

    Undecided where one of those is as likely. Of two derivations, a note says what would make them
    equal, where that is found.
    """
    statement = next(statements)
    if statement.joint is not None:
        return _compared(statement.joint, statement, sizes, effort)
    answer = decide(statement, sizes, effort)
    if answer.verdict == "undecided":
        return answer
    notes = []
    for other in islice(statements, _MOST_OTHERS):
        try:
            found = decide(other, sizes)
        except SymattnError:
            continue
        if {bool(found), bool(answer)} == {True, False} and found.verdict != "undecided":
            differing = [pair for pair in found.reading if pair not in answer.reading]
            if other.rival:
                return _ambiguous(answer, found, differing)
            shapes_text = ", ".join(f"{name} {shape}" for name, shape in differing)
            notes.append(f"with {shapes_text} instead, the answer is: {found.summary}")
    return replace(answer, notes=(*answer.notes, *notes))


def _ambiguous(one: Equality, other: Equality, differing: Sequence[tuple[str, str]]) -> Equality:
    """The answer where two readings are equally likely, and have another answer each."""
    cases = []
    for answer in (one, other):
        shapes = {name: shape for name, shape in answer.reading if name in dict(differing)}
        why = f": {answer.counterexample}" if answer.counterexample else ""
        shapes_text = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        cases.append(f"with {shapes_text} it is {answer.summary}{why}")
    as_given = {x: shape.replace(" × ", ",") for x, shape in one.reading if x in dict(differing)}
    given = (f"--shape {x}={shape if ',' in shape else 'scalar'}" for x, shape in as_given.items())
    hint = f"say which is meant, as in {' '.join(given)}"
    why = f"it can be read in two ways: {'; '.join(cases)}"
    return Equality("undecided", "", why, reading=one.reading, hint=hint)


def _compared(
    joint: Joint, statement: Statement, sizes: Mapping[str, int] | None, effort: int
) -> Equality:
    """The answer for two derivations: which inputs are partners, and what is missing."""
    if joint.missing:
        answer = Equality("undecided", "", joint.missing, hint=joint.hint)
    else:
        answer = decide(statement, sizes, effort)
    notes = [f"where {says}" for says in joint.says]
    for offer, *pair in joint.trials if answer.verdict in ("different", "undecided") else ():
        try:
            other = next(stated(*pair, where=(*joint.assumed, *offer)))
            if (other.joint and other.joint.missing) or _is_refuted(other):
                continue
            found = decide(other, sizes, effort)
        except SymattnError:
            continue
        if found:
            notes.append(f"where {' and '.join(offer)}, the answer is: {found.summary}")
            hint = "assume it by " + " ".join(f'--where "{one}"' for one in offer)
            answer = replace(answer, hint=hint)
            break
    return replace(answer, reading=joint.reading, notes=tuple(notes))


def _is_refuted(statement: Statement) -> bool:
    """Whether the first numbers that are tried refute a statement."""
    trials = trial_sizes(statement, sizes_of(statement), {})
    return any(is_refuted(statement, sizes) for sizes in trials)


@dataclass(frozen=True)
class Assumptions:
    """What is said of the letters of a statement, as the arguments of `equal` have it."""

    shapes: Mapping[str, GivenShape] | None = None
    where: str | Sequence[Meaning] = ()
    positive: str | Sequence[str] = ()
    permuting: str | Sequence[str] = ()
    orthogonal: str | Sequence[str] = ()
    symmetric: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        where = [self.where] if isinstance(self.where, str) else self.where
        instance(where, (list, tuple), "where", "equations in a list")
        object.__setattr__(self, "where", where)
        object.__setattr__(self, "shapes", table(self.shapes, "shapes"))
        for name in ("positive", "permuting", "orthogonal", "symmetric"):
            object.__setattr__(self, name, words(getattr(self, name), name))

    @property
    def kinds(self) -> list[list[Meaning]]:
        """The equations that make letters orthogonal and symmetric."""
        turned = [[f"{name}^T {name}", "I"] for name in self.orthogonal]
        return [*turned, *([name, f"{name}^T"] for name in self.symmetric)]

    @property
    def square(self) -> dict[str, GivenShape]:
        """The shapes of the letters that are square by what is said of them."""
        named = (*self.permuting, *self.orthogonal, *self.symmetric)
        return {name: (SQUARE + name, SQUARE + name) for name in named}

    def check_spoken(self, spoken: set[str]) -> None:
        """Refuse to assume something of letters that do not occur. Raises `SymattnError`."""
        for kind in ("orthogonal", "symmetric"):
            for name in sorted({*getattr(self, kind)} - spoken):
                raise SymattnError(f"{kind}: there is no letter {quote(name)} here")


def stated(left: Meaning, right: Meaning = None, **said: Any) -> Iterator[Statement]:
    """The statements that the arguments of `equal` make, one a reading, the likeliest first.

    A list is a chain of equal expressions; `said` are the fields of `Assumptions`.
    """
    at_most = isinstance(left, str) and right is None and is_inequality(left)
    chain, falls = relations(str(left)) if at_most else (_chain_of(left, right), False)
    given = Assumptions(**said)
    where, joint = given.where, None
    if len(chain) == 2 and all(isinstance(one, Derivation) for one in chain):
        one, other = map(_expanded, chain)
        joint = joined(one, other, where, given.shapes or {})
        chain, where = [joint.left, joint.right], joint.where
    spoken_of = [chain, *map(_halves, where)]
    pairs = [*spoken_of, *given.kinds]
    known = {**given.square, **_known_shapes(pairs), **(given.shapes or {})}
    texts = [[one for one in pair if isinstance(one, str)] for pair in pairs]
    for built in readings(texts, known, tuple(given.positive)):
        sides = []
        for pair, ready in zip(pairs, built.groups, strict=True):
            left_over = iter(ready)
            sides.append([_side(x, left_over) for x in pair])
        statement = Statement(
            sides[0][0],
            sides[0][-1],
            tuple((one, two) for one, two in sides[1:]),
            frozenset(given.positive),
            frozenset(given.permuting),
            tuple(side.meaning for side in sides[0]),
            built.letters,
            rival=built.rival,
            declared=frozenset(known),
            joint=joint,
            at_most=at_most,
            falls=falls,
        )
        for side in statement.all_sides + tuple(sides[0][1:-1]):
            if isinstance(side.meaning, MatrixExpr):
                check_shapes(side.meaning, "equal")
        whole_one = replace(_substituted(statement), origin=statement)
        given.check_spoken(
            {x for pair in sides[: len(spoken_of)] for s in pair for x in s.letters()}
        )
        _check_shapes(whole_one)
        _check_letters(whole_one)
        _check_steps(whole_one)
        _check_assumed(statement, spoken_of[1:])
        yield whole_one


def _chain_of(left: Meaning, right: Meaning) -> list[Meaning]:
    """The expressions that are said to be equal. Raises `SymattnError` for one alone."""
    chain = [left] if right is None else [left, right]
    if right is None and isinstance(left, str | list):
        chain = split_sides(left) if isinstance(left, str) else left
    if len(chain) < 2:
        raise SymattnError("two sides are needed: equal(A, B), or a text with =")
    return chain


def expressed(text: str, shapes: Mapping[str, GivenShape]) -> Meaning:
    """What a text means, the letters in it having these shapes."""
    known = {name: shape for name, shape in shapes.items() if name in text}
    return next(readings([[text]], known)).groups[0][0].meaning


def _side(one: Meaning, texts: Iterator[Written]) -> Side:
    """A side, what it means if it is a text being the next of these."""
    if not isinstance(one, str):
        return Side(_meant(one))
    found = next(texts)
    return Side(found.meaning, one, found.spare)


def _check_shapes(statement: Statement) -> None:
    """Refuse sides of different shapes; a number is repeated. Raises `ShapeError`."""
    links = [*map(Side, statement.chain)] if statement.at_most else []
    for one, two in ((statement.left, statement.right), *pairwise(links), *statement.where):
        found = [shape for side in (one, two) if (shape := _shape(side.meaning)) is not None]
        wide = [shape for shape in found if shape != (1, 1)]
        if len(wide) == 2 and any(sympy.expand(a - b) != 0 for a, b in zip(*wide, strict=True)):
            dims = [" × ".join(map(str, shape)) for shape in wide]
            raise ShapeError(
                f"{dims[0]} and {dims[1]}: matrices of different shapes are never equal; "
                "correct the formula, or say which sizes are the same"
            )


def _shape(meaning: Meaning) -> tuple[sympy.Expr, ...] | None:
    """The shape of a side; None for a number."""
    if isinstance(meaning, Derivation):
        return tuple(size.subs(meaning.sizes) for size in shape_of(meaning.steps[-1].expr))
    return shape_of(meaning) if isinstance(meaning, MatrixExpr) else None


def _substituted(statement: Statement) -> Statement:
    """A number or a size that a hypothesis defines is put in everywhere: c = 2, d_k = 4, n = m."""
    for one, two in statement.where:
        for name, value in ((one.meaning, two.meaning), (two.meaning, one.meaning)):
            if not isinstance(name, sympy.Symbol) or isinstance(value, MatrixExpr):
                continue
            if name in value.free_symbols or name.name in statement.positive:
                continue
            if name.is_integer and not (value.is_integer and value.is_positive):
                raise SymattnError(
                    f"where: {name} = {value} is not a size; give a positive whole number"
                )
            others = tuple(pair for pair in statement.where if pair != (one, two))
            valued = [side for side in (one, two) if side.asked]
            known = replace(statement, where=others, valued=(*statement.valued, *valued))
            return _substituted(_with_value(known, name, value))
    return statement


def _with_value(statement: Statement, name: sympy.Basic, value: sympy.Basic) -> Statement:
    """The statement with a value put in for a letter or a size."""

    def value_of(meaning: Meaning) -> Meaning:
        if isinstance(meaning, Derivation) and value.is_Integer and not meaning.sizes.get(name):
            return replace(meaning, sizes={**meaning.sizes, name: int(value)})
        if isinstance(meaning, Derivation):
            raise SymattnError(
                f"where: {name} = {value}: set this size in the derivation, not here"
            )
        put = put_in(meaning, {name: value})
        if _degree(put) > MAX_NESTED:
            raise SymattnError(
                f"where: with {name} = {value} the exponents of powers of powers are more than "
                f"{MAX_NESTED} together"
            )
        return put

    def side_of(side: Side) -> Side:
        return Side(value_of(side.meaning))

    sides = [side_of(side) for side in (statement.left, statement.right)]
    where = tuple((side_of(a), side_of(b)) for a, b in statement.where)
    chain, valued = tuple(map(value_of, statement.chain)), tuple(map(side_of, statement.valued))
    return replace(
        statement, left=sides[0], right=sides[1], where=where, chain=chain, valued=valued
    )


def _degree(expr: sympy.Basic) -> sympy.Expr:
    """The largest product of exponents of powers within powers."""
    within = max(map(_degree, expr.args), default=sympy.S.One)
    is_power = isinstance(expr, sympy.Pow) and expr.exp.is_Rational
    return within * abs(expr.exp) if is_power else within


def _check_steps(statement: Statement) -> None:
    """Refuse hypotheses about the steps of a derivation: they speak of what is given."""
    for side in (statement.left, statement.right):
        if isinstance(side.meaning, Derivation):
            assumed = {x for pair in statement.where for one in pair for x in one.letters()}
            for step in side.meaning.steps:
                if step.letter in assumed:
                    raise SymattnError(
                        f"where: {step.letter} is a step of the derivation; assume something "
                        "about its inputs"
                    )


def _check_assumed(statement: Statement, written: Sequence[Sequence[Meaning]]) -> None:
    """Refuse an assumption about nothing that the sides speak of, or other assumptions about them.

    Raises `SymattnError`.
    """
    sides = [statement.left, statement.right, *map(Side, statement.chain)]
    shapes = [letter.shape for side in sides for letter in side.letters().values()]
    symbols = sympy.Tuple(*(size for shape in shapes for size in shape)).free_symbols
    known = {*map(str, symbols)}.union(
        *({*one.letters(), *map(str, one.scalars())} for one in sides)
    )
    if (joint := statement.joint) is not None:
        known |= {name for name, _ in joint.inputs}
    waiting = [
        (_spoken(one) | _spoken(two), says)
        for (one, two), says in zip(statement.where, written, strict=False)  # then come the kinds
    ]
    while near := [names for names, _ in waiting if names & known]:
        known = known.union(*near)
        waiting = [(names, says) for names, says in waiting if not names <= known]
    for _, (one, two) in waiting:
        raise SymattnError(
            f"where {one} = {two}: nothing in the statement has these letters; leave it out, or "
            "correct them"
        )


def _spoken(side: Side) -> set[str]:
    """The letters of an assumption's side; sizes where it speaks of them, not where it has them."""
    sized = isinstance(side.meaning, MatrixExpr)
    numbers = (symbol for symbol in side.scalars() if not (sized and symbol.is_integer))
    return {*side.letters(), *map(str, numbers)}


def _check_letters(statement: Statement) -> None:
    """Refuse permutation matrices that are not square, and letters that do not occur.

    Raises `SymattnError`.
    """
    letters = statement.letters()
    known = {*letters, *(name for name, _ in statement.reading)}
    known |= {symbol.name for side in statement.all_sides for symbol in side.scalars()}
    for name in sorted(statement.positive - known):
        raise SymattnError(f"positive: there is no letter {quote(name)} here")
    for name in sorted(statement.permutations):
        if name not in letters:
            raise SymattnError(f"permuting: there is no letter {quote(name)} here")
        rows, columns = letters[name].shape
        if sympy.expand(rows - columns) != 0:
            raise ShapeError(
                f"permuting: {name} is {rows} × {columns}; a permutation matrix is square"
            )


def _halves(one: object) -> list[Meaning]:
    halves = split_sides(one) if isinstance(one, str) else one
    if not isinstance(halves, list | tuple) or len(halves) != 2:
        raise SymattnError(f"where: {quote(one)} is not an equation")
    return list(halves)


def _meant(one: Meaning) -> Meaning:
    if isinstance(one, Step):
        return expanded(one.expr)
    if isinstance(one, Derivation):
        return _expanded(one)
    if isinstance(one, sympy.MatrixBase):
        return sympy.ImmutableDenseMatrix(one)
    if isinstance(one, sympy.Expr | int) and not isinstance(one, bool):
        meant = sympy.sympify(one, strict=True)
        # a matrix may have entries of −∞: hidden scores
        if not meant.is_Matrix and meant.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            raise SymattnError(f"equal: {quote(one)} is not a number; give finite ones")
        return meant
    raise wrong(one, "equal: a side", "a text, a SymPy expression, a step or a derivation")


def _expanded(derivation: Derivation) -> Derivation:
    """The derivation with what its nodes stand for in their place."""
    steps = tuple(replace(step, expr=expanded(step.expr)) for step in derivation.steps)
    return derivation if steps == derivation.steps else replace(derivation, steps=steps)


def _known_shapes(pairs: list[list[Meaning]]) -> dict[str, tuple[sympy.Expr, sympy.Expr]]:
    """The shapes of the letters in the sides that are no texts."""
    return {
        name: letter.shape
        for pair in pairs
        for one in pair
        if not isinstance(one, str)
        for name, letter in Side(_meant(one)).letters().items()
        if letter.count is None
    }


#: The sizes of a statement in the order in which they are listed.
_ORDER = ("n", "m", "p", "d_model", "d_k", "d_v", "h", "g", "k")

# ---- deciding ------------------------------------------------------------------------------


def decide(
    statement: Statement, sizes: Mapping[str, int] | None = None, effort: int = 1
) -> Equality:
    """Decide a statement at these sizes; without any, for all sizes if possible."""
    links = [statement]
    if statement.at_most:
        links = [statement.between(Side(a), Side(b)) for a, b in pairwise(statement.chain)]
    symbols = [sizes_of(link) for link in links]
    _check_sizes(sizes or {}, set[sympy.Symbol]().union(*symbols))
    answers, letters = [], dict[str, Letter]()
    for link, own in zip(links, symbols, strict=True):
        given = {
            symbol: int((sizes or {})[symbol.name])
            for symbol in own
            if symbol.name in (sizes or {})
        }
        _check_room(link, given)
        letters |= link.letters()
        answers.append(_Question(link, given, own, STEPS * effort).answer())
    shapes = {name: " × ".join(map(str, one.shape)) for name, one in letters.items()}
    kinds = statement.reading or tuple(shapes.items())
    reading = tuple((name, shapes.get(name, kind)) for name, kind in kinds)
    answer = _of_links(answers, statement.falls) if statement.at_most else answers[0]
    return replace(answer, reading=reading)


def _of_links(links: Sequence[Equality], falls: bool) -> Equality:
    """The answer for a chain of inequalities: that of the first link that is not proven.

    One that `falls` is told as it is written, from the largest to the smallest.
    """
    told = links[::-1] if falls else links
    worst = ("different", "undecided", "holds at the sizes tried", "equal")
    answer = min(told, key=lambda one: worst.index(one.verdict))
    verdict = _OF_BOUNDS.get(answer.verdict, answer.verdict)
    if not answer:
        found = answer.counterexample
        if falls and found is not None:
            found = replace(found, left=found.right, right=found.left)
        of = f"this is of the link {1 + told.index(answer)} of {len(links)}"
        notes = (of,) if len(links) > 1 else ()
        return replace(answer, verdict=verdict, notes=notes, counterexample=found)
    certificates = [one.certificate for one in links]
    whole = None if None in certificates else joined_bounds(certificates)
    why = answer.reason if whole is None else reason_of_bounds(whole)
    partial = any(one.partial for one in links)
    return replace(answer, verdict=verdict, partial=partial, certificate=whole, reason=why)


def _check_sizes(sizes: Mapping[str, int], symbols: set[sympy.Symbol]) -> None:
    for name, size in sizes.items():
        whole(size, f"sizes: {name}", 1, MOST_OF_A_SIZE)
        if name not in {symbol.name for symbol in symbols}:
            known = ", ".join(sorted(symbol.name for symbol in symbols)) or "none"
            raise SymattnError(f"sizes: there is no size {name} here; there is {known}")


def _check_room(statement: Statement, given: dict[sympy.Symbol, int]) -> None:
    """Refuse sizes at which no numbers could be put in."""
    for name, letter in statement.letters().items():
        rows_columns = [sympy.sympify(size, strict=True).subs(given) for size in letter.shape]
        known = [int(size) for size in rows_columns if size.is_Integer]
        if prod(known) > _MOST_CELLS:
            shape = " × ".join(map(str, rows_columns))
            raise SymattnError(
                f"{name} is {shape}, which is too large to put numbers in; keep to {_MOST_CELLS} "
                "entries, or leave the sizes open"
            )
    if any(size > _MOST_CELLS for size in given.values()):
        raise SymattnError(f"sizes: keep to {_MOST_CELLS}, or leave the sizes open")


def _at_given(statement: Statement, sizes: Mapping[sympy.Symbol, int]) -> str:
    return f"{AT_GIVEN}: {_sizes_text(statement, sizes)}" if sizes else AT_GIVEN


def _sizes_text(statement: Statement, sizes: Mapping[sympy.Symbol, int]) -> str:
    meant = (side.meaning for side in statement.all_sides)
    orders = (one.order for one in meant if isinstance(one, Derivation))
    listed = listed_sizes(sizes, next(orders, _ORDER))
    return ", ".join(f"{name} = {count}" for name, count in listed.items())


@dataclass(frozen=True)
class _Question:
    """A statement, the sizes that are given, all its sizes, and how many steps a proof may take."""

    statement: Statement
    given: dict[sympy.Symbol, int]
    symbols: set[sympy.Symbol]
    steps: int

    @property
    def fixed(self) -> bool:
        """Whether all sizes are given."""
        return len(self.given) == len(self.symbols)

    def answer(self) -> Equality:
        """The answer, with numbers before proofs."""
        found = self.by_numbers()
        if found is not None:
            return found
        proof, missing = certified(self.statement, self.steps)
        return self.at_sizes(missing) if proof is None else self.proven(proof)

    def different(self, sizes: Mapping[sympy.Symbol, int], numbers: Counterexample) -> Equality:
        """The answer where numbers refute the statement."""
        where = _sizes_text(self.statement, sizes)
        return Equality("different", where, "Arb proves that the values differ", numbers)

    def by_numbers(self) -> Equality | None:
        """The answer where numbers refute the statement, or leave one side without a value."""
        statement, defined, one_sided = self.statement, False, ""
        trials = trial_sizes(statement, self.symbols, self.given)
        for first in [self.given] if self.fixed else trials:
            trial = first
            if statement.joint is not None and is_refuted(statement, trial):
                trial = smallest(statement, trial, set(self.given))
            found = refuted(statement, trial)
            if found.counterexample is not None:
                return self.different(trial, found.counterexample)
            defined = defined or found.defined
            one_sided = one_sided or found.one_sided
        if one_sided and defined and not statement.at_most:
            why = f"for some numbers only {one_sided} has a value"
            hint = "say which letters are positive, as in --where 'A positive'"
            return Equality("undecided", "", why, hint=hint)
        if not defined:
            why = "no numbers were found for which both sides have a value"
            return Equality("undecided", "", why)
        return None

    def proven(self, proof: Data) -> Equality:
        """The answer where there is a proof: for all sizes, unless the statement has its sizes."""
        why, partial = _why(proof), bool(proof["partial"])
        sizeless = not self.symbols and _is_of_numbers(self.statement)
        if self.fixed and not sizeless:
            where = _at_given(self.statement, self.given)
            return Equality("equal", where, why, partial=partial)
        return Equality("equal", FOR_ALL, why, partial=partial, certificate=proof)

    def at_sizes(self, missing: str) -> Equality:
        """The answer where a proof for all sizes is missing."""
        statement, given = self.statement, self.given
        found_at = None
        if given or statement.permutations:
            found_at = _proven_at(statement, given, self.steps)
        if found_at is not None:
            why, partial = found_at
            return Equality("equal", _at_given(statement, given), why, partial=partial)
        chosen, hint = next(trial_sizes(statement, self.symbols, given)), hint_of(missing)
        where = _sizes_text(statement, chosen)
        found_at = None if self.fixed else _proven_at(statement, chosen, self.steps)
        if found_at is not None:
            why, (_, partial) = f"not shown for other sizes: {missing}", found_at
            return Equality("holds at the sizes tried", where, why, partial=partial, hint=hint)
        found = refuted(statement, chosen, thorough=True)
        if found.counterexample is not None:
            return self.different(chosen, found.counterexample)
        return Equality("undecided", where, missing, hint=hint)


def _proven_at(
    statement: Statement, sizes: Mapping[sympy.Symbol, int], steps: int
) -> tuple[str, bool] | None:
    """Why it holds at these sizes, and whether some inputs have no value; None if nothing shows it.

    Where their rules are not enough, permutations are gone through.
    """
    known = _assuming(statement, {size: sympy.Integer(count) for size, count in sizes.items()})
    proof = certified(known, steps)[0] if sizes else None  # else it was looked for already
    if proof is not None:
        return _why(proof), bool(proof["partial"])
    partial, arranged = False, _arranged(known)
    for one in arranged:
        proof, _ = certified(one, steps)
        if proof is None:
            return None
        partial |= bool(proof["partial"])
    return ("it holds for each permutation", partial) if arranged else None


def _assuming(statement: Statement, values: Mapping[sympy.Basic, sympy.Basic]) -> Statement:
    """The statement under more hypotheses: a letter or a size has this value."""
    first = statement.origin or statement
    more = tuple((Side(one), Side(value)) for one, value in values.items())
    whole = replace(first, where=(*first.where, *more))
    return replace(_substituted(whole), origin=whole)


def _arranged(statement: Statement) -> list[Statement]:
    """The statement for each choice of its permutations, written out, if there are few."""
    letters = statement.letters()
    names = [name for name in letters if name in statement.permutations]
    counts = [letters[name].shape[0] for name in names]
    known = bool(names) and all(count in range(1, 6) for count in counts)
    if not known or prod(map(factorial, counts)) > _MOST_ORDERS:
        return []
    out = []
    for orders in product(*(permutations(range(int(count))) for count in counts)):
        one = replace(statement, permutations=frozenset(), origin=None)
        for name, order in zip(names, orders, strict=True):
            matrix = sympy.eye(len(order))[list(order), :].as_immutable()
            one = _with_value(one, sympy.MatrixSymbol(name, *matrix.shape), matrix)
        left, right = (replace(side, meaning=side.meaning.doit()) for side in (one.left, one.right))
        out.append(replace(one, left=left, right=right))
    return out


def certified(statement: Statement, steps: int = STEPS) -> tuple[Data, str]:
    """A certificate for all sizes that the checker accepts, or None and what is missing."""
    try:
        with within(steps):
            if statement.at_most:
                return of_bounds(statement), ""
            found = certificate(statement)
            replayed(found)
    except Refused as missing:
        return None, str(missing)
    except Spent as spent:
        return None, f"{_NOT_FOUND} {spent}"
    return found, ""


def _why(proof: Data) -> str:
    """What decided, in a line."""
    return reason(proof) if "proof" in proof else reason_of_bounds(proof)


def hint_of(missing: str) -> str:
    """What to allow where the search for a proof was cut off."""
    return _MORE if missing.startswith(_NOT_FOUND) else ""


def _is_of_numbers(statement: Statement) -> bool:
    """Whether there are no matrices, so that nothing has a size."""
    meant = (side.meaning for side in statement.all_sides)
    return all(isinstance(one, sympy.Expr) and not isinstance(one, MatrixExpr) for one in meant)
