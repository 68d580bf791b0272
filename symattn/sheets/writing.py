"""Worksheets as they are written: TOML of the choices and of what is given, with comments.

`worksheet_text` writes any; `starter` the one that somebody begins with, a small example of a
variant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from symattn.arguments import wrong
from symattn.arithmetic.decide import rounded
from symattn.notation.options import Notation

if TYPE_CHECKING:
    from symattn.attention.spec import Attention
    from symattn.attention.variants import Variant
    from symattn.derivations import Derivation, Evaluation, Given
    from symattn.step import Input

#: What the tokens of an example are called.
_TOKENS = ("the", "cat", "sat", "on", "a", "mat")
_OTHERS = ("le", "chat", "dort", "sur", "un", "tapis")


def worksheet_text(
    attention: Mapping[str, object],
    given: Mapping[str, object],
    *,
    title: str = "",
    comments: Mapping[str, str] | None = None,
    top: Mapping[str, object] | None = None,
    tables: Mapping[str, Mapping[str, object]] | None = None,
) -> str:
    """The text of a worksheet: its title, the choices under ``[attention]`` and what is given.

    `top` stands below the title, `tables` at the end; a comment stands above its key. Values are
    whole numbers, true and false, words, and lists and tables of these; decimals and fractions are
    written as they are spelled. Raises `SymattnError` for anything else.

    >>> print(worksheet_text({"scale": False}, {"scores": [[0, "1/3"]]}, title="A row"))
    title = "A row"
    schema = 1
    <BLANKLINE>
    [attention]
    scale = false
    <BLANKLINE>
    [given]
    scores = [[0, "1/3"]]
    <BLANKLINE>
    """
    said = comments or {}

    def lines(table: Mapping[str, object]) -> Iterator[str]:
        for key, value in table.items():
            yield from (f"# {line}" for line in said.get(key, "").splitlines())
            yield f"{_key(key)} = {_matrix(value, key)}"

    first = {"title": title, "schema": 1} if title else {"schema": 1}
    parts = [[*lines({**first, **(top or {})})]]
    named = {"attention": attention, "given": given, **(tables or {})}
    parts += [[f"[{name}]", *lines(table)] for name, table in named.items() if table]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)


def _matrix(value: object, key: str) -> str:
    """A value; the rows of a long matrix, and the matrices of heads, stand below one another."""
    line = _value(value, key)
    is_nested = isinstance(value, Sequence) and value and isinstance(value[0], list | tuple)
    # how long a line may get before each row of a matrix has one of its own
    if len(key) + len(line) + 3 <= 88 or not is_nested:
        return line
    assert isinstance(value, Sequence)
    rows = ",\n".join(f"    {_value(row, key)}" for row in value)
    return f"[\n{rows},\n]"


def _value(value: object, key: str) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal() | Fraction():
            return json.dumps(str(value))
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return f"{{{', '.join(f'{_key(k)} = {_value(v, key)}' for k, v in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(_value(part, key) for part in value)}]"
    raise wrong(value, key, "whole numbers, words, true or false, or lists of them")


# ---- a worksheet to begin with ---------------------------------------------------------------


def starter(
    variant: Variant,
    name: str = "FILE",
    *,
    tokens: int = 3,
    d_k: int = 2,
    heads: int | None = None,
    given: Mapping[str, Given] | None = None,
) -> str:
    """A worksheet of a variant on small whole numbers, with comments; `name` is that of its file.

    `given` are other numbers than those of the variant's example. Raises `SymattnError` if the
    variant does not allow these sizes.
    """
    from symattn.attention.example import small_equations, small_inputs

    spec, counts = None, dict[str, Any]()
    if variant.text:
        counts, derivation, usual = small_equations(
            variant.equations, tokens=tokens, d_k=d_k, heads=heads
        )
        said = [f"\n  {line}" for line in variant.text.strip().splitlines()]
        same = "these equations; others, below the title, go on top of them:"
    else:
        spec, usual = small_inputs(variant.spec, tokens=tokens, d_k=d_k, heads=heads)
        counts, derivation = _heads(variant, spec), spec.derivation()
        # of heads, the numbers are written
        choices = {key: x for key, x in variant.choices.items() if x not in ("h", "g")}
        said = [f"\n  {_key(key)} = {_value(value, key)}" for key, value in choices.items()]
        same = "these choices; another key beside it changes one:"
    given = usual if given is None else given
    evaluation = derivation.evaluate(**given)
    inputs = {item.name: item for item in derivation.inputs}
    attention: dict[str, object] = {"variant": variant.name, **counts}
    labels = _labels(spec, evaluation)
    comments = {
        "variant": f"The same as {same}{''.join(said)}" if said else "",
        "heads": "How many heads there are.",
        "kv_heads": "How many heads the keys and values have.",
        next(iter(labels), ""): "Names of rows, shown beside the matrices; they change no number.",
        **{key: _comment(inputs[key], evaluation) for key in given},
    }
    booleans = {key: _booleans(given[key]) for key in given if inputs[key].boolean}
    booleans.pop("one_hot", None)  # which are vectors of numbers
    text = worksheet_text(
        attention | labels, {**given, **booleans}, title=variant.title, comments=comments
    )
    commands = {
        f"symattn derive {name}": "every step, with these numbers",
        f"symattn derive {name} --format html -o page.html": "a page to read and to change",
        f"symattn check {name}": "marks the numbers under [claims], once there are any",
    }
    width = max(map(len, commands))
    head = [f"{variant.title}: {variant.about}.", variant.source, ""]
    head += [f"{command:{width}}  {does}" for command, does in commands.items()]
    return f"{_commented(head)}\n\n{text}{_optional(derivation, evaluation)}"


def _commented(lines: Sequence[str]) -> str:
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _heads(variant: Variant, spec: Attention) -> dict[str, Any]:
    """The numbers of heads where the variant leaves them open."""
    chosen = variant.choices
    return {
        key: getattr(spec, key) for key in ("heads", "kv_heads") if chosen.get(key) in ("h", "g")
    }


def _labels(spec: Attention | None, evaluation: Evaluation) -> dict[str, object]:
    """Names of tokens: of one sequence, of the second one, and of those before."""
    from symattn.attention.plan import m, n, p

    sizes = evaluation.sizes
    if spec is not None and spec.source in ("cross", "separate"):
        return {"key_tokens": [*islice(cycle(_OTHERS), sizes[m])]}
    if n not in sizes:  # the tokens stand in chunks
        return {}
    labels: dict[str, object] = {"tokens": [*islice(cycle(_TOKENS), sizes[n])]}
    if spec is not None and spec.cache:
        labels["past_tokens"] = [*islice(cycle(("once", "upon")), sizes[p])]
    return labels


def _comment(item: Input, evaluation: Evaluation) -> str:
    """What a matrix is, and its shape in letters and in numbers."""
    from symattn.attention.plan import h

    numbers = " × ".join(map(str, evaluation.shape(item.letter)[-2:]))
    letters = " × ".join(str(size).replace("*", " ") for size in item.shape)
    each = ""
    if item.per_head:
        whole = item.heads(evaluation.sizes) == evaluation.sizes.get(h)
        each = f", one for each {item.each or ('head' if whole else 'group of heads')}"
    shape = letters if letters == numbers else f"{letters} = {numbers}"
    said = f"{item.meaning or item.title}{each}".removeprefix(", ")
    return ": ".join(filter(None, (item.letter, said, shape)))


def _booleans(matrix: Given) -> Any:
    if isinstance(matrix, Sequence) and not isinstance(matrix, str):
        return [_booleans(part) for part in matrix]
    return bool(matrix)


def _optional(derivation: Derivation, evaluation: Evaluation) -> str:
    """What may be added, as comments that hold once they are no comments any more."""
    last = derivation.steps[-1]
    value, to_three = evaluation[last.name], Notation(digits=3)
    first = (0,) * (len(value.shape) - 1)
    row = [
        rounded(ball, 3) or value.digits((*first, column), to_three).text
        for column, ball in enumerate(value.balls[first])
    ]
    head = "[1]" if last.per_head else ""
    return (
        "\n# Numbers that somebody worked out, to be marked. These are right, to three decimals.\n"
        f'# [claims]\n# "{last.name}{head}[1,:]" = {_value(row, last.name)}\n'
        "\n# How it is written: the decimals shown, which are 4 where nothing is said.\n"
        "# [notation]\n# digits = 6\n"
    )
