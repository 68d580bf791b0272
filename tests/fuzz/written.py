"""Random attentions, written as equations and read back: the same steps, the same values.

``python -m tests.fuzz.written --count 5000 --seed 1`` prints how often there was which outcome and
lists every difference; it ends with 1 if there is any. Half of the attentions are random choices
of the axes of `Attention`, half are texts: of random terms, or of the literature with some tokens
changed.
"""

from __future__ import annotations

import random
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from symattn import VARIANTS, Attention, Derivation, SymattnError, derivation
from symattn.attention.example import small_inputs
from symattn.errors import CannotSpell
from symattn.language.writing import written
from tests.combinations import AXES
from tests.fuzz.asking import options
from tests.fuzz.mutated import SMALL, changed
from tests.fuzz.pairs import Maker
from tests.fuzz.terms import Loose, Term, letters
from tests.language.blocks import WORKS as BLOCKS
from tests.language.literature import WORKS
from tests.language.texts import CASES


@dataclass(frozen=True)
class Outcome:
    """What came of one attention: a word, and what there is to say of it."""

    word: str
    said: str = ""

    @property
    def fails(self) -> bool:
        """Whether it must not happen."""
        return self.word in ("differs", "not read", "traceback")


def round_trip(whole: Derivation, given: dict[str, Any]) -> Outcome:
    """What comes of a derivation that is written and read back, on these numbers."""
    try:
        text = written(whole)
    except CannotSpell as refusal:
        return Outcome("refused", str(refusal))
    try:
        again = derivation(text)
    except SymattnError as error:
        return Outcome("not read", f"{error}\n{text}")
    names = {item.letter: item.name for item in again.inputs}
    numbers = {
        names[item.letter]: given[item.name] for item in whole.inputs if item.letter in names
    }
    if [step.name for step in whole] != [step.name for step in again]:
        return Outcome("differs", f"{[step.name for step in again]}\n{text}")
    try:
        values = whole.evaluate(**given)
        left = {step.name: values[step.name].array for step in whole}
    except SymattnError as error:
        return Outcome("no value", str(error))
    try:
        right = again.evaluate(**numbers)
        for step in whole:
            one, other = left[step.name], right[step.name].array
            if one.shape != other.shape or not np.allclose(
                one, other, rtol=1e-11, atol=1e-13, equal_nan=True
            ):
                return Outcome("differs", f"{step.name}: {one} {other}\n{text}")
    except SymattnError as error:
        return Outcome("differs", f"{error}\n{text}")
    same = all(one.expr == other.expr for one, other in zip(whole, again, strict=True))
    if same or written(again).splitlines()[-len(whole) :] == text.splitlines()[-len(whole) :]:
        return Outcome("the same steps" if same else "another form, the same text")
    return Outcome("another form", text)


def of_axes(rng: random.Random) -> Outcome:
    """What comes of random choices on the axes of attention."""
    spec = {"source": rng.choice(AXES["source"])}
    for axis in rng.sample([axis for axis in AXES if axis != "source"], rng.randint(1, 7)):
        spec[axis] = rng.choice(AXES[axis])
    try:
        attention = Attention(**{name: value for name, value in spec.items() if value is not None})
        numbered, given = small_inputs(attention, tokens=4, d_k=4)
        whole = (numbered if rng.random() < 0.7 else attention).derivation()
    except SymattnError:
        return Outcome("no attention")
    return round_trip(whole, given)


# ---- texts -----------------------------------------------------------------------------------

#: The texts of the literature, and what the sizes of texts are.
TEXTS = [work.text for work in (*CASES, *WORKS, *BLOCKS)]
SIZES = {"n": 3, "m": 4, "d_k": 4, "d_v": 2, "d_model": 3, "p": 2, "r": 3}

_WITH = (
    "weights A = softmax1({scaled})",
    "weights A = sparsemax({scaled} + causal())",
    "G[i,j] = exp(-abs(i - j)); weights A = softmax({scaled}) ∘ G",
    "output O = (A V) ∘ sigmoid(X W_G)",
    "f(x) = relu(x)^2; weights A = f({scaled})",
    "c = 1/3; output O = c A V",
)


def of_terms(seed: int) -> str:
    """A text of random terms, with the shapes of their letters."""
    maker = Maker(seed)
    made: list[Term] = []
    while len(made) < 3:
        with suppress(Loose):
            made.append(maker.term((maker.size(), maker.size()), 2))
    shapes = [f"{name} : {one.shape[0]} × {one.shape[1]}" for name, one in letters(*made).items()]
    return "\n".join([*shapes, *(f"Y_{k} = {term}" for k, term in enumerate(made))])


def of_text(rng: random.Random) -> Outcome:
    """What comes of random terms, of a changed text, or of one on top of a named attention."""
    base = None
    numbers = np.random.default_rng(rng.randrange(2**32))
    try:
        kind = rng.random()
        if kind < 0.35:
            text = of_terms(rng.randrange(2**32))
        elif kind < 0.85:
            text = changed(rng.choice(TEXTS), numbers, SMALL)
        else:
            name = rng.choice(["self", "causal", "cross", "biased", "rotary", "scaled-dot-product"])
            (row,) = (row for row in VARIANTS if row.name == name)
            base = row.spec.derivation()
            scores = [step.letter for step in base if step.name in ("scaled", "biased")][-1]
            text = rng.choice(_WITH).format(scaled=scores)
        whole = derivation(text, base)
    except SymattnError as refused:
        return Outcome("no text", str(refused))
    given: dict[str, Any] = {}
    for item in whole.inputs:
        counted = item.count.free_symbols if item.count is not None else set()
        known = {size: SIZES.get(str(size), 2) for size in {*whole.size_symbols, *counted}}
        shape = [int(size.subs(known)) for size in item.shape]
        if item.count is not None:
            shape = [int(item.count.subs(known)), *shape]
        given[item.name] = np.round(numbers.uniform(-1, 1, shape), 3)
    return round_trip(whole, given)


def outcomes(count: int, seed: int) -> Iterator[tuple[str, Outcome]]:
    """So many attentions, each by its seed, and what came of it."""
    for number in range(count):
        own = f"{seed}-{number}"
        rng = random.Random(own)
        try:
            found = of_axes(rng) if number % 2 else of_text(rng)
        except Exception:
            found = Outcome("traceback", traceback.format_exc())
        yield own, found


def main() -> int:
    """Make, compare and print."""
    arguments = options(__doc__, count=5000, seed=1)
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    fails = 0
    for own, found in outcomes(arguments.count, arguments.seed):
        counts[found.word] += 1
        fails += found.fails
        if found.word in ("refused", "no text"):
            refusals[found.said] += 1
        elif found.fails:
            print(f"{own}: {found.word}: {found.said}", flush=True)
    for word, number in counts.most_common():
        print(f"{number:6}  {word}")
    for word, number in refusals.most_common():
        print(f"{number:6}  {word}")
    return int(fails > 0)


if __name__ == "__main__":
    sys.exit(main())
