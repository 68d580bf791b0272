r"""Text of strangers (names of files, titles, labels, messages) as it may be printed: on one line.

What is printable stays. What a terminal, an editor or a runner of workflows would act on instead of
showing it is spelled as Python spells it: ``\x1b``, ``\n``, ``\u202e``, and ``\udcff`` for a byte
of a file's name that is no UTF-8. Nothing is dropped, and printing twice changes nothing.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from html import escape

#: Letters and marks that are no more than a gap: Hangul fillers, Khmer's inherent vowels, …
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]")

#: Joiners shape Persian and Indic words, and join emoji; the scripts before these need none.
_JOINERS, _FIRST_JOINED = "\u200c\u200d", "\u0590"

#: How a line begins, or what it holds anywhere, that makes it a command to a runner: GitHub's and
#: Azure's ``::error::``, ``##[error]`` and ``##vso[…]``, TeamCity's ``##teamcity[…]``.
_COMMAND = re.compile(r"\A(\s*):(?=:)")
_OLD_COMMAND = re.compile(r"##(?=[A-Za-z]*\[)")


def printable(text: str) -> str:
    r"""The text on one line, with nothing in it that is not seen or that a terminal acts on.

    >>> print(printable("a\x1b]0;b\n\u202ec é 中 👩\u200d💻"))
    a\x1b]0;b\n\u202ec é 中 👩‍💻
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_visible(text, k) else ascii(c)[1:-1] for k, c in enumerate(text))


def as_line(text: str) -> str:
    r"""The text as a line of its own, which is no command to a runner of workflows either.

    >>> print(as_line("::error file=a.md::b"), as_line("a ##[error]b"))
    \x3a:error file=a.md::b a #\x23[error]b
    """
    line = _OLD_COMMAND.sub(r"#\\x23", printable(text))
    return _COMMAND.sub(r"\1\\x3a", line)


def in_markup(text: str) -> str:
    """The text in HTML or XML, between tags or in quotes; there too it is no command to a runner.

    >>> in_markup('<b> "##[error]"')
    '&lt;b&gt; &quot;#&#35;[error]&quot;'
    """
    return escape(text).replace("##", "#&#35;")


def said_by(error: BaseException, most: int = 200) -> str:
    """What an exception says, in a line: its type and its first line, which it may not give away.

    A stranger's exception may do anything when it is asked for its text.

    >>> said_by(KeyError("a"))
    "KeyError: 'a'"
    """
    kind = type.__dict__["__name__"].__get__(type(error))
    text = ""
    with contextlib.suppress(BaseException):
        text = str.__getitem__(str(error), slice(0, most))
    return printable(": ".join([kind, *text.splitlines()[:1]])[:most])


def shortened(line: str, most: int = 400) -> str:
    """The line with its middle left out if it is long: first that of its longest word, a path.

    >>> shortened("/home/ann/course/week-1/a.md:3: Q: is empty; give numbers", 50)
    '/home/a…e/week-1/a.md:3: Q: is empty; give numbers'
    """
    if len(line) <= most:
        return line
    word = max(re.finditer(r"\S+", line), key=lambda found: len(found[0]))
    room = most - (len(line) - len(word[0]))
    if room >= most // 4:
        return line[: word.start()] + _cut(word[0], room) + line[word.end() :]
    return _cut(line, most)


def _cut(text: str, most: int) -> str:
    """The first third and the end; what a line ends with says how to mend it."""
    first = (most - 1) // 3
    return f"{text[:first]}…{text[len(text) - (most - 1 - first) :]}"


def _is_visible(text: str, place: int) -> bool:
    """Whether a character is seen: a sign, a blank, or a joiner where it changes its neighbours."""
    character = text[place]
    if character in _JOINERS:
        around = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
        return all(c >= _FIRST_JOINED and unicodedata.category(c)[0] in "LMS" for c in around)
    if unicodedata.category(character) == "Zs":
        return True
    return character.isprintable() and not _BLANK.match(character)
