"""The languages a program can be spelled in, a table each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symattn.documents.code.language import Language
from symattn.documents.code.line_breaks import PRETTIER


def _functions(file: str, begin: str) -> dict[str, str]:
    """The functions of a file by name, each with the comment above it."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    parts = re.split(r"\n\n+(?=\S)", text)
    named = [(re.search(rf"^{begin}", part, re.MULTILINE), part) for part in parts]
    return {match[1]: part.rstrip() + "\n" for match, part in named if match}


#: What all languages of Python share.
_PYTHON: dict[str, Any] = {
    "slices": (":", "{0}:{1}", "{0}:{1}:{2}"),
    "ends": False,
    "new": "None",
    "logic": (" & ", " | "),
    "same": "==",
    "half": "{0:a} // {1:a}",
    "assignment": "{name} = {code}",
    "comment": "# {0}",
    "header": "def {name}({arguments}):",
    "returned": "return {{{pairs}}}",
    "known": {"pair": '"{0}": {0}'},
}


def _arrays(
    name: str,
    module: str,
    alias: str,
    *,
    helpers: dict[str, str],
    operations: dict[str, str],
    views: dict[str, str],
    grid: str = "",
    imports: Mapping[str, str] | None = None,
) -> Language:
    """A language of Python with arrays from the module `alias`; NumPy unless said otherwise."""

    def renamed(table: dict[str, str]) -> dict[str, str]:
        return {key: template.replace("np.", f"{alias}.") for key, template in table.items()}

    counted = f"{alias}.arange({{0}})"
    return Language(
        name=name,
        operations=renamed(_OPERATIONS) | operations,
        views=renamed(_VIEWS) | views,
        infinity=f"{alias}.inf",
        root="np.sqrt({0})" if alias == "np" else "math.sqrt({0})",
        grids=(f"{grid or counted}[:, None]", grid or counted),
        imports={"math": "import math\n", alias: f"{module}\n", **(imports or {})},
        table=f"{alias}.{'tensor' if alias == 'torch' else 'array'}({{0}})",
        helpers=helpers,
        reserved=(alias, "math", *(imports or {}), "x"),
        **_PYTHON,
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
    "erf": "erf({0})",
    "max0": "np.maximum({0}, 0)",
    "σ": "0.5 * (1 + np.tanh(0.5 * {0:a}))",
    "elu1": "np.where({0:a} >= 0, {0:a} + 1, np.exp(np.minimum({0}, 0)))",
    "ln": "np.log({0})",
    "abs": "np.abs({0})",
    "min1": "np.minimum({0}, 1)",
    "above0": "({0:a} > 0) * 1.0",
    "below1": "({0:a} < 1) * 1.0",
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
    "size": "{0}.shape[{1}]",
    "power": "{0}**{1}",
    "power of more": "{0:a} ** {1}",
    "size of": "abs({0})",
    "clip": "np.clip({0}, {1}, {2})",
    "seen": "np.where({0}, 0, -np.inf)",
    "table": "{0}",
    "counted": "np.arange({0})",
    "counted column": "np.arange({0})[:, None]",
    "powers": "{0}.0 ** ({3}np.arange(0, {1}, {2}) / {1:a})",
}
_VIEWS = {
    "negative": "-{0:a}",
    "transpose": "{0:a}.swapaxes(-1, -2)",
    "plain transpose": "{0:a}.T",
    "index": "{0:a}[{details}]",
    "take": "np.take({0}, {details}, axis={axis})",
    "repeat": "np.repeat({0}, {details}, axis={axis})",
    "along": "np.take_along_axis({0}, {details}, axis=-1)",
    "deep along": "np.take_along_axis({0}, {details:a}[{lead}:, :], axis=-1)",
    "spread": "{0:a}[..., {details}]",
    "reshape": "{0:a}.reshape({shape})",
    "broadcast": "np.broadcast_to({0}, {shape})",
    "heads": "np.moveaxis({0}, -3, -2).reshape({shape})",
    "apart": "np.moveaxis({0:a}.reshape({wide}), -2, -3)",
    "join": "np.concatenate([{all}], axis={details})",
    "interleave": "np.stack([{all}], axis=-1).reshape({shape})",
    "permute": "{0:a}.transpose({details})",
    "plain gather": "np.ravel({0})[{details}]",
    "gather": "np.concatenate([np.ravel(x) for x in [{all}]])[{details}]",
}
_THRESHOLD = '''def threshold(x):
    """The τ of sparsemax: what is above it, less τ, sums to 1 in each row."""
    ranked = -np.sort(-x, axis=-1)
    counts = np.arange(1, x.shape[-1] + 1)
    return ((np.cumsum(ranked, axis=-1) - 1) / counts).max(axis=-1, keepdims=True)
'''
_FIRST_LARGEST = '''def first_largest(x):
    """1 at the first largest entry of each row, 0 elsewhere."""
    return (np.arange(x.shape[-1]) == x.argmax(axis=-1)[..., None]) * 1.0
'''
_ERF = '''def erf(x):
    """The error function of each entry."""
    return np.vectorize(math.erf, otypes=[np.result_type(x, 0.0)])(x)
'''

