"""Brains for Statecraft: scripted nations, and one-line traits for language models that play a nation.

A nation is a pure function of its input. What it must remember it writes into its own ``history_summary``, which is
part of the next input, so a nation that is restored after a restart plays on unchanged.
"""

import json
from collections.abc import Container
from typing import Any, ClassVar

from msgspec import DecodeError, Struct, to_builtins
from msgspec.json import decode as decode_json

from cohabit.agents.brains.scripted import Scripted
from cohabit.agents.brains.statecraft_letters import Letter, read_letters
from cohabit.model.action import Action
from cohabit.model.observation import Observation

Input = dict[str, Any]
Answer = dict[str, Any]

LOW_RATING, NEUTRAL_RATING, HIGH_RATING = 2, 5, 9
GRUDGES = "grudges: "
BREACHES = "broke the peace: "


class Nation(Scripted):
    """A nation that decides by a rule: ``act`` by its input object, ``decide`` by an observation."""

    name: ClassVar[str]
    reads_choices = False

    def act(self, agent_input: Input) -> Answer:
        raise NotImplementedError

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


# -- reading the input --------------------------------------------------------------------------
def others(seen: Input) -> list[str]:
    """The other nations in name order."""
    return sorted(name for name in seen["agents"] if name != seen["self"])


def own_army(seen: Input) -> int:
    return int(seen["army"].get(seen["self"], 0))


def budget(seen: Input) -> int:
    """This turn's income after upkeep, if nobody attacks."""
    constants = seen["constants"]
    income = len(seen["territories"].get(seen["self"], ())) * int(constants["c_money_per_territory"])
    return max(income - own_army(seen) * int(constants["c_mil_upkeep_price"]), 0)


def affordable_mils(seen: Input, money: int) -> int:
    return money // int(seen["constants"]["c_mil_purchase_price"])


def purchase_cost(seen: Input, mils: int) -> int:
    return mils * int(seen["constants"]["c_mil_purchase_price"])


def attacks_last_turn(seen: Input) -> dict[str, dict[str, int]]:
    """attacker -> target -> mils, as far as this nation knows."""
    found: dict[str, dict[str, int]] = seen.get("last_turn", {}).get("attacks", {})
    return found


def attackers(seen: Input) -> dict[str, int]:
    """The mils that each nation sent against this nation last turn, in name order."""
    attacks, me = attacks_last_turn(seen), seen["self"]
    return {name: attacks[name][me] for name in sorted(attacks) if attacks[name].get(me)}


def grants_received(seen: Input) -> dict[str, int]:
    """The money that each nation paid to this nation last turn, in name order."""
    grants, me = seen.get("last_turn", {}).get("grants", {}), seen["self"]
    return {name: grants[name][me] for name in sorted(grants) if grants[name].get(me)}


def names_in_history(seen: Input, heading: str) -> list[str]:
    """The names that this nation wrote into its own history under this heading."""
    history = str(seen.get("history_summary", ""))
    return history.removeprefix(heading).split(", ") if history.startswith(heading) else []


def weakest(seen: Input, among: list[str]) -> str:
    """The nation with the smallest visible army; ties go to the one with most territories, then by name."""
    return min(among, key=lambda n: (seen["army"].get(n, 0), -len(seen["territories"].get(n, ())), n))


# -- parts of an answer -------------------------------------------------------------------------
def equal_shares(amount: int, among: list[str]) -> dict[str, int]:
    """The amount in equal integer parts; nothing if it is too small for one each."""
    each = amount // len(among) if among else 0
    return dict.fromkeys(among, each) if each else {}


def pledges(grants: dict[str, int]) -> dict[str, str]:
    """A message to each: the same grant next turn, and no attack."""
    return {name: f"pledge: grant {n} to {name}\npledge: no attack on {name}" for name, n in grants.items()}


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

    def act(self, agent_input: Input) -> Answer:
        return {}


