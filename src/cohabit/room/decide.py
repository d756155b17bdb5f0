"""Authorization: allow a call, or refuse it with a code and a reason.

One function for room and house commands. It checks credential, grant, archive, features, seat, turn, storage quota
and rate limit, in this order. It changes nothing, logs nothing and reads no clock. Tool lists use its parts that do not
depend on the moment, such as ``by_grant``.
"""

from collections.abc import Sequence

from cohabit.model.grant import SEAT_BOUND, Capability
from cohabit.model.identity import Credential
from cohabit.model.seat import SeatId
from cohabit.room.access.budget import Budget
from cohabit.room.base import BaseRoom
from cohabit.room.commands import Command
from cohabit.room.decision import ALLOWED, Decision
from cohabit.room.play.seats import SEAT_OPENS, can_sit, is_out
from cohabit.room.state import ALL_PERCEPTION, Member, RoomState, handle_of


def decide(
    command: Command,
    member: Member | None,
    room: BaseRoom | None,
    at: int,
    via: str | None = None,
    credential: Credential | None = None,
    host: bool = False,
    budget: Budget | None = None,
) -> Decision:
    """Decide whether the caller may run the command now.

    ``member``: the caller's membership in ``room``, if any. ``host``: whether the caller is a house host. ``via``: the
    stand-in that acts for the member. ``budget``: the rate limit of house commands; a room has its own.
    """
    if credential is not None:
        decision = by_credential(credential, at)
        if decision.code:
            return decision
    if command.host_only and not host:
        return Decision("PERMISSION_DENIED", f"{command.name} requires a host token for this house")
    if member is not None and command.needs and command.needed.isdisjoint(member.held):
        return by_grant(member, command)
    if room is not None:
        if command.records and room.state.archived and not command.when_archived:
            may = member is not None and Capability.CONTROL_WORLD in member.held
            back = "`unarchive` brings it back" if may else "a host can bring it back"
            return Decision("DISABLED", f"this room is archived and read-only; {back}")
        if member is not None:
            if room.hooks["refuses"]:
                decision = by_features(room, member, command)
                if decision.code:
                    return decision
            if command.acts:
                decision = _by_seat_and_turn(command, member, room, via)
                if decision.code:
                    return decision
            if room.storage_limit is not None and command.records:
                decision = room.storage_limit(member, command.category, at)
                if decision.code:
                    return decision
            if room.budget.exceeded and room.budget.is_spent(member.id, at):
                return room.budget.refusal
    if budget is not None and credential is not None and budget.is_spent(credential.counted_as, at):
        return budget.refusal
    return ALLOWED


def by_credential(credential: Credential | None, at: int) -> Decision:
    """Refuse a credential that is no longer valid."""
    if credential is not None:
        if credential.revoked:
            return Decision("UNAUTHORIZED", "this token was revoked; ask your host for a new one")
        if credential.expires_at is not None and at >= credential.expires_at:
            return Decision("UNAUTHORIZED", "this token has expired; ask your host for a new one")
    return ALLOWED


def by_features(room: BaseRoom, member: Member, command: Command) -> Decision:
    """Allow a command that no feature of the room refuses. If several do, a missing permission is reported first."""
    asked = (feature.refuses(room, member, command) for feature in room.hooks["refuses"])
    found = [decision for decision in asked if decision is not None]
    return min(found, key=lambda decision: decision.code != "PERMISSION_DENIED", default=ALLOWED)


def _by_seat_and_turn(command: Command, member: Member, room: BaseRoom, via: str | None) -> Decision:
    if via is not None and not member.played_by_bot:
        return Decision("PERMISSION_DENIED", f"{member.handle} is back and plays its own seat")
    if member.handed_over and via is None:
        return Decision("PERMISSION_DENIED", "an agent plays your seat; call `take_over` to play it yourself")
    if member.seat not in room.seats:
        decision = _without_seat(room, member, command)
        if decision.code:
            return decision
    if command.where != "world":  # do not call the world: this may run outside the room's queue
        return by_turn_order(room, member, command)
    to_move = room.to_move()
    if member.seat in to_move and not room.state.turn_based:
        return ALLOWED  # the common case
    return by_turn(room, member, command, to_move, not to_move and room.is_over())


