"""Whether a program does the same at all sizes, as its source shows; else it is not said of all.

A program may do something else from so many tokens on, which no run at smaller sizes shows. So its
source is read with what each expression is: an array that is made of what is given, a pattern of
constants, a size, a number. Sizes may only be multiplied, and have powers; nothing may be compared
with them. What is not listed here (a branch, a loop, a part of an array) may depend on a size.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import math
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np

from symattn.errors import SymattnError
from symattn.lifting.limits import LIMITS
from symattn.lifting.recording import Target, function_of
from symattn.verifying.calling import code_of

#: What an expression is. The entries of a pattern do not depend on sizes, only where they stand;
#: a word is no number: an axis, a dtype, None.
Kind: TypeAlias = Literal["array", "pattern", "size", "number", "shape", "word"]

#: Functions of arrays, by the names of NumPy's functions and of methods.
_OF_ARRAYS = frozenset(
    [
        *("abs", "absolute", "add", "amax", "astype", "copy", "cos", "divide", "dot", "einsum"),
        *("exp", "expand_dims", "log", "matmul", "max", "maximum", "mean", "multiply", "negative"),
        *("power", "reciprocal", "sin", "sqrt", "square", "subtract", "sum", "swapaxes", "tanh"),
        *("transpose", "where"),
    ]
)

#: Those that make patterns of other patterns, and those that make them of sizes; by the place of
#: the argument that says which diagonal is meant.
_OF_PATTERNS: Mapping[str, int] = {"tril": 1, "triu": 1, "where": 9, "astype": 9, "copy": 9}
_PATTERNS: Mapping[str, int] = {
    "tri": 2,
    "eye": 2,
    **dict.fromkeys(("ones", "zeros", "full", "ones_like", "zeros_like", "full_like"), 9),
}

_SUMS, _PRODUCTS = (ast.Add, ast.Sub), (ast.Mult, ast.Div)


class Varying(SymattnError):
    """What may be done otherwise at other sizes."""


def varying(target: Target) -> bytes:
    """Why a program may do something else at other sizes; nothing where its source shows it not."""
    function = function_of(target)
    try:
        listed = _plain(function)
        given: dict[str, Kind] = {
            one.name: "array" if one.default is one.empty else _of_value(one.default)
            for one in listed
        }
        _Source(function, given, 0).read()
    except Varying as why:
        return json.dumps(str(why)).encode()
    except (TypeError, ValueError):
        return json.dumps("its arguments cannot be read").encode()
    return json.dumps("").encode()


def _of_value(value: Any) -> Kind:
    """What a value is that a program names."""
    if value is None or isinstance(value, bool | str | type | np.dtype):
        return "word"
    if isinstance(value, int | float):
        return "number"
    raise Varying(f"it uses {type(value).__name__}")


class _Source:
    """The source of a function, read once for what its arguments are."""

    def __init__(self, function: Any, given: Mapping[str, Kind], depth: int) -> None:
        if not isinstance(function, FunctionType) or depth > LIMITS.whole:
            raise Varying("it calls what has no source of its own, or itself")
        self._names: dict[str, Kind] = dict(given)
        self._space = code_of(function)[0][1]
        self._depth = depth
        self._node = _node_of(function)

    def read(self) -> Kind:
        """What the function returns. Raises `Varying`."""
        node = self._node
        if node.decorator_list:
            raise Varying("it is no plain function")
        for statement in node.body:
            match statement:
                case ast.Return(ast.expr() as value):
                    return self._kind(value)
                case ast.Assign([target], value):
                    self._assign(target, value)
                case ast.AugAssign(ast.Name(name) as target, operator, value):
                    both = ast.BinOp(ast.Name(name), operator, value)
                    self._names[name] = self._kind(ast.copy_location(both, target))
                case ast.Expr(ast.Constant(str())):
                    pass
                case _:
                    raise self._varies(statement)
        raise Varying("it returns nothing")

    def _varies(self, node: ast.AST) -> Varying:
        """What to raise for a part of the source that may depend on a size."""
        line = getattr(node, "lineno", 1)
        return Varying(f"line {line}: {ast.unparse(node)}".partition("\n")[0][:80])

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        """Names for a value, or for the parts of one."""
        match target, value:
            case ast.Name(name), _:
                self._names[name] = self._kind(value)
            case ast.Tuple(targets), ast.Tuple(values) if len(targets) == len(values):
                kinds = [self._kind(each) for each in values]
                for each, kind in zip(targets, kinds, strict=True):
                    self._name(each, kind)
            case ast.Tuple(targets), _ if self._kind(value) == "shape":
                for each in targets:
                    self._name(each, "size")
            case _:
                raise self._varies(target)

    def _name(self, target: ast.expr, kind: Kind) -> None:
        if not isinstance(target, ast.Name):
            raise self._varies(target)
        self._names[target.id] = kind

    # ---- expressions ---------------------------------------------------------------------

    def _kind(self, node: ast.expr) -> Kind:
        """What an expression is. Raises `Varying`."""
        match node:
            case ast.Constant(value):
                return _of_value(value)
            case ast.Name(name) if name in self._names:
                return self._names[name]
            case ast.Name() | ast.Attribute(ast.Name()) if self._meant(node) is not None:
                return _of_value(self._meant(node))
            case ast.Attribute(value, name):
                return self._attribute(node, self._kind(value), name)
            case ast.Subscript(value, index):
                return self._part(node, self._kind(value), index)
            case ast.Tuple(parts) | ast.List(parts):
                return self._joined(node, {self._kind(part) for part in parts})
            case ast.UnaryOp(operator, value):
                kind = self._kind(value)
                if isinstance(operator, ast.USub) or kind == "pattern":
                    return kind
            case ast.BinOp(left, operator, right):
                return self._computed(node, self._kind(left), operator, right)
            case ast.Compare(left, [_], [right]):
                if {self._kind(left), self._kind(right)} <= {"pattern", "number"}:
                    return "pattern"
            case ast.Call(function, args, keywords):
                named = {each.arg or "**": each.value for each in keywords}
                return self._called(node, function, args, named)
        raise self._varies(node)

    def _meant(self, node: ast.expr) -> Any:
        """What a name stands for that is none of the function's own; None for nothing."""
        match node:
            case ast.Name(name) if name not in self._names:
                return self._space.get(name, getattr(builtins, name, None))
            case ast.Attribute(value, name):
                module = self._meant(value)
                return getattr(module, name, None) if isinstance(module, ModuleType) else None
        return None

    def _attribute(self, node: ast.expr, kind: Kind, name: str) -> Kind:
        if kind in ("array", "pattern"):
            if name == "shape":
                return "shape"
            if name == "dtype":
                return "word"
            if name in ("T", "mT"):
                return kind
        raise self._varies(node)

    def _part(self, node: ast.expr, kind: Kind, index: ast.expr) -> Kind:
        """A size of a shape; an array with more axes."""
        if kind == "shape" and _literal(index) is not None:
            return "size"
        keys = index.elts if isinstance(index, ast.Tuple) else [index]
        whole = (ast.unparse(key) in (":", "...", "None", "np.newaxis") for key in keys)
        if kind in ("array", "pattern") and all(whole):
            return kind
        raise self._varies(node)

    def _joined(self, node: ast.expr, kinds: set[Kind]) -> Kind:
        for of, kind in (
            ({"number", "word"}, "word"),
            ({"size", "number"}, "shape"),
            ({"array", "pattern"}, "array"),
        ):
            if kinds <= of:
                return kind  # type: ignore[return-value]  # of the table above
        raise self._varies(node)

    def _computed(
        self, node: ast.expr, left: Kind, operator: ast.operator, power: ast.expr
    ) -> Kind:
        """A sum, a product, a quotient or a power."""
        right = self._kind(power)
        kinds = {left, right}
        plain = isinstance(operator, (*_SUMS, *_PRODUCTS))
        if isinstance(operator, ast.Pow):
            exponent = _literal(power)
            if left in ("array", "number") and right == "number":
                return left
            if left == "size" and exponent is not None and 0.25 <= abs(exponent) <= 4:
                return "size"
        elif "array" in kinds and (plain or isinstance(operator, ast.MatMult)):
            if not kinds & {"shape", "word"}:
                return "array"
        elif kinds <= {"pattern", "number"}:
            if plain or isinstance(operator, ast.BitAnd | ast.BitOr):
                return "pattern" if "pattern" in kinds else "number"
        elif kinds <= {"size", "number"} and isinstance(operator, _PRODUCTS):
            return "size"
        raise self._varies(node)

    def _called(
        self,
        node: ast.expr,
        function: ast.expr,
        args: list[ast.expr],
        named: Mapping[str, ast.expr],
    ) -> Kind:
        """What a call gives: of the program's own functions, of NumPy's, of methods."""
        meant = self._meant(function)
        kinds = [self._kind(each) for each in args]
        options = {name: self._kind(each) for name, each in named.items()}
        if isinstance(meant, FunctionType) and not _known(meant, np):
            bound = _bound(meant, kinds, options)
            return _Source(meant, bound, self._depth + 1).read()
        if isinstance(function, ast.Attribute) and meant is None:  # a method
            args, kinds = [function.value, *args], [self._kind(function.value), *kinds]
            name = function.attr
        elif any(_known(meant, module) for module in (np, math)) or meant is len or meant is float:
            name = meant.__name__
        else:
            raise self._varies(node)
        place = _PATTERNS.get(name, _OF_PATTERNS.get(name, 9))
        diagonals = [*args[place : place + 1], *(named[k] for k in named if k == "k")]
        if not all(_is_small(each) for each in diagonals):
            raise self._varies(node)
        found = _of_call(name, kinds, {*options.values()})
        if found is None:
            raise self._varies(node)
        return found


