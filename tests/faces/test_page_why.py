"""Why players acted, on the page: in the story and in a panel, for those who may read it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page import Running, Visit, events, open_drawer

pytestmark = pytest.mark.browser
WHY = "leaves <b>eight</b>, a multiple of four"


def take(house: Running, who: str, n: int, why: str | None = None) -> None:
    house.call(who, "act", action="take", params={"n": n}, reasoning=why)


def test_a_watcher_reads_the_reasons_in_the_story_and_opens_a_decision(house: Running, visit: Visit) -> None:
    take(house, "ann", 3, WHY)
    page = visit(house.link("pip"))
    line = page.locator(".events li").filter(has=page.locator("q", has_text=WHY))
    expect(line).to_contain_text("ann")
    take(house, "bob", 1, "nothing else is left to do")
    expect(page.locator(".events q")).to_have_text([WHY, "nothing else is left to do"])
    panel = open_drawer(page, "Why")
    expect(panel.locator(".decisions > li q")).to_have_text(["nothing else is left to do", WHY])
    panel.get_by_role("combobox").select_option("ann")
    expect(panel.locator(".decisions > li")).to_have_count(1)
    panel.locator("summary").click()
    expect(panel).to_contain_text("It says nothing about what it took.")


@pytest.mark.soak
def test_another_player_reads_the_reasons_when_the_game_is_over(house: Running, visit: Visit) -> None:
    take(house, "ann", 3, WHY)
    page = visit(house.link("bob"))
    expect(events(page).first).to_be_visible()
    assert page.locator(".events q").count() == 0
    for turn in range(12):
        take(house, "ann" if turn % 2 else "bob", 1)
    expect(page.locator(".events q")).to_have_text([WHY])
    expect(open_drawer(page, "Why").locator(".decisions > li q")).to_have_text([WHY])


@pytest.mark.soak
def test_a_link_to_watch_opens_the_room_without_a_name_and_shows_no_button_to_act(house: Running, visit: Visit) -> None:
    made = house.call("hal", "watch_link")
    page = visit(f"http://127.0.0.1:{house.port}{made.link}")
    expect(page.locator(".events")).to_be_visible()
    expect(page.locator("#join-name")).to_have_count(0)
    take(house, "ann", 3, WHY)
    expect(page.locator(".events q")).to_have_text([WHY])
    expect(page.get_by_role("button", name="Take", exact=False)).to_have_count(0)


def test_a_short_link_for_several_asks_each_for_a_name(house: Running, visit: Visit) -> None:
    made = house.call("hal", "invite", id="guest", kind="human", may=["watch"], uses=2)
    assert len(made.link) < 60
    page = visit(f"http://127.0.0.1:{house.port}{made.link}")
    expect(page.get_by_text("You were invited to watch.")).to_be_visible()
    page.get_by_label("Your name").fill("Grandma")
    page.get_by_role("button", name="Join").click()
    expect(page.locator(".events")).to_be_visible()
    assert "grandma" in str(house.call("hal", "roster")).lower()
