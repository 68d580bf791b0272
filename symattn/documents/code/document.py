"""A derivation as a file of code: a function of what is given that returns every step."""

from __future__ import annotations

import re
from textwrap import wrap

from symattn.derivation import Derivation
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.program import recorded
from symattn.documents.code.sizes import Sizes
from symattn.documents.code.spell import spelled, variable
from symattn.notation.prose import read_prose
from symattn.notation.text import line

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
    for item, value in program.inputs:
        meaning = "".join(
            part if isinstance(part, str) else line(part) for part in read_prose(item.meaning)
        )
        told = f"{variable(item.name)}: {meaning} ({Sizes.shown(value.shape)})"
        docs += wrap(told, _WIDTH, subsequent_indent="    ")
    single = "" if spoken.batches else "One sequence at a time."
    returns = " ".join(filter(None, ["Returns every step by its name.", single, spoken.note]))
    docs += ["", *wrap(returns, _WIDTH)]
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


def _sentence(title: str) -> str:
    """A title as the first line of a description: with a capital, and a full stop."""
    begin = title[:1].upper() if title[:2].islower() else title[:1]
    return begin + title[1:] + ("" if title[-1] in ".!?" else ".")
