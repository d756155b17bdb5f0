"""The map of Kingdoms in a real browser: orders by clicking it, by keyboard and by touch, at two sizes."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Frame, Page, expect

from cohabit.model.seat import Seat
from cohabit.scenario import AgentSpec
from cohabit.worlds.kingdoms.rules import realms

from .page import Running, Visit, realm, token

pytestmark = pytest.mark.browser
SIZES: list[dict[str, Any]] = [
    {"viewport": {"width": 1440, "height": 900}},
    {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
]
sizes = pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])


@pytest.fixture
def house(empty_house: Running) -> Running:
    plan = realm()
    plan.agents.append(AgentSpec(id="zoe", kind="human", role="god", token=token("zoe")))
    empty_house.open(plan, "realm")
    empty_house.call("ruth", "pause", "realm")
    return empty_house


class Map:
    """The document alone in a tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.at = page.frame_locator(".front-end-frame")
        expect(self.at.locator("#when")).to_contain_text("year")
        element = page.locator(".front-end-frame").element_handle()
        frame = element.content_frame() if element is not None else None
        assert frame is not None
        self.frame: Frame = frame

    def see(self, x: int, y: int) -> dict[str, float]:
        """Move the map so that a tile is in its free part, and return the point of the screen."""
        across, down = self.frame.evaluate(
            "([x, y]) => { picture.camera.show(x, y, { always: true, scale: 12, covered: covered() });"
            " return picture.camera.pointOf(x + 0.5, y + 0.5); }",
            [x, y],
        )
        return {"x": across, "y": down}

    def click(self, x: int, y: int) -> None:
        self.at.locator("#marks").click(position=self.see(x, y))

    def order(self, words: str) -> None:
        self.at.locator("#choices").get_by_role("button", name=words).click()

    def choices(self) -> list[str]:
        return self.at.locator("#choices button").all_text_contents()


def opened(house: Running, visit: Visit, who: str, **size: Any) -> Map:
    return Map(visit(house.link(who, "realm").replace("?room=realm", "?room=realm&view=table"), **size))


def city_and_free_place(house: Running) -> tuple[str, dict[str, Any], int, int]:
    """A city of ada's, and a place where she may send settlers."""
    name, city = next(iter(house.call("ada", "view", "realm").observation.status["cities"].items()))
    world = house.house.rooms["realm"].room.world
    place = next(order.parameters for order in world.legal(Seat("1", "ada")) if order.name == "settle")
    return name, city, place["x"], place["y"]


def orders(house: Running) -> dict[str, str]:
    return house.call("ada", "view", "realm").observation.status.get("orders", {})


@pytest.mark.sampled
@sizes
def test_a_king_gives_three_orders_by_clicking_the_map(house: Running, visit: Visit, size: dict[str, Any]) -> None:
    name, city, x, y = city_and_free_place(house)
    table = opened(house, visit, "ada", **size)
    table.click(city["x"], city["y"])
    expect(table.at.get_by_role("heading", name=name)).to_be_visible()
    table.order(f"Gather the army in {name}")
    expect(table.at.locator("#result")).to_contain_text("gather at")
    assert orders(house) == {"rally": f"{city['x']},{city['y']}"}

    table.click(x, y)
    table.order("Send settlers here")
    expect(table.at.locator("#result")).to_contain_text(f"will go to {x},{y}")
    assert orders(house)["settle"].startswith(f"{x},{y}")

    table.click(city["x"] + 2, city["y"])
    table.order("Call 1 ")
    expect(table.at.locator("#result")).to_contain_text("1 came")
    assert house.call("ada", "view", "realm").observation.status["faith"] == 30


