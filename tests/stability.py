"""What users build upon, listed: names and signatures, options, worksheet keys, keys of JSON.

``python -m tests.stability`` writes `tests/stable/`; `tests/test_stability.py` compares it, and
says what a change asks for.
"""

from __future__ import annotations

import enum
import inspect
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

import symattn
from symattn.attention.presets import PRESETS
from symattn.attention.scoring import BIASES, SCORES
from symattn.attention.sources import POSITIONS
from symattn.attention.variants import VARIANTS
from symattn.attention.vocabulary import SYMBOLS
from symattn.claims.tables import KEYS
from symattn.cli import COMMANDS, main
from symattn.nodes.masks import MASKS
from symattn.nodes.normalise import NORMALISERS
from symattn.status import Status
from tests import ROOT
from tests.command import run

FOLDER = ROOT / "tests" / "stable"


# ---- Python ----------------------------------------------------------------------------------


def python_names(module: Any = symattn) -> Iterator[str]:
    """Every public name with its signature, and those of its public members."""
    for name in sorted(module.__all__):
        value = getattr(module, name)
        if inspect.isclass(value):
            yield f"class {name}{_signature(value)}"
            for member, found in sorted(_members(value).items()):
                yield f"{name}.{member}{_signature(found)}"
        else:
            yield f"{name}{_signature(value)}"


def _members(cls: type) -> dict[str, Any]:
    """The public members that the package itself defines; an exception's are Python's own."""
    return {
        name: value
        for base in reversed(cls.__mro__)
        if base.__module__.startswith("symattn")
        for name, value in vars(base).items()
        if not name.startswith("_")
    }


def _signature(value: Any) -> str:
    value = getattr(value, "__func__", value)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return ""
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return "(…)"
    return f"({', '.join(map(_parameter, parameters))})"


def _parameter(one: inspect.Parameter) -> str:
    """Its name, whether it has a default, and how it is given; not its type, which may widen."""
    sign = "*" * (one.kind is one.VAR_POSITIONAL) + "**" * (one.kind is one.VAR_KEYWORD)
    only = "keyword " if one.kind is one.KEYWORD_ONLY else ""
    return f"{only}{sign}{one.name}{'=' if one.default is not one.empty else ''}"


# ---- the command line ------------------------------------------------------------------------


def command_line() -> Iterator[str]:
    """Every command, argument and option with what it takes, and the exit statuses."""
    context = click.Context(main)
    for name in sorted(COMMANDS):
        command = main.get_command(context, name)
        assert command is not None
        for one in command.params:
            words = " ".join(sorted(one.opts, key=len)) if isinstance(one, click.Option) else "…"
            yield f"{name} {words} {_taken(one)}".rstrip()
    for status in Status:
        yield f"status {status.value} {status.name}"


def _taken(one: click.Parameter) -> str:
    flag = isinstance(one, click.Option) and one.is_flag
    kinds = [one.type.name] if not flag else ["flag"]
    if isinstance(one.type, click.Choice):
        kinds = [
            "|".join(x.value if isinstance(x, enum.Enum) else str(x) for x in one.type.choices)
        ]
    kinds += ["required"] * one.required + ["many"] * (one.multiple or one.nargs == -1)
    return " ".join(kinds)


# ---- worksheets ------------------------------------------------------------------------------


def worksheet_keys() -> Iterator[str]:
    """Every key of a worksheet, and the names that its values may have."""
    tables: dict[str, Any] = {
        **{table or "top": keys for table, keys in KEYS.items()},
        "given": SYMBOLS,
        "mask": MASKS,
        "normaliser": NORMALISERS,
        "score": SCORES,
        "bias": BIASES,
        "positions": POSITIONS,
        "preset": [row.name for row in PRESETS],
        "variant": [row.name for row in VARIANTS],
    }
    for table, keys in tables.items():
        names = {key if isinstance(key, str) else getattr(key, "word", key.name) for key in keys}
        yield from (f"{table}: {key}" for key in sorted(names))


# ---- JSON ------------------------------------------------------------------------------------

#: Commands whose JSON has every key that there is.
JSON = (
    "derive examples/two_heads.toml",
    "derive examples/decoding.toml",
    "derive rotary --size tokens=2",
    "derive causal",
    "check examples/checked_hand_calculation.toml",
    "check examples/attention_by_hand.md examples/checked_hand_calculation.toml",
    "prove shift",
    "prove 'softmax(2 S) = softmax(S)'",
    "prove self causal",
    "prove tests/lifting/attentions.py:online scaled-dot-product",
    "derive 'softmax(2,1,0)' --gradient all",
    "ladder scaled",
    "variants",
)


def json_keys() -> Iterator[str]:
    """Every key of what a command writes as JSON, with its kind; ``[]`` is any item of a list."""
    for words in JSON:
        files = re.sub(r"(examples|tests)/", rf"{ROOT}/\1/", words)
        arguments = shlex.split(files)
        ran = run(*arguments, "--format", "json")
        name = words.partition(" ")[0]
        yield from sorted({f"{name} {path}" for path in _paths(json.loads(ran.stdout))})


#: Tables whose keys are the user's own names.
_NAMED = ("sizes", "labels", "values", "given", "steps", "inputs", "files", "findings", "reading")


def _paths(data: Any, path: str = "") -> Iterator[str]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            own = path.rpartition(".")[2].removesuffix("[]") in _NAMED
            yield from _paths(value, f"{path}.{'*' if own else key}")
    elif isinstance(data, list):
        for value in data:
            if isinstance(value, list):  # a matrix is its numbers, whatever its levels
                yield from _paths(value, path)
            else:
                yield from _paths(value, f"{path}[]")
    else:
        kind = {bool: "true or false", int: "number", float: "number", str: "text"}
        yield f"{path}: {kind.get(type(data), 'null')}"


#: What is kept, by the file that it stands in.
KEPT: dict[str, Callable[[], Iterator[str]]] = {
    "python": python_names,
    "command_line": command_line,
    "worksheet": worksheet_keys,
    "json": json_keys,
}


def listed(name: str) -> list[str]:
    """The lines of one of them as they are now."""
    return list(dict.fromkeys(KEPT[name]()))


def kept(name: str) -> list[str]:
    """The lines as they were written last."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def changes(before: list[str], now: list[str]) -> str:
    """What went and what came, and what that asks for; nothing where all is as it was."""
    gone, new = ([x for x in a if x not in b] for a, b in ((before, now), (now, before)))
    if not gone and not new:
        return ""
    part = "the second number of the version (the first, from 1.0 on)" if gone else ""
    part = part or "the third number of the version (the second, from 1.0 on)"
    lines = [f"- {line}" for line in gone] + [f"+ {line}" for line in new]
    how = f"raise {part} with the next release, say so in CHANGELOG.md, and write the list anew:"
    return "\n".join((*lines, f"{how} python -m tests.stability"))


if __name__ == "__main__":
    for name in sys.argv[1:] or KEPT:
        FOLDER.joinpath(f"{name}.txt").write_text("\n".join(listed(name)) + "\n", encoding="utf-8")
