"""The page of a traveller: from the Nexus into a game, in and out of a body, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cohabit.scenario import AgentSpec, Scenario, read_scenario

from .page import Running, Visit, events, open_drawer, token
from .test_front_end import document, frame_of

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
    choose(page, "wilderness")
    document(page).get_by_role("button", name="Travel to wilderness").click()
    expect(page.locator("h1")).to_have_text("Crafter, shared")
    return page


def choose(page: Page, game: str) -> None:
    """Choose a game on the map of the Nexus."""
    document(page).locator(f"[data-place={game}]").click()


def in_nexus(page: Page) -> None:
    expect(page.locator("h1")).to_have_text("The Nexus")
    expect(page.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")
    expect(page.get_by_role("alert")).to_be_hidden()  # nothing has gone wrong


def wait_a_step(page: Page) -> None:
    """In the game, whose document has the actions."""
    document(page).get_by_role("button", name="Wait").click()


def test_a_traveller_enters_a_game_plays_and_returns_in_the_same_tab(house: Running, visit: Visit) -> None:
    link = house.link_with(token("nexus-traveller"), "nexus")
    page, other = visit(link), visit(link)
    expect(page.locator(".world-text")).to_contain_text("You are in the Nexus, without a body")
    enter(page)
    expect(other.locator(".world-text")).to_contain_text("You are in the game wilderness")
    expect(document(other).get_by_role("button", name="Travel to wilderness")).to_have_count(0)
    wait_a_step(page)
    expect(page.locator(".world-text")).to_contain_text("Step 1/")
    page.go_back()
    expect(page.locator("h1")).to_have_text("The Nexus")
    document(page).get_by_role("button", name="Go to the game").click()
    expect(page.locator("h1")).to_have_text("Crafter, shared")
    open_drawer(page, "Body").get_by_role("button", name="Return to the Nexus").click()
    in_nexus(page)
    for seen in (page, other):
        expect(seen.locator(".world-text")).to_contain_text("wilderness: 1 step, left: voluntary")
        expect(document(seen).locator("#hub")).to_contain_text("You are here")
        expect(events(seen).filter(has_text="traveller returns from wilderness")).to_have_count(1)
    page.reload()
    in_nexus(page)


@pytest.mark.soak
def test_a_traveller_can_return_from_the_page_of_the_nexus(house: Running, visit: Visit) -> None:
    link = house.link_with(token("nexus-traveller"), "nexus")
    game = enter(visit(link))
    nexus = visit(link)
    document(nexus).get_by_role("button", name="Return to the Nexus").click()
    in_nexus(nexus)
    expect(document(nexus).get_by_role("button", name="Return to the Nexus")).to_be_hidden()
    in_nexus(game)


@pytest.mark.soak
def test_a_traveller_chooses_how_hard_a_game_is_and_when_the_visit_ends(house: Running, visit: Visit) -> None:
    link = house.link_with(token("nexus-traveller"), "nexus")
    page, other = visit(link), visit(link)
    choose(page, "wilderness")
    travel = document(page)
    travel.get_by_text("hard", exact=True).click()
    travel.get_by_text("When the visit ends by itself").click()
    travel.get_by_label("Or when").fill("steps >= 2, died, I am tired")
    travel.get_by_role("button", name="Travel to wilderness").click()
    expect(page.locator("h1")).to_have_text("Crafter, shared")
    wait_a_step(page)
    expect(page.locator(".world-text")).to_contain_text("Step 1/")  # in rounds, a second choice replaces the first
    wait_a_step(page)
    in_nexus(page)
    expect(other.locator(".world-text")).to_contain_text("wilderness: 2 steps, left: steps >= 2")


@pytest.mark.soak
def test_a_traveller_goes_on_to_another_game_from_the_page_of_the_nexus(house: Running, visit: Visit) -> None:
    house.open(read_scenario("frontier"), "frontier")
    link = house.link_with(token("nexus-traveller"), "nexus")
    nexus = visit(link)
    enter(visit(link))
    choose(nexus, "frontier")
    document(nexus).get_by_role("button", name="Leave it and go on to frontier").click()
    expect(nexus.locator("h1")).to_have_text("Planets")
    nexus.go_back()
    expect(nexus.locator(".world-text")).to_contain_text("You are in the game frontier")
    choose(nexus, "frontier")
    document(nexus).get_by_role("button", name="Return to the Nexus").click()
    in_nexus(nexus)


def test_the_choices_of_the_nexus_are_shown_on_its_map_alone_and_below_it_when_it_is_closed(
    house: Running, visit: Visit
) -> None:
    page = visit(house.link_with(token("nexus-traveller"), "nexus"))
    choose(page, "wilderness")
    expect(document(page).get_by_role("button", name="Travel to wilderness")).to_be_enabled()
    expect(page.locator(".choice")).to_have_count(0)
    expect(page.get_by_role("button", name="Travel")).to_be_hidden()
    flood = "() => { for (let i = 0; i < 500; i += 1) parent.postMessage({}, '*'); }"
    frame_of(page).evaluate(flood)
    expect(page.get_by_text("sent too many messages and was closed")).to_be_visible()
    expect(page.get_by_role("button", name="enter game wilderness")).to_be_visible()


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
