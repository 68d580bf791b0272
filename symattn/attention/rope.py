"""Rotary positions in steps: angles Ψ = P Θ, positions times frequencies, and what scales them.

P has a row for each token and a column for each axis of positions (one for text; time, row and
column of a video), Θ a row for each axis and a column for each pair of columns that turns. A
model's configuration says the scaling of the frequencies in the words of Hugging Face's
transformers (`rope_parameters`, formerly `rope_scaling`), which are kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import choice, flag, instance, whole
from symattn.arithmetic.proof import ordered
from symattn.arithmetic.reading import read_number
from symattn.attention.builder import Builder
from symattn.attention.plan import sections_of
from symattn.attention.words import Word
from symattn.errors import SymattnError, nearest, quote
from symattn.nodes.arguments import Setting
from symattn.nodes.arguments import whole as size
from symattn.nodes.base import shape_of
from symattn.nodes.defined import COLUMN_NUMBER, ROW_NUMBER, Counted, WherePlaced
from symattn.nodes.entrywise import function_of
from symattn.nodes.heads import Stacked
from symattn.nodes.operators import (
    entry_by_entry,
    filling,
    multiple,
    negative,
    over,
    plus,
    times,
)
from symattn.nodes.positions import Frequencies, Turned

#: How the pairs are shared out among the axes of positions: one block after the other, with the
#: frequencies of all pairs (Qwen2-VL) or with those of a block of its own for each axis (its
#: vision tower); taking turns from the second pair on (Qwen3-VL); or in blocks that take turns
#: with the frequencies (Pixtral).
LAYOUTS = ("blocks", "restarted", "interleaved", "alternating")

#: A reader of one key of a scaling: the value, and where it stands.
Reader: TypeAlias = Callable[[object, str], Setting]


# ---- what a configuration says -----------------------------------------------------------------


def _positive(value: object, where: str) -> sympy.Expr:
    number = read_number(value, where)
    if not number.is_positive or number.is_infinite:
        raise SymattnError(f"{where}: {quote(value)}: give a positive number")
    return number


def _list(value: object, where: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise SymattnError(f"{where}: {quote(value)}: give a list of numbers")
    return value


def _factors(value: object, where: str) -> tuple[sympy.Expr, ...]:
    return tuple(_positive(one, where) for one in _list(value, where))


def read_sections(value: object, where: str = "positions: sections") -> tuple[int, ...]:
    """How many pairs turn along each axis. Raises `SymattnError`."""
    listed = _list(value, where)
    if len(listed) < 2:
        raise SymattnError(f"{where}: {quote(value)}: give the pairs of two axes or more")
    return tuple(whole(one, where, 1) for one in listed)


def _ramp(value: object, where: str) -> str:
    return choice(value, where, ("columns", "rotations"))


_KEYS: Mapping[str, Reader] = {
    **dict.fromkeys(
        (
            *("factor", "low_freq_factor", "high_freq_factor", "attention_factor", "beta_fast"),
            *("beta_slow", "mscale", "mscale_all_dim", "partial_rotary_factor", "rope_theta"),
            *("original_max_position_embeddings", "max_position_embeddings"),
        ),
        _positive,
    ),
    **dict.fromkeys(("short_factor", "long_factor"), _factors),
    **dict.fromkeys(("truncate", "mrope_interleaved"), flag),
    "mrope_section": read_sections,
    "ramp": _ramp,
}

_ALWAYS = ("rope_theta", "partial_rotary_factor", "mrope_section", "mrope_interleaved")
_ATTENTION = ("attention_factor", "factor", "max_position_embeddings")

#: The keys that each type of scaling needs, and those that it may have.
_TYPES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "default": ((), ()),
    "axial": ((), ()),
    "linear": (("factor",), ()),
    "proportional": (("partial_rotary_factor",), ("factor",)),
    "dynamic": (("factor", "original_max_position_embeddings"), ()),
    "llama3": (
        (
            *("factor", "low_freq_factor", "high_freq_factor"),
            "original_max_position_embeddings",
        ),
        (),
    ),
    "yarn": (
        ("original_max_position_embeddings",),
        (*_ATTENTION, "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate", "ramp"),
    ),
    "longrope": (
        ("short_factor", "long_factor", "original_max_position_embeddings"),
        _ATTENTION,
    ),
}


def read_scaling(value: object) -> tuple[tuple[str, Setting], ...]:
    """The scaling of a configuration as pairs of keys and values. Raises `SymattnError`.

    >>> read_scaling({"type": "linear", "factor": 4})
    (('rope_type', 'linear'), ('factor', 4))
    """
    where = "positions: scaling"
    if isinstance(value, tuple):  # read already
        return value
    given = dict(instance(value, Mapping, where, 'a table such as {rope_type = "linear", ...}'))
    called = given.pop("type", None)
    kind = choice(given.pop("rope_type", called or "default"), f"{where}: rope_type", _KINDS)
    kind = "default" if kind == "mrope" else kind
    needed, possible = _TYPES[kind]
    known = (*needed, *possible, *_ALWAYS)
    for key in given:
        if key not in known:
            hint = nearest(str(key), known) or "; leave it out"
            raise SymattnError(f"{where}: {kind} has no key {quote(key)}{hint}")
    for key in needed:
        if given.get(key) is None:
            raise SymattnError(f"{where}: {kind} needs {key}")
    read = {
        key: _KEYS[key](one, f"{where}: {key}") for key, one in given.items() if one is not None
    }
    if kind in ("yarn", "longrope") and not {"factor", "max_position_embeddings"} & set(read):
        raise SymattnError(f"{where}: {kind} needs factor, or max_position_embeddings")
    _check_order(read, where)
    return (("rope_type", kind), *read.items())


_KINDS = (*_TYPES, "mrope")

#: YaRN's usual bounds, Peng et al. 2023, section 3.2: its α and β.
_BETAS = sympy.S.One, sympy.Integer(32)


def _yes(option: str) -> Callable[[object], bool]:
    """A reader of an option that is said or left out."""

    def read(value: object) -> bool:
        if value is not True:
            raise SymattnError(f"positions: {option} = {quote(value)}: say true, or leave it out")
        return True

    return read


def _one_of(option: str, known: tuple[str, ...]) -> Callable[[object], str]:
    """A reader of an option that is a word."""
    return lambda value: choice(value, f"positions: {option}", known)


#: How the options that are no numbers are read.
READS: Mapping[str, Callable[[object], Setting]] = {
    **{option: _yes(option) for option in ("frequencies", "position_ids", "caches")},
    "scaling": read_scaling,
    "sections": read_sections,
    "layout": _one_of("layout", LAYOUTS),
    "part": _one_of("part", ("first", "last")),
}

#: What an option leaves nothing to say to.
_IDLE: Mapping[str, tuple[str, ...]] = {
    "caches": (*("frequencies", "scaling", "sections", "layout", "position_ids", "base", "start"),),
    "frequencies": ("base", "sections", "layout"),
    "position_ids": ("start",),
    "sections": ("start", "dims"),
}


def check(options: Mapping[str, Setting]) -> None:
    """Refuse options that mean nothing together. Raises `SymattnError`."""
    scaling = dict(options.get("scaling", ()))
    said = {*options} | ({"sections"} if "mrope_section" in scaling else set())
    for option, others in _IDLE.items():
        idle = next((other for other in others if other in options), None)
        if option in said and idle is not None:
            raise SymattnError(f"positions: {option} leaves nothing to {idle}; leave {idle} out")
    kind = scaling.get("rope_type", "default")
    sections = sections_of(options)
    rules: tuple[tuple[bool, str], ...] = (
        ("layout" in said and not sections, "layout: say sections, which it lays out"),
        (
            "mrope_section" in scaling and bool({"sections", "layout"} & {*options}),
            "sections: the scaling has mrope_section; say one of them",
        ),
        (
            options.get("layout") == "alternating" and len({*sections}) > 1,
            "layout: alternating sections are of one size",
        ),
        (
            kind in ("dynamic", "longrope") and bool({"position_ids", "sections"} & said),
            f"scaling: {kind} depends on the length, which positions that are given do not tell",
        ),
        (
            "base" in said and "rope_theta" in scaling,
            "base: the scaling has rope_theta; say one of them",
        ),
        (
            "frequencies" in said and (kind == "yarn" or "rope_theta" in scaling),
            "frequencies: they are given, so nothing has a base; leave rope_theta and yarn out",
        ),
        (
            kind == "axial" and not {"sections", "layout"} <= {*options},
            "scaling: axial tokens have a row and a column: say sections = [16, 16], how many "
            "pairs turn along each, and their layout",
        ),
        (
            "dims" in said and "partial_rotary_factor" in scaling and kind != "proportional",
            "dims: the scaling has partial_rotary_factor; say one of them",
        ),
        (
            "dims" in said and "short_factor" in scaling,
            "dims: the lists of factors say how many columns turn; leave dims out",
        ),
        (
            len(scaling.get("short_factor", ())) != len(scaling.get("long_factor", ())),
            "scaling: short_factor and long_factor have to be of one length",
        ),
    )
    for wrong, why in rules:
        if wrong:
            raise SymattnError(f"positions: {why}")


def _check_order(read: Mapping[str, Any], where: str) -> None:
    """Refuse bounds that are the wrong way round."""
    orders = (
        ("low_freq_factor", "high_freq_factor", sympy.S.One, sympy.oo),
        ("beta_slow", "beta_fast", *_BETAS),
    )
    for low, high, usual, most in orders:
        if {low, high} & {*read} and ordered(read.get(low, usual), read.get(high, most)) >= 0:
            raise SymattnError(f"{where}: {low} has to be less than {high}")
    if ordered(read.get("partial_rotary_factor", sympy.S.One), sympy.S.One) > 0:
        raise SymattnError(f"{where}: partial_rotary_factor has to be 1 at most")


# ---- what is turned, and by what ---------------------------------------------------------------


class Rope:
    """What a builder's rotation says, where its angles are steps."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.options = dict(b.plan.rotary or {})
        self.scaling: dict[str, Any] = dict(self.options.get("scaling", ()))
        self.kind: str = self.scaling.get("rope_type", "default")
        self.sections = sections_of(self.options)
        turns = "interleaved" if self.scaling.get("mrope_interleaved") else "blocks"
        self.layout = self.options.get("layout", turns)

    @property
    def dims(self) -> sympy.Expr:
        """How many columns turn: those said or listed, or ⌊p d⌋, the part of a configuration."""
        listed = sum(self.sections) or len(self.scaling.get("short_factor", ()))
        part = self.scaling.get("partial_rotary_factor", 1)
        part = 1 if self.kind == "proportional" else part  # all turn there, some by an angle of 0
        width = shape_of(self.b.first("turned_query"))[1]
        usual = 2 * listed if listed else sympy.floor(part * width)
        return size(self.options.get("dims", usual), "Rotary", "dims", 2)

    @property
    def base(self) -> sympy.Expr:
        """The base of the frequencies."""
        usual = self.scaling.get("rope_theta", 10000)
        return read_number(self.options.get("base", usual), "positions: base")

    def frequencies(self, dims: sympy.Expr) -> MatrixExpr:
        """Those of as many columns, θ_t = base^(−2t/dims)."""
        return Frequencies(dims, self.base)

    @property
    def axes(self) -> int:
        """How many positions a token has."""
        return len(self.sections) or 1

    @property
    def start(self) -> sympy.Expr:
        """The position of the first key."""
        return size(self.options.get("start", 0), "Rotary", "start")

    @property
    def length(self) -> sympy.Expr:
        """One more than the last position."""
        return shape_of(self.b.first("turned_key"))[0] + self.start

    @property
    def original(self) -> sympy.Expr:
        """How many positions the model was trained on."""
        return self.scaling["original_max_position_embeddings"]

    @property
    def factor(self) -> sympy.Expr:
        """By how much contexts become longer."""
        given = self.scaling.get("factor")
        longest = self.scaling.get("max_position_embeddings")
        return given or (sympy.S.One if longest is None else longest / self.original)

    @property
    def betas(self) -> tuple[sympy.Expr, sympy.Expr]:
        """YaRN's full turns below which a pair is slowed down, and above which it is not."""
        slow, fast = _BETAS
        return self.scaling.get("beta_slow", slow), self.scaling.get("beta_fast", fast)

    @property
    def attention_factor(self) -> sympy.Expr:
        """What cosines and sines are multiplied by.

        YaRN: 1 + 0.1 ln s, Peng et al. 2023, eq. 22, or DeepSeek's quotient of two such numbers;
        LongRoPE: √(1 + ln s / ln L), Ding et al. 2024.
        """
        given = self.scaling.get("attention_factor")
        if given is not None or self.kind not in ("yarn", "longrope"):
            return given or sympy.S.One
        if ordered(self.factor, sympy.S.One) <= 0:
            return sympy.S.One
        if self.kind == "longrope":
            return sympy.sqrt(1 + sympy.log(self.factor) / sympy.log(self.original))
        above, below = (self.scaling.get(key) for key in ("mscale", "mscale_all_dim"))
        if above is None or below is None:
            return 1 + sympy.log(self.factor) / 10
        one, other = (1 + weight * sympy.log(self.factor) / 10 for weight in (above, below))
        return one / other


