"""Laws of algebra and slips, a row each: a pattern of terms, and what takes its place.

A letter of a pattern stands for any term, the same one wherever it stands; one of a kind stands for
a letter of that kind. A row that would join sizes that differ is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from tests.fuzz.terms import (
    Loose,
    Term,
    add,
    again,
    below,
    beside,
    divided,
    entrywise,
    function,
    inverse,
    letter,
    mask,
    multiple,
    ones,
    product,
    subtract,
    turned,
    unit,
)

ENTRYWISE = ("exp", "tanh", "σ", "relu", "abs", "cos", "sin")

Row = tuple[Term, Term]


def _any(name: str) -> Term:
    return letter(name, "", "", "any")


def _of(kind: str, name: str = "x") -> Term:
    return letter(name, "", "", kind)


def _call(name: str, *parts: Term) -> Term:
    return function(name, *parts)


def _exp(part: Term) -> Term:
    return function("exp", part)


_A, _B, _C = map(_any, "abc")
_P, _HIDDEN, _LETTER = _of("permutation", "p"), mask("", ""), _of("letter")
#: Columns of ones as long as a row of `a` and as a column of it; a unit matrix as high.
_ALONG, _DOWN, _UNIT = ones("columns of a"), ones("rows of a"), unit("rows of a")
_HALF = multiple(Fraction(1, 2), _A)
_F, _G = _of("commuting", "F"), _of("commuting", "G")


def _of_functions() -> Iterator[Row]:
    """What holds of every function of entries, and of sums and differences alike."""
    for name in ENTRYWISE:
        yield turned(_call(name, _A)), _call(name, turned(_A))
        yield _call(name, product(_P, _A)), product(_P, _call(name, _A))
    for made in (add, subtract):
        yield product(_A, made(_B, _C)), made(product(_A, _B), product(_A, _C))
        yield product(made(_A, _B), _C), made(product(_A, _C), product(_B, _C))
        yield entrywise(_A, made(_B, _C)), made(entrywise(_A, _B), entrywise(_A, _C))
        yield turned(made(_A, _B)), made(turned(_A), turned(_B))
        yield _scaled(made(_A, _B)), made(_scaled(_A), _scaled(_B))


def _scaled(part: Term) -> Term:
    """A multiple by whatever number."""
    return Term("times", (part,), part.shape, number=Fraction(0))


#: Both ways round.
LAWS: tuple[Row, ...] = (
    *_of_functions(),
    (product(product(_A, _B), _C), product(_A, product(_B, _C))),
    (product(product(_A, _B), _C), product(_A, product(_B, _C))),
    (
        product(beside(_A, _B), below(_C, _any("d"))),
        add(product(_A, _C), product(_B, _any("d"))),
    ),
    (add(_A, _B), add(_B, _A)),
    (entrywise(_A, _B), entrywise(_B, _A)),
    (subtract(_A, _B), multiple(-1, subtract(_B, _A))),
    (product(_F, _G), product(_G, _F)),
    # transposes
    (turned(turned(_A)), _A),
    (turned(product(_A, _B)), product(turned(_B), turned(_A))),
    (turned(entrywise(_A, _B)), entrywise(turned(_A), turned(_B))),
    (turned(inverse(_A)), inverse(turned(_A))),
    (turned(_scaled(_A)), _scaled(turned(_A))),
    (turned(_call("softmax", _A)), _call("colsoftmax", turned(_A))),
    (turned(_call("rowsum", _A)), _call("colsum", turned(_A))),
    (turned(_of("symmetric")), _of("symmetric")),
    (turned(_of("skew")), multiple(-1, _of("skew"))),
    (turned(_P), inverse(_P)),
    # softmax
    (_call("softmax", _A), divided(_exp(_A), _call("rowsum", _exp(_A)))),
    (_call("softmax", product(_P, _A)), product(_P, _call("softmax", _A))),
    (_call("softmax", product(_A, _P)), product(_call("softmax", _A), _P)),
    (_call("softmax", below(_A, _B)), below(_call("softmax", _A), _call("softmax", _B))),
    (_call("softmax", add(_A, _HIDDEN)), _call("softmax", add(add(_A, _HIDDEN), _HIDDEN))),
    (
        _call("softmax", add(_A, _HIDDEN)),
        entrywise(_call("softmax", add(_A, _HIDDEN)), _exp(_HIDDEN)),
    ),
    # functions of entries
    (_exp(add(_A, _B)), entrywise(_exp(_A), _exp(_B))),
    (_exp(subtract(_A, _B)), entrywise(_exp(_A), _exp(multiple(-1, _B)))),
    (_exp(_A), entrywise(_exp(_HALF), _exp(_HALF))),
    (_call("tanh", _A), subtract(_call("σ", multiple(2, _A)), _call("σ", multiple(-2, _A)))),
    (_call("relu", _A), add(_A, _call("relu", multiple(-1, _A)))),
    (_call("relu", _A), multiple(Fraction(1, 2), add(_A, _call("abs", _A)))),
    (_call("abs", _A), add(_call("relu", _A), _call("relu", multiple(-1, _A)))),
    (
        _call("cos", add(_A, _B)),
        subtract(
            entrywise(_call("cos", _A), _call("cos", _B)),
            entrywise(_call("sin", _A), _call("sin", _B)),
        ),
    ),
    (
        _call("sin", add(_A, _B)),
        add(
            entrywise(_call("sin", _A), _call("cos", _B)),
            entrywise(_call("cos", _A), _call("sin", _B)),
        ),
    ),
    # sums and scales
    (_call("rowsum", _A), product(_A, _ALONG)),
    (_call("rowsum", product(_A, _B)), product(_A, _call("rowsum", _B))),
    (_call("rowsum", beside(_A, _B)), add(_call("rowsum", _A), _call("rowsum", _B))),
    (_call("colsum", _A), product(turned(_DOWN), _A)),
    (_call("colsum", product(_A, _B)), product(_call("colsum", _A), _B)),
    (product(_call("diag", _B), _A), entrywise(product(_B, turned(_ALONG)), _A)),
    (product(_call("diag", _B), _A), entrywise(product(turned(_B), turned(_ALONG)), _A)),
    (product(_A, _call("diag", _B)), entrywise(_A, product(_DOWN, _B))),
    (product(_A, _call("diag", _B)), entrywise(_A, product(_DOWN, turned(_B)))),
    (product(_of("projection"), _of("projection")), _of("projection")),
    *(
        (product(turned(_of(kind, "a")), _of(kind, "a")), unit("columns of a"))
        for kind in ("orthonormal", "permutation")
    ),
    (entrywise(_exp(_HIDDEN), _A), entrywise(_exp(_HIDDEN), entrywise(_exp(_HIDDEN), _A))),
)

_OTHERS = {
    "softmax": ("colsoftmax", "softmax1", "ratio"),
    "colsoftmax": ("softmax",),
    "softmax1": ("softmax",),
    "rowsum": ("rowmean",),
    "rowmean": ("rowsum",),
    "relu": ("abs",),
    "abs": ("relu",),
    "cos": ("sin",),
    "sin": ("cos",),
    "tanh": ("σ",),
    "σ": ("tanh",),
}
_SEEN = _of("seen", "a")

#: What somebody could write instead.
SLIPS: tuple[Row, ...] = (
    (add(_A, _B), subtract(_A, _B)),
    (subtract(_A, _B), add(_A, _B)),
    (add(_A, _B), _A),
    (subtract(_A, _B), _A),
    (turned(_A), _A),
    (inverse(_A), _A),
    (inverse(_A), turned(_A)),
    (inverse(_A), turned(inverse(_A))),
    (product(_A, _B), product(_B, _A)),
    (product(_A, _B), entrywise(_A, _B)),
    (product(entrywise(_A, _B), _C), entrywise(_A, product(_B, _C))),
    (product(_A, _B), _A),
    (product(_A, _B), _B),
    (entrywise(_A, _B), _A),
    (entrywise(_A, _B), _B),
    (entrywise(_A, product(_B, _C)), product(entrywise(_A, _B), _C)),
    (entrywise(_A, _B), product(_A, _B)),
    (entrywise(_A, _B), entrywise(_A, turned(_B))),
    (_scaled(_A), _A),
    (_scaled(_A), multiple(-1, _scaled(_A))),
    (_scaled(_A), multiple(2, _scaled(_A))),
    (_LETTER, turned(_LETTER)),
    (_LETTER, multiple(2, _LETTER)),
    (_UNIT, multiple(2, _UNIT)),
    (_ALONG, multiple(-1, _ALONG)),
    (beside(_A, _B), beside(_B, _A)),
    (below(_A, _B), below(_B, _A)),
    *((_call(name, _A), _call(other, _A)) for name in _OTHERS for other in _OTHERS[name]),
    *((_call(name, _SEEN), _SEEN) for name in _OTHERS),
    *((_call(name, _HIDDEN), turned(_call(name, _HIDDEN))) for name in ("exp", "softmax")),
    *((_call(name, _A), _call(name, turned(_A))) for name in ("rowsum", "softmax", "rowmean")),
    *(
        (_call(name, beside(_A, _B)), beside(_call(name, _A), _call(name, _B)))
        for name in ("softmax", "colsoftmax")
    ),
)


def finite(term: Term) -> bool:
    """Whether no entry is −∞: a product with such entries would have 0 · −∞."""
    if term.op == "call" and term.name in ("exp", "softmax"):
        return True
    return term.op != "causal" and all(map(finite, term.parts))


def _matches(pattern: Term, term: Term, found: dict[str, Term]) -> bool:
    """Whether a term is one of a pattern; what its letters stand for is put into `found`."""
    if pattern.op == "letter":
        of_kind = {"any": True, "seen": finite(term), "letter": term.op == "letter"}
        fits = of_kind.get(pattern.kind, term.kind == pattern.kind)
        fits = fits and (pattern.kind != "commuting" or pattern.name == term.name)
        return fits and found.setdefault(pattern.name, term) == term
    if (pattern.op, pattern.name, len(pattern.parts)) != (term.op, term.name, len(term.parts)):
        return False
    if pattern.op == "times" and pattern.number not in (0, term.number):
        return False
    found.setdefault(pattern.op, term)
    return all(_matches(*pair, found) for pair in zip(pattern.parts, term.parts, strict=True))


def _put(pattern: Term, found: dict[str, Term]) -> Term:
    """The term that a pattern stands for. Raises `Loose` where sizes do not meet."""
    if pattern.op == "letter":
        return found[pattern.name]
    if pattern.op == "causal" or (pattern.op in ("ones", "I") and "a" not in found):
        return found[pattern.op]
    if pattern.op in ("ones", "I"):
        rows, columns = found["a"].shape
        size = columns if pattern.shape[0] == "columns of a" else rows
        return ones(size) if pattern.op == "ones" else unit(size)
    number = found["times"].number if pattern.op == "times" and not pattern.number else None
    return again(pattern, [_put(part, found) for part in pattern.parts], number)


def _letters(pattern: Term) -> set[str]:
    return {part.name for _, part in pattern.walk() if part.op == "letter"}


def rewritten(rows: Iterable[Row], term: Term) -> Iterator[Term]:
    """What the rows whose left sides a term is make of it."""
    for left, right in rows:
        found: dict[str, Term] = {}
        if _letters(right) <= _letters(left) and _matches(left, term, found):
            try:
                yield _put(right, found)
            except Loose:
                continue
