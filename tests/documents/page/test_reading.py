"""The page's reader of numbers, in Node, against Python's: the same texts, the same numbers."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import sympy

from symattn.arithmetic.decide import decide
from symattn.arithmetic.quantity import exactly
from symattn.arithmetic.reading import read_number
from symattn.errors import ReadError
from tests.program import FOLDER

Tool = Callable[[str], str]

READER = "".join(
    (FOLDER / name).read_text(encoding="utf-8") for name in ("certified.js", "reading.js")
)

READ = """
const fs = require("fs");
console.log(JSON.stringify(JSON.parse(fs.readFileSync(0)).map((text) => {
  try {
    const { text: digits, exact, proven } = certified.shown(typed(text), 24);
    return [digits, exact, proven];
  }
  catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message;
  }
})));
"""


def read(node: str, texts: list[str]) -> list[Any]:
    """For each text its digits, whether exact, whether proven; or why it is refused."""
    done = subprocess.run(
        [node, "-e", READER + READ],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[Any] = json.loads(done.stdout)
    return answers


def number_of(text: str) -> sympy.Expr | None:
    """What Python reads; None for what it refuses."""
    try:
        return read_number(text, "x")
    except ReadError:
        return None


def digits_of(number: sympy.Expr) -> list[Any]:
    """What symattn shows of a number."""
    if number is sympy.S.NegativeInfinity:
        return ["-inf", True, True]
    found = decide(exactly(number), 24)
    return [found.text, found.exact, found.proven]


ATOMS = ("0", "1", "2", "3", "10", "0.5", ".25", "7.", "1e3", "2.5e-3", "e", "pi", "π", "inf", "∞")
FUNCTIONS = ("sqrt", "√", "exp", "ln", "log", "sin", "cos", "tanh")


def expression(numbers: random.Random, depth: int) -> str:
    """A text that may be a number: some have no value, some are too large."""
    if depth == 0 or numbers.random() < 0.2:
        return numbers.choice(ATOMS)

    def part() -> str:
        return expression(numbers, depth - 1)

    match numbers.randrange(11):
        case 0 | 1:
            return f"{part()}{numbers.choice((' + ', '+', '-', '−', ' - '))}{part()}"
        case 2:
            return f"{part()}{numbers.choice(('*', '·', '×', ' ', '@', '', '⋅'))}{part()}"
        case 3 | 4:
            return f"{part()}/{part()}"
        case 5:
            return f"{part()}{numbers.choice(('^', '**'))}{part()}"
        case 6:
            return f"{part()}{numbers.choice(('²', '³', '⁻¹', '⁻²', '¹⁰'))}"
        case 7:
            opened, closed = numbers.choice(("()", "{}"))
            return f"{opened}{part()}{closed}"
        case 8:
            return f"{numbers.choice(FUNCTIONS)}{numbers.choice(('(', ' ('))}{part()})"
        case 9:
            return f"{numbers.choice(FUNCTIONS)}{numbers.choice(('', ' '))}{part()}"
        case _:
            return f"{numbers.choice('+-')}{part()}"


#: What is put into a text to spoil it, or not.
MARKS = (
    "",
    " ",
    ".",
    "e",
    "x",
    "2",
    "(",
    ")",
    "^",
    "*",
    "T",
    "=",
    "sum_j",
    "∑",
    "½",
    "[",
    "⁻",
    "E",
    "%",
    "<b>",
    "\\",
    "'",
    "_",
    ";",
)


def texts(seed: int, count: int) -> Iterator[str]:
    """Right and wrong texts."""
    numbers = random.Random(seed)
    for _ in range(count):
        text = expression(numbers, numbers.randint(0, 4))
        if numbers.random() < 0.35:
            at = numbers.randint(0, len(text))
            text = text[:at] + numbers.choice(MARKS) + text[at + numbers.randint(0, 1) :]
        yield text


#: Each limit from both sides, and what is easily read in two ways.
_WORDS = (
    "-inf -infinity -oo -∞ −∞ inf +inf (-inf) -inf-inf inf-inf -inf*0 -inf*2 -2*inf",
    "-inf/-2 1/inf exp(-inf) e^-inf e^inf 2^-inf ln(0) 0^0 0^-1 0^2 0^(1/2) 0⁻¹ 1/0",
    "2^400 2^401 2^-400 10^400 10^399 2^1/2 2^(1/2) 2^(1/3) 2^0.5 (-2)^(1/2) (-2)^3",
    "2^sqrt(4) 2^sqrt(2) e^sqrt(2) exp(1)^ln(2) 2e 2e- 2e+ 2e^2 2e**2 2epi 2e3 e2 pi2 2pi",
    "log2 log10 exp2 ln2 sqrt2 log3 log_2 ln2.5 √2√3 √2² ln2^2 (ln2)^2 e^ln2 ln-2 √-1",
    "sin(999999) sin(1000000) sin(1e6) tanh(1e7) exp(1e3) exp(-1e30) exp(1e30) e^e^e^e",
    "e^2/(e^2+2e^4) 1/3 ln 2 0x10 1_000 1e+3 1E3 1.e2 .e2 . + - ( ) {2} {2) [2] 2} sqrt()",
    "()",
    "\\sqrt{2} \\frac{1}{2} 2\\cdot3 \\left(2\\right) \\pi \\mathrm{e}^2 e\\pi \\infty",
    "-\\infty 2\\,3 \\foo",
    "nan NaN Inf -Inf INF true None x import os 1j 1i 2**3 2***3 2^ ^2 2! 5% 1=1 a^T 2.T",
    "T",
    "∑2 ∑(2) sum_j(3) Σ_i(2) rowsum(2) tr(2) abs(2) relu(2) σ(2) sigmoid(2) 1⁻ ⁻1 2²³",
    "2^3^2",
    "-2^2 (-2)^2 2^-1 2^-2 -2^-2 2^(1-2) 4^(3/2) 4^-1.5 exp(1)^2 (e)^2 1.0000001^400",
    "9e399+9e399",
    "sin(pi/6) cos(pi/4)*sqrt(2) sin(-7pi/12) cos(5pi/3) sin(pi/5) cos(1000pi) ln(e^2)",
    "ln(e^e)",
    "e^(2ln3) e^(-ln(2)/2) e^(ln(2)/3) exp(ln(pi)) sqrt(e^2) sqrt(2)^2 sqrt(8)/sqrt(2)",
    "pi/pi",
)
_WITH_SPACES = (
    "2 3|2 3^2|2(3)|(2)3|(2)(3)|1 e|2 sqrt(2)|sqrt(2) 2|2 -3|2*-3|2/-3|2--3|- 2|ln 2 3",
    " 1 |1 |\t2|1 / 3|1\u00a0/ 3||   |1/3.|1./3|+5|+ 5|−5|--5|+-5|5-|1/2/3|1/(2/3)|2*3/4*5",
)
EDGES = (
    *("1" * n for n in (60, 61, 120, 121)),
    *(f"2*{'1' * n}" for n in (60, 61)),
    *(f"1e{n}" for n in (400, 401, -400, -401, "0000400", "000000400", "0000000400")),
    *(f"2*1e{n}" for n in (399, 400, 401, -400, "0000000400")),
    *("(" * n + "1" + ")" * n for n in (39, 40, 41)),
    *("-" * n + "1" for n in (1, 2, 39, 40, 41)),
    *("sqrt" * n + "(1)" for n in (1, 5, 38, 39)),
    *("2^" * n + "1" for n in (1, 39, 40, 41)),
    *("1/" * n + "1" for n in (39, 40, 41)),
    *("+".join("1" * n) for n in (99, 100, 101)),
    *("1" * 119 + "." + "1" * n for n in (1, 79, 80, 81)),
    *(text for row in _WORDS for text in row.split()),
    *(text for row in _WITH_SPACES for text in row.split("|")),
)


def test_the_page_reads_what_python_reads(tool: Tool) -> None:
    asked = [*EDGES, *texts(7, 4000)]
    accepted = 0
    wrong: list[tuple[str, Any, Any]] = []
    for text, answer in zip(asked, read(tool("node"), asked), strict=True):
        number = number_of(text)
        accepted += number is not None
        if number is None:
            if not isinstance(answer, str):
                wrong.append((text, None, answer))
        elif answer != digits_of(number):
            wrong.append((text, digits_of(number), answer))
    assert wrong == []
    assert 400 < accepted < len(asked) - 400


def test_another_number_would_be_seen(tool: Tool) -> None:
    [answer] = read(tool("node"), ["1/3"])
    assert answer == digits_of(sympy.Rational(1, 3))
    assert answer != digits_of(sympy.Rational(1, 3) + sympy.Rational(1, 10**24))
    assert answer != digits_of(sympy.Rational("0." + "3" * 24))


#: Numbers with a decimal comma, and with a point.
COMMAS = {
    "0,5": "0.5",
    ",5": ".5",
    "-1,25e2": "-1.25e2",
    "1,5/2,5": "1.5/2.5",
    "0,125": "0.125",
    "sqrt(2,25)": "sqrt(2.25)",
    "1,2345": "1.2345",
}


def test_a_decimal_comma_is_read_in_the_page(tool: Tool) -> None:
    """Python's reader of numbers refuses it: there the worksheet says which sign it has."""
    assert [number_of(text) for text in COMMAS] == [None] * len(COMMAS)
    commas, points = (read(tool("node"), [*texts]) for texts in (COMMAS, COMMAS.values()))
    assert commas == points
    assert all(isinstance(one, list) for one in commas)


#: Texts that are no numbers, and why.
WRONG = {
    "1,250": "“1,250” may be 1.250 or 1250; write which",
    "1,2,3": "“,” is not part of a number",
    "1.5,2": "“,” is not part of a number",
    "2x": "“x” is not part of a number",
    "<b>": "“<” is not part of a number",
    "1/0": "it divides by zero",
    "sqrt(-1)": "it is the root of a negative number",
    "2 3": "a number is not expected after a number; write * between them",
    "(1": "the bracket “(” is not closed",
    "1+": "it ends too early",
    "": "it is empty",
    "1" * 201: "201 characters are too many; write 200 at most",
}


def test_a_line_says_what_is_wrong(tool: Tool) -> None:
    assert [number_of(text) for text in WRONG] == [None] * len(WRONG)
    assert read(tool("node"), [*WRONG]) == [*WRONG.values()]
