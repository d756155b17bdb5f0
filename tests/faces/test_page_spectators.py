"""The page in a room that is open to spectators, in a real browser: everything, some steps ago, or what is public now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, open_drawer, token

pytestmark = pytest.mark.browser
SECRETS = f"{Path(__file__).parent.parent / 'room' / 'worlds.py'}:Secrets"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def open_room(house: Running, delay: int, world: str = SECRETS) -> str:
    """A room with players and a host; its watch link."""
    names = ("ann", "bob", "cat", "dan") if world == "whist" else ("ann", "bob")
    players = [AgentSpec(id=f"{name}-den", role="player", claim=f"auto:{i}") for i, name in enumerate(names)]
    others = [AgentSpec(id="hal-den", kind="human", role="host"), AgentSpec(id="pip-den", role="agent")]
    agents = [*players, *others]
    for agent in agents:
        agent.token = token(agent.id)
    plan = Scenario(
        scenario="den", world=world, agents=agents, partial_intel=world != "whist", spectator_delay=delay, seed=7
    )
    house.open(plan, "den")
    made = house.call("hal-den", "watch_link", "den")
    return f"http://127.0.0.1:{house.port}{made.link}"


def act(house: Running, who: str, command: str, **args: Any) -> None:
    house.call(f"{who}-den", command, "den", **args)


def choice(page: Page) -> Locator:
    return page.get_by_label("What you see")


def test_a_watcher_sees_everything_some_steps_later_and_may_look_at_what_is_public_now(
    house: Running, visit: Visit
) -> None:
    link = open_room(house, delay=2)
    act(house, "ann", "hide", n=710_041)
    page = visit(link)
    expect(page.get_by_text("open to spectators")).to_be_visible()
    expect(page.get_by_text("Nothing is shown yet")).to_be_visible()
    text = open_drawer(page, "Text")
    expect(text).to_contain_text("silence")
    act(house, "bob", "shout", text="one")
    act(house, "bob", "shout", text="two")
    expect(text).to_contain_text("red keeps [710041]")
    expect(text).not_to_contain_text("blue: one")
    expect(choice(page).locator("option:checked")).to_have_text("Everything, 2 steps ago")
    board = page.frame_locator("iframe").locator("body")
    expect(board).to_contain_text("710041")
    choice(page).select_option("now")
    expect(text).to_contain_text("blue: two")
    expect(text).not_to_contain_text("710041")
    expect(board).not_to_contain_text("710041")
    choice(page).select_option("delayed")
    expect(board).to_contain_text("710041")
    page.get_by_role("link", name="Watch again").click()
    page.get_by_label("Whose view").select_option("all")
    expect(page.get_by_text("with everything in sight")).to_be_visible()
    page.keyboard.press("End")
    expect(page.frame_locator("iframe").locator("body")).to_contain_text("710041")


def test_a_member_without_a_seat_chooses_to_be_a_spectator_and_a_player_is_not_asked(
    house: Running, visit: Visit
) -> None:
    open_room(house, delay=1)
    page, player = visit(house.link("pip-den", "den")), visit(house.link("ann-den", "den"))
    act(house, "ann", "hide", n=710_041)
    act(house, "bob", "shout", text="one")
    text = open_drawer(page, "Text")
    expect(text).to_contain_text("blue: one")
    expect(choice(page)).to_have_value("now")
    choice(page).select_option("delayed")
    expect(text).to_contain_text("710041")
    expect(open_drawer(page, "Story")).to_contain_text("pip-den watches as a spectator")
    expect(open_drawer(player, "Text")).to_contain_text("710041")  # her own
    expect(choice(player)).to_be_hidden()


@pytest.mark.soak
def test_a_watcher_of_whist_sees_all_hands_of_the_step_before_on_a_phone_also_after_a_rematch(
    house: Running, visit: Visit
) -> None:
    link = open_room(house, delay=1, world="whist")
    page = visit(link, **PHONE)
    expect(choice(page)).to_have_value("delayed")
    text = open_drawer(page, "Text")
    for game in (1, 2):
        for who in ("ann", "bob", "cat", "dan"):
            act(house, who, "act", action="cut", params={})
        hands = [hand(house, who) for who in ("ann", "bob", "cat", "dan")]
        assert all(len(cards) == 13 for cards in hands)
        cards_shown = page.frame_locator("iframe").locator(".open-hand .card")
        play(house)  # the step after which the hands are shown
        for cards in hands:
            expect(text).to_contain_text(cards[0])
        found = text.inner_text()
        assert all(card in found for cards in hands for card in cards)
        expect(cards_shown).to_have_count(52)
        if game == 1:
            act(house, "hal", "rematch")
            expect(choice(page)).to_have_value("delayed")


@pytest.mark.soak
def test_a_host_of_the_house_opens_a_room_to_spectators_when_it_creates_it(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/#{house.host_token('olga')}")
    page.get_by_role("button", name="Create a room").click()
    page.get_by_label("Scenario or world").select_option(label="Whist")
    delay = page.get_by_label("Spectators see everything")
    delay.fill("60")
    page.get_by_label("Scenario or world").select_option(label="Nim")
    expect(delay).to_be_hidden()  # there nothing is hidden
    page.get_by_label("Scenario or world").select_option(label="Whist")
    page.get_by_label("Name of the room").fill("open")
    page.get_by_role("button", name="Create the room").click()
    page.get_by_role("button", name="Open the room").click()
    expect(page.get_by_text("members who only watch can see everything, 60 steps later")).to_be_visible()


def hand(house: Running, who: str) -> list[str]:
    cards: list[str] = house.call(f"{who}-den", "view", "den").observation.status["myHand"]
    return cards


def play(house: Running) -> None:
    """Whoever is to move plays its first choice."""
    for who in ("ann", "bob", "cat", "dan"):
        view = house.call(f"{who}-den", "view", "den")
        if view.your_turn:
            move = view.observation.choices[0]
            act(house, who, "act", action=move["action"], params=move["params"])
            return
