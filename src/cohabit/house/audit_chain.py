"""Stores refused calls, and puts them into the record, where they are part of the hash chain.

Equal refusals within a minute are one line, so a line is recorded when its minute is over. Until then it is in the
store only.
"""

from collections.abc import Callable

from msgspec import to_builtins

from cohabit.errors import CohabitError
from cohabit.house.calls import Call, SystemCall
from cohabit.house.clock import Clock
from cohabit.room.refusals import WINDOW_MS, Refusal
from cohabit.room.room import Room

STORE_MS = 1_000
"""How long a refusal may wait before it is stored. No reply waits for it, and many of them are one write."""


class AuditChain:
    """The refusals of one room that are not in its record yet."""

    def __init__(self, room: Room, clock: Clock, put: Callable[[Call], object], store: Callable[[], object]) -> None:
        """``put`` runs an entry; ``store`` writes the refusals of the room."""
        self._room = room
        self._clock = clock
        self._put = put
        self._store = store
        self._will_store = False
        self._will_record = False

    def plan(self) -> None:
        """Store the refusals within a second, and record them when their minute is over."""
        if not self._will_store:
            self._will_store = True
            self._clock.call_at(self._clock.now() + STORE_MS, self._store_now)
            self._plan_to_record()

    def _plan_to_record(self) -> None:
        if not self._will_record:
            self._will_record = True
            self._clock.call_at(self._clock.now() + WINDOW_MS, self._record)

    def _store_now(self) -> None:
        self._will_store = False
        self._store()

    def rest(self) -> SystemCall | None:
        """An entry with everything that is not recorded yet, for the end."""
        left = self._room.audit.unrecorded(self._room.state.audited)
        return _entry(left) if left and not self._room.state.archived else None

    def _record(self) -> None:
        self._will_record = False
        room = self._room
        if room.state.archived:
            return
        lines = room.audit.unrecorded(room.state.audited)  # before the entry: most rooms apply it at once
        closed = room.audit.unrecorded(room.state.audited, self._clock.now())
        if closed:
            try:
                self._put(_entry(closed))
            except CohabitError:  # the room is busy or quarantined: the lines stay in the store
                self._plan_to_record()
                return
        if len(lines) > len(closed):
            self._plan_to_record()


def _entry(lines: list[Refusal]) -> SystemCall:
    return SystemCall("refused", {"lines": to_builtins(lines)})
