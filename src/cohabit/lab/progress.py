"""The progress of a run, in a terminal or a notebook."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_S, SOON_S = 30.0, 5.0
"""A line after this many seconds, or after these few if a tenth more is done. A short run has none."""


@contextmanager
def progress_bar(title: str, wanted: bool | None = None) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr. By default, if that is no terminal, a line now and then; False: nothing."""
    if wanted is False:
        yield lambda done, planned: None
        return
    if wanted is None and not sys.stderr.isatty():
        yield ProgressLines(title)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(escape(_printable(title)), total=None)
        yield lambda done, planned: progress.update(task, completed=done, total=planned)


class ProgressLines:
    """For an output that is not a terminal."""

    def __init__(
        self, title: str, now: Callable[[], float] = time.monotonic, write: Callable[[str], object] | None = None
    ) -> None:
        self._title, self._now, self._write = _printable(title), now, write or _to_stderr
        self._told_at, self._told = now(), 0

    def __call__(self, done: int, planned: int) -> None:
        passed = self._now() - self._told_at
        if passed >= EVERY_S or (passed >= SOON_S and 10 * (done - self._told) >= planned):
            self._told_at, self._told = self._now(), done
            self._write(f"{self._title}: {done:,} of {planned:,} done")


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "·" for c in text)
