"""``cohabit worldbox``: a room for a WorldBox game that runs on this machine or another one."""

import argparse
import os
from typing import TYPE_CHECKING

import msgspec

from cohabit.errors import OutcomeUnknown, Unreachable
from cohabit.faces.cli.options import settings_of, settings_options
from cohabit.faces.cli.plans import Plan, plan_for
from cohabit.faces.cli.running import Greeting, run_house
from cohabit.faces.cli.say import UsageError, clean
from cohabit.faces.cli.up import open_room
from cohabit.scenario import AgentSpec, Scenario

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.protocols.worldbox.connector import BridgeConnector

WORLD = "worldbox"
DEFAULT_BRIDGE = "http://127.0.0.1:8723"


def worldbox_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scenario", nargs="?", metavar="SCENARIO", help="the members: pvp, coop, hierarchical, sandbox, or a file"
    )
    parser.add_argument(
        "--bridge",
        metavar="URL",
        default=DEFAULT_BRIDGE,
        help=f"address of the game's bridge (default {DEFAULT_BRIDGE})",
    )
    parser.add_argument(
        "--token", help="the bridge's token; set COHABIT_BRIDGE_TOKEN instead to hide it from other users"
    )
    parser.add_argument("--room", help="id of the room (default: named after the scenario)")
    parser.add_argument("--quiet", action="store_true", help="do not print the events of the room")
    settings_options(parser)


def worldbox(args: argparse.Namespace) -> int:
    """Open a room for a running WorldBox (the game, with the bridge mod) and serve it until Ctrl-C.

    The bridge has one token that allows everything. In the room each agent has its own token, with a
    role, a kingdom, fog, turns, messages and a record. The bridge's token is needed at each start and is
    never stored; it is in the game's folder, in BepInEx/config/WorldBoxBridge.cfg.

    Without a SCENARIO there is one agent, a god called god.

    Examples:
      COHABIT_BRIDGE_TOKEN=… cohabit worldbox
      COHABIT_BRIDGE_TOKEN=… cohabit worldbox pvp
      cohabit worldbox agents.json --bridge http://192.168.1.20:8723 --token …
    """
    from cohabit.protocols.worldbox.connector import BridgeConnector, checked_url

    url, token = checked_url(args.bridge), args.token or os.environ.get("COHABIT_BRIDGE_TOKEN")
    if not token:
        raise UsageError(
            "the bridge's token is needed: set COHABIT_BRIDGE_TOKEN or pass --token (see WorldBoxBridge.cfg)"
        )
    if args.bridge_port is None and not os.environ.get("COHABIT_BRIDGE_PORT"):
        args.bridge_port = 0  # the game itself listens on that port
    plan = plan_of(args.scenario, args.room)

    async def prepare(house: "House") -> Greeting:
        connector = BridgeConnector(url, token, house.clock)
        house.rooms.connectors[plan.room] = connector
        found = await _first_contact(connector)
        greeting = await open_room(house, plan, args)
        await house.connect_room(plan.room, connector)
        return lambda address, beside: [clean(found), "", *greeting(address, beside)]

    return run_house(settings_of(args), prepare, args.quiet)


def plan_of(wanted: str | None, room: str | None) -> Plan:
    """The members of a scenario. Its world, time settings and built-in players are dropped."""
    if wanted is None:
        alone = Scenario(agents=[AgentSpec(id="god", role="god")], scenario="sandbox", world=WORLD)
        return Plan(room or WORLD, alone, "no scenario")
    named = plan_for(wanted)
    players = [msgspec.structs.replace(agent, brain=None, stand_in=None) for agent in named.scenario.agents]
    limit = named.scenario.turn_seconds if named.scenario.turn_based else None  # otherwise it limits a round
    changed = {
        "world": WORLD, "config": {}, "speed": "x1", "ticks_per_turn": 0, "step_ticks": 0, "turn_seconds": limit,
        "agents": players,
    }  # fmt: skip
    return Plan(room or f"{WORLD}-{named.room}", msgspec.structs.replace(named.scenario, **changed), named.source)


async def _first_contact(connector: "BridgeConnector") -> str:
    """The versions of the bridge. Raises if it rejects the token, before a room is created."""
    try:
        about = await connector.about()
    except (Unreachable, OutcomeUnknown) as lost:
        return f"WorldBox: {lost.message.rstrip('.')}. The room retries every few seconds."
    versions = ", ".join(f"{name} {version}" for name, version in about.items())
    return f"WorldBox answers: {versions or 'an old bridge that reports no version'}"
