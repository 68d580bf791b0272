"""Steps that are shown with those between them put into their formulas."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from click.testing import CliRunner

from symattn import VARIANTS, Attention, Notation, SymattnError, document, text, variant
from symattn.attention.example import small_example
from symattn.cli import main
from symattn.derivations import Derivation, Evaluation
from symattn.documents.outline import Outline, outline, overview
from symattn.documents.shown import Shown
from symattn.documents.views import View
from symattn.nodes import rule as r
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.latex import latex
from symattn.notation.text import line
from symattn.step import called
from tests.lettering import clashes_of
from tests.scopes import bound_again
from tests.shares import share
from tests.worked_lines import faults


def example(name: str) -> tuple[Derivation, Evaluation]:
    spec = variant(name).spec
    heads = None if spec.heads is None else 4 if spec.kv_heads else 2
    return small_example(spec, title="", tokens=3, heads=heads)


def test_what_lies_between_is_put_into_the_formula() -> None:
    derivation = Attention().derivation()
    merged = derivation.merged(["weights", "output"])
    assert [text(step.formula()) for step in merged] == [
        "A = softmax(Q Kᵀ / √d_k)",
        "O = A V",
    ]
    folded = derivation.merged(["scaled", "output"])["scaled"]
    assert text(folded.formula(Notation(symbols={"Z": "S"}))) == "S = Q Kᵀ / √d_k"
    assert merged.inputs == derivation.inputs
    with pytest.raises(SymattnError, match="did you mean"):
        derivation.merged(["wieghts"])


@pytest.mark.parametrize("name", share([row.name for row in VARIANTS], 8))
def test_merged_formulas_have_the_values_of_their_steps(name: str) -> None:
    derivation, values = example(name)
    given = {item.name: values.given[item.letter] for item in derivation.inputs}
    last = derivation.names[-1]
    for kept in ([last], ["weights", last], [derivation.names[len(derivation) // 2], last]):
        merged = derivation.merged(kept)
        again = merged.evaluate(**given)
        for step in merged:
            true = values.array(step.letter).astype(float)
            assert np.allclose(again.array(step.letter).astype(float), true, equal_nan=True)
        shown = outline(Shown(merged, values, only=kept))
        for section in shown.steps:
            for each in section.lines:
                if each.view == "worked":
                    assert [*faults(line(each.tree), 4, {})] == []


#: Every step alone, and every pair of steps, of every variant.
_ASKED = [
    (row.name, kept)
    for row in VARIANTS
    for names in [row.derivation().names]
    for kept in (*combinations(names, 1), *combinations(names, 2))
]


@pytest.mark.parametrize(("name", "kept"), share(_ASKED, 120))
def test_no_letter_of_a_merged_formula_has_two_meanings(name: str, kept: tuple[str, ...]) -> None:
    """For all heads and for one: no index is bound in its own scope, as in Σ_l Σ_l."""
    derivation, values = example(name)
    merged = derivation.merged(kept)
    heads = (None, 1) if any(step.per_head for step in merged) else (None,)
    for head in heads:
        shown = outline(
            Shown(
                merged, values, notation=Notation(head=head), views=("formula", "entry"), only=kept
            )
        )
        for section in shown.steps:
            assert [x for each in section.lines for x in bound_again(each.tree)] == []
            lines = [each for each in section.lines if each.view != "where"]
            assert clashes_of((section.name, x.view, latex(x.tree)) for x in lines) == []
    for step in merged:  # also of rules that are too long to be shown
        assert [*bound_again(step.entry())] == []


def test_an_index_that_is_bound_again_is_found() -> None:
    index, x, size = r.dummy(), sympy.MatrixSymbol("X", 2, 2), sympy.Symbol("d_r", nonnegative=True)
    inner = r.Total(r.Entry(x, index, index), index, sympy.S(2))
    outer = r.Total(r.Times((r.Entry(x, index, index), inner)), index, sympy.S(2))
    assert line(Speller().rule(outer)) == "Σ_l (x_ll Σ_r x_rr)"
    assert line(Speller().rule(replace(outer, size=size))) == "Σ_l (x_ll Σ_k x_kk)"  # beside d_r
    sum_of = t.Script(t.SUM, t.Ident("l"))
    again = t.row(sum_of, t.Fenced(t.row(t.Ident("x"), t.TIMES, sum_of, t.Ident("y"))))
    assert [*bound_again(again)] == ["l"]
    assert [*bound_again(t.row(sum_of, t.Ident("x"), t.PLUS, sum_of, t.Ident("y")))] == []


def test_a_threshold_is_of_the_entries_that_are_put_in() -> None:
    entry = variant("sparsemax").spec.derivation().merged(["weights"])["weights"].entry()
    assert "τ((Σ_r q_ir k_1r)/√d_k, ⋯, (Σ_r q_ir k_mr)/√d_k)" in line(entry)


def test_the_result_in_one_formula() -> None:
    biased = overview(variant("biased").spec.derivation(), Notation())
    assert biased is not None and text(biased) == "O = softmax(Q Kᵀ / √d_k + M) V"
    llama = overview(variant("llama").spec.derivation(), Notation())
    assert llama is not None and len(line(llama)) <= 90
    assert "Q_r" in line(llama), "the first steps keep their letters where the line is full"
    assert overview(variant("dot-product").spec.derivation().merged(["output"]), Notation()) is None


def test_a_step_is_called_by_its_name_or_its_letter() -> None:
    derivation = Attention(source="self", mask="causal").derivation()
    items = (*derivation.inputs, *derivation.steps)
    named = {item.name for item in items}
    for item in items:
        assert called(items, [item.letter]) == called(items, [item.name]) == (item.name,)
    assert called(items, ["A", "output", "weights", "O"]) == ("weights", "output")
    renamed = Notation(symbols={"weights": r"\mathbf{P}", "output": "alpha", "Q": "K", "K": "L"})
    for letter, name in ((r"\mathbf{P}", "weights"), ("α", "output"), ("alpha", "output")):
        assert called(items, [letter], renamed) == (name,)
    assert called(items, ["A"], renamed) == ("weights",)  # which no other has
    assert (called(items, ["Q"], renamed), called(items, ["L"], renamed)) == (("Q",), ("K",))
    with pytest.raises(SymattnError, match=r'"K" may be Q \(letter K\) or K \(letter L\)') as both:
        called(items, ["K"], renamed)
    with pytest.raises(SymattnError, match='no step is called "P"') as none:
        called(items, ["P"])
    assert "\n" not in f"{both.value}{none.value}"
    assert named >= {"Q", "K", "weights", "output"}


def test_letters_choose_the_steps_at_every_door(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(
        "[attention]\n[given]\nQ = [[1]]\nK = [[1], [2]]\nV = [[1], [3]]\n"
        '[notation]\nsteps = ["P", "O"]\nsymbols = { weights = "P" }\n'
    )
    runs = [
        CliRunner().invoke(main, ["derive", str(sheet), "--view", "formula", *more])
        for more in ([], ["--steps", "weights,output"], ["--steps", "P,output"])
    ]
    assert {run.exit_code for run in runs} == {0}
    assert len({run.output for run in runs}) == 1
    assert "P = softmax" in runs[0].output
    derivation = Attention().derivation()
    by_letter, by_name = (document(derivation, "md", steps=[one]) for one in ("A", "weights"))
    assert by_letter == by_name
    assert derivation.merged(["A"]) == derivation.merged(["weights"])


def test_sizes_are_put_into_the_parts_of_a_merged_formula_too() -> None:
    merged = Attention(source="self", positions="rotary").derivation().merged(["scores"])
    (d_k,) = (size for size in merged.size_symbols if size.name == "d_k")
    scores = merged["scores"]
    sized = scores.subs({d_k: 4})
    before, after = (
        [line(one.statement) for one in step.definitions()] for step in (scores, sized)
    )
    assert "θ_t = 10000^(−2 (t − 1)/d_k)" in before
    assert not any("d_k" in one for one in after)
    assert len(after) == len(before) == 3
    assert all(not part.expr.has(d_k) for part in sized.parts)
    assert any(part.expr.has(d_k) for part in scores.parts)


def test_the_row_of_a_table_names_its_indices_in_a_sum() -> None:
    """The denominator has the bias of key l, of which κ_ij is the row of another."""
    weights = variant("t5").spec.derivation().merged(["weights"])["weights"]
    above, below = line(weights.entry()).split(" / ")
    assert above.count("κ_ij") == 1 and "κ_il" not in above
    assert below.count("κ_il") == 1 and "κ_ij" not in below
    assert line(weights.definitions()[0].statement).startswith("κ_ij = ")


def where_lines(shown: Outline, name: str) -> list[str]:
    """The lines below a formula that say what stands in it."""
    (section,) = (one for one in shown.steps if one.name == name)
    return [line(each.tree) for each in section.lines if each.view == "where"]


@pytest.mark.parametrize("views", [("formula",), ("formula", "entry")])
def test_functions_of_a_merged_formula_are_defined_where_its_rule_is_too_long(
    views: tuple[View, ...],
) -> None:
    derivation = variant("rotary").spec.derivation().merged(["scores", "output"])
    shown = outline(Shown(derivation, views=views, only=["scores", "output"]))
    rope, *letters = where_lines(shown, "scores")
    assert rope.startswith("where rope(Q) has the entries q^r_ij = ")
    assert [one[:4] for one in letters] == ["and "] * 3
    assert [one.partition(" has the entries ")[0] for one in where_lines(shown, "output")] == [
        "where softmax(G)",
        "and causal(n, n)",
    ]
    (output,) = (one for one in shown.steps if one.name == "output")
    assert ("cases inside a sum" in output.left_out) is ("entry" in views)
    again = outline(Shown(derivation.merged(["output"]), views=views, only=["output"]))
    assert len(where_lines(again, "output")) == 3 + 3  # rope with its three letters
    short = Attention().derivation().merged(["weights"])
    assert where_lines(outline(Shown(short, only=["weights"])), "weights") == []  # it has a rule


#: Steps that are shown of each variant: the result, with the weights, and with one in the middle.
_SHOWN = [
    (row.name, kept)
    for row in VARIANTS
    for names in [row.derivation().names]
    for kept in {
        (names[-1],): None,
        tuple(dict.fromkeys([*({"weights"} & {*names}), names[-1]])): None,
        tuple(dict.fromkeys([names[len(names) // 2], names[-1]])): None,
    }
]


@pytest.mark.parametrize("views", [("formula",), ("formula", "entry")])
@pytest.mark.parametrize(("name", "kept"), share(_SHOWN, 20))
def test_what_a_page_uses_is_defined_and_what_it_defines_is_used(
    name: str, kept: tuple[str, ...], views: tuple[View, ...]
) -> None:
    derivation, values = example(name)
    merged = derivation.merged(kept)
    for numbers in (values, None):
        shown = outline(Shown(merged, numbers, views=views, only=kept))
        lines = told(merged, shown)
        assert undefined(lines) == []
        assert unused(lines) == []
        assert twice(lines) == []


#: A function that is applied, and what a line "where θ_t = …" defines.
_CALLED = re.compile(r"([A-Za-z]+)(?:_[a-z]+)?[⁽ʰ⁾]*\(")
_DEFINES = re.compile(r"^(?:where|and) ([^\W\d_]+)[^=]* = (?!.* has the entries )")


def told(derivation: Derivation, shown: Outline) -> list[tuple[str, str]]:
    """The views and lines of a page; a rule of entries is one, behind the word "where" too."""
    rules = {f"where {line(step.entry(shown.notation))}" for step in derivation}
    lines = ((x.view, line(x.tree)) for section in shown.steps for x in section.lines)
    return [("entry" if one in rules else view, one) for view, one in lines]


def undefined(lines: Sequence[tuple[str, str]]) -> list[str]:
    """The functions in formulas that neither an entry rule nor a line of definitions has."""
    known = {"tanh", "exp", "max", "min"}
    for (view, one), (below, _) in pairwise([*lines, ("", "")]):
        if view == "where" or below == "entry":
            known |= {*_CALLED.findall(one)}
    return [
        x
        for view, one in lines
        if view == "formula"
        for x in _CALLED.findall(one)
        if x not in known
    ]


def unused(lines: Sequence[tuple[str, str]]) -> list[str]:
    """The letters that a line defines and no other line has."""
    return [
        letter
        for place, (view, one) in enumerate(lines)
        for letter in _DEFINES.findall(one if view == "where" else "")
        for others in [(*lines[:place], *lines[place + 1 :])]
        if not re.search(rf"(?<![^\W_]){letter}(?![^\W_])", "\n".join(x for _, x in others))
    ]


def twice(lines: Sequence[tuple[str, str]]) -> list[str]:
    """What definitions say twice, or of one letter without saying where it holds."""
    said = [re.sub("^(where|and) ", "", one) for view, one in lines if view == "where"]
    out = [one for one in dict.fromkeys(said) if said.count(one) > 1]
    meanings: dict[str, set[str]] = {}
    for one in said:
        left, _, right = one.partition(" = ")
        meanings.setdefault(left, set()).add(right)
    for left, each in meanings.items():
        out += [left for right in each if len(each) > 1 and " in " not in right]
    return out


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"mask": ["causal", {"padding": 3}]}, ["M_ij"]),
        ({"mask": ["causal", {"any": [{"window": 2}, {"global": [1]}]}]}, ["M_ij"]),
        (
            {"source": "self", "positions": "rotary", "cache": True},
            ["ψ_it = (i + p − 1) θ_t in Q_r", "ψ_it = (i − 1) θ_t in K_r"],
        ),
    ],
)
def test_each_definition_of_a_merged_formula_is_told_once(
    choices: dict[str, Any], said: list[str]
) -> None:
    derivation = Attention(**choices).derivation().merged(["weights"])
    lines = told(derivation, outline(Shown(derivation, only=["weights"])))
    assert twice(lines) == []
    where = "\n".join(one for view, one in lines if view == "where")
    assert [where.count(one) for one in said] == [1] * len(said)
    doubled = [*lines, lines[-1]]
    assert twice(doubled) == [re.sub("^(where|and) ", "", lines[-1][1])]
    assert twice([("where", "where a = 1"), ("where", "and a = 2")]) == ["a", "a"]


def test_a_function_without_a_definition_and_a_letter_without_use_are_found() -> None:
    derivation = variant("rotary").spec.derivation().merged(["scores"])
    formula, entries, *letters = told(derivation, outline(Shown(derivation, only=["scores"])))
    assert " has the entries " in entries[1]
    assert undefined([formula, *letters]) == ["rope"] * 2
    assert unused([formula, *letters]) == ["ψ"]
    cases = "where M = strided(n, n, 2) has the entries M_ij = [[0, if j ≤ i and i − j = 2], …]"
    assert unused([("where", cases)]) == []  # a condition defines nothing


@pytest.mark.parametrize(
    ("choices", "name", "formula"),
    [
        ({"source": "self", "projection_bias": True}, "Q", "Q = X W_Q + 1 b_Q"),
        (
            {"source": "self", "projection_bias": True},
            "scores",
            "S = (X W_Q + 1 b_Q) (X W_K + 1 b_K)ᵀ",
        ),
    ],
)
def test_a_vector_for_all_rows_stands_beside_ones(
    choices: dict[str, Any], name: str, formula: str
) -> None:
    derivation = Attention(**choices).derivation().merged([name])
    shown = outline(Shown(derivation, only=[name]))
    assert line(derivation[name].formula()) == formula
    assert where_lines(shown, name) == ["where 1 is a column of ones"]
