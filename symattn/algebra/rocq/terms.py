"""Sizes, numbers and matrices as terms of Rocq: how a statement is translated.

What a node means is said in `symattn.v`, beside this file: the template of a node names its
definition there. Nothing else of this package has to be trusted to know what a theorem says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from importlib.resources import files

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.forms import Form, Refused, Term, factors_of, linear, variable
from symattn.nodes import rule as r
from symattn.nodes.arguments import symbol_of_size
from symattn.nodes.defined import WherePlaced
from symattn.step import HEAD

#: Places that are put in for indices, as texts.
Places = Mapping[str, str]

#: A node as a matrix of MathComp, by its class and what tells its kinds apart: an axis, the name
#: of a function, ∞ where its argument may be −∞.
NODES: Mapping[tuple[str, str], str] = {
    ("Softmax", "1"): "softmax e {0}",
    ("Softmax", "0"): "(softmax e {0}^T)^T",
    ("Softmax", "1∞"): "softmax_oo e {0}",
    ("Softmax", "0∞"): "(softmax_oo e {0}^T)^T",
    ("OffByOneSoftmax", "1"): "softmax1 e {0}",
    ("OffByOneSoftmax", "1∞"): "softmax1_oo e {0}",
    ("RowRatio", "1"): "rowratio {0}",
    ("LineSum", "1"): "rowsum {0}",
    ("LineSum", "0"): "colsum {0}",
    ("RowMax", "1"): "rowmax {0}",
    ("RowMax", "0"): "(rowmax {0}^T)^T",
    ("LineQuotient", "1"): "rowquot {0} {1}",
    ("LineQuotient", "0"): "colquot {0} {1}",
    ("Quotient", ""): "divmx {0} {1}",
    ("EntryQuotient", ""): "hquot {0} {1}",
    ("SoftCap", ""): "softcap e {0} {1}",
    ("Diagonal", "1"): "diag_mx {0}^T",
    ("Diagonal", "0"): "diag_mx {0}",
    ("Exponential", ""): "map_mx e {0}",
    ("Entrywise", "σ"): "map_mx (sigmoid e) {0}",
    ("Entrywise", "tanh"): "map_mx (tanh e) {0}",
    ("Entrywise", "abs"): "map_mx Num.norm {0}",
    ("Entrywise", "max0"): "map_mx (Num.max 0) {0}",
    ("Entrywise", "ln"): "map_mx ln {0}",
    ("Entrywise", "cos"): "map_mx (cosine t) {0}",
    ("Entrywise", "sin"): "map_mx (sine t) {0}",
    ("Exponential", "∞"): "map_mx (exo e) {0}",
    ("Entrywise", "√"): "map_mx Num.sqrt {0}",
    ("Distance", ""): "minus_dist2 {0} {1}",
    ("UnitVectors", "1"): "unit_rows {0}",
    ("Lengths", "1"): "lengths {0}",
    ("Lengths", "0"): "(lengths {0}^T)^T",
    ("Masked", ""): "masked {0} {1}",
    ("Causal", ""): "causal R {rows} {columns} {2}",
    ("Padding", ""): "padding R {rows} {columns} {2}",
    ("Stacked", "0"): "col_mx {0} {1}",
    ("Stacked", "1"): "row_mx {0} {1}",
    ("Concat", "row"): "tokens {rows} (fun {1} => {0})",
    ("Concat", "1"): "beside {columns} (fun {1} => {0})",
    ("Concat", "0"): "stacked {rows} (fun {1} => {0})",
    ("HeadSum", ""): "headsum {2} (fun {1} => {0})",
    ("Split", "0"): "head_rows {rows} {0} {1}",
    ("Split", "row"): "token {0} {1}",
    ("Beside", ""): "before",
    ("Spread", "1"): "all_columns {columns} {0}",
    ("Spread", "0"): "all_rows {rows} {0}",
    ("PlusVector", "1"): "{0} + all_rows {rows} {1}",
    ("PlusVector", "0"): "{0} + all_columns {columns} {1}",
    ("Everywhere", ""): "everywhere {rows} {columns} {0}",
    ("NumberTimes", ""): "number_times {0} {1}",
    ("Head", ""): "{0} {1}",
    ("Filled", ""): "const_mx {2} : 'M[R]_({rows}, {columns})",
    ("OneMatrix", ""): "const_mx 1 : 'M[R]_({rows}, {columns})",
    ("ZeroMatrix", ""): "0 : 'M[R]_({rows}, {columns})",
    ("Identity", ""): "1%:M : 'M[R]_{rows}",
    ("Transpose", ""): "{0}^T",
    ("Inverse", ""): "invmx {0}",
}

#: Functions of one number, by their names in entry rules.
FUNCTIONS: Mapping[str, str] = {
    "e": "e",
    "√": "Num.sqrt",
    "tanh": "tanh e",
    "σ": "sigmoid e",
    "ln": "ln",
    "abs": "Num.norm",
    "max0": "Num.max 0",
    "cos": "cosine t",
    "sin": "sine t",
}

#: The signs of conditions on places.
SIGNS: Mapping[str, str] = {"≤": "<=", "=": "=="}

#: The names of the functions of numbers.
FUNCTION_OF: Mapping[type, str] = {
    sympy.exp: "e",
    sympy.tanh: "tanh",
    sympy.log: "ln",
    sympy.Abs: "abs",
}

#: The nodes whose entries may be −∞.
_HIDING = ("Masked", "Causal", "Padding")

#: The nodes whose numbers are sizes and indices of heads.
_COUNTING = (*_HIDING, "Concat", "HeadSum", "Split", "Head")

#: Names that mean something else in Rocq, or in what stands before a theorem.
_TAKEN = {
    *(word for text in (*NODES.values(), *FUNCTIONS.values()) for word in re.findall(r"\w+", text)),
    *("R", "sumto", "ent", "permn", "add_oo", "exo", "pos", "nz", "exf", "largest", "le_mx"),
    *("slope", "slope_at", "slope_e", "slope_ln", "i", "j"),  # i and j are those of all entries
    *("Prop", "Set", "Type", "SProp", "head", "recurs", "where_placed"),
    *("as", "at", "by", "do", "else", "end", "exists", "fix", "for", "forall", "fun", "if", "in"),
    *("is", "let", "match", "return", "then", "using", "where", "with", "of", "Some", "None"),
}


def library() -> str:
    """The file that every theorem needs: what the nodes mean, and a lemma for each rule."""
    return files("symattn.algebra.rocq").joinpath("symattn.v").read_text("utf-8")


def slopes() -> str:
    """What theorems about derivatives begin with."""
    return files("symattn.algebra.rocq").joinpath("slopes.v").read_text("utf-8")


def identifier(name: str) -> str:
    """A letter, a size or an index as a name in Rocq."""
    if name[:1] in ("#", "_"):
        return f"k'{name[1:]}"
    plain = name.replace("½", "'half").replace("+", "more'").replace("°", "'free")
    if not re.fullmatch(r"[^\W\d_][\w']*", plain):
        raise Refused(f"{name} is not a name in Rocq")
    return f"{plain}_" if plain in _TAKEN else plain


def letter(name: str) -> str:
    """A letter, or the inverse of one."""
    plain = name.removesuffix("⁻¹")
    return identifier(name) if plain == name else f"(invmx {identifier(plain)})"


def bracketed(text: str) -> str:
    """A term that may stand beside others."""
    if re.fullmatch(r"[\w'.]+(%[RN]|%:R)?", text) or _is_closed(text):
        return text
    return f"({text})"


def _is_closed(text: str) -> bool:
    """Whether the first bracket of a text is closed by its last one."""
    if not re.fullmatch(r"\(.*\)(%N|%:R)?", text):
        return False
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return place == text.rindex(")")
    return False


def nat(one: Form, places: Places | None = None) -> str:
    """A size or a place, places being put in for indices: (n - k - 1)%N."""
    text = _nat(one, places or {})
    return f"{bracketed(text)}%N" if not re.fullmatch(r"[\w'.]+", text) or text.isdigit() else text


def _nat(one: Form, places: Places) -> str:
    sides: tuple[list[str], list[str]] = ([], [])
    for term, c in sorted(one, key=lambda pair: (pair[0] == "", str(pair[0]))):
        words = _term(term, places)
        if abs(c) != 1 or not words:
            words = [str(abs(c)), *words]
        sides[c < 0].append(" * ".join(words))
    above, below = (" + ".join(side) for side in sides)
    if not below:
        return above or "0"
    return f"{above or '0'} - {f'({below})' if len(sides[1]) > 1 else below}"


def _term(term: Term, places: Places) -> list[str]:
    match term:
        case str():
            factors = factors_of(term)
            return [plain(places.get(one) or identifier(one)) for one in factors]
        case ("π", name, back, inner):
            return [f"(permn {identifier(name)}{'^-1' if back else ''} {nat(inner, places)})"]
    raise Refused("a quotient of sizes has no term in Rocq yet")


def plain(text: str) -> str:
    """A place without its scope."""
    return text.removesuffix("%N")


def size(value: sympy.Expr) -> str:
    """A size of a shape."""
    return nat(linear(value, {}))


def place(value: sympy.Basic) -> str:
    """A size, or the index of a head or a token."""
    return nat(linear(value, {HEAD: variable(HEAD.name)}), {HEAD.name: HEAD.name})


def fraction(value: Fraction) -> str:
    """A number that is not negative."""
    if value.denominator == 1:
        return str(value) if value in (0, 1) else f"{value}%:R"
    return f"({fraction(Fraction(value.numerator))} / {value.denominator}%:R)"


def root(base: str, order: int) -> str:
    """A root of an order that is a power of 2."""
    if order & (order - 1):
        raise Refused(f"a root of order {order} has no term in Rocq yet")
    for _ in range(order.bit_length() - 1):
        base = f"Num.sqrt {bracketed(base)}"
    return base


def scalar(value: sympy.Basic, leaf: Callable[[sympy.Basic], str]) -> str:
    """A number, what is neither rational nor a sum, product or whole power being a leaf."""
    if isinstance(value, sympy.Rational):
        text = fraction(abs(Fraction(int(value.p), int(value.q))))
        return f"(- {text})" if value < 0 else text
    if is_of_parts(value):
        return of_parts(value, [scalar(one, leaf) for one in value.args])
    return leaf(value)


def is_of_parts(value: sympy.Basic) -> bool:
    """Whether a number is a sum, a product or a whole power."""
    whole = isinstance(value, sympy.Pow) and value.exp.is_Integer
    return whole or isinstance(value, sympy.Add | sympy.Mul)


def of_parts(value: sympy.Basic, texts: Sequence[str]) -> str:
    """What a sum, a product or a whole power makes of the texts of its arguments."""
    words = [*map(bracketed, texts)]
    if isinstance(value, sympy.Pow):
        return bracketed(to_power(words[0], int(value.exp)))
    return f"({(' + ' if isinstance(value, sympy.Add) else ' * ').join(words)})"


def to_power(text: str, turns: int) -> str:
    """A text to a whole power."""
    word = text if turns > 0 else f"{bracketed(text)}^-1"
    return word if abs(turns) == 1 else f"{bracketed(word)} ^+ {abs(turns)}"


def number(value: sympy.Basic) -> str:
    """A number of a statement."""
    return scalar(value, leaf_text)


def leaf_text(value: sympy.Basic) -> str:
    """A symbol, a root, a power of e of a statement."""
    match value:
        case sympy.core.numbers.Exp1():
            return "(e 1)"
        case sympy.Symbol() if value.is_integer and value.is_nonnegative:
            return f"{identifier(value.name)}%:R"
        case sympy.Symbol():
            return identifier(value.name)
        case sympy.Pow(base=base, exp=sympy.Rational() as power):
            return bracketed(to_power(root(number(base), int(power.q)), int(power.p)))
        case sympy.Function(args=(inner,)) if type(value) in FUNCTION_OF:
            return f"({FUNCTIONS[FUNCTION_OF[type(value)]]} {bracketed(number(inner))})"
    raise Refused(f"{type(value).__name__} has no term in Rocq yet")


def kind_of(expr: MatrixExpr) -> tuple[str, str]:
    """The class of a node, and what tells its kinds apart."""
    name, last = type(expr).__name__, expr.args[-1]
    if name == "Diagonal":
        return name, str(int(expr.args[0].shape[1] == 1))
    if name in ("Concat", "Split") and last == 0 and 1 in (expr.shape[0], expr.args[0].shape[0]):
        return name, "row"
    lines = any(own == name and kind[:1] in ("0", "1") for own, kind in NODES)
    hidden = name not in (*_HIDING, "Stacked", "Transpose") and any(map(hiding, expr.args))
    return name, (str(last) if lines or name == "Entrywise" else "") + ("∞" if hidden else "")


def hiding(expr: sympy.Basic) -> bool:
    """Whether entries of a matrix may be −∞."""
    name = type(expr).__name__
    passing = ("Stacked", "Transpose", "MatAdd", "MatMul", "HadamardProduct")
    return name in _HIDING or (name in passing and any(map(hiding, expr.args)))


def matrix(expr: sympy.Basic, permuting: Iterable[str] = ()) -> str:
    """A matrix of a statement as MathComp has it, or a number."""

    def inner(one: sympy.Basic) -> str:
        return bracketed(matrix(one, permuting))

    match expr:
        case sympy.MatrixSymbol(name=name):
            of_rows = f"'M[R]_{size(expr.shape[0])}"
            permuted = f"perm_mx {identifier(name)} : {of_rows}"
            return permuted if name in permuting else identifier(name)
        case sympy.MatAdd(args=(scores, mask)) if hiding(mask) and not hiding(scores):
            return f"masked {inner(scores)} {inner(mask)}"
        case sympy.MatAdd() | sympy.MatMul() | sympy.HadamardProduct() if hiding(expr):
            raise Refused("a sum or product of masks has no definition in Rocq yet")
        case sympy.MatAdd():
            return " + ".join(map(inner, expr.args))
        case sympy.MatMul():
            c, factors = expr.as_coeff_matrices()
            text = _chained(" *m ", [*map(inner, factors)])
            return text if c == 1 else f"{bracketed(number(c))} *: {bracketed(text)}"
        case sympy.HadamardProduct():
            first, *others = map(inner, expr.args)
            for other in others:
                first = f"(had {first} {other})"
            return first
        case WherePlaced():
            return _placed(expr, inner)
        case MatrixExpr():
            return _node(expr, inner)
    return number(expr)


def _chained(sign: str, factors: Sequence[str]) -> str:
    """A product whose later factors are multiplied first."""
    *before, out = factors
    for factor in reversed(before):
        out = f"{factor}{sign}{out}" if out is factors[-1] else f"{factor}{sign}({out})"
    return out


def _placed(expr: WherePlaced, inner: Callable[[sympy.Basic], str]) -> str:
    """One of two matrices' entries, by one comparison of places."""
    places = {sympy.Symbol(name, integer=True): name for name in "ij"}
    env = {symbol: variable(name) for symbol, name in places.items()}
    rules = {r.rule_of(one, *places): one for one in (expr.value, expr.otherwise)}
    match r.rule_of(expr, *places):
        case r.Cases(r.Ordinal(left), sign, r.Ordinal(right), value, otherwise) if (
            sign in SIGNS and {value, otherwise} <= {*rules}
        ):
            own = {name: name for name in places.values()}
            left, right = (plain(nat(linear(side, env), own)) for side in (left, right))
            one, other = (inner(rules[rule]) for rule in (value, otherwise))
            return f"where_placed (fun i j => ({left} {SIGNS[sign]} {right})%N) {one} {other}"
    raise Refused("places that several comparisons choose have no definition in Rocq yet")


