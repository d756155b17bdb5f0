"""The numbers of a game, and the choices its rules leave open. Checked at birth: a wrong one fails where it is made."""

import re
from fractions import Fraction
from typing import Any, Literal

from msgspec import Struct

from cohabit.errors import BadArgs

EVERYBODY = "all"
"""The addressee of a message to everybody; no nation may be called that."""
NUMBERS = (
    "c_money_per_territory", "c_mil_purchase_price", "c_mil_upkeep_price", "c_defense_destroy_factor",
    "c_damage_per_attack_mil",
)  # fmt: skip
POSITIVE = ("c_mil_purchase_price", "c_defense_destroy_factor")
"""Something is divided by these."""
LARGEST = 10**9
FACTOR = re.compile(r"[-+]?[0-9.]{1,24}(/[0-9]{1,24}|e[-+]?[0-9]{1,2})?")
"""How a trade factor is written. Nothing longer: to work out 1e99999999 exactly would take for ever."""


class Rules(Struct, frozen=True, kw_only=True):
    """All of it is public, and shown to every nation."""

    c_money_per_territory: int = 10
    c_mil_purchase_price: int = 20
    c_mil_upkeep_price: int = 2
    c_defense_destroy_factor: int = 4
    c_damage_per_attack_mil: int = 5
    trade_numerator: int = 2  # c_trade_factor is a fraction, so that nothing is ever rounded by accident
    trade_denominator: int = 1
    loss_cap: Literal["committed", "army"] = "committed"
    """committed: attackers lose no more at a target than they sent there · army: as the old engine had it."""
    intake: Literal["strict", "lenient"] = "strict"

    def __post_init__(self) -> None:
        for name in (*NUMBERS, "trade_numerator", "trade_denominator"):
            number = getattr(self, name)
            least = 1 if name in POSITIVE or name == "trade_denominator" else 0
            if type(number) is not int or not least <= number <= LARGEST:
                raise BadArgs(f"{name}: must be a whole number from {least} to {LARGEST}, not {number!r}")

    @property
    def constants(self) -> dict[str, Any]:
        """The constants under the names that agents know."""
        factor = Fraction(self.trade_numerator, self.trade_denominator)
        whole = factor.denominator == 1
        shown: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        return {**shown, "c_trade_factor": int(factor) if whole else float(factor)}


def rules_from(constants: dict[str, Any], **choices: Any) -> Rules:
    """Rules from constants by their names; ``c_trade_factor`` may be a number or a text such as "1.13" or "3/2"."""
    given = dict(constants)
    wanted = str(given.pop("c_trade_factor", 2))
    try:
        if not FACTOR.fullmatch(wanted):
            raise ValueError(wanted)
        factor = Fraction(wanted)
    except (ValueError, ZeroDivisionError):
        raise BadArgs("c_trade_factor: must be a number, or a text such as 1.5 or 3/2") from None
    unknown = [name for name in given if name not in NUMBERS]
    if unknown:
        raise BadArgs(f"constants: there is no {unknown[0]!r}; there are {', '.join(NUMBERS)} and c_trade_factor")
    if factor < 0:
        raise BadArgs("c_trade_factor: must not be negative")
    return Rules(**given, trade_numerator=factor.numerator, trade_denominator=factor.denominator, **choices)
