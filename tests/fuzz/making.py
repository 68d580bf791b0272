"""Inputs out of seeds: bytes and lines changed, worksheets of any choices, files of numbers.

An input is bytes: words on the first line, one tab between two, and then what stands in a file.
"""

from __future__ import annotations

import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

from tests.combinations import AXES
from tests.fuzz.mutated import CHANGES, OPTIONS, TOKENS
from tests.fuzz.target import WORDS
from tests.sheets import SHEETS
from tests.statements import STATEMENTS

#: Characters of a statement; the same again and again grows without bound.
_LONGEST = 100_000

#: Names that lead out of the folder, or to what is not a regular file.
OUTSIDE: tuple[str, ...] = (
    "link-secret.csv",
    "link-secret2.csv",
    "link-secret.npy",
    "link-secret.npz:Q",
    "link-secret.toml",
    "../outside/secret.csv",
    "../outside/secret2.csv",
    "away/secret.csv",
    "away/secret2.csv",
    "away/secret.npy",
    "away/secret.toml",
    "./away/../away/secret2.csv",
    "sub/../../outside/secret2.csv",
    "sub/../away/secret2.csv",
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "/dev/stdin",
    "~/x.csv",
    "file:///etc/passwd",
    "//etc/passwd",
    "C:\\x.csv",
    "..\\outside\\secret.csv",
    "http://127.0.0.1/x.csv",
    "sub/more.csv",
    "numbers.csv",
    "sheet.toml",
    "x.toml",
    "",
    ".",
    "..",
    "nul.csv\0.csv",
    "a\nb.csv",
    "%2e%2e/outside/secret.csv",
    "\u202etxt.csv",
    "x" * 300 + ".csv",
    "away",
    "link-secret.txt",
)

#: What would leave a trace if anybody ran it.
RUN: tuple[str, ...] = (
    "__import__('os').system('touch pwned')",
    "open('pwned','w')",
    "eval('pwned')",
    "{{config}}",
    "${pwned}",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "%(pwned)s",
    "\\input{/etc/passwd}",
    "\\write18{touch pwned}",
    "<script>pwned</script>",
    "lambda: pwned",
    "os.system",
    "().__class__.__mro__",
    "!!python/object:os.system",
    "S.exp",
    "sympify('pwned')",
    "\x1b]0;pwned\x07",
    "\x9b31m",
    "\n::error::pwned",
    "\r",
    "\u2028",
    "\ud800",
    "\ufeff",
    "\0",
)

#: Numbers, and what stands where a number should.
NUMBERS: tuple[str, ...] = (
    "0",
    "-0",
    "0.0",
    "1",
    "-1",
    "2",
    "1e-9",
    "1e9",
    "1e30",
    "1e300",
    "1e400",
    "-1e400",
    "1e-400",
    "9" * 30,
    "0." + "1" * 60,
    "1e99999",
    "inf",
    "-inf",
    "nan",
    "true",
    '"-inf"',
    '"inf"',
    '"nan"',
    '"1/3"',
    '"sqrt(2)"',
    '"e^400"',
    '"e^-400"',
    '"e^e^5"',
    '"1/0"',
    '"0^0"',
    '"ln 0"',
    '"ln -1"',
    '"(-1)^(1/2)"',
    '"2pi"',
    '"1,5"',
    '"1.5.2"',
    '"?"',
    '""',
    '"x"',
    "[1]",
    "[]",
    "{}",
    '"1e400"',
    '"tanh(1000)"',
    '"10^400"',
    '"-10^400"',
    '"0.5e"',
    '"1_0"',
    '"½"',
    '"٣"',
    '"∞"',
    "0x10",
    "1979-05-27",
    "07:32:00",
    '"e^(-e^(e^3))"',
    '"sin(10^30)"',
    '"numbers.csv"',
    '"sub/more.csv"',
)

_ODD_VALUES: tuple[str, ...] = (
    "true",
    "false",
    "0",
    "-1",
    "1",
    "2",
    "3",
    "64",
    "100000",
    "1.5",
    "nan",
    "inf",
    "[]",
    "[[]]",
    "{}",
    '""',
    '"x"',
    "[1, [2]]",
    '["a", "b"]',
    '["a", "b", "c"]',
    "[0]",
    "[1, 2, 3]",
    "1979-05-27",
    "99999999999999999999",
    '"causal"',
    '"softmax"',
    "{causal = 1}",
    "{x = 1}",
    "{window = [-1, -1]}",
    "{any = []}",
    "{all = [{any = [{}]}]}",
    '"1/0"',
    '"sqrt(2)"',
    '"e^400"',
    '"-1"',
    '"0"',
    '["\\u001b", "a", "b"]',
    '["a\\nb", "::error::x", "c"]',
    '"W_Q"',
    '"scores"',
)

