"""The commands of a room: those of the kernel, then those of its features, then those of its world.

The kernel has a module for each topic. A new command goes into the module of its topic; they are listed in the order of
``COMMAND_MODULES``.
"""

from collections.abc import Iterable

from cohabit.errors import BadArgs, RecordCorrupt, UnknownAsset
from cohabit.feature_registry import find_feature, usual_features
from cohabit.model.cached import cached
from cohabit.room import system
from cohabit.room.access import admission, grants, members
from cohabit.room.commands import Command, CommandTable, commands_of, commands_of_class, declared_in
from cohabit.room.feature import FeatureSet
from cohabit.room.play import acting, lifecycle, seats, turns
from cohabit.room.seeing import info, looking
from cohabit.room.state import RoomState
from cohabit.world import Pace, World, overrides

_feature_set = cached(FeatureSet)  # rooms of the same kind share one
COMMAND_MODULES = (acting, info, looking, turns, seats, lifecycle, grants, members, admission)


def features_of(world: World, more: Iterable[str] = ()) -> FeatureSet:
    """The features of a new room with this world, and these others."""
    return features_named(dict.fromkeys([*usual_features(), *world.spec.features, *more]))


def features_named(names: Iterable[str]) -> FeatureSet:
    """The features with these names."""
    return _feature_set(tuple(map(find_feature, names)))


def features_of_record(state: RoomState) -> FeatureSet:
    """The features that the record of a room names."""
    if len(set(state.features)) < len(state.features):
        raise RecordCorrupt(f"the record of room {state.id} names a feature twice")
    try:
        return features_named(state.features)
    except UnknownAsset as missing:
        raise UnknownAsset(f"room {state.id} needs a feature: {missing.message}") from None


def command_table(world: World, features: FeatureSet | None = None) -> CommandTable:
    """The commands of a room with this world and these features, or those of a new room, and those of the world."""
    features = features or features_of(world)
    if overrides(world, "actions"):
        return CommandTable(_as_tools(commands_of(world), features), _room_commands(type(world), world.pace, features))
    return _table_of_class(type(world), world.pace, features)


@cached
def _table_of_class(world: type[World], pace: Pace, features: FeatureSet) -> CommandTable:
    """Most rooms of a process have the same commands, so their table is made once."""
    return CommandTable(_as_tools(commands_of_class(world), features), _room_commands(world, pace, features))


@cached
def _room_commands(world: type[World], pace: Pace, features: FeatureSet) -> CommandTable:
    """The commands of a room with such a world."""
    _check_hides_nothing(features)
    made = {command.name: command for command in every_room_command(features)}
    here = [command for command in made.values() if command.only_if is None or command.only_if(world, pace)]
    entries = [*declared_in(system), *features.declared]
    return CommandTable(
        _as_tools((command.in_world(world) for command in here), features),
        system={entry.name: entry for entry in entries if entry.system},
    )


def _check_hides_nothing(features: FeatureSet) -> None:
    """Refuse a feature that would hide a command or a system entry of the kernel, unless it says so."""
    ours = {command.name for module in (*COMMAND_MODULES, system) for command in declared_in(module)}
    for feature in features.all:
        if hidden := [name for made in feature.declared if (name := made.name) in ours - feature.replaces]:
            raise BadArgs(f"every room has {hidden[0]!r}; the feature {feature.name} needs another name for its own")


def every_room_command(features: FeatureSet | None = None) -> list[Command]:
    """The commands of the kernel and of these features; by default those of every room."""
    ours = [command for module in COMMAND_MODULES for command in declared_in(module)]
    theirs = (features_named(usual_features()) if features is None else features).declared
    return [*ours, *(command for command in theirs if command.where == "room" and not command.system)]


def _as_tools(commands: Iterable[Command], features: FeatureSet) -> Iterable[Command]:
    """These commands, with the MCP tool names that they have with these features."""
    return (command.renamed(features.tools) for command in commands) if features.tools.prefixed else commands
