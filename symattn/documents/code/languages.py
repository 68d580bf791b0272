"""The languages a program can be spelled in, a table each."""

from __future__ import annotations

import re
import symtable
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from symattn.documents.code.language import Language
from symattn.documents.code.line_breaks import PRETTIER

#: Where the files of functions are.
_HERE = files(__package__)


def functions(file: Traversable, begin: str) -> dict[str, str]:
    """The functions of a file by name, each with the comment above it."""
    text = file.read_text(encoding="utf-8")
    parts = re.split(r"\n\n+(?=\S)", text)
    named = [(re.search(rf"^{begin}", part, re.MULTILINE), part) for part in parts]
    return {match[1]: part.rstrip() + "\n" for match, part in named if match}


def _read_in_python(code: str) -> set[str]:
    """The names that Python looks up outside of the functions of the code."""
    tables = [symtable.symtable(code, "program", "exec")]
    for table in tables:
        tables += table.get_children()
    return {
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (symbol.is_global() or table is tables[0])
    }


#: What is no code in JavaScript: comments and strings.
_WORDS = re.compile(r"""//[^\n]*|/\*.*?\*/|"[^"]*"|`[^`]*`""", re.DOTALL)

#: The names in JavaScript but for those behind a full stop and keys of objects.
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w:])")

#: What defines names in JavaScript: a declaration, or the parameters of a function.
_DEFINES = re.compile(
    r"\b(?:const|let) (\w+|[\[{][^=]*[\]}]) |\bfunction\*? ?\w*\(([^)]*)\)|(\w+|\([^()]*\)) =>"
)


def _read_in_javascript(code: str) -> set[str]:
    """The names of JavaScript that the code does not define."""
    plain = _WORDS.sub("", code).replace("...", " ")
    defined = " ".join(filter(None, sum(_DEFINES.findall(plain), ())))
    return {*_NAME.findall(plain)} - {*_NAME.findall(defined)}


#: What all languages of Python share.
_PYTHON: dict[str, Any] = {
    "half": "{0:a} // {1:a}",
    "truths": ("True", "False"),
    "assignment": "{name} = {code}",
    "comment": "# {0}",
    "returned": "return {{{pairs}}}",
    "refused": (
        "if {0} % {1}:",
        'raise ValueError(f"{{{0}}} heads cannot share {{{1}}} keys and values evenly")',
    ),
    "pair": ('"{0}": {1}', '"{0}": {1}'),
    "read": _read_in_python,
    "loops": ("for {0} in range({1}):", "for {0} in reversed(range({1})):"),
}

#: Functions of programs whose names are not those of their operations.
_CALLED = {
    "exp": "exponential",
    "√": "sqrt",
    "max0": "relu",
    "σ": "sigmoid",
    "ln": "log",
    "abs": "absolute",
    "min1": "at_most_1",
    "and": "both",
    "not": "negated",
    "every": "row_all",
    "some": "row_any",
    "first_largest": "hardmax",
    "heads apart": "split_heads",
    "heads beside": "merge_heads",
    "groups": "group_heads",
    "flattened": "in_one_row",
    "no more": "at_most",
    "whole power": "whole_power",
}


def _arrays(
    alias: str,
    array: str,
    imports: Mapping[str, str],
    operations: Mapping[str, str] | None = None,
    places: Mapping[str, str] | None = None,
) -> Language:
    """A language of Python with arrays from the module `alias`; NumPy unless said otherwise."""
    of_array = f"{{0}}: {array}"

    def renamed(table: Mapping[str, str]) -> dict[str, str]:
        return {key: template.replace("np.", f"{alias}.") for key, template in table.items()}

    own = renamed(_OPERATIONS) | dict(operations or {})
    return Language(
        name=alias,
        operations=own,
        places=renamed(_PLACES) | dict(places or {}),
        grids=(own["counted"], own["counted"].removesuffix("[:, None]")),
        batches=True,
        infinity=f"{alias}.inf",
        root="math.sqrt({0})",
        stacked=(own["stack"].format("{0}"), own["stack"].format("{0}[::-1]")),
        dtype=f"{alias}.result_type({{like}}, 1.0)",
        header=f"def attention({{arguments}}) -> dict[str, {array}]:",
        arguments=(of_array, of_array, of_array, "{0}: {1} = {2}"),
        imports={"math": "import math\n", **imports},
        called=_CALLED,
        reserved=(alias, "math", "dtype", "wide", *imports),
        **_PYTHON,
    )


