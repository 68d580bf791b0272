"""The page's certified numbers, in Node: enclosures against Arb, digits against `derive`."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb, fmpq

from symattn import VARIANTS, Notation
from symattn.arithmetic.enclosure import precision
from symattn.arithmetic.functions import FUNCTIONS as IN_FORMULAS
from symattn.attention.example import small_example, small_numbers
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.page.live import live
from symattn.documents.page.numbers import number_data
from symattn.documents.shown import Shown
from symattn.language.equations import derivation_of
from symattn.step import Input
from tests.documents.page.opening import data_of, texts_of_values
from tests.documents.page.subjects import MASKS
from tests.program import FOLDER
from tests.shares import share

Tool = Callable[[str], str]

CERTIFIED = (FOLDER / "certified.js").read_text(encoding="utf-8")


def run(node: str, program: str, asked: object) -> Any:
    """What a program in Node answers to JSON."""
    script = f'const asked = JSON.parse(require("fs").readFileSync(0));\n{program}'
    done = subprocess.run(
        [node, "-e", script], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


# ---- enclosures --------------------------------------------------------------------------------

FUNCTIONS: Mapping[str, Callable[[arb], arb]] = {
    "exp": arb.exp,
    "tanh": arb.tanh,
    "sin": arb.sin,
    "cos": arb.cos,
    "erf": arb.erf,
    "ln": arb.log,
    "√": arb.sqrt,
}

ENCLOSED = """
console.log(JSON.stringify(asked.map(([op, x, bits]) => {
  const found = certified.enclose(certified.made([op, x]), bits);
  return found && [String(found.m), String(found.r), found.e];
})));
"""

#: Huge and tiny numbers, and those near a zero, a pole, a multiple of π/2.
HARD = (
    *(("exp", x) for x in ("1e12", "-1e12", "1e-60", "-1e-60", "0.6931471805599453", "-745.2")),
    *(("tanh", x) for x in ("1e-40", "-1e-300", "1e9", "-60", "0.25", "20.5")),
    *((f, x) for f in ("sin", "cos") for x in ("1e22", "-1e300", "1e-40", "355", "-103993")),
    *((f, "1.57079632679489661923132169163975144") for f in ("sin", "cos")),
    *(("erf", x) for x in ("1e-30", "5.9", "-6", "27", "0.5")),
    *(("ln", x) for x in ("1e-300", "1e300", "1.000000000000000000000000000001", "0.9999999")),
    *(("√", x) for x in ("1e-300", "1e300", "2", "99999999999999999999999")),
)


def arguments(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Functions and random numbers of all sizes."""
    numbers = random.Random(seed)
    for _ in range(count):
        name = numbers.choice(list(FUNCTIONS))
        above = numbers.randint(-(10 ** numbers.randint(1, 12)), 10 ** numbers.randint(1, 12))
        below = numbers.choice((1, 2, 3, 10**3, 10**9, numbers.randint(1, 10**6)))
        x = Fraction(above or 1, below)
        if name == "erf":
            x %= 40
        if name in ("ln", "√"):
            x = abs(x)
        yield name, f"{x.numerator}/{x.denominator}"


@pytest.mark.nightly
@pytest.mark.parametrize("bits", [96, 256, 1024])
def test_enclosures_contain_the_value_and_are_narrow(bits: int, tool: Tool) -> None:
    asked = [(*one, bits) for one in (*HARD, *arguments(bits, 300))]
    answers = run(tool("node"), CERTIFIED + ENCLOSED, asked)
    for (name, written, _), answer in zip(asked, answers, strict=True):
        x = Fraction(written)
        with precision(8 * bits):
            if answer is None:  # a number that is rational after all is not asked for
                assert name == "√", (name, written)
                continue
            middle, radius, power = int(answer[0]), int(answer[1]), arb(2) ** answer[2]
            true = FUNCTIONS[name](arb(fmpq(x.numerator, x.denominator)))
            assert true >= (middle - radius) * power, (name, written)
            assert true <= (middle + radius) * power, (name, written)
            size = max(abs(middle) * power, arb(1) if name in ("sin", "cos", "ln") else arb(0))
            assert radius * power <= size * arb(2) ** (40 - bits), (name, written)


# ---- digits --------------------------------------------------------------------------------------

