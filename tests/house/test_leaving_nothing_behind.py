"""What is closed, revoked or unsubscribed leaves nothing behind: no thread, no timer, no callback."""

import asyncio
import json
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from cohabit.errors import Quarantined, UnknownCommand
from cohabit.house.store.identities import ALPHABET, Identities, hashed, make_token, new_identity
from cohabit.house.store.leases import LEASE_MS
from cohabit.model.identity import Credential
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock, FakeTimer

from .making import a_moment, issue, make_room, open_house, player


def test_every_character_of_a_token_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohabit.house.store.identities.TOKEN_LENGTH", 2 * 248)
    monkeypatch.setattr(secrets, "token_bytes", lambda size: bytes(reversed(range(256))))
    token = make_token()
    assert Counter(token) == dict.fromkeys(ALPHABET, 8)
    monkeypatch.undo()
    assert len(make_token()) == 48


async def test_a_closed_house_has_no_thread_left() -> None:
    before = set(threading.enumerate())
    async with open_house() as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        started = set(threading.enumerate()) - before
        assert any(thread.name == "cohabit-watchdog" for thread in started)
        assert all(thread.daemon for thread in started), "one that hangs must not keep the process from ending"
    for thread in started:
        if thread.name.startswith(("cohabit", "world-")):
            thread.join(10)
            assert not thread.is_alive(), thread.name


class CountingClock(FakeClock):
    """Counts the timers that are set."""

    timers = 0

    def call_at(self, at: int, then: Callable[[], None]) -> FakeTimer:
        self.timers += 1
        return super().call_at(at, then)


async def test_a_closed_house_sets_no_timer_again(tmp_path: Path) -> None:
    clock = CountingClock()
    async with open_house(clock=clock, heads_file=str(tmp_path / "heads")) as house:
        who = await make_room(house, world="Ticker")
        await who["ann"]("drop")
        before = clock.timers
        await clock.advance(LEASE_MS)
        assert clock.timers > before
    clock.between = None
    assert not [timer for *_, timer in vars(clock)["_timers"] if vars(timer)["_then"] is not None], "all are cancelled"
    before = clock.timers
    await clock.advance(10 * LEASE_MS)
    await a_moment()
    assert clock.timers == before


async def test_a_closed_house_has_no_task_left() -> None:
    before = asyncio.all_tasks()
    async with open_house() as house:
        who = await make_room(house)
        cursor = (await who["bob"]("events")).cursor
        waiting = asyncio.create_task(who["bob"]("events", {"cursor": cursor, "wait_ms": 30_000}))
        await a_moment()
        assert not waiting.done()
    assert {task for task in asyncio.all_tasks() - before if task is not waiting} == set()
    await asyncio.wait([waiting])
    assert waiting.exception() is not None or waiting.cancelled()


async def test_a_closed_house_has_no_agent_left_that_is_about_to_move() -> None:
    before = asyncio.all_tasks()
    async with open_house() as house:
        house.bots.step_ms = 60_000
        text = json.dumps({"world": "nim", "agents": [player("ann", 0, brain="random"), player("bob", 1)]})
        await house.create_room(parse_scenario(text), "table")
        await a_moment()
        (playing,) = [task for task in asyncio.all_tasks() if "Bots._keep_playing" in str(task)]
    assert playing.done()
    assert asyncio.all_tasks() == before


async def test_many_refusals_set_one_timer_to_store_them() -> None:
    clock = CountingClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await clock.advance(1_000)
        # Two more timers the first time: one to put them into the record, when their minute is over, and one to store
        # what was sent.
        for timers in (3, 1):
            before = clock.timers
            for _ in range(10):
                with pytest.raises(UnknownCommand):
                    await who["ann"]("fly")
            assert clock.timers == before + timers
            await clock.advance(1_000)


async def test_a_room_that_was_stopped_sets_no_timer_again() -> None:
    clock = CountingClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="Ticker")
        runner = house.rooms["den"]
        sub = await house.subscribe(house.identify(who["ann"].token), "den")
        await clock.advance(1_000)
        ticks = runner.room.record.seq
        assert ticks > 0
        runner.stop(Quarantined("for the test"))
        seen = dict(runner.time.seen)
        before = clock.timers
        await clock.advance(1_000)
        assert clock.timers == before
        assert isinstance(sub.ended, Quarantined)
        sub.close()
        assert runner.time.seen == seen, "a member of a room that was stopped is not seen there"
        assert runner.room.record.seq == ticks


def test_whoever_stops_watching_a_credential_is_not_told_of_its_end_and_the_others_are() -> None:
    told: list[str] = []
    ada = new_identity("ada")
    credential = Credential(hashed("x"), ada.id, None)
    identities = Identities([ada], [credential])
    stop_first = identities.until_invalid(FakeClock(), credential, lambda: told.append("first"))
    stop_second = identities.until_invalid(FakeClock(), credential, lambda: told.append("second"))
    stop_first()
    stop_first()
    assert identities.revoke([credential]) == [credential]
    assert told == ["second"]
    stop_second()
    assert identities.revoke([credential]) == []
    assert told == ["second"]
    identities.until_invalid(FakeClock(), credential, lambda: None)()
    assert not vars(identities)["_watchers"]


@pytest.mark.parametrize("how", [{}, {"expires_in_s": 3600}])
async def test_a_subscription_that_was_closed_is_not_ended_with_the_credential(how: dict[str, int]) -> None:
    async with open_house() as house:
        await make_room(house, guests=True)
        eve = await issue(house, "eve", **how)
        await eve("join")
        one, other = await eve.reader(), await eve.reader()
        one.sub.close()
        await house.call(house.identify(house.operator_token()), None, "revoke_credential", {"name": "eve"})
        await other.task
        assert one.sub.ended is None
        assert other.ended is not None


async def test_a_call_whose_caller_has_gone_away_waits_no_longer() -> None:
    async with open_house() as house:
        who = await make_room(house)
        before = asyncio.all_tasks()
        waiting = asyncio.ensure_future(who["ann"]("recv_messages", {"wait_ms": 30_000}))
        await a_moment()
        assert len(asyncio.all_tasks() - before) > 1
        waiting.cancel()
        await a_moment()
        assert asyncio.all_tasks() <= before