def by_grant(member: Member, command: Command) -> Decision:
    """Allow a command that the grant of the member allows. Also used to build tool lists."""
    if not command.needs or not command.needed.isdisjoint(member.held):
        return ALLOWED
    if member.withheld and not command.needed.isdisjoint(ALL_PERCEPTION):
        return Decision("PERMISSION_DENIED", member.withheld, command.needs)
    wanted = " or ".join(command.needs)
    giver = "A host" if not command.needed.isdisjoint(SEAT_BOUND) else "A host who has it"
    lacks = {1: "does not have it", 2: "has neither"}.get(len(command.needs), "has none of them")
    name = command.name if command.for_model else "this"
    return Decision(
        "PERMISSION_DENIED",
        f"{name} requires {wanted}, and {member.handle} ({member.role_name}) {lacks}. {giver} can grant it (`ask`).",
        command.needs,
    )


def by_turn_order(room: BaseRoom, member: Member, command: Command) -> Decision:
    """Refuse a command that depends on turns, out of the member's turn in the order of a turn-based room."""
    holder = room.state.turn_holder
    if holder is None or holder == member.id or not _depends_on_turns(member, command):
        return ALLOWED
    order = " → ".join(map(handle_of, room.state.turn_order))
    return Decision("TURN_NOT_YOURS", f"it is {handle_of(holder)}'s turn; wait for yours (turn order: {order})")


def by_turn(room: BaseRoom, member: Member, command: Command, to_move: Sequence[SeatId], over: bool) -> Decision:
    """The same, and for actions whether the world waits for this member.

    ``to_move``: the seats that the world waits for. ``over``: whether the game has ended.
    """
    decision = by_turn_order(room, member, command)
    if decision.code or command.category != "action" or not _depends_on_turns(member, command):
        return decision
    if over:
        return Decision("GAME_REJECTED", f"this game is over; {_next_game(room.state)}")
    if room.pace == "turns" and member.seat not in to_move:
        return Decision("TURN_NOT_YOURS", f"it is not your turn; waiting for {', '.join(room.movers() or to_move)}")
    return ALLOWED


def _depends_on_turns(member: Member, command: Command) -> bool:
    return command.needs_turn and Capability.ACT_GLOBAL not in member.held


def _next_game(state: RoomState) -> str:
    if state.rematch_ms is None:
        return "a member with control_world can start a rematch"
    return f"the next one begins by itself, {state.rematch_ms / 1000:g} s after the end"


def _without_seat(room: BaseRoom, member: Member, command: Command) -> Decision:
    """Actions that need a seat require an existing one; ``act`` has no effect without a seat."""
    if not command.is_action:
        return ALLOWED
    if command.needs_seat or not any(n in member.held for n in command.needs if n != Capability.ACT):
        if is_out(room, member):
            ours = f"{member.handle} is out: seat {member.seat} is closed, and cannot {command.name}. {SEAT_OPENS}"
        else:
            now = "to take one" if can_sit(room, member) else "when one is free, or ask a host for one"
            ours = f"{command.name} requires a seat, and {member.handle} has none. Call `sit` {now}"
        theirs = (feature.without_seat(member, command) for feature in room.hooks["without_seat"])
        return Decision("PERMISSION_DENIED", next(filter(None, theirs), ours))
    return ALLOWED


def offers(room: BaseRoom, member: Member, command: Command) -> bool:
    """True if lists of commands have this one: it is left out where it would only be refused."""
    if command.needs_seat and member.seat is None and not can_sit(room, member):
        return False
    if by_features(room, member, command).code:
        return False
    return (command.offered_if is None or command.offered_if(room, member)) and room.house_offers(command, member)


def known_now(room: BaseRoom, member: Member) -> list[Command]:
    """The commands that features add for now, as far as a member may know of them. Their names and parameters are those
    of an app, for example, which are for members who watch, or who may call them."""
    return [made for made in room.commands_now() if Capability.WATCH in member.held or by_grant(member, made)]
