"""A user's function: which of its arguments is which matrix, and how matrices are laid out for it.

Arguments are matched by name. How heads lie in an array, whether there is a batch, and which
library is used is tried: `layouts` has the ways in order.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from types import CodeType
from typing import Any, TypeAlias

import numpy as np

from symattn.arithmetic.base import Array
from symattn.attention.plan import MATRIX_MASKS
from symattn.attention.spec import Attention
from symattn.attention.vocabulary import WORDS
from symattn.attention.words import SIZES
from symattn.derivation import Derivation, Evaluation
from symattn.errors import ShapeError, SymattnError, nearest, quote
from symattn.step import Input, Item
from symattn.worksheet.reading.computed import Computed, computed

#: Libraries whose arrays a function may take; lists are for functions in plain Python.
LIBRARIES = ("numpy", "torch", "jax", "lists")

#: What arguments are called, without case and underscores, beside the names of `WORDS`.
_ALIASES: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "Q": "q query queries qs qmat qmatrix",
        "K": "k key keys ks kmat kmatrix",
        "V": "v value values vs vmat vmatrix",
        "X": "x xs hiddenstates hidden inputs input tokens embeddings embedding sequence src xq",
        "memory": "memory context encoderhiddenstates encoderoutput y kv source states xkv",
        "W_Q": "wq wuq wqup qup wqb qw wquery "
        "queryweight queryweights qweight qproj qkernel weightq weightsq",
        "W_K": "wk wuk wkup kup wkb kupproj kw "
        "wkey keyweight keyweights kweight kproj kkernel weightk weightsk",
        "W_V": "wv wuv wvup vup wvb vupproj vw "
        "wvalue valueweight valueweights vweight vproj vkernel weightv weightsv",
        "W_O": "wo ow wout woutput outputweight outputweights oweight oproj outproj weighto",
        "W_D": "wd wdkv wkvdown kvdown wdown wkva kvaproj wc wlatent kvdownproj",
        "W_DQ": "wdq wqdown qdown wqa qaproj qdownproj",
        "W_QR": "wqr wqrope qrope qropeproj",
        "W_KR": "wkr wkrope krope kropeproj",
        "latent": "ckv latents kvlatent",
        "sink": "sinks sinklogit sinklogits attentionsinks sinkweights",
        "b_Q": "bq qbias querybias",
        "b_K": "bk kbias keybias",
        "b_V": "bv vbias valuebias",
        "b_O": "bo obias outbias outputbias",
        "bias": "bias attnbias attentionbias positionbias",
        "K_past": "kpast pastk pastkey pastkeys kcache keycache cachek",
        "V_past": "vpast pastv pastvalue pastvalues vcache valuecache cachev",
    }.items()
    for alias in aliases.split()
}

#: What a mask is called, and whether a function is to be causal by itself.
_MASKS = ("mask", "attnmask", "attentionmask", "allowed", "boolmask", "visible")
_CAUSAL = ("iscausal", "causal")

#: What sizes are called.
_SIZES: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "h": "h heads numheads nheads nhead numattentionheads numqheads qheads headcount",
        "g": "g kvheads numkvheads nkvheads groups numgroups ngroups numkeyvalueheads kvheadcount",
        "d_k": "dk headdim dhead headsize dq",
        "d_v": "dv",
        "d_model": "dmodel embeddim hiddensize",
        "n": "n seqlen queriescount",
        "m": "m keyscount",
    }.items()
    for alias in aliases.split()
}

#: What the parts of a returned table are called, beside the names of steps.
_RETURNED: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "output": "out result attnoutput attentionoutput",
        "weights": "attn attention attnweights attentionweights probs attnprobs",
        "scores": "logits attnscores attentionscores",
    }.items()
    for alias in aliases.split()
}

#: A matrix of numbers that are the same in every calculation, and those that a batch has.
_FIRST = ("Q", "K", "V")


def plain(name: str) -> str:
    """A name without case and underscores."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@dataclass(frozen=True)
