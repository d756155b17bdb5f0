"""What somebody may ask for, spelled out with its schemas: what every list of commands is made from."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from cohabit.house.store import Credential
from cohabit.room.commands import Category, Command, Where

if TYPE_CHECKING:
    from cohabit.house.house import House

ALSO_ABOUT_A_ROOM = ("join", "rotate_token")
"""Commands of the house that need no capability and yet are about a room, or can be."""


class Offer(Struct, frozen=True, omit_defaults=True):
    """One command, as somebody who may use it is told of it."""

    name: str
    tool_name: str
    where: Where
    category: Category
    title: str
    description: str
    schema: dict[str, Any]
    records: bool = False
    waits: bool = False
    output_schema: dict[str, Any] | None = None
    about_room: bool = True


_made: "WeakKeyDictionary[Command, Offer]" = WeakKeyDictionary()


def offer_of(command: Command) -> Offer:
    """The same for everybody, so it is made once."""
    made = _made.get(command)
    if made is None:
        made = _made[command] = Offer(
            command.name,
            command.tool_name,
            command.where,
            command.category,
            command.name.replace("_", " ").capitalize(),
            _description(command),
            command.schema,
            command.records,
            "wait_ms" in command.schema.get("properties", {}),
            command.output_schema,
            _about_room(command),
        )
    return made


def _about_room(command: Command) -> bool:
    if command.where != "house" or command.needs or command.name in ALSO_ABOUT_A_ROOM:
        return True
    return command.tool_name != command.name  # the world of a room has a name of its own for it


def _description(command: Command) -> str:
    only_if = "".join(f"\nOnly if: {condition}" for condition in command.preconditions)
    return command.doc + ("\n" + only_if if only_if else "")


def offers_for(house: "House", credential: Credential, room: str | None) -> list[Offer]:
    """What this credential may call in a room; without one: of the house, and in any room that it is in."""
    commands = house.commands_for(credential, room)
    if room is None and credential.room is None:
        commands = [*_common(house, credential), *commands]
    return [offer_of(command) for command in commands]


def _common(house: "House", credential: Credential) -> Iterator[Command]:
    """The commands that are not a world's own, by name, as far as some room grants them."""
    found: dict[str, Command] = {}
    seen: set[Any] = set()
    for host in house.rooms.values():
        member = host.room.state.members.get(credential.who)
        if member is None or (alike := (type(host.room.world), member.held)) in seen:
            continue
        seen.add(alike)
        for command in host.room.may(member):
            if command.where == "room":
                found.setdefault(command.name, command)
    for name in sorted(found):
        yield found[name]
