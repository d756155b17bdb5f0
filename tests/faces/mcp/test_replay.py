from __future__ import annotations

from mcp.server.lowlevel import Server
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCNotification

from cohabit.faces.mcp.replay import Replay, ReplayingSessions


def _note(n: int) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method=f"notifications/{n}")


async def _replayed(store: Replay, after: str) -> tuple[str | None, list[str]]:
    got: list[str] = []

    async def send(event: EventMessage) -> None:
        assert isinstance(event.message, JSONRPCNotification)
        got.append(event.message.method)

    return await store.replay_events_after(after, send), got


async def test_a_stream_resumes_after_the_last_event_seen_and_other_streams_stay_out_of_it() -> None:
    store = Replay()
    seen = await store.store_event("1", None)
    await store.store_event("2", _note(1))
    await store.store_event("1", _note(2))
    assert await _replayed(store, seen) == ("1", ["notifications/2"])


async def test_an_event_that_was_forgotten_or_never_was_resumes_nothing() -> None:
    store = Replay(max_events=2)
    first = await store.store_event("1", None)
    for n in range(3):
        await store.store_event("1", _note(n))
    assert await _replayed(store, first) == (None, [])
    assert await _replayed(store, "no such event") == (None, [])


def test_every_session_gets_a_store_of_its_own() -> None:
    # The SDK calls a stream "1" in every session that sends a request 1: one store would mix them up.
    sessions = ReplayingSessions(Server("house"))
    assert sessions.event_store is not sessions.event_store
