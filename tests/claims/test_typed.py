"""What people type: any spelling of a number, any key, worked lines; and what derive prints."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from symattn.attention.example import small_example
from symattn.attention.variants import VARIANTS, Variant
from symattn.attention.vocabulary import Notation
from symattn.claims.claims import arrays_of, read_claims
from symattn.claims.entry_names import counted_place, entry_name
from symattn.claims.lines import sides_of
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation, Step
from symattn.documents.data import json_document
from symattn.documents.shown import Shown
from symattn.errors import ReadError, SymattnError
from symattn.marking.lines import check_lines
from symattn.marking.verdicts import Marker
from symattn.notation.text import box, line
from symattn.pages.checked import check_text
from symattn.reports.check import check_worksheet
from symattn.reports.overview import CheckedFile, Overview
from symattn.reports.results import Marking
from symattn.reports.single import report_of
from symattn.sheets.worksheet import worksheet_of
from tests.checking import check, verdicts
from tests.shares import share
from tests.written import text_overview

GIVEN = {"Q": [[1, 2]], "K": [[3, 1], [0, 4]], "V": [[1, 2], [3, 4]]}
SHEET = "[attention]\nscale = false\n[given]\nQ = [[1, 2]]\nK = [[3, 1], [0, 4]]\n"


# ---- what derive prints, typed in ------------------------------------------------------------

NOTATIONS = (
    Notation(digits=4, rounding="half-even"),
    Notation(convention="columns", index_base=0, digits=2),
)


def printed(values: Evaluation, name: str, notation: Notation) -> Any:
    """The numbers of a step's value as text shows them, with a level of brackets for heads."""
    item = values[name]
    heads = range(item.shape[-3]) if item.step.per_head else [None]
    out = []
    for head in heads:
        (tree,) = item.trees(None if head is None else head + notation.index_base, notation)
        rows = [re.search(r"[\[⎡⎢⎣](.*)[\]⎤⎥⎦]", words) for words in box(tree).lines]
        out.append([re.split(r"\s{2,}", row[1].strip()) for row in rows if row])
    return out if item.step.per_head else out[0]


def not_right(values: Evaluation, claims: dict[str, Any]) -> list[str]:
    """What the marker does not call right, with each step claimed for itself."""
    found = []
    for name, value in claims.items():
        marker = Marker(values, arrays_of(read_claims({name: value}, values), values), Policy())
        found += [str(e) for mark in marker.marks() for e in mark.entries if e.verdict != "right"]
    return found


@pytest.mark.parametrize("variant", share(VARIANTS, 4), ids=lambda variant: variant.name)
def test_what_derive_prints_is_right(variant: Variant) -> None:
    derivation, values = small_example(variant.spec, tokens=2)
    for notation in NOTATIONS:
        shown = values.spelled(notation)
        whole = notation.but(limit=0)
        assert not_right(shown, {name: printed(shown, name, whole) for name in shown}) == []
        data = json.loads(json_document(Shown(derivation, shown, notation=notation)))
        told = {**data["inputs"], **data["steps"]}
        assert not_right(shown, {name: told[name]["decimals"] for name in told}) == []


def test_a_matrix_the_other_way_round_is_wrong() -> None:
    """That the test above can fail."""
    _, values = small_example(VARIANTS[0].spec, tokens=3)
    rows, columns = values, values.spelled(Notation(convention="columns"))
    assert not_right(columns, {"scores": printed(rows, "scores", Notation())})
    assert not_right(rows, {"scores": printed(columns, "scores", Notation(convention="columns"))})


def worked_lines(
    values: Evaluation, notation: Notation, most: int = 3
) -> Iterator[tuple[str, str]]:
    """Worked lines of every step whose functions can be typed, with the entry's key."""
    for name in values:
        item = values[name]
        if not isinstance(item.step, Step):
            continue
        for place in [*np.ndindex(*item.shape)][:most]:
            *head, row, column = counted_place(place, notation)
            text = line(item.worked(row, column, head[0] if head else None, notation))
            if not re.search(r"⋯|\?| \(no key| since |[στ]\(|max\(|elu|erf", text):
                yield entry_name(name, place, notation), text


@pytest.mark.parametrize("variant", share(VARIANTS, 4, 2), ids=lambda variant: variant.name)
def test_the_worked_lines_of_derive_hold(variant: Variant) -> None:
    _, values = small_example(variant.spec, tokens=2)
    notation = NOTATIONS[1]
    shown = values.spelled(notation)
    for key, text in worked_lines(shown, notation):
        lines = read_claims({key: text}, shown)
        assert [link.message for link in check_lines(lines, shown, {})] == []


