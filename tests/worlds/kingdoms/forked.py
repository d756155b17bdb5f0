"""A match that is forked: in one branch a rival does hidden things that it does not do in the other.

``Fork.play`` advances both branches together, until the difference comes near what kingdom 1 sees.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import asdict
from numpy.typing import NDArray

from cohabit.agents.brains.kingdoms.kings import Steward, Warlord
from cohabit.errors import CohabitError
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.worlds.kingdoms.land import LAYERS
from cohabit.worlds.kingdoms.rules import tick
from cohabit.worlds.kingdoms.sight import View, seen_by
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW

from .twins import ATHENA, opened, said, twin

ARES = 2
CONTACT = 20
"""Whatever is further than this from all that a kingdom sees has no effect on it in the next tick."""
EVERY = 25
"""Ticks between two decisions of a player."""
OPEN_ACTS = ("declare_war", "offer_peace", "raid", "send_message")
"""What a rival may not do here: it would be public, or go to where the other kingdom is."""
READS = [
    ("view", {}), ("list_cities", {}), ("query_actors", {}), ("get_world_state", {}), ("objective_status", {}),
    ("list_kingdoms", {"include_wild": True}), ("session_info", {}), ("roster", {}), ("picture", {}),
]  # fmt: skip


class Fork:
    """Two copies of a match. ``Athena`` must get the same in both."""

    def __init__(self, seed: int, warm_up: int = 40, zones: int = 4, animals: bool = True) -> None:
        """A match on a map of this many zones on a side, after some ticks. Without ``animals`` it takes longer until
        there is contact: one animal disturbs the next."""
        config = {"zones_x": zones, "zones_y": zones, "kingdoms": 2}
        room = opened(seed, 0, peaceful=True, config=config)
        room.system("ticks", {"n": warm_up}, 1000)
        if not animals:
            room.world.sim.creatures.hp[room.world.sim.creatures.kingdom == 0] = 0
            tick.remove_dead(room.world.sim)
        self.quiet, self.busy = twin(room), twin(room)
        for branch in self.branches:
            branch.checks_refusals = False  # it would notice the faith that is given here
        self.rivals = {id(self.quiet): Steward(), id(self.busy): Warlord()}
        self.kings = {id(self.quiet): Steward(), id(self.busy): Steward()}
        self.ticks = 0
        self.acts: list[str] = []  # what was done in the busy branch only
        self.compared = 0  # answers

    @property
    def branches(self) -> tuple[Room, Room]:
        return self.quiet, self.busy

    @property
    def _now(self) -> int:
        return 2000 + self.ticks

    def play(self, ticks: int) -> bool:
        """Play on; returns whether the difference has come near athena. Fails if she could notice it before."""
        for _ in range(ticks):
            if self.ticks % EVERY == 0:
                self._compare([self._reads(room) for room in self.branches])
                self._compare([self._athena_acts(room) for room in self.branches])
                for room in self.branches:
                    self._ares_acts(room)
                self._hidden_acts()
            if near(self.quiet.world.sim, self.busy.world.sim):
                return True
            self.ticks += 1
            self._compare([self._tick(room) for room in self.branches])
            self._compare([own_state(room.world.sim) for room in self.branches])
        return False

    def _compare(self, both: list[list[Any]]) -> None:
        self.compared += len(both[0])
        for one, other in zip(*both, strict=True):
            assert one == other, f"tick {self.ticks}, after {self.acts[-5:]}: {_difference(str(one), str(other))}"

    def _tick(self, room: Room) -> list[Any]:
        """What athena is told of one tick, without what everybody is told."""
        room.system("ticks", {"n": 1}, self._now)
        entry, member = room.record.tail[-1].entry, room.state.members["athena"]
        public = [told.text for told in entry.told if told.seats is None]
        return [item for item in feed(entry, member, room.eye(member)) if item.text not in public]

    def _reads(self, room: Room) -> list[Any]:
        """All that athena can read. What is public by design is made the same first."""
        land = room.world.sim.land
        tiles = [("get_tile", {"x": x, "y": y}) for x in range(0, land.width, 16) for y in range(0, land.height, 16)]
        with without_public_facts(room):
            heard = [said(room, "athena", command, args, self._now) for command, args in (*READS, *tiles)]
            seat = next(seat for seat in room.world.seats_now() if seat.id == str(ATHENA))
            return [*heard, list(room.world.legal(seat)), list(room.world.goals(seat))]

    def _athena_acts(self, room: Room) -> list[Any]:
        with without_public_facts(room):
            action = self.kings[id(room)].decide(room.world.observe(room.eye(room.state.members["athena"])))
        wanted = [(action.name, action.parameters)] if action is not None else []
        home = room.world.sim.cities_of(ATHENA)[0]
        room.world.sim.kingdoms[ATHENA].faith += 20
        at = {"x": home.x, "y": home.y}
        wanted.append(("invoke_power", {"power_id": "rain", **at, "radius": 5, "pulses": 2}))
        wanted.append(("spawn", {"entity_id": room.world.sim.kingdoms[ATHENA].race, **at, "count": 1}))
        return [said(room, "athena", *act, at=self._now) for act in wanted if act[0] not in OPEN_ACTS]

    def _ares_acts(self, room: Room) -> None:
        """A scripted brain plays: another one in each branch."""
        action = self.rivals[id(room)].decide(room.world.observe(room.eye(room.state.members["ares"])))
        if action is not None and action.name not in OPEN_ACTS:
            self._tried(room, "ares", action.name, action.parameters)

    def _hidden_acts(self) -> None:
        """What ares and a god do in the busy branch only."""
        sim = self.busy.world.sim
        realm = sim.kingdoms[ARES]
        realm.faith = 300
        own = sim.cities_of(ARES)
        if not own:
            return
        city = own[self.ticks // EVERY % len(own)]
        at = {"x": city.x, "y": city.y}
        turns = [
            [("ares", "spawn", {"entity_id": realm.race, **at, "count": 3, "adult": True})],
            [("ares", "invoke_power", {"power_id": power, **at}) for power in ("fertility", "treasure", "bounty")],
            [("ares", "muster", {"percent": 60}), ("ares", "invoke_power", {"power_id": "timber", **at})],
            [("ares", "settle", _far_soil(sim)), ("ares", "fortify", {"on": True})],
            [("zeus", "invoke_power", {"power_id": "smite", **_somebody(sim)}), ("ares", "stand_down", {})],
            [("zeus", "spawn", {"entity_id": "sheep", **at, "count": 4}), ("ares", "muster", {"percent": 10})],
            [("ares", "invoke_power", {"power_id": "rain", **at, "radius": 4, "pulses": 4})],
        ]
        for who, command, args in turns[self.ticks // EVERY % len(turns)]:
            self._tried(self.busy, who, command, args)
            self.acts.append(f"{who} {command} {args}")

    def _tried(self, room: Room, who: str, command: str, args: Any) -> None:
        with suppress(CohabitError):
            room.call(who, command, args, at=self._now)


def _difference(one: str, other: str) -> str:
    """The place where two texts begin to differ."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(0, at - 60) : at + 60]!r} and {other[max(0, at - 60) : at + 60]!r}"


