"""A proof on paper: the statement, its links with their rules, and the numbers that refute it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.equality import FOR_ALL
from symattn.algebra.identities.proofs import ENTRIES, HYPOTHESIS, Link, Proof
from symattn.algebra.rules import rule
from symattn.errors import CannotSpell
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.latex import latex, prose, text
from symattn.notation.mathml import math
from symattn.notation.text import Charset, line
from symattn.notation.tree import Tree

_XHTML = "http://www.w3.org/1999/xhtml"


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


def _formulas(proof: Proof) -> list[tuple[Tree, str]]:
    """The chain of the proof: the left side, then what follows and why; empty if unspellable.

    What does not hold has no chain.
    """
    if not proof.links or proof.identity.sides is not None or not proof.equality:
        return []
    first = spelled(proof.links[0].left)
    rest = [(spelled(link.right), reason(link)) for link in proof.links]
    if first is None or any(one is None for one, _ in rest):
        return []
    return [(first, ""), *((one, why) for one, why in rest if one is not None)]


def text_lines(proof: Proof, charset: Charset = "unicode") -> Iterator[tuple[str, str]]:
    """The proof as lines of text with their styles."""
    row = proof.identity
    if row.name:
        yield "title", f"{row.name}: {row.says}" + ("" if row.holds else " (a false belief)")
    yield "formula", f"   {row.statement}"
    for one in row.where:
        yield "note", f"   where {one}"
    for names, kind in ((row.positive, "positive"), (row.permuting, "a permutation")):
        if names:
            yield "note", f"   {', '.join(names)} {kind}"
    formulas = _formulas(proof)
    written = [line(tree, charset) for tree, _ in formulas]
    longest = min(max(map(len, written), default=0), 60)
    for k, (one, (_, why)) in enumerate(zip(written, formulas, strict=True)):
        yield "plain", f"   {'= ' if k else '  '}{one:<{longest}}   {why}".rstrip()
    if not formulas and row.holds and proof.equality:
        yield "plain", f"   by {proof.equality.reason}"
    style = "good" if proof.good else "note" if _is_open(proof) else "bad"
    yield style, f"   {_outcome(proof)}"
    yield from _reading(proof)
    yield from _about(proof)


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
    return answer.summary + (f": {answer.reason}" if _is_open(proof) else "")


def _reading(proof: Proof) -> Iterator[tuple[str, str]]:
    """How the letters were read, and what another reading would have given."""
    if proof.equality.reading and (not proof.identity.name or proof.identity.sides is None):
        yield "note", f"   read as {proof.equality.read_as}"
    for note in proof.equality.notes:
        yield "note", f"   {note}"


def _about(proof: Proof) -> Iterator[tuple[str, str]]:
    row = proof.identity
    remarks = (
        ("good for", row.use),
        ("not to be confused with", row.misconception),
        ("source", row.source),
    )
    for word, what in remarks:
        if what:
            yield "note", f"   {word}: {what}"


def latex_lines(proof: Proof) -> str:
    """The proof as LaTeX: an ``align*`` with the reasons, or the statement in words."""
    row, formulas = proof.identity, _formulas(proof)
    head = f"\\paragraph{{{prose(row.name)}}} {prose(row.says)}." if row.name else ""
    if formulas:
        lines = [
            ("&= " if k else "& \\phantom{{}={}} ")
            + latex(one)
            + (f" && {text(why)}" if why else "")
            for k, (one, why) in enumerate(formulas)
        ]
        body = "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"
    else:
        body = _sides(proof, latex, "\\[ {} \\]") or f"\\emph{{{prose(row.statement)}}}"
    remarks = [_outcome(proof), *(words.strip() for _, words in _reading(proof))]
    return f"{head}\n{body}\n{prose('; '.join(remarks))}.\n"


def mathml_lines(proof: Proof) -> str:
    """The proof as HTML with MathML."""
    row, formulas = proof.identity, _formulas(proof)
    out = ["<section>"]
    if row.name:
        out = [
            f'<section id="{row.name}"><h2>{escape(row.name)}</h2>',
            f"<p>{escape(row.says)}</p>",
        ]
    if formulas:
        out.append("<ol>")
        for k, (one, why) in enumerate(formulas):
            tree = t.row(t.Op("="), one) if k else one
            out.append(f"<li>{math(tree, alttext=line(tree))} {escape(why)}</li>")
        out.append("</ol>")
    else:
        out.append(
            _sides(proof, lambda tree: math(tree, alttext=line(tree)), "<p>{}</p>")
            or f"<p>{escape(row.statement)}</p>"
        )
    out += [f"<p>{escape(words.strip())}</p>" for _, words in _reading(proof)]
    return "\n".join([*out, f"<p>{escape(_outcome(proof))}</p></section>\n"])


def _sides(proof: Proof, write: Callable[[Tree], str], frame: str) -> str:
    """Both sides as one equation, where the statement is made of matrices."""
    one, other = spelled(proof.left), spelled(proof.right)
    if one is None or other is None:
        return ""
    sign = t.Op("≠") if proof.equality.verdict == "different" else t.EQUALS
    return frame.replace("{}", write(t.equation(one, (sign, other))))


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
        "source": row.source,
        "use": row.use,
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


def table(proofs: Sequence[Proof]) -> Iterator[tuple[str, str]]:
    """All proofs, a line each, with what was decided and how long it took."""
    longest = max(len(proof.identity.name) for proof in proofs)
    for proof in proofs:
        sign = ("✓" if proof.identity.holds else "≠") if proof.good else "✗"
        scope = proof.equality.scope if proof.identity.holds else "refuted by numbers"
        words = f"{sign} {proof.identity.name:<{longest}}  {1000 * proof.seconds:6.0f} ms  {scope}"
        yield ("plain" if proof.good else "bad"), words
    good = sum(proof.good for proof in proofs)
    total = sum(proof.seconds for proof in proofs)
    true = sum(proof.identity.holds for proof in proofs)
    for_all = sum(p.equality.scope == FOR_ALL for p in proofs if p.identity.holds)
    yield "plain", ""
    yield (
        ("good" if good == len(proofs) else "bad"),
        (
            f"{good} of {len(proofs)} as stated: {true} identities ({for_all} for all sizes), "
            f"{len(proofs) - true} false beliefs; {total:.1f} s"
        ),
    )
