"""The output of a running house: the events of its rooms, the closed rooms, and its log."""

import asyncio
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cohabit.errors import BadArgs
from cohabit.faces.cli.say import event, paint, tell
from cohabit.house.directory import NOTHING, place_of
from cohabit.room.state import handle_of

if TYPE_CHECKING:
    from cohabit.house.directory import Directory
    from cohabit.house.house import House
    from cohabit.house.running.runner import RoomRunner
    from cohabit.model.record import Entry, Told
    from cohabit.room.record import Line
    from cohabit.room.room import Room

PROBLEMS_EVERY_S = 0.5
"""The time between two checks of whether a room was closed or reopened."""


async def watch_problems(house: "House") -> None:
    """Tell which rooms are closed, at the start and whenever that changes. A room that is on its way to another process
    or house is closed until that one has opened it."""
    known: dict[str, str] = {}
    directory = house.node.directory if house.node is not None else None
    while not house.rooms.closing:
        now = {room: problem.message for room, problem in house.rooms.problems.items()}
        if directory is not None:
            now = {**{room: known[room] for room in directory.moving() if room in known}, **now}
        where = {room: where_open(directory, room) for room in known} if directory is not None else {}
        with suppress(OSError):  # the output was closed; the house keeps running
            for line in problem_lines(known, now, where):
                tell(line)
        known = now
        await asyncio.sleep(PROBLEMS_EVERY_S)


def where_open(directory: "Directory", room: str) -> str:
    """The process or house that has opened a room, as text for the operator; empty if it is this one."""
    holder = directory.holder(room)
    if holder is None or holder == directory.here:
        return ""
    return f" in house {urlsplit(directory.socket_of(holder)).netloc}" if place_of(holder) else f" in worker {holder}"


def problem_lines(
    before: Mapping[str, str], now: Mapping[str, str], where: Mapping[str, str] = NOTHING
) -> Iterator[str]:
    """The changes of the closed rooms. Both have the reason for each, by its id. ``where``: the process in which a room
    is open now, if it is not this one; see `where_open`."""
    yield from (paint("bold", f"Room {room} is closed: {why}") for room, why in now.items() if before.get(room) != why)
    rest = f"closed: {', '.join(now)}" if now else "all rooms are open"
    opened = (room for room in before if room not in now)
    yield from (paint("bold", f"Room {room} is open again{where.get(room, '')}; {rest}") for room in opened)


def show(runner: "RoomRunner", lines: "Sequence[Line]") -> None:
    """Print the entries that just became durable. The operator sees all of them."""
    try:
        for line in lines:
            for text in told_lines(line.entry, runner.room, runner.room.id):
                tell(text)
    except OSError:  # the output was closed; the house keeps running
        pass


def told_lines(entry: "Entry", room: "Room | None", shown_room: str = "") -> Iterator[str]:
    """An entry of the record as lines for the operator, with the recipients of private events. Without the room, the
    players of seats are those that the entry names."""
    by = handle_of(entry.by) if entry.by is not None else "-"
    who = f"{by} ({entry.via})" if entry.via else by
    for told in entry.told:
        private = (told.members is not None or told.seats is not None) and told.kind not in ("chat", "direct")
        only = paint("dim", f" [only for {_recipients(told, entry, room)}]") if private else ""
        yield event(entry.at, shown_room, "-" if told.by_world else who, told.text) + only


def _recipients(told: "Told", entry: "Entry", room: "Room | None") -> str:
    """The handles of those who receive a private event; a seat without a player is named as such."""
    players: dict[str | None, str]
    if room is None:
        players = {seat: handle_of(member) for seat, member in (entry.players or {}).items()}
    else:  # a copy of the list: the room may be running on its own thread
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
