"""People who watch: the first paint of the page, its weight, many watchers of one map, and an exported match."""

import asyncio
import gzip
import itertools
import json
import threading
import time
from typing import Any

from bench.child import say
from bench.common import Child, child
from bench.report import Report

HOW = """
A new browser context opens the page of a busy room (the map of `page-kingdoms`) on loopback, with nothing cached: the
first contentful paint as the browser reports it, and the size of what it fetches, compressed one by one with gzip. The
document of the world is not counted. Then {watchers} watchers look at that map at once, each with a token and a
WebSocket of its own, and ask for what the page asks: events, views, and the layers of the scene that have changed.
Bytes are those of the messages before compression. The match is that of `make run`: half an hour at the usual speed
(18,000 ticks), with all that is to be seen, in one HTML file.
""".strip()
PAINT_MS, WEIGHT, FILE = 1_000.0, 100_000.0, 5_000_000.0
WATCHERS, CREATURES, TICKS, FRAMES = 200, 5_000, 18_000, 1_000
PAUSE_S = 0.25
"""The pause of the map of Kingdoms between two views, in seconds."""


class Watchers:
    """Connections that ask for what a page with the map asks for."""

    def __init__(self, url: str, tokens: list[str]) -> None:
        self._url, self._tokens = url, tokens
        self._bytes, self._scenes = 0, dict.fromkeys(tokens, 0)
        self._have_all, self._failed = threading.Event(), threading.Event()
        self._faults: list[BaseException] = []
        threading.Thread(target=lambda: asyncio.run(self._all()), daemon=True).start()

    async def _all(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for token in self._tokens:
                    group.create_task(self._one(token))
        except* Exception as faults:
            self._faults += faults.exceptions
            self._failed.set()
            self._have_all.set()

    def begun(self) -> None:
        """Wait until all of them have the whole scene, and a change of it."""
        self._have_all.wait()

    def watch(self, seconds: float) -> dict[str, float]:
        """The bytes and scenes that each of them receives per second."""
        before, began = (self._bytes, sum(self._scenes.values())), time.perf_counter()
        if self._failed.wait(seconds):
            raise RuntimeError(f"a watcher ended early: {self._faults[0]!r}")
        each = (time.perf_counter() - began) * len(self._tokens)
        return {
            "bytes": (self._bytes - before[0]) / each / 1000, "scenes": (sum(self._scenes.values()) - before[1]) / each,
        }  # fmt: skip

    async def _one(self, token: str) -> None:
        from websockets.asyncio.client import connect
        from websockets.typing import Subprotocol

        headers = {"authorization": f"Bearer {token}"}
        address = self._url.replace("http", "ws", 1) + "/ws"
        spoken = [Subprotocol("cohabit"), Subprotocol("watching")]
        async with connect(address, additional_headers=headers, subprotocols=spoken, max_size=None) as ws:
            numbers = itertools.count(1)

            async def call(command: str, **args: Any) -> Any:
                number = next(numbers)
                await ws.send(json.dumps({"id": number, "command": command, "args": args, "room": "crowded"}))
                while True:
                    text = await ws.recv()
                    self._bytes += len(text)
                    reply = json.loads(text)
                    if reply.get("id") == number:
                        if not reply["ok"]:
                            raise RuntimeError(str(reply)[:300])
                        return reply["result"]

            await call("subscribe", cursor="")
            view = scene = ""
            while True:
                view = (await call("next_view", since=view, wait_ms=25_000))["id"]
                scene = (await call("scene", since=scene))["id"]
                self._scenes[token] += 1
                if self._scenes[token] == 2 and min(self._scenes.values()) == 2:
                    self._have_all.set()
                await asyncio.sleep(PAUSE_S)


def opened(url: str, token: str, times: int) -> tuple[list[float], float]:
    """The first paints in new contexts, and the compressed size of what is fetched, in bytes."""
    from playwright.sync_api import sync_playwright
    from tools.test_needs import locate

    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    paints, weight = [], 0.0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=locate("chromium"), args=flags)
        for _ in range(times + 1):  # the first one warms up the browser
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page = context.new_page()
            fetched: list[Any] = []
            page.on("response", lambda response, fetched=fetched: fetched.append(response))
            page.goto(f"{url}/?room=crowded#{token}")
            page.frame_locator(".front-end-frame").locator("#when").filter(has_text="year").wait_for()
            paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            weight = sum(len(gzip.compress(response.body())) for response in fetched)
            context.close()
        browser.close()
    return paints[1:], weight


class Exported:
    """A match as one file."""

    def size(self, ticks: int, frames: int) -> int:
        from cohabit.film_html import film_html
        from cohabit.house.reading.front_ends import read_front_end
        from cohabit.lab.films import film_of
        from cohabit.registry import find_world, make_world
        from cohabit.scenario import read_scenario
        from cohabit.testing.match import Match

        match = Match(read_scenario("demo"), 7).run(ticks)
        film = film_of(list(match.lines()), make_world, frames)
        return len(film_html(film, read_front_end(find_world("kingdoms"))).encode())


async def house(*, creatures: int, age: int, watchers: int) -> None:
    """As in `page-kingdoms`, with many watchers. Reports its address and their tokens."""
    from bench.page_kingdoms import crowded
    from cohabit.faces.serve import serve

    async with crowded(creatures, age, watchers) as (opened, tokens):
        await serve(opened, ready=lambda url: say({"url": url, "tokens": tokens}), mcp=False)


def watched(ours: Child, crowd: Child, seconds: float) -> dict[str, float]:
    """A round, with the cores that the house takes."""
    before, began = ours.cpu, time.perf_counter()
    found: dict[str, float] = crowd.ask("watch", seconds=seconds)
    return found | {"cpu": (ours.cpu - before) / (time.perf_counter() - began)}


def run(quick: bool) -> Report:
    watchers, creatures, age, rounds, seconds = (10, 500, 50, 2, 2.0) if quick else (WATCHERS, CREATURES, 1_500, 5, 8.0)
    ticks, frames = (300, 30) if quick else (TICKS, FRAMES)
    report = Report("page-watchers", "People who watch on the page", HOW.format(watchers=watchers))
    with child("bench.page_watchers:house", 0, creatures=creatures, age=age, watchers=watchers) as ours:
        url, tokens = ours.hello["url"], ours.hello["tokens"]
        paints, weight = opened(url, tokens[0], rounds)
        report.measure("first contentful paint, nothing cached", paints, "ms")
        report.ratio("page-watchers: first paint over 1 s", [ms / PAINT_MS for ms in paints], 1.0, "at most")
        report.measure("page without the document of a world, compressed", [weight / 1000], "kB")
        report.ratio("page-watchers: page over 100 kB", [weight / WEIGHT], 1.0, "at most")
        with child("bench.page_watchers:Watchers", 1, url=url, tokens=tokens) as crowd:
            crowd.ask("begun")
            found = [watched(ours, crowd, seconds) for _ in range(rounds)]
    for key, words, unit in (
        ("bytes", "messages to each", "kB a second"), ("scenes", "scenes that each gets", "a second"),
        ("cpu", "CPU of the house, with the world", "cores"),
    ):  # fmt: skip
        report.measure(f"{watchers} watchers: {words}", [each[key] for each in found], unit)
    with child("bench.page_watchers:Exported", 0) as exporting:
        size = exporting.ask("size", ticks=ticks, frames=frames)
    report.measure(f"an exported match of {ticks:,} ticks", [size / 1e6], "MB")
    report.ratio("page-watchers: exported match over 5 MB", [size / FILE], 1.0, "at most")
    return report
