"""Make `docs/gallery/page.md`: pictures of worlds and views of the page, in two sizes, light and dark.

    python tools/page_gallery.py [NAME …]    all of them, or these, such as `nim` or `create`

It needs Chromium (`make needs` installs it) and Pillow. Games of libraries that are not installed are left out.
"""

import asyncio
import io
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import test_needs
from PIL import Image
from playwright.async_api import Browser, Error, Page, async_playwright

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.store.identities import new_identity
from cohabit.model.stream import Stream
from cohabit.registry import find_world
from cohabit.scenario import AgentSpec, Scenario, read_scenario
from page_picture import FLAGS, running_house

FOLDER = Path(__file__).parent.parent / "docs" / "gallery"
PICTURES = FOLDER / "page"
SIZES = {"wide": (1440, 900, 0.6), "phone": (390, 844, 0.75)}
"""Width and height of the window, and the scale of the picture."""
THEMES = ("light", "dark")
MAX_BYTES = 4_000_000
MOVES = {"nim": 2, "textarena-minesweeper-v0": 2}
USUAL_MOVES = 8
SETTLE_S = 1.2
WATCHED_S = 6.0
"""How long a world with a clock runs before its picture is taken."""
WORLDS = (
    "nim", "tictactoe", "lanterns", "whist", "kingdoms", "statecraft", "crafter", "crafter_shared", "planet",
    "openspiel:chess", "openspiel:go", "openspiel:connect_four", "openspiel:checkers", "openspiel:hex",
    "openspiel:backgammon", "openspiel:leduc_poker", "gymnasium:MiniGrid-DoorKey-6x6-v0", "gymnasium:FrozenLake-v1",
    "textarena:2048-v0", "textarena:Minesweeper-v0", "nethack:NetHackScore-v0",
)  # fmt: skip
NOTE = """\
<!-- Made by `python tools/page_gallery.py`. -->

# The page in pictures

Every world as a player sees it, and the views around it: at 1440 × 900 and 390 × 844, light and dark."""

View = Callable[[House, str, Page], Awaitable[None]]
"""Shows something in a tab: the house, its address, the tab."""


# -- worlds ---------------------------------------------------------------------------------------
def slug(name: str) -> str:
    return re.sub("[:_]", "-", name.lower())


async def world_room(house: House, world: str) -> str:
    """A room in which a person and built-in players have made some moves. Returns the person's token."""
    room, spec = slug(world), find_world(world).spec
    bots = [
        AgentSpec(id=f"bot{i}", role="player", claim=f"auto:{i}", brain="random") for i in range(1, spec.seat_range[0])
    ]
    ann = AgentSpec(id="ann", kind="human", role="human", claim="auto:0")
    _, tokens = await house.create_room(Scenario(scenario=room, world=world, agents=[ann, *bots]), room)
    if house.rooms[room].room.pace == "clock":
        await asyncio.sleep(WATCHED_S)
    else:
        await make_moves(house, room, tokens["ann"])
    return tokens["ann"]


async def make_moves(house: House, room: str, token: str) -> None:
    me, draws = house.identify(token), Stream(4, "moves")
    for _ in range(MOVES.get(room, USUAL_MOVES)):
        await house.call(me, room, "wait_for_turn", {"wait_ms": 5_000})
        view = await house.call(me, room, "view", {})
        choices = (view.observation.choices or []) if view.your_turn and not view.over else []
        if not choices:
            continue
        choice = draws.choice(choices)
        try:
            await house.call(me, room, "act", {"action": choice["action"], "params": choice["params"]})
        except CohabitError as refused:
            print(f"{room}: {refused.message}", file=sys.stderr)


def show_world(world: str) -> View:
    async def show(house: House, url: str, tab: Page) -> None:
        room = slug(world)
        if room not in house.rooms:
            TOKENS[room] = await world_room(house, world)
        await tab.goto(f"{url}/?room={room}#{TOKENS[room]}")
        frame = tab.frame_locator("iframe").locator("body")
        await frame.wait_for(timeout=20_000)

    return show


TOKENS: dict[str, str] = {}
"""By room: of the person in it; and of the host of the house."""


# -- views of the page ----------------------------------------------------------------------------
def host_token(house: House) -> str:
    if "" not in TOKENS:
        identity = new_identity("host", "human", host=True)
        house.identities.put(identity)
        TOKENS[""] = house.identities.temporary(identity, None, house.clock.now())
    return TOKENS[""]


async def sign_in(house: House, url: str, tab: Page) -> None:
    """The page of a visitor without a token."""
    await tab.goto(url)


async def rooms(house: House, url: str, tab: Page) -> None:
    """The rooms of a house, as its host sees them."""
    await tab.goto(f"{url}/#{host_token(house)}")


async def create(house: House, url: str, tab: Page) -> None:
    """The form that creates a room."""
    await rooms(house, url, tab)
    await tab.get_by_text("Create a room").first.click()


def two_bots() -> list[AgentSpec]:
    return [AgentSpec(id=f"bot{i}", role="player", claim=f"auto:{i}", brain="random") for i in range(2)]


async def watching(house: House, url: str, tab: Page) -> None:
    """A room as somebody sees it who only watches."""
    room = "watched"
    if room not in house.rooms:
        eve = AgentSpec(id="eve", kind="human", role="observer")
        _, tokens = await house.create_room(Scenario(world="nim", agents=[*two_bots(), eve]), room)
        TOKENS[room] = tokens["eve"]
    await tab.goto(f"{url}/?room={room}#{TOKENS[room]}")


