"""Falk's scheme: which steps have it, that its numbers are the value view's, and what is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from symattn import VARIANTS, Notation, SymattnError
from symattn.attention.example import small_example
from symattn.cli import main
from symattn.derivations import Derivation, Evaluation, Step, value_view
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from symattn.evaluate.cells import indices_of
from symattn.notation.latex import latex
from symattn.notation.mathml import mathml
from symattn.notation.spoken import spoken
from symattn.notation.text import line, text
from symattn.notation.tree import Fenced, Grid, Num, Row, Scheme, Tree
from symattn.sheets.worksheet import worksheet_of
from tests import gates
from tests.shares import share

FALK = Notation(layout="falk")
CAUSAL = str(gates.CAUSAL)

#: The columns of a scheme in LaTeX, at whose right the names of the matrices stand.
_FALK = re.compile(r"\|r+l+\}")


def example(
    variant: str, tokens: int = 3, gradient: tuple[str, ...] | None = None
) -> tuple[Derivation, Evaluation]:
    """A small example of a variant."""
    row = next(row for row in VARIANTS if row.name == variant)
    return small_example(row.spec, tokens=tokens, gradient=gradient)


def views(evaluation: Evaluation, step: Step, notation: Notation) -> Iterator[Tree]:
    """The value view of each head."""
    heads = range(evaluation.array(step.letter).shape[-3]) if step.per_head else (None,)
    for head in heads:
        yield from value_view(evaluation, step, head, notation)


def grid_of(tree: Tree) -> Grid:
    """The matrix in a value view."""
    assert isinstance(tree, Row)
    fenced = tree.items[-1]
    assert isinstance(fenced, Fenced)
    assert isinstance(fenced.body, Grid)
    return fenced.body


def is_product(step: Step) -> bool:
    """Whether the formula reads as two letters side by side, with heads and transposes."""
    side = line(step.formula()).partition(" = ")[2]
    letter = r"d?[A-Zu](?:_\w+)?(?:\^\(⌈h/\d⌉\))?[ᵀ⁽⁾ʰ]*"
    return re.fullmatch(f"{letter} {letter}", side) is not None


def numbers(grid: Grid) -> list[list[Fraction]]:
    """The cells as numbers; Unicode's minus is read."""
    return [[Fraction(line(cell).replace("−", "-")) for cell in row] for row in grid.rows]


def product(one: list[list[Fraction]], other: list[list[Fraction]]) -> list[list[Fraction]]:
    """Rows times columns."""
    return [
        [
            sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
            for column in zip(*other, strict=True)
        ]
        for row in one
    ]


def is_close(tree: Scheme) -> bool:
    """Whether the numbers shown are a product: exactly, or as far as they are rounded."""
    parts = (tree.first, tree.second, tree.product)
    one, other, shown = (numbers(part.grid) for part in parts)
    exact = all(part.relation.symbol == "=" for part in parts)
    room = Fraction(0 if exact else 1, 100)
    pairs = zip(product(one, other), shown, strict=True)
    return all(abs(x - y) <= room for rows in pairs for x, y in zip(*rows, strict=True))


def test_a_wrong_number_in_a_scheme_is_noticed() -> None:
    derivation, values = example("self")
    (tree,) = value_view(values, derivation["scores"], notation=FALK)
    assert isinstance(tree, Scheme)
    assert is_close(tree)
    rows = tree.product.grid.rows
    spoilt = replace(tree.product.grid, rows=((Num("77"), *rows[0][1:]), *rows[1:]))
    assert not is_close(replace(tree, product=replace(tree.product, grid=spoilt)))


_IN_TEXT = """
                 │  a   b
                 │ (4)  2      = Kᵀ
                 │ (1)  0
─────────────────┼─────────────────
Q =   1      −2  │  2   2  a   = S
     (0.5)   (3) │ [5]  1  b
"""


