"""A house of several nodes: where rooms are, what every node knows, and what becomes of the rooms of a dead node."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.house.nodes.cluster import nodes, scenario

from cohabit.errors import Busy, Conflict, Quarantined, Unauthorized, UnknownRoom
from cohabit.house.nodes.control import WorkerControl
from cohabit.house.nodes.placement import STRIKES
from cohabit.house.store.contract import Write
from cohabit.house.store.heads import read_heads
from cohabit.testing.clock import FakeClock


async def test_rooms_are_spread_over_the_nodes_and_each_is_in_one() -> None:
    async with nodes(2) as made:
        for room in "abcd":
            await made.front.create_room(scenario(), room)
        held = {name: sorted(house.rooms) for name, house in made.houses.items()}
        assert sorted(room for rooms in held.values() for room in rooms) == list("abcd")
        assert {len(rooms) for rooms in held.values()} == {2}
        assert not made.front.rooms, "the front runs no room"
        for house in made.houses.values():
            for room in "abcd":
                holder = house.node.directory.holder(room) if house.node else None
                assert room in held[holder or ""], "every node knows where every room is"


async def test_a_room_that_a_node_makes_is_known_everywhere_when_the_call_returns_and_its_id_is_taken() -> None:
    async with nodes(2) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        assert made.cluster.table.holder("den") == "w1"
        assert not made.houses["w2"].rooms.is_free("den")
        assert not made.front.rooms.is_free("den")
        assert made.houses["w2"].identify(tokens["ann"]).room == "den"
        await made.houses["w1"].delete_room("den")
        assert made.cluster.table.holder("den") is None
        assert made.houses["w2"].rooms.is_free("den")
        with pytest.raises(Unauthorized):
            made.houses["w2"].identify(tokens["ann"])


async def test_a_revocation_is_true_in_every_node_when_its_reply_is_sent() -> None:
    async with nodes(3) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        ended: list[str] = []
        for name, house in {"front": made.front, **made.houses}.items():
            credential = house.identify(tokens["ann"])
            house.identities.until_invalid(house.clock, credential, lambda name=name: ended.append(name))
        await made.call(tokens["hostess"], "den", "remove_member", {"member": "ann"})
        for house in (made.front, *made.houses.values()):
            with pytest.raises(Unauthorized):
                house.identify(tokens["ann"])
        assert sorted(ended) == ["front", "w1", "w2", "w3"], "connections end everywhere"


async def test_an_invite_and_the_token_it_becomes_are_known_in_every_node() -> None:
    async with nodes(2) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        invited = await made.call(tokens["hostess"], "den", "invite", {"id": "cat", "role": "player"})
        for house in (made.front, made.houses["w2"]):
            assert house.identities.invite_with(invited.token) is not None
        entries = [line.entry.do for line in made.front.ledger.runner.room.record.tail]
        assert "invited" in entries, "the house record, which the front has, says so"
        joined = await made.call(invited.token, "den", "join", {})
        assert made.houses["w2"].identify(joined.token).room == "den"


async def test_a_node_that_does_not_answer_delays_a_revocation_until_it_is_dead_and_nothing_else() -> None:
    async with nodes(2) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        _, others = await made.houses["w1"].create_room(scenario(), "other")
        deaf = made.cluster.links["w2"]
        deaf.data_received = lambda data: None  # type: ignore[method-assign]
        revoking = asyncio.ensure_future(made.call(tokens["hostess"], "den", "remove_member", {"member": "ann"}))
        for _ in range(3):
            await made.call(others["hostess"], "other", "say", {"text": "recorded", "to": "ann"})
        assert not revoking.done()
        await made.kill("w2")
        await revoking


async def test_rooms_of_a_dead_node_open_in_the_others_and_nothing_of_it_is_written_any_more() -> None:
    async with nodes(2) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        await made.call(tokens["ann"], "den", "mark", {"cell": 4})
        dead = made.houses["w1"]
        await made.kill("w1")
        assert made.cluster.table.holder("den") == "w2"
        await made.call(tokens["bob"], "den", "mark", {"cell": 0})
        with pytest.raises(Exception, match="lease"):
            await made.call(tokens["bob"], "den", "say", {"text": "from the grave", "to": "hostess"}, at=dead)
        view = await made.call(tokens["ann"], "den", "view")
        assert "X" in view.text
        assert "O" in view.text


async def test_a_room_that_is_not_open_in_a_process_that_ends_is_not_called_unknown() -> None:
    async with nodes(2) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        with pytest.raises(Busy):
            await made.call(tokens["ann"], "den", "whoami", at=made.houses["w2"])
        house = made.houses["w1"]
        runner, house.rooms.closing = house.rooms.pop("den"), True
        try:
            with pytest.raises(Busy):
                await made.call(tokens["ann"], "den", "whoami", at=house)
        finally:
            house.rooms["den"], house.rooms.closing = runner, False


async def test_a_room_whose_node_is_gone_says_to_try_again() -> None:
    async with nodes(1) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        made._links["w1"].close()
        await made.cluster.links["w1"].run()
        await made.cluster.left("w1", made.houses["w1"].id, ())
        with pytest.raises(Busy, match="try again"):
            await made.call(tokens["ann"], "den", "view", at=made.front)
        await made.start()
        await made.cluster.settled()
        assert await made.call(tokens["ann"], "den", "view")


async def test_a_room_that_was_running_at_each_of_three_deaths_is_quarantined_and_a_host_reopens_it() -> None:
    async with nodes(1) as made:
        await made.front.create_room(scenario(), "bad")
        _, tokens = await made.front.create_room(scenario(), "good")
        for _ in range(STRIKES):
            node = made.cluster.table.rooms["good"]
            await made.start()
            await made.kill(node, "bad")
        assert made.cluster.table.holder("bad") == "front", "which says why it is closed"
        assert await made.call(tokens["ann"], "good", "view"), "the other room goes on"
        operator = made.front.operator_token()
        with pytest.raises(Quarantined, match="its process died"):
            await made.call(operator, "bad", "view", at=made.front)
        await made.call(operator, "bad", "reopen_room", at=made.front)
        assert made.cluster.table.holder("bad") in made.houses


async def test_the_nexus_and_the_rooms_open_to_it_are_in_one_node() -> None:
    async with nodes(2) as made:
        for room in "abc":
            await made.front.create_room(scenario(nexus=room != "a"), room)
        await made.front.create_room(scenario(world="nexus", agents=[{"id": "eve", "role": "player"}]), "nexus")
        await made.cluster.settled()
        rooms = made.cluster.table.rooms
        assert rooms["nexus"] == rooms["b"] == rooms["c"]


async def test_a_node_that_joins_gets_rooms_in_which_nobody_is() -> None:
    async with nodes(1) as made:
        for room in "abcd":
            await made.front.create_room(scenario(), room)
        await made.start()
        await made.cluster.balance()
        assert {name: len(house.rooms) for name, house in made.houses.items()} == {"w1": 2, "w2": 2}


async def test_a_token_of_the_owner_is_valid_in_every_node_also_in_one_that_joins_later() -> None:
    async with nodes(1) as made:
        token = made.front.operator_token()
        await made.start()
        await made.cluster.replicas.known_by_all()
        hosts = [house.identities.is_host(house.identify(token)) for house in made.houses.values()]
        assert hosts == [True, True]


async def test_a_room_that_does_not_exist_is_unknown_in_every_node() -> None:
    async with nodes(2) as made:
        token = made.front.operator_token()
        await made.cluster.replicas.known_by_all()
        for house in (made.front, *made.houses.values()):
            with pytest.raises(UnknownRoom):
                await made.call(token, "nowhere", "view", at=house)


async def test_heads_of_every_node_are_in_one_file_and_a_room_with_the_id_of_a_deleted_one_is_not_taken_for_it(
    tmp_path: Path,
) -> None:
    heads, clock = tmp_path / "heads", FakeClock()
    async with nodes(1, clock, heads_file=str(heads)) as made:
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        await made.call(tokens["ann"], "den", "mark", {"cell": 4})
        await clock.advance(60_000)
        await made.start()  # it reads the file with the head of this room
        await made.houses["w1"].delete_room("den")
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        await made.kill("w1")
        assert "den" in made.houses["w2"].rooms
        assert await made.call(tokens["ann"], "den", "view")
    assert {"den", "house"} <= set(read_heads(heads))


async def test_the_heads_of_the_house_record_are_of_the_one_that_is_stored_and_not_of_those_of_other_nodes(
    tmp_path: Path,
) -> None:
    heads = tmp_path / "heads"
    async with nodes(2, heads_file=str(heads)) as made:
        await made.front.create_room(scenario(), "den")
        stored = {seq: digest.hex() for seq, _, digest in made.front.store.lines("house", -1)}
    noted = read_heads(heads)["house"]
    assert [(head.seq, head.digest) for head in noted] == [(head.seq, stored[head.seq]) for head in noted]


async def test_rooms_that_two_nodes_create_at_the_same_time_get_different_ids() -> None:
    async with nodes(2) as made:
        creating = [made.houses[name].create_room(scenario()) for name in ("w1", "w2") for _ in range(2)]
        ids = [room for room, _ in await asyncio.gather(*creating)]
        assert len(set(ids)) == 4
        assert {made.cluster.table.holder(room) for room in ids} == {"w1", "w2"}


@pytest.mark.parametrize("is_refused", [False, True])
async def test_a_room_that_is_deleted_while_it_moves_is_gone(is_refused: bool) -> None:
    async with nodes() as made:
        for node, room in (("w1", "den"), ("w2", "nexus")):
            await made.houses[node].create_room(scenario(), room)
        cluster, link = made.cluster, made.cluster.links["w1"]
        cluster.placement.together |= {"den", "nexus"}  # so den has to move
        ask = link.ask

        async def deleted_first(name: str, **args: Any) -> Any:
            if name == "close":
                await made.houses["w1"].delete_room("den")
                if is_refused:
                    raise Conflict("room den is being deleted by another call")
            return await ask(name, **args)

        link.ask = deleted_first  # type: ignore[method-assign]
        cluster.take("den")
        await cluster.settled()
        assert "den" not in cluster.table.rooms
        assert not cluster.has("den")
        assert not made.houses["w2"].broken


@pytest.mark.parametrize("is_first_used", [True, False])
async def test_an_invite_ends_everywhere_when_the_token_that_replaces_it_is_used_and_not_before(
    is_first_used: bool,
) -> None:
    async with nodes(2) as made:
        _, tokens = await made.front.create_room(scenario(), "den")
        await made.front.create_room(scenario(), "hall")  # in the other node: only who has a room writes
        invited = (await made.call(tokens["hostess"], "den", "invite", {"id": "cat"})).token
        token = (await made.call(invited, "den", "join")).token
        for house in (made.front, *made.houses.values()):
            assert house.identify(invited).room == "den"
        (elsewhere,) = [house for house in made.houses.values() if house is not made.of("den")]
        first = made.of("den") if is_first_used else elsewhere
        assert first.identify(token).identity
        await first.writer.submit(Write(identities=made.front.identities.everybody()))  # after what was queued
        for house in (made.front, *made.houses.values()):
            with pytest.raises(Unauthorized, match="used up"):
                house.identify(invited)
            assert house.identify(token).identity


async def test_a_process_that_starts_is_asked_in_vain_and_says_so() -> None:
    with pytest.raises(Busy, match="starting"):
        WorkerControl().handlers()["status"]()


async def test_identities_of_a_deleted_room_are_forgotten_in_every_node() -> None:
    async with nodes(2) as made:
        everywhere = (made.front, *made.houses.values())
        before = [sorted(one.id for one in house.identities.everybody()) for house in everywhere]
        _, tokens = await made.houses["w1"].create_room(scenario(), "den")
        held = [made.houses["w2"].identify(token).identity for token in tokens.values()]
        assert all(house.identities.get(one) is not None for house in everywhere for one in held)
        await made.houses["w1"].delete_room("den")
        assert [sorted(one.id for one in house.identities.everybody()) for house in everywhere] == before
        assert not {one.id for one in made.front.store.identities()} & set(held)
