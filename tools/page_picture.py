"""Make pictures of the page, from real runs, in docs/images/: page, board, whist, invite, host, nexus and replay.

    python tools/page_picture.py [page|board|whist|invite|host|nexus|replay]

It needs Chromium (`make needs` installs it) and Pillow.
"""

import asyncio
import io
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import test_needs
from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

from cohabit import connect, match
from cohabit.faces.serve import serve
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario, read_scenario

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "images"
TICKS = 4_000  # of the demo, before its picture is taken
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
        await tab.frame_locator("iframe").locator("#when", has_text="year").wait_for()
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


async def whist(browser: Browser, folder: str) -> None:
    """The table of Whist alone, in a hand against built-in players."""
    people = [AgentSpec(id="ann", kind="human", role="human", claim="auto:2")]
    bots = [
        AgentSpec(id=name, role="player", claim=f"auto:{i}", brain="whist")
        for i, name in ((0, "robin"), (1, "sandy"), (3, "pat"))
    ]
    async with running_house(folder) as (house, url):
        _, tokens = await house.create_room(Scenario(world="whist", seed=5, agents=[*people, *bots]), "whist")
        tab = await browser.new_page(viewport={"width": 1000, "height": 720})
        await tab.goto(f"{url}/?room=whist&view=table#{tokens['ann']}")
        table = tab.frame_locator("iframe")
        for left in range(13, 8, -1):
            await table.locator(f"#hand button:nth-child({left}):last-child").wait_for()
            await table.locator("#hand button:enabled").last.click()
        await table.locator("#hand[data-active]").wait_for()
        await asyncio.sleep(1)  # until the cards have arrived
        await save(tab, "whist")


async def invite(browser: Browser, folder: str) -> None:
    """The links that a host of a table can give away."""
    async with hosted_table(browser, folder) as (_, tab, _):
        await tab.get_by_role("button", name="Invite", exact=True).click()
        await tab.get_by_role("button", name="Create a link for spectators").click()
        await tab.get_by_role("img", name="QR code").wait_for()
        await tab.get_by_role("heading", level=1).click()  # takes the focus from the link
        await save(tab, "invite")


async def host(browser: Browser, folder: str) -> None:
    """The requests in a room, and the permissions of its agents."""
    async with hosted_table(browser, folder) as (house, tab, tokens):
        await house.call(house.identify(tokens["hal"]), "whist", "set_entry", {"open": True, "lobby": True})
        visitor = await browser.new_page()
        await visitor.goto(tab.url.split("?")[0] + "?join=whist")
        await visitor.get_by_label("Your name").fill("Mia")
        await visitor.get_by_role("button", name="Join").click()
        await visitor.get_by_text("Waiting for a host").wait_for()
        await visitor.close()
        corvus = house.identify(tokens["corvus"])
        why = "I would like to comment on the next hand."
        await house.call(corvus, "whist", "ask", {"may": ["send_broadcast"], "why": why})
        await tab.get_by_text("waits in the lobby.").wait_for()
        await tab.get_by_role("button", name="Permissions", exact=True).click()
        await tab.get_by_text("Uses Claude.").wait_for()
        await save(tab, "host")


async def nexus(browser: Browser, folder: str) -> None:
    """The Nexus as an agent sees it that has been in two games."""
    sys.path.insert(0, str(ROOT / "examples"))
    traveller = import_module("odyssey").Traveller

    async with running_house(folder) as (house, url):
        for room in ("wilderness", "frontier", "nexus"):
            await house.create_room(read_scenario(room), room, seed=7)
        operator = house.identify(house.operator_token())
        token = (await house.call(operator, None, "issue_credential", {"name": "zoe"})).token
        async with connect(url, token) as client:
            zoe = traveller(client, None)
            for command in ("join", "sit"):
                await zoe.call("nexus", command)
            await zoe.call("nexus", "set_goal", {"goal": "wayfarer"})
            for game, brain, steps in (("wilderness", "crafter-expert", 250), ("frontier", "pioneer", 120)):
                await zoe.call("nexus", "enter_game", {"game_id": game})
                await zoe.play(game, zoe.mind(brain, game), steps)
                await zoe.leave(game, remember=[f"My body sleeps in the {game}."])
        tab = await browser.new_page(viewport={"width": 1200, "height": 1000}, device_scale_factor=0.9)
        await tab.goto(f"{url}/?room=nexus#{token}")
        await tab.frame_locator("iframe").locator("body").wait_for()
        await save(tab, "nexus")


@asynccontextmanager
async def hosted_table(browser: Browser, folder: str) -> AsyncIterator[tuple[House, Page, dict[str, str]]]:
    """A table of Whist with a person, built-in players and an agent that watches, and the page of its host."""
    people = [
        AgentSpec(id="ann", kind="human", role="human", claim="auto:2"),
        AgentSpec(id="hal", kind="human", role="host"),
        AgentSpec(id="corvus", kind="agent", backend="Claude"),
    ]
    bots = [
        AgentSpec(id=name, role="player", claim=f"auto:{i}", brain="whist")
        for i, name in ((0, "robin"), (1, "sandy"), (3, "pat"))
    ]
    async with running_house(folder) as (house, url):
        _, tokens = await house.create_room(Scenario(world="whist", seed=5, agents=[*people, *bots]), "whist")
        tab = await browser.new_page(viewport={"width": 1200, "height": 900}, device_scale_factor=0.8)
        await tab.goto(f"{url}/?room=whist#{tokens['hal']}")
        yield house, tab, tokens


async def replay(browser: Browser, folder: str) -> None:
    """A game of Whist, watched again from the file of its replay."""
    file = Path(folder) / "whist.html"
    games = await asyncio.to_thread(match, "whist", *["whist"] * 4, games=1, progress=False, max_decisions=40)
    games.replay(0).save(file)
    tab = await browser.new_page(viewport={"width": 1200, "height": 700})
    await tab.goto(file.as_uri())
    await tab.keyboard.press("Home")
    for _ in range(18):
        await tab.keyboard.press("ArrowRight")
    await tab.frame_locator("iframe").get_by_text("Spades are trump").wait_for()
    await save(tab, "replay")


async def save(tab: Page, name: str) -> None:
    picture = PICTURES / f"{name}.png"
    shot = Image.open(io.BytesIO(await tab.screenshot())).convert("RGB")
    shot.quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)  # a third of the bytes
    print(f"{picture.name}: {picture.stat().st_size:,} bytes")
    await tab.close()


async def main(names: list[str]) -> None:
    chromium = test_needs.locate("chromium")
    if chromium is None:
        sys.exit(test_needs.reason("chromium"))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        pictures = {each.__name__: each for each in (page, board, whist, invite, host, nexus, replay)}
        for name in names or pictures:
            with tempfile.TemporaryDirectory() as folder:
                await pictures[name](browser, folder)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
