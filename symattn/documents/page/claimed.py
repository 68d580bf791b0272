"""Claimed numbers on the page, beside the proven ones: a table for each matrix, and in words."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.documents.claims import Claims, MarkedEntry
from symattn.documents.page.elements import Markup, el, joined
from symattn.documents.page.matrices import HeadView, MatrixView

#: What stands in place of the marks when a reader has changed the numbers.
_VOID = "The claims were marked for the numbers that this page came with, not for those shown now."


def summary(claims: Claims, shown: Sequence[str]) -> Markup:
    """What is concluded of all claims; `shown` are the letters of the page."""
    hidden = {claim.letter for claim in claims.entries} - {*shown}
    words = [f"Claims: {claims.conclusion}"]
    if hidden:
        count = sum(claim.letter in hidden for claim in claims.entries)
        which = "it is" if count == 1 else "they are"
        words.append(f"{count} of them not shown: {which} about steps that are left out here.")
    lines = [el("p", " ".join(words), class_="claims")]
    lines += [el("p", remark, class_="claims") for remark in claims.remarks]
    return joined(*lines, el("p", _VOID, class_="void"))


def tables(claims: Claims, matrix: MatrixView) -> Markup:
    """The claims about a matrix, head by head, with the verdict of each; nothing without any."""
    own = [claim for claim in claims.entries if claim.letter == matrix.item.letter]
    if not own:
        return Markup()
    by_place = {matrix.seen(claim.place): claim for claim in own}
    claimed = {place[0] for place in by_place}
    figures = [_table(one, by_place) for one in matrix.shown if one.head in claimed]
    failing = [claim for claim in own if claim.verdict != "right"]
    by_verdict: dict[str, list[str]] = {}
    for claim in failing:
        by_verdict.setdefault(claim.verdict, []).append(claim.beside)
    listed = [el("li", f"{verdict}: {_first(told)}") for verdict, told in by_verdict.items()]
    right = len(own) - len(failing)
    every = f"All {len(own)} claimed numbers are right." if len(own) > 1 else "It is right."
    words = el("p", every) if not failing else el("p", f"{right} of {len(own)} are right.")
    inside = [words, *([el("ul", *listed)] if listed else [])]
    return el("div", el("div", *figures, class_="figures"), *inside, class_="claimed")


def _first(told: Sequence[str], most: int = 3) -> str:
    """The first numbers of a verdict, and how many more the panel of a chosen entry tells."""
    rest = len(told) - most
    more = [f"and {rest} more; choose an entry to read of it"] if rest > 0 else []
    return "; ".join([*told[:most], *more])


def _table(matrix: HeadView, claims: dict[tuple[int | None, int, int], MarkedEntry]) -> Markup:
    """Claimed numbers where the matrix has its own, each with the sign of its verdict."""
    names, across = matrix.labels
    rows, columns = matrix.indices
    lines = []
    if across:
        corner = [el("td", class_="corner")] if names else []
        heads = [el("th", "⋯" if j is None else across[j], scope="col") for j in columns]
        lines.append(el("thead", el("tr", *corner, *heads)))
    body = []
    for i in rows:
        cells = [el("th", "⋮" if i is None else names[i], scope="row")] if names else []
        for j in columns:
            claim = None if i is None or j is None else claims.get((matrix.head, i, j))
            cells.append(_cell(claim) if None not in (i, j) else el("td", "⋯", class_="gap"))
        body.append(el("tr", *cells))
    label = f"claimed {matrix.item.name}{matrix.of_head}"
    return el(
        "figure",
        el("figcaption", f"Claimed{matrix.of_head}"),
        el("div", el("table", *lines, el("tbody", *body), aria_label=label), class_="scroll"),
    )


def _cell(claim: MarkedEntry | None) -> Markup:
    if claim is None:
        return el("td", class_="claim")
    if claim.verdict == "right":
        return el("td", claim.claimed, class_="claim")
    sign = el("span", claim.sign, aria_hidden="true")
    words = el("span", f"{claim.verdict} ", class_="spoken")
    kind = f"claim {claim.tint}".strip()
    return el("td", words, sign, " ", claim.claimed, class_=kind, title=claim.verdict)


def by_key(claims: Claims, matrices: dict[str, MatrixView]) -> dict[str, str]:
    """What is said of each claim, by the key that the page has for the entry."""
    found = {}
    for claim in claims.entries:
        if claim.letter in matrices:
            key = matrices[claim.letter].key(claim.place)
            message = claim.message.partition(": ")[2]
            said = f"{claim.claimed}, right" if claim.verdict == "right" else message
            found[key] = f"Claimed: {said}."
    return found
