"""The timers of a room.

The room has no clock of its own. ``Timers.first`` returns what is due next; when its time has come, the room applies it
as a record entry.
"""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from cohabit.room.state import RoomState
from cohabit.world import World, overrides

Due = tuple[int, str, dict[str, Any]]
"""The time of a system entry, its name, and its arguments."""


def can_skip(world: World) -> bool:
    """True if the world supports turn timeouts."""
    return overrides(world, "skip")


def why_untimed(world: World, turn_based: bool, step_ticks: int) -> str:
    """The reason why turns in a room with this world can have no time limit; empty: they can."""
    name, pace = world.spec.name, world.pace
    if not turn_based and pace == "turns" and not can_skip(world):
        return f"{name} does not support turn timeouts"
    if not (turn_based or step_ticks) and pace in ("step", "clock"):
        return f"{name} has no turns; set turn_based, or omit turn_seconds"
    return ""


class Timers:
    """Timers of members and features (an expiring grant, a waiting stand-in) rarely change, so they are computed again
    only after ``changed``. Those of the turn and of the next game are read from the state."""

    def __init__(self) -> None:
        self.idle = False  # no timer is set
        self._stale = True
        self._next: Due | None = None

    def changed(self) -> None:
        """Compute the timers of members and features again: more than the world and the messages has changed."""
        self.idle = False
        self._stale = True

    def first(self, state: RoomState, of_features: Callable[[], Iterable[Due]]) -> Due | None:
        """The system entry that is due next, and when."""
        if self._stale:
            due = [*_member_timers(state), *of_features()]
            self._next = min(due, key=itemgetter(0)) if due else None
            self._stale = False
        first = self._next
        self.idle = first is None and state.turn_ms is None and state.rematch_ms is None
        ends = turn_ends(state)
        if ends is not None and (first is None or ends < first[0]):
            first = ends, "turn_timeout", {}
        again = next_game_begins(state)
        if again is not None and (first is None or again < first[0]):
            first = again, "rematch_due", {}
        return first


def turn_ends(state: RoomState) -> int | None:
    """The end of the time limit of the turn, round or step; None while there is none."""
    if state.turn_ms is None or state.archived or state.paused:
        return None
    running = bool(state.turn_order) if state.turn_based else bool(state.waiting_for)
    running = running or (state.step_ticks > 0 and state.over_since is None)
    return state.turn_started + state.turn_ms if running else None


def next_game_begins(state: RoomState) -> int | None:
    """The time at which the next game begins by itself; None: it does not."""
    if state.rematch_ms is None or state.over_since is None or state.archived:
        return None
    return state.over_since + state.rematch_ms


def seconds_until(then: int, at: int) -> int:
    """Rounded up."""
    return max(-((at - then) // 1000), 0)


def _member_timers(state: RoomState) -> list[Due]:
    due: list[Due] = []
    for member in state.members.values():
        if member.layers:
            ends = [layer.expires_at for layer in member.layers if layer.expires_at is not None]
            due.extend([(end, "grant_expired", {"member": member.id}) for end in ends])
    return due
