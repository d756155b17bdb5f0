"""The pauses before a push, so that every agent gets its turn on a busy remote."""

import random
from dataclasses import dataclass
from typing import Final

PUSH_SECONDS: Final = 50.0
"""The time that a push keeps trying. Clients give up after a minute."""
MAX_PAUSE: Final = 2.0
MERGE_FACTOR: Final = 4
"""An attempt that fetches and merges first takes this many times as long."""
MAX_TURN_PAUSE: Final = 5.0
"""The longest pause between two pushes of one agent."""
PATIENT_LOSSES: Final = 4
"""Lost races after which an agent no longer waits before it tries again."""


@dataclass(frozen=True, slots=True)
class LastPush:
    """The last push of an agent: when it ended, how long its last attempt took, whether that one merged, and how many
    races it lost before."""

    ended: float
    took: float
    merged: bool
    losses: int

    def pause(self, now: float) -> float:
        """The time to wait before the next push. A push right after another needs no fetch and no merge, so without a
        pause an agent would win every race against those who need both. After such a push it lets one of them pass, and
        in any case as many as it had to compete with."""
        turns = self.losses if self.merged else MERGE_FACTOR * (1 + self.losses)
        return max(0.0, self.ended + min(turns * self.took * random.uniform(1.0, 2.0), MAX_TURN_PAUSE) - now)


def backoff(losses: int, took: float, left: float) -> float:
    """The time to wait after losing a race: a random part of the time of an attempt, so that the losers do not all
    return at once. An agent that keeps losing waits less each time and soon not at all, so that those who lost less let
    it pass. So does one with little time left."""
    weight = max(0.0, 2 * left / PUSH_SECONDS - 1) * max(0.0, 1 - (losses - 1) / PATIENT_LOSSES)
    return min(random.uniform(0, took), MAX_PAUSE) * weight
