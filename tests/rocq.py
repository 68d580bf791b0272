"""A theorem of Rocq, read back: its hypotheses and both sides in NumPy.

It knows nothing of how theorems are written, but for what the definitions of `symattn.v` say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tests.oracle import agree

_TOKEN = re.compile(r"\s*('[MSrc]V?|\*m|\*:|<=|==|\^\+|\^-1|\^T|->|%:R|%:M|%N|[\w'.]+|\S)")

#: How strongly a sign binds what stands on both sides of it.
_BINDS: Mapping[str, int] = {
    "=": 1,
    ":": 2,
    "<": 3,
    "<=": 3,
    "==": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "*m": 5,
    "*:": 5,
    "/": 5,
}


def _softmax(scores: Any) -> Any:
    with np.errstate(all="ignore"):
        powers = np.exp(scores)
        total = powers.sum(1, keepdims=True)
        return np.where(total == 0, 0.0, powers / np.where(total == 0, 1.0, total))


def _below(rows: int, columns: int, start: int) -> Any:
    i, j = np.indices((rows, columns))
    return np.where(j <= i + start, 0.0, -np.inf)


def _padding(rows: int, columns: int, kept: int) -> Any:
    return np.where(np.indices((rows, columns))[1] < kept, 0.0, -np.inf)


def _sigmoid(x: Any) -> Any:
    return np.exp(x) / (1 + np.exp(x))


def _heads(heads: Callable[[int], Any], size: int, axis: int) -> list[Any]:
    """The matrices of as many heads as make this size."""
    return [heads(k) for k in range(size // np.shape(heads(0))[axis])]


def _token(matrix: Any, t: int) -> Any:
    """Row t, which is 0 outside."""
    return matrix[t : t + 1] if t < len(matrix) else np.zeros((1, matrix.shape[1]))


def _where(test: Callable[..., Any], one: Any, other: Any) -> Any:
    rows, columns = one.shape
    return np.where([[test(i, j) for j in range(columns)] for i in range(rows)], one, other)


#: The definitions, of all arguments but the functions and the field that they stand on.
_MEANS: Mapping[str, Callable[..., Any]] = {
    "softmax": _softmax,
    "softmax_oo": _softmax,
    "softmax1": lambda s: np.exp(s) / (1 + np.exp(s).sum(1, keepdims=True)),
    "softmax1_oo": lambda s: np.exp(s) / (1 + np.exp(s).sum(1, keepdims=True)),
    "rowratio": lambda a: a / a.sum(1, keepdims=True),
    "rowsum": lambda a: a.sum(1, keepdims=True),
    "rowmax": lambda a: a.max(1, keepdims=True),
    "colsum": lambda a: a.sum(0, keepdims=True),
    "had": lambda a, b: a * b,
    "hquot": lambda a, b: a / b,
    "divmx": lambda a, c: a / c,
    "rowquot": lambda a, r: a / r,
    "colquot": lambda a, c: a / c,
    "softcap": lambda a, c: c * np.tanh(a / c),
    "minus_dist2": lambda q, k: -((q[:, None] - k[None]) ** 2).sum(2),
    "invmx": np.linalg.inv,
    "beside": lambda width, heads: np.hstack(_heads(heads, width, 1)),
    "stacked": lambda rows, heads: np.vstack(_heads(heads, rows, 0)),
    "headsum": lambda count, heads: sum(heads(k) for k in range(count)),
    "head_rows": lambda rows, w, k: w[k * rows : (k + 1) * rows],
    "token": _token,
    "tokens": lambda count, rows: np.vstack([rows(t) for t in range(count)]),
    "all_columns": lambda count, r: np.repeat(r, count, 1),
    "all_rows": lambda count, c: np.repeat(c, count, 0),
    "everywhere": lambda rows, columns, c: np.full((rows, columns), c.item()),
    "number_times": lambda c, a: c.item() * a,
    "where_placed": _where,
    "Num.norm": lambda *x: np.abs(*x) if x else np.abs,
    "Num.max": lambda *x: partial(np.maximum, *x) if len(x) == 1 else np.maximum(*x),
    "lengths": lambda a: np.sqrt((a**2).sum(1, keepdims=True)),
    "unit_rows": lambda a: a / np.sqrt((a**2).sum(1, keepdims=True)),
    "Some": lambda a: a,
    "masked": lambda s, m: s + m,
    "causal": _below,
    "padding": _padding,
    "diag_mx": lambda v: np.diag(v[0]),
    "row_mx": lambda a, b: np.hstack([a, b]),
    "col_mx": lambda a, b: np.vstack([a, b]),
    "map_mx": lambda f, a: f(a),
    "perm_mx": lambda p: p,
    "const_mx": lambda c: c,
    "Num.sqrt": np.sqrt,
    "e": np.exp,
    "exo": lambda *x: np.exp(*x) if x else np.exp,
    "ln": np.log,
    "tanh": lambda *x: np.tanh(*x) if x else np.tanh,
    "sigmoid": lambda *x: _sigmoid(*x) if x else _sigmoid,
    "cosine": lambda *x: np.cos(*x) if x else np.cos,
    "sine": lambda *x: np.sin(*x) if x else np.sin,
}


@dataclass
class Term:
    """The reader of one term: its words, where it stands, and what letters and sizes are."""

    words: list[str]
    known: Mapping[str, Any]
    at: int = 0

    @property
    def next(self) -> str:
        """The word that comes."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, *wanted: str) -> str:
        """The next word, which is one of these."""
        word = self.next
        assert not wanted or word in wanted, f"{word} for {wanted} in {' '.join(self.words)}"
        self.at += 1
        return word

    def value(self, least: int = 0) -> Any:
        """What a term is whose signs bind at least so strongly."""
        out = self.negated()
        while _BINDS.get(self.next, -1) >= max(least, 0) and self.next in _BINDS:
            sign = self.take()
            if sign == ":":
                out = self.shaped(out)
                continue
            other = self.value(_BINDS[sign] + 1)
            out = {
                "+": lambda a, b: a + b,
                "-": lambda a, b: max(a - b, 0),  # of sizes and places
                "<=": lambda a, b: a <= b,
                "==": lambda a, b: a == b,
                "*": lambda a, b: a * b,
                "*:": lambda a, b: a * b,
                "/": lambda a, b: a / b,
                "*m": lambda a, b: a @ b,
            }[sign](out, other)
        return out

    def negated(self) -> Any:
        """A sum may begin with minus."""
        if self.next == "-":
            self.take()
            return -self.value(5)
        return self.applied()

    def applied(self) -> Any:
        """A function with its arguments, or one of these by itself."""
        word = self.next
        if word in _MEANS and word not in self.known:
            self.take()
            inner = []
            while re.fullmatch(r"[\w'.(]+", self.next) and self.next:
                inner.append(self.powered())
            plain = [one for one in inner if not isinstance(one, str)]
            wanted = word in ("e", "ln") and not plain
            return self.after(_MEANS[word] if wanted else _MEANS[word](*plain))
        return self.powered()

    def powered(self) -> Any:
        """An atom with what stands behind it: ^T, ^-1, ^+ 2."""
        return self.after(self.atom())

    def after(self, out: Any) -> Any:
        """What the signs behind a term make of it."""
        while self.next in ("^T", "^-1", "^+", "%N", "%:R", "%:M"):
            match self.take():
                case "^T":
                    out = out.T
                case "^-1":
                    out = 1 / out
                case "^+":
                    out = out ** int(self.take())
                case "%:M":
                    out = "identity"
        return out

    def atom(self) -> Any:
        """A number, a letter, or a term in brackets."""
        if self.next == "(":
            self.take()
            if self.next == "fun":
                return self.function()
            out = self.value()
            self.take(")")
            return out
        word = self.take()
        if word in self.known:
            out = self.known[word]
            if np.ndim(out) == 3:  # a matrix for each head
                return out[int(self.powered())]
            return out
        if word.isdigit():
            return int(word)
        if word in ("e", "t", "R"):  # functions and the field are not chosen here
            return _MEANS["e"] if word == "e" and self.words[self.at - 2] == "map_mx" else word
        if word in ("ln", "Some", "Num.sqrt", "Num.norm"):
            return _MEANS[word]
        raise AssertionError(f"{word} in {' '.join(self.words)}")

    def function(self) -> Callable[..., Any]:
        """What stands between "fun" and the bracket behind it, of any numbers or matrices."""
        self.take("fun")
        names = []
        while self.next != "=":
            names.append(self.take())
        start = self.at + 2
        self.take("=")
        self.take(">")
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.take(), 0)
        body = self.words[start : self.at - 1]
        return lambda *given: Term(
            body, {**self.known, **dict(zip(names, given, strict=True))}
        ).value()

    def shaped(self, out: Any) -> Any:
        """A constant as a matrix of this shape."""
        self.take("'M")
        self.take("[")
        self.take("R")
        self.take("]")
        below = self.take()
        if below == "_":
            self.take("(")
            rows = columns = self.value(4)
            if self.next == ",":
                self.take()
                columns = self.value(4)
            self.take(")")
            self.after(0)
        else:  # 'M[R]_n
            rows = columns = int(self.known.get(below[1:], below[1:]))
            self.after(0)
        if isinstance(out, np.ndarray):
            assert out.shape == (rows, columns)
            return out
        return np.eye(rows) if isinstance(out, str) else np.full((rows, columns), float(out))


