"""Formulas as screen readers say them: speech-rule-engine reads the MathML that we say in words.

It calls signs otherwise (``sub``, ``raised to the … power``) and says scripts in another order, so
the names, numbers and relations of a formula are compared, not their order within a side.
`intent`, which it does not know yet, is held against the grammar of MathML 4.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lark import Lark
from lark.exceptions import LarkError

from symattn.notation import tree as t
from symattn.notation.mathml import math, mathml
from symattn.notation.spoken import spoken
from symattn.notation.text import line
from tests.sheets import SHEETS, outlines

_READ = """
const engine = require("speech-rule-engine");
const sources = JSON.parse(require("fs").readFileSync(0, "utf8"));
engine.setupEngine({ domain: "clearspeak", locale: "en", json: process.argv[1] })
  .then(() => engine.engineReady())
  .then(() => process.stdout.write(JSON.stringify(sources.map((x) => engine.toSpeech(x)))));
"""

#: What both call otherwise, as one sign for both; how many cases and columns there are goes.
_SAME = (
    (r"\d+ cases|Case \d+:|Column \d+:|Row \d+:|the \d+ by \d+ (?:row |column )?matrix", " "),
    (r"(?:to the|times) T power|transposed", "ᵀ"),
    (r"dot dot dot|and so on", "⋯"),
    (r"\bl n\b", "ln"),
    (r"\b([a-z]+)-(\d)([a-z])\b", r"\1 − \2 \3"),  # the hyphen of a name is called minus
    (r"is a member of the set", "is in"),
    (r"\bsquared\b", "2"),
    (r"\bcubed\b", "3"),
    (r"almost equals", "≈"),
    (r"is about", "≈"),
    (r"equals", "="),
    (r"\bnegative\b|\bminus\b", "−"),
    (r"\bplus\b", "+"),
    (r"infinity", "∞"),
    (r"square root", "√"),
    (r"\bsum\b", "∑"),
)
#: Fractions and powers that are said in words: one fourth, to the tenth power.
_CARDINALS = "one two three four five six seven eight nine ten"
_ORDINALS = "first half third fourth fifth sixth seventh eighth ninth tenth"
_NUMBERS = {"oneth": 1} | {
    word: number
    for words in (_CARDINALS, _ORDINALS)
    for number, word in enumerate(words.split(), 1)
}
#: Numbers, single letters and the signs of both.
_TOKENS = re.compile(r"\d+(?:\.\d+)?|[=≈−+√∞∑ᵀ⋯]|\b[A-Za-z]\b")


def heard(words: str) -> Counter[str]:
    """The numbers, single letters and signs of what is said."""
    for pattern, sign in _SAME:
        words = re.sub(pattern, f" {sign} ", words)
    for word, number in _NUMBERS.items():
        words = re.sub(rf"\b{word}s?\b", str(number), words)
    return Counter(_TOKENS.findall(words))


def formulas(name: str) -> list[t.Tree]:
    """The displayed lines of a derivation, but for matrices."""
    return [
        each.tree
        for page in outlines(name, "formula", "entry", "worked")
        for section in page.steps
        for each in section.lines
    ]


@pytest.fixture(scope="module")
def engine(
    tool: Callable[[str], str], node_file: Callable[[str], Path]
) -> Callable[[list[str]], list[str]]:
    """What speech-rule-engine says of MathML."""
    rules = node_file("speech-rule-engine") / "lib" / "mathmaps"

    def read(sources: list[str]) -> list[str]:
        ran = subprocess.run(
            [tool("node"), "-e", _READ, str(rules)],
            input=json.dumps(sources),
            check=True,
            capture_output=True,
            encoding="utf-8",
            timeout=200,
        )
        said: list[str] = json.loads(ran.stdout)
        return said

    return read


@pytest.mark.nightly
@pytest.mark.parametrize("turn", range(8))
def test_both_say_the_same_numbers_and_names(
    turn: int, engine: Callable[[list[str]], list[str]]
) -> None:
    trees = [tree for name in [*SHEETS][turn::8] for tree in formulas(name)]
    said = engine([math(tree, line(tree)) for tree in trees])
    assert len(trees) > 200
    assert [
        (spoken(tree), words)
        for tree, words in zip(trees, said, strict=True)
        if heard(words) != heard(spoken(tree))
    ] == []


def test_another_digit_sign_or_name_is_heard(engine: Callable[[list[str]], list[str]]) -> None:
    one, other = t.Num("0.25"), t.Num("0.26")
    sums = [t.row(t.Ident("q"), t.EQUALS, first, t.PLUS, one) for first in (one, other)]
    sums += [t.row(t.Ident("k"), t.EQUALS, one, t.PLUS, one), t.row(t.Ident("q"), t.EQUALS, one)]
    sums += [t.row(t.Ident("q"), t.EQUALS, one, t.MINUS, one)]
    said = engine([math(tree, line(tree)) for tree in sums])
    for words in said[1:]:
        assert heard(words) != heard(spoken(sums[0]))
    assert heard(said[0]) == heard(spoken(sums[0]))


# ---- what MathML 4 says that an intent is --------------------------------------------------------

#: The grammar of the attribute, from section 5.2.1 of MathML 4; names are those of XML.
INTENT = Lark(
    r"""
    start: property+ | expression
    expression: term property* application*
    application: "(" [expression ("," expression)*] ")" property*
    term: NAME | NUMBER | REFERENCE
    property: ":" NAME
    REFERENCE: "$" NAME
    NUMBER: /-?\d+(\.\d+)?/
    NAME: /[A-Za-z_][\w.-]*/
    %ignore /\s+/
    """,
    parser="lalr",
)


def complaints(markup: str) -> list[str]:
    """Intents that are not well formed, or that name an argument that is not inside or not one."""
    out = []
    for element in ElementTree.fromstring(markup).iter():
        intent = element.get("intent")
        if intent is None:
            continue
        try:
            INTENT.parse(intent)
        except LarkError:
            out.append(f"not an intent: {intent}")
        inside = Counter(_arguments(element))
        out += [
            f"${name} in {intent}" for name in re.findall(r"\$(\w+)", intent) if inside[name] != 1
        ]
    return out


def _arguments(element: ElementTree.Element) -> list[str]:
    """The arguments that an intent of an element can name: not those inside another argument."""
    out = []
    for child in element:
        name = child.get("arg")
        out += _arguments(child) if name is None else [name]
    return out


def test_every_intent_is_one() -> None:
    trees = [tree for name in [*SHEETS][::2] for tree in formulas(name)]
    told = [mathml(tree) for tree in trees]
    assert sum("intent=" in each for each in told) > 200
    assert [words for each in told for words in complaints(each)] == []


@pytest.mark.parametrize(
    ("intent", "arg"),
    [("transpose($m", "m"), ("transpose($x)", "m"), ("$m,", "m"), ("", "m"), ("a b", "m")],
)
def test_what_is_no_intent_is_noticed(intent: str, arg: str) -> None:
    assert complaints(f'<mrow intent="{intent}"><mi arg="{arg}">x</mi></mrow>')
    assert complaints('<mrow intent="transpose($m)"><mi arg="m">x</mi></mrow>') == []
