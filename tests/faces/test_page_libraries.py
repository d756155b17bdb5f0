"""Games of other libraries on the page, in a real browser: a person chooses one, and plays it against a built-in player."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from .page import Running, Visit, turn

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("house"))
    running.start()
    try:
        yield running
    finally:
        running.stop()


def created(page: Page, visit: Visit, find: str, game: str, room: str) -> Page:
    """The page of a person in a new room, against a random player."""
    page.get_by_role("button", name="Create a room").click()
    page.get_by_label("Scenario or world").select_option("library openspiel")
    page.get_by_label("Find a game").fill(find)
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Played by").nth(1).select_option("random")
    page.get_by_label("Name of the room").fill(room)
    page.get_by_role("button", name="Create the room").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"The room {room} is ready")
    return visit(page.locator(".link-box input").nth(1).input_value())


def play_to_the_end(house: Running, ada: Page, room: str) -> int:
    """Click the first move whenever it is the turn of this person. Returns how many."""
    runner = house.house.rooms[room]
    for moves in range(100):
        expect(turn(ada)).to_have_text(re.compile("It is your turn|over"))
        if runner.room.is_over():
            return moves
        before = runner.version
        ada.locator("button.choice:enabled").first.click()
        assert house.run(runner.changed_since(before, house.house.clock.now() + 30_000))
    raise AssertionError("the game does not end")


@pytest.mark.sampled
@pytest.mark.parametrize("game", ["connect_four", "kuhn_poker"])
def test_a_person_chooses_a_game_of_a_library_and_plays_it_to_the_end(house: Running, visit: Visit, game: str) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/#{house.host_token('zoe')}")
    room = game.replace("_", "-")
    ada = created(page, visit, game.partition("_")[0], f"openspiel:{game}", room)
    assert play_to_the_end(house, ada, room) > 0
    assert house.house.rooms[room].room.is_over()
