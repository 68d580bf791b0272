"""A derivation as a file of code: a function of what is given that returns every step."""

from __future__ import annotations

import re

from symattn.derivation import Derivation, Evaluation
from symattn.documents.code.general import generalised
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.positions import Positions
from symattn.documents.code.spell import spelled
from symattn.notation.prose import read_prose
from symattn.notation.text import line

#: Modules of Python's own, imported above the others.
_STANDARD = ("math", "operator")


def code_document(derivation: Derivation, evaluation: Evaluation, language: str) -> str:
    """The file in a language of `LANGUAGES`, for any sizes as far as that can be.

    Raises `CannotSpell` for a derivation that cannot be followed.
    """
    spoken = LANGUAGES[language]
    program, fixed = generalised(derivation, evaluation)
    docs = [" ".join(derivation.title.split()) or "Attention, step by step.", ""]
    shapes = {each.name: each.shape for each in program.lines if each.operation == "input"}
    for item in program.inputs:
        meaning = "".join(
            part if isinstance(part, str) else line(part) for part in read_prose(item.meaning)
        )
        shape = shapes.get(item.letter, evaluation.shape(item.letter))
        docs.append(f"{item.letter}: {meaning} ({Positions.told(shape)})")
    written_for = f"Written for {', '.join(fixed)}." if fixed else ""
    batches = any(len(evaluation.shape(item.letter)) > 2 + item.per_head for item in program.inputs)
    single = "" if batches else "One sequence at a time."
    returns = ["Returns every step by its letter.", single, spoken.note, written_for]
    docs += ["", " ".join(filter(None, returns))]
    code = spelled(program, spoken, docs)
    parts = [*spoken.needed(code), code]
    called = {
        name: text
        for name, text in spoken.imports.items()
        if any(re.search(rf"\b{name}\.", part) for part in parts)
    }
    own = "".join(text for name, text in called.items() if name in _STANDARD)
    others = "".join(text for name, text in called.items() if name not in _STANDARD)
    imports = "\n".join(filter(None, (own, others)))
    return spoken.between.join([imports, *parts] if imports else parts)
