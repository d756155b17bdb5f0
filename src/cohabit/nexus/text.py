"""The Nexus in words: what an agent in it sees, and what others see of an agent."""

import re
from collections.abc import Iterable, Mapping
from typing import get_args

from cohabit.features.visits.transit import Receipt
from cohabit.model.exit_conditions import Kind, exit_condition
from cohabit.model.observation import Goal, one_line
from cohabit.model.travel import DOMAINS, Domain, Travel
from cohabit.nexus.goals import GOALS
from cohabit.nexus.items import local_name
from cohabit.nexus.packages import bonuses
from cohabit.nexus.values import GameInfo, GoalProgress, NexusView, Profile, Suggestion, Visit

TAGS = {"available": "[READY]", "busy": "[BUSY]", "offline": "[OFFLINE]", "maintenance": "[DOWN]"}
VISITS_SHOWN = 5
GAMES_SHOWN = 20
BAR = 10  # characters
MAX_NAME = 40
HEALTH = "health"  # the bonus that is a fraction of the normal health
WAKING = "To wake one, call enter_game with its avatar_id; without one you wake the newest in that game."
_NOT_PLAIN = re.compile(r"[^\w.-]+")


def nexus_text(view: NexusView, travels: Mapping[str, Travel]) -> str:
    """The view of an agent in the Nexus, as text; while it is in a game, only where it is.

    ``travels`` has what the worlds declare, by their names.
    """
    me = view.agent
    if me.session is not None:
        return "\n".join(_self(me))
    sections = [
        ("", _self(me)),
        ("SKILLS", _skills(me)),
        ("CARRIED ITEMS", [f"{i.count} x {i.origin} ({_words(i.category)}, tier {i.tier})" for i in me.carried]),
        ("BODIES THAT WAIT FOR YOU", _bodies(view)),
        ("GAMES", _games(view, travels)),
        ("SUGGESTIONS", [_suggestion(number, one) for number, one in enumerate(view.suggested_games, 1)]),
        ("LAST VISITS", [_visit(visit) for visit in reversed(me.visits[-VISITS_SHOWN:])]),
        ("MEMORIES", [f"- {one_line(memory)}" for memory in me.core_memories]),
        ("STRATEGIES", [f"- {one_line(strategy)}" for strategy in me.strategies]),
    ]
    return "\n\n".join("\n".join([title, *lines] if title else lines) for title, lines in sections if lines)


def plain_name(name: str) -> str:
    """A name as others see it: one that cannot be read as other words of a view."""
    return _NOT_PLAIN.sub("-", name).strip("-")[:MAX_NAME] or "agent"


def profile_text(profile: Profile) -> str:
    """An agent in one line, for others."""
    titles = f", {', '.join(profile.titles)}" if profile.titles else ""
    best = sorted(_known_skills(profile), key=lambda domain: -profile.skill(domain))[:3]
    skills = ", ".join(f"{_words(domain)} {profile.skill(domain):.2f}" for domain in best)
    where = f"in {profile.session.game}" if profile.session else "in the Nexus"
    parts = [f"{plain_name(profile.name)} ({profile.agent_id}){titles}", where, skills or "no skills yet"]
    return "; ".join([*parts, _counted(len(profile.achievements), "achievement")])


def game_lines(game: GameInfo, profile: Profile, travel: Travel | None) -> list[str]:
    """A game: its state, what it teaches, and what this agent would get there."""
    lines = [f"{TAGS[game.status]} {game.id}: {one_line(game.name)}, {_agents(game)}"]
    if game.description:
        said = one_line(game.description).replace('"', "'")
        lines.append(f'  its host says: "{said}"')
    if game.skill_domains:
        lines.append(f"  teaches: {', '.join(map(_words, game.skill_domains))}")
    if travel and (gets := bonuses_text(bonuses(travel, profile))):
        lines.append(f"  you would get: {gets}")
    if travel and (enters := _items_there(game, profile, travel)):
        lines.append(f"  you could take along: {enters}")
    return lines


def bonuses_text(amounts: Mapping[str, float]) -> str:
    return ", ".join(_bonus(name, amount) for name, amount in amounts.items() if amount)


def difficulty_text(receipt: Receipt, wanted: str) -> str:
    """The difficulty that holds in a game, as a sentence after others."""
    if receipt.difficulty != wanted:
        return f" This game has one difficulty for everybody, so {wanted} has no effect."
    if receipt.damage == 1.0:
        return ""
    return f" Difficulty: {wanted} ({receipt.damage:g} times the damage from creatures and hazards)."


def ends_text(receipt: Receipt) -> str:
    """When a visit ends by itself, as sentences after others."""
    ends = [f"after {_counted(receipt.max_steps, 'step')}"] if receipt.max_steps is not None else []
    ends += [f"when `{text}` holds" for text in receipt.enforced]
    text = f" Your visit ends by itself {', or '.join(ends)}." if ends else ""
    of_bodies = [one for one in receipt.notes if exit_condition(one) is not None]
    unknown = [one for one in receipt.notes if one not in of_bodies]
    if of_bodies:
        text += f" This game has no bodies, so these do not end your visit: {_quoted(of_bodies)}."
    if unknown:
        *kinds, last = get_args(Kind)
        known = f"known are {', '.join(kinds)} and {last}"
        text += f" Not evaluated, so these do not end your visit: {_quoted(unknown)}; {known}."
    return text


