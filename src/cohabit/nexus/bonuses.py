"""What the skills and titles of an agent give it in a world."""

import math

from cohabit.model.travel import BonusRule, Travel
from cohabit.nexus.goals import GOALS
from cohabit.nexus.values import Profile


def bonuses(travel: Travel, profile: Profile) -> dict[str, float]:
    """The bonuses of this agent: by the rules of the world, and by the meta-goals that it has completed.

    A world gets only the bonuses that it has declared.
    """
    found = {
        rule.name: _by_rule(rule, profile) for rule in travel.bonuses if profile.skill(rule.domain) > rule.threshold
    }
    flags = {rule.name for rule in travel.bonuses if rule.is_flag}
    declared = {rule.name for rule in travel.bonuses} | set(travel.common_bonuses)
    for name, amount in rewards(profile).items():
        if name in declared:
            found[name] = 1.0 if name in flags else found.get(name, 0.0) + amount
    return found


def rewards(profile: Profile) -> dict[str, float]:
    """What the completed meta-goals of this agent add, in the worlds that have such a bonus."""
    found: dict[str, float] = {}
    for progress in profile.goals:
        if progress.completed_at is not None and progress.goal in GOALS:
            for name, amount in GOALS[progress.goal].reward.bonuses.items():
                found[name] = found.get(name, 0.0) + amount
    return found


def _by_rule(rule: BonusRule, profile: Profile) -> float:
    amount = rule.factor * profile.skill(rule.domain)
    return rule.base + (float(math.floor(amount)) if rule.whole else amount)
