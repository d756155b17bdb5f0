"""Prices of models, in dollars per million tokens: from the file that COHABIT_PRICES names, and nowhere else.

Prices change often, so none are built in. The file is JSON: {"openai:MODEL": [prompt, completion], …}.
"""

import json
import os
from functools import cache
from pathlib import Path

from cohabit.errors import BadArgs

VARIABLE = "COHABIT_PRICES"
MAX_PER_TOKEN = 100.0
"""Dollars. No model costs as much."""


def dollars(name: str, prompt_tokens: float, completion_tokens: float) -> float | None:
    """The cost of one answer; None if the price of this model is unknown."""
    price = _prices(os.environ.get(VARIABLE, "")).get(name)
    if price is None:
        return None
    return (prompt_tokens * price[0] + completion_tokens * price[1]) / 1e6


def is_priced(name: str) -> bool:
    """True if the price of this model is known."""
    return name in _prices(os.environ.get(VARIABLE, ""))


@cache
def _prices(path: str) -> dict[str, tuple[float, float]]:
    if not path:
        return {}
    try:
        read = json.loads(Path(path).read_text(encoding="utf-8"))
        return {str(name): (_price(pair[0]), _price(pair[1])) for name, pair in read.items()}
    except (OSError, ValueError, TypeError, IndexError, KeyError, AttributeError) as wrong:
        raise BadArgs(f'{VARIABLE}={path}: {wrong}; expected {{"openai:MODEL": [prompt, completion], …}}') from None


def _price(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1e6 * MAX_PER_TOKEN:
        raise ValueError(f"{given!r} is not a price")
    return float(given)
