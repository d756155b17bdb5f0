"""From the pushes of a room to topics: which kinds of things changed, without what they are.

A command that can also be read as a resource declares the topics after which it is worth reading again.
"""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw, Struct

Topics = frozenset[str]
"""What of a room changed: `view`, `events`, `messages`, `roster`, `rights`."""
VIEW: Topics = frozenset({"view"})
RIGHTS: Topics = frozenset({"rights"})
EVENTS: Topics = frozenset({"events"})
BY_KIND: Mapping[str, Topics] = {
    "chat": frozenset({"events", "messages"}),
    "direct": frozenset({"events", "messages"}),
    "roster": frozenset({"events", "roster"}),
}
"""By the kind of an item of the feed. Other kinds are events only."""


class Item(Struct):
    kind: str = "info"


class Push(Struct):
    """A push, as far as it says what changed."""

    push: str
    items: list[Item] = []
    view: Raw = Raw()


_decode = msgspec.json.Decoder(Push).decode


class Changes:
    """Pass the frames of one subscription to ``pushed``; ``tell`` is called with the topics of each.

    Views are compared: one that is the same as the last is not a change, and must not reveal that something happened
    which the subscriber does not see.
    """

    def __init__(self, tell: Callable[[Topics], None]) -> None:
        self._tell = tell
        self._view: bytes | None = None

    def begin(self, frame: bytes) -> bool:
        """Take a frame as the first view, which is not a change; False if it is not a view."""
        push = _decode(frame)
        if push.push != "view":
            return False
        self._view = bytes(push.view)
        return True

    def pushed(self, frame: bytes) -> bool:
        """Always accepts the frame, so it can be the ``deliver`` of a subscription."""
        push = _decode(frame)
        if push.push == "view":
            before, self._view = self._view, bytes(push.view)
            if before != self._view:
                self._tell(VIEW)
        elif push.push == "grant":
            self._tell(RIGHTS)
        elif push.items:
            self._tell(frozenset().union(*(BY_KIND.get(item.kind, EVENTS) for item in push.items)))
        return True