def test_a_changed_digit_in_a_worked_line_is_found() -> None:
    """That a link can fail: a digit of each side but the first is changed, one at a time."""
    _, values = small_example(VARIANTS[0].spec, tokens=3)
    chance, tried, found = random.Random(1), 0, 0
    for key, text in worked_lines(values, Notation(), most=9):
        sides = sides_of(text)[2:]
        for _, side, start in sides:
            digits = [at for at, sign in enumerate(side) if sign.isdigit()]
            at = start + chance.choice(digits)
            other = chance.choice([d for d in "0123456789" if d != text[at]])
            changed = f"{text[:at]}{other}{text[at + 1 :]}"
            try:
                lines = read_claims({key: changed}, values)
            except ReadError:
                continue
            tried += 1
            found += bool(check_lines(lines, values, {}))
    assert tried > 50
    assert found >= 0.95 * tried, (found, tried)


# ---- numbers ---------------------------------------------------------------------------------


def claimed(entry: str, number: Any, **policy: Any) -> str:
    """The verdict on one claim."""
    (found,) = verdicts(check(GIVEN, {entry: number}, **policy)).values()
    return found[0]


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("0,047", "right"),
        ("≈ 0.047", "right"),
        ("~0,05", "right"),
        ("4,7 %", "right"),
        ("4.74\u202f%", "right"),
        ("0.0474…", "right"),
        ("0.0475", "wrong"),
        ("4.74·10⁻²", "right"),
        ("4.74×10^-2", "right"),
        ("4,743 \\cdot 10^{-2}", "right"),
        ("4.75·10⁻²", "wrong"),
        ("-4.74e-2", "wrong"),
        ("1/(1+e^3)", "right"),
        ("½", "wrong"),
    ],
)
def test_numbers_however_they_are_spelled(number: str, verdict: str) -> None:
    found = claimed("weights[1,1]", number)
    assert (found == "right") is (verdict == "right")


@pytest.mark.parametrize("number", ["0.3333…", "0.333...", "0.33 …"])
def test_dots_say_that_the_digits_go_on(number: str) -> None:
    given = {"scores": [[0, 0, 0]], "V": [[2], [2], [2]]}
    assert verdicts(check(given, {"weights[1,1]": number})) == {"weights": ["right"]}
    cut = check({"scores": [[0, 0, 0, "ln 3"]]}, {"weights[1,1]": "0.16…"}, accept=[])
    assert verdicts(cut) == {"weights": ["right"]}
    plain = check({"scores": [[0, 0, 0, "ln 3"]]}, {"weights[1,1]": "0.16"}, accept=[])
    assert verdicts(plain) == {"weights": ["truncated"]}


def test_a_comma_is_what_the_sheet_shows() -> None:
    ten = {"scores": [[10, "10000"]]}
    with pytest.raises(ReadError) as caught:
        check(ten, {"scores[1,1]": "10,000"})
    assert "10,000 may be 10000" in str(caught.value)
    assert 'write 10000 or 10.000, or say decimal = ","' in str(caught.value)
    for sign, right in ((",", "scores[1,1]"), (".", "scores[1,2]")):
        assert verdicts(check(ten, {right: "10,000"}, decimal=sign)) == {"scores": ["right"]}
    shows = {"weights": [["0,00", "1,00"]], "scores[1,1]": "10,000"}
    assert verdicts(check(ten, shows))["scores"] == ["right"]
    shows = {"weights": [["0.00", "1.00"]], "scores[1,2]": "10,000"}
    assert verdicts(check(ten, shows))["scores"] == ["right"]
    with pytest.raises(ReadError, match=r"10,000 may be"):
        check(ten, {"weights": [["0.00", "1,00"]], "scores[1,2]": "10,000"})
    both = {"scores": [["10,00", "10.000"]], "weights[1,1]": "0,00"}
    assert verdicts(check(ten, both))["scores"] == ["right", "right"]


def test_where_the_decimal_sign_is_said() -> None:
    sheet = SHEET.replace("[given]", "[given]", 1) + '[claims]\n"scores[1,1]" = "5,000"\n'
    for text in ('decimal = ","\n' + sheet, sheet + '[policy]\ndecimal = ","\n'):
        assert check_worksheet(worksheet_of(text)).passed
    with pytest.raises(ReadError, match=r"decimal: is given twice"):
        worksheet_of('decimal = "."\n' + sheet + '[policy]\ndecimal = ","\n')
    with pytest.raises(ReadError, match=r'write decimal = "," or "\."'):
        worksheet_of(sheet + '[policy]\ndecimal = ";"\n')
    for table in ("attention", "notation", "claims", "given"):
        tables = dict.fromkeys(("attention", "notation", "claims"), "")
        tables |= {"given": "Q = [[1]]\nK = [[1]]\n"}
        tables[table] += 'decimal = ","\n'
        text = "".join(f"[{name}]\n{keys}" for name, keys in tables.items())
        with pytest.raises(ReadError, match=r"belongs in \[policy\]"):
            worksheet_of(text)


