"""``cohabit links`` and ``cohabit rebind``: where the rooms of a data folder are, and where their worlds are."""

import argparse
import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cohabit.errors import UnknownAsset, UnknownRoom
from cohabit.faces.cli.operator import as_operator, house_url
from cohabit.faces.cli.options import data_hint, data_option, need_house, settings_of
from cohabit.faces.cli.say import UsageError, clean, paint, table, tell
from cohabit.model.suggest import nearest

if TYPE_CHECKING:
    from cohabit.client import Client


def links_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", nargs="?", metavar="ROOM", help="one room (default: all of them)")
    parser.add_argument(
        "--renew",
        action="append",
        default=[],
        metavar="MEMBER",
        help="replace the tokens of this member with a new one and print its links; can be repeated",
    )
    data_option(parser)


def links(args: argparse.Namespace) -> int:
    """Show the addresses of the rooms, and which members have a token. Tokens are not stored, so a lost link
    cannot be shown again; --renew makes a new one, and the old one stops working.

    Examples:
      cohabit links
      cohabit links pvp
      cohabit links pvp --renew athena --renew ares
    """
    if args.renew and args.room is None:
        raise UsageError("--renew needs the ROOM of the member")
    for line in asyncio.run(_links(args)):
        tell(line)
    return 0


async def _links(args: argparse.Namespace) -> list[str]:
    settings = settings_of(args)
    async with as_operator(settings) as client:
        url = house_url(settings)
        rooms = [room["id"] for room in (await client.call("rooms"))["rooms"]]
        if args.room is not None and args.room not in rooms:
            raise UnknownRoom(f"no room {args.room!r} in {settings.folder}", did_you_mean=nearest(args.room, rooms, 2))
        if args.renew:
            return [line for member in args.renew for line in await _renewed(client, url, args.room, member)]
        credentials = (await client.call("list_credentials"))["credentials"]
    wanted = [args.room] if args.room is not None else rooms
    if not wanted:
        return ["There are no rooms yet. Create one with `cohabit up SCENARIO`."]
    return [line for room in wanted for line in _room_lines(url, room, credentials, data_hint(args))]


def _room_lines(url: str, room: str, credentials: list[dict[str, Any]], data: str) -> Iterator[str]:
    yield paint("bold", f"Room {room}")
    yield f"  page  {url}/?room={room}"
    yield f"  MCP   {url}/mcp/{room}"
    held = [c for c in credentials if c.get("room") == room and c.get("member") is not None]
    if held:
        states = {c["member"]: c["state"] for c in sorted(held, key=lambda c: bool(c["state"] == "good"))}
        rows = [(clean(member), "valid" if state == "good" else state) for member, state in sorted(states.items())]
        yield ""
        yield table(("member", "token"), rows)
        yield ""
        yield f"A new link for a member: cohabit links {room} --renew {clean(next(iter(states)))}{data}"
    yield ""


async def _renewed(client: "Client", url: str, room: str, member: str) -> list[str]:
    wanted = {"name": member, "room": room}
    try:
        made = await client.call("rotate_credential", wanted)
    except UnknownAsset as unknown:
        if "has no token" not in unknown.message:
            unknown.message += f"; `cohabit links {room}` lists the members who have a token"
            raise
        made = await client.call("issue_credential", wanted)  # all of them were revoked
    return [f"{clean(member)}:", *(f"  {line}" for line in member_links(url, room, member, made["token"])), ""]


def member_links(url: str, room: str, member: str, token: str) -> list[str]:
    """The link to the page and the line for MCP clients of one member."""
    from cohabit.faces.cli.greeting import claude_line, page_link

    return [page_link(url, room, token), claude_line(url, room, member, token)]


# -- rebind -------------------------------------------------------------------------------------
def rebind_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", metavar="ROOM", help="a room in the data folder")
    parser.add_argument("world", metavar="WORLD", help="where the world is now: FILE.py, FILE.py:ClassName, or a name")
    data_option(parser)


def rebind(args: argparse.Namespace) -> int:
    """Tell a room where the file of its world is, after it was moved. It must be the same world: same name, same
    version, and the room is opened with it first. If that fails, nothing is changed. The house must be stopped.

    Examples:
      cohabit rebind den ./games/mygame.py
      cohabit rebind den ./games/mygame.py:MyGame --data ./house
    """
    asyncio.run(_rebind(args))
    tell(f"room {args.room} now loads its world from {clean(args.world)}")
    return 0


async def _rebind(args: argparse.Namespace) -> None:
    from cohabit.house.house import House

    settings = settings_of(args)
    if not settings.store:
        need_house(settings.folder)
    async with House.open(settings, dormant=True) as house:
        await house.rooms.rebind(args.room, args.world)
