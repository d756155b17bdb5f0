"""Brains for Statecraft: scripted nations, and one-line traits for language models that play a nation.

A nation is a pure function of its input. What it must remember it writes into its own ``history_summary``, which is
part of the next input, so a nation that is restored after a restart plays on unchanged.
"""

import json
from collections.abc import Container
from typing import ClassVar

from cohabit.agents.brains.scripted import Scripted
from cohabit.agents.brains.statecraft_input import (
    Answer,
    Input,
    affordable_mils,
    attackers,
    attacks_last_turn,
    budget,
    equal_shares,
    grants_paid,
    grants_received,
    is_last_turn,
    names_in_history,
    others,
    own_army,
    pledges,
    purchase_cost,
    weakest,
)
from cohabit.agents.brains.statecraft_letters import Letter
from cohabit.agents.brains.statecraft_promises import Dealings, Word, history, read_dealings, replies
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.table_files import read_table
from cohabit.worlds.statecraft.turn import split_proportionally

LOW_RATING, NEUTRAL_RATING, HIGH_RATING = 2, 5, 9
GRUDGES = "grudges: "
BREACHES = "broke the peace: "


class Nation(Scripted):
    """A nation that decides by a rule: ``act`` by its input object, ``decide`` by an observation."""

    name: ClassVar[str]
    reads_choices = False
    reads_text = False

    def rule(self, agent_input: Input) -> Answer:
        """The answer of this nation without letters. The batch engine plays the same."""
        raise NotImplementedError

    def act(self, agent_input: Input) -> Answer:
        return self.rule(agent_input)

    def decide(self, observation: Observation) -> Action | None:
        if "self" not in observation.status:  # this player has no seat yet
            return None
        return Action("submit", self.act(read_input(observation)), f"strategy: {self.name.replace('_', ' ')}")


def read_input(observation: Observation) -> Input:
    """The input object in the status of an observation, which leaves out the news and reports."""
    known = dict(observation.status)
    if isinstance(known.get("messages"), str):
        known["messages"] = json.loads(known["messages"])
    return known


def ratings(seen: Input, liars: Container[str] = ()) -> Answer:
    """Both reports, based on what this nation knows about the last turn. None before the first turn ends."""
    if "last_turn" not in seen:
        return {}
    attacks, grants, me = attacks_last_turn(seen), grants_received(seen), seen["self"]
    keeps_word: dict[str, int] = {}
    aggression: dict[str, int] = {}
    for name in others(seen):
        targets = attacks.get(name, {})
        aggression[name] = HIGH_RATING if any(targets.values()) else LOW_RATING
        distrusted = targets.get(me) or name in liars
        keeps_word[name] = LOW_RATING if distrusted else HIGH_RATING if name in grants else NEUTRAL_RATING
    return {"keeps_word_report": keeps_word, "aggressor_report": aggression}


# -- nations without an army --------------------------------------------------------------------
class Passive(Nation):
    """Does nothing: its income becomes its welfare."""

    name = "passive"

    def rule(self, agent_input: Input) -> Answer:
        return {}


