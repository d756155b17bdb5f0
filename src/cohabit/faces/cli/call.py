"""``cohabit call`` and ``cohabit invite``: one command, one reply."""

import argparse
import asyncio
from typing import Any

import msgspec

from cohabit.faces.cli.options import Place, arguments, place_of, place_options
from cohabit.faces.cli.say import tell


def call_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", metavar="COMMAND", help="a command of the room or the house, such as view")
    parser.add_argument(
        "arguments", nargs="*", default=[], metavar="NAME=VALUE", help="its arguments; or one JSON object"
    )
    place_options(parser)
    parser.add_argument("--key", help="an idempotency key: repeated with it, nothing happens twice")


def call(args: argparse.Namespace) -> int:
    """Send one command and print the result as JSON. A refusal is one line on stderr, and exit code 1.

    A value that is JSON is taken as JSON (n=2, may=["watch"]), anything else as text. Text that looks like
    JSON is quoted once more: content='"42"'.

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
    parser.add_argument("name", metavar="NAME", help="the handle for the new member")
    parser.add_argument("--kind", choices=("human", "agent"), default="agent", help="bound to the credential")
    parser.add_argument("--role", help="left out: watch-only for agents, full for people")
    parser.add_argument("--claim", help="the seat: auto:N (the N-th) or id:X")
    parser.add_argument("--team", help="one of the room's teams")
    place_options(parser)


def invite(args: argparse.Namespace) -> int:
    """Invite somebody to a room: prints a token for them, a link to the page and a line for MCP clients.
    They become a member when they first join with it.

    You need the right to manage members: the credential of a host or a god.

    Examples:
      cohabit invite hera --role player --claim auto:2 --room pvp
      cohabit invite grandma --kind human --room demo
    """
    from cohabit.faces.cli.up import claude_line, page_link

    wanted = {"id": args.name, "kind": args.kind, "role": args.role, "claim": args.claim, "team": args.team}
    place = place_of(args)
    made = asyncio.run(ask(place, "invite", {k: v for k, v in wanted.items() if v is not None}))
    room, token = made["room"], made["token"]
    tell(f"{args.name} is invited to room {room} as {made['role']}. The token is shown once:")
    tell(f"  {token}")
    tell(f"  {page_link(place.url, room, token)}")
    tell(f"  {claude_line(place.url, room, args.name, token)}")
    return 0
