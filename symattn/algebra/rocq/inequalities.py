"""The theorem of an inequality L ≤ R, entry by entry.

The certificate is checked once more, and every step becomes a claim about matrices, which a tactic
of `symattn.v` proves by the lemmas of its rule. The equation of a combination is a theorem of its
own, made as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.bounds import Claim, Link, Step, constant, limits
from symattn.algebra.claims import Goal, goal_of
from symattn.algebra.forms import Refused
from symattn.algebra.kinds import Data
from symattn.algebra.rocq.comments import spelled
from symattn.algebra.rocq.divisors import divided
from symattn.algebra.rocq.export import Document, Exporting, equation
from symattn.algebra.rocq.terms import (
    NODES,
    bracketed,
    hiding,
    kind_of,
    matrix,
    number,
    sizes_in,
)

#: The tactics of the rules but combinations, and what of e^x more than its laws they use.
TACTICS: Mapping[str, str] = {
    "bound": "by_bound ({} : R)",
    "positive": "by_sign",
    "square": "by_sign",
    "product": "by_product",
    "monotone": "le",
    "terms": "le",
    "largest": "by_largest",
    "sum": "by_sum",
    "weights": "by_weights",
    "Cauchy–Schwarz": "by_cauchy",
    "absolute value": "by_norm",
    "line": "by_line",
}

#: The rules that use of some functions that e^x is above its tangent.
_RISING = ("monotone", "line")


def inequality(link: Data, name: str, known: dict[str, str]) -> Inequality:
    """The theorem of a link, in a file that has the known identities already.

    Raises `Refused` for what has no lemma or no term yet.
    """
    claims = Claims(goal_of(link["statement"]), name, known)
    claims.check(link["proof"])
    return Inequality(claims)


class Claims(Link):
    """The check of a link, which keeps a script: each claim, its name and its proof."""

    def __init__(self, goal: Goal, name: str, known: dict[str, str]) -> None:
        super().__init__(goal)
        self.name, self.known = name, known
        #: The names of the claims, the script of each, and the theorems of the equations.
        self.names: dict[Claim, str] = {}
        self.script: list[str] = []
        self.body: list[str] = []
        self.equations: list[Document | None] = []
        #: The sizes that have to be 1 at least, and the laws of e^x besides those of all theorems.
        self.needed: set[str] = divided(goal, [goal.left, goal.right])
        self.laws: set[str] = set()

    def equation(self, data: Data) -> Claim:
        found = super().equation(data)
        self.equations.append(None)
        if found[0] != found[1]:
            one = equation(data, f"{self.name}_equation{len(self.equations)}", self.known)
            self.body.extend(one.lines("Lemma"))
            self.known.update(one.found)
            self.needed.update({*one.sizes} - one.empty)
            self.laws.update(one.laws)
            self.equations[-1] = one
        return found

    def follow(self, rule: str, step: Step) -> None:
        super().follow(rule, step)
        if step.claim in self.names:
            return
        if rule in _RISING:
            kinds = [NODES.get(kind_of(x), "") for x in step.claim if isinstance(x, MatrixExpr)]
            of_numbers = any(isinstance(x, sympy.exp | sympy.log) for x in step.claim)
            if of_numbers or any(re.search(r"\b(e|ln)\b", kind) for kind in kinds):
                self.laws.add("grows")
            if "map_mx ln {0}" in kinds:  # what it is taken of is positive
                self.needed.update(sizes_in(step.claim))
        if rule == "positive" and step.claim[1].has(sympy.log):  # ln m ≥ 0 for a size m
            self.laws.add("grows")
            self.needed.update(sizes_in(step.claim))
        if rule == "combination":
            proof = [*self.combined(step)]
        else:
            proof = [f"{TACTICS[rule].format(number(room(step)) if rule == 'bound' else '')}."]
        name = f"k'claim{len(self.names) + 1}"
        self.names[step.claim] = name
        comment = " ≤ ".join(map(spelled, step.claim))
        self.script.extend(
            [
                *([] if re.search(r"\(\*|\*\)", comment) else [f"(* {rule}: {comment} *)"]),
                f"have {name} : {self.said(step.claim)}.",
                "{ " + "\n  ".join(proof) + " }",
            ]
        )

    def said(self, claim: Claim) -> str:
        """A claim about matrices, or about numbers."""
        left, right = map(self.text, claim)
        if isinstance(claim[0], MatrixExpr):
            return f"le_mx {bracketed(left)} {bracketed(right)}"
        return f"{left} <= {right} :> R"

    def text(self, expr: sympy.Basic) -> str:
        """A side. Raises `Refused` for one that may be −∞."""
        if hiding(expr):
            raise Refused("an inequality of what may be −∞ has no lemma in Rocq yet")
        return matrix(expr, self.goal.permuting)

    def combined(self, step: Step) -> Iterator[str]:
        """L ≤ R from L + Σ c B = R + Σ c A and all A ≤ B."""
        kind = "" if isinstance(step.claim[0], MatrixExpr) else "number_"
        for c, premise in zip(step.by, step.premises, strict=True):
            name = self.names[premise]
            if c == 1:
                yield f"apply: ({kind}combination1 {name})."
            else:
                text = number(sympy.Rational(c.numerator, c.denominator))
                yield f"apply: ({kind}combination (c := {text}) _ {name}); first by nn."
        yield f"apply: {kind}equal_le."
        one = self.equations[-1]
        same = "by []." if one is None else f"by apply: {one.name}; eassumption."
        for side, which in zip((kind and step.equation) or (), ("first", "last"), strict=False):
            yield f"transitivity ({number(side)} : R); {which} by first [ring | field]."
        yield same


def room(step: Step) -> sympy.Expr:
    """How far the number that a part is bounded by is from the one that is claimed."""
    left, right = step.claim
    below, above, low, high = constant(left), constant(right), limits(right)[0], limits(left)[1]
    found = [b - a for a, b in ((below, low), (high, above)) if a is not None and b is not None]
    return next(one for one in found if one.is_nonnegative)


class Inequality(Document):
    """The theorem of a link."""

    def __init__(self, claims: Claims) -> None:
        super().__init__(Exporting(claims.goal, [], {}, frozenset()), claims.name, {})
        self.claims, self.laws = claims, claims.laws
        self.empty = frozenset(self.sizes) - claims.needed
        if not (self.letters or self.sizes or self.numbers):
            raise Refused("an inequality of numbers without letters has no proof in Rocq yet")
        known = {one for one, _ in self.assumed()}
        for one in filter(None, claims.equations):
            if {said for said, _ in one.assumed()} - known:
                raise Refused("an equation that assumes more than the inequality has no proof")

    def lines(self, kind: str = "Theorem") -> list[str]:
        return [*self.claims.body, *super().lines(kind)]

    def relation(self) -> str:
        """The inequality of all entries; a side of which all are one number is that."""
        left, right = self.sides
        if not isinstance(left, MatrixExpr):
            return f"{number(left)}\n  <= {number(right)} :> R"
        known = next((k for k in (0, 1) if constant(self.sides[k]) is not None), None)
        texts = [
            number(constant(side)) if k == known else f"{bracketed(self.claims.text(side))} i j"
            for k, side in enumerate(self.sides)
        ]
        return f"forall i j, {texts[0]}\n  <= {texts[1]}"

    def proof(self) -> Iterator[str]:
        yield "Proof."
        yield from self.introduced()
        yield from self.signed()
        yield from self.claims.script
        yield f"as_number {self.claims.names[self.goal.left, self.goal.right]}."
        yield "Qed."
