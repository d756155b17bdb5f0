"""Two kings of different temper. Each has a list of cares; the first that finds something to do is what it does."""

from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct

from cohabit.agents.brains.kingdoms.reading import Kingdom, Reading, power, read
from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Observation

SPAWN_FAITH = 10
"""What it costs in faith to call one of one's people,"""
RELIEF_FAITH, LOYALTY_FAITH, BOUNTY_FAITH = 40, 20, 12
"""and to use these powers."""
CALLED_IN_PEACE = 3
CALLED_MOST = 30
"""How many are called at once, at least and at most."""
ALARMING_SIEGE = 50
SHAKY_LOYALTY = 30
"""A siege this far on, and a loyalty below this, are answered with faith."""
UNDER_ARMS = 25
"""Percent of its people that a kingdom at war has under arms, as far as one knows."""
ASKS_AGAIN = 800
"""For so many ticks an offer of peace is not repeated."""


class Temper(Struct, frozen=True):
    """What makes one king differ from another. Strength is in percent of the rival's."""

    peace_muster: int
    war_muster: int
    declares_at: int  # with so much strength it begins a war,
    declares_with: int  # and at least so many soldiers
    marches_at: int  # with so much strength it marches
    marches_with: int
    yields_at: int  # with less than so much strength it asks for peace
    saves: int  # faith that it keeps for a siege
    calls_in_war: int  # so many people it calls at once in a war, so that they decide something
    cautious: bool = False  # does its army stay behind walls while it does not march?


