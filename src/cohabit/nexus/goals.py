"""Meta-goals: what an agent can pursue across games, and how far it is.

A goal of the house is evaluated from everything that the agent has ever done, whenever it was set; its reward is
permanent. A goal in the agent's own words has no reward, and only the agent can say that it is reached.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.model.observation import one_line
from cohabit.model.suggest import is_close, nearest
from cohabit.model.travel import DOMAINS, Domain
from cohabit.nexus.skills import achieved, learn
from cohabit.nexus.values import Evidence, GameInfo, GoalProgress, MetaGoal, Ongoing, Profile, Requirement, Reward

MAX_ACTIVE = 5
MAX_OWN_GOAL = 200  # characters
OWN_KEPT = 20  # own goals that were reached
OWN = "own-"
NEXUS = "nexus"  # the game of the evidence that a reward leaves


def _goal(requirements: list[Any], reward: dict[str, Any], **rest: Any) -> MetaGoal:
    return MetaGoal(**rest, requirements=tuple(Requirement(**one) for one in requirements), reward=Reward(**reward))


GOALS: Mapping[str, MetaGoal] = {
    one["id"]: _goal(**one) for one in msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes())
}
ALIASES = {"explorer": "world_walker"}  # what others call a goal
NO_GAMES = "no game is known here"


class _Measure(NamedTuple):
    """How far a requirement is: what is reached in each world or skill, and in how many of them it is needed."""

    amounts: Mapping[str, float]
    needed: int
    unit: str


class Need(NamedTuple):
    """A requirement that is not met, and what is reached of it in each world or skill."""

    requirement: Requirement
    amounts: Mapping[str, float]

    def helped_by(self, game: GameInfo) -> bool:
        """Whether a visit to this game can bring the agent closer."""
        target, games = self.requirement.target, self.requirement.games
        if self.requirement.type == "reach_skill_level":
            return any(self.amounts.get(domain, target) < target for domain in game.skill_domains)
        return (not games or game.kind in games) and self.amounts.get(game.kind, 0.0) < target


# -- evaluating -----------------------------------------------------------------------------------------------
def evaluate(
    goal: MetaGoal, profile: Profile, games: Sequence[GameInfo], ongoing: Ongoing | None = None
) -> GoalProgress:
    """How far an agent is, including the visit that is still going on. It is reached if ``progress`` is 1."""
    worlds = known_worlds(games)
    parts = [_part(requirement, profile, worlds, ongoing) for requirement in goal.requirements]
    share = math.fsum(share for share, _ in parts) / len(parts)
    detail = "; ".join(detail for _, detail in parts)
    return GoalProgress(goal.id, progress=math.floor(share * 1000) / 1000, detail=detail)


def completed(profile: Profile, games: Sequence[GameInfo], ongoing: Ongoing | None = None) -> list[MetaGoal]:
    """The active goals of the house that the agent has reached now."""
    active = [GOALS[one.goal] for one in profile.goals if one.completed_at is None and one.goal in GOALS]
    return [goal for goal in active if evaluate(goal, profile, games, ongoing).progress >= 1]


def progressed(profile: Profile, games: Sequence[GameInfo], at: int, ongoing: Ongoing | None = None) -> Profile:
    """The profile with its goals evaluated, and the rewards of those that are reached now.

    A reward can raise a skill that another goal asks for, so this repeats until no further goal is reached.
    """
    while done := completed(profile, games, ongoing):
        for goal in done:
            profile = _rewarded(profile, goal, games, ongoing, at)
    fresh = [
        evaluate(GOALS[one.goal], profile, games, ongoing) if one.completed_at is None and one.goal in GOALS else one
        for one in profile.goals
    ]
    return replace(profile, goals=fresh)


def still_needed(goal: MetaGoal, profile: Profile, games: Sequence[GameInfo]) -> list["Need"]:
    """What is missing for a goal."""
    worlds = known_worlds(games)
    return [
        Need(one, _measure(one, profile, worlds, None).amounts)
        for one in goal.requirements
        if _part(one, profile, worlds, None)[0] < 1
    ]


def known_worlds(games: Sequence[GameInfo]) -> list[str]:
    """The kinds of game that agents can travel to and that teach something."""
    return list(dict.fromkeys(game.kind for game in games if game.transit_compatible and game.skill_domains))


def _rewarded(profile: Profile, goal: MetaGoal, games: Sequence[GameInfo], ongoing: Ongoing | None, at: int) -> Profile:
    result = replace(evaluate(goal, profile, games, ongoing), completed_at=at)
    goals = [result if one.goal == goal.id else one for one in profile.goals]
    titles = list(dict.fromkeys([*profile.titles, *filter(None, [goal.reward.title])]))
    gains = {domain: round((1 - profile.skill(domain)) * part, 9) for domain, part in goal.reward.skills.items()}
    proof = [Evidence(NEXUS, domain, goal.id, 1, gain, at) for domain, gain in gains.items()]
    return learn(replace(profile, goals=goals, titles=titles), gains, proof)


def _part(
    requirement: Requirement, profile: Profile, worlds: Sequence[str], ongoing: Ongoing | None
) -> tuple[float, str]:
    """The share of a requirement that is reached, from 0 to 1, and in words."""
    amounts, needed, unit = _measure(requirement, profile, worlds, ongoing)
    if not needed:
        return 0.0, NO_GAMES
    target = requirement.target
    best = sorted(amounts.items(), key=lambda one: (-one[1], one[0]))[:needed]
    share = math.fsum(min(1.0, amount / target) for _, amount in best) / needed
    if needed == 1:
        return share, f"{min(best[0][1] if best else 0, target):.3g} of {target:g} {unit}"
    reached = sum(amount >= target for _, amount in best)
    begun = [f"{name} {amount:.3g} of {target:g}" for name, amount in best if 0 < amount < target]
    parts = f": {', '.join(begun)}" if begun else ""
    if requirement.type == "reach_skill_level":
        return share, f"{reached} of {needed} skills" + parts.replace("_", " ")
    known = f" ({len(worlds)} known here)" if len(worlds) < needed else ""
    return share, f"{reached} of {needed} kinds of game{known}{parts}"


def _measure(requirement: Requirement, profile: Profile, worlds: Sequence[str], ongoing: Ongoing | None) -> _Measure:
    if requirement.type == "reach_skill_level":
        levels = _levels(profile, ongoing)
        chosen = {requirement.what: levels[requirement.what]} if requirement.what else levels
        return _Measure(chosen, len(chosen) if requirement.count is None else requirement.count, requirement.what)
    amounts, unit = _AMOUNTS[requirement.type](requirement, profile, ongoing)
    wanted = requirement.games or (worlds if requirement.count is None else ())
    if wanted or requirement.count is None:
        amounts = {world: amounts.get(world, 0.0) for world in wanted}
    return _Measure(amounts, len(wanted) if requirement.count is None else requirement.count, unit)


Amounts = tuple[dict[str, float], str]


def _steps(requirement: Requirement, profile: Profile, ongoing: Ongoing | None) -> Amounts:
    amounts = {world: float(totals.steps) for world, totals in profile.worlds.items()}
    if ongoing:
        _add(amounts, ongoing.world, ongoing.steps)
    return amounts, "steps"


def _visits(requirement: Requirement, profile: Profile, ongoing: Ongoing | None) -> Amounts:
    amounts = {world: float(totals.visits) for world, totals in profile.worlds.items()}
    if ongoing:
        _add(amounts, ongoing.world, ongoing.visits)
    return amounts, "visits"


def _achievements(requirement: Requirement, profile: Profile, ongoing: Ongoing | None) -> Amounts:
    ids = {achievement.id for achievement in profile.achievements}
    if ongoing:
        ids |= {f"{ongoing.world}:{name}" for name in (*ongoing.achievements, *achieved(ongoing.deeds))}
    amounts: dict[str, float] = {}
    for world, _, name in (one.partition(":") for one in ids):
        if requirement.what in ("", name, f"{world}:{name}"):
            _add(amounts, world, 1)
    return amounts, "achievements"


def _actions(requirement: Requirement, profile: Profile, ongoing: Ongoing | None) -> Amounts:
    amounts = {world: _count(totals.deeds, requirement.what) for world, totals in profile.worlds.items()}
    if ongoing:
        _add(amounts, ongoing.world, _count(ongoing.deeds, requirement.what))
    return amounts, requirement.what or "deeds"


def _items(requirement: Requirement, profile: Profile, ongoing: Ongoing | None) -> Amounts:
    amounts: dict[str, float] = {}
    for item in profile.carried:
        if requirement.what in ("", item.category):
            _add(amounts, item.origin.partition(":")[0], item.count)
    return amounts, f"{requirement.what} items".strip()


_AMOUNTS: Mapping[str, Callable[[Requirement, Profile, Ongoing | None], Amounts]] = {
    "survive_steps": _steps,
    "visit_game": _visits,
    "earn_achievement": _achievements,
    "complete_action": _actions,
    "collect_items": _items,
}


def _levels(profile: Profile, ongoing: Ongoing | None) -> dict[str, float]:
    gains: Mapping[Domain, float] = ongoing.gains if ongoing else {}
    return {domain: min(1.0, profile.skill(domain) + gains.get(domain, 0.0)) for domain in DOMAINS}


def _count(deeds: Mapping[str, int], what: str) -> float:
    return float(deeds.get(what, 0) if what else sum(deeds.values()))


def _add(amounts: dict[str, float], world: str, more: float) -> None:
    amounts[world] = amounts.get(world, 0.0) + more


# -- choosing -------------------------------------------------------------------------------------------------
def active(profile: Profile) -> list[GoalProgress]:
    """The goals that the agent pursues now."""
    return [one for one in profile.goals if one.completed_at is None]


def find(text: str) -> MetaGoal | None:
    """The goal of the house with this id or name."""
    plain = text.strip().casefold().replace("-", "_").replace(" ", "_")
    plain = ALIASES.get(plain, plain)
    return next((goal for goal in GOALS.values() if plain in (goal.id, goal.name.casefold().replace(" ", "_"))), None)


def set_goal(profile: Profile, text: str, games: Sequence[GameInfo], at: int) -> Profile:
    """The profile with one more goal: one of the house by its id or name, or one in the agent's own words."""
    goal = find(text)
    words = one_line(text).strip()
    known = {one.goal: one for one in profile.goals}
    if goal and goal.id in known:
        done = known[goal.id].completed_at is not None
        raise GameRejected(f"you have {'completed' if done else 'set'} the goal {goal.id} already; choose another one")
    if not words:
        raise GameRejected(f"say which goal: one of {', '.join(GOALS)}, or a sentence of your own")
    if len(words) > MAX_OWN_GOAL:
        raise GameRejected(f"a goal of your own has at most {MAX_OWN_GOAL} characters, not {len(words)}; shorten it")
    if goal is None and " " not in words and any(is_close(words, known_id) for known_id in GOALS):
        raise GameRejected(
            f"there is no goal {words!r}; a goal of your own is a sentence", did_you_mean=nearest(words, GOALS)
        )
    if any(one.description == words for one in active(profile)):
        raise GameRejected("you have set this goal already; choose another one")
    if len(active(profile)) >= MAX_ACTIVE:
        named = ", ".join(one.goal for one in active(profile))
        raise GameRejected(f"you pursue {MAX_ACTIVE} goals, which is the limit; abandon one of {named} first")
    numbers = [int(one.goal[len(OWN) :]) for one in profile.goals if one.goal.startswith(OWN)]
    new = GoalProgress(goal.id) if goal else GoalProgress(f"{OWN}{max(numbers, default=0) + 1}", words)
    return progressed(replace(profile, goals=[*profile.goals, new]), games, at)


