"""A brain for Lanterns that uses only its observations."""

from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Entity, Observation

LOW_OIL = 4
ENOUGH_OIL = 8
REFILL_TICKS = 30  # refill a tower that burns for less
BURNING_OUT = "it would burn out soon"
DARK = "it is dark and can be taken"


class Lamplighter(Scripted):
    """Refills its towers in time, fetches oil when it runs low, lights dark towers, and douses those of rivals."""

    destination = ""

    def decide(self, observation: Observation) -> Action:
        return self._act_here(observation) or self._travel(observation)

    def _act_here(self, seen: Observation) -> Action | None:
        """A useful action at the current position."""
        mine: dict[str, int] = seen.status.get("your_towers", {})
        legal = [Action(c["action"], c["params"]) for c in seen.choices]
        for action in legal:
            if action.name == "gather":
                return _because(action, "oil is within reach")
            if action.name == "douse":
                return _because(action, "a rival's tower is within reach")
            if action.name == "light":
                left = mine.get(action.parameters["tower"], 0)
                if left < REFILL_TICKS:
                    return _because(action, BURNING_OUT if left else DARK)
        return None

    def _travel(self, seen: Observation) -> Action:
        """The best place to go."""
        oil = seen.inventory.get("oil", 0)
        me = seen.status.get("you")
        mine: dict[str, int] = seen.status.get("your_towers", {})
        barrels = _nearest_first([e for e in seen.nearby_entities if e.type == "oil"])
        towers = _nearest_first([e for e in seen.nearby_entities if e.type == "tower" and not e.interactable])
        burning_out = [t for t in towers if t.name in mine and mine[t.name] < REFILL_TICKS]
        dark = [t for t in towers if t.state == "dark"]
        rivals = [t for t in towers if t.state != "dark" and t.state != f"burns for {me}"]
        if oil < ENOUGH_OIL and barrels:
            return _go(barrels[0], "oil runs low")
        if oil >= LOW_OIL and burning_out:
            return _go(burning_out[0], BURNING_OUT)
        if oil >= LOW_OIL and dark:
            return _go(dark[0], DARK)
        if oil < LOW_OIL:
            return self._search(seen)
        return _go(rivals[0], "no tower is dark, so take a rival's") if rivals else self._search(seen)

    def _search(self, seen: Observation) -> Action:
        """Walk from tower to tower until oil is visible."""
        if not (self.destination and seen.status.get("walking")):
            towers = [e.name for e in seen.nearby_entities if e.type == "tower" and e.distance and e.name]
            self.destination = self.stream.choice(towers)
        return Action("go", {"to": self.destination}, "looking for oil")


def _nearest_first(found: list[Entity]) -> list[Entity]:
    """By distance, then by name."""
    return sorted(found, key=lambda e: (e.distance or 0, e.name or ""))


def _go(to: Entity, why: str) -> Action:
    return Action("go", {"to": to.name}, why)


def _because(action: Action, why: str) -> Action:
    return Action(action.name, action.parameters, why)
