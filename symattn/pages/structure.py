"""docutils' parser of reStructuredText, made to note where worksheets and claims stand.

docutils finds blocks, directives and roles; none of them is run, no file is included and no
reference resolved. It tells lines, not columns: a role is found again in the line that it reports,
which holds the text that docutils parsed, its indentation taken off.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from copy import copy
from itertools import accumulate
from typing import Any, ClassVar

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser, states
from docutils.statemachine import StringList, string2lines
from docutils.utils import new_document

from symattn.errors import ReadError
from symattn.pages.syntax import (
    Block,
    Flaw,
    Found,
    claimed,
    holds_worksheet,
    marked_lines,
    one_line,
)

#: Directives whose content is no reStructuredText.
_LITERAL = {
    *("code", "code-block", "sourcecode", "literalinclude", "raw", "math"),
    *("doctest", "testcode", "testoutput", "testsetup", "testcleanup", "prompt"),
    *("graphviz", "digraph", "graph", "mermaid", "productionlist"),
}
_MATH = re.compile(r"[ \t]*\.\.[ \t]+math::")
_SPACES = re.compile("[\v\f]")

_NO_WORKSHEET = (
    "symattn: give a worksheet in the body, after a blank line, or the name of its file, which "
    "ends in .toml"
)

#: Characters of a paragraph with claims; docutils copies the rest of it at every role.
MAX_PARAGRAPH = 20_000

#: Characters of these paragraphs, each as often as there are signs of markup in its paragraph:
#: docutils looks for the end of each sign in all that follows.
_MAX_SEARCHED = 300_000_000
_SIGNS = "*`|_"

#: Cells of tables drawn with lines; docutils takes about a millisecond for each.
MAX_CELLS = 20_000

#: How far from the line that docutils reports a text may stand: titles and tables.
_NEAR = (0, -1, 1, -2, 2)

_TAB = 8


def found_in(text: str) -> list[Found]:
    """Worksheets and claims of a page, in order."""
    settings = get_default_settings(Parser)
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.report_level = settings.halt_level = 5
    settings.warning_stream = ""
    page = _Page(text)
    if sum(line.count("|") - 1 for line in page.lines if line.lstrip()[:1] == "|") > MAX_CELLS:
        raise ReadError(f"1: more than {MAX_CELLS:,} cells of tables are too many for a page")
    machine = states.RSTStateMachine(state_classes=_states_for(page), initial_state="Body")
    lines = string2lines(text, tab_width=_TAB, convert_whitespace=True)
    machine.run(lines, new_document("page", settings), inliner=_Inliner(page))
    return page.in_order()


class _Paragraph:
    """A text that docutils parses, whose first line stands on a line of the page."""

    def __init__(self, text: str, line: int) -> None:
        self.text, self.line = text, line
        self.words = text.split("\n")
        self.starts = [0, *accumulate(len(words) + 1 for words in self.words)]

    def lines_between(self, begin: int, end: int) -> Iterator[tuple[int, int, str]]:
        """The lines of two places and between: its number, where it begins, its words."""
        first, last = bisect_right(self.starts, begin) - 1, bisect_left(self.starts, end)
        for number in range(first, min(last, len(self.words))):
            yield self.line + number, self.starts[number], self.words[number]


class _Page:
    """A page, its lines as docutils counts them, and what has been found in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _SPACES.sub(" ", text).splitlines(keepends=True)
        self.starts = [0, *accumulate(map(len, self.lines))]
        self._found: list[Found] = []
        self._taken: set[int] = set()
        self._marked: list[tuple[int, int]] = []

    def in_order(self) -> list[Found]:
        """What was found, without the roles in what a comment ``claim`` marks."""
        spans = sorted(self._marked)
        marked = [found for span in spans for found in marked_lines(self.text, *span)]
        firsts = [start for start, _ in spans]
        rest = []
        for found in self._found:
            before = bisect_right(firsts, found.start) - 1
            if before < 0 or spans[before][1] <= found.start:
                rest.append(found)
        return sorted([*rest, *marked], key=lambda found: found.start)

    def flaw(self, reason: str, line: int) -> None:
        """Note a worksheet that cannot be read, on a line."""
        self._found.append(Flaw(reason, self.starts[line]))

    def file(self, name: str, line: int) -> None:
        """Note a worksheet in a file that is named on a line."""
        self._found.append(Block("", self.starts[line], file=name))

    def block(self, content: StringList) -> None:
        """Note a worksheet in the page.

        In a table, whose lines hold other cells too, each character has a place of its own.
        """
        first, count = content.offset(0), len(content)
        whole = self.lines[first : first + count]
        start, end = self.starts[first], self.starts[first + count]
        if all(_bare(line) == _bare(own) for line, own in zip(whole, content, strict=True)):
            self._found.append(Block(self.text[start:end], start))
            return
        text, places = "", []
        for number, line in enumerate(content, first):
            column = next(self._columns(line, number), 0)
            text += f"{' ' * column}{line}\n"
            places += [self.starts[number] + at for at in range(column + len(line) + 1)]
        self._found.append(Block(text, start, places=[*places, end].__getitem__))

    def role(self, paragraph: _Paragraph, begin: int, end: int) -> None:
        """Note the claim in a role, between these places of a paragraph."""
        places: list[int] = []
        for number, start, words in paragraph.lines_between(begin, end):
            lead = max(begin - start, 0)
            # the same words may stand in another cell of the row
            free = (at for at in self._starts(words, lead, number) if at not in self._taken)
            at = next(free, None)
            if at is None:
                where = self.starts[min(number, len(self.lines) - 1)]
                self._found.append(Flaw("this claim is not found again in the page", where))
                return
            places += range(at, at + min(end - start, len(words) + 1) - lead)
        self._taken.add(places[0])
        inside, raw = paragraph.text[begin:end], self.text[places[0] : places[-1] + 1]
        if _bare(raw) == _bare(inside):
            self._found.append(claimed(raw, places[0]))
        else:  # in a table, where other cells stand between its lines
            self._found.append(claimed(inside, 0).moved(places.__getitem__))

    def mark(self, line: int) -> None:
        """Note that a comment ``claim`` stands before a line: the next paragraph has claims."""
        while line < len(self.lines) and not self.lines[line].strip():
            line += 1
        start = self.starts[line]
        last = line
        if line < len(self.lines) and (math := _MATH.match(self.lines[line])):
            start += math.end()
            last = self._indented(line)
        else:
            while last < len(self.lines) and self.lines[last].strip():
                last += 1
        self._marked.append((start, self.starts[last]))

    def _indented(self, first: int) -> int:
        """The line after the block that is indented deeper than a line; blank ones left out."""
        outer, last = _indent(self.lines[first]), first + 1
        for number in range(first + 1, len(self.lines)):
            if not self.lines[number].strip():
                continue
            if _indent(self.lines[number]) <= outer:
                break
            last = number + 1
        return last

    def _starts(self, words: str, lead: int, line: int) -> Iterator[int]:
        """Where in the file the character `lead` of a text may stand, the likeliest first."""
        for number in (line + near for near in _NEAR):
            if 0 <= number < len(self.lines):
                for column in self._columns(words, number):
                    yield self.starts[number] + _narrow(self.lines[number], column + lead)

    def _columns(self, words: str, number: int) -> Iterator[int]:
        """Where a text begins in a line whose tabs are expanded: at its end, or else earlier."""
        line = self.lines[number].expandtabs(_TAB).rstrip()
        words = words.rstrip()
        if line.endswith(words):
            yield len(line) - len(words)
        yield from (match.start() for match in re.finditer(re.escape(words), line))


