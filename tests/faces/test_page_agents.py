"""The page, about agents: what each may do, for everybody to see, and how a host invites and finds them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from cohabit.scenario import AgentSpec

from .page import Running, Visit, open_drawer, table, token

pytestmark = pytest.mark.browser
KEY = {
    "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
}  # fmt: skip
"""The example of RFC 7517."""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Running]:
    """A table with two players of the house besides its members."""
    running = Running(tmp_path / "data")
    running.start()
    try:
        plan = table()
        plan.agents[:2] = [
            AgentSpec(id="robin", role="player", claim="auto:0", brain="random", token=token("robin")),
            AgentSpec(id="sandy", role="player", claim="auto:1", brain="random", token=token("sandy")),
        ]
        running.open(plan)
        yield running
    finally:
        running.stop()


def test_everybody_sees_in_the_list_of_members_what_an_agent_may_do(here: Running, visit: Visit) -> None:
    members = open_drawer(visit(here.link("hal")), "Members")
    pip = members.get_by_role("row").filter(has_text="pip")
    expect(pip).to_contain_text("only watches")
    here.call("hal", "widen", member="pip", may=["send_broadcast"])
    expect(pip).to_contain_text("may write")
    here.call("hal", "widen", member="pip", may=["act"])
    expect(pip).to_contain_text("may play, write")
    here.call("hal", "narrow", member="pip", may=["act", "send_broadcast"])
    expect(pip).to_contain_text("only watches")


def test_a_host_finds_the_agents_of_others_before_the_players_of_the_house(here: Running, visit: Visit) -> None:
    permissions = open_drawer(visit(here.link("hal")), "Permissions")
    agents = permissions.get_by_role("region", name="Agents", exact=True).locator("li[data-handle]")
    expect(agents).to_have_count(2)
    assert [agent.get_attribute("data-handle") for agent in agents.all()] == ["eve", "pip"]
    robin = permissions.locator("li[data-handle=robin]")
    expect(robin).to_be_hidden()
    permissions.get_by_text("Built-in players (2)").click()
    expect(robin).to_be_visible()


@pytest.mark.soak
def test_a_host_invites_somebody_whose_name_has_a_space_and_an_agent_that_only_chats(
    here: Running, visit: Visit
) -> None:
    invite = open_drawer(visit(here.link("hal")), "Invite")
    invite.get_by_label("Name").fill("Grandma Ann")
    invite.get_by_role("button", name="Invite a person").click()
    expect(invite.get_by_role("listitem").filter(has_text="Grandma-Ann")).to_be_visible()
    invite.get_by_role("button", name="An agent").click()
    invite.get_by_label("Name").fill("owl")
    invite.get_by_label("May").select_option("watch and chat")
    invite.get_by_role("button", name="Invite an agent").click()
    expect(invite.get_by_role("listitem").filter(has_text="owl")).to_contain_text("watch and chat")
    invites = {line.member: line for line in here.call("hal", "invites").invites}
    assert "act" not in invites["owl"].may
    assert "send_broadcast" in invites["owl"].may


def test_a_host_lists_names_and_agent_keys_on_the_page(here: Running, visit: Visit) -> None:
    entry = open_drawer(visit(here.link("hal")), "Entry")
    entry.get_by_label("Names, one on each line").fill("Zoe\nAnn Lee")
    entry.get_by_role("button", name="Save the names").click()
    expect(entry.get_by_label("Join link")).to_be_visible()
    assert here.call("hal", "entry").names == ["Zoe", "Ann Lee"]
    entry.get_by_label("Name of the agent").fill("owl")
    key = entry.get_by_label("Its public key (a JWK)")
    key.fill("ssh-ed25519 AAAA")
    entry.get_by_role("button", name="Add the key").click()
    expect(entry).to_contain_text("A public key is JSON")
    key.fill(json.dumps(KEY))
    entry.get_by_role("button", name="Add the key").click()
    owl = entry.get_by_role("listitem").filter(has_text="owl")
    expect(owl).to_contain_text("watch only")
    expect(key).to_have_value("")
    owl.get_by_role("button", name="Take the key of owl off the list").click()
    expect(owl).to_have_count(0)
    assert here.call("hal", "entry").agent_keys == []
