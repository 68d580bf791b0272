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

Begin with one whose numbers can be read: the columns have names, so that the matrices say what a
token asks for and what it offers, and no weight of the last token is near 0 or 1. A word looks for
another in [causal.toml](causal.toml), [head_it_cat.toml](head_it_cat.toml),
[head_it_trophy.toml](head_it_trophy.toml) and [rileys_dog.toml](rileys_dog.toml), for a place in
[head_previous_token.toml](head_previous_token.toml),
[head_next_token.toml](head_next_token.toml) and [head_last_token.toml](head_last_token.toml).
[cross_attention.toml](cross_attention.toml), [two_heads.toml](two_heads.toml) and
[decoding.toml](decoding.toml) come next.

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
