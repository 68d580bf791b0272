"""What people write, read into a small tree and never run as code.

One grammar serves the closed numbers of worksheets (`read_closed`) and the matrix expressions of
statements (`read`); both are interpreted elsewhere. From loose to tight::

    sum        term ((+ | -) term)*                        a sign before a term is the whole term's
    term       product ((∘ ⊙ .* | ⊘ ./) product)*          entry by entry
    product    power ((· × ⋅ @ | / | nothing) power)*      from left to right; * with a number
    power      turned ^ exponent                           from right to left: 2^3^2 is 2^9
    turned     atom (.T | ᵀ | ^T | ⁻¹ | ² | …)*
    atom       number | name | function(argument, …) | √ atom | (sum) | {sum} | [sum, …; …]
               | name[part, …] | sum_h(sum) | concat_h(sum)
    argument   sum | option = sum | option = word
    part       sum | [sum] : [sum]                         of a name that the bracket touches

An equation's right side (`read_right`) may also be cases, ``value if test else otherwise``, whose
test joins comparisons (``0 <= i - j < w``) by ``and``, ``or``, ``not``; a comparison alone is 1
or 0.

``e^x`` is ``exp(x)``. A name is a letter, digits, a subscript, a prime: ``Q K1 W_Q W_{QK} W_Q' θ``;
letters written together are a product (``QK^T``) unless the name is declared, but a word before a
bracket is a function or is refused. A ``1`` that is transposed, stands behind a matrix, or before
a small letter, another column of ones or a function's row (``A 1``, ``1 c^T``, ``1 1^T``,
``1 colmean(V)``) is a column of ones.

The tokens are cut here, because letters depend on what is declared; Lark's LALR parser puts them
together. It is built when the first expression is read. Length, depth and numbers are bounded
before any arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property, reduce
from itertools import pairwise
from operator import add, mul, truediv
from typing import Any, cast

from symattn.errors import ReadError, close_to, nearest, quote
from symattn.greek import GREEK

#: Of a statement: its characters, brackets inside one another, powers; of a number: its digits and
#: its exponent, as in 1e400.
MAX_LENGTH, MAX_DEPTH, MAX_POWER, MAX_DIGITS, MAX_EXPONENT = 2000, 40, 64, 60, 400
#: The product of the exponents of powers within powers, as in (x^64)^64.
MAX_NESTED = MAX_POWER**2


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """A part of a text; `at` is its first character, from 0, or −1 where it was not written."""

    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True)
class Number(_Placed):
    """A rational number; `vector` if it is a 1 that stands for a column of ones."""

    value: Fraction
    vector: bool = False


@dataclass(frozen=True)
class Name(_Placed):
    """A matrix, a vector, a scalar, a size, or one of the constants e, pi and ∞."""

    name: str


@dataclass(frozen=True)
class Call(_Placed):
    """A function of expressions, by its name in `FUNCTIONS`; an option is a word or a tree."""

    name: str
    args: tuple[Tree, ...]
    options: tuple[tuple[str, str | Tree], ...] = ()


@dataclass(frozen=True)
class Apart(_Placed):
    """An operation on parts: + * × ∘ ⊘ / T inv neg ^.

    A product that is written with ``*`` is "×", for that is refused between two matrices.
    A power has its base as the only part if the exponent is a rational number; otherwise, in
    closed numbers only, the exponent is the second part.
    """

    sign: str
    parts: tuple[Tree, ...]
    exponent: Fraction = Fraction(1)


@dataclass(frozen=True)
class Part:
    """One of the ranges in ``Q[:, 1:d]``: from `start` to `stop`, or `start` alone if `single`.

    An end that is left out is None.
    """

    start: Tree | None
    stop: Tree | None = None
    single: bool = False


@dataclass(frozen=True)
class Indexed(_Placed):
    """Parts of a matrix, an entry, a row, or the matrix of one head: V[1:2, :], P[i, j], Q[h]."""

    base: Tree
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Every(_Placed):
    """`word` (sum or concat) of `body` for every value of an index: sum_h(…), concat_h(…)."""

    word: str
    index: str
    body: Tree


@dataclass(frozen=True)
class Compared(_Placed):
    """A chain of comparisons: 0 <= i − j < w."""

    sides: tuple[Tree, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Joined(_Placed):
    """Tests joined by and, or; one test that does not hold: not."""

    word: str
    tests: tuple[Tree, ...]


@dataclass(frozen=True)
class Chosen(_Placed):
    """`value` where the test holds, else `otherwise`."""

    value: Tree
    test: Tree
    otherwise: Tree


Tree = Number | Name | Call | Apart | Indexed | Every | Compared | Joined | Chosen


def read(text: str, declared: Collection[str] = (), functions: Collection[str] = ()) -> Tree:
    """The tree of one side of a statement. Raises `ReadError` for what is none.

    `functions` are words of functions beside those of `FUNCTIONS`.

    >>> read("Q K^T")
    Apart(sign='*', parts=(Name(name='Q'), Apart(sign='T', parts=(Name(name='K'),), exponent=\
Fraction(1, 1))), exponent=Fraction(1, 1))
    """
    if not isinstance(text, str):
        raise ReadError(f"{quote(text)} is not a text")
    return _read(_Lexer(text, declared, own=functions))


def read_right(
    text: str,
    declared: Collection[str] = (),
    functions: Collection[str] = (),
    usual: Collection[str] = (),
) -> Tree:
    """The tree of an equation's right side: what `read` reads, cases and comparisons.

    `functions` are words of functions beside those of `FUNCTIONS`; letters written together are
    refused where one of the `usual` names may be meant; an exponent may be any tree.

    >>> read_right("0 if j <= i else 1").test
    Compared(sides=(Name(name='j'), Name(name='i')), signs=('≤',))
    """
    return _read(_Lexer(text, declared, equation=True, own=functions, usual=usual))


def read_closed(text: str) -> Tree:
    """The tree of a closed number: constants are its only names, any exponent is allowed.

    >>> read_closed("2^-1")
    Apart(sign='inv', parts=(Number(value=Fraction(2, 1), vector=False),), exponent=Fraction(1, 1))
    """
    return _read(_Lexer(text, closed=True))


def sides(text: str) -> list[str]:
    """Both sides of an equation. Raises `ReadError` for what is not exactly one.

    >>> sides("softmax(S) 1 = 1")
    ['softmax(S) 1', '1']
    """
    if len(text) > 2 * MAX_LENGTH + len("=="):
        raise _too_long(text)
    signs: list[tuple[int, int]] = []
    inside: tuple[int, int] | None = None  # an = in brackets, and the bracket
    opened: tuple[int, ...] = ()
    for match, opened in marks(text, _IN_STATEMENTS):
        token = match[0]
        if token and not opened:  # where no option stands: d_k = 1 is a side
            signs.append((match.start() + len(token.rstrip("=")), match.end()))
        elif token in ("=", "==") and inside is None:
            inside = match.start(), opened[-1]
    if inside is not None:
        place, bracket = inside
        if bracket in opened:
            raise _refused(text, place, _UNCLOSED, bracket)
        why = "an equation stands inside the bracket opened at ‹›; state it without brackets"
        raise _refused(text, place, why, bracket)
    if not signs:
        raise _refused(text, len(text), "two sides are needed: write A = B")
    if len(signs) > 1:
        raise _refused(text, signs[1][0], "two signs of equality; state one equation at a time")
    ((start, end),) = signs
    left, right = text[:start].strip(), text[end:].strip()
    if not left or not right:
        side = "right" if left else "left"
        raise _refused(text, start, f"the {side} side is empty; two sides are needed: write A = B")
    return [left, right]


def is_inequality(text: str) -> bool:
    """Whether a text holds a sign of comparison other than =."""
    return _UNEQUAL.search(text) is not None


def relations(text: str) -> tuple[list[str], bool]:
    """The sides of a chain of inequalities, the smallest first, and whether it is written last.

    Raises `ReadError` for signs other than ≤ alone or ≥ alone.

    >>> relations("rowmax(S) + ln m >= lse(S)")
    (['lse(S)', 'rowmax(S) + ln m'], True)
    """
    if len(text) > 2 * MAX_LENGTH:
        raise _too_long(text)
    places = [found for found, opened in marks(text, _IN_BOUNDS) if found[0] and not opened]
    signs = {_LESS.get(found[0], "") for found in places}
    for found in places:
        if signs not in ({"≤"}, {"≥"}):
            why = "a chain has one sign, ≤ (<=) or ≥ (>=); what is strict is not decided"
            raise _refused(text, found.start(), why)
    if not places:
        raise _refused(text, len(text), "two sides are needed: write A <= B")
    ends = [(0, 0), *(found.span() for found in places), (len(text), len(text))]
    out = [text[one[1] : other[0]].strip() for one, other in pairwise(ends)]
    if "" in out:
        place = ends[out.index("")][0]
        raise _refused(text, place, "a side is empty; write A <= B")
    falls = signs == {"≥"}
    return out[::-1] if falls else out, falls


def marks(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], tuple[int, ...]]]:
    """Each match of a pattern but the brackets, and where the brackets were opened around it."""
    opened: list[int] = []
    for match in pattern.finditer(text):
        if match[0] and match[0] in "([{":
            opened.append(match.start())
        elif match[0] and match[0] in ")]}":
            del opened[-1:]
        else:
            yield match, tuple(opened)


# ---- refusals --------------------------------------------------------------------------------


class Refused(ReadError):
    """What cannot be read: why, and the character of the text where it shows, from 0.

    `bracket` is the character that ‹› stands for in the reason.
    """

    def __init__(
        self, message: str = "", place: int = -1, why: str = "", bracket: int = -1
    ) -> None:
        super().__init__(message)
        self.place, self.why, self.bracket = place, why, bracket


def _too_long(text: str) -> ReadError:
    return ReadError(f"{len(text)} characters are too many; write {MAX_LENGTH} at most")


def _refused(text: str, place: int, why: str, bracket: int = -1) -> Refused:
    """The error for a text: its reason, and a quotation of the place."""
    at = len(text) - len(text[place:].lstrip())
    rest = text[at:].rstrip()
    quoted = quote(rest if len(rest) <= 20 else f"{rest[:19]}…") if rest else "the end"
    said = why.replace("‹›", f"character {bracket + 1}")
    said = f"{quote(text)} cannot be read: at character {at + 1}, {quoted}: {said}"
    return Refused(said, at, why if why.startswith('"') else f"{quoted}: {why}", bracket)


def _read(lexer: _Lexer) -> Tree:
    """The tree of a text."""
    from lark.exceptions import UnexpectedToken  # heavy: most runs read no statement

    text = lexer.source
    if len(text) > MAX_LENGTH:
        raise _too_long(text)
    tokens = [*lexer.tokens()]
    if not tokens:
        raise _refused(text, len(text), "it is empty")
    try:
        phrase = _parser()(tokens, "right" if lexer.equation else "start")
    except UnexpectedToken as unexpected:
        token = unexpected.token
        if token.type == "$END":
            raise _refused(text, len(text), "it ends too early") from None
        why = f"{quote(token.spelling)} is not expected here"
        raise _refused(text, token.start_pos, why) from None
    if not lexer.closed:
        _check_exponents(phrase, lexer.equation)
    return phrase.tree


def _check_exponents(phrase: _Phrase, equation: bool) -> None:
    """Exponents in statements are rational numbers of a moderate size."""
    for place, exponent, closed, times in phrase.exponents:
        if exponent is None and not closed:
            if equation:  # it may be an index or a size
                continue
            raise phrase.wrong("an exponent is a number: A^2, A^T, A^-1, x^(1/2)", place)
        if exponent is None or abs(exponent) > MAX_POWER or exponent.denominator > MAX_POWER:
            raise phrase.wrong(f"keep exponents and their denominators to {MAX_POWER}", place)
        if times > MAX_NESTED:
            raise phrase.wrong(f"keep the exponents of powers of powers to {MAX_NESTED}", place)


# ---- tokens ----------------------------------------------------------------------------------


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """LaTeX's spellings as plain ones, and for each character of the result where it came from."""
    if not any(mark in text for mark in "\\𝟏𝟙"):
        return text, range(len(text) + 1)
    plain = ""
    origin: list[int] = []
    done = 0
    for match in _LATEX.finditer(text):
        plain += text[done : match.start()]
        origin += range(done, match.start())
        new = _from_latex(match)
        if len(new) > 1 and text[done : match.start()][-1:].isalpha():
            new = f" {new}"
        plain += new
        origin += [match.start()] * len(new)
        done = match.end()
    return plain + text[done:], [*origin, *range(done, len(text) + 1)]


