"""What the values of a program are made of in a language, and how often each is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import sympy

from symattn.arithmetic.recorded import Recorded, Value, together
from symattn.documents.code.language import Language
from symattn.documents.code.program import Program
from symattn.documents.code.sizes import Sizes

#: Operations entry by entry, in which a matrix of one number is that number.
BROADCASTS = ("add", "subtract", "multiply", "divide", "where")

#: What a value is named after that is used so: by what is done to it.
_ROLES = {"cos": "angles", "sin": "angles", "look up": "documents", "begun": "starts"}


class Graph:
    """The values of a program as a language computes them."""

    def __init__(self, program: Program, language: Language) -> None:
        self.program, self.language = program, language
        self.uses: Counter[Recorded] = Counter()
        self.roles: dict[Recorded, str] = {}
        self.steps = [(step, self.resolved(value)) for step, value in program.steps]
        #: The masks that are conditions, whose shapes are told.
        self._masks = {value for step, value in program.steps if step.letter in program.conditions}
        self._batched: dict[Recorded, bool] = {}
        self._loops: dict[Recorded, frozenset[sympy.Dummy]] = {}
        seen: set[Recorded] = set()
        for _, value in self.steps:
            self._count(value, seen)

    def resolved(self, x: Recorded) -> Recorded:
        """The value itself; for a call of a function that the language lacks, what it does."""
        while x.operation == "call" and self.language.template(x.details[0], 0) is None:
            x = x.operands[-1]  # type: ignore[assignment]  # the last is the body
        return x

    def operands(self, x: Recorded) -> tuple[Value, ...]:
        """What a value is made of."""
        operands = x.operands[:-1] if x.operation == "call" else x.operands
        return tuple(self.resolved(one) if isinstance(one, Recorded) else one for one in operands)

    def parts(self, x: Recorded) -> Iterator[Recorded]:
        """Its operands that are no numbers."""
        return (one for one in self.operands(x) if isinstance(one, Recorded))

    def _count(self, x: Recorded, seen: set[Recorded]) -> None:
        """How often each value is written; where positions have no grids, as a whole matrix."""
        if x in seen:
            return
        seen.add(x)
        for one in self.parts(x):
            entries = self.language.grids is None and one.positional and x.positional
            self.uses[one] += 0 if entries else 1
            if x.operation in _ROLES:
                self.roles[one] = _ROLES[x.operation]
            self._count(one, seen)

    def tokens(self, x: Value) -> frozenset[sympy.Dummy]:
        """The tokens of the loops in which alone a value is known."""
        if not isinstance(x, Recorded):
            return frozenset(x.atoms(sympy.Dummy)) if isinstance(x, sympy.Basic) else frozenset()
        if x not in self._loops:
            found = frozenset[sympy.Dummy]().union(*map(self.tokens, self.operands(x)))
            match x.operation, x.details:
                case "state", (_, token):
                    found |= {token}
                case "states", (state, _):
                    found -= {state.details[1]}
            self._loops[x] = found
        return self._loops[x]

    def shape_told(self, x: Recorded) -> str:
        """The shape of a value that no value in it has."""
        if self._keeps_shape(x):
            return ""
        return Sizes.shown(x.shape, batched=self.language.batches and self._is_batched(x))

    def _is_batched(self, x: Recorded) -> bool:
        """Whether a value has what is given for each of a batch in it."""
        if x not in self._batched:
            own = x.operation == "given" and self.program.batched(x)
            self._batched[x] = own or any(map(self._is_batched, self.parts(x)))
        return self._batched[x]

    def _keeps_shape(self, x: Recorded) -> bool:
        """Whether a value is a number, a place, or of the shape of what it is made of."""
        if x.positional and x.operation != "broadcast":
            return x.ndim != 2 or x not in self._masks
        if x.operation == "narrowed" and isinstance(x.operands[0], Recorded):
            return self._keeps_shape(x.operands[0])
        if x.operation == "matmul":
            return False
        return any(one.shape == x.shape for one in self.parts(x) if not one.positional)

    def narrowed(
        self, x: Recorded, operands: Sequence[Value], named: Collection[Recorded]
    ) -> Iterator[Value]:
        """The operands, those of one number throughout, or repeated, as what broadcasts."""
        for place, one in enumerate(operands):
            others = [
                other.shape
                for at, other in enumerate(operands)
                if at != place and isinstance(other, Recorded)
            ]
            inner = self.operands(one)[0] if one not in named and _spreads(x, one) else one
            shape = inner.shape if isinstance(inner, Recorded) else ()
            fits = all(
                size in (1, wanted)
                for size, wanted in zip(reversed(shape), reversed(x.shape), strict=False)
            )
            yield inner if fits and together(*others, shape) == x.shape else one


def _spreads(x: Recorded, one: Value) -> bool:
    """Whether an operand only repeats a number or a matrix that would broadcast."""
    repeats = isinstance(one, Recorded) and one.operation in ("filled", "repeat", "broadcast")
    return repeats and x.operation in BROADCASTS
