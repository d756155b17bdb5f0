"""All commands, for the reference documentation."""

from collections.abc import Iterator

from cohabit.house.house import HOUSE_COMMANDS
from cohabit.registry import known_worlds, load_extensions, make_world, usual_features
from cohabit.room.command_modules import every_room_command, features_named, features_of
from cohabit.room.commands import Command, commands_of


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
        features, usual = features_of(world), features_named(usual_features()).declared
        own = [made for made in features.declared if made.where == "room" and made not in usual]
        for command in (*own, *commands_of(world)):
            yield name, command.renamed(features.tools)
