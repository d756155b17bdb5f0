"""The packages that an agent takes into a game and brings back, and the changes of its profile by them.

Each function returns a changed copy of the profile. The ticket of a transit decides whether a package still applies, so
that a package that arrives twice, or after the session has ended otherwise, changes nothing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.model.observation import one_line
from cohabit.model.travel import BonusRule, Difficulty, EntryPackage, ExitPackage, LeftBody, Travel
from cohabit.nexus.goals import GOALS, progressed
from cohabit.nexus.items import equivalents, local_name, pack, settle, taken_of, to_portable
from cohabit.nexus.skills import VISITS_KEPT, earned, evidence, gains, learn, lifetime, with_visit
from cohabit.nexus.values import GameInfo, Ongoing, Onward, Profile, Session, Visit, Wishes, WorldTotals

GAMES_WITH_BODIES = 50
"""Of how many games a profile knows the bodies that wait there."""
REFUSALS = {"busy": "is busy", "offline": "is offline", "maintenance": "is closed for maintenance"}


def entry(profile: Profile, travel: Travel, ticket: str, wishes: Wishes, game: GameInfo) -> EntryPackage:
    """The package of this agent for a game. ``GameRejected`` if it cannot enter, or cannot take what it wishes."""
    _check_entry(profile, game)
    _check_items(profile, travel, wishes, game)
    return EntryPackage(
        ticket=ticket,
        identity=profile.agent_id,
        name=profile.name,
        bonuses=bonuses(travel, profile),
        entering=equivalents(game.kind, travel, profile.carried, wanted=wishes.items),
        avatar=wishes.avatar,
        spawn=wishes.spawn,
        goals=wishes.goals,
        memories=(*profile.core_memories, *profile.strategies),
        difficulty=wishes.difficulty if travel.difficulty else "normal",
        damage=damage_for(wishes.difficulty, profile) if travel.difficulty else 1.0,
        max_steps=wishes.max_steps,
        exit_conditions=wishes.exit_conditions,
        new_avatar=wishes.new_avatar,
    )


def began(profile: Profile, package: EntryPackage, session: Session, taken: Mapping[str, int] | None = None) -> Profile:
    """The profile after a game has accepted the agent. What entered is not carried any more.

    Unchanged if the agent is in a game, or has returned from this transit already.
    ``taken`` is how many of each of its items the world could really give to the body; None: all of them.
    """
    if session.ticket != package.ticket or profile.agent_id != package.identity:
        raise ValueError("the session, the package and the profile are not of one transit")
    if profile.session is not None or package.ticket in (*profile.closed, *(visit.ticket for visit in profile.visits)):
        return profile
    entered = package.entering if taken is None else taken_of(package.entering, taken)
    bodies = {game: left for game, left in profile.bodies.items() if game != session.game}
    return replace(profile, session=session, carried=settle(profile.carried, entered), bodies=bodies, onward=None)


def leave(profile: Profile, travel: Travel, package: ExitPackage, games: Sequence[GameInfo]) -> Profile:
    """The profile after a visit. Unchanged if the package is not of the session that the agent is in."""
    session = profile.session
    if session is None or session.ticket != package.ticket or profile.agent_id != package.identity:
        return profile
    before = profile.worlds.get(package.world, WorldTotals())
    totals = replace(
        with_visit(before, travel, package.steps, package.deeds),
        playtime_ms=before.playtime_ms + package.playtime_ms,
        deaths=before.deaths + package.deaths,
    )
    known, now = lifetime(before, travel), lifetime(totals, travel)
    taught = gains(travel, known, now, profile)
    proof = evidence(package.game, travel, known, now, profile, package.at)
    achievements = earned(profile, travel, package, now)
    visit = Visit(
        package.game, package.world, package.at, package.playtime_ms, package.steps, package.reason,
        tuple(one.id for one in achievements), taught, package.ticket, package.deaths,
    )  # fmt: skip
    after = learn(profile, taught, proof)
    after = replace(
        after,
        worlds={**profile.worlds, package.world: totals},
        achievements=[*profile.achievements, *achievements],
        carried=pack(profile.carried, to_portable(package.world, travel, package.items)),
        games_visited=list(dict.fromkeys([*profile.games_visited, package.game])),
        visits=[*profile.visits, visit][-VISITS_KEPT:],
        session=None,
        bodies=_with_bodies(profile, package),
        closed={**profile.closed, package.ticket: package.game},
        onward=Onward(package.destination, onward_ticket(package.ticket)) if package.destination else None,
    )
    for memory in package.memories:
        if words := one_line(memory).strip()[:MAX_MEMORY]:
            after = remember(after, words)
    return progressed(after, games, package.at)


def leave_late(profile: Profile, travel: Travel, package: ExitPackage, games: Sequence[GameInfo]) -> Profile:
    """The profile after a package has come of a visit that the agent had given up. Where it is now does not change."""
    session = profile.given_up.get(package.ticket)
    if session is None:
        return profile
    after = leave(replace(profile, session=session), travel, package, games)
    rest = {ticket: given for ticket, given in profile.given_up.items() if ticket != package.ticket}
    bodies = profile.bodies if profile.session is not None and profile.session.game == package.game else after.bodies
    return replace(after, session=profile.session, given_up=rest, bodies=bodies, onward=profile.onward)


def _with_bodies(profile: Profile, package: ExitPackage) -> dict[str, tuple[LeftBody, ...]]:
    """The bodies that wait for an agent after a visit: of the games that it left last."""
    others = {game: left for game, left in profile.bodies.items() if game != package.game}
    known = {**others, package.game: package.bodies} if package.bodies else others
    return dict(list(known.items())[-GAMES_WITH_BODIES:])


def onward_ticket(ticket: str) -> str:
    """The ticket of the transit that follows a visit directly: "nexus:5", "nexus:5.1", "nexus:5.2"."""
    base, colon, number = ticket.rpartition(":")
    first, _, hops = number.partition(".")
    return f"{base}{colon}{first}.{int(hops or 0) + 1}"


def so_far(profile: Profile, travel: Travel, world: str, steps: int, deeds: Mapping[str, int]) -> Ongoing:
    """The deeds of an agent in a visit that is still going on, and the skills that it has gained by them."""
    before = profile.worlds.get(world, WorldTotals())
    now = with_visit(before, travel, steps, deeds)
    counted = lifetime(now, travel)
    taught = gains(travel, lifetime(before, travel), counted, profile)
    done = {deed: count for deed, count in deeds.items() if counted[deed]}
    return Ongoing(world, now.steps - before.steps, done, gains=taught, visits=now.visits - before.visits)


def _check_entry(profile: Profile, game: GameInfo) -> None:
    if profile.session is not None:
        raise GameRejected(f"you are in the game {profile.session.game}; leave it first with `exit_game` there")
    if not game.transit_compatible:
        raise GameRejected(f"agents cannot travel to {game.id}; list_games shows where they can")
    if game.status != "available":
        raise GameRejected(f"the game {game.id} {REFUSALS[game.status]} now; choose another one, or wait_for_game")
    if not game.has_room:
        raise GameRejected(
            f"the game {game.id} has {game.max_agents} agents and is full; choose another one, or wait_for_game"
        )


def _check_items(profile: Profile, travel: Travel, wishes: Wishes, game: GameInfo) -> None:
    for origin, count in (wishes.items or {}).items():
        held = [item for item in profile.carried if item.origin == origin]
        named = dict.fromkeys(item.origin for item in profile.carried if item.origin.endswith(f":{origin}"))
        if count and named and not held:
            raise GameRejected(f"name {origin} by its origin: {' or '.join(named)}")
        if count < 0 or count > sum(item.count for item in held):
            raise GameRejected(
                f"you carry {sum(item.count for item in held)} of {origin}, not {count}; see review_self"
            )
        if count and not any(local_name(game.kind, travel, item) for item in held):
            raise GameRejected(f"the game {game.id} has nothing like {origin}; enter without it, it stays with you")


# -- difficulty ---------------------------------------------------------------------------------
DAMAGE: Mapping[Difficulty, float] = {"easy": 0.5, "normal": 1.0, "hard": 1.5}


def damage_for(difficulty: Difficulty, profile: Profile) -> float:
    """The factor of a difficulty. ``adaptive`` goes from that of easy to that of hard, with the agent's skills in
    combat and survival."""
    if difficulty in DAMAGE:
        return DAMAGE[difficulty]
    level = (profile.skill("combat") + profile.skill("survival")) / 2
    return round(DAMAGE["easy"] + (DAMAGE["hard"] - DAMAGE["easy"]) * level, 2)


# -- bonuses ------------------------------------------------------------------------------------
def bonuses(travel: Travel, profile: Profile) -> dict[str, float]:
    """The bonuses of this agent: by the rules of the world, and by the meta-goals that it has completed.

    A world gets only the bonuses that it has declared.
    """
    found = {
        rule.name: _by_rule(rule, profile) for rule in travel.bonuses if profile.skill(rule.domain) > rule.threshold
    }
    flags = {rule.name for rule in travel.bonuses if rule.is_flag}
    declared = {rule.name for rule in travel.bonuses} | set(travel.common_bonuses)
    for name, amount in rewards(profile).items():
        if name in declared:
            found[name] = 1.0 if name in flags else found.get(name, 0.0) + amount
    return found


def rewards(profile: Profile) -> dict[str, float]:
    """The bonuses of this agent's completed meta-goals, in the worlds that have such a bonus."""
    found: dict[str, float] = {}
    for progress in profile.goals:
        if progress.completed_at is not None and progress.goal in GOALS:
            for name, amount in GOALS[progress.goal].reward.bonuses.items():
                found[name] = found.get(name, 0.0) + amount
    return found