@dataclass(frozen=True)
class Theorem:
    """What a file proves: its variables, hypotheses and sides as texts, and their sign."""

    variables: dict[str, str]
    hypotheses: list[str]
    left: str
    right: str
    sign: str = "="

    @property
    def letters(self) -> set[str]:
        """The letters that are matrices and are not defined by what it assumes."""
        defined = {one.partition(" = ")[0] for one in self.hypotheses}
        defined |= {one.split()[1] for one in self.hypotheses if one.startswith("recurs ")}
        return {name for name, kind in self.variables.items() if self._shape(kind)} - defined

    @property
    def numbers(self) -> set[str]:
        """The variables that are numbers."""
        return {name for name, kind in self.variables.items() if kind == "R"}

    def known(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Its variables: letters that are given, their sizes, and others by chance."""
        shapes = {name: self._shape(kind) for name, kind in self.variables.items()}
        out: dict[str, Any] = {}
        for name, shape in shapes.items():
            if shape and np.ndim(given.get(name, 0)) >= 2:
                out[name] = given[name]
                out |= dict(zip(shape, map(int, np.shape(given[name])[-2:]), strict=True))
        sizes = {name for name, kind in self.variables.items() if kind == "nat"}
        out |= {name: given.get(name, 3) for name in sizes - out.keys()}
        random = np.random.default_rng(1)
        for name in self.variables.keys() - out.keys():
            rows = [_value(side, out) for side in shapes[name] or ()]
            out[name] = random.normal(size=rows) if rows else given.get(name, 1.5)
            if self.variables[name].startswith("'S_"):
                out[name] = np.eye(rows[0])[random.permutation(rows[0])]
        defined = [one.partition(" = ") for one in self.hypotheses]
        for name, _, meaning in 2 * defined:  # one may be defined by another
            if name in self.variables and np.ndim(given.get(name, 0)) != 2:
                out[name] = _value(meaning, out)
        for one in self.hypotheses:  # a state is made of those before it
            if one.startswith("recurs "):
                name = one.split()[1]
                out[name] = np.array([*states(one, out, max(out[size] for size in sizes))])
        return {name: value for name, value in out.items() if name in self.variables}

    @staticmethod
    def _shape(kind: str) -> tuple[str, str] | None:
        """Rows and columns of a matrix or a permutation; a number has none."""
        found = re.fullmatch(r"(?:nat -> )?'M\[R\]_\((.*), (.*)\)", kind)
        if found:
            return found[1], found[2]
        return (kind[3:], kind[3:]) if kind.startswith("'S_") else None

    def sides(self, known: Mapping[str, Any]) -> tuple[Any, Any]:
        """Both sides, letters and sizes being these; the derivatives of a number by a letter."""
        right = _value(self.right, known)
        found = re.fullmatch(r"slope \(fun (\S+) => (.*) 0 0\) (\S+)", self.left)
        if found is None:
            return _value(self.left, known), right
        name, number, place = found.groups()
        assert name == place
        left = np.zeros(np.shape(known[name]))
        for entry in np.ndindex(left.shape):  # the imaginary part of f(x + i h) is h f'(x)
            moved = np.array(known[name], dtype=complex)
            moved[entry] += 1e-20j
            left[entry] = np.imag(_value(number, {**known, name: moved})).item() / 1e-20
        return left, right

    def obeyed(self, known: Mapping[str, Any]) -> dict[str, bool]:
        """Which of its hypotheses letters and sizes obey."""
        return {one: _holds(one, known) for one in self.hypotheses}


#: Hypotheses: about a size, about all entries, about matrices or numbers.
_HYPOTHESES = (
    r"\((?P<left>.*) (?P<sign><) (?P<right>.*)\)%N",
    r"\(forall i j, (?P<left>.*) (?P<sign><=?) (?P<right>.*) i j\)",
    r"\(forall x, (?P<left>.*) (?P<sign><=) (?P<right>.*)\)",
    r"\(forall i j, (?P<left>.*) i j (?P<sign>!=) (?P<right>.*)\)",
    r"(?P<left>.*) (?P<sign><=?|!=|=) (?P<right>.*)",
)


#: Functions of one number that a hypothesis says the derivative of, and these derivatives.
_SLOPES: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "(slope_e e)": (np.exp, np.exp),
    "(slope_ln ln)": (np.log, np.reciprocal),
}


def states(hypothesis: str, known: Mapping[str, Any], count: int) -> Iterator[Any]:
    """The states that "recurs S start (fun head before => …)" makes, so many."""
    term = Term(_TOKEN.findall(hypothesis), known)
    term.take("recurs")
    term.take()
    before, following = term.powered(), term.powered()
    assert not term.next
    for t in range(count):
        before = following(t, before)
        yield before


def _holds(hypothesis: str, known: Mapping[str, Any]) -> bool:
    if hypothesis in _SLOPES:
        one, slope = _SLOPES[hypothesis]
        x = np.linspace(0.5, 2, 7)
        return agree(np.imag(one(x + 1e-20j)) / 1e-20, slope(x))
    inverted = hypothesis.removesuffix(" \\in unitmx")
    if inverted != hypothesis:
        return bool(np.linalg.matrix_rank(_value(inverted, known)) == len(_value(inverted, known)))
    if hypothesis.startswith("recurs "):
        given = known[hypothesis.split()[1]]
        return agree(given, np.array([*states(hypothesis, known, len(given))]))
    hypothesis = hypothesis.removesuffix(" :> R")
    found = next(filter(None, (re.fullmatch(one, hypothesis) for one in _HYPOTHESES)))
    places = {**known, "x": np.linspace(-3, 3, 13)} if "forall x" in hypothesis else known
    left, right = (_value(found[side], places) for side in ("left", "right"))
    match found["sign"]:
        case "<":
            return bool(np.all(left < right))
        case "<=":
            return bool(np.all(left <= right))
        case "!=":
            return bool(np.all(left != right))
    return agree(left, right)


def _value(text: str, known: Mapping[str, Any]) -> Any:
    term = Term(_TOKEN.findall(text), known)
    out = term.value()
    assert not term.next, f"{term.next} is left of {text}"
    return out


def theorem(text: str) -> Theorem:
    """The theorem of a file, which has one."""
    (found,) = theorems(text)
    return found


def theorems(text: str) -> list[Theorem]:
    """The theorems of a file; equations that they are made of are lemmas there."""
    found = re.findall(r"^Theorem \w+ (.*?)\.\nProof\.", text, re.DOTALL | re.MULTILINE)
    return [*map(_read, found)]


def _read(statement: str) -> Theorem:
    head, _, rest = statement.partition(":\n  ")
    variables: dict[str, str] = {}
    for names, kind in re.findall(r"\(([\w' ]+) : ([^:]*)\)(?= \(|\s*$)", head):
        variables |= dict.fromkeys(names.split(), kind)
    *hypotheses, last = rest.split(" ->\n  ")
    if last.startswith("slope "):
        left, _, right = last.partition("\n  ")
        return Theorem(variables, hypotheses, left, right, "slope")
    left, sign, right = re.split(r"\n  (=|<=) ", last.removeprefix("forall i j, "))
    if last.startswith("forall i j, "):
        left, right = (side.removesuffix(" i j") for side in (left, right))
    return Theorem(variables, hypotheses, left, right.removesuffix(" :> R"), sign)