_OPERATIONS = {
    "literal": "np.array({0}, dtype={dtype})",
    "table": "np.array({0})",
    "filled": "np.full(({shape}), {0}, dtype={dtype})",
    "identity": "np.eye({0}, dtype={dtype})",
    "counted": "np.arange({0})[:, None]",
    "numbers": "{0}",
    "powers": "{0:a} ** ({sign}np.arange(0, {1}, 2) / {1:a})",
    "narrowed": "{0:a}.astype({dtype})",
    "add": "{0} + {1:t}",
    "subtract": "{0} - {1:t}",
    "multiply": "{0:a} * {1:a}",
    "divide": "{0:a} / {1:a}",
    "negative": "-{0:a}",
    "matmul": "{0:m} @ {1:a}",
    "matmul a vector": "{0:m} @ {1:a}",
    "inverse": "np.linalg.inv({0})",
    "exp": "np.exp({0})",
    "tanh": "np.tanh({0})",
    "√": "np.sqrt({0})",
    "cos": "np.cos({0})",
    "sin": "np.sin({0})",
    "max0": "np.maximum({0}, 0)",
    "ln": "np.log({0})",
    "abs": "np.abs({0})",
    "min1": "np.minimum({0}, 1)",
    "above0": "({0:a} > 0).astype({dtype})",
    "below1": "({0:a} < 1).astype({dtype})",
    "hidden": "np.isneginf({0})",
    "equals": "{0:a} == {1:a}",
    "no more": "{0:a} <= {1:a}",
    "whole power": "{0:a} ** {1:a}",
    "and": "{0:a} & {1:a}",
    "not": "~{0:a}",
    "where": "np.where({0}, {1}, {2})",
    "where of numbers": "np.where({0}, {1}, {2}).astype({dtype})",
    "every": "{0:a}.all(axis=-1, keepdims=True)",
    "some": "{0:a}.any(axis=-1, keepdims=True)",
    "row_sum": "{0:a}.sum(axis=-1, keepdims=True)",
    "row_max": "{0:a}.max(axis=-1, keepdims=True)",
    "total": "{0:a}.sum(axis={axis})",
    "transpose": "{0:a}.mT",
    "expand -1": "{0:a}[..., None]",
    "expand -2": "{0:a}[..., None, :]",
    "expand -3": "{0:a}[..., None, :, :]",
    "expand -4": "{0:a}[..., None, :, :, :]",
    "expand twice": "{0:a}[:, None, None]",
    "beneath": "{0:a}[..., None, :, :]",
    "expand beneath": "{0:a}[..., None, :, None]",
    "pick -1": "{0:a}[..., {1}]",
    "pick -2": "{0:a}[..., {1}, :]",
    "pick -3": "{0:a}[..., {1}, :, :]",
    "entries": "{0:a}[..., {1}, {2}]",
    "chosen": "{0:a}[..., {1}]",
    "repeat": "np.repeat({0}, {1}, axis={axis})",
    "heads beside": "np.moveaxis({0:a}, -3, -2).reshape(*{0:a}.shape[:-3], {rows}, -1)",
    "shared": "np.repeat({0:a}[..., None, :, :], {1}, axis=-3)",
    "broadcast": "np.broadcast_to({0}, ({shape}))",
    "with heads": "np.broadcast_to({0}, (*{1}.shape[:{ahead}], {2}))",
    "join": "np.concatenate([{all}], axis={axis})",
    "stack": "np.stack({0}, axis=-3)",
    "together": "np.broadcast_arrays(*{0})",
    "size": "{0}.shape[{1}]",
    "power": "{0}**{1}",
    "power of more": "{0:a} ** {1}",
    "larger": "max({0}, {1})",
}

