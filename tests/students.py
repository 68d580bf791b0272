"""Students who calculate attention by hand: honest ones of every style, and ones who slip.

A sheet is one calculation in decimal arithmetic of fifty digits, written from the paper
(A = softmax(Q Kᵀ/√d_k), output A V; Vaswani et al. 2017, section 3.2.1) and sharing nothing with
symattn. Every entry is computed from the operands as its student keeps them; what he writes is
rounded, or cut off, at the sheet's decimals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import (
    ROUND_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
)
from functools import cached_property, lru_cache
from itertools import pairwise
from random import Random
from typing import TypeAlias

import numpy as np

#: An entry: step, row, column, from 0.
Place: TypeAlias = tuple[str, int, int]
Matrix: TypeAlias = tuple[tuple[Decimal, ...], ...]

_WIDE = Context(prec=50)

#: Ten digits fewer, for rounding: three thirds are 1 before they are cut off, and ties are ties.
_SURE = Context(prec=40)

#: Enough for e^z with all the decimals that are ever asked for.
_LONG = Context(prec=400)

#: What is written where a key is hidden.
_HIDDEN = Decimal("-Infinity")
_ZERO = Decimal(0)

#: The unit of the last of so many decimals.
_UNIT = tuple(Decimal(1).scaleb(-decimals) for decimals in range(50))

#: The steps in the order in which they are computed.
STEPS = ("Q", "K", "V", "scores", "scaled", "masked", "exp", "exp_sum", "weights", "output")

ROUNDINGS = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN, "cut off": ROUND_DOWN}


# ---- styles ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """How a student keeps and writes numbers.

    `keep`: the decimals beyond the written ones with which a written number is used again; None:
    unrounded. `inner`: the decimals of what is not written down (e^z, row sums, product terms,
    √d_k, steps left out); None: unrounded. `rounding`: of what is written and kept. `inner_cut`:
    whether what is not written is cut off too. `keep_weights`: `keep` for the weights alone,
    which differs in the mixed styles only. `terms`: the decimals of product terms, where nothing
    else is rounded that is not written.
    """

    keep: int | None = None
    inner: int | None = None
    rounding: str = "half-up"
    inner_cut: bool = False
    keep_weights: int | None = None
    terms: int | None = None

    @property
    def mixed(self) -> bool:
        """Whether the weights are kept in another way than the rest."""
        return self.keep != self.keep_weights

    @property
    def inner_rounding(self) -> str:
        """How what is not written is rounded."""
        cut = self.rounding == "cut off" and not self.inner_cut
        return "half-up" if cut else self.rounding

    @property
    def values(self) -> dict[str, str]:
        """The value of each dimension, in words."""
        cut = " (inner too)" if self.inner_cut else ""
        return {
            "kept": _kept(self.keep),
            "inner": "unrounded" if self.inner is None else f"{self.inner} decimals",
            "rounding": self.rounding + cut,
        }

    def __str__(self) -> str:
        words = "; ".join(f"{name} {value}" for name, value in self.values.items())
        return f"{words}; weights kept {_kept(self.keep_weights)}" if self.mixed else words


def _kept(keep: int | None) -> str:
    return "unrounded" if keep is None else "as written" if keep == 0 else f"{keep} more"


def _styles() -> Iterator[Style]:
    for keep in (0, 1, 2, None):
        for inner in (2, 3, 4, None):
            for rounding in ROUNDINGS:
                yield Style(keep, inner, rounding, False, keep)
                if rounding == "cut off" and inner is not None:
                    yield Style(keep, inner, rounding, True, keep)


#: Every style that is one habit throughout.
STYLES = tuple(_styles())

#: A calculator up to the weights and their written digits from there; and the other way round.
MIXED = tuple(
    Style(keep, None, rounding, False, weights)
    for keep, weights in ((None, 0), (0, None))
    for rounding in ROUNDINGS
)


def rounded(x: Decimal, decimals: int | None, rounding: str) -> Decimal:
    """`x` with so many decimals; a zero has no sign. None leaves it as it is."""
    if decimals is None or not x.is_finite():
        return x
    if rounding == "numpy":
        return Decimal(repr(float(np.round(float(x), decimals))))
    y = _SURE.plus(x).quantize(_UNIT[decimals], ROUNDINGS[rounding], _LONG)
    return y if y else _ZERO


# ---- tasks ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """What is given, and which attention is asked for; numbers are exact decimals."""

    given: Mapping[str, Matrix]
    d_k: int
    scaled: bool = True
    causal: bool = False

    @property
    def queries(self) -> int:
        """The number of rows of the output."""
        first = next(name for name in ("X", "Q", "scores", "scaled") if name in self.given)
        return len(self.given[first])

    @property
    def keys(self) -> int:
        """The number of keys."""
        for name in ("X", "K"):
            if name in self.given:
                return len(self.given[name])
        return len(self.given["scores" if "scores" in self.given else "scaled"][0])

    def visible(self, i: int) -> range:
        """The keys that query i may attend to."""
        return range(min(i + 1, self.keys) if self.causal else self.keys)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps to be computed, `exp` and `exp_sum` included."""
        gone = set(self.given)
        if "X" not in gone:
            gone |= {"Q", "K", "V"}
        if "scaled" in gone:
            gone.add("scores")
        if not self.scaled:
            gone.add("scaled")
        if not self.causal:
            gone.add("masked")
        return tuple(step for step in STEPS if step not in gone)

    def shape(self, step: str) -> tuple[int, int]:
        """Rows and columns of a step."""
        if step in ("Q", "K", "V"):
            return len(self.given["X"]), len(self.given[f"W_{step}"][0])
        values = self.given["V"] if "V" in self.given else self.given["W_V"]
        width = {"output": len(values[0]), "exp_sum": 1}.get(step, self.keys)
        return self.queries, width