def _from_latex(match: re.Match[str]) -> str:
    """One of LaTeX's spellings as a plain one; a command that is not known stays what it is."""
    letters, word, mark = match["d"] or match["inner"], match["word"], match["mark"]
    if letters:
        return letters
    if mark:
        return " " if mark in ",;:! " else mark
    if not word:
        return "ones"
    known = word in FUNCTIONS or word in _CONSTANTS or word in _OFFERS
    return _LATEX_WORDS.get(word, word if known else match[0])


@dataclass(frozen=True, slots=True)
class _Token:
    """A token as Lark's parser takes it, and the text that it stands in."""

    type: str
    spelling: str
    source: str
    start_pos: int
    end_pos: int
    #: Lark asks for these at the end of a text.
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def wrong(self, why: str) -> Refused:
        """The error for what is wrong here."""
        return _refused(self.source, self.start_pos, why)


#: The kind and the spelling of a token, and where it begins and ends.
_Cut = tuple[str, str, int, int]


@dataclass(frozen=True)
class _Lexer:
    """Cuts a text into tokens; what it may hold are declared letters, and the functions `own`.

    `equation` says whether it is the right side of an equation; `usual` are names that letters
    written together may be meant for.
    """

    source: str
    declared: Collection[str] = ()
    closed: bool = False
    equation: bool = False
    own: Collection[str] = ()
    usual: Collection[str] = ()

    @cached_property
    def plain(self) -> tuple[str, Sequence[int]]:
        """The text without LaTeX's spellings, and where its characters came from."""
        return _plain(self.source)

    @property
    def text(self) -> str:
        """The text without LaTeX's spellings."""
        return self.plain[0]

    def wrong(self, place: int, why: str, bracket: int = -1) -> Refused:
        """The error for what is wrong at a character of the plain text."""
        origin = self.plain[1]
        at = origin[bracket] if bracket >= 0 else bracket
        return _refused(self.source, origin[place], why, at)

    def tokens(self) -> Iterator[_Token]:
        """The tokens, every bracket matched."""
        opened: list[tuple[str, int]] = []
        origin = self.plain[1]
        for kind, token, start, end in self._cut():
            if kind in ("OPEN", "LSQB", "INDEX"):
                opened.append((token, start))
                if len(opened) > MAX_DEPTH:
                    raise self.wrong(start, _TOO_DEEP)
            elif kind in ("CLOSE", "RSQB"):
                if not opened:
                    raise self.wrong(start, f"{token} is not expected here; no bracket is open")
                bracket, place = opened.pop()
                if _CLOSES[bracket] != token:
                    why = f"the bracket {bracket} opened at ‹› is closed by {_CLOSES[bracket]}"
                    raise self.wrong(start, why, place)
            yield _Token(kind, token, self.source, origin[start], origin[end])
        if opened:
            raise self.wrong(len(self.text), _UNCLOSED, opened[-1][1])

    def _cut(self) -> Iterator[_Cut]:
        position, last, before = 0, len(self.text.rstrip()), ("", -1)
        while position < last:
            match = _TOKEN.match(self.text, position)
            assert match is not None
            for found in self._read(match, before):
                kind, token, start, position = found
                if self.closed and kind not in _IN_CLOSED:
                    hint = "; write a decimal with a point" if token == "," else ""
                    raise self.wrong(start, self.foreign(start) + hint)
                before = kind, position
                yield found

    def _read(self, match: re.Match[str], before: tuple[str, int]) -> Iterator[_Cut]:
        """The tokens that begin at a match; `before` is the token before it and its end."""
        kind = match.lastgroup or ""
        token, (start, end) = match[kind], match.span(kind)
        match kind:
            case "unknown":
                why = self.foreign(start) if self.closed else "this has no meaning here"
                raise self.wrong(start, why)
            case "cut":
                letter = token.rstrip("+-−")[-1]
                raise self.wrong(start, f"an exponent is cut off; write 2e3, or 2*{letter}")
            case "word":
                yield from self._word(start)
            case "option" if not self.closed:
                yield "OPTION", token.rstrip("= \t"), start, end
                word = _OPTION_WORD.match(self.text, end)
                if word is not None and not self._is_name(word[1]):
                    yield "WORD", word[1], *word.span(1)
            case "summed" if not self.closed:
                yield *self._summed(token, start, end), start, end
            case "root":
                yield ("FUNCTION" if self.opens(end) else "BARE"), token, start, end
            case "sign":
                yield *self._sign(token, start, before), start, end
            case "axis":
                yield "AXIS", self._axis(token, start), start, end
            case _:
                yield kind.upper(), token, start, end

    def _sign(self, token: str, start: int, before: tuple[str, int]) -> tuple[str, str]:
        """The kind of a sign, and its usual spelling."""
        if token == "*" and not self.closed:
            return "STAR", token
        token = _SAME.get(token, token)
        if token in _COMPARISONS:
            if self.equation:
                return "COMPARE", _COMPARISONS[token]
            if token != "==":
                raise self.wrong(start, "this has no meaning here")
        touches = before[1] == start and before[0] in ("NAME", "CLOSE", "RSQB")
        if token == "[" and touches and (before[0] == "NAME" or self.equation):
            return "INDEX", token
        if token not in _SIGNS:
            raise self.wrong(start, "a sign of equality is not expected here")
        return _SIGNS[token], token

    def _is_name(self, word: str) -> bool:
        """Whether what stands behind an option is a letter, a number's name or a function."""
        known = word in self.declared or word in GREEK or word in FUNCTIONS or word in _CONSTANTS
        return known or _ONE_NAME.fullmatch(word) is not None

    def foreign(self, start: int) -> str:
        """The reason why a token cannot stand in a closed number."""
        word = quote(_found(_ANYTHING, self.text, start))
        return f"{word} is not part of a number; names and code are not read"

    def opens(self, end: int) -> bool:
        """Whether a bracket opens behind a word."""
        return _OPENS.match(self.text, end) is not None

    def _word(self, start: int) -> Iterator[_Cut]:
        """What stands for a run of letters, digits and one subscript."""
        found = (_found(one, self.text, start) for one in (_NAME, _IDENTIFIER, _CLOSED_WORD))
        word = _Word(self, start, *found)
        return word.in_closed() if self.closed else word.read()

    def _summed(self, token: str, start: int, end: int) -> tuple[str, str]:
        if _bare(token) in self.declared:
            return "NAME", _bare(token)
        word, _, index = token.partition("_")
        index = index.strip("{}")
        concat = word.lower() == "concat"
        if self.equation and index and self.opens(end):
            return "EVERY", f"{'concat' if concat else 'sum'}_{index}"
        if concat:
            raise self.wrong(start, "Concat_h joins the matrices of heads, in equations only")
        if index not in _SUMS:
            why = "Σ_i sums over rows and Σ_j over columns; write Σ_j(A) or rowsum(A)"
            raise self.wrong(start, why)
        return ("FUNCTION" if self.opens(end) else "BARE"), _SUMS[index]

    def _axis(self, token: str, start: int) -> str:
        axis = token.partition("=")[2].strip().replace("−", "-")
        if axis not in _AXES:
            raise self.wrong(start, "softmax(S), softmax(S, columns) or softmax(S, axis=0)")
        return _AXES[axis]


