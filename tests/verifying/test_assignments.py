"""Students' functions graded: the files for Gradescope, Otter-Grader and nbgrader, read back."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn import Attention, SymattnError, variant
from symattn.testing import Assignment

RIGHT = '''import numpy as np


def attention(q, k, v):
    """Attention."""
    scores = q @ k.T / np.sqrt(k.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v
'''
SCALED = RIGHT.replace("np.sqrt(k.shape[1])", "k.shape[1]")
OVERFLOWING = RIGHT.replace(" - scores.max(axis=1, keepdims=True)", "")
POINTS = {"ordinary": 2, "one token": 1, "large scores": 1.5}


def _before(line: str) -> str:
    """The right function, which does something else first."""
    return RIGHT.replace("    scores", f"    {line}\n    scores", 1)


def _graded(folder: Path, code: str, **chosen: Any) -> tuple[float, dict[str, dict[str, Any]]]:
    """The score, and each test by name, of the file that is written for Gradescope."""
    (folder / "mine.py").write_text(code, encoding="utf-8")
    task = Assignment("attention", **{"points": POINTS, **chosen})
    task.gradescope(folder / "mine.py", folder / "results.json", seconds=4)
    table = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert {*table} == {"score", "stdout_visibility", "tests"}
    for test in table["tests"]:
        assert {*test} == {
            *("name", "score", "max_score", "status"),
            *("output", "output_format", "visibility"),
        }
        assert (test["score"] == test["max_score"]) == (test["status"] == "passed")
        assert "Traceback" not in test["output"]
    assert table["score"] == sum(test["score"] for test in table["tests"])
    return table["score"], {test["name"]: test for test in table["tests"]}


@pytest.mark.parametrize(
    ("code", "lost"),
    [
        (RIGHT, {}),
        (SCALED, {"ordinary": "scaled-by-d_k"}),
        (OVERFLOWING, {"large scores": "overflows"}),
        (
            RIGHT.replace(
                "    scores", "    if len(q) == 1:\n        raise KeyError\n    scores", 1
            ),
            {"one token": "KeyError"},
        ),
        (
            RIGHT.replace(
                "    scores", "    import os\n    len(q) == 1 and os.abort()\n    scores", 1
            ),
            {"one token": "killed by signal 6"},
        ),
        (
            _before("while len(q) == 1: pass"),
            {"one token": "not finished in 4 s"},
        ),
        (RIGHT.replace("def attention", "def att"), dict.fromkeys(POINTS, "has no")),
        ("import nothing_such", dict.fromkeys(POINTS, "cannot be imported")),
        ("def attention(:", dict.fromkeys(POINTS, "cannot be imported: SyntaxError")),
    ],
    ids=["right", "scaled", "overflowing", "raises", "dies", "hangs", "name", "import", "syntax"],
)
def test_gradescope_is_told_of_each_property(
    tmp_path: Path, code: str, lost: Mapping[str, str]
) -> None:
    score, tests = _graded(tmp_path, code)
    assert {name for name, test in tests.items() if test["status"] == "failed"} == {*lost}
    assert score == sum(POINTS.values()) - sum(POINTS[name] for name in lost)
    for name, words in lost.items():
        assert words in tests[name]["output"]


def test_what_is_hidden_is_not_shown(tmp_path: Path) -> None:
    _, tests = _graded(tmp_path, SCALED, hidden=["large scores"])
    shown = {name: test["visibility"] for name, test in tests.items()}
    assert shown == {"ordinary": "visible", "one token": "visible", "large scores": "hidden"}


def _function(code: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    found: Callable[..., Any] = names["attention"]
    return found


def test_what_is_revealed_of_a_mistake() -> None:
    function = _function(SCALED)
    said = {
        reveal: Assignment("attention", reveal=reveal).graded(function, "ordinary").said
        for reveal in ("place", "hint", "value")
    }
    assert said["place"] == "A few tokens, moderate numbers: wrong."
    assert "scaled-by-d_k" in said["hint"]
    assert "smallest input" not in said["hint"]
    assert "The smallest input found that shows it" in said["value"]


def test_without_points_the_forward_pass_is_tried() -> None:
    plain, causal = Assignment("attention").worth, Assignment("attention", "causal").worth
    assert {"ordinary", "large scores", "more tokens"} < {*plain} & {*causal}
    assert not {"float16", "gradient", "batched", "lowest scores"} & ({*plain} | {*causal})
    assert "fully masked" in Assignment("attention", Attention(mask="boolean")).worth
    assert "fully masked" not in plain


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"function": "a b"}, "give the name of a function"),
        ({"reveal": "all"}, "reveal"),
        ({"points": {"oridnary": 1}}, "no property is called"),
        ({"points": {"ordinary": 1}, "hidden": ["square"]}, "has no points"),
        ({"spec": "casual"}, "casual"),
    ],
)
def test_what_is_no_assignment_is_refused(chosen: dict[str, Any], words: str) -> None:
    with pytest.raises(SymattnError, match=words):
        Assignment(**{"function": "attention", **chosen}).worth  # noqa: B018


def test_a_property_that_is_not_tried_has_no_points() -> None:
    task = Assignment("attention", points={"gradient": 1})
    right, wrong = (task.graded(_function(code), "gradient") for code in (RIGHT, SCALED))
    assert not right.passes
    assert "functions of NumPy have no gradients" in right.said
    assert not wrong.passes
    assert "not tried" in wrong.said


# ---- Otter-Grader and nbgrader ---------------------------------------------------------------


def _run(code: str, student: str) -> str:
    """What the code of a test says of a student's program; "" where it passes."""
    names: dict[str, Any] = {"attention": _function(student), "np": np}
    try:
        exec(code, names)
    except AssertionError as error:
        return str(error)
    return ""


