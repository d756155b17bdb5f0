"""The constants and options of a game. They are validated when they are created."""

import re
from fractions import Fraction
from typing import Any, Literal

from msgspec import Struct

from cohabit.errors import BadArgs

BROADCAST = "all"
"""The recipient of a message to every nation. No nation may have this name."""
INTEGER_CONSTANTS = (
    "c_money_per_territory", "c_mil_purchase_price", "c_mil_upkeep_price", "c_defense_destroy_factor",
    "c_damage_per_attack_mil",
)  # fmt: skip
DIVISORS = ("c_mil_purchase_price", "c_defense_destroy_factor", "trade_denominator")
"""These must be at least 1."""
MAX_CONSTANT = 10**9
TRADE_FACTOR_FORMAT = re.compile(r"[-+]?[0-9.]{1,24}(/[0-9]{1,24}|e[-+]?[0-9]{1,2})?")
"""Limits the length, because the exact fraction of a number like 1e99999999 would take forever to compute."""


class Rules(Struct, frozen=True, kw_only=True):
    """The rules of a game. All of them are public and shown to every nation."""

    c_money_per_territory: int = 10
    c_mil_purchase_price: int = 20
    c_mil_upkeep_price: int = 2
    c_defense_destroy_factor: int = 4
    c_damage_per_attack_mil: int = 5
    trade_numerator: int = 2  # c_trade_factor is an exact fraction, so that no result depends on float rounding
    trade_denominator: int = 1
    loss_cap: Literal["committed", "army"] = "committed"
    """committed: attackers lose at most what they sent to a target · army: losses can exceed what was sent."""
    intake: Literal["strict", "lenient"] = "strict"

    def __post_init__(self) -> None:
        for name in (*INTEGER_CONSTANTS, "trade_numerator", "trade_denominator"):
            number = getattr(self, name)
            minimum = 1 if name in DIVISORS else 0
            if type(number) is not int or not minimum <= number <= MAX_CONSTANT:
                raise BadArgs(f"{name}: must be an integer from {minimum} to {MAX_CONSTANT}, not {number!r}")

    @property
    def constants(self) -> dict[str, Any]:
        """The constants under the names that agents know."""
        factor = Fraction(self.trade_numerator, self.trade_denominator)
        constants: dict[str, Any] = {name: getattr(self, name) for name in INTEGER_CONSTANTS}
        return {**constants, "c_trade_factor": int(factor) if factor.denominator == 1 else float(factor)}


def rules_from(constants: dict[str, Any], **options: Any) -> Rules:
    """Create rules from constants by name. ``c_trade_factor`` is a number or a string such as "1.13" or "3/2"."""
    given = dict(constants)
    factor_text = str(given.pop("c_trade_factor", 2))
    try:
        if not TRADE_FACTOR_FORMAT.fullmatch(factor_text):
            raise ValueError(factor_text)
        factor = Fraction(factor_text)
    except (ValueError, ZeroDivisionError):
        raise BadArgs("c_trade_factor: must be a number or a string such as 1.5 or 3/2") from None
    unknown = [name for name in given if name not in INTEGER_CONSTANTS]
    if unknown:
        known = ", ".join(INTEGER_CONSTANTS)
        raise BadArgs(f"unknown constant {unknown[0]!r}; the constants are {known} and c_trade_factor")
    if factor < 0:
        raise BadArgs("c_trade_factor: must not be negative")
    return Rules(**given, trade_numerator=factor.numerator, trade_denominator=factor.denominator, **options)
