"""The values of the Nexus as JSON, in the three forms in which the Nexus was described.

* A: the multi-game protocol (WSAP-MG). Snake case; a package has what a visit brought.
* B: the specification of the Nexus in TypeScript. Camel case; a package has what a visit brought.
* C: the reference server. Snake case, fewer fields; a package has what the agent has now.

Packages have both what the agent has now and what the visit brought, in every form. Times are text in ISO 8601, and
durations are seconds.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec.structs import asdict

from cohabit.model.travel import DOMAINS, ExitPackage, Travel
from cohabit.nexus import values
from cohabit.nexus.goals import GOALS, active
from cohabit.nexus.items import local_name
from cohabit.nexus.skills import ACHIEVEMENT, VISITS_KEPT

Dialect = Literal["A", "B", "C"]
Json = dict[str, Any]
Travels = Mapping[str, Travel]  # what the worlds declare, by their names
GAME_FIELDS_C = (
    "id", "name", "description", "status", "genre", "dimensions", "skill_domains", "active_agents", "bridge_url",
)  # fmt: skip
AGENT_FIELDS_C = ("agent_id", "name", "total_steps", "games_visited", "skills", "achievements", "meta_goals")


def together(one: Any, other: Any) -> Any:
    """An answer for a client that may expect either form: a request without a body does not say which.

    It has the fields of both. Where both have a field with different values, the first counts.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        same = {name: together(value, other[name]) if name in other else value for name, value in one.items()}
        return same | {name: value for name, value in other.items() if name not in one}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [together(*pair) for pair in zip(one, other, strict=True)]
    return one


# -- games ----------------------------------------------------------------------------------------------------
def games_json(games: Sequence[values.GameInfo], dialect: Dialect) -> Json:
    return {"games": [game_json(game, dialect) for game in games]}


def game_json(game: values.GameInfo, dialect: Dialect) -> Json:
    known = asdict(game) | {"genre": list(game.genre), "skill_domains": list(game.skill_domains)}
    if dialect == "C":
        return {name: known[name] for name in GAME_FIELDS_C}
    del known["world"]
    if dialect == "A":
        del known["bridge_url"], known["max_agents"]
    return cased(dialect, known)


