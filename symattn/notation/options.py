"""How a reader wants things spelled, and the vocabulary of step names and symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from symattn.arguments import flag, instance, table, whole, word
from symattn.errors import SymattnError, nearest, shown
from symattn.notation.tree import (
    Custom,
    Fenced,
    Frac,
    Ident,
    Marked,
    Num,
    Op,
    Script,
    Tree,
    check_tree,
    commas,
    power,
    row,
    times,
)

#: The one vocabulary: the name of a step or an input, and the letter it goes by.
SYMBOLS: Mapping[str, str] = {
    # where Q, K and V come from
    "one_hot": "U",
    "E": "E",
    "X": "X",
    "positions": "P",
    "placed": "X_p",
    "memory": "C",
    "W_Q": "W_Q",
    "W_K": "W_K",
    "W_V": "W_V",
    "W_O": "W_O",
    "b_Q": "b_Q",
    "b_K": "b_K",
    "b_V": "b_V",
    "b_O": "b_O",
    "W_D": "W_D",
    "latent": "C_KV",
    "latent_past": "C_p",
    "latent_cached": "C_c",
    "W_DQ": "W_DQ",
    "Q_latent": "C_Q",
    "Q": "Q",
    "K": "K",
    "V": "V",
    "K_past": "K_p",
    "V_past": "V_p",
    "K_cached": "K_c",
    "V_cached": "V_c",
    "W_QR": "W_QR",
    "Q_position": "P_Q",
    "W_KR": "W_KR",
    "K_position": "P_K",
    "K_position_past": "P_p",
    "K_position_cached": "P_c",
    # what is compared
    "Q_absorbed": "Q_L",
    "Q_joined": "Q_J",
    "K_joined": "K_J",
    "Q_rotated": "Q_r",
    "K_rotated": "K_r",
    "Q_unit": "Q_u",
    "K_unit": "K_u",
    "Q_features": "Q_f",
    "K_features": "K_f",
    "Q_scaled": "Q_s",
    "K_scaled": "K_s",
    "W_S": "W_S",
    "W_a": "W_a",
    "U_a": "U_a",
    "v_a": "v_a",
    "Q_hidden": "Q_a",
    "K_hidden": "K_a",
    "distances": "R_d",
    "W_R": "W_R",
    "distance_keys": "K_d",
    "u_c": "u_c",
    "v_d": "v_d",
    "by_content": "S_a",
    "by_distance": "S_b",
    "content_bias": "S_c",
    "distance_bias": "S_d",
    # from scores to the output
    "scores": "S",
    "scaled": "Z",
    "capped": "T",
    "table": "gamma",
    "bias": "R",
    "biased": "D",
    "mask": "M",
    "allowed": "B",
    "masked": "G",
    "sink": "beta",
    "row_max": "rho",
    "exp": "F",
    "exp_sum": "r",
    "weights": "A",
    "latent_output": "O_L",
    "output": "O",
    "heads": "O",
    "concat": "H",
    "projected": "Y",
    # how weights move with scores
    "jacobian_own": "J_o",
    "jacobian_taken": "J_t",
    "jacobian": "J",
    "jacobian_sums": "J_1",
}

#: The names of sizes, in the order in which they are listed: queries, keys, widths, heads.
SIZES = (
    "n",
    "m",
    "p",
    "d_model",
    "d_mem",
    "d_c",
    "d_cq",
    "d_k",
    "d_r",
    "d_a",
    "d_v",
    "d_out",
    "h",
    "g",
    "n_vocab",
    "n_bucket",
    "k",
)

#: What a name begins with that is not a matrix itself: d for the gradient of the loss with respect
#: to it (dQ, d_scores), delta for its change in one direction (delta_Q); its letter has d or δ.
GRADIENT, CHANGE = "d", "δ"
_STARTS = ((GRADIENT, "d_"), (GRADIENT, "d"), (CHANGE, "delta_"), (CHANGE, CHANGE))

_GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "iota": "ι",
    "kappa": "κ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "upsilon": "υ",
    "phi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
    "lambda": "λ",
}

_PLAIN_NAME = re.compile(r"[A-Za-z]{1,20}(_[A-Za-z0-9]{1,20})?\Z")
_LATEX_TOKEN = re.compile(
    r"\\(?:mathbf|mathrm|mathcal|mathbb|mathsf|tilde|hat|bar|vec|boldsymbol|top|prime|ell|"
    + "|".join(_GREEK)
    + r")(?![A-Za-z])|[A-Za-z0-9^_{}() ,'*+-]"
)

Rounding = Literal["half-up", "half-even"]

#: The most decimals that are shown.
MAX_DIGITS = 100


@dataclass(frozen=True)
class Notation:
    """The reader's choices; every output follows them.

    - `index_base`: the number of the first row, column and head: 1 or 0.
    - `transpose`: the sign of the transpose: ``T``, ``⊤`` or ``'``.
    - `gradients`: the gradient of the loss with respect to V is written dV (``d``) or ∂L/∂V
      (``partial``).
    - `convention`: ``rows`` (tokens are rows, S = Q Kᵀ) or ``columns`` (S = Kᵀ Q).
    - `symbols`: other letters, by step name or default letter: ``{"weights": "alpha"}``; LaTeX
      such as ``\\mathbf{A}`` is taken too.
    - `digits`: decimals shown; `exact`: show exact values instead; `rounding` of ties.
    - `limit`: matrices and sums longer than this are shown with ⋯; 0 for no limit.
    - `layout`: the value of a product is a matrix (``matrix``) or stands in Falk's scheme
      (``falk``): the second factor above it, the first on its left.

    >>> Notation(symbols={"weights": "P"}).symbols["A"]
    'P'
    """

    index_base: int = 1
    transpose: str = "T"
    convention: Literal["rows", "columns"] = "rows"
    symbols: Mapping[str, str] = field(default_factory=dict, hash=False)
    digits: int = 4
    exact: bool = False
    rounding: Rounding = "half-up"
    limit: int = 8
    gradients: Literal["d", "partial"] = "d"
    layout: Literal["matrix", "falk"] = "matrix"

    def __post_init__(self) -> None:
        _one_of("index_base", self.index_base, (0, 1))
        _one_of("transpose", self.transpose, ("T", "⊤", "'"))
        _one_of("convention", self.convention, ("rows", "columns"))
        _one_of("rounding", self.rounding, ("half-up", "half-even"))
        _one_of("gradients", self.gradients, ("d", "partial"))
        _one_of("layout", self.layout, ("matrix", "falk"))
        self._keep("digits", whole(self.digits, "digits", 0, MAX_DIGITS))
        self._keep("limit", whole(self.limit, "limit"))
        flag(self.exact, "exact")
        letters: dict[str, str] = {}
        for name, letter in table(self.symbols, "symbols").items():
            default = symbol_of(name)
            if default is None:
                raise SymattnError(
                    f"symbols: no step is called {shown(name)}{nearest(name, SYMBOLS)}"
                )
            if not isinstance(letter, str):
                raise SymattnError(
                    f"symbols: {name} = {shown(letter)}: give the symbol as a string"
                )
            custom_symbol(letter)
            letters[default] = letter
        self._keep("symbols", letters)

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def but(self, **changes: Any) -> Notation:
        """The same choices with some of them changed."""
        for name in changes:
            if name not in _CHOICES:
                raise SymattnError(f"Notation has no choice {shown(name)}{nearest(name, _CHOICES)}")
        return replace(self, **changes)

    def letter(self, name: str) -> Tree:
        """How the matrix whose default letter is `name` is written."""
        word(name, "letter", "the default letter of a step")
        taken = None if name in self.symbols else derived_from(name)
        if taken is None:
            return custom_symbol(self.symbols.get(name, name))
        return self._prefixed(taken[0], self.letter(taken[1]))

    def _prefixed(self, prefix: str, symbol: Tree) -> Tree:
        """The symbol of a gradient or of a change: dV or ∂L/∂V, δV."""
        if prefix == CHANGE:
            return Marked(Ident(CHANGE), symbol)
        if self.gradients == "d":
            return Marked(Ident(GRADIENT, roman=True), symbol)
        return Frac(Marked(Ident("∂"), Ident("L")), Marked(Ident("∂"), symbol))

    def ones(self, one_row: bool, one_column: bool) -> Tree:
        """A column of ones as 1, a row of them as 1ᵀ, a matrix of them as 1 1ᵀ."""
        column: Tree = Num("1")
        row = self.transposed(column)
        return column if one_column else row if one_row else times([column, row])

    def transposed(self, base: Tree) -> Tree:
        """`base` with the transpose sign."""
        check_tree(base)
        sign: Tree = Ident("T") if self.transpose == "T" else Op(self.transpose.replace("'", "′"))
        return power(base, sign)

    def in_head(self, symbol: Tree, head: Tree) -> Tree:
        """The symbol of one head: W_Q⁽ⁱ⁾."""
        check_tree(symbol)
        check_tree(head)
        return power(symbol, head if isinstance(head, Fenced) else Fenced(head))

    def entry(self, name: str, head: Tree | None, indices: tuple[Tree, ...]) -> Tree:
        """One entry of a matrix, its lower-case letter with indices: s_ij, w^Q_ij, s^(i)_ab."""
        taken = None if name in self.symbols else derived_from(name)
        if taken is not None:
            return self._prefixed(taken[0], self.entry(taken[1], head, indices))
        symbol = self.letter(name)
        base, sup = symbol, None
        if isinstance(symbol, Script) and isinstance(symbol.base, Ident) and symbol.sup is None:
            base, sup = symbol.base, symbol.sub
        if isinstance(base, Ident) and len(base.name) == 1 and base.name.isascii():
            base = Ident(base.name.lower(), base.roman)
        elif not (isinstance(base, Ident) and len(base.name) == 1):
            base, sup = Fenced(symbol, "[", "]"), None
        if head is not None:
            mark = head if isinstance(head, Fenced) else Fenced(head)
            sup = mark if sup is None else row(sup, mark)
        return Script(base, index_row(indices), sup)


_CHOICES = tuple(choice.name for choice in fields(Notation))


def notation_of(notation: Notation | None, usual: Notation | None = None) -> Notation:
    """The notation that was asked for, or the usual one. Raises `SymattnError` for what is none."""
    if notation is None:
        return Notation() if usual is None else usual
    instance(notation, Notation, "notation", "a Notation, or None for the usual one")
    return notation


def symbol_of(name: str) -> str | None:
    """The letter of a step or an input by its name or letter, gradients and changes included.

    >>> symbol_of("scores"), symbol_of("d_scores"), symbol_of("dS"), symbol_of("delta_dQ")
    ('S', 'dS', 'dS', 'δdQ')
    """
    if name in SYMBOLS or name in SYMBOLS.values():
        return SYMBOLS.get(name, name)
    for prefix, start in _STARTS:
        rest = symbol_of(name.removeprefix(start)) if name.startswith(start) else None
        if rest is not None:
            return prefix + rest
    return None


def prefixed(prefix: str, name: str) -> str:
    """The name of a gradient or of a change: dQ, dW_Q, but d_scores; delta_Q, delta_scores."""
    if prefix == CHANGE:
        return f"delta_{name}"
    short = len(name.partition("_")[0]) == 1 or name not in SYMBOLS
    return f"d{name}" if short else f"d_{name}"


def derived_from(letter: str) -> tuple[str, str] | None:
    """What the letter of a gradient or of a change is made of: d and S of dS; None for others."""
    if letter in SYMBOLS.values():
        return None
    for prefix in (GRADIENT, CHANGE):
        rest = letter.removeprefix(prefix)
        if rest != letter and (rest in SYMBOLS.values() or derived_from(rest) is not None):
            return prefix, rest
    return None


def index_row(indices: tuple[Tree, ...]) -> Tree:
    """Indices side by side, with commas where one is longer than a character: ij, 12, 1,10."""
    short = all(
        (isinstance(index, Ident) and len(index.name) == 1)
        or (isinstance(index, Num) and len(index.digits) == 1)
        for index in indices
    )
    return row(*indices) if short else commas(indices)


def name_tree(name: str) -> Tree:
    """A plain name as a symbol: S, d_k, d_model, W_Q, alpha."""
    base, _, sub = name.partition("_")
    if not sub:
        return _word(base)
    return Script(_word(base), _word(sub))


def _word(word: str) -> Tree:
    if word.isdigit():
        return Num(word)
    if word in _GREEK:
        return Ident(_GREEK[word])
    return Ident(word, roman=len(word) > 1)


def custom_symbol(letter: str) -> Tree:
    """A symbol as people write it: a plain name, or a little LaTeX from a fixed list of commands.

    Raises `SymattnError` for anything else, so that no other LaTeX can be smuggled in.

    >>> custom_symbol("W_Q")
    Script(base=Ident(name='W', roman=False), sub=Ident(name='Q', roman=False), sup=None)
    """
    if _PLAIN_NAME.match(letter):
        return name_tree(letter)
    if len(letter) == 1 and letter in _GREEK.values():
        return Ident(letter)
    if letter[:1] == "\\" and letter[1:] in _GREEK:
        return Ident(_GREEK[letter[1:]])
    position = 0
    while position < len(letter):
        token = _LATEX_TOKEN.match(letter, position)
        if token is None:
            break
        position = token.end()
    if position != len(letter) or not letter.strip() or len(letter) > 60 or not _balanced(letter):
        raise SymattnError(
            f"symbol {shown(letter)}: use a name such as A, W_Q or alpha, or LaTeX made of "
            r"letters, scripts and \mathbf, \mathrm, \mathcal, \tilde, \hat, \bar or Greek letters"
        )
    if _LOOSE.search(letter) or ("'" in letter and "^" in letter) or not _converts(letter.strip()):
        raise SymattnError(
            f"symbol {shown(letter)}: this LaTeX cannot be set; put what a command applies to in "
            r"braces, as in \mathbf{A}, and give each letter one subscript and one superscript"
        )
    return Custom(letter.strip())


#: A command without the braces it needs; a script on nothing or of a script.
_LOOSE = re.compile(
    r"\\(?:math[a-z]+|tilde|hat|bar|vec|boldsymbol)(?![a-z])(?!\{[^}])|(?:^|[{(,])\s*[\^_']|[\^_]\s*[\^_']"
)


def _converts(latex: str) -> bool:
    from symattn.notation.mathml import mathml

    try:
        mathml(Custom(latex))
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


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not isinstance(value, str | int) or isinstance(value, bool) or value not in allowed:
        listed = ", ".join(str(choice) for choice in allowed)
        raise SymattnError(f"{name} = {shown(value)}: choose one of {listed}")
