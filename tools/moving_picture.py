"""Make `docs/images/match.webp`: a moving picture of a match of Kingdoms, as a spectator of the page sees it.

    python tools/moving_picture.py

It plays the room of `make run` in a real house, and takes pictures of the page in Chromium. It needs Chromium
(`make needs` installs it) and Pillow.
"""

import asyncio
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import test_needs
from PIL import Image
from playwright.async_api import async_playwright

from cohabit.scenario import read_scenario
from page_picture import FLAGS, SPEED, running_house

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "match.webp"
WINDOW: Any = {"width": 1200, "height": 720}
WIDTH = 800
FIRST_TICK, TICKS, FRAMES = 1_500, 90, 36
"""The first picture, the ticks from one to the next, and how many there are."""
FRAME_MS, LAST_MS = 300, 2_500
MAX_BYTES = 1_500_000


async def frames(folder: str) -> list[Image.Image]:
    chromium = test_needs.locate("chromium")
    if chromium is None:
        sys.exit(test_needs.reason("chromium"))
    found = []
    async with async_playwright() as playwright, running_house(folder) as (house, url):
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        _, tokens = await house.create_room(read_scenario("demo"), "demo", seed=7)
        host, runner = house.identify(tokens["host"]), house.rooms["demo"]
        await house.call(host, "demo", "set_speed", {"speed_id": SPEED})
        tab = await browser.new_page(viewport=WINDOW, reduced_motion="reduce")
        await tab.goto(f"{url}/?room=demo#{tokens['spectator']}")
        await tab.frame_locator("iframe").locator("#when", has_text="year").wait_for()
        for number in range(FRAMES):
            while runner.room.state.tick < FIRST_TICK + number * TICKS:
                await runner.changed_since(runner.version, house.clock.now() + 1_000)
            picture = Image.open(io.BytesIO(await tab.screenshot())).convert("RGB")
            size = WIDTH, round(WIDTH * picture.height / picture.width)
            found.append(picture.resize(size, Image.Resampling.LANCZOS))
        await browser.close()
    return found


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, *rest = await frames(folder)
    pauses = [FRAME_MS] * len(rest) + [LAST_MS]
    first.save(
        PICTURE, save_all=True, append_images=rest, duration=pauses, loop=0, quality=55, method=6, minimize_size=True
    )
    size = PICTURE.stat().st_size
    if size > MAX_BYTES:
        sys.exit(f"the picture has {size:,} bytes, more than {MAX_BYTES:,}: take fewer frames, or smaller ones")
    print(f"{PICTURE.name}: {len(rest) + 1} frames, {size:,} bytes")


if __name__ == "__main__":
    asyncio.run(main())