class Layout:
    """How matrices are laid out for a function.

    `lead` counts batches before them. `heads` is where those of activations are: ``first``,
    h × n × d; ``second``, n × h × d; ``joined``, n × h d; ``single``, n × 1 × d of the only one.
    `weights` says the same of projections: ``joined``, d_model × h d; ``stacked``,
    h × d_model × d; ``transposed``, h d × d_model.
    """

    library: str
    lead: int = 0
    heads: str = "first"
    weights: str = "joined"

    def told(self, has_heads: bool, has_weights: bool) -> str:
        """It in words."""
        batches = {0: "no batch", 1: "a batch first", 2: "two axes for batches first"}[self.lead]
        parts = [{"lists": "nested lists"}.get(self.library, self.library), batches]
        if has_heads or self.heads == "single":
            parts.append(
                {
                    "first": "heads before tokens",
                    "second": "tokens before heads",
                    "joined": "heads side by side",
                    "single": "one head after the tokens",
                }[self.heads]
            )
        if has_weights and self.weights != "joined":
            parts.append(
                {"stacked": "weights by head", "transposed": "weights transposed"}[self.weights]
            )
        return ", ".join(parts)


@dataclass(frozen=True)
class Parameter:
    """One argument of a function, and what it is given: a matrix, a size, a flag, or nothing."""

    name: str
    kind: str
    meaning: str
    by_position: bool = False


