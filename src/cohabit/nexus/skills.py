"""The rule by which deeds raise skills.

The first time that an agent does a deed in a world is worth the points of its lesson, and ``n`` times are worth
``log2(1 + n)`` as much, at most ``LESSONS_PER_DEED`` times. Points close a part of the gap to 1: ``p`` points raise a
level ``s`` by ``(1 - s) * (1 - e ** -p)``.

Only the number of deeds over the agent's whole life in that world counts. Therefore it makes no difference in which
order the deeds were done, in how many visits or with how many bodies, and repeating one deed soon teaches nothing.

Time alone teaches nothing. Steps, and deeds that come by waiting (``Travel.passive``), count only as far as the agent
has done something: each different deed of the lessons lets ``STEPS_PER_DEED`` steps count, and one of each passive
deed. A visit counts if anything was done in it that the world teaches.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from cohabit.model.travel import DOMAINS, Domain, ExitPackage, Lesson, Travel
from cohabit.nexus.values import Achievement, Evidence, Profile, WorldTotals

LESSONS_PER_DEED = 3.0  # reached with 7 repetitions
STEPS_PER_DEED = 25
EVIDENCE_KEPT = 50
VISITS_KEPT = 20
STEPS = "steps"  # a deed that the room counts
NEW_WORLD = "new_world"
NEW_WORLD_STEPS = 50
NEW_WORLD_LESSON = Lesson("adaptation", 0.1)
"""For getting through the first ``NEW_WORLD_STEPS`` in any world, once for each world."""
_DIGITS = 9  # levels are rounded, so that they are the same on every machine


def lifetime(totals: WorldTotals, travel: Travel | None = None) -> dict[str, int]:
    """The deeds of an agent in one world that count, with its steps."""
    found = {**totals.deeds, STEPS: totals.steps}
    for deed in travel.passive if travel is not None else ():
        if deed in found:
            found[deed] = min(found[deed], len(active_deeds(travel or Travel(), totals.deeds)))
    return found


def active_deeds(travel: Travel, deeds: Mapping[str, int]) -> list[str]:
    """The different deeds that a world teaches something by, without those that come by waiting."""
    waits = {STEPS, *travel.passive}
    return [deed for deed in travel.lessons if deed not in waits and deeds.get(deed, 0) > 0]


def with_visit(before: WorldTotals, travel: Travel, steps: int, deeds: Mapping[str, int]) -> WorldTotals:
    """The totals after a visit, or so far in it. What has counted keeps counting."""
    done = {name: before.deeds.get(name, 0) + deeds.get(name, 0) for name in sorted({*before.deeds, *deeds})}
    walked = before.steps + before.idle_steps + steps
    counted = max(before.steps, min(walked, STEPS_PER_DEED * len(active_deeds(travel, done))))
    played = bool(active_deeds(travel, deeds))
    return replace(
        before,
        visits=before.visits + played,
        idle_visits=before.idle_visits + (not played),
        steps=counted,
        idle_steps=walked - counted,
        deeds=done,
    )


def worth(count: int) -> float:
    """The worth of a deed that was done this many times, as a multiple of the points of its lesson."""
    return min(math.log2(1 + max(0, count)), LESSONS_PER_DEED)


def evidence(
    game: str, travel: Travel, deeds_before: Mapping[str, int], deeds_now: Mapping[str, int], profile: Profile, at: int
) -> tuple[Evidence, ...]:
    """The skill gained by each deed. Both mappings count the deeds of the agent's whole life in this world."""
    points = _points(travel, deeds_before, deeds_now)
    found = []
    for domain in DOMAINS:
        deeds = {deed: worth for deed, (of, worth) in points.items() if of == domain}
        total = math.fsum(deeds.values())
        gain = (1 - profile.skill(domain)) * -math.expm1(-total)
        for deed, part in sorted(deeds.items()):
            count = 1 if deed == NEW_WORLD else deeds_now[deed] - max(0, deeds_before.get(deed, 0))
            found.append(Evidence(game, domain, deed, count, round(gain * part / total, _DIGITS), at))
    return tuple(found)


def gains(
    travel: Travel, deeds_before: Mapping[str, int], deeds_now: Mapping[str, int], profile: Profile
) -> dict[Domain, float]:
    """The rise of each skill by the deeds between two counts of the agent's whole life in this world."""
    points = _points(travel, deeds_before, deeds_now)
    found: dict[Domain, float] = {}
    for domain in DOMAINS:
        total = math.fsum(worth for of, worth in points.values() if of == domain)
        gain = round((1 - profile.skill(domain)) * -math.expm1(-total), _DIGITS)
        if gain > 0:
            found[domain] = gain
    return found


def learn(profile: Profile, gains: Mapping[Domain, float], evidence: Sequence[Evidence] = ()) -> Profile:
    """The profile with higher skills, and the newest evidence."""
    skills = dict(profile.skills)
    for domain, gain in gains.items():
        skills[domain] = round(min(1.0, skills.get(domain, 0.0) + max(0.0, gain)), _DIGITS)
    return replace(profile, skills=skills, evidence=[*profile.evidence, *evidence][-EVIDENCE_KEPT:])


def _points(travel: Travel, before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, tuple[Domain, float]]:
    """By deed: the skill that it teaches, and its points. Only deeds that taught something."""
    found: dict[str, tuple[Domain, float]] = {}
    for deed, lesson in travel.lessons.items():
        points = lesson.points * (worth(now.get(deed, 0)) - worth(before.get(deed, 0)))
        if points > 0:
            found[deed] = (lesson.domain, points)
    if before.get(STEPS, 0) < NEW_WORLD_STEPS <= now.get(STEPS, 0):
        found[NEW_WORLD] = (NEW_WORLD_LESSON.domain, NEW_WORLD_LESSON.points)
    return found


# -- achievements -------------------------------------------------------------------------------
ACHIEVEMENT = "achievement:"
RECENT_ACHIEVEMENTS = 10


def achieved(deeds: Mapping[str, int]) -> list[str]:
    """The names of the achievements among some deeds."""
    return sorted(
        name.removeprefix(ACHIEVEMENT) for name, count in deeds.items() if count > 0 and name.startswith(ACHIEVEMENT)
    )


def title_of(name: str) -> str:
    """A name in words: "collect_diamond" is "Collect diamond"."""
    return name.replace("_", " ").capitalize()


def earned(profile: Profile, travel: Travel, package: ExitPackage, now: Mapping[str, int]) -> list[Achievement]:
    """The achievements in that world that are new after a visit. ``now``: the deeds of the agent's whole life that
    count."""
    known = {achievement.id for achievement in profile.achievements}
    return [
        Achievement(
            f"{package.world}:{name}",
            title_of(name),
            game_origin=package.game,
            timestamp=package.at,
            rarity=travel.rarities.get(name, "common"),
        )
        for name in achieved(now)
        if f"{package.world}:{name}" not in known
    ]


def matching(profile: Profile, wanted: str) -> list[Achievement]:
    """The achievements of a game, of a rarity, or the newest ones; all of them if nothing is asked for."""
    if wanted == "recent":
        return sorted(profile.achievements, key=lambda one: -one.timestamp)[:RECENT_ACHIEVEMENTS]
    return [
        one
        for one in profile.achievements
        if not wanted or wanted in (one.rarity, one.game_origin, one.id.partition(":")[0])
    ]