_KEYS: Mapping[str, tuple[str, ...]] = {
    "": ("title", "schema", "decimal", "gradient"),
    "attention": (
        *AXES,
        "chunks",
        "batch",
        "tokens",
        "query_tokens",
        "key_tokens",
        "past_tokens",
        "vocabulary",
        "features",
        "n",
        "m",
        "p",
        "d_k",
        "d_v",
        "d_model",
        "h",
        "variant",
    ),
    "notation": (
        "index_base",
        "transpose",
        "convention",
        "symbols",
        "digits",
        "rounding",
        "gradients",
        "layout",
    ),
    "policy": ("rounding", "min_digits", "accept", "decimal", "digits", "tolerance", "working"),
}

_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "decimal": ('","', '"."'),
    "gradient": ('["Q"]', "[]", '["X", "W_Q"]', '"Q"', '["K", "V"]'),
    "chunks": ("1", "2", "[2, 1]", "[1, 1, 1]", "0", "[3]", "[0, 3]", "100"),
    "batch": ("1", "2", "0", "3"),
    "index_base": ("0", "1"),
    "transpose": ('"T"', '"⊤"', '"\'"'),
    "convention": ('"rows"', '"columns"'),
    "symbols": (
        '{weights = "alpha"}',
        '{W_Q = "\\\\mathbf{W}^Q"}',
        '{Q = "K"}',
        '{scores = "_"}',
        '{V = "\\\\input{/etc/passwd}"}',
        '{V = "<b>"}',
        '{V = "a b"}',
    ),
    "digits": ("0", "1", "12", "100", "101"),
    "rounding": ('"half-up"', '"half-even"', '"either"', '"truncated"'),
    "gradients": ('"d"', '"partial"'),
    "layout": ('"falk"', '"matrix"'),
    "min_digits": ("0", "2", "50"),
    "accept": ('["right"]', "[]", '["right", "wrong"]', '["undecided"]'),
}

_NAMES: tuple[str, ...] = (
    "X",
    "memory",
    "E",
    "one_hot",
    "positions",
    "W_Q",
    "W_K",
    "W_V",
    "W_O",
    "Q",
    "K",
    "V",
    "scores",
    "scaled",
    "capped",
    "bias",
    "biased",
    "mask",
    "allowed",
    "masked",
    "row_max",
    "exp",
    "exp_sum",
    "weights",
    "output",
    "heads",
    "concat",
    "projected",
    "K_past",
    "V_past",
    "b_Q",
    "b_O",
    "W_S",
    "table",
    "sink",
    "dO",
    "dQ",
    "W_Q[1]",
    "W_Q[2]",
    "Q[1]",
    "mask[1]",
    "weights[1,2]",
    "weights[1,:]",
    "weights[2][1,:]",
    "output[:,1]",
    "scores[1]",
    "dV",
)


def packed(words: Sequence[str], content: bytes = b"") -> bytes:
    """Words and the content of a file as an input."""
    line = "\t".join(word.encode("unicode_escape").decode("ascii") for word in words)
    return line.encode("ascii") + b"\n" + content


def unpacked(data: bytes) -> tuple[list[str], bytes]:
    """The words and the content; any bytes are an input."""
    line, _, content = data.partition(b"\n")
    words = [_word(word) for word in line.decode("utf-8", "replace").split("\t")]
    return [word for word in words if word], content


def _word(word: str) -> str:
    """A word with its escapes read; as it stands where they cannot be."""

    def sign(match: re.Match[str]) -> str:
        try:
            return match[0].encode("ascii").decode("unicode_escape")
        except UnicodeError:
            return match[0]

    return re.sub(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt\\])", sign, word)


