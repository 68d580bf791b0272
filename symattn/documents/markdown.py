"""A derivation as Markdown: headings, sentences, formulas between the delimiters of a flavor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from symattn.documents.latex import displays
from symattn.documents.outline import Outline, Section
from symattn.notation.latex import latex
from symattn.notation.markdown import words
from symattn.notation.prose import Prose


def markdown_document(outline: Outline, flavor: str = "github", level: int = 2) -> str:
    """The document; `level` is that of its headings, `flavor` a row of `FLAVORS`."""
    display = FLAVORS[flavor]
    return "\n\n".join(_parts(outline, display, "#" * level)) + "\n"


def _parts(outline: Outline, display: Callable[[str, str], str], heading: str) -> Iterator[str]:
    if outline.title:
        yield f"{heading} {words(outline.title)}"
        heading += "#"
    if outline.given:
        yield f"{heading} Given"
        for section in outline.given:
            yield from _section(section, display)
    for section in outline.steps:
        yield f"{heading} {section.number}. {words(section.name)}"
        yield from _section(section, display)
    for note in outline.notes:
        yield words(note)


def markdown_section(section: Section, flavor: str) -> str:
    """One step or input, without its heading."""
    return "\n\n".join(_section(section, FLAVORS[flavor]))


def _section(section: Section, display: Callable[[str, str], str]) -> Iterator[str]:
    sentence, shape = _sentence(section.why), _sentence(section.shape)
    yield f"{sentence} ({shape})" if sentence else f"({shape})"
    label = f"eq-{section.name}" if section.number is not None else ""
    for body in displays(section.lines):
        yield display(body, label)
        label = ""
    if section.left_out:
        yield f"{words(section.left_out)}."


def _sentence(parts: Prose) -> str:
    return "".join(words(part) if isinstance(part, str) else f"${latex(part)}$" for part in parts)


def _dollars(body: str, label: str) -> str:
    return f"$$\n{body}\n$$"


def _labelled_dollars(body: str, label: str) -> str:
    return f"$$\n{body}\n$$" + (f" {{#{label}}}" if label else "")


def _math_fence(body: str, label: str) -> str:
    option = f":label: {label}\n" if label else ""
    return f"```{{math}}\n{option}{body}\n```"


#: How a display is written, and labelled: in GitHub's and most others' Markdown, for KaTeX, in
#: Quarto and in MyST (Sphinx).
FLAVORS: Mapping[str, Callable[[str, str], str]] = {
    "github": _dollars,
    "katex": _dollars,
    "quarto": _labelled_dollars,
    "sphinx": _math_fence,
}
