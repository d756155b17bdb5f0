"""Storytellers: a dungeon master who intervenes, and a chronicler who reports. Their messages may have a voice.

Both see everything, and everybody reads what they write, so they write only what everybody may know: public news, and
the names and numbers of kingdoms.
"""

from collections import deque
from collections.abc import Iterator

from cohabit.agents.brains.kingdoms.reading import City, Reading, broadcast, power, read
from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Event, Observation
from cohabit.model.table_files import read_table

CHAPTER = 700
"""Ticks per chapter."""
FATES = read_table(__file__, dict[str, dict[str, str]])
"""Boons and trials: by power, what is said of it."""
BRUSHES = {"blessing": 8, "locusts": 4}
"""The radius of the powers that have a brush."""
PASSAGE = 600
"""Ticks per passage of the chronicle."""
MAX_EVENTS = 4
REMEMBERED_EVENTS = 64
PRIVATE_NEWS = "(known to "
"""An observation of everything says so after news that not everybody is told."""
OPENINGS = (
    "Thus it is written:",
    "So the old ones tell it:",
    "Let nobody say it was forgotten:",
    "Dip the pen, and put it down:",
)
QUIET = ("Grass grew. Nobody came to tell of anything else.", "These were quiet years, and nobody trusted them.")


class DungeonMaster(Scripted):
    """Tells a story in chapters: a greeting, then by turns a boon for the weakest and a trial for the strongest."""

    def __init__(self, purpose: str = "dungeon-master") -> None:
        super().__init__(purpose)
        self._begin()

    def _begin(self) -> None:
        self.chapter = 0
        self.next = 0  # the tick at which the next chapter begins
        self.actions_left: list[Action] = []  # of this chapter

    def decide(self, observation: Observation) -> Action | None:
        world = read(observation)
        if world.tick + CHAPTER < self.next:  # a new world has begun
            self._begin()
        if not self.actions_left and world.tick >= self.next:
            self.actions_left = self._chapter(world)
            self.next, self.chapter = world.tick + CHAPTER, self.chapter + 1
        return self.actions_left.pop(0) if self.actions_left else None

    def _chapter(self, world: Reading) -> list[Action]:
        players = {name: line for name, line in world.kingdoms.items() if line.player}
        if not self.chapter:
            names = " and ".join(players) or "nobody"
            return [broadcast(f"One land, one throne. {names}, who of you is to sit on it? I shall watch.", "story")]
        ranked = sorted(players, key=lambda name: (players[name].people, name))
        if len(ranked) < 2:
            return []
        boon = self.chapter % 2 == 1
        who = ranked[0] if boon else ranked[-1]
        found = world.biggest_city(players[who].id)
        return self._boon_or_trial(who, found[1], boon) if found is not None else []

    def _boon_or_trial(self, who: str, city: City, boon: bool) -> list[Action]:
        fates = FATES["boons" if boon else "trials"]
        what = self.stream.choice(list(fates))
        announcement = broadcast(fates[what].format(who=who), "story")
        why = f"{who} is the {'weaker' if boon else 'stronger'} one"
        if what == "bandit":
            place = {"x": city.x, "y": city.y, "count": 3, "adult": True}
            return [announcement, Action("spawn", {"entity_id": what, **place}, why)]
        brush = {"radius": BRUSHES[what]} if what in BRUSHES else {}
        return [announcement, power(what, city, why, **brush)]


class Chronicler(Scripted):
    """Writes a passage about recent events now and then, and sends it to everybody. It never acts in the world."""

    def __init__(self, purpose: str = "chronicler") -> None:
        super().__init__(purpose)
        self._begin(0)

    def _begin(self, tick: int) -> None:
        self.next = tick + PASSAGE
        self.heard: list[Event] = []
        self.known: deque[str] = deque(maxlen=REMEMBERED_EVENTS)

    def decide(self, observation: Observation) -> Action | None:
        world = read(observation)
        if world.tick + PASSAGE < self.next:  # a new world has begun
            self._begin(world.tick)
        self._listen(observation)
        if world.tick < self.next:
            return None
        passage = self._passage(world)
        self.next, self.heard = world.tick + PASSAGE, []
        return broadcast(passage, "chronicle")

    def _listen(self, seen: Observation) -> None:
        for event in seen.recent_events:
            if event.description not in self.known and PRIVATE_NEWS not in event.description:
                self.known.append(event.description)
                self.heard.append(event)

    def _passage(self, world: Reading) -> str:
        """The latest dangerous events, or the latest events, and the state of the world."""
        important = [event for event in self.heard if event.type == "danger"] or self.heard
        told = important[-MAX_EVENTS:]
        events = " ".join(_by_year([event.description for event in told])) or self.stream.choice(QUIET)
        return f"{self.stream.choice(OPENINGS)} {events} {_standing(world)}"


def _by_year(events: list[str]) -> Iterator[str]:
    """Events as sentences that name each year once. An event begins with ``year 12: ``."""
    before = ""
    for event in events:
        year, _, what = event.partition(": ")
        yield what if year == before else f"In {year} {_without_capital(what)}"
        before = year


def _without_capital(sentence: str) -> str:
    """A sentence for the middle of another: its first word is not capitalised if it is an article."""
    article, space, rest = sentence.partition(" ")
    return f"{article.lower()}{space}{rest}" if article in ("A", "An", "The") else sentence


def _standing(world: Reading) -> str:
    ranked = sorted(world.kingdoms.items(), key=lambda found: (-found[1].people, found[1].id))
    if not ranked:
        return "No crown is left in all the land."
    name, first = ranked[0]
    wars = f", and {len(world.wars)} wars are fought" if len(world.wars) > 1 else ", and there is war" * len(world.wars)
    if len(ranked) == 1:
        return f"{name} stands alone, {_souls(first.people)} strong."
    return f"Of {len(ranked)} crowns {name} is the greatest, {_souls(first.people)} strong{wars}."


def _souls(people: int) -> str:
    return "1 soul" if people == 1 else f"{people} souls"
