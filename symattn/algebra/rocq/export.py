"""The theorem of an equation: the statement about MathComp's matrices, and its proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Checker, Replay
from symattn.algebra.claims import Goal, Slope, cases, decoded, goal_of, inverses, meant, read_size
from symattn.algebra.forms import Form, Refused, linear, number, plus_form, variable
from symattn.algebra.kinds import Data
from symattn.algebra.proof_lines import renamed
from symattn.algebra.rocq.comments import Comments, spelled
from symattn.algebra.rocq.divisors import COLUMN, ROW, Divisor, divided, divisors_of
from symattn.algebra.rocq.equations import (
    Equation,
    Induction,
    Piece,
    Pieces,
    have,
    indented,
    turned,
)
from symattn.algebra.rocq.slopes import Slopes
from symattn.algebra.rocq.sums import unit_name
from symattn.algebra.rocq.terms import bracketed, identifier, matrix, nat, size, sizes_in
from symattn.algebra.texts import Atom
from symattn.algebra.traces import Tracing
from symattn.nodes.defined import COLUMN_NUMBER, ROW_NUMBER
from symattn.nodes.heads import Concat, Head, Split, heads_in
from symattn.nodes.recurrence import Recurrence, is_recurrence
from symattn.step import HEAD

#: What theorems say of e^x and ln besides the laws that they always have.
LAWS: Mapping[str, str] = {
    "grows": "(forall x, 1 + x <= e x)",
    "slope_e": "(slope_e e)",
    "slope_ln": "(slope_ln ln)",
}


class Exporting(Replay):
    """A replay that keeps the equations of its run."""

    def __init__(
        self,
        goal: Goal,
        uses: Sequence[Data],
        orders: dict[Atom, int],
        empty: frozenset[str],
        known: Mapping[str, str] = {},
        steps: Sequence[Data] = (),
    ) -> None:
        super().__init__(goal, uses, False)
        self.orders, self.comments, self.empty = orders, Comments(self.goal), empty
        self.divisors = _divided(goal, steps)
        #: Identities by what they say; those that are known stand in the file already.
        self.known, self.identities = known, {**known}
        self.writers: list[Any] = []

    def entries(self, checker: Checker, goal: Goal, cofactors: Sequence[Data]) -> None:
        found = _divided(goal, checker.left)
        if [one.sign for one in found] != [one.sign for one in self.divisors]:
            raise Refused("divisors that depend on cases of sizes have no proof in Rocq yet")
        checker.divisors = found  # type: ignore[attr-defined]
        self.writers.append(checker)
        super().entries(checker, goal, cofactors)

    def checker(self, steps: Sequence[Data], positive: Sequence[str] = ()) -> Checker:  # type: ignore[override]
        """A checker whose run becomes a script."""
        out = Slopes(steps, positive, self.orders, self.comments, self.divisors)
        out.here, out.identities = replace(out.here, empty=self.empty), self.identities
        out.ties = {name: f"k'tied_{identifier(name)}" for name in ties(self.goal)}
        return out


def equation(certificate: Data, name: str, known: Mapping[str, str]) -> Document:
    """The theorem of an equation, in a file that has the known identities already."""
    goal, uses, proof = goal_of(certificate["statement"]), certificate["uses"], certificate["proof"]
    sides, _ = sides_of(goal), states_of(goal)  # of one name each
    if sides[0] == sides[1]:
        raise Refused("both sides are the same expression, so that a theorem would say nothing")
    if certificate["letters_only"] and not proof.get("same"):
        proof = Tracing(goal, uses, False).proof(goal, [])
    wide = {str(size) for size in getattr(goal.left, "shape", ())}  # an entry is within them
    blocks = {node for side in sides for node in side.atoms(Concat)}  # entries in blocks
    needed = divided(goal, sides) | {*_counted(proof)}
    needed |= {size.name for one in blocks for size in one.shape[one.axis].free_symbols}
    sizes = [one for one in sizes_in(sides) if one not in wide | needed]
    replay = _freest((goal, uses, proof, known), sizes)
    kind = Derivative if isinstance(goal.left, Slope) else Document
    document = kind(replay, name, proof)
    document.empty = replay.empty.union(wide - needed)
    return document


def _counted(proof: Data) -> Iterator[str]:
    """The sizes that are compared with numbers. Raises `Refused` for one that has to be even."""
    if "half" in proof:
        raise Refused("an even size has no proof in Rocq yet")
    if "split" in proof:
        if read_size(proof["least"]).is_Integer:
            yield proof["split"]
        yield from chain.from_iterable(map(_counted, proof["cases"]))


#: A statement, the uses of its equations, its proof, and the identities that a file has.
Proof: TypeAlias = tuple[Goal, Sequence[Data], Data, Mapping[str, str]]


def _freest(proof: Proof, sizes: Sequence[str]) -> Exporting:
    """The replay of a proof in which as many as can be of these sizes may be 0."""
    with suppress(Refused):
        return _replayed(proof, frozenset(sizes))
    replay = _replayed(proof, frozenset())
    for one in sizes:
        with suppress(Refused):
            replay = _replayed(proof, replay.empty | {one})
    return replay


def _replayed(proof: Proof, empty: frozenset[str]) -> Exporting:
    """The replay of a proof in which these sizes may be 0. Raises `Refused` where they may not."""
    goal, uses, data, known = proof
    orders: dict[Atom, int] = {}
    while True:
        before = dict(orders)
        replay = Exporting(goal, uses, orders, empty, known, data.get("steps", ()))
        replay.check(data, replay.goal)
        if orders == before:
            return replay


def ties(goal: Goal) -> dict[str, MatrixExpr]:
    """The letters of heads that are another letter, or its rows."""
    steps = dict(step for steps in goal.steps for step in steps)
    parts = [goal.left, goal.right, *steps.values()]
    heads = {one.name for part in parts for one in heads_in(part)}
    kinds = (sympy.MatrixSymbol, Head, Split)
    return {name: one for name, one in steps.items() if name in heads and isinstance(one, kinds)}


def sides_of(goal: Goal) -> list[sympy.Basic]:
    """The sides, the steps of a derivation being put in for their letters; those of equations."""
    steps = [_put_in(goal, steps) for steps in goal.steps]
    sides = zip((goal.left, goal.right), steps, strict=True)
    equations = [side for pair in goal.where for side in pair]
    return [*(_without_steps(side, steps) for side, steps in sides), *equations]


def states_of(goal: Goal) -> dict[str, Recurrence]:
    """The recurrences, earlier steps of a derivation being put in for their letters."""
    found: dict[str, Recurrence] = {}
    for steps in goal.steps:
        plain = _put_in(goal, steps)
        for name, expr in steps:
            if (
                is_recurrence(expr)
                and found.setdefault(name, one := _without_steps(expr, plain)) != one
            ):
                raise Refused(f"two recurrences that are called {name} have no proof in Rocq yet")
    return found


def _divided(goal: Goal, steps: Sequence[Data]) -> list[Divisor]:
    """What is divided by; the steps of a proof have the closed forms of its recurrences."""
    states = states_of(goal)
    found = {step["of"].partition("[")[0]: step for step in steps if step["rule"] == "induction"}
    closed = {
        name: decoded(found[name]["closed"], one.free_symbols)
        for name, one in states.items()
        if name in found
    }
    bodies = [part for one in states.values() for part in (one.start, one.matrix)]
    return divisors_of(goal, [*sides_of(goal), *bodies], closed)


def _put_in(goal: Goal, steps: Sequence[tuple[str, sympy.Basic]]) -> list[tuple[str, sympy.Basic]]:
    """The steps that have no letter in a theorem."""
    tied = ties(goal)
    return [step for step in steps if step[0] not in tied and not is_recurrence(step[1])]


class Document:
    """A theorem, what it says and assumes, and its proof."""

    def __init__(self, replay: Exporting, name: str, proof: Data) -> None:
        self.goal, self.uses, self.divisors = replay.goal, replay.uses, replay.divisors
        self.writers = replay.writers
        self.name, self.data = name, proof
        self.known, self.found = replay.known, replay.identities
        #: The sizes that may be 0.
        self.empty = replay.empty
        #: The laws of e^x besides those of all theorems.
        self.laws = {law for writer in self.writers for law in writer.laws}
        parts = sides_of(self.goal)
        self.sides, self.ties, self.states = parts[:2], ties(self.goal), states_of(self.goal)
        parts += [*self.ties.values(), *self.states.values()]
        found = {s for part in parts for s in part.atoms(sympy.MatrixSymbol)}
        found |= {sympy.MatrixSymbol(name, *one.shape) for name, one in self.states.items()}
        #: The letters of which there is one for each head or token.
        self.heads = {one.name for part in parts for one in heads_in(part)} | {*self.states}
        if any(one.heads.is_Integer for part in parts for one in part.atoms(Concat)):
            raise Refused("heads whose number is known have no proof in Rocq yet")
        if self.heads & {name for part in parts for name in _plain(part)}:
            raise Refused("a matrix of each head that is one of all heads has no type in Rocq")
        self.letters = sorted(found, key=lambda one: one.name)
        self.sizes = sizes_in(parts)
        symbols = {s for part in parts for s in part.free_symbols if isinstance(s, sympy.Symbol)}
        bound = {HEAD, ROW_NUMBER, COLUMN_NUMBER, *(one.letter for one in self.states.values())}
        numbers = {s for s in symbols if s.name not in self.sizes and s not in bound}
        self.numbers = sorted(numbers, key=str)

    def lines(self, kind: str = "Theorem") -> list[str]:
        """The identities that it needs, the theorem or lemma, and its proof."""
        theorem = [f"{kind} {self.statement()}.", *self.proof()]  # it names identities
        found = (pair for pair in self.found.items() if pair[0] not in self.known)
        return [*(f"Lemma {name} : {text}" for text, name in found), *theorem]

    def said(self) -> Iterator[str]:
        """What is assumed besides, in the letters of the statement."""
        filled = [one for one in self.sizes if one not in self.empty]
        if filled:
            yield f"where {', '.join(filled)} ≥ 1"
        own = {ROW: sympy.Symbol("i", integer=True), COLUMN: sympy.Symbol("j", integer=True)}
        for one in self.divisors:
            rule = renamed(one.value, own, [*"ltrsuqw"])
            what = {"!=": "≠", "<=": "≥", "<": ">"}[one.sign]
            yield (
                f"where {spelled(rule)} {what} 0"
                if not one.inverted
                else (f"where {one.inverted} has an inverse")
            )

    def variables(self) -> str:
        """The sizes, letters and numbers of the statement."""
        words = [f"({' '.join(map(identifier, self.sizes))} : nat)"] if self.sizes else []
        for one in self.letters:
            rows, columns = map(size, one.shape)
            permutes = one.name in self.goal.permuting
            kind = f"'S_{rows}" if permutes else f"'M[R]_({rows}, {columns})"
            kind = f"nat -> {kind}" if one.name in self.heads else kind
            words.append(f"({identifier(one.name)} : {kind})")
        if self.numbers:
            words.append(f"({' '.join(identifier(s.name) for s in self.numbers)} : R)")
        return " ".join(words)

    def assumed(self) -> Iterator[tuple[str, str]]:
        """What is assumed, and its name: sizes, positive letters, equations."""
        for law in sorted(self.laws):
            yield LAWS[law], f"k'{law}"
        for k, one in enumerate(self.sizes):
            if one not in self.empty:
                yield f"(0 < {identifier(one)})%N", f"k'size{k}"
        for one in self.letters:
            name = identifier(one.name)
            if one.name in self.goal.positive:
                yield f"(forall i j, 0 < {name} i j)", f"k'{name}_gt0"
        for s in self.numbers:
            if s.is_positive:
                yield f"0 < {identifier(s.name)}", f"k'{identifier(s.name)}_gt0"
        for tied, meaning in self.ties.items():
            said = f"{identifier(tied)} head = {matrix(meaning)}"
            yield f"(forall head, {said})", f"k'tied_{identifier(tied)}"
        for name, states in self.states.items():
            start, body = (matrix(one) for one in (states.start, states.matrix))
            said = f"{identifier(name)} {bracketed(start)} (fun head before => {body})"
            yield f"recurs {said}", f"k'recurs_{identifier(name)}"
        for k, (one, other) in enumerate(self.goal.where):
            sides = (matrix(side, self.goal.permuting) for side in (one, other))
            yield " = ".join(f"({one})" if " : " in one else one for one in sides), f"k'assumed{k}"
        for k, divisor in enumerate(self.divisors):
            yield divisor.hypothesis, f"k'divisor{k}"

    def statement(self) -> str:
        """What the theorem says."""
        return f"{self.name} {self.variables()} :\n  {self.hypotheses()}{self.relation()}"

    def hypotheses(self) -> str:
        """All that is assumed."""
        return "".join(f"{one} ->\n  " for one, _ in self.assumed())

    def relation(self) -> str:
        """Both sides and the sign between them."""
        kind = "" if isinstance(self.goal.left, MatrixExpr) else " :> R"
        left, right = map(self.side, self.sides)
        return f"{left}\n  = {right}{kind}"

    def side(self, expr: sympy.Basic) -> str:
        """A side, in brackets where it ends with its type."""
        text = matrix(expr, self.goal.permuting)
        return f"({text})" if " : " in text else text

    def proof(self) -> Iterator[str]:
        """The proof of the statement."""
        for kind, *_ in self.uses:
            if kind not in ("letter", "number", "known", "orthonormal"):
                raise Refused(f"an assumed equation ({kind}) has no proof in Rocq yet")
        yield "Proof."
        yield from self.introduced()
        known = [use for use in self.uses if use[0] == "known"]
        for number_, (_, k, flipped) in enumerate(known):
            given = f"(esym k'assumed{k})" if flipped else f"k'assumed{k}"
            yield f"known_entries {given} k'known{number_}."
        defines = [use for use in self.uses if use[0] in ("letter", "number")]
        yield from (f"subst {self._defined(use)}." for use in defines)
        yield from (f"unit_entries {proof} {name}." for name, proof in self._units())
        yield from self.signed()
        if not self.writers:
            yield "by []."
        else:
            yield from self.cases(self.data, iter(self.writers))
        yield "Qed."

    def introduced(self) -> Iterator[str]:
        """The names of what is assumed, and that letters are positive, of entries at numbers."""
        names = [name for _, name in self.assumed()]
        if names:
            yield f"move=> {' '.join(names)}."
        positive = (one.name for one in self.letters if one.name in self.goal.positive)
        for name in map(identifier, positive):
            yield f"sign_entries k'{name}_gt0 k'{name}_gt0'."

    def signed(self) -> Iterator[str]:
        """What is assumed of all entries of a divisor is said of those at numbers."""
        names = (f"k'divisor{k}" for k, one in enumerate(self.divisors) if one.shape)
        yield from (f"sign_entries {name} {name}'." for name in names)

    def cases(self, proof: Data, writers: Iterator[Any], depth: int = 0) -> Iterator[str]:
        """The proof in all cases of which of two sizes is larger."""
        if "split" not in proof:
            yield from self.entries(next(writers))
            return
        split, least = (read_size(proof[key]) for key in ("split", "least"))
        found = [pair for one in cases(split, least, depth) for pair in one.items()]
        own, bound, more = identifier(str(split)), nat(linear(least, {})), identifier(f"+{depth}")
        below = [f"{own} = {k}" for _, k in found[1:]]
        below = [f"({own} < {bound})%N"] if least.is_Symbol else below
        said = " \\/ ".join([f"({bound} <= {own})%N", *below])
        yield f"have [{'|'.join('?' * len(found))}] : {said} by lia."
        for (one, value), inner in zip(found, proof["cases"], strict=True):
            name, form = identifier(str(one)), nat(linear(value, {}))
            if value.is_Integer:
                yield f"{{ subst {name}."
            else:
                rest = linear(value - sympy.Symbol(f"+{depth}", integer=True, nonnegative=True), {})
                yield f"{{ have [{more} ?] : exists {more}, {name} = {form}"
                yield f"    by exists ({name} - {nat(rest)})%N; lia."
                yield f"  subst {name}."
            yield from map(indented, self.cases(inner, writers, depth + 1))
            yield "}"

    def entries(self, writer: Any) -> Iterator[str]:
        """The proof for all entries."""
        yield from writer.given
        for one in writer.inductions:
            yield from _induced(one, self.states[one.name])
        (found,) = writer.frames[0]
        if isinstance(self.goal.left, MatrixExpr):
            yield "open_entries."
            yield from _parts(found, lambda inner: _parts(inner, _exact))
        else:
            yield from _exact(found.parts[0].inside[0].parts[0].inside[0])

    def _units(self) -> Iterator[tuple[str, str]]:
        """The products that are I, and why."""
        for kind, k, flipped in self.uses:
            if kind == "orthonormal":
                one, other = self.goal.where[k][:: -1 if flipped else 1]
                letter, columns = meant(kind, one, other, {})
                given = f"(esym k'assumed{k})" if flipped else f"k'assumed{k}"
                for (name, turned_, _, _), _ in inverses(letter, columns):
                    proof = given if turned_ == columns else f"(mulmx1C {given})"
                    yield unit_name(name, turned_, name), proof
        for k, divisor in enumerate(self.divisors):
            if divisor.inverted:
                names = (divisor.inverted, f"{divisor.inverted}⁻¹")
                yield unit_name(names[0], False, names[1]), f"(inverse_right k'divisor{k})"
                yield unit_name(names[1], False, names[0]), f"(inverse_left k'divisor{k})"

    def _defined(self, use: Data) -> str:
        """The letter that an equation defines."""
        _, k, flipped = use
        one = self.goal.where[k][flipped]
        if not isinstance(one, sympy.MatrixSymbol | sympy.Symbol):
            raise Refused("an equation that defines a transpose has no proof in Rocq yet")
        return identifier(one.name)


def _plain(part: sympy.Basic) -> Iterator[str]:
    """The letters that are not of one head."""
    found = sympy.preorder_traversal(part)
    for one in found:
        match one:
            case Head():
                found.skip()
            case sympy.MatrixSymbol(name=name):
                yield name


def _without_steps(side: sympy.Basic, steps: Sequence[tuple[str, sympy.Basic]]) -> sympy.Basic:
    """A side, the steps of its derivation being put in for their letters."""
    for name, expr in reversed(steps):
        heads = [one for one in heads_in(side) if one.name == name]
        side = side.xreplace({one: expr.subs(HEAD, one.head) for one in heads})
        letters = [one for one in side.atoms(sympy.MatrixSymbol) if one.name == name]
        side = side.xreplace(dict.fromkeys(letters, expr))
    return side


def _parts(pieces: Pieces, inside: Callable[[Any], Iterator[str]]) -> Iterator[str]:
    """For all places below a size, in parts."""
    *before, last = pieces.parts
    is_whole = not (before or last.alone or last.blocks)
    name = identifier(last.index) if is_whole else f"k'{last.index.strip('#')}whole"
    low = number(0)
    yield f"move=> {name} lt{name}."
    for piece in before:
        low = plus_form(low, piece.count)
        yield f"case: (below_or {name} {nat(low)}) => [?|?]."
        yield f"{{ {_place(piece, name, pieces.size)}"
        yield from map(indented, inside(piece.inside[0]))
        yield "}"
    if not is_whole:
        yield _place(last, name, pieces.size)
    yield from inside(last.inside[0])


def _place(piece: Piece, name: str, size: Form) -> str:
    """The place of a part that an index is at, or its place in a block."""
    if piece.alone:
        return f"have ? : {name} = {nat(piece.at)} by lia. subst {name}."
    if piece.blocks:
        block, own = (identifier(index) for index, _ in piece.bound)
        found = f"[{block} lt{block} [{own} lt{own} ?]]"
        given = f"@block_of {nat(size)} {piece.sizes} _ ltac:(lia) lt{name}"
        return f"have {found} := {given}. subst {name}; blocks."
    own, low = identifier(piece.index), plus_form(piece.at, variable(piece.index), -1)
    return (
        f"have [{own} lt{own} ?] : exists2 {own}, ({own} < {nat(piece.count)})%N & "
        f"{name} = {nat(piece.at)} by exists ({name} - {nat(low)})%N; lia. subst {name}."
    )


def _induced(one: Induction, states: Recurrence) -> Iterator[str]:
    """The proof that a state is its closed form, from the first token to the last."""
    name = identifier(one.name)
    sizes = [size(side) for side in (states.count, *states.shape)]
    pairs = zip(("k't", "k'i", "k'j"), sizes, strict=True)
    ranges = " ".join(f"forall {index}, ({index} < {most})%N ->" for index, most in pairs)
    made = f"k'made_{name}"

    def entry(found: Equation) -> Iterator[str]:
        yield from have("k'entry", turned(found))
        yield f"rewrite {made}; [|lia..]."
        yield "same_sizes k'entry."

    def token(rows: Pieces) -> Iterator[str]:
        yield f"move=> {one.before}."
        yield from _parts(rows, lambda columns: _parts(columns, entry))

    yield f"recurring_entries k'recurs_{name} {sizes[0]} {made}."
    yield f"have {one.known} : {ranges}"
    yield f"  ent ({name} k't) k'i k'j = {one.value} :> R."
    yield "{ apply: by_induction; cbv beta."
    yield from map(indented, _parts(one.found, token))
    yield "}"


def _exact(one: Equation) -> Iterator[str]:
    yield from have("k'entry", one)
    yield "same_sizes k'entry."


class Derivative(Document):
    """The theorem that a matrix is that of the derivatives of a number by a letter."""

    @property
    def function(self) -> str:
        """The number whose derivatives they are."""
        return f"{bracketed(self.side(self.sides[0].expr))} 0 0"

    def relation(self) -> str:
        name = identifier(self.sides[0].letter.name)
        right = bracketed(self.side(self.sides[1]))
        return f"slope (fun {name} => {self.function}) {name}\n  {right}"

    def lines(self, kind: str = "Theorem") -> list[str]:
        """Before the theorem, what the number is for all letters."""
        lines, (writer,) = super().lines(kind), self.writers
        value, _ = writer.slopes[0]
        place = lines.index(f"{kind} {self.statement()}.")
        lemma = [
            f"Lemma {self.name}_value {self.variables()} :",
            f"  {self.hypotheses()}{self.function} = {value.right} :> R.",
            "Proof.",
            *self.introduced(),
            "eapply entry_at; [typeclasses eauto | cbv beta].",
            *_exact(value),
            "Qed.",
        ]
        return [*lines[:place], *lemma, *lines[place:]]

    def entries(self, writer: Any) -> Iterator[str]:
        if self.divisors or self.goal.where or self.sides[0].letter.name in self.goal.positive:
            raise Refused("a derivative of what is not defined everywhere has no proof in Rocq yet")
        (found,), slopes = writer.frames[0], iter(writer.slopes)
        yield "eapply by_slopes; [typeclasses eauto | cbv beta]."
        yield from _parts(
            found, lambda inner: _parts(inner, lambda one: self.entry(one, *next(slopes)))
        )

    def entry(self, one: Equation, value: Equation, slope: Equation) -> Iterator[str]:
        """The derivative by one entry."""
        name = identifier(self.sides[0].letter.name)
        given = f"apply: (slope_ext (g := fun {name} => {value.right})) => [?|]"
        found = replace(
            slope,
            left=self.function,
            script=(f"{given}; first by apply: {self.name}_value; eassumption.", *slope.proof),
        )
        yield from have("k'slope", found)
        yield from have("k'entry", one)
        yield "apply: (slope_eq k'slope); same_sizes k'entry."