NUMPY = _arrays(
    "numpy",
    "import numpy as np",
    "np",
    helpers={"threshold": _THRESHOLD, "first_largest": _FIRST_LARGEST, "erf": _ERF},
    operations={},
    views={},
)

JAX = _arrays(
    "jax",
    "import jax.numpy as jnp",
    "jnp",
    imports={"jax": "import jax.scipy.special\n"},
    helpers={
        "threshold": _THRESHOLD.replace("np.", "jnp."),
        "first_largest": _FIRST_LARGEST.replace("np.", "jnp."),
    },
    operations={
        "literal": "jnp.array({0}, dtype={like}.dtype)",
        "erf": "jax.scipy.special.erf({0})",
        "seen": "jnp.where({0}, 0, -jnp.inf).astype({like}.dtype)",
        "counted": "jnp.arange({0}, dtype={like}.dtype)",
        "counted column": "jnp.arange({0}, dtype={like}.dtype)[:, None]",
        "powers": "{0}.0 ** ({3}jnp.arange(0, {1}, {2}, dtype={like}.dtype) / {1:a})",
    },
    views={"take": "jnp.take({0}, jnp.array({details}), axis={axis})"},
)

TORCH = _arrays(
    "torch",
    "import torch",
    "torch",
    helpers={
        "threshold": '''def threshold(x):
    """The τ of sparsemax: what is above it, less τ, sums to 1 in each row."""
    ranked = x.sort(dim=-1, descending=True).values
    counts = torch.arange(1, x.shape[-1] + 1, device=x.device)
    return ((ranked.cumsum(dim=-1) - 1) / counts).amax(dim=-1, keepdim=True)
''',
        "first_largest": '''def first_largest(x):
    """1 at the first largest entry of each row, 0 elsewhere."""
    places = torch.arange(x.shape[-1], device=x.device)
    return (places == x.argmax(dim=-1, keepdim=True)).to(x.dtype)
''',
    },
    grid="torch.arange({0}, device={like}.device)",
    operations={
        "literal": "{like}.new_tensor({0})",
        "erf": "torch.erf({0})",
        "clip": "torch.clamp({0}, {1}, {2})",
        "seen": "torch.where({0}, 0.0, -torch.inf).to({like})",
        "where of numbers": "torch.where({0}, {1}, {2}).to({like})",
        "counted": "torch.arange({0}).to({like})",
        "counted column": "torch.arange({0}).to({like})[:, None]",
        "powers": "{0}.0 ** ({3}torch.arange(0, {1}, {2}).to({like}) / {1:a})",
        "max0": "torch.clamp({0}, min=0)",
        "min1": "torch.clamp({0}, max=1)",
        "σ": "torch.sigmoid({0})",
        "elu1": "torch.where({0:a} >= 0, {0:a} + 1, torch.exp(torch.clamp({0}, max=0)))",
        "all": "{0:a}.all(dim=-1, keepdim=True)",
        "any": "{0:a}.any(dim=-1, keepdim=True)",
        "row_sum": "{0:a}.sum(dim=-1, keepdim=True)",
        "row_max": "{0:a}.amax(dim=-1, keepdim=True)",
    },
    views={
        "take": "torch.index_select({0}, {axis}, torch.tensor({details}))",
        "repeat": "torch.repeat_interleave({0}, {details}, dim={axis})",
        "along": "torch.take_along_dim({0}, {details}, dim=-1)",
        "deep along": "torch.take_along_dim({0}, {details:a}[{lead}:, :], dim=-1)",
        "heads": "torch.movedim({0}, -3, -2).reshape({shape})",
        "apart": "torch.movedim({0:a}.reshape({wide}), -2, -3)",
        "join": "torch.cat([{all}], dim={details})",
        "interleave": "torch.stack([{all}], dim=-1).reshape({shape})",
        "permute": "{0:a}.permute({details})",
        "plain gather": "torch.ravel({0})[{details}]",
        "gather": "torch.cat([torch.ravel(x) for x in [{all}]])[{details}]",
    },
)

