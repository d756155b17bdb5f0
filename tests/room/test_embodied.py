"""A world with bodies as an adapter of the protocol, for code that is written from its text."""

import pytest

from cohabit.errors import BadArgs
from cohabit.protocols.wsap import (
    Action,
    AvatarGameAdapter,
    AvatarSpec,
    AvatarState,
    EmbodiedObservation,
    as_avatar_adapter,
)

from .avatar_machine import CAVES


def test_an_agent_creates_an_avatar_jacks_in_plays_and_leaves_its_body_asleep() -> None:
    game: AvatarGameAdapter = as_avatar_adapter("crafter_shared", seed=3)
    made = game.create_avatar("ann", AvatarSpec(name="Ann"))
    assert (made.state, made.bound_agent) == (AvatarState.UNBOUND, None)
    entered = game.jack_in("ann", made.avatar_id)
    assert entered.success
    assert entered.avatar is not None
    assert (entered.avatar.state, entered.avatar.bound_agent) == (AvatarState.BOUND, "ann")
    assert isinstance(entered.initial_observation, EmbodiedObservation)
    assert game.act(Action("move_left")).success
    seen = game.observe()
    assert isinstance(seen, EmbodiedObservation)
    assert seen.to_text().startswith("=== AVATAR: Ann ===\nHealth: 9/9\nPosition: (31, 32)\nFacing: left")
    left = game.jack_out("ann")
    assert (left.success, left.avatar_state, left.session_stats["actions"]) == (True, AvatarState.DORMANT, 1)
    assert [avatar.state for avatar in game.list_avatars("ann")] == [AvatarState.DORMANT]
    again = game.jack_in("ann", made.avatar_id)
    assert again.avatar is not None
    assert again.avatar.position == (31, 32)


def test_the_actions_of_the_adapter_are_those_of_the_game_and_of_every_avatar() -> None:
    game = as_avatar_adapter("crafter_shared", seed=3)
    names = game.action_space.names()
    assert {"move_left", "do", "jack_out", "emote", "inspect_self"} <= set(names)
    game.jack_in("ann")
    assert game.act(Action("emote", {"emote": "wave"})).message == "You wave."
    assert game.act(Action("jack_out", {"mode": "suspend"})).success
    assert game.roster("ann").get_active() is None


def test_an_agent_that_has_not_jacked_in_sees_through_no_body_and_cannot_act() -> None:
    game = as_avatar_adapter(CAVES)
    game.jack_in("ann")
    waits = game.as_agent("bob")
    assert not isinstance(waits.observe(), EmbodiedObservation)
    assert "Call `jack_in` to take one" in waits.act(Action("go", {"place": "pit"})).message
    assert isinstance(game.as_agent("ann").observe(), EmbodiedObservation)


def test_only_the_actions_that_the_avatars_of_a_game_have_are_offered() -> None:
    caves, crafter = as_avatar_adapter(CAVES), as_avatar_adapter("crafter_shared")
    assert {"stance", "equip", "unequip", "check_inventory"} <= set(caves.action_space.names())
    assert not {"stance", "equip", "unequip"} & set(crafter.action_space.names())
    planet = as_avatar_adapter("planet").action_space.names()
    assert planet.count("equip") == planet.count("unequip") == 1
    caves.jack_in("ann")
    assert caves.act(Action("stance", {"stance": "sitting"})).message == "You are sitting."
    assert not crafter.act(Action("stance", {"stance": "sitting"})).success


def test_an_agent_transfers_to_another_avatar_of_its_own() -> None:
    game: AvatarGameAdapter = as_avatar_adapter(CAVES)
    first = game.jack_in("ann", game.create_avatar("ann", AvatarSpec(name="Ann")).avatar_id).avatar
    other = game.create_avatar("ann", AvatarSpec(name="Other"))
    moved = game.transfer("ann", other.avatar_id)
    assert moved.avatar is not None
    assert (moved.success, moved.avatar.name) == (True, "Other")
    states = [avatar.state for avatar in game.list_avatars("ann")]
    assert states == [AvatarState.DORMANT, AvatarState.BOUND]
    game.act(Action("go", {"place": "ledge"}))
    assert first is not None
    refused = game.transfer("ann", first.avatar_id)
    assert (refused.success, refused.avatar) == (False, None)
    assert "you would fall" in refused.message
    assert [avatar.state for avatar in game.list_avatars("ann")] == states


def test_a_refusal_is_a_result_without_success_that_says_what_to_do() -> None:
    game = as_avatar_adapter("crafter_shared", seed=3)
    assert game.act(Action("noop")).message == "[GAME_REJECTED] jack in first"
    game.jack_in("ann")
    twice = game.jack_in("ann")
    assert (twice.success, twice.avatar) == (False, None)
    assert "leave it first (`jack_out`)" in twice.message
    nobody = game.jack_out("bob")
    assert not nobody.success
    assert "`jack_in` takes one" in nobody.message
    with pytest.raises(BadArgs, match="no avatar"):
        game.handle_death("avatar-99")


def test_a_dead_avatar_comes_back_by_one_of_its_options() -> None:
    game = as_avatar_adapter("crafter_shared", seed=3, respawns=True)
    avatar = game.jack_in("ann").avatar
    assert avatar is not None
    while game.world.is_alive("1"):
        game.act(Action("noop"))
    died = game.handle_death(avatar.avatar_id)
    assert died.avatar_id == avatar.avatar_id
    assert [option.id for option in died.respawn_options] == ["start", "random"]
    refused = game.respawn(avatar.avatar_id, "heaven")
    assert not refused.success
    assert "choose one of: start, random" in refused.message
    lives = game.respawn(avatar.avatar_id, died.respawn_options[0])
    assert lives.success
    assert lives.avatar is not None
    assert (lives.avatar.state, lives.avatar.death_count, lives.avatar.health) == (AvatarState.BOUND, 1, 9)


def test_a_world_without_bodies_is_no_such_adapter() -> None:
    with pytest.raises(BadArgs, match="has no bodies; use as_adapter"):
        as_avatar_adapter("nim")