@dataclass(frozen=True)
class Subject:
    """A function, its arguments, and the attention that it should be."""

    function: Callable[..., Any]
    name: str
    spec: Attention
    parameters: tuple[Parameter, ...]
    given: tuple[str, ...]
    #: What the parts of a tuple that it returns are; () for the usual (output, weights).
    returns: tuple[str, ...] = ()
    derivations: dict[tuple[int, int], Derivation] = field(
        default_factory=dict, repr=False, compare=False
    )

    def derivation(self, heads: int, groups: int) -> Derivation:
        """The steps from what the function is given on, for so many heads."""
        key = heads, groups
        if key not in self.derivations:
            spec = self.spec
            if spec.heads == "h":
                spec = replace(spec, heads=heads)
            if spec.kv_heads == "g":
                spec = replace(spec, kv_heads=groups)
            if spec.output_projection and "W_O" not in self.given:
                spec = replace(spec, output_projection=None)
            self.derivations[key] = spec.derivation(list(self.given))
        return self.derivations[key]

    @property
    def has_heads(self) -> bool:
        """Whether a matrix that it is given has one for each head."""
        inputs = self.derivation(4, 2).inputs
        return any(item.per_head and not WORDS[item.name].learned for item in inputs)

    @property
    def has_weights(self) -> bool:
        """Whether it is given the weights of projections."""
        return any(WORDS[name].learned for name in self.given if name in WORDS)

    def layouts(self, libraries: Sequence[str]) -> Iterator[Layout]:
        """The ways in which matrices may be laid out for it, the usual ones first."""
        heads: tuple[str, ...] = ("first", "second", "joined") if self.has_heads else ("first",)
        if self.spec.heads is None and set(_FIRST) & set(self.given):
            heads = ("first", "single")
        leads = (0, 1) if self.has_heads or self.spec.heads is not None else (0, 1, 2)
        told = any(each.kind == "size" and each.meaning == "h" for each in self.parameters)
        last = ("single",) if told else ("single", "joined")  # which needs the number of heads
        for library in libraries:
            weights = ["joined", "stacked"] if self.has_weights else ["joined"]
            if self.has_weights and library == "torch":  # as nn.Linear keeps them
                weights.append("transposed")
            batch_first = self.has_heads and library in ("torch", "jax")
            ordered = sorted(leads, reverse=batch_first)
            ways = sorted(product(ordered, heads, weights), key=lambda way: way[1] in last)
            for lead, where, how in ways:
                yield Layout(library, lead, where, how)

    def arguments(
        self,
        evaluation: Evaluation,
        numbers: Mapping[str, Array],
        layout: Layout,
        dtype: str,
        strided: bool = False,
    ) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
        """Positional and named arguments, and the arrays among them by the names of matrices.

        `strided`: as views of other arrays.
        """
        sizes = evaluation.known_sizes
        made: dict[str, Any] = {}
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for parameter in self.parameters:
            if parameter.kind == "matrix":
                item = evaluation.item(evaluation[parameter.meaning].step.letter)
                laid = laid_out(item, numbers[parameter.meaning], layout)
                value = converted(laid, layout.library, dtype)
                value = made[parameter.meaning] = as_view(value) if strided else value
            elif parameter.kind == "mask":
                seen = np.isfinite(evaluation.array(evaluation["mask"].step.letter))
                value = converted(seen, layout.library, dtype)
            elif parameter.kind == "size":
                value = sizes.get(parameter.meaning, 1)
            else:
                value = True if parameter.kind == "flag" else None
            if parameter.by_position:
                args.append(value)
            else:
                kwargs[parameter.name] = value
        return args, kwargs, made

    def returned(
        self,
        result: Any,
        evaluation: Evaluation,
        layout: Layout,
        dtype: Computed,
        coarse: bool = False,
    ) -> dict[str, Computed]:
        """What the function returned, by letter, laid out as the derivation has it.

        It is held in the dtype of what the function was given; if `coarse`, in its own where that
        has fewer digits. Raises `SymattnError` for what is none of the steps.
        """
        found: dict[str, Computed] = {}
        if result is None:
            raise SymattnError("it returns None")
        for name, value in self._named(result, evaluation, layout):
            array = computed(value, name or "what it returns")
            step, numbers = self._step_of(name, array.numbers, evaluation, layout)
            own = replace(array, numbers=numbers)
            if not coarse or own.rounding <= dtype.rounding:
                own = Computed(numbers.astype(dtype.numbers.dtype), dtype.digits)
            found[evaluation[step].step.letter] = own
        if not found:
            raise SymattnError("it returns nothing")
        return found

    def _named(
        self, result: Any, evaluation: Evaluation, layout: Layout
    ) -> Iterator[tuple[str, Any]]:
        """The parts of what is returned, by name; "" for the result itself."""
        if hasattr(result, "_asdict"):
            result = result._asdict()
        if isinstance(result, Mapping):
            named = [
                (step, value)
                for name, value in result.items()
                if (step := _RETURNED.get(plain(str(name)), str(name))) in evaluation
            ]
            if not named:
                raise SymattnError(
                    f"it returns a table of which no name is a step; the steps are "
                    f"{', '.join(evaluation)}"
                )
            yield from named
            return
        if isinstance(result, tuple):
            names = self.returns or self._usual(result, evaluation, layout)
            if len(names) > len(result):
                raise SymattnError(f"it returns {len(result)} arrays, not {', '.join(names)}")
            yield from zip(names, result, strict=False)
            return
        yield (self.returns[0] if self.returns else "", result)

    def _usual(self, result: tuple[Any, ...], evaluation: Evaluation, layout: Layout) -> list[str]:
        """The names of the parts of a tuple: the result, and weights if one fits."""
        names = [""]
        for value in result[1:]:
            fits = value is not None and "weights" in evaluation and len(names) == 1
            if not fits:
                break
            shape = np.shape(computed(value, "weights").numbers)
            if shape != _lead(layout) + evaluation["weights"].shape[-len(shape) + layout.lead :]:
                break
            names.append("weights")
        return names

    def _step_of(
        self, name: str, numbers: Array, evaluation: Evaluation, layout: Layout
    ) -> tuple[str, Array]:
        """The step that an array is, and its numbers as the derivation has them."""
        last = [n for n in self.derivation(4, 2).names if n != "concat"][-1]
        names = [name] if name else [last]
        if not name and last == "heads":
            names = ["concat", "heads"] if layout.heads == "joined" else ["heads", "concat"]
        for step in names:
            if step not in evaluation:
                raise SymattnError(
                    f"{quote(step)} is no step; the steps are {', '.join(evaluation)}"
                )
            shape = evaluation[step].shape
            if layout.heads == "single" and numbers.ndim == len(shape) + 1:
                numbers = numbers[..., 0, :] if numbers.shape[-2] == 1 else numbers
            if step == "heads" and layout.heads == "second" and numbers.ndim >= 3:
                turned = numbers.swapaxes(-3, -2)
                if turned.shape == shape:
                    return step, turned
            if numbers.shape == shape:
                return step, numbers
        for other in evaluation:
            # a function that returns too early returns what an earlier step is
            if evaluation[other].shape == numbers.shape and np.allclose(
                evaluation.array(evaluation[other].step.letter), numbers, equal_nan=True
            ):
                raise Unfinished(f"it returns {other}, where {names[0]} is asked for")
        batch = evaluation.batch
        for step in names:
            single = evaluation[step].shape[len(batch) :]
            if any(size > 1 for size in batch) and numbers.shape[-len(single) :] == single:
                lead = numbers.shape[: -len(single)]
                if set(lead) <= {1} and len(lead) <= len(batch):
                    raise BatchDropped(
                        f"it takes a batch of {prod(batch)} and returns the {step} of one"
                    )
        shapes = " or ".join(" × ".join(map(str, evaluation[n].shape)) for n in names)
        own = " × ".join(map(str, numbers.shape)) or "a single number"
        raise ShapeError(f"it returns {own} where {names[0]} is {shapes}")


