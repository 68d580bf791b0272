"""``python -m tests.fuzz.recurrences --count 200 --seed 0``: recurrences against parallel forms.

A linear recurrence over tokens is drawn (its decay, what each token adds, its start, what is read)
and its parallel form beside it, as equations and in NumPy; a slip makes most of the pairs false.
No pair that NumPy tells apart may be called equal. With ``--certificates N`` as many certificates
of inductions are changed; what is still accepted has to hold for numbers.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from symattn import derivation, equal
from symattn.algebra.certificate import check
from symattn.algebra.claims import Goal
from symattn.algebra.counterexample import Side
from symattn.algebra.forms import Refused
from symattn.arithmetic.arrays import FLOAT64
from symattn.derivations import Derivation
from symattn.errors import SymattnError
from symattn.nodes.heads import Head
from symattn.nodes.recurrence import is_recurrence
from symattn.step import HEAD, Input, Step
from tests.fuzz import traces
from tests.replaying import verdict

Array = np.ndarray[Any, Any]
Made = dict[str, Any]

#: What a state is multiplied by, and the weight that token j then has at token i, i ≥ j.
DECAYS: Mapping[str, tuple[str, str]] = {
    "none": ("", "1"),
    "half": ("1/2 *", "(1/2)^(i-j)"),
    "constant": ("γ", "γ^(i-j)"),
    "gate": ("exp(g[t])", "e^(c[i] - c[j])"),
    "given": ("a[t]", "e^(c[i] - c[j])"),
    "vector": ("exp(G[t])^T ∘", "1"),
}
#: What a token adds, and the keys, values and weights of the parallel form.
TERMS: Mapping[str, tuple[str, str, str, str]] = {
    "plain": ("K[t]^T V[t]", "K", "V", ""),
    "scaled": ("β[t] K[t]^T V[t]", "K", "V", "β[j] * "),
    "kernel": ("exp(K[t])^T V[t]", "exp(K)", "V", ""),
    "gated": ("K[t]^T (V[t] ∘ W[t])", "K", "(V ∘ W)", ""),
}
SLIPS = (
    "none",
    "before the update",
    "no decay",
    "term decays too",
    "reversed",
    "start forgotten",
    "exclusive",
    "not causal",
    "term twice",
    "decay twice",
)


#: Recurrences that make the same states, which have no closed form.
WITHOUT_CLOSED_FORM = (
    (
        "K : n × d_k; V : n × d_v; S[t] = S[t-1] - K[t]^T (K[t] S[t-1]) + K[t]^T V[t]; "
        "O[t,:] = K[t] S[t]",
        "K : n × d_k; V : n × d_v; S[t] = (I - K[t]^T K[t]) S[t-1] + K[t]^T V[t]; "
        "O[t,:] = K[t] S[t]",
    ),
    (
        "V : n × d_v; S_0 : 1 × d_v; S[t] = tanh(S[t-1] + V[t]); O[t,:] = S[t]",
        "V : n × d_v; S_0 : 1 × d_v; S[t] = tanh(V[t] + S[t-1]); O[t,:] = (S[t] + S[t]) / 2",
    ),
)


@dataclass(frozen=True)
class Drawn:
    """A recurrence, a parallel form, and a slip in one of them."""

    decay: str
    term: str
    started: bool
    normalised: bool
    slip: str

    @property
    def texts(self) -> tuple[str, str]:
        """Both as equations."""
        return self._recurrence(), self._parallel()

    def _declared(self) -> str:
        columns = {"gate": "g : n × 1", "given": "a : n × 1"}
        lines = ["Q : n × d_k", "K : n × d_k", "V : n × d_v", columns.get(self.decay, "")]
        lines += ["β : n × 1"] if self.term == "scaled" else []
        return "; ".join(filter(None, lines))

    def _recurrence(self) -> str:
        factor, added = DECAYS[self.decay][0], TERMS[self.term][0]
        factor = "" if self.slip == "no decay" else factor
        twice = self.slip == "decay twice" and factor
        before = f"{factor} ({factor} S[t-1])" if twice else f"{factor} S[t-1]"
        state = f"{before} + {added}"
        if self.slip == "term decays too":
            state = f"{factor} (S[t-1] + {added})"
        if self.slip == "term twice":
            state = f"{before} + {added} + {added}"
        read = f"S[t] - {added}" if self.slip == "before the update" else "S[t]"
        lines = [self._declared(), f"S[t] = {state}", "" if self.started else "S[0] = 0"]
        out = f"Q[t] ({read})"
        if self.normalised:
            keys = added.partition("^T")[0] + "^T"
            lines += ["z[0] = 0", f"z[t] = {factor} z[t-1] + {keys}"]
            out = f"({out}) / (Q[t] z[t])"
        return "; ".join(filter(None, [*lines, f"O[t,:] = {out}"]))

    def _parallel(self) -> str:
        _, keys, values, scaled = TERMS[self.term]
        weight = DECAYS[self.decay][1]
        if self.slip == "reversed":
            weight = weight.replace("i-j", "j-i").replace("c[i] - c[j]", "c[j] - c[i]")
        test = {"exclusive": "j < i", "not causal": "j <= n"}.get(self.slip, "j <= i")
        lines, sums = [self._declared()], {"gate": "c = C g", "given": "c = C ln(a)"}
        sums["vector"] = "L = C G"
        if self.decay in sums:
            lines += ["C[i,j] = 1 if j <= i else 0", sums[self.decay]]
        lines += [f"D[i,j] = {scaled}{weight} if {test} else 0"]
        queries = "Q"
        if self.decay == "vector":
            sign = "-" if self.slip == "reversed" else ""
            lines += [f"P = exp({sign}L)", f"N = exp({'' if sign else '-'}L)"]
            queries, keys = "(Q ∘ P)", f"({keys} ∘ N)"
        lines += [f"A = {queries} {keys}^T ∘ D"]
        out = f"A {values}"
        if self.normalised:
            out = f"({out}) / rowsum(A)"
        elif self.started and self.slip != "start forgotten":
            power = {"half": "(1/2)^i", "constant": "γ^i", "gate": "e^c[i]", "given": "e^c[i]"}
            start = f"{queries} S_0"
            if self.decay in power:
                lines += ["E : n × d_v", f"E[i,j] = {power[self.decay]}"]
                start = f"E ∘ ({start})"
            out = f"{out} + {start}"
        lines += ["S_0 : d_k × d_v"] if self.started else []
        return "; ".join(filter(None, [*lines, f"O = {out}"]))

    @property
    def positive(self) -> list[str]:
        """The letters whose entries are positive."""
        return {"constant": ["gamma"], "given": ["a"]}.get(self.decay, [])

    def holds(self, seed: int = 0) -> bool:
        """Whether NumPy finds both to be the same."""
        return bool(np.allclose(*self._numbers(np.random.default_rng(seed))))

    def _numbers(self, random: np.random.Generator) -> tuple[Array, Array]:
        n, width, across = 4, 3, 2
        q, k = random.normal(size=(2, n, width))
        v, w = random.normal(size=(2, n, across))
        beta = random.normal(size=n) if self.term == "scaled" else np.ones(n)
        start = random.normal(size=(width, across)) * self.started
        logs = {
            "none": np.zeros((n, width)),
            "half": np.full((n, width), -np.log(2)),
            "constant": np.full((n, width), -0.3),
            "vector": random.normal(size=(n, width)),
        }.get(self.decay, np.repeat(random.normal(size=(n, 1)), width, axis=1))
        keys = np.exp(k) if self.term == "kernel" else k
        values = v * w if self.term == "gated" else v
        return self._by_token(q, keys, values, beta, logs, start), self._at_once(
            q, keys, values, beta, logs, start
        )

    def _by_token(self, q: Array, k: Array, v: Array, beta: Array, logs: Array, s: Array) -> Array:
        out, z = [], np.zeros(k.shape[1])
        for t in range(len(q)):
            factor = {"no decay": 0, "decay twice": 2}.get(self.slip, 1) * logs[t]
            added, key = beta[t] * np.outer(k[t], v[t]), beta[t] * k[t]
            copies = {"term twice": 2}.get(self.slip, 1)
            grown = np.exp(factor)[:, None]
            s = (
                grown * (s + added)
                if self.slip == "term decays too"
                else grown * s + copies * added
            )
            z = np.exp(logs[t] * (self.slip != "no decay")) * z + key
            row = q[t] @ (s - added if self.slip == "before the update" else s)
            out.append(row / (q[t] @ z) if self.normalised else row)
        return np.array(out)

    def _at_once(self, q: Array, k: Array, v: Array, beta: Array, logs: Array, s: Array) -> Array:
        sums, n = np.cumsum(logs, axis=0), len(q)
        sign = -1 if self.slip == "reversed" else 1
        weights = np.exp(sign * (sums[:, None] - sums[None]))
        seen = np.tril(np.ones((n, n)), -1 if self.slip == "exclusive" else 0)
        seen = np.ones((n, n)) if self.slip == "not causal" else seen
        scores = np.einsum("ik,ijk,jk->ij", q, weights, k) * seen * beta
        out = scores @ v
        if self.normalised:
            with np.errstate(all="ignore"):
                return np.asarray(out / scores.sum(axis=1, keepdims=True))
        kept = sign if self.decay == "vector" else 1
        return np.asarray(out + (self.slip != "start forgotten") * ((q * np.exp(kept * sums)) @ s))


def drawn(count: int, seed: int) -> Iterator[Drawn]:
    """So many recurrences with parallel forms, a third of them without a slip."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        slip = "none" if random.random() < 0.35 else str(random.choice(SLIPS[1:]))
        decay, term = str(random.choice([*DECAYS])), str(random.choice([*TERMS]))
        normalised = bool(random.random() < 0.25) and term != "gated"
        started = bool(random.random() < 0.5) and not normalised
        yield Drawn(decay, term, started, normalised, slip)