@dataclass(frozen=True)
class _Word:
    """A run of letters, digits and one subscript: a name, a function, a product of letters.

    `name` is all of it, `word` without a prime or braces, `letters` without anything but letters.
    """

    lexer: _Lexer
    start: int
    name: str
    word: str
    letters: str

    def _cut(self, kind: str, spelling: str, written: str) -> _Cut:
        """A token that is spelled so, from the beginning of the word."""
        return kind, spelling, self.start, self.start + len(written)

    def _wrong(self, why: str) -> Refused:
        return self.lexer.wrong(self.start, why)

    def _behind(self, written: str) -> str:
        """The sign that touches what is written."""
        end = self.start + len(written)
        return self.lexer.text[end : end + 1]

    def _opens(self, written: str) -> bool:
        return self.lexer.opens(self.start + len(written))

    def _applied(self, word: str) -> str:
        """The kind of a function's name, by what follows it."""
        if self._opens(word):
            return "FUNCTION"
        if canonical(word) in _WITHOUT_BRACKETS:
            return "BARE"
        if ARITY.get(canonical(word), (1, 1))[0] == 0:
            return "NULLARY"
        if word in ("σ", "Σ"):  # the letters, where nothing follows that they could be applied to
            return "NAME"
        raise self._wrong(f"{word} needs brackets: {word}(…)")

    def in_closed(self) -> Iterator[_Cut]:
        """What stands for it in a closed number: a constant or a function."""
        word = self.letters
        if word in _CONSTANTS:
            yield self._cut("CONSTANT", _CONSTANTS[word], word)
        elif word not in _CLOSED_FUNCTIONS:
            raise self._wrong(self.lexer.foreign(self.start))
        elif self.word in ("log2", "log10", "exp2"):
            offer = _OFFERS[self.word]
            raise self._wrong(f"{quote(self.word)} is not a function here: {offer}")
        else:
            yield self._cut("FUNCTION" if self._opens(word) else "BARE", word, word)

    def read(self) -> Iterator[_Cut]:
        """What stands for it in a statement."""
        name, word, known = self.name, self.word, self.lexer
        letter = greek(_bare(name))
        direct = self._behind(name) == "("
        if letter in known.own and self._opens(name):
            yield self._cut("FUNCTION", letter, name)
        elif letter in known.declared:
            yield self._cut("NAME", letter, name)
        elif word in _KEYWORDS:
            if not known.equation:
                why = f"{quote(word)} is a word of equations, not a product of letters"
                raise self._wrong(why)
            yield self._cut(_KEYWORDS[word], word, word)
        elif letter != _bare(name) and word not in _CONSTANTS:  # alpha, beta_1
            if direct:
                raise self._wrong(f"{letter} is no function; write {letter} (…) for a product")
            yield self._cut("NAME", letter, name)
        elif meant := self._meaning():
            yield meant
        elif not _ONE_NAME.fullmatch(name):
            yield from self._together()
        elif known.equation and direct:
            raise self._wrong(
                f"{name} is neither a function nor a letter that is given or made; write "
                f"{name} (…) for a product, or define {name}(x) = …"
            )
        else:
            yield self._cut("NAME", _bare(name), name)

    def _meaning(self) -> _Cut | None:
        """What it means whatever is declared, if it does."""
        word, after = self.word, self._behind(self.word)
        if after == "'":
            return None
        if word in _AXES:
            return self._cut("AXIS", _AXES[word], word)
        if word in _CONSTANTS:
            return self._cut("CONSTANT", _CONSTANTS[word], word)
        if word in FUNCTIONS:
            return self._cut(self._applied(word), word, word)
        if word == "ones" and after != "(":
            return self._cut("ONES", word, word)
        if _BEFORE_DIGITS.fullmatch(word) and after != "(":  # ln2, sqrt2
            name = word.rstrip("0123456789")
            return self._cut("BARE", name, name)
        return None

    def _together(self) -> Iterator[_Cut]:
        """Letters written together: a product, unless they look like a word."""
        word, letters = self.word, self.name.partition("_")[0].rstrip("'")
        small = any(letter.islower() for letter in letters)
        direct = self._behind(word) == "("
        if word.lower() in _ANY_CASE and len(word) > 2 and (direct or small):
            yield self._cut(self._applied(word), word, word)
            return
        why = self._refused(direct, self._opens(word), small)
        if why:
            raise self._wrong(why)
        for part in _ONE_NAME.finditer(self.name):
            yield "NAME", _bare(part[0]), self.start + part.start(), self.start + part.end()

    def _refused(self, direct: bool, opens: bool, small: bool) -> str:
        """Why letters written together are no product; empty where they are one."""
        word, parts = self.word, _ONE_NAME.findall(self.name)
        product = " ".join(map(_bare, parts))
        product = product if len(product) <= 40 else f"{product[:39]}…"
        if opens and not small and word.lower() in _ANY_CASE and len(word) > 2:
            return f"write {word}(…) for the function or {product} (…) for the product"
        offer, close = _OFFERS.get(word.lower(), ""), ""
        run = _LOWERCASE_RUN.search(self.name.partition("_")[0])
        if run:
            close = close_to(word, [*_KNOWN, *self.lexer.own])
        if direct or (opens and small):
            mend = f": {offer}" if offer else f"; did you mean {close}?" if close else ""
            product = f"; write {product} (…) for a product{nearest(word, _KNOWN)}"
            return f"{quote(word)} is no function{mend or product}"
        if meant := self._usual(parts):
            return f"{quote(self.name)} would be the product {product}; did you mean {meant}?"
        if not run:
            return ""
        hint = offer or f"write {product} for a product"
        hint = f"did you mean {close}(…)? Else {hint}" if close and not offer else hint
        return f"{quote(word)} is no name; {hint}"

    def _usual(self, parts: Sequence[str]) -> str:
        """What letters written together are meant for, if they spell a usual name without its mark.

        dk is d_k, and XWQ is X W_Q, unless all the letters are made or given.
        """
        names = {_bare(name).replace("_", ""): name for name in self.lexer.usual if "_" in name}
        longest = max(map(len, names), default=0)
        for first in range(len(parts)):
            for last in range(min(len(parts), first + longest), first + 1, -1):
                run = parts[first:last]
                name = names.get("".join(run))
                if name and not all(_bare(part) in self.lexer.declared for part in run):
                    return " ".join((*parts[:first], name, *parts[last:]))
        return ""