def go_on_text(game: str, token: str | None) -> str:
    """The way for an agent to play in a game that it is in. ``token``: a new one; None if its own is valid there."""
    if token is not None:
        return f"Connect to the room {game} with the token of this reply (over MCP: /mcp/{game}) and call its commands."
    how = f"pass room={game} with each call, first to `rules`, or connect to /mcp/{game}"
    return f"Call the commands of the room {game} (over MCP: {how})."


def onward_text(profile: Profile) -> str:
    """The place of an agent that has left a game, as sentences after others."""
    onward = profile.onward
    if profile.session is not None:
        return f" You are in {profile.session.game} now; `exit_game` there brings you back."
    if onward is None:
        return " You are in the Nexus."
    if onward.refused:
        return f" You are in the Nexus and not in {one_line(onward.game)}: {one_line(onward.refused)}."
    return f" You are on your way to {one_line(onward.game)}."


def goal_of(progress: GoalProgress) -> Goal:
    """A goal with its progress, and with its id, by which an agent abandons or completes it. An own goal is in the
    agent's words."""
    known = GOALS.get(progress.goal)
    if known is None:
        done = "reached" if progress.completed_at is not None else "your own"
        return Goal(progress.goal, f"{progress.goal}: {progress.description}", progress=done)
    how_far = "completed" if progress.completed_at is not None else f"{int(progress.progress * 100)} %"
    detail = f"{how_far}, {progress.detail}" if progress.detail and progress.completed_at is None else how_far
    return Goal(progress.goal, f"{progress.goal}: {known.description.rstrip('.')}", progress=detail)


def _bodies(view: NexusView) -> list[str]:
    """The bodies that an agent has left, by game. Only the games know their state since then."""
    games = {game.id: game.status for game in view.available_games}
    lines = []
    for game, left in view.agent.bodies.items():
        closed = "; the game is offline" if games.get(game) == "offline" else ""
        closed = closed if game in games else "; the game is not open now"
        lines += [f"{game}: {one_line(one.name)} ({one.avatar_id}), {one.state} when you left{closed}" for one in left]
    return [*lines, WAKING] if lines else []


def _games(view: NexusView, travels: Mapping[str, Travel]) -> list[str]:
    """The games; if there are many, those that are suggested and the first others."""
    games = view.available_games
    if len(games) > GAMES_SHOWN:
        best = {one.game_id for one in view.suggested_games}
        games = tuple(sorted(games, key=lambda game: game.id not in best)[:GAMES_SHOWN])
    lines = [line for game in games for line in game_lines(game, view.agent, travels.get(game.kind))]
    hidden = len(view.available_games) - len(games)
    return [*lines, f"and {hidden:,} more (list_games)"] if hidden else lines


def _self(me: Profile) -> list[str]:
    where = "You are in the Nexus, without a body."
    if me.session is not None:
        back = "`exit_game` there or `leave_game` here brings you back."
        where = (
            f"You are in the game {me.session.game}. Call the commands of that room (`resume_game` says how); {back}"
        )
    elif me.onward is not None:
        where = onward_text(me).strip()
    lines = [f"You are {one_line(me.name)} ({me.agent_id}). {where}"]
    if me.titles:
        lines.append(f"Titles: {', '.join(me.titles)}")
    played = f"{_counted(me.total_steps, 'step')} in {_counted(len(me.games_visited), 'game')}"
    lines.append(f"So far: {played}, {_counted(len(me.achievements), 'achievement')}")
    return lines


def _skills(me: Profile) -> list[str]:
    width = max(map(len, DOMAINS))
    return [f"{_words(domain):{width}} {_bar(me.skill(domain))} {me.skill(domain):.2f}" for domain in _known_skills(me)]


def _known_skills(profile: Profile) -> list[Domain]:
    """The skills whose levels are not 0 when they are rounded for a text."""
    return [domain for domain in DOMAINS if round(profile.skill(domain), 2) > 0]


def _bar(level: float) -> str:
    full = int(level * BAR)
    return f"[{'#' * full}{'.' * (BAR - full)}]"


def _bonus(name: str, amount: float) -> str:
    return f"+{round(amount * 100, 1):g} % health" if name == HEALTH else f"{name} {amount:.3g}"


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(f'"{one}"' for one in texts)


def _agents(game: GameInfo) -> str:
    if game.max_agents is None:
        return _counted(game.active_agents, "agent")
    return f"{game.active_agents} of {_counted(game.max_agents, 'agent')}" + ("" if game.has_room else " (full)")


def _items_there(game: GameInfo, profile: Profile, travel: Travel) -> str:
    found = [(item.origin, local_name(game.kind, travel, item)) for item in profile.carried]
    return ", ".join(f"{origin} as {name}" for origin, name in found if name)


def _suggestion(number: int, one: Suggestion) -> str:
    return f"{number}. {one.game_id} ({one.score:.2f})" + (f": {'; '.join(one.reasons)}" if one.reasons else "")


def _visit(visit: Visit) -> str:
    gains = [f"{_words(domain)} +{gain:.3f}" for domain, gain in visit.skill_gains.items()]
    why = "you left the room, or were removed" if visit.reason == "removed" else one_line(visit.reason)
    died = ["you died" if visit.deaths == 1 else f"you died {visit.deaths} times"] if visit.deaths else []
    parts = [_counted(visit.steps, "step"), *died, f"left: {why}", *gains]
    if visit.achievements:
        parts.append(f"achieved {' '.join(one.partition(':')[2] or one for one in visit.achievements)}")
    return f"- {visit.game}: {', '.join(parts)}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _words(name: str) -> str:
    return name.replace("_", " ")
