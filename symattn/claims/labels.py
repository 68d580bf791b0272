"""The names of rows and columns in a worksheet: tokens, words of a vocabulary, features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from symattn.arithmetic.reading import MAX_ENTRIES, depth
from symattn.derivations import Given
from symattn.errors import ReadError, nearest, quote

MAX_LABEL = 80
_ROWS = ("tokens", "query_tokens", "key_tokens", "past_tokens", "vocabulary")
LABELS = (*_ROWS, "features")


def labels_of(
    settings: Mapping[str, object], given: dict[str, Given], embeds: bool = True
) -> dict[str, tuple[str, ...]]:
    """The names of rows and columns by size; also the one-hot rows that tokens spell out.

    These are of an E that `embeds` tokens; in equations it may be any matrix.

    A list of features names the columns of X, or of Q and K where these are given: a table names
    columns by their size, ``{"d_model": ["noun", "verb"], "d_k": ["who"]}``.
    """
    words = {name: words_of(settings[name], name) for name in _ROWS if name in settings}
    labels: dict[str, tuple[str, ...]] = {}
    tokens = words.get("tokens", ())
    if "vocabulary" in words and ("E" not in given or "one_hot" in given):
        raise ReadError("vocabulary: names the rows of E; give E and tokens, or leave it out")
    if tokens and "query_tokens" in words and "key_tokens" in words:
        raise ReadError("tokens: query_tokens and key_tokens name all rows; leave tokens out")
    if embeds and "E" in given and "one_hot" not in given and tokens:
        labels["n_vocab"] = words.get("vocabulary") or tuple(dict.fromkeys(tokens))
        given["one_hot"] = _one_hot(tokens, labels["n_vocab"])
    counts = _row_counts(given)
    for size, key in (("n", "query_tokens"), ("m", "key_tokens")):
        if key in words:
            labels[size] = words[key]
        elif tokens and counts.get(size, len(tokens)) == len(tokens):
            labels[size] = tokens
    if tokens and tokens not in (labels.get("n"), labels.get("m")):
        found = ", ".join(f"{size} = {count}" for size, count in counts.items())
        raise ReadError(f"tokens: {len(tokens)} names fit neither queries nor keys ({found})")
    if "past_tokens" in words:
        if not any(name.endswith("_past") for name in given):
            raise ReadError("past_tokens: names the rows of K_past; give it, or leave this out")
        labels["p"] = words["past_tokens"]
    if "m" in labels and "m" not in counts and "n" in labels:
        del labels["m"]
    usual = "d_model" if "X" in given or "E" in given else "d_k"
    return labels | _columns(settings.get("features", {}), usual)


def _columns(features: object, usual: str) -> dict[str, tuple[str, ...]]:
    """The names of columns by size; those of a list are of the usual one."""
    named = features if isinstance(features, Mapping) else {usual: features}
    for size in sorted({"n", "m", "p", "n_vocab"} & named.keys()):
        raise ReadError(f"features: {size} counts rows; name them by one of {', '.join(_ROWS)}")
    return {size: words_of(names, "features") for size, names in named.items()}


def _one_hot(tokens: Sequence[str], vocabulary: Sequence[str]) -> list[Given]:
    """A row for each token, with 1 at its word."""
    if len(tokens) * len(vocabulary) > MAX_ENTRIES:
        raise ReadError(f"tokens: {len(tokens)} tokens over {len(vocabulary)} words are too many")
    for token in tokens:
        if token not in vocabulary:
            raise ReadError(
                f'tokens: "{token}" is not in the vocabulary{nearest(token, vocabulary)}'
            )
    return [[int(word == token) for word in vocabulary] for token in tokens]


def _row_counts(given: Mapping[str, Given]) -> dict[str, int]:
    """How many queries (n) and keys (m) the given matrices have."""
    counts: dict[str, int] = {}
    for size, names in (("n", ("X", "one_hot", "Q")), ("m", ("memory", "K", "V"))):
        for name in names:
            if name in given:
                counts.setdefault(size, _lengths(given[name])[0])
    for name in ("scores", "scaled", "masked", "weights", "exp"):
        matrix = given.get(name)
        if isinstance(matrix, list) and matrix:
            for size, count in zip("nm", _lengths(matrix), strict=False):
                counts.setdefault(size, count)
    return counts


def _lengths(matrix: Given) -> tuple[int, ...]:
    """How many rows, and columns, a matrix has, of the first head and the first item of a batch."""
    if isinstance(matrix, np.ndarray):
        return matrix.shape[-2:] if matrix.ndim > 1 else (0,)
    while depth(matrix) > 2:
        matrix = matrix[0]
    rows = matrix if isinstance(matrix, list) else []
    return len(rows), *(len(row) for row in rows[:1] if isinstance(row, list))


def words_of(value: object, name: str) -> tuple[str, ...]:
    """A list of words, or words with spaces between; `name` begins what is refused."""
    if isinstance(value, str):
        value = value.split()
    if not isinstance(value, list) or not value:
        raise ReadError(f'{name}: give a list of words, e.g. {name} = ["it", "cat"]')
    return tuple(label_of(word, name) for word in value)


def label_of(value: object, name: str, most: int = MAX_LABEL) -> str:
    """A text that is not too long."""
    if not isinstance(value, str):
        raise ReadError(f"{name}: {quote(value)} is not text; put it in quotes")
    if len(value) > most:
        raise ReadError(f"{name}: {len(value)} characters are too many; {most} at most")
    return value


def leaves(value: object) -> Iterator[object]:
    """What stands in a table or in nested lists; a value that is neither is the only one."""
    if isinstance(value, Mapping):
        value = list(value.values())
    for part in value if isinstance(value, list | tuple) else (value,):
        if isinstance(part, list | tuple | Mapping):
            yield from leaves(part)
        else:
            yield part


def texts_of(value: object) -> Iterator[str]:
    """The texts in a table or in nested lists."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str))