class Unfinished(ShapeError):
    """A function returned an earlier step than the last."""


class BatchDropped(ShapeError):
    """A function was given several calculations and returned one."""


def _lead(layout: Layout) -> tuple[int, ...]:
    return (BASE_BATCH,) * layout.lead


#: How many calculations a batch has, where a function takes nothing else.
BASE_BATCH = 1


def subject_of(
    function: Callable[..., Any],
    spec: Attention,
    mapped: Mapping[str, str] | None = None,
    returns: Sequence[str] = (),
    name: str = "",
) -> Subject:
    """A function with its arguments matched; `mapped` says which argument a matrix is: Q to query.

    Raises `SymattnError` for what can be no function of matrices, and for an argument that has to
    be given and is not known.
    """
    if not callable(function):
        raise SymattnError(f"{quote(function)} is no function")
    name = name or getattr(function, "__name__", type(function).__name__)
    mapped = dict(mapped or {})
    known = {*WORDS, *SIZES}
    for step in mapped:
        if step not in known:
            raise SymattnError(f"--map {step}: is no matrix of attention{nearest(step, known)}")
    taken = {argument: step for step, argument in mapped.items()}
    try:
        signature = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of a compiled library
        signature = _unread(name, spec, mapped)
    names = {each.name for each in signature}
    for argument in taken:
        if argument not in names:
            raise SymattnError(
                f"--map: {name} has no argument {quote(argument)}{nearest(argument, names)}"
            )
    parameters = [
        found for each in signature if (found := _parameter(each, spec, taken)) is not None
    ]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in signature)
    if takes_any and not any(p.kind == "matrix" for p in parameters):
        parameters = [Parameter(n, "matrix", n, by_position=True) for n in _FIRST]
    parameters = _one_mask(parameters)
    given = tuple(p.meaning for p in parameters if p.kind == "matrix")
    if not given:
        raise SymattnError(
            f"{name}: no argument is a matrix; say which is which: --map Q=…,K=…,V=…"
        )
    twice = [n for n in given if given.count(n) > 1]
    if twice:
        both = " and ".join(p.name for p in parameters if p.meaning == twice[0])
        raise SymattnError(
            f"{name}: {both} could both be {twice[0]}; say which: --map {twice[0]}=…"
        )
    subject = Subject(function, name, spec, tuple(parameters), given, tuple(returns))
    try:
        subject.derivation(4, 2)
    except SymattnError as error:
        raise SymattnError(f"{name}({', '.join(names)}): {error}") from None
    return subject


