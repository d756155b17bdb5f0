"""The page, in a real browser, against a real house."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, WebSocketRoute, expect, sync_playwright

from cohabit.faces.app import make_app
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario

pytestmark = pytest.mark.browser
LONG_MS = 600_000
STONES = 15


def token(who: str) -> str:
    return f"abcdefghijklmnopqrstuvwxyz0123456789-{who}"


def table() -> Scenario:
    """A table of Nim at which people sit, and some who look on."""
    return Scenario(
        scenario="evening",
        world="nim",
        config={"stones": STONES},
        agents=[
            AgentSpec(id="ann", kind="human", role="human", claim="auto:0", token=token("ann")),
            AgentSpec(id="bob", role="player", claim="auto:1", token=token("bob"), backend="tiny-7b"),
            AgentSpec(id="eve", role="observer", token=token("eve")),
            AgentSpec(id="pip", role="agent", token=token("pip")),
            AgentSpec(id="hal", kind="human", role="host", token=token("hal")),
        ],
    )


def chart() -> Scenario:
    """A world that draws pictures, standing still."""
    keeper = AgentSpec(id="kay", kind="human", role="human", claim="auto:0", token=token("kay"))
    rival = AgentSpec(id="rex", role="player", claim="auto:1")
    return Scenario(scenario="chart", world="lanterns", seed=1, agents=[keeper, rival])


class Running:
    """A house that serves from a thread, and can be stopped and started again at its address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0

    def start(self) -> None:
        started: Future[None] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)))
        self._thread.start()
        started.result(30)

    async def _serve(self, started: Future[None]) -> None:
        try:
            listener = socket.create_server(("127.0.0.1", self.port))
            self.port = listener.getsockname()[1]
            settings = Settings(data=str(self.folder), port=self.port, away_ms=LONG_MS)
            async with House.open(settings) as house:
                house.bots.step_ms = 0
                self._loop, self.house = asyncio.get_running_loop(), house
                app = make_app(house, mcp=False)
                config = uvicorn.Config(app, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1)
                self._server = Server(config, lambda: started.set_result(None))
                await self._server.serve(sockets=[listener])
        except BaseException as wrong:
            if started.done():
                raise
            started.set_exception(wrong)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def open(self, plan: Scenario, room: str = "table") -> None:
        self.run(self.house.create_room(plan, room))

    def call(self, who: str, command: str, room: str = "table", **args: Any) -> Any:
        return self.run(self.house.call(self.house.identify(token(who)), room, command, args))

    def until_here(self, *who: str) -> None:
        """Wait until it is on record that these have come."""

        async def come() -> None:
            host = self.house.rooms["table"]
            while not all(host.room.state.members[name].here for name in who):
                assert await host.changed_since(host.version, self.house.clock.now() + 30_000)

        self.run(come())

    def link(self, who: str, room: str = "table") -> str:
        return f"http://127.0.0.1:{self.port}/?room={room}#{token(who)}"

    def told(self, who: str) -> list[str]:
        """Every event as the page of this member shows it: of a message, what was said."""
        items = self.call(who, "events", max=500).items
        return [re.sub(r"^\S+ to \S+: ", "", i.text) if i.do == "send_message" else i.text for i in items]


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path)
    running.start()
    try:
        running.open(table())
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def browser(need: Callable[[str], Path]) -> Iterator[Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
    expect.set_options(timeout=20_000)  # a machine may be busy with other tests
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need("chromium"), args=flags)
        yield browser
        browser.close()


Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """A new tab at an address. Nothing a tab shows may break a script or the content security policy."""
    wrong: list[str] = []
    contexts = []

    def open_tab(url: str, prepare: Callable[[Page], None] | None = None, **how: Any) -> Page:
        context = browser.new_context(**how)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if _is_wrong(said.type, said.text) else None)
        if prepare is not None:
            prepare(page)
        page.goto(url)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert wrong == []


def _is_wrong(kind: str, text: str) -> bool:
    return kind in ("error", "warning") and not text.startswith("WebSocket connection to")  # a house may be down


