"""The letters of a derivation: what each is by default, and what a reader may write for it.

All letters come out of one allocation. Matrices, sizes and what else has a name of its own may be
given a symbol; an index or a sign that such a symbol takes is written with the next free letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from symattn.errors import SymattnError, quote
from symattn.greek import GREEK
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: What a name begins with that is not a matrix itself: d for the gradient of the loss with respect
#: to it (dQ, d_scores), delta for its change in one direction (delta_Q); its letter has d or δ.
GRADIENT, CHANGE = "d", "δ"

#: The letters of the loss that a backward pass starts from, and of its linear part, by their names.
LOSSES: Mapping[str, str] = {"loss": "L", "loss_linear": "L_lin"}

#: A name that d stands right before: a letter, with a subscript or without, or such a gradient.
_SHORT = re.compile(r"d*(?:[A-Za-z]?|delta)(?:_.*)?\Z")

_PLAIN_NAME = re.compile(r"[A-Za-z]{1,20}[0-9]{0,3}(_[A-Za-z0-9]{1,20})?\Z")
_NUMBERED = re.compile(r"[A-Za-zα-ωΑ-Ω][0-9]{1,3}")
_FONTS = "mathbf|boldsymbol|mathrm|mathsf|mathcal|mathbb"
_ACCENTS = "tilde|hat|bar|vec"
_LATEX = re.compile(
    rf"(?:\\(?:{_FONTS}|{_ACCENTS}|top|prime|"
    + "|".join(GREEK)
    + r")(?![A-Za-z])|[A-Za-z0-9^_{}() ,'*+-])*"
)

#: A letter in a font or under an accent, and a label above or below it: \\mathbf{W}^Q, \\hat{K}_2.
_STYLED = re.compile(
    rf"(?:\\(?P<style>{_FONTS}|{_ACCENTS})\{{(?P<inside>[A-Za-z])\}}|(?P<letter>[A-Za-z]))"
    r"(?:(?P<sign>[\^_])(?P<label>[A-Za-z0-9]|\{\(?[A-Za-z0-9]+\)?\}))?\Z"
)

#: Sizes that are written n with a label, since an index or an entry has their own letter.
COUNTS = ("h", "g")

#: The letters beside those of matrices and sizes, by their names in expressions: what each may be,
#: the first of them that no symbol of the reader's takes.
OTHERS: Mapping[str, tuple[str, ...]] = {
    "i": ("i", "nu"),
    "j": ("j", "chi"),
    "l": ("l", "lambda"),
    "r": ("r", "epsilon"),
    "head": ("h", "upsilon"),
    "member": ("eta", "Phi"),
    "t": ("t", "xi"),
    "theta": ("theta", "Theta"),
    "psi": ("psi", "Psi"),
    "mu": ("mu", "Lambda"),
    "omega": ("omega", "Omega"),
    "kappa": ("kappa", "Xi"),
    "Delta": ("Delta", "pi"),
    "N": ("N", "Pi"),
    "T": ("T", "⊤"),
    "L": ("L", r"\mathcal{L}"),
    "temperature": ("T", r"\mathcal{T}"),
    GRADIENT: (GRADIENT, "∂"),
    CHANGE: (CHANGE, "Delta"),
}

#: Rows, columns, and two sums inside one another, by their names in expressions; where it is known
#: which letters a document has, they and further sums take the first of the alphabet that is free.
INDICES = ("i", "j", "l", "r")
ALPHABET = "ijklrstupqabcvwxyz"

#: What readers call the indices, and the letters that definitions bring.
CALLED: Mapping[str, str] = {
    "row": "i",
    "column": "j",
    "sum": "l",
    "sum2": "r",
    "head": "head",
    "member": "member",
    "pair": "t",
    "loss": "L",
    **{name: name for name in ("theta", "psi", "mu", "omega", "kappa")},
}

#: Signs that mean something else.
_SIGNS = {
    "e": "the base of the exponential",
    "I": "the identity matrix",
    "σ": "the sigmoid",
    "τ": "the threshold of sparsemax and entmax",
    "φ": "the feature map",
    "ξ": "the argument of functions",
}


def sign(name: str) -> str | None:
    """What a sign means that has one letter in every notation; None of what is none.

    >>> sign("sigma")
    'the sigmoid'
    """
    return _SIGNS.get(GREEK.get(name, name))


#: The small letters of indices, sizes and learned vectors: an entry has the capital, M_ij.
_NO_ENTRIES = frozenset("bdehijlmnprtu")


def allocated(symbols: Mapping[str, str], in_use: frozenset[str] | None = None) -> dict[str, str]:
    """The letter of each of `OTHERS` beside these symbols; no index has one that is `in_use`.

    Raises `SymattnError` where a symbol is a sign, or that of an index is another's too.

    >>> allocated({"n": "T", "X": "h"})["T"], allocated({"X": "h"})["head"]
    ('⊤', 'upsilon')
    >>> letters = allocated({"head": "i"}, frozenset("iksvx"))
    >>> "".join(letters[name] for name in INDICES)
    'jlru'
    """
    taken: dict[str, str] = {}
    for name, symbol in symbols.items():
        letter = bare(custom_symbol(symbol))
        if letter is None:
            continue
        if letter in _SIGNS:
            raise SymattnError(f"symbols: {quote(symbol)} is {_SIGNS[letter]} here; choose another")
        if letter in taken and {name, taken[letter]} & set(OTHERS):
            raise SymattnError(
                f"symbols: {reader_name(taken[letter])} and {reader_name(name)} would share "
                f"{letter}; choose another"
            )
        taken[letter] = name
    out = {}
    for name, letters in OTHERS.items():
        free = (x for x in letters if GREEK.get(x, x) not in taken)
        out[name] = symbols.get(name) or next(free, letters[-1])
    if in_use is not None:
        others = {letter for name, letter in out.items() if name not in INDICES or name in symbols}
        for name in (name for name in INDICES if name not in symbols):
            free = (x for x in (name, *ALPHABET) if x not in others | in_use | {*taken})
            out[name] = next(free, out[name])
            others.add(out[name])
    return out


def reader_name(name: str) -> str:
    """What readers call a letter: row for i."""
    return next((called for called, own in CALLED.items() if own == name), name)


def bare(symbol: Tree) -> str | None:
    """The character of a symbol that is one letter in italics."""
    return symbol.name if isinstance(symbol, t.Ident) and len(symbol.name) == 1 else None


def size_tree(name: str) -> Tree:
    """The usual letter of a size: n with an upright label for h, which is no index there."""
    return t.Script(t.Ident("n"), t.Ident(name, roman=True)) if name in COUNTS else name_tree(name)


def parts(symbol: Tree) -> tuple[Tree, Tree | None] | None:
    """A symbol as its letter and its label: W and Q of W_Q; None for one that has no such parts."""
    match symbol:
        case t.Ident() | t.Custom():
            return symbol, None
        case t.Script((t.Ident() | t.Custom()) as base, sub, None) if not isinstance(sub, t.Num):
            return base, sub
        case t.Script((t.Ident() | t.Custom()) as base, None, sup) if not isinstance(sup, t.Num):
            return base, sup
    return None


def entry_letter(letter: Tree, labelled: bool, taken: frozenset[str] = _NO_ENTRIES) -> Tree | None:
    """The letter of a matrix's entries: the small one, unless that means something else.

    A bold letter has plain entries, one with an accent keeps it; None where there is no letter.
    """
    match letter:
        case t.Ident(name, roman) if len(name) == 1:
            small = name.lower() if name.isascii() else name
            return letter if small in taken and not labelled else t.Ident(small, roman)
        case t.Custom(latex):
            styled = _STYLED.match(latex)
            if styled is None:
                return None
            inside = t.Ident(styled["inside"])
            plain = entry_letter(inside, labelled, taken)
            if styled["style"] in _FONTS.split("|") or plain is None:
                return plain
            assert isinstance(plain, t.Ident)
            return t.Custom(rf"\{styled['style']}{{{plain.name}}}")
    return None


def prefixed(prefix: str, name: str) -> str:
    """The name of a gradient or of a change: dQ, dW_Q, but d_scores; delta_Q, delta_scores.

    >>> prefixed(GRADIENT, "W_Q"), prefixed(GRADIENT, "scores"), prefixed(CHANGE, "dQ")
    ('dW_Q', 'd_scores', 'delta_dQ')
    """
    if prefix == CHANGE:
        return f"delta_{name}"
    return f"d{name}" if _SHORT.match(name) else f"d_{name}"


def derived_from(letter: str) -> tuple[str, str] | None:
    """What the letter of a gradient or of a change is made of; None for others.

    What d or δ stands before is one letter, with a subscript or without, or derived itself.

    >>> derived_from("dS"), derived_from("δdW_Q"), derived_from("d_k"), derived_from("delta")
    (('d', 'S'), ('δ', 'dW_Q'), None, None)
    """
    prefix, rest = letter[:1], letter[1:]
    if prefix not in (GRADIENT, CHANGE):
        return None
    base = rest.partition("_")[0]
    whole = len(base) == 1 or base in GREEK or derived_from(rest) is not None
    return (prefix, rest) if whole else None


def is_backward(letter: str) -> bool:
    """Whether a letter is of a backward pass: a gradient, or the loss.

    >>> is_backward("dS"), is_backward("L"), is_backward("S"), is_backward("δS")
    (True, True, False, False)
    """
    derived = derived_from(letter)
    return letter in LOSSES.values() or (derived is not None and derived[0] == GRADIENT)


def name_tree(name: str) -> Tree:
    """A plain name as a symbol: S, d_k, d_model, W_Q, alpha, S_1 of S1."""
    base, _, sub = name.partition("_")
    if not sub and _NUMBERED.fullmatch(base):
        base, sub = base[:1], base[1:]
    if not sub:
        return _word(base)
    return t.Script(_word(base), _word(sub))


def _word(word: str) -> Tree:
    if word.isdigit():
        return t.Num(word)
    if word in GREEK:
        return t.Ident(GREEK[word])
    return t.Ident(word, roman=len(word) > 1)


def custom_symbol(letter: str) -> Tree:
    """A symbol as people write it: a plain name, or a little LaTeX from a fixed list of commands.

    Raises `SymattnError` for anything else, so that no other LaTeX can be smuggled in.

    >>> custom_symbol("W_Q")
    <W_Q>
    """
    if _PLAIN_NAME.match(letter):
        return name_tree(letter)
    if len(letter) == 1 and letter in GREEK.values():
        return t.Ident(letter)
    if letter[:1] == "\\" and letter[1:] in GREEK:
        return t.Ident(GREEK[letter[1:]])
    known = len(letter) <= 60 and _LATEX.fullmatch(letter)
    if not (known and letter.strip() and _balanced(letter)):
        raise SymattnError(
            f"symbol {quote(letter)}: use a name such as A, W_Q or alpha, or LaTeX made of "
            r"letters, scripts and \mathbf, \mathrm, \mathcal, \tilde, \hat, \bar or Greek letters"
        )
    if _LOOSE.search(letter) or ("'" in letter and "^" in letter) or not _converts(letter.strip()):
        raise SymattnError(
            f"symbol {quote(letter)}: this LaTeX cannot be set; put what a command applies to in "
            r"braces, as in \mathbf{A}, and give each letter one subscript and one superscript"
        )
    return _styled(letter.strip())


def _styled(latex: str) -> Tree:
    """A letter in a font with its label as such, all other LaTeX as it stands."""
    styled = _STYLED.match(latex)
    if styled is None or styled["label"] is None:
        return t.Custom(latex)
    base: Tree = t.Custom(latex[: styled.start("sign")])
    if styled["letter"] is not None:
        base = t.Ident(styled["letter"])
    word = styled["label"].strip("{}")
    label = _word(word.strip("()"))
    label = t.Fenced(label) if word.startswith("(") else label
    return t.Script(base, None, label) if styled["sign"] == "^" else t.Script(base, label)


#: A command without the braces it needs; a script on nothing or of a script.
_LOOSE = re.compile(
    r"\\(?:math[a-z]+|tilde|hat|bar|vec|boldsymbol)(?![a-z])(?!\{[^}])|(?:^|[{(,])\s*[\^_']|[\^_]\s*[\^_']"
)


def _converts(latex: str) -> bool:
    from symattn.notation.mathml import mathml

    try:
        mathml(t.Custom(latex))
    except Exception:  # latex2mathml raises errors of many kinds
        return False
    return True


def _balanced(latex: str) -> bool:
    depth = 0
    for character in latex:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0 and "^^" not in latex and "__" not in latex and latex.strip()[-1] not in "^_"
