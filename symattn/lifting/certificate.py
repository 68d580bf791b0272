"""Certificates at sizes: what programs recorded, written down, and held again without running them.

A certificate says of what a program is given which entry of which matrix it is, which operations
the program then does to these numbers, and which of them it returns. The checker makes the
attention anew from its name or its equations and brings both to normal forms; then it tries finite
fields, which share nothing with these, and numbers in balls. It searches nothing. That a program
does these operations is seen where it is at hand, and recorded once more (`is_of`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from symattn.algebra.forms import Refused
from symattn.algebra.kinds import Data, Either, Kind, check_kind, check_limits
from symattn.attention.variants import NAMED
from symattn.budget import Spent, within
from symattn.claims.computed import Computed
from symattn.errors import SymattnError, Undecided, quote
from symattn.isolation import Limits
from symattn.lifting import terms
from symattn.lifting.fields import Apart, by_chance
from symattn.lifting.held import OfAttention, OfPrograms
from symattn.lifting.lift import asked_of, running
from symattn.lifting.limits import LIMITS
from symattn.lifting.numerals import LOWEST
from symattn.lifting.recording import Target
from symattn.lifting.tapes import Tape
from symattn.lifting.taping import Taping, taped
from symattn.sheets.worksheet import equations_of
from symattn.verifying.calling import LIBRARIES, Answer, Call, Function, Given, Signature
from symattn.verifying.inputs import sizes_of
from symattn.verifying.own import meant
from symattn.verifying.subject import Layout, Subject

#: What a certificate at sizes calls itself.
AT_SIZES = "at sizes"

#: How many numbers each operation of a tape takes; a letter and a truth are told by their number.
TAKES: Mapping[str, int] = {
    **dict.fromkeys(("letter", "truth"), 1),
    **dict.fromkeys(("exp", "ln", "√", "tanh", "cos", "sin", "abs", "erf"), 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "max", "min"), 2),
    **dict.fromkeys(("at least", "above", "equal"), 4),
    "true": 3,
}

_FUNCTION: Kind = {
    "name": str,
    "sha256": str,
    "library": frozenset(LIBRARIES),
    "arguments": [(str, {"matrix", "mask", "size", "flag", "nothing"}, str, bool)],
    "operations": [str],
    "form": {"array", "tuple", "table"},
    "parts": [(str, [int], [str])],
}
_COMMON: Mapping[str, Kind] = {"certificate": {AT_SIZES}, "sizes": [(str, int)], "partial": bool}
_LAYOUT = (
    int,
    {"first", "turned", "second", "joined", "single"},
    {"joined", "stacked", "transposed"},
    bool,
)

_OPERATION = re.compile(r"([^()]+)\(([^()]+)\)")
_PLACE = re.compile(r"0|[1-9][0-9]{0,8}")

#: What is in a certificate: of a function and an attention, or of two functions.
KIND = Either(
    (
        {
            **_COMMON,
            "attention": str,
            "inputs": [(str, [int])],
            "layout": _LAYOUT,
            "returns": [str],
            "functions": (_FUNCTION,),
        },
        {**_COMMON, "inputs": [(str, [str])], "functions": (_FUNCTION, _FUNCTION)},
    )
)


# ---- written ---------------------------------------------------------------------------------


def of_attention(held: OfAttention, target: Target, tape: Tape, is_partial: bool) -> Data:
    """The certificate of a function; None for an attention that a file says."""
    subject, layout = held.subject, held.subject.layout
    if not subject.source:
        return None
    return {
        "certificate": AT_SIZES,
        "attention": subject.source,
        "sizes": [[symbol.name, size] for symbol, size in held.used.items()],
        "inputs": [[name, [*shape]] for name, shape in held.shapes.items()],
        "partial": is_partial,
        "layout": [layout.lead, layout.heads, layout.weights, layout.vectors],
        "returns": [*subject.returns],
        "functions": [function_data(target, held.call_by_name, tape)],
    }


def of_programs(held: OfPrograms, functions: Sequence[Data], is_partial: bool) -> Data:
    """The certificate of two functions."""
    return {
        "certificate": AT_SIZES,
        "inputs": [[name, [*shape]] for name, shape in held.shapes.items()],
        "sizes": [[name, size] for name, size in held.sizes.items()],
        "partial": is_partial,
        "functions": [*functions],
    }


def function_data(target: Target, call: Call, tape: Tape) -> Data:
    """A function, the text that it is of, how it is called, and what it then does.

    ``mul(3, 17)`` is the product of what stands at two places; what is returned is told by places.
    """
    name, digest = getattr(target, "__name__", "the function"), ""
    if isinstance(target, str):
        file, _, own = target.rpartition(":")
        name = f"{Path(file).name}:{own}"
        if Path(file).is_file():
            digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    parts = []
    for part, places in tape.answer.parts:
        assert isinstance(places, Computed)
        flat = [str(tape.returned[int(place)]) for place in places.numbers.flat]
        parts.append([part, [*places.numbers.shape], flat])
    return {
        "name": name,
        "sha256": digest,
        "library": call.library,
        "arguments": [[one.name, one.kind, one.meaning, one.by_position] for one in call.given],
        "operations": [f"{one}({', '.join(map(str, given))})" for one, *given in tape.operations],
        "form": tape.answer.form,
        "parts": parts,
    }


# ---- read ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """What a certificate says, as the checker reads it; `lines` say it to people."""

    held: OfAttention | OfPrograms
    tapes: tuple[Tape, ...]
    calls: tuple[Call, ...]
    sizes: Mapping[str, int]
    lines: tuple[str, ...]
    #: The matrices whose entries are true or false.
    booleans: tuple[str, ...] = ()
    #: Why finite fields do not decide it, if so.
    undecided: str = ""

    @property
    def notes(self) -> Iterator[str]:
        """What is assumed, and what stands behind it."""
        given = (x for tape in self.tapes for _, *own in tape.operations for x in own)
        if any(isinstance(x, float) and x <= LOWEST for x in given):
            yield f"a number of at most {LOWEST:.0f} stands for −∞"
        if self.booleans:
            yield "of masks that leave each query a key"
        fields = f"not decided by finite fields: {self.undecided}"
        yield fields if self.undecided else "normal forms and two finite fields say so"


def check(data: Data) -> Claim:
    """What a certificate at sizes proves.

    Raises `Refused` where it proves nothing, `ReadError` for data that is too large.
    """
    check_limits(data)
    check_kind(data, KIND)
    try:
        claim = read(data)
        return replace(claim, undecided=_replayed(claim, data["partial"]))
    except (Refused, Spent):
        raise
    except SymattnError as error:
        raise Refused(str(error)) from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as trouble:
        raise Refused(f"it cannot be read: {type(trouble).__name__}: {trouble}"[:200]) from None
    except (RecursionError, ArithmeticError) as trouble:
        raise Refused(f"it cannot be replayed: {type(trouble).__name__}") from None


def _replayed(claim: Claim, said_partial: bool) -> str:
    """Hold both sides against one another; why finite fields have no say. Raises `Refused`."""
    try:
        with within(LIMITS.work):
            is_partial = claim.held.hold(claim.tapes, terms)
    except Spent:
        raise Spent(f"not replayed: normal forms take more than {LIMITS.work:,} steps") from None
    if is_partial is not said_partial:
        raise Refused("what it says about where both sides are defined is wrong")
    for seed in LIMITS.draws:
        with suppress(Undecided, ArithmeticError):
            if claim.held.differ(claim.tapes, seed):
                raise Refused("random numbers show that the sides differ")
    try:
        by_chance(partial(claim.held.hold, claim.tapes))
    except Apart:
        raise Refused("normal forms and finite fields say different things of it") from None
    except SymattnError as error:
        return str(error).removeprefix("no proof was found: ")
    return ""


def read(data: Data) -> Claim:
    """What is said in data of this kind. Raises `Refused` for what has no meaning."""
    return (_of_attention if "attention" in data else _of_programs)(data)


def _of_attention(data: Data) -> Claim:
    """A function, and an attention that is made anew from its name or its equations."""
    (function,), source = data["functions"], data["attention"]
    if source in NAMED:
        spec, attention = meant(NAMED[source].said), [f"{source} attention"]
    else:
        spec = meant(equations_of(source, "equations"))
        attention = ["these equations:", *source.splitlines()]
    parameters = tuple(Given(*each) for each in function["arguments"])
    given = tuple(one.meaning for one in parameters if one.matrix)
    layout = Layout(function["library"], *data["layout"])
    name = function["name"]
    subject = Subject(
        Function(name, Signature(None, ()), _uncalled),
        *(name, spec, parameters, given, tuple(data["returns"]), layout),
    )
    sizes = _sizes(data["sizes"])
    held = OfAttention(subject, sizes_of(subject.derivation(), spec, sizes))
    used = {symbol.name: size for symbol, size in held.used.items()}
    if used != sizes:
        raise Refused(f"its sizes are not those of the attention: {', '.join(used)}")
    shapes = [(name, tuple(shape)) for name, shape in data["inputs"]]
    if shapes != [*held.shapes.items()]:
        raise Refused(f"its inputs are not those of the attention: {held.shapes}")
    booleans = tuple(item.name for item in held.derivation.inputs if item.boolean)
    tape = _tape(function, shapes, booleans)
    steps = held.steps(tape)
    rest = len(tape.answer.parts) - len(steps)
    lines = [
        f"{_called(function)} = {', '.join(steps)} of {attention[0]}",
        *(f"  {line}" for line in attention[1:]),
        f"  with {', '.join(_told(one) for one in parameters)}; "
        f"{layout.told(subject.has_heads, subject.has_weights)}",
        *[f"  {rest} more of what it returns: nothing is said of that"] * (rest > 0),
    ]
    return Claim(held, (tape,), (held.call_by_name,), sizes, tuple(lines), booleans)


def _of_programs(data: Data) -> Claim:
    """Two functions."""
    shapes, sizes = dict(data["inputs"]), _sizes(data["sizes"])
    named = {size for shape in shapes.values() for size in shape if not size.isdecimal()}
    if len(shapes) < len(data["inputs"]) or named != {*sizes}:
        raise Refused("inputs stand twice, or the sizes are others than those of the inputs")
    held = OfPrograms(shapes, sizes)
    whole = [
        (name, [sizes.get(size) or int(size) for size in shape]) for name, shape in shapes.items()
    ]
    tapes, calls = [], []
    for function in data["functions"]:
        tapes.append(_tape(function, whole))
        arguments = [Given(*each) for each in function["arguments"]]
        given = tuple(replace(one, value=held.ids[one.meaning]) for one in arguments)
        if sorted(one.matrix for one in given) != sorted(shapes):
            raise Refused("a function is not given each of the inputs once")
        calls.append(Call(given, function["library"], "float64"))
    lines = [" = ".join(map(_called, data["functions"]))]
    lines += [
        f"  with {', '.join(f'{one} = {name}' for one, _, name, _ in function['arguments'])}"
        for function in data["functions"]
    ]
    lines += ["  " + ", ".join(f"{name}: {' × '.join(shape)}" for name, shape in shapes.items())]
    return Claim(held, tuple(tapes), tuple(calls), sizes, tuple(lines))


def _sizes(pairs: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Sizes by name. Raises `Refused` for one that stands twice, and for 0."""
    sizes = dict(pairs)
    if len(sizes) < len(pairs) or 0 in sizes.values():
        raise Refused("a size is 0, or is given twice")
    return sizes