def changed(random: Random, data: bytes, words: Sequence[str], most: int = 3) -> bytes:
    """Pieces cut out, repeated, exchanged and put in, numbers and lines among them."""
    out = bytearray(data)
    for _ in range(random.randint(1, most)):
        how = random.random()
        if how < 0.25 and (found := [*re.finditer(rb"-?[0-9]+(?:\.[0-9]+)?", out)]):
            one = random.choice(found)
            out[one.start() : one.end()] = random.choice(NUMBERS).encode()
        elif how < 0.4 and (lines := bytes(out).split(b"\n")):
            at = random.randrange(len(lines))
            lines[at : at + 1] = random.choice(([], [lines[at]] * 2, [random.choice(lines)]))
            out[:] = b"\n".join(lines)
        else:
            start = random.randint(0, len(out))
            end = random.randint(start, min(start + 30, len(out)))
            piece = random.choice((random.choice(words).encode("utf-8", "replace"), b""))
            piece = random.randbytes(random.randint(1, 4)) if random.random() < 0.03 else piece
            out[start:end] = piece * random.choice((1, 1, 1, 3, 200))
    return bytes(out[:300_000])


def sheet(random: Random) -> str:
    """A worksheet: one that is known, with some of its choices, names and numbers exchanged."""
    text = random.choice(_sheets())
    for _ in range(random.choice((0, 0, 1, 1, 1, 2, 3))):
        text = random.choice(_SHEET_CHANGES)(random, text)
    return text


@cache
def _sheets() -> tuple[str, ...]:
    """Those of `tests.sheets`, and the same with claims."""
    plain = [text for text in SHEETS.values() if "[claims]" not in text]
    return (
        *SHEETS.values(),
        *(f"{text}\n[claims]\n{_entries(more, text)}" for text in plain for more in _CLAIMS),
    )


_CLAIMS = (
    '"weights[1,1]" = "0.33"\n',
    '"weights[2,1]" = 0.5\n"output[1,1]" = "1/3"\n',
    '"scores[1,:]" = ["?", "2", "?"]\n"weights[:,1]" = [1, "0.5", "0.25"]\n',
    '"scaled[2,1]" = "1/√2 = 0.7071 ≈ 0.71"\n"output[1,1]" = "e^2/(e^2+1)"\n',
)


def _entries(words: str, text: str) -> str:
    """Words that name entries, with a head where the worksheet `text` has heads."""
    if "[[[" in text or "heads = " in text:
        words = re.sub(r"(weights|scores|scaled)(?=\[)", r"\1[1]", words)
        words = words.replace("output", "concat")
    return words


def _setting(random: Random, text: str) -> str:
    """A key of a table with a value."""
    table = random.choice(("attention", "attention", "attention", "notation", "policy", ""))
    key = random.choice(_KEYS[table])
    values = _SETTINGS.get(key) or tuple(_toml(value) for value in AXES.get(key, (1,)))
    value = random.choice(values if random.random() < 0.7 else _ODD_VALUES)
    text = re.sub(rf"(?m)^{key} = .*\n", "", text)
    head = f"[{table}]\n"
    if not table:
        return f"{key} = {value}\n{text}"
    line = f"{key} = {value}\n"
    return text.replace(head, head + line, 1) if head in text else f"{text}\n{head}{line}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + "}"
    return json.dumps(value) if value is not None else '""'


def _given(random: Random, text: str) -> str:
    """A matrix more, or another one, of any shape, or from a file."""
    name = random.choice(_NAMES)
    value = matrix(random) if random.random() < 0.8 else json.dumps(random.choice(OUTSIDE))
    key = f'"{name}"' if "[" in name else name
    table = random.choice(("[given]\n", "[given]\n", "[claims]\n"))
    text = re.sub(rf"(?m)^{re.escape(key)} = .*\n", "", text)
    line = f"{key} = {value}\n"
    return text.replace(table, table + line, 1) if table in text else f"{text}\n{table}{line}"


def matrix(random: Random) -> str:
    """A matrix of two levels of brackets, or of fewer or more, with a row too long or not."""

    def level(depth: int) -> str:
        if depth == 0:
            return random.choice(
                NUMBERS if random.random() < 0.15 else ("1", "0", "2", "-1", "0.5")
            )
        return (
            "["
            + ", ".join(
                level(depth - 1)
                for _ in range(
                    random.choice((1, 2, 2, 3, 3, 0) if random.random() < 0.1 else (2, 2, 3))
                )
            )
            + "]"
        )

    if random.random() < 0.6:
        rows, columns = random.choice((1, 2, 3)), random.choice((1, 2, 3, 4))
        return json.dumps([[random.randint(-2, 3) for _ in range(columns)] for _ in range(rows)])
    return level(random.choice((1, 2, 2, 3, 3, 4)))