@contextmanager
def without_public_facts(room: Room) -> Iterator[None]:
    """Makes what is public by design the same in both branches: the numbers and kings of other kingdoms, and the news
    for everybody."""
    sim = room.world.sim
    before, news = [(k, k.people, k.cities, k.king) for k in sim.kingdoms.values() if k.id != ATHENA], sim.news
    for kingdom, *_ in before:
        kingdom.people = kingdom.cities = kingdom.king = 0
    sim.news = [item for item in news if item.kingdoms is not None]
    room.world._changed()
    yield
    for kingdom, people, cities, king in before:
        kingdom.people, kingdom.cities, kingdom.king = people, cities, king
    sim.news = news
    room.world._changed()


# -- the state itself -----------------------------------------------------------------------------
def own_state(sim: Sim) -> list[Any]:
    """All that there is of athena's kingdom and in its sight, without the numbers that the simulation counts with."""
    realm, c = sim.kingdoms[ATHENA], sim.creatures
    places = {0: None} | {city.id: (city.x, city.y) for city in sim.cities.values()}

    def public(creature: int) -> int | None:
        row = c.row(creature)
        return None if row is None else int(c.public[row])

    kingdom = asdict(realm) | {
        "king": public(realm.king), "capital": places[realm.capital], "band": [public(one) for one in realm.band],
        "known": list(realm.known.values()), "orders": msgspec.to_builtins(realm.orders) | {"raid": 0},
    }  # fmt: skip
    cities = [
        asdict(city) | {"id": 0, "leader": public(city.leader), "road_to": places.get(city.road_to)}
        for city in sim.cities_of(ATHENA)
    ]
    view = View(sim, ATHENA, False)
    assert view.seen is not None
    layers = [layer[view.seen].tobytes() for name, layer in sim.land.layers().items() if name != "city"]
    owners = [places[number] for number in sim.land.city[view.seen].tolist()]
    return [kingdom, cities, view.seen.tobytes(), *layers, owners, *_columns(sim, view.rows(), places)]


