"""What a running house prints: the events of its rooms, which rooms are closed, and its log."""

import asyncio
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from cohabit.errors import BadArgs
from cohabit.faces.cli.say import event, paint, tell
from cohabit.room.state import handle_of

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.running.runner import RoomRunner
    from cohabit.model.record import Entry, Told
    from cohabit.room.record import Line
    from cohabit.room.room import Room

PROBLEMS_EVERY_S = 0.5
"""How often the terminal looks whether a room was closed or reopened."""


async def watch_problems(house: "House") -> None:
    """Tell which rooms are closed, at the start and whenever that changes."""
    known: dict[str, str] = {}
    while not house.rooms.closing:
        now = {room: problem.message for room, problem in house.rooms.problems.items()}
        with suppress(OSError):  # the output was closed; the house keeps running
            for line in problem_lines(known, now):
                tell(line)
        known = now
        await asyncio.sleep(PROBLEMS_EVERY_S)


def problem_lines(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """What has changed about the rooms that are closed. Both have the reason for each, by its id."""
    yield from (paint("bold", f"Room {room} is closed: {why}") for room, why in now.items() if before.get(room) != why)
    rest = f"closed: {', '.join(now)}" if now else "all rooms are open"
    yield from (paint("bold", f"Room {room} is open again; {rest}") for room in before if room not in now)


def show(runner: "RoomRunner", lines: "Sequence[Line]") -> None:
    """Print the entries that just became durable. The operator sees all of them."""
    try:
        for line in lines:
            for text in told_lines(line.entry, runner.room, runner.room.id):
                tell(text)
    except OSError:  # the output was closed; the house keeps running
        pass


def told_lines(entry: "Entry", room: "Room", shown_room: str = "") -> Iterator[str]:
    """An entry of the record as lines for the operator, with the recipients of private events."""
    by = handle_of(entry.by) if entry.by is not None else "-"
    who = f"{by} ({entry.via})" if entry.via else by
    for told in entry.told:
        private = (told.members is not None or told.seats is not None) and told.kind not in ("chat", "direct")
        only = paint("dim", f" [only for {_recipients(told, room)}]") if private else ""
        yield event(entry.at, shown_room, who, told.text) + only


def _recipients(told: "Told", room: "Room") -> str:
    """The handles of those who receive a private event; a seat without a player is named as such."""
    # A copy of the list: the room may be running on its own thread.
    players = {member.seat: member.handle for member in list(room.state.members.values())}
    seats = [players.get(seat) or f"seat {seat}" for seat in told.seats or ()]
    members = [handle_of(member) for member in told.members or ()]
    return ", ".join(dict.fromkeys([*members, *seats])) or "nobody"


def log_to_stderr(level: str) -> None:
    levels = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
    if level.lower() not in levels:
        raise BadArgs(f"log_level: {level!r} is not one of {', '.join(levels)}", did_you_mean=["info"])
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("cohabit").setLevel(levels[level.lower()])
