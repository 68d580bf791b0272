"""Inequalities, true and false, judged by NumPy on random and extreme numbers.

``python -m tests.fuzz.bounds --count 600`` prints how many of each are proven, refuted and left
undecided, and exits with 1 where a verdict is false. Every true one has partners that are false or
not: a bound scaled by 0.99 or 1.01, sides exchanged, a normaliser or a mask left out. What is true
of them is told by numbers alone: a difference beyond rounding makes one false.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symattn import equal
from symattn.algebra.bounds import RULES, check
from symattn.algebra.claims import Goal
from symattn.algebra.counterexample import Side
from symattn.algebra.forms import Refused
from symattn.arithmetic.arrays import FLOAT64
from symattn.errors import ReadError, SymattnError

Array = NDArray[np.float64]

# ---- NumPy, from the textbook -----------------------------------------------------------------


def _rows(weigh: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of each row, 0 where everything is hidden."""

    def whole(z: Array) -> Array:
        out = np.zeros(z.shape)
        for i, row in enumerate(z):
            seen = row > -np.inf
            if seen.any():
                out[i, seen] = weigh(row[seen])
        return out

    return whole


def _sparse(z: Array) -> Array:
    """Martins and Astudillo 2016, algorithm 1."""
    down = np.sort(z)[::-1]
    total = np.cumsum(down)
    k = np.flatnonzero(1 + np.arange(1, len(z) + 1) * down > total)[-1]
    return np.asarray(np.maximum(z - (total[k] - 1) / (k + 1), 0))


def _share(z: Array, more: float = 0.0) -> Array:
    top = max(z.max(), 0.0) if more else z.max()
    e = np.exp(z - top)
    return np.asarray(e / (e.sum() + (np.exp(-top) if more else 0)))


def _hidden(n: int, m: int) -> Array:
    return np.where(np.arange(m)[None, :] <= np.arange(n)[:, None], 0.0, -np.inf)


def _lse(z: Array) -> Array:
    top = z.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(z - top).sum(axis=1, keepdims=True)))


WORDS: dict[str, object] = {
    "softmax": _rows(_share),
    "softmax1": _rows(lambda z: _share(z, 1.0)),
    "sparsemax": _rows(_sparse),
    "hardmax": _rows(lambda z: (np.arange(len(z)) == z.argmax()).astype(float)),
    "sigmoid": lambda z: np.where(
        z > 0, 1 / (1 + np.exp(-np.abs(z))), 1 - 1 / (1 + np.exp(-np.abs(z)))
    ),
    "causal": lambda z: z + _hidden(*z.shape),
    "exp": np.exp,
    "tanh": np.tanh,
    "cos": np.cos,
    "sin": np.sin,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "ln": np.log,
    "relu": lambda z: np.maximum(z, 0),
    "rowmax": lambda z: z.max(axis=1, keepdims=True),
    "rowsum": lambda z: z.sum(axis=1, keepdims=True),
    "rowmean": lambda z: z.mean(axis=1, keepdims=True),
    "rowvar": lambda z: z.var(axis=1, keepdims=True),
    "colmax": lambda z: z.max(axis=0, keepdims=True),
    "lse": _lse,
    "norm2": lambda z: (z * z).sum(axis=1, keepdims=True),
    "unit": lambda z: z / np.sqrt((z * z).sum(axis=1, keepdims=True)),
    "dist2": lambda q, k: ((q[:, None, :] - k[None, :, :]) ** 2).sum(axis=2),
}

# ---- statements -------------------------------------------------------------------------------

#: Scores: in the language, and in NumPy.
SCORES = (
    ("S", "S"),
    ("S + causal()", "causal(S)"),
    ("Q K^T / sqrt(d_k)", "Q @ K.T / 2"),
    ("3 S", "3 * S"),
    ("-S", "-S"),
    ("S - rowmax(S)", "S - rowmax(S)"),
    ("tanh(S)", "tanh(S)"),
)
FINITE = tuple(one for one in SCORES if "causal" not in one[0])
WEIGHTS = ("softmax", "sparsemax", "hardmax", "softmax1", "sigmoid")
SHARING = WEIGHTS[:4]
WHOLE = WEIGHTS[:3]

