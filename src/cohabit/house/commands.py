"""All commands: those of the house, and for the reference documentation those of rooms and worlds."""

from collections.abc import Iterator

from cohabit.feature_registry import usual_features
from cohabit.house.access import credentials, egress_commands, entry_policy, gate, invites, sign_in, watch_links
from cohabit.house.agents import agent_status
from cohabit.house.calls import command_list
from cohabit.house.films import command as films
from cohabit.house.films import delayed
from cohabit.house.lifecycle import own_data, room_commands, saves, thumbnails
from cohabit.house.reading import audit, decisions, feed, front_ends, introduction, observing
from cohabit.registry import known_worlds, load_protocol_names, make_world
from cohabit.room.command_modules import every_room_command, features_named, features_of
from cohabit.room.commands import Command, CommandTable, commands_of, declared_in

MODULES = (
    room_commands, command_list, introduction, invites, watch_links, gate, entry_policy, credentials, sign_in, feed,
    observing, films, delayed, front_ends, thumbnails, audit, egress_commands, saves, agent_status, decisions, own_data,
)  # fmt: skip
HOUSE_COMMANDS = CommandTable([command for module in MODULES for command in declared_in(module)])


def reserved_names() -> list[str]:
    """The names of the house and of every room, which the actions of a world cannot have."""
    return [command.name for command in (*HOUSE_COMMANDS, *every_room_command()) if not command.world_may_replace]


def every_command() -> Iterator[tuple[str, Command]]:
    """All commands, each with its heading: "house", "room" or the name of a world."""
    load_protocol_names()
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