#: Operations on positions that are Python's own.
_SCALARS = {
    "add": "{0} + {1:t}",
    "subtract": "{0} - {1:t}",
    "multiply": "{0:a} * {1:a}",
    "negative": "-{0:a}",
    "whole quotient": "{0:a} // {1:a}",
    "remainder": "{0:a} % {1:a}",
    "size of": "abs({0})",
    "at most": "{0} <= {1}",
    "below": "{0} < {1}",
    "at least": "{0} >= {1}",
    "above": "{0} > {1}",
    "equals": "{0} == {1}",
    "look up": "{0}[{1}]",
}
_PLACES = _SCALARS | {
    "and": " & ",
    "or": " | ",
    "not": "~{0:a}",
    "smaller": "np.minimum({0}, {1})",
    "larger": "np.maximum({0}, {1})",
    "clip": "np.clip({0}, {1}, {2})",
    "among": "np.isin({0}, {1})",
    "begun": "np.digitize({0}, {1})",
    "listed": "np.array({0})",
    "triangle": "np.tri({0}, dtype=bool)",
    "triangle of sizes": "np.tri({0}, {1}, dtype=bool)",
    "triangle from": "np.tri({0}, {1}, k={2}, dtype=bool)",
    "always": "np.full(({shape}), True)",
    "never": "np.full(({shape}), False)",
}

_IN_NUMPY = functions(_HERE / "functions_numpy.py", r"def (\w+)\(")

NUMPY = replace(
    _arrays("np", "np.ndarray", {"np": "import numpy as np\n"}), name="numpy", helpers=_IN_NUMPY
)


def _in_jax(name: str, text: str) -> str:
    """A function of NumPy as one of JAX."""
    text = text.replace("np.ndarray", "jax.Array").replace("np.", "jnp.")
    if name == "interleave":
        text = text.replace("jnp.empty(", "jnp.zeros(")
        old = "    out[..., 0::2], out[..., 1::2] = a, b\n    return out\n"
        return text.replace(old, "    return out.at[..., 0::2].set(a).at[..., 1::2].set(b)\n")
    return text


JAX = replace(
    _arrays(
        "jnp",
        "jax.Array",
        {"jax": "import jax\n", "jnp": "import jax.numpy as jnp\n"},
        {
            "softmax": "jax.nn.softmax({0}, axis=-1)",
            "σ": "jax.nn.sigmoid({0})",
            "erf": "jax.scipy.special.erf({0})",
        },
    ),
    name="jax",
    helpers={
        name: _in_jax(name, text)
        for name, text in _IN_NUMPY.items()
        if name not in ("softmax", "sigmoid", "erf")
    },
)

_TORCH_OPERATIONS = {
    "literal": "{like}.new_tensor({0})",
    "table": "torch.tensor({0}, dtype={wide}, device={like}.device)",
    "filled": "{like}.new_full(({shape}), {0})",
    "identity": "torch.eye({0}, dtype={dtype}, device={like}.device)",
    "counted": "torch.arange({0}, device={like}.device)[:, None]",
    "powers": (
        "{0:a} ** ({sign}torch.arange(0, {1}, 2, dtype={wide}, device={like}.device) / {1:a})"
    ),
    "narrowed": "{0:a}.to({dtype})",
    "softmax": "{0:a}.softmax(dim=-1)",
    "σ": "torch.sigmoid({0})",
    "elu1": "torch.nn.functional.elu({0}) + 1",
    "erf": "torch.erf({0})",
    "max0": "torch.relu({0})",
    "min1": "{0:a}.clamp(max=1)",
    "above0": "({0:a} > 0).to({dtype})",
    "below1": "({0:a} < 1).to({dtype})",
    "fill": "{0:a}.masked_fill({1}, {2})",
    "where of numbers": "torch.where({0}, {1}, {2}).to({dtype})",
    "every": "{0:a}.all(dim=-1, keepdim=True)",
    "some": "{0:a}.any(dim=-1, keepdim=True)",
    "expand -1": "{0:a}.unsqueeze(-1)",
    "expand -2": "{0:a}.unsqueeze(-2)",
    "expand -3": "{0:a}.unsqueeze(-3)",
    "expand -4": "{0:a}.unsqueeze(-4)",
    "beneath": "{0:a}.unsqueeze(-3)",
    "row_sum": "{0:a}.sum(dim=-1, keepdim=True)",
    "row_max": "{0:a}.amax(dim=-1, keepdim=True)",
    "total": "{0:a}.sum(dim={axis})",
    "repeat": "{0:a}.repeat_interleave({1}, dim={axis})",
    "heads beside": "{0:a}.transpose(-3, -2).flatten(-2)",
    "shared": "{0:a}.unsqueeze(-3).repeat_interleave({1}, dim=-3)",
    "with heads": "{0:a}.expand(*{1}.shape[:{ahead}], {2})",
    "join": "torch.cat([{all}], dim={axis})",
    "stack": "torch.stack({0}, dim=-3)",
    "together": "torch.broadcast_tensors(*{0})",
}

