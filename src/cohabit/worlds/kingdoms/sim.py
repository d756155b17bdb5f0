"""The whole state of a world of Kingdoms.

Rules live in modules of their own and are functions of the simulation; ``rules`` calls them in order, every tick.

* creatures: ``life`` feeds and ages them, ``walk`` moves them, ``near`` and ``battle`` let them meet and fight,
  ``marks`` is what lies on them, ``wild`` are the animals, ``work`` is what people do all day
* the land: ``fire`` and ``growth``
* cities: ``civics`` founds and razes them, ``townhall`` thinks for them, with ``building``, ``household``,
  ``settlers``, ``trade`` and ``loyalty``
* kingdoms: ``crowns`` founds and ends them, ``diplomacy`` thinks for them, with ``muster``, ``armies`` and ``siege``;
  ``nomads`` come where there are none

``powers`` is what gods and kings do to it. All of them keep to whole numbers and to ``chance``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import Chance
from cohabit.worlds.kingdoms.creatures import Creatures
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.realms import City, Kingdom, News, Storm, Tally, War

YEAR = 60
"""Ticks in a year: with this a human is grown at fifteen and grows ninety years old."""
NEWS_KEPT = 200
"""How many pieces of news a world remembers, for views."""


class Sim:
    """See the module. Everything in it is written down by ``save``."""

    def __init__(self, seed: int, land: Land) -> None:
        self.seed = seed
        self.tick = 0
        self.land = land
        self.chance = Chance(seed)
        self.creatures = Creatures()
        self.cities: dict[int, City] = {}  # those that stand, by id, in order of founding
        self.kingdoms: dict[int, Kingdom] = {}  # all that ever were, by id; see ``alive``
        self.wars: list[War] = []  # those going on
        self.opinions: dict[tuple[int, int], int] = {}  # what one kingdom thinks of another, -100 to 100
        self.at_war: NDArray[np.bool_] = np.zeros((16, 16), np.bool_)  # by kingdom ids; derived from ``wars``
        self.storms: list[Storm] = []  # what powers left behind; see powers.storms
        self.laws: dict[str, bool] = {}  # what gods switched for the whole world: peace, no_fire …
        self.tally = Tally()
        self.news: list[News] = []  # the latest, oldest first
        self.untold: list[News] = []  # what happened since somebody last collected it
        self.stale = True  # do ``at_war`` and ``city_place`` have to be derived again?
        self.city_place: NDArray[np.int64] = np.zeros((1, 3), np.int64)  # by city id: x, y, radius; derived

    @property
    def alive(self) -> list[Kingdom]:
        """The kingdoms there are now."""
        return [k for k in self.kingdoms.values() if k.alive]

    def cities_of(self, kingdom: int) -> list[City]:
        return [c for c in self.cities.values() if c.kingdom == kingdom]

    def tell(self, text: str, kingdoms: Sequence[int] | None = None, kind: str = "info") -> None:
        """Something happened; only these kingdoms hear of it, or everybody."""
        piece = News(self.tick, text, None if kingdoms is None else tuple(kingdoms), kind)
        self.untold.append(piece)
        self.news = [*self.news[-NEWS_KEPT + 1 :], piece]

    def refresh(self) -> None:
        """Derive again what rules look up in columns, after cities or wars came or went."""
        if not self.stale:
            return
        self.stale = False
        self.at_war = np.zeros((max(self.kingdoms, default=0) + 1,) * 2, np.bool_)
        for war in self.wars:
            self.at_war[war.attacker, war.defender] = self.at_war[war.defender, war.attacker] = True
        self.city_place = np.zeros((max(self.cities, default=0) + 1, 3), np.int64)
        for city in self.cities.values():
            self.city_place[city.id] = city.x, city.y, city.radius

    def fighting(self, a: int, b: int) -> bool:
        """Are these two kingdoms at war?"""
        return any((w.attacker, w.defender) in ((a, b), (b, a)) for w in self.wars)

    def collect(self) -> list[News]:
        """What happened since the last time this was asked."""
        untold, self.untold = self.untold, []
        return untold
