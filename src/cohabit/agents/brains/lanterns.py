"""A brain for Lanterns that plays from what it sees and nothing else."""

from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Entity, Observation

LOW_OIL = 4
ENOUGH_OIL = 8
SOON = 30  # ticks
FAILING = "it would burn out soon"
DARK = "it is dark, and free to take"


class Lamplighter(Scripted):
    """Feeds its towers in time, fetches oil when it runs low, lights what is dark, puts out what is not."""

    bound_for = ""

    def decide(self, observation: Observation) -> Action:
        return self._work(observation) or self._errand(observation)

    def _work(self, seen: Observation) -> Action | None:
        """What can be done right here."""
        mine: dict[str, int] = seen.status.get("your_towers", {})
        open_now = [Action(c["action"], c["params"]) for c in seen.choices]
        for action in open_now:
            if action.name == "gather":
                return _because(action, "oil is at hand")
            if action.name == "douse":
                return _because(action, "a rival burns within reach")
            if action.name == "light":
                left = mine.get(action.parameters["tower"], 0)
                if left < SOON:
                    return _because(action, FAILING if left else DARK)
        return None

    def _errand(self, seen: Observation) -> Action:
        """Where to go; keep walking if already under way and nothing presses."""
        oil = seen.inventory.get("oil", 0)
        me = seen.status.get("you")
        mine: dict[str, int] = seen.status.get("your_towers", {})
        barrels = _near([e for e in seen.nearby_entities if e.type == "oil"])
        towers = _near([e for e in seen.nearby_entities if e.type == "tower" and not e.interactable])
        failing = [t for t in towers if t.name in mine and mine[t.name] < SOON]
        dark = [t for t in towers if t.state == "dark"]
        rivals = [t for t in towers if t.state != "dark" and t.state != f"burns for {me}"]
        if oil < ENOUGH_OIL and barrels:
            return _go(barrels[0], "oil runs low")
        if oil >= LOW_OIL and failing:
            return _go(failing[0], FAILING)
        if oil >= LOW_OIL and dark:
            return _go(dark[0], DARK)
        if oil < LOW_OIL:
            return self._search(seen)
        return _go(rivals[0], "nothing is dark: take a rival's") if rivals else self._search(seen)

    def _search(self, seen: Observation) -> Action:
        """Walk from tower to tower until oil shows."""
        if not (self.bound_for and seen.status.get("walking")):
            towers = [e.name for e in seen.nearby_entities if e.type == "tower" and e.distance and e.name]
            self.bound_for = self.stream.choice(towers)
        return Action("go", {"to": self.bound_for}, "looking for oil")


def _near(found: list[Entity]) -> list[Entity]:
    """Nearest first; of two equally near, the one whose name comes first."""
    return sorted(found, key=lambda e: (e.distance or 0, e.name or ""))


def _go(to: Entity, why: str) -> Action:
    return Action("go", {"to": to.name}, why)


def _because(action: Action, why: str) -> Action:
    return Action(action.name, action.parameters, why)
