"""The rate limit of calls."""

from collections.abc import Hashable

from cohabit.room.decision import Decision


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
        """True if the caller has exceeded its limit in this second."""
        return self._spent.get(caller, 0) > self.per_second and self._begins <= at < self._ends

    @property
    def refusal(self) -> Decision:
        return Decision(
            "BUSY", f"rate limit exceeded: more than {self.per_second} calls per second. Wait a second and retry"
        )
