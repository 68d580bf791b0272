"""`Equations`: an attention that a text says, where a worksheet may have a spec."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import table, whole, words
from symattn.arithmetic.reading import depth
from symattn.derivations import Derivation
from symattn.errors import NoSuchName, ReadError, nearest, quote
from symattn.greek import in_ascii
from symattn.language.equations import Facts, derivation_of
from symattn.language.pairs import of_pairs
from symattn.language.revising import revised
from symattn.language.shapes import GivenShape
from symattn.language.sizes import size_symbol


@dataclass(frozen=True)
class Equations:
    """A text of equations, and what is known beside it.

    `shapes` are those of letters; `levels` how many levels of brackets each given letter has;
    `facts` what is known of steps by the words that name them, `order` the usual order of sizes.
    """

    text: str
    shapes: Mapping[str, GivenShape] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict, repr=False)
    order: tuple[str, ...] = ()
    #: The derivation on top of which they stand.
    base: Derivation | None = None

    @cached_property
    def _revised(self) -> tuple[Derivation, tuple[str, ...]]:
        if self.base is not None:
            return revised(self.base, self.text, given=self.levels, facts=self.facts)
        own = derivation_of(
            self.text, self.shapes, given=self.levels, facts=self.facts, order=self.order
        )
        return own, ()

    @property
    def whole(self) -> Derivation:
        """The derivation from all inputs. Raises `ReadError` with the place in the text."""
        return self._revised[0]

    @property
    def unused(self) -> tuple[str, ...]:
        """The names of the base that nothing uses any more."""
        return self._revised[1]

    @property
    def letters(self) -> dict[str, str]:
        """The letter of each input and step, by its name."""
        items = (*self.whole.inputs, *self.whole.steps)
        return {item.name: item.letter for item in items}

    def derivation(
        self,
        given: Collection[str] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        labels: Mapping[str, Collection[str]] | None = None,
        title: str = "",
    ) -> Derivation:
        """The steps from what is `given` on; see `Attention.derivation`."""
        out = self.whole
        said = table(sizes, "sizes").items()
        known = {**out.sizes, **{self._size(name): whole(n, name, 1) for name, n in said}}
        said_names = dict(table(labels, "labels"))
        if "m" in said_names and size_symbol("m") not in out.size_symbols:
            said_names.setdefault("n", said_names.pop("m"))
        names = {
            self._size(name): words(listed, f"labels of {quote(name)}")
            for name, listed in said_names.items()
        }
        out = replace(out, sizes=known, labels={**out.labels, **names}, title=title)
        return out if given is None else out.restricted(words(given, "given"))

    def _size(self, name: str) -> sympy.Symbol:
        """The symbol of a size of this derivation."""
        symbols = {symbol.name: symbol for symbol in self.whole.size_symbols}
        symbol = size_symbol(name)
        if symbol.name not in symbols:
            raise NoSuchName(f"{name} is no size of these equations{nearest(name, symbols)}")
        return symbol


def derivation(
    text: str | Iterable[tuple[MatrixExpr, MatrixExpr]],
    base: Derivation | None = None,
    *,
    shapes: Mapping[str, GivenShape] | None = None,
    given: Mapping[str, Any] | None = None,
) -> Derivation:
    """The derivation that a text of equations says, a step for each.

    With a `base` they stand on top of it: a step with a known name or letter is replaced, a new one
    goes before its first use. `shapes` are those of letters, ``{"W_1": ("d_model", "d_ff"), "λ":
    "number"}``, where the text does not say them and they do not follow; of what is `given` the
    levels of brackets tell rows, matrices and families. Pairs of a MatrixSymbol and an
    expression of SymPy's may stand instead of a text. Raises `ReadError` with the line and the
    character.

    >>> print(derivation('''
    ... scores S = Q K^T / sqrt(d_k)
    ... weights A = softmax(S + causal())
    ... output O = A V
    ... '''))
    scores   S = Q Kᵀ / √d_k
    weights  A = softmax(S + causal(n, m))
    output   O = A V
    """
    if not isinstance(text, str):
        if base is not None or shapes or given:
            raise ReadError("equations: pairs have their shapes, and stand alone; give no more")
        return of_pairs(text)
    levels = {in_ascii(name): depth(value) for name, value in (given or {}).items()}
    return Equations(text, dict(shapes or {}), levels, base=base).whole