def _without(random: Random, text: str) -> str:
    """A line less."""
    lines = text.split("\n")
    lines.pop(random.randrange(len(lines)))
    return "\n".join(lines)


def _number(random: Random, text: str) -> str:
    """Another number."""
    found = [*re.finditer(r"(?<![\w\"])-?[0-9]+(?:\.[0-9]+)?(?![\w\"])", text)]
    if not found:
        return text
    one = random.choice(found)
    return text[: one.start()] + random.choice(NUMBERS) + text[one.end() :]


_SHEET_CHANGES: tuple[Callable[[Random, str], str], ...] = (
    _setting,
    _setting,
    _given,
    _without,
    _number,
)


# ---- pages -------------------------------------------------------------------------------------

_MARKS = (
    "<!-- symattn -->\n<!-- /symattn -->",
    "<!-- symattn steps=weights view=formula digits=3 -->\nold\n<!-- /symattn -->",
    "<!-- symattn headings=2 layout=falk entry=weights[1,1] -->\n<!-- /symattn -->",
    "<!-- value weights[1,1] --><!-- /value -->",
    "<!-- value weights[1,2] to 3 -->0.3<!-- /value -->",
    "<!-- value output[1,:] -->x<!-- /value -->",
    "{claim}`weights[1,1] = 0.33`",
    "<!-- claim -->\ns_11 = 1·1 + 0 = 1\n",
    "<!-- claim -->\n$$a_{11} = e^1/(e^1+1) \\approx 0.73$$",
    "{value}`weights[1,1]`",
    "`{claim}`",
    "<!-- /symattn -->",
    "```{attention} sheet.toml\n```",
    "```{attention} causal\n:steps: weights\n:view: formula\n```",
)

_RST_MARKS = (
    ".. attention:: sheet.toml\n   :label: a\n   :view: formula, value\n",
    ".. attention:: causal\n   :steps: weights\n   :format: equations\n",
    ".. attention:: sheet.toml\n   :digits: 3\n   :entry: weights[1,1]\n   :layout: falk\n",
    ".. attention::\n\n   Mind the gap.\n",
    ":value:`weights[1,2] to 3`",
    ":value:`weights[1,1]`",
    ":claim:`weights[1,1] = 0.33`",
    ":claim:`s_11 = 1·1 + 0 = 1`",
    ":value:`weights[1,1] to 99`",
    ".. claim\n\n:math:`s_{11} = 1 + 1 = 2`\n",
)
_FROM_FILE = '[given]\nQ = "numbers.csv"\nK = "numbers.csv"\nV = "sub/more.csv"\n'
_STRANGE_MARKS = (
    ".. attention:: sheet.toml\n   :batch: 1\n",
    "<!-- symattn batch=1 -->\n<!-- /symattn -->",
    ".. symattn:: away/secret.toml\n",
    ".. attention:: /../outside/secret.toml\n",
    ".. attention:: link-secret.toml\n",
    "```{symattn} away/secret.toml\n```",
    "```symattn link-secret.toml\n```",
    "```{attention} /../outside/secret.toml\n```",
)


def page(random: Random, rst: bool = False) -> bytes:
    """A page with worksheets, regions that are filled in, values and claims."""
    parts = []
    marks = _RST_MARKS if rst else _MARKS
    for _ in range(random.choice((1, 1, 2, 3))):
        text = sheet(random) if random.random() < 0.9 else _FROM_FILE
        if rst:
            name = random.choice(("symattn", "attention"))
            parts.append(f".. {name}::\n\n   " + text.replace("\n", "\n   ") + "\n")
        else:
            fence = random.choice(("```symattn", "```{symattn}", "```{attention}", "~~~ symattn"))
            parts.append(f"{fence}\n{text}\n{fence[:3]}\n")
        parts += [f"\n{_mark(random, marks, text)}\n" for _ in range(random.randint(0, 4))]
        parts += [f"\n{random.choice(_STRANGE_MARKS)}\n"] if random.random() < 0.05 else []
    data = "\n".join(parts).encode("utf-8", "replace")
    words = (*WORDS, *marks, *_STRANGE_MARKS, *OUTSIDE)
    return changed(random, data, words) if random.random() < 0.4 else data


