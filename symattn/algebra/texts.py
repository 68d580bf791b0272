"""Forms and polynomials as text, as they stand in the steps of a certificate, and their order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from symattn.algebra.forms import Form, Refused, Term, form, number, plus_form
from symattn.errors import quote


class Atom(NamedTuple):
    """What a polynomial is made of: an entry, a sum, e to a product, a function and the like.

    `name` is that of a letter, a number or a function; `places` are forms, as row and column of an
    entry. Indices are `bound` below a size each, and the terms of a polynomial stand within.
    """

    kind: str
    name: Any = ""
    places: tuple[Form, ...] = ()
    bound: tuple[tuple[str, Form], ...] = ()
    terms: frozenset[tuple[frozenset[tuple[Any, Fraction]], Fraction]] = frozenset()

    @property
    def mono(self) -> Mono:
        """The product that is summed, or that e is taken to."""
        ((mono, _),) = self.terms
        return mono


Mono = frozenset[tuple[Atom, Fraction]]


Poly = dict[Mono, Fraction]


#: Atoms and their powers, in an order that is always the same.
Factors = list[tuple[Atom, Fraction]]


#: The terms of a polynomial, as they stand in atoms.
Items: TypeAlias = frozenset[tuple[Mono, Fraction]]


def term_text(term: Term) -> str:
    """A term of a form as text; that of the number 1 is empty."""
    match term:
        case ("⌊⌋", _, below, top):
            return f"⌊({form_text(top)})/({form_text(below)})⌋"
        case ("π", name, back, at):
            return f"{name}{'⁻¹' if back else ''}({form_text(at)})"
    return str(term)


@lru_cache(maxsize=65536)
def form_text(one: Form) -> str:
    """A form as text, and in the order of texts, the number last: n - l - 1."""
    text = ""
    for name, c in sorted(((term_text(a), c) for a, c in one), key=lambda row: (not row[0], row)):
        sign = (" - " if c < 0 else " + ") if text else "-" * (c < 0)
        text += sign + str(abs(c)) * (abs(c) != 1 or not name) + name
    return text or "0"


def atoms_of(mono: Mono) -> Factors:
    """The factors of a monomial in an order that is always the same."""
    return sorted(mono, key=lambda pair: spelled(pair[0]))


def terms_of(poly: Poly) -> list[tuple[Mono, Fraction]]:
    """The terms of a polynomial in an order that is always the same."""
    return (
        sorted(poly.items(), key=lambda pair: mono_text(pair[0]))
        if len(poly) > 1
        else [*poly.items()]
    )


@lru_cache(maxsize=65536)
def spelled(atom: Atom) -> str:
    """An atom as a text, the same for equal ones."""
    match atom:
        case Atom("entry", name, (i, j)):
            return f"{name}[{form_text(i)}, {form_text(j)}]"
        case Atom("entry", name, (i, j, head)):
            one = form_text(plus_form(head, number(1)))
            return f"{name}[{one}][{form_text(i)}, {form_text(j)}]"
        case Atom("index", places=(at,)):
            return form_text(at)
        case Atom("δ", places=(one, other)):
            return f"[{form_text(one)} = {form_text(other)}]"
        case Atom("exp"):
            return f"e^({mono_text(atom.mono)})"
        case Atom("sum"):
            return f"Σ_{{{bound_text(atom.bound)}}} {mono_text(atom.mono)}"
        case Atom("line", name):
            return f"{name}_{{{bound_text(atom.bound)}}}({text_of(dict(atom.terms))})"
        case Atom("first", places=(at,)):
            return f"[{form_text(at)} = {spelled(atom._replace(kind='line', places=()))}]"
        case Atom("poly" | "fn", name):
            return f"{name}({text_of(dict(atom.terms))})"
    return str(atom.name)


def bound_text(bound: Iterable[tuple[str, Form]]) -> str:
    """Indices and the sizes below which they run."""
    return ", ".join(f"{name}<{form_text(size)}" for name, size in bound)


def mono_text(mono: Mono) -> str:
    """A monomial as text."""
    words = []
    for atom, p in atoms_of(mono):
        word = spelled(atom)
        word = f"({word})" if atom.kind == "sum" else word
        words.append(word if p == 1 else f"{word}^({p})")
    return " ".join(words) or "1"


def text_of(poly: Poly) -> str:
    """A polynomial as text."""
    words = []
    for mono, c in terms_of(poly):
        word = mono_text(mono)
        words.append(str(c) if not mono else word if c == 1 else f"{c} {word}")
    return " + ".join(words) or "0"


def brief(text: str) -> str:
    """A text as it stands in a trace: a long one is cut off and ends with its digest."""
    if len(text) <= 400:
        return text
    return f"{text[:300]}… {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def range_text(size: Form) -> str:
    """The range of an index as it stands in a trace."""
    return f"0 … {form_text(size)} - 1"


_NAME = r"(?:[#+]|[^\W\d])[^\s·()⌊⌋]*"

_TERM = re.compile(rf"([+-] ?)?([0-9]{{0,9}})({_NAME}(?:·{_NAME})*)?")


def read_form(text: str) -> Form:
    """A linear form, as `form_text` writes it and in no other way: n - 1, not -1 + n."""
    out: list[tuple[Term, int]] = []
    for word in re.split(r" (?=[+-] )", text):
        sign, c, atom = getattr(_TERM.fullmatch(word), "groups", tuple)("") or ("", "0", "")
        atom = "·".join(sorted(atom.split("·")))
        out.append((atom, int(c or 1) * (-1 if sign.startswith("-") else 1)))
    one = form(out)
    if form_text(one) != text:
        raise Refused(f"{quote(text)} is not how a linear form is written")
    return one


def read_number(text: str) -> Fraction:
    """A rational number in lowest terms: -1/2, not 2/-4 or 0.5."""
    found = re.fullmatch(r"-?[0-9]{1,60}(/[0-9]{1,60})?", text) and not re.search(r"/0+$", text)
    if not found or str(Fraction(text)) != text:
        raise Refused(f"{quote(text)} is not how a number is written")
    return Fraction(text)
