"""A reader of printed formulas that lists the letters with more than one meaning.

It is given the LaTeX of a derivation and knows nothing of the package: what a letter means follows
from where it stands. A meaning is one of

- ``row``, ``column``, ``head``: the first and the second index of what an entry line defines, and
  the index in brackets above it;
- ``sum``: an index that a sum, a maximum or the like runs through, ``member`` one that runs through
  a group of heads, ``defined`` an index that a line "where t = …" defines;
- ``entry``: a letter with two indices; ``name``: a letter alone (a matrix, a size, a number);
  ``label``: a letter with a fixed label, as d_k and W_Q, which is read as a letter of its own;
- ``function``, and the signs of the transpose (``T``), the exponential (``e``), a gradient (``d``),
  a change (``δ``) and of a loss (``L``), and ``argument``: what a function is defined for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"\\(?P<styled>(?:mathbf|mathcal|tilde|hat|bar)\{[A-Za-z]\})|"
    r"\\(?:text|mathrm|operatorname|begin|end)\{(?P<word>(?:[^{}]|\{[^{}]*\})*)\}|\\(?P<command>[A-Za-z]+|.)"
    r"|(?P<number>[0-9.]+)|(?P<character>\S)"
)

#: Commands that are letters; others are signs.
_GREEK = re.compile(
    "(var)?(alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|"
    "tau|upsilon|phi|chi|psi|omega|ell|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega)"
)
_FUNCTIONS = {"cos", "sin", "tanh", "ln", "log", "max", "min"}
_RANGES = {"sum", "max", "min", "argmax"}


@dataclass
class Atom:
    """A letter, a word or a sign, with what stands below and above it."""

    base: str
    kind: str  # letter, word, text, number, sign, group
    inside: list[Atom] = field(default_factory=list)
    below: list[Atom] = field(default_factory=list)
    above: list[Atom] = field(default_factory=list)


def read(latex: str) -> list[Atom]:
    """A formula as atoms."""
    tokens = list(_TOKEN.finditer(latex))
    atoms, end = _sequence(tokens, 0)
    assert end == len(tokens), latex
    return atoms


def _sequence(tokens: list[re.Match[str]], start: int) -> tuple[list[Atom], int]:
    out: list[Atom] = []
    while start < len(tokens):
        token = tokens[start]
        if token["character"] == "}":
            return out, start
        if token["character"] in ("^", "_"):
            part, start = _argument(tokens, start + 1)
            owner = out[-1]
            if token["character"] == "_":
                owner.below = part
            else:
                owner.above = part
            continue
        atom, start = _atom(tokens, start)
        out += [atom] if atom.kind != "group" or atom.inside else []
    return out, start


def _argument(tokens: list[re.Match[str]], start: int) -> tuple[list[Atom], int]:
    if tokens[start]["character"] == "{":
        inside, end = _sequence(tokens, start + 1)
        return inside, end + 1
    atom, end = _atom(tokens, start)
    return [atom], end


def _atom(tokens: list[re.Match[str]], start: int) -> tuple[Atom, int]:
    token = tokens[start]
    text, command, character = token[0], token["command"], token["character"]
    if token["styled"] is not None:
        return Atom(token["styled"], "letter"), start + 1
    if token["word"] is not None:
        if text.startswith(r"\text"):
            return Atom(token["word"], "text"), start + 1
        if text.startswith((r"\begin", r"\end")):
            skipped = start + 1
            if text == r"\begin{array}":
                _, skipped = _argument(tokens, skipped)
            return Atom("", "sign"), skipped
        word = token["word"]
        return Atom(word, "letter" if word == "d" else "word"), start + 1
    if character == "{":
        inside, end = _sequence(tokens, start + 1)
        return Atom("", "group", inside), end + 1
    if token["number"]:
        return Atom(token["number"], "number"), start + 1
    if command in ("frac", "sqrt"):
        parts: list[Atom] = []
        end = start + 1
        for _ in range(2 if command == "frac" else 1):
            inside, end = _argument(tokens, end)
            parts.append(Atom("", "group", inside))
        return Atom(command, "group", parts), end
    if command in ("left", "right"):
        return Atom(tokens[start + 1][0], "sign"), start + 2
    if command is not None:
        if command in _FUNCTIONS:
            return Atom(command, "word"), start + 1
        return Atom(command, "letter" if _GREEK.fullmatch(command) else "sign"), start + 1
    assert character is not None
    return Atom(character, "letter" if character.isalpha() else "sign"), start + 1


class Letters:
    """The meanings of the letters that were read so far, and the letters of each kind of index."""

    def __init__(self, below: bool) -> None:
        self.below = below  # the index of a head
        self.meanings: dict[str, set[str]] = defaultdict(set)
        self.steps: dict[str, set[str]] = defaultdict(set)
        self.of_heads: set[str] = set()  # letters of steps with the index of a head: m^(h)
        self.arguments: set[str] = set()
        self.of_number = False  # a number has no row: L = Σ_i Σ_j o_ij runs over those of o_ij

    def defined(self, step: str, view: str, latex: str) -> None:
        """Read what stands on the left of a line: the indices, and what is defined."""
        left = _left(read(latex))
        if view == "entry":
            self._indices_of(left)
        elif view == "where":
            self._arguments(left)
        elif view == "formula" and left:
            self.steps[_spelled(left)].add(step)
            if len(left) == 1 and _has_head(left[0]):
                self.of_heads.add(left[0].base)

    def line(self, step: str, view: str, latex: str) -> None:
        """Read all of a line: a formula, the rule of an entry, or a definition (``where``)."""
        atoms = read(latex)
        self.of_number = view == "entry" and _spelled(_left(atoms)) in self.steps
        if view == "where":
            self.arguments |= self._arguments(_left(atoms))
        self._all(atoms, self.arguments if view == "where" else set())

    def shape(self, latex: str) -> None:
        """Read a shape, n × d_k."""
        self._all(read(latex), set())

    def _indices_of(self, left: list[Atom]) -> None:
        if left[0].base == "frac":  # ∂L/∂s_ij
            left = left[0].inside[1].inside
        if _spelled(left) in self.steps:  # a number, written like the matrix that it is alone in
            return
        entry = next(atom for atom in reversed(left) if atom.below)
        parts = _indices(entry.below)
        if entry.base == "]":  # [Q_h]_ij
            within = next((atom for atom in reversed(left[:-1]) if atom.below), None)
            if within is not None and len(within.below) == 1 and within.below[0].kind == "letter":
                self.meanings[within.below[0].base].add("head")
        for kind, part in zip(("row", "column"), parts, strict=True):
            if len(part) == 1 and part[0].kind == "letter":
                self.meanings[part[0].base].add(kind)
        for atom in () if entry.base == "]" else _in_brackets(entry.above):
            if not self.below and atom.kind == "letter":
                self.meanings[atom.base].add("head")

    def _arguments(self, left: list[Atom]) -> set[str]:
        """What a definition defines: a letter, or a function of arguments, which are returned."""
        places = [k for k, atom in enumerate(left) if atom.base == "("]
        if places and places[0] > 0:
            arguments = {atom.base for atom in _flat(left[places[0] :]) if atom.kind == "letter"}
            sizes = {sub.base for atom in left for sub in _flat(atom.below)}
            return arguments - sizes if left[0].kind == "letter" or len(arguments) == 1 else set()
        if len(left) == 1 and left[0].kind == "letter" and not left[0].below:
            self.meanings[left[0].base].add("defined")
        return set()

    def _all(self, atoms: list[Atom], bound: set[str]) -> None:
        for place, atom in enumerate(atoms):
            after = atoms[place + 1] if place + 1 < len(atoms) else Atom("", "sign")
            self._one(atom, after, bound)

    def _one(self, atom: Atom, after: Atom, bound: set[str]) -> None:
        add = self.meanings[atom.base].add
        self._all(atom.inside, bound)
        if atom.base in _RANGES:
            letters = [one for one in atom.below if one.kind == "letter"]
            runs = "member" if any(one.base == "in" for one in atom.below) else "sum"
            known = {"head", "member", *(("row", "column") if self.of_number else ())}
            if letters and not self.meanings[letters[0].base] & known:
                self.meanings[letters[0].base].add(runs)
            self._all(atom.above, bound)
            return
        self._above(atom, bound)
        if atom.kind != "letter":
            return
        indices = _indices(atom.below)
        if atom.base == "e" and atom.above and not atom.below:
            add("sign e")
        elif atom.base in ("d", "delta", "partial") and not atom.below and _is_marked(after):
            add(f"sign {atom.base}")
        elif atom.base in bound:
            add("argument")
        elif after.base == "(" and not atom.below and atom.base in ("sigma", "tau", "varphi"):
            add("function")
        elif _has_head(atom) and atom.base in self.of_heads:
            return  # a step that is no other letter than its entries are of
        elif not atom.below:
            if "defined" not in self.meanings[atom.base] and not self._is_index(atom.base):
                add("name")
        elif len(indices) == 1 and not _is_index_letter(indices[0], self.meanings):
            add("label")
        else:
            labelled = any(one.kind in ("letter", "word") for one in _label(atom.above))
            add("labelled entry" if labelled else "entry")

    def _above(self, atom: Atom, bound: set[str]) -> None:
        plain = _label(atom.above)
        for one in plain:
            if one.base == "T" and atom.base != "e" and not (atom.base == ")" and len(plain) > 1):
                self.meanings["T"].add("sign T")
        if atom.base == "e" or atom.kind in ("number", "sign"):
            self._all([one for one in atom.above if one.base != "T"], bound)

    def _is_index(self, letter: str) -> bool:
        return bool(self.meanings[letter] & {"row", "column", "head", "sum", "member", "defined"})

    def clashes(self) -> list[str]:
        """One line for each letter with more than one meaning, and each index with two letters."""
        out = [
            f"{letter}: {', '.join(sorted(meanings))}"
            for letter, meanings in sorted(self.meanings.items())
            if len(_told_apart(letter, meanings, letter in self.steps)) > 1
        ]
        for kind in ("row", "column", "head"):
            letters = sorted(x for x, meanings in self.meanings.items() if kind in meanings)
            if len(letters) > 1:
                out.append(f"{kind}: {' and '.join(letters)}")
        out += [
            f"{name}: {' and '.join(sorted(steps))}"
            for name, steps in sorted(self.steps.items())
            if len(steps) > 1
        ]
        return out


def _told_apart(letter: str, meanings: set[str], is_step: bool) -> set[str]:
    """The meanings without those that a reader takes for one.

    A matrix and its entries may share the capital (M, M_ij). A letter with a label is one of its
    own beside the same letter alone (d for a gradient, d_k), but not beside its entries (d_ij).
    """
    rest = meanings - {"labelled entry"}
    if "entry" in rest and letter[:1].isupper():
        rest = rest - {"name"}
    if "entry" not in rest or letter[:1].isupper():
        rest = rest - {"label"}
    if len(letter) > 1 or is_step:  # a vector and its entries: ρ, ρ_i
        rest = rest - {"name", "defined"} if "entry" in rest else rest
    return rest


def _has_head(atom: Atom) -> bool:
    """Whether a letter has the index of a head above it, and nothing else: m^(h)."""
    return bool(atom.above) and not atom.below and not _label(atom.above)


def _is_marked(after: Atom) -> bool:
    """Whether d or δ before this belongs to it: dS, d[S_1]_ij."""
    return after.kind in ("letter", "word") or after.base in ("[", "(") or bool(after.inside)


def _left(atoms: list[Atom]) -> list[Atom]:
    """What stands before the sign of equality."""
    equals = next((k for k, atom in enumerate(atoms) if atom.base == "="), len(atoms))
    return [atom for atom in atoms[:equals] if atom.kind != "text" and atom.base not in ("\\", "&")]


def _spelled(atoms: Iterable[Atom]) -> str:
    return "".join(
        atom.base
        + _spelled(atom.inside)
        + (f"_{_spelled(atom.below)}" if atom.below else "")
        + (f"^{_spelled(atom.above)}" if atom.above else "")
        for atom in atoms
    )


def _flat(atoms: Iterable[Atom]) -> Iterator[Atom]:
    for atom in atoms:
        yield atom
        yield from _flat(atom.inside)
        yield from _flat(atom.below)
        yield from _flat(atom.above)


def _indices(below: list[Atom]) -> list[list[Atom]]:
    """The indices of an entry: parted by commas, or one character each."""
    if any(atom.base == "," for atom in below):
        out: list[list[Atom]] = [[]]
        for atom in below:
            if atom.base == ",":
                out.append([])
            else:
                out[-1].append(atom)
        return out
    return [[atom] for atom in below]


def _is_index_letter(index: list[Atom], meanings: dict[str, set[str]]) -> bool:
    """Whether a single subscript is an index (θ_t, ω_i) or a number (θ_1), rather than a label."""
    (first, *rest) = index
    if rest or first.kind == "number":
        return True
    known = {"row", "column", "head", "sum", "member", "defined"}
    return first.kind == "letter" and bool(meanings[first.base] & known)


def _in_brackets(atoms: list[Atom]) -> Iterator[Atom]:
    depth = 0
    for atom in atoms:
        depth += (atom.base == "(") - (atom.base == ")")
        if depth:
            yield atom


def _label(atoms: list[Atom]) -> list[Atom]:
    """What stands above outside of brackets: a label, the sign of the transpose."""
    depth, out = 0, []
    for atom in atoms:
        depth += (atom.base in ("(", "lceil", "lfloor")) - (atom.base in (")", "rceil", "rfloor"))
        if not depth and atom.base not in (")", "rceil", "rfloor"):
            out.append(atom)
    return out


def clashes_of(
    lines: Iterable[tuple[str, str, str]], shapes: Iterable[str] = (), below: bool = False
) -> list[str]:
    """The clashes among the lines (step, view, LaTeX) and shapes of one derivation.

    `below`: the index of a head stands below its matrix, not above in brackets.
    """
    lines = list(lines)
    letters = Letters(below)
    for part in (letters.defined, letters.line):
        for step, view, latex in lines:
            part(step, view, latex)
    for shape in shapes:
        letters.shape(shape)
    return letters.clashes()
