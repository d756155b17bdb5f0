"""``cohabit serve``, and running a house in a terminal: it prints its address, then a log of events."""

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, closing, suppress
from typing import TYPE_CHECKING, TypeAlias

from cohabit.errors import BadArgs
from cohabit.faces.cli.operator import operator_file
from cohabit.faces.cli.options import data_hint, settings_of, settings_options
from cohabit.faces.cli.say import complain, paint, tell
from cohabit.faces.cli.showing import log_to_stderr, show, watch_problems
from cohabit.house.directory import HOUSE_RECORD, place_of
from cohabit.house.settings import Settings
from cohabit.house.store.identities import TEMPORARY

if TYPE_CHECKING:
    from cohabit.faces.serve import SideServer
    from cohabit.house.directory import Table
    from cohabit.house.house import House

HOST_NAME = "host"
"""The name of the credential that is created on the first start."""
Greeting: TypeAlias = "Callable[[str, Sequence[SideServer]], Iterable[str]]"
"""Returns the lines to print on startup, given the address and the additional listeners."""


def serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="do not print the events of the rooms")
    settings_options(parser)


def serve(args: argparse.Namespace) -> int:
    """Serve the rooms in a data folder until Ctrl-C.

    On the first start this creates a host token and shows it once. With it you can create rooms and
    enter all of them.

    Examples:
      cohabit serve
      cohabit serve --data ./house --port 9000
      cohabit serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
      COHABIT_PUBLIC_URL=https://play.example.org cohabit serve
      cohabit serve --workers 4
      cohabit serve --store postgresql://cohabit@db/cohabit --houses-address 10.0.0.5:8730
    """

    async def prepare(house: "House") -> Greeting:
        token = await first_host_token(house)
        return lambda url, beside: [*host_lines(token, url, args), *room_lines(house, beside)]

    settings = settings_of(args)
    asks_for_bridge = args.bridge_port is not None or bool(os.environ.get("COHABIT_BRIDGE_PORT"))
    if settings.workers > 1 and settings.bridge_port and asks_for_bridge:
        raise BadArgs(
            "bridge_port: this port is not open in a house with workers; serve the rooms of its clients without "
            "--workers, or use --bridge-port 0 (over HTTP, WebSocket and MCP these rooms work with workers too)"
        )
    return run_house(settings, prepare, args.quiet, may_have_workers=True)


def run_house(
    settings: Settings,
    prepare: "Callable[[House], Awaitable[Greeting]]",
    quiet: bool,
    *,
    may_have_workers: bool = False,
) -> int:
    """Open the house, prepare it, serve it and print its events until it is stopped."""
    from cohabit.faces.addresses import exposure, misnamed
    from cohabit.faces.serve import bind, run, side_servers
    from cohabit.faces.serve import serve as listen
    from cohabit.house.house import House

    log_to_stderr(settings.log_level)

    async def main() -> None:
        # Everything that can be missing or taken comes before `prepare`, which may create a room with new tokens.
        async with AsyncExitStack() as stack:
            listener = stack.enter_context(closing(bind(settings)))
            workers = None
            if may_have_workers and (settings.workers > 1 or settings.houses_address):
                from cohabit.faces.workers.supervisor import open_front

                house, workers = await stack.enter_async_context(open_front(settings, quiet=quiet))
            else:
                if settings.houses_address:
                    raise BadArgs("only `cohabit serve` can be a house of a cluster; leave out houses_address")
                if settings.workers > 1:
                    complain("Only `cohabit serve` has workers: this house is one process.")
                house = await stack.enter_async_context(House.open(settings))
            beside = side_servers(house) if workers is None else []
            for server in beside:
                stack.callback(server.close)
            greeting = await prepare(house)

            def ready(url: str) -> None:
                stack.enter_context(operator_file(house, url, listener.getsockname()[1]))
                with suppress(BrokenPipeError):  # the output was closed; the house keeps running
                    for line in (*greeting(url, beside), f"The house is open: {url}   (Ctrl-C stops it)"):
                        tell(line)
                for warning in filter(None, (exposure(settings), misnamed(settings, url))):
                    complain(warning)
                if not quiet:
                    house.rooms.events.on_durable.append(show)
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


async def first_host_token(house: "House") -> str | None:
    """Create a token for the house host on the first start. Returns None if there already is one. In a cluster, the
    house that leads does it."""
    if not house.ledger.is_here:
        return None
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
    """The lines with the host token, which is shown only on the first start."""
    if token is None:
        again = f"cohabit token new NAME --host{data_hint(args)}"
        return [f"The host token was shown on the first start. If you lost it, `{again}` creates another one.", ""]
    return [
        paint("bold", "Your host token (shown once; keep it):"),
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
    nodes, rooms = [node for node in directory.nodes() if not place_of(node)], directory.rooms
    elsewhere = sum(1 for room, node in rooms.items() if place_of(node) and room != HOUSE_RECORD)
    more = f", and {elsewhere} {'room' if elsewhere == 1 else 'rooms'} in other houses" if elsewhere else ""
    yield f"Rooms run in {len(nodes)} {'worker' if len(nodes) == 1 else 'workers'}{more}:"
    for node in nodes:
        yield f"  {node}: {', '.join(sorted(room for room in rooms if rooms[room] == node)) or 'none yet'}"