def _mark(random: Random, marks: Sequence[str], text: str) -> str:
    """A mark that fits a worksheet; what is labelled has a label of its own."""
    return _entries(random.choice(marks), text).replace(":label: a", f":label: a{random.random()}")


# ---- statements --------------------------------------------------------------------------------

_PROVE_OPTIONS = (
    "--where",
    "--positive",
    "--permuting",
    "--shape",
    "--size",
    "--format",
    "--effort",
    "--all",
    "latex",
    "mathml",
    "json",
    "A = B",
    "P^T P = I",
    "A=n,d_k",
    "c=scalar",
    "n=4",
    "m=1",
    "P",
    "S",
    "A=1,1",
    "A=9999,9999",
    "n=9999",
    "1",
    "softmax(S) = P",
    "shift",
)


def _broken(random: Random, text: str) -> str:
    """A statement, changed or not."""
    generator = np.random.default_rng(random.getrandbits(32))
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        text = random.choice(CHANGES)(text, generator)[:_LONGEST]
    return text


def question(random: Random) -> bytes:
    """A statement and options for `equal`: its own, none, or some that are wrong."""
    row = random.choice(STATEMENTS)
    options = random.choice((row.options, row.options, {}, random.choice(OPTIONS)))
    return packed([_broken(random, row.text), json.dumps(options)])


def statement(random: Random) -> bytes:
    """Words for ``symattn prove``: a statement and options."""
    words = [_broken(random, random.choice(STATEMENTS).text)]
    for _ in range(random.choice((0, 0, 1, 2, 4))):
        words.append(random.choice((*_PROVE_OPTIONS, *TOKENS[:30], *RUN)))
    return packed(words)


# ---- files of numbers --------------------------------------------------------------------------

_DTYPES = (
    "<f8",
    "<f4",
    "<f2",
    ">f8",
    "<i8",
    "<i4",
    "|i1",
    "|u1",
    "<u8",
    "|b1",
    "<c16",
    "|O",
    "|S8",
    "|S1000000000",
    "<U3",
    "<U500000000",
    "<M8[ns]",
    "<m8[D]",
    "|V8",
    "|V1000000000",
    "f16",
    "<f3",
    "",
    "x",
    "<f8,<f8",
    "(2,)<f8",
    "(1000000000,)<f8",
    "[('a', '<f8')]",
    "O",
    "|S0",
    "|V0",
    "q",
)
_SHAPES = (
    "(2, 2)",
    "(2, 3)",
    "(1, 1)",
    "()",
    "(0,)",
    "(4,)",
    "(0, 5)",
    "(2, 2, 2)",
    "(-1, 2)",
    "(-2, -2)",
    "(1000000000, 1000000000)",
    "(4000001,)",
    "(2000, 2000)",
    "(65536, 65536)",
    "(2.0, 2)",
    "('2', 2)",
    "[2, 2]",
    "2",
    "None",
    "(True, 4)",
    "(99999999999999999999, 0)",
    "(1,)" * 40,
    "(" + "1," * 70 + ")",
    "(2, 2",
    "(__import__('os').system('touch pwned'),)",
    "(9**9**9,)",
    "(4294967296, 4294967296)",
    "(9223372036854775807, 2)",
    "(1, " * 200,
)