async def lounge(house: House, url: str, tab: Page) -> None:
    """A room without a game."""
    if "lounge" not in house.rooms:
        people = [AgentSpec(id=name, kind="human", role="host") for name in ("ann", "bob")]
        _, tokens = await house.create_room(Scenario(world="lounge", agents=people), "lounge")
        TOKENS["lounge"] = tokens["ann"]
    await tab.goto(f"{url}/?room=lounge#{TOKENS['lounge']}")


async def hosted(house: House, url: str, tab: Page) -> None:
    """A room as its host sees it, with a request of a player."""
    room = "hosted"
    if room not in house.rooms:
        people = [
            AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}") for i, name in enumerate(("ann", "bob"))
        ]
        host = AgentSpec(id="hal", kind="human", role="host")
        plan = Scenario(world="tictactoe", agents=[*people, host], turn_seconds=600)
        _, tokens = await house.create_room(plan, room)
        await house.call(house.identify(tokens["ann"]), room, "mark", {"cell": 4})
        TOKENS[room] = tokens["hal"]
    await tab.goto(f"{url}/?room={room}#{TOKENS[room]}")


async def panel(tab: Page, name: str) -> None:
    await tab.get_by_role("group", name="Panels").get_by_role("button", name=name, exact=True).click()


async def members(house: House, url: str, tab: Page) -> None:
    """The members of a room, as its host sees them."""
    await hosted(house, url, tab)
    await panel(tab, "Members")


async def invite(house: House, url: str, tab: Page) -> None:
    """How a host invites people and agents."""
    await hosted(house, url, tab)
    await panel(tab, "Invite")


async def ended(house: House, url: str, tab: Page) -> None:
    """A game that is over."""
    room = "ended"
    if room not in house.rooms:
        host = AgentSpec(id="hal", kind="human", role="host")
        _, tokens = await house.create_room(Scenario(world="tictactoe", agents=[*two_bots(), host]), room)
        TOKENS[room] = tokens["hal"]
        runner = house.rooms[room]
        while not runner.room.is_over():
            await runner.changed_since(runner.version, house.clock.now() + 1_000)
    await tab.goto(f"{url}/?room={room}#{TOKENS[room]}")


async def replay(house: House, url: str, tab: Page) -> None:
    """A game of Whist, watched again."""
    if "whist" not in house.rooms:
        TOKENS["whist"] = await world_room(house, "whist")
    await tab.goto(f"{url}/?room=whist&at=30#{TOKENS['whist']}")
    await tab.get_by_role("slider", name="Position").wait_for()


async def nexus(house: House, url: str, tab: Page) -> None:
    """The map from which one travels to games."""
    for room in ("wilderness", "frontier", "nexus"):
        if room not in house.rooms:
            _, tokens = await house.create_room(read_scenario(room), room)
            TOKENS[room] = tokens.get("traveller", "")
    await tab.goto(f"{url}/?room=nexus#{TOKENS['nexus']}")
    await tab.frame_locator("iframe").locator("[data-place=wilderness]").click()


VIEWS: dict[str, View] = {
    "sign-in": sign_in, "rooms": rooms, "create": create, "watching": watching, "hosted": hosted, "members": members,
    "invite": invite, "ended": ended, "replay": replay, "nexus": nexus, "lounge": lounge,
}  # fmt: skip


# -- pictures -------------------------------------------------------------------------------------
async def take(browser: Browser, house: House, url: str, name: str, show: View) -> None:
    for size, (width, height, scale) in SIZES.items():
        for theme in THEMES:
            look: Any = {"viewport": {"width": width, "height": height}, "color_scheme": theme}
            context = await browser.new_context(**look, reduced_motion="reduce")
            tab = await context.new_page()
            await show(house, url, tab)
            await asyncio.sleep(SETTLE_S)
            save(await tab.screenshot(), PICTURES / f"{name}-{size}-{theme}.webp", scale)
            await context.close()


def save(png: bytes, to: Path, scale: float) -> None:
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    small = picture.resize((round(picture.width * scale), round(picture.height * scale)), Image.Resampling.LANCZOS)
    to.parent.mkdir(parents=True, exist_ok=True)
    small.save(to, "WEBP", quality=70, method=6)


def page(names: Iterable[str]) -> str:
    lines = [NOTE, ""]
    for name in names:
        pictures = [
            f"![{name}, {size}, {theme}](page/{name}-{size}-{theme}.webp)" for size in SIZES for theme in THEMES
        ]
        lines += [f"## {name}", "", *pictures, ""]
    return "\n".join(lines)


async def main(wanted: list[str]) -> None:
    chromium = test_needs.locate("chromium")
    if chromium is None:
        sys.exit(test_needs.reason("chromium"))
    shows = {slug(world): show_world(world) for world in WORLDS} | VIEWS
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        with tempfile.TemporaryDirectory() as folder:
            async with running_house(folder) as (house, url):
                for name, show in shows.items():
                    if wanted and name not in wanted:
                        continue
                    try:
                        await take(browser, house, url, name, show)
                        print(name)
                    except (CohabitError, Error) as wrong:
                        print(f"{name} was left out: {str(wrong)[:200]}", file=sys.stderr)
        await browser.close()
    there = [name for name in shows if (PICTURES / f"{name}-wide-light.webp").exists()]
    (FOLDER / "page.md").write_text(page(there))
    size = sum(file.stat().st_size for file in PICTURES.glob("*.webp"))
    if size > MAX_BYTES:
        sys.exit(f"the pictures have {size:,} bytes, more than {MAX_BYTES:,}: take fewer, or smaller ones")
    print(f"{len(there)} subjects, {size:,} bytes")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
