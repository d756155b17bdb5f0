"""Checks of what a world declares, before it is played: spec, pace, actions, names, docstrings, source."""

import inspect
import json
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

from cohabit.errors import CohabitError
from cohabit.house.commands import HOUSE_COMMANDS
from cohabit.house.reading.front_ends import blocked_in, read_front_end
from cohabit.model.grant import capabilities
from cohabit.model.seat import Eye, Seat
from cohabit.registry import find_world, make_world
from cohabit.room.command_modules import every_room_command
from cohabit.testing.checks.trial import CheckFailed, CheckWarned, Trial
from cohabit.testing.scan import scan
from cohabit.world import ActionSpec, Pace, World, WorldSpec, marked_methods

SHORTEST_MISSPELT = 7
"""Shorter names, such as ``place``, are often like another one by chance."""


def check_spec(trial: Trial) -> str:
    """The world can be created and has a spec, a docstring and the required methods."""
    cls = find_world(trial.source)
    spec = cls.spec
    if not isinstance(spec, WorldSpec):
        raise CheckFailed(f"spec is a {type(spec).__name__}; write spec = WorldSpec(name=…)")
    world = make_world(trial.source, trial.config)
    for method in ("reset", "to_move", "observe"):
        if getattr(cls, method) is getattr(World, method):
            raise CheckFailed(f"{cls.__name__} has no {method}(); every world needs one")
    if not world.describe().strip() or cls.__doc__ == World.__doc__:
        raise CheckFailed(f"{cls.__name__} has no docstring; write the rules there, because players read it")
    if len(dict.fromkeys(spec.seat_names)) != len(spec.seat_names):
        raise CheckFailed(f"seat_names has duplicates: {', '.join(spec.seat_names)}")
    if spec.tick_ms < 1 or spec.version < 1:
        raise CheckFailed("tick_ms and version must be at least 1")
    if spec.front_end:
        blocked = blocked_in(read_front_end(cls))
        if blocked:
            raise CheckFailed(
                f"{spec.front_end} runs without network and storage; these do not work: {', '.join(blocked[:5])}"
            )
    for name, meant in _misspelt(cls):
        raise CheckWarned(f"nothing calls {name}(); do you mean {meant}()?")
    fewest, most = spec.seat_range
    return f"{spec.name} {spec.version}, {fewest if fewest == most else f'{fewest} to {most}'} seats"


def _misspelt(cls: type[World]) -> Iterator[tuple[str, str]]:
    """Methods that are named almost like one of the contract that this world does not have."""
    own = {name for part in cls.__mro__ if part.__module__ == cls.__module__ for name in vars(part)}
    contract = sorted(name for name in dir(World) if not name.startswith("_") and name not in own)
    for name in sorted(own - {*dir(World)}):
        meant = get_close_matches(name, contract, 1, 0.85) if len(name) >= SHORTEST_MISSPELT else ()
        if meant and inspect.isfunction(getattr(cls, name)) and not hasattr(getattr(cls, name), "__cohabit__"):
            yield name, meant[0]


def check_pace(trial: Trial) -> str:
    """The pace is valid, depends only on the config, and the world has the methods that it needs. In rounds, a choice
    is pending until the round ends, and then has an outcome."""
    world, other = trial.world, make_world(trial.source, trial.config)
    pace, cls = world.pace, type(world)
    if pace not in get_args(Pace):
        raise CheckFailed(f"pace is {pace!r}; it must be one of {', '.join(get_args(Pace))}")
    if other.pace != pace:
        raise CheckFailed(f"two worlds with the same config have the paces {pace!r} and {other.pace!r}")
    for needs in {"clock": ("advance",), "rounds": ("resolve", "outcome")}.get(pace, ()):
        if getattr(cls, needs) is getattr(World, needs):
            raise CheckFailed(f"pace {pace!r} calls {needs}(), but {cls.__name__} has none")
    if not trial.stopped:
        trial.first_problem("pace")
        for play in trial.plays:
            if play.room.world.pace != pace:
                raise CheckFailed(
                    f"the pace was {pace!r} and became {play.room.world.pace!r}; it must depend only on the config"
                )
    return f"{pace}, and it stays so"


def check_actions(trial: Trial) -> str:
    """actions() lists each action and query once, and always the same ones."""
    world = trial.world
    listed = _described(world)
    names = [name for name, _ in listed]
    for name in names:
        if not name.isidentifier() or name != name.lower():
            raise CheckFailed(f"actions() lists {name!r}; names may have lower-case letters, digits and underscores")
        if names.count(name) > 1:
            raise CheckFailed(f"actions() lists {name!r} twice")
    if world.spec.seat_range[1] and not any(command.records for command in trial.commands):
        raise CheckFailed("the world has no actions; declare one with @action")
    what = "actions() must always list the same ones"
    if _described(world) != listed or _described(make_world(trial.source, trial.config)) != listed:
        raise CheckFailed(f"{what}: it returned a different list for the same config")
    if not trial.stopped:
        for play in trial.plays:
            if _described(play.room.world) != listed:
                raise CheckFailed(f"{what}: it returned a different list after playing seed {play.seed}")
    return f"{len(listed)} listed, always the same"


