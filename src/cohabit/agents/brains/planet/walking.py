"""The walking of the pioneer: it follows ways over the land that it remembers, and gives up unreachable targets."""

from collections.abc import Callable
from typing import Any

from cohabit.agents.brains.planet.chart import CARRIES, Chart, Spot, distance, is_solid, tier_of
from cohabit.agents.brains.planet.ways import Leg, Walker, find_way, landing
from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.worlds.starbound.items import ITEM
from cohabit.worlds.starbound.planets import PLANET, WIDTH, jump_height

BLOCKS = ("dirt", "sand", "snow", "ash", "stone", "ice")
AIMS = {(-1, 0): "left", (1, 0): "right", (0, -1): "up", (0, 1): "down", (-1, -1): "up_left", (1, -1): "up_right",
        (-1, 1): "down_left", (1, 1): "down_right"}  # fmt: skip
STEPS_PER_GOAL = 120  # then another target is chosen
PATIENCE, WANDER_STEPS, FORGET_STEPS = 14, 12, 300


class Walking(Scripted):
    """A player that knows where it is, and how to get elsewhere."""

    reads_choices = False
    reads_text = False

    def __init__(self, purpose: str = "agent") -> None:
        super().__init__(purpose)
        self.chart = Chart()
        self.legs: list[Leg] = []
        self.goal: tuple[str, Any] = ("", None)
        self.since = 0
        self.recent: list[tuple[Spot, int]] = []  # where it was, and how much it had
        self.visited: dict[tuple[str, Spot], int] = {}
        self.wander_until = -1
        self.avoid: dict[Spot, int] = {}
        self.way = self.stream.choice((-1, 1))
        self.jumped = False

    def _look_around(self, observation: Observation) -> None:
        """Note what is seen, and whether there is any progress."""
        self.seen, self.status, self.items = observation, observation.status, observation.inventory
        self.chart.update(self.status)
        self.here: Spot = (self.status["position"][0], self.status["position"][1])
        self._notice_no_progress()

    def _approach(self, kind: str, spot: Spot, reach: int) -> Action | None:
        def is_near(at: Spot) -> bool:  # not on top of a tile whose loss would let one fall
            side = abs(at[0] - spot[0]) % WIDTH
            if min(side, WIDTH - side) > reach or abs(at[1] - spot[1]) > reach:
                return False
            return kind != "collect" or side > 0 or at[1] > spot[1] or self.chart.at(spot[0], spot[1] + 1) in CARRIES

        return self._follow(f"{kind} {spot}", is_near, spot)

    def _go_on(self, kind: str, target: Spot | None) -> Action | None:
        """Towards somewhere, or anywhere if that cannot be reached."""
        if self.goal[0] == kind and self.legs and self.seen.step - self.since < STEPS_PER_GOAL:
            target = self.goal[1]
        if target is not None:
            aim = target
            action = self._follow(kind, lambda spot: distance(spot, aim) <= 2, aim)
            if action is not None:
                return action
        if (action := self._elsewhere()) is not None:
            return action
        self.way = -self.way
        self.legs = []
        for way in (self.way, -self.way):
            side, ahead = ("left" if way < 0 else "right"), self.chart.at(self.here[0] + way, self.here[1])
            if is_solid(ahead) and self._can_dig(ahead):
                return Action("use_tool", {"direction": side}, "another way")
            if not is_solid(ahead) and landing(self.chart, self.here[0] + way, self.here[1]) is not None:
                return Action("move", {"direction": side}, "another way")
        return None

    def _go_to(self, kind: str, spot: Spot) -> Action | None:
        return self._follow(kind, lambda at: at == spot, spot)

    def _elsewhere(self) -> Action | None:
        """To a place where it has not been for long."""
        place, before = self.status["place"], self.seen.step - FORGET_STEPS

        def is_new(at: Spot) -> bool:
            return distance(at, self.here) >= 3 and self.visited.get((place, at), -FORGET_STEPS) <= before

        return self._follow("elsewhere", is_new, None)

    def _follow(self, kind: str, is_goal: Callable[[Spot], bool], towards: Spot | None) -> Action | None:
        if self.goal[0] != kind or not self.legs:
            way = find_way(self.chart, self.here, is_goal, self._walker(), towards)
            if not way:
                return None
            self.goal, self.legs, self.since = (kind, towards), way, self.seen.step
        return self._next_leg()

    def _walker(self) -> Walker:
        blocks = sum(self.items.get(block, 0) for block in BLOCKS)
        place = self.status["place"]
        height = jump_height(PLANET.get(place))
        return Walker(self._tier(), blocks, height, self.here[1] - self.status["depth"])

    def _tier(self) -> int:
        tool = self.status["equipment"].get("tool")
        return ITEM[tool].tier if tool else 0

    def _next_leg(self) -> Action | None:
        """The next action on the way; the way is forgotten when the land is not as it was thought."""
        while self.legs and self.legs[0].to == self.here:
            self.legs.pop(0)
        if not self.legs:
            return Action("wait", {}, "arrived")
        leg = self.legs[0]
        x, y = self.here
        if self.here != leg.start:
            self.legs = []
            return Action("wait", {}, "lost the way")
        for dx, dy in leg.digs:
            letter = self.chart.at(x + dx, y + dy)
            if is_solid(letter):
                if not self._can_dig(letter):
                    self.legs = []
                    return Action("wait", {}, "this needs a better tool")
                return Action("use_tool", {"direction": AIMS[dx, dy]}, f"dig to {self.goal[0]}")
        if leg.kind == "side":
            if is_solid(self.chart.at(x + leg.way, y)) or landing(self.chart, x + leg.way, y) is not None:
                return self._walk(leg)
            self.legs = []
            return Action("wait", {}, "too deep")
        if leg.kind == "bridge":
            return self._bridge(leg)
        self.legs.pop(0)
        if leg.kind == "jump":
            return Action("jump", {"direction": "left" if leg.way < 0 else "right"}, self.goal[0])
        if leg.kind == "pillar":
            self.jumped = True
            return Action("jump", {"direction": "up"}, "a pillar up")
        return Action("move", {"direction": "up" if leg.kind == "swim" else "down"}, "on the way")

    def _bridge(self, leg: Leg) -> Action:
        """Put a block where the next step would lead into the depth."""
        if self.chart.at(leg.to[0], leg.to[1] + 1) in CARRIES:
            return self._walk(leg)
        if (block := self._block()) is None:
            self.legs = []
            return Action("wait", {}, "no blocks")
        return Action("place", {"item": block, "direction": "down_left" if leg.way < 0 else "down_right"}, "a bridge")

    def _block(self) -> str | None:
        return next((block for block in BLOCKS if block in self.items), None)

    def _walk(self, leg: Leg) -> Action:
        """Several tiles at once where the way is level and free."""
        tiles = 1
        level = self.status["energy"] > 50 and leg.to[1] == self.here[1] and not leg.digs
        while level and tiles < min(4, len(self.legs)):
            following = self.legs[tiles]
            if following.kind != "side" or following.way != leg.way or following.digs or following.to[1] != leg.to[1]:
                break
            tiles += 1
        del self.legs[: tiles - 1]
        return Action("move", {"direction": "left" if leg.way < 0 else "right", "tiles": tiles}, self.goal[0])

    def _finish_jump(self) -> Action | None:
        if not self.jumped:
            return None
        self.jumped = False
        block = self._block()
        if block is None or not self.status["falling"]:
            return None
        return Action("place", {"item": block, "direction": "down"}, "a pillar up")

    def _notice_no_progress(self) -> None:
        """Give up on what is near, and look around elsewhere, after going to and fro for a while."""
        self.visited[self.status["place"], self.here] = self.seen.step
        self.recent = [*self.recent[1 - PATIENCE :], (self.here, sum(self.items.values()))]
        spots = [spot for spot, _ in self.recent]
        things = [count for _, count in self.recent]
        if len(self.recent) < PATIENCE or len(dict.fromkeys(spots)) > 4 or things[0] != things[-1]:
            return
        self.recent, self.legs = [], []
        self.wander_until = self.seen.step + WANDER_STEPS
        for spot in self.chart.tiles:
            if distance(spot, self.here) <= 5:
                self.avoid[spot] = self.seen.step + 150

    def _can_dig(self, letter: str) -> bool:
        return tier_of(letter) <= self._tier()
