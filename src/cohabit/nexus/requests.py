"""The requests to the Nexus in the three forms in which it was described. See ``dialects`` for the answers.

Each request is accepted in snake case and in camel case. Preferences may be inside ``preferences`` or beside it, lists
may be texts with commas, and unknown fields are ignored. ``BadArgs`` says what is wrong with a field.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeVar, get_args

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.observation import one_line
from cohabit.model.travel import DOMAINS, MAX_AVATAR_NAME, Difficulty, NewAvatar, Spawn
from cohabit.nexus.dialects import Dialect
from cohabit.nexus.values import GameInfo, Status, Wishes

MAX_TEXT = 300  # characters
MAX_LIST = 20
MAX_COUNT = 1_000_000_000
WSAP_VERSIONS = ("0.1", "0.1.0")
"""The versions of the protocol, as its descriptions write them. They are the same one."""
LeaveMode = Literal["dormant", "suspend", "despawn"]
Word = TypeVar("Word", bound=str)
_UPPER = re.compile(r"(?<=[a-z0-9])([A-Z])")


class RegisterAgent(Struct, frozen=True):
    agent_id: str
    name: str
    capabilities: tuple[str, ...] = ()


class Enter(Struct, frozen=True):
    agent_id: str
    game_id: str
    wishes: Wishes = Wishes()


class Leave(Struct, frozen=True):
    """By ``session_id`` or by ``game_id``: one of them is given."""

    agent_id: str
    session_id: str = ""
    game_id: str = ""
    reason: str = "voluntary"
    destination: str = ""  # a game; empty: the Nexus
    mode: LeaveMode = "dormant"
    carry: dict[str, int] | None = None  # items of the game to take along
    remember: tuple[str, ...] = ()
    give_up: bool = False  # return from a game that is offline, without anything


def dialect_of(body: object, under_nexus: bool = False) -> Dialect | None:
    """The form of a request; None if it is B or C. ``under_nexus``: the path begins with /nexus, as only A has it."""
    if under_nexus:
        return "A"
    names = [name for name in body if isinstance(name, str)] if isinstance(body, Mapping) else []
    if any(name != name.lower() for name in names) or sorted(names) == ["id", "name"]:  # how B names an agent
        return "B"
    return "C" if any("_" in name for name in names) else None


def register_agent(body: object) -> RegisterAgent:
    """``agent_id`` is also called ``id``. An agent without a name is called by its id."""
    fields = _Fields(body)
    agent_id = fields.needed("agent_id", "id")
    return RegisterAgent(agent_id, fields.text("name") or agent_id, fields.texts("capabilities"))


def register_game(body: object) -> GameInfo:
    fields = _Fields(body)
    known = fields.texts("skill_domains")
    if unknown := [name for name in known if name not in DOMAINS]:
        raise BadArgs(f"`skill_domains` has {unknown[0]!r}; the skills are {', '.join(DOMAINS)}")
    dimensions = fields.number("dimensions")
    if dimensions not in (None, 2, 3):
        raise BadArgs(f"`dimensions` is 2 or 3, not {dimensions}")
    version = fields.text("wsap_version") or WSAP_VERSIONS[0]
    if version not in WSAP_VERSIONS:
        raise BadArgs(f"`wsap_version` {version[:40]!r} is not supported; supported are {', '.join(WSAP_VERSIONS)}")
    game_id = fields.needed("id", "game_id")
    return GameInfo(
        id=game_id,
        name=fields.text("name") or game_id,
        description=fields.text("description"),
        status=fields.word(get_args(Status), "status") or "available",
        genre=fields.texts("genre"),
        dimensions=dimensions or 2,
        multiplayer=fields.yes("multiplayer", default=True),
        persistent_world=fields.yes("persistent_world", default=True),
        skill_domains=tuple(domain for domain in DOMAINS if domain in known),
        wsap_version=version,
        transit_compatible=fields.yes("transit_compatible", default=True),
        max_agents=fields.number("max_agents"),
        bridge_url=fields.text("bridge_url") or None,
    )


def given(body: object) -> Collection[str]:
    """The names of the fields that a request has, in snake case."""
    return _Fields(body).names


def enter(body: object) -> Enter:
    fields = _Fields(body)
    return Enter(fields.needed("agent_id"), fields.needed("game_id"), _wishes(fields))


def leave(body: object) -> Leave:
    """One of ``session_id`` and ``game_id`` says what to leave."""
    fields = _Fields(body)
    session_id, game_id = fields.text("session_id"), fields.text("game_id")
    if not session_id and not game_id:
        raise BadArgs("say what to leave: `session_id` or `game_id`")
    destination = fields.text("destination")
    return Leave(
        fields.needed("agent_id"),
        session_id,
        game_id,
        fields.text("reason", "exit_reason") or "voluntary",
        "" if destination == "nexus" else destination,
        fields.word(get_args(LeaveMode), "mode") or "dormant",
        fields.counts("carry", "{'iron': 2}"),
        fields.texts("remember"),
        fields.yes("give_up", default=False),
    )


def _wishes(fields: "_Fields") -> Wishes:
    inner = fields.inner("preferences")
    spec = _avatar_spec(fields.inner("avatar_spec") if fields.has("avatar_spec") else inner.inner("avatar_spec"))
    avatar = fields.text("avatar_id") or inner.text("avatar_id") or None
    if avatar is not None and spec is not None:
        raise BadArgs("send `avatar_id`, for an avatar of yours, or `avatar_spec`, for a new one, but not both")
    spawn = inner.word(get_args(Spawn), "spawn", "spawn_preference") or fields.word(
        get_args(Spawn), "spawn", "spawn_preference"
    )
    return Wishes(
        avatar=avatar,
        new_avatar=spec,
        spawn=spawn or (spec.spawn_location if spec is not None else "safe"),
        difficulty=inner.word(get_args(Difficulty), "difficulty")
        or fields.word(get_args(Difficulty), "difficulty")
        or "normal",
        goals=inner.texts("goals", "session_goals") or fields.texts("goals", "session_goals"),
        items=fields.counts("items"),
        max_steps=fields.number("max_steps") or inner.number("max_steps"),
        exit_conditions=fields.texts("exit_conditions") or inner.texts("exit_conditions"),
    )


def _avatar_spec(spec: "_Fields") -> NewAvatar | None:
    """The wish for a new avatar. Skill bonuses in it are ignored: they come from what the agent has done."""
    if not spec:
        return None
    if (loadout := spec.text("starting_loadout")) not in ("", "default"):
        raise BadArgs(f"`starting_loadout` is default here, not {loadout[:40]!r}")
    try:
        name, appearance = spec.text("name")[:MAX_AVATAR_NAME], spec.object("appearance")
        return NewAvatar(name, appearance, spec.word(get_args(Spawn), "spawn_location") or "safe")
    except ValueError as wrong:
        raise BadArgs(f"`avatar_spec`: {wrong}") from None


class _Fields:
    """The fields of a JSON object, whatever the case of their names. A missing field and a null are the same."""

    def __init__(self, body: object, of: str = "") -> None:
        if not isinstance(body, Mapping):
            raise BadArgs(f"`{of}` is a JSON object, not {_kind(body)}" if of else "send a JSON object")
        exact = {name: value for name, value in body.items() if isinstance(name, str) and value is not None}
        self._values: dict[str, Any] = {
            _UPPER.sub(r"_\1", name).lower(): value for name, value in exact.items()
        } | exact

    @property
    def names(self) -> Collection[str]:
        return self._values.keys()

    def __bool__(self) -> bool:
        return bool(self._values)

    def has(self, name: str) -> bool:
        return name in self._values

    def object(self, name: str) -> dict[str, Any]:
        """An object with any fields, whose names stay as they are."""
        value = self._values.get(name, {})
        if not isinstance(value, dict):
            raise BadArgs(f"`{name}` is a JSON object, not {_kind(value)}")
        return value

    def _first(self, names: tuple[str, ...]) -> tuple[str, Any]:
        return next(((name, self._values[name]) for name in names if name in self._values), (names[0], None))

    def inner(self, name: str) -> "_Fields":
        return _Fields(self._values.get(name, {}), name)

    def text(self, *names: str) -> str:
        name, value = self._first(names)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise BadArgs(f"`{name}` is a text, not {_kind(value)}")
        return _short(name, value)

    def needed(self, *names: str) -> str:
        if found := self.text(*names):
            return found
        raise BadArgs(f"`{names[0]}` is missing")

    def texts(self, *names: str) -> tuple[str, ...]:
        """A list of texts, or one text with commas."""
        name, value = self._first(names)
        if value is None:
            return ()
        found = value.split(",") if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise BadArgs(f"`{name}` is a list of texts, not {_kind(value)}")
        if len(found) > MAX_LIST:
            raise BadArgs(f"`{name}` has at most {MAX_LIST} entries, not {len(found)}")
        return tuple(text for text in (_short(name, one) for one in found) if text)

    def word(self, known: tuple[Word, ...], *names: str) -> Word | None:
        name, value = self._first(names)
        if value is None:
            return None
        for one in known:
            if one == value:
                return one
        raise BadArgs(f"`{name}` is one of {', '.join(known)}, not {str(value)[:40]!r}")

    def number(self, *names: str) -> int | None:
        name, value = self._first(names)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_COUNT:
            raise BadArgs(f"`{name}` is a whole number from 1 on, not {str(value)[:40]!r}")
        return value

    def yes(self, name: str, default: bool) -> bool:
        value = self._values.get(name, default)
        if not isinstance(value, bool):
            raise BadArgs(f"`{name}` is true or false, not {_kind(value)}")
        return value

    def counts(self, name: str, example: str = "{'crafter:iron': 2}") -> dict[str, int] | None:
        value = self._values.get(name)
        if value is None:
            return None
        inner = value if isinstance(value, Mapping) else None
        if inner is None or not all(type(count) is int and 0 <= count <= MAX_COUNT for count in inner.values()):
            raise BadArgs(f"`{name}` says how many of each item, such as {example}")
        if len(inner) > MAX_LIST:
            raise BadArgs(f"`{name}` has at most {MAX_LIST} entries, not {len(inner)}")
        return {str(origin): count for origin, count in inner.items()}


def _short(name: str, text: str) -> str:
    words = one_line(text).strip()
    if len(words) > MAX_TEXT:
        raise BadArgs(f"`{name}` has at most {MAX_TEXT} characters, not {len(words)}")
    return words


def _kind(value: object) -> str:
    kinds = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "null")
