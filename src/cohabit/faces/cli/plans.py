"""The rooms that the options of a command describe: scenarios, worlds alone, and who plays in them."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cohabit.agents.brain import label_of, parse_brain
from cohabit.agents.isolated import made_once
from cohabit.agents.secrets import in_public
from cohabit.errors import BadArgs, CohabitError
from cohabit.faces.cli.say import UsageError
from cohabit.house.settings import Settings
from cohabit.model.suggest import nearest
from cohabit.registry import find_world, is_file_source, is_library_source, is_script, known_worlds
from cohabit.scenario import AgentSpec, Scenario, check_handle, give_brain, make_person, presets, read_scenario
from cohabit.world import World, WorldSpec

AGENTS_FILE = "agents.json"
DEFAULT_SCENARIO = "default"
BOTS_REMATCH_SECONDS = 15
"""Games between built-in players are short. The next one follows, so that a visitor has something to see."""


class Plan(NamedTuple):
    room: str
    scenario: Scenario
    source: str
    further: "tuple[Plan, ...]" = ()  # rooms that are opened with it


def plan_of(args: argparse.Namespace, settings: Settings) -> Plan:
    """The room that these options describe."""
    if args.demo and args.scenario:
        raise UsageError("give either --demo or a SCENARIO")
    wanted: str | None = "demo" if args.demo else args.scenario
    given = players_of(args)
    people = [name.strip() for name in (getattr(args, "people", None) or "").split(",") if name.strip()]
    players = args.players.split(",") if args.players else []
    if wanted is not None:
        if not players and wanted not in presets() and _is_world(wanted):
            players = people or _named_players(find_world(wanted).spec, [name for name, _ in given])
        plan = plan_for(wanted, args.room, players)
        if args.world:
            put_under(plan.scenario, args.world)
    elif args.world is not None:
        find_world(args.world)
        plan = plan_for(args.world, args.room, players or people)
    else:
        plan = _of_this_folder(settings, args.room)
    for name in people:
        make_person(plan.scenario, name)
    for name, brain in given:
        give_brain(plan.scenario, name, brain)
    all_played = args.bots or _all_played(plan.scenario, by_scripts=not given)
    if plan.scenario.rematch_seconds is None and all_played:
        plan.scenario.rematch_seconds = BOTS_REMATCH_SECONDS
    if args.seed is not None:
        plan.scenario.seed = _seed(args.seed)
    if args.bots:
        for agent in plan.scenario.agents:
            if agent.claim is not None:
                agent.brain = agent.brain or "random"
    _check(plan)
    return plan._replace(further=_further(plan))


def _further(plan: Plan) -> tuple[Plan, ...]:
    """The rooms of the scenarios that a scenario lists."""
    found = tuple(plan_for(name) for name in plan.scenario.rooms)
    for i, other in enumerate(found):
        if other.room in (plan.room, *(earlier.room for earlier in found[:i])):
            raise BadArgs(f"{plan.source}: rooms: {other.source} would be the room {other.room}, too")
        if other.scenario.rooms:
            raise BadArgs(f"{plan.source}: rooms: {other.source} has `rooms` of its own; list them all here")
        _check(other)
    return found


def players_of(args: argparse.Namespace) -> list[tuple[str, str]]:
    """``--player NAME=BRAIN``, as pairs."""
    found: list[tuple[str, str]] = []
    for text in getattr(args, "player", ()):  # other verbs open rooms, too
        name, equals, brain = text.partition("=")
        if not (name and equals and brain):
            raise UsageError(f"--player expects NAME=BRAIN, such as ada=random, not {text!r}")
        if any(name.strip() == other for other, _ in found):
            raise UsageError(f"--player: {name.strip()} is given twice")
        found.append((name.strip(), brain.strip()))
    return found


def _named_players(spec: WorldSpec, names: list[str]) -> list[str]:
    """The players of a world alone: those that were named, on their seats if they are named after seats."""
    seats = list(spec.seat_names)
    if names and set(names) <= set(seats):
        return seats[: max(spec.seat_range[0], *(seats.index(name) + 1 for name in names))]
    fewest = spec.seat_range[0]
    return names + [f"player-{i + 1}" for i in range(len(names), fewest)] if names else []


def _all_played(scenario: Scenario, *, by_scripts: bool) -> bool:
    """True if agents of the house play every seat, so that a game may be over before anybody connects.

    ``by_scripts``: by built-in players only. A rematch of models costs money, so a file has to ask for it.
    """
    brains = [agent.brain for agent in scenario.agents if agent.claim is not None]
    return bool(brains or not by_scripts) and all(
        brain is not None and (not by_scripts or is_script(parse_brain(brain))) for brain in brains
    )


def put_under(scenario: Scenario, world: str) -> None:
    """Use another world for the same members. The old world's config and brains are dropped."""
    bot = random_player(world)
    if scenario.step_ticks and find_world(world).spec.pace != "clock":
        scenario.step_ticks, scenario.turn_seconds = 0, None
    scenario.world, scenario.config, scenario.speed = world, {}, "x1"
    scenario.rooms = []
    for agent in scenario.agents:
        agent.brain = bot if agent.brain and agent.claim is not None else None
        agent.stand_in = bot if agent.stand_in and agent.claim is not None else None