def test_what_is_given_may_have_commas() -> None:
    given = {"Q": [["0,5", "1½"]], "K": [[1, "2,25"]]}
    assert verdicts(check(given, {"scores": "3,875"}, decimal=",")) == {"scores": ["right"]}


# ---- keys ------------------------------------------------------------------------------------


def test_keys_count_from_0_where_the_sheet_does() -> None:
    sheet = SHEET + "[notation]\nindex_base = 0\n[claims]\n"
    marking = check_worksheet(
        worksheet_of(sheet + '"scores[0,1]" = 8\ns_00 = 5\n"K[0:1,1]" = [1, 4]')
    )
    assert marking.passed
    checked = check_text(sheet + '"scores[0,:]" = [5, 9]', "x.toml", explain=False)
    assert checked is not None
    assert [f.entry for f in checked.findings if not f.passes] == ["scores[0,1]"]
    for key, told in (
        ("scores[1,0]", "rows are 0 to 0 (index_base = 0)"),
        ("K[0:2,1]", "rows are 0 to 1"),
    ):
        with pytest.raises(ReadError, match=re.escape(told)):
            check_worksheet(worksheet_of(f'{sheet}"{key}" = 1'))
    with pytest.raises(ReadError, match="entry 0: "):
        check_worksheet(worksheet_of(f'{sheet}"scores[0,:]" = ["x", 1]'))


def test_notations_of_one_form_are_kept_apart() -> None:
    for base in (0, 1, 0):
        sheet = f'{SHEET}[notation]\nindex_base = {base}\n[claims]\n"scores[{base},{base}]" = 5\n'
        assert check_worksheet(worksheet_of(sheet)).passed


# ---- e^z or e^(z − max) ----------------------------------------------------------------------

ROWS = {"scores": [[1, 2, 0], [0, 3, 3]]}
PLAIN = [["2.72", "7.39", "1.00"], ["1.00", "20.09", "20.09"]]
SHIFTED = [["0.37", "1.00", "0.14"], ["0.05", "1", "1.00"]]


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": PLAIN},
        {"exp": SHIFTED},
        {"exp[1,:]": SHIFTED[0]},
        {"exp[2]": SHIFTED[1]},
        {"exp": SHIFTED, "exp_sum": [["1.50"], ["2.05"]]},
        {"exp": PLAIN, "exp_sum[1]": "11.11"},
        {"exp_sum[1]": "11.11"},
        {"exp[1,3]": "1.00"},
        {"exp[1,:]": ["0,37", "1,00", "≈0,14"]},
        {"exp": SHIFTED, "row_max": [["2"], ["3"]]},
        {"exp[1,:]": ["e^(1-2) = 0.37", "1", "e^-2 = 0.14"]},
    ],
    ids=str,
)
def test_the_numbers_say_whether_the_maximum_was_taken_off(claims: dict[str, Any]) -> None:
    marking = check(ROWS, claims)
    assert {entry.verdict for entry in marking.entries} == {"right"}


def test_one_wrong_exponential_does_not_turn_the_others() -> None:
    wrong = [["0.37", "1.00", "0.15"], ["0.05", "1", "1.00"]]
    assert verdicts(check(ROWS, {"exp": wrong}))["exp"].count("right") == 5
    wrong = [["2.72", "7.38", "1.00"], ["1.00", "20.09", "20.09"]]
    assert verdicts(check(ROWS, {"exp": wrong}))["exp"].count("right") == 5


# ---- worked lines ----------------------------------------------------------------------------


def told(marking: Marking) -> list[str]:
    """What is said of the signs that do not hold."""
    return [link.message for link in marking.lines]


