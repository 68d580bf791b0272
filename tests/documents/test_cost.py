"""What would be too much work is refused before it is done; what is quick never is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from symattn import Attention, Notation, check, document, variant
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.counting import Counting
from symattn.arithmetic.functions import Kind
from symattn.attention.example import small_example
from symattn.attention.variants import VARIANTS, Variant
from symattn.budget import MOST, TOGETHER, TooLarge, admit, limited
from symattn.cli import main
from symattn.derivation import Evaluation
from symattn.documents.cost import admit_document, cost_of
from symattn.documents.job import Job
from symattn.errors import SymattnError
from symattn.evaluate.work import work_of
from symattn.worksheet import read_worksheet
from tests import TRACED
from tests.gates import EXAMPLES
from tests.shares import share


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def job(name: str, tokens: int = 3, notation: Notation | None = None, **options: Any) -> Job:
    derivation, values = small_example(variant(name).spec, tokens=tokens, **options)
    return Job(derivation, values, notation or Notation())


def small(name: str) -> Evaluation:
    return small_example(variant(name).spec)[1]


def matrix(rows: int, columns: int) -> str:
    return repr([[(3 * i + 2 * j) % 5 - 2 for j in range(columns)] for i in range(rows)])


def worksheet(path: Path, rows: int, columns: int = 2, attention: str = "", more: str = "") -> str:
    given = "\n".join(f"{name} = {matrix(rows, columns)}" for name in "QKV")
    path.write_text(f"[attention]\n{attention}\n[given]\n{given}\n{more}", encoding="utf-8")
    return str(path)


@pytest.fixture
def refused(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    large = worksheet(tmp_path / "large.toml", 250, attention='mask = "causal"')
    claims = f"[claims]\nscores = {matrix(300, 300)}\n"
    claimed = worksheet(tmp_path / "claimed.toml", 300, more=claims)
    wide = worksheet(tmp_path / "wide.toml", 250, 120, attention='mask = "causal"')
    page = tmp_path / "page.md"
    page.write_text(f"```symattn\n{Path(wide).read_text()}\n```\n", encoding="utf-8")
    heads = worksheet(tmp_path / "heads.toml", 8, 1000, "heads = 1000")
    return {
        "many tokens": ("derive", "deepseek", "--tokens", "64", "--format", "tex"),
        "a page": ("derive", large, "--format", "html"),
        "text": ("derive", wide),
        "heads": ("derive", heads, "--format", "html"),
        "claims": ("check", claimed),
        "render": ("render", str(page)),
    }


@pytest.mark.parametrize("case", ["many tokens", "a page", "text", "heads", "claims", "render"])
def test_what_is_too_much_is_refused_at_once_in_one_line(
    case: str, refused: dict[str, tuple[str, ...]]
) -> None:
    started = time.process_time()
    result = run(*refused[case])
    assert result.exit_code == 2, result.output
    assert time.process_time() - started < 4 * TRACED
    assert result.output.count("\n") == 1
    assert "--allow-large" in result.output and "20 million at most" in result.output


def test_it_can_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symattn.budget.MOST", 1000)
    words = ("derive", "causal", "--tokens", "2", "--view", "value")
    assert run(*words).exit_code == 2
    assert run(*words, "--allow-large").exit_code == 0
    assert run(*words[:4], "--symbolic").exit_code == 2  # even formulas are counted


def test_python_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symattn.budget.MOST", 0)
    values = Attention().derivation().evaluate(Q=[[1]], K=[[1], [0]], V=[[2], [4]])
    assert "weights" in document(values, "md")
    assert check("[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]\n[claims]\nweights=[[1]]\n").passed
    with limited("x"), pytest.raises(TooLarge):
        check("[given]\nQ=[[1]]\nK=[[1]]\nV=[[1]]\n[claims]\nweights=[[1]]\n")


@pytest.mark.parametrize("row", share(VARIANTS, 4, 1), ids=lambda row: row.name)
def test_every_variant_is_counted_and_let_through_while_it_is_small(row: Variant) -> None:
    made = job(row.name, 8)
    assert made.evaluation is not None
    for work in work_of(made.evaluation):
        assert work.shape == made.evaluation.shape(work.item.letter), work.item.name
    for form in ("text", "json", "html", "png"):
        assert cost_of(form, [made], checked=True).operations < MOST / 2, form


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: Path(path).stem)
def test_examples_are_let_through(path: Path) -> None:
    sheet = read_worksheet(path)
    derivation = sheet.derivation()
    made = Job(derivation, sheet.evaluate(derivation), sheet.notation.but(exact=True, limit=0))
    with limited("x"):
        for form in ("text", "json", "html", "png", "tex"):
            admit_document(form, [made], checked=True)


def test_a_program_holds_no_exact_values() -> None:
    made = job("multi-head", 48, Notation(exact=True))
    assert cost_of("numpy", [made], checked=True).operations < 1_000_000


def test_the_estimate_takes_milliseconds() -> None:
    made = job("deepseek", 64)
    started = time.process_time()
    cost_of("html", [made], checked=True)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("form", ["text", "json", "html", "svg", "numpy"])
def test_the_estimate_grows_with_every_size(form: str) -> None:
    def cost(**options: Any) -> int:
        return cost_of(form, [job("causal-multi-head", **options)], checked=True).operations

    assert cost(tokens=4) < cost(tokens=16)
    assert cost(tokens=4, d_k=4) < cost(tokens=4, d_k=16)
    assert cost(tokens=4, heads=2, d_k=16) < cost(tokens=4, heads=8, d_k=16)


def test_the_estimate_grows_with_what_is_asked_for() -> None:
    plain = cost_of("tex", [job("causal", 32)]).operations
    assert plain < cost_of("tex", [job("causal", 32, Notation(limit=0))]).operations
    assert plain < cost_of("tex", [job("causal", 32, Notation(exact=True))]).operations
    assert plain < cost_of("tex", [job("causal", 32, gradient=())]).operations
    assert 2 * plain == cost_of("tex", [job("causal", 32)] * 2).operations


def test_a_product_is_counted_by_its_terms() -> None:
    works = {work.item.name: work for work in work_of(small("bare"))}
    assert works["scores"].operations == {Kind.RATIONAL: 3 * 3 * 2}
    assert works["weights"].kind is Kind.IRRATIONAL


def test_a_formula_that_cannot_be_followed_is_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(self: object, *operands: object) -> None:
        raise TypeError("asks for numbers")

    usual = {work.item.name: work for work in work_of(small("bare"))}
    monkeypatch.setattr(Counting, "matmul", unknown)
    found = {work.item.name: work for work in work_of(small("bare"))}
    assert found["scores"].shape == usual["scores"].shape
    assert found["scores"].operations.total() >= usual["scores"].operations.total()


def test_counting_answers_all_that_an_arithmetic_is_asked() -> None:
    x = np.broadcast_to(np.float64(Kind.RATIONAL), (2, 3))
    counting, floats = Counting(), Arrays()
    for name in ("exp", "shift", "lowered", "row_max", "row_sum", "threshold", "first_largest"):
        counted, true = getattr(counting, name)(x), getattr(floats, name)(np.ones((2, 3)))
        assert counted.shape == true.shape, name
    assert counting.operations.total() > 0


def test_a_message_says_how_much_and_for_how_long() -> None:
    with limited("--allow-large"), pytest.raises(TooLarge, match=r"41 million .*some 41 seconds"):
        admit(41_000_000, "worked lines", lambda: "leave them out")
    with limited("--allow-large"), pytest.raises(TooLarge, match=r"7\.2 billion .*some 2 hours"):
        admit(7_200_000_000, "worked lines", lambda: "leave them out")
    with limited("--allow-large", allow_large=True):
        admit(41_000_000, "worked lines", lambda: "leave them out")


def test_what_a_file_takes_together_is_limited_too() -> None:
    with limited("--allow-large"):
        for _ in range(TOGETHER):
            admit(MOST, "20 numbers", lambda: "give fewer tokens")
        with pytest.raises(TooLarge, match=r"together .* divide the file, or allow it with"):
            admit(1, "1 numbers", lambda: "give fewer tokens")
    with limited("--allow-large"):  # the next file
        admit(MOST, "20 numbers", lambda: "give fewer tokens")


#: What advice names, as options; taken away where they were given.
ADVICE: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "leave --full out": lambda words: [word for word in words if word != "--full"],
    "leave --exact out": lambda words: [word for word in words if word != "--exact"],
    "take another format (text)": lambda words: [*words, "--format", "text"],
    "leave worked lines out (--view value)": lambda words: [*words, "--view", "value"],
    "show formulas alone (--symbolic)": lambda words: [*words, "--symbolic"],
}

ASKED = (
    "",
    "--full",
    "--exact",
    "--exact --full",
    "--format html",
    "--format json --full",
    "--view worked",
    "--view worked --full --exact",
    "--digits 100 --full --exact --format json",
)


def followed(words: Sequence[str], advice: str) -> list[str]:
    """The command with one piece of advice followed, which may join several changes."""
    for part in advice.split(" and "):
        step = re.fullmatch(r"show one step \((--steps) (\w+)\)", part)
        words = [*words, *step.groups()] if step else ADVICE[part](words)
    return list(words)


def verdict(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What refuses a command; empty where it is let through, and nothing is evaluated then."""

    def stop(*told: Any, **options: Any) -> None:
        admit_document(*told, **options)
        raise SymattnError("let through")

    with monkeypatch.context() as patched:
        patched.setattr("symattn.documents.cost.admit_document", stop)
        told = run(*words).output
    assert "let through" in told or "too much work" in told, told
    return "" if "let through" in told else told


