"""Commands that show the world: view, wait_for_turn, picture."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from cohabit.errors import GameRejected
from cohabit.model.grant import Capability
from cohabit.model.observation import Observation, one_line
from cohabit.model.view_changes import view_changes
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Ready, Resource, WaitMs, command, command_of
from cohabit.room.decide import by_features
from cohabit.room.play.seats import SEAT_OPENS, is_out, open_to, sit
from cohabit.room.play.turn_order import ends_turns
from cohabit.room.seeing.shown import LONG_VIEW, ShownView
from cohabit.room.seeing.view import YOUR_TURN, next_game_text
from cohabit.room.state import Member, RoomState, handle_of
from cohabit.room.timers import next_game_begins, seconds_until, turn_ends
from cohabit.world import Pace, World, overridden, overrides

C = Capability
SEATS_SHOWN, MAX_ID = 12, 40
UNKNOWN_VIEW = "is not known any more, so this is all of it."
END_TURN = "`turn_advance` ends your turn."
CAN_VIEW = (C.WATCH, C.READ_OWN, C.READ_ALL)


WATCH_ONLY = (
    "You can watch this room but not act in it. To play, ask a host to invite you as a player, or to grant you act and "
    "read_own; then take a seat."
)
READ_ONLY = (
    "You can read what is said here, but not answer. To take part, ask a host to grant you send_broadcast, or "
    "send_message to write to one member."
)


def watch_only(room: BaseRoom, member: Member) -> str:
    """A note for a member who may not act; empty for others."""
    does_more = {C.ACT, C.ACT_GLOBAL, C.CONTROL_WORLD, C.MANAGE_MEMBERS, C.PUBLISH}
    if not room.is_played:
        does_more |= {C.SEND_MESSAGE, C.SEND_BROADCAST}
    note = WATCH_ONLY if room.is_played else READ_ONLY
    return note if C.WATCH in member.held and does_more.isdisjoint(member.held) else ""


class ViewReply(Struct, omit_defaults=True):
    """The view of a member. With ``since`` it says what has changed since that view: ``text`` has the lines, and
    ``changed`` the fields of the observation that are different, instead of ``observation``."""

    text: str
    to_move: list[str]
    your_turn: bool
    observation: Observation | None = None
    over: bool = False
    paused: bool = False
    tick: int = 0
    total_reward: float | None = None
    fallback: dict[str, Any] | None = None  # what an agent does that has no usable answer
    id: str = ""
    since: str = ""
    changed: dict[str, Any] | None = None
    turn_seconds_left: int | None = None  # until the time limit of the turn, round or step ends
    next_game_seconds: int | None = None  # until the next game begins by itself
    also: dict[str, Any] = {}  # what features add, such as the view of an app


Since = Annotated[str, Meta(description="only what has changed since this view")]


@command(
    category="read",
    needs=CAN_VIEW,
    resource=Resource("view", "View", "The world as you see it now", topics=frozenset({"view"}), text="text"),
    hint="shows what you see now.",
    listed=True,
    for_play=True,
    for_front_end=True,
    shows_world=True,
    sends="views",
)
def view(ctx: Context, since: Since = "") -> ViewReply:
    """The world as you see it now."""
    return view_reply(ctx, since)


def view_reply(ctx: Context, since: str = "", *, says_turn: bool = False) -> ViewReply:
    """``says_turn``: say that it is the member's turn, even if that has not changed.

    Without a time limit or a next game to count down to, a reply holds until the next entry.
    """
    room, me, state = ctx.room, ctx.member, ctx.state
    holds = state.turn_ms is None and state.rematch_ms is None and not (since or says_turn or me.played_by_bot)
    kept: ViewReply | None = room.shown.reply(me.id, room.moment) if holds else None
    if kept is not None and room.shown.get(me.id, kept.id) is not None:
        return structs.replace(kept)
    reply = _view_reply(ctx, since, says_turn=says_turn)
    if holds:
        room.shown.keep_reply(me.id, room.moment, structs.replace(reply))
    return reply


def _view_reply(ctx: Context, since: str, *, says_turn: bool) -> ViewReply:
    room, me, seen = ctx.room, ctx.member, ctx.room.view(ctx.member)
    yours = room.is_turn_of(me)
    ends = END_TURN if yours and ends_turns(room.state) and not seen.over else ""
    lines = [
        result_text(room) if seen.over else earlier_game_text(room.state),
        room.tools.in_text(ends),
        seat_text(room, me),
        *[room.crash_on_error(feature.view_lines, room, me) for feature in room.hooks["view_lines"]],
        watch_only(room, me),
    ]
    notes = "\n".join(filter(None, lines))
    said = seen.text if (yours or not me.through) and not me.handed_over else seen.text.replace(f"\n{YOUR_TURN}", "")
    text = f"{said}\n{notes}" if notes else said
    fallback = room.fallback(me) if yours and not seen.over and not room.is_blind(me) else None
    reply = ViewReply(
        text, seen.to_move, yours, seen.observation, seen.over, seen.paused, seen.tick, seen.total_reward,
        fallback.choice if fallback is not None else None,
    )  # fmt: skip
    if me.played_by_bot:  # it reads the observation, and all of it
        return reply
    for feature in room.hooks["view_data"]:
        reply.also |= room.crash_on_error(feature.view_data, room, me)
    before = room.shown.get(me.id, since) if since else None
    reply.id = room.shown.add(me.id, text, seen.observation, room.record.seq)
    if before is not None:
        _only_changes(reply, since, before, room.world)
    elif since:
        reply.text = f"View {one_line(since)[:MAX_ID]} {UNKNOWN_VIEW}\n{text}"
    if says_turn and YOUR_TURN in text.split("\n") and YOUR_TURN not in reply.text:
        reply.text += f"\n{YOUR_TURN}"
    _add_times(reply, ctx)
    if len(text) >= LONG_VIEW or overrides(room.world, "changes"):
        reply.text += f"\nThis is view {reply.id}."
    return reply


def result_text(room: BaseRoom) -> str:
    """The standings at the end of a game, with the members who played."""
    standings, players = room.crash_on_error(room.world.standings), room.state.players
    found = []
    for one in standings[:SEATS_SHOWN]:
        player = players.get(one.seat, one.name)
        score = f"{one.score:g}" if isinstance(one.score, float) else one.score
        found.append(f"{one.name}{f' ({player})' if player != one.name else ''} {score}")
    more = f" and {len(standings) - SEATS_SHOWN} more" if len(standings) > SEATS_SHOWN else ""
    return f"Result: {', '.join(found)}{more}" if found else ""


def earlier_game_text(state: RoomState) -> str:
    """How the game before this one ended."""
    ended = state.last_result
    return f"This is game {state.games}; game {state.games - 1} ended: {ended}." if ended else ""


def seat_text(room: BaseRoom, me: Member) -> str:
    """A line about the seat, if the member does not play it itself."""
    eye = room.eye(me)
    if me.through is not None and eye is not None and eye.seat == me.through and me.seat != me.through:
        player = handle_of(me.through_player or "")
        return f"You look through seat {me.through}: this is what {player} sees. You cannot act there."
    if is_out(room, me):
        return room.tools.in_text(f"You are out: seat {me.seat} is closed. {SEAT_OPENS} `wait_for_turn` waits for it.")
    may_sit = C.ACT in me.held and me.claim is None and not me.handed_over
    if me.seat is None and may_sit and not by_features(room, me, command_of(sit)).code:
        free = ", ".join(open_to(room, me)[:SEATS_SHOWN])
        if free:
            return room.tools.in_text(f"You have no seat. `sit` takes one of: {free}.")
        if room.has_arrivals and not room.hooks["take_seat"]:
            return room.tools.in_text("You have no seat. `sit` opens one for you.")
    return ""


def _add_times(reply: ViewReply, ctx: Context) -> None:
    """Add the time that is left. It is no part of the view, or each view would differ from the one before."""
    ends, again = turn_ends(ctx.state), next_game_begins(ctx.state)
    if ends is not None and not reply.over:
        reply.turn_seconds_left = seconds_until(ends, ctx.at)
        reply.text += f"\nTime left: {reply.turn_seconds_left} s."
    if again is not None:
        reply.next_game_seconds = seconds_until(again, ctx.at)
        text = reply.text.replace(next_game_text(ctx.state.rematch_ms), "")
        reply.text = f"{text}\nNext game in {reply.next_game_seconds} s."


def _only_changes(reply: ViewReply, since: str, before: ShownView, world: World) -> None:
    """Leave out what has not changed since a view, if that is shorter."""
    assert reply.observation is not None
    said = world.changes(before.observation, reply.observation)
    found = view_changes(before.observation, before.text, reply.observation, reply.text, said)
    if found is None:
        return
    changed = f"Changes since view {since}{found}" if found else f"Nothing has changed since view {since}."
    if min(reply.text, changed, key=len) is reply.text:
        return
    reply.text = changed
    old, new = before.observation.to_structured(), reply.observation.to_structured()
    reply.since, reply.observation = since, None
    reply.changed = {name: value for name, value in new.items() if value != old[name]}


def _not_yet(result: Any) -> bool:
    return isinstance(result, ViewReply) and not (result.your_turn or result.over)


def _news_after(room: BaseRoom, member: Member, args: Mapping[str, Any]) -> int | None:
    """Where time runs by itself it is always a player's turn, so there a wait ends with the next news."""
    if not room.runs_by_itself or room.state.over_since is not None:
        return None
    return room.shown.seq(member.id, args["since"])


