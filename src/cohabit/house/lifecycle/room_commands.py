"""The commands that list rooms and worlds, and create, delete and reopen rooms."""

import json
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, CohabitError, PermissionDenied
from cohabit.house.agents.brains import brains_for, check_allowed
from cohabit.house.calls.across import Args, Ask, where_rooms_run
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.calls.resolve import may_join
from cohabit.house.lifecycle import creating
from cohabit.house.lifecycle.thumbnails import may_see
from cohabit.house.store.identities import FOR_A_PERSON
from cohabit.house.threads import run_in_thread
from cohabit.model.grant import Capability
from cohabit.model.identity import Identity, Invite, Kind
from cohabit.model.suggest import nearest
from cohabit.registry import (
    LIBRARIES,
    find_world,
    installed_libraries,
    is_code_source,
    is_library_source,
    is_listed,
    is_ours,
    known_worlds,
    listed_games,
)  # fmt: skip
from cohabit.room.base import WorldInterrupted
from cohabit.room.commands import command, command_of
from cohabit.scenario import (
    MAX_SPECTATOR_DELAY,
    AgentSpec,
    Scenario,
    free_handle,
    give_brain,
    make_person,
    presets,
    read_scenario,
)
from cohabit.world import Pace, World

log = logging.getLogger("cohabit")

C = Capability
T = TypeVar("T")


# -- rooms --------------------------------------------------------------------------------------
class InviteShown(Struct, omit_defaults=True):
    """``shared``: several may accept it, each under a name of its own."""

    kind: Kind
    shared: bool = False
    may: list[str] | None = None


MAX_PLAYERS_LISTED = 16


class PlayerLine(Struct, omit_defaults=True):
    """The player of a seat, in a list of rooms."""

    name: str
    bot: bool = False


class RoomLine(Struct, omit_defaults=True):
    id: str
    world: str
    scenario: str
    members: int
    game: int
    here: int | None = None  # how many members are connected; only for those who may read the roster
    bots: int = 0  # how many are played by the house; likewise
    archived: bool = False
    you: str | None = None
    budget_used_up: bool = False  # nothing more is sent to you from this room: you can only leave
    token_known: bool = False  # the creator of the room knows your token: `join` gives you one of your own
    problem: str | None = None
    invite: InviteShown | None = None  # the one that you hold
    title: str = ""  # of the world
    pace: Pace | Literal[""] = ""
    over: bool = False
    players: list[PlayerLine] = []  # on seats; only for those who may read the roster
    free_seats: int = 0  # likewise
    plays: bool = False  # you have a seat
    has_thumbnail: bool = False  # `thumbnail` shows it to you


class Rooms(Struct):
    rooms: list[RoomLine]


async def _rooms_across(ask: Ask, args: Args) -> Rooms:
    return _sorted(line for part in await ask.everywhere(args) for line in part.rooms)


def _sorted(lines: Iterable[RoomLine]) -> Rooms:
    """By id: the same order wherever the rooms are, and whenever they were opened."""
    return Rooms(sorted(lines, key=lambda line: line.id))


@command(
    category="meta", where="house", about="house", hint="lists the rooms that you are in or may enter.", listed=True,
    across=_rooms_across,
)  # fmt: skip
async def rooms(ctx: HouseContext) -> Rooms:
    """The rooms of this house that you are in or may enter."""
    found: list[RoomLine] = []
    me = ctx.credential
    for runner in ctx.house.rooms.values():
        state = runner.room.state
        if me.room not in (None, state.id):
            continue
        member = runner.room.member_of(me.identity)
        if member is None and not may_join(ctx.house.identities, me, runner):
            continue
        sees_roster = member is not None and C.READ_ROSTER in member.held
        seated = [m for m in state.members.values() if m.seat is not None]
        found.append(
            RoomLine(
                id=state.id, world=state.world, scenario=state.scenario, members=len(state.members), game=state.games,
                here=sum(m.here for m in state.members.values()) if sees_roster else None,
                bots=sum(m.played_by_bot for m in state.members.values()) if sees_roster else 0,
                archived=state.archived, you=member.role_name if member else None,
                budget_used_up=member is not None and runner.egress.of(member).is_used_up,
                token_known=me.label == FOR_A_PERSON and not state.archived and runner.failure is None,
                problem=runner.failure.message if runner.failure else None,
                invite=_shown(ctx.house.identities.invite_of(me)),
                title=runner.room.world.spec.title, pace=runner.room.pace, over=state.over_since is not None,
                players=[PlayerLine(m.handle, m.played_by_bot and not state.hide_brains) for m in seated]
                [:MAX_PLAYERS_LISTED] if sees_roster else [],
                free_seats=max(len(state.seats) - len(seated), 0) if sees_roster else 0,
                plays=member is not None and member.seat is not None,
                has_thumbnail=runner.room.is_played and may_see(ctx.house, me, runner, member),
            )
        )  # fmt: skip
    if ctx.is_host:
        found += [
            RoomLine(id=name, world="?", scenario="?", members=0, game=0, problem=error.message)
            for name, error in ctx.house.rooms.broken.items()
        ]
    return _sorted(found)