def abandon(profile: Profile, goal: str) -> Profile:
    """The profile without a goal that is not completed."""
    found = _active_goal(profile, goal)
    return replace(profile, goals=[one for one in profile.goals if one.goal != found.goal])


def tick_off(profile: Profile, goal: str, at: int) -> Profile:
    """The profile with one of the agent's own goals reached. There is no reward."""
    found = _active_goal(profile, goal)
    if not found.goal.startswith(OWN):
        raise GameRejected(
            f"the goal {found.goal} is evaluated here ({found.detail}); you can tick off only your own goals"
        )
    done = replace(found, progress=1.0, completed_at=at)
    goals = [done if one.goal == found.goal else one for one in profile.goals]
    old = [one.goal for one in goals if one.goal.startswith(OWN) and one.completed_at is not None][:-OWN_KEPT]
    return replace(profile, goals=[one for one in goals if one.goal not in old])


def _active_goal(profile: Profile, goal: str) -> GoalProgress:
    house = find(goal)
    wanted = house.id if house else one_line(goal)
    for one in active(profile):
        if wanted in (one.goal, one.description):
            return one
    named = ", ".join(one.goal for one in active(profile))
    advice = f"your goals are {named}" if named else "you have set no goal"
    raise GameRejected(f"you do not pursue the goal {one_line(goal)!r}; {advice}")