@pytest.mark.soak
@sizes
def test_a_king_gives_three_orders_with_the_keyboard_alone(house: Running, visit: Visit, size: dict[str, Any]) -> None:
    name, city, x, y = city_and_free_place(house)
    table = opened(house, visit, "ada", **size)
    press, focused = table.page.keyboard.press, table.at.locator(":focus")
    table.at.locator("#realm").press("Enter")  # her kingdom: its orders have the focus
    expect(focused).to_have_text("Few soldiers: 10 % under arms")
    press("Tab")
    press("Enter")
    expect(table.at.locator("#result")).to_contain_text("35 percent")
    assert orders(house)["muster"].startswith("35%")
    press("Escape")
    expect(table.at.locator("#panel")).to_be_hidden()

    table.at.locator("#marks").focus()
    table.see(city["x"], city["y"])
    press("Enter")  # the mark appears in the middle, which is her capital
    across, down = table.frame.evaluate("[picture.cursor.x, picture.cursor.y]")
    go(table.page, city["x"] - across, city["y"] - down)
    expect(table.at.locator("#here")).to_contain_text(name)
    press("Enter")
    expect(focused).to_have_text(f"Gather the army in {name}")
    press("Enter")
    expect(table.at.locator("#result")).to_contain_text("gather at")
    press("Escape")

    expect(table.at.locator("#marks")).to_be_focused()
    go(table.page, x - city["x"], y - city["y"])
    press("Enter")
    expect(focused).to_have_text("Gather the army here")
    press("Tab")
    press("Enter")
    expect(table.at.locator("#result")).to_contain_text(f"will go to {x},{y}")
    assert {"muster", "rally", "settle"} == set(orders(house))


