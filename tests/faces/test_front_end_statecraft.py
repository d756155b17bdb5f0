"""The front end of Statecraft: people play whole games with it, in a real browser against a real house."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token
from .test_front_end import PHONE, alone, document, frame_of

pytestmark = pytest.mark.browser


@pytest.fixture
def house(empty_house: Running) -> Running:
    return empty_house


def nations(*people: str, turns: int = 3, bots: int = 1, **config: Any) -> Scenario:
    """Ann and these people are nations; the others are played by a bot. Eve watches."""
    seated = [
        AgentSpec(id=name, kind="human", role="human", claim=f"auto:{i}", token=token(name))
        for i, name in enumerate(("ann", *people))
    ]
    others = [
        AgentSpec(id=f"bot{i}", role="player", claim=f"auto:{len(seated) + i}", brain="tit-for-tat")
        for i in range(bots)
    ]
    eve = AgentSpec(id="eve", kind="human", role="observer", token=token("eve"))
    config = {"turns": turns, "mils": 3, **config}
    agents = [*seated, *others, eve]
    return Scenario(scenario="state", world="statecraft", config=config, seed=1, sealed=False, agents=agents)


def table(house: Running, visit: Visit, who: str = "ann", **how: Any) -> tuple[Page, FrameLocator]:
    page = visit(alone(house.link(who)), **how)
    return page, document(page)


def title(turn: int, turns: int) -> str:
    return f"Turn {turn}" if turn < turns else "The end"


@pytest.mark.soak
def test_orders_that_are_impossible_are_refused_before_they_are_sent(house: Running, visit: Visit) -> None:
    house.open(nations(bots=2))
    _, paper = table(house, visit)
    spending = 11 * 10 - 3 * 2
    paper.locator("#grants-1").fill("100")
    paper.locator("#grants-2").fill("50")
    paper.locator("#grants-2").blur()
    expect(paper.locator("#grants-2")).to_have_value(str(spending - 100))
    expect(paper.get_by_role("alert")).to_have_text("You have only 4 left for Corvia.")
    expect(paper.locator("#left")).to_contain_text("0 left")
    expect(paper.get_by_role("button", name="Buy mils: one more")).to_be_disabled()
    paper.locator("#attacks-1").fill("2")
    paper.locator("#attacks-2").fill("2")
    paper.locator("#attacks-2").blur()
    expect(paper.locator("#attacks-2")).to_have_value("1")
    expect(paper.get_by_role("button", name="Attack, Borland: one more")).to_be_disabled()
    paper.locator("#submit").click()
    expect(paper.locator("#turn")).to_have_text(title(1, 3))
    ledgers = house.call("ann", "ledgers")["ledgers"]
    assert ledgers["d_money_grants"]["Arden"] == {"Borland": 100, "Corvia": spending - 100}
    assert ledgers["d_global_attacks"]["Arden"] == {"Borland": 2, "Corvia": 1}


@pytest.mark.soak
def test_everything_that_a_nation_can_order_can_be_ordered(house: Running, visit: Visit) -> None:
    house.open(nations("bob", bots=0))
    page, paper = table(house, visit)
    paper.get_by_role("button", name="Buy mils: one more").click()
    paper.get_by_role("button", name="Disband: one more").click()
    paper.get_by_role("button", name="Grant, Borland: one more").click()
    paper.get_by_role("button", name="Attack, Borland: one more").click()
    paper.get_by_text("Give land …").click()
    land = house.call("ann", "view").observation.status["legal_outbound_cessions"]["Borland"][0]
    paper.get_by_role("checkbox", name=land).check()
    paper.get_by_role("tab", name="Letters").click()
    paper.get_by_role("textbox", name="Letter").fill("Hello <b>all</b>")
    paper.get_by_role("group", name="To").get_by_role("button", name="Borland").click()
    paper.get_by_role("button", name="Promise no attack").click()
    paper.get_by_role("tab", name="Notes").click()
    paper.get_by_label("Borland: keeps its word").select_option("8")
    paper.get_by_label("Borland: is aggressive").select_option("2")
    for label in ("Why you give these orders", "The last turn in short", "The game so far"):
        paper.get_by_label(label).fill(f"{label}, my word")
    paper.locator("#submit").click()
    expect(paper.locator("#left")).to_contain_text("✓ Submitted. Waiting for Borland.")
    paper.get_by_role("tab", name="Orders").click()
    expect(paper.locator("#submitted li").first).to_have_text("Buy 1 mil.")
    page.reload()  # what was submitted is known again, and the draft with it
    expect(paper.locator("#left")).to_contain_text("✓ Submitted.")
    expect(paper.locator("#grants-1")).to_have_value("1")
    house.call("bob", "submit")
    expect(paper.locator("#turn")).to_have_text(title(1, 3))
    ledgers = house.call("ann", "ledgers")["ledgers"]
    orders = {name: table["Arden"] for name, table in ledgers.items() if "Arden" in table}
    assert (orders["d_mil_purchase_intent"], orders["d_mils_disband_intent"]) == (1, 1)
    assert (orders["d_money_grants"], orders["d_global_attacks"]) == ({"Borland": 1}, {"Borland": 1})
    assert orders["d_territory_cession"] == {"Borland": [land]}
    assert orders["d_messages_sent"] == {"all": "Hello <b>all</b>", "Borland": "pledge: no attack on Borland"}
    assert (orders["d_keeps_word_report"], orders["d_aggressor_report"]) == ({"Borland": 8}, {"Borland": 2})
    assert all("my word" in orders[name] for name in ("d_reasoning", "d_turn_summary", "d_history_summary"))
    page, paper = table(house, visit, "bob")
    paper.get_by_role("tab", name="Letters").click()
    expect(paper.locator(".letter p")).to_have_text(["pledge: no attack on Borland", "Hello <b>all</b>"])


@pytest.mark.soak
def test_a_watcher_sees_what_happened_and_has_no_controls(house: Running, visit: Visit) -> None:
    house.open(nations("bob", bots=0))
    _, paper = table(house, visit, "eve")
    expect(paper.locator("#status")).to_contain_text("Waiting for Arden and Borland.")
    house.call("ann", "submit", money_grants={"Borland": 7}, attacks={"Borland": 1})
    expect(paper.locator("#status")).to_contain_text("Waiting for Borland.")
    house.call("bob", "submit")
    expect(paper.locator(".deeds li").filter(has_text="Arden granted 7 to Borland.")).to_be_visible()
    expect(paper.locator("#flows .amount")).to_have_text(["7", "1"])
    no_controls(paper)


@pytest.mark.soak
def test_the_page_around_the_document_offers_no_examples_of_orders(house: Running, visit: Visit) -> None:
    house.open(nations())
    page = visit(house.link("ann"), viewport=PHONE, has_touch=True, is_mobile=True)
    expect(document(page).locator("#submit")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Other actions …")).to_be_hidden()
    expect(page.locator(".choice")).to_have_count(0)


def no_controls(paper: FrameLocator) -> None:
    for part in ("#bar", "#tab-orders", "#tab-notes"):
        expect(paper.locator(part)).to_be_hidden()
    expect(paper.locator("input:visible, textarea:visible, select:visible")).to_have_count(0)


@pytest.mark.soak
def test_a_replay_has_no_controls(house: Running, visit: Visit) -> None:
    house.open(nations())
    page, paper = table(house, visit)
    expect(paper.locator("#submit")).to_be_visible()
    frame_of(page).evaluate("context.replay = true; draw(shown)")
    no_controls(paper)


def test_what_a_nation_orders_is_not_in_the_document_of_another_one_before_the_turn_is_over(
    house: Running, visit: Visit
) -> None:
    """Two rooms that differ only in what bob has ordered: everything that ann's document holds is the same."""
    kept = []
    for room, orders in (("one", {}), ("two", {"attacks": {"Arden": 3}, "messages": {"all": "ambush"}})):
        plan = nations("bob", bots=0)
        for agent in plan.agents:
            agent.token = token(f"{room}-{agent.id}")
        house.open(plan, room)
        page = visit(house.link(f"{room}-ann", room).replace("?", "?view=table&"))
        house.call(f"{room}-bob", "submit", room, **orders)
        expect(document(page).locator("#status")).to_contain_text("Give your orders.")
        expect(document(page).locator("#nations")).to_contain_text("✓ ready")
        kept.append(frame_of(page).evaluate("JSON.stringify([{ ...shown, id: 0 }, document.body.innerHTML])"))
    assert kept[0] == kept[1]
    assert "ambush" not in kept[1]