@pytest.mark.parametrize("options", ASKED)
@pytest.mark.parametrize("rows", [8, 16, 32, 64, 96, 128])
def test_advice_is_accepted_when_it_is_followed(
    rows: int, options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = worksheet(tmp_path / "sheet.toml", rows, rows, 'mask = "causal"')
    words = ["derive", sheet, *options.split()]
    told = verdict(words, monkeypatch)
    if not told:
        return
    assert rows > 32 or "--exact" in options
    advice = told.partition("at most; ")[2].partition(", or allow")[0].split(", ")
    assert advice[-2:] == ["give fewer tokens or heads", "show formulas alone (--symbolic)"]
    for piece in {*advice} - {"give fewer tokens or heads"}:
        assert not verdict(followed(words, piece), monkeypatch), piece


@pytest.mark.parametrize("row", share(VARIANTS, 8), ids=lambda row: row.name)
def test_advice_for_a_variant_is_accepted_when_it_is_followed(
    row: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for options in ASKED:
        words = ["derive", row.name, "--tokens", "64", *options.split()]
        told = verdict(words, monkeypatch)
        advice = told.partition("at most; ")[2].partition(", or allow")[0].split(", ")
        for piece in {*advice} - {"give fewer tokens or heads", ""}:
            assert not verdict(followed(words, piece), monkeypatch), (options, piece)
