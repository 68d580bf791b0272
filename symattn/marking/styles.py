"""Styles: how somebody keeps and rounds numbers through a whole calculation.

A style says with how many digits a number that was written down is used again, to how many
decimals what nobody writes down is kept (e^z, sums of rows, products before they are added, steps
that are not claimed), and whether digits are rounded or cut off. One style holds for a whole sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations, product
from typing import TypeAlias

from symattn.arithmetic.by_hand import CUT_OFF, HALF_EVEN, NUMPY, ROUNDED, UNROUNDED
from symattn.arithmetic.verify import Accepted
from symattn.claims.entry_names import listed

#: Decimals that a number is used with beyond those written; `UNROUNDED` for all of them.
AS_WRITTEN, ONE_MORE, TWO_MORE = 0, 1, 2

_DECIMALS_USED = (AS_WRITTEN, UNROUNDED, ONE_MORE, TWO_MORE)
_BETWEEN = (4, 3, 2)

#: With how many decimals numbers were used, in words.
_KEEPING = {
    AS_WRITTEN: "used as written",
    ONE_MORE: "kept with one more digit than written",
    TWO_MORE: "kept with two more digits than written",
    UNROUNDED: "kept unrounded",
}


#: The parts that are not written down, in words.
_UNWRITTEN = {
    "sums": ("e^z", "row sums"),
    "terms": ("products",),
    "root": ("√d_k",),
    "steps": ("steps left out",),
}


@dataclass(frozen=True)
class Style:
    """One way of keeping numbers.

    `logits` and `weights`: decimals beyond those written, of what comes before the weights, and
    of the weights and what follows. Of what is not written down, `sums`: the decimals of e^z and
    sums of rows, `terms`: of products before they are added, `root`: of √d_k, `steps`: of steps
    left out. `cut`: whether what is written is cut off; `cut_between`: the same of what is not.
    `twice`: whether a number is first rounded to the digits it is kept with, and then again to
    those written. `even`: whether ties are rounded to an even digit, and `numpy`: whether these are
    the ties of floating point, as NumPy rounds. `shifted`: whether e^(z − max) is taken for e^z,
    and `inverse`: whether scores are multiplied by 1/√d_k; both show only where these are rounded.
    `significant`: whether significant digits are counted, not decimals, of what is not written
    down.
    """

    logits: int = UNROUNDED
    weights: int = UNROUNDED
    sums: int = UNROUNDED
    terms: int = UNROUNDED
    root: int = UNROUNDED
    steps: int = UNROUNDED
    cut: bool = False
    cut_between: bool = False
    twice: bool = False
    even: bool = False
    numpy: bool = False
    shifted: bool = False
    inverse: bool = False
    significant: bool = False

    def fits(self, rounding: Accepted) -> bool:
        """Whether the policy allows this style."""
        fitting = {
            "truncated": self.cut,
            "half-up": not self.even,
            "half-even": self.even or self.cut,
        }
        return fitting.get(rounding, True)

    @property
    def offset(self) -> float:
        """The offset by which written numbers are rounded, or cut off."""
        return CUT_OFF if self.cut else self._rounding

    @property
    def offset_between(self) -> float:
        """The same for numbers that are not written."""
        return CUT_OFF if self.cut_between else self._rounding

    @property
    def _rounding(self) -> float:
        return NUMPY if self.numpy else HALF_EVEN if self.even else ROUNDED

    @property
    def as_written(self) -> bool:
        """Whether numbers are used as they were written, and nothing else is rounded."""
        return self.written_only and self.logits == self.weights == AS_WRITTEN

    @property
    def written_only(self) -> bool:
        """Whether only written numbers are rounded, and once."""
        whole = self.sums == self.terms == self.root == self.steps == UNROUNDED
        return whole and not (self.cut or self.twice)

    def __str__(self) -> str:
        """The style in sentences."""
        if self.logits == self.weights:
            sentences = [f"The numbers were {_KEEPING[self.logits]}"]
        else:
            before = f"the numbers before them were {_KEEPING[self.logits]}"
            sentences = [f"The weights were {_KEEPING[self.weights]}; {before}"]
        if self.twice:
            sentences[0] += ", and rounded again when they were written"
        parts = {name: getattr(self, name) for name in _UNWRITTEN}
        rounded = [name for name, decimals in parts.items() if decimals != UNROUNDED]
        short = [words for name in rounded for words in _UNWRITTEN[name]]
        if short:
            these = listed(short, len(short))
            these = these[:1].upper() + these[1:] if these[:1] != "e" else these
            how = "cut off after" if self.cut_between else "rounded to"
            digits = "significant digits" if self.significant else "decimals"
            sentences.append(f"{these} were {how} {min(parts.values())} {digits}")
        if self.cut:
            sentences.append("Digits were cut off, not rounded")
        if self.shifted:
            sentences.append("The row maximum was subtracted before e^z")
        if self.inverse:
            sentences.append("The scores were multiplied by 1/√d_k")
        if self.even:
            ties = "Ties were rounded to an even digit"
            sentences.append(f"{ties}, as NumPy rounds" if self.numpy else ties)
        return ". ".join(sentences) + "."


#: Decimals of sums, terms, √d_k and steps.
_Unwritten: TypeAlias = tuple[int, ...]


def _styles(
    written: Iterable[tuple[int, int]],
    unwritten: Iterable[_Unwritten],
    cuts: Iterable[tuple[bool, bool]],
    **ways: bool,
) -> Iterator[Style]:
    """Every combination of decimals of logits and weights, of what is not written, and of cuts."""
    for (cut, cut_between), between, (logits, weights) in product(cuts, unwritten, written):
        sums, terms, root, steps = between
        yield Style(logits, weights, sums, terms, root, steps, cut, cut_between, **ways)


_ALIKE = tuple((more, more) for more in _DECIMALS_USED)
_PLAIN, _FINITE = _ALIKE[:2], _ALIKE[2:]
_PLAIN_APART = ((AS_WRITTEN, UNROUNDED), (UNROUNDED, AS_WRITTEN))
_OTHER_APART = tuple(p for p in permutations(_DECIMALS_USED, 2) if p not in _PLAIN_APART)
_ROUND, _CUT, _CUT_ALL = (False, False), (True, False), (True, True)

_WHOLE = (UNROUNDED,) * 4
_USUAL: tuple[_Unwritten, ...] = tuple(
    (m, m, root, steps)
    for m in _BETWEEN
    for root, steps in ((UNROUNDED, UNROUNDED), (m, m), (UNROUNDED, m))
)
_ONE_PART: tuple[_Unwritten, ...] = tuple(
    (*_WHOLE[:part], m, *_WHOLE[part + 1 :]) for m in _BETWEEN for part in range(4)
)
_SIGNIFICANT = (  # with two of them a sum loses what counts; √2 = 1.4 does not
    *(parts for parts in (*_USUAL, *_ONE_PART) if min(parts) > 2),
    (UNROUNDED, UNROUNDED, 2, UNROUNDED),
)
_TERMS = tuple(parts for parts in _ONE_PART if parts[1] != UNROUNDED)  # where ties are frequent
_WITH_ROOT = tuple(parts for parts in (*_USUAL, *_ONE_PART) if parts[2] != UNROUNDED)

#: The styles in the order in which they are preferred: plain ones, usual ones, and unusual ones,
#: which have to explain more claims than these.
STYLES: tuple[tuple[Style, ...], ...] = (
    tuple(_styles(_ALIKE, (_WHOLE,), (_ROUND, _CUT))),
    (
        *_styles(_ALIKE, _USUAL, (_ROUND, _CUT_ALL, _CUT)),
        *_styles(_PLAIN_APART, (_WHOLE,), (_ROUND, _CUT)),
        *_styles(_PLAIN, _ONE_PART, (_ROUND,)),
        *_styles(_FINITE, (_WHOLE,), (_ROUND,), twice=True),
        *_styles(_ALIKE, (_WHOLE, *_USUAL), (_ROUND,), even=True),
        *_styles(_PLAIN, _TERMS, (_ROUND,), even=True),
        *_styles(_PLAIN, (*_TERMS, *_USUAL), (_ROUND,), even=True, numpy=True),
    ),
    (
        *_styles(_ALIKE, _ONE_PART, (_CUT_ALL, _CUT)),
        *_styles(_OTHER_APART, (_WHOLE,), (_ROUND, _CUT)),
        *_styles(_FINITE, _ONE_PART, (_ROUND,)),
        *_styles(_FINITE, _USUAL, (_ROUND,), twice=True),
        *_styles(_ALIKE, _USUAL, (_ROUND,), shifted=True),
        *_styles(_ALIKE, _WITH_ROOT, (_ROUND,), inverse=True),
        *_styles(_ALIKE, _SIGNIFICANT, (_ROUND,), significant=True),
    ),
)

#: How many claims more an unusual style has to explain: for a single slip one is soon found.
MORE = 2


@lru_cache(maxsize=4)
def styles_that_differ(root: bool, steps: bool) -> tuple[tuple[Style, ...], ...]:
    """`STYLES` without those that only differ in how √d_k, or steps left out, are kept.

    Where there is a root, or a step is left out, these do differ.
    """
    seen: set[Style] = set()
    groups = []
    for styles in STYLES:
        different = []
        for style in styles:
            alike = replace(
                style,
                root=style.root if root else UNROUNDED,
                steps=style.steps if steps else UNROUNDED,
                inverse=style.inverse and root,
            )
            if alike not in seen:
                different.append(alike)
            seen.add(alike)
        groups.append(tuple(different))
    return tuple(groups)