def _unread(name: str, spec: Attention, mapped: Mapping[str, str]) -> list[inspect.Parameter]:
    """The arguments of a function without a signature: those mapped, or Q, K and V by position."""
    if mapped:
        return [inspect.Parameter(x, inspect.Parameter.KEYWORD_ONLY) for x in mapped.values()]
    if spec.mask or spec.source is not None:
        raise SymattnError(
            f"{name}: its arguments have no names that can be read; say which is which, as in "
            "--map Q=query,K=key,V=value, or give a function of one line that calls it"
        )
    return [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]


def _parameter(
    each: inspect.Parameter, spec: Attention, taken: Mapping[str, str]
) -> Parameter | None:
    """What an argument is given; None where it keeps its default."""
    if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
        return None
    by_position = each.kind is each.POSITIONAL_ONLY
    word, required = plain(each.name), each.default is each.empty
    meaning = taken.get(each.name)
    if meaning in SIZES:
        return Parameter(each.name, "size", meaning, by_position)
    if meaning is None and not taken_elsewhere(word, taken):
        meaning = _ALIASES.get(word) or next((n for n in WORDS if plain(n) == word), None)
        if word in _MASKS:
            kinds = [MATRIX_MASKS[kind] for kind, _ in spec.mask if kind in MATRIX_MASKS]
            meaning = kinds[0] if kinds else None
            if meaning is None and spec.mask and (required or each.default is None):
                return Parameter(each.name, "mask", "mask", by_position)
            if meaning is None and required:
                return Parameter(each.name, "nothing", "mask", by_position)
        elif word in _SIZES and (required or _SIZES[word] in ("h", "g")):
            return Parameter(each.name, "size", _SIZES[word], by_position)
        elif word in _CAUSAL:
            causal = any(kind == "causal" for kind, _ in spec.mask)
            return Parameter(each.name, "flag", "causal", by_position) if causal else None
        elif meaning == "bias" and spec.bias is None:
            meaning = None
    if meaning is not None and not (meaning in MATRIX_MASKS.values() and not spec.mask):
        return Parameter(each.name, "matrix", meaning, by_position)
    if required:
        raise SymattnError(
            f"the argument {quote(each.name)} is not known; say what it is, as in "
            f"--map Q={each.name}, or give it a default"
        )
    return None


def taken_elsewhere(word: str, taken: Mapping[str, str]) -> bool:
    """Whether the matrix that an argument would be by its name is mapped to another one."""
    return _ALIASES.get(word) in taken.values()


def _one_mask(parameters: list[Parameter]) -> list[Parameter]:
    """A function that is told to be causal needs no mask beside."""
    if not any(p.kind == "flag" for p in parameters):
        return parameters
    return [p for p in parameters if p.kind != "mask"]


# ---- arrays ----------------------------------------------------------------------------------


def laid_out(item: Item, numbers: Array, layout: Layout) -> Array:
    """A matrix as the layout has it, from (…, h,) rows, columns."""
    learned = item.name in WORDS and WORDS[item.name].learned
    if not learned:
        if layout.heads == "single" and item.name in _FIRST:
            return np.expand_dims(numbers, -2)
        if not item.per_head or layout.heads == "first":
            return numbers
        turned = numbers.swapaxes(-3, -2)
        return turned if layout.heads == "second" else turned.reshape(*turned.shape[:-2], -1)
    if item.per_head and layout.weights != "stacked":
        numbers = np.concatenate(list(np.moveaxis(numbers, -3, 0)), axis=-1)
    if item.name.startswith("b_"):
        return numbers[..., 0, :]
    if layout.weights == "transposed":
        return numbers.swapaxes(-1, -2)
    return numbers


