"""Sphinx and MyST: derivations as numbered equations, numbers checked while the docs are built.

The directive ``attention`` shows a derivation, of a variant, of a worksheet file or of the
worksheet in its body, ``equations`` that of the equations in its body; ``symattn`` holds a
worksheet without showing it. The role ``value`` writes a computed number, ``claim`` a number that
is checked: a wrong one is a warning with its line, and so fails ``sphinx-build -W``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import wraps
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from symattn.documents.views import VIEWS, View
from symattn.errors import needing

with needing("symattn.sphinxext", "Sphinx", "symattn[sphinx]"):
    from docutils import nodes
    from docutils.parsers.rst import DirectiveError, directives
    from docutils.parsers.rst.directives.admonitions import Attention as Admonition
    from docutils.statemachine import StringList
    from sphinx.builders.epub3 import Epub3Builder
    from sphinx.config import ENUM
    from sphinx.errors import ConfigError
    from sphinx.util import logging
    from sphinx.util.docutils import SphinxDirective, SphinxRole
    from sphinx.util.math import get_node_equation_number

from symattn import __version__
from symattn.attention.vocabulary import Notation
from symattn.budget import budgeted
from symattn.claims.references import entries_at
from symattn.derivations import Derivation, Evaluation, Place
from symattn.documents import blocks as b
from symattn.documents.job import Job, room_of
from symattn.documents.latex import displays
from symattn.documents.mathml import formula, xhtml
from symattn.documents.outline import Measure, Outline, Section, flowed
from symattn.documents.wrap import ROOM, size_of
from symattn.doors import failure
from symattn.errors import ReadError, SymattnError, nearest, quote
from symattn.files.named import Site, read_text, site_file
from symattn.language import is_equations_file
from symattn.notation.latex import latex
from symattn.notation.mathml import without_intent
from symattn.notation.options import DISPLAY, displayed
from symattn.notation.prose import Prose
from symattn.notation.text import box, line
from symattn.notation.tree import Tree
from symattn.pages.checked import check_text
from symattn.pages.quotation import quotation
from symattn.pages.syntax import anchor, holds_worksheet
from symattn.pages.syntaxes import SYNTAXES
from symattn.printable import printable
from symattn.reports.check import check_worksheet
from symattn.sheets.symbols import read_symbols
from symattn.sheets.worksheet import Worksheet, equations_of, worksheet_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata, OptionSpec
    from sphinx.writers.html5 import HTML5Translator

#: Where a warning points: a page and a line, or both as text.
Location: TypeAlias = tuple[str, int] | str | None

_log = logging.getLogger(__name__)

#: Where a page's worksheet is kept while the page is read.
_KEY = "symattn_worksheet"

#: Where the page is kept whose own text has been checked. What it includes, and the docstrings that
#: it shows, are checked as they are met.
_CHECKED = "symattn_checked"

#: What a checker says before the rest: the file, the line and perhaps the column.
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]+):(?:[0-9]+:)? ", re.S)

#: What Sphinx calls when the references of a page are resolved.
Hook: TypeAlias = "Callable[[Sphinx, nodes.document, str], None]"

#: The attribute of a formula that holds it as text.
_WORDS = "symattn-words"

#: The same as MathML, with which HTML and EPUB need no script.
_MARKUP = "symattn_markup"

#: What `symattn_math` may be.
_MATH = ("mathml", "tex")

#: What is copied to a site, with the style of formulas.
_STYLE = files(__package__) / "data" / "sphinx" / "symattn.css"


def site_of(env: BuildEnvironment) -> Site:
    """Where the files that pages name may lie: the source folder, and ``symattn_root``."""
    folder, root = Path(env.srcdir), env.config.symattn_root
    return Site(folder, (folder, Path(root)) if root else (folder,))


def find_root(app: Sphinx, config: Config) -> None:
    """Make ``symattn_root``, which counts from the folder of conf.py, a whole path."""
    if config.symattn_root:
        root = Path(app.confdir) / str(config.symattn_root)
        if not root.is_dir():
            raise ConfigError(f"symattn_root: there is no folder {root}")
        config.symattn_root = str(root)


def _listed(argument: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", argument or "") if word]


class _Holding(SphinxDirective):
    """Reads the worksheet that a directive names or holds."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def worksheet(self) -> Worksheet | None:
        """The worksheet; None where a variant is named instead."""
        argument = self.arguments[0].strip() if self.arguments else ""
        site = site_of(self.env)
        if argument.endswith(".toml"):
            sheet = worksheet_of(*self._named(argument), roots=site.roots)
        elif self.content:
            sheet = worksheet_of("\n".join(self.content), *self._first_line(), site.roots)
        else:
            return None
        for numbers in sheet.files:
            self.env.note_dependency(str(numbers))
        return sheet

    def _named(self, file: str) -> tuple[str, str]:
        """The text of a file that the page names, and its path; a change of it is one of the page.

        Raises `ReadError` for a file that lies elsewhere, or cannot be read.
        """
        relative, absolute = self.env.relfn2path(file)
        self.env.note_dependency(relative)
        folder = Path(str(self.env.doc2path(self.env.docname))).parent
        return read_text(site_file(file, folder, site_of(self.env)), absolute), absolute

    def _refused(self, error: BaseException) -> DirectiveError:
        """What the directive cannot do; the next build says so again."""
        self.env.reread_always.add(self.env.docname)
        return self.error(failure(error).line)

    def _first_line(self) -> tuple[str, int]:
        """The file and line on which the body begins, whatever included it.

        docutils keeps where each line comes from; MyST counts from the directive.
        """
        path, line = self.get_source_info()
        before = self.content.offset(0)
        return path, before + 1 if before else line + self.content_offset + 1

    def displayed(self, notation: Notation) -> Notation:
        """The notation with what the options of the directive choose."""
        chosen = {name: self.options[name] or "" for name in DISPLAY if name in self.options}
        return displayed(notation, chosen)

    def hold(self, sheet: Worksheet) -> Worksheet:
        """Keep the worksheet, with the digits asked for, for the roles after it."""
        sheet = replace(sheet, notation=self.displayed(sheet.notation))
        self.env.temp_data[_KEY] = sheet
        path, _ = self.get_source_info()
        if sheet.claims and path != self.env.temp_data.get(_CHECKED):
            warn_of(self.env, sheet, self.get_location())
        return sheet


