"""Who attends to whom: the weights of each head as lines between tokens, and shaded."""

from __future__ import annotations

from symattn.documents.page.elements import Markup, el
from symattn.documents.page.matrices import Shown

#: A weight below this share of the largest is not drawn.
FAINTEST = 0.01

#: More tokens than this are not drawn as lines.
MOST_TOKENS = 40

#: Longer labels are cut in the drawing, never in a table.
_LONGEST_LABEL = 12

#: Sizes of the drawing, in its own units: a token's height, the head line, a letter, the lines.
_STEP, _TOP, _LETTER, _SPAN = 26, 30, 7, 130


def section(shown: Shown) -> Markup:
    """The weights of every head side by side, drawn and as a shaded table."""
    figures = []
    for head in shown.heads:
        name = "" if head is None else f"Head {head + shown.notation.index_base}"
        drawn = lines(shown, head) if max(shown.shape) <= MOST_TOKENS else Markup()
        caption = [el("figcaption", name)] if name else []
        table = el("div", shown.table(head, home=False), class_="scroll")
        figures.append(el("figure", *caption, el("div", drawn, table, class_="both"),
                          class_="head"))  # fmt: skip
    return el(
        "section",
        el("h2", "Who attends to whom", id="picture-heading", tabindex=-1),
        el("p", "A line from a query to a key is as heavy as the weight; the table says how heavy. "
           "Point at a cell, or move to it with the arrow keys, to see where it comes from.",
           class_="why"),
        el("div", *figures, class_="heads"),
        id="picture", class_="picture", aria_labelledby="picture-heading",
    )  # fmt: skip


def names(labels: tuple[str, ...], count: int, base: int, letter: str) -> list[str]:
    """The tokens' names, or numbered letters where they have none."""
    return list(labels) or [f"{letter} {k + base}" for k in range(count)]


def lines(shown: Shown, head: int | None) -> Markup:
    """Queries on the left, keys on the right, a line for each weight; with a text alternative."""
    array = shown.array if head is None else shown.array[head]
    rows, across = shown.labels
    if shown.flipped:
        array, rows, across = array.T, across, rows
    base = shown.notation.index_base
    queries = names(rows, array.shape[0], base, "query")
    keys = names(across, array.shape[1], base, "key")
    left, right = (10 + _LETTER * max(7, *(len(_cut(name)) for name in side))
                   for side in (queries, keys))  # fmt: skip
    start, end = left, left + _SPAN
    height = _TOP + _STEP * max(len(queries), len(keys)) + 8
    drawn: list[str] = []
    for i in range(len(queries)):
        for j in range(len(keys)):
            share = abs(float(array[i, j])) / shown.largest
            visible = share >= FAINTEST  # NaN is not
            drawn.append(el("line", x1=start + 6, y1=_y(i), x2=end - 6, y2=_y(j),
                            stroke_width=f"{0.75 + 5 * share:.2f}" if visible else "0",
                            opacity=f"{0.25 + 0.75 * share:.2f}" if visible else "0",
                            data_i=i, data_j=j))  # fmt: skip
    words = [el("text", "queries", x=start, y=14, text_anchor="end", class_="side"),
             el("text", "keys", x=end, y=14, class_="side")]  # fmt: skip
    words += [el("text", _cut(name), x=start, y=_y(i) + 4, text_anchor="end")
              for i, name in enumerate(queries)]  # fmt: skip
    words += [el("text", _cut(name), x=end, y=_y(j) + 4)
              for j, name in enumerate(keys)]  # fmt: skip
    strongest = [f"{queries[i]} most to {keys[int(row.argmax())]}"
                 for i, row in enumerate(array) if row.max(initial=0) > 0]  # fmt: skip
    which = "" if head is None else f" in head {head + base}"
    told = f"Weights{which}: {'; '.join(strongest[:12])}."
    return el(
        "svg",
        *drawn,
        *words,
        viewBox=f"0 0 {end + right} {height}",
        role="img",
        width=end + right,
        height=height,
        aria_label=told,
        data_h=head,
        class_="lines-between",
    )


def _y(place: int) -> int:
    return _TOP + _STEP * place + _STEP // 2


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"
