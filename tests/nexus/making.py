"""Worlds, agents and games for the tests of the Nexus."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from cohabit.model.travel import DOMAINS, BonusRule, EntryPackage, ExitPackage, ItemCategory, Lesson, Portable, Travel
from cohabit.nexus.values import GameInfo, Profile, Session
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER

CATEGORIES = get_args(ItemCategory)
NAMES = st.sampled_from("abcdef")
COUNTS = st.dictionaries(NAMES, st.integers(0, 3000), max_size=6)
LESSONS = st.builds(Lesson, st.sampled_from(DOMAINS), st.floats(0.001, 1))
TABLES = st.builds(
    lambda lessons, items: Travel(lessons=lessons, items=items),
    st.dictionaries(NAMES, LESSONS, max_size=6),
    st.dictionaries(NAMES, st.builds(Portable, st.sampled_from(CATEGORIES[:3]), st.integers(1, 4)), max_size=6),
)
LEVELS = st.dictionaries(st.sampled_from(DOMAINS), st.floats(0, 1).map(lambda level: round(level, 9)))

PLANETS = Travel(
    genre=("exploration", "sandbox"),
    lessons={"discover": Lesson("exploration", 0.05), "achievement:first_night": Lesson("survival", 0.05)},
    items={"copper_sword": Portable("weapon", 2), "iron_bar": Portable("material", 3), "dirt": Portable("material", 1)},
    bonuses=(
        BonusRule("scanner_range", "exploration", base=1, factor=5, whole=True),
        BonusRule("weapon_tier", "combat", base=1, factor=2, whole=True),
        BonusRule("price_modifier", "social", base=1, factor=-0.2),
    ),
    common_bonuses=("health",),
)
TRAVELS = {"crafter": CRAFTER, "planets": PLANETS}
CAMP = GameInfo("camp", "The camp", "A wild land.", world="crafter", skill_domains=CRAFTER.domains, max_agents=64)
ORBIT = GameInfo(
    "orbit", "Orbit", "Planets to dig in.", world="planets", skill_domains=PLANETS.domains, active_agents=2
)
GAMES = (CAMP, ORBIT)


def agent(**known: object) -> Profile:
    return Profile("ada-1", "Ada", **known)  # type: ignore[arg-type]


def inside(profile: Profile, game: GameInfo = CAMP, ticket: str = "t1") -> Profile:
    """The same agent in a game, without any items."""
    from cohabit.nexus.packages import began

    package = EntryPackage(ticket, profile.agent_id, profile.name)
    return began(profile, package, Session(ticket, game.id, game.kind, 1000))


def visit(game: GameInfo = CAMP, ticket: str = "t1", **happened: object) -> ExitPackage:
    return ExitPackage(ticket, "ada-1", game.id, game.kind, 2000, **happened)  # type: ignore[arg-type]
