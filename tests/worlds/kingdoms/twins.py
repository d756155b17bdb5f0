"""Two worlds that differ only in what kingdom 1 does not see. What kingdom 1 is told must be the same in both."""

import json
from typing import Any

import msgspec
import numpy as np

from cohabit.errors import CohabitError
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.scenario import parse_scenario
from cohabit.worlds.kingdoms.sight import seen_by
from cohabit.worlds.kingdoms.sim import News, Orders
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, GROUND_ROW, TOP_ROW

SCENARIO = {
    "scenario": "pvp",
    "world": "kingdoms",
    "config": {"zones_x": 2, "zones_y": 2, "kingdoms": 3},
    "partial_intel": True,
    "agents": [
        {"id": "athena", "role": "player", "kingdom_claim": "auto:0"},
        {"id": "ares", "role": "player", "kingdom_claim": "auto:1"},
        {"id": "zeus", "role": "god"},
    ],
}
ATHENA = 1


def opened(seed: int = 5, ticks: int = 60, peaceful: bool = False, **keys: Any) -> Room:
    scenario = parse_scenario(json.dumps(SCENARIO | keys))
    world = make_world("kingdoms", scenario.config)
    room = Room.create(opening_state(scenario, world, "kingdoms", "den", seed, "00" * 16), world, at=0)
    if not peaceful:
        room.call("athena", "declare_war", {"kingdom_id": 2}, at=1)
    room.system("ticks", {"n": ticks}, 1000)
    return room


def twin(room: Room) -> Room:
    """A copy of the room."""
    return Room.restore(type(room.snapshot()).decode(room.snapshot().encode()), [], make_world)


def scramble(world: Any) -> None:
    """Change everything that kingdom 1 neither sees nor can read in the public list."""
    sim = world.sim
    land, c = sim.land, sim.creatures
    hidden = np.flatnonzero(~seen_by(sim, ATHENA))
    assert len(hidden) > land.size // 4, "most of the world should lie in the fog"
    land.ground[hidden[::3]] = GROUND_ROW["ash"]
    land.top[hidden[1::3]] = TOP_ROW["mushrooms"]
    land.built[hidden[::7]] = BUILDING_ROW["temple"]
    land.level[hidden] = 255 - land.level[hidden]
    land.grazed[hidden] = sim.tick
    land.burning = hidden[::50]
    unseen = np.flatnonzero(~seen_by(sim, ATHENA)[land.cells(c.x, c.y)] & (c.kingdom != ATHENA))
    assert len(unseen) > 10
    there = hidden[(np.arange(len(unseen)) * 37) % len(hidden)]
    c.x[unseen], c.y[unseen] = there % land.width, there // land.width
    c.hp[unseen], c.food[unseen] = 1, 1
    c.job[unseen], c.kills[unseen] = 2, 9
    for city in sim.cities.values():
        if city.kingdom != ATHENA:
            city.name, city.food, city.gold, city.loyalty, city.siege = "Atlantis", 9999, 77, 3, 50
            city.x, city.y = (int(v) for v in land.xy(int(hidden[city.id * 11])))
            city.soldiers, city.buildings = 66, {"temple": 9}
    for kingdom in sim.kingdoms.values():
        if kingdom.id != ATHENA:
            kingdom.faith, kingdom.weariness, kingdom.culture, kingdom.soldiers = 299, 99, 999, 66
            kingdom.orders = Orders(rally=(1, 1), fortify=True, muster=60)
    sim.opinions[(2, 3)] = sim.opinions[(3, 2)] = -100
    sim.tally.born, sim.tally.cities_taken, sim.tally.cities = 99_999, 99, 99
    sim.news.append(News(sim.tick, "the dragons of kingdom 2 wake", (2,)))
    world._changed()


def said(room: Room, who: str, command: str, args: Any = None, at: int = 2000) -> str:
    """The answer or the refusal, and what this member is told of it, as text."""
    before = room.record.seq
    try:
        answer = room.call(who, command, args, at=at)
    except CohabitError as refusal:
        answer = refusal.as_wire()
    member = room.state.members[who]
    told = [
        item for line in room.record.tail if line.seq > before for item in feed(line.entry, member, room.eye(member))
    ]
    return msgspec.json.encode([answer, told]).decode()