SHOWN = """
console.log(JSON.stringify(asked.map(([x, digits, rounding]) => {
  const { text, exact, proven } = certified.shown(certified.made(x), digits, rounding);
  return [text, exact, proven];
})));
"""


#: Numbers, to how many digits they are shown, the text, and whether it is exact.
DECIDED: tuple[tuple[object, int, str, bool], ...] = (
    (["*", "0.15", "0.003"], 4, "0.0005", False),  # 0.00045, a tie of floats is none
    ("0.00045", 4, "0.0005", False),
    ("-0.00045", 4, "-0.0005", False),
    ("-0.00005", 4, "-0.0001", False),
    ("-0.00004", 4, "0.0000", False),
    ("1/2", 0, "1", False),
    ("0.12345", 5, "0.12345", True),
    ("-inf", 4, "-inf", True),
    ("12345678901234567890", 2, "1.23e19", False),
    ("1e16", 4, "1e16", True),
    (["*", ["√", 2], ["√", 8]], 4, "4", True),
    (["/", ["exp", 3], ["+", ["exp", 3], ["exp", 3]]], 4, "0.5", True),
    (["/", ["exp", 3], ["*", 8, ["exp", 3]]], 2, "0.13", False),  # the tie 1/8
    (["/", 1, ["+", 1, ["exp", -100000]]], 4, "1.0000", False),
    (["+", ["*", ["cos", 1], ["cos", 1]], ["*", ["sin", 1], ["sin", 1]]], 4, "1", True),
    (["+", ["tanh", "1/3"], ["tanh", "-1/3"]], 4, "0", True),
    (["tanh", ["+", ["√", 8], ["*", -2, ["√", 2]]]], 2, "0", True),
    (["exp", 20000], 4, "7.7560e8685", False),
    (["exp", "-1e9"], 4, "0.0000", False),
    (["+", ["exp", ["√", 8]], ["*", -1, ["exp", ["*", 2, ["√", 2]]]]], 3, "0", True),
)


def test_digits_are_decided_as_decide_does(tool: Tool) -> None:
    asked = [(number, digits, "half-up") for number, digits, *_ in DECIDED]
    found = run(tool("node"), CERTIFIED + SHOWN, asked)
    assert found == [[text, exact, True] for *_, text, exact in DECIDED]


def test_ties_go_to_even_where_that_is_asked_for(tool: Tool) -> None:
    asked = [(x, 1, "half-even") for x in ("0.25", "0.35", "-0.25", "-0.35")]
    found = [text for text, *_ in run(tool("node"), CERTIFIED + SHOWN, asked)]
    assert found == ["0.2", "0.4", "-0.2", "-0.4"]


def test_what_is_not_decided_is_not_said_to_be(tool: Tool) -> None:
    """Nothing is known of a float that was rounded, and of too large a power."""
    program = """
    const { shown, certain, quotient, exp, made } = certified;
    const asks = [certain(0.1), quotient(1, 0), exp(made("1e30")), certified.sum([1, 0.5])];
    console.log(JSON.stringify(asks.map((x) => shown(x, 4))
      .map(({ text, proven }) => [text, proven])));
    """
    found = run(tool("node"), CERTIFIED + program, [])
    assert found == [["?", False], ["undefined", True], ["?", False], ["?", False]]


def test_the_page_knows_every_function(tool: Tool) -> None:
    program = "console.log(JSON.stringify(Object.keys(certified.OF_ONE)));"
    assert set(run(tool("node"), CERTIFIED + program, [])) == set(IN_FORMULAS)


# ---- whole programs ------------------------------------------------------------------------------

#: What the page computes with, its data being asked for, and what of it is shown.
PROGRAM = "\n".join(
    [
        CERTIFIED,
        "const $ = () => ({ textContent: JSON.stringify(asked.data) });",
        *((FOLDER / name).read_text(encoding="utf-8") for name in ("rules.js", "state.js")),
        """
console.log(JSON.stringify(asked.edits.map((edit) => {
  for (const [letter, numbers] of Object.entries(edit.given))
    given.get(letter).numbers = numbers.map(certified.made);
  [temperature, divisor] = [edit.temperature || "1", certified.read(edit.temperature || "1")];
  const all = computed("numbers");
  return edit.wanted.map((letter) => all.get(letter).map((x) => {
    const { text, exact, proven } = certified.shown(certified.certain(x), edit.digits);
    return [text, exact, proven];
  }));
})));
""",
    ]
)

