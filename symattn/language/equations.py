"""A text of equations as a derivation: a step for each equation, an input for each other letter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
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
from symattn.language.composing import WEIGHTS, composed, cut
from symattn.language.making import HIDDEN, Maker
from symattn.language.shapes import KNOWN_SIZES, GivenShape, Shape, Unfit
from symattn.language.sizes import (
    COUNTS,
    HEADS,
    ROWS,
    Letters,
    Scope,
    Sizes,
    is_small,
    name_all,
    size_symbol,
    states,
)
from symattn.language.texts import Equation, Left, Place, Text, Wrong, read_text, wrong
from symattn.nodes.catalogue import SHARES
from symattn.nodes.defined import ByEntries
from symattn.nodes.heads import Concat, Head
from symattn.nodes.number import NumberSymbol
from symattn.nodes.operators import filling
from symattn.nodes.recurrence import Recurrence, without_starts
from symattn.nodes.written import CONSTANTS
from symattn.step import HEAD, Input, Step

#: What a state may begin at without being a matrix, beside −∞.
_ZERO = Number(Fraction(0))

#: What is known of an item by the name of its step, as the field's vocabulary says it.
Facts = Mapping[str, Mapping[str, Any]]


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
    text_read = _with_output(read_text(text, {*levels, *said}))
    letters = Letters(families={greek(name): HEADS[0] for name in counts or {}})
    equations = _collect(text_read, letters)
    _declare(text_read, said, letters)
    _kinds(text_read, levels, letters)
    sizes = _inferred(equations, letters, counts or {})
    steps = _Steps(letters, sizes, facts or {})
    for equation in equations:
        with _at(equation):
            steps.add(equation)
    known = {size_symbol(name): count for name, count in letters.numbered.items()}
    inputs = tuple(steps.inputs.values())
    return Derivation(inputs, tuple(steps.weighed()), known, {}, title, order=order)


def _with_output(text: Text) -> Text:
    """The text whose last right side, if it stands alone, is cut into steps."""
    if not text.equations:
        raise wrong(text.functions[-1].place, "a function alone is no step; write e.g. O = f(Q)")
    *others, last = text.equations
    if last.name:
        return text
    return replace(text, equations=(*others, *cut(last, [one.name for one in others])))


# ---- what the letters are --------------------------------------------------------------------


def _collect(text: Text, letters: Letters) -> list[Equation]:
    """Which letters are made, families, and numbers of the text; the equations that make steps."""
    for equation in text.equations:
        left, name = equation.left, equation.name
        if left.head == "0":
            letters.starts[name] = equation
        elif name in letters.made:
            first = letters.made[name].place.line
            raise wrong(equation.place, f"{name} is made in line {first} already")
        elif left.head or left.indices or left.word or not _is_closed(equation.tree):
            letters.made[name] = equation
            letters.families |= {name: left.head} if left.head else {}
        elif name in COUNTS:
            letters.numbered[name] = _count(equation)
        else:
            letters.numbers[name] = _closed(equation)
            letters.kinds[name] = "scalar"
    _check_functions(text)
    letters.functions |= {function.name: function for function in text.functions}
    for function in text.functions:
        if function.name in letters.made or function.name in letters.numbers:
            raise wrong(function.place, f"{function.name} is a function and a letter as well")
    for name, start in letters.starts.items():
        if name not in letters.made or not _is_recurrence(letters.made[name]):
            raise wrong(
                start.place, f"{name}[0] starts no recurrence; write {name}[t] = … {name}[t-1]"
            )
    if not letters.made:
        place = text.equations[-1].place
        raise wrong(place, "no step is made of a letter; write e.g. O = softmax(Q K^T) V")
    return list(letters.made.values())


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
    return bool(equation.left.head and states(equation.tree, equation.name))


def _is_closed(tree: Tree) -> bool:
    """Whether a tree is a number: no letters but constants."""
    return all(map(_stands_in_number, subtrees(tree)))


def _stands_in_number(part: Tree) -> bool:
    match part:
        case Name(name):
            return name in CONSTANTS and name != "∞"
        case Call(name, _, options):
            known = ("exp", "ln", "√", "sin", "cos", "tanh", "abs")
            return name in known and not options
        case Number(_, vector):
            return not vector
    return not isinstance(part, Indexed | Every)


def _closed(equation: Equation) -> sympy.Expr:
    """The number that a right side is. Raises `ReadError` where it has no value."""
    sizes = Sizes(Letters())
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


def _declare(text: Text, shapes: Mapping[str, GivenShape], letters: Letters) -> None:
    """Shapes as numbers and symbols."""
    for shape in text.shapes:
        name = shape.name
        if name in letters.declared:
            raise wrong(shape.place, f"the shape of {name} is said twice")
        head = letters.made[name].left.head if name in letters.made else shape.head
        if shape.head != head:
            written = f"{name}[{head}]" if head else name
            raise wrong(shape.place, f"the text makes {written}; write {written} : …")
        letters.declared[name] = tuple(_size(size, letters, shape.place) for size in shape.sizes)
        letters.families |= {name: shape.head} if shape.head else {}
    for name, given in shapes.items():
        number = given in ("number", "scalar", ())
        if not number and not (isinstance(given, tuple | list) and len(given) == 2):
            raise ReadError(
                f"shapes: {name}: {quote(given)} is not a shape; give rows and columns, "
                '("n", "d_k")'
            )
        said = tuple(
            size if isinstance(size, sympy.Expr) else _size(str(size), letters, Place(1))
            for size in (() if number else given)
        )
        letters.declared.setdefault(name, said)


def _size(text: str, letters: Letters, place: Place) -> sympy.Expr:
    """A size that a shape says."""
    sizes = Sizes(Letters(numbered=letters.numbered))
    try:
        value = sizes.written(read_right(text, letters.sizes, (), {*KNOWN_SIZES, *letters.sizes}))
    except (ReadError, Unfit) as error:
        why = str(error).rpartition(": ")[2]
        raise wrong(place, f"{quote(text)} is no size: {why}") from None
    if value.is_number and not (value.is_Integer and value > 0):
        raise wrong(place, f"{quote(text)} is no size; it is a whole number from 1")
    letters.sizes |= dict.fromkeys(sizes.used)
    return value


def _kinds(text: Text, levels: Mapping[str, int], letters: Letters) -> None:
    """How each small letter that is no step is meant: a number, a row or a column."""
    lines = (*text.equations, *text.functions)
    bound = {index for line in lines for index in (*line.arguments, *_bound(line))}
    uses: dict[str, set[str]] = {}
    for line in lines:
        for name, use in _uses(line.tree):
            uses.setdefault(name, set()).add(use)
    for name, found in uses.items():
        if name in letters.made or name in letters.declared:
            continue
        if "family" in found:
            letters.families[name] = HEADS[0]
        other = name in letters.numbers or name in CONSTANTS or name in bound
        if is_small(name) and not other:
            size = name in letters.sizes or name in KNOWN_SIZES or name[:2] in ("d_", "n_")
            for kind in _kind(name, found, levels.get(name), size):
                letters.kinds[name] = kind
    for name, level in levels.items():
        if level == 3 and name not in letters.made:
            letters.families.setdefault(name, HEADS[0])
        elif level == 0 and name not in letters.made and name not in letters.declared:
            letters.kinds[name] = "scalar"
        elif level == 1 and name not in letters.declared:
            letters.kinds.setdefault(name, "row")


def _kind(name: str, uses: Collection[str], level: int | None, size: bool) -> Iterator[str]:
    """How a small letter is meant, if not as a size: by its uses, and by the brackets given."""
    if level is None and size:
        return
    if "row" in uses or name.startswith("b_") or (level == 1 and "indexed" not in uses):
        yield "row"
    elif "indexed" in uses:
        yield "column"
    elif level is None or level == 0:
        yield "scalar"


def _uses(tree: Tree) -> Iterator[tuple[str, str]]:
    """How letters stand in a tree: as one of a family, with an index, as a row, or plainly."""
    for part in subtrees(tree):
        match part:
            case Name(name):
                yield name, "plain"
            case Indexed(Name(name), (place,)):
                if is_small(name) and not name.startswith("b_"):
                    yield name, "indexed"
                elif place.single and _index_in(place.start) in HEADS:
                    yield name, "family"
            case Call("relative", (Name(name), *_)):
                yield name, "indexed"
            case Call(_, _, options):
                for option, value in options:
                    if option in ROWS and isinstance(value, Name):
                        yield value.name, "row"


def _index_in(tree: Tree | None) -> str:
    """The letter of an index, that of a group by its head."""
    match tree:
        case Name(name) | Call("group", (Name(name),)):
            return name
    return ""


def _bound(equation: Equation) -> Iterator[str]:
    """The indices that an equation binds."""
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
_OF_MASKS = (
    *("any", "keep", "allow", "σ"),
    *(word for word, node in SHARES.items() if node.additive_mask),
)


# ---- the shapes ------------------------------------------------------------------------------


def _inferred(
    equations: Sequence[Equation], letters: Letters, counts: Mapping[str, sympy.Expr]
) -> Sizes:
    """The shapes of all letters, line by line, and then the names of sizes."""
    sizes = Sizes(letters)
    for name, count in counts.items():
        named = {"h": sizes.heads, "g": sizes.groups}.get(str(count))
        sizes.counts[greek(name)] = named or sizes.size_of(count)
    for equation in equations:
        with _at(equation):
            _infer(equation, sizes)
    for name in letters.families:
        if name in sizes.letters:
            sizes.count(name)  # of which one matrix may be all that is used
    try:
        name_all(sizes, {*letters.sizes, *letters.made})
    except Unfit as unfit:
        lines = (*equations, *letters.starts.values(), *letters.functions.values())
        holding = (one for one in lines if any(x is unfit.tree for x in subtrees(one.tree)))
        with _at(next(holding, equations[-1])):
            raise
    return sizes


def _infer(equation: Equation, sizes: Sizes) -> None:
    """The shape of the letter that an equation makes."""
    left, recurs = equation.left, _is_recurrence(equation)
    indices: dict[str, int] = {}
    shape: Shape = None
    if left.head:
        indices[left.head] = sizes.counting(left.head)
        sizes.dims.same(indices[left.head], sizes.count(left.name))
    if left.by_entries:
        shape = sizes.fitting()
        indices |= zip(left.indices, shape, strict=True)
    elif left.by_rows:
        indices[left.indices[0]] = sizes.dims.new()
    if recurs:
        _begin(left.name, sizes)
    entries = left.indices if left.by_entries else ()
    with sizes.within(Scope(equation, indices, entries, left.name if recurs else "")):
        found = sizes.shape(equation.tree)
    if recurs:
        _end(left, indices[left.head], found, sizes)
    if left.by_entries and found is not None:
        raise Unfit("an entry is a number; a matrix stands on the right side")
    if left.by_rows:
        if found is None:
            raise Unfit("a row is a matrix of one row; a number stands on the right side")
        sizes.dims.same(found[0], sizes.one)
        found = indices[left.indices[0]], found[1]
    sizes.make(left.name, shape or found or (sizes.one, sizes.one))


def _begin(name: str, sizes: Sizes) -> None:
    """The shape of a state, and of the one before the first."""
    state = sizes.state(name)
    start = sizes.said.starts.get(name)
    if start is None:
        sizes.letters[f"{name}_0"] = state
        return
    with _at(start):
        own = sizes.shape(start.tree)
        if own is None and start.tree not in (_ZERO, HIDDEN):
            raise Unfit(f"{name}[0] is a matrix, 0 or -inf")
        sizes.same_shape(own, state)


def _end(left: Left, count: int, found: Shape, sizes: Sizes) -> None:
    """The state is a row where nothing says how many it has; its tokens are counted.

    Where columns alone are added to it, it is a column, and rows make a row.
    """
    name, dims, state = left.name, sizes.dims, sizes.letters[left.name]
    assert state is not None
    own = (name, f"{name}_0")
    shapes = (shape or () for letter, shape in sizes.letters.items() if letter not in own)
    others = {dims.root(size) for shape in shapes for size in shape}
    sizes.same_shape(state, found)
    rows = dims.root(state[0])
    if dims.value[rows] is None and rows not in others and name not in sizes.declared:
        dims.same(rows, sizes.one)
    for size, beside in (state, state[::-1]):
        if (
            dims.met_only_one(size)
            and dims.root(size) not in others
            and dims.root(beside) in others
        ):
            dims.same(size, sizes.one)
    families = {dims.root(size) for letter, size in sizes.counts.items() if letter not in own}
    if dims.root(count) not in others | families and dims.known(count) is None:
        index = left.head
        raise Unfit(
            f"nothing says how far {index} goes; it is the index of no row, such as K[{index}]"
        )


# ---- the steps -------------------------------------------------------------------------------


class _Steps:
    """The steps and inputs of a text whose sizes are known."""

    def __init__(self, letters: Letters, sizes: Sizes, facts: Facts) -> None:
        self.letters, self.sizes, self.facts = letters, sizes, facts
        self.maker = Maker(sizes, letters.numbers)
        self.inputs: dict[str, Input] = {}
        self.steps: list[Step] = []
        self.headings: dict[str, str] = {}

    def add(self, equation: Equation) -> None:
        """The step that an equation makes, and the inputs that it uses first."""
        left, count = equation.left, None
        _check_masks(equation.tree, self.maker.masks)
        if left.head:
            count = self.sizes.size(self.sizes.count(left.name))
        expr = self._made(equation, count)
        self._inputs(equation.tree, expr)
        letter = in_ascii(left.name)
        name = left.word or letter
        if name in {item.name for item in (*self.inputs.values(), *self.steps)}:
            raise wrong(equation.place, f"a step is called {name} already; give it another word")
        number = expr.shape == (1, 1) and is_small(left.name)
        symbol = (NumberSymbol if number else sympy.MatrixSymbol)(letter, *expr.shape)
        heading, reason = composed(expr, self.steps, letter)
        facts = dict(self.facts.get(left.word, {}))
        if equation.heading or "title" not in facts:
            facts["title"] = equation.heading or heading
        self.headings[letter] = heading
        if self._hides(expr):
            facts["logits"] = True
            self.maker.masks.add(letter)
        if count is not None:
            symbol, facts["count"] = Head(symbol, HEAD), count
        index = left.head or (left.indices[0] if left.by_rows else "")
        if index and index not in HEADS:
            facts["each"] = index
        self.steps.append(Step(name, symbol, expr, "", equation.reason or reason, **facts))

    def _inputs(self, tree: Tree, expr: MatrixExpr) -> None:
        """The inputs that a right side, and the matrices that it stands for, use first."""
        written = (part.name for part in subtrees(tree) if isinstance(part, Name))
        meant = (
            x.name for x in sympy.preorder_traversal(expr) if isinstance(x, sympy.MatrixSymbol)
        )
        for one in (*written, *meant):
            self._input(greek(str(one)))

    def weighed(self) -> list[Step]:
        """All steps; shares that a later one multiplies are weights, if no others might be."""
        products = {part for step in self.steps for part in step.expr.atoms(sympy.MatMul)}
        factors = {factor for product in products for factor in product.args}
        shares = {
            step.symbol
            for step in self.steps
            if step.weights or self.headings[step.letter] == WEIGHTS
        }
        if len(shares) != 1 or not shares <= factors:
            return self.steps
        return [replace(step, weights=step.symbol in shares) for step in self.steps]

    def _hides(self, expr: MatrixExpr) -> bool:
        """Whether a matrix holds −∞, or is made of masks; a state may begin at −∞."""
        parts = sympy.preorder_traversal(without_starts(expr))
        return sympy.S.NegativeInfinity in parts or self.maker.is_mask(expr)

    def _made(self, equation: Equation, count: sympy.Expr | None) -> MatrixExpr:
        """The expression of an equation, of which there may be a count."""
        left, maker, letter = equation.left, self.maker, sympy.Symbol(in_ascii(equation.name))
        shape = self.sizes.letters[left.name]
        assert shape is not None
        sized = self.sizes.sized(shape)
        recurs = _is_recurrence(equation)
        start = self._start(left.name, sized) if recurs else None
        maker.making = left.name if recurs else ""
        index, each = (left.indices[0], sized[0]) if left.by_rows else (left.head, count)
        with maker.head(index, each) if index else nullcontext():
            if left.by_entries:
                return ByEntries(maker.entries(equation.tree, sized, left.indices), letter)
            expr, own = maker.build(equation.tree)
        if start is not None:
            maker.recurrences[left.name] = Recurrence(expr, HEAD, count, start, letter)
            return maker.recurrences[left.name]
        if left.by_rows:
            return Concat(expr, HEAD, sized[0], 0)
        return sympy.ImmutableDenseMatrix([[expr]]) if own is None else expr

    def _start(self, name: str, sized: tuple[sympy.Expr, sympy.Expr]) -> MatrixExpr:
        """The state before the first one: as the text says, or given."""
        start = self.letters.starts.get(name)
        if start is None:
            return sympy.MatrixSymbol(f"{in_ascii(name)}_0", *sized)
        if start.tree == HIDDEN:
            return filling(sympy.S.NegativeInfinity, sized)
        with _at(start):
            value, own = self.maker.build(start.tree)
            return sympy.ZeroMatrix(*sized) if own is None else value

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
            symbol, index = Head(symbol, HEAD), self.letters.families[name]
            facts["count"] = self.sizes.size(self.sizes.count(name))
            if index not in HEADS:
                facts["each"] = index
        self.inputs[name] = Input(in_ascii(name), symbol, **facts)
