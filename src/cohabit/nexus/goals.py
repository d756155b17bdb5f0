"""Meta-goals: what an agent can pursue across games, and how far it is.

A goal of the house is evaluated from everything that the agent has ever done, whenever it was set; its reward is
permanent. A goal in the agent's own words has no reward, and only the agent can say that it is reached.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.model.observation import one_line
from cohabit.model.suggest import is_close, nearest
from cohabit.model.travel import DOMAINS
from cohabit.nexus import values
from cohabit.nexus.skills import achieved, learn
from cohabit.nexus.values import GameInfo, GoalProgress, MetaGoal, Ongoing, Profile, Requirement

MAX_ACTIVE = 5
MAX_OWN_GOAL = 200  # characters
OWN_KEPT = 20  # own goals that were reached
OWN = "own-"
NEXUS = "nexus"  # the game of the evidence that a reward leaves


def _goal(requirements: list[Any], reward: dict[str, Any], **rest: Any) -> MetaGoal:
    """As it is written in the table: a whole number stays one."""
    asked = tuple(Requirement(**one) for one in requirements)
    return MetaGoal(**rest, requirements=asked, reward=values.Reward(**reward))


GOALS: Mapping[str, MetaGoal] = {
    one["id"]: _goal(**one) for one in msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes())
}
ALIASES = {"explorer": "world_walker"}  # what others call a goal
NO_GAMES = "no game is known here"


class _Measure(NamedTuple):
    """The progress of a requirement: the amount in each world or skill, and the number of them that must reach it."""

    amounts: Mapping[str, float]
    needed: int
    unit: str


class Need(NamedTuple):
    """A requirement that is not met, and what is reached of it in each world or skill."""

    requirement: Requirement
    amounts: Mapping[str, float]

    def helped_by(self, game: GameInfo) -> bool:
        """True if a visit to this game can bring the agent closer."""
        target, games = self.requirement.target, self.requirement.games
        if self.requirement.type == "reach_skill_level":
            return any(self.amounts.get(domain, target) < target for domain in game.skill_domains)
        return (not games or game.kind in games) and self.amounts.get(game.kind, 0.0) < target


# -- evaluating -----------------------------------------------------------------------------------------------
def evaluate(
    goal: MetaGoal, profile: Profile, games: Sequence[GameInfo], ongoing: Ongoing | None = None
) -> GoalProgress:
    """The progress of an agent, including the visit that still goes on. The goal is reached if ``progress`` is 1."""
    worlds, now = known_worlds(games), profile if ongoing is None else _if_it_ended_now(profile, ongoing)
    parts = [_part(requirement, now, worlds) for requirement in goal.requirements]
    share = math.fsum(share for share, _ in parts) / len(parts)
    detail = "; ".join(detail for _, detail in parts)
    return GoalProgress(goal.id, progress=math.floor(share * 1000) / 1000, detail=detail)


def _if_it_ended_now(profile: Profile, visit: Ongoing) -> Profile:
    """The profile with what the visit that is still going on would add to it."""
    totals = profile.worlds.get(visit.world, values.WorldTotals())
    added = replace(
        totals,
        steps=totals.steps + visit.steps,
        visits=totals.visits + visit.visits,
        deeds=Counter(totals.deeds) + Counter(visit.deeds),
    )
    names = (*visit.achievements, *achieved(visit.deeds))
    return replace(
        profile,
        worlds={**profile.worlds, visit.world: added},
        achievements=[*profile.achievements, *(values.Achievement(f"{visit.world}:{name}", name) for name in names)],
        skills={domain: min(1.0, profile.skill(domain) + visit.gains.get(domain, 0.0)) for domain in DOMAINS},
    )


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
    """The requirements of a goal that are not reached yet."""
    worlds = known_worlds(games)
    return [
        Need(one, _measure(one, profile, worlds).amounts)
        for one in goal.requirements
        if _part(one, profile, worlds)[0] < 1
    ]


def known_worlds(games: Sequence[GameInfo]) -> list[str]:
    """The kinds of game that agents can travel to and that teach something."""
    return list(dict.fromkeys(game.kind for game in games if game.transit_compatible and game.skill_domains))


def _rewarded(profile: Profile, goal: MetaGoal, games: Sequence[GameInfo], ongoing: Ongoing | None, at: int) -> Profile:
    result = replace(evaluate(goal, profile, games, ongoing), completed_at=at)
    goals = [result if one.goal == goal.id else one for one in profile.goals]
    titles = list(dict.fromkeys([*profile.titles, *filter(None, [goal.reward.title])]))
    gains = {domain: round((1 - profile.skill(domain)) * part, 9) for domain, part in goal.reward.skills.items()}
    proof = [values.Evidence(NEXUS, domain, goal.id, 1, gain, at) for domain, gain in gains.items()]
    return learn(replace(profile, goals=goals, titles=titles), gains, proof)


def _part(requirement: Requirement, profile: Profile, worlds: Sequence[str]) -> tuple[float, str]:
    """The share of a requirement that is reached, from 0 to 1, and in words."""
    amounts, needed, unit = _measure(requirement, profile, worlds)
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


def _measure(requirement: Requirement, profile: Profile, worlds: Sequence[str]) -> _Measure:
    if requirement.type == "reach_skill_level":
        levels: dict[str, float] = {domain: profile.skill(domain) for domain in DOMAINS}
        chosen = {requirement.what: levels[requirement.what]} if requirement.what in levels else levels
        return _Measure(chosen, len(chosen) if requirement.count is None else requirement.count, requirement.what)
    amounts, unit = _AMOUNTS[requirement.type](requirement, profile)
    wanted = requirement.games or (worlds if requirement.count is None else ())
    if wanted or requirement.count is None:
        amounts = {world: amounts.get(world, 0.0) for world in wanted}
    return _Measure(amounts, len(wanted) if requirement.count is None else requirement.count, unit)


Amounts = tuple[Mapping[str, float], str]


def _steps(requirement: Requirement, profile: Profile) -> Amounts:
    return {world: totals.steps for world, totals in profile.worlds.items()}, "steps"


def _visits(requirement: Requirement, profile: Profile) -> Amounts:
    return {world: totals.visits for world, totals in profile.worlds.items()}, "visits"


def _achievements(requirement: Requirement, profile: Profile) -> Amounts:
    ids = {achievement.id.partition(":") for achievement in profile.achievements}
    wanted = [world for world, _, name in ids if requirement.what in ("", name, f"{world}:{name}")]
    return Counter(wanted), "achievements"


def _actions(requirement: Requirement, profile: Profile) -> Amounts:
    what, worlds = requirement.what, profile.worlds.items()
    counts = {world: totals.deeds.get(what, 0) if what else sum(totals.deeds.values()) for world, totals in worlds}
    return counts, what or "deeds"


def _items(requirement: Requirement, profile: Profile) -> Amounts:
    """Of worlds in which the agent has done something: an item that only passed through a game was not got there."""
    amounts: Counter[str] = Counter()
    for item in profile.carried:
        world = item.origin.partition(":")[0]
        if requirement.what in ("", item.category) and profile.worlds.get(world, values.WorldTotals()).visits:
            amounts[world] += item.count
    return amounts, f"{requirement.what} items".strip()


_AMOUNTS: Mapping[str, Callable[[Requirement, Profile], Amounts]] = {
    "survive_steps": _steps,
    "visit_game": _visits,
    "earn_achievement": _achievements,
    "complete_action": _actions,
    "collect_items": _items,
}


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
