"""What a stranger's function may raise or return: it ends in a report or a line."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from symattn import Attention, SymattnError
from symattn.claims.computed import Computed
from symattn.cli import main
from symattn.errors import Undecided
from symattn.printable import said_by
from symattn.verifying.calling import Answer, answer_from, packed, signature_from, signature_of
from tests.verifying import right, verify

Array = Any


class Silent(Exception):
    def __str__(self) -> str:
        raise ValueError


class Leaving(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class Endless(BaseException):
    def __str__(self) -> str:
        return str(self)


class Loud(Exception):
    def __str__(self) -> str:
        return "\x1b]0;x\x07\n::error::" + "x" * 10**6


class Text(str):
    __slots__ = ()

    def splitlines(self, *_: Any) -> Any:
        raise ValueError

    def __getitem__(self, *_: Any) -> Any:
        raise ValueError


class OfText(Exception):
    def __str__(self) -> str:
        return Text("it says so")


class Nameless(type):
    @property
    def __name__(cls) -> Any:  # type: ignore[override]
        raise ValueError


class OfNoName(Exception, metaclass=Nameless):
    pass


class OfNoClass(BaseException):
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise ValueError


class OfOurs(SymattnError):
    def __init__(self) -> None:
        pass

    def __str__(self) -> str:
        raise ValueError


ERRORS: tuple[BaseException, ...] = (
    *(kind() for kind in (Silent, Leaving, Endless, Loud, OfText, OfNoName, OfNoClass, OfOurs)),
    ImportError("nothing of this name"),
    asyncio.CancelledError(),
    GeneratorExit(),
    Undecided("x"),
    SystemExit(Silent()),
    ExceptionGroup("some", [Silent()]),
    OSError(Silent(), Silent()),
    UnicodeDecodeError("utf-8", b"", 0, 1, "\ud800"),
    MemoryError(),
    RecursionError(),
    StopIteration(),
)


def refused(function: Callable[..., Any]) -> str:
    with pytest.raises(SymattnError) as raised:
        verify(function, Attention(), name="f", library="numpy")
    text = str(raised.value)
    assert text.isprintable() and len(text) <= 800
    return text


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_what_it_raises_is_a_line(number: int) -> None:
    def function(q: Array, k: Array, v: Array) -> Array:
        raise ERRORS[number]

    assert refused(function).startswith("f: cannot be called: ")


def test_what_an_exception_says_is_told() -> None:
    assert said_by(OfText()) == "OfText: it says so"
    assert said_by(Silent()) == "Silent"
    assert said_by(Loud()) == "Loud: \\x1b]0;x\\x07"
    assert said_by(KeyError("a")) == "KeyError: 'a'"


def test_an_import_error_of_its_own_is_not_one_of_a_library() -> None:
    def function(q: Array, k: Array, v: Array) -> Array:
        raise ImportError("nothing of this name")

    assert refused(function) == "f: cannot be called: ImportError: nothing of this name"


class Raising:
    def __getattr__(self, name: str) -> Any:
        raise ValueError(name)


class Converted:
    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.make()


class Lying:
    shape, ndim, dtype = (3, 2), 2, "bfloat16"

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.zeros(1)


class Shaped:
    shape = ("a", -3)


class Huge:
    shape = (2**40, 2**40)


class Unclassed:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise Silent


class Unnamed:
    def _asdict(self) -> Any:
        raise Silent


class Endlessly(dict[str, Any]):
    def items(self) -> Any:
        while True:
            yield "x", 1


class Untupled(tuple[Any, ...]):
    __slots__ = ()

    def __iter__(self) -> Any:
        raise Silent


def fail() -> Any:
    raise Silent


RESULTS: tuple[Callable[[], Any], ...] = (
    Raising,
    lambda: Converted(fail),
    lambda: Converted(lambda: "text"),
    Lying,
    Shaped,
    Huge,
    Unclassed,
    Unnamed,
    Endlessly,
    lambda: Untupled((1, 2)),
    lambda: {Unclassed(): 1, "output": Converted(fail)},
    lambda: np.zeros(2, dtype=object),
    lambda: np.ma.masked_array([[1]], [[True]]),
    lambda: np.zeros((3, 2), dtype=[("a", float)]),
    lambda: np.array(["a"]),
    lambda: np.datetime64("2020"),
    lambda: [[[[]]]],
    lambda: 1j,
    lambda: "text",
    lambda: b"x",
    lambda: iter([1]),
    lambda: Raising,
    lambda: (),
    dict,
)


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_what_it_returns_is_a_line(number: int) -> None:
    def function(q: Array, k: Array, v: Array) -> Array:
        return RESULTS[number]()

    try:
        assert not verify(function, Attention(), name="f", library="numpy").agrees
    except SymattnError as error:
        assert str(error).isprintable()


def test_a_table_without_the_last_step_is_no_attention() -> None:
    def what_is_given(q: Array, k: Array, v: Array) -> Any:
        return {"Q": q}

    def an_earlier_step(q: Array, k: Array, v: Array) -> Any:
        return {"Q": q, "scores": q @ k.T}

    for function in (what_is_given, an_earlier_step):
        assert "a table without output, the last step" in refused(function)


def test_warnings_and_states_of_numpy_are_left_as_they_were() -> None:
    def function(q: Array, k: Array, v: Array) -> Array:
        warnings.simplefilter("error")
        np.seterr(all="raise")
        return right.textbook(q, k, v)

    before = np.geterr()
    verify(function, Attention(), library="numpy", skip=("large scores", "low scores"))
    assert np.geterr() == before


def test_a_function_that_cannot_be_looked_at_is_called_all_the_same() -> None:
    class Called:
        def __getattr__(self, name: str) -> Any:
            raise Silent

        def __call__(self, q: Array, k: Array, v: Array) -> Array:
            return right.textbook(q, k, v)

    class Signed:
        @property
        def __signature__(self) -> Any:
            raise Leaving

        def __call__(self, q: Array, k: Array, v: Array) -> Array:
            return right.textbook(q, k, v)

    for function in (Called(), Signed()):
        assert verify(function, Attention(), library="numpy").agrees


# ---- as bytes ----------------------------------------------------------------------------------


def test_an_answer_comes_back_as_it_was() -> None:
    numbers = Computed(np.array([[1.5, np.nan], [-np.inf, 0]], np.float32), 8)
    answer = Answer(None, "said", "table", (("output", numbers), ("x", "none")), {"Q": numbers})
    found = answer_from(packed(answer))
    assert (found.said, found.form, found.parts[1]) == ("said", "table", ("x", "none"))
    for one in (found.parts[0][1], found.given["Q"]):
        assert isinstance(one, Computed) and one.dtype == "bfloat16"
        assert np.array_equal(one.numbers, numbers.numbers, equal_nan=True)
    assert signature_from(packed(signature_of(right.textbook))) == signature_of(right.textbook)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"[" * 10**5,
        b'[null,"","array",{},[],{}]',
        b'[null,"","array",[["",1]],{},{}]',
        b'[null,"","array",[],{"Q":null},{}]',
        *(
            b'[null,"","array",[["",{"dtype":"%s","shape":%s,"digits":%s,"data":"%s"}]],{},{}]' % x
            for x in (
                (b"float64", b"[1e400]", b"null", b"00" * 8),
                (b"float64", b"[3]", b"null", b"00" * 8),
                (b"object", b"[1]", b"null", b"00" * 8),
                (b"float32", b"[2]", b"1", b"00" * 8),
                (b"float32", b"[2]", b"null", b"xx"),
            )
        ),
        b'["odd","","array",[],{},{}]',
        b"\x80\x04\x95",
    ],
)
def test_bytes_that_are_no_answer_are_a_line(data: bytes) -> None:
    with pytest.raises(SymattnError, match="no answer that can be read"):
        answer_from(data)


# ---- in a process of its own -------------------------------------------------------------------

JUDGES = """
import gc, os, pickle, sys, time
import numpy as np

