"""Certificates at sizes, changed at random and checked; and honest ones of many functions.

    python -m tests.fuzz.at_sizes --count 2000 --seed 1
    python -m tests.fuzz.at_sizes --honest

What is still accepted has to be true. That is judged by a reader of its own, in 40 digits: where
the claim is the one that was, the operations have to give what they gave before; else they have to
give what the attention of the claim does.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mpmath
import numpy as np

from symattn.algebra.forms import Refused
from symattn.algebra.kinds import read_json
from symattn.attention.variants import NAMED
from symattn.budget import Spent
from symattn.cli.attentions import attention_meant
from symattn.errors import ReadError, SymattnError
from symattn.isolation import Limits
from symattn.lifting import proving
from symattn.lifting.certificate import TAKES, check, why_other
from symattn.lifting.comparing import prove_programs
from symattn.lifting.proving import prove_program
from symattn.verifying.subject import Wanted
from tests.fuzz import families
from tests.lifting import attentions, corpus, partial
from tests.lifting.corpus import numpied
from tests.lifting.corpus.table import LIBRARIES

Made = dict[str, Any]
Function = Callable[..., Any]
Operations = list[list[str]]
Mutation = Callable[[random.Random, Made, Sequence[Made]], None]

#: Functions whose certificates are changed, with what they are.
CHANGED: tuple[tuple[Function, str], ...] = (
    (attentions.online, "scaled-dot-product"),
    (attentions.by_log_sum_exp, "scaled-dot-product"),
    (attentions.in_powers_of_two, "scaled-dot-product"),
    (attentions.causal_by_index, "causal"),
    (attentions.causal_negative_number, "causal"),
    (partial.by_a_quotient, "scaled-dot-product"),
    (attentions.row_by_row, "softmax(Q K^T / sqrt(d_k)) V"),
    (numpied.heads_by_einsum, "multi-head"),
)
PAIRS: tuple[tuple[Function, Function], ...] = (
    (attentions.online, attentions.row_by_row),
    *((family[0], family[1]) for family in families.FAMILIES if len(family) > 1),
)

#: Numbers for what is given: of both signs, and above 0, where roots and logarithms are taken.
DRAWS = ((1, -2.0), (2, 0.5))


class Unfit(Exception):
    """A mutation that has nothing to change in this certificate."""


def certified(changed: Any, pairs: Any) -> list[tuple[Made, tuple[Function, ...]]]:
    """Honest certificates, and the functions that they are about."""
    found: list[tuple[Made, tuple[Function, ...]]] = []
    with _at_sizes_alone():
        for function, said in changed:
            proven = prove_program(function, _wanted(said))
            found.append((_plain(proven.certificate), (function,)))
        for one, other in pairs:
            shapes = dict.fromkeys("QKV", ("n", "n"))
            with suppress(SymattnError):
                proven = prove_programs(one, other, shapes, {"n": 2})
                found.append((_plain(proven.certificate), (one, other)))
    return [one for one in found if one[0] is not None]


def _at_sizes_alone() -> Any:
    """Where nothing is proven for all sizes."""
    return patch.object(proving, "_at_all", lambda program, subject, found, reason: found)


def _wanted(said: str) -> Wanted:
    return Wanted(attention_meant(said), source=said)


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data))


# ---- mutations -------------------------------------------------------------------------------


def _operations(function: Made) -> Operations:
    """Each operation as its name and what it is applied to."""
    split = ((text[: text.index("(")], text[text.index("(") + 1 : -1]) for text in function)
    return [[name, *given.split(", ")] for name, given in split]


def _function(draw: random.Random, made: Made) -> tuple[Made, Operations]:
    function = draw.choice(made["functions"])
    return function, _operations(function["operations"])


def _put(function: Made, operations: Operations) -> None:
    function["operations"] = [f"{name}({', '.join(given)})" for name, *given in operations]


def _pick(draw: random.Random, options: Sequence[Any]) -> Any:
    if not options:
        raise Unfit
    return draw.choice(options)


def _computed(operations: Operations) -> list[int]:
    return [k for k, (name, *_) in enumerate(operations) if name not in ("letter", "truth")]


def operation(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another operation of as many numbers."""
    function, operations = _function(draw, made)
    one = operations[_pick(draw, _computed(operations))]
    one[0] = _pick(draw, [name for name in TAKES if TAKES[name] == len(one) - 1 and name != one[0]])
    _put(function, operations)


