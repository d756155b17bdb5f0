"""Former members: how hosts name them, and their limits. A member that a host has limited does not lose that by leaving
and coming back."""

from collections import Counter
from collections.abc import Mapping

from cohabit.errors import Conflict
from cohabit.model.grant import EVERYTHING, Layer
from cohabit.room.state import HANDLE_SEPARATOR, KeptLimits, Member, RoomState, handle_of

LIMITED_KEPT = 1_000
"""The number of identities whose limits a room remembers after they left; the oldest are forgotten."""
Former = Mapping[str, str]
"""The ids of former members by identity. An id is never used again in a room, but a handle may be."""


def names_of(state: RoomState, former: Former) -> list[str]:
    """The name of each: the handle that it had, numbered where several had it, or a member has it now."""
    had = Counter(map(handle_of, former.values()))
    return [
        _numbered(member)
        if had[handle_of(member)] > 1 or state.with_handle(handle_of(member)) is not None
        else handle_of(member)
        for member in former.values()
    ]


def identity_of(former: Former, name: str) -> str | None:
    """The one identity that is called so."""
    for identity, member in former.items():
        if _numbered(member) == name:
            return identity
    found = {identity: member for identity, member in former.items() if handle_of(member) == name}
    if len(found) > 1:
        raise Conflict(
            f"{len(found)} former members were called {name}; name one of {', '.join(map(_numbered, found.values()))}"
        )
    return next(iter(found), None)


def _numbered(member: str) -> str:
    return member if HANDLE_SEPARATOR in member else f"{member}{HANDLE_SEPARATOR}1"


def keep_limits(state: RoomState, member: Member) -> None:
    """A member leaves: remember the limits that it did not join with."""
    state.limited.pop(member.identity, None)
    limits = [layer for layer in member.layers if _limits(layer) and layer not in member.given]
    if not member.identity or not limits:
        return
    state.limited[member.identity] = KeptLimits(member.id, member.role_name, list(member.given), limits)
    while len(state.limited) > LIMITED_KEPT:
        del state.limited[next(iter(state.limited))]


def take_limits(state: RoomState, identity: str, at: int) -> list[Layer]:
    """An identity joins: the limits that apply to it again. One that has expired meanwhile allows nothing."""
    kept = state.limited.pop(identity, None)
    if kept is None:
        return []
    if any(layer.has_expired(at) for layer in kept.limits):
        return [Layer("limit")]
    return kept.limits


def limited_members(state: RoomState) -> dict[str, str]:
    """The former members whose limits are kept, by identity."""
    return {identity: kept.member for identity, kept in state.limited.items()}


def _limits(layer: Layer) -> bool:
    return layer.kind == "limit" and (layer.expires_at is not None or layer.capabilities != EVERYTHING)
