"""When a visit to a game ends by itself, in the agent's words: "health < 10%", "steps >= 200", "died".

A condition that is not understood is a note of the agent to itself.
"""

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

Kind = Literal["health", "steps", "playtime", "died", "goal_complete"]
OF_BODIES: tuple[Kind, ...] = ("health", "died")
"""Kinds of conditions for bodies only."""
_WORDS: dict[str, Kind] = {
    "died": "died", "death": "died", "dead": "died",
    "goal_complete": "goal_complete", "goal_completed": "goal_complete",
}  # fmt: skip
_HEALTH = re.compile(r"health (<=?) (\d{1,6}(?:\.\d{1,3})?) ?(%?)")
_STEPS = re.compile(r"steps (>=?) (\d{1,9})")
_PLAYTIME = re.compile(r"playtime (>=?) (\d{1,7}) ?(s|seconds|min|minutes|h|hours)?")
_SECONDS = {"m": 60, "h": 3600}


class ExitCondition(Struct, frozen=True):
    """A condition that a room can evaluate. ``value``: of health, steps, or seconds."""

    kind: Kind
    value: float = 0.0
    percent: bool = False  # of the health of the body
    equal: bool = False  # it holds for the value itself, too

    def holds_for(self, amount: float) -> bool:
        """True if the condition holds for this health, or this number of steps or seconds."""
        if self.equal and amount == self.value:
            return True
        return amount < self.value if self.kind == "health" else amount > self.value


@lru_cache(1024)
def exit_condition(text: str) -> ExitCondition | None:
    """The condition that a text states; None if it is none that can be evaluated."""
    words = re.sub(r"([<>]=?)", r" \1 ", text.casefold().replace("-", "_"))
    words = " ".join(words.split())
    if kind := _WORDS.get(words.replace(" ", "_")):
        return ExitCondition(kind)
    if found := _HEALTH.fullmatch(words):
        return ExitCondition("health", float(found[2]), bool(found[3]), found[1] == "<=")
    if found := _STEPS.fullmatch(words):
        return ExitCondition("steps", float(found[2]), equal=found[1] == ">=")
    if found := _PLAYTIME.fullmatch(words):
        seconds = int(found[2]) * _SECONDS.get((found[3] or "s")[0], 1)
        return ExitCondition("playtime", float(seconds), equal=True)
    return None