def _bare(line: str) -> str:
    return "".join(line.split())


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs())


def _narrow(line: str, column: int) -> int:
    """Which character of a line stands at a column when its tabs are expanded."""
    if "\t" not in line:
        return column
    return next(
        (n for n in range(len(line)) if len(line[: n + 1].expandtabs(_TAB)) > column), len(line)
    )


class _Inliner(states.Inliner):
    """Finds inline markup, of which only the role ``claim`` is looked at."""

    def __init__(self, page: _Page) -> None:
        super().__init__()
        self.page = page
        dispatch: dict[str, Any] = {"`": _Inliner.interpreted_or_phrase_ref}
        self.dispatch = self.dispatch | dispatch
        self._paragraph, self._role, self._searched = _Paragraph("", 0), "", 0

    def parse(
        self, text: str, lineno: int, memo: Any, parent: nodes.Element
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        if "claim" not in text:
            return [nodes.Text(text)], []
        if len(text) > MAX_PARAGRAPH:
            raise ReadError(
                f"{lineno}: {len(text):,} characters are too many for a paragraph with claims"
            )
        self._searched += len(text) * sum(map(text.count, _SIGNS))
        if self._searched > _MAX_SEARCHED:
            raise ReadError(f"{lineno}: the paragraphs with claims hold too much markup")
        self._paragraph = _Paragraph(text, lineno - 1)
        super().parse(text, lineno, memo, parent)
        return [nodes.Text(text)], []

    def init_customizations(self, settings: Any) -> None:
        """The patterns of docutils, which finds their parts in its own class only."""
        plain = states.Inliner()
        plain.init_customizations(settings)
        self.patterns = plain.patterns

    def implicit_inline(self, text: str, lineno: int) -> list[nodes.Text]:
        """Addresses, which are no business of ours."""
        return []

    def phrase_ref(
        self, before: str, after: str, rawsource: str, escaped: str, text: str | None = None
    ) -> tuple[str, list[nodes.Node], str, list[nodes.Node]]:
        """References, which are not resolved."""
        return before, [], after, []

    def interpreted(
        self, rawsource: str, text: str, role: str, lineno: int
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The text of a role, which is not run."""
        self._role = (role or "").lower()
        return [nodes.Text(text)], []

    def interpreted_or_phrase_ref(
        self, match: re.Match[str], lineno: int
    ) -> tuple[str, list[nodes.problematic], str, list[nodes.system_message]]:
        """A role, noted if it is ours."""
        self._role = ""
        before, inlines, after, messages = super().interpreted_or_phrase_ref(match, lineno)
        if self._role == "claim":
            # what is parsed is the rest of the text, its backslashes made other characters
            text = self._paragraph.text
            begin = len(text) - len(match.string) + match.end("backquote")
            end = text.rindex("`", begin, len(text) - len(after))
            self.page.role(self._paragraph, begin, end)
        return before, inlines, after, messages


class _Options(dict[str, type[str]]):
    """The options of a directive: any name, any text."""

    def __missing__(self, name: str) -> type[str]:
        return str

    def __bool__(self) -> bool:
        return True


class _Directive:
    """What a directive with a worksheet takes, as docutils asks for it."""

    required_arguments, optional_arguments = 0, 1
    final_argument_whitespace = has_content = True
    option_spec = _Options()


class _Structure:
    """A state of docutils' parser that runs no directive."""

    page: ClassVar[_Page]
    #: The states of nested blocks; docutils' own would run directives there.
    states: ClassVar[list[type[states.RSTState]]]

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)  # type: ignore[call-arg]  # a mixin
        self.nested_sm_kwargs = {"state_classes": self.states, "initial_state": "Body"}

    def directive(self: Any, match: re.Match[str], **presets: Any) -> tuple[list[nodes.Node], bool]:
        """A worksheet is noted, what is literal passed over, all else read as prose."""
        machine, name = self.state_machine, match[1].lower()
        line = machine.abs_line_offset()
        inside, _, offset, finished = machine.get_first_known_indented(match.end(), strip_top=0)
        ours = name in ("symattn", "attention") and self.worksheet(name, inside, line)
        if not ours and name not in _LITERAL and any(map(str.strip, inside)):
            self.nested_parse(inside, offset, nodes.Element())
        return [], finished or machine.is_next_line_blank()

    def worksheet(self: Any, name: str, inside: StringList, line: int) -> bool:
        """Whether a directive names or holds a worksheet, or should: an admonition does not."""
        try:
            words, _, content, _ = self.parse_directive_block(inside[:], 0, _Directive, {})
        except states.MarkupError as error:
            words, content = [" ".join(error.args)], StringList()
        argument = one_line(words[0]) if words else ""
        if argument.endswith(".toml") and (name == "symattn" or not content):
            self.page.file(argument, line)
        elif content and (name == "symattn" or holds_worksheet("\n".join(content))):
            self.page.block(content)
        elif name == "symattn":
            self.page.flaw(_NO_WORKSHEET, line)
        else:
            return False
        return True

    def comment(self: Any, match: re.Match[str]) -> tuple[list[nodes.Node], bool]:
        """A comment; what stands behind one that says ``claim`` is noted."""
        machine = self.state_machine
        if machine.is_next_line_blank() and not match.string[match.end() :].strip():
            return [], True
        inside, _, _, finished = machine.get_first_known_indented(match.end())
        if "\n".join(inside).strip() == "claim":
            self.page.mark(machine.abs_line_offset() + 1)
        return [], finished


def _states_for(page: _Page) -> list[type[states.RSTState]]:
    """Docutils' states, which note what they find in a page; nothing is kept from page to page."""
    explicit = copy(states.Body.explicit)
    explicit.constructs = [
        (_Structure.directive if method is states.Body.directive else method, pattern)
        for method, pattern in states.Body.explicit.constructs
    ]
    own: dict[str, object] = {"page": page, "nested_sm_cache": [], "explicit": explicit}
    own["states"] = found = []
    found += [type(kind.__name__, (_Structure, kind), own) for kind in states.state_classes]
    return found
