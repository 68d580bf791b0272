"""What the face of the package hands to floors below the one where it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: What marks arrays that a program computed: of an `Evaluation`, whether to explain, the arrays.
compare: Callable[..., Any]

#: What a notebook shows of a notation tree, by MIME type.
spelled: Callable[..., dict[str, str]]