def _shown(invite: Invite | None) -> InviteShown | None:
    if invite is None:
        return None
    return InviteShown(invite.kind, invite.shared, None if invite.may is None else list(invite.may))


ROOMS = command_of(rooms)


class WorldLine(Struct, omit_defaults=True):
    name: str
    title: str
    description: str
    players: tuple[int, int]  # the minimum and the maximum number
    takes_seed: bool  # true if a host may choose the seed of a room
    brains: list[str] = []  # those that can play it; only for hosts of the house, who may create rooms


class LibraryLine(Struct):
    name: str
    description: str


class Worlds(Struct):
    worlds: list[WorldLine]
    scenarios: list[str]
    libraries: list[LibraryLine]  # their games: `worlds` with `library`


@command(category="discovery", where="house", about="house", listed=True, across=where_rooms_run)
async def worlds(
    ctx: HouseContext,
    library: Annotated[str | None, Meta(description="list the games of this library instead")] = None,
) -> Worlds:
    """The worlds this house can open, its ready-made scenarios, and the libraries of games that it has."""
    libraries = [LibraryLine(name, LIBRARIES[name].about) for name in installed_libraries()]
    if library is not None:
        _check_known("library", library, [each.name for each in libraries])
        return Worlds(await _games_of(ctx, library), [], libraries)
    lines = []
    for name in known_worlds():
        try:
            cls = await _load_world(ctx.house, name)
        except CohabitError as wrong:  # a broken world of an installed package does not hide the others
            log.warning("the world %s could not be loaded: %s", name, wrong.as_text())
            continue
        about = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
        spec, brains = cls.spec, brains_for(name, ctx.house.settings) if ctx.is_host else []
        lines.append(WorldLine(name, spec.title or name, about, spec.seat_range, spec.open_information, brains))
    return Worlds(lines, list(presets()), libraries)


async def _games_of(ctx: HouseContext, library: str) -> list[WorldLine]:
    games = await _loaded(ctx.house, f"the library {library}", partial(listed_games, library))
    brains = brains_for(library, ctx.house.settings) if ctx.is_host else []
    return [
        WorldLine(name, game.title, game.about, game.seats, not game.hidden, brains) for name, game in games.items()
    ]


class RoomMade(Struct):
    room: str
    tokens: dict[str, str]


async def _create_across(ask: Ask, args: Args) -> RoomMade:
    made: RoomMade = await ask.at(ask.directory.place(), args)
    return made


