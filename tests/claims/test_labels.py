"""Names of rows and columns are bounded: the longest that is allowed is read, one more is not."""

from __future__ import annotations

from typing import Any

import pytest

from symattn.claims.labels import MAX_LABEL, label_of, labels_of, words_of
from symattn.errors import ReadError


def one_hot(tokens: int, words: int) -> list[list[int]]:
    vocabulary = [f"w{k}" for k in range(words)]
    given: dict[str, Any] = {"E": [[0]] * words}
    labels = labels_of({"tokens": [vocabulary[0]] * tokens, "vocabulary": vocabulary}, given)
    assert labels["n_vocab"] == tuple(vocabulary)
    rows: list[list[int]] = given["one_hot"]
    return rows


def test_the_entries_that_tokens_spell_out_are_bounded() -> None:
    rows = one_hot(256, 256)
    assert (len(rows), len(rows[0]), sum(map(sum, rows))) == (256, 256, 256)
    with pytest.raises(ReadError, match="257 tokens over 256 words are too many"):
        one_hot(257, 256)


X: dict[str, Any] = {"X": [[1, 0]], "W_Q": [[1], [1]]}
Q: dict[str, Any] = {"Q": [[1, 0]], "K": [[1, 0]]}


def test_a_list_of_features_is_of_what_is_given() -> None:
    named = {"features": ["noun", "verb"]}
    assert labels_of(named, dict(X)) == {"d_model": ("noun", "verb")}
    assert labels_of(named, dict(Q)) == {"d_k": ("noun", "verb")}


def test_a_table_of_features_is_by_size() -> None:
    named = {"features": {"d_model": ["noun", "verb"], "d_k": "who"}}
    assert labels_of(named, dict(X)) == {"d_model": ("noun", "verb"), "d_k": ("who",)}
    for size in ("n", "m", "p", "n_vocab"):
        with pytest.raises(ReadError, match=f"features: {size} counts rows; name them by one of"):
            labels_of({"features": {size: ["a"]}}, dict(X))
    with pytest.raises(ReadError, match="features: give a list of words"):
        labels_of({"features": {"d_k": 1}}, dict(X))


def test_the_length_of_a_label_is_bounded() -> None:
    assert label_of("a" * MAX_LABEL, "tokens") == "a" * MAX_LABEL
    with pytest.raises(ReadError, match="tokens: 81 characters are too many; 80 at most"):
        label_of("a" * (MAX_LABEL + 1), "tokens")
    with pytest.raises(ReadError, match="is not text"):
        label_of(1, "tokens")
    assert words_of("a b", "tokens") == words_of(["a", "b"], "tokens") == ("a", "b")
    with pytest.raises(ReadError, match="give a list of words"):
        words_of([], "tokens")
