"""Two kings with different tempers. A king checks a list of concerns and acts on the first that needs an action."""

import re
from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct

from cohabit.agents.brains.kingdoms.reading import City, Kingdom, Reading, power, read
from cohabit.agents.brains.scripted import Scripted
from cohabit.agents.contract import Heard
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.table_files import read_table

SPAWN_FAITH = 10
"""The cost in faith of spawning one person,"""
RELIEF_FAITH, LOYALTY_FAITH, BOUNTY_FAITH = 40, 20, 12
"""and of these powers."""
MIN_SPAWN_IN_PEACE = 3
MAX_SPAWN = 30
"""The smallest and the largest number of people that are spawned at once."""
ALARMING_SIEGE = 50
LOW_LOYALTY = 30
"""A king spends faith on a city with a siege above, or a loyalty below, these values."""
ASSUMED_MUSTER = 25
"""Percent of its people that a rival is assumed to have under arms."""
OFFER_AGAIN = 800
"""An offer of peace that a crown refused is repeated after this many ticks."""


OFFER = re.compile(r"\b(truce|peace|cease-?fire|armistice|non-aggression|alliance|ally|allies|pact)\b", re.IGNORECASE)
"""Matches an offer of peace or of an alliance."""
PROMISE_LASTS = 600
"""For how many ticks a king keeps its word."""


class Temper(Struct, frozen=True):
    """The numbers that distinguish one king from another. Strength is in percent of the rival's."""

    peace_muster: int
    war_muster: int
    declares_at: int  # minimum strength to declare a war
    declares_with: int  # minimum number of soldiers to declare a war
    marches_at: int  # minimum strength to attack
    marches_with: int  # minimum number of soldiers to attack
    yields_at: int  # strength below which it asks for peace
    saves: int  # faith that it keeps for a siege
    min_spawn_in_war: int  # how many people it spawns at once in a war, at least
    cautious: bool = False  # does its army stay at home while it does not attack?


TEMPERS = read_table(__file__, dict[str, Temper])


