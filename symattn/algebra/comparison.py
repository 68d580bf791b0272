"""Two derivations as functions of the same inputs: who is whose partner, and what is tied.

An input of one derivation is that of the same name in the other. If the one has a matrix for each
of h heads where the other has one for each of g groups, or one for all, the other's are those of
the first head of each group; one matrix for all heads that has h times as many rows is the heads'
own, one below the other. Everything else is said by equations that define an input: ``W_K =
repeat(W_K')``, ``W_K[1] = W_K[2]``, ``memory = X``, ``K_past = X_p W_K``. ``W_K'`` is the second
derivation's. Where the inputs of one are all steps of the other, by name and shape (Q, K and V),
they are these. Inputs without a partner may be anything, as long as one side alone has them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.counterexample import Meaning, Side, Sizes
from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.shapes import Size
from symattn.derivations import Derivation
from symattn.errors import ReadError, ShapeError, SymattnError, quote
from symattn.grammar import sides as split_sides
from symattn.language.shapes import GivenShape
from symattn.language.statement import readings
from symattn.nodes.arguments import size_written, symbol_of_size
from symattn.nodes.heads import Concat, Head, Slice, Split, stack_of
from symattn.nodes.rule import Nth
from symattn.step import HEAD, Input, Item, Step, dims, leading_to, letter_of

#: The mark of the second derivation's matrices and sizes.
PRIME = "'"

_REFERENCE = re.compile(rf"([^\W\d]\w*)({PRIME}?)(?:\[([1-9]\d{{0,3}})\])?")
_OF_HEADS = re.compile(r"(repeat|split)\s*\((.+)\)")
_OUTPUT = re.compile(r"([^\W\d]\w*)(?:\[([^\]]*)\])?")
_ROWS = re.compile(r"\s*([1-9]\d{0,3}|[^\W\d]\w*)?\s*(?:(\+)\s*([1-9]\d{0,3}))?\s*(:)?\s*")


@dataclass(frozen=True)
class Joint:
    """Two derivations over one set of inputs, and what is said of them.

    `where` are the equations that define no input. `says` are the partners that were taken, in
    the words of ``--where``; `alone` are the names of the inputs without a partner, of the first
    and of the second. `inputs` are all inputs of both, by name, with what they are made of.
    """

    left: Derivation
    right: Derivation
    #: The two as they were given, with all that is assumed.
    first: Derivation
    second: Derivation
    assumed: tuple[Meaning, ...]
    where: tuple[Meaning, ...]
    says: tuple[str, ...]
    alone: tuple[tuple[str, ...], tuple[str, ...]]
    inputs: tuple[tuple[str, Derivation], ...]
    #: Equations that would tie what is alone, the likeliest first.
    offers: tuple[tuple[str, ...], ...]

    @property
    def by_name(self) -> tuple[str, ...]:
        """The equations that say of all inputs of the one that they are the other's steps: Q = Q'.

        None where some input has no step of its name, or where nothing is missing.
        """
        offered = self.offers[0] if self.missing and self.offers else ()
        alike = (one.replace(PRIME, "").split(" = ") for one in offered)
        return offered if all(name == step for name, step in alike) else ()

    @property
    def trials(self) -> Iterator[tuple[tuple[str, ...], Derivation, Derivation]]:
        """Each offer with both as it is tried: from the steps that it names, then as they are.

        What is the same whatever these are is so where they are what they are.
        """
        for offer in self.offers:
            named = {one.partition(" = ")[2] for one in offer}
            first = _from_steps(self.first, named)
            second = _from_steps(self.second, {x[:-1] for x in named if x.endswith(PRIME)})
            if (first, second) != (self.first, self.second):
                yield offer, first, second
            yield offer, self.first, self.second

    @property
    def reading(self) -> tuple[tuple[str, str], ...]:
        """Each input with its shape: W_K d_model × d_k for each of h heads."""
        out = []
        for name, made in self.inputs:
            step = made.steps[-1]
            heads = "" if step.count is None else f" for each of {step.count} heads"
            out.append((name, dims(step.shape) + heads))
        return tuple(out)

    def shown(
        self, given: Mapping[str, Array], arithmetic: Arithmetic, sizes: Sizes
    ) -> dict[str, Array]:
        """The value of every input of both, from those that are left open."""
        return {
            name: Side(made).value(given, arithmetic, sizes)
            for name, made in self.inputs
            if all(item.letter in given for item in made.inputs)
        }

    @property
    def missing(self) -> str:
        """What keeps the two from being compared; empty if nothing does."""
        first, second = self.alone
        if not first or not second:
            return ""
        return f"{_listed(first)} of the first and {_listed(second)} of the second have no partner"

    @property
    def hint(self) -> str:
        """How to say what the inputs without a partner are."""
        first, second = self.alone
        partner = f"{first[0]} = {second[0]}" if len(first) == 1 else f"{first[0]} = …"
        return f'say what they are, as in --where "{partner}"'


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def ending_with(derivation: Derivation, output: str) -> Derivation:
    """The part of a derivation that leads to a step: ``weights``, ``weights[2]`` of head 2.

    ``output[p+1:]`` are its rows from p + 1 on. Raises `SymattnError` for what is no step.
    """
    found = _OUTPUT.fullmatch(output.strip())
    name = found[1] if found else output
    step = derivation[name]
    steps = [*derivation.steps]
    if found is not None and found[2] is not None:
        step = _part(step, found[2])
        steps.append(step)
    return _leading_to(step, derivation, steps)


def _part(step: Step, text: str) -> Step:
    """One head of a step, or its rows from some row on."""
    found = _ROWS.fullmatch(text)
    if found is None or not (found[1] or found[3]) or (found[4] and step.per_head):
        raise ReadError(
            f"{step.name}[{text}]: give a head, as in {step.name}[2], or the rows from one on, as "
            f"in {step.name}[p+1:]"
        )
    whole = found[1] is not None and found[1].isdigit()
    start = size_written(found[1] or "0") + int(found[3] or 0) - 1
    if found[4]:
        rows, columns = step.shape
        number = sympy.expand(rows - start)
        if start == 0:
            return step
        symbol = sympy.MatrixSymbol(f"{step.letter}_rows", number, columns)
        # what is left of n rows is known where n is known
        part = Slice(step.symbol, start, number)
    elif not step.per_head or not whole:
        raise ReadError(f"{step.name}[{text}]: there is one {step.name} for all heads")
    else:
        symbol = sympy.MatrixSymbol(f"{step.letter}_{found[1]}", *step.shape)
        part = step.symbol.at(start)
    return Step(f"{step.name}[{text}]", symbol, part, logits=step.logits)


def _beside_one_another(derivation: Derivation) -> Derivation:
    """With the heads of its last step side by side: as many are the same if these matrices are."""
    last = derivation.steps[-1]
    joined = Concat(last.symbol, HEAD, last.count)
    step = Step(last.name, sympy.MatrixSymbol(f"{last.letter}_heads", *joined.shape), joined)
    return replace(derivation, steps=(*derivation.steps, step))


def _leading_to(step: Step, derivation: Derivation, steps: Sequence[Step]) -> Derivation:
    """The derivation whose last step is this one."""
    wanted = leading_to(steps, {step.letter})
    inputs = tuple(item for item in derivation.inputs if item.letter in wanted)
    kept = tuple(one for one in steps if one.letter in wanted)
    return replace(derivation, inputs=inputs, steps=kept)


def _from_steps(derivation: Derivation, names: Collection[str]) -> Derivation:
    """The derivation whose inputs these steps are, too."""
    given = [step for step in derivation.steps if step.name in names]
    last = derivation.steps[-1]
    if not given or last in given:
        return derivation
    rest = tuple(step for step in derivation.steps if step not in given)
    inputs = (*derivation.inputs, *map(Input.of, given))
    return _leading_to(last, replace(derivation, inputs=inputs, steps=rest), rest)


def joined(
    left: Derivation, right: Derivation, where: Sequence[Meaning], shapes: Mapping[str, GivenShape]
) -> Joint:
    """The two derivations over one set of inputs. Raises `SymattnError` for what cannot be."""
    joint = _Joining(left, right, shapes).done(where)
    with suppress(SymattnError):  # of other shapes, or one for each head
        if by_name := joint.by_name:
            tied = _Joining(left, right, shapes).done((*where, *by_name))
            return replace(tied, says=(" and ".join(by_name), *tied.says))
    return joint


@dataclass
class _Node:
    """A matrix of one of the two: what it is made of, if it is not an input that is left open."""

    item: Item
    meaning: MatrixExpr | None = None
    #: The heads that heads are the same as, from 0, where that is said of some.
    same: dict[int, int] = field(default_factory=dict)


class _Sizes:
    """What is known of sizes: each in terms of others, so that those that fit are the same."""

    def __init__(self) -> None:
        self.known: dict[sympy.Symbol, sympy.Expr] = {}

    def at(self, size: Size) -> sympy.Expr:
        """A size with what is known of sizes put in."""
        return sympy.expand(sympy.sympify(size, strict=True).subs(self.known))

    def shape(self, item: Item) -> tuple[sympy.Expr, ...]:
        """The shape of a matrix."""
        return tuple(map(self.at, item.shape))

    def count(self, item: Item) -> sympy.Expr | None:
        """How many heads have one of a matrix; None for one that all share."""
        return None if item.count is None else self.at(item.count)

    def unified(self, one: Sequence[Size], other: Sequence[Size]) -> bool:
        """Make sizes the same; whether they can be. Nothing changes where they cannot."""
        before = dict(self.known)
        if all(self._unify(a, b) for a, b in zip(one, other, strict=True)):
            return True
        self._know(before)
        return False

    def _unify(self, one: Size, other: Size) -> bool:
        a, b = self.at(one), self.at(other)
        difference = sympy.expand(a - b)
        if difference == 0:
            return True
        for size in sorted(
            difference.free_symbols, key=lambda one: (not _is_second(one), str(one))
        ):
            factor = difference.coeff(size)
            value = sympy.expand(-(difference - factor * size) / factor)
            if factor in (1, -1) and size not in value.free_symbols and value.is_positive:
                if value == 1:
                    continue  # nobody wrote that
                self.put(size, value)
                return True
        above, below = sympy.fraction(sympy.cancel(a / b))
        if (above, below) == (a, b) or not (above.is_positive and below.is_positive):
            return False
        return self._unify(above, below)

    def put(self, size: sympy.Symbol, value: sympy.Expr) -> None:
        """A size is this from now on, also within what is known of others."""
        known = {s: sympy.expand(v.subs(size, value)) for s, v in self.known.items()}
        self._know({**known, size: value})

    def _know(self, known: Mapping[sympy.Symbol, sympy.Expr]) -> None:
        self.known.clear()
        self.known.update(known)

    def are_groups(self, a: sympy.Expr, b: sympy.Expr) -> bool:
        """Whether these counts are heads and groups of them, which are not the same number."""
        if a.is_Integer and b.is_Integer:
            return bool(a != b)
        return (a.name if a.is_Symbol else "").strip(PRIME) != (
            b.name if b.is_Symbol else ""
        ).strip(PRIME) and not (a.is_Integer or b.is_Integer)

    def is_more(self, a: sympy.Expr, b: sympy.Expr) -> bool:
        """Whether a counts heads and b groups of them."""
        if a.is_Integer and b.is_Integer:
            return bool(a > b)
        return not (a.is_Symbol and a.name.strip(PRIME) == "g")

    def words(self) -> Iterator[str]:
        """Sizes that are the same though they have other names, or that have a value."""
        for size, value in sorted(self.known.items(), key=str):
            name = size.name.rstrip(PRIME)
            if size not in value.free_symbols and name not in map(str, value.free_symbols):
                yield f"{name} = {value}"


class _Joining:
    """Finds partners, and puts both derivations over one set of inputs."""

    def __init__(
        self, left: Derivation, right: Derivation, shapes: Mapping[str, GivenShape]
    ) -> None:
        self.given = (left, right)
        first, second = _with_sizes(left), _marked(_with_sizes(right))
        self.sides = (first, second)
        self.shapes = dict(shapes)
        #: Every matrix, by its letter; those of the second have a prime.
        self.nodes = {
            item.letter: _Node(item, item.expr if isinstance(item, Step) else None)
            for side in self.sides
            for item in (*side.inputs, *side.steps)
        }
        self.sizes = _Sizes()
        #: Letters of the second derivation that are letters of the first.
        self.same: dict[str, str] = {}
        self.says: list[str] = []
        #: What might be said instead where an input was taken to be the first head of another.
        self.repeats: list[str] = []
        self.where: list[Meaning] = []
        self.fresh: dict[str, Item] = {}

    # ---- partners --------------------------------------------------------------------------

    def done(self, where: Sequence[Meaning]) -> Joint:
        """Take what is said, then partners by name; put everything together."""
        texts = [one for one in where if isinstance(one, str)]
        self.where += [one for one in where if not isinstance(one, str)]
        waiting = [text for text in texts if not self._tie(text)]
        self._pair(waiting)
        left_over = [text for text in waiting if not self._tie_heads(text)]
        self._define(left_over)
        return self._joint(tuple(where))

    def _pair(self, waiting: Sequence[str]) -> None:
        """Inputs of the same name are partners where nothing else is said."""
        first = {item.name: item for item in self.sides[0].inputs}
        for item in self.sides[1].inputs:
            mine = first.get(item.name)
            if (
                mine is not None
                and self._is_free(item)
                and not self._reaches(mine.letter, item.letter)
                and not any(_tells_apart(text, mine, item) for text in waiting)
            ):
                self._partner(mine, item)

    def _is_free(self, item: Item) -> bool:
        """Whether nothing says what an input is."""
        return self.nodes[item.letter].meaning is None

    def _means(self, item: Item, meaning: MatrixExpr, says: str) -> None:
        """An input is this; `says` is it in words."""
        self.nodes[item.letter].meaning = meaning
        self.says.append(f"{self._name(item)} = {says}")

    def _partner(self, mine: Item, item: Item) -> None:
        """Make an input of the second what that of the first says, if it can be."""
        a, b = map(self.sizes.count, (mine, item))
        if a is None or b is None:
            alike = a is b
            many, one = (item, mine) if a is None else (mine, item)
            if alike and self.sizes.unified(mine.shape, item.shape):
                self.same[item.letter] = mine.letter
            elif not alike and self._is_free(one):
                self._shared(many, one)
            return
        heads = [] if self.sizes.are_groups(a, b) else [a, b]
        dims = ((*x.shape, *heads[k : k + 1]) for k, x in enumerate((mine, item)))
        if not self.sizes.unified(*dims):
            return
        a, b = map(self.sizes.at, (a, b))
        if a == b:
            self.same[item.letter] = mine.letter
            return
        many, few, share = (mine, item, a / b) if self.sizes.is_more(a, b) else (item, mine, b / a)
        if self._is_free(few) and (share.is_Integer or not share.is_Rational):
            first = many.symbol.at(HEAD * share)
            self._means(few, first, f"the first of each group of {self._name(many)}")
            self.repeats.append(f"{self._name(many)} = repeat({self._name(few)})")

    def _shared(self, many: Item, one: Item) -> None:
        """One matrix for all heads is that of the first, or is made of those of all."""
        if self.sizes.unified(one.shape, many.shape):
            self._means(one, many.symbol.at(0), f"{self._name(many)}[1]")
            self.repeats.append(f"{self._name(many)} = repeat({self._name(one)})")
        elif self._is_free(many) and (split := self._split(many, one)) is not None:
            self._means(many, split, f"split({self._name(one)})")

    def _split(self, many: Item, one: Item) -> MatrixExpr | None:
        """One matrix a head as rows (or columns) of one for all; None where it does not fit."""
        for axis in (0, 1):
            stacked = [size * (many.count if k == axis else 1) for k, size in enumerate(many.shape)]
            if self.sizes.unified(one.shape, stacked):
                return Split(one.symbol, HEAD, many.count, axis)
        return None

    # ---- what is said ----------------------------------------------------------------------

    def _item(self, text: str) -> tuple[Item, int | None] | None:
        """The matrix that a name stands for, and its head from 0; None for an expression."""
        found = _REFERENCE.fullmatch(text.strip())
        if found is None:
            return None
        name, prime, head = found.groups()
        item = self._named(name, bool(prime), head is not None)
        return None if item is None else (item, None if head is None else int(head) - 1)

    def _named(self, name: str, second: bool, of_heads: bool = False) -> Item | None:
        """The input or step of this name or letter; an index means that which has more heads."""
        found = []
        for place, side in enumerate(self.sides):
            marked = name + PRIME if place else name
            for item in (*side.inputs, *side.steps):
                if item.name == name or item.letter == marked:
                    found.append((place, item))
                    break
        if second:
            found = [pair for pair in found if pair[0] == 1]
        elif of_heads and len(found) == 2:
            mine, other = (self.sizes.count(item) for _, item in found)
            of_groups = (
                mine is not None and other is not None and self.sizes.are_groups(mine, other)
            )
            if mine is None or (of_groups and not self.sizes.is_more(mine, other)):
                found = found[1:]
        return found[0][1] if found else self.fresh.get(name + (PRIME if second else ""))

    def _name(self, item: Item) -> str:
        """A name as it is written in an equation."""
        is_second = item.letter in {x.letter for x in self.sides[1].inputs}
        known = {x.name for x in (*self.sides[0].inputs, *self.sides[0].steps)}
        return item.name + PRIME * (is_second and item.name in known)

    def _tie(self, text: str) -> bool:
        """Take an equation of two matrices, or of two sizes; whether it is one."""
        left, right = map(str.strip, split_sides(text))
        if self._tie_sizes(left, right):
            return True
        for one, other in ((left, right), (right, left)):
            call = _OF_HEADS.fullmatch(other)
            target = self._item(one)
            inner = self._item(call[2]) if call else self._item(other)
            if target is None or inner is None or target[1] is not None or inner[1] is not None:
                continue
            (item, _), (meant, _) = target, inner
            if self._is_open(item, meant):
                meaning = self._tied(item, meant, call[1] if call else "")
                if meaning is None:
                    raise self._no_fit(text, item, meant)
                self.nodes[item.letter].meaning = meaning
                return True
        return False

    def _tied(self, item: Item, meant: Item, way: str) -> MatrixExpr | None:
        """An input as another matrix, repeated or split for heads; None where it does not fit."""
        own, others = item.count, meant.count
        if way == "split":
            return None if own is None or others is not None else self._split(item, meant)
        if own is None and (way or others is not None):
            return None
        both = own is not None and others is not None
        ends = ((*x.shape, x.count) if both and not way else x.shape for x in (item, meant))
        if not self.sizes.unified(*ends):
            return None
        if not way or own is None or others is None:
            return meant.symbol
        share = self.sizes.at(others) / self.sizes.at(own)
        if share.is_Rational and not (1 / share).is_Integer:
            return None
        return meant.symbol.at(sympy.floor(HEAD * share))

    def _tie_sizes(self, left: str, right: str) -> bool:
        known = {s.name: s for side in self.sides for s in _symbols_of(side)}
        first, second = (known.get(x) or known.get(x + PRIME) for x in (left, right))
        number = sympy.Integer(right) if right.isdigit() and int(right) else None
        if first is None or (second is None and number is None):
            return False
        if self._item(left) is not None:
            return False
        if not self.sizes.unified([first], [second if number is None else number]):
            raise SymattnError(f"where: {left} = {right} contradicts another statement about sizes")
        if left + PRIME in known and known[left + PRIME] != first and number is not None:
            self.sizes.unified([known[left + PRIME]], [number])
        return True

    def _is_open(self, item: Item, meant: Item) -> bool:
        """Whether an equation may define this input by that matrix."""
        return self._may_be_defined(item) and not self._reaches(meant.letter, item.letter)

    def _may_be_defined(self, item: Item) -> bool:
        """Whether nothing says what a matrix is."""
        return item.letter in self.nodes and self._is_free(item) and item.letter not in self.same

    def _reaches(self, start: str, target: str) -> bool:
        """Whether a matrix is made of another."""
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            letter = waiting.pop()
            letter = self.same.get(letter, letter)
            if letter == self.same.get(target, target):
                return True
            if letter in seen or letter not in self.nodes:
                continue
            seen.add(letter)
            meaning = self.nodes[letter].meaning
            if meaning is not None:
                waiting += [letter_of(s) for s in meaning.atoms(sympy.MatrixSymbol)]
        return False

    def _no_fit(self, text: str, item: Item, meant: Item) -> ShapeError:
        shapes = []
        for one in (item, meant):
            heads = "" if one.count is None else f" for each of {self.sizes.count(one)} heads"
            shapes.append(f"{self._name(one)} is {dims(self.sizes.shape(one))}{heads}")
        return ShapeError(f"where {quote(text)}: {', '.join(shapes)}; these do not fit")

    def _tie_heads(self, text: str) -> bool:
        """Take an equation about single heads; whether it is one: W_K[1] = W_K[2], W_K = W_K[1]."""
        halves = [half for half in map(self._item, split_sides(text)) if half is not None]
        if len(halves) < 2:
            return False
        for (whole, every), (single, which) in (halves, halves[::-1]):
            alike = whole.name == single.name and single.count is not None
            if every is None and which is not None and alike:
                self._all_like(single, which, text)
                return True
        (one, head), (other, number) = halves
        (one, head), (other, number) = self._as_first(one, head), self._as_first(other, number)
        if one is not other or head is None or number is None:
            return False
        self._check_heads(text, one, head, number)
        node = self.nodes[one.letter]
        if node.meaning is not None:
            raise SymattnError(f"where {quote(text)}: {one.name} is defined twice")
        first, second = sorted((_root(node.same, head), _root(node.same, number)))
        if first != second:
            node.same[second] = first
        return True

    def _as_first(self, item: Item, head: int | None) -> tuple[Item, int | None]:
        """A head of a matrix that is a partner, as a head of the other."""
        letter = self.same.get(item.letter)
        if letter is not None:
            return self.nodes[letter].item, head
        meaning = self.nodes[item.letter].meaning if item.letter in self.nodes else None
        if isinstance(meaning, Head) and not isinstance(item, Step):
            of = self.nodes[letter_of(meaning)].item
            at = self.sizes.at(meaning.head if head is None else meaning.head.subs(HEAD, head))
            if at.is_Integer and (head is not None or HEAD not in meaning.head.free_symbols):
                return of, int(at)
        return item, head

    def _check_heads(self, text: str, item: Item, *heads: int) -> None:
        count = self.sizes.count(item)
        if count is None or not count.is_Integer:
            raise SymattnError(
                f"where {quote(text)}: the number of heads is open; give it, as in "
                f'--where "{item.count or "h"} = 4", or refer to all of them: {item.name} = '
                f"{item.name}[1]"
            )
        if max(heads) >= count:
            raise SymattnError(f"where {quote(text)}: {item.name} has {count} heads")

    def _all_like(self, item: Item, head: int, text: str) -> None:
        if head:
            self._check_heads(text, item, head)
        node = self.nodes[item.letter]
        if not self._may_be_defined(item):
            raise SymattnError(f"where {quote(text)}: {item.name} is defined twice")
        node.same[-1] = head

    def _define(self, texts: Sequence[str]) -> None:
        """Equations of expressions: one that says what an input is defines it; others are kept."""
        waiting = list(texts)
        for alone in (False, True):
            for text in list(waiting):
                if self._defined(text, alone):
                    waiting.remove(text)
        for text in waiting:
            self.where.append(self._hypothesis(text))

    def _defined(self, text: str, alone: bool) -> bool:
        halves = split_sides(text)
        for one, other in (halves, halves[::-1]):
            target = self._item(one)
            if target is None or target[1] is not None:
                continue
            item = target[0]
            if not self._may_be_defined(item):
                continue
            try:
                (meaning,) = self._read([other]) if alone else self._read([other, one])[:1]
            except ShapeError:
                if alone:
                    raise
                continue
            if not isinstance(meaning, MatrixExpr):
                if not alone:
                    continue
                shape = self.sizes.shape(item)
                meaning = sympy.MatMul(meaning, sympy.OneMatrix(*shape))
                meaning = sympy.ZeroMatrix(*shape) if meaning.args[0] == 0 else meaning
            used = {letter_of(s) for s in meaning.atoms(sympy.MatrixSymbol)}
            if any(self._reaches(letter, item.letter) for letter in used):
                continue
            if HEAD in meaning.free_symbols and item.count is None:
                raise SymattnError(f"where {quote(text)}: {item.name} is one for all heads")
            if not self.sizes.unified(item.shape, meaning.shape):
                raise ShapeError(
                    f"where {quote(text)}: {item.name} is {dims(self.sizes.shape(item))}, "
                    f"and the other side {dims(tuple(map(self.sizes.at, meaning.shape)))}"
                )
            self.nodes[item.letter].meaning = meaning
            return True
        return False

    def _read(self, texts: Sequence[str]) -> list[Meaning]:
        """Texts as expressions over the matrices of both, all of one shape."""
        known: dict[str, Item] = {}
        heads: dict[str, int] = {}

        def named(found: re.Match[str]) -> str:
            name, prime, head = found.groups()
            item = self._named(name, bool(prime), head is not None)
            if item is None:
                return found[0]
            word = item.name + prime if item.letter != name + prime else item.letter
            word = word if head is None else f"{name}head{head}"
            known[word] = item
            if head is not None:
                heads[word] = int(head) - 1
            return word

        plain = [_REFERENCE.sub(named, text) for text in texts]
        shapes: dict[str, GivenShape] = {
            **self.shapes,
            **{name: item.shape for name, item in self.fresh.items()},
            **{word: self.sizes.shape(item) for word, item in known.items()},
        }
        built = next(readings([plain], shapes))
        meanings = [written.meaning for written in built.groups[0]]
        values: dict[sympy.Basic, sympy.Basic] = {}
        for word, item in known.items():
            symbol = sympy.MatrixSymbol(word, *shapes[word])
            meant = item.symbol.subs(self.sizes.known)
            values[symbol] = meant.at(heads[word]) if word in heads else meant
        out = [one.xreplace(values) for one in meanings]
        for one in meanings:
            for symbol in one.atoms(sympy.MatrixSymbol) if isinstance(one, MatrixExpr) else ():
                if symbol not in values:
                    self.fresh.setdefault(symbol.name, Input(symbol.name, symbol))
                    self.nodes.setdefault(symbol.name, _Node(self.fresh[symbol.name]))
        return out

    def _hypothesis(self, text: str) -> Meaning:
        """An equation that defines nothing: as it is written, if its letters are the first's."""
        letters = {item.letter for item in self.sides[0].inputs}
        names = {m[0] for m in _REFERENCE.finditer(text)}
        known = {name for name in names if self._item(name) is not None}
        for name in known:
            item, _ = self._item(name) or (None, None)
            if item is not None and (item.count is not None or isinstance(item, Step)):
                what = "a step" if isinstance(item, Step) else "one matrix for each head"
                raise SymattnError(f"where {quote(text)}: {item.name} is {what}; say what it is")
        if known <= letters:
            return text
        return tuple(self._read(split_sides(text)))

    # ---- together --------------------------------------------------------------------------

    def _letters(self) -> dict[sympy.Basic, sympy.Basic]:
        """Symbols of the second as those of the first."""
        out: dict[sympy.Basic, sympy.Basic] = {}
        for letter, mine in self.same.items():
            one, other = (stack_of(self.nodes[x].item.symbol) for x in (letter, mine))
            out[one.subs(self.sizes.known)] = other.subs(self.sizes.known)
        return out

    def _joint(self, assumed: tuple[Meaning, ...]) -> Joint:
        last = [side.steps[-1].letter for side in self.sides]
        outputs = [self.nodes[letter].item for letter in last]
        counts = [item.count for item in outputs]
        ends: list[Sequence[sympy.Expr]] = [item.shape for item in outputs]
        if None not in counts:
            ends = [(*item.shape, item.count) for item in outputs]
        elif counts[0] is not counts[1]:
            which = "first" if counts[1] is None else "second"
            name = outputs[which == "second"].name
            raise ShapeError(
                f"the {which} has {name} for each head and the other one for all; choose a head, "
                f"as in #{name}[1]"
            )
        fits = self.sizes.unified(*ends)
        self._unmark_sizes()
        if not fits:
            raise self._other_shapes(outputs)
        made = self._made(self._letters())
        sides = [self._side(letter, made) for letter in last]
        if outputs[0].per_head:
            sides = [*map(_beside_one_another, sides)]
        sides[1] = _unmarked(sides[1], sides[0])
        inputs = []
        for number, side in enumerate(self.sides):
            for item in side.inputs:
                if item.letter in self.same:
                    continue
                name = item.name + PRIME * (number and item.name in _names(self.sides[0]))
                inputs.append((name, self._side(item.letter, made, item.name)))
        used = {x.letter for side in sides for x in side.inputs}
        alone = self._alone(sides)
        where = tuple(
            one if isinstance(one, str) else tuple(map(self._put, one)) for one in self.where
        )
        says = tuple(dict.fromkeys((*self.sizes.words(), *self.says)))
        inputs += [(name, self._side(name, made, name)) for name in self.fresh if name in used]
        return Joint(
            left=sides[0],
            right=sides[1],
            first=self.given[0],
            second=self.given[1],
            assumed=assumed,
            where=where,
            says=says,
            alone=(tuple(map(self._name, alone[0])), tuple(map(self._name, alone[1]))),
            inputs=tuple(inputs),
            offers=tuple(self._offers(*alone)),
        )

    def _put(self, one: Meaning) -> Meaning:
        if not isinstance(one, sympy.Basic):
            return one
        return one.subs(self.sizes.known).xreplace(self._letters())

    def _other_shapes(self, outputs: Sequence[Item]) -> ShapeError:
        found = [self.sizes.shape(item) for item in outputs]
        rows = sympy.expand(found[0][0] - found[1][0])
        same = sympy.expand(found[0][1] - found[1][1]) == 0
        hint = "; compare a step of each, as in causal#weights"
        for sign, place in ((1, 0), (-1, 1)):
            more = sympy.expand(sign * rows)
            if same and more.is_positive:
                start = str(more + 1).replace(" ", "").replace(PRIME, "")
                which = ("first", "second")[place]
                hint = f"; for the last rows of the {which} write #{outputs[place].name}[{start}:]"
        one, other = (dims(shape) for shape in found)
        return ShapeError(f"{one} and {other}: matrices of different shapes are never equal{hint}")

    def _unmark_sizes(self) -> None:
        """A size of the second alone has its own name, where the first has no other of it."""
        used = {
            s
            for node in self.nodes.values()
            for size in (*node.item.shape, node.item.count)
            if size is not None
            for s in self.sizes.at(size).free_symbols
        }
        for side in self.sides:
            used |= {s for s in _symbols_of(side) if s not in self.sizes.known}
        for size in sorted(used, key=str):
            plain = symbol_of_size(size.name.rstrip(PRIME))
            if _is_second(size) and plain not in used:
                self.sizes.put(size, plain)

    def _made(self, letters: Mapping[sympy.Basic, sympy.Basic]) -> dict[str, Item]:
        """Every matrix as an input or a step of the whole, sizes put in, partners as one."""
        out: dict[str, Item] = {}
        for letter, node in self.nodes.items():
            if letter in self.same:
                continue
            item = node.item.subs(self.sizes.known)
            if isinstance(item, Step):
                out[letter] = replace(item, expr=item.expr.xreplace(letters))
                continue
            meaning = node.meaning
            if meaning is None and node.same:
                free = f"{letter}{PRIME}{PRIME}"
                symbol = Head(sympy.MatrixSymbol(free, *item.shape), HEAD)
                out[free] = replace(item, symbol=symbol, name=free)
                meaning = symbol.at(self._chosen(node, item))
            if meaning is None:
                out[letter] = item
                continue
            meaning = meaning.subs(self.sizes.known).xreplace(letters)
            out[letter] = Step(item.name, item.symbol, meaning, **item.facts)
        return out

    def _chosen(self, node: _Node, item: Item) -> sympy.Expr:
        """Which head serves head i, as an expression in i."""
        if -1 in node.same:
            return sympy.Integer(node.same[-1])
        roots = [_root(node.same, k) for k in range(int(item.count or 1))]
        for width in range(2, len(roots) + 1):
            if roots == [k // width * width for k in range(len(roots))]:
                if width == len(roots):
                    return sympy.S.Zero
                return width * sympy.floor(HEAD / width)
        return Nth(sympy.Tuple(*roots), HEAD)

    def _side(self, letter: str, made: Mapping[str, Item], name: str = "") -> Derivation:
        """The derivation that ends with this matrix."""
        order: dict[str, Item] = {}

        def visit(letter: str) -> None:
            item = made[self.same.get(letter, letter)]
            if item.letter in order:
                return
            for other in item.operands if isinstance(item, Step) else ():
                visit(other)
            order[item.letter] = item

        visit(letter)
        inputs = tuple(x for x in order.values() if not isinstance(x, Step))
        steps = [x for x in order.values() if isinstance(x, Step)]
        if not steps or steps[-1].letter != letter:
            item = made[letter]
            shown = sympy.MatrixSymbol(f"{letter}_shown", *item.shape)
            symbol = Head(shown, HEAD) if item.per_head else shown
            steps.append(Step(name or letter, symbol, item.symbol, **item.facts))
        return Derivation(tuple(map(Input.of, inputs)), tuple(steps), order=self.sides[0].order)

    def _alone(self, sides: Sequence[Derivation]) -> tuple[list[Item], list[Item]]:
        """The inputs that are open and that one of the two alone depends on."""
        one, other = ([item.letter for item in side.inputs] for side in sides)

        def of_one(mine: Sequence[str], others: Sequence[str]) -> list[Item]:
            free = (letter.removesuffix(PRIME * 2) for letter in mine if letter not in others)
            return [self.nodes[letter].item for letter in free]

        return of_one(one, other), of_one(other, one)

    def _offers(self, first: Sequence[Item], second: Sequence[Item]) -> Iterator[tuple[str, ...]]:
        """What might be said of the inputs that have no partner, or of heads."""
        if first and second:
            yield from self._as_steps(first, second)
        elif first or second:
            options = map(self._options, first or second)
            # how many inputs of the other derivation an input without a partner is tried with
            for choice in islice(zip(*options, strict=False), 4):
                yield (*self.repeats, *choice)
        elif self.repeats:
            yield tuple(self.repeats)

    def _as_steps(self, first: Sequence[Item], second: Sequence[Item]) -> Iterator[tuple[str, ...]]:
        """Inputs of the one as what the other makes: K as its K, or its K_rotated or K_cached."""
        for items, other, mark in ((first, self.sides[1], PRIME), (second, self.sides[0], "")):
            bare = [item.name.rstrip(PRIME) for item in items]
            made = [[x for x in other.names if x == n or x.startswith(f"{n}_")] for n in bare]
            for which in (-1, 0) if all(made) else ():
                pairs = zip(items, made, strict=True)
                yield tuple(f"{self._name(x)} = {steps[which]}{mark}" for x, steps in pairs)

    def _options(self, item: Item) -> list[str]:
        """Values that an input might have: 0, 1 of one that says yes or no, I, another input."""
        name = self._name(item)
        out = [f"{name} = {1 if item.boolean else 0}"]
        if item.shape[0] == item.shape[1] != 1 and not item.boolean:
            out.append(f"{name} = I")
        others = [x for side in self.sides for x in side.inputs if x.letter not in self.same]
        for other in others:
            if other is not item and other.count is None and item.count is None:
                out.append(f"{name} = {self._name(other)}")
        return out


def _tells_apart(text: str, mine: Item, item: Item) -> bool:
    """Whether an equation defines one of two inputs of the same name by the other."""
    names = {mine.name, mine.letter}, {item.name + PRIME, item.letter}
    halves = split_sides(text)
    for one, other in (halves, halves[::-1]):
        used = {found[1] + found[2] for found in _REFERENCE.finditer(other)}
        for defined, by in (names, names[::-1]):
            if one in defined and used & by:
                return True
    return False


def _names(side: Derivation) -> set[str]:
    return {item.name for item in side.inputs}


def _root(same: Mapping[int, int], head: int) -> int:
    while head in same:
        head = same[head]
    return head


def _is_second(size: sympy.Expr) -> bool:
    return bool(getattr(size, "is_Symbol", False)) and size.name.endswith(PRIME)


def _symbols_of(side: Derivation) -> set[sympy.Symbol]:
    """The sizes of a derivation, with those that count heads."""
    counts = {item.count for item in (*side.inputs, *side.steps) if item.count is not None}
    return {*side.size_symbols, *(s for count in counts for s in count.free_symbols)}


def _with_sizes(side: Derivation) -> Derivation:
    """A derivation with the sizes put in that are known."""
    return _renamed(side, side.sizes, {}) if side.sizes else side


def _renamed(
    side: Derivation, sizes: Sizes, letters: Mapping[MatrixExpr, MatrixExpr]
) -> Derivation:
    """A derivation with these sizes and letters put in."""

    def item_of(item: Any) -> Any:
        made = item.subs(sizes)
        own = {"expr": made.expr.xreplace(letters)} if isinstance(made, Step) else {}
        return replace(made, symbol=made.symbol.xreplace(letters), **own)

    inputs, steps = (tuple(map(item_of, items)) for items in (side.inputs, side.steps))
    return replace(side, inputs=inputs, steps=steps, sizes={}, labels={})


def _unmarked(side: Derivation, first: Derivation) -> Derivation:
    """A derivation whose steps have no primes, where no other matrix has that letter.

    A step of the first one may have it, if it is of the same shape.
    """
    taken = {item.letter for item in (*side.inputs, *side.steps)}
    shapes = {item.letter: item.shape for item in (*first.inputs, *first.steps)}
    taken |= {
        step.letter.rstrip(PRIME)
        for step in side.steps
        if shapes.get(step.letter.rstrip(PRIME), step.shape) != step.shape
    }
    letters = {
        (bare := stack_of(step.symbol)): sympy.MatrixSymbol(step.letter.rstrip(PRIME), *bare.shape)
        for step in side.steps
        if step.letter.endswith(PRIME) and step.letter.rstrip(PRIME) not in taken
    }
    return _renamed(side, {}, letters)


def _marked(side: Derivation) -> Derivation:
    """A derivation whose letters and sizes have a prime."""
    sizes = {s: symbol_of_size(s.name + PRIME) for s in _symbols_of(side)}
    letters = {
        (bare := stack_of(item.symbol)): sympy.MatrixSymbol(bare.name + PRIME, *bare.shape)
        for item in (one.subs(sizes) for one in (*side.inputs, *side.steps))
    }
    return _renamed(side, sizes, letters)
