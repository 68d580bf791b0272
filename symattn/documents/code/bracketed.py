"""Code that stands in other code, with brackets where it needs them."""

from __future__ import annotations

from collections.abc import Iterator


class Piece(str):
    """Code that stands in other code.

    ``{0:a}`` in a template brackets what is not one atom, ``{0:t}`` what is no term of a sum,
    ``{0:m}`` what is no product of matrices, as the first factor of another one.
    """

    def __format__(self, spec: str) -> str:
        if spec == "m":
            return f"({self})" if _holds(self.replace(" @ ", "@"), _LOOSE - {"@"}) else str(self)
        loose = {"a": _LOOSE, "t": _LOOSE - _TIGHT}.get(spec, set())
        return f"({self})" if _holds(self, loose) else str(self)


#: What binds looser than an index or a call does, and what of it binds tighter than + and -.
_LOOSE, _TIGHT = set(" +*/@<>=|&!~"), set(" */@")


def _holds(code: str, signs: set[str]) -> bool:
    """Whether one of the signs, or a sign of the number, stands outside brackets."""
    return bool(signs) and any(
        code[place] in signs or code[: place + 1] == "-" or code.startswith("- ", place)
        for place in outside(code)
    )


def outside(code: str) -> Iterator[int]:
    """The places of what stands in no bracket, and of the brackets that close there."""
    depth = 0
    for place, character in enumerate(code):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            yield place