def npy(random: Random) -> bytes:
    """A ``.npy``, right or not in its header."""
    dtype, shape = "<f8", "(2, 2)"
    if random.random() < 0.3:
        whole = io.BytesIO()
        of = random.choice(("<f8", ">f4", "<i8", "|b1", "<f2", "|u1"))
        np.save(
            whole, np.array([[1, 0], [random.randint(-3, 3) if of != "|u1" else 1, 2]]).astype(of)
        )
        return whole.getvalue()
    if random.random() < 0.5:
        dtype = random.choice(_DTYPES)
    if random.random() < 0.5:
        shape = random.choice(_SHAPES)
    order = random.choice(
        ("False", "True", "1", "None", "'C'") if random.random() < 0.2 else ("False",)
    )
    told = dtype if dtype.startswith("[") else repr(dtype)
    header = f"{{'descr': {told}, 'fortran_order': {order}, 'shape': {shape}, }}"
    if random.random() < 0.1:
        header = random.choice(
            (
                "",
                "{",
                "None",
                "[]",
                "{}",
                "{'descr': '<f8'}",
                header * 2,
                header[:-1] + "'x': 1}",
                "\ud800",
                "(" * 3000,
                header + " " * 70000,
                "{'descr': [('a', ('b',))], 'fortran_order': False, 'shape': (1,)}",
                header.replace("'descr'", "b'descr'"),
                "-" * 5000 + "1",
            )
        )
    raw = header.encode("utf-8", "surrogatepass")
    version = random.choice((1, 1, 1, 1, 1, 1, 2, 3, 0, 255))
    pad = b" " * (-(len(raw) + (11 if version == 1 else 13)) % 64) + b"\n"
    raw += pad
    length = (
        len(raw) if random.random() < 0.9 else random.choice((0, 1, 65535, len(raw) + 100, 2**31))
    )
    size = struct.pack("<H", length & 0xFFFF) if version == 1 else struct.pack("<I", length)
    body = np.arange(random.choice((4, 4, 4, 6, 1, 0, 100)), dtype="<f8").tobytes()
    if random.random() < 0.1:
        body = np.array([np.nan, np.inf, -np.inf, 1e308]).tobytes()
    return b"\x93NUMPY" + bytes((version, 0)) + size + raw + body


def npz(random: Random) -> bytes:
    """A ``.npz``: a zip that is whole, with odd members, or with fields that were put in."""
    out = io.BytesIO()
    method = random.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(out, "w", method) as made:
        names = (
            ["Q.npy"]
            if random.random() < 0.6
            else [
                random.choice(
                    (
                        "Q.npy",
                        "K.npy",
                        "../Q.npy",
                        "/Q.npy",
                        "Q",
                        "Q.npy/",
                        " ",
                        "é.npy",
                        "Q\n.npy",
                        "\x1b]0;x\x07.npy",
                        "x" * 60000,
                        "Q.npy.npy",
                        ".npy",
                    )
                )
                for _ in range(random.randint(0, 4))
            ]
        )
        for name in names:
            content = (
                npy(random)
                if random.random() < 0.8
                else random.choice((b"", b"\x93NUMPY", b"x" * 100, npy(random)[:20]))
            )
            if random.random() < 0.02:
                content += bytes(60_000_000)
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a name that is there twice
                made.writestr(name, content)
        if random.random() < 0.1:
            made.comment = b"c" * random.choice((1, 65535))
    data = bytearray(out.getvalue())
    if random.random() < 0.5:
        _put_in(random, data)
    return bytes(data)


def _put_in(random: Random, data: bytearray) -> None:
    """Change one field alike in the local header and in the directory, or in one of them."""
    offset, size, values = random.choice(
        (
            (4, 2, (20, 45, 63, 65535)),  # the version that is needed
            (6, 2, (1, 8, 2048, 0x41, 0xFFFF)),  # flags: 1 is encrypted
            (8, 2, (0, 1, 8, 9, 12, 14, 93, 95, 99, 65535)),  # the method
            (14, 4, (0, 1, 0xFFFFFFFF)),  # the CRC
            (18, 4, (0, 1, 0xFFFFFFFF, 0x7FFFFFFF)),  # sizes
            (22, 4, (0, 1, 0xFFFFFFFF, 0x7FFFFFFF)),
            (26, 2, (0, 1, 65535)),  # the lengths of the name and of the rest
            (28, 2, (0, 1, 20, 65535)),
        )
    )
    value = random.choice(values).to_bytes(size, "little")
    which = random.choice((("local", "directory"), ("directory",), ("local",)))
    for name, mark, more in (("local", b"PK\3\4", 0), ("directory", b"PK\1\2", 2)):
        if name in which and (at := data.find(mark)) >= 0:
            data[at + offset + more : at + offset + more + size] = value


_CORRUPT = (
    lambda: lzma.compress(bytes(100))[:40],
    lambda: zlib.compress(bytes(10_000_000)),
    lambda: b"\x93NUMPY\1\0\xff\xff",
    lambda: b"PK\5\6" + bytes(18),
    lambda: b"",
    lambda: bytes(1000),
)


