"""The front end of a world on the page: a document in a sandboxed frame, in a real browser, against a real house."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, FrameLocator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = pytest.mark.browser
FRONT_ENDS = Path(__file__).parent / "front_ends"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


def players(world: str) -> Scenario:
    """A room with this world: ann and bob play, eve watches, hal is the host."""
    seats = 1 if "front_ends" in world or ".py" in world else 2
    people = [
        AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}", token=token(name))
        for i, name in enumerate(("ann", "bob")[:seats])
    ]
    return Scenario(
        scenario="front end",
        world=world,
        seed=1,
        agents=[
            *people,
            AgentSpec(id="eve", kind="human", role="observer", token=token("eve")),
            AgentSpec(id="hal", kind="human", role="host", token=token("hal")),
        ],
    )


def document(page: Page) -> FrameLocator:
    return page.frame_locator(".front-end-frame")


def alone(link: str) -> str:
    """The link that opens the front end alone."""
    return link.replace("?room=table", "?room=table&view=table")


# -- playing -------------------------------------------------------------------------------------
def test_two_people_play_tic_tac_toe_through_its_document_to_the_end(house: Running, visit: Visit) -> None:
    house.open(players("tictactoe"))
    ann, bob = visit(house.link("ann")), visit(alone(house.link("bob")), viewport=PHONE, color_scheme="dark")
    for page, cell in ((ann, 4), (bob, 0), (ann, 2), (bob, 6), (ann, 3), (bob, 5), (ann, 1), (bob, 8)):
        document(page).get_by_role("button", name=f"cell {cell}, free").click()
    expect(document(ann).get_by_role("status")).to_have_text("Your turn. You play X.")
    document(ann).get_by_role("button", name="cell 7, free").press("Enter")
    expect(document(ann).get_by_role("status")).to_have_text("You win!")
    expect(document(bob).get_by_role("status")).to_have_text("You lose.")
    expect(document(bob).get_by_role("button", disabled=False)).to_have_count(0)
    assert house.call("eve", "view").observation.status == {"winner": "X"}


def test_a_watcher_sees_every_move_in_the_document_and_can_make_none(house: Running, visit: Visit) -> None:
    house.open(players("tictactoe"))
    page = visit(house.link("eve"))
    expect(document(page).get_by_role("status")).to_have_text("Waiting for ann.")
    house.call("ann", "mark", cell=4)
    expect(document(page).get_by_role("button", name="cell 4, X")).to_be_visible()
    expect(document(page).get_by_role("status")).to_have_text("Waiting for bob.")
    expect(document(page).get_by_role("button", disabled=False)).to_have_count(0)


def test_the_link_to_the_table_alone_shows_nothing_else_and_survives_a_reload(house: Running, visit: Visit) -> None:
    house.open(players("tictactoe"))
    page = visit(alone(house.link("ann")), viewport=PHONE)
    for _ in range(2):
        expect(document(page).get_by_role("status")).to_have_text("Your turn. You play X.")
        expect(page.locator(".bar")).to_be_hidden()
        expect(page.get_by_role("textbox", name="Message")).to_be_hidden()
        assert page.locator(".front-end-frame").bounding_box() == {"x": 0, "y": 0, **PHONE}
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        page.reload()


@pytest.mark.soak
def test_a_room_without_a_game_is_shown_as_usual_by_the_link_to_the_table(house: Running, visit: Visit) -> None:
    people = [AgentSpec(id="ann", kind="human", role="host", token=token("ann"))]
    house.open(Scenario(scenario="talk", world="lounge", agents=people))
    page = visit(alone(house.link("ann")))
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)


@pytest.mark.soak
def test_the_document_follows_the_theme_of_the_page(house: Running, visit: Visit) -> None:
    house.open(players("tictactoe"))
    page = visit(house.link("ann"), color_scheme="light")
    body = document(page).locator("body")
    expect(body).to_have_css("background-color", "rgb(255, 254, 251)")
    page.emulate_media(color_scheme="dark")
    expect(body).to_have_css("background-color", "rgb(29, 32, 28)")


@pytest.mark.soak
def test_a_member_whose_grant_is_narrowed_is_refused_in_the_document(house: Running, visit: Visit) -> None:
    house.open(players("tictactoe"))
    page = visit(house.link("ann"))
    cell = document(page).get_by_role("button", name="cell 4, free")
    expect(cell).to_be_enabled()
    house.call("hal", "grant", member="ann", may=["watch", "read_own"])
    expect(page.get_by_text("watch-only", exact=True)).to_be_visible()
    frame = frame_of(page)
    refusal = frame.evaluate("call('mark', { cell: 4 }).catch((error) => error.message)")
    # The house refuses it; the page does so itself as soon as it has fetched the commands of the new grant.
    assert "PERMISSION_DENIED" in refusal or "cannot call this tool" in refusal
    frame.wait_for_function("async () => (await request('tools/list', {})).tools.every(({ name }) => name !== 'mark')")
    assert house.call("eve", "view").to_move == ["ann"]


def whist() -> Scenario:
    """A table of Whist: ann, a watcher, and three bots."""
    bots = [
        AgentSpec(id=name, role="player", claim=f"auto:{i}", brain="whist")
        for i, name in enumerate(("pat", "alex", "robin"), 1)
    ]
    ann = AgentSpec(id="ann", kind="human", role="human", claim="auto:0", token=token("ann"))
    eve = AgentSpec(id="eve", kind="human", role="observer", token=token("eve"))
    return Scenario(scenario="whist", world="whist", seed=1, agents=[ann, *bots, eve])


def test_a_hand_of_whist_is_played_on_a_phone_to_its_end(house: Running, visit: Visit) -> None:
    house.open(whist())
    page = visit(alone(house.link("ann")), viewport=PHONE, has_touch=True, is_mobile=True)
    watcher = visit(house.link("eve"))
    table = document(page)
    for left in range(13, 0, -1):
        cards = table.locator("#hand button")
        expect(cards).to_have_count(left)
        table.locator("#felt").tap(position={"x": 30, "y": 30})  # do not look at the last trick any longer
        expect(table.locator("#hand button:enabled").first).to_be_visible()
        legal = house.call("ann", "view").observation.status["legal"]
        assert (
            cards.evaluate_all("(all) => all.filter((card) => !card.disabled).map((card) => card.dataset.card)")
            == legal
        )
        assert frame_of(page).evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        if left % 2:
            table.locator("#hand button:enabled").first.tap()
        else:
            table.locator("#hand button:enabled").last.press("Enter")
    expect(table.locator("#news")).to_contain_text("Hand 1: ")
    result = house.call("ann", "view").observation.status["lastHand"]
    assert sum(result["tricksWon"]) == 13
    (deal,) = house.call("ann", "deals")
    assert deal.proof.commitments[0] is not None  # the document added a number of its own …
    expect(table.locator("#verdicts")).to_have_text("Hand 1 ✔")  # … and checked the hand
    expect(document(watcher).locator("#teams")).to_contain_text(str(max(result["points"])))
    expect(document(watcher).locator("#hand button")).to_have_count(0)


def test_the_table_of_whist_shows_a_watcher_no_card_that_is_not_on_the_table(house: Running, visit: Visit) -> None:
    plan = whist()
    plan.agents.append(AgentSpec(id="gus", kind="human", token=token("gus")))
    house.open(plan)
    house.call("ann", "cut")
    page = visit(house.link("gus"))
    expect(document(page).locator(".backs i").first).to_be_visible()
    status = house.call("gus", "view").observation.status
    shown = document(page).locator(".card").evaluate_all("(all) => all.map((card) => card.getAttribute('aria-label'))")
    assert len(shown) == len(status["trick"]["plays"]) + len((status["lastTrick"] or {"plays": []})["plays"])
    assert document(page).locator(".backs i").count() == sum(status["handCounts"])


@pytest.mark.soak
def test_the_table_of_whist_shows_all_hands_to_somebody_who_sees_everything(house: Running, visit: Visit) -> None:
    house.open(whist())
    house.call("ann", "cut")
    page = visit(house.link("eve"))
    expect(document(page).locator(".open-hand")).to_have_count(4)
    status = house.call("eve", "view").observation.status
    expect(document(page).locator(".open-hand .card")).to_have_count(sum(status["handCounts"]))
    expect(document(page).locator(".backs i")).to_have_count(0)


def test_a_watcher_with_consent_sees_the_hand_it_watches_and_can_play_none_of_its_cards(
    house: Running,
    visit: Visit,
) -> None:
    plan = whist()
    plan.agents.append(AgentSpec(id="hal", kind="human", role="host", token=token("hal")))
    house.open(plan)
    house.call("ann", "cut")
    house.call("hal", "grant", member="eve", may=["watch", "receive_directed"])
    asked = house.call("eve", "ask", through="north")
    house.call("ann", "allow", request=asked.request)
    page = visit(house.link("eve"))
    expect(document(page).locator(".seat[data-place=bottom]")).to_contain_text("you watch north")
    expect(document(page).locator("#hand button")).to_have_count(13)
    expect(document(page).locator("#hand button:enabled")).to_have_count(0)


# -- hostile documents ---------------------------------------------------------------------------
class Evil:
    """A server that counts what reaches it, over HTTP or as a question to a STUN server."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        reached = self.reached

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                reached.append(self.path)
                self.send_response(200)
                self.end_headers()

            do_POST = do_GET  # noqa: N815 - the library's names

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._stun = f"127.0.0.1:{self._udp.getsockname()[1]}"
        self._threads = [threading.Thread(target=work) for work in (self._server.serve_forever, self._listen)]
        for thread in self._threads:
            thread.start()

    def _listen(self) -> None:
        while packet := self._udp.recv(2_000):  # an empty one ends it
            self.reached.append(f"STUN {packet[:2].hex()}")

    def document(self, html: str) -> str:
        """The hostile document, with the addresses of this server."""
        return html.replace('"EVIL"', json.dumps(self.url)).replace("STUN", self._stun)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._udp.sendto(b"", self._udp.getsockname())
        for thread in self._threads:
            thread.join()
        self._udp.close()


