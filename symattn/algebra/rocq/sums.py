"""Sums in Rocq: what the steps of the checker make of them, by one lemma for each rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from symattn.algebra.forms import Form, Refused, names, put, variable
from symattn.algebra.polynomials import (
    Bound,
    form_poly,
    indices,
    renamed,
    renamed_items,
    renamed_mono,
    settled,
    single,
    times,
)
from symattn.algebra.rocq.equations import (
    Equation,
    Script,
    product_text,
    some,
    sum_text,
    summed_text,
    times_script,
    turned,
    weighted_text,
    within,
)
from symattn.algebra.rocq.reasoning import Functions
from symattn.algebra.rocq.terms import FUNCTIONS, bracketed, identifier, nat, plain, to_power
from symattn.algebra.rocq.texts import same_entry
from symattn.algebra.sums import Along, Step
from symattn.algebra.texts import Atom, Factors, Items, Mono, Poly, atoms_of, terms_of

#: The equations of what a step works out, the last of what it leaves to be summed.
Parts: TypeAlias = Sequence[Equation]


class Rewriter(Functions):
    """A checker that proves what becomes of sums."""

    def weighted(self, poly: Poly, out: Poly, inside: Sequence[Equation]) -> Equation:
        """The sum of the terms' sums, each times its number."""
        numbers = [c for _, c in terms_of(poly)]
        if not numbers or numbers == [1]:
            return inside[0] if inside else self.known(out)
        return self.combined(lambda given: weighted_text(numbers, given), out, *inside)

    def linear(self, bound: Bound, poly: Poly) -> Equation:
        """A sum over indices of a polynomial is the sum of its terms' sums."""
        terms = terms_of(poly)
        numbers = [c for _, c in terms]
        monos: list[Poly] = [{mono: Fraction(1)} for mono, _ in terms]
        if numbers == [1]:
            return Equation(
                summed_text(bound, self.text(poly)), summed_text(bound, self.text(poly))
            )
        if not poly:
            script = tuple(f"apply: sumto_zero => {identifier(name)} _." for name, _ in bound)
            return Equation(summed_text(bound, "0"), "0", (*script, "by []."))
        first = self.algebra(lambda g: g[0], lambda g: weighted_text(numbers, g[1:]), poly, *monos)
        one = Equation(first.left, first.right, first.script)
        texts = [self.text(mono) for mono in monos]
        for place in reversed(range(len(bound))):
            outer = bound[place : place + 1]
            inner = bound[place + 1 :]
            bodies = [summed_text(inner, text) for text in texts]
            over = Equation(
                summed_text(outer, weighted_text(numbers, bodies)),
                weighted_text(numbers, [summed_text(outer, body) for body in bodies]),
                (f"exact: {self.linear_lemma(numbers)}.",),
            )
            one = self.chain(within(outer, one), over)
        return one

    def linear_lemma(self, numbers: Sequence[Fraction]) -> str:
        """The lemma that a sum over one index is linear, for so many terms with these numbers."""
        functions = [f"f{k}" for k in range(len(numbers))]
        inside = weighted_text(numbers, [f"{f} l" for f in functions])
        outside = weighted_text(numbers, [f"sumto n {f}" for f in functions])
        lemma = (
            f"forall n ({' '.join(functions)} : nat -> R), sumto n (fun l => {inside}) = {outside}"
        )
        return self.identity(lemma, "by move=> *; rewrite /sumto ?big_split /= -?mulr_sumr.")

    def moved(self, bound: Bound, order: Sequence[int], body: str) -> Equation:
        """A sum with its indices in another order."""
        current, out = list(range(len(bound))), []
        for place, wanted in enumerate(order):
            for k in range(current.index(wanted), place, -1):
                outer = [bound[n] for n in current[: k - 1]]
                a, b = (bound[n] for n in current[k - 1 : k + 1])
                if a[0] in names(b[1]):
                    raise Refused("a range that depends on another index has no proof in Rocq yet")
                rest = summed_text([bound[n] for n in current[k + 1 :]], body)
                one = Equation(
                    summed_text([a, b], rest), summed_text([b, a], rest), ("exact: sumto_swap.",)
                )
                out.append(within(outer, one))
                current[k - 1], current[k] = current[k], current[k - 1]
        whole = summed_text(bound, body)
        return self.chain(Equation(whole, whole), *out)

    def with_names(self, mono: Mono, new: Mapping[str, Form]) -> Equation:
        """A product whose factors are in the order of one naming of indices, and of another."""
        about = [self.atom_with_names(atom, p, new) for atom, p in atoms_of(mono)]
        return self.combined(product_text, {renamed_mono(mono, new): Fraction(1)}, *about)

    def atom_with_names(self, atom: Atom, p: Fraction, new: Mapping[str, Form]) -> Equation:
        """A factor of such a product, a power."""
        places = {name: nat(one) for name, one in new.items()}
        out = renamed(atom, new)
        shared = lcm(self.orders.get(atom, 1), self.orders.get(out, 1))
        self.orders.update({atom: shared, out: shared})
        turns, order = self.rooted_power(atom, p)
        left = self.base(atom, order, places)
        right = self.base(out, order, None)
        kept = {name: one for name, one in new.items() if name in indices(atom)}
        script: Script = ()
        if bracketed(left) != bracketed(right):
            match atom:
                case Atom("exp") if order == 1:
                    script = self.applied_to(self.with_names(atom.mono, kept), "e").script
                case Atom("sum"):
                    script = within(atom.bound, self.with_names(atom.mono, kept)).script
                case Atom("fn", name) if order == 1:
                    script = self.applied_to(
                        self.items_with_names(atom.terms, kept), FUNCTIONS[name]
                    ).script
                case Atom("entry") if order == 1:
                    script = (same_entry(atom),)
                case Atom("line", bound=bound) if order == 1:
                    inner = self.items_with_names(atom.terms, kept)
                    script = within(bound, inner, "largest").script
                case Atom("poly") if order == 1:
                    script = self.items_with_names(atom.terms, kept).script
                case _:
                    raise Refused(f"{atom.kind} under other names has no proof in Rocq yet")
        one = Equation(left, right, script, single(out))
        return self.combined(lambda given: to_power(given[0], turns), single(out, p), one)

    def items_with_names(self, items: Items, new: Mapping[str, Form]) -> Equation:
        """A polynomial whose terms are in the order of another naming of indices."""
        about = [self.with_names(mono, new) for mono, _ in terms_of(dict(items))]
        return self.polynomial_of(about, items, dict(renamed_items(items, new)))

    def polynomial_of(self, inside: Sequence[Equation], items: Items, out: Poly) -> Equation:
        """A polynomial whose terms are changed."""
        numbers = [c for _, c in terms_of(dict(items))]
        return self.combined(lambda given: sum_text(numbers, given), out, *inside)

    def rewritten(self, step: Step, bound: Bound, factors: Factors, parts: Parts) -> Equation:
        """What a step makes of a sum. Raises `Refused` for a rule without a lemma."""
        if step["rule"] not in _SUMS:
            raise Refused(f"the rule {step['rule']} has no lemma in Rocq yet")
        return _SUMS[step["rule"]](self, step, bound, factors, parts)


