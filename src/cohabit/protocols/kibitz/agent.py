"""An agent in a room, on any controller: what it perceives, and what it can do.

It has the names of Kibitz' own surface, in Python's spelling. The room enforces what an agent may do; ``read_only`` is
its own promise on top of that.
"""

import asyncio
import inspect
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

log = logging.getLogger("cohabit")
KEY = "__kib_agent"
"""The reserved key of an envelope: chat, view or act."""
Unsubscribe = Callable[[], None]
Listener = Callable[..., Any]
"""A function or a coroutine function. A coroutine runs in a task of its own."""
Participant = dict[str, Any]
"""``id``, ``name``, and what else is known: ``isSelf``, ``here``, ``role``, ``features``, ``meta``."""
AppSchema = dict[str, Any]
"""``from``, ``name``, ``version`` and ``schema``."""


class ReadOnlyError(RuntimeError):
    """A read-only agent was asked to say or do something."""

    def __init__(self, what: str) -> None:
        super().__init__(f"this agent is read-only: it cannot {what}")


class Chat(Struct, frozen=True):
    """A chat message. ``name`` is from the roster, and empty if the roster does not have the sender."""

    sender: str
    name: str
    text: str
    directed: bool = False  # to this agent alone


class Controller(Protocol):
    """The part of a room that an agent needs. A controller may also have ``get_schemas``, ``on_schema``,
    ``get_view`` and ``view_owner``."""

    def broadcast(self, data: Any) -> Awaitable[Any]: ...

    def send_to(self, data: Any, to: str) -> Awaitable[Any]: ...

    def on_message(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(data, sender)`` for what others send."""

    def get_participants(self) -> Sequence[Participant]: ...

    def on(self, event: str, listener: Listener) -> Unsubscribe:
        """Call ``listener(people)`` when the event ``participants`` happens."""

    def set_meta(self, meta: Mapping[str, Any]) -> Awaitable[Any]: ...

    def leave(self) -> Awaitable[Any]: ...


class Bridge(Protocol):
    """An app that shows one participant a view of its own."""

    def on_view(self, listener: Listener) -> Unsubscribe: ...

    def get_view(self) -> Any: ...

    def on_chat(self, listener: Listener) -> Unsubscribe: ...

    def say(self, text: str) -> Awaitable[Any]: ...


class Listeners:
    """Additive listeners. One that fails does not stop the others."""

    def __init__(self) -> None:
        self._all: dict[object, Listener] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def add(self, listener: Listener) -> Unsubscribe:
        entry = object()
        self._all[entry] = listener

        def remove() -> None:
            self._all.pop(entry, None)

        return remove

    def tell(self, *args: Any) -> None:
        for listener in list(self._all.values()):
            try:
                made = listener(*args)
                if inspect.iscoroutine(made):
                    task = asyncio.get_running_loop().create_task(made)
                    self._tasks.add(task)
                    task.add_done_callback(self._ended)
            except Exception:
                log.exception("a listener failed")

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (wrong := task.exception()) is not None:
            log.error("a listener failed", exc_info=wrong)


def envelope_kind(data: Any) -> str | None:
    """The kind of an envelope; None for data that is none."""
    kind = data.get(KEY) if isinstance(data, dict) else None
    return kind if isinstance(kind, str) else None


class Agent:
    """See ``create_agent``."""

    def __init__(self, controller: Controller, read_only: bool) -> None:
        self._controller = controller
        self.can_act = not read_only
        self._chats, self._views, self._data = Listeners(), Listeners(), Listeners()
        owned = getattr(controller, "get_view", None)
        self._view: Any = owned() if owned is not None else None
        self._first_owner: str | None = None
        self._stop = controller.on_message(self._on_message)

    # -- perceiving -------------------------------------------------------------------------------
    def on_view(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(view)`` for each view of the app that owns it."""
        return self._views.add(listener)

    def get_view(self) -> Any:
        """The newest view; None before the first."""
        return self._view

    def on_chat(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(chat)`` for what others say."""
        return self._chats.add(listener)

    def on_data(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(data, sender)`` for data that is no envelope."""
        return self._data.add(listener)

    def on_roster(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(people)`` when the roster changes."""
        return self._controller.on("participants", listener)

    def get_roster(self) -> Sequence[Participant]:
        return self._controller.get_participants()

    def on_schema(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(schema)`` when an app publishes a schema."""
        offered = getattr(self._controller, "on_schema", None)
        return offered(listener) if offered is not None else lambda: None

    def get_schemas(self) -> Sequence[AppSchema]:
        """The schemas that apps have published."""
        offered = getattr(self._controller, "get_schemas", None)
        return offered() if offered is not None else []

    # -- acting -----------------------------------------------------------------------------------
    async def say(self, text: str) -> Any:
        self._check("say")
        return await self._controller.broadcast({KEY: "chat", "text": text})

    async def act(self, action: Any) -> Any:
        """Ask the app, or the world of the room, to do something."""
        self._check("act")
        return await self._controller.broadcast({KEY: "act", "action": action})

    async def send(self, data: Any, to: str | None = None) -> Any:
        """Send data to everyone, or to one member. The room does not read it."""
        self._check("send")
        return await (self._controller.broadcast(data) if to is None else self._controller.send_to(data, to))

    async def leave(self) -> None:
        self._stop()
        await self._controller.leave()

    # -- inside -----------------------------------------------------------------------------------
    def _check(self, what: str) -> None:
        if not self.can_act:
            raise ReadOnlyError(what)

    def _on_message(self, data: Any, sender: str) -> None:
        kind = envelope_kind(data)
        if kind is None:
            self._data.tell(data, sender)
        elif kind == "chat":
            names = (person["name"] for person in self._controller.get_participants() if person["id"] == sender)
            self._chats.tell(Chat(sender, next(names, ""), str(data.get("text", "")), bool(data.get("dm"))))
        elif kind == "view" and self._owns_view(sender):
            self._view = data.get("view")
            self._views.tell(self._view)

    def _owns_view(self, sender: str) -> bool:
        """A view counts only if it comes from the app that owns it."""
        owner = getattr(self._controller, "view_owner", None)
        if owner is not None:
            return bool(owner() == sender)
        here = any(person["id"] == self._first_owner for person in self._controller.get_participants())
        if self._first_owner is None or not here:
            self._first_owner = sender
        return self._first_owner == sender


async def create_agent(
    controller: Controller, *, read_only: bool = False, backend: str | None = None, egress: bool | None = None
) -> Agent:
    """An agent in a room. ``backend``: the model that gets what it sees; ``egress``: what it sees leaves the room.

    A read-only agent only perceives: ``say``, ``act`` and ``send`` raise.
    """
    meta: dict[str, Any] = {"role": "agent", "readOnly": read_only}
    if backend is not None:
        meta["backend"] = backend
    if backend is not None or egress is not None:
        meta["egress"] = backend is not None or egress
    await controller.set_meta(meta)
    return Agent(controller, read_only)


class BridgeAgent:
    """See ``create_agent_from_bridge``."""

    def __init__(self, bridge: Bridge, read_only: bool) -> None:
        self._bridge = bridge
        self.can_act = not read_only
        self.on_view, self.get_view, self.on_chat = bridge.on_view, bridge.get_view, bridge.on_chat

    async def say(self, text: str) -> Any:
        if not self.can_act:
            raise ReadOnlyError("say")
        return await self._bridge.say(text)


def create_agent_from_bridge(bridge: Bridge, *, read_only: bool = False) -> BridgeAgent:
    """An agent on an app that shows it a view of its own, such as one player's hand. It only perceives and talks."""
    return BridgeAgent(bridge, read_only)


class Cooldown:
    """A gate for remarks: ``ready`` once ``ms`` have passed since the last ``stamp``. Answers to people can skip it."""

    def __init__(self, ms: float) -> None:
        self.ms = ms
        self._last = -math.inf

    def ready(self, now: float) -> bool:
        return now - self._last >= self.ms

    def stamp(self, now: float) -> None:
        self._last = now


def cooldown(ms: float) -> Cooldown:
    """A ``Cooldown`` of ``ms`` milliseconds."""
    return Cooldown(ms)
