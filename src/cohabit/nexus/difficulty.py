"""How hard a game is for an agent: how much of the usual damage its body takes from creatures and hazards."""

from collections.abc import Mapping

from cohabit.model.travel import Difficulty
from cohabit.nexus.values import Profile

DAMAGE: Mapping[Difficulty, float] = {"easy": 0.5, "normal": 1.0, "hard": 1.5}


def damage_for(difficulty: Difficulty, profile: Profile) -> float:
    """The factor of a difficulty. ``adaptive`` goes from that of easy to that of hard, with the agent's skills in
    combat and survival."""
    if difficulty in DAMAGE:
        return DAMAGE[difficulty]
    level = (profile.skill("combat") + profile.skill("survival")) / 2
    return round(DAMAGE["easy"] + (DAMAGE["hard"] - DAMAGE["easy"]) * level, 2)
