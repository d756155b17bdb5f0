"""What is closed, revoked or unsubscribed leaves nothing behind: no thread, no timer, no callback."""

import secrets
import threading
from collections import Counter

import pytest

from cohabit.house.identities import ALPHABET, Identities, hashed, make_token, new_identity
from cohabit.model.identity import Credential
from cohabit.testing.clock import FakeClock

from .making import make_room, newcomer, open_house


def test_every_character_of_a_token_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohabit.house.identities.TOKEN_LENGTH", 248)
    monkeypatch.setattr(secrets, "token_bytes", lambda size: bytes(range(256)))
    token = make_token()
    assert Counter(token) == dict.fromkeys(ALPHABET, 4)
    monkeypatch.undo()
    assert len(make_token()) == 48


async def test_a_closed_house_has_no_thread_and_no_timer_left() -> None:
    before, clock = set(threading.enumerate()), FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        started = set(threading.enumerate()) - before
        assert any(thread.name == "cohabit-watchdog" for thread in started)
    for thread in started:
        if thread.name.startswith(("cohabit", "world-", "heads")):
            thread.join(10)
            assert not thread.is_alive(), thread.name
    clock.between = None
    assert not house.rooms["den"].fanout.subscriptions
    await clock.advance(10 * 60_000)  # nothing of the closed house runs any more, so nothing fails


def test_whoever_stops_watching_a_credential_is_not_told_of_its_end_and_the_others_are() -> None:
    told: list[str] = []
    ada = new_identity("ada")
    credential = Credential(hashed("x"), ada.id, None)
    identities = Identities([ada], [credential])
    stop_first = identities.watch(credential, lambda: told.append("first"))
    stop_second = identities.watch(credential, lambda: told.append("second"))
    stop_first()
    stop_first()
    assert identities.revoke([credential]) == [credential]
    assert told == ["second"]
    stop_second()
    assert identities.revoke([credential]) == []
    assert told == ["second"]


async def test_a_subscription_that_was_closed_is_not_ended_by_the_credential() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        eve = await newcomer(who["hostess"], "eve", expires_in_s=3600)
        one, other = await eve.reader(), await eve.reader()
        one.sub.close()
        await who["hostess"]("remove_member", {"member": "eve"})
        await other.task
        assert one.sub.ended is None
        assert other.ended is not None