def pairs_of(b: Builder) -> sympy.Expr:
    """How many pairs of columns turn."""
    return Rope(b).dims / 2


def axes_of(b: Builder) -> int:
    """How many positions a token has."""
    return Rope(b).axes


def frequencies(b: Builder) -> MatrixExpr:
    """θ_t = base^(−2t/d); of each axis anew, or by turns, where the layout says so."""
    rope = Rope(b)
    if rope.layout == "restarted":
        parts = [rope.frequencies(2 * pairs) for pairs in rope.sections]
    elif rope.layout == "alternating":
        own = rope.frequencies(rope.dims / rope.axes)
        parts = [multiple(rope.base ** (-2 * k / rope.dims), own) for k in range(rope.axes)]
    else:
        return rope.frequencies(rope.dims)
    return reduce(lambda one, other: Stacked(one, other, 1), parts)


def divisors(b: Builder) -> MatrixExpr:
    """LongRoPE's factors: the short ones up to the length that was trained on."""
    rope = Rope(b)
    short, long = (
        sympy.ImmutableDenseMatrix([rope.scaling[key]]) for key in ("short_factor", "long_factor")
    )
    return WherePlaced(short, long, sympy.Le(rope.length, rope.original))


def kept(b: Builder) -> MatrixExpr:
    """The share of a frequency that is not divided: min(1, max(0, ramp))."""
    rope = Rope(b)
    ramp = _by_columns(rope) if _in_columns(rope) else _by_rotations(rope, b.first("frequencies"))
    return function_of("min1", function_of("max0", ramp))


