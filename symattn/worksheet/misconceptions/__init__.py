"""Misconceptions: what people do instead, as a small change to one or two steps.

Each is a row in the file of its part of attention: a name, what is done instead, what to tell the
learner, where it is known from, and a function from the steps of a derivation to the expressions
that are changed, or to nothing where it does not apply.
"""

from symattn.worksheet.misconceptions.masks import MASKS
from symattn.worksheet.misconceptions.misconception import Change, Misconception, Steps
from symattn.worksheet.misconceptions.projections import PROJECTIONS
from symattn.worksheet.misconceptions.scores import SCORES
from symattn.worksheet.misconceptions.weights import WEIGHTS

__all__ = ["COMMON", "MISCONCEPTIONS", "Change", "Misconception", "Steps"]

#: All of them; of several that explain as much, the one that stands first is named first.
MISCONCEPTIONS: tuple[Misconception, ...] = (*WEIGHTS, *SCORES, *MASKS, *PROJECTIONS)

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
