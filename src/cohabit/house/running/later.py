"""Something that is done once, a while after it was first asked for."""

from collections.abc import Callable

from cohabit.house.clock import Clock


class Later:
    """Calls something once, a while after it was first asked for."""

    def __init__(self, clock: Clock, ms: int, call: Callable[[], object]) -> None:
        self._clock, self._ms, self._call = clock, ms, call
        self.is_planned = False

    def plan(self) -> None:
        if not self.is_planned:
            self.is_planned = True
            self._clock.call_at(self._clock.now() + self._ms, self._now)

    def _now(self) -> None:
        self.is_planned = False
        self._call()
