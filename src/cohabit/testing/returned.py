"""A room that looks at what actions return, for the checker. Rooms of a house do not: they take the time for it."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import wraps
from typing import Any

from cohabit.model.record import Told
from cohabit.room.commands import Command
from cohabit.room.room import Room
from cohabit.world import Outcome, World


class CheckedRoom(Room):
    """Remembers the actions that returned nothing."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.returned_nothing: dict[str, None] = {}
        self._looking: dict[str, tuple[Command, World, Command]] = {}  # by name: with a look at what it returns

    def perform(self, by: str | None, at: int, command: Command, args: Mapping[str, Any]) -> tuple[Any, Sequence[Told]]:
        if command.where == "world":
            known = self._looking.get(command.name)
            if known is None or known[0] is not command or known[1] is not self.world:
                looking = copy(command)
                looking.run, looking.method = self._looked_at(command.name, command.run_in(self.world)), ""
                known = self._looking[command.name] = command, self.world, looking
            command = known[2]
        return super().perform(by, at, command, args)

    def _looked_at(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(run)
        def look(*args: Any, **kwargs: Any) -> Any:
            returned = run(*args, **kwargs)
            if returned is None:
                self.returned_nothing[name] = None
            if isinstance(returned, Outcome) and (wrong := _wrong_field(returned)):
                raise TypeError(f"{name}(): {wrong}")
            return returned

        return look


def _wrong_field(outcome: Outcome) -> str:
    """The first field with a value of a wrong type, and what is needed instead; empty if there is none."""
    given: Any = outcome
    for field in ("message", "public"):
        if not isinstance(value := getattr(given, field), str):
            return f"Outcome.{field} must be text, not {value!r:.60}"
    if isinstance(given.reward, str) or not hasattr(given.reward, "__float__"):  # numbers of NumPy are fine
        return f"Outcome.reward must be a number, not {given.reward!r:.60}"
    for field in ("told", "achievements"):
        if not isinstance(value := getattr(given, field), tuple | list):
            return f"Outcome.{field} must be a tuple, not {value!r:.60}"
    return ""