def _columns(sim: Sim, rows: NDArray[np.int64], places: dict[int, Any]) -> list[Any]:
    found = {name: column[rows].tolist() for name, column in sim.creatures.columns().items() if name != "id"}
    return [*(found | {"city": [places[city] for city in found["city"]]}).items()]


def near(one: Sim, other: Sim) -> bool:
    """Is anything that differs between these worlds within CONTACT tiles of what athena sees?"""
    around = _widened(seen_by(one, ATHENA) | seen_by(other, ATHENA), one.land.width)
    return bool(around[_differing_cells(one, other)].any())


def _widened(mask: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """The cells within CONTACT tiles of a cell of the mask."""
    side = 2 * CONTACT + 1
    for axis in (0, 1):
        wide = [(0, 0), (0, 0)]
        wide[axis] = (CONTACT + 1, CONTACT)
        sums = np.cumsum(np.pad(mask.reshape(-1, width), wide), axis=axis)
        mask = np.take(sums, range(side, sums.shape[axis]), axis) > np.take(sums, range(sums.shape[axis] - side), axis)
    return mask.ravel()


def _differing_cells(one: Sim, other: Sim) -> NDArray[np.int64]:
    """The cells that differ, and those of creatures that differ, in either world."""
    differs = np.zeros(one.land.size, np.bool_)
    for name in LAYERS:
        if name != "city":
            differs |= getattr(one.land, name) != getattr(other.land, name)
    differs |= _owners(one) != _owners(other)
    mine, theirs = _known_by_public_id(one), _known_by_public_id(other)
    for creatures, others in ((mine, theirs), (theirs, mine)):
        for public, (cell, values) in creatures.items():
            if public not in others or others[public] != (cell, values):
                differs[cell] = True
    return np.flatnonzero(differs)


def _owners(sim: Sim) -> NDArray[np.int64]:
    table = np.zeros(max(sim.cities, default=0) + 1, np.int64)
    for city in sim.cities.values():
        table[city.id] = sim.land.cell(city.x, city.y) + 1
    owners: NDArray[np.int64] = table[sim.land.city]
    return owners


def _known_by_public_id(sim: Sim) -> dict[int, tuple[int, tuple[Any, ...]]]:
    c = sim.creatures
    values = zip(*(column.tolist() for name, column in c.columns().items() if name not in ("id", "city")), strict=True)
    cells = sim.land.cells(c.x, c.y).tolist()
    return {public: (cell, value) for public, cell, value in zip(c.public.tolist(), cells, values, strict=True)}


def _far_soil(sim: Sim) -> dict[str, int]:
    """Soil near ares, on the side away from athena."""
    home, away = sim.cities_of(ARES)[0], sim.cities_of(ATHENA)[0]
    x, y = home.x + np.sign(home.x - away.x) * 22, home.y + np.sign(home.y - away.y) * 22
    x, y = int(np.clip(x, 8, sim.land.width - 9)), int(np.clip(y, 8, sim.land.height - 9))
    cells = sim.land.disc(x, y, 8)
    cells = cells[CAN_GROW[sim.land.ground[cells]] & (sim.land.city[cells] == 0)]
    return dict(zip("xy", sim.land.xy(int(cells[0])) if len(cells) else (x, y), strict=True))


def _somebody(sim: Sim) -> dict[str, int]:
    """The place of one of ares' people at home."""
    c, home = sim.creatures, sim.cities_of(ARES)[0]
    rows = np.flatnonzero((c.kingdom == ARES) & (abs(c.x - home.x) < 10) & (abs(c.y - home.y) < 10))
    row = int(rows[-1]) if len(rows) else 0
    return {"x": int(c.x[row]), "y": int(c.y[row])}
