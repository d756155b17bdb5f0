"""Rooms for the tests of the page, a house that serves them from a thread, and what every page shows."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Locator, Page, expect

from cohabit.faces.app import make_app
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.identities import new_identity
from cohabit.scenario import AgentSpec, Scenario

LONG_MS = 600_000
STONES = 15
WIDE: Any = {"width": 1280, "height": 720}
"""The size of a tab, unless a test changes it."""

Visit = Callable[..., Page]
"""Opens an address in a new tab."""


def token(who: str) -> str:
    return f"abcdefghijklmnopqrstuvwxyz0123456789-{who}"


def table() -> Scenario:
    """A room with Nim: two players, three members who watch."""
    return Scenario(
        scenario="evening",
        world="nim",
        config={"stones": STONES},
        agents=[
            AgentSpec(id="ann", kind="human", role="human", claim="auto:0", token=token("ann")),
            AgentSpec(id="bob", role="player", claim="auto:1", token=token("bob"), backend="tiny-7b"),
            AgentSpec(id="eve", role="observer", token=token("eve")),
            AgentSpec(id="pip", role="agent", token=token("pip")),
            AgentSpec(id="hal", kind="human", role="host", token=token("hal")),
        ],
    )


def realm() -> Scenario:
    """A room whose world has a clock and kingdoms with colours. It is paused by its host in most tests."""
    return Scenario(
        scenario="realm",
        world="kingdoms",
        config={"zones_x": 3, "zones_y": 3},
        partial_intel=True,
        seed=7,
        agents=[
            AgentSpec(id="ada", kind="human", role="player", claim="auto:0", token=token("ada")),
            AgentSpec(id="bran", role="player", claim="auto:1", token=token("bran")),
            AgentSpec(id="ivy", kind="human", role="observer", token=token("ivy")),
            AgentSpec(id="ruth", kind="human", role="host", token=token("ruth")),
        ],
    )


class Running:
    """A house that serves from a thread, and can be stopped and started again at the same address."""

    def __init__(self, folder: Path, *, mcp: bool = False, **settings: Any) -> None:
        self.folder = folder
        self.port = 0
        self._mcp, self._settings = mcp, settings

    def start(self) -> None:
        started: Future[None] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)))
        self._thread.start()
        started.result(30)

    async def _serve(self, started: Future[None]) -> None:
        try:
            listener = socket.create_server(("127.0.0.1", self.port))
            self.port = listener.getsockname()[1]
            settings = Settings(data=str(self.folder), port=self.port, away_ms=LONG_MS, **self._settings)
            async with House.open(settings) as house:
                house.bots.step_ms = 0
                self._loop, self.house = asyncio.get_running_loop(), house
                app = make_app(house, mcp=self._mcp)
                config = uvicorn.Config(app, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1)
                self._server = Server(config, lambda: started.set_result(None))
                await self._server.serve(sockets=[listener])
        except BaseException as wrong:
            if started.done():
                raise
            started.set_exception(wrong)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def open(self, plan: Scenario, room: str = "table") -> None:
        self.run(self.house.create_room(plan, room))

    def call(self, who: str, command: str, room: str = "table", **args: Any) -> Any:
        return self.run(self.house.call(self.house.identify(token(who)), room, command, args))

    def until_here(self, *who: str) -> None:
        """Wait until it is on record that these members are here."""

        async def here() -> None:
            runner = self.house.rooms["table"]
            while not all(runner.room.state.members[name].here for name in who):
                assert await runner.changed_since(runner.version, self.house.clock.now() + 30_000)

        self.run(here())

    def link(self, who: str, room: str = "table") -> str:
        return self.link_with(token(who), room)

    def link_with(self, secret: str, room: str = "table") -> str:
        return f"http://127.0.0.1:{self.port}/?room={room}#{secret}"

    def invite(self, handle: str, room: str = "table", **args: Any) -> str:
        """An invite link for a person, created by hal."""
        return self.link_with(self.call("hal", "invite", room, id=handle, kind="human", **args).token, room)

    def host_token(self, name: str) -> str:
        """A token of a host of the house."""
        identity = new_identity(name, "human", host=True)
        self.house.identities.put(identity)
        return self.house.identities.temporary(identity, None, self.house.clock.now())

    def told(self, who: str) -> list[str]:
        """Every event as the page shows it to this member: of a message, only the content."""
        items = self.call(who, "events", max=500).items
        return [re.sub(r"^\S+ to \S+: ", "", i.text) if i.do == "send_message" else i.text for i in items]


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()


def open_drawer(page: Page, name: str) -> Locator:
    """Open a panel of a room, if it is not open; its content."""
    button = page.get_by_role("group", name="Panels").get_by_role("button", name=name, exact=True)
    expect(button).to_be_visible()
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    panel = page.locator(".drawer").get_by_role("region", name=name, exact=True)
    expect(panel).to_be_visible()
    return panel


def panels(page: Page) -> Locator:
    """The buttons of the panels that are offered."""
    return page.get_by_role("group", name="Panels").get_by_role("button")


def turn(page: Page) -> Any:
    return page.locator(".turn")


def events(page: Page) -> Any:
    return page.locator(".events .text, .events blockquote")


def say(page: Page, to: str, content: str) -> None:
    page.get_by_role("combobox", name="To").select_option(to)
    page.get_by_role("textbox", name="Message").fill(content)
    page.get_by_role("button", name="Send").click()