#: What is true: the smaller side and the larger one, in the language and in NumPy.
TRUE: tuple[tuple[str, str, str, str], ...] = (
    ("0", "{w}({z})", "0", "{w}({zn})"),
    ("{w}({z})", "1", "{w}({zn})", "1"),
    ("rowsum({h}({z}))", "1", "rowsum({h}({zn}))", "1"),
    ("0", "rowsum({w}({z}))", "0", "rowsum({w}({zn}))"),
    ("{o}({z}) V", "1 rowmax(V^T)^T", "{o}({zn}) @ V", "colmax(V)"),
    ("-(1 rowmax(-V^T)^T)", "{o}({z}) V", "-colmax(-V)", "{o}({zn}) @ V"),
    ("abs({o}({z}) V)", "1 rowmax(abs(V)^T)^T", "abs({o}({zn}) @ V)", "colmax(abs(V))"),
    ("rowmax({f})", "lse({f})", "rowmax({fn})", "lse({fn})"),
    ("lse({f})", "rowmax({f}) + ln m", "lse({fn})", "rowmax({fn}) + ln(fn.shape[1])"),
    ("rowmean({f})", "rowmax({f})", "rowmean({fn})", "rowmax({fn})"),
    ("rowmean({f})", "lse({f})", "rowmean({fn})", "lse({fn})"),
    ("0", "rowvar({f})", "0", "rowvar({fn})"),
    ("0", "{w}({z}) exp(V)", "0", "{w}({zn}) @ exp(V)"),
    ("0", "{w}({z}) ∘ (1 - {w}({z}))", "0", "{w}({zn}) * (1 - {w}({zn}))"),
    ("{w}({z}) ∘ (1 - {w}({z}))", "1/4", "{w}({zn}) * (1 - {w}({zn}))", "1/4"),
    ("{w}({z}) ∘ {w}({z})", "{w}({z})", "{w}({zn}) ** 2", "{w}({zn})"),
    ("rowsum({h}({z}) ∘ {h}({z}))", "1", "rowsum({h}({zn}) ** 2)", "1"),
    ("unit(Q) unit(K)^T", "1", "unit(Q) @ unit(K).T", "1"),
    ("-1", "unit(Q) unit(K)^T", "-1", "unit(Q) @ unit(K).T"),
    ("exp(unit(Q) unit(K)^T)", "e", "exp(unit(Q) @ unit(K).T)", "np.e"),
    ("{w}({z}) + unit(Q) unit(K)^T", "2", "{w}({zn}) + unit(Q) @ unit(K).T", "2"),
    ("Q K^T", "sqrt(norm2(Q)) sqrt(norm2(K))^T", "Q @ K.T", "sqrt(norm2(Q)) @ sqrt(norm2(K)).T"),
    (
        "abs(Q K^T)",
        "sqrt(norm2(Q)) sqrt(norm2(K))^T",
        "abs(Q @ K.T)",
        "sqrt(norm2(Q)) @ sqrt(norm2(K)).T",
    ),
    ("2 Q K^T", "norm2(Q) 1^T + 1 norm2(K)^T", "2 * Q @ K.T", "norm2(Q) + norm2(K).T"),
    ("0", "dist2(Q, K)", "0", "dist2(Q, K)"),
    ("exp(-dist2(Q, K))", "1", "exp(-dist2(Q, K))", "1"),
    ("relu({f})", "abs({f})", "relu({fn})", "abs({fn})"),
    ("{f}", "relu({f})", "{fn}", "relu({fn})"),
    ("0", "exp({z})", "0", "exp({zn})"),
    ("1 + {f}", "exp({f})", "1 + ({fn})", "exp({fn})"),
    ("-1", "tanh({f})", "-1", "tanh({fn})"),
    ("cos({f})", "1", "cos({fn})", "1"),
    ("abs(rowsum({f}))", "rowsum(abs({f}))", "abs(rowsum({fn}))", "rowsum(abs({fn}))"),
    ("exp({z}) / rowsum(exp({z}))", "1", "exp({zn}) / rowsum(exp({zn}))", "1"),
    ("0", "exp({z}) / rowsum(exp({z}))", "0", "exp({zn}) / rowsum(exp({zn}))"),
    ("2 A ∘ B", "A ∘ A + B ∘ B", "2 * A * B", "A * A + B * B"),
    ("norm2(A + B)", "2 norm2(A) + 2 norm2(B)", "norm2(A + B)", "2 * norm2(A) + 2 * norm2(B)"),
    ("abs(A + B)", "abs(A) + abs(B)", "abs(A + B)", "abs(A) + abs(B)"),
    ("rowmax(A + B)", "rowmax(A) + rowmax(B)", "rowmax(A + B)", "rowmax(A) + rowmax(B)"),
    ("{z}", "rowmax({z}) 1^T", "{zn}", "rowmax({zn})"),
    ("softmax({f}) V", "1 rowmax(V^T)^T", "softmax({fn}) @ V", "colmax(V)"),
    ("softmax({f})", "exp({f} - rowmax({f}))", "softmax({fn})", "exp({fn} - rowmax({fn}))"),
    ("ln(softmax({f}))", "0", "ln(softmax({fn}))", "0"),
    ("rowsum({h}({z}) ∘ S)", "rowmax(abs(S))", "rowsum({h}({zn}) * S)", "rowmax(abs(S))"),
    ("{c}", "abs({c})", "{cn}", "abs({cn})"),
    ("0", "relu({c})", "0", "relu({cn})"),
    ("relu({c})", "abs({c})", "relu({cn})", "abs({cn})"),
    ("1 + {c}", "exp({c})", "1 + ({cn})", "exp({cn})"),
    ("-1", "tanh({c})", "-1", "tanh({cn})"),
    ("cos({c}) + sin({c})", "2", "cos({cn}) + sin({cn})", "2"),
    ("ln({c})", "{c} - 1", "ln({cn})", "({cn}) - 1"),
    ("abs(a + b)", "abs(a) + abs(b)", "abs(a + b)", "abs(a) + abs(b)"),
    ("0", "sqrt({c})", "0", "sqrt({cn})"),
    ("2 a b", "a^2 + b^2", "2 * a * b", "a**2 + b**2"),
)