def test_a_scheme_in_text() -> None:
    sheet = worksheet_of(
        'attention.tokens = ["a", "b"]\n[given]\nQ = [[1, -2], [0.5, 3]]\nK = [[4, 1], [2, 0]]\n'
        "V = [[10], [20]]",
        "small",
    )
    derivation = sheet.derivation()
    values = sheet.evaluate(derivation)
    scores = derivation["scores"]
    (tree,) = value_view(values, scores, notation=FALK, entry=(1, 0))
    assert f"\n{text(tree)}\n" == _IN_TEXT
    told = "Q = [[1, −2], [(0.5), (3)]], Kᵀ = [[(4), 2], [(1), 0]], S = [[2, 2], [[5], 1]]"
    assert line(tree) == told
    assert spoken(tree).endswith("S equals 2, 2; boxed 5, 1")


@pytest.mark.parametrize("name", share([row.name for row in VARIANTS], 4, 2))
def test_the_numbers_are_those_of_the_value_views(name: str) -> None:
    """And they are a product: by rows and columns here, exactly where the values are exact."""
    derivation, values = example(name)
    schemes = 0
    for step in derivation.steps:
        for plain, tree in zip(
            views(values, step, Notation(limit=0)),
            views(values, step, FALK.but(limit=0)),
            strict=True,
        ):
            if not isinstance(tree, Scheme):
                assert tree == plain
                assert not is_product(step)
                continue
            assert is_product(step)
            schemes += 1
            assert tree.product.grid == grid_of(plain)
            assert line(tree.product.symbol) == line(plain).split(" ")[0]
            assert is_close(tree)
    assert schemes > 0


def test_each_query_head_meets_the_keys_of_its_group() -> None:
    derivation, values = example("grouped-query")
    trees = [*views(values, derivation["scores"], FALK)]
    named = [line(tree.second.symbol) for tree in trees if isinstance(tree, Scheme)]
    assert len(named) == len(trees) == values.array("S").shape[0]
    groups = values.array("K").shape[0]
    assert named == [f"K⁽{'¹²³⁴'[k * groups // len(trees)]}⁾ᵀ" for k in range(len(trees))]


@pytest.mark.parametrize("count", [1, 5, 8, 9, 12, 40])
@pytest.mark.parametrize("limit", [0, 1, 3, 4, 8])
def test_indices_kept(count: int, limit: int) -> None:
    for wanted in (None, *range(count)):
        shown = indices_of(count, limit, wanted)
        there = [index for index in shown if index is not None]
        assert there == sorted(set(there))
        assert there[-1] == count - 1
        assert wanted is None or wanted in there
        assert not limit or len(shown) <= max(limit, 5)
        for one, other in pairwise(shown):
            assert one is not None or other is not None
            assert one is None or other is None or other == one + 1  # else a gap says so


def test_the_entry_is_worked_out_and_boxed() -> None:
    derivation, values = example("causal-multi-head")
    page = outline(Shown(derivation, values, entries={"scores": (1, 2, 0)}))
    section = next(each for each in page.steps if each.name == "scores")
    worked = [line(each.tree) for each in section.lines if each.view == "worked"]
    assert [each.split(" ")[0] for each in worked] == ["s_31⁽²⁾"]
    boxed = [latex(each.tree).count(r"\boxed") for each in section.lines if each.view == "value"]
    assert boxed == [0, 1]
    others = [
        latex(each.tree) for other in page.steps if other is not section for each in other.lines
    ]
    assert not any(r"\boxed" in each for each in others)
    assert 'style="outline:' in mathml(section.lines[-1].tree)


def run(*arguments: str) -> tuple[int, str]:
    """What ``symattn derive`` says."""
    ran = CliRunner().invoke(main, ["derive", *arguments])
    return ran.exit_code, ran.output


