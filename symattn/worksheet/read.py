"""Reading a worksheet: TOML with ``[attention]``, ``[given]`` and, optionally, ``[notation]``.

Every limit comes before the work it bounds: size of the file, entries of a matrix, length of a
label. Whatever cannot be used is one `SymattnError` that says where, what and how to mend.
"""

from __future__ import annotations

import re
import stat
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from symattn.attention.spec import Attention
from symattn.attention.variants import variant
from symattn.derivation import Derivation, Evaluation
from symattn.errors import ReadError, SymattnError, nearest
from symattn.notation.options import SIZES, SYMBOLS, Notation

Made = TypeVar("Made")

MAX_BYTES = 8_000_000
MAX_LABEL = 80

_TABLES = ("title", "schema", "attention", "given", "claims", "policy", "notation")
_AXES = ("source", "embedded", "scale", "mask", "normaliser", "unfold", "heads",
         "output_projection")  # fmt: skip
_SIZES = tuple(name for name in SIZES if name != "h")  # the number of heads is an axis
_LABELS = ("tokens", "query_tokens", "key_tokens", "vocabulary", "features")
_NOTATION = ("index_base", "transpose", "convention", "symbols", "digits", "rounding")
_HEAD = re.compile(r"([A-Za-z_]+)\[([0-9]{1,4})\]\Z")


@dataclass(frozen=True)
class Worksheet:
    """A worksheet as read: the spec, what is given, and how it is to be shown."""

    title: str
    spec: Attention
    given: Mapping[str, Any]
    sizes: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notation: Notation = field(default_factory=Notation)
    claims: tuple[str, ...] = ()
    name: str = ""
    source: str = field(default="", repr=False)

    def in_file(self, make: Callable[..., Made], *args: Any) -> Made:
        """``make(*args)``, with the file and line put before what it refuses."""
        try:
            return make(*args)
        except SymattnError as error:
            raise type(error)(f"{_where(self.name, self.source, str(error))}: {error}") from None

    def derivation(self) -> Derivation:
        """The derivation from what is given on."""
        return self.spec.derivation(
            list(self.given), sizes=self.sizes, labels=self.labels, title=self.title
        )

    def evaluate(self, derivation: Derivation | None = None, dtype: str = "float64") -> Evaluation:
        """The derivation with the given numbers put in."""
        return (derivation or self.derivation()).evaluate(dtype=dtype, **self.given)


