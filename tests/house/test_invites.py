"""Getting into a room: invites, guests, and hosts of the house."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import BadArgs, Conflict, PermissionDenied, StorageFailed, Unauthorized, UnknownAsset, UnknownRoom
from cohabit.house.house import House
from cohabit.testing.clock import FakeClock

from .making import (
    HOST,
    TOKENS_MADE,
    Client,
    HeldStore,
    a_moment,
    back_again,
    invite,
    issue,
    make_room,
    newcomer,
    open_house,
    player,
    recorded,
    stored_room,
)  # fmt: skip


def handles(house: House, room: str = "den") -> list[str]:
    return [member.handle for member in house.rooms[room].room.state.members.values()]


def ledger(house: House) -> list[str]:
    """What the record of the house tells."""
    return [told.text for line in house.ledger.runner.room.record.tail for told in line.entry.told]


# -- pending ----------------------------------------------------------------------------------------
async def test_an_invite_is_pending_until_it_is_accepted() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), HOST)
        cy = await invite(who["hostess"], "cy", role="player", claim="auto:1", name="Cyrus")
        assert handles(house) == ["ann", "hostess"]
        (line,) = (await who["hostess"]("invites")).invites
        assert (line.member, line.role, line.claim, line.uses) == ("cy", "player", "auto:1", 1)
        joined = await cy("join")
        assert (joined.member, joined.role, joined.seat) == ("cy", "player", "blue")
        me = await Client(house, "den", "cy", joined.token)("whoami")
        assert (me.handle, me.name, me.role, me.kind, me.seat) == ("cy", "Cyrus", "player", "agent", "blue")
        (line,) = (await who["hostess"]("invites")).invites
        assert (line.uses, line.members) == (0, ["cy"])


async def test_the_holder_of_a_pending_invite_can_join_and_do_nothing_else() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await make_room(house, room="other", guests=True)
        cy = await invite(who["hostess"], "cy", role="host")
        for name in ("whoami", "view", "invite", "events", "nonsense"):
            with pytest.raises(UnknownRoom, match="join"):
                await cy(name)
        cy.room = "other"
        with pytest.raises(UnknownRoom):
            await cy("join")
        credential = house.identify(cy.token)
        with pytest.raises(UnknownRoom):
            await house.subscribe(credential, "den")
        assert [line.id for line in (await house.call(credential, None, "rooms")).rooms] == ["den"]
        with pytest.raises(Unauthorized, match="join"):
            await house.call(credential, None, "rotate_token")
        offered = {offer.name for offer in (await house.call(credential, None, "capabilities")).commands}
        assert offered == {"join", "rooms", "worlds", "capabilities", "schemas", "introduction"}


async def test_an_invite_survives_a_restart_and_so_does_its_acceptance(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        cy = await invite(who["hostess"], "cy")
    async with open_house(tmp_path) as house:
        assert len((await back_again(house, who)["hostess"]("invites")).invites) == 1
        cy = await Client(house, "den", "cy", cy.token).join()
    async with open_house(tmp_path) as house:
        assert (await Client(house, "den", "cy", cy.token)("whoami")).handle == "cy"
        (line,) = (await back_again(house, who)["hostess"]("invites")).invites
        assert (line.uses, line.members) == (0, ["cy"])


async def test_invites_are_listed_in_the_order_in_which_they_were_made_also_after_a_restart(tmp_path: Path) -> None:
    made = [f"e{number}" for number in range(8)]
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        for name in made:
            await house.clock.advance(1)
            await invite(who["hostess"], name)
        assert [line.member for line in (await who["hostess"]("invites")).invites] == made
    async with open_house(tmp_path) as house:
        assert [line.member for line in (await back_again(house, who)["hostess"]("invites")).invites] == made


async def test_an_invite_can_be_accepted_until_it_expires_and_its_member_stays() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        early = await invite(who["hostess"], "early", expires_in_s=10)
        late = await invite(who["hostess"], "late", expires_in_s=10)
        await clock.advance(9_999)
        early = await early.join()
        await clock.advance(1)
        with pytest.raises(Unauthorized, match="expired"):
            await late("join")
        assert (await early("whoami")).handle == "early"
        assert [line.members for line in (await who["hostess"]("invites")).invites] == [["early"]]


async def test_a_revoked_invite_cannot_be_accepted_and_members_who_accepted_it_are_removed(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        shared = await invite(who["hostess"], "visitor", uses=3)
        members = [await shared.join(), await shared.join()]
        stays = await newcomer(who["hostess"], "cy")
        line = (await who["hostess"]("invites")).invites[0]
        assert (line.member, line.uses, line.members) == ("visitor", 1, ["visitor", "visitor-2"])
        revoked = await who["hostess"]("revoke_invite", {"invite": line.invite})
        assert revoked.removed == ["visitor", "visitor-2"]
        for gone in (shared, *members):
            with pytest.raises(Unauthorized):
                await gone("join")
        assert handles(house) == ["ann", "bob", "hostess", "cy"]
        assert (await stays("whoami")).handle == "cy"
        told = recorded(house.rooms["den"], "invite_revoked")[0].told
        assert [t.text for t in told] == ["hostess revoked the invite for visitor and removed visitor, visitor-2"]
        with pytest.raises(UnknownAsset):
            await who["hostess"]("revoke_invite", {"invite": line.invite})
    async with open_house(tmp_path) as house:
        for gone in (shared, *members):
            with pytest.raises(Unauthorized):
                house.identify(gone.token)
        assert handles(house) == ["ann", "bob", "hostess", "cy"]
    assert stored_room(tmp_path).state.members.keys() == {"ann", "bob", "hostess", "cy"}


async def test_an_archived_room_keeps_its_members_and_a_revoked_invite_still_ends_their_access() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cy = await newcomer(who["hostess"], "cy")
        await who["hostess"]("archive")
        (line,) = (await who["hostess"]("invites")).invites
        await who["hostess"]("revoke_invite", {"invite": line.invite})
        assert "cy" in handles(house)
        with pytest.raises(Unauthorized):
            await cy("whoami")


async def test_a_host_cannot_revoke_the_invite_that_it_came_by() -> None:
    async with open_house() as house:
        who = await make_room(house)
        second = await newcomer(who["hostess"], "second", role="host", kind="human")
        (line,) = (await second("invites")).invites
        with pytest.raises(Conflict, match="you joined with this invite"):
            await second("revoke_invite", {"invite": line.invite})
        await who["hostess"]("revoke_invite", {"invite": line.invite})
        assert "second" not in handles(house)


async def test_a_call_that_waits_ends_when_the_invite_of_its_caller_is_revoked() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cy = await newcomer(who["hostess"], "cy")
        waiting = asyncio.create_task(cy("recv_messages", {"wait_ms": 30_000}))
        await a_moment()
        reader = await cy.reader()
        (line,) = (await who["hostess"]("invites")).invites
        await who["hostess"]("revoke_invite", {"invite": line.invite})
        with pytest.raises(Unauthorized, match="revoked"):
            await waiting
        await reader.task
        assert reader.ended is not None
        assert reader.ended.code == "UNAUTHORIZED"


# -- grants -------------------------------------------------------------------------------------------
async def test_an_invite_can_give_an_exact_grant_instead_of_a_role() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cy = await newcomer(who["hostess"], "cy", may=["watch", "send_broadcast"])
        grant = (await cy("whoami")).grant
        assert (grant["perceive"], grant["act"]) == (["watch"], ["send_broadcast"])
        for wrong, error in (({"may": ["read_all"]}, PermissionDenied), ({"may": ["fly"]}, BadArgs),
                             ({"may": ["watch"], "role": "player"}, BadArgs)):  # fmt: skip
            with pytest.raises(error):
                await who["hostess"]("invite", {"id": "dee", **wrong})


async def test_an_invite_with_an_exact_grant_is_worth_nothing_when_its_author_has_lost_a_part_of_it() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), HOST, {"id": "second", "role": "host"})
        invites = [await invite(who["second"], name, may=[may]) for name, may in (("cy", "speak"), ("dee", "watch"))]
        await who["hostess"]("narrow", {"member": "second", "may": ["speak"]})
        with pytest.raises(PermissionDenied, match="speak"):
            await invites[0]("join")
        assert (await invites[1]("join")).member == "dee"


@pytest.mark.parametrize("how", [{"may": ["watch", "read_chat"]}, {"kind": "human"}])
async def test_the_permissions_of_a_member_end_when_the_invite_says_so(how: dict[str, Any]) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        cy = await newcomer(who["hostess"], "cy", member_expires_in_s=60, **how)
        await clock.advance(59_999)
        assert (await cy("whoami")).grant["perceive"]
        await clock.advance(1)
        grant = (await cy("whoami")).grant
        assert (grant["perceive"], grant["act"]) == ([], [])
        with pytest.raises(Conflict, match="cy joined with have expired; grant new ones"):
            await who["hostess"]("clear_grant", {"member": "cy"})
        await who["hostess"]("grant", {"member": "cy", "may": ["watch"]})
        assert (await cy("whoami")).grant["perceive"] == ["watch"]


async def test_an_open_connection_with_an_invite_is_told_when_the_invite_is_revoked() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cy = await invite(who["hostess"], "cy")
        told: list[str] = []
        house.identities.until_invalid(house.clock, house.identify(cy.token), lambda: told.append("revoked"))
        (line,) = (await who["hostess"]("invites")).invites
        await who["hostess"]("revoke_invite", {"invite": line.invite})
        assert told == ["revoked"]


async def test_each_who_accepts_a_shared_invite_may_choose_a_name_and_nobody_the_name_of_another_invite() -> None:
    async with open_house() as house:
        who = await make_room(house)
        shared = await invite(who["hostess"], "guest", uses=3, kind="human")
        with pytest.raises(BadArgs, match="name"):
            await shared("join", {"name": "a\u0000b"})
        joined = [await shared("join", {"name": name}) for name in ("Mia (the first)", "hostess", "  ")]
        assert [member.member for member in joined] == ["Mia-the-first", "hostess-2", "guest"]
        members = {m.handle: m.name for m in (await who["hostess"]("roster")).members}
        assert (members["Mia-the-first"], members["hostess-2"], members["guest"]) == (
            "Mia (the first)",
            "hostess",
            "guest",
        )
        single = await invite(who["hostess"], "cy", name="Cyrus")
        assert (await single("join", {"name": "hostess"})).member == "cy"


async def test_a_shared_invite_makes_a_member_with_a_token_of_its_own_for_each_use() -> None:
    async with open_house() as house:
        who = await make_room(house)
        shared = await invite(who["hostess"], "guest", uses=2, kind="human")
        first, second = await shared.join(), await shared.join()
        TOKENS_MADE.extend([first.token, second.token])
        assert len({shared.token, first.token, second.token}) == 3
        assert [(await c("whoami")).handle for c in (first, second)] == ["guest", "guest-2"]
        with pytest.raises(Unauthorized):
            await shared("join")


async def test_two_connections_that_accept_one_invite_at_once_are_one_member() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        cy = await invite(who["hostess"], "cy")
        store.go.clear()
        joins = [asyncio.create_task(cy("join")) for _ in range(5)]
        await a_moment()
        store.go.set()
        results = await asyncio.gather(*joins, return_exceptions=True)
        assert sum(not isinstance(r, BaseException) for r in results) >= 1
        assert all(isinstance(r, Unauthorized) for r in results if isinstance(r, BaseException))
        assert handles(house).count("cy") == 1
        assert "cy-2" not in handles(house)


async def test_an_acceptance_that_could_not_be_written_leaves_the_invite_as_it_was() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        cy = await invite(who["hostess"], "cy")
        store.failing = True
        with pytest.raises(StorageFailed):
            await cy("join")
        store.failing = False
        assert handles(house) == ["ann", "bob", "hostess"]
        assert (await cy.join()).who == "cy"


async def test_an_acceptance_that_could_not_be_written_uses_up_nothing_of_a_shared_invite() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        crowd = await invite(who["hostess"], "cy", uses=2)
        store.failing = True
        with pytest.raises(StorageFailed):
            await crowd("join")
        store.failing = False
        for left in (2, 1):
            assert [line.uses for line in (await who["hostess"]("invites")).invites] == [left]
            await crowd.join()
        assert [line.members for line in (await who["hostess"]("invites")).invites] == [["cy", "cy-2"]]
        with pytest.raises(Unauthorized):
            await crowd("join")


# -- refused ----------------------------------------------------------------------------------------
async def test_an_invite_that_cannot_be_accepted_is_refused_when_it_is_made() -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(PermissionDenied):
            await who["ann"]("invite", {"id": "cy"})
        for args, error in (
            ({"id": "cy", "role": "king"}, BadArgs), ({"id": "a/b"}, BadArgs), ({"id": "a#2"}, BadArgs),
            ({"id": "cy", "claim": "auto:0"}, Conflict), ({"id": "cy", "team": "none"}, BadArgs),
            ({"id": "cy", "uses": 2, "claim": "auto:3"}, BadArgs), ({"id": "cy", "uses": 0}, BadArgs),
            ({"id": "cy", "role": "player", "claim": "auto:99"}, BadArgs),
            ({"id": "cy", "role": "god"}, PermissionDenied), ({"id": "cy", "role": "observer"}, PermissionDenied),
        ):  # fmt: skip
            with pytest.raises(error):
                await who["hostess"]("invite", args)
        assert (await who["hostess"]("invites")).invites == []


async def test_a_full_room_accepts_nobody_and_the_invite_can_be_used_when_there_is_space() -> None:
    async with open_house(members_limit=4) as house:
        who = await make_room(house)
        cy, dee = await invite(who["hostess"], "cy"), await invite(who["hostess"], "dee")
        await cy("join")
        with pytest.raises(PermissionDenied, match="full"):
            await dee("join")
        await who["hostess"]("remove_member", {"member": "cy"})
        assert (await dee("join")).member == "dee"


async def test_an_invite_whose_seat_was_claimed_meanwhile_is_a_conflict_and_stays_open() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), HOST)
        first = await invite(who["hostess"], "cy", role="player", claim="auto:1")
        second = await invite(who["hostess"], "dee", role="player", claim="auto:1")
        await first("join")
        with pytest.raises(Conflict):
            await second("join")
        await who["hostess"]("remove_member", {"member": "cy"})
        assert (await second("join")).seat == "blue"


@pytest.mark.parametrize("change", ["removed", "narrowed"])
async def test_an_invite_is_worth_nothing_when_its_author_can_no_longer_invite(change: str) -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), HOST, {"id": "second", "role": "host"})
        cy = await invite(who["second"], "cy")
        if change == "removed":
            await who["hostess"]("remove_member", {"member": "second"})
        else:
            await who["hostess"]("narrow", {"member": "second", "may": ["manage_members"]})
        with pytest.raises(PermissionDenied, match="can no longer invite"):
            await cy("join")


# -- on record --------------------------------------------------------------------------------------
async def test_creating_accepting_and_revoking_an_invite_is_on_the_record_of_the_house() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await (await invite(who["hostess"], "cy", role="player")).join()
        await invite(who["hostess"], "dee")
        line = (await who["hostess"]("invites")).invites[1]
        await who["hostess"]("revoke_invite", {"invite": line.invite})
        assert [text for text in ledger(house) if "invite" in text] == [
            "room den: hostess's invite for cy (player) was created",
            "room den: hostess's invite for cy (player) was accepted",
            "room den: hostess's invite for dee was created",
            "room den: hostess's invite for dee was revoked",
        ]


# -- guests and hosts -------------------------------------------------------------------------------
async def test_a_guest_joins_a_room_that_takes_guests_and_only_such_a_room() -> None:
    async with open_house() as house:
        await make_room(house, room="shut")
        await make_room(house, room="open", guests=True)
        guest, person = await issue(house, "gus", "shut"), await issue(house, "pia", "open", kind="human")
        for name in ("whoami", "join"):
            with pytest.raises(UnknownRoom):
                await guest(name)
        guest.room = "open"
        with pytest.raises(UnknownRoom, match="join"):
            await guest("whoami")
        assert (await guest("join")).role == "agent"
        assert (await person("join")).role == "human"
        assert [line.id for line in (await house.call(house.identify(guest.token), None, "rooms")).rooms] == ["open"]


async def test_joining_again_changes_nothing() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        zoe = await issue(house, "zoe")
        first = await zoe("join")
        before = house.rooms["den"].room.record.seq
        assert await zoe("join") == first
        assert (await who["ann"]("join")).member == "ann"
        assert house.rooms["den"].room.record.seq == before


async def test_a_host_of_the_house_enters_every_room_as_a_host_and_creates_rooms() -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(PermissionDenied, match="requires a host token for this house"):
            await who["hostess"]("create_room", {"world": "nim"})
        boss = await issue(house, "boss", host=True)
        assert (await boss("join")).role == "host"
        credential = house.identify(boss.token)
        made = await house.call(credential, None, "create_room", {"world": "nim", "players": ["x", "y"]})
        TOKENS_MADE.extend(made.tokens.values())
        assert sorted(made.tokens) == ["x", "y"]
        me = await house.call(credential, made.room, "whoami")
        assert (me.role, me.handle) == ("host", "boss")


async def test_a_room_that_could_never_begin_is_not_created() -> None:
    async with open_house() as house:
        boss = house.identify((await issue(house, "boss", host=True)).token)
        with pytest.raises(BadArgs, match=r'nim needs 2 players: pass their names, such as players=\["ada", "bob"\]'):
            await house.call(boss, None, "create_room", {"world": "nim"})
        with pytest.raises(BadArgs, match=r"worlds: .*nim") as unknown:
            await house.call(boss, None, "create_room", {"world": "nimm"})
        assert unknown.value.did_you_mean == ["nim"]


async def test_a_room_of_kingdoms_needs_no_players() -> None:
    async with open_house() as house:
        boss = house.identify((await issue(house, "boss", host=True)).token)
        assert (await house.call(boss, None, "create_room", {"world": "kingdoms", "room": "land"})).room == "land"


async def test_an_identity_that_belongs_to_no_room_is_told_of_none() -> None:
    async with open_house() as house:
        who = await make_room(house)
        stranger = await issue(house, "zoe")
        assert (await house.call(house.identify(stranger.token), None, "rooms")).rooms == []
        with pytest.raises(UnknownRoom) as there:
            await stranger("view")
        stranger.room = "nowhere"
        with pytest.raises(UnknownRoom) as nowhere:
            await stranger("view")
        assert there.value.message.replace("den", "") == nowhere.value.message.replace("nowhere", "")
        assert (await newcomer(who["hostess"], "zoe")).who == "zoe"


async def test_a_link_has_a_short_code_that_stands_for_the_signed_token(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "eve", "role": "player", "uses": 2})
        assert made.link == f"/?room=den#{made.code}"
        assert len(made.code) <= 40
        assert len(made.token) > 200
        lines = (await Client(house, "den", "eve", made.code)("rooms")).rooms
        assert [(line.id, line.invite.shared) for line in lines] == [("den", True)]
        joined = await Client(house, "den", "eve", made.code)("join", {"name": "eve"})
        assert joined.status == "joined"
    async with open_house(tmp_path) as house:
        by_token = await Client(house, "den", "eli", made.token)("join", {"name": "eli"})
        assert by_token.status == "joined"
        for used_up in (made.code, made.token):
            with pytest.raises(Unauthorized, match="used up"):
                house.identify(used_up)
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(made.code.encode() in data for data in files), "only its hash is stored"


async def test_a_revoked_invite_ends_its_code(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "eve"})
        await who["hostess"]("revoke_invite", {"invite": made.invite})
        with pytest.raises(Unauthorized, match="revoked"):
            house.identify(made.code)
        await house.delete_room("den")
        with pytest.raises(Unauthorized, match="invalid token"):
            house.identify(made.code)
