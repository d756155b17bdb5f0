"""All commands, for the reference documentation."""

from collections.abc import Iterator

from cohabit.house.house import HOUSE_COMMANDS
from cohabit.registry import features_named, known_worlds, load_extensions, make_world
from cohabit.room.command_modules import every_room_command
from cohabit.room.commands import Command, commands_of
from cohabit.room.feature import tool_names


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
        features = features_named(world.spec.features)
        own = [c for f in features if f not in features_named(()) for c in f.declared if c.where == "room"]
        for command in (*own, *commands_of(world)):
            yield name, command.renamed(tool_names(features))
