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
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from symattn.errors import ReadError, close_to, nearest, quote
from symattn.greek import GREEK

if TYPE_CHECKING:
    from lark import Token

MAX_LENGTH, MAX_DEPTH, MAX_POWER = 2000, 40, 64
MAX_DIGITS, MAX_EXPONENT = 60, 400


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


def read(text: str, declared: Collection[str] = ()) -> Tree:
    """The tree of one side of a statement. Raises `ReadError` for what is none.

    >>> read("Q K^T")
    Apart(sign='*', parts=(Name(name='Q'), Apart(sign='T', parts=(Name(name='K'),), exponent=\
Fraction(1, 1))), exponent=Fraction(1, 1))
    """
    if not isinstance(text, str):
        raise ReadError(f"{quote(text)} is not a text")
    return _read(text, declared, False)


def read_right(
    text: str,
    declared: Collection[str] = (),
    functions: Collection[str] = (),
    usual: Collection[str] = (),
) -> Tree:
    """The tree of an equation's right side: what `read` reads, cases and comparisons.

    `functions` are the names of functions of the reader's own; letters written together are
    refused where one of the `usual` names may be meant; an exponent may be any tree.

    >>> read_right("0 if j <= i else 1").test
    Compared(sides=(Name(name='j'), Name(name='i')), signs=('≤',))
    """
    return _read(text, declared, False, functions, usual)


def read_closed(text: str) -> Tree:
    """The tree of a closed number: constants are its only names, any exponent is allowed.

    >>> read_closed("2^-1")
    Apart(sign='inv', parts=(Number(value=Fraction(2, 1), vector=False),), exponent=Fraction(1, 1))
    """
    return _read(text, (), True)


def sides(text: str) -> list[str]:
    """Both sides of an equation. Raises `ReadError` for what is not exactly one.

    >>> sides("softmax(S) 1 = 1")
    ['softmax(S) 1', '1']
    """
    if len(text) > 2 * MAX_LENGTH + len("=="):
        raise _too_long(text)
    opened: list[int] = []
    signs: list[tuple[int, int]] = []
    inside: tuple[int, int] | None = None  # an = in brackets, and the bracket
    for match in _IN_STATEMENTS.finditer(text):
        place, token = match.start(), match[0]
        if token.endswith("="):
            if not opened:  # where no option stands: d_k = 1 is a side
                signs.append((place + len(token.rstrip("=")), match.end()))
            elif inside is None and token in ("=", "=="):
                inside = place, opened[-1]
        elif token in "([{":
            opened.append(place)
        elif token in ")]}" and opened:
            opened.pop()
    if inside is not None:
        place, bracket = inside
        if bracket in opened:
            raise _refused(
                text, place, f"the bracket opened at character {bracket + 1} is not closed"
            )
        where = f"inside the bracket opened at character {bracket + 1}"
        raise _refused(text, place, f"an equation stands {where}; state it without brackets")
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


# ---- refusals --------------------------------------------------------------------------------


class _Wrong(Exception):
    """What is wrong, and the character of the text where it shows."""

    def __init__(self, place: int, why: str, *quoted: tuple[int, int]) -> None:
        self.place, self.why, self.quoted = place, why, quoted

    def reason(self, text: str) -> str:
        """The reason; each ‹› in it is a part of the text."""
        why = self.why
        for start, end in self.quoted:
            why = why.replace("‹›", text[start:end].strip(), 1)
        return why


def _too_long(text: str) -> ReadError:
    return ReadError(f"{len(text)} characters are too many; write {MAX_LENGTH} at most")


def _refused(text: str, place: int, why: str) -> ReadError:
    """The error for a text: its reason, and a quotation of the place."""
    at = len(text) - len(text[place:].lstrip())
    rest = text[at:].rstrip()
    quoted = quote(rest if len(rest) <= 20 else f"{rest[:19]}…") if rest else "the end"
    return ReadError(f"{quote(text)} cannot be read: at character {at + 1}, {quoted}: {why}")


def _read(
    text: str,
    declared: Collection[str],
    closed: bool,
    own: Collection[str] | None = None,
    usual: Collection[str] = (),
) -> Tree:
    """The tree of a text; `own` are the reader's functions in an equation, None elsewhere."""
    if len(text) > MAX_LENGTH:
        raise _too_long(text)
    try:
        tokens = _tokens(text, _Known(declared, closed, own, usual))
        phrase = _parsed(tokens, len(text), "start" if own is None else "right")
        if not closed:
            _check_exponents(phrase, own is not None)
    except _Wrong as wrong:
        raise _refused(text, wrong.place, wrong.reason(text)) from None
    return phrase.tree


def _parsed(tokens: list[Token], end: int, start: str) -> _Phrase:
    from lark.exceptions import UnexpectedToken  # heavy: most runs read no statement

    if not tokens:
        raise _Wrong(end, "it is empty")
    try:
        phrase = _parser()(tokens, start)
    except UnexpectedToken as unexpected:
        token = unexpected.token
        if token.type == "$END":
            raise _Wrong(end, "it ends too early") from None
        raise _Wrong(_span(token)[0], f"{quote(str(token))} is not expected here") from None
    return phrase


