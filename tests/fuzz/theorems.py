"""``python -m tests.fuzz.theorems --count 500 --seed 0``: proofs of Rocq with other statements.

A side of a true statement is changed: a transpose, a factor, a mask or a size; an inequality's
sides are exchanged, too. What is read back of the theorem of that has to be what symattn's own
evaluation makes of the changed statement. Then Rocq gets it with the proof of the true statement,
and has to refuse it, unless the numbers say that it is true as well. Rocq has to find the statement
well-formed, and to accept the unchanged proof. A theorem that lacks one of its hypotheses about
divisors, roots and logarithms has to be seen to say something of numbers for which a side has no
value. Half of the statements are inequalities. The same seed gives the same statements; the table
counts.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from symattn import SymattnError, equal
from symattn.algebra.claims import Goal, goal_of
from symattn.algebra.counterexample import Side
from symattn.algebra.equality import stated
from symattn.algebra.forms import Refused
from symattn.algebra.rocq.export import Document, Exporting
from symattn.algebra.rocq.files import exported
from symattn.algebra.rocq.inequalities import Claims, Inequality
from symattn.algebra.rocq.terms import identifier, library
from symattn.algebra.traces import certificate
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.enclosure import precision
from symattn.nodes.lines import LineQuotient, UnitVectors
from symattn.nodes.masks import Causal, Masked, Padding
from symattn.nodes.normalise import RowRatio, Softmax
from symattn.nodes.scale import Quotient
from tests.fuzz.asking import options
from tests.fuzz.bounds import cases
from tests.oracle import Statement, agree
from tests.rocq import Theorem, theorem
from tests.statements import STATEMENTS

Matrix = sympy.MatrixExpr

#: How many statements are made of one.
EACH = 10


# ---- changes -----------------------------------------------------------------------------------


def transposed(part: Any, rng: random.Random) -> Any:
    """A function of columns for one of rows, or the transpose of a square matrix."""
    if isinstance(part, (Softmax, RowRatio, UnitVectors)) and not part.args[0].has(Masked):
        return sympy.Transpose(part.func(sympy.Transpose(part.args[0]), *part.args[1:]))
    if isinstance(part, Matrix) and part.rows == part.cols and not part.has(Masked):
        return sympy.Transpose(part)
    return part


def multiplied(part: Any, rng: random.Random) -> Any:
    """A multiple."""
    plain = isinstance(part, Matrix) and not part.has(Causal, Padding) and part.rows != 1
    return sympy.MatMul(rng.choice((2, 3, -1)), part).doit(deep=False) if plain else part


def masked(part: Any, rng: random.Random) -> Any:
    """A mask where there was none, another one, or none."""
    match part:
        case Causal(args=(rows, columns, start)):
            return Causal(rows, columns, start + 1)
        case Padding(args=(rows, columns, kept)):
            return Padding(rows, columns, kept + 1)
        case Softmax(args=(Masked(args=(scores, _)), axis)):
            return Softmax(scores, axis)
        case Softmax(args=(scores, axis)) if axis == 1 and not scores.has(Causal, Padding):
            return Softmax(Masked(scores, Causal(*scores.shape, 0)), axis)
    return part


def resized(part: Any, rng: random.Random) -> Any:
    """Another size in a number; a quotient by a size."""
    if isinstance(part, Quotient) and part.args[1].free_symbols:
        return Quotient(part.args[0], 2 * part.args[1])
    if (
        isinstance(part, Matrix)
        and not isinstance(part, Quotient)
        and not part.has(Causal, Padding)
    ):
        sizes = [one for one in part.shape if one.is_Symbol]
        return Quotient(part, rng.choice(sizes)) if sizes else part
    return part


CHANGES: Mapping[str, Callable[[Any, random.Random], Any]] = {
    "a transpose": transposed,
    "a factor": multiplied,
    "a mask": masked,
    "a size": resized,
}


@dataclass(frozen=True)
class Source:
    """A true statement, the sign between its sides, and the file of its theorem."""

    goal: Goal
    sign: str
    text: str

    @property
    def kinds(self) -> list[str]:
        """How it may be changed."""
        return [*CHANGES, *([EXCHANGED] if self.sign == "<=" else [])]


#: The change that only inequalities have, and a theorem that lacks a hypothesis.
EXCHANGED, LACKING = "exchanged sides", "a hypothesis"


def changed(goal: Goal, kind: str, rng: random.Random) -> Goal | None:
    """The statement with one part of a side changed; None where nothing can be."""
    if kind == EXCHANGED:
        return replace(goal, left=goal.right, right=goal.left)
    which = rng.choice(("left", "right"))
    side = getattr(goal, which)
    parts = [*dict.fromkeys(sympy.preorder_traversal(side))]
    for part in rng.sample(parts, len(parts)):
        with suppress(SymattnError, TypeError, ValueError):
            new = CHANGES[kind](part, rng)
            out = side.xreplace({part: new}) if new != part else side
            if out != side and getattr(out, "shape", ()) == getattr(side, "shape", ()):
                return replace(goal, **{which: out})
    return None


# ---- numbers -----------------------------------------------------------------------------------


def named(goal: Goal) -> tuple[set[Any], set[Any]]:
    """The letters of a statement, and its sizes and numbers."""
    parts = [part for side in (goal.left, goal.right) for part in sympy.preorder_traversal(side)]
    letters = {part for part in parts if isinstance(part, sympy.MatrixSymbol)}
    symbols = {s for side in (goal.left, goal.right) for s in side.free_symbols if s.is_Symbol}
    return letters, symbols | {
        s for one in letters for size in one.shape for s in size.free_symbols
    }


def drawn(goal: Goal, random_: np.random.Generator) -> dict[Any, Any]:
    """Values of sizes, numbers and letters, the last by their names."""
    letters, symbols = named(goal)
    sizes = [one for one in sorted(symbols, key=str) if one.is_integer]
    out: dict[Any, Any] = dict(
        zip(sizes, map(int, random_.permutation(len(sizes)) + 2), strict=True)
    )
    out |= {one: float(random_.uniform(0.5, 2)) for one in symbols if not one.is_integer}
    numbers = dict(out)
    for one in sorted(letters, key=str):
        rows, columns = (int(sympy.sympify(size).subs(numbers)) for size in one.shape)
        out[one.name] = random_.uniform(-1, 1, (rows, columns))
        if one.name in goal.positive:
            out[one.name] = np.abs(out[one.name]) + 0.1
        if one.name in goal.permuting:
            out[one.name] = np.eye(rows)[random_.permutation(rows)]
    return out


def own_value(side: Any, values: Mapping[Any, Any]) -> Any:
    """What symattn evaluates a side to."""
    letters = {name: BALLS.array(value) for name, value in values.items() if isinstance(name, str)}
    numbers = {name: value for name, value in values.items() if not isinstance(name, str)}
    with precision(80):
        found = Side(side).value(letters, BALLS, numbers)
    return np.array([[float(x.mid()) if x.is_finite() else np.nan for x in row] for row in found])


@dataclass(frozen=True)
class Judged:
    """A changed statement, its theorem, whether that says the same, and whether it is true."""

    kind: str
    goal: Goal
    statement: str
    is_read_back: bool
    is_true: bool


def document(source: Source, goal: Goal) -> Document:
    """A theorem that assumes the same of sizes and of e^x as that of a source."""
    said = theorem(source.text).hypotheses
    sizes = {str(one) for one in named(source.goal)[1] if one.is_integer}
    filled = {one for one in sizes if f"(0 < {identifier(one)})%N" in said}
    if source.sign == "=":
        empty = frozenset(sizes - filled)
        return Document(Exporting(goal, [], {}, empty), "statement", {})
    claims = Claims(goal, "statement", {})
    claims.needed.update(filled)
    claims.laws.update({"grows"} & {"grows" for one in said if "forall x" in one})
    return Inequality(claims)


def judged(kind: str, source: Source, goal: Goal, seed: int) -> Judged:
    """A statement that is made of another, judged in numbers at a few sizes."""
    statement = document(source, goal).statement()
    found = theorem(f"Theorem {statement}.\nProof.")
    same, true = found.sign == source.sign, True
    for number in range(4):
        values = drawn(goal, np.random.default_rng((seed, number)))
        known = {identifier(str(name)): value for name, value in values.items()}
        with np.errstate(all="ignore"):
            said = found.sides(known)
            own = [own_value(side, values) for side in (goal.left, goal.right)]
            if source.sign == "<=":
                low, high, _ = np.broadcast_arrays(*said, own[0])
                said = low, high
                true &= bool(np.all(~(own[0] > own[1] + 1e-9 * (1 + np.abs(own[1])))))
            else:
                true &= agree(*own)
        is_defined = all(np.all(np.isfinite(one)) for one in own)  # else no hypothesis has to hold
        same &= all(map(agree, said, own)) and (obeys(found, known) or not is_defined)
    return Judged(kind, goal, statement, same, true)


def obeys(found: Theorem, known: Mapping[str, Any], but: str = "") -> bool:
    """Whether numbers that are drawn obey all hypotheses, but for one."""
    return all(holds for one, holds in found.obeyed(known).items() if one != but)


def unnoticed(source: Source) -> list[str]:
    """The hypotheses without which a theorem is not seen to say more than its statement.

    It is seen where numbers obey all the others, and a side has no value. A row that is divided by
    0 is 0 in symattn: theorems about these are compared with NumPy in `tests/algebra/test_rocq.py`.
    """
    found, goal = theorem(source.text), source.goal
    if any(side.has(LineQuotient) for side in (goal.left, goal.right)):
        return []
    left = {one for one in found.hypotheses if re.search(r"!= 0|unitmx|0 <=? .* i j\)$", one)}
    left -= {f"(forall i j, 0 < {identifier(name)} i j)" for name in goal.positive}
    for number in range(12):
        values = drawn(goal, np.random.default_rng((9, number)))
        numbers = [key for key, value in values.items() if isinstance(value, float)]
        values |= dict.fromkeys(numbers, (0.0, 1.0, -1.0, 2.0)[number % 4])
        for one in with_rows(values, number % 2 > 0):
            known = {identifier(str(key)): value for key, value in one.items()}
            with np.errstate(all="ignore"):
                if not has_value(goal, one):
                    left -= {said for said in left if obeys(found, known, said)}
    return sorted(left)


def with_rows(values: dict[Any, Any], everywhere: bool) -> Iterator[dict[Any, Any]]:
    """The same with a row of 0 in a letter, one with other signs, or with all rows so."""
    yield values
    for name, value in values.items():
        if isinstance(name, str):
            rows = np.arange(len(value))[:, None] < 1
            for c in (0.0, -1.0):
                yield {**values, name: np.where(rows | everywhere, c * value, 1.0)}


def has_value(goal: Goal, values: Mapping[Any, Any]) -> bool:
    """Whether both sides have a value for these numbers."""
    try:
        own = [own_value(side, values) for side in (goal.left, goal.right)]
    except (SymattnError, ZeroDivisionError):
        return False
    return all(np.all(np.isfinite(one)) for one in own)


# ---- Rocq --------------------------------------------------------------------------------------


class Rocq:
    """Rocq in a folder with the library."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "symattn.v").write_text(library(), encoding="utf-8")
        command = [*self.command("coqc"), "symattn.v"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    @staticmethod
    def command(program: str) -> list[str]:
        """A program of Rocq and where the library is."""
        return [shutil.which(program) or program, "-w", "none", "-Q", ".", "Symattn"]

    def accepted(self, text: str, statements: Sequence[str]) -> list[tuple[bool, bool]]:
        """Whether each statement is well-formed, and is proven by the proof of a file."""
        own = re.search(r"^Theorem (.*?)\.\nProof\.", text, re.DOTALL | re.MULTILINE)
        assert own is not None
        proof = text[own.end() :].partition("\nQed.\n")[0].splitlines()
        with Session(self.command("coqtop"), self.folder) as session:
            head = ["Set Silent.", *text[: own.start()].splitlines(), "Set Default Timeout 30."]
            assert session.hears(head)
            out = [session.proves(k, one, proof) for k, one in enumerate(statements)]
            assert session.hears(["End Statement."])
            assert all(session.stands_alone(f"proven{k}") for k, (_, is_) in enumerate(out) if is_)
        return out


class Session:
    """A dialogue with Rocq, which is told no more of a proof behind an error."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            [*command, "-q"],
            cwd=folder,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def said(self, lines: Sequence[str]) -> str:
        """What is said to a few lines."""
        into, out = self.process.stdin, self.process.stdout
        assert into is not None
        assert out is not None
        into.write("\n".join([*lines, "Locate no_such_name.", ""]))
        into.flush()
        heard: list[str] = []
        while not heard or "No object of basename no_such_name" not in heard[-1]:
            heard.append(out.readline())
            assert heard[-1], "Rocq has gone"
        return "".join(heard)

    def hears(self, lines: Sequence[str]) -> bool:
        """Whether it takes all lines, some sentences at a time."""
        said: list[str] = []
        for k, line in enumerate(lines, 1):
            said.append(line)
            if k == len(lines) or (len(said) >= 8 and line.endswith((".", "}"))):
                if "Error:" in self.said(said):
                    return False
                said = []
        return True

    def proves(self, k: int, statement: str, proof: Sequence[str]) -> tuple[bool, bool]:
        """Whether a statement is well-formed, and whether these lines prove it."""
        variables, _, says = statement.removeprefix("statement ").partition(" :\n")
        formed = self.hears([f"Definition says{k} {variables} : Prop :=\n{says}."])
        begin = f"Theorem proven{k} {variables} :\n{says}."
        proven = self.hears([begin, "Proof.", *proof, "Qed."])
        self.said(["Abort All."])
        return formed, proven

    def stands_alone(self, name: str) -> bool:
        """Whether a theorem stands on no axiom."""
        return "Closed under the global context" in self.said([f"Print Assumptions {name}."])


# ---- all of it ---------------------------------------------------------------------------------


def sources(rng: random.Random) -> Iterator[Source]:
    """True equations and inequalities in turn, without equations that are assumed."""
    rows = [row for row in STATEMENTS if row.holds and not set(row.options) & {"sizes", "where"}]
    made_ = cases(4 * len(rows), rng.randrange(10**6))
    bounds = (case.text for case, is_true in made_ if is_true)
    for row, text in zip(rng.sample(rows, len(rows)), bounds, strict=False):
        with suppress(SymattnError):
            yield source(row)
        with suppress(SymattnError):
            yield inequality(text)


def source(row: Statement) -> Source:
    """An equation and the file of its theorem."""
    found = certificate(next(stated(row.text, None, **row.options)))
    return Source(goal_of(found["statement"]), "=", exported(found))


def inequality(text: str) -> Source:
    """An inequality and the file of its theorem. Raises `SymattnError` where there is none."""
    found = equal(text).certificate
    if found is None:
        raise Refused("it has no certificate")
    (link,) = found["links"]
    return Source(goal_of(link["statement"]), "<=", exported(found))


def made(source: Source, rng: random.Random) -> Iterator[Judged]:
    """Statements that are made of one, and assume the same of sizes as its theorem."""
    seen = {source.goal}
    for number in range(EACH):
        kind = source.kinds[number % len(source.kinds)]
        other = changed(source.goal, kind, rng)
        if other is not None and other not in seen:
            seen.add(other)
            with suppress(SymattnError):  # what has no term
                yield judged(kind, source, other, number)


def tried(rocq: Rocq, source: Source, rng: random.Random) -> Iterator[tuple[Judged, str]]:
    """What becomes of the statements that are made of one."""
    itself = judged("none", source, source.goal, 0)
    for lacking in unnoticed(source):
        yield replace(itself, kind=LACKING, statement=lacking), "not noticed"
    others = [*made(source, rng)]
    answers = rocq.accepted(source.text, [itself.statement, *(one.statement for one in others)])
    for one, (formed, accepted) in zip([itself, *others], answers, strict=True):
        if not formed:
            yield one, "no statement of Rocq"
        elif not one.is_read_back:
            yield one, "read back otherwise"
        elif one is itself:
            yield one, "true, accepted" if accepted and one.is_true else "not accepted itself"
        elif accepted:
            yield one, "true, accepted" if one.is_true else "false, accepted"
        else:
            yield one, "true, refused" if one.is_true else "false, refused"


#: What may come of a statement; all else is a finding.
GOOD = ("true, accepted", "true, refused", "false, refused")


def outcomes(count: int, seed: int) -> Iterator[tuple[Judged, str]]:
    """So many changed statements, and what came of each."""
    rng, left = random.Random(seed), count
    with tempfile.TemporaryDirectory() as folder:
        rocq = Rocq(Path(folder))
        for source in sources(rng):
            for one, word in tried(rocq, source, rng):
                left -= one.kind != "none"
                yield one, word
            if left <= 0:
                return


def main() -> int:
    """Change, ask and print."""
    arguments = options(__doc__, count=500, seed=0)
    counts: Counter[tuple[str, str]] = Counter()
    for one, word in outcomes(arguments.count, arguments.seed):
        counts[one.kind, word] += 1
        if word not in GOOD:
            sides = f"{one.goal.left}, {one.goal.right}"
            print(f"{word}: {one.kind}: {sides}: {one.statement}", flush=True)
    words = [*GOOD, *sorted({word for _, word in counts} - {*GOOD})]
    print(" | ".join(["changed", *words]))
    for kind in ("none", *CHANGES, EXCHANGED, LACKING):
        print(" | ".join([kind, *(str(counts[kind, word]) for word in words)]))
    return int(any(word not in GOOD for _, word in counts))


if __name__ == "__main__":
    sys.exit(main())