@pytest.fixture
def evil() -> Iterator[Evil]:
    server = Evil()
    yield server
    server.close()


def frame_of(page: Page) -> Frame:
    handle = page.locator(".front-end-frame").element_handle()
    frame = handle.content_frame() if handle is not None else None
    assert frame is not None
    return frame


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """Opens a tab in which the browser may complain: it says what it blocks."""
    contexts = []

    def open_tab(url: str) -> Page:
        context = browser.new_context()
        contexts.append(context)
        page = context.new_page()
        page.goto(url)
        return page

    yield open_tab
    for context in contexts:
        context.close()


def hostile_world(folder: Path, evil: Evil) -> str:
    for path in FRONT_ENDS.iterdir():
        if path.is_file():
            (folder / path.name).write_text(evil.document(path.read_text()))
    return f"{folder / 'pegs.py'}:Hostile"


def test_a_hostile_document_stays_in_its_frame_without_token_network_or_rights(
    house: Running, tab: Callable[[str], Page], evil: Evil, tmp_path: Path
) -> None:
    house.open(players(hostile_world(tmp_path, evil)))
    secret = token("ann")
    page = tab(house.link("ann"))
    address = re.compile(r"/\?room=table$")
    expect(document(page).locator("#tried")).not_to_be_empty()
    tried = json.loads(document(page).locator("#tried").inner_text())
    for name in (
        "read parent",
        "read address",
        "session storage",
        "local storage",
        "cookies",
        "navigate top",
        "replace top",
    ):
        assert tried.pop(name) == "SecurityError", name
    assert tried.pop("origin") == "null"
    assert tried.pop("referrer") == ""
    assert tried.pop("popup") == "null"
    assert tried.pop("alert") == "null"
    assert tried.pop("webrtc") == "undefined"
    assert tried.pop("webrtc of a module with a window of its own") is None
    assert tried.pop("webrtc of an empty frame") == "SecurityError"
    for name in ("a frame with a script", "a frame with a handler"):
        assert tried.pop(f"webrtc of {name}") == "silent", name
    assert tried.pop("webrtc of a frame in a shadow") is None
    assert tried.pop("webrtc of a frame with my script") == "TypeError"  # it has no constructor either
    assert tried.pop("script of a script") == "undefined"
    for name in ("fetch", "fetch house"):
        assert tried.pop(name) == "TypeError", name
    for name in ("image", "style", "script", "websocket", "worker"):
        assert tried.pop(name) in ("blocked", "SecurityError"), name
    for name in [name for name in tried if name.startswith("call ") and name not in ("call put", "call object")]:
        assert tried.pop(name) == "refused: a document cannot call this tool", name
    assert tried.pop("call object") == "a document cannot call this tool"
    assert tried.pop("call put") == "done"
    for name in ("large", "cycle"):
        assert tried.pop(name) == "a message has at most 65536 characters", name
    assert tried.pop("link") == "this host opens no links"
    assert tried.pop("read other") == "a document can read itself only"
    assert tried.pop("method") == "unknown method __proto__"
    assert tried.pop("tools") == ["front_end", "next_view", "paint", "palette", "put", "view", "wait_for_turn"]
    assert tried == {"beacon": None, "form": None}
    assert secret not in document_text(page)
    document(page).locator("#leave").click()
    expect(page).to_have_url(address)
    assert len(page.context.pages) == 1
    house.call("ann", "put")  # the page goes on
    expect(page.locator(".world-text")).to_contain_text("2 pegs")
    assert [member.handle for member in house.call("hal", "roster").members] == ["ann", "eve", "hal"]
    assert evil.reached == []


