"""Decoding with a cache: tokens cut into chunks, the keys and values of one kept for the next.

The first chunk is derived alone, every later one after the keys and values of all before it; one
token at a time is decoding, several at a time is chunked prefill. Cutting must not change any
result, so a query that sees a token of a later chunk is refused.

Source: Shazeer, *Fast Transformer Decoding* (2019), section 2.4; chunks of several tokens: Agrawal
et al., *SARATHI* (2023), section 4.1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from symattn.arguments import instance, table, word
from symattn.arithmetic.base import Array
from symattn.attention.build import build
from symattn.attention.meaning import check_meaning
from symattn.attention.plan import Plan, m, n, p
from symattn.attention.spec import PASTS, Attention
from symattn.derivations import Derivation, Evaluation, Given, Input
from symattn.errors import SymattnError, quote
from symattn.nodes.arguments import Setting
from symattn.nodes.masks import part_of

#: How many chunks are derived; each is a derivation of its own.
MOST_CHUNKS = 64


@dataclass(frozen=True, repr=False)
class Chunk:
    """Some tokens in a row: which (counted from 0), their derivation and its values."""

    tokens: range
    derivation: Derivation
    evaluation: Evaluation

    def __repr__(self) -> str:
        return f"<Chunk of tokens {[*self.tokens]}: {', '.join(self.evaluation)}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.evaluation._repr_mimebundle_()


def decode(
    spec: Attention,
    chunks: Setting = 1,
    *,
    sizes: Mapping[str, int] | None = None,
    labels: Mapping[str, Collection[str]] | None = None,
    title: str = "",
    dtype: object = "float64",
    **given: Given,
) -> tuple[Chunk, ...]:
    """The attention of all tokens as a sequence of derivations over a growing cache.

    `chunks`: so many tokens at a time (the last chunk may be shorter), or how many in each,
    ``[3, 1, 1]``. The rest is as for `Attention.derivation` and `Derivation.evaluate` of all tokens
    at once; what has a row or a column for each token is cut. A token's row is its row there: after
    p tokens, K_past = [k_1 … k_p], V_past = [v_1 … v_p] and positions go on from p.

    Shapes, for c tokens after p: Q c × d_k, K_cached (p + c) × d_k, V_cached (p + c) × d_v.
    Raises `SymattnError` if the chunks do not add up, no keys and values follow token by token
    from what is given, or a query sees a token of a later chunk.

    >>> spec = Attention(mask="causal", scale=False)
    >>> rows = [[1, 0], [0, 2], [1, 1]]
    >>> steps = decode(spec, [2, 1], Q=rows, K=rows, V=rows, labels={"n": ["a", "b", "c"]})
    >>> [step.derivation.title for step in steps]
    ['Tokens 1 to 2 of 3: "a b"', 'Token 3 of 3: "c"']
    >>> steps[1].evaluation["K_past"].exact
    Matrix([
    [1, 0],
    [0, 2]])
    >>> whole = spec.derivation().evaluate(Q=rows, K=rows, V=rows)
    >>> steps[1].evaluation["output"].exact == whole["output"].exact[2, :]
    True
    """
    instance(spec, Attention, "spec", "an Attention")
    word(title, "title")
    if not PASTS & set(given):
        spec = replace(spec, cache=False)  # the first token starts the cache
    plan = spec.settled(given)
    _check_cut(plan)
    over = replace(plan, cache=True)
    check_meaning(over)
    derivation = spec.derivation(given, sizes=sizes, labels=labels, title=title)
    kept = _kept_of(build(over, {}, {}, ""))
    _check_kept(derivation, kept)
    whole = derivation.evaluate(**given)
    count, before = _tokens(whole), whole.sizes.get(p, 0)
    cuts = tuple(pairwise(accumulate(chunk_sizes(chunks, count), initial=0)))
    _check_sight(derivation, whole, cuts, before)
    names = _Names(whole, before)
    cut = ("n", "m", "p")
    fixed = {name: size for name, size in table(sizes, "sizes").items() if name not in cut}
    out: list[Chunk] = []
    for start, stop in cuts:
        pasts = {each.past: _all_rows(out[-1], each) for each in kept} if out else {}
        masks = [(k, part_of(k, value, start, before + stop)) for k, value in spec.mask]
        part = replace(spec, mask=masks, cache=bool(out) or spec.cache).derivation(
            {*given, *pasts},
            sizes=fixed,
            labels=names.of(start, stop),
            title=names.title(title, start, stop, count),
        )
        parts = {
            item.name: _cut(item, whole.given[item.letter], start, stop, before)
            for item in part.inputs
            if item.name not in pasts
        }
        evaluation = part.evaluate(dtype=dtype, **parts, **pasts)
        out.append(Chunk(range(start, stop), part, evaluation))
    return tuple(out)


def chunk_sizes(chunks: Setting, count: int | None = None) -> tuple[int, ...]:
    """How many tokens are in each chunk; only the form is checked while the count is not known.

    >>> chunk_sizes(2, 5), chunk_sizes([3, 2], 5)
    ((2, 2, 1), (3, 2))
    """
    listed = list(chunks) if isinstance(chunks, list | tuple) else [chunks]
    if len(listed) > MOST_CHUNKS:
        raise _too_many_chunks(len(listed))
    for size in listed:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise SymattnError(
                f"chunks: {quote(size)} is not a number of tokens; give a whole number from 1, or "
                "one for each chunk: [3, 1, 1]"
            )
    if not listed:
        raise SymattnError("chunks: no chunk is given; give e.g. 1 or [3, 1, 1]")
    if count is not None and not isinstance(chunks, list | tuple):
        (size,) = listed
        if -(-count // size) > MOST_CHUNKS:
            raise _too_many_chunks(-(-count // size))
        listed = [min(size, count - start) for start in range(0, count, size)]
    if count is not None and sum(listed) != count:
        counts = ", ".join(map(str, listed[:8])) + (", …" if len(listed) > 8 else "")
        raise SymattnError(
            f"chunks: [{counts}] make {sum(listed)} tokens, and {count} are given; "
            f"give chunks that add up to {count}"
        )
    return tuple(listed)


def _too_many_chunks(count: int) -> SymattnError:
    return SymattnError(f"chunks: {count} chunks are too many derivations; {MOST_CHUNKS} at most")


@dataclass(frozen=True)
class _Kept:
    """What is cached: the names of the rows from before, of the new rows, and of both."""

    past: str
    new: str
    both: str


def _kept_of(cached: Derivation) -> tuple[_Kept, ...]:
    """What a derivation with a cache appends to: [K_past; K] is K_cached."""
    names = {item.letter: item.name for item in (*cached.inputs, *cached.steps)}
    out = []
    for step in cached:
        read = [names[letter] for letter in step.operands]
        if read and read[0].endswith("_past"):
            out.append(_Kept(read[0], read[1], step.name))
    return tuple(out)


def _check_cut(plan: Plan) -> None:
    """Refuse what is of all tokens at once: another sequence, given positions, a length."""
    if "memory" in plan.facts:
        raise SymattnError(
            "chunks: the keys of cross-attention come from another sequence, which is there from "
            "the start; leave chunks out"
        )
    if {"ids", "caches"} & plan.facts:
        raise SymattnError(
            "chunks: rotary positions that are given, or tables of cosines and sines, are not "
            "cut; leave chunks out"
        )
    if "by-length" in plan.facts:
        raise SymattnError(
            "chunks: the frequencies depend on how many tokens there are, so that cutting would "
            "change them; leave chunks out"
        )


def _check_kept(derivation: Derivation, kept: Collection[_Kept]) -> None:
    """What is cached must be there to be cached."""
    there = {item.name for item in (*derivation.inputs, *derivation.steps)}
    for each in kept:
        if each.new not in there:
            raise SymattnError(
                f"chunks: {each.new} does not follow from what is given; "
                "start from X and its weights, or from Q, K and V"
            )


def _tokens(whole: Evaluation) -> int:
    """How many tokens there are, each with a query and a key."""
    queries = int(whole.sizes[n])
    keys = int(whole.sizes.get(m, queries))
    if queries != keys:
        raise SymattnError(
            f"chunks: {queries} queries and {keys} keys; give one of each for every token"
        )
    return queries


def _check_sight(
    derivation: Derivation, whole: Evaluation, cuts: Collection[tuple[int, int]], before: int
) -> None:
    """No query may see a key that is not there yet: cutting would change its row."""
    names = derivation.names
    step = "mask" if "mask" in names else "masked" if "masked" in names else None
    for start, stop in cuts:
        ahead = np.ones((stop - start, int(whole.sizes[n]) - stop), dtype=bool)
        if step is not None:
            ahead = whole[step].array[..., start:stop, before + stop :] > -np.inf
        if ahead.any():
            *_, row, column = np.argwhere(ahead)[0]
            raise SymattnError(
                f"chunks: token {start + row + 1} attends to token {stop + column + 1}, in a "
                'later chunk; mask out later tokens (mask = "causal") or put both in one chunk'
            )


def _all_rows(chunk: Chunk, kept: _Kept) -> Array:
    """All rows of a cached matrix by the end of a chunk; exact unless they are too many."""
    item = chunk.evaluation[kept.both if kept.both in chunk.derivation.names else kept.new].step
    read = chunk.evaluation.exact if chunk.evaluation.is_exact else chunk.evaluation.array
    return read(item.letter)


def _cut(item: Input, value: Array, start: int, stop: int, before: int) -> Array:
    """What an input holds for these tokens: rows for them, columns for all keys up to them."""
    rows, columns = item.shape
    if rows in (n, m):
        value = value[..., start:stop, :]
    if columns.free_symbols & {n, m}:
        value = value[..., : before + stop]
    return value


class _Names:
    """The names of tokens, of all and of those in a chunk; `others` name what is not cut."""

    def __init__(self, whole: Evaluation, before: int) -> None:
        self.tokens = tuple(whole.labels.get(n) or whole.labels.get(m, ()))
        self.keys = tuple(whole.labels.get(m, self.tokens))
        self.past = tuple(whole.labels.get(p, ("",) * before))
        self.others = {
            str(size): names
            for size, names in whole.labels.items()
            if not size.free_symbols & {n, m, p}
        }

    def of(self, start: int, stop: int) -> dict[str, tuple[str, ...]]:
        """The labels of a chunk's derivation, by size."""
        if not self.tokens:
            return self.others
        past = (*self.past, *self.keys[:start])
        out = self.others | {"n": self.tokens[start:stop], "m": self.keys[start:stop]}
        return out | ({"p": past} if past else {})

    def title(self, title: str, start: int, stop: int, count: int) -> str:
        """Which tokens of how many: token 3 of 5: "cat"."""
        which = f"token {stop}" if stop - start == 1 else f"tokens {start + 1} to {stop}"
        words = " ".join(self.tokens[start:stop])
        place = f"{which} of {count}" + (f': "{words}"' if words else "")
        return f"{title}, {place}" if title else place[0].upper() + place[1:]
