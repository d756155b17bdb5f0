"""What all rooms of a house share."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from cohabit.house.clock import Clock
from cohabit.house.overload import OverloadLog
from cohabit.house.running.egress import EgressBooks
from cohabit.house.running.watchdog import Watchdog
from cohabit.house.settings import Settings
from cohabit.house.store.writer import Writer
from cohabit.house.streams.subscriptions import Outboxes
from cohabit.room.commands import Command
from cohabit.room.room import Room


class Shared(Struct, frozen=True, eq=False):
    """``commands``: those of the house. ``check_brain``: raises if the brain may not play here."""

    writer: Writer
    clock: Clock
    settings: Settings
    overload: OverloadLog
    outboxes: Outboxes
    watchdog: Watchdog
    commands: Sequence[Command]
    check_brain: Callable[[str | None], str | None]
    egress: EgressBooks

    def prepare(self, room: Room) -> None:
        """Apply the settings of the house to a room."""
        room.budget.per_second = self.settings.calls_per_second
        room.members_limit = self.settings.members_limit
        room.check_brain = self.check_brain
        room.ahead_ms = max(0, room.record.at - self.clock.now())