def random_player(world: str) -> str | None:
    """The brain that can play any world that lists its legal actions."""
    return "random" if find_world(world).legal is not World.legal else None


def plan_for(wanted: str, room: str | None = None, players: Sequence[str] = ()) -> Plan:
    """Plan a room from a scenario (name or file), or from a world alone."""
    if wanted not in presets() and _is_world(wanted):
        scenario = world_scenario(wanted, players)
        return Plan(room or slug(scenario.scenario), scenario, wanted)
    if wanted not in presets() and not Path(wanted).is_file():
        known = list(dict.fromkeys([*presets(), *known_worlds()]))
        raise BadArgs(
            f"no scenario or world {wanted!r}; give a file, or one of {', '.join(known)}",
            did_you_mean=nearest(wanted, known, 2),
        )
    if players:
        raise UsageError("--players needs a world without a scenario; a scenario has its own players")
    return Plan(room or slug(Path(wanted).stem), read_scenario(wanted), wanted)


def _check(plan: Plan) -> None:
    """Check that everything a scenario names exists, before anything is created."""
    find_world(plan.scenario.world)
    for agent in plan.scenario.agents:
        for brain in (agent.brain, agent.stand_in):
            if brain is not None:
                try:
                    made_once(brain)
                except CohabitError as wrong:
                    text = f"{plan.source}: {agent.id}: {wrong.message}"
                    raise BadArgs(text, did_you_mean=wrong.did_you_mean) from None
                except Exception as bug:  # of a class in a file
                    what = f"{label_of(brain)} cannot be created: {type(bug).__name__}: {in_public(bug)}"
                    raise BadArgs(f"{plan.source}: {agent.id}: {what}") from None


def missing_for(brain: str) -> str | None:
    """The missing package or setting of this brain, as a message; None if it can play."""
    try:
        made_once(brain)
    except CohabitError as wrong:
        return wrong.message
    return None


def _is_world(source: str) -> bool:
    by_name = not Path(source).is_file() and (source in known_worlds() or is_library_source(source))
    return is_file_source(source) or by_name


def _of_this_folder(settings: Settings, room: str | None) -> Plan:
    """``agents.json`` if there is one, else the default scenario. A broken ``agents.json`` is an error."""
    for path in (Path(AGENTS_FILE), settings.folder / AGENTS_FILE):
        if path.exists():
            return Plan(room or slug(path.stem), read_scenario(str(path)), str(path))
    return plan_for(DEFAULT_SCENARIO, room)


def let_bots_play(scenario: Scenario, member: str | None) -> None:
    """Give every seat a built-in player, except that of ``member`` (default: the first seat)."""
    seated = [agent for agent in scenario.agents if agent.claim is not None]
    mine = member or (seated[0].id if seated else None)
    bot = random_player(scenario.world)
    for agent in seated:
        if agent.id != mine:
            agent.brain = agent.brain or agent.stand_in or bot


def world_scenario(source: str, players: Sequence[str]) -> Scenario:
    """A room for a world alone, with a player for each seat it needs, and a host. No bot plays for them."""
    cls = find_world(source)
    fewest, most = cls.spec.seat_range
    names = [name.strip() for name in players] or [f"player-{i + 1}" for i in range(fewest or min(most, 1))]
    if len(names) > most:
        raise BadArgs(f"{cls.spec.name} has {most} seats, but {len(names)} players were named")
    if len(set(names)) < len(names) or "host" in names:
        raise BadArgs("--players: names must be unique, and `host` is reserved for the host of the room")
    for name in names:
        check_handle(name)
    seated = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(names)]
    host = AgentSpec(id="host", kind="human", role="host")
    return Scenario(agents=[host, *seated], scenario=cls.spec.name, world=source, partial_intel=cls.spec.fog)


def _seed(text: str) -> int | str:
    """Parse a decimal number, or hexadecimal digits after 0x."""
    if text.lower().startswith("0x"):
        return text[2:]
    if not text.isdecimal():
        raise UsageError("--seed must be a whole number, or hexadecimal digits after 0x")
    return int(text)


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "room"
