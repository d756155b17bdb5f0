"""The texts of the Nexus about games and goals, for models. Programs read the values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from cohabit.model.observation import one_line
from cohabit.model.travel import BonusRule, Lesson, Portable, Travel
from cohabit.nexus.goals import GOALS, evaluate
from cohabit.nexus.text import bonuses_text, game_lines, goal_of
from cohabit.nexus.values import GameInfo, MetaGoal, Profile, Reward

NOBODY = Profile("", "")
ACHIEVEMENT = "achievement:"
T = TypeVar("T")


def games_text(games: Sequence[GameInfo], travels: Mapping[str, Travel], profile: Profile | None) -> str:
    lines = [line for game in games for line in game_lines(game, profile or NOBODY, travels.get(game.kind))]
    return "\n".join([*lines, "`game_details` says more of one."] if lines else ["There are no games."])


def details_text(game: GameInfo, travel: Travel, rules: str, profile: Profile | None, *, whole: bool) -> str:
    """``whole``: with all its rules, of which else only the first paragraph is told."""
    first, _, more = rules.partition("\n\n")
    hint = "The rest of the rules: `game_details` with rules true, or `rules` there." if more and not whole else ""
    facts = [", ".join(map(_words, game.genre)), "one difficulty" if not travel.difficulty else ""]
    return "\n".join(
        filter(
            None,
            [
                *game_lines(game, profile or NOBODY, travel),
                "; ".join(filter(None, facts)),
                rules if whole else one_line(first),
                hint,
                *_section("What you learn there, in points of a skill:", _by(travel.lessons, _learned)),
                *_section("Items that can leave it, with their tiers:", _by(travel.items, _carried)),
                *_section("What skills give you there:", map(_bonus, travel.bonuses)),
            ],
        )
    )


def goals_text(games: Sequence[GameInfo], profile: Profile | None) -> str:
    """The meta-goals with their rewards, and how far an agent is."""
    pursued = {} if profile is None else {one.goal: one for one in profile.goals}
    lines = [_goal(goal, pursued.keys(), games, profile) for goal in GOALS.values()]
    own = [goal_of(one) for name, one in pursued.items() if name not in GOALS]
    return "\n".join(["* you pursue it", *lines, *(f"* {one.description} ({one.progress})" for one in own)])


def _goal(goal: MetaGoal, pursued: Iterable[str], games: Sequence[GameInfo], profile: Profile | None) -> str:
    sign, asked = "*" if goal.id in pursued else "-", goal.description.rstrip(".")
    line = f"{sign} {goal.id}: {asked}. Gives {_reward(goal.reward)}"
    if profile is None:
        return line
    done = evaluate(goal, profile, games)
    return f"{line}. {int(done.progress * 100)} %" + (f", {done.detail}" if done.detail else "")


def _reward(reward: Reward) -> str:
    skills = [f"{_words(domain)} +{part:g}" for domain, part in reward.skills.items()]
    title = [f"the title {reward.title}"] if reward.title else []
    return ", ".join([*title, *filter(None, [bonuses_text(reward.bonuses)]), *skills]) or "nothing"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = [f"- {line}" for line in lines]
    return [title, *found] if found else []


def _by(table: Mapping[str, T], told: Callable[[str, T], tuple[str, str]]) -> list[str]:
    """A line for each group."""
    groups: dict[str, list[str]] = {}
    for name, one in table.items():
        group, words = told(name, one)
        groups.setdefault(group, []).append(words)
    return [f"{_words(group)}: {', '.join(words)}" for group, words in groups.items()]


def _learned(name: str, lesson: Lesson) -> tuple[str, str]:
    return lesson.domain, f"{name.removeprefix(ACHIEVEMENT)} {lesson.points:g}"


def _carried(name: str, item: Portable) -> tuple[str, str]:
    return item.category, f"{name} {item.tier}"


def _bonus(rule: BonusRule) -> str:
    said = f": {rule.description}" if rule.description else ""
    return f"{rule.name}, with {_words(rule.domain)} above {rule.threshold:g}{said}"


def _words(name: str) -> str:
    return name.replace("_", " ")