def _found(pattern: re.Pattern[str], text: str, start: int) -> str:
    """What matches at a place; empty where nothing does."""
    match = pattern.match(text, start)
    return match[0] if match else ""


def _bare(name: str) -> str:
    """A name without the braces and commas of its subscript."""
    return name.translate(_BRACES)


def canonical(word: str) -> str:
    """The name of a function; one of the reader's own has its own."""
    return FUNCTIONS.get(word) or _ANY_CASE.get(word.lower(), word)


def greek(name: str) -> str:
    """A name whose first part is that of a Greek letter with that letter: α for alpha, β1, λ_q.

    >>> greek("beta_1"), greek("gate")
    ('β_1', 'gate')
    """
    stem, mark, label = name.partition("_")
    letters = stem.rstrip("0123456789'")
    letter = GREEK.get(letters, letters) if letters != "pi" else letters
    return f"{letter}{stem[len(letters) :]}{mark}{label}"


# ---- phrases ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A part that has been read: its tree, where it stands, and what its neighbours ask about.

    `closed` if it has no letters; `first` if its first token is a number or a small letter;
    `bare` is a function written without brackets, its spelling; `together` if it is names side by
    side; `exponents` are those inside: where, the number if it is one, whether it is closed, and
    the product with those of the powers within its base.
    """

    tree: Tree
    source: str
    start: int
    end: int
    depth: int = 0
    closed: bool = False
    first: str = ""
    bare: str = ""
    together: bool = False
    exponents: tuple[tuple[int, Fraction | None, bool, Fraction], ...] = ()

    def wrong(self, why: str, place: int = -1) -> Refused:
        """The error for what is wrong here, or at a place in it."""
        return _refused(self.source, self.start if place < 0 else place, why)


def _phrase(
    tree: Tree,
    parts: Sequence[_Phrase],
    start: _Token | _Phrase,
    end: _Token | _Phrase,
    deeper: int = 1,
    **facts: Any,
) -> _Phrase:
    """A phrase made of parts, if it is not too deep, from the start of one to the end of one."""
    source, (first, _), (_, last) = start.source, _span(start), _span(end)
    depth = max((part.depth for part in parts), default=0) + deeper
    if depth > MAX_DEPTH:
        raise _refused(source, first, _TOO_DEEP)
    exponents = tuple(one for part in parts for one in part.exponents)
    facts = {"closed": all(part.closed for part in parts), "exponents": exponents, **facts}
    tree = tree if tree.at >= 0 else replace(tree, at=first)
    return _Phrase(tree, source, first, last, depth, **facts)


def _of_token(tree: Tree, token: _Token, **facts: Any) -> _Phrase:
    """A phrase of one token, which is no deeper than nothing."""
    return _phrase(tree, (), token, token, 0, **{"closed": False, **facts})


def _span(part: _Token | _Phrase) -> tuple[int, int]:
    """Where a token or a phrase begins and ends."""
    return (part.start, part.end) if isinstance(part, _Phrase) else (part.start_pos, part.end_pos)


class _Builder:
    """What is made of each rule of `_GRAMMAR`, of the tokens and phrases that it consists of."""

    @staticmethod
    def number(token: _Token) -> _Phrase:
        """A decimal, exactly."""
        digits, _, exponent = token.spelling.replace("−", "-").lower().partition("e")
        if len(digits) > MAX_DIGITS:
            raise token.wrong(f"a number has too many digits; {MAX_DIGITS} at most")
        if len(exponent) > 9 or abs(int(exponent or 0)) > MAX_EXPONENT:
            raise token.wrong(f"keep the exponent within ±{MAX_EXPONENT}")
        value = Fraction(Decimal(digits)) * Fraction(10) ** int(exponent or 0)
        return _of_token(Number(value), token, closed=True, first="number")

    @staticmethod
    def name(token: _Token) -> _Phrase:
        """A letter that is declared or means itself."""
        letter = token.spelling
        small = letter[0].islower() and not letter[1:2].isupper()
        return _of_token(Name(letter), token, first="small" if small else "")

    @staticmethod
    def constant(token: _Token) -> _Phrase:
        """The constants e, pi and ∞."""
        return _of_token(Name(token.spelling), token, closed=True)

    @staticmethod
    def ones(token: _Token) -> _Phrase:
        """A column of ones, spelled out."""
        return _of_token(_ones(token.start_pos), token)

    @staticmethod
    def nullary(token: _Token) -> _Phrase:
        """A function of nothing."""
        return _of_token(Call(canonical(token.spelling), ()), token)

    @staticmethod
    def bracket(opened: _Token, inner: _Phrase, closed: _Token) -> _Phrase:
        """( … ) or { … }."""
        return _phrase(inner.tree, [inner], opened, closed)

    @staticmethod
    def call(word: _Token, opened: _Token, *rest: _Token | _Phrase | _Option) -> _Phrase:
        """A function with its arguments in brackets."""
        name, (*given, closed) = canonical(word.spelling), rest
        assert isinstance(closed, _Token)
        parts = [part for part in given if isinstance(part, _Phrase)]
        options = [part for part in given if isinstance(part, _Option)]
        for axis in given[1:]:
            if isinstance(axis, _Token):
                name = _along(name, axis, len(parts))
        _check_arity(name, word, len(parts))
        names = [option.name for option in options]
        for twice in names:
            if names.count(twice) > 1:
                raise word.wrong(f"{word.spelling} is given {twice} twice")
        settings = tuple((option.name, option.said) for option in options)
        tree = Call(name, tuple(part.tree for part in parts), settings)
        values = [option.value for option in options if option.value is not None]
        words = len(values) < len(options)
        out = _phrase(tree, [*parts, *values], word, closed)
        return replace(out, closed=out.closed and bool(parts) and not words)

    @staticmethod
    def option(name: _Token, value: _Token | _Phrase) -> _Option:
        """An option of a function: base=500, pairing=half."""
        if isinstance(value, _Phrase):
            return _Option(name.spelling, value.tree, value)
        return _Option(name.spelling, value.spelling)

    @staticmethod
    def every(word: _Token, opened: _Token, inner: _Phrase, closed: _Token) -> _Phrase:
        """sum_h(…), concat_h(…); sum_i and sum_j of what has no such index are line sums."""
        kind, _, index = word.spelling.partition("_")
        tree: Tree = Every(kind, index, inner.tree)
        if kind == "sum" and index in ("i", "j") and not _uses(inner.tree, index):
            tree = Call("colsum" if index == "i" else "rowsum", (inner.tree,))
        return _phrase(tree, [inner], word, closed, closed=False)

    @staticmethod
    def indexed(base: _Phrase, opened: _Token, *rest: _Range | _Token) -> _Phrase:
        """Parts of a matrix, an entry, or the matrix of one head."""
        *_, closed = rest
        assert isinstance(closed, _Token)
        ranges = [one for one in rest if isinstance(one, _Range)]
        if len(ranges) > 2:
            raise opened.wrong("two indices at most stand in one bracket")
        inner = [base, *(end for one in ranges for end in one.ends)]
        tree = Indexed(base.tree, tuple(one.part for one in ranges))
        return _phrase(tree, inner, base, closed, closed=False, first=base.first)

    @staticmethod
    def at(place: _Phrase) -> _Range:
        """One row, column, entry or head."""
        return _Range(Part(place.tree, None, True), (place,))

    @staticmethod
    def between(start: _Phrase | None, stop: _Phrase | None) -> _Range:
        """A range, both ends of which are taken; an end may be left out."""
        first, last = (None if end is None else end.tree for end in (start, stop))
        return _Range(Part(first, last), tuple(end for end in (start, stop) if end is not None))

    @staticmethod
    def comparison(*children: Any) -> _Phrase:
        """A chain of comparisons."""
        sides, signs = children[::2], children[1::2]
        tree = Compared(tuple(side.tree for side in sides), tuple(sign.spelling for sign in signs))
        return _phrase(tree, sides, sides[0], sides[-1])

    @staticmethod
    def joined(*children: Any) -> _Phrase:
        """Tests that all hold (and), or one of which does (or)."""
        tests, word = children[::2], children[1]
        tree = Joined(word.spelling, tuple(test.tree for test in tests))
        return _phrase(tree, tests, tests[0], tests[-1])

    @staticmethod
    def negated(word: _Token, test: _Phrase) -> _Phrase:
        """A test that does not hold."""
        return _phrase(Joined("not", (test.tree,)), [test], word, test)

    @staticmethod
    def chosen(value: _Phrase, test: _Phrase, otherwise: _Phrase) -> _Phrase:
        """Value if test else otherwise."""
        parts = [value, test, otherwise]
        return _phrase(Chosen(*(part.tree for part in parts)), parts, value, otherwise)

    @staticmethod
    def bare(word: _Token, part: _Phrase) -> _Phrase:
        """A function without brackets takes the next number, name or call."""
        tree = Call(canonical(word.spelling), (part.tree,))
        return _phrase(tree, [part], word, part, bare=word.spelling)

    @staticmethod
    def turned(part: _Phrase, token: _Token) -> _Phrase:
        """A transpose."""
        _refuse_bare(part, token)
        base = _ones(part.start) if part.tree == _ONE else part.tree
        base = Apart("inv", (base,)) if {*token.spelling} & {*"⁻-−"} else base
        tree = Apart("T", (base,))
        return _phrase(tree, [part], part, token, closed=False, first=part.first)

    @staticmethod
    def raised(part: _Phrase, token: _Token) -> _Phrase:
        """A superscript."""
        value = Fraction(token.spelling.translate(_SUPERSCRIPTS))
        return _power(part, _of_token(Number(value), token, closed=True))

    @staticmethod
    def power(base: _Phrase, exponent: _Phrase, turn: _Token | None = None) -> _Phrase:
        """A power, and the transpose that may stand behind it."""
        out = _power(base, exponent)
        return out if turn is None else _Builder.turned(out, turn)

    @staticmethod
    def product(first: _Phrase, *rest: _Token | _Phrase) -> _Phrase:
        """Factors with *, / or nothing between them."""
        operators, factors = [""], [first]
        for child in rest:
            if isinstance(child, _Phrase):
                operators += [""] * (len(operators) == len(factors))
                factors.append(child)
            else:
                operators.append({"OVER": "/", "STAR": "×"}.get(child.type, "*"))
        for before, after in pairwise(factors):
            _refuse_open_sum(before, after)
        trees = _with_ones(operators, factors)
        tree, row = trees[0], [trees[0]]
        for operator, factor in zip(operators[1:], trees[1:], strict=True):
            apart = operator in ("/", "×")
            row = [Apart(operator, (tree, factor))] if apart else [*row, factor]
            tree = row[0] if len(row) == 1 else Apart("*", tuple(row))
        last = factors[-1]
        return _phrase(
            tree,
            factors,
            first,
            last,
            operators.count("/"),
            together=not any(operators) and all(isinstance(one, Name) for one in trees),
            first=first.first,
            bare=last.bare if _is_sum(last) else "",
        )

    @staticmethod
    def entrywise(out: _Phrase, *rest: Any) -> _Phrase:
        """Products and quotients entry by entry, from left to right."""
        for token, part in zip(rest[::2], rest[1::2], strict=True):
            _refuse_open_sum(out, part)
            out = _phrase(Apart(token.spelling, (out.tree, part.tree)), [out, part], out, part)
        return out

    @staticmethod
    def signed(token: _Token, part: _Phrase) -> _Phrase:
        """A sign before a part."""
        return _phrase(_with_sign(token, part), [part], token, part)

    @staticmethod
    def sum(first: _Phrase, *rest: Any) -> _Phrase:
        """Terms with + or - between them."""
        terms = [first, *rest[1::2]]
        trees = map(_with_sign, rest[::2], rest[1::2])
        return _phrase(Apart("+", (first.tree, *trees)), terms, first, terms[-1], 0)

    @staticmethod
    def row(*parts: _Phrase) -> _Phrase:
        """Blocks beside one another."""
        if len(parts) == 1:
            return parts[0]
        tree = Call("beside", tuple(part.tree for part in parts))
        return _phrase(tree, parts, parts[0], parts[-1])

    @staticmethod
    def blocks(opened: _Token, *rest: Any) -> _Phrase:
        """[A, B; C, D]: blocks beside and below one another; in [A B; C D] they are products."""
        *rows, closed = rest
        tree = Call("below", tuple(row.tree for row in rows))
        if len(rows) == 1:
            (row,) = rows
            tree = row.tree
            if row.together:
                raise row.wrong("write [A, B] for blocks beside one another, A B for a product")
            if row.first == "number":
                raise opened.wrong("a part of a matrix touches its letter: Q[1]")
        return _phrase(tree, rows, opened, closed, closed=False)


@dataclass(frozen=True)
class _Option:
    """An option of a function: what is said, a word or an expression, and that as it was read."""

    name: str
    said: str | Tree
    value: _Phrase | None = None


@dataclass(frozen=True)
class _Range:
    """One of the parts in ``Q[:, 1:d]``, and its ends."""

    part: Part
    ends: tuple[_Phrase, ...]


def _with_sign(sign: _Token, part: _Phrase) -> Tree:
    """A term with the sign before it."""
    return Apart("neg", (part.tree,)) if sign.spelling == "-" else part.tree


def _check_arity(name: str, word: _Token, count: int) -> None:
    """Refuse a function of too few or too many arguments."""
    least, most = ARITY.get(name, (1, 1) if name in SPELLINGS else (0, _MOST_OF_OWN))
    if least <= count <= most:
        return
    if name == "softmax":
        raise word.wrong(_SOFTMAX_TAKES)
    if word.spelling in _OFFERS:
        raise word.wrong(f"{quote(word.spelling)} is no function: {_OFFERS[word.spelling]}")
    takes = str(least) if least == most else f"{least} to {most}"
    raise word.wrong(f"{word.spelling} takes {takes} argument{'s' * (takes != '1')}")


def _along(name: str, axis: _Token, arguments: int) -> str:
    """Softmax along an axis."""
    if name != "softmax" or arguments != 1:
        offer = {"sum": "; write rowsum(A) or colsum(A)"}.get(name, "")
        raise axis.wrong(f"only softmax takes an axis{offer or ': ' + _SOFTMAX_TAKES}")
    return "colsoftmax" if axis.spelling == "columns" else "softmax"


def _with_ones(operators: list[str], factors: list[_Phrase]) -> list[Tree]:
    """The factors, where a 1 beside a matrix, a vector or a small letter is a column of ones."""
    trees = [factor.tree for factor in factors]

    def beside(k: int) -> bool:
        return trees[k] == _ONE and factors[k].first == "number" and (k == 0 or not operators[k])

    for k in reversed(range(len(trees) - 1)):
        after = trees[k + 1]
        following = factors[k + 1].first == "small" or _begins_with_ones(after) or _is_row(after)
        if not operators[k + 1] and beside(k) and following:
            trees[k] = _ones(factors[k].start)
    closed = factors[0].closed and trees[0] != _ONES
    for k in range(1, len(trees)):
        if not operators[k] and factors[k].first == "number" and trees[k] == factors[k].tree:
            if closed and not _begins_with_ones(trees[k]):
                raise factors[k].wrong(_TWO_NUMBERS)
            if beside(k):
                trees[k] = _ones(factors[k].start)
        closed = closed and factors[k].closed and trees[k] != _ONES
    return trees


def _ones(at: int) -> Number:
    """A new column of ones: which parts have the same shape is found out part by part."""
    return Number(Fraction(1), vector=True, at=at)


def _uses(tree: Tree, index: str) -> bool:
    """Whether an index stands in a bracket somewhere in a tree."""
    if isinstance(tree, Indexed):
        ends = [end for part in tree.parts for end in (part.start, part.stop) if end is not None]
        return any(Name(index) in subtrees(end) for end in ends) or _uses(tree.base, index)
    return any(_uses(part, index) for part in children(tree))


def children(tree: Tree) -> tuple[Tree, ...]:
    """The trees that a tree is directly made of, in the order in which they are written."""
    match tree:
        case Call(_, args, options):
            return (*args, *(value for _, value in options if not isinstance(value, str)))
        case Apart(_, parts):
            return parts
        case Indexed(base, ranges):
            ends = (end for part in ranges for end in (part.start, part.stop))
            return (base, *(end for end in ends if end is not None))
        case Every(_, _, body):
            return (body,)
        case Compared(sides, _):
            return sides
        case Joined(_, tests):
            return tests
        case Chosen(value, test, otherwise):
            return value, test, otherwise
    return ()


def place_of(tree: Tree) -> int:
    """The first character of a tree, or of the first of its parts that was written, from 0."""
    return next((part.at for part in subtrees(tree) if part.at >= 0), 0)


def subtrees(tree: Tree) -> Iterator[Tree]:
    """A tree and all that it is made of."""
    yield tree
    for part in children(tree):
        yield from subtrees(part)


def _begins_with_ones(tree: Tree) -> bool:
    """Whether it is a column of ones, or one transposed."""
    return tree == _ONES or (
        isinstance(tree, Apart) and tree.sign == "T" and tree.parts == (_ONES,)
    )


def _is_row(tree: Tree) -> bool:
    """Whether it is a function's row: a number for each column, or one for each row, transposed."""
    match tree:
        case Call("colsum" | "colmean"):
            return True
        case Apart("T", (Call("rowsum" | "rowmean" | "rowmax" | "rowvar" | "norm2" | "lse"),)):
            return True
    return False


