"""What a member may perceive and do: capabilities, roles, and the layers of a grant.

A member holds what the fold of its layers gives::

    held = (role ∪ additions) ∩ limits

The role comes with the membership. An *addition* gives more: permanently, or as a loan until a given time. A *limit*
is a ceiling that a host puts over everything else.

Other protocols have names of their own for these capabilities. They register them with `add_aliases`, so one
check serves all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest


class Capability(StrEnum):
    """One thing a grant can give."""

    # perceive
    WATCH = "watch"  # the public part of the world, and what happens there
    READ_OWN = "read_own"  # what the member's own seat sees
    READ_ALL = "read_all"  # everything in the world
    READ_ROSTER = "read_roster"  # who is in the room
    READ_CHAT = "read_chat"  # messages to everybody or to the member's team
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
    SEND_MESSAGE = "send_message"  # write to one member, or to the member's team
    SEND_BROADCAST = "send_broadcast"  # write to everybody
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
"""Worth nothing without a seat, so every host can give them: they say who plays, not what a host may see."""

# -- names ----------------------------------------------------------------------------------------
Names = Mapping[str, frozenset[Capability]]
"""Names of another protocol, and the capabilities that each of them stands for."""
_names: dict[str, frozenset[Capability]] = {c.value: frozenset({c}) for c in Capability}
_families: dict[str, Names] = {}


def add_aliases(family: str, names: Names) -> None:
    """Let the names of another protocol be used wherever capabilities are named. Ours win where both have one."""
    _families[family] = names
    for name, meant in names.items():
        _names.setdefault(name, meant)


def alias_families() -> dict[str, Names]:
    """The names of other protocols that are known, by protocol."""
    return dict(_families)


def capabilities(names: Iterable[str]) -> frozenset[Capability]:
    """The capabilities that these names stand for, whichever protocol they come from."""
    held: set[Capability] = set()
    for name in names:
        meant = _names.get(name) or _names.get(name.replace("-", "_"))
        if meant is None:
            raise BadArgs(f"there is no capability {name[:80]!r}", did_you_mean=nearest(name, list(_names), 3))
        held |= meant
    return frozenset(held)


def names_held(held: frozenset[Capability], family: Names) -> list[str]:
    """The names of one protocol whose capabilities are all held, in that protocol's order."""
    return [name for name, meant in family.items() if meant <= held]


def in_order(held: Iterable[Capability]) -> tuple[Capability, ...]:
    """Capabilities in the order of their declaration, so that equal sets are written alike."""
    held = frozenset(held)
    return tuple(c for c in Capability if c in held)


# -- layers ---------------------------------------------------------------------------------------
class Layer(Struct, frozen=True, omit_defaults=True):
    """One reason why a member holds capabilities, or holds them no longer.

    ``addition``: gives ``may``; once it has expired it drops out. ``limit``: nothing but ``may`` is held; once it has
    expired it is empty, and so nothing is held. ``lifts``: the limit lets through what this addition gives, as long
    as the addition is there (a loan to a member that has a limit).
    """

    kind: Literal["addition", "limit"]
    may: tuple[Capability, ...] = ()
    expires_at: int | None = None  # ms; None: no end
    lifts: bool = False

    def without(self, taken: frozenset[Capability]) -> "Layer":
        return Layer(self.kind, tuple(c for c in self.may if c not in taken), self.expires_at, self.lifts)


def fold(role: frozenset[Capability], layers: Iterable[Layer]) -> frozenset[Capability]:
    """What a member holds by its role and these layers."""
    given, allowed, lifted = set(role), set(EVERYTHING), set[Capability]()
    for layer in layers:
        if layer.kind == "limit":
            allowed &= set(layer.may)
        else:
            given |= set(layer.may)
            if layer.lifts:
                lifted |= set(layer.may)
    return frozenset(given & (allowed | lifted))


FOREVER = 2**62
"""A time (ms) after every expiry."""


def held_at(role: frozenset[Capability], layers: Sequence[Layer], at: int) -> frozenset[Capability]:
    """What a member will hold at a later time if nobody changes its layers."""
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
_role_aliases: dict[str, str] = {}


def add_role_aliases(names: Mapping[str, str]) -> None:
    """Let the role names of another protocol be used wherever a role is named."""
    _role_aliases.update(names)


def role_named(name: str) -> str:
    """The role that a name stands for; aliases resolved."""
    role = _role_aliases.get(name, name)
    if role not in ROLES:
        known = [*ROLES, *_role_aliases]
        raise BadArgs(f"there is no role {name[:80]!r}", did_you_mean=nearest(name, known, 3))
    return role
