"""Names of capabilities and roles: those of other protocols mean ours, and a wrong one gets near names."""

import pytest

from cohabit.errors import BadArgs
from cohabit.model import grant
from cohabit.model.grant import (
    Capability,
    add_aliases,
    add_role_aliases,
    alias_families,
    capabilities,
    names_held,
    role_named,
    role_or_default,
)


def test_a_capability_may_be_written_with_hyphens_and_a_misspelt_one_gets_near_names() -> None:
    assert capabilities(["control-world", "control_world", "read_chat"]) == {
        Capability.CONTROL_WORLD,
        Capability.READ_CHAT,
    }
    with pytest.raises(BadArgs, match="unknown capability 'reed_chat'") as refused:
        capabilities(["act", "reed_chat"])
    assert "read_chat" in refused.value.did_you_mean


def test_a_capability_of_another_protocol_means_ours_and_what_a_member_holds_is_said_in_its_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grant, "_names", dict(grant._names))
    monkeypatch.setattr(grant, "_families", {})
    names = {"look": frozenset({Capability.WATCH}), "play": frozenset({Capability.WATCH, Capability.ACT})}
    add_aliases("chess", {**names, "act": frozenset({Capability.WATCH})})
    assert capabilities(["play"]) == {Capability.WATCH, Capability.ACT}
    assert capabilities(["act"]) == {Capability.ACT}, "on a clash our name wins"
    family = alias_families()["chess"]
    assert names_held(frozenset({Capability.WATCH}), family) == ["look", "act"]
    assert names_held(capabilities(["play"]), family) == ["look", "play", "act"]


def test_a_role_of_another_protocol_is_the_role_that_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grant, "_role_aliases", {})
    with pytest.raises(BadArgs, match="unknown role 'demiurge'"):
        role_named("demiurge")
    add_role_aliases({"demiurge": "god"})
    assert (role_named("demiurge"), role_named("player")) == ("god", "player")
    with pytest.raises(BadArgs) as refused:
        role_named("demiurg")
    assert refused.value.did_you_mean == ["demiurge"]


def test_a_member_without_a_role_plays_if_it_is_a_person_and_watches_if_it_is_an_agent() -> None:
    assert (role_or_default(None, "human"), role_or_default(None, "agent")) == ("human", "agent")
    assert role_or_default("god", "agent") == "god"
    assert Capability.ACT in grant.ROLES["human"]
    assert Capability.ACT not in grant.ROLES["agent"]
