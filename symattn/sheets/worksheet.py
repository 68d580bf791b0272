"""Reading a worksheet: TOML with ``[attention]``, ``[given]`` and, optionally, ``[notation]``.

Every limit comes before the work it bounds: size of the file, entries of a matrix, length of a
label. Whatever cannot be used is one `SymattnError` that says where, what and how to mend.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from symattn.algebra.identities import identity
from symattn.arguments import instance, whole, word, words
from symattn.arithmetic.reading import MAX_ENTRIES, as_lists, depth, value_of
from symattn.arithmetic.spelling import decimal_shown, plain_text
from symattn.arithmetic.written import read_written
from symattn.attention.decoding import Chunk, chunk_sizes, decode
from symattn.attention.plan import PER_HEAD, PLAIN, SHIFTED
from symattn.attention.spec import Attention
from symattn.attention.variants import Variant, variant
from symattn.attention.vocabulary import SYMBOLS, WORDS, Notation, equations, symbol_of
from symattn.claims.claims import claimed_reference
from symattn.claims.computed import Computed, computed
from symattn.claims.labels import (
    label_of,
    labels_of,
    leaves,
    texts_of,
    words_of,
)
from symattn.claims.lines import Side, is_line, last_side, read_line
from symattn.claims.policy import Policy
from symattn.claims.references import Reference, reference_in
from symattn.claims.tables import ANSWERS, AXES, KEYS, LENGTHS, home_of, refuse_unknown
from symattn.derivations import Derivation, Evaluation, Given
from symattn.errors import ReadError, counted, located, nearest, quote
from symattn.files.named import LIMITS, names_numbers, path_of, read_text
from symattn.files.toml import parse, place_of_fault
from symattn.grammar import Apart, Call
from symattn.greek import in_ascii
from symattn.language import is_equations_file
from symattn.language.spec import Equations
from symattn.nodes.arguments import Setting
from symattn.sheets.levels import Levels, item_of, levels_of

_SHARED = tuple(name for name, word in WORDS.items() if word.shared)
_OF_GROUPS = ("K", "V", "K_past", "V_past")  # all heads share them where there is one group
_ODD = re.compile(r"[,¼-¾⅐-⅞\u2009\u202f\u00a0]")

#: About how many bytes an exact number takes.
_EXACT_BYTES = 100


@dataclass(frozen=True)
class Worksheet:
    """A worksheet as read: the spec, what is given, and how it is to be shown."""

    title: str
    spec: Attention | Equations
    given: Mapping[str, Given]
    sizes: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notation: Notation = field(default_factory=Notation)
    claims: Mapping[str, Given] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    chunks: Setting = None
    name: str = ""
    text: str = field(default="", repr=False)
    upstream: Mapping[str, Given] = field(default_factory=dict)
    wrt: tuple[str, ...] | None = None
    #: The decimal sign of its numbers: as its policy says, or as they show; "" if they do not.
    decimal: str = ""
    #: How many calculations of the same shape it holds, None for one, and what differs in them.
    batch: int | None = None
    items: frozenset[str] = frozenset()
    #: The files of numbers that were read for it, resolved.
    files: tuple[Path, ...] = ()
    #: What its tokens are about.
    story: str = ""
    #: Arrays that a program computed, by step; they are claimed instead of numbers.
    arrays: Mapping[str, Computed] = field(default_factory=dict)
    #: The archive that these were read from, where it is claimed as a whole.
    archive: str = ""
    #: The keys of claims whose numbers stand in a file of their own.
    elsewhere: frozenset[str] = frozenset()
    #: What is tried on wrong numbers first: a name, equations, what is done instead, what to tell.
    misconceptions: tuple[tuple[str, str, str, str], ...] = ()
    #: Of an exercise how it was drawn: its style, seed and the version of the generator.
    exercise: Mapping[str, str | int] = field(default_factory=dict)
    #: Statements of the catalogue by their names: whether they are true, as somebody says.
    statements: Mapping[str, str] = field(default_factory=dict)

    @property
    def asks_fractions(self) -> bool:
        """Whether answers are fractions, as an exercise may ask: a whole number is exact then."""
        return self.exercise.get("style") == "fractions"

    @contextmanager
    def in_file(self) -> Iterator[None]:
        """Puts the file and the line before what is refused inside."""
        files = self.name, self.archive
        with located(lambda message: place_of_fault(self.name, self.text, message), *files):
            yield

    def derivation(self) -> Derivation:
        """The derivation from what is given on."""
        if self.batch is not None and self.wrt is not None:
            raise ReadError(f"gradient: is taken of one calculation, not of {self._whole}")
        derivation = self.spec.derivation(
            list(self.given), sizes=self.sizes, labels=self.labels, title=self.title
        )
        derivation = replace(derivation, story=self.story)
        if self.wrt is None:
            return derivation
        if not self.upstream:
            return derivation.gradient(self.wrt or None, upstream="ones")
        (name, value), *more = self.upstream.items()
        if more:
            raise ReadError(
                f"{more[0][0]}: {name} is given too; backpropagation starts from one gradient only"
            )
        of = name.removeprefix("d").removeprefix("_")
        if all(of not in (step.name, step.letter) for step in derivation):
            known = nearest(of, derivation.names)
            raise ReadError(f"{name}: no step is called {quote(of)}{known}")
        ones = "ones" if value == "ones" else None
        return derivation.gradient(self.wrt or None, of=of, upstream=ones)

    @property
    def _whole(self) -> str:
        return f"a batch of {self.batch}; give a worksheet for each item"

    def of_batch(self, number: int) -> Worksheet:
        """One item of the batch as a worksheet of its own, without claims; counted as it counts.

        Raises `ReadError` where there is no such item.
        """
        base = self.notation.index_base
        if self.batch is None:
            raise ReadError("batch: this worksheet holds one calculation")
        if not base <= whole(number, "batch") < base + self.batch:
            raise ReadError(
                f"batch: there is no item {quote(number)} among {base} to {base + self.batch - 1}"
            )
        given = item_of(self.given, self.items, number - base)
        return replace(self, given=given, claims={}, batch=None, items=frozenset())

    def backward(self, wrt: Iterable[str] = ()) -> Worksheet:
        """The same with the backward pass, with respect to these names; all inputs if none."""
        return replace(self, wrt=words(wrt, "gradient"))

    def evaluate(self, derivation: Derivation | None = None, dtype: str = "float64") -> Evaluation:
        """The derivation with the given numbers put in, shown in the notation asked for."""
        steps = (
            self.derivation()
            if derivation is None
            else instance(derivation, Derivation, "derivation", "a Derivation")
        )
        evaluation = steps.evaluate(dtype=dtype, **self.numbers)
        for item in evaluation.inputs:
            levels, wanted = len(evaluation.shape(item.letter)), 2 + item.per_head
            wanted += item.name in self.items
            if levels > wanted:
                whole = "one matrix per head" if item.per_head else "one matrix, whatever the heads"
                raise ReadError(
                    f"{item.name}: has {levels} levels of brackets where {wanted} are needed: "
                    f"{whole}; remove {counted(levels - wanted, 'level')}"
                )
        return evaluation.spelled(self.notation)

    @cached_property
    def values(self) -> Evaluation:
        """The evaluation that single numbers of this worksheet are taken from, made once."""
        with self.in_file():
            return self.evaluate()

    @property
    def numbers(self) -> dict[str, Given]:
        """All that is put in: what is given and, for a backward pass, where it starts."""
        start = {} if self.wrt is None else self.upstream
        return {**self.given, **{name: x for name, x in start.items() if x != "ones"}}

    def decode(self, chunks: Setting = None, dtype: str = "float64") -> tuple[Chunk, ...]:
        """The tokens in chunks, as the worksheet says or as told here; see `decode`."""
        if self.batch is not None:
            raise ReadError(f"chunks: are cut from one calculation, not from {self._whole}")
        if isinstance(self.spec, Equations):
            raise ReadError("chunks: equations are not decoded with a cache; leave chunks out")
        decoded = decode(
            self.spec,
            self.chunks if chunks is None else chunks,
            sizes=self.sizes,
            labels=self.labels,
            title=self.title,
            dtype=dtype,
            **self.given,
        )
        first, *others = (
            replace(c, evaluation=c.evaluation.spelled(self.notation)) for c in decoded
        )
        told = replace(first, derivation=replace(first.derivation, story=self.story))
        return (told, *others)


def read_worksheet(path: str | Path) -> Worksheet:
    """The worksheet in a file, or on standard input for ``-``.

    Raises `ReadError` (or another `SymattnError`) whose message begins with the file and, where
    it is known, the line.
    """
    path = path_of(path, "path")
    name = "<stdin>" if str(path) == "-" else str(path)
    return worksheet_of(read_text(path, name), name)


def check_tables(text: str, name: str) -> None:
    """Raises `ReadError` where a TOML file has a key at its top that no worksheet has.

    If it has equations, that is a worksheet, and whatever keeps it from being one is raised.
    """
    with _tables(text, name) as data:
        if "equations" in data:
            worksheet_of(text, name)


def read_attention(path: str | Path) -> Attention | Equations:
    """The attention that a worksheet or a file of equations says, without any ``[given]``.

    Raises as `read_worksheet` does, and for a file that says nothing.
    """
    name = str(path_of(path, "path"))
    text = read_text(path, name)
    if is_equations_file(name):
        return equations_of(text, name)
    with _tables(text, name) as data:
        if "given" in data:
            return worksheet_of(text, name).spec
        attention = _table(data, "attention")
        own = _text_of(data, attention)
        if own is not None:
            return own
        if "attention" not in data:
            raise ReadError('attention: nothing is said; add [attention] with e.g. mask = "causal"')
        return _spec(attention, {})[0]


def equations_of(
    text: str,
    name: str,
    base: Derivation | None = None,
    levels: Mapping[str, int] | None = None,
) -> Equations:
    """The equations of a text, alone or on top of a `base`, with what the field says of its names.

    `levels` are how many levels of brackets each given letter has. Raises `SymattnError` with the
    name of the text, and its line and character.
    """
    found = equations(text, levels, base)
    with located(name):
        found.letters  # noqa: B018  what is wrong in the text is said here
    return found


def worksheet_of(
    text: str,
    name: str = "worksheet",
    first_line: int = 1,
    roots: Sequence[Path] = (),
    refused: dict[str, str] | None = None,
) -> Worksheet:
    """The worksheet that a text holds; its first line counts as `first_line` of the file `name`.

    Files that it names are looked for beside that file, and lie under its folder, or under one of
    the `roots` where it does itself. Claims of what is no step are left out and `refused`, with
    the reason, where that is given. Raises as `read_worksheet` does.
    """
    word(text, "text", "the text of a worksheet")
    word(name, "name", "the name of its file")
    text = "\n" * (whole(first_line, "first_line", 1, LIMITS.bytes) - 1) + text
    with _tables(text, name) as data:
        sheet = _worksheet(data, _Files(Path(name).parent, roots), refused)
    return replace(sheet, name=name, text=text)


@contextmanager
def _tables(text: str, name: str) -> Iterator[dict[str, object]]:
    """The tables of a text; its file and line begin what is refused of them inside."""
    data = parse(text, name)
    with located(lambda message: place_of_fault(name, text, message), name):
        refuse_unknown(data, "")
        yield data


def _worksheet(
    data: Mapping[str, object], files: _Files, refused: dict[str, str] | None
) -> Worksheet:
    schema = data.get("schema", 1)
    if schema != 1 or isinstance(schema, bool):
        raise ReadError(f"schema = {quote(schema)}: this symattn reads schema 1")
    attention = _table(data, "attention")
    text = _text_of(data, attention)
    letters = SYMBOLS if text is None else text.letters
    given = _given(_table(data, "given"), files, letters)
    upstream = {name: given.pop(name) for name in list(given) if name not in letters}
    wrt = words_of(data["gradient"], "gradient") if "gradient" in data else () if upstream else None
    if not given:
        raise ReadError("given: nothing is given; add [given] with e.g. Q = [[1, 0]], K and V")
    spec, settings, levels = _spec(attention, given, text)
    embeds = not isinstance(spec, Equations) or "one_hot" in spec.letters
    labels = labels_of(settings, given, embeds)
    claims, arrays = _claims(_table(data, "claims"), files)
    policy = _policy(data)
    notation = _notation(_table(data, "notation"))
    references = _references(claims, notation, _letters(spec), refused)
    claims = {key: claims[key] for key in references}
    decimal = policy.decimal or decimal_shown([*texts_of(claims), *texts_of(given)])
    given = {name: _with_points(value, name, decimal) for name, value in given.items()}
    steps = {*given, *arrays, *(reference.step for reference in references.values())}
    exponentials = _exponentials(claims, references, notation, decimal)
    spec = _unfolded(spec, steps, [*exponentials, *_computed_exponentials(arrays)])
    if "chunks" in settings:
        chunk_sizes(settings["chunks"])
    sizes = {name: settings[name] for name in (*LENGTHS, "n_h", "n_g") if name in settings}
    return Worksheet(
        label_of(data.get("title", ""), "title", 500),
        spec,
        given,
        sizes,
        labels,
        notation,
        claims,
        policy,
        decimal=decimal,
        chunks=settings.get("chunks"),
        upstream=upstream,
        wrt=wrt,
        batch=levels.batch,
        items=levels.items,
        files=tuple(files.read),
        story=label_of(data.get("story", ""), "story", 2000),
        arrays=arrays,
        elsewhere=frozenset(key for key in claims if names_numbers(_table(data, "claims")[key])),
        misconceptions=tuple(map(_misconception, _rows(data, "misconception"))),
        exercise={name: _fact(name, x) for name, x in _table(data, "exercise").items()},
        statements={name: _said(name, x) for name, x in _table(data, "statements").items()},
    )


def _claims(
    table: Mapping[str, object], files: _Files
) -> tuple[Mapping[str, object], dict[str, Computed]]:
    """The numbers that are claimed, those of CSV files too, and arrays claimed instead of them."""
    claims: dict[str, object] = {}
    arrays: dict[str, Computed] = {}
    for key, value in table.items():
        matrix = files.as_saved(key, str(value)) if names_numbers(value) else value
        if isinstance(matrix, np.ndarray):
            step = claimed_reference(key).step
            if step != key.strip():
                raise ReadError(f"{key}: an array claims a whole step; write {step} = …")
            arrays[step] = replace(computed(matrix, key), where=f"{key}: {value}")
        else:
            claims[key] = matrix
    if claims and arrays:
        raise ReadError(
            f"claims: {next(iter(arrays))} is an array of a program, {next(iter(claims))} is "
            "written by hand; give a worksheet for each"
        )
    return claims, arrays


def with_arrays(sheet: Worksheet, file: str | Path) -> Worksheet:
    """The worksheet, of which the arrays of an archive are claimed instead of its own claims.

    Raises `ReadError` for a file that cannot be read, or holds what is no step.
    """
    from symattn.files.matrices import every_matrix

    path = Path(path_of(file, "claims"))
    arrays = {
        name: replace(computed(array, name), where=f"{file}: {name}")
        for name, array in every_matrix(path).items()
    }
    for name in arrays:
        with located(str(file)):
            letters = sheet.spec.letters if isinstance(sheet.spec, Equations) else SYMBOLS
            if symbol_of(name) is None and name not in letters:
                known = nearest(name, letters)
                raise ReadError(f"{quote(name)} is not the name of a step{known}")
    files = (*sheet.files, path.resolve())
    spec = _unfolded(sheet.spec, arrays, _computed_exponentials(arrays))
    return replace(sheet, spec=spec, claims={}, arrays=arrays, files=files, archive=str(file))


def _computed_exponentials(arrays: Mapping[str, Computed]) -> list[list[sympy.Expr | None]]:
    """The rows of exponentials that were computed."""
    if "exp" not in arrays:
        return []
    numbers = arrays["exp"].numbers
    return [
        [sympy.S.One if x == 1 else sympy.Float(x) if np.isfinite(x) else None for x in row]
        for row in numbers.reshape(-1, numbers.shape[-1])
    ]


def _references(
    claims: Mapping[str, object],
    notation: Notation,
    letters: Mapping[str, str],
    refused: dict[str, str] | None,
) -> dict[str, Reference]:
    """What the key of each claim names; one that names no step is `refused`, or raised."""
    found: dict[str, Reference] = {}
    for key in claims:
        try:
            found[key] = claimed_reference(key, notation, letters)
        except ReadError as error:
            if refused is None:
                raise
            refused[key] = str(error)
    return found


def _policy(data: Mapping[str, object]) -> Policy:
    """What counts as right; the decimal sign may be said at the top of the file too."""
    policy = _table(data, "policy")
    if "decimal" in data:
        if policy.get("decimal", data["decimal"]) != data["decimal"]:
            raise ReadError("decimal: is given twice, at the top and in [policy]; keep one")
        policy = {**policy, "decimal": data["decimal"]}
    return Policy(**policy)


def _with_points(value: Given, where: str, decimal: str) -> Given:
    """What is given, its texts with decimal points, and with fractions for ½."""
    if isinstance(value, list):
        return [_with_points(part, where, decimal) for part in value]
    if not isinstance(value, str) or not (_ODD.search(value) or (decimal == "," and "." in value)):
        return value
    with located(where):
        return plain_text(value, decimal)


def _unfolded(
    spec: Attention | Equations,
    steps: Collection[str],
    exponentials: Sequence[Sequence[sympy.Expr | None]],
) -> Attention | Equations:
    """With the softmax in steps where one of them is given or claimed.

    Exponentials without a row maximum beside them are e^z, as one computes them by hand, unless
    they show that the maximum was taken off.
    """
    is_in_steps = {"row_max", "exp", "exp_sum"} & set(steps)
    if isinstance(spec, Equations) or not is_in_steps or isinstance(spec.unfold, str):
        return spec
    shifted = "row_max" in steps or _are_shifted(exponentials)
    return replace(spec, unfold=SHIFTED if shifted else PLAIN)


def _exponentials(
    claims: Mapping[str, object],
    references: Mapping[str, Reference],
    notation: Notation,
    decimal: str,
) -> list[list[sympy.Expr | None]]:
    """The claimed exponentials of each query, as far as whole rows of them are claimed.

    A worked line shows its own: e^(z − ρ) is 1 at most, and so are the terms of its row's sum.
    """
    rows: list[list[object]] = []
    sums: list[list[object]] = []
    columns = notation.convention == "columns"
    for key, value in claims.items():
        step, index = references[key].step, references[key].index
        if step == "exp_sum":
            sums += [terms for text in texts_of(value) if (terms := _summed(text, decimal))]
        if step != "exp":
            continue
        last = index[-2 if columns else -1] if len(index) > 1 else ":"
        for one in _single(value):
            if depth(one) < 2 and (
                not isinstance(one, list) or (columns and not index) or last != ":"
            ):
                # part of a row does not show the whole, unless it shows how it is made
                rows.append([1] if _takes_off(one, decimal) else [one, None])
            elif depth(one) < 2:
                rows.append(one)
            else:
                lines = [line if isinstance(line, list) else [line] for line in one]
                rows += [list(row) for row in zip_longest(*lines)] if columns else lines
    return [[_claimed_number(entry, decimal) for entry in row] for row in rows or sums]


def _sides(claim: object, decimal: str) -> Sequence[Side]:
    """The sides of a worked line that are made of numbers; none of what is refused later."""
    try:
        return read_line(claim, "", decimal)[1] if is_line(claim) else ()
    except ReadError:
        return ()


def _takes_off(claim: object, decimal: str) -> bool:
    """Whether a worked line shows e to a difference, e^(0.5 − 0.7), which is not above 1."""
    for side in _sides(claim, decimal):
        match side.tree:
            case Call("exp", (Apart("+", (_, Apart("neg"))),)) if side.value <= 1:
                return True
    return False


def _summed(claim: str, decimal: str) -> list[sympy.Expr]:
    """The terms of the first sum in a worked line."""
    for side in _sides(claim, decimal):
        match side.tree:
            case Apart("+", parts):
                return [value_of(part) for part in parts]
    return []


def _single(value: Given) -> Iterator[Given]:
    """The matrices of each head and each item of a batch."""
    if depth(value) < 3:
        yield value
    else:
        for part in value:
            yield from _single(part)


def _claimed_number(entry: object, decimal: str) -> sympy.Expr | None:
    """A claimed number; None for a blank, and for what is refused later."""
    try:
        text, _ = last_side(entry) if isinstance(entry, str) else (entry, 0)
        written = read_written(text, "", decimal)
    except ReadError:
        return None
    return None if written is None else written.value


def _are_shifted(rows: Sequence[Sequence[sympy.Expr | None]]) -> bool:
    """Whether each row of exponentials has a 1 and nothing above it: e^(z − max).

    A row of e^z looks like that only where its maximum is 0, and there both are the same.
    """
    return bool(rows) and all(
        1 in row and all(value is not None and value <= 1 for value in row) for row in rows
    )


def _fact(name: str, value: object) -> str | int:
    """What a table [exercise] says: a word, a whole number, true or false."""
    return value if isinstance(value, int) else label_of(value, f"exercise: {name}", 500)


def _said(name: str, value: object) -> str:
    """What is said of a statement of the catalogue: whether it is true."""
    identity(name)
    said = quote(value) if isinstance(value, bool) else value
    if said not in ANSWERS:
        raise ReadError(f"{name} = {quote(value)}: write {', '.join(map(quote, ANSWERS))}")
    return str(said)


def _misconception(row: Mapping[str, object]) -> tuple[str, str, str, str]:
    """A row of [[misconception]]; what is done instead is the equation, unless it is said."""
    refuse_unknown(row, "misconception")
    for key in ("name", "equation", "tell"):
        if not row.get(key):
            raise ReadError(f"misconception: {key} is missing; give a name, an equation and tell")
    read = {key: label_of(value, f"misconception: {key}", 500) for key, value in row.items()}
    instead = read.get("instead") or f"{read['equation']} is taken to hold"
    return read["name"], read["equation"], instead, read["tell"]


def _rows(data: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    rows = data.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ReadError(f"{name}: write [[{name}]] on a line of its own, once for each")
    return rows


def _table(data: Mapping[str, object], name: str) -> Mapping[str, Any]:
    table = data.get(name, {})
    if name == "notation" and isinstance(table, str):
        return {"preset": table}
    if not isinstance(table, Mapping):
        raise ReadError(f"{name}: has to be a table; write [{name}] on a line of its own")
    if name in KEYS:
        refuse_unknown(table, name)
    return table


def _text_of(data: Mapping[str, object], attention: Mapping[str, Setting]) -> Equations | None:
    """The equations of a worksheet, or of its variant, if there are any."""
    row = _variant(attention)
    named = row.text if row is not None else ""
    if "equations" not in data and not named:
        return None
    text = data.get("equations", named)
    if not isinstance(text, str):
        raise ReadError("equations: has to be a text, e.g. equations = '''O = softmax(Q K^T) V'''")
    for name in attention:
        if name in AXES and name not in _COUNTS and (named or row is None):
            raise ReadError(f"{name}: is said by the equations; leave it out of [attention]")
    levels: dict[str, int] = {}
    for key, value in _table(data, "given").items():
        name, head = _headed(key)
        levels[name] = 3 if head is not None else depth(value)
    base = None
    if row is not None and "equations" in data:
        base = row.equations.whole if named else _spec(attention, {})[0].derivation()
    return equations_of(text, "equations", base, levels)


def _headed(key: str) -> tuple[str, int | None]:
    """The name of what is given, and the head that it is given for: ``W_Q[1]``."""
    reference = reference_in(key)
    if reference is None or reference.head is None:
        return key, None
    return reference.step, reference.head


#: The axes that count heads, and the sizes of equations that they are.
_COUNTS = {"heads": "n_h", "kv_heads": "n_g"}


def _letters(spec: Attention | Equations) -> Mapping[str, str]:
    """The letters of steps by name, as the keys of claims have them."""
    if isinstance(spec, Equations):
        return spec.letters
    if spec.bias is not None:
        return SYMBOLS
    return {name: x for name, x in SYMBOLS.items() if name != "bias"}  # r_11 is of row sums, then


def _given(
    table: Mapping[str, object], files: _Files, letters: Mapping[str, str] = SYMBOLS
) -> dict[str, Given]:
    """What is given, with ``W_Q[1]``, ``W_Q[2]`` gathered into one list of heads.

    A text that names a matrix in a file is read there.
    """
    given: dict[str, Given] = {}
    heads: dict[str, dict[int, Given]] = {}
    for key, value in table.items():
        name, head = _headed(key)
        name = name if name in letters else in_ascii(name)
        if name not in letters and not _is_gradient_of(name, letters):
            hint = home_of(name, "given") or nearest(name, letters)
            raise ReadError(f"{quote(key)} in [given] is not a known name{hint}")
        start = name not in letters and value == "ones"  # where a backward pass starts
        matrix = value
        if isinstance(value, str) and not start and (letters is SYMBOLS or names_numbers(value)):
            matrix = files.matrix(key, value)
        if head is not None:
            if head in heads.setdefault(name, {}):
                raise ReadError(f"{name}[{head}]: is given twice; keep one")
            heads[name][head] = matrix
        else:
            given[name] = matrix
    for name, parts in heads.items():
        if name in given:
            raise ReadError(f"{name}[{min(parts)}]: {name} is given as a whole too; keep one")
        if sorted(parts) != list(range(1, len(parts) + 1)):
            listed = ", ".join(f"{name}[{head}]" for head in sorted(parts)[:8])
            raise ReadError(f"{name}: heads are numbered from 1 without gaps, not {listed}")
        given[name] = [parts[head] for head in sorted(parts)]
    return given


def _is_gradient_of(name: str, letters: Mapping[str, str]) -> bool:
    """Whether a name is that of a gradient: dO, d_scores."""
    if name[:1] != "d":
        return False
    rest = name.removeprefix("d").removeprefix("_")
    return bool(symbol_of(name)) if letters is SYMBOLS else rest in (*letters, *letters.values())


def _spec(
    attention: Mapping[str, Setting], given: dict[str, Given], text: Equations | None = None
) -> tuple[Attention | Equations, dict[str, Setting], Levels]:
    """The spec, the settings of the table that are not axes of it, and what the brackets mean.

    Of equations the settings are sizes, counts of heads, labels.
    """
    if text is not None:
        return text, {_COUNTS.get(name, name): x for name, x in attention.items()}, Levels(None)
    row = _variant(attention)
    base = _plain() if row is None else row.spec
    axes = {name: getattr(base, name) for name in AXES}
    axes |= {name: attention[name] for name in AXES if name in attention}
    mask = _moved(axes["mask"], given)
    if "variant" in attention and "source" not in attention and axes["source"] == "self":
        axes["source"] = None  # what is given may start later than X
    own = ("W_O",) if axes["output_form"] == "sum" else ()
    shared = [name for name in _SHARED if name not in own]
    shared += _OF_GROUPS if axes["kv_heads"] == 1 else ()
    levels = levels_of(axes["heads"], attention.get("batch"), given, shared)
    axes |= {"heads": levels.heads, "mask": _mask(mask, given, levels)}
    return Attention(**axes), {k: v for k, v in attention.items() if k not in AXES}, levels


def _variant(attention: Mapping[str, Setting]) -> Variant | None:
    """The variant that is named, if one is."""
    name = attention.get("variant")
    return None if name is None else variant(label_of(name, "variant"))


@cache
def _plain() -> Attention:
    return Attention()


def _moved(mask: Setting, given: dict[str, Given]) -> Setting:
    """The masks without a matrix among them, which moves to what is given.

    There it is `allowed` or `mask`.
    """
    if isinstance(mask, list) and depth(mask) > 1:
        if "mask" in given or "allowed" in given:
            raise ReadError("mask: a matrix is given in [given] too; keep one of them")
        given["mask"], mask = mask, []
    if any(isinstance(entry, bool) for entry in _entries(given.get("mask"))):
        if "allowed" in given:
            raise ReadError("mask: a matrix of true and false is given as allowed too; keep one")
        given["allowed"] = given.pop("mask")
    return mask


def _mask(mask: Setting, given: Mapping[str, Given], levels: Levels) -> Setting:
    """The masks, with those whose matrices are given."""
    # how many heads there are is settled later
    masks = Attention(mask=mask, heads="h").mask
    names = [name for name, _ in masks]
    if "mask" in given and "additive" not in names and _only_zeros_and_ones(given["mask"]):
        raise ReadError(
            "mask: 0 and 1 would be added to the scores; write true and false (true attends), "
            'or say mask = "additive" in [attention] if adding is meant'
        )
    for name, kind in (("allowed", "boolean"), ("mask", "additive")):
        if name in given and kind not in names:
            masks = (*masks, (kind, True))
        if name in given and levels.per_head(name, given[name]):
            masks = tuple((mask, PER_HEAD if mask == kind else value) for mask, value in masks)
    return masks


def _only_zeros_and_ones(matrix: Given) -> bool:
    entries = set(map(str, _entries(matrix)))
    return "1" in entries and entries <= {"0", "1"}


def _entries(matrix: Given) -> Iterator[object]:
    """What stands on the second level of brackets, or deeper."""
    rows = [row for row in matrix if isinstance(row, list)] if isinstance(matrix, list) else []
    return leaves(rows)


class _Files:
    """The files of numbers that a worksheet names; `read` has those that were read, resolved."""

    def __init__(self, folder: Path, roots: Sequence[Path]) -> None:
        self.folder, self.roots = folder, roots
        self.read: dict[Path, None] = {}
        self._sizes: list[int] = []

    def as_saved(self, key: str, reference: str) -> Given:
        """The matrix of a file, as an array of its own dtype, or the texts of a CSV file."""
        from symattn.files.matrices import named_matrix

        with located(key):
            found = named_matrix(reference, self.folder, self.roots)
            self.read[found.path] = None
            return found.read()

    def matrix(self, key: str, reference: str) -> Given:
        """The matrix of a file, as nested lists unless it is too large for exact numbers."""
        matrix = self.as_saved(key, reference)
        if isinstance(matrix, np.ndarray) and matrix.size <= MAX_ENTRIES:
            matrix = as_lists(matrix, key)
        large = isinstance(matrix, np.ndarray)
        size = matrix.nbytes if large else _EXACT_BYTES * sum(1 for _ in leaves(matrix))
        self._sizes.append(size)
        if sum(self._sizes) > LIMITS.kept:
            raise ReadError(f"{key}: the matrices of all files together are too large")
        return matrix


def _notation(table: Mapping[str, Any]) -> Notation:
    choices = {"symbols": {}, **table}
    preset = choices.pop("preset", None)
    if not isinstance(choices["symbols"], Mapping):
        raise ReadError('symbols: has to be a table, e.g. symbols = { weights = "alpha" }')
    return Notation().but(**choices) if preset is None else Notation.preset(preset, **choices)
