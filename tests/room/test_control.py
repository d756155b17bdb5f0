"""Starting over, playing again, closing for good."""

import pytest

from cohabit.errors import Disabled, PermissionDenied

from .making import BLUE, EVERYBODY, HOST, RED, entries, make_room, replayed

WITHOUT = ["ann", "owl", "nora", "bot", "pat"]


@pytest.mark.parametrize("name", ["reset", "rematch", "archive"])
def test_only_who_holds_control_world_can_start_over_or_close(name: str) -> None:
    room = make_room(*EVERYBODY)
    before = room.digest()
    for who in WITHOUT:
        with pytest.raises(PermissionDenied) as refused:
            room.call(who, name, at=1)
        assert "control_world" in refused.value.message
    assert room.digest() == before
    assert room.call("hostess", name, at=2)


def test_a_reset_gives_the_same_world_again_and_the_record_goes_on() -> None:
    room = make_room(RED, BLUE, HOST, world="nim")
    heap = room.call("ann", "heap", at=1)
    room.call("ann", "take", {"n": 1}, at=1)
    begun = room.call("hostess", "reset", at=2)
    assert (begun.game, begun.seed) == (2, 7)
    assert room.call("ann", "heap", at=3) == heap
    assert [e.do for e in entries(room)] == ["open", "take", "reset"]
    assert room.call("hostess", "reset", {"seed": 8}, at=4).seed == 8
    assert replayed(room).digest() == room.digest()


def test_a_rematch_draws_its_seed_from_the_last_one() -> None:
    rooms = [make_room(RED, BLUE, HOST, world="nim") for _ in range(2)]
    seeds = [[room.call("hostess", "rematch", at=i).seed for i in range(3)] for room in rooms]
    assert seeds[0] == seeds[1]
    assert len({7, *seeds[0]}) == 4


@pytest.mark.parametrize("seed", [-1, 2**63, "1", 1.5])
def test_a_seed_is_a_whole_number_that_can_be_kept(seed: object) -> None:
    room = make_room()
    with pytest.raises(Exception, match="seed"):
        room.call("hostess", "reset", {"seed": seed}, at=1)
    assert room.snapshot().encode()


def test_an_archived_room_is_read_and_not_changed() -> None:
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


def test_a_finished_game_is_followed_by_the_next_where_the_scenario_says_so() -> None:
    room = make_room(RED, BLUE, world="nim", rematch_seconds=5, config={"stones": 1})
    room.call("ann", "take", {"n": 1}, at=1000)
    assert room.next_deadline() == 6000
    room.settle(6000)
    assert [e.by for e in entries(room, "rematch_due")] == [None]
    assert room.call("ann", "session_info", at=6001).game == 2
    assert replayed(room).digest() == room.digest()