def safetensors(random: Random) -> bytes:
    """A safetensors file, right or not in its header."""
    body = np.arange(4, dtype="<f4").tobytes()
    row: dict[str, Any] = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    header: dict[str, Any] = {"Q": row}
    if random.random() < 0.7:
        key = random.choice(("dtype", "shape", "data_offsets"))
        row[key] = random.choice(
            (
                "F64",
                "F16",
                "BF16",
                "F8_E4M3",
                "I64",
                "BOOL",
                "C64",
                "X",
                5,
                None,
                [],
                [2, 2],
                [4, 1],
                [2**40, 2**40],
                [-2, -2],
                [0, 8],
                [8, 24],
                [16, 0],
                [0, 2**63],
                [0, 0],
                {},
                [2.5, 2],
                ["2", 2],
                [1] * 100,
                "\x1b",
                [0, 16, 32],
            )
        )
    if random.random() < 0.2:
        header["__metadata__"] = random.choice(({"a": "b"}, [], 5, {"a": 1}))
    if random.random() < 0.2:
        header[random.choice(("K", "", "\x1b]0;x\x07", "x" * 5000))] = dict(row)
    raw = json.dumps(header).encode()
    if random.random() < 0.1:
        raw = random.choice(
            (
                b"",
                b"{",
                b"[]",
                b"null",
                b'{"Q":{}}',
                b"[" * 100_000,
                b"\xff" * 10,
                b'{"Q":' * 5000,
                raw + b" " * 1000,
                raw[:-1] + b',"Q":{}}',
            )
        )
    length = len(raw) if random.random() < 0.85 else random.choice((0, 1, 2**63, 2**64 - 1, 10**8))
    return length.to_bytes(8, "little") + raw + body[: random.choice((16, 16, 16, 8, 0))]


def csv(random: Random) -> bytes:
    """A CSV file of numbers and other cells."""
    sign = random.choice((",", ";", "\t", " ", "|"))
    rows = [
        [
            random.choice(("1", "2", "0.5", "-1", *(word.strip('"') for word in NUMBERS), *RUN))
            if random.random() < 0.2
            else str(random.randint(-3, 3))
            for _ in range(random.choice((2, 2, 2, 3, 1)))
        ]
        for _ in range(random.choice((2, 2, 1, 3, 0)))
    ]
    if random.random() < 0.1:
        rows.append(
            [
                random.choice(
                    (
                        '"',
                        '"' + "x" * 140_000,
                        "9" * 140_000,
                        '"a\nb"',
                        "=1+1",
                        "0" * 5000,
                        "1e" + "9" * 300,
                        "," * 200_000,
                        "\n" * 200_000,
                    )
                )
            ]
        )
    elif random.random() < 0.03:
        rows *= 30_000
    text = random.choice(("\n", "\r\n", "\r", "\n\n")).join(sign.join(row) for row in rows)
    code = random.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"))
    return text.encode(code, "replace")


_FILES: Mapping[str, Callable[[Random], bytes]] = {
    "x.npy": npy,
    "x.npz": npz,
    "x.safetensors": safetensors,
    "x.csv": csv,
}


def numbers(random: Random) -> bytes:
    """A reference to a file of numbers, and what stands in the file."""
    name = random.choice((*_FILES, "x.npz", "x.npy"))
    maker = _FILES[name] if random.random() < 0.9 else random.choice((*_FILES.values(),))
    content = maker(random) if random.random() < 0.97 else random.choice(_CORRUPT)()
    if random.random() < 0.15:
        content = changed(random, content, ("\0", "(", "'", ",", "\xff"), 3)
    if random.random() < 0.05:
        content = content[: random.randint(0, len(content))]
    reference = name
    if random.random() < 0.2:
        reference = random.choice(
            (
                *OUTSIDE,
                f"{name}:",
                f"{name}:K",
                f"{name}:{'Q' * 300}",
                "x.CSV",
                f"{name}:\x1b",
                f"{name}:Q:Q",
            )
        )
    elif name in ("x.npz", "x.safetensors") and random.random() < 0.7:
        reference = f"{name}:Q"
    return packed([name, reference], content)


# ---- command lines -----------------------------------------------------------------------------

