"""The front end of the Nexus: a map of games from which people travel, in a real browser against a real house."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from cohabit.scenario import AgentSpec, read_scenario

from .page import Running, Visit, token
from .test_front_end import PHONE, document, frame_of

pytestmark = pytest.mark.browser


@pytest.fixture
def house(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Running]:
    """``param``: whether the tokens of the Nexus are valid in the whole house."""
    running = Running(tmp_path)
    running.start()
    try:
        for room in ("wilderness", "frontier", "nexus"):
            plan = read_scenario(room)
            plan.house_tokens = getattr(request, "param", plan.house_tokens)
            plan.agents.append(AgentSpec(id="eve", kind="human", role="observer"))
            for agent in plan.agents:
                agent.token = token(f"{room}-{agent.id}")
            running.open(plan, room)
        yield running
    finally:
        running.stop()


def nexus(house: Running, visit: Visit, who: str = "traveller", **how: Any) -> tuple[Page, FrameLocator]:
    page = visit(house.link_with(token(f"nexus-{who}"), "nexus"), **how)
    return page, document(page)


def island(paper: FrameLocator, game: str) -> Any:
    return paper.locator(f"[data-place={game}]")


@pytest.mark.sampled
@pytest.mark.parametrize("size", [{"width": 1280, "height": 720}, PHONE], ids=["wide", "phone"])
def test_a_person_travels_to_a_game_and_back_on_the_map_in_one_tab(house: Running, visit: Visit, size: Any) -> None:
    page, paper = nexus(house, visit, viewport=size)
    island(paper, "wilderness").click()
    paper.get_by_text("hard", exact=True).click()
    expect(paper.locator("#enter")).to_be_in_viewport(ratio=1)
    paper.get_by_role("button", name="Travel to wilderness").click()
    expect(page.locator("h1")).to_have_text("Crafter, shared")  # the page has followed
    state = house.call("nexus-traveller", "view", "nexus").observation.status
    assert state["in_game"] == "wilderness"
    page.go_back()
    expect(island(paper, "wilderness")).to_contain_text("You are here")
    paper.get_by_role("button", name="Return to the Nexus").click()
    expect(paper.locator("#hub")).to_contain_text("You are here")
    expect(island(paper, "wilderness")).to_contain_text("☾ traveller sleeps here")
    expect(paper.get_by_role("button", name="Wake up in wilderness")).to_be_visible()


@pytest.mark.soak
def test_a_person_travels_with_keys_only(house: Running, visit: Visit) -> None:
    page, paper = nexus(house, visit)
    expect(island(paper, "wilderness")).to_be_visible()
    for selector in ("[data-place=wilderness]", "#enter"):
        while not frame_of(page).evaluate(f"document.activeElement.matches({selector!r})"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Crafter, shared")


@pytest.mark.parametrize("house", [False], indirect=True, ids=["tokens of one room"])
def test_the_token_for_a_game_is_not_given_to_the_document(house: Running, visit: Visit) -> None:
    page, paper = nexus(house, visit)
    island(paper, "frontier").click()
    frame = frame_of(page)
    keep = """() => {
        const real = call;
        call = async (name, args) => {
            const reply = await real(name, args);
            if (name === "enter_game") top.postMessage({ kept: JSON.stringify(reply) }, "*");
            return reply;
        };
    }"""
    hold = """() => { // the journey, until the document has its answer
        const real = setTimeout;
        window.held = [];
        window.setTimeout = (run, ms, ...args) => (ms === undefined ? held.push(run) : real(run, ms, ...args));
        addEventListener("message", ({ data }) => { if (data.kept) window.kept = data.kept; });
    }"""
    page.evaluate(hold)
    frame.evaluate(keep)
    paper.get_by_role("button", name="Travel to frontier").click()
    page.wait_for_function("() => window.kept")
    assert '"room"' in page.evaluate("window.kept")
    assert '"token"' not in page.evaluate("window.kept")
    page.evaluate("() => held.forEach((run) => run())")
    expect(page.locator("h1")).to_have_text("Planets")  # the page has it


@pytest.mark.soak
def test_goals_and_memories_are_kept_and_dropped(house: Running, visit: Visit) -> None:
    _, paper = nexus(house, visit)
    paper.get_by_role("tab", name="Goals").click()
    paper.get_by_label("A goal in your own words").fill("see the <i>sea</i>")
    paper.get_by_label("A goal in your own words").press("Enter")
    expect(paper.locator("#goals .line")).to_contain_text("see the <i>sea</i>")
    paper.get_by_role("button", name="Pursue").click()
    expect(paper.locator("#goals .line")).to_have_count(2)
    paper.get_by_role("button", name="Give up").first.click()
    paper.get_by_role("tab", name="Memory").click()
    paper.get_by_label("A strategy").fill("trees first")
    paper.get_by_role("button", name="Keep").last.click()
    expect(paper.locator("#memory .line")).to_contain_text("trees first")
    paper.get_by_role("button", name="Forget: trees first").click()
    expect(paper.locator("#memory .line")).to_have_count(0)


@pytest.mark.soak
def test_skills_are_a_wheel_with_a_table_of_the_same_numbers(house: Running, visit: Visit) -> None:
    _, paper = nexus(house, visit)
    paper.get_by_role("tab", name="Skills").click()
    expect(paper.locator("#skills .radar .point")).to_have_count(9)
    expect(paper.locator("#skills table tbody tr")).to_have_count(9)


@pytest.mark.soak
def test_a_watcher_sees_the_map_and_can_do_nothing(house: Running, visit: Visit) -> None:
    _, paper = nexus(house, visit, "eve")
    island(paper, "frontier").click()
    expect(paper.locator("#travel")).to_contain_text("64 of 64 seats free")
    expect(paper.locator("#travel button, input:visible, select:visible")).to_have_count(0)
    expect(paper.get_by_role("tab")).to_have_text(["Place"])
    house.call("nexus-traveller", "enter_game", "nexus", game_id="frontier")
    expect(island(paper, "frontier")).to_contain_text("traveller")
