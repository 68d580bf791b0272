"""``symattn examples``: what comes with the package, to read and to copy."""

from __future__ import annotations

import ast
import json
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from symattn.cli import completing as completes
from symattn.cli.help import Explained
from symattn.cli.screen import is_folder, print_lines
from symattn.errors import SymattnError, nearest, quote
from symattn.status import Status
from symattn.writing import Destination


@dataclass(frozen=True)
class Example:
    """A file that comes with the package: its name, its text, its title and what it is for."""

    name: str
    text: str
    title: str
    purpose: str

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return self.name.rpartition(".")[0]


def examples_folder() -> Traversable:
    """Where the examples are: in an installed package inside it, in a checkout beside it."""
    package = files("symattn")
    inside = package / "examples"
    return inside if inside.is_dir() else package / ".." / "examples"


def all_examples() -> list[Example]:
    """Every example, by name."""
    return [_read(name, file.read_text(encoding="utf-8")) for name, file in example_files().items()]


def example_files() -> dict[str, Traversable]:
    """The file of every example, by its name."""
    found = {file.name: file for file in examples_folder().iterdir()}
    found.pop("README.md", None)
    return {name: found[name] for name in sorted(found) if name.rpartition(".")[2] in _SAID_BY}


def _of_toml(text: str) -> tuple[str, str]:
    comment = text[: text.index("title = ")]
    return tomllib.loads(text)["title"], comment.replace("# ", "")


def _of_markdown(text: str) -> tuple[str, str]:
    title, _, rest = text.removeprefix("# ").partition("\n\n")
    return title, rest.partition("\n\n")[0]


def _of_notebook(text: str) -> tuple[str, str]:
    return _of_markdown("".join(json.loads(text)["cells"][0]["source"]))


def _of_python(text: str) -> tuple[str, str]:
    title, _, rest = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")
    return title.removesuffix("."), rest


#: What a file says of itself, its title and what it is for, by its ending.
_SAID_BY = {"toml": _of_toml, "md": _of_markdown, "ipynb": _of_notebook, "py": _of_python}


def _read(name: str, text: str) -> Example:
    title, purpose = _SAID_BY[name.rpartition(".")[2]](text)
    return Example(name, text, title, " ".join(purpose.split()))


def _titles() -> list[tuple[str, str]]:
    return [(each.stem, each.title) for each in all_examples()]


@click.command(
    cls=Explained,
    examples={
        "symattn examples": "List them.",
        "symattn examples causal two_heads -o .": "Copy two of them to this folder.",
        "symattn examples -o .": "Copy all.",
    },
)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completes.to(_titles))
@click.option(
    "-o",
    "--output",
    metavar="FOLDER|FILE",
    shell_complete=completes.files,
    help="Copy to this folder, or one to this file.",
)
def examples(names: tuple[str, ...], output: str | None) -> Status:
    """List the examples that come with symattn; print or copy those that are named, or copy all."""
    known = all_examples()
    chosen = [_named(name, known) for name in names] or (known if output is not None else [])
    if not chosen:
        width = max(len(example.name) for example in known)
        print_lines([("plain", f"{each.name:{width}}  {each.title}") for each in known])
        return Status.AGREES
    into = output is not None and is_folder(output)
    if len(chosen) > 1 and not into:
        raise SymattnError("several examples: give a folder that is there, as in -o .")
    destinations = [
        Destination.of(Path(str(output)) / each.name if into else output) for each in chosen
    ]
    for destination in destinations:  # all or none
        destination.refuse_existing()
    for example, destination in zip(chosen, destinations, strict=True):
        destination.write(example.text)
    return Status.AGREES


def _named(name: str, known: list[Example]) -> Example:
    """The example of this name, with or without its ending."""
    for example in known:
        if name in (example.name, example.stem):
            return example
    hint = nearest(name, [each.stem for each in known]) or "; symattn examples lists them"
    raise SymattnError(f"no example is called {quote(name)}{hint}")
