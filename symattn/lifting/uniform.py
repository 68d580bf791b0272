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
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal, TypeAlias

from symattn.errors import SymattnError
from symattn.lifting.limits import LIMITS
from symattn.lifting.recording import Target, function_of
from symattn.verifying.calling import code_of

#: What an expression is. The entries of a pattern do not depend on sizes, only where they stand.
#: Places are 0, 1, 2, …, which may be compared with one another, as their differences with small
#: numbers, and with nothing else. A word is no number: an axis, a dtype, None.
Kind: TypeAlias = Literal[
    "array", "pattern", "places", "difference", "size", "number", "shape", "word"
]

#: The modules whose functions have the meaning that their names have below.
_LIBRARIES = (
    *(
        "numpy",
        "math",
        "torch",
        "torch.nn.functional",
        "jax.numpy",
        "jax.nn",
        "jax.lax",
        "scipy.special",
    ),
)

#: Functions of arrays, by the names of functions of a library and of methods.
_OF_ARRAYS = frozenset(
    [
        *("abs", "absolute", "add", "amax", "amin", "bmm", "cos", "div", "divide", "dot", "einsum"),
        *("exp", "exp2", "log", "log_softmax", "logsumexp", "masked_fill", "matmul", "max"),
        *("maximum", "mean", "min", "minimum", "mm", "mul", "multiply", "neg", "negative", "pow"),
        *("power", "reciprocal", "rsqrt", "scaled_dot_product_attention", "sigmoid", "sin"),
        *("softmax", "sqrt", "square", "sub", "subtract", "sum", "tanh", "where"),
    ]
)

#: What may be a scale.
_SCALES = ("size", "number")

#: Those that change no number, but where it stands; and how it is kept, which places beyond 256
#: need not survive.
_MOVES = frozenset(
    [
        *("clone", "contiguous", "copy", "expand_dims", "permute", "reshape", "swapaxes", "t"),
        *("transpose", "unsqueeze"),
    ]
)
_CASTS = frozenset(
    ["array", "asarray", "astype", "bool", "double", "float", "tensor", "to", "type_as", "view"]
)

#: Those that make patterns of other patterns, and those that make them of sizes.
_OF_PATTERNS = frozenset(["logical_not", "masked_fill", "tril", "triu", "where"])
_PATTERNS = frozenset(
    ["eye", "full", "full_like", "ones", "ones_like", "tri", "zeros", "zeros_like"]
)

#: The argument that says which diagonal is meant: its place, and its names.
_DIAGONALS: Mapping[str, int] = {"tri": 2, "eye": 2, "tril": 1, "triu": 1}
_DIAGONAL = ("k", "diagonal")

#: What may be compared; a place that is shifted, and a small number, are so written.
_COMPARED = (
    *({"pattern"}, {"pattern", "number"}, {"pattern", "small"}, {"number"}, {"number", "small"}),
    *({"places"}, {"places", "shifted"}, {"places", "small"}, {"difference", "small"}),
)

#: Parts of an index that leave an axis as it is, or make a new one.
_WHOLE = (":", "...", "None", "np.newaxis", "jnp.newaxis")

_SUMS, _PRODUCTS = (ast.Add, ast.Sub), (ast.Mult, ast.Div)


class Varying(SymattnError):
    """What may be done otherwise at other sizes."""


@dataclass(frozen=True)
class Called:
    """A function, and which of its arguments are arrays that it is given; others keep defaults."""

    target: Target
    arrays: tuple[str, ...]


def varying(called: Called) -> bytes:
    """Why a program may do something else at other sizes; nothing where its source shows it not."""
    function = function_of(called.target)
    try:
        kept = {one.name: one.default for one in _plain(function) if one.name not in called.arrays}
        given: dict[str, Kind] = {name: _of_value(value) for name, value in kept.items()}
        given |= dict.fromkeys(called.arrays, "array")
        _of_function(function, _Scope(given, kept))
    except Varying as why:
        return json.dumps(str(why)).encode()
    except (TypeError, ValueError):
        return json.dumps("its arguments cannot be read").encode()
    return json.dumps("").encode()


def _of_value(value: Any) -> Kind:
    """What a value is that a program names."""
    if value is None or isinstance(value, bool | str | type) or type(value).__name__ == "dtype":
        return "word"
    if isinstance(value, int | float):
        return "number"
    raise Varying(f"it uses {type(value).__name__}")


