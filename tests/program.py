"""The program of the interactive page: parts that people read, and the file that a page holds.

``python -m tests.program`` makes ``symattn/documents/page/program.js`` of the parts in the folder
``program`` beside it: all of them in one scope, minified by esbuild, which takes a third off a
page. Its first line has a digest of the parts, by which `tests/documents/page/test_program.py`
notices a later change of them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from symattn.documents.page.frame import FILES

#: The parts, in order; each has one thing to do.
PARTS = (
    "basics.js",  # elements, keys, being told of a change
    "certified.js",  # numbers with proven digits
    "reading.js",  # numbers as people type them
    "rules.js",  # of what an entry is made; worked lines
    "wrapped.js",  # formulas that are wider than a row
    "state.js",  # what was changed, and what follows from it
    "cells.js",
    "influence.js",  # what an entry reaches, and the products it is the sum of
    "claims.js",  # what somebody claimed
    "origin.js",  # the chosen entry
    "sheet.js",  # steps one below the other
    "heat.js",  # the temperature in formulas
    "followed.js",  # the row of one query, and the steps that it goes through
    "telling.js",  # what a move shows and why
    "stage.js",  # one step at a time, move by move
    "board.js",  # the stage before an audience
    "strip.js",  # the steps as small pictures
    "large.js",
    "supposed.js",  # what common mistakes would change
    "changing.js",  # given numbers, changed where they stand
    "controls.js",
    "link.js",  # undo, redo, the fragment of the URL
    "latex.js",  # a step to be copied
    "worksheet.js",
    "picture.js",
    "front.js",  # a question, its answer, the bars
    "ground.js",  # a query among its keys, the output among the values
    "goals.js",
    "falk.js",  # products in Falk's scheme
    "start.js",
)

#: Where the parts stand. A wheel leaves them out: a page holds what is made of them.
FOLDER = Path(str(FILES), "program")
PROGRAM = Path(str(FILES), "program.js")

#: Another version may shorten names in another way; `.ci/tools` installs this one.
ESBUILD = "0.28.2"


def source() -> str:
    """The parts, one after the other, in a scope of their own."""
    parts = ((FOLDER / name).read_text(encoding="utf-8") for name in PARTS)
    return "\n".join(['(() => {\n"use strict";', *parts, "})();\n"])


def heading(whole: str) -> str:
    """The first line of the file: what it was made of, as a digest."""
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return f"// Made by python -m tests.program of the parts in program/: {digest}\n"


def minified(whole: str, esbuild: str) -> str:
    """The program as esbuild writes it, the names of its own shortened."""
    command = [esbuild, "--minify", "--charset=utf8", "--log-level=warning"]
    ran = subprocess.run(
        command, input=whole, capture_output=True, check=False, encoding="utf-8", timeout=60
    )
    if ran.returncode or ran.stderr:
        raise SystemExit(f"esbuild: {ran.stderr.strip()}")
    return ran.stdout.rstrip("\n") + "\n"


def main() -> None:
    """Write the file."""
    folders = filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep))
    found = (shutil.which(str(Path(folder, "esbuild/bin/esbuild"))) for folder in folders)
    esbuild = next(filter(None, found), None) or shutil.which("esbuild")
    if esbuild is None:
        raise SystemExit(f"esbuild: not found; npm install --global esbuild@{ESBUILD}")
    whole = source()
    PROGRAM.write_text(heading(whole) + minified(whole, esbuild), encoding="utf-8")


if __name__ == "__main__":
    main()
