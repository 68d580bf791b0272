"""What hypotheses about divisors say of the factors of these: not 0, or positive."""

from __future__ import annotations

from itertools import product

from symattn.algebra.forms import Env, Form, Refused, linear, names, number
from symattn.algebra.rocq.divisors import COLUMN, ROW
from symattn.algebra.rocq.equations import Equation, have, some
from symattn.algebra.rocq.sums import Rewriter
from symattn.algebra.rocq.terms import bracketed, identifier, nat
from symattn.algebra.rocq.texts import anywhere
from symattn.algebra.texts import Atom, atoms_of


class Assuming(Rewriter):
    """A checker that proves that divisors are not 0."""

    def not_zero(self, below: Equation, env: Env) -> None:
        """Show of the factors of a divisor what the hypothesis about it says of them."""
        poly = some(below.poly)
        content, rest, lead = self.primitive(poly)
        factors = {atom: "by rewrite {0}; ring." for atom, _ in atoms_of(content)}
        if len(rest) > 1:
            outside = bracketed(self.text({content: lead}))
            factors[Atom("poly", terms=frozenset(rest.items()))] = (
                f"transitivity ({outside} * ({{1}}) : R); last by rewrite {{0}} mulr0.\nby ring."
            )
        plain = self.plainly()
        for atom, how in factors.items():
            if not (
                (plain.is_positive(atom) and plain.is_filled(atom))
                or self.is_assumed(atom) in ("0 <", "0 !=")
            ):
                self.assume(atom, how, below, env)

    def assume(self, atom: Atom, last: str, below: Equation, env: Env) -> None:
        """Show of a factor of a divisor that it is not 0, or positive.

        `last` proves that the divisor is 0 where the factor is.
        """
        order, (how, places) = self.orders.get(atom, 1), self.by_hypothesis(below.left, env)
        free = frozenset().union(*map(names, places))
        own = sorted(free | self.needed(free), key=lambda name: int(name[1:]))
        name, given, zero, equal = map(self.fresh, "NDZE")
        is_positive = order > 1 or self.plainly().is_nonnegative(atom)
        text = self.base(atom, 1, None)
        ranges = [f"({identifier(n)} < {nat(self.sizes[n])})%N" for n in own]
        said = [f"forall {identifier(n)}, {size} ->" for n, size in zip(own, ranges, strict=True)]
        sign = f"0 < {text}" if is_positive else f"{text} != 0"
        first = "apply: root_gt0." if order > 1 else "apply: gt0_of; first by nn."
        self.given.extend(
            [
                " ".join([f"have {name} :", *said, f"{sign} :> R."]),
                *(f"move=> {identifier(n)} lt{identifier(n)}." for n in own),
                f"have {given} : {below.left} != 0 :> R by {how}.",
                *(have(equal, below) if below.script else ()),
                *([first] if is_positive else []),
                f"apply: contraNneq {given} => {zero}.",
                *([f"apply/eqP; apply: (etrans {equal})."] if below.script else ["apply/eqP."]),
                last.format(zero, text),
            ]
        )
        self.assumed.append((anywhere(atom), "0 <" if is_positive else "0 !="))

    def by_hypothesis(self, text: str, env: Env) -> tuple[str, tuple[Form, ...]]:
        """The proof that a divisor is not 0 from the hypothesis about it, and at which places."""
        for k, one in enumerate(self.divisors):
            if one.sign != "!=":
                continue
            if not one.shape and self.rule_text(one.value, {}) == text:
                return f"exact: k'divisor{k}", ()
            rows, columns = (linear(size, {}) for size in one.shape or (1, 1))
            for i, j in product([number(0), *env.values()], repeat=2):
                inside = self.plainly().holds([*self.within(i, rows), *self.within(j, columns)])
                if inside and self.rule_text(one.value, {ROW: i, COLUMN: j}) == text:
                    return f"apply: (k'divisor{k}' {nat(i)} {nat(j)}); places", (i, j)
        raise Refused("a division by what may be 0 has no proof in Rocq yet")
