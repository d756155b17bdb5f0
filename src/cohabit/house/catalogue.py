"""All commands, for the reference documentation."""

from collections.abc import Iterator

from cohabit.house.house import HOUSE_COMMANDS
from cohabit.registry import known_worlds, load_extensions, make_world
from cohabit.room.command_modules import every_room_command
from cohabit.room.commands import Command, commands_of
from cohabit.room.extension import extension_named


def reserved_names() -> list[str]:
    """The names of the house and of every room, which the actions of a world cannot have."""
    return [command.name for command in (*HOUSE_COMMANDS, *every_room_command()) if not command.world_may_replace]


def every_command() -> Iterator[tuple[str, Command]]:
    """All commands, each with its heading: "house", "room" or the name of a world."""
    load_extensions()
    for command in HOUSE_COMMANDS:
        yield "house", command
    for command in every_room_command():
        yield "room", command
    for name in known_worlds():
        world = make_world(name, {})
        extension = extension_named(world.spec.extension)
        for command in extension.named([*extension.room_commands, *commands_of(world)]):
            yield name, command
