"""The rights of a member to perceive and act: capabilities, roles, and the layers of a grant.

A member's capabilities are computed from its layers::

    held = (role ∪ additions) ∩ limits

The role comes with the membership. An *addition* gives more, permanently or until a given time. A *limit* is
an upper bound set by a host.

Other protocols register their own names for these capabilities with `add_aliases`.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct, structs

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest


class Capability(StrEnum):
    """One permission that a grant can contain. ``meaning`` completes "a member with it can …"."""

    group: Literal["perceive", "act"]
    meaning: str

    def __new__(cls, name: str, group: Literal["perceive", "act"], meaning: str) -> "Capability":
        made = str.__new__(cls, name)
        made._value_, made.group, made.meaning = name, group, meaning
        return made

    WATCH = "watch", "perceive", "see the public part of the world and its events"
    READ_OWN = "read_own", "perceive", "see what its own seat sees"
    READ_ALL = "read_all", "perceive", "see everything in the world"
    READ_ROSTER = "read_roster", "perceive", "see who is in the room"
    READ_CHAT = "read_chat", "perceive", "read messages to everyone or to its team"
    RECEIVE_DIRECTED = "receive_directed", "perceive", "read messages to itself alone"
    SEE_SCREEN = "see_screen", "perceive", "see pictures of the world, and shared screens"
    HEAR_AUDIO = "hear_audio", "perceive", "hear voices"
    READ_MEDIA = "read_media", "perceive", "get images in the chat"
    READ_FILES = "read_files", "perceive", "get files in the chat"
    ACT = "act", "act", "act for its own seat"
    ACT_GLOBAL = "act_global", "act", "act anywhere, at any time"
    ADVANCE_TIME = "advance_time", "act", "pause and resume the world, set its speed"
    CONTROL_WORLD = "control_world", "act", "reset, archive and delete the room, start a rematch"
    SEND_MESSAGE = "send_message", "act", "send messages to one member, or to its team"
    SEND_BROADCAST = "send_broadcast", "act", "send messages to everyone"
    SPEAK = "speak", "act", "speak, and share its screen"
    PUBLISH = "publish", "act", "publish views of an app, and receive the actions meant for it"
    MANAGE_MEMBERS = "manage_members", "act", "invite and remove members, change their grants, read the audit"


C = Capability
PERCEIVE = tuple(c for c in Capability if c.group == "perceive")
ACT = tuple(c for c in Capability if c.group == "act")
EVERYTHING = frozenset(Capability)
SEAT_BOUND = frozenset({C.READ_OWN, C.ACT})
"""These have no effect without a seat, so any host may grant them: they determine who plays, not what the host sees."""

# -- names ----------------------------------------------------------------------------------------
Names = Mapping[str, frozenset[Capability]]
"""Another protocol's capability names, each with the capabilities it means."""
_names: dict[str, frozenset[Capability]] = {c.value: frozenset({c}) for c in Capability}
_families: dict[str, Names] = {}


def add_aliases(family: str, names: Names) -> None:
    """Accept another protocol's capability names. On a clash, Cohabit's name wins."""
    _families[family] = names
    for name, meant in names.items():
        _names.setdefault(name, meant)


def alias_families() -> dict[str, Names]:
    """The registered names of other protocols, by protocol."""
    return dict(_families)


def capabilities(names: Iterable[str]) -> frozenset[Capability]:
    """The capabilities that these names mean, in any registered protocol."""
    held: set[Capability] = set()
    for name in names:
        meant = _names.get(name) or _names.get(name.replace("-", "_"))
        if meant is None:
            raise BadArgs(
                f"unknown capability {name[:80]!r}; capabilities: {', '.join(Capability)}",
                did_you_mean=nearest(name, list(_names), 3),
            )
        held |= meant
    return frozenset(held)


def names_held(held: frozenset[Capability], family: Names) -> list[str]:
    """The names of one protocol whose capabilities are all held, in that protocol's order."""
    return [name for name, meant in family.items() if meant <= held]


def in_order(held: Iterable[Capability]) -> tuple[Capability, ...]:
    """Capabilities in the order of their declaration, so equal sets are encoded identically."""
    held = frozenset(held)
    return tuple(c for c in Capability if c in held)