def _in_columns(rope: Rope) -> bool:
    return rope.kind == "yarn" and rope.scaling.get("ramp", "columns") == "columns"


def _by_rotations(rope: Rope, theta: MatrixExpr) -> MatrixExpr:
    """(L θ_t/(2π) − low)/(high − low): full turns within the length that was trained on."""
    if rope.kind == "llama3":
        low, high = rope.scaling["low_freq_factor"], rope.scaling["high_freq_factor"]
    else:
        low, high = rope.betas
    turns = times([rope.original / (2 * sympy.pi), theta])
    return over(plus([turns, -low]), high - low)


def _by_columns(rope: Rope) -> MatrixExpr:
    """(high − t)/(high − low), t from 0: YaRN as its authors' code and transformers have it."""
    low, high = _bounds(rope)
    places = Counted(1, rope.dims / 2, COLUMN_NUMBER - 1)
    return over(plus([high, negative(places)]), high - low)


def _bounds(rope: Rope) -> tuple[sympy.Expr, sympy.Expr]:
    """The pairs between which the ramp falls from 1 to 0, from 0; their number is known."""
    if not rope.dims.is_Integer:
        raise SymattnError(
            f"positions: yarn's bounds depend on how many columns turn; say dims = 64, not "
            f'{rope.dims}, or ramp = "rotations"'
        )
    slow, fast = rope.betas

    def pair(turns: sympy.Expr) -> sympy.Expr:
        within = sympy.log(rope.original / (2 * sympy.pi * turns))
        return rope.dims * within / (2 * sympy.log(rope.base))

    low, high = pair(fast), pair(slow)
    if rope.scaling.get("truncate", True):
        low, high = sympy.floor(low), sympy.ceiling(high)
    low = low if ordered(low, sympy.S.Zero) > 0 else sympy.S.Zero
    high = high if ordered(high, rope.dims - 1) < 0 else rope.dims - 1
    return low, high + sympy.Rational(1, 1000) if low == high else high


