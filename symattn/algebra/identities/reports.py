"""A proof as blocks: the statement, its links with their rules, and the numbers that refute it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.counterexample import Meaning
from symattn.algebra.equality import FOR_ALL
from symattn.algebra.identities.identity import ENTRIES, HYPOTHESIS
from symattn.algebra.identities.listing import TITLE
from symattn.algebra.identities.numbers import numbers_put_in
from symattn.algebra.identities.proofs import Link, Proof
from symattn.algebra.proof_lines import Exposition, Line, Lines
from symattn.algebra.rules import rule
from symattn.documents import blocks as b
from symattn.documents.data import Data
from symattn.documents.wrap import WIDE_ROOM, size_of
from symattn.errors import CannotSpell, SymattnError
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.letters import name_tree
from symattn.notation.options import index_row
from symattn.notation.text import line
from symattn.notation.tree import Tree

#: How many cases of a proof are printed.
_MOST_CHAINS = 4

#: The widest side of a statement that is set, in digits; a wider one stands as it is typed.
_MOST_WIDE = 3 * WIDE_ROOM

#: The longest line of an entry whose sizes are written.
_MOST_LETTERS = 220


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
    `numbers`: those that are put in, small ones if there are none in it.
    """
    put_in = [] if numbers is None or not proof.equality else numbers_put_in(proof, numbers or None)
    return b.Document("", (_section(proof, brief), *put_in))


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
    claim = None if brief else _claim(proof)
    yield b.Paragraph((b.Code(row.statement),), "formula") if claim is None else b.Worked("", claim)
    found = proof.equality.exposition
    for k, one in enumerate(row.where):
        written = b.Code(one) if brief or found is None else found.equations[k]
        yield b.Paragraph(("where ", written), "note")
    kinds = ("positive", "a permutation", "orthogonal", "symmetric")
    named = (row.positive, row.permuting, row.orthogonal, row.symmetric)
    for names, kind in zip(named, kinds, strict=True):
        if names:
            yield b.Paragraph((f"{', '.join(names)} {kind}",), "note")
    yield from _chains(proof)
    role: b.Role = "good" if proof.good else "note" if _is_open(proof) else "bad"
    yield b.Paragraph((_outcome(proof),), role)
    if proof.equality.reading:
        reading = (proof.equality.read_as,) if brief else _reading(proof.equality.reading)
        yield b.Paragraph(("read as ", *reading), "note")
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
    one, other = spelled(proof.left), spelled(proof.right)
    if one is None or other is None or max(size_of(one), size_of(other)) > _MOST_WIDE:
        return None
    sign = t.Op("≠") if proof.equality.verdict == "different" else t.EQUALS
    return t.equation(one, (sign, other))


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


def _lines(link: Link, found: Exposition | None, name: str) -> Iterator[b.Block]:
    """The lines between both sides of a link, one chain for each case; the first few of many."""
    chains = _spelled_chains(found)
    if not chains:
        yield from _entries(link)
        yield b.Paragraph((f"{name}: {link.equality.reason}" if name else link.equality.reason,))
    for when, chain in chains[:_MOST_CHAINS]:
        lead = ", ".join(filter(None, (name, when)))
        if lead:
            yield b.Paragraph((f"{lead}:",))
        yield chain
    if len(chains) > _MOST_CHAINS:
        yield b.Paragraph((f"and {len(chains) - _MOST_CHAINS} more cases in the same way",))


def _entries(link: Link) -> Iterator[b.Block]:
    """The first two entries of matrices whose sizes are written, multiplied out; short ones."""
    sides = [link.left, link.right]
    if not all(isinstance(side, sympy.MatrixBase) for side in sides):
        return
    for j in range(min(2, sides[0].cols)):
        one, other = (side[0, j] for side in sides)
        middle = sympy.factor(sympy.together(sympy.expand_trig(one)))
        trees = [*map(spelled, dict.fromkeys((one, middle, other)))]
        first, *rest = [tree for tree in trees if tree is not None]
        short = all(len(line(tree)) <= _MOST_LETTERS for tree in (first, *rest))
        if rest and short and len(rest) == len(trees) - 1:
            turns = one.has(sympy.sin, sympy.cos)
            way = ("multiplied out", "addition formulas") if turns else ("over one denominator", "")
            reasons = [(way[0],)] * (len(rest) - 1) + [(way[1] or "multiplied out",)]
            yield b.Paragraph((f"Entry (1, {j + 1}):",))
            yield b.Chain(first, tuple(zip(rest, reasons, strict=True)))


def _spelled_chains(found: Exposition | None) -> list[tuple[str, b.Chain]]:
    """When each chain holds, and the chain; nothing where a line has no notation."""
    out: list[tuple[str, b.Chain]] = []
    if found is None:
        return out
    with suppress(SymattnError):
        for one in found.chains:
            left, right = (
                _short(spelled(side), f"the {name} side")
                for side, name in zip(found.sides, ("left", "right"), strict=True)
            )
            sides = [left] * (len(one.lines) - 1) + [right]
            trees = [_line(each, one, side) for each, side in zip(one.lines, sides, strict=True)]
            reasons = [each.reason for each in one.lines]
            links = tuple(zip(trees[1:], reasons[1:], strict=True))
            out.append((one.when, b.Chain(trees[0], links)))
    return out


def _short(side: Tree | None, name: str) -> Tree:
    """A side, by its name where it is long: it stands in the statement above."""
    is_long = side is None or len(line(side)) > _MOST_LETTERS // 2
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
    broken = [link.rule for link in proof.links if not link.good]
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
                "good": link.good,
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
        "certificate": proof.equality.certificate,
    }


def _plain(meaning: Meaning) -> str:
    tree = spelled(meaning)
    return str(meaning) if tree is None else line(tree)


def _listed(value: Data) -> Data:
    return list(map(_listed, value)) if isinstance(value, tuple) else str(value)