def _is_sum(phrase: _Phrase) -> bool:
    return phrase.bare in _SUMS.values()


def _refuse_open_sum(before: _Phrase, after: _Phrase) -> None:
    """A sum without brackets may or may not go on over the next factor."""
    if _is_sum(before):
        raise after.wrong(f"the sum may end before this or not; write {before.bare}(…)")


def _refuse_bare(base: _Phrase, power: _Token | _Phrase) -> None:
    """A power behind √x or ln x is the power of x to some readers, of the whole to others."""
    if base.bare:
        argument, whole, raised = (
            base.source[start:end].strip()
            for start, end in (
                (base.start + len(base.bare), base.end),
                _span(base),
                (base.end if isinstance(power, _Phrase) else power.start_pos, _span(power)[1]),
            )
        )
        raise base.wrong(f"write {base.bare}({argument}{raised}) or ({whole}){raised}")


def _power(base: _Phrase, exponent: _Phrase) -> _Phrase:
    _refuse_bare(base, exponent)
    parts = [base, exponent]
    if base.tree == Name("e") and base.closed:
        return _phrase(Call("exp", (exponent.tree,)), parts, base, exponent)
    number = _folded(exponent.tree)
    if number == -1:
        return _phrase(Apart("inv", (base.tree,)), parts, base, exponent, first=base.first)
    inside = parts if number is None else [base]
    tree = Apart(
        "^", tuple(part.tree for part in inside), Fraction(1) if number is None else number
    )
    found = [one for part in inside for one in part.exponents]
    within = max((times for *_, times in base.exponents), default=Fraction(1))
    times = within if number is None else within * abs(number)
    exponents = (*found, (exponent.start, number, exponent.closed, times))
    return _phrase(tree, parts, base, exponent, first=base.first, exponents=exponents)