#: Numbers that a reader may type: each kind of edit changes all that is given to such.
TYPED: Mapping[str, Callable[[random.Random], str]] = {
    "decimals": lambda numbers: f"{numbers.randint(-300, 300) / 100:g}",
    "ties": lambda numbers: numbers.choice(("0.15", "0.003", "0.5", "0.00005", "-0.35", "1.00005")),
    "fractions": lambda numbers: f"{numbers.randint(-20, 20)}/{numbers.randint(1, 9)}",
    "whole": lambda numbers: str(numbers.randint(-3, 3)),
    "large": lambda numbers: str(numbers.randint(-40, 40) * numbers.choice((1, 10, 100))),
    "long": lambda numbers: f"{numbers.randint(-99999, 99999)}e-{numbers.randint(1, 9)}",
}
EDITS = ("none", "one", *TYPED)


@dataclass(frozen=True)
class Edit:
    """What a reader changed: numbers by letter, with their shapes; the temperature; the digits."""

    given: Mapping[str, tuple[tuple[int, ...], list[str]]]
    temperature: str
    digits: int


def edited(
    kind: str, derivation: Derivation, values: Evaluation, tempered: bool, numbers: random.Random
) -> Edit:
    """All that is given, with such an edit, and a fourth of the mask's cells switched."""
    given = {}
    masks = [step for step in derivation.steps if step.fixed and not step.operands]
    for item in (*derivation.inputs, *masks):
        shape, texts = texts_of_values(values, item.letter)
        for place, text in enumerate(texts):
            if kind == "none" or item.name == "one_hot":
                continue
            if item.name in ("mask", "allowed"):
                if numbers.random() < 0.25:
                    texts[place] = "1" if text == "0" and item.name == "allowed" else "0"
                    if text == "0" and item.name == "mask":
                        texts[place] = "-inf"
            elif kind != "one" or numbers.random() < 0.1:
                chosen = kind if kind in TYPED else numbers.choice([*TYPED])
                texts[place] = TYPED[chosen](numbers)
        given[item.letter] = (shape, texts)
    temperature = numbers.choice(("1", "2", "0.5", "0.7")) if tempered else ""
    return Edit(given, temperature, numbers.randint(1, 12))


def in_python(derivation: Derivation, edit: Edit, tempered: str) -> Evaluation:
    """The derivation with the reader's numbers, masks among them; the last scores divided."""
    divisor = sympy.Rational(edit.temperature or 1)
    steps = [
        replace(step, expr=step.expr / divisor) if step.letter == tempered else step
        for step in derivation.steps
        if step.letter not in edit.given
    ]
    masks = [Input.of(step) for step in derivation.steps if step.letter in edit.given]
    whole = replace(derivation, inputs=(*derivation.inputs, *masks), steps=tuple(steps))
    names = {item.letter: item.name for item in whole.inputs}
    tables = {
        names[letter]: np.array(texts, dtype=object).reshape(shape).tolist()
        for letter, (shape, texts) in edit.given.items()
    }
    return whole.evaluate(**tables)


def mismatches(
    derivation: Derivation,
    values: Evaluation,
    kinds: tuple[str, ...],
    node: str,
    seed: str,
    spoil: Callable[[Edit], Edit] = lambda edit: edit,
) -> tuple[int, list[tuple[Any, ...]]]:
    """How many entries were compared, and where the page's program differs from `derive`.

    `spoil` changes what the program is given, and not `derive`.
    """
    changes = live(derivation)
    numbers = random.Random(seed)
    edits = [edited(kind, derivation, values, bool(changes.tempered), numbers) for kind in kinds]
    letters = [step.letter for step in derivation.steps if step.letter not in changes.letters]
    asked = [
        {
            "given": {
                letter: texts
                for letter, (_, texts) in spoil(edit).given.items()
                if letter in changes.letters
            },
            "temperature": edit.temperature,
            "digits": edit.digits,
            "wanted": letters,
        }
        for edit in edits
    ]
    compared = 0
    wrong: list[tuple[Any, ...]] = []
    whole = {"data": data_of(html_document(Shown(derivation, values))), "edits": asked}
    for edit, answers in zip(edits, run(node, PROGRAM, whole), strict=True):
        true = in_python(derivation, edit, changes.tempered)
        for letter, texts in zip(letters, answers, strict=True):
            places = np.ndindex(*true.shape(letter))
            for place, (text, exact, proven) in zip(places, texts, strict=True):
                wanted = true.digits(letter, place, Notation(digits=edit.digits))
                compared += 1
                if (text, exact, proven) != (wanted.text, wanted.exact, wanted.proven):
                    wrong.append((edit, letter, place, wanted, text, exact, proven))
    return compared, wrong