def _described(world: World) -> list[tuple[str, str]]:
    """Every action with its full description, so two lists can be compared."""
    found = []
    for spec in world.actions():
        if not isinstance(spec, ActionSpec):
            raise CheckFailed(f"actions() returns a {type(spec).__name__}; return ActionSpec(name=…, run=…)")
        try:
            capabilities(spec.needs)
        except CohabitError as unknown:
            raise CheckFailed(f"{spec.name}: needs: {unknown.message}") from None
        rest = [spec.changes, spec.description, spec.category, spec.group, list(spec.needs), list(spec.preconditions)]
        found.append((spec.name, json.dumps([*rest, spec.needs_seat, spec.raw, repr(spec.args), repr(spec.result)])))
    return found


def check_names(trial: Trial) -> str:
    """No action or query uses a name that is reserved for the room or the house."""
    taken: dict[str, str] = {c.name: "the house" for c in HOUSE_COMMANDS if not c.world_may_replace}
    taken |= {c.name: "every room" for c in every_room_command() if not c.world_may_replace}
    for command in trial.commands:
        if command.name in taken:
            raise CheckFailed(f"{command.name!r} is reserved for {taken[command.name]}; choose another name")
    return f"{len(trial.commands)} name{'s' * (len(trial.commands) != 1)}, none reserved"


def check_words(trial: Trial) -> str:
    """Every action and query is a plain method with a docstring and typed arguments, of which the first is who acts."""
    for attribute, mark in marked_methods(type(trial.world)):
        _check_method(getattr(type(trial.world), attribute), mark["changes"])
    for command in trial.commands:
        if not command.doc:
            raise CheckFailed(f"{command.name} has no docstring; write one, because players read it")
        bare = [p.name for p in list(inspect.signature(command.run).parameters.values())[1:]
                if p.annotation is p.empty]  # fmt: skip
        if bare:
            raise CheckFailed(f"{command.name}: annotate {bare[0]!r}, for example {bare[0]}: int")
        try:
            json.dumps(command.schema)
            command.as_action()
        except Exception as wrong:
            raise CheckFailed(f"{command.name}: its arguments have no JSON Schema: {wrong}") from None
    return f"{len(trial.commands)} actions and queries, all described"


def _check_method(method: Any, changes: bool) -> None:
    """A marked method is called with who acts, or looks, first."""
    name, kind = method.__name__, Seat if changes else Eye
    plain = inspect.unwrap(method)
    if inspect.iscoroutinefunction(plain) or inspect.isgeneratorfunction(plain):
        raise CheckFailed(f"{name}() is async or yields; write a plain method that returns what it says")
    first = next(iter(list(inspect.signature(method).parameters)[1:]), "")
    hint = get_type_hints(method).get(first)
    if kind is not hint and kind not in get_args(hint):
        who = ("acts", "by: Seat") if changes else ("looks", "eye: Eye")
        raise CheckFailed(f"{name}() is called with who {who[0]} first: write def {name}(self, {who[1]}, …)")


KEYS_OF_THE_PAGE = ("?", "Escape", "Tab")
KEY_NAMES = ("Enter", "Backspace", "Delete", "Home", "End", "PageUp", "PageDown", "Insert")


def check_keys(trial: Trial) -> str:
    """Every key stands for an action that exists, with arguments that it takes, and is named as browsers name it."""
    commands = {command.name: command for command in trial.commands if command.records}
    for key, action in trial.world.keys.items():
        if key in KEYS_OF_THE_PAGE:
            raise CheckFailed(f"keys: {key!r} is a key of the page; choose another one")
        if not (len(key) == 1 or key in KEY_NAMES or key in [f"Arrow{way}" for way in ("Up", "Right", "Down", "Left")]):
            raise CheckFailed(f"keys: {key!r} is no key; write it as KeyboardEvent.key has it: a, ArrowUp, Enter")
        if action.name not in commands:
            raise CheckFailed(f"keys: {key!r} stands for {action.name!r}, which is no action")
        try:
            commands[action.name].check(dict(action.parameters))
        except CohabitError as wrong:
            raise CheckFailed(f"keys: {key!r} stands for {action.text}, which is refused: {wrong.message}") from None
    return f"{len(trial.world.keys)} keys" if trial.world.keys else "none"


def check_source(trial: Trial) -> str:
    """The source uses no clock, no random generator except Stream, no threads, and never iterates over a set."""
    module = sys.modules[type(trial.world).__module__]
    found = scan(module)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise CheckFailed(f"{found[0]}{more}. If it is harmless there, end the line with `# cohabit: ok` and why")
    return "no clock, no global random generator, no iteration over sets"