def document_text(page: Page) -> str:
    """Everything that the frames of a page contain."""
    return " ".join(frame.content() for frame in page.frames if frame != page.main_frame)


def test_a_hostile_document_of_a_watcher_is_refused_what_the_watcher_may_not_do(
    house: Running, tab: Callable[[str], Page], evil: Evil, tmp_path: Path
) -> None:
    house.open(players(hostile_world(tmp_path, evil)))
    page = tab(house.link("eve"))
    expect(document(page).locator("#tried")).not_to_be_empty()
    tried = json.loads(document(page).locator("#tried").inner_text())
    assert tried["call put"] == "refused: a document cannot call this tool"
    assert tried["tools"] == ["front_end", "next_view", "palette", "view", "wait_for_turn"]
    assert house.call("hal", "view").observation.status == {"pegs": 0}


def test_a_document_that_floods_the_page_is_closed_and_the_page_goes_on(
    house: Running, tab: Callable[[str], Page]
) -> None:
    house.open(players(f"{FRONT_ENDS / 'pegs.py'}:Flood"))
    page = tab(house.link("ann"))
    expect(page.get_by_text("sent too many messages and was closed")).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)
    house.call("ann", "put")
    expect(page.locator(".world-text")).to_contain_text("1 pegs")


def test_the_frame_has_a_policy_of_its_own_and_only_the_page_may_frame_it(
    house: Running, tab: Callable[[str], Page]
) -> None:
    page = tab("about:blank")
    response = page.goto(f"http://127.0.0.1:{house.port}/frame")
    assert response is not None
    policy = response.headers["content-security-policy"].split("; ")
    assert {"sandbox allow-scripts", "default-src 'none'", "frame-ancestors 'self'"} <= set(policy)
    assert page.evaluate("origin") == "null"  # also where it is not in a frame
