"""``cohabit up``: open a room from a scenario, serve it, and print how to connect clients."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cohabit.errors import BadArgs, CohabitError, Quarantined
from cohabit.faces.cli.greeting import (
    further_lines,
    greeting,
    labelled,
    page_link,
    short_greeting,
    short_line,
    watch_link_of,
)
from cohabit.faces.cli.options import settings_of, settings_options
from cohabit.faces.cli.plans import Plan, missing_for, plan_of, players_of, world_scenario
from cohabit.faces.cli.running import Greeting, first_host_token, run_house
from cohabit.model.grant import Capability
from cohabit.registry import absolute_brain
from cohabit.scenario import AgentSpec, give_brain

if TYPE_CHECKING:
    from cohabit.house.house import House

MODEL, MODEL_ROOM, MODEL_REMATCH_SECONDS = "local?reasoning=true&max_tokens=96", "model", 30
"""The room of --model-room. The pause between two games leaves the processor to others."""


def up_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scenario", nargs="?", metavar="SCENARIO", help="a scenario by name or file, or a world by name or .py file"
    )
    parser.add_argument("--demo", action="store_true", help="a demo room with built-in players")
    parser.add_argument("--world", help="use this world instead of the scenario's, by name or .py file")
    parser.add_argument("--players", metavar="A,B", help="names of the players, if only a world is given")
    parser.add_argument("--people", metavar="A,B", help="the players who are people; the others are agents")
    parser.add_argument(
        "--player",
        action="append",
        default=[],
        metavar="NAME=BRAIN",
        help="let a brain play for a member: a script, a model such as ollama:qwen3:8b or local, a FILE.py; repeatable",
    )
    parser.add_argument(
        "--bots",
        action="store_true",
        help="built-in players play every seat until its player connects, one game after another",
    )
    parser.add_argument(
        "--model-room",
        action="store_true",
        help="also a room in which the embedded language model plays, if it is installed",
    )
    parser.add_argument("--room", help="id of the room (default: named after the scenario)")
    parser.add_argument("--seed", help="the seed: a number, or hexadecimal digits after 0x (default: random)")
    parser.add_argument(
        "--links", action="store_true", help="print the links and tokens of all members, and lines for MCP clients"
    )
    parser.add_argument("--quiet", action="store_true", help="do not print the events of the rooms")
    settings_options(parser)


def up(args: argparse.Namespace) -> int:
    """Open a room from a scenario and serve it until Ctrl-C.

    Prints a link to watch the room, a link to play and one to host it, and then a log of events; with
    --links, links and tokens of all members. If the room already exists in the data folder, it is
    resumed. Tokens are shown once, when a room is created; `cohabit links ROOM --renew NAME` makes
    another one.

    Without a SCENARIO it uses agents.json in this folder or in the data folder. If there is none, it uses
    the scenario `default`: a sandbox with one god.

    Examples:
      cohabit up --demo
      cohabit up pvp
      cohabit up nexus
      cohabit up pvp --player athena=ollama:qwen3:8b --player ares=warlord
      cohabit up tictactoe --player X=local --player O=random
      cohabit up nim --players athena,ares
      cohabit up ./mygame.py --people ann,ben
      cohabit up ./mygame.py --bots
      cohabit up agents.json --data ./house --port 9000
    """
    settings = settings_of(args)
    plan = plan_of(args, settings)

    async def prepare(house: "House") -> Greeting:
        return await open_room(house, plan, args)

    return run_house(settings, prepare, args.quiet)


async def open_room(house: "House", plan: Plan, args: argparse.Namespace) -> Greeting:
    """Create or resume the room of a plan. Returns the lines to print on startup."""
    before = set(house.rooms)
    new = plan.room not in before
    if not new:
        _check_players(house, plan, args)
    try:
        tokens = await _opened(house, plan)
        others = [(other, await _opened(house, other)) for other in plan.further]
        model_room = await open_model_room(house) if getattr(args, "model_room", False) else None
    except Exception:  # all rooms or none: the tokens of those that were made would never be shown
        for room in set(house.rooms) - before:
            await house.delete_room(room)
        raise
    needs_host = not any(
        Capability.MANAGE_MEMBERS in m.held for m in house.rooms[plan.room].room.state.members.values()
    )
    token = await first_host_token(house) if needs_host else None
    if not getattr(args, "links", True):  # other verbs show all of them
        watching = await watch_link_of(house, plan, tokens)
        return lambda url, beside: [
            *short_greeting(house, plan, tokens, watching, url, args, token),
            *(f"--bridge-port: {s.problem}" for s in beside if s.problem and args.bridge_port is not None),
            *(line for other, found in others for line in short_line(other, found, url, args)),
            *(model_room(url) if model_room is not None else ()),
        ]
    return lambda url, beside: [
        *greeting(house, plan, tokens, new, url, beside, args, token),
        *further_lines(house, others, url),
        *(model_room(url) if model_room is not None else ()),
    ]


async def _opened(house: "House", plan: Plan) -> dict[str, str]:
    """Create or resume a room. Returns the tokens of its members: all if it is new, else those of the scenario."""
    if plan.room in house.broken:
        raise Quarantined(f"room {plan.room} could not be opened: {house.broken[plan.room].message}")
    if plan.room in house.rooms:
        return _known_tokens(house, plan)
    try:
        _, tokens = await house.create_room(plan.scenario, plan.room)
    except CohabitError as wrong:
        wrong.message = f"{plan.source}: {wrong.message}"
        raise
    return tokens


def _known_tokens(house: "House", plan: Plan) -> dict[str, str]:
    """The tokens in the scenario file that are still valid."""
    found: dict[str, str] = {}
    for agent in plan.scenario.agents:
        if agent.token is None:
            continue
        try:
            who = house.identify(agent.token)
        except CohabitError:
            continue
        member = house.rooms[plan.room].room.member_of(who.identity)
        if member is not None and member.handle == agent.id and who.room == plan.room:
            found[agent.id] = agent.token
    return found


async def open_model_room(house: "House") -> "Callable[[str], Iterator[str]]":
    """Open the room in which the embedded model plays. Returns the lines that say where, or how to install it."""
    missing = missing_for(MODEL)
    if missing is not None:
        return lambda url: iter((f"A language model could play here too, but {missing}.",))
    tokens: dict[str, str] = {}
    if MODEL_ROOM not in house.rooms and MODEL_ROOM not in house.broken:
        plan = world_scenario("tictactoe", ["model", "script"])
        give_brain(plan, "model", MODEL)
        give_brain(plan, "script", "random")
        plan.rematch_seconds = MODEL_REMATCH_SECONDS
        plan.agents.append(AgentSpec(id="spectator", kind="human", role="observer"))
        _, tokens = await house.create_room(plan, MODEL_ROOM)

    def lines(url: str) -> Iterator[str]:
        if tokens:
            yield labelled("Watch a model play", page_link(url, MODEL_ROOM, tokens["spectator"]))
        else:
            again = f"`cohabit links {MODEL_ROOM} --renew spectator` makes a link"
            yield f"A model plays in the room {MODEL_ROOM}; {again}."

    return lines


def _check_players(house: "House", plan: Plan, args: argparse.Namespace) -> None:
    """A room that exists keeps its agents: say so, instead of ignoring other ones."""
    members = house.rooms[plan.room].room.state
    for name, brain in players_of(args):
        member = members.with_handle(name)
        if member is None or member.stand_in != absolute_brain(brain, Path()):
            raise BadArgs(
                f"room {plan.room} exists already, with other players; open another one with --room NAME, or leave out "
                "--player"
            )
