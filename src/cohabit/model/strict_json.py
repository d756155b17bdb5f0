"""JSON that is the same for equal values and has no infinite numbers."""

from math import isfinite

import msgspec

sorted_json = msgspec.json.Encoder(order="sorted").encode
"""A value as JSON with sorted keys: equal values have equal bytes."""


def finite_number(text: str) -> float:
    """A number of a JSON text. Python's parser also accepts NaN, Infinity and 1e999, which JSON cannot represent."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number
