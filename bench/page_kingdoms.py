"""The map of Kingdoms in headless Chromium while its house runs: CPU per frame that is drawn, and bytes per watcher."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bench.child import say
from bench.common import child
from bench.report import Report

HOW = """
256 x 256 tiles with 5,000 creatures in 8 kingdoms at war, at speed x5. A watcher who sees everything looks at the map
at 1440 x 900, first the whole of it, then from near. CPU is that of the main thread in tasks (script, style, layout,
paint) as the browser counts it, over the frames that the document drew; and that of all processes of the browser,
which has no GPU here and fills the pixels with the CPU, too. Bytes are those of the messages before compression.
""".strip()
FRAME_MS, FRAMES = 16.0, 20.0
CREATURES = 5_000


@asynccontextmanager
async def crowded(creatures: int, age: int, watchers: int) -> AsyncIterator[tuple[Any, list[str]]]:
    """A house with one crowded world, and the tokens of those who watch it."""
    from bench.kingdoms import SMALL, AtWar
    from cohabit.house.house import House
    from cohabit.house.settings import Settings
    from cohabit.house.store.memory import MemoryStore
    from cohabit.scenario import AgentSpec, Scenario

    async with House.open(Settings(port=0), store=MemoryStore()) as opened:
        people = [AgentSpec(id=f"ivy{i}", kind="human", role="observer") for i in range(watchers)]
        plan = Scenario(world="kingdoms", speed="x5", partial_intel=False, agents=people)
        _, tokens = await opened.create_room(plan, "crowded", 1)
        world: Any = opened.rooms["crowded"].room.world
        world.sim = AtWar(SMALL, creatures, age).sim
        world._begin_counting()
        world._begin_maps()
        world._changed()
        yield opened, list(tokens.values())


async def house(*, creatures: int, age: int) -> None:
    """The house as ``cohabit serve`` runs it. Reports its address and the watcher's token."""
    from cohabit.faces.serve import serve

    async with crowded(creatures, age, 1) as (opened, tokens):
        await serve(opened, ready=lambda url: say({"url": url, "tokens": tokens}), mcp=False)


class Watcher:
    """A tab that shows the map alone."""

    def __init__(self, browser: Any, url: str, token: str) -> None:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        self.bytes = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._received))
        page.goto(f"{url}/?room=crowded&view=table#{token}")
        self._tab = page.context.new_cdp_session(page)
        self._tab.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._browser = browser.new_browser_cdp_session()
        self.frame = page.locator(".front-end-frame").element_handle().content_frame()
        self.frame.wait_for_function("() => picture.scene && picture.frames > 30", timeout=120_000)

    def _received(self, frame: Any) -> None:
        self.bytes += len(frame.encode() if isinstance(frame, str) else frame)

    def _counted(self) -> dict[str, float]:
        found = {m["name"]: m["value"] * 1000 for m in self._tab.send("Performance.getMetrics")["metrics"]}
        processes = self._browser.send("SystemInfo.getProcessInfo")["processInfo"]
        return {
            "main": found["TaskDuration"], "script": found["ScriptDuration"],
            "all": sum(process["cpuTime"] for process in processes) * 1000,
            "frames": self.frame.evaluate("picture.frames"), "at": time.perf_counter(), "bytes": self.bytes,
        }  # fmt: skip

    def round(self, seconds: float) -> dict[str, float]:
        """The cost of a frame, the frames drawn in a second, and the bytes received in a second."""
        before = self._counted()
        self.frame.page.wait_for_timeout(seconds * 1000)
        found = {name: value - before[name] for name, value in self._counted().items()}
        frames, took = max(found["frames"], 1), found["at"]
        return {name: found[name] / frames for name in ("main", "script", "all")} | {
            "frames": frames / took, "bytes": found["bytes"] / took / 1000
        }  # fmt: skip


def run(quick: bool) -> Report:
    from playwright.sync_api import sync_playwright
    from tools.test_needs import locate

    creatures, age, rounds, seconds = (500, 50, 2, 1.0) if quick else (CREATURES, 1_500, 7, 4.0)
    report = Report("page-kingdoms", "The map of Kingdoms in a browser", HOW)
    # A sandboxed frame in the process of its page, so that one main thread has all the work of the tab.
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-features=IsolateSandboxedIframes"]
    with child("bench.page_kingdoms:house", 0, creatures=creatures, age=age) as ours, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=locate("chromium"), args=flags)
        watcher = Watcher(browser, ours.hello["url"], ours.hello["tokens"][0])
        for name, zoom in (("the whole map", "picture.camera.fit()"), ("from near", "picture.camera.zoom(3)")):
            watcher.frame.evaluate(f"() => {{ {zoom}; }}")
            watcher.round(seconds)
            found = [watcher.round(seconds) for _ in range(rounds)]
            for key, words, unit in (
                ("main", "script and paint", "CPU-ms a frame"), ("script", "script", "CPU-ms a frame"),
                ("all", "all of the browser", "CPU-ms a frame"), ("frames", "frames drawn", "a second"),
                ("bytes", "messages to a watcher", "kB a second"),
            ):  # fmt: skip
                report.measure(f"{name}: {words}", [each[key] for each in found], unit)
            over = [each["main"] / FRAME_MS for each in found]
            report.ratio(f"page-kingdoms: {name}, CPU of a frame over 16 ms", over, 1.0, "at most")
            drawn = [each["frames"] / FRAMES for each in found]
            report.ratio(f"page-kingdoms: {name}, frames over 20 a second", drawn, 1.0, "at least")
        browser.close()
    return report
