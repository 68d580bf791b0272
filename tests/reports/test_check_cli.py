"""``symattn check``: published calculations, exit status, formats, and what is no input."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import symattn
from symattn.errors import SymattnError
from tests import within_seconds
from tests.checking import toml
from tests.command import assert_refused, put, run
from tests.reports.test_published import ONE_ROW, PUBLISHED, worksheet

SECONDS = 5.0

CLAIMED = [name for name, example in PUBLISHED.items() if "claims" in example]

#: What the published mistakes come from, where that is known.
REASONS = {
    "c3_lesson_w3": "invented",
    "ilovecats_doubly_normalised": "invented",
    "seed_broadcast_rowsum": "row-sums-along-columns",
    "seed_softmax_fabricated": "invented",
}

GIVEN = {"scores": [[0, 0, 0], [1, 2, 3]], "V": [[1], [2], [3]]}
RIGHT = toml(GIVEN, {"weights[1,1]": "0.33"})
WRONG = toml(GIVEN, {"weights[1,1]": "0.43", "output": [["2.00"], ["2.58"]]})


def check(text: str | bytes, *options: str) -> Result:
    with within_seconds(SECONDS):
        return run("check", "-", *options, given=text)


def as_json(text: str) -> dict[str, Any]:
    result = check(text, "--format", "json")
    assert result.exit_code in (0, 1), result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["passes"] is (result.exit_code == 0)
    return found


@pytest.mark.parametrize("name", CLAIMED)
def test_published_calculations(name: str) -> None:
    example = PUBLISHED[name]
    text = f"{worksheet(example)}\n[claims]\n" + "".join(
        f'"{key}" = {json.dumps(value)}\n' for key, value in example["claims"].items()
    )
    found = as_json(text)
    assert {step: marks["verdict"] for step, marks in found["steps"].items()} == example["verdicts"]
    for step, marks in found["steps"].items():
        rows = example["truth"].get(step)
        for entry in marks["entries"] if rows is not None else ():
            row, *rest = (i - 1 for i in entry["index"])
            truth = rows[0 if name in ONE_ROW and len(rows) == 1 else row]
            for i in rest:
                truth = truth[i]
            shown = float(entry["true"].removesuffix("?"))
            assert shown == pytest.approx(
                float(truth), abs=10.0 ** -len(entry["true"].split(".")[-1])
            )
    names = [explanation["name"] for explanation in found["explanations"]]
    assert names[:1] == [REASONS[name]] if name in REASONS else names == []


def test_all_published_ones_with_numbers_are_there() -> None:
    assert len(PUBLISHED) == 17
    assert set(PUBLISHED) - set(CLAIMED) == {"seed_it_cat_mat"}  # compares, and prints no number


def test_no_explain() -> None:
    text = toml({"Q": [[1, 2]], "K": [[2, 1], [1, 1]]}, {"scaled": [["4", "3"]]}, {})
    assert "not-scaled" in check(text).stdout
    assert "not-scaled" not in check(text, "--no-explain").stdout


def test_a_file_that_cannot_be_used_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[given]\nscores = [[1, \n", "utf-8")
    (tmp_path / "b.toml").write_text(WRONG, "utf-8")
    (tmp_path / "c.md").write_bytes(b"```symattn\n\xff")
    (tmp_path / "d.toml").symlink_to(tmp_path / "none")
    (tmp_path / "e.toml").write_text(RIGHT, "utf-8")
    told = [f"{tmp_path}/a.toml:", f"{tmp_path}/c.md:2: not UTF-8", f"{tmp_path}/d.toml: cannot be"]

    def checked(*options: str) -> Result:
        result = run("check", str(tmp_path), *options, status=2)
        lines = result.stderr.splitlines()
        assert len(lines) == 3
        assert all(
            line.startswith(f"symattn: {start}") for line, start in zip(lines, told, strict=True)
        )
        return result

    lines = checked().stdout.splitlines()
    assert f"{tmp_path}/b.toml:7:19: weights[1,1]: you wrote 0.43" in "\n".join(lines)
    assert lines[-1].startswith("2 files, 4 numbers: ")
    assert lines[-1].endswith("; 3 files could not be used")
    data = json.loads(checked("--format", "json").stdout)
    assert (len(data["files"]), len(data["problems"]), data["passes"]) == (2, 3, False)
    for form in ("html", "md"):
        report = checked("--format", form, "-o", str(tmp_path / "report.txt"))
        assert report.stdout == ""
        page = (tmp_path / "report.txt").read_text("utf-8")
        assert "Could not be used" in page and "not UTF-8 text" in page
    assert checked("--fix").stdout == "1 number corrected\n"
    assert "0.43" not in (tmp_path / "b.toml").read_text("utf-8")
    named = run("check", *map(str, (tmp_path / "a.toml", tmp_path / "e.toml")))
    assert (named.exit_code, named.stdout.splitlines()[-1][:18]) == (2, "1 file, 1 number: ")


def test_a_folder_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "open.toml").write_text(RIGHT, "utf-8")
    scan = os.scandir

    def scandir(path: Any) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = run("check", str(tmp_path), status=2)
    assert result.stderr == f"symattn: {tmp_path}/closed: cannot be read: permission denied\n"
    assert result.stdout.startswith("1 file, 1 number: 1 right")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[gven]\nQ = [[1, 0]]\n", 'a.toml:1: "gven" is not a known key; did you mean "given"?'),
        ("title = 'a'\n[clams]\n", 'a.toml:2: "clams" is not a known key; did you mean "claims"?'),
        ("[given]\nscores = [[0]]\n", "a.toml: no claims; add a table [claims]"),
        ("", "a.toml: no claims; add a table [claims]"),
    ],
)
def test_an_unknown_table_is_said_before_missing_claims(
    tmp_path: Path, text: str, said: str
) -> None:
    path = put(tmp_path / "a.toml", text)
    result = run("check", str(path), status=2)
    assert said in result.stderr
    with pytest.raises(SymattnError) as raised:
        symattn.check(path)
    assert said in str(raised.value)


def test_files_without_claims(tmp_path: Path) -> None:
    path = put(tmp_path / "a.md", "Nothing.\n")
    result = run("check", str(path), status=2)
    assert "no claims" in result.stderr
    assert run("check", "--if-any", str(path)).exit_code == 0
    assert run("check", str(tmp_path)).exit_code == 0


def test_a_page_may_hold_long_sentences_and_a_notebook_pictures() -> None:
    """What bounds the keys of TOML has no say in prose."""
    from symattn.pages.checked import check_text

    prose = "We say this. Then that. " * 40 + "{claim}\n"
    assert check_text(prose, "x.md") is None
    picture = {"cells": [{"cell_type": "code", "outputs": ["M 1.5 2.5 L 3.5 " * 40]}], "x": "claim"}
    assert check_text(json.dumps(picture), "x.ipynb") is None


# ---- hostile input ------------------------------------------------------------------------------

ENTRIES = (
    "9^9^9^9",
    "1e20000000",
    "1e401",
    "(" * 300 + "1" + ")" * 300,
    "(" * 60 + "1" + ")" * 60,
    "٣",
    "１",
    "1_0",
    "sNaN",
    "NaN",
    "Infinity",
    "1/0",
    "0x10",
    "1,500",
    "--",
    "1e",
    "__import__('os')",
    "𝟑",
    "≈ ½",
    "1" * 201,
    "0." + "1" * 121,
    "e^e^e^e",
    "2^2^2^2^2^2^2",
    "sqrt(-1)",
    "ln(0)",
    "(1-1)^-1",
)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: ascii(entry[:12]))
def test_hostile_numbers_are_one_line(entry: str) -> None:
    assert_refused(check(toml(GIVEN, {"weights[1,1]": entry})), "<stdin>:7: weights[1,1]: ")


#: Numbers at the bounds are marked, not refused, and no float is too small for them.
@pytest.mark.parametrize(
    "entry",
    [
        "1e400",
        "-1e399",
        "1e-400",
        "1e350",
        "0." + "3" * 120,
        "e^-400",
        "exp(exp(6))",
        "1/3+10^-399",
        "(" * 19 + "1" + ")" * 19,
        "sqrt(sqrt(2))",
        "1e000000005",
        "10^-400",
        "2^400",
    ],
    ids=lambda entry: entry[:12],
)
def test_numbers_at_the_bounds_are_marked(entry: str) -> None:
    claims = {"weights[1,:]": [entry, "0.33", "0.33"], "output[1,1]": entry}
    result = check(toml(GIVEN, claims))
    assert result.exit_code == 1, result.output
    assert "weights" in result.stdout


SHEETS = {
    "inline table": 'claims = {"weights[1,1]" = "0.4"}\n[given]\nscores = [[0, 0]]\n',
    "dotted": 'claims."weights[1,1]" = "0.4"\n[given]\nscores = [[0, 0]]\n',
    "quoted header": '[given]\nscores = [[0, 0]]\n["claims"]\n"weights\\u005b1,1]" = "0.4"\n',
    "long string": '[given]\nscores = [[0, 0]]\n[claims]\nweights = ["""0.4""", "?"]\n',
    "minus infinity": "[given]\nscores = [[0, 0]]\n[claims]\nweights = [-inf, 1_0.5]\n",
}


@pytest.mark.parametrize("name", SHEETS)
def test_any_form_of_toml_is_marked(name: str) -> None:
    result = check("attention = {scale = false}\n" + SHEETS[name])
    assert result.exit_code == 1, result.output


TEXTS: dict[str, str | bytes] = {
    "deep brackets": "[claims]\nweights = " + "[" * 100_000,
    "deep brackets that close": f"{RIGHT}\nscores = {'[' * 500}{']' * 500}",
    "deep tables": "[claims]\n" + "a." * 5000 + "a = 1",
    "tiny decimal": f"{RIGHT}\nscores = 1e-99999999999999999999999",
    "huge decimal": f"{RIGHT}\nscores = [1e99999999999999999999999]",
    "many digits": f"{RIGHT}\nscores = {'9' * 100_000}",
    "nan": f'{RIGHT}\n"weights[1,2]" = nan',
    "inf": f'{RIGHT}\n"weights[1,2]" = inf',
    "date": f'{RIGHT}\n"weights[1,2]" = 1979-05-27',
    "table": f'{RIGHT}\n"weights[1,2]" = {{a = 1}}',
    "array of tables": toml(GIVEN, {}) + "[[claims]]\nweights = 1\n",
    "string": 'claims = "x"\n' + toml(GIVEN, {}),
    "too large": b" " * 2_000_001,
    "not text": b"\xff\xfe",
    "policy": f"{RIGHT}[policy]\nrounding = [[1]]",
    "unknown policy": f"{RIGHT}[policy]\nround = 1",
    "accept": f"{RIGHT}[policy]\naccept = [[1], {{a = 1}}]",
    "long key": f'{RIGHT}\n"weights[{"1" * 100_000},1]" = 1',
    "many keys": f"{RIGHT}\n" + "".join(f'"weights[1,{i}]" = 1\n' for i in range(9, 9999)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_worksheets_are_one_line(name: str) -> None:
    assert_refused(check(TEXTS[name]), "<stdin>")


def big(piece: str, size: int = 500_000) -> str:
    return (piece * (size // len(piece) + 1))[:size]


PAGES = {
    ".md": [
        *map(
            big,
            (
                "`` ` ",
                "`a\n",
                "<!--",
                "<!-- -",
                "{claim}`",
                "{claim}`x\n\n",
                ">",
                "> ",
                "- ",
                "[",
                "[a](",
                "*a_",
                "<a ",
                "[a]: b\n",
                "```symattn\n",
                "\n",
                "a\n=\n",
                "a\r",
                "&#",
                "\\",
                "\\`",
                "| ",
                "<!-- claim -->",
                "<!-- claim -->\n\n",
                "<!-- claim -->$a",
                "<!-- claim -->\\begin{align}",
            ),
        ),
        " ".join("`" * i for i in range(1, 1000)),
        "{claim}`weights[1,1] =" + " " * 500_000 + "`",
        "{claim}`w" + big("[1]") + "`",
        "{claim}`" + big("w[") + "`",
        "```symattn\n" + big(":a: \n"),
    ],
    ".rst": [
        *map(
            big,
            (
                "``a",
                "`` a\n\n",
                ":claim:`",
                ":claim:`x",
                "::",
                "a::\n",
                ".. symattn::\n",
                ".. symattn::\n [given]\n",
                ".. ",
                " ",
                "\t",
                ".. symattn::\n\n\n",
                "`",
                "``\n",
                ".. claim\n",
                ".. claim\n\n",
                ".. claim\n\n.. math::\n\n",
            ),
        ),
        "\n".join(" " * i + ".. symattn::" for i in range(1000)),
        "\n".join(" " * i + "::" for i in range(1000)),
        ".. symattn::\n" + big("   :a: b\n"),
    ],
    ".tex": [
        *map(
            big,
            (
                "\\begin{verbatim}",
                "\\begin{verbatim*}\\begin{minted}",
                "\\verb",
                "\\begin{symattn}\n",
                "\\begin{symattn}" + " " * 999,
                "\\claim{",
                "% claim\n",
                "% claim\n\n$$",
                "\\claim{{}",
                "\\claim{a}{{}",
                "\\claim{a}{",
                "\\claim{a}",
                "%",
                "\\",
                "\\begin{symattn}\n\\end{symattn}\n",
            ),
        ),
        "".join("\\verb" + chr(0x4E00 + i % 20_000) for i in range(60_000)),
    ],
    ".ipynb": [
        '{"symattn": ' + "[" * 250_000 + "]" * 250_000 + "}",
        '{"symattn": ' + '{"a":' * 100_000,
        '{"symattn": ' + "[" * 900 + ",".join(['"a"'] * 100_000) + "]" * 900 + "}",
        '["symattn"]',
        "symattn",
        '"symattn"',
        json.dumps({"cells": [{"cell_type": "markdown", "source": big("<!-- {claim}`")}]}),
        *(
            json.dumps({"cells": [{"cell_type": "markdown", "source": source}], "x": "symattn"})
            for source in (5, [1, 2], {"a": 1}, [["symattn"]], None, True, ["a\n"] * 50_000)
        ),
        '{"cells": [], "symattn": ' + "9" * 10_000 + "}",
        '{"cells": {"a": 1}, "x": "symattn"}',
    ],
}


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        pytest.param(suffix, text, id=f"{suffix} {text[:20]!a}")
        for suffix, texts in PAGES.items()
        for text in texts
    ],
)
def test_hostile_pages_end_in_time(tmp_path: Path, suffix: str, text: str) -> None:
    path = put(tmp_path / f"x{suffix}", text if suffix == ".ipynb" else f"symattn claim\n{text}")
    with within_seconds(SECONDS):
        result = run("check", str(path))
    assert_refused(result, str(path))


def test_claims_run_no_code(tmp_path: Path) -> None:
    marker = tmp_path / "run"
    code = f"__import__('pathlib').Path('{marker.as_posix()}').touch()"
    assert_refused(check(toml(GIVEN, {"weights[1,1]": code})), "names and code are not read")
    assert_refused(check(toml(GIVEN, {code: "1"})), "names no entry")
    assert not marker.exists()
