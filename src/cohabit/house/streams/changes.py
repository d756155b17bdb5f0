"""Maps the pushes of a room to topics: which kinds of things changed, without their content.

A command that is also a resource declares the topics after which a client should read it again.
"""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw, Struct

Topics = frozenset[str]
"""The parts of a room that changed: `view`, `events`, `messages`, `roster`, `rights`."""
VIEW: Topics = frozenset({"view"})
RIGHTS: Topics = frozenset({"rights"})
EVENTS: Topics = frozenset({"events"})
ROSTER: Topics = frozenset({"roster"})
BY_KIND: Mapping[str, Topics] = {
    "chat": frozenset({"events", "messages"}),
    "direct": frozenset({"events", "messages"}),
    "roster": frozenset({"events", "roster"}),
    "app view": frozenset({"events", "view"}),
    "direct app view": frozenset({"events", "view"}),
}
"""By the kind of a feed item. Other kinds are events only."""
BY_ENTRY: Mapping[str, Topics] = {"publish_schema": EVENTS | RIGHTS}
"""By the name of the entry, in place of its kind: a schema may describe the actions of an app, and is no view."""


class Item(Struct):
    kind: str = "info"
    do: str = ""

    @property
    def topics(self) -> Topics:
        return BY_ENTRY.get(self.do) or BY_KIND.get(self.kind, EVENTS)


class Push(Struct):
    """The part of a push that says what changed."""

    push: str
    items: list[Item] = []
    view: Raw = Raw()


_decode = msgspec.json.Decoder(Push).decode


class Changes:
    """Pass the frames of one subscription to ``pushed``; ``callback`` is called with the topics of each.

    A view that equals the last one is not a change: it must not reveal an event that the subscriber cannot see.
    """

    def __init__(self, callback: Callable[[Topics], None]) -> None:
        self._callback = callback
        self._view: bytes | None = None

    def begin(self, frame: bytes) -> bool:
        """Use a frame as the first view, which is not a change. Returns False if it is not a view."""
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
                self._callback(VIEW)
        elif push.push == "grant":
            self._callback(RIGHTS)
        elif push.items:
            self._callback(frozenset().union(*(item.topics for item in push.items)))
        return True
