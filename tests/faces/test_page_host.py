"""The page for hosts and players, in a real browser, against a real house: invites, lobby, permissions, audit, forms."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cohabit.errors import EgressUsedUp, PermissionDenied
from cohabit.faces.app import PAGE
from cohabit.model.grant import ACT, PERCEIVE
from cohabit.scenario import AgentSpec, Scenario

from .page import WIDE, Running, Visit, open_drawer, panels, say, table, token, turn

pytestmark = pytest.mark.browser
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
AUCTION = f"{Path(__file__).with_name('page_worlds.py')}:Auction"
MOODY = f"{Path(__file__).parent.parent / 'room' / 'worlds.py'}:Moody"
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("house"))
    running.start()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def room(house: Running, request: pytest.FixtureRequest) -> str:
    """A room for one test, with a host (hal), two players (ann, bob) and two who watch."""
    number = len(house.house.rooms)
    plan, name = table(), f"table-{number}"
    for agent in plan.agents:
        agent.token = token(f"{agent.id}-{name}")
    house.open(plan, name)
    return name


class In:
    """Calls and links of the members of one room."""

    def __init__(self, house: Running, room: str) -> None:
        self.house, self.room = house, room

    def call(self, who: str, command: str, **args: Any) -> Any:
        return self.house.call(f"{who}-{self.room}", command, self.room, **args)

    def link(self, who: str) -> str:
        return self.house.link(f"{who}-{self.room}", self.room)


@pytest.fixture
def here(house: Running, room: str) -> In:
    return In(house, room)


def requests(page: Page) -> Locator:
    return page.get_by_role("region", name="Requests")


def join_as(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()


# -- permissions and audit ------------------------------------------------------------------------
def test_a_host_narrows_the_grant_of_an_agent_and_its_next_act_is_refused_and_in_the_audit(
    here: In,
    visit: Visit,
) -> None:
    here.call("ann", "act", action="take", params={"n": 1})
    page = visit(here.link("hal"))
    bob = open_drawer(page, "Permissions").locator("li[data-handle=bob]")
    expect(bob).to_contain_text("Uses tiny-7b. It sends what it sees outside this house.")
    play = bob.get_by_role("button", name="Play a seat")
    expect(play).to_have_attribute("aria-pressed", "true")
    play.click()
    expect(play).to_have_attribute("aria-pressed", "false")
    with pytest.raises(PermissionDenied):
        here.call("bob", "act", action="take", params={"n": 1})
    audit = open_drawer(page, "Audit")
    expect(audit.get_by_role("listitem").filter(has_text="refused")).to_contain_text("bob called act")
    expect(audit.get_by_role("listitem").filter(has_text="revoked")).to_contain_text("hal removed act from bob")
    audit.get_by_label("Show").select_option("refused calls")
    expect(audit.get_by_role("listitem").filter(has_text="revoked")).to_have_count(0)
    expect(audit.get_by_role("listitem").filter(has_text="refused")).to_contain_text("bob called act")
    audit.get_by_label("Show").select_option("everything")
    audit.get_by_label("Member").select_option("ann")
    expect(audit.get_by_role("listitem").filter(has_text="bob")).to_have_count(0)
    open_drawer(page, "Permissions")
    bob.get_by_role("button", name="Back to the default").click()
    expect(play).to_have_attribute("aria-pressed", "true")
    here.call("bob", "act", action="take", params={"n": 1})


def test_the_page_asks_before_it_removes_a_member_or_starts_a_rematch(here: In, visit: Visit) -> None:
    page = visit(here.link("hal"))
    pip = open_drawer(page, "Permissions").locator("li[data-handle=pip]")
    pip.get_by_role("button", name="Remove pip").click()
    pip.get_by_role("button", name="Cancel").click()
    expect(pip).to_be_visible()
    pip.get_by_role("button", name="Remove pip").click()
    pip.get_by_role("group", name="Remove pip").get_by_role("button", name="Remove", exact=True).click()
    expect(pip).to_have_count(0)
    assert "pip" not in [m.handle for m in here.call("hal", "roster").members]
    page.get_by_role("button", name="Rematch", exact=True).click()
    page.get_by_role("button", name="Start a rematch").click()
    expect(page.get_by_text("A new game has begun.")).to_be_visible()
    assert here.call("hal", "session_info").game == 2
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_role("button", name="Archive it").click()
    expect(turn(page)).to_contain_text("nothing in it can be changed. Bring it back to go on.")
    open_drawer(page, "Story")
    expect(page.get_by_text("Nobody can write in an archived room.")).to_be_visible()
    expect(panels(page)).to_have_text(
        ["Story", "Members", "Scores", "Moderation", "Data sent", "Audit", "Text", "You", "About"]
    )
    expect(page.get_by_role("group", name="Manage this room").get_by_role("button")).to_have_text(["Bring back"])
    sent = open_drawer(page, "Data sent")
    expect(sent.get_by_role("listitem").filter(has_text="hal")).to_contain_text("to a person")
    expect(sent.get_by_role("button", name="Set the budget")).to_be_hidden()
    with page.expect_download() as saved:
        sent.get_by_role("button", name="Save a signed copy").click()
    assert Path(saved.value.path()).read_text().count(".") == 1
    expect(open_drawer(page, "Moderation").get_by_role("button", name="Mute")).to_be_hidden()
    open_drawer(page, "Audit").get_by_label("Member").select_option("pip")
    page.get_by_role("button", name="Bring back").click()
    expect(page.get_by_text("This room is back.")).to_be_visible()
    expect(page.get_by_role("button", name="Bring back")).to_be_hidden()
    expect(page.get_by_role("button", name="Archive", exact=True)).to_be_visible()


@pytest.mark.soak
def test_a_host_creates_a_link_to_watch_and_turns_it_off(here: In, visit: Visit) -> None:
    page = visit(here.link("hal"))
    shared = open_drawer(page, "Invite").get_by_role("region", name="Watch link")
    expect(shared.get_by_role("button", name="Turn off")).to_be_hidden()
    shared.get_by_role("button", name="Create a watch link").click()
    expect(shared.get_by_role("img", name="QR code: Watch link")).to_be_visible()
    expect(shared.get_by_role("button", name="Copy")).to_be_visible()
    watcher = visit(shared.get_by_label("Watch link", exact=True).input_value(), **PHONE)
    expect(watcher.get_by_text("You are watchers")).to_contain_text("watch-only")

    again = open_drawer(visit(here.link("hal")), "Invite").get_by_role("region", name="Watch link")
    expect(again).to_contain_text("There is a watch link.")
    again.get_by_role("button", name="Turn off").click()
    expect(again.get_by_role("button", name="Create a watch link")).to_be_focused()
    expect(watcher.get_by_role("alert").filter(has_text="You were signed out:")).to_contain_text(
        "you were removed from this room"
    )
    expect(shared.get_by_label("Watch link", exact=True)).to_be_hidden()
    assert "watchers" not in [m.handle for m in here.call("hal", "roster").members]


def test_a_host_sets_the_turn_timer_and_the_countdown_of_the_player_follows(house: Running, visit: Visit) -> None:
    people = [AgentSpec(id="hal", kind="human", role="host"), AgentSpec(id="ann", claim="auto:0", role="player")]
    for agent in people:
        agent.token = token(f"{agent.id}-timed")
    house.open(Scenario(scenario="timed", world=MOODY, agents=people), "timed")
    host, player = visit(house.link("hal-timed", "timed")), visit(house.link("ann-timed", "timed"))
    timer, countdown = host.get_by_label("Turn timer"), player.get_by_role("timer")
    expect(timer).to_have_value("")
    expect(countdown).to_be_hidden()
    timer.select_option("300")
    expect(countdown).to_have_text(re.compile(r"^[45]:\d\d left$"))
    expect(player.get_by_label("Turn timer")).to_be_hidden()
    house.call("hal-timed", "set_turn_timer", "timed", seconds=3599)
    expect(timer).to_have_value("3599")
    expect(countdown).to_have_text(re.compile(r"^59:\d\d left$"))
    timer.select_option("off")
    expect(countdown).to_be_hidden()


def test_a_player_is_offered_only_what_it_may_use_and_sees_its_own_refusals(here: In, visit: Visit) -> None:
    page = visit(here.link("bob"))
    expect(panels(page)).to_have_text(["Story", "Members", "Scores", "Audit", "Text", "You", "About"])
    expect(page.get_by_role("group", name="Manage this room")).to_be_hidden()
    expect(page.get_by_role("button", name="Ask to chat")).to_be_visible()
    for who in ("bob", "pip"):
        with pytest.raises(PermissionDenied):
            here.call(who, "archive")
    lines = open_drawer(page, "Audit").get_by_role("listitem")
    expect(lines.filter(has_text="bob called archive")).to_have_count(1)
    expect(lines.filter(has_text="pip")).to_have_count(0)


def test_a_player_decides_who_sees_what_its_seat_sees_and_a_host_who_may_chat(here: In, visit: Visit) -> None:
    pip, ann, hal = (visit(here.link(who)) for who in ("pip", "ann", "hal"))
    pip.get_by_role("combobox", name="Ask to see what a player sees").select_option("first")
    expect(requests(ann)).to_contain_text("pip asks to see what seat first sees.")
    expect(requests(hal)).to_be_hidden()  # a host cannot answer for the player
    requests(ann).get_by_role("button", name="Allow for this game").click()
    expect(requests(ann)).to_contain_text("pip sees what your seat sees.")
    assert here.call("pip", "whoami").grant["through"] == "first"
    expect(turn(ann)).to_have_text("It is your turn.")
    expect(turn(pip)).to_have_text("You see what ann sees. To move: ann.")
    expect(pip.locator(".about-you dl")).to_contain_text(
        "Allowed by its playerwhat seat first sees; until the next game begins"
    )
    expect(pip.locator(".world-text")).to_contain_text("you: first")
    expect(pip.locator(".world-text")).not_to_contain_text("your turn")
    assert "It is your turn." in here.call("ann", "view").text
    assert "It is your turn." not in here.call("pip", "view").text
    requests(ann).get_by_role("button", name="Stop").click()
    expect(requests(ann)).to_be_hidden()
    assert "through" not in here.call("pip", "whoami").grant

    expect(pip.get_by_text("You don't have permission to send messages")).to_be_visible()
    pip.get_by_role("button", name="Ask to chat").click()
    expect(requests(pip)).to_contain_text("You asked to write to members and write to everybody.")
    requests(hal).get_by_role("button", name="Allow for 10 minutes").click()
    expect(pip.get_by_role("textbox", name="Message")).to_be_visible()


# -- moderation -------------------------------------------------------------------------------------
def test_a_report_reaches_the_host_with_its_lines_and_the_host_mutes_slows_and_blocks(here: In, visit: Visit) -> None:
    for text in ("a fine day", "you fool"):
        here.call("bob", "send_message", to="ann", content=text)
    ann, hal = visit(here.link("ann")), visit(here.link("hal"))
    here.call("ann", "send_message", to="*", content="hello")
    expect(ann.locator(".events li[data-kind=message]")).to_have_count(3)
    expect(ann.get_by_role("button", name="Report")).to_have_count(2)  # not her own
    ann.get_by_role("button", name="Report").last.click()
    ann.get_by_label("What is wrong?").fill("He is rude")
    ann.get_by_role("button", name="Send to the hosts").click()
    expect(ann.get_by_text("Reported. Only the hosts of this room see it.")).to_be_visible()

    expect(panels(hal).filter(has_text="Moderation")).to_have_text("Moderation (1)")
    panels(hal).filter(has_text="Moderation").click()
    panel = hal.get_by_role("region", name="Moderation")
    report = panel.get_by_role("region", name="Reports").get_by_role("listitem")
    expect(report).to_contain_text("ann reports bob")
    expect(report.locator("q")).to_have_text("He is rude")
    expect(report.locator("blockquote")).to_have_text(["you fool"])
    panel.get_by_label("For").select_option("1 hour")
    report.get_by_role("button", name="Mute bob for 1 hour").click()
    expect(panel.get_by_role("button", name="Unmute bob")).to_be_visible()
    with pytest.raises(PermissionDenied, match="a host has muted you until"):
        here.call("bob", "send_message", to="ann", content="why?")
    panel.get_by_role("button", name="Unmute bob").click()
    expect(panel.get_by_role("button", name="Unmute bob")).to_have_count(0)
    report.get_by_label("Note to report").fill("Thank you")
    report.get_by_role("button", name="Close report").click()
    expect(panel.get_by_text("There are no open reports.")).to_be_visible()
    expect(ann.locator(".events")).to_contain_text(re.compile(r"closed report \d+: Thank you"))

    panel.get_by_label("Slow mode").select_option("1 minute")
    panel.get_by_label("Blocked words").fill("fool\nold goat")
    panel.get_by_role("button", name="Save the words").click()
    expect(ann.locator(".events").get_by_text("changed the chat limits")).to_have_count(2)
    expect(hal.locator(".events")).to_contain_text("changed the chat limits: slow mode of 60 s")
    limits = here.call("hal", "permissions").chat_limits
    assert (limits.slow_mode_s, limits.blocked_words) == (60, ("fool", "old goat"))
    say(ann, "bob", "You old goat!")
    expect(ann.locator(".message .result")).to_contain_text("this room does not allow 'old goat'")

    sent = open_drawer(hal, "Data sent")
    expect(sent.get_by_role("listitem").filter(has_text="bob")).to_contain_text("bytes to tiny-7b")
    sent.get_by_label("Budget of").select_option("bob")
    sent.get_by_label("Bytes in all").fill("1")
    sent.get_by_role("button", name="Set the budget").click()
    expect(sent.get_by_role("listitem").filter(has_text="bob")).to_contain_text("0 bytes left of 1 byte")
    with pytest.raises(EgressUsedUp):
        here.call("bob", "view")

    ann.set_viewport_size(PHONE["viewport"])
    open_drawer(ann, "You").get_by_role("button", name="Leave this room").click()
    assert ann.evaluate("document.documentElement.scrollWidth") <= 390
    ann.get_by_role("button", name="Leave", exact=True).click()
    expect(ann.get_by_role("alert").filter(has_text=f"You have left the room {here.room}.")).to_be_visible()
    hal.set_viewport_size(PHONE["viewport"])
    for name in ("Data sent", "Moderation"):
        open_drawer(hal, name)
        assert hal.evaluate("document.documentElement.scrollWidth") <= 390
    for page in (ann, hal):
        page.set_viewport_size(WIDE)


@pytest.mark.soak
def test_the_newest_event_stays_in_sight_when_a_request_takes_space(here: In, visit: Visit) -> None:
    page = visit(here.link("hal"))
    for number in range(30):
        here.call("hal", "send_message", to="*", content=f"Line {number}")
    newest = page.get_by_text("Line 29")
    expect(newest).to_be_in_viewport(ratio=1)
    here.call("hal", "set_entry", open=True, lobby=True)
    with_request = visit(page.url.partition("?")[0] + f"?join={here.room}")
    join_as(with_request, "Gwen")
    expect(page.get_by_role("button", name="Admit")).to_be_visible()
    expect(page.get_by_text("Gwen (human, by open link) waits in the lobby")).to_be_in_viewport()


# -- coming in --------------------------------------------------------------------------------------
def test_people_join_by_a_link_on_a_phone_and_wait_in_the_lobby_until_a_host_decides(here: In, visit: Visit) -> None:
    hal = visit(here.link("hal"))
    entry = open_drawer(hal, "Entry")
    entry.get_by_label("Lobby").check()
    entry.get_by_label("Open link").check()
    field = entry.get_by_label("Join link", exact=True)
    expect(field).to_have_value(re.compile(rf"/\?join={here.room}$"))
    link = field.input_value()

    mia, max_ = visit(link, **PHONE), visit(link, **PHONE)
    for phone, name in ((mia, "Mia"), (max_, "Max")):
        join_as(phone, name)
        expect(phone.get_by_text("Waiting for a host to let you in …")).to_be_visible()
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    requests(hal).get_by_role("button", name="Admit: Mia").click()
    expect(mia.get_by_text("You are Mia · human · no seat")).to_be_visible()
    expect(hal.locator(".events .text").filter(has_text="Mia joined as human")).to_have_text("Mia joined as human")
    assert mia.url.endswith(f"/?room={here.room}")
    assert mia.evaluate("document.documentElement.scrollWidth") <= 390
    requests(hal).get_by_role("button", name="Deny: Max").click()
    expect(max_.get_by_text("A host has denied you entry.")).to_be_visible()
    max_.reload()  # the tab still waits, with a token of its own
    expect(max_.get_by_text("A host has denied you entry.")).to_be_visible()
    requests(hal).get_by_role("button", name="Admit: Max").click()  # a host can change its mind
    max_.get_by_role("button", name="Check again").click()
    expect(max_.get_by_text("You are Max")).to_be_visible()

    hal.get_by_role("button", name="Lock", exact=True).click()
    expect(hal.get_by_role("button", name="Locked", exact=True)).to_be_visible()
    late = visit(link, **PHONE)
    join_as(late, "Kim")
    expect(late.get_by_role("alert")).to_have_text("This room is locked; ask a host to unlock it.")


def test_who_joined_by_a_link_comes_back_as_the_same_member_in_a_new_tab(here: In, visit: Visit) -> None:
    here.call("hal", "set_entry", open=True)
    link = f"http://127.0.0.1:{here.house.port}/?join={here.room}"
    first = visit(link, **PHONE)  # in a browser of its own
    join_as(first, "Mia")
    expect(first.get_by_text("You are Mia")).to_be_visible()

    def open_tab(url: str) -> Page:
        page = first.context.new_page()
        page.goto(url)
        return page

    bookmark = open_tab(first.url)
    expect(bookmark.get_by_text("You are Mia")).to_be_visible()
    again = open_tab(link)
    again.get_by_role("button", name="Continue as Mia").click()
    expect(again.get_by_text("You are Mia")).to_be_visible()
    other = open_tab(link)
    join_as(other, "Zoe")  # somebody else at the same computer
    expect(other.get_by_text("You are Zoe")).to_be_visible()
    expect(open_tab(link).get_by_role("button", name="Continue as Zoe")).to_be_visible()
    other.get_by_role("button", name="Sign out").click()
    last = open_tab(link)
    expect(last.get_by_label("Your name")).to_be_visible()
    expect(last.get_by_role("button", name="Continue")).to_have_count(0)
    assert sorted(m.handle for m in here.call("hal", "roster").members if m.handle in ("Mia", "Zoe")) == ["Mia", "Zoe"]


def test_a_name_that_tries_to_be_markup_is_shown_as_text(here: In, visit: Visit) -> None:
    here.call("hal", "set_entry", open=True, lobby=True)
    asked: list[str] = []
    hal = visit(here.link("hal"), prepare=lambda page: page.on("dialog", lambda dialog: asked.append(dialog.message)))
    guest = visit(f"http://127.0.0.1:{here.house.port}/?join={here.room}")
    join_as(guest, MARKUP)
    expect(requests(hal).locator("strong")).to_have_text(MARKUP)
    requests(hal).get_by_role("button", name="Admit").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(hal.locator(".roster")).to_contain_text(MARKUP)
    rows = open_drawer(hal, "Permissions")
    rows.locator("summary", has_text="People").click()
    expect(rows).to_contain_text(MARKUP)
    expect(open_drawer(hal, "Audit").get_by_role("listitem").filter(has_text=MARKUP).first).to_be_visible()
    assert hal.locator("img[src=x]").count() == guest.locator("img[src=x]").count() == 0
    assert asked == []


# -- forms ------------------------------------------------------------------------------------------
def test_a_form_plays_a_world_that_lists_no_choices(house: Running, visit: Visit) -> None:
    cy = AgentSpec(id="cy", kind="human", claim="auto:0", token=token("cy"))
    house.open(Scenario(scenario="auction", world=AUCTION, agents=[cy]), "auction")
    page = visit(house.link("cy", "auction"))
    page.get_by_role("button", name="Choose an action").click()
    form = page.get_by_role("form", name="Action")
    submit = form.get_by_role("button", name="Bid")
    submit.click()
    expect(form.get_by_role("alert").filter(has_text="This field is required.")).to_be_visible()
    expect(form.get_by_label("amount")).to_be_focused()
    form.get_by_label("amount").fill("101")
    form.get_by_label("parts").fill("[1, ")
    submit.click()
    expect(form.get_by_role("alert").filter(has_text="This must be 1 to 100.")).to_be_visible()
    expect(form.get_by_role("alert").filter(has_text="This is not JSON")).to_be_visible()
    form.get_by_label("amount").fill("13")
    form.get_by_label("parts").fill("[1, 2]")
    form.get_by_label("limits").fill("[]")
    submit.click()
    expect(form.get_by_role("alert").filter(has_text="This must be an object")).to_be_visible()
    form.get_by_label("limits").fill('{"top": 20}')
    submit.click()
    expect(form.get_by_role("status")).to_have_text("13 is not accepted here")
    form.get_by_label("amount").fill("14")
    form.get_by_label("item").select_option("rug")
    form.get_by_label("loud").check()
    form.get_by_label("words").fill("mine")
    submit.click()
    expect(form.get_by_role("status")).to_have_text("You bid 14.")
    expect(page.locator(".world-text")).to_contain_text("14 for the rug, True, 'mine', [1, 2], {'top': 20}")


# -- rooms and links --------------------------------------------------------------------------------
def test_a_host_of_the_house_creates_a_room_and_gets_the_spectators_link_first(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/#{house.host_token('zoe')}")
    page.get_by_role("button", name="Create a room").click()
    page.get_by_label("Scenario or world").select_option(label="Lounge")
    expect(page.get_by_text("It has no seats and no actions of its own.")).to_be_visible()
    expect(page.get_by_role("heading", name="Players")).to_be_hidden()
    page.get_by_label("Scenario or world").select_option(label="Nim")
    expect(page.get_by_role("button", name="Remove this player").first).to_be_disabled()  # Nim is for two
    page.get_by_label("Played by").nth(1).select_option("nim-master")
    page.get_by_label("Name of the room").fill("Böse")
    page.get_by_role("button", name="Create the room").click()
    expect(page.get_by_role("alert").filter(has_text="a room id may contain lower-case letters")).to_be_visible()
    page.get_by_label("Name of the room").fill("Friday evening")
    page.get_by_role("button", name="Create the room").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The room friday-evening is ready")
    expect(page.get_by_text("Or give the agent this text")).to_have_count(0)  # no player is an agent
    links = page.locator(".link-box input")
    expect(links).to_have_count(2)  # spectators, and ada; the other player is built in
    assert links.nth(0).get_attribute("aria-label") == "Link for spectators"
    expect(page.get_by_role("img", name="QR code: Link for spectators")).to_be_visible()

    spectator, ada = visit(links.nth(0).input_value(), **PHONE), visit(links.nth(1).input_value())
    expect(spectator.get_by_text("You were invited to watch.")).to_be_visible()
    join_as(spectator, "Vera")
    expect(spectator.get_by_text("You are Vera")).to_contain_text("watch-only")
    expect(turn(ada)).to_have_text("It is your turn.")
    expect(ada.get_by_text("You are ada · human")).to_be_visible()
    page.get_by_role("button", name="Open the room").click()
    expect(page.get_by_text("You are zoe · host")).to_be_visible()


@pytest.mark.soak
def test_the_name_of_a_player_in_a_new_room_may_have_spaces(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/#{house.host_token('zoe')}")
    page.get_by_role("button", name="Create a room").click()
    page.get_by_label("Scenario or world").select_option(label="Nim")
    page.get_by_label("Name of the player").first.fill("محمد علي")
    page.get_by_label("Name of the player").nth(1).fill(" Mary Ann (9)")
    page.get_by_role("button", name="Create the room").click()
    links = page.locator(".link-box input")
    expect(links).to_have_count(3)
    assert [links.nth(i).get_attribute("aria-label") for i in (1, 2)] == ["Link for محمد-علي", "Link for Mary-Ann-9"]
    expect(visit(links.nth(2).input_value()).get_by_text("You are Mary-Ann-9 · human")).to_be_visible()


@pytest.mark.soak
def test_a_host_of_the_house_gets_a_text_for_each_agent_that_plays_in_its_new_room(
    house: Running, visit: Visit
) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/#{house.host_token('zoe')}")
    page.get_by_role("button", name="Create a room").click()
    page.get_by_label("Scenario or world").select_option(label="Nim")
    page.get_by_label("Played by").nth(1).select_option(label="an agent from outside")
    page.get_by_label("Name of the room").fill("duel")
    page.get_by_role("button", name="Create the room").click()
    link = page.locator(".link-box input").nth(2).input_value()  # after the spectators' and ada's
    expect(page.locator(".agent-text code")).to_have_text(
        f"Play in the room duel: connect to the MCP server http://127.0.0.1:{house.port}/mcp/duel"
        f" with the bearer token {link.partition('#')[2]}."
    )


def test_a_host_invites_an_agent_which_comes_in_with_the_token_of_the_text_and_watches(
    here: In,
    visit: Visit,
) -> None:
    invite = open_drawer(visit(here.link("hal")), "Invite")
    invite.get_by_role("button", name="An agent").click()
    invite.get_by_label("Name").fill("corvus")
    invite.get_by_label("Expires after").select_option("1 hour")
    invite.get_by_role("button", name="Invite an agent").click()
    text = invite.locator(".agent-text code")
    expect(text).to_contain_text(f"/mcp/{here.room} with the bearer token ")
    secret = re.search(r"bearer token (\S+)", text.inner_text())
    assert secret is not None
    house = here.house.house
    joined = here.house.run(house.call(house.identify(secret[1]), here.room, "join", {}))
    assert (joined.member, joined.role) == ("corvus", "agent")
    expect(invite.get_by_role("listitem").filter(has_text="corvus")).to_contain_text("accepted by corvus")


REFERENCE_CODES = [
    (14, 0, 1, "2a8439215aed89e00ce9bd6ef634a161"),
    (106, 1, 6, "b369147198f83e8c8dbd8eab7a79b783"),
    (180, 2, 9, "f9a9a8de5fa610d7686d97e3649d1805"),
    (213, 3, 10, "715b20bd5af307db72e14403c85c355f"),
    (214, 4, 11, "6ed338b1358f325e9c967f62f6ce2f62"),
    (287, 5, 12, "09a4539c6c4bd88217c44bb256eb4618"),
    (412, 6, 15, "fa8b05c7db7229cb2ac4d577a1c82b56"),
    (560, 7, 18, "972509ef62c652b572ad17b7a1765d74"),
    (1125, 2, 27, "9c151652595df5c06efc322d2ef98b22"),
]
"""Length, mask, version, and the start of the SHA-256 of the rows that the Python package qrcode 8.2 makes at level M."""


def test_qr_codes_equal_those_of_another_encoder(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/")
    script = "([text, mask]) => import('./web/qr.js').then(({qrMatrix}) => qrMatrix(text, mask))"
    text = "https://cohabit.example/?room=table#" + "abcdefghijklmnopqrstuvwxyz0123456789-_." * 60
    for length, mask, version, expected in REFERENCE_CODES:
        rows = page.evaluate(script, [text[:length], mask])
        assert len(rows) == 17 + 4 * version
        drawn = "\n".join("".join("#" if dark else "." for dark in row) for row in rows)
        assert hashlib.sha256(drawn.encode()).hexdigest().startswith(expected), length


def test_every_capability_has_a_chip_in_the_order_of_the_house() -> None:
    script = (PAGE / "consent.js").read_text()
    table, seen = (re.search(rf"{name} = (.*?);", script, re.DOTALL) for name in ("CAPABILITY_NAMES", "PERCEIVE"))
    assert table is not None
    assert seen is not None
    assert re.findall(r"(\w+): \"", table[1]) == [*PERCEIVE, *ACT]
    assert json.loads(seen[1]) == list(PERCEIVE)
