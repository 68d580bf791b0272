"""The journal: judgements on disk, by what was answered, so that nothing is judged twice.

It holds no names. Each row carries a checksum; one that does not agree is judged again. Several
processes may write to one journal: what they write is the same.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

from symattn.classroom.judge import VERDICTS, Judgement, Told
from symattn.errors import SymattnError

#: The version of what a judgement means: rows of another one are not read.
VERSION = 2

#: Seconds to wait for another process that writes, and rows that are asked for at once.
_PATIENCE, _AT_ONCE = 60.0, 500

_TABLE = "CREATE TABLE IF NOT EXISTS judged (key BLOB PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID"


class Journal:
    """An open journal; `Journal.at` opens one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def at(cls, path: Path) -> Iterator[Journal]:
        """The journal of a file, made where there is none.

        One that is damaged is put aside, with ``.damaged`` behind its name. Raises `SymattnError`
        where the file cannot be written.
        """
        with kept(f"{path}: the journal"):
            try:
                connection = _opened(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) or not path.is_file():
                    raise
                _put_aside(path)
                connection = _opened(path)
            with closing(connection):
                yield cls(connection)

    def judgements(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, Judgement]]:
        """Those that are known of some keys."""
        wanted = [*keys]
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            asked = ",".join("?" * len(some))
            rows = self._connection.execute(
                f"SELECT key, row FROM judged WHERE key IN ({asked})",  # noqa: S608 marks alone
                some,
            )
            for key, row in rows:
                if (found := _read(key, row)) is not None:
                    yield key, found

    def keep(self, judged: Mapping[bytes, Judgement]) -> None:
        """Keep judgements; when this returns they are on disk."""
        rows = [(key, _written(key, one)) for key, one in judged.items()]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?)", rows)


@contextmanager
def kept(what: str) -> Iterator[None]:
    """Raises `SymattnError`, which says what, where a database cannot be written inside."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # which Python's own errors have not
        full = code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
        why = "the disk is full, or fails; make room and run it again" if full else error
        raise SymattnError(f"{what} cannot be kept: {why}") from None


def key_of(*facts: object) -> bytes:
    """The key of what a judgement depends on."""
    text = json.dumps([VERSION, *facts], ensure_ascii=True, separators=(",", ":"))
    return sha256(text.encode()).digest()[:16]


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a sound journal. Raises `sqlite3.DatabaseError` where it is not sound."""
    connection = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_TABLE)
        connection.commit()
        ((state,),) = connection.execute("PRAGMA quick_check(1)")
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(judged)")]
        if (state, columns) != ("ok", ["key", "row"]):
            raise sqlite3.DatabaseError(state)
    except BaseException:
        connection.close()
        raise
    return connection


def _put_aside(path: Path) -> None:
    """Rename a damaged journal, so that nobody loses what it holds."""
    for end in ("", "-wal", "-shm"):
        part = path.with_name(path.name + end)
        if part.exists():
            part.replace(path.with_name(f"{path.name}.damaged{end}"))


def _written(key: bytes, judgement: Judgement) -> str:
    """A judgement as a row: a checksum, and JSON."""
    codes = "".join(_CODES[verdict] for verdict in judgement.verdicts)
    text = json.dumps([codes, judgement.remarks, judgement.mistakes], separators=(",", ":"))
    return _checksum(key, text) + text


def _read(key: bytes, row: object) -> Judgement | None:
    """The judgement of a row, None where it is damaged."""
    text = str(row)
    if text[:_LENGTH] != _checksum(key, text[_LENGTH:]):
        return None
    codes, remarks, mistakes = json.loads(text[_LENGTH:])
    return Judgement(
        tuple(_VERDICTS[code] for code in codes),
        {int(number): words for number, words in remarks.items()},
        tuple(Told(*one) for one in mistakes),
    )


#: A letter for each verdict.
_CODES = dict(zip(VERDICTS, "abcdefgh", strict=True))
_VERDICTS = {code: verdict for verdict, code in _CODES.items()}

#: The characters of a checksum.
_LENGTH = 12


def _checksum(key: bytes, text: str) -> str:
    return sha256(key + text.encode()).hexdigest()[:_LENGTH]