@dataclass(frozen=True)
class _Scope:
    """What the names in a function stand for."""

    names: dict[str, Kind]
    #: The values of arguments that keep their defaults.
    kept: dict[str, Any]
    #: The functions that are defined in it, and the module that it sees.
    inner: dict[str, ast.FunctionDef] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    depth: int = 0

    def name(self, target: ast.expr, kind: Kind) -> None:
        """A name for something of a kind. Raises `Varying` for what is no name."""
        if not isinstance(target, ast.Name):
            raise _varies(target)
        self.names[target.id] = kind
        self.kept.pop(target.id, None)
        self.inner.pop(target.id, None)

    def meant(self, node: ast.expr) -> Any:
        """What a name stands for that is none of the function's own; None for nothing."""
        match node:
            case ast.Name(name) if name not in self.names and name not in self.inner:
                return self.space.get(name, getattr(builtins, name, None))
            case ast.Attribute(value, name):
                module = self.meant(value)
                return getattr(module, name, None) if isinstance(module, ModuleType) else None
        return None

    def holds(self, test: ast.expr) -> bool:
        """Whether a condition on arguments that keep their defaults holds; so at all sizes."""
        match test:
            case ast.UnaryOp(ast.Not(), inner):
                return not self.holds(inner)
            case ast.Compare(ast.Name(name), [ast.Is()], [ast.Constant(None)]):
                if name in self.kept or self.names.get(name) == "array":
                    return name in self.kept and self.kept[name] is None
            case ast.Compare(left, [ast.IsNot()], right):
                return not self.holds(ast.Compare(left, [ast.Is()], right))
            case ast.Name(name) if isinstance(self.kept.get(name), bool):
                return bool(self.kept[name])
        raise _varies(test)

    def within(self, given: ast.arguments, kinds: Sequence[Kind]) -> _Scope:
        """That of a function that is defined in this one. Raises `Varying` for other arguments."""
        names = [one.arg for one in given.args]
        plain = not (given.vararg or given.kwarg or given.kwonlyargs or given.defaults)
        if not plain or len(names) != len(kinds) or self.depth > LIMITS.whole:
            raise Varying("it calls what is defined in it with other arguments, or itself")
        own = {**self.names, **dict(zip(names, kinds, strict=True))}
        kept = {name: value for name, value in self.kept.items() if name not in names}
        return replace(self, names=own, kept=kept, inner={**self.inner}, depth=self.depth + 1)


def _varies(node: ast.AST) -> Varying:
    """What to raise for a part of the source that may depend on a size."""
    line = getattr(node, "lineno", 1)
    return Varying(f"line {line}: {ast.unparse(node)}".partition("\n")[0][:80])


def _of_function(function: Any, scope: _Scope) -> Kind:
    """What a function returns. Raises `Varying`."""
    if not isinstance(function, FunctionType) or scope.depth > LIMITS.whole:
        raise Varying("it calls what has no source of its own, or itself")
    node = _node_of(function)
    if node.decorator_list:
        raise Varying("it is no plain function")
    return _Source(replace(scope, space=code_of(function)[0][1])).returned(node.body)