def _folded(tree: Tree) -> Fraction | None:
    """The rational number that a closed exponent is, if it is one of a moderate size."""
    try:
        return _rational(tree)
    except ArithmeticError:
        return None


def _rational(tree: Tree) -> Fraction:
    """The same. Raises `ArithmeticError` for another number, and for one that is too large."""
    match tree:
        case Number(value, False):
            out = value
        case Apart("^", (base,), exponent) if abs(exponent) <= MAX_EXPONENT:
            if exponent.denominator != 1:
                raise ArithmeticError
            out = _rational(base) ** exponent.numerator
        case Apart("inv", (base,)):
            out = 1 / _rational(base)
        case Apart("neg", (part,)):
            out = -_rational(part)
        case Apart("+" | "*" | "×" | "/" as sign, parts):
            out = reduce(_OPERATIONS[sign], map(_rational, parts))
        case _:
            raise ArithmeticError
    if max(abs(out.numerator), out.denominator) >= _FOLDED_BELOW:
        raise ArithmeticError
    return out


# ---- tables ----------------------------------------------------------------------------------


@cache
def _parser() -> Callable[[list[_Token], str], _Phrase]:
    """Lark's tables for the grammar, built once; loading Lark is what takes the time."""
    from lark import Lark, Transformer  # heavy, as above
    from lark.lexer import Lexer  # heavy, as above

    class Cut(Lexer):
        """The text is cut into tokens beforehand."""

        def __init__(self, lexer_conf: object) -> None:
            pass

        def lex(self, data: list[_Token]) -> Iterator[_Token]:  # type: ignore[override]
            return iter(data)

    class Builder(Transformer[_Token, _Phrase]):
        """Calls the methods of `_Builder`, whose arguments are the children of a rule."""

        def __getattr__(self, rule: str) -> Callable[[list[_Token | _Phrase]], _Phrase]:
            make = getattr(_Builder, rule)
            return lambda children: make(*children)

    grammar = Lark(
        _GRAMMAR,
        parser="lalr",
        lexer=Cut,
        transformer=Builder(),
        maybe_placeholders=True,
        start=["start", "right"],
    )
    return cast(Callable[[list[_Token], str], _Phrase], grammar.parse)


