"""The modules that declare the commands of every room, one for each topic.

A new command goes into the module of its topic. Add a new module to ``COMMAND_MODULES``; commands are listed in this
order.
"""

from functools import cache, lru_cache

from cohabit.room import (
    acting,
    audit,
    game_time,
    grants,
    handover,
    info,
    lifecycle,
    looking,
    members,
    messages,
    seats,
    turns,
)  # fmt: skip
from cohabit.room.commands import Command, CommandTable, commands_of, declared_in
from cohabit.room.extension import Extension, extension_named
from cohabit.world import World

COMMAND_MODULES = (
    acting,
    info,
    looking,
    turns,
    messages,
    game_time,
    seats,
    handover,
    lifecycle,
    grants,
    members,
    audit,
)


def command_table(world: World) -> CommandTable:
    """The commands of a room with this world, and those of the world."""
    extension = extension_named(world.spec.extension)
    return CommandTable(extension.named(commands_of(world)), room_commands(world))


def room_commands(world: World) -> CommandTable:
    """The commands of a room with this world, and those of the world's extension, which may replace them."""
    extension = extension_named(world.spec.extension)
    left_out = tuple([c.name for c in _conditional(extension) if c.only_if and not c.only_if(world)])
    return _without(extension, left_out)


@lru_cache(64)
def _without(extension: Extension, names: tuple[str, ...]) -> CommandTable:
    """Most rooms of a process have the same commands, so their table is made once."""
    commands = [command for command in _all_commands(extension) if command.name not in names]
    return CommandTable(extension.named(commands))


@cache
def _conditional(extension: Extension) -> list[Command]:
    return [command for command in _all_commands(extension) if command.only_if is not None]


def _all_commands(extension: Extension) -> list[Command]:
    """The commands of every room, and those of an extension, which may replace them."""
    replaced = {command.name for command in extension.room_commands}
    ours = [command for module in COMMAND_MODULES for command in declared_in(module) if command.name not in replaced]
    return [*ours, *extension.room_commands]