def _check_exponents(phrase: _Phrase, equation: bool) -> None:
    """Exponents in statements are rational numbers of a moderate size."""
    for place, exponent, closed in phrase.exponents:
        if exponent is None and not closed:
            if equation:  # it may be an index or a size
                continue
            raise _Wrong(place, "an exponent is a number: A^2, A^T, A^-1, x^(1/2)")
        if exponent is None or abs(exponent) > MAX_POWER or exponent.denominator > MAX_POWER:
            raise _Wrong(place, f"keep exponents and their denominators to {MAX_POWER}")


# ---- tokens ----------------------------------------------------------------------------------


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """LaTeX's spellings as plain ones, and for each character of the result where it came from."""
    if not any(mark in text for mark in "\\𝟏𝟙"):
        return text, range(len(text) + 1)
    pieces: list[str] = []
    origin: list[int] = []
    done = 0
    for match in _LATEX.finditer(text):
        pieces.append(text[done : match.start()])
        origin += range(done, match.start())
        new = _from_latex(match)
        if len(new) > 1 and pieces[-1][-1:].isalpha():
            new = f" {new}"
        pieces.append(new)
        origin += [match.start()] * len(new)
        done = match.end()
    return "".join((*pieces, text[done:])), [*origin, *range(done, len(text) + 1)]


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


@dataclass(frozen=True)
class _Known:
    """What a text may hold: declared letters, closed numbers only, functions of one's own."""

    declared: Collection[str]
    closed: bool
    #: Functions of the reader's own, in the right side of an equation; None elsewhere.
    own: Collection[str] | None
    #: Names that letters written together may be meant for.
    usual: Collection[str] = ()

    @property
    def equation(self) -> bool:
        """Whether it is the right side of an equation."""
        return self.own is not None

    def is_own(self, word: str) -> bool:
        """Whether a word is a function of the reader's own."""
        return self.own is not None and word in self.own


def _tokens(text: str, known: _Known) -> list[Token]:
    """The tokens, every bracket matched."""
    from lark import Token  # heavy, as above

    out: list[Token] = []
    opened: list[tuple[str, int]] = []
    for kind, token, start, end in _cut_in_place(text, known):
        if kind in ("OPEN", "LSQB", "INDEX"):
            opened.append((token, start))
            if len(opened) > MAX_DEPTH:
                raise _Wrong(start, _TOO_DEEP)
        elif kind in ("CLOSE", "RSQB"):
            if not opened:
                raise _Wrong(start, f"{token} is not expected here; no bracket is open")
            bracket, place = opened.pop()
            if _CLOSES[bracket] != token:
                raise _Wrong(
                    start,
                    f"the bracket {bracket} opened at character {place + 1} "
                    f"is closed by {_CLOSES[bracket]}",
                )
        out.append(Token(kind, token, start_pos=start, end_pos=end))
    if opened:
        place = opened[-1][1]
        raise _Wrong(len(text), f"the bracket opened at character {place + 1} is not closed")
    return out


_Cut = tuple[str, str, int, int]


def _cut_in_place(text: str, known: _Known) -> Iterator[_Cut]:
    """The tokens where they stand in the text, LaTeX's spellings in it included."""
    plain, origin = _plain(text)
    try:
        for kind, token, start, end in _cut(plain, known):
            yield kind, token, origin[start], origin[end]
    except _Wrong as wrong:
        raise _Wrong(origin[wrong.place], wrong.why) from None


def _cut(text: str, known: _Known) -> Iterator[_Cut]:
    """The kind and spelling of each token, and where it begins and ends."""
    position, last = 0, len(text.rstrip())
    declared, closed, before = known.declared, known.closed, ("", -1)
    while position < last:
        match = _TOKEN.match(text, position)
        kind = match.lastgroup if match else None
        if match is None or kind is None:
            position += len(text[position:]) - len(text[position:].lstrip())
            raise _Wrong(
                position, _foreign(text, position) if closed else "this has no meaning here"
            )
        start, position = match.span(kind)
        token = match[kind]
        if kind == "cut":
            letter = token.rstrip("+-−")[-1]
            raise _Wrong(start, f"an exponent is cut off; write 2e3, or 2*{letter}")
        if kind == "word":
            for found in _closed_word(text, start) if closed else _word(text, start, known):
                position, before = found[3], (found[0], found[3])
                yield found
            continue
        if kind == "option" and not closed:
            yield "OPTION", token.rstrip("= \t"), start, position
            word = _OPTION_WORD.match(text, position)
            if word is not None and not _is_name(word[1], declared):
                yield "WORD", word[1], *word.span(1)
                position = word.end(1)
            continue
        if kind == "summed" and not closed and _bare(token) in declared:
            kind, token = "NAME", _bare(token)
        elif kind == "summed" and not closed:
            kind, token = _summed(text, token, start, position, known)
        elif kind == "root":
            kind = "FUNCTION" if _OPENS.match(text, position) else "BARE"
        elif kind == "sign":
            kind, token = _sign(token, start, known, before)
        elif kind == "axis":
            token = _axis(token, start)
        kind = kind.upper()
        if closed and kind not in _IN_CLOSED:
            hint = "; write a decimal with a point" if token == "," else ""
            raise _Wrong(start, _foreign(text, start) + hint)
        before = kind, position
        yield kind, token, start, position


