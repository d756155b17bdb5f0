"""A scenario: a file that defines a room: its world, members and rules.

Parsing is strict: a file with an error is rejected. Keys that start with ``_`` are comments.
"""

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from cohabit.agents.brain import parse_brain
from cohabit.declare import object_schema
from cohabit.errors import BadArgs
from cohabit.feature_registry import load_features
from cohabit.model.admission import EntryPolicy
from cohabit.model.control_tokens import defused
from cohabit.model.grant import role_named
from cohabit.model.identity import Kind
from cohabit.model.plain_text import INVISIBLE
from cohabit.model.stream import seed_hex
from cohabit.model.strict_json import parse_document
from cohabit.model.suggest import nearest
from cohabit.model.validation_errors import in_words
from cohabit.registry import BRIDGE_FILE_WORLD, absolute_brain, is_file_source, load_protocol_names

MIN_TOKEN = 32
MAX_DURATION = 10**9  # seconds, or ticks
MAX_SEED_BITS = 128
MAX_SPECTATOR_DELAY = 10_000
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]+")
PRESETS = Path(__file__).parent / "scenarios"


class AgentSpec(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One member as the scenario declares it. The texts are in docs/scenarios.md, too."""

    id: str  # its handle
    token: str | None = None
    """At least 32 random letters and digits (`cohabit token make` prints one); without it one is created."""
    role: str | None = None
    """By default the one of its `kind`. The name of a role in another protocol, such as `faction_player`, works too."""
    name: str | None = None  # its display name; by default the id, by which members are addressed
    kind: Kind = "agent"  # `agent` or `human`
    claim: str | None = None  # the seat: `auto:N` or `id:X`
    kingdom_claim: str | None = None  # another name for `claim`, in files of the WorldBox bridge
    objectives: list[dict[str, Any]] = []  # stored as written
    team: str | None = None  # the member's team
    brain: str | None = None
    """The brain that plays from the start, and whenever the player is away: a name such as `warlord` or
    `ollama:qwen3:8b?temperature=0.2`, or a table `{"brain": "local", "options": {"temperature": 0.2}}`."""
    stand_in: str | None = None  # the brain that takes over while the player is away
    gives_way: bool = False
    """While a `brain` or `stand_in` plays the seat, a member without a seat may take it (`sit`); the agent returns when
    it is free again."""
    backend: str | None = None  # the model that the agent uses, shown in the roster and not verified
    identity: str | None = None
    """The id of an identity of the house (`cohabit token list`); no token is created."""


class BrainTable(Struct, forbid_unknown_fields=True):
    """A brain with its options: ``{"brain": "local", "options": {"temperature": 0.2}}``."""

    brain: str
    options: dict[str, Any] = {}


class OpenedToNexus(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How a room is open to the Nexus of its house from the beginning, as by the command `open_to_nexus`."""

    description: Annotated[str, Meta(max_length=500)] = ""
    capacity: Annotated[int, Meta(ge=1, le=1000)] = 64


class Scenario(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The content of a scenario file. The texts are in docs/scenarios.md, too."""

    agents: list[AgentSpec]  # the members
    scenario: str = "sandbox"  # a name for people
    world: str = "nim"
    """The world, by name or by `.py` file. A file that names none gets `kingdoms`, as the WorldBox bridge expects."""
    config: dict[str, Any] = {}  # the arguments of the world's `__init__`
    seed: int | str | None = None
    """A number, or hexadecimal digits as text; at most 128 bits. By default random. Players can guess small ones."""
    partial_intel: bool = False  # fog, in worlds where the scenario decides that
    sealed: bool = True  # in worlds that hide things: what a player sees is shown to others only if it allows it
    turn_based: bool = False  # members take turns in a world without an order of its own
    turn_order: list[str] | None = None  # with `turn_based`; by default the order of `agents`
    turn_seconds: int | None = None  # how long a turn or a round may take; by default without a limit
    ticks_per_turn: int = 0  # with `turn_based` in a world with a clock: how many ticks pass at the end of a turn
    step_ticks: int = 0  # a stepped clock: by how many ticks time advances when every player has passed
    teams: dict[str, list[str]] = {}  # the names of teams and their members
    guests: bool = False  # whether identities of the house may `join` without an invite
    house_tokens: bool = False
    """Whether the tokens of its members are valid in every room that they are members of, as travelling in the Nexus
    needs."""
    entry: EntryPolicy | None = None
    """Who joins without an invite (by default nobody): `open`, `names`, `agent_keys`, `kind`, `agents_play`, `lobby`,
    `locked`. A code is set with `set_entry`."""
    stand_in_seconds: int = 30  # how long a player may be away before its `stand_in` takes over
    hide_brains: bool = False
    """Whether players see only that a `bot` plays a seat, and not which one. Members with `read_all` see it."""
    pause_seconds: int = 30  # how long a pause lasts after the member who paused has left
    sleep_seconds: int | None = None
    """In a world with bodies and rounds: after how much time of rounds missed by its player (without a time limit: of
    absence) a body falls asleep, so that rounds do not wait for it; `0`: never. By default as the setting says."""
    spectator_delay: int | None = None
    """In a world that hides things: after how many steps spectators see everything, up to 10,000. By default never."""
    speed: str = "x1"  # the initial speed in a world with a clock: one of `list_speeds`
    rematch_seconds: int | None = None
    """How long after a game the next one starts. By default never; 15 with `cohabit up` if built-in players have every
    seat."""
    nexus: OpenedToNexus | bool = False
    """Whether agents can come here through the Nexus: `true`, or `{"description": "…", "capacity": 64}` (64 visitors at
    a time by default)."""
    features: list[str] = []  # features of this room besides those of every room: names, in a file also files
    rooms: list[str] = []  # further scenarios, by name or file, that `cohabit up` opens with this one


def presets() -> dict[str, Path]:
    """The scenarios that ship with Cohabit."""
    return {path.stem: path for path in sorted(PRESETS.glob("*.json"))}


def read_scenario(name_or_path: str) -> Scenario:
    """A preset by name, or a file by path."""
    shipped = presets()
    path = shipped.get(name_or_path) or Path(name_or_path)
    if not path.is_file():
        raise BadArgs(
            f"unknown scenario {name_or_path!r}: not a file, and not one of {', '.join(shipped)}",
            did_you_mean=nearest(name_or_path, list(shipped), 2),
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as wrong:
        raise BadArgs(f"{path} is not UTF-8: {wrong.reason} at byte {wrong.start}") from None
    scenario = parse_scenario(text, str(path))
    if ".py" in scenario.world:  # the path of a world file is relative to the scenario
        scenario.world = str(path.parent / scenario.world)
    scenario.features = load_features(
        str(path.parent / name) if is_file_source(name) else name for name in scenario.features
    )
    scenario.rooms = [name if name in shipped else str(path.parent / name) for name in scenario.rooms]
    for agent in scenario.agents:  # and that of a brain
        agent.brain = absolute_brain(agent.brain, path.parent)
        agent.stand_in = absolute_brain(agent.stand_in, path.parent)
    return scenario


def parse_scenario(text: str, where: str = "agents.json") -> Scenario:
    """Parse and check a scenario. Error messages name the file and the field."""
    load_protocol_names()  # a role can have the name of another protocol
    try:
        plain = parse_document(text)
    except (ValueError, OverflowError, RecursionError) as wrong:
        raise BadArgs(f"{where} is not valid JSON: {wrong}") from None
    _name_brains(plain, where)

    def converted(given: Any) -> Scenario:
        return msgspec.convert({"world": BRIDGE_FILE_WORLD, **given} if isinstance(given, dict) else given, Scenario)

    try:
        scenario = converted(plain)
    except msgspec.ValidationError as wrong:
        raise BadArgs(f"{where}: {in_words(wrong, plain, object_schema(Scenario), converted)}") from None
    try:
        return check_scenario(scenario)
    except BadArgs as wrong:
        raise BadArgs(f"{where}: {wrong.message}", did_you_mean=wrong.did_you_mean) from None


def _name_brains(plain: Any, where: str) -> None:
    """A brain can be a table: its name, and its options."""
    agents = plain.get("agents") if isinstance(plain, dict) else None
    for i, agent in enumerate(agents if isinstance(agents, list) else ()):
        for key in ("brain", "stand_in"):
            given = agent.get(key) if isinstance(agent, dict) else None
            if isinstance(given, dict):
                try:
                    table = msgspec.convert(given, BrainTable)
                    agent[key] = str(parse_brain(table.brain, table.options))
                except (msgspec.ValidationError, BadArgs) as wrong:
                    raise BadArgs(f"{where}: agents[{i}]: {key}: {getattr(wrong, 'message', wrong)}") from None


def check_scenario(scenario: Scenario) -> Scenario:
    """Refuse contradictions and resolve aliases. Idempotent."""
    if not scenario.agents:
        raise BadArgs("agents: at least one is required")
    scenario.scenario = scenario.scenario.strip().lower()
    ids: list[str] = []
    tokens: list[str] = []
    claims: list[str] = []
    for i, agent in enumerate(scenario.agents):
        try:
            agent.id = agent.id.strip()
            check_handle(agent.id)
            if agent.name is not None:
                check_name(agent.name)
            _require_unique(agent.id, ids, "id")
            if agent.token is not None and agent.identity is not None:
                raise BadArgs("token: not allowed together with identity, which already has a token")
            if agent.token is not None:
                agent.token = agent.token.strip()
                check_token(agent.token)
                _require_unique(agent.token, tokens, "token", shown=False)
            if agent.role is not None:
                agent.role = role_named(agent.role)
            for brain in (agent.brain, agent.stand_in):
                if brain is not None:
                    parse_brain(brain)
            if agent.claim is not None and agent.kingdom_claim is not None:
                raise BadArgs("claim and kingdom_claim are aliases; use only one")
            agent.claim = agent.claim if agent.claim is not None else agent.kingdom_claim
            agent.kingdom_claim = None
            if agent.claim is not None:
                agent.claim = check_claim(agent.claim)
                _require_unique(agent.claim, claims, "claim")
            if agent.team is not None and agent.id not in scenario.teams.setdefault(agent.team, []):
                scenario.teams[agent.team].append(agent.id)
        except BadArgs as wrong:
            raise BadArgs(f"agents[{i}]: {wrong.message}", did_you_mean=wrong.did_you_mean) from None
    in_teams: dict[str, str] = {}
    for team, members in scenario.teams.items():
        if not team.strip():
            raise BadArgs("teams: a team needs a name")
        for name in members:
            _require_known(name, ids, f"teams.{team}")
            if members.count(name) > 1:
                raise BadArgs(f"teams.{team}: {name!r} appears twice")
            if in_teams.setdefault(name, team) != team:
                raise BadArgs(f"teams.{team}: {name!r} is in the team {in_teams[name]!r}, too")
    for i, name in enumerate(scenario.turn_order or []):
        _require_known(name, ids, f"turn_order[{i}]")
        if name in (scenario.turn_order or [])[:i]:
            raise BadArgs(f"turn_order[{i}]: {name!r} appears twice")
    if not scenario.turn_based and (scenario.turn_order is not None or scenario.ticks_per_turn):
        raise BadArgs("turn_order and ticks_per_turn require turn_based: true")
    if scenario.turn_based and scenario.step_ticks:
        raise BadArgs("step_ticks: in a room with turn_based, use ticks_per_turn")
    if scenario.turn_order is not None and not scenario.turn_order:
        raise BadArgs("turn_order: must not be empty; omit it or list at least one agent")
    for key in (
        "turn_seconds",
        "rematch_seconds",
        "ticks_per_turn",
        "step_ticks",
        "stand_in_seconds",
        "pause_seconds",
        "sleep_seconds",
        "spectator_delay",
    ):
        number = getattr(scenario, key)
        if number is not None and number < 1 and key in ("turn_seconds", "rematch_seconds", "spectator_delay"):
            raise BadArgs(f"{key}: must be at least 1")
        if number is not None and number < 0:
            raise BadArgs(f"{key}: must not be negative")
        if number is not None and number > MAX_DURATION:
            raise BadArgs(f"{key}: must be at most {MAX_DURATION}")
    if (scenario.spectator_delay or 0) > MAX_SPECTATOR_DELAY:
        raise BadArgs(f"spectator_delay: must be at most {MAX_SPECTATOR_DELAY}")
    if len(set(scenario.rooms)) < len(scenario.rooms):
        raise BadArgs("rooms: a scenario is listed twice")
    if scenario.seed is not None:
        scenario.seed = parse_seed(scenario.seed)
    if scenario.entry is not None:
        _check_entry(scenario.entry)
    return scenario


def _check_entry(entry: EntryPolicy) -> None:
    if entry.code:
        raise BadArgs("entry: a code cannot be in a file; set it with the command set_entry")
    for name in entry.names:
        try:
            check_name(name)
        except BadArgs as wrong:
            raise BadArgs(f"entry.names: {wrong.message}") from None


def give_brain(scenario: Scenario, name: str, brain: str) -> None:
    """Let a brain play for an agent of the scenario."""
    ids = [agent.id for agent in scenario.agents]
    _require_known(name, ids, "brains")
    scenario.agents[ids.index(name)].brain = brain


def make_person(scenario: Scenario, name: str) -> None:
    """Let a player of the scenario be a person, with the permissions of one."""
    ids = [agent.id for agent in scenario.agents]
    _require_known(name, ids, "people")
    player = scenario.agents[ids.index(name)]
    player.kind, player.role = "human", "human" if player.role in (None, "player") else player.role


def parse_seed(seed: int | str) -> str:
    """A seed as the record keeps it (32 hexadecimal digits), from a whole number or from hexadecimal digits."""
    if isinstance(seed, str) and not _HEXADECIMAL.fullmatch(seed):
        raise BadArgs(f"seed: {seed[:40]!r} is not hexadecimal")
    number = int(seed, 16) if isinstance(seed, str) else seed
    if not 0 <= number < 1 << MAX_SEED_BITS:
        raise BadArgs(f"seed: must be at least 0 and fit {MAX_SEED_BITS} bits")
    return seed_hex(number)


RESERVED = " ()/#"
"""Characters that a handle cannot have, because texts such as `ann (left)` are made from handles."""
_IDENTITY = re.compile(r"i-(key-.*|oauth-.*|[0-9a-f]{16})")
"""The ids of identities. A member without an identity owns seats and bodies by its handle, so it cannot have one."""


def check_handle(handle: str) -> None:
    """A handle is short, printable, and not a reserved bus address."""
    if not 0 < len(handle) <= 64 or not handle.isprintable() or handle != handle.strip():
        raise BadArgs("id: must be 1 to 64 printable characters")
    if unicodedata.normalize("NFKC", handle) != handle or any(c in INVISIBLE for c in handle):
        raise BadArgs(f"id: {handle!r} contains invisible or look-alike characters; use plain ones")
    if defused(handle) != handle:
        raise BadArgs(f"id: {handle!r} could be a control token of a language model; choose a plain name")
    if handle == "the house":
        raise BadArgs("id: 'the house' is reserved for the house itself; choose another name")
    if _IDENTITY.fullmatch(handle):
        raise BadArgs(f"id: {handle!r} has the form of an identity; choose another name")
    if handle == "*":
        raise BadArgs("id: '*' means everybody; choose another name")
    if handle.startswith("team:") or any(c in RESERVED for c in handle):
        raise BadArgs(
            f"id: {handle!r} is not possible: a name has no spaces, parentheses, / or #, and does not begin with team:"
        )


def handle_for(name: str) -> str:
    """A handle made from a chosen name."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", name) if c.isprintable() and c not in INVISIBLE)
    reserved, others = rf"[{re.escape(RESERVED)}\s]+", r"[^\w]+"  # `<b>Ann</b>` could be markup: then only its letters
    for dropped in (reserved, others):
        wanted = re.sub(dropped, "-", plain).strip("-")[:56]
        try:
            check_handle(wanted)
        except BadArgs:
            continue
        return wanted
    return "guest"


