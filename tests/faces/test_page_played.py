"""People play whole games on the page of a room, with a mouse, with keys alone, and on a phone, and never scroll to move.

Each control is used where it is: in the window, with nothing in front of it. Each move must be in the record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Frame, Locator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = pytest.mark.browser
MOVES = 30
SAMPLE = 2
TABS = 150
"""How often Tab is pressed at most to reach a control."""
WAYS: dict[str, Any] = {
    "mouse": {"viewport": {"width": 1440, "height": 900}},
    "keys": {"viewport": {"width": 1440, "height": 900}},
    "touch": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
IN_SIGHT = """(element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const inside = left >= -1 && top >= -1 && right <= innerWidth + 1 && bottom <= innerHeight + 1;
    return inside && element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
}"""
"""Whether all of a control is in its window, and nothing lies over its middle."""
SCROLLED = "[scrollX, scrollY, document.body.scrollTop, document.documentElement.scrollTop]"


@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


def plan(world: str, others: int = 0, brain: str | None = None, **config: Any) -> Scenario:
    """A game for ann, with others on seats of their own, and a host."""
    ann = AgentSpec(id="ann", kind="human", role="human", claim="auto:0", token=token("ann"))
    hal = AgentSpec(id="hal", kind="human", role="host", token=token("hal"))
    more = [AgentSpec(id=f"p{i}", role="player", claim=f"auto:{i}", brain=brain) for i in range(1, others + 1)]
    return Scenario(scenario="played", world=world, seed=1, config=config, sealed=False, agents=[ann, *more, hal])


class Person:
    """Ann, at the page of the room."""

    def __init__(self, house: Running, visit: Visit, how: str) -> None:
        self.house, self.how = house, how
        self.page: Page = visit(house.link("ann"), reduced_motion="reduce", **WAYS[how])
        self.at = self.page.frame_locator(".front-end-frame")

    @property
    def frame(self) -> Frame:
        handle = self.page.locator(".front-end-frame").element_handle()
        frame = handle.content_frame() if handle is not None else None
        assert frame is not None
        return frame

    def use(self, control: Locator) -> None:
        """Use a control where it is."""
        expect(control).to_be_enabled()
        handle = control.element_handle()
        assert handle is not None
        if self.how == "keys":
            self.tab_to(control)
        self.frame.wait_for_function(IN_SIGHT, arg=handle)
        if self.how == "keys":
            self.page.keyboard.press("Enter")
        else:
            box = control.bounding_box()
            assert box is not None
            self.press(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.nothing_scrolled()

    def press(self, x: float, y: float) -> None:
        """Press a point of the window."""
        if self.how == "touch":
            self.page.touchscreen.tap(x, y)
        else:
            self.page.mouse.click(x, y)

    def tab_to(self, control: Locator) -> None:
        for _ in range(TABS):
            if control.evaluate("(control) => document.hasFocus() && control === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{control} cannot be reached with Tab")

    def nothing_scrolled(self) -> None:
        assert self.page.evaluate(SCROLLED) == [0, 0, 0, 0]
        assert self.frame.evaluate(SCROLLED) == [0, 0, 0, 0]
        box, size = self.page.locator(".front-end-frame").bounding_box(), self.page.viewport_size
        assert box is not None
        assert size is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert box["y"] + box["height"] <= size["height"]

    def moves(self) -> int:
        """How many actions of ann are in the record."""

        async def count() -> int:
            recent = self.house.house.rooms["table"].history.recent
            return sum(line.entry.by == "ann" and line.entry.do in ACTIONS for line in recent)

        number: int = self.house.run(count())
        return number

    def moved(self, number: int) -> None:
        """Wait until this many actions of ann are in the record; there are no more."""

        async def recorded() -> None:
            runner = self.house.house.rooms["table"]
            while sum(line.entry.by == "ann" and line.entry.do in ACTIONS for line in runner.history.recent) < number:
                assert await runner.changed_since(runner.version, self.house.house.clock.now() + 30_000)

        self.house.run(recorded())
        assert self.moves() == number

    def over(self) -> bool:
        over: bool = self.house.call("ann", "view").over
        return over


TILES = {
    "crafter": ("ArrowRight", " ", "w", "a", "ArrowDown"),
    "planet": ("d", " ", "ArrowLeft", "k", "."),
}
"""The keys of the moves in these worlds. With a mouse and by touch the buttons of the pad are used."""
ACTIONS = {
    "play", "submit", "rally", "step", "walk", "noop", "do", "sleep",
}  # fmt: skip


def tiles(person: Person, world: str, moves: int) -> None:
    """Crafter or Planets: keys of the page, or the pad, and in between a press on the scene."""
    at = person.at
    buttons = at.locator("#moves [data-action]:not([aria-disabled=true])")
    expect(buttons.first).to_be_visible()
    keys = TILES[world]
    for number in range(moves):
        expect(at.locator("body")).not_to_have_attribute("data-pending", "")
        if person.how == "keys":
            expect(at.locator("#moves")).to_be_in_viewport(ratio=1)
            person.page.keyboard.press(keys[number % len(keys)])
            person.nothing_scrolled()
        elif number % 3 == 2 and person.how == "mouse":
            box = at.locator("#scene").bounding_box()
            assert box is not None
            person.press(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
            person.nothing_scrolled()
        else:
            person.use(buttons.nth(number % 3))
        expect(at.locator("#time, #where")).to_contain_text(f"step {number + 1}")
        assert person.house.call("ann", "view").observation.step == number + 1


def whist(person: Person, world: str, moves: int) -> None:
    """Cards of the hand, until the game is over."""
    cards = person.at.locator("#hand button:enabled")
    for number in range(moves):
        expect(cards.first.or_(person.at.get_by_text("The game is over."))).to_be_visible()
        if person.over():
            return
        left = person.at.locator("#hand button").count()
        person.use(cards.nth(number % cards.count()))
        person.moved(number + 1)
        expect(person.at.locator("#hand button")).not_to_have_count(left)


def statecraft(person: Person, world: str, moves: int) -> None:
    """Each turn a grant, and then the orders are given; the last turn ends the game."""
    for turn in range(moves):
        expect(person.at.locator("#turn")).to_have_text(f"Turn {turn}")
        if person.how == "keys":
            person.tab_to(person.at.locator("#grants-1"))
            person.page.keyboard.type("2")
        else:
            person.use(person.at.get_by_role("button", name="Grant, Borland: one more"))
        person.use(person.at.get_by_role("button", name="Submit orders"))
        person.moved(turn + 1)
        expect(person.at.locator("#turn")).not_to_have_text(f"Turn {turn}")
        made = person.house.call("ann", "view").observation.status["last_turn"]["grants"].get("Arden")
        assert made == {"Borland": 2 if person.how == "keys" else 1}
    if person.over():
        expect(person.at.locator(".end-of-game")).to_be_visible()
        expect(person.at.locator("#submit")).to_be_hidden()


OWN_LAND = """(number) => {
    const found = [], marks = document.getElementById("marks");
    for (let across = 5; across < innerWidth; across += 10) {
        for (let down = 5; down < innerHeight; down += 10) {
            const tile = picture.tileAt(across, down);
            if (!tile || world.scene.owners[world.land.coverAt(tile.x, tile.y).owner] !== world.mine) continue;
            if (world.land.isWaterAt(tile.x, tile.y) || picture.at(across, down)?.kind !== "tile") continue;
            if (document.elementFromPoint(across, down) === marks) found.push([across, down]);
        }
    }
    return found[(number * 7) % found.length];
}"""
"""A point of the map where ann's land is to be seen."""
MARK = "[world.land.isWaterAt(picture.cursor.x, picture.cursor.y), world.scene.cities.some(({ x, y }) => Math.abs(x - picture.cursor.x) <= 1 && Math.abs(y - picture.cursor.y) <= 1)]"