#: Terminals that begin with a low line are told apart by the rule that they stand in.
_GRAMMAR = """
?start: sum
?right: sum | test | chosen
chosen: sum _IF test _ELSE right
?test: both (OR both)+ -> joined | both
?both: single (AND single)+ -> joined | single
?single: NOT single -> negated | sum (COMPARE sum)+ -> comparison | OPEN test CLOSE -> bracket
?sum: term ((PLUS | MINUS) term)*
?term: entrywise | (PLUS | MINUS) term -> signed
?entrywise: product (ENTRY entry)*
?entry: product | (PLUS | MINUS) entry -> signed
?product: power (TIMES factor | STAR factor | OVER factor | power)*
?factor: power | (PLUS | MINUS) factor -> signed
?power: turned | turned _POWER exponent
?turned: atom | turned TURN | turned SUPER -> raised | turned _POWER exponent TURN -> power
?exponent: level | (PLUS | MINUS) exponent -> signed | level _POWER exponent -> power
?level: atom | level SUPER -> raised
?atom: NUMBER -> number | NAME -> name | CONSTANT -> constant | ONES -> ones | NULLARY -> nullary
     | call | BARE operand -> bare | OPEN sum CLOSE -> bracket | OPEN chosen CLOSE -> bracket
     | LSQB row (_SEMICOLON row)* RSQB -> blocks | EVERY OPEN sum CLOSE -> every
     | atom INDEX range (_COMMA range)* RSQB -> indexed
?operand: NUMBER -> number | NAME -> name | CONSTANT -> constant | call | BARE operand -> bare
call: FUNCTION OPEN _arguments? CLOSE
_arguments: argument (_COMMA argument)*
?argument: sum | AXIS | OPTION (sum | WORD) -> option
range: sum -> at | [sum] _COLON [sum] -> between
row: sum (_COMMA sum)*
%declare NUMBER NAME CONSTANT ONES NULLARY FUNCTION BARE AXIS TURN SUPER
%declare PLUS MINUS ENTRY TIMES OVER _POWER OPEN CLOSE LSQB RSQB _COMMA _SEMICOLON
%declare STAR INDEX _COLON COMPARE _IF _ELSE AND OR NOT OPTION WORD EVERY
"""

#: The functions, and what people write for each.
SPELLINGS: dict[str, str] = {
    "softmax": "softmax rowsoftmax softmax_rows",
    "colsoftmax": "colsoftmax softmax_cols softmax_columns",
    "softmax1": "softmax1 softmax_1",
    "ratio": "ratio rownorm",
    "sparsemax": "sparsemax",
    "hardmax": "hardmax",
    "exp": "exp",
    "ln": "log ln",
    "√": "sqrt √",
    "tanh": "tanh",
    "σ": "sigmoid σ",
    "cos": "cos",
    "sin": "sin",
    "max0": "relu",
    "abs": "abs",
    "SiLU": "SiLU silu swish",
    "GELU": "GELU gelu",
    "rowsum": "rowsum rowsums Σ_j",
    "colsum": "colsum colsums Σ_i",
    "sum": "sum Σ",
    "rowmean": "rowmean",
    "colmean": "colmean",
    "rowmax": "rowmax row_max",
    "rowvar": "rowvar row_var",
    "lse": "lse logsumexp LogSumExp log_sum_exp",
    "tr": "tr Tr trace",
    "LayerNorm": "LayerNorm layernorm layer_norm",
    "RMSNorm": "RMSNorm rmsnorm rms_norm",
    "diag": "diag",
    "beside": "concat hstack beside",
    "below": "vstack stack below",
    "T": "transpose",
    "inv": "inv inverse",
    "unit": "unit normalize normalise",
    "dist2": "dist2",
    "softcap": "softcap",
    "rotary": "rotary",
    "causal": "causal",
    "norm2": "norm2",
    "window": "window",
    "padding": "padding",
    "prefix": "prefix",
    "documents": "documents",
    "dilated": "dilated",
    "strided": "strided",
    "global": "global",
    "allow": "allow",
    "alibi": "alibi ALiBi",
    "sinusoidal": "sinusoidal",
    "any": "any",
    "keep": "keep",
    "additive": "additive",
    "shift": "shift",
    "clip": "clip",
    "relative": "relative",
    "sinksoftmax": "sinksoftmax softmax_sink",
    "unnormalised": "unnormalised unnormalized",
    "lengths": "lengths",
    "group": "group",
    "floor": "floor",
    "ceil": "ceil",
    "elu1": "elu1",
    "erf": "erf",
    "mod": "mod",
    "min": "min",
    "max": "max",
}

#: What each spelling means.
FUNCTIONS = {word: name for name, words in SPELLINGS.items() for word in words.split()}

#: How many arguments a function takes, where that is not one.
ARITY: dict[str, tuple[int, int]] = {
    "beside": (1, 16),
    "below": (1, 16),
    "dist2": (2, 2),
    "softcap": (2, 2),
    "causal": (0, 0),
    "window": (1, 2),
    "prefix": (1, 1),
    "padding": (1, 1),
    "documents": (1, 64),
    "dilated": (2, 2),
    "global": (1, 16),
    "any": (1, 8),
    "keep": (2, 2),
    "additive": (3, 3),
    "sinksoftmax": (2, 2),
    "alibi": (0, 0),
    "sinusoidal": (0, 0),
    "mod": (2, 2),
    "min": (2, 16),
    "max": (2, 16),
}

#: Words that are no functions here, and what to write instead.
_OFFERS: dict[str, str] = {
    "max": "write rowmax(A) for the largest of each row, relu(A) for max(0, A)",
    "min": "write -rowmax(-A) for the smallest of each row",
    "argmax": "write hardmax(A), which has 1 at the largest of each row",
    "var": "write rowvar(A) for the variance of each row",
    "std": "write sqrt(rowvar(A)) for the standard deviation of each row",
    "mean": "write rowmean(A) or colmean(A)",
    "det": "determinants are not known here",
    "rank": "ranks are not known here",
    "ln": "write ln(A) for the logarithm, LayerNorm(A) for the layer norm",
    "log2": "write ln(x)/ln(2), or ln(2) for the logarithm of 2",
    "log10": "write ln(x)/ln(10), or ln(10) for the logarithm of 10",
    "exp2": "write e^(x ln(2)), or exp(2)",
    **{
        name: f"define {name}(x) = {text} in a line above"
        for name, text in {
            "softplus": "ln(1 + exp(x))",
            "leaky_relu": "x if x >= 0 else 0.01 x",
            "leakyrelu": "x if x >= 0 else 0.01 x",
            "elu": "x if x >= 0 else exp(x) - 1",
            "mish": "x tanh(ln(1 + exp(x)))",
            "softsign": "x / (1 + abs(x))",
            "hardtanh": "min(max(x, -1), 1)",
            "relu6": "min(max(x, 0), 6)",
            "sign": "1 if x > 0 else (-1 if x < 0 else 0)",
            "tan": "sin(x) / cos(x)",
            "sinh": "(exp(x) - exp(-x)) / 2",
            "cosh": "(exp(x) + exp(-x)) / 2",
        }.items()
    },
    "logsigmoid": "write ln(sigmoid(x))",
    "log_sigmoid": "write ln(sigmoid(x))",
    "log1p": "write ln(1 + x)",
    "expm1": "write exp(x) - 1",
    "rsqrt": "write 1 / sqrt(x)",
    "pow": "write x^2 in a function of your own, f(x) = x^2",
    "square": "write x^2 in a function of your own, f(x) = x^2",
    "maximum": "write max(x, y) in a function of your own, f(x, y) = max(x, y)",
    "minimum": "write min(x, y) in a function of your own, f(x, y) = min(x, y)",
    "where": "write cases, M[i,j] = x if j <= i else y",
    "log_softmax": "write ln(softmax(S))",
    "logsoftmax": "write ln(softmax(S))",
    "norm": "write sqrt(norm2(A)) for the length of each row, unit(A) for rows of length 1",
    "ones": "write ones without brackets; its length follows from where it stands",
    "frac": "write (a)/(b)",
}

