"""The file of a certificate: which keys a table has, and what stands at each of them.

Every value has exactly the type that is said here: 1 is not true, and null is no list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from symattn.algebra.forms import Refused
from symattn.errors import ReadError, quote

#: A part of a certificate as JSON has it: a text, a number, a list, a table.
Data: TypeAlias = Any

#: Limits for certificates from elsewhere.
MOST_VALUES, MOST_DEPTH, MOST_LENGTH, MOST_NUMBER = 50_000, 60, 5_000, 10**9

#: What may stand at a place: a type (`object` for an expression, `int` for a whole number ≥ 0), one
#: of a set of values, a list of one kind, a tuple for a list of these, a table of these keys (those
#: with ? may be missing), `Either` of several kinds, or the name of a kind in `KINDS`.
Kind: TypeAlias = Any


@dataclass(frozen=True)
class Either:
    """One of several kinds."""

    kinds: tuple[Kind, ...]


#: The rules of steps, and the keys that a step has then, beside those of every step.
RULES: tuple[tuple[frozenset[str], Mapping[str, Kind]], ...] = (
    (frozenset({"range"}), {"cuts": [str]}),
    (frozenset({"range"}), {"width": str}),
    (frozenset({"delta"}), {"index": int, "factor": int}),
    (frozenset({"identity", "line", "count"}), {"index": int}),
    (frozenset({"permute"}), {"index": int, "by": (str, {0, 1})}),
    (frozenset({"merge"}), {"factor": int}),
    (frozenset({"separate"}), {"indices": [int]}),
    (frozenset({"hypothesis"}), {"indices": [int], "equation": int, "at": (str, str)}),
    (frozenset({"meet"}), {"term": int, "factor": int, "index": str}),
    (frozenset({"zero"}), {}),
    (frozenset({"induction"}), {"closed": object}),
)

_EVERY: Mapping[str, Kind] = {"of": str, "gives": str, "needs?": [str]}
_USES = frozenset({"number", "letter", "mirror", "orthonormal", "known"})
_CLAIM: Mapping[str, Kind] = {"left": object, "right": object, "rule": str, "from": ["claim"]}

KINDS: Mapping[str, Kind] = {
    "equation": {
        "certificate": {1},
        "statement": "statement",
        "uses": [(_USES, int, {0, 1})],
        "letters_only": bool,
        "partial": bool,
        "proof": "proof",
    },
    "inequality": {
        "certificate": {"inequality"},
        "partial": bool,
        "links": [{"statement": "statement", "proof": "claim"}],
    },
    "statement": {
        "left": "side",
        "right": "side",
        "where": [("side", "side")],
        "letters": [(str, str)],
        "declared": [str],
        "positive": [str],
        "permuting": [str],
    },
    "side": Either(
        (
            {"text": str, "spare": [(str, str)]},
            {"expr": object, "steps?": [(str, object)]},
        )
    ),
    "proof": Either(
        (
            {"same": {True}},
            {"steps": ["step"], "cofactors": [(object, object, "relation", object)]},
            {"split": str, "least": str, "cases": ["proof"]},
            {"even": str, "half": "proof"},
        )
    ),
    "relation": Either(
        (
            ({"equation"}, int, bool),
            ({"around"}, (int, int), bool),
            ({"inverse", "inverse left"}, object, bool),
        )
    ),
    "step": Either(tuple({"rule": names, **_EVERY, **own} for names, own in RULES)),
    "claim": Either((_CLAIM, {**_CLAIM, "by": [str], "equation": "equation"})),
}


def check_kind(data: Data, kind: Kind) -> None:
    """Refuse data that is not of a kind; the message says where, and why."""
    for place, why in _faults(data, kind, ""):
        raise Refused(f"{place.removeprefix('.') or 'it'} {why}")


def _faults(data: Data, kind: Kind, place: str) -> Iterator[tuple[str, str]]:
    """Where data is not of a kind, and why: of several kinds, in the one that fits furthest."""
    match kind:
        case str():
            yield from _faults(data, KINDS[kind], place)
        case Either(kinds):
            first = [next(_faults(data, one, place), ("", "")) for one in kinds]
            if ("", "") not in first:
                yield max(first, key=lambda fault: (len(fault[0]), fault[0]))
        case dict() if type(data) is dict:
            known = {key.removesuffix("?"): one for key, one in kind.items()}
            needed = {key for key in kind if key in known}
            if not needed <= data.keys() <= known.keys():
                yield place, f"has the keys {', '.join(map(quote, data))}, which no table here has"
                return
            for key, part in data.items():
                yield from _faults(part, known[key], f"{place}.{key}")
        case list() if type(data) is list:
            for k, part in enumerate(data):
                yield from _faults(part, kind[0], f"{place}[{k}]")
        case tuple() if type(data) is list and len(data) == len(kind):
            for k, (part, one) in enumerate(zip(data, kind, strict=True)):
                yield from _faults(part, one, f"{place}[{k}]")
        case set() | frozenset() if any(type(data) is type(one) and data == one for one in kind):
            return
        case type() if kind in (object, type(data)) and not (kind is int and data < 0):
            return
        case _:
            yield place, f"is {quote(data)}, which has no place there"


def check_limits(data: Data) -> None:
    """Refuse data that is too deep or too large."""
    left, count = [(data, 0)], 0
    while left:
        one, depth = left.pop()
        count += 1
        if depth > MOST_DEPTH or count > MOST_VALUES:
            raise ReadError("the certificate is too large")
        match one:
            case dict():
                left += [(part, depth + 1) for part in (*one, *one.values())]
            case list():
                left += [(part, depth + 1) for part in one]
            case str() if len(one) > MOST_LENGTH:
                raise ReadError("a text in it is too long")
            case int() if abs(one) > MOST_NUMBER:
                raise ReadError("a number in it is too large")


def storable(data: Data) -> Data:
    """A certificate from here, None where it is too large to be read again from a file."""
    try:
        check_limits(data)
    except ReadError:
        return None
    return data


def read_json(text: bytes) -> Data:
    """What a text of JSON holds, no key of a table twice. Raises `ReadError` for any other."""
    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_number, parse_int=_whole
        )
    except ReadError:
        raise
    except (ValueError, RecursionError):
        raise ReadError("it is not JSON") from None


def _once(pairs: list[tuple[str, Data]]) -> dict[str, Data]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ReadError("a key stands twice in a table")
    return table


def _no_number(text: str) -> NoReturn:
    raise ReadError(f"{quote(text)} is no number of JSON")


def _whole(text: str) -> int:
    if text == "-0":
        raise ReadError("0 is written without a sign")
    return int(text)