def read_worksheet(path: str | Path) -> Worksheet:
    """The worksheet in a file, or on standard input for ``-``.

    Raises `ReadError` (or another `SymattnError`) whose message begins with the file and, where
    it is known, the line.
    """
    name = "<stdin>" if str(path) == "-" else str(path)
    source = _source(path, name)
    try:
        data = tomllib.loads(source, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(f"{name}: not valid TOML: {_first_line(error)}") from None
    except RecursionError:
        raise ReadError(f"{name}: brackets are nested too deep") from None
    except ValueError as error:
        raise ReadError(f"{name}: a number is too long to read: {_first_line(error)}") from None
    try:
        return replace(_worksheet(data), name=name, source=source)
    except SymattnError as error:
        raise type(error)(f"{_where(name, source, str(error))}: {error}") from None


def _source(path: str | Path, name: str) -> str:
    try:
        if str(path) == "-":
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            info = Path(path).stat()
            if stat.S_ISDIR(info.st_mode):
                raise ReadError(f"{name}: is a folder; give a worksheet file")
            if info.st_size > MAX_BYTES:
                raise ReadError(_too_large(name, info.st_size))
            with Path(path).open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(f"{name}: cannot be read: {reason}") from None
    except ValueError as error:
        raise ReadError(f"{name!a}: is no file name: {error}") from None
    if len(raw) > MAX_BYTES:
        raise ReadError(_too_large(name, len(raw)))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ReadError(f"{name}:{line}: not UTF-8 text; save the file as UTF-8") from None


def _too_large(name: str, size: int) -> str:
    return (
        f"{name}: {size:,} bytes or more are too many for a step-by-step derivation; "
        f"{MAX_BYTES:,} at most"
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _where(name: str, source: str, message: str) -> str:
    """``file:line`` where the key that the message starts with is defined, else the file."""
    match = re.match(r'"?([A-Za-z_]+(?:\[[0-9]+\])?)', message)
    if match is None:
        return name
    key = re.escape(match[1])
    pattern = re.compile(rf'^\s*"?{key}"?\s*=|^\s*\[+\s*"?{key}"?\s*\]', re.MULTILINE)
    found = pattern.search(source) or re.compile(
        rf'^\s*"?{re.escape(match[1].split("[")[0])}"?\s*=', re.MULTILINE
    ).search(source)
    if found is None:
        return name
    start = found.start() + len(found[0]) - len(found[0].lstrip())
    return f"{name}:{source.count(chr(10), 0, start) + 1}"


def _worksheet(data: Mapping[str, Any]) -> Worksheet:
    _known(data, _TABLES, "")
    schema = data.get("schema", 1)
    if schema != 1 or isinstance(schema, bool):
        raise ReadError(f"schema = {str(schema)[:20]}: this symattn reads schema 1")
    attention = _table(data, "attention")
    given = _given(_table(data, "given"))
    if not given:
        raise ReadError("given: nothing is given; add [given] with e.g. Q = [[1, 0]], K and V")
    spec, settings = _spec(attention, given)
    labels = _labels(settings, given)
    sizes = {name: settings[name] for name in _SIZES if name in settings}
    return Worksheet(
        _label(data.get("title", ""), "title", 500),
        spec,
        given,
        sizes,
        labels,
        _notation(_table(data, "notation")),
        tuple(_table(data, "claims")),
    )


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, Mapping):
        raise ReadError(f"{name}: has to be a table; write [{name}] on a line of its own")
    return table


def _known(data: Mapping[str, Any], names: Iterable[str], table: str) -> None:
    names = tuple(names)
    for key in data:
        if key not in names:
            where = f" in [{table}]" if table else ""
            raise ReadError(f'"{_printable(key)}"{where} is not a known key{nearest(key, names)}')


def _given(table: Mapping[str, Any]) -> dict[str, Any]:
    """What is given, with ``W_Q[1]``, ``W_Q[2]`` gathered into one list of heads."""
    given: dict[str, Any] = {}
    heads: dict[str, dict[int, Any]] = {}
    for key, value in table.items():
        match = _HEAD.match(key)
        name = match[1] if match else key
        if name not in SYMBOLS:
            raise ReadError(f'"{_printable(key)}" in [given] is not a known name'
                            f"{nearest(name, SYMBOLS)}")  # fmt: skip
        if match:
            heads.setdefault(name, {})[int(match[2])] = value
        else:
            given[name] = value
    for name, parts in heads.items():
        if name in given:
            raise ReadError(f"{name}[{min(parts)}]: {name} is given as a whole too; keep one")
        if sorted(parts) != list(range(1, len(parts) + 1)):
            listed = ", ".join(f"{name}[{head}]" for head in sorted(parts))
            raise ReadError(f"{name}: heads are numbered from 1 without gaps, not {listed}")
        given[name] = [parts[head] for head in sorted(parts)]
    return given


def _spec(attention: Mapping[str, Any], given: dict[str, Any]) -> tuple[Attention, dict[str, Any]]:
    """The spec, and the settings of the table that are not axes of it."""
    _known(attention, ("variant", *_AXES, *_LABELS, *_SIZES), "attention")
    base = Attention()
    if "variant" in attention:
        base = variant(_label(attention["variant"], "variant")).spec
    axes = {name: getattr(base, name) for name in _AXES}
    axes |= {name: attention[name] for name in _AXES if name in attention}
    axes["mask"] = _mask(axes["mask"], given)
    for name in ("allowed", "mask"):
        kind = {"allowed": "boolean", "mask": "additive"}[name]
        if name in given and not any(pair[0] == kind for pair in Attention(mask=axes["mask"]).mask):
            axes["mask"] = [*Attention(mask=axes["mask"]).mask, (kind, True)]
    if "variant" in attention and "source" not in attention and axes["source"] == "self":
        axes["source"] = None if "X" not in given and "one_hot" not in given else "self"
    levels = max((_depth(value) for value in given.values()), default=2)
    heads = axes["heads"]
    if levels == 3 and heads in (None, "h"):
        heads = max(len(value) for value in given.values() if _depth(value) == 3)
    elif heads == "h":
        raise ReadError("heads: say how many, or give one matrix for each head")
    axes["heads"] = heads
    return Attention(**axes), {k: v for k, v in attention.items() if k not in _AXES}


def _mask(mask: Any, given: dict[str, Any]) -> Any:
    """A matrix written in place of a mask's name moves to what is given."""
    if not (isinstance(mask, list) and mask and isinstance(mask[0], list)):
        return mask
    boolean = any(isinstance(x, bool) for row in mask if isinstance(row, list) for x in row)
    name = "allowed" if boolean else "mask"
    if name in given:
        raise ReadError(f"mask: {name} is given too; keep one of them")
    given[name] = mask
    return "boolean" if boolean else "additive"


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, list) and depth < 8:
        depth += 1
        value = value[0] if value else None
    return depth


