"""No letter has two meanings on a page; every letter can be another one, in every format."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from symattn import VARIANTS, Attention, Notation, SymattnError
from symattn.attention.presets import PRESETS
from symattn.attention.variants import variant
from symattn.derivations import Derivation
from symattn.documents.job import Job, document_of
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from symattn.notation.latex import latex
from symattn.notation.text import line
from symattn.sheets.worksheet import worksheet_of
from tests.lettering import clashes_of
from tests.shares import share


def clashes(derivation: Derivation, notation: Notation) -> list[str]:
    """The letters with two meanings among all that is printed of a derivation."""
    shown = outline(Shown(derivation, notation=notation))
    sections = (*shown.given, *shown.steps)
    lines = [(s.name, each.view, latex(each.tree)) for s in sections for each in s.lines]
    shapes = [latex(part) for s in sections for part in s.shape if not isinstance(part, str)]
    return clashes_of(lines, shapes, notation.head_index == "below")


#: Choices together that no named variant makes.
_TOGETHER: dict[str, dict[str, Any]] = {
    "a cap and a bias over buckets": {"heads": "h", "soft_cap": 5, "bias": "relative"},
    "unfolded over ALiBi": {"source": "self", "heads": "h", "unfold": True, "bias": "alibi"},
    "words and Transformer-XL": {"embedded": True, "score": "transformer-xl", "heads": "h"},
    "a cache of grouped heads": {"heads": "h", "kv_heads": "g", "cache": True, "score": "shaw"},
    "rotary and general": {"positions": "rotary", "score": "general", "mask": "boolean"},
    "biases of projections": {"source": "self", "projection_bias": True, "mask": "boolean"},
    "norms, a gate and a sink": {
        "source": "self",
        "heads": "h",
        "mask": "boolean",
        "normaliser": "softmax-sink",
        "norm": {"layer": {"gain": True, "shift": True, "joined": True}},
        "output_gate": "silu",
        "projection_bias": True,
    },
    "norms of latent vectors and buckets": {
        "heads": "h",
        "latent": True,
        "query_latent": True,
        "bias": "relative",
        "norm": {"latent": {"rms": {"gain": "one-plus"}}, "Q_latent": "rms", "output": "rms"},
    },
    "cross and additive": {"source": "cross", "score": "additive", "scale": False},
    "sparsemax of buckets": {"normaliser": "sparsemax", "bias": "relative"},
    "sigmoid of features": {"normaliser": "sigmoid", "feature_map": "relu"},
}
_SPECS = {row.name: row.spec for row in VARIANTS} | {
    name: Attention(**choices) for name, choices in _TOGETHER.items()
}


@pytest.mark.parametrize(("name", "back"), share(product(_SPECS, (False, True)), 9))
def test_no_letter_has_two_meanings(name: str, back: bool) -> None:
    derivation = _SPECS[name].derivation()
    derivation = derivation.gradient() if back else derivation
    for notation in (Notation(), Notation(convention="columns")):
        assert clashes(derivation, notation) == []


@pytest.mark.parametrize(
    ("preset", "name", "back"),
    share(product([row.name for row in PRESETS], _SPECS, (False, True)), 12),
)
def test_no_letter_of_a_paper_has_two_meanings(preset: str, name: str, back: bool) -> None:
    derivation = _SPECS[name].derivation()
    derivation = derivation.gradient() if back else derivation
    assert clashes(derivation, Notation.preset(preset)) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([("a", "entry", r"s_{ij}^{(i)} = q_{il}")], "i: head, row"),
        ([("a", "entry", "s_{ij} = 1"), ("b", "entry", "z_{ab} = 1")], "row: a and i"),
        ([("a", "entry", "h_{ij} = 1"), ("b", "entry", "s_{ij}^{(h)} = 1")], "h: entry, head"),
        ([("a", "formula", "T = Q K^{T}")], "T: name, sign T"),
        ([("a", "formula", "A = B"), ("b", "formula", "A = C")], "A: a and b"),
        ([("a", "entry", r"d_{ij} = \frac{s_{ij}}{\sqrt{d_{k}}}")], "d: entry, label"),
        ([("a", "entry", r"s_{ij} = e_{ij} e^{z_{ij}}")], "e: entry, sign e"),
        ([("a", "entry", r"m_{ij} = \sum_{l = 1}^{m}k_{il}")], "m: entry, name"),
        (
            [("a", "entry", "x_{ij} = 1"), ("b", "where", r"\text{where }\sigma(x) = x + 1")],
            "x: argument, entry",
        ),
    ],
)
def test_a_letter_with_two_meanings_is_found(
    lines: list[tuple[str, str, str]], expected: str
) -> None:
    assert expected in clashes_of(lines)


def test_a_vector_of_each_head_and_its_entries_have_one_letter() -> None:
    lines = [
        ("row_max", "formula", r"m^{(h)} = \mathrm{rowmax}(Z^{(h)})"),
        ("row_max", "entry", r"m_{ij}^{(h)} = \max_{l}(z_{il}^{(h)})"),
    ]
    assert clashes_of(lines) == []
    assert clashes_of(lines, [r"n \times m"]) == ["m: entry, name"]  # a size is another thing


# ---- other letters ---------------------------------------------------------------------------

#: A symbol by name, where it shows in self-attention of several heads, and what is gone.
RENAMED: list[tuple[dict[str, str], list[str], list[str]]] = [
    ({"weights": "P"}, ["P⁽ʰ⁾ = softmax(Z⁽ʰ⁾)", "P_ij⁽ʰ⁾ ="], ["A⁽ʰ⁾", "a_ij"]),
    ({"weights": "P", "weights[i,j]": "pi"}, ["P⁽ʰ⁾ = softmax", "π_ij⁽ʰ⁾ ="], ["P_ij", "a_ij"]),
    ({"Q": r"\mathbf{Q}"}, ["Q⁽ʰ⁾ = X W_Q⁽ʰ⁾", "q_ij⁽ʰ⁾ ="], []),
    ({"W_Q": r"\mathbf{W}^Q"}, ["Q⁽ʰ⁾ = X W^Q⁽ʰ⁾", "w^Q⁽ʰ⁾_lj"], ["= X W_Q"]),
    ({"d_k": "d_h"}, ["S⁽ʰ⁾/√d_h", "n × d_h", "dividing by √d_h"], ["d_k"]),
    ({"n": "T", "d_k": "d_h"}, ["T × d_h", "K⁽ʰ⁾⊤"], ["n × d_k", "ᵀ"]),
    ({"row": "q", "Q": "U"}, ["U_qj⁽ʰ⁾ =", "s_qj⁽ʰ⁾ ="], ["_ij"]),
    ({"column": "t"}, ["q_it⁽ʰ⁾ ="], ["q_ij"]),
    ({"sum": "r"}, ["Σ_r x_ir"], ["Σ_l"]),
    ({"head": "p"}, ["Q^(p) = X W_Q^(p)"], ["⁽ʰ⁾"]),
    ({"h": "H_h"}, ["H_h d_v"], ["n_h"]),
    ({"X": "h"}, ["Q^(υ) = h W_Q^(υ)", "h_il"], ["x_il"]),
]


@pytest.mark.parametrize(("symbols", "shown", "gone"), RENAMED)
def test_every_letter_can_be_another(
    symbols: dict[str, str], shown: list[str], gone: list[str]
) -> None:
    derivation = variant("multi-head").spec.derivation()
    job = Job(derivation, None, Notation(symbols=symbols))
    document = str(document_of("text", [job]))
    for words in shown:
        assert words in document
    for words in gone:
        assert words not in document
    assert clashes(derivation, Notation(symbols=symbols)) == []


def test_programs_keep_their_names() -> None:
    derivation = variant("causal").spec.derivation()
    one, other = (
        str(document_of("numpy", [Job(derivation, None, notation)]))
        for notation in (Notation(), Notation.preset("flash-attention"))
    )
    assert one == other


def test_a_worksheet_names_letters() -> None:
    text = "[given]\nQ = [[1, 0]]\nK = [[1, 1]]\nV = [[2]]\n"
    sheet = worksheet_of(f'notation = "flash-attention"\n{text}')
    assert line(sheet.derivation()["weights"].formula(sheet.notation)) == "P = softmax(Z)"
    table = '[notation]\npreset = "flash-attention"\nsymbols = {weights = "alpha", n = "L"}\n'
    sheet = worksheet_of(f"{table}{text}")
    assert line(sheet.derivation()["weights"].entry(sheet.notation)).startswith("p_ij = e^(z_ij)")
    assert line(sheet.derivation()["weights"].formula(sheet.notation)) == "α = softmax(Z)"


@pytest.mark.parametrize(
    ("symbols", "words"),
    [
        ({"weights": "S"}, "scores and weights would share S"),
        ({"weights[i,j]": "q"}, "Q and weights would share q"),
        ({"n": "S"}, "scores and n would share S"),
        ({"row": "q"}, "row and Q would share q"),
        ({"row": "k", "column": "k"}, "row and column would share k"),
        ({"weights": "e"}, "the base of the exponential"),
        ({"d_k": "sigma"}, "the sigmoid"),
        ({"n": "m", "d_k": "m"}, "would share m"),
        ({"e": "f"}, "e is the base of the exponential in every notation and has no other letter"),
        ({"I": "J"}, "I is the identity matrix in every notation"),
        ({"sigma": "s"}, "sigma is the sigmoid in every notation"),
        ({"τ": "s"}, "τ is the threshold of sparsemax and entmax in every notation"),
        ({"phi": "f"}, "phi is the feature map in every notation"),
        ({"xi": "x"}, "xi is the argument of functions in every notation"),
        ({"wieghts": "P"}, 'nothing is called "wieghts"; did you mean "weights"'),
    ],
)
def test_a_letter_that_is_taken_is_refused(symbols: Mapping[str, str], words: str) -> None:
    with pytest.raises(SymattnError) as refused:
        outline(Shown(variant("self").spec.derivation(), notation=Notation(symbols=symbols)))
    assert words in str(refused.value) and "\n" not in str(refused.value)


# ---- the letters of papers -------------------------------------------------------------------

#: A paper's formulas, as this package writes them with its letters.
PAPERS: list[tuple[str, str, dict[str, str]]] = [
    (
        "vaswani",
        "multi-head",
        {
            "Q": r"Q_{i} = X W_{i}^{Q}",
            "K": r"K_{i} = X W_{i}^{K}",
            "V": r"V_{i} = X W_{i}^{V}",
            "heads": r"\mathrm{head}_{i} = A_{i} V_{i}",
            "concat": r"H = \left[ \begin{array}{rrr} \mathrm{head}_{1} & \cdots & "
            r"\mathrm{head}_{h} \end{array} \right]",
            "projected": "Y = H W^{O}",
            "scaled": r"Z_{i} = \frac{S_{i}}{\sqrt{d_{k}}}",
        },
    ),
    (
        "flash-attention",
        "dot-product",
        {"scores": "S = Q K^{T}", "weights": r"P = \mathrm{softmax}(S)", "output": "O = P V"},
    ),
    (
        "flash-attention",
        "unfolded",
        {
            "row_max": r"m = \mathrm{rowmax}(Z)",
            "exp_sum": r"\ell = \mathrm{rowsum}(F)",
            "weights": r"P = \frac{F}{\ell}",
        },
    ),
    (
        "roformer",
        "rotary",
        {"Q": "Q = X W_{q}", "K": "K = X W_{k}", "V": "V = X W_{v}", "output": "O = A V"},
    ),
    (
        "deepseek",
        "deepseek",
        {
            "latent": r"C^{\mathrm{KV}} = W^{\mathrm{DKV}} H",
            "Q_latent": r"C^{Q} = W^{\mathrm{DQ}} H",
            "K": r"K_{i}^{C} = W_{i}^{\mathrm{UK}} C^{\mathrm{KV}}",
            "V": r"V_{i}^{C} = W_{i}^{\mathrm{UV}} C^{\mathrm{KV}}",
            "Q": r"Q_{i}^{C} = W_{i}^{\mathrm{UQ}} C^{Q}",
            "projected": r"U = W^{O} O_{\mathrm{cat}}",
            "scores": "S_{i} = K_{i}^{T} Q_{i}",
        },
    ),
    (
        "bishop",
        "multi-head",
        {
            "Q": r"{\mathbf{Q}}_{h} = {\mathbf{X}} {\mathbf{W}}_{h}^{(q)}",
            "heads": r"{\mathbf{H}}_{h} = {\mathbf{A}}_{h} {\mathbf{V}}_{h}",
            "K": r"{\mathbf{K}}_{h} = {\mathbf{X}} {\mathbf{W}}_{h}^{(k)}",
            "projected": r"{\mathbf{Y}(\mathbf{X})} = "
            r"{\mathbf{H}}_{\mathrm{cat}} {\mathbf{W}}^{(o)}",
            "scaled": r"Z_{h} = \frac{S_{h}}{\sqrt{D_{k}}}",
        },
    ),
]


@pytest.mark.parametrize(("preset", "name", "formulas"), PAPERS)
def test_the_formulas_are_those_of_the_paper(
    preset: str, name: str, formulas: dict[str, str]
) -> None:
    derivation, notation = variant(name).spec.derivation(), Notation.preset(preset)
    assert {step: latex(derivation[step].formula(notation)) for step in formulas} == formulas


def test_roformer_s_angles_are_those_of_the_paper() -> None:
    step, notation = variant("rotary").spec.derivation()["Q_rotated"], Notation.preset("roformer")
    found = [line(each.statement) for each in step.definitions(notation)]
    assert found == ["i = ⌈n/2⌉", "ψ_mi = (m − 1) θ_i", "θ_i = 10000^(−2 (i − 1)/d)"]