_CALLS = ("add", "subtract", "multiply", "divide", "matmul", "equals", "or", "and")
_SINGLE = {
    "exp": "exp",
    "tanh": "tanh",
    "√": "sqrt",
    "cos": "cos",
    "sin": "sin",
    "erf": "erf",
    "max0": "relu",
    "σ": "sigmoid",
    "elu1": "elu1",
    "ln": "log",
    "abs": "absolute",
    "min1": "atMost1",
    "above0": "above0",
    "below1": "below1",
    "hidden": "hidden",
    "all": "every",
    "any": "some",
    "not": "not",
    "row_sum": "rowSum",
    "row_max": "rowMax",
    "threshold": "threshold",
    "first_largest": "firstLargest",
    "literal": "matrix",
}


def _called(names: Mapping[str, str]) -> dict[str, str]:
    """Operations on arrays as calls of functions: those of two operands, of one, and a choice."""
    operations = {name: f"{names.get(name, name)}({{0}}, {{1}})" for name in _CALLS}
    operations |= {name: f"{names.get(name, call)}({{0}})" for name, call in _SINGLE.items()}
    return operations | {"where": "where({0}, {1}, {2})"}


#: Views as calls of functions; the two languages that have lists only differ in a few.
_CALLED_VIEWS = {
    "negative": "negative({0})",
    "transpose": "transpose({0})",
    "index": "pick({0}, {details})",
    "take": "take({0}, {details}, {axis})",
    "repeat": "repeat({0}, {details}, {axis})",
    "along": "along({0}, {details})",
    "spread": "spread({0}, {details})",
    "reshape": "reshape({0}, {shape})",
    "broadcast": "broadcast({0}, {shape})",
    "heads": "beside({0})",
    "apart": "apart({0}, {count})",
    "join": "join([{all}], {details})",
    "interleave": "interleave({all})",
    "permute": "permute({0}, {details})",
    "gather": "gather([{all}], {details})",
}

_LISTS = _functions("lists.py", r"def (\w+)\(")
_LISTS_NAMES = {
    "min1": "at_most_1",
    "or": "either",
    "and": "both",
    "not": "negated",
    "all": "row_all",
    "any": "row_any",
    "row_sum": "row_sum",
    "row_max": "row_max",
    "first_largest": "first_largest",
}

PYTHON = Language(
    name="python",
    operations=_called(_LISTS_NAMES)
    | {
        "literal": "{0}",
        "size": "len({0}{zeros})",
        "power": "{0}**{1}",
        "power of more": "{0:a} ** {1}",
        "size of": "abs({0})",
        "clip": "min(max({0}, {1}), {2})",
        "seen": "[[0 if {0} else -math.inf for j in range({columns})] for i in range({rows})]",
        "table": "[[{0} for j in range({columns})] for i in range({rows})]",
        "counted": "list(range({0}))",
        "counted column": "[[t] for t in range({0})]",
        "powers": "[{0} ** ({3}t / {1:a}) for t in range(0, {1}, {2})]",
    },
    views=_CALLED_VIEWS,
    infinity="math.inf",
    root="math.sqrt({0})",
    grids=None,
    note="Matrices are lists of rows.",
    imports={"math": "import math\n", "operator": "import operator\n"},
    helpers=_LISTS,
    reserved=("math", "operator", "i", "j", "t"),
    **_PYTHON
    | {
        "slices": ("slice(None)", "slice({0}, {1})", "slice({0}, {1}, {2})"),
        "ends": True,
        "logic": (" and ", " or "),
    },
)

JAVASCRIPT = Language(
    name="javascript",
    operations=_called({})
    | {
        "size": "{0}.shape[{1}]",
        "power": "{0} ** {1}",
        "power of more": "{0:a} ** {1}",
        "size of": "Math.abs({0})",
        "clip": "Math.min(Math.max({0}, {1}), {2})",
        "seen": "mask({rows}, {columns}, {0})",
        "table": "table({rows}, {columns}, {0})",
        "rule": "(i, j) => {0}",
        "counted": "matrix(range({1}, {2}, 1))",
        "counted column": "transpose(matrix([range({1}, {2}, 1)]))",
        "powers": "matrix(range(0, {1}, {2}).map((t) => {0} ** ({3}t / {1:a})))",
    },
    views=_CALLED_VIEWS | {"index": "pick({0}, [{details}])", "along": "pickAlong({0}, {details})"},
    slices=("all", "[{0}, {1}, 1]", "[{0}, {1}, {2}]"),
    ends=True,
    new="null",
    grids=None,
    logic=(" && ", " || "),
    same="===",
    half="{0:a} / {1:a}",
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
    note="Matrices are made by matrix([[1, 2], [3, 4]]).",
    docs_first=True,
    unquoted=("*/", "* /"),
    between="\n",
    suffix=".js",
    helpers=_functions("arrays.js", r"(?:function\*?|const) (\w+)"),
    reserved=("i", "j", "t"),
)

LANGUAGES: dict[str, Language] = {
    language.name: language for language in (PYTHON, NUMPY, TORCH, JAX, JAVASCRIPT)
}