#: Numbers.
COUNTS = (("a", "a"), ("a - b", "a - b"), ("a b", "a * b"), ("2 b", "2 * b"), ("a^2", "a**2"))


@dataclass(frozen=True)
class Case:
    """An inequality, in the language and in NumPy."""

    left: str
    right: str
    code: tuple[str, str]

    @property
    def text(self) -> str:
        """As it is asked."""
        return f"{self.left} <= {self.right}"

    def rewritten(self, old: str, new: str) -> Case:
        """With something else in all places of a text."""
        one, other = self.code
        code = (one.replace(old, new), other.replace(old, new))
        return Case(self.left.replace(old, new), self.right.replace(old, new), code)

    def is_false(self, chance: np.random.Generator, tries: int = 150) -> bool:
        """Whether some numbers refute it, beyond rounding."""
        return any(self.refuted_by(_numbers(chance, k)) for k in range(tries))

    def refuted_by(self, numbers: dict[str, Array]) -> bool:
        """Whether these numbers refute it."""
        with np.errstate(all="ignore"):
            left, right = (eval(code, {**WORDS, "np": np}, numbers) for code in self.code)
            left, right = np.broadcast_arrays(np.asarray(left, float), np.asarray(right, float))
            known = ~np.isnan(left) & ~np.isnan(right) & (left != np.inf) & (right != np.inf)
            least = 1e-9 * (1 + np.abs(np.where(np.isfinite(right), right, 0)))
            return bool((known & (left > right + least)).any())


def _numbers(chance: np.random.Generator, k: int) -> dict[str, Array]:
    """Letters: random, of one value, large, small, with equal and opposite rows."""
    n, m = chance.integers(1, 5, 2)
    d = 4
    shapes = {"S": (n, m), "A": (n, m), "B": (n, m), "Q": (n, d), "K": (m, d), "V": (m, 3)}
    scale = (1.0, 0.0, 30.0, 1e-3, 5.0, 0.5, 1.0, 300.0)[k % 8]
    out = {}
    for name, shape in shapes.items():
        array = scale * chance.standard_normal(shape)
        if k % 3 == 1:
            array = np.round(array)
        if k % 5 == 2:
            array[:] = array[:1]
        if k % 7 == 3:
            array[:] = chance.choice((-1.0, 0.0, 1.0), shape)
        if k % 11 == 5:
            array[:] = array.flat[0]
        if k % 13 == 6:
            array = np.abs(array)
        out[name] = array
    if k % 4 == 3:
        out["K"][:] = out["Q"][0] * chance.choice((-1.0, 1.0), (m, 1))
        out["B"][:] = out["A"] * chance.choice((-1.0, 1.0))
    a, b = scale * chance.standard_normal(2)
    return {**out, "a": np.round(a) if k % 3 == 1 else a, "b": a if k % 5 == 2 else b}


