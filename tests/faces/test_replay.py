"""Films in a real browser: as files that are opened without a house, and on the page of one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import to_builtins
from playwright.sync_api import Browser, FrameLocator, Page, expect

from cohabit.film_html import film_html
from cohabit.house.reading.front_ends import read_front_end
from cohabit.house.running.calls import SystemCall
from cohabit.lab.films import film_of
from cohabit.lab.match import match
from cohabit.model.film import Film, FilmDecision, FilmEvent, FilmFrame, patch_of, patched
from cohabit.model.seat import ALL, Eye
from cohabit.registry import make_world
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.match import Match

from .page import Running, Visit, token
from .test_front_end import Evil

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
HOSTILE = (
    """</script><script>window.hit = 1</script><!--<script>--><img src=x onerror="window.hit = 1">\u202eeve ${1} `"""
)
BROKEN_RULES = "axe.run(document, { iframes: false }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
FRONT_ENDS = Path(__file__).parent / "front_ends"
TICKER = f"{Path(__file__).parents[1] / 'room' / 'worlds.py'}:Ticker"


def played(world: str, brain: str, players: int, eye: Eye = ALL, **config: Any) -> Film:
    """A film of a match between bots, as this eye saw it."""
    agents = [AgentSpec(id=f"p{i}", role="player", claim=f"auto:{i}", brain=brain) for i in range(players)]
    match = Match(Scenario(scenario="t", world=world, config=config, agents=agents), 7)
    while not match.room.is_over():
        for member, mind in match.minds:
            if member.seat in match.room.to_move():
                match._decide(member, mind)
    film = film_of(list(match.lines()), make_world, 2_000, eye)
    film.decisions = [
        FilmDecision(
            line.seq, line.entry.at, line.entry.by, line.entry.do, line.entry.why or "", asked="What do you do?"
        )
        for line in match.lines()
        if line.entry.by is not None
    ]
    return film


def views(film: Film) -> dict[int, dict[str, Any]]:
    """The whole view after each frame, by the number of its entry."""
    found: dict[int, dict[str, Any]] = {}
    view: dict[str, Any] = {}
    for frame in film.frames:
        plain = to_builtins(frame.view)
        view = plain if frame.whole else patched(view, plain) if plain is not None else view
        found[frame.seq] = view
    return found


def document_of(world: str) -> str:
    return read_front_end(type(make_world(world, {})))


@pytest.fixture
def opened(visit: Visit, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens a film as a file, without a network. The test fails if it asks for anything but itself."""
    asked: list[str] = []

    def open_file(film: Film, document: str = "", **how: Any) -> Page:
        path = tmp_path / f"film-{len(list(tmp_path.iterdir()))}.html"
        path.write_text(film_html(film, document))

        def prepare(page: Page) -> None:
            page.context.set_offline(True)
            page.on("request", lambda request: asked.append(request.url))

        page = visit(path.as_uri(), prepare=prepare, **how)
        asked.remove(path.as_uri())
        if how.get("java_script_enabled", True):
            expect(slider(page)).to_be_visible()  # the film is unpacked
        return page

    yield open_file
    assert [url for url in asked if not url.startswith("about:")] == []


@pytest.fixture
def evil() -> Iterator[Evil]:
    server = Evil()
    yield server
    server.close()


def board(page: Page) -> FrameLocator:
    return page.frame_locator(".front-end-frame")


def slider(page: Page) -> Any:
    return page.get_by_role("slider", name="Position")


def go_to(page: Page, seq: int) -> None:
    slider(page).evaluate("(at, seq) => { at.value = seq; at.dispatchEvent(new Event('input')); }", seq)


def said(page: Page, words: str) -> None:
    """The slider says where the film is."""
    expect(slider(page)).to_have_attribute("aria-valuetext", words)


# -- what is shown -------------------------------------------------------------------------------
def test_a_film_of_tic_tac_toe_shows_at_every_point_what_was_seen_there(opened: Callable[..., Page]) -> None:
    film = played("tictactoe", "random", 2, Eye("X", "own"))
    page = opened(film, document_of("tictactoe"))
    seen = views(film)
    for seq in [*seen, *reversed(seen), *random.Random(3).choices(list(seen), k=8)]:
        go_to(page, seq)
        marks = ["" if mark.isdigit() else mark for mark in seen[seq]["observation"]["text"] if mark in "XO012345678"][
            :9
        ]
        expect(board(page).locator(".cell")).to_have_text(marks)
        said(page, f"entry {seq} of {film.last}")
    expect(board(page).locator("button:enabled")).to_have_count(0)  # nothing can be done in a replay


@pytest.mark.soak
def test_a_film_of_whist_shows_at_any_point_what_its_player_saw_there(opened: Callable[..., Page]) -> None:
    film = played("whist", "whist", 4, Eye("north", "own"), points=3)
    page = opened(film, document_of("whist"))
    seen = views(film)
    for seq in random.Random(1).sample(list(seen), 16):
        go_to(page, seq)
        status = seen[seq]["observation"]["status"]
        hand = board(page).locator("#hand button")
        expect(hand).to_have_count(len(status["myHand"]))
        assert hand.evaluate_all("all => all.map(({ dataset }) => dataset.card)") == status["myHand"]
        expect(board(page).locator("#facts")).to_have_text(f"Hand {status['handNumber']} · to 3 points")
        expect(board(page).locator("#trick > *")).to_have_count(len(shown_trick(status)))
        expect(board(page).locator("#problem")).to_be_empty()
    assert len(film.frames) > 100


@pytest.mark.soak
def test_jumps_in_any_order_restore_every_view_of_a_film(opened: Callable[..., Page]) -> None:
    draw = random.Random(2)
    view: dict[str, Any] = {"text": "", "far": {"a": {"b": 0}}, "__proto__": {"x": 1}}
    frames = [FilmFrame(0, 0, view=view, whole=True)]
    for seq in range(1, 200):
        now = {**view, "text": str(seq), f"key {draw.randrange(40)}": {"n": draw.randrange(3), "list": [seq, None]}}
        if draw.random() < 0.1:
            now["far"] = {"a": {"b": seq}}
        now.pop(f"key {draw.randrange(40)}", None)
        frames.append(FilmFrame(seq, seq, view=patch_of(view, now)))
        view = now
    film = Film("r", "w", "Jumps", "all", frames, last=199)
    assert sum(frame.whole for frame in frames) == 1
    seen, order = views(film), draw.choices(range(200), k=300)
    page = opened(film)
    restore = "([film, order]) => { const reel = new Reel(JSON.parse(film)); return order.map((seq) => JSON.stringify(reel.at(seq).view)); }"
    for seq, found in zip(order, page.evaluate(restore, [msgspec.json.encode(film).decode(), order]), strict=True):
        assert json.loads(found) == seen[seq], seq


def shown_trick(status: dict[str, Any]) -> Sequence[Any]:
    """A complete trick stays on the table until the next card."""
    lies = status["phase"] == "playing" and status["played"] and not status["trick"]["plays"]
    found: Sequence[Any] = status["lastTrick" if lies else "trick"]["plays"]
    return found


@pytest.mark.soak
def test_a_film_of_a_world_without_a_front_end_shows_its_text(opened: Callable[..., Page]) -> None:
    film = played("nim", "random", 2)
    page = opened(film)
    shown = views(film)
    assert len(shown) > 2
    for seq, view in shown.items():
        go_to(page, seq)
        expect(page.locator(".film-text")).to_have_text(view["text"])


def test_scenes_reach_the_document_as_layers_that_have_changed(opened: Callable[..., Page], tmp_path: Path) -> None:
    document = """<pre id="shown"></pre><script src="cohabit:app.js"></script><script>
        const draw = (view) => { document.getElementById("shown").textContent = JSON.stringify([view.text, view.scene]); };
        start("scenes", (view) => view && draw(view), 10, { scene: true });
    </script>"""
    from cohabit.house.reading.front_ends import with_parts

    frames = [
        FilmFrame(0, 0, view={"text": "a"}, scene={"land": [1], "sky": {"b": None}}, whole=True),
        FilmFrame(1, 1, scene={"land": [2]}),
        FilmFrame(2, 2, view={"text": "b"}, scene={"sky": None}),
        FilmFrame(3, 3, view={"text": "c"}, scene={"sky": 5}, whole=True),
    ]
    page = opened(Film("r", "w", "Scenes", "all", frames, last=3), with_parts(document, tmp_path))
    shown = [
        ["a", {"land": [1], "sky": {"b": None}}],
        ["a", {"land": [2], "sky": {"b": None}}],
        ["b", {"land": [2]}],
        ["c", {"sky": 5}],
    ]
    for seq in (0, 1, 2, 3, 1, 0, 2):
        go_to(page, seq)
        expect(board(page).locator("#shown")).to_have_text(json.dumps(shown[seq]).replace(" ", ""))


# -- hostile content -----------------------------------------------------------------------------
def test_names_and_texts_in_a_film_are_data(opened: Callable[..., Page]) -> None:
    frames = [FilmFrame(0, 0, view={"text": HOSTILE}, whole=True)]
    film = Film(HOSTILE, "w", HOSTILE, HOSTILE, frames, seats={HOSTILE: HOSTILE, "__proto__": "eve"})
    film.events = [FilmEvent(0, 0, HOSTILE, HOSTILE, HOSTILE)]
    film.decisions = [FilmDecision(0, 0, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, failure=HOSTILE)]
    page = opened(film)
    expect(page.locator(".film-text")).to_have_text(HOSTILE)
    expect(page.locator(".film-lines li")).to_have_count(1)
    page.get_by_role("button", name="Why").click()
    expect(page.locator(".film-decision blockquote")).to_have_text(HOSTILE)
    assert page.evaluate("[window.hit ?? null, document.querySelectorAll('img').length]") == [None, 0]


@pytest.mark.soak
def test_without_scripts_a_film_is_the_text_of_its_last_view(opened: Callable[..., Page]) -> None:
    film = played("nim", "random", 2)
    page = opened(film, java_script_enabled=False)
    expect(page.locator("noscript pre")).to_have_text(list(views(film).values())[-1]["text"])


@pytest.mark.soak
def test_a_browser_that_is_too_old_says_so(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "film.html"
    path.write_text(film_html(played("nim", "random", 2)))
    page = visit(path.as_uri(), prepare=lambda tab: tab.add_init_script("delete window.DecompressionStream"))
    expect(page.get_by_role("alert")).to_contain_text("This browser cannot show the replay")


def test_a_hostile_document_in_a_file_reaches_nothing_and_can_do_nothing(
    browser: Browser, tmp_path: Path, evil: Evil
) -> None:
    document = evil.document((FRONT_ENDS / "hostile.html").read_text())
    path = tmp_path / "film.html"
    path.write_text(film_html(played("nim", "random", 2), document))
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(path.as_uri())
        expect(board(page).locator("#tried")).not_to_be_empty()
        tried = json.loads(board(page).locator("#tried").inner_text())
        board(page).locator("#leave").click()
        expect(slider(page)).to_be_visible()
    assert evil.reached == []
    assert {tried[name] for name in ("read parent", "local storage", "navigate top")} == {"SecurityError"}
    assert (tried["fetch"], tried["origin"], tried["webrtc"]) == ("TypeError", "null", "undefined")
    assert tried["webrtc of a module with a window of its own"] is None
    assert tried["webrtc of a frame with my script"] == "TypeError"
    assert {tried[f"webrtc of a frame with a {how}"] for how in ("script", "handler")} == {"silent"}
    assert tried["call put"].startswith("[REPLAY] ")
    assert tried["call act"].startswith("[REPLAY] ")


# -- controls ------------------------------------------------------------------------------------
def test_a_film_is_watched_with_the_keyboard_alone(opened: Callable[..., Page]) -> None:
    film = played("tictactoe", "random", 2)
    page = opened(film, document_of("tictactoe"))
    end = film.last
    keys = (
        ("ArrowRight", 1), (".", 2), (",", 1), ("ArrowLeft", 0), ("ArrowLeft", 0), ("End", end), ("ArrowRight", end),
        ("ArrowUp", end - 1), ("Home", 0), ("ArrowDown", 1),
    )  # fmt: skip
    for key, seq in keys:
        page.keyboard.press(key)
        said(page, f"entry {seq} of {end}")
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    said(page, f"entry 2 of {end}")  # one frame, and the slider does not move by itself
    board(page).locator("#board").evaluate("board => { board.tabIndex = 0; board.focus(); }")
    page.keyboard.press("ArrowRight")  # the document passes on what it does not use
    said(page, f"entry 3 of {end}")
    page.get_by_role("combobox", name="Speed").select_option("20")
    board(page).locator("#board").focus()
    page.keyboard.press(" ")
    said(page, f"entry {end} of {end}")
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # it stops there


@pytest.mark.soak
def test_events_and_decisions_follow_the_position_and_lead_to_theirs(opened: Callable[..., Page]) -> None:
    film = played("tictactoe", "random", 2)
    page = opened(film, document_of("tictactoe"))
    lines = page.locator(".film-lines li")
    expect(lines).to_have_text([f"{e.seq}{e.by} {e.text}" for e in film.events])
    lines.nth(3).get_by_role("button").click()
    said(page, f"entry {film.events[3].seq} of {film.last}")
    expect(page.locator(".film-lines [aria-current]")).to_contain_text(film.events[3].text)
    page.get_by_role("button", name="Why").click()
    page.get_by_role("combobox", name="Agent").select_option("p1")
    theirs = [decision for decision in film.decisions if decision.member == "p1"]
    expect(page.locator(".film-ticks button")).to_have_count(len(theirs))
    page.get_by_role("button", name="Next decision").click()
    said(page, f"entry {theirs[2].seq} of {film.last}")
    expect(page.locator(".film-action")).to_have_text(theirs[2].action)
    page.get_by_text("What it was asked").click()
    expect(page.get_by_text("What do you do?")).to_be_visible()


@pytest.mark.soak
def test_on_a_phone_the_board_and_the_controls_fit_on_the_screen(opened: Callable[..., Page]) -> None:
    film = played("whist", "whist", 4, points=1)
    page = opened(film, document_of("whist"), viewport=PHONE, has_touch=True, is_mobile=True)
    for name in ("One frame back", "Play", "One frame forward", "Story", "Why"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= PHONE["width"] - box["width"], name
        assert box["y"] + box["height"] <= PHONE["height"], name
        assert min(box["width"], box["height"]) >= 40, name
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.evaluate("document.documentElement.scrollHeight") == PHONE["height"]
    page.get_by_role("button", name="One frame forward").tap()
    expect(slider(page)).to_have_attribute("aria-valuetext", f"entry 1 of {film.last}")


@pytest.mark.soak
@pytest.mark.parametrize(
    "how", [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}], ids=["light", "dark phone"]
)
def test_the_player_breaks_no_rule_of_accessibility(
    opened: Callable[..., Page], need: Callable[[str], Path], how: dict[str, Any]
) -> None:
    page = opened(played("nim", "random", 2), **how)
    page.keyboard.press("ArrowRight")
    page.evaluate(need("axe").read_text())
    for shown in ("Story", "Why"):
        button = page.get_by_role("button", name=shown)
        if button.get_attribute("aria-pressed") == "false":
            button.click()
        assert page.evaluate(BROKEN_RULES) == []


@pytest.mark.soak
def test_the_results_of_a_match_show_its_first_game_in_a_notebook(visit: Visit, tmp_path: Path) -> None:
    results = match("tictactoe", "random", "random", games=2, progress=False)
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html>{results._repr_html_()}")
    page = visit(path.as_uri())
    replay = page.frame_locator("iframe")
    expect(replay.get_by_text("X: random (p1)")).to_be_visible()
    replay.get_by_role("slider", name="Position").press("End")
    marks = "".join(replay.frame_locator(".front-end-frame").locator(".cell").all_inner_texts())
    assert len(marks) == results.games[0].entries - 1


# -- on the page of a house ----------------------------------------------------------------------
@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


def mark(house: Running, *moves: tuple[str, int]) -> None:
    for who, cell in moves:
        house.call(who, "mark", cell=cell)


def test_a_live_room_is_watched_again_from_its_page_and_then_live(house: Running, visit: Visit) -> None:
    people = [
        AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}", token=token(name))
        for i, name in enumerate(("ann", "bob"))
    ]
    house.open(Scenario(scenario="t", world="tictactoe", seed=1, agents=people))
    mark(house, ("ann", 4), ("bob", 0))
    house.call("ann", "act", action="mark", params={"cell": 2}, reasoning="It threatens the other corner.")
    page = visit(house.link("ann"), viewport=PHONE)
    page.get_by_role("link", name="Watch again").click()
    cells = board(page).locator(".cell")
    expect(cells).to_have_text([""] * 9)
    page.keyboard.press("End")
    expect(cells).to_have_text(["O", "", "X", "", "X", "", "", "", ""])
    page.get_by_role("button", name="Why").click()
    expect(page.locator(".film-why blockquote")).to_have_text("It threatens the other corner.")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".film-action")).to_have_text("It has not decided anything yet.")
    expect(cells).to_have_text(["O", "", "", "", "X", "", "", "", ""])
    mark(house, ("bob", 1))
    page.get_by_role("button", name="Live").click()
    expect(cells).to_have_text(["O", "O", "X", "", "X", "", "", "", ""])
    mark(house, ("ann", 6))
    expect(board(page).get_by_role("status")).to_have_text("You win!")
    page.wait_for_url("**&at=6")
    page.reload()
    expect(board(page).get_by_role("status")).to_have_text("You win!")
    page.get_by_role("link", name="To the room").click()
    expect(page.get_by_role("heading", name="Tic-tac-toe").first).to_be_visible()


@pytest.mark.soak
def test_a_record_of_many_pages_is_loaded_while_it_is_watched(
    house: Running, visit: Visit, monkeypatch: pytest.MonkeyPatch, need: Callable[[str], Path]
) -> None:
    from cohabit.house.films import command as films

    monkeypatch.setattr(films, "PAGE_BYTES", 2_000)
    bots = [AgentSpec(id=f"p{i}", role="player", claim=f"auto:{i}", brain="whist") for i in range(4)]
    eve = AgentSpec(id="eve", kind="human", role="observer", token=token("eve"))
    house.open(Scenario(scenario="whist", world="whist", config={"points": 1}, seed=1, agents=[*bots, eve]))
    house.run(until_over(house))
    page = visit(house.link("eve").replace("?room=table", "?room=table&at=0"))
    expect(slider(page)).to_have_attribute("max", str(last_frame(house)))
    page.keyboard.press("End")
    expect(board(page).locator("#turn")).to_have_text("The game is over.")
    page.evaluate(need("axe").read_text())
    assert page.evaluate(BROKEN_RULES) == []


def test_a_film_in_time_is_shown_while_the_rest_of_it_is_made(
    house: Running, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cohabit.house.films import command as films

    monkeypatch.setattr(films, "PAGE_BYTES", 2_000)
    players = [AgentSpec(id=f"p{i}", role="player", claim=f"auto:{i}") for i in range(2)]
    hal = AgentSpec(id="hal", kind="human", role="host", token=token("hal"))
    house.open(Scenario(scenario="t", world=TICKER, seed=1, agents=[*players, hal]))
    house.call("hal", "pause")

    async def tick() -> None:
        for _ in range(60):
            await house.house.rooms["table"].submit(SystemCall("ticks", {"n": 5}))

    house.run(tick())
    end, pages, at = house.call("hal", "film").end, 0, 0
    while at < end:
        page = house.call("hal", "film", first=at + 1, last=end, frames=200)
        at, pages = page.to, pages + 1
    assert pages > 2
    page = visit(house.link("hal").replace("?room=table", "?room=table&at=0"))
    expect(page.locator(".film-text")).to_contain_text("tick")
    expect(page.locator(".film-where")).not_to_contain_text("…")
    page.keyboard.press("End")
    expect(page.locator(".film-text")).to_contain_text("tick 300")
    page.keyboard.press("Home")
    expect(page.locator(".film-text")).to_contain_text("tick 0")


async def until_over(house: Running) -> None:
    runner = house.house.rooms["table"]
    while not runner.room.is_over():
        assert await runner.changed_since(runner.version, house.house.clock.now() + 30_000)


def last_frame(house: Running) -> int:
    """The entry of the last frame of the last page."""
    page = house.call("eve", "film")
    for _ in range(1_000):
        if not page.next:
            break
        page = house.call("eve", "film", cursor=page.next)
    last: int = page.film.frames[-1].seq
    return last
