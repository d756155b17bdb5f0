"""A controller of a room in a house, for agents. It reconnects by itself and resumes where it was.

Envelopes become commands of the house, and events become envelopes: chat is ``send_message``, a view ``publish_view``,
an act ``request_action`` or an action of the room's world, everything else ``send_data``. The sender of what arrives is
always the member that sent it, as the house knows it.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from typing import Any, Literal

from cohabit.client import Client, ConnectionLost, Push, WsClient, connect_url
from cohabit.errors import BadArgs, CohabitError, PermissionDenied, Unauthorized, UnknownRoom, Unreachable
from cohabit.protocols.kibitz.agent import KEY, AppSchema, Listener, Listeners, Participant, Unsubscribe, envelope_kind

WORLD = "#world"
"""The sender of views that the room's world makes. No member can have this handle."""
FIRST_RETRY_S, MAX_RETRY_S = 0.3, 8.0
RETRY_SUBSCRIBING_S = 15.0
JOIN_WAIT_MS = 20_000
OpenClient = Callable[[str], AbstractAsyncContextManager[Client]]


async def open_room(
    url: str,
    token: str,
    room: str | None = None,
    *,
    app: str | None = None,
    features: Sequence[str] | None = None,
    media: bool = False,
) -> "RoomController":
    """A controller of a room in the house at this address.

    ``app``: the member whose views count, if the room has several apps. ``media``: receive audio and screens.
    """
    controller = RoomController(
        lambda token: connect_url(url, token, room), token, room, app=app, features=features, media=media
    )
    return await controller.open()


class NewToken(Exception):
    """A shared invite was accepted: the house gave this member a token of its own, and it connects with that."""


