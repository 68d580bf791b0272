"""What people get wrong in a worksheet: one line that says where, what and how to mend it.

No traceback, no code run, no hang, and nothing in a label that a terminal, a browser or LaTeX
would obey.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symattn.cli import main
from tests import within_seconds
from tests.command import assert_refused
from tests.processes import environment, python

SECONDS = 2.0

EYE = "[[1, 0], [0, 1]]"
WIDE = "[[1, 2, 3], [4, 5, 6]]"


def given(**matrices: str) -> str:
    """A [given] table; what is not named is a 2 × 2 Q, K or V."""
    table = {"Q": EYE, "K": EYE, "V": EYE} | matrices
    return "[given]\n" + "".join(f"{name} = {value}\n" for name, value in table.items())


def only(**matrices: str) -> str:
    """A [given] table of just these matrices."""
    return "[given]\n" + "".join(f"{name} = {value}\n" for name, value in matrices.items())


def attention(line: str, table: str = "") -> str:
    """One line of [attention], then what is given."""
    return f"[attention]\n{line}\n{table or given()}"


def notation(line: str) -> str:
    """One line of [notation] after a good worksheet; it stands in line 6."""
    return f"{given()}[notation]\n{line}\n"


def entry(value: str) -> str:
    """A worksheet whose Q[1,1] is this."""
    return given(Q=f"[[{value}, 0], [0, 1]]")


def heads(*names: str) -> str:
    """X and these per-head matrices."""
    return f"[given]\nX = {EYE}\n" + "".join(f'"{name}" = {EYE}\n' for name in names)


ROWS: Sequence[tuple[str, str, str]] = (
    # shapes
    ("empty file", "", "nothing is given"),
    ("nothing given", "[given]\n", ":1: given: nothing is given"),
    ("variant alone", '[attention]\nvariant = "causal"\n', "nothing is given"),
    ("no matrix", given(Q="[]"), ":2: Q: "),
    ("empty row", given(Q="[[]]"), ":2: Q: the matrix is empty"),
    ("empty rows", given(V="[[], []]"), ":4: V: the matrix is empty"),
    ("vector", given(Q="[1, 2]"), "write a matrix as [[1, 2], [3, 4]]"),
    ("number", given(K="1"), ":3: K: "),
    ("text", given(K='"abc"'), ":3: K: "),
    ("inline table", given(K="{ a = 1 }"), ":3: K: "),
    ("ragged", given(Q="[[1, 2], [3]]"), "make all rows equally long"),
    ("row and number", given(Q="[[1, 2], 3]"), ":2: Q: row 1 has 2 entries, row 2"),
    ("five levels", given(Q="[[[[[1]]]]]"), ":2: Q: "),
    ("a hundred levels", given(Q="[" * 100 + "1" + "]" * 100), ":2: Q: "),
    ("a thousand levels", given(Q="[" * 1000 + "1" + "]" * 1000), "nested too deeply"),
    ("100,000 levels", given(Q="[" * 100_000 + "1" + "]" * 100_000), "nested too deeply"),
    ("Q and K", given(Q=WIDE), ":3: K: is 2 × 2; because of Q it has to be 2 × 3 (d_k = 3)"),
    ("K and V", given(V="[[1, 2]]"), ":4: V: is 1 × 2; because of K it has to be 2 × d_v (m = 2)"),
    ("X and W_Q", only(X=WIDE, W_Q=EYE, W_K=EYE, W_V=EYE), "W_Q: is 2 × 2; because of X"),
    ("memory", only(X=EYE, memory=WIDE, W_Q=EYE, W_K=EYE, W_V=EYE), "memory it has to be 3 × 2"),
    ("one-hot and E", only(one_hot=WIDE, E=EYE, W_Q=EYE, W_K=EYE), "it has to be 3 × d_model"),
    ("weights and V", only(weights=WIDE, V=EYE), "is 2 × 3; because of V it has to be 2 × 2"),
    ("W_O", given(W_O="[[1], [2], [3]]"), "W_O: is 3 × 1; because of V it has to be 2 × d_out"),
    ("too many entries", given(Q=f"[[{'1,' * 65_537}]]"), "65536 at most"),
    # what leads nowhere
    ("Q alone", only(Q=EYE), "leads to no step; this attention needs Q, K, V"),
    ("scores without d_k", only(scores=EYE), "d_k = 64"),
    ("scores and scaled", only(scores=EYE, scaled=EYE), "scores: no step needs it"),
    ("X not used", given(X=EYE), "X: no step needs it"),
    # numbers
    ("nan", entry("nan"), ":2: Q[1,1]: "),
    ("nan in quotes", entry('"nan"'), ":2: Q[1,1]: "),
    ("infinity", entry("inf"), ":2: Q[1,1]: "),
    ("infinity in quotes", entry('"inf"'), "is not a real number"),
    ("minus infinity", entry("-inf"), "−∞ has no meaning in Q"),
    ("minus infinity in quotes", entry('"-inf"'), "−∞ has no meaning in Q"),
    ("infinite mask", given(mask="[[inf, 0], [0, 0]]"), ":5: mask[1,1]: "),
    ("true", entry("true"), "only a mask takes true and false"),
    ("date", entry("1979-05-27"), ":2: Q[1,1]: "),
    ("time", entry("07:32:00"), ":2: Q[1,1]: "),
    ("table", entry("{ a = 1 }"), ":2: Q[1,1]: "),
    ("empty text", entry('""'), "it is empty"),
    ("blank", entry('"?"'), 'Q[1,1]: "?" cannot be read'),
    ("underscore", entry('"1_0"'), 'Q[1,1]: "1_0" cannot be read'),
    ("Arabic digit", entry('"٣"'), ":2: Q[1,1]: "),
    ("full-width digit", entry('"１"'), ":2: Q[1,1]: "),
    ("decimal comma", entry('"1,500"'), ":2: Q: 1,500 may be 1500"),
    ("percent", entry('"50%"'), '"%" is not part of a number'),
    ("hexadecimal in quotes", entry('"0x10"'), ":2: Q[1,1]: "),
    ("NUL", entry('"1\\u0000"'), ':2: Q[1,1]: "1\\x00"'),
    ("escape", entry('"\\u001b[31m1"'), ':2: Q[1,1]: "\\x1b[31m1"'),
    ("bidi override", entry('"\\u202e1"'), ':2: Q[1,1]: "\\u202e1"'),
    ("import", entry("\"__import__('os').system('true')\""), "names and code are not read"),
    ("lambda", entry('"(lambda: 1)()"'), "names and code are not read"),
    ("f-string", entry("\"f'{1+1}'\""), "names and code are not read"),
    ("attribute", entry('"x.__class__"'), "names and code are not read"),
    ("attribute of a number", entry('"1..real"'), "names and code are not read"),
    ("huge exponent", entry("1e999999999"), "keep the exponent within"),
    ("huger exponent", entry("1e9999999999"), ":2: Q[1,1]: "),
    ("huge exponent in quotes", entry('"1e999999999"'), "keep the exponent within"),
    ("tower", entry('"9^9^9^9"'), "keep exponents within"),
    ("tower of e", entry('"e^e^e^e^e"'), "too large"),
    ("exp of exp", entry('"exp(exp(exp(exp(9))))"'), "too large"),
    ("overflowing product", entry('"1e400*1e400"'), "too large"),
    ("deep brackets", entry(f'"{"(" * 45}1{")" * 45}"'), "nested deeper than"),
    ("deep powers", entry(f'"{"2^" * 90}2"'), "nested deeper than"),
    ("long text", entry(f'"{"1" * 10_000}"'), "10000 characters are too many"),
    ("long integer", entry("1" * 5000), "too many digits to read"),
    ("4000 digits", entry("1" * 4000), "Q[1,1]: the number is too large"),
    ("division by zero", entry('"1/0"'), "it divides by zero"),
    ("hidden zero", entry('"1/(sqrt(2)^2-2)"'), "it divides by zero"),
    ("negative root", entry('"sqrt(-1)"'), "root of a negative number"),
    ("logarithm of zero", entry('"ln 0"'), "logarithm of a number that is not positive"),
    ("odd root", entry('"2^(1/3)"'), "an integer or a half-integer"),
    ("unfinished", entry('"1+"'), "it ends too early"),
    ("zero row", attention('normaliser = "sum"\nd_k = 4', only(scores="[[1, -1]]")), "sums to 0"),
    # names
    ("unknown table", "[giben]\n", ':1: "giben" is not a known key; did you mean "given"?'),
    ("unknown key", "tilte = 1\n" + given(), '"tilte" is not a known key; did you mean "title"?'),
    ("letter", given(u_d="[[1, 1]]"), 'u_d" in [given] is not a known name; did you mean "v_d"?'),
    ("matrix at the top", f"Q = {EYE}\n", ':1: "Q" is not a known key'),
    ("tokens at the top", 'tokens = ["a"]\n' + given(), ':1: "tokens" is not a known key'),
    ("unknown setting", attention('varient = "x"'), 'did you mean "variant"?'),
    ("American", attention('normalizer = "softmax"'), 'did you mean "normaliser"?'),
    ("num_heads", attention("num_heads = 2"), 'did you mean "heads"?'),
    ("unknown matrix", given(banana=EYE), ':5: "banana" in [given] is not a known name'),
    ("lower case", only(q=EYE, k=EYE, v=EYE), 'did you mean "Q"?'),
    ("no underscore", only(X=EYE, WQ=EYE), 'did you mean "W_Q"?'),
    ("unknown notation", notation("foo = 1"), ':6: "foo" in [notation] is not a known key'),
    ("duplicate key", f"[given]\nQ = {EYE}\nQ = {EYE}\n", ":3:"),
    ("duplicate table", "[given]\n[given]\n", "[given] twice"),
    ("fraction without quotes", given(Q="[[1/2]]"), "put fractions in quotes"),
    ("unclosed", "[given]\nQ = [[1, 2]\n", "not valid TOML"),
    ("unquoted head", "[given]\nW_Q[1] = [[1]]\n", "put a key with brackets in quotes"),
    ("not a table", "given = 1\n", ":1: given: has to be a table"),
    ("array of tables", "[[given]]\nQ = [[1]]\n", ":1: given: has to be a table"),
    ("claims no table", "claims = 1\n" + given(), ":1: claims: has to be a table"),
    ("schema 2", "schema = 2\n" + given(), ":1: schema = 2: this symattn reads schema 1"),
    ("schema true", "schema = true\n" + given(), "reads schema 1"),
    # the axes
    ("unknown variant", attention('variant = "casual"'), 'did you mean "causal"?'),
    ("variant number", attention("variant = 1"), ":2: variant: 1 is not text"),
    ("long variant", attention(f'variant = "{"x" * 10_000}"'), "10000 characters are too many"),
    ("unknown source", attention('source = "selfy"'), 'did you mean "self"?'),
    ("unknown normaliser", attention('normaliser = "softmx"'), 'did you mean "softmax"?'),
    ("normaliser true", attention("normaliser = true"), ":2: normaliser = "),
    ("unfold number", attention("unfold = 1"), 'choose true, false, "shifted" or "plain"'),
    ("unfold a ratio", attention('unfold = true\nnormaliser = "sum"'), "only a softmax"),
    (
        "scale zero",
        attention("scale = 0"),
        ":2: scale = 0: give true, false, or a number other than 0",
    ),
    ("scale nan", attention("scale = nan"), ":2: scale: "),
    ("scale word", attention('scale = "none"'), 'scale: "none" cannot be read'),
    ("scale code", attention("scale = \"__import__('os')\""), "names and code are not read"),
    ("scale list", attention("scale = [1]"), ":2: scale: "),
    ("no heads", attention("heads = 0"), ":2: heads = 0: give a whole number"),
    ("minus one head", attention("heads = -1"), ":2: heads = -1: give a whole number"),
    ("one and a half heads", attention("heads = 1.5"), "give a whole number"),
    ("heads true", attention("heads = true"), "give a whole number"),
    ("heads in words", attention('heads = "two"'), "give a whole number"),
    ("too many heads", attention("heads = 1025"), "from 1 to 1024"),
    ("heads open", attention('heads = "h"'), "heads: say how many"),
    ("heads do not divide", attention("heads = 3"), "2 columns cannot be shared evenly by 3 heads"),
    ("head 0", heads("W_Q[0]"), "numbered from 1 without gaps, not W_Q[0]"),
    ("gap", heads("W_Q[1]", "W_Q[3]"), "without gaps, not W_Q[1], W_Q[3]"),
    ("whole and head", heads("W_Q", "W_Q[1]"), "W_Q is given as a whole too"),
    ("fewer K heads", heads("W_Q[1]", "W_Q[2]", "W_K[1]", "W_V[1]"), "W_K: is 1 × 2 × 2; because"),
    (
        "a head that all share",
        '[attention]\nheads = 2\nkv_heads = 1\nsource = "self"\n'
        + only(X=EYE, W_Q=f"[{EYE}, {EYE}]", W_K=f"[{EYE}]", W_V=EYE),
        ":8: W_K: has 3 levels of brackets where 2 are needed: one matrix",
    ),
    ("head minus one", heads("W_Q[-1]"), 'did you mean "W_Q"?'),
    ("size zero", attention("d_k = 0"), ":2: d_k = 0: give a whole number"),
    ("size text", attention('d_k = "2"'), 'd_k = "2": give a whole number'),
    ("size huge", attention("d_k = 9999999"), ":2: d_k = 9999999: "),
    ("size wrong", attention("d_k = 3"), "because of the sizes given it has to be 2 × 3"),
    # masks
    ("unknown mask", attention('mask = "casual"'), 'mask "casual" is not known; did you mean'),
    ("mask true", attention("mask = true"), "name a mask; known: causal"),
    ("mask number", attention("mask = 1"), "name a mask; known: causal"),
    ("padding how long", attention('mask = "padding"'), "{padding = 3}"),
    ("negative padding", attention("mask = {padding = -1}"), "give a whole number from 0"),
    ("half a past", attention("mask = {causal = 1.5}"), "give a whole number from -"),
    ("unknown in a table", attention("mask = {causal = 1, cusal = 2}"), 'did you mean "causal"?'),
    ("unknown in a list", attention('mask = ["causal", "wndow"]'), 'mask "wndow" is not known'),
    ("mask shape", attention("mask = [[true, false]]"), "because of Q it has to be 2 × 2"),
    ("ragged mask", attention("mask = [[true, false], [true]]"), "make all rows equally long"),
    ("empty mask", attention("mask = [[]]"), ":2: mask: the matrix is empty"),
    ("mask nan", attention("mask = [[nan, 0], [0, 0]]"), ":2: mask[1,1]: "),
    ("mask word", attention('mask = [["x", 0], [0, 0]]'), ':2: mask[1,1]: "x" cannot be read'),
    (
        "two boolean masks",
        attention(f"mask = {EYE}".replace("1", "true"), given(allowed=EYE)),
        "keep one of them",
    ),
    # labels
    ("a token too many", attention('tokens = ["a", "b", "c"]'), ":2: tokens: 3 names fit neither"),
    ("no tokens", attention("tokens = []"), ":2: tokens: give a list of words"),
    ("token number", attention('tokens = ["a", 1]'), ":2: tokens: 1 is not text; put it in quotes"),
    ("token list", attention('tokens = [["a", "b"]]'), ":2: tokens: "),
    ("token table", attention("tokens = { a = 1 }"), ":2: tokens: give a list of words"),
    ("long token", attention(f'tokens = ["{"x" * 10_000}", "b"]'), "characters are too many"),
    (
        "not in the vocabulary",
        attention('tokens = ["x"]\nvocabulary = ["a"]', only(E=EYE)),
        '"x" is not in the vocabulary',
    ),
    ("query tokens", attention('query_tokens = ["a"]'), "n: 1 labels (a) for n = 2"),
    ("features", attention('features = ["a"]'), "d_k: 1 labels (a) for d_k = 2; give one for each"),
    ("rows", attention('features.n = ["a", "b"]'), ":2: features: n counts rows; name them by"),
    ("features of no size", attention('features.q = ["a"]'), 'no size is called "q"'),
    (
        "features of no matrix",
        attention('features.d_mem = ["a"]'),
        "d_mem: no matrix of this derivation has that size; remove it",
    ),
    ("title number", "title = 1\n" + given(), ":1: title: 1 is not text"),
    ("long title", f'title = "{"x" * 501}"\n' + given(), "501 characters are too many"),
    # notation
    ("index base 2", notation("index_base = 2"), ":6: index_base = 2: choose one of 0, 1"),
    ("index base true", notation("index_base = true"), "choose one of 0, 1"),
    ("transpose", notation('transpose = "x"'), ':6: transpose = "x": choose one of'),
    ("convention", notation('convention = "diagonal"'), "choose one of rows, columns"),
    ("rounding", notation('rounding = "up"'), "choose one of half-up, half-even"),
    ("digits minus one", notation("digits = -1"), "a whole number from 0 to 100"),
    ("digits 101", notation("digits = 101"), "a whole number from 0 to 100"),
    ("digits text", notation('digits = "4"'), "a whole number from 0 to 100"),
    ("symbols list", notation("symbols = []"), ":6: symbols: has to be a table"),
    ("unknown symbol", notation('symbols = { wieghts = "P" }'), 'did you mean "weights"?'),
    ("symbol number", notation("symbols = { weights = 1 }"), "give the symbol as a string"),
    ("empty symbol", notation('symbols = { weights = "" }'), "use a name such as A"),
    (
        "same letter",
        notation('symbols = { weights = "S" }'),
        "scores and weights would share S; choose another",
    ),
    ("input", notation(r"symbols = { weights = '\input{x}' }"), "use a name such as A"),
    ("write18", notation(r"symbols = { weights = '\write18{ls}' }"), "use a name such as A"),
    ("unbalanced", notation("symbols = { weights = 'A}{' }"), "use a name such as A"),
    ("markup", notation("symbols = { weights = '<b>' }"), "use a name such as A"),
    ("symbol bidi", notation('symbols = { weights = "\\u202eA" }'), "use a name such as A"),
)

BYTES: Sequence[tuple[str, bytes, str]] = (
    ("Latin-1", b'\n[given]\nQ = "\xe9"\n', ":3: not UTF-8 text"),
    ("UTF-16", "[given]\nQ = [[1]]\n".encode("utf-16"), ":1: not UTF-8 text"),
    ("surrogate", b"[given]\n\xed\xa0\x80", ":2: not UTF-8 text"),
    ("NUL", b"[given]\nQ = [[1\0]]\n", "not valid TOML"),
    ("old Mac line ends", b"[given]\rQ = [[1]]\r", "not valid TOML"),
    ("8 MB of NUL", bytes(8_000_001), "2,000,000 at most"),
)


def derive(path: Path, *options: str, text: str | None = None) -> Result:
    """``symattn derive`` in this process, in good time."""
    source = "-" if text is not None else str(path)
    with within_seconds(SECONDS):
        return CliRunner().invoke(main, ["derive", source, *options], input=text)


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """The first run imports what every run needs; its time is not theirs."""
    CliRunner().invoke(main, ["derive", "-"], input=given())


@pytest.mark.parametrize(("text", "words"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_one_line_says_where_what_and_how(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "w.toml"
    path.write_text(text, encoding="utf-8")
    assert_refused(derive(path), words)


@pytest.mark.parametrize(
    "place",
    ["entry", "scale", "padding", "causal", "heads", "d_k", "variant", "symbols"],
)
def test_no_text_is_run_as_code(tmp_path: Path, place: str) -> None:
    marker = tmp_path / "run"
    code = f"\"__import__('pathlib').Path('{marker.as_posix()}').touch()\""
    sheet = {
        "entry": entry(code),
        "padding": attention(f"mask = {{ padding = {code} }}"),
        "causal": attention(f"mask = {{ causal = {code} }}"),
        "symbols": notation(f"symbols = {{ weights = {code} }}"),
    }.get(place, attention(f"{place} = {code}"))
    result = derive(tmp_path, text=sheet)
    assert not marker.exists()
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("raw", "words"), [pytest.param(*row[1:], id=row[0]) for row in BYTES])
def test_bytes_that_are_no_text(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(raw)
    assert_refused(derive(path), words)


@pytest.mark.parametrize(
    "raw",
    [b"\xef\xbb\xbf" + given().encode(), given().replace("\n", "\r\n").encode()],
    ids=["byte order mark", "CRLF"],
)
def test_editors_that_save_otherwise(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(raw)
    assert derive(path).exit_code == 0


def test_no_file_and_no_variant(tmp_path: Path) -> None:
    assert_refused(derive(tmp_path / "missing.toml"), "no such file")
    assert_refused(derive(tmp_path), "is a folder")
    assert_refused(derive(Path("causl")), 'did you mean "causal"?')


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(given(), encoding="utf-8")
    assert_refused(derive(path, "-o", str(tmp_path)), "cannot be written")
    assert_refused(derive(path, "-o", str(tmp_path / "no" / "x")), "cannot be written")


def test_overflow_is_said_and_is_no_wrong_number(tmp_path: Path) -> None:
    sheet = only(Q="[[300, 300]]", K="[[300, 300], [1, 1]]", V=EYE)
    result = derive(tmp_path, "--errors", "float16", text=sheet)
    assert result.exit_code == 4
    assert result.stderr == ""
    assert "overflows float16" in result.stdout
    assert "OVERFLOW" in result.stdout


def _assert_one_line(path: str, words: str) -> None:
    done = python("-m", "symattn.cli", "derive", path, seconds=30)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert words in done.stderr


def test_a_gigabyte_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "big.toml"
    with path.open("wb") as file:
        file.truncate(2**30)
    _assert_one_line(str(path), "1,073,741,824 bytes")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_file_without_end_is_refused() -> None:
    _assert_one_line("/dev/zero", "2,000,000 at most")


def test_a_reader_that_has_left(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(given(), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "symattn.cli", "derive", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_a_terminal_without_unicode(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text(attention('mask = "causal"\ntokens = ["a", "b"]'), encoding="utf-8")
    done = python("-m", "symattn.cli", "derive", str(path), PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert done.stderr == ""


KINDS = {
    b"PK\x03\x04\x14\xff": "a zip archive, as of Word; save the document as plain text",
    b"\xd0\xcf\x11\xe0\xa1": "a document of an old Word",
    b"%PDF-1.7\n\xe2\xe3": "a PDF",
    "[given]".encode("utf-16"): "UTF-16; save the file as UTF-8",
}


@pytest.mark.parametrize("raw", KINDS)
@pytest.mark.parametrize("suffix", [".toml", ".ipynb"])
def test_a_file_of_another_kind_is_called_what_it_is(
    raw: bytes, suffix: str, tmp_path: Path
) -> None:
    from symattn.errors import ReadError
    from symattn.pages.checked import check_file

    path = tmp_path / f"a{suffix}"
    path.write_bytes(raw)
    with pytest.raises(ReadError, match=f"this is {KINDS[raw]}"):
        check_file(path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("chek", 'no command is called "chek"; did you mean "check"?'),
        ("derive causal --digits x", "'x' is not a whole number"),
        ("ladder -1,2", "put -- before an argument that begins with -"),
        ("prove nope", "softmax-of-logs, sharpen, …"),
    ],
)
def test_a_mistake_on_the_command_line_is_told_with_its_remedy(words: str, told: str) -> None:
    result = CliRunner().invoke(main, words.split())
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.count("\n") == 1 and told in result.stderr
