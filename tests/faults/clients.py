"""Clients of a cluster: they write and read over every interface, through any house, and log what happens.

They do what our documentation asks of a client: reconnect, repeat a call under the same idempotency key, and go on
from the last cursor.
"""

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

import httpx2

from cohabit.client import HttpClient, connect_url
from cohabit.errors import (
    AskerError,
    CohabitError,
    Disabled,
    OutcomeUnknown,
    Quarantined,
    StorageFailed,
    Unreachable,
)  # fmt: skip
from cohabit.testing.faces import Client
from tests.faces.doors import mcp_http

from .history import Call, History, Outcome, Page, Reading

FACES = ("http", "websocket", "mcp")
ANSWER_S = 15.0
"""A client that has no answer by then connects again, through any house."""
PAUSE_S = 0.04
AGAIN_S = 0.4
"""Pauses after a result, and after an error."""
GIVES_UP = 0.03
"""How often a client does not repeat a call that got no result."""
CHANGES_HOUSE = 0.03
NOTHING_DONE = (AskerError, StorageFailed, Disabled, Unreachable, Quarantined)
"""What these say of a call: that it had no effect."""
TRY_AGAIN = {"BUSY", "DISABLED", "STORAGE_FAILED", "UNREACHABLE", "OUTCOME_UNKNOWN"}
_MARK = re.compile(r"\[(\S+)\]|(counted \d+)")


def event_in(text: str) -> str:
    """The name of the event in the text of a feed: what a client said, or a number that the world counted."""
    found = _MARK.search(text)
    return "" if found is None else found[0]


def opening(face: str, url: str, token: str) -> AbstractAsyncContextManager[Client]:
    match face:
        case "http":
            return _http(url, token)
        case "mcp":
            return mcp_http(url, token, "auto")
        case _:
            return connect_url(url, token)