def scaled(b: Builder) -> MatrixExpr:
    """The frequencies as the scaling makes them."""
    rope, theta = Rope(b), b.first("frequencies")
    divided = theta if rope.factor == 1 else over(theta, rope.factor)
    match rope.kind:
        case "llama3" | "yarn":
            share = b.first("kept_share")
            rest = plus([1, negative(share)])
            return plus([entry_by_entry("∘", share, theta), entry_by_entry("∘", rest, divided)])
        case "longrope":
            return entry_by_entry("⊘", theta, b.first("divisors"))
        case "proportional":
            turning = sympy.floor(rope.scaling["partial_rotary_factor"] * rope.dims / 2)
            test = sympy.Le(COLUMN_NUMBER, turning)
            return WherePlaced.or_zero(divided, test)
        case "dynamic":
            length = sympy.Max(rope.length, rope.original)
            longer = rope.factor * length / rope.original - (rope.factor - 1)
            slower = Frequencies(rope.dims, longer ** (rope.dims / (rope.dims - 2)))
            return entry_by_entry("∘", theta, slower)
    return divided


def of_axes(b: Builder) -> MatrixExpr:
    """The frequency of each pair in the row of its axis, and 0 in the others."""
    rope, row = Rope(b), b.first("one_axis")
    test = _interleaved(rope.sections) if rope.layout == "interleaved" else _blocks(rope.sections)
    return WherePlaced.or_zero(filling(row, (rope.axes, shape_of(row)[1])), test)


