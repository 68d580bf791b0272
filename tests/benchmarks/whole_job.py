"""How long the whole job takes as a process, beside `import sympy, numpy`; and how it grows.

Run with ``python tests/benchmarks/whole_job.py``. Prints medians and ratios of runs taken in turn,
so that a noisy machine disturbs both sides alike. It measures; it does not judge.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

BASE = "import sympy, numpy"
IMPORT = "import sympy, numpy, symattn"
USED = "import sympy, numpy; from symattn import Attention, Derivation, Notation"
JOB = """
import sys
from symattn.cli import main
from symattn.derivations import Derivation
from symattn.sheets.worksheet import read_worksheet
from symattn.documents import latex, mathml
from symattn.documents.outline import derivation_document, outline
from symattn.documents.shown import Shown
sheet = read_worksheet(sys.argv[1])
derivation = sheet.derivation()
values = sheet.evaluate(derivation)
page = outline(Shown(derivation, values, check=values.check()))
document = derivation_document(page)
assert latex.write([document]) and mathml.write([document]) and page.check.agrees
"""
PAGE = """
import sys
from symattn.cli import main
sys.argv = ["symattn", "derive", sys.argv[1], "--format", "html", "-o", "/dev/null"]
main()
"""
SYMPY = "import sympy"


def seconds(code: str, *words: str) -> float:
    """Wall-clock seconds of one process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *words], check=True, cwd=ROOT)
    return time.perf_counter() - start


def compare(name: str, code: str, *words: str, base: str = BASE, runs: int = 15) -> None:
    """Median of the ratio to the base, pair by pair."""
    pairs = [(seconds(code, *words), seconds(base)) for _ in range(runs + 1)][1:]
    ratio = statistics.median(a / b for a, b in pairs)
    taken, other = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"{name:<44} {taken:6.3f} s   base {other:6.3f} s   ratio {ratio:5.2f}")


def grow() -> None:
    """Seconds and characters of the full text for growing sequences."""
    from symattn import Attention
    from symattn.attention.vocabulary import Notation
    from symattn.documents import text
    from symattn.documents.outline import derivation_document, outline
    from symattn.documents.shown import Shown

    print(
        f"{'tokens':>8} {'characters':>12} {'evaluate s':>12} {'print s':>10} {'µs/character':>14}"
    )
    for count in (4, 8, 16, 32, 64):
        rows = [[(3 * i + 2 * j) % 7 for j in range(4)] for i in range(count)]
        derivation = Attention().derivation()
        start = time.perf_counter()
        values = derivation.evaluate(Q=rows, K=rows, V=rows)
        check = values.check()
        middle = time.perf_counter()
        page = outline(Shown(derivation, values, notation=Notation(limit=0), check=check))
        document = text.write([derivation_document(page, facts=True)])
        end = time.perf_counter()
        each = 1e6 * (end - start) / len(document)
        print(
            f"{count:>8} {len(document):>12} {middle - start:>12.3f} {end - middle:>10.3f} "
            f"{each:>14.2f}"
        )


def main() -> None:
    """Print both tables."""
    compare("import symattn", IMPORT)
    compare("from symattn import Attention, …", USED)
    compare(
        "derive + LaTeX + MathML + check, 3 tokens", JOB, str(ROOT / "examples/it_cat_mat.toml")
    )
    for name in ("it_cat_mat", "causal"):
        sheet = str(ROOT / "examples" / f"{name}.toml")
        compare(f"page of {name}, to import sympy", PAGE, sheet, base=SYMPY)
    grow()


if __name__ == "__main__":
    main()
