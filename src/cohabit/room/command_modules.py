"""The modules that declare the commands of every room, one for each topic.

A new command goes into the module of its topic. Add a new module to ``COMMAND_MODULES``; commands are listed in this
order.
"""

from cohabit.model.cached import cached
from cohabit.registry import standard_features
from cohabit.room import (
    acting,
    audit,
    entry,
    game_time,
    grants,
    info,
    lifecycle,
    looking,
    members,
    messages,
    seats,
    turns,
)  # fmt: skip
from cohabit.room.commands import Command, CommandTable, commands_of, commands_of_class, declared_in
from cohabit.room.extension import Extension, extension_named
from cohabit.world import Pace, World, overrides

COMMAND_MODULES = (
    acting,
    info,
    looking,
    turns,
    messages,
    game_time,
    seats,
    lifecycle,
    grants,
    members,
    entry,
    audit,
)


def command_table(world: World) -> CommandTable:
    """The commands of a room with this world, and those of the world."""
    extension = extension_named(world.spec.extension)
    if overrides(world, "actions"):
        return CommandTable(extension.named(commands_of(world)), room_commands(world))
    return _table_of_class(type(world), world.pace, extension)


def room_commands(world: World) -> CommandTable:
    """The commands of a room with this world, without those of the world."""
    extension = extension_named(world.spec.extension)
    return _room_commands(type(world), world.pace, extension)


@cached
def _table_of_class(world: type[World], pace: Pace, extension: Extension) -> CommandTable:
    """Most rooms of a process have the same commands, so their table is made once."""
    base = _room_commands(world, pace, extension)
    return CommandTable(extension.named(commands_of_class(world)), base)


@cached
def _room_commands(world: type[World], pace: Pace, extension: Extension) -> CommandTable:
    """The commands of a room with such a world, and those of the world's extension, which may replace them."""
    commands = [made for made in _all_commands(extension) if made.only_if is None or made.only_if(world, pace)]
    return CommandTable(extension.named(made.in_world(world) for made in commands))


def _all_commands(extension: Extension) -> list[Command]:
    """The commands of every room, and those of an extension, which may replace them."""
    replaced = {command.name for command in extension.room_commands}
    return [*(command for command in every_room_command() if command.name not in replaced), *extension.room_commands]


def every_room_command() -> list[Command]:
    """The commands of the kernel and of the features of every room."""
    ours = [command for module in COMMAND_MODULES for command in declared_in(module)]
    return [*ours, *(command for feature in standard_features() for command in feature.declared if not command.system)]
