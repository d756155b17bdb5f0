"""A player of the planets that uses only its observations: it gathers, crafts, fights, and follows the quests."""

from cohabit.agents.brains.planet.chart import CARRIES, LIQUID, distance, is_solid
from cohabit.agents.brains.planet.needs import STATIONS, Needs
from cohabit.agents.brains.planet.walking import AIMS, Walking
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.worlds.starbound.planets import SHIP, WIDTH, fuel_between
from cohabit.worlds.starbound.tiles import NAME_OF_LETTER

DEEP = 26  # how far down the rarer ores are looked for


class Pioneer(Walking):
    """Follows the quests, and does on the way what it needs to stay alive."""

    def decide(self, observation: Observation) -> Action:
        status = observation.status
        if "map" not in status or not status["alive"]:
            return Action("wait", {}, "nothing else can be done")
        self._look_around(observation)
        return (
            self._stay_alive()
            or (self._aboard() if status["place"] == SHIP else None)
            or self._work()
            or Action("wait", {}, "nothing to do")
        )

    # -- staying alive --------------------------------------------------------------------------------
    def _stay_alive(self) -> Action | None:
        status = self.status
        hostile = [t for t in status["things"] if t[3] == "hostile" and abs(t[1]) <= 2 and abs(t[2]) <= 2]
        hurt = status["health"] < status["max_health"] * 0.45
        if hurt and "bandage" in self.items:
            return Action("consume", {"item": "bandage"}, "badly hurt")
        if hurt and status["place"] != SHIP and not status["falling"] and status["depth"] <= 1 and self._sky_above():
            return Action("beam_up", {}, "badly hurt, so rest aboard")
        if status["place"] == SHIP and status["health"] < status["max_health"] * 0.9 and status["food"] > 10:
            food = self._food() if status["food"] <= 60 else ""
            return Action("consume", {"item": food}, "hungry") if food else Action("wait", {}, "healing aboard")
        if hostile and status["energy"] >= 3:
            if len(hostile) > 1 and status["energy"] > 40:
                return Action("alt_attack", {}, "several enemies are near")
            return Action("attack", {}, f"a {hostile[0][0]} is near")
        if status["breath"] < 7:
            return self._surface_to_breathe()
        if status["falling"] and not self.jumped:
            return Action("wait", {}, "falling")
        if status["food"] < 55 and (food := self._food()):
            return Action("consume", {"item": food}, "hungry")
        if status["energy"] < 6:
            return Action("wait", {}, "tired")
        if status["hazard"] and status["health"] < 60 and self._sky_above() and not status["falling"]:
            return Action("beam_up", {}, f"the {status['hazard']} is too much")
        return None

    def _surface_to_breathe(self) -> Action:
        x, y = self.here
        if self.chart.at(x, y - 1) in "~.":
            return Action("move", {"direction": "up"}, "breath")
        dry = self._follow("breath", lambda at: self.chart.at(*at) not in LIQUID, None)
        return dry or Action("use_tool", {"direction": "up"}, "breath")

    def _food(self) -> str:
        return next((item for item in ("cooked_meat", "berries", "mushroom", "meat") if item in self.items), "")

    def _sky_above(self) -> bool:
        x, y = self.here
        return all(not is_solid(self.chart.at(x, row)) for row in range(y - 1, y - 5, -1))

    # -- the ship ---------------------------------------------------------------------------------------
    def _aboard(self) -> Action:
        status = self.status
        goal = Needs(status, self.items).planet()
        if goal and goal != status["orbit"]:
            cost = fuel_between(status["orbit"], goal)
            if status["fuel"] >= cost:
                return Action("warp", {"destination": goal}, "the next quest is there")
            for item in ("crystal", "coal"):
                keep = 0 if item == "crystal" else 3
                if self.items.get(item, 0) > keep:
                    return Action("consume", {"item": item, "count": self.items[item] - keep}, "fuel")
        if self.items.get("pixels", 0) > 120 and self.items.get("bandage", 0) < 3:
            return Action("buy", {"item": "bandage"}, "for bad times")
        return Action("beam_down", {}, "to work")

    # -- work ---------------------------------------------------------------------------------------------
    def _work(self) -> Action | None:
        needs = Needs(self.status, self.items)
        if (action := self._finish_jump()) is not None:
            return action
        if (made := needs.make()) is not None:
            return self._make(made)
        if (station := self._left_behind()) is not None:
            return station
        if self.seen.step < self.wander_until and (action := self._elsewhere()) is not None:
            return action
        if needs.wants_ship():
            return self._leave()
        return self._gather(needs.gather())

    def _make(self, item: str) -> Action | None:
        """Craft or place what is next; stations are put down where they are needed."""
        kind, _, what = item.partition(" ")
        if kind == "craft":
            return Action("craft", {"item": what}, "the next tool")
        around = {way: (self.here[0] + dx, self.here[1] + dy) for (dx, dy), way in AIMS.items()}
        for way, (x, y) in around.items():
            beside = [self.chart.at(x + dx, y + dy) for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0))]
            if self.chart.at(x, y) in ".~l" and (self.status["depth"] > 2 or any(map(is_solid, beside))):
                return Action("place", {"item": what, "direction": way}, "needed here")
        for way, spot in around.items():
            if (letter := self.chart.at(*spot)) not in ".~!&X " and way != "down" and self._can_dig(letter):
                return Action("use_tool", {"direction": way}, "space for a station")
        return self._go_on("move on", None)

    def _left_behind(self) -> Action | None:
        """Take stations along when they are no longer needed."""
        for (dx, dy), way in AIMS.items():
            name = STATIONS.get(self.chart.at(self.here[0] + dx, self.here[1] + dy))
            if name and name not in self.items:
                return Action("use_tool", {"direction": way}, f"take the {name} along")
        return None

    def _leave(self) -> Action | None:
        """Go up to the open sky and to the ship."""
        if self.status["depth"] <= 1 and self._sky_above() and not self.status["falling"]:
            return Action("beam_up", {}, "the ship is next")
        return self._climb_out() or self._go_on("climb", (self.here[0] + self.way * 4, self.here[1] - 6))

    def _climb_out(self) -> Action | None:
        """To the nearest place under the open sky."""
        spots = [spot for side in range(-24, 25) if (spot := self.chart.surface(self.here[0] + side)) is not None]
        for spot in sorted(spots, key=lambda spot: (distance(self.here, spot), spot))[:2]:
            if (action := self._go_to("surface", spot)) is not None:
                return action
        return None

    def _gather(self, wanted: tuple[str, ...]) -> Action | None:
        """Get the nearest of these: tiles by digging, creatures by hunting."""
        prey = [t for t in self.status["things"] if t[0] in wanted and t[3] in ("passive", "hostile")]
        if prey:
            thing = prey[0]
            if abs(thing[1]) <= 2 and abs(thing[2]) <= 2:
                return Action("attack", {"target": thing[0]}, "prey")
            spot = ((self.here[0] + thing[1]) % WIDTH, self.here[1] + thing[2])
            if (action := self._approach("hunt", spot, 2)) is not None:
                return action
        bundle = next((t for t in self.status["things"] if t[0] == "bundle"), None)
        if bundle is not None and abs(bundle[1]) <= 1 and abs(bundle[2]) <= 2:
            return Action("interact", {"target": "bundle"}, "take it along")
        spots = [spot for spot in self.chart.known(wanted) if self.avoid.get(spot, 0) <= self.seen.step]
        nearest = sorted(spots, key=lambda spot: (distance(self.here, spot), spot))[:12]
        for spot in nearest:
            dx = (spot[0] - self.here[0] + WIDTH // 2) % WIDTH - WIDTH // 2
            dy = spot[1] - self.here[1]
            if (dx, dy) in AIMS and self._is_safe_to_dig(dx, dy):
                letter = self.chart.tiles[spot]
                self.chart.tiles[spot] = "."  # it may be out of sight behind a corner
                return Action("use_tool", {"direction": AIMS[dx, dy]}, f"collect {NAME_OF_LETTER[letter]}")
            if (dx, dy) == (0, 0):
                return Action("use_tool", {"direction": "up"}, "collect it")
        for spot in nearest[:2]:
            if (action := self._approach("collect", spot, 1)) is not None:
                return action
            self.avoid[spot] = self.seen.step + 200
        return self._explore(wanted)

    def _explore(self, wanted: tuple[str, ...]) -> Action | None:
        """Look for what is not known yet: along the surface, or far below it."""
        x, y = self.here
        on_surface = not any(tile in wanted for tile in ("stone", "coal", "iron", "titanium", "diamond", "crystal"))
        if on_surface:
            if self.status["depth"] > 2:
                return self._climb_out() or self._go_on("climb", (x + self.way * 4, y - 6))
            for ahead in range(8, 1, -1):
                spot = self.chart.surface(x + self.way * ahead)
                if spot and (action := self._go_to("explore", spot)) is not None:
                    return action
            return self._go_on("explore on", (x + self.way * 8, y - 2))
        deep = DEEP if any(tile in wanted for tile in ("titanium", "diamond", "crystal")) else 14
        if self.status["depth"] < deep:
            return self._go_on("dig down", (x + self.way * 6, y + 8))
        return self._go_on("tunnel", (x + self.way * 10, y))

    def _is_safe_to_dig(self, dx: int, dy: int) -> bool:
        """True if one does not fall through the floor."""
        return (dx, dy) != (0, 1) or self.chart.at(self.here[0], self.here[1] + 2) in CARRIES
