"""A derivation as a file of code: a function of what is given that returns every step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import wrap

from symattn.arithmetic.recorded import Recorded
from symattn.derivation import Derivation
from symattn.documents.code.language import Language
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.program import Program, recorded
from symattn.documents.code.sizes import Sizes
from symattn.documents.code.spell import names, spelled, variable
from symattn.notation.prose import read_prose
from symattn.notation.text import line

#: The kinds whose plural differs, where neighbours are told together.
_PLURAL = {"projection matrix": "projection matrices", "bias": "biases"}

#: How long a line of a description may be.
_WIDTH = 76

#: Modules of Python's own, imported above the others.
_STANDARD = ("math", "operator")


def code_document(derivation: Derivation, language: str) -> str:
    """The file in a language of `LANGUAGES`, for any sizes.

    Raises `CannotSpell` for a derivation that cannot be followed.
    """
    spoken = LANGUAGES[language]
    program = recorded(derivation)
    title = " ".join(derivation.title.split()) or "Attention, step by step."
    docs = [*wrap(_sentence(title), _WIDTH), ""]
    for told in (*_inputs(program, spoken), *(f"{s.name}: {s.meaning}" for s in program.settings)):
        docs += wrap(told, _WIDTH, subsequent_indent="    ")
    step, result = program.steps[-1]
    shape = _shape(program, spoken, result)
    returned = f"Returns {names(program)[step.letter]} {shape} and every step before it."
    docs += ["", *wrap(returned, _WIDTH)]
    docs += wrap(spoken.note, _WIDTH)
    code = spelled(program, spoken, docs)
    parts = [*spoken.needed(code), code]
    called = {
        name: text
        for name, text in spoken.imports.items()
        if any(re.search(rf"\b{name}{'' if name.istitle() else '[.]'}", part) for part in parts)
    }
    own = "".join(text for name, text in called.items() if name in _STANDARD)
    others = "".join(text for name, text in called.items() if name not in _STANDARD)
    imports = "\n".join(filter(None, (own, others)))
    return spoken.between.join([imports, *parts] if imports else parts)


def _inputs(program: Program, language: Language) -> Iterator[str]:
    """What each input is, and its shape; together where neighbours of one shape are alike."""
    rows = []
    for item, value in program.inputs:
        prose = [part if isinstance(part, str) else line(part) for part in read_prose(item.meaning)]
        words = re.split("[:,] ", "".join(prose))[0].split(" ")
        last = -2 if words[-2:-1] == ["projection"] else -1
        noun, kind = " ".join(words[:last]), " ".join(words[last:])
        rows.append((_shape(program, language, value), kind, noun, variable(item.name)))
    for (shape, kind), alike in groupby(rows, lambda row: row[:2]):
        nouns, variables = zip(*(row[2:] for row in alike), strict=True)
        what = _PLURAL.get(kind, kind) if len(nouns) > 1 else kind
        listed = " and ".join(filter(None, (", ".join(nouns[:-1]), nouns[-1])))
        yield " ".join(f"{', '.join(variables)}: {listed} {what} {shape}".split())


def _shape(program: Program, language: Language, value: Recorded) -> str:
    """A shape for readers; with ``…`` for batches ahead of what has a row for each token."""
    tokens = {
        symbol
        for step, found in program.steps
        for size in found.shape[-2:]
        if step.weights
        for symbol in size.free_symbols
    }
    shown = Sizes.shown(value.shape)
    batched = language.batches and tokens & value.shape[-2].free_symbols
    return shown.replace("(", "(…, ", 1) if batched else shown


def _sentence(title: str) -> str:
    """A title as the first line of a description: with a capital, and a full stop."""
    begin = title[:1].upper() if title[:2].islower() else title[:1]
    return begin + title[1:] + ("" if title[-1] in ".!?" else ".")
