"""Wrong arguments from Python: a result, or one line that says what was given and what is wanted.

Every call in `CALLS` is made with each of its arguments replaced by each wrong value.
"""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import sympy
from flint import arb

import symattn
from symattn import Attention, Notation, latex, mathml, text
from symattn.arithmetic.reading import read_array, read_number
from symattn.attention.example import small_example, small_inputs
from symattn.attention.jacobian import growth, growth_notes, read_row
from symattn.derivations import value_view, worked
from symattn.errors import MissingExtra, SymattnError
from symattn.files.matrices import named_matrix
from symattn.nodes.spell import Speller, ordered_terms
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import read_worksheet, worksheet_of
from tests import ROOT
from tests.command import put
from tests.extras import package

SHEET = """
[given]
Q = [[1, 0]]
K = [[1, 0], [0, 1]]
[claims]
weights = [["0.67", "0.43"]]
"""


class Awkward:
    """Something that no library expects; it cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("not to be shown")

    __repr__ = __str__


def wrong_values() -> dict[str, Any]:
    """The wrong values, made anew, since some can be read once only."""
    return {
        "None": None,
        "True": True,
        "5": 5,
        "-1": -1,
        "10**30": 10**30,
        "10**5000": 10**5000,
        "1.5": 1.5,
        "nan": float("nan"),
        "inf": float("inf"),
        "1j": 1j,
        "empty": "",
        "x": "x",
        "Q[1": "Q[1",
        "bytes": b"x",
        "tuple": (),
        "list": [],
        "nested": [[]],
        "ragged": [[1, 2], [3]],
        "dict": {},
        "dict of None": {None: None},
        "object": object(),
        "awkward": Awkward(),
        "class": int,
        "lambda": lambda *_: None,
        "array": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "empty array": np.zeros((0, 3)),
        "complex array": np.array([[1j]]),
        "dates": np.array([["2020-01-01"]], dtype="datetime64[D]"),
        "objects": np.array([[None, Awkward()]], dtype=object),
        "structured": np.zeros((1, 1), dtype=[("a", float)]),
        "masked": np.ma.masked_equal(np.array([[1.0, 2.0]]), 2.0),
        "0-d": np.array(3.0),
        "np.int": np.int64(3),
        "np.nan": np.float32("nan"),
        "symbol": sympy.Symbol("x"),
        "matrix symbol": sympy.MatrixSymbol("A", 2, 2),
        "matrix": sympy.Matrix([[1, 2]]),
        "sympy nan": sympy.nan,
        "sympy relation": sympy.Symbol("x") > 0,
        "set": {1, "a"},
        "generator": (one for one in (1, 2)),
        "huge": "9" * 100_000,
        "NUL": "a\0b\nc",
        "surrogate": "\ud800",
        "path": Path("/nowhere/x"),
        "range": range(3),
    }


@dataclass(frozen=True)
class Call:
    """A call with right arguments, and what is then done with the result, so that it is used."""

    function: Callable[..., Any]
    right: Mapping[str, Any]
    use: Callable[[Any], Any] = lambda result: None
    positional: bool = field(default=False, kw_only=True)

    def made(self, changes: Mapping[str, Any]) -> None:
        arguments = {**self.right, **changes}
        if self.positional:
            self.use(self.function(*arguments.values()))
        else:
            self.use(self.function(**arguments))


def seen(result: Any) -> None:
    str(result)
    repr(result)


EYE = [[1, 0], [0, 1]]
SPEC = Attention(source="self", heads=2, mask="causal", positions="rotary")
PLAIN = Attention(scale=False)
DERIVATION = PLAIN.derivation()
GIVEN: dict[str, Any] = {"Q": EYE, "K": EYE, "V": EYE}
VALUES = DERIVATION.evaluate(**GIVEN)
BATCH = DERIVATION.evaluate(Q=[EYE, EYE], K=EYE, V=EYE)
STEP = DERIVATION["weights"]
VALUE = VALUES["weights"]
MARKS: Any = symattn.check(SHEET)
TREE = STEP.formula()
WORKSHEET = worksheet_of(SHEET)
BATCHES = worksheet_of("[attention]\nbatch = 1\n[given]\nQ = [[[1]]]\nK = [[1]]\nV = [[1]]")
FILE = ROOT / "examples" / "causal.toml"
DECODED = worksheet_of(
    '[attention]\nmask = "causal"\n[given]\nQ = [[1], [2]]\nK = [[1], [0]]\nV = [[1], [3]]'
)
N = sympy.Symbol("n", integer=True, positive=True)


def derived(spec: Attention) -> None:
    """A spec is only of use if it can be derived; it may say why not."""
    seen(spec.derivation())


def spelled(tree: Any) -> None:
    text(tree), latex(tree), mathml(tree)


def noted(notation: Notation) -> None:
    spelled(STEP.formula(notation))
    spelled(VALUE.worked(1, 1, notation=notation.but(index_base=1)))


def calls() -> dict[str, Call]:
    none: dict[str, Any] = {}
    axes = {f: getattr(PLAIN, f) for f in PLAIN.__dataclass_fields__}
    found: dict[str, Call] = {
        "variant": Call(symattn.variant, {"name": "causal"}),
        "Variant": Call(
            symattn.Variant, {"name": "a", "choices": {"mask": "causal"}, "about": "", "source": ""}
        ),
        "Attention": Call(Attention, axes, derived),
        "Attention.derivation": Call(
            PLAIN.derivation,
            {"given": ["Q", "K", "V"], "sizes": {"n": 2}, "labels": {"n": ["a", "b"]}, "title": ""},
            seen,
        ),
        "Attention.settled": Call(PLAIN.settled, {"given": ["Q"], "source": "given"}),
        "Derivation": Call(
            symattn.Derivation,
            {
                "inputs": DERIVATION.inputs,
                "steps": DERIVATION.steps,
                "sizes": {},
                "labels": {},
                "title": "",
                "order": ("n", "m"),
            },
            seen,
        ),
        "Derivation[]": Call(DERIVATION.__getitem__, {"name": "weights"}, positional=True),
        "in Derivation": Call(DERIVATION.__contains__, {"item": "weights"}, positional=True),
        "Derivation.evaluate": Call(
            DERIVATION.evaluate,
            {"dtype": "float64", **GIVEN},
            lambda v: (v["output"].array, v["output"].decimals(2), v.check()),
        ),
        "Derivation.subs": Call(DERIVATION.subs, {"sizes": {"n": 2}}, seen),
        "Derivation.subs size": Call(lambda n: DERIVATION.subs({"n": n}), {"n": 2}, seen),
        "Derivation.latex": Call(DERIVATION.latex, {"notation": None}),
        "Derivation.gradient": Call(
            DERIVATION.gradient,
            {"wrt": "Q", "of": "output", "upstream": None, "forward": True},
            seen,
        ),
        "Derivation.tangent": Call(DERIVATION.tangent, {"along": "Q"}, seen),
        "Derivation.hessian_vector": Call(
            DERIVATION.hessian_vector, {"wrt": "Q", "of": "output", "upstream": None}, seen
        ),
        "Derivation.restricted": Call(DERIVATION.restricted, {"names": {"scores", "V"}}, seen),
        "Step": Call(
            symattn.Step,
            {
                "name": "weights",
                "symbol": STEP.symbol,
                "expr": STEP.expr,
                "rule": "",
                "because": "",
                "source": "",
                "count": None,
                "logits": False,
                "boolean": False,
                "fixed": False,
                "batch": False,
            },
            lambda s: (str(s), s.reason),
        ),
        "Step.formula": Call(STEP.formula, {"notation": None}, spelled),
        "Step.entry": Call(STEP.entry, {"notation": None}, spelled),
        "Step.definitions": Call(STEP.definitions, {"notation": None}),
        "Step.in_convention": Call(STEP.in_convention, {"notation": Notation()}),
        "Step.subs": Call(STEP.subs, {"sizes": {N: 2}}, seen),
        "Evaluation": Call(
            symattn.Evaluation,
            {
                "inputs": DERIVATION.inputs,
                "steps": DERIVATION.steps,
                "given": GIVEN,
                "sizes": {},
                "labels": {},
                "dtype": "float32",
                "order": ("n", "m"),
            },
        ),
        "Evaluation[]": Call(VALUES.__getitem__, {"name": "weights"}, positional=True),
        "in Evaluation": Call(VALUES.__contains__, {"name": "weights"}, positional=True),
        "Evaluation.spelled": Call(
            VALUES.spelled, {"notation": Notation()}, lambda v: v._repr_mimebundle_()
        ),
        "Evaluation.called_as": Call(VALUES.called_as, {"other": VALUES}),
        "Evaluation.of_batch": Call(BATCH.of_batch, {"index": 0}, positional=True),
        "Evaluation.again": Call(VALUES.again, GIVEN),
        "Evaluation.item": Call(VALUES.item, {"letter": "A"}),
        "Evaluation.step": Call(VALUES.step, {"letter": "A"}),
        "Evaluation.exact": Call(VALUES.exact, {"letter": "A"}),
        "Evaluation.abbreviated": Call(VALUES.abbreviated, {"letter": "A"}),
        "Evaluation.longest_exact": Call(VALUES.longest_exact, {"letter": "A"}),
        "Evaluation.balls": Call(VALUES.balls, {"letter": "A", "bits": 96}),
        "Evaluation.rounded": Call(VALUES.rounded, {"letter": "A", "digits": None}),
        "Evaluation.array": Call(VALUES.array, {"letter": "A"}),
        "Evaluation.shape": Call(VALUES.shape, {"letter": "A"}),
        "Evaluation.digits": Call(
            VALUES.digits, {"letter": "A", "place": (0, 0), "notation": Notation()}
        ),
        "Evaluation.within": Call(VALUES.within, {"letter": "A", "place": (0, 0)}),
        "Evaluation.place_of": Call(VALUES.place_of, {"letter": "A", "place": (0, 0)}),
        "StepValue": Call(symattn.StepValue, {"evaluation": VALUES, "step": STEP}, seen),
        "StepValue.digits": Call(VALUE.digits, {"place": (0, 0), "notation": None}),
        "StepValue.decimals": Call(VALUE.decimals, {"digits": 4}),
        "StepValue.enclosures": Call(VALUE.enclosures, {"digits": 20}),
        "StepValue.worked": Call(
            VALUE.worked,
            {"row": 1, "column": 1, "head": None, "notation": None, "batch": None},
            spelled,
        ),
        "StepValue.trees": Call(
            VALUE.trees, {"head": None, "notation": None}, lambda s: [*map(spelled, s)]
        ),
        "value_view": Call(
            value_view,
            {"evaluation": VALUES, "item": STEP, "head": None, "notation": None, "entry": None},
        ),
        "worked": Call(
            worked,
            {
                "evaluation": VALUES,
                "step": STEP,
                "row": 0,
                "column": 0,
                "head": None,
                "notation": None,
            },
        ),
        "Notation": Call(
            Notation, {f.name: getattr(Notation(), f.name) for f in fields(Notation)}, noted
        ),
        "Notation.symbols": Call(lambda a: Notation(symbols={"weights": a}), {"a": "P"}, noted),
        "Notation.but": Call(Notation().but, {"digits": 3, "symbols": {}}, noted),
        "Notation.letter": Call(Notation().letter, {"name": "A"}, spelled),
        "Notation.transposed": Call(Notation().transposed, {"base": TREE}, spelled),
        "Notation.in_head": Call(Notation().in_head, {"symbol": TREE, "head": TREE}, spelled),
        "latex": Call(latex, {"tree": TREE}),
        "mathml": Call(mathml, {"tree": TREE}),
        "text": Call(text, {"tree": TREE, "charset": "unicode"}),
        "document": Call(
            symattn.document,
            {
                "what": VALUES,
                "form": "text",
                "title": "",
                "views": ["value"],
                "steps": ["weights"],
                "notation": None,
                "flavor": None,
                "notes": ["a"],
            },
        ),
        "plot": Call(
            symattn.plot,
            {"values": VALUES, "step": "weights", "ax": None, "picture": "heat", "notation": None},
        ),
        "document svg": Call(
            lambda flavor, steps: symattn.document(VALUES, "svg", flavor=flavor, steps=steps),
            {"flavor": "heat", "steps": ["weights"]},
        ),
        "document tex": Call(
            lambda flavor: symattn.document(DERIVATION, "tex", flavor=flavor), {"flavor": "article"}
        ),
        "decode": Call(
            lambda **how: symattn.decode(**how, **GIVEN),
            {
                "spec": Attention(mask="causal"),
                "chunks": 2,
                "sizes": None,
                "labels": None,
                "title": "",
                "dtype": "float64",
            },
        ),
        "equal": Call(
            symattn.equal,
            {
                "left": "Q K^T",
                "right": "Q K^T",
                "sizes": {"n": 2},
                "shapes": none,
                "where": (),
                "positive": ("Q",),
                "permuting": (),
                "effort": 1,
            },
            seen,
        ),
        "equal expressions": Call(symattn.equal, {"left": STEP.expr, "right": STEP.expr}, seen),
        "Identity": Call(
            symattn.Identity,
            {
                "name": "",
                "says": "",
                "statement": "Q = Q",
                "source": "",
                "use": "",
                "proof": (),
                "misconception": "",
                "where": (),
                "positive": (),
                "permuting": (),
                "shapes": (),
                "sizes": (),
                "holds": True,
                "for_all": True,
                "sides": None,
            },
            symattn.prove,
        ),
        "prove": Call(symattn.prove, {"statement": "shift", "effort": 1}),
        "check": Call(symattn.check, {"text_or_path": SHEET, "explain": False}, seen),
        "check_worksheet": Call(check_worksheet, {"sheet": WORKSHEET, "explain": False}),
        "worksheet_of": Call(worksheet_of, {"text": SHEET, "name": "worksheet", "first_line": 1}),
        "read_worksheet": Call(read_worksheet, {"path": FILE}),
        "Worksheet.backward": Call(
            lambda wrt: WORKSHEET.backward(wrt).derivation(), {"wrt": ("Q",)}, seen
        ),
        "Worksheet.of_batch": Call(BATCHES.of_batch, {"number": 1}),
        "Worksheet.evaluate": Call(WORKSHEET.evaluate, {"derivation": None, "dtype": "float64"}),
        "Worksheet.decode": Call(DECODED.decode, {"chunks": 1, "dtype": "float64"}),
        "Marks.passes": Call(MARKS.passes, {"entry": MARKS.entries[0]}),
        "Marks.own_work": Call(MARKS.own_work, {"entry": MARKS.entries[0], "notation": None}),
        "small_inputs": Call(
            small_inputs, {"spec": SPEC, "tokens": 2, "d_k": 2, "heads": 2, "gradient": None}
        ),
        "small_example": Call(
            small_example,
            {
                "spec": PLAIN,
                "tokens": 2,
                "d_k": 1,
                "heads": None,
                "title": "",
                "gradient": ["Q"],
                "counted": True,
            },
        ),
        "read_row": Call(read_row, {"logits": [1, 2]}),
        "growth": Call(growth, {"logits": [0, 1], "factors": (1, 8), "digits": 4}),
        "growth_notes": Call(growth_notes, {"logits": [0, 1]}),
        "read_number": Call(lambda value: read_number(value, "x"), {"value": 1}),
        "read_array": Call(lambda value: read_array(value, "Q"), {"value": EYE}),
    }
    return found


CALLS = calls()


def outcome(call: Call, changes: Mapping[str, Any]) -> str:
    """What is wrong with what a call does with these arguments; empty if nothing is."""
    try:
        call.made(changes)
    except SymattnError as error:
        line = str(error)
        if len(line.splitlines()) != 1:
            return f"not one line: {line[:200]!r}"
        if len(line) > 800:
            return f"{len(line)} characters: {line[:200]}"
        line.encode()
    except Exception as error:  # what is looked for
        return type(error).__name__
    return ""


def failures(call: Call) -> Iterator[str]:
    for name in call.right:
        for label, value in wrong_values().items():
            found = outcome(call, {name: value})
            if found:
                yield f"{name} = {label}: {found}"


@pytest.mark.parametrize("name", CALLS)
def test_the_right_arguments_are_taken(name: str) -> None:
    CALLS[name].made({})


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_in_a_line(name: str) -> None:
    assert list(failures(CALLS[name])) == []


# ---- lookups follow Python's protocols -------------------------------------------------------


def test_what_is_looked_up_in_vain_is_a_lookup_error_too() -> None:
    with pytest.raises(KeyError, match="no step is called 99"):
        DERIVATION[99]  # type: ignore[index]
    with pytest.raises(KeyError):
        symattn.variant("no such")
    with pytest.raises(KeyError):
        VALUES["no such"]
    with pytest.raises(IndexError, match="there is no row, column, head or item 3"):
        VALUE.worked(3, 1)
    assert "weights" in DERIVATION and STEP in DERIVATION and 99 not in DERIVATION
    assert "weights" in VALUES and 99 not in VALUES


def test_the_marks_of_a_page_are_a_sequence(tmp_path: Path) -> None:
    page = put(tmp_path / "page.md", f"```symattn\n{SHEET}```\n")
    marks: Any = symattn.check(page, explain=False)
    assert len(list(marks)) == 1 and "x" not in marks
    with pytest.raises(IndexError, match="the page has 1 worksheet"):
        marks[1]
    with pytest.raises(SymattnError, match="whole number"):
        marks["x"]
    for again in (pickle.loads(pickle.dumps(marks)), copy.deepcopy(marks)):
        assert str(again) == str(marks) and again.passed is marks.passed


def test_a_call_that_does_anything_else_is_found() -> None:
    def careless(x: Any) -> Any:
        return x.shape

    def chatty(x: Any) -> None:
        raise SymattnError("x" * 5000 + "\n")

    assert any("AttributeError" in found for found in failures(Call(careless, {"x": STEP})))
    assert list(failures(Call(chatty, {"x": 1}))) == []  # the class itself keeps to one line


# ---- arrays of other kinds -------------------------------------------------------------------

MASKED = np.ma.masked_equal(np.array([[1.0, 2.0], [3.0, 4.0]]), 2.0)
LARGE = np.ones((300, 300))
UNREADABLE = {
    "masked": (MASKED, "1 of its entries is masked; give array.filled"),
    "large masked": (np.ma.masked_array(LARGE, LARGE > 0), "are masked"),
    "masked rows": ([MASKED[0], MASKED[1]], "is masked"),
    "complex": (np.array([[1 + 0j]]), "complex numbers"),
    "large complex": (LARGE + 0j, "complex numbers"),
    "large objects": (LARGE.astype(object), "too many to read as texts and objects"),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), "datetime64"),
    "words": (np.array([["a"]]), "cannot be read"),
    "None": (np.array([[None]], dtype=object), "None is not a number"),
    "ragged": ([[[1, 2]], [[1]]], r"Q\[1,1\] has 2 entries, Q\[2,1\] has 1 entry"),
    "mixed": ([[1, [2]]], r"Q\[1,2\]: numbers and rows are mixed"),
    "huge fraction": ([[Fraction(10**900)]], "too large"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_would_be_lost_or_changed_is_refused(kind: str) -> None:
    value, why = UNREADABLE[kind]
    with pytest.raises(SymattnError, match=why):
        DERIVATION.evaluate(Q=value, K=EYE, V=EYE)


def test_a_tensor_that_needs_its_gradient_is_refused_with_how_to_mend_it() -> None:
    torch = package("torch")
    with pytest.raises(SymattnError, match=r"detach\(\)"):
        DERIVATION.evaluate(Q=torch.ones(2, 2, requires_grad=True), K=EYE, V=EYE)
    values = DERIVATION.evaluate(Q=torch.ones(2, 2), K=EYE, V=EYE)
    assert values["Q"].exact == sympy.ones(2, 2)


def test_arrays_in_lists_and_masked_arrays_without_a_mask_are_read() -> None:
    rows = [np.array([1, 2]), np.array([3, 4])]
    for given in (
        rows,
        np.ma.masked_array([[1, 2], [3, 4]]),
        np.array([["1", "2"], ["3", "4"]]),
        sympy.Array([[1, 2], [3, 4]]),
    ):
        assert DERIVATION.evaluate(Q=given, K=EYE, V=EYE)["Q"].exact == sympy.Matrix(
            [[1, 2], [3, 4]]
        )


# ---- pickles ---------------------------------------------------------------------------------


def kept() -> dict[str, Any]:
    """What people may keep, used before it is pickled so that all its caches are full."""
    VALUES["weights"].decimals(3), VALUES["weights"].exact, VALUES.check()
    answer = symattn.equal("Q K^T = K Q^T", shapes={"Q": (2, 1), "K": (2, 1)})
    return {
        "derivation": DERIVATION,
        "gradient": DERIVATION.gradient(),
        "step": STEP,
        "values": VALUES,
        "step value": VALUE,
        "notation": Notation(symbols={"A": "P"}),
        "marks": MARKS,
        "explanations": MARKS.explanations,
        "worksheet": WORKSHEET,
        "answer": answer,
        "proof": symattn.prove("shift"),
        "identities": symattn.IDENTITIES,
        "variants": symattn.VARIANTS,
    }


def test_everything_people_keep_pickles_and_copies() -> None:
    for name, one in kept().items():
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
            assert repr(again) == repr(one) and str(again) == str(one), name
    for again in (pickle.loads(pickle.dumps(VALUES)), copy.deepcopy(VALUES)):
        assert again["output"].decimals(20) == VALUES["output"].decimals(20)
        assert again["output"].exact == VALUES["output"].exact
        assert again["weights"]._repr_mimebundle_() == VALUE._repr_mimebundle_()


def test_balls_pickle_without_losing_what_they_hold() -> None:
    balls = [
        arb(1) / 3,
        arb(0),
        arb.neg_inf(),
        arb.pos_inf(),
        arb(1, 0.5),
        (-(arb(10) ** 400)).exp(),
    ]
    for one in balls:
        again = pickle.loads(pickle.dumps(one))
        assert again.contains(one) and again.mid() == one.mid()
        assert again.rad() <= one.rad() * 1.001
    assert pickle.loads(pickle.dumps(arb.nan())).is_nan()


# ---- packages that are missing ---------------------------------------------------------------

EXTENSIONS = {
    "symattn.sphinxext": (("sphinx", "docutils"), "needs Sphinx; pip install 'symattn[sphinx]'"),
    "symattn.mkdocsext": (("mkdocs",), "needs MkDocs; pip install 'symattn[mkdocs]'"),
    "symattn.ipython": (("IPython",), "needs IPython; pip install 'symattn[notebook]'"),
    "symattn.pytest_plugin": (("pytest",), "needs pytest; pip install 'pytest'"),
}


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """As if these packages were not installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in packages:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("module", EXTENSIONS)
def test_an_extension_names_the_package_it_lacks(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, told = EXTENSIONS[module]
    without(monkeypatch, *packages)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ImportError) as caught:
        importlib.import_module(module)
    assert str(caught.value) == f"{module}: {told}"
    assert isinstance(caught.value, MissingExtra)