@dataclass(frozen=True)
class Form:
    """What is given, as ``Q, K, V``, ``X`` with its matrices, ``scores`` or ``scaled``; sizes."""

    kind: str
    queries: int
    keys: int
    width: int
    d_k: int
    d_v: int
    scaled: bool
    causal: bool


def _form(rng: Random) -> Form:
    kind = rng.choice(("QKV", "QKV", "X", "scores", "scaled"))
    keys, causal = rng.randint(2, 4), rng.random() < 0.2
    queries = keys if causal or kind == "X" else rng.randint(1, 4)
    scaled = rng.random() < 0.7 or kind == "scaled"
    sizes = queries, keys, rng.randint(2, 3), rng.randint(1, 4), rng.randint(1, 3)
    return Form(kind, *sizes, scaled, causal)


@dataclass
class Exercises:
    """Exercises drawn at random, of so many forms at a time, which change after so many draws.

    A marker may prepare itself for a form; few forms at a time let it.
    """

    rng: Random
    count: int = 24
    change: int = 1000
    _forms: tuple[Form, ...] = ()
    _drawn: int = 0

    def draw(self) -> Task:
        """An exercise."""
        if self._drawn % self.change == 0:
            self._forms = tuple(_form(self.rng) for _ in range(self.count))
        self._drawn += 1
        return _task(self.rng, self.rng.choice(self._forms))


def _task(rng: Random, form: Form) -> Task:
    """An exercise of a form, in whole numbers or in tenths."""
    tenths = rng.random() < 0.5

    def matrix(rows: int, columns: int, size: int) -> Matrix:
        low, unit = (size * 10, -1) if tenths else (size, 0)
        return tuple(
            tuple(Decimal(rng.randint(-low, low)).scaleb(unit) for _ in range(columns))
            for _ in range(rows)
        )

    d, values = form.d_k, matrix(form.keys, form.d_v, rng.choice((2, 5, 9)))
    match form.kind:
        case "X":
            given = {
                "X": matrix(form.keys, form.width, 2),
                "W_Q": matrix(form.width, d, 1),
                "W_K": matrix(form.width, d, 1),
                "W_V": matrix(form.width, form.d_v, 1),
            }
        case "QKV":
            given = {"Q": matrix(form.queries, d, 2), "K": matrix(form.keys, d, 2), "V": values}
        case _:
            given = {form.kind: matrix(form.queries, form.keys, 3), "V": values}
    return Task(given, d, form.scaled, form.causal)