def _blocks(sections: Sequence[int]) -> sympy.Basic:
    ends, last = [*accumulate(sections)], len(sections) - 1
    blocks = []
    for k, end in enumerate(ends):
        below = [] if k == 0 else [sympy.Le(ends[k - 1] + 1, COLUMN_NUMBER)]
        above = [] if k == last else [sympy.Le(COLUMN_NUMBER, end)]
        blocks.append(sympy.And(sympy.Eq(ROW_NUMBER, k + 1), *below, *above))
    return sympy.Or(*blocks)


def _interleaved(sections: Sequence[int]) -> sympy.Basic:
    """Pair t belongs to axis t mod 3 (from 0) while that has pairs left, else to the first."""
    axes = len(sections)
    others = [
        sympy.And(
            sympy.Eq(sympy.Mod(COLUMN_NUMBER - 1, axes), k),
            sympy.Le(COLUMN_NUMBER, axes * sections[k]),
        )
        for k in range(1, axes)
    ]
    taken = [sympy.And(sympy.Eq(ROW_NUMBER, k + 2), other) for k, other in enumerate(others)]
    return sympy.Or(*taken, sympy.And(sympy.Eq(ROW_NUMBER, 1), sympy.Not(sympy.Or(*others))))


def query_positions(b: Builder) -> MatrixExpr:
    """The positions of the queries, those of new tokens after the cached ones."""
    return _counted(shape_of(b.first("turned_query"))[0], Rope(b).start + b.start)


def key_positions(b: Builder) -> MatrixExpr:
    """The positions of the keys."""
    return _counted(shape_of(b.first("turned_key"))[0], Rope(b).start)


def _counted(rows: sympy.Expr, start: sympy.Expr) -> MatrixExpr:
    return Counted(rows, 1, ROW_NUMBER - 1 + start)


def turned_query(b: Builder, matrix: MatrixExpr) -> MatrixExpr:
    """The queries turned by their angles."""
    return _turned(b, matrix, "query")


