"""The pool: judgements made in several processes of one machine, or by the workers of Dask.

Answers go out in portions. A portion whose process crashes, hangs or runs out of memory is judged
one by one, so that what does it is alone; of that one a failure is reported.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeAlias

from symattn.budget import limited
from symattn.classroom.answered import Answers
from symattn.classroom.exercise import Exercise
from symattn.classroom.journal import key_of
from symattn.classroom.judge import Judge, Judgement
from symattn.doors import Failure, failure
from symattn.errors import SymattnError, needing
from symattn.isolation import Limits, Worker, here
from symattn.sheets.worksheet import worksheet_of

#: Seconds of the clock that a portion may take, seconds of the processor for one, and MiB; seconds
#: between two looks at a scheduler.
_PORTION, _ONE, _MEMORY, _LOOK = 60.0, 5.0, 2048, 5.0

#: How many exercises a process keeps ready.
_READY = 16

#: How many portions are out at once for each process.
_OUT = 2


class Asked(NamedTuple):
    """What is to be judged: answers to the exercise of a file, and by what rule."""

    exercise: str
    digits: int | None
    tolerance: int
    explain: bool
    texts: tuple[str, ...]
    decimal: str

    @property
    def key(self) -> bytes:
        """The key of its judgement."""
        return key_of(*self)

    def judged(self) -> Judgement:
        """Its judgement, made here."""
        judge = _judge(self.exercise, self.digits, self.tolerance, self.explain)
        return judge.judge(Answers(self.texts, self.decimal))


#: The judgements of a portion, or why one of them has none.
Judged: TypeAlias = Sequence[Judgement | Failure]

#: Judges portions, in any order, each beside its answers.
Portions: TypeAlias = Iterable[Sequence[Asked]]
Pool: TypeAlias = Callable[[Portions], Iterator[tuple[Sequence[Asked], Judged]]]


@lru_cache(_READY)
def _judge(exercise: str, digits: int | None, tolerance: int, explain: bool) -> Judge:
    return Judge(Exercise.of(worksheet_of(exercise)), digits, tolerance, explain)


def judge(portion: Sequence[Asked]) -> Judged:
    """The judgements of a portion; what takes too long, or raises, is a failure of its own."""
    return [_one(asked) for asked in portion]


def _one(asked: Asked) -> Judgement | Failure:
    try:
        with limited("another machine", _ONE):
            return asked.judged()
    except BaseException as error:
        return failure(error)


@contextmanager
def of_processes(count: int) -> Iterator[Pool]:
    """A pool of so many processes of this machine."""
    idle: SimpleQueue[Worker] = SimpleQueue()
    workers = [Worker(Limits(_PORTION, _MEMORY), (__name__,)) for _ in range(count)]
    for worker in workers:
        idle.put(worker)

    def run(portion: Sequence[Asked]) -> Judged | Failure:
        worker = idle.get()
        try:
            return worker(judge, portion, "")
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(count) as threads:
        try:
            yield partial(in_turn, lambda portion: threads.submit(run, portion), _OUT * count)
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
            for worker in workers:
                worker.close()


@contextmanager
def of_dask(address: str) -> Iterator[Pool]:
    """The workers of a Dask cluster: ``tcp://…`` of its scheduler, or ``dask`` for one made here.

    Raises `SymattnError` where Dask is not installed, nobody answers, or nobody does any more.
    """
    with needing("--workers", "distributed", "symattn[dask]"):
        from distributed import Client
    try:
        client = Client(  # type: ignore[no-untyped-call]
            None if address == "dask" else address, timeout="20s"
        )
    except (OSError, ValueError) as error:
        raise SymattnError(f"--workers {address}: no scheduler answers: {error}") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it is said here
    most = 2 * _OUT * max(1, len(client.scheduler_info()["workers"]))

    def check() -> None:
        if client.status != "running":
            gone = "the scheduler is gone; what was judged is kept, so run it again"
            raise SymattnError(f"--workers {address}: {gone}")

    def run(portion: Sequence[Asked]) -> Judged:
        future = client.submit(judge, portion, pure=False)
        while True:  # a future of a scheduler that is gone would be waited for without end
            with suppress(TimeoutError):
                found: Judged = future.result(timeout=_LOOK)
                return found
            check()

    def pool(portions: Portions) -> Iterator[tuple[Sequence[Asked], Judged]]:
        for portion, found in in_turn(lambda one: threads.submit(run, one), most, portions):
            check()
            yield portion, found

    with ThreadPoolExecutor(most) as threads, client:
        yield pool


def in_turn(
    submit: Callable[[Sequence[Asked]], Future[Any]], most: int, portions: Portions
) -> Iterator[tuple[Sequence[Asked], Judged]]:
    """Portions as they come back, so many out at once; a lost one is sent again in single ones.

    One by itself is sent a second time, as it may have been somebody else who ended its process.
    """
    out: dict[Future[Any], Sequence[Asked]] = {}
    waiting = iter(portions)
    again: list[Sequence[Asked]] = []
    lost = Counter[bytes]()
    run = here()
    while True:
        while len(out) < most and (portion := again.pop() if again else next(waiting, None)):
            out[submit(portion)] = portion
        if not out:
            return
        for done in wait(out, return_when=FIRST_COMPLETED).done:
            portion = out.pop(done)
            found: Judged | Failure = run(Future.result, done, "")
            if not isinstance(found, Failure):
                yield portion, found
            elif len(portion) == 1 and lost[portion[0].key]:
                yield portion, [found]
            else:
                lost.update(asked.key for asked in portion if len(portion) == 1)
                again += [[asked] for asked in portion]