HOLD = (
    ("scores[1,2]", "1·0 + 2·4 = 8"),
    ("scores[1,2]", "s_12 = 1·0 + 2·4 = 8"),
    ("scores[1,2]", "s_{12} = q_1 k_2^T = 1\\cdot 0 + 2\\cdot 4 = 8"),
    ("scores[1,2]", "2*4 = 8"),
    ("scores[1,2]", "0·1 + 4×2 = 0 + 8 = 8"),
    ("scores[1,2]", "= 1·0 + 2·4"),
    ("scores[1,1]", "(1)(3) + (2)(1) = 3 + 2 = 5"),
    ("weights[1,1]", "e^5/(e^5+e^8) = 148.41/(148.41+2980.96) = 148.41/3129.37 ≈ 0.0474"),
    ("weights[1,1]", "\\frac{e^5}{e^5+e^8} = \\frac{1}{1+e^3} \\approx 4,7 \\%"),
    ("weights[1,1]", "a_11 = 1/(1+e^3) = 1/(1+20.1) = 0.0474"),
    ("weights[1,1]", "1/21.0855 = 0.0474"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 2981/3129 ≈ 0.953"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 2981/(148+2981) = 2981/3129 ≈ 0.953"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 2981/3129 ≈ 0.9526"),  # 0.9527 as printed
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 2.98·10^3/(3.13·10^3) ≈ 0.953"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 1/1.05 ≈ 0.953"),
    ("weights[1,1]", "e^(s_11)/(e^(s_11) + 0) = e^5/(e^5 + e^8) = 0.0474"),
    ("output[1,1]", "0.0474·1 + 0.9526·3 = 2.905"),
    ("output[1,1]", "0.05·1 + 0.95·3 = 2.90"),
    ("output[1,1]", "0.0474 + 2.8577 = 2.905"),
)
FALSE = (
    ("scores[1,2]", "1·0 + 2·4 = 9", "worked line of scores[1,2]: 1·0 + 2·4 is 8, not 9"),
    ("scores[1,2]", "1·0 + 2·4 = 0 + 7 = 8", "scores[1,2]: 1·0 + 2·4 is 8, not 0 + 7"),
    ("scores[1,2]", "7 = 8", "scores[1,2]: 7 is 7, not 8"),
    ("scores[1,2]", "1·1 + 2·4 = 9", "the term 1·1 should be 1·0 (q_11·k_21)"),
    ("scores[1,1]", "1·3 = 3", "the term 2·1 (q_12·k_12) is missing"),
    ("scores[1,1]", "1·1 + 2·3 = 7", "the term 1·1 should be 1·3 (q_11·k_11)"),
    ("scores[1,1]", "1·3 + 2·1 + 1·1 = 6", "1·1 is one term too many"),
    ("weights[1,2]", "e^8/(e^5+e^8) = 2981/3129 ≈ 0.953", "not 2981/3129"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 2980/3129 ≈ 0.953", "not 2980/3129, which is 0.952381"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 2981/3129 ≈ 0.954", "2981/3129 is 0.95270, not 0.954"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 2.99·10^3/(3.13·10^3) ≈ 0.953", "not 2.99·10^3/(3.13·10^3)"),
    ("weights[1,2]", "e^8/(e^5+e^8) ≈ 1/1.07 ≈ 0.953", "not 1/1.07"),
    ("weights[1,1]", "148.41/3129.37 = 0.0484", "148.41/3129.37 is 0.047425, not 0.0484"),
    ("weights[1,1]", "e^5/(e^5+e^8) = 148.41/3129.47 = 0.0474", "not 148.41/3129.47, which is"),
    ("weights[1,1]", "1/(1+e^3) = 1/(1+e^2) = 0.0474", "not 1/(1+e^2)"),
    ("output[1,1]", "0.0474·1 + 0.9526·4 = 3.858", "the term 0.9526·4 should be 0.9526·3"),
)


@pytest.mark.parametrize(("entry", "text"), HOLD, ids=lambda value: value[:40])
def test_lines_that_hold(entry: str, text: str) -> None:
    marking = check(GIVEN, {entry: text})
    assert told(marking) == []
    assert marking.passed


@pytest.mark.parametrize(("entry", "text", "words"), FALSE, ids=lambda value: value[:40])
def test_the_first_false_sign_is_named(entry: str, text: str, words: str) -> None:
    marking = check(GIVEN, {entry: text})
    assert words in told(marking)[0]
    assert told(marking)[0].startswith(f"worked line of {entry}: ")
    assert not marking.passed


#: How attention is calculated in these lines, and from what.
UNSCALED: dict[str, Any] = {"scale": False}
CHOICES: dict[str, dict[str, Any]] = {
    "plain": UNSCALED,
    "scaled": {},
    "causal": {**UNSCALED, "mask": "causal"},
    "capped": {**UNSCALED, "soft_cap": 2},
    "unfolded": {**UNSCALED, "unfold": "plain"},
}
OF_CHOICES: tuple[tuple[str, str, str, str], ...] = (
    ("causal", "masked[1,2]", "8 - inf = -inf", ""),
    ("causal", "masked[1,2]", "8 + (-inf) = -∞ = -∞", ""),
    ("causal", "weights[1,2]", "e^(-inf)/(e^5 + e^(-inf)) = 0/148.41 = 0", ""),
    ("causal", "weights[1,1]", "e^5/(e^5 + e^(-inf)) = 148.41/(148.41 + 0) = 1", ""),
    ("capped", "capped[1,1]", "2·tanh(5/2) = 2·tanh(2.5) = 2·0.98661 = 1.9732", ""),
    ("capped", "capped[1,1]", "2 tanh(5/2) = 2·0.99 = 1.97", ""),
    ("capped", "capped[1,1]", "2·tanh(2.50) = 2·0.987 = 1.973", ""),
    ("scaled", "scaled[1,1]", "5/sqrt(2) = 5/1.41 = 3.536", ""),
    ("scaled", "scaled[1,1]", "5·2^(-1/2) = 5·0.707 = 3.5355", ""),
    ("unfolded", "exp_sum[1]", "e^5 + e^8 = 148.41 + 2980.96 = 3129.37", ""),
    ("unfolded", "exp_sum[1]", "148.413 + 2980.96 = 3129.37", ""),
    ("plain", "output[1,1]", "0.05·1 + 0.95·3 = 0.0474 + 2.8577 = 2.905", ""),
    ("plain", "output[1,1]", "-0.05·(-1) + 0.95·3 = 0.05 + 2.86 = 2.905", ""),
    ("plain", "output[1,1]", "0.04·1 + 0.95·3 = 2.89", ""),
    ("plain", "output[1,1]", "(0.05·1 + 0.95·3)/1 = 2.90", ""),
    ("plain", "weights[1,1]", "148.4/3129.4 = 148.41/3129.37 = 0.0474", ""),
    ("plain", "weights[1,1]", "1/(1+20.09) = 1/(1 + e^3) = 0.0474", ""),
    ("plain", "weights[1,1]", "0.05 = e^5/(e^5+e^8) = 0.0474", ""),
    ("plain", "scores[1,1]", "1·3 + 2·1 = 5.0", ""),
    ("plain", "scores[1,1]", "1·3 - 2·(-1) = 5", ""),
    ("plain", "scores[1,1]", "-(1)(-3) + 2·1 = 5", ""),
    ("plain", "scores[1,1]", "1.0·3.0 + 2·1 = 5", ""),
    ("plain", "scores[1,1]", "(1·3 + 2·1)/1 = 5", ""),
    ("plain", "weights[1,2]", "1 - 0.0474 = 0.9526", ""),
    ("plain", "weights[1,2]", "exp(8 - 8)/(exp(5-8)+exp(8-8)) = 1/(0.0498+1) = 0.9526", ""),
    ("causal", "masked[1,2]", "-inf = 8", "-inf is −∞, not 8"),
    ("causal", "masked[1,2]", "8 - inf = 8", "8 - inf is −∞, not 8"),
    ("causal", "masked[1,2]", "8 - inf = 8.0", "8 - inf is −∞, not 8.0"),
    (
        "capped",
        "capped[1,1]",
        "2·tanh(5/2) = 2·tanh(2.5) = 2·0.9766 = 1.9532",
        "2·tanh(2.5) is 1.973229, not 2·0.9766, which is 1.9532",
    ),
    (
        "scaled",
        "scaled[1,1]",
        "5/sqrt(2) = 5/1.42 = 3.536",
        "5/sqrt(2) is 3.535534, not 5/1.42, which is 3.521127",
    ),
    ("scaled", "scaled[1,1]", "5/√2 = 3.53", "5/√2 is 3.5355; 3.53 is cut off"),
    (
        "unfolded",
        "exp[1,1]",
        "e^5 = 2.718^5 = 148.41",
        "e^5 is 148.413159, not 2.718^5, which is 148.336238",
    ),
    (
        "unfolded",
        "exp[1,1]",
        "e^5 = 2.72^5 = 148.41",
        "e^5 is 148.413159, not 2.72^5, which is 148.882797",
    ),
    (
        "plain",
        "weights[1,1]",
        "0.0500 = e^5/(e^5+e^8) = 0.0474",
        "0.0500 is 0.05, not e^5/(e^5+e^8)",
    ),
    ("plain", "scores[1,1]", "1·3 + 2·1 = 5 = 4", "5 is 5, not 4"),
)


@pytest.mark.parametrize(
    ("choice", "entry", "text", "words"), OF_CHOICES, ids=lambda value: value[:40]
)
def test_lines_of_other_choices(choice: str, entry: str, text: str, words: str) -> None:
    """−∞, functions, roots, powers, signs, and decimals made from decimals."""
    given = {**GIVEN, "Q": [[1, 2], [2, 1]]} if choice == "causal" else GIVEN
    marking = check(given, {entry: text}, CHOICES[choice])
    assert told(marking) == ([f"worked line of {entry}: {words}"] if words else [])
    assert marking.passed is (not words or "cut off" in words)


def test_a_number_cut_off_is_said_and_let_pass() -> None:
    text = "148.41/3129.37 = 0.04742 = 0.0474 = 0.047"
    assert told(check(GIVEN, {"weights[1,1]": text})) == []
    marking = check(GIVEN, {"weights[1,1]": "1/21.0855 = 0.04743 = 0.0474"})
    assert told(marking) == []
    cut = check(GIVEN, {"weights[1,2]": "20.0855/21.0855 = 0.9525"})
    assert told(cut) == [
        "worked line of weights[1,2]: 20.0855/21.0855 is 0.952574; 0.9525 is cut off"
    ]
    assert cut.passed
    assert not check(GIVEN, {"weights[1,2]": "20.0855/21.0855 = 0.9525"}, accept=[]).passed


def test_terms_may_be_those_that_were_claimed() -> None:
    claims = {"weights": [["0.06", "0.94"]], "output[1,1]": "0.06·1 + 0.94·3 = 2.88"}
    assert told(check(GIVEN, claims)) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1·0 + 2·4 =", "a side of the equation is empty"),
        ("1·0 = = 8", "a side of the equation is empty"),
        ("s_11 = 1·3 + 2·1 = 5", "is another entry"),
        ("l·0 + 2·4 = 8", '"l" is not part of a number'),
        ("1·0 + 2·4 = ?", "stands where a number belongs"),
        ("2.0·4 = 8.0/1.0", "write its value after it"),
        ("q·k = s", "is not a number"),
        ("1 = " * 30 + "1", "sides are too many"),
        ("1+" * 1500 + "1 = 2", "characters are too many"),
        ("1·0 + 2·4 = eight", "eight"),
    ],
    ids=lambda value: value[:20],
)
def test_lines_that_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(ReadError) as caught:
        check(GIVEN, {"scores[1,2]": text})
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


