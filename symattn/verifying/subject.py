"""A user's function: which of its arguments is which matrix, and how matrices are laid out for it.

Arguments are matched by name. How heads lie in an array, whether there is a batch, and which
library is used is tried: `layouts` has the ways in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from symattn.arithmetic.base import Array
from symattn.attention.plan import MATRIX_MASKS
from symattn.attention.vocabulary import WORDS
from symattn.attention.words import SIZES
from symattn.claims.computed import Computed
from symattn.derivations import Derivation, Evaluation
from symattn.errors import ReadError, ShapeError, SymattnError, nearest, quote
from symattn.step import Input, Item
from symattn.verifying.calling import Answer, Argument, Call, Function, Given
from symattn.verifying.own import Meant, Own

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

    function: Function
    name: str
    spec: Meant
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
        own = [item for item in inputs if item.name in WORDS]
        return any(item.per_head and not WORDS[item.name].learned for item in own)

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

    def call(
        self,
        evaluation: Evaluation,
        numbers: Mapping[str, Array],
        layout: Layout,
        dtype: str,
        strided: bool = False,
    ) -> Call:
        """What the function is given: every argument with its numbers, as the layout has them.

        `strided`: as views of other arrays.
        """
        sizes = evaluation.known_sizes
        given: list[Given] = []
        for parameter in self.parameters:
            name, by_position, matrix = parameter.name, parameter.by_position, ""
            value: Array | int | None = True if parameter.kind == "flag" else None
            if parameter.kind == "matrix":
                matrix = parameter.meaning
                item = evaluation.item(evaluation[matrix].step.letter)
                value = laid_out(item, numbers[matrix], layout)
            elif parameter.kind == "mask":
                value = np.isfinite(evaluation.array(evaluation["mask"].step.letter))
            elif parameter.kind == "size":
                value = sizes.get(parameter.meaning, 1)
            given.append(Given(name, value, matrix, by_position))
        return Call(tuple(given), layout.library, dtype, strided)

    def returned(
        self,
        answer: Answer,
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
        for _, name, array in self.named(answer, evaluation, layout):
            step, numbers = self.step_of(name, array.numbers, evaluation, layout)
            own = replace(array, numbers=numbers)
            if not coarse or own.rounding <= dtype.rounding:
                own = Computed(numbers.astype(dtype.numbers.dtype), dtype.digits)
            found[evaluation[step].step.letter] = own
        if not found:
            raise SymattnError("it returns nothing")
        return found

    def named(
        self, answer: Answer, evaluation: Evaluation, layout: Layout
    ) -> Iterator[tuple[int, str, Computed]]:
        """The parts of what is returned with their places and names; "" for the result itself."""
        names = [self.returns[0] if self.returns else ""]
        if answer.form == "table":
            names = [_RETURNED.get(plain(name), name) for name, _ in answer.parts]
            if not {*names} & {*evaluation}:
                raise SymattnError(
                    f"it returns a table of which no name is a step; the steps are "
                    f"{', '.join(evaluation)}"
                )
            last = [*evaluation][-2:] if "concat" in evaluation else [*evaluation][-1:]
            if not {*names} & {*last}:
                raise SymattnError(f"it returns a table without {last[0]}, the last step")
        elif answer.form == "tuple":
            names = [*self.returns] or self._usual(answer, evaluation, layout)
            if len(names) > len(answer.parts):
                raise SymattnError(f"it returns {len(answer.parts)} arrays, not {', '.join(names)}")
        for place, (name, (_, value)) in enumerate(zip(names, answer.parts, strict=False)):
            if answer.form == "table" and name not in evaluation:
                continue
            if isinstance(value, str):
                raise ReadError(value)
            yield place, name, value

    def _usual(self, answer: Answer, evaluation: Evaluation, layout: Layout) -> list[str]:
        """The names of the parts of a tuple: the result, and weights if one fits."""
        for _, value in answer.parts[1:2]:
            if isinstance(value, Computed) and "weights" in evaluation:
                shape = value.numbers.shape
                whole = evaluation["weights"].shape
                if shape == _lead(layout) + whole[-len(shape) + layout.lead :]:
                    return ["", "weights"]
        return [""]

    def step_of(
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
    function: Function,
    spec: Meant,
    mapped: Mapping[str, str] | None = None,
    returns: Sequence[str] = (),
    arguments: Sequence[Argument] | None = None,
) -> Subject:
    """A function with its arguments matched; `mapped` says which argument a matrix is: Q to query.

    `arguments` are those of its signature, None where it has none that can be read. Raises
    `SymattnError` for what can be no function of matrices, and for an argument that has to be
    given and is not known.
    """
    name = function.name
    mapped = dict(mapped or {})
    known = {*WORDS, *SIZES, *(spec.inputs if isinstance(spec, Own) else ())}
    for step in mapped:
        if step not in known:
            raise SymattnError(f"--map {step}: is no matrix of attention{nearest(step, known)}")
    taken = {argument: step for step, argument in mapped.items()}
    signature = _unread(name, spec, mapped) if arguments is None else arguments
    names = {each.name for each in signature}
    for argument in taken:
        if argument not in names:
            raise SymattnError(
                f"--map: {name} has no argument {quote(argument)}{nearest(argument, names)}"
            )
    parameters = [
        found for each in signature if (found := _parameter(each, spec, taken)) is not None
    ]
    takes_any = any(each.kind == "VAR_POSITIONAL" for each in signature)
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


def _unread(name: str, spec: Meant, mapped: Mapping[str, str]) -> list[Argument]:
    """The arguments of a function without a signature: those mapped, or Q, K and V by position."""
    if mapped:
        return [Argument(x, "KEYWORD_ONLY", required=True) for x in mapped.values()]
    if spec.mask or spec.source is not None:
        raise SymattnError(
            f"{name}: its arguments have no names that can be read; say which is which, as in "
            "--map Q=query,K=key,V=value, or give a function of one line that calls it"
        )
    return [Argument("args", "VAR_POSITIONAL", required=True)]


def _parameter(each: Argument, spec: Meant, taken: Mapping[str, str]) -> Parameter | None:
    """What an argument is given; None where it keeps its default."""
    if each.kind in ("VAR_POSITIONAL", "VAR_KEYWORD"):
        return None
    by_position = each.kind == "POSITIONAL_ONLY"
    word, required = plain(each.name), each.required
    meaning = taken.get(each.name)
    if meaning in SIZES:
        return Parameter(each.name, "size", meaning, by_position)
    if isinstance(spec, Own):
        meaning = meaning or next((n for n in spec.inputs if plain(n) == word), None)
        if meaning in spec.inputs:
            return Parameter(each.name, "matrix", meaning, by_position)
    if meaning is None and not taken_elsewhere(word, taken):
        meaning = _ALIASES.get(word) or next((n for n in WORDS if plain(n) == word), None)
        if word in _MASKS:
            kinds = [MATRIX_MASKS[kind] for kind, _ in spec.mask if kind in MATRIX_MASKS]
            meaning = kinds[0] if kinds else None
            if meaning is None and spec.mask and (required or each.is_none):
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


def shape_of_input(item: Input, sizes: Mapping[Any, int]) -> tuple[int, ...]:
    """Heads, rows and columns of what is given, at these sizes."""
    sides = item.shape if item.count is None else (item.count, *item.shape)
    return tuple(int(side.subs(sizes)) for side in sides)