class King(Scripted):
    """What both have in common."""

    temper: ClassVar[Temper]

    def __init__(self, purpose: str = "king") -> None:
        super().__init__(purpose)
        self.asked: dict[int, int] = {}  # by kingdom, when it was last offered peace

    def decide(self, observation: Observation) -> Action | None:
        me = read(observation)
        if not me.own:
            return None  # a king without a city has nobody to give orders to
        cares: list[Callable[[Reading], Action | None]] = [
            self._hold_the_walls, self._make_peace, self._muster, self._defend, self._march, self._stay_at_home,
            self._make_war, self._keep_loyal, self._feed, self._call_people,
        ]  # fmt: skip
        return next((action for care in cares if (action := care(me)) is not None), None)

    # -- war --------------------------------------------------------------------------------------
    def _hold_the_walls(self, me: Reading) -> Action | None:
        name, city = max(me.own.items(), key=lambda found: found[1].siege)
        if city.siege < ALARMING_SIEGE or me.faith < RELIEF_FAITH:
            return None
        return power("relief", city, f"{name} must not fall")

    def _make_peace(self, me: Reading) -> Action | None:
        """Take peace, or ask for it, from an enemy that is too strong."""
        for name, enemy in _enemies(me):
            if strength(me, enemy) < self.temper.yields_at and self._would_hear(me, enemy):
                self.asked[enemy.id] = me.tick
                return Action("offer_peace", {"kingdom_id": enemy.id}, f"{name} is too strong for me")
        return None

    def _would_hear(self, me: Reading, enemy: Kingdom) -> bool:
        """Is it worth asking? An offer to a player stands; a crown that refused is asked again later."""
        if enemy.player:
            return enemy.id not in me.peace_offered_to
        return not 0 <= me.tick - self.asked.get(enemy.id, -ASKS_AGAIN) < ASKS_AGAIN

    def _muster(self, me: Reading) -> Action | None:
        wanted = self.temper.war_muster if me.at_war_with else self.temper.peace_muster
        if me.orders.get("muster") == f"{wanted}%":
            return None
        return Action("muster", {"percent": wanted}, "at war" if me.at_war_with else "at peace")

    def _defend(self, me: Reading) -> Action | None:
        """Bring the army home to a city under siege."""
        name, city = max(me.own.items(), key=lambda found: found[1].siege)
        if not city.siege or me.orders.get("rally") == f"{city.x},{city.y}":
            return None
        return Action("rally", {"x": city.x, "y": city.y}, f"{name} is under siege")

    def _march(self, me: Reading) -> Action | None:
        """Send the army against an enemy it is a match for, and again after every city."""
        if "raid" in me.orders or _besieged(me):
            return None
        for name, enemy in _enemies(me):
            enough = me.soldiers >= self.temper.marches_with and might(me, enemy) >= self.temper.marches_at
            if enemy.cities and enough:
                return Action("raid", {"kingdom_id": enemy.id}, f"{me.soldiers} soldiers against {name}")
        return None

    def _stay_at_home(self, me: Reading) -> Action | None:
        """Keep an army behind the walls that is beaten, or that a cautious king does not send out."""
        if "fortify" in me.orders or not me.at_war_with or _besieged(me):
            return None
        beaten = me.soldiers * 2 < self.temper.marches_with
        if beaten or (self.temper.cautious and "raid" not in me.orders):
            return Action("fortify", {"on": True}, "the army is beaten" if beaten else "walls first")
        return None

    def _make_war(self, me: Reading) -> Action | None:
        fights = any(enemy.cities for _, enemy in _enemies(me))
        if fights or me.soldiers < self.temper.declares_with:
            return None
        rivals = [found for found in _rivals(me) if found[1].id not in me.at_war_with]
        name, rival = min(rivals, key=lambda found: found[1].people, default=("", None))
        if rival is None or strength(me, rival) < self.temper.declares_at:
            return None
        return Action("declare_war", {"kingdom_id": rival.id}, f"{name} is weak enough")

    # -- home -------------------------------------------------------------------------------------
    def _keep_loyal(self, me: Reading) -> Action | None:
        name, city = min(me.own.items(), key=lambda found: found[1].loyalty)
        if city.loyalty >= SHAKY_LOYALTY or me.faith < LOYALTY_FAITH:
            return None
        return power("loyalty", city, f"{name} is about to rise")

    def _feed(self, me: Reading) -> Action | None:
        """Faith buys bread, except for a war that somebody else should starve in."""
        hungry = [(name, city) for name, city in me.own.items() if name in me.hungry]
        if not hungry or self._spare(me) < BOUNTY_FAITH or (me.at_war_with and not self.temper.cautious):
            return None
        name, city = max(hungry, key=lambda found: (found[1].people, found[0]))
        return power("bounty", city, f"{name} is hungry")

    def _call_people(self, me: Reading) -> Action | None:
        """Turn faith that is not needed into people, where there are most already."""
        count = min(CALLED_MOST, self._spare(me) // SPAWN_FAITH)
        found = me.biggest_city(me.kingdom_id)
        if count < (self.temper.calls_in_war if me.at_war_with else CALLED_IN_PEACE) or found is None:
            return None
        _, city = found
        race = me.kingdoms[me.name_of(me.kingdom_id)].race
        where = {"entity_id": race, "x": city.x, "y": city.y, "count": count, "adult": True}
        return Action("spawn", where, "faith into people")

    def _spare(self, me: Reading) -> int:
        return me.faith - (self.temper.saves if me.at_war_with else 0)


class Warlord(King):
    """Strikes early, and again and again."""

    temper = Temper(
        peace_muster=30,
        war_muster=45,
        declares_at=70,
        declares_with=18,
        marches_at=70,
        marches_with=8,
        yields_at=35,
        saves=0,
        calls_in_war=10,
    )


class Steward(King):
    """Builds first, stays behind its walls while it is the weaker, and strikes once it is the stronger."""

    temper = Temper(
        peace_muster=18,
        war_muster=35,
        declares_at=140,
        declares_with=10,
        marches_at=130,
        marches_with=10,
        yields_at=45,
        saves=RELIEF_FAITH,
        calls_in_war=3,
        cautious=True,
    )


def _besieged(me: Reading) -> bool:
    return any(city.siege for city in me.own.values())


def strength(me: Reading, rival: Kingdom) -> int:
    """My people in percent of the rival's."""
    return me.people * 100 // max(1, rival.people)


def might(me: Reading, rival: Kingdom) -> int:
    """My soldiers in percent of those the rival probably has."""
    return me.soldiers * 10_000 // max(1, rival.people * UNDER_ARMS)


def _rivals(me: Reading) -> list[tuple[str, Kingdom]]:
    """Those one has to beat: the other players; where there are none, everybody."""
    others = [(name, line) for name, line in me.kingdoms.items() if line.id != me.kingdom_id]
    return [found for found in others if found[1].player] or others


def _enemies(me: Reading) -> list[tuple[str, Kingdom]]:
    """Those one is at war with, players first, the weakest first."""
    found = [(name, line) for name, line in me.kingdoms.items() if line.id in me.at_war_with]
    return sorted(found, key=lambda one: (not one[1].player, one[1].people, one[1].id))