def _sign(token: str, start: int, known: _Known, before: tuple[str, int]) -> tuple[str, str]:
    """The kind of a sign, and its usual spelling; `before` is the token before it and its end."""
    if token == "*" and not known.closed:
        return "STAR", token
    token = _SAME.get(token, token)
    if token in _COMPARISONS:
        if known.equation:
            return "COMPARE", _COMPARISONS[token]
        if token != "==":
            raise _Wrong(start, "this has no meaning here")
    touches = before[1] == start and before[0] in ("NAME", "CLOSE", "RSQB")
    if token == "[" and touches and (before[0] == "NAME" or known.equation):
        return "INDEX", token
    kind = _SIGNS.get(token, "")
    if not kind:
        raise _Wrong(start, "a sign of equality is not expected here")
    return kind, token


def _is_name(word: str, declared: Collection[str]) -> bool:
    """Whether what stands behind an option is a letter, a number's name or a function."""
    known = word in declared or word in GREEK or word in FUNCTIONS or word in _CONSTANTS
    return known or _ONE_NAME.fullmatch(word) is not None


def _foreign(text: str, start: int) -> str:
    """The reason why a token cannot stand in a closed number."""
    match = _ANYTHING.match(text, start)
    word = quote(match[0] if match else "")
    return f"{word} is not part of a number; names and code are not read"


def _closed_word(text: str, start: int) -> Iterator[_Cut]:
    match = _CLOSED_WORD.match(text, start)
    word = match[0] if match else ""
    end = start + len(word)
    if word in _CONSTANTS:
        yield "CONSTANT", _CONSTANTS[word], start, end
    elif word in _CLOSED_FUNCTIONS:
        _refuse_other_base(text, start)
        yield "FUNCTION" if _OPENS.match(text, end) else "BARE", word, start, end
    else:
        raise _Wrong(start, _foreign(text, start))


def _refuse_other_base(text: str, start: int) -> None:
    match = _IDENTIFIER.match(text, start)
    word = match[0] if match else ""
    if word in ("log2", "log10", "exp2"):
        raise _Wrong(start, f"{quote(word)} is not a function here: {_OFFERS[word]}")


def _word(text: str, start: int, known: _Known) -> Iterator[_Cut]:
    """What a run of letters, digits and one subscript stands for: a name, a function, a product."""
    name, identifier = _NAME.match(text, start), _IDENTIFIER.match(text, start)
    assert name is not None
    assert identifier is not None
    token, word, end = name[0], identifier[0], identifier.end()
    letter = greek(_bare(token))
    if known.is_own(letter) and _OPENS.match(text, name.end()):
        yield "FUNCTION", letter, start, name.end()
        return
    if letter in known.declared:
        yield "NAME", letter, start, name.end()
        return
    if word in _KEYWORDS:
        if not known.equation:
            raise _Wrong(start, f"{quote(word)} is a word of equations, not a product of letters")
        yield word.upper(), word, start, end
        return
    if letter != _bare(token) and word not in _CONSTANTS:  # alpha, beta_1
        if text[name.end() : name.end() + 1] == "(":
            raise _Wrong(start, f"{letter} is no function; write {letter} (…) for a product")
        yield "NAME", letter, start, name.end()
        return
    primed = text[end : end + 1] == "'"
    if not primed and word in _AXES:
        yield "AXIS", _AXES[word], start, end
    elif not primed and word == "ones" and text[end : end + 1] != "(":
        yield "ONES", word, start, end
    elif not primed and word in _CONSTANTS:
        yield "CONSTANT", _CONSTANTS[word], start, end
    elif not primed and word in FUNCTIONS:
        yield _function(text, word, start, end), word, start, end
    elif _BEFORE_DIGITS.fullmatch(word) and text[end : end + 1] != "(":  # ln2, sqrt2
        yield "BARE", word.rstrip("0123456789"), start, start + len(word.rstrip("0123456789"))
    elif _ONE_NAME.fullmatch(token):
        if known.equation and text[name.end() : name.end() + 1] == "(":
            raise _Wrong(
                start,
                f"{token} is neither a function nor a letter that is given or made; write "
                f"{token} (…) for a product, or define {token}(x) = …",
            )
        yield "NAME", _bare(token), start, name.end()
    else:
        yield from _letters(text, start, name.end(), word, known)