# ---- one calculation ------------------------------------------------------------------------


class Differs(Exception):
    """A calculation does not give the numbers expected of it."""


@dataclass
class Student:
    """One calculation; `compute` fills `written` with what is written at the claimed places.

    `slips`: what he writes in place of what he should, and goes on from. `expected`: what the
    sheet shows; the first number that differs from it ends the calculation with `Differs`. `apart`:
    the decimals of steps that are written with others.
    """

    task: Task
    style: Style
    decimals: int
    claimed: frozenset[Place]
    slips: Mapping[Place, Decimal] = field(default_factory=dict)
    expected: Mapping[Place, Decimal] | None = None
    written: dict[Place, Decimal] = field(default_factory=dict)
    values: dict[Place, Decimal] = field(default_factory=dict)
    terms: dict[Place, tuple[Decimal, ...]] = field(default_factory=dict)
    apart: Mapping[str, int] = field(default_factory=dict)

    def compute(self, first: Sequence[Place] = ()) -> Student:
        """Row by row, those of `first` before the others.

        Raises `DivisionByZero` or `InvalidOperation` where every e^z of a row was rounded to 0.
        """
        given = self.task.given
        made = {
            name: self._projected(name) if "X" in given else given.get(name, ()) for name in "QKV"
        }
        wanted = {i for step, i, _ in self.claimed if step not in ("Q", "K", "V")}
        early = {i for _, i, _ in first}
        root = self._inner(_WIDE.sqrt(Decimal(self.task.d_k)))
        for i in sorted(wanted, key=lambda i: (i not in early, i)):
            self._row(i, made["Q"], made["K"], made["V"], root)
        return self

    def _note(self, place: Place, y: Decimal) -> Decimal:
        """What is used in place of a computed number from here on."""
        self.values[place] = y
        if place in self.slips:
            self.written[place] = self.slips[place]
            return self.slips[place]
        if place not in self.claimed:
            return self._inner(y)
        style, decimals = self.style, self.apart.get(place[0], self.decimals)
        w = self.written[place] = rounded(y, decimals, style.rounding)
        if self.expected is not None and self.expected[place] != w:
            raise Differs
        keep = style.keep_weights if place[0] == "weights" else style.keep
        if keep is None:
            return y
        return rounded(y, decimals + keep, style.rounding) if keep else w

    def _inner(self, y: Decimal) -> Decimal:
        return rounded(y, self.style.inner, self.style.inner_rounding)

    def _sum(self, place: Place, left: Sequence[Decimal], right: Sequence[Decimal]) -> Decimal:
        """A row times a column, each term as it is kept; then the sum, as it is."""
        style = self.style
        inner = style.inner if style.terms is None else style.terms
        terms, total = _products(tuple(left), tuple(right), inner, style.inner_rounding)
        self.terms[place] = terms
        return total

    def _projected(self, name: str) -> Matrix:
        columns = tuple(zip(*self.task.given[f"W_{name}"], strict=True))
        return tuple(
            tuple(
                self._note((name, i, j), self._sum((name, i, j), row, column))
                for j, column in enumerate(columns)
            )
            for i, row in enumerate(self.task.given["X"])
        )

    def _row(self, i: int, Q: Matrix, K: Matrix, V: Matrix, root: Decimal) -> None:
        task, note = self.task, self._note
        keys, visible = range(task.keys), task.visible(i)
        if "scaled" in task.given:
            z = list(task.given["scaled"][i])
        elif "scores" in task.given:
            z = list(task.given["scores"][i])
        else:
            z = [note(("scores", i, j), self._sum(("scores", i, j), Q[i], K[j])) for j in keys]
        if "scaled" in task.steps:
            z = [note(("scaled", i, j), _WIDE.divide(z[j], root)) for j in keys]
        if task.causal:
            z = [note(("masked", i, j), z[j] if j in visible else _HIDDEN) for j in keys]
        e = [note(("exp", i, j), _exp(z[j]) if j in visible else _ZERO) for j in keys]
        total = _ZERO
        for x in e:
            total = _WIDE.add(total, x)
        total = note(("exp_sum", i, 0), total)
        a = [note(("weights", i, j), _WIDE.divide(e[j], total)) for j in keys]
        for c in range(len(V[0])):
            place = ("output", i, c)
            note(place, self._sum(place, a, [row[c] for row in V]))