class RoomController:
    """See the module. ``open_client`` makes a new client for each connection, from a token."""

    def __init__(
        self,
        open_client: OpenClient,
        token: str,
        room: str | None = None,
        *,
        app: str | None = None,
        features: Sequence[str] | None = None,
        media: bool = False,
    ) -> None:
        self.room = room
        self.id = ""
        self.token = token  # with a shared invite, later the one that the house gave to this member
        self._open_client = open_client
        self._app, self._features, self._wants_media = app, features, media
        self._messages, self._rosters, self._schema_listeners = Listeners(), Listeners(), Listeners()
        self._refusals, self._media = Listeners(), Listeners()
        self._people: list[Participant] = []
        self._schemas: dict[tuple[str, str], AppSchema] = {}
        self._view: Any = None
        self._owner: str | None = app
        self._is_played = True
        self._cursor: str | None = None
        self._client: Client | None = None
        self._connected = asyncio.Event()
        self._try_again = asyncio.Event()  # to subscribe, although the grant did not allow it before
        self._ended: CohabitError | None = None
        self._stale: set[str] = set()  # the parts that have changed in the house: the roster, or the schemas
        self._refreshing: asyncio.Task[None] | None = None
        self._running: asyncio.Task[None] | None = None

    async def open(self) -> "RoomController":
        """Connect. Raises if that fails the first time; later the controller reconnects by itself."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running = asyncio.get_running_loop().create_task(self._run(opened))
        await opened
        return self

    # -- sending ----------------------------------------------------------------------------------
    async def broadcast(self, data: Any) -> Any:
        return await self._deliver(data, None)

    async def send_to(self, data: Any, to: str) -> Any:
        return await self._deliver(data, to)

    async def _deliver(self, data: Any, to: str | None) -> Any:
        kind = envelope_kind(data)
        directed = {} if to is None else {"to": to}
        if kind is None:
            return await self.call("send_data", {"data": data, **directed})
        if kind == "chat":
            return await self.call("send_message", {"to": to or "*", "content": data.get("text")})
        if kind == "view":
            return await self.call("publish_view", {"view": data.get("view"), "to": None if to is None else [to]})
        if kind == "act":
            action = data.get("action")
            of_world = self._is_played and to is None and isinstance(action, dict) and "action" in action
            return await (
                self.call("act", action) if of_world else self.call("request_action", {"action": action, "app": to})
            )
        return None  # an envelope of an unknown kind reaches nobody

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        """Call a command of the house, exactly once: it is repeated, with the same key, if the connection is lost."""
        key = secrets.token_hex(16)
        while True:
            await self._connected.wait()
            client = self._client
            if client is None:
                raise self._ended or Unreachable("this controller has left the room")
            try:
                return await client.call(command, args, room=self.room, key=key)
            except (ConnectionLost, Unreachable):
                if self._ended is not None:
                    raise
                if self._client is client:
                    self._connected.clear()
            except CohabitError as refusal:
                self._refusals.tell(refusal)
                raise

    async def send_media(self, lane: Literal["audio", "screen"], payload: bytes) -> None:
        """Send a frame of sound or of a screen. Frames are not repeated, and nobody is told if one does not arrive."""
        if isinstance(self._client, WsClient):
            with suppress(CohabitError):
                await self._client.send_media(lane, payload)

    async def register_schema(self, name: str, version: str, schema: Any) -> None:
        await self.call("publish_schema", {"name": name, "version": version, "schema": schema})

    async def set_meta(self, meta: Mapping[str, Any]) -> None:
        """Disclose the backend and the egress. The role cannot be set: it comes from the credential."""
        if "backend" not in meta and "egress" not in meta and self._features is None:
            return
        said = {"backend": meta.get("backend"), "egress": bool(meta.get("egress")), "features": self._features}
        await self.call("disclose", said)
        self._try_again.set()

    async def leave(self) -> None:
        """Disconnect. The member stays in the roster of the house and can reconnect."""
        self._ended = self._ended or Unreachable("this controller has left the room")
        for task in (self._running, self._refreshing):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        self._client = None
        self._connected.set()  # those who wait get the reason

    # -- perceiving -------------------------------------------------------------------------------
    def on_message(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(data, sender)`` for what others send."""
        return self._messages.add(listener)

    def get_participants(self) -> list[Participant]:
        return self._people

    def on(self, event: str, listener: Listener) -> Unsubscribe:
        """``participants``: the roster has changed. ``refused``: the house refused a call, or ended the connection."""
        return {"participants": self._rosters, "refused": self._refusals}[event].add(listener)

    def get_schemas(self) -> list[AppSchema]:
        return list(self._schemas.values())

    def on_schema(self, listener: Listener) -> Unsubscribe:
        return self._schema_listeners.add(listener)

    def on_media(self, listener: Listener) -> Unsubscribe:
        """Call ``listener(lane, payload, sender)`` for each frame of sound or of a screen."""
        return self._media.add(listener)

    def get_view(self) -> Any:
        """The newest view of the app or the world that owns it."""
        return self._view

    def view_owner(self) -> str | None:
        """The owner of the views: the room's world if there is a game, else the app that published first."""
        return self._owner

    # -- the connection ---------------------------------------------------------------------------
    async def _run(self, opened: "asyncio.Future[None]") -> None:
        """Keep a connection until the controller leaves, or the house refuses it."""
        attempts = 0
        while True:
            wait = min(MAX_RETRY_S, FIRST_RETRY_S * 2**attempts)
            try:
                async with self._open_client(self.token) as client:
                    await self._begin(client)
                    attempts = 0
                    await self._follow(client, opened)
            except NewToken:
                continue
            except CohabitError as wrong:
                if not opened.done() or isinstance(wrong, Unauthorized | UnknownRoom):
                    self._end(wrong, opened)
                    return
                attempts += 1
            await asyncio.sleep(wait)

    def _end(self, reason: CohabitError, opened: "asyncio.Future[None]") -> None:
        self._ended, self._client = reason, None
        self._connected.set()
        self._refusals.tell(reason)
        if not opened.done():
            opened.set_exception(reason)

    async def _begin(self, client: Client) -> None:
        me = await self._who_am_i(client)
        self.id, self.room = me["handle"], me["room"]
        self._is_played = (await client.call("session_info", room=self.room)).get("is_played", True)
        if self._owner is None and self._is_played:
            self._owner = WORLD
        self._client = client
        self._connected.set()

    async def _who_am_i(self, client: Client) -> Any:
        """The member of this token. With that of an invite it joins first, and waits in the lobby if there is one."""
        try:
            return await client.call("whoami", room=self.room)
        except UnknownRoom:
            joined = await client.call("join", {"wait_ms": JOIN_WAIT_MS}, room=self.room)
            if joined.get("token"):
                self.token = joined["token"]
                raise NewToken from None
            while joined["status"] in ("waiting", "locked"):
                joined = await client.call("join", {"wait_ms": JOIN_WAIT_MS}, room=self.room)
            if joined["status"] != "joined":
                raise Unauthorized("a host denied you entry") from None
            return await client.call("whoami", room=self.room)

    async def _follow(self, client: Client, opened: "asyncio.Future[None]") -> None:
        """Pass on what is pushed, from the last cursor. Without the right to see anything, try again later."""
        try:
            while True:
                self._try_again.clear()
                try:
                    await self._catch_up(client)
                    _set_done(opened)
                    await self._pass_on(client)
                except BadArgs:  # the events after the cursor are no longer kept
                    self._cursor = None
                except PermissionDenied:
                    _set_done(opened)
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._try_again.wait(), RETRY_SUBSCRIBING_S)
        finally:
            self._client = None
            self._connected.clear()

    async def _catch_up(self, client: Client) -> None:
        if self._cursor is None:
            self._cursor = str((await client.call("events", {"last": 1}, room=self.room))["cursor"])
            await self._fetch_app_view(client)
        await self._fetch_schemas(client)
        await self._fetch_roster(client)

    async def _pass_on(self, client: Client) -> None:
        async with aclosing(self._pushes(client)) as pushes:
            async for push in pushes:
                self._push(push)

    def _pushes(self, client: Client) -> Any:
        if self._wants_media and isinstance(client, WsClient):
            client.on_media = self._media.tell
            return client.subscribe(self._cursor, self._is_played, room=self.room, media=True)
        return client.subscribe(self._cursor, self._is_played, room=self.room)

    async def _fetch_app_view(self, client: Client) -> None:
        if self._is_played and self._app is None:
            return
        found = await self._read_or(client, "app_view", {"app": self._app}, {})
        if found.get("app"):
            self._on_view(found.get("view"), found["app"])

    async def _fetch_schemas(self, client: Client) -> None:
        found = await self._read_or(client, "app_schemas", {}, {"schemas": []})
        fresh = []
        for line in found["schemas"]:
            made = {"from": line["app"], **{key: line[key] for key in ("name", "version", "schema")}}
            if self._schemas.get((line["app"], line["name"])) != made:
                fresh.append(made)
            self._schemas[line["app"], line["name"]] = made
        for made in fresh:
            self._schema_listeners.tell(made)

    async def _fetch_roster(self, client: Client) -> None:
        found = await self._read_or(client, "roster", {}, {"members": []})
        self._people = [self._participant(line) for line in found["members"]]
        self._rosters.tell(self._people)

    def _participant(self, line: Mapping[str, Any]) -> Participant:
        meta = {name: line[name] for name in ("backend", "egress") if line.get(name)}
        if line["kind"] == "agent":
            meta["role"] = "agent"
        return {
            "id": line["handle"], "name": line.get("name") or line["handle"], "isSelf": line["handle"] == self.id,
            "here": line["here"], "role": "host" if line["role"] == "host" else "guest",
            "features": line.get("features", []), "meta": meta,
        }  # fmt: skip

    async def _read_or(self, client: Client, command: str, args: Mapping[str, Any], nothing: Any) -> Any:
        """The reply of a command, or ``nothing`` where the grant does not allow it."""
        try:
            return await client.call(command, args, room=self.room)
        except (ConnectionLost, Unreachable):
            raise
        except CohabitError:
            return nothing

    # -- pushes -----------------------------------------------------------------------------------
    def _push(self, push: Push) -> None:
        if push["push"] == "events":
            for item in push["items"]:
                self._on_event(item)
            self._cursor = push["cursor"]
        elif push["push"] == "view":
            self._on_view(push["view"], WORLD)
        elif push["push"] == "grant":
            self._refresh("roster")
        elif push["push"] == "refused":
            self._refusals.tell(CohabitError(push["error"]["message"]))

    def _on_event(self, item: Mapping[str, Any]) -> None:
        kind, by = item.get("kind", "info"), item.get("by")
        if kind == "roster":
            self._refresh("roster")
        if item["do"] == "publish_schema":
            self._refresh("schemas")
        if by is None or by == self.id:  # a sender does not receive its own messages
            return
        if kind in ("chat", "direct"):
            directed = {"dm": True} if kind == "direct" else {}
            self._messages.tell({KEY: "chat", "text": spoken(item), **directed}, by)
        elif item["do"] == "publish_view":
            self._on_view(item.get("data"), by)
        elif kind == "app action":
            self._messages.tell({KEY: "act", "action": item.get("data")}, by)
        elif item["do"] == "send_data" and envelope_kind(item.get("data")) is None:
            self._messages.tell(item.get("data"), by)

    def _on_view(self, view: Any, sender: str) -> None:
        if self._owner is None:
            self._owner = sender
        if sender == self._owner:
            self._view = view
        self._messages.tell({KEY: "view", "view": view}, sender)

    def _refresh(self, what: str) -> None:
        """Fetch something again, soon: one request for all changes that arrive together."""
        self._stale.add(what)
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.get_running_loop().create_task(self._fetch_stale())

    async def _fetch_stale(self) -> None:
        with suppress(CohabitError):  # the connection is lost: all is fetched with the next one
            while self._stale and (client := self._client) is not None:
                fetch = {"roster": self._fetch_roster, "schemas": self._fetch_schemas}[self._stale.pop()]
                await fetch(client)


def _set_done(opened: "asyncio.Future[None]") -> None:
    if not opened.done():
        opened.set_result(None)


def spoken(item: Mapping[str, Any]) -> str:
    """The words of a message: its text is "AUTHOR to RECEIVER: WORDS"."""
    text, head = str(item["text"]), f"{item['by']} to "
    return text.removeprefix(head).partition(": ")[2] if text.startswith(head) else text