def turned_key(b: Builder, matrix: MatrixExpr) -> MatrixExpr:
    """The keys turned by their angles."""
    return _turned(b, matrix, "key")


def _turned(b: Builder, matrix: MatrixExpr, which: str) -> MatrixExpr:
    rope = Rope(b)
    if "caches" in b.plan.facts:
        cos, sin = (b.first(f"{which}_{wave}") for wave in ("cos", "sin"))
    else:
        angles, factor = b.first(f"{which}_angles"), rope.attention_factor
        cos, sin = (multiple(factor, function_of(wave, angles)) for wave in ("cos", "sin"))
    last = rope.options.get("part") == "last"
    first = shape_of(matrix)[1] - rope.dims if last else 0
    return Turned(matrix, cos, sin, pairing=rope.options.get("pairing", "interleaved"), first=first)


# ---- what the steps are called -----------------------------------------------------------------

_YARN = "Peng et al., YaRN (2023), section "

WORDS: tuple[Word, ...] = (
    Word(
        "frequencies",
        "theta",
        title="frequencies",
        learned=True,
        shared=True,
        meaning="frequencies: the angle by which each pair turns from one position to the next",
        rule="frequencies",
        why="Each pair of columns turns by its own angle from one position to the next, the "
        "first ones fast and the last ones slowly.",
        source="Su et al., RoFormer (2021), section 3.2.2",
        rows=axes_of,
        columns=pairs_of,
    ),
    Word(
        "kept_share",
        "eta",
        title="kept shares",
        shared=True,
        rule="ramp",
        why="Pairs that turn often within the trained length keep their frequency (1), those that "
        "hardly turn are slowed down (0), and the ones between are mixed.",
        source=f"{_YARN}3.2",
    ),
    Word(
        "divisors",
        "lambda",
        title="divisors of the frequencies",
        shared=True,
        rule="by length",
        why="Each frequency has a divisor of its own, found by a search; up to the trained "
        "length it is another than beyond.",
        source="Ding et al., LongRoPE (2024), section 3",
    ),
    Word(
        "frequencies_scaled",
        "theta_s",
        title="scaled frequencies",
        shared=True,
        rule="scaling",
        why="Slower rotations keep the angles of a longer text within those of training.",
        source=f"{_YARN}2.3",
    ),
    Word(
        "frequencies_axes",
        "theta_a",
        title="frequencies of the axes",
        shared=True,
        rule="sections",
        why="Each pair turns by the position along one axis, so its frequency stands in that "
        "axis's row.",
        source="Wang et al., Qwen2-VL (2024), section 2.1",
    ),
    Word(
        "position_ids",
        "P_n",
        title="positions",
        shared=True,
        fixed=True,
        rule="positions",
        why="The tokens are numbered from 0.",
        meaning="positions of the tokens, with a column for each axis",
        rows="turned_query.rows",
        columns=axes_of,
    ),
    Word(
        "key_position_ids",
        "P_m",
        title="positions of the keys",
        shared=True,
        fixed=True,
        rule="positions",
        why="The keys are numbered from 0 too.",
        meaning="positions of the keys, with a column for each axis",
        rows="turned_key.rows",
        columns=axes_of,
    ),
    Word(
        "query_angles",
        "psi",
        title="angles",
        shared=True,
        rule="matrix product",
        why="An angle is a position times a frequency.",
        source="Su et al., RoFormer (2021), section 3.2.2",
    ),
    Word(
        "key_angles",
        "psi_m",
        title="angles of the keys",
        shared=True,
        rule="matrix product",
        why="The angles of the keys are found in the same way.",
        source="Su et al., RoFormer (2021), section 3.2.2",
    ),
    *(
        Word(
            f"{which}_{wave}",
            f"{wave[0].upper()}_{size}",
            title=f"{called} of the {whose}",
            shared=True,
            fixed=True,
            meaning=f"{called} of the angles of the {whose}, kept in a table",
            rows=f"turned_{which}.rows",
            columns=pairs_of,
        )
        for which, whose, size in (("query", "queries", "n"), ("key", "keys", "m"))
        for wave, called in (("cos", "cosines"), ("sin", "sines"))
    ),
)