def go(page: Page, across: int, down: int) -> None:
    """Move the mark: with Shift eight tiles at once."""
    for steps, key in (
        (across, "ArrowRight" if across > 0 else "ArrowLeft"),
        (down, "ArrowDown" if down > 0 else "ArrowUp"),
    ):
        for number in range(abs(steps) // 8 + abs(steps) % 8):
            page.keyboard.press(f"Shift+{key}" if number < abs(steps) // 8 else key)


@pytest.mark.soak
def test_war_is_declared_and_peace_offered_from_the_list_of_kingdoms(house: Running, visit: Visit) -> None:
    other = house.house.rooms["realm"].room.world.sim.kingdoms[2].name
    table = opened(house, visit, "ada")
    table.at.get_by_role("button", name="Kingdoms").click()
    table.at.locator("#facts").get_by_role("button", name=other).first.click()
    table.order(f"Declare war on {other}")
    expect(table.at.locator("#result")).to_contain_text("is at war with")
    expect(table.at.locator("#facts")).to_contain_text("At war with")
    table.order(f"Offer peace to {other}")
    expect(table.at.locator("#result")).to_contain_text("has offered peace")


def test_a_watcher_reads_the_map_and_is_offered_no_order(house: Running, visit: Visit) -> None:
    name, city, _, _ = city_and_free_place(house)
    table = opened(house, visit, "ivy")
    table.click(city["x"], city["y"])
    expect(table.at.get_by_role("heading", name=name)).to_be_visible()
    expect(table.at.locator("#facts")).to_contain_text("Loyalty")
    assert table.choices() == []
    table.click(city["x"] + 2, city["y"])
    expect(table.at.locator("#facts")).to_contain_text("land of")
    assert table.choices() == []
    expect(table.at.locator("#show-powers")).to_be_hidden()


@pytest.mark.soak
def test_a_host_in_fog_sees_a_chart_that_is_not_dimmed(house: Running, visit: Visit) -> None:
    king, host = opened(house, visit, "ada"), opened(house, visit, "ruth")
    dimmed = "() => picture.ground.veil.getContext('2d').getImageData(0, 0, 9999, 9999).data.some((v, at) => at % 4 === 3 && v)"
    assert king.frame.evaluate(dimmed)
    expect(king.at.locator("#fog")).to_be_hidden()
    assert not host.frame.evaluate(dimmed)
    expect(host.at.locator("#fog")).to_be_visible()


@pytest.mark.soak
def test_a_king_without_a_kingdom_is_told_that_it_has_fallen(house: Running, visit: Visit) -> None:
    sim = house.house.rooms["realm"].room.world.sim
    realms.end_kingdom(sim, sim.kingdoms[1], "a test")
    king, host = opened(house, visit, "ada"), opened(house, visit, "ruth")
    expect(king.at.locator("#fog")).to_have_text("Your kingdom is no more: you see the land, not what happens on it.")
    expect(host.at.locator("#fog")).to_have_text("Fog: you see the land, not what happens on it.")


@pytest.mark.soak
def test_a_replay_offers_no_order_to_a_king(house: Running, visit: Visit) -> None:
    _, city, _, _ = city_and_free_place(house)
    table = opened(house, visit, "ada")
    table.click(city["x"], city["y"])
    expect(table.at.locator("#choices").get_by_role("button", name="Gather")).to_be_visible()
    table.frame.evaluate("context.replay = true")
    table.click(city["x"] + 2, city["y"])
    expect(table.at.locator("#facts")).to_contain_text("land of your kingdom")
    assert table.choices() == []


@pytest.mark.soak
def test_a_god_finds_a_power_by_its_name_and_uses_it_where_it_clicks(house: Running, visit: Visit) -> None:
    _, city, _, _ = city_and_free_place(house)
    table = opened(house, visit, "zoe")
    table.at.get_by_role("button", name="Powers").click()
    table.at.get_by_role("searchbox").fill("meteor")
    table.at.get_by_role("button", name="meteorite", exact=True).click()
    expect(table.at.locator("#armed")).to_contain_text("choose a place")
    world = house.house.rooms["realm"].room.world
    before = world.sim.land.ground.copy()
    x, y = city["x"] + 12, city["y"]
    table.click(x, y)
    expect(table.at.locator("#armed")).to_contain_text(f"meteorite at {x}, {y}")
    changed = {world.sim.land.xy(int(cell)) for cell in (before != world.sim.land.ground).nonzero()[0]}
    assert (x, y) in changed
    table.page.keyboard.press("Escape")
    expect(table.at.locator("#armed")).to_be_hidden()


@pytest.mark.soak
def test_the_map_zooms_with_the_wheel_and_moves_with_the_mouse_without_choosing_anything(
    house: Running, visit: Visit
) -> None:
    table = opened(house, visit, "ivy", viewport={"width": 1000, "height": 700})
    camera = "[picture.camera.scale, picture.camera.x, picture.camera.y]"
    scale, x, y = table.frame.evaluate(camera)
    mouse = table.page.mouse
    mouse.move(500, 350)
    mouse.wheel(0, -600)
    table.frame.wait_for_function(f"() => picture.camera.scale > {scale * 1.5}")
    table.at.locator("#minimap").wait_for(state="visible")
    near, x, y = table.frame.evaluate(camera)
    mouse.down()
    mouse.move(400, 300, steps=4)
    mouse.up()
    after = table.frame.evaluate(camera)
    assert after == pytest.approx([near, x + 100 / near, y + 50 / near], abs=0.3)
    expect(table.at.locator("#panel")).to_be_hidden()
    table.at.get_by_role("button", name="Whole map").click()
    table.frame.wait_for_function(f"() => picture.camera.scale === {scale}")


@pytest.mark.soak
def test_creatures_walk_between_two_scenes_and_nothing_is_drawn_while_nothing_changes(
    house: Running, visit: Visit
) -> None:
    table = opened(house, visit, "ivy")
    drawn = "async () => { const from = picture.frames; for (let i = 0; i < 20; i++) await new Promise(requestAnimationFrame); return picture.frames - from; }"
    table.frame.wait_for_function("() => performance.now() - picture.creatures.arrivedAt > 2_000")
    assert table.frame.evaluate(drawn) == 0
    house.call("ruth", "resume", "realm")
    table.frame.wait_for_function("() => picture.creatures.walking > 0.2 && picture.creatures.walking < 0.9")
    assert table.frame.evaluate("[...picture.creatures.from].some((place, at) => place !== picture.creatures.to[at])")
