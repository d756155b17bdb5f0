"""Lines that a person types while others are printed above them. Without a terminal, lines are read as they are."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

PROMPT: Final = "> "


@contextmanager
def typing(*, interactive: bool | None = None) -> Iterator[AsyncIterator[str]]:
    """The typed lines until the input ends. Within the block, what is printed appears above the line being typed."""
    if not (_is_terminal() if interactive is None else interactive):
        yield _read_lines(sys.stdin)
        return
    from prompt_toolkit.patch_stdout import patch_stdout

    with patch_stdout(raw=True):
        yield _ask_for_lines()


async def _ask_for_lines() -> AsyncIterator[str]:
    from prompt_toolkit import PromptSession

    session: PromptSession[str] = PromptSession(PROMPT)
    while True:
        try:
            yield await session.prompt_async()
        except EOFError:
            return


async def _read_lines(stdin: TextIO) -> AsyncIterator[str]:
    """Read on a daemon thread: a pipe may stay open without ever sending a line."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def read() -> None:
        for line in stdin:
            loop.call_soon_threadsafe(queue.put_nowait, line.rstrip("\n"))
        loop.call_soon_threadsafe(queue.put_nowait, None)

    threading.Thread(target=read, name="cohabit-typed", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


def _is_terminal() -> bool:
    return bool(
        sys.stdin and sys.stdout and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    )
