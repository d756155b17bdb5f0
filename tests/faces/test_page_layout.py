"""One screen for a room, in a real browser: the board, the bar with what one can do, panels, keys, and the end of a game."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import STONES, Running, Visit, open_drawer, panels, token, turn

pytestmark = pytest.mark.browser
DESK: Any = {"width": 1440, "height": 900}
PHONE: Any = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("house"))
    running.start()
    try:
        yield running
    finally:
        running.stop()


class Table:
    """A room of one test: ann and bob play, eve watches, hal is the host."""

    def __init__(self, house: Running, world: str, shown: str = "", **settings: Any) -> None:
        self.house, self.room = house, f"room-{len(house.house.rooms)}"
        self.seats = 1 if ":" in world else 4 if world == "whist" else 2
        people = [
            AgentSpec(id=name, name=f"{name} {shown}" if shown else None, kind="human", role=role, claim=claim, token=self.token(name))
            for name, role, claim in [
                ("ann", "human", "auto:0"), ("bob", "human", "auto:1"), ("eve", "observer", None), ("hal", "host", None),
            ]
            if claim != "auto:1" or self.seats > 1
        ]  # fmt: skip
        bots = [AgentSpec(id=f"bot{i}", role="player", claim=f"auto:{i}", brain=world) for i in range(2, self.seats)]
        house.open(Scenario(scenario="evening", world=world, agents=[*people, *bots], **settings), self.room)

    def token(self, who: str) -> str:
        return token(f"{who}-{self.room}")

    def call(self, who: str, command: str, **args: Any) -> Any:
        return self.house.call(f"{who}-{self.room}", command, self.room, **args)

    def link(self, who: str) -> str:
        return self.house.link(f"{who}-{self.room}", self.room)

    def win(self) -> None:
        """Tic-tac-toe, to its end: ann wins."""
        for who, cell in (("ann", 0), ("bob", 3), ("ann", 1), ("bob", 4), ("ann", 2)):
            self.call(who, "mark", cell=cell)


def fits(page: Page) -> bool:
    """True if nothing of the page is outside the window, and the board and the bar are in it."""
    size = page.viewport_size
    inside: bool = page.evaluate(
        """() => {
          const { scrollWidth, scrollHeight } = document.documentElement;
          const boxes = [".world", ".actions", ".drawer-buttons", ".bar"].map((name) => document.querySelector(name).getBoundingClientRect());
          return scrollWidth <= innerWidth && scrollHeight <= innerHeight
            && boxes.every((box) => box.left >= 0 && box.top >= 0 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1);
        }"""
    )
    return size is not None and inside


@pytest.mark.sampled
@pytest.mark.parametrize("size", [DESK, {"width": 1024, "height": 700}], ids=["desk", "small desk"])
def test_every_control_of_a_host_is_in_the_window_at_a_desk(house: Running, visit: Visit, size: Any) -> None:
    table = Table(house, "whist")
    page = visit(table.link("hal"), viewport=size)
    bar = page.locator(".host-bar")
    expect(bar.get_by_label("Turn timer")).to_be_visible()
    for button in bar.get_by_role("button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= size["width"], button.inner_text()


@pytest.mark.soak
def test_a_name_that_is_read_from_the_right_is_cut_at_its_end(house: Running, visit: Visit) -> None:
    person = AgentSpec(
        id="محمد-" + "-".join(["سلمان"] * 9), kind="human", claim="auto:0", token=token("from-the-right")
    )
    bots = [AgentSpec(id=f"bot{i}", role="player", claim=f"auto:{i}", brain="whist") for i in range(1, 4)]
    house.open(Scenario(scenario="evening", world="whist", agents=[person, *bots]), "from-the-right")
    page = visit(house.link("from-the-right", "from-the-right"), viewport=PHONE)
    table = page.frame_locator(".front-end-frame")
    expect(table.locator(".plate b").filter(has_text="محمد")).to_be_visible()
    plate, letter, is_cut = table.locator("body").evaluate(  # the plates are drawn again with each view
        """(body) => {
          const plate = [...body.querySelectorAll(".plate b")].find((each) => each.textContent.startsWith("محمد"));
          const letter = new Range();
          letter.setStart(plate.firstChild, 0);
          letter.setEnd(plate.firstChild, 1);
          const [of, its] = [plate, letter].map((each) => each.getBoundingClientRect());
          return [[of.left, of.right], [its.left, its.right], plate.scrollWidth > plate.clientWidth];
        }"""
    )
    assert is_cut
    assert plate[0] <= letter[0] < letter[1] <= plate[1] + 1


@pytest.mark.soak
def test_long_names_and_handles_fit_in_the_list_of_members(house: Running, visit: Visit) -> None:
    person = AgentSpec(id="h" * 60, name="n" * 60, kind="human", role="host", token=token("long-names"))
    house.open(Scenario(scenario="evening", world="lounge", agents=[person]), "long-names")
    page = visit(house.link("long-names", "long-names"), viewport=PHONE)
    panel = open_drawer(page, "Members")
    expect(panel.locator(".roster th").filter(has_text="hhh")).to_contain_text("nnn")
    assert panel.locator(".roster th").evaluate_all(
        "(cells) => cells.every((cell) => cell.scrollWidth <= cell.clientWidth)"
    )


@pytest.mark.soak
def test_the_choice_of_a_player_to_look_through_fits_where_names_are_long(house: Running, visit: Visit) -> None:
    player = AgentSpec(id="h" * 60, kind="human", role="human", claim="auto:0", token=token("long-handle"))
    guest = AgentSpec(id="eve", kind="human", role="human", token=token("looks-through"))
    bots = [AgentSpec(id=f"bot{i}", role="player", claim=f"auto:{i}", brain="whist") for i in range(1, 4)]
    house.open(Scenario(scenario="evening", world="whist", agents=[player, guest, *bots]), "look-through")
    page = visit(house.link("looks-through", "look-through"), viewport=PHONE)
    choice = page.get_by_role("combobox", name="Ask to see what a player sees")
    expect(choice).to_be_visible()
    box = choice.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= PHONE["width"]


# -- one screen --------------------------------------------------------------------------------------
@pytest.mark.sampled
@pytest.mark.parametrize("world", ["tictactoe", "nim", "whist"])
def test_a_player_moves_without_scrolling_at_a_desk_and_on_a_phone(house: Running, visit: Visit, world: str) -> None:
    table = Table(house, world)
    if world == "whist":
        table.call("bob", "cut")
    page = visit(table.link("ann"), viewport=DESK)
    moves = page.locator("button.choice")
    if world != "nim":  # the board has them, so that the bar has none
        moves = page.frame_locator(".front-end-frame").locator("#hand button:enabled, .cell:enabled")
        expect(page.locator("button.choice")).to_have_count(0)
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        expect(moves.first).to_be_in_viewport(ratio=1)
        assert fits(page)
        if world != "nim":
            board = page.locator(".front-end-frame").bounding_box()
            assert board is not None
            assert board["width"] * board["height"] > size["width"] * size["height"] * 0.5
    moves.first.click()
    expect(turn(page)).not_to_have_text("It is your turn.")


def test_panels_are_closed_on_a_phone_open_with_one_tap_and_close_with_escape(house: Running, visit: Visit) -> None:
    page = visit(Table(house, "nim").link("hal"), viewport=PHONE, has_touch=True)
    expect(panels(page).first).to_be_visible()
    expect(page.locator(".drawer")).to_be_hidden()
    for name in ("Story", "Members", "Invite", "Audit", "You", "About"):
        panel = open_drawer(page, name)
        expect(panel.get_by_role("heading").first).to_be_focused()
        assert fits(page)
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(panels(page).filter(has_text=name)).to_be_focused()


@pytest.mark.soak
def test_the_story_is_beside_the_board_on_a_wide_screen_and_comes_back_when_a_panel_is_closed(
    house: Running, visit: Visit
) -> None:
    page = visit(Table(house, "nim").link("ann"), viewport=DESK)
    story = page.get_by_role("region", name="Story")
    expect(story).to_be_visible()
    open_drawer(page, "Members").get_by_role("button", name="Close Members").click()
    expect(story).to_be_visible()
    page.set_viewport_size(PHONE)
    expect(story).to_be_hidden()


# -- time --------------------------------------------------------------------------------------------
def test_the_time_limit_is_counted_down_and_so_is_the_time_until_the_next_game(house: Running, visit: Visit) -> None:
    table = Table(house, "tictactoe", turn_seconds=90, rematch_seconds=600)
    page = visit(table.link("eve"), lambda page: page.clock.install())
    timer = page.locator(".countdown")
    expect(timer).to_have_text(re.compile(r"^1:(30|2\d) left$"))
    page.clock.fast_forward(30_000)
    expect(timer).to_have_text(re.compile(r"^(1:00|0:5\d) left$"))
    table.win()
    expect(timer).to_have_text(re.compile(r"^Next game in (10:00|9:5\d)$"))


@pytest.mark.soak
def test_where_not_all_choices_fit_on_a_phone_the_edge_of_the_next_one_shows(house: Running, visit: Visit) -> None:
    pytest.importorskip("textarena", reason="TextArena is not installed (the extra textarena)")
    page = visit(Table(house, "textarena:Mastermind-v0").link("ann"), viewport=PHONE)
    expect(page.locator(".with-front-end button.choice").nth(20)).to_be_attached()
    cut = page.evaluate(
        """() => { const end = document.querySelector(".choices").getBoundingClientRect().bottom;
        return [...document.querySelectorAll("button.choice")].map((choice) => choice.getBoundingClientRect())
          .filter((box) => box.top < end - 4 && box.bottom > end + 4).length; }"""
    )
    assert cut > 0


# -- the end -----------------------------------------------------------------------------------------
def test_a_long_name_hides_neither_the_turn_nor_the_title_and_is_the_one_that_the_end_names(
    house: Running, visit: Visit
) -> None:
    long = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarenge"
    table = Table(house, "tictactoe", long)
    page = visit(table.link("ann"), viewport={"width": 1000, "height": 800})
    for element in (turn(page), page.locator(".headline h1")):
        expect(element).to_be_visible()
        assert element.evaluate("element => element.scrollWidth <= element.clientWidth")
    table.win()
    end = page.get_by_role("group", name="The end")
    expect(end).to_contain_text(f"ann {long} won.")
    page.set_viewport_size({"width": 320, "height": 640})
    assert (
        page.evaluate(
            "Math.max(...[...document.querySelectorAll('.ending *')].map((e) => e.getBoundingClientRect().right))"
        )
        <= 320
    )


def test_a_score_is_shown_without_the_digits_that_only_a_computer_has(house: Running, visit: Visit) -> None:
    page = visit(Table(house, "nim").link("eve"))
    shown = (
        "async ([module, scores]) => { const { scoreShown } = await import(module); return scores.map(scoreShown); }"
    )
    module = page.evaluate("document.querySelector('script[type=module]').src").replace("app.js", "dom.js")
    assert page.evaluate(shown, [module, [7 / 9, 0.1 + 0.2, 3, -1122, 1e15]]) == [
        "0.78",
        "0.3",
        "3",
        "-1122",
        "1000000000000000",
    ]


def test_a_finished_game_says_who_won_and_those_who_may_start_a_rematch(house: Running, visit: Visit) -> None:
    table = Table(house, "tictactoe")
    ann, hal = visit(table.link("ann")), visit(table.link("hal"))
    table.win()
    for page in (ann, hal):
        expect(page.get_by_role("group", name="The end")).to_contain_text("ann won.")
    expect(ann.get_by_role("group", name="The end")).to_contain_text("A host can start a rematch.")
    expect(ann.get_by_role("button", name="Rematch")).to_be_hidden()
    hal.get_by_role("button", name="Rematch").click()
    expect(turn(ann)).to_have_text("It is your turn.")
    expect(ann.get_by_role("group", name="The end")).to_be_hidden()


# -- keys --------------------------------------------------------------------------------------------
def test_numbers_choose_actions_and_a_question_mark_shows_the_keys(house: Running, visit: Visit) -> None:
    table = Table(house, "nim", config={"stones": STONES})
    page = visit(table.link("ann"))
    expect(page.get_by_role("button", name="take 2")).to_have_attribute("aria-keyshortcuts", "2")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("choose one of the first nine actions")
    page.keyboard.press("2")  # not while the sheet is open
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.get_by_role("textbox", name="Message").press_sequentially("3?")  # typed, not played
    expect(page.get_by_role("textbox", name="Message")).to_have_value("3?")
    expect(turn(page)).to_have_text("It is your turn.")
    turn(page).focus()
    page.keyboard.press("2")
    expect(turn(page)).to_have_text("To move: bob.")
    assert table.call("bob", "view").observation.status["stones"] == STONES - 2


@pytest.mark.soak
def test_the_keys_of_a_world_act_also_from_its_document(house: Running, visit: Visit) -> None:
    world = f"{Path(__file__).parent / 'front_ends' / 'walk.py'}:Walk"
    table = Table(house, world)
    page = visit(table.link("ann"), has_touch=True)
    document = page.frame_locator(".front-end-frame")
    expect(document.locator("#at")).to_have_text("0, 0")
    page.keyboard.press("ArrowUp")
    expect(document.locator("#at")).to_have_text("0, 1")
    document.locator("#at").press("ArrowRight")
    expect(document.locator("#at")).to_have_text("1, 1")
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("step up")


# -- the connection ------------------------------------------------------------------------------------
@pytest.mark.soak
def test_a_lost_connection_covers_nothing_and_buttons_look_disabled(visit: Visit, tmp_path: Path) -> None:
    house = Running(tmp_path)
    house.start()
    try:
        table = Table(house, "nim")
        page = visit(table.link("ann"), viewport=PHONE)
        button = page.get_by_role("button", name="take 1")
        expect(button).to_have_css("opacity", "1")
    finally:
        house.stop()
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    expect(button).to_have_css("opacity", "0.45")
    page.get_by_role("button", name="Rooms").click(trial=True)  # nothing lies over it
    assert fits(page)


# -- accessibility -------------------------------------------------------------------------------------
BROKEN_RULES = (
    "axe.run(document, { iframes: false })"
    ".then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]))"
)


@pytest.fixture
def broken(need: Callable[[str], Path]) -> Callable[[Page], list[Any]]:
    """The rules of axe that a page breaks now, and where."""
    source = need("axe").read_text()

    def run(page: Page) -> list[Any]:
        page.evaluate(source)
        found: list[Any] = page.evaluate(BROKEN_RULES)
        return found

    return run


@pytest.mark.sampled
@pytest.mark.parametrize("how", [{"viewport": DESK}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_axe_finds_nothing_in_a_room_and_its_panels(
    house: Running, visit: Visit, broken: Callable[[Page], list[Any]], how: Any
) -> None:
    table = Table(house, "tictactoe", turn_seconds=600)
    ann, hal = visit(table.link("ann"), **how), visit(table.link("hal"), **how)
    expect(ann.frame_locator(".front-end-frame").locator(".cell:enabled").first).to_be_visible()
    assert broken(ann) == []
    ann.keyboard.press("?")
    assert broken(ann) == []
    ann.keyboard.press("Escape")
    expect(hal.get_by_role("button", name="Lock")).to_be_visible()
    for name in panels(hal).all_inner_texts():
        open_drawer(hal, name)
        assert broken(hal) == [], name
    table.win()
    expect(hal.get_by_role("group", name="The end").get_by_role("button", name="Rematch")).to_be_visible()
    assert broken(hal) == []


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_around_rooms(
    house: Running, visit: Visit, broken: Callable[[Page], list[Any]], scheme: Any
) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/", color_scheme=scheme)
    expect(page.get_by_label("Your token")).to_be_visible()
    assert broken(page) == []
    page.get_by_label("Your token").fill(house.host_token(f"zoe-{scheme}"))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rooms")
    assert broken(page) == []
    page.get_by_role("button", name="Create a room").click()
    expect(page.get_by_label("Scenario or world")).to_be_visible()
    assert broken(page) == []
