"""The record: what happened, in a chain that shows tampering, from which the room can be made again."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import BadArgs, CohabitError, GameCrash, RecordCorrupt
from cohabit.house.store.expected import Expected
from cohabit.model.record import decode_entry
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, Line, Snapshot, chained, read_lines
from cohabit.room.room import Room
from cohabit.room.state import RoomState

from .making import BLUE, EVERYBODY, HOST, RED, entries, make_room, replayed, restored, whole

Row = tuple[int, bytes, bytes]


def rows(room: Room) -> list[Row]:
    return [(line.seq, line.body, line.digest) for line in whole(room)]


def reread(stored: list[Row]) -> list[Line]:
    return list(read_lines(stored, -1, GENESIS))


def played() -> Room:
    room = make_room(*EVERYBODY)
    for at in range(6):
        room.call("ann", "hide", {"n": at}, at=at)
    return room


# -- the chain --------------------------------------------------------------------------------------
def test_an_unchanged_record_reads_back_and_replays() -> None:
    room = played()
    assert Room.replay(reread(rows(room)), make_world).digest() == room.digest()


@given(st.data())
def test_any_changed_byte_is_found(data: st.DataObject) -> None:
    stored = rows(played())
    i = data.draw(st.integers(0, len(stored) - 1))
    seq, body, digest = stored[i]
    at = data.draw(st.integers(0, len(body) + len(digest) - 1))
    mask = data.draw(st.integers(1, 255))
    both = bytearray(body + digest)
    both[at] ^= mask
    stored[i] = (seq, bytes(both[: len(body)]), bytes(both[len(body) :]))
    with pytest.raises(RecordCorrupt) as found:
        reread(stored)
    assert f"entry {seq}" in found.value.message


@given(st.integers(0, 5))
def test_any_missing_entry_is_found_but_for_the_last(i: int) -> None:
    stored = rows(played())
    del stored[i]
    with pytest.raises(RecordCorrupt, match=f"entry {i} is missing"):
        reread(stored)


@given(st.permutations(range(7)))
def test_any_other_order_is_found(order: list[int]) -> None:
    stored = rows(played())
    if order == list(range(7)):
        return
    with pytest.raises(RecordCorrupt):
        reread([stored[i] for i in order])


def test_an_entry_put_between_two_others_is_found_even_with_a_digest_of_its_own() -> None:
    stored = rows(played())
    body = b'{"seq":7,"at":9,"do":"hide","by":"ann","args":{"n":99}}'
    forged = (stored[3][0], body, chained(stored[2][2], body))
    with pytest.raises(RecordCorrupt):
        reread([*stored[:3], forged, *stored[4:]])


def test_a_chain_that_was_forged_to_its_end_does_not_replay() -> None:
    room = played()
    digest, forged = GENESIS, []
    for seq, body, _ in rows(room):
        changed = body.replace(b'"args":{"n":3}', b'"args":{"n":4}')
        digest = chained(digest, changed)
        forged.append((seq, changed, digest))
    with pytest.raises(RecordCorrupt, match="a different outcome"):
        Room.replay(reread(forged), make_world)


def test_a_digest_of_the_room_in_the_record_stops_a_replay_that_differs() -> None:
    room = make_room(RED, BLUE)
    room.digest_every = 4
    for at in range(8):
        room.call("ann", "mumble", {"n": at}, at=at)
    assert len(entries(room, "digest")) == 2
    assert replayed(room).digest() == room.digest()

    def other_world(source: str, config: Any) -> Any:
        world = make_world(source, config)
        reset = world.reset

        def with_a_difference(seed: int, seats: Any) -> None:
            reset(seed, seats)
            world.shouts = ["somebody else's"]  # type: ignore[attr-defined]

        world.reset = with_a_difference  # type: ignore[method-assign]
        world.snapshot = lambda: msgspec.json.encode([world.kept, world.shouts])  # type: ignore[method-assign,attr-defined]
        return world

    with pytest.raises(RecordCorrupt, match="differs"):
        Room.replay(whole(room), other_world)


def test_an_entry_that_cannot_be_read_is_damage_even_with_a_digest_of_its_own() -> None:
    body = b"not an entry"
    with pytest.raises(RecordCorrupt, match="entry 0 cannot be read") as found:
        reread([(0, body, chained(GENESIS, body))])
    assert found.value.details["seq"] == 0


def test_a_snapshot_that_has_the_right_checksum_but_is_none_cannot_be_read() -> None:
    body = msgspec.msgpack.encode(["nonsense"])
    with pytest.raises(RecordCorrupt, match="cannot be read"):
        Snapshot.decode(sha256(body).digest() + body)


def test_a_record_that_ends_before_a_known_head_misses_entries_and_a_longer_one_does_not() -> None:
    known = Expected(5, b"digest", "a snapshot")
    known.check_end(5)
    known.check_end(6)
    with pytest.raises(RecordCorrupt, match="ends with entry 4, but a snapshot is of entry 5") as found:
        known.check_end(4)
    assert found.value.details["seq"] == 5
    known.check_digest(b"digest")
    with pytest.raises(RecordCorrupt, match="a snapshot, of entry 5, does not belong"):
        known.check_digest(b"another")


def test_a_record_can_be_followed_entry_by_entry() -> None:
    room = played()
    steps = [(again.record.seq, line.seq, again.state.tick) for again, line in Room.replaying(whole(room), make_world)]
    assert [seq for seq, _, _ in steps] == [seq for _, seq, _ in steps] == list(range(len(whole(room))))
    *_, (last, _) = Room.replaying(whole(room), make_world)
    assert last.digest() == room.digest()
    with pytest.raises(RecordCorrupt, match="does not begin"):
        next(Room.replaying(whole(room)[1:], make_world))


@given(st.data())
def test_any_changed_byte_of_a_snapshot_is_found(data: st.DataObject) -> None:
    body = bytearray(played().snapshot().encode())
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(RecordCorrupt):
        Snapshot.decode(bytes(body))


@given(st.integers(0, 400))
def test_a_snapshot_that_was_cut_off_is_found(length: int) -> None:
    with pytest.raises(RecordCorrupt):
        Snapshot.decode(played().snapshot().encode()[:length])


def test_a_record_without_its_beginning_does_not_replay() -> None:
    room = played()
    with pytest.raises(RecordCorrupt):
        Room.replay(whole(room)[1:], make_world)
    with pytest.raises(RecordCorrupt):
        Room.replay([], make_world)


@pytest.mark.parametrize("again", [lambda room, make: Room.replay(whole(room), make),
                                   lambda room, make: Room.restore(room.snapshot(), [], make)])  # fmt: skip
def test_another_version_of_the_world_is_refused_by_name(again: Callable[[Room, Any], Room]) -> None:
    room = played()

    def newer(source: str, config: Any) -> Any:
        world = make_world(source, config)
        world.spec = msgspec.structs.replace(world.spec, version=2)  # type: ignore[misc]
        return world

    with pytest.raises(RecordCorrupt) as refused:
        again(room, newer)
    assert "version 1" in refused.value.message
    assert "version 2" in refused.value.message
    assert "secrets" in refused.value.message


# -- failing worlds ---------------------------------------------------------------------------------
def test_a_world_that_fails_in_the_middle_of_an_action_leaves_everything_as_it_was() -> None:
    room = played()
    before, seq = room.digest(), room.record.seq
    with pytest.raises(GameCrash) as crash:
        room.call("ann", "break_down", at=10)
    assert "ZeroDivisionError" in crash.value.message
    assert (room.digest(), room.record.seq) == (before, seq)
    assert room.call("ann", "hide", {"n": 7}, at=11).success
    assert replayed(room).digest() == room.digest()


@pytest.mark.parametrize("again", [restored, replayed])
def test_a_room_that_was_just_restored_or_replayed_is_rolled_back_too(again: Callable[[Room], Room]) -> None:
    room = again(played())
    before = room.digest()
    with pytest.raises(GameCrash):
        room.call("ann", "break_down", at=10)
    assert room.digest() == before
    assert room.call("ann", "hide", {"n": 7}, at=11).success


def test_a_query_that_fails_leaves_everything_as_it_was() -> None:
    room = played()
    before = room.digest()
    with pytest.raises(GameCrash):
        room.call("ann", "trouble", at=10)
    assert room.digest() == before


def test_an_action_after_which_the_world_cannot_be_observed_did_not_happen() -> None:
    room = make_room(RED, BLUE, world="Moody", config={"fails_in": "observe"})
    before = room.digest()
    with pytest.raises(GameCrash):
        room.call("ann", "move", at=1)
    assert room.digest() == before
    assert not entries(room, "move")
    assert room.record.seq == 0
    assert room.call("ann", "view", at=2).text


@pytest.mark.parametrize("fails_in", ["skip", "skip politely"])
def test_a_skip_that_fails_leaves_everything_as_it_was(fails_in: str) -> None:
    room = make_room(RED, BLUE, world="Moody", config={"fails_in": fails_in}, turn_seconds=10)
    before = room.digest()
    with pytest.raises(GameCrash):
        room.settle(10_000)
    assert room.digest() == before


def test_a_world_that_cannot_be_set_up_opens_no_room() -> None:
    with pytest.raises(GameCrash):
        make_room(RED, BLUE, world="Moody", config={"fails_in": "reset"})


def test_a_crash_keeps_what_is_not_stored_yet_for_the_store() -> None:
    room = played()
    waiting = [line.seq for line in room.record.pending]
    with pytest.raises(GameCrash):
        room.call("ann", "break_down", at=10)
    assert [line.seq for line in room.record.pending] == waiting


def test_going_back_over_the_last_entries_gives_the_room_before_them() -> None:
    room = played()
    digests = [room.digest()]
    for at in range(10, 14):
        room.call("bob", "shout", {"text": "x"}, at=at)
        digests.append(room.digest())
    for n in (1, 2, 1):
        room.roll_back(n)
        del digests[-n:]
        assert room.digest() == digests[-1]
        assert [e.seq for e in entries(room)] == list(range(room.record.seq + 1))


@pytest.mark.uses("messages")
def test_arguments_that_json_cannot_write_are_refused_before_anything_happens() -> None:
    room = played()
    before = room.digest()
    for name, args in (
        ("send_message", {"to": "bob", "content": "\ud800"}),
        ("shout", {"text": "\udfff"}),
        ("weigh", {"grams": float("nan")}),
        ("weigh", {"grams": float("inf")}),
        ("anything", {"given": "\ud800"}),
        ("anything", {"given": object()}),
        ("act", {"action": "shout", "params": {"text": "x"}, "reasoning": "\ud800"}),
    ):
        with pytest.raises(BadArgs):
            room.call("ann", name, args, at=9)
        assert room.digest() == before
    assert Room.replay(reread(rows(room)), make_world).digest() == before


def test_every_command_takes_its_arguments_by_the_names_with_which_they_are_recorded() -> None:
    room = make_room()
    renamed = [
        command.name for command in (*room.commands, *room.commands.system.values())
        if command.records and command.args_type.__struct_fields__ != command.arguments
    ]  # fmt: skip
    assert renamed == []
    room.call("hostess", "open_to_nexus", at=1)
    assert whole(replayed(room)) == whole(room)


def test_an_action_may_have_the_name_of_something_the_house_does() -> None:
    room = make_room(RED, BLUE)
    room.call("ann", "open", at=1)
    again = replayed(room)
    assert again.digest() == room.digest()
    assert "opens the door" in again.call("ann", "view", at=2).text


def test_a_world_cannot_take_the_name_of_a_command_every_room_has() -> None:
    from cohabit.room.opening import opening_state
    from cohabit.scenario import parse_scenario
    from cohabit.world import Outcome, Seat, action
    from cohabit.worlds.nim import Nim

    class Rude(Nim):
        @action()
        def whoami(self, by: Seat) -> Outcome:
            """A reserved name."""
            return Outcome()

    found = parse_scenario('{"agents": [{"id": "a"}]}')
    with pytest.raises((ValueError, CohabitError), match="whoami"):
        Room.create(opening_state(found, Rude(), "nim", "room-1", 1, "00"), Rude(), 0)


# -- replay equals play -------------------------------------------------------------------------------
MEMBERS = [str(agent["id"]) for agent in EVERYBODY]
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "Secrets": [
        ("hide", {"n": 3}), ("hide", {"n": "x"}), ("mumble", {"n": 2}), ("shout", {"text": "héllo"}), ("strike", {"target": "red"}),
        ("strike", {"target": "blue"}), ("strike", {"target": "?"}), ("break_down", {}), ("trouble", {}), ("finish", {}),
        ("anything", {"given": [1, {"a": None}]}), ("weigh", {"grams": 1.5}), ("open", {}), ("sit", {"seat": "red"}),
        ("sit", {"seat": "green"}), ("stand_up", {}),
    ],
    "Realms": [
        ("rise", {"name": "a"}), ("rise", {"name": "b"}), ("fall", {"name": "a"}), ("fall", {"name": "zz"}), ("build", {}),
        ("build", {"where": "a"}), ("pray", {}), ("sit", {"seat": "b"}),
    ],
    "Bids": [("bid", {"n": 1}), ("bid", {"n": 9}), ("bid", {"n": 10}), ("bid", {})],
    "Ticker": [("drop", {}), ("pause", {}), ("resume", {}), ("set_speed", {"speed_id": "x5"}), ("set_speed", {"speed_id": "?"})],
    "nim": [("take", {"n": 1}), ("take", {"n": 3}), ("take", {"n": 4}), ("heap", {})],
    "tictactoe": [("mark", {"cell": i}) for i in range(10)],
    "Moody": [("move", {})],
}  # fmt: skip
COMMON: list[tuple[str, dict[str, Any]]] = [
    ("send_message", {"to": "bob", "content": "hi"}), ("send_message", {"to": "*", "content": "hi", "kind": "k"}),
    ("send_message", {"to": "team:t", "content": "hi"}), ("send_message", {"to": "nobody", "content": "hi"}),
    ("grant", {"member": "ann", "may": ["watch", "act"], "expires_in_s": 20}), ("widen", {"member": "bot", "may": ["act"]}),
    ("narrow", {"member": "bob", "may": ["act"]}), ("revoke", {"member": "pat"}), ("clear_grant", {"member": "ann"}),
    ("add_member", {"id": "new", "role": "player", "claim": "auto:2"}), ("remove_member", {"member": "new"}),
    ("remove_member", {"member": "ann"}), ("turn_advance", {}), ("reset", {"seed": 3}), ("rematch", {}), ("whoami", {}),
    ("view", {}), ("nonsense", {}), ("recv_messages", {}), ("audit", {}), ("session_info", {}),
]  # fmt: skip


@st.composite
def plays(draw: st.DrawFn) -> tuple[str, dict[str, Any], list[Any]]:
    world = draw(st.sampled_from(sorted(CALLS)))
    ordered = world in ("Bids", "nim", "tictactoe", "Moody")
    keys: dict[str, Any] = {"teams": {"t": ["ann", "bob"]}, "partial_intel": draw(st.booleans())}
    if not ordered and draw(st.booleans()):
        keys["turn_based"] = True
    if (ordered or "turn_based" in keys) and draw(st.booleans()):
        keys["turn_seconds"] = 15
    if draw(st.booleans()):
        keys["rematch_seconds"] = 5
    call = st.tuples(
        st.sampled_from(MEMBERS), st.sampled_from(CALLS[world] + COMMON), st.integers(0, 9000),
        st.none() | st.sampled_from(["k1", "k2"]),
    )  # fmt: skip
    system = st.tuples(
        st.none(),
        st.sampled_from(
            [
                ("presence", {"members": ["ann", "bob"], "here": True}), ("presence", {"members": ["ann"], "here": False}),
                ("opened", {"gap": 5000}), *([("ticks", {"n": 3})] if world == "Ticker" else []),
            ]
        ),
        st.integers(0, 9000), st.none(),
    )  # fmt: skip
    return world, keys, draw(st.lists(call | call | system, max_size=25))


def test_an_argument_that_is_a_word_of_python_is_recorded_under_its_own_name(tmp_path: Path) -> None:
    file = tmp_path / "tally.py"
    text = (Path(__file__).parent.parent / "testing" / "tally.py").read_text()
    file.write_text(
        text.replace("n: Annotated", "from_: Annotated").replace("if not 1 <= n", "n = from_\n        if not 1 <= n")
    )
    room = make_room(RED, BLUE, world=str(file))
    room.call("ann", "add", {"from": 3}, at=1)
    assert entries(room, "add")[0].args == {"from": 3}
    assert replayed(room).digest() == room.digest()


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(plays())
def test_record_and_snapshot_give_the_same_room_and_refusals_change_nothing_in_any_play(
    play: tuple[str, dict[str, Any], list[Any]],
) -> None:
    world, keys, calls = play
    room = make_room(*EVERYBODY, world=world, **keys)
    room.digest_every = 5
    at = 0
    for who, (name, args), later, key in calls:
        at += later
        room.settle(at)
        before = room.digest()
        try:
            if who is None:
                present = [m for m in args.get("members", []) if m in room.state.members]
                room.system(name, {**args, "members": present} if "members" in args else args, at)
            elif who in room.state.members:
                room.call(who, name, args, at=at, key=key)
        except CohabitError as refused:
            assert refused.code != "INTERNAL"
            assert room.digest() == before
    stored = rows(room)
    assert [decode_entry(body) for _, body, _ in stored] == [line.entry for line in reread(stored)]
    assert Room.replay(reread(stored), make_world).digest() == room.digest()
    assert restored(room).digest() == room.digest()
    assert restored(room).next_deadline() == room.next_deadline()
    room.roll_back()
    assert rows(room) == stored


@settings(max_examples=examples(30))
@given(plays(), st.integers(0, 24))
def test_a_snapshot_from_the_middle_and_the_tail_after_it_give_the_same_room(
    play: tuple[str, dict[str, Any], list[Any]], cut: int
) -> None:
    world, keys, calls = play
    room = make_room(*EVERYBODY, world=world, **keys)
    at, snapshot = 0, room.snapshot().encode()
    for i, (who, (name, args), later, key) in enumerate(calls):
        at += later
        if who is not None and who in room.state.members:
            try:
                room.call(who, name, args, at=at, key=key)
            except CohabitError:
                continue
        if i == cut:
            snapshot = room.snapshot().encode()
    start = Snapshot.decode(snapshot)
    tail = [row for row in rows(room) if row[0] > start.seq]
    again = Room.restore(start, read_lines(tail, start.seq, start.digest), make_world)
    assert again.digest() == room.digest()
    assert again.record.digest == room.record.digest


def test_two_hosts_at_once_and_a_room_beside_it_change_nothing() -> None:
    alone, beside = make_room(RED, BLUE, HOST), make_room(RED, BLUE, HOST)
    other = make_room(RED, BLUE, HOST)
    for at in range(5):
        alone.call("ann", "hide", {"n": at}, at=at)
        beside.call("ann", "hide", {"n": at}, at=at)
        other.call("bob", "hide", {"n": 9}, at=at)
        beside.call("bob", "view", at=at)
    assert alone.digest() == beside.digest()


def test_a_field_that_a_later_version_adds_to_the_state_changes_no_digest_of_older_rooms() -> None:
    class LaterState(RoomState):
        dice_rolled: int = 0

    room = make_room()
    before = room.digest()
    room.state = msgspec.convert(msgspec.to_builtins(room.state), LaterState)
    assert room.digest() == before
    room.state.dice_rolled = 1
    assert room.digest() != before


def test_a_room_that_was_rolled_back_has_the_timers_of_its_earlier_state() -> None:
    room = make_room(RED, HOST)
    room.call("hostess", "widen", {"member": "ann", "may": ["send_broadcast"], "expires_in_s": 60}, at=1000)
    assert room.next_deadline() == 61_000
    room.roll_back(1)
    assert room.next_deadline() is None


def test_what_waits_to_be_stored_is_handed_out_once_with_its_size() -> None:
    record = make_room(RED, BLUE).record
    assert record.pending_bytes == sum(len(line.body) for line in record.pending) > 0
    assert len(record.take_pending()) == 1
    assert (record.pending, record.pending_bytes) == ([], 0)