_TORCH_PLACES = {
    "smaller": "torch.clamp({0}, max={1})",
    "larger": "torch.clamp({0}, min={1})",
    "clip": "torch.clamp({0}, {1}, {2})",
    "begun": "torch.bucketize({0}, {1}, right=True)",
    "listed": "torch.tensor({0}, device={like}.device)",
    "triangle": "torch.ones({0}, {0}, dtype=torch.bool, device={like}.device).tril()",
    "triangle of sizes": "torch.ones({0}, {1}, dtype=torch.bool, device={like}.device).tril()",
    "triangle from": "torch.ones({0}, {1}, dtype=torch.bool, device={like}.device).tril({2})",
}

TORCH = replace(
    _arrays(
        "torch",
        "Tensor",
        {"torch": "import torch\n", "Tensor": "from torch import Tensor\n"},
        _TORCH_OPERATIONS,
        _TORCH_PLACES,
    ),
    helpers=functions(_HERE / "functions_torch.py", r"def (\w+)\(")
    | {"alibi_slopes": _IN_NUMPY["alibi_slopes"]},
    wide="torch.promote_types(dtype, torch.float32)",
)

#: Operations that lists and JavaScript's arrays spell alike; the others are calls of functions.
_CALLS = {
    "part": "part({0}, {1}, {2}, {step}, {axis})",
    "pick": "pick({0}, {1}, {axis})",
    "expand": "expand({0}, {axis})",
    "beneath": "expand({0}, -3)",
    "matmul a vector": "pick(matmul({0}, expand({1}, -1)), 0, -1)",
    "repeat": "repeat({0}, {1}, {axis})",
    "total": "total({0}, {axis})",
    "broadcast": "broadcast({0}, [{shape}])",
    "together": "{0}",
    "with heads": "broadcast({0}, [{shape}])",
    "filled": "broadcast({0}, [{shape}])",
    "join": "join([{all}], {axis})",
    "numbers": "{0}",
    "narrowed": "{0}",
    "power of more": "{0:a} ** {1}",
    "larger": "max({0}, {1})",
}

