"""The page of a traveller: from the Nexus into a game, in and out of a body, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cohabit.scenario import AgentSpec, Scenario, read_scenario

from .page import Running, Visit, events, token

CAVES = f"{Path(__file__).parent.parent / 'worlds_samples' / 'bodies' / 'caves.py'}:Caves"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path)
    running.start()
    try:
        for room in ("wilderness", "nexus"):
            plan = read_scenario(room)
            for agent in plan.agents:
                agent.token = token(f"{room}-{agent.id}")
            running.open(plan, room)
        yield running
    finally:
        running.stop()


def enter(page: Page) -> Page:
    """Travel to the wilderness; the tab of the game."""
    page.get_by_role("button", name="enter game wilderness").click()
    link = page.get_by_role("link", name="Open the room wilderness")
    with page.expect_popup() as opened:
        link.click()
    return opened.value


def test_a_traveller_enters_a_game_plays_and_returns(house: Running, visit: Visit) -> None:
    nexus = visit(house.link_with(token("nexus-traveller"), "nexus"))
    expect(nexus.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")
    game = enter(nexus)
    expect(game.locator("h1")).to_have_text("Crafter, shared")
    expect(nexus.locator(".world-text")).to_contain_text("You are in the game wilderness")
    expect(nexus.get_by_role("button", name="enter game wilderness")).to_have_count(0)
    game.get_by_role("button", name="noop").click()
    expect(game.locator(".world-text")).to_contain_text("Step 1/")
    game.get_by_role("button", name="Return to the Nexus").click()
    expect(game.get_by_text("You have returned to the Nexus. You can close this tab.")).to_be_visible()
    expect(nexus.locator(".world-text")).to_contain_text("wilderness: 1 step, left: voluntary")
    expect(nexus.get_by_role("button", name="enter game wilderness")).to_be_visible()
    expect(nexus.get_by_role("link", name="Open the room wilderness")).to_have_count(0)
    expect(events(nexus).filter(has_text="traveller returns from wilderness")).to_have_count(1)


def test_a_traveller_can_return_from_the_page_of_the_nexus(house: Running, visit: Visit) -> None:
    nexus = visit(house.link_with(token("nexus-traveller"), "nexus"))
    enter(nexus).close()
    nexus.get_by_role("button", name="Return to the Nexus").click()
    expect(nexus.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")
    expect(nexus.get_by_role("button", name="Return to the Nexus")).to_be_hidden()


def test_a_traveller_chooses_how_hard_a_game_is_and_when_the_visit_ends(house: Running, visit: Visit) -> None:
    nexus = visit(house.link_with(token("nexus-traveller"), "nexus"))
    nexus.get_by_label("Difficulty of the game").select_option("hard")
    nexus.get_by_label("End the visit by itself when").fill("steps >= 2, died, I am tired")
    game = enter(nexus)
    expect(nexus.locator(".result").filter(has_text="Difficulty: hard")).to_contain_text(
        "Your visit ends by itself when `steps >= 2` holds, or when `died` holds. Not evaluated, so these do not end your "
        'visit: "I am tired"'
    )
    expect(nexus.get_by_label("Difficulty of the game")).to_be_hidden()
    game.get_by_role("button", name="noop").click()
    expect(game.locator(".world-text")).to_contain_text("Step 1/")  # in rounds, a second choice replaces the first
    game.get_by_role("button", name="noop").click()
    expect(nexus.locator(".world-text")).to_contain_text("wilderness: 2 steps, left: steps >= 2")
    expect(nexus.get_by_label("Difficulty of the game")).to_have_value("hard")


def test_a_traveller_goes_on_to_another_game_from_the_page_of_the_nexus(house: Running, visit: Visit) -> None:
    house.open(read_scenario("frontier"), "frontier")
    nexus = visit(house.link_with(token("nexus-traveller"), "nexus"))
    expect(nexus.get_by_label("When you leave, go to")).to_be_hidden()
    expect(nexus.get_by_role("button", name="enter game frontier")).to_be_visible()
    enter(nexus).close()
    where = nexus.get_by_label("When you leave, go to")
    expect(where.locator("option")).to_have_text(["the Nexus", "frontier"])
    where.select_option("frontier")
    nexus.get_by_role("button", name="Go on to frontier").click()
    expect(nexus.locator(".world-text")).to_contain_text("You are in the game frontier")
    with nexus.expect_popup() as opened:
        nexus.get_by_role("link", name="Open the room frontier").click()
    expect(opened.value.locator("h1")).to_have_text("Planets")
    expect(where.locator("option")).to_have_text(["the Nexus", "wilderness"])
    nexus.get_by_role("button", name="Return to the Nexus").click()
    expect(nexus.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")


def test_the_page_offers_what_one_can_do_with_a_body(house: Running, visit: Visit) -> None:
    game = enter(visit(house.link_with(token("nexus-traveller"), "nexus")))
    body = game.locator(".body")
    expect(body.locator("li")).to_have_text(re.compile("traveller you control it, health 9 of 9"))
    body.get_by_role("button", name="Leave the body asleep").click()
    expect(body.locator("li")).to_have_text(re.compile("traveller asleep in the world"))
    expect(body.get_by_role("button", name="Leave the body asleep")).to_be_hidden()
    expect(game.get_by_role("button", name="Take a seat")).to_have_count(0)
    body.get_by_role("button", name="Enter a body").click()
    expect(body.locator("li")).to_have_text(re.compile("you control it"))


def test_the_dead_can_come_back_to_life(house: Running, visit: Visit) -> None:
    ann = AgentSpec(id="ann", kind="human", role="human", token=token("ann"))
    house.open(Scenario(world=CAVES, agents=[ann]), "caves")
    page = visit(house.link("ann", "caves"))
    body = page.locator(".body")
    body.get_by_role("button", name="Enter a body").click()
    expect(body.locator("li")).to_have_text(re.compile("ann you control it, health 3 of 3"))
    house.call("ann", "jump", "caves")
    expect(body.locator("li")).to_have_text(re.compile("ann dead"))
    expect(body.get_by_role("button", name="Enter a body")).to_be_hidden()
    body.get_by_role("button", name="Come back to life").click()
    expect(body.locator("li")).to_have_text(re.compile("ann you control it, health 3 of 3"))


def test_a_player_with_several_avatars_chooses_which_one_it_controls(house: Running, visit: Visit) -> None:
    ann = AgentSpec(id="ann", kind="human", role="human", token=token("ann"))
    house.open(Scenario(world=CAVES, agents=[ann]), "caves")
    for name in ("Ada", "Bea"):
        house.call("ann", "create_avatar", "caves", name=name)
    page = visit(house.link("ann", "caves"))
    lines = page.locator(".body li")
    expect(lines.filter(has_text="Ada")).to_have_text("Ada has no body yet Control this one")
    lines.filter(has_text="Bea").get_by_role("button", name="Control this one").click()
    expect(lines.filter(has_text="Bea")).to_have_text(re.compile("Bea you control it"))
    lines.filter(has_text="Ada").get_by_role("button", name="Control this one").click()
    expect(lines.filter(has_text="Ada")).to_have_text(re.compile("Ada you control it"))
    expect(lines.filter(has_text="Bea")).to_have_text(re.compile("Bea asleep in the world"))
    expect(page.get_by_role("button", name="Control this one")).to_have_count(1)


def test_a_member_without_a_body_of_its_own_is_offered_none(house: Running, visit: Visit) -> None:
    watching = visit(house.link_with(token("wilderness-spectator"), "wilderness"))
    expect(watching.locator(".world-text")).to_contain_text("Nobody is here")
    expect(watching.locator(".body .offer")).to_be_hidden()