def true_ones(chance: random.Random) -> Iterator[Case]:
    """True inequalities, without end."""
    while True:
        left, right, *code = chance.choice(TRUE)
        (z, zn), (f, fn), (c, cn) = map(chance.choice, (SCORES, FINITE, COUNTS))
        words = {
            "w": chance.choice(WEIGHTS),
            "h": chance.choice(SHARING),
            "o": chance.choice(WHOLE),
        }
        said = {"z": z, "f": f, "c": c, **words}
        meant = {"zn": zn, "fn": fn, "cn": cn, **words}
        own = [x.replace("fn.shape", "({fn}).shape").format(**meant) for x in code]
        yield Case(left.format(**said), right.format(**said), (own[0], own[1]))


def changed(case: Case, chance: random.Random) -> Case:
    """A partner: a slip in one of its sides."""
    (one, other), left, right = case.code, case.left, case.right
    kind = chance.choice(("exchange", "scale", "less", "normaliser", "mask", "sign", "shift"))
    c = chance.choice(("0.99", "1.01", "0.9", "0.5", "2"))
    match kind:
        case "exchange":
            return Case(right, left, (other, one))
        case "scale":
            return Case(left, f"{c} ({right})", (one, f"{c} * ({other})"))
        case "less":
            return Case(f"{c} ({left})", right, (f"{c} * ({one})", other))
        case "normaliser":
            used = [word for word in WEIGHTS if f"{word}(" in left + right]
            if used:
                return case.rewritten(f"{used[0]}(", "exp(")
        case "mask":
            return case.rewritten("S + causal()", "S").rewritten("causal(S)", "S")
        case "sign":
            return Case(f"-({right})", left, (f"-({other})", one))
    return Case(f"{left} + 0.1", right, (f"({one}) + 0.1", other))


