"""``cohabit serve``, and running a house in a terminal: it prints its address, then a log of events."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from typing import TYPE_CHECKING, TypeAlias

from cohabit.errors import BadArgs
from cohabit.faces.cli.operator import operator_file
from cohabit.faces.cli.options import data_hint, settings_of, settings_options
from cohabit.faces.cli.say import complain, event, paint, tell
from cohabit.house.settings import Settings
from cohabit.house.store.identities import TEMPORARY
from cohabit.room.state import handle_of

if TYPE_CHECKING:
    from cohabit.faces.serve import SideServer
    from cohabit.house.house import House
    from cohabit.house.nodes.directory import Table
    from cohabit.house.running.runner import RoomRunner
    from cohabit.model.record import Entry, Told
    from cohabit.room.record import Line
    from cohabit.room.room import Room

HOST_NAME = "host"
"""The name of the credential that is created on the first start."""
PROBLEMS_EVERY_S = 0.5
"""How often the terminal looks whether a room was closed or reopened."""
Greeting: TypeAlias = "Callable[[str, Sequence[SideServer]], Iterable[str]]"
"""Returns the lines to print on startup, given the address and the additional listeners."""


def serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="do not print the events of the rooms")
    settings_options(parser)


def serve(args: argparse.Namespace) -> int:
    """Serve the rooms in a data folder until Ctrl-C.

    On the first start this creates a host credential and shows it once. With it you can create rooms and
    enter all of them.

    Examples:
      cohabit serve
      cohabit serve --data ./house --port 9000
      cohabit serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
      COHABIT_PUBLIC_URL=https://play.example.org cohabit serve
      cohabit serve --workers 4
    """

    async def prepare(house: "House") -> Greeting:
        token = await first_host_token(house)
        return lambda url, beside: [*host_lines(token, url, args), *room_lines(house, beside)]

    return run_house(settings_of(args), prepare, args.quiet, may_have_workers=True)


def run_house(
    settings: Settings,
    prepare: "Callable[[House], Awaitable[Greeting]]",
    quiet: bool,
    *,
    may_have_workers: bool = False,
) -> int:
    """Open the house, prepare it, serve it and print its events until it is stopped."""
    from cohabit.faces.addresses import exposure
    from cohabit.faces.serve import bind, run, side_servers
    from cohabit.faces.serve import serve as listen
    from cohabit.house.house import House

    log_to_stderr(settings.log_level)

    async def main() -> None:
        # Everything that can be missing or taken comes before `prepare`, which may create a room with new tokens.
        async with AsyncExitStack() as stack:
            listener = stack.enter_context(closing(bind(settings)))
            workers = None
            if may_have_workers and settings.workers > 1:
                from cohabit.faces.workers.supervisor import open_front

                house, workers = await stack.enter_async_context(open_front(settings, quiet=quiet))
            else:
                house = await stack.enter_async_context(House.open(settings))
            beside = side_servers(house) if workers is None else []
            for server in beside:
                stack.callback(server.close)
            greeting = await prepare(house)

            def ready(url: str) -> None:
                stack.enter_context(operator_file(house, url, listener.getsockname()[1]))
                for line in greeting(url, beside):
                    tell(line)
                warning = exposure(settings)
                if warning:
                    complain(warning)
                tell(f"The house is open: {url}   (Ctrl-C stops it)")
                if not quiet:
                    house.rooms.events.on_lines = show
                watching = asyncio.ensure_future(watch_problems(house))
                stack.callback(watching.cancel)

            if workers is None:
                await listen(house, ready=ready, beside=beside, listener=listener)
            else:
                await workers.serve(listener, ready=ready)

    with suppress(KeyboardInterrupt):
        run(main())
    with suppress(BrokenPipeError):  # the output was closed; the house has stopped normally
        tell("Stopped. Start it again to resume.")
    return 0


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


async def first_host_token(house: "House") -> str | None:
    """Create a token for the house host on the first start. Returns None if there already is one."""
    identities = house.identities
    hosts = [i.id for i in identities.everybody() if i.host and identities.of(i.id, None)]
    if any(c.label != TEMPORARY for host in hosts for c in identities.of(host, None)):
        return None
    operator = house.identify(house.operator_token())
    made = await house.call(
        operator, None, "issue_credential", {"name": HOST_NAME, "host": True, "label": "first start"}
    )
    token: str = made.token
    return token


def host_lines(token: str | None, url: str, args: argparse.Namespace) -> list[str]:
    """The lines with the host credential, which is shown only on the first start."""
    if token is None:
        again = f"cohabit token new NAME --host{data_hint(args)}"
        return [f"The host token was shown on the first start. If you lost it, `{again}` creates another one.", ""]
    return [
        paint("bold", "Your host credential (shown once; keep it):"),
        f"  {token}",
        f"  page  {url}/#{token}",
        f"  COHABIT_TOKEN={token} cohabit call create_room scenario=pvp --url {url}",
        "",
    ]


def room_lines(house: "House", beside: "Sequence[SideServer]") -> list[str]:
    if house.node is not None:
        return [*_by_worker(house.node.directory), ""]
    if not house.rooms and not house.broken:
        return [
            "There are no rooms yet. Create one with `create_room`, or use `cohabit up SCENARIO` instead of serve.",
            "",
        ]
    lines = [f"  {room}: {runner.room.state.world}, {len(runner.room.state.members)} members, game "
             f"{runner.room.state.games}{' (quarantined)' if runner.failure else ''}"
             for room, runner in house.rooms.items()]  # fmt: skip
    lines += [f"  {room}: could not be opened: {problem.message}" for room, problem in house.broken.items()]
    for server in beside:
        lines += server.connect_lines(house.rooms.values(), {})
    return ["Rooms:", *lines, ""]


def _by_worker(directory: "Table") -> Iterator[str]:
    nodes, rooms = directory.nodes(), directory.rooms
    yield f"Rooms run in {len(nodes)} workers:"
    for node in nodes:
        yield f"  {node}: {', '.join(sorted(room for room in rooms if rooms[room] == node)) or 'none yet'}"


def log_to_stderr(level: str) -> None:
    levels = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
    if level.lower() not in levels:
        raise BadArgs(f"log_level: {level!r} is not one of {', '.join(levels)}", did_you_mean=["info"])
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("cohabit").setLevel(levels[level.lower()])