class _Source:
    """The source of a function, read once for what its arguments are."""

    def __init__(self, scope: _Scope) -> None:
        self._scope = scope

    def returned(self, body: Sequence[ast.stmt]) -> Kind:
        """What is returned. Raises `Varying` where nothing is."""
        found = self._read(body)
        if found is None:
            raise Varying("it returns nothing")
        return found

    def _read(self, body: Sequence[ast.stmt]) -> Kind | None:
        """What is returned in some statements; None where nothing is."""
        found: Kind | None = None
        for statement in body:
            match statement:
                case ast.Return(ast.expr() as value):
                    found = self._kind(value)
                case ast.Assign([target], value) | ast.AnnAssign(target, _, ast.expr() as value):
                    self._assign(target, value)
                case ast.AugAssign(ast.Name(name) as target, operator, value):
                    both = ast.BinOp(ast.Name(name), operator, value)
                    self._assign(target, ast.copy_location(both, target))
                case ast.If(test, then, otherwise):
                    found = self._read(then if self._scope.holds(test) else otherwise)
                case ast.FunctionDef(name, decorator_list=[]):
                    self._scope.inner[name] = statement
                case ast.Expr(ast.Constant(str())) | ast.Pass():
                    pass
                case _:
                    raise _varies(statement)
            if found is not None:
                break
        return found

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        """Names for a value, or for the parts of one."""
        match target, value:
            case ast.Name(), _:
                self._scope.name(target, self._kind(value))
            case ast.Tuple(targets), ast.Tuple(values) if len(targets) == len(values):
                kinds = [self._kind(each) for each in values]
                for each, kind in zip(targets, kinds, strict=True):
                    self._scope.name(each, kind)
            case ast.Tuple(targets), ast.GeneratorExp(each, [over]) | ast.ListComp(each, [over]):
                for one, kind in zip(targets, self._each(each, over), strict=True):
                    self._scope.name(one, kind)
            case ast.Tuple(targets), _ if self._kind(value) == "shape":
                for each in targets:
                    if isinstance(each, ast.Starred):
                        self._scope.name(each.value, "shape")
                    else:
                        self._scope.name(each, "size")
            case _:
                raise _varies(target)

    def _each(self, element: ast.expr, over: ast.comprehension) -> list[Kind]:
        """What an expression is for each of some arrays. Raises `Varying` for others."""
        match over:
            case ast.comprehension(ast.Name(name), ast.Tuple(values), []):
                scopes = (
                    replace(self._scope, names={**self._scope.names, name: self._kind(value)})
                    for value in values
                )
                return [_Source(scope)._kind(element) for scope in scopes]
        raise _varies(element)

    # ---- expressions ---------------------------------------------------------------------

    def _kind(self, node: ast.expr) -> Kind:
        """What an expression is. Raises `Varying`."""
        match node:
            case ast.Constant(value):
                return _of_value(value)
            case ast.Name(name) if name in self._scope.names:
                return self._scope.names[name]
            case ast.Name() | ast.Attribute(ast.Name()) if self._scope.meant(node) is not None:
                return _of_value(self._scope.meant(node))
            case ast.Attribute(value, name):
                return self._attribute(node, self._kind(value), name)
            case ast.Subscript(value, index):
                return self._part(node, self._kind(value), index)
            case ast.Starred(value) if self._kind(value) == "shape":
                return "shape"
            case ast.Tuple(parts) | ast.List(parts):
                return self._joined(node, {self._kind(part) for part in parts})
            case ast.UnaryOp(operator, value):
                kind = self._kind(value)
                if isinstance(operator, ast.USub) or kind == "pattern":
                    return kind
            case ast.BinOp(left, operator, right):
                return self._computed(node, self._kind(left), operator, right)
            case ast.Compare(left, [_], [right]):
                if {self._side(left), self._side(right)} in _COMPARED:
                    return "pattern"
            case ast.IfExp(test, then, otherwise):
                return self._kind(then if self._scope.holds(test) else otherwise)
            case ast.Call(function, args, keywords):
                named = {each.arg or "**": each.value for each in keywords}
                return self._called(node, function, args, named)
        raise _varies(node)

    def _side(self, node: ast.expr) -> str:
        """What stands on a side of a comparison."""
        match node:
            case ast.BinOp(left, ast.Add() | ast.Sub(), right) if _is_small(right):
                if self._kind(left) == "places":
                    return "shifted"
        return "small" if _is_small(node) else self._kind(node)

    def _attribute(self, node: ast.expr, kind: Kind, name: str) -> Kind:
        if kind in ("array", "pattern", "places"):
            if name == "shape":
                return "shape"
            if name in ("dtype", "device"):
                return "word"
            if name in ("T", "mT", "values"):  # the values of a maximum, where places are given too
                return kind
        if kind == "word" and name in ("min", "max"):  # of a dtype
            return "number"
        raise _varies(node)

    def _part(self, node: ast.expr, kind: Kind, index: ast.expr) -> Kind:
        """A size of a shape; an array with more axes, or one of its first or last parts."""
        if kind == "shape" and _literal(index) is not None:
            return "size"
        match index:
            case ast.Slice(lower, upper, step) if kind == "shape":
                if all(each is None or _is_small(each) for each in (lower, upper, step)):
                    return "shape"
        keys = index.elts if isinstance(index, ast.Tuple) else [index]
        known = (ast.unparse(key) in _WHOLE or _is_small(key) for key in keys)
        if kind in ("array", "pattern", "places") and all(known):
            return kind
        raise _varies(node)

    def _joined(self, node: ast.expr, kinds: set[Kind]) -> Kind:
        for of, kind in (
            ({"number", "word"}, "word"),
            ({"size", "number"}, "shape"),
            ({"array", "pattern"}, "array"),
        ):
            if kinds <= of:
                return kind  # type: ignore[return-value]  # of the table above
        raise _varies(node)

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
        elif kinds == {"places"} and isinstance(operator, ast.Sub):
            return "difference"
        elif kinds <= {"pattern", "number"}:
            if plain or isinstance(operator, ast.BitAnd | ast.BitOr):
                return "pattern" if "pattern" in kinds else "number"
        elif kinds <= {"size", "number"} and isinstance(operator, _PRODUCTS):
            return "size"
        raise _varies(node)

    def _called(
        self,
        node: ast.expr,
        function: ast.expr,
        args: list[ast.expr],
        named: Mapping[str, ast.expr],
    ) -> Kind:
        """What a call gives: of the program's own functions, of NumPy's, of methods."""
        meant = self._scope.meant(function)
        kinds = [self._kind(each) for each in args]
        match function:
            case ast.Call(outer, [inner, *_]) if _name_of(self._scope.meant(outer)) == "vmap":
                return self._called(node, inner, args, named)
            case ast.Lambda(arguments, body):
                inside = self._scope.within(arguments, kinds)
                return _Source(inside).returned([ast.Return(body)])
            case ast.Name(own) if own in self._scope.inner and not named:
                defined = self._scope.inner[own]
                inside = self._scope.within(defined.args, kinds)
                return _Source(inside).returned(defined.body)
        options = {name: self._kind(each) for name, each in named.items()}
        if isinstance(meant, FunctionType) and not _name_of(meant):
            bound, kept = _bound(meant, kinds, options)
            return _of_function(meant, _Scope(bound, kept, depth=self._scope.depth + 1))
        if isinstance(function, ast.Attribute) and meant is None:  # a method
            args, kinds = [function.value, *args], [self._kind(function.value), *kinds]
            name = function.attr
        elif meant is len or meant is float or _name_of(meant):
            name = meant.__name__
        else:
            raise _varies(node)
        place = _DIAGONALS.get(name, len(args))
        diagonals = [*args[place:], *(named[k] for k in named if k in _DIAGONAL)]
        # one behind a shape is not seen
        hidden = len(args) > 1 and any(isinstance(each, ast.Starred) for each in args)
        if hidden or not all(_is_small(each) for each in diagonals):
            raise _varies(node)
        found = _of_call(name, kinds, {kind for key, kind in options.items() if key != "device"})
        if found is None:
            raise _varies(node)
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
    """What a function of a library, or a method, gives; None for what is not known."""
    first, *rest = kinds or ["word"]
    given = {*kinds, *options}
    sizes = {"size", "shape"}
    if name in ("len", "size") and first in ("array", "pattern"):
        return "size" if rest or name == "len" else "shape"
    if name in ("sqrt", "float", "array", "tensor") and first == "size" and not rest:
        return "size"
    if name in {*_OF_ARRAYS, "float", "log2", "array", "tensor"} and kinds == ["number"]:
        return "number"
    if name == "float" and kinds == ["word"]:  # inf
        return "number"
    if name == "finfo":
        return "word"
    if name == "arange" and kinds == ["size"] and not options:
        return "places"
    if first in _keeping(name, given) and options <= {"word", "number"}:
        return first
    if name in _OF_ARRAYS and "array" in given and not given & {*sizes, "places", "difference"}:
        return "array"
    if name == "scaled_dot_product_attention" and given <= {"array", "pattern", "word", *_SCALES}:
        return "array"
    if name in _PATTERNS and kinds and not options & sizes:
        entries = {*rest} if name.startswith("full") else {*()}
        if (first in ("array", "pattern")) == name.endswith("_like") and not entries & sizes:
            return "pattern"
    if name in _OF_PATTERNS and given <= {"pattern", "number", "word"} and "pattern" in given:
        return "pattern"
    return None


def _keeping(name: str, given: set[Kind]) -> tuple[Kind, ...]:
    """The kinds that are what they were after a call which moves numbers, or casts them."""
    if name in _MOVES or (name == "view" and "word" not in given):
        return "array", "pattern", "places"
    return ("array", "pattern") if name in _CASTS else ()


def _name_of(function: Any) -> str:
    """The name of a function of a library there; "" for what is none."""
    name = str(getattr(function, "__name__", ""))
    modules = (sys.modules.get(each) for each in _LIBRARIES)
    known = function is not None and any(getattr(x, name, None) is function for x in modules)
    return name if known else ""


def _bound(
    function: Callable[..., Any], kinds: list[Kind], options: Mapping[str, Kind]
) -> tuple[dict[str, Kind], dict[str, Any]]:
    """What the arguments of a function are in a call, and the values of those not given."""
    try:
        bound = inspect.signature(function).bind(*kinds, **options).arguments
    except TypeError:
        raise Varying("a call that cannot be followed") from None
    kept = {one.name: one.default for one in _plain(function) if one.name not in bound}
    return {**{name: _of_value(value) for name, value in kept.items()}, **bound}, kept


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