def _delta(writer: Rewriter, step: Step, bound: Bound, factors: Factors, parts: Parts) -> Equation:
    """Σ_l [l = k] f(l) is f(k)."""
    atom, p = factors[step["factor"]]
    mono, place = frozenset(factors), step["index"]
    own, (index, size) = parts[0], bound[place]
    name, value = identifier(index), writer.solved(atom, index)
    assert value is not None
    behind, body = bound[place + 1 :], writer.text({mono: Fraction(1)})
    first = Equation(summed_text(bound, body), summed_text(bound, body))
    if names(value) & {other for other, _ in behind}:
        others = [k for k in range(len(bound)) if k != place]
        first = writer.moved(bound, [*others, place], body)
        bound, behind, place = [*(bound[k] for k in others), (index, size)], [], len(others)
    rest_poly: Poly = {mono - {(atom, p)}: Fraction(1)}
    condition, rest = f"({name} == {plain(nat(value))})%N%:R", writer.text(rest_poly)
    one = writer.algebra(_first, _by_rest, {mono: Fraction(1)}, single(atom), rest_poly)
    same = Equation(one.right, f"{condition} * ({rest})", ("congr (_%:R * _).", "conditions."))
    one = writer.chain(one, same if same.left != same.right else replace(same, script=()))
    one = _pulled(one, behind, body, condition, rest)
    inner = summed_text(behind, rest)
    lemma = f"sumto_delta (v := {nat(value)}) (g := fun {name} => {inner})"
    taken = Equation(
        summed_text(bound[place:], body),
        summed_text(behind, own.left, {index: nat(value)}),
        (f"apply: ({lemma}) => [|{name} lt{name}]; first by places.", *one.proof),
    )
    left = [(other, put(length, {index: value})) for other, length in behind]
    sized = Equation(taken.right, summed_text(left, own.left), ("congr (sumto _ _); places.",))
    sized = replace(sized, script=()) if sized.left == sized.right else sized
    moved = writer.chain(taken, sized, within(left, own))
    return writer.chain(first, within(bound[:place], moved))


