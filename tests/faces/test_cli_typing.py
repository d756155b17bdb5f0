"""A person types while the house tells what happens: neither disturbs the other."""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
import termios

from hypothesis import given
from hypothesis import strategies as st

from cohabit.faces.cli.typing_line import PROMPT, Terminal, TypedLine

KEYS = st.lists(st.sampled_from(["a", "é", "木", " ", "7", "\x7f", "\x15", "\x17", "\r", "\x1b[A", "\x1bOP", "\x01"]))
NEWS = st.text("xyz .木", min_size=1, max_size=15)
COLUMNS = 40


class Screen:
    """The rows of a terminal, as far as this program moves the cursor."""

    def __init__(self) -> None:
        self.rows = [""]
        self.rewinds = False

    def write(self, text: str) -> None:
        for part in re.findall(r"\r|\x1b\[K|\n|[^\r\n\x1b]+", text):
            if part == "\n":
                self.rows.append("")
            elif part == "\r":
                self.rewinds = True
            elif part == "\x1b[K":
                assert self.rewinds, "it erases from the beginning of the row only"
                self.rows[-1], self.rewinds = "", False
            else:
                self.rows[-1] += part


def typed_by(keys: list[str]) -> list[str]:
    line = TypedLine()
    return [done for key in keys for done in line.feed(key.encode())]


@given(st.lists(st.one_of(KEYS, NEWS)))
def test_whatever_is_printed_meanwhile_a_typed_line_arrives_whole_and_stays_in_view(
    happens: list[list[str] | str],
) -> None:
    screen = Screen()
    terminal = Terminal(screen.write, columns=lambda: COLUMNS)
    keys = [key for part in happens if isinstance(part, list) for key in part]
    done = []
    terminal.show()
    for part in happens:
        if isinstance(part, list):
            for key in part:
                done += terminal.type(key.encode())
        else:
            with terminal.aside():
                screen.write(part + "\n")
        assert screen.rows[-1].startswith(PROMPT)
        assert terminal.line.text.endswith(screen.rows[-1].removeprefix(PROMPT))
    assert done == typed_by(keys)
    told = [part for part in happens if isinstance(part, str)]
    assert [row for row in screen.rows if not row.startswith(PROMPT)] == told


def test_keys_edit_the_line() -> None:
    assert typed_by(["t", "o", "x", "\x7f", "p", "\r"]) == ["top"]
    assert typed_by(["a b", "\x17", "c", "\r"]) == ["a c"]
    assert typed_by(["abc", "\x15", "d", "\n"]) == ["d"]
    assert typed_by(["one\rtwo\r"]) == ["one", "two"]
    assert typed_by(["a\x1b[1;5Cb\x1bOPc\r"]) == ["abc"]


@given(st.text("aé木🙂", max_size=20))
def test_a_letter_may_come_in_pieces(text: str) -> None:
    line = TypedLine()
    done = [found for byte in f"{text}\r".encode() for found in line.feed(bytes([byte]))]
    assert done == [text]


@given(st.text("a木", max_size=60))
def test_a_long_line_stays_on_one_row(text: str) -> None:
    screen = Screen()
    terminal = Terminal(screen.write, columns=lambda: 20)
    terminal.type(text.encode())
    assert sum(2 if c == "木" else 1 for c in screen.rows[-1]) < 20
    assert len(text) > 5 or screen.rows[-1] == PROMPT + text


async def test_a_terminal_gives_lines_one_by_one_and_is_left_as_it_was() -> None:
    person, side = os.openpty()
    screen = Screen()
    before = termios.tcgetattr(side)
    with os.fdopen(side, "r", closefd=False) as stdin, Terminal(screen.write, stdin, interactive=True) as terminal:
        lines = terminal.lines()
        os.write(person, b"ta")
        first = asyncio.ensure_future(anext(lines))
        while terminal.line.text != "ta":
            await asyncio.sleep(0)
        with terminal.aside():
            screen.write("bob takes 2\n")
        os.write(person, b"ke n=1\r")
        assert await first == "take n=1"
        assert screen.rows == ["bob takes 2", f"{PROMPT}take n=1", PROMPT]
        os.write(person, b"\x04")
        assert [line async for line in lines] == []
    assert termios.tcgetattr(side) == before
    os.close(person)
    os.close(side)


async def test_lines_of_a_pipe_are_read_as_they_are() -> None:
    out = io.StringIO()
    with Terminal(out.write, io.StringIO("one\n\ntwo"), interactive=False) as terminal:
        with terminal.aside():
            out.write("told\n")
        assert [line async for line in terminal.lines()] == ["one", "", "two"]
    assert out.getvalue() == "told\n"


def test_a_program_without_a_terminal_draws_no_prompt() -> None:
    assert not sys.stdin.isatty() or not sys.stdout.isatty()
    with Terminal() as terminal, terminal.aside():
        pass