class Trader(Nation):
    """Grants half of its money in equal parts to all others, whatever they do."""

    name = "trader"

    def act(self, agent_input: Input) -> Answer:
        grants = equal_shares(budget(agent_input) // 2, others(agent_input))
        return {"money_grants": grants, "messages": pledges(grants), **ratings(agent_input)}


class RingBuilder(Nation):
    """Grants everything to the next nation in name order (the last one to the first) and disbands its army.

    If all nations do this, total welfare is at its maximum. It never checks whether they do.
    """

    name = "ring_builder"

    def act(self, agent_input: Input) -> Answer:
        later = [name for name in others(agent_input) if name > agent_input["self"]]
        next_nation = (later or others(agent_input))[:1]
        grants = equal_shares(budget(agent_input), next_nation)
        disband = {"disband_mils": own_army(agent_input)} if own_army(agent_input) else {}
        return {"money_grants": grants, "messages": pledges(grants), **disband, **ratings(agent_input)}


class FreeRider(Nation):
    """Pledges every other nation a fair share, and keeps everything."""

    name = "free_rider"

    def act(self, agent_input: Input) -> Answer:
        pledged = equal_shares(budget(agent_input), others(agent_input))
        return {"messages": pledges(pledged), **ratings(agent_input)}


# -- nations with an army -----------------------------------------------------------------------
class Hawk(Nation):
    """Spends all its money on mils, except in the last turn, and sends its whole army against the weakest nation."""

    name = "hawk"

    def act(self, agent_input: Input) -> Answer:
        buy = affordable_mils(agent_input, budget(agent_input)) if agent_input.get("turns_left", 2) > 1 else 0
        army = own_army(agent_input)
        attacks = {weakest(agent_input, others(agent_input)): army} if army else {}
        return {"purchase_mils": buy, "attacks": attacks, **ratings(agent_input)}


class Opportunist(Nation):
    """Arms slowly, attacks the weakest nation if it is less than half as strong, and repays half of each grant.

    In the last turn it grants nothing, because nobody can respond.
    """

    name = "opportunist"

    def act(self, agent_input: Input) -> Answer:
        money, army, rivals = budget(agent_input), own_army(agent_input), others(agent_input)
        last_turn = agent_input.get("turns_left", 2) <= 1
        buy = min(1, affordable_mils(agent_input, money)) if army < len(rivals) and not last_turn else 0
        target = weakest(agent_input, rivals)
        attacks = {target: army} if army > 2 * agent_input["army"].get(target, army) else {}
        received = {} if last_turn else grants_received(agent_input)
        grants = {name: n // 2 for name, n in received.items() if n // 2 and name not in attacks}
        return {"purchase_mils": buy, "attacks": attacks, "money_grants": grants, **ratings(agent_input)}


class PeaceEnforcer(Nation):
    """Keeps as many mils as there are other nations, and attacks the nations that broke the peace last turn.

    Attacking an attacker, or a nation that broke the peace in the turn before, is not a breach; otherwise two
    enforcers would end up at war with each other. Peaceful nations share half of its remaining money.
    """

    name = "peace_enforcer"

    def act(self, agent_input: Input) -> Answer:
        money, army, rivals = budget(agent_input), own_army(agent_input), others(agent_input)
        known = names_in_history(agent_input, BREACHES)
        offenders = [name for name in rivals if _broke_the_peace(agent_input, name, known)]
        buy = min(max(len(rivals) - army, 0), affordable_mils(agent_input, money))
        peaceful = [name for name in rivals if name not in offenders]
        grants = equal_shares((money - purchase_cost(agent_input, buy)) // 2, peaceful)
        return {
            "purchase_mils": buy,
            "attacks": equal_shares(army, offenders[:army]),
            "money_grants": grants,
            "messages": pledges(grants),
            "history_summary": BREACHES + ", ".join(offenders),
            **ratings(agent_input),
        }


def _broke_the_peace(seen: Input, name: str, known: list[str]) -> bool:
    """Whether it attacked a nation that attacked nobody and had not broken the peace in the turn before."""
    attacks = attacks_last_turn(seen)
    targets = [target for target, mils in attacks.get(name, {}).items() if mils]
    return any(target not in known and not any(attacks.get(target, {}).values()) for target in targets)


# -- nations that respond in kind ---------------------------------------------------------------
class TitForTat(Nation):
    """Starts by granting half of its money in equal parts; then returns each grant and each attack."""

    name = "tit_for_tat"

    def act(self, agent_input: Input) -> Answer:
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


class Grudger(Nation):
    """Shares half of its money with all nations that never attacked it; every attacker stays an enemy."""

    name = "grudger"

    def act(self, agent_input: Input) -> Answer:
        remembered = names_in_history(agent_input, GRUDGES)
        attacked_by = attackers(agent_input)
        enemies = [name for name in others(agent_input) if name in remembered or name in attacked_by]
        money, army = budget(agent_input), own_army(agent_input)
        buy = affordable_mils(agent_input, money // 2) if enemies else 0
        friends = [name for name in others(agent_input) if name not in enemies]
        grants = equal_shares((money - purchase_cost(agent_input, buy)) // 2, friends)
        return {
            "purchase_mils": buy,
            "attacks": equal_shares(army, enemies[:army]),
            "money_grants": grants,
            "messages": pledges(grants),
            "history_summary": GRUDGES + ", ".join(enemies),
            **ratings(agent_input),
        }


# -- a nation that reads letters ----------------------------------------------------------------
class Word(Struct):
    """What a diplomat remembers from turn to turn, in its history."""

    promised: dict[str, int] = {}  # what it pledged to grant in this turn
    expected: dict[str, int] = {}  # what others pledged to grant it in the last turn
    peace: list[str] = []  # the nations that pledged not to attack it in the last turn
    owed: dict[str, int] = {}  # what the nations that broke their word have to pay before it trusts them again


class Diplomat(Nation):
    """Reads letters. It returns grants and pledges, keeps its own word, and takes offers that it can afford.

    A nation that breaks its word gets nothing until it has paid what it owes; one that attacked in spite of a pledge
    never does. It does not pay under a threat, but arms; and it returns attacks.
    """

    name = "diplomat"

    def act(self, agent_input: Input) -> Answer:
        word = _read_word(agent_input)
        letters = read_letters(agent_input.get("messages", ()), agent_input["agents"], agent_input["self"])
        received, attacked_by = grants_received(agent_input), attackers(agent_input)
        broken = _broken_pledges(word, received, attacked_by)
        owed = {name: n - received.get(name, 0) for name, n in word.owed.items() if n > received.get(name, 0)} | broken
        partners = [name for name in others(agent_input) if name not in owed and name not in attacked_by]
        threats = [name for name, letter in letters.items() if letter.threatens]
        money = budget(agent_input)
        alarm = sum(attacked_by.values()) + len(threats) - own_army(agent_input)
        buy = min(max(alarm, 0), affordable_mils(agent_input, money // 2))
        share = (money - purchase_cost(agent_input, buy)) // 2 // max(len(others(agent_input)), 1)
        wanted = {name: _fair_grant(agent_input, letters.get(name, Letter()), received.get(name, 0), share)
                  for name in partners if name not in threats}  # fmt: skip
        grants = {name: max(n, word.promised.get(name, 0)) for name, n in wanted.items()}
        grants = {name: n for name, n in grants.items() if n}
        promises = (
            {} if agent_input.get("turns_left", 2) <= 1 else {n: min(g, share) for n, g in grants.items() if share}
        )
        expected = {name: letter.pledged for name, letter in letters.items() if letter.pledged}
        peace = [name for name, letter in letters.items() if letter.peace]
        return {
            "purchase_mils": buy,
            "attacks": attacked_by if own_army(agent_input) else {},
            "money_grants": grants,
            "messages": _replies(letters, broken, owed, grants, promises),
            "history_summary": json.dumps(to_builtins(Word(promises, expected, peace, owed))),
            **ratings(agent_input, owed),
        }


NEVER = 10**9
"""More than any nation can pay: what a nation owes that attacked in spite of its pledge."""


def _read_word(seen: Input) -> Word:
    """Its own history. A history of another player of this seat is ignored."""
    try:
        return decode_json(str(seen.get("history_summary", "")), type=Word)
    except DecodeError:
        return Word()


def _broken_pledges(word: Word, received: dict[str, int], attacked_by: dict[str, int]) -> dict[str, int]:
    """The nations that broke their word last turn, and what they owe for it."""
    unpaid = {name: n - received.get(name, 0) for name, n in word.expected.items() if received.get(name, 0) < n}
    return unpaid | {name: NEVER for name in word.peace if name in attacked_by}


def _fair_grant(seen: Input, letter: Letter, received: int, share: int) -> int:
    """What a nation gets: as much as it gives, pledges or offers in return, up to an equal share."""
    if "last_turn" not in seen:
        return share
    offered = min(letter.asks, letter.offers)
    return min(max(received, letter.pledged, offered), share)


def _replies(
    letters: dict[str, Letter], broken: dict[str, int], owed: dict[str, int], grants: dict[str, int],
    promises: dict[str, int],
) -> dict[str, str]:  # fmt: skip
    """An answer to each letter that needs one, and the pledges for the next turn."""
    texts: dict[str, list[str]] = {name: pledge.splitlines() for name, pledge in pledges(promises).items()}
    for name in sorted({*letters, *broken}):
        letter, said = letters.get(name, Letter()), texts.setdefault(name, [])
        if name in broken:
            debt = "" if broken[name] >= NEVER else f" You owe me {broken[name]}."
            said.insert(0, f"You broke your word, so I grant you nothing.{debt}")
        elif letter.threatens:
            said.insert(0, "I do not pay under a threat. If you attack me, I will attack you.")
        elif letter.asks and name in owed:
            said.insert(0, "You have not kept your word, so I make no agreement with you.")
        elif letter.asks:
            given = grants.get(name, 0)
            accepted = f"I accept your offer and grant you {given} this turn."
            declined = f"I cannot agree to {letter.asks}" + (f", but I grant you {given} this turn." if given else ".")
            said.insert(0, accepted if given >= letter.asks else declined)
    return {name: "\n".join(said) for name, said in texts.items() if said}


NATIONS: dict[str, type[Nation]] = {
    nation.name: nation
    for nation in (
        Passive, Trader, RingBuilder, FreeRider, Hawk, Grudger, TitForTat, Opportunist, PeaceEnforcer, Diplomat,
    )
}  # fmt: skip

TRAITS: dict[str, str] = {
    "trade": "You believe that wealth comes from exchange: look for partners and keep grants flowing both ways.",
    "defense": "You never attack first, but you always keep an army large enough to make an attack on you costly.",
    "pressure": "You get your way with demands backed by small, visible attacks, and you stop when you are paid.",
    "diplomacy": "You settle conflicts with messages: propose, mediate, and write down who promised what.",
    "opportunist": "You have no lasting friends: take whatever this turn offers the most.",
    "austerity": "You spend as little as you can: no army, no grants without return, welfare first.",
    "expansion": "You want territory above all: ask for territories, trade for them, and make ceding look cheap.",
    "deterrence": "You tell everybody exactly what you will do to an attacker, and then you do exactly that.",
    "signals": "You judge others by small actions, and take small actions yourself before you commit to large ones.",
    "aggressive": "You weaken the strongest rival early and often, so that nobody can outgrow you.",
    "sneaky": "You promise freely, keep your word while it is cheap, and break it when it pays the most.",
    "peace_enforcer": "You want nobody attacked: a nation that attacks first is your enemy until it stops.",
}
"""What a language model with this trait is told about itself."""