def _called(function: Data) -> str:
    """What a function has recorded, in words."""
    arguments = ", ".join(name for name, *_ in function["arguments"])
    count = len(function["operations"])
    return f"{count:,} operations recorded of {function['name']}({arguments})"


def _told(one: Given) -> str:
    """What an argument is given, in words."""
    given = {"flag": "true", "mask": "its mask", "nothing": "None"}
    return f"{one.name} = {given.get(one.kind, one.meaning)}"


def _uncalled(call: Call) -> Answer:
    raise Refused("the checker runs no function")


# ---- tapes -----------------------------------------------------------------------------------


def _tape(
    function: Data, shapes: Sequence[tuple[str, Sequence[int]]], booleans: Sequence[str] = ()
) -> Tape:
    """What a function recorded, of which each number stands before what is made of it.

    Whatever is given is recorded, its numbers being named from 0 on, row by row.
    """
    names = [name for name, *_ in function["arguments"]]
    if len({*names}) < len(names):
        raise Refused("an argument stands twice")
    asked = _given(function, shapes, booleans)
    operations: list[list[Any]] = []
    for text in function["operations"]:
        name, *given = _split(text)
        if TAKES.get(name) != len(given):
            raise Refused(f"{quote(text)} is no operation")
        if text in asked:
            operations.append([name, *given])
        else:
            operations.append([name, *(_operand(one, len(operations)) for one in given)])
            if name == "pow" and isinstance(operations[-1][2], int):
                raise Refused(f"{quote(text)}: the exponent is no number")
    parts = []
    for name, shape, flat in function["parts"]:
        if prod(shape) != len(flat):
            raise Refused("what is returned has another shape")
        parts.append([name, shape, [_operand(one, len(operations)) for one in flat]])
    form = function["form"]
    if form == "array" and len(parts) != 1:
        raise Refused("it returns one array, and several")
    return Tape({"operations": operations, "form": form, "parts": parts, "single": False})


