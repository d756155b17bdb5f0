"""A program that is asked in lines: started, written to, read from, and ended. What it writes is bounded."""

import os
import select
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from cohabit.agents.secrets import environment_without_secrets, in_public

MAX_LINE = 1 << 17
"""Bytes of a line of the program."""
MAX_SAID = 4096
"""Bytes of its standard error output that are kept until the next decision: the last ones."""
QUOTED = 300
"""Characters of it that the reason for a failure quotes."""
READ_BYTES = 1 << 16
END_S = 1.0
"""The time that a program whose input or output is closed may take to end."""


class ProgramEnded(Exception):
    """The program ended, cannot be started, or was killed. The text says how, and what it said last."""


class Program:
    """One program with its arguments. It may be started several times, one after another.

    Its two outputs are read together, while it is asked: what it said before it answered belongs to this answer, and
    neither side waits for the other to read.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._process: subprocess.Popen[bytes] | None = None
        self._stdin = self._stdout = self._stderr = -1
        self._open: list[int] = []  # those of its outputs that it has not closed
        self._is_new = False  # nothing was written to it yet
        self._read = bytearray()  # of its output, and not used yet
        self._said = bytearray()

    def start(self) -> bool:
        """Start it if it does not run. Returns whether nothing was written to it yet."""
        if self._process is None:
            try:
                process = subprocess.Popen(
                    self._words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=environment_without_secrets(),
                )  # fmt: skip
            except OSError as wrong:
                raise ProgramEnded(f"the program {self._words[0]} cannot be started: {wrong.strerror}") from None
            self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in _pipes(process))
            os.set_blocking(self._stdin, False)
            self._process, self._open, self._is_new = process, [self._stdout, self._stderr], True
            self._read.clear()
        return self._is_new

    def write(self, line: str) -> None:
        """Send one line. Lines that nobody asked for are dropped first: otherwise all later answers would be those to
        the question before."""
        self.start()
        self._read.clear()
        while self._receive(seconds=0.0):
            self._read.clear()
        rest = line.encode() + b"\n"
        while rest:
            self._receive(and_write=True)
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._ended() from None
        self._is_new = False

    def read_line(self) -> str:
        """The next line that is not empty."""
        while True:
            line, found, rest = self._read.partition(b"\n")
            if found:
                self._read = rest
                if text := line.decode(errors="replace").strip():
                    return text
            elif len(self._read) > MAX_LINE:
                raise self._ended(f"the program was killed: it wrote a line of more than {MAX_LINE:,} bytes")
            else:
                self._receive()

    def said(self) -> str:
        """The end of what it wrote to its standard error output since the last call."""
        text = self._said.decode(errors="replace")
        self._said.clear()
        return "\n".join(filter(None, map(in_public, text.splitlines())))

    def close(self) -> None:
        """Close its input, which tells it to end, and kill it if it does not."""
        if self._process is not None:
            self._end()

    # -- its output -------------------------------------------------------------------------------
    def _receive(self, seconds: float | None = None, *, and_write: bool = False) -> bool:
        """Wait until it has written something, and read it. Returns whether there was anything.

        ``and_write``: or until it can be written to."""
        readable, _, _ = select.select(self._open, [self._stdin] if and_write else [], [], seconds)
        for pipe in sorted(readable, key=(self._stderr, self._stdout).index):
            data = os.read(pipe, READ_BYTES)
            if not data:
                self._open.remove(pipe)
                if pipe == self._stdout:
                    raise self._ended()
            elif pipe == self._stdout:
                self._read += data
            else:
                self._said += data
                del self._said[:-MAX_SAID]
        return bool(readable)

    # -- its end ----------------------------------------------------------------------------------
    def _ended(self, why: str = "") -> ProgramEnded:
        """It has closed its output, or must not go on. The next question starts it again."""
        code = self._end(now=bool(why))
        said = in_public(self.said())[-QUOTED:].strip()
        return ProgramEnded((why or _how(code)) + (f"; it said last: {said}" if said else ""))

    def _end(self, *, now: bool = False) -> int:
        process = self._process
        assert process is not None
        stdin, stdout, stderr = _pipes(process)
        self._process = None
        stdin.close()
        if not now:
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
        process.kill()
        code = process.wait()
        self._open = [self._stderr] if self._stderr in self._open else []
        while self._open and self._receive(seconds=0.0):  # its last words
            pass
        stdout.close()
        stderr.close()
        return code


def _pipes(process: "subprocess.Popen[bytes]") -> "tuple[IO[bytes], IO[bytes], IO[bytes]]":
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _how(code: int) -> str:
    if code >= 0:
        return f"the program ended with exit code {code}"
    return f"the program was killed by {signal.Signals(-code).name}"