class Trader(Nation):
    """Grants half of its money in equal parts to all others, whatever they do, and pledges the same again."""

    name = "trader"

    def rule(self, agent_input: Input) -> Answer:
        grants = equal_shares(budget(agent_input) // 2, others(agent_input))
        return {"money_grants": grants, "messages": pledges(grants), **ratings(agent_input)}


class RingBuilder(Nation):
    """Grants everything to the next nation in name order (the last one to the first) and disbands its army.

    If all nations do this, total welfare is at its maximum. It never checks whether they do.
    """

    name = "ring_builder"

    def rule(self, agent_input: Input) -> Answer:
        later = [name for name in others(agent_input) if name > agent_input["self"]]
        next_nation = (later or others(agent_input))[:1]
        grants = equal_shares(budget(agent_input), next_nation)
        disband = {"disband_mils": own_army(agent_input)} if own_army(agent_input) else {}
        return {"money_grants": grants, "messages": pledges(grants), **disband, **ratings(agent_input)}


class FreeRider(Nation):
    """Pledges every other nation a fair share, and keeps everything."""

    name = "free_rider"

    def rule(self, agent_input: Input) -> Answer:
        pledged = equal_shares(budget(agent_input), others(agent_input))
        return {"messages": pledges(pledged), **ratings(agent_input)}


# -- nations that read letters -------------------------------------------------------------------
class Correspondent(Nation):
    """A nation that reads letters: they change what its rule does, each in the nation's own character.

    It keeps its own word, takes fair offers, returns a threat with arms and not with money, and grants nothing to a
    nation that broke its word, or that took its grants for a while and returned nothing.
    """

    forgives: ClassVar[bool] = True  # trusts a nation again that has paid what it owes
    returns_pledges: ClassVar[bool] = False  # grants as much as was pledged to it, before it is paid
    patience: ClassVar[int] = 3  # turns in which it grants without getting anything back

    def keeps_word(self, seen: Input) -> bool:
        return True

    def takes(self, letter: Letter) -> bool:
        """True if an offer is good enough."""
        return 0 < letter.asks <= letter.offers

    def tribute(self, seen: Input, deal: Dealings, name: str) -> int:
        """The tribute that it pays to a nation that threatens it."""
        return 0

    def act(self, agent_input: Input) -> Answer:
        plan, deal = self.rule(agent_input), read_dealings(agent_input, forgives=self.forgives)
        money, rivals = budget(agent_input), others(agent_input)
        attacks = self._attacks(agent_input, deal, plan.get("attacks", {}))
        promised = self._promised(agent_input, deal)
        alarm = sum(deal.attacked_by.values()) + len(deal.threats) - own_army(agent_input) if deal.threats else 0
        buy = max(plan.get("purchase_mils", 0), min(alarm, affordable_mils(agent_input, money // 2)))
        buy = min(buy, affordable_mils(agent_input, max(money - sum(promised.values()), 0)))
        spendable = money - purchase_cost(agent_input, buy)
        share = spendable // 2 // max(len(rivals), 1)
        grants: dict[str, int] = {}
        asked: dict[str, int] = {}
        for name in rivals:
            wanted = max(plan.get("money_grants", {}).get(name, 0), promised.get(name, 0))
            letter = deal.letter(name)
            if name in deal.owed or name in deal.attacked_by or name in attacks:
                continue
            if letter.threatens:
                grants[name] = min(self.tribute(agent_input, deal, name), share)
                continue
            if self.takes(letter):
                wanted = max(wanted, min(letter.asks, share))
            if self.returns_pledges:
                wanted = max(wanted, min(letter.pledged, share))
            if deal.unreturned.get(name, 0) >= self.patience and not (letter.pledged or self.takes(letter)):
                wanted = promised.get(name, 0)
                asked |= {name: share} if grants_paid(agent_input).get(name) else {}  # said once, when grants end
            grants[name] = wanted
        grants = _affordable(grants, promised, spendable)
        promises = {} if is_last_turn(agent_input) else {n: min(g, share) for n, g in grants.items() if share}
        promises = {name: n for name, n in promises.items() if self._promises_to(deal, name)}
        word = Word(
            promised=promises, due=promised, debts=list(deal.debts), spared=list(promises), expected=deal.expected(),
            accepted={name: deal.letter(name).offers for name in grants if self.takes(deal.letter(name))},
            peace=[name for name, letter in deal.letters.items() if letter.peace],
            owed=deal.owed, unreturned=deal.unreturned,
        )  # fmt: skip
        return {
            **plan,
            "purchase_mils": buy,
            "attacks": attacks,
            "money_grants": grants,
            "messages": replies(deal, grants, promises, asked),
            "history_summary": history(plan.get("history_summary", ""), word),
            **ratings(agent_input, deal.owed),
        }

    def _promised(self, seen: Input, deal: Dealings) -> dict[str, int]:
        """The grants that it owes in this turn to keep its word, with those that it could not pay in the last one."""
        if not self.keeps_word(seen):
            return {}
        promised = deal.word.promised
        due = {name: promised.get(name, 0) + deal.debts.get(name, 0) for name in sorted({*promised, *deal.debts})}
        return {name: n for name, n in due.items() if name not in deal.owed and name not in deal.attacked_by}

    def _promises_to(self, deal: Dealings, name: str) -> bool:
        """True if it pledges the same grant again: to a nation that pays or pledges something, or still may."""
        letter = deal.letter(name)
        returned = name in deal.received or letter.pledged or self.takes(letter)
        return not letter.threatens and bool(returned or deal.unreturned.get(name, 0) + 1 < self.patience)

    def _attacks(self, seen: Input, deal: Dealings, planned: dict[str, int]) -> dict[str, int]:
        """The attacks that its rule plans, less those on nations that it pledged to spare and that did it no harm."""
        spared = deal.word.spared if self.keeps_word(seen) else []
        attacks = {name: n for name, n in planned.items() if name not in spared or name in deal.attacked_by}
        army = own_army(seen)
        return attacks if sum(attacks.values()) <= army else split_proportionally(army, attacks)


def _affordable(grants: dict[str, int], promised: Container[str], money: int) -> dict[str, int]:
    """The grants that the money is enough for, promised ones first."""
    paid: dict[str, int] = {}
    for name in sorted(grants, key=lambda name: (name not in promised, name)):
        paid[name] = min(grants[name], money)
        money -= paid[name]
    return {name: paid[name] for name in sorted(paid) if paid[name]}


# -- nations with an army -----------------------------------------------------------------------
class Hawk(Correspondent):
    """Spends all its money on mils, except in the last turn, and sends its whole army against the weakest nation.

    It demands a tribute from that nation, and spares those that paid theirs. It attacks a weaker nation that threatens
    it or that broke its word first. It pledges peace to everybody who offers something, and keeps no such pledge.
    """

    name = "hawk"

    def rule(self, agent_input: Input) -> Answer:
        return self._attack(agent_input, others(agent_input))

    def act(self, agent_input: Input) -> Answer:
        deal, army, rivals = read_dealings(agent_input), own_army(agent_input), others(agent_input)
        paid = [name for name, n in deal.word.demanded.items() if deal.received.get(name, 0) >= n]
        provoking = [name for name in rivals if name in deal.owed or name in deal.threats]
        weaker = [name for name in provoking if agent_input["army"].get(name, 0) < army]
        answer = self._attack(agent_input, weaker or [name for name in rivals if name not in paid] or rivals)
        price = army * int(agent_input["constants"]["c_damage_per_attack_mil"])
        demanded = {name: price for name in answer["attacks"] if not is_last_turn(agent_input)}
        messages = {
            name: f"pledge: no attack on {name}" for name, letter in deal.letters.items() if letter.offers_peace
        }
        messages |= {name: "You have paid, so I spare you." for name in paid if name not in answer["attacks"]}
        messages |= {name: f"Pay me {n} or else my army will attack you again." for name, n in demanded.items()}
        peace = [name for name, letter in deal.letters.items() if letter.peace]
        word = Word(expected=deal.expected(), peace=peace, owed=deal.owed, demanded=demanded)
        return {
            **answer,
            "messages": messages,
            "history_summary": history("", word),
            **ratings(agent_input, deal.owed),
        }

    def _attack(self, seen: Input, targets: list[str]) -> Answer:
        buy = 0 if is_last_turn(seen) else affordable_mils(seen, budget(seen))
        army = own_army(seen)
        return {"purchase_mils": buy, "attacks": {weakest(seen, targets): army} if army else {}, **ratings(seen)}


class Opportunist(Correspondent):
    """Arms slowly, attacks the weakest nation if it is less than half as strong, and repays half of each grant.

    In the last turn it grants nothing, because nobody can respond. It keeps its word until then, takes offers that give
    it more than they cost, and pays a nation that threatens it with a larger army.
    """

    name = "opportunist"

    def keeps_word(self, seen: Input) -> bool:
        return not is_last_turn(seen)

    def takes(self, letter: Letter) -> bool:
        return 0 < letter.asks < letter.offers

    def tribute(self, seen: Input, deal: Dealings, name: str) -> int:
        return deal.letter(name).asks if seen["army"].get(name, 0) > own_army(seen) else 0

    def rule(self, agent_input: Input) -> Answer:
        money, army, rivals = budget(agent_input), own_army(agent_input), others(agent_input)
        last_turn = is_last_turn(agent_input)
        buy = min(1, affordable_mils(agent_input, money)) if army < len(rivals) and not last_turn else 0
        target = weakest(agent_input, rivals)
        attacks = {target: army} if army > 2 * agent_input["army"].get(target, army) else {}
        received = {} if last_turn else grants_received(agent_input)
        grants = {name: n // 2 for name, n in received.items() if n // 2 and name not in attacks}
        return {"purchase_mils": buy, "attacks": attacks, "money_grants": grants, **ratings(agent_input)}


class PeaceEnforcer(Correspondent):
    """Keeps as many mils as there are other nations, and attacks the nations that broke the peace last turn.

    Attacking an attacker, or a nation that broke the peace in the turn before, is not a breach; otherwise two
    enforcers would end up at war with each other. Peaceful nations share half of its remaining money, if they return
    something and keep their word.
    """

    name = "peace_enforcer"

    def rule(self, agent_input: Input) -> Answer:
        money, rivals = budget(agent_input), others(agent_input)
        known = names_in_history(agent_input, BREACHES)
        offenders = [name for name in rivals if _broke_the_peace(agent_input, name, known)]
        buy = min(max(len(rivals) - own_army(agent_input), 0), affordable_mils(agent_input, money))
        return _share_and_punish(agent_input, buy, offenders, BREACHES)

    def _attacks(self, seen: Input, deal: Dealings, planned: dict[str, int]) -> dict[str, int]:
        return planned  # a pledge does not protect a nation that broke the peace


def _share_and_punish(seen: Input, buy: int, enemies: list[str], heading: str) -> Answer:
    """Buy mils, attack the enemies, share half of the remaining money with all others, and remember the enemies."""
    army, friends = own_army(seen), [name for name in others(seen) if name not in enemies]
    grants = equal_shares((budget(seen) - purchase_cost(seen, buy)) // 2, friends)
    return {
        "purchase_mils": buy,
        "attacks": equal_shares(army, enemies[:army]),
        "money_grants": grants,
        "messages": pledges(grants),
        "history_summary": heading + ", ".join(enemies),
        **ratings(seen),
    }


def _broke_the_peace(seen: Input, name: str, known: list[str]) -> bool:
    """True if it attacked a nation that attacked nobody and had not broken the peace in the turn before."""
    attacks = attacks_last_turn(seen)
    targets = [target for target, mils in attacks.get(name, {}).items() if mils]
    return any(target not in known and not any(attacks.get(target, {}).values()) for target in targets)


# -- nations that respond in kind ---------------------------------------------------------------
class TitForTat(Correspondent):
    """Starts by granting half of its money in equal parts; then returns each grant, each attack and each pledge."""

    name = "tit_for_tat"
    returns_pledges = True
    patience = 1

    def rule(self, agent_input: Input) -> Answer:
        money, attacked_by = budget(agent_input), attackers(agent_input)
        if "last_turn" not in agent_input:
            grants = equal_shares(money // 2, others(agent_input))
            return {"money_grants": grants, "messages": pledges(grants)}
        missing = max(sum(attacked_by.values()) - own_army(agent_input), 0)
        received = grants_received(agent_input)
        return {
            "purchase_mils": min(missing, affordable_mils(agent_input, money)),
            "attacks": attacked_by if own_army(agent_input) else {},
            "money_grants": {name: n for name, n in received.items() if name not in attacked_by},
            **ratings(agent_input),
        }


class Grudger(Correspondent):
    """Shares half of its money with all nations that never attacked it; every attacker stays an enemy.

    A nation that broke its word to it gets nothing again, whatever it pays; one that returns nothing gets nothing until
    it does.
    """

    name = "grudger"
    forgives = False

    def rule(self, agent_input: Input) -> Answer:
        remembered = names_in_history(agent_input, GRUDGES)
        attacked_by = attackers(agent_input)
        enemies = [name for name in others(agent_input) if name in remembered or name in attacked_by]
        buy = affordable_mils(agent_input, budget(agent_input) // 2) if enemies else 0
        return _share_and_punish(agent_input, buy, enemies, GRUDGES)


class Diplomat(Correspondent):
    """Returns grants and pledges, up to an equal share of half of its money, keeps its word, and takes fair offers.

    A nation that breaks its word gets nothing until it has paid what it owes; one that attacked in spite of a pledge
    never does. It does not pay under a threat, but arms; and it returns attacks.
    """

    name = "diplomat"
    returns_pledges = True
    patience = 2

    def rule(self, agent_input: Input) -> Answer:
        money, received, attacked_by = budget(agent_input), grants_received(agent_input), attackers(agent_input)
        missing = max(sum(attacked_by.values()) - own_army(agent_input), 0)
        buy = min(missing, affordable_mils(agent_input, money // 2))
        share = (money - purchase_cost(agent_input, buy)) // 2 // max(len(others(agent_input)), 1)
        if "last_turn" not in agent_input:
            received = dict.fromkeys(others(agent_input), share)
        return {
            "purchase_mils": buy,
            "attacks": attacked_by if own_army(agent_input) else {},
            "money_grants": {name: min(n, share) for name, n in received.items() if name not in attacked_by},
        }


NATIONS: dict[str, type[Nation]] = {
    nation.name: nation
    for nation in (
        Passive, Trader, RingBuilder, FreeRider, Hawk, Grudger, TitForTat, Opportunist, PeaceEnforcer, Diplomat,
    )
}  # fmt: skip

TRAITS = read_table(__file__, dict[str, str])
"""The description of each trait for a language model that has it."""
