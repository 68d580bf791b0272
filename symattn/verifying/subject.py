"""A user's function: which of its arguments is which matrix, and how matrices are laid out for it.

Arguments are matched by name. How heads lie in an array, whether there is a batch, and which
library is used is tried: `layouts` has the ways in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from symattn.arithmetic.base import Array
from symattn.attention.plan import MATRIX_MASKS
from symattn.attention.vocabulary import WORDS, is_learned
from symattn.attention.words import SIZES
from symattn.claims.computed import Computed
from symattn.derivations import Derivation, Evaluation
from symattn.errors import SymattnError, nearest, quote
from symattn.step import Input, Item
from symattn.verifying.calling import Answer, Argument, Call, Function, Given, Lack
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


def canonical_name(argument: str) -> str:
    """The matrix of attention that an argument is by its name, as Q of query; "" for none."""
    word = plain(argument)
    return _ALIASES.get(word) or _first(WORDS, word) or ""


@dataclass(frozen=True)
class Layout:
    """How matrices are laid out for a function.

    `lead` counts batches before them. `heads` is where those of activations are: ``first``,
    h × n × d; ``second``, n × h × d; ``turned``, h × n × d, the result n × h × d; ``joined``,
    n × h d; ``single``, n × 1 × d of the only one.
    `weights` says the same of projections: ``joined``, d_model × h d; ``stacked``,
    h × d_model × d; ``transposed``, h d × d_model. `vectors`: whether a column is a vector, as what
    is learned in a row always is.
    """

    library: str
    lead: int = 0
    heads: str = "first"
    weights: str = "joined"
    vectors: bool = False

    def told(self, has_heads: bool, has_weights: bool) -> str:
        """It in words."""
        batches = {0: "no batch", 1: "a batch first", 2: "two axes for batches first"}[self.lead]
        parts = [{"lists": "nested lists"}.get(self.library, self.library), batches]
        if has_heads or self.heads == "single":
            parts.append(
                {
                    "first": "heads before tokens",
                    "second": "tokens before heads",
                    "turned": "heads before tokens, after them in the result",
                    "joined": "heads side by side",
                    "single": "one head after the tokens",
                }[self.heads]
            )
        if has_weights and self.weights != "joined":
            parts.append(
                {"stacked": "weights by head", "transposed": "weights transposed"}[self.weights]
            )
        if self.vectors:
            parts.append("columns as vectors")
        return ", ".join(parts)


@dataclass(frozen=True)
class Wanted:
    """The attention that a function should be, and how it is called.

    `mapped` says which argument a matrix is (Q to query), `library` whose arrays it takes, and
    `returns` which steps a tuple of its has; the properties in `skip` are left out.
    """

    spec: Meant
    mapped: Mapping[str, str] = field(default_factory=dict)
    library: str = ""
    returns: Sequence[str] = ()
    skip: Sequence[str] = ()
    #: What the attention is called, and its variant or its equations, where these say it.
    attention: str = "this attention"
    source: str = ""
    #: The only sizes that it is to be tried at, by name; others are free.
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """A function, its arguments, the attention that it should be, and how it is called."""

    function: Function
    name: str
    spec: Meant
    parameters: tuple[Given, ...]
    given: tuple[str, ...]
    #: What the parts of a tuple that it returns are; () for the usual (output, weights).
    returns: tuple[str, ...] = ()
    layout: Layout = Layout("numpy")
    #: The only sizes that it is tried at, by name.
    sizes: Mapping[str, int] = field(default_factory=dict)
    #: The attention's variant or its equations, where these say it.
    source: str = ""
    #: Whether values have to be as wide as keys, and whether double precision was seen.
    tied: bool = False
    is_precise: bool = False
    derivations: dict[tuple[int | str, int | str], Derivation] = field(
        default_factory=dict, repr=False, compare=False
    )

    def derivation(self, heads: int | str = 4, groups: int | str = 2) -> Derivation:
        """The steps from what the function is given on, for so many heads, or for h and g."""
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
        own = [item for item in self.derivation().inputs if item.name in WORDS]
        return any(item.per_head and not is_learned(item.name) for item in own)

    @property
    def has_weights(self) -> bool:
        """Whether it is given the weights of projections."""
        return any(is_learned(name) for name in self.given)

    def layouts(self, libraries: Sequence[str]) -> Iterator[Layout]:
        """The ways in which matrices may be laid out for it, the usual ones first."""
        heads: tuple[str, ...] = ("first",)
        if self.has_heads:
            heads = ("first", "turned", "second", "joined")
        if self.spec.heads is None and set(_FIRST) & set(self.given):
            heads = ("first", "single")
        leads = (0, 1) if self.has_heads or self.spec.heads is not None else (0, 1, 2)
        told = any((each.kind, each.meaning) == ("size", "h") for each in self.parameters)
        last = ("single",) if told else ("single", "joined")  # which needs the number of heads
        for library in libraries:
            weights = ["joined", "stacked"] if self.has_weights else ["joined"]
            if self.has_weights and library == "torch":  # as nn.Linear keeps them
                of_module = any("." in each.name for each in self.parameters)
                weights = ["transposed"] if of_module else [*weights, "transposed"]
            batch_first = self.has_heads and library in ("torch", "jax")
            ordered = sorted(leads, reverse=batch_first)
            columns = (False, True) if self._has_columns else (False,)
            ways = sorted(product(ordered, heads, weights, columns), key=lambda way: way[1] in last)
            yield from (Layout(library, *way) for way in ways)

    @property
    def _has_columns(self) -> bool:
        """Whether something that it is given is a column, whatever the sizes."""
        return any(item.shape[1] == 1 for item in self.derivation().inputs)

    def call(
        self, evaluation: Evaluation, numbers: Mapping[str, Array], dtype: str, strided: bool
    ) -> Call:
        """What the function is given: every argument with its numbers, as the layout has them.

        `strided`: as views of other arrays.
        """
        given: list[Given] = []
        for one in self.parameters:
            value: Array | int | None = None
            match one.kind:
                case "flag":
                    value = True
                case "matrix":
                    item = evaluation.item(evaluation[one.meaning].step.letter)
                    value = laid_out(item, numbers[one.meaning], self.layout)
                case "mask":
                    value = np.isfinite(evaluation.array(evaluation["mask"].step.letter))
                case "size":
                    value = evaluation.known_sizes.get(one.meaning, 1)
            given.append(replace(one, value=value))
        return Call(tuple(given), self.layout.library, dtype, strided)

    def returned(self, answer: Answer, evaluation: Evaluation) -> dict[str, Computed]:
        """What the function returned, by letter, laid out as the derivation has it.

        Raises `Failing` for what is none of the steps.
        """
        found: dict[str, Computed] = {}
        for _, name, array in self.named(answer, evaluation):
            step, numbers = self.step_of(name, array.numbers, evaluation)
            found[evaluation[step].step.letter] = replace(array, numbers=numbers)
        if not found:
            raise Failing("raises", "it returns nothing")
        return found

    def named(self, answer: Answer, evaluation: Evaluation) -> Iterator[tuple[int, str, Computed]]:
        """The parts of what is returned with their places and names; "" for the result itself."""
        names = [self.returns[0] if self.returns else ""]
        if answer.form == "table":
            names = [_RETURNED.get(plain(name), name) for name, _ in answer.parts]
            if not {*names} & {*evaluation}:
                steps = ", ".join(evaluation)
                told = f"it returns a table of which no name is a step; the steps are {steps}"
                raise Failing("raises", told)
            last = [*evaluation][-2:] if "concat" in evaluation else [*evaluation][-1:]
            if not {*names} & {*last}:
                told = f"it returns a table without {last[0]}, the last step"
                raise Failing("raises", told)
        elif answer.form == "tuple":
            names = [*self.returns] or self._usual(answer, evaluation)
            if len(names) > len(answer.parts):
                told = f"it returns {len(answer.parts)} arrays, not {', '.join(names)}"
                raise Failing("raises", told)
        for place, (name, (_, value)) in enumerate(zip(names, answer.parts, strict=False)):
            if answer.form == "table" and name not in evaluation:
                continue
            if isinstance(value, str):
                raise Failing("raises", value)
            yield place, name, value

    def _usual(self, answer: Answer, evaluation: Evaluation) -> list[str]:
        """The names of the parts of a tuple: the result, and weights if one fits."""
        second = [value for _, value in answer.parts[1:2] if isinstance(value, Computed)]
        if second and "weights" in evaluation:
            shape, lead = second[0].numbers.shape, self.layout.lead
            whole = evaluation["weights"].shape[-len(shape) + lead :]
            if shape == (1,) * lead + whole:
                return ["", "weights"]
        return [""]

    def step_of(self, name: str, numbers: Array, evaluation: Evaluation) -> tuple[str, Array]:
        """The step that an array is, and its numbers as the derivation has them."""
        last = [n for n in self.derivation().names if n != "concat"][-1]
        names = [name or last]
        if not name and last == "heads":
            names = ["concat", "heads"] if self.layout.heads == "joined" else ["heads", "concat"]
        for step in names:
            if step not in evaluation:
                told = f"{quote(step)} is no step; the steps are {', '.join(evaluation)}"
                raise Failing("raises", told)
            shape = evaluation[step].shape
            if self.layout.heads == "single" and numbers.ndim == len(shape) + 1:
                numbers = numbers[..., 0, :] if numbers.shape[-2] == 1 else numbers
            is_turned = self.layout.heads in ("second", "turned")
            if step == "heads" and is_turned and numbers.ndim >= 3:
                turned = numbers.swapaxes(-3, -2)
                if turned.shape == shape:
                    return step, turned
            if numbers.shape == shape:
                return step, numbers
        raise _other_shape(names, numbers, evaluation)


def _other_shape(names: Sequence[str], numbers: Array, evaluation: Evaluation) -> Failing:
    """What an array is that has the shape of none of these steps."""
    for other in evaluation:
        # a function that returns too early returns what an earlier step is
        if evaluation[other].shape == numbers.shape and np.allclose(
            evaluation.array(evaluation[other].step.letter), numbers, equal_nan=True
        ):
            told = f"it returns {other}, where {names[0]} is asked for"
            return Failing("shape", told, "unfinished")
    batch = evaluation.batch
    for step in names:
        single = evaluation[step].shape[len(batch) :]
        lead = numbers.shape[: -len(single)]
        fits = numbers.shape[-len(single) :] == single and len(lead) <= len(batch)
        if fits and set(lead) <= {1} and any(size > 1 for size in batch):
            told = f"it takes a batch of {prod(batch)} and returns the {step} of one"
            return Failing("shape", told, "batch dropped")
    shapes = " or ".join(" × ".join(map(str, evaluation[n].shape)) for n in names)
    own = " × ".join(map(str, numbers.shape)) or "a single number"
    return Failing("shape", f"it returns {own} where {names[0]} is {shapes}")


class Failing(SymattnError):
    """What became of a call that gives no numbers to be judged, and why."""

    def __init__(self, kind: Kind, message: str, why: Why = "") -> None:
        super().__init__(message)
        self.kind, self.why = kind, why


#: What became of one call.
Kind: TypeAlias = Literal["right", "wrong", "inaccurate", "raises", "shape", "changes", "random"]

#: Why there are no numbers: a lack; an earlier step or one calculation of several was returned.
Why: TypeAlias = Lack | Literal["", "unfinished", "batch dropped"]


def subject_of(function: Function, wanted: Wanted) -> Subject:
    """A function with its arguments matched, by their names or as is told.

    Raises `SymattnError` for what can be no function of matrices, and for an argument that has to
    be given and is not known.
    """
    name, spec, mapped = function.name, wanted.spec, wanted.mapped
    known = {*WORDS, *SIZES, *(spec.inputs if isinstance(spec, Own) else ())}
    for step in mapped:
        if step not in known:
            listed = dict.fromkeys((*_inputs(spec), *_FIRST))
            raise SymattnError(f"--map {step}: is no matrix of attention{nearest(step, listed)}")
    taken = {argument: step for step, argument in mapped.items()}
    signature = function.signature.arguments
    if signature is None:
        signature = _unread(name, spec, mapped)
    names = [each.name for each in signature]
    for argument in taken:
        if argument not in names:
            raise SymattnError(
                f"--map: {name} has no argument {quote(argument)}{nearest(argument, names)}"
            )
    parameters = tuple(_parameters(signature, spec, taken))
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
    subject = Subject(
        *(function, name, spec, parameters, given, tuple(wanted.returns)),
        sizes=wanted.sizes,
        source=wanted.source,
    )
    try:
        subject.derivation()
    except SymattnError as error:
        own = next((f"; say which: --map W_Q={one}" for one in names if "." in one), "")
        raise SymattnError(f"{name}({', '.join(names)}): {error}{own}") from None
    return subject


def _unread(name: str, spec: Meant, mapped: Mapping[str, str]) -> tuple[Argument, ...]:
    """The arguments of a function without a signature: those mapped, or Q, K and V by position."""
    if mapped:
        return tuple(Argument(x, "KEYWORD_ONLY", required=True) for x in mapped.values())
    if spec.mask or spec.source is not None:
        raise SymattnError(
            f"{name}: its arguments have no names that can be read; say which is which, as in "
            "--map Q=query,K=key,V=value, or give a function of one line that calls it"
        )
    return (Argument("args", "VAR_POSITIONAL", required=True),)


def _parameters(
    signature: Sequence[Argument], spec: Meant, taken: Mapping[str, str]
) -> list[Given]:
    """The arguments that are given something; a function told to be causal needs no mask beside."""
    plain_ones = [each for each in signature if not each.kind.startswith("VAR_")]
    found = [
        Given(each.name, *meant, by_position=each.kind == "POSITIONAL_ONLY")
        for each in plain_ones
        if (meant := _meaning(each, spec, taken)) is not None
    ]
    takes_any = any(each.kind == "VAR_POSITIONAL" for each in signature)
    if takes_any and not any(p.kind == "matrix" for p in found):
        return [Given(n, "matrix", n, by_position=True) for n in _FIRST]
    told = any(p.kind == "flag" for p in found)
    return [p for p in found if not (told and p.kind == "mask")]


def _meaning(each: Argument, spec: Meant, taken: Mapping[str, str]) -> tuple[str, str] | None:
    """The kind of what an argument is given, and its meaning; None where it keeps its default."""
    word, told = plain(each.name), taken.get(each.name)
    if told in SIZES:
        return "size", told
    own = spec.inputs if isinstance(spec, Own) else ()
    meaning = told or _first(own, word)
    if meaning is None and _ALIASES.get(word) not in taken.values():
        if word in _MASKS:
            return _mask(each, spec)
        if word in _SIZES and (each.required or _SIZES[word] in ("h", "g")):
            return "size", _SIZES[word]
        if word in _CAUSAL:
            return ("flag", "causal") if any(kind == "causal" for kind, _ in spec.mask) else None
        meaning = canonical_name(each.name) or None
        if meaning == "bias" and spec.bias is None:
            added = any(kind == "additive" for kind, _ in spec.mask)
            meaning = MATRIX_MASKS["additive"] if added else None
    if meaning in own or (meaning and (spec.mask or meaning not in MATRIX_MASKS.values())):
        return "matrix", meaning
    if each.required:
        names = ", ".join(dict.fromkeys((*_inputs(spec), *_FIRST)))
        raise SymattnError(
            f"the argument {quote(each.name)} is not known; say what it is, as in "
            f"--map Q={each.name}, or give it a default; the matrices are {names}"
        )
    return None


def _inputs(spec: Meant) -> tuple[str, ...]:
    """The names of what an attention is given."""
    if isinstance(spec, Own):
        return tuple(spec.inputs)
    return tuple(one.name for one in spec.derivation().inputs)


def _first(names: Iterable[str], word: str) -> str | None:
    return next((name for name in names if plain(name) == word), None)


def _mask(each: Argument, spec: Meant) -> tuple[str, str] | None:
    """What is given for a mask: its matrix, what it hides in all, or nothing."""
    matrices = [MATRIX_MASKS[kind] for kind, _ in spec.mask if kind in MATRIX_MASKS]
    if matrices:
        return "matrix", matrices[0]
    if spec.mask and (each.required or each.is_none):
        return "mask", "mask"
    return ("nothing", "mask") if each.required else None


# ---- arrays ----------------------------------------------------------------------------------


def laid_out(item: Item, numbers: Array, layout: Layout) -> Array:
    """A matrix as the layout has it, from (…, h,) rows, columns."""
    if layout.vectors and item.shape[1] == 1 and not item.per_head:
        return numbers[..., 0]
    if not is_learned(item.name):
        if layout.heads == "single" and item.name in _FIRST:
            return np.expand_dims(numbers, -2)
        if not item.per_head or layout.heads in ("first", "turned"):
            return numbers
        turned = numbers.swapaxes(-3, -2)
        return turned if layout.heads == "second" else turned.reshape(*turned.shape[:-2], -1)
    if item.per_head and layout.weights != "stacked":
        numbers = np.concatenate(list(np.moveaxis(numbers, -3, 0)), axis=-1)
    if item.shape[0] == 1:  # a vector
        return numbers[..., 0, :]
    if layout.weights == "transposed":
        return numbers.swapaxes(-1, -2)
    return numbers


def axes_laid_out(item: Item, layout: Layout) -> tuple[str, ...] | None:
    """How long the axes are of a matrix as the layout has it; None for a layout without a name."""
    rows, columns = map(str, item.shape)
    heads = str(item.count)
    batch = ("b",) * (layout.lead and not is_learned(item.name))
    if rows == "1" and is_learned(item.name):
        return (columns,) if item.count is None else None
    if layout.vectors and columns == "1" and item.count is None:
        return (rows,)
    if item.count is None:
        single = layout.heads == "single" and item.name in _FIRST
        return None if single else (*batch, rows, columns)
    if is_learned(item.name):
        return (heads, rows, columns) if layout.weights == "stacked" else None
    if layout.heads == "second":
        return (*batch, rows, heads, columns)
    return (*batch, heads, rows, columns) if layout.heads in ("first", "turned") else None


def shape_of_input(item: Input, sizes: Mapping[Any, int]) -> tuple[int, ...]:
    """Heads, rows and columns of what is given, at these sizes."""
    sides = item.shape if item.count is None else (item.count, *item.shape)
    return tuple(int(side.subs(sizes)) for side in sides)
