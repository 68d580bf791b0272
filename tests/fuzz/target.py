"""What is held of any text that is checked, whatever is in it."""

from __future__ import annotations

import time

from symattn.claims.policy import Policy
from symattn.errors import SymattnError
from symattn.pages.checked import check_text, mended
from symattn.reports.single import report_data, report_of
from tests.written import html_report, markdown_report, text_report

#: The syntaxes, by the number that an input begins with.
NAMES = ("x.toml", "x.md", "x.rst", "x.tex", "x.ipynb")

#: A text that takes longer, in seconds of the processor, is a finding.
SECONDS = 10.0

_SHEET = """[attention]
scale = false
mask = "causal"
[given]
scores = [["1/2", 0], [0, "ln 2"]]
V = [[1, 2], [3, 4]]
[claims]
weights = [[1, 0], ["0.33", "0.66"]]
"output[2,:]" = ["2.33", "?"]
[policy]
rounding = "half-up"
"""

SEEDS: tuple[bytes, ...] = (
    b"\0" + _SHEET.encode(),
    b"\0[given]\nX=[[1,0],[0,1]]\nW_Q=[[1,0],[0,1]]\nW_K=[[1,1],[0,1]]\nW_V=[[2,0],[0,4]]\n"
    b'[claims]\nK=[[1,1],[0,2]]\n"scores[1,:]"=[1,"5e-1"]\n"weights[:,1]"=["e^2/(e^2+2e^4)",".5"]\n',
    f"\1# Page\n```{{symattn}}\n{_SHEET}```\nA {{claim}}`weights[2,1] = 0.35` `x`.\n".encode(),
    (
        "\2Page\n====\n\n.. symattn::\n   :name: a\n\n   "
        + _SHEET.replace("\n", "\n   ")
        + "\n\nA :claim:`weights[2,1] = 0.35`.\n"
    ).encode(),
    f"\3\\begin{{symattn}}\n{_SHEET}\\end{{symattn}}\n\\claim{{weights[2,1]}}{{0.35}}%\n".encode(),
    b'\4{"cells":[{"cell_type":"markdown","source":["```symattn\\n","[attention]\\n","scale=false\\n",'
    b'"[given]\\n","scores=[[0,0]]\\n","```\\n","{claim}`weights[1,1] = 0.4`"]}],"nbformat":4}',
)

#: Pieces that are worth putting together.
WORDS: tuple[str, ...] = (
    "[given]",
    "[claims]",
    "[policy]",
    "[attention]",
    "[notation]",
    "weights",
    "scores",
    "output",
    "Q",
    "K",
    "V",
    "X",
    "W_Q",
    "[1,1]",
    "[1,:]",
    "[2]",
    "[:,1]",
    "[[",
    "]]",
    " = ",
    '"',
    "'",
    '"""',
    "?",
    "-inf",
    "1/3",
    "e^2",
    "sqrt(",
    "9^9^9^9",
    "1e20000000",
    "1_0",
    "sNaN",
    "٣",
    "0.50",
    "5e-1",
    "heads = 2",
    'mask = "causal"',
    'normaliser = "sum"',
    'rounding = "truncated"',
    "unfold = true",
    "accept = []",
    "digits = 100",
    "```symattn\n",
    "```",
    "{claim}`",
    "`",
    ":claim:`",
    ".. symattn::",
    "\\claim{",
    "}{",
    "\\begin{symattn}",
    "\\end{symattn}",
    "<!--",
    "-->",
    "%",
    "\r\n",
    "\n\n",
    "\t",
    "\u2028",
    "\x00",
    "\\u0060",
    "\\ud800",
    "{",
    "}",
    ",",
    "#",
    "::",
    "\n   ",
    "−",
    "≈",
)


def check_input(data: bytes) -> str:
    """Check what the bytes spell, and hold what must be true of the outcome; which it was.

    A text is refused with one line, or marked; the places of its numbers are theirs, and what is
    put right stays right. Anything else raises.
    """
    if not data:
        return "empty"
    name = NAMES[data[0] % len(NAMES)]
    text = data[1:].decode("utf-8", "surrogateescape" if data[0] > 127 else "ignore")
    start = time.process_time()
    try:
        checked = check_text(text, name)
        if checked is None or not checked.markings:
            return "nothing"
        for marking in checked.markings:
            report_data(report_of(marking))
            found = report_of(marking)
            assert text_report(found) and markdown_report(found) and html_report(found)
        for finding in checked.findings:
            if finding.correction is not None:
                assert text.startswith(finding.claimed, finding.start)
        put_right, _ = mended(checked)
    except SymattnError as error:
        assert str(error).startswith(f"{name}:"), error  # which says where
        return "refused"
    finally:
        assert time.process_time() - start < SECONDS, "too slow"
    if any(marking.policy.accept != Policy().accept for marking in checked.markings):
        return "marked"  # a mistake that is let pass may be what others follow from
    assert not put_right.corrections, put_right.text
    return "marked"
