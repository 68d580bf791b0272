"""The command line as people meet it: examples, formats, views, statuses."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from symattn import Attention, SymattnError, document
from symattn.documents.job import FORMATS
from symattn.sheets.worksheet import read_worksheet
from tests import ROOT
from tests.command import put, run
from tests.processes import python
from tests.shares import share
from tests.terminal import shown_at_a_terminal

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def _without_worksheet(page: str | bytes) -> str:
    """A page without its worksheet, the button that offers it, mistakes, and the hash of data."""
    assert isinstance(page, str)
    page = re.sub(r"sha256-[^&]*", "", page)
    page = re.sub(r'<button[^>]*id="download">.*?</button>', "", page)
    page = re.sub(r'"supposed":\[.*\]\}</script>', "", page)
    return re.sub(r'"worksheet":(?:null|\{.*?\}),"digits"', "", page)


@pytest.mark.parametrize("form", [name for name in FORMATS if name not in ("ipynb", "pdf")])
def test_python_writes_what_the_command_line_writes(form: str) -> None:
    path = ROOT / "examples/two_heads.toml"
    sheet = read_worksheet(path)
    steps = ["scores"] if FORMATS[form].kind != "program" else []
    wanted = run("derive", str(path), "--format", form, *(f"--steps={step}" for step in steps))
    notes = re.findall("More: .*", wanted.stdout) if form == "text" else []
    assert len(notes) == (form == "text"), "the command that shows more"
    made = document(
        sheet.evaluate(),
        form,
        title=sheet.title,
        steps=steps,
        notation=sheet.notation,
        notes=notes,
    )
    if form == "html":  # an evaluation does not say of which worksheet it is
        made, whole = map(_without_worksheet, (made, wanted.stdout))
        assert made == whole != wanted.stdout
    else:
        assert made == (wanted.stdout_bytes if isinstance(made, bytes) else wanted.stdout)
    if not FORMATS[form].single:
        formulas = document(sheet.derivation(), form, views=["formula"])
        told = ("--symbolic", "--view", "formula", "--format", form)
        shown = run("derive", str(path), *told)
        assert formulas == (shown.stdout_bytes if isinstance(formulas, bytes) else shown.stdout)


@pytest.mark.parametrize(
    "options",
    share(
        [
            "sink --size tokens=3",
            "sink --size tokens=3 --notation vaswani --gradient all",
            "sink --size tokens=3 --notation vaswani --gradient all --steps dV,dX",
            "self --size tokens=2,d_k=3 --notation 'weights=P,weights[i,j]=p' --digits 10",
            "grouped-query --size tokens=3,heads=8 --head 2 --digits exact --view worked,value",
            "multi-head --size tokens=2,heads=1 --errors float32",
            "causal --size tokens=3 --chunks 1",
            "self --size tokens=9 --digits 60",
            "self --size tokens=9 --full",
            "{counted}",
        ],
        2,
        1,
    ),
)
def test_the_command_that_shows_more_repeats_what_the_page_was_made_with(
    options: str, tmp_path: Path
) -> None:
    sheet = put(
        tmp_path / "sheet.toml",
        "[attention]\n[given]\nQ = [[1], [3]]\nK = [[1], [2], [3]]\nV = [[1], [3], [4]]\n"
        '[notation]\nindex_base = 0\nconvention = "columns"\n',
    )
    arguments = shlex.split(options.replace("{counted}", str(sheet)))
    page = run("derive", *arguments).stdout
    note = page.partition("More: ")[2]
    command, _, rest = note.partition(" works out")
    words = shlex.split(command)
    assert {*arguments} <= {*words}
    assert run(*words[1:]).exit_code == 0
    before = " ".join(words[: words.index("--entry")])
    heads = "grouped-query --size tokens=3,heads=8 --head 2 --digits exact"
    large = {"self --size tokens=9 --digits 60", heads}
    assert ("--full" in rest) is (options.partition(" --view")[0] in large)
    for other in re.findall(r"(--digits \d+|--full|--head \d+) (?:shows|what)", rest):
        assert run(*shlex.split(before)[1:], *other.split()).exit_code == 0
    shown, more = (re.findall(r"--digits (\d+)", x) for x in (command, rest))
    assert all(int(a) < int(b) for a, b in zip(shown, more, strict=False))


def test_what_python_cannot_write_is_refused() -> None:
    derivation = Attention().derivation()
    for form, why in (
        ("htlm", 'did you mean "html"'),
        ("ipynb", "a notebook begins with"),
    ):
        with pytest.raises(SymattnError, match=why):
            document(derivation, form)


def test_views_and_steps_are_chosen() -> None:
    path = str(ROOT / "examples/it_cat_mat.toml")
    worked = run("derive", path, "--view", "worked", "--steps", "weights,output").stdout
    assert "o_14" in worked and "O = A V" not in worked
    assert "scores" not in worked.split("Check")[0]
    formula = run("derive", path, "--view", "formula").stdout
    assert "A = softmax(Z)" in formula and "s_11" not in formula


def test_large_matrices_are_elided_and_shown_in_full_on_request(tmp_path: Path) -> None:
    rows = [[(i * j) % 5 for j in range(16)] for i in range(16)]
    path = put(tmp_path / "large.toml", f"[given]\nQ = {rows}\nK = {rows}\n")
    short = run("derive", str(path), "--steps", "weights").stdout
    full = run("derive", str(path), "--steps", "weights", "--full").stdout
    assert "⋯" in short and "⋱" in short and "⋯" not in full
    assert max(map(len, short.partition("More: ")[0].splitlines())) < 250
    assert len(full) > 1.5 * len(short)


def test_an_overflow_is_not_settled() -> None:
    text = '[given]\nQ = [["300"]]\nK = [["300"]]\n'
    result = run("derive", "-", "--errors", "float16", given=text, status=4)
    assert "Check: overflows float16: from scores[1,1] on" in result.stdout
    assert "OVERFLOW" in result.stdout and "NOT agree" not in result.stdout


def test_a_terminal_without_unicode_gets_ascii() -> None:
    example = str(ROOT / "examples/causal.toml")
    words = ("-W", "error", "-m", "symattn.cli", "derive", example)
    result = python(*words, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.isascii() and "S/sqrt(d_k)" in result.stdout
    assert "-inf" in result.stdout


HEAVY = (
    "IPython",
    "sphinx",
    "dask",
    "matplotlib",
    "torch",
    "jax",
    "pandas",
    "scipy",
    "rich",
    "latex2mathml",
    "sympy",
    "numpy",
    "lark",
)


def test_importing_loads_nothing_heavy() -> None:
    code = f"import symattn, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    result = python("-c", code, check=True)
    assert result.stdout.strip() == "[]"


def test_the_formats_are_listed_without_what_writes_them() -> None:
    code = (
        "import sys; from symattn.cli import main\n"
        "for name in ('check', 'derive', 'prove', 'variants', 'ladder'):\n"
        "    try: main([name, '--help'])\n"
        "    except SystemExit: pass\n"
        "wanted = ('documents.blocks', 'documents.code', 'documents.html', 'notation.latex')\n"
        "print([m for m in wanted if 'symattn.' + m in sys.modules], file=sys.stderr)"
    )
    result = python("-c", code, check=True)
    assert "standalone" in result.stdout and result.stderr.strip() == "[]"


def test_deriving_loads_nothing_that_only_other_outputs_need() -> None:
    code = (
        "import sys; from symattn.cli import main\n"
        f"try: main(['derive', {str(EXAMPLES[0])!r}])\n"
        "except SystemExit: pass\n"
        "wanted = ('IPython', 'matplotlib', 'torch', 'rich', 'latex2mathml', 'scipy', 'lark')\n"
        "print([m for m in wanted if m in sys.modules], file=sys.stderr)"
    )
    result = python("-c", code, check=True)
    assert result.stderr.strip() == "[]"


def test_a_terminal_gets_colour() -> None:
    words = ["-m", "symattn.cli", "derive", "examples/it_cat_mat.toml"]
    coloured = shown_at_a_terminal(*words)
    plain = shown_at_a_terminal(*words, NO_COLOR="1")
    assert "\x1b[1m" in coloured and "\x1b[1m" not in plain
    assert "A = softmax(Z)" in coloured


@pytest.mark.parametrize("language", ["python", "numpy", "torch", "jax", "javascript"])
def test_a_variant_as_a_program_is_for_any_size(language: str) -> None:
    result = run("derive", "causal", "--format", language, status=0)
    batch = "" if language in ("python", "javascript") else "..., "
    assert f"x: token vectors, ({batch}n, d_model)" in result.stdout
    for sizes in (("--size", "tokens=5,d_k=4"), ("--symbolic",)):
        told = run("derive", "causal", *sizes, "--format", language)
        assert told.stdout == result.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("causal --format md:katexx", 'md has no such flavor; did you mean "katex"'),
        ("causal --format pdf:fragment", "pdf has no such flavor; known: article"),
        ("causal --format text:katex", "text has no flavors"),
        ("causal --format json:katex", "json has no flavors"),
        ("causal --size tokens=3 --chunks 1 --format jax", "leave out the chunks"),
        ("causal --chunks 1 --symbolic --format html", "leave out --symbolic"),
    ],
)
def test_formats_refuse_what_they_cannot_show(words: str, complaint: str) -> None:
    result = run("derive", *words.split(), status=2)
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