@lru_cache(maxsize=4096)
def _products(
    left: tuple[Decimal, ...], right: tuple[Decimal, ...], inner: int | None, rounding: str
) -> tuple[tuple[Decimal, ...], Decimal]:
    """The terms of a row times a column, and their sum; many styles have the same."""
    pairs = zip(left, right, strict=True)
    if rounding == "numpy":
        products = [Decimal(float(a) * float(b)) for a, b in pairs]
    else:
        products = [_WIDE.multiply(a, b) for a, b in pairs]
    terms = tuple(rounded(x, inner, rounding) for x in products)
    total = _ZERO
    for term in terms:
        total = _WIDE.add(total, term)
    return terms, total


@lru_cache(maxsize=4096)
def _exp(z: Decimal) -> Decimal:
    return _WIDE.exp(z)


# ---- sheets ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """What a student hands in: `written` by place, with `decimals` decimals.

    `whole`: the steps that came out in whole numbers and are written without decimals. `slips`:
    the places at which he slipped, in order. `refers`: how the claims are written, by row or not.
    """

    task: Task
    style: Style
    decimals: int
    written: Mapping[Place, Decimal]
    whole: frozenset[str] = frozenset()
    slips: tuple[Place, ...] = ()
    by_row: bool = False
    #: The decimals of steps that are written with others than `decimals`.
    apart: Mapping[str, int] = field(default_factory=dict)

    @property
    def claimed(self) -> frozenset[Place]:
        """The places that a number is claimed for."""
        return frozenset(self.written)

    @cached_property
    def truth(self) -> Mapping[Place, Decimal]:
        """The true values at the claimed places, to some 48 digits."""
        return Student(self.task, Style(), 40, self.claimed).compute().values

    def text(self, place: Place) -> str:
        """A number as it stands on the sheet."""
        x = self.written[place]
        if not x.is_finite():
            return "-inf"
        return f"{x:.{self.places(place[0])}f}"

    def places(self, step: str) -> int:
        """The decimals of a step's numbers."""
        return 0 if step in self.whole else self.apart.get(step, self.decimals)

    def is_right(self, place: Place) -> bool:
        """Whether a number is a correct rounding of its true value; a tie may go either way."""
        x, y = self.written[place], self.truth[place]
        if not y.is_finite() or not x.is_finite():
            return x == y
        return abs(x - y) <= Decimal(5).scaleb(-self.places(place[0]) - 1)

    def with_slip(self, place: Place, number: Decimal) -> Sheet | None:
        """The sheet with another number at a place, and what its student derives from it."""
        slips = {p: self.written[p] for p in self.slips} | {place: number}
        try:
            done = Student(self.task, self.style, self.decimals, self.claimed, slips).compute()
        except (DivisionByZero, InvalidOperation):
            return None
        whole = frozenset(
            step
            for step in self.whole
            if all(x == x.to_integral_value() for p, x in done.written.items() if p[0] == step)
        )
        return replace(self, written=done.written, whole=whole, slips=(*self.slips, place))

    def without(self, places: frozenset[Place]) -> Sheet:
        """The sheet with some numbers left out."""
        return replace(self, written={p: x for p, x in self.written.items() if p not in places})

    def tables(self) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """The attention, what is given and what is claimed, each value as TOML."""
        task = self.task
        attention = {} if task.scaled else {"scale": "false"}
        if task.causal:
            attention["mask"] = '"causal"'
        if task.scaled and "scores" in task.given:
            attention["d_k"] = str(task.d_k)
        given = {
            name: _rows([[f"{x:f}" for x in row] for row in matrix])
            for name, matrix in task.given.items()
        }
        claims = {}
        for step in dict.fromkeys(place[0] for place in self.written):
            rows, columns = task.shape(step)
            matrix = [
                [
                    self.text(p) if (p := (step, i, j)) in self.written else "?"
                    for j in range(columns)
                ]
                for i in range(rows)
            ]
            if self.by_row:
                for i, row in enumerate(matrix):
                    if set(row) != {"?"}:
                        claims[f'"{step}[{i + 1},:]"'] = _rows([row])[1:-1]
            else:
                claims[step] = _rows(matrix)
        return attention, given, claims

    @property
    def toml(self) -> str:
        """The worksheet."""
        return toml(*self.tables())


