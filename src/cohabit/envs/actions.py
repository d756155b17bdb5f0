"""The actions of a world by number.

A world can list them itself (``World.numbered``). Otherwise they are numbered by their declarations, if every parameter
has a known, short list of values: a choice, a truth value, a whole number with both bounds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from operator import index
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cohabit.errors import AskerError, BadArgs, UnknownCommand
from cohabit.model.action import Action
from cohabit.model.suggest import nearest
from cohabit.room.command_modules import command_table
from cohabit.room.commands import Command
from cohabit.room.decide import by_grant
from cohabit.room.state import Member
from cohabit.world import World

MAX_NUMBERED = 4096
"""A world with more different actions than this takes them as JSON."""
MAX_TEXT = 1 << 15
"""The number of characters that an action may have as JSON, and an observation as text."""
NO_ACTION = "no action was given, and the game waits for one"
FORMAT = '{"action": name, "params": {…}}'

Values = Mapping[str, Sequence[Any]]
"""The values that each parameter of an action can have."""
Given = Action | AskerError | None
"""The input of a player: an action, nothing, or something that is no action."""


class NumberedActions:
    """Actions that are given by their number. In a real-time world the last number does nothing."""

    def __init__(
        self, actions: Sequence[Action], defaults: Mapping[str, Mapping[str, Any]], *, real_time: bool = False
    ) -> None:
        self.actions: list[Action | None] = [*actions, None] if real_time else [*actions]
        self._defaults = defaults
        self._numbers = {self._key(action): n for n, action in enumerate(actions)}

    def __len__(self) -> int:
        return len(self.actions)

    def read(self, given: Any) -> Given:
        """The action with this number."""
        if given is None:
            return None
        number = index(given)
        if not 0 <= number < len(self.actions):
            return BadArgs(f"the number of an action is from 0 to {len(self.actions) - 1}, not {number}")
        return self.actions[number]

    def mask(self, useful: Iterable[Action]) -> NDArray[np.int8]:
        """1 for these actions, and for doing nothing."""
        mask = np.array([action is None for action in self.actions], dtype=np.int8)
        for action in useful:
            number = self._numbers.get(self._key(action))
            if number is not None:
                mask[number] = 1
        return mask

    def _key(self, action: Action) -> str:
        defaults = self._defaults.get(action.name)
        return Action(action.name, {**defaults, **action.parameters}).text if defaults else action.text


class WrittenActions:
    """Actions that are given as JSON. An empty text does nothing."""

    def __init__(self, names: Sequence[str]) -> None:
        """``names``: of the world's actions. The room has other commands; they are not for learners."""
        self._names = names

    def read(self, given: str | None) -> Given:
        if not given:
            return None
        try:
            found = msgspec.json.decode(given)
        except msgspec.DecodeError as wrong:
            return BadArgs(f"the action is not valid JSON ({wrong}); send {FORMAT}")
        name, params = (found.get("action"), found.get("params", {})) if isinstance(found, dict) else (None, None)
        if not isinstance(name, str) or not name or not isinstance(params, dict) or found.keys() - _KEYS:
            return BadArgs(f"the JSON is not an action; send {FORMAT}")
        if name not in self._names:
            return UnknownCommand(f"unknown action {name[:80]!r}", did_you_mean=nearest(name, self._names, 3))
        return Action(name, params)


_KEYS = {"action", "params"}


def actions_of(world: World) -> NumberedActions | WrittenActions:
    """The form in which the actions of a world are given. It need not have been reset."""
    player = Member("player", role="player")
    commands = [c for c in command_table(world) if c.is_action and by_grant(player, c)]
    listed = world.numbered() or _numbered(commands)
    if listed is None:
        return WrittenActions([command.name for command in commands])
    return NumberedActions(listed, {c.name: _defaults(c) for c in commands}, real_time=world.pace == "clock")


def _numbered(commands: Sequence[Command]) -> list[Action] | None:
    known = [(command.name, _values(command)) for command in commands]
    values = [(name, of) for name, of in known if of is not None]
    count = sum(prod(map(len, of.values())) for _, of in values)
    if len(values) < len(known) or not 0 < count <= MAX_NUMBERED:
        return None
    return [Action(name, params) for name, of in values for params in _combinations(of)]


def _combinations(values: Values) -> Iterator[dict[str, Any]]:
    """In the order of the declaration; the last parameter changes first."""
    for combination in product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _values(command: Command) -> Values | None:
    """The values of each parameter; None if they cannot be listed."""
    if command.raw:  # its schema is informational
        return None
    schema = command.schema
    found = {name: _listed(spec, schema.get("$defs", {})) for name, spec in schema.get("properties", {}).items()}
    values = {name: of for name, of in found.items() if of is not None}
    return values if len(values) == len(found) else None


def _listed(spec: Mapping[str, Any], defs: Mapping[str, Any]) -> Sequence[Any] | None:
    """The values that a JSON Schema allows, if they are few."""
    match spec:
        case {"$ref": str(ref)}:
            return _listed(defs.get(ref.rpartition("/")[2], {}), defs)
        case {"anyOf": [*options]}:
            parts = [_listed(option, defs) for option in options]
            known = [part for part in parts if part is not None]
            return [value for part in known for value in part] if len(known) == len(parts) else None
        case {"const": value}:
            return [value]
        case {"enum": [*listed]}:
            return listed
        case {"type": "boolean"}:
            return [False, True]
        case {"type": "null"}:
            return [None]
        case {"type": "integer", "minimum": int(low), "maximum": int(high)} if high - low < MAX_NUMBERED:
            return range(low, high + 1)
    return None


def _defaults(command: Command) -> dict[str, Any]:
    """Legal actions may leave out parameters that have a default."""
    return {name: spec["default"] for name, spec in command.schema.get("properties", {}).items() if "default" in spec}
