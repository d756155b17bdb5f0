"""Reads the input of a scripted nation of Statecraft, and makes the parts of its answers."""

from collections.abc import Mapping
from typing import Any

Input = dict[str, Any]
Answer = dict[str, Any]


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
    history = str(seen.get("history_summary", "")).partition("\n")[0]
    return history.removeprefix(heading).split(", ") if history.startswith(heading) else []


def grants_paid(seen: Input) -> dict[str, int]:
    """The money that this nation paid to each other nation last turn."""
    paid: dict[str, int] = seen.get("last_turn", {}).get("grants", {}).get(seen["self"], {})
    return paid


def is_last_turn(seen: Input) -> bool:
    return bool(seen.get("turns_left", 2) <= 1)


def weakest(seen: Input, among: list[str]) -> str:
    """The nation with the smallest visible army; ties go to the one with most territories, then by name."""
    return min(among, key=lambda n: (seen["army"].get(n, 0), -len(seen["territories"].get(n, ())), n))


# -- parts of an answer -------------------------------------------------------------------------
def equal_shares(amount: int, among: list[str]) -> dict[str, int]:
    """The amount in equal integer parts; nothing if it is too small for one each."""
    each = amount // len(among) if among else 0
    return dict.fromkeys(among, each) if each else {}


def pledges(grants: Mapping[str, int]) -> dict[str, str]:
    """A message to each: the same grant next turn, and no attack."""
    return {name: f"pledge: grant {n} to {name}\npledge: no attack on {name}" for name, n in grants.items()}
