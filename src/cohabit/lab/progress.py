"""The progress of a run, in a terminal or a notebook: finished games, and decisions also within a long game."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from cohabit.lab.game import Game

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

EVERY_S, SOON_S = 30.0, 5.0
"""A line after this many seconds, or after these few if a tenth more is done. A short run has none."""
REFRESH_S = 1.0
"""The interval at which the number of decisions is read."""


class DecisionCount:
    """The number of decisions of a run's games so far, also of unfinished ones. It is read on another thread.

    Nothing is done for a decision: a game knows how many it has had, and is asked when somebody wants to know. A worker
    process reports its number about once a second.
    """

    def __init__(self) -> None:
        self.of_workers: Iterable[int] = ()  # shared with the workers
        self._finished = 0
        self._playing: list[Game] = []

    def begin(self, game: Game) -> None:
        self._playing.append(game)

    def end(self, game: Game) -> None:
        self._playing.remove(game)
        self._finished += game.decisions

    def total(self) -> int:
        playing = sum([game.decisions for game in self._playing.copy()])
        return self._finished + playing + sum([*self.of_workers])


@contextmanager
def progress_bar(
    title: str, wanted: bool | None = None, decisions: Callable[[], int] | None = None
) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr. By default, if that is no terminal, a line now and then; False: nothing.

    ``decisions``: how many there have been so far, if that is to be shown, too.
    """
    if wanted is False:
        yield lambda done, planned: None
        return
    if wanted is None and not sys.stderr.isatty():
        lines = ProgressLines(title, decisions=decisions)
        with _repeated(lines.tell):
            yield lines
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.markup import escape

    columns = [
        rich.TextColumn("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(), *([_decisions_column(decisions)] if decisions is not None else []),
    ]  # fmt: skip
    with rich.Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(escape(_printable(title)), total=None)
        yield lambda done, planned: progress.update(task, completed=done, total=planned)


class ProgressLines:
    """For an output that is not a terminal."""

    def __init__(
        self,
        title: str,
        now: Callable[[], float] = time.monotonic,
        write: Callable[[str], object] | None = None,
        decisions: Callable[[], int] | None = None,
    ) -> None:
        self._title, self._now, self._write = _printable(title), now, write or _to_stderr
        self._decisions = decisions or (lambda: 0)
        self._lock = Lock()  # a game can end while another thread tells how far it is
        self._done = self._planned = 0
        self._told_at, self._told, self._told_decisions = now(), 0, 0

    def __call__(self, done: int, planned: int) -> None:
        self._done, self._planned = done, planned
        self.tell()

    def tell(self) -> None:
        """Write a line if it is time for one."""
        with self._lock:
            passed = self._now() - self._told_at
            much = passed >= SOON_S and 10 * (self._done - self._told) >= self._planned
            if not self._planned or not (passed >= EVERY_S or much):
                return
            line, decisions = f"{self._title}: {self._done:,} of {self._planned:,} done", self._decisions()
            if decisions:
                line += f", {decisions_text(decisions, decisions - self._told_decisions, passed)}"
            self._write(line)
            self._told_at, self._told, self._told_decisions = self._now(), self._done, decisions


def decisions_text(decisions: int, recent: int, seconds: float) -> str:
    """``recent``: how many of the decisions were made in the last ``seconds``."""
    rate = recent / seconds if seconds > 0 else 0.0
    return f"{decisions:,} decisions ({rate:,.0f}/s)" if rate >= 1 else f"{decisions:,} decisions"


def _decisions_column(decisions: Callable[[], int]) -> "ProgressColumn":
    from rich.progress import ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    class DecisionsColumn(ProgressColumn):
        max_refresh = REFRESH_S

        def render(self, task: Task) -> Text:
            found = decisions()
            return Text(decisions_text(found, found, task.elapsed or 0.0))

    return DecisionsColumn(Column(no_wrap=True))


@contextmanager
def _repeated(work: Callable[[], None]) -> Iterator[None]:
    """Do something about once a second, on another thread."""
    ended = Event()

    def repeat() -> None:
        while not ended.wait(REFRESH_S):
            work()

    thread = Thread(target=repeat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "·" for c in text)
