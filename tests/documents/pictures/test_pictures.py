"""Pictures: drawn once, the same numbers in SVG, TikZ and PNG, opened by what shows them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest

from symattn import VARIANTS, Attention, Notation, SymattnError, plot
from symattn.attention.example import small_example
from symattn.derivations import Derivation, Evaluation
from symattn.documents.page.colour import shade_of
from symattn.documents.page.matrices import pretty
from symattn.documents.pictures.drawing import Box, Drawing, Words
from symattn.documents.pictures.graph import operation
from symattn.documents.pictures.kinds import KINDS, cut, picture
from symattn.documents.pictures.png import png_document
from symattn.documents.pictures.svg import svg_document
from symattn.documents.pictures.tikz import tikz_document
from symattn.language.equations import derivation_of
from symattn.nodes.spell import Speller
from symattn.sheets.worksheet import read_worksheet
from tests.command import put, run
from tests.gates import CAUSAL, HOSTILE_LABELS


def drawn(kind: str, path: Path = CAUSAL, step: str = "") -> Drawing:
    sheet = read_worksheet(path)
    derivation = sheet.derivation()
    return picture(kind, derivation, sheet.evaluate(derivation), step=step)


@cache
def example(name: str) -> tuple[Derivation, Evaluation]:
    """A variant with small numbers."""
    return small_example(next(row.spec for row in VARIANTS if row.name == name))


def test_a_heat_map_shows_the_proven_digits() -> None:
    sheet = read_worksheet(CAUSAL)
    values = sheet.evaluate()
    drawing = drawn("heat")
    words = [shape.plain for shape in drawing.shapes if isinstance(shape, Words)]
    for place in [(i, j) for i in range(3) for j in range(3)]:
        assert pretty(values.digits("A", place, Notation()).text) in words
    assert words[:6] == ["A", "the", "cat", "sat", "queries", "keys"]
    assert "0.2840, 0.1400, 0.5760" in drawing.alternative


def letters_in(drawing: Drawing) -> list[str]:
    return [shape.plain for shape in drawing.shapes if isinstance(shape, Words)]


def test_states_are_drawn_as_they_grow() -> None:
    whole = derivation_of("S[0] = 0; S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]")
    rows = [[1, 0], [0, 1], [2, 1]]
    drawing = picture("heat", whole, whole.evaluate(Q=rows, K=rows, V=rows))
    titles = [shape.plain for shape in drawing.shapes if isinstance(shape, Words) and shape.bold]
    assert titles == ["S⁽¹⁾", "S⁽²⁾", "S⁽³⁾"]
    assert "S⁽³⁾, 2 by 2: 5, 2; 2, 2" in drawing.alternative


def test_a_large_map_has_no_digits_and_its_cells_are_those_of_the_matrix() -> None:
    rows = [[index % 5, index % 3] for index in range(13)]
    derivation = Attention(mask="causal").derivation()
    values = derivation.evaluate(Q=rows, K=rows, V=rows)
    drawing = picture("heat", derivation, values)
    numbers = [str(k) for k in range(1, 14)]
    assert letters_in(drawing) == [
        "A",
        "queries",
        "keys",
        *numbers,
        *numbers,
        "0",
        "1",
        "masked out",
    ]
    boxes = [shape for shape in drawing.shapes if isinstance(shape, Box)]
    cell = boxes[0].height
    hidden = [box for box in boxes if box.hatched and box.height == cell]
    assert [round(box.width / cell) for box in hidden] == list(range(12, 0, -1))
    assert picture("heat", derivation, values, Notation(convention="columns")) != drawing


def test_rows_and_columns_are_named_the_right_way_round() -> None:
    sheet = read_worksheet(CAUSAL)
    derivation, values = sheet.derivation(), sheet.evaluate()
    for convention, wanted in (("rows", "queries"), ("columns", "keys")):
        notation = Notation().but(convention=convention)
        drawing = picture("heat", derivation, values, notation)
        turned = [each.plain for each in drawing.shapes if isinstance(each, Words) and each.turned]
        assert turned == [wanted]


def test_a_name_is_cut_between_letters() -> None:
    assert cut("e\u0301" * 20) == "e\u0301" * 13 + "…"
    assert cut("👩‍👩‍👧‍👦" * 9).removesuffix("…").count("👦") * "👩‍👩‍👧‍👦" + "…" == cut(
        "👩‍👩‍👧‍👦" * 9
    )
    assert cut("שלום") == "שלום"
    long = "a" * 60
    derivation = Attention().derivation(labels={"n": [long], "m": ["key"]})
    values = derivation.evaluate(Q=[[1]], K=[[1]], V=[[1]])
    svg = svg_document(picture("lines", derivation, values))
    assert f"<title>{long}</title>" in svg


@pytest.mark.nightly
def test_the_graph_says_its_operations() -> None:
    words = letters_in(drawn("steps"))
    for sign in ("×", "÷ √d_k", "causal", "+", "softmax"):
        assert sign in words
    for row in VARIANTS:
        derivation, _ = example(row.name)
        speller = Speller(Notation())
        assert [step.name for step in derivation.steps if not operation(step, speller)] == []


@pytest.mark.parametrize(
    ("value", "largest", "level"),
    [(-1, 2, 5), (3, 2, 10), (1, 0, 0), (float("nan"), 2, 0), (float("-inf"), 2, 10)],
)
def test_shades_of_numbers(value: float, largest: float, level: int) -> None:
    assert shade_of(value, largest) == level


def test_heads_stand_in_even_rows_on_a_page() -> None:
    for heads, rows in ((1, 1), (2, 1), (3, 1), (4, 2), (6, 2), (7, 3)):
        spec = Attention(source="self", heads=heads)
        drawing = picture("heat", *small_example(spec, tokens=3))
        assert drawing.width <= 600
        names = [shape for shape in drawing.shapes if isinstance(shape, Words) and shape.bold]
        assert len(names) == heads
        assert len({shape.y for shape in names}) == rows


def test_what_cannot_be_drawn_says_so() -> None:
    derivation = Attention().derivation()
    values = derivation.evaluate(Q=[[1]], K=[[1]], V=[[1]])
    for kind, step, told in (
        ("pie", "", "no picture"),
        ("falk", "weights", "not a product"),
        ("heat", "scorse", 'did you mean "scores"'),
    ):
        with pytest.raises(SymattnError, match=told):
            picture(kind, derivation, values, step=step)
    with pytest.raises(SymattnError, match="needs numbers"):
        picture("heat", derivation, None)


def test_tex_sets_the_pictures(tool: Callable[[str], str], tmp_path: Path) -> None:
    labels = [*HOSTILE_LABELS]
    rows = [[index % 5, 1] for index in range(len(labels))]
    derivation = Attention().derivation(labels={"n": labels, "m": labels})
    values = derivation.evaluate(Q=rows, K=rows, V=rows)
    parts = [tikz_document(picture(kind, derivation, values)) for kind in KINDS]
    parts += [tikz_document(drawn(kind)) for kind in KINDS]
    file = put(
        tmp_path / "pictures.tex",
        "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage[T1]{fontenc}"
        "\\usepackage{amsmath,amssymb,tikz}\\begin{document}\n"
        + "\n\n\\newpage\n".join(parts)
        + "\\end{document}",
    )
    command = [tool("pdflatex"), "-halt-on-error", "-no-shell-escape", "-interaction=nonstopmode"]
    ran = subprocess.run([*command, file.name], cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stdout.decode(errors="replace")[-1500:]


def test_png_is_a_picture_with_words_inside() -> None:
    from PIL import Image

    drawing = drawn("heat")
    image = Image.open(BytesIO(png_document(drawing)))
    assert image.size == (round(2 * (drawing.width + 16)), round(2 * (drawing.height + 16)))
    assert image.info["Description"] == drawing.alternative
    colours = {colour for _, colour in image.convert("RGB").getcolors(10**6) or []}
    assert {(255, 255, 255), (83, 35, 122)} <= colours  # the ground, and the shade of 1


def test_plot_returns_axes() -> None:
    from matplotlib.figure import Figure

    values = read_worksheet(CAUSAL).evaluate()
    axes = plot(values, "weights", notation=Notation(digits=2))
    words = [text.get_text() for text in axes.texts]
    assert words[-6:] == ["0.28", "0.14", "0.58", "0", "1", "masked out"]
    assert words[1:4] == ["the", "cat", "sat"]
    own = Figure().add_subplot()
    assert plot(values, "masked", own) is own
    assert "−∞" in [text.get_text() for text in own.texts]
    assert own.texts[0].get_fontsize() > axes.texts[0].get_fontsize()  # as the room is larger


@pytest.mark.parametrize("form", ["png", "svg"])
def test_a_series_of_derivations_is_no_single_thing(form: str) -> None:
    words = ["derive", "cached", "--size", "tokens=3", "--chunks", "1", "--format", form]
    ran = run(*words, status=2)
    assert "shows one derivation" in ran.output


@pytest.mark.parametrize("form", ["svg", "png", "tikz"])
def test_the_command_line_draws(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"picture.{form}"
    words = ["derive", str(CAUSAL), "--format", f"{form}:falk", "-o", str(file)]
    run(*words, status=0)
    content = file.read_bytes()
    start = {"svg": b"<svg", "png": b"\x89PNG", "tikz": b"% Falk"}[form]
    assert content.startswith(start)
