"""Reset, rematch and archive."""

import pytest

from cohabit.errors import BadArgs, Disabled, GameRejected, PermissionDenied

from .making import BLUE, EVERYBODY, GOD, HOST, RED, entries, make_room, replayed, told_last

WITHOUT = ["ann", "owl", "nora", "bot", "pat"]


@pytest.mark.parametrize("name", ["reset", "rematch", "archive"])
def test_only_members_with_control_world_can_reset_or_archive(name: str) -> None:
    room = make_room(*EVERYBODY)
    before = room.digest()
    for who in WITHOUT:
        with pytest.raises(PermissionDenied) as refused:
            room.call(who, name, at=1)
        assert "control_world" in refused.value.message
    assert room.digest() == before
    assert room.call("hostess", name, at=2)


def test_a_world_that_deals_only_once_never_deals_the_same_again() -> None:
    seats = [
        {"id": name, "role": "player", "claim": f"auto:{n}"} for n, name in enumerate(["ann", "bob", "cal", "dan"])
    ]
    room = make_room(*seats, HOST, world="whist")
    seen = set()
    for at, command in enumerate(["reset", "reset", "rematch"], 1):
        seen.add((room.state.seed, room.world.draw.game, room.world.draw.commitment))
        room.call("hostess", command, at=at)
    seen.add((room.state.seed, room.world.draw.game, room.world.draw.commitment))
    assert [len(set(values)) for values in zip(*seen, strict=True)] == [4, 4, 4]


def test_a_reset_gives_the_same_world_again_and_the_record_continues() -> None:
    room = make_room(RED, BLUE, GOD, world="nim")
    heap = room.call("ann", "heap", at=1)
    room.call("ann", "take", {"n": 1}, at=1)
    begun = room.call("zeus", "reset", at=2)
    assert [told.text for told in entries(room, "reset")[0].told] == ["zeus reset the world: game 2"]
    assert (begun.game, begun.seed) == (2, f"{7:032x}")
    assert room.call("ann", "heap", at=3) == heap
    assert [e.do for e in entries(room)] == ["open", "take", "reset"]
    assert room.call("zeus", "reset", {"seed": 8}, at=4).seed == f"{8:032x}"
    assert room.call("zeus", "reset", {"seed": "ff" * 16}, at=5).seed == "ff" * 16
    assert replayed(room).digest() == room.digest()


def test_a_rematch_draws_its_seed_from_the_last_one() -> None:
    rooms = [make_room(RED, BLUE, GOD, world="nim") for _ in range(2)]
    seeds = [[room.call("zeus", "rematch", at=i).seed for i in range(3)] for room in rooms]
    assert seeds[0] == seeds[1]
    assert len({f"{7:032x}", *seeds[0]}) == 4
    assert all(len(seed) == 32 for seed in seeds[0])


def test_the_seed_of_a_rematch_does_not_follow_from_the_last_seed_alone() -> None:
    """A member who once knew a seed must not be able to compute the games that follow."""
    rooms = [make_room(RED, BLUE, GOD, world="nim") for _ in range(2)]
    rooms[1].state.secret = "ff" * 16
    assert rooms[0].call("zeus", "rematch", at=1).seed != rooms[1].call("zeus", "rematch", at=1).seed


@pytest.mark.parametrize("seed", [-1, "f" * 33, "xyz", "", "-1", 1.5])
def test_a_seed_is_a_whole_number_or_hexadecimal_digits_of_128_bits(seed: object) -> None:
    room = make_room(RED, BLUE, GOD)
    with pytest.raises(BadArgs, match="seed"):
        room.call("zeus", "reset", {"seed": seed}, at=1)
    assert room.snapshot().encode()


@pytest.mark.uses("messages")
def test_an_archived_room_can_be_read_and_not_changed() -> None:
    room = make_room(*EVERYBODY)
    room.call("ann", "shout", {"text": "last words"}, at=1)
    room.call("hostess", "archive", at=2)
    before = room.digest()
    for who, name, args in (
        ("ann", "shout", {"text": "x"}), ("zeus", "strike", {"target": "red"}), ("hostess", "reset", {}),
        ("ann", "send_message", {"to": "bob", "content": "x"}), ("hostess", "add_member", {"id": "x"}),
    ):  # fmt: skip
        with pytest.raises(Disabled) as refused:
            room.call(who, name, args, at=3)
        assert "archived" in refused.value.message
    assert "last words" in room.call("bob", "view", at=4).text
    assert room.digest() == before


def test_an_archived_room_has_no_turn_clock() -> None:
    room = make_room(RED, BLUE, HOST, world="nim", turn_seconds=10)
    room.call("hostess", "archive", at=1)
    assert room.next_deadline() is None


def test_a_room_comes_back_from_the_archive_as_it_was_and_no_time_has_passed_in_it() -> None:
    room = make_room(RED, BLUE, HOST, world="nim", turn_seconds=10)
    room.call("ann", "take", {"n": 1}, at=1000)
    room.call("hostess", "archive", at=4000)
    with pytest.raises(PermissionDenied):
        room.call("ann", "unarchive", at=5000)
    room.system("presence", {"members": ["ann"], "here": True}, at=500_000)  # the house writes there, too
    room.system("presence", {"members": ["ann"], "here": False}, at=900_000)
    assert not room.call("hostess", "unarchive", at=1_000_000).archived
    assert room.next_deadline() == 1_000_000 + 7000, "bob has what was left of his time"
    assert room.state.members["ann"].away_since == 1_000_000
    room.call("bob", "take", {"n": 1}, at=1_000_001)
    with pytest.raises(GameRejected, match="not archived"):
        room.call("hostess", "unarchive", at=1_000_002)
    assert replayed(room).digest() == room.digest()


def test_a_finished_game_is_followed_by_the_next_where_the_scenario_says_so() -> None:
    room = make_room(RED, BLUE, world="nim", rematch_seconds=5, config={"stones": 1})
    room.call("ann", "take", {"n": 1}, at=1000)
    assert room.next_deadline() == 6000
    room.settle(6000)
    assert [e.by for e in entries(room, "rematch_due")] == [None]
    assert room.call("ann", "session_info", at=6001).game == 2
    assert replayed(room).digest() == room.digest()


def test_an_archived_room_says_so_and_everybody_is_told() -> None:
    room = make_room(RED, GOD)
    assert room.call("zeus", "archive", at=1).archived
    assert told_last(room)["ann"] == ["zeus archived this room"]
