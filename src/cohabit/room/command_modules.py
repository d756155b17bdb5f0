"""The modules that declare the commands of every room, one for each topic.

A new command goes into the module of its topic. Add a new module to ``COMMAND_MODULES``; commands are listed in this
order.
"""

from collections.abc import Iterator

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
from cohabit.room.commands import Command, declared_in
from cohabit.room.extension import extension_named
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


def room_commands(world: World) -> Iterator[Command]:
    """The commands of a room with this world, and those of the world's extension, which may replace them."""
    extension = extension_named(world.spec.extension)
    replaced = {command.name for command in extension.room_commands}
    for module in COMMAND_MODULES:
        yield from (command for command in declared_in(module, world) if command.name not in replaced)
    yield from (command for command in extension.room_commands if command.only_if is None or command.only_if(world))
