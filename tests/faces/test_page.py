"""The page, in a real browser, against a real house."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from playwright.sync_api import Page, WebSocketRoute, expect

from cohabit.faces.app import PAGE
from cohabit.feature_registry import load_features
from cohabit.house.store.identities import new_identity
from cohabit.model.grant import Capability
from cohabit.scenario import AgentSpec, Scenario

from .page import STONES, WIDE, Running, Visit, events, open_drawer, realm, say, token, turn

pytestmark = pytest.mark.browser
HARBOUR = f"{Path(__file__).with_name('page_worlds.py')}:Harbour"
POLL = str(Path(__file__).parents[2] / "examples" / "poll.py")

NOTE_PLACES = """
window.places = {};
new MutationObserver(() => {
  for (const button of document.querySelectorAll("button.choice")) {
    if (!button.checkVisibility({ visibilityProperty: true })) continue;
    const heights = (places[button.textContent] ??= []);
    const height = button.getBoundingClientRect().top + scrollY;
    if (!heights.includes(height)) heights.push(height);
  }
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
"""
"""Notes every height at which a visible choice stands."""


def chart() -> Scenario:
    """A room whose world draws pictures."""
    keeper = AgentSpec(id="kay", kind="human", role="human", claim="auto:0", token=token("kay"))
    rival = AgentSpec(id="rex", role="player", claim="auto:1")
    return Scenario(scenario="chart", world="lanterns", seed=1, agents=[keeper, rival])


# -- signing in ----------------------------------------------------------------------------------
def test_a_member_opens_a_link_sees_the_room_and_makes_a_move(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(page.get_by_text("You are ann · human · seat first")).to_be_visible()
    expect(open_drawer(page, "About")).to_contain_text("room table · world nim · scenario evening · game 1")
    expect(turn(page)).to_have_text("It is your turn.")
    expect(page.locator(".world-text")).to_contain_text(f"({STONES} stones)")
    page.get_by_role("button", name="take 2").click()
    expect(page.get_by_text(f"You took 2; {STONES - 2} are left.")).to_be_visible()
    expect(turn(page)).to_have_text("To move: bob.")
    expect(page.get_by_role("button", name="take")).to_have_count(0)
    expect(events(page).filter(has_text="first takes 2")).to_have_count(1)
    assert house.call("bob", "view").observation.status["stones"] == STONES - 2


@pytest.mark.parametrize("draws_pictures", [pytest.param(False, marks=pytest.mark.soak), True])
def test_no_button_moves_while_the_page_loads(draws_pictures: bool, house: Running, visit: Visit) -> None:
    """A click is lost if its button moves before the pointer is released."""
    who, other, room = ("kay", "rex", "chart") if draws_pictures else ("ann", "bob", "table")
    if draws_pictures:
        house.open(chart(), room)
    page = visit(house.link(who, room), lambda page: page.add_init_script(NOTE_PLACES))
    expect(page.locator("button.choice").first).to_be_visible()
    house.call(who, "send_message", room, to=other, content="hello")
    expect(events(page).filter(has_text="hello")).to_have_count(1)
    places = page.evaluate("places")
    assert places
    assert all(len(heights) == 1 for heights in places.values()), places


def test_actions_of_others_appear_without_a_reload(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(turn(page)).to_have_text("To move: ann.")
    house.call("ann", "act", action="take", params={"n": 3})
    expect(turn(page)).to_have_text("It is your turn.")
    expect(page).to_have_title(re.compile("^Your turn"))
    expect(page.locator(".world-text")).to_contain_text(f"({STONES - 3} stones)")
    expect(page.locator(".standings li")).to_have_count(2)


def test_the_roster_shows_who_is_online_and_which_model_they_use(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    open_drawer(page, "Members")
    bob = page.get_by_role("row").filter(has_text="bob")
    expect(bob).to_contain_text("player")
    expect(bob).to_contain_text("tiny-7b")
    expect(bob).to_contain_text("away")
    visit(house.link("bob"))
    expect(bob).to_contain_text("online")


def test_the_token_is_removed_from_the_address(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(turn(page)).to_be_visible()
    assert page.url == f"http://127.0.0.1:{house.port}/?room=table"
    assert token("ann") not in page.content()
    page.reload()  # the tab keeps the token
    expect(turn(page)).to_have_text("It is your turn.")


def test_a_wrong_token_is_refused_and_another_one_can_be_entered(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann") + "x")
    refused = page.get_by_role("alert").filter(has_text="Sign-in failed: invalid token")
    expect(refused).to_be_visible()
    page.get_by_label("Your token").fill("also unknown")
    page.get_by_role("button", name="Sign in").click()
    expect(refused).to_be_visible()
    page.get_by_label("Your token").fill(token("ann"))
    page.get_by_role("button", name="Sign in").click()
    expect(turn(page)).to_have_text("It is your turn.")
    assert page.evaluate("sessionStorage.length") == 1
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Your token")).to_be_focused()
    assert page.evaluate("sessionStorage.length") == 0


@pytest.mark.soak
def test_a_link_can_be_pasted_in_place_of_a_token(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/")
    page.get_by_label("Your token").fill(house.link("bob").partition("#")[0])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert").filter(has_text="contains no token")).to_be_visible()
    page.get_by_label("Your token").fill(house.link("bob"))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("You are bob")).to_be_visible()


@pytest.mark.soak
def test_another_link_in_the_same_tab_signs_in_as_that_member(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_text("You are ann")).to_be_visible()
    page.goto(house.link("bob"))
    expect(page.get_by_text("You are bob")).to_be_visible()
    assert "#" not in page.url


def test_a_revoked_token_signs_out_at_once_and_says_why(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(turn(page)).to_be_visible()
    house.call("hal", "revoke_token", member="bob")
    message = "You were signed out: this token was revoked; ask your host for a new one."
    expect(page.get_by_role("alert").filter(has_text=message)).to_be_visible()
    expect(page.get_by_label("Your token")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


@pytest.mark.soak
def test_a_member_who_is_removed_is_told_so(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(turn(page)).to_be_visible()
    house.call("hal", "remove_member", member="bob")
    expect(page.get_by_role("alert").filter(has_text="You were signed out")).to_be_visible()


@pytest.mark.soak
def test_a_host_of_the_house_who_is_removed_from_a_room_stays_signed_in(house: Running, visit: Visit) -> None:
    page = visit(house.link_with(house.host_token("zoe")))
    expect(page.get_by_text("You are zoe")).to_be_visible()
    house.call("hal", "remove_member", member="zoe")
    expect(page.get_by_role("alert").filter(has_text="you were removed from this room")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rooms")


def test_a_member_of_several_rooms_selects_one_from_the_list(house: Running, visit: Visit) -> None:
    house.open(chart(), "chart")
    page = visit(f"http://127.0.0.1:{house.port}/#{house.host_token('zoe')}")
    expect(page.get_by_role("listitem")).to_have_count(2)
    expect(page.get_by_role("button", name="table")).to_contain_text("you can join")
    page.get_by_role("button", name="table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(page.get_by_text("You are zoe")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rooms")
    expect(page.get_by_role("button", name="table")).to_contain_text("your role: host")
    page.get_by_role("button", name="chart").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lanterns")


@pytest.mark.soak
def test_a_person_whose_stand_in_plays_is_not_among_the_built_in_players(house: Running, visit: Visit) -> None:
    bot = AgentSpec(id="bot", role="player", claim="auto:0", brain="random")
    guest = AgentSpec(id="greta", kind="human", role="human", claim="auto:1", stand_in="random")
    una = AgentSpec(id="una", kind="human", role="observer", token=token("una"))
    house.open(Scenario(scenario="tictactoe", world="tictactoe", agents=[bot, guest, una]), "corner")
    members = open_drawer(visit(house.link("una", "corner")), "Members")
    expect(members.get_by_role("row").filter(has_text="greta")).to_contain_text("played by random")
    expect(members.get_by_role("button", name="built-in players")).to_have_count(0)


def test_the_list_of_rooms_counts_built_in_players_apart_and_repeats_no_name(house: Running, visit: Visit) -> None:
    bots = [AgentSpec(id=f"bot{i}", role="player", claim=f"auto:{i}", brain="random") for i in range(2)]
    watchers = [AgentSpec(id=name, kind="human", role="observer", token=token(name)) for name in ("una", "ulf")]
    house.open(Scenario(scenario="tictactoe", world="tictactoe", agents=[*bots, *watchers]), "corner")
    page = visit(house.link("una", "corner"))
    members = open_drawer(page, "Members")
    expect(members.get_by_role("row").filter(has_text="una")).to_contain_text("online")
    expect(members.get_by_role("row").filter(has_text="bot")).to_have_count(0)
    members.get_by_role("button", name="2 built-in players").click()
    expect(members.get_by_role("row").filter(has_text="bot")).to_have_count(2)
    expect(open_drawer(page, "About").get_by_text("room corner · world tictactoe · game 1", exact=True)).to_be_visible()
    page.get_by_role("button", name="Rooms").click()
    line = page.get_by_role("button", name="corner")
    expect(line).to_contain_text("Tic-tac-toe · game 1")
    expect(line).not_to_contain_text("tictactoe")
    expect(line).to_contain_text("1 of 4 members online · 2 built-in players · your role: observer")
    expect(line.locator(".players .name")).to_have_text(["bot0", "bot1"])
    expect(line.locator(".way")).to_have_text("Watch")


@pytest.mark.soak
def test_a_visitor_without_rooms_is_told_how_to_get_one(house: Running, visit: Visit) -> None:
    identity = new_identity("new", "human")
    page = visit(f"http://127.0.0.1:{house.port}/#{house.house.identities.temporary(identity, None, 0)}")
    expect(page.get_by_text("You have no rooms yet. Create one or ask a host for an invite link.")).to_be_visible()


@pytest.mark.soak
def test_an_unknown_room_leads_to_the_list_of_rooms(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann", room="nowhere"))
    expect(page.get_by_role("alert").filter(has_text="nowhere")).to_be_visible()
    page.get_by_role("button", name="table").click()
    expect(turn(page)).to_have_text("It is your turn.")


# -- invites ------------------------------------------------------------------------------------
def test_an_invite_link_joins_the_room_and_shows_it(house: Running, visit: Visit) -> None:
    page = visit(house.invite("gus"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(page.get_by_text("You are gus · human · no seat")).to_be_visible()
    assert "#" not in page.url
    page.reload()
    expect(page.get_by_text("You are gus · human · no seat")).to_be_visible()
    assert [m.handle for m in house.call("hal", "roster").members].count("gus") == 1


@pytest.mark.soak
def test_an_invite_link_for_several_people_makes_each_visitor_a_member_of_its_own(house: Running, visit: Visit) -> None:
    link = house.invite("guest", uses=2)
    first, second = visit(link), visit(link)
    for page in (first, second):
        page.get_by_label("Your name").fill("Gus")
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_text("You are Gus")).to_be_visible()
    names = [page.locator(".you .name").inner_text() for page in (first, second)]
    assert names == ["Gus", "Gus-2"]
    first.goto(link)  # the same link in the same tab: still the same member
    expect(first.locator(".you .name")).to_have_text(names[0])
    first.reload()
    expect(first.locator(".you .name")).to_have_text(names[0])
    third = visit(link)
    third.get_by_label("Your name").fill("Gus")
    third.get_by_role("button", name="Join").click()
    expect(
        third.get_by_role("alert").filter(has_text="This invite has been used up; ask your host for a new one.")
    ).to_be_visible()


def test_a_join_link_asks_for_a_name_and_leads_into_the_room(house: Running, visit: Visit) -> None:
    made = house.call("hal", "set_entry", code="new")
    page = visit(f"http://127.0.0.1:{house.port}{made.link}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Join table")
    name = "<img src=x onerror=alert(1)>"
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("alert").filter(has_text="this room needs a code")).to_be_visible()
    page.get_by_label("Code, if you were given one").fill("WRONG")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("alert")).to_have_text("Wrong code; check it, or ask a host for the code of this room.")
    page.get_by_label("Code, if you were given one").fill(made.code.lower())
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(page.locator(".you .name")).to_have_text(name)
    assert page.url.endswith("/?room=table")
    page.reload()
    expect(page.locator(".you .name")).to_have_text(name)


def test_a_visitor_waits_in_the_lobby_until_a_host_admits_or_denies_them(house: Running, visit: Visit) -> None:
    made = house.call("hal", "set_entry", open=True, lobby=True)
    pages = [visit(f"http://127.0.0.1:{house.port}{made.link}") for _ in range(2)]
    for page, name in zip(pages, ("Eve", "Mal"), strict=True):
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_text("Waiting for a host to let you in …")).to_be_visible()
    pages[0].reload()
    expect(pages[0].get_by_text("Waiting for a host to let you in …")).to_be_visible()
    eve, mal = (line.knock for line in house.call("hal", "lobby").waiting)
    house.call("hal", "admit", knock=eve)
    expect(pages[0].get_by_text("You are Eve · human · no seat")).to_be_visible()
    house.call("hal", "deny", knock=mal)
    expect(pages[1].get_by_text("A host has denied you entry.")).to_be_visible()


def test_an_invite_that_was_revoked_is_refused_with_a_reason(house: Running, visit: Visit) -> None:
    made = house.call("hal", "invite", id="gus", kind="human")
    house.call("hal", "revoke_invite", invite=made.invite)
    page = visit(house.link_with(made.token))
    expect(page.get_by_role("alert").filter(has_text="Sign-in failed: this invite was revoked")).to_be_visible()


@pytest.mark.soak
def test_an_invite_that_cannot_be_accepted_shows_the_reason(house: Running, visit: Visit) -> None:
    link = house.invite("gus")
    settings = structs.replace(house.house.settings, members_limit=1)
    structs.force_setattr(house.house.services, "settings", settings)
    page = visit(link)
    expect(page.get_by_role("alert").filter(has_text="this room is full")).to_be_visible()
    expect(page.get_by_role("button", name="table")).to_be_visible()


def test_a_host_creates_an_invite_link_that_works_and_revokes_another(house: Running, visit: Visit) -> None:
    page = visit(house.link("hal"))
    page.get_by_role("button", name="Invite", exact=True).click()
    card = page.get_by_role("region", name="Invite", exact=True)
    for name in ("gus", "joe"):
        card.get_by_label("Name").fill(name)
        card.get_by_role("button", name="Invite a person").click()
        expect(card.get_by_role("listitem").filter(has_text=name)).to_contain_text("human · 1 use left")
    link = card.get_by_label("Invite link", exact=True).input_value()
    card.get_by_role("button", name="Revoke the invite for gus").click()
    expect(card.get_by_role("listitem").filter(has_text="gus")).to_have_count(0)
    guest = visit(link)
    expect(guest.get_by_text("You are joe")).to_be_visible()
    expect(card.get_by_role("listitem")).to_contain_text("accepted by joe")
    expect(guest.get_by_role("button", name="Invite", exact=True)).to_be_hidden()
    card.get_by_role("button", name="Revoke the invite for joe").click()
    expect(guest.get_by_role("alert").filter(has_text="You were signed out:")).to_contain_text(
        "you were removed from this room"
    )
    expect(card.get_by_role("listitem")).to_have_count(0)


# -- permissions --------------------------------------------------------------------------------
def permissions(page: Page) -> Any:
    return open_drawer(page, "You").locator("dl")


def test_a_member_who_only_watches_is_told_so(house: Running, visit: Visit) -> None:
    page = visit(house.link("pip"))
    expect(turn(page)).to_have_text("To move: ann.")
    expect(page.get_by_text("watch-only", exact=True)).to_be_visible()
    expect(page.get_by_text("You don't have permission to send messages in this room.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_be_hidden()
    expect(page.locator(".choice")).to_have_count(0)


@pytest.mark.soak
def test_a_host_without_a_seat_is_not_called_watch_only(house: Running, visit: Visit) -> None:
    page = visit(house.link("hal"))
    expect(page.get_by_role("group", name="You")).to_contain_text("You are hal · host · no seat")
    expect(page.get_by_text("watch-only", exact=True)).to_have_count(0)


def test_a_changed_grant_takes_effect_on_the_open_page(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_role("button", name="take 1")).to_be_visible()
    house.call("hal", "grant", member="ann", may=["watch", "read_roster"])
    expect(page.get_by_text("watch-only", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="take 1")).to_have_count(0)
    house.call("hal", "revoke", member="ann")
    expect(page.get_by_text("You don't have permission to view this world.")).to_be_visible()
    expect(open_drawer(page, "Members")).to_contain_text("You don't have permission to see the list.")
    expect(page.get_by_role("button", name="Scores")).to_be_hidden()
    expect(permissions(page)).to_contain_text("your permissions were revoked or have expired")
    house.call("hal", "clear_grant", member="ann")
    expect(page.get_by_role("button", name="take 1")).to_be_visible()


def test_the_page_shows_what_a_host_has_added_and_when_it_expires(house: Running, visit: Visit) -> None:
    page = visit(house.link("pip"))
    expect(permissions(page)).to_have_text(
        "You can seewhat is public, the members, messages to everybody and to your team, messages to you"
        "You can donothing"
    )
    house.call("hal", "widen", member="pip", may=["send_broadcast"])
    house.call("hal", "widen", member="pip", may=["send_message"], expires_in_s=3600)
    expect(permissions(page)).to_contain_text("Added by a hostwrite to everybody")
    expect(permissions(page)).to_contain_text(
        re.compile(r"Added by a hostwrite to members and to your team; until .*\d")
    )
    open_drawer(page, "Story")
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    house.call("hal", "grant", member="pip", may=["watch"], expires_in_s=3600)
    expired = "Limitedby a host, until .*; after that you have no permissions here"
    expect(permissions(page)).to_have_text(re.compile(f"^You can seewhat is publicYou can donothing{expired}$"))


def test_every_capability_is_described_in_words() -> None:
    script = (PAGE / "panels.js").read_text()
    table = re.search(r"const CAPABILITIES = \{(.*?)\};", script, re.DOTALL)
    assert table is not None
    assert re.findall(r"(\w+): \"", table[1]) == [capability.value for capability in Capability]


# -- seats and rewards --------------------------------------------------------------------------
def test_a_free_seat_can_be_taken(house: Running, visit: Visit) -> None:
    guest = AgentSpec(id="gus", kind="human", token=token("gus"))
    house.open(Scenario(scenario="open", world="nim", agents=[guest]), "open")
    page = visit(house.link("gus", room="open"))
    page.get_by_role("button", name="Take seat first").click()
    expect(page.get_by_text("You took seat first.")).to_be_visible()
    expect(page.get_by_text("You are gus · human · seat first")).to_be_visible()
    page.get_by_role("button", name="take 1").click()
    expect(events(page).filter(has_text="first takes 1")).to_have_count(1)


@pytest.mark.soak
def test_a_member_is_told_when_every_seat_is_taken(house: Running, visit: Visit) -> None:
    page = visit(house.invite("gus"))
    page.get_by_role("button", name="Take a seat").click()
    expect(page.get_by_text("every seat is taken")).to_be_visible()


@pytest.mark.soak
def test_a_seat_opens_for_a_player_where_players_arrive_and_the_total_reward_is_shown(
    house: Running, visit: Visit
) -> None:
    people = [AgentSpec(id=name, kind="human", token=token(name)) for name in ("gus", "joe", "kim")]
    house.open(Scenario(scenario="open", world=HARBOUR, agents=people), "harbour")
    gus, joe, kim = (visit(house.link(who, room="harbour")) for who in ("gus", "joe", "kim"))
    gus.get_by_role("button", name="Take a seat").click()
    expect(gus.get_by_text("You are gus · human · seat boat-1 · total reward 0")).to_be_visible()
    gus.get_by_role("button", name="load").click()
    expect(gus.get_by_text("You are gus · human · seat boat-1 · total reward 1.5")).to_be_visible()
    joe.get_by_role("button", name="Take a seat").click()
    expect(joe.get_by_text("You are joe · human · seat boat-2 · total reward 0")).to_be_visible()
    kim.get_by_role("button", name="Take a seat").click()
    expect(kim.get_by_text("the harbour is full")).to_be_visible()
    expect(kim.get_by_text("You are kim · human · no seat", exact=True)).to_be_visible()  # and no reward


def test_a_button_names_what_its_action_is_about(house: Running, visit: Visit) -> None:
    house.open(realm(), "realm")
    seen = house.call("ada", "view", "realm").observation
    rivals = {k["id"]: name for name, k in seen.status["kingdoms"].items()}
    (city,) = seen.status["cities"]
    page = visit(house.link("ada", "realm"))
    labels = page.evaluate(
        """async ([choices, status]) => {
            const { actionLabel } = await import("./web/controls.js");
            return choices.map((choice) => actionLabel(choice, status));
        }""",
        [seen.choices, seen.status],
    )
    assert {f"rally at {city}", f"declare war {rivals[2]}", "fortify on", "muster 10%"} <= set(labels)


# -- time ---------------------------------------------------------------------------------------
def test_a_host_pauses_resumes_and_sets_the_speed(house: Running, visit: Visit) -> None:
    house.open(realm(), "realm")
    page = visit(house.link("ruth", "realm"))
    time = page.get_by_role("group", name="Time")
    time.get_by_label("Speed").select_option("x2")
    expect(events(page).filter(has_text="ruth set the speed to x2")).to_be_visible()
    assert house.call("ada", "session_info", "realm").speed == "x2"
    time.get_by_role("button", name="Pause").click()
    expect(turn(page)).to_have_text("Paused. Can act: ada, bran.")
    assert house.call("ada", "session_info", "realm").paused
    time.get_by_role("button", name="Resume").click()
    expect(time.get_by_role("button", name="Pause")).to_be_visible()
    assert not house.call("ada", "session_info", "realm").paused
    house.call("ruth", "set_speed", "realm", speed_id="x5")
    expect(time.get_by_label("Speed")).to_have_value("x5")


@pytest.mark.soak
def test_a_pause_that_needs_the_other_players_is_asked_for(house: Running, visit: Visit) -> None:
    house.open(realm(), "realm")
    other = visit(house.link("bran", "realm"))
    other.get_by_role("group", name="Time").wait_for()
    page = visit(house.link("ada", "realm"))
    time = page.get_by_role("group", name="Time")
    time.get_by_role("button", name="Pause").click()
    expect(time.get_by_role("status")).to_contain_text("You asked for a pause.")
    other.get_by_role("button", name="Pause").click()
    expect(time.get_by_role("button", name="Resume")).to_be_visible()
    expect(time.get_by_role("status")).to_have_text("")


def test_the_time_is_offered_only_to_those_who_may_control_it(house: Running, visit: Visit) -> None:
    house.open(realm(), "realm")
    watcher = visit(house.link("ivy", "realm"))
    expect(open_drawer(watcher, "About")).to_contain_text(
        "room realm · world kingdoms · scenario realm · game 1 · fog · speed x1"
    )
    player = visit(house.link("ada", "realm"))
    time = player.get_by_role("group", name="Time")
    expect(time.get_by_role("button", name="Pause")).to_be_visible()
    expect(time.get_by_label("Speed")).to_be_hidden()  # it is a matter of both players
    expect(watcher.get_by_role("group", name="Time")).to_be_hidden()
    for size in ({"width": 390, "height": 844}, WIDE):  # everybody is told who sees everything, without scrolling
        player.set_viewport_size(size)
        expect(player.get_by_text("This room is sealed")).to_contain_text("ivy sees everything.")
        expect(player.get_by_text("This room is sealed")).to_be_in_viewport(ratio=1)
    expect(open_drawer(player, "Members").get_by_role("row").filter(has_text="ivy")).to_contain_text("sees everything")
    house.call("ruth", "grant", "realm", member="ada", may=["watch", "read_own", "act"])
    expect(time).to_be_hidden()
    plain = visit(house.link("hal"))  # a host, in a world without a clock
    expect(plain.get_by_text("You are hal")).to_be_visible()
    expect(plain.get_by_role("group", name="Time")).to_be_hidden()


# -- colours ------------------------------------------------------------------------------------
def colours(page: Page) -> dict[str, list[str]]:
    """The colours in which each member is named anywhere on the page: of the text and of the swatch."""
    found: dict[str, list[str]] = page.evaluate(
        """() => {
          const found = {};
          for (const name of document.querySelectorAll(".name[data-member]")) {
            const shown = `${getComputedStyle(name).color} ${name.style.getPropertyValue("--swatch")}`;
            (found[name.dataset.member] ??= new Set()).add(shown);
          }
          return Object.fromEntries(Object.entries(found).map(([member, shown]) => [member, [...shown]]));
        }"""
    )
    return found


def test_a_member_has_one_colour_for_every_viewer_and_after_a_reload(house: Running, visit: Visit) -> None:
    house.call("bob", "send_message", to="ann", content="I sit on the left")
    pages = [visit(house.link(who)) for who in ("ann", "hal")]
    shown = []
    for page in [*pages, pages[0]]:
        page.reload()
        expect(page.locator(".standings .name")).to_have_count(2)
        shown.append(colours(page))
    assert shown[0] == shown[1] == shown[2]
    assert set(shown[0]) == {"ann", "bob", "eve", "pip", "hal"}
    assert all(len(each) == 1 for each in shown[0].values())
    assert shown[0]["ann"] != shown[0]["bob"]  # the players of a game can be told apart


@pytest.mark.soak
def test_a_player_has_the_colour_of_its_kingdom_in_the_picture(house: Running, visit: Visit) -> None:
    house.open(realm(), "realm")
    house.call("ruth", "pause", "realm")
    drawn = {line.seat: line.colour for line in house.call("ivy", "objective_status", "realm").standings}
    page = visit(house.link("ivy", "realm"))
    expect(page.locator(".standings .name.swatch")).to_have_count(2)
    assert [each.split()[-1] for each in colours(page)["ada"]] == [drawn["1"]]
    assert [each.split()[-1] for each in colours(page)["bran"]] == [drawn["2"]]
    assert drawn["1"] != drawn["2"]
    expect(page.locator(".roster .name[data-member=ivy]")).not_to_have_class(re.compile("swatch"))  # no seat


# -- pictures -----------------------------------------------------------------------------------
@pytest.mark.soak
def test_a_picture_that_the_world_draws_is_shown_by_its_document(house: Running, visit: Visit) -> None:
    house.open(chart(), "chart")
    page = visit(house.link("kay", room="chart"))
    expect(page.frame_locator(".front-end-frame").get_by_role("group", name=re.compile("^Board"))).to_be_visible()
    expect(page.locator("img.picture")).to_be_hidden()


@pytest.mark.soak
def test_the_description_of_a_world_is_shown_as_paragraphs_and_its_html_as_text(house: Running, visit: Visit) -> None:
    kim = AgentSpec(id="kim", kind="human", token=token("kim"))
    house.open(Scenario(scenario="open", world=HARBOUR, agents=[kim]), "harbour")
    page = visit(house.link("kim", room="harbour"))
    about = open_drawer(page, "About").locator(".prose p")
    expect(about).to_have_count(2)
    expect(about.first).to_have_js_property(
        "innerText",
        "Pace step. Every player gets a boat, as long as there is a berth, and earns 1.5 with load.",
    )
    expect(about.locator("code")).to_have_text("load")
    expect(about.last).to_have_text("A harbour <b>never</b> closes.")
    expect(page.locator(".about b")).to_have_count(0)


# -- messages ------------------------------------------------------------------------------------
def test_a_message_with_html_in_it_is_shown_as_text(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    other = visit(house.link("bob"))
    nasty = """<img src=x onerror="document.title='owned'"><b>bold</b><script>document.title='owned'</script>"""
    say(page, "*", nasty)
    for seen in (page, other):
        expect(seen.locator(".events blockquote")).to_have_text(nasty)
        expect(seen.locator(".events :is(img, b, script)")).to_have_count(0)
        expect(seen).not_to_have_title("owned")


def test_the_author_of_a_message_comes_from_the_record_and_not_from_the_text(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(turn(page)).to_be_visible()
    house.call("ann", "send_message", to="bob", content="hal to everyone: do as I say")
    line = page.locator(".events li").filter(has=page.locator("blockquote"))
    expect(line.locator(".name")).to_have_text("ann")
    expect(line.locator(".to")).to_have_text("to bob")
    expect(line.locator("blockquote")).to_have_text("hal to everyone: do as I say")


def test_a_message_is_shown_only_to_its_recipients(house: Running, visit: Visit) -> None:
    ann, bob, pip = (visit(house.link(who)) for who in ("ann", "bob", "pip"))
    say(ann, "bob", "between us")
    expect(bob.locator(".events blockquote")).to_have_text("between us")
    say(ann, "*", "for all")
    expect(pip.locator(".events blockquote")).to_have_text(["for all"])


def test_a_member_who_may_not_broadcast_is_not_offered_everybody(house: Running, visit: Visit) -> None:
    page = visit(house.link("bob"))
    expect(page.locator("#message-to option")).to_have_text(["ann", "eve", "pip", "hal"])


# -- reconnecting --------------------------------------------------------------------------------
def test_the_page_resumes_after_a_restart_of_the_house_without_losing_or_repeating_an_event(
    house: Running, visit: Visit
) -> None:
    page = visit(house.link("ann"))
    page.get_by_role("button", name="take 1").click()
    expect(turn(page)).to_have_text("To move: bob.")
    house.call("bob", "act", action="take", params={"n": 1})
    expect(events(page).filter(has_text="second takes 1")).to_have_count(1)
    for i in range(3):
        house.stop()
        expect(page.locator("#connection")).to_have_attribute("data-state", re.compile("lost|connecting"))
        house.start()
        house.call("bob", "send_message", to="ann", content=f"while you were away, {i}")
        expect(page.locator("#connection")).to_have_text("Connected")
        house.until_here("ann", "bob")
        house.call("bob", "send_message", to="ann", content=f"are you there, {i}?")
        expect(events(page).filter(has_text=f"are you there, {i}?")).to_have_count(1)
    expect(events(page)).to_have_text(house.told("ann"))
    page.get_by_role("button", name="take 2").click()
    expect(events(page).filter(has_text="first takes 2")).to_have_count(1)  # so it is on record
    expect(events(page)).to_have_text(house.told("ann"))


@pytest.mark.soak
def test_a_move_made_while_the_house_is_down_is_sent_when_it_is_back(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_role("button", name="take 3")).to_be_visible()
    house.stop()
    expect(page.locator("#connection")).to_have_attribute("data-state", re.compile("lost|connecting"))
    page.get_by_role("button", name="take 3").click()
    house.start()
    expect(turn(page)).to_have_text("To move: bob.")
    assert house.call("bob", "view").observation.status["stones"] == STONES - 3


def test_a_move_whose_reply_was_lost_is_made_once(house: Running, visit: Visit) -> None:
    acts: list[Any] = []

    def lose_the_first_reply(route: WebSocketRoute) -> None:
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

    page = visit(house.link("ann"), lambda page: page.route_web_socket("**/ws", lose_the_first_reply))
    page.get_by_role("button", name="take 3").click()
    expect(page.get_by_text(f"You took 3; {STONES - 3} are left.")).to_be_visible()
    assert len(acts) == 2
    assert acts[0] == acts[1]
    assert house.call("bob", "view").observation.status["stones"] == STONES - 3
    expect(events(page).filter(has_text="first takes 3")).to_have_count(1)


@pytest.mark.soak
def test_a_subscription_that_was_refused_is_tried_again(house: Running, visit: Visit) -> None:
    refused: list[Any] = []

    def refuse_twice(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def up(frame: str | bytes) -> None:
            sent = json.loads(frame)
            if sent.get("command") == "subscribe" and len(refused) < 2:
                refused.append(sent)
                error = {"code": "BAD_ARGS", "message": "try again"}
                route.send(json.dumps({"id": sent["id"], "ok": False, "error": error}))
            else:
                server.send(frame)

        route.on_message(up)

    def prepare(page: Page) -> None:
        page.clock.install()
        page.route_web_socket("**/ws", refuse_twice)

    page = visit(house.link("ann"), prepare)
    error = page.get_by_role("alert").filter(has_text="try again")
    expect(error).to_be_visible()
    page.clock.fast_forward(15_000)
    expect(turn(page)).to_have_text("It is your turn.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nim")
    expect(error).to_be_hidden()


# -- the page itself ----------------------------------------------------------------------------
def test_everything_is_loaded_from_the_house(house: Running, visit: Visit) -> None:
    asked: list[str] = []
    page = visit(house.link("ann"), lambda page: page.on("request", lambda request: asked.append(request.url)))
    expect(turn(page)).to_be_visible()
    ours = f"http://127.0.0.1:{house.port}/"
    assert asked
    assert [url for url in asked if not url.startswith(ours)] == []
    assert [url for url in asked if token("ann") in url.split("#")[0]] == []


def test_nothing_on_the_page_parses_data_as_html() -> None:
    scripts = list(PAGE.glob("*.js"))
    assert scripts
    for path in scripts:
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|DOMParser", path.read_text()
        )
        assert found is None, path.name


def test_the_page_keeps_nothing_but_tokens() -> None:
    kept = re.compile(r"indexedDB|document\.cookie|cookieStore|\bcaches\b|serviceWorker|BroadcastChannel|SharedWorker")
    assert not [path.name for path in PAGE.rglob("*.js") if kept.search(path.read_text())]
    assert [path.name for path in PAGE.rglob("*.js") if re.search("sessionStorage|localStorage", path.read_text())] == [
        "token.js"
    ]


@pytest.mark.soak
def test_the_page_fits_a_phone(house: Running, visit: Visit) -> None:
    house.open(chart(), "chart")
    for link in (house.link("ann"), house.link("kay", room="chart")):
        page = visit(link, viewport={"width": 360, "height": 740})
        expect(page.locator(".choice").first).to_be_visible()
        expect(page.locator(".standings li")).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_keyboard_is_enough_to_play_and_to_send_messages(house: Running, visit: Visit) -> None:
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


# -- agents --------------------------------------------------------------------------------------
BRAINS = f"{Path(__file__).parent.parent / 'house' / 'brains.py'}"


def watched(stones: int = STONES) -> Scenario:
    """A room in which an agent plays for ann against bob; god sees everything."""
    return Scenario(
        scenario="watched",
        world="nim",
        config={"stones": stones},
        agents=[
            AgentSpec(
                id="ann", kind="human", role="human", claim="auto:0", token=token("aya"), brain=f"{BRAINS}:Scripted"
            ),
            AgentSpec(id="bob", role="player", claim="auto:1", token=token("bo2")),
            AgentSpec(id="god", kind="human", role="observer", token=token("god")),
        ],
    )


def test_a_watcher_sees_what_an_agent_did_and_thought(house: Running, visit: Visit) -> None:
    house.open(watched(), "watched")
    page = visit(house.link("god", "watched"))
    agents = open_drawer(page, "Agents")
    expect(agents).to_contain_text("ann · brains.py:Scripted")
    expect(agents).to_contain_text("1 decision")
    expect(agents.locator("blockquote")).to_have_text("one is enough")
    expect(agents.locator(".handover button")).to_be_hidden()  # a watcher has no seat to hand over


def test_a_person_takes_over_from_an_agent_and_hands_the_seat_back(house: Running, visit: Visit) -> None:
    house.open(watched(), "watched")
    page = visit(house.link("aya", "watched"))
    agents = open_drawer(page, "Agents")
    agents.get_by_role("button", name="Take over").click()
    expect(agents).to_contain_text("You play. brains.py:Scripted can play for you.")
    agents.get_by_role("button", name="Let brains.py:Scripted play").click()
    expect(agents).to_contain_text("brains.py:Scripted plays your seat.")
    expect(turn(page)).to_have_text("To move: bob.")
    house.call("bo2", "take", "watched", n=1)
    expect(page.locator(".world-text")).to_contain_text(f"({STONES - 3} stones)")  # the agent has moved again
    expect(turn(page)).to_have_text("To move: bob.")
    agents.get_by_role("button", name="Take over").click()
    expect(agents).to_contain_text("You play.")
    house.call("bo2", "take", "watched", n=1)
    expect(turn(page)).to_have_text("It is your turn.")


@pytest.mark.soak
def test_a_person_who_only_looks_at_a_seat_lets_its_agent_play_until_it_takes_over(
    house: Running, visit: Visit
) -> None:
    house.open(watched(stones=60), "watched")
    page = visit(house.link("aya", "watched"))
    bar = page.get_by_role("region", name="What you can do")
    expect(bar).to_contain_text("brains.py:Scripted plays your seat")
    roster = open_drawer(page, "Members")
    expect(roster.get_by_text("played by brains.py:Scripted, page open")).to_be_visible()
    open_drawer(page, "Agents")  # so that everything that a page looks at has been fetched
    for _ in range(20):
        house.call("bo2", "wait_for_turn", "watched", wait_ms=25_000)
        house.call("bo2", "take", "watched", n=1)
    house.call("bo2", "wait_for_turn", "watched", wait_ms=25_000)
    expect(page.locator(".world-text")).to_contain_text("(19 stones)")
    expect(turn(page)).to_have_text("To move: bob.")
    bar.get_by_role("button", name="Take over").click()
    expect(bar).not_to_contain_text("plays your seat")
    house.call("bo2", "take", "watched", n=1)
    expect(turn(page)).to_have_text("It is your turn.")
    page.get_by_role("button", name="take 2").click()
    expect(page.locator(".world-text")).to_contain_text("(16 stones)")


def test_in_a_room_without_a_game_the_page_shows_what_features_say_and_an_app_publishes(
    house: Running, visit: Visit
) -> None:
    roles = {"pat": "human", "sam": "human", "board": "app"}
    people = [AgentSpec(id=who, kind="human", role=role, token=token(who)) for who, role in roles.items()]
    polls = load_features([POLL])
    house.open(Scenario(scenario="lounge", world="lounge", agents=people, features=polls), "lounge")
    page = visit(house.link("pat", "lounge"))
    shown = page.locator(".app")
    expect(page.get_by_role("heading", name="Lounge")).to_be_visible()
    expect(page.get_by_text("You are pat · human", exact=True)).to_be_visible()
    expect(open_drawer(page, "About").get_by_text("room lounge", exact=True)).to_be_visible()
    expect(page.locator(".lounge")).to_contain_text("nothing is played here")
    expect(page.get_by_role("button", name="seat")).to_have_count(0)
    expect(page.locator(".world-text")).to_be_hidden()  # it speaks of steps and moves
    expect(shown).to_be_hidden()
    house.call("sam", "start_poll", "lounge", question="Tea?", choices=["yes", "no"], seconds=86_400)
    expect(page.get_by_role("status", name="Notes")).to_contain_text("'Tea?' (`vote`: yes, no)")
    house.call("board", "publish_view", "lounge", view={"stones": 3, "note": "<b>bold</b>"})
    expect(shown.get_by_role("heading")).to_have_text("Shown by board")
    expect(shown.locator("pre")).to_contain_text('"note": "<b>bold</b>"')
    house.call("board", "publish_view", "lounge", view={"stones": 2}, to=["sam"])  # not for pat
    house.call("board", "publish_view", "lounge", view="two stones")
    expect(shown.locator("pre")).to_have_text("two stones")


# -- one's own data --------------------------------------------------------------------------------
def test_a_person_sees_its_data_and_deletes_it(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    page.get_by_role("textbox", name="Message").fill("my very own words")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".events blockquote")).to_have_text("my very own words")
    open_drawer(page, "You").get_by_role("button", name="Your data").click()
    expect(page.get_by_role("list")).to_contain_text("you are ann, 1 message")
    page.get_by_text("Everything, as JSON").click()
    expect(page.locator("pre.own-data")).to_contain_text("my very own words")
    page.get_by_role("button", name="Delete my data").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Your data was deleted. Rooms in use are cleaned when they are quiet.")).to_be_visible()


@pytest.mark.soak
def test_a_person_who_has_left_sees_its_data_and_deletes_it(house: Running, visit: Visit) -> None:
    page = visit(house.link("ann"))
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    house.call("ann", "leave")
    offer = page.get_by_text("You can still see and delete what this house keeps of you.")
    expect(offer).to_be_visible()
    page.reload()
    expect(offer).to_be_visible()
    page.get_by_role("button", name="Your data").click()
    expect(page.get_by_role("list")).to_contain_text("you have left")
    page.get_by_role("button", name="Delete my data").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Your data was deleted. Rooms in use are cleaned when they are quiet.")).to_be_visible()
    expect(offer).to_be_hidden()
