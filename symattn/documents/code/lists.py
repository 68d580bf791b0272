"""Arrays as lists of lists: what a program in plain Python may call; a file holds what it needs.

Shapes are broadcast from the back, as in NumPy. The functions stand in people's files as they are
here, so that they are written for readers, without types.
"""
# ruff: noqa: D400, D403  (formulas as descriptions)
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import math
import operator


def depth(x):
    """How many axes there are."""
    return 1 + (depth(x[0]) if x else 0) if isinstance(x, list) else 0


def each(f, *xs, whole=0):
    """f of what stands at the same place in all, but for the `whole` last axes."""
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
        columns = list(zip(*b, strict=True))
        return [[sum(map(operator.mul, row, c)) for c in columns] for row in a]

    return each(product, a, b, whole=2)


def transpose(x):
    """The last two axes exchanged."""

    def turned(rows):
        return [list(column) for column in zip(*rows, strict=True)]

    return each(turned, x, whole=2)


def inverse(x):
    """The inverses of matrices, by elimination with the largest pivots."""

    def inverted(rows):
        size = len(rows)
        wide = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(rows)]
        for k in range(size):
            heights = [abs(row[k]) for row in wide[k:]]
            pivot = k + heights.index(max(heights))
            wide[k], wide[pivot] = wide[pivot], wide[k]
            first = wide[k] = [value / wide[k][k] for value in wide[k]]
            for i in range(size):
                factor = wide[i][k] if i != k else 0
                wide[i] = [a - factor * b for a, b in zip(wide[i], first, strict=True)]
        return [row[size:] for row in wide]

    return each(inverted, x, whole=2)


def exponential(x):
    """e to each entry"""
    return each(lambda entry: math.exp(entry) if entry < 709 else math.inf, x)


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


def at_most(a, b):
    """Where an entry of the first is no larger."""
    return each(lambda x, y: x <= y, a, b)


def whole_power(x, exponents):
    """Each entry to the whole power at its place; infinity for 0 to a power below 0."""
    return each(lambda base, k: math.inf if base == 0 and k < 0 else base**k, x, exponents)


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
    """Whether anything of each row holds, as a column."""
    return each(lambda row: [any(row)], x, whole=1)


def hardmax(x):
    """1 at the first largest entry of each row, 0 elsewhere."""

    def chosen(row):
        first = row.index(max(row))
        return [int(k == first) for k in range(len(row))]

    return each(chosen, x, whole=1)


def top_k(x, count):
    """Where the largest entries of each row are, so many; of equal ones the first."""

    def chosen(row):
        falling = sorted(range(len(row)), key=lambda k: -row[k])
        return [k in falling[:count] for k in range(len(row))]

    return each(chosen, x, whole=1)


def threshold(x):
    """The τ of sparsemax: what is above it, less τ, sums to 1 in each row."""

    def level(row):
        ranked = sorted(row, reverse=True)
        return [max((sum(ranked[: k + 1]) - 1) / (k + 1) for k in range(len(row)))]

    return each(level, x, whole=1)


def threshold_of_squares(x):
    """The τ of entmax15: what is above it, less τ, has squares that sum to 1."""

    def level(row):
        ranked = sorted(row, reverse=True)
        found = ranked[0] - 1
        for count in range(2, len(row) + 1):
            mean = sum(ranked[:count]) / count
            left = (1 - sum((entry - mean) ** 2 for entry in ranked[:count])) / count
            if left < 0 or mean - math.sqrt(left) > ranked[count - 1]:
                break
            found = mean - math.sqrt(left)
        return [found]

    return each(level, x, whole=1)


def repeat(x, times, axis):
    """Each slice along an axis, counted from the back, so many times."""
    return each(lambda part: [p for p in part for _ in range(times)], x, whole=-axis)


def join(parts, axis):
    """One after the other along an axis, counted from the back."""
    return each(lambda *few: [one for x in few for one in x], *parts, whole=-axis)


def interleave(a, b):
    """In turn along the last axis."""

    def mixed(row, other):
        pairs = zip(row, other, strict=False)
        return [entry for pair in pairs for entry in pair] + row[len(other) :]

    return each(mixed, a, b, whole=1)


def both(a, b):
    """Where both hold."""
    return each(lambda x, y: bool(x and y), a, b)


def negated(a):
    """Where it does not hold."""
    return each(lambda x: not x, a)


def softmax(x):
    """Softmax of each row."""

    def weights(row):
        largest = max(row)
        exps = [math.exp(entry - largest) for entry in row]
        return [e / sum(exps) for e in exps]

    return each(weights, x, whole=1)


def softmax_off_by_one(x):
    """Softmax beside one more score, 0, whose weight is dropped."""
    return softmax_with_sink(x, [[0]])


