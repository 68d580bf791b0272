"""Nothing heavy is loaded before it is needed."""

from __future__ import annotations

import pytest

from tests.processes import python

_LOADED = "; import sys; print(*sorted({'sympy', 'numpy', 'flint'} & set(sys.modules)))"
_RUN = (
    "import contextlib, io, sys\nfrom symattn.cli import main\nsys.argv = ['symattn', {}]\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
    "    main()\n"
)


def loaded(code: str) -> list[str]:
    """The heavy packages that a new interpreter has after some code."""
    return python("-c", code, check=True).stdout.split()


@pytest.mark.parametrize(
    "words",
    ["'variants'", "'--help'", "'--version'", "'prove', '--help'", "'prove'"]
    + [f"'prove', '--format', '{form}'" for form in ("md", "html")],
)
def test_commands_that_calculate_nothing_load_no_algebra(words: str) -> None:
    assert loaded(_RUN.format(words) + _LOADED.removeprefix("; ")) == []


def test_a_spec_does_without_what_evaluates_it() -> None:
    code = "import sys; from symattn import Attention; Attention(heads=2)"
    code += "; print(*[name for name in sys.modules if name.startswith('symattn.evaluate')])"
    assert loaded(code) == []
    code = "from symattn import Attention; import sys"
    code += "; print(*[name for name in sys.modules if name.startswith('symattn.nodes.')])"
    assert loaded(code) == ["symattn.nodes.arguments"]
    assert loaded("from symattn import Attention; Attention().derivation()" + _LOADED) == [
        "flint",
        "numpy",
        "sympy",
    ]