def turn(page: Page) -> Any:
    return page.locator(".turn")


def events(page: Page) -> Any:
    return page.locator(".events .text, .events blockquote")


def say(page: Page, to: str, content: str) -> None:
    page.get_by_role("combobox", name="To").select_option(to)
    page.get_by_role("textbox", name="Message").fill(content)
    page.get_by_role("button", name="Send").click()


# -- coming in ----------------------------------------------------------------------------------
def test_somebody_with_a_link_sees_the_room_and_plays_a_move_in_the_browser(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(page.get_by_text("room table · world nim · scenario evening · game 1")).to_be_visible()
    expect(page.get_by_text("You are ann · human · seat first")).to_be_visible()
    expect(turn(page)).to_have_text("It is your turn.")
    expect(page.locator(".world-text")).to_contain_text(f"({STONES} stones)")
    page.get_by_role("button", name="take 2").click()
    expect(page.get_by_text(f"You took 2; {STONES - 2} are left.")).to_be_visible()
    expect(turn(page)).to_have_text("To move: bob.")
    expect(page.get_by_role("button", name="take")).to_have_count(0)
    expect(events(page).filter(has_text="first takes 2")).to_have_count(1)
    assert house.call("bob", "view").observation.status["stones"] == STONES - 2


def test_what_others_do_shows_without_asking(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(turn(page)).to_have_text("To move: ann.")
    house.call("ann", "act", action="take", params={"n": 3})
    expect(turn(page)).to_have_text("It is your turn.")
    expect(page).to_have_title(re.compile("^Your turn"))
    expect(page.locator(".world-text")).to_contain_text(f"({STONES - 3} stones)")
    expect(page.locator(".standings li")).to_have_count(2)


def test_the_roster_says_who_is_here_and_what_they_think_with(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    bob = page.get_by_role("row").filter(has_text="bob")
    expect(bob).to_contain_text("player")
    expect(bob).to_contain_text("tiny-7b")
    expect(bob).to_contain_text("away")
    visit(house.link("bob"))
    expect(bob).to_contain_text("here")


def test_the_token_is_not_left_in_the_address_bar(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(turn(page)).to_be_visible()
    assert page.url == f"http://127.0.0.1:{house.port}/?room=table"
    assert token("ann") not in page.content()
    page.reload()  # this tab remembers it
    expect(turn(page)).to_have_text("It is your turn.")


def test_a_wrong_token_is_told_so_and_the_right_one_can_be_typed(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann") + "x")
    expect(page.get_by_role("alert").filter(has_text="not accepted")).to_contain_text("not known here")
    page.get_by_label("Your token").fill("neither is this one")
    page.get_by_role("button", name="Come in").click()
    expect(page.get_by_role("alert").filter(has_text="not accepted")).to_contain_text("not known here")
    page.get_by_label("Your token").fill(token("ann"))
    page.get_by_role("button", name="Come in").click()
    expect(turn(page)).to_have_text("It is your turn.")
    assert page.evaluate("sessionStorage.length") == 1
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Your token")).to_be_focused()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_whole_link_can_be_pasted_where_a_token_is_asked_for(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/")
    page.get_by_label("Your token").fill(house.link("bob"))
    page.get_by_role("button", name="Come in").click()
    expect(page.get_by_text("You are bob")).to_be_visible()


def test_another_link_in_the_same_tab_is_another_member(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_text("You are ann")).to_be_visible()
    page.goto(house.link("bob"))
    expect(page.get_by_text("You are bob")).to_be_visible()
    assert "#" not in page.url


def test_a_token_that_is_revoked_ends_the_visit(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(turn(page)).to_be_visible()
    house.call("hal", "revoke_token", member="bob")
    house.call("ann", "act", action="take", params={"n": 1})
    expect(page.get_by_role("alert").filter(has_text="revoked")).to_be_visible()


def test_a_token_for_many_rooms_picks_one_from_the_list(house: Running, visit: Visit) -> None:
    house.open(chart(), "chart")
    house.house.identities.add("host", at=0, token=token("host"), kind="human", host=True)
    page = visit(f"http://127.0.0.1:{house.port}/#{token('host')}")
    expect(page.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(page.get_by_text("You are host")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rooms")
    page.get_by_role("button", name="chart").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lanterns")


def test_a_room_that_is_not_there_leads_to_the_list(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann", room="nowhere"))
    expect(page.get_by_role("alert").filter(has_text="nowhere")).to_be_visible()
    page.get_by_role("button", name="table").click()
    expect(turn(page)).to_have_text("It is your turn.")


# -- what may be seen and done ------------------------------------------------------------------
def test_a_watcher_is_told_that_it_only_watches(house: Running, visit: Visit) -> None:
    page = visit(house.link("pip"))
    expect(turn(page)).to_have_text("To move: ann.")
    expect(page.get_by_text("watch-only", exact=True)).to_be_visible()
    expect(page.get_by_text("Your grant does not let you write here.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_be_hidden()
    expect(page.locator(".choice")).to_have_count(0)


def test_a_grant_that_changes_shows_at_once(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_role("button", name="take 1")).to_be_visible()
    house.call("hal", "grant", member="ann", may=["watch", "read_roster"])
    expect(page.get_by_text("watch-only", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="take 1")).to_have_count(0)


def test_a_free_seat_can_be_taken(house: Running, visit: Visit) -> None:
    guest = AgentSpec(id="gus", kind="human", token=token("gus"))
    house.open(Scenario(scenario="open", world="nim", agents=[guest]), "open")
    page = visit(house.link("gus", room="open"))
    page.get_by_role("button", name="Sit at first").click()
    expect(page.get_by_text("seat first")).not_to_have_count(0)
    page.get_by_role("button", name="take 1").click()
    expect(events(page).filter(has_text="first takes 1")).to_have_count(1)


def test_a_picture_is_shown_where_the_world_draws_one(house: Running, visit: Visit) -> None:
    house.open(chart(), "chart")
    page = visit(house.link("kay", room="chart"))
    picture = page.locator("img.picture")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 0
    plain = visit(house.link("ann"))
    expect(turn(plain)).to_be_visible()
    expect(plain.locator("img.picture")).to_be_hidden()


# -- talking ------------------------------------------------------------------------------------
def test_a_message_with_html_in_it_is_shown_as_text(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    other = visit(house.link("bob"))
    nasty = """<img src=x onerror="document.title='owned'"><b>bold</b><script>document.title='owned'</script>"""
    say(page, "*", nasty)
    for seen in (page, other):
        expect(seen.locator(".events blockquote")).to_have_text(nasty)
        expect(seen.locator(".events :is(img, b, script)")).to_have_count(0)
        expect(seen).not_to_have_title("owned")


def test_who_said_something_is_the_records_word_and_not_the_texts(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(turn(page)).to_be_visible()
    house.call("ann", "send_message", to="bob", content="hal to everybody: do as I say")
    line = page.locator(".events li").filter(has=page.locator("blockquote"))
    expect(line.locator(".name")).to_have_text("ann")
    expect(line.locator(".to")).to_have_text("to bob")
    expect(line.locator("blockquote")).to_have_text("hal to everybody: do as I say")


def test_a_message_reaches_only_whom_it_is_for(house: Running, visit: Visit) -> None:
    ann, bob, pip = (visit(house.link(who)) for who in ("ann", "bob", "pip"))
    say(ann, "bob", "between us")
    expect(bob.locator(".events blockquote")).to_have_text("between us")
    say(ann, "*", "for all")
    expect(pip.locator(".events blockquote")).to_have_text(["for all"])


def test_whoever_may_not_broadcast_is_not_offered_everybody(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(page.locator("#talk-to option")).to_have_text(["ann", "eve", "pip", "hal"])


# -- coming back --------------------------------------------------------------------------------
def test_the_page_goes_on_after_the_house_was_restarted_without_losing_or_repeating_an_event(
    house: Running, visit: Visit
) -> None:
    page = visit(house.link("ann"))
    page.get_by_role("button", name="take 1").click()
    expect(turn(page)).to_have_text("To move: bob.")
    house.call("bob", "act", action="take", params={"n": 1})
    expect(events(page).filter(has_text="second takes 1")).to_have_count(1)
    for i in range(3):
        house.stop()
        expect(page.locator("#link")).to_have_attribute("data-state", re.compile("lost|connecting"))
        house.start()
        house.call("bob", "send_message", to="ann", content=f"while you were away, {i}")
        expect(page.locator("#link")).to_have_text("Connected")
        house.until_here("ann", "bob")
        house.call("bob", "send_message", to="ann", content=f"are you there, {i}?")
        expect(events(page).filter(has_text=f"are you there, {i}?")).to_have_count(1)
    expect(events(page)).to_have_text(house.told("ann"))
    page.get_by_role("button", name="take 2").click()
    expect(events(page).filter(has_text="first takes 2")).to_have_count(1)  # only then is it on record for certain
    expect(events(page)).to_have_text(house.told("ann"))


def test_a_move_made_while_the_house_is_away_is_made_when_it_is_back(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_role("button", name="take 3")).to_be_visible()
    house.stop()
    expect(page.locator("#link")).to_have_attribute("data-state", re.compile("lost|connecting"))
    page.get_by_role("button", name="take 3").click()
    house.start()
    expect(turn(page)).to_have_text("To move: bob.")
    assert house.call("bob", "view").observation.status["stones"] == STONES - 3


def test_a_move_whose_answer_was_lost_is_made_once(house: Running, visit: Visit) -> None:
    acts: list[Any] = []

    def lose_the_first_answer(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def up(frame: str | bytes) -> None:
            asked = json.loads(frame)
            if asked.get("command") == "act":
                acts.append((asked["id"], asked["key"]))
            server.send(frame)

        def down(frame: str | bytes) -> None:
            if len(acts) == 1 and json.loads(frame).get("id") == acts[0][0]:
                route.close(code=4000, reason="lost")
            else:
                route.send(frame)

        route.on_message(up)
        server.on_message(down)

    page = visit(house.link("ann"), lambda page: page.route_web_socket("**/ws", lose_the_first_answer))
    page.get_by_role("button", name="take 3").click()
    expect(page.get_by_text(f"You took 3; {STONES - 3} are left.")).to_be_visible()
    assert len(acts) == 2
    assert acts[0] == acts[1]
    assert house.call("bob", "view").observation.status["stones"] == STONES - 3
    expect(events(page).filter(has_text="first takes 3")).to_have_count(1)


# -- the page itself ----------------------------------------------------------------------------
def test_everything_comes_from_the_house_itself(house: Running, visit: Visit) -> None:
    asked: list[str] = []
    page = visit(house.link("ann"), lambda page: page.on("request", lambda request: asked.append(request.url)))
    expect(turn(page)).to_be_visible()
    ours = f"http://127.0.0.1:{house.port}/"
    assert asked
    assert [url for url in asked if not url.startswith(ours)] == []
    assert [url for url in asked if token("ann") in url.split("#")[0]] == []


def test_nothing_on_the_page_parses_data_as_html() -> None:
    folder = Path(__file__).parents[2] / "src/cohabit/faces/web"
    scripts = list(folder.glob("*.js"))
    assert scripts
    for path in scripts:
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser", path.read_text()
        )
        assert found is None, path.name


def test_it_fits_a_phone(house: Running, visit: Visit) -> None:
    house.open(chart(), "chart")
    for link in (house.link("ann"), house.link("kay", room="chart")):
        page = visit(link, viewport={"width": 360, "height": 740})
        expect(page.locator(".choice").first).to_be_visible()
        expect(page.locator(".standings li")).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_keyboard_is_enough_to_play_and_to_talk(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    page.get_by_role("button", name="take 2").focus()
    page.keyboard.press("Enter")
    expect(turn(page)).to_have_text("To move: bob.")
    expect(turn(page)).to_be_focused()
    page.get_by_role("textbox", name="Message").focus()
    page.keyboard.type("your move")
    page.keyboard.press("Enter")
    expect(page.locator(".events blockquote")).to_have_text("your move")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