# ---- in pages --------------------------------------------------------------------------------

PAGE = {
    ".md": f"```symattn\n{SHEET}```\n\n",
    ".rst": ".. symattn::\n\n   " + SHEET.replace("\n", "\n   ").rstrip() + "\n\n",
    ".tex": f"\\begin{{symattn}}\n{SHEET}\\end{{symattn}}\n\n",
}
IN_PAGES = (
    (".md", "{claim}`s_12 = 1·0 + 2·4 = 9`"),
    (".md", "{claim}`$s_{12} = 1\\cdot 0 + 2\\cdot 4 = 9$`"),
    (".md", "<!-- claim -->\n$$s_{12} = 1\\cdot 0 + 2\\cdot 4 = 9$$\n\n$$s_{11} = 3$$"),
    (".md", "<!-- claim -->\n- s_12 = 1·0 + 2·4 = 9\n"),
    (".md", "<!-- claim -->\n\n> s_12 = 1·0 + 2·4 = 9."),
    (
        ".md",
        "<!-- claim -->\n"
        "$$\\begin{aligned} s_{12} &= 1\\cdot 0 + 2\\cdot 4 \\\\ &= 9. \\end{aligned}$$",
    ),
    (".rst", ":claim:`scores[1,2] = 1·0 + 2·4 = 9`"),
    (".rst", ".. claim\n\ns_12 = 1·0 + 2·4 = 9\n\ns_11 = 1\n"),
    (".rst", ".. claim\n\n.. math::\n\n   s_{12} = 1\\cdot 0 + 2\\cdot 4 = 9\n\nMore."),
    (".tex", "$s_{12} = \\claim{s_{12}}{1\\cdot 0 + 2\\cdot 4 = 9}$"),
    (
        ".tex",
        "% claim\n\\begin{align*}\n"
        "s_{12} &= 1\\cdot 0 + 2\\cdot 4 = 9 \\\\\n\\end{align*}\n\nMore.",
    ),
)


