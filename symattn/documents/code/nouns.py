"""What the values of a program are called that no step makes: by what they are."""

from __future__ import annotations

from symattn.arithmetic.recorded import Recorded, Value, is_of
from symattn.documents.code.body import Names
from symattn.documents.code.graph import Graph
from symattn.documents.code.positions import OPPOSITES

#: By its operation, where nothing else is known of it.
_NOUNS = {
    "hidden": "hidden",
    "every": "empty",
    "some": "any_visible",
    "exp": "exps",
    "row_sum": "sums",
    "total": "sums",
    "row_max": "largest",
    "cos": "cos",
    "sin": "sin",
    "powers": "theta",
    "numbers": "position",
    "listed": "tokens",
    "where": "kept",
    "add": "total",
    "subtract": "difference",
    "multiply": "product",
    "matmul": "product",
    "divide": "quotient",
    "tanh": "activations",
    "heads apart": "split",
    "σ": "gates",
    "above0": "positive",
    "entries": "chosen",
}


def noun_of(x: Recorded, graph: Graph, names: Names) -> str:
    """What a value is called that no step makes."""
    first = x.operands[0] if x.operands else None
    operation = first.operation if isinstance(first, Recorded) else ""
    if x.operation == "narrowed" and isinstance(first, Recorded):
        return noun_of(first, graph, names)
    if x in graph.roles:
        return graph.roles[x]
    if x.operation == "powers" and x.details[0] > 0:
        return "periods"
    if x.operation in ("call", "table", "places"):
        return str(x.details[0]).split("_")[-1]
    if x.operation == "√" and _is_norm(graph.operands(x)[0]):
        return "norm"
    if x.positional and x.operation in (*OPPOSITES, "equals", "and", "or", "not", "among"):
        return "visible"
    if x.operation == "repeat" and isinstance(first, Recorded):
        whole = names.of.get(graph.resolved(first), "matrices")
        return f"{whole}_by_head" if x.details == (-3,) else "repeated"
    if x.operation == "equals" and operation:
        return "visible" if operation == "given" else "empty"
    if x.operation == "numbers" and operation != "rows":
        return "offset" if operation == "subtract" else "distance"
    if x.positional and x.operation != "listed":
        return "offset" if x.operation == "subtract" else "index"
    if of_token := _of_token(x, graph, names):
        return of_token
    if x.operation == "beneath":
        return f"{names.of.get(graph.operands(x)[0], 'shared')}_heads"
    return _NOUNS.get(x.operation, "value")


def _of_token(x: Recorded, graph: Graph, names: Names) -> str:
    """What the part of a named matrix is called that a loop takes for a token; nothing else is."""
    whole = x.operands[0] if x.operation in ("part", "pick") and graph.tokens(x) else None
    return f"{names.of[whole]}_t" if isinstance(whole, Recorded) and whole in names.of else ""


def _is_norm(x: Value) -> bool:
    """Whether a value, under a root, is the length of each row."""
    if not is_of(x, "row_sum"):
        return False
    (squares,) = x.operands
    return is_of(squares, "multiply") and len({*squares.operands}) < 2
