"""A derivation as a file of code: a function of what is given that returns every step."""

from __future__ import annotations

import re

from symattn.derivation import Derivation, Evaluation
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.spell import spelled
from symattn.documents.code.trace import traced
from symattn.notation.prose import read_prose
from symattn.notation.text import line


def code_document(derivation: Derivation, evaluation: Evaluation, language: str) -> str:
    """The file in a language of `LANGUAGES`, at the shapes of what was given.

    Raises `CannotSpell` for a derivation that cannot be followed.
    """
    spoken = LANGUAGES[language]
    program = traced(evaluation)
    docs = [" ".join(derivation.title.split()) or "Attention, step by step.", ""]
    for item in program.inputs:
        shape = " × ".join(map(str, evaluation.array(item.letter).shape))
        meaning = "".join(
            part if isinstance(part, str) else line(part) for part in read_prose(item.meaning)
        )
        docs.append(f"{item.letter}: {meaning} ({shape})")
    docs += ["", "Returns every step by its letter."]
    code = spelled(program, spoken, docs=docs)
    helpers = "".join(
        text for name, text in spoken.helpers.items() if re.search(rf"\b{name}\(", code)
    )
    imports = "".join(
        text for name, text in spoken.imports.items() if re.search(rf"\b{name}\.", helpers + code)
    )
    before = spoken.prelude + imports + helpers
    return f"{before}{spoken.between}{code}" if before else code