class King(Scripted):
    """The base of both kings."""

    temper: ClassVar[Temper]

    def __init__(self, purpose: str = "king") -> None:
        super().__init__(purpose)
        self.offered: dict[int, int] = {}  # by kingdom id, the tick of the last offer of peace
        self.letters: list[Heard] = []  # messages of other kings, not answered yet
        self.promises: dict[int, int] = {}  # by kingdom id, the tick until which it will not be attacked
        self.answers: list[Action] = []

    def hear(self, message: Heard) -> None:
        if message.seat is not None and message.seat.isdecimal():
            self.letters.append(message)

    def decide(self, observation: Observation) -> Action | None:
        me = read(observation)
        if not me.own:
            return None  # without a city there is nothing to order
        concerns: list[Callable[[Reading], Action | None]] = [
            self._answer, self._relieve_siege, self._make_peace, self._muster, self._defend, self._attack,
            self._stay_at_home, self._make_war, self._keep_loyal, self._feed, self._spawn_people,
        ]  # fmt: skip
        return next((action for concern in concerns if (action := concern(me)) is not None), None)

    # -- letters ----------------------------------------------------------------------------------
    def _answer(self, me: Reading) -> Action | None:
        """Answer offers of a truce or an alliance. An accepted one is kept for ten years."""
        if self.answers:
            return self.answers.pop(0)
        if not self.letters:
            return None
        letter = self.letters.pop(0)
        sender = next((line for line in me.kingdoms.values() if str(line.id) == letter.seat), None)
        if sender is None or sender.id == me.kingdom_id or not OFFER.search(letter.content):
            return None
        if strength(me, sender) >= self.temper.declares_at:
            return _letter(letter.sender, f"No. {me.name_of(me.kingdom_id)} is strong enough to have what it wants.")
        self.promises[sender.id] = me.tick + PROMISE_LASTS
        promise = f"Agreed. I shall not attack {me.name_of(sender.id)} for ten years. Nor should you."
        answer = _letter(letter.sender, promise)
        if sender.id not in me.at_war_with or sender.id in me.peace_offered_to:
            return answer
        self.answers.append(answer)
        return Action("offer_peace", {"kingdom_id": sender.id}, f"{letter.sender} asks for it")

    def _has_promised(self, me: Reading, rival: Kingdom) -> bool:
        return me.tick < self.promises.get(rival.id, 0)

    # -- war --------------------------------------------------------------------------------------
    def _relieve_siege(self, me: Reading) -> Action | None:
        name, city = max(me.own.items(), key=lambda found: found[1].siege)
        if city.siege < ALARMING_SIEGE or me.faith < RELIEF_FAITH:
            return None
        return power("relief", city, f"{name} must not fall")

    def _make_peace(self, me: Reading) -> Action | None:
        """Offer peace to an enemy that is too strong, or accept its offer."""
        for name, enemy in _enemies(me):
            if strength(me, enemy) < self.temper.yields_at and self._should_offer(me, enemy):
                self.offered[enemy.id] = me.tick
                return Action("offer_peace", {"kingdom_id": enemy.id}, f"{name} is too strong for me")
        return None

    def _should_offer(self, me: Reading, enemy: Kingdom) -> bool:
        """An offer to a player stays in force; a crown that refused gets another offer later."""
        if enemy.player:
            return enemy.id not in me.peace_offered_to
        return not 0 <= me.tick - self.offered.get(enemy.id, -OFFER_AGAIN) < OFFER_AGAIN

    def _muster(self, me: Reading) -> Action | None:
        wanted = self.temper.war_muster if me.at_war_with else self.temper.peace_muster
        if me.orders.get("muster", "").partition(" ")[0] == f"{wanted}%":
            return None
        return Action("muster", {"percent": wanted}, "at war" if me.at_war_with else "at peace")

    def _defend(self, me: Reading) -> Action | None:
        """Bring the army home to a city under siege. An army that defends one already stays there."""
        name, city = max(me.own.items(), key=lambda found: found[1].siege)
        if not city.siege or any(own.siege for own in _rallied_at(me)):
            return None
        return Action("rally", {"x": city.x, "y": city.y}, f"{name} is under siege")

    def _attack(self, me: Reading) -> Action | None:
        """Send the army against an enemy that it can beat, and again after every city."""
        if "raid" in me.orders or _besieged(me):
            return None
        for name, enemy in _enemies(me):
            enough = me.soldiers >= self.temper.marches_with and army_strength(me, enemy) >= self.temper.marches_at
            if enemy.cities and enough and not self._has_promised(me, enemy):
                return Action("raid", {"kingdom_id": enemy.id}, f"{me.soldiers} soldiers against {name}")
        return None

    def _stay_at_home(self, me: Reading) -> Action | None:
        """Keep a beaten army at home, and that of a cautious king when it does not attack."""
        if "fortify" in me.orders or _rallied_at(me) or not me.at_war_with or _besieged(me):
            return None
        beaten = me.soldiers * 2 < self.temper.marches_with
        if beaten or (self.temper.cautious and "raid" not in me.orders):
            return Action("fortify", {"on": True}, "the army is beaten" if beaten else "the army stays at home for now")
        return None

    def _make_war(self, me: Reading) -> Action | None:
        fighting = any(enemy.cities for _, enemy in _enemies(me))
        if fighting or me.soldiers < self.temper.declares_with:
            return None
        rivals = [found for found in _rivals(me) if found[1].id not in me.at_war_with]
        rivals = [found for found in rivals if not self._has_promised(me, found[1])]
        name, rival = min(rivals, key=lambda found: found[1].people, default=("", None))
        if rival is None or strength(me, rival) < self.temper.declares_at:
            return None
        return Action("declare_war", {"kingdom_id": rival.id}, f"{name} is weak enough")

    # -- home -------------------------------------------------------------------------------------
    def _keep_loyal(self, me: Reading) -> Action | None:
        name, city = min(me.own.items(), key=lambda found: found[1].loyalty)
        if city.loyalty >= LOW_LOYALTY or me.faith < LOYALTY_FAITH:
            return None
        return power("loyalty", city, f"{name} is about to rebel")

    def _feed(self, me: Reading) -> Action | None:
        """Spend faith on food, unless the king is at war and not cautious."""
        hungry = [(name, city) for name, city in me.own.items() if name in me.hungry]
        if not hungry or self._spare(me) < BOUNTY_FAITH or (me.at_war_with and not self.temper.cautious):
            return None
        name, city = max(hungry, key=lambda found: (found[1].people, found[0]))
        return power("bounty", city, f"{name} is hungry")

    def _spawn_people(self, me: Reading) -> Action | None:
        """Spend spare faith on new people in the largest city."""
        count = min(MAX_SPAWN, self._spare(me) // SPAWN_FAITH)
        found = me.biggest_city(me.kingdom_id)
        if count < (self.temper.min_spawn_in_war if me.at_war_with else MIN_SPAWN_IN_PEACE) or found is None:
            return None
        _, city = found
        race = me.kingdoms[me.name_of(me.kingdom_id)].race
        where = {"entity_id": race, "x": city.x, "y": city.y, "count": count, "adult": True}
        return Action("spawn", where, "faith to spare")

    def _spare(self, me: Reading) -> int:
        return me.faith - (self.temper.saves if me.at_war_with else 0)


class Warlord(King):
    """Attacks early and often."""

    temper = TEMPERS["warlord"]


class Steward(King):
    """Builds first, stays at home while it is weaker, and attacks once it is stronger."""

    temper = TEMPERS["steward"]


def _letter(to: str, content: str) -> Action:
    return Action("send_message", {"to": to, "content": content, "kind": "diplomacy"})


def _rallied_at(me: Reading) -> list[City]:
    """The own city at which the army gathers, if it does."""
    return [city for city in me.own.values() if me.orders.get("rally") == f"{city.x},{city.y}"]


def _besieged(me: Reading) -> bool:
    return any(city.siege for city in me.own.values())


def strength(me: Reading, rival: Kingdom) -> int:
    """My people in percent of the rival's."""
    return me.people * 100 // max(1, rival.people)


def army_strength(me: Reading, rival: Kingdom) -> int:
    """My soldiers in percent of those that the rival probably has."""
    return me.soldiers * 10_000 // max(1, rival.people * ASSUMED_MUSTER)


def _rivals(me: Reading) -> list[tuple[str, Kingdom]]:
    """The other players, or every other kingdom if there are no other players."""
    others = [(name, line) for name, line in me.kingdoms.items() if line.id != me.kingdom_id]
    return [found for found in others if found[1].player] or others


def _enemies(me: Reading) -> list[tuple[str, Kingdom]]:
    """The kingdoms that I am at war with: players first, then the weakest first."""
    found = [(name, line) for name, line in me.kingdoms.items() if line.id in me.at_war_with]
    return sorted(found, key=lambda one: (not one[1].player, one[1].people, one[1].id))
