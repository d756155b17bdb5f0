"""Several houses on one database: which of them has a room, which leads, and what becomes of those that stop."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from tests.house.nodes.cluster import scenario
from tests.house.nodes.houses import Cluster, Member

from cohabit.errors import Busy, CohabitError, Quarantined, StorageFailed, Unauthorized
from cohabit.house.calls import across
from cohabit.house.directory import FRONT, HOUSE_RECORD, MOVING, name_elsewhere, place_of
from cohabit.house.nodes.houses import GRACE_S, Houses
from cohabit.house.nodes.placement import STRIKES
from cohabit.house.nodes.temporary_tokens import TemporaryTokens
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import OPERATOR
from cohabit.house.store.validity import boot_time
from cohabit.model.identity import Identity


async def test_every_house_knows_where_every_room_is_when_its_creation_is_answered(cluster: Cluster) -> None:
    ours, theirs = await cluster.open(), await cluster.open(2)
    await cluster.look()
    await ours.nodes.houses["w1"].create_room(scenario(), "den")
    await theirs.nodes.houses["w2"].create_room(scenario(), "attic")
    assert (ours.table.holder("den"), ours.table.holder("attic")) == ("w1", name_elsewhere(theirs.place, "w2"))
    assert (theirs.table.holder("den"), theirs.table.holder("attic")) == (name_elsewhere(ours.place, "w1"), "w2")
    await cluster.look()
    assert theirs.table.holder("den") == name_elsewhere(ours.place, "w1"), "a survey says the same"
    assert theirs.table.socket_of(theirs.table.rooms["den"]) == f"tcp://127.0.0.1:9001/{ours.place}/w1"
    assert ours.table.nodes() == ["w1", name_elsewhere(theirs.place, "w1"), name_elsewhere(theirs.place, "w2")]
    assert ours.table.place() == name_elsewhere(theirs.place, "w1"), "a new room goes where the fewest are"


async def test_the_first_house_leads_and_when_it_ends_another_one_does_and_opens_its_rooms(cluster: Cluster) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    assert theirs.table.holder(HOUSE_RECORD) == name_elsewhere(ours.place, FRONT)
    for room in "abc":
        await ours.nodes.houses["w1"].create_room(scenario(), room)
    await cluster.ends(ours)
    assert theirs.rooms == ["a", "b", "c"]
    assert theirs.table.holder(HOUSE_RECORD) == FRONT
    assert theirs.front.ledger.is_here
    assert theirs.table.nodes() == ["w1"], "nobody is asked who is gone"


async def test_what_a_house_that_follows_writes_to_the_house_record_is_written_by_the_one_that_leads(
    cluster: Cluster,
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    _, tokens = await theirs.nodes.houses["w1"].create_room(scenario(), "den")
    before = ours.front.ledger.runner.room.record.seq
    invited = await theirs.nodes.call(tokens["hostess"], "den", "invite", {"id": "cat", "role": "player"})
    assert ours.front.ledger.runner.room.record.seq == before + 1
    for house in (ours.front, theirs.front, *ours.nodes.houses.values(), *theirs.nodes.houses.values()):
        assert house.identify(invited.token).room == "den"
    theirs.cluster.tell({HOUSE_RECORD: MOVING})
    with pytest.raises(Busy, match="try again"):
        await theirs.nodes.call(tokens["hostess"], "den", "invite", {"id": "dog", "role": "player"})


async def test_a_new_house_gets_its_share_of_the_rooms_in_which_nobody_is_disturbed(cluster: Cluster) -> None:
    ours = await cluster.open()
    for room in "abcd":
        await ours.nodes.houses["w1"].create_room(scenario(), room)
    theirs = await cluster.open()
    await cluster.look()
    await cluster.look()
    assert (len(ours.rooms), len(theirs.rooms)) == (2, 2)
    assert sorted(ours.rooms + theirs.rooms) == list("abcd")
    assert all(place_of(ours.table.rooms[room]) == theirs.place for room in theirs.rooms)


async def test_rooms_that_travel_together_come_together_in_one_house(cluster: Cluster) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    for member, room in ((ours, "nexus"), (ours, "game"), (theirs, "other")):
        await member.nodes.houses["w1"].create_room(scenario(), room)
        member.cluster.travels("w1", [room])
    for _ in range(3):  # they are marked, given, taken
        await cluster.look()
    assert (ours.rooms, theirs.rooms) == (["game", "nexus", "other"], [])


async def test_rooms_that_travel_are_taken_over_by_one_house(cluster: Cluster) -> None:
    ours, *others = [await cluster.open() for _ in range(3)]
    await cluster.look()
    for room in ("game", "nexus"):
        await ours.nodes.houses["w1"].create_room(scenario(), room)
    ours.cluster.travels("w1", ["game", "nexus"])
    await cluster.look()
    await cluster.ends(ours)
    assert sorted(member.rooms for member in others) == [[], ["game", "nexus"]]


async def test_a_room_that_kills_its_processes_stays_closed_in_all_houses_until_a_host_reopens_it(
    cluster: Cluster,
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    await ours.nodes.houses["w1"].create_room(scenario(), "bad")
    for number in range(STRIKES):
        await ours.nodes.start()
        await ours.nodes.kill(f"w{number + 1}", "bad")
    await cluster.look()
    assert isinstance(ours.front.broken["bad"], Quarantined)
    assert (theirs.rooms, theirs.table.holder("bad")) == ([], name_elsewhere(ours.place, FRONT))
    await ours.cluster.reopen("bad")
    await cluster.look()
    assert "bad" in ours.rooms + theirs.rooms


async def test_a_house_that_is_stopped_hands_over_its_rooms_and_its_lead(cluster: Cluster) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    for room in "abc":
        await ours.nodes.houses["w1"].create_room(scenario(), room)
    looking = [asyncio.ensure_future(member.houses.run()) for member in (ours, theirs)]
    try:
        await ours.houses.drain()
        for _ in range(100):  # what was handed over is opened there, which takes a while on a busy machine
            if len(theirs.rooms) == 3:
                break
            await theirs.look()
    finally:
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
    assert (ours.rooms, theirs.rooms) == ([], ["a", "b", "c"])
    assert {place_of(ours.table.rooms[room]) for room in ("a", "b", "c", HOUSE_RECORD)} == {theirs.place}
    assert ours.front.readiness.reasons()
    await theirs.look()
    assert theirs.front.ledger.is_here
    assert not ours.front.ledger.is_here
    await theirs.look()
    assert theirs.table.place() == "w1", "no new room goes to a house that is being stopped"
    assert ours.table.place() == name_elsewhere(theirs.place, "w1"), "it places none in itself either"


async def test_a_house_that_could_not_reach_the_database_does_not_take_over_from_others_that_could_not_either(
    cluster: Cluster,
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    await ours.nodes.houses["w1"].create_room(scenario(), "den")
    validity = theirs.front.validity
    assert validity is not None
    before = validity.until
    for until in (0.0, before):  # its lease ends, and it gets another one
        validity.extend("lease", until)
    await cluster.end_leases(ours)
    await theirs.look()
    assert (theirs.rooms, theirs.front.ledger.is_here) == ([], False), "the other one may be about to renew its leases"
    validity.now = lambda: boot_time() + GRACE_S
    await theirs.look()
    assert (theirs.rooms, theirs.front.ledger.is_here) == (["den"], True)


async def test_two_houses_that_take_the_same_room_at_once_do_not_fight(cluster: Cluster) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    await ours.nodes.houses["w1"].create_room(scenario(), "den")
    theirs.cluster.take("den")
    await theirs.cluster.settled()
    await cluster.look()
    assert (ours.rooms, theirs.rooms) == (["den"], [])
    assert "den" not in theirs.front.broken
    assert theirs.table.holder("den") == name_elsewhere(ours.place, "w1")


async def test_the_token_of_an_operator_is_valid_in_all_houses_as_long_as_its_own_runs(cluster: Cluster) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    token = ours.front.operator_token()
    await cluster.look()
    for house in (theirs.front, *theirs.nodes.houses.values()):
        await settle(theirs)
        assert house.identities.is_host(house.identify(token))
    await cluster.ends(ours)
    await settle(theirs)
    for house in (theirs.front, *theirs.nodes.houses.values()):
        with pytest.raises(Unauthorized):
            house.identify(token)


async def test_the_token_of_an_operator_ends_when_its_house_is_killed_and_starts_again_within_its_lease(
    cluster: Cluster,
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    of_ours, before = ours.front.operator_token(), theirs.front.operator_token()
    await cluster.look()
    theirs.front.identities.forget(OPERATOR.id)  # as a process that has just started
    theirs.houses = Houses(theirs.front, theirs.cluster, theirs.store)
    after = theirs.front.operator_token()
    await cluster.look()
    await cluster.look()
    for house in (ours.front, theirs.front):
        assert house.identify(of_ours).identity == house.identify(after).identity == OPERATOR.id
        with pytest.raises(Unauthorized):
            house.identify(before)


async def test_the_token_of_an_operator_is_valid_again_after_its_house_was_cut_off_for_a_while(
    cluster: Cluster,
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    token = ours.front.operator_token()
    await cluster.look()
    await theirs.front.services.need(TemporaryTokens).share({})  # no other house has a lease at this moment
    with pytest.raises(Unauthorized):
        theirs.front.identify(token)
    await cluster.look()
    await settle(theirs)
    for house in (theirs.front, *theirs.nodes.houses.values()):
        assert house.identities.is_host(house.identify(token))


async def settle(member: Member) -> None:
    """Its workers have done what they were told before."""
    with suppress(CohabitError):
        await asyncio.gather(*(link.ask("ping") for link in member.cluster.links.values()))


async def test_a_room_whose_opening_meets_a_restart_of_the_database_is_opened_a_little_later(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await cluster.look()
    await ours.nodes.houses["w1"].create_room(scenario(), "den")
    await cluster.look()
    monkeypatch.setattr("cohabit.house.nodes.cluster.AGAIN_S", (0.0, 0.0))
    store, failures = theirs.store, 2
    snapshots = store.snapshots

    def failing(room: str) -> list[bytes]:
        nonlocal failures
        if room == "den" and failures:
            failures -= 1
            raise StorageFailed("the database restarts")
        return snapshots(room)

    monkeypatch.setattr(store, "snapshots", failing)
    await cluster.ends(ours)
    assert (failures, theirs.rooms, theirs.table.holder("den")) == (0, ["den"], "w1")
    assert not theirs.nodes.houses["w1"].broken


async def test_a_house_that_does_not_answer_keeps_nobody_from_taking_over(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, dead, paused = await cluster.open(), await cluster.open(), await cluster.open()
    await cluster.look()
    await dead.nodes.houses["w1"].create_room(scenario(), "den")
    others = ours.front.services.own[across.Nodes]
    ask = others.ask

    async def asked(node: str, *given: Any, **more: Any) -> Any:
        if place_of(node) == paused.place:
            await asyncio.Event().wait()
        return await ask(node, *given, **more)

    monkeypatch.setattr(others, "ask", asked)
    monkeypatch.setattr("cohabit.house.nodes.temporary_tokens.TELL_S", 0.0)
    ours.front.operator_token()
    await ours.look()
    await cluster.end_leases(dead)
    await cluster.end_leases(paused)
    await ours.look()
    assert ours.rooms == ["den"]


async def test_a_house_that_dies_is_missed_when_its_lease_ends_although_nobody_says_so(cluster: Cluster) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await theirs.nodes.houses["w1"].create_room(scenario(), "den")
    soon = "update houses set until = clock_timestamp() + interval '200 milliseconds' where place = %s"
    await cluster.execute(soon, theirs.place)
    await ours.look()
    ours.cluster.replicas.on_news.clear()  # neither a notification nor a renewal of its own
    looking = asyncio.ensure_future(ours.houses.run())
    try:
        async with asyncio.timeout(20):
            while ours.rooms != ["den"]:
                await asyncio.sleep(0.01)
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
    assert ours.table.holder("den") == "w1"


async def test_a_house_knows_what_another_one_has_changed_before_it_opens_a_room_of_that_one(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = await cluster.open(), await cluster.open()
    await theirs.nodes.houses["w1"].create_room(scenario(), "den")
    await ours.look()
    monkeypatch.setattr("cohabit.house.nodes.following.Following._heard", lambda self, news: None)
    theirs.cluster.give("den", ours.place)
    await theirs.cluster.settled()
    guest = Identity("i-new", "Gus")
    await asyncio.to_thread(theirs.store.commit, [Write(identities=[guest])])
    knows: list[bool] = []
    monkeypatch.setattr(
        ours.cluster, "take", lambda room: knows.append(ours.front.identities.get(guest.id) is not None)
    )
    await ours.look()
    assert knows == [True]