def _first(given: Sequence[str]) -> str:
    return given[0]


def _by_rest(given: Sequence[str]) -> str:
    return f"{given[1]} * ({given[2]})"


def _by_both(given: Sequence[str]) -> str:
    return f"({given[1]}) * ({given[2]})"


def _pulled(one: Equation, inner: Bound, body: str, factor: str, rest: str) -> Equation:
    """From f = c g that c leaves the sums over these indices of f."""
    for k in reversed(range(len(inner))):
        name = identifier(inner[k][0])
        left = summed_text(inner[k:], body)
        right = f"{factor} * ({summed_text(inner[k:], rest)})"
        one = Equation(left, right, (f"apply: sumto_pull => {name} lt{name}.", *one.proof))
    return one


def _permute(
    writer: Rewriter, step: Step, bound: Bound, factors: Factors, parts: Parts
) -> Equation:
    """Σ_l f(l) is Σ_l f(π(l))."""
    place = step["index"]
    body = writer.text({frozenset(factors): Fraction(1)})
    name, back = step["by"]
    inner = parts[0]
    turned = summed_text(bound[place:], inner.left)
    one = Equation(
        summed_text(bound[place:], body),
        turned,
        (f"exact: (sumto_perm {identifier(name)}{'^-1' if back else ''}).",),
    )
    return writer.chain(within(bound[:place], one), within(bound, inner))


def _merge(writer: Rewriter, step: Step, bound: Bound, factors: Factors, parts: Parts) -> Equation:
    """C Σ_l f(l) is Σ_l c f(l)."""
    atom, p = factors[step["factor"]]
    rest = settled({**dict(factors), atom: p - 1})
    new = (parts[-1].bound or [])[len(bound) :]
    names_ = {name: variable(own) for (name, _), (own, _) in zip(atom.bound, new, strict=True)}
    inner: Poly = {renamed_mono(atom.mono, names_): Fraction(1)}
    product, factor = times(rest, inner), f"({writer.text(rest)})"
    one = writer.algebra(_first, _by_both, product, rest, inner)
    one = _pulled(one, new, writer.text(product), factor, writer.text(inner))
    named = within(new, writer.with_names(atom.mono, names_))
    power = turned(writer.as_power(atom))
    shown = writer.chain(
        Equation(f"{factor} * ({power.left})", "", times_script(power)),
        Equation(f"{factor} * ({power.right})", one.right, times_script(named)),
    )
    mono: Poly = {frozenset(factors): Fraction(1)}
    split = writer.algebra(_first, _by_both, mono, rest, single(atom))
    return within(bound, writer.chain(split, shown, turned(one)))


def _apart(writer: Rewriter, step: Step, bound: Bound, factors: Factors, parts: Parts) -> Equation:
    """A sum is a factor times another one, of which its rule says what it is."""
    mono: Poly = {frozenset(factors): Fraction(1)}
    places = step["indices"] if "indices" in step else [step["index"]]
    others = [k for k in range(len(bound)) if k not in places]
    run, body = Along.of(bound, factors, *places), writer.text(mono)
    first = writer.moved(bound, [*others, *places], body)
    left: Poly = {run.left: Fraction(1)}
    held: Poly = {frozenset(run.uses): Fraction(1)}
    factor = f"({writer.text(left)})"
    taken = writer.algebra(_first, _by_both, mono, left, held)
    taken = _pulled(taken, run.bound, body, factor, writer.text(held))
    one = _KNOWN[step["rule"]](writer, run, held, parts)
    before, after = (f"{factor} * ({side})" for side in (one.left, one.right))
    known = Equation(before, after, times_script(one))
    out = times(left, some(one.poly))
    last = writer.combined(lambda g: f"({g[0]}) * ({g[1]})", out, left, some(one.poly))
    return writer.chain(first, within(run.others, writer.chain(taken, known, last)))