def _letters(text: str, start: int, end: int, word: str, known: _Known) -> Iterator[_Cut]:
    """Letters written together: a product, unless they look like a word."""
    token = text[start:end]
    letters = token.partition("_")[0].rstrip("'")
    small = any(letter.islower() for letter in letters)
    direct = text[start + len(word) : start + len(word) + 1] == "("
    apart = not direct and _OPENS.match(text, start + len(word)) is not None
    function = word.lower() in _ANY_CASE and len(word) > 2
    product = " ".join(_bare(part) for part in _ONE_NAME.findall(token))
    product = product if len(product) <= 40 else f"{product[:39]}…"
    if function and (direct or small):
        yield _function(text, word, start, start + len(word)), word, start, start + len(word)
        return
    if function and apart:
        raise _Wrong(start, f"write {word}(…) for the function or {product} (…) for the product")
    offer = _OFFERS.get(word.lower())
    close = close_to(word, [*_KNOWN, *(known.own or ())]) if _LOWERCASE_RUN.search(letters) else ""
    if direct or (apart and small):
        if offer:
            raise _Wrong(start, f"{quote(word)} is no function: {offer}")
        if close:
            raise _Wrong(start, f"{quote(word)} is no function; did you mean {close}?")
        raise _Wrong(
            start,
            f"{quote(word)} is no function; write {product} (…) for a product"
            f"{nearest(word, _KNOWN)}",
        )
    meant = _meant(_ONE_NAME.findall(token), known)
    if meant:
        raise _Wrong(start, f"{quote(token)} would be the product {product}; did you mean {meant}?")
    if _LOWERCASE_RUN.search(letters):
        hint = offer or f"write {product} for a product"
        hint = f"did you mean {close}(…)? Else {hint}" if close and not offer else hint
        raise _Wrong(start, f"{quote(word)} is no name; {hint}")
    for part in _ONE_NAME.finditer(text, start, end):
        yield "NAME", _bare(part[0]), part.start(), part.end()


def _meant(parts: Sequence[str], known: _Known) -> str:
    """What letters written together are meant for, if they spell a usual name without its mark.

    dk is d_k, and XWQ is X W_Q, unless all the letters are made or given.
    """
    names = {_bare(name).replace("_", ""): name for name in known.usual if "_" in name}
    for first in range(len(parts)):
        for last in range(len(parts), first + 1, -1):
            run = parts[first:last]
            name = names.get("".join(run))
            if name and not all(_bare(part) in known.declared for part in run):
                return " ".join((*parts[:first], name, *parts[last:]))
    return ""


def _function(text: str, word: str, start: int, end: int) -> str:
    """The kind of token that a function's name is, by what follows it."""
    name = canonical(word)
    if _OPENS.match(text, end):
        return "FUNCTION"
    if ARITY.get(name, (1, 1))[0] == 0:
        return "NULLARY"
    if name in _WITHOUT_BRACKETS:
        return "BARE"
    if word in ("σ", "Σ"):  # the letters, where nothing follows that they could be applied to
        return "NAME"
    raise _Wrong(start, f"{word} needs brackets: {word}(…)")


def _summed(text: str, token: str, start: int, end: int, known: _Known) -> tuple[str, str]:
    word, _, index = token.partition("_")
    index = index.strip("{}")
    if known.equation and index and _OPENS.match(text, end):
        return "EVERY", f"{'concat' if word.lower() == 'concat' else 'sum'}_{index}"
    if word.lower() == "concat":
        raise _Wrong(start, "Concat_h joins the matrices of heads, in equations only")
    if index not in ("", "i", "j"):
        raise _Wrong(start, "Σ_i sums over rows and Σ_j over columns; write Σ_j(A) or rowsum(A)")
    name = {"i": "colsum", "j": "rowsum", "": "sum"}[index]
    return ("FUNCTION" if _OPENS.match(text, end) else "BARE"), _SUMS[name]


def _axis(token: str, start: int) -> str:
    number = token.partition("=")[2].strip().replace("−", "-")
    if number not in ("0", "1", "-1"):
        raise _Wrong(start, "softmax(S), softmax(S, columns) or softmax(S, axis=0)")
    return "columns" if number == "0" else "rows"


