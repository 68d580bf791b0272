"""Arrays as lists of lists: what a program in plain Python may call; a file holds what it needs.

Shapes are broadcast from the back, as in NumPy. The functions stand in people's files as they are
here, so that they are written for readers, without types.
"""
# ruff: noqa: B905, D400, D403  (zip without `strict`, and formulas as descriptions)
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import math
import operator


def depth(x):
    """How many axes there are."""
    return 1 + (depth(x[0]) if x else 0) if isinstance(x, list) else 0


def each(f, *xs, whole=0):
    """f of what stands at the same place in all; `whole` axes from the back stay together."""
    deepest = max(depth(x) for x in xs)
    if deepest <= whole:
        return f(*xs)
    parts = [x if depth(x) == deepest else [x] for x in xs]
    count = max(len(part) for part in parts)
    return [
        each(f, *(part[k if len(part) > 1 else 0] for part in parts), whole=whole)
        for k in range(count)
    ]


def shape(x):
    """The number of entries along each axis."""
    return [len(x), *shape(x[0])] if isinstance(x, list) else []


def flat(x):
    """All entries, rows first."""
    return [entry for part in x for entry in flat(part)] if isinstance(x, list) else [x]


def reshape(x, sizes):
    """The same entries in another shape."""
    entries = flat(x)
    for size in reversed(sizes[1:]):
        entries = [entries[k : k + size] for k in range(0, len(entries), size)]
    return entries


def broadcast(x, sizes):
    """Repeated to the shape."""
    return each(lambda entry, _: entry, x, reshape([0] * math.prod(sizes), sizes))


def add(a, b):
    """a + b"""
    return each(lambda x, y: x + y, a, b)


def subtract(a, b):
    """a − b"""
    return each(lambda x, y: x - y, a, b)


def multiply(a, b):
    """a · b, entry by entry"""
    return each(lambda x, y: x * y, a, b)


def divide(a, b):
    """a / b; NaN where b is 0"""
    return each(lambda x, y: x / y if y else math.nan, a, b)


def negative(a):
    """−a"""
    return each(lambda x: -x, a)


def matmul(a, b):
    """The product of the last two axes."""

    def product(a, b):
        columns = list(zip(*b))
        return [[sum(map(operator.mul, row, c)) for c in columns] for row in a]

    return each(product, a, b, whole=2)


def transpose(x):
    """The last two axes exchanged."""
    return each(lambda matrix: [list(column) for column in zip(*matrix)], x, whole=2)


def exp(x):
    """e to each entry"""
    return each(math.exp, x)


def tanh(x):
    """The hyperbolic tangent of each entry."""
    return each(math.tanh, x)


def sqrt(x):
    """The square root of each entry."""
    return each(math.sqrt, x)


def cos(x):
    """The cosine of each entry."""
    return each(math.cos, x)


def sin(x):
    """The sine of each entry."""
    return each(math.sin, x)


def erf(x):
    """The error function of each entry."""
    return each(math.erf, x)


def relu(x):
    """What is positive; 0 elsewhere."""
    return each(lambda entry: max(entry, 0), x)


def sigmoid(x):
    """1/(1 + e^(−x))"""
    return each(lambda entry: 0.5 * (1 + math.tanh(0.5 * entry)), x)


def elu1(x):
    """x + 1 from 0 on, e^x below"""
    return each(lambda entry: entry + 1 if entry >= 0 else math.exp(entry), x)


def log(x):
    """The natural logarithm of each entry."""
    return each(math.log, x)


def absolute(x):
    """Each entry without its sign."""
    return each(abs, x)


def at_most_1(x):
    """What is below 1; 1 elsewhere."""
    return each(lambda entry: min(entry, 1), x)


def above0(x):
    """1 where an entry is above 0, else 0."""
    return each(lambda entry: int(entry > 0), x)


def below1(x):
    """1 where an entry is below 1, else 0."""
    return each(lambda entry: int(entry < 1), x)


