"""What the house itself puts on record: nobody can ask for these."""

from base64 import b64decode
from typing import Any

from cohabit.errors import Conflict, RecordCorrupt
from cohabit.room import saves, turns
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.state import Kind, Member
from cohabit.world import Outcome, Seat, Stream


@command(category="meta", records=True)
def open_(ctx: Context, state: dict[str, Any]) -> None:
    """The room opens: the world is set up for its seats, and claims are bound."""
    ctx.state.turn_started = ctx.at
    for member in ctx.state.members.values():
        member.away_since = ctx.at  # nobody has come yet; a stand-in starts to wait
    begin(ctx, ctx.state.seed)


@command(category="meta", records=True)
def opened(ctx: Context, gap: int) -> None:
    """The house is back after ``gap`` ms: clocks that were running did not run meanwhile."""
    state = ctx.state
    state.turn_started += gap
    if state.pause_until is not None:
        state.pause_until += gap
    if state.over_since is not None:
        state.over_since += gap
    for member in state.members.values():
        if member.away_since is not None:
            member.away_since += gap


@command(category="meta", records=True)
def ticks(ctx: Context, n: int) -> None:
    """Time passed."""
    turns.advance(ctx, n)


@command(category="meta", records=True)
def turn_timeout(ctx: Context) -> None:
    """Somebody let the time of a turn run out: the turn goes on without it."""
    state, world = ctx.state, ctx.room.world
    if state.turn_based:
        late = state.turn_order[state.turn_index]
        ctx.tell(f"{late}'s time is up; it is {turns.next_turn(ctx)}'s turn", "turn")
        return
    state.turn_started = ctx.at
    if world.spec.pace == "rounds":
        ctx.tell("time is up for this round", "turn")
        state.waiting_for = []  # this resolves the round; nothing more is due for it
        turns.resolve(ctx)
        return
    for seat_id in list(state.waiting_for):
        seat = next((s for s in state.seats if s.id == seat_id), Seat(seat_id))
        outcome: Outcome = ctx.room.obliged(world.skip, seat)
        ctx.tell(outcome.public or f"{seat.name or seat.id} let its time run out", "turn")
        ctx.told.extend(outcome.told)


@command(category="meta", records=True)
def grant_expired(ctx: Context, member: str) -> None:
    """A grant ran out: what is left is nothing."""
    who = ctx.state.members[member]
    assert who.override is not None
    if who.lent:
        who.override, who.before, who.lent = who.before, None, False
        ctx.tell(f"what was lent to {member} has run out", "roster")
        return
    who.override = type(who.override)(expires_at=who.override.expires_at)
    ctx.tell(f"the grant of {member} has run out", "roster")


@command(category="meta", records=True)
def pause_expired(ctx: Context) -> None:
    """Whoever paused went away: time goes on."""
    state = ctx.state
    ctx.tell(f"{state.paused_by} paused and went away; time goes on", "turn")
    turns.go_on(ctx)


@command(category="meta", records=True)
def presence(ctx: Context, members: list[str], here: bool) -> None:
    """Some came, or went. A player who comes back takes its seat back from the stand-in at once."""
    state = ctx.state
    members = [name for name in members if name in state.members]
    for name in members:
        who = state.members[name]
        who.here = here
        who.away_since = None if here else ctx.at
        if here and who.played_by_bot:
            who.played_by_bot = False
            ctx.tell(f"{name} plays its own seat again", "roster")
        if state.paused and state.paused_by == name:
            state.pause_until = None if here else ctx.at + state.pause_grace_ms
    shown = ", ".join(members[:10]) + (f" and {len(members) - 10} more" if len(members) > 10 else "")
    ctx.tell(f"{shown}: {'here' if here else 'away'}", "roster")


@command(category="meta", records=True)
def admitted(ctx: Context, id: str, kind: Kind, role: str | None = None) -> None:  # noqa: A002 - the wire's name
    """A guest came in: what it may do is what its kind may, or a host of the house."""
    if id in ctx.state.members:
        raise Conflict(f"there is a member called {id!r} already")
    ctx.state.members[id] = Member(id, kind, role, away_since=ctx.at, house=True)
    ctx.tell(f"{id} came in as {ctx.state.members[id].role_name}", "roster")


@command(category="meta", records=True)
def stand_in(ctx: Context, member: str) -> None:
    """A player has been away long enough: its stand-in plays the seat until it is back."""
    who = ctx.state.members[member]
    who.played_by_bot = True
    ctx.tell(f"{who.stand_in} stands in for {member}", "roster")


@command(category="meta", records=True)
def digest(ctx: Context, sha256: str) -> None:
    """What the room's state hashes to here: a replay that differs stops."""
    if ctx.room.digest() != sha256:
        raise RecordCorrupt("the replayed room differs from the one that was recorded")


@command(category="meta", records=True)
def loaded(ctx: Context, by: str, save: str) -> None:
    """Somebody put a saved world in place of the one there was."""
    saves.load(ctx.room.world, b64decode(save))
    ctx.tell(f"{by} loaded a save", "turn")


@command(category="meta", records=True)
def rematch_due(ctx: Context) -> None:
    """The game has been over for a while: the next one begins."""
    begin_again(ctx, next_seed(ctx))
    ctx.tell(f"the next game begins: game {ctx.state.games}", "turn")


def next_seed(ctx: Context) -> int:
    """The seed of a rematch, drawn from the last one."""
    return Stream(ctx.state.seed, "rematch").bits64() >> 1


def begin_again(ctx: Context, seed: int) -> None:
    """Play another game in the same room."""
    ctx.state.games += 1
    begin(ctx, seed)
    ctx.state.turn_started = ctx.at


def begin(ctx: Context, seed: int) -> None:
    """Set the world up from a seed and bind claims."""
    state, room = ctx.state, ctx.room
    state.seed = seed
    state.tick = 0
    state.waiting_for = []
    state.over_since = None
    state.seats_ever = []
    for member in state.members.values():
        if member.claim is not None:
            member.seat = None
    starting = starting_seats(ctx)
    room.obliged(room.world.reset, seed, starting)
    turns.clock_changed(ctx)
    turns.bind(room, room.obliged(room.world.seats_now) or starting)
    state.turn_index = 0


def starting_seats(ctx: Context) -> list[Seat]:
    """As many seats as the world has at most, or as the room's players need."""
    spec = ctx.room.world.spec
    fewest, most = spec.seat_range
    wanted = sum(1 for m in ctx.state.members.values() if m.claim is not None or m.seat is not None)
    count = most if fewest == most else max(fewest, min(most, wanted))
    named = [*spec.seat_names, *(str(i + 1) for i in range(len(spec.seat_names), count))]
    return [Seat(name, name) for name in named[:count]]
