"""A derivation as a text of equations, which reads back as the same steps.

Each node has its word in a table here; what has none is refused by name, never left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.functions import ELEMENTARY
from symattn.derivations import Derivation
from symattn.errors import CannotSpell
from symattn.language.composing import composed
from symattn.language.sizes import COUNTS
from symattn.nodes.base import Node
from symattn.nodes.defined import Applied, ByEntries, Counted, Defined, WherePlaced, named
from symattn.nodes.heads import Concat, Head, HeadMix, Slice, Split, Stacked
from symattn.nodes.lines import LineProduct, Spread
from symattn.nodes.masks import Causal
from symattn.nodes.norms import Norm
from symattn.nodes.number import NumberSymbol
from symattn.nodes.operators import filling
from symattn.nodes.positions import Sinusoidal
from symattn.nodes.powers import WhereAtMost, WholePower
from symattn.nodes.recurrence import Beside, Earlier, Recurrence
from symattn.step import HEAD, Input, Item, Step

#: A part of a text, and how tightly it binds: a sum, a product, an atom.
Written: TypeAlias = tuple[str, int]
_SUM, _PRODUCT, _ATOM = range(3)

#: A call in the syntax of a node: minus or nothing, the word, what it is called with.
_CALL = re.compile(r"(-?)([\w-]+)\((.*)\)")


def written(derivation: Derivation) -> str:
    r"""The text of a forward derivation: a line of shapes, then an equation for each step.

    Raises `CannotSpell` for a node that equations have no word for.

    >>> from symattn import Attention
    >>> print(*written(Attention(mask="causal").derivation()).splitlines()[2:6], sep="\n")
    scaled Z = S / sqrt(d_k)
    mask M = causal()
    masked G = Z + M
    weights A = softmax(G)
    """
    writer = _Writer(derivation)
    shapes = ";  ".join(writer.of(item).shape(item) for item in derivation.inputs)
    made: list[Step] = []
    lines = [*writer.numbered(), shapes, *writer.functions()]
    for step in derivation.steps:
        lines += writer.of(step).equation(step, made)
        made.append(step)
    return "\n".join(lines)


class _Numbers:
    """Writes SymPy's numbers, and joins what is written."""

    def size(self, value: sympy.Expr) -> str:
        """A size or another number."""
        return self.number(value)[0]

    def number(self, value: sympy.Expr) -> Written:
        """A SymPy number, its roots and sizes as they are written."""
        match value:
            case sympy.Rational() if value < 0:
                return f"-{self.number(-value)[0]}", _SUM
            case sympy.Integer():
                return str(value), _ATOM
            case sympy.oo:
                return "inf", _ATOM
            case sympy.Rational():
                return f"{value.p}/{value.q}", _PRODUCT
            case sympy.Symbol():
                return {"h": "n_h", "g": "n_g"}.get(value.name, value.name), _ATOM
            case sympy.Pow(base=base, exp=exponent):
                if exponent == sympy.S.Half:
                    return f"sqrt({self.number(base)[0]})", _ATOM
                if exponent.could_extract_minus_sign():
                    return f"1 / {self._atom(self.number(base**-exponent))}", _PRODUCT
                return f"{self._atom(self.number(base))}^({self.number(exponent)[0]})", _ATOM
            case sympy.Mul():
                above, below = sympy.fraction(value)
                if below != 1:
                    top, bottom = self.number(above), self.number(below)
                    return f"{self._factor(top)} / {self._atom(bottom)}", _PRODUCT
                if value.could_extract_minus_sign():
                    return f"-{self._factor(self.number(-value))}", _SUM
                parts = [self._factor(self.number(part)) for part in value.args]
                return " ".join(parts), _PRODUCT
            case sympy.Add():
                return self._sum([self.number(part) for part in value.args])
            case sympy.Function() if (word := _OF_NUMBERS.get(type(value))) is not None:
                said = ", ".join(self.number(part)[0] for part in value.args)
                return f"{word}({said})", _ATOM
            case sympy.Min() | sympy.Max():
                said = ", ".join(self.number(part)[0] for part in value.args)
                return f"{_OF_NUMBERS[type(value)]}({said})", _ATOM
            case sympy.core.numbers.NumberSymbol() if value in (sympy.pi, sympy.E):
                return str(value).lower(), _ATOM
            case sympy.core.numbers.NegativeInfinity():
                return "-inf", _SUM
        raise CannotSpell(f"{value} cannot be written in equations")

    @staticmethod
    def _atom(part: Written) -> str:
        return part[0] if part[1] == _ATOM else f"({part[0]})"

    @staticmethod
    def _factor(part: Written) -> str:
        return part[0] if part[1] >= _PRODUCT else f"({part[0]})"

    @staticmethod
    def _sum(parts: list[Written]) -> Written:
        text = parts[0][0]
        for part, _ in parts[1:]:
            text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
        return text, _SUM

    def _times(self, factors: Iterable[Written]) -> str:
        first, *others = factors
        return " * ".join([self._factor(first), *map(self._atom, others)])

    def _over(self, above: Written, below: Written) -> Written:
        return f"{self._factor(above)} / {self._atom(below)}", _PRODUCT


