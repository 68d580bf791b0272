"""The rules of the calculus. Adding one is adding a row; a test proves each."""

from __future__ import annotations

from symattn.algebra.calculus import Rule
from symattn.errors import SymattnError, nearest

RULES: tuple[Rule, ...] = (
    Rule("ring", "A (B C) = (A B) C", "products are associative, sums commute, numbers move"),
    Rule("distribute", "A (B + C) = A B + A C", "a product from the left distributes"),
    Rule("distribute right", "(A + B) C = A C + B C", "a product from the right distributes"),
    Rule("distribute number", "a*(B + C) = a*B + a*C", "a number distributes"),
    Rule("transpose", "(A B)^T = B^T A^T", "a transposed product is turned around"),
    Rule("inverse", "M M^-1 = I", "a matrix times its inverse"),
    Rule("inverse left", "M^-1 M = I", "the inverse of a matrix times it"),
    Rule("unfold", "softmax(S) = exp(S) / rowsum(exp(S))", "what the row softmax is"),
    Rule("rows sum to 1", "softmax(S) 1 = ones", "each row of a softmax sums to 1"),
    Rule("shift", "softmax(S + c 1^T) = softmax(S)", "a row softmax forgets what a row has in all"),
    Rule("permute rows", "softmax(P S) = P softmax(S)", "rows are treated alike", ("P",)),
    Rule("permute columns", "softmax(S P) = softmax(S) P", "columns are treated alike", ("P",)),
    Rule("permutation", "P^T P = I", "a permutation is undone by its transpose", ("P",)),
    Rule("exp of a sum", "exp(A + B) = exp(A) ∘ exp(B)", "e^(a + b) = e^a e^b"),
    Rule("exp of ln", "exp(ln(A)) = A", "e^(ln a) = a", positive=("A",)),
    Rule("exp of columns", "exp(S + c 1^T) = diag(exp(c)) exp(S)", "a column added is a factor"),
    Rule("row sums", "rowsum(A) = A 1", "a row sum is a product with ones"),
    Rule("sum of a scaled row", "rowsum(diag(c) A) = diag(c) rowsum(A)", "a factor leaves a sum"),
    Rule("quotient of rows", "(A / rowsum(B)) C = (A C) / rowsum(B)", "division may wait"),
    Rule("cancel rows", "(diag(c) A) / (diag(c) rowsum(B)) = A / rowsum(B)", "factors cancel"),
    Rule("blocks", "[A, B] [C; D] = A C + B D", "blocks multiply like numbers"),
    Rule("block row", "A [B, C] = [A B, A C]", "a product goes into each block"),
    Rule("blocks below", "[A; B] C = [A*C; B*C]", "a product goes into each block"),
    Rule("exp of blocks", "exp([A, B]) = [exp(A), exp(B)]", "e of each block"),
    Rule("sum of blocks", "rowsum([A, B]) = rowsum(A) + rowsum(B)", "a sum along both blocks"),
    Rule("transposed blocks", "[A; B]^T = [A^T, B^T]", "blocks below turn into blocks beside"),
    Rule("ratio", "ratio(A) = A / rowsum(A)", "what the plain ratio is"),
)


def rule(name: str) -> Rule:
    """The rule of this name; raises `SymattnError` with the nearest name otherwise."""
    for row in RULES:
        if row.name == name:
            return row
    raise SymattnError(f'no rule is called "{name}"{nearest(name, [r.name for r in RULES])}')
