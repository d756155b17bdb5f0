"""An agent can leave a game for another one: the house brings it there, or says why it is in the Nexus instead."""

from contextlib import suppress
from typing import Any

import pytest

from cohabit.errors import BadArgs, CohabitError, Quarantined
from cohabit.features.visits.state import VISITS
from cohabit.nexus.packages import onward_ticket

from .games import Journeys
from .test_transit import journeys, refused


async def told(world: Journeys, who: str) -> list[str]:
    """What an agent was told in the Nexus, the newest last."""
    return [item.text for item in (await world(who, "nexus", "events", max=500)).items]


async def leave_for(world: Journeys, who: str, game: str, destination: str, **args: Any) -> Any:
    await world(who, "nexus", "enter_game", game_id=game)
    left = await world(who, game, "exit_game", destination=destination, **args)
    await world.rest()
    await world.check()
    return left


async def test_an_agent_with_a_token_for_the_house_is_in_the_next_game_with_what_it_carries() -> None:
    async with journeys() as world:
        items = world.all_items()
        await world("bob", "nexus", "enter_game", game_id="zoo")
        await world("bob", "zoo", "take", item="gold")
        left = await world("bob", "zoo", "exit_game", destination="mines", carry={"gold": 1})
        assert left.message == "You are on your way to mines. If you cannot enter it, the Nexus tells you why."
        await world.rest()
        await world.check()
        profile = world.profile("bob")
        assert profile.session is not None
        assert (profile.session.game, profile.onward, profile.carried) == ("mines", None, [])
        assert [visit.game for visit in profile.visits] == ["zoo"]
        assert await world("bob", "mines", "take", item="coin")
        assert world.room("mines").world.bodies["1"].items == {"coin": 2}  # type: ignore[attr-defined]
        assert world.all_items() == items
        view = (await world("bob", "nexus", "view")).text
        assert "You are in the game mines." in view
        texts = await told(world, "bob")
        assert "bob goes on from zoo to mines" in texts
        assert "You are in mines now; `exit_game` there brings you back." in texts
        assert "bob goes on from zoo to mines" in await told(world, "cat")
        assert "You are in mines now; `exit_game` there brings you back." not in await told(world, "cat")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"maintenance": True}, "the game mines is closed for maintenance now; choose another one, or wait_for_game"),
        ({"open": False}, "unknown game 'mines'; the games are: caves, zoo"),
        ({"capacity": 1}, "the game mines is busy now; choose another one, or wait_for_game"),
        (None, "the game mines is offline now; choose another one, or wait_for_game"),
        ("block", "a host has blocked you in this game"),
    ],
)
async def test_an_agent_that_cannot_enter_the_next_game_stays_in_the_nexus_and_is_told_why(how: Any, says: str) -> None:
    async with journeys() as world:
        await world("cat", "nexus", "enter_game", game_id="mines")
        if how is None:
            world.house.rooms["mines"].stop(Quarantined("its world hangs"))
        elif how == "block":
            await world("bob", "nexus", "enter_game", game_id="mines")
            await world("host", "mines", "remove_member", member="bob", block=True)
            await world.rest()
        else:
            await world("host", "mines", "open_to_nexus", **how)
        await world("bob", "nexus", "enter_game", game_id="zoo")
        await world("bob", "zoo", "exit_game", destination="mines")
        await world.rest()
        assert world.profile("bob").session is None
        text = f"You are in the Nexus and not in mines: {says}."
        assert text in (await world("bob", "nexus", "view")).text
        assert [line for line in await told(world, "bob") if "not in mines" in line] == [text]
        assert text not in await told(world, "ann")
        await world("bob", "nexus", "enter_game", game_id="caves")
        assert world.profile("bob").onward is None
        assert "not in mines" not in (await world("bob", "nexus", "view")).text


async def test_an_agent_without_a_token_for_the_next_game_is_told_to_enter_it_from_the_nexus() -> None:
    async with journeys() as world:
        await leave_for(world, "ann", "zoo", "mines")
        assert world.profile("ann").session is None
        says = "not in mines: you have no token for mines; call enter_game, whose reply has one."
        assert says in (await world("ann", "nexus", "view")).text
        await world("ann", "nexus", "enter_game", game_id="mines")
        await world("ann", "mines", "take", item="coin")


async def test_an_agent_that_leaves_through_the_nexus_gets_the_token_for_the_next_game() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="zoo")
        left = await world("ann", "nexus", "leave_game", destination="mines")
        assert left.data["onward"]["game"] == "mines"
        assert left.message.startswith("You have left zoo. You are in mines now;")
        world.tokens["ann", "mines"] = [left.data["token"]]
        await world("ann", "mines", "take", item="coin")
        await world.rest()
        await world.check()
        for line in world.room("nexus").record.tail:
            assert left.data["token"] not in str(line.entry.args)