def toml(*tables: Mapping[str, str]) -> str:
    """A worksheet of attention, given and claims."""
    lines = []
    for name, table in zip(("attention", "given", "claims"), tables, strict=True):
        lines += [f"[{name}]", *(f"{key} = {value}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _rows(matrix: Sequence[Sequence[str]]) -> str:
    return "[" + ", ".join("[" + ", ".join(f'"{x}"' for x in row) + "]" for row in matrix) + "]"


def _claims(rng: Random, task: Task) -> tuple[frozenset[Place], bool]:
    """Which entries a student writes down, and whether he writes single rows."""
    steps = [step for step in task.steps if step not in ("exp", "exp_sum")]
    unfolded = rng.random() < 0.25
    wanted: Sequence[str]
    rows: Sequence[int] = range(task.queries)
    match kind := rng.choice(("all", "all", "ends", "scaled", "output", "row")):
        case "all":
            wanted = steps
        case "ends":
            wanted = ("weights", "output")
        case "scaled":
            wanted = ("scaled", "weights", "output")
        case "output":
            wanted = ("output",)
        case _:
            wanted = rng.choice((("weights",), ("weights", "output"), ("scaled", "weights")))
            rows = (rng.randrange(task.queries),)
    if unfolded and kind != "output":
        wanted = (*wanted, "exp", "exp_sum")
    return frozenset(
        (step, i, j)
        for step in task.steps
        if step in wanted
        for i in (rows if step not in ("Q", "K", "V") else range(task.shape(step)[0]))
        for j in range(task.shape(step)[1])
    ), kind == "row"


def honest(exercises: Exercises, style: Style, least: int = 1, most: int = 1000) -> Sheet:
    """A sheet without a slip, of a style, with at least and at most so many claims."""
    rng = exercises.rng
    while True:
        asked = exercises.draw()
        claimed, by_row = _claims(rng, asked)
        decimals, plain = rng.randint(1, 4), rng.random() < 0.5
        if not least <= len(claimed) <= most:
            continue
        try:
            done = Student(asked, style, decimals, claimed).compute()
        except (DivisionByZero, InvalidOperation):
            continue  # every e^z was rounded to 0
        exact = {
            step
            for step in ("Q", "K", "V", "scores", "scaled", "masked")
            if plain
            and all(
                y == y.to_integral_value()
                for (name, _, _), y in done.values.items()
                if name == step
            )
        }
        return Sheet(asked, style, decimals, done.written, frozenset(exact), (), by_row)


def some_style(rng: Random) -> Style:
    """A style; half of the students do as most do: they round half up, and nothing unwritten."""
    if rng.random() < 0.5:
        keep = rng.choice((0, None))
        return Style(keep, None, "half-up", False, keep)
    return rng.choice(STYLES)


def shown_by(sheet: Sheet, slips: int = 0) -> Style | None:
    """A style of which a sheet with only the first so many slips shows exactly these numbers."""
    kept = {place: sheet.written[place] for place in sheet.slips[:slips]}
    other = sheet.slips[slips:]
    for style in dict.fromkeys((sheet.style, *STYLES, *MIXED)):
        student = Student(sheet.task, style, sheet.decimals, sheet.claimed, kept, sheet.written)
        try:
            student.compute(other)
        except (Differs, DivisionByZero, InvalidOperation):
            continue
        return style
    return None


def among_right(exercises: Exercises, style: Style) -> Sheet:
    """An honest sheet of a style some of whose numbers are right though the style is not.

    One of them, those of a row or of a step, or any: what somebody saw at once, or had from a
    calculator. He goes on from these; at least one number that is not right is left.
    """
    rng = exercises.rng
    rounding = "half-up" if style.rounding == "cut off" else style.rounding
    while True:
        sheet: Sheet | None = honest(exercises, style, 3)
        assert sheet is not None
        off = [place for place in sorted(sheet.written) if not sheet.is_right(place)]
        if len(off) < 2:
            continue
        one = rng.choice(off)
        chosen = {
            "one": [one],
            "row": [place for place in off if place[:2] == one[:2]],
            "step": [place for place in off if place[0] == one[0]],
            "any": rng.sample(off, len(off) // 2),
        }[rng.choice(("one", "row", "step", "any"))]
        for place in sorted(chosen, key=lambda place: STEPS.index(place[0])):
            if sheet is not None and not sheet.is_right(place):
                right = rounded(sheet.truth[place], sheet.places(place[0]), rounding)
                sheet = sheet.with_slip(place, right)
        if sheet is not None and not all(map(sheet.is_right, sheet.written)):
            return replace(sheet, slips=())


def in_halves(exercises: Exercises, rounding: str) -> Sheet:
    """A sheet whose values are quarters and whose products are rounded as numbers are written.

    Where 0.23 · 1.5 is 0.345, and the like, ties are frequent.
    """
    rng = exercises.rng
    while True:
        decimals = rng.randint(2, 4)
        style = Style(0, None, rounding, False, 0, terms=decimals)
        sheet = honest(exercises, Style(), 2)
        if "V" not in sheet.task.given:
            continue
        unit = Decimal(rng.choice(("0.5", "0.25", "0.05")))
        values = tuple(
            tuple(unit * rng.randint(-12, 12) for _ in row) for row in sheet.task.given["V"]
        )
        task = replace(sheet.task, given={**sheet.task.given, "V": values})
        done = Student(task, style, decimals, sheet.claimed).compute()
        return Sheet(task, style, decimals, done.written, by_row=sheet.by_row)


def apart(exercises: Exercises, style: Style) -> Sheet:
    """An honest sheet each of whose steps is written with 1 to 6 decimals of its own."""
    rng = exercises.rng
    while True:
        sheet = honest(exercises, style, 2)
        decimals = {step: rng.randint(1, 6) for step in STEPS}
        done = Student(sheet.task, style, sheet.decimals, sheet.claimed, apart=decimals)
        try:
            done.compute()
        except (DivisionByZero, InvalidOperation):
            continue
        return replace(sheet, written=done.written, apart=decimals, whole=frozenset())


#: The steps that somebody may write without decimals and go on from.
COARSE = ("Q", "K", "V", "scores", "scaled", "weights")


def coarse(exercises: Exercises, step: str, rounding: str, decimals: int = 0) -> Sheet:
    """A sheet whose numbers of one step are rounded to whole numbers, and used so.

    Every step is written; the others with more `decimals`, by two to four. What follows is another
    calculation: of what is computed from them something is off by ten units of its last digit.
    """
    rng = exercises.rng
    while True:
        asked = exercises.draw()
        if step not in asked.steps:
            continue
        places = frozenset(
            (name, i, j)
            for name in asked.steps
            if name not in ("exp", "exp_sum")
            for i in range(asked.shape(name)[0])
            for j in range(asked.shape(name)[1])
        )
        style = Style(0, None, rounding, False, 0)
        fine = decimals + rng.randint(2, 4)
        try:
            done = Student(asked, style, fine, places, apart={step: decimals}).compute()
        except (DivisionByZero, InvalidOperation):
            continue
        sheet = Sheet(asked, style, fine, done.written, apart={step: decimals})
        unit = Decimal(10).scaleb(-fine)
        if any(
            abs(x - sheet.truth[place]) > unit
            for place, x in sheet.written.items()
            if place[0] != step and x.is_finite()
        ):
            return sheet


# ---- slips ----------------------------------------------------------------------------------

#: Where somebody slips who writes a last digit wrong.
_WRITTEN: tuple[str, ...] = ("scaled", "exp", "weights", "output")

#: By how many units of the last digit, for the kinds that say so.
_UNITS = {
    "1 unit": (1, 1),
    "2 units": (2, 2),
    "3 units": (3, 3),
    "4–9 units": (4, 9),
    "10–99 units": (10, 99),
}

SLIPS = (*_UNITS, "digit", "swapped", "sign", "term", "copied")


@dataclass(frozen=True)
class Slip:
    """A sheet with one slip more than `before`, and by how many of its last units."""

    sheet: Sheet
    before: Sheet
    place: Place
    kind: str
    units: int

    @property
    def size(self) -> str:
        """The row of the table that it belongs to: its size where that is small, or its kind."""
        if self.units <= 3:
            return "1 unit" if self.units == 1 else f"{self.units} units"
        return self.kind

    @property
    def leaves_it_right(self) -> bool:
        """Whether the number is a correct rounding of the true value all the same."""
        return self.sheet.is_right(self.place)


def slip(
    rng: Random, sheet: Sheet, kind: str, among: frozenset[Place] | None = None
) -> Slip | None:
    """The sheet with a slip of a kind, and what follows from it; None where there is no place."""
    steps = ("scores", "output") if kind == "term" else _WRITTEN
    if kind in ("digit", "swapped", "sign", "copied"):
        steps = (*steps, "scores")
    places = [
        place
        for place in sorted(sheet.written)
        if place[0] in steps
        and sheet.written[place].is_finite()
        and place not in sheet.slips
        and (among is None or place in among)
    ]
    if not places:
        return None
    among_steps = sorted({place[0] for place in places})
    step = "output" if "output" in among_steps and rng.random() < 0.5 else rng.choice(among_steps)
    place = rng.choice([p for p in places if p[0] == step])
    number = _slipped(rng, sheet, place, kind)
    if number is None or number == sheet.written[place]:
        return None
    slipped = sheet.with_slip(place, number)
    if slipped is None:
        return None
    unit = Decimal(1).scaleb(-sheet.places(step))
    return Slip(slipped, sheet, place, kind, int(abs(number - sheet.written[place]) / unit))


def _slipped(rng: Random, sheet: Sheet, place: Place, kind: str) -> Decimal | None:
    """Another number in place of one."""
    x, text = sheet.written[place], sheet.text(place)
    step, i, j = place
    if kind in _UNITS:
        off = Decimal(rng.randint(*_UNITS[kind]) * rng.choice((1, -1)))
        return x + off.scaleb(-sheet.places(step))
    if kind == "digit":
        spot = rng.choice([k for k, sign in enumerate(text) if sign.isdigit()])
        digit = rng.choice([d for d in "0123456789" if d != text[spot]])
        return Decimal(text[:spot] + digit + text[spot + 1 :])
    if kind == "swapped":
        digits = [k for k, sign in enumerate(text) if sign.isdigit()]
        pairs = [(a, b) for a, b in pairwise(digits) if text[a] != text[b]]
        if not pairs:
            return None
        a, b = rng.choice(pairs)
        return Decimal(text[:a] + text[b] + text[a + 1 : b] + text[a] + text[b + 1 :])
    if kind == "sign":
        return -x
    if kind == "copied":
        near = [
            y
            for (name, row, column), y in sorted(sheet.written.items())
            if name == step and (row == i) != (column == j) and y.is_finite() and y != x
        ]
        return rng.choice(near) if near else None
    slips = {p: sheet.written[p] for p in sheet.slips}
    done = Student(sheet.task, sheet.style, sheet.decimals, sheet.claimed, slips).compute()
    terms = [term for term in done.terms.get(place, ()) if term]
    if len(terms) < 2:
        return None
    return rounded(done.values[place] - rng.choice(terms), sheet.places(step), sheet.style.rounding)


# ---- what is made of what -------------------------------------------------------------------


def reached(sheet: Sheet, places: frozenset[Place]) -> frozenset[Place]:
    """The entries that are made of these, directly or not, with a coefficient that is not 0."""
    task = sheet.task
    known = Student(task, Style(), 40, frozenset({("output", i, 0) for i in range(task.queries)}))
    values = known.compute().values

    def used(name: str, i: int, j: int) -> bool:
        """Whether a number is not 0, in truth or as it is written."""
        place = (name, i, j)
        true = task.given[name][i][j] if name in task.given else values[place]
        return bool(true) or bool(sheet.written.get(place, 0))

    def feeds(place: Place) -> Iterator[Place]:
        step, i, j = place
        queries, keys = range(task.queries), range(task.keys)
        match step:
            case "Q":
                yield from (("scores", i, k) for k in keys if used("K", k, j))
            case "K":
                yield from (("scores", k, i) for k in queries if used("Q", k, j))
            case "V":
                yield from (("output", k, j) for k in queries if used("weights", k, i))
            case "scores" | "scaled" | "masked":
                if step == "masked" and j not in task.visible(i):
                    return
                order = [s for s in task.steps if s in ("scores", "scaled", "masked", "exp")]
                after = order[order.index(step) + 1]
                if after != "scaled" and j not in task.visible(i):
                    return
                yield after, i, j
            case "exp":
                yield from (("exp_sum", i, 0), ("weights", i, j))
            case "exp_sum":
                yield from (("weights", i, k) for k in task.visible(i))
            case "weights":
                width = task.shape("output")[1]
                yield from (("output", i, c) for c in range(width) if used("V", j, c))

    found: set[Place] = set()
    open_ = set(places)
    while open_:
        new = set(feeds(open_.pop())) - found
        found |= new
        open_ |= new
    return frozenset(found)


def random_number(exercises: Exercises, alone: bool = False) -> Sheet:
    """An exact sheet in which one number is replaced by a random one of as many decimals.

    It is drawn from the range of the numbers of its step, and as far again to both sides.
    `alone`: it is the only number of the sheet.
    """
    rng = exercises.rng
    while True:
        sheet = honest(exercises, Style(), 3)
        place = rng.choice(sorted(sheet.written))
        row = [x for p, x in sheet.written.items() if p[0] == place[0] and x.is_finite()]
        if not sheet.written[place].is_finite():
            continue
        low, high = float(min(row)), float(max(row))
        spread = high - low or 1.0
        number = rounded(
            Decimal(rng.uniform(low - spread, high + spread)), sheet.places(place[0]), "half-up"
        )
        made = replace(sheet, written={**sheet.written, place: number}, slips=(place,))
        if not made.is_right(place):
            return made.without(made.claimed - {place}) if alone else made