@dataclass(frozen=True)
class _Matrices(_Numbers):
    """Writes matrix expressions of one derivation; `own` is the index of their family."""

    derivation: Derivation
    own: str = "h"

    @cached_property
    def counts(self) -> tuple[sympy.Expr | None, sympy.Expr | None]:
        """How many heads and groups there are, as far as that is known; groups are fewer."""
        items = (*self.derivation.inputs, *self.derivation.steps)
        found = (self._count(item) for item in items if not item.each)
        counts = {count for count in found if count is not None}
        numbers = sorted(count for count in counts if count.is_Integer)
        by_name = {str(count): count for count in counts}
        ends = (numbers[-1], numbers[0]) if numbers else (None, None)
        return by_name.get("h", ends[0]), by_name.get("g", ends[1])

    def _count(self, item: Item) -> sympy.Expr | None:
        """How many there are of a matrix of each head."""
        return None if item.count is None else item.count.subs(self.derivation.sizes)

    def _free(self, letters: str) -> str:
        """The first of these letters that is not one of the derivation's."""
        taken = {item.letter for item in (*self.derivation.inputs, *self.derivation.steps)}
        return next(letter for letter in letters if letter not in {*taken, self.own})

    def _head(self, head: sympy.Expr) -> str:
        if head == HEAD:
            return self.own
        if isinstance(head, sympy.floor):
            return "group(h)"
        return self.size(head + 1)

    def _cut(self, whole: MatrixExpr) -> str:
        """What a part is taken of: in brackets, too, where an exponent would be cut instead."""
        text = self._atom(self.matrix(whole))
        _, _, last = text.replace("]", ")").rpartition(")")
        return f"({text})" if "^" in last else text

    def _share(self, width: sympy.Expr, axis: sympy.Expr) -> str:
        """Which rows (or columns) of all heads' are one head's: (h-1) d_k + 1 : h d_k."""
        if width == 1:
            return f":, {self.own}" if axis == 1 else self.own
        share = self._factor(self.number(width))
        span = f"({self.own}-1) {share} + 1 : {self.own} {share}"
        return f":, {span}" if axis == 1 else f"{span}, :"

    def matrix(self, expr: MatrixExpr) -> Written:
        """A matrix expression."""
        match expr:
            case Head(symbol=symbol, head=head):
                return f"{symbol.name}[{self._head(head)}]", _ATOM
            case sympy.MatrixSymbol():
                return str(expr.name), _ATOM
            case Beside(letter=letter):
                return f"{letter}[{self.own}-1]", _ATOM
            case Earlier(matrix=Head(name=letter, head=head)) if head == HEAD:
                return f"{letter}[{self.own}-1]", _ATOM
            case Split(args=(inner, index, _, axis)) if index == HEAD:
                where = self._share(expr.shape[int(axis)], axis)
                return f"{self._cut(inner)}[{where}]", _ATOM
            case HeadMix(args=(body, member, _, weights, head)) if head == HEAD:
                return self._mixed(body, member, weights)
            case Slice(args=(inner, first, number, axis)):
                last = f":{self.size(sympy.expand(first + number))}"
                span = self.size(first + 1) + ("" if axis == 1 and number == 1 else last)
                where = f":, {span}" if axis == 1 else f"{span}, :"
                return f"{self._cut(inner)}[{where}]", _ATOM
            case Applied():
                return self._applied(expr, self.matrix)
            case sympy.OneMatrix() if 1 in expr.shape:
                return ("1" if expr.shape[1] == 1 else "1^T"), _ATOM
            case sympy.Identity():
                return "I", _ATOM
            case sympy.Transpose(arg=inner):
                return f"{self._atom(self.matrix(inner))}^T", _ATOM
            case sympy.Inverse(arg=inner):
                return f"{self._atom(self.matrix(inner))}^-1", _ATOM
            case sympy.MatAdd():
                return self._terms(expr)
            case sympy.MatMul():
                return self._product(expr)
            case sympy.HadamardProduct():
                factors = [self._product_part(part) for part in expr.args]
                return " ∘ ".join(factors), _SUM
            case Stacked():
                rows = (map(self._text, row) for row in expr._blocks())
                return f"[{'; '.join(map(', '.join, rows))}]", _ATOM
            case Concat(args=(body, index, count, axis)) if axis == 1 and index == HEAD:
                return self._concatenated(body, count)
            case LineProduct():
                return self._by_lines(expr)
            case Node():
                return self._phrased(expr, self.matrix, self._joined)
        raise self._unknown(expr)

    def _terms(self, expr: sympy.MatAdd) -> Written:
        """A sum, in which 1 is a matrix of ones."""
        ones = sympy.OneMatrix(*expr.shape)
        return self._sum([("1", _ATOM) if one == ones else self.matrix(one) for one in expr.args])

    def _concatenated(self, body: MatrixExpr, count: sympy.Expr) -> Written:
        """The heads, or the groups, side by side."""
        index = "g" if count == self.counts[1] != self.counts[0] else "h"
        return f"concat_{index}({replace(self, own=index)._text(body)})", _ATOM

    def _by_lines(self, expr: LineProduct) -> Written:
        """A norm and its gain, diag(r) A, or A diag(r)."""
        numbers = self._text(expr.vector)
        if isinstance(expr.matrix, Norm) and expr.axis == 0:
            return self._phrased(expr.matrix, self.matrix, self._joined, f"gain={numbers}")
        factors = [f"diag({numbers})", self._product_part(expr.matrix)]
        return " ".join(factors if expr.axis == 1 else factors[::-1]), _PRODUCT

    def _text(self, expr: MatrixExpr) -> str:
        return self.matrix(expr)[0]

    def _applied(self, expr: Applied, of: Callable[[MatrixExpr], Written]) -> Written:
        """A function of one's own, without the numbers that its text names."""
        shown = expr.args[1 : 1 + len(expr.formula.arguments)]
        return f"{expr.formula.name}({', '.join(of(one)[0] for one in shown)})", _ATOM

    def _phrased(
        self,
        node: Node,
        of: Callable[[MatrixExpr], Written],
        join: Callable[[Written, str, Written], Written],
        *more: str,
    ) -> Written:
        """A node by its syntax, its matrices written by `of`, two sides of a sign by `join`.

        `more` is said before its options.
        """
        phrase = node.phrase()
        if not phrase and isinstance(node, Defined):
            return of(node.meaning)
        if not phrase or any(index != HEAD for index in node.bound):
            raise self._unknown(node)
        called = _CALL.fullmatch(phrase)
        if called is None:
            first, *rest = (part for part in phrase.split())
            one = self._argument(node, first, of)
            if not rest:
                return one
            return join(one, "".join(rest[:-1]), self._argument(node, rest[-1], of))
        minus, word, listed = called.groups()
        given = [name for name in listed.split(", ") if "=" not in name]
        said = [self._argument(node, name, of)[0] for name in given if name]
        said += [of(one)[0] for one in node.args if not node.arguments]
        options = self._options(node, listed.split(", ")[len(given) :], of)
        return f"{minus}{word}({', '.join((*said, *more, *options))})", _SUM if minus else _ATOM

    def _argument(self, node: Node, name: str, of: Callable[[MatrixExpr], Written]) -> Written:
        """An argument by its name, or one to the power of another."""
        name, power, exponent = name.partition("^")
        if power:
            base, above = (self.number(getattr(node, one)) for one in (name, exponent[1:-1]))
            return f"{self._atom(base)}^({above[0]})", _ATOM
        value = node.arguments[node.places[name]].called(getattr(node, name))
        if isinstance(value, str):
            return value, _ATOM
        if isinstance(value, sympy.Tuple):
            return ", ".join(map(self.size, value)), _ATOM
        return of(value) if isinstance(value, MatrixExpr) else self.number(value)

    def _options(
        self, node: Node, options: Sequence[str], of: Callable[[MatrixExpr], Written]
    ) -> Iterator[str]:
        """The options that are not the usual, and those that are always said."""
        for option in options:
            name, _, always = option.partition("=")
            argument = always or name
            if always or getattr(node, argument) != node.usual(argument):
                yield f"{name}={self._argument(node, argument, of)[0]}"

    def _joined(self, left: Written, sign: str, right: Written) -> Written:
        """Two matrices and the sign between them."""
        match sign:
            case "+":
                return self._sum([left, right])
            case "-":
                return self._sum([left, (f"-{self._factor(right)}", _SUM)])
            case "/":
                return self._over(left, right)
            case "⊘":
                return f"{self._factor(left)} ⊘ {self._factor(right)}", _SUM
        return f"{self._factor(left)} {self._factor(right)}", _PRODUCT

    def _joined_entries(self, left: Written, sign: str, right: Written) -> Written:
        """Two numbers and the sign between them, as it is between matrices."""
        return self._over(left, right) if sign else (self._times((left, right)), _PRODUCT)

    def _product(self, expr: sympy.MatMul) -> Written:
        coefficient, factors = expr.as_coeff_matrices()
        parts = [self._product_part(factors[0])]
        parts += [self._atom(self.matrix(part)) for part in factors[1:]]  # A (S / c), not A S / c
        text = " ".join(parts)
        if coefficient == 1:
            return text, _PRODUCT
        if coefficient == -1:
            return f"-{text}", _SUM
        if coefficient.is_negative:
            return f"-{self._factor(self.number(-coefficient))} {text}", _SUM
        return f"{self._factor(self.number(coefficient))} {text}", _PRODUCT

    def _product_part(self, expr: MatrixExpr) -> str:
        return self._factor(self.matrix(expr))

    def _mixed(self, body: MatrixExpr, member: sympy.Symbol, weights: MatrixExpr) -> Written:
        """Σ_l p_hl S⁽ˡ⁾, where l stands for the other head."""
        other = self._free("lrs")
        turned = isinstance(weights, sympy.Transpose)
        indices = f"{other},{self.own}" if turned else f"{self.own},{other}"
        weight = self._atom(self.matrix(weights.arg if turned else weights))
        inner = replace(self, own=other)._product_part(body.xreplace({member: HEAD}))
        return f"sum_{other}({weight}[{indices}] {inner})", _ATOM

    @staticmethod
    def _unknown(expr: MatrixExpr) -> CannotSpell:
        return CannotSpell(f"{type(expr).__name__} has no word in equations yet")


