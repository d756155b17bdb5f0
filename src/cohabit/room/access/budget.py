"""The rate limit of calls, and the limits of what members may add to the record."""

from collections.abc import Hashable

from cohabit.model.grant import Capability
from cohabit.room.decision import ALLOWED, Decision
from cohabit.room.state import Member

HOUR_MS = 3_600_000
MANAGING = frozenset((Capability.MANAGE_MEMBERS, Capability.CONTROL_WORLD))


class Budget:
    """The rate limit per caller. ``spend`` counts a call; ``is_spent`` only reads."""

    def __init__(self, per_second: int) -> None:
        self.per_second = per_second
        self._begins = self._ends = 0  # the second that is being counted, in ms
        self._spent: dict[Hashable, int] = {}
        self.exceeded = False  # by any caller in this second

    def spend(self, caller: Hashable, at: int) -> None:
        """Count one more call."""
        if not self._begins <= at < self._ends:
            self._begins = at - at % 1000
            self._ends = self._begins + 1000
            self._spent = {}
            self.exceeded = False
        spent = self._spent[caller] = self._spent.get(caller, 0) + 1
        if spent > self.per_second:
            self.exceeded = True

    def is_spent(self, caller: Hashable, at: int) -> bool:
        """Whether the caller has exceeded its limit in this second."""
        return self._spent.get(caller, 0) > self.per_second and self._begins <= at < self._ends

    @property
    def refusal(self) -> Decision:
        return Decision(
            "BUSY", f"rate limit exceeded: more than {self.per_second} calls per second. Wait a second and retry"
        )


class StorageQuota:
    """How many bytes each member may add to the record per hour, and whether the record may grow at all.

    The house counts what was stored. ``exceeded`` is a quick check: if it is False, nothing is refused.
    """

    def __init__(self) -> None:
        self.per_hour = 0  # by each member; 0: no limit
        self.full = ""  # why nothing more may be added
        self.exceeded = False
        self._hour = -1
        self._written: dict[str, int] = {}

    def add(self, member: str, size: int, at: int) -> None:
        """Count what a member has added."""
        if at // HOUR_MS != self._hour:
            self._hour = at // HOUR_MS
            self._written = {}
            self.exceeded = bool(self.full)
        written = self._written[member] = self._written.get(member, 0) + size
        if self.per_hour and written > self.per_hour:
            self.exceeded = True

    def set_full(self, reason: str) -> None:
        """Refuse to add anything, except to members who can do something about it; an empty reason allows it again."""
        self.full = reason
        self.exceeded = bool(reason) or self.exceeded

    def decide(self, member: Member, category: str, at: int) -> Decision:
        """Whether the member may run a command of this category, which adds to the record."""
        if self.full and not (category in ("host", "control") and member.held & MANAGING):
            return Decision("TOO_LARGE", self.full)
        if self._written.get(member.id, 0) > self.per_hour > 0 and at // HOUR_MS == self._hour:
            return Decision("BUSY", self.reason)
        return ALLOWED

    @property
    def reason(self) -> str:
        return f"you have written more than {self.per_hour} bytes to this room this hour; try again in the next hour"