def cases(count: int, seed: int = 1) -> Iterator[tuple[Case, bool]]:
    """So many inequalities, and whether numbers refute each; as many true ones as false, each once.

    Raises `AssertionError` where numbers refute what is true.
    """
    chance, numbers, seen = random.Random(seed), np.random.default_rng(seed), set[str]()
    made, left = true_ones(chance), {True: count // 2, False: count - count // 2}
    tries = 0
    while any(left.values()) and tries < 100 * count:
        tries += 1
        case = original = next(made)
        if chance.random() < 0.7:
            case = changed(original, chance)
        if case.text in seen:
            continue
        seen.add(case.text)
        false = case.is_false(numbers)
        assert not (false and case is original), f"numbers refute {case.text}"
        if left[not false]:
            left[not false] -= 1
            yield case, not false


def verdict(case: Case) -> str:
    """What is answered: proven, refuted, undecided, or that it is refused."""
    try:
        answer = equal(case.text)
    except SymattnError:
        return "refused"
    return answer.verdict


# ---- changed certificates ---------------------------------------------------------------------

#: What takes another's place, everywhere in a certificate or in one place of it.
EXCHANGED = (
    ("Softmax", "OffByOneSoftmax", "Sparsemax", "Hardmax", "Sigmoid", "RowRatio"),
    ("σ", "tanh", "cos", "max0", "abs", "elu1", "ln", "√", "exp", "min1"),
    ("Abs", "log", "sin", "exp", "tanh", "cos", "erf"),  # of numbers
    ("Add", "Mul", "Pow"),
    ("a", "b"),
    ("LineSum", "RowMax", "Lengths"),
    ("0", "1", "-1", "2", "1/2", "-2"),
    ("ZeroMatrix", "OneMatrix", "Identity"),
    ("MatMul", "HadamardProduct", "MatAdd", "EntryQuotient"),
    tuple(RULES),
    ("n", "m", "d_k", "d_v"),
    ("S", "A", "B", "V"),
    ("Q", "K"),
)


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where texts stand in a certificate."""
    if isinstance(data, dict):
        for key, part in data.items():
            yield from _places(part, (*path, key))
    elif isinstance(data, list):
        for k, part in enumerate(data):
            yield from _places(part, (*path, k))
    elif isinstance(data, str):
        yield path


def _steps(data: Any) -> Iterator[dict[str, Any]]:
    """All steps of a certificate."""
    if isinstance(data, dict):
        if "rule" in data and "from" in data:
            yield data
        for part in data.values():
            yield from _steps(part)
    elif isinstance(data, list):
        for part in data:
            yield from _steps(part)


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def mutated(data: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A certificate that is changed in one place, in several, or in all of one kind.

    The statement is then often written again as what the last step claims.
    """
    out = copy.deepcopy(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        steps = [*_steps(out)]
        step = chance.choice(steps)
        match chance.choice(
            ("all", "all", "one", "sides", "from", "drop", "rule", "by", "partial")
        ):
            case "all":
                group = chance.choice(EXCHANGED)
                old, new = chance.sample(group, 2)
                for path in _places(out):
                    if _at(out, path) == old:
                        _at(out, path[:-1])[path[-1]] = new
            case "one":
                path = chance.choice([*_places(out)])
                groups = [group for group in EXCHANGED if _at(out, path) in group]
                if groups:
                    _at(out, path[:-1])[path[-1]] = chance.choice(groups[0])
            case "sides":
                step["left"], step["right"] = step["right"], step["left"]
            case "from":
                step["from"] = [copy.deepcopy(chance.choice(steps))] * max(1, len(step["from"]))
            case "drop":
                step["from"] = step["from"][1:]
            case "rule":
                step["rule"] = chance.choice([*RULES])
            case "by" if step.get("by"):
                step["by"] = [
                    chance.choice(("1", "2", "1/2", "-1", "0", "99/100")) for _ in step["by"]
                ]
            case "partial":
                out["partial"] = not out["partial"]
    for link in out["links"] if chance.random() < 0.8 else ():
        link["statement"] |= {
            "left": {"expr": link["proof"]["left"]},
            "right": {"expr": link["proof"]["right"]},
        }
    return out


def is_refuted(goal: Goal, chance: np.random.Generator, tries: int = 60) -> bool:
    """Whether numbers refute what a certificate says."""
    sides = Side(goal.left), Side(goal.right)
    letters = {**sides[0].letters(), **sides[1].letters()}
    scalars = sides[0].scalars() | sides[1].scalars()
    for k in range(tries):
        values: dict[Any, Any] = {
            s: int(chance.integers(1, 5)) if s.is_integer else float(np.round(chance.normal(), 3))
            for s in sorted(
                scalars | {s for x in letters.values() for d in x.shape for s in d.free_symbols},
                key=str,
            )
        }
        scale = (1.0, 0.0, 30.0, 1e-2, 5.0)[k % 5]
        given = {
            name: scale * chance.standard_normal(x.dims(values)) for name, x in letters.items()
        }
        given = {name: np.round(x) if k % 3 == 1 else x for name, x in given.items()}
        given = {name: np.abs(x) if name in goal.positive else x for name, x in given.items()}
        try:
            with np.errstate(all="ignore"):
                left, right = (side.value(given, FLOAT64, values) for side in sides)
        except SymattnError:
            continue
        left, right = np.broadcast_arrays(left, right)
        if (
            np.isfinite(left).all()
            and np.isfinite(right).all()
            and (left > right + 1e-7 * (1 + np.abs(right))).any()
        ):
            return True
    return False


def changed_certificates(count: int, seed: int = 0) -> Counter[str]:
    """How many changed certificates are refused, accepted and true, and accepted but refuted."""
    chance, numbers, out = random.Random(seed), np.random.default_rng(seed), Counter[str]()
    texts = [case.text for case, true in cases(min(80, 20 + count // 50), seed) if true]
    known = [data for text in texts if (data := equal(text).certificate) is not None]
    for _ in range(count):
        original = chance.choice(known)
        data = mutated(original, chance)
        try:
            goals = check(data)
        except (Refused, ReadError):
            out["refused"] += 1
            continue
        if data == original:
            out["the same"] += 1
        elif any(is_refuted(goal, numbers) for goal in goals):
            out["accepted, false"] += 1
            print("ACCEPTED", [f"{g.left} <= {g.right}" for g in goals])
        else:
            out["accepted, true"] += 1
    return out


def main() -> int:
    """Print the table, and what is judged falsely or left open."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--open", action="store_true", help="print what is undecided")
    parser.add_argument("--certificates", type=int, default=0, help="change so many certificates")
    asked = parser.parse_args()
    if asked.certificates:
        changes = changed_certificates(asked.certificates, asked.seed)
        print(dict(changes))
        return int(changes["accepted, false"] > 0)
    table: Counter[tuple[bool, str]] = Counter()
    wrong = 0
    for case, true in cases(asked.count, asked.seed):
        found = verdict(case)
        table[true, found] += 1
        false = (found == "proven" and not true) or (found == "refuted" and true)
        wrong += false
        if false or (asked.open and found not in ("proven", "refuted")):
            print("FALSE VERDICT" if false else "open", true, found, case.text)
    for true in (True, False):
        row = {found: count for (of, found), count in table.items() if of is true}
        print("true" if true else "false", dict(sorted(row.items())))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
