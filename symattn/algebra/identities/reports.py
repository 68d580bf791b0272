"""A proof as blocks: the statement, its links with their rules, and the numbers that refute it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.equality import FOR_ALL
from symattn.algebra.identities.proofs import ENTRIES, HYPOTHESIS, Identity, Link, Proof
from symattn.algebra.rules import rule
from symattn.documents import blocks as b
from symattn.errors import CannotSpell
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.text import line
from symattn.notation.tree import Tree

_TITLE = "Identities and false beliefs"


def spelled(meaning: Any) -> Tree | None:
    """A side as a notation tree; None for a derivation or what has no spelling."""
    try:
        if isinstance(meaning, MatrixExpr | sympy.MatrixBase):
            return Speller().matrix(meaning)
        if isinstance(meaning, sympy.Expr):
            return Speller().scalar(meaning)
    except CannotSpell:
        return None
    return None


def reason(link: Link) -> str:
    """Why a link holds, in words."""
    if link.rule == ENTRIES:
        return link.equality.reason
    if link.rule == HYPOTHESIS:
        return "by what is assumed"
    return f"{link.rule}: {rule(link.rule).says}"


def catalogue(rows: Sequence[Identity], brief: bool = False) -> b.Document:
    """The names of identities and false beliefs, and what each says."""
    false = {True: "", False: " (false)"}
    items = (b.named(row.name, row.says + false[row.holds], brief=brief) for row in rows)
    return b.Document("" if brief else _TITLE, (b.List(tuple(items)),))


def catalogue_data(rows: Sequence[Identity]) -> list[dict[str, Any]]:
    """The same as plain data."""
    keys = ("name", "says", "statement", "holds", "source")
    return [{key: getattr(row, key) for key in keys} for row in rows]


def proof_document(proof: Proof, brief: bool = False) -> b.Document:
    """A proof, or the numbers that refute a statement.

    `brief`: the statement as it is typed, for a screen; else as a formula, where it has one.
    """
    return b.Document("", (_section(proof, brief),))


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
    return b.Document(_TITLE, (*blocks, *sections))


def _section(proof: Proof, brief: bool) -> b.Section:
    row = proof.identity
    title = f"{row.name}: {row.says}" + ("" if row.holds else " (a false belief)")
    return b.Section(title if row.name else "", tuple(_blocks(proof, brief)))


def _blocks(proof: Proof, brief: bool) -> Iterator[b.Block]:
    row = proof.identity
    claim = None if brief else _claim(proof)
    yield b.Paragraph((b.Code(row.statement),), "formula") if claim is None else b.Worked("", claim)
    for one in row.where:
        yield b.Paragraph(("where ", b.Code(one)), "note")
    kinds = ("positive", "a permutation", "orthogonal", "symmetric")
    named = (row.positive, row.permuting, row.orthogonal, row.symmetric)
    for names, kind in zip(named, kinds, strict=True):
        if names:
            yield b.Paragraph((f"{', '.join(names)} {kind}",), "note")
    chain = _chain(proof)
    if chain is not None:
        yield chain
    elif row.holds and proof.equality:
        yield b.Paragraph((f"by {proof.equality.reason}",))
    role: b.Role = "good" if proof.good else "note" if _is_open(proof) else "bad"
    yield b.Paragraph((_outcome(proof),), role)
    if proof.equality.reading and (not row.name or row.sides is None):
        yield b.Paragraph((f"read as {proof.equality.read_as}",), "note")
    remarks = (
        ("good for", row.use),
        ("not to be confused with", row.misconception),
        ("source", row.source),
    )
    notes = [*proof.equality.notes, *(f"{word}: {what}" for word, what in remarks if what)]
    yield from (b.Paragraph((note,), "note") for note in notes)


def _claim(proof: Proof) -> Tree | None:
    """Both sides as one equation, where the statement is made of matrices."""
    one, other = spelled(proof.left), spelled(proof.right)
    if one is None or other is None:
        return None
    sign = t.Op("≠") if proof.equality.verdict == "different" else t.EQUALS
    return t.equation(one, (sign, other))


def _chain(proof: Proof) -> b.Chain | None:
    """The links of the proof; None for what does not hold, and for what cannot be spelled."""
    if not proof.links or proof.identity.sides is not None or not proof.equality:
        return None
    first = spelled(proof.links[0].left)
    rest = [(spelled(link.right), reason(link)) for link in proof.links]
    links = tuple((one, why) for one, why in rest if one is not None)
    return None if first is None or len(links) < len(rest) else b.Chain(first, links)


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


def data(proof: Proof) -> dict[str, Any]:
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


def _plain(meaning: Any) -> str:
    tree = spelled(meaning)
    return str(meaning) if tree is None else line(tree)


def _listed(value: Any) -> Any:
    return list(map(_listed, value)) if isinstance(value, tuple) else str(value)