OTHERS = [
    Assignment("attention", points=POINTS, hidden=["large scores"]),
    Assignment("attention", variant("scaled-dot-product").spec, points=POINTS, mapped={"Q": "q"}),
]


@pytest.mark.parametrize("task", OTHERS, ids=["variant", "attention"])
def test_a_test_file_of_otter(task: Assignment) -> None:
    tree = ast.parse(task.otter())
    cases = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert ast.unparse(tree.body.pop(0)) == "from otter.test_files import test_case"
    found = {}
    for case in cases:
        (called,) = case.decorator_list
        assert isinstance(called, ast.Call)
        told = {one.arg: ast.literal_eval(one.value) for one in called.keywords}
        found[told["name"]] = told["points"], told["hidden"]
        assert [argument.arg for argument in case.args.args] == ["attention"]
        case.decorator_list = []
    assert found == {name: (points, name in task.hidden) for name, points in POINTS.items()}
    names = {t.id: n.value for n in tree.body if isinstance(n, ast.Assign) for t in n.targets}  # type: ignore[attr-defined]
    assert ast.literal_eval(names["OK_FORMAT"]) is False
    assert ast.literal_eval(names["name"]) == "attention"
    code = ast.unparse(ast.Module(tree.body, []))
    verdicts = [_run(f"{code}\n{case.name}(attention)", SCALED) for case in cases]
    assert [bool(verdict) for verdict in verdicts] == [True, False, False]
    assert "scaled-by-d_k" in verdicts[0]


@pytest.mark.parametrize("task", OTHERS, ids=["variant", "attention"])
def test_a_notebook_of_nbgrader(task: Assignment) -> None:
    notebook = json.loads(task.nbgrader(RIGHT))
    first, *tests = notebook["cells"]
    known = [cell["metadata"]["nbgrader"] for cell in notebook["cells"]]
    assert {(one["schema_version"], one["task"]) for one in known} == {(3, False)}
    assert [(x["grade"], x["solution"], x["locked"]) for x in known] == [
        (False, True, False),
        *[(True, False, True)] * 3,
    ]
    assert [one["points"] for one in known[1:]] == [*POINTS.values()]
    assert len({one["grade_id"] for one in known}) == 4
    before, _, rest = first["source"].partition("    ### BEGIN SOLUTION\n")
    assert before.endswith('"""Attention."""\n')
    assert rest.endswith("@ v\n    ### END SOLUTION")
    assert _run(first["source"], RIGHT) == ""
    for cell, name in zip(tests, POINTS, strict=True):
        assert ("### BEGIN HIDDEN TESTS" in cell["source"]) == (name in task.hidden)
    verdicts = [_run(cell["source"], OVERFLOWING) for cell in tests]
    assert [bool(verdict) for verdict in verdicts] == [False, False, True]


@pytest.mark.parametrize(
    ("solution", "words"),
    [
        ("def attention(:", "line 1"),
        ("def other(q): ...", "no function attention"),
        ("def attention(q): return q", "on its own line"),
    ],
)
def test_a_solution_that_cannot_be_marked_is_refused(solution: str, words: str) -> None:
    with pytest.raises(SymattnError, match=words):
        Assignment("attention").nbgrader(solution)


# ---- by step -----------------------------------------------------------------------------------

STEPS = """import numpy as np


def attention(q, k, v):
    scores = q @ k.T
    scaled = scores / np.sqrt(k.shape[1])
    weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return {"scores": scores, "scaled": scaled, "weights": weights, "output": weights @ v}
"""
BY_STEP = {"scores": 1, "scaled": 2, "weights": 3, "output": 1.5, "one token": 1}


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        (("", ""), {}),
        (("np.sqrt(k.shape[1])", "k.shape[1]"), {"scaled": "scaled-by-d_k", "one token": ""}),
        (("axis=1", "axis=0"), {"weights": "", "one token": ""}),
        (("weights @ v", "weights @ k"), {"output": "", "one token": ""}),
        (('"scaled": scaled, ', ""), {"scaled": "not returned"}),
        (("q @ k.T", "q @ k"), dict.fromkeys(BY_STEP, "")),
    ],
)
def test_each_step_that_is_returned_has_points_of_its_own(
    change: tuple[str, str], lost: Mapping[str, str], tmp_path: Path
) -> None:
    """A first mistake costs its step; what follows from it is right for what was returned."""
    code = STEPS.replace(*change) if change[0] else STEPS
    score, tests = _graded(tmp_path, code, points=BY_STEP)
    failed = {name for name, test in tests.items() if test["status"] == "failed"}
    assert failed - {"one token"} == {*lost} - {"one token"}
    assert score == sum(x for name, x in BY_STEP.items() if name not in failed)
    for name, words in lost.items():
        assert words in tests[name]["output"]


def test_steps_of_a_tuple_are_those_that_the_assignment_names(tmp_path: Path) -> None:
    code = STEPS.replace('{"scores": scores, "scaled": scaled, "weights": weights, "output": ', "(")
    code = code.replace("weights @ v}", "weights @ v, weights, scores)").replace(
        "q @ k.T", "k @ q.T"
    )
    points = {"output": 1, "weights": 1, "scores": 2}
    score, tests = _graded(tmp_path, code, points=points, returns=["output", "weights", "scores"])
    assert score == 2 and tests["scores"]["status"] == "failed"
    assert tests["weights"]["output"] == "Weights: right for what was returned before it."
    with pytest.raises(SymattnError, match="wieghts"):
        Assignment("attention", points={"wieghts": 1})