@pytest.mark.parametrize(("suffix", "text"), IN_PAGES, ids=lambda value: value[:30])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_worked_lines_in_pages(suffix: str, text: str, end: str) -> None:
    page = (PAGE[suffix] + text).replace("\n", end)
    checked = check_text(page, f"page{suffix}", explain=False)
    assert checked is not None
    (finding,) = checked.findings
    assert (finding.entry, finding.claimed, finding.verdict) == ("scores[1,2]", "9", "wrong")
    (link,) = checked.signs
    assert link.message.endswith(" is 8, not 9")
    assert link.line in (finding.line, finding.line - 1)  # where it begins
    assert checked.corrected() == page[: finding.start] + "8" + page[finding.start + 1 :]
    again = check_text(checked.corrected(), f"page{suffix}", explain=False)
    assert again is not None
    assert again.passes


@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        (".md", "<!-- claim -->\n\n", "no line or formula"),
        (".md", "<!-- claim -->\nS is 8.", "is not a claim"),
        (".md", "<!-- claim -->\n$s_{12} = 8$ and $d_k$", "is not a claim"),
        (".rst", ".. claim\n", "no line or"),
        (".tex", "% claim\n\n", "no line or formula"),
        (".md", "{claim}`s_13 = 8`", "no column 3: columns are 1 to 2"),
        (".md", "{claim}`s_123 = 8`", "is not a known step"),
        (".md", "{claim}`j_12 = 8`", "has no such step"),
    ],
    ids=str,
)
def test_marked_lines_that_are_none(suffix: str, text: str, words: str) -> None:
    try:
        checked = check_text(PAGE[suffix] + text, f"page{suffix}", explain=False)
    except SymattnError as error:
        told = str(error)
    else:  # another claim could be marked
        assert checked is not None
        (told,) = checked.problems
    assert words in told and told.startswith(f"page{suffix}:")


