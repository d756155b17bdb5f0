"""The layers of the front end of the Nexus: the games with their agents, and to an agent its own profile."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from cohabit.model.travel import DOMAINS
from cohabit.nexus import goals
from cohabit.nexus.text import goal_of, plain_name
from cohabit.nexus.values import GameInfo, NexusView, Profile

VISITS_SHOWN = 5


def public_scene(games: Sequence[GameInfo], profiles: Iterable[Profile | None]) -> dict[str, Any]:
    """The games and the agents of the Nexus, as everybody may see them. ``profiles``: of those who have a seat."""
    known = [profile for profile in profiles if profile is not None]
    return {
        "games": [msgspec.to_builtins(game) for game in games],
        "agents": [
            {
                "name": plain_name(profile.name),
                "game": profile.session.game if profile.session is not None else None,
                "titles": list(profile.titles),
            }
            for profile in known
        ],
    }


def own_scene(view: NexusView) -> dict[str, Any]:
    """The agent's own profile. The goals of the house are a layer of their own, since they never change."""
    me = view.agent
    shown = {
        "name": plain_name(me.name),
        "game": me.session.game if me.session is not None else None,
        "onward": msgspec.to_builtins(me.onward),
        "skills": {domain: round(me.skill(domain), 3) for domain in DOMAINS},
        "items": msgspec.to_builtins(me.carried),
        "bodies": msgspec.to_builtins(me.bodies),
        "goals": [
            {**msgspec.to_builtins(goal_of(one)), "share": one.progress, "own": one.goal not in goals.GOALS}
            for one in me.goals
        ],
        "titles": list(me.titles),
        "achievements": [one.name for one in me.achievements],
        "visits": [msgspec.to_builtins(visit) for visit in reversed(me.visits[-VISITS_SHOWN:])],
        "memories": list(me.core_memories),
        "strategies": list(me.strategies),
        "suggested": {one.game_id: list(one.reasons) for one in view.suggested_games},
    }
    return {
        "me": shown,
        "goals": [{"id": goal.id, "name": goal.name, "about": goal.description} for goal in goals.GOALS.values()],
    }