def _given(
    function: Data, shapes: Sequence[tuple[str, Sequence[int]]], booleans: Sequence[str]
) -> set[str]:
    """The operations by which a function is given its numbers, all of which it has recorded."""
    asked: set[str] = set()
    for name, shape in shapes:
        kind, end = "truth" if name in booleans else "letter", len(asked) + prod(shape)
        if end > len(function["operations"]):
            raise Refused("more is given to it than it has recorded")
        asked.update(f"{kind}({k})" for k in range(len(asked), end))
    if asked != {text for text in function["operations"] if text.startswith(("letter", "truth"))}:
        raise Refused("what it has recorded is not given all that the inputs are")
    return asked


def _split(text: str) -> list[str]:
    """``mul(3, 17)`` in words."""
    found = _OPERATION.fullmatch(text)
    return [""] if found is None else [found[1], *found[2].split(", ")]


def _operand(text: str, before: int) -> int | float:
    """A place among so many, or a number as Python writes it. Raises `Refused` for any other."""
    if _PLACE.fullmatch(text) and int(text) < before:
        return int(text)
    if "." in text or "e" in text or text in ("inf", "-inf"):
        with suppress(ValueError):
            if repr(float(text)) == text:
                return float(text)
    raise Refused(f"{quote(text)} is no number, and no place of one before it")


# ---- a program at hand -----------------------------------------------------------------------


def why_other(data: Data, targets: Sequence[Target], limits: Limits) -> str:
    """Why programs do not do what a certificate says of them, each recorded once more; "" if so.

    Raises `SymattnError` where they cannot be recorded.
    """
    functions, claim = data["functions"], read(data)
    if len(functions) != len(targets):
        names = " and ".join(function["name"] for function in functions)
        raise SymattnError(f"the certificate is about {names}; name as many functions")
    for target, function, call in zip(targets, functions, claim.calls, strict=True):
        asked = Taping(target, call, claim.booleans)
        with running(target, limits, (taped.__module__,)) as run:
            tape = Tape(json.loads(asked_of(run, taped, asked, function["name"])))
        found = function_data(target, call, tape)
        if found["name"] != function["name"]:
            return f"it is about {function['name']}, not {found['name']}"
        if {**found, "sha256": ""} != {**function, "sha256": ""}:
            return f"{found['name']} does other operations, or returns others"
    return ""
