"""The proof of a certificate as a script of Rocq, another reader of the checker's run.

Every part of an entry becomes a polynomial over atoms, and every sum is rewritten by steps: each
is an `Equation`, whose proof is a lemma of `symattn.v`, the equations of its parts, or an
identity of polynomials over variables in the place of atoms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Checker
from symattn.algebra.forms import Env, Form, Refused, plus_form, times_form, variable
from symattn.algebra.polynomials import (
    Bound,
    constant,
    indices,
    indices_of,
    plus,
    renamed_items,
    scaled,
    single,
    times,
)
from symattn.algebra.rocq.assuming import Assuming
from symattn.algebra.rocq.divisors import COLUMN, ROW
from symattn.algebra.rocq.equations import (
    Equation,
    Induction,
    Piece,
    Pieces,
    Script,
    function,
    have,
    largest_text,
    nested,
    product_text,
    said,
    sized,
    some,
    sum_text,
    summed_text,
    turned,
    within,
)
from symattn.algebra.rocq.reasoning import Frame, proven
from symattn.algebra.rocq.terms import (
    FUNCTION_OF,
    bracketed,
    fraction,
    identifier,
    is_of_parts,
    nat,
    of_parts,
    plain,
    to_power,
)
from symattn.algebra.rocq.texts import operation, same_entry
from symattn.algebra.scope import Needs
from symattn.algebra.sums import Step
from symattn.algebra.texts import Atom, Items, Mono, Poly, atoms_of, read_form, terms_of
from symattn.nodes import rule as r
from symattn.nodes.recurrence import Recurrence
from symattn.step import HEAD


class Largest(Assuming):
    """A checker that proves what the largest entry of a row is."""

    def of_largest(
        self, rule: r.OfRow, env: Env, left: str, poly: Poly, inside: list[Any]
    ) -> Equation:
        """The largest of a row, which is all in one part."""
        match inside:
            case [Pieces(parts=[Piece(alone=False, blocks=(), inside=[value]) as piece]), one]:
                here = within([(piece.index, piece.count)], value, "largest")
                whole = sized(left, self.index_text(rule.size, env), piece.count)
                return self.chain(whole, here, replace(one, poly=poly))
        raise Refused("the largest of a row in parts has no proof in Rocq yet")

    @proven(Checker.line)
    def line(
        self, inside: Frame, out: Poly, name: str, body: Poly, index: str, size: Form
    ) -> Equation:
        return replace(self.of_line(body, (index, size), out, inside), bound=[(index, size)])

    def of_line(
        self, body: Poly, pair: tuple[str, Form], out: Poly, inside: list[Equation]
    ) -> Equation:
        """The largest of k a_l + c along l is k max_l a_l + c for k ≥ 0."""
        index, _ = pair
        left = largest_text(pair, self.text(body))
        outer = {mono: c for mono, c in body.items() if index not in indices_of(mono)}
        inner = plus(body, scaled(outer, -1))
        if not inner:
            return self.known(out, left, ("by apply: largest_const; lia.",))
        factor = self.scale(inner, index)
        inner = times(inner, self.power(factor, Fraction(-1)))

        def affine(given: Sequence[str]) -> str:
            return f"({given[0]}) * ({given[1]}) + ({given[2]})"

        apart = self.algebra(lambda g: g[0], lambda g: affine(g[1:]), body, factor, inner, outer)
        name, top = identifier(index), self.of_top(inner, pair, inside)
        words = [self.text(one) for one in (factor, outer)]
        taken = Equation(
            left,
            affine([words[0], top.left, words[1]]),
            (
                f"apply: (largest_affine (c := {words[0]})) => [||{name} lt{name}]; [lia|nn|].",
                *apart.proof,
            ),
        )
        return self.chain(taken, self.combined(affine, out, factor, top, outer))

    def of_top(self, inner: Poly, pair: tuple[str, Form], inside: list[Equation]) -> Equation:
        """The largest along an index as an atom, or as e to one."""
        left = largest_text(pair, self.text(inner))
        if inside:  # of e^x it is e to the largest x
            (top,) = inside
            self.laws.add("grows")
            ((mono, _),) = inner.items()
            up = turned(self.of_power({atom.mono: p for atom, p in mono}))
            moved = within([pair], up, "largest")
            risen = Equation(moved.right, f"e ({top.left})", ("by apply: largest_ex => //; lia.",))
            whole = self.applied_to(top, "e")
            return self.chain(moved, risen, whole, self.of_power(some(top.poly)))
        atom = self.named_line("max", inner, *pair)
        (bound,) = atom.bound
        new = {pair[0]: variable(bound[0])}
        if atom.terms != renamed_items(inner.items(), new):
            raise Refused("the largest of permuted entries has no proof in Rocq yet")
        named = within([bound], self.items_with_names(frozenset(inner.items()), new), "largest")
        return self.chain(
            Equation(left, named.left), self.known(single(atom), named.left, named.script)
        )


class States(Largest):
    """A checker that proves what the states of recurrences are."""

    def moved_places(self, indices: Sequence[r.Index], env: Env) -> tuple[Script, Sequence[str]]:
        """Indices as a rule has them become the places that they are."""
        places = [nat(self.at(one, env)) for one in indices]
        pairs = zip([self.index_text(one, env) for one in indices], places, strict=True)
        return tuple(
            f"rewrite (_ : {one} = {other}); last by places."
            for one, other in pairs
            if one != other
        ), places

    def of_state(self, rule: r.Entry, env: Env, left: str, known: str, meant: Equation) -> Equation:
        """An entry of a state, which is that of its closed form."""
        moved, places = self.moved_places((rule.head, rule.row, rule.column), env)
        words = " ".join(f"{place} ltac:(lia)" for place in places)
        script = (*moved, f"same_sizes ({known} {words}).")
        return self.chain(Equation(left, meant.left, script), meant)

    def induced(self, name: str, states: Recurrence) -> MatrixExpr:
        with self.framed() as inside:
            closed = super().induced(name, states)
        if name not in {one.name for one in self.inductions}:
            (found,) = inside
            before, known = self.states[name, closed], self.fresh("is")
            self.states[name, closed] = known
            places = {ROW: variable("#i"), COLUMN: variable("#j"), HEAD: variable("#t")}
            value = self.rule_text(r.rule_of(closed, ROW, COLUMN), places)
            self.inductions.append(Induction(name, value, found, before, known))
        return closed

    def inherits(self, closed: MatrixExpr, states: Recurrence, t: Form, i: Form, j: Form) -> None:
        if closed in self.recurrences:
            raise Refused("states without a closed form have no proof in Rocq yet")
        name = str(states.letter)
        if (name, closed) not in self.states:
            self.states[name, closed] = self.fresh("before")
        super().inherits(closed, states, t, i, j)


class Entries(States):
    """A checker that proves what entry rules are."""

    def entry(self, expr: sympy.Basic, i: Form, j: Form, head: Form | None = None) -> Poly | None:
        self.comments.entry = self.comments.entry or (i, j)
        return super().entry(expr, i, j, head)

    @proven(Checker.scalar)
    def scalar(
        self, inside: Frame, poly: Poly, value: sympy.Expr, env: Env | None = None
    ) -> Equation:
        value, env = sympy.sympify(value, strict=True), env or {}
        if isinstance(value, sympy.Pow) and value.exp.is_Integer and value.exp < 0:
            self.not_zero(inside[0], env)
        if is_of_parts(value):
            return self.combined(lambda texts: of_parts(value, texts), poly, *inside)
        if type(value) in FUNCTION_OF:
            return self.of_function(FUNCTION_OF[type(value)], inside[0], poly)
        left, right = self.rule_text(r.Const(value), env), self.text(poly)
        if value in env:
            return self.known(poly, left, ("by rewrite ?natrD ?natrM.",))
        if any(len(mono) > 1 or atom[:2] == ("fn", "abs") for mono in poly for atom, _ in mono):
            raise Refused("a root of a product has no proof in Rocq yet")
        same = bracketed(left).strip("()") == bracketed(right).strip("()")
        return Equation(left, right, () if same else ("by roots.",), poly)

    @proven(Checker.value)
    def value(self, inside: Frame, poly: Poly | None, rule: r.Rule, env: Env) -> Equation:
        one = self.of_rule(rule, env, poly, inside)
        comment = self.comments.of_rule(rule, env, poly) if one.script else ""
        return replace(one, poly=poly, rule=rule, comment=comment)

    def of_rule(self, rule: r.Rule, env: Env, poly: Poly | None, inside: list[Any]) -> Equation:
        """The equation of a rule, from those of its parts."""
        left = self.rule_text(rule, env)
        match rule:
            case r.Entry():
                return self.of_entry(rule, env, left, some(poly), inside)
            case r.Named():
                return self.chain(Equation(left, inside[0].left), inside[0])
            case r.Const() if poly is None:
                return Equation(left, "None")
            case r.Const() | r.Ordinal():
                return inside[0]  # type: ignore[no-any-return]
            case r.Plus() if self.may_hide(rule):
                return self.of_hidden(left, poly, inside)
            case r.Exp(body) if self.may_hide(body):
                return self.of_hidden_exp(left, inside[0])
            case r.Exp():
                return self.of_function("e", inside[0], some(poly))
            case r.Apply(name):
                return self.of_function(name, inside[0], some(poly))
            case r.Total():
                return self.of_total(rule, env, left, some(poly), inside)
            case r.Cases():
                return self.of_cases(rule, env, left, poly, inside)
            case r.OfRow():
                return self.of_largest(rule, env, left, some(poly), inside)
        if isinstance(rule, r.Over):
            inside = inside[::-1]
            self.not_zero(inside[1], env)
        return self.combined(lambda texts: operation(rule, texts), some(poly), *inside)

    def of_entry(
        self, rule: r.Entry, env: Env, left: str, poly: Poly, inside: list[Equation]
    ) -> Equation:
        """An entry of what a letter stands for, or one whose places are spelled otherwise."""
        if inside:
            (meant,) = inside
            name = getattr(rule.matrix, "name", "")
            if known := self.states.get((name, self.here.means.get(name))):
                return self.of_state(rule, env, left, known, meant)
            if name in self.ties:
                script = f"rewrite {self.ties[name]} ?head_rowsE //; congr (ent _ _ _); places."
                return self.chain(Equation(left, meant.left, (script,)), meant)
            moved, _ = self.moved_places((rule.row, rule.column), env)
            return self.chain(
                Equation(left, meant.left, (*moved, "by [].") if moved else ()), meant
            )
        atom = next((atom for mono in poly for atom, _ in mono), Atom("δ"))
        if atom.kind == "δ":  # of a permutation
            return self.condition_is(left, poly)
        rooted = self.orders.get(atom, 1) > 1
        script = "by roots." if rooted else same_entry(atom)
        return self.known(poly, left, (script,))

    def of_hidden(self, left: str, poly: Poly | None, inside: list[Equation]) -> Equation:
        """A sum with what may be −∞."""
        script: Script = ()
        lifted = [one for one in map(self.lifted, inside) if one.script]
        named = [self.fresh("M") for _ in lifted]
        for name, one in zip(named, lifted, strict=True):
            script += have(name, one, " :> score R")
        rewriting = f"rewrite {' '.join([*named, '/='])}."
        if poly is None:
            return Equation(left, "None", (*script, f"by {rewriting}"))
        added = self.combined(
            lambda given: " + ".join(map(bracketed, given)),
            poly,
            *(self.known(one.poly) for one in inside),
        )
        script = (*script, rewriting, "congr Some.", *added.proof)
        return Equation(left, f"Some ({self.text(poly)})", script)

    def of_cases(
        self, rule: r.Cases, env: Env, left: str, poly: Poly | None, inside: list[Equation]
    ) -> Equation:
        """A value by a condition."""
        condition = self.condition(rule, env)
        places = [self.place_value(side, env) for side in (rule.left, rule.right)]
        if len(inside) == 2:
            same = self.condition_is(f"{condition}%:R", self.delta(*places))

            def either(given: Sequence[str]) -> str:
                return f"{given[0]} * ({given[1]}) + (1 - {given[0]}) * ({given[2]})"

            texts = (self.rule_text(one, env) for one in (rule.value, rule.otherwise))
            taken = Equation(left, either([f"{condition}%:R", *texts]), ("exact: if_either.",))
            return self.chain(taken, self.combined(either, some(poly), same, *inside))
        (value,) = inside
        holds = (
            value.rule is rule.value
            if rule.value is not rule.otherwise
            else self.is_so(rule, places)
        )
        kind = " :> R"
        if self.may_hide(rule):
            value, kind = self.lifted(value), " :> score R"
        decided = f"rewrite (_ : {condition} = {'true' if holds else 'false'}); last by places."
        script = (f"change ({said(value, kind)}).", *value.proof)
        if re.search(r"\d*[^\W\d_]", condition.removesuffix("%N")):  # of numbers it is computed
            script = (decided, *script)
        return Equation(left, value.right, script)

    def is_so(self, rule: r.Cases, places: Sequence[Form]) -> bool:
        """Whether a condition holds, where both values are the same."""
        if rule.sign == "≤":
            return self.nonnegative(plus_form(places[1], places[0], -1))
        return self.delta(*places) == constant(1)

    @proven(Checker.in_part)
    def in_part(
        self, inside: Frame, out: tuple[object, Bound], low: Form, count: Form, evaluated: object
    ) -> Piece:
        _, ((index, _),) = out
        at = plus_form(low, variable(index)) if index else low
        return Piece(at, index or f"#{self.fresh('one')}", count, not index, inside)

    @proven(Checker.in_parts)
    def in_parts(self, parts: Frame, out: object, size: Form, evaluated: object) -> Pieces:
        return _of_blocks(size, *parts) if "width" in parts.step else Pieces(size, parts)

    def of_total(
        self, rule: r.Total, env: Env, left: str, poly: Poly, inside: list[Any]
    ) -> Equation:
        """A sum of a rule: over the parts of its range, and each of these rewritten."""
        pieces, *sums = inside
        heads = []
        for piece, one in zip(pieces.parts, sums, strict=True):
            (value,) = piece.inside
            over = within(piece.bound, value)
            alone = Equation(over.right, value.right, ("exact: sumto_one.",), one.poly)
            rewritten = self.chain(over, alone if piece.alone else one)
            heads.append(replace(rewritten, poly=one.poly))
        whole = sized(left, self.index_text(rule.size, env), pieces.size)
        cut = self.cut(rule, env, whole.right, pieces)
        added = heads[0] if len(heads) == 1 else self.combined(nested, poly, *heads)
        return self.chain(whole, cut, added)

    def cut(self, rule: r.Total, env: Env, left: str, pieces: Pieces) -> Equation:
        """A sum as the sums over the parts of its range."""

        def at(place: Form) -> str:
            return self.rule_text(rule.body, {**env, rule.index: place}, False, 1)

        def over(piece: Piece) -> str:
            return summed_text(piece.bound, at(piece.at))

        every = f"(fun {identifier('#whole')} => {at(variable('#whole'))})"
        *before, last = pieces.parts
        parts = nested([*map(over, pieces.parts)])
        if last.blocks:
            return Equation(left, parts, (_in_blocks(pieces, every, at(last.at)),))
        if not before and not last.alone:
            return Equation(left, parts)
        start, script = "(fun l => l)", list[str]()
        for piece in before:
            own, count = function(piece.at, piece.index), nat(piece.count)
            lemma = f"@sumto_cut _ {every} _ {count} {start} {own} _"
            script.append(f"apply: ({lemma}) => [|? ?|]; [places|places|].")
            start = f"(fun l => {start} ({plain(count)} + l)%N)"
        lemma = f"@sumto_rest _ {every} _ _ {start} {function(last.at, last.index)}"
        return Equation(left, parts, (*script, f"apply: ({lemma}) => [|? ?]; places."))


def _in_blocks(pieces: Pieces, every: str, body: str) -> str:
    """The proof that a sum is one over blocks and places in them."""
    (piece,) = pieces.parts
    own = [identifier(name) for name, _ in piece.bound]
    function = f"{every} (fun {' '.join(own)} => {body})"
    intro = " ".join([*own, *(f"lt{one}" for one in own)])
    lemma = f"@sumto_blocks _ {nat(pieces.size)} {piece.sizes} {function}"
    return f"apply: ({lemma}) => [|{intro}]; [lia|blocks]."


def _of_blocks(size: Form, blocks: Pieces) -> Pieces:
    """A range in blocks, from the blocks and the places in each."""
    match [(block, places.parts) for block in blocks.parts for places in block.inside]:
        case [(block, [place])] if not (block.alone or place.alone):
            at = plus_form(times_form(block.at, place.count), place.at)
            outer = [(block.index, block.count)]
            return Pieces(size, [replace(place, at=at, blocks=outer)])
    raise Refused("blocks that are cut have no proof in Rocq yet")


class ProofWriter(Entries):
    """A checker whose run is a proof."""

    @proven(Checker.summed)
    def summed(self, inside: Frame, out: Poly, bound: Bound, poly: Poly) -> Equation:
        bound = [pair for pair in bound if pair[0]]
        if not bound:
            return replace(self.known(poly), bound=bound)
        one = self.chain(self.linear(bound, poly), self.weighted(poly, out, inside))
        return replace(one, poly=out, bound=bound)

    @proven(Checker.total)
    def total(self, inside: Frame, out: Poly, bound: Bound, mono: Mono) -> Equation:
        step = inside.step
        one = self.chain(self.rewritten(step, bound, atoms_of(mono), inside), inside[-1])
        said = self.comments.of_sum(bound, mono, out) if one.script else ""
        return replace(one, poly=out, comment=f"{step['rule']}: {said}" if said else "")

    @proven(Checker.substituted)
    def substituted(
        self, inside: Frame, out: Poly, mono: Mono, values: Mapping[str, Form]
    ) -> Equation:
        factors = atoms_of(mono)
        about: list[Equation | Poly] = []
        turned: list[int] = []
        for (atom, p), one in zip(factors, inside, strict=True):
            turns, order = self.rooted_power(atom, p)
            if not indices(atom) & set(values):
                about.append({frozenset({(atom, p)}): Fraction(1)})
                turned.append(1)
            else:
                about.append(one if order == 1 else self.root_of(one, order))
                turned.append(turns)

        def template(given: Sequence[str]) -> str:
            words = [to_power(*pair) for pair in zip(given, turned, strict=True)]
            return product_text(words)

        return self.combined(template, out, *about)

    def root_of(self, one: Equation, order: int) -> Equation:
        """The root of both sides of an equation whose right side is an atom."""
        inner = some(one.poly)
        if order > 2 or len(inner) != 1:
            raise Refused("a root that an index is put in for has no proof in Rocq yet")
        poly, name = self.power(inner, Fraction(1, 2)), self.fresh("Q")
        script = (*have(name, one), f"apply: (sqrt_of _ (esym {name})); nn.")
        return self.known(poly, f"Num.sqrt ({one.left})", script)

    @proven(Checker.changed)
    def changed(self, inside: Frame, out: Poly, atom: Atom, values: Mapping[str, Form]) -> Equation:
        places = {name: nat(one) for name, one in values.items()}
        left = self.atom(atom, places) if atom.kind != "exp" else self.base(atom, 1, places)
        if not indices(atom) & set(values):
            return self.known(out, left)
        match atom:
            case Atom("entry"):
                one = self.known(out, left, (same_entry(atom),))
            case Atom("index"):
                one = self.known(out, left, ("by rewrite ?natrD ?natrM.",))
            case Atom("δ"):
                one = self.condition_is(left, out)
            case Atom("exp"):
                one = self.of_function("e", inside[0], out)
            case Atom("sum" | "line"):
                body, whole = inside
                word = "sumto" if atom.kind == "sum" else "largest"
                one = self.chain(replace(within(whole.bound, body, word), left=left), whole)
            case Atom("poly"):
                (one,) = inside
            case Atom("fn", name):
                one = self.of_function(name, inside[0], out)
            case _:
                raise Refused(f"{atom.name} of another index has no proof in Rocq yet")
        return replace(one, poly=out)

    @proven(Checker.polynomial)
    def polynomial(
        self, inside: Frame, out: Poly, items: Items, values: Mapping[str, Form]
    ) -> Equation:
        return self.polynomial_of(inside, items, out)

    def exp(self, poly: Poly) -> Poly:
        with self.framed():  # what it works out has equations of its own here
            return super().exp(poly)

    @proven(Checker.said)
    def said(self, inside: Frame, said: tuple[Poly, Needs], step: Step, atom: Atom) -> Equation:
        (one, other), (out, _) = inside, said
        at = " ".join(nat(read_form(text)) for text in step["at"])
        script = (f"exact: (k'known{step['equation']} {at} ltac:(places) ltac:(places)).",)
        given = Equation(one.left, other.left, script)
        found = self.chain(turned(one), given, replace(other, poly=out))
        ((_, c),) = one.poly.items()
        if c != 1:
            factor = f"({'- ' if c < 0 else ''}{fraction(abs(1 / c))})"

            def template(given: Sequence[str]) -> str:
                return f"{factor} * ({given[-1]})"

            alone = self.algebra(lambda g: g[0], template, single(atom), one.poly)
            found = replace(found, poly=other.poly)
            found = self.chain(alone, self.combined(template, out, found))
        return replace(found, poly=out)

    @proven(Checker.simplified)
    def simplified(self, inside: Frame, out: Poly | None, left: Poly) -> Equation:
        step, terms = inside.step, terms_of(left)
        match step["rule"]:
            case "zero":
                one = self.algebra(lambda g: g[0], lambda g: "0", left)
            case "meet":
                about: list[Poly | Equation] = [{mono: Fraction(1)} for mono, _ in terms]
                about[step["term"]] = self.met(step, terms[step["term"]][0], inside[0])
                numbers = [c for _, c in terms]
                one = self.combined(lambda g: sum_text(numbers, g), out or {}, *about)
            case rule:
                raise Refused(f"the rule {rule} has no lemma in Rocq yet")
        said = self.comments.of_difference(left, out or {})
        return replace(one, comment=f"{step['rule']}: {said}" if said else "")

    def met(self, step: Step, mono: Mono, moved: Equation) -> Equation:
        """[i = j] f(i) is [i = j] f(j)."""
        atom, p = atoms_of(mono)[step["factor"]]
        rest: Poly = {mono - {(atom, p)}: Fraction(1)}
        whole: Poly = {mono: Fraction(1)}
        value, index = self.solved(atom, step["index"]), identifier(step["index"])
        assert value is not None
        apart = self.algebra(
            lambda g: g[0], lambda g: f"{g[1]} * ({g[2]})", whole, single(atom), rest
        )
        name = self.fresh("met")
        script = (
            f"apply: delta_meet => {name}.",
            f"by rewrite (_ : {index} = {nat(value)}) //; places.",
        )
        right = f"{self.text(single(atom))} * ({moved.left})"
        same = Equation(apart.right, right, script)
        put_in = self.combined(
            lambda g: f"{g[0]} * ({g[1]})",
            times(single(atom), some(moved.poly)),
            single(atom),
            moved,
        )
        return self.chain(apart, same, put_in)

    def vanishes(self, difference: Poly) -> None:
        sides = [*self.frames[-1]]
        self.frames[-1].clear()
        if len(sides) != 2:
            raise Refused(
                "what follows from products of assumed equations has no proof in Rocq yet"
            )
        super().vanishes(difference)
        self.comments.entry = ()
        steps = [*self.frames[-1]]
        self.frames[-1].clear()
        left, right = sides
        if len(steps) == 1:
            middle = self.algebra(lambda g: g[0], lambda g: g[1], some(left.poly), some(right.poly))
        else:
            apart = self.algebra(
                lambda g: f"({g[0]}) - ({g[1]})",
                lambda g: g[2],
                some(left.poly),
                some(right.poly),
                difference,
            )
            gone = self.chain(apart, *steps)
            middle = Equation(left.right, right.right, ("apply/subr0_eq.", *gone.proof))
        self.keep(self.chain(left, middle, turned(right)))
