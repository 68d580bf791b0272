"""A text of equations as a derivation: a step for each equation, an input for each other letter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.derivations import Derivation
from symattn.errors import ReadError, SymattnError, quote
from symattn.grammar import (
    Apart,
    Call,
    Every,
    Indexed,
    Name,
    Number,
    Tree,
    children,
    greek,
    place_of,
    read_right,
    subtrees,
)
from symattn.greek import in_ascii
from symattn.language.composing import composed, cut
from symattn.language.making import Maker
from symattn.language.shapes import KNOWN_SIZES, GivenShape, Shape, Unfit
from symattn.language.sizes import COUNTS, HEADS, ROWS, Sizes, is_small, name_all, size_symbol
from symattn.language.texts import Equation, Left, Place, Text, Wrong, read_text, wrong
from symattn.nodes.defined import ByEntries
from symattn.nodes.heads import Concat, Head
from symattn.nodes.number import NumberSymbol
from symattn.nodes.recurrence import Recurrence
from symattn.nodes.written import CONSTANTS
from symattn.step import HEAD, Input, Step

#: What is known of an item by the name of its step, as the field's vocabulary says it.
Facts = Mapping[str, Mapping[str, Any]]


@dataclass
class _Letters:
    """What the letters of a text are."""

    text: Text
    #: What is given, by the levels of brackets it has: 0 of a number, 3 of one for each head.
    levels: Mapping[str, int]
    #: Shapes that were said elsewhere, as a text says them.
    shapes: Mapping[str, GivenShape]
    made: dict[str, Equation] = field(default_factory=dict)
    numbers: dict[str, sympy.Expr] = field(default_factory=dict)
    #: Where recurrences start: S[0] = …
    starts: dict[str, Equation] = field(default_factory=dict)
    declared: dict[str, tuple[sympy.Expr, ...]] = field(default_factory=dict)
    families: dict[str, None] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    #: How many heads and groups there are, where the text says so: n_h = 4.
    numbered: dict[str, int] = field(default_factory=dict)
    #: Sizes that were said by name.
    sizes: dict[str, None] = field(default_factory=dict)


def derivation_of(
    text: str,
    shapes: Mapping[str, GivenShape] | None = None,
    *,
    given: Mapping[str, int] | None = None,
    counts: Mapping[str, sympy.Expr] | None = None,
    facts: Facts | None = None,
    title: str = "",
    order: tuple[str, ...] = (),
) -> Derivation:
    """The derivation that a text of equations says.

    `shapes` are those of letters, beside what the text says; `given` how many levels of brackets
    each given letter has; `counts` how many matrices each family has; `facts` what is known of
    steps by their names. Raises `ReadError` (or another `SymattnError`) with the line and the
    character of the text.
    """
    levels = {greek(name): level for name, level in (given or {}).items()}
    said = {greek(name): shape for name, shape in (shapes or {}).items()}
    letters = _Letters(_with_output(read_text(text, {*levels, *said})), levels, said)
    letters.families |= {greek(name): None for name in counts or {}}
    _collect(letters)
    return _Builder(letters, facts or {}, counts or {}).derivation(title, order)


def _with_output(text: Text) -> Text:
    """The text whose last right side, if it stands alone, is cut into steps."""
    if not text.equations:
        raise wrong(text.functions[-1].place, "a function alone is no step; write e.g. O = f(Q)")
    *others, last = text.equations
    if last.left is not None:
        return text
    return replace(text, equations=(*others, *cut(last, [one.name for one in others])))


# ---- what the letters are --------------------------------------------------------------------


def _collect(letters: _Letters) -> None:
    """Which letters are made, declared, families, numbers of the text, rows and columns."""
    for equation in letters.text.equations:
        left = equation.left
        if left is None:
            continue
        if left.head == "0":
            letters.starts[left.name] = equation
            continue
        if left.name in letters.made:
            first = letters.made[left.name].place.line
            raise wrong(equation.place, f"{left.name} is made in line {first} already")
        if not left.head and not left.indices and not left.word and _is_closed(equation.tree):
            if left.name in COUNTS:
                letters.numbered[left.name] = _count(equation)
            else:
                letters.numbers[left.name] = _closed(equation)
            continue
        letters.made[left.name] = equation
        if left.head:
            letters.families[left.name] = None
    _check_functions(letters.text)
    for function in letters.text.functions:
        if function.name in letters.made or function.name in letters.numbers:
            raise wrong(function.place, f"{function.name} is a function and a letter as well")
    for name, start in letters.starts.items():
        if name not in letters.made or not _is_recurrence(letters.made[name]):
            raise wrong(
                start.place, f"{name}[0] starts no recurrence; write {name}[t] = … {name}[t-1]"
            )
    _declare(letters)
    _kinds(letters)


def _check_functions(text: Text) -> None:
    """Each function is defined once, by functions that stand above it."""
    above: dict[str, Equation] = {}
    names = {function.name for function in text.functions}
    for function in text.functions:
        name = function.name
        if name in above:
            raise wrong(
                function.place, f"{name} is defined in line {above[name].place.line} already"
            )
        for part in subtrees(function.tree):
            if isinstance(part, Call) and part.name in names and part.name not in above:
                why = (
                    "made of itself" if part.name == name else f"made of {part.name}, defined below"
                )
                raise wrong(function.place, f"the function {name} is {why}")
        above[name] = function


def _is_recurrence(equation: Equation) -> bool:
    """Whether an equation makes each state of the one before it."""
    if equation.left is None or not equation.left.head:
        return False
    parts = subtrees(equation.tree)
    return any(isinstance(one, Indexed) and one.base == Name(equation.name) for one in parts)


def _uses_before(tree: Tree, name: str) -> bool:
    """Whether a tree has the state before, S[t-1], of a letter."""
    parts = [one for one in subtrees(tree) if isinstance(one, Indexed) and one.base == Name(name)]
    return any(isinstance(one.parts[0].start, Apart) for one in parts)


def _is_closed(tree: Tree) -> bool:
    """Whether a tree is a number: no letters but constants."""
    names = [part for part in subtrees(tree) if isinstance(part, Name | Call | Indexed | Every)]
    known = ("exp", "ln", "√", "sin", "cos", "tanh", "abs")
    return all(
        (isinstance(part, Name) and part.name in CONSTANTS and part.name != "∞")
        or (isinstance(part, Call) and part.name in known and not part.options)
        for part in names
    )


def _closed(equation: Equation) -> sympy.Expr:
    """The number that a right side is. Raises `ReadError` where it has no value."""
    sizes = Sizes({}, {}, ())
    sizes.shape(equation.tree)
    with _at(equation):
        value, shape = Maker(sizes, {}).build(equation.tree)
        if shape is not None or not value.is_real:
            raise ReadError("it is no real number")
    return value


def _count(equation: Equation) -> int:
    """How many heads or groups there are. Raises `ReadError` where it is no whole number."""
    value = _closed(equation)
    if not (value.is_Integer and value > 0):
        raise wrong(equation.place, f"{equation.name} is a whole number from 1")
    return int(value)


def _declare(letters: _Letters) -> None:
    """Shapes as numbers and symbols."""
    for shape in letters.text.shapes:
        if shape.name in letters.declared:
            raise wrong(shape.place, f"the shape of {shape.name} is said twice")
        if shape.name in letters.made and shape.head != letters.made[shape.name].left.head:  # type: ignore[union-attr]
            raise wrong(shape.place, f"{shape.name} is made otherwise; write the same index")
        letters.declared[shape.name] = tuple(
            _size(size, letters, shape.place) for size in shape.sizes
        )
        if shape.head:
            letters.families[shape.name] = None
    for name, given in letters.shapes.items():
        if given in ("number", "scalar", ()):
            letters.declared.setdefault(name, ())
            continue
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise ReadError(
                f"shapes: {name}: {quote(given)} is not a shape; give rows and columns, "
                '("n", "d_k")'
            )
        said = tuple(
            size if isinstance(size, sympy.Expr) else _size(str(size), letters, Place(1))
            for size in given
        )
        letters.declared.setdefault(name, said)


def _size(text: str, letters: _Letters, place: Place) -> sympy.Expr:
    """A size that a shape says."""
    try:
        tree = read_right(text, letters.sizes, (), {*KNOWN_SIZES, *letters.sizes})
        sizes = Sizes({}, {}, (), numbered=letters.numbered)
        value = sizes.written(tree)
    except (ReadError, Unfit) as error:
        why = str(error).rpartition(": ")[2]
        raise wrong(place, f"{quote(text)} is no size: {why}") from None
    if value.is_number and not (value.is_Integer and value > 0):
        raise wrong(place, f"{quote(text)} is no size; it is a whole number from 1")
    letters.sizes |= dict.fromkeys(sizes.used)
    return value


def _kinds(letters: _Letters) -> None:
    """How each small letter that is no step is meant: a number, a row or a column."""
    trees = [equation.tree for equation in letters.text.equations]
    trees += [equation.tree for equation in letters.text.functions]
    own = {one for function in letters.text.functions for one in function.arguments}
    bound = {index for equation in letters.text.equations for index in _bound(equation)}
    indexed: dict[str, None] = {}
    rows: dict[str, None] = {}
    plain: dict[str, None] = {}
    for tree in trees:
        for part in subtrees(tree):
            match part:
                case Indexed(Name(name), parts):
                    single = [_index_in(p.start) for p in parts if p.single]
                    wide = not is_small(name) or name.startswith("b_")
                    if wide and len(parts) == 1 and {*single} & {*HEADS}:
                        if name not in letters.made and name not in letters.declared:
                            letters.families[name] = None
                    elif not wide and len(parts) == 1:
                        indexed[name] = None
                case Call(function, args, options):
                    if function == "relative" and isinstance(args[0], Name):
                        indexed[args[0].name] = None
                    for option, value in options:
                        if option in ROWS and isinstance(value, Name):
                            rows[value.name] = None
                case Name(name):
                    plain[name] = None
    for name in plain:
        if name in letters.made or name in letters.declared or name in letters.numbers:
            continue
        if not is_small(name) or name in CONSTANTS or name in bound or name in own:
            continue
        level = letters.levels.get(name)
        known = name in KNOWN_SIZES or name in letters.sizes or _looks_like_a_size(name)
        if level is None and known:
            continue
        if name in rows or name.startswith("b_") or (level == 1 and name not in indexed):
            letters.kinds[name] = "row"
        elif name in indexed:
            letters.kinds[name] = "column"
        elif level is None or level == 0:
            letters.kinds[name] = "scalar"
    for name, level in letters.levels.items():
        if level == 3 and name not in letters.made:
            letters.families[name] = None
        elif level == 0 and name not in letters.made and name not in letters.declared:
            letters.kinds[name] = "scalar"
        elif level == 1 and name not in letters.kinds and name not in letters.declared:
            letters.kinds[name] = "row"


def _index_in(tree: Tree | None) -> str:
    """The letter of an index, that of a group by its head."""
    match tree:
        case Name(name) | Call("group", (Name(name),)):
            return name
    return ""


def _looks_like_a_size(name: str) -> bool:
    return name[:2] in ("d_", "n_")


def _bound(equation: Equation) -> Iterator[str]:
    """The indices that an equation binds."""
    if equation.left is not None:
        yield from (equation.left.head, *equation.left.indices)
    for part in subtrees(equation.tree):
        if isinstance(part, Every):
            yield part.index


@contextmanager
def _at(equation: Equation) -> Iterator[None]:
    """Puts the place in an equation before what is refused inside: that of the part, if known."""
    try:
        yield
    except Wrong:
        raise
    except Unfit as unfit:
        offset = 0 if unfit.tree is None else place_of(unfit.tree)
        raise wrong(equation.at(offset), f"{_of(equation)}{unfit}") from None
    except SymattnError as error:
        raise wrong(equation.place, f"{_of(equation)}{error}") from None


def _of(equation: Equation) -> str:
    return f"{equation.name}: " if equation.name else ""


def _check_masks(tree: Tree, masks: Collection[str]) -> None:
    """Refuse a mask anywhere but as a term, where it is added: there alone −∞ hides."""

    def is_mask(part: Tree) -> bool:
        base = (
            part.base if isinstance(part, Indexed) and all(p.single for p in part.parts) else part
        )
        return isinstance(base, Name) and in_ascii(base.name) in masks

    def walk(part: Tree) -> None:
        for inner in children(part):
            if is_mask(inner):
                added = isinstance(part, Apart) and part.sign == "+"
                if not added and not (isinstance(part, Call) and part.name in _OF_MASKS):
                    name = next(n.name for n in subtrees(inner) if isinstance(n, Name))
                    why = f"{name} hides by −∞: it is only added to scores, S + {name}"
                    raise Unfit(why).at(inner)
            else:
                walk(inner)

    if not is_mask(tree):
        walk(tree)


#: The functions that take masks, or give what they hide no weight.
_OF_MASKS = ("any", "keep", "allow", "softmax", "softmax1", "sparsemax", "hardmax", "σ")


# ---- the steps -------------------------------------------------------------------------------


class _Builder:
    """Shapes first, line by line, then names of sizes, then expressions."""

    def __init__(self, letters: _Letters, facts: Facts, counts: Mapping[str, sympy.Expr]) -> None:
        self.letters, self.facts = letters, facts
        numbers = dict.fromkeys(letters.numbers, "scalar")
        kinds = {**letters.kinds, **numbers}
        functions = {function.name: function for function in letters.text.functions}
        self.sizes = Sizes(
            kinds, letters.declared, letters.families, letters.sizes, functions, letters.numbered
        )
        self.equations = [
            equation
            for equation in letters.text.equations
            if equation.name not in letters.numbers
            and equation.name not in letters.numbered
            and not (equation.left is not None and equation.left.head == "0")
        ]
        if not self.equations:
            last = letters.text.equations[-1] if letters.text.equations else None
            place = last.place if last is not None else Place(1)
            raise wrong(place, "no step is made of a letter; write e.g. O = softmax(Q K^T) V")
        self.inputs: dict[str, Input] = {}
        self.steps: list[Step] = []
        for name, count in counts.items():
            named = {"h": self.sizes.heads, "g": self.sizes.groups}.get(str(count))
            self.sizes.counts[greek(name)] = named or self.sizes.size_of(count)

    def derivation(self, title: str, order: tuple[str, ...]) -> Derivation:
        """The derivation of all equations."""
        for equation in self.equations:
            with _at(equation):
                self._shape(equation)
        for name in self.letters.families:
            if name in self.sizes.letters:
                self.sizes.count(name)  # of which one matrix may be all that is used
        try:
            name_all(self.sizes, {*self.letters.sizes, *self.letters.made})
        except Unfit as unfit:
            with _at(self._holding(unfit.tree)):
                raise
        maker = Maker(self.sizes, self.letters.numbers)
        for equation in self.equations:
            with _at(equation):
                self._step(equation, maker)
        known = {size_symbol(name): count for name, count in self.letters.numbered.items()}
        return Derivation(
            tuple(self.inputs.values()), tuple(self.steps), known, {}, title, order=order
        )

    def _holding(self, tree: Tree | None) -> Equation:
        """The equation, or the function, that a tree stands in; else the last equation."""
        text = self.letters.text
        for equation in (*text.equations, *text.functions):
            if any(part is tree for part in subtrees(equation.tree)):
                return equation
        return self.equations[-1]

    def _shape(self, equation: Equation) -> None:
        """The shape of the letter that an equation makes."""
        left, sizes = equation.left, self.sizes
        self._check_use(equation)
        if left is None:
            sizes.letters["O"] = sizes.shape(equation.tree)
            return
        indices: dict[str, int] = {}
        if left.head:
            indices[left.head] = sizes.counting(left.head)
            sizes.dims.same(indices[left.head], sizes.count(left.name))
        shape: tuple[int, int] | None
        if left.by_entries:
            shape = sizes.fitting()
            indices |= dict(zip(left.indices, shape, strict=True))
            sizes.entries = left.indices
        elif left.indices:
            indices[left.indices[0]] = sizes.dims.new()
        if _is_recurrence(equation):
            self._begin(equation)
        with sizes.binding(**indices):
            found = sizes.shape(equation.tree)
        if sizes.making:
            self._end(equation, indices[left.head], found)
        if sizes.entries:
            sizes.entries = ()
            if found is not None:
                raise Unfit("an entry is a number; a matrix stands on the right side")
        elif left.indices:
            if found is None:
                raise Unfit("a row is a matrix of one row; a number stands on the right side")
            sizes.dims.same(found[0], sizes.one)
            shape = indices[left.indices[0]], found[1]
        else:
            shape = found
        if shape is None:
            shape = (sizes.one, sizes.one)
        if left.name in sizes.letters or left.name in self.letters.declared:
            said = sizes.letter(left.name) or (sizes.one, sizes.one)
            for one, other in zip(said, shape, strict=True):
                sizes.dims.same(one, other)
        sizes.letters[left.name] = shape
        sizes.made.add(left.name)

    def _begin(self, equation: Equation) -> None:
        """The shape of a state, and of the one before the first."""
        sizes, name = self.sizes, equation.name
        state = sizes.letters[name] = sizes.fitting()
        start = self.letters.starts.get(name)
        if start is None:
            sizes.letters[f"{name}_0"] = state
        else:
            with _at(start):
                own = sizes.shape(start.tree)
                if own is None and start.tree != Number(Fraction(0)):
                    raise Unfit(f"{name}[0] is a matrix, or 0")
                for one, other in zip(own or (), state, strict=False):
                    sizes.dims.same(one, other)
        sizes.making = name

    def _end(self, equation: Equation, count: int, found: Shape) -> None:
        """The state is a row where nothing says how many it has; its tokens are counted."""
        sizes, name = self.sizes, equation.name
        sizes.making = ""
        own = (name, f"{name}_0")
        others = {
            sizes.dims.root(size)
            for letter, shape in sizes.letters.items()
            if letter not in own
            for size in shape or ()
        }
        state = sizes.letters[name]
        assert state is not None
        for one, other in zip(state, found or (), strict=False):
            sizes.dims.same(one, other)
        rows = sizes.dims.root(state[0])
        if (
            sizes.dims.value[rows] is None
            and rows not in others
            and name not in self.letters.declared
        ):
            sizes.dims.same(rows, sizes.one)
        if sizes.dims.root(count) not in others and sizes.dims.known(count) is None:
            index = equation.left.head if equation.left is not None else ""
            raise Unfit(
                f"nothing says how far {index} goes; it is the index of no row, such as K[{index}]"
            )

    def _check_use(self, equation: Equation) -> None:
        """Refuse a letter that is used before the equation that makes it, or in it."""
        for part in self._whole(equation.tree):
            if not isinstance(part, Name) or part.name not in self.letters.made:
                continue
            if part.name in self.sizes.made:
                continue
            maker = self.letters.made[part.name]
            if maker is equation and _is_recurrence(equation):
                continue
            if maker is equation:
                raise Unfit(
                    f"{part.name} is made of itself; give the new matrix a letter of its own"
                ).at(part)
            mend = "move that up"
            if _uses_before(equation.tree, part.name):
                mend = (
                    "states that need one another are one state, Z[t] = [A; B], with parts such as "
                    "Z[t-1][1:2,:]"
                )
            raise Unfit(f"{part.name} is used before line {maker.place.line} makes it; {mend}").at(
                part
            )

    def _whole(self, tree: Tree) -> Iterator[Tree]:
        """The parts of a tree, and those of the functions that it calls."""
        for part in subtrees(tree):
            yield part
            if isinstance(part, Call) and part.name in self.sizes.functions:
                yield from self._whole(self.sizes.functions[part.name].tree)

    def _step(self, equation: Equation, maker: Maker) -> None:
        left = equation.left or Left("O", "output")
        _check_masks(equation.tree, maker.masks)
        shape = self.sizes.letters[left.name]
        assert shape is not None
        sized = self.sizes.sized(shape)
        count: sympy.Expr | None = None
        if left.by_entries:
            if left.head:
                count = self.sizes.size(self.sizes.count(left.name))
                with maker.head(left.head, count):
                    inner = maker.entries(equation.tree, sized, left.indices)
            else:
                inner = maker.entries(equation.tree, sized, left.indices)
            expr: MatrixExpr = ByEntries(inner, sympy.Symbol(in_ascii(left.name)))
        elif left.indices:
            with maker.head(left.indices[0], sized[0]):
                body, _ = maker.build(equation.tree)
            expr = Concat(body, HEAD, sized[0], 0)
        elif left.head:
            count = self.sizes.size(self.sizes.count(left.name))
            recurs = _is_recurrence(equation)
            start = self._start(left.name, sized, maker) if recurs else None
            maker.making = left.name if recurs else ""
            with maker.head(left.head, count):
                expr, own = maker.build(equation.tree)
            maker.making = ""
            if start is not None:
                letter = sympy.Symbol(in_ascii(left.name))
                expr = Recurrence(expr, HEAD, count, start, letter)
        else:
            expr, own = maker.build(equation.tree)
            if own is None:
                expr = sympy.ImmutableDenseMatrix([[expr]])
        self._add(equation, left, expr, count, maker)

    def _start(self, name: str, sized: tuple[sympy.Expr, sympy.Expr], maker: Maker) -> MatrixExpr:
        """The state before the first one: as the text says, or given."""
        start = self.letters.starts.get(name)
        if start is None:
            return sympy.MatrixSymbol(f"{in_ascii(name)}_0", *sized)
        with _at(start):
            value, own = maker.build(start.tree)
            return sympy.ZeroMatrix(*sized) if own is None else value

    def _add(
        self,
        equation: Equation,
        left: Left,
        expr: MatrixExpr,
        count: sympy.Expr | None,
        maker: Maker,
    ) -> None:
        for part in subtrees(equation.tree):
            if isinstance(part, Name):
                self._input(part.name)
        for part in sympy.preorder_traversal(expr):
            if isinstance(part, sympy.MatrixSymbol):
                self._input(greek(str(part.name)))
        letter = in_ascii(left.name)
        name = left.word or letter
        if name in {item.name for item in (*self.inputs.values(), *self.steps)}:
            raise wrong(equation.place, f"a step is called {name} already; give it another word")
        rows, columns = expr.shape
        number = (rows, columns) == (1, 1) and is_small(left.name)
        symbol = (NumberSymbol if number else sympy.MatrixSymbol)(letter, rows, columns)
        facts = dict(self.facts.get(left.word, {}))
        heading, reason = composed(expr, self.steps, letter)
        if equation.heading or "title" not in facts:
            facts["title"] = equation.heading or heading
        hides = any(part is sympy.S.NegativeInfinity for part in sympy.preorder_traversal(expr))
        if hides or maker.is_mask(expr):
            facts["logits"] = True
            maker.masks.add(letter)
        if count is not None:
            symbol, facts["count"] = Head(symbol, HEAD), count
        index = left.head or (left.indices[0] if left.indices and not left.by_entries else "")
        if index and index not in HEADS:
            facts["each"] = index
        because = equation.reason or reason
        self.steps.append(Step(name, symbol, expr, "", because, **facts))

    def _input(self, name: str) -> None:
        """A letter that no equation makes becomes an input where it is first used."""
        if name in self.letters.made or name in self.inputs or name not in self.sizes.letters:
            return
        if name in self.letters.numbers:
            return
        shape = self.sizes.letters[name]
        if name in CONSTANTS or self.sizes.is_size(name):
            return
        facts: dict[str, Any] = {}
        if shape is None:
            self.inputs[name] = Input(in_ascii(name), NumberSymbol(in_ascii(name)), **facts)
            return
        symbol: MatrixExpr = sympy.MatrixSymbol(in_ascii(name), *self.sizes.sized(shape))
        if name in self.letters.families:
            symbol = Head(symbol, HEAD)
            facts["count"] = self.sizes.size(self.sizes.count(name))
        self.inputs[name] = Input(in_ascii(name), symbol, **facts)