_KNOWN = tuple({name: word for word, name in reversed(FUNCTIONS.items())}.values())[::-1]
_ANY_CASE = {word.lower(): name for word, name in FUNCTIONS.items() if word.isascii()}
_CONSTANTS = {"e": "e", "pi": "pi", "π": "pi", "∞": "∞", "oo": "∞", "inf": "∞", "infinity": "∞"}
_CLOSED_FUNCTIONS = ("sqrt", "exp", "ln", "log", "sin", "cos", "tanh")
_WITHOUT_BRACKETS = ("√", "ln", "exp")
#: The sums over an index, as they are printed.
_SUMS = {"j": "Σ_j", "i": "Σ_i", "": "Σ"}
_AXES = {
    "columns": "columns",
    "cols": "columns",
    "column": "columns",
    "axis0": "columns",
    "rows": "rows",
    "axis1": "rows",
    "0": "columns",
    "1": "rows",
    "-1": "rows",
}
_SOFTMAX_TAKES = "write softmax(S), softmax(S, columns) or softmax(S, axis=0)"
_UNCLOSED = "the bracket opened at ‹› is not closed"
_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH}"
_TWO_NUMBERS = "a number is not expected after a number; write * between them"
_FOLDED_BELOW = 10**6
_OPERATIONS = {"+": add, "*": mul, "×": mul, "/": truediv}
#: How many arguments a function may have of which only its definition says how many.
_MOST_OF_OWN = 16

#: To compare with.
_ONE, _ONES = Number(Fraction(1)), Number(Fraction(1), vector=True)
_CLOSES = {"(": ")", "{": "}", "[": "]"}
_BRACES = str.maketrans("", "", "{},")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

_GREEK = "α-ωΑ-Ω"
_SUB = r"(?:_(?:[A-Za-z0-9]+|\{[A-Za-z0-9,]+\}))?"
_INDEX = r"(?:[A-Za-z](?![A-Za-z0-9_])|\{[A-Za-z]+\})"
_ANY_T = r"(?:[-−]?\s*[T⊤])"
_OPTION = r"(?<![A-Za-z0-9_])[a-z][a-z_]+\s*=(?!=)"
_DIGITS = r"(?:[0-9]+(?:\.(?!T(?![A-Za-z0-9_]))[0-9]*)?|\.[0-9]+)"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<cut>{_DIGITS}[eE](?:[-+−](?![0-9])|(?![-+−A-Za-z0-9_'⁰¹²³⁴-⁹⁻{_GREEK}]|\s*(?:\^|\*\*))))
    | (?P<number>{_DIGITS}(?:[eE][-+−]?[0-9]+)?)
    | (?P<turn>\.T(?![A-Za-z0-9_])|ᵀ|⊤|⁻ᵀ
        |\^\s*(?:{_ANY_T}(?![0-9_'])|\{{\s*{_ANY_T}\s*\}}|\(\s*{_ANY_T}\s*\)))
    | (?P<super>⁻?[⁰¹²³⁴-⁹]+)
    | (?P<axis>(?:axis|dim)\s*=\s*[-−]?[0-9]+)
    | (?P<option>{_OPTION})
    | (?P<summed>∑(?:_{_INDEX})?|(?:Σ|sum|[Cc]oncat)_{_INDEX})
    | (?P<root>√)
    | (?P<word>[A-Za-z{_GREEK}∞])
    | (?P<sign>\.\*|\./|\*\*|[=<>!]=|[-−+*·×⋅@/^()\[\],;:=<>≤≥≠∘⊙⊘{{}}])
    | (?P<unknown>\S)
    )""",
    re.VERBOSE,
)
_NAME = re.compile(rf"∞|[A-Za-z{_GREEK}][A-Za-z0-9{_GREEK}]*{_SUB}'?")
_ONE_NAME = re.compile(
    rf"(?:d[A-Z]|[A-Za-z{_GREEK}])[0-9]*(?:_(?:[A-Za-z0-9]+|\{{[A-Za-z0-9,]+\}}))?'?"
)
_IDENTIFIER = re.compile(rf"∞|[A-Za-z{_GREEK}][A-Za-z0-9{_GREEK}_]*")
_CLOSED_WORD = re.compile(r"∞|π|[A-Za-z]+")
_ANYTHING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\S")
_BEFORE_DIGITS = re.compile(r"(?:sqrt|ln)[0-9]+")
_LOWERCASE_RUN = re.compile(r"[a-z]{3}")
_OPTION_WORD = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*(?:[-+][A-Za-z0-9]+)*)\s*(?=[,)])")
_OPENS = re.compile(r"\s*[({]")
_IN_STATEMENTS = re.compile(rf"(?<=[(,\s]){_OPTION}|==?|[()\[\]{{}}]|\Z")

_UNEQUAL = re.compile(r"[<>≤≥]|\\[lg](?:eq?|t)(?:slant)?\b")
_IN_BOUNDS = re.compile(rf"(?<=[(,\s]){_OPTION}|(?:{_UNEQUAL.pattern})=?|!?==?|[()\[\]{{}}]|\Z")
_LESS = {
    **dict.fromkeys(("<=", "≤", "\\le", "\\leq", "\\leqslant"), "≤"),
    **dict.fromkeys((">=", "≥", "\\ge", "\\geq", "\\geqslant"), "≥"),
}

_SAME = {
    "−": "-",
    "·": "*",
    "×": "*",
    "⋅": "*",
    "@": "*",
    "⊙": "∘",
    ".*": "∘",
    "./": "⊘",
    "**": "^",
}
_SIGNS = {
    "+": "PLUS",
    "-": "MINUS",
    "∘": "ENTRY",
    "⊘": "ENTRY",
    "*": "TIMES",
    "/": "OVER",
    "^": "_POWER",
    "(": "OPEN",
    "{": "OPEN",
    ")": "CLOSE",
    "}": "CLOSE",
    "[": "LSQB",
    "]": "RSQB",
    ",": "_COMMA",
    ";": "_SEMICOLON",
    ":": "_COLON",
}
#: What is compared, and how it is printed.
_COMPARISONS = {
    "<=": "≤",
    "≤": "≤",
    ">=": "≥",
    "≥": "≥",
    "!=": "≠",
    "≠": "≠",
    "<": "<",
    ">": ">",
    "==": "=",
}
_KEYWORDS = {"if": "_IF", "else": "_ELSE", "and": "AND", "or": "OR", "not": "NOT"}
_IN_CLOSED = (
    *("NUMBER", "CONSTANT", "FUNCTION", "BARE", "SUPER", "PLUS", "MINUS", "TIMES", "OVER"),
    *("_POWER", "OPEN", "CLOSE"),
)

_LATEX = re.compile(
    r"""\\mathrm\s*\{(?P<d>d)\}\s*(?=[A-Z])
    |\\(?:mathbf|mathsf|mathrm|mathit|operatorname|text)\s*\{(?P<inner>[A-Za-z][A-Za-z0-9_]*)\}
    |\\(?:mathbf|mathbb)\s*\{1\} | [𝟏𝟙] | \\(?P<word>[A-Za-z]+)
    |\\(?P<mark>[^A-Za-z])""",
    re.VERBOSE,
)
#: Greek letters whose commands are not read as letters of statements; ``\pi`` is the constant.
_NO_LETTERS = ("pi", "Pi", "ell")
_LATEX_WORDS: dict[str, str] = {
    "top": "⊤",
    "intercal": "⊤",
    "cdot": "·",
    "times": "·",
    "circ": "∘",
    "odot": "∘",
    "oslash": "⊘",
    "infty": "∞",
    "left": "",
    "right": "",
    "quad": " ",
    **{name: letter for name, letter in GREEK.items() if name not in _NO_LETTERS},
}
