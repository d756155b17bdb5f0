"""The page of a traveller: from the Nexus into a game, in and out of a body, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cohabit.scenario import AgentSpec, Scenario, read_scenario

from .page import Running, Visit, events, open_drawer, token

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
    """Travel to the wilderness, in the same tab."""
    page.get_by_role("button", name="enter game wilderness").click()
    page.get_by_role("link", name="Open the room wilderness").click()
    expect(page.locator("h1")).to_have_text("Crafter, shared")
    return page


def in_nexus(page: Page) -> None:
    expect(page.locator("h1")).to_have_text("The Nexus")
    expect(page.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")
    expect(page.get_by_role("alert")).to_be_hidden()  # nothing has gone wrong


def wait_a_step(page: Page) -> None:
    """In the game, whose document has the actions."""
    page.frame_locator(".front-end-frame").get_by_role("button", name="Wait").click()


def test_a_traveller_enters_a_game_plays_and_returns_in_the_same_tab(house: Running, visit: Visit) -> None:
    link = house.link_with(token("nexus-traveller"), "nexus")
    page, other = visit(link), visit(link)
    expect(page.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")
    enter(page)
    expect(other.locator(".world-text")).to_contain_text("You are in the game wilderness")
    expect(other.get_by_role("button", name="enter game wilderness")).to_have_count(0)
    wait_a_step(page)
    expect(page.locator(".world-text")).to_contain_text("Step 1/")
    page.go_back()
    expect(page.locator("h1")).to_have_text("The Nexus")
    page.get_by_role("button", name="Go to the game").click()
    expect(page.locator("h1")).to_have_text("Crafter, shared")
    open_drawer(page, "Body").get_by_role("button", name="Return to the Nexus").click()
    in_nexus(page)
    for seen in (page, other):
        expect(seen.locator(".world-text")).to_contain_text("wilderness: 1 step, left: voluntary")
        expect(seen.get_by_role("button", name="enter game wilderness")).to_be_visible()
        expect(events(seen).filter(has_text="traveller returns from wilderness")).to_have_count(1)
    page.reload()
    in_nexus(page)


def test_a_traveller_can_return_from_the_page_of_the_nexus(house: Running, visit: Visit) -> None:
    link = house.link_with(token("nexus-traveller"), "nexus")
    game = enter(visit(link))
    nexus = visit(link)
    open_drawer(nexus, "Travel").get_by_role("button", name="Return to the Nexus").click()
    in_nexus(nexus)
    expect(nexus.get_by_role("button", name="Return to the Nexus")).to_be_hidden()
    in_nexus(game)


def test_a_traveller_chooses_how_hard_a_game_is_and_when_the_visit_ends(house: Running, visit: Visit) -> None:
    link = house.link_with(token("nexus-traveller"), "nexus")
    page, other = visit(link), visit(link)
    travel = open_drawer(page, "Travel")
    travel.get_by_label("Difficulty of the game").select_option("hard")
    travel.get_by_label("End the visit by itself when").fill("steps >= 2, died, I am tired")
    page.get_by_role("button", name="enter game wilderness").click()
    expect(page.locator(".result").filter(has_text="Difficulty: hard")).to_contain_text(
        "Your visit ends by itself when `steps >= 2` holds, or when `died` holds. Not evaluated, so these do not end your "
        'visit: "I am tired"'
    )
    expect(page.get_by_label("Difficulty of the game")).to_be_hidden()
    page.get_by_role("link", name="Open the room wilderness").click()
    wait_a_step(page)
    expect(page.locator(".world-text")).to_contain_text("Step 1/")  # in rounds, a second choice replaces the first
    wait_a_step(page)
    in_nexus(page)
    expect(other.locator(".world-text")).to_contain_text("wilderness: 2 steps, left: steps >= 2")


def test_a_traveller_goes_on_to_another_game_from_the_page_of_the_nexus(house: Running, visit: Visit) -> None:
    house.open(read_scenario("frontier"), "frontier")
    link = house.link_with(token("nexus-traveller"), "nexus")
    nexus = visit(link)
    expect(nexus.get_by_label("When you leave, go to")).to_be_hidden()
    expect(nexus.get_by_role("button", name="enter game frontier")).to_be_visible()
    enter(visit(link))
    open_drawer(nexus, "Travel")
    where = nexus.get_by_label("When you leave, go to")
    expect(where.locator("option")).to_have_text(["the Nexus", "frontier"])
    where.select_option("frontier")
    nexus.get_by_role("button", name="Go on to frontier").click()
    expect(nexus.locator(".world-text")).to_contain_text("You are in the game frontier")
    expect(nexus.get_by_role("link", name="Open the room frontier")).to_be_visible()
    expect(where.locator("option")).to_have_text(["the Nexus", "wilderness"])
    nexus.get_by_role("button", name="Return to the Nexus").click()
    expect(nexus.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")


def test_the_page_offers_what_one_can_do_with_a_body(house: Running, visit: Visit) -> None:
    game = enter(visit(house.link_with(token("nexus-traveller"), "nexus")))
    open_drawer(game, "Body")
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
    open_drawer(page, "Body")
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
    open_drawer(page, "Body")
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
    expect(watching.get_by_role("button", name="Body")).to_be_hidden()
