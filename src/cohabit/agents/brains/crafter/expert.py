"""The brain `crafter-expert`, and what it does to stay alive: at once, and in time."""

from cohabit.agents.brains.crafter.danger import arrow_cells, is_in_danger, way_out
from cohabit.agents.brains.crafter.goals import pursue
from cohabit.agents.brains.crafter.map import around
from cohabit.agents.brains.crafter.needs import CRITICAL, drink_at_night, satisfy, satisfy_at
from cohabit.agents.brains.crafter.planting import plant_before_night
from cohabit.agents.brains.crafter.rest import rest, sit_out_siege
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.agents.brains.crafter.tools import make_at_once
from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action, ActionSpace
from cohabit.model.observation import Observation
from cohabit.worlds.crafter.rules import MOST, VIEW_WIDTH


class CrafterExpert(Scripted):
    """Plans with a map; makes tools, hunts, and sleeps in shelters; staying alive comes first.

    It was tuned on the seeds 1000 to 1099.
    """

    reads_choices = False
    reads_text = False

    def __init__(self, purpose: str = "crafter-expert") -> None:
        super().__init__(purpose)
        self.situation = Situation()

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        super().initialize(game_desc, action_space)
        self.situation = Situation()

    def decide(self, observation: Observation) -> Action:
        self.situation.see(observation)
        s = self.situation
        return keep_alive(s) or make_at_once(s) or plant_before_night(s) or prepare(s) or pursue(s)


def keep_alive(s: Situation) -> Action | None:
    """The action for an urgent need: sleep on, dodge, fight or finish; None if nothing is urgent."""
    if s.sleeping and s.energy < MOST:
        return Action("sleep", {}, "asleep")
    return _dodge(s) or _fight(s) or _finish(s)


def prepare(s: Situation) -> Action | None:
    """Drink, eat and rest in time."""
    if s.dark:
        return drink_at_night(s) or rest(s)
    return sit_out_siege(s) or satisfy_at(s, CRITICAL) or rest(s) or satisfy(s)


def _dodge(s: Situation) -> Action | None:
    """Step out of the way of an arrow, or stop it with a stone."""
    if not is_in_danger(s.map):
        return None
    cell = way_out(s.map)
    if cell is not None:
        return s.turn(cell, "dodges an arrow")
    if s.has("stone") and s.map.is_free(s.map.ahead) and s.map.ahead in arrow_cells(s.map, VIEW_WIDTH):
        return Action("place_stone", {}, "stops an arrow")
    return None


def _fight(s: Situation) -> Action | None:
    """Hit a creature that stands next to the player."""
    for name in ("zombie", "skeleton"):
        for cell in around(s.map.here):
            if s.map.things.get(cell) == name:
                return s.use(cell, f"a {name} is next to me")
    return None


def _finish(s: Situation) -> Action | None:
    """Place what it made room for."""
    action, s.intended = s.intended, None
    return action if action is not None and s.map.is_free(s.map.ahead) else None
