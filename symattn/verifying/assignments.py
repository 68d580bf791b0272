"""A function that students write, graded: for Gradescope, Otter-Grader and nbgrader.

Each property that the function is held to, and each step that it returns, may be a test with points
of its own. What is said of a mistake is what ``symattn verify`` says of it, as far as the
assignment reveals it.

Sources: Gradescope's autograder specifications, "Output format"; Otter-Grader's documentation,
"Exception-Based Format"; nbgrader's documentation, "Metadata format", version 3.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from symattn.attention.spec import Attention
from symattn.attention.variants import variant
from symattn.doors import Failure
from symattn.errors import SymattnError, nearest, quote
from symattn.isolation import Limits
from symattn.printable import printable
from symattn.status import Status
from symattn.verifying.calling import Function, here
from symattn.verifying.inputs import PROPERTIES, fits, named
from symattn.verifying.loading import Ended, alone, there
from symattn.verifying.report import Verification
from symattn.verifying.subject import Wanted
from symattn.verifying.verification import verify

#: How much students are told of what is wrong.
Reveal: TypeAlias = Literal["place", "hint", "value"]

#: What every function is tried on: how it is called is found with it.
_FIRST = "ordinary"

#: The verdicts on a step that have its points, in words.
_STEPS = {"right": "right", "carried": "right for what was returned before it"}

#: MiB of memory that a student's function may take.
_MEMORY = 4096


@dataclass(frozen=True)
class Graded:
    """One test of an assignment: its property, whether that holds, and what its student is told."""

    name: str
    passes: bool
    said: str


@dataclass(frozen=True)
class Assignment:
    """A function that students write, and what each property of it is worth.

    `function` is its name, `spec` the `Attention` that it should be, or the name of a variant;
    `mapped`, `library` and `returns` say how it is called, as for `verify_attention`. `points` has
    the properties that are tried, such as ``{"ordinary": 2, "large scores": 1}``; without it every
    property of the forward pass in double precision that this attention has, a point each. Of a
    function that returns several steps, by their names or as `returns` names them, `points` may
    have steps too, such as ``{"scores": 1, "weights": 2}``: each has its points where it is right,
    or is what follows from the steps that were returned before it, on the ordinary input. Those
    in `hidden` are graded, but not shown to students. `reveal` says what they are told of a
    failure: its ``place``, the property; as a ``hint``, the misconception too that computes the
    same numbers; or the ``value``, the report with the smallest input and the true numbers.

    Raises `SymattnError` for a name that is none.

    >>> def attention(q, k, v):
    ...     scores = q @ k.T / k.shape[1]
    ...     weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    ...     return weights / weights.sum(axis=1, keepdims=True) @ v
    >>> import numpy as np
    >>> task = Assignment("attention", points={"ordinary": 2, "one token": 1})
    >>> task.check(attention, "one token")
    >>> print(task.graded(attention, "ordinary").said)
    A few tokens, moderate numbers: wrong.
    Consistent with scaled-by-d_k: the scores are divided by d_k instead of √d_k.
    """

    function: str
    spec: Attention | str = "scaled-dot-product"
    points: Mapping[str, float] = field(default_factory=dict)
    hidden: Collection[str] = ()
    reveal: Reveal = "hint"
    mapped: Mapping[str, str] = field(default_factory=dict)
    library: str = ""
    returns: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.function.isidentifier():
            raise SymattnError(f"function = {quote(self.function)}: give the name of a function")
        if self.reveal not in get_args(Reveal):
            raise SymattnError(f"reveal = {quote(self.reveal)}{nearest('', get_args(Reveal))}")
        for name in self.points:
            if name not in self.attention.derivation():
                named(name)
        for name in self.hidden:
            if name not in self.worth:
                told = nearest(name, self.worth)
                raise SymattnError(f"hidden: {quote(name)} has no points{told}")

    @cached_property
    def attention(self) -> Attention:
        """The attention that the function should be."""
        return variant(self.spec).spec if isinstance(self.spec, str) else self.spec

    @cached_property
    def worth(self) -> Mapping[str, float]:
        """The points of each property."""
        derivation = self.attention.derivation()
        return self.points or {
            item.name: 1
            for item in PROPERTIES
            if item.dtype == "float64"
            and not (item.optional or item.backward or item.hidden)
            and fits(item, self.attention, derivation)
        }

    # ---- a function graded -------------------------------------------------------------------

    def graded(self, function: Any, name: str) -> Graded:
        """A student's function held to one property, where it is."""
        return self._graded(partial(here, function, self.function), name)

    def check(self, function: Any, name: str) -> None:
        """Raise an `AssertionError` with what is said, unless the property holds."""
        __tracebackhide__ = True  # IPython and pytest show the line of the cell or the test
        found = self.graded(function, name)
        if not found.passes:
            raise AssertionError(found.said) from None

    def _graded(self, function: Callable[[], Function], name: str) -> Graded:
        """A function held to one property; what cannot be had or called holds to none."""
        tried = {_FIRST, name}
        skip = [item.name for item in PROPERTIES if item.name not in tried]
        called = f"{self.spec} attention" if isinstance(self.spec, str) else "this attention"
        wanted = Wanted(self.attention, self.mapped, self.library, self.returns, skip, called)
        try:
            found = verify(function(), wanted)
        except SymattnError as error:
            return Graded(name, False, _sentence(str(error)))
        except Ended as ended:
            return Graded(name, False, _sentence(_ended(ended.failure)))
        if name in self.attention.derivation():
            verdict = dict(found.steps).get(name, "not returned")
            told = self._reasons(found) if verdict in ("wrong", "not returned") else ()
            said = [_sentence(f"{name}: {_STEPS.get(verdict, verdict)}"), *told]
            return Graded(name, verdict in _STEPS, "\n".join(said))
        verdict = dict(found.tried).get(name, "").lower()
        return Graded(name, verdict == "agrees", "\n".join(self._said(found, name, verdict)))

    def _said(self, found: Verification, name: str, verdict: str) -> Iterator[str]:
        """What is told of a property, a line for each thing."""
        about = named(name).about
        if not verdict:
            why = found.forward_only or f"{found.name} as it is called cannot be tried on this"
            verdict = f"not tried, since {why}" if found.agrees else "not tried, as others fail"
        yield _sentence(f"{about}: {verdict}")
        if verdict != "agrees":
            yield from self._reasons(found, found.failed == name)

    def _reasons(self, found: Verification, shown: bool = True) -> Iterator[str]:
        """Why a function fails, as far as it is told; `shown`: with its input and messages."""
        if self.reveal == "place":
            return
        if shown and self.reveal == "value":
            yield str(found)
            return
        if shown and found.kind != "wrong" and found.message:
            yield _sentence(found.message)
        for one in found.explanations:
            yield _sentence(f"consistent with {one.name}: {one.done}")

    # ---- for Gradescope ----------------------------------------------------------------------

    def gradescope(
        self, submission: str | Path, results: str | Path, *, seconds: float = 10.0
    ) -> None:
        """Grade a file, and write the ``results.json`` that Gradescope shows.

        The file is run in a process of its own, for at most so many seconds a call; a property for
        which it crashes or hangs is one that does not hold.
        """
        score, tests = 0.0, []
        limits = Limits(seconds, _MEMORY)
        target = f"{submission}:{self.function}"
        with alone(target, limits) as run:
            function = partial(there, run, target)
            for name, points in self.worth.items():
                graded = self._graded(function, name)
                earned = points if graded.passes else 0
                score += earned
                tests.append(
                    {
                        "name": name,
                        "score": earned,
                        "max_score": points,
                        "status": "passed" if graded.passes else "failed",
                        "output": graded.said,
                        "output_format": "text",
                        "visibility": "hidden" if name in self.hidden else "visible",
                    }
                )
        table = {"score": score, "stdout_visibility": "hidden", "tests": tests}
        written = json.dumps(table, indent=2, ensure_ascii=False)
        Path(results).write_text(f"{written}\n", encoding="utf-8")

    # ---- for Otter-Grader and nbgrader -------------------------------------------------------

    @property
    def _written(self) -> str:
        """The assignment as Python makes it, as far as a test needs it."""
        chosen = (
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)[4:]
            if getattr(self, one.name) not in ("hint", "", (), {})
        )
        return f"Assignment({', '.join([repr(self.function), repr(self.spec), *chosen])})"

    @property
    def _imports(self) -> str:
        more = "" if isinstance(self.spec, str) else "from symattn import Attention\n"
        return f"{more}from symattn.testing import Assignment\n"

    def otter(self) -> str:
        """A test file of Otter-Grader, in its exception-based format: ``tests/attention.py``."""
        parts = [
            f"from otter.test_files import test_case\n\n{self._imports}\nOK_FORMAT = False\n\n"
            f"name = {self.function!r}\npoints = None\n\ntask = {self._written}\n"
        ]
        for number, (name, points) in enumerate(self.worth.items(), 1):
            parts.append(
                f"@test_case(name={name!r}, points={points}, hidden={name in self.hidden})\n"
                f"def test_{number}({self.function}):\n"
                f"    task.check({self.function}, {name!r})\n"
            )
        return "\n\n".join(parts)

    def nbgrader(self, solution: str) -> str:
        """A source notebook of nbgrader, as JSON: a cell to be written, and a cell for each test.

        `solution` is Python with the function; its body is what students write.
        """
        first = _cell(_with_marks(solution, self.function), self.function, solution=True)
        cells = [first]
        for number, (name, points) in enumerate(self.worth.items(), 1):
            code = f"{self._imports}\n{self._written}.check({self.function}, {name!r})"
            if name in self.hidden:
                code = f"### BEGIN HIDDEN TESTS\n{code}\n### END HIDDEN TESTS"
            cells.append(_cell(code, f"{self.function}-{number}", points=points))
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _ended(failure: Failure) -> str:
    """What is told of a function whose process has ended, or that cannot be had."""
    if failure.status == Status.UNSETTLED:
        return failure.line.partition("; ")[0]  # without options of a command
    return failure.line