def _bare(name: str) -> str:
    """A name without the braces and commas of its subscript."""
    return name.replace("{", "").replace("}", "").replace(",", "")


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
    side; `exponents` are those inside: where, the number if it is one, whether it is closed. A
    value of an `option` may be a `word`; a `part` is one of those of a matrix.
    """

    tree: Tree
    start: int
    end: int
    depth: int = 0
    closed: bool = False
    first: str = ""
    bare: str = ""
    together: bool = False
    option: str = ""
    word: str = ""
    part: Part | None = None
    exponents: tuple[tuple[int, Fraction | None, bool], ...] = ()


def _phrase(tree: Tree, parts: Sequence[_Phrase], start: int, end: int, deeper: int = 1) -> _Phrase:
    """A phrase made of parts, if it is not too deep."""
    depth = max((part.depth for part in parts), default=0) + deeper
    if depth > MAX_DEPTH:
        raise _Wrong(start, _TOO_DEEP)
    exponents = tuple(one for part in parts for one in part.exponents)
    closed = all(part.closed for part in parts)
    tree = tree if tree.at >= 0 else replace(tree, at=start)
    return _Phrase(tree, start, end, depth, closed, exponents=exponents)


def _span(token: Token) -> tuple[int, int]:
    """Where a token begins and ends."""
    assert token.start_pos is not None
    assert token.end_pos is not None
    return token.start_pos, token.end_pos


def _pairs(rest: Sequence[Token | _Phrase]) -> Iterator[tuple[Token, _Phrase]]:
    """Operators, each with the part behind it."""
    for token, part in zip(rest[::2], rest[1::2], strict=True):
        assert isinstance(part, _Phrase)
        assert not isinstance(token, _Phrase)
        yield token, part


class _Builder:
    """What is made of each rule of `_GRAMMAR`, of the tokens and phrases that it consists of."""

    @staticmethod
    def number(token: Token) -> _Phrase:
        """A decimal, exactly."""
        digits, _, exponent = token.replace("−", "-").lower().partition("e")
        if len(digits) > MAX_DIGITS:
            raise _Wrong(_span(token)[0], f"a number has too many digits; {MAX_DIGITS} at most")
        if len(exponent) > 9 or abs(int(exponent or 0)) > MAX_EXPONENT:
            raise _Wrong(_span(token)[0], f"keep the exponent within ±{MAX_EXPONENT}")
        value = Fraction(Decimal(digits)) * Fraction(10) ** int(exponent or 0)
        start, end = _span(token)
        return _Phrase(Number(value, at=start), start, end, closed=True, first="number")

    @staticmethod
    def name(token: Token) -> _Phrase:
        """A letter that is declared or means itself."""
        small = token[0].islower() and not token[1:2].isupper()
        start, end = _span(token)
        return _Phrase(Name(str(token), at=start), start, end, first="small" if small else "")

    @staticmethod
    def constant(token: Token) -> _Phrase:
        """The constants e, pi and ∞."""
        start, end = _span(token)
        return _Phrase(Name(str(token), at=start), start, end, closed=True)

    @staticmethod
    def ones(token: Token) -> _Phrase:
        """A column of ones, spelled out."""
        start, end = _span(token)
        return _Phrase(_ones(start), start, end)

    @staticmethod
    def nullary(token: Token) -> _Phrase:
        """A function of nothing."""
        start, end = _span(token)
        return _Phrase(Call(canonical(token), (), at=start), start, end)

    @staticmethod
    def bracket(opened: Token, inner: _Phrase, closed: Token) -> _Phrase:
        """( … ) or { … }."""
        return _phrase(inner.tree, [inner], _span(opened)[0], _span(closed)[1])

    @staticmethod
    def call(word: Token, _: Token, *rest: Token | _Phrase) -> _Phrase:
        """A function with its arguments in brackets."""
        name, start = canonical(str(word)), _span(word)[0]
        phrases = [part for part in rest if isinstance(part, _Phrase)]
        parts = [part for part in phrases if not part.option]
        tokens = [part for part in rest if not isinstance(part, _Phrase)]
        axes = [token for token in tokens if token.type == "AXIS" and token is not rest[0]]
        if axes:
            name = _along(name, axes[0], len(parts))
        least, most = ARITY.get(name, (1, 1) if name in SPELLINGS else (1, _MOST_OF_OWN))
        if not least <= len(parts) <= most:
            if name == "softmax":
                raise _Wrong(start, _SOFTMAX_TAKES)
            if word in _OFFERS:
                raise _Wrong(start, f"{quote(str(word))} is no function: {_OFFERS[word]}")
            count = str(least) if least == most else f"{least} to {most}"
            raise _Wrong(start, f"{word} takes {count} argument{'s' * (count != '1')}")
        options = {part.option: part.word or part.tree for part in phrases if part.option}
        named = [part.option for part in phrases if part.option]
        for twice in {option for option in named if named.count(option) > 1}:
            raise _Wrong(start, f"{word} is given {twice} twice")
        tree = Call(name, tuple(part.tree for part in parts), tuple(options.items()))
        out = _phrase(tree, phrases, start, _span(tokens[-1])[1])
        return replace(out, closed=out.closed and bool(parts))

    @staticmethod
    def option(name: Token, value: Token | _Phrase) -> _Phrase:
        """An option of a function: base=500, pairing=half."""
        if isinstance(value, _Phrase):
            return replace(value, option=str(name))
        return _Phrase(_ONE, *_span(value), option=str(name), word=str(value))

    @staticmethod
    def every(word: Token, opened: Token, inner: _Phrase, closed: Token) -> _Phrase:
        """sum_h(…), concat_h(…); sum_i and sum_j of what has no such index are line sums."""
        kind, _, index = word.partition("_")
        tree: Tree = Every(kind, index, inner.tree)
        if kind == "sum" and index in ("i", "j") and not _uses(inner.tree, index):
            tree = Call("colsum" if index == "i" else "rowsum", (inner.tree,))
        out = _phrase(tree, [inner], _span(word)[0], _span(closed)[1])
        return replace(out, closed=False)

    @staticmethod
    def indexed(base: _Phrase, opened: Token, *rest: Token | _Phrase) -> _Phrase:
        """Parts of a matrix, an entry, or the matrix of one head."""
        phrases = [part for part in rest if isinstance(part, _Phrase)]
        closed = [part for part in rest if not isinstance(part, _Phrase)][-1]
        if len(phrases) > 2:
            raise _Wrong(_span(opened)[0], "two indices at most stand in one bracket")
        parts = tuple(part.part for part in phrases if part.part is not None)
        tree = Indexed(base.tree, parts)
        out = _phrase(tree, [base, *phrases], base.start, _span(closed)[1])
        return replace(out, closed=False, first=base.first)

    @staticmethod
    def at(part: _Phrase) -> _Phrase:
        """One row, column, entry or head."""
        return replace(part, part=Part(part.tree, None, True))

    @staticmethod
    def between(*children: Token | _Phrase) -> _Phrase:
        """A range, both ends of which are taken; an end may be left out."""
        (colon,) = (child for child in children if not isinstance(child, _Phrase))
        first, last = children[0], children[-1]
        before = first.tree if isinstance(first, _Phrase) else None
        after = last.tree if isinstance(last, _Phrase) else None
        ends = [child for child in children if isinstance(child, _Phrase)]
        return replace(_phrase(_ONE, ends, *_span(colon), 0), part=Part(before, after))

    @staticmethod
    def comparison(*children: Token | _Phrase) -> _Phrase:
        """A chain of comparisons."""
        sides = [child for child in children if isinstance(child, _Phrase)]
        signs = tuple(str(child) for child in children if not isinstance(child, _Phrase))
        tree = Compared(tuple(side.tree for side in sides), signs)
        return _phrase(tree, sides, sides[0].start, sides[-1].end)

    @staticmethod
    def joined(*children: Token | _Phrase) -> _Phrase:
        """Tests that all hold (and), or one of which does (or)."""
        tests = [child for child in children if isinstance(child, _Phrase)]
        (word, *_) = (str(child) for child in children if not isinstance(child, _Phrase))
        tree = Joined(word, tuple(test.tree for test in tests))
        return _phrase(tree, tests, tests[0].start, tests[-1].end)

    @staticmethod
    def negated(word: Token, test: _Phrase) -> _Phrase:
        """A test that does not hold."""
        return _phrase(Joined("not", (test.tree,)), [test], _span(word)[0], test.end)

    @staticmethod
    def chosen(value: _Phrase, _: Token, test: _Phrase, __: Token, otherwise: _Phrase) -> _Phrase:
        """Value if test else otherwise."""
        parts = [value, test, otherwise]
        tree = Chosen(value.tree, test.tree, otherwise.tree)
        return _phrase(tree, parts, value.start, otherwise.end)

    @staticmethod
    def bare(word: Token, part: _Phrase) -> _Phrase:
        """A function without brackets takes the next number, name or call."""
        tree = Call(canonical(word), (part.tree,))
        out = _phrase(tree, [part], _span(word)[0], part.end)
        return replace(out, bare=str(word))

    @staticmethod
    def turned(part: _Phrase, token: Token) -> _Phrase:
        """A transpose."""
        _refuse_bare(part, *_span(token))
        base = _ones(part.start) if part.tree == _ONE else part.tree
        base = Apart("inv", (base,)) if token[0] in "⁻" or "-" in token or "−" in token else base
        out = _phrase(Apart("T", (base,)), [part], part.start, _span(token)[1])
        return replace(out, closed=False, first=part.first)

    @staticmethod
    def raised(part: _Phrase, token: Token) -> _Phrase:
        """A superscript."""
        value = Fraction(token.translate(_SUPERSCRIPTS))
        exponent = _Phrase(Number(value), *_span(token), closed=True)
        return _power(part, exponent)

    @staticmethod
    def power(base: _Phrase, _: Token, exponent: _Phrase, turn: Token | None = None) -> _Phrase:
        """A power, and the transpose that may stand behind it."""
        out = _power(base, exponent)
        return out if turn is None else _Builder.turned(out, turn)

    @staticmethod
    def product(first: _Phrase, *rest: Token | _Phrase) -> _Phrase:
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
        out = _phrase(tree, factors, factors[0].start, factors[-1].end, operators.count("/"))
        side_by_side = not any(operators) and all(isinstance(one, Name) for one in trees)
        return replace(
            out,
            together=side_by_side,
            first=factors[0].first,
            bare=factors[-1].bare if _is_sum(factors[-1]) else "",
        )

    @staticmethod
    def entrywise(out: _Phrase, *rest: Token | _Phrase) -> _Phrase:
        """Products and quotients entry by entry, from left to right."""
        for token, part in _pairs(rest):
            _refuse_open_sum(out, part)
            out = _phrase(
                Apart(str(token), (out.tree, part.tree)), [out, part], out.start, part.end
            )
        return out

    @staticmethod
    def signed(token: Token, part: _Phrase) -> _Phrase:
        """A sign before a part."""
        tree = Apart("neg", (part.tree,)) if token == "-" else part.tree
        return _phrase(tree, [part], _span(token)[0], part.end)

    @staticmethod
    def sum(first: _Phrase, *rest: Token | _Phrase) -> _Phrase:
        """Terms with + or - between them."""
        parts, trees = [first], [first.tree]
        for token, part in _pairs(rest):
            parts.append(part)
            trees.append(Apart("neg", (part.tree,)) if token == "-" else part.tree)
        tree = Apart("+", tuple(trees))
        return _phrase(tree, parts, parts[0].start, parts[-1].end, 0)

    @staticmethod
    def row(*children: Token | _Phrase) -> _Phrase:
        """Blocks beside one another."""
        parts = [part for part in children if isinstance(part, _Phrase)]
        if len(parts) == 1:
            return parts[0]
        tree = Call("beside", tuple(part.tree for part in parts))
        return _phrase(tree, parts, parts[0].start, parts[-1].end)

    @staticmethod
    def blocks(opened: Token, *rest: Token | _Phrase) -> _Phrase:
        """[A, B; C, D]: blocks beside and below one another; in [A B; C D] they are products."""
        rows = [row for row in rest if isinstance(row, _Phrase)]
        closed = [token for token in rest if not isinstance(token, _Phrase)][-1]
        if len(rows) == 1 and rows[0].together:
            raise _Wrong(
                rows[0].start, "write [A, B] for blocks beside one another, A B for a product"
            )
        if opened.type == "LSQB" and len(rows) == 1 and rows[0].first == "number":
            raise _Wrong(_span(opened)[0], "a part of a matrix touches its letter: Q[1]")
        tree = rows[0].tree if len(rows) == 1 else Call("below", tuple(r.tree for r in rows))
        out = _phrase(tree, rows, _span(opened)[0], _span(closed)[1])
        return replace(out, closed=False)


def _along(name: str, axis: Token, arguments: int) -> str:
    """Softmax along an axis."""
    if name != "softmax" or arguments != 1:
        offer = {"sum": "; write rowsum(A) or colsum(A)"}.get(name, "")
        raise _Wrong(_span(axis)[0], f"only softmax takes an axis{offer or ': ' + _SOFTMAX_TAKES}")
    return "colsoftmax" if axis == "columns" else "softmax"


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
                raise _Wrong(factors[k].start, _TWO_NUMBERS)
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
        raise _Wrong(after.start, f"the sum may end before this or not; write {before.bare}(…)")


def _refuse_bare(base: _Phrase, start: int, end: int) -> None:
    """A power behind √x or ln x is the power of x to some readers, of the whole to others."""
    if base.bare:
        argument = base.start + len(base.bare), base.end
        whole, power = (base.start, base.end), (start, end)
        raise _Wrong(
            base.start, f"write {base.bare}(‹›‹›) or (‹›)‹›", argument, power, whole, power
        )


def _power(base: _Phrase, exponent: _Phrase) -> _Phrase:
    start, end = base.start, exponent.end
    _refuse_bare(base, base.end, end)
    if base.tree == Name("e") and base.closed:
        return _phrase(Call("exp", (exponent.tree,)), [base, exponent], start, end)
    number = _folded(exponent.tree)
    if number == -1:
        return _first(_phrase(Apart("inv", (base.tree,)), [base, exponent], start, end), base)
    tree = (
        Apart("^", (base.tree, exponent.tree))
        if number is None
        else Apart("^", (base.tree,), number)
    )
    out = _phrase(tree, [base, exponent], start, end)
    inner = base.exponents if number is not None else out.exponents
    exponents = (*inner, (exponent.start, number, exponent.closed))
    return _first(replace(out, closed=base.closed and exponent.closed, exponents=exponents), base)


def _first(phrase: _Phrase, base: _Phrase) -> _Phrase:
    return replace(phrase, first=base.first)


def _folded(tree: Tree) -> Fraction | None:
    """The rational number that a closed exponent is, if it is one of a moderate size."""
    match tree:
        case Number(value, False):
            out: Fraction | None = value
        case Apart("^", (base,), exponent):
            out = _folded_power(_folded(base), exponent)
        case Apart("inv", (base,)):
            out = _folded_power(_folded(base), Fraction(-1))
        case Apart("neg" | "+" | "*" | "×" | "/" as sign, parts):
            values = [_folded(part) for part in parts]
            out = None if None in values else _combined(sign, [v for v in values if v is not None])
        case _:
            return None
    small = out is not None and max(abs(out.numerator), out.denominator) < _FOLDED_BELOW
    return out if small else None


def _folded_power(base: Fraction | None, exponent: Fraction) -> Fraction | None:
    if base is None or exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT:
        return None
    if base == 0 and exponent < 0:
        return None
    bits = max(abs(base.numerator), base.denominator).bit_length()
    return base ** int(exponent) if bits * abs(exponent) < 4096 else None


def _combined(sign: str, values: list[Fraction]) -> Fraction | None:
    match sign:
        case "neg":
            return -values[0]
        case "+":
            return sum(values, Fraction(0))
        case "/":
            return values[0] / values[1] if values[1] else None
    out = Fraction(1)
    for value in values:
        out *= value
    return out


# ---- tables ----------------------------------------------------------------------------------


@cache
def _parser() -> Callable[[list[Token], str], _Phrase]:
    """Lark's tables for the grammar, built once; loading Lark is what takes the time."""
    from lark import Lark, Token, Transformer  # heavy, as above
    from lark.lexer import Lexer  # heavy, as above

    class Cut(Lexer):
        """The text is cut into tokens beforehand."""

        def __init__(self, lexer_conf: object) -> None:
            pass

        def lex(self, data: list[Token]) -> Iterator[Token]:  # type: ignore[override]
            return iter(data)

    class Builder(Transformer[Token, _Phrase]):
        """Calls the methods of `_Builder`, whose arguments are the children of a rule."""

        def __getattr__(self, rule: str) -> Callable[[list[Token | _Phrase]], _Phrase]:
            make = getattr(_Builder, rule)
            return lambda children: make(*children)

    grammar = Lark(
        _GRAMMAR,
        parser="lalr",
        lexer=Cut,
        transformer=Builder(),
        maybe_placeholders=False,
        start=["start", "right"],
    )
    return cast(Callable[[list[Token], str], _Phrase], grammar.parse)


