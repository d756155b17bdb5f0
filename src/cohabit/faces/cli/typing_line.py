"""A line that a person types while other lines are printed above it.

The terminal passes on each key at once, so the line is drawn here: it is erased before something is printed, and drawn
again below. Without a terminal, lines are read as they are.
"""

import asyncio
import codecs
import os
import shutil
import sys
import termios
import threading
import tty
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, TextIO
from unicodedata import east_asian_width

PROMPT: Final = "> "
ERASE: Final = "\r\x1b[K"
BACKSPACE, CLEAR_LINE, DELETE_WORD, END, ESCAPE = ("\x7f", "\x08"), "\x15", "\x17", "\x04", "\x1b"


class TypedLine:
    """The text typed so far. There is no cursor: keys add at the end, or delete there."""

    def __init__(self) -> None:
        self.text = ""
        self.ended = False
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._escape = ""  # the keys of an escape sequence that is not complete

    def feed(self, keys: bytes) -> Iterator[str]:
        """Take keys. Yields each line that they complete."""
        for key in self._decode(keys):
            if self._escape:
                self._escape += key
                if _is_complete(self._escape):
                    self._escape = ""
            elif key in "\r\n":
                line, self.text = self.text, ""
                yield line
            else:
                self._edit(key)

    def _edit(self, key: str) -> None:
        if key == ESCAPE:
            self._escape = key
        elif key in BACKSPACE:
            self.text = self.text[:-1]
        elif key == CLEAR_LINE:
            self.text = ""
        elif key == DELETE_WORD:
            kept, space, _ = self.text.rstrip().rpartition(" ")
            self.text = kept + space
        elif key == END and not self.text:
            self.ended = True
        elif key.isprintable():
            self.text += key


def _is_complete(sequence: str) -> bool:
    """Whether an escape sequence is complete: `ESC [ … letter`, `ESC O letter`, or `ESC letter`."""
    if len(sequence) == 2:
        return sequence[1] not in "[O"
    return "@" <= sequence[-1] <= "~"


class Terminal:
    """Where a person types and reads. Use it as a context manager, and print in an ``aside``."""

    def __init__(
        self,
        write: Callable[[str], Any] | None = None,
        stdin: TextIO | None = None,
        *,
        interactive: bool | None = None,
        columns: Callable[[], int] = lambda: shutil.get_terminal_size().columns,
    ) -> None:
        self.line = TypedLine()
        self._write = write or _write
        self._stdin = stdin if stdin is not None else sys.stdin
        self._columns = columns
        self._interactive = _is_terminal() if interactive is None and write is None else interactive is not False
        self._before: list[Any] | None = None
        self._shown = False

    def __enter__(self) -> "Terminal":
        if self._interactive:
            self._before = termios.tcgetattr(self._stdin)
            tty.setcbreak(self._stdin)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            self._hide()
            termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._before)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """For the time of the block the line is not on the screen, so that something can be printed."""
        shown = self._shown
        self._hide()
        try:
            yield
        finally:
            if shown:
                self.show()

    def show(self) -> None:
        """Draw the prompt and what fits of the line."""
        self._write(ERASE + PROMPT + _end_of(self.line.text, self._columns() - len(PROMPT) - 1))
        self._shown = True

    def _hide(self) -> None:
        if self._shown:
            self._write(ERASE)
            self._shown = False

    def type(self, keys: bytes) -> list[str]:
        """Take keys and draw the line. Returns the lines that they complete, which stay on the screen."""
        done = []
        for line in self.line.feed(keys):
            self._write(f"{ERASE}{PROMPT}{line}\n")
            done.append(line)
        self.show()
        return done

    async def lines(self) -> AsyncIterator[str]:
        """The typed lines until the input ends."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        stop = self._read_keys(queue) if self._interactive else _read_lines(self._stdin, queue)
        try:
            while (line := await queue.get()) is not None:
                yield line
        finally:
            stop()

    def _read_keys(self, queue: "asyncio.Queue[str | None]") -> Callable[[], object]:
        loop, source = asyncio.get_running_loop(), self._stdin.fileno()

        def read() -> None:
            try:
                keys = os.read(source, 1024)
            except OSError:  # the terminal was closed
                keys = b""
            for line in self.type(keys):
                queue.put_nowait(line)
            if not keys or self.line.ended:
                loop.remove_reader(source)
                queue.put_nowait(None)

        loop.add_reader(source, read)
        self.show()
        return lambda: loop.remove_reader(source)


def _read_lines(stdin: TextIO, queue: "asyncio.Queue[str | None]") -> Callable[[], object]:
    """Read on a daemon thread: a pipe may stay open without ever sending a line."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in stdin:
            loop.call_soon_threadsafe(queue.put_nowait, line.rstrip("\n"))
        loop.call_soon_threadsafe(queue.put_nowait, None)

    threading.Thread(target=read, name="cohabit-typed", daemon=True).start()
    return lambda: None


def _is_terminal() -> bool:
    return bool(
        sys.stdin and sys.stdout and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    )


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _end_of(text: str, columns: int) -> str:
    """As much of the end of a text as fits into this many columns."""
    start = len(text)
    for letter in reversed(text):
        columns -= 2 if east_asian_width(letter) in "WF" else 1
        if columns < 0:
            break
        start -= 1
    return text[start:]
