"""A client that lost a reply repeats the call with the same key, and the action is done once."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, GameRejected
from cohabit.room.replies import KEYS_KEPT
from cohabit.room.room import Room

from .making import BLUE, GOD, HOST, RED, entries, make_room, replayed, restored, saved


def test_the_same_key_gives_the_same_answer_and_acts_once() -> None:
    room = make_room()
    first = room.call("ann", "hide", {"n": 1}, at=1, key="k")
    again = room.call("ann", "hide", {"n": 1}, at=2, key="k")
    assert again == first
    assert len(entries(room, "hide")) == 1


def test_a_repeated_call_is_answered_when_it_is_no_longer_the_members_turn() -> None:
    room = make_room(RED, BLUE, world="nim")
    first = room.call("ann", "take", {"n": 1}, at=1, key="k")
    again = room.call("ann", "take", {"n": 1}, at=2, key="k")
    assert (again.success, again.message) == (first.success, first.message)
    room.call("bob", "take", {"n": 1}, at=3)
    assert room.call("ann", "take", {"n": 1}, at=4, key="k").message == first.message
    assert len(entries(room, "take")) == 2


@pytest.mark.uses("messages")
def test_a_message_sent_twice_with_one_key_arrives_once() -> None:
    room = make_room()
    replies = [
        msgspec.to_builtins(room.call("ann", "send_message", {"to": "bob", "content": "x"}, at=1, key="k"))
        for _ in range(3)
    ]
    assert replies[0] == replies[1] == replies[2]
    assert room.call("bob", "recv_messages", at=2).count == 1


@pytest.mark.parametrize(("name", "args"), [("hide", {"n": 2}), ("mumble", {"n": 1}), ("turn_advance", {})])
def test_the_same_key_for_something_else_is_a_conflict_and_does_nothing(name: str, args: dict[str, int]) -> None:
    room = make_room()
    room.call("ann", "hide", {"n": 1}, at=1, key="k")
    before = room.digest()
    with pytest.raises(Conflict) as refused:
        room.call("ann", name, args, at=2, key="k")
    assert "k" in refused.value.message
    assert room.digest() == before


def test_act_and_the_action_it_names_are_the_same_call() -> None:
    room = make_room()
    room.call("ann", "hide", {"n": 1}, at=1, key="k")
    room.call("ann", "act", {"action": "hide", "params": {"n": 1}}, at=2, key="k")
    assert len(entries(room, "hide")) == 1


def test_keys_are_each_members_own() -> None:
    room = make_room()
    room.call("ann", "hide", {"n": 1}, at=1, key="k")
    room.call("bob", "hide", {"n": 2}, at=1, key="k")
    assert len(entries(room, "hide")) == 2


def test_a_repeated_call_in_a_room_that_was_resumed_says_whether_the_game_is_over() -> None:
    room = make_room(RED, BLUE, world="nim", config={"stones": 4})
    room.call("ann", "take", {"n": 3}, at=1, key="a", look=False)
    assert restored(room).call("ann", "take", {"n": 3}, at=2, key="a", look=False).done is False
    room.call("bob", "take", {"n": 1}, at=3, key="b", look=False)
    assert restored(room).call("bob", "take", {"n": 1}, at=4, key="b", look=False).done is True


def test_a_refused_call_does_not_use_up_its_key() -> None:
    room = make_room(RED, BLUE, world="nim", config={"stones": 1})
    with pytest.raises(GameRejected):
        room.call("ann", "take", {"n": 3}, at=1, key="k")
    assert room.call("ann", "take", {"n": 1}, at=2, key="k").success


def test_keys_survive_a_snapshot_and_a_replay() -> None:
    room = make_room()
    first = room.call("ann", "hide", {"n": 1}, at=1, key="k")
    for back in (restored(room), replayed(room)):
        assert back.call("ann", "hide", {"n": 1}, at=2, key="k") == first
        assert back.record.seq == room.record.seq
        with pytest.raises(Conflict):
            back.call("ann", "hide", {"n": 2}, at=2, key="k")


def test_only_the_newest_keys_are_kept() -> None:
    room = make_room()
    for i in range(KEYS_KEPT + 10):
        room.call("ann", "hide", {"n": i}, at=1, key=f"k{i}")
    assert len(room.state.replies["ann"]) == KEYS_KEPT
    room.call("ann", "hide", {"n": KEYS_KEPT + 9}, at=1, key=f"k{KEYS_KEPT + 9}")
    assert len(entries(room, "hide")) == KEYS_KEPT + 10


@pytest.mark.parametrize("key", ["x", "x" * 200, "a key of its own: ü"])
def test_a_key_has_one_to_two_hundred_printable_characters(key: str) -> None:
    room = make_room()
    first = room.call("ann", "hide", {"n": 1}, at=1, key=key)
    assert room.call("ann", "hide", {"n": 1}, at=2, key=key) == first


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", "\ud800"])
def test_a_key_that_cannot_be_written_down_is_refused(key: str) -> None:
    room = make_room()
    with pytest.raises(BadArgs):
        room.call("ann", "hide", {"n": 1}, at=1, key=key)
    assert not entries(room, "hide")


def test_repeated_calls_count_for_the_rate_limit_and_are_answered_again_in_the_next_second() -> None:
    room = make_room()
    room.budget.per_second = 3
    first = room.call("ann", "hide", {"n": 1}, at=10, key="k")
    for _ in range(2):
        assert room.call("ann", "hide", {"n": 1}, at=10, key="k") == first
    for _ in range(5):
        with pytest.raises(Busy):
            room.call("ann", "hide", {"n": 1}, at=999, key="k")
    room.call("bob", "whoami", at=999)
    with pytest.raises(Busy):  # not CONFLICT: comparing the arguments with those of the first call takes time
        room.call("ann", "hide", {"n": 2}, at=999, key="k")
    assert room.call("ann", "hide", {"n": 1}, at=1000, key="k") == first
    room.call("bob", "hide", {"n": 1}, at=1000, key="k")
    assert [e.by for e in entries(room, "hide")] == ["ann", "bob"]


def test_a_key_on_a_read_changes_nothing() -> None:
    room = make_room()
    room.call("ann", "whoami", at=1, key="k")
    room.call("ann", "hide", {"n": 1}, at=1, key="k")
    assert len(entries(room, "hide")) == 1


def test_the_keys_of_a_removed_member_do_not_answer_the_next_member_with_its_handle() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("ann", "hide", {"n": 1}, at=1, key="k")
    room.call("hostess", "remove_member", {"member": "ann"}, at=2)
    room.call("hostess", "add_member", {"id": "ann", "role": "player", "claim": "auto:0"}, at=3)
    room.call("ann#2", "hide", {"n": 1}, at=4, key="k")
    assert [e.by for e in entries(room, "hide")] == ["ann", "ann#2"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.integers(0, 2), st.sampled_from(["a", "b", "c"])), max_size=20
    )
)
def test_each_key_acts_at_most_once_in_any_order_of_calls(calls: list[tuple[str, int, str]]) -> None:
    room = make_room()
    acted: dict[tuple[str, str], int] = {}
    for who, n, key in calls:
        expected = acted.setdefault((who, key), n)
        try:
            room.call(who, "hide", {"n": n}, at=1, key=key)
            assert n == expected
        except CohabitError as refused:
            assert refused.code == "CONFLICT"
            assert n != expected
    assert len(entries(room, "hide")) == len(acted)
    assert replayed(room).digest() == room.digest()


# -- another game ---------------------------------------------------------------------------------
def loaded(room: Room, at: int) -> None:
    room.system("loaded", {"by": "zeus", "save": saved(room)}, at)


def next_game_by_itself(room: Room, at: int) -> None:
    room.system("rematch_due", {}, at)


NEW_GAMES: dict[str, Callable[[Room, int], object]] = {
    "reset": lambda room, at: room.call("zeus", "reset", at=at),
    "reset with another seed": lambda room, at: room.call("zeus", "reset", {"seed": 5}, at=at),
    "rematch": lambda room, at: room.call("zeus", "rematch", at=at),
    "the next game begins by itself": next_game_by_itself,
    "a save is loaded": loaded,
}


@pytest.mark.uses("retries")
@pytest.mark.parametrize("how", NEW_GAMES)
def test_a_new_game_gives_no_reply_of_an_old_one_and_does_not_repeat_its_calls(how: str) -> None:
    room = make_room(RED, BLUE, GOD, world="nim")
    room.call("ann", "take", {"n": 1}, at=1, key="move-1")
    NEW_GAMES[how](room, 2)
    taken = len(entries(room, "take"))
    for same in (room, restored(room), replayed(room)):
        with pytest.raises(Conflict, match=r"'move-1' was used in an earlier game .* use a new one"):
            same.call("ann", "take", {"n": 1}, at=3, key="move-1")
        assert len(entries(room, "take")) == taken
    if how != "a save is loaded":  # there it is bob's turn
        room.call("ann", "take", {"n": 1}, at=4, key="move-2")
        assert len(entries(room, "take")) == taken + 1


@pytest.mark.uses("retries", "messages")
def test_the_call_that_began_a_game_and_messages_can_still_be_repeated_in_it() -> None:
    room = make_room(RED, BLUE, GOD, HOST, world="nim")
    said = room.call("ann", "send_message", {"to": "bob", "content": "x"}, at=1, key="word")
    grant = room.call("hostess", "narrow", {"member": "ann", "may": ["send_broadcast"]}, at=1, key="less")
    begun = room.call("zeus", "reset", at=2, key="again")
    assert msgspec.to_builtins(room.call("zeus", "reset", at=3, key="again")) == msgspec.to_builtins(begun)
    assert room.state.games == 2
    again = room.call("ann", "send_message", {"to": "bob", "content": "x"}, at=4, key="word")
    assert msgspec.to_builtins(again) == msgspec.to_builtins(said)
    same = room.call("hostess", "narrow", {"member": "ann", "may": ["send_broadcast"]}, at=4, key="less")
    assert msgspec.to_builtins(same) == msgspec.to_builtins(grant)