_GRAMMAR = """
?start: sum
?right: sum | test | chosen
chosen: sum IF test ELSE right
?test: both (OR both)+ -> joined | both
?both: single (AND single)+ -> joined | single
?single: NOT single -> negated | sum (COMPARE sum)+ -> comparison | OPEN test CLOSE -> bracket
?sum: term ((PLUS | MINUS) term)*
?term: entrywise | (PLUS | MINUS) term -> signed
?entrywise: product (ENTRY entry)*
?entry: product | (PLUS | MINUS) entry -> signed
?product: power (TIMES factor | STAR factor | OVER factor | power)*
?factor: power | (PLUS | MINUS) factor -> signed
?power: turned | turned POWER exponent
?turned: atom | turned TURN | turned SUPER -> raised | turned POWER exponent TURN -> power
?exponent: level | (PLUS | MINUS) exponent -> signed | level POWER exponent -> power
?level: atom | level SUPER -> raised
?atom: NUMBER -> number | NAME -> name | CONSTANT -> constant | ONES -> ones | NULLARY -> nullary
     | call | BARE operand -> bare | OPEN sum CLOSE -> bracket | OPEN chosen CLOSE -> bracket
     | LSQB row (SEMICOLON row)* RSQB -> blocks | EVERY OPEN sum CLOSE -> every
     | atom INDEX range (COMMA range)* RSQB -> indexed
?operand: NUMBER -> number | NAME -> name | CONSTANT -> constant | call | BARE operand -> bare
call: FUNCTION OPEN (argument (COMMA argument)*)? CLOSE
?argument: sum | AXIS | OPTION (sum | WORD) -> option
range: sum -> at | sum COLON sum -> between | sum COLON -> between | COLON sum -> between
     | COLON -> between
row: sum (COMMA sum)*
%declare NUMBER NAME CONSTANT ONES NULLARY FUNCTION BARE AXIS TURN SUPER
%declare PLUS MINUS ENTRY TIMES OVER POWER OPEN CLOSE LSQB RSQB COMMA SEMICOLON
%declare STAR INDEX COLON COMPARE IF ELSE AND OR NOT OPTION WORD EVERY
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
_SUMS = {"rowsum": "Σ_j", "colsum": "Σ_i", "sum": "Σ"}
_AXES = {
    "columns": "columns",
    "cols": "columns",
    "column": "columns",
    "axis0": "columns",
    "rows": "rows",
    "axis1": "rows",
}
_SOFTMAX_TAKES = "write softmax(S), softmax(S, columns) or softmax(S, axis=0)"
_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH}"
_TWO_NUMBERS = "a number is not expected after a number; write * between them"
_FOLDED_BELOW = 10**6
#: How many arguments a function of one's own may have, which its definition says.
_MOST_OF_OWN = 16

#: To compare with.
_ONE, _ONES = Number(Fraction(1)), Number(Fraction(1), vector=True)
_CLOSES = {"(": ")", "{": "}", "[": "]"}
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
_IN_STATEMENTS = re.compile(rf"(?<=[(,\s]){_OPTION}|==?|[()\[\]{{}}]")

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
    "^": "POWER",
    "(": "OPEN",
    "{": "OPEN",
    ")": "CLOSE",
    "}": "CLOSE",
    "[": "LSQB",
    "]": "RSQB",
    ",": "COMMA",
    ";": "SEMICOLON",
    ":": "COLON",
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
_KEYWORDS = ("if", "else", "and", "or", "not")
_IN_CLOSED = {
    "NUMBER",
    "CONSTANT",
    "FUNCTION",
    "BARE",
    "SUPER",
    "PLUS",
    "MINUS",
    "TIMES",
    "OVER",
    "POWER",
    "OPEN",
    "CLOSE",
}

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