def right(q, k, v):
    z = q @ k.T / np.sqrt(k.shape[1])
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v

def patches(q, k, v):
    from symattn.verifying import report, trying
    trying.judged = lambda *a, **k: ("right", "")
    report.Verification.agrees = True
    return np.zeros((len(q), v.shape[1]))

class Bomb:
    def __reduce__(self):
        return os.system, ("touch run",)

def pickles(q, k, v):
    from io import BufferedWriter
    for one in gc.get_objects():
        if type(one) is BufferedWriter and one.fileno() > 2:
            for part in (b"done", pickle.dumps(Bomb())):
                one.write(len(part).to_bytes(8, "big") + part)
                one.flush()
    return right(q, k, v)

def answers(q, k, v):
    from symattn.verifying import loading
    loading.packed = lambda answer: b"[" * 10 ** 5
    return right(q, k, v)

def leaves_a_child(q, k, v):
    if not os.path.exists("child"):
        first = os.fork()
        if not first:
            os.setsid()
            if not os.fork():
                os.setsid()
                with open("child", "w") as file:
                    file.write(str(os.getpid()))
                time.sleep(600)
            os._exit(0)
        os.waitpid(first, 0)
        while not os.path.exists("child"):
            time.sleep(0.01)
    return right(q, k, v)
"""


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("patches", 1, ""),
        ("pickles", 2, "its process gave no answer that can be read"),
        ("answers", 2, "its process gave no answer that can be read"),
    ],
)
def test_a_function_does_not_judge_itself(
    name: str, status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(JUDGES, encoding="utf-8")
    result = CliRunner().invoke(main, ["verify", f"mine.py:{name}"])
    assert result.exit_code == status, result.output
    assert said in result.stderr
    assert not Path("run").exists()


def test_a_child_that_has_a_session_of_its_own_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(JUDGES, encoding="utf-8")
    result = CliRunner().invoke(main, ["verify", "mine.py:leaves_a_child"])
    assert result.exit_code == 0, result.output
    child = int(Path("child").read_text("utf-8"))
    assert not Path(f"/proc/{child}").exists()
