"""A person types while the house tells what happens: neither disturbs the other."""

import asyncio
import io
import os
import sys
import termios
from collections.abc import Iterator

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output import DummyOutput

from cohabit.faces.cli.say import tell
from cohabit.faces.cli.typing_line import typing


class Screen(DummyOutput):
    """What was printed, without the line that is being typed."""

    def __init__(self) -> None:
        self.printed = ""

    def write_raw(self, data: str) -> None:
        self.printed += data

    def fileno(self) -> int:
        return 1


class Seat:
    """A terminal, and the person before it."""

    def __init__(self, person: int, side: int, screen: Screen) -> None:
        self.person, self.side, self.screen = person, side, screen
        self.before = termios.tcgetattr(side)

    @property
    def is_unchanged(self) -> bool:
        return termios.tcgetattr(self.side) == self.before

    async def type(self, keys: bytes) -> None:
        """Type when a line is asked for."""
        while self.is_unchanged:
            await asyncio.sleep(0)
        os.write(self.person, keys)


@pytest.fixture
def seat() -> Iterator[Seat]:
    person, side = os.openpty()
    screen = Screen()
    with os.fdopen(side, "r") as stdin, create_app_session(input=Vt100Input(stdin), output=screen):
        yield Seat(person, side, screen)
    os.close(person)


async def test_a_line_arrives_whole_although_something_is_printed_meanwhile(seat: Seat) -> None:
    with typing(interactive=True) as lines:
        first = asyncio.ensure_future(anext(lines))
        await seat.type(b"ta")
        tell("bob takes 2")
        await seat.type(b"ke n=1\r")
        assert await first == "take n=1"
        second = asyncio.ensure_future(anext(lines))
        await seat.type(b"/quti\x7f\x7fit\r")
        assert await second == "/quit"
        third = asyncio.ensure_future(anext(lines, "the end"))
        await seat.type(b"\x04")
        assert await third == "the end"
    assert "bob takes 2" in seat.screen.printed
    assert seat.is_unchanged


async def test_a_terminal_is_left_as_it_was_when_nobody_waits_for_a_line_any_more(seat: Seat) -> None:
    with typing(interactive=True) as lines:
        waiting = asyncio.ensure_future(anext(lines))
        await seat.type(b"ta")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert seat.is_unchanged


async def test_lines_of_a_pipe_are_read_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\n\ntwo"))
    with typing() as lines:
        tell("told")
        assert [line async for line in lines] == ["one", "", "two"]
    assert capsys.readouterr().out == "told\n"
