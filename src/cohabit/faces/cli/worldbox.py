"""``cohabit worldbox``: a room around a WorldBox that runs somewhere, so that many can share it."""

import argparse
import os
from typing import TYPE_CHECKING

import msgspec

from cohabit.errors import OutcomeUnknown, Unreachable
from cohabit.faces.cli.options import settings_of, settings_options
from cohabit.faces.cli.running import Greeting, run_house
from cohabit.faces.cli.say import UsageError, clean
from cohabit.faces.cli.up import Plan, open_room, plan_for
from cohabit.scenario import AgentSpec, Scenario

if TYPE_CHECKING:
    from cohabit.house.bridge import Bridge
    from cohabit.house.house import House

WORLD = "worldbox"
BRIDGE = "http://127.0.0.1:8723"


def worldbox_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scenario",
        nargs="?",
        metavar="SCENARIO",
        help="who plays: pvp, coop, hierarchical, sandbox, or a file of yours",
    )
    parser.add_argument(
        "--bridge", metavar="URL", default=BRIDGE, help=f"where the game's bridge is (default {BRIDGE})"
    )
    parser.add_argument(
        "--token", help="the bridge's token; in COHABIT_BRIDGE_TOKEN nobody else on this machine sees it"
    )
    parser.add_argument("--room", help="id of the room (otherwise named after the scenario)")
    parser.add_argument("--quiet", action="store_true", help="do not show what happens in the room")
    settings_options(parser)


def worldbox(args: argparse.Namespace) -> int:
    """Put a room around a running WorldBox (the game, with the bridge mod), and serve it until Ctrl-C.

    The bridge has one token, and who holds it may do everything. Here each agent gets a token of its own,
    with a role, a kingdom, fog, turns, messages and a record. The bridge's token is asked for at each start and
    stored nowhere; it stands in the game's folder, in BepInEx/config/WorldBoxBridge.cfg.

    Without a SCENARIO there is one agent, a god called god.

    Examples:
      COHABIT_BRIDGE_TOKEN=… cohabit worldbox
      COHABIT_BRIDGE_TOKEN=… cohabit worldbox pvp
      cohabit worldbox agents.json --bridge http://192.168.1.20:8723 --token …
    """
    from cohabit.house.bridge import checked_url

    url, token = checked_url(args.bridge), args.token or os.environ.get("COHABIT_BRIDGE_TOKEN")
    if not token:
        raise UsageError("the bridge's token is needed: COHABIT_BRIDGE_TOKEN, or --token (see WorldBoxBridge.cfg)")
    if args.bridge_port is None and not os.environ.get("COHABIT_BRIDGE_PORT"):
        args.bridge_port = 0  # that port is the game's
    plan = plan_of(args.scenario, args.room)

    async def prepare(house: "House") -> Greeting:
        from cohabit.house.bridge import Bridge

        bridge = Bridge(url, token, house.clock)
        house.bridges[plan.room] = bridge
        found = await _first_words(bridge)
        greeting = await open_room(house, plan, args)
        await house.reach(plan.room, bridge)
        return lambda address, port: [clean(found), "", *greeting(address, port)]

    return run_house(settings_of(args), prepare, args.quiet)


def plan_of(wanted: str | None, room: str | None) -> Plan:
    """Who plays, as a scenario says it. What it says about a world, its time and bots is for another game."""
    if wanted is None:
        alone = Scenario(agents=[AgentSpec(id="god", role="god")], scenario="sandbox", world=WORLD)
        return Plan(room or WORLD, alone, "no scenario")
    named = plan_for(wanted)
    players = [msgspec.structs.replace(agent, brain=None, stand_in=None) for agent in named.scenario.agents]
    limit = named.scenario.turn_seconds if named.scenario.turn_based else None  # a round's, where there is no gate
    here = {
        "world": WORLD, "config": {}, "speed": "x1", "ticks_per_turn": 0, "turn_seconds": limit, "agents": players,
    }  # fmt: skip
    return Plan(room or f"{WORLD}-{named.room}", msgspec.structs.replace(named.scenario, **here), named.source)


async def _first_words(bridge: "Bridge") -> str:
    """What the bridge is; a token that it does not take is told before anything is made."""
    try:
        about = await bridge.about()
    except (Unreachable, OutcomeUnknown) as lost:
        return f"WorldBox: {lost.message} It is asked again every few seconds."
    return f"WorldBox answers: {', '.join(f'{k} {v}' for k, v in about.items()) or 'an old bridge, without a version'}"
