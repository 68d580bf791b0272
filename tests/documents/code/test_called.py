"""A program holds the functions that it calls, and no others: what esbuild and `ast` say of it."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symattn import VARIANTS
from symattn.attention.example import small_example
from symattn.documents.code.document import code_document
from symattn.documents.code.languages import LANGUAGES
from tests.command import put
from tests.shares import share

NodeFile = Callable[[str], Path]

NAMES = tuple(row.name for row in VARIANTS)

#: What a heading of a file of JavaScript tells its reader to call.
FOR_READERS = {"matrix"}


def uncalled_in_python(code: str) -> set[str]:
    """The functions of a file that its last one does not reach."""
    functions = {one.name: one for one in ast.parse(code).body if isinstance(one, ast.FunctionDef)}
    wanted, reached = ["attention"], set[str]()
    while wanted:
        name = wanted.pop()
        if name in reached:
            continue
        reached.add(name)
        for part in ast.walk(functions[name]):
            if isinstance(part, ast.Name) and part.id in functions:
                wanted.append(part.id)
    return set(functions) - reached


def defined(code: str) -> set[str]:
    return set(re.findall(r"(?m)^(?:const|var|let|function\*?) (\w+)", code))


def uncalled_in_javascript(node_file: NodeFile, folder: Path, code: str, *kept: str) -> set[str]:
    """The functions of a module that esbuild leaves out: nothing that it exports calls them."""
    file = put(folder / "module.mjs", f"{code}\nexport {{ {', '.join(kept)} }};")
    command = [str(node_file("esbuild/bin/esbuild")), str(file), "--bundle", "--format=esm"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return defined(code) - defined(ran.stdout)


def example(name: str, **options: Any) -> Any:
    spec = next(row.spec for row in VARIANTS if row.name == name)
    return small_example(spec, tokens=3, **options)[0]


@pytest.mark.parametrize("name", share(NAMES, 8, 3))
def test_every_function_of_a_program_is_called(
    name: str, node_file: NodeFile, tmp_path: Path
) -> None:
    derivation = example(name, title="add, take, part: log(x) and sqrt of the entries chosen")
    for language in LANGUAGES:
        code = code_document(derivation, language)
        if language == "javascript":
            found = uncalled_in_javascript(node_file, tmp_path, code, "attention") - FOR_READERS
        else:
            found = uncalled_in_python(code)
        assert found == set(), language


def test_a_function_that_is_not_called_would_be_found(node_file: NodeFile, tmp_path: Path) -> None:
    python = "def add(a, b): return a\n\ndef exp(x): return x\n\ndef attention(x): return exp(x)\n"
    assert uncalled_in_python(python) == {"add"}
    script = "const add = (a, b) => a;\nconst exp = (x) => x;\nfunction attention(x) { exp(x); }\n"
    assert uncalled_in_javascript(node_file, tmp_path, script, "attention") == {"add"}