def _sentence(words: str) -> str:
    return printable(f"{words[:1].upper()}{words[1:]}.")


def _with_marks(solution: str, function: str) -> str:
    """The program with nbgrader's marks around the body of the function, below its docstring."""
    try:
        tree = ast.parse(solution)
    except SyntaxError as error:
        raise SymattnError(f"the solution, line {error.lineno}: {error.msg}") from None
    found = [x for x in tree.body if isinstance(x, ast.FunctionDef) and x.name == function]
    if not found:
        raise SymattnError(f"the solution has no function {function}")
    body = found[-1].body
    is_told = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    written = body[1:] if is_told and len(body) > 1 else body
    start, end = written[0].lineno - 1, written[-1].end_lineno
    if not solution.split("\n")[start][: written[0].col_offset].isspace():
        raise SymattnError(f"the solution: the body of {function} is to begin on its own line")
    lines = solution.rstrip("\n").split("\n")
    indent = " " * written[0].col_offset
    marked = [f"{indent}### BEGIN SOLUTION", *lines[start:end], f"{indent}### END SOLUTION"]
    return "\n".join([*lines[:start], *marked, *lines[end:]])


def _cell(
    code: str, name: str, *, points: float | None = None, solution: bool = False
) -> dict[str, Any]:
    """A cell of code with what nbgrader knows of it."""
    known = {
        "grade": points is not None,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        known["points"] = points
    return {
        "cell_type": "code",
        "id": name,
        "execution_count": None,
        "metadata": {"nbgrader": known},
        "outputs": [],
        "source": code,
    }
