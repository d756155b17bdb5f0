"""Commands that describe the caller, the room and the rules: whoami, session_info, roster, rules."""

from typing import Any

from msgspec import Struct

from cohabit.agents.brain import label_of
from cohabit.model.action import ActionSpace
from cohabit.model.grant import ACT, Capability
from cohabit.model.timestamps import utc
from cohabit.room.access.grants import grant_wire
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Command, Resource, command
from cohabit.room.decide import by_grant, known_now, offers
from cohabit.room.play.seats import can_sit
from cohabit.room.play.turn_order import ends_turns
from cohabit.room.seeing.looking import watch_only
from cohabit.room.state import HIDDEN_BRAIN, Member, RoomState, handle_of
from cohabit.room.timers import next_game_begins, seconds_until, turn_ends
from cohabit.world import World

C = Capability
OPTIONAL = "? marks what can be left out"


class WhoAmI(Struct, omit_defaults=True):
    handle: str
    role: str
    kind: str
    room: str
    world: str
    scenario: str
    partial_intel: bool
    grant: dict[str, Any]
    your_turn: bool
    takes_turns: bool  # False: it may act at any time
    name: str = ""
    seat: str | None = None
    claim: str | None = None
    team: str | None = None
    stand_in: str | None = None  # the agent that can play for you
    played_by: str | None = None  # the agent that plays for you now
    note: str = ""
    notice: str = ""  # who can see what you see


@command(category="meta")
def whoami(ctx: Context) -> WhoAmI:
    """Your identity in this room: role, seat, and what your grant lets you see and do."""
    me, state = ctx.member, ctx.state
    return WhoAmI(
        handle=me.handle,
        role=me.role_name,
        kind=me.kind,
        room=state.id,
        world=state.world,
        scenario=state.scenario,
        partial_intel=state.partial_intel,
        grant=grant_wire(me),
        your_turn=ctx.room.is_turn_of(me),
        takes_turns=me.seat is not None or me.claim is not None or (state.step_ticks > 0 and me in ctx.room.awaited()),
        name=me.name,
        seat=me.seat,
        claim=me.claim,
        team=me.team,
        stand_in=brain_shown(state, me, me),
        played_by=brain_shown(state, me, me) if me.played_by_bot else None,
        note=watch_only(ctx.room, me),
        notice=ctx.room.notice,
    )


class RosterLine(Struct, omit_defaults=True):
    handle: str
    role: str
    kind: str
    here: bool
    name: str = ""
    seat: str | None = None
    team: str | None = None
    played_by: str | None = None
    backend: str | None = None
    egress: bool = False  # it sends what it sees outside the house, by its own account
    features: list[str] = []  # features its client claims to support; advisory
    sees_all: bool = False  # it sees everything, in a world that hides things
    acts: list[C] = []  # what it may do besides watching, of an agent that is not built in


class SessionInfo(Struct, omit_defaults=True):
    room: str
    world: str
    scenario: str
    partial_intel: bool
    turn_based: bool
    ends_turns: bool  # members end their turns with turn_advance
    member_count: int
    members: list[RosterLine]
    seats: list[str]
    to_move: list[str]
    over: bool
    turn_order: list[str] | None = None
    current_turn: str | None = None
    turn_seconds: int | None = None  # the time limit of a turn, a round or a step
    turn_ends_utc: str | None = None
    turn_seconds_left: int | None = None  # until the time limit of the turn, round or step ends
    next_game_seconds: int | None = None  # until the next game begins by itself
    paused: bool = False
    speed: str | None = None
    tick: int = 0
    game: int = 1
    front_end: bool = False  # the world has a document that shows it to people
    is_played: bool = True  # False: the world has no seats; members talk, or share an app
    archived: bool = False
    notice: str = ""  # who can see what players see


@command(category="meta")
def session_info(ctx: Context) -> SessionInfo:
    """This room: its world, its members and seats, and whose turn it is."""
    state, over = ctx.state, ctx.room.is_over()
    holder = state.turn_holder
    ends, again = None if over else turn_ends(state), next_game_begins(state)
    return SessionInfo(
        room=state.id,
        world=state.world,
        scenario=state.scenario,
        partial_intel=state.partial_intel,
        turn_based=ctx.room.has_turns,
        ends_turns=ends_turns(state),
        member_count=len(state.members),
        members=roster_of(ctx.room, ctx.member) if C.READ_ROSTER in ctx.member.held else [],
        seats=[s.id for s in state.seats],
        to_move=ctx.room.movers(),
        over=over,
        turn_order=[handle_of(member) for member in state.turn_order] if holder is not None else None,
        current_turn=handle_of(holder) if holder is not None else None,
        turn_seconds=state.turn_ms // 1000 if state.turn_ms is not None else None,
        turn_ends_utc=utc(ends) if ends is not None else None,
        turn_seconds_left=seconds_until(ends, ctx.at) if ends is not None else None,
        next_game_seconds=seconds_until(again, ctx.at) if again is not None else None,
        paused=state.paused,
        speed=state.speed if ctx.room.pace == "clock" else None,
        tick=state.tick,
        game=state.games,
        front_end=ctx.room.world.spec.has_front_end,
        is_played=ctx.room.world.spec.seat_range[1] > 0,
        archived=state.archived,
        notice=ctx.room.notice,
    )


