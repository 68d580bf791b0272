"""Imports go down only: each module may import its own floor and those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from symattn.attention.vocabulary import WORDS
from tests import ROOT

PACKAGE = ROOT / "symattn"

#: From the ground up; names on one line stand on the same floor and do not know one another.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("status", "printable", "greek", "handed", "shown", "version"),
    ("errors",),
    ("arguments", "budget", "writing"),
    ("grammar", "notation"),
    ("arithmetic",),
    ("nodes",),
    ("step",),
    ("merging", "restricting"),
    ("evaluate", "derivatives"),
    ("derivations",),
    ("language",),
    ("documents",),
    ("attention", "algebra"),
    ("files",),
    ("claims",),
    ("sheets",),
    ("marking",),
    ("mistakes",),
    ("reports",),
    ("pages",),
    ("doors",),
    ("isolation",),
    ("verifying", "classroom"),
    ("lifting",),
    ("testing", "cli", "pytest_plugin", "capturing", "ipython", "mkdocsext", "sphinxext"),
    ("__main__",),
)
LEVEL = {name: level for level, floor in enumerate(FLOORS) for name in floor}

#: Where what the package's own name stands for is made: below the doors.
FACE = LEVEL["cli"] - 1


MODULES = sorted(PACKAGE.rglob("*.py"))

#: Every file by the module it is.
FILES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in MODULES
}


def part_of(module: str, depth: int = 1) -> str:
    """The part of the package, or the room of that part, a dotted module name belongs to."""
    return ".".join(module.split(".")[depth : depth + 1])


def imported(source: str) -> set[str]:
    """The modules that names are taken from anywhere in the source, functions included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide which floor they reach"
            module = node.module or ""
            inside = (f"{module}.{alias.name}" for alias in node.names)
            found |= {name if name in FILES else module for name in inside}
        elif named := _named(node):
            found.add(named)
    return found & {*FILES}


def _named(node: ast.AST) -> str:
    """The module that ``import_module("…")`` names, if it is one of these calls."""
    match node:
        case ast.Call(
            func=ast.Name("import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(str(name)), *_],
        ):
            return name
    return ""


def violations(part: str, source: str) -> list[str]:
    """The imports in the source of a module of `part` that do not go down.

    The face of the package hands names on from everywhere, so that only doors may ask it.
    """
    return [
        module
        for module in sorted(imported(source))
        if part_of(module) != part
        and LEVEL.get(part_of(module), FACE if module == "symattn" else -1) >= LEVEL[part]
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if part == "__init__":
        return  # the package's face hands names on from everywhere
    assert part in LEVEL, f"{part} has no floor yet; give it one"
    assert violations(part, path.read_text(encoding="utf-8")) == []


def test_an_import_that_goes_up_is_caught() -> None:
    assert violations("nodes", "from symattn.evaluate.walk import program_of") == [
        "symattn.evaluate.walk"
    ]
    assert violations("documents", "def f():\n    import symattn.attention.spec") == [
        "symattn.attention.spec"
    ]
    assert violations("nodes", "from symattn.notation import tree") == []
    called = 'def f():\n    return import_module("symattn.pages.display").compare'
    assert violations("evaluate", called) == ["symattn.pages.display"]
    assert violations("evaluate", 'importlib.import_module("symattn")') == ["symattn"]
    assert violations("nodes", "from symattn import Attention") == ["symattn"]
    assert violations("cli", 'import_module("symattn")') == []


def test_no_file_is_a_drawer_for_everything() -> None:
    assert [path for path in MODULES if path.stem in ("utils", "helpers", "misc")] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_string_can_reach_a_parser_that_runs_code(path: Path) -> None:
    """SymPy's `sympify` evaluates strings unless it is strict."""
    runs_code = {"eval", "exec", "parse_expr", "nsimplify", "parse_latex", "S"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            assert called not in runs_code
            if called == "sympify":
                assert any(word.arg == "strict" for word in node.keywords)


def test_grammar_and_notation_know_no_sympy() -> None:
    for path in (PACKAGE / "grammar.py", *(PACKAGE / "notation").glob("*.py")):
        names = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert not names & {"sympy", "numpy"}


def circle(imports: Mapping[str, Iterable[str]]) -> list[str]:
    """Modules each of which imports the next, and the last the first, if there are any."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_files_import_one_another_in_a_circle() -> None:
    """An import inside a function would only hide one, and counts here."""
    imports = {
        name: imported(path.read_text(encoding="utf-8")) - {name} for name, path in FILES.items()
    }
    assert circle(imports) == []


def test_a_circle_is_caught() -> None:
    assert {*circle({"a": ["b"], "b": ["c"], "c": ["b"], "d": ["a"]})} == {*"bc"}
    assert circle({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}) == []
    hidden = "def f():\n    from symattn.nodes import base\n    from symattn.nodes.base import Node"
    assert imported(hidden) == {"symattn.nodes.base"}


#: The floors that serve any derivation: what they have to know of a matrix is a fact of its item.
GENERIC = (
    "notation",
    "arithmetic",
    "nodes",
    "step",
    "merging",
    "restricting",
    "evaluate",
    "derivatives",
    "derivations",
    "documents",
)

#: Words that are a step's name, and something else where they stand.
ELSEWHERE = {
    "exp": "the function e^x, in tables of functions",
    "bias": "how the node of a learned bias is written in formulas: bias(T)",
    "heads": "a view that joins heads, in programs; a class of the page",
    "row_max": "an operation of the arithmetics, in programs",
    "table": "how a language spells a table",
}


def names_of_attention(source: str) -> set[str]:
    """The names of attention's steps and inputs that stand in the source as texts."""
    texts = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    return {name for name in WORDS if name in texts and name not in ELSEWHERE}


@pytest.mark.parametrize("floor", GENERIC)
def test_generic_floors_know_no_step_of_attention(floor: str) -> None:
    paths = [
        path for path in MODULES if path.relative_to(PACKAGE).parts[0].partition(".")[0] == floor
    ]
    assert paths
    assert {path: names_of_attention(path.read_text(encoding="utf-8")) for path in paths} == {
        path: set() for path in paths
    }


def test_a_step_that_a_generic_floor_knows_is_caught() -> None:
    assert names_of_attention('hidden = item.name in ("scores", "bias", "Q")') == {"scores", "Q"}
    assert names_of_attention('"""The scores of Q and K."""\nscores = item.logits') == set()


def test_tests_stand_in_rooms_of_the_source() -> None:
    tests = ROOT / "tests"
    rooms = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    assert len(rooms) > 15
    assert {str(room) for room in rooms if not (PACKAGE / room).is_dir()} == {"fuzz", "golden"}
