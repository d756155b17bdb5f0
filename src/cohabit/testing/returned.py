"""A room that looks at what actions return, for the checker. Rooms of a house do not: they take the time for it."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import wraps
from typing import Any

from cohabit.model.record import Told
from cohabit.room.commands import Command
from cohabit.room.room import Room


class CheckedRoom(Room):
    """Remembers the actions that returned nothing."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.returned_nothing: dict[str, None] = {}

    def perform(self, by: str | None, at: int, command: Command, args: Mapping[str, Any]) -> tuple[Any, Sequence[Told]]:
        if command.where == "world":
            run, command = command.run_in(self.world), copy(command)
            command.run, command.method = self._looked_at(command.name, run), ""
        return super().perform(by, at, command, args)

    def _looked_at(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(run)
        def look(*args: Any, **kwargs: Any) -> Any:
            returned = run(*args, **kwargs)
            if returned is None:
                self.returned_nothing[name] = None
            return returned

        return look
