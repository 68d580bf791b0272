"""What may mix tokens beside the captured attentions, seen in the operations that PyTorch runs.

Attention weighs what was computed from the tokens by weights that were computed from them too:
(Q Kᵀ) V and φ(Q) (φ(K)ᵀ V) are products of three activations, whatever normalises the weights, and
a state-space model has C (B x) (Dao and Gu 2024, "Transformers are SSMs", section 3). An
*activation* is what depends on the input of the model; a product with parameters is a linear map,
and what it makes is an activation like any other. Below autograd, in scripted functions and in an
`autograd.Function` the operations are the same; of one that is not PyTorch's own nothing is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import nn


_PRODUCT = "a product of activations weighs activations"
_WEIGHTS = "a softmax weighs activations"
_GATED = "a convolution along an axis is multiplied by activations"
_STEPS = "it goes from position to position"
_NUMBERS = "its numbers leave PyTorch"
_NAMED = "its name is that of an attention or another mixer of tokens"


class PartialCapture(UserWarning):
    """More may have run than the attentions that were captured."""


@dataclass(frozen=True)
class Missed:
    """What ran and may be an attention, or another mixer of tokens, but was not captured."""

    #: The module, by its path in the model.
    name: str
    #: What was seen of it.
    why: str

    def __str__(self) -> str:
        return f"{self.name} ({self.why})"


#: The two factors among the arguments of an operation that sums over products.
_FACTORS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "convolution", "_grouped_mm"), (0, 1)),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), (1, 2)),
    **dict.fromkeys(("_cdist_forward", "_euclidean_dist"), (0, 1)),
}
_VIEWS = frozenset(
    {"view", "_unsafe_view", "expand", "permute", "transpose", "t", "unsqueeze", "squeeze"}
    | {"detach", "alias", "clone"}
)
_TURNS = frozenset({"permute", "transpose", "t"})
_JOINS = frozenset({"cat", "stack", "copy"})
_SUMS = frozenset({"sum", "mean", "index_add", "scatter_add", "scatter_reduce"})
_NORMALISERS = frozenset({"_softmax", "_log_softmax", "_safe_softmax"})
_CHOICES = frozenset({"index", "index_select", "gather", "embedding", "embedding_bag"})
_FRESH = re.compile(r"_like$|^new_|^empty|^zeros|^ones|^full")
#: What goes along an axis.
_SCANS = re.compile(r"cumsum|cumprod|cummax|cummin|logcumsumexp|_fft_|rnn|lstm|gru|scan$")
_WHOLE_LAYERS = re.compile(r"attention|transformer")
#: Where operations stand whose meaning is known.
_OWN = frozenset({"aten", "prim", "prims", "rngprims", "quantized", "torchvision", "higher_order"})
#: How many positions meet where one may speak of a recurrence, and of how many at least.
_MET, _POSITIONS = 3, 4
#: Parts of the names of modules, and whole words of them.
_PARTS = re.compile(
    r"attention|attn|mixer|mamba|rwkv|retention|retnet|deltanet|recurren|hyena|lstm", re.IGNORECASE
)
#: In the names of classes that stand beside mixers.
_BESIDE = re.compile(r"mlp|ffn|feed_?forward|expert|moe|router|embed|norm", re.IGNORECASE)
_WORDS = frozenset({"ssm", "gru", "rnn", "lru", "s4", "s6", "gla", "mha", "mla", "aft"})


@dataclass(frozen=True)
class _Trace:
    """What is known of the numbers of a tensor; of one that was never seen, that it is given."""

    activation: bool = True
    #: Whole numbers, of tokens say, or made of such alone: no activation before they choose one.
    whole: bool = False
    #: A product of two activations, as scores are.
    pair: bool = False
    #: Made by exp, whose quotients are weights.
    exponential: bool = False
    #: Sums to 1 over positions; or over the features of each position, as a router's choice does.
    weights: bool = False
    gates: bool = False
    #: Made by a convolution along one axis.
    convolved: bool = False
    #: Why a sum of these is a weighted sum.
    terms: str = ""
    #: The size of the last axis, where a product with parameters has made it.
    features: int = 0
    #: Which places on which axes of other tensors it comes from.
    steps: frozenset[tuple[tuple[int, int], int]] = frozenset()

    def __or__(self, other: _Trace) -> _Trace:
        return _Trace(
            activation=self.activation or other.activation,
            whole=self.whole or other.whole,
            pair=self.pair or other.pair,
            exponential=self.exponential or other.exponential,
            weights=self.weights or other.weights,
            gates=self.gates or other.gates,
            convolved=self.convolved or other.convolved,
            features=max(self.features, other.features),
            steps=self.steps | other.steps,
        )


_GIVEN, _PARAMETER = _Trace(), _Trace(activation=False)
_WHOLE = replace(_PARAMETER, whole=True)


class _Traces:
    """What is known of every tensor: by its storage of its views, and under () of the whole."""

    def __init__(self, module: nn.Module) -> None:
        self._views: dict[int, dict[tuple[object, ...], _Trace]] = {}
        self._counted = count(1)
        #: When what lies in a storage was made.
        self.serials: dict[int, int] = {}
        self._fixed = {_storage(parameter) for parameter in module.parameters()}
        for tensor in (*module.parameters(), *module.buffers()):
            self.write(tensor, _PARAMETER, new=True)

    def __getitem__(self, tensor: torch.Tensor) -> _Trace:
        import torch

        if _storage(tensor) not in self._views:
            given = _GIVEN if tensor.is_floating_point() or tensor.is_complex() else _WHOLE
            given = _PARAMETER if isinstance(tensor, torch.nn.Parameter) else given
            self.write(tensor, given, new=True)
        views = self._views[_storage(tensor)]
        return views.get(_geometry(tensor), views[()])

    def write(self, tensor: torch.Tensor, trace: _Trace, new: bool) -> None:
        """Note what is known of a tensor; `new`: its storage holds nothing else."""
        storage = _storage(tensor)
        if storage in self._fixed and storage in self._views:
            return  # an optimiser's step leaves a parameter one
        if new or storage not in self._views:
            self.serials[storage] = next(self._counted)
            self._views[storage] = {(): trace}
        else:
            self._views[storage][_geometry(tensor)] = trace


class Modules:
    """The modules that run, and those in which tokens may have been mixed."""

    def __init__(self) -> None:
        #: By its path, a module that ran, and the modules around it.
        self.ran: dict[str, tuple[nn.Module, tuple[str, ...]]] = {}
        self.inside: list[str] = []
        self.found: dict[str, dict[str, None]] = {}
        #: The modules accounted for: around what was captured or said, or with a call of their own.
        self._known: set[str] = set()
        self._direct: set[str] = set()

    def enter(self, name: str, part: nn.Module) -> None:
        """A module runs."""
        self.ran[name] = (part, tuple(self.inside))
        self.inside.append(name)

    def capture(self) -> None:
        """An attention was captured in the module that runs."""
        self._known.update(self.inside)
        self._direct.update(self.inside[-1:])

    def say(self, why: str) -> None:
        """Note what was seen in the module that runs."""
        self.found.setdefault(self.inside[-1] if self.inside else "", {})[why] = None
        self._known.update(self.inside)

    @property
    def missed(self) -> tuple[Missed, ...]:
        """What may have been missed, in the order in which it ran."""
        named = [name for name in self.ran if self._named(name)]
        outer = {around for name in named for around in self.ran[name][1]}
        found = {name: "; ".join(why) for name, why in self.found.items()}
        found |= {name: _NAMED for name in named if name not in outer}
        order = list(self.ran)
        names = sorted(found, key=lambda name: order.index(name) if name in order else -1)
        return tuple(Missed(name or "outside of the model", found[name]) for name in names)

    def _named(self, name: str) -> bool:
        """Whether a module is an attention by its name, has projections, and is not accounted for.

        What is around a captured attention, or beside its call in one module, is.
        """
        part, around = self.ran[name]
        if name in self._known or self._direct.intersection(around):
            return False
        matrices = sum(parameter.ndim > 1 for parameter in part.parameters())
        kind = type(part).__name__
        if matrices < 2 or ("mixer" not in kind.lower() and _BESIDE.search(kind)):
            return False
        return any(
            _PARTS.search(word) or _is_word(word) for word in (kind, name.rpartition(".")[2])
        )


class Flow:
    """What flows where in a running model, by the operations that it runs."""

    def __init__(self, module: nn.Module) -> None:
        self.modules = Modules()
        self._traces = _Traces(module)
        #: The results of the captured attention that runs.
        self._accounted: list[list[Any]] = []

    @contextmanager
    def captured(self) -> Iterator[list[Any]]:
        """What runs inside is a captured attention, whose result is put into the list."""
        self.modules.capture()
        self._accounted.append([])
        try:
            yield self._accounted[-1]
        finally:
            results = self._accounted.pop()
        for tensor in _tensors(results):
            self._traces.write(tensor, _GIVEN, new=True)

    def taken_out(self, tensor: torch.Tensor) -> None:
        """The numbers of a tensor are taken out of PyTorch."""
        if self.modules.inside and tensor.ndim > 1 and self._traces[tensor].activation:
            self.modules.say(_NUMBERS)

    def follow(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: Any,
    ) -> None:
        """An operation of PyTorch's dispatcher has run."""
        import torch

        if self._accounted:
            return
        inputs = list(_tensors((args, kwargs)))
        results = list(_tensors(result))
        held = {_storage(tensor) for tensor in inputs}
        if torch._C._current_graph_task_id() >= 0:  # the backward pass
            traces = [_GIVEN] * len(results)
        else:
            name = str(getattr(function, "_opname", None) or function.__name__)
            traces = self._traced(function, name, args, inputs, results)
        for tensor, trace in zip(results, traces, strict=True):
            counts = not (tensor.is_floating_point() or tensor.is_complex())
            whole = _WHOLE if trace.activation or trace.whole else _PARAMETER
            self._traces.write(tensor, whole if counts else trace, new=_storage(tensor) not in held)

    def _traced(
        self,
        function: Any,
        name: str,
        args: Sequence[Any],
        inputs: Sequence[torch.Tensor],
        results: Sequence[torch.Tensor],
    ) -> list[_Trace]:
        """What is known of the results of an operation, by what is known of its inputs."""
        operation = name.removesuffix("_")
        # what a module makes of nothing is its own; outside of them it is an input.
        made = _PARAMETER if self.modules.inside else _GIVEN
        if _FRESH.search(operation) or not inputs:
            return [made] * len(results)
        made = _PARAMETER
        for tensor in inputs:
            made = made | self._traces[tensor]
        if made.whole and operation in _CHOICES | _FACTORS.keys():
            made = replace(made, activation=True, whole=False)
        active = made.activation
        if operation in _VIEWS:
            made = self._traces[inputs[0]]
            made = replace(made, features=0) if operation in _TURNS else made
        elif active and operation in _SUMS:
            found = {self._traces[tensor].terms for tensor in inputs} - {""}
            for why in found:
                self.modules.say(why)
            made = _Trace(steps=made.steps) if found else made
        elif active:
            made = self._computed(function, operation, args, inputs, results, made)
        if operation in _CHOICES and inputs[0].ndim > 2 and self._traces[inputs[0]] == _PARAMETER:
            made = _PARAMETER  # one of several matrices, as of experts
        if operation in ("select", "slice", "unbind", "split", "split_with_sizes") and active:
            return self._places(operation, args, inputs[0], results)
        return [self._met(made, operation)] * len(results)

    def _computed(
        self,
        function: Any,
        operation: str,
        args: Sequence[Any],
        inputs: Sequence[torch.Tensor],
        results: Sequence[torch.Tensor],
        made: _Trace,
    ) -> _Trace:
        """As `_traced`, for what computes with activations."""
        space = getattr(function, "namespace", "aten")
        if _WHOLE_LAYERS.search(operation):
            self.modules.say(f"{operation} is called")
        elif space not in _OWN:
            self.modules.say(f"nothing is known of {space}::{operation}")
        elif _SCANS.search(operation) and not (made.gates or made.weights):
            self.modules.say(f"{operation} goes along an axis")
        elif operation in _FACTORS:
            one, other = (args[place] for place in _FACTORS[operation])
            product = self._product(one, other, results[0])
            along = operation == "convolution" and other.ndim == 3 and other.shape[-1] > 1
            return replace(product, convolved=along)
        elif operation in _NORMALISERS:
            last = args[1] % inputs[0].ndim == inputs[0].ndim - 1
            features = last and 1 < inputs[0].shape[-1] == made.features
            return replace(made, weights=not features, gates=bool(features))
        elif operation in ("exp", "exp2"):
            return replace(made, exponential=True)
        elif operation in ("mul", "sub", "div") and len(inputs) > 1:
            return self._entrywise(operation, inputs, made)
        return made

    def _product(self, one: torch.Tensor, other: torch.Tensor, result: torch.Tensor) -> _Trace:
        """Of a matrix product: a linear map, a product of activations, or a weighted sum."""
        left, right = self._traces[one], self._traces[other]
        steps = left.steps | right.steps
        linear = _Trace(
            pair=left.pair or right.pair,  # heads that are mixed, say
            weights=left.weights or right.weights,
            features=0 if right.activation else result.shape[-1],
            steps=steps,
        )
        both = left.activation and right.activation
        if not both:
            return linear
        choices = left.weights or right.weights
        if left.pair or right.pair or choices or left.gates or right.gates:
            rows = one.shape[-2] if one.ndim > 1 else 1
            columns = other.shape[-1] if other.ndim > 1 else 1
            if left.pair or right.pair:
                self.modules.say(_PRODUCT)
            elif choices or (left.gates and rows > 1) or (right.gates and columns > 1):
                self.modules.say(_WEIGHTS)
            return _Trace(steps=steps)
        return _Trace(pair=True, steps=steps)

    def _entrywise(self, operation: str, inputs: Sequence[torch.Tensor], made: _Trace) -> _Trace:
        """Of a product, difference or quotient entry by entry."""
        one, other = inputs[:2]
        left, right = self._traces[one], self._traces[other]
        if not (left.activation and right.activation) or _same(one, other):
            return made
        if operation == "div":
            if not (left.exponential and right.exponential):
                return made
            weights = one.shape[-1] != left.features
            return replace(made, exponential=False, weights=weights)
        if operation == "mul":
            pair, weights = left.pair or right.pair, left.weights or right.weights
            if (
                made.convolved
                and one.shape == other.shape
                and not self.modules.found.keys() & self.modules.inside
            ):
                self.modules.say(_GATED)
            made = replace(made, terms=_PRODUCT if pair else _WEIGHTS if weights else "")
        return replace(made, pair=True) if _outer(one, other) else made

    def _places(
        self,
        operation: str,
        args: Sequence[Any],
        whole: torch.Tensor,
        results: Sequence[torch.Tensor],
    ) -> list[_Trace]:
        """Of places on an axis, which are perhaps those of tokens."""
        trace = replace(self._traces[whole], terms="")
        given = args[2 if "split" in operation else 1 :]
        axis = int(given[0] if given else 0) % whole.ndim
        size = whole.shape[axis]
        own = axis == whole.ndim - 1 and (trace.gates or trace.features > 0)
        if operation == "slice":
            start = args[2] or 0 if len(args) > 2 else 0
            first = min(start + size if start < 0 else start, size)
            places = [first] if results[0].shape[axis] == 1 else []
        elif operation == "select":
            places = [args[2] % size]
        else:
            single = operation == "unbind" or all(part.shape[axis] == 1 for part in results)
            places = list(range(len(results))) if single else []
        if axis == whole.ndim - 1:
            trace = replace(trace, features=trace.features if operation == "select" else 0)
        if own or not places or size < _POSITIONS:
            return [trace] * len(results)
        source = (self._traces.serials.get(_storage(whole), 0), axis)
        return [replace(trace, steps=trace.steps | {(source, place)}) for place in places]

    def _met(self, made: _Trace, operation: str) -> _Trace:
        """Looks whether so many places of one axis have met that it is a recurrence."""
        if operation in _JOINS:
            return replace(made, steps=frozenset())
        counts = Counter(source for source, _ in made.steps)
        met = {source for source, count in counts.items() if count >= _MET}
        if not met:
            return made
        self.modules.say(_STEPS)
        return replace(made, steps=frozenset(step for step in made.steps if step[0] not in met))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in the arguments or the results of an operation."""
    import torch

    if isinstance(value, torch.Tensor):
        if value.layout is torch.strided and not value.is_nested:
            yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors(part)


def _storage(tensor: torch.Tensor) -> int:
    """Where the numbers of a tensor lie, the same for all views of it."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):  # of no plain array
        return id(tensor)


def _geometry(tensor: torch.Tensor) -> tuple[object, ...]:
    return (tensor.storage_offset(), *tensor.shape, *tensor.stride(), tensor.ndim)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return _storage(one) == _storage(other) and _geometry(one) == _geometry(other)


def _outer(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether each has an axis along which the other is repeated."""
    sizes = list(zip_longest(reversed(one.shape), reversed(other.shape), fillvalue=1))
    return any(a == 1 < b for a, b in sizes) and any(b == 1 < a for a, b in sizes)


def _is_word(name: str) -> bool:
    words: Iterable[str] = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+", name)
    return any(word.lower() in _WORDS for word in words)
