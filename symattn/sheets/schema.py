"""The keys and values of a worksheet as a JSON Schema, which editors complete and check by.

It is made of the tables that the reader itself reads by. What the reader accepts the schema
accepts; what only numbers or choices together tell (shapes that do not fit, a choice that would
have no effect) is for the reader alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any, TypeAlias, get_args

from symattn.algebra.identities import IDENTITIES
from symattn.arithmetic.spelling import DECIMAL_SIGNS
from symattn.arithmetic.verify import Accepted
from symattn.attention.meaning import AXES
from symattn.attention.norms import PLACES
from symattn.attention.plan import (
    BIASED,
    KEY_CHOICES,
    MATRIX_MASKS,
    PER_HEAD,
    PLAIN,
    SHIFTED,
    SOURCES,
)
from symattn.attention.presets import PRESETS
from symattn.attention.scoring import SCORES
from symattn.attention.spec import Attention
from symattn.attention.variants import NAMED
from symattn.attention.vocabulary import SYMBOLS, Notation
from symattn.attention.words import SIZES
from symattn.claims.labels import LABELS
from symattn.claims.policy import VERDICTS
from symattn.claims.tables import ANSWERS, KEYS
from symattn.language.texts import MAX_LENGTH
from symattn.nodes.entrywise import FEATURE_MAPS
from symattn.nodes.masks import COMBINED, MASKS
from symattn.nodes.normalise import NORMALISERS
from symattn.notation.options import MAX_DIGITS, MOST_HEADS

Schema: TypeAlias = dict[str, Any]

_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 1}
_NUMBER: Schema = {"type": ["number", "string"]}
_WORDS: Schema = {"type": ["array", "string"], "items": {"type": "string"}}
_MATRIX: Schema = {"type": ["array", "string", "number", "boolean"]}


def worksheet_schema() -> Schema:
    """The schema of a whole worksheet (JSON Schema, draft 2020-12).

    >>> worksheet_schema()["properties"]["attention"]["properties"]["tie"]["enum"]
    ['query-key', 'key-value']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A worksheet of symattn",
        "type": "object",
        "required": ["given"],
        "additionalProperties": False,
        "properties": {
            "title": {"type": "string", "description": "shown at the top", "maxLength": 500},
            "story": {
                "type": "string",
                "description": "what the tokens are about, shown below the title",
                "maxLength": 2000,
            },
            "schema": {"type": "integer", "const": 1},
            "decimal": {"enum": list(DECIMAL_SIGNS), "description": "the sign of decimals"},
            "gradient": {
                **_WORDS,
                "description": "what the backward pass is with respect to",
            },
            "equations": {
                "type": "string",
                "description": "an attention of one's own, an equation on each line",
                "maxLength": MAX_LENGTH,
            },
            "attention": _closed(_attention(), "the choice on each axis, labels and sizes"),
            "given": {
                "type": "object",
                "minProperties": 1,
                "description": "the matrices that are given, rows being tokens",
                "additionalProperties": _MATRIX,
            },
            "claims": {
                "type": "object",
                "description": "somebody's numbers, which are marked",
                "additionalProperties": _MATRIX,
            },
            "policy": _closed(_policy(), "what counts as right"),
            "misconception": {
                "type": "array",
                "description": "what is tried first on wrong numbers",
                "items": {
                    **_closed(
                        {
                            key: {"type": "string", "maxLength": 500}
                            for key in KEYS["misconception"]
                        },
                        "a misconception: what holds to those who have it",
                    ),
                    "required": ["name", "equation", "tell"],
                },
            },
            "exercise": _closed(_exercise(), "how an exercise was drawn"),
            "statements": {
                "type": "object",
                "description": "statements of the catalogue, true or false",
                "propertyNames": _words(row.name for row in IDENTITIES),
                "additionalProperties": _words(ANSWERS, _FLAG),
            },
            "notation": {
                "anyOf": [
                    _words(row.name for row in PRESETS),
                    _closed(_notation(), "how formulas are written"),
                ]
            },
        },
        # equations have letters of their own
        "if": {"not": {"required": ["equations"]}},
        "then": {
            "properties": {"given": {"propertyNames": {"pattern": _names_of_matrices()}}},
        },
    }


def _closed(properties: dict[str, Schema], description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "additionalProperties": False,
        "properties": properties,
    }


def _words(words: Any, *others: Schema) -> Schema:
    """One of these words, or what others allow."""
    choice = {"enum": list(words)}
    return {"anyOf": [choice, *others]} if others else choice


def _names_of_matrices() -> str:
    """The names of inputs and steps, one head or item of them, and gradients of steps."""
    names = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    return rf"^(({names})(\[[0-9]+\])*|d.+)$"