def _labels(settings: Mapping[str, Any], given: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """The names of rows and columns by size; also the one-hot rows that tokens spell out."""
    words = {name: _words(settings[name], name) for name in _LABELS if name in settings}
    labels: dict[str, tuple[str, ...]] = {}
    tokens = words.get("tokens", ())
    if "E" in given and "one_hot" not in given and tokens:
        vocabulary = words.get("vocabulary") or tuple(dict.fromkeys(tokens))
        for token in tokens:
            if token not in vocabulary:
                raise ReadError(f'tokens: "{token}" is not in the vocabulary'
                                f"{nearest(token, vocabulary)}")  # fmt: skip
        given["one_hot"] = [[int(word == token) for word in vocabulary] for token in tokens]
        labels["n_vocab"] = vocabulary
    counts = _row_counts(given)
    for size, key in (("n", "query_tokens"), ("m", "key_tokens")):
        if key in words:
            labels[size] = words[key]
        elif tokens and counts.get(size, len(tokens)) == len(tokens):
            labels[size] = tokens
    if tokens and tokens not in (labels.get("n"), labels.get("m")):
        found = ", ".join(f"{size} = {count}" for size, count in counts.items())
        raise ReadError(f"tokens: {len(tokens)} names fit neither queries nor keys ({found})")
    if "m" in labels and "m" not in counts and "n" in labels:
        del labels["m"]
    if "features" in words:
        labels["d_model" if "X" in given or "E" in given else "d_k"] = words["features"]
    return labels


def _row_counts(given: Mapping[str, Any]) -> dict[str, int]:
    """How many queries (n) and keys (m) the given matrices have."""
    counts: dict[str, int] = {}
    by_row = (("n", ("X", "one_hot", "Q")), ("m", ("memory", "K", "V")))
    for size, names in by_row:
        for name in names:
            if name in given:
                counts.setdefault(size, _rows(given[name]))
    for name in ("scores", "scaled", "masked", "weights", "exp"):
        matrix = given.get(name)
        if isinstance(matrix, list) and matrix:
            counts.setdefault("n", _rows(matrix))
            line = matrix[0][0] if _depth(matrix) == 3 and matrix[0] else matrix[0]
            if isinstance(line, list):
                counts.setdefault("m", len(line))
    return counts


def _rows(matrix: Any) -> int:
    if not isinstance(matrix, list) or not matrix:
        return 0
    return len(matrix[0]) if _depth(matrix) == 3 else len(matrix)


def _words(value: Any, name: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split()
    if not isinstance(value, list) or not value:
        raise ReadError(f'{name}: give a list of words, e.g. {name} = ["it", "cat"]')
    return tuple(_label(word, name) for word in value)


def _label(value: Any, name: str, most: int = MAX_LABEL) -> str:
    if not isinstance(value, str):
        raise ReadError(f"{name}: {_printable(str(value))} is not text; put it in quotes")
    if len(value) > most:
        raise ReadError(f"{name}: {len(value)} characters are too many; {most} at most")
    return value


def _notation(table: Mapping[str, Any]) -> Notation:
    _known(table, _NOTATION, "notation")
    symbols = table.get("symbols", {})
    if not isinstance(symbols, Mapping):
        raise ReadError('symbols: has to be a table, e.g. symbols = { weights = "alpha" }')
    return Notation(**{**table, "symbols": dict(symbols)})


def _printable(text: str) -> str:
    shown = text if text.isprintable() else ascii(text)[1:-1]
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
