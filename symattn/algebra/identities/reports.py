"""A proof as blocks: the statement, its links with their rules, and the numbers that refute it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, repeat

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.bounds import RULES as BOUNDS
from symattn.algebra.bounds import steps
from symattn.algebra.counterexample import Meaning
from symattn.algebra.equality import FOR_ALL
from symattn.algebra.identities.identity import ENTRIES, HYPOTHESIS
from symattn.algebra.identities.listing import TITLE
from symattn.algebra.identities.numbers import numbers_put_in
from symattn.algebra.identities.proofs import Link, Proof
from symattn.algebra.kinds import storable
from symattn.algebra.proof_lines import Exposition, Line, Lines
from symattn.algebra.rules import rule
from symattn.documents import blocks as b
from symattn.documents.data import Data
from symattn.documents.outline import functions_in
from symattn.documents.wrap import WIDE_ROOM, size_of
from symattn.errors import CannotSpell, SymattnError
from symattn.nodes.base import Node, used
from symattn.nodes.base import definitions as letters_of
from symattn.nodes.rule import Entry, Index, Rule, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.letters import name_tree
from symattn.notation.options import index_row
from symattn.notation.text import line
from symattn.notation.tree import Tree
from symattn.step import COLUMN, ROW

#: How many cases of a proof are printed.
_MOST_CHAINS = 4

#: The widest side of a statement that is set, in digits; a wider one stands as it is typed.
_MOST_WIDE = 3 * WIDE_ROOM

#: The name of a function that a statement applies.
_CALLED = re.compile(r"\b([a-z]\w+)\(")


def spelled(meaning: Meaning) -> Tree | None:
    """A side as a notation tree; None for a derivation or what has no spelling."""
    try:
        known = isinstance(meaning, MatrixExpr | sympy.MatrixBase | sympy.Expr)
        return Speller().meaning(meaning) if known else None
    except CannotSpell:
        return None


def reason(link: Link) -> str:
    """Why a link holds, in words."""
    if link.rule == ENTRIES:
        return link.equality.reason
    if link.rule == HYPOTHESIS:
        return "by assumption"
    return f"{link.rule}: {rule(link.rule).says}"


def proof_document(
    proof: Proof, brief: bool = False, numbers: Mapping[str, object] | None = None
) -> b.Document:
    """A proof, or the numbers that refute a statement.

    `brief`: the statement as it is typed, for a screen; else as a formula, where it has one.
    `numbers`: those that are put in, small ones if there are none in it. Raises `SymattnError`
    for numbers in an inequality.
    """
    if numbers is not None and proof.bounds:
        raise SymattnError("--with: numbers are put into equations, not into inequalities")
    put_in = [] if numbers is None or not proof.equality else numbers_put_in(proof, numbers or None)
    return b.Document("", (_section(proof, brief), *put_in), called=proof.identity.statement)


def proofs_document(proofs: Sequence[Proof], brief: bool = False) -> b.Document:
    """All proofs, a line each, with what was decided and how long it took; then each in full.

    `brief`: the lines alone.
    """
    rows = []
    for proof in proofs:
        sign = ("✓" if proof.identity.holds else "≠") if proof.good else "✗"
        scope = proof.equality.scope if proof.identity.holds else "refuted by numbers"
        cells = (b.Cell((f"{1000 * proof.seconds:.0f} ms",)), b.Cell((scope,)))
        name = b.Cell((f"{sign} {proof.identity.name}",))
        rows.append(b.Row(name, cells, "plain" if proof.good else "bad"))
    columns, corner = (("", ""), "") if brief else (("time", "decided"), "statement")
    table = b.Table(columns, tuple(rows), "", "Statements", corner, "rl")
    good = sum(proof.good for proof in proofs)
    total = sum(proof.seconds for proof in proofs)
    true = sum(proof.identity.holds for proof in proofs)
    for_all = sum(p.equality.scope == FOR_ALL for p in proofs if p.identity.holds)
    summary = (
        f"{good} of {len(proofs)} as stated: {true} identities ({for_all} for all sizes), "
        f"{len(proofs) - true} false beliefs; {total:.1f} s"
    )
    blocks: list[b.Block] = [
        table,
        b.Break(),
        b.Paragraph((summary,), "good" if good == len(proofs) else "bad"),
    ]
    if brief:
        return b.Document("", tuple(blocks))
    sections = [_section(proof, brief) for proof in proofs]
    return b.Document(TITLE, (*blocks, *sections))


def _section(proof: Proof, brief: bool) -> b.Section:
    row = proof.identity
    title = f"{row.name}: {row.says}" + ("" if row.holds else " (a false belief)")
    return b.Section(title if row.name else "", tuple(_blocks(proof, brief)))


def _blocks(proof: Proof, brief: bool) -> Iterator[b.Block]:
    row = proof.identity
    claim = _claim(proof)
    if brief or claim is None:
        yield b.Paragraph((b.Code(row.statement),), "formula")
    if claim is not None and (not brief or _reads_otherwise(row.statement, claim)):
        if brief:
            yield b.Worked("that is", claim)
        else:
            yield b.Formulas((b.Line("formula", claim),), label=row.name or "statement")
    ones = any(
        isinstance(one, sympy.Basic | sympy.MatrixBase) and one.has(sympy.OneMatrix)
        for one in (proof.left, proof.right)
    )
    meant = [*filter(None, (row.letters, "1 is a column of ones" if ones else ""))]
    if meant:
        yield b.Paragraph(("; ".join(meant),), "note")
    found = proof.equality.exposition
    for k, one in enumerate(row.where):
        written = found.equations[k] if found and found.equations and not brief else b.Code(one)
        yield b.Paragraph(("where ", written), "note")
    kinds = ("positive", "a permutation", "orthogonal", "symmetric")
    named = (row.positive, row.permuting, row.orthogonal, row.symmetric)
    for names, kind in zip(named, kinds, strict=True):
        if names:
            yield b.Paragraph((f"{', '.join(names)} {kind}",), "note")
    words = chain(("where ",), repeat("and "))
    where = [t.row(t.Text(next(words)), each) for each in definitions(_printed(proof))]
    if where:
        yield b.Formulas(tuple(b.Line("where", each) for each in where))
    yield from _chains(proof)
    role: b.Role = "good" if proof.good else "note" if _is_open(proof) else "bad"
    yield b.Paragraph((_outcome(proof),), role)
    if brief and proof.equality.hint:
        yield b.Paragraph((proof.equality.hint,), "note")
    reading = proof.equality.reading
    if reading:
        plain = ", ".join(f"{name} {shape}" for name, shape in reading)
        yield b.Paragraph(("read as ", *((plain,) if brief else _reading(reading))), "note")
    yield from (b.Paragraph(words, "note") for words in _needs(proof))
    remarks = (
        ("use", row.use),
        ("false", row.misconception),
        ("source", row.source),
    )
    notes = [*proof.equality.notes, *(f"{word}: {what}" for word, what in remarks if what)]
    yield from (b.Paragraph((note,), "note") for note in notes)


def _claim(proof: Proof) -> Tree | None:
    """Both sides as one equation, where the statement is made of matrices that a page can show."""
    left, right = proof.left, proof.right
    if proof.bounds:
        first, *rest = [tree for side in proof.bounds if (tree := spelled(side)) is not None]
        whole = len(rest) + 1 == len(proof.bounds)
        fits = whole and sum(map(size_of, (first, *rest))) <= 2 * _MOST_WIDE
        sign = t.Op("≥" if proof.falls else "≤")
        return t.equation(first, *((sign, side) for side in rest)) if fits else None
    one, other = spelled(left), spelled(right)
    if proof.identity.sides is not None and isinstance(left, sympy.MatrixBase):
        return None  # of some entries alone; the statement says what they are
    if one is None or other is None or max(size_of(one), size_of(other)) > _MOST_WIDE:
        return None
    sign = t.Op("≠") if proof.equality.verdict == "different" else t.EQUALS
    return t.equation(one, (sign, other))


def _reads_otherwise(statement: str, claim: Tree) -> bool:
    """Whether a statement is typed with functions that its formula writes otherwise."""
    formula = line(claim)
    return any(f"{name}(" not in formula for name in _CALLED.findall(statement))


def _printed(proof: Proof) -> list[Meaning]:
    """All that a proof is printed of: its sides, what it assumes and its links.

    Those of derivations are in the goal, as expressions.
    """
    found = proof.equality.exposition if proof.equality else None
    goal = () if found is None else (found.goal.left, found.goal.right)
    assumed = () if found is None else (side for pair in found.goal.where for side in pair)
    claims = steps(proof.equality.certificate) if proof.bounds and proof.equality else ()
    bounds = (side for left, right, _ in claims for side in (left, right))
    links = (link.right for link in proof.links)
    return [proof.left, proof.right, *assumed, *links, *bounds, *goal]


def definitions(sides: Sequence[Meaning]) -> Iterator[Tree]:
    """What each function in a statement does, at the first place where it stands: its entries.

    >>> from symattn.notation.text import line
    >>> from symattn.nodes.normalise import Softmax
    >>> [line(one) for one in definitions([Softmax(sympy.MatrixSymbol("S", 2, 2))])]
    ['[softmax(S)]_ij = e^(s_ij) / Σ_l e^(s_il)']
    """
    whole = [side for side in sides if isinstance(side, sympy.Basic | sympy.MatrixBase)]
    taken = {str(x) for side in whole for x in side.free_symbols}
    free = [name for name in "ZYUT" if name not in taken]
    known: set[Tree] = set()
    for node in (part for side in whole for part in sympy.preorder_traversal(side)):
        if not isinstance(node, Node) or node.bound:
            continue
        simple = _simple(node, free)
        formula = Speller().matrix(simple)
        names = {*functions_in(formula)}
        if names and not names & known:
            known |= names
            i, j = _indices(simple, ROW, COLUMN)
            is_number = simple.shape == (1, 1)
            left = formula if is_number else _placed(t.Fenced(formula, "[", "]"), simple, i, j)
            rule = Speller().rule(rule_of(simple, i, j), _of_line)
            yield t.equation(left, (t.EQUALS, rule))
            found = letters_of(simple, Speller(), i, j)
            yield from (each.statement for each in used(found, [formula, rule]))


def _indices(matrix: MatrixExpr, row: Index, column: Index) -> tuple[Index, Index]:
    """The indices of an entry, 0 along a side of length 1."""
    rows, columns = matrix.shape
    return (0 if rows == 1 else row), (0 if columns == 1 else column)


def _placed(tree: Tree, matrix: MatrixExpr, row: Index, column: Index) -> Tree:
    """A tree with the indices below it that a matrix has: two, one of a row or a column."""
    places = zip(matrix.shape, (row, column), strict=True)
    indices = tuple(Speller().index(index) for size, index in places if size != 1)
    return t.Script(tree, index_row(indices)) if indices else tree


def _of_line(rule: Rule) -> Tree | None:
    """An entry of a row or a column has one index."""
    if not isinstance(rule, Entry) or 1 not in rule.matrix.shape:
        return None
    entry = Speller().entry(rule)
    letter = entry.base if isinstance(entry, t.Script) else entry
    return _placed(letter, rule.matrix, rule.row, rule.column)


def _simple(node: Node, letters: Sequence[str]) -> MatrixExpr:
    """The node of letters: softmax(Z) of softmax(Q Kᵀ)."""
    free = iter(letters)
    args = [
        sympy.MatrixSymbol(next(free), *part.shape)
        if isinstance(part, MatrixExpr | sympy.MatrixBase)
        and not isinstance(part, sympy.MatrixSymbol)
        else part
        for part in node.args
    ]
    return node.func(*args)


def _reading(reading: Sequence[tuple[str, str]]) -> b.Words:
    """The shapes of letters as formulas: Q n × d_k, c a number."""
    out: list[b.Inline] = []
    for name, shape in reading:
        out += [", "] if out else []
        out += [Speller().notation.letter(name), " "]
        sizes = re.fullmatch(r"(\w+) × (\w+)", shape)
        trees = [name_tree(size) for size in sizes.groups()] if sizes else []
        out.append(t.row(trees[0], t.Op("×"), trees[1]) if trees else shape)
    return tuple(out)


def _chains(proof: Proof) -> Iterator[b.Block]:
    """The links of a proof, and the lines of each that uses no rule.

    Nothing of what does not hold.
    """
    if not proof.equality:
        return
    if proof.bounds and proof.equality.certified:
        yield from _steps(proof)
        return
    links, first = [], spelled(proof.left)
    if len(proof.links) > 1 and first is not None:
        for link in proof.links:
            right = spelled(link.right)
            links += [] if right is None else [(right, (reason(link),))]
        if len(links) == len(proof.links):
            yield b.Chain(first, tuple(links))
    for number, link in enumerate(proof.links, 1):
        if link.rule in (ENTRIES, HYPOTHESIS) or not links:
            alone = len(proof.links) == 1
            found = proof.equality.exposition if alone else link.equality.exposition
            yield from _lines(link, found, f"Step {number}" if links else "")


def _steps(proof: Proof) -> Iterator[b.Block]:
    """The claims of a proof of an inequality, each after those that it follows from."""
    for left, right, by in steps(proof.equality.certificate):
        one, other = spelled(left), spelled(right)
        if one is not None and other is not None:
            claim = t.equation(one, (t.Op("≤"), other))
            yield b.Paragraph((claim, f"   {BOUNDS[by][0]}"))


def _lines(link: Link, found: Exposition | None, name: str) -> Iterator[b.Block]:
    """The lines between both sides of a link, one chain for each case; the first few of many."""
    chains = _spelled_chains(found)
    if not chains:
        yield b.Paragraph((f"{name}: {link.equality.reason}" if name else link.equality.reason,))
    for when, block in chains[:_MOST_CHAINS]:
        lead = ", ".join(filter(None, (name, when)))
        if lead:
            yield b.Paragraph((f"{lead}:",))
        yield block
    if len(chains) > _MOST_CHAINS:
        rest = len(chains) - _MOST_CHAINS
        yield b.Paragraph((f"and {rest} more case{'s' * (rest > 1)} in the same way",))


def _spelled_chains(found: Exposition | None) -> list[tuple[str, b.Chain]]:
    """When each chain holds, and the chain; nothing where a line has no notation."""
    out: list[tuple[str, b.Chain]] = []
    if found is None:
        return out
    with suppress(SymattnError):
        for one in found.chains:
            left, right = (
                _short(spelled(side), f"the {name} side")
                for side, name in ((found.goal.left, "left"), (found.goal.right, "right"))
            )
            sides = [left] * (len(one.lines) - 1) + [right]
            trees = [_line(each, one, side) for each, side in zip(one.lines, sides, strict=True)]
            reasons = [each.reason for each in one.lines]
            said = zip(trees, trees[1:], reasons[1:], strict=False)
            links = tuple((tree, why) for before, tree, why in said if tree != before)
            out.append((one.when, b.Chain(trees[0], links)))
    return out


def _short(side: Tree | None, name: str) -> Tree:
    """A side, by its name where it is long: it stands in the statement above."""
    # the longest side of a statement that is repeated between its lines
    is_long = side is None or len(line(side)) > 110
    return t.Text(name) if is_long or side is None else side


def _line(each: Line, chain: Lines, whole: Tree) -> Tree:
    """A line of a chain; a side itself as [A B]_ij."""
    speller = Speller()
    if isinstance(each.value, MatrixExpr):
        return speller.matrix(each.value)
    if each.value is not None:
        return speller.rule(each.value)
    if not chain.entry:
        return whole
    return t.Script(t.Fenced(whole, "[", "]"), index_row(tuple(map(speller.index, chain.entry))))


def _needs(proof: Proof) -> Iterator[b.Words]:
    """Which engine decided, and what the steps of a proof for all sizes need."""
    answer = proof.equality
    if not answer:
        return
    yield (f"decided: {answer.reason}",)
    found = answer.exposition
    if found is None:
        return
    with suppress(SymattnError):
        words = [f"{found.steps} steps replayed by the checker"] if found.steps else []
        words += [f"{found.bounds} bounds of indices shown"] if found.bounds else []
        if words:
            yield ("; ".join(words),)
        for rule in found.divisors[:2]:
            yield ("not 0, since it is positive: ", Speller().rule(rule))
    if answer.partial:
        yield ("this does not cover a divisor of 0, or an inverse or root that does not exist",)


def _is_open(proof: Proof) -> bool:
    """Whether a statement is neither proven nor refuted."""
    return proof.equality.verdict in ("undecided", "holds at the sizes tried")


def _outcome(proof: Proof) -> str:
    answer = proof.equality
    broken = [link.rule for link in proof.links if not link.equality]
    if broken and answer:
        return f"the proof does not hold: the link by {broken[0]} fails"
    if answer.counterexample is not None:
        return f"{answer.verdict}: {answer.counterexample}"
    if proof.identity.reason:
        return f"{answer.summary}: {proof.identity.reason}"
    return answer.summary + (f": {answer.reason}" if _is_open(proof) else "")


def data(proof: Proof) -> dict[str, Data]:
    """The proof as data for JSON."""
    row, found = proof.identity, proof.equality.counterexample
    return {
        "name": row.name,
        "says": row.says,
        "statement": row.statement,
        "holds": row.holds,
        "good": proof.good,
        "verdict": proof.equality.verdict,
        "scope": proof.equality.scope,
        "certified": proof.equality.certified,
        "partial": proof.equality.partial,
        "reason": proof.equality.reason,
        "reading": dict(proof.equality.reading),
        "notes": list(proof.equality.notes),
        "hint": proof.equality.hint,
        "seconds": round(proof.seconds, 3),
        "where": list(row.where),
        "positive": list(row.positive),
        "permuting": list(row.permuting),
        "orthogonal": list(row.orthogonal),
        "symmetric": list(row.symmetric),
        "source": row.source,
        "use": row.use,
        "sizes_because": row.reason,
        "misconception": row.misconception,
        "proof": [
            {
                "rule": link.rule,
                "good": bool(link.equality),
                "scope": link.equality.scope,
                "certified": link.equality.certified,
                "left": _plain(link.left),
                "right": _plain(link.right),
            }
            for link in proof.links
        ],
        "counterexample": None
        if found is None
        else {
            "values": {name: _listed(value) for name, value in found.values},
            "place": [k + 1 for k in found.place],
            "left": found.left,
            "right": found.right,
        },
        "certificate": storable(proof.equality.certificate),
    }


def _plain(meaning: Meaning) -> str:
    tree = spelled(meaning)
    return str(meaning) if tree is None else line(tree)


def _listed(value: Data) -> Data:
    return list(map(_listed, value)) if isinstance(value, tuple) else str(value)
