"""Matrix expressions that people write, read into a small tree and never run as code.

::

    expression = ["-"] part (("+" | "-") part)*
    part       = product (("∘" | "⊙" | ".*" | "⊘" | "./") product)*      entry by entry
    product    = power (("*" | "·" | "×" | "@" | "/" | nothing) power)*  from left to right
    power      = atom (".T" | "ᵀ" | "^T" | "⁻¹" | "^-1" | "⁻ᵀ" | "^-T" | "^" number)*
    atom       = number | name | function "(" expression ("," expression)* ")"
               | "(" expression ")" | "[" row (";" row)* "]"
    row        = expression ("," expression)*

``e^x`` is ``exp(x)``. A name is a letter, digits, a subscript, a prime: ``Q K1 W_Q W_{QK} W_Q' θ``;
letters written together are a product (``QK^T``), unless the name is declared. ``I`` is the
identity, a ``1`` that is transposed, stands behind a matrix or before a small letter (``A 1``,
``1 c^T``) is a column of ones (as is ``ones``), and a number, scalar, column or row that is added
to a matrix is added to every entry, column or row. The functions are in `FUNCTIONS`. Length,
depth and numbers are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from symattn.errors import ReadError, nearest, shown

MAX_LENGTH, MAX_DEPTH, MAX_POWER = 2000, 40, 64


@dataclass(frozen=True)
class Number:
    """A rational number; `vector` if it is a 1 that stands for a column of ones."""

    value: Fraction
    vector: bool = False


@dataclass(frozen=True)
class Name:
    """A matrix, a vector, a scalar or a size."""

    name: str


@dataclass(frozen=True)
class Call:
    """A function of expressions, by its name in `FUNCTIONS`."""

    name: str
    args: tuple[Tree, ...]


@dataclass(frozen=True)
class Apart:
    """An operation on parts: + * ∘ ⊘ / T inv neg ^."""

    sign: str
    parts: tuple[Tree, ...]
    exponent: Fraction = Fraction(1)


Tree = Number | Name | Call | Apart

#: Spellings of functions: what people write, and what it is.
FUNCTIONS: dict[str, str] = {
    "softmax": "softmax", "rowsoftmax": "softmax", "softmax_rows": "softmax",
    "colsoftmax": "colsoftmax", "softmax_cols": "colsoftmax", "softmax_columns": "colsoftmax",
    "softmax1": "softmax1", "softmax_1": "softmax1", "ratio": "ratio", "rownorm": "ratio",
    "sparsemax": "sparsemax", "hardmax": "hardmax",
    "exp": "exp", "log": "ln", "ln": "ln", "sqrt": "√", "√": "√", "tanh": "tanh",
    "sigmoid": "σ", "σ": "σ", "cos": "cos", "sin": "sin", "relu": "max0", "abs": "abs",
    "rowsum": "rowsum", "colsum": "colsum", "rowsums": "rowsum", "colsums": "colsum",
    "sum": "sum", "rowmean": "rowmean", "colmean": "colmean", "mean": "colmean",
    "diag": "diag", "concat": "beside", "hstack": "beside", "beside": "beside",
    "vstack": "below", "stack": "below", "below": "below",
    "transpose": "T", "inv": "inv", "inverse": "inv",
    "unit": "unit", "normalize": "unit", "normalise": "unit", "dist2": "dist2",
    "softcap": "softcap", "rotary": "rotary", "causal": "causal", "norm2": "norm2",
}  # fmt: skip

#: How many arguments a function takes, where that is not one.
ARITY: dict[str, tuple[int, int]] = {
    "beside": (1, 16), "below": (1, 16), "dist2": (2, 2), "softcap": (2, 2), "softmax": (1, 2),
    "causal": (0, 0),
}  # fmt: skip

_GREEK = "α-ωΑ-Ω"
_SUB = r"(?:_(?:[A-Za-z0-9]+|\{[A-Za-z0-9,]+\}))?"
_UP = r"(?:[-−]1|[-−]T|T|⊤)"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<number>[0-9]+(?:\.[0-9]+)?)
    | (?P<turn>\.T(?![A-Za-z])|ᵀ|⊤|⁻¹|⁻ᵀ|\^(?:{_UP}(?![0-9])|\{{{_UP}\}}|\({_UP}\)))
    | (?P<name>√|[A-Za-z{_GREEK}][A-Za-z0-9{_GREEK}]*{_SUB}'?)
    | (?P<sign>\.\*|\./|\*\*|[-−+*·×⋅@/^()\[\],;=∘⊙⊘{{}}])
    )""",
    re.VERBOSE,
)
_ONE_NAME = re.compile(rf"(?:d[A-Z]|[A-Za-z{_GREEK}][0-9]*){_SUB}'?")
_SAME = {"−": "-", "·": "*", "×": "*", "⋅": "*", "@": "*", "⊙": "∘", ".*": "∘", "./": "⊘",
         "**": "^"}  # fmt: skip
