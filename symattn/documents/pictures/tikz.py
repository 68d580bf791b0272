"""A drawing as TikZ: a ``tikzpicture`` for a paper, its formulas set by TeX."""

from __future__ import annotations

import re

from symattn.documents.pictures.drawing import Box, Drawing, Shape, Stroke, Words, colour_of
from symattn.notation.latex import escape_controls, latex
from symattn.notation.tree import Text

#: One unit of a drawing, in points of TeX.
_UNIT = 0.75

_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}
_NUMBER = re.compile(r"−?(\d+(\.\d+)?|∞)")


def tikz_document(drawing: Drawing, unit: float = _UNIT, font: str = r"\footnotesize") -> str:
    r"""The drawing as ``\begin{tikzpicture} …``; it needs the package tikz (and amsmath).

    One unit of the drawing is `unit` points, its words are set in a `font`; the text alternative
    goes before it, in a comment.
    """
    description = escape_controls(drawing.alternative, " ").replace("\n", " ")
    shapes = "\n".join(f"  {_shape(shape)}" for shape in drawing.shapes)
    options = f"x={unit}pt, y=-{unit}pt, inner sep=0pt, font={font}"
    return f"% {description}\n\\begin{{tikzpicture}}[{options}]\n{shapes}\n\\end{{tikzpicture}}\n"


def _shape(shape: Shape) -> str:
    match shape:
        case Box(x, y, width, height, fill, edge):
            draw = f", draw={_colour(edge)}" if edge else ""
            corner = f"({x + width:.1f},{y + height:.1f})"
            box = f"\\path[fill={_colour(fill)}{draw}] ({x:.1f},{y:.1f}) rectangle {corner};"
            lines = " ".join(
                f"({x1:.1f},{y1:.1f}) -- ({x2:.1f},{y2:.1f})" for x1, y1, x2, y2 in shape.hatching()
            )
            width_of_line = f"line width={_UNIT:.2f}pt"
            hatch = f"\n  \\path[{width_of_line}, draw={_colour('hatch')}] {lines};"
            return box + hatch * bool(lines)
        case Stroke(x1, y1, x2, y2, width, ink, opacity, arrow, _):
            if not width:
                return "% a weight too small to be seen"
            kind = ["-latex"] if arrow else []
            kind += [f"line width={width * _UNIT:.2f}pt", f"draw={_colour(ink)}"]
            kind += [f"opacity={opacity:.2f}"] if opacity < 1 else []
            return f"\\path[{', '.join(kind)}, draw] ({x1:.1f},{y1:.1f}) -- ({x2:.1f},{y2:.1f});"
        case Words(x, y, _, anchor, ink, bold, turned):
            turn = ", rotate=90" * turned
            font = ", font=\\footnotesize\\bfseries\\boldmath" if bold else ""
            where = f"[anchor={_ANCHORS[anchor]}, text={_colour(ink)}{font}{turn}]"
            return f"\\node{where} at ({x:.1f},{y:.1f}) {{{_words(shape)}}};"


def _words(shape: Words) -> str:
    """A formula or a number in mathematics, everything else as words."""
    if not isinstance(shape.words, str):
        return f"${latex(shape.words)}$"
    if _NUMBER.fullmatch(shape.words):
        return f"${shape.words.replace('−', '-').replace('∞', chr(92) + 'infty')}$"
    return f"${latex(Text(shape.words))}$"


def _colour(name: str) -> str:
    """A colour by its parts, which needs no definition."""
    code = colour_of(name)
    red, green, blue = (int(code[at : at + 2], 16) for at in (1, 3, 5))
    return f"{{rgb,255:red,{red};green,{green};blue,{blue}}}"
