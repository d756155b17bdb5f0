"""Suggests games that an agent could visit next, with reasons."""

from collections.abc import Sequence
from typing import NamedTuple

from cohabit.model.travel import Domain
from cohabit.nexus.goals import GOALS, Need, active, still_needed
from cohabit.nexus.values import GameInfo, Profile, Suggestion

MAX_SUGGESTIONS = 3
STRONG, WEAK = 0.3, 0.1  # a skill above the first is a strength, one at most as high as the second is a gap
RECENT = 3  # the last visits, within which a game counts as recent
WEIGHTS = {"strength": 0.25, "gap": 0.2, "novelty": 0.25, "goals": 0.2, "recency": 0.1}
"""The most that each term adds. A score is from 0 to 1."""


class Term(NamedTuple):
    share: float  # 0 to 1
    reason: str = ""


class _Agent(NamedTuple):
    """The data that are the same for every game."""

    profile: Profile
    visited: frozenset[str]
    recent: list[str]  # the newest first
    needs: dict[str, list[Need]]  # of the goals that it pursues
    of_kind: dict[tuple[str, tuple[Domain, ...]], dict[str, Term]]  # the terms that games of one kind share


def suggestions(profile: Profile, games: Sequence[GameInfo]) -> tuple[Suggestion, ...]:
    """The best games that can be entered now, best first. An agent in a game could go on to another one."""
    agent = _agent(profile, games)
    here = profile.session.game if profile.session is not None else None
    found = [
        _suggestion(agent, game)
        for game in games
        if game.status == "available" and game.transit_compatible and game.has_room and game.id != here
    ]
    return tuple(sorted(found, key=lambda one: (-one.score, one.game_id))[:MAX_SUGGESTIONS])


def terms(profile: Profile, games: Sequence[GameInfo], game: GameInfo) -> dict[str, Term]:
    """The terms of the score of a game."""
    return _terms(_agent(profile, games), game)


def _agent(profile: Profile, games: Sequence[GameInfo]) -> _Agent:
    goals = [GOALS[one.goal] for one in active(profile) if one.goal in GOALS]
    return _Agent(
        profile,
        frozenset(profile.games_visited),
        [visit.game for visit in reversed(profile.visits)][:RECENT],
        {goal.id: still_needed(goal, profile, games) for goal in goals},
        {},
    )


def _terms(agent: _Agent, game: GameInfo) -> dict[str, Term]:
    key = game.kind, game.skill_domains
    if key not in agent.of_kind:
        agent.of_kind[key] = {
            "strength": _strength(agent.profile, game),
            "gap": _gap(agent.profile, game),
            "goals": _goals(agent, game),
        }
    return agent.of_kind[key] | {"novelty": _novelty(agent, game), "recency": _recency(agent, game)}


def _suggestion(agent: _Agent, game: GameInfo) -> Suggestion:
    found = _terms(agent, game)
    score = sum(WEIGHTS[name] * term.share for name, term in found.items())
    ranked = sorted(found.items(), key=lambda item: -WEIGHTS[item[0]] * item[1].share)
    reasons = tuple(term.reason for _, term in ranked if term.reason)
    return Suggestion(game.id, game.name, round(score, 3), reasons)


def _strength(profile: Profile, game: GameInfo) -> Term:
    """The best skill of the agent that counts there."""
    strong = {domain: profile.skill(domain) for domain in game.skill_domains if profile.skill(domain) > STRONG}
    if not strong:
        return Term(0.0)
    named = ", ".join(f"{domain.replace('_', ' ')} ({level:.2f})" for domain, level in strong.items())
    return Term(max(strong.values()), f"it uses what you are good at: {named}")


def _gap(profile: Profile, game: GameInfo) -> Term:
    """The part of what it teaches that the agent hardly knows."""
    weak = [domain for domain in game.skill_domains if profile.skill(domain) <= WEAK]
    if not weak:
        return Term(0.0)
    skills = f"{len(weak)} skill" + ("" if len(weak) == 1 else "s")
    return Term(len(weak) / len(game.skill_domains), f"it teaches {skills} that you lack")


def _novelty(agent: _Agent, game: GameInfo) -> Term:
    if game.id in agent.visited:
        return Term(0.0)
    if game.kind in agent.profile.worlds:
        return Term(0.5, "you know games of this kind, but not this one")
    return Term(1.0, "you have not played this kind of game")


def _goals(agent: _Agent, game: GameInfo) -> Term:
    helped = [goal for goal, needs in agent.needs.items() if any(need.helped_by(game) for need in needs)]
    if not helped:
        return Term(0.0)
    return Term(len(helped) / len(agent.needs), f"it helps with your goals: {', '.join(helped)}")


def _recency(agent: _Agent, game: GameInfo) -> Term:
    """1 for a game that the agent has not just been in."""
    if game.id in agent.recent:
        return Term(agent.recent.index(game.id) / RECENT)
    return Term(1.0, "you have not been there for a while" if game.id in agent.visited else "")