async def test_an_unknown_game_is_refused_by_the_nexus_and_the_same_game_by_the_room() -> None:
    async with journeys() as world:
        await world("ann", "nexus", "enter_game", game_id="zoo")
        await world.rest()
        assert isinstance(await refused(world, "ann", "zoo", "exit_game", destination="zoo"), BadArgs)
        left = await world("ann", "nexus", "leave_game", destination="minse")
        assert left.data["onward"]["refused"] == "unknown game 'minse'; the games are: caves, mines, zoo"
        assert "token" not in left.data
        await world.rest()
        assert world.profile("ann").session is None


async def test_the_nexus_is_also_known_by_the_id_of_its_room() -> None:
    async with journeys() as world:
        await leave_for(world, "bob", "zoo", "nexus")
        assert (world.profile("bob").session, world.profile("bob").onward) == (None, None)


@pytest.mark.parametrize("how", ["narrow", "stand_up", "remove_member"])
async def test_nobody_goes_on_that_could_not_enter_a_game_from_the_nexus(how: str) -> None:
    async with journeys() as world:
        await world("bob", "nexus", "enter_game", game_id="zoo")
        room = world.room("nexus")
        me = room.member_of(world.identity["bob"])
        assert me is not None
        if how == "stand_up":
            await world("bob", "nexus", "stand_up")
        elif how == "narrow":
            me.set_layers([*me.layers, *_no_act()])
        else:
            await world("bob", "nexus", "leave")
        await world("bob", "zoo", "exit_game", destination="mines")
        await world.rest()
        assert world.profile("bob").session is None
        assert world.identity["bob"] not in VISITS.read(world.room("mines").state).visits


def _no_act() -> list[Any]:
    from cohabit.model.grant import Capability, Layer

    return [Layer("limit", but=(Capability.ACT,))]


async def test_agents_can_go_on_again_and_again_and_no_ticket_comes_twice() -> None:
    async with journeys() as world:
        await world("bob", "nexus", "enter_game", game_id="zoo")
        tickets = []
        for here, there in (("zoo", "mines"), ("mines", "zoo"), ("zoo", "mines")):
            await world("bob", here, "exit_game", destination=there)
            await world.rest()
            await world.check()
            session = world.profile("bob").session
            assert session is not None
            assert session.game == there
            tickets.append(session.ticket.rpartition(":")[2])
        assert tickets == ["1.1", "1.2", "1.3"]
        await world("bob", "mines", "exit_game")
        await world("bob", "nexus", "enter_game", game_id="zoo")
        assert world.profile("bob").session.ticket.endswith(":2")  # type: ignore[union-attr]


def test_the_ticket_after_a_ticket_is_one_number_longer_however_long_the_journey() -> None:
    ticket = "nexus-ab12:5"
    for number in range(1, 1000):
        ticket = onward_ticket(ticket)
        assert ticket == f"nexus-ab12:5.{number}"


async def go_on(world: Journeys) -> None:
    """From one game to another without a stop, with an item."""
    await world.tried(world("bob", "nexus", "enter_game", game_id="zoo"))
    await world.tried(world("bob", "zoo", "take", item="gold"))
    await world.tried(world("bob", "zoo", "exit_game", carry={"gold": 1}, destination="mines"))
    await world.nexus.transit.at_rest()


@pytest.mark.parametrize("fails", ["power", "disk"])
async def test_wherever_the_power_or_the_disk_fails_on_the_way_nothing_is_lost_and_the_agent_arrives(
    fails: str,
) -> None:
    world = await Journeys().begin()
    items = world.all_items()
    arrived = 0
    for commits in range(24):
        if fails == "power":
            world.store.power = commits
            await go_on(world)
            await world.kill()
        else:
            world.store.refuses = {world.store.commits + commits}
            await go_on(world)
            world.store.refuses = set()
        await world.rest()
        await world.check()
        assert world.all_items() == items
        profile = world.profile("bob")
        assert not profile.is_on_its_way  # the wish was fulfilled or refused
        left = profile.visits and profile.visits[-1].game == "zoo" and profile.session is not None
        arrived += bool(left)
        while (session := world.profile("bob").session) is not None:
            await world("bob", session.game, "exit_game")
            await world.rest()
    assert arrived > 10
    await world.close()


async def test_a_wish_that_is_stored_and_not_fulfilled_is_fulfilled_after_a_start() -> None:
    """The profile has the wish, the first game has confirmed the package, and then the power fails."""
    async with journeys() as world:
        await world("bob", "nexus", "enter_game", game_id="zoo")
        await world.rest()
        enter = world.nexus.transit._enter

        async def fails(*args: Any) -> Any:
            world.store.power = 0
            return await enter(*args)

        world.nexus.transit._enter = fails  # type: ignore[method-assign]
        with suppress(CohabitError):
            await world("bob", "zoo", "exit_game", destination="mines")
        await world.nexus.transit.at_rest()
        assert world.profile("bob").is_on_its_way
        assert not VISITS.read(world.room("zoo").state).leaving
        await world.kill()
        session = world.profile("bob").session
        assert session is not None
        assert session.game == "mines"
        await world.check()