class _Entries(_Matrices):
    """Writes matrices by their entries."""

    def _cases(self, expr: MatrixExpr) -> str:
        """The entry of a matrix at row i and column j, which may be cases."""
        match expr:
            case WherePlaced(value=value, otherwise=otherwise, test=test):
                said = self._test(test)
            case Causal(start=start):
                value, otherwise = sympy.ZeroMatrix(*expr.shape), filling(-sympy.oo, expr.shape)
                said = "j <= i" + (f" + {self.size(start)}" if start != 0 else "")
            case WhereAtMost(left=left, right=right, value=value, otherwise=otherwise):
                said = f"{self._entry(left)[0]} <= {self._entry(right)[0]}"
            case _:
                return self._entry(expr)[0]
        return f"{self._entry(value)[0]} if {said} else {self._cases(otherwise)}"

    def _entry(self, expr: MatrixExpr) -> Written:
        """The entry of a matrix at row i and column j."""
        match expr:
            case WherePlaced() | WhereAtMost() | Causal():
                return f"({self._cases(expr)})", _ATOM
            case Counted(formula=formula):
                return self.number(named(formula))
            case sympy.ZeroMatrix() | sympy.OneMatrix():
                return ("0" if isinstance(expr, sympy.ZeroMatrix) else "1"), _ATOM
            case WholePower(matrix=inner, exponent=exponent):
                power = self.number(named(exponent))[0]
                return f"{self._atom(self._entry(inner))}^({power})", _ATOM
            case Node() if expr.entrywise or expr.uniform:
                return self._phrased(expr, self._entry, self._joined_entries)
            case Applied():
                return self._applied(expr, self._entry)
            case sympy.MatAdd():
                return self._sum([self._entry(part) for part in expr.args])
            case sympy.HadamardProduct():
                return self._times(map(self._entry, expr.args)), _PRODUCT
            case sympy.MatMul():
                coefficient, factors = expr.as_coeff_matrices()
                if len(factors) != 1:
                    raise self._unknown(expr)
                inner = self._entry(factors[0])
                if coefficient == -1:
                    return f"-{self._factor(inner)}", _SUM
                return self._times((self.number(coefficient), inner)), _PRODUCT
            case Spread(vector=vector, axis=axis):
                line = vector.arg if isinstance(vector, sympy.Transpose) else vector
                return f"{self._atom(self.matrix(line))}[{'i' if axis == 1 else 'j'}]", _ATOM
            case _ if expr.shape == (1, 1):
                return self.matrix(expr)
            case sympy.Transpose(arg=inner):
                return f"{self._atom(self.matrix(inner))}[j,i]", _ATOM
            case sympy.MatrixSymbol() | Head():
                return f"{self._atom(self.matrix(expr))}[i,j]", _ATOM
        raise self._unknown(expr)

    def _test(self, test: sympy.Basic) -> str:
        """A test of places."""
        sign = _COMPARED.get(type(test))
        if sign is not None:
            left, right = (self.number(named(side))[0] for side in test.args)
            return f"{left} {sign} {right}"
        match test:
            case sympy.Not(args=(inner,)):
                return f"not ({self._test(inner)})"
            case sympy.And(args=tests) | sympy.Or(args=tests):
                word = "and" if isinstance(test, sympy.And) else "or"
                return f" {word} ".join(f"({self._test(one)})" for one in tests)
        raise CannotSpell(f"{test} cannot be written in equations")


