"""What somebody wrote for each axis of `Attention`, read into the form in which a plan has it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sympy

from symattn.arguments import choice, whole, wrong
from symattn.arithmetic.reading import read_number
from symattn.attention.meaning import AXES, check_options
from symattn.attention.norms import PLACES
from symattn.attention.plan import (
    BIASED,
    BOTH_SCALE,
    DEFAULT_SCALE,
    KEY_CHOICES,
    MATRIX_MASKS,
    ONE_PLUS,
    PER_HEAD,
    PLAIN,
    SHIFTED,
    SOURCES,
    Plan,
)
from symattn.attention.scoring import SCORES
from symattn.attention.words import SIZES
from symattn.errors import NoSuchName, SymattnError, nearest, quote
from symattn.nodes.arguments import Setting, symbol_of_size
from symattn.nodes.entrywise import FEATURE_MAPS
from symattn.nodes.masks import COMBINED, MASKS, mask_of
from symattn.nodes.normalise import NORMALISERS
from symattn.step import MOST_OF_A_SIZE

_FLAGS = ("embedded", "cache", "query_latent")
_OPTIONAL_FLAGS = ("output_projection",)
#: The choices of the axes that have no options, and the axes that may be left open.
_CHOICES: Mapping[str, Collection[str]] = {
    "source": SOURCES,
    "tie": ("query-key", "key-value"),
    "score": SCORES,
    "feature_map": FEATURE_MAPS,
    "normaliser": NORMALISERS,
    "output_form": ("concat", "sum"),
}
_OPEN = ("source", "tie", "feature_map")

#: How people write a scale that depends on d_k; spaces do not count, and ** is ^.
_SCALES = {
    **dict.fromkeys(("1/sqrt(d_k)", "1/√d_k", "d_k^(-1/2)", "d_k^(-0.5)"), DEFAULT_SCALE),
    **dict.fromkeys(("d_k^(-1/4)", "d_k^(-0.25)", "1/d_k^(1/4)", "1/d_k^0.25"), BOTH_SCALE),
}


def read(spec: Plan) -> dict[str, Setting]:
    """The axes that people write in several ways, by name. Raises `SymattnError`.

    The others are only held against the choices that there are.
    """
    _check_flags(spec)
    if not isinstance(spec.unfold, bool):
        unfolding(spec.unfold)
    if not isinstance(spec.latent, bool):
        choice(spec.latent, "latent", ("absorbed",))
    for name, known in _CHOICES.items():
        value = getattr(spec, name)
        if value is not None or name not in _OPEN:
            choice(value, name, known)
    return {
        "scale": _scale(spec.scale),
        "soft_cap": _soft_cap(spec.soft_cap),
        "projection_bias": _biases(spec.projection_bias),
        "norm": _norms(spec.norm),
        "positions": _named("positions", spec.positions),
        "bias": _named("bias", spec.bias),
        "mask": _masks(spec.mask),
        "heads": _heads("heads", spec.heads, "h"),
        "kv_heads": _heads("kv_heads", spec.kv_heads, "g"),
        "output_gate": _gate(spec.output_gate),
    }


def _check_flags(spec: Plan) -> None:
    """Refuse what is neither true nor false, nor left open where it may be."""
    for name in (*_FLAGS, *_OPTIONAL_FLAGS):
        value = getattr(spec, name)
        if not isinstance(value, bool) and not (name in _OPTIONAL_FLAGS and value is None):
            raise SymattnError(f"{name} = {quote(value)}: choose true or false")


def unfolding(value: bool | str) -> str:
    """How the softmax is taken apart; empty where it stays whole."""
    if isinstance(value, bool):
        return SHIFTED if value else ""
    if not isinstance(value, str) or value not in (PLAIN, SHIFTED):
        hint = nearest(value, (PLAIN, SHIFTED))
        raise SymattnError(
            f'unfold = {quote(value)}: choose true, false, "{SHIFTED}" or "{PLAIN}"{hint}'
        )
    return value


def _scale(value: Setting) -> sympy.Expr | None:
    """The factor on the scores, or `BOTH_SCALE`; None for none."""
    if value is True:
        return DEFAULT_SCALE
    if isinstance(value, str):
        value = _SCALES.get("".join(value.split()).replace("**", "^").replace("−", "-"), value)
    if value is False or value is None:
        return None
    if isinstance(value, sympy.Expr) and value.free_symbols and not value.is_Matrix:
        return value.subs(
            {s: symbol_of_size(s.name) for s in value.free_symbols if s.name in SIZES}
        )
    factor = read_number(value, "scale")
    if factor.is_infinite or factor == 0:
        raise SymattnError(f"scale = {quote(value)}: give true, false, or a number other than 0")
    return None if factor == 1 else factor


def _soft_cap(value: Setting) -> sympy.Expr | None:
    """The number that scores stay below; None for none."""
    if value is None or value is False:
        return None
    cap = read_number(value, "soft_cap")
    if not cap.is_positive:
        raise SymattnError(f"soft_cap = {quote(value)}: give a positive number")
    return cap


def _named(name: str, value: Setting) -> tuple[str, tuple[tuple[str, Setting], ...]] | None:
    """A choice with options: a name, or a table of one name with its options."""
    known = tuple(AXES[name])
    if value is None or value is False:
        return None
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict | tuple):
        value = {value[0]: dict(value[1])}
    options: Setting = {}
    chosen = value
    if isinstance(value, Mapping):
        if len(value) != 1:
            raise SymattnError(f"{name}: name one choice; known: {', '.join(known)}")
        ((chosen, options),) = value.items()
        options = {} if options is True else options
    choice(chosen, name, known)
    if not isinstance(options, Mapping):
        raise SymattnError(f"{name}: the options of {chosen} have to be a table")
    check_options(name, chosen, options)
    row = AXES[name][chosen]
    read = {key: row.reads.get(key, _frozen)(held) for key, held in options.items()}
    if row.check is not None:
        row.check(read)
    return chosen, tuple(read.items())


def _biases(value: Setting) -> bool | tuple[str, ...] | None:
    """All biases or none, or the letters of the projections that have one."""
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, list | tuple):
        raise SymattnError(
            f"projection_bias = {quote(value)}: choose true or false, or list letters of "
            f"{', '.join(BIASED)}"
        )
    for letter in value:
        choice(letter, "projection_bias", BIASED)
    return tuple(letter for letter in BIASED if letter in value)


def _gate(value: Setting) -> tuple[str, tuple[tuple[str, Setting], ...]] | None:
    """The function that makes the gate, and whether it is one number for each head."""
    gate = _named("output_gate", value)
    for option, said in gate[1] if gate else ():
        if not isinstance(said, bool):
            raise SymattnError(f"output_gate: {option} = {quote(said)}: choose true or false")
    return gate


def _norms(value: Setting) -> tuple[tuple[str, Setting], ...]:
    """The norms as (step, (name, options)) pairs; what names no step is of queries and keys."""
    if value is None or value is False or (isinstance(value, tuple) and not value):
        return ()
    if isinstance(value, tuple):  # it has been read
        value = dict(value)
    if not isinstance(value, Mapping) or not set(value) - set(AXES["norm"]):
        value = {"Q": value, "K": value}
    for name in value:
        choice(name, "norm", PLACES)
    pairs = [(name, _named("norm", value[name])) for name in PLACES if name in value]
    return tuple((name, (said[0], _norm_options(name, said[1]))) for name, said in pairs if said)


def _norm_options(name: str, options: tuple[tuple[str, Setting], ...]) -> Setting:
    """The options of the norm of a step, ε as a number."""
    place, out = PLACES[name], dict(options)
    known: dict[str, tuple[Setting, ...]] = {
        "gain": (False, True, ONE_PLUS) if place.shared else (False, True, ONE_PLUS, PER_HEAD),
        "shift": (False, True) if place.shared else (False, True, PER_HEAD),
        "joined": (False,) if place.shared else (False, True),
        "rotated": (False, True) if name in ("Q", "K") else (False,),
    }
    for option, allowed in known.items():
        said = out.get(option, False)
        if not isinstance(said, bool | str) or said not in allowed:
            offered = ", ".join(map(quote, allowed))
            raise SymattnError(f"norm: {name}: {option} = {quote(said)}: choose {offered}")
    eps = read_number(out.get("eps", 0), "eps")
    if eps.is_negative or eps.is_infinite:
        raise SymattnError(f"norm: {name}: eps = {quote(out['eps'])}: give a number from 0")
    return tuple({**out, "eps": eps}.items())


def _masks(value: Setting) -> tuple[tuple[str, Setting], ...]:
    """The masks as (name, parameter) pairs."""
    if value is None or value is False:
        return ()
    if isinstance(value, str):
        pairs: list[tuple[str, Setting]] = [(value, True)]
    elif isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list | tuple):
        if all(isinstance(part, tuple) and len(part) == 2 for part in value):
            pairs = list(value)
        else:
            pairs = [pair for part in value for pair in _masks(part)]
    else:
        known = ", ".join(_mask_names())
        raise SymattnError(f"mask = {quote(value)}: name a mask; known: {known}")
    out: list[tuple[str, Setting]] = []
    for name, parameter in pairs:
        if not isinstance(name, str) or name not in _mask_names():
            raise SymattnError(f"mask {quote(name)} is not known{nearest(name, _mask_names())}")
        if parameter is False:
            continue
        _check_mask(name, parameter)
        earlier = {one for one, _ in out}
        if name in MATRIX_MASKS and name in earlier:
            raise SymattnError(f'mask: "{name}" is named twice; there is one {MATRIX_MASKS[name]}')
        if name in KEY_CHOICES and earlier & {*KEY_CHOICES}:
            raise SymattnError("mask: keys are chosen twice; name one choice")
        out.append((name, _frozen(parameter)))
    return tuple(out)


def _check_mask(name: str, parameter: Setting) -> None:
    """Refuse a parameter that the mask of this name cannot have."""
    if name in KEY_CHOICES:
        whole(parameter, f'mask "{name}"', 1, MOST_OF_A_SIZE)
    elif name not in MATRIX_MASKS:
        mask_of(name, sympy.Symbol("n"), sympy.Symbol("m"), parameter)
    elif parameter is not True and not (isinstance(parameter, str) and parameter == PER_HEAD):
        raise SymattnError(
            f'mask "{name}" = {quote(parameter)}: say true (one matrix for all heads) or '
            f'"{PER_HEAD}" (one for each), and give the matrix as {MATRIX_MASKS[name]}'
        )


def _frozen(value: Setting) -> Setting:
    """Lists as tuples, and a table of one mask as a pair, so that a spec can be hashed."""
    if isinstance(value, Mapping):
        return next((name, _frozen(held)) for name, held in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _mask_names() -> tuple[str, ...]:
    """All that a mask may be called."""
    return (*MASKS, *COMBINED, *MATRIX_MASKS, *KEY_CHOICES)


def _heads(name: str, value: object, letter: str) -> int | str | None:
    if value is None or (isinstance(value, str) and value == letter):
        return value
    if isinstance(value, str):
        raise wrong(value, name, f'a whole number from 1 to 1024, or "{letter}"')
    return whole(value, name, 1, 1024)


def size_called(name: str) -> sympy.Symbol:
    """The symbol of a size that somebody names. Raises `NoSuchName`."""
    if name not in SIZES:
        raise NoSuchName(f"no size is called {quote(name)}{nearest(name, SIZES)}")
    return symbol_of_size(name)


def count(name: str, value: object) -> int:
    """How many somebody says that there are. Raises `SymattnError`."""
    return whole(value, name, 1, MOST_OF_A_SIZE)
