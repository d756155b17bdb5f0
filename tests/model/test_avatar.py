"""Avatars and the agents that control them."""

import msgspec
import pytest

from cohabit.model.avatar import (
    AVATAR_ACTIONS,
    Avatar,
    AvatarRoster,
    AvatarSpec,
    AvatarState,
    DeathEvent,
    EmbodiedObservation,
    JackInResult,
    JackOutResult,
    RespawnOption,
)
from cohabit.model.observation import Observation

AWAKE = Avatar("a1", "starbound", "ada", AvatarState.BOUND, "Ada", (3, 4.5), health=7, max_health=10)
ASLEEP = Avatar("a2", "starbound", state=AvatarState.DORMANT)
DEAD = Avatar("a3", "starbound", state=AvatarState.DESTROYED, health=0)


def test_a_roster_finds_the_active_and_dormant_avatars_and_ignores_destroyed_ones() -> None:
    roster = AvatarRoster("ada", "starbound", [AWAKE, ASLEEP, DEAD], "a1")
    assert roster.get_active() is AWAKE
    assert roster.get_dormant() == [ASLEEP]
    assert roster.can_create_new()
    assert not msgspec.structs.replace(roster, max_avatars=2).can_create_new()
    assert AvatarRoster("ada", "starbound").get_active() is None


def test_an_embodied_observation_starts_with_the_avatar() -> None:
    seen = EmbodiedObservation(status={"oxygen": 5}, step=2, avatar=AWAKE, facing="east")
    assert isinstance(seen, Observation)
    assert seen.to_text() == (
        "=== AVATAR: Ada ===\nHealth: 7/10\nPosition: (3, 4.5)\nFacing: east | Stance: standing\n\n"
        "Step 2\n\nSTATUS:\noxygen: 5"
    )
    assert seen.to_structured()["avatar"]["state"] == "bound"


def test_every_avatar_action_of_the_protocol_exists() -> None:
    assert AVATAR_ACTIONS.names() == [
        "jack_out", "look", "emote", "inspect_self", "check_inventory", "stance", "equip", "unequip"
    ]  # fmt: skip
    jack_out = AVATAR_ACTIONS.actions[0]
    assert jack_out.parameters[0].options == ["dormant", "suspend", "despawn"]
    assert not jack_out.parameters[0].required


def test_an_avatar_has_an_agent_only_while_it_is_bound() -> None:
    with pytest.raises(ValueError, match="only while it is bound"):
        Avatar("a1", "starbound", state=AvatarState.BOUND)
    with pytest.raises(ValueError, match="only while it is bound"):
        Avatar("a1", "starbound", "ada", AvatarState.DORMANT)


def test_invalid_avatars_are_refused() -> None:
    with pytest.raises(ValueError, match="health"):
        Avatar("a1", "starbound", health=-1)
    with pytest.raises(ValueError, match="not in the roster"):
        AvatarRoster("ada", "starbound", [], "a1")
    with pytest.raises(ValueError, match="needs an avatar"):
        JackInResult(True)
    with pytest.raises(ValueError, match="degrees"):
        EmbodiedObservation(avatar=AWAKE, vision_cone=400)


def test_avatar_values_can_be_encoded_and_decoded() -> None:
    option = RespawnOption("bed", "bed", (1.0, 2.0), {"gold": 3}, ["lose_xp"], "Your bed")
    for value in (
        DeathEvent("a1", "fall", None, (1.0, 2.0), "then", {"wood": 1}, 0.5, [option]),
        JackInResult(True, AWAKE, "Welcome", {"scanner": 1}, Observation(step=1)),
        JackOutResult(True, AvatarState.DORMANT, "Sleep well", {"playtime": 3}),
        AvatarSpec("Ada", {"hair": "red"}),
    ):
        assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value
