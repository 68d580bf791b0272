"""What a certificate claims and assumes: its statement, read again with the one grammar.

Also how expressions are written as data, what assumed equations are used for, and the cases of
sizes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.printing.printer import Printer

from symattn.algebra.forms import Form, Refused, linear
from symattn.algebra.kinds import Data
from symattn.algebra.polynomials import MOST_POWER
from symattn.algebra.texts import read_form, read_number
from symattn.errors import quote
from symattn.grammar import read
from symattn.nodes import rule as r
from symattn.nodes.arguments import BoundIndex, symbol_of_size
from symattn.nodes.base import Node
from symattn.nodes.catalogue import NODES, words
from symattn.nodes.entrywise import Exponential, word
from symattn.nodes.heads import Concat, GroupSum, Head, HeadSum
from symattn.nodes.lines import LineDifference, LineSum
from symattn.nodes.masks import MASKS, Allowed, AnyOf, Masked, may_hide
from symattn.nodes.normalise import Normaliser, RowMax
from symattn.nodes.operators import together
from symattn.nodes.recurrence import OF_STATES, OVER_TOKENS, is_recurrence
from symattn.nodes.scale import Quotient
from symattn.nodes.spell import Speller
from symattn.nodes.written import CONSTANTS, AsWritten, joined, put_in, spread
from symattn.notation import tree as t
from symattn.step import HEAD, check_shapes

#: Two letters whose product is I, and whether each is transposed.
Unit: TypeAlias = tuple[str, bool, str, bool]
#: An assumed equation, or both sides of a product: expressions.
Pair: TypeAlias = tuple[sympy.Basic, sympy.Basic]


_PARTIAL = t.Ident("∂")


class Slope(MatrixExpr):  # type: ignore[misc]  # SymPy has no types
    """The derivatives of a number, a 1 × 1 expression, by all entries of a letter: (∂f/∂x_kl)."""

    expr = property(lambda self: self.args[0])
    letter = property(lambda self: self.args[1])
    shape = property(lambda self: self.args[1].shape)

    def _rule(self, i: r.Index, j: r.Index) -> r.Rule:
        return r.Entry(self, i, j)

    def _spell(self, speller: Speller) -> t.Tree:
        top, below = (speller.matrix(part) for part in (self.expr, self.letter))
        return t.Frac(t.row(_PARTIAL, t.bracketed(top, t.ATOM)), t.row(_PARTIAL, below))

    def _sympystr(self, printer: Printer) -> str:
        return f"∂({printer._print(self.expr)})/∂{self.letter.name}"


#: Steps of a derivation: letters, and the expressions that they stand for.
Named: TypeAlias = tuple[tuple[str, sympy.Basic], ...]


@dataclass(frozen=True)
class Goal:
    """A statement to be proven: two sides, equations, positive letters, permutations.

    A side is an expression; the steps of a derivation are letters that stand for one.
    """

    left: sympy.Basic
    right: sympy.Basic
    where: tuple[Pair, ...] = ()
    positive: tuple[str, ...] = ()
    permuting: tuple[str, ...] = ()
    steps: tuple[Named, Named] = ((), ())
    #: The case of sizes that is looked at: what each is in terms of others.
    sizes: tuple[tuple[sympy.Expr, sympy.Expr], ...] = ()

    def lines(self, data: Mapping[str, Data], sign: str = "=") -> Iterator[str]:
        """The statement in lines: texts as they were written, how letters are read."""

        def words(one: Mapping[str, Data], meaning: sympy.Basic) -> str:
            steps = "".join(f"{name} := {decoded(expr)}; " for name, expr in one.get("steps", ()))
            return str(one.get("text") or f"{steps}{meaning}")

        yield f"{words(data['left'], self.left)} {sign} {words(data['right'], self.right)}"
        for (one, other), (left, right) in zip(data["where"], self.where, strict=True):
            yield f"where {words(one, left)} = {words(other, right)}"
        met, fixed = self.named, ("the constant", "= ")  # which are no letters
        for names_, kind in ((self.positive, "positive"), (self.permuting, "a permutation")):
            if own := [name for name in names_ if name in met]:
                yield f"{', '.join(own)} {kind}"
        letters = [one for one in data["letters"] if one[0] in met or one[1].startswith(fixed)]
        read_as = [f"{name} {shape}" for name, shape in letters]
        if read_as:
            yield f"read as {', '.join(read_as)}"

    @property
    def named(self) -> set[str]:
        """The names of its letters, numbers and sizes."""
        kinds = (sympy.Symbol, sympy.MatrixSymbol)
        return {symbol.name for part in self.parts for symbol in part.atoms(*kinds)}

    @property
    def parts(self) -> list[sympy.Basic]:
        """All expressions: sides, steps and equations."""
        equations = [side for pair in self.where for side in pair]
        return [self.left, self.right, *(e for s in self.steps for _, e in s), *equations]

    def check_letters(self) -> None:
        """Refuse letters of two shapes, products that do not fit, equations about steps."""
        shapes: dict[str, tuple[sympy.Expr, sympy.Expr]] = {}
        for part in self.parts:
            if isinstance(part, MatrixExpr):
                check_shapes(part, "the statement")
            for letter in part.atoms(sympy.MatrixSymbol):
                if shapes.setdefault(letter.name, letter.shape) != letter.shape:
                    raise Refused(f"{letter.name} has two shapes")
        for node in {node for part in self.parts for node in part.atoms(*_BINDING)}:
            index, body = node.index, node.args[0]
            if index != HEAD or any(other.index == index for other in body.atoms(*_BINDING)):
                raise Refused("a sum over heads, or a matrix of them, within another")
        assumed = {s.name for pair in self.where for x in pair for s in x.atoms(sympy.MatrixSymbol)}
        for node in {node for part in self.parts for node in part.atoms(Slope)}:
            held = assumed | {*self.permuting} | {name for steps in self.steps for name, _ in steps}
            if not isinstance(node.letter, sympy.MatrixSymbol) or node.letter.name in held:
                raise Refused("a derivative with respect to something that is not free")
            if tuple(node.expr.shape) != (1, 1):
                raise Refused("a derivative of something that is not a number")
        if assumed & {name for steps in self.steps for name, _ in steps}:
            raise Refused("an equation about a step")
        self.check_states()

    def check_states(self) -> None:
        """Refuse steps of another shape than their letter, or made of themselves or later ones."""
        for steps in self.steps:
            shaped = {name: tuple(expr.shape) for name, expr in steps}
            letters = {x for _, expr in steps for x in expr.atoms(sympy.MatrixSymbol)}
            for letter in letters:
                if shaped.get(letter.name, letter.shape) != tuple(letter.shape):
                    raise Refused(f"{letter.name} has two shapes")
            for k, (name, expr) in enumerate(steps):
                ahead = {one for one, _ in steps[k:]}
                if ahead & {letter.name for letter in expr.atoms(sympy.MatrixSymbol)}:
                    raise Refused(f"{name} is made of itself, or of a later step")
                if is_recurrence(expr) and not expr.is_of_state_before(name, HEAD):
                    raise Refused(f"{name} is made of another state than the one before it")
        whole = [expr for steps in self.steps for _, expr in steps if is_recurrence(expr)]
        for part in self.parts:
            inside = sympy.Tuple(*part.args) if part in whole else part
            found = inside.atoms(*OF_STATES)
            if any(map(is_recurrence, found)) or (found and part not in whole):
                raise Refused("a recurrence is a step, and the state before stands only in its own")

    def put(self, values: Mapping[sympy.Basic, sympy.Basic]) -> Goal:
        """The goal with numbers and sizes put in."""

        def at(one: sympy.Basic) -> sympy.Basic:
            return put_in(one, values)

        one, other = (tuple((n, at(e)) for n, e in steps) for steps in self.steps)
        where = tuple((at(a), at(b)) for a, b in self.where)
        return replace(
            self, left=at(self.left), right=at(self.right), where=where, steps=(one, other)
        )

    def in_case(self, case: Mapping[sympy.Expr, sympy.Expr]) -> Goal:
        """The goal in one case of sizes."""
        return replace(self.put(case), sizes=(*self.sizes, *case.items()))


#: The nodes that bind the index of a head, or of a token.
_BINDING = (Concat, GroupSum, HeadSum, *OVER_TOKENS)


#: The functions and operations that an expression in a certificate may be made of.
_MADE_OF: Mapping[str, type[sympy.Basic]] = {
    **{node.__name__: node for node in NODES},
    **{
        kind.__name__: kind
        for kind in (
            sympy.Add,
            sympy.Mul,
            sympy.Pow,
            sympy.exp,
            sympy.log,
            sympy.Abs,
            sympy.tanh,
            sympy.erf,
            sympy.cos,
            sympy.sin,
            Slope,
            *OF_STATES,
            sympy.floor,
            sympy.ceiling,
            sympy.Mod,
            sympy.Min,
            sympy.Max,
            sympy.Le,
            sympy.Eq,
            sympy.And,
            sympy.Or,
            sympy.Not,
            sympy.MatAdd,
            sympy.MatMul,
            sympy.MatPow,
            sympy.Transpose,
            sympy.Inverse,
            sympy.HadamardProduct,
            sympy.Identity,
            sympy.OneMatrix,
            sympy.ZeroMatrix,
        )
    },
}


_ATOMS: Mapping[str, sympy.Expr] = {"e": sympy.E, "π": sympy.pi, "-∞": -sympy.oo}


_SYMBOLS: Mapping[str, Mapping[str, bool]] = {
    "size": {"integer": True, "positive": True},
    "index": {"integer": True},
    "positive": {"positive": True},
    "real": {"real": True},
    "word": {},
}


def encoded(one: sympy.Basic) -> Data:
    """An expression as lists of texts. Raises `Refused` for what a certificate cannot hold."""
    if isinstance(one, sympy.MatrixSymbol):
        return ["letter", one.name, *map(encoded, one.shape)]
    if isinstance(one, sympy.Symbol):
        given = {"integer": one.is_integer, "positive": one.is_positive, "real": one.is_real}
        for kind, facts in _SYMBOLS.items():
            if sympy.Symbol(one.name, **facts) == one:
                return [kind, one.name]
        raise Refused(f"a symbol with {given} is not covered")
    if isinstance(one, sympy.Rational):
        return str(one)
    for name, value in _ATOMS.items():
        if one is value:
            return ["atom", name]
    name = type(one).__name__
    if _MADE_OF.get(name) is not type(one) and not isinstance(one, sympy.exp):
        raise Refused(f"{name} has no place in a certificate")
    return [name, *map(encoded, one.args)]


_MOST_NAME, _NAME = 60, re.compile(r"[^\W\d_][\w']*")


def _is_name(text: str, kind: str = "letter") -> bool:
    """Whether a statement may name something so: π is a number, and d½ the half of an even d."""
    named = _NAME.fullmatch(text) and text != "π" and "½" not in text
    return len(text) <= _MOST_NAME and (kind == "word" or bool(named))


def decoded(data: Data, known: Collection[sympy.Basic] = ()) -> sympy.Basic:
    """An expression of a certificate. Raises `Refused` for what is none.

    Symbols that are `known` may have names that no statement can give: the half of a size.
    """
    match data if isinstance(data, str | list) else [data]:
        case str():
            value = read_number(data)
            return sympy.Rational(value.numerator, value.denominator)
        case ["atom", str() as name] if name in _ATOMS:
            return _ATOMS[name]
        case [str() as kind, str() as name] if kind in _SYMBOLS:
            symbol = sympy.Symbol(name, **_SYMBOLS[kind])
            if symbol in known or _is_name(name, kind):
                return symbol
        case ["letter", str() as name, rows, columns] if _is_name(name):
            return sympy.MatrixSymbol(name, decoded(rows, known), decoded(columns, known))
        case [str() as kind, *parts] if kind in _MADE_OF:
            args = [decoded(part, known) for part in parts]
            exponent = args[1] if kind == "Pow" else sympy.S.One
            if not isinstance(exponent, sympy.Rational) or abs(exponent) > MOST_POWER:
                raise Refused("a power is too large")
            arguments = getattr(_MADE_OF[kind], "arguments", ())
            for argument, value in zip(arguments, args, strict=False):
                if isinstance(argument, BoundIndex) and not isinstance(value, sympy.Symbol):
                    raise Refused(f"{kind} binds what is no index")
            return joined(_MADE_OF[kind], args)
    start = data[:2] if isinstance(data, list) else [data]
    raise Refused(f"[{', '.join(map(quote, start))} … is not an expression")


def read_size(text: str) -> sympy.Expr:
    """A size in the reading of a letter: n, 3, n + p."""
    out = sympy.S.Zero
    for name, c in read_form(text):
        if name and not _is_name(name):
            raise Refused(f"{quote(name)} is not a size")
        size = symbol_of_size(name) if name else sympy.S.One
        out = sympy.Add(out, sympy.Mul(c, size))
    return out


def goal_of(data: Mapping[str, Data]) -> Goal:
    """The statement of a certificate, read again."""
    letters: dict[str, tuple[sympy.Expr, sympy.Expr] | None] = {}
    values: dict[str, sympy.Expr] = {}
    for name, text in data["letters"]:
        if " × " in text:
            rows, _, columns = text.partition(" × ")
            letters[name] = (read_size(rows), read_size(columns))
        elif text == "the constant":
            values[name] = CONSTANTS[name]
        elif text.startswith("= "):
            values[name] = read_size(text[2:])
        elif text == "a number" and name in data["declared"]:
            letters[name] = None
        elif text not in ("a number", "a positive whole number"):
            raise Refused(f"{quote(text)} is nothing that a letter is read as")
    positive = tuple(data["positive"])
    for listed in (data[key] for key in ("declared", "positive", "permuting")):
        if listed != sorted({*listed}):
            raise Refused("names that are not in order, each once")

    def side(one: Mapping[str, Data]) -> tuple[sympy.Basic, tuple[sympy.Expr, ...] | None, Named]:
        if "text" in one:
            spare = [(read_size(a), read_size(b)) for a, b in one["spare"]]
            writer = AsWritten(letters, values, spare, positive)
            declared = [name for name, text in data["letters"] if name in data["declared"]]
            return (*writer.build(read(one["text"], declared, words())), ())
        steps = tuple((name, decoded(expr)) for name, expr in one.get("steps", ()))
        value = decoded(one["expr"])
        return value, tuple(value.shape) if isinstance(value, MatrixExpr) else None, steps

    def pair(one: Data, other: Data) -> tuple[sympy.Basic, sympy.Basic, tuple[Named, Named]]:
        (left, a, before), (right, b, after) = side(one), side(other)
        shape = together([a, b])
        for own in (a, b):
            if own not in (None, shape, (1, 1)) and "text" not in one:
                raise Refused("the shapes differ")
        return spread(left, a, shape), spread(right, b, shape), (before, after)

    left, right, steps = pair(data["left"], data["right"])
    where = tuple(pair(one, other)[:2] for one, other in data["where"])
    goal = Goal(left, right, where, positive, tuple(data["permuting"]), steps)
    goal.check_letters()
    named = [name for name, _ in data["letters"]]
    if len(named) != len(set(named)):
        raise Refused("a letter is read in two ways")
    return goal


#: A goal with definitions put in, what letters stand for, which are orthonormal, what is known.
Used: TypeAlias = tuple[
    Goal, dict[str, MatrixExpr], list[tuple[sympy.MatrixSymbol, bool]], list[Pair]
]


def used(goal: Goal, uses: Iterable[Data]) -> Used:
    """The goal with what equations define put in; letters that stand for an expression.

    Also the matrices that are orthonormal and the equations about sums. Raises `Refused` where an
    equation is none of the kind that it is used as.
    """
    means: dict[str, MatrixExpr] = {}
    units: list[tuple[sympy.MatrixSymbol, bool]] = []
    known: list[Pair] = []
    for kind, k, flipped in uses:
        one, other = goal.where[k][:: -1 if flipped else 1]
        if kind == "number" and one == other:  # as others have made it
            continue
        letter, meaning = meant(kind, one, other, means)
        match kind:
            case "number":
                goal = goal.put({letter: meaning})
            case "orthonormal":
                units.append((letter, meaning))
            case "known":
                known.append((one, other))
            case _:
                means[letter.name] = meaning
    return goal, means, units, known


def meant(
    kind: str, one: sympy.Basic, other: sympy.Basic, means: Mapping[str, MatrixExpr]
) -> tuple[sympy.Basic, Any]:
    """The letter that an equation is about, and what it says of it as this kind of equation.

    A number or a letter is the other side, a mirror ±Aᵀ is half of a free letter ± its transpose,
    and of an orthonormal letter the columns are, or the rows. `means` are the letters that are
    defined already. Raises `Refused` where the equation is none of this kind.
    """
    match kind:
        case "number" if isinstance(one, sympy.Symbol) and not isinstance(other, MatrixExpr):
            if one in other.free_symbols or (one.is_integer and not other.is_integer):
                raise Refused(f"{one} is not defined by this equation")
            if one.is_integer and not other.is_positive:
                raise Refused(f"{one} would not be a size")
            return one, other
        case "letter" if isinstance(one, sympy.MatrixSymbol | sympy.Transpose):
            letter = one.arg if isinstance(one, sympy.Transpose) else one
            if not isinstance(letter, sympy.MatrixSymbol) or not same_shape(one, other):
                raise Refused("this equation defines no letter")
            value = sympy.Transpose(other) if isinstance(one, sympy.Transpose) else other
            if letter.name in means or letter.name in reached(value, means):
                raise Refused(f"{letter.name} is defined twice, or in terms of itself")
            return letter, value
        case "mirror" if isinstance(one, MatrixExpr):
            turned = one if isinstance(one, sympy.Transpose) else sympy.Transpose(one)
            letter = turned.arg
            plain = letter if turned is one else turned
            signs = {plain: 1, sympy.MatMul(-1, plain): -1}
            square = isinstance(letter, sympy.MatrixSymbol) and letter.shape[0] == letter.shape[1]
            if not square or other not in signs or letter.name in means:
                raise Refused("this equation makes no letter symmetric")
            free = sympy.MatrixSymbol(f"{letter.name}°", *letter.shape)
            half = sympy.MatAdd(free, sympy.MatMul(signs[other], sympy.Transpose(free)))
            return letter, sympy.MatMul(sympy.S.Half, half)
        case "orthonormal" if isinstance(one, sympy.MatMul) and len(one.args) == 2:
            a, b = one.args
            letter = b if isinstance(a, sympy.Transpose) else a
            turned = sympy.Transpose(letter)
            about = isinstance(letter, sympy.MatrixSymbol) and isinstance(other, sympy.Identity)
            if not about or (a, b) not in ((turned, letter), (letter, turned)):
                raise Refused("this equation makes no letter orthonormal")
            return letter, b is letter
        case "known":
            return one, other
    raise Refused(f"an equation cannot be used as a {kind}")


def same_shape(one: sympy.Basic, other: sympy.Basic) -> bool:
    """Whether both are matrices of one shape."""
    matrices = isinstance(one, MatrixExpr) and isinstance(other, MatrixExpr)
    return matrices and tuple(one.shape) == tuple(other.shape)


def reached(value: sympy.Basic, means: Mapping[str, MatrixExpr]) -> set[str]:
    """The letters in an expression, those that others stand for included."""
    found: set[str] = set()
    left = [value]
    while left:
        for symbol in left.pop().atoms(sympy.MatrixSymbol):
            if symbol.name not in found:
                found.add(symbol.name)
                left += [means[symbol.name]] if symbol.name in means else []
    return found


def may_lack(expr: sympy.Basic) -> bool:
    """Whether something in an expression may be without a value, as far as its kind tells."""
    return may_hide(expr) or any(map(_may_lack, sympy.preorder_traversal(expr)))


def _may_lack(part: sympy.Basic) -> bool:
    if isinstance(part, sympy.Pow):
        return not (part.exp.is_Integer and part.exp > 0) and not part.base.is_positive
    if getattr(part, "is_quotient", False):
        return not part.args[1].is_nonzero
    if word(part):
        return word(part) in ("sqrt", "ln")
    return isinstance(part, sympy.Inverse | sympy.MatPow) or bool(getattr(part, "partial", False))


def opaque(expr: sympy.Basic, letters: dict[MatrixExpr, sympy.MatrixSymbol]) -> sympy.Basic:
    """An expression whose functions are letters, of which nothing but the shape is used."""
    match expr:
        case sympy.MatrixSymbol() | sympy.Identity() | sympy.OneMatrix() | sympy.ZeroMatrix():
            return expr
        case sympy.MatMul() | sympy.MatAdd() | sympy.HadamardProduct():
            return expr.func(
                *(opaque(a, letters) if isinstance(a, MatrixExpr) else a for a in expr.args)
            )
        case sympy.Transpose() | sympy.Inverse():
            return expr.func(opaque(expr.arg, letters))
        case Quotient() | LineSum():
            return expr.func(opaque(expr.args[0], letters), *expr.args[1:])
        case Node() if isinstance(expr, Normaliser | Exponential) or not expr.has(*_MAY_BE_HIDDEN):
            return letters.setdefault(
                expr, sympy.MatrixSymbol(f"⟨{len(letters) + 1}⟩", *expr.shape)
            )
    if isinstance(expr, MatrixExpr):
        raise Refused(f"{type(expr).__name__} is not a letter")
    return expr


_MAY_BE_HIDDEN = (*MASKS.values(), Masked, Allowed, AnyOf, LineDifference, RowMax, Head)


def permutations_in(goal: Goal) -> Iterator[tuple[str, Form]]:
    """The letters of permutation matrices, and how many things each permutes."""
    sides = [goal.left, goal.right, *(one for pair in goal.where for one in pair)]
    for letter in {letter for side in sides for letter in side.atoms(sympy.MatrixSymbol)}:
        if letter.name in goal.permuting:
            rows, across = (linear(size, {}) for size in letter.shape)
            if rows != across:
                raise Refused(f"{letter.name} is not square, so it is not a permutation matrix")
            yield letter.name, rows


def inverses(letter: sympy.MatrixSymbol, columns: bool) -> Iterator[tuple[Unit, Form]]:
    """Which products of an orthonormal letter and its transpose are I, and the range summed."""
    rows, width = (linear(size, {}) for size in letter.shape)
    name = letter.name
    yield (name, columns, name, not columns), rows if columns else width
    if rows == width:
        yield (name, not columns, name, columns), rows


def turned_around(equation: Pair, cut: int) -> Pair:
    """Of A B = I with square A and B, B A = I too: a left inverse is a right inverse."""
    one, other = equation
    coefficient, factors = one.as_coeff_matrices() if isinstance(one, sympy.MatMul) else (0, [])
    sides = {
        size for factor in (*factors[:1], *factors[cut : cut + 1]) for size in factor.shape[:1]
    }
    sides |= {factors[cut - 1].shape[1]} if 0 < cut < len(factors) else {None}
    if coefficient != 1 or not isinstance(other, sympy.Identity) or len(sides) != 1:
        raise Refused("the factors of this product cannot be reversed")
    return sympy.MatMul(*factors[cut:], *factors[:cut]), other


def halved(size: sympy.Symbol) -> dict[sympy.Symbol, sympy.Expr]:
    """An even size as twice another."""
    return {size: sympy.Mul(2, symbol_of_size(f"{size.name}½"))}


def cases(size: sympy.Expr, least: sympy.Expr, depth: int) -> list[dict[sympy.Expr, sympy.Expr]]:
    """All cases of a size: it is at least another size, or a number, or it is less."""
    more = sympy.Symbol(f"+{depth}", integer=True, nonnegative=True)
    above = {size: sympy.Add(least, more)}
    if not isinstance(size, sympy.Symbol) or size == least:
        raise Refused("the cases are not those of a size")
    if isinstance(least, sympy.Symbol):
        return [above, {least: sympy.Add(size, 1, more)}]
    if not isinstance(least, sympy.Integer) or not 1 <= least <= 12:
        raise Refused("the cases are too many")
    return [above, *({size: sympy.Integer(k)} for k in range(1, int(least)))]