# ---- put right -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "mended"),
    [
        ("0,670", "0,047"),
        ("≈0.33", "≈0.05"),
        ("~ 0,33", "~ 0,05"),
        ("33 %", "5 %"),
        ("33,3 %", "4,7 %"),
        ("33.33\u202f%", "4.74\u202f%"),
        ("−33 %", "5 %"),
        ("3.3·10⁻²", "4.7·10⁻²"),
        ("−.5", "0.0"),
        ("3,30×10^-1", "0,47×10^-1"),
        ("0.5…", "0.0…"),
        ("0.044...", "0.047..."),
        ("= 0.5", "= 0.0"),
        ("$0.50$", "$0.05$"),
        ("1,234.56", "0.05"),
        ("1/2+0.0 = 0.5", None),
        ("½", None),
    ],
)
def test_numbers_are_put_right_in_the_form_found(claim: str, mended: str | None) -> None:
    text = f'{SHEET}[claims]\n"weights[1,1]" = "{claim}" # {claim}\n'
    checked: CheckedFile | None = check_text(text, "a.toml", explain=False)
    assert checked is not None
    wanted = text if mended is None else text.replace(f'"{claim}"', f'"{mended}"')
    assert checked.corrected() == wanted


# ---- the worked lines that derive prints -----------------------------------------------------

TWO_KEYS = {"Q": [[1, 0], [2, -1]], "K": [[1, 2], [0, 1]], "V": [[1, 4], [2, -3]]}


@pytest.mark.parametrize(
    ("line_", "attention", "verdict"),
    [
        ("ρ_11 ≈ max(0.7071, 0) ≈ 0.7071", {}, "right"),
        ("ρ_11 = max(1/√2, 0) = 1/√2", {}, "right"),
        (r"ρ_11 = \max\{0.71; 0\} = 0.71", {}, "right"),
        ("ρ_11 = max(0,71, 0) = 0,71", {}, "right"),
        ("ρ_11 = max(0.7071, −∞) = 0.71", {"mask": "causal"}, "right"),
        ("ρ_11 ≈ max(0.5, 0) ≈ 0.5", {}, "wrong"),
        ("f_11 = e^(1/√2 − 1/√2) = e⁰ = 1", {"unfold": True}, "right"),
        ("f_12 = e^(0 − 0.7071) ≈ 0.4931", {"unfold": True}, "right"),
        ("ζ_11 ≈ 1 + 0.4931 ≈ 1.4931", {"unfold": True}, "right"),
        ("f_11 = e^0.7071 ≈ 2.0281", {"unfold": True}, "right"),
        ("ζ_11 ≈ 2.0281 + 1 ≈ 3.0281", {"unfold": True}, "right"),
        ("f_11 = e^(0.7071 − 0.7071) = 2", {"unfold": True}, "wrong"),
        ("g_11 = z_11 = 0.71", {"mask": "causal"}, "right"),
    ],
)
def test_lines_of_the_unfolded_softmax(line_: str, attention: dict[str, Any], verdict: str) -> None:
    key, _, rest = line_.partition(" ")
    found = check(TWO_KEYS, {key: rest}, attention)
    (entry,) = found.entries
    assert entry.verdict == verdict
    assert found.passed is (verdict == "right")


