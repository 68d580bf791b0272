"""``python -m tests.opened FILE``: a certificate with the entries that it speaks of, as JSON.

The grammar and the nodes say what the entries of a statement are; here they are written as data,
so that a replayer needs neither. What the data mean is told in `docs/proof-rules.md`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Replay
from symattn.algebra.claims import (
    Goal,
    Slope,
    cases,
    decoded,
    encoded,
    goal_of,
    halved,
    inverses,
    permutations_in,
    read_size,
    used,
)
from symattn.algebra.forms import Refused, linear
from symattn.algebra.kinds import Data, check_kind, read_json
from symattn.algebra.texts import form_text
from symattn.errors import SymattnError
from symattn.nodes import rule as r
from symattn.nodes.entrywise import Diagonal
from symattn.nodes.heads import Head
from symattn.nodes.positions import IndexNumber, Rotary
from symattn.nodes.recurrence import Recurrence, is_recurrence
from symattn.nodes.scale import Quotient
from symattn.step import HEAD

_ROW, _COLUMN = (sympy.Symbol(name, integer=True) for name in ("row", "column"))


def number(value: Any) -> Data:
    """A SymPy scalar, which indices may stand in."""
    value = sympy.sympify(value, strict=True)
    if isinstance(value, IndexNumber):
        return number(value.args[0])
    if isinstance(value, sympy.Symbol) and value.name.startswith("+"):  # how much larger a size is
        return ["size", value.name]
    if value.args:
        return [type(value).__name__, *map(number, value.args)]
    try:
        return encoded(value)
    except Refused:
        return ["other", type(value).__name__]


class Entries:
    """The entries of expressions as data, letters standing for expressions."""

    def __init__(self, means: Mapping[str, MatrixExpr], permuting: Mapping[str, Any]) -> None:
        self.means, self.permuting = means, permuting
        #: Letters of inverses, with what they are inverse to.
        self.inverted: dict[str, sympy.MatrixSymbol] = {}

    def of(self, expr: sympy.Basic, i: Any = _ROW, j: Any = _COLUMN) -> Data:
        """Entry (i, j) of an expression; a scalar is the same everywhere."""
        if isinstance(expr, sympy.MatrixBase) or not isinstance(expr, sympy.Basic):
            return ["other", "a matrix of numbers"]
        if not isinstance(expr, MatrixExpr):
            return ["const", number(expr)]
        return self.rule(r.rule_of(expr, i, j), frozenset((_ROW, _COLUMN, HEAD)))

    def rule(self, rule: r.Rule, bound: frozenset[sympy.Symbol]) -> Data:
        """An entry rule, in which these indices have a value."""

        def inner(one: r.Rule) -> Data:
            return self.rule(one, bound)

        match rule:
            case r.Entry(matrix, i, j):
                return self.entry(matrix, i, j, bound)
            case r.Const(value):
                return ["const", number(value)]
            case r.Ordinal(index):
                return ["ordinal", number(index)]
            case r.Named(_, _, value):
                return inner(value)
            case r.Plus(terms):
                return ["plus", *map(inner, terms)]
            case r.Times(factors):
                return ["times", *map(inner, factors)]
            case r.Over(num, den, empty):
                return ["over", inner(num), inner(den), None if empty is None else number(empty)]
            case r.Total(body, index, size):
                return ["total", self.rule(body, bound | {index}), index.name, number(size)]
            case r.Exp(body):
                return ["exp", inner(body)]
            case r.Apply(name, body):
                return ["apply", name, inner(body)]
            case r.Power(body, exponent):
                return ["power", inner(body), number(exponent)]
            case r.OfRow(name, (body,), index, size) if index is not None:
                body = self.rule(body, bound | {index})
                return ["ofrow", name, body, index.name, number(size)]
            case r.Cases(left, sign, right, value, otherwise):
                told = map(inner, (right, value, otherwise))
                return ["cases", inner(left), sign, *told]
        return ["other", type(rule).__name__]

    def entry(self, matrix: MatrixExpr, i: Any, j: Any, bound: frozenset[sympy.Symbol]) -> Data:
        """An entry of a letter, of an inverse or a derivative."""
        match matrix:
            case Head(name=name):
                return ["entry", name, number(i), number(j), number(matrix.head)]
            case sympy.MatrixSymbol(name=name):
                return ["entry", name, number(i), number(j)]
            case _ if matrix.free_symbols & bound:
                return ["other", "an inverse or a derivative that depends on an index"]
            case sympy.Inverse():
                return ["inverse", self.inverse(matrix.arg, i, j)]
            case Slope():
                return [
                    "slope",
                    self.of(matrix.expr, 0, 0),
                    matrix.letter.name,
                    *map(number, (i, j)),
                ]
        return ["other", type(matrix).__name__]

    def inverse(self, base: MatrixExpr, i: Any, j: Any) -> Data:
        """Entry (i, j) of the inverse of an expression."""
        match base:
            case sympy.MatrixSymbol(name=name) if name in self.means:
                return self.inverse(self.means[name], i, j)
            case sympy.MatrixSymbol(name=name) if name in self.permuting:
                return ["entry", name, number(j), number(i)]
            case sympy.MatrixSymbol(name=name):
                self.inverted[f"{name}⁻¹"] = base
                return ["entry", f"{name}⁻¹", number(i), number(j)]
            case Diagonal():
                (vector,) = base.args
                place = (i, 0) if vector.shape[1] == 1 else (0, i)
                one = ["const", "1"]
                same = ["cases", ["ordinal", number(i)], "=", ["ordinal", number(j)]]
                return [
                    "times",
                    [*same, one, ["const", "0"]],
                    ["over", one, self.of(vector, *place), None],
                ]
            case sympy.Inverse():
                return self.of(base.arg, i, j)
            case sympy.Transpose():
                return self.of(sympy.Inverse(base.arg), j, i)
            case Quotient():
                return self.of(sympy.MatMul(base.args[1], sympy.Inverse(base.args[0])), i, j)
            case sympy.MatMul():
                scalar, factors = base.as_coeff_matrices()
                if all(side == base.shape[0] for f in factors for side in f.shape):
                    turned = map(sympy.Inverse, reversed(factors))
                    return self.of(sympy.MatMul(1 / scalar, *turned), i, j)
        if {one.name for one in base.atoms(sympy.MatrixSymbol)} & {*self.means}:
            return ["other", "the inverse of a sum with letters that are defined"]
        return ["entry", f"({sympy.srepr(base)})⁻¹", number(i), number(j)]


def opened(certificate: Data) -> Data:
    """The certificate, and the entries of each case of sizes, or why it cannot be read."""
    try:
        check_kind(certificate, "equation")
        goal = goal_of(certificate["statement"])
        replay = Replay(goal, certificate["uses"], certificate["letters_only"])
        entries = _proof(replay, certificate["proof"], replay.goal, 0)
    except (SymattnError, LookupError, TypeError, ValueError, AttributeError) as trouble:
        return {"certificate": certificate, "unreadable": str(trouble)[:200]}
    except (RecursionError, ArithmeticError, NotImplementedError) as trouble:
        return {"certificate": certificate, "unreadable": str(trouble)[:200]}
    return {"certificate": certificate, "lacking": replay.partial, "entries": entries}


def _proof(replay: Replay, proof: Data, goal: Goal, depth: int) -> Data:
    """What a proof speaks of, as it is nested."""
    if depth > 8:
        raise Refused("too many cases of sizes")
    if proof.get("same"):
        return {"same": goal.left == goal.right and goal.steps[0] == goal.steps[1]}
    if "even" in proof:
        size = read_size(proof["even"])
        widths = {node.dims for part in goal.parts for node in part.atoms(Rotary)}
        half = _proof(replay, proof["half"], goal.put(halved(size)), depth + 1)
        return {"rotated": sorted(map(str, widths)), "half": half}
    if "split" in proof:
        found = cases(read_size(proof["split"]), read_size(proof["least"]), depth)
        pairs = zip(found, proof["cases"], strict=True)
        inner = [_proof(replay, one, goal.in_case(case), depth + 1) for case, one in pairs]
        told = [
            {str(size): form_text(linear(value, {})) for size, value in c.items()} for c in found
        ]
        return {"cases": inner, "sizes": told}
    return _leaf(replay, proof, goal)


def _leaf(replay: Replay, proof: Data, goal: Goal) -> Data:
    """The entries of a proof that has steps."""
    known, means, units, sums = used(goal, replay.uses)
    permutations = dict(permutations_in(known))
    every = Entries(means, permutations)
    sides = []
    closed = iter([step["closed"] for step in proof["steps"] if step.get("rule") == "induction"])
    for expr, steps in zip((known.left, known.right), known.steps, strict=True):
        own = Entries({**means, **dict(steps)}, permutations)
        states = [(name, one) for name, one in steps if is_recurrence(one)]
        letters = {
            name: own.of(one) for name, one in own.means.items() if (name, one) not in states
        }
        told = [_state(own, name, one, next(closed, None)) for name, one in states]
        sides.append({"entry": own.of(expr), "letters": letters, "states": told})
        every.inverted |= own.inverted
    shapes = [[*side.shape] for side in (known.left, known.right) if isinstance(side, MatrixExpr)]
    shape = shapes[0] if shapes else [1, 1]
    if any(other != shape for other in shapes):
        raise Refused("the shapes differ")
    cofactors = []
    for c, u, relation, v in proof["cofactors"]:
        pair = replay.product_of(known, u, relation, v, tuple(shape))
        cofactors.append([number(decoded(c)), *map(every.of, pair)])
    equations = [
        [[*map(number, getattr(one, "shape", (1, 1)))], every.of(one), every.of(other)]
        for one, other in sums
    ]
    pairs = [(pair, size) for letter, columns in units for pair, size in inverses(letter, columns)]
    letters = {name: every.of(value) for name, value in means.items()}
    for name, base in every.inverted.items():
        size = linear(base.shape[0], {})
        for turned in (False, True):
            pairs += [
                ((base.name, turned, name, turned), size),
                ((name, turned, base.name, turned), size),
            ]
    return {
        "shape": [form_text(linear(size, {})) for size in shape],
        "sides": sides,
        "letters": letters,
        "cofactors": cofactors,
        "equations": equations,
        "permutations": {name: form_text(size) for name, size in permutations.items()},
        "units": [[*pair, form_text(size)] for pair, size in pairs],
        "positive": [*known.positive],
    }


def _state(own: Entries, name: str, states: Recurrence, closed: Data) -> Data:
    """A recurrence and what a step says that it makes, if there is one."""

    def shape(one: Any) -> list[str]:
        return [form_text(linear(size, {})) for size in getattr(one, "shape", None) or ()]

    told = {
        "name": name,
        "count": form_text(linear(states.count, {})),
        "shape": shape(states),
        "entry": own.of(states),
    }
    if closed is not None:
        value = decoded(closed, states.free_symbols)
        is_letter = isinstance(value, Head) and value.head == HEAD
        entry = {"states": value.name} if is_letter else {"entry": own.of(value)}
        told["closed"] = {"shape": shape(value), **entry}
    return told


def main() -> int:
    """Print the opened certificate of a file."""
    certificate = read_json(Path(sys.argv[1]).read_bytes())
    print(json.dumps(opened(certificate), ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
