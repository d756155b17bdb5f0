"""The list of rooms, in a real browser: live thumbnails of the rooms on the screen, and of no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cohabit.house.lifecycle import thumbnails
from cohabit.house.store.identities import new_identity
from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = pytest.mark.browser
SECRETS = f"{Path(__file__).parent.parent / 'room' / 'worlds.py'}:Secrets"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
ROOMS = 24


def open_rooms(house: Running, count: int) -> None:
    for number in range(count):
        room = f"room-{number:02}"
        players = [
            AgentSpec(id=name, role="player", claim=f"auto:{i}", token=token(f"{name}-{room}"))
            for i, name in enumerate(("ann", "bob"))
        ]
        plan = Scenario(scenario="hall", world=SECRETS, agents=players, partial_intel=True, guests=True)
        house.open(plan, room)


def lobby(house: Running) -> str:
    """The address of the list, for a person who is in none of the rooms."""
    person = new_identity("pia", "human")
    house.house.identities.put(person)
    secret = house.house.identities.temporary(person, None, house.house.clock.now())
    return f"http://127.0.0.1:{house.port}/#{secret}"


def picture(page: Page, room: str) -> Any:
    return page.locator(f'.thumbnail[data-room="{room}"]')


def test_the_lobby_shows_what_is_public_live_and_nothing_that_is_hidden(house: Running, visit: Visit) -> None:
    open_rooms(house, 2)
    house.call("ann-room-00", "shout", "room-00", text="hello")
    house.call("ann-room-00", "hide", "room-00", n=710_041)
    page = visit(lobby(house))
    expect(picture(page, "room-00")).to_contain_text("red: hello")
    expect(picture(page, "room-00")).to_contain_text("ann 1")
    expect(picture(page, "room-01")).to_contain_text("silence")
    house.call("bob-room-00", "shout", "room-00", text="good evening")
    expect(picture(page, "room-00")).to_contain_text("blue: good evening")
    expect(page.locator("body")).not_to_contain_text("710041")


@pytest.mark.soak
def test_only_rooms_on_the_screen_are_asked_for(house: Running, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    open_rooms(house, ROOMS)
    asked: list[str] = []
    make = thumbnails._make
    monkeypatch.setattr(thumbnails, "_make", lambda room: asked.append(room.id) or make(room))
    page = visit(lobby(house), **PHONE)
    expect(picture(page, "room-00")).to_contain_text("silence")
    first, last = "room-00", f"room-{ROOMS - 1:02}"
    assert 0 < len(set(asked)) <= 12
    assert last not in asked
    picture(page, last).scroll_into_view_if_needed()
    expect(picture(page, last)).to_contain_text("silence")
    asked.clear()
    house.call(f"ann-{last}", "shout", last, text="hello")
    house.call(f"ann-{first}", "shout", first, text="hello")
    expect(picture(page, last)).to_contain_text("hello")
    assert first not in asked
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
