"""System entries. Members cannot call these."""

from base64 import b64decode
from typing import Any

from cohabit.agents.brain import label_of
from cohabit.errors import RecordCorrupt
from cohabit.model.grant import Layer, in_order
from cohabit.model.identity import Kind
from cohabit.room import game_time, saves, turns
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.games import begin, begin_again, keep_to_played_seats, next_seed, switch_game
from cohabit.room.members import new_member
from cohabit.room.state import HIDDEN_BRAIN, handle_of
from cohabit.room.visibility import ACCOUNT
from cohabit.scenario import free_handle
from cohabit.world import Outcome, Seat


@command(category="meta", records=True)
def open_(ctx: Context, state: dict[str, Any]) -> None:
    """The room opens: the world is set up for its seats, and claims are bound."""
    ctx.state.turn_started = ctx.at
    for member in ctx.state.members.values():
        member.away_since = ctx.at  # no member is connected yet; start the stand-in timers
        ctx.state.handles_used.setdefault(member.id, 1)
    begin(ctx, ctx.state.seed)


@command(category="meta", records=True)
def opened(ctx: Context, gap: int) -> None:
    """The house is back after ``gap`` ms: shift the timers by the downtime."""
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
def rebound(ctx: Context, source: str) -> None:
    """The file of the world was moved: from now on the room loads it from there."""
    ctx.state.source = source


@command(category="meta", records=True)
def ticks(ctx: Context, n: int) -> None:
    """Time passed."""
    game_time.advance(ctx.room, n, ctx.told)


@command(category="meta", records=True)
def turn_timeout(ctx: Context) -> None:
    """A turn timed out: the game continues without that member."""
    state, world = ctx.state, ctx.room.world
    for member in turns.late(ctx.room):
        member.timeouts += 1
    if state.turn_holder is not None:
        late = handle_of(state.turn_holder)
        ctx.tell(f"{late}'s time is up; it is {turns.next_turn(ctx.room, ctx.at, ctx.told)}'s turn", "turn")
        return
    if state.step_ticks:
        missing = [m.handle for m in turns.late(ctx.room)]
        ctx.tell(f"time is up for this step; {', '.join(missing) or 'nobody'} did not pass", "turn")
        turns.step(ctx.room, ctx.at, ctx.told)
        return
    state.turn_started = ctx.at
    if ctx.room.pace == "rounds":
        ctx.tell("time is up for this round", "turn")
        state.waiting_for = []  # this resolves the round; nothing more is due for it
        turns.resolve(ctx.room, ctx.told)
        return
    for seat_id in list(state.waiting_for):
        seat = next((s for s in state.seats if s.id == seat_id), Seat(seat_id))
        outcome: Outcome = ctx.room.crash_on_error(world.skip, seat)
        ctx.tell(outcome.public or f"{seat.name or seat.id} ran out of time", "turn")
        ctx.told.extend(outcome.told)


@command(category="meta", records=True)
def grant_expired(ctx: Context, member: str) -> None:
    """A layer of a grant has expired: an addition is removed, an expired limit allows nothing."""
    who = ctx.state.members[member]
    due = [layer for layer in who.layers if layer.expires_at is not None and layer.expires_at <= ctx.at]
    names = ", ".join(in_order(capability for layer in due for capability in layer.may))
    who.set_layers([layer for layer in who.layers if layer not in due])
    if any(layer.kind == "limit" for layer in due):
        who.set_layers([Layer("limit")])
        who.through = who.through_player = None
        ctx.tell(f"{who.handle}'s permissions have expired: {names or 'none'}", "roster")
    else:
        ctx.tell(f"{who.handle}'s temporary permissions have expired: {names}", "roster")


@command(category="meta", records=True)
def pause_expired(ctx: Context) -> None:
    """The member who paused left: the game resumes."""
    paused_by = handle_of(ctx.state.paused_by or "")
    ctx.tell(f"{paused_by} paused and left; the game resumes", "turn")
    game_time.end_pause(ctx.room, ctx.at)


