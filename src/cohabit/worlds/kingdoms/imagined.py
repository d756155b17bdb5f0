"""Another world that an eye cannot tell from the true one: what it may not see is drawn again.

What stays: everything in sight, the eye's own kingdom, and what is public. Hidden cities of which the eye has never
heard move; hidden creatures, stores, plans, plants and all dice are new.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.world import Stream
from cohabit.worlds.kingdoms.chance import Chance
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.names import PUBLIC_ID_BITS
from cohabit.worlds.kingdoms.powers.ground import FITS, HOLDS_BUILDINGS
from cohabit.worlds.kingdoms.powers.storms import KINDS
from cohabit.worlds.kingdoms.rules import cities, diplomacy, life, settlers, wildlife
from cohabit.worlds.kingdoms.rules.city_life import KING_LOYALTY, MAX_MEALS
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import MAX_FAITH, City, Kingdom, News, Orders
from cohabit.worlds.kingdoms.species import HEALTH, IS_CIVIL, LIFE
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, CAN_GROW, TOP_FOOD, TOP_ROW

PLACES = 60
"""The number of random places that are considered for a city."""
HOME_RADIUS = 9
"""People are imagined within this distance of the centre of their city."""
SOLDIERS = 1, 6
"""The part of the people that is imagined under arms."""
_FARM, _FIRE, _GRASS, _NONE = (TOP_ROW[name] for name in ("farmland", "fire", "grass", "none"))


def redraw(view: View, heard: list[News], stream: Stream) -> None:
    """Redraw in place what this eye may not see. ``heard`` is the news that it knows."""
    sim = view.sim
    if view.seen is None:
        return
    dice = Chance(stream.bits64() << 64 | stream.bits64())
    shown = view.rows()
    _Imagination(view, view.seen, heard, dice).run(shown)
    sim.news = heard
    sim.storms = [
        storm for storm in sim.storms if view.seen[sim.land.disc(storm.x, storm.y, KINDS[storm.kind].radius)].any()
    ]
    sim.casts = {}
    sim.chance = Chance(sim.seed, stream.bits64() << 64 | stream.bits64())
    sim.stale = True
    sim.refresh()


class _Imagination:
    def __init__(self, view: View, seen: NDArray[np.bool_], heard: list[News], dice: Chance) -> None:
        self.view, self.sim, self.seen, self.dice = view, view.sim, seen, dice
        self.mine = view.kingdom or 0
        self.heard = " ".join(item.text for item in heard)

    def below(self, n: int, purpose: str, count: int, key: int = 0) -> NDArray[np.int64]:
        return self.dice.below(n, purpose, key, np.arange(count))

    def run(self, shown: NDArray[np.int64]) -> None:
        foreign = [city for city in self.sim.cities.values() if city.kingdom != self.mine]
        self._plants()
        for city in foreign:
            if self._is_unknown(city):
                self._move(city)
            self._stores(city)
        hidden = np.setdiff1d(np.arange(self.sim.creatures.n), shown)
        self._creatures(hidden[self.sim.creatures.kingdom[hidden] != (self.mine or -1)])
        for kingdom in self.sim.kingdoms.values():
            if kingdom.id != self.mine:
                self._plans(kingdom)
        for pair in self.sim.opinions:
            if not self.sim.are_at_war(*pair):
                self.sim.opinions[pair] = self.dice.one(61, f"opinion {pair}", 0) - 30

    # -- the land ---------------------------------------------------------------------------------
    def _plants(self) -> None:
        """Unowned land in the fog has the ground of the chart, and its plants change places."""
        land, sim = self.sim.land, self.sim
        cells = np.flatnonzero(~self.seen & (land.city == 0) & (land.built == 0))
        land.ground[cells] = land.chart[cells]
        order = np.argsort(self.dice.bits("plants", 0, cells), kind="stable")
        for ground in np.unique(land.chart[cells]).tolist():
            alike, mixed = cells[land.chart[cells] == ground], cells[order][land.chart[cells[order]] == ground]
            land.top[alike] = land.top[mixed].copy()
        land.top[cells[~FITS[land.ground[cells], land.top[cells]]]] = _NONE
        since = self.dice.below(2 * wildlife.REGROWS, "grazed", 0, cells)
        land.grazed[cells] = np.where(
            TOP_FOOD[land.top[cells]] > 0, np.maximum(sim.tick - since, 0), land.grazed[cells]
        )
        land.burning = np.flatnonzero(land.top == _FIRE)
        land.forget_molten()

    # -- cities -----------------------------------------------------------------------------------
    def _is_unknown(self, city: City) -> bool:
        """Has the eye neither seen this city nor heard of it?"""
        sim = self.sim
        mine = sim.kingdoms.get(self.mine)
        known = mine is not None and (city.id in mine.known or city.id == mine.orders.raid)
        return not (
            known or city.besieger == self.mine or city.name in self.heard or self.seen[cities.land_of(sim, city)].any()
        )

    def _move(self, city: City) -> None:
        place = self._free_place(city)
        if place is None:
            return
        land, old = self.sim.land, cities.land_of(self.sim, city)
        land.city[old] = land.built[old] = 0
        land.top[old[land.top[old] == _FARM]] = _GRASS
        city.x, city.y = place
        around = land.disc(city.x, city.y, city.radius)
        new = around[(land.city[around] == 0) & land.is_dry(around) & ~self.seen[around] & (land.top[around] != _FIRE)]
        land.city[new] = city.id
        self._build(city, new)

    def _free_place(self, city: City) -> tuple[int, int] | None:
        land, others = self.sim.land, [other for other in self.sim.cities.values() if other is not city]
        for cell in self.dice.below(land.size, "place", city.id, np.arange(PLACES)).tolist():
            x, y = land.xy(cell)
            soil = land.disc(x, y, settlers.SOIL_RADIUS)
            free = CAN_GROW[land.ground[soil]] & (land.city[soil] == 0)
            apart = all(other.distance(x, y) >= settlers.APART for other in others)
            if apart and free.sum() >= settlers.MIN_SOIL and free[soil == cell][0] and not self.seen[soil].any():
                return x, y
        return None

    def _build(self, city: City, cells: Cells) -> None:
        """Its buildings stand around the centre, as many as there is room for, and fields among them."""
        land, centre = self.sim.land, self.sim.land.cell(city.x, city.y)
        sites = cells[HOLDS_BUILDINGS[land.ground[cells]] & (cells != centre)]
        sites = sites[np.argsort(self.dice.bits("sites", city.id, sites), kind="stable")]
        kinds = [kind for kind, count in city.buildings.items() for _ in range(count) if kind != "bonfire"]
        built = dict(zip(sites.tolist(), kinds, strict=False)) | {centre: "bonfire"}
        for cell, kind in built.items():
            land.built[cell], land.top[cell] = BUILDING_ROW[kind], _NONE
        city.buildings = {kind: list(built.values()).count(kind) for kind in dict.fromkeys(built.values())}
        fields = cells[CAN_GROW[land.ground[cells]] & (land.built[cells] == 0)]
        land.top[fields[self.dice.hits(1, 3, "fields", city.id, fields)]] = _FARM

    def _stores(self, city: City) -> None:
        numbers = self.below(MAX_MEALS, "stores", 5, city.id).tolist()
        city.food, city.wood, city.stone, city.gold = (numbers[0], *(number // 5 for number in numbers[1:4]))
        city.loyalty = 60 + numbers[4] % 41
        city.leader = city.hungry = 0
        if city.besieger != self.mine and not self.view.sees_city(city):
            city.besieger = city.siege = 0

    # -- creatures --------------------------------------------------------------------------------
    def _creatures(self, rows: NDArray[np.int64]) -> None:
        c, sim, n = self.sim.creatures, self.sim, len(self.sim.creatures.id)
        kings = [kingdom.king for kingdom in sim.kingdoms.values()]
        self._scatter(rows)
        who = rows[~np.isin(c.id[rows], kings)]  # the names of kings are public
        c.public[who] = (self.dice.bits("ids", 0, who) >> np.uint64(64 - PUBLIC_ID_BITS)).astype(np.int64) | 1
        c.number[who] = self.dice.below(1 << 16, "numbers", 0, who)
        c.born[who] = sim.tick - self.dice.below(1 << 20, "ages", 0, who) * (LIFE[c.species[who]] * 3 // 4) // (1 << 20)
        c.sex[who] = self.dice.below(2, "sexes", 0, who)
        c.tx[rows] = c.ty[rows] = -1
        c.food[rows] = 40 + self.dice.below(61, "food", 0, rows)
        c.hp[rows] = np.maximum(HEALTH[c.species[rows]] * (50 + self.dice.below(51, "health", 0, rows)) // 100, 1)
        c.effects[rows] = c.kills[rows] = 0
        people = rows[IS_CIVIL[c.species[rows]] & (c.kingdom[rows] > 0)]
        armed = self.dice.hits(*SOLDIERS, "armed", 0, people) & life.grown_up(sim, people) & (c.city[people] > 0)
        c.job[people] = np.where(armed, Job.SOLDIER, Job.WORKER)
        soldiers = np.bincount(c.city[c.job == Job.SOLDIER], minlength=max(sim.cities, default=0) + 1)
        for city in sim.cities.values():
            if city.kingdom != self.mine:
                city.soldiers = int(soldiers[city.id])
        assert len(c.id) == n

    def _scatter(self, rows: NDArray[np.int64]) -> None:
        """People go to their cities, all others to any place in the fog where they can live."""
        c, land = self.sim.creatures, self.sim.land
        fog = np.flatnonzero(~self.seen)
        for species in np.unique(c.species[rows]).tolist():
            some = rows[c.species[rows] == species]
            for home in np.unique(c.city[some]).tolist():
                who = some[c.city[some] == home]
                city = self.sim.cities.get(home)
                near = land.disc(city.x, city.y, HOME_RADIUS) if city is not None else fog
                near = near[~self.seen[near] & life.livable(self.sim, species, near)]
                if len(near):
                    cells = near[self.dice.below(len(near), f"where {species}", home, who)]
                    c.x[who], c.y[who] = cells % land.width, cells // land.width

    # -- kingdoms ---------------------------------------------------------------------------------
    def _plans(self, kingdom: Kingdom) -> None:
        numbers = self.below(1000, "plans", 6, kingdom.id).tolist()
        kingdom.faith, kingdom.weariness = numbers[0] % (MAX_FAITH + 1), numbers[1] % 40
        kingdom.nature = numbers[2] % (2 * KING_LOYALTY + 1) - KING_LOYALTY
        kingdom.no_war_before = self.sim.tick + numbers[3] * diplomacy.PEACE_LASTS // 1000
        offered = tuple(number for number in kingdom.orders.peace if number == self.mine)
        kingdom.orders = Orders(muster=numbers[4] % 7 * 10, fortify=numbers[5] % 4 == 0, peace=offered)
        kingdom.goal = kingdom.camp = kingdom.band_to = None
        kingdom.goal_is_attack, kingdom.army_out, kingdom.fallen = False, 0, 0
        kingdom.band, kingdom.known = (), {}
        kingdom.soldiers = sum(city.soldiers for city in self.sim.cities_of(kingdom.id))