# -- agents ---------------------------------------------------------------------------------------------------
def agent_json(profile: values.Profile, dialect: Dialect, travels: Travels) -> Json:
    """The identity of an agent."""
    known: Json = {
        "agent_id": profile.agent_id,
        "name": profile.name,
        "created_at": time_text(profile.created_at),
        "total_steps": profile.total_steps,
        "games_visited": list(profile.games_visited),
        "achievements": [achievement_json(one, dialect) for one in profile.achievements],
        "skills": skills_json(profile),
        **_carried(profile, dialect, travels),
        "core_memories": list(profile.core_memories),
        "strategies": list(profile.strategies),
        "meta_goals": [goal_json(goal, dialect) for goal in active(profile)],
    }
    if dialect == "C":
        return {name: known[name] for name in AGENT_FIELDS_C} | {"meta_goals": _goal_names(profile)}
    if dialect == "A":
        return known
    del known["agent_id"]
    current = profile.session.game if profile.session else None
    more = {"total_playtime": profile.total_playtime_ms // 1000, "current_game_id": current}
    return _camel({"id": profile.agent_id} | known | more)


def skills_json(profile: values.Profile) -> dict[str, float]:
    """All nine skills."""
    return {domain: profile.skill(domain) for domain in DOMAINS}


def progress_json(profile: values.Profile, dialect: Dialect) -> list[Json]:
    """Each skill with its level and its evidence: in words, or in B as values."""
    found = []
    for domain in DOMAINS:
        proof = [one for one in profile.evidence if one.domain == domain]
        lines = [_evidence(one) if dialect == "B" else evidence_text(one) for one in proof]
        named = "domain" if dialect == "B" else "name"
        found.append({named: domain, "level": profile.skill(domain), "evidence": lines})
    return found


def evidence_text(one: values.Evidence) -> str:
    """Why a skill rose, in words."""
    return f"{one.deed.removeprefix(ACHIEVEMENT)} x{one.count} in {one.game}: +{one.delta:.4f}"


def _evidence(one: values.Evidence) -> Json:
    return {"gameId": one.game, "action": one.deed, "timestamp": time_text(one.timestamp), "delta": one.delta}


def achievement_json(one: values.Achievement, dialect: Dialect) -> Json:
    known = asdict(one) | {"description": one.description or one.name, "timestamp": time_text(one.timestamp)}
    return cased(dialect, known)


def item_json(item: values.PortableItem, dialect: Dialect, travels: Travels) -> Json:
    """A carried item, and what it would be in each world. No description has a field for the count."""
    known = asdict(item) | {"properties": {"count": item.count}, "equivalence_hints": _hints(item, travels)}
    del known["count"]
    if dialect != "B":
        return known
    return _camel({"id": item.origin} | known | {"origin_game": item.origin.partition(":")[0]})


def goal_json(goal: values.GoalProgress, dialect: Dialect) -> Json:
    """A meta-goal with its progress, as a number and in words."""
    known = GOALS.get(goal.goal)
    return cased(
        dialect,
        {
            "id": goal.goal,
            "description": known.description if known else goal.description,
            "type": known.type if known else "achievement",
            "requirements": [_requirement(one) for one in known.requirements] if known else [],
            "progress": {"share": goal.progress, "detail": goal.detail},
            "rewards": _rewards(known.reward) if known else [],
            "completed": goal.completed_at is not None,
        },
    )


# -- the Nexus ------------------------------------------------------------------------------------------------
def nexus_json(view: values.NexusView, dialect: Dialect, travels: Travels) -> Json:
    """The view of an agent in the Nexus."""
    me = view.agent
    known: Json = {
        "agent": agent_json(me, dialect, travels),
        "available_games": [game_json(game, dialect) for game in view.available_games],
        "suggested_games": [
            cased(dialect, asdict(one) | {"reasons": list(one.reasons)}) for one in view.suggested_games
        ],
    }
    if me.onward is not None and me.onward.refused:
        known["onward"] = onward_json(me.onward, "", dialect)
    if dialect == "C":
        return known | {"meta_goals": _goal_names(me)}
    names = {game.id: game.name for game in view.available_games}
    recent = [_visit(visit, names, dialect) for visit in reversed(me.visits[-VISITS_KEPT:])]
    known["active_meta_goals"] = [goal_json(goal, dialect) for goal in active(me)]
    known["recent_games" if dialect == "A" else "recent_sessions"] = recent
    offline = {game.id for game in view.available_games if game.status == "offline"}
    known["avatars"] = [  # the bodies that wait, as they were when the agent left
        cased(dialect, {"game_id": game, "avatar_id": one.avatar_id, "name": one.name, "state": one.state})
        for game, left in me.bodies.items()
        if game not in offline
        for one in left
    ]
    return cased(dialect, known)


# -- transit --------------------------------------------------------------------------------------------------
def entered_json(
    ticket: str, bridge_url: str | None, bonuses: Json, dialect: Dialect, observation: Json | None = None
) -> Json:
    """The answer to an agent that has entered a game. ``bonuses``: see ``bonuses_json``."""
    known: Json = {"success": True, "session_id": ticket, "bridge_url": bridge_url}
    if dialect == "B":
        return _camel(known | {"bonuses_applied": bonuses})
    return known | {"bonuses": bonuses} | ({"initial_observation": observation} if observation is not None else {})


def bonuses_json(bonuses: Mapping[str, float], travel: Travel) -> Json:
    """Bonuses, where those that say yes or no are true or false, and whole numbers are whole."""
    rules = {rule.name: rule for rule in travel.bonuses}
    found: Json = {}
    for name, amount in bonuses.items():
        rule = rules.get(name)
        if rule is not None and rule.is_flag:
            found[name] = amount > 0
        else:
            found[name] = int(amount) if rule is not None and rule.whole and amount == int(amount) else amount
    return found


def left_json(
    left: tuple[ExitPackage, values.Visit] | None, view: values.NexusView, dialect: Dialect, travels: Travels
) -> Json:
    """The answer to an agent that has left a game: with its package, and the visit that came of it. None: it has given
    up a game, and returned without anything."""
    package = transit_json(*left, view.agent, dialect, travels) if left is not None else None
    seen = nexus_json(view, dialect, travels)
    return cased(dialect, {"success": True, "transit_package": package, "nexus_observation": seen})


def onward_json(onward: values.Onward, bridge_url: str, dialect: Dialect, token: str | None = None) -> Json:
    """The outcome of the wish to go on to another game: its session, or why the agent is in the Nexus instead."""
    if onward.refused:
        return cased(dialect, {"success": False, "game_id": onward.game, "error": onward.refused})
    known: Json = {"success": True, "game_id": onward.game, "session_id": onward.ticket, "bridge_url": bridge_url}
    return cased(dialect, known | ({"token": token} if token is not None else {}))


def transit_json(
    package: ExitPackage, visit: values.Visit, profile: values.Profile, dialect: Dialect, travels: Travels
) -> Json:
    """The current state of an agent, and the results of its visit."""
    new = [one for one in profile.achievements if one.id in visit.achievements]
    known: Json = {
        "agent_id": profile.agent_id,
        "agent_name": profile.name,
        "total_steps": profile.total_steps,
        "games_visited": list(profile.games_visited),
        "skills": skills_json(profile),
        **_carried(profile, dialect, travels),
        "core_memories": list(profile.core_memories),
        "strategies": list(profile.strategies),
        "origin_game": package.game,
        "exit_reason": package.reason,
        "timestamp": time_text(package.at),
        "new_memories": list(package.memories),
    }
    if dialect == "B":
        stats = {
            "steps": package.steps,
            "playtime": package.playtime_ms // 1000,
            "total_reward": package.reward,
            "achievement_count": len(new),
        }
        known["session_stats"] = _camel(stats)
        known["skill_gains"] = dict(visit.skill_gains)
        known["new_achievements"] = [achievement_json(one, dialect) for one in new]
        known["achievements"] = [achievement_json(one, dialect) for one in profile.achievements]
        return _camel(known)
    known["skills_gained"] = dict(visit.skill_gains)
    known["stats"] = {"steps": package.steps, "rewards": package.reward, "playtime": package.playtime_ms // 1000}
    known["achievements"] = [one.name for one in (new if dialect == "A" else profile.achievements)]
    known["new_achievements"] = [one.name for one in new]
    return known


def refused_json(message: str) -> Json:
    """The answer to a transit that was refused. It is the same in every form."""
    return {"success": False, "error": message}


# -- cases ----------------------------------------------------------------------------------------------------
def cased(dialect: Dialect, fields: Json) -> Json:
    """The fields with their names in the case of a form."""
    return _camel(fields) if dialect == "B" else fields


# -- parts ----------------------------------------------------------------------------------------------------
def time_text(at: int) -> str:
    """A time in milliseconds as ISO 8601."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")


def _carried(profile: values.Profile, dialect: Dialect, travels: Travels) -> Json:
    money = [item for item in profile.carried if item.category == "currency"]
    return {
        "carried_items": [item_json(item, dialect, travels) for item in profile.carried if item not in money],
        "carried_currency": {item.origin: item.count for item in money},
    }


def _hints(item: values.PortableItem, travels: Travels) -> dict[str, str]:
    found = {world: local_name(world, travel, item) for world, travel in sorted(travels.items())}
    return {world: name for world, name in found.items() if name is not None}


def _requirement(one: values.Requirement) -> Json:
    return asdict(one) | {"games": list(one.games) or ("all" if one.count is None else "any")}


def _rewards(reward: values.Reward) -> list[str]:
    title = [f"Title: {reward.title}"] if reward.title else []
    gets = [f"{name} +{amount:g} where a game has it" for name, amount in reward.bonuses.items()]
    skills = [f"{domain}: {part:.0%} of what you lack" for domain, part in reward.skills.items()]
    return [*title, *gets, *skills]


def _goal_names(profile: values.Profile) -> list[str]:
    return [goal_json(goal, "C")["description"] for goal in active(profile)]


def _visit(visit: values.Visit, names: Mapping[str, str], dialect: Dialect) -> Json:
    return cased(
        dialect,
        {
            "game_id": visit.game,
            "game_name": names.get(visit.game, visit.game),
            "timestamp": time_text(visit.ended_at),
            "duration": visit.playtime_ms // 1000,
            "steps": visit.steps,
            "exit_reason": visit.reason,
            "achievements": list(visit.achievements),
            "skill_gains": dict(visit.skill_gains),
        },
    )


def _camel(fields: Json) -> Json:
    """The names of these fields in camel case. Keys inside their values are data, and stay."""
    return {camel(name): value for name, value in fields.items()}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
