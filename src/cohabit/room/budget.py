"""How many calls each asker may make in one second."""

from collections.abc import Hashable


class Budget:
    """Counts by asker, anew each second. ``spend`` counts; deciding only looks at it."""

    def __init__(self, per_second: int) -> None:
        self.per_second = per_second
        self._second = -1
        self._spent: dict[Hashable, int] = {}

    def spend(self, who: Hashable, at: int) -> None:
        """One more call by ``who``."""
        if at // 1000 != self._second:
            self._second = at // 1000
            self._spent = {}
        self._spent[who] = self._spent.get(who, 0) + 1

    def is_spent(self, who: Hashable, at: int) -> bool:
        """Has ``who`` asked more in this second than it may?"""
        return self._spent.get(who, 0) > self.per_second and at // 1000 == self._second

    @property
    def words(self) -> str:
        return f"more than {self.per_second} calls in one second; wait a second"