PYTHON = Language(
    name="python",
    operations=_CALLS
    | {
        "literal": "{0}",
        "table": "{0}",
        "counted": "[[i] for i in range({0})]",
        "powers": "[{0:a} ** ({sign}t / {1:a}) for t in range(0, {1}, 2)]",
        "size": "len({0}{zeros})",
        "power": "{0}**{1}",
        "shared": "[{0} for _ in range({1})]",
    },
    places=_SCALARS
    | {
        "and": " and ",
        "or": " or ",
        "not": "not {0:a}",
        "smaller": "min({0}, {1})",
        "larger": "max({0}, {1})",
        "clip": "min(max({0}, {1}), {2})",
        "among": "{0:a} in {1}",
        "begun": "bisect.bisect({1}, {0})",
        "listed": "{0}",
        "always": "True",
        "never": "False",
        "table": "[[{0} for j in range({columns})] for i in range({rows})]",
    },
    grids=None,
    batches=False,
    infinity="math.inf",
    root="math.sqrt({0})",
    stacked=("{0}", "{0}[::-1]"),
    dtype="float",
    header="def attention({arguments}) -> dict[str, list]:",
    arguments=(
        "{0}: list[float]",
        "{0}: list[list[float]]",
        "{0}: list[list[list[float]]]",
        "{0}: {1} = {2}",
    ),
    note="Matrices are lists of rows.",
    imports={
        "bisect": "import bisect\n",
        "math": "import math\n",
        "operator": "import operator\n",
    },
    helpers=functions(_HERE / "lists.py", r"def (\w+)\("),
    called=_CALLED,
    reserved=("bisect", "math", "operator", "t"),
    **_PYTHON,
)

JAVASCRIPT = Language(
    name="javascript",
    operations=_CALLS
    | {
        "literal": "matrix({0})",
        "table": "matrix({0})",
        "powers": "matrix(range(0, {1}, 2).map((t) => {0:a} ** ({sign}t / {1:a})))",
        "size": "{0}.shape.at({1})",
        "power": "{0} ** {1}",
        "larger": "Math.max({0}, {1})",
        "shared": "repeat(expand({0}, -3), {1}, -3)",
    },
    places=_SCALARS
    | {
        "and": " && ",
        "or": " || ",
        "not": "!{0:a}",
        "whole quotient": "Math.floor({0:a} / {1:a})",
        "remainder": "mod({0}, {1})",
        "size of": "Math.abs({0})",
        "smaller": "Math.min({0}, {1})",
        "larger": "Math.max({0}, {1})",
        "clip": "Math.min(Math.max({0}, {1}), {2})",
        "equals": "{0} === {1}",
        "among": "{1}.includes({0})",
        "begun": "{1}.filter((start) => start <= {0}).length",
        "listed": "{0}",
        "always": "true",
        "never": "false",
        "table": "tabulate({rows}, {columns}, (i, j) => {0})",
    },
    grids=None,
    batches=False,
    truths=("true", "false"),
    half="Math.floor({0:a} / {1:a})",
    infinity="Infinity",
    root="Math.sqrt({0})",
    dtype="",
    assignment="const {name} = {code};",
    loops=(
        "for (let {0} = 0; {0} < {1}; {0}++) {{",
        "for (let {0} = {1} - 1; {0} >= 0; {0}--) {{",
    ),
    stacked=("stack({0})", "stack({0}.reverse())"),
    changing="let {name} = {code};",
    changed="{name} = {code};",
    appended="{0}.push({1});",
    comment="// {0}",
    header="function attention({{ {arguments} }}) {{",
    arguments=("{0}", "{0}", "{0}", "{0} = {2}"),
    returned="return {{ {pairs} }};",
    refused=(
        "if ({0} % {1})",
        "throw new Error(`${{{0}}} heads cannot share ${{{1}}} keys and values`);",
    ),
    pair=("{0}: {1}", "{0}"),
    read=_read_in_javascript,
    footer="}\n",
    opening=" {",
    gap=" ",
    style=PRETTIER,
    docs=("/**\n * ", " * ", " */"),
    heading=("// ", "// ", ""),
    note="Matrices are made by matrix([[1, 2], [3, 4]]).",
    docs_first=True,
    unquoted=("*/", "* /"),
    between="\n",
    suffix=".js",
    helpers=functions(_HERE / "arrays.js", r"(?:function\*?|const) (\w+)"),
    offered=("matrix",),
    called=_CALLED | {name: name for name in ("and", "not", "every", "some")},
    camel=True,
    reserved=("t", "arguments", "delete", "new", "this", "var", "let", "const", "function"),
)

LANGUAGES: dict[str, Language] = {
    language.name: language for language in (PYTHON, NUMPY, TORCH, JAX, JAVASCRIPT)
}
