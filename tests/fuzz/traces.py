"""``python -m tests.fuzz.traces --count 10000 --seed 0``: changed certificates, checked again.

A certificate of a true statement is changed: a step is deleted, doubled, moved or altered, an
obligation is dropped, a cofactor or the statement itself is changed. Most are then written again
so that all steps fit one another, and nothing but what has to be shown is amiss. What the checker
still accepts has to be true: numbers are put into both sides of the statement that the certificate
then holds, by what refutes statements, of which the checker uses nothing.
"""

from __future__ import annotations

import copy
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Checker, Replay, check
from symattn.algebra.claims import Goal, encoded, goal_of
from symattn.algebra.counterexample import Side
from symattn.algebra.equality import stated
from symattn.algebra.forms import Form, Refused
from symattn.algebra.hypotheses import Statement
from symattn.algebra.identities import identity
from symattn.algebra.kinds import RULES
from symattn.algebra.refute import refuted, trial_sizes
from symattn.algebra.sums import Step
from symattn.algebra.texts import Poly, brief, form_text, text_of
from symattn.algebra.traces import Tracing, certificate
from symattn.errors import SymattnError
from symattn.nodes.heads import Concat, Head, HeadSum, Split, Stacked
from symattn.step import HEAD
from tests.fuzz.asking import options
from tests.statements import STATEMENTS

#: Rows of the catalogue whose proofs use steps of every kind.
NAMES = (
    "shift",
    "gradient-scores",
    "online-softmax",
    "causal-prefix",
    "cache",
    "mask-deletes",
    "gaussian-kernel",
    "permutation-equivariance",
    "qk-gauge",
    "cosine",
    "rotary-orthogonal",
    "sharpen",
    "variance",
    "mask-then-renormalise",
)

#: Statements whose proofs use the rules that are seldom used.
OTHERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rowsum(sparsemax(S)) = 1", {}),
    ("rowsum(hardmax(S) ∘ S) = rowmax(S)", {}),
    ("hardmax(softmax(S)) = hardmax(S)", {}),
    ("lse([A, B]) = lse(A) + ln(1 + exp(lse(B) - lse(A)))", {}),
    ("sum(P ∘ A) = sum(P^T ∘ A^T)", {"permuting": ["P"]}),
    ("rowsum(rotary(Q) ∘ rotary(K)) = rowsum(Q ∘ K)", {"shapes": dict.fromkeys("QK", ("n", "d"))}),
)

_N, _H, _D = (sympy.Symbol(name, integer=True, positive=True) for name in ("n", "h", "d_v"))
_Q, _R = (
    Head(sympy.MatrixSymbol(name, *shape), HEAD) for name, *shape in (("Q", _N, _D), ("R", _D, _N))
)
_B = sympy.MatrixSymbol("B", _H * _D, _N)

#: Statements about heads whose number is open: side by side and one below the other.
HEADS: tuple[tuple[Any, Any], ...] = (
    (Concat(_Q, HEAD, _H, 1) * Concat(_R, HEAD, _H, 0), HeadSum(_Q * _R, HEAD, _H)),
    (Concat(_Q, HEAD, _H, 1) * _B, HeadSum(_Q * Split(_B, HEAD, _H, 0), HEAD, _H)),
)

Made = dict[str, Any]
Mutation = Callable[[np.random.Generator, Made, Sequence[Made]], None]


class Unfit(Exception):
    """A mutation that has nothing to change in this certificate."""


def certificates(every: int = 12) -> list[Made]:
    """Certificates of rows of the catalogue and of every so manieth true statement."""
    asked = [next(identity(name).statements()) for name in NAMES]
    asked += [next(stated(text, None, **options)) for text, options in OTHERS]
    for row in [row for row in STATEMENTS if row.holds and not row.options.get("sizes")][::every]:
        with suppress(SymattnError):
            asked.append(next(stated(row.text, None, **row.options)))
    found = [of_heads(one, other) for one, other in HEADS]
    for statement in asked:
        with suppress(Refused):
            found.append(json.loads(json.dumps(certificate(statement))))
    return found


