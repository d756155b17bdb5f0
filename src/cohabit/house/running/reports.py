"""The report that a room records from time to time: the calls that were refused."""

from collections.abc import Callable

from msgspec import to_builtins

from cohabit.errors import CohabitError
from cohabit.house.clock import Clock
from cohabit.house.running.calls import Call, SystemCall
from cohabit.house.running.later import Later
from cohabit.model.refusals import WINDOW_MS, Refusal
from cohabit.room.room import Room

STORE_MS = 1_000
"""The time that a refusal may wait before it is stored. No reply waits for it, and many of them are one write."""


class AuditChain:
    """Stores the refused calls of a room, and puts them into its record, where they are part of the hash chain.

    Equal refusals within a minute are one line, so a line is recorded when its minute is over. Until then it is in the
    store only.
    """

    def __init__(self, room: Room, clock: Clock, put: Callable[[Call], object], store: Callable[[], object]) -> None:
        """``put`` runs an entry; ``store`` writes the refusals of the room."""
        self._room = room
        self._clock = clock
        self._put = put
        self._to_store = Later(clock, STORE_MS, store)
        self._to_record = Later(clock, WINDOW_MS, self._record)

    def plan(self) -> None:
        """Store the refusals within a second, and record them when their minute is over."""
        if not self._to_store.is_planned:
            self._to_store.plan()
            self._to_record.plan()

    def rest(self) -> SystemCall | None:
        """An entry with everything that is not recorded yet, for the end."""
        left = self._room.audit.unrecorded(self._room.state.audited)
        return _entry(left) if left and not self._room.state.archived else None

    def _record(self) -> None:
        room = self._room
        if room.state.archived:
            return
        lines = room.audit.unrecorded(room.state.audited)  # before the entry: most rooms apply it at once
        closed = room.audit.unrecorded(room.state.audited, self._clock.now())
        if closed:
            try:
                self._put(_entry(closed))
            except CohabitError:  # the room is busy or quarantined: the lines stay in the store
                self._to_record.plan()
                return
        if len(lines) > len(closed):
            self._to_record.plan()


def _entry(lines: list[Refusal]) -> SystemCall:
    return SystemCall("refused", {"lines": to_builtins(lines)})
