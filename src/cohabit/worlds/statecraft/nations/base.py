"""What scripted nations share: how they read their input, rate the others and word a pledge.

A nation is a pure function of its input. What it must remember it writes into its own ``history_summary``,
which comes back in the next input, so a nation that is taken up after a restart plays on as if nothing had been.
"""

from typing import Any

Input = dict[str, Any]
Answer = dict[str, Any]

RATED_BAD, RATED_UNKNOWN, RATED_GOOD = 2, 5, 9


class Nation:
    """A nation that decides by a rule. ``act`` is all of the agent interface."""

    def act(self, agent_input: Input) -> Answer:
        raise NotImplementedError


def others(seen: Input) -> list[str]:
    """Everybody else, in name order."""
    return sorted(name for name in seen["agents"] if name != seen["self"])


def own_army(seen: Input) -> int:
    return int(seen["army"].get(seen["self"], 0))


def budget(seen: Input) -> int:
    """What is left of this turn's income after upkeep, if nobody attacks."""
    constants = seen["constants"]
    income = len(seen["territories"].get(seen["self"], ())) * int(constants["c_money_per_territory"])
    return max(income - own_army(seen) * int(constants["c_mil_upkeep_price"]), 0)


def affordable(seen: Input, money: int) -> int:
    """How many mils that money buys."""
    return money // int(seen["constants"]["c_mil_purchase_price"])


def price_of(seen: Input, mils: int) -> int:
    return mils * int(seen["constants"]["c_mil_purchase_price"])


def shared(money: int, among: list[str]) -> dict[str, int]:
    """The money in equal whole parts; nothing where it does not suffice for one each."""
    each = money // len(among) if among else 0
    return dict.fromkeys(among, each) if each else {}


def attacks_last_turn(seen: Input) -> dict[str, dict[str, int]]:
    """attacker -> target -> mils, as far as this nation may know."""
    found: dict[str, dict[str, int]] = seen.get("last_turn", {}).get("attacks", {})
    return found


def attackers_of(seen: Input, victim: str) -> dict[str, int]:
    """Who sent how many mils at that nation last turn, in name order."""
    attacks = attacks_last_turn(seen)
    return {a: attacks[a][victim] for a in sorted(attacks) if attacks[a].get(victim)}


def gifts_received(seen: Input) -> dict[str, int]:
    """Who paid how much to this nation last turn, in name order."""
    grants = seen.get("last_turn", {}).get("grants", {})
    return {g: grants[g][seen["self"]] for g in sorted(grants) if grants[g].get(seen["self"])}


def recalled(seen: Input, heading: str) -> list[str]:
    """The names that this nation wrote down under that heading in its own history."""
    history = str(seen.get("history_summary", ""))
    return history.removeprefix(heading).split(", ") if history.startswith(heading) else []


def weakest(seen: Input, among: list[str]) -> str:
    """The smallest army that shows; of equals the one with most land, then the first by name."""
    return min(among, key=lambda n: (seen["army"].get(n, 0), -len(seen["territories"].get(n, ())), n))


def pledges(grants: dict[str, int]) -> dict[str, str]:
    """A letter to each: the same grant again next turn, and no attack."""
    return {name: f"pledge: grant {n} to {name}\npledge: no attack on {name}" for name, n in grants.items()}


def ratings(seen: Input) -> Answer:
    """Both reports, from what showed last turn; none before there was one."""
    if "last_turn" not in seen:
        return {}
    attacks, gifts, me = attacks_last_turn(seen), gifts_received(seen), seen["self"]
    word: dict[str, int] = {}
    aggression: dict[str, int] = {}
    for name in others(seen):
        struck = attacks.get(name, {})
        aggression[name] = RATED_GOOD if any(struck.values()) else RATED_BAD
        word[name] = RATED_BAD if struck.get(me) else RATED_GOOD if name in gifts else RATED_UNKNOWN
    return {"keeps_word_report": word, "aggressor_report": aggression}