def of_heads(left: Any, right: Any) -> Made:
    """The certificate of a statement about heads whose number is open."""
    keys = ("where", "letters", "declared", "positive", "permuting")
    lists: dict[str, Any] = {key: [] for key in keys}
    statement = {"left": {"expr": encoded(left)}, "right": {"expr": encoded(right)}, **lists}
    replay = Tracing(Goal(left, right), [], False)
    proof = replay.proof(replay.goal, [])
    return {
        "certificate": 1,
        "statement": statement,
        "uses": [],
        "letters_only": False,
        "partial": replay.partial,
        "proof": proof,
    }


def _apart(expr: Any) -> Any:
    """An expression with every head a letter of its own, the number of heads being known."""
    match expr:
        case HeadSum(matrix=body, index=index, heads=count):
            return sympy.MatAdd(*(_apart(body.subs(index, k)) for k in range(count)))
        case Concat(matrix=body, index=index, heads=count, axis=axis):
            blocks = [_apart(body.subs(index, k)) for k in range(count)]
            return reduce(lambda one, other: Stacked(one, other, axis), blocks)
        case Head(symbol=symbol, head=k):
            return sympy.MatrixSymbol(f"{symbol.name}{k}", *symbol.shape)
    return expr.func(*map(_apart, expr.args)) if expr.has(Head, Concat, HeadSum) else expr


# ---- mutations -------------------------------------------------------------------------------


def _pick(random: np.random.Generator, options: Sequence[Any]) -> Any:
    if not options:
        raise Unfit
    return options[int(random.integers(len(options)))]


def _leaves(proof: Made) -> Iterator[Made]:
    """The proofs of the cases that have steps."""
    if "steps" in proof:
        yield proof
    for inner in (*proof.get("cases", ()), *([proof["half"]] if "half" in proof else ())):
        yield from _leaves(inner)


def _leaf(random: np.random.Generator, made: Made) -> Made:
    found: Made = _pick(random, [one for one in _leaves(made["proof"]) if one["steps"]])
    return found


def _step(random: np.random.Generator, made: Made, having: str = "rule") -> Made:
    steps = [step for one in _leaves(made["proof"]) for step in one["steps"]]
    found: Made = _pick(random, [step for step in steps if step.get(having)])
    return found


