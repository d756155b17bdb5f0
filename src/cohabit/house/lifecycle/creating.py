"""Creating a room from a scenario: its world, its first entry, and the identities and tokens of its members."""

import logging
import re
import secrets
from collections.abc import Collection
from functools import partial
from pathlib import Path

import msgspec

from cohabit.errors import AskerError, BadArgs, Busy, CohabitError, Conflict, GameCrash
from cohabit.feature_registry import load_features
from cohabit.house.access.signing import check_key
from cohabit.house.agents.brains import check_makeable
from cohabit.house.calls.across import is_elsewhere
from cohabit.house.calls.context import Services
from cohabit.house.settings import split_names
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import FOR_A_PERSON, Identities, hashed, make_token, new_identity
from cohabit.house.store.loading import describe_world
from cohabit.house.threads import run_in_thread
from cohabit.model.identity import Credential, Identity
from cohabit.registry import absolute_brain, check_plays, lasting_source, make_world
from cohabit.room.base import WorldInterrupted
from cohabit.room.opening import opening_state
from cohabit.room.record import Snapshot
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario, check_scenario, parse_seed
from cohabit.world import World

log = logging.getLogger("cohabit")
SAFE_SEED_BITS = 64
"""Nobody can try all seeds of this size."""
ROOM_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
TRIES = 8
"""The number of ids to try when another process takes them first."""


class Taken(Conflict):
    """Another process of this house, or another house, has a room of this id."""


async def create_room(
    house: Services, scenario: Scenario, room_id: str | None, seed: int | str | None, owner: Identity | None
) -> tuple[str, dict[str, str]]:
    """Returns the id of the room and a token for each member. The tokens cannot be retrieved later."""
    await _check_brains(check_scenario(scenario), house.settings.agents_dollars or None)
    taken: list[str] = []
    while True:
        name = room_id or _free_id(house, scenario.scenario, taken)
        try:
            return name, await _create(house, scenario, name, seed, owner)
        except Taken:  # by another process, at the same time
            taken.append(name)
            if room_id is not None or len(taken) >= TRIES:
                raise


async def _create(
    house: Services, scenario: Scenario, name: str, seed: int | str | None, owner: Identity | None
) -> dict[str, str]:
    if not ROOM_ID.fullmatch(name):
        raise BadArgs("a room id may contain lower-case letters, digits and hyphens, at most 63 characters")
    if not _is_free(house, name):
        raise Conflict(f"room {name!r} already exists")
    if house.rooms.left <= 0:
        raise Busy(f"room limit reached ({house.settings.rooms_limit}); delete a room or raise rooms_limit")
    _check_tokens(house.identities, scenario)
    for known in scenario.entry.agent_keys if scenario.entry is not None else ():
        check_key(known.key)
    now = house.clock.now()
    with house.rooms.reserve(name):
        people = {a.id: _identity_of(house.identities, a, owner) for a in scenario.agents}
        ids = {agent: identity.id for agent, identity in people.items()}
        if scenario.sleep_seconds is None:
            scenario = msgspec.structs.replace(scenario, sleep_seconds=house.settings.sleep_seconds)
        make = partial(_new_room, scenario, name, seed, now, ids, split_names(house.settings.features))
        try:
            room, snapshot = await run_in_thread(f"room {name}", make, house.rooms.loading_s)
        except GameCrash as crash:
            log.error("room %s could not be created: %s", name, crash.as_text(), exc_info=crash.__cause__)
            raise
        house.rooms.runner_for(room)  # rejects a world whose command names clash with the house's
        bound = [agent for agent in scenario.agents if agent.identity is None]
        tokens = {agent.id: agent.token or make_token() for agent in bound}
        where = None if scenario.house_tokens else name
        links = [a.id for a in bound if owner is not None and a.kind == "human" and room.is_sealed]
        keys = [
            Credential(hashed(tokens[a.id]), ids[a.id], where, FOR_A_PERSON if a.id in links else "", now)
            for a in bound
        ]
        body = (snapshot.seq, snapshot.encode())
        fresh = [people[a.id] for a in bound]
        write = Write(name, room.record.take_pending(), body, identities=fresh, credentials=keys)
        await _store(house, write, scenario)
        room.stored(snapshot)
        if house.rooms.open_elsewhere is None:
            house.rooms.run(room)
    if house.rooms.open_elsewhere is not None:  # this process runs no rooms
        await run_in_thread("the leases", partial(house.rooms.leases.release, [name]))
        await house.rooms.open_elsewhere(name)
    return tokens


