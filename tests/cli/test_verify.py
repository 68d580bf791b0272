"""``symattn verify``: a function in a file, verified in a process of its own, within limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from symattn import isolation
from symattn.cli import main
from symattn.errors import SymattnError
from symattn.isolation import Run
from symattn.verifying import loading
from symattn.verifying.loading import load
from tests import ROOT
from tests.command import assert_refused, put

MINE = '''
"""Attention, as somebody may write it."""
import os, sys, time
import numpy as np
import beside

def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def attention(q, k, v):
    print("a line for every call", file=sys.stderr)
    return softmax(q @ k.T / np.sqrt(k.shape[1])) @ v

def wrong(q, k, v):
    return softmax(q @ k.T / k.shape[1]) @ v

def strange(left, right, payload):
    return attention(left, right, payload)

def causal(q, k, v):
    z = q @ k.T / np.sqrt(k.shape[1])
    return softmax(np.where(np.tri(*z.shape) == 1, z, -np.inf)) @ v

def slow(q, k, v):
    time.sleep(60)

def greedy(q, k, v):
    return np.ones(2 ** 36)

def dies(q, k, v):
    os.abort()

def writes(q, k, v):
    with open("big", "wb") as file:
        file.write(bytes(2 ** 26))
    return attention(q, k, v)

def single(q, k, v):
    return attention(*(x.astype(np.float32) for x in (q, k, v))).astype(np.float32)

not_a_function = 3

class Module:
    pass
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of functions, one beside it, and worksheets that say what they should be."""
    made = tmp_path_factory.mktemp("verify")
    texts = {
        "mine.py": MINE,
        "beside.py": "",
        "broken.py": "1 +\n",
        "sheet.toml": '[attention]\nmask = "causal"\n[given]\nQ = [[1]]\nK = [[1]]\nV = [[1]]\n',
        "alone.toml": '[attention]\nmask = "causal"\n',
        "heads.toml": '[attention]\nmask = "causal"\nheads = 2\n',
        "misspelt.toml": '[attention]\nmaks = "causal"\n',
        "empty.toml": "",
    }
    for name, text in texts.items():
        put(made / name, text)
    return made


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def worker(folder: Path) -> Iterator[Run]:
    with isolation.within(isolation.Limits(), (loading.__name__,), stranger=True) as run:
        yield run


@pytest.fixture
def kept(worker: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions run in one process, which is kept, and are judged in this one."""

    @contextmanager
    def within(*_: object, stranger: bool = False) -> Iterator[Run]:
        yield worker if stranger else isolation.here()

    for module in (isolation, loading):
        monkeypatch.setattr(module, "within", within)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["verify", *words])


def test_a_right_function_agrees_and_that_is_said_to_be_no_proof() -> None:
    result = run("mine.py:attention")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("attention agrees with scaled-dot-product attention.")
    assert "That is no proof for other" in result.stdout
    assert result.stderr == ""  # what the function prints is not shown


@pytest.mark.usefixtures("kept")
def test_a_wrong_function_is_told_with_its_mistake_and_the_smallest_input() -> None:
    result = run("mine.py:wrong")
    assert result.exit_code == 1
    assert "It fails first for: ordinary" in result.stdout
    assert "scaled-by-d_k: the scores are divided by d_k instead of √d_k" in result.stdout
    assert "Q = [[0, 1]]" in result.stdout
    assert "symattn derive scaled-dot-product shows the derivation" in result.stdout
    assert result.stderr == ""


@pytest.mark.usefixtures("kept")
def test_data_have_the_report() -> None:
    result = run("mine.py:wrong", "--format", "json")
    assert result.exit_code == 1, result.stderr
    data = json.loads(result.stdout)
    assert (data["agrees"], data["failed"]) == (False, "ordinary")
    assert data["explanations"][0]["name"] == "scaled-by-d_k"
    assert data["input"]["Q"] == [[0, 1]]
    assert data["report"]["first_wrong"]["entry"] == "output[1,1]"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("mine.py:attention causal", 1),
        ("mine.py:causal alone.toml", 0),
        ("mine.py:causal heads.toml", 1),
        ("mine.py:strange --map Q=left,K=right --map V=payload --library numpy", 0),
        ("mine.py:single", 4),
    ],
)
@pytest.mark.usefixtures("kept")
def test_options(words: str, status: int) -> None:
    assert run(*words.split()).exit_code == status


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mine.py:attend", 'mine.py: has no "attend"'),
        ("mine.py:attention empty.toml", "empty.toml: attention: nothing is said; add"),
        ("mine.py:attention misspelt.toml", 'misspelt.toml:2: "maks" in [attention]'),
        ("mine.py", "name a file and a function in it"),
        ("absent.py:attention", "absent.py: there is no such file"),
        ("broken.py:attention", "broken.py: cannot be imported: SyntaxError"),
        ("mine.py:not_a_function", "is no function"),
        ("mine.py:Module", "is no function"),
        ("mine.py:strange", '"left" is not known; say what it is'),
        ("mine.py:attention --map Q", "write MATRIX=ARGUMENT"),
        ("mine.py:attention --map Q=q,Q=k", "Q is given twice"),
        ("mine.py:attention --map Q=x", 'no argument "x"'),
        ("mine.py:attention casual", "did you mean"),
        ("mine.py:attention causal sheet.toml", "unexpected extra argument"),
        ("mine.py:attention --skip large", "no property is called"),
    ],
)
@pytest.mark.usefixtures("kept")
def test_what_cannot_be_used_is_one_line(words: str, said: str) -> None:
    assert_refused(run(*words.split()), said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mine.py:greedy", "cannot be called: "),
        ("mine.py:dies", "its process was killed by signal 6"),
        ("mine.py:writes", "cannot be called: OSError"),
    ],
)
def test_what_a_function_does_to_its_process_is_one_line(words: str, said: str) -> None:
    assert_refused(run(*words.split()), said)


def test_a_function_that_takes_too_long_is_not_settled() -> None:
    result = run("mine.py:slow", "--timeout", "3")
    assert result.exit_code == 4
    assert "not finished in 3 s" in result.stderr


def test_help_says_that_it_is_no_sandbox_and_has_examples() -> None:
    printed = run("--help").output
    assert "That is no security sandbox" in " ".join(printed.split())
    assert "symattn verify mine.py:attention grouped-query" in printed


def test_a_function_of_a_module_and_a_part_of_one_are_found() -> None:
    function: Any = load("math:sqrt")
    assert function(4) == 2
    assert callable(load("os:path.join"))
    with pytest.raises(SymattnError, match='has no "sqr"; did you mean "sqrt"'):
        load("math:sqr")


@pytest.mark.usefixtures("kept")
def test_the_page_shows_what_is_printed() -> None:
    page = (ROOT / "docs/verifying.md").read_text(encoding="utf-8")
    program = next(part for part in page.split("```") if part.startswith("python\n# mine.py"))
    shown = next(part for part in page.split("```") if part.strip().startswith("attention does"))
    Path("page").mkdir()
    Path("page/mine.py").write_text(program.removeprefix("python\n"), encoding="utf-8")
    result = run("page/mine.py:attention")
    assert result.exit_code == 1
    assert " ".join(shown.split()) in " ".join(result.stdout.split())
