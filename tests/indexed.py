"""The index of the examples, made from what they say of themselves.

``python -m tests.indexed`` writes `examples/README.md`; `tests/cli/test_new.py` compares it.
"""

from __future__ import annotations

from symattn.cli.examples import all_examples
from tests import ROOT

INDEX = ROOT / "examples" / "README.md"


HEAD = """\
# Examples

`symattn examples` lists them, `symattn examples causal -o .` copies one, and in a checkout
`symattn derive examples/causal.toml` derives it. What may stand in a worksheet (`.toml`) is in
[docs/worksheets.md](../docs/worksheets.md).

| file | title | what it shows |
|---|---|---|
"""


def index() -> str:
    """The page: every example with its title and what it is for."""
    return HEAD + "".join(
        f"| [{each.name}]({each.name}) | {each.title} | {each.purpose} |\n"
        for each in all_examples()
    )


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8")
