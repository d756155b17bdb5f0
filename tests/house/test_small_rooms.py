"""What rooms of a few members share and leave out, so that there can be many of them: with the same result."""

import asyncio
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.house.streams.cursors import seal, unseal
from cohabit.house.streams.fanout import author_sees_more
from cohabit.house.streams.subscriptions import Subscription
from cohabit.model.record import Entry, Told
from cohabit.model.seat import Eye
from cohabit.room.seeing.visibility import feed
from cohabit.room.state import Member

from .making import ANN, BOB, HOST, Client, make_room, open_house

SECRET = "0123456789abcdef" * 2


async def parked(client: Client, deliver: Callable[[bytes], bool]) -> Subscription:
    """A subscription that delivers by itself."""
    reader = await client.house.subscribe(
        client.house.identify(client.token), client.room, views=False, deliver=deliver
    )
    assert await reader.take() is None
    reader.park(lambda: None)
    return reader


# -- cursors ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("secret", "seq", "cursor"),
    [
        ("00" * 16, 0, "a55200fdaca1ebc7"),
        (SECRET, 1, "761fe37c5fe5442b"),
        (SECRET, 2**32, "380fd01ea08661ee"),
        ("ff" * 32, 123_456_789, "bc6c8bf86e28ac5a"),
    ],
)
def test_a_cursor_that_a_client_has_kept_still_means_the_same_entry(secret: str, seq: int, cursor: str) -> None:
    assert seal(secret, seq) == cursor
    assert unseal(secret, cursor, seq) == seq


@given(st.binary(min_size=1, max_size=32), st.integers(0, 2**63))
def test_every_cursor_leads_back_to_its_entry(secret: bytes, seq: int) -> None:
    assert unseal(secret.hex(), seal(secret.hex(), seq), seq) == seq


# -- one frame for all --------------------------------------------------------------------------------
async def test_a_message_to_everyone_is_one_frame_for_its_sender_and_all_others_who_see_the_same() -> None:
    async with open_house() as house:
        people = [{"id": name, "role": "human", "kind": "human"} for name in ("cat", "dan", "eve")]
        who = await make_room(house, ANN, *people)
        got: list[bytes] = []
        for client in (who[str(each["id"])] for each in people):
            await parked(client, lambda frame: not got.append(frame))  # type: ignore[func-returns-value]
        await who["dan"]("send_message", {"to": "*", "content": "one for all"})
        first, *others = got[-3:]
        assert [item["text"] for item in json.loads(first)["items"]] == ["dan to everyone: one for all"]
        assert all(frame is first for frame in others)


told = st.builds(
    Told,
    st.just("x"),
    st.sampled_from(["info", "chat", "direct", "roster", "account", "data", "image", "app view"]),
    seats=st.none() | st.just(("red",)),
    members=st.none() | st.just(("ann", "bob")),
    by_world=st.booleans(),
    shows=st.sampled_from(["", "content"]),
)


@given(
    st.lists(told, max_size=4),
    st.sampled_from(["ann", "bob"]),
    st.sampled_from(["host", "human", "observer"]),
    st.sampled_from([None, Eye("red", "own"), Eye("red", "all")]),
)
def test_only_an_author_who_is_told_something_else_than_its_equals_needs_a_frame_of_its_own(
    notices: list[Told], by: str, role: str, eye: Eye | None
) -> None:
    entry = Entry(1, 1, "do_it", by, {"content": "y"}, tuple(notices), why="because", players={"red": "ann"})
    ann = Member("ann", "human", role, seat="red")
    bob = Member("bob", "human", role, through="red", through_player="cat")
    assert feed(entry, ann, eye) == feed(entry, bob, eye) or author_sees_more(entry)


# -- readers without a task ---------------------------------------------------------------------------
async def test_a_parked_reader_is_called_once_when_it_must_read_on_and_misses_nothing() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        ready = [True]
        seen: list[bytes] = []
        calls: list[None] = []
        reader = await parked(who["bob"], lambda frame: ready[0] and not seen.append(frame))  # type: ignore[func-returns-value]
        reader.park(lambda: calls.append(None))
        for number in range(6):
            ready[0] = number < 2
            await who["ann"]("send_message", {"to": "bob", "content": f"number {number}"})
        assert (len(seen), len(calls)) == (2, 1)
        while (frame := await asyncio.wait_for(reader.take(), 120)) is not None:
            seen.append(frame)
        texts = [item["text"] for frame in seen for item in json.loads(frame)["items"]]
        assert texts == [f"ann to bob: number {number}" for number in range(6)]


async def test_a_parked_reader_is_called_when_its_subscription_ends() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        reader = await parked(who["bob"], lambda frame: True)
        ended: list[bool] = []
        reader.park(lambda: ended.append(reader.ended is not None))
        await who["hostess"]("revoke_token", {"member": "bob"})
        assert ended == [True]


# -- shared tables ------------------------------------------------------------------------------------
async def test_rooms_with_the_same_commands_share_their_table_and_others_have_their_own() -> None:
    async with open_house() as house:
        for room in ("one", "two"):
            await make_room(house, ANN, room=room)
        one, two = (house.rooms.runner_of(room) for room in ("one", "two"))
        assert one is not None
        assert two is not None
        assert one.commands is two.commands
        await make_room(house, ANN, room="other", world="nim")
        other = house.rooms.runner_of("other")
        assert other is not None
        assert other.commands is not one.commands
        assert other.commands.get("take") is not None
        assert one.commands.get("take") is None
