"""What an equation may contain, on one page: ``symattn prove --grammar``."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.documents import blocks as b
from symattn.grammar import ARITY, FUNCTIONS, MAX_DEPTH, MAX_LENGTH, MAX_POWER

#: From the lowest precedence to the highest: what it is called, how it is written, an example.
_OPERATIONS = (
    ("equality", "=  ==", "once, outside brackets"),
    ("order", "<=  ≤  >=  ≥", "0 <= softmax(S) <= 1, outside brackets"),
    ("sums", "+  -", "-A B is -(A B)"),
    ("entry by entry", "∘  ⊙  .*   ⊘  ./", "A ∘ B"),
    ("products", "·  ×  ⋅  @  /  or nothing, * with a number", "Q K^T / sqrt(d_k)"),
    ("powers", "^  **", "A^2, x^(1/2), 2^3^2 is 2^9"),
    ("transpose", "^T  .T  ᵀ  ⊤", "K^T"),
    ("inverse", "^-1  ⁻¹", "A^-1, A^-T"),
)

_PARTS = (
    ("numbers", "1, 1.5, .5, 2e3, 1/3, all of them exact"),
    ("constants", "e, pi, π, ∞ (oo, inf)"),
    ("names", "a letter, digits, a subscript, a prime: Q, K1, W_Q, W_{QK}, W_Q', θ, dA"),
    ("products of letters", "QK^T is Q times K^T, unless --shape declares the name QK"),
    ("sizes", "n, m, d, d_k, d_v, d_h, d_model, h, where they stand as numbers"),
    ("ones", "1 beside a vector (A 1, 1 c^T), or ones, is a column of ones"),
    ("identity", "I, of the size that fits"),
    ("blocks", "[A, B; C, D]"),
    ("brackets", "( ) and { }"),
    ("columns", "softmax(S, columns) or softmax(S, axis=0); colsum, colmean"),
    ("LaTeX", r"\top \cdot \odot \sqrt{x} \frac{a}{b} \left( \right) \mathbf{1} and Greek letters"),
)

_ASSUMED = (
    ('--where "A B = B A"', "an equation that is assumed: a definition, any polynomial equation"),
    ('--where "S positive"', "every entry is above 0"),
    ('--where "P a permutation"', "a permutation matrix"),
    ('--where "R orthogonal"', "R^T R = I, square"),
    ('--where "A, B symmetric"', "S = S^T, of each"),
    ("--shape A=n,d_k", "rows and columns of a letter; --shape c=scalar for a number"),
    ("--size n=4", "decide at this size, not for all"),
)

_ATTENTIONS = (
    ("causal#weights", "one step; multi-head#weights[2] of one head, output[p+1:] from a row on"),
    ('--where "W_K[1] = W_K[2]"', "two heads are the same"),
    ('--where "W_K = W_K[1]"', "all heads are the same"),
    ('--where "W_K = repeat(W_K\')"', "each group of heads shares a matrix of the second"),
    ('--where "W_O\' = split(W_O)"', "one matrix for each head, cut from one for all"),
    ('--where "memory = X"', "an input is another input, or any expression"),
    ('--where "Q = Q\'"', "an input is a step of the other"),
    ('--where "h = 4"', "a size has a value"),
)


def grammar_document() -> b.Document:
    """Operations, parts, functions and assumptions."""
    sections = (
        b.Section("From loosest to tightest binding", (_table(_OPERATIONS),)),
        b.Section("Parts", (_table(_PARTS),)),
        b.Section("Functions", (_table(_functions()),)),
        b.Section("Assumptions", (_table(_ASSUMED),)),
        b.Section("Two attention mechanisms", (_table(_ATTENTIONS),)),
    )
    limits = (
        f"At most {MAX_LENGTH} characters and {MAX_DEPTH} levels of brackets; exponents are "
        f"rational, up to {MAX_POWER}."
    )
    return b.Document("What an equation may contain", (*sections, b.Paragraph((limits,), "note")))


def _functions(a_line: int = 10) -> tuple[tuple[str, str], ...]:
    """The functions by how many matrices they take, `a_line` in a line, by their first spelling."""
    words: dict[tuple[int, int], dict[str, str]] = {}
    for word, name in FUNCTIONS.items():
        words.setdefault(ARITY.get(name, (1, 1)), {}).setdefault(name, word)
    one = [*words.pop((1, 1)).values()]
    others = (
        (f"of {least}" if least == most else f"of {least} to {most}", " ".join(named.values()))
        for (least, most), named in sorted(words.items())
    )
    lines = [" ".join(one[k : k + a_line]) for k in range(0, len(one), a_line)]
    return (*(("" if k else "of one", text) for k, text in enumerate(lines)), *others)


def _table(rows: Sequence[tuple[str, ...]]) -> b.Table:
    cells = [[b.Cell((one,)) for one in row] for row in rows]
    width = len(cells[0])
    out = tuple(b.Row(first, tuple(rest)) for first, *rest in cells)
    return b.Table(("",) * (width - 1), out, align="l" * (width - 1))
