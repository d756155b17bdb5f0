"""Transit: agents enter games and come back with what they learned and carry, wherever something fails in between."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from cohabit.errors import (
    CohabitError,
    GameRejected,
    PermissionDenied,
    Quarantined,
    Unauthorized,
    UnknownAsset,
    Unreachable,
)
from cohabit.features.bodies.state import avatars_in
from cohabit.features.visits.state import VISITS
from cohabit.house.access.credentials import revoke_and_store
from cohabit.model.avatar import AvatarState
from cohabit.model.grant import Capability
from cohabit.nexus.values import PortableItem, Profile, Session
from cohabit.nexus.world import Nexus
from cohabit.remote import Sent
from cohabit.world import Arrival

from .games import AGENTS, Journeys


@asynccontextmanager
async def journeys() -> AsyncIterator[Journeys]:
    world = await Journeys().begin()
    try:
        yield world
    finally:
        await world.close()


async def refused(world: Journeys, *call: str, **args: Any) -> CohabitError:
    """The reason why a call was refused. Nobody has moved by that."""
    before = [world.profile(who) for who in AGENTS], world.all_items()
    with pytest.raises(CohabitError) as reason:
        await world(*call, **args)
    await world.rest()
    await world.check()
    assert before == ([world.profile(who) for who in AGENTS], world.all_items())
    return reason.value


async def visit(world: Journeys, who: str, game: str, *items: str, **leaving: Any) -> None:
    """Enter a game, take these items, and leave with them."""
    await world(who, "nexus", "enter_game", game_id=game)
    for item in items:
        await world(who, game, "take", item=item)
    await world(who, game, "exit_game", carry={item: items.count(item) for item in items} or None, **leaving)
    await world.rest()


def member(world: Journeys, who: str, game: str) -> Any:
    return world.room(game).member_of(world.identity[who])


def first_avatar(world: Journeys, game: str) -> str:
    return next(iter(avatars_in(world.room(game).state)))


# -- entering and leaving -----------------------------------------------------------------------------
async def test_an_agent_brings_back_what_it_learned_and_carries_it_into_the_next_world_as_an_equivalent() -> None:
    async with journeys() as world:
        items = world.all_items()
        await visit(world, "ann", "caves", "gold", "gold", "blade")
        assert world.profile("ann").carried == [
            PortableItem("caves:blade", "weapon", 2, 1), PortableItem("caves:gold", "currency", 1, 2)
        ]  # fmt: skip
        assert world.profile("ann").skill("resource_management") > 0
        entered = await world("ann", "nexus", "enter_game", game_id="mines")
        assert entered.data["items"] == {"axe": 1, "coin": 2}
        await world.rest()
        assert world.profile("ann").carried == []
        assert world.all_items() == items
        await world.check()


async def test_what_a_body_cannot_take_stays_with_its_agent() -> None:
    async with journeys() as world:
        items = world.all_items()
        await visit(world, "ann", "caves", *(["gold"] * 4))
        await world("ann", "nexus", "enter_game", game_id="mines", items={"caves:gold": 1})
        for _ in range(3):
            await world("ann", "mines", "take", item="coin")
        await world("ann", "mines", "exit_game", carry={"coin": 4})
        entered = await world("ann", "nexus", "enter_game", game_id="zoo")
        assert entered.data["items"] == {"gold": 4}
        await world.rest()
        assert world.profile("ann").carried == [PortableItem("mines:coin", "currency", 1, 3)]
        assert world.all_items() == items


async def test_who_is_in_a_game_cannot_enter_another_or_the_same() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world.rest()
        for game in ("mines", "zoo"):
            reason = await refused(world, "ann", "nexus", "enter_game", game_id=game)
            assert reason.message == "you are in the game mines; leave it first with `exit_game` there"


async def test_who_did_not_come_through_the_nexus_cannot_leave_for_it() -> None:
    async with journeys() as world:
        reason = await refused(world, "bob", "caves", "exit_game")
        assert reason.message == "you did not come here through the Nexus; to go, use `leave`"
        await visit(world, "bob", "caves")
        await refused(world, "bob", "caves", "exit_game")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"maintenance": True}, "is closed for maintenance now"),
        ({"open": False}, "unknown game"),
        ({"capacity": 1}, "is busy now"),
    ],
)
async def test_a_game_that_takes_nobody_refuses_and_the_agent_stays(how: dict[str, Any], says: str) -> None:
    async with journeys() as world:
        await world("cat", "nexus", "enter_game", game_id="mines")
        await world.rest()
        await world("host", "mines", "open_to_nexus", **how)
        await world.rest()
        assert says in (await refused(world, "ann", "nexus", "enter_game", game_id="mines")).message
        assert member(world, "ann", "mines") is None
        await world("cat", "mines", "exit_game")
        await world.rest()
        await world.check()


async def test_an_agent_that_its_world_refuses_is_no_member_afterwards() -> None:
    async with journeys() as world:
        reason = await refused(world, "ann", "nexus", "enter_game", game_id="mines", avatar_id="avatar-9")
        assert isinstance(reason, UnknownAsset)
        assert member(world, "ann", "mines") is None


async def test_a_sleeping_body_is_woken_and_what_happened_to_it_meanwhile_has_happened() -> None:
    async with journeys() as world:
        await visit(world, "ann", "caves", mode="dormant")
        await world("cat", "nexus", "enter_game", game_id="caves")
        await world("cat", "caves", "hit", whom="1")
        back = await world("ann", "nexus", "enter_game", game_id="caves")
        assert (back.data["woken"], back.data["avatar_id"]) == (True, first_avatar(world, "caves"))
        assert world.room("caves").world.bodies["1"].health == 2  # type: ignore[attr-defined]


async def test_a_visitor_that_changes_its_body_brings_back_what_it_did_in_both() -> None:
    async with journeys() as world:
        items = world.all_items()
        await world("ann", "nexus", "enter_game", game_id="caves")
        await world("ann", "caves", "take", item="ore")
        other = (await world("ann", "caves", "create_avatar")).avatar_id
        await world("ann", "caves", "transfer", avatar_id=other)
        await world("ann", "caves", "take", item="gold")
        left = await world("ann", "caves", "exit_game", carry={"gold": 1})
        assert (left.deeds, left.items, left.avatar_state) == ({"take": 2}, {"gold": 1}, "dormant")
        await world.rest()
        assert world.all_items() == items
        await world.check()


@pytest.mark.parametrize("block", [False, True])
async def test_who_is_removed_by_a_host_is_back_in_the_nexus_with_what_it_learned(block: bool) -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world("ann", "mines", "take", item="iron")
        await world("host", "mines", "remove_member", member="ann", block=block)
        await world.rest()
        await world.check()
        assert world.profile("ann").session is None
        assert world.profile("ann").worlds["mines"].deeds == {"take": 1}
        if block:
            assert "blocked" in (await refused(world, "ann", "nexus", "enter_game", game_id="mines")).message


async def test_a_visitor_that_a_host_has_limited_is_limited_when_it_comes_back_and_until_the_host_lifts_it() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world("host", "mines", "narrow", member="ann", may=["send_message"])
        await world("ann", "mines", "exit_game")
        await world.rest()
        await world("ann", "nexus", "enter_game", game_id="mines")
        assert Capability.SEND_MESSAGE not in member(world, "ann", "mines").held
        await world("host", "mines", "narrow", member="ann", may=["act"])
        await world("ann", "nexus", "resume_game")
        await world("host", "mines", "remove_member", member="ann")
        await world.rest()
        for _ in range(2):
            reason = await refused(world, "ann", "nexus", "enter_game", game_id="mines")
            assert reason.message == "a host has taken act from you in this game; ask a host to give it back"
            assert member(world, "ann", "mines") is None
        await world.kill()
        await refused(world, "ann", "nexus", "enter_game", game_id="mines")
        await world("host", "mines", "clear_grant", member="ann")
        await world("ann", "nexus", "enter_game", game_id="mines")
        assert Capability.SEND_MESSAGE in member(world, "ann", "mines").held


async def test_a_muted_visitor_comes_back_muted_and_names_no_new_avatar() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world("host", "mines", "mute", member="ann")
        await world("ann", "mines", "exit_game")
        await world.rest()
        spec = {"name": "you are all fools", "appearance": {"hair": "ann"}}
        reason = await refused(world, "ann", "nexus", "enter_game", game_id="mines", avatar_spec=spec)
        assert reason.message == "a host has muted you until a host unmutes you; leave out the name of the new avatar"
        await world("ann", "nexus", "enter_game", game_id="mines")
        assert "muted" in (await refused(world, "ann", "mines", "say", text="hello")).message


async def test_the_dead_leave_without_their_things_and_come_back_to_the_same_avatar() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world("ann", "mines", "take", item="iron")
        await world("ann", "mines", "jump")
        reason = await refused(world, "ann", "mines", "exit_game", carry={"iron": 1})
        assert reason.message == "you control no body, so you have nothing to carry"
        left = await world("ann", "mines", "exit_game")
        assert (left.avatar_state, left.deaths, left.reward) == ("destroyed", 1, 2.0)
        assert left.message.endswith("Your dead body comes back to life when you enter again.")
        await world("ann", "nexus", "enter_game", game_id="mines")
        back = await world("ann", "mines", "jack_out")
        assert back.avatar_state is AvatarState.DORMANT


async def test_the_rewards_of_a_visit_are_counted_through_a_rematch() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world("ann", "mines", "go", place="pit")
        await world("ann", "mines", "jack_out")
        await world("ann", "mines", "jack_in")
        await world("ann", "mines", "go", place="hall")
        await world("host", "mines", "rematch")
        await world("ann", "mines", "jack_in")
        await world("ann", "mines", "go", place="pit")
        left = await world("ann", "mines", "exit_game")
        assert (left.reward, left.deeds, left.steps) == (3.0, {"go": 3}, 3)


async def test_an_agent_is_back_in_the_nexus_when_its_steps_are_used_up_without_doing_anything() -> None:
    async with journeys() as world:
        entered = await world(
            "ann", "nexus", "enter_game", game_id="mines", max_steps=2, exit_conditions=["health < 1", "bored"]
        )
        assert entered.data["exit_conditions"] == {"enforced": ["health < 1"], "notes": ["bored"]}
        assert entered.message.endswith(
            "Your visit ends by itself after 2 steps, or when `health < 1` holds. Not evaluated, so these do not "
            'end your visit: "bored"; known are health, steps, playtime, died and goal_complete.'
        )
        for item in ("coin", "iron"):
            await world("ann", "mines", "take", item=item)
        await world.rest()
        await world.check()
        profile = world.profile("ann")
        assert profile.session is None
        assert (profile.visits[-1].reason, profile.visits[-1].steps) == ("max_steps", 2)
        assert profile.carried == []
        assert world.room("mines").world.bodies["1"].items == {"coin": 1, "iron": 1}  # type: ignore[attr-defined]
        assert "mines: 2 steps, left: max_steps" in (await world("ann", "nexus", "view")).text


async def test_an_agent_is_back_in_the_nexus_when_it_has_reached_a_meta_goal() -> None:
    async with journeys() as world:
        await visit(world, "ann", "caves", "gold")
        await world("ann", "nexus", "set_goal", goal="world_walker")
        await world("host", "zoo", "open_to_nexus", open=False)
        await world("ann", "nexus", "enter_game", game_id="mines", exit_conditions=["goal_complete"])
        await world("ann", "mines", "take", item="iron")
        await world.rest()
        world.check_place("ann")
        assert world.profile("ann").titles == ["World Walker"]
        assert world.profile("ann").visits[-1].reason == "goal_complete"


async def test_an_agent_in_the_nexus_sees_the_bodies_that_wait_for_it_as_they_were_when_it_left() -> None:
    async with journeys() as world:
        await visit(world, "ann", "mines", mode="suspend")
        await world("ann", "nexus", "enter_game", game_id="caves")
        spare = (await world("ann", "caves", "create_avatar", name="Spare")).avatar_id
        await world("ann", "caves", "jack_out")
        await world("ann", "caves", "jack_in", avatar_id=spare)
        await world("ann", "caves", "exit_game")
        await world.rest()
        seen = await world("ann", "nexus", "view")
        (in_mines,) = (one.avatar_id for one in world.profile("ann").bodies["mines"])
        first = world.profile("ann").bodies["caves"][0].avatar_id
        assert (
            f"BODIES THAT WAIT FOR YOU\nmines: ann ({in_mines}), suspended when you left\n"
            f"caves: ann ({first}), dormant when you left\ncaves: Spare ({spare}), dormant when you left\n"
            "To wake one, call enter_game with its avatar_id" in seen.text
        )
        assert [*seen.observation.status["bodies"]] == ["mines", "caves"]
        await world("ann", "nexus", "enter_game", game_id="mines")
        assert [*world.profile("ann").bodies] == ["caves"]
        await world("ann", "mines", "jump")
        await world("ann", "mines", "exit_game")
        await world.rest()
        assert [*world.profile("ann").bodies] == ["caves"]  # the dead do not wait
        await world("ann", "nexus", "enter_game", game_id="caves", avatar_id=spare)
        await world("ann", "caves", "exit_game", mode="despawn")
        await world.rest()
        assert [one.avatar_id for one in world.profile("ann").bodies["caves"]] == [first]


async def test_one_whose_visit_is_over_is_told_the_way_back() -> None:
    async with journeys() as world:
        await visit(world, "bob", "mines")  # it has a token for the house
        with pytest.raises(CohabitError, match="your visit to mines is over; the view of the Nexus says"):
            await world("bob", "mines", "view")


async def test_a_snapshot_of_a_nexus_whose_agents_have_travelled_can_be_restored() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "set_goal", goal="survivor")
        await world("ann", "nexus", "enter_game", game_id="caves")
        await world("ann", "caves", "take", item="gold")
        await world("ann", "caves", "exit_game", carry={"gold": 1})
        await world.rest()
        await visit(world, "ann", "mines", mode="suspend")
        await world("ann", "nexus", "enter_game", game_id="caves")
        await world.rest()
        nexus = world.house.rooms["nexus"].room.world
        again = Nexus()
        again.restore(nexus.snapshot())
        assert again.snapshot() == nexus.snapshot()
        assert world.profile("ann").evidence


async def test_a_review_has_nothing_of_the_bookkeeping_of_a_profile() -> None:
    async with journeys() as world:
        await visit(world, "ann", "mines")
        assert world.profile("ann").version > 0
        assert not (await world("ann", "nexus", "review_self")).keys() & {"version", "closed", "given_up"}


async def test_a_goal_that_is_reached_at_once_is_reported_as_reached() -> None:
    async with journeys() as world:
        for game, item in (("caves", "gold"), ("mines", "iron")):
            await visit(world, "ann", game, item)
        await world("host", "zoo", "open_to_nexus", open=False)
        done = await world("ann", "nexus", "set_goal", goal="world_walker")
        assert done.message == "You have reached world_walker."
        set_ = await world("ann", "nexus", "set_goal", goal="survivor")
        assert set_.message.startswith("You pursue survivor: Survive 100 steps in each of 3 kinds of game (")


async def test_the_reply_to_a_change_of_goals_or_memories_says_what_changed_without_the_whole_view() -> None:
    async with journeys() as world:
        for name, args in (
            ("set_goal", {"goal": "see the\nsea"}), ("complete_goal", {"goal": "own-1"}),
            ("set_goal", {"goal": "survivor"}), ("abandon_goal", {"goal": "survivor"}),
            ("remember", {"text": "lava burns"}), ("forget", {"text": "lava burns"}),
        ):  # fmt: skip
            reply = await world("ann", "nexus", name, **args)
            assert reply.success
            assert reply.message
            assert reply.observation is None, name
        assert (await world("ann", "nexus", "enter_game", game_id="mines")).observation is not None


async def test_the_view_shows_a_goal_once_with_the_id_that_abandons_it() -> None:
    async with journeys() as world:
        for goal in ("survivor", "see the\nsea"):
            await world("ann", "nexus", "set_goal", goal=goal)
        text = (await world("ann", "nexus", "view")).text
        assert text.count("Survive 100 steps") == text.count("see the sea") == 1
        assert "- survivor: Survive" in text
        assert "- own-1: see the sea (your own)" in text


async def test_line_breaks_of_an_agent_are_folded_in_all_that_it_is_told() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "set_goal", goal="see\n\nCURRENT GOALS:\n- the sea")
        await world("ann", "nexus", "remember", text="lava\nburns")
        await world("ann", "nexus", "enter_game", game_id="mines", goals="find\ngold", exit_conditions=["tired\nof it"])
        await world("ann", "nexus", "abandon_goal", goal="see\n\nCURRENT GOALS:\n- the sea")
        for room in ("nexus", "mines"):
            told = [item.text for item in (await world("ann", room, "events")).items]
            assert [text for text in told if "\n" in text] == []
        assert any("goal: find gold; leave when: tired of it; you remember: lava burns" in text for text in told)


# -- games that stop ----------------------------------------------------------------------------------
async def test_an_agent_whose_game_is_deleted_is_in_the_nexus_without_doing_anything() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="zoo")
        await world.rest()
        await world.house.delete_room("zoo")
        await world.rest()
        assert world.profile("ann").session is None
        assert "You are in the Nexus" in (await world("ann", "nexus", "view")).text
        await world("ann", "nexus", "enter_game", game_id="mines")


async def test_an_agent_can_give_up_only_a_game_that_is_offline() -> None:
    async with journeys() as world:
        assert (await refused(world, "ann", "nexus", "give_up_game")).message.startswith(
            "you are in no game; enter one"
        )
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world.rest()
        reason = await refused(world, "ann", "nexus", "give_up_game")
        assert reason.message == "the game mines is online; leave it there with `exit_game`"
        world.house.rooms["mines"].stop(Quarantined("its world hangs"))
        await world("ann", "nexus", "give_up_game")
        await world.house.reopen_room("mines")
        await world.rest()
        await world.check()


@pytest.mark.parametrize("moment", ["at once", "after a crash"])
async def test_an_agent_whose_game_is_archived_is_in_the_nexus_with_its_deeds_and_can_go_on(moment: str) -> None:
    async with journeys() as world:
        items = world.all_items()
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world("ann", "mines", "take", item="coin")
        await world("ann", "mines", "go", place="ledge")  # where nobody can leave its body
        await world("host", "mines", "archive")
        if moment == "after a crash":
            await world.kill()
        await world.rest()
        profile = world.profile("ann")
        assert profile.session is None
        assert profile.worlds["mines"].deeds["take"] == 1
        assert profile.visits[-1].reason == "archived"
        assert "the game is offline" in (await world("ann", "nexus", "view")).text
        await world.check()
        await world("ann", "nexus", "enter_game", game_id="caves")
        await world("ann", "caves", "exit_game")
        await world.rest()
        await world("host", "mines", "unarchive")
        await world.rest()
        assert "the game is offline" not in (await world("ann", "nexus", "view")).text
        entered = await world("ann", "nexus", "enter_game", game_id="mines")
        assert entered.data["woken"]
        assert world.all_items() == items
        await world.rest()
        await world.check()


async def stop_before_the_nexus_knows(world: Journeys, who: str, game: str) -> None:
    """An agent leaves a game, which stops before the Nexus has confirmed what it brought."""
    with suppress(CohabitError):
        await world(who, game, "exit_game", carry={"gold": 2})
    world.house.rooms[game].stop(Quarantined("its world hangs"))
    await world.rest()


@pytest.mark.parametrize("meanwhile", ["nothing", "a visit", "in another game"])
async def test_a_package_of_a_visit_that_was_given_up_still_arrives_and_arrives_once(meanwhile: str) -> None:
    async with journeys() as world:
        items = world.all_items()
        await world("ann", "nexus", "enter_game", game_id="zoo")
        for _ in range(2):
            await world("ann", "zoo", "take", item="gold")
        await world.rest()
        world.store.refuses = {world.store.commits + 2}  # the profile, after the entry of the game
        await stop_before_the_nexus_knows(world, "ann", "zoo")
        assert world.profile("ann").session is not None
        assert list(VISITS.read(world.room("zoo").state).leaving)
        await world("ann", "nexus", "give_up_game")
        if meanwhile == "a visit":
            await visit(world, "ann", "mines", "coin")
        elif meanwhile == "in another game":
            await world("ann", "nexus", "enter_game", game_id="mines")
        await world.house.reopen_room("zoo")
        for _ in range(2):
            await world.rest()
            await world.check()
            assert world.all_items() == items
        assert world.profile("ann").worlds["caves"].deeds == {"take": 2}


async def test_a_visit_that_was_given_up_is_dropped_when_its_game_is_back_and_its_body_keeps_what_it_has() -> None:
    async with journeys() as world:
        items = world.all_items()
        await visit(world, "ann", "caves", "gold", "gold")
        await world("ann", "nexus", "enter_game", game_id="zoo")
        await world.rest()
        world.house.rooms["zoo"].stop(Quarantined("its world hangs"))
        await world("ann", "nexus", "give_up_game")
        await visit(world, "ann", "mines", "coin")
        await world.house.reopen_room("zoo")
        await world("ann", "nexus", "review_self")
        await world.rest()
        await world.check()
        assert world.all_items() == items
        back = await world("ann", "nexus", "enter_game", game_id="zoo", items={})
        assert back.data["woken"]
        assert world.room("zoo").world.bodies["1"].items == {"gold": 2}  # type: ignore[attr-defined]


@pytest.mark.parametrize("stays", [False, True])
async def test_a_package_that_was_applied_is_not_applied_again_after_its_game_was_offline(stays: bool) -> None:
    """The game could not record that its package was confirmed, and its agent has made another visit since."""
    async with journeys() as world:
        items = world.all_items()
        await world("ann", "nexus", "enter_game", game_id="zoo")
        for _ in range(2):
            await world("ann", "zoo", "take", item="gold")
        await world.rest()
        world.store.refuses_entry = "visit_closed"  # after the game's entry and the profile
        await world("ann", "zoo", "exit_game", carry={"gold": 2})
        await world.rest()
        world.store.refuses_entry = ""
        world.house.rooms["zoo"].stop(Quarantined("its world hangs"))
        await world.rest()
        assert world.profile("ann").session is None
        assert list(VISITS.read(world.room("zoo").state).leaving)
        if stays:
            await world("ann", "nexus", "enter_game", game_id="mines")
        else:
            await visit(world, "ann", "mines", "coin")
        await world.house.reopen_room("zoo")
        await world.rest()
        await world.check()
        assert world.all_items() == items


def test_what_a_poll_found_before_an_agent_left_does_not_bring_it_back() -> None:
    nexus = Nexus()
    nexus.reset(1, [])
    seat = nexus.arrive(Arrival("ann")).id
    at_home = Profile("i-1", "ann")
    away = replace(at_home, version=1, session=Session("t1", "caves", "caves", 0))
    poll = nexus.poll()
    poll.send(None)
    nexus.sending(Sent("ann", "enter_game", seat))
    nexus.answered(nexus.settled("ann"), {"profile": msgspec.to_builtins(away), "text": "You arrive."})
    with pytest.raises(StopIteration) as found:
        poll.send(msgspec.to_builtins({"games": [], "profiles": {seat: at_home}}))
    assert found.value.value is None  # it has nothing new
    assert nexus.present[seat].profile == away
    told, _ = nexus.polled(msgspec.to_builtins({"games": [], "profiles": {seat: at_home}}))  # as it was put on record
    assert list(told) == []
    assert nexus.present[seat].profile == away


# -- power and disk -----------------------------------------------------------------------------------
async def travel(world: Journeys) -> None:
    """From one game to another and back, with items."""
    for game, item in (("zoo", "gold"), ("mines", "coin")):
        await world.tried(world("ann", "nexus", "enter_game", game_id=game))
        await world.tried(world("ann", game, "take", item=item))
        await world.tried(world("ann", game, "exit_game", carry={item: 1}))
        await world.nexus.transit.at_rest()


COMMITS = 32
"""More writes than that journey makes."""


@pytest.mark.parametrize("fails", [pytest.param("power", marks=pytest.mark.soak), "disk"])
async def test_wherever_the_power_or_the_disk_fails_in_a_journey_nothing_is_made_or_lost(fails: str) -> None:
    world = await Journeys().begin()
    items = world.all_items()
    for commits in range(COMMITS):
        if fails == "power":
            world.store.power = commits
            await travel(world)
            await world.kill()
        else:
            world.store.refuses = {world.store.commits + commits}
            await travel(world)
            world.store.refuses = set()
        await world.rest()
        await world.check()
        assert world.all_items() == items
        session = world.profile("ann").session
        if session is not None:  # the next journey begins in the Nexus, and the agent can always come back
            await world("ann", "nexus", "resume_game")
            await world("ann", session.game, "exit_game")
            await world.rest()
        assert world.profile("ann").session is None
    await world.close()


async def test_wherever_the_power_fails_an_agent_has_one_body_in_crafter_and_finds_it_again() -> None:
    world = await Journeys({"camp": "crafter_shared"}).begin()
    told = (await world("ann", "nexus", "game_details", game_id="camp"))["rules"]
    assert ("jack_in" in told, "`" in told) == (True, False), "the Nexus does not have the commands of the game"
    for commits in range(0, 14, 2):
        world.store.power = commits
        await world.tried(world("ann", "nexus", "enter_game", game_id="camp"))
        await world.tried(world("ann", "camp", "act", action="noop"))
        await world.tried(world("ann", "camp", "exit_game", mode="dormant"))
        await world.kill()
        await world.check()
        assert len(avatars_in(world.room("camp").state)) <= 1
        if world.profile("ann").session is not None:
            await world("ann", "nexus", "resume_game")
            await world("ann", "camp", "exit_game", mode="dormant")
            await world.rest()
    back = await world("ann", "nexus", "enter_game", game_id="camp")
    assert (back.data["woken"], back.data["avatar_id"]) == (True, first_avatar(world, "camp"))
    await world.close()


async def test_the_journey_above_is_shorter_than_the_commits_that_are_tried() -> None:
    async with journeys() as world:
        before = world.store.commits
        await travel(world)
        await world.rest()
        assert 10 < world.store.commits - before <= COMMITS


async def test_a_visit_that_ended_before_a_stop_is_completed_at_the_start_also_in_rooms_that_open_late() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="zoo")
        await world.rest()
        world.store.power = 1
        with suppress(CohabitError):
            await world("ann", "zoo", "exit_game")
        await world.close()
        world.store.power = None
        await world.open()
        await world.nexus._recovered
        assert world.profile("ann").session is None
        assert not VISITS.read(world.room("zoo").state).leaving


async def test_one_profile_that_cannot_be_read_does_not_stop_the_nexus_for_others() -> None:
    async with journeys() as world:
        for who in ("ann", "cat"):
            await world(who, "nexus", "enter_game", game_id="zoo")
        await world.rest()
        await world.close()
        world.store._profiles[world.identity["ann"]] = b"not a profile"
        await world.open()
        await world.rest()
        with pytest.raises(Unreachable, match=r"profile of .* cannot be read"):
            await world("ann", "nexus", "review_self")
        await world.rest()
        assert (await world("cat", "nexus", "review_self"))["session"]["game"] == "zoo"
        assert world.room("nexus").world.reachable  # type: ignore[attr-defined]


async def test_a_call_that_comes_before_the_outcome_of_an_earlier_action_is_known_waits_for_it() -> None:
    async with journeys() as world:
        world.store.power = 1  # the action is on record, and nothing came of it
        with suppress(CohabitError):
            await world("ann", "nexus", "enter_game", game_id="zoo")
        await world.close()
        world.store.power = None
        await world.open()
        await world("ann", "nexus", "remember", text="the power failed")
        await world.rest()
        await world.check()
        assert world.house.rooms["nexus"].failure is None
        assert world.profile("ann").core_memories == ["the power failed"]


async def test_an_agent_whose_answer_was_lost_gets_another_token_and_the_lost_one_is_worth_nothing() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="zoo")
        lost = world.tokens["ann", "zoo"][-1]
        assert (await refused(world, "bob", "nexus", "resume_game")).message.startswith("you are in no game")
        await world.kill()
        again = await world("ann", "nexus", "resume_game")
        assert again.data["room"] == "zoo"
        assert (await world("ann", "zoo", "whoami")).handle == "ann"
        with pytest.raises(Unauthorized):
            world.house.identify(lost)
        entries = msgspec.json.encode([line.entry for line in world.room("nexus").record.tail])
        assert again.data["token"].encode() not in entries


async def test_a_token_of_a_visit_ends_with_it_also_for_one_who_stays_a_member() -> None:
    async with journeys() as world:
        whole = world.credential("bob", "nexus")
        operator = world.house.identify(world.house.operator_token())
        made = await world.house.call(operator, None, "issue_credential", {"name": "bob", "room": "nexus"})
        await revoke_and_store(world.house.services, [whole])
        world.tokens["bob", "nexus"].append(made.token)
        world.tokens["bob", "caves"] = []
        await visit(world, "bob", "caves")
        assert member(world, "bob", "caves") is not None
        (token,) = world.tokens["bob", "caves"]
        with pytest.raises(Unauthorized):
            world.house.identify(token)


async def test_a_new_nexus_gives_no_ticket_that_an_earlier_one_gave() -> None:
    async with journeys() as world:
        await visit(world, "ann", "zoo")
        ticket = VISITS.read(world.room("zoo").state).tickets[world.identity["ann"]]
        await world.house.delete_room("nexus")
        await world.make("nexus", "nexus", [{"id": "new", "role": "player"}])
        await world("new", "nexus", "sit")
        await world("new", "nexus", "enter_game", game_id="zoo")
        mine = VISITS.read(world.room("zoo").state).tickets[world.credential("new", "nexus").identity]
        assert mine.rpartition(":")[2] == ticket.rpartition(":")[2] == "1"
        assert mine != ticket


# -- what others can see ------------------------------------------------------------------------------
async def test_two_houses_that_differ_in_what_an_agent_has_look_the_same_to_everybody_else() -> None:
    async def looks(secret: str, item: str) -> list[bytes]:
        world = await Journeys().begin()
        await visit(world, "ann", "caves", item)
        await world("ann", "nexus", "remember", text=secret)
        await world("ann", "nexus", "remember", text=f"{secret} first", kind="strategy")
        await world("ann", "nexus", "set_goal", goal=f"find {secret}")
        await world("ann", "nexus", "enter_game", game_id="mines", goals=secret)
        await world.rest()
        seen: list[Any] = []
        reads = ("view", "list_games", "session_info", "events", "whoami", "meta_goals", "review_self")
        for who, room in (("bob", "nexus"), ("cat", "nexus"), ("bob", "caves"), ("host", "mines"), ("host", "caves")):
            for name in reads:
                try:
                    found = msgspec.to_builtins(await world(who, room, name))
                except CohabitError as no:
                    found = no.as_wire()
                seen.append((who, room, name, found))
        text = msgspec.json.encode(seen).decode()
        for name, identity in world.identity.items():
            text = text.replace(identity, f"the identity of {name}")
        assert secret not in text
        await world.close()
        return sorted(line.encode() for line in _without_random(text))

    assert await looks("lava", "gold") == await looks("fire", "ore")


def _without_random(text: str) -> list[str]:
    """Without what is random in every house: cursors, and the ids of views."""
    return re.sub(r'"(cursor|next|since|id)":"[^"]{12,}"', '"random"', text).split("},{")


async def test_nobody_reads_the_profile_the_avatars_or_the_tokens_of_another() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="caves")
        await world("ann", "caves", "take", item="gold")
        await world.rest()
        assert (await world("bob", "nexus", "review_self"))["name"] == "bob"
        assert (await world("bob", "caves", "avatars")).avatars == []
        with pytest.raises((GameRejected, UnknownAsset)):
            await world("bob", "caves", "jack_in", avatar_id=first_avatar(world, "caves"))
        for room in ("nexus", "caves"):
            record = msgspec.json.encode([line.entry for line in world.room(room).record.tail])
            assert not [token for tokens in world.tokens.values() for token in tokens if token.encode() in record]


async def test_a_host_gets_no_token_of_an_agent_who_plays_in_a_sealed_game_of_another_room() -> None:
    async with journeys() as world:
        await world.make("table", "whist", [{"id": "host", "role": "host", "kind": "human"}])
        await world("host", "table", "open_to_nexus", description="cards")
        operator = world.house.identify(world.house.operator_token())
        made = await world.house.call(operator, None, "issue_credential", {"name": "boss", "host": True})
        boss = world.house.identify(made.token)
        await world.house.call(boss, "nexus", "join", {})
        for game in ("zoo", "table"):
            await world("ann", "nexus", "enter_game", game_id=game)
            for room, command, args in (
                ("nexus", "rotate_token", {"member": "ann"}),
                (None, "issue_credential", {"name": "ann", "room": "nexus"}),
                (None, "rotate_credential", {"name": "ann", "room": "nexus"}),
            ):
                with pytest.raises(PermissionDenied, match="plays in another room: this room is sealed"):
                    await world.house.call(boss, room, command, args)
            await world("ann", game, "exit_game")
            await world.rest()
        line = next(item for item in (await world("host", "table", "audit", kinds=["tokens"])).lines)
        assert line.text == "ann created a token for ann"
        assert (await world.house.call(boss, "nexus", "rotate_token", {"member": "ann"})).member == "ann"