def kingdoms(person: Person, world: str, moves: int) -> None:
    """The army is sent to one place after another, by pressing the map or with the mark that the keys move."""
    at, keyboard = person.at, person.page.keyboard
    expect(at.locator("#when")).to_contain_text("year")
    order = at.locator("#choices").get_by_role("button", name="Gather the army here")
    if person.how == "keys":
        person.tab_to(at.locator("#marks"))
        keyboard.press("Enter")  # the mark appears in the middle of the map
    for number in range(moves):
        if person.how == "keys":
            keyboard.press("ArrowRight" if number % 2 else "ArrowDown")
            while any(person.frame.evaluate(MARK)):  # nobody is sent into water, and a city has other orders
                keyboard.press("ArrowRight" if number % 2 else "ArrowDown")
            keyboard.press("Enter")
        else:
            box = person.page.locator(".front-end-frame").bounding_box()
            assert box is not None
            across, down = person.frame.evaluate(OWN_LAND, number)
            person.press(box["x"] + across, box["y"] + down)
        person.use(order)
        expect(at.locator("#result")).to_contain_text("gather at")
        person.moved(number + 1)
        if person.how == "keys":
            keyboard.press("Escape")
        else:
            person.use(at.locator("#close"))
        expect(at.locator("#panel")).to_be_hidden()


GAMES: dict[str, tuple[Scenario, Callable[[Person, str, int], None]]] = {
    "crafter": (plan("crafter"), tiles),
    "planet": (plan("planet"), tiles),
    "whist": (plan("whist", 3, "whist", points=1), whist),
    "statecraft": (plan("statecraft", 1, "tit-for-tat", turns=6, mils=3), statecraft),
    "kingdoms": (plan("kingdoms", 1, zones_x=3, zones_y=3), kingdoms),
}


def play(house: Running, visit: Visit, world: str, how: str, moves: int) -> None:
    scenario, game = GAMES[world]
    house.open(scenario)
    if world == "kingdoms":
        house.call("hal", "pause")  # its years would pass meanwhile
    game(Person(house, visit, how), world, moves)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("world", "how"),
    [("crafter", "keys"), ("planet", "touch"), ("whist", "touch"), ("statecraft", "keys"), ("kingdoms", "mouse")],
)
def test_a_person_makes_a_few_moves_and_never_scrolls(house: Running, visit: Visit, world: str, how: str) -> None:
    play(house, visit, world, how, SAMPLE)


@pytest.mark.soak
@pytest.mark.parametrize("how", [*WAYS])
@pytest.mark.parametrize("world", [*GAMES])
def test_a_person_plays_to_the_end_or_for_thirty_moves_and_never_scrolls(
    house: Running, visit: Visit, world: str, how: str
) -> None:
    ends = {"whist": 1_000, "statecraft": 6}
    play(house, visit, world, how, ends.get(world, MOVES))
    if world in ends:
        assert house.call("ann", "view").over
