"""Linear forms over sizes and indices: the ranges of indices, and the places of entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import product as product_
from typing import Any, TypeAlias

import sympy

from symattn.budget import spend
from symattn.errors import SymattnError
from symattn.nodes import rule as r
from symattn.nodes.positions import IndexNumber

#: A form over sizes and indices: of a product d·h, a place π(l) or a quotient; "" is the number 1.
Form = tuple[tuple["Term", int], ...]


#: What a form is made of: the name of an index, a size or a product, or a tuple for the others.
Term: TypeAlias = Any


#: The forms that the indices of a rule are.
Env: TypeAlias = Mapping[sympy.Symbol, Form]


class Refused(SymattnError):
    """The certificate is no proof; the message says what fails."""


class Need(Refused):
    """Something is not the same for all indices, or all sizes, at hand; a finer proof may be."""


class Half(Need):
    """A size has to be even."""

    def __init__(self, size: str) -> None:
        super().__init__(f"{size} is not said to be even")
        self.size = size


def form(pairs: Iterable[tuple[Term, int]]) -> Form:
    """The linear form of these terms: what all work of a proof is made of, and counted by."""
    spend()
    out: dict[Term, int] = {}
    for atom, c in pairs:
        out[atom] = out.get(atom, 0) + c
    return tuple(sorted(((a, c) for a, c in out.items() if c), key=str))


def number(value: int) -> Form:
    """A whole number as a form."""
    return form([("", value)])


def variable(name: str) -> Form:
    """An index or size as a form."""
    return ((name, 1),)


def plus_form(one: Form, other: Form, times: int = 1) -> Form:
    """One + times · other."""
    return form([*one, *((atom, c * times) for atom, c in other)])


def factors_of(atom: str) -> list[str]:
    """The sizes and indices of a product d·h."""
    return atom.split("·") if atom else []


def times_form(one: Form, other: Form) -> Form:
    """The product of two forms. Raises `Refused` for one of a place or a quotient."""
    out = []
    for (a, c), (b, k) in product_(one, other):
        if a and b and not (isinstance(a, str) and isinstance(b, str)):
            raise Refused("a product with a permuted index or a quotient")
        atom = (a or b) if not a or not b else "·".join(sorted(factors_of(a) + factors_of(b)))
        out.append((atom, c * k))
    return form(out)


def quotient_form(top: Form, below: Form) -> tuple[Form, Form]:
    """The terms of a form that a product of sizes divides, over that, and the others.

    By a number, all terms are divided, and the others are the remainders.
    """
    ((width, c),) = below if len(below) == 1 else (("", 0),)
    if width == "" and c > 0:
        quotient = form((atom, k // c) for atom, k in top)
        return quotient, plus_form(top, quotient, -c)
    if c != 1 or not isinstance(width, str):
        return (), top
    apart, rest, wanted = [], [], Counter(factors_of(width))
    for atom, k in top:
        given = Counter(factors_of(atom) if isinstance(atom, str) else ())
        if wanted <= given:
            apart.append(("·".join(sorted((given - wanted).elements())), k))
        else:
            rest.append((atom, k))
    return form(apart), form(rest)


def is_permuted(one: Form) -> bool:
    """Whether a form is π(x) or π⁻¹(x) and nothing else."""
    return len(one) == 1 and one[0][1] == 1 and one[0][0][:1] == ("π",)


def place(name: str, at: Form, back: int) -> Form:
    """Where a permutation, or its inverse, takes an index."""
    if is_permuted(at):
        _, other, turned, inner = at[0][0]
        if other == name and turned != back:
            return inner  # type: ignore[no-any-return]
    return ((("π", name, back, at), 1),)


def put(one: Form, values: Mapping[str, Form]) -> Form:
    """A form with forms put in for indices."""
    out: list[tuple[Term, int]] = []
    for atom, c in one:
        if isinstance(atom, str):
            factors = (values.get(factor, variable(factor)) for factor in factors_of(atom))
            value = reduce(times_form, factors, number(1))
        elif atom[0] == "π":
            value = place(atom[1], put(atom[3], values), atom[2])
        else:
            value = (((*atom[:2], put(atom[2], values), put(atom[3], values)), 1),)
        out += [(a, c * k) for a, k in value]
    return form(out)


def names(one: Form) -> frozenset[str]:
    """The indices of a form."""
    out: set[str] = set()
    for atom, _ in one:
        if isinstance(atom, str):
            out |= {factor for factor in factors_of(atom) if factor[:1] in ("#", "_")}
        else:
            out |= names(atom[3]) | (names(atom[2]) if atom[0] == "⌊⌋" else set())
    return frozenset(out)


#: Gives quotient and remainder of two forms; None for a remainder that is not known.
Divided: TypeAlias = Callable[[Form, Form], tuple[Form, Form | None]]


def linear(index: r.Index, env: Env, divided: Divided | None = None) -> Form:
    """A SymPy index or size as a linear form; `divided` gives quotient and remainder."""
    if isinstance(index, int):
        return number(index)
    match index:
        case sympy.Integer():
            return number(int(index))
        case sympy.Symbol() if index in env:
            return env[index]
        case sympy.Symbol() if index.is_integer and index.is_nonnegative:
            return variable(index.name)
        case sympy.Add():
            return form(pair for term in index.args for pair in linear(term, env, divided))
        case sympy.Mul(args=(sympy.core.numbers.Half(), sympy.Symbol(name=name))):
            raise Half(name)
        case sympy.Mul():
            factors = (linear(factor, env, divided) for factor in index.args)
            return reduce(times_form, factors, number(1))
        case sympy.floor() if divided:
            above, below = index.args[0].as_numer_denom()
            quotient, _ = divided(linear(above, env, divided), linear(below, env, divided))
            return quotient
        case sympy.Mod() if divided:
            _, rest = divided(*(linear(part, env, divided) for part in index.args))
            if rest is None:
                raise Refused("a remainder that is not known")
            return rest
        case IndexNumber():
            return linear(index.args[0], env, divided)
    raise Refused(f"the index {str(index)[:60]} is not linear")