@command(
    category="host", where="house", about="house", host_only=True, records=True, listed=True, across=_create_across
)
async def create_room(
    ctx: HouseContext,
    scenario: Annotated[str | None, Meta(description="the name of a ready-made scenario")] = None,
    world: Annotated[str | None, Meta(description="a world name; each of `players` gets a seat")] = None,
    players: Annotated[list[str], Meta(max_length=64, description="names of the players")] = [],  # noqa: B006 - never changed
    people: Annotated[
        list[str], Meta(max_length=64, description="those of `players` who are people; the others are agents")
    ] = [],  # noqa: B006 - never changed
    brains: Annotated[
        dict[str, str], Meta(max_length=64, description="the name of a player to the brain that plays for it")
    ] = {},  # noqa: B006 - never changed
    room: Annotated[str | None, Meta(description="an id for the room; default: generated")] = None,
    seed: int | str | None = None,
    spectator_delay: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_SPECTATOR_DELAY)] | None,
        Meta(description="members who only watch see everything, this many steps later; it cannot be changed"),
    ] = None,
) -> RoomMade:
    """Create a room with you as its host. Returns a token for each member. They are shown only once."""
    me = ctx.identity
    assert me is not None
    if (scenario is None) == (world is None):
        raise BadArgs("pass either scenario or world, not both")
    if scenario is not None:
        _check_known("scenario", scenario, list(presets()))
        plan = read_scenario(scenario)
    else:
        assert world is not None
        await _check_listed(ctx.house, world)
        fewest = (await _load_world(ctx.house, world)).spec.seat_range[0]
        if fewest and not players:  # without players the game could never begin
            raise BadArgs(
                f"{world} needs {fewest} player{'' if fewest == 1 else 's'}: pass their names, "
                f"such as players={json.dumps(['ada', 'bob', 'cleo', 'dan'][:fewest])}"
            )
        plan = Scenario(
            scenario=world,
            world=world,
            agents=[AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(players)],
        )
    if seed is not None and not await _is_open(ctx.house, plan.world):
        raise PermissionDenied(
            "the seed of this world reveals hidden information, so a host cannot choose it; the operator of the house "
            "can, with `cohabit up --seed`"
        )
    for name in people:
        make_person(plan, name)
    for name, brain in brains.items():
        give_brain(plan, name, check_allowed(brain, ctx.house.settings) or brain)
    if spectator_delay is not None:
        plan.spectator_delay = spectator_delay
    _add_owner(plan, me)
    return RoomMade(*await creating.create_room(ctx.house, plan, room, seed, me))


def _add_owner(plan: Scenario, me: Identity) -> None:
    """The creator is a host of the room. It takes the place of the host that a scenario has for a person."""
    plan.agents = [a for a in plan.agents if a.role != "host" or a.identity or a.brain or a.stand_in or a.claim]
    taken = {agent.id for agent in plan.agents}
    handle = free_handle(me.name, lambda name: name in taken)
    plan.agents.append(AgentSpec(id=handle, role="host", kind="human", identity=me.id, name=me.name))


def _check_known(what: str, name: str, known: list[str]) -> None:
    if name not in known:
        text = f"unknown {what} {name[:40]!r}; {what}s: {', '.join(known)}"
        raise BadArgs(text, did_you_mean=nearest(name, known, 2))


async def _is_open(house: Services, world: str) -> bool:
    """True if every seat of this world sees everything."""
    return not is_code_source(world) and (await _load_world(house, world)).spec.open_information


async def _load_world(house: Services, world: str) -> type[World]:
    """The class of a world. Its module may have to be imported, which runs its code."""
    if is_ours(world):
        return find_world(world)
    return await _loaded(house, f"the world {world}", partial(find_world, world))


async def _loaded(house: Services, what: str, load: Callable[[], T]) -> T:
    """The result of ``load``, on a thread and with a limit of time: it imports code that is not ours."""

    def guarded() -> T:
        try:
            return load()
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:  # also SystemExit: a world must not end the house
            raise BadArgs(f"{what} cannot be imported: {type(bug).__name__}: {bug}") from bug

    return await run_in_thread(what, guarded, house.rooms.loading_s)


async def _check_listed(house: Services, world: str) -> None:
    """Refuse a world that is not listed: a host of the house names no code, and no size, of its own choice."""
    if not await _loaded(house, f"the world {world[:40]}", partial(is_listed, world)):
        if is_library_source(world):
            raise BadArgs(f"{world[:80]!r} is not in the list of that library; `worlds` with `library` shows it")
        _check_known("world", world, list(known_worlds()))


class RoomGone(Struct):
    deleted: str


@command(category="control", where="house", needs=C.CONTROL_WORLD, records=True, any_turn=True, when_archived=True)
async def delete_room(
    ctx: HouseContext, confirm: Annotated[str, Meta(description="the room's id, to confirm")]
) -> RoomGone:
    """Delete this room and its record. This cannot be undone; `archive` keeps the record."""
    if confirm != ctx.room.id:
        raise BadArgs(f"confirm must be the room's id, {ctx.room.id!r}")
    await ctx.house.rooms.delete(ctx.room.id)
    return RoomGone(confirm)


class Reopened(Struct):
    room: str


@command(
    category="control", where="house", needs=C.CONTROL_WORLD, records=True, any_turn=True, when_archived=True,
    when_broken=True, offered_in=lambda runner, member: runner.failure is not None,
)  # fmt: skip
async def reopen_room(ctx: HouseContext) -> Reopened:
    """Reopen a quarantined room from its last durable state."""
    room = ctx.broken_room or ctx.room.id
    await ctx.house.rooms.reopen_anywhere(room)
    return Reopened(room)
