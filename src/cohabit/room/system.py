"""System entries. Members cannot call these, and each of them is recorded."""

from base64 import b64decode
from typing import Any

from cohabit import saves
from cohabit.errors import RecordCorrupt
from cohabit.model.admission import BY_INVITATION, Admission, EntryPolicy, Knock
from cohabit.model.grant import Layer, in_order
from cohabit.room.access.admission import let_in, managers
from cohabit.room.access.members import drop_member, forget_former
from cohabit.room.base import Context
from cohabit.room.commands import system_entry
from cohabit.room.play import turns
from cohabit.room.play.games import begin, begin_again, next_seed, resume, stood_still
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.state import handle_of
from cohabit.world import Outcome, Seat


@system_entry()
def open_(ctx: Context, state: dict[str, Any]) -> None:
    """The room opens: the world is set up for its seats, and claims are bound."""
    opened, at = ctx.state, ctx.at
    opened.turn_started = at
    for member in opened.members.values():
        member.away_since = at  # no member is connected yet; start the stand-in timers
        opened.handles_used.setdefault(member.id, 1)
    begin(ctx, opened.seed)


@system_entry()
def opened(ctx: Context, gap: int) -> None:
    """The house is back after ``gap`` ms: shift the timers by the downtime."""
    stood_still(ctx.room, gap)


@system_entry()
def rebound(ctx: Context, source: str) -> None:
    """The file of the world was moved: from now on the room loads it from there."""
    ctx.state.source = source


@system_entry()
def ticks(ctx: Context, n: int) -> None:
    """Time passed."""
    turns.advance(ctx.room, n, ctx.told)


@system_entry()
def turn_timeout(ctx: Context) -> None:
    """A turn timed out: the game continues without that member."""
    state, world = ctx.state, ctx.room.world
    late = turns.late(ctx.room)
    for member in late:
        member.timeouts += 1
    if state.turn_holder is not None:
        following = turns.next_turn(ctx.room, ctx.at, ctx.told)
        ctx.tell(f"{late[0].handle}'s time is up; it is {following}'s turn", "turn")
        return
    if state.step_ticks:
        missing = ", ".join(m.handle for m in late) or "nobody"
        ctx.tell(f"time is up for this step; {missing} did not pass", "turn")
        turns.step(ctx.room, ctx.at, ctx.told)
        return
    state.turn_started = ctx.at
    if ctx.room.pace == "rounds":
        ctx.tell("time is up for this round", "turn")
        state.waiting_for = []  # this resolves the round; nothing more is due for it
        turns.resolve(ctx.room, ctx.told)
        return
    for seat_id in list(state.waiting_for):
        seat = ctx.room.seats.get(seat_id, Seat(seat_id))
        outcome: Outcome = ctx.room.crash_on_error(world.skip, seat)
        ctx.tell(outcome.public or f"{seat.name or seat.id} ran out of time", "turn")
        ctx.told.extend(outcome.told)


@system_entry(audit="expired")
def grant_expired(ctx: Context, member: str) -> None:
    """A layer of a grant has expired: an addition is removed, an expired limit allows nothing."""
    who = ctx.state.members[member]
    due = [layer for layer in who.layers if layer.has_expired(ctx.at)]
    names = ", ".join(in_order(who.held.intersection(c for layer in due for c in layer.capabilities)))
    who.set_layers([layer for layer in who.layers if layer not in due])
    if any(layer.look or layer.kind == "limit" for layer in due):
        who.through = who.through_player = None
    if any(layer.kind == "limit" for layer in due):
        who.set_layers([Layer("limit")])
        ctx.tell(f"{who.handle}'s permissions have expired: {names or 'none'}", "roster")
    else:
        ctx.tell(f"{who.handle}'s temporary permissions have expired: {names}", "roster")