def free_handle(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """The handle, with a number appended if it is taken."""
    handle, number = wanted, 1
    while is_taken(handle):
        number += 1
        handle = f"{wanted[:56]}-{number}"
    return handle


def check_name(name: str) -> None:
    """A display name is short and has only printable characters."""
    if not 0 < len(name.strip()) <= 64 or not name.isprintable():
        raise BadArgs("name: must be 1 to 64 printable characters")


def check_token(token: str) -> None:
    """Refuse a weak token."""
    if len(token) < MIN_TOKEN or len(set(token)) < 10 or not token.isascii() or not token.isprintable():
        raise BadArgs(
            f"token: too weak; use at least {MIN_TOKEN} random letters and digits (`cohabit token make` "
            "prints one), or omit it to have one generated"
        )
    if any(c.isspace() for c in token):
        raise BadArgs("token: must not contain white space")


def check_claim(claim: str) -> str:
    """A claim is ``auto:N`` or ``id:X``. Returns it in its usual form."""
    how, _, what = claim.partition(":")
    if not (how == "id" and what) and not (how == "auto" and what.isdecimal() and len(what) < 6):
        raise BadArgs(f"claim: expected auto:N (seat number N, from 0) or id:X (seat X), not {claim!r}")
    return f"auto:{int(what)}" if how == "auto" else claim


def _require_unique(value: str, seen: list[str], what: str, shown: bool = True) -> None:
    if value in seen:
        where = seen.index(value)
        raise BadArgs(f"{what}: {repr(value) + ' ' if shown else ''}is used twice (also by agents[{where}])")
    seen.append(value)


def _require_known(name: str, ids: list[str], where: str) -> None:
    if name not in ids:
        raise BadArgs(f"{where}: unknown agent {name!r}", did_you_mean=nearest(name, ids, 2))


def team_of(name: str, scenario: Scenario) -> str | None:
    """The team that an agent is in."""
    return next((team for team, members in scenario.teams.items() if name in members), None)