_AXES = {"columns", "cols", "column", "axis0", "rows", "axis1"}


def read(text: str, declared: Collection[str] = ()) -> Tree:
    """The tree of one expression. Raises `ReadError` for what is none.

    >>> read("Q K^T")
    Apart(sign='*', parts=(Name(name='Q'), Apart(sign='T', parts=(Name(name='K'),), exponent=\
Fraction(1, 1))), exponent=Fraction(1, 1))
    """
    if not isinstance(text, str):
        raise ReadError(f"{shown(text)} is not a text")
    if len(text) > MAX_LENGTH:
        raise ReadError(f"{len(text)} characters are too many; write {MAX_LENGTH} at most")
    cleaned = _plain(text)
    try:
        return _Reader(list(_tokens(cleaned, declared))).read()
    except ReadError as error:
        raise ReadError(f"{shown(text)} cannot be read: {error}") from None


def sides(text: str) -> list[str]:
    """The sides of an equation: one, or two around the sign of equality.

    >>> sides("softmax(S) 1 = 1")
    ['softmax(S) 1', '1']
    """
    depth, at = 0, []
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "=" and depth == 0:
            at.append(place)
    if len(at) != 1:
        return [text]
    (place,) = at
    left = text[: place - 1] if text[place - 1 : place] == "=" else text[:place]
    return [left.strip(), text[place + 1 :].strip()]


def _plain(text: str) -> str:
    """LaTeX's spellings as plain ones."""
    for old, new in (
        ("\\top", "T"), ("\\mathsf{T}", "T"), ("\\intercal", "T"), ("\\cdot", "*"),
        ("\\circ", "∘"), ("\\odot", "∘"), ("\\mathbf{1}", "ones"), ("\\sqrt", "sqrt"),
        ("\\operatorname{softmax}", "softmax"), ("\\mathrm{softmax}", "softmax"),
        ("𝟏", "ones"), ("𝟙", "ones"), ("\\left", ""), ("\\right", ""), ("\\,", " "), ("\\", ""),
        ("axis=0", "axis0"), ("axis = 0", "axis0"), ("dim=0", "axis0"), ("axis=1", "axis1"),
        ("dim=1", "axis1"), ("axis=-1", "axis1"), ("dim=-1", "axis1")
    ):  # fmt: skip
        text = text.replace(old, new)
    return text


def _tokens(text: str, declared: Collection[str]) -> Iterator[tuple[str, str]]:
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ReadError(f"{shown(text[position : position + 12].strip())} has no meaning here")
        position = match.end()
        kind, token = str(match.lastgroup), match[match.lastgroup or 0]
        if kind == "name":
            yield from _names(token, declared)
        elif kind == "sign":
            yield "sign", _SAME.get(token, token)
        elif kind == "turn":
            inverse = "1" in token or "¹" in token
            both = ("-" in token or "−" in token or "⁻" in token) and not inverse
            yield "turn", "inv" if inverse else "invT" if both else "T"
        else:
            yield kind, token


