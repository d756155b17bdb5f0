"""Identities that exist only for a room are deleted with it, in the store and in memory. All others stay."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import StorageFailed, Unauthorized
from cohabit.house.house import House
from cohabit.house.lifecycle.own_data import Forgetting
from cohabit.house.running.egress import VISITORS, RoomEgress
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import OPERATOR
from cohabit.house.store.memory import MemoryStore
from cohabit.model.identity import Credential, Identity

from .making import ANN, BOB, HOST, Client, a_moment, issue, make_room, newcomer, open_house


def kept(house: House) -> dict[str, Any]:
    """What the house has of identities, in memory and in the store."""
    known, store = house.identities, house.store
    return {
        "identities": sorted(one.id for one in known.everybody()),
        "credentials": sorted(known._credentials),
        "by identity": sorted(known._by_identity),
        "invites": sorted(known._invites),
        "codes": sorted(known._codes),
        "unused": sorted(known._unused),
        "stored": [one.id for one in store.identities()],
        "stored credentials": [one.hash for one in store.credentials()],
        "stored invites": [one.id for one in store.invites()],
        "own data": sorted(house.services.need(Forgetting)._members),
        "sent": sorted(house.ledger.runner.egress.accounts.keys() - {VISITORS}),
        "watchers": sorted(known._watchers),
    }


async def seen_it_all(host: Client) -> None:
    """Members join a room by an invite, by a link and for a seat, leave, are removed, and ask for what is kept."""
    await host("invite", {"id": "nobody"})
    visitor = await newcomer(host, "visitor")
    await visitor("my_data")
    await newcomer(host, "unused")  # its token is never used
    left = await newcomer(host, "left")
    await left("leave")
    await host("watch_link")  # somebody joins, and keeps the token of the invite
    removed = await newcomer(host, "removed")
    await removed("rotate_token")
    await host("remove_member", {"member": "removed", "block": True})
    await host.reader()
    await a_moment()


def id_of(client: Client) -> str:
    return client.house.identify(client.token).identity


@pytest.mark.parametrize("on_disk", [False, True])
async def test_nothing_of_the_members_of_a_deleted_room_is_left(tmp_path: Path, on_disk: bool) -> None:
    folder = tmp_path if on_disk else None
    async with open_house(folder) as house:
        boss = await issue(house, "boss", host=True)
        await boss("rooms")
        before = kept(house)
        for room in ("den", "attic"):
            players = {"players": ["ann", "bob"], "people": ["bob"], "brains": {"ann": "random"}}
            made = await house.call(house.identify(boss.token), None, "create_room", {"world": "nim", "room": room, **players})  # fmt: skip
            host = Client(house, room, "boss", boss.token)
            await seen_it_all(host)
            await Client(house, room, "bob", made.tokens["bob"])("my_data")
            assert len(kept(house)["stored"]) > len(before["stored"])
            await host("delete_room", {"confirm": room})
            await a_moment()
            assert kept(house) == before
            with pytest.raises(Unauthorized, match="invalid token"):
                house.identify(made.tokens["bob"])
    if on_disk:
        async with open_house(folder) as house:
            assert [one.id for one in house.identities.everybody()] == before["stored"]


async def test_an_identity_that_another_record_names_stays_until_nothing_is_left_of_it() -> None:
    async with open_house() as house:
        members = await make_room(house, ANN, BOB, HOST)
        ann, bob = id_of(members["ann"]), id_of(members["bob"])
        await make_room(house, {**ANN, "identity": ann}, BOB, HOST, room="attic")
        await house.delete_room("den")
        assert (house.identities.get(ann), house.identities.get(bob)) == (Identity(ann, "ann"), None)
        assert ann in [one.id for one in house.store.identities()]


async def test_an_identity_with_a_token_for_another_room_stays_until_that_is_deleted_too() -> None:
    async with open_house() as house:
        ann = id_of((await make_room(house))["ann"])
        await make_room(house, {**ANN, "identity": ann}, BOB, HOST, room="attic")
        key = Credential(b"another", ann, "attic", revoked=True)
        await house.writer.submit(Write(credentials=[key]))
        house.identities.put_credential(key)
        await house.delete_room("den")
        assert house.identities.get(ann) is not None
        await house.delete_room("attic")
        assert house.identities.get(ann) is None
        assert ann not in [one.id for one in house.store.identities()]


KEPT: dict[str, dict[str, Any]] = {
    "a host of the house": {"host": True},
    "one that is being deleted": {"forgotten": ("ann",)},
    "a key that is barred from a room": {"barred": {"attic": ""}},
}


@pytest.mark.parametrize("what", KEPT)
async def test_an_identity_with_an_order_of_its_own_stays(what: str) -> None:
    async with open_house() as house:
        ann = id_of((await make_room(house))["ann"])
        who = Identity(ann, "ann", **KEPT[what])
        await house.writer.submit(Write(identities=[who]))
        house.identities.put(who)
        await house.delete_room("den")
        assert house.identities.get(ann) == who
        assert who in house.store.identities()


async def test_an_identity_that_the_nexus_knows_stays() -> None:
    async with open_house() as house:
        ann = id_of((await make_room(house))["ann"])
        await house.writer.submit(Write(profiles=[(ann, b"traveller")]))
        await house.delete_room("den")
        assert house.identities.get(ann) is not None
        assert house.store.profile(ann) == b"traveller"


async def test_the_owner_of_an_identity_that_stays_stays_too() -> None:
    async with open_house() as house:
        members = await make_room(house)
        host = members["hostess"]
        await newcomer(host, "pet")
        other = Identity("i-00000000000000aa", "elsewhere", owner=id_of(members["bob"]))
        await house.writer.submit(Write(identities=[other]))
        house.identities.put(other)
        gone, stays = [id_of(members["ann"]), id_of(host)], id_of(members["bob"])
        await house.delete_room("den")
        assert [house.identities.get(one) for one in gone] == [None, None], "the owner of one that is gone goes with it"
        assert {one.id for one in house.identities.everybody()} - {OPERATOR.id} == {stays, other.id}


async def test_an_identity_of_the_house_stays() -> None:
    async with open_house() as house:
        await make_room(house, guests=True)
        guest = await issue(house, "guest")
        await guest.join()
        await house.delete_room("den")
        assert house.identify(guest.token).identity == id_of(guest)
        assert {one.name for one in house.store.identities()} == {"guest", "operator"}


class NoDeleting(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        if any(write.delete for write in writes):
            raise StorageFailed("the disk is full")
        super().commit(writes)


async def test_a_room_that_could_not_be_deleted_keeps_its_identities() -> None:
    async with open_house(store=NoDeleting()) as house:
        members = await make_room(house)
        before = kept(house)["identities"]
        with pytest.raises(StorageFailed):
            await house.delete_room("den")
        assert kept(house)["identities"] == before
        assert house.identify(members["ann"].token).identity in before


async def test_deleting_a_room_looks_once_at_each_other_room_however_many_members_it_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    forget = RoomEgress.forget

    def counted(egress: RoomEgress, identities: frozenset[str]) -> None:
        looked.append(egress.id)
        forget(egress, identities)

    monkeypatch.setattr(RoomEgress, "forget", counted)
    async with open_house() as house:
        await make_room(house, room="other")
        many = [{"id": f"guest{n}", "role": "observer"} for n in range(20)]
        host = (await make_room(house, HOST, *many))["hostess"]
        gone = id_of(host)
        await house.rooms.delete("den")
        assert house.identities.get(gone) is None
    assert looked.count("other") == 1
