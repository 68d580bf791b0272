"""Worked lines, read back from their text and worked out again by other means.

The grammar is that of the printed text, not of symattn's trees; numbers are fractions as long as
they can be, and mpmath's with 60 digits after that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import isqrt
from typing import Any, TypeAlias

import mpmath

#: A fraction where the number is one, otherwise an mpmath number (infinities too).
Value: TypeAlias = Any

DIGITS = 60

_TOKEN = re.compile(
    r"\s*(?P<number>\d+(?:\.\d+)?)|\s*(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)(?!⁾)"
    r"|\s*(?P<function>√|(?:tanh|cos|sin|erf|min|max|argmax|elu|ln|σ|τ_2|τ)(?![\w^⁽]))"
    r"|\s*(?P<sign>[-+−·/^(),∞]|e(?=[\^⁰¹²³⁴⁵⁶⁷⁸⁹])|π)|\s*(?P<name>[^\W\d](?:[^\s·/(),+−]|(?<=\d),(?=\d))*)"
)
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def _real(x: Value) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else x


def _root(x: Value) -> Value:
    if isinstance(x, Fraction):
        root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
        if root * root == x:
            return root
    return mpmath.sqrt(_real(x))


def _exp(x: Value) -> Value:
    return Fraction(1) if x == 0 else Fraction(0) if x == -mpmath.inf else mpmath.exp(_real(x))


def _sigmoid(x: Value) -> Value:
    power = _exp(-x)
    return Fraction(0) if power == mpmath.inf else 1 / (1 + power)


def _threshold(*row: Value) -> Value:
    seen = sorted((x for x in row if x != -mpmath.inf), key=_real, reverse=True)
    levels = [_over(_plus(*seen[:k], Fraction(-1)), Fraction(k)) for k in range(1, len(seen) + 1)]
    return max(levels, key=_real, default=Fraction(0))


def _square_threshold(*row: Value) -> Value:
    """The τ with Σ max(0, x − τ)² = 1, found by halving; 0 of a row without keys."""
    seen = [_real(x) for x in row if x != -mpmath.inf]
    if not seen:
        return Fraction(0)
    low, high = max(seen) - 1, max(seen)
    for _ in range(4 * DIGITS):
        middle = (low + high) / 2
        above = sum(max(0, x - middle) ** 2 for x in seen) > 1
        low, high = (middle, high) if above else (low, middle)
    return low


def _plus(*terms: Value) -> Value:
    if all(isinstance(term, Fraction) for term in terms):
        return sum(terms, Fraction(0))
    return mpmath.fsum(map(_real, terms))


def _times(a: Value, b: Value) -> Value:
    if 0 in (a, b):
        return Fraction(0)
    return a * b if isinstance(a, Fraction) and isinstance(b, Fraction) else _real(a) * _real(b)


def _over(a: Value, b: Value) -> Value:
    return a / b if isinstance(a, Fraction) and isinstance(b, Fraction) else _real(a) / _real(b)


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "√": _root,
    "tanh": lambda x: mpmath.tanh(_real(x)) if x else Fraction(0),
    "cos": lambda x: mpmath.cos(_real(x)) if x else Fraction(1),
    "sin": lambda x: mpmath.sin(_real(x)) if x else Fraction(0),
    "erf": lambda x: mpmath.erf(_real(x)) if x else Fraction(0),
    "elu": lambda x: x if x >= 0 else _plus(_exp(x), Fraction(-1)),
    "ln": lambda x: mpmath.log(_real(x)),
    "σ": _sigmoid,
    "min": lambda *row: min(row, key=_real),
    "max": lambda *row: max(row, key=_real),
    "argmax": lambda *row: Fraction(max(range(len(row)), key=lambda k: _real(row[k])) + 1),
    "τ": _threshold,
    "τ_2": _square_threshold,
}


#: What is printed: ("number", text), ("name", text), (function or sign, what it is of, …).
Term: TypeAlias = tuple[Any, ...]


@dataclass
class _Reader:
    """Recursive descent: sum, product, power, atom."""

    tokens: list[tuple[str, str]]
    at: int = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def took(self, *signs: str) -> str:
        kind, text = self.peek()
        if kind == "sign" and text in signs:
            self.at += 1
            return text
        return ""

    def sum(self) -> Term:
        terms = [self.product()]
        while sign := self.took("+", "−", "-"):
            term = self.product()
            terms.append(term if sign == "+" else _negative(term))
        return ("+", *terms) if len(terms) > 1 else terms[0]

    def product(self) -> Term:
        if self.took("−", "-"):
            return _negative(self.product())
        factors = [self.power()]
        while True:
            if self.took("·"):
                factors.append(self.power())
            elif self.took("/"):
                factors = [("/", _product(factors), self.power())]
            elif self.peek()[0] in ("number", "function", "name") or self.peek()[1] in "e(π":
                if self.peek()[0] == "end":
                    return _product(factors)
                factors.append(self.power())
            else:
                return _product(factors)

    def power(self) -> Term:
        if self.peek() == ("sign", "e"):
            self.at += 1
            return ("exp", self.exponent())
        value = self.atom()
        if self.peek()[1] == "^" or self.peek()[0] == "power":
            return ("^", value, self.exponent())
        return value

    def exponent(self) -> Term:
        kind, text = self.peek()
        self.at += 1
        if kind == "power":
            return ("number", text.translate(_POWERS))
        assert text == "^"
        return self.atom()

    def atom(self) -> Term:
        kind, text = self.peek()
        self.at += 1
        if kind in ("number", "name"):
            return (kind, text)
        if kind == "function":
            if text == "√" and self.peek()[1] != "(":
                return (text, self.atom())
            return (text, *self.arguments())
        if text == "(":
            self.at -= 1
            (value,) = self.arguments()
            return value
        if text in "−-":
            return _negative(self.atom())
        assert text in ("∞", "π"), (text, self.tokens)
        return (text,)

    def arguments(self) -> list[Term]:
        assert self.took("(")
        values = [self.sum()]
        while self.took(","):
            values.append(self.sum())
        assert self.took(")")
        return values


def _negative(term: Term) -> Term:
    if term[0] != "number":
        return ("−", term)
    return ("number", term[1][1:] if term[1].startswith("-") else f"-{term[1]}")


def _product(factors: list[Term]) -> Term:
    """The factors; 5.03·10^(−7) is one number."""
    found: list[Term] = []
    for factor in factors:
        match [*found[-1:], factor]:
            case [("number", digits), ("^", ("number", "10"), ("number", power))]:
                found[-1] = ("number", f"{digits}e{power}")
            case _:
                found.append(factor)
    return found[0] if len(found) == 1 else ("·", *found)


def term_of(stage: str) -> Term:
    """What is printed, as it is put together."""
    tokens, at = [], 0
    while at < len(stage.rstrip()):
        match = _TOKEN.match(stage, at)
        assert match and match.lastgroup, f"{stage[at:]!r} in {stage!r}"
        tokens.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    reader = _Reader(tokens)
    term = reader.sum()
    assert reader.at == len(tokens), stage
    return term


def _value(term: Term, names: Mapping[str, Value]) -> Value:
    kind, *of = term
    if kind == "number":
        return _number(of[0])
    if kind == "name":
        return names[of[0]]
    if kind in ("∞", "π"):
        return mpmath.inf if kind == "∞" else +mpmath.pi
    values = [_value(part, names) for part in of]
    match kind:
        case "+":
            return _plus(*values)
        case "·":
            return reduce(_times, values)
        case "/":
            return _over(*values)
        case "−":
            return _times(Fraction(-1), values[0])
        case "exp":
            return _exp(values[0])
        case "^":
            base, exponent = values
            if exponent.denominator == 1 and isinstance(base, Fraction):
                return base ** int(exponent)
            return mpmath.power(_real(base), _real(exponent))
    return FUNCTIONS[kind](*values)


def _number(text: str) -> Value:
    power = text.partition("e")[2]
    return mpmath.mpf(text) if len(power) > 5 else Fraction(text)


def value_of(stage: str, names: Mapping[str, Value] | None = None) -> Value:
    """What the printed numbers come to; `names` says what letters stand for."""
    with mpmath.workdps(DIGITS):
        return _value(term_of(stage), names or {})


def breaks(before: Term, after: Term, names: Mapping[str, Value]) -> Iterator[str]:
    """The numbers of a stage that are not what the stage before it gives, to their last digit."""
    if before == after:
        return
    if after[0] == "number":
        try:
            with mpmath.workdps(DIGITS):
                value = _value(before, names)
                if not _rounds_to(value, after[1]):
                    yield f"{mpmath.nstr(_real(value), 15)} is shown as {after[1]}"
        except KeyError:
            return
    elif before[0] == after[0] == "+" and len(after) < len(before):
        if not _is_summed(before[1:], after[1:], names):
            yield f"no terms that follow one another sum to those of {after}"
    elif before[0] == after[0] and len(before) == len(after) and before[0] != "name":
        for one, other in zip(before[1:], after[1:], strict=True):
            yield from breaks(one, other, names)
    else:
        try:
            with mpmath.workdps(DIGITS):
                if not _equal(_value(before, names), _value(after, names)):
                    yield f"{before} became {after}"
        except KeyError:
            return


def _is_summed(terms: Term, sums: Term, names: Mapping[str, Value]) -> bool:
    """Whether neighbouring terms sum to the numbers shown for them: −4 − 2 + 1 ≈ −6 + 1."""
    if not sums:
        return not terms
    return any(
        not list(breaks(("+", *terms[:k]) if k > 1 else terms[0], sums[0], names))
        and _is_summed(terms[k:], sums[1:], names)
        for k in range(1, len(terms) + 1)
    )


def _rounds_to(value: Value, text: str) -> bool:
    """Whether a value is this decimal, rounded half-up to as many digits."""
    digits, _, power = text.partition("e")
    places = len(digits.partition(".")[2]) - int(power or 0)
    if mpmath.isinf(_real(value)):
        return False
    if abs(places) > 5000:
        off = abs(_real(value) - mpmath.mpf(text))
        return bool(off <= mpmath.mpf(10) ** -places * mpmath.mpf("0.500001"))
    return rounded(value, places) == Fraction(text)


def rounded(value: Value, places: int) -> Fraction:
    """Half-up, away from zero at ties."""
    with mpmath.workdps(DIGITS):
        if isinstance(value, Fraction):
            units = abs(value) * Fraction(10) ** places + Fraction(1, 2)
            whole = units.numerator // units.denominator
        else:
            half = mpmath.mpf(1) / 2 + mpmath.mpf(10) ** -40  # a tie of roots falls short of it
            whole = int(mpmath.floor(abs(value) * mpmath.mpf(10) ** places + half))
    return Fraction(whole if value >= 0 else -whole) / Fraction(10) ** places


def faults(line: str, digits: int, names: Mapping[str, Value]) -> Iterator[str]:
    """What is wrong with a worked line: stages that do not give its result, false signs ``=``.

    `names` holds what entries come to that a line may name; stages with others are not read.
    """
    line, _, because = line.partition(" since ")
    line = line.partition(" (no key")[0]
    if because:
        row, _, place = because.rpartition(" = ")
        largest = _read(row, names)
        if largest is not None and largest != value_of(place):
            yield f"{because}: the largest is number {largest}"
    links = re.split(r" ([=≈]) ", line)
    signs, stages = links[1::2], links[2::2]
    if any("⋯" in stage or "?" in stage for stage in stages):
        return
    values = [_read(stage, names) for stage in stages]
    for stage, value in zip(stages, values, strict=True):
        if value is None:
            continue
        if re.search("−0(?![.0-9])", stage.replace("−0·", "")):
            yield f"{stage}: there is no −0"
        if not _gives(value, values[-1], digits):
            yield f"{stage} gives {mpmath.nstr(_real(value), 12)}, not {stages[-1]}"
    for sign, before, after in zip(signs[1:], stages, stages[1:], strict=False):
        if sign == "≈":
            for fault in breaks(term_of(before), term_of(after), names):
                yield f"{before} ≈ {after}: {fault}"
    for sign, before, after in zip(signs[1:], values, values[1:], strict=False):
        if sign == "=" and None not in (before, after) and not _equal(before, after):
            yield f"{line}: an = between {before} and {after}"


def _read(stage: str, names: Mapping[str, Value]) -> Value | None:
    try:
        return value_of(stage, names)
    except KeyError:
        return None


def _gives(value: Value, result: Value, digits: int) -> bool:
    if result == -mpmath.inf or value == -mpmath.inf:
        return bool(value == result)
    size = len(str(abs(int(result))))
    if size > 16:  # in scientific notation
        return bool(abs(_real(value) / _real(result) - 1) < mpmath.mpf(10) ** -digits)
    return rounded(value, digits) == rounded(result, digits)


def _equal(a: Value, b: Value) -> bool:
    if a == b:
        return True
    with mpmath.workdps(DIGITS):
        return bool(abs(_real(a) - _real(b)) <= (1 + abs(_real(b))) * mpmath.mpf(10) ** -40)


def names_in(lines: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """The left sides of worked lines, and what they are."""
    return {line.split(" = ")[0].split(" ≈ ")[0]: value for line, value in lines}