def asked(one: Drawn) -> str:
    """What is answered of a pair: equal, for all sizes or some, different, undecided, refused."""
    try:
        left, right = map(derivation, one.texts)
        answer = equal(left, right, positive=one.positive)
    except SymattnError as error:
        return f"refused: {error}"
    if answer and answer.certified:
        check(json.loads(json.dumps(answer.certificate)))
    return answer.verdict if answer.certified or not answer else "equal at sizes"


# ---- changed certificates --------------------------------------------------------------------


def certificates() -> list[Made]:
    """Certificates of recurrences of every kind."""
    pairs = [
        Drawn(decay, term, started, False, "none")
        for decay, term, started in (
            ("none", "plain", False),
            ("none", "gated", True),
            ("constant", "plain", True),
            ("gate", "scaled", False),
            ("vector", "kernel", True),
        )
    ]
    pairs.append(Drawn("none", "plain", False, True, "none"))
    found = []
    for one in pairs:
        left, right = map(derivation, one.texts)
        found.append(equal(left, right, positive=one.positive).certificate)
    for texts in WITHOUT_CLOSED_FORM:
        found.append(equal(*map(derivation, texts)).certificate)
    return [json.loads(json.dumps(one)) for one in found]


def _places(data: Any) -> Iterator[tuple[list[Any], int]]:
    """Where a part of an expression stands in it."""
    if isinstance(data, list):
        for k, part in enumerate(data):
            if k:
                yield data, k
            yield from _places(part)


