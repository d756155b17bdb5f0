"""Crafter and Planets in a browser: keys, other players, menus, and replays. `test_page_played.py` plays whole games."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Frame, FrameLocator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = pytest.mark.browser
PHONE: Any = {"width": 390, "height": 844}
DESK: Any = {"width": 1440, "height": 900}


@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


def plan(world: str, *people: str) -> Scenario:
    """A game for these people, and somebody who sees everything."""
    seated = [
        AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}", token=token(name))
        for i, name in enumerate(people)
    ]
    watching = AgentSpec(id="zeus", kind="human", role="god", token=token("zeus"))
    return Scenario(scenario="tiles", world=world, seed=1, agents=[*seated, watching])


def table(house: Running, who: str) -> str:
    """The link to the document alone, in the whole window."""
    return house.link(who).replace("?", "?view=table&", 1)


def document(page: Page) -> FrameLocator:
    return page.frame_locator(".front-end-frame")


def frame_of(page: Page) -> Frame:
    handle = page.locator(".front-end-frame").element_handle()
    frame = handle.content_frame() if handle is not None else None
    assert frame is not None
    return frame


def begin(page: Page) -> None:
    """Go to the document, as a person does who presses something in it, once it knows its keys."""
    at_step(page, 0)
    expect(document(page).locator("#moves .kbd").first).to_be_attached()
    document(page).locator("#name").click()


def step_of(house: Running, who: str = "ann") -> int:
    step: int = house.call(who, "view").observation.step
    return step


def at_step(page: Page, number: int) -> None:
    expect(document(page).locator("#time, #where")).to_have_text(re.compile(rf"step {number}\b"))


def colours(page: Page) -> int:
    """How many colours the scene has: one if nothing was drawn."""
    found: int = frame_of(page).evaluate(
        """() => {
            const canvas = document.getElementById("scene");
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(canvas, 0, 0);
            const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size;
        }"""
    )
    return found


HOLD = """(times) => {
    const type = (name, repeat) => document.body.dispatchEvent(
        new KeyboardEvent(name, { key: "ArrowRight", repeat, bubbles: true, cancelable: true }));
    for (let i = 0; i < times; i += 1) type("keydown", i > 0);
    if (times < 50) type("keyup", false);
}"""


TYPE = """() => !document.body.dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true, cancelable: true })) && document.body.hasAttribute("data-pending")"""


@pytest.mark.soak
def test_a_key_that_repeats_faster_than_the_replies_moves_once_and_a_held_key_goes_on(
    house: Running, visit: Visit
) -> None:
    house.open(plan("crafter", "ann"))
    page = visit(table(house, "ann"), viewport=DESK)
    begin(page)
    frame_of(page).evaluate(HOLD, 40)
    at_step(page, 1)
    expect(document(page).locator("body")).not_to_have_attribute("data-pending", "")
    page.keyboard.press("ArrowLeft")
    at_step(page, 2)
    expect(document(page).locator("body")).not_to_have_attribute("data-pending", "")
    assert step_of(house) == 2
    frame_of(page).evaluate(HOLD, 50)  # without letting it go
    expect(document(page).locator("#time, #where")).to_have_text(re.compile(r"step (?![0-5]\b)\d+"))


@pytest.mark.soak
def test_z_sleeps_and_tab_leads_to_the_next_button(house: Running, visit: Visit) -> None:
    house.open(plan("crafter", "ann"))
    page = visit(table(house, "ann"), viewport=DESK)
    begin(page)
    button = document(page).get_by_role("button", name="Move left (←)")
    expect(button).to_be_visible()
    page.keyboard.press("z")
    at_step(page, 1)
    button.focus()
    page.keyboard.press("Tab")
    expect(button).not_to_be_focused()
    assert step_of(house) == 1


@pytest.mark.sampled
@pytest.mark.parametrize("world", ["crafter", "planet"])
def test_a_replay_has_no_pad_and_draws_the_same_scene(house: Running, visit: Visit, world: str) -> None:
    house.open(plan(world, "ann"))
    page = visit(table(house, "ann"), viewport=DESK)
    begin(page)
    expect(document(page).locator("#pad")).to_be_visible()
    frame_of(page).evaluate("() => { context.replay = true; draw(view); }")
    expect(document(page).locator("#pad")).to_be_hidden()
    assert colours(page) > 20
    assert frame_of(page).evaluate(TYPE) is False  # the document leaves keys to the page around it


def edit(house: Running, change: Callable[[Any], None]) -> None:
    """Change the world of the room, as no player could."""

    async def now() -> None:
        change(house.house.rooms["table"].room.world)

    house.run(now())


@pytest.mark.soak
def test_players_of_crafter_for_many_see_each_other_and_hand_things_on(house: Running, visit: Visit) -> None:
    house.open(plan("crafter_shared", "ann", "bob"))

    edit(house, lambda world: world.game.players[0].items.__setitem__(1, 3))
    page = visit(table(house, "ann"), viewport=DESK, reduced_motion="reduce")
    wood = document(page).get_by_role("button", name="3 wood: give or drop")
    wood.click()
    document(page).get_by_role("button", name="Drop 1").click()
    expect(document(page).locator("#news")).to_have_text("You have chosen. Waiting for the others …")
    house.call("bob", "noop")
    at_step(page, 1)
    watcher = visit(table(house, "zeus"), viewport=DESK, reduced_motion="reduce")
    expect(document(watcher).locator("#people button")).to_have_count(2)
    far = colours(watcher)
    document(watcher).locator("#people button").filter(has_text="bob").click()
    expect(document(watcher).locator("#people [aria-pressed=true]")).to_contain_text("bob")
    assert min(far, colours(watcher)) > 20


@pytest.mark.soak
def test_a_player_of_planets_crafts_places_and_looks_at_the_map(house: Running, visit: Visit) -> None:
    house.open(plan("planet", "ann"))
    edit(house, lambda world: world.game.bodies[0].items.update(wood=9))
    page = visit(table(house, "ann"), viewport=PHONE, reduced_motion="reduce")
    doc = document(page)
    doc.get_by_role("tab", name="Craft").click()
    doc.get_by_role("button", name="Make workbench").click()
    at_step(page, 1)
    doc.get_by_role("tab", name="Bag").click()
    doc.locator("[data-item=workbench]").click()
    doc.locator("#aims [data-action=place]:not([aria-disabled=true])").first.click()
    at_step(page, 2)
    expect(doc.locator("[data-item=workbench]")).to_have_count(0)
    assert "workbench" not in house.call("ann", "view").observation.inventory
    doc.get_by_role("button", name="Map").click()
    expect(doc.locator("#map canvas")).to_be_visible()
    doc.get_by_role("button", name="Close").click()
    watcher = visit(table(house, "zeus"), viewport=DESK, reduced_motion="reduce")
    expect(document(watcher).locator("#crew button")).to_have_count(1)
    assert colours(watcher) > 20


def test_a_watcher_of_crafter_who_does_not_see_the_land_gets_the_players_in_the_whole_width(
    house: Running, visit: Visit
) -> None:
    scenario = plan("crafter_shared", "ann")
    scenario.agents.append(AgentSpec(id="eve", kind="human", role="agent", token=token("eve")))
    house.open(scenario)
    page = visit(table(house, "eve"))
    expect(document(page).locator("#name")).to_have_text("The players")
    game, side = (document(page).locator(name).bounding_box() for name in ("#game", "#side"))
    assert game is not None
    assert side is not None
    assert side["width"] > game["width"] * 0.9


@pytest.mark.soak
@pytest.mark.parametrize(("world", "key"), [("crafter", "ArrowRight"), ("planet", "d")])
def test_what_has_changed_is_said_and_the_text_of_the_view_is_there(
    house: Running, visit: Visit, world: str, key: str
) -> None:
    house.open(plan(world, "ann"))
    page = visit(table(house, "ann"), viewport=DESK, reduced_motion="reduce")
    begin(page)
    page.keyboard.press(key)
    at_step(page, 1)
    expect(document(page).locator("#said")).not_to_be_empty()
    expect(document(page).locator("#as-text")).to_contain_text("Carry")
    unnamed = (
        document(page)
        .locator("button")
        .evaluate_all(
            "all => all.filter((button) => !(button.getAttribute('aria-label') ?? button.textContent).trim()).length"
        )
    )
    assert unnamed == 0