def test_a_picture_a_notebook_and_a_capture_name_what_they_lack(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without(monkeypatch, "matplotlib", "torch", "nbformat", "safetensors")
    with pytest.raises(
        SymattnError, match=r"plot: needs matplotlib; pip install 'symattn\[plot\]'"
    ):
        symattn.plot(VALUES)
    with pytest.raises(SymattnError, match=r"png: needs matplotlib"):
        symattn.document(VALUES, "png")
    with pytest.raises(SymattnError, match="needs PyTorch"), symattn.capture(None):  # type: ignore[arg-type]
        pass
    (tmp_path / "w.safetensors").write_bytes(b"")
    with pytest.raises(SymattnError, match=r"pip install 'symattn\[safetensors\]'"):
        named_matrix("w.safetensors:Q", tmp_path).read()


# ---- numbers beyond floats -------------------------------------------------------------------

BEYOND = (
    "e^900",
    "1e-400",
    "sqrt(2)e^350",
    "0." + "0123456789" * 11,
    "9" * 110,
)


@pytest.mark.parametrize("number", BEYOND)
def test_numbers_beyond_floats_are_shown_in_every_format(number: str) -> None:
    spec = Attention(scale=False)
    for derivation in (spec.derivation(), spec.derivation().gradient(["Q", "V"])):
        given = {item.name: [[number]] for item in derivation.inputs}
        values = derivation.evaluate(**given)
        for form in ("text", "latex", "mathml", "md", "json"):
            for exact in (True, False):
                assert symattn.document(values, form, notation=Notation(exact=exact))


def test_terms_that_are_no_floats_are_written_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def through_floats(total: sympy.Add, order: str) -> NoReturn:
        raise OverflowError("int too large to convert to float")

    monkeypatch.setattr(sympy.Add, "as_ordered_terms", through_floats)
    x = sympy.Symbol("x")
    total = sympy.exp(900) + sympy.exp(800) * x + 1
    assert set(ordered_terms(total)) == set(total.args)
    assert text(Speller().scalar(total)) == "e⁸⁰⁰ x + 1 + e⁹⁰⁰"


@pytest.mark.parametrize(
    ("dtype", "number"), [("float64", "1e400"), ("float32", "1e40"), ("float16", "70000")]
)
def test_an_overflow_is_said_and_nothing_is_called_wrong(dtype: str, number: str) -> None:
    values = DERIVATION.evaluate(Q=[[number, 0]], K=EYE, V=EYE, dtype=dtype)
    check = values.check()
    assert not check.agrees and check.overflowed
    assert check.overflow().startswith(f"overflows {dtype}: from scores[1,1] on")
    assert "NOT agree" not in symattn.document(values, "text")


def test_a_number_that_is_wrong_is_no_overflow() -> None:
    values = DERIVATION.evaluate(**GIVEN)
    values.array("S")[0, 0] += 1
    assert not values.check().agrees and not values.check().overflowed
    assert values.check().overflow() == ""


# ---- statements about what has no value ------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("0^(0-1) Q = Q", '"0^(0-1) Q": 0 has no '),
        ("0^(-1) = 1", '"0^(-1)": 0 has no inverse'),
        ("0^(-1/2) = 0", "0 has no negative powers: 0^(-1/2) divides by 0"),
        ("(c-c)^(-2) Q = Q", "0 has no negative powers"),
        ("1/0 = 1", '"1/0": '),
        ("0/0 = 1", "divided by 0"),
        ("Q/(1-1) = Q", "divides by 0"),
        ("ln(0) = 1", "0 has no real logarithm; only positive numbers have one"),
        ("ln(0-1) = 1", "-1 has no real logarithm"),
        ("ln(c-c) = 1", "0 has no real logarithm"),
        ("sqrt(0-1) Q = Q", "a root of a negative number"),
    ],
)
def test_a_statement_about_what_has_no_value_says_so(statement: str, told: str) -> None:
    with pytest.raises(SymattnError) as caught:
        symattn.equal(statement)
    assert told in str(caught.value)
