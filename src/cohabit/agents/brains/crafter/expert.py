"""The brain `crafter-expert`."""

from cohabit.agents.brains.crafter.goals import pursue
from cohabit.agents.brains.crafter.planting import plant_before_night
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.agents.brains.crafter.survival import keep_alive, prepare
from cohabit.agents.brains.crafter.tools import make_at_once
from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action, ActionSpace
from cohabit.model.observation import Observation


class CrafterExpert(Scripted):
    """Plays Crafter from the structured observation: it keeps a map, and stays alive first."""

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