def _counted(writer: Rewriter, run: Along, held: Poly, parts: Parts) -> Equation:
    """Σ_l 1 is the size."""
    count = f"{nat(run.size)}%:R"
    ones = Equation(summed_text(run.bound, "1"), f"{count} * 1", ("exact: sumto_const.",))
    script = ("by rewrite ?natrD ?natrM ?natrB ?sqr_sqrtr ?ler0n //; lia.",)
    size = writer.known(form_poly(run.size), count, script)
    return writer.chain(ones, writer.combined(lambda g: f"{g[0]} * 1", some(size.poly), size))


def _named(writer: Rewriter, run: Along, held: Poly, parts: Parts) -> Equation:
    """A sum is named by its places."""
    total = writer.canonical(run.bound, dict(run.uses))
    pairs = zip(run.bound, total.bound, strict=True)
    new = {name: variable(other) for (name, _), (other, _) in pairs}
    named = within(total.bound, writer.with_names(next(iter(held)), new))
    left = summed_text(run.bound, writer.text(held))
    return writer.chain(replace(named, left=left), writer.as_power(total))


def _said(writer: Rewriter, run: Along, held: Poly, parts: Parts) -> Equation:
    """A sum is what an assumed equation gives for it."""
    return writer.chain(_named(writer, run, held, parts), parts[0])


def unit_name(first: str, columns: bool, second: str) -> str:
    """The name of what is known of a product that is I, by columns of the first or by its rows."""
    words = [identifier(name.replace("⁻¹", "'inverse")) for name in (first, second)]
    return f"k'unit{int(columns)}_{'_'.join(words)}"


def _unit_pair(
    writer: Rewriter, run: Along
) -> tuple[tuple[Form, Form], tuple[Atom, Atom], tuple[str, bool, str]]:
    """Of a product that is I the outer indices, both entries, and what its name is made of."""
    ends, index = writer.ends(run.uses, run.index, run.size), variable(run.index)
    assert ends is not None
    i, j = ends
    uses = sorted((atom for atom, p in run.uses for _ in range(int(p))), key=str)
    for one, columns, other, rows in writer.units:
        first = Atom("entry", one, (index, i) if columns else (i, index))
        second = Atom("entry", other, (j, index) if rows else (index, j))
        if sorted((first, second), key=str) == uses:
            if columns and rows:  # B A of A B
                return (j, i), (second, first), (other, False, one)
            return ends, (first, second), (one, columns, other)
    raise Refused("this product is not known to be I")


def _identity(writer: Rewriter, run: Along, held: Poly, parts: Parts) -> Equation:
    """Σ_l a_il b_lj is [i = j] for a matrix and its inverse."""
    (i, j), pair, product = _unit_pair(writer, run)
    body = writer.algebra(_first, _by_rest, held, *map(single, pair))
    condition = f"({plain(nat(i))} == {plain(nat(j))})%N%:R"
    script = f"by apply: {unit_name(*product)}; places."
    known = Equation(summed_text(run.bound, body.right), condition, (script,))
    shown = writer.condition_is(condition, writer.delta(i, j))
    return writer.chain(within(run.bound, body), known, shown)


#: The proofs of what is known of a sum whose factors all hold its indices, by the rule of the step.
_KNOWN: Mapping[str, Callable[[Rewriter, Along, Poly, Parts], Equation]] = {
    "count": _counted,
    "hypothesis": _said,
    "identity": _identity,
    "separate": _named,
}

#: The proofs of what a sum is rewritten to, by the rule of the step.
_SUMS: Mapping[str, Callable[[Rewriter, Step, Bound, Factors, Parts], Equation]] = {
    "delta": _delta,
    "permute": _permute,
    "merge": _merge,
    **dict.fromkeys(_KNOWN, _apart),
}