def converted(array: Array, library: str, dtype: str) -> Any:
    """An array of a library, in a dtype; of truth values it keeps these."""
    truth = array.dtype == bool
    if library == "lists":
        return array.tolist()
    if library == "torch":
        import torch

        tensor = torch.from_numpy(np.array(array))
        return tensor if truth else tensor.to(getattr(torch, dtype))
    if library == "jax":
        import jax.numpy as jnp

        if truth or dtype == "float64":  # which it may not have; then it takes float32
            return jnp.asarray(array)
        return jnp.asarray(array, dtype=getattr(jnp, dtype))
    return np.array(array) if truth else np.array(array, dtype=dtype)


def as_view(array: Any) -> Any:
    """An array whose rows do not lie one after the other: a view of its transpose."""
    if getattr(array, "ndim", 0) < 2:
        return array
    turned = array.swapaxes(-1, -2)
    held = turned.contiguous() if hasattr(turned, "contiguous") else np.ascontiguousarray(turned)
    return held.swapaxes(-1, -2)


def libraries_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The libraries that a function's own code names, and that of what it calls; then others.

    A file may hold functions of several libraries: what only stands beside this one comes last.
    What is not imported yet is not imported only to be tried.
    """
    named = dict.fromkeys(_libraries_named(_code_of(function), set()))
    named.update(dict.fromkeys(_libraries_annotated(function)))
    own = str(getattr(function, "__module__", "") or "").partition(".")[0]
    special = [name for name in (own, *named) if name in ("torch", "jax")]
    beside = [name for name in ("torch", "jax") if name in sys.modules]
    return tuple(dict.fromkeys([*special, "numpy", "lists", *beside]))


#: Code with the names that it can see.
_Code: TypeAlias = tuple[CodeType, Mapping[str, Any]]


def _code_of(function: Any) -> list[_Code]:
    """The code of a function, or of an object that is called."""
    while hasattr(function, "__wrapped__") or hasattr(function, "func"):
        function = getattr(function, "__wrapped__", None) or function.func
    if not hasattr(function, "__code__"):
        kind = function if isinstance(function, type) else type(function)
        methods = [getattr(kind, name, None) for name in ("forward", "__call__")]
        return [
            (code, _seen_by(method))
            for method in methods
            if isinstance(code := getattr(method, "__code__", None), CodeType)
        ]
    return [(function.__code__, _seen_by(function))]


def _seen_by(function: Any) -> Mapping[str, Any]:
    """What a function's names stand for: those of its module, and of a function around it."""
    closed = dict[str, Any]()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it is not filled yet
            closed[name] = cell.cell_contents
    return {**function.__globals__, **closed}


def _libraries_named(codes: Sequence[_Code], seen: set[CodeType]) -> Iterator[str]:
    """The libraries that code names, and the code of the functions that it names."""
    for code, space in codes:
        if code in seen:
            continue
        seen.add(code)
        inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        yield from _libraries_named([(part, space) for part in inner], seen)
        for name in (*code.co_names, *code.co_freevars):
            value = inspect.unwrap(space[name]) if callable(space.get(name)) else space.get(name)
            root = name if name in LIBRARIES else _root(value)
            if root in LIBRARIES:
                yield root
            elif getattr(value, "__globals__", None) is not None or isinstance(value, type):
                own = [part for part in _code_of(value) if not _is_installed(part[0])]
                yield from _libraries_named(own, seen)


def _is_installed(code: CodeType) -> bool:
    """Whether code is of an installed package: SciPy names JAX, but takes NumPy's arrays."""
    return bool({"site-packages", "dist-packages"} & {*Path(code.co_filename).parts})


def _libraries_annotated(function: Any) -> Iterator[str]:
    """The libraries that its annotations are of."""
    for kind in getattr(function, "__annotations__", {}).values():
        yield (kind if isinstance(kind, str) else str(_root(kind))).partition(".")[0]


def _root(value: Any) -> str:
    """The library that a module, or a function of one, belongs to."""
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    return str(name or "").partition(".")[0]


def shape_of_input(item: Input, sizes: Mapping[Any, int]) -> tuple[int, ...]:
    """Heads, rows and columns of what is given, at these sizes."""
    sides = item.shape if item.count is None else (item.count, *item.shape)
    return tuple(int(side.subs(sizes)) for side in sides)