@asynccontextmanager
async def _http(url: str, token: str) -> AsyncIterator[Client]:
    """Our client, without reading certificates, which takes a tenth of a second of CPU."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60, verify=False) as http:
        yield HttpClient(http, None)


def _seen(done: "asyncio.Future[Any]") -> None:
    """It may fail after nobody waits for it any more."""
    if not done.cancelled():
        done.exception()


class Connection:
    """A client in a task of its own: whatever the libraries do when a connection breaks ends that task alone."""

    def __init__(self, face: str, url: str, token: str) -> None:
        self.url = url
        self._asked: asyncio.Queue[tuple[asyncio.Future[Any], tuple[Any, ...]]] = asyncio.Queue()
        self._is_open = False
        self._task = asyncio.ensure_future(self._serve(face, url, token))
        self._task.add_done_callback(_seen)

    async def _serve(self, face: str, url: str, token: str) -> None:
        async with opening(face, url, token) as client:
            self._is_open = True
            while True:
                answer, (command, args, room, key) = await self._asked.get()
                try:
                    result = await client.call(command, args, room=room, key=key)
                except CohabitError as refused:
                    answer.set_exception(refused)
                else:
                    answer.set_result(result)

    async def call(self, command: str, args: Mapping[str, Any], room: str, key: str | None) -> Any:
        """Raises the error of the house, or what a client says whose connection is lost."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_seen)
        self._asked.put_nowait((answer, (command, args, room, key)))
        await asyncio.wait([answer, self._task], timeout=ANSWER_S, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        wrong = self._task.exception() if self._task.done() and not self._task.cancelled() else None
        if isinstance(wrong, CohabitError):
            raise wrong
        if not self._is_open:
            raise Unreachable(f"no connection to {self.url}: {wrong!r}")
        raise OutcomeUnknown(f"no answer from {self.url}: {wrong!r}")

    def close(self) -> "asyncio.Task[None]":
        """Begin to close it. That may take as long as the house does not answer."""
        self._task.cancel()
        return self._task


class Caller:
    """One member of one room, over one interface, through any house."""

    def __init__(self, face: str, token: str, room: str, urls: Callable[[], Sequence[str]], chance: random.Random):
        self.face, self.room = face, room
        self._token, self._urls, self._chance = token, urls, chance
        self._connection: Connection | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def call(self, command: str, args: Mapping[str, Any], key: str | None = None) -> Any:
        """One attempt. After an error that ends connections, the next one is made over a new one."""
        if self._connection is None:
            self._connection = Connection(self.face, self._chance.choice(self._urls()), self._token)
        try:
            return await self._connection.call(command, args, self.room, key)
        except CohabitError as wrong:
            if wrong.code in TRY_AGAIN or self._chance.random() < CHANGES_HOUSE:
                self.disconnect()
            raise

    @property
    def house(self) -> str:
        return "" if self._connection is None else self._connection.url

    def disconnect(self) -> None:
        if self._connection is not None:
            closing = self._connection.close()
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            self._connection = None

    async def close(self) -> None:
        self.disconnect()
        if self._closing:
            await asyncio.wait(self._closing, timeout=ANSWER_S)


class Writer:
    """Appends to a room, call after call, and logs each."""

    def __init__(self, name: str, caller: Caller, history: History, chance: random.Random, *, counts: bool = False):
        self._name, self._caller, self._history, self._chance = name, caller, history, chance
        self._counts = counts
        self._number = 0

    async def run(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self.write()
            await asyncio.sleep(PAUSE_S)
            if self._chance.random() < CHANGES_HOUSE:
                self._caller.disconnect()
        await self._caller.close()

    async def write(self) -> Call:
        self._number += 1
        key = f"{self._caller.room}/{self._name}/{self._number}"
        if self._counts and self._number % 2:
            call = await self._log("count_up", {}, key)
        elif self._number % 20 == 0:
            call = await self._log("say", {"text": f"[{key}]", "to": "nobody"}, key)
        else:
            call = await self._log("say", {"text": f"[{key}]"}, key)
        self._history.calls.append(call)
        return call

    async def _log(self, command: str, args: Mapping[str, Any], key: str) -> Call:
        invoked, is_unknown = time.monotonic(), False
        while True:
            try:
                result = await self._caller.call(command, args, key)
            except CohabitError as wrong:
                is_unknown = is_unknown or not isinstance(wrong, NOTHING_DONE)
                expected = wrong.code in TRY_AGAIN or args.get("to") == "nobody"
                if not expected:
                    self._history.surprises.append(f"{key} through {self._caller.house}: {wrong.as_text()}")
                if wrong.code not in TRY_AGAIN or self._chance.random() < GIVES_UP:
                    outcome: Outcome = "unknown" if is_unknown else "refused"
                    return Call(self._caller.room, key, invoked, time.monotonic(), outcome)
                await asyncio.sleep(self._chance.uniform(PAUSE_S, AGAIN_S))
            else:
                event = event_in(result["message"]) if command == "count_up" else ""
                return Call(self._caller.room, key, invoked, time.monotonic(), "ok", event)


class Reader:
    """Reads the events of a room from the first one on, page by page."""

    def __init__(self, name: str, caller: Caller, history: History) -> None:
        self._caller, self._history = caller, history
        self.reading = Reading(caller.room, f"{name} over {caller.face}", [])
        history.readings.append(self.reading)
        self._cursor = ""

    async def run(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self.read()
            await asyncio.sleep(PAUSE_S)
        await self._caller.close()

    async def read(self) -> None:
        invoked = time.monotonic()
        try:
            page = await self._caller.call("events", {"cursor": self._cursor, "wait_ms": 500, "own": True, "max": 500})
        except CohabitError as wrong:
            if wrong.code not in TRY_AGAIN:
                self._history.surprises.append(f"{self.reading.reader}: {wrong.as_text()}")
            await asyncio.sleep(AGAIN_S)
            return
        self._cursor = page["cursor"]
        self.reading.pages.append(Page(invoked, events_of(page["items"]), not page["more"]))


def events_of(items: Sequence[Mapping[str, Any]]) -> list[str]:
    return [event for item in items if (event := event_in(item["text"]))]


class Subscriber:
    """Has the events of a room pushed over a WebSocket, and goes on from its cursor after each connection."""

    def __init__(
        self, name: str, token: str, room: str, urls: Callable[[], Sequence[str]], history: History,
        chance: random.Random,
    ) -> None:  # fmt: skip
        self._token, self._room, self._urls, self._history, self._chance = token, room, urls, history, chance
        self.reading = Reading(room, f"{name}, subscribed", [])
        history.readings.append(self.reading)
        self._cursor = ""

    async def run(self, over: asyncio.Event) -> None:
        waiting = asyncio.ensure_future(over.wait())
        while not over.is_set():
            following = asyncio.ensure_future(self.follow(self._chance.choice(self._urls())))
            await asyncio.wait([waiting, following], return_when=asyncio.FIRST_COMPLETED)
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            await asyncio.sleep(AGAIN_S)
        await waiting

    async def follow(self, url: str) -> None:
        """Until the connection ends."""
        try:
            async with connect_url(url, self._token, self._room) as client:
                async for push in client.subscribe(self._cursor, views=False):
                    if push["push"] == "events":
                        self.reading.pages.append(Page(time.monotonic(), events_of(push["items"])))
                        self._cursor = push["cursor"]
        except CohabitError as wrong:
            if wrong.code not in TRY_AGAIN:
                self._history.surprises.append(f"{self.reading.reader}: {wrong.as_text()}")


class Runs(Protocol):
    """A client."""

    async def run(self, over: asyncio.Event) -> None:
        """Until it is over."""


@asynccontextmanager
async def working(clients: Sequence[Runs]) -> AsyncIterator[None]:
    """The clients write and read meanwhile. One that fails ends the run."""
    over = asyncio.Event()
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(asyncio.TaskGroup())
        for client in clients:
            group.create_task(client.run(over))
        try:
            yield
        finally:
            over.set()