def test_from_the_command_line() -> None:
    for form in ("text", "latex", "tex", "md", "mathml", "ipynb"):
        status, said = run(
            CAUSAL, "--notation", "layout=falk", "--entry", "weights[3,2]", "--format", form
        )
        assert status == 0
        sign = {"text": "┼", "mathml": "border-right:1px"}.get(form, "l} ")
        assert said.count(sign) > 0
        box = {"text": "[0.1400]", "mathml": "outline:1px"}.get(form, r"\boxed{0.1400}")
        assert said.count(box.replace("\\", "\\\\") if form == "ipynb" else box) == 1
    _, first = run(CAUSAL, "--entry", "first", "--entry", "weights[3,2]", "--format", "latex")
    assert first.count(r"\boxed") == first.count(r"\subsection*{") - 1  # all but what is given
    status, sheet = run(CAUSAL, "--notation", "layout=matrix", "--format", "latex")
    assert status == 0
    assert _FALK.search(sheet) is None


def test_the_layout_of_a_worksheet(tmp_path: Path) -> None:
    path = tmp_path / "falk.toml"
    path.write_text(Path(CAUSAL).read_text("utf-8") + '\n[notation]\nlayout = "falk"\n', "utf-8")
    assert run(str(path))[1].count("┼") == 5
    assert run(str(path), "--format", "json")[0] == 0
    with pytest.raises(SymattnError, match="choose one of matrix, falk"):
        Notation(layout="flak")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--entry", "weights[4,1]"), "weights[4,1]: no row 4: rows are 1 to 3"),
        (("--entry", "wieghts[1,1]"), 'did you mean "weights"'),
        (("--entry", "weights[1,:]"), "write e.g. weights[1,2]"),
        (("--entry", "weights[1,1] to 3"), "write e.g. weights[1,2]"),
        (("--entry", "weights[1,1]", "--symbolic"), "needs numbers"),
        (("--entry", "weights[1,1]", "--format", "json"), "json cannot do that"),
        (("--entry", "weights[1,1]", "--steps", "scores"), "add weights to them"),
        (("--entry", "weights[1,1]", "--view", "formula"), "leave --view out"),
        (("--notation", "layout=falk", "--view", "entry"), "shows values"),
        (("--notation", "layout=falk", "--symbolic"), "shows values"),
        (("--notation", "layout=falk", "--format", "json"), "json cannot do that"),
        (("--notation", "layout=falk", "--format", "svg"), "use the flavor falk"),
        (("--notation", "layout=falk", "--format", "numpy"), "numpy cannot do that"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: tuple[str, ...], complaint: str) -> None:
    status, said = run(CAUSAL, *arguments)
    assert status != 0
    ran = CliRunner().invoke(main, ["derive", CAUSAL, *arguments], standalone_mode=False)
    assert complaint in f"{said}{ran.exception}"
    assert "\n" not in str(ran.exception)


def test_of_a_merged_formula_the_factors_of_its_last_step_are_drawn_and_named() -> None:
    derivation, values = example("causal")
    whole = outline(Shown(derivation, values, notation=FALK)).steps
    merged = derivation.merged(["output"])
    (section,) = outline(Shown(merged, values, notation=FALK, only=["output"])).steps
    drawn = [x.tree for x in section.lines if isinstance(x.tree, Scheme)]
    assert drawn == [x.tree for x in whole[-1].lines if isinstance(x.tree, Scheme)] != []
    said = [line(x.tree) for x in section.lines if x.view == "where"]
    assert said[-2:] == [
        "where A = softmax(X W_Q (X W_K)ᵀ / √d_k + causal(n, n))",
        "and V = X W_V",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["self", "--steps", "weights"], "no step that is shown is a product of two matrices"),
        (["self", "--steps", "output", "--format", "html"], "output: html draws no merged formula"),
        (["self", "--steps", "output"], ""),
        (["self", "--steps", "output", "--format", "tex"], ""),
        (["self", "--format", "html"], ""),
    ],
)
def test_where_nothing_is_drawn_the_command_says_so(arguments: list[str], said: str) -> None:
    ran = CliRunner().invoke(main, ["derive", *arguments, "--notation", "layout=falk"])
    assert ran.exit_code == 0
    assert said in ran.stderr and bool(said) == ("layout falk" in ran.stderr)
