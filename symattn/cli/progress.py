"""How far a command has come, on standard error, for whatever takes longer than two seconds."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

#: Seconds after which something is shown.
_AFTER = 2.0


class Progress:
    """A line that says what is being done, and for how long; it is erased at the end.

    ``with Progress("deriving").watched() as shown: …``
    """

    def __init__(self, words: str) -> None:
        self._words, self._start = words, time.monotonic()
        self._live: Live | None = None
        self._ended = False
        self._lock = threading.RLock()

    def at(self, words: str) -> None:
        """Say from now on that this is being done."""
        self._words = words

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Take the line away while something is printed."""
        with self._lock:
            live, self._live = self._live, None
            if live is not None:
                live.stop()
            try:
                yield
            finally:
                if live is not None:
                    self.show()

    @contextlib.contextmanager
    def watched(self) -> Iterator[Progress]:
        """Show the line as soon as this has taken two seconds, to whom sits at a terminal."""
        if not _is_watched():
            yield self
            return
        timer = threading.Timer(_AFTER, self.show)
        timer.daemon = True
        timer.start()
        try:
            yield self
        finally:
            timer.cancel()
            self.end()

    def show(self) -> None:
        """Show the line, unless all has ended meanwhile."""
        from rich.console import Console
        from rich.live import Live

        with self._lock:
            if self._ended or self._live is not None:
                return
            console = Console(stderr=True, highlight=False)
            self._live = Live(
                get_renderable=self._line,
                console=console,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            with contextlib.suppress(OSError):
                self._live.start(refresh=True)
                console.show_cursor(True)  # which a signal would leave hidden

    def end(self) -> None:
        """Take the line away for good."""
        with self._lock, contextlib.suppress(OSError):
            self._ended = True
            if self._live is not None:
                self._live.stop()

    def _line(self) -> Text:
        from rich.text import Text

        from symattn.printable import printable

        elapsed = time.monotonic() - self._start
        line = f"{printable(self._words)}… {elapsed:.0f} s"
        return Text(line, style="dim", no_wrap=True, overflow="ellipsis")


def _is_watched() -> bool:
    """Whether standard error is a terminal on which a line can be taken away again."""
    if sys.stderr is None or not sys.stderr.isatty():
        return False
    return os.name == "nt" or os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")