def _optioned(name: str) -> Schema:
    """A choice by its name, or a table of it with its options."""
    tables = {
        choice: {
            "anyOf": [
                {"const": True},
                _closed({option: {} for option in row.options}, f"options of {choice}"),
            ]
        }
        for choice, row in AXES[name].items()
    }
    table = {**_closed(tables, "one choice with its options"), "minProperties": 1}
    return _words(AXES[name], {**table, "maxProperties": 1}, {"const": False})


def _norm() -> Schema:
    """A norm of queries and keys, or a table of norms by the steps that they are of."""
    one = _optioned("norm")
    places = _closed(dict.fromkeys(PLACES, one), "norms of steps")
    return {"anyOf": [one, places]}


def _mask() -> Schema:
    """A name, a table, a list of these, or a matrix."""
    names = (*MASKS, *COMBINED, *MATRIX_MASKS, *KEY_CHOICES)
    own: dict[str, Schema] = {name: {} for name in (*MASKS, *COMBINED)}
    own |= {name: {"enum": [True, False, PER_HEAD]} for name in MATRIX_MASKS}
    own |= dict.fromkeys(KEY_CHOICES, _COUNT)
    return _words(names, _closed(own, "masks that all hold"), {"type": "array"}, {"const": False})


def _attention() -> dict[str, Schema]:
    chosen: dict[str, Schema] = {
        "source": _words(SOURCES),
        "embedded": _FLAG,
        "tie": _words(("query-key", "key-value")),
        "latent": {"enum": [True, False, "absorbed"]},
        "query_latent": _FLAG,
        "projection_bias": {"anyOf": [_FLAG, {"type": "array", "items": _words(BIASED)}]},
        "norm": _norm(),
        "positions": _optioned("positions"),
        "cache": _FLAG,
        "score": _words(SCORES),
        "feature_map": _words(FEATURE_MAPS),
        "scale": {"type": ["boolean", "number", "string"]},
        "soft_cap": {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string"},
                {"const": False},
            ]
        },
        "bias": _optioned("bias"),
        "mask": _mask(),
        "normaliser": _words(NORMALISERS),
        "unfold": {"enum": [True, False, SHIFTED, PLAIN]},
        "heads": _heads("h"),
        "kv_heads": _heads("g"),
        "output_gate": _optioned("output_gate"),
        "output_projection": _FLAG,
        "output_form": _words(("concat", "sum")),
    }
    assert [*chosen] == [axis.name for axis in fields(Attention)]
    return {
        "variant": _words(NAMED),
        **chosen,
        "batch": _COUNT,
        "chunks": {"anyOf": [_COUNT, {"type": "array", "items": _COUNT, "minItems": 1}]},
        **dict.fromkeys(LABELS, _WORDS),
        "features": {"anyOf": [_WORDS, {"type": "object", "additionalProperties": _WORDS}]},
        **{name: _COUNT for name in SIZES if name not in ("h", "g")},
    }


def _heads(letter: str) -> Schema:
    return {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 1024}, {"const": letter}]}


def _exercise() -> dict[str, Schema]:
    whole: Schema = {"type": "integer"}
    words: Schema = {"type": "string", "maxLength": 500}
    facts = {"digits": whole, "ties": _FLAG, "seed": whole, "generator": whole}
    return {key: facts.get(key, words) for key in KEYS["exercise"]}


def _policy() -> dict[str, Schema]:
    return {
        "rounding": _words(get_args(Accepted)),
        "min_digits": {"type": "integer", "minimum": 0, "maximum": 100},
        "accept": {
            "anyOf": [_words(VERDICTS), {"type": "array", "items": _words(VERDICTS)}],
        },
        "decimal": _words(("", *DECIMAL_SIGNS)),
    }


def _notation() -> dict[str, Schema]:
    chosen: dict[str, Schema] = {
        "index_base": {"enum": [0, 1]},
        "transpose": _words(("T", "⊤", "'")),
        "convention": _words(("rows", "columns")),
        "symbols": {"type": "object", "additionalProperties": {"type": "string"}},
        "digits": {"type": "integer", "minimum": 0, "maximum": MAX_DIGITS},
        "rounding": _words(("half-up", "half-even")),
        "gradients": _words(("d", "partial")),
        "layout": _words(("matrix", "falk")),
        "page": _words(("sheet", "stage")),
        "steps": _WORDS,
        "worked": _words(("telling", "all")),
        "head": {"type": "integer", "minimum": 0, "maximum": MOST_HEADS},
        "heads": _words(("side by side", "column")),
        "head_index": _words(("above", "below")),
    }
    unsaid: Collection[str] = ("exact", "limit")
    assert {*chosen} == {one.name for one in fields(Notation) if one.name not in unsaid}
    return {"preset": _words(row.name for row in PRESETS), **chosen}
