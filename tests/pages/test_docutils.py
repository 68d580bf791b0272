"""Pages in reStructuredText as docutils reads them: the same claims and worksheets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

from symattn.pages.restructured import restructured
from symattn.pages.syntax import Anchor, Block, Flaw

SHEET = 'name = "w"\n\n[given]\nQ = [[1]]'


class _Sheet(Directive):
    optional_arguments, final_argument_whitespace, has_content = 1, True, True

    def run(self) -> list[nodes.Node]:
        return [nodes.comment("", "", sheet="sheet" if self.content else "flaw")]


def _claim(name: str, raw: str, text: str, *rest: Any) -> tuple[list[nodes.Node], list[Any]]:
    return [nodes.inline(raw, text, claim=True)], []


@contextmanager
def _ours() -> Iterator[None]:
    """The role and the directive, known to docutils meanwhile."""
    roles._roles["claim"] = _claim  # type: ignore[attr-defined]
    directives._directives["symattn"] = _Sheet  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del roles._roles["claim"]  # type: ignore[attr-defined]
        del directives._directives["symattn"]  # type: ignore[attr-defined]


def by_docutils(page: str) -> list[str] | None:
    """The claims of a page, and "sheet" for each worksheet; None of a page with errors."""
    settings = {
        "report_level": 3,
        "warning_stream": False,
        "halt_level": 6,
        "file_insertion_enabled": False,
        "raw_enabled": False,
    }
    with _ours():
        tree = publish_doctree(page, settings_overrides=settings)
    if any(tree.findall(nodes.system_message)):
        return None
    found = []
    for node in tree.findall(nodes.Element):
        if node.get("sheet"):
            found.append(node["sheet"])
        elif node.get("claim"):
            found.append(" ".join(node.astext().split()))
    return sorted(found)


def by_symattn(page: str) -> list[str]:
    """The same as symattn finds them."""
    found = []
    for one in restructured(page):
        match one:
            case Block():
                found.append("sheet")
            case Anchor():
                found.append(f"{one.key} = {one.number}")
            case Flaw():
                found.append("flaw")
    return sorted(found)


def _inline(draw: random.Random, number: int) -> str:
    claim = f":claim:`O[1,{number}] = 0.5`"
    return draw.choice(
        [
            claim,
            f"see {claim}, then",
            f"({claim})",
            f"**bold** {claim} *and*",
            f"``{claim}``",
            f"a{claim}",
            f"\\{claim}",
            f"*open {claim}",
            f"``open {claim}",
            f"`text` {claim}",
            f'"{claim}"',
            f"`O[1,{number}] = 0.5`:claim:",
            f"word ``:claim:` `` {claim}.",
            f"{claim}\n{claim}",
            f":claim:`O[1,{number}]\n= 0.5` goes on",
            f"1. {claim}",
            f"* {claim}",
            f"{claim}::",
        ]
    )


def _indent(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.splitlines())


def _piece(draw: random.Random, depth: int) -> str:
    """A block of a page, with others inside."""
    text = _inline(draw, draw.randint(1, 9))
    if depth > 2:
        return text
    inner = "\n\n".join(_piece(draw, depth + 1) for _ in range(draw.randint(1, 2)))
    hung = _indent(inner, "   ").strip()
    bar = "=" * 40
    line = text.splitlines()[0]
    wide = max(60, *(len(one) + 4 for one in inner.splitlines()))
    grid = "\n".join(f"| {one.ljust(wide - 2)} |" for one in inner.splitlines())
    return draw.choice(
        [
            text,
            f"Before::\n\n{_indent(inner, '   ')}\n\nAfter {text}",
            f".. code-block:: python\n\n{_indent(inner, '   ')}",
            f".. {hung}",
            f".. note::\n\n{_indent(inner, '   ')}",
            f".. note:: {hung}",
            f".. [1] {hung}",
            f".. symattn::\n\n{_indent(SHEET, '   ')}",
            f".. math:: {line}",
            f"* one\n* {_indent(inner, '  ').strip()}",
            f"1. one\n2. {_indent(inner, '   ').strip()}",
            f"Term\n   {hung}",
            f":field: {hung}",
            f"-x  {hung}",
            f"| {line}\n| {line}",
            f">>> {line}\n{line}\n\n{text}",
            _indent(inner, "   "),
            f"Title\n=====\n\n{inner}",
            f"+{'-' * wide}+\n{grid}\n+{'-' * wide}+",
            f"{bar}  {bar}\n{'x'.ljust(40)}  {line}\n{bar}  {bar}",
            f"Quoted::\n\n> {line}\n> {line}\n\n{text}",
            f".. _target: {line}",
        ]
    )


def page_of(seed: int) -> str:
    """A page of some blocks."""
    draw = random.Random(seed)
    return "\n\n".join(_piece(draw, 0) for _ in range(draw.randint(1, 4))) + "\n"


@pytest.mark.parametrize("start", range(0, 300, 100))
def test_docutils_finds_the_same(start: int) -> None:
    pages = [page_of(seed) for seed in range(start, start + 100)]
    read = [(page, found) for page in pages if (found := by_docutils(page)) is not None]
    assert len(read) > 25
    assert [page for page, found in read if by_symattn(page) != found] == []


def test_a_claim_in_a_literal_block_would_be_noticed() -> None:
    page = "Before::\n\n   :claim:`O[1,1] = 0.5`\n"
    assert by_docutils(page) == []
    assert by_docutils(page.replace("::", ".", 1)) == ["O[1,1] = 0.5"]