_DERIVE = (
    ("--format", "latex"),
    ("--format", "mathml"),
    ("--format", "html"),
    ("--format", "json"),
    ("--format", "md"),
    ("--format", "tex"),
    ("--format", "ipynb"),
    ("--format", "svg"),
    ("--format", "tikz"),
    ("--format", "numpy"),
    ("--format", "python"),
    ("--format", "torch"),
    ("--format", "jax"),
    ("--format", "javascript"),
    ("--format", "text"),
    ("--format", "text"),
    ("--exact",),
    ("--full",),
    ("--digits", "0"),
    ("--digits", "9"),
    ("--digits", "100"),
    ("--steps", "weights"),
    ("--steps", "scores"),
    ("--steps", "output"),
    ("--steps", "nowhere"),
    ("--view", "formula"),
    ("--view", "entry"),
    ("--view", "worked"),
    ("--view", "value"),
    ("--entry", "weights[1,1]"),
    ("--entry", "first"),
    ("--entry", "weights[2][1,2]"),
    ("--entry", "x[9,9]"),
    ("--gradient", "all"),
    ("--gradient", "Q"),
    ("--gradient", "X,W_Q"),
    ("--chunks", "1"),
    ("--chunks", "2,1"),
    ("--layout", "falk"),
    ("--layout", "matrix"),
    ("--picture", "falk"),
    ("--picture", "heat"),
    ("--picture", "lines"),
    ("--picture", "steps"),
    ("--flavor", "sphinx"),
    ("--flavor", "katex"),
    ("--flavor", "beamer"),
    ("--flavor", "fragment"),
    ("--symbolic",),
    ("--dtype", "float32"),
    ("--dtype", "float16"),
    ("--batch", "1"),
    ("--batch", "0"),
    ("-o", "out.txt"),
)


def derivation(random: Random) -> bytes:
    """Options of ``symattn derive`` and a worksheet."""
    words = [
        word for _ in range(random.choice((0, 1, 2, 2, 3, 5))) for word in random.choice(_DERIVE)
    ]
    return packed(words, sheet(random).encode("utf-8", "replace"))


_COMMANDS = (
    "derive",
    "check",
    "render",
    "prove",
    "jacobian",
    "variants",
    "ladder",
    "--version",
    "--help",
    "-h",
    "nothing",
    "verify",
    "--debug",
)
_ARGUMENTS = (
    "sheet.toml",
    "x.toml",
    "x.md",
    "numbers.csv",
    "sub",
    ".",
    "nowhere.toml",
    "nowhere/x.toml",
    "-",
    "causal",
    "rotary",
    "deepseek",
    "multi-head",
    "2,1,0",
    "1e400",
    "e^400,0",
    "?",
    "shift",
    "A = A",
    "softmax(2 S) = softmax(S)",
    "--check",
    "--fix",
    "--diff",
    "--full",
    "--no-explain",
    "--if-any",
    "--format",
    "text",
    "md",
    "html",
    "json",
    "github",
    "sarif",
    "junit",
    "latex",
    "-o",
    "out.txt",
    "sub/out.txt",
    "--tokens",
    "2",
    "3",
    "--d-k",
    "--heads",
    "--digits",
    "100",
    "101",
    "-1",
    "--flavor",
    "quarto",
    "--help",
    "--all",
    "--gradient",
    "Q,K",
    "all",
    "--chunks",
    "1",
    "",
    "--",
    "-x",
    "--nope",
    "--exact",
    "nowhere/out.txt",
    "x.toml/out.txt",
    "\x1b]0;x\x07.toml",
    "a\n::error::b.toml",
    "\0.toml",
    "--=",
)


def arguments(random: Random) -> bytes:
    """A command line, and the worksheet that it may name."""
    words = [random.choice(_COMMANDS[:7] if random.random() < 0.9 else _COMMANDS)]
    words += [random.choice(_ARGUMENTS) for _ in range(random.choice((0, 1, 2, 2, 3, 4)))]
    if random.random() < 0.1:
        words.append(random.choice(RUN))
    return packed(words, sheet(random).encode("utf-8", "replace"))


_CELL = (
    "--view",
    "formula",
    "value",
    "worked",
    "--steps",
    "weights",
    "--digits",
    "3",
    "100",
    "-5",
    "x",
    "--layout",
    "falk",
    "--entry",
    "weights[1,1]",
    "first",
    "--batch",
    "1",
    "0",
    "--check",
    "'",
    '"',
    "--help",
    "-h",
    "--nope",
    "\\",
    "9999999999999999999999",
)


def cell(random: Random) -> bytes:
    """The line and the body of a cell."""
    words = [random.choice(_CELL) for _ in range(random.choice((0, 1, 2, 2, 3)))]
    return packed(words, sheet(random).encode("utf-8", "replace"))
