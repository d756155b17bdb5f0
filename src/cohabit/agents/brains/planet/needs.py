"""The next needs of the pioneer: things to make, things to gather, and places to go to."""

from typing import Any

from cohabit.model.table_files import read_table
from cohabit.worlds.starbound.items import RECIPE
from cohabit.worlds.starbound.planets import PLANET_NAMES, SHIP

_TABLES = read_table(__file__, dict[str, dict[str, tuple[str, ...]]])
_ORDER, _SOURCES = _TABLES["order"], _TABLES["sources"]
STATIONS = {"W": "workbench", "U": "furnace", "V": "anvil", "F": "campfire"}
_WOOD_IN_HAND, _WOOD_FOR_THE_MINE = 4, 10
_FUEL_COAL = 8


class Needs:
    """Derived from one observation."""

    def __init__(self, status: dict[str, Any], items: dict[str, int]) -> None:
        self.status = status
        self.items = items
        self.done: list[str] = status["achievements"]

    def _has(self, item: str) -> bool:
        return item in self.items or item in self._near() or item in self.status["equipment"].values()

    def _near(self) -> list[str]:
        """The stations in view and close."""
        rows = self.status["map"]
        high, wide = len(rows) // 2, len(rows[0]) // 2
        close = "".join(row[wide - 3 : wide + 4] for row in rows[high - 3 : high + 4])
        return [name for letter, name in STATIONS.items() if letter in close]

    def _next(self) -> str | None:
        """The next item of the plan."""
        return next((item for item in _ORDER["plan"] if not self._has(item) and not self._is_obsolete(item)), None)

    def _is_obsolete(self, item: str) -> bool:
        """True if it has a better tool of the same kind."""
        kind = item.rpartition("_")[2]
        if kind in ("pickaxe", "sword"):
            order = [tool for tool in _ORDER["tools"] if tool.endswith(kind)]
            return any(self._has(better) for better in order[order.index(item) + 1 :])
        return False

    def make(self) -> str | None:
        """The next thing to make or place now: "craft X" or "place X"; None if there is none."""
        can = self.status["can_craft"]
        if self.items.get("meat", 0) >= 2 and "cooked_meat" in can:
            return "craft cooked_meat"
        if self.items.get("fiber", 0) >= 3 and "bandage" in can and self.items.get("bandage", 0) < 4:
            return "craft bandage"
        if self.items.get("torch", 0) < 2 and "torch" in can and self.items.get("coal", 0) > 3:
            return "craft torch"
        following = self._next()
        quests = self.status["quests"]
        for station in ("workbench", "furnace", "anvil"):
            if station in quests and station in self.items:
                return f"place {station}"
        if following is None:
            return None
        if following in can:
            return f"craft {following}"
        recipe = RECIPE[following]
        affordable = all(self.items.get(item, 0) >= count for item, count in recipe.needs.items())
        if affordable and recipe.station and recipe.station in self.items and recipe.station not in self._near():
            return f"place {recipe.station}"
        return None

    def gather(self) -> tuple[str, ...]:
        """The names of tiles and things to look for now."""
        if self.status["food"] < 40:
            return _SOURCES["food"]
        quests = self.status["quests"]
        if "stone" in quests and self.status["depth"] <= 2 and self.items.get("wood", 0) < _WOOD_FOR_THE_MINE:
            return _SOURCES["wood"]
        for item in ("wood", "stone", "coal", "iron"):
            if item in quests:
                return _SOURCES[item] + self._on_the_way()
        following = self._next()
        if following is not None:
            for item, count in RECIPE[following].needs.items():
                if self.items.get(item, 0) < count:
                    return _SOURCES.get(item, ("tree",)) + self._on_the_way()
        if self.items.get("wood", 0) < _WOOD_IN_HAND:
            return _SOURCES["wood"]
        if self.items.get("coal", 0) < _FUEL_COAL:
            return (*_SOURCES["coal"], "crystal")
        return ("crystal", "coal", "diamond", "titanium")

    def _on_the_way(self) -> tuple[str, ...]:
        tier = self.status["equipment"].get("tool", "")
        return ("coal", "iron", "crystal") if tier in ("stone_pickaxe", "iron_pickaxe") else ()

    # -- travel -------------------------------------------------------------------------------------------
    def _fuel(self) -> int:
        fuel: int = self.status.get("fuel", 0)
        return fuel + 2 * max(0, self.items.get("coal", 0) - 3) + 20 * self.items.get("crystal", 0)

    def wants_ship(self) -> bool:
        """True if it is time to go aboard."""
        if self.status["place"] == SHIP:
            return False
        quests = self.status["quests"]
        ready = "make_iron_pickaxe" in self.done
        if not ready or self.status["food"] < 40:
            return False
        if "board" in quests:
            return True
        if "travel" in quests:
            return self._fuel() >= 20
        if "titanium" in quests:
            return self.status["place"] == "verdant" and self._fuel() >= 20
        return "system" in quests and self._fuel() >= 15

    def planet(self) -> str:
        """The next planet for the ship; empty: it stays."""
        quests, orbit = self.status["quests"], self.status.get("orbit", "")
        if "travel" in quests or ("titanium" in quests and orbit == "verdant"):
            return "frost" if self._fuel() >= 20 else "dune" if self._fuel() >= 10 else ""
        if "system" in quests:
            seen = int(quests["system"].partition("/")[0])
            return _ORDER["planets"][min(seen, len(PLANET_NAMES) - 1)]
        return ""
