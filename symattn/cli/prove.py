"""``symattn prove``: the catalogue of identities, and equations of one's own, proven."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import (
    attentions,
    called,
    is_attention,
    is_program,
    is_step,
    map_option,
    reads_file,
)
from symattn.cli.certificates import bounded, check_certificates, write_certificate, write_theorem
from symattn.cli.formats import FORMS, Output, format_options, width_option
from symattn.cli.help import Explained
from symattn.cli.limits import asked_limits, asked_seconds, metered, timeout_option
from symattn.cli.progress import Progress
from symattn.cli.sizes import NAME, matched, once, shapes_in, size_option, sizes_in
from symattn.documents.job import check_label, check_width
from symattn.errors import ReadError, SymattnError, quote
from symattn.grammar import is_inequality
from symattn.status import Status, worst

if TYPE_CHECKING:
    from symattn.algebra.counterexample import Sides
    from symattn.algebra.equality import Equality
    from symattn.algebra.identities.identity import Identity
    from symattn.algebra.identities.proofs import Proof
    from symattn.derivations import Step
    from symattn.language.shapes import GivenShape
    from symattn.lifting.proving import Proven

_SIZE = rf"[1-9][0-9]{{0,3}}|{NAME}"
_SHAPE = re.compile(rf"\s*({NAME})\s*=\s*(?:(scalar)|({_SIZE})\s*,\s*({_SIZE}))\s*")

#: What is assumed of letters in a word, as reports say it, by the field of an `Identity`.
_SAID = {
    "positive": "positive",
    "a permutation": "permuting",
    "orthogonal": "orthogonal",
    "symmetric": "symmetric",
}
_OF_LETTERS = re.compile(
    rf"\s*({NAME}(?:\s*,\s*{NAME})*)(?:\s+is|\s+are)?\s+({'|'.join(_SAID)})\s*"
)

#: All that is said of letters.
_ASSUMED = ("where", "shapes", "sizes")

#: The formats of a proof that programs read, beside JSON.
_DATA = ("rocq", "certificate")

#: What is said of two attentions from files.
_NUMBERLESS = "the letters stand for all matrices; the numbers in a file take no part"


@click.command(
    cls=Explained,
    groups={
        "What is proven": "--all --where --shape --size --map --with --effort --grammar",
        "Where it goes": "--format --output --width --label",
    },
    examples={
        "symattn prove": "List the identities of the catalogue.",
        "symattn prove shift": "Prove one of them.",
        'symattn prove "softmax(2 S) = softmax(S)"': "Prove or refute an equation of your own.",
        "symattn prove multi-head multi-head-sum": "Compare two attentions.",
        "symattn prove causal#weights": "Prove the identity behind a step.",
        "symattn prove mine.py:attention causal": "Prove that a function is an attention.",
        "symattn prove mine.py:fast mine.py:plain": "Prove that two functions are the same.",
        "symattn prove shift --format certificate -o shift.json": "Write the steps of a proof.",
        "symattn prove shift.json": "Replay them.",
    },
)
@click.argument(
    "name",
    required=False,
    metavar='[NAME|"A = B"|ATTENTION|FILE.json',
    shell_complete=completes.statements,
)
@click.argument("others", nargs=-1, metavar="ATTENTION]", shell_complete=completes.subjects)
@click.option("--all", "everything", is_flag=True, help="Decide the whole catalogue.")
@format_options((*FORMS, *_DATA))
@width_option
@click.option(
    "--label",
    default="",
    metavar="PREFIX",
    help="Number the statement; its label begins with PREFIX, e.g. eq for eq:shift (latex, tex, "
    "pdf; md for quarto and sphinx).",
)
@click.option(
    "--where",
    multiple=True,
    metavar="WORDS",
    help='Assume this equation, or "S positive", "P a permutation", "R orthogonal" or "A, B '
    'symmetric" of letters; may be repeated.',
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="LETTER=ROWS,COLUMNS",
    help="The shape of a letter: A=n,d_k or c=scalar; may be repeated.",
)
@size_option("Decide at these sizes only, e.g. n=4,m=2.")
@map_option
@click.option(
    "--effort",
    type=click.IntRange(1, 1000),
    default=1,
    metavar="N",
    help="Allow N times as many steps before giving up.",
)
@click.option(
    "--with",
    "numbers",
    metavar="FILE|small",
    help="Show the proof also with the numbers in this file, or with small ones.",
)
@click.option("--grammar", is_flag=True, help="Show what an equation may contain.")
@timeout_option
def prove(**options: Any) -> Status:
    """Prove an identity by NAME, an equation of your own, or two attention mechanisms equal.

    An ATTENTION is a worksheet or a variant; causal#weights is one step of it. Without an argument
    the catalogue is listed. It also lists false beliefs, each of which is refuted by numbers.

    In a FILE.json the certificates are replayed; with --format rocq Rocq is asked, too. Functions
    after it are recorded again.

    Instead of the first attention, or of both, a function may stand, mine.py:attention. It is RUN,
    in a process of its own with limits: prove only code that you would run yourself. Real
    arithmetic is meant.
    """
    assumed = {name: options.pop(name) for name in _ASSUMED}
    others = options.pop("others")
    asked = Request(assumed=assumed, other=next(iter(others), None), **options)
    out = asked.out
    if asked.label:
        check_label(out.form, out.flavor, asked.label)
    if asked.width is not None:
        check_width(out.form, out.flavor)
    if asked.name is not None and asked.name.endswith(".json"):
        if asked.everything or asked.facts or not all(map(is_program, others)):
            raise SymattnError(
                f"{asked.name}: is replayed alone, or with the functions that it is about; the "
                "statement is in it"
            )
        return check_certificates(asked.name, asked_seconds(), out.form == "rocq", others)
    if len(others) > 1:
        raise SymattnError(f"prove: two attentions are compared, not {1 + len(others)}")
    if asked.grammar:
        from symattn.cli.grammar import grammar_document

        out.put([grammar_document()])
        return Status.AGREES
    if asked.name is not None and is_program(asked.name):
        return _of_program(asked)
    asked.check_what()
    return _listed(out) if asked.name is None and not asked.everything else _proven(asked)


@dataclass(frozen=True)
class Request:
    """What is asked of the command: its arguments and options, by their names."""

    name: str | None
    other: str | None
    everything: bool
    out: Output
    effort: int
    grammar: bool
    numbers: str | None
    label: str
    width: float | None
    #: Which argument of a function is which matrix, or argument of the other function.
    mapped: Mapping[str, str]
    #: What is said of the letters, by the fields of an `Identity`.
    assumed: Mapping[str, tuple[str, ...]]

    @property
    def facts(self) -> list[str]:
        """The options that say something of the letters."""
        return [f"--{name.removesuffix('s')}" for name, given in self.assumed.items() if given]

    @cached_property
    def step(self) -> Step | None:
        """The step of an attention whose identity is to be proven, if there is one."""
        if self.name is None or self.other is not None or not is_step(self.name):
            return None
        (derivation,) = attentions((self.name,), [self.out.destination])
        return derivation.steps[-1]

    def check_what(self) -> None:
        """Refuse options that do not go with what is to be proven. Raises `SymattnError`."""
        if self.mapped:
            raise SymattnError("--map: only for a function, mine.py:attention")
        several = self.name is None or self.everything
        lists = self.out.form == "rocq" and not self.everything
        if self.out.form in _DATA and several and not lists:
            raise SymattnError(f"--format {self.out.form}: give one name or equation")
        if self.numbers is not None and (several or self.out.form in ("json", *_DATA)):
            raise SymattnError("--with: give one name or equation, and another format")
        if self.everything and self.name is not None:
            raise SymattnError("prove: give a name or --all, not both")
        own = self.other is not None or (self.name is not None and _is_statement(self.name))
        if self.facts and not own and (self.name is not None or self.everything):
            raise SymattnError(
                f"{', '.join(self.facts)}: only for an equation of your own, or two attention "
                "mechanisms"
            )


def _of_program(asked: Request) -> Status:
    """Whether a function of a file is an attention, or another function."""
    from symattn.lifting.report import proven_data, proven_document

    out = asked.out
    if asked.other is None:
        raise SymattnError(f"{asked.name} is a function; say what it is to be: prove … causal")
    of_two = is_program(asked.other)
    taken = ("--size", "--shape") if of_two else ("--size",)
    if {*asked.facts} - {*taken} or asked.numbers:
        may = ", ".join((*taken, "--map", "--format"))
        raise SymattnError(f"prove: of a function only {may} and --output may be given")
    found = (_two_programs if of_two else _one_program)(asked)
    if out.form == "json":
        out.put_data(proven_data(found))
    elif out.form not in _DATA:
        out.put([proven_document(found, out.brief)])
    if out.form == "certificate":
        of_file = found.verdict.startswith("equal at") and found.certificate is None
        why = f"{asked.other} is a file; say a variant or equations" if of_file else found.summary
        write_certificate(found.certificate, why, out.destination)
    elif out.form == "rocq":
        if found.equality is not None:
            return write_theorem(found.equality, found.name, out)
        said = f"{found.summary}; all sizes are not proven"
        click.echo(f"no theorem of Rocq is written: {said}", err=True)
    return found.status


def _one_program(asked: Request) -> Proven:
    """What is found of a function and an attention."""
    from symattn.cli.attentions import attention_meant
    from symattn.lifting.limits import PROVEN
    from symattn.lifting.proving import prove_program
    from symattn.verifying.subject import Wanted

    assert asked.name is not None
    assert asked.other is not None
    source = "" if reads_file(asked.other) else asked.other
    meant = attention_meant(asked.other)
    wanted = Wanted(meant, asked.mapped, attention=called(asked.other), source=source)
    sizes = sizes_in(asked.assumed["sizes"])
    return prove_program(asked.name, wanted, sizes, asked_limits(PROVEN))


def _two_programs(asked: Request) -> Proven:
    """What is found of two functions."""
    from symattn.lifting.comparing import prove_programs
    from symattn.lifting.limits import PROVEN

    assert asked.name is not None
    assert asked.other is not None
    shapes = shapes_in(asked.assumed["shapes"])
    sizes = sizes_in(asked.assumed["sizes"])
    limits = asked_limits(PROVEN)
    return prove_programs(
        asked.name, asked.other, shapes, sizes, mapped=asked.mapped, limits=limits
    )


def _listed(out: Output) -> Status:
    """List the catalogue."""
    from symattn.algebra.identities import IDENTITIES
    from symattn.algebra.identities.listing import catalogue, catalogue_data

    if out.form == "rocq":
        from symattn.algebra.rocq.terms import library

        out.put(library())
    elif out.form == "json":
        out.put_data(catalogue_data(IDENTITIES))
    else:
        out.put([catalogue(IDENTITIES, out.brief)])
    return Status.AGREES


def _proven(asked: Request) -> Status:
    """Prove what is asked, and show it."""
    from symattn.algebra.identities import prove as proven

    rows = _rows(asked)
    proofs: list[Proof] = []
    with metered(asked.effort * len(rows)):
        with Progress("proving").watched() as progress:
            for number, row in enumerate(rows, 1):
                of = f"{number} of {len(rows)}: " if asked.everything else ""
                progress.at(f"proving {of}{row.name or asked.name}")
                proofs.append(proven(row, asked.effort))
        status = worst(map(status_of, proofs))
        if asked.out.form in _DATA:
            name = proofs[0].identity.name or "statement"
            return _written(proofs[0].equality, status, name, asked.out)
        _show(proofs, asked)
    return status


def _written(answer: Equality, status: Status, name: str, out: Output) -> Status:
    """Write the theorem, or the certificate, of an answer of this status."""
    if out.form == "rocq":
        return write_theorem(answer, name, out)
    write_certificate(answer.certificate, answer.summary, out.destination)
    return status


def _rows(asked: Request) -> Sequence[Identity]:
    """The rows to prove: all, the one of this name, an equation, or two attentions.

    Raises `SymattnError` for a name of none.
    """
    from symattn.algebra.identities import IDENTITIES, behind, identity

    name, other = asked.name, asked.other
    if name is None:
        return IDENTITIES
    if other is not None:
        one, two = attentions((name, other), [asked.out.destination])
        letters = _NUMBERLESS if reads_file(name) or reads_file(other) else ""
        return [_own(f"{name} = {other}", asked, lambda: (one, two), letters)]
    if _is_statement(name):
        return [_own(name, asked)]
    if asked.step is not None:
        return [behind(asked.step)]
    if is_attention(name) and name not in [row.name for row in IDENTITIES]:
        raise SymattnError(
            f"{name} is one attention; give two, as in prove {name} causal, or a step of it, as in "
            f"prove {name}#output"
        )
    return [identity(name)]


def _is_statement(name: str) -> bool:
    """Whether it is an equation or an inequality, rather than a name."""
    return "=" in name or is_inequality(name)


def status_of(proof: Proof) -> Status:
    """Whether a row is as the catalogue says, and an equation of one's own proven.

    What holds only at the sizes tried, and what is undecided, is neither proven nor refuted.
    """
    if proof.good:
        return Status.AGREES
    if proof.identity.holds and proof.equality.is_false:
        return Status.WRONG
    return Status.UNSETTLED


def _own(
    statement: str,
    asked: Request,
    sides: Callable[[], Sides] | None = None,
    letters: str = "",
) -> Identity:
    """An equation that somebody wrote, or two attentions, with what is assumed of the letters.

    Raises `SymattnError` for what is no equation.
    """
    from symattn.algebra.identities.identity import Identity

    assumed: dict[str, Any] = {**asked.assumed, **_assumptions(asked.assumed["where"])}
    assumed["shapes"] = (*once("--shape", map(_shape, assumed["shapes"])).items(),)
    assumed["sizes"] = (*sizes_in(assumed["sizes"]).items(),)
    return Identity(
        "", "", statement, "", "", for_all=False, sides=sides, letters=letters, **assumed
    )


def _assumptions(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The equations that are assumed, and the letters of which something is assumed in a word."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(("where", *_SAID.values()), ())
    for text in texts:
        told = _OF_LETTERS.fullmatch(text)
        field = "where" if told is None else _SAID[told[2]]
        found[field] += (text,) if told is None else tuple(re.split(r"\s*,\s*", told[1]))
    return found


def _shape(text: str) -> tuple[str, GivenShape]:
    """``A=n,d_k``: a letter, its rows and its columns; ``c=scalar``."""
    found = matched(_SHAPE, "--shape", text, "give rows and columns, as in A=n,d_k, or c=scalar")
    if found[2]:
        return found[1], "scalar"
    rows, columns = (int(size) if size.isdigit() else size for size in found.group(3, 4))
    return found[1], (rows, columns)


def _show(proofs: list[Proof], asked: Request) -> None:
    from symattn.algebra.identities import reports
    from symattn.documents.blocks import Worked

    out = asked.out
    if out.form == "json":
        rows = [reports.data(proof) for proof in proofs]
        out.put_data(rows if asked.everything else rows[0])
        return
    if asked.everything:
        document = reports.proofs_document(proofs, out.brief)
    else:
        document = reports.proof_document(proofs[0], out.brief, _given(asked.numbers))
    if (step := asked.step) is not None:
        blocks = (Worked(f"{step.name}:", step.formula()), *document.blocks)
        document = replace(document, title="", blocks=blocks, called=f"Why this step: {step.title}")
    out.put([replace(document, label=asked.label, room=asked.width)])


def _given(name: str | None) -> dict[str, object] | None:
    """The letters that a TOML file gives, none for small numbers; None where none are wanted.

    Raises `ReadError` for a file that cannot be used.
    """
    from symattn.files.toml import parse

    if name is None:
        return None
    if name == "small":
        return {}
    try:
        found = parse(bounded(name, 100_000, f"--with {quote(name)}").decode("utf-8"), name)
    except UnicodeDecodeError:
        raise ReadError(f"--with {quote(name)}: it is not UTF-8") from None
    given = found.get("given", found)
    if not isinstance(given, dict) or not given:
        raise ReadError(f"{name}: it gives no letters; write a line for each, as in c = 2")
    return given
