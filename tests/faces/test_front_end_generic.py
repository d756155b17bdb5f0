"""The generic front end: worlds that have no document of their own are played on a board made from their views."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


def open_room(house: Running, world: str, seats: int = 2, **config: Any) -> None:
    people = [
        AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}", token=token(name))
        for i, name in enumerate(("ann", "bob")[:seats])
    ]
    eve = AgentSpec(id="eve", kind="human", role="observer", token=token("eve"))
    house.open(Scenario(scenario="generic", world=world, config=config, agents=[*people, eve]))


def document(page: Page) -> FrameLocator:
    return page.frame_locator(".front-end-frame")


def table(house: Running, who: str) -> str:
    """The link that opens the document alone."""
    return house.link(who).replace("?room=table", "?room=table&view=table")


def cell(page: Page, name: str) -> Locator:
    return document(page).get_by_role("button", name=re.compile(f"^{name},"))


def test_two_people_play_nim_to_its_end_by_clicking_stones(house: Running, visit: Visit) -> None:
    open_room(house, "nim", stones=7)
    ann, bob = visit(table(house, "ann")), visit(table(house, "bob"), viewport=PHONE, color_scheme="dark")
    for page, n, left in ((ann, 3, 4), (bob, 1, 3)):
        expect(document(page).locator("#turn")).to_have_text("Your turn")
        document(page).get_by_role("button", name=f"take {n}").first.click()
        expect(document(page).get_by_role("group", name=f"Stones: {left}")).to_be_visible()
    document(ann).get_by_role("button", name="take 3").first.click()
    expect(document(ann).locator("#turn")).to_have_text("You win!")
    expect(document(bob).locator("#turn")).to_have_text("You lose. ann wins.")
    assert house.call("eve", "view").over


@pytest.mark.soak
def test_the_page_offers_the_moves_and_the_board_beside_them_takes_clicks(house: Running, visit: Visit) -> None:
    open_room(house, "nim", stones=7)
    page = visit(house.link("ann"))
    expect(page.get_by_role("button", name="take 2", exact=True)).to_be_visible()
    expect(document(page).get_by_role("group", name="Stones: 7")).to_be_visible()
    expect(document(page).locator("#moves button, #listed:not([hidden]), #forms:not([hidden])")).to_have_count(0)
    document(page).get_by_role("button", name="take 3").first.click()
    expect(document(page).get_by_role("group", name="Stones: 4")).to_be_visible()


@pytest.mark.soak
def test_one_of_many_choices_is_found_by_its_words(house: Running, visit: Visit) -> None:
    open_room(house, str(ROOT / "tests/faces/front_ends/catalogue.py"), seats=1)
    page = visit(house.link("ann"))
    expect(page.locator("button.choice")).to_have_count(60)
    page.get_by_role("searchbox", name="Search the choices").fill("77")
    expect(page.locator("button.choice")).to_have_text([re.compile("turn to.*77")])


def test_a_world_of_a_newcomer_has_its_actions_as_buttons(house: Running, visit: Visit) -> None:
    open_room(house, str(ROOT / "examples/pig.py"))
    before = house.call("eve", "view")
    page = visit(table(house, "ann"))
    document(page).get_by_role("button", name="roll", exact=True).click()
    expect(document(page).locator("#said")).to_have_text(re.compile("A (one|[2-6])"))
    after = house.call("eve", "view")
    assert (after.observation.text, after.to_move) != (
        before.observation.text,
        before.to_move,
    )  # a one changes the turn


@pytest.mark.soak
def test_an_action_that_is_not_listed_has_a_form_made_from_its_schema(house: Running, visit: Visit) -> None:
    open_room(house, str(ROOT / "tests/worlds_samples/toolbox.py"))
    page = visit(table(house, "ann"))
    form = document(page).locator("#forms")
    form.get_by_text("Write a move").click()
    saw = form.get_by_role("group", name="use saw")
    saw.get_by_role("button", name="more times").click()
    saw.get_by_role("textbox").fill("oak")
    saw.get_by_role("button", name="use saw").click()
    expect(document(page).locator("#words")).to_have_text(
        re.compile("left uses the saw on oak.*left uses the saw on oak", re.DOTALL)
    )


@pytest.mark.soak
def test_any_cell_of_an_island_can_be_clicked_to_walk_there(house: Running, visit: Visit) -> None:
    open_room(house, "lanterns")
    page = visit(table(house, "ann"))
    land = document(page).get_by_role("button", name=re.compile(r"^row 4 column \d+, (lit|dark) land"))
    name = land.last.get_attribute("aria-label")
    assert name is not None
    x = re.findall(r"\d+", name)[1]
    land.last.click()
    expect(document(page).locator("#said")).to_contain_text(f"You set out for {x},4")


def test_a_refused_move_says_why(house: Running, visit: Visit) -> None:
    open_room(house, "lanterns")
    page = visit(table(house, "ann"))
    document(page).get_by_role("button", name=re.compile("^row 0 column 0, sea")).click()
    expect(document(page).locator("#problem")).to_contain_text("0,0 is sea; choose a land cell")


@pytest.mark.soak
def test_a_world_without_a_board_shows_the_picture_that_it_draws(house: Running, visit: Visit) -> None:
    open_room(house, str(ROOT / "tests/faces/front_ends/painted.py"), seats=1)
    page = visit(table(house, "ann"))
    picture = document(page).get_by_role("img", name="What the world looks like")
    expect(picture).to_have_js_property("complete", True)
    before = picture.get_attribute("src")
    house.call("ann", "paint")
    expect(picture).not_to_have_attribute("src", before or "")


def test_a_watcher_sees_the_board_and_can_do_nothing(house: Running, visit: Visit) -> None:
    open_room(house, "nim", stones=5)
    page = visit(table(house, "eve"))
    expect(document(page).get_by_role("group", name="Stones: 5")).to_be_visible()
    expect(document(page).locator("#turn")).to_have_text("Waiting for ann")
    expect(document(page).get_by_role("button", disabled=False)).to_have_count(0)


def test_a_piece_of_chess_is_moved_by_clicking_it_and_its_target(house: Running, visit: Visit) -> None:
    pytest.importorskip("pyspiel")
    open_room(house, "openspiel:chess")
    ann, bob = visit(table(house, "ann"), viewport=PHONE), visit(table(house, "bob"))
    white = ann if house.call("ann", "view").your_turn else bob
    cell(white, "g1").click()
    expect(document(white).locator(".cell[data-target]")).to_have_count(2)
    cell(white, "f3").click()
    expect(document(white).get_by_role("button", name="f3, white knight")).to_be_visible()
    black = bob if white is ann else ann
    for square in ("e7", "e5"):
        cell(black, square).click()
    expect(document(black).get_by_role("button", name="e5, black pawn")).to_be_visible()
    assert "black e5" in house.call("eve", "view").observation.text


@pytest.mark.soak
def test_a_column_is_chosen_by_clicking_any_of_its_cells(house: Running, visit: Visit) -> None:
    pytest.importorskip("pyspiel")
    open_room(house, "openspiel:connect_four")
    page = visit(table(house, "ann" if house.call("ann", "view").your_turn else "bob"))
    cell(page, "row 2 column 4").click()
    expect(cell(page, "row 6 column 4")).to_have_accessible_name(re.compile("x$"))


@pytest.mark.soak
def test_arrow_keys_move_over_the_cells_and_enter_chooses_one(house: Running, visit: Visit) -> None:
    pytest.importorskip("pyspiel")
    open_room(house, "openspiel:tic_tac_toe")
    page = visit(table(house, "ann" if house.call("ann", "view").your_turn else "bob"))
    cell(page, "row 0 column 0").focus()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(cell(page, "row 1 column 1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(cell(page, "row 1 column 1")).to_have_accessible_name("row 1 column 1, x")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("returns", "ann_reads", "eve_reads"),
    [
        ({"left": 1, "right": 1, "imposter": -1}, "You win!", "ann and bob win."),
        (
            {"left": -1, "right": 1, "north": 1, "south": 1},
            "bob, north and south win.",
            "bob, north and south win.",
        ),
        ({"left": 1, "right": 1}, "A draw.", "A draw."),
    ],
)
def test_partners_with_the_same_total_have_won_and_only_equal_totals_of_all_are_a_draw(
    house: Running, visit: Visit, returns: dict[str, int], ann_reads: str, eve_reads: str
) -> None:
    open_room(house, str(ROOT / "tests/faces/front_ends/verdict.py"), returns=returns)
    house.call("ann", "end")
    expect(document(visit(table(house, "ann"))).locator("#turn")).to_have_text(ann_reads)
    expect(document(visit(table(house, "eve"))).locator("#turn")).to_have_text(eve_reads)


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize(
    ("winner", "ann_reads", "eve_reads"),
    [
        (["left", "right"], "You win!", "ann and bob win."),
        (["right"], "You lose. bob wins.", "bob wins."),
        ("the crew", "the crew wins.", "the crew wins."),
        ("The saboteur has won.", "The saboteur has won.", "The saboteur has won."),
    ],
)
def test_only_a_player_who_is_known_to_have_lost_is_told_so(
    house: Running, visit: Visit, winner: Any, ann_reads: str, eve_reads: str
) -> None:
    open_room(house, str(ROOT / "tests/faces/front_ends/verdict.py"), winner=winner)
    house.call("ann", "end")
    expect(document(visit(table(house, "ann"))).locator("#turn")).to_have_text(ann_reads)
    expect(document(visit(table(house, "eve"))).locator("#turn")).to_have_text(eve_reads)


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("winner", ["a draw", "Draw.", "nobody", []])
def test_a_winner_that_is_a_draw_is_nobody_who_wins(house: Running, visit: Visit, winner: Any) -> None:
    open_room(house, str(ROOT / "tests/faces/front_ends/verdict.py"), winner=winner)
    house.call("ann", "end")
    expect(document(visit(table(house, "ann"))).locator("#turn")).to_have_text("A draw.")