class _Writer(_Entries):
    """Writes the lines of one derivation."""

    def numbered(self) -> list[str]:
        """A line that says how many heads and groups there are, where that is known."""
        counts = dict.fromkeys(self.counts)  # groups are not said where they are all heads
        known = zip(COUNTS, counts, strict=False)
        said = [f"{name} = {count}" for name, count in known if str(count).isdigit()]
        return [";  ".join(said)] if said else []

    def shape(self, item: Input) -> str:
        """A line that says the shape of an input."""
        if item.is_number:
            return f"{item.letter} : number"
        rows, columns = map(self.size, item.shape)
        return f"{self._item(item)} : {rows} × {columns}"

    def of(self, item: Item) -> _Writer:
        """What writes a matrix by the index of its family: h for heads, g for groups."""
        heads, groups = self.counts
        count = self._count(item)
        grouped = count is not None and count == groups != heads
        return replace(self, own=item.each or ("g" if grouped else "h"))

    def _item(self, item: Item) -> str:
        """The letter of an item with that index."""
        return f"{item.letter}[{self.own}]" if item.per_head else item.letter

    def equation(self, step: Step, made: list[Step]) -> list[str]:
        """The equation of a step, below its heading; with the reason, where that is its own."""
        fitted = any(
            isinstance(part, Sinusoidal) and not part.rows.is_Symbol
            for part in sympy.preorder_traversal(step.expr)
        )
        shapes = [f"{step.letter} : {' × '.join(map(self.size, step.shape))}"] if fitted else []
        word = "" if step.name == step.letter else f"{step.name} "
        item, expr = self._item(step), step.expr
        match expr:
            case Recurrence(matrix=body, start=start):
                if start != sympy.MatrixSymbol(f"{step.letter}_0", *start.shape):
                    first = "0" if isinstance(start, sympy.ZeroMatrix) else self.matrix(start)[0]
                    shapes.append(f"{step.letter}[0] = {first}")
                right = self.matrix(body)[0]
            case ByEntries(matrix=inner):
                item, right = f"{item}[i,j]", self._cases(inner)
            case Concat(args=(body, index, _, axis)) if axis == 0 and index == HEAD:
                row = step.each or self._free("tsr")
                item, right = f"{item}[{row},:]", replace(self, own=row).matrix(body)[0]
            case _:
                right = self.matrix(expr)[0]
        line = f"{word}{item} = {right}"
        _, reason = composed(step.expr, made)
        own = step.reason and step.because != reason
        said = f"{line}  # {step.because}" if own and "{" not in step.because else line
        return [*shapes, said]

    def functions(self) -> list[str]:
        """A line for each function of one's own, those that others call above them."""
        found: dict[str, str] = {}

        def add(expr: sympy.Basic) -> None:
            for part in sympy.postorder_traversal(expr):
                if not isinstance(part, Applied) or part.formula.name in found:
                    continue
                formula = part.formula
                letters = [NumberSymbol(letter) for letter in formula.arguments]
                meaning = formula.make(*letters, *part.args[1 + len(letters) :])
                add(meaning)
                left = f"{formula.name}({', '.join(formula.arguments)})"
                found[formula.name] = f"{left} = {self._cases(meaning)}"

        for step in self.derivation.steps:
            add(step.expr)
        return [*found.values()]


#: Functions of numbers in SymPy, and comparisons, by what is written for them.
_OF_NUMBERS: Mapping[type[sympy.Basic], str] = {
    **ELEMENTARY,
    **{sympy.Abs: "abs", sympy.floor: "floor", sympy.ceiling: "ceil", sympy.Mod: "mod"},
    **{sympy.Min: "min", sympy.Max: "max"},
}
_COMPARED: Mapping[type[sympy.Basic], str] = {
    **{sympy.Le: "<=", sympy.Lt: "<", sympy.Ge: ">=", sympy.Gt: ">"},
    **{sympy.Eq: "==", sympy.Ne: "!="},
}
