"""``cohabit call`` and ``cohabit invite``: send one command, print the reply."""

import argparse
import asyncio
from typing import Any

import msgspec

from cohabit.faces.cli.options import Place, arguments, place_of, place_options
from cohabit.faces.cli.say import tell


def call_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", metavar="COMMAND", help="a room or house command, such as view")
    parser.add_argument(
        "arguments", nargs="*", default=[], metavar="NAME=VALUE", help="the arguments, or one JSON object"
    )
    place_options(parser)
    parser.add_argument("--key", help="idempotency key: a repeated call with the same key is executed once")


def call(args: argparse.Namespace) -> int:
    """Send one command and print the result as JSON. Errors are one line on stderr, with exit code 1.

    Values are parsed as JSON if possible (n=2, may=["watch"]), otherwise taken as text. To pass text that
    looks like JSON, quote it twice: content='"42"'.

    Examples:
      cohabit call rooms
      cohabit call view --room demo
      cohabit call take n=2 --room demo
      cohabit call act '{"action": "take", "params": {"n": 2}}' --room demo
      cohabit call send_message to=ares content='Peace?' --room pvp
      cohabit call create_room scenario=pvp
    """
    answer = asyncio.run(ask(place_of(args), args.command, arguments(args.arguments), args.key))
    tell(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
    return 0


async def ask(place: Place, command: str, args: dict[str, Any], key: str | None = None) -> Any:
    """One call over HTTP."""
    from cohabit.faces.python import connect

    async with connect(place.url, place.token, place.room, transport="http") as me:
        return await me.call(command, args, key=key)


def invite_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("handle", metavar="HANDLE", help="the handle for the new member")
    parser.add_argument(
        "--kind", choices=("human", "agent"), default="agent", help="kind of the new member (default: agent)"
    )
    parser.add_argument("--role", help="role of the new member (default: agent, which is watch-only, or human)")
    parser.add_argument(
        "--may", metavar="A,B", help="exactly these capabilities instead of a role, such as watch,read_chat"
    )
    parser.add_argument("--claim", help="the seat: auto:N (the N-th, counted from 0) or id:X")
    parser.add_argument("--team", help="one of the room's teams")
    parser.add_argument("--name", dest="shown", metavar="TEXT", help="display name (default: the handle)")
    parser.add_argument("--uses", type=int, metavar="N", help="how many members may accept the invite (default: 1)")
    parser.add_argument("--expires", metavar="30d", help="time to accept the invite: 90s, 45m, 12h, 30d, 4w")
    place_options(parser)


def invite(args: argparse.Namespace) -> int:
    """Invite a person or an agent to a room. Prints a code, a link to the web page and a line for MCP clients. The
    code is a token that can do one thing: its holder becomes a member by joining the room.

    You need permission to manage members, for example the credential of a host or a god.

    Examples:
      cohabit invite hera --role player --room demo
      cohabit invite grandma --kind human --name "Grandma" --expires 7d --room demo
      cohabit invite guest --uses 20 --room demo
      cohabit invite owl --may watch,read_chat,send_broadcast --room whist
    """
    from cohabit.faces.cli.greeting import claude_line, page_link
    from cohabit.faces.cli.token import parse_time

    wanted = {
        "id": args.handle,
        "kind": args.kind,
        "role": args.role,
        "may": args.may.split(",") if args.may else None,
        "claim": args.claim,
        "team": args.team,
        "name": args.shown,
        "uses": args.uses,
        "expires_in_s": parse_time(args.expires) if args.expires else None,
    }
    place = place_of(args)
    made = asyncio.run(ask(place, "invite", {k: v for k, v in wanted.items() if v is not None}))
    room, code = made["room"], made["code"]
    granted = f"with {args.may}" if args.may else f"as {made['role']}"
    tell(f"{args.handle} is invited to room {room} {granted}. This is shown once:")
    tell(f"  {code}")
    tell(f"  {page_link(place.url, room, code)}")
    tell(f"  {claude_line(place.url, room, args.handle, code)}")
    return 0
