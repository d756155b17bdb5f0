"""The amounts that left the house for one backend, by kind."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

SentKind = Literal[
    "views", "events", "messages", "actions", "queries", "pictures", "files", "data", "app views", "front ends",
    "lists", "sound", "screens", "refusals", "protocol", "other",
]  # fmt: skip
"""The kind of a reply or a pushed frame. ``actions``: replies to actions, with what the player sees after them.
``queries``: what a world answers, such as files of a workspace. ``lists``: commands, rules and introductions.
``protocol``: what a protocol adds, such as the handshake of MCP."""

NO_LIMIT = 2**62
"""A budget without a limit."""
STEP, STEP_TIMES = 65_536, 100
"""The size of a view tells something about what is in it. So while a game in a sealed room runs, others learn of the
counts in these steps only: of bytes, and of replies."""
OF_EVENTS: Mapping[str, SentKind] = MappingProxyType({
    "chat": "messages", "direct": "messages", "data": "data", "direct data": "data", "app action": "data",
    "image": "pictures", "direct image": "pictures", "file": "files", "direct file": "files",
    "app view": "app views", "direct app view": "app views",
})  # fmt: skip
"""The kind of a pushed frame whose events are all of this kind; others are ``events``."""
UNKNOWN = "unknown"
"""The backend of a member that has disclosed nothing."""
ELSEWHERE = "elsewhere"
"""The backend of a member that sends what it sees outside this house, and has not named it."""
THIS_HOUSE = "this house"
"""The backend of a member that says that it sends nothing on."""
OTHERS = "others"
"""Further backends of a member that has named very many."""


class Amount(Struct, gc=False):
    times: int = 0
    bytes: int = 0


class Sent(Struct):
    """The totals that one backend of one member got in a room."""

    who: str  # the identity; of a member without one, its id
    handle: str
    backend: str
    outside: bool | None = None  # by its own account, or as the house knows it; None: it has not said
    first: int = 0  # when it began, in milliseconds
    last: int = 0
    kinds: dict[str, Amount] = {}

    @property
    def bytes(self) -> int:
        return sum(amount.bytes for amount in self.kinds.values())