def softmax_with_sink(x, sink):
    """Softmax beside one more score, the sink, whose weight is dropped."""
    return each(lambda row, more: softmax([*row, *more])[:-1], x, sink, whole=1)


def sparsemax(x):
    """Sparsemax of each row (Martins and Astudillo 2016)."""
    shifted = subtract(x, row_max(x))
    return relu(subtract(shifted, threshold(shifted)))


def entmax15(x):
    """Entmax with alpha 1.5 of each row (Peters, Niculae, Martins 2019)."""
    half = each(lambda entry: max(entry / 2, -1), subtract(x, row_max(x)))
    root = relu(subtract(half, threshold_of_squares(half)))
    return multiply(root, root)


def rotate_half(x, cos, sin):
    """Turn column t with column t + d/2, for each t, by its angle."""

    def turned(row, cos, sin):
        pairs = list(zip(row[: len(cos)], row[len(cos) :], cos, sin, strict=True))
        first = [a * c - b * s for a, b, c, s in pairs]
        return first + [b * c + a * s for a, b, c, s in pairs]

    return each(turned, x, cos, sin, whole=1)


def rotate_pairs(x, cos, sin):
    """Turn each pair of neighbouring columns by its angle."""

    def turned(row, cos, sin):
        pairs = zip(row[0::2], row[1::2], cos, sin, strict=True)
        return [y for a, b, c, s in pairs for y in (a * c - b * s, b * c + a * s)]

    return each(turned, x, cos, sin, whole=1)


def alibi_slopes(heads):
    """The slope of each head (Press et al. 2021)."""
    power = 2 ** int(math.log2(heads))
    slopes = [2.0 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2.0 ** (-4 * (head + 1) / power) for head in range(0, 2 * power, 2)]
    return slopes + between[: heads - power]


def relative_bucket(offset, buckets, max_distance, bidirectional):
    """The bucket of an offset j - i, as in T5 (Raffel et al. 2020)."""
    if bidirectional:  # half of the buckets are for each direction
        half = buckets // 2
        earlier = relative_bucket(-abs(offset), half, max_distance, False)
        return half + earlier if offset > 0 else earlier
    distance = max(-offset, 0)
    exact = buckets // 2
    if distance < exact:
        return distance
    ratio = math.log(distance / exact) / math.log(max_distance / exact)
    # The logarithms may fall just short of a whole number.
    spaced = exact + math.floor(ratio * (buckets - exact) + 1e-9)
    return min(spaced, buckets - 1)


def entries(x, rows, columns):
    """The entries of each matrix at the places of rows and columns."""
    return each(lambda m: each(lambda i, j: m[i][j], rows, columns), x, whole=2)


def chosen(x, places):
    """The entries of each row at places along it."""
    return each(lambda row: each(lambda place: row[place], places), x, whole=1)


def part(x, start, stop, step, axis):
    """Every step-th slice from start to stop along an axis, counted from the back."""
    return each(lambda whole: whole[start:stop:step], x, whole=-axis)


def pick(x, place, axis):
    """The slice at one place of an axis, counted from the back."""
    return each(lambda whole: whole[place], x, whole=-axis)


def expand(x, axis):
    """A new axis, counted from the back."""
    return each(lambda whole: [whole], x, whole=-1 - axis)


def total(x, axis):
    """The sum over an axis, counted from the back."""

    def added(parts):
        return parts[0] if len(parts) == 1 else add(parts[0], added(parts[1:]))

    return each(added, x, whole=-axis)


def split_heads(x, heads):
    """The matrices of the heads, which stand beside each other."""

    def parted(rows):
        size = len(rows[0]) // heads
        return [[row[h * size : (h + 1) * size] for row in rows] for h in range(heads)]

    return each(parted, x, whole=2)


def merge_heads(x):
    """The matrices of the heads beside each other."""

    def joined(heads):
        return [flat(list(rows)) for rows in zip(*heads, strict=True)]

    return each(joined, x, whole=3)


def group_heads(x, groups):
    """The heads in groups of equal size."""

    def parted(heads):
        size = len(heads) // groups
        return [heads[g * size : (g + 1) * size] for g in range(groups)]

    return each(parted, x, whole=3)


def in_one_row(x):
    """The rows of each matrix as one."""
    return each(lambda rows: [flat(rows)], x, whole=2)


def sums_at(x, places, count):
    """In each row, the sums of the entries that share a place."""

    def sums(row, at):
        out = [0] * count
        for entry, place in zip(row, at, strict=True):
            out[place] += entry
        return out

    return each(sums, x, places, whole=1)


def identity(size):
    """Ones on the diagonal."""
    return [[int(i == j) for j in range(size)] for i in range(size)]
