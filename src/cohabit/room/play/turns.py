"""Turns: whose turn it is, turn_advance, and the rounds of a world."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from cohabit.errors import BadArgs, TurnNotYours
from cohabit.model.grant import Capability
from cohabit.model.record import Told, why_unreadable
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.state import Member, handle_of
from cohabit.room.timers import seconds_until, turn_ends
from cohabit.world import Outcome

C = Capability


def late(room: BaseRoom) -> list[Member]:
    """The members whose time runs out if the turn, round or step ends now."""
    state = room.state
    if state.turn_holder is not None:
        return [state.members[state.turn_holder]]
    if state.step_ticks:
        return [m for m in room.awaited() if m.id not in state.passed]
    return [m for m in state.members.values() if m.seat in state.waiting_for]


class TurnAdvanced(Struct, omit_defaults=True):
    previous: str
    next: str
    forced_by_god: bool
    ticks: int = 0  # how far a stepped clock has advanced
    waiting_for: list[str] = []  # whom the step of a stepped clock waits for
    note: str = ""


def _takes_turns(room: BaseRoom, member: Member) -> bool:
    state = room.state
    if state.step_ticks:
        return member.seat is not None or C.ACT_GLOBAL in member.held
    return state.turn_based and (member.id in state.turn_order or C.ACT_GLOBAL in member.held)


@command(
    category="meta",
    needs=(C.ACT, C.ACT_GLOBAL, C.WATCH),
    records=True,
    offered_if=_takes_turns,
    hint="ends your turn.",
    listed=True,
)
def turn_advance(ctx: Context) -> TurnAdvanced:
    """End your turn. With a stepped clock: pass; time advances when all have passed."""
    state, me = ctx.state, ctx.member
    if state.step_ticks:
        return _pass(ctx)
    current = state.turn_holder
    if current is None:
        raise BadArgs("this room is not turn-based; act whenever the world allows it")
    previous, forced = handle_of(current), current != me.id
    if forced and C.ACT_GLOBAL not in me.held:
        raise TurnNotYours(f"it is {previous}'s turn; only {previous} or a member with act_global can end it")
    _ended_turn(me)
    following = next_turn(ctx.room, ctx.at, ctx.told)
    by = f" (ended by {me.handle})" if forced else ""
    ctx.tell(f"{previous}'s turn is over{by}; it is {following}'s turn", "turn")
    return TurnAdvanced(previous, following, forced)


def _ended_turn(me: Member) -> None:
    """A member that ends its turn is there; a bot that does so has played nothing by that."""
    if not me.played_by_bot:
        me.has_moved()


def _pass(ctx: Context) -> TurnAdvanced:
    state, me = ctx.state, ctx.member
    waiting = [m for m in ctx.room.awaited() if m.id not in state.passed]
    forced = me not in ctx.room.awaited()
    if forced and C.ACT_GLOBAL not in me.held:
        raise BadArgs("this step waits for the players only; you cannot pass")
    _ended_turn(me)
    if me in waiting:
        waiting.remove(me)
        state.passed = [*state.passed, me.id]
    if forced:
        ctx.tell(f"{me.handle} ended the step", "turn")
    following, missing = waiting[0].handle if waiting else me.handle, [m.handle for m in waiting]
    if waiting and not forced:
        return TurnAdvanced(me.handle, following, forced, 0, missing, f"You have passed. {_step_waits(ctx, missing)}")
    step(ctx.room, ctx.at, ctx.told)
    note = f"Time has advanced by {state.step_ticks} ticks."
    return TurnAdvanced(me.handle, following, forced, state.step_ticks, note=note)


def _step_waits(ctx: Context, missing: list[str]) -> str:
    ends, shown = turn_ends(ctx.state), " and ".join(missing)
    limit = "" if ends is None else f", or in {seconds_until(ends, ctx.at)} s"
    return f"Time advances when {shown} {'has' if len(missing) == 1 else 'have'} passed{limit}."


def step(room: BaseRoom, at: int, told: list[Told]) -> None:
    """Advance a stepped clock."""
    state = room.state
    state.passed, state.turn_started = [], at
    _pass_time(room, state.step_ticks, told)


def next_turn(room: BaseRoom, at: int, told: list[Told]) -> str:
    """Give the turn to the next member in the order. Returns its handle."""
    state = room.state
    state.turn_index = (state.turn_index + 1) % len(state.turn_order)
    state.turn_started = at
    if state.ticks_per_turn and room.pace == "clock":
        _pass_time(room, state.ticks_per_turn, told)
    return handle_of(state.turn_order[state.turn_index])


def advance(room: BaseRoom, ticks: int, told: list[Told]) -> None:
    """Advance the time of a real-time world."""
    room.state.tick += ticks
    told.extend(_news("advance", room.crash_on_error(room.world.advance, ticks)))


def _pass_time(room: BaseRoom, ticks: int, told: list[Told]) -> None:
    """Advance the time. The notices are attributed to the world, not to the member who happened to pass last."""
    news: list[Told] = []
    advance(room, ticks, news)
    told.extend(_by_world(news))


def resolve(room: BaseRoom, told: list[Told]) -> None:
    """Resolve a round. Its results are attributed to the world, not to the member who happened to submit last."""
    told.extend(_by_world(_news("resolve", room.crash_on_error(room.world.resolve))))
    for feature in room.hooks["round_ended"]:
        room.crash_on_error(feature.round_ended, room)
    room.roster_changed()


def came_of(room: BaseRoom, member: Member, chosen: Outcome, ended: bool) -> Outcome:
    """The outcome of a choice: that of the action, if the round has ended with it."""
    if not ended:
        return replace(chosen, message=f"{chosen.message} {_happens_later(len(room.movers()))}".strip())
    last = room.last_action(member.seat) if member.seat is not None else None
    if last is None:
        return replace(chosen, pending=False)
    what = chosen.message if last.success else ""  # "failed" is said of the action, not of the choice
    message, achieved = f"{what} {last.message}".strip(), tuple(last.achievements)
    return replace(
        chosen, message=message, success=last.success, reward=last.reward, achievements=achieved, pending=False
    )


def _happens_later(awaited: int) -> str:
    if not awaited:
        return "The round ends now, without those who are absent. `wait_for_turn` shows the result."
    players = f"{awaited} player{'' if awaited == 1 else 's'}"
    return f"This happens when the round ends; it waits for {players}. `wait_for_turn` waits for the end of the round."


def _news(method: str, results: Any) -> list[Told]:
    """What the world returned, if these are notices."""
    if results is None or isinstance(results, str):
        raise TypeError(f"{method}() must return a list of Told, not {results!r:.60}")
    news = list(results)
    if wrong := why_unreadable(news):
        raise TypeError(f"{method}(): {wrong}")
    return news


def _by_world(results: Iterable[Told]) -> Iterable[Told]:
    return (replace(result, by_world=True) for result in results)
