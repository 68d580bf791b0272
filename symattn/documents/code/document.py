"""A derivation as a file of code: a function of what is given that returns every step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import wrap

from symattn.arithmetic.recorded import Recorded
from symattn.derivations import Derivation
from symattn.documents.code.language import Language
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.program import Program, recorded
from symattn.documents.code.sizes import Sizes
from symattn.documents.code.spell import names, spelled, words_in
from symattn.notation.letters import CHANGE, GRADIENT, derived_from
from symattn.notation.prose import read_prose
from symattn.notation.text import line

#: What derivatives add to the first line of a description.
_PASSES = {GRADIENT: ", with its backward pass", CHANGE: ", with its changes to first order"}
_DERIVED = {GRADIENT: "the gradients", CHANGE: "the changes"}

#: The kinds whose plural differs, where neighbours are told together.
_PLURAL = {"projection matrix": "projection matrices", "bias": "biases"}

#: Modules of Python's own, imported above the others.
_STANDARD = ("bisect", "math", "operator")


def code_document(derivation: Derivation, language: str) -> str:
    """The file in a language of `LANGUAGES`, for any sizes.

    Raises `CannotSpell` for a derivation that cannot be followed.
    """
    spoken = LANGUAGES[language]
    program = recorded(derivation)
    title = " ".join(derivation.title.split()) or "Attention, step by step"
    last = derived_from(derivation.steps[-1].letter)
    first = (derivation.about or title) + (_PASSES[last[0]] if last else "")
    width = spoken.style.width - len(spoken.docs[0])
    docs = [*wrap(_sentence(first), width), ""]
    for told in (*_inputs(program, spoken), *(f"{s.name}: {s.meaning}" for s in program.settings)):
        docs += wrap(told, width, subsequent_indent="    ")
    docs += ["", *wrap(_returned(program, spoken), width)]
    docs += wrap(spoken.note, width)
    code = spelled(program, spoken, docs)
    parts = [*spoken.needed(code), code]
    read = spoken.read("\n\n".join(parts))
    called = {name: text for name, text in spoken.imports.items() if name in read}
    own = "".join(text for name, text in called.items() if name in _STANDARD)
    others = "".join(text for name, text in called.items() if name not in _STANDARD)
    imports = "\n".join(filter(None, (own, others)))
    whole = spoken.between.join([imports, *parts] if imports else parts)
    heading = _heading(title, derivation.source, spoken) if derivation.about else ""
    between = "\n" if imports or not spoken.imports else spoken.between
    return f"{heading}{between}{whole}" if heading else whole


def _heading(title: str, source: str, language: Language) -> str:
    """What the file is: its title, and where that was published, in one line if they fit."""
    begin, other, end = language.heading
    title, source = (words_in(" ".join(part.split()), language) for part in (title, source))
    lines = [f"{title}: {source}." if source else f"{title}."]
    if len(begin + lines[0] + end) > language.style.width:
        lines = [f"{title}.", "", *wrap(f"{source}.", language.style.width - len(begin))]
        end = f"\n{end}" if end else ""
    told = [(begin if k == 0 else other) + line for k, line in enumerate(lines)]
    return "\n".join(map(str.rstrip, told)) + f"{end}\n"


def _returned(program: Program, language: Language) -> str:
    """What is returned: the result, its shape and key, and the other keys where they are few."""
    *before, (step, result) = program.steps
    keys = names(program)
    if derived := derived_from(step.letter):
        return f"Returns all steps by name, {_DERIVED[derived[0]]} last."
    own, shape = keys[step.letter], _shape(program, language, result)
    others = [keys[other.letter] for other, _ in before]
    if not others:
        return f"Returns {own}, {shape}."
    if own != step.title:
        return f"Returns the steps by name; the result is `{own}`, {shape}."
    if len(others) > language.style.few:
        return f"Returns the {own} {shape} and the steps before it, by name."
    *most, last = others
    return f"Returns the {own} {shape} with {', '.join(most)}{' and ' if most else ''}{last}."


def _inputs(program: Program, language: Language) -> Iterator[str]:
    """What each input is, and its shape; together where neighbours of one shape are alike."""
    rows, called = [], names(program)
    for item, value in program.inputs:
        prose = [*read_prose(item.meaning or item.title or item.name)]
        own = called[item.letter]
        if made_of := derived_from(item.letter):  # and the only formula is that letter
            base = called.get(made_of[1], re.sub("^(d|delta)_?", "", own))
            prose = [part if isinstance(part, str) else f"`{base}`" for part in prose]
        words = "".join(part if isinstance(part, str) else line(part) for part in prose)
        said = re.split("[:,] ", words)[0].split(" ")
        last = -2 if said[-2:-1] == ["projection"] else -1
        noun, kind = " ".join(said[:last]), " ".join(said[last:])
        rows.append((_shape(program, language, value), kind, noun, own))
    for (shape, kind), alike in groupby(rows, lambda row: row[:2]):
        nouns, variables = zip(*(row[2:] for row in alike), strict=True)
        what = _PLURAL.get(kind, kind) if len(nouns) > 1 else kind
        listed = " and ".join(filter(None, (", ".join(nouns[:-1]), nouns[-1])))
        yield " ".join(f"{', '.join(variables)}: {listed} {what}, {shape}".split())


def _shape(program: Program, language: Language, value: Recorded) -> str:
    """A shape for readers; with ``...`` for batches ahead of what has a row for each token."""
    return Sizes.shown(value.shape, batched=language.batches and program.batched(value))


def _sentence(title: str) -> str:
    """A title as the first line of a description: with a capital, and a full stop."""
    begin = title[:1].upper() if title[:2].islower() else title[:1]
    return begin + title[1:] + ("" if title[-1] in ".!?" else ".")
