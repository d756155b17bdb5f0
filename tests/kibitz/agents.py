"""Agents for the tests, in Python and in Node, that are driven the same way and log what they perceive."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cohabit.errors import CohabitError
from cohabit.faces.app import MODULE
from cohabit.protocols.kibitz import create_agent, open_room

NODE_AGENT = Path(__file__).with_name("node_agent.mjs")
PATIENCE_S = 60
"""A test that waits longer has failed."""
Event = list[Any]


class Driven:
    """An agent that a test drives. ``events``: all that it has perceived, in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._more = asyncio.Event()

    def happened(self, *event: Any) -> None:
        self.events.append(list(event))
        self._more.set()

    async def until(self, matches: Callable[[Event], bool], start: int = 0) -> Event:
        """The first event that matches, from number ``start`` on."""
        seen = start
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    for event in self.events[seen:]:
                        seen += 1
                        if matches(event):
                            return event
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            raise AssertionError(f"it has perceived only {[e for e in self.events if e[0] != 'roster'][1:]}") from None

    async def perceives(self, *event: Any) -> None:
        await self.until(lambda seen: seen == list(event))

    def of_kind(self, kind: str) -> list[Event]:
        return [event[1:] for event in self.events if event[0] == kind]

    async def do(self, name: str, *args: Any) -> Event:
        """Have the agent do something: ``done`` with the result, or ``error`` with the code and the message."""
        raise NotImplementedError


class PythonAgent(Driven):
    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, token: str, room: str, **options: Any) -> "AsyncIterator[PythonAgent]":
        self = cls()
        how = options.pop("controller", {})
        controller = await open_room(url, token, room, **how)
        controller.on("refused", lambda wrong: self.happened("refused", wrong.code, wrong.message))
        self.controller = controller
        self.agent = agent = await create_agent(controller, **options)
        controller.on_message(self._on_message)
        controller.on_media(lambda lane, payload, sender: self.happened("media", lane, list(payload), sender))
        agent.on_chat(lambda message: self.happened("chat", message.sender, message.text))
        agent.on_view(lambda view: self.happened("view", view))
        agent.on_data(lambda data, sender: self.happened("data", data, sender))
        agent.on_roster(lambda people: self.happened("roster", people))
        agent.on_schema(lambda schema: self.happened("schema", schema))
        self.happened(
            "ready",
            {
                "id": controller.id,
                "token": controller.token,
                "view": agent.get_view(),
                "schemas": list(agent.get_schemas()),
                "roster": list(agent.get_roster()),
            },
        )
        try:
            yield self
        finally:
            await agent.leave()

    def _on_message(self, data: Any, sender: str) -> None:
        if isinstance(data, dict) and data.get("__kib_agent") == "act":
            self.happened("act", data["action"], sender)

    async def do(self, name: str, *args: Any) -> Event:
        names = {"sendTo": "send_to", "setMeta": "set_meta", "registerSchema": "register_schema", "media": "send_media"}
        given = [args[0], bytes(args[1])] if name == "media" else args
        target = self.agent if hasattr(self.agent, name) else self.controller
        try:
            return ["done", await getattr(target, names.get(name, name))(*given)]
        except CohabitError as wrong:
            return ["error", wrong.code, wrong.message]
        except RuntimeError as wrong:
            return ["error", "", str(wrong)]


class NodeAgent(Driven):
    node: Path

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, token: str, room: str, **options: Any) -> "AsyncIterator[NodeAgent]":
        self = cls()
        camel = {"read_only": "readOnly"}
        given = json.dumps({camel.get(name, name): value for name, value in options.items()})
        self.process = await asyncio.create_subprocess_exec(
            cls.node, NODE_AGENT, MODULE.as_uri(), url, token, room, given,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**24,
        )  # fmt: skip
        reading = asyncio.ensure_future(self._read())
        try:
            await self.until(lambda event: event[0] in ("ready", "failed"))
            yield self
        finally:
            assert self.process.stdin is not None
            self.process.stdin.close()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self.process.wait()
            except TimeoutError:
                self.process.kill()
                raise
            finally:
                reading.cancel()

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.happened(*json.loads(line))

    async def do(self, name: str, *args: Any) -> Event:
        assert self.process.stdin is not None
        start = len(self.events)
        self.process.stdin.write(json.dumps([name, *args]).encode() + b"\n")
        if name == "media":
            return ["done", None]
        event = await self.until(lambda event: event[:2] in (["done", name], ["error", name]), start)
        return [event[0], *event[2:]]