def roster_of(room: BaseRoom, reader: Member) -> list[RosterLine]:
    state, hides = room.state, room.world.spec.hides(room.state.partial_intel)
    return [
        RosterLine(
            m.handle, m.role_name, m.kind, m.here, m.name, m.seat, m.team,
            brain_shown(state, m, reader) if m.played_by_bot else None, m.backend, m.egress, m.features,
            hides and C.READ_ALL in m.held,
            [c for c in ACT if c in m.held] if m.kind == "agent" and not m.played_by_bot else [],
        )
        for m in state.members.values()
    ]  # fmt: skip


def brain_shown(state: RoomState, member: Member, reader: Member) -> str | None:
    """The name of the brain that plays, or can play, the seat of a member, as far as a reader may know it."""
    if member.stand_in is None:
        return None
    hidden = state.hide_brains and C.READ_ALL not in reader.held
    return HIDDEN_BRAIN if hidden else label_of(member.stand_in)


class Roster(Struct):
    members: list[RosterLine]


@command(
    category="read",
    needs=C.READ_ROSTER,
    resource=Resource(
        "roster", "Roster", "The members of the room", topics=frozenset({"roster"}), items="members", item_key="handle"
    ),
)
def roster(ctx: Context) -> Roster:
    """The members of this room: role, seat, presence, and the bot that plays for them, if any."""
    return Roster(roster_of(ctx.room, ctx.member))


class Rules(Struct):
    world: str
    title: str
    description: str
    actions: str
    action_space: ActionSpace
    your_commands: list[str]
    text: str  # all of the above as readable text
    view_schema: dict[str, Any] | None = None


@command(
    category="meta",
    resource=Resource(
        "rules", "Rules", "What the world is about, and its actions", topics=frozenset({"rights"}), text="text"
    ),
    hint="explains the world, and lists its actions and your other commands with their parameters.",
    listed=True,
    sends="lists",
)
def rules(ctx: Context) -> Rules:
    """Describe this world, its actions, and the commands you may use."""
    world, as_called = ctx.room.world, ctx.room.tools.in_text
    title, description = about_world(world)
    description = as_called(description)
    mine = [c for c in allowed_commands(ctx.room, ctx.member) if offers(ctx.room, ctx.member, c)]
    space = ActionSpace([c.as_action(c.tool_name) for c in mine if c.is_action and c.for_model], world.spec.examples)
    actions = as_called(space.to_text())
    others = ", ".join(in_short(c) for c in mine if c.for_model and not c.is_action)
    parts = [
        to_players(ctx.room, ctx.member)
        + (description if description.startswith(title) else f"{title}\n{description}"),
        f"Actions:\n{actions or _no_actions(ctx.room, ctx.member)}",
        f"Your other commands; over MCP, call those that are not tools of yours with `act` ({OPTIONAL}): {others}",
        later_text(ctx.room, ctx.member),
        ctx.room.notice,
    ]
    return Rules(
        world=world.spec.name,
        title=title,
        description=description,
        actions=actions,
        action_space=space,
        your_commands=[c.tool_name for c in mine],
        text="\n\n".join(part for part in parts if part),
        view_schema=world.view_schema,
    )


def _no_actions(room: BaseRoom, member: Member) -> str:
    """The reason why a member has no actions, and those that it would have."""
    others = [c for c in known_now(room, member) if c.is_action and not by_grant(member, c)]
    needs = " or ".join(others[0].needs) if others else ""
    more = f"With {needs} you could use: {', '.join(map(in_short, others))}" if others else ""
    return "\n".join(filter(None, (watch_only(room, member), more))) or "none"


def allowed_commands(room: BaseRoom, member: Member) -> list[Command]:
    """The commands that a member is allowed to use in this room, also those that are not possible now. Those about the
    whole house are not among them."""
    here = [*room.callable_here, *room.commands_now()]
    found = [c for c in here if c.about != "house" and not c.joins and by_grant(member, c)]
    return sorted(found, key=lambda c: c.where == "house")  # the room's own first


def later_text(room: BaseRoom, member: Member) -> str:
    """The commands of this kind of world that are not possible now. A model reads the rules once, so they name them."""
    later = [c for c in allowed_commands(room, member) if is_of_this_kind(c) and not offers(room, member, c)]
    return f"When they are possible: {', '.join(map(in_short, later))}" if later else ""


def is_of_this_kind(command: Command) -> bool:
    """True if rooms with other kinds of worlds do not have it."""
    return (command.only_if is not None or command.is_action) and command.for_model


def in_short(command: Command) -> str:
    return command.as_action(command.tool_name).in_short()


def to_players(room: BaseRoom, member: Member | None) -> str:
    """A line before the description of a world, which speaks to its players, for a member who is none of them."""
    is_player = member is None or member.seat is not None or can_sit(room, member)
    return "" if is_player or not room.is_played else "What its players are told:\n"


def about_world(world: World) -> tuple[str, str]:
    """The title of a world, and what it is about."""
    return world.spec.title or world.spec.name, world.describe()