def _node(expr: MatrixExpr, inner: Callable[[sympy.Basic], str]) -> str:
    kind = kind_of(expr)
    if kind not in NODES:
        raise Refused(f"{' '.join(filter(None, kind))} has no definition in Rocq yet")
    return _filled(NODES[kind], expr, inner)


def templated(template: str, expr: MatrixExpr, permuting: Iterable[str]) -> str:
    """A template about the arguments of a node."""
    return _filled(template, expr, lambda one: bracketed(matrix(one, permuting)))


def _filled(template: str, expr: MatrixExpr, inner: Callable[[sympy.Basic], str]) -> str:
    name = type(expr).__name__
    rows, columns = map(size, expr.shape)
    lifted = name == "Stacked" and hiding(expr)
    if name == "Masked" and not hiding(expr.args[1]):
        raise Refused("a mask of numbers has no definition in Rocq yet")
    if name == "Masked" and "*" in columns and "row_mx" in inner(expr.args[0]):
        raise Refused("a mask of twice as many keys has no type in Rocq yet")

    def part(one: sympy.Basic) -> str:
        return f"(map_mx Some {inner(one)})" if lifted and not hiding(one) else inner(one)

    args = [
        place(one)
        if isinstance(one, sympy.Expr) and one.is_integer and name in _COUNTING
        else part(one)
        if "{" + str(k) + "}" in template
        else ""
        for k, one in enumerate(expr.args)
    ]
    return template.format(*args, rows=rows, columns=columns)


def sizes_in(parts: Sequence[sympy.Basic]) -> list[str]:
    """The names of the sizes in expressions, in an order that is always the same."""
    letters = {letter for part in parts for letter in part.atoms(sympy.MatrixSymbol)}
    whole = [*parts, *(size for letter in letters for size in letter.shape)]
    symbols = {symbol for part in whole for symbol in part.free_symbols if symbol.is_Symbol}
    return sorted(s.name for s in symbols if s == symbol_of_size(s.name))
