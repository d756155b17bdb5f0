"""Visits of agents from a Nexus, for the tests of rooms."""

from typing import Any

from cohabit.features.visits.state import VISITS
from cohabit.model.travel import ExitPackage
from cohabit.room.room import Room

from .avatar_machine import CAVES
from .making import HOST, make_room, replayed, restored

ADA = "id-ada"


def game(world: str = CAVES, **keys: Any) -> Room:
    room = make_room(HOST, world=world, **keys)
    room.call("hostess", "open_to_nexus", {"open": True}, at=1)
    return room


def enter(room: Room, identity: str = ADA, handle: str = "ada", at: int = 10, **wishes: Any) -> Any:
    room.system("admitted", {"handle": handle, "kind": "agent", "identity": identity, "role": "player"}, at)
    package = {"ticket": f"t-{identity}-{at}", "identity": identity, "name": handle, **wishes}
    return room.system("transit_in", {"package": package, "admitted": True}, at)


def act(room: Room, name: str, who: str = "ada", at: int = 20, **args: Any) -> Any:
    return room.call(who, name, args, at=at)


def ended(room: Room, at: int = 20) -> ExitPackage | None:
    """What the agent brings back if its visit has ended. The record alone, and a snapshot, say the same."""
    room.settle(at)
    assert replayed(room).digest() == restored(room).digest() == room.digest()
    return next(iter(VISITS.read(room.state).leaving.values()), None)


def told(room: Room, who: str = "ada") -> list[str]:
    lines = [notice for line in room.record.tail for notice in line.entry.told]
    return [notice.text for notice in lines if notice.members is not None and who in notice.members]
