"""Gains come from what was achieved: the ways to farm them that we could think of, and what each of them brings."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit import saves
from cohabit.house.running.calls import SystemCall
from cohabit.model.travel import Travel
from cohabit.nexus.goals import GOALS, evaluate
from cohabit.nexus.packages import leave
from cohabit.nexus.skills import LESSONS_PER_DEED, STEPS_PER_DEED, worth
from cohabit.nexus.values import Profile
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER
from cohabit.worlds.starbound.travel import TRAVEL as PLANET

from .games import SAMPLE, Journeys
from .making import CAMP, GAMES, ORBIT, agent, inside, visit

WORLDS = {"crafter": (CRAFTER, CAMP), "planet": (PLANET, ORBIT)}
HOST = {"id": "host", "role": "host", "kind": "human"}


@asynccontextmanager
async def travels(**games: dict[str, Any]) -> AsyncIterator[Journeys]:
    made = await Journeys({"caves": f"{SAMPLE}:Caves"}).begin()
    for game, keys in games.items():
        await made.make(game, keys.pop("world"), [HOST], nexus=True, **keys)
    try:
        yield made
    finally:
        await made.close()


async def stay(made: Journeys, game: str, *actions: tuple[str, dict[str, Any]], **leaving: Any) -> Profile:
    """Enter a game, do this, and leave."""
    await made("ann", "nexus", "enter_game", game_id=game)
    for name, args in actions:
        await made("ann", game, name, **args)
    await made("ann", game, "exit_game", **leaving)
    await made.rest()
    return made.profile("ann")


def nothing_was_gained(profile: Profile) -> None:
    assert profile.skills == {}
    assert profile.evidence == []
    assert (profile.titles, profile.achievements) == ([], [])
    for goal in GOALS.values():
        assert evaluate(goal, profile, GAMES).progress == 0, goal.id


# -- in real games --------------------------------------------------------------------------------------
DO_NOTHING = {
    "noop": [("noop", {})] * 120,
    "turning": [(f"move_{way}", {}) for way in ("left", "left", "right", "right")] * 15,
    "walking to and fro": [(f"move_{way}", {}) for way in ("left", "right", "up", "down")] * 15,
    "making what cannot be made": [("make_iron_pickaxe", {}), ("place_table", {})] * 30,
    "sleeping": [("noop", {})] * 32 + [("sleep", {})] * 16,
    "emotes": [("emote", {"emote": "wave"})] * 60,
}


@pytest.mark.parametrize("how", list(DO_NOTHING))
async def test_doing_nothing_in_crafter_teaches_nothing(how: str) -> None:
    seed = 1 if how == "sleeping" else 7  # a land in which nobody kills a sleeper
    async with travels(wild={"world": "crafter_shared", "config": {"respawns": True}, "seed": seed}) as made:
        await made("ann", "nexus", "set_goal", goal="wayfarer")
        profile = await stay(made, "wild", *DO_NOTHING[how])
        nothing_was_gained(profile)
        assert profile.goals[0].progress == 0
        assert ("achievement:wake_up" in profile.worlds["crafter_shared"].deeds) == (how == "sleeping")
        assert profile.total_steps == (0 if how == "emotes" else len(DO_NOTHING[how])), "they are counted all the same"


@pytest.mark.parametrize("how", ["wait", "crouch"])
async def test_doing_nothing_on_a_planet_teaches_nothing(how: str) -> None:
    async with travels(orbit={"world": "planet"}) as made:
        await made("ann", "nexus", "set_goal", goal="survivor")
        actions = [("wait", {})] * 120 if how == "wait" else [("stance", {"stance": "crouching"}), ("wait", {})] * 60
        nothing_was_gained(await stay(made, "orbit", *actions))


async def test_digging_up_and_placing_the_same_lump_of_dirt_teaches_no_more_than_once() -> None:
    async with travels(orbit={"world": "planet"}) as made:
        where = {"direction": "down_left"}
        profile = await stay(made, "orbit", *[("use_tool", where), ("place", {"item": "dirt", **where})] * 30)
        totals = profile.worlds["planet"]
        assert (totals.deeds["gather"], totals.deeds["build"], totals.steps) == (1, 1, STEPS_PER_DEED)
        assert (profile.achievements, profile.skill("adaptation")) == ([], 0)


async def test_travelling_to_and_fro_teaches_nothing_and_is_no_visit() -> None:
    async with travels(wild={"world": "crafter_shared", "config": {"respawns": True}}) as made:
        await made("ann", "nexus", "set_goal", goal="world_walker")
        for _ in range(5):
            for game in ("wild", "caves"):
                profile = await stay(made, game)
        nothing_was_gained(profile)
        assert profile.goals[0].progress == 0
        await made("ann", "nexus", "enter_game", game_id="wild")
        assert (await made.nexus.transit.refresh(made.identity["ann"])).goals[0].progress == 0, "nor while it goes on"


async def test_dying_and_returning_teaches_nothing() -> None:
    async with travels() as made:
        nothing_was_gained(await stay(made, "caves", *[("jump", {}), ("respawn", {})] * 10))


async def test_handing_one_thing_to_and_fro_soon_teaches_nothing() -> None:
    """Two accounts, or one that puts down what it takes up."""
    async with travels() as made:
        often = [("take", {"item": "gold"}), ("put", {"item": "gold"})]
        few = await stay(made, "caves", *often * 7)
        many = await stay(made, "caves", *often * 40)
        assert few.skills == many.skills
        assert few.skill("resource_management") > 0


async def test_two_accounts_of_one_person_gain_no_more_than_each_would_alone() -> None:
    """They hand one thing to and fro, and enter and leave in a loop; neither gets anything of what the other learned."""
    async with travels() as made:
        for _ in range(2):
            for who in ("ann", "bob"):
                await made(who, "nexus", "enter_game", game_id="caves")
            for _ in range(15):
                for who in ("ann", "bob"):
                    await made(who, "caves", "take", item="gold")
                    await made(who, "caves", "put", item="gold")
            for who in ("ann", "bob"):
                await made(who, "caves", "exit_game", mode="suspend")
            await made.rest()
        together = [made.profile(who).skills for who in ("ann", "bob")]
    async with travels() as made:
        alone = await stay(made, "caves", *[("take", {"item": "gold"}), ("put", {"item": "gold"})] * 7)
        assert together == [alone.skills, alone.skills]
        nothing_was_gained(made.profile("bob"))


@pytest.mark.parametrize("how", ["rematch", "load"])
async def test_a_new_game_or_a_save_gives_no_deed_twice(how: str) -> None:
    async with travels() as made:
        await made("ann", "nexus", "enter_game", game_id="caves")
        await made("ann", "caves", "take", item="gold")
        room = made.room("caves")
        if how == "load":
            await made("ann", "caves", "jack_out", mode="suspend")
        for _ in range(3):
            if how == "rematch":
                await made("host", "caves", "rematch")
            else:
                data = b64encode(saves.pack(room.world, True, room.state.game, room.state.played)).decode()
                await made.house.rooms["caves"].submit(SystemCall("loaded", {"by": "host", "save": data}))
            await made("ann", "caves", "jack_in")
            await made("ann", "caves", "jack_out", mode="suspend")
        await made("ann", "caves", "exit_game")
        await made.rest()
        assert made.profile("ann").worlds["caves"].deeds == {"take": 1}


# -- whatever the visits are like ---------------------------------------------------------------------------
IDLE = st.sampled_from(["walk", "jump", "failed", "damage_taken", "deaths", "tech", "beam_up", "beam_down", "flight"])


@given(
    world=st.sampled_from(sorted(WORLDS)),
    visits=st.lists(st.tuples(st.integers(0, 5_000), st.dictionaries(IDLE, st.integers(1, 5_000))), max_size=5),
    nights=st.integers(0, 500),
)
def test_without_a_deed_that_the_world_teaches_nothing_is_gained(
    world: str, visits: list[tuple[int, dict[str, int]]], nights: int
) -> None:
    travel, game = WORLDS[world]
    profile = agent()
    for number, (steps, deeds) in enumerate(visits):
        waited = dict.fromkeys(travel.passive, nights) if nights else {}
        package = visit(game, str(number), steps=steps, deeds={**deeds, **waited})
        profile = leave(inside(profile, game, str(number)), travel, package, GAMES)
    nothing_was_gained(profile)
    assert profile.total_steps == sum(steps for steps, _ in visits)


@given(
    deed=st.sampled_from([deed for deed in CRAFTER.lessons if deed != "steps"]),
    times=st.lists(st.integers(1, 100_000), min_size=1, max_size=6),
    steps=st.integers(0, 100_000),
)
def test_one_deed_again_and_again_teaches_no_more_than_a_few_times(deed: str, times: list[int], steps: int) -> None:
    """Killing what comes back in a pen, placing and collecting one stone: whatever one repeats, in however many visits."""
    farmed, played = agent(), agent()
    for number, count in enumerate(times):
        package = visit(CAMP, str(number), steps=steps, deeds={deed: count})
        farmed = leave(inside(farmed, CAMP, str(number)), CRAFTER, package, GAMES)
    package = visit(CAMP, "t1", steps=steps * len(times), deeds={deed: 7})
    played = leave(inside(played), CRAFTER, package, GAMES)
    for domain, level in farmed.skills.items():
        assert level <= played.skill(domain) + 1e-9
    assert farmed.worlds["crafter"].steps <= STEPS_PER_DEED
    assert "adaptation" not in farmed.skills
    assert worth(sum(times)) <= LESSONS_PER_DEED


def test_an_achievement_that_came_by_waiting_is_earned_when_something_was_done_as_well() -> None:
    asleep = leave(inside(agent()), CRAFTER, visit(steps=900, deeds={"achievement:wake_up": 6}), GAMES)
    nothing_was_gained(asleep)
    busy = visit(CAMP, "t2", deeds={"achievement:collect_wood": 1})
    later = leave(inside(asleep, CAMP, "t2"), CRAFTER, busy, GAMES)
    assert {one.id for one in later.achievements} == {"crafter:collect_wood", "crafter:wake_up"}


def test_waiting_counts_only_as_far_as_something_was_done() -> None:
    lazy = leave(inside(agent(), ORBIT), PLANET, visit(ORBIT, steps=900, deeds={"nights": 9}), GAMES)
    busy = visit(ORBIT, steps=900, deeds={"nights": 9, "achievement:collect_wood": 1, "achievement:eat": 1})
    gained = leave(inside(agent(), ORBIT), PLANET, busy, GAMES)
    assert lazy.skill("survival") == 0
    assert gained.skill("survival") > 0
    assert gained.worlds["planets"].steps == 2 * STEPS_PER_DEED
    assert gained.worlds["planets"].visits == 1


def test_a_world_that_teaches_nothing_gives_nothing_and_is_not_asked_for() -> None:
    profile = leave(inside(agent()), Travel(), visit(steps=10_000, deeds={"win": 50}), GAMES)
    nothing_was_gained(profile)
