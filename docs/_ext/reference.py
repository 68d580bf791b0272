"""What the code knows, as pages: variants, identities, misconceptions, verdicts, the API, options.

Everything here is read from the tables of the package when a build begins, and written to
``docs/generated/``, which git ignores. It is written again when a file of the package changes.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import click
import numpy as np
import start
from sphinx.application import Sphinx

import symattn
from symattn import (
    IDENTITIES,
    TEXTS,
    VARIANTS,
    Attention,
    Evaluation,
    Notation,
    Variant,
    document,
    prove,
    variant,
)
from symattn.algebra.identities.identity import Identity
from symattn.algebra.identities.proofs import Proof
from symattn.algebra.identities.reports import proof_document
from symattn.attention.example import small_example, small_inputs
from symattn.claims.policy import VERDICTS, Policy
from symattn.cli import COMMANDS, main
from symattn.cli.examples import all_examples
from symattn.derivations import Derivation, Given
from symattn.documents.blocks import Document, Section
from symattn.documents.job import Job, document_of, written
from symattn.documents.mathml import xhtml
from symattn.documents.outline import derivation_document
from symattn.errors import SymattnError
from symattn.mistakes import OF_PROGRAMS, Misconception
from symattn.mistakes.explanations import Explainer
from symattn.mistakes.masks import MASKS
from symattn.mistakes.norms import NORMS
from symattn.mistakes.programs import PROGRAMS
from symattn.mistakes.projections import PROJECTIONS
from symattn.mistakes.scores import SCORES
from symattn.mistakes.weights import WEIGHTS
from symattn.notation.mathml import without_intent
from symattn.reports.wording import WORDING
from symattn.status import Status

_HERE = Path(__file__)
_MEASURED = _HERE.parents[1] / "explanation" / "benchmarks.json"
_SEMANTICS = _HERE.parents[1] / "explanation" / "semantics.json"
_ENGINES = _HERE.parents[1] / "explanation" / "engines.json"
_OUT = _HERE.parents[1] / "generated"


class Pages:
    """The pages of one build; a page that is as it was is not touched, and is not read again."""

    def __init__(self) -> None:
        self.made: set[Path] = set()

    def put(self, name: str, content: str | bytes) -> None:
        """Write a file of the generated folder, unless it is there already."""
        path = _OUT / name
        self.made.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)


# ---- variants ---------------------------------------------------------------------------------


def _fenced(directive: str, body: str, *options: str) -> str:
    return "\n".join([f"```{{{directive}}}", *options, "", body.rstrip("\n"), "```", ""])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _example(row: Variant, tokens: int) -> tuple[Derivation, Evaluation]:
    derivation, values = small_example(row.spec, tokens=tokens, title=row.title)
    return derivation, values


def _picture(pages: Pages, row: Variant, derivation: Derivation, values: Evaluation) -> str:
    """The weights as a heat map; "" where there are none."""
    if not any(step.weights for step in derivation.steps):
        return ""
    for form in ("svg", "png"):
        job = Job(derivation, values, Notation())
        pages.put(f"variants/{row.name}.{form}", document_of(form, [job]))
    alt = f"The weights of {row.title} for small numbers"
    return f"```{{image}} {row.name}.*\n:alt: {alt}\n:class: weights\n```\n"


def _card(pages: Pages, row: Variant) -> str:
    """One variant: formulas, shapes, an example with its picture, program, gradient, source."""
    derivation, values = _example(row, 3)
    check = values.check()
    assert check.agrees, row.name
    shown = [step.name for step in derivation.steps if step.weights]
    shown.append(derivation.steps[-1].name)
    job = Job(derivation, values, Notation(), ("worked", "value"))
    whole = job.outline()
    steps = tuple(section for section in whole.steps if section.name in shown)
    worked = derivation_document(replace(whole, given=(), steps=steps, overview=None, title=""))
    numpy, _ = small_example(row.spec, tokens=3, counted=False)
    gradient = row.derivation().gradient(None)
    passes = Job(gradient, None, Notation(), ("formula",)).outline()
    back = tuple(section for section in passes.steps if section.name.startswith("d"))
    backward = derivation_document(replace(passes, given=(), steps=back, overview=None, title=""))
    parts = [
        f"# {row.title}",
        f"`{row.name}`: {_plain(row.about)}.",
        f"*Source:* {_plain(row.origin)}.",
        _picture(pages, row, derivation, values),
        "## Formulas",
        _fenced("attention", "", f":label: variant-{row.name}", ":view: formula, entry").replace(
            "```{attention}", f"```{{attention}} {row.name}"
        ),
        "## With numbers",
        f"`symattn derive {row.name} --size tokens=3` takes small whole numbers. Its weights and "
        "its result, with every digit proven:",
        _shown(
            pages,
            f"example-{row.name}",
            [replace(worked, headings=0, label=f"ex-{row.name}")],
            up="..",
        ),
        f"NumPy computes the same numbers for all {len(check.steps)} steps, within the rounding "
        "of float64; this was computed when this page was built.",
        "## Engines",
        _engines(row),
        "## Program",
        f"`symattn derive {row.name} --format numpy` writes it; `torch`, `jax`, `python` and "
        "`javascript` are other formats.",
        _fenced("code-block", str(document_of("numpy", [Job(numpy, None, Notation())]))).replace(
            "```{code-block}", "```{code-block} python"
        ),
        "## Gradient",
        f"What `symattn derive {row.name} --gradient all` shows after the steps above:",
        _shown(
            pages,
            f"gradient-{row.name}",
            [replace(backward, headings=0, label=f"back-{row.name}")],
            up="..",
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _engines(row: Variant) -> str:
    """Whose own function gives the same numbers, as ``tests/engines.py`` found by asking."""
    made = json.loads(_ENGINES.read_text("utf-8"))
    if row.name in (reasons := made["not asked"]):
        return (
            f"No function of PyTorch, JAX, ONNX, Keras or transformers was asked: "
            f"{reasons[row.name]}. The tests hold its program in NumPy, PyTorch, JAX and plain "
            "Python against the proven numbers."
        )
    rows = [
        (each["engine"], f"`{function}`", each["date"])
        for function, each in made["functions"].items()
        if row.name in each["agrees"]
    ]
    days = " and ".join(sorted({date for _, _, date in rows}))
    return (
        "From the queries, keys and values on, with what is before them (projections, positions) "
        "and after them (the output projection) left aside, these give the same output for random "
        "numbers, within their own rounding:\n\n"
        + _table(("engine", "function"), [each[:2] for each in rows])
        + f"\nThey were asked on {days}. [Semantics](../../engines.md) says where engines differ."
    )


def _plain(words: str) -> str:
    """Words as Markdown that nothing is read into."""
    return re.sub(r"([\\`*_{}\[\]<>|$#])", r"\\\1", words)


def _variants(pages: Pages) -> None:
    listed = [
        (
            f"[`{row.name}`](variants/{row.name}.md)",
            f"{row.title}: {_plain(row.about)}",
            _plain(row.used_by),
        )
        for row in VARIANTS
    ]
    for row in VARIANTS:
        pages.put(f"variants/{row.name}.md", _card(pages, row))
    names = "\n".join(f"variants/{row.name}" for row in VARIANTS)
    pages.put(
        "variants.md",
        f"# Variants\n\nEach of these {len(VARIANTS)} names can be given to `symattn derive`, to "
        "`variant = …` in a worksheet, and to the directive `attention`. A card shows its "
        "formulas, an example, a program and the backward pass.\n\n"
        + _table(("name", "what it is", "used by"), listed)
        + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n\n## Said by equations\n\n"
        "These names stand for a text in the [language of equations](../equations.md), to derive, "
        "to put numbers into, and to change.\n\n" + "\n".join(map(_said, TEXTS)),
    )


def _said(row: Variant) -> str:
    """A variant that equations say: its text, and where it was published."""
    head = f"### `{row.name}`\n\n{_plain(row.title)}: {_plain(row.about)}. {_plain(row.origin)}."
    return f"{head}\n\n```text\n{row.text.strip()}\n```\n"


def _shown(pages: Pages, name: str, documents: Sequence[Document], up: str = ".") -> str:
    """Documents as this site shows them: MathML where HTML is made, LaTeX where TeX is."""
    inside = without_intent("".join(xhtml(documents, 3)))  # EPUB has an older MathML
    pages.put(f"parts/{name}.html", f'<div class="symattn">{inside}</div>\n')
    latex = str(written("md", documents, "sphinx"))
    return (
        _fenced("raw", "", f":file: {up}/parts/{name}.html").replace("{raw}", "{raw} html")
        + f"\n::::{{only}} latex\n{latex}\n::::\n"
    )


# ---- identities -------------------------------------------------------------------------------


def _identities(pages: Pages) -> None:
    true = [row for row in IDENTITIES if row.holds]
    false = [row for row in IDENTITIES if not row.holds]
    for name, title, rows, says in (
        ("identities", "Identities", true, "is proven when this page is built"),
        ("false-beliefs", "False beliefs", false, "is refuted by numbers when this page is built"),
    ):
        proofs = [prove(row) for row in rows]
        assert all(proof.good for proof in proofs)
        body = "\n".join(
            f"({name}-{row.name})=\n{_proof(pages, row, proof)}"
            for row, proof in zip(rows, proofs, strict=True)
        )
        pages.put(
            f"{name}.md",
            f"# {title}\n\nEach of these {len(rows)} statements {says}; "
            "`symattn prove NAME` shows the same. "
            "[Proofs](../proofs.md) says how it is decided, and what has to be trusted.\n\n" + body,
        )


def _proof(pages: Pages, row: Identity, proof: Proof) -> str:
    """A statement as a heading, and how it is decided."""
    (section,) = proof_document(proof).blocks
    assert isinstance(section, Section)
    inside = Document("", section.blocks)
    return f"## {_plain(section.title)}\n\n{_shown(pages, f'proof-{row.name}', [inside])}"


# ---- misconceptions ---------------------------------------------------------------------------

#: The examples on which a misconception is shown, by variant, tokens and width of a key: it is
#: the first one that it changes.
_SHOWN_ON = (
    *((name, 3, 2) for name in ("self", "scaled-dot-product", "causal", "multi-head", "rotary")),
    *((name, 3, 2) for name in ("cross", "biased", "linear", "gemma", "alibi", "unfolded")),
    *((name, 3, 2) for name in ("multi-head-latent", "cached", "grouped-query", "masked")),
    *((name, 3, 4) for name in ("scaled-dot-product", "multi-head", "rotary", "grouped-query")),
    *((name, 3, 2) for name in ("dot-product", "off-by-one", "sigmoid", "sparsemax", "sinusoidal")),
    *((name, 3, 2) for name in ("mistral", "sliding-window", "cached-llama")),
    *((name, 3, 2) for name in ("explicit-sparse", "entmax", "qwen3", "qwen3-next", "olmo-2")),
    ("chameleon", 3, 2),
    *(("multi-head-latent", 3, 4), ("sliding-window", 6, 2), ("scaled-dot-product", 2, 2)),
)

_UNIT = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def _own_examples() -> Iterator[tuple[str, Attention, dict[str, Given]]]:
    """What no variant on small whole numbers shows, with numbers that do."""
    two: dict[str, Given] = {"Q": [[1, 0]], "K": [[1, 0], [3, 1]], "V": [[1], [2]]}
    yield (
        '`scores = [[1, 2]]` and `unfold = "plain"`',
        Attention(unfold="plain"),
        {
            "scaled": [[1, 2]],
            "V": [[1], [0]],
        },
    )
    yield (
        "two tokens 3 wide, of which queries and keys take the first 2 columns",
        Attention(),
        {
            "X": [[1, 2, 0], [2, 1, 1]],
            **{name: [[1, 0], [0, 1], [0, 0]] for name in ("W_Q", "W_K", "W_V")},
        },
    )
    yield "`Q = [[1, 0]]` and `K = [[1, 0], [3, 1]]`", Attention(), two
    yield (
        "two tokens of which the second is padding, `Q = K = [[1, 0], [2, 1]]`",
        Attention(mask={"padding": 1}),
        {"Q": [[1, 0], [2, 1]], "K": [[1, 0], [2, 1]], "V": [[1], [2]]},
    )
    heads = (_UNIT[:2], _UNIT[2:])
    by_head = [[[row[k] for row in rows] for k in range(4)] for rows in heads]
    yield (
        "two heads that each take two columns of X",
        Attention(source="self", heads=2, output_projection=True),
        {
            "X": [[1, 0, 0, 1], [0, 1, 1, 0]],
            "W_Q": by_head,
            "W_K": by_head,
            "W_V": by_head,
            "W_O": [[1, 0, 2, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 2, 1, 0]],
        },
    )
    yield (
        "a batch of two, `Q = [[[1, 0]], [[2, 0]]]`, each with `K = [[1, 0], [3, 1]]`",
        Attention(),
        {"Q": [[[1, 0]], [[2, 0]]], "K": [two["K"]] * 2, "V": [two["V"]] * 2},
    )
    yield (
        "`positions = {rotary = {base = 100}}` and `Q` of `[[1, 0, 1, 2], [0, 1, 1, 0]]`",
        Attention(source="self", positions={"rotary": {"base": 100}}),
        {"X": [[1, 0, 1, 2], [0, 1, 1, 0]], "W_Q": _UNIT, "W_K": _UNIT, "W_V": _UNIT},
    )
    yield (
        '`norm = {rms = {eps = 0.5, gain = true, rotated = true}}` and `positions = "rotary"`',
        Attention(
            source="self",
            norm={"rms": {"eps": "0.5", "gain": True, "rotated": True}},
            positions="rotary",
        ),
        {
            "X": [[1, 0, 1, 2], [0, 1, 1, 0]],
            **{"W_Q": _UNIT, "W_K": _UNIT, "W_V": _UNIT},
            **{"gain_Q": [[2, 1, -1, 3]], "gain_K": [[1, 2, 3, -1]]},
        },
    )
    slower = {"factor": 4, "original_max_position_embeddings": 8}
    for kind, more in (
        ("linear", {"factor": 4}),
        ("yarn", {**slower, "beta_fast": 1, "beta_slow": "1/8"}),
    ):
        said = ", ".join(f"{name} = {x}" for name, x in more.items())
        yield (
            f"{kind} scaling of `rotary = {{base = 100}}` by `{said}`",
            Attention(
                source="self",
                positions={
                    "rotary": {"base": 100, "dims": 4, "scaling": {"rope_type": kind, **more}}
                },
            ),
            {"X": [[1, 0, 1, 2], [0, 1, 1, 0]], "W_Q": _UNIT, "W_K": _UNIT, "W_V": _UNIT},
        )
    for block in (4, 8, 16, 32, 64, 128):
        yield (
            f"one query whose scores are 0 for {block} keys and 1 for one key more",
            Attention(scale=None),
            {"scores": [[0] * block + [1]], "V": [[1]] * (block + 1)},
        )
        yield (
            f"{block + 1} queries and one key, whose value is 1",
            Attention(scale=None),
            {"scores": [[0]] * (block + 1), "V": [[1]]},
        )


def _rows(values: Evaluation, name: str) -> list[list[str]]:
    """The rows of a step of the first head, with three decimals."""
    try:
        rows: list[list[str]] = values[name].decimals(3)
    except SymattnError:  # an enclosure cannot always be rounded down
        rows = np.vectorize("{:.4g}".format)(values[name].array).tolist()
    while rows and isinstance(rows[0][0], list):
        rows = rows[0]
    return rows


#: The right rows of an example's steps, which many misconceptions are held against.
_Known: TypeAlias = dict[tuple[str, str], list[list[str]]]


class _Example(NamedTuple):
    """Where numbers are from, in words, and what is computed with them."""

    source: str
    explainer: Explainer
    right: Evaluation
    given: dict[str, Given]

    @classmethod
    def of(cls, source: str, spec: Attention, given: dict[str, Given]) -> _Example:
        """The attention on what is given."""
        right = (derivation := spec.derivation(given=given)).evaluate(**given)
        return cls(source, Explainer(derivation, right, ()), right, given)


def _shown_on() -> Iterator[_Example]:
    for name, tokens, width in _SHOWN_ON:
        size = f"tokens={tokens}" + f",d_k={width}" * (width != 2)
        command = f"symattn derive {name} --size {size}"
        spec, given = small_inputs(variant(name).spec, tokens=tokens, d_k=width)
        yield _Example.of(f"In `{command}`", spec, given)
    for words, spec, given in _own_examples():
        yield _Example.of(f"With {words}", spec, given)


def _given_away(one: Misconception, examples: Sequence[_Example], known: _Known) -> str:
    """The first row of numbers that differs, right and as it comes of the misconception."""
    for source, explainer, right, given in examples:
        hypothesis = explainer.single(one)
        if hypothesis is None:
            continue
        try:
            wrong = explainer.evaluated(hypothesis, given)
            names = [step.name for step in explainer.derivation.steps]
            first = min(names.index(name) for name in hypothesis.steps)
            for step in explainer.derivation.steps[first:]:
                if (source, step.name) not in known:
                    known[source, step.name] = _rows(right, step.name)
                pairs = zip(known[source, step.name], _rows(wrong, step.name), strict=True)
                for number, (true, other) in enumerate(pairs, 1):
                    if true != other:
                        return f"{source}, {_difference(step.name, number, true, other)}"
        except SymattnError:
            continue
    raise AssertionError(f"{one.name}: no example gives it away; add one to _own_examples")


def _difference(name: str, number: int, true: Sequence[str], other: Sequence[str]) -> str:
    """A row, or of a long one the first entry that differs."""
    if len(true) > 8:
        place = next(k for k, pair in enumerate(zip(true, other, strict=True)) if len({*pair}) > 1)
        where = f"`{name}[{number},{place + 1}]`"
        return f"{where} is `{true[place]}`, and `{other[place]}` instead."
    return f"row {number} of `{name}` is {_numbers(true)}, and {_numbers(other)} instead."


def _numbers(row: Sequence[str]) -> str:
    return f"`[{', '.join(row)}]`"


def _misconceptions(pages: Pages) -> None:
    examples = [*_shown_on()]
    known: _Known = {}
    parts = [
        "# Misconceptions\n",
        f"{len(OF_PROGRAMS)} things that are done instead of a step. `symattn check` looks for "
        "those that would produce the numbers of a sheet, `symattn verify` for those that would "
        "produce what a function returns; [marking](../marking.md#what-would-explain-it) says "
        "what “consistent with” means and how often it is right.\n",
    ]
    for title, rows in (
        ("About the weights", WEIGHTS),
        ("About the scores", SCORES),
        ("About masks", MASKS),
        ("About projections and heads", PROJECTIONS),
        ("About norms and gates", NORMS),
        ("Those that programs show", PROGRAMS),
    ):
        parts.append(f"## {title}\n")
        for one in rows:
            shown = "" if one.floating else _given_away(one, examples, known)
            if one.floating:
                shown = "Exact numbers do not show it: it is a matter of floating point."
            parts.append(
                f"### {one.name}\n\n{_sentence(one.instead)} {_sentence(one.tell)}\n\n"
                + f"{shown}\n\n*Known from:* {_plain(one.source).rstrip('.')}.\n"
            )
    pages.put("misconceptions.md", "\n".join(parts))


def _sentence(words: str) -> str:
    words = _plain(words.strip())
    return f"{words[0].upper()}{words[1:]}" + ("" if words.endswith((".", "?", "!")) else ".")


# ---- examples ---------------------------------------------------------------------------------

_LANGUAGES = {"toml": "toml", "md": "markdown", "py": "python"}


def _examples(pages: Pages) -> None:
    """Every example that comes with the package, with its text."""
    parts = [
        "# Examples\n\nThese come with symattn. `symattn examples causal -o .` copies one, "
        "`symattn examples -o FOLDER` copies them all, and `symattn derive causal.toml` "
        "derives a worksheet.\n"
    ]
    for one in all_examples():
        kind = one.name.rpartition(".")[2]
        parts.append(f"## {one.title}\n\n`{one.name}`: {_sentence(one.purpose)}\n")
        if kind in _LANGUAGES:
            parts.append(f"````{_LANGUAGES[kind]}\n{one.text}````\n")
    pages.put("examples.md", "\n".join(parts))


# ---- verdicts, statuses, the command line, the API --------------------------------------------


def _verdicts(pages: Pages) -> None:
    accepted = Policy().accept
    rows = [
        (
            f"`{name}`",
            f"`{WORDING[name].sign.strip() or ' '}`",
            WORDING[name].phrase,
            "yes" if name in accepted else "no",
        )
        for name in VERDICTS
    ]
    statuses = [(str(status.value), _plain(status.meaning)) for status in Status]
    pages.put(
        "verdicts.md",
        "# Verdicts and exit statuses\n\n## Of a claimed number\n\n"
        + _table(
            ("verdict", "sign", "in words", "accepted, unless `[policy]` says otherwise"), rows
        )
        + "\nThe condition of each stands in [Verdicts](../checking.md#verdicts).\n\n"
        "## Of a statement\n\nThe answers of `equal` and `symattn prove` stand at the beginning of "
        "[Proofs](../proofs.md).\n\n## Of a command\n\n"
        + _table(("status", "meaning"), statuses)
        + "\nOf several, the most serious counts; "
        "[Exit status](../commands.md#exit-status) has each command.\n",
    )


def _escaped(words: str) -> str:
    """Help as reStructuredText."""
    escaped = re.sub(r"([\\*`|_])", r"\\\1", " ".join(words.split()))
    return re.sub(r"(?<!\S)(--[a-z][a-z-]*)", r"``\1``", escaped)


def _command_lines(name: str) -> Iterator[str]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    context = click.Context(command, info_name=f"symattn {name}")
    says = _plain(" ".join((command.help or "").split()))
    yield f"## {name}\n\n" + re.sub(r"(?<!\S)(--[a-z][a-z-]*)", r"`\1`", says) + "\n"
    usage = command.get_usage(context).removeprefix("Usage: ")
    yield f"```{{code-block}} text\n{' '.join(usage.split())}\n```\n"
    lines = [f".. program:: symattn {name}", ""]
    for option in command.params:
        record = option.get_help_record(context)
        if record is None or isinstance(option, click.Argument):
            continue
        names, says = record
        lines += [f".. option:: {names}", "", textwrap.indent(_escaped(says), "   "), ""]
    yield _fenced("eval-rst", "\n".join(lines))


def _command_line(pages: Pages) -> None:
    parts = [
        "# Options of every command\n\nThe help of each command, as `symattn COMMAND --help` "
        "prints it. [The command line](../commands.md) explains them.\n"
    ]
    for name in sorted(COMMANDS):
        parts += _command_lines(name)
    pages.put("options.md", "\n".join(parts))


#: The public names by what they are for; every name of ``symattn.__all__`` stands here once.
_API = {
    "Deriving": "Attention variant Variant VARIANTS TEXTS derivation Derivation Step",
    "Decoding, and models": "decode Chunk capture",
    "Numbers": "Evaluation StepValue Check compare",
    "Writing": "document latex mathml text plot Notation",
    "Marking": "check",
    "Proving": "equal Equality prove Identity IDENTITIES",
    "Errors": "SymattnError",
}


def _api(pages: Pages) -> None:
    listed = [name for names in _API.values() for name in names.split()]
    assert sorted([*listed, "__version__"]) == sorted(symattn.__all__), "a public name is missing"
    parts = ["# Python\n\n[From Python](../python.md) has examples.\n"]
    for title, names in _API.items():
        lines = []
        for name in names.split():
            value = getattr(symattn, name)
            if isinstance(value, type):
                lines += [f".. autoclass:: symattn.{name}", "   :members:", ""]
            elif callable(value):
                lines += [f".. autofunction:: symattn.{name}", ""]
            else:
                lines += [f".. py:data:: symattn.{name}", "", f"   {_DATA[name]}", ""]
        parts.append(f"## {title}\n\n" + _fenced("eval-rst", "\n".join(lines)))
    testing = [".. autofunction:: symattn.testing.assert_attention", ""]
    testing += [".. autofunction:: symattn.testing.verify_attention", ""]
    parts.append("## Testing a function of your own\n\n" + _fenced("eval-rst", "\n".join(testing)))
    pages.put("api.md", "\n".join(parts))


_DATA = {
    "VARIANTS": "The named variants, a tuple of `symattn.Variant`.",
    "TEXTS": "The variants that equations say, a tuple of `symattn.Variant`.",
    "IDENTITIES": "The rows of the catalogue, a tuple of `symattn.Identity`.",
}


# ---- the page of the first screen, and the schema ---------------------------------------------


def _live(pages: Pages) -> None:
    """What the site begins with: a figure, and the interactive page of the same worksheet."""
    pages.put("parts/hero.html", start.hero())
    pages.put("parts/gallery.html", start.gallery())
    title = "What does “it” look at?"
    pages.put("extra/live.html", document(start.evaluated(), "html", title=title))


def _benchmarks(pages: Pages) -> None:
    """The table and the plot of what ``tests/benchmarks/measured.py`` measured."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    made = json.loads(_MEASURED.read_text("utf-8"))
    rows = made["rows"]
    table = [
        (
            str(row["size"]),
            f"{1e6 * row['numpy']:.0f} µs",
            f"{1e3 * row['proven']:.1f} ms",
            f"{row['proven'] / row['numpy']:,.0f}",
            "" if row["exact"] is None else f"{row['exact'] / row['proven']:.1f}",
        )
        for row in rows
    ]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    head = ("n", "NumPy", "symattn, proven", "symattn / NumPy", "SymPy, exact / symattn")
    pages.put(
        "benchmarks.part.md",
        f"Measured on {made['date']} with {made['cores']} cores, Python {made['python']}, "
        f"{versions}; medians of processor time.\n\n{_table(head, table)}",
    )
    waited = [
        (one["what"], f"{one['seconds']:.2f} s", f"{one['ratio']:.1f}") for one in made["waits"]
    ]
    waited += [(what, "", f"{ratio:.1f}") for what, ratio in made["ratios"].items()]
    pages.put(
        "waits.part.md",
        f"Least processor time of a few runs, with a load of {made['load']} before.\n\n"
        + _table(("what", "time", "beside the imports, or as it says"), waited),
    )
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for name, label, marker in (
        ("exact", "SymPy, exact, then four digits", "s"),
        ("proven", "symattn, every step with four proven decimals", "o"),
        ("numpy", "NumPy, float64, the output alone", "^"),
    ):
        points = [(row["size"], row[name]) for row in rows if row[name] is not None]
        axes.loglog(*zip(*points, strict=True), marker=marker, label=label, base=2)
    axes.set(xlabel="n queries and n keys, 8 wide", ylabel="seconds of processor time")
    axes.set_xticks([row["size"] for row in rows], [str(row["size"]) for row in rows])
    axes.set_yscale("log", base=10)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    for form in ("svg", "png"):
        with io.BytesIO() as out:
            metadata = {"Date": None} if form == "svg" else None
            figure.savefig(out, format=form, dpi=120, metadata=metadata)
            pages.put(f"benchmarks.{form}", out.getvalue())
    pyplot.close(figure)