def _node_of(function: FunctionType) -> ast.FunctionDef:
    """The source of a function. Raises `Varying` where that is not what is run."""
    own = function.__code__
    try:
        tree = ast.parse("".join(inspect.findsource(function)[0]))
        parts = [*_parts_of(compile(tree, "", "exec", dont_inherit=True))]
    except (OSError, SyntaxError, ValueError):
        raise Varying("its source cannot be read") from None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    meant = [each for each in nodes if (each.name, each.lineno) == _place(own)]
    if len(meant) != 1 or not any(_is_same(each, own) for each in parts):
        raise Varying("its source is not what is run")
    return meant[0]


def _parts_of(code: CodeType) -> Iterator[CodeType]:
    """Code, and all that stands in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _parts_of(one)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _is_same(one: CodeType, other: CodeType) -> bool:
    """Whether two pieces of code at one place do the same."""
    return _place(one) == _place(other) and all(
        getattr(one, name) == getattr(other, name)
        for name in ("co_code", "co_consts", "co_names", "co_varnames", "co_freevars")
    )


def _of_call(name: str, kinds: list[Kind], options: set[Kind]) -> Kind | None:
    """What a function of NumPy's, or a method, gives; None for what is not known."""
    given = {*kinds, *options}
    sizes = {"size", "shape"}
    if name == "len" and kinds in (["array"], ["pattern"]):
        return "size"
    if name in ("sqrt", "float") and kinds == ["size"]:
        return "size"
    if name in {*_OF_ARRAYS, "float", "log2"} and kinds == ["number"]:
        return "number"
    if name in _OF_ARRAYS and "array" in given and not given & sizes:
        return "array"
    if name in _PATTERNS and kinds and not options & sizes:
        entries = {*kinds[1:]} if name.startswith("full") else {*()}
        if (kinds[0] in ("array", "pattern")) == name.endswith("_like") and not entries & sizes:
            return "pattern"
    if name in _OF_PATTERNS and given <= {"pattern", "number", "word"} and "pattern" in given:
        return "pattern"
    return None


