"""What an attacker with a token of its own tried: races, loans, old saves and invites, slow readers, long waits."""

import asyncio
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import (  # fmt: skip
    BadArgs,
    CohabitError,
    GameRejected,
    Internal,
    PermissionDenied,
    ScopeViolation,
    Unauthorized,
)
from cohabit.house.house import House
from cohabit.house.running.calls import PeekCall
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import new_identity
from cohabit.testing.clock import FakeClock

from .making import (
    ANN,
    BOB,
    GOD,
    HOST,
    OWL,
    REFUSALS,
    TOKENS_MADE,
    Client,
    HeldStore,
    a_moment,
    at_rest,
    deeds,
    invite,
    issue,
    make_room,
    open_house,
    player,
)  # fmt: skip

PUP = {"id": "pup"}


def started(*calls: Any) -> "list[asyncio.Task[Any]]":
    return [asyncio.ensure_future(call) for call in calls]


async def all_done(tasks: "Sequence[asyncio.Task[Any]]") -> list[Any]:
    """The results, and what was raised, in this order."""
    return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 120)


async def by_operator(house: House, command: str, **args: Any) -> Any:
    return await house.call(house.identify(house.operator_token()), None, command, args)


async def extra_token(house: House, handle: str, **how: Any) -> Client:
    """One more token for a member of the room."""
    made = await by_operator(house, "issue_credential", name=handle, room="den", **how)
    TOKENS_MADE.append(made.token)
    return Client(house, "den", handle, made.token)


def good_tokens(house: House, *tokens: str) -> list[str]:
    """Those of these tokens that still work."""
    return [token for token in tokens if house.identities.knows(token)]


def tokens_of(results: Sequence[Any]) -> list[str]:
    made = [one.token for one in results if getattr(one, "token", None)]
    TOKENS_MADE.extend(made)
    return made


