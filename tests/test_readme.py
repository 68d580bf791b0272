"""The README: all that it shows is what the program does, and its pictures are of this program."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests import ROOT, pictures
from tests.command import run
from tests.extras import package
from tests.sphinxed import warnings_of

README = (ROOT / "README.md").read_text(encoding="utf-8")


#: A page of which the README says how its build ends.
PAGE = """\
# What does *it* look at?

```{attention} it_cat_mat.toml
:steps: weights
```

*it* gives *cat* {claim}`weights[1,2] = 0.54` of its attention.
"""


def blocks(language: str) -> list[tuple[str, str]]:
    """The fenced blocks of the README in a language."""
    return re.findall(rf"^(`{{3,}}){language}\n(.*?)^\1$", README, re.MULTILINE | re.DOTALL)


def is_shown(shown: str, printed: str) -> bool:
    """Whether lines were printed one after the other, ``…`` standing for any that are left out."""
    parts = (re.escape(part) for part in f"\n{shown.strip()}\n".split("\n…\n"))
    return re.fullmatch(r"\n(.*\n)?".join(parts), f"\n{printed.strip()}\n", re.DOTALL) is not None


def test_lines_that_were_not_printed_are_caught() -> None:
    assert is_shown("a\nb", "a\nb\n") and is_shown("…\nb\n…", "a\nb\nc") and is_shown("a\n…", "a")
    assert not is_shown("a\nb", "a\nb\nc") and not is_shown("…\nb", "a\nbc")
    assert not is_shown("a\n…\nc", "a\nb") and not is_shown("0.1", "011")


def test_every_output_that_is_shown_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ran = 0
    for _, block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            program, *words = shlex.split(command)
            if program == "symattn":
                assert is_shown(shown, run(*words).stdout), command
                ran += 1
    assert ran >= 2


def test_the_worksheet_is_the_example() -> None:
    ((_, block),) = blocks("toml")
    example = (ROOT / "examples/it_cat_mat.toml").read_text(encoding="utf-8")
    assert example.endswith(block) and example.removesuffix(block).startswith("#")


def test_the_documentation_build_fails_as_shown(tmp_path: Path) -> None:
    package("sphinx"), package("myst_parser")
    (shown,) = re.findall(r"`(index.md:7: WARNING: .*?)`", README)
    (tmp_path / "index.md").write_text(PAGE, encoding="utf-8")
    shutil.copy(ROOT / "examples/it_cat_mat.toml", tmp_path)
    extensions = '"myst_parser", "symattn.sphinxext"'
    warned = re.sub(r"\x1b\[[0-9;]*m", "", warnings_of(tmp_path, extensions))
    assert warned.replace(f"{tmp_path}{os.sep}", "") == f"{shown}\n"


def test_the_function_is_that_of_the_example() -> None:
    (_, block), *_ = blocks("python")
    assert (ROOT / "examples/flash_attention.py").read_text(encoding="utf-8").endswith(block)


def test_what_it_says_of_the_package() -> None:
    from symattn import TEXTS, VARIANTS

    assert f"any of {len((*VARIANTS, *TEXTS))} variants" in README
    assert README.count("\n") <= 150


def test_every_command_it_names_is_there() -> None:
    for words in re.findall(r"`symattn ([a-z]+)", README):
        assert run(words, "--help").exit_code == 0, words


def test_its_pictures_are_of_this_program() -> None:
    mend = "`python -m tests.pictures` draws them anew"
    assert (pictures.FOLDER / "page.sha256").read_text("utf-8") == pictures.seen(pictures.page()), (
        f"docs/pictures/page-*.png are of another page; {mend}"
    )
    for name in ("page-light.png", "page-dark.png"):
        assert (pictures.FOLDER / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(os.name == "nt", reason="terminals are of POSIX")
def test_its_session_is_what_a_terminal_shows() -> None:
    drawn = (pictures.FOLDER / "session.svg").read_text("utf-8")
    assert drawn == pictures.session(), "`python -m tests.pictures` draws it anew"


def test_another_page_is_another_picture() -> None:
    page = pictures.page()
    assert pictures.seen(page.replace("0.1400", "0.1401", 1)) != pictures.seen(page)
    assert pictures.seen(page.replace("</script>", "//</script>")) == pictures.seen(page)