def _known(function: Any, module: ModuleType) -> bool:
    """Whether it is a function of a library, by its name there."""
    name = getattr(function, "__name__", "")
    return function is not None and getattr(module, name, None) is function


def _bound(function: Callable[..., Any], kinds: list[Kind], options: Mapping[str, Kind]) -> Any:
    """What the arguments of a function are in a call."""
    try:
        bound = inspect.signature(function).bind(*kinds, **options)
    except TypeError:
        raise Varying("a call that cannot be followed") from None
    listed = _plain(function)
    defaults = {one.name: _of_value(one.default) for one in listed if one.default is not one.empty}
    return {**defaults, **bound.arguments}


def _plain(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The arguments of a function, each of which has a name."""
    listed = [*inspect.signature(function).parameters.values()]
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in listed):
        raise Varying("it takes any arguments")
    return listed


def _literal(node: ast.expr) -> float | None:
    """A number that is written, or a quotient of two; None for others."""
    match node:
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(ast.USub(), inner):
            number = _literal(inner)
            return None if number is None else -number
        case ast.BinOp(left, ast.Div(), right):
            above, below = _literal(left), _literal(right)
            return above / below if above is not None and below else None
    return None


def _is_small(node: ast.expr) -> bool:
    """Whether it is a whole number that the sizes that are tried are above."""
    value = _literal(node)
    return value is not None and abs(value) <= LIMITS.whole