def _names(token: str, declared: Collection[str]) -> Iterator[tuple[str, str]]:
    """One name, or letters written together, which are a product."""
    clean = token.replace("{", "").replace("}", "").replace(",", "")
    if clean in FUNCTIONS or clean in declared or clean in _AXES or clean == "ones":
        yield "name", clean
        return
    position = 0
    while position < len(token):
        rest = token[position:]
        word = next((w for w in sorted((*FUNCTIONS, "ones"), key=len, reverse=True)
                     if len(w) > 3 and rest.startswith(w)), None)  # fmt: skip
        match = _ONE_NAME.match(token, position)
        if word is None and match is None:
            raise ReadError(f"{shown(rest)} is no name{nearest(clean, FUNCTIONS)}")
        found = word if word is not None else match[0]  # type: ignore[index]
        if found != token and position == 0 and len(clean) > 3 and clean.islower():
            raise ReadError(f"{shown(clean)} is no function{nearest(clean, FUNCTIONS)}")
        position += len(found)
        yield "name", found.replace("{", "").replace("}", "").replace(",", "")


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.position, self.depth = tokens, 0, 0

    def read(self) -> Tree:
        if not self.tokens:
            raise ReadError("nothing is written")
        out = self._sum()
        if self.position < len(self.tokens):
            raise ReadError(f"{shown(self._next()[1])} is left over")
        return out

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.position] if self.position < len(self.tokens) else ("end", "")

    def _next(self) -> tuple[str, str]:
        token = self._peek()
        self.position += 1
        return token

    def _take(self, *signs: str) -> str | None:
        kind, token = self._peek()
        if kind == "sign" and token in signs:
            self.position += 1
            return token
        return None

    def _sum(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ReadError(f"brackets are nested too deep; {MAX_DEPTH} at most")
        parts = [self._signed()]
        while sign := self._take("+", "-"):
            part = self._signed()
            parts.append(Apart("neg", (part,)) if sign == "-" else part)
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Apart("+", tuple(parts))

    def _signed(self) -> Tree:
        if self._take("-"):
            return Apart("neg", (self._entrywise(),))
        self._take("+")
        return self._entrywise()

    def _entrywise(self) -> Tree:
        out = self._product()
        while sign := self._take("∘", "⊘"):
            out = Apart(sign, (out, self._product()))
        return out

    def _product(self) -> Tree:
        out = self._power()
        kind, token = self._peek()
        small = kind == "name" and token[0].islower() and token not in FUNCTIONS
        if out == Number(Fraction(1)) and small:  # 1 cᵀ: a column of ones
            out = Number(Fraction(1), vector=True)
        while True:
            if self._take("*"):
                minus = self._take("-")
                factor = self._power()
                out = _times(out, Apart("neg", (factor,)) if minus else factor)
            elif self._take("/"):
                out = Apart("/", (out, self._power()))
            elif self._begins():
                part = self._power()
                if part == Number(Fraction(1)) and not isinstance(out, Number):
                    part = Number(Fraction(1), vector=True)
                out = _times(out, part)
            else:
                return out

    def _begins(self) -> bool:
        kind, token = self._peek()
        return kind in ("number", "name") or (kind == "sign" and token in "([")

    def _power(self) -> Tree:
        out = self._atom()
        while True:
            kind, token = self._peek()
            if kind == "turn":
                self.position += 1
                if out == Number(Fraction(1)):
                    out = Number(Fraction(1), vector=True)
                out = Apart("inv", (out,)) if token.startswith("inv") else out
                out = Apart("T", (out,)) if token.endswith("T") else out
            elif self._take("^"):
                out = self._raised(out)
            else:
                return out

    def _raised(self, base: Tree) -> Tree:
        if base == Name("e"):
            return Call("exp", (self._atom(),))
        bracket = self._take("(", "{")
        negative = bool(self._take("-"))
        kind, token = self._next()
        if kind != "number":
            raise ReadError("an exponent is a number: A^2, A^T, A^-1, x^(1/2)")
        exponent = Fraction(Decimal(token))
        if bracket and self._take("/"):
            exponent /= Fraction(Decimal(self._next()[1]))
        if bracket and not self._take(")", "}"):
            raise ReadError("a bracket of an exponent is not closed")
        if exponent > MAX_POWER or exponent.denominator > MAX_POWER:
            raise ReadError(f"keep exponents to {MAX_POWER}")
        return Apart("^", (base,), -exponent if negative else exponent)

    def _atom(self) -> Tree:
        kind, token = self._next()
        if kind == "number":
            if len(token) > 60:
                raise ReadError("a number has too many digits; 60 at most")
            return Number(Fraction(Decimal(token)))
        if kind == "name":
            return self._named(token)
        if kind == "sign" and token in ("(", "{"):
            out = self._sum()
            if not self._take(")", "}"):
                raise ReadError("a bracket is not closed")
            return out
        if kind == "sign" and token == "[":
            return self._blocks()
        raise ReadError(f"{shown(token)} is out of place" if token else "it ends too early")

    def _named(self, token: str) -> Tree:
        if token == "ones":
            return Number(Fraction(1), vector=True)
        if token not in FUNCTIONS:
            return Name(token)
        name = FUNCTIONS[token]
        least, most = ARITY.get(name, (1, 1))
        if not self._take("(", "{"):
            if least == 0:
                return Call(name, ())
            if name == "√":
                return Call(name, (self._power(),))
            if name == "σ":  # the letter, where nothing follows that it could be applied to
                return Name(token)
            raise ReadError(f"{token} needs brackets: {token}(…)")
        args: list[Tree] = []
        if least > 0 or self._peek() not in (("sign", ")"), ("sign", "}")):
            args.append(self._sum())
            while self._take(","):
                args.append(self._sum())
        if not self._take(")", "}"):
            raise ReadError(f"the bracket of {token} is not closed")
        if name == "softmax" and len(args) == 2:
            return self._along(args)
        if not least <= len(args) <= most:
            raise ReadError(f"{token} takes {least} argument{'s' * (least != 1)}")
        return Call(name, tuple(args))

    def _along(self, args: list[Tree]) -> Tree:
        axis = args[1].name if isinstance(args[1], Name) else ""
        if axis not in _AXES:
            raise ReadError("softmax(S), softmax(S, columns) or softmax(S, axis=0)")
        return Call("softmax" if axis in ("rows", "axis1") else "colsoftmax", (args[0],))

    def _blocks(self) -> Tree:
        """[A, B; C, D]: blocks beside and below one another; [A B] is beside too."""
        start = self.position
        rows = [self._beside()]
        while self._take(";"):
            rows.append(self._beside())
        if not self._take("]"):
            raise ReadError("a square bracket is not closed")
        together = [row for row in rows if self._written_together(row, start)]
        if len(rows) > 1 and together:
            raise ReadError("among blocks below one another write A, B for beside or A*B")
        if together:
            (only,) = together
            assert isinstance(only, Apart)
            return Call("beside", only.parts)
        return rows[0] if len(rows) == 1 else Call("below", tuple(rows))

    def _beside(self) -> Tree:
        cells = [self._sum()]
        while self._take(","):
            cells.append(self._sum())
        return cells[0] if len(cells) == 1 else Call("beside", tuple(cells))

    def _written_together(self, row: Tree, start: int) -> bool:
        """Whether names stand side by side, which is no product among blocks: [A B]."""
        starred = ("sign", "*") in self.tokens[start : self.position]
        names = isinstance(row, Apart) and row.sign == "*" and all(
            isinstance(part, Name) for part in row.parts
        )  # fmt: skip
        return names and not starred


def _times(one: Tree, other: Tree) -> Tree:
    parts = one.parts if isinstance(one, Apart) and one.sign == "*" else (one,)
    return Apart("*", (*parts, other))
