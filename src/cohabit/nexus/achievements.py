"""Achievements: the deeds whose names say so."""

from collections.abc import Mapping

from cohabit.model.travel import Travel
from cohabit.nexus.values import Achievement, ExitPackage, Profile

PREFIX = "achievement:"
RECENT = 10


def achieved(deeds: Mapping[str, int]) -> list[str]:
    """The names of the achievements among some deeds."""
    return sorted(name.removeprefix(PREFIX) for name, count in deeds.items() if count > 0 and name.startswith(PREFIX))


def title_of(name: str) -> str:
    """A name in words: "collect_diamond" is "Collect diamond"."""
    return name.replace("_", " ").capitalize()


def earned(profile: Profile, travel: Travel, package: ExitPackage) -> list[Achievement]:
    """What an agent achieved in a visit for the first time in that world."""
    known = {achievement.id for achievement in profile.achievements}
    return [
        Achievement(
            f"{package.world}:{name}",
            title_of(name),
            game_origin=package.game,
            timestamp=package.at,
            rarity=travel.rarities.get(name, "common"),
        )
        for name in achieved(package.deeds)
        if f"{package.world}:{name}" not in known
    ]


def matching(profile: Profile, wanted: str) -> list[Achievement]:
    """The achievements of a game, of a rarity, or the newest ones; all of them if nothing is asked for."""
    if wanted == "recent":
        return sorted(profile.achievements, key=lambda one: -one.timestamp)[:RECENT]
    return [
        one
        for one in profile.achievements
        if not wanted or wanted in (one.rarity, one.game_origin, one.id.partition(":")[0])
    ]
