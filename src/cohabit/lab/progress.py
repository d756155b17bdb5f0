"""The progress of a run, in a terminal or a notebook."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(title: str, wanted: bool | None = None) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr; by default, if that is a terminal."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda done, planned: None
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
    name = "".join(c if c.isprintable() else "·" for c in title)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(escape(name), total=None)
        yield lambda done, planned: progress.update(task, completed=done, total=planned)
