"""How hosts name former members: by the handle that they had, with a number where several had it."""

from collections import Counter
from collections.abc import Mapping

from cohabit.errors import Conflict
from cohabit.room.state import HANDLE_SEPARATOR, RoomState, handle_of

Former = Mapping[str, str]
"""The ids of former members by identity. An id is never used again in a room, but a handle may be."""


def names_of(state: RoomState, former: Former) -> list[str]:
    """What each of them is called. A handle that a member has now is not the name of a former one."""
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
