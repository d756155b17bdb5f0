"""``cohabit up``: open a room from a scenario, serve it, and print how to connect clients."""

import argparse
import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cohabit.agents.brain import label_of, parse_brain
from cohabit.agents.isolated import made_once
from cohabit.agents.secrets import in_public
from cohabit.errors import BadArgs, CohabitError, Quarantined
from cohabit.faces.cli.options import data_hint, settings_of, settings_options
from cohabit.faces.cli.running import Greeting, first_host_token, host_lines, run_house
from cohabit.faces.cli.say import UsageError, clean, paint, table
from cohabit.features.visits.state import VISITS
from cohabit.house.settings import Settings
from cohabit.model.grant import ROLES, Capability
from cohabit.model.suggest import nearest
from cohabit.registry import (
    absolute_brain,
    find_world,
    is_file_source,
    is_library_source,
    is_script,
    known_worlds,
)  # fmt: skip
from cohabit.scenario import AgentSpec, Scenario, check_handle, give_brain, make_person, presets, read_scenario
from cohabit.world import World, WorldSpec

if TYPE_CHECKING:
    from cohabit.faces.serve import SideServer
    from cohabit.house.house import House

AGENTS_FILE = "agents.json"
DEFAULT_SCENARIO = "default"
MODEL, MODEL_ROOM, MODEL_REMATCH_SECONDS = "local?reasoning=true&max_tokens=96", "model", 30
"""The room of --model-room. The pause between two games leaves the processor to others."""
BOTS_REMATCH_SECONDS = 15
"""Games between built-in players are short. The next one follows, so that a visitor has something to see."""


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


async def open_room(house: "House", plan: "Plan", args: argparse.Namespace) -> Greeting:
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
            *(line for other, found in others for line in _short_line(other, found, url, args)),
            *(model_room(url) if model_room is not None else ()),
        ]
    return lambda url, beside: [
        *_greeting(house, plan, tokens, new, url, beside, args, token),
        *_further_lines(house, others, url),
        *(model_room(url) if model_room is not None else ()),
    ]


async def _opened(house: "House", plan: "Plan") -> dict[str, str]:
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


def _further_lines(house: "House", others: "Sequence[tuple[Plan, dict[str, str]]]", url: str) -> Iterator[str]:
    for plan, tokens in others:
        room = house.rooms[plan.room].room
        title = room.world.spec.title or room.state.world
        where = " (open to the Nexus)" if VISITS.read(room.state).nexus is not None else ""
        yield paint("bold", f"Room {plan.room}: {title}{where}")
        for who, token in tokens.items():
            yield f"  {clean(who):<12} {page_link(url, plan.room, token)}"
        if not tokens:
            yield f"  its links were shown when it was created; `cohabit links {plan.room}` makes a new one"
        yield ""


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
            yield _labelled("Watch a model play", page_link(url, MODEL_ROOM, tokens["spectator"]))
        else:
            again = f"`cohabit links {MODEL_ROOM} --renew spectator` makes a link"
            yield f"A model plays in the room {MODEL_ROOM}; {again}."

    return lines


def missing_for(brain: str) -> str | None:
    """What has to be installed or set before this brain can play; None if nothing."""
    try:
        made_once(brain)
    except CohabitError as wrong:
        return wrong.message
    return None


def _check_players(house: "House", plan: "Plan", args: argparse.Namespace) -> None:
    """A room that exists keeps its agents: say so, instead of ignoring other ones."""
    members = house.rooms[plan.room].room.state
    for name, brain in _players_of(args):
        member = members.with_handle(name)
        if member is None or member.stand_in != absolute_brain(brain, Path()):
            raise BadArgs(
                f"room {plan.room} exists already, with other players; open another one with --room NAME, or leave out "
                "--player"
            )


# -- which room ---------------------------------------------------------------------------------
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
    given = _players_of(args)
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


