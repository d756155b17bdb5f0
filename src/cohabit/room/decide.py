"""May this member do that? A yes or a no with a reason, and nothing else.

The same function serves the call path, the tool lists and anybody who asks "why not?". It changes
nothing, logs nothing and reads no clock.
"""

from collections.abc import Container, Sequence

from msgspec import Struct

from cohabit.errors import CohabitError, by_code
from cohabit.model.grant import Capability
from cohabit.model.seat import SeatId
from cohabit.room.commands import Command
from cohabit.room.state import Member, RoomState


class Decision(Struct, frozen=True, gc=False):
    """``code`` is the wire code of the refusal; empty means yes."""

    code: str = ""
    reason: str = ""
    needs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.code


YES = Decision()


def refusal(decision: Decision) -> CohabitError:
    """A no, as the error it is on the wire."""
    details = {"needs": list(decision.needs)} if decision.needs else {}
    return by_code({"code": decision.code, "message": decision.reason, **details})


def by_grant(member: Member, command: Command) -> Decision:
    """Does the grant give it? What lists of tools are made from."""
    if not command.needs:
        return YES
    held = member.held
    for need in command.needs:
        if need in held:
            return YES
    wanted = " or ".join(command.needs)
    return Decision(
        "PERMISSION_DENIED",
        f"{member.id} ({member.role_name}) lacks {wanted}, which {command.name} needs. A host can grant it.",
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

    ``to_move``: whom the world waits for (None: not asked); ``ordered``: does the world itself keep order?
    ``over``: nobody is waited for because the game has ended.
    """
    if not command.gated or Capability.ACT_GLOBAL in member.held:
        return YES
    if state.turn_based and state.turn_order:
        current = state.turn_order[state.turn_index]
        if current != member.id:
            return Decision("TURN_NOT_YOURS", f"it is {current}'s turn; wait for yours (turn {turn_words(state)})")
    if to_move is not None and command.category == "action":
        if over:
            return Decision("GAME_REJECTED", "this game is over; somebody with control_world can start a rematch")
        if ordered and member.seat not in to_move:
            return Decision("TURN_NOT_YOURS", f"it is not your turn: {', '.join(names(state, to_move))} to move")
    return YES


def by_seat(member: Member, command: Command, seats: Container[SeatId]) -> Decision:
    """An action that is done by a seat needs one that is there; ``act`` gives nothing without."""
    if member.seat in seats or command.where != "world" or not command.records:
        return YES
    if command.needs_seat or not any(n in member.held for n in command.needs if n != Capability.ACT):
        return Decision("PERMISSION_DENIED", f"{command.name} is done from a seat, and {member.id} holds none")
    return YES


def names(state: RoomState, seats: Sequence[SeatId]) -> list[str]:
    """The members who hold these seats; a seat nobody holds by its own name."""
    held = {m.seat: m.id for m in state.members.values() if m.seat is not None}
    named = {s.id: s.name or s.id for s in state.seats}
    return [held.get(seat) or named.get(seat, seat) for seat in seats]


def turn_words(state: RoomState) -> str:
    return " → ".join(state.turn_order)