class Holds(_Holding):
    """``symattn``: a worksheet for the claims and values after it, not shown."""

    option_spec: ClassVar[OptionSpec] = {"digits": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Keep the worksheet and show nothing."""
        try:
            sheet = self.worksheet()
            if sheet is None:
                raise SymattnError(
                    "symattn: give a worksheet in the body, after a blank line, or the name of its "
                    "file, which ends in .toml"
                )
            with _limited(self.env.config):
                self.hold(sheet)
        except BaseException as error:
            raise self._refused(error) from None
        return []


class Shows(_Holding):
    """``attention``: a derivation as sentences and equations."""

    option_spec: ClassVar[OptionSpec] = {
        **dict.fromkeys(DISPLAY, directives.unchanged),
        "view": _listed,
        "entry": lambda words: (words or "").split(),
        "batch": directives.nonnegative_int,
        "label": directives.unchanged,
        "headings": directives.nonnegative_int,
        "class": directives.class_option,
        "format": lambda word: directives.choice(word, ("full", "equations")),
        "name": directives.unchanged,
        "notation": directives.unchanged,
        "symbols": lambda words: (words or "").split(";"),
        "width": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """The derivation; docutils' own admonition where the body is prose."""
        try:
            prose = self._is_admonition()
        except BaseException as error:
            raise self._refused(error) from None
        if prose:
            content, offset = self.content, self.content_offset
            if self.arguments:  # prose that begins beside the directive
                path = self.state_machine.get_source_and_line(self.lineno)[0]
                words = StringList(self.arguments[0].splitlines(), path)
                content = words + StringList([""], path) + content if content else words
                offset = self.lineno - 1
            return list(
                Admonition(
                    self.name,
                    [],
                    self.options,
                    content,
                    self.lineno,
                    offset,
                    self.block_text,
                    self.state,
                    self.state_machine,
                ).run()
            )
        body = nodes.container(classes=["symattn", *self.options.get("class", [])])
        try:
            with _limited(self.env.config):
                body += list(self._body(self._outline()))
        except BaseException as error:
            raise self._refused(error) from None
        self.set_source_info(body)
        return [body]

    def _is_admonition(self) -> bool:
        text = "\n".join(self.content)
        if holds_worksheet(text):
            return False
        argument = self.arguments[0].strip() if self.arguments else ""
        if argument.endswith(".toml") and Path(self.env.relfn2path(argument)[1]).is_file():
            return bool(text)
        return bool(text) or " " in argument or not argument

    def _outline(self) -> Outline:
        views: tuple[View, ...] = tuple(self.options.get("view", VIEWS))
        for view in views:
            if view not in VIEWS:
                raise SymattnError(f"view: there is no {quote(view)}{nearest(view, VIEWS)}")
        derivation, evaluation, notation = self._derived()
        symbols = read_symbols(self.options.get("symbols", []))
        notation = notation.lettered(self.options.get("notation"), symbols)
        entries: dict[str, Place] = {}
        if evaluation is not None:
            entries = entries_at(self.options.get("entry", []), evaluation, notation)
        elif self.options.keys() & {"layout", "entry"}:
            raise SymattnError("layout, entry: need numbers; give a worksheet")
        return Job(derivation, evaluation, notation, views, entries=entries).outline()

    def _derived(self) -> tuple[Derivation, Evaluation | None, Notation]:
        sheet = self.worksheet()
        if sheet is not None:
            sheet = self.hold(sheet)
            with sheet.in_file():
                if "batch" in self.options:
                    sheet = sheet.of_batch(self.options["batch"])
                derivation = sheet.derivation()
                return derivation, sheet.evaluate(derivation), sheet.notation
        from symattn.attention.variants import variant

        row = variant(self.arguments[0].strip())
        return row.derivation(), None, self.displayed(Notation())

    def _body(self, page: Outline) -> Iterator[nodes.Node]:
        brief = self.options.get("format") == "equations"
        if page.overview is not None and not brief:
            whole = str(formula(page.overview, display=True))
            yield from self._equation(latex(page.overview), None, line(page.overview), whole)
        if page.undrawn:
            _warn(self.env, printable(f"attention: {page.undrawn}"), self.get_location(), "layout")
        for section in page.steps if self.options.get("steps") else (*page.given, *page.steps):
            if section.number is None and not any(x.view == "value" for x in section.lines):
                yield nodes.paragraph("", "", *_inline(page.introductions[section.name]))
                continue
            level = self.options.get("headings", 0)
            if level and section.number is not None:
                heading = nodes.rubric("", page.headings[section.name])
                heading["heading-level"] = min(level, 6)
                yield heading
            if not brief:
                yield self._sentence(page, section, named=not level)
            yield from self._displays(page, section)
            if section.refused:
                message = f"attention: {section.name}: {section.refused}"
                place = self.get_location()
                _warn(self.env, printable(message), place, "entry")
            elif section.left_out:
                yield nodes.comment("", section.left_out)

    def _sentence(self, page: Outline, section: Section, named: bool) -> nodes.Node:
        """Why the step is taken, and the shape; the name of the step where no heading says it."""
        paragraph = nodes.paragraph()
        if section.number is None:
            paragraph += _inline((section.letter, ": "))
        if named and section.number is not None:
            paragraph += [nodes.strong("", page.headings[section.name]), nodes.Text(": ")]
        paragraph += _inline(section.why)
        before, behind = ("Size: ", ".") if section.number is not None else ("(", ")")
        shape = (nodes.Text(before), *_inline(section.shape), nodes.Text(behind))
        paragraph += [nodes.Text(" "), nodes.inline("", "", *shape, classes=["symattn-shape"])]
        return paragraph

    def _displays(self, page: Outline, section: Section) -> Iterator[nodes.Node]:
        width = self.options.get("width")
        room = ROOM if width is None else room_of(width)
        lines = flowed(page, section.lines, Measure() if width is None else Measure(room, size_of))
        words = "\n".join("\n".join(box(each.tree).lines) for each in lines)
        markup = _markup(section.lines)
        label = self.options.get("label") if section.number is not None else None
        for body in displays(lines, room):
            name = f"{label}-{section.name}" if label else None
            yield from self._equation(body, name, words, markup)
            label, words, markup = None, "", ""

    def _equation(self, body: str, label: str | None, words: str, markup: str) -> list[nodes.Node]:
        """A display, numbered if it has a label; `words` is what a builder of text shows.

        `markup` is its MathML, for HTML and EPUB.
        """
        docname = self.env.docname
        block = nodes.math_block(body, body, docname=docname, number=None, label=label)
        block["no-wrap"] = block["nowrap"] = False
        block[_WORDS], block[_MARKUP] = words, markup
        self.set_source_info(block)
        if label is None:
            return [block]
        domain = self.env.domains.math_domain
        domain.note_equation(docname, label, location=block)
        block["number"] = domain.get_equation_number_for(label)
        target = nodes.target("", "", ids=[nodes.make_id(f"equation-{label}")])
        self.state.document.note_explicit_target(target)
        return [target, block]


class Equations(Shows):
    """``equations``: an attention that its body says, or a file of equations, without numbers."""

    option_spec: ClassVar[OptionSpec] = {**Shows.option_spec, "gradient": directives.unchanged}

    def _is_admonition(self) -> bool:
        return False

    def _derived(self) -> tuple[Derivation, Evaluation | None, Notation]:
        argument = self.arguments[0].strip() if self.arguments else ""
        if bool(argument) == bool(self.content) or (argument and not is_equations_file(argument)):
            raise SymattnError(
                "equations: give equations in the body, after a blank line, or the name of their "
                "file, which ends in .eq"
            )
        if "batch" in self.options:
            raise SymattnError("batch: chooses a calculation of a worksheet, not of equations")
        text, name = "\n".join(self.content), "equations"
        if argument:
            text, name = self._named(argument)
        derivation = equations_of(text, name).derivation()
        if "gradient" in self.options:
            asked = _listed(self.options["gradient"])
            derivation = derivation.gradient(None if asked in ([], ["all"]) else asked)
        return derivation, None, self.displayed(Notation())


def _inline(parts: Prose) -> list[nodes.Node]:
    """A sentence as nodes of docutils: text and mathematics."""
    return [nodes.Text(part) if isinstance(part, str) else _math(part) for part in parts]


def _math(tree: Tree) -> nodes.math:
    """A formula in a sentence."""
    said = {_WORDS: line(tree), _MARKUP: str(formula(tree, display=False))}
    return nodes.math("", latex(tree), **said)


def _markup(lines: Sequence[b.Line]) -> str:
    """The lines as MathML, each by itself; a worked line can be broken where it goes on."""
    blocks = [
        b.Worked("", each.tree) if each.view == "worked" else b.Formulas((each,)) for each in lines
    ]
    return "".join(xhtml(blocks, 0))


def _warning(hook: Hook) -> Hook:
    """The hook, with a warning where it cannot do its work; the page is built without that."""

    @wraps(hook)
    def guarded(app: Sphinx, doctree: nodes.document, docname: str) -> None:
        try:
            hook(app, doctree, docname)
        except BaseException as error:
            _warn(app.env, failure(error).line, docname, "page", docname)

    return guarded


@_warning
def in_words(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """For builders of plain text, mathematics as text instead of LaTeX."""
    if app.builder.format != "text":
        return
    for node in list(doctree.findall(lambda found: isinstance(found, nodes.Element))):
        if isinstance(node, nodes.math) and _WORDS in node:
            node.parent.replace(node, nodes.Text(node[_WORDS]))
        elif isinstance(node, nodes.math_block) and _WORDS in node:
            words = node[_WORDS]
            node.parent.replace(node, nodes.literal_block(words, words) if words else [])


@_warning
def in_cells(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """For LaTeX, displays in the cells of a table as formulas of a line.

    TeX looks for the ends of a cell inside a display, and a derivation has an & in most.
    """
    if app.builder.format != "latex":
        return
    for cell in doctree.findall(nodes.entry):
        for node in [block for block in cell.findall(nodes.math_block) if _WORDS in block]:
            formula = rf"\(\displaystyle {{{node.astext()}}}\)"
            if node["label"]:
                label = f"equation:{node['docname']}:{node['label']}"
                formula = (
                    rf"\refstepcounter{{equation}}\label{{{label}}}{formula}\quad(\theequation)"
                )
            node.parent.replace(node, nodes.raw("", f"{formula}\n\n", format="latex"))


class mathml(nodes.General, nodes.Element):  # noqa: N801  Sphinx calls visit_mathml
    """A formula in HTML or EPUB: a display with its number and place, or one in a sentence."""


@_warning
def in_mathml(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """For HTML and EPUB, the formulas of derivations as MathML.

    Browsers show it without a script. Sphinx loads MathJax, from the network unless told
    otherwise, for a page that has formulas; now only for those that the page itself writes.
    """
    if app.builder.format != "html" or app.config.symattn_math != "mathml":
        return
    own = False
    for node in [*doctree.findall(nodes.math), *doctree.findall(nodes.math_block)]:
        if _MARKUP not in node:
            own = True
        elif node[_MARKUP]:
            node.parent.replace(node, mathml("", **node.attributes))
        else:  # the lines of a step stand in its first display
            node.parent.remove(node)
    app.env.domains.math_domain.data["has_equations"][docname] = own


def visit_mathml(writer: HTML5Translator, node: mathml) -> None:
    """Write the MathML; that of EPUB has no attributes yet that say how it is spoken."""
    markup = node[_MARKUP]
    if writer.builder.name == "epub":
        markup = without_intent(markup)
    if "label" not in node:
        writer.body.append(markup)
        raise nodes.SkipNode
    writer.body.append(writer.starttag(node, "div", CLASS="symattn math notranslate"))
    if node["number"]:
        number = get_node_equation_number(writer, node)  # type: ignore[arg-type]
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(f"{markup}</div>")
    raise nodes.SkipNode


class Epub(Epub3Builder):
    """An EPUB whose manifest says which pages have MathML, as EPUB 3.3, section 5.4 asks."""

    def build_content(self) -> None:
        """Write the manifest, and the property of each page."""
        super().build_content()
        folder = Path(self.outdir)
        manifest = folder / "content.opf"

        def item(found: re.Match[str]) -> str:
            page = folder / found[1]
            is_page = page.suffix == ".xhtml" and page.exists()
            with_math = is_page and "<math" in page.read_text("utf-8")
            return f'{found[0]} properties="mathml"' if with_math else found[0]

        text = re.sub(r'<item id="[^"]*" href="([^"]*)"', item, manifest.read_text("utf-8"))
        manifest.write_text(text, "utf-8")


def add_style(app: Sphinx) -> None:
    """Give HTML and EPUB the style of formulas in MathML."""
    if app.builder.format == "html" and app.config.symattn_math == "mathml":
        static = Path(app.outdir, "_static")
        static.mkdir(parents=True, exist_ok=True)
        static.joinpath(_STYLE.name).write_text(_STYLE.read_text("utf-8"), "utf-8")
        app.add_css_file(_STYLE.name)


class ValueRole(SphinxRole):
    """``value``: one computed number, ``weights[1,2]``, or ``weights[1,2] to 3`` decimals.

    Without ``to``, it has the digits of the directive before it.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The number as text; a warning where it cannot be computed."""
        try:
            with _limited(self.env.config):
                number = self._number()
            return [nodes.inline("", number, classes=["symattn-value"])], []
        except BaseException as error:
            message = f"value: {failure(error).line}"
            _warn(self.env, message, self.get_location(), "value")
            return [nodes.problematic(self.rawtext, self.rawtext)], []

    def _number(self) -> str:
        sheet: Worksheet | None = self.env.temp_data.get(_KEY)
        if sheet is None:
            raise SymattnError(f"{quote(self.text)}: no worksheet stands before this value")
        return quotation(sheet, self.text)


class ClaimRole(SphinxRole):
    """``claim``: a number in the prose; those of the page were checked when it was read."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The number alone."""
        path, _ = self.get_source_info()
        if path != self.env.temp_data.get(_CHECKED):
            self._check()
        number = re.split(r"=|≈|≃", self.text, maxsplit=1)[-1].strip()
        return [nodes.inline("", number, classes=["symattn-claim"])], []

    def _check(self) -> None:
        try:
            sheet: Worksheet | None = self.env.temp_data.get(_KEY)
            if sheet is None:
                raise ReadError(f"{quote(self.text)}: no worksheet stands before this claim")
            claim = anchor(self.text, 0)
            with _limited(self.env.config):
                warn_of(
                    self.env, replace(sheet, claims={claim.key: claim.value}), self.get_location()
                )
        except BaseException as error:
            _wrong(self.env, f"claim: {failure(error).line}", self.get_location())


def warn_of(env: BuildEnvironment, sheet: Worksheet, location: Location) -> None:
    """A warning for each number that a worksheet claims and that is wrong."""
    with sheet.in_file():
        marking = check_worksheet(sheet, False)
    for step in marking.steps:
        for entry in step.entries:
            if not marking.passes(entry):
                _wrong(env, marking.finding(step, entry).message, location)
    for link in marking.lines:
        if not marking.passes(link):
            _wrong(env, link.message, location)


def _limited(config: Config) -> AbstractContextManager[None]:
    """The limit to work that the configuration sets."""
    return budgeted("symattn_allow_large = True in conf.py", config.symattn_allow_large)


def _wrong(env: BuildEnvironment, message: str, location: Location) -> None:
    _warn(env, printable(message), location, "claim")


def _warn(
    env: BuildEnvironment, message: str, location: Location, subtype: str, docname: str = ""
) -> None:
    """A warning that comes again with the next build, as long as the page is as it is.

    Sphinx reads a page again only when it has changed: a second build would end well.
    """
    _log.warning(message, location=location, type="symattn", subtype=subtype)
    env.reread_always.add(docname or env.docname)


def check_page(app: Sphinx, docname: str, text: list[str]) -> None:
    """Warn about every wrong number of a page, where it stands, before the page is parsed."""
    path = Path(str(app.env.doc2path(docname)))
    if path.suffix.lower() not in SYNTAXES:
        return
    app.env.temp_data[_CHECKED] = str(path)
    try:
        with _limited(app.config):
            checked = check_text(text[0], str(path), explain=False, site=site_of(app.env))
        wrong = checked.complaints if checked else ()
        disagreements = [(one.line, one.message) for one in wrong]
        problems = checked.problems if checked else ()
    except BaseException as error:
        disagreements, problems = [], (failure(error).line,)
    for number, message in disagreements:
        _wrong(app.env, message, (docname, number))
    for problem in map(printable, problems):
        place = _PLACE.match(problem)
        message = problem[place.end() :] if place else problem
        _wrong(app.env, message, f"{place['file']}:{place['line']}" if place else docname)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives, the roles and the check."""
    app.add_config_value("symattn_allow_large", False, "env", bool)
    app.add_directive("symattn", Holds)
    app.add_directive("attention", Shows, override=True)  # its own admonition still works
    app.add_directive("equations", Equations)
    app.add_role("value", ValueRole())
    app.add_role("claim", ClaimRole())
    app.add_config_value("symattn_root", None, "env", (str, type(None)))
    app.add_config_value("symattn_math", "mathml", "html", ENUM(*_MATH))
    app.add_node(mathml, html=(visit_mathml, None))
    app.add_builder(Epub, override=True)
    app.connect("config-inited", find_root)
    app.connect("builder-inited", add_style)
    app.connect("source-read", check_page)
    app.connect("doctree-resolved", in_words)
    app.connect("doctree-resolved", in_cells)
    app.connect("doctree-resolved", in_mathml)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