def hidden(x):
    """Where an entry is −∞."""
    return each(lambda entry: entry == -math.inf, x)


def equals(x, number):
    """Where an entry is the number."""
    return each(lambda entry, other: entry == other, x, number)


def either(a, b):
    """Where one of the two holds."""
    return each(lambda x, y: bool(x or y), a, b)


def both(a, b):
    """Where both hold."""
    return each(lambda x, y: bool(x and y), a, b)


def negated(a):
    """Where it does not hold."""
    return each(lambda x: not x, a)


def where(condition, a, b):
    """a where the condition holds, b elsewhere"""
    return each(lambda holds, x, y: x if holds else y, condition, a, b)


def row_sum(x):
    """The sum of each row, as a column."""
    return each(lambda row: [sum(row)], x, whole=1)


def row_max(x):
    """The largest entry of each row, as a column."""
    return each(lambda row: [max(row)], x, whole=1)


def row_all(x):
    """Whether all of each row holds, as a column."""
    return each(lambda row: [all(row)], x, whole=1)


def row_any(x):
    """Whether any of each row holds, as a column."""
    return each(lambda row: [any(row)], x, whole=1)


def first_largest(x):
    """1 at the first largest entry of each row, 0 elsewhere."""

    def chosen(row):
        first = row.index(max(row))
        return [int(k == first) for k in range(len(row))]

    return each(chosen, x, whole=1)


def threshold(x):
    """The τ of sparsemax: what is above it, less τ, sums to 1 in each row."""

    def level(row):
        ranked = sorted(row, reverse=True)
        return [max((sum(ranked[: k + 1]) - 1) / (k + 1) for k in range(len(row)))]

    return each(level, x, whole=1)


def pick(x, *index):
    """An index for each axis: a slice, a number (the axis goes) or None (a new one)."""
    if not index:
        return x
    first, *rest = index
    if first is None:
        return [pick(x, *rest)]
    if isinstance(first, int):
        return pick(x[first], *rest)
    return [pick(part, *rest) for part in x[first]]


def take(x, places, axis):
    """The slices at these places along an axis, counted from the back."""
    return each(lambda part: [part[place] for place in places], x, whole=-axis)


def repeat(x, times, axis):
    """Each slice along an axis, counted from the back, so many times."""
    return each(lambda part: [p for p in part for _ in range(times)], x, whole=-axis)


def beside(x):
    """The matrices of the heads beside each other."""

    def joined(heads):
        return [[entry for row in rows for entry in row] for rows in zip(*heads)]

    return each(joined, x, whole=3)


def apart(x, heads):
    """The matrices of the heads, which stand beside each other."""

    def parted(rows):
        size = len(rows[0]) // heads
        return [[row[h * size : (h + 1) * size] for row in rows] for h in range(heads)]

    return each(parted, x, whole=2)


def join(parts, axis):
    """One after the other along an axis, counted from the back."""
    return each(lambda *few: [one for x in few for one in x], *parts, whole=-axis)


def interleave(a, b):
    """In turn along the last axis."""
    return each(lambda x, y: [one for pair in zip(x, y) for one in pair], a, b, whole=1)


def permute(x, order):
    """The axes in another order."""
    sizes = shape(x)

    def made(index):
        if len(index) < len(order):
            return [made([*index, k]) for k in range(sizes[order[len(index)]])]
        entry = x
        for axis in range(len(order)):
            entry = entry[index[order.index(axis)]]
        return entry

    return made([])


def along(x, places):
    """In each row the entries at the places of the same row."""
    return each(lambda row, at: [row[k] for k in at], x, places, whole=1)


def spread(x, places):
    """Each row made a matrix, of its entries at these places."""
    return each(lambda row: each(lambda place: row[place], places), x, whole=1)


def gather(parts, places):
    """The entries at these places of all parts, one after the other."""
    entries = [entry for part in parts for entry in flat(part)]
    return each(lambda place: entries[place], places)
