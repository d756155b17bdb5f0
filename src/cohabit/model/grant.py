"""What a member may perceive and do: one vocabulary for every world and every face.

Two families of names reach us from outside: the permissions of the WorldBox bridge (``read_all``,
``action_faction`` …) and the perceive/act capabilities of Kibitz (``read-chat``, ``act`` …). Both are
spelled out of the same atoms here, so that one check serves both.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest


class Capability(StrEnum):
    """One thing a grant can give."""

    # perceive
    WATCH = "watch"  # the public part of the world, and what happens there
    READ_OWN_FACTION = "read_own_faction"  # what the own seat sees
    READ_ALL = "read_all"  # everything in the world
    READ_ROSTER = "read_roster"  # who is here
    READ_CHAT = "read_chat"  # messages to everybody or to the own team
    RECEIVE_DIRECTED = "receive_directed"  # messages to this member alone
    SEE_SCREEN = "see_screen"  # pictures of the world
    HEAR_AUDIO = "hear_audio"  # voices
    READ_MEDIA = "read_media"  # images in the chat
    READ_FILES = "read_files"  # files in the chat
    # act
    ACTION_FACTION = "action_faction"  # act for the own seat
    ACTION_GLOBAL = "action_global"  # act anywhere, at any time
    ADVANCE_TIME = "advance_time"  # pause, resume, set the speed
    CONTROL_WORLD = "control_world"  # reset, rematch, archive, delete
    SEND_MESSAGE = "send_message"  # write to one member, or to the own team
    SEND_BROADCAST = "send_broadcast"  # write to everybody
    SPEAK = "speak"  # voice
    MANAGE_MEMBERS = "manage_members"  # invite, remove, grant, revoke, read the audit


C = Capability
PERCEIVE = (
    C.WATCH, C.READ_OWN_FACTION, C.READ_ALL, C.READ_ROSTER, C.READ_CHAT, C.RECEIVE_DIRECTED,
    C.SEE_SCREEN, C.HEAR_AUDIO, C.READ_MEDIA, C.READ_FILES,
)  # fmt: skip
ACT = tuple(c for c in Capability if c not in PERCEIVE)

BRIDGE_NAMES: dict[str, frozenset[Capability]] = {
    "read_all": frozenset({C.READ_ALL}),
    "read_own_faction": frozenset({C.READ_OWN_FACTION}),
    "action_global": frozenset({C.ACTION_GLOBAL}),
    "action_faction": frozenset({C.ACTION_FACTION}),
    "control_world": frozenset({C.CONTROL_WORLD}),
    "send_message": frozenset({C.SEND_MESSAGE}),
    "recv_message": frozenset({C.READ_CHAT, C.RECEIVE_DIRECTED}),
    "send_broadcast": frozenset({C.SEND_BROADCAST}),
    "advance_time": frozenset({C.ADVANCE_TIME}),
}
"""The nine permissions of the WorldBox bridge, in the order its ``whoami`` lists them."""

KIBITZ_PERCEIVE: dict[str, frozenset[Capability]] = {
    "see-screen": frozenset({C.SEE_SCREEN}),
    "hear-audio": frozenset({C.HEAR_AUDIO}),
    "read-chat": frozenset({C.READ_CHAT, C.WATCH}),
    "read-roster": frozenset({C.READ_ROSTER}),
    "receive-directed": frozenset({C.RECEIVE_DIRECTED}),
    "read-media": frozenset({C.READ_MEDIA}),
    "read-files": frozenset({C.READ_FILES}),
}
KIBITZ_ACT: dict[str, frozenset[Capability]] = {
    "send-chat": frozenset({C.SEND_MESSAGE, C.SEND_BROADCAST}),
    "speak": frozenset({C.SPEAK}),
    "act": frozenset({C.ACTION_FACTION}),
}

_NAMES: dict[str, frozenset[Capability]] = {
    **{c.value: frozenset({c}) for c in Capability},
    **BRIDGE_NAMES,
    **{name: atoms for name, atoms in (KIBITZ_PERCEIVE | KIBITZ_ACT).items() if "-" in name},
    "act": frozenset({C.ACTION_FACTION}),
}


def capabilities(names: Iterable[str]) -> frozenset[Capability]:
    """The atoms that names of any family stand for."""
    held: set[Capability] = set()
    for name in names:
        atoms = _NAMES.get(name) or _NAMES.get(name.replace("-", "_"))
        if atoms is None:
            raise BadArgs(f"there is no capability {name!r}", did_you_mean=nearest(name, list(_NAMES), 3))
        held |= atoms
    return frozenset(held)


def names_held(held: frozenset[Capability], family: dict[str, frozenset[Capability]]) -> list[str]:
    """The names of one family that ``held`` covers wholly, in the family's order."""
    return [name for name, atoms in family.items() if atoms <= held]


class Grant(Struct, frozen=True, omit_defaults=True):
    """What somebody may perceive and do, through whose seat, and until when (ms; None: no end)."""

    may: tuple[Capability, ...] = ()
    through: str | None = None
    expires_at: int | None = None

    @classmethod
    def of(cls, names: Iterable[str], through: str | None = None, expires_at: int | None = None) -> "Grant":
        held = capabilities(names)
        return cls(tuple(c for c in Capability if c in held), through, expires_at)


_TALK = {C.READ_ROSTER, C.READ_CHAT, C.RECEIVE_DIRECTED, C.SEND_MESSAGE}
_MEDIA = {C.SEE_SCREEN, C.HEAR_AUDIO, C.READ_MEDIA, C.READ_FILES, C.SPEAK}
_PLAY = _TALK | {C.WATCH, C.READ_OWN_FACTION, C.ACTION_FACTION, C.ADVANCE_TIME, C.SEE_SCREEN}
_OBSERVE = _TALK | {C.WATCH, C.READ_OWN_FACTION, C.READ_ALL, C.SEE_SCREEN}

ROLES: dict[str, frozenset[Capability]] = {
    "god": frozenset(Capability),
    "faction_player": frozenset(_PLAY),
    "observer": frozenset(_OBSERVE),
    "narrator": frozenset(_OBSERVE | {C.SEND_BROADCAST}),
    "human": frozenset(_PLAY | _MEDIA | {C.SEND_BROADCAST}),
    "agent": frozenset({C.WATCH, C.READ_ROSTER, C.READ_CHAT, C.RECEIVE_DIRECTED}),
    "host": frozenset(_TALK | _MEDIA | {C.WATCH, C.SEND_BROADCAST, C.ADVANCE_TIME, C.CONTROL_WORLD, C.MANAGE_MEMBERS}),
}
"""A role is a named grant."""
ROLE_ALIASES = {"player": "faction_player", "faction": "faction_player"}


def role_named(name: str) -> str:
    """The role a name stands for; aliases resolved."""
    role = ROLE_ALIASES.get(name, name)
    if role not in ROLES:
        known = list(ROLES) + list(ROLE_ALIASES)
        raise BadArgs(f"there is no role {name!r}", did_you_mean=nearest(name, known, 3))
    return role
