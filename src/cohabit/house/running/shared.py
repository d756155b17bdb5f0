"""The services that all rooms of a house share."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct, field

from cohabit.house.clock import Clock
from cohabit.house.overload import OverloadLog
from cohabit.house.running.computing import Computing, MarkedWatchdog
from cohabit.house.running.egress import EgressBooks
from cohabit.house.running.watchdog import Watchdog
from cohabit.house.settings import Settings
from cohabit.house.store.keyframes import Keyframes
from cohabit.house.store.writer import Writer
from cohabit.house.streams.subscriptions import Outboxes
from cohabit.room.commands import Command, CommandTable
from cohabit.room.room import Room

P = ParamSpec("P")
T = TypeVar("T")


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
    keyframes: Keyframes
    tables: "WeakKeyDictionary[CommandTable, CommandTable]" = field(default_factory=WeakKeyDictionary)
    """All commands that can be called in a room, by the table of its own commands."""
    computing: Computing | None = None  # only in a worker

    def watch(self, room: str) -> Watchdog | MarkedWatchdog:
        """The watchdog for world code of a room on the event loop."""
        return self.watchdog if self.computing is None else self.computing.watch(room, self.watchdog)

    def marked(self, room: str, work: Callable[P, T]) -> Callable[P, T]:
        """Work on a thread that runs world code of a room."""
        return work if self.computing is None else self.computing.marked(room, work)

    def prepare(self, room: Room) -> None:
        """Apply the settings of the house to a room."""
        room.budget.per_second = self.settings.calls_per_second
        room.members_limit = self.settings.members_limit
        room.check_brain = self.check_brain
        room.audit.hides = room.world.spec.hides(room.state.partial_intel)
        room.ahead_ms = max(0, room.record.at - self.clock.now())

    def commands_in(self, room: Room) -> CommandTable:
        """Every command that can be called in a room: house, room and world commands. Rooms that share the table of
        their own commands share this one, too: it has 7 KiB."""
        known = self.tables.get(room.commands)
        if known is None:
            added = (command for command in room.features.declared if command.where == "house")
            house = {command.name: command for command in (*self.commands, *added)}
            renamed = (command.renamed(room.tools) for command in house.values())
            known = self.tables[room.commands] = CommandTable([*renamed, *room.commands])
        return known