def delete(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A step is left out."""
    steps = _leaf(random, made)["steps"]
    del steps[int(random.integers(len(steps)))]


def double(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A step is taken twice."""
    steps = _leaf(random, made)["steps"]
    place = int(random.integers(len(steps)))
    steps.insert(place, copy.deepcopy(steps[place]))


def reorder(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """Two steps change places."""
    steps = _leaf(random, made)["steps"]
    one, other = (int(random.integers(len(steps))) for _ in range(2))
    if steps[one] == steps[other]:
        raise Unfit
    steps[one], steps[other] = steps[other], steps[one]


def foreign(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A step of another proof stands in the place of one."""
    steps = _leaf(random, made)["steps"]
    steps[int(random.integers(len(steps)))] = copy.deepcopy(_step(random, _pick(random, others)))


def obligation(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """An obligation is dropped or weakened."""
    step = _step(random, made, "needs")
    place = int(random.integers(len(step["needs"])))
    if random.random() < 0.5:
        del step["needs"][place]
    else:
        step["needs"][place] = _pick(random, ["0 ≥ 0", "n ≥ 0", step["needs"][place] + " + 1"])


def cut(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A range is cut elsewhere, once more, or not at all; what follows is left as it is."""
    step = _pick(random, [s for one in _leaves(made["proof"]) for s in one["steps"] if "cuts" in s])
    cuts = step["cuts"]
    if cuts and random.random() < 0.5:
        place = int(random.integers(len(cuts)))
        cuts[place] = _pick(random, ["0", "1", "n", "m", "#1", cuts[place] + " + 1", "n - 1", "-1"])
    elif cuts and random.random() < 0.5:
        del cuts[int(random.integers(len(cuts)))]
    else:
        cuts.append(_pick(random, ["0", "1", "n", "m", "#1", "#2", "n + 5 + 5#3"]))
    step["gives"] = f"{len(cuts) + 1} parts" if cuts else "1 part"
    if random.random() < 0.7:
        points = ["0", *cuts, step["of"].removeprefix("0 … ").removesuffix(" - 1")]
        step["needs"] = [f"{b} - {a} ≥ 0" for a, b in pairwise(points)]


def width(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """Blocks of another width, also where a range is none of blocks."""
    of_blocks = [s for one in _leaves(made["proof"]) for s in one["steps"] if "width" in s]
    step = _pick(random, of_blocks) if of_blocks else _step(random, made, "cuts")
    step["width"] = _pick(random, ["h", "d_v", "d_k", "1", "2", "n", "d_v·h", "#1", "0", "-1"])
    size = step["of"].removeprefix("0 … ").removesuffix(" - 1")
    rest = "·".join(f for f in size.split("·") if f != step["width"]) or "1"
    for key in ("cuts", "needs"):
        step.pop(key, None)
    step["gives"] = f"{rest} blocks"


def number(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A place, an index or a group of a step is another one."""
    step = _step(random, made)
    known = ("index", "factor", "indices", "term", "equation", "at", "by")
    keys = [k for k in step if k in known]
    key = _pick(random, keys)
    match step[key]:
        case int():
            step[key] += _pick(random, [-1, 1, 2])
        case [str() as name, int() as back]:
            step[key] = _pick(random, [[name, 1 - back], ["A", back], [name, 2]])
        case [int(), *_] as places:
            step[key] = _pick(random, [places[::-1], places[1:], [*places, 0], [*places, 1], [1]])
        case list():
            step[key] = step[key][::-1]
        case str():
            step[key] = _pick(random, ["#1", "#2", "#3", "A[#1, #2]", "S[#1, #2]"])


def words(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """What a step is about or gives says something else."""
    step, key = _step(random, made), _pick(random, ["of", "gives", "rule"])
    if key == "rule":
        step[key] = _pick(
            random, sorted({rule for names, _ in RULES for rule in names} - {step[key]})
        )
        return
    changed = _text(random, step[key])
    for one in _leaves(made["proof"]):
        for other in one["steps"]:  # here and wherever the same text stands
            for k in ("of", "gives"):
                if other[k] == step[key] and other is not step:
                    other[k] = changed
    step[key] = changed


def cofactor(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A cofactor is left out, its number, its side or its equation is another."""
    leaf = _pick(random, [one for one in _leaves(made["proof"]) if one["cofactors"]])
    place = int(random.integers(len(leaf["cofactors"])))
    one = leaf["cofactors"][place]
    match int(random.integers(5)):
        case 0:
            del leaf["cofactors"][place]
        case 1:
            one[0] = _pick(random, ["2", "-1", "1/2", "0"])
        case 2:
            one[1], one[3] = one[3], one[1]
        case 3:
            one[2][2] = not one[2][2]
        case 4:
            one[2] = ["equation", int(random.integers(3)), False]


def use(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """An equation is used for something else, or something is used that is not."""
    if not made["uses"] or random.random() < 0.3:
        key = _pick(random, ["letters_only", "partial"])
        made[key] = not made[key]
        return
    place = int(random.integers(len(made["uses"])))
    if random.random() < 0.3:
        del made["uses"][place]
        return
    one = made["uses"][place]
    one[0] = _pick(random, ["number", "letter", "mirror", "orthonormal", "known"])
    one[2] = int(random.integers(2))


def case(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A case of sizes is left out, proven by another's proof, or split elsewhere."""
    proof = made["proof"]
    if "half" in proof:
        made["proof"] = _pick(
            random, [proof["half"], {**proof, "even": "n"}, {**proof, "even": "m"}]
        )
        return
    if "split" not in proof:
        made["proof"] = {"even": _pick(random, ["n", "m", "d_k"]), "half": proof}
        return
    match int(random.integers(4)):
        case 0:
            del proof["cases"][int(random.integers(len(proof["cases"])))]
        case 1:
            proof["cases"].reverse()
        case 2:
            proof["split"], proof["least"] = proof["least"], proof["split"]
        case 3:
            made["proof"] = proof["cases"][0]


def side(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A side of the statement or of an equation says something else."""
    said = made["statement"]
    sides = [said["left"], said["right"], *(one for pair in said["where"] for one in pair)]
    one = _pick(random, [x for x in sides if "text" in x])
    one["text"] = _text(random, one["text"])


def reading(random: np.random.Generator, made: Made, others: Sequence[Made]) -> None:
    """A letter is read otherwise, is positive or a permutation, or an equation is left out."""
    said = made["statement"]
    match int(random.integers(6)):
        case 0:
            letter = _pick(random, said["letters"])
            letter[1] = _pick(random, ["n × n", "n × m", "m × n", "a number", "1 × n", "n × 1"])
        case 1:
            said["positive"] = [_pick(random, said["letters"])[0]] if not said["positive"] else []
        case 2:
            said["permuting"] = [_pick(random, said["letters"])[0]] if not said["permuting"] else []
        case 3:
            if not said["where"]:
                raise Unfit
            del said["where"][int(random.integers(len(said["where"])))]
        case 4:
            one = _pick(random, [said[k] for k in ("left", "right") if said[k].get("spare")])
            one["spare"] = [pair[::-1] for pair in one["spare"]]
        case 5:
            said["left"], said["right"] = said["right"], said["left"]


def _text(random: np.random.Generator, text: str) -> str:
    """A text with one letter, number or sign exchanged."""
    tokens = re.findall(r"[A-Za-zα-ωΑ-Ω_]+|\d+|\s+|.", text)
    places = [k for k, token in enumerate(tokens) if token.strip()]
    place = _pick(random, places)
    token = tokens[place]
    if token.isdecimal():
        tokens[place] = str(int(token) + _pick(random, [-1, 1, 2]))
    elif token in "+-":
        tokens[place] = "-" if token == "+" else "+"
    elif token[0].isalpha() and len(token) < 4:
        letters = sorted({t for t in tokens if t[0].isalpha() and len(t) < 4} | {"A", "n", "m"})
        tokens[place] = _pick(random, letters)
    else:
        tokens[place] = _pick(random, ["", token * 2, "*", "∘", "2"])
    return "".join(tokens)


MUTATIONS: tuple[Mutation, ...] = (
    delete,
    double,
    reorder,
    foreign,
    obligation,
    cut,
    width,
    number,
    words,
    cofactor,
    use,
    case,
    side,
    reading,
)


def mutated(bases: Sequence[Made], count: int, seed: int) -> Iterator[tuple[str, Made, Made]]:
    """So many changed certificates: the kind of change, what was changed, the result."""
    random = np.random.default_rng(seed)
    made = 0
    while made < count:
        base, change = _pick(random, bases), _pick(random, MUTATIONS)
        out = copy.deepcopy(base)
        try:
            change(random, out, bases)
            if random.random() < 0.1:
                _pick(random, MUTATIONS)(random, out, bases)
        except (Unfit, KeyError):
            continue
        if random.random() < 0.6:
            out = forged(out)
        if out == base:
            continue
        made += 1
        yield change.__name__, base, out


class Forger(Checker):
    """A checker that shows no obligation, and writes into each step what it should say."""

    def __init__(self, steps: Sequence[Step], positive: Iterable[str] = ()) -> None:
        super().__init__(steps, positive)
        self.steps = steps  # type: ignore[assignment]  # the same list, which is written into

    def take(self, allowed: Sequence[str], before: str, *_about: object) -> Step:
        if not self.left or self.left[0]["rule"] not in allowed:
            raise Refused("nothing to write")
        step = self.left.popleft()
        step["of"] = brief(before)
        return step

    def settle(self, step: Step, needs: Sequence[tuple[Form, str]], gives: str) -> None:
        step.pop("needs", None)
        if needs:
            step["needs"] = [f"{form_text(one)} ≥ 0" for one, _ in needs]
        step["gives"] = brief(gives)

    def simplified(self, left: Poly) -> Poly | None:
        if self.left and self.left[0]["rule"] == "zero":
            self.settle(self.take(("zero",), text_of(left)), [], "0")
            return None
        return super().simplified(left)

    def finish(self) -> None:
        del self.steps[self.done :]


class Forging(Replay):
    """A replay that writes a trace whose steps fit one another."""

    checker = Forger


def forged(made: Made) -> Made:
    """The certificate with every step saying what it should; as it was where that cannot be."""
    out = copy.deepcopy(made)
    try:
        claim = goal_of(out["statement"])
        replay = Forging(claim, out["uses"], out["letters_only"])
        replay.check(out["proof"], replay.goal)
    except Exception:  # whatever a changed certificate leads to
        return made
    return {**out, "partial": replay.partial}


# ---- truth -----------------------------------------------------------------------------------


def is_false(claim: Goal) -> bool:
    """Whether numbers show that a claim does not hold."""
    if any(part.atoms(Head) for part in claim.parts):
        for count in (2, 3):
            sides = (_apart(one.xreplace({_H: sympy.Integer(count)})) for one in claim.parts[:2])
            if is_false(Goal(*sides)):
                return True
        return False
    left, right = Side(claim.left), Side(claim.right)
    where = tuple((Side(one), Side(other)) for one, other in claim.where)
    permuting = frozenset(claim.permuting)
    statement = Statement(left, right, where, frozenset(claim.positive), permuting)
    symbols = {s for part in claim.parts for s in part.free_symbols if s.is_integer}
    symbols |= {s for part in claim.parts for s in _sizes(part)}
    found = (refuted(statement, sizes) for sizes in trial_sizes(statement, symbols, {}))
    return any(one.counterexample is not None for one in found)


def _sizes(part: Any) -> set[Any]:
    shapes = [letter.shape for letter in part.atoms(sympy.MatrixSymbol)]
    shapes += [part.shape] if isinstance(part, MatrixExpr) else []
    return {s for shape in shapes for size in shape for s in size.free_symbols}


@dataclass(frozen=True)
class Outcome:
    """What became of a changed certificate: refused, no certificate, the same claim, another."""

    kind: str
    became: str
    made: Made


def outcomes(changed: Iterator[tuple[str, Made, Made]]) -> Iterator[Outcome]:
    """Each changed certificate, checked; `false` is an acceptance that numbers refute."""
    for kind, base, made in changed:
        try:
            claim = check(made)
        except Refused:
            yield Outcome(kind, "refused", made)
            continue
        except SymattnError:
            yield Outcome(kind, "unusable", made)
            continue
        if is_false(claim):
            became = "false"
        else:
            became = "same claim" if made["statement"] == base["statement"] else "another claim"
        yield Outcome(kind, became, made)


KINDS = ("refused", "unusable", "same claim", "another claim", "false")


def table(found: Sequence[Outcome]) -> str:
    """Counts by mutation and what became of it, and every false acceptance."""
    counts: Mapping[Any, int] = Counter((one.kind, one.became) for one in found)
    lines = [f"{'':12}" + "".join(f"{kind:>15}" for kind in KINDS)]
    for change in MUTATIONS:
        row = "".join(f"{counts[change.__name__, kind]:>15}" for kind in KINDS)
        lines.append(f"{change.__name__:12}{row}")
    total = "".join(f"{sum(one.became == kind for one in found):>15}" for kind in KINDS)
    lines.append(f"{'all':12}{total}")
    lines += [json.dumps(one.made, ensure_ascii=False) for one in found if one.became == "false"]
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 if something false was accepted."""
    told = options(__doc__, count=10_000, seed=0, verbose=False)
    start = time.perf_counter()
    found = list(outcomes(mutated(certificates(), told.count, told.seed)))
    print(f"{len(found)} certificates in {time.perf_counter() - start:.0f} s")
    print(table(found))
    if told.verbose:
        for one in found:
            if one.became in ("another claim", "same claim"):
                said = one.made["statement"]
                print(
                    one.kind, one.became, said["left"].get("text"), "=", said["right"].get("text")
                )
    return int(any(one.became == "false" for one in found))


if __name__ == "__main__":
    raise SystemExit(main())
