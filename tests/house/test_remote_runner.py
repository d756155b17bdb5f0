"""A room around a remote world: what is sent, what is recorded, and what happens when the other side fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from cohabit.errors import (
    BadArgs,
    Busy,
    CohabitError,
    GameRejected,
    OutcomeUnknown,
    Quarantined,
    UnknownAsset,
    Unreachable,
    by_code,
)  # fmt: skip
from cohabit.house.house import House
from cohabit.house.running import remote
from cohabit.house.running.remote import RemoteRunner
from cohabit.house.running.runner import RoomRunner
from cohabit.house.running.timekeeper import ARRIVALS_MS
from cohabit.testing.clock import FakeClock

from .making import (
    ANN,
    BOB,
    OWL,
    Client,
    HeldStore,
    back_again,
    deeds,
    make_room,
    open_house,
    recorded,
    remote_of,
    stored_room,
)  # fmt: skip
from .remote_world import DEPOT, WORKSHOPS, FakeConnector

ZEUS, HERA = {"id": "zeus", "role": "god"}, {"id": "hera", "role": "host"}
SIX = {"crates": 6, "label": "fruit"}


class Yard(NamedTuple):
    """A house with a room around a depot; ann has the bay north, bob has south, zeus is a god, owl watches."""

    site: FakeConnector
    house: House
    clock: FakeClock
    who: dict[str, Client]

    @property
    def runner(self) -> RoomRunner:
        return self.house.rooms["den"]

    @property
    def remote(self) -> RemoteRunner:
        return remote_of(self.house)

    def recorded(self, *dos: str) -> list[Any]:
        return recorded(self.runner, *dos)


@asynccontextmanager
async def yard(
    folder: Path | None = None, store: Any = None, world: str = DEPOT, connected: bool = True, **keys: Any
) -> AsyncIterator[Yard]:
    clock, site = FakeClock(), FakeConnector()
    async with open_house(folder, store=store, clock=clock) as house:
        who = await make_room(house, ANN, BOB, ZEUS, HERA, OWL, world=world, **{"partial_intel": True, **keys})
        if connected:
            await house.connect_room("den", site)
        site.forget()
        yield Yard(site, house, clock, who)


async def refused(asked: Any) -> CohabitError:
    with pytest.raises(CohabitError) as wrong:
        await asked
    return wrong.value


def start(asked: Any) -> "asyncio.Future[Any]":
    return asyncio.ensure_future(asked)


# -- what is sent, and what comes back ----------------------------------------------------------
async def test_what_a_member_gets_of_a_remote_world_is_counted() -> None:
    async with yard() as site:
        replies = [await site.who["ann"]("store", SIX), await site.who["ann"]("view")]
        account = site.runner.egress.of(site.runner.room.state.members["ann"])
        assert account.used == sum(len(msgspec.json.encode(reply)) for reply in replies)


async def test_claims_bind_to_the_seats_that_the_world_reports() -> None:
    async with yard() as y:
        assert [(await y.who[n]("whoami")).seat for n in ("ann", "bob", "zeus")] == ["north", "south", None]


async def test_an_action_arrives_as_it_was_asked_and_its_answer_is_the_reply() -> None:
    async with yard() as y:
        assert await y.who["ann"]("store", SIX) == {"crates": 6}
        assert y.site.done == [("store", SIX)]
        assert y.site.behalf == ["ann", "ann"]


async def test_an_action_is_durable_before_it_is_sent_and_its_answer_after() -> None:
    async with yard() as y:
        y.site.then("ring", "hold")
        asked = start(y.who["ann"]("ring"))
        await y.site.arrival("ring")
        assert [e.do for e in y.recorded("asked", "answered")] == ["asked"]
        assert y.runner.history.seq >= y.recorded("asked")[0].seq
        y.site.release()
        assert await asked == {"rung": True}
        assert y.recorded("answered")[0].args == {"result": {"rung": True}}


async def test_act_and_the_command_are_the_same_and_the_reasoning_is_recorded() -> None:
    async with yard() as y:
        done = await y.who["ann"]("act", {"action": "store", "params": SIX, "reasoning": "winter is near"})
        assert done.success
        assert done.data == {"crates": 6}
        assert "(yours)" in done.observation.text
        assert y.recorded("asked")[0].args["why"] == "winter is near"


async def test_a_read_is_not_recorded_and_is_filtered_by_the_eye() -> None:
    async with yard() as y:
        before = y.runner.room.record.seq
        y.site.bays = {"north": 3, "south": 4}
        assert await y.who["ann"]("inventory") == {"north": 3}
        assert await y.who["zeus"]("inventory") == {"north": 3, "south": 4}
        assert y.runner.room.record.seq == before
        assert y.site.behalf == ["ann", "zeus"]


async def test_a_member_who_may_not_act_asks_on_nobodys_behalf() -> None:
    async with yard() as y:
        await y.who["owl"]("weather")
        assert y.site.behalf == [None]


async def test_a_long_argument_is_sent_and_not_recorded() -> None:
    async with yard() as y:
        long = {"crates": 1, "label": "A" * 300_000}
        await y.who["ann"]("store", long, key="k")
        assert y.site.done == [("store", long)]
        assert y.recorded("asked")[0].args["args"] == {"crates": 1, "label": "(omitted: 300000 characters)"}
        await y.who["ann"]("store", long, key="k")
        assert (await refused(y.who["ann"]("store", {**long, "label": "A" * 299_999}, key="k"))).code == "CONFLICT"
        assert len(y.site.done) == 1


async def test_an_outcome_is_told_to_the_actor_alone_unless_it_is_public() -> None:
    async with yard() as y:
        await y.who["ann"]("store", SIX)
        await y.who["ann"]("ring")
        heard = {name: [i.text for i in (await y.who[name]("events")).items] for name in ("ann", "bob")}
        assert "ann: store 6" in heard["ann"]
        assert "ann: store 6" not in heard["bob"]
        assert "ann: ring" in heard["bob"]


# -- what is never sent -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("who", "command", "args", "code"),
    [
        ("ann", "rebuild", {}, "PERMISSION_DENIED"),
        ("owl", "ring", {}, "PERMISSION_DENIED"),
        ("ann", "store", {"crates": 1000}, "BAD_ARGS"),
        ("ann", "store", {"crates": 1, "colour": "red"}, "BAD_ARGS"),
        ("ann", "store", {"crates": 1, "label": "dragons"}, "SCOPE_VIOLATION"),
        ("ann", "act", {"action": "store", "params": {"crates": 1, "label": "dragons"}}, "SCOPE_VIOLATION"),
        ("ann", "act", {"action": 3}, "BAD_ARGS"),
        ("ann", "burn", {}, "UNKNOWN_COMMAND"),
    ],
)
async def test_a_call_the_room_refuses_is_never_sent_and_is_audited(
    who: str, command: str, args: Any, code: str
) -> None:
    async with yard() as y:
        assert (await refused(y.who[who](command, args))).code == code
        assert y.site.asked == []
        assert [line.code for line in y.runner.room.audit.kept] == [code]


async def test_an_action_that_its_plan_refuses_is_neither_sent_nor_recorded() -> None:
    async with yard() as y:
        assert (await refused(y.who["ann"]("store", {"crates": 10}))).code == "SCOPE_VIOLATION"
        assert y.site.asked == ["free"]
        assert [line.code for line in y.runner.room.audit.kept] == ["SCOPE_VIOLATION"]
        assert y.recorded("asked") == []
        await y.who["zeus"]("store", {"crates": 10})
        assert y.site.names() == ["store"]


async def test_a_member_who_may_act_anywhere_is_bound_by_no_seat() -> None:
    async with yard() as y:
        await y.who["zeus"]("widen", {"member": "bob", "may": ["act_global"]})
        await y.who["bob"]("store", {"crates": 10, "label": "dragons"})
        assert y.site.asked == ["store"]


async def test_a_command_unknown_to_the_other_side_is_refused_before_it_is_sent() -> None:
    async with yard() as y:
        y.site.unknown = {"ring", "weather"}
        for command in ("ring", "weather"):
            assert (await refused(y.who["ann"](command))).code == "UNKNOWN_COMMAND"
        assert y.site.asked == []
        assert y.recorded("asked") == []


async def test_a_member_whose_turn_it_is_not_sends_nothing() -> None:
    async with yard(turn_based=True, turn_order=["ann", "bob"]) as y:
        assert (await refused(y.who["bob"]("ring"))).code == "TURN_NOT_YOURS"
        assert y.site.done == []
        await y.who["ann"]("turn_advance")
        await y.who["bob"]("ring")
        assert y.site.names() == ["ring"]


async def test_an_action_that_waits_is_refused_when_the_turn_has_ended() -> None:
    async with yard(turn_based=True, turn_order=["ann", "bob"]) as y:
        y.site.then("ring", "hold")
        first = start(y.who["ann"]("ring"))
        await y.site.arrival("ring")
        second = start(y.who["ann"]("store", SIX))
        await y.who["ann"]("turn_advance")
        y.site.release()
        await first
        assert (await refused(second)).code == "TURN_NOT_YOURS"
        assert y.site.names() == ["ring"]


# -- credentials and grants are checked again ---------------------------------------------------
async def test_an_action_that_waits_is_refused_when_the_token_was_revoked() -> None:
    async with yard() as y:
        y.site.then("ring", "hold")
        first = start(y.who["zeus"]("ring"))
        await y.site.arrival("ring")
        second = start(y.who["ann"]("ring"))
        await y.clock.advance(0)
        await y.who["hera"]("revoke_token", {"member": "ann"})
        y.site.release()
        await first
        assert (await refused(second)).code == "UNAUTHORIZED"
        assert y.site.names() == ["ring"]


async def test_a_token_that_is_revoked_while_the_plan_asks_sends_nothing() -> None:
    async with yard() as y:
        y.site.then("free", "hold")
        asked = start(y.who["ann"]("store", SIX))
        await y.site.arrival("free")
        await y.who["hera"]("revoke_token", {"member": "ann"})
        y.site.release()
        assert (await refused(asked)).code == "UNAUTHORIZED"
        assert y.site.done == []
        assert y.recorded("asked") == []


async def test_a_grant_that_is_taken_away_while_the_plan_asks_sends_nothing() -> None:
    async with yard() as y:
        y.site.then("free", "hold")
        asked = start(y.who["ann"]("store", SIX))
        await y.site.arrival("free")
        await y.who["zeus"]("narrow", {"member": "ann", "may": ["act"]})
        y.site.release()
        assert (await refused(asked)).code == "PERMISSION_DENIED"
        assert y.recorded("asked") == []


async def test_the_answer_to_a_read_is_not_delivered_to_a_revoked_token() -> None:
    async with yard() as y:
        y.site.then("weather", "hold")
        asked = start(y.who["ann"]("weather"))
        await y.site.arrival("weather")
        await y.who["hera"]("revoke_token", {"member": "ann"})
        y.site.release()
        assert (await refused(asked)).code == "UNAUTHORIZED"


async def test_the_answer_to_a_read_is_not_delivered_to_another_eye_than_it_was_made_for() -> None:
    async with yard() as y:
        y.site.then("inventory", "hold")
        asked = start(y.who["ann"]("inventory"))
        await y.site.arrival("inventory")
        y.site.bays = {"south": 0}
        await y.remote.poll()  # the bay north has closed, and ann has no seat
        y.site.release()
        assert (await refused(asked)).code == "BUSY"


async def test_an_action_in_progress_is_done_and_its_answer_is_not_delivered_to_a_revoked_token() -> None:
    async with yard() as y:
        y.site.then("ring", "hold")
        asked = start(y.who["ann"]("ring"))
        await y.site.arrival("ring")
        await y.who["hera"]("revoke_token", {"member": "ann"})
        y.site.release()
        denied = await refused(asked)
        assert (denied.code, "the action was executed" in denied.message) == ("UNAUTHORIZED", True)
        assert y.recorded("answered")[0].args == {"result": {"rung": True}}


async def test_the_waiting_calls_of_a_removed_member_are_refused() -> None:
    async with yard() as y:
        y.site.then("ring", "hold")
        y.site.then("weather", "hold")
        first = start(y.who["zeus"]("ring"))
        await y.site.arrival("ring")
        waiting = [start(y.who["ann"](name)) for name in ("ring", "weather")]
        await y.site.arrival("weather")
        await y.who["hera"]("remove_member", {"member": "ann"})
        y.site.release()
        await first
        assert [(await refused(each)).code for each in waiting] == ["UNAUTHORIZED"] * 2
        assert y.site.names() == ["ring"]
        assert y.site.removed == ["ann"]


async def test_a_member_who_is_removed_before_its_action_is_sent_does_nothing() -> None:
    store = HeldStore()
    async with yard(store=store) as y:
        await y.who["ann"]("weather")
        await y.clock.advance(ARRIVALS_MS)  # it is here: else that is recorded before it is removed
        store.go.clear()
        asked = start(y.who["ann"]("ring", key="k"))
        while not y.recorded("asked"):
            await asyncio.sleep(0)
        gone = start(y.who["hera"]("remove_member", {"member": "ann"}))
        while "ann" in y.runner.room.state.members:
            await asyncio.sleep(0)
        store.go.set()
        assert (await refused(asked)).code == "UNAUTHORIZED"
        await gone
        assert y.site.done == []
        assert y.recorded("answered")[0].args["refused"]["code"] == "UNAUTHORIZED"


# -- order --------------------------------------------------------------------------------------
async def test_actions_are_sent_one_at_a_time_and_in_order_and_reads_pass_them() -> None:
    async with yard() as y:
        y.site.then("store", "hold")
        asked = [start(y.who["zeus"]("store", {"crates": n})) for n in range(1, 9)]
        await y.site.arrival("store")
        assert await y.who["ann"]("weather") == {"sky": "grey"}
        assert (await y.who["ann"]("send_message", {"to": "bob", "content": "hello"})).recipients == ["bob"]
        assert y.site.asked.count("store") == 1
        y.site.release()
        await asyncio.gather(*asked)
        assert [args["crates"] for _, args in y.site.done] == list(range(1, 9))
        assert y.site.max_at_once == 2


async def test_where_members_work_separately_one_action_of_each_is_sent_at_a_time() -> None:
    async with yard(world=WORKSHOPS) as y:
        y.site.then("ring", "hold", "hold")
        asked = [start(y.who[name]("ring")) for name in ("ann", "ann", "bob")]
        await y.site.arrival("ring")
        await y.site.arrival("ring")
        assert y.site.asked == ["ring", "ring"]
        assert [sent.by for sent in y.runner.room.world.all_pending()] == ["ann", "bob"]  # type: ignore[attr-defined]
        y.site.release()
        await asyncio.gather(*asked)
        assert y.runner.room.world.all_pending() == []  # type: ignore[attr-defined]
        assert [e.args["by"] for e in y.recorded("answered")] == ["ann", "bob", "ann"]


async def test_where_members_work_separately_an_outcome_that_is_not_public_is_told_to_nobody() -> None:
    async with yard(world=WORKSHOPS) as y:
        await y.who["ann"]("store", SIX)
        assert y.recorded("answered")[0].told == ()


async def test_more_calls_than_the_limit_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_PENDING_CALLS", 2)
    async with yard() as y:
        y.site.then("ring", "hold")
        waiting = [start(y.who["zeus"]("ring")) for _ in range(2)]
        await y.site.arrival("ring")
        with pytest.raises(Busy, match="2 calls from this room"):
            await y.who["ann"]("ring")
        y.site.release()
        await asyncio.gather(*waiting)


async def test_where_members_work_separately_one_with_many_calls_keeps_nobody_else_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "MAX_PENDING_CALLS_OF_MEMBER", 2)
    async with yard(world=WORKSHOPS) as y:
        y.site.then("ring", "hold")
        waiting = [start(y.who["ann"]("ring")) for _ in range(2)]
        await y.site.arrival("ring")
        with pytest.raises(Busy, match="2 calls of yours"):
            await y.who["ann"]("ring")
        await y.who["bob"]("ring")
        monkeypatch.setattr(remote, "MAX_PENDING_CALLS_SEPARATE", 2)
        with pytest.raises(Busy, match="2 calls from this room"):
            await y.who["bob"]("ring")
        y.site.release()
        await asyncio.gather(*waiting)


async def test_a_caller_who_disconnects_does_not_stop_what_was_sent() -> None:
    async with yard() as y:
        y.site.then("ring", "hold")
        asked = start(y.who["ann"]("ring"))
        await y.site.arrival("ring")
        asked.cancel()
        y.site.release()
        await y.who["ann"]("ring")
        assert [e.do for e in y.recorded("asked", "answered")] == ["asked", "answered"] * 2


# -- keys ---------------------------------------------------------------------------------------
async def test_the_same_key_is_answered_again_and_done_once() -> None:
    async with yard() as y:
        first = await y.who["ann"]("store", SIX, key="k")
        assert await y.who["ann"]("store", SIX, key="k") == first
        assert (await refused(y.who["ann"]("store", {"crates": 5}, key="k"))).code == "CONFLICT"
        assert y.site.names() == ["store"]


async def test_the_same_key_asked_several_times_at_once_is_done_once() -> None:
    async with yard() as y:
        answers = await asyncio.gather(*(y.who["ann"]("store", SIX, key="k") for _ in range(5)))
        assert answers == [{"crates": 6}] * 5
        assert y.site.names() == ["store"]


async def test_the_same_key_asked_again_while_the_action_is_in_progress_waits_for_the_answer() -> None:
    async with yard() as y:
        y.site.then("store", "hold")
        first = start(y.who["ann"]("store", SIX, key="k"))
        await y.site.arrival("store")
        again = start(y.who["ann"]("store", SIX, key="k"))
        assert await y.who["ann"]("whoami")
        assert await y.who["ann"]("weather", key="k"), "a key has no meaning for a query, so it waits for nothing"
        assert not again.done()
        y.site.release()
        assert await again == await first
        assert y.site.done == [("store", SIX)]
        assert y.runner.room.audit.kept == []


async def test_the_same_key_asked_twice_while_another_action_is_in_progress_is_done_once() -> None:
    async with yard() as y:
        y.site.then("ring", "hold")
        other = start(y.who["zeus"]("ring"))
        await y.site.arrival("ring")
        both = [start(y.who["ann"]("store", SIX, key="k")) for _ in range(2)]
        await y.clock.advance(0)
        y.site.release()
        assert await asyncio.gather(other, *both) == [{"rung": True}, {"crates": 6}, {"crates": 6}]
        assert y.site.names() == ["ring", "store"]


async def test_the_same_key_asked_again_while_the_answer_is_lost_is_unknown_too() -> None:
    async with yard() as y:
        y.site.then("free", "hold")
        y.site.then("store", "lose")
        asked = [start(y.who["ann"]("store", SIX, key="k"))]
        await y.site.arrival("free")
        asked.append(start(y.who["ann"]("store", SIX, key="k")))
        assert await y.who["ann"]("whoami")
        y.site.release()
        assert [(await refused(each)).code for each in asked] == ["OUTCOME_UNKNOWN"] * 2
        assert y.site.names() == ["store"]


async def test_a_key_whose_answer_was_lost_stays_unknown_and_acts_no_second_time(tmp_path: Path) -> None:
    async with yard(tmp_path) as y:
        y.site.then("store", "lose")
        for _ in range(2):
            assert (await refused(y.who["ann"]("store", SIX, key="k"))).code == "OUTCOME_UNKNOWN"
    async with open_house(tmp_path) as again:
        await again.connect_room("den", y.site)
        assert (await refused(back_again(again, y.who)["ann"]("store", SIX, key="k"))).code == "OUTCOME_UNKNOWN"
    assert y.site.names() == ["store"]


async def test_a_key_whose_action_was_refused_there_can_be_used_again() -> None:
    async with yard() as y:
        y.site.then("store", GameRejected("the gate is shut"))
        assert (await refused(y.who["ann"]("store", SIX, key="k"))).code == "GAME_REJECTED"
        assert await y.who["ann"]("store", SIX, key="k") == {"crates": 6}


# -- failures -----------------------------------------------------------------------------------
@pytest.mark.parametrize("what", ["lose", RuntimeError("a bug in the connector")])
async def test_an_action_without_an_answer_is_unknown_and_recorded_as_that(what: Any) -> None:
    async with yard() as y:
        y.site.then("store", what)
        assert (await refused(y.who["ann"]("store", SIX))).code == "OUTCOME_UNKNOWN"
        entry = y.recorded("answered")[0]
        assert entry.args["unknown"]
        assert entry.told[0].members == ("ann",)
        assert await y.who["ann"]("store", SIX) == {"crates": 6}


async def test_an_answer_that_the_world_fails_on_is_unknown() -> None:
    async with yard() as y:
        y.site.then("store", {"garbled": True})
        assert (await refused(y.who["ann"]("store", SIX, key="k"))).code == "OUTCOME_UNKNOWN"
        assert (await refused(y.who["ann"]("store", SIX, key="k"))).code == "OUTCOME_UNKNOWN"
        assert await y.who["ann"]("store", SIX) == {"crates": 6}


@pytest.mark.parametrize("what", ["lose", RuntimeError("a bug in the connector")])
async def test_a_read_without_an_answer_can_be_asked_again(what: Any) -> None:
    async with yard() as y:
        y.site.then("weather", what)
        assert (await refused(y.who["ann"]("weather"))).code == "UNREACHABLE"
        assert await y.who["ann"]("weather") == {"sky": "grey"}


async def test_a_query_that_fails_is_a_crash_that_tells_only_its_kind() -> None:
    async with yard() as y:
        crash = await refused(y.who["ann"]("broken"))
        assert crash.code == "GAME_CRASH"
        assert "a secret" not in crash.message
        assert await y.who["ann"]("weather") == {"sky": "grey"}


async def test_an_action_that_could_not_be_sent_was_not_done() -> None:
    async with yard() as y:
        y.site.then("store", Unreachable("the depot does not answer"))
        assert (await refused(y.who["zeus"]("store", SIX, key="k"))).code == "UNREACHABLE"
        assert await y.who["zeus"]("store", SIX, key="k") == {"crates": 6}


async def test_a_refusal_of_the_other_side_is_passed_on_recorded_and_audited() -> None:
    async with yard() as y:
        wrong = await refused(y.who["ann"]("store", {"crates": 1, "label": "unheard-of"}))
        assert isinstance(wrong, UnknownAsset)
        assert wrong.did_you_mean == ["fruit"]
        assert by_code(y.recorded("answered")[0].args["refused"]).as_wire() == wrong.as_wire()
        assert y.runner.room.audit.kept[-1].code == "UNKNOWN_ASSET"


async def test_an_outcome_that_cannot_be_stored_is_unknown() -> None:
    store = HeldStore()
    async with yard(store=store) as y:
        y.site.then("ring", "hold")
        asked = start(y.who["ann"]("ring", key="k"))
        await y.site.arrival("ring")
        store.failing = True
        y.site.release()
        assert (await refused(asked)).code == "OUTCOME_UNKNOWN"
        store.failing = False
        assert (await refused(y.who["ann"]("ring", key="k"))).code == "OUTCOME_UNKNOWN"
        assert y.site.names() == ["ring"]


async def test_an_action_that_cannot_be_stored_is_not_sent() -> None:
    store = HeldStore()
    async with yard(store=store) as y:
        store.failing = True
        assert (await refused(y.who["zeus"]("ring"))).code == "STORAGE_FAILED"
        store.failing = False
        assert y.site.done == []


async def test_a_house_that_stops_before_the_answer_came_says_unknown_then_and_later(tmp_path: Path) -> None:
    async with yard(tmp_path) as y:
        y.site.then("ring", "hold", "hold")
        asked = start(y.who["ann"]("ring", key="k"))
        await y.site.arrival("ring")
        waiting = start(y.who["zeus"]("ring"))
        await y.clock.advance(0)
    with pytest.raises(OutcomeUnknown):
        await asked
    assert (await refused(waiting)).code == "DISABLED"
    assert y.site.closed == [False]
    async with open_house(tmp_path) as again:
        await again.rooms["den"].drained()
        assert [e.args for e in deeds(again.rooms["den"].room, "answered")] == [{"unknown": remote.STOPPED}]
        assert (await refused(back_again(again, y.who)["ann"]("ring", key="k"))).code == "OUTCOME_UNKNOWN"


class Finder(FakeConnector):
    """A connector that knows what came of an action, once ``tells`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.tells, self.questions = asyncio.Event(), asyncio.Queue[str]()

    async def outcome(self, sent: Any) -> dict[str, Any]:
        self.questions.put_nowait(sent.by)
        await self.tells.wait()
        return {}


async def test_an_action_that_ends_while_the_outcome_of_another_is_asked_for_is_concluded_once() -> None:
    store = HeldStore()
    async with yard(store=store, world=WORKSHOPS) as y:
        site = Finder()
        await y.house.connect_room("den", site)
        site.then("ring", "hold", "hold")
        lost = start(y.who["ann"]("ring"))
        await site.arrival("ring")
        store.failing = True
        site.release()
        assert (await refused(lost)).code == "OUTCOME_UNKNOWN"
        store.failing = False
        asked = start(y.who["bob"]("ring"))
        await site.arrival("ring")
        polled = start(y.remote.poll())
        assert await site.questions.get() == "ann"
        site.release()
        await asked
        site.tells.set()
        await polled
        assert [e.args["by"] for e in y.recorded("answered")] == ["bob", "ann"]
        assert site.questions.empty()
        assert y.runner.failure is None


# -- polling ------------------------------------------------------------------------------------
async def test_only_what_has_changed_is_recorded() -> None:
    async with yard() as y:
        before = y.runner.room.record.seq
        await y.remote.poll()
        assert y.runner.room.record.seq == before
        y.site.bays["north"] = 7
        await y.remote.poll()
        assert len(y.recorded("polled")) == 2
        assert "north: 7 crates (yours)" in (await y.who["ann"]("view")).text


async def test_the_world_is_polled_every_few_seconds() -> None:
    async with yard() as y:
        for _ in range(3):
            await y.clock.advance(FakeConnector.poll_ms)
            await y.site.arrival("site")
        assert y.site.asked == ["site"] * 3


async def test_a_world_that_is_connected_again_is_polled_in_one_rhythm() -> None:
    async with yard() as y:
        await y.clock.advance(FakeConnector.poll_ms // 2)
        await y.house.connect_room("den", y.site)
        y.site.forget()
        await y.clock.advance(FakeConnector.poll_ms // 2)
        await y.runner.drained()
        assert y.site.asked == [], "the time since the first connection does not count any more"
        await y.clock.advance(FakeConnector.poll_ms // 2)
        await y.site.arrival("site")
        assert y.site.asked == ["site"]


async def test_after_some_actions_the_world_is_polled_at_once_and_another_world_binds_claims_again() -> None:
    async with yard() as y:
        await y.who["zeus"]("rebuild")
        await y.site.arrival("site")
        await y.remote.poll()
        assert [(await y.who[n]("whoami")).seat for n in ("ann", "bob")] == ["east", "west"]
        assert y.runner.room.state.games == 2


async def test_seats_that_open_and_close_are_told_and_move_nobody_to_another_seat() -> None:
    async with yard() as y:
        y.site.bays = {"south": 0, "east": 0}
        await y.remote.poll()
        assert {told.text for told in y.recorded("polled")[-1].told} == {"east has opened", "north has closed"}
        assert (await refused(y.who["ann"]("ring"))).code == "PERMISSION_DENIED"
        assert (await y.who["bob"]("whoami")).seat == "south"


async def test_a_connection_that_is_lost_and_found_again_is_told_once_each() -> None:
    async with yard() as y:
        y.site.answers = False
        for _ in range(2):
            await y.remote.poll()
        assert isinstance(y.remote.poll_error, Unreachable)
        assert "not connected" in (await y.who["ann"]("view")).text
        y.site.answers = True
        for _ in range(2):
            await y.remote.poll()
        assert y.remote.poll_error is None
        told = y.recorded("lost", "reached")
        assert [entry.do for entry in told] == ["reached", "lost", "reached"]
        assert [notice.text.partition(":")[0] for notice in told[1].told] == ["lost the connection to The depot"]


@pytest.mark.parametrize("answer", [{"number": "one"}, RuntimeError("a bug in the connector")])
async def test_a_poll_that_fails_is_told_and_breaks_nothing(answer: Any) -> None:
    async with yard() as y:
        y.site.then("site", answer)
        await y.clock.advance(FakeConnector.poll_ms)
        await y.site.arrival("site")
        await y.runner.drained()
        assert len(y.recorded("lost")) == 1
        await y.clock.advance(FakeConnector.poll_ms)
        await y.site.arrival("site")
        assert (await y.who["ann"]("whoami")).seat == "north"


# -- the record, and the life of a room ---------------------------------------------------------
async def test_a_replay_needs_no_connector_and_gives_the_same_room(tmp_path: Path) -> None:
    async with yard(tmp_path) as y:
        y.runner.room.digest_every = 3
        await y.who["ann"]("store", SIX, key="k")
        y.site.then("store", "lose", GameRejected("no"))
        for i in range(2):
            await refused(y.who["ann"]("store", SIX, key=f"k{i}"))
        await y.who["zeus"]("rebuild")
        await y.remote.poll()
        await y.runner.drained()
        digest = y.runner.room.digest()
        replayed = stored_room(tmp_path)
    assert replayed.digest() == digest
    assert len(deeds(replayed, "digest")) > 2
    assert replayed.state.replies["ann"]["k"].result["data"] == {"crates": 6}


async def test_a_house_without_a_connector_shows_the_room_and_says_what_to_do(tmp_path: Path) -> None:
    async with yard(tmp_path) as y:
        await y.who["ann"]("ring")
    async with open_house(tmp_path) as house:
        ann = back_again(house, y.who)["ann"]
        for name in ("weather", "ring"):
            lost = await refused(ann(name))
            assert lost.code == "UNREACHABLE"
            assert "depot connect" in lost.message
        assert "north: 0 crates" in (await ann("view")).text
        assert (await ann("send_message", {"to": "bob", "content": "are you there?"})).seq == 1
        assert len(recorded(house.rooms["den"], "lost")) == 1


async def test_a_room_that_is_reopened_keeps_its_connector() -> None:
    async with yard() as y:
        y.runner.failure = by_code({"code": "QUARANTINED", "message": "made up"})
        await y.house.reopen_room("den")
        assert await y.who["ann"]("weather") == {"sky": "grey"}
        assert y.site.closed == []


async def test_an_archived_room_asks_its_world_nothing_more() -> None:
    async with yard() as y:
        await y.who["zeus"]("archive")
        await y.clock.advance(2 * FakeConnector.poll_ms)
        assert (await refused(y.who["zeus"]("ring"))).code == "DISABLED"
        assert y.site.asked == []
        await y.who["zeus"]("unarchive")
        await y.clock.advance(2 * FakeConnector.poll_ms)
        assert y.site.asked, "it is polled again"


async def test_a_deleted_room_tells_its_callers_and_its_connector() -> None:
    async with yard() as y:
        y.site.then("ring", "hold")
        asked = start(y.who["ann"]("ring"))
        await y.site.arrival("ring")
        await y.house.delete_room("den")
        assert (await refused(asked)).code == "OUTCOME_UNKNOWN"
        assert y.house.rooms.connectors == {}
        assert y.site.closed == [True]


async def test_a_connector_that_is_replaced_is_closed() -> None:
    async with yard() as y:
        other = FakeConnector()
        await y.house.connect_room("den", other)
        assert (y.site.closed, other.closed) == ([False], [])
        await y.who["ann"]("ring")
        assert (y.site.done, other.names()) == ([], ["ring"])


async def test_only_a_room_with_a_remote_world_can_be_connected() -> None:
    async with open_house() as house:
        await make_room(house, world="nim")
        with pytest.raises(BadArgs, match="not a remote world"):
            await house.connect_room("den", FakeConnector())


async def test_what_a_grant_showed_is_not_delivered_after_it_expired_also_before_its_timer_fires() -> None:
    async with yard(sealed=False) as y:
        await y.who["zeus"]("widen", {"member": "ann", "may": ["read_all"], "expires_in_s": 5})
        assert await y.who["ann"]("inventory") == {"north": 0, "south": 0}
        y.site.forget()
        y.site.then("inventory", "hold")
        asked = start(y.who["ann"]("inventory"))
        await y.site.arrival("inventory")
        vars(y.clock)["_now"] += 6_000
        y.site.release()
        assert (await refused(asked)).message == "your permissions changed during the call; retry"
        assert await y.who["ann"]("inventory") == {"north": 0}


async def test_a_house_that_closes_closes_its_connections_and_deletes_nothing_on_the_other_side() -> None:
    async with yard() as y:
        site = y.site
        assert site.closed == []
    assert site.closed == [False]


async def test_the_world_is_polled_once_for_everything_that_happens_until_then() -> None:
    async with yard() as y:
        for _ in range(5):
            y.remote.refresh()
        await y.clock.advance(0)
        assert y.site.asked == ["site"]
        y.remote.refresh()
        await y.clock.advance(0)
        assert y.site.asked == ["site"] * 2
        y.runner.stop(Quarantined("stopped by a test"))
        y.remote.refresh()
        await y.clock.advance(0)
        assert y.site.asked == ["site"] * 2


async def test_a_world_that_is_not_connected_is_not_polled(caplog: pytest.LogCaptureFixture) -> None:
    async with yard(connected=False) as y:
        y.remote.refresh()
        await y.clock.advance(0)
        assert "could not be polled" not in caplog.text
