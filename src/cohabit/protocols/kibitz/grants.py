"""Grants in the vocabulary of Kibitz, as values: for apps and agents that are written against it.

The house enforces its own, finer grants (``cohabit.model.grant``). These functions decide nothing there.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from cohabit.model.grant import Capability, Names, add_aliases

C = Capability
# Capability names of Kibitz, a protocol for agents in shared rooms, as aliases of Cohabit's.
PERCEIVE: Names = {
    "see-screen": frozenset({C.SEE_SCREEN}),
    "hear-audio": frozenset({C.HEAR_AUDIO}),
    "read-chat": frozenset({C.READ_CHAT, C.WATCH}),
    "read-roster": frozenset({C.READ_ROSTER}),
    "receive-directed": frozenset({C.RECEIVE_DIRECTED}),
    "read-media": frozenset({C.READ_MEDIA}),
    "read-files": frozenset({C.READ_FILES}),
}
ACT: Names = {
    "send-chat": frozenset({C.SEND_MESSAGE, C.SEND_BROADCAST}),
    "speak": frozenset({C.SPEAK}),
    "act": frozenset({C.ACT}),
}

add_aliases("kibitz", {**PERCEIVE, **ACT})

MAX_BACKEND = 80
"""Characters of a backend's name."""
WATCH_ONLY = ("read-chat", "read-roster", "receive-directed")
"""The default capabilities of an agent: it perceives, and does nothing."""


class Grant(Struct, frozen=True, omit_defaults=True, rename={"expires_at": "expiresAt"}):
    """The permissions of a participant. ``expires_at`` is in seconds since 1970."""

    perceive: tuple[str, ...] = ()
    act: tuple[str, ...] = ()
    backend: str | None = None
    egress: bool = False
    expires_at: float | None = None

    def to_wire(self) -> dict[str, Any]:
        """As JSON has it, with both lists."""
        given: dict[str, Any] = msgspec.to_builtins(self)
        return {**given, "perceive": list(self.perceive), "act": list(self.act)}


class Summary(Struct, frozen=True):
    """Every capability, in one of two lists."""

    can: tuple[str, ...]
    cannot: tuple[str, ...]


NOTHING = Grant()
EVERYTHING = Grant(tuple(PERCEIVE), tuple(ACT))


def default_grant(kind: Literal["human", "agent"]) -> Grant:
    """A person may do everything, an agent only watch."""
    return Grant(WATCH_ONLY) if kind == "agent" else EVERYTHING


def can(grant: Grant | None, capability: str) -> bool:
    """True if a grant contains a capability. It ignores the expiry; see ``effective_grant``."""
    return grant is not None and (capability in grant.perceive or capability in grant.act)


def is_expired(grant: Grant, now: float) -> bool:
    """True if a grant has expired. The second ``expires_at`` counts as expired."""
    return grant.expires_at is not None and now >= grant.expires_at


def effective_grant(grant: Grant | None, now: float) -> Grant:
    """The grant at a time. One that is missing or has expired gives nothing, not the default."""
    return NOTHING if grant is None or is_expired(grant, now) else grant


def sanitize_grant(raw: Any) -> Grant:
    """A valid grant from any JSON. Unknown names are dropped."""
    if isinstance(raw, Grant):
        raw = raw.to_wire()
    if not isinstance(raw, Mapping):
        return NOTHING
    backend, expires = raw.get("backend"), raw.get("expiresAt")
    is_time = isinstance(expires, int | float) and not isinstance(expires, bool) and expires > 0
    return Grant(
        _known(raw.get("perceive"), PERCEIVE),
        _known(raw.get("act"), ACT),
        backend[:MAX_BACKEND] if isinstance(backend, str) and backend else None,
        bool(raw.get("egress")),
        expires if is_time else None,
    )


def intersect_grant(request: Grant, allowed: Grant) -> Grant:
    """The intersection of both grants. It expires with the first of them, and has the disclosure of the request."""
    ends = [grant.expires_at for grant in (request, allowed) if grant.expires_at is not None]
    return Grant(
        tuple(name for name in request.perceive if name in allowed.perceive),
        tuple(name for name in request.act if name in allowed.act),
        request.backend,
        request.egress,
        min(ends, default=None),
    )


def grant_summary(grant: Grant) -> Summary:
    """The capabilities that a grant contains, and those that it does not."""
    names = (*PERCEIVE, *ACT)
    return Summary(tuple(n for n in names if can(grant, n)), tuple(n for n in names if not can(grant, n)))


def _known(names: Any, known: Iterable[str]) -> tuple[str, ...]:
    if not isinstance(names, list | tuple):
        return ()
    known = frozenset(known)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name in known))