# -- layers ---------------------------------------------------------------------------------------
class Layer(Struct, frozen=True, omit_defaults=True):
    """One rule that adds to or limits a member's capabilities.

    ``addition``: adds ``may`` until it expires. ``limit``: allows only ``may``, or everything but ``but``, and nothing
    once it has expired. A record with ``but`` replays also after a new capability was introduced.
    ``lifts``: the addition applies even if a limit excludes it (a temporary grant to a limited member).
    """

    kind: Literal["addition", "limit"]
    may: tuple[Capability, ...] = ()
    expires_at: int | None = None  # ms; None: no end
    lifts: bool = False
    this_game: bool = False  # it ends with the current game
    look: bool = False  # its member looks through another member's seat as long as it lasts
    but: tuple[Capability, ...] | None = None

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities that it adds or allows."""
        return frozenset(self.may) if self.but is None else EVERYTHING - frozenset(self.but)

    def has_expired(self, at: int) -> bool:
        return (self.expires_at is not None and self.expires_at <= at) or (self.this_game and at >= FOREVER)

    def without(self, taken: frozenset[Capability]) -> "Layer":
        if self.but is not None:
            return structs.replace(self, but=in_order({*self.but, *taken}))
        return structs.replace(self, may=in_order(self.capabilities - taken))

    def including(self, given: frozenset[Capability]) -> "Layer":
        if self.but is not None:
            return structs.replace(self, but=in_order(frozenset(self.but) - given))
        return structs.replace(self, may=in_order(self.capabilities | given))


def fold(role: frozenset[Capability], layers: Sequence[Layer]) -> frozenset[Capability]:
    """The capabilities that a role and these layers give."""
    if not layers:  # the usual case
        return role
    given, allowed, lifted = set(role), set(EVERYTHING), set[Capability]()
    for layer in layers:
        if layer.kind == "limit":
            allowed &= layer.capabilities
        else:
            given |= set(layer.may)
            if layer.lifts:
                lifted |= set(layer.may)
    return frozenset(given & (allowed | lifted))


FOREVER = sys.maxsize
"""A time (ms) after every expiry."""


def held_at(role: frozenset[Capability], layers: Sequence[Layer], at: int) -> frozenset[Capability]:
    """The capabilities at a later time, if the layers do not change. Nobody knows when the game ends, so what ends with
    it is counted as held until then, but not ``FOREVER``."""
    expired = [layer for layer in layers if layer.has_expired(at)]
    if any(layer.kind == "limit" for layer in expired):
        return frozenset()
    return fold(role, [layer for layer in layers if layer not in expired])


# -- roles ----------------------------------------------------------------------------------------
_TALK = {C.READ_ROSTER, C.READ_CHAT, C.RECEIVE_DIRECTED, C.SEND_MESSAGE}
_MEDIA = {C.SEE_SCREEN, C.HEAR_AUDIO, C.READ_MEDIA, C.READ_FILES, C.SPEAK}
_PLAY = _TALK | {C.WATCH, C.READ_OWN, C.ACT, C.ADVANCE_TIME, C.SEE_SCREEN}
_OBSERVE = _TALK | {C.WATCH, C.READ_OWN, C.READ_ALL, C.SEE_SCREEN}

ROLES: dict[str, frozenset[Capability]] = {
    "god": EVERYTHING,
    "player": frozenset(_PLAY),
    "observer": frozenset(_OBSERVE),
    "narrator": frozenset(_OBSERVE | {C.SEND_BROADCAST}),
    "human": frozenset(_PLAY | _MEDIA | {C.SEND_BROADCAST}),
    "agent": frozenset({C.WATCH, C.READ_ROSTER, C.READ_CHAT, C.RECEIVE_DIRECTED}),
    "app": frozenset(_TALK | {C.WATCH, C.SEND_BROADCAST, C.PUBLISH}),
    "resident": frozenset({C.WATCH, C.RECEIVE_DIRECTED}),
    "host": frozenset(_TALK | _MEDIA | {C.WATCH, C.SEND_BROADCAST, C.ADVANCE_TIME, C.CONTROL_WORLD, C.MANAGE_MEMBERS}),
}
"""A role is a named grant."""
DEFAULT_ROLE = {"human": "human", "agent": "agent"}
"""The role of a member without one, by its kind: a person plays its seat, an agent watches."""
_role_aliases: dict[str, str] = {}


def add_role_aliases(names: Mapping[str, str]) -> None:
    """Accept another protocol's role names."""
    _role_aliases.update(names)


def role_or_default(role: str | None, kind: str) -> str:
    """The role, or the default one of this kind of member."""
    return role or DEFAULT_ROLE[kind]


def role_shown(name: str) -> str:
    """A role as it is called here, if another protocol has its own name for it."""
    return _role_aliases.get(name, name)


def role_named(name: str) -> str:
    """The role for a name, with aliases resolved."""
    role = _role_aliases.get(name, name)
    if role not in ROLES:
        known = [*ROLES, *_role_aliases]
        raise BadArgs(f"unknown role {name[:80]!r}; roles: {', '.join(ROLES)}", did_you_mean=nearest(name, known, 3))
    return role
