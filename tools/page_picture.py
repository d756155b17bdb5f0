"""Make pictures of the page, from real runs: docs/images/page.png and docs/images/board.png.

    python tools/page_picture.py [page|board]

It needs Chromium (`make needs` installs it).
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import test_needs
from playwright.async_api import Browser, Page, async_playwright

from cohabit.faces.serve import serve
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario, read_scenario

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "images"
TICKS = 12_000  # of the demo, before its picture is taken
SPEED = "x20"
WATCHED_S = 15.0  # how long the page is open before its picture is taken, so that it shows events
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@asynccontextmanager
async def running_house(folder: str) -> AsyncIterator[tuple[House, str]]:
    """A house on a free port, and its address."""
    async with House.open(Settings(data=folder, port=0)) as house:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(serve(house, ready=ready.set_result, mcp=False))
        try:
            yield house, await ready
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


async def page(browser: Browser, folder: str) -> None:
    """The demo room as its spectator sees it."""
    async with running_house(folder) as (house, url):
        _, tokens = await house.create_room(read_scenario("demo"), "demo", seed=7)
        host, room = house.identify(tokens["host"]), house.rooms["demo"]
        await house.call(host, "demo", "set_speed", {"speed_id": SPEED})
        while room.room.state.tick < TICKS:
            await room.changed_since(room.version, house.clock.now() + 1_000)
        await house.call(host, "demo", "set_speed", {"speed_id": "x5"})
        tab = await browser.new_page(viewport={"width": 1400, "height": 1000}, device_scale_factor=0.8)
        await tab.goto(f"{url}/?room=demo#{tokens['spectator']}")
        await tab.locator("img.picture").wait_for()
        await asyncio.sleep(WATCHED_S)
        await save(tab, "page")


async def board(browser: Browser, folder: str) -> None:
    """The board that `examples/workspace_day.py` leaves behind, with two members at work on it."""
    sys.path.insert(0, str(ROOT / "examples"))
    day = import_module("workspace_day").day

    for agent in day(Path(folder)):
        agent.session.close()
    cleo, dan = "cleo-cowork", "dan-cli"
    members = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate((cleo, dan))]
    host = AgentSpec(id="host", role="host", kind="human")
    plan = Scenario(
        scenario="workspace", world="workspace", config={"remote": f"{folder}/deck.git"}, agents=[*members, host]
    )
    async with running_house(f"{folder}/house") as (house, url):
        _, tokens = await house.create_room(plan, "deck")

        async def act(who: str, command: str, **args: Any) -> None:
            await house.call(house.identify(tokens[who]), "deck", command, args)

        tab = await browser.new_page(viewport={"width": 1360, "height": 1060})
        await tab.goto(f"{url}/?room=deck#{tokens['host']}")
        await tab.get_by_role("button", name="deck.md").first.click()
        await act(cleo, "sync")
        question = "Slide 2 says **41,000** bakeries; the source is in `research/market.md`."
        await act(cleo, "inbox_add", title="Can somebody check the numbers?", body=question)
        await act(cleo, "inbox_add", title="A photo of a bakery at night for the cover", **{"for": dan})
        summary = "Checked slide 2 against the census; the number is correct."
        todo = {"for": dan, "text": "a photo for the cover"}
        await act(cleo, "journal_append", summary=summary, details="The census is from March.", todos=[todo])
        await act(cleo, "add", paths=["."])
        await act(cleo, "commit", message=summary)
        await act(cleo, "push")
        await act(dan, "sync")
        await act(dan, "claim", id="INB-005")
        await tab.get_by_text(f"claimed by {dan}").wait_for()
        await save(tab, "board")


async def save(tab: Page, name: str) -> None:
    picture = PICTURES / f"{name}.png"
    await tab.screenshot(path=picture)
    print(f"{picture.name}: {picture.stat().st_size:,} bytes")
    await tab.close()


async def main(names: list[str]) -> None:
    chromium = test_needs.locate("chromium")
    if chromium is None:
        sys.exit(test_needs.reason("chromium"))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name in names or ["page", "board"]:
            with tempfile.TemporaryDirectory() as folder:
                await {"page": page, "board": board}[name](browser, folder)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