@command(category="meta", records=True)
def presence(ctx: Context, members: list[str], here: bool) -> None:
    """Members connected or disconnected. A player that comes takes over from its stand-in immediately.

    A player that leaves ends its ``hand_back``: its agent plays on, until the player comes again.
    """
    state = ctx.state
    members = [name for name in members if name in state.members]
    for name in members:
        who = state.members[name]
        who.here = here
        who.away_since = None if here else ctx.at
        if here and who.played_by_bot and not who.handed_over:
            ctx.tell(f"{who.handle} is here", "roster")
            if who.stand_in_since is not None:
                minutes, seconds = divmod((ctx.at - who.stand_in_since) // 1000, 60)
                ctx.tell(f"your stand-in played for you for {minutes} min {seconds} s", ACCOUNT, members=(name,))
            who.end_stand_in()
        if not here:
            who.handed_over = False
        if state.paused_by == name:
            state.pause_until = None if here else ctx.at + state.pause_grace_ms
    names = [handle_of(name) for name in members[:10]]
    if len(members) > 10:
        names.append(f"{len(members) - 10} more")
    shown = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    ctx.tell(f"{shown} {'connected' if here else 'disconnected'}", "roster")


@command(category="meta", records=True)
def admitted(
    ctx: Context,
    handle: str,
    kind: Kind,
    identity: str,
    name: str = "",
    role: str | None = None,
    claim: str | None = None,
    team: str | None = None,
    stand_in: str | None = None,
    invite: str | None = None,
) -> None:
    """An identity joined: a guest, a house host, or the holder of an invite. It cannot join twice."""
    if ctx.room.member_of(identity) is not None:
        return
    free = free_handle(handle, lambda name: ctx.state.with_handle(name) is not None)
    new_member(
        ctx, free, kind, identity=identity, name=name, role=role, claim=claim, team=team,
        stand_in=stand_in,
    )  # fmt: skip


@command(category="meta", records=True)
def stand_in(ctx: Context, member: str) -> None:
    """The stand-in takes over the seat of a player who has been away too long."""
    who = ctx.state.members[member]
    who.played_by_bot, who.stand_in_since = True, ctx.at
    brain = HIDDEN_BRAIN if ctx.state.hide_brains or not who.stand_in else label_of(who.stand_in)
    ctx.tell(f"{brain} stands in for {who.handle}", "roster")


@command(category="meta", records=True)
def credential(ctx: Context, member: str, change: str, by: str | None = None, label: str = "") -> None:
    """A credential of a member was issued, rotated or revoked. The member and the roster are notified."""
    who, author = ctx.state.members.get(member), handle_of(by) if by is not None else "a host of this house"
    if who is None:
        return
    if by == member:
        author = who.handle
    yours, theirs = _CREDENTIAL_CHANGES[change]
    named = f" ({label})" if label else ""
    ctx.tell(f"{'you' if by == member else author} {yours}{named}", ACCOUNT, members=(member,))
    ctx.tell(f"{author} {theirs.format(who.handle)}", "roster")


_CREDENTIAL_CHANGES = {
    "issued": ("created a token for you", "created a token for {}"),
    "replaced": ("replaced your token", "replaced the token of {}"),
    "revoked": ("revoked your tokens", "revoked the tokens of {}"),
}


@command(category="meta", records=True)
def invited(ctx: Context, invite: str, room: str, by: str, handle: str, change: str, role: str | None = None) -> None:
    """An invite to a room was created, accepted or revoked. Part of the house record."""
    as_role = f" ({role})" if role is not None else ""
    ctx.tell(f"room {room}: {by}'s invite for {handle}{as_role} was {change}", ACCOUNT, members=())


@command(category="meta", records=True)
def digest(ctx: Context, sha256: str) -> None:
    """The digest of the room state at this point. A replay with another digest fails."""
    if ctx.room.digest() != sha256:
        raise RecordCorrupt("the replayed room differs from the recorded one")


@command(category="meta", records=True)
def loaded(ctx: Context, by: str, save: str) -> None:
    """A member loaded a save."""
    loaded_save = saves.load(ctx.room.world, b64decode(save))
    switch_game(ctx.state, loaded_save.game)
    keep_to_played_seats(ctx, loaded_save.played)
    ctx.tell(f"{handle_of(by)} loaded a save", "turn")


@command(category="meta", records=True)
def rematch_due(ctx: Context) -> None:
    """The game has been over for a while: the next one begins."""
    begin_again(ctx, next_seed(ctx))
    ctx.tell(f"the next game begins: game {ctx.state.games}", "turn")
