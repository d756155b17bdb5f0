"""Statecraft for learners: simple answers by number, and what a nation knows as numbers.

The array is made of the input object of a nation, so it shows no more than that.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cohabit.model.action import Action
from cohabit.world import ArraySpec
from cohabit.worlds.statecraft.rules import Rules

NATIONS = "nations"
AMOUNTS = (1, 2, 4, 8)
MAX_UNIT = 1_000_000
NOTHING = Action("submit")
COLUMNS = (
    "plays", "you", "territories", "army is known", "army", "welfare is known", "welfare", "welfare of the last turn",
    "damage of the last turn", "its attack on you", "your attack on it", "its grant to you", "your grant to it",
    "all its attacks", "all its grants",
)  # fmt: skip
MANY_MILS, MANY_TERRITORIES = 10, 10
MUCH_MONEY, MUCH_WELFARE = 100, 1000
"""Amounts that are shown as one half. Larger ones come nearer and nearer to 1."""


def money_unit(rules: Rules) -> int:
    """The unit of grants: the income of a territory."""
    return min(max(1, rules.c_money_per_territory), MAX_UNIT)


def numbered(nations: Sequence[str], rules: Rules) -> list[Action]:
    """No orders; mils to buy; mils to disband; a grant to a nation; an attack on one. Each in ``AMOUNTS``."""
    unit = money_unit(rules)
    return [
        NOTHING,
        *(Action("submit", {order: n}) for order in ("purchase_mils", "disband_mils") for n in AMOUNTS),
        *(Action("submit", {"money_grants": {name: n * unit}}) for name in nations for n in AMOUNTS),
        *(Action("submit", {"attacks": {name: n}}) for name in nations for n in AMOUNTS),
    ]


def useful(others: Sequence[str], rules: Rules, army: int, money: int) -> list[Action]:
    """The orders that a nation can carry out in full with this army, and this money after the upkeep of the army."""
    unit = money_unit(rules)
    affordable = [n for n in AMOUNTS if n * unit <= money]
    ready = [n for n in AMOUNTS if n <= army]
    return [
        NOTHING,
        *(Action("submit", {"purchase_mils": n}) for n in AMOUNTS if n * rules.c_mil_purchase_price <= money),
        *(Action("submit", {"disband_mils": n}) for n in ready),
        *(Action("submit", {"money_grants": {name: n * unit}}) for name in others for n in affordable),
        *(Action("submit", {"attacks": {name: n}}) for name in others for n in ready),
    ]


def form_of(nations: Sequence[str]) -> ArraySpec:
    return ArraySpec(shape=(len(nations) * len(COLUMNS) + 1,), dtype="float32", low=0, high=1)


def array_of(nations: Sequence[str], known: Mapping[str, Any], turns: int) -> Any:
    """``COLUMNS`` for each nation that there can be, in the order of the seats; then how much of the game is left."""
    import numpy as np  # only learners need it

    rows = [number for name in nations for number in _row(name, known)]
    return np.array([*rows, known["turns_left"] / turns], np.float32)


def _row(name: str, known: Mapping[str, Any]) -> Iterator[float]:
    if name not in known["agents"]:
        yield from [0.0] * len(COLUMNS)
        return
    you, last = known.get("self", ""), known.get("last_turn", {})
    attacks, grants = last.get("attacks", {}), last.get("grants", {})
    yield 1
    yield name == you
    yield _share(len(known["territories"][name]), MANY_TERRITORIES)
    for amounts, many in ((known["army"], MANY_MILS), (known["welfare"], MUCH_WELFARE)):
        yield name in amounts
        yield _share(amounts.get(name, 0), many)
    for amounts in (last.get("welfare", {}), last.get("damage", {})):
        yield _share(amounts.get(name, 0), MUCH_MONEY)
    for flows, many in ((attacks, MANY_MILS), (grants, MUCH_MONEY)):
        yield _share(flows.get(name, {}).get(you, 0), many)
        yield _share(flows.get(you, {}).get(name, 0), many)
    yield _share(sum(attacks.get(name, {}).values()), MANY_MILS)
    yield _share(sum(grants.get(name, {}).values()), MUCH_MONEY)


def _share(amount: int, many: int) -> float:
    return amount / (amount + many)