def _players_of(args: argparse.Namespace) -> list[tuple[str, str]]:
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
    """Whether agents of the house play every seat, so that a game may be over before anybody connects.

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
        return Plan(room or _slug(scenario.scenario), scenario, wanted)
    if wanted not in presets() and not Path(wanted).is_file():
        known = list(dict.fromkeys([*presets(), *known_worlds()]))
        raise BadArgs(
            f"no scenario or world {wanted!r}; give a file, or one of {', '.join(known)}",
            did_you_mean=nearest(wanted, known, 2),
        )
    if players:
        raise UsageError("--players needs a world without a scenario; a scenario has its own players")
    return Plan(room or _slug(Path(wanted).stem), read_scenario(wanted), wanted)


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


def _is_world(source: str) -> bool:
    by_name = not Path(source).is_file() and (source in known_worlds() or is_library_source(source))
    return is_file_source(source) or by_name


def _of_this_folder(settings: Settings, room: str | None) -> Plan:
    """``agents.json`` if there is one, else the default scenario. A broken ``agents.json`` is an error."""
    for path in (Path(AGENTS_FILE), settings.folder / AGENTS_FILE):
        if path.exists():
            return Plan(room or _slug(path.stem), read_scenario(str(path)), str(path))
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


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "room"


# -- what is shown ------------------------------------------------------------------------------
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


def _greeting(
    house: "House",
    plan: Plan,
    tokens: dict[str, str],
    new: bool,
    url: str,
    beside: "Sequence[SideServer]",
    args: argparse.Namespace,
    host_token: str | None = None,
) -> Iterator[str]:
    runner = house.rooms[plan.room]
    state = runner.room.state
    members = list(state.members.values())
    begun = "new" if new else f"resumed, game {state.games}"
    if runner.failure is not None:
        begun += ", quarantined"
    yield paint("bold", f"Room {plan.room}: {state.world}, scenario {state.scenario} ({begun})")
    yield ""
    rows = [
        (
            m.handle,
            m.role_name,
            m.seat or "-",
            label_of(m.stand_in) if m.played_by_bot and m.stand_in else "-",
            tokens.get(m.handle, "-"),
        )
        for m in members
    ]
    yield table(("member", "role", "seat", "played by", "token"), rows)
    yield ""
    if tokens:
        seated = [m for m in members if m.seat is not None]
        by_people = [m.handle for m in seated if not m.played_by_bot]
        mcp_room = None if plan.scenario.house_tokens else plan.room
        yield from _connect_lines(url, plan.room, mcp_room, tokens, [m.handle for m in seated], by_people)
    for server in beside:
        yield from server.connect_lines([runner], tokens)
    missing = [m.handle for m in members if m.handle not in tokens]
    if missing:
        yield "Tokens are shown only once, when a room is created. To replace a lost one:"
        yield f"  cohabit token rotate {shlex.quote(clean(missing[0]))} --room {plan.room}{data_hint(args)}"
        yield ""
    elif new:
        yield "These tokens are shown only once; keep them."
        yield ""
    if not any(Capability.MANAGE_MEMBERS in ROLES[m.role_name] for m in members):
        yield from host_lines(host_token, url, args)


async def watch_link_of(house: "House", plan: Plan, tokens: dict[str, str]) -> str | None:
    """The token of the link to watch a new room with: of a member that sees everything and plays no seat, else one that
    shows what is public. None: the room has nobody who can make it."""
    members = house.rooms[plan.room].room.state.members.values()
    found = [m.handle for m in members if m.handle in tokens and m.claim is None and not m.stand_in]
    held = {m.handle: m.held for m in members}
    for who in found:
        if Capability.READ_ALL in held[who] and Capability.ACT not in held[who]:
            return tokens[who]
    from cohabit.house.access.watch_links import watch_link
    from cohabit.house.calls.resolve import resolve

    for who in found:
        if Capability.MANAGE_MEMBERS in held[who]:
            # Not as a call: it would show the host as connected.
            caller = resolve(house.services, house.identify(tokens[who]), plan.room, "watch_link")
            return (await watch_link(caller)).token
    return None


def short_greeting(
    house: "House", plan: Plan, tokens: dict[str, str], watching: str | None, url: str, args: argparse.Namespace,
    host_token: str | None,
) -> Iterator[str]:  # fmt: skip
    """How to watch, to play, to host and to connect an agent: at most a line for each."""
    runner, room = house.rooms[plan.room], plan.room
    members = list(runner.room.state.members.values())
    if watching is not None:
        yield _labelled("Watch here", page_link(url, room, watching))
    seated = [m for m in members if m.handle in tokens and m.claim is not None]
    player = min(seated, key=lambda m: m.played_by_bot, default=None)
    if player is not None:
        yield _labelled(f"Play as {clean(player.handle)}", page_link(url, room, tokens[player.handle]))
    host = next((m for m in members if m.handle in tokens and Capability.MANAGE_MEMBERS in m.held), None)
    if host is not None:
        yield _labelled("Host it", page_link(url, room, tokens[host.handle]))
    elif host_token is not None:
        yield _labelled("Host the house", f"{url}/#{host_token}")
    if player is not None:
        mcp_room = None if plan.scenario.house_tokens else room
        yield _labelled("An MCP client", claude_line(url, mcp_room, player.handle, tokens[player.handle]))
    state = runner.room.state
    begun = "quarantined" if runner.failure is not None else "new" if tokens else f"resumed, game {state.games}"
    shown = "The links are shown once" if tokens else "Its links were shown when it was created"
    new = f"cohabit links {room} --renew NAME{data_hint(args)}"
    yield f"Room {room}: {clean(state.world)}, scenario {clean(state.scenario)} ({begun}). {shown}; `{new}` makes one."


def _labelled(what: str, said: str) -> str:
    return f"{paint('bold', f'{what}:'.ljust(19))} {said}"


def _short_line(plan: Plan, tokens: dict[str, str], url: str, args: argparse.Namespace) -> Iterator[str]:
    if tokens:
        yield _labelled(f"Room {plan.room}", page_link(url, plan.room, next(iter(tokens.values()))))
    else:
        yield _labelled(f"Room {plan.room}", f"`cohabit links {plan.room} --renew NAME{data_hint(args)}` makes a link")


def _connect_lines(
    url: str, room: str, mcp_room: str | None, tokens: dict[str, str], seated: list[str], by_people: list[str]
) -> Iterator[str]:
    """Links for all members, MCP configuration for the players; the rest for the first seat that no agent plays.

    ``mcp_room``: the only room of an MCP connection; None: it reaches all of them, because members travel."""
    yield paint("bold", "Web page, as")
    for who, token in tokens.items():
        yield f"  {clean(who):<12} {page_link(url, room, token)}"
    yield ""
    players = [who for who in seated if who in tokens] or list(tokens)
    yield paint("bold", "MCP clients, as")
    for who in players:
        yield f"  {clean(who):<12} {claude_line(url, mcp_room, who, tokens[who])}"
    first = next((who for who in players if who in by_people), players[0])
    yield f"Cursor and others (mcp.json), as {clean(first)}:"
    yield f"  {json_snippet(url, mcp_room, first, tokens[first])}"
    yield f"Clients that launch a subprocess, as {clean(first)}:"
    named = f" --room {mcp_room}" if mcp_room is not None else ""
    yield f"  COHABIT_TOKEN={tokens[first]} cohabit mcp --url {url}{named}"
    yield "In another terminal:"
    yield f"  cohabit play '{page_link(url, room, tokens[first])}'"
    yield ""


def page_link(url: str, room: str, token: str) -> str:
    """A link to the page for one member. Browsers do not send the part after the #."""
    return f"{url}/?room={room}#{token}"


def claude_line(url: str, room: str | None, who: str, token: str) -> str:
    """A shell command that adds the room, or all rooms of the token, to Claude Code."""
    return (
        f"claude mcp add cohabit-{_slug(who)} --transport http {_mcp_url(url, room)} "
        f'--header "Authorization: Bearer {token}"'
    )


def _mcp_url(url: str, room: str | None) -> str:
    return f"{url}/mcp/{room}" if room is not None else f"{url}/mcp"


def json_snippet(url: str, room: str | None, who: str, token: str) -> str:
    """The same for clients with an ``mcp.json``."""
    server = {"url": _mcp_url(url, room), "headers": {"Authorization": f"Bearer {token}"}}
    return json.dumps({"mcpServers": {f"cohabit-{_slug(who)}": server}})