@system_entry()
def presence(ctx: Context, members: list[str], here: bool, watching: bool = False) -> None:
    """Members connected or disconnected. A player that comes takes over from its stand-in immediately, except one that
    only watches.

    A player that leaves ends its ``hand_back``: its agent plays on, until the player comes again.
    """
    state = ctx.state
    members = [name for name in members if name in state.members]
    came = [name for name in members if not (here and state.members[name].is_watched)]
    for name in members:
        who = state.members[name]
        who.here = here
        who.away_since = None if here else ctx.at
        if here and who.is_replaced and not watching:
            ctx.tell(f"{who.handle} {'is here' if name in came else 'takes over'}", "roster")
            if who.stand_in_since is not None:
                minutes, seconds = divmod((ctx.at - who.stand_in_since) // 1000, 60)
                ctx.tell(f"your stand-in played for you for {minutes} min {seconds} s", ACCOUNT, members=(name,))
            who.end_stand_in()
        if not here:
            who.handed_over = False
    if members and not came:
        return
    names = [handle_of(name) for name in came[:10]]
    if len(came) > 10:
        names.append(f"{len(came) - 10} more")
    shown = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    ctx.tell(f"{shown} {'connected' if here else 'disconnected'}", "roster")


@system_entry(audit="joined", args=Admission)
def admitted(ctx: Context, **admission: Any) -> None:
    """An identity joined: a guest, a house host, or a newcomer with an invite, a code, a listed name or a key. It
    cannot join twice."""
    let_in(ctx, Admission(**admission))


@system_entry(audit="knocked")
def knocked(ctx: Context, knock: str, how: str, admission: Admission, drop: list[str]) -> None:
    """A newcomer waits in the lobby. ``drop``: old knocks that make space for this one."""
    for old in drop:
        ctx.state.knocks.pop(old, None)
    name, kind = admission.name or admission.handle, admission.kind
    ctx.state.knocks[knock] = Knock(knock, name, kind, how, ctx.at, admission)
    ctx.tell(f"{name} ({kind}, by {how}) waits in the lobby", "roster", members=managers(ctx.state))


@system_entry(audit="policy")
def entry_set(ctx: Context, policy: EntryPolicy, by: str, changed: str) -> None:
    """A host changed the entry policy."""
    ctx.state.entry = policy if policy != BY_INVITATION else None
    ctx.tell(f"{handle_of(by)} changed the entry policy: {changed}", "roster", members=managers(ctx.state))


@system_entry(audit="uninvited")
def invite_revoked(ctx: Context, invite: str, handle: str, by: str) -> None:
    """A host revoked an invite: its members are removed, and its newcomers in the lobby are dropped.

    An archived room keeps its members; the house revokes their tokens.
    """
    state = ctx.state
    gone = [member for member in state.members.values() if member.invite == invite]
    state.knocks = {key: knock for key, knock in state.knocks.items() if knock.admission.invite != invite}
    if not state.archived:
        for member in gone:
            drop_member(ctx, member)
            forget_former(state, member)
    removed = f" and removed {', '.join(member.handle for member in gone)}" if gone and not state.archived else ""
    ctx.tell(f"{handle_of(by)} revoked the invite for {handle}{removed}", "roster")


@system_entry()
def digest(ctx: Context, sha256: str) -> None:
    """The digest of the room state at this point. A replay with another digest fails."""
    if ctx.room.digest() != sha256:
        raise RecordCorrupt("the replayed room differs from the recorded one")


@system_entry()
def loaded(ctx: Context, by: str, save: str) -> None:
    """A member loaded a save."""
    loaded_save = saves.load(ctx.room.world, b64decode(save))
    resume(ctx, loaded_save.game, loaded_save.played)
    ctx.tell(f"{handle_of(by)} loaded a save", "turn")


@system_entry()
def rematch_due(ctx: Context) -> None:
    """The game has been over for a while: the next one begins."""
    begin_again(ctx, next_seed(ctx))
    ctx.tell(f"the next game begins: game {ctx.state.games}", "turn")
