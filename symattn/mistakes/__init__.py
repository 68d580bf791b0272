"""Misconceptions: what people do instead, as a change to one or two steps.

Each is a row in the file of its part of attention: a name, what is done instead, what to tell the
learner, where it is known from, and an equation that is rewritten, Q Kᵀ = K Qᵀ (`rewriting`);
where it does not fit, it does not apply. Slips (`slips`) change one entry, habits (`habits`) show
in the numbers alone; `explanations` finds which of all these fit a sheet.
"""

from symattn.mistakes.base import Change, Misconception, Steps
from symattn.mistakes.masks import MASKS
from symattn.mistakes.norms import NORMS
from symattn.mistakes.programs import PROGRAMS
from symattn.mistakes.projections import PROJECTIONS
from symattn.mistakes.scores import SCORES
from symattn.mistakes.weights import WEIGHTS

__all__ = ["COMMON", "MISCONCEPTIONS", "OF_PROGRAMS", "Change", "Misconception", "Steps"]

#: All that a calculation by hand can show; of several that explain as much, the one that stands
#: first is named first.
MISCONCEPTIONS: tuple[Misconception, ...] = (
    *WEIGHTS,
    *SCORES,
    *MASKS,
    *PROJECTIONS,
    *NORMS,
)

#: Those that are tried on what a program computed.
OF_PROGRAMS: tuple[Misconception, ...] = (*MISCONCEPTIONS, *PROGRAMS)

#: Those that are seen most; what is tried first needs less evidence.
COMMON = (
    "not-scaled",
    "softmax-over-columns",
    "not-masked",
    "ratio",
    "scaled-by-d_k",
    "query-key-exchanged",
    "weights-transposed",
)