def operand(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another number before it, or one that is none before it."""
    function, operations = _function(draw, made)
    k = _pick(draw, _computed(operations))
    place = draw.randrange(1, len(operations[k]))
    operations[k][place] = str(draw.randrange(k if draw.random() < 0.9 else len(operations)))
    _put(function, operations)


def turned(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """What an operation is applied to, in another order."""
    function, operations = _function(draw, made)
    one = operations[_pick(draw, [k for k, each in enumerate(operations) if len(each) > 2])]
    one[1:] = draw.sample(one[1:], len(one) - 1)
    _put(function, operations)


def constant(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another number that is known."""
    function, operations = _function(draw, made)
    places = [(k, i) for k, one in enumerate(operations) for i, x in enumerate(one) if "." in x]
    k, i = _pick(draw, places)
    value = float(operations[k][i])
    changed = (value * 1.001, value * (1 + 1e-11), -value, value + 1.0, 0.0, value * 2, 1e-300)
    operations[k][i] = repr(draw.choice(changed))
    _put(function, operations)


def known(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """A number that is known for one that is computed."""
    function, operations = _function(draw, made)
    k = _pick(draw, _computed(operations))
    number = draw.choice(("0.0", "1.0", "2.5", "-1e+30", "-inf", "inf", "nan", "0.5"))
    operations[k][draw.randrange(1, len(operations[k]))] = number
    _put(function, operations)


def dropped(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """An operation less; what is behind it moves up, or does not."""
    function, operations = _function(draw, made)
    k = draw.randrange(len(operations))
    del operations[k]
    if draw.random() < 0.8:
        _moved(function, operations, k, -1, draw.randrange(max(k, 1)))
    _put(function, operations)


def inserted(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """An operation more, which one or none behind it uses."""
    function, operations = _function(draw, made)
    k = _pick(draw, _computed(operations))
    _moved(function, operations, k, 1, k)
    new = [draw.choice(("mul", "add", "max", "sub")), str(draw.randrange(k)), "1.0"]
    operations.insert(k, new)
    if draw.random() < 0.5:
        later = operations[draw.randrange(k, len(operations))]
        if later is not new and later[0] != "pow":
            later[draw.randrange(1, len(later))] = str(k)
    _put(function, operations)


def _moved(function: Made, operations: Operations, k: int, by: int, instead: int) -> None:
    """Let all places from k on be others."""

    def other(text: str) -> str:
        if not text.isdigit() or int(text) < k:
            return text
        return str(instead) if by < 0 and int(text) == k else str(int(text) + by)

    for one in operations:
        if one[0] not in ("letter", "truth"):
            one[1:] = map(other, one[1:])
    for part in function["parts"]:
        part[2] = [*map(other, part[2])]


def swapped(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Two operations change places."""
    function, operations = _function(draw, made)
    i, j = (draw.randrange(len(operations)) for _ in range(2))
    operations[i], operations[j] = operations[j], operations[i]
    _put(function, operations)


def letter(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another number that is given, or one that is true or false."""
    function, operations = _function(draw, made)
    one = operations[_pick(draw, [k for k, x in enumerate(operations) if x[0] == "letter"])]
    if draw.random() < 0.8:
        one[1] = str(draw.randrange(len(operations)))
    else:
        one[0] = "truth"
    _put(function, operations)


def returned(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another number is returned, or the same ones in another order."""
    function, operations = _function(draw, made)
    part = draw.choice(function["parts"])
    flat = part[2]
    match draw.randrange(4):
        case 0:
            flat[draw.randrange(len(flat))] = str(draw.randrange(len(operations)))
        case 1:
            i, j = (draw.randrange(len(flat)) for _ in range(2))
            flat[i], flat[j] = flat[j], flat[i]
        case 2:
            flat.reverse()
        case 3:
            flat[draw.randrange(len(flat))] = "0.5"


def shape(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another shape, more or fewer parts, or another form."""
    function, _ = _function(draw, made)
    part = draw.choice(function["parts"])
    match draw.randrange(6):
        case 0:
            part[1].reverse()
        case 1:
            part[1][draw.randrange(len(part[1]))] += 1
        case 2:
            part[1].insert(0, 1)
        case 3:
            function["parts"].append(copy.deepcopy(part))
        case 4:
            function["form"] = draw.choice(("array", "tuple", "table"))
        case 5:
            part[0] = draw.choice(("output", "weights", "scores"))


def size(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another size, with the shapes that it makes or with those that were."""
    one = draw.choice(made["sizes"])
    old, one[1] = one[1], draw.randrange(6)
    if draw.random() < 0.5:
        for given in made["inputs"]:
            given[1] = [one[1] if x == old else x for x in given[1]]
    if draw.random() < 0.1:
        made["sizes"].append(copy.deepcopy(one))


def given(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Inputs of other names, other shapes, in another order."""
    one = draw.choice(made["inputs"])
    match draw.randrange(4):
        case 0:
            one[1].reverse()
        case 1:
            one[0] = draw.choice(("Q", "K", "V", "X", "memory", "mask", "allowed"))
        case 2:
            draw.shuffle(made["inputs"])
        case 3:
            made["inputs"].append(copy.deepcopy(one))


def attention(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another attention."""
    if "attention" not in made:
        raise Unfit
    texts = ("Q", "softmax(Q K^T / sqrt(d_v)) V", "softmax(Q K^T) V", "O = softmax(K Q^T) V", "=")
    near = (
        "scaled-dot-product",
        "dot-product",
        "causal",
        "prefix-lm",
        "unfolded",
        "masked",
        "self",
    )
    made["attention"] = draw.choice((draw.choice(texts), draw.choice(near), draw.choice([*NAMED])))


def layout(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another layout, other steps that are returned, another library."""
    function = draw.choice(made["functions"])
    function["library"] = draw.choice(("numpy", "torch", "jax", "lists", "mlx"))
    if "layout" in made and draw.random() < 0.8:
        made["layout"] = [
            draw.randrange(3),
            draw.choice(("first", "turned", "second", "joined", "single")),
            draw.choice(("joined", "stacked", "transposed")),
            draw.random() < 0.5,
        ]
    if "returns" in made and draw.random() < 0.3:
        made["returns"] = draw.choice((["weights"], ["output", "weights"], ["heads"], [""], ["V"]))


def argument(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another meaning of an argument, one more, or one less."""
    arguments = draw.choice(made["functions"])["arguments"]
    one = draw.choice(arguments)
    match draw.randrange(6):
        case 0:
            other = draw.choice(arguments)
            one[2], other[2] = other[2], one[2]
        case 1:
            one[1] = draw.choice(("matrix", "mask", "size", "flag", "nothing"))
        case 2:
            one[2] = draw.choice(("Q", "K", "V", "scores", "weights", "mask", "h", "none"))
        case 3:
            arguments.remove(one)
        case 4:
            arguments.append(copy.deepcopy(one))
        case 5:
            one[3] = not one[3]


def undefined(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Something else is said of where both are defined."""
    made["partial"] = not made["partial"]


def sides(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """What another function has recorded, or the sides exchanged."""
    function = draw.choice(made["functions"])
    other = draw.choice(draw.choice(others)["functions"])
    if len(made["functions"]) > 1 and draw.random() < 0.5:
        made["functions"].reverse()
    for key in draw.sample(("operations", "parts", "arguments", "form"), draw.randrange(1, 5)):
        function[key] = copy.deepcopy(other[key])


def name(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """Another function, another text, other names of arguments."""
    function = draw.choice(made["functions"])
    match draw.randrange(3):
        case 0:
            function["name"] = draw.choice(("mine.py:attention", "", "x" * 300, "\x1b[1mbold"))
        case 1:
            function["sha256"] = "0" * 64
        case 2:
            draw.choice(function["arguments"])[0] = draw.choice(("q", "query", ""))


def spelled(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """The same, or something else, spelled as no certificate has it."""
    function, _ = _function(draw, made)
    texts = function["operations"]
    k = draw.randrange(len(texts))
    old, new = draw.choice(
        (
            (", ", ","),
            ("(", " ("),
            ("(", "(0"),
            ("(", "(-"),
            ("(", "(+"),
            (")", ".0)"),
            (")", "e0)"),
        )
    )
    texts[k] = texts[k].replace(old, new, 1)
    if draw.random() < 0.3:
        texts[k] = draw.choice((None, 3, [texts[k]], "", "exp()", "exp(١)", "mul(0x1, 2)", "٣(1)"))


def typed(draw: random.Random, made: Made, others: Sequence[Made]) -> None:
    """A value of another type, a key less, a key more."""
    key = draw.choice([*made])
    match draw.randrange(4):
        case 0:
            del made[key]
        case 1:
            made[key] = draw.choice((None, True, 1, "at sizes", [], {}, [[1, 2]]))
        case 2:
            made["more"] = made[key]
        case 3:
            draw.choice(made["sizes"])[1] = draw.choice((True, 2.0, "3", -1, 10**12))


MUTATIONS: tuple[Mutation, ...] = (
    *(operation, operand, turned, constant, known, dropped, inserted, swapped, letter, returned),
    *(shape, size, given, attention, layout, argument, undefined, sides, name, spelled, typed),
)


# ---- judged ----------------------------------------------------------------------------------

_MEANT: Mapping[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "max": max,
    "min": min,
    "exp": mpmath.exp,
    "ln": mpmath.log,
    "√": mpmath.sqrt,
    "tanh": mpmath.tanh,
    "cos": mpmath.cos,
    "sin": mpmath.sin,
    "erf": mpmath.erf,
    "abs": abs,
    "at least": lambda a, b, x, y: x if a >= b else y,
    "above": lambda a, b, x, y: x if a > b else y,
    "equal": lambda a, b, x, y: x if a == b else y,
    "true": lambda a, x, y: x if a else y,
}


def numbers(function: Made, seed: int, least: float) -> list[Any]:
    """All that is returned, where each number that is given is drawn by its name."""
    values: list[Any] = []

    def value(text: str) -> Any:
        return values[int(text)] if text.isdigit() else mpmath.mpf(text)

    for name, *given in _operations(function["operations"]):
        if name in ("letter", "truth"):
            drawn = random.Random(f"{seed} {given[0]}").uniform(least, 2.0)
            values.append(mpmath.mpf(drawn if name == "letter" else 1.0))
        else:
            values.append(_MEANT[name](*map(value, given)))
    return [value(text) for part in function["parts"] for text in part[2]]


def is_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether numbers are the same, but for what a float keeps of √3."""
    pairs = [(a, b) for a, b in zip(one, other, strict=False) if not mpmath.isnan(a + b)]
    return len(one) == len(other) and all(
        a == b or abs(a - b) < 1e-13 * (1 + abs(b)) for a, b in pairs
    )


def is_true(made: Made, old: Made) -> bool:
    """Whether what a changed certificate says is so."""
    with mpmath.workdps(40):
        for seed, least in DRAWS:
            with suppress(ArithmeticError, TypeError):  # as of a root that is no real number
                mine = [numbers(function, seed, least) for function in made["functions"]]
                if len(mine) > 1 and not is_same(*mine):
                    return False
                true = _attention(made, old, seed, least) if len(mine) == 1 else mine[0]
                if not is_same(mine[0][: len(true)], true):  # of further parts nothing is said
                    return False
    return True


def _attention(made: Made, old: Made, seed: int, least: float) -> list[Any]:
    """What the attention of a claim gives: of the one that was, what the function gave."""
    keys = ("attention", "sizes", "inputs", "layout", "returns")
    meanings = [[one[1:3] for one in each["functions"][0]["arguments"]] for each in (made, old)]
    if all(made[key] == old[key] for key in keys) and meanings[0] == meanings[1]:
        return numbers(old["functions"][0], seed, least)
    derivation = attention_meant(made["attention"]).derivation([name for name, _ in made["inputs"]])
    place, drawn = 0, {}
    for name, shape in made["inputs"]:
        flat = [
            random.Random(f"{seed} {place + k}").uniform(least, 2.0) for k in range(np.prod(shape))
        ]
        drawn[name], place = np.reshape(flat, shape), place + len(flat)
    evaluation = derivation.evaluate(**drawn)
    names = [name or derivation.names[-1] for name in made["returns"] or [""]]
    found = [evaluation.array(evaluation[name].step.letter) for name in names]
    with mpmath.workdps(15):
        return [mpmath.mpf(float(x)) for array in found for x in np.asarray(array).flat]


def judged(made: Made, old: Made) -> str:
    """What the checker says of a changed certificate, and whether that is right."""
    try:
        check(read_json(json.dumps(made).encode()))
    except (Refused, ReadError):
        return "refused"
    except Spent:
        return "not finished"
    if made == old:
        return "accepted, the same"
    if not is_true(made, old):
        return "accepted, false"
    told = copy.deepcopy(made)
    for mine, its in zip(told["functions"], old["functions"], strict=False):
        mine |= {key: its[key] for key in ("name", "sha256")}
    return "accepted, true" if told != old else "accepted, of another name"


def tried(
    count: int, seed: int, changed: Any = CHANGED, pairs: Any = PAIRS
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """How many of the changed are refused and accepted, by what was changed; and what is false.

    With the functions at hand nothing may be accepted that says something else of them.
    """
    draw, found, false = random.Random(seed), Counter[tuple[str, str]](), list[str]()
    honest = certified(changed, pairs)
    others = [made for made, _ in honest]
    while sum(found.values()) < count:  # with what is tried at hand
        old, functions = draw.choice(honest)
        made, mutation = copy.deepcopy(old), draw.choice(MUTATIONS)
        try:
            mutation(draw, made, others)
        except Unfit:
            continue
        said = judged(made, old)
        found[mutation.__name__, said] += 1
        if said == "accepted, false":
            false.append(f"{mutation.__name__}: {json.dumps(made)}")
        if said.startswith("accepted") and made["functions"] != old["functions"]:
            why = _at_hand(made, functions)
            found[mutation.__name__, "at hand, refused" if why else "at hand, accepted"] += 1
            keys = ("name", "operations", "form", "parts")
            texts = [[[one[key] for key in keys] for one in x["functions"]] for x in (made, old)]
            if not why and texts[0] != texts[1]:
                false.append(f"at hand, {mutation.__name__}: {json.dumps(made)}")
    return found, false


def _at_hand(made: Made, functions: Sequence[Function]) -> str:
    """Why functions do not do what is said, or cannot be run so."""
    try:
        return why_other(made, functions, Limits())
    except SymattnError as error:
        return str(error)


# ---- honest ones -----------------------------------------------------------------------------


def honest(libraries: Sequence[str] = LIBRARIES) -> Iterator[tuple[str, str]]:
    """What becomes of the certificates of functions that are right: of the corpus, and of ours."""
    of: list[tuple[Any, str, str]] = [
        (function, said, function.__name__) for function, said in CHANGED
    ]
    for library in libraries:
        module = import_module(f"{corpus.__name__}.{library}")
        file = Path(corpus.__file__).parent / f"{library}.py"
        of += [(f"{file}:{one}", said, f"{library} {one}") for one, said in module.RIGHT.items()]
    for target, said, called in of:
        with _at_sizes_alone():
            proven = prove_program(target, _wanted(said))
        if not proven.verdict.startswith("equal at"):
            yield called, f"{proven.verdict}: {proven.reason}"
        elif proven.certificate is None:
            yield called, "has no certificate"
        else:
            yield called, _outcome(_plain(proven.certificate), target)


def _outcome(made: Made, target: Any) -> str:
    try:
        found = check(made)
    except (Refused, ReadError) as error:
        return f"refused: {error}"
    why = _at_hand(made, [target])
    return (
        f"not the same again: {why}" if why else "accepted" + ", by forms" * bool(found.undecided)
    )


def main() -> int:
    """Print the table, and what was accepted that is false."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--honest", action="store_true", help="check honest ones")
    asked = parser.parse_args()
    if asked.honest:
        outcomes = Counter[str]()
        for called, outcome in honest():
            outcomes[outcome.partition(":")[0]] += 1
            print(called, outcome, sep="\t", flush=True)
        print(dict(outcomes))
        return 0
    found, false = tried(asked.count, asked.seed)
    for (mutation, said), number in sorted(found.items()):
        print(mutation, said, number, sep="\t")
    totals = Counter[str]()
    for (_, said), number in found.items():
        totals[said] += number
    print(dict(totals))
    print(*false or ["nothing false was accepted"], sep="\n")
    return int(bool(false))


if __name__ == "__main__":
    raise SystemExit(main())