@pytest.mark.parametrize(
    "notation", [Notation(), Notation(convention="columns", index_base=0)], ids=["1", "0"]
)
def test_an_entry_may_begin_with_the_one_that_it_is(notation: Notation) -> None:
    """A joined head's entry is an entry of the heads; any other entry there is refused."""
    source = (
        "[given]\nX = [[1, 0, 2, 1], [0, 3, 1, -1]]\n"
        "W_Q = [[1, 0, 1, 2], [0, 1, -1, 0], [1, 1, 0, 1], [0, 2, 1, 0]]\n"
        "W_K = [[1, 1, 0, 1], [0, 1, 2, 0], [1, 0, 0, 1], [0, 1, 1, 0]]\n"
        "W_V = [[1, 0, 1, 2], [2, 1, -1, 0], [1, 1, 0, 1], [0, 2, 1, 3]]\n[attention]\nheads = 2\n"
        f'[notation]\nconvention = "{notation.convention}"\nindex_base = {notation.index_base}\n'
    )
    values = check_worksheet(
        worksheet_of(source + f"[claims]\nh_{'1' if notation.index_base else '0'}1 = 0\n")
    ).evaluation
    item = values["concat"]
    assert isinstance(item.step, Step)
    row, column = counted_place((0, 3), notation)
    words = line(item.worked(row, column))
    key, _, rest = " ".join(words.split()).partition(" ")
    assert rest.startswith("= o_")
    sheet = worksheet_of(f'{source}[claims]\n{key} = "{rest}"\n')
    assert check_worksheet(sheet).passed
    other = rest.replace("= o_", "= a_", 1)
    with pytest.raises(ReadError, match="is another entry"):
        check_worksheet(worksheet_of(f'{source}[claims]\n{key} = "{other}"\n'))


# ---- lines that name no entry, entries that are claimed twice, what is said of them -----------

SCALED = "```symattn\n[given]\nQ = [[1, 0], [2, -1]]\nK = [[1, 2], [0, 1]]\n```\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{claim}`2.028/3.028 = 0.670`", []),
        ("{claim}`2.028/3.028 = 0.680`", ["worked line: 2.028/3.028 is 0.66975, not 0.680"]),
        ("<!-- claim -->\n$$\\frac{2.028}{3.028} = 0.670$$", []),
        ("<!-- claim -->\n$$1\\cdot 2 + 3 = 6$$", ["worked line: 1·2 + 3 is 5, not 6"]),
        (
            "<!-- claim -->\n$$\\kappa_{11} = \\frac{2}{3} = 0.68$$",
            ["worked line: 2/3 is 0.6667, not 0.68"],
        ),
        ("{claim}`\\beta_{11} = 2/4 = 0.5`", []),
    ],
)
def test_a_line_that_names_no_entry_is_checked(text: str, told: list[str]) -> None:
    """And the page's other numbers are reported."""
    checked = check_text(f"{SCALED}{text}\n\nIt is {{claim}}`a_11 = 0.4`.\n", "a.md", explain=False)
    assert checked is not None
    assert [link.message for link in checked.signs] == told
    assert [(one.entry, one.verdict) for one in checked.findings] == [("weights[1,1]", "wrong")]
    alone = check_text(f"{SCALED}{text}\n", "a.md", explain=False)
    assert alone is not None
    assert alone.passes is (not told)
    assert text_overview(Overview((alone.reported(),)))


def test_an_entry_that_is_claimed_twice_counts_twice() -> None:
    page = f"{SCALED}{{claim}}`z_11 = 0.707`, {{claim}}`z_11 = 0.5` and {{claim}}`z_11 = 0.707`\n"
    checked = check_text(page, "a.md", explain=False)
    assert checked is not None
    found = checked.reported()
    (only,) = found.reports
    assert found.counts == {"right": 2, "wrong": 1}
    assert only.first is not None
    assert "you wrote 0.5" in only.first.sentence
    assert only.steps[0].tables[0].rows[0].cells[0].text == "0.5"
    assert [entry.claimed for entry in only.steps[0].failing] == ["0.5"]


@pytest.mark.parametrize(
    ("claim", "decimal", "said"),
    [
        ("1.689", ",", "you wrote 1.689, read as 1689, but"),
        ("1.234,5", ",", "you wrote 1.234,5, read as 1234.5, but"),
        ("1,689", ".", "you wrote 1,689, read as 1689, but"),
        ("16,89", ",", "you wrote 16,89, but"),
        ("16.89", ".", "you wrote 16.89, but"),
        (r"33\\%", ".", "you wrote 33%, but"),
    ],
)
def test_a_sentence_says_how_a_number_was_read(claim: str, decimal: str, said: str) -> None:
    sheet = f'decimal = "{decimal}"\n{SHEET}[claims]\n"scores[1,2]" = "{claim}"\n'
    first = report_of(check_worksheet(worksheet_of(sheet))).first
    assert first is not None
    assert said in first.sentence