# -- changes of tokens at the same time ---------------------------------------------------------------
@pytest.mark.parametrize("first", ["revoke", "rotate"])
@pytest.mark.parametrize("level", ["room", "house"])
async def test_no_token_survives_a_revocation_beside_a_rotation(level: str, first: str, tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        zoe = await issue(house, "zoe", "house")
        target = who["ann"] if level == "room" else zoe
        calls = {
            "rotate": target("rotate_token"),
            "revoke": who["hostess"]("revoke_token", {"member": "ann"})
            if level == "room"
            else by_operator(house, "revoke_credential", name="zoe"),
        }
        results = await all_done(started(*(calls[name] for name in sorted(calls, key=lambda name: name != first))))
        tokens = [target.token, *tokens_of(results)]
        assert [one.revoked for one in results if hasattr(one, "revoked")] == [1]
        assert good_tokens(house, *tokens) == []
    async with open_house(tmp_path) as house:
        assert good_tokens(house, *tokens) == []


async def test_a_member_that_rotates_its_token_all_the_time_does_not_escape_a_revocation() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        ann = who["ann"]
        revoking: list[asyncio.Task[Any]] = []

        async def rotate_again() -> None:
            ann.token = (await ann("rotate_token")).token
            TOKENS_MADE.append(ann.token)

        for _ in range(3):
            await rotate_again()
        store.go.clear()
        revoking += started(who["hostess"]("revoke_token", {"member": "ann"}))
        await a_moment()  # the revocation is on its way to the disk, and the member does not stop

        async def keep_rotating() -> None:
            for _ in range(20):
                await rotate_again()

        rotating = started(keep_rotating())
        await a_moment()
        store.go.set()
        await all_done(revoking)
        (ended,) = await all_done(rotating)
        assert isinstance(ended, Unauthorized), "it rotated its token again after the host had revoked it"
        assert good_tokens(house, ann.token) == []
        assert house.identities.of(house.rooms["den"].room.state.members["ann"].identity, "den") == []


@pytest.mark.parametrize("uses", [1, 3])
async def test_no_token_survives_a_revocation_beside_the_join_that_makes_it(uses: int) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        eve = await invite(who["hostess"], "eve", kind="human", uses=uses)
        store.go.clear()
        tasks = started(eve("join"))
        await a_moment()
        tasks += started(who["hostess"]("revoke_token", {"member": "eve"}))
        await a_moment()
        store.go.set()
        joined, revoked = await all_done(tasks)
        assert revoked.revoked == 1
        assert good_tokens(house, joined.token or eve.token) == []


# -- loans ----------------------------------------------------------------------------------------------
LENT = {"may": ["read_all"], "expires_in_s": 10}


def with_manage(command: str, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The same, where it replaces a whole grant, with the right to manage members."""
    return command, {**args, "may": [*args["may"], "manage_members"]} if command == "grant" else args


@pytest.mark.parametrize(
    ("lend", "prolong"),
    [
        (("widen", LENT), ("widen", {"may": ["read_all"]})),
        (("widen", LENT), ("widen", {"may": ["read_all"], "expires_in_s": 10_000})),
        (("widen", LENT), ("grant", {"may": ["read_all", "watch"]})),
        (("widen", LENT), ("grant", {"may": ["read_all", "watch"], "expires_in_s": 10_000})),
        (("grant", {"may": ["watch", "read_all"], "expires_in_s": 10}), ("grant", {"may": ["watch", "read_all"]})),
    ],
)
@pytest.mark.parametrize("member", ["pup", "hostess"])
async def test_a_host_cannot_prolong_a_loan_of_what_it_does_not_hold_permanently(
    member: str, lend: tuple[str, dict[str, Any]], prolong: tuple[str, dict[str, Any]]
) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, PUP)
        if member == "hostess":  # who keeps the right to give something
            lend, prolong = with_manage(*lend), with_manage(*prolong)
        await who["zeus"](lend[0], {**lend[1], "member": member})
        state = house.rooms["den"].room.state
        assert "read_all" in state.with_handle(member).held
        with pytest.raises(PermissionDenied):
            await who["hostess"](prolong[0], {**prolong[1], "member": member})
        await clock.advance(20_000)
        assert "read_all" not in state.with_handle(member).held


async def test_a_host_lends_on_what_was_lent_to_it_for_no_longer_than_it_has_it() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, PUP)
        await who["zeus"]("widen", {"member": "hostess", **LENT})
        for longer in ({}, {"expires_in_s": 11}):
            with pytest.raises(PermissionDenied):
                await who["hostess"]("widen", {"member": "pup", "may": ["read_all"], **longer})
        await who["hostess"]("widen", {"member": "pup", "may": ["read_all"], "expires_in_s": 9})
        state = house.rooms["den"].room.state
        assert "read_all" in state.with_handle("pup").held
        await clock.advance(10_000)
        assert "read_all" not in state.with_handle("pup").held


# -- a room of the same id --------------------------------------------------------------------------------
async def invited_to_a_deleted_room(house: House) -> list[Client]:
    who = await make_room(house)
    invites = [await invite(who["hostess"], "mole"), await invite(who["hostess"], "moles", uses=5)]
    await who["hostess"]("delete_room", {"confirm": "den"})
    return invites


async def test_invites_to_a_deleted_room_are_worthless_in_a_new_room_of_its_id() -> None:
    async with open_house() as house:
        await check_worthless(house, await invited_to_a_deleted_room(house))


async def test_invites_to_a_deleted_room_are_worthless_after_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        invites = await invited_to_a_deleted_room(house)
    async with open_house(tmp_path) as house:
        await check_worthless(house, [Client(house, "den", c.who, c.token) for c in invites])


async def check_worthless(house: House, invites: list[Client]) -> None:
    again = await make_room(house)
    for client in invites:
        with pytest.raises(Unauthorized):
            await client("join")
    assert (await again["hostess"]("invites")).invites == []
    assert (await again["hostess"]("session_info")).member_count == 3


@pytest.mark.parametrize("first", ["invite", "delete_room"])
@pytest.mark.parametrize("world", ["Secrets", "Stuck"])
async def test_an_invite_made_while_its_room_is_deleted_is_worthless_in_a_new_room_of_its_id(
    world: str, first: str
) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house, world=world)
        calls = [("invite", {"id": "mole"}), ("delete_room", {"confirm": "den"})]
        store.go.clear()
        tasks = []
        for name, args in sorted(calls, key=lambda call: call[0] != first):
            tasks += started(who["hostess"](name, args))
            await a_moment()
        store.go.set()
        made = tokens_of(await all_done(tasks))
        assert "den" not in house.rooms
        assert [i for i in store.invites() if i.room == "den" and not i.revoked] == []
        await check_worthless(house, [Client(house, "den", "mole", token) for token in made])


async def test_saves_of_a_deleted_room_are_not_there_in_a_new_room_of_its_id(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 4711})
        await who["hostess"]("save_world", {"name": "x"})
        await who["hostess"]("delete_room", {"confirm": "den"})
        again = await make_room(house)
        assert (await again["hostess"]("list_saves")).items == []
        with pytest.raises(BadArgs, match="unknown save 'x'"):
            await again["hostess"]("load_world", {"name": "x"})
        assert (await again["ann"]("numbers"))["red"] == []


# -- readers ----------------------------------------------------------------------------------------------
async def test_a_slow_reader_whose_queue_was_filled_under_several_grants_gets_nothing_after_the_narrowing() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, OWL, partial_intel=True)
        await who["zeus"]("narrow", {"member": "owl", "may": ["read_all"]})
        sub = await house.subscribe(house.identify(who["owl"].token), "den", views=True)
        await anext(sub)
        await who["ann"](
            "shout", {"text": "hello"}
        )  # queued under the narrow grant, which is the one it has at the end
        await who["zeus"]("clear_grant", {"member": "owl"})
        await who["ann"]("hide", {"n": 4711})
        await who["zeus"]("narrow", {"member": "owl", "may": ["read_all"]})
        with pytest.raises(PermissionDenied, match="grant has changed"):
            assert b"4711" not in await anext(sub)
        with pytest.raises((PermissionDenied, StopAsyncIteration)):
            await anext(sub)


@pytest.mark.parametrize("name", ["recv_messages", "events", "wait_for_turn"])
@pytest.mark.parametrize("end", ["expired", "revoked"])
async def test_a_call_that_waits_in_a_quiet_room_ends_unauthorized_when_its_token_is_lost(name: str, end: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        await make_room(house, ANN, BOB, HOST, world="nim", guests=True)
        if end == "expired":
            caller = await extra_token(house, "bob", expires_in_s=10)
        else:
            caller = await issue(house, "zoe")
            await caller.join()
        args: dict[str, Any] = {"wait_ms": 20_000}
        await caller("whoami")
        await clock.advance(1_000)
        if name == "events":
            args["cursor"] = (await caller("events")).cursor
        (task,) = started(caller(name, args))
        await a_moment()
        if name == "wait_for_turn" and end == "revoked" and task.done():
            return  # a guest without a seat has no turn to wait for
        assert not task.done()
        if end == "revoked":
            await by_operator(house, "revoke_credential", name="zoe")
        await clock.advance(25_000)
        (ended,) = await all_done([task])
        assert isinstance(ended, Unauthorized), ended


# -- one person, one seat, one member -----------------------------------------------------------------------
PEOPLE = [HOST, {"id": "pat", "kind": "human"}, {"id": "tom", "kind": "human"}]


@pytest.mark.parametrize("saved", ["while seated", "before"])
async def test_a_save_does_not_put_one_person_on_two_seats_of_one_hidden_game(saved: str, tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, *PEOPLE)
        host, pat = who["hostess"], who["pat"]
        if saved == "before":
            await host("save_world", {"name": "x"})
        await pat("sit", {"seat": "red"})
        if saved == "while seated":
            await host("save_world", {"name": "x"})
        await pat("stand_up")
        with pytest.raises(GameRejected):
            await pat("sit", {"seat": "blue"})
        await host("rematch")
        await pat("sit", {"seat": "blue"})
        await who["tom"]("sit", {"seat": "red"})
        await host("load_world", {"name": "x"})
        assert (await pat("whoami")).seat is None
        with pytest.raises(GameRejected):
            await pat("sit", {"seat": "blue"})
        assert (await who["tom"]("whoami")).seat == "red"
        await who["tom"]("stand_up")
        with pytest.raises(GameRejected):
            await who["tom"]("sit", {"seat": "blue"})
        await host("reset")  # from the seed of the rematch, where each has played another seat
        with pytest.raises(GameRejected):
            await pat("sit", {"seat": "red"})
        assert (await pat("sit")).seat == "blue"


@pytest.mark.parametrize("world", ["Stuck", "Secrets"])
async def test_a_guest_that_joins_three_times_at_once_is_one_member(world: str) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        await make_room(house, HOST, world=world, guests=True)
        zoe = await issue(house, "zoe")
        store.go.clear()
        tasks = started(*(zoe("join") for _ in range(3)))
        await a_moment()
        store.go.set()
        joined = await all_done(tasks)
        assert [one.member for one in joined] == ["zoe"] * 3
        assert [m.handle for m in house.rooms["den"].room.state.members.values()] == ["hostess", "zoe"]


async def test_an_identity_that_is_admitted_to_the_record_of_the_house_three_times_at_once_is_one_member() -> None:
    async with open_house() as house:
        record = house.ledger.runner
        record._quick, record._slow.until = False, house.clock.now() + 60_000  # as after a call that took long
        zoe = new_identity("zoe")
        admitted = await all_done(started(*(house.ledger.admit(zoe) for _ in range(3))))
        assert admitted == ["zoe"] * 3
        assert [m.handle for m in record.room.state.members.values()] == ["zoe"]


# -- how long a token is good -----------------------------------------------------------------------------
async def test_a_rotated_token_is_never_good_for_longer_than_the_one_it_replaces() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        await make_room(house)  # where ann has a token that never expires
        hour = await extra_token(house, "ann", expires_in_s=3600)
        await extra_token(house, "ann", expires_in_s=10)
        await clock.advance(20_000)
        renewed = (await hour("rotate_token")).token
        TOKENS_MADE.append(renewed)
        assert house.identify(renewed).expires_at == clock.now() + 3_580_000
        await clock.advance(3_580_000)
        with pytest.raises(Unauthorized, match="expired"):
            house.identify(renewed)


async def test_a_temporary_token_cannot_be_rotated_into_a_stored_one(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        operator = house.identify(house.operator_token())
        with pytest.raises(BadArgs):
            await house.call(operator, None, "rotate_token")
        assert house.store.credentials() == []
        await house.call(operator, None, "rooms")


# -- invites ------------------------------------------------------------------------------------------------
class OneByOne(HeldStore):
    """A store that commits once for each time it is told to, while it is held."""

    def __init__(self) -> None:
        super().__init__()
        self.held = False
        self.turns = threading.Semaphore(0)
        self.waiting = threading.Semaphore(0)

    def commit(self, writes: Sequence[Write]) -> None:
        if self.held:
            self.waiting.release()
            self.turns.acquire()
        super().commit(writes)


@pytest.mark.parametrize("commits_between", [1, 2, 3])
async def test_a_shared_invite_is_accepted_no_more_often_than_it_has_uses(commits_between: int) -> None:
    store = OneByOne()
    async with open_house(store=store) as house:
        who = await make_room(house)
        moles = await invite(who["hostess"], "mole", uses=3)
        store.held, tasks = True, []
        for _ in range(12):
            tasks += started(moles("join"))
            await a_moment()
            for _ in range(commits_between):
                while not store.waiting.acquire(blocking=False) and not all(task.done() for task in tasks):
                    await asyncio.sleep(0)
                store.turns.release()
                await a_moment()
        store.held = False
        store.turns.release(100)
        results = await all_done(tasks)
        assert len(tokens_of(results)) == 3
        assert all(isinstance(one, Unauthorized) for one in results if isinstance(one, BaseException))
        assert (await who["hostess"]("session_info")).member_count == 3 + 3


@pytest.mark.parametrize("uses", [1, 3])
async def test_a_member_that_is_removed_before_its_join_is_answered_is_unauthorized(uses: int) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        eve = await invite(who["hostess"], "eve", kind="human", uses=uses)
        store.go.clear()
        tasks = started(eve("join"))
        await a_moment()
        tasks += started(who["hostess"]("remove_member", {"member": "eve"}))
        await a_moment()
        store.go.set()
        joined, removed = await all_done(tasks)
        assert isinstance(joined, Unauthorized)
        assert not isinstance(joined, Internal)
        assert not isinstance(removed, BaseException)
        identities = {i.id for i in store.identities() if i.name == "eve"}
        stored = [c for c in store.credentials() if c.identity in identities]
        assert stored
        assert all(c.revoked for c in stored)
        if uses == 1:
            assert good_tokens(house, eve.token) == []


# -- what is told to whom -------------------------------------------------------------------------------------
async def test_the_audit_shows_the_reason_of_a_refusal_by_the_world_only_to_members_that_see_everything() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        with pytest.raises(ScopeViolation, match="blue is not yours"):
            await who["ann"]("strike", {"target": "blue"})
        with pytest.raises(GameRejected, match="there is no violet"):
            await who["zeus"]("strike", {"target": "violet"})
        with pytest.raises(PermissionDenied):
            await who["ann"]("archive")
        told = {name: [r.text for r in (await who[name]("audit", REFUSALS)).lines] for name in ("hostess", "zeus")}
        assert "blue is not yours" in told["zeus"]
        assert "there is no violet" in told["zeus"]
        assert not any("not yours" in reason or "violet" in reason for reason in told["hostess"])
        assert len(told["hostess"]) == len(told["zeus"])
        assert told["hostess"][0] == told["zeus"][0], "what the house refused is shown"


async def test_rotating_the_token_of_another_says_the_same_of_members_and_of_nobody() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "pup", "role": "resident"})
        told = []
        for member in ("ann", "an", "hostess", "nobody"):
            with pytest.raises(PermissionDenied) as refused:
                await who["pup"]("rotate_token", {"member": member})
            told.append((refused.value.message, refused.value.did_you_mean))
        assert len({str(one) for one in told}) == 1


# -- archived rooms, seeds, names -----------------------------------------------------------------------------
async def test_an_archived_room_records_no_presence_stand_in_or_end_of_a_pause() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who = await make_room(
            house, player("ann", 0, stand_in="random"), BOB, HOST, world="Ticker", stand_in_seconds=20
        )
        await who["ann"]("pause")
        await clock.advance(9_000)
        await who["hostess"]("archive")
        runner = house.rooms["den"]
        before = runner.room.record.seq
        await clock.advance(200_000)
        for client in who.values():
            await client("whoami")
        await clock.advance(200_000)
        assert runner.room.record.seq == before
        assert not runner.room.state.members["ann"].played_by_bot
        assert not deeds(runner.room, "stand_in")


async def test_a_host_cannot_choose_the_seed_of_a_world_that_hides_things() -> None:
    async with open_house() as house:
        boss = await issue(house, "boss", host=True)
        credential = house.identify(boss.token)
        for args in ({"world": "lanterns", "players": ["x", "y"]}, {"scenario": "pvp"}):
            with pytest.raises((PermissionDenied, BadArgs)):
                await house.call(credential, None, "create_room", {**args, "seed": 7, "room": "known"})
        assert "known" not in house.rooms
        made = await house.call(
            credential, None, "create_room", {"world": "nim", "players": ["x", "y"], "seed": 7, "room": "open"}
        )
        assert made.room == "open"


@pytest.mark.parametrize(
    "handle",
    ["\u3164", "\u2800", "ann\u2800", "ann\ufe0f", "ann\u3164", "a\u0301nn", "the house", "ann (left)", "a(b", "a b"],
)
async def test_a_handle_that_looks_like_another_or_like_nothing_is_refused(handle: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(BadArgs):
            await who["hostess"]("invite", {"id": handle})
        with pytest.raises(BadArgs):
            await by_operator(house, "issue_credential", name=handle)


@pytest.mark.parametrize("name", ["x\ny", "\x1b[31mred", "\u202eeve", " ", "\x00"])
async def test_a_name_with_characters_that_change_how_it_is_shown_is_refused(name: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(BadArgs):
            await who["hostess"]("invite", {"id": "eve", "name": name})
        with pytest.raises(BadArgs):
            await make_room(house, {"id": "eve", "name": name}, room="other")


# -- a member without a grant ---------------------------------------------------------------------------------
async def test_a_member_whose_grant_was_revoked_can_neither_leave_its_seat_nor_end_its_turn() -> None:
    async with open_house() as house:
        who = await make_room(house, HOST, {"id": "pat", "kind": "human"})
        await who["pat"]("sit", {"seat": "red"})
        await who["hostess"]("revoke", {"member": "pat"})
        with pytest.raises(PermissionDenied):
            await who["pat"]("stand_up")
        assert (await who["pat"]("whoami")).seat == "red"
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, world="Ticker", turn_based=True, turn_order=["ann", "bob"])
        await who["hostess"]("revoke", {"member": "ann"})
        with pytest.raises(PermissionDenied):
            await who["ann"]("turn_advance")
        assert house.rooms["den"].room.state.turn_holder == "ann"


@pytest.mark.parametrize("world", ["Secrets", "Ticker", "Realms", "lanterns", "kingdoms"])
async def test_every_command_that_records_needs_a_grant_except_those_about_the_own_membership(world: str) -> None:
    async with open_house() as house:
        await make_room(house, ANN, BOB, HOST, world=world)
        commands = house.rooms["den"].commands
        # What `act` calls is decided as the command that it names.
        free = {c.name for c in commands if c.records and not c.needs and not c.host_only and c.name != "act"}
        assert free == {
            "disclose", "exit_game", "forget_me", "hand_back", "join", "leave", "report", "rotate_token", "take_over",
            "withdraw",
        }  # fmt: skip


# -- counts, names and arguments --------------------------------------------------------------------------------
@pytest.mark.parametrize("world", ["Secrets", "nim"])
async def test_the_size_of_a_save_is_shown_only_to_members_that_see_everything(world: str, tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, world=world)
        sizes = {}
        for name in ("hostess", "zeus"):
            made = [await who[name]("save_world", {"name": "x"}), await who[name]("load_world", {"name": "x"})]
            sizes[name] = [one.bytes for one in made]
        assert all(sizes["zeus"])
        assert sizes["hostess"] == (sizes["zeus"] if world == "nim" else [None, None])


@pytest.mark.parametrize("to", ["*", "team:reds"])
async def test_the_recipients_of_a_message_to_many_are_shown_only_with_read_roster(to: str) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "pat", "kind": "human"}, teams={"reds": ["pat", "bob"]})
        pat = who["pat"]
        shown = (await pat("send_message", {"to": to, "content": "x"})).recipients
        assert "bob" in shown
        await who["hostess"]("narrow", {"member": "pat", "may": ["read_roster"]})
        assert (await pat("send_message", {"to": to, "content": "x"})).recipients == []
        assert (await pat("send_message", {"to": "bob", "content": "x"})).recipients == ["bob"]


@pytest.mark.parametrize("lost", ["receive_directed", "read_chat"])
async def test_messages_that_a_member_may_not_read_are_not_counted_and_push_nothing_out(lost: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("narrow", {"member": "bob", "may": [lost]})
        hidden, readable = ("bob", "*") if lost == "receive_directed" else ("*", "bob")
        await who["hostess"]("send_message", {"to": readable, "content": "hello"})
        for _ in range(205):
            await who["hostess"]("send_message", {"to": hidden, "content": "psst"})
        got = await who["bob"]("recv_messages")
        assert ([m["content"] for m in got.items], got.dropped) == (["hello"], 0)
        await who["hostess"]("widen", {"member": "bob", "may": [lost]})
        assert (await who["bob"]("recv_messages", {"max": 500})).dropped == 5


async def test_the_audit_shows_the_arguments_of_others_only_to_members_that_see_everything() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("hide", {"n": "my-hidden-word"}),
        ("act", {"action": "hide", "params": {"my-hidden-word": 1}}),
        ("act", {"action": "my-hidden-word"}),
        ("send_message", {"to": "my-hidden-word", "content": "x"}),
    ]
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, partial_intel=True)
        for name, args in calls:
            with pytest.raises(CohabitError, match="my-hidden-word"):
                await who["ann"](name, args)
        assert "my-hidden-word" in str((await who["zeus"]("audit", REFUSALS)).lines)
        seen = (await who["hostess"]("audit", REFUSALS)).lines
        assert "my-hidden-word" not in str(seen)
        assert [r.command for r in seen] == ["send_message", "act", "act", "hide"]


async def test_the_rooms_say_who_is_here_only_to_members_with_read_roster() -> None:
    async with open_house() as house:
        who = await make_room(house)
        guest = await invite(who["hostess"], "new")
        await who["hostess"]("revoke", {"member": "bob"})
        await who["ann"]("whoami")
        await house.clock.advance(1000)
        shown = {name: (await c("rooms")).rooms[0].here for name, c in {**who, "new": guest}.items()}
        assert shown == {"ann": 2, "hostess": 2, "bob": None, "new": None}


# -- what a subscription gets -----------------------------------------------------------------------------------
async def test_a_loaded_save_is_not_in_the_events(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        await who["hostess"]("save_world", {"name": "x"})
        reader = await who["owl"].reader(views=False)
        await who["hostess"]("load_world", {"name": "x"})
        await a_moment()
        item = (await who["owl"]("events", {"last": 1})).items[-1]
        assert (item.do, item.args) == ("loaded", None)
        assert not any(b'"save"' in frame for frame in reader.frames)


async def test_frames_with_large_arguments_stay_below_what_clients_accept() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        for _ in range(20):
            await who["ann"]("anything", {"given": "x" * 90_000})
            await who["ann"]("anything", {"given": ["y" * 1000] * 20})
        await who["ann"]("anything", {"given": {"x" * 900_000: 1}})
        sub = await house.subscribe(house.identify(who["owl"].token), "den", "", views=False)
        frames = [await anext(sub)]
        while sum(frame.count(b'"do":"anything"') for frame in frames) < 41:
            frames.append(await anext(sub))
        sub.close()
        assert b"yyy" in b"".join(frames), "what is not too large is shown"
        assert max(map(len, frames)) < 400_000
        assert len(json.dumps((await who["owl"]("events", {"last": 1})).items[-1].args)) < 100_000


async def test_a_member_whose_eye_changes_gets_its_view_although_another_one_has_it() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, {"id": "eve"}, OWL, partial_intel=True, sealed=False)
        await who["ann"]("hide", {"n": 4711})
        owl, eve = await who["owl"].reader(), await who["eve"].reader()
        await at_rest(house)
        await a_moment()
        for change, sees in (("widen", True), ("narrow", False)):
            await who["zeus"](change, {"member": "eve", "may": ["read_all"]})
            await at_rest(house)
            await a_moment()
            assert (b"4711" in eve.views[-1]) is sees
        assert (len(eve.views), len(owl.views)) == (3, 1)


# -- claims, commands, races ----------------------------------------------------------------------------------
async def test_a_stand_in_starts_when_an_action_opens_the_claimed_seat() -> None:
    async with open_house() as house:
        ann = player("ann", 0, stand_in="random")
        who = await make_room(house, GOD, HOST, ann, world="Realms", stand_in_seconds=5)
        await who["zeus"].reader()
        await house.clock.advance(20_000)
        member = house.rooms["den"].room.state.members["ann"]
        assert (member.seat, member.played_by_bot) == (None, False)
        await who["zeus"]("rise", {"name": "rome"})
        await house.clock.advance(10_000)
        assert (member.seat, member.played_by_bot) == ("rome", True)


@pytest.mark.parametrize("order", [("aa", "zz"), ("zz", "aa")])
async def test_commands_without_a_room_are_those_of_any_room_in_any_order_of_rooms(order: Sequence[str]) -> None:
    async with open_house() as house:
        eve = await issue(house, "eve", kind="human")
        credential = house.identify(eve.token)
        person = {"id": "eve", "kind": "human", "identity": credential.identity}
        for room in order:
            turns = {"turn_based": True, "turn_order": ["eve"]} if room == "zz" else {}
            await make_room(house, person, HOST, world="Ticker", room=room, **turns)
        listed = [c.name for c in (await house.call(credential, None, "capabilities")).commands]
        assert "turn_advance" in listed


async def test_an_invite_by_a_host_that_is_removed_meanwhile_is_unauthorized() -> None:
    async with open_house() as house:
        who = await make_room(house, HOST, {"id": "two", "role": "host", "kind": "human"}, ANN, BOB, world="Stuck")
        go = threading.Event()  # the room's thread is busy until both calls are in its queue
        busy = started(house.rooms["den"].submit(PeekCall(lambda room: go.wait())))
        await a_moment()
        calls = started(who["two"]("remove_member", {"member": "hostess"}), who["hostess"]("invite", {"id": "x"}))
        await a_moment()
        go.set()
        _, _, invited = await all_done([*busy, *calls])
        assert isinstance(invited, Unauthorized)


async def test_an_unknown_world_is_reported_as_unknown_although_a_seed_is_given() -> None:
    async with open_house() as house:
        for args in ({"world": "nimm", "players": ["a", "b"]}, {"scenario": "pvpp"}):
            with pytest.raises(BadArgs, match="unknown"):
                await by_operator(house, "create_room", seed=1, **args)


# -- waits while others do something hidden -----------------------------------------------------------
@pytest.mark.parametrize("command", ["events", "recv_messages", "wait_for_turn"])
@pytest.mark.parametrize("deeds", [0, 3])
async def test_a_hidden_deed_costs_a_waiting_member_nothing_and_does_not_show_when_it_was_done(
    command: str, deeds: int
) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, world="nim" if command == "wait_for_turn" else "Moody")
        runner = house.rooms["den"]
        if command == "wait_for_turn":
            await who["ann"]("take", {"n": 1})
        args: dict[str, Any] = {"wait_ms": 30_000}
        if command == "events":
            args["cursor"] = (await who["ann"]("events")).cursor
        waiting = asyncio.ensure_future(who["ann"](command, args))
        await a_moment()
        spent, seen = dict(runner.room.budget._spent), dict(runner.time.seen)
        house_spent = dict(house.door.budget._spent)
        await clock.advance(1)
        for _ in range(deeds):
            await who["bob"]("send_message", {"to": "hostess", "content": "hidden from ann"})
            await a_moment()
        assert not waiting.done()
        assert runner.room.budget._spent.get("ann") == spent.get("ann")
        assert {key: n for key, n in house.door.budget._spent.items() if key in house_spent} == house_spent
        assert runner.time.seen.get("ann") == seen.get("ann")
        waiting.cancel()


async def test_chatter_during_a_wait_does_not_push_out_the_view_that_the_member_asked_about() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, world="nim")
        await who["ann"]("take", {"n": 1})
        shown = (await who["ann"]("view")).id
        waiting = asyncio.ensure_future(who["ann"]("wait_for_turn", {"wait_ms": 30_000, "since": shown}))
        for n in range(6):
            await who["bob"]("send_message", {"to": "ann", "content": f"hi {n}"})
            await a_moment()
        await who["bob"]("take", {"n": 1})
        assert "is not known any more" not in (await waiting).text


async def test_the_calls_of_a_member_that_may_wait_in_a_room_are_limited() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        cursor = (await who["ann"]("events")).cursor
        waits = started(*(who["ann"]("events", {"cursor": cursor, "wait_ms": 30_000}) for _ in range(257)))
        await a_moment()
        refused = [task.exception() for task in waits if task.done()]
        assert [type(wrong).__name__ for wrong in refused] == ["Busy"]
        assert (await who["bob"]("whoami")).handle == "bob"
        for task in waits:
            task.cancel()
