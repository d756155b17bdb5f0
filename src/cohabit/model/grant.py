"""What a member may perceive and do: capabilities, roles, and the layers of a grant.

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

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest


class Capability(StrEnum):
    """One permission that a grant can contain."""

    # perceive
    WATCH = "watch"  # the public part of the world and its events
    READ_OWN = "read_own"  # what the member's own seat sees
    READ_ALL = "read_all"  # everything in the world
    READ_ROSTER = "read_roster"  # who is in the room
    READ_CHAT = "read_chat"  # messages to everyone or to the member's team
    RECEIVE_DIRECTED = "receive_directed"  # messages to this member alone
    SEE_SCREEN = "see_screen"  # pictures of the world
    HEAR_AUDIO = "hear_audio"  # voices
    READ_MEDIA = "read_media"  # images in the chat
    READ_FILES = "read_files"  # files in the chat
    # act
    ACT = "act"  # act for the member's own seat
    ACT_GLOBAL = "act_global"  # act anywhere, at any time
    ADVANCE_TIME = "advance_time"  # pause, resume, set the speed
    CONTROL_WORLD = "control_world"  # reset, rematch, archive, delete
    SEND_MESSAGE = "send_message"  # send to one member, or to the member's team
    SEND_BROADCAST = "send_broadcast"  # send to everyone
    SPEAK = "speak"  # voice
    MANAGE_MEMBERS = "manage_members"  # invite, remove, grant, revoke, read the audit


C = Capability
PERCEIVE = (
    C.WATCH, C.READ_OWN, C.READ_ALL, C.READ_ROSTER, C.READ_CHAT, C.RECEIVE_DIRECTED,
    C.SEE_SCREEN, C.HEAR_AUDIO, C.READ_MEDIA, C.READ_FILES,
)  # fmt: skip
ACT = tuple(c for c in Capability if c not in PERCEIVE)
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

    ``addition``: adds ``may`` until it expires. ``limit``: allows only ``may``, and nothing once it has expired.
    ``lifts``: the addition applies even if a limit excludes it (a temporary grant to a limited member).
    """

    kind: Literal["addition", "limit"]
    may: tuple[Capability, ...] = ()
    expires_at: int | None = None  # ms; None: no end
    lifts: bool = False

    def without(self, taken: frozenset[Capability]) -> "Layer":
        return Layer(self.kind, tuple(c for c in self.may if c not in taken), self.expires_at, self.lifts)


def fold(role: frozenset[Capability], layers: Sequence[Layer]) -> frozenset[Capability]:
    """The capabilities that a role and these layers give."""
    if not layers:  # the usual case
        return role
    given, allowed, lifted = set(role), set(EVERYTHING), set[Capability]()
    for layer in layers:
        if layer.kind == "limit":
            allowed &= set(layer.may)
        else:
            given |= set(layer.may)
            if layer.lifts:
                lifted |= set(layer.may)
    return frozenset(given & (allowed | lifted))


FOREVER = sys.maxsize
"""A time (ms) after every expiry."""


def held_at(role: frozenset[Capability], layers: Sequence[Layer], at: int) -> frozenset[Capability]:
    """The capabilities at a later time, if the layers do not change."""
    expired = [layer for layer in layers if layer.expires_at is not None and layer.expires_at <= at]
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
