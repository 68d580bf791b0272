"""The notation tree read as LaTeX that pdflatex (amsmath), KaTeX and MathJax all take.

Matrices are ``array`` inside ``\\left[ \\right]`` (no ten-column limit); words go through
`escape`, so a label can never become a command.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import starmap

from symattn.errors import CannotSpell
from symattn.greek import GREEK
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_OPERATORS = {
    "\u2062": " ",
    "\u2061": "",
    "/": "/",
    "·": r" \cdot ",
    "×": r" \times ",
    "+": " + ",
    "−": " - ",
    "=": " = ",
    "≈": r" \approx ",
    "≤": r" \le ",
    "<": " < ",
    "≥": r" \ge ",
    ">": " > ",
    "≠": r" \ne ",
    "∈": r" \in ",
    "∪": r" \cup ",
    ":": " : ",
    "∑": r"\sum",
    "∞": r"\infty",
    "⋯": r"\cdots",
    "⋮": r"\vdots",
    "⋱": r"\ddots",
    "∘": r" \circ ",
    "⊘": r" \oslash ",
    "…": r"\ldots",
    ",": ", ",
    "\u2003": r" \quad ",
    "⊤": r"\top",
    "′": r"\prime",
    "?": "?",
}

#: What a box is wider than its body on either side, taken back: its 3 pt and its line.
_GAP = r"\mkern-6mu"

#: A command at the end, and how long one may be.
_COMMAND, _LONGEST = re.compile(r"\\[a-zA-Z]+\Z"), 20

#: Functions that have a command of their own, which keeps them off what stands before.
_FUNCTIONS = ("cos", "sin", "tanh", "ln", "log", "max", "min")

_GREEK_COMMANDS = {letter: f"\\{name}" for name, letter in GREEK.items()} | {
    "∂": r"\partial",
    "ℝ": r"\mathbb{R}",
    "φ": r"\varphi",
    "ε": r"\varepsilon",
}

#: Characters that stand for themselves in words only when written another way.
_TEXT_ESCAPES = {"{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_"}

#: Characters of a name in a formula, where a hyphen would be a minus sign.
_NAME_ESCAPES = {**_TEXT_ESCAPES, "-": r"\text{-}"}

#: Invisible characters that belong to a word: they join emoji and letters.
_JOINERS = "\u200c\u200d"

#: Pairs that TeX's fonts join into another sign.
_JOINED = {"--", "``", "''", "?`", "!`", ",,", "<<", ">>"}

#: Characters that need math mode to look like themselves, in sentences and in formulas.
_MATH_ESCAPES = {
    "\\": r"\backslash",
    "^": r"^{\wedge}",
    "~": r"\sim",
    "<": "<",
    ">": ">",
    "|": r"\vert",
    "√": r"\surd",
    "−": "-",
    **{
        symbol: command.strip()
        for symbol, command in _OPERATORS.items()
        if not symbol.isascii() and symbol not in "\u2003\u2061\u2062"
    },
    **_GREEK_COMMANDS,
    **{sign: f"^{{{plain}}}" for sign, plain in zip("ᵀ⁰⁴⁵⁶⁷⁸⁹⁺⁻", "T0456789+-", strict=True)},
    **{sign: f"_{{{plain}}}" for sign, plain in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)},
    "→": r"\to",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "✓": r"\surd",
    "✗": r"\times",
}


def latex(tree: Tree) -> str:
    """The tree as LaTeX for math mode."""
    return " ".join(_latex(tree).split())


def _latex(tree: Tree) -> str:
    match tree:
        case t.Num(digits):
            return digits
        case t.Ident(name, roman):
            return _identifier(name, roman)
        case t.Op(symbol):
            if symbol not in _OPERATORS:
                raise CannotSpell(f"the operator {symbol!r} has no LaTeX spelling here")
            return _OPERATORS[symbol]
        case t.Row(items):
            return _row(items)
        case t.Script(base, sub, sup):
            body = _latex(base) if base == t.SUM or _is_simple(base) else f"{{{_latex(base)}}}"
            below = "" if sub is None else f"_{{{_latex(sub)}}}"
            above = "" if sup is None else f"^{{{_latex(sup)}}}"
            return f"{body}{below}{above}"
        case t.Frac(num, den):
            return rf"\frac{{{_latex(num)}}}{{{_latex(den)}}}"
        case t.Root(body):
            return rf"\sqrt{{{_latex(body)}}}"
        case t.Fenced(t.Grid() as grid, _, _) if grid.labelled:
            return rf"\ {_ruled(t.ruled(grid))}"
        case t.Fenced(body, left, right):
            return _fenced(body, left, right)
        case t.Text(words):
            return text(words)
        case t.Custom(code):
            return f"{{{code}}}"
        case t.Marked(mark, body):
            return f"{_latex(mark)} {_latex(body)}"
        case t.Picked(body, boxed):
            return _boxed(body) if boxed else rf"\mathbf{{{_latex(body)}}}"
        case t.Grid() | t.Scheme():
            return _ruled(t.ruled(tree))
    raise t.no_tree(tree)


def _is_simple(tree: Tree) -> bool:
    return isinstance(tree, t.Ident | t.Num | t.Custom) or (
        isinstance(tree, t.Fenced) and not is_tall(tree.body)
    )


def _row(items: tuple[Tree, ...]) -> str:
    out = ""
    for index, item in enumerate(items):
        piece = _latex(item)
        if t.is_sign(items, index):
            piece = "-"
        if item == t.TIMES and any(
            isinstance(x, t.Marked) for x in items[max(index - 1, 0) : index + 2]
        ):
            piece = r" \, "  # dS K, where dSK would be read as one
        if piece[:1].isalpha() and _COMMAND.search(out[-_LONGEST:]):
            out += " "  # or the letter would be read as one of the command's
        out += piece
    return out


def _identifier(name: str, roman: bool) -> str:
    if name in _GREEK_COMMANDS:
        return _GREEK_COMMANDS[name]
    if len(name) == 1 and not roman:
        return name
    if name in _FUNCTIONS:
        return f"\\{name}"
    word = "".join(_NAME_ESCAPES.get(character, character) for character in name)
    return rf"\mathrm{{{word}}}"


def is_tall(tree: Tree) -> bool:
    """Whether brackets about the tree have to grow."""
    match tree:
        case t.Frac() | t.Grid():
            return True
        case t.Root(body) | t.Fenced(body, _, _):
            return is_tall(body)
        case t.Row(items):
            return any(is_tall(item) for item in items)
        case t.Script(base, _, _):
            return base == t.SUM or is_tall(base)
        case t.Marked(_, body) | t.Picked(body, _):
            return is_tall(body)
        case _:
            return False


def brackets(fenced: t.Fenced, size: str = "") -> tuple[str, str]:
    r"""Both fences by themselves, of their usual size, or of one: ``\biggl(`` and ``\biggr)``."""
    one, other = (_fence(fence, "." if size else "") for fence in (fenced.open, fenced.close))
    return (f"{size}{one}", f"{size[:-1]}r{other}") if size else (one, other)


def _fenced(body: Tree, left: str, right: str) -> str:
    if not is_tall(body):
        return f"{_fence(left, '')}{_latex(body)}{_fence(right, '')}"
    return rf"\left{_fence(left, '.')} {_latex(body)} \right{_fence(right, '.')}"


def _fence(fence: str, empty: str) -> str:
    commands = {"⌈": r"\lceil ", "⌉": r"\rceil ", "⌊": r"\lfloor ", "⌋": r"\rfloor "}
    if fence in commands:
        return commands[fence]
    if fence not in ("", "(", ")", "[", "]", "{", "}", "|"):
        raise CannotSpell(f"the fence {fence!r} has no LaTeX spelling here")
    return {"": empty, "{": r"\{", "}": r"\}"}.get(fence, fence)


def _ruled(table: t.Ruled) -> str:
    """One array with its rules, so that whatever sets it lines up rows and columns."""
    lines = table.levelled
    above, below = _lines(lines[: table.above]), _lines(lines[table.above :])
    align = table.align
    if table.before:
        align = f"{align[: table.before]}|{align[table.before :]}"
    return _array(align, rf"{above} \\ \hline {below}" if table.above else below)


def _array(align: str, lines: str) -> str:
    return rf"\begin{{array}}{{{align}}} {lines} \end{{array}}"


def _lines(body: list[list[tuple[Tree, str]]]) -> str:
    rows = [" & ".join(starmap(_cell, line)) for line in body]
    # LaTeX would take a bracket that follows a line break for the height of a gap
    return r" \\ ".join(f"{{}}{row}" if row.startswith("[") else row for row in rows)


def _cell(cell: Tree, figures: str) -> str:
    """A cell, and behind it the figures that it lacks, which are not seen.

    An empty one holds a blank, since LibreOffice leaves it out of its row otherwise.
    """
    body = r"\text{ }" if cell == t.EMPTY else _latex(cell)
    return body + (rf"\phantom{{{figures}}}" if figures else "")


def _boxed(body: Tree) -> str:
    """A box that takes no room: it reaches into the gaps about a cell."""
    box = rf"\boxed{{{_latex(body)}}}"
    return box if is_tall(body) else rf"\smash{{{_GAP}{box}{_GAP}}}"


def text(words: str) -> str:
    """Words inside math mode, every special character made harmless."""
    pieces = (
        f"{{{piece}}}" if is_math else rf"\text{{{piece}}}"
        for piece, is_math in _pieces(escape_controls(words, "?"), in_formula=True)
    )
    return "".join(pieces) or r"\text{}"


def prose(words: str) -> str:
    """Words outside math mode, every special character made harmless."""
    return "".join(
        f"${piece}$" if is_math else piece
        for piece, is_math in _pieces(escape_controls(words, "?"))
    )


def _pieces(words: str, in_formula: bool = False) -> list[tuple[str, bool]]:
    """The words cut where a character needs math mode, and where two would join (``--``).

    MathJax shows the backslash of ``\\text{\\_}``; in a formula an escape stands outside the words.
    """
    pieces: list[tuple[str, bool]] = []
    before = ""
    for character in words:
        escaped = _TEXT_ESCAPES.get(character, character)
        joins = before + character in _JOINED
        before = character
        if character in _MATH_ESCAPES:
            pieces.append((_MATH_ESCAPES[character], True))
        elif in_formula and escaped != character:
            pieces.append((escaped, True))
        elif in_formula and joins:
            pieces.append((escaped, False))
        elif pieces and not pieces[-1][1]:
            pieces[-1] = (pieces[-1][0] + "{}" * joins + escaped, False)
        else:
            pieces.append((escaped, False))
    return pieces


def escape_controls(words: str, instead: str = "\ufffd") -> str:
    """The words with control and direction-changing characters replaced."""
    bad = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return "".join(
        instead if unicodedata.category(c) in bad and c not in _JOINERS else c for c in words
    )