def _by_rule(rule: BonusRule, profile: Profile) -> float:
    amount = rule.factor * profile.skill(rule.domain)
    return rule.base + (float(math.floor(amount)) if rule.whole else amount)


# -- memories -----------------------------------------------------------------------------------
MEMORIES_KEPT = 20  # of each kind
MAX_MEMORY = 300  # characters
MemoryKind = Literal["memory", "strategy"]


def remember(profile: Profile, text: str, kind: MemoryKind = "memory") -> Profile:
    """The profile with one more memory. The oldest is forgotten if there are too many."""
    words = one_line(text).strip()
    if not words:
        raise GameRejected("there is nothing to remember; say it in a sentence")
    if len(words) > MAX_MEMORY:
        raise GameRejected(f"a memory has at most {MAX_MEMORY} characters, not {len(words)}; shorten it")
    return _with_memories(
        profile, kind, [*(one for one in _memories(profile, kind) if one != words), words][-MEMORIES_KEPT:]
    )


def forget(profile: Profile, text: str, kind: MemoryKind = "memory") -> Profile:
    """The profile without a memory."""
    words = one_line(text).strip()
    if words not in _memories(profile, kind):
        raise GameRejected("you have no such memory; give its exact text")
    return _with_memories(profile, kind, [one for one in _memories(profile, kind) if one != words])


def _memories(profile: Profile, kind: MemoryKind) -> list[str]:
    return profile.core_memories if kind == "memory" else profile.strategies


def _with_memories(profile: Profile, kind: MemoryKind, kept: list[str]) -> Profile:
    return replace(profile, core_memories=kept) if kind == "memory" else replace(profile, strategies=kept)