#: A ratio of scores has no value where a row of them sums to 0; `derive` refuses such numbers.
RATIOS = ("linear", "causal-linear", "ratio", "boolean, linear")

SPECS = {**{row.name: row.spec for row in VARIANTS}, **MASKS}


def edits_of(name: str) -> tuple[str, ...]:
    return ("none",) if name in RATIOS else EDITS


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*SPECS])
def test_programs_show_what_derive_shows(name: str, tool: Tool) -> None:
    example = small_example(SPECS[name])
    compared, wrong = mismatches(*example, edits_of(name), tool("node"), name)
    assert compared
    assert wrong == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", [row.name for row in VARIANTS])
def test_gradients_show_what_derive_shows(name: str, tool: Tool) -> None:
    spec = next(row.spec for row in VARIANTS if row.name == name)
    derivation, values = small_example(spec, gradient=())
    compared, wrong = mismatches(derivation, values, ("none",), tool("node"), name)
    assert compared
    assert wrong == []


#: Equations with numbers in them that no whole numbers and roots make, and with sums within sums.
CONSTANTS = (
    "A = GELU(X)",
    "A = e^X / sqrt(2 pi)",
    "f(x) = 2^x + ln(1 + exp(x)) / ln(2); A = f(X)",
    "c = sqrt(2)/pi + ln(3) - cos(1) + sin(2) + exp(-2) + e + tanh(1/2); A = softmax(c X)",
    "c = pi^(1/3) - pi^2 + ln(2)^(-1/2) + 3^(2/3); A = tanh(c X)",
    "D[i,j] = cos(pi/2 * (i - j)/n); A = softmax(Q K^T ∘ D)",
    "Y = X + tanh(LayerNorm(X, eps=1e-5) W)",  # an index runs within its own sum
)


@pytest.mark.parametrize("text", share(CONSTANTS, 4))
def test_numbers_in_equations_show_what_derive_shows(text: str, tool: Tool) -> None:
    whole = derivation_of(text)
    derivation = whole.gradient()
    values = derivation.evaluate(**small_numbers(whole, derivation))
    kinds = ("none", "one", "decimals", "fractions")
    compared, wrong = mismatches(derivation, values, kinds, tool("node"), text)
    assert compared
    assert wrong == []


def test_another_number_would_be_seen(tool: Tool) -> None:
    spec = next(row.spec for row in VARIANTS if row.name == "causal")

    def spoilt(edit: Edit) -> Edit:
        shape, texts = edit.given["X"]
        return replace(edit, given={**edit.given, "X": (shape, [*texts[:-1], "4.321"])})

    derivation, values = small_example(spec)
    _, wrong = mismatches(derivation, values, ("decimals",), tool("node"), "spoilt", spoilt)
    assert wrong


def test_given_numbers_reach_the_page_exactly(tool: Tool) -> None:
    values = (
        sympy.Rational(1, 3),
        sympy.Rational(1, 10),
        sympy.Integer(10) ** 40,
        sympy.sqrt(2) / 3,
        (1 + sympy.sqrt(5)) / 2,
        sympy.exp(-2),
        sympy.E,
        sympy.pi / 4,
        sympy.log(2),
        sympy.Integer(10) ** sympy.Rational(-2, 3),
        sympy.cos(1) ** 2,
    )
    asked = [(number_data(value), 12, "half-up") for value in values]
    for value, (text, *_) in zip(values, run(tool("node"), CERTIFIED + SHOWN, asked), strict=True):
        assert abs(sympy.Rational(text) - value) <= sympy.Rational(1, 2 * 10**12)


def test_what_cannot_be_enclosed_is_a_question_mark(tool: Tool) -> None:
    assert number_data(sympy.Symbol("x")) == "?"
    [[text, *_]] = run(tool("node"), CERTIFIED + SHOWN, [("?", 4, "half-up")])
    assert text == "?"