def _is_free(house: Services, name: str) -> bool:
    return house.rooms.is_free(name) and not is_elsewhere(house, name)


def _free_id(house: Services, base: str, taken: Collection[str]) -> str:
    """A number that is free after one that is not. With 10,000 rooms of the same name it is not found one by one."""
    stem = re.sub(r"[^a-z0-9]+", "-", base.lower()).strip("-")[:40] or "room"

    def is_free(number: int) -> bool:
        return (name := f"{stem}-{number}") not in taken and _is_free(house, name)

    used, free = 0, 1
    while not is_free(free):
        used, free = free, 2 * free
    while free - used > 1:
        middle = (used + free) // 2
        used, free = (used, middle) if is_free(middle) else (middle, free)
    return f"{stem}-{free}"


async def _check_brains(scenario: Scenario, dollars: float | None) -> None:
    """Refuse a brain that cannot be created, and keep the path of one in a file for restarts."""
    checked: set[str] = set()
    for i, agent in enumerate(scenario.agents):
        agent.brain = absolute_brain(agent.brain, Path())
        agent.stand_in = absolute_brain(agent.stand_in, Path())
        for brain in (agent.brain, agent.stand_in):
            if brain is None or brain in checked:
                continue
            checked.add(brain)
            try:
                check_plays(brain, scenario.world)
                await check_makeable(brain, dollars)
            except AskerError as wrong:
                raise BadArgs(f"agents[{i}]: {wrong.message}", did_you_mean=wrong.did_you_mean) from None


def _check_tokens(identities: Identities, scenario: Scenario) -> None:
    for i, agent in enumerate(scenario.agents):
        if agent.token is not None and identities.knows(agent.token):
            raise Conflict(f"agents[{i}]: this token is already in use; choose another one for {agent.id}")


def _identity_of(identities: Identities, agent: AgentSpec, owner: Identity | None) -> Identity:
    if agent.identity is None:
        return new_identity(agent.name or agent.id, agent.kind, owner.id if owner is not None else None)
    known = identities.get(agent.identity)
    if known is None:
        raise BadArgs(f"agents: {agent.id}: unknown identity {agent.identity[:40]!r}")
    return known


def _new_room(
    scenario: Scenario, name: str, seed: int | str | None, now: int, identities: dict[str, str], features: list[str]
) -> tuple[Room, Snapshot]:
    source = lasting_source(scenario.world)
    try:
        world = make_world(source, scenario.config)
    except (CohabitError, WorldInterrupted):
        raise
    except BaseException as bug:  # also SystemExit: a world must not end the house
        what = type(bug).__name__
        raise GameCrash(f"the world {scenario.world!r} failed to start ({what})", exception={"type": what}) from bug
    if _can_guess_seed(scenario, world, seed if seed is not None else scenario.seed):
        log.warning(
            "room %s: players can guess its seed, and compute what the world hides: they try all small seeds and "
            "compare what they see. Leave the seed out, or give 32 random hexadecimal digits.",
            name,
        )
    chosen = next(s for s in (seed, scenario.seed, secrets.randbits(128)) if s is not None)
    scenario = msgspec.structs.replace(scenario, features=[*load_features(features), *scenario.features])
    state = opening_state(scenario, world, source, name, chosen, secrets.token_hex(16), identities)
    room = Room.create(state, world, now)
    describe_world(room)
    return room, room.snapshot()


def _can_guess_seed(scenario: Scenario, world: World, seed: int | str | None) -> bool:
    """True if a seed was chosen that is too small for a world that hides things."""
    hides = world.spec.hides(scenario.partial_intel)
    return seed is not None and hides and int(parse_seed(seed), 16) < 1 << SAFE_SEED_BITS


async def _store(house: Services, write: Write, scenario: Scenario) -> None:
    """Store a new room, leased by this house, and register its members."""
    identities = house.identities
    try:
        await run_in_thread("the leases", partial(house.rooms.leases.acquire, write.room))
    except Conflict as held:
        raise Taken(held.message) from None
    try:
        _check_tokens(identities, scenario)  # again: another room may have used one of the tokens in the meantime
        for credential in write.credentials:
            identities.put_credential(credential)
        await house.writer.submit(write)
    except BaseException:
        for credential in write.credentials:
            identities.drop_credential(credential)
        await run_in_thread("the leases", partial(house.rooms.leases.release, [write.room]))
        raise
    for identity in write.identities:
        identities.put(identity)
