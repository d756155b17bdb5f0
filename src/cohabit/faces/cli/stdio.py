"""``cohabit mcp``: MCP on stdin and stdout, connected to a house or with an embedded one."""

import argparse
import asyncio
import os
from typing import TYPE_CHECKING

from cohabit.errors import UnknownAsset
from cohabit.faces.cli.options import place_of, place_options, token_of_environment
from cohabit.house.settings import load_settings

if TYPE_CHECKING:
    from cohabit.house.house import House


def mcp_options(parser: argparse.ArgumentParser) -> None:
    place_options(parser)
    parser.add_argument("--scenario", help="start an embedded house with this scenario or world")
    parser.add_argument(
        "--as",
        dest="member",
        metavar="MEMBER",
        help="with --scenario: the member you play (default: the first one with a seat)",
    )
    parser.add_argument(
        "--profile",
        choices=("default", "full"),
        default="default",
        help="full: list every tool, with output schemas, and add values to results (default: a short list for models)",
    )
    parser.add_argument("--data", help="with --scenario: the data folder (default: store nothing)")


def mcp(args: argparse.Namespace) -> int:
    """Serve MCP on stdin and stdout, for MCP clients that launch a subprocess.

    The token comes from --token or COHABIT_TOKEN. With --scenario, or if there is neither a token nor an
    address, it starts an embedded house and plays in it.

    Examples:
      COHABIT_TOKEN=… cohabit mcp --url http://127.0.0.1:8724 --room pvp
      cohabit mcp --scenario nim --as player-1
      claude mcp add nim -- cohabit mcp --scenario nim
    """
    from cohabit.faces.mcp.stdio import run_stdio

    addressed = args.url or args.token or token_of_environment() or os.environ.get("COHABIT_URL")
    if args.scenario is None and addressed:
        place = place_of(args)
        asyncio.run(run_stdio(place.url, place.token, place.room, profile=args.profile))
    else:
        asyncio.run(_with_a_house_inside(args))
    return 0


async def _with_a_house_inside(args: argparse.Namespace) -> None:
    from cohabit.faces.cli.plans import let_bots_play, plan_for
    from cohabit.faces.mcp.stdio import run_stdio
    from cohabit.house.house import House

    plan = plan_for(args.scenario or "demo", args.room)
    async with House.open(load_settings({"data": args.data})) as house:
        if plan.room not in house.rooms:
            let_bots_play(plan.scenario, args.member)  # nobody else can connect to this house
            await house.create_room(plan.scenario, plan.room)
        token = _credential(house, plan.room, args.member)
        await run_stdio(None, token, plan.room, house, profile=args.profile)


def _credential(house: "House", room: str, wanted: str | None) -> str:
    """A token for this run, for the requested member or the first one that has a seat."""
    state = house.rooms[room].room.state
    member = state.with_handle(wanted) if wanted is not None else None
    if wanted is not None and member is None:
        known = ", ".join(m.handle for m in state.members.values())
        raise UnknownAsset(f"no member of room {room} is called {wanted!r}; its members are {known}")
    if member is None:
        everybody = list(state.members.values())
        member = next((m for m in everybody if m.seat), everybody[0])
    identity = house.identities.get(member.identity)
    assert identity is not None
    return house.identities.temporary(identity, room, house.clock.now())