def _tweaked(random: np.random.Generator, data: Any) -> None:
    """An expression with another number, sign, index or letter in one place, or two exchanged."""
    holder, k = traces._pick(random, [*_places(data)])
    part, whole = holder[k], ["index", "head"]
    match int(random.integers(4)):
        case 0 if isinstance(part, str) and part.lstrip("-").isdigit():
            holder[k] = str(int(part) + traces._pick(random, [-1, 1, 2]))
        case 1 if len(holder) > 2:
            holder[k], holder[-1] = holder[-1], holder[k]
        case 2 if part == whole:
            holder[k] = traces._pick(random, [["Add", whole, "1"], ["Add", whole, "-1"], "0"])
        case 3 if isinstance(part, list):
            letters = [one[j] for one, j in _places(data) if type(one[j]) is type(part)]
            holder[k] = copy.deepcopy(traces._pick(random, letters))
        case _:
            raise traces.Unfit


def closed(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A closed form is another expression."""
    step = traces._step(random, made, "closed")
    if random.random() < 0.1:
        step["closed"] = copy.deepcopy(traces._step(random, traces._pick(random, others), "closed"))
        return
    _tweaked(random, step["closed"])


def stated(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A step of the statement is another expression."""
    side = traces._pick(random, [made["statement"]["left"], made["statement"]["right"]])
    place = int(random.integers(len(side["steps"])))
    _tweaked(random, side["steps"][place][1])
    side["expr"] = copy.deepcopy(side["steps"][-1][1])


MUTATIONS: tuple[Callable[..., None], ...] = (
    closed,
    stated,
    traces.delete,
    traces.double,
    traces.reorder,
    traces.foreign,
    traces.obligation,
    traces.cut,
    traces.number,
    traces.words,
    traces.use,
)


def changed(bases: Sequence[Made], count: int, seed: int) -> Iterator[tuple[str, Made, Made]]:
    """So many changed certificates: the kind of change, what was changed, the result."""
    random, made = np.random.default_rng(seed), 0
    while made < count:
        base = traces._pick(random, bases)
        change = traces._pick(random, [*MUTATIONS, closed, stated, stated])
        out = copy.deepcopy(base)
        try:
            change(random, out, bases)
        except (traces.Unfit, KeyError):
            continue
        if random.random() < 0.7:
            out = traces.forged(out)
        if out != base:
            made += 1
            yield change.__name__, base, out


def numbers(claim: Goal, at: Mapping[sympy.Symbol, int]) -> tuple[dict[str, Array], list[Array]]:
    """Letters by chance at these sizes, and both sides of a claim about recurrences."""
    random = np.random.default_rng(5)
    values: dict[str, Array] = {}
    sides = []
    for steps in claim.steps:
        made = _derivation(steps)
        for item in made.inputs:
            shape = [int(sympy.sympify(size).subs(at)) for size in item.shape]
            drawn_ = np.exp(random.normal(size=shape))
            positive = item.letter in claim.positive
            signs = 1 if positive else np.sign(random.normal(size=shape))
            values.setdefault(item.letter, drawn_ * signs)
        sides.append(np.asarray(Side(made).value(values, FLOAT64, at), dtype=float))
    return values, sides


def sizes_of(claim: Goal) -> list[sympy.Symbol]:
    """The sizes that a claim speaks of, by their names."""
    symbols = {s for part in claim.parts for s in part.free_symbols}
    return sorted((s for s in symbols if s.is_integer and s.is_positive), key=str)


def is_false(claim: Goal) -> bool:
    """Whether numbers show that a claim about recurrences does not hold, or has no meaning."""
    for number in (1, 3):
        sizes = {size: number + len(size.name) * (size.name != "n") for size in sizes_of(claim)}
        _, (one, other) = numbers(claim, sizes)
        both = np.isfinite(one) & np.isfinite(other)
        if one.shape != other.shape or not np.allclose(one[both], other[both], rtol=1e-6):
            return True
    return False


def _derivation(steps: Sequence[tuple[str, sympy.Basic]]) -> Derivation:
    names = [name for name, _ in steps]
    inputs: dict[str, Input] = {}
    made = []
    for name, expr in steps:
        for letter in expr.atoms(sympy.MatrixSymbol):
            if letter.name not in names:
                inputs[letter.name] = Input(letter.name, letter)
        symbol: Any = sympy.MatrixSymbol(name, *expr.shape)
        facts = {"count": expr.count} if is_recurrence(expr) else {}
        symbol = Head(symbol, HEAD) if facts else symbol
        made.append(Step(name, symbol, expr, **facts))
    return Derivation(tuple(inputs.values()), tuple(made))


def judged_apart(made: Made) -> bool:
    """Whether the second replayer says something else than the checker."""
    try:
        check(made)
        accepted = True
    except SymattnError:
        accepted = False
    return verdict(made)[0] == ("refused" if accepted else "accepted")


def outcomes(found: Iterator[tuple[str, Made, Made]]) -> Iterator[tuple[str, str, Made]]:
    """The kind of change, and what became of each certificate."""
    for kind, base, made in found:
        try:
            claim = check(made)
        except SymattnError as error:
            yield kind, "refused" if isinstance(error, Refused) else "unusable", made
            continue
        same = made["statement"] == base["statement"]
        became = "same claim" if same else "another claim"
        try:
            yield kind, "false" if is_false(claim) else became, made
        except Exception:  # a step that nothing uses is of no shape
            yield kind, "without a value", made


def main() -> int:
    """Print the tables; 1 if something false was accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("count", 200), ("seed", 0), ("certificates", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    told = parser.parse_args()
    counts: Counter[tuple[bool, str]] = Counter()
    wrong = 0
    for one in drawn(told.count, told.seed):
        holds, answer = one.holds(), asked(one)
        counts[holds, answer.partition(":")[0]] += 1
        if answer.startswith("equal") != holds and answer != "different":
            print(f"{'true' if holds else 'FALSE'}, {answer}: {one}")
        wrong += (answer.startswith("equal") and not holds) or (answer == "different" and holds)
    for holds in (True, False):
        row = ", ".join(f"{k} {c}" for (h, k), c in sorted(counts.items()) if h == holds)
        print(f"{'true ' if holds else 'false'}: {row}")
    if told.certificates:
        found = [*outcomes(changed(certificates(), told.certificates, told.seed))]
        for became, count in sorted(Counter(became for _, became, _ in found).items()):
            print(f"certificates, {became}: {count}")
        apart = [made for _, _, made in found if judged_apart(made)]
        print(f"certificates, judged apart by the second replayer: {len(apart)}")
        for made in apart:
            print(json.dumps(made, ensure_ascii=False))
        for kind, became, made in found:
            if became == "false":
                wrong += 1
                print(kind, json.dumps(made, ensure_ascii=False))
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
