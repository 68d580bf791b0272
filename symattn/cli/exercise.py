"""``symattn exercise``: exercises drawn from a seed, as sheets, keys, pages and quizzes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from symattn.classroom.roster import MOST, students_in
from symattn.cli import completing as completes
from symattn.cli.attentions import equations_in, is_equations, is_file, variant_named, worksheet_at
from symattn.cli.formats import FORMS, format_option
from symattn.cli.help import Explained
from symattn.cli.limits import metered, timeout_option
from symattn.cli.screen import complain, is_folder
from symattn.cli.sizes import example_sizes, size_option
from symattn.documents.job import written
from symattn.errors import SymattnError
from symattn.status import Status
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.classroom.exercise import Exercise
    from symattn.classroom.generator import Generator
    from symattn.sheets.worksheet import Worksheet

#: The formats of quizzes, with the flavors of each, rows of `FLAVORS` in its module.
_QUIZZES: Mapping[str, tuple[str, ...]] = {"moodle": (), "qti": ("2.1", "2.2")}

#: The options by which exercises are drawn, of a file that is one, too.
_DRAWING = (
    *("sizes", "given", "blank", "digits", "true_or_false"),
    *("style", "difficulty", "ties", "seed", "count", "roster"),
)

#: The formats that show a sheet, and those that programs read, with the ending of a file of each.
FORMATS_HERE = (*(name for name in FORMS if name != "json"), "toml", *_QUIZZES)
_ENDINGS = {"text": "txt", "latex": "tex", "mathml": "xhtml", "moodle": "xml", "qti": "zip"}


@click.command(
    cls=Explained,
    groups={
        "The attention": "--size --given",
        "What is asked for": "--blank --digits --true-or-false",
        "How it is drawn": "--style --difficulty --ties --seed --count --roster",
        "Where it goes": "--format --output --key --hints",
    },
    examples={
        "symattn exercise causal": "Print an exercise on causal attention.",
        "symattn exercise causal --style integers --size d_k=4 --key": "The key of another one.",
        "symattn exercise causal --format pdf --count 3 --key -o class": "Sheets and keys.",
        "symattn exercise mine.toml --roster names.csv -o class": "One for each student.",
    },
)
@click.argument("source", shell_complete=completes.subjects)
@format_option(FORMATS_HERE, _QUIZZES)
@click.option(
    "-o",
    "--output",
    metavar="FILE|FOLDER",
    shell_complete=completes.files,
    help="Write to this file, or, of several exercises, a file for each to this folder.",
)
@click.option("--key", is_flag=True, help="The answers; in a folder they stand beside each sheet.")
@click.option("--hints", is_flag=True, help="With formulas, entries and numbers put in at the end.")
@size_option("Of a variant, as in tokens=3,d_k=2,heads=2; d_k is 4 in other styles.")
@click.option("--given", metavar="NAMES", default="", help="What is given: Q,K,V or scores,V.")
@click.option(
    "--blank",
    metavar="STEPS",
    default="",
    help="The steps that are asked for; of one only some entries, as in scores,weights[2,:].",
)
@click.option(
    "--digits", type=click.IntRange(1, 12), default=3, show_default=True, help="Decimals asked for."
)
@click.option(
    "--true-or-false", type=click.IntRange(0, 50), default=0, help="So many statements to judge."
)
@click.option(
    "--style", default="decimals", show_default=True, help="decimals, integers or fractions."
)
@click.option("--difficulty", default="usual", show_default=True, help="easy, usual or hard.")
@click.option("--ties", is_flag=True, help="Weights of a row may be equal.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True)
@click.option("--count", type=click.IntRange(1, MOST), default=1, show_default=True)
@click.option("--roster", metavar="FILE", help="A CSV file of names: an exercise for each student.")
@timeout_option
def exercise(**asked: Any) -> Status:
    """Draw exercises on SOURCE: a variant, a worksheet or equations.

    A sheet has its numbers from its seed, on every machine the same. Each misconception that
    applies has an answer of its own in what is asked for; the key says where it has not. A file in
    the format toml is a worksheet, which symattn check marks once its blanks are filled in; as
    SOURCE it is the exercise itself, unless an option says how others are drawn.
    """
    source = click.get_current_context().get_parameter_source
    draws = any(source(name) is ParameterSource.COMMANDLINE for name in _DRAWING)
    form, _, flavor = asked.pop("form").partition(":")
    asked["sizes"] = example_sizes(asked["sizes"])
    request = Request(**asked, form=form, flavor=flavor or None, draws=draws)
    if request.form in _QUIZZES and (request.key or request.hints or request.true_or_false):
        raise SymattnError(
            f"{request.form}: holds its answers; leave --key, --hints and --true-or-false out"
        )
    with metered(len(request.students)):
        if request.in_folder:
            _write_each(request)
        else:
            _write_together(request)
    return Status.AGREES


@dataclass(frozen=True)
class Request:
    """The options of ``exercise`` by the names that click gives them."""

    source: str
    form: str
    flavor: str | None
    output: str | None
    key: bool
    hints: bool
    sizes: Mapping[str, int]
    given: str
    blank: str
    digits: int
    true_or_false: int
    style: str
    difficulty: str
    ties: bool
    seed: int
    count: int
    roster: str | None
    #: Whether an option says what is asked for, or how it is drawn.
    draws: bool

    @property
    def in_folder(self) -> bool:
        """Whether each exercise is a file of its own."""
        if self.output is None or self.output == "-":
            return False
        several = self.roster is not None or self.count > 1
        return is_folder(self.output) or (several and not Path(self.output).suffix)

    @cached_property
    def file(self) -> Worksheet:
        """The worksheet in the file that is the source."""
        return worksheet_at(self.source, [])

    def worksheet(self) -> Worksheet:
        """What exercises are made of. Raises `SymattnError` for sizes that a file has already."""
        from symattn.sheets.worksheet import worksheet_of
        from symattn.sheets.writing import starter, worksheet_text

        usual = {"tokens": 3, "d_k": 2 if self.style == "decimals" else 4}
        sizes: dict[str, Any] = {**usual, **self.sizes}
        if is_equations(self.source):
            from symattn.attention.example import small_equations

            spec = equations_in(self.source)
            counts, _, given = small_equations(spec, **sizes)
            return worksheet_of(worksheet_text(counts, given, top={"equations": spec.text}))
        if is_file(self.source):
            if self.sizes:
                raise SymattnError("--size: the sizes are those of the file")
            return self.file
        row = variant_named(self.source)
        return worksheet_of(starter(row, **sizes))

    @property
    def known(self) -> Exercise | None:
        """The exercise that a file is already; None where there is none, or others are drawn."""
        from symattn.claims.labels import leaves
        from symattn.classroom.exercise import Exercise

        if self.draws or not is_file(self.source):
            return None
        is_open = "?" in map(str, leaves(self.file.claims))
        return Exercise.of(self.file) if is_open and "seed" in self.file.exercise else None

    def generator(self) -> Generator:
        """What draws the exercises."""
        from symattn.classroom.generator import Generator
        from symattn.classroom.styles import style_named
        from symattn.classroom.task import task_of

        style, blank = style_named(self.style), _names(self.blank)
        task = task_of(
            self.worksheet(),
            [name for name in blank if "[" not in name],
            entries=[name for name in blank if "[" in name],
            given=_names(self.given),
            digits=self.digits,
            exact=style.exact,
        )
        return Generator(task, style, self.difficulty, self.ties)

    @cached_property
    def students(self) -> Sequence[tuple[str, str, int]]:
        """The name of each file, of whom it is for, if that is known, and its seed."""
        if self.roster is None:
            seeds = range(self.seed, self.seed + self.count)
            return [(f"exercise-{seed}", "", seed) for seed in seeds]
        return [*students_in(self.roster, self.seed)]

    def exercises(self) -> Iterator[tuple[str, Exercise]]:
        """Every exercise, with the name of its file."""
        if (known := self.known) is not None:
            yield f"exercise-{known.sheet.exercise['seed']}", known
            return
        generator = self.generator()
        for name, student, seed in self.students:
            yield name, generator.exercise(seed, "", student, self.true_or_false)

    def written(self, exercises: Sequence[Exercise], key: bool) -> str | bytes:
        """These exercises, or their keys, in the format."""
        if self.form == "toml":
            (one,) = exercises
            return one.key if key else one.text
        if self.form in _QUIZZES:
            return _quiz(self.form, exercises, self.flavor)
        from symattn.classroom.handout import Handout

        handouts = map(Handout, exercises)
        documents = [one.key() if key else one.sheet(self.hints) for one in handouts]
        return written(self.form, documents, self.flavor)


def _quiz(form: str, exercises: Sequence[Exercise], flavor: str | None) -> str | bytes:
    """A quiz for a learning platform; what its format cannot say is said beside it."""
    from symattn.classroom import moodle, qti

    complain(moodle.LIMITS if form == "moodle" else qti.LIMITS)
    if form == "moodle":
        return moodle.quiz(exercises)
    return qti.package(exercises, flavor or _QUIZZES["qti"][0])


def _names(words: str) -> list[str]:
    """The names in a text, with what is chosen of each: scores, weights[2,:]."""
    return [name.strip() for name in re.split(r",(?![^\[]*\])", words) if name.strip()]


def _write_together(request: Request) -> None:
    """All exercises, or their keys, as one document."""
    if request.form in ("toml", "html") and len(request.students) > 1:
        raise SymattnError(f"{request.form}: is one exercise; name a folder, as in -o class")
    destination = Destination.of(request.output)
    destination.refuse_existing()
    exercises = [one for _, one in request.exercises()]
    destination.write(request.written(exercises, request.key))


def _write_each(request: Request) -> None:
    """A file for each exercise, and one for its key; all or none where files are there already."""
    folder = Path(str(request.output))
    ending = _ENDINGS.get(request.form, request.form)
    parts = {"": False, "-key": True} if request.key else {"": False}
    made = [*request.exercises()]
    folder.mkdir(parents=True, exist_ok=True)
    files = [
        (Destination.of(folder / f"{name}{part}.{ending}"), one, key)
        for name, one in made
        for part, key in parts.items()
    ]
    for destination, *_ in files:
        destination.refuse_existing()
    for destination, one, key in files:
        destination.write(request.written([one], key))
