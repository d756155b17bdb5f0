"""A scenario: the file that says who plays what, and under which rules of the house.

The shape is that of the WorldBox bridge's ``agents.json``; the keys it does not have (``world``,
``teams``, ``turn_seconds`` …) are ours. It is read strictly: a file with a mistake opens no room. Keys
that start with ``_`` are comments.
"""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.grant import role_named
from cohabit.model.suggest import nearest
from cohabit.room.control import SPEEDS
from cohabit.room.state import Kind, Member, RoomState
from cohabit.room.turns import can_skip
from cohabit.world import World

SHORTEST_TOKEN = 32
LONGEST = 10**9  # seconds, or ticks
PRESETS = Path(__file__).parent.parent / "scenarios"


class AgentSpec(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One member as the scenario declares it."""

    id: str
    token: str | None = None
    role: str | None = None
    kind: Kind = "agent"
    kingdom_claim: str | None = None
    claim: str | None = None  # the same, for worlds without kingdoms
    objectives: list[dict[str, Any]] = []
    team: str | None = None
    brain: str | None = None  # this seat is always played by a built-in brain
    stand_in: str | None = None  # this brain plays while the player is away
    backend: str | None = None
    house: bool = False  # an identity of the house (`cohabit token new`); no token of its own is made


class Scenario(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A whole file."""

    agents: list[AgentSpec]
    scenario: str = "sandbox"
    world: str = "nim"
    config: dict[str, Any] = {}
    seed: int | None = None
    partial_intel: bool | None = None
    turn_based: bool = False
    turn_order: list[str] | None = None
    turn_seconds: int | None = None
    ticks_per_turn: int = 0
    teams: dict[str, list[str]] = {}
    guests: bool = False
    stand_in_seconds: int = 30
    pause_seconds: int = 30
    speed: str = "x1"  # how fast the time of a clock world runs at first
    rematch_seconds: int | None = None  # a game that is over is followed by the next one after so long


def presets() -> dict[str, Path]:
    """The scenarios that ship with Cohabit."""
    return {path.stem: path for path in sorted(PRESETS.glob("*.json"))}


def read_scenario(name_or_path: str) -> Scenario:
    """A preset by name, or a file by path."""
    shipped = presets()
    path = shipped.get(name_or_path) or Path(name_or_path)
    if not path.is_file():
        raise BadArgs(
            f"there is no scenario {name_or_path!r}: neither a file nor one of {', '.join(shipped)}",
            did_you_mean=nearest(name_or_path, list(shipped), 2),
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as wrong:
        raise BadArgs(f"{path} is not UTF-8: {wrong.reason} at byte {wrong.start}") from None
    found = parse_scenario(text, str(path))
    if ".py" in found.world:  # a world in a file stands beside its scenario
        found.world = str(path.parent / found.world)
    return found


def parse_scenario(text: str, where: str = "agents.json") -> Scenario:
    """Read and check a scenario; the message of an error names the place."""
    try:
        raw = json.loads(text, object_pairs_hook=_told_once, parse_float=_finite, parse_constant=_finite)
        msgspec.msgpack.encode(raw)  # what cannot be kept (half a character, 30 digits) cannot be used
        plain = _without_comments(raw)
    except (ValueError, OverflowError, RecursionError) as wrong:
        raise BadArgs(f"{where} is not JSON that can be used: {wrong}") from None
    try:
        found = msgspec.convert(plain, Scenario)
    except msgspec.ValidationError as wrong:
        raise BadArgs(f"{where}: {wrong}") from None
    try:
        return check_scenario(found)
    except BadArgs as wrong:
        raise BadArgs(f"{where}: {wrong.message}", did_you_mean=wrong.did_you_mean) from None


def _told_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON would take the last of two equal keys, and hide the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is not a number that can be kept")
    return number


def _without_comments(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_comments(v) for k, v in value.items() if not str(k).startswith("_")}
    if isinstance(value, list):
        return [_without_comments(v) for v in value]
    return value


def check_scenario(found: Scenario) -> Scenario:
    """Refuse what cannot be meant; names brought into their one spelling. Harmless to do twice."""
    if not found.agents:
        raise BadArgs("agents: at least one is needed")
    found.scenario = found.scenario.strip().lower()
    ids: list[str] = []
    tokens: list[str] = []
    claims: list[str] = []
    for i, agent in enumerate(found.agents):
        try:
            agent.id = agent.id.strip()
            check_id(agent.id)
            _new(agent.id, ids, "id")
            if agent.token is not None and agent.house:
                raise BadArgs("token: an identity of the house has its own")
            if agent.token is not None:
                agent.token = agent.token.strip()
                check_token(agent.token)
                _new(agent.token, tokens, "token", shown=False)
            if agent.role is not None:
                agent.role = role_named(agent.role)
            if agent.claim is not None and agent.kingdom_claim is not None:
                raise BadArgs("claim and kingdom_claim mean the same; give one")
            agent.claim = agent.claim if agent.claim is not None else agent.kingdom_claim
            agent.kingdom_claim = None
            if agent.claim is not None:
                check_claim(agent.claim)
                _new(agent.claim, claims, "claim")
            if agent.team is not None and agent.id not in found.teams.setdefault(agent.team, []):
                found.teams[agent.team].append(agent.id)
        except BadArgs as wrong:
            raise BadArgs(f"agents[{i}]: {wrong.message}", did_you_mean=wrong.did_you_mean) from None
    for team, members in found.teams.items():
        if not team.strip():
            raise BadArgs("teams: a team needs a name")
        for name in members:
            _known(name, ids, f"teams.{team}")
            if members.count(name) > 1:
                raise BadArgs(f"teams.{team}: {name!r} is there twice")
    for i, name in enumerate(found.turn_order or []):
        _known(name, ids, f"turn_order[{i}]")
    if not found.turn_based and (found.turn_order is not None or found.ticks_per_turn):
        raise BadArgs("turn_order and ticks_per_turn go with turn_based: true")
    if found.turn_order is not None and not found.turn_order:
        raise BadArgs("turn_order: leave it out, or name at least one agent")
    for key in ("turn_seconds", "rematch_seconds", "ticks_per_turn", "stand_in_seconds", "pause_seconds"):
        number = getattr(found, key)
        if number is not None and (number < 0 or (key in ("turn_seconds", "rematch_seconds") and number == 0)):
            raise BadArgs(f"{key}: must be positive")
        if number is not None and number > LONGEST:
            raise BadArgs(f"{key}: must be at most {LONGEST}")
    if found.speed not in SPEEDS:
        raise BadArgs(f"speed: {found.speed[:40]!r} is none of {', '.join(SPEEDS)}")
    if found.seed is not None and not 0 <= found.seed < 2**63:
        raise BadArgs("seed: must be a whole number from 0 that fits 63 bits")
    return found


def check_id(name: str) -> None:
    """A member's name: short, visible, and no address of its own on the bus."""
    if not 0 < len(name) <= 64 or not name.isprintable() or name != name.strip():
        raise BadArgs("id: 1 to 64 visible characters")
    if name == "*" or name.startswith("team:") or "/" in name:
        raise BadArgs(f"id: {name!r} would be an address; choose another name")


def check_token(token: str) -> None:
    """Refuse a token somebody could guess."""
    if len(token) < SHORTEST_TOKEN or len(set(token)) < 10 or not token.isascii() or not token.isprintable():
        raise BadArgs(
            f"token: too weak; use at least {SHORTEST_TOKEN} random letters and digits (`cohabit token make` "
            "prints one), or leave it out and it is made for you"
        )
    if any(c.isspace() for c in token):
        raise BadArgs("token: no white space in it")


def check_claim(claim: str) -> None:
    """``auto:N`` or ``id:X``."""
    how, _, what = claim.partition(":")
    if not (how == "id" and what) and not (how == "auto" and what.isdecimal() and len(what) < 6):
        raise BadArgs(f"claim: {claim!r} is neither auto:N (the N-th seat, from 0) nor id:X (the seat X)")


def _new(value: str, seen: list[str], what: str, shown: bool = True) -> None:
    if value in seen:
        where = seen.index(value)
        raise BadArgs(f"{what}: {repr(value) + ' ' if shown else ''}is used twice (also by agents[{where}])")
    seen.append(value)


def _known(name: str, ids: list[str], where: str) -> None:
    if name not in ids:
        raise BadArgs(f"{where}: no agent is called {name!r}", did_you_mean=nearest(name, ids, 2))


def opening_state(found: Scenario, world: World, source: str, room: str, seed: int, secret: str) -> RoomState:
    """The room that a scenario describes, before its first entry."""
    spec = world.spec
    if found.turn_seconds is not None and not found.turn_based and spec.pace == "turns" and not can_skip(world):
        raise BadArgs(f"turn_seconds: {spec.name} does not say what happens to a seat that lets its time run out")
    if found.turn_seconds is not None and not found.turn_based and spec.pace in ("step", "clock"):
        raise BadArgs(f"turn_seconds: {spec.name} has no turns; add turn_based, or leave it out")
    if found.turn_based and spec.pace in ("turns", "rounds"):
        raise BadArgs(f"turn_based: {spec.name} keeps an order of its own; leave turn_based out")
    if found.speed != "x1" and spec.pace != "clock":
        raise BadArgs(f"speed: the time of {spec.name} does not run by itself; leave it out")
    fog = found.scenario == "pvp" if found.partial_intel is None else found.partial_intel
    members = {
        a.id: Member(
            a.id, a.kind, a.role, a.claim, team=a.team or _team_of(a.id, found), objectives=a.objectives,
            backend=a.backend, house=a.house, stand_in=a.brain or a.stand_in, played_by_bot=a.brain is not None,
        )
        for a in found.agents
    }  # fmt: skip
    return RoomState(
        id=room,
        source=source,
        world=spec.name,
        version=spec.version,
        config=found.config,
        seed=seed,
        secret=secret,
        scenario=found.scenario,
        partial_intel=fog,
        guests=found.guests,
        members=members,
        teams={name: list(who) for name, who in found.teams.items()},
        legacy=len(found.agents) == 1 and found.agents[0].id == "legacy",
        turn_based=found.turn_based,
        turn_order=(found.turn_order or [a.id for a in found.agents]) if found.turn_based else [],
        turn_ms=found.turn_seconds * 1000 if found.turn_seconds is not None else None,
        ticks_per_turn=found.ticks_per_turn,
        stand_in_ms=found.stand_in_seconds * 1000,
        pause_grace_ms=found.pause_seconds * 1000,
        speed=found.speed,
        rematch_ms=found.rematch_seconds * 1000 if found.rematch_seconds is not None else None,
    )


def _team_of(name: str, found: Scenario) -> str | None:
    return next((team for team, members in found.teams.items() if name in members), None)
