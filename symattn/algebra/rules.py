"""The rules that links of a proof may name, as equations.

A name tells a reader why two expressions are equal; that they are is decided as of everything else.
Tests prove each rule for all sizes, and that every link of the catalogue follows by what it names.
"""

from __future__ import annotations

from dataclasses import dataclass

from symattn.errors import SymattnError, nearest


@dataclass(frozen=True)
class RewriteRule:
    """An equation that may be used in a proof, in either direction.

    Its letters stand for any matrices that fit, those of `permuting` for permutations.
    """

    name: str
    statement: str
    says: str
    permuting: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()


#: Adding a rule is adding a row; a test proves each.
RULES: tuple[RewriteRule, ...] = (
    RewriteRule("ring", "A (B C) = (A B) C", "products associate; sums and numbers commute"),
    RewriteRule("distribute", "A (B + C) = A B + A C", "a factor on the left distributes"),
    RewriteRule("distribute right", "(A + B) C = A C + B C", "a factor on the right distributes"),
    RewriteRule("distribute number", "a*(B + C) = a*B + a*C", "a number distributes over a sum"),
    RewriteRule("transpose", "(A B)^T = B^T A^T", "transposing reverses a product"),
    RewriteRule("inverse", "M M^-1 = I", "a matrix times its inverse is I"),
    RewriteRule("inverse left", "M^-1 M = I", "an inverse times its matrix is I"),
    RewriteRule("unfold", "softmax(S) = exp(S) / rowsum(exp(S))", "definition of the row softmax"),
    RewriteRule("rows sum to 1", "softmax(S) 1 = ones", "each row of a softmax sums to 1"),
    RewriteRule(
        "shift", "softmax(S + c 1^T) = softmax(S)", "a number added to a row has no effect"
    ),
    RewriteRule("permute rows", "softmax(P S) = P softmax(S)", "rows are treated alike", ("P",)),
    RewriteRule(
        "permute columns", "softmax(S P) = softmax(S) P", "columns are treated alike", ("P",)
    ),
    RewriteRule("permutation", "P^T P = I", "a permutation is undone by its transpose", ("P",)),
    RewriteRule("exp of a sum", "exp(A + B) = exp(A) ∘ exp(B)", "e^(a + b) = e^a e^b"),
    RewriteRule("exp of ln", "exp(ln(A)) = A", "e^(ln a) = a", positive=("A",)),
    RewriteRule(
        "exp of columns", "exp(S + c 1^T) = diag(exp(c)) exp(S)", "an added column scales rows"
    ),
    RewriteRule("row sums", "rowsum(A) = A 1", "a row sum is a product with ones"),
    RewriteRule(
        "sum of a scaled row", "rowsum(diag(c) A) = diag(c) rowsum(A)", "row factors come out"
    ),
    RewriteRule("quotient of rows", "(A / rowsum(B)) C = (A C) / rowsum(B)", "divide at the end"),
    RewriteRule(
        "cancel rows", "(diag(c) A) / (diag(c) rowsum(B)) = A / rowsum(B)", "factors cancel"
    ),
    RewriteRule("blocks", "[A, B] [C; D] = A C + B D", "blocks multiply like numbers"),
    RewriteRule("block row", "A [B, C] = [A B, A C]", "each block is multiplied on the left"),
    RewriteRule("blocks below", "[A; B] C = [A C; B C]", "each block is multiplied on the right"),
    RewriteRule("exp of blocks", "exp([A, B]) = [exp(A), exp(B)]", "exp is taken of each block"),
    RewriteRule(
        "sum of blocks", "rowsum([A, B]) = rowsum(A) + rowsum(B)", "row sums of blocks add"
    ),
    RewriteRule("transposed blocks", "[A; B]^T = [A^T, B^T]", "stacked blocks come side by side"),
    RewriteRule("ratio", "ratio(A) = A / rowsum(A)", "definition of the plain ratio"),
)


def rule(name: str) -> RewriteRule:
    """The rule of this name; raises `SymattnError` with the nearest name otherwise."""
    known = {row.name: row for row in RULES}
    if name not in known:
        raise SymattnError(f'no rule is called "{name}"{nearest(name, list(known))}')
    return known[name]