def _semantics(pages: Pages) -> None:
    """The table of what ``tests/semantics.py`` found, and of when and where."""
    made = json.loads(_SEMANTICS.read_text("utf-8"))
    situations = [*next(iter(made.values()))["answers"]]
    rows = [(words, *(each["answers"][words] for each in made.values())) for words in situations]
    functions = [
        (f"{name} {each['version']}", f"`{each['function']}`", each["date"])
        for name, each in made.items()
    ]
    pages.put(
        "semantics.part.md",
        _table(("situation", *made), rows)
        + "\n"
        + _table(("engine", "function that was asked", "on"), functions),
    )


_ALL = (
    *(_variants, _identities, _misconceptions, _examples, _verdicts, _command_line, _api),
    *(_live, _benchmarks, _semantics),
)


def _state() -> str:
    """A digest of all that the pages are made of."""
    package = Path(symattn.__file__).parent
    sources = [path for path in package.rglob("*") if path.suffix in (".py", ".css", ".js")]
    digest = hashlib.sha256()
    examples = sorted((_HERE.parents[2] / "examples").iterdir())
    for path in (
        *sorted(sources),
        _HERE,
        *start.SOURCES,
        _MEASURED,
        _ENGINES,
        _SEMANTICS,
        *examples,
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def write_pages(app: Sphinx | None = None) -> None:
    """Write all pages, unless they are of this state of the package."""
    stamp, state = _OUT / ".state", _state()
    if stamp.exists() and stamp.read_text() == state:
        return
    pages = Pages()
    for write in _ALL:
        write(pages)
    kept = (_OUT / "extra" / "shown", stamp)
    for old in [path for path in _OUT.rglob("*") if path.is_file() and path not in pages.made]:
        if not any(old.is_relative_to(each) for each in kept):
            old.unlink()
    stamp.write_text(state)


def setup(app: Sphinx) -> dict[str, object]:
    """Write the pages when a build begins, before Sphinx looks which pages there are."""
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
