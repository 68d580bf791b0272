"""The languages a program can be spelled in, a table each."""

from __future__ import annotations

from pathlib import Path

from symattn.documents.code.fit import PRETTIER
from symattn.documents.code.spell import Language


def _python(
    name: str, module: str, alias: str, *,
    helpers: dict[str, str], operations: dict[str, str], views: dict[str, str],
) -> Language:  # fmt: skip
    """A language of Python with arrays from the module `alias`; NumPy unless said otherwise."""

    def renamed(table: dict[str, str]) -> dict[str, str]:
        return {key: template.replace("np.", f"{alias}.") for key, template in table.items()}

    return Language(
        name=name,
        operations=renamed(_OPERATIONS) | operations,
        views=renamed(_VIEWS) | views,
        slices=(":", "{0}:{1}", "{0}:{1}:{2}"),
        new="None",
        infinity=f"{alias}.inf",
        root="np.sqrt({0})" if alias == "np" else "math.sqrt({0})",
        assignment="{name} = {code}",
        comment="# {0}",
        header="def {name}({arguments}):",
        returned="return {{{pairs}}}",
        imports={"math": "import math\n\n", alias: f"{module}\n"},
        table=f"{alias}.{'tensor' if alias == 'torch' else 'array'}({{0}})",
        helpers=helpers,
        reserved=(alias, "math", "x"),
        known={"pair": '"{0}": {0}'},
    )


_OPERATIONS = {
    "literal": "np.array({0})",
    "add": "{0:t} + {1:t}",
    "subtract": "{0:t} - {1:t}",
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
}
_VIEWS = {
    "negative": "-{0:a}",
    "transpose": "{0:a}.swapaxes(-1, -2)",
    "plain transpose": "{0:a}.T",
    "index": "{0:a}[{details}]",
    "take": "np.take({0}, {details}, axis={axis})",
    "reshape": "{0:a}.reshape({shape})",
    "broadcast": "np.broadcast_to({0}, {shape})",
    "heads": "np.moveaxis({0}, -3, -2).reshape({shape})",
    "join": "np.concatenate([{all}], axis={details})",
    "interleave": "np.stack([{all}], axis=-1).reshape({shape})",
    "permute": "{0:a}.transpose({details})",
    "plain gather": "np.ravel({0})[{details}]",
    "gather": "np.concatenate([np.ravel(x) for x in [{all}]])[{details}]",
}
_THRESHOLD = '''

def threshold(x):
    """The τ of sparsemax: what is above it, less τ, sums to 1 in each row."""
    ranked = -np.sort(-x, axis=-1)
    counts = np.arange(1, x.shape[-1] + 1)
    return ((np.cumsum(ranked, axis=-1) - 1) / counts).max(axis=-1, keepdims=True)
'''
_FIRST_LARGEST = '''

def first_largest(x):
    """1 at the first largest entry of each row, 0 elsewhere."""
    return (np.arange(x.shape[-1]) == x.argmax(axis=-1)[..., None]) * 1.0
'''

NUMPY = _python(
    "numpy", "import numpy as np", "np",
    helpers={"threshold": _THRESHOLD, "first_largest": _FIRST_LARGEST}, operations={}, views={},
)  # fmt: skip

JAX = _python(
    "jax", "import jax.numpy as jnp", "jnp",
    helpers={"threshold": _THRESHOLD.replace("np.", "jnp."),
     "first_largest": _FIRST_LARGEST.replace("np.", "jnp.")},
    operations={"literal": "jnp.array({0}, dtype={like}.dtype)"},
    views={"take": "jnp.take({0}, jnp.array({details}), axis={axis})"},
)  # fmt: skip

TORCH = _python(
    "torch", "import torch", "torch",
    helpers={
        "threshold": '''

def threshold(x):
    """The τ of sparsemax: what is above it, less τ, sums to 1 in each row."""
    ranked = x.sort(dim=-1, descending=True).values
    counts = torch.arange(1, x.shape[-1] + 1)
    return ((ranked.cumsum(dim=-1) - 1) / counts).amax(dim=-1, keepdim=True)
''',
        "first_largest": '''

def first_largest(x):
    """1 at the first largest entry of each row, 0 elsewhere."""
    return (torch.arange(x.shape[-1]) == x.argmax(dim=-1, keepdim=True)).to(x.dtype)
''',
    },
    operations={
        "literal": "{like}.new_tensor({0})",
        "max0": "torch.clamp({0}, min=0)",
        "σ": "torch.sigmoid({0})",
        "elu1": "torch.where({0:a} >= 0, {0:a} + 1, torch.exp(torch.clamp({0}, max=0)))",
        "all": "{0:a}.all(dim=-1, keepdim=True)",
        "any": "{0:a}.any(dim=-1, keepdim=True)",
        "row_sum": "{0:a}.sum(dim=-1, keepdim=True)",
        "row_max": "{0:a}.amax(dim=-1, keepdim=True)",
    },
    views={
        "take": "torch.index_select({0}, {axis}, torch.tensor({details}))",
        "heads": "torch.movedim({0}, -3, -2).reshape({shape})",
        "join": "torch.cat([{all}], dim={details})",
        "interleave": "torch.stack([{all}], dim=-1).reshape({shape})",
        "permute": "{0:a}.permute({details})",
        "plain gather": "torch.ravel({0})[{details}]",
        "gather": "torch.cat([torch.ravel(x) for x in [{all}]])[{details}]",
    },
)  # fmt: skip

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
            "take": "take({0}, {details}, {axis})",
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
        comment="// {0}",
        header="function {name}({{ {arguments} }}) {{",
        returned="return {{ {pairs} }};",
        footer="}\n",
        opening=" {",
        gap=" ",
        style=PRETTIER,
        docs=("/**\n * ", " * ", " */"),
        docs_first=True,
        unquoted=("*/", "* /"),
        between="\n",
        suffix=".js",
        prelude=Path(__file__).with_name("arrays.js").read_text(encoding="utf-8"),
        reserved=("all", *_CALLS, *_SINGLE.values()),
    )


LANGUAGES: dict[str, Language] = {
    "numpy": NUMPY,
    "torch": TORCH,
    "jax": JAX,
    "javascript": _javascript(),
}
