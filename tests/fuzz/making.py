"""Inputs out of seeds: bytes and lines changed, worksheets of any choices, files of numbers.

An input is bytes: words on the first line, one tab between two, and then what stands in a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random

import numpy as np

from tests.checking import spelled
from tests.combinations import AXES
from tests.files.test_data_files import CSV, NPY, NPZ, SAFETENSORS, WELL
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
    values = _SETTINGS.get(key) or tuple(map(spelled, AXES.get(key, (1,))))
    value = random.choice(values if random.random() < 0.7 else _ODD_VALUES)
    text = re.sub(rf"(?m)^{key} = .*\n", "", text)
    head = f"[{table}]\n"
    if not table:
        return f"{key} = {value}\n{text}"
    line = f"{key} = {value}\n"
    return text.replace(head, head + line, 1) if head in text else f"{text}\n{head}{line}"


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
    "S positive",
    "P a permutation",
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

_MALFORMED = {"x.npy": NPY, "x.npz": NPZ, "x.safetensors": SAFETENSORS, "x.csv": CSV}


def numbers(random: Random) -> bytes:
    """A reference to a file of numbers, and what stands in it: one that is read, or malformed."""
    name = random.choice([*_MALFORMED])
    rows = [raw for known, (raw, _) in WELL.items() if known.endswith(name[1:])]
    whole = random.random() < 0.5
    content = random.choice(rows) if whole else random.choice([*_MALFORMED[name].values()])()
    content = content[:_LONGEST]
    if random.random() < 0.05:
        name = random.choice([*_MALFORMED])
    if random.random() < 0.4:
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
    ("--digits", "exact"),
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
    ("--notation", "layout=falk"),
    ("--notation", "layout=matrix"),
    ("--format", "svg:falk"),
    ("--format", "tikz:lines"),
    ("--format", "svg:steps"),
    ("--format", "md:sphinx"),
    ("--format", "md:katex"),
    ("--format", "tex:beamer"),
    ("--format", "tex:fragment"),
    ("--format", "json:fragment"),
    ("--symbolic",),
    ("--errors", "float32"),
    ("--errors", "float16"),
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
    "--size",
    "tokens=2",
    "3",
    "d_k=3,heads=2",
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
    "exact",
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
    "--notation",
    "layout=falk",
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
