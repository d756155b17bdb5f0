"""May this be done? A yes, or a refusal with its code and reason.

One function for commands of rooms and of the house alike: credential, membership, grant, archive, seat, turn,
budget, in this order. It changes nothing, logs nothing and reads no clock. Calls, tool lists and the audit use it.
"""

from collections.abc import Container, Hashable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from cohabit.errors import CohabitError, by_code
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.seat import SeatId
from cohabit.room.commands import Command
from cohabit.room.state import Member, RoomState, handle_of

if TYPE_CHECKING:
    from cohabit.room.room import Room


class Decision(Struct, frozen=True, gc=False):
    """``code`` is the wire code of the refusal; empty means yes."""

    code: str = ""
    reason: str = ""
    needs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.code


YES = Decision()


class Budget:
    """How many calls each caller may make in one second. ``spend`` counts; deciding only looks."""

    def __init__(self, per_second: int) -> None:
        self.per_second = per_second
        self._second = -1
        self._spent: dict[Hashable, int] = {}

    def spend(self, caller: Hashable, at: int) -> None:
        """Count one more call."""
        if at // 1000 != self._second:
            self._second = at // 1000
            self._spent = {}
        self._spent[caller] = self._spent.get(caller, 0) + 1

    def is_spent(self, caller: Hashable, at: int) -> bool:
        """Has the caller made more calls in this second than it may?"""
        return self._spent.get(caller, 0) > self.per_second and at // 1000 == self._second

    @property
    def refusal(self) -> Decision:
        return Decision("BUSY", f"more than {self.per_second} calls in one second; wait a second")


def decide(
    command: Command,
    member: Member | None,
    room: "Room | None",
    at: int,
    *,
    credential: Credential | None = None,
    host: bool = False,
    via: str | None = None,
    budget: Budget | None = None,
) -> Decision:
    """May the caller do this now?

    ``member``: the caller in ``room``, where it is a member. ``host``: it is a host of the house. ``via``: the stand-in
    that acts for the member. ``budget``: of a caller of house commands; a room has its own.
    """
    if credential is not None and (credential.revoked or credential.expires_at is not None):
        decision = by_credential(credential, at)
        if decision.code:
            return decision
    if command.host_only and not host:
        return Decision("PERMISSION_DENIED", f"only a host of this house can use {command.name}; ask for a host token")
    if member is not None and command.needs and command.needed.isdisjoint(member.held):
        return by_grant(member, command)
    if room is not None:
        if command.records and room.state.archived and not command.when_archived:
            return Decision("DISABLED", "this room is archived; it can be read, not changed")
        if member is not None:
            if command.acts:
                decision = _by_seat_and_turn(command, member, room, via)
                if decision.code:
                    return decision
            if room.budget.is_spent(member.id, at):
                return room.budget.refusal
    if budget is not None and credential is not None and budget.is_spent(credential.hash, at):
        return budget.refusal
    return YES


def by_credential(credential: Credential | None, at: int) -> Decision:
    """Is the credential still good, where the caller has one?"""
    if credential is not None:
        if credential.revoked:
            return Decision("UNAUTHORIZED", "this token was revoked; ask your host for a new one")
        if credential.expires_at is not None and at >= credential.expires_at:
            return Decision("UNAUTHORIZED", "this token has expired; ask your host for a new one")
    return YES


def _by_seat_and_turn(command: Command, member: Member, room: "Room", via: str | None) -> Decision:
    if via is not None and not member.played_by_bot:
        return Decision("PERMISSION_DENIED", f"{member.handle} plays its own seat again")
    if member.seat not in room.seats:
        decision = by_seat(member, command, room.seats)
        if decision.code:
            return decision
    if command.where != "world":  # the world is not asked: this may be decided outside of the room's queue
        return by_turn(room.state, member, command, None, False)
    to_move = room.to_move()
    if to_move and room.pace == "turns" and member.seat in to_move and not room.state.turn_based:
        return YES  # as nearly always
    return by_turn(room.state, member, command, to_move, room.pace == "turns", not to_move and room.is_over())


def refusal(decision: Decision) -> CohabitError:
    """A refusal as the error it is on the wire."""
    details = {"needs": list(decision.needs)} if decision.needs else {}
    return by_code({"code": decision.code, "message": decision.reason, **details})


def by_grant(member: Member, command: Command) -> Decision:
    """Does the grant give it? What lists of tools are made from."""
    if not command.needs or not command.needed.isdisjoint(member.held):
        return YES
    wanted = " or ".join(command.needs)
    return Decision(
        "PERMISSION_DENIED",
        f"{member.handle} ({member.role_name}) lacks {wanted}, which {command.name} needs. A host can grant it.",
        command.needs,
    )


def by_turn(
    state: RoomState,
    member: Member,
    command: Command,
    to_move: Sequence[SeatId] | None,
    ordered: bool,
    over: bool = False,
) -> Decision:
    """Is it this member's turn, where turns matter?

    ``to_move``: the seats that the world waits for (None: not asked); ``ordered``: does the world itself keep order?
    ``over``: it waits for nobody because the game has ended.
    """
    if not command.gated or Capability.ACT_GLOBAL in member.held:
        return YES
    if state.turn_based and state.turn_order:
        current = state.turn_order[state.turn_index]
        if current != member.id:
            return Decision(
                "TURN_NOT_YOURS", f"it is {handle_of(current)}'s turn; wait for yours (turn order: {turn_order(state)})"
            )
    if to_move is not None and command.category == "action":
        if over:
            return Decision("GAME_REJECTED", "this game is over; a member with control_world can start a rematch")
        if ordered and member.seat not in to_move:
            return Decision("TURN_NOT_YOURS", f"it is not your turn: {', '.join(movers(state, to_move))} to move")
    return YES


def by_seat(member: Member, command: Command, seats: Container[SeatId]) -> Decision:
    """An action that is done by a seat needs one that exists; ``act`` gives nothing without."""
    if member.seat in seats or not command.in_world:
        return YES
    if command.needs_seat or not any(n in member.held for n in command.needs if n != Capability.ACT):
        return Decision("PERMISSION_DENIED", f"{command.name} is done from a seat, and {member.handle} has none")
    return YES


def movers(state: RoomState, seats: Sequence[SeatId]) -> list[str]:
    """The handles of the members on these seats; for an empty seat its own name."""
    names = seat_names(state)
    return [names.get(seat, seat) for seat in seats]


def seat_names(state: RoomState) -> dict[SeatId, str]:
    """Each seat by the handle of the member who has it; an empty one by its own name."""
    names = {s.id: s.name or s.id for s in state.seats}
    names.update({m.seat: m.handle for m in state.members.values() if m.seat is not None})
    return names


def turn_order(state: RoomState) -> str:
    return " → ".join(map(handle_of, state.turn_order))
