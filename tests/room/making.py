"""Rooms for the tests, made the way a house makes them: from a scenario."""

import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cohabit import saves
from cohabit.model.record import Entry
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.scenario import parse_scenario

WORLDS = str(Path(__file__).with_name("worlds.py"))
SECRET = "00112233445566778899aabbccddeeff"


def source(name: str) -> str:
    """Where a world of the tests is, or the built-in one of that name."""
    return f"{WORLDS}:{name}" if name[0].isupper() else name


def player(name: str, seat: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "role": "player", "claim": f"auto:{seat}", **more}


RED, BLUE = player("ann", 0), player("bob", 1)
GOD = {"id": "zeus", "role": "god"}
HOST = {"id": "hostess", "role": "host", "kind": "human"}
OBSERVER = {"id": "owl", "role": "observer"}
NARRATOR = {"id": "nora", "role": "narrator"}
AGENT = {"id": "bot"}
PERSON = {"id": "pat", "kind": "human"}
EVERYBODY = [RED, BLUE, GOD, HOST, OBSERVER, NARRATOR, AGENT, PERSON]


def make_room(*agents: Mapping[str, Any], world: str = "Secrets", at: int = 0, **keys: Any) -> Room:
    """A room with these members: ann, bob and a host where none are named."""
    where = source(world)
    text = json.dumps({"world": where, "agents": list(agents) or [RED, BLUE, HOST], **keys})
    found = parse_scenario(text)
    made = make_world(where, found.config)
    return Room.create(opening_state(found, made, where, "room-1", 7, SECRET), made, at)


def replayed(room: Room) -> Room:
    """The same room, from nothing but its record."""
    return Room.replay(whole(room), make_world)


def restored(room: Room) -> Room:
    """The same room, from a snapshot that has been through bytes."""
    snapshot = room.snapshot()
    return Room.restore(type(snapshot).decode(snapshot.encode()), [], make_world)


def whole(room: Room) -> list[Any]:
    """Every line of a room's record, for rooms whose snapshot is that of their opening."""
    return list(room.record.tail)


def entries(room: Room, do: str | None = None) -> list[Entry]:
    return [line.entry for line in room.record.tail if do in (None, line.entry.do)]


def saved(room: Room) -> str:
    """A save of the room's world, as its record has it."""
    return b64encode(saves.pack(room.world, True, room.state.game, room.state.played)).decode()


def told_last(room: Room) -> dict[str, list[str]]:
    """What the newest entry tells each member. Members who are told nothing are left out."""
    newest = room.record.tail[-1].entry
    told = {m.handle: [item.text for item in feed(newest, m, room.eye(m))] for m in room.state.members.values()}
    return {handle: texts for handle, texts in told.items() if texts}