def _until_turn(room: BaseRoom, member: Member, args: Mapping[str, Any]) -> Ready:
    """Until it is the member's turn, or the game is over; if a wait has told it so before, until the next game."""
    told = room.shown.ends_told.get(member.id)
    return lambda room, member: room.is_turn_of(member) or (room.is_over() and room.state.games != told)


@command(
    category="read",
    needs=CAN_VIEW,
    waits=_not_yet,
    news_after=_news_after,
    ready=_until_turn,
    task=("your_turn", "over"),
    hint="waits for your turn; where time runs by itself, for something new. If nothing came, call it again.",
    listed=True,
    for_play=True,
    for_front_end=True,
    shows_world=True,
    sends="views",
)
def wait_for_turn(ctx: Context, wait_ms: WaitMs = 10_000, since: Since = "") -> ViewReply:
    """Wait for your turn, the end or the next game; where time runs by itself, for news. Returns the view."""
    reply = view_reply(ctx, since, says_turn=True)
    if reply.over and not ctx.member.played_by_bot:
        ctx.room.shown.ends_told[ctx.member.id] = ctx.state.games
    return reply


class Picture(Struct):
    format: str
    base64: bytes  # msgspec writes bytes as base64


def _has_pictures(world: type[World], pace: Pace) -> bool:
    return "picture" in overridden(world)


@command(category="read", needs=C.SEE_SCREEN, only_if=_has_pictures, for_front_end=True, sends="pictures")
def picture(ctx: Context) -> Picture:
    """The world as you see it, as a base64-encoded PNG."""
    drawn = ctx.room.world.picture(ctx.room.eye_of(ctx.member))
    if drawn is None:
        raise GameRejected("there is no picture now; use `view` instead")
    return Picture("png", drawn)
