"""The languages a program can be spelled in, a table each."""

from __future__ import annotations

from pathlib import Path

from symattn.documents.code.spell import Language

NUMPY = Language(
    name="numpy",
    operations={
        "literal": "np.array({0})",
        "add": "{0:a} + {1:a}",
        "subtract": "{0:a} - {1:a}",
        "multiply": "{0:a} * {1:a}",
        "divide": "{0:a} / {1:a}",
        "matmul": "{0:a} @ {1:a}",
        "exp": "np.exp({0})",
        "tanh": "np.tanh({0})",
        "√": "np.sqrt({0})",
        "cos": "np.cos({0})",
        "sin": "np.sin({0})",
        "max0": "np.maximum({0}, 0)",
        "σ": "0.5 * (1 + np.tanh(0.5 * {0:a}))",
        "elu1": "np.where({0:a} >= 0, {0:a} + 1, np.exp(np.minimum({0}, 0)))",
        "hidden": "np.isneginf({0})",
        "equals": "{0:a} == {1:a}",
        "where": "np.where({0}, {1}, {2})",
        "all": "{0:a}.all(axis=-1, keepdims=True)",
        "any": "{0:a}.any(axis=-1, keepdims=True)",
        "or": "{0:a} | {1:a}",
        "and": "{0:a} & {1:a}",
        "not": "~{0:a}",
        "row_sum": "{0:a}.sum(axis=-1, keepdims=True)",
        "row_max": "{0:a}.max(axis=-1, keepdims=True)",
        "threshold": "threshold({0})",
        "first_largest": "first_largest({0})",
    },
    views={
        "negative": "-{0:a}",
        "transpose": "{0:a}.swapaxes(-1, -2)",
        "plain transpose": "{0:a}.T",
        "index": "{0:a}[{details}]",
        "take": "np.take({0}, {details})",
        "reshape": "{0:a}.reshape({shape})",
        "broadcast": "np.broadcast_to({0}, {shape})",
        "heads": "np.moveaxis({0}, -3, -2).reshape({shape})",
        "join": "np.concatenate([{all}], axis={details})",
        "interleave": "np.stack([{all}], axis=-1).reshape({shape})",
        "permute": "{0:a}.transpose({details})",
        "plain gather": "np.ravel({0})[np.array({details})]",
        "gather": "np.concatenate([np.ravel(x) for x in [{all}]])[np.array({details})]",
    },
    slices=(":", "{0}:{1}", "{0}:{1}:{2}"),
    new="None",
    infinity="np.inf",
    root="np.sqrt({0})",
    assignment="{name} = {code}",
    comment="# %{0}",
    header="def {name}({arguments}):",
    footer="    return {{{pairs}}}\n",
    prelude="""import numpy as np


def threshold(x):
    ranked = -np.sort(-x, axis=-1)
    counts = np.arange(1, x.shape[-1] + 1)
    return ((np.cumsum(ranked, axis=-1) - 1) / counts).max(axis=-1, keepdims=True)


def first_largest(x):
    return (np.arange(x.shape[-1]) == x.argmax(axis=-1)[..., None]) * 1.0


""",
    reserved=("np", "threshold", "first_largest", "x"),
    known={"pair": '"{0}": {0}'},
)

_CALLS = ("add", "subtract", "multiply", "divide", "matmul", "where", "equals", "or", "and")
_SINGLE = {
    "exp": "exp", "tanh": "tanh", "√": "sqrt", "cos": "cos", "sin": "sin", "max0": "relu",
    "σ": "sigmoid", "elu1": "elu1", "hidden": "hidden", "all": "every", "any": "some",
    "not": "not", "row_sum": "rowSum", "row_max": "rowMax", "threshold": "threshold",
    "first_largest": "firstLargest", "literal": "matrix",
}  # fmt: skip


def _javascript() -> Language:
    operations = {name: f"{name}({{0}}, {{1}})" for name in _CALLS}
    operations |= {name: f"{call}({{0}})" for name, call in _SINGLE.items()}
    operations["where"] = "where({0}, {1}, {2})"
    return Language(
        name="javascript",
        operations=operations,
        views={
            "negative": "negative({0})",
            "transpose": "transpose({0})",
            "index": "pick({0}, [{details}])",
            "take": "take({0}, {details})",
            "reshape": "reshape({0}, {shape})",
            "broadcast": "broadcast({0}, {shape})",
            "heads": "besideEachOther({0})",
            "join": "join([{all}], {details})",
            "interleave": "interleave({all})",
            "permute": "permute({0}, {details})",
            "gather": "gather([{all}], {details})",
        },
        slices=("all", "[{0}, {1}, 1]", "[{0}, {1}, {2}]"),
        new="null",
        infinity="Infinity",
        root="Math.sqrt({0})",
        assignment="const {name} = {code};",
        comment="// %{0}",
        header="function {name}({{ {arguments} }}) {{",
        footer="  return {{ {pairs} }};\n}}\n",
        indent="  ",
        prelude=Path(__file__).with_name("arrays.js").read_text(encoding="utf-8"),
        reserved=("all", *_CALLS, *_SINGLE.values()),
    )


LANGUAGES: dict[str, Language] = {"numpy": NUMPY, "javascript": _javascript()}
