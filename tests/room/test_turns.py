"""Order and time: the room's own order of turns, the four paces, and what happens to a player that does not act."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, GameRejected, PermissionDenied, TurnNotYours, UnknownAsset
from cohabit.features.game_clock import GRACE_MS, PAUSE
from cohabit.model.seat import Eye
from cohabit.room.decide import offers
from cohabit.room.seeing.info import allowed_commands
from cohabit.room.seeing.view import YOUR_TURN, turn_text
from cohabit.room.seeing.visibility import feed
from cohabit.room.state import RoomState
from cohabit.room.timers import Timers

from .making import BLUE, EVERYBODY, GOD, HOST, OBSERVER, RED, entries, make_room, player, replayed, restored, told_last


def texts(room: object, do: str) -> list[str]:
    return [t.text for e in entries(room, do) for t in e.told]  # type: ignore[arg-type]


# -- the gate ---------------------------------------------------------------------------------------
def test_the_first_in_the_order_begins_and_the_order_is_a_round_robin() -> None:
    room = make_room(RED, BLUE, OBSERVER, turn_based=True)
    seen = []
    for at, who in enumerate(["ann", "bob", "owl", "ann"]):
        info = room.call("ann", "session_info", at=at)
        seen.append(info.current_turn)
        advanced = room.call(who, "turn_advance", at=at)
        assert (advanced.previous, advanced.forced_by_god) == (who, False)
    assert seen == ["ann", "bob", "owl", "ann"]


@pytest.mark.parametrize(
    ("order", "removed", "turn_of"),
    [
        ("ann bob owl", "ann", "owl"),
        ("ann ann owl bob", "ann", "owl"),
        ("owl bob ann", "ann", "owl"),
        ("bob owl owl ann", "owl", "ann"),
    ],
)
def test_after_a_removal_from_the_order_it_is_the_turn_of_the_same_member_or_of_the_next(
    order: str, removed: str, turn_of: str
) -> None:
    room = make_room(RED, BLUE, OBSERVER, HOST, turn_based=True)
    room.state.turn_order = order.split()  # older rooms may have a name twice
    for at in (1, 2):
        room.call(str(room.state.turn_holder), "turn_advance", at=at)
    room.call("hostess", "remove_member", {"member": removed}, at=3)
    assert room.state.turn_holder == turn_of


def test_the_order_may_leave_members_out() -> None:
    room = make_room(RED, BLUE, GOD, turn_based=True, turn_order=["bob", "ann"])
    order = []
    for at in range(4):
        order.append(room.call("zeus", "turn_advance", at=at).previous)
    assert order == ["bob", "ann", "bob", "ann"]


def test_out_of_turn_acting_and_controlling_is_refused_and_names_whose_turn_it_is() -> None:
    room = make_room(RED, BLUE, world="Ticker", turn_based=True)
    before = room.digest()
    for name, args in (("drop", {}), ("pause", {}), ("set_speed", {"speed_id": "x2"}), ("act", {"action": "drop"})):
        with pytest.raises(TurnNotYours) as refused:
            room.call("bob", name, args, at=1)
        assert "ann" in refused.value.message
    assert room.digest() == before


def test_reading_asking_and_talking_stay_open_out_of_turn() -> None:
    room = make_room(*EVERYBODY, turn_based=True, turn_order=["ann", "bob"])
    with pytest.raises(TurnNotYours):
        room.call("bob", "hide", {"n": 1}, at=1)
    for name, args in (
        ("whoami", {}), ("session_info", {}), ("roster", {}), ("view", {}), ("rules", {}), ("objective_status", {}),
        ("wait_for_turn", {"wait_ms": 0}), ("numbers", {}), ("recv_messages", {}),
        ("send_message", {"to": "ann", "content": "hurry"}),
    ):  # fmt: skip
        room.call("bob", name, args, at=1)


def test_a_god_acts_out_of_turn_and_can_end_anybodys() -> None:
    room = make_room(RED, BLUE, GOD, turn_based=True, turn_order=["ann", "bob"])
    assert room.call("zeus", "shout", {"text": "x"}, at=1).success
    advanced = room.call("zeus", "turn_advance", at=2)
    assert (advanced.previous, advanced.next, advanced.forced_by_god) == ("ann", "bob", True)


def test_a_gods_own_turn_is_not_forced() -> None:
    room = make_room(GOD, RED, turn_based=True)
    assert room.call("zeus", "turn_advance", at=1).forced_by_god is False


def test_nobody_else_can_end_a_turn_not_even_twice_in_a_row() -> None:
    room = make_room(RED, BLUE, turn_based=True)
    with pytest.raises(TurnNotYours):
        room.call("bob", "turn_advance", at=1)
    room.call("ann", "turn_advance", at=1)
    with pytest.raises(TurnNotYours):
        room.call("ann", "turn_advance", at=1)
    assert room.call("bob", "session_info", at=1).current_turn == "bob"


def test_any_role_may_hold_a_slot_and_pass_it() -> None:
    room = make_room(OBSERVER, RED, turn_based=True)
    assert room.call("owl", "turn_advance", at=1).next == "ann"


def test_where_the_room_keeps_no_order_there_is_nothing_to_advance() -> None:
    room = make_room(RED, BLUE)
    with pytest.raises(BadArgs):
        room.call("ann", "turn_advance", at=1)


def test_a_turn_that_nobody_ends_runs_out_and_that_is_an_event() -> None:
    room = make_room(RED, BLUE, turn_based=True, turn_seconds=30, at=1000)
    assert room.next_deadline() == 31_000
    room.settle(30_999)
    assert not entries(room, "turn_timeout")
    room.settle(31_000)
    assert [(e.by, e.at) for e in entries(room, "turn_timeout")] == [(None, 31_000)]
    assert room.call("bob", "whoami", at=31_001).your_turn
    assert room.next_deadline() == 61_000
    assert replayed(room).digest() == room.digest()


def test_an_ended_turn_starts_the_clock_of_the_next() -> None:
    room = make_room(RED, BLUE, turn_based=True, turn_seconds=30)
    room.call("ann", "turn_advance", at=20_000)
    assert room.next_deadline() == 50_000


def test_with_ticks_per_turn_a_clock_world_moves_exactly_when_a_turn_ends() -> None:
    room = make_room(RED, BLUE, world="Ticker", turn_based=True, ticks_per_turn=5)
    room.call("ann", "drop", at=1)
    assert room.state.tick == 0
    room.call("ann", "turn_advance", at=2)
    assert (room.state.tick, room.world.observe(Eye()).status["ticks"]) == (5, 5)


@given(st.lists(st.tuples(st.sampled_from(["ann", "bob", "owl", "zeus"]), st.integers(0, 40_000)), max_size=20))
def test_however_turns_end_it_is_always_one_members_turn_and_the_record_replays_to_it(
    tries: list[tuple[str, int]],
) -> None:
    room = make_room(RED, BLUE, OBSERVER, GOD, turn_based=True, turn_order=["ann", "bob", "owl"], turn_seconds=20)
    at = 0
    for who, later in tries:
        at += later
        room.settle(at)
        before = room.call("ann", "session_info", at=at).current_turn
        try:
            after = room.call(who, "turn_advance", at=at)
        except TurnNotYours:
            assert who not in (before, "zeus")
            continue
        order = ["ann", "bob", "owl"]
        assert after.previous == before
        assert after.next == order[(order.index(before) + 1) % 3]
    assert replayed(room).digest() == room.digest()


# -- pace step --------------------------------------------------------------------------------------
def test_at_pace_step_everybody_acts_at_any_time_until_it_is_over() -> None:
    room = make_room(*EVERYBODY)
    for who in ("ann", "bob", "ann", "ann"):
        room.call(who, "hide", {"n": 1}, at=1)
    assert room.call("zeus", "finish", at=2).done
    with pytest.raises(GameRejected) as refused:
        room.call("ann", "hide", {"n": 1}, at=3)
    assert "rematch" in refused.value.message


# -- pace turns -------------------------------------------------------------------------------------
def test_at_pace_turns_the_world_decides_whose_turn_it_is() -> None:
    room = make_room(RED, BLUE, world="nim")
    with pytest.raises(TurnNotYours) as refused:
        room.call("bob", "take", {"n": 1}, at=1)
    assert "ann" in refused.value.message
    room.call("ann", "take", {"n": 1}, at=1)
    room.call("bob", "take", {"n": 1}, at=2)


def test_whose_turn_it_is_names_the_player_or_the_empty_seat() -> None:
    room = make_room(BLUE, world="Moody")
    assert room.movers() == ["one"]
    with pytest.raises(TurnNotYours, match="waiting for one"):
        room.call("bob", "move", at=1)
    room = make_room(RED, BLUE, world="Moody")
    with pytest.raises(TurnNotYours, match="waiting for ann"):
        room.call("bob", "move", at=1)
    realms = make_room(GOD, world="Realms")
    realms.call("zeus", "rise", {"name": "rome"}, at=1)
    assert realms.movers() == ["Rome", "gods"]


def test_a_silent_seat_is_skipped_as_its_world_says_and_that_is_an_event() -> None:
    room = make_room(RED, BLUE, world="nim", turn_seconds=10, config={"stones": 20})
    room.settle(10_000)
    assert texts(room, "turn_timeout") == ["first takes 1"]
    assert room.call("bob", "whoami", at=10_001).your_turn
    assert room.call("bob", "heap", at=10_001) == 19
    assert replayed(room).digest() == room.digest()


def test_two_silent_seats_are_skipped_one_after_the_other() -> None:
    room = make_room(RED, BLUE, world="nim", turn_seconds=10, config={"stones": 3})
    for at in (10_000, 20_000, 30_000, 40_000):
        room.settle(at)
    assert texts(room, "turn_timeout") == [
        "first takes 1", "second takes 1", "first takes 1 and wins", "Reward: +1 (total 1)", "Reward: -1 (total -1)",
    ]  # fmt: skip
    assert room.next_deadline() is None


def test_a_player_that_moves_in_time_is_not_skipped() -> None:
    room = make_room(RED, BLUE, world="nim", turn_seconds=10)
    room.call("ann", "take", {"n": 1}, at=9_999)
    assert room.next_deadline() == 19_999


def test_a_player_that_moves_again_has_its_whole_time_again() -> None:
    room = make_room(RED, BLUE, world="Double", turn_seconds=10)
    room.call("ann", "move", at=9_000)
    assert room.next_deadline() == 19_000
    room.call("ann", "move", at=18_000)
    room.settle(27_999)
    assert room.movers() == ["bob"]
    room.settle(28_000)
    assert [told.text for told in entries(room)[-1].told] == ["two sleeps"]


def test_a_time_limit_is_refused_for_a_world_that_does_not_say_what_a_skip_is() -> None:
    from cohabit.room.opening import opening_state
    from cohabit.scenario import parse_scenario
    from cohabit.world import World
    from cohabit.worlds.nim import Nim

    class NoSkip(Nim):
        skip = World.skip

    found = parse_scenario('{"agents": [{"id": "a"}], "turn_seconds": 5}')
    with pytest.raises(BadArgs) as refused:
        opening_state(found, NoSkip(), "nim", "room-1", 1, "00")
    assert "turn_seconds" in refused.value.message


@pytest.mark.parametrize("world", ["nim", "Bids"])
def test_a_turn_gate_is_refused_for_a_world_that_keeps_order_itself(world: str) -> None:
    with pytest.raises(BadArgs) as refused:
        make_room(RED, BLUE, world=world, turn_based=True)
    assert "turn_based" in refused.value.message


# -- pace rounds ------------------------------------------------------------------------------------
def results(room: object) -> list[dict[str, int]]:
    found: list[dict[str, int]] = room.world.observe(Eye()).status["results"]  # type: ignore[attr-defined]
    return found


def test_a_round_takes_the_last_submission_of_each_and_resolves_when_all_have_submitted() -> None:
    room = make_room(RED, BLUE, world="Bids")
    room.call("ann", "bid", {"n": 1}, at=1)
    room.call("ann", "bid", {"n": 7}, at=2)
    assert results(room) == []
    room.call("bob", "bid", {"n": 3}, at=3)
    assert results(room) == [{"a": 7, "b": 3}]
    assert "round 1: {'a': 7, 'b': 3}" in texts(room, "bid")


def test_everybody_sees_the_results_of_a_round_and_they_are_nobodys_doing() -> None:
    room = make_room(RED, BLUE, OBSERVER, world="Bids")
    room.call("ann", "bid", {"n": 1}, at=1)
    room.call("bob", "bid", {"n": 2}, at=2)
    last = entries(room)[-1]
    for who in ("ann", "bob", "owl"):
        member = room.state.members[who]
        results = [item for item in feed(last, member, room.eye(member)) if item.text.startswith("round 1")]
        assert [(item.do, item.by, item.at, item.args) for item in results] == [("round", None, 2, None)], who


def test_a_round_resolves_at_its_deadline_without_the_silent_ones() -> None:
    room = make_room(RED, BLUE, world="Bids", turn_seconds=60)
    room.call("ann", "bid", {"n": 4}, at=10_000)
    assert room.next_deadline() == 60_000, "a submission does not move the deadline"
    room.settle(60_000)
    assert results(room) == [{"a": 4}]
    assert texts(room, "turn_timeout")[0] == "time is up for this round"
    assert room.next_deadline() == 120_000


def test_a_complete_round_starts_the_clock_of_the_next() -> None:
    room = make_room(RED, BLUE, world="Bids", turn_seconds=60)
    room.call("ann", "bid", {"n": 4}, at=10_000)
    room.call("bob", "bid", {"n": 4}, at=20_000)
    assert room.next_deadline() == 80_000


def test_the_last_round_is_resolved_once_even_when_its_time_ran_out() -> None:
    room = make_room(RED, BLUE, world="Bids", turn_seconds=60, config={"rounds": 1})
    room.call("ann", "bid", {"n": 4}, at=1)
    room.settle(60_000)
    assert results(room) == [{"a": 4}]
    assert room.next_deadline() is None
    assert room.call("ann", "view", at=60_001).over


def test_rounds_in_which_nobody_submits_anything_resolve_empty() -> None:
    room = make_room(RED, BLUE, world="Bids", turn_seconds=60, config={"rounds": 3})
    for at in (60_000, 120_000, 180_000, 240_000):
        room.settle(at)
    assert results(room) == [{}, {}, {}]


@pytest.mark.parametrize("removed", ["ann", "bob"])
def test_the_next_player_of_a_seat_does_not_inherit_the_spent_time_of_a_removed_one(removed: str) -> None:
    free = {"id": "cy", "role": "player"}
    room = make_room(RED, BLUE, HOST, free, world="nim", turn_seconds=60, config={"stones": 20})
    assert room.state.waiting_for == ["first"]
    room.call("hostess", "remove_member", {"member": removed}, at=50_000)
    room.call("cy", "sit", {"seat": "first" if removed == "ann" else "second"}, at=55_000)
    assert room.next_deadline() == (110_000 if removed == "ann" else 60_000), "only the mover's time begins again"
    assert replayed(room).digest() == room.digest()


def test_standing_up_and_sitting_down_again_gives_nobody_more_time() -> None:
    free = {"id": "cy", "role": "player"}
    room = make_room(BLUE, free, HOST, world="nim", turn_seconds=60, config={"stones": 20})
    room.call("cy", "sit", {"seat": "first"}, at=0)
    room.call("cy", "stand_up", at=50_000)
    room.call("cy", "sit", {"seat": "first"}, at=51_000)
    assert room.next_deadline() == 60_000


@pytest.mark.parametrize("other", ["a grant", "a stand-in"])
@pytest.mark.parametrize("turn_seconds", [30, 90])
def test_a_turn_times_out_in_time_whatever_other_timer_is_set_before_or_after_it(other: str, turn_seconds: int) -> None:
    room = make_room(
        {**RED, "stand_in": "random"} if other == "a stand-in" else RED, BLUE, GOD, HOST, world="nim",
        turn_seconds=turn_seconds, stand_in_seconds=60, config={"stones": 20},
    )  # fmt: skip
    if other == "a grant":
        room.call("zeus", "grant", {"member": "hostess", "may": ["watch"], "expires_in_s": 60}, at=0)
    ends = turn_seconds * 1000
    room.settle(ends - 1)
    assert entries(room, "turn_timeout") == []
    room.settle(ends)
    assert [entry.at for entry in entries(room, "turn_timeout")] == [ends]


def test_a_call_looks_for_a_timer_only_in_a_room_that_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    first = Timers.first

    def counted(timers: Timers, state: RoomState, of_features: Any) -> Any:
        asked.append(at)
        return first(timers, state, of_features)

    monkeypatch.setattr(Timers, "first", counted)
    room = make_room(RED, BLUE, GOD, HOST)
    for at in (1, 2, 3):
        room.call("ann", "hide", {"n": at}, at=at)
    assert asked == [1]
    room.call("zeus", "grant", {"member": "hostess", "may": ["watch"], "expires_in_s": 60}, at=4)
    asked.clear()
    room.call("ann", "hide", {"n": 5}, at=5)
    assert asked


def test_a_room_that_nothing_settled_for_long_counts_the_next_turn_from_then() -> None:
    room = make_room(RED, BLUE, world="nim", turn_seconds=10, config={"stones": 20})
    room.settle(95_000)
    assert len(entries(room, "turn_timeout")) == 1
    assert room.next_deadline() == 105_000


# -- pace clock -------------------------------------------------------------------------------------
def test_a_clock_world_moves_by_ticks_and_only_by_them() -> None:
    room = make_room(RED, BLUE, world="Ticker")
    room.settle(10**9)
    assert room.state.tick == 0
    room.system("ticks", {"n": 7}, 10**9)
    assert room.call("ann", "view", at=10**9).tick == 7


# -- the time that is left --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("world", "keys"), [("nim", {}), ("Ticker", {"step_ticks": 10}), ("Secrets", {"turn_based": True})]
)
def test_a_view_says_how_much_time_is_left_where_there_is_a_limit(world: str, keys: dict[str, object]) -> None:
    room = make_room(RED, BLUE, OBSERVER, world=world, turn_seconds=20, **keys)
    for who in ("ann", "bob", "owl"):
        for name in ("view", "wait_for_turn"):
            seen = room.call(who, name, {} if name == "view" else {"wait_ms": 0}, at=7_001)
            assert seen.turn_seconds_left == 13
            assert "\nTime left: 13 s." in seen.text
    first, later = (room.call("ann", "view", at=at) for at in (8_000, 9_000))
    assert (first.turn_seconds_left, later.turn_seconds_left) == (12, 11)
    assert first.id == later.id  # the time is no part of the view
    assert room.call("ann", "view", {"since": first.id}, at=10_000).text.endswith("\nTime left: 10 s.")
    assert "Time left" not in room.view(room.state.members["ann"]).text  # others get the same one later


def test_a_view_does_not_speak_of_time_where_none_is_running() -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker", step_ticks=10, turn_seconds=20)
    room.call("hostess", "pause", at=1000)
    for quiet in (room, make_room(world="nim")):
        seen = quiet.call("ann", "view", at=2000)
        assert seen.turn_seconds_left is None
        assert "Time left" not in seen.text


# -- the stepped clock ------------------------------------------------------------------------------
def test_a_step_is_made_when_every_player_has_passed_and_not_before() -> None:
    room = make_room(RED, BLUE, OBSERVER, world="Ticker", step_ticks=10)
    first = room.call("ann", "turn_advance", at=1)
    assert (first.previous, first.next, first.forced_by_god) == ("ann", "bob", False)
    assert (room.state.tick, room.movers()) == (0, ["bob"])
    assert room.call("ann", "turn_advance", at=2).next == "bob"  # passing twice changes nothing
    assert room.state.tick == 0
    last = room.call("bob", "turn_advance", at=3)
    assert (last.previous, last.next, last.forced_by_god) == ("bob", "bob", False)
    assert (room.state.tick, room.movers()) == (10, ["ann", "bob"])
    assert texts(room, "turn_advance") == []  # a step is no news


def test_a_pass_says_whether_time_has_advanced_or_for_whom_it_waits() -> None:
    room = make_room(RED, BLUE, GOD, world="Ticker", step_ticks=10, turn_seconds=20)
    first = room.call("ann", "turn_advance", at=4999)
    assert (first.ticks, first.waiting_for) == (0, ["bob"])
    assert first.note == "You have passed. Time advances when bob has passed, or in 16 s."
    last = room.call("bob", "turn_advance", at=6000)
    assert (last.ticks, last.waiting_for, last.note) == (10, [], "Time has advanced by 10 ticks.")
    ended = room.call("zeus", "turn_advance", at=7000)
    assert (ended.ticks, ended.waiting_for) == (10, [])


def test_in_a_step_it_is_a_players_turn_until_it_has_passed_and_never_a_spectators() -> None:
    room = make_room(RED, BLUE, OBSERVER, world="Ticker", step_ticks=10)

    def turns(at: int) -> list[bool]:
        return [room.call(who, "view", at=at).your_turn for who in ("ann", "bob", "owl")]

    assert turns(1) == [True, True, False]
    room.call("ann", "turn_advance", at=2)
    assert turns(3) == [False, True, False]
    room.call("bob", "turn_advance", at=4)
    assert turns(5) == [True, True, False]


def test_a_step_waits_for_the_players_so_a_spectator_cannot_pass_and_a_god_ends_it() -> None:
    room = make_room(RED, BLUE, OBSERVER, GOD, world="Ticker", step_ticks=10)
    with pytest.raises(BadArgs, match="waits for the players only"):
        room.call("owl", "turn_advance", at=1)
    assert room.state.tick == 0
    ended = room.call("zeus", "turn_advance", at=2)
    assert (ended.previous, ended.next, ended.forced_by_god) == ("zeus", "ann", True)
    assert (room.state.tick, texts(room, "turn_advance")[-1:]) == (10, ["zeus ended the step"])


def test_a_step_that_not_everybody_ends_is_made_at_its_deadline_and_says_who_did_not_pass() -> None:
    room = make_room(RED, BLUE, world="Ticker", step_ticks=10, turn_seconds=20)
    room.call("ann", "turn_advance", at=1)
    room.settle(19_999)
    assert room.state.tick == 0
    room.settle(20_000)
    assert (room.state.tick, room.movers()) == (10, ["ann", "bob"])
    assert texts(room, "turn_timeout") == ["time is up for this step; bob did not pass"]
    assert room.next_deadline() == 40_000


def test_a_step_does_not_wait_for_a_player_for_whom_the_world_does_not_wait() -> None:
    room = make_room(RED, BLUE, OBSERVER, GOD, world="Lamp", step_ticks=10, turn_seconds=20)
    room.call("ann", "sleep", at=1)
    assert room.movers() == ["bob"]
    assert [room.call(who, "view", at=2).your_turn for who in ("ann", "bob", "owl", "zeus")] == [
        False,
        True,
        False,
        False,
    ]
    room.call("bob", "turn_advance", at=3)
    assert room.state.tick == 10
    room.settle(20_003)
    assert texts(room, "turn_timeout") == ["time is up for this step; bob did not pass", "10 ticks pass"]


@pytest.mark.parametrize(("players", "takes"), [([], True), ([RED], False)])
def test_without_players_a_god_takes_turns_also_where_a_step_is_one_tick(players: list[Any], takes: bool) -> None:
    room = make_room(*players, OBSERVER, GOD, world="Ticker", step_ticks=1)
    assert [room.call(who, "whoami", at=1).takes_turns for who in ("owl", "zeus")] == [False, takes]


def test_the_time_of_a_turn_and_until_the_next_game_is_told_in_seconds() -> None:
    assert turn_text(["ann", "bob"], False, 30_000) == "To move: ann, bob (time limit: 30 s)"
    assert turn_text(["ann"], False, 1_500) == "To move: ann (time limit: 1.5 s)"
    assert turn_text([], True, 30_000, 5_000) == "The game is over. The next game begins 5 s after the end."


def test_passing_is_offered_to_players_and_gods_in_steps_and_to_those_in_the_order_in_turns() -> None:
    def offered(**keys: Any) -> set[str]:
        room = make_room(RED, BLUE, OBSERVER, GOD, world="Ticker", **keys)
        command = room.commands.named("turn_advance")
        return {who for who, member in room.state.members.items() if offers(room, member, command)}

    assert offered() == set()
    assert offered(step_ticks=5) == {"ann", "bob", "zeus"}
    assert offered(turn_based=True, turn_order=["ann", "owl"]) == {"ann", "owl", "zeus"}


def test_a_pause_ends_after_the_member_that_paused_has_left_and_not_after_another_one() -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker")

    def move(who: str, here: bool, at: int) -> None:
        room.system("presence", {"members": [who], "here": here}, at)

    move("bob", False, 1)
    assert room.next_deadline() is None
    room.call("hostess", "pause", at=2)
    move("bob", True, 3)
    move("bob", False, 4)
    assert PAUSE.read(room.state).ends_at is None
    move("hostess", False, 5)
    assert room.next_deadline() == PAUSE.read(room.state).ends_at == 5 + GRACE_MS
    move("hostess", True, 6)
    assert PAUSE.read(room.state).ends_at is None


def test_a_game_that_is_over_has_no_further_steps() -> None:
    room = make_room(RED, BLUE, world="Lamp", step_ticks=15, turn_seconds=20)
    room.settle(20_000)
    assert (room.state.tick, room.next_deadline()) == (15, 40_000)
    room.settle(100_000)
    assert room.is_over()
    assert (room.state.tick, room.next_deadline()) == (30, None)
    assert make_room(RED, world="Lamp", step_ticks=1, turn_seconds=20).next_deadline() == 20_000


def test_without_ticks_per_turn_a_turn_does_not_advance_the_world() -> None:
    for ticks, told in ((0, []), (5, ["5 ticks pass"])):
        room = make_room(RED, BLUE, world="Lamp", turn_based=True, ticks_per_turn=ticks)
        room.call("ann", "turn_advance", at=1)
        assert [text for text in texts(room, "turn_advance") if "pass" in text] == told


def test_a_world_is_told_when_its_clock_stops_and_when_it_runs_again() -> None:
    room = make_room(RED, BLUE, HOST, world="Lamp", pause_seconds=60)
    lamp: Any = room.world
    room.call("hostess", "pause", at=1)
    assert lamp.clocks[-1] == (True, "x1")
    room.call("hostess", "resume", at=2)
    assert lamp.clocks[-1] == (False, "x1")
    room.call("hostess", "set_speed", {"speed_id": "x2"}, at=3)
    assert lamp.clocks[-1] == (False, "x2")


def test_a_pause_is_not_counted_in_the_time_of_a_step_however_often_somebody_pauses() -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker", step_ticks=10, turn_seconds=20)
    room.call("hostess", "pause", at=5_000)
    room.call("hostess", "pause", at=8_000)
    assert room.next_deadline() is None
    room.call("hostess", "resume", at=30_000)
    assert room.next_deadline() == 45_000


def test_only_a_real_time_world_can_have_a_stepped_clock() -> None:
    with pytest.raises(BadArgs, match="step_ticks: nim is not a real-time world"):
        make_room(RED, BLUE, world="nim", step_ticks=10)


def test_a_step_in_a_room_without_players_waits_for_those_who_act_everywhere() -> None:
    room = make_room(GOD, OBSERVER, world="Ticker", step_ticks=10)
    assert room.movers() == ["zeus"]
    assert not room.call("zeus", "turn_advance", at=1).forced_by_god
    assert room.state.tick == 10


def test_a_step_always_has_a_deadline_so_nobody_can_stop_time() -> None:
    assert make_room(RED, BLUE, world="Ticker", step_ticks=10).next_deadline() is not None
    assert make_room(RED, BLUE, world="Ticker").next_deadline() is None


def test_a_room_without_an_extension_has_the_generic_speeds_and_a_wrong_one_gets_near_names() -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker")
    speeds = msgspec.to_builtins(room.call("ann", "list_speeds", at=1))
    assert [(s["id"], s["multiplier"]) for s in speeds["items"]] == [
        ("x0.5", 0.5), ("x1", 1), ("x2", 2), ("x5", 5), ("x10", 10), ("x20", 20),
    ]  # fmt: skip
    assert (speeds["count"], speeds["current"]) == (6, "x1")
    changed = room.call("hostess", "set_speed", {"speed_id": "x5"}, at=2)
    assert (changed.speed_id, changed.multiplier, changed.previous) == ("x5", 5, "x1")
    with pytest.raises(UnknownAsset, match="x50") as refused:
        room.call("hostess", "set_speed", {"speed_id": "x50"}, at=3)
    assert refused.value.did_you_mean[0] in ("x5", "x20", "x10")


def test_worlds_without_a_clock_have_no_pause() -> None:
    assert "pause" not in make_room(world="nim").commands
    assert "pause" in make_room(world="Ticker").commands


# -- pauses and stand-ins ---------------------------------------------------------------------------
def test_the_pause_of_a_player_that_leaves_ends_after_a_while() -> None:
    room = make_room(RED, BLUE, world="Ticker", pause_seconds=30)
    room.system("presence", {"members": ["ann"], "here": True}, 0)
    room.call("ann", "pause", at=1000)
    assert room.next_deadline() is None
    room.system("presence", {"members": ["ann"], "here": False}, 5000)
    assert room.next_deadline() == 35_000
    room.settle(35_000)
    assert not room.state.paused
    assert [e.by for e in entries(room, "pause_expired")] == [None]


def test_with_other_players_present_a_pause_begins_when_all_of_them_have_asked() -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker")
    room.system("presence", {"members": ["ann", "bob", "hostess"], "here": True}, 0)
    for at in (1, 2):  # asking twice is asking once
        asked = room.call("ann", "pause", at=at)
        assert (asked.previous_paused, asked.paused, room.state.paused) == (False, False, False)
    assert texts(room, "pause")[-1] == "ann asks for a pause; it begins when bob also pauses"
    agreed = room.call("bob", "pause", at=3)
    assert (agreed.previous_paused, agreed.paused, room.state.paused) == (False, True, True)
    assert PAUSE.read(room.state).asked == []
    room.call("ann", "resume", at=4)
    assert not room.call("bob", "pause", at=5).paused  # what was asked for before counts no more
    assert room.call("hostess", "pause", at=6).paused


def test_a_player_alone_with_bots_cannot_pause_and_so_stop_a_time_limit() -> None:
    bot = player("bob", 1, brain="random")
    room = make_room(RED, bot, HOST, world="Ticker", step_ticks=10, turn_seconds=20)
    room.system("presence", {"members": ["ann"], "here": True}, 0)
    with pytest.raises(PermissionDenied, match=r"bob \(played by a bot\) cannot agree to one; ask a host"):
        room.call("ann", "pause", at=1)
    assert "pause" not in [
        c.name for c in allowed_commands(room, room.state.members["ann"]) if offers(room, room.state.members["ann"], c)
    ]
    assert room.next_deadline() == 20_000
    assert room.call("hostess", "pause", at=2).paused
    assert room.call("ann", "pause", at=3).paused  # it is paused already
    assert room.next_deadline() is None
    free = make_room(RED, bot, world="Ticker")
    free.system("presence", {"members": ["ann"], "here": True}, 0)
    assert free.call("ann", "pause", at=1).paused  # without a time limit a bot does not mind


def test_a_pause_that_stops_a_time_limit_needs_the_players_who_are_away_too() -> None:
    room = make_room(RED, BLUE, world="Ticker", step_ticks=10, turn_seconds=20)
    room.system("presence", {"members": ["ann"], "here": True}, 0)
    assert not room.call("ann", "pause", at=1).paused
    assert texts(room, "pause") == ["ann asks for a pause; it begins when bob also pauses"]
    assert room.call("bob", "pause", at=2).paused


def test_the_end_of_a_pause_is_put_off_by_the_time_the_house_was_closed() -> None:
    room = make_room(RED, BLUE, world="Ticker", pause_seconds=30)
    room.system("presence", {"members": ["ann"], "here": True}, 0)
    room.call("ann", "pause", at=1000)
    room.system("presence", {"members": ["ann"], "here": False}, 2000)
    assert room.next_deadline() == 32_000
    room.system("opened", {"gap": 5000}, 7000)
    assert room.next_deadline() == 37_000


def test_time_while_the_house_was_closed_does_not_count_as_absence() -> None:
    room = make_room({**RED, "stand_in": "random"}, BLUE, world="nim", stand_in_seconds=60)
    assert room.next_deadline() == 60_000
    room.system("opened", {"gap": 5_000}, 7_000)
    assert room.next_deadline() == 65_000


def test_an_event_about_many_members_names_ten_of_them() -> None:
    crowd = [{"id": f"m{n}"} for n in range(12)]
    room = make_room(*crowd)
    for n in (1, 2, 10, 11, 12):
        room.system("presence", {"members": [each["id"] for each in crowd[:n]], "here": True}, n)
    assert [text.removesuffix(" connected") for text in texts(room, "presence")] == [
        "m0", "m0 and m1", "m0, m1, m2, m3, m4, m5, m6, m7, m8 and m9",
        "m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 1 more", "m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more",
    ]  # fmt: skip


def test_the_pause_of_a_member_that_was_away_all_the_time_does_not_end_by_itself() -> None:
    room = make_room(RED, BLUE, HOST, GOD, world="Ticker", pause_seconds=0)
    room.call("hostess", "pause", at=0)
    room.system("presence", {"members": ["zeus"], "here": True}, 1)
    room.system("presence", {"members": ["zeus"], "here": False}, 2)
    room.call("zeus", "pause", at=3)
    room.settle(100_000)
    assert room.state.paused
    room.system("presence", {"members": ["zeus"], "here": True}, 100_001)
    room.system("presence", {"members": ["zeus"], "here": False}, 100_002)
    room.settle(100_003)
    assert not room.state.paused
    assert replayed(room).digest() == room.digest()


def test_a_player_that_returns_keeps_its_pause() -> None:
    room = make_room(RED, BLUE, world="Ticker", pause_seconds=30)
    room.call("ann", "pause", at=0)
    room.system("presence", {"members": ["ann"], "here": False}, 5000)
    room.system("presence", {"members": ["ann"], "here": True}, 6000)
    room.settle(10**6)
    assert room.state.paused


def test_the_pause_of_a_removed_member_ends_after_a_while_too() -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker", pause_seconds=30)
    room.call("ann", "pause", at=0)
    room.call("hostess", "remove_member", {"member": "ann"}, at=1000)
    room.settle(31_000)
    assert not room.state.paused


def test_a_player_is_offered_the_speed_while_only_bots_play_with_it_and_a_host_always() -> None:
    room = make_room(RED, player("bob", 1, brain="random"), HOST, world="Ticker")
    offered = room.commands.by_name["set_speed"].offered_if
    assert offered is not None
    assert offered(room, room.state.members["ann"])
    room.call("ann", "set_speed", {"speed_id": "x2"}, at=1)
    room.system("presence", {"members": ["bob"], "here": True}, 2)  # bob plays itself now
    assert not offered(room, room.state.members["ann"])
    assert offered(room, room.state.members["hostess"])
    assert room.call("hostess", "set_speed", {"speed_id": "x5"}, at=4).previous == "x2"


def test_any_member_with_advance_time_can_end_a_pause() -> None:
    room = make_room(RED, BLUE, OBSERVER, world="Ticker")
    room.call("ann", "pause", at=0)
    with pytest.raises(PermissionDenied):
        room.call("owl", "resume", at=1)
    assert room.call("bob", "resume", at=1).previous_paused


def test_a_stand_in_takes_a_seat_whose_player_is_away_and_gives_it_back_at_once() -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, world="nim", stand_in_seconds=20)
    room.system("presence", {"members": ["ann"], "here": True}, 0)
    room.system("presence", {"members": ["ann"], "here": False}, 1000)
    with pytest.raises(PermissionDenied):
        room.call("ann", "take", {"n": 1}, at=2000, via="random")
    assert room.next_deadline() == 21_000
    room.settle(21_000)
    assert room.call("bob", "roster", at=21_000).members[0].played_by == "random"
    assert room.call("ann", "take", {"n": 1}, at=21_001, via="random").success
    assert entries(room, "take")[0].via == "random"
    room.system("presence", {"members": ["ann"], "here": True}, 22_000)
    room.call("bob", "take", {"n": 1}, at=22_001)
    with pytest.raises(PermissionDenied) as refused:
        room.call("ann", "take", {"n": 1}, at=22_002, via="random")
    assert "own seat" in refused.value.message
    assert room.call("ann", "take", {"n": 1}, at=22_003).success
    assert replayed(room).digest() == room.digest()


def test_a_player_that_returns_is_told_for_how_long_its_stand_in_played_and_the_others_that_it_is_here() -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, world="nim", stand_in_seconds=20)
    room.system("presence", {"members": ["ann"], "here": False}, 1000)
    room.settle(21_000)
    room.system("presence", {"members": ["ann"], "here": True}, 21_000 + 61_000)
    told = told_last(room)
    assert "your stand-in played for you for 1 min 1 s" in told["ann"]
    assert "ann is here" in told["bob"]
    assert not [text for text in told["bob"] if "stand-in" in text]


@pytest.mark.parametrize(
    ("world", "action", "args", "unit"),
    [
        ("nim", "take", {"n": 1}, "move"),
        ("statecraft", "submit", {}, "turn"),
        ("lanterns", "halt", {}, "move"),
        ("Ticker", "drop", {}, "move"),
    ],
)
def test_what_a_stand_in_played_is_in_the_next_views_of_its_player_until_that_player_moves(
    world: str, action: str, args: dict[str, object], unit: str
) -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, OBSERVER, world=world, stand_in_seconds=20)
    room.system("presence", {"members": ["ann"], "here": True}, 0)
    room.system("presence", {"members": ["ann"], "here": False}, 1000)
    assert "stand-in" not in room.call("ann", "view", at=1001).text
    for moves, counted in ((1, f"1 {unit}"), (2, f"2 {unit}s")):
        at = 30_000 * moves
        room.call("ann", action, args, at=at, via="random")
        if room.pace in ("turns", "rounds"):
            room.call("bob", action, args, at=at)
        said = f"Since your last move, a stand-in played {counted} for you."
        said += " Its orders stand until you change them." if room.pace == "clock" else ""
        assert said in room.call("ann", "view", at=at).text.splitlines()
        # A member who looks through the seat is not told: the view of an eye does not have it.
        assert said not in room.view_through(room.eye_of(room.state.members["ann"])).text
        for other in ("bob", "owl"):
            assert "a stand-in played" not in room.call(other, "view", at=at).text
    assert "Since your last move, a stand-in played" in replayed(room).call("ann", "view", at=at).text
    room.system("presence", {"members": ["ann"], "here": True}, 90_000)
    assert said in room.call("ann", "wait_for_turn", {"wait_ms": 0}, at=90_000).text
    room.call("ann", action, args, at=90_001)
    assert "a stand-in played" not in room.call("ann", "view", at=90_001).text
    assert replayed(room).digest() == room.digest()


def test_the_bot_of_a_seat_is_not_told_that_a_stand_in_played_for_it() -> None:
    room = make_room(player("ann", 0, brain="random"), BLUE, HOST, world="nim")
    room.call("ann", "take", {"n": 1}, at=1, via="random")
    assert "stand-in" not in room.call("ann", "view", at=2).text


def test_a_new_game_does_not_tell_what_a_stand_in_played_in_the_last_one() -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, HOST, world="nim")
    room.system("stand_in", {"member": "ann"}, 1)
    room.call("ann", "take", {"n": 1}, at=1, via="random")
    assert "a stand-in played 1 move for you" in room.call("ann", "view", at=2).text
    room.call("hostess", "reset", at=3)
    assert "stand-in" not in room.call("ann", "view", at=4).text


@pytest.mark.parametrize(
    ("keys", "action", "args"),
    [
        ({"world": "nim"}, "take", {"n": 1}),
        ({"world": "statecraft"}, "submit", {}),
        ({"world": "Ticker", "turn_based": True}, "drop", {}),
        ({"world": "Ticker", "turn_based": True}, "turn_advance", {}),
        ({"world": "lanterns", "step_ticks": 5}, "turn_advance", {}),
    ],
)
def test_a_turn_that_timed_out_is_in_the_next_views_of_its_player_until_that_player_moves(
    keys: dict[str, object], action: str, args: dict[str, object]
) -> None:
    room = make_room(RED, BLUE, turn_seconds=10, **keys)  # type: ignore[arg-type]
    room.settle(10_000)
    at, text = 10_001, "Since your last move, your time ran out once."
    if keys["world"] in ("statecraft", "lanterns"):  # both players were awaited, and are late a second time
        room.settle(20_000)
        at, text = 20_001, "Since your last move, your time ran out 2 times."
    else:
        room.call("bob", action, args, at=at)
        assert "Since your last move" not in room.call("bob", "view", at=at).text
        if action == "drop":
            room.call("bob", "turn_advance", at=at)
    assert text in room.call("ann", "view", at=at).text.splitlines()
    assert text in replayed(room).call("ann", "view", at=at).text
    reply = room.call("ann", action, args, at=at)
    said = reply.note if action == "turn_advance" else reply.message
    assert said.startswith(text), "a player may act before it looks"
    assert "Since your last move" not in room.call("ann", "view", at=at).text


def test_everybody_is_told_that_a_player_is_here() -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, world="Moody", stand_in_seconds=5)
    room.settle(6_000)
    assert room.state.members["ann"].played_by_bot
    room.system("presence", {"members": ["ann"], "here": True}, 7_000)
    assert "ann is here" in texts(room, "presence")


def test_a_player_that_handed_its_seat_over_and_left_plays_it_when_it_comes_again() -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, world="nim")
    room.system("presence", {"members": ["ann"], "here": True}, 1_000)
    assert YOUR_TURN in room.call("ann", "view", at=2_000).text
    room.call("ann", "hand_back", at=2_000)
    assert YOUR_TURN not in room.call("ann", "view", at=2_000).text
    room.system("presence", {"members": ["ann"], "here": True}, 3_000)  # the page is opened again
    with pytest.raises(PermissionDenied, match="call `take_over`"):
        room.call("ann", "take", {"n": 1}, at=4_000)
    room.system("presence", {"members": ["ann"], "here": False}, 70_000)
    assert room.state.members["ann"].played_by_bot  # the agent plays on
    room.system("presence", {"members": ["ann"], "here": True}, 80_000)
    assert "your stand-in played for you for 1 min 18 s" in texts(room, "presence")
    room.call("ann", "take", {"n": 1}, at=81_000)
    assert replayed(room).state.members["ann"].played_by_bot is False


def test_the_agent_that_plays_a_seat_can_neither_take_it_over_nor_hand_it_back() -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, world="nim", stand_in_seconds=5)
    room.settle(6_000)
    for name in ("take_over", "hand_back"):
        with pytest.raises(PermissionDenied, match="only the member itself can"):
            room.call("ann", name, at=7_000, via="random")
    assert room.state.members["ann"].played_by_bot


def test_a_scenario_can_hide_which_built_in_player_plays_a_seat() -> None:
    god = {"id": "zeus", "role": "god"}
    room = make_room(player("ann", 0, stand_in="random"), BLUE, god, world="nim", hide_brains=True)
    room.settle(30_000)
    room.call("ann", "take", {"n": 1}, at=30_001, via="random")
    assert room.call("bob", "roster", at=30_002).members[0].played_by == "bot"
    assert room.call("bob", "session_info", at=30_002).members[0].played_by == "bot"
    assert room.call("zeus", "roster", at=30_002).members[0].played_by == "random"
    bob = room.state.members["bob"]
    heard = [item for line in room.record.tail for item in feed(line.entry, bob, room.eye(bob))]
    assert {item.via for item in heard if item.do == "take"} == {"bot"}
    assert "random" not in str(heard)
    assert replayed(room).digest() == room.digest()


def test_nobody_stands_in_for_a_player_without_a_stand_in() -> None:
    room = make_room(RED, BLUE, world="nim")
    room.system("presence", {"members": ["ann"], "here": False}, 1000)
    assert room.next_deadline() is None


def test_clocks_stand_still_while_the_house_is_closed() -> None:
    room = make_room(RED, BLUE, world="nim", turn_seconds=10)
    room.system("opened", {"gap": 100_000}, 105_000)
    assert room.next_deadline() == 110_000


def test_time_never_runs_backwards_in_a_room() -> None:
    room = make_room(RED, BLUE)
    room.call("ann", "hide", {"n": 1}, at=5000)
    room.call("ann", "hide", {"n": 2}, at=100)
    assert [e.at for e in entries(room, "hide")] == [5000, 5000]


def test_nobody_is_to_move_in_a_finished_game_whatever_the_turn_order(monkeypatch: pytest.MonkeyPatch) -> None:
    room = make_room(RED, BLUE, turn_based=True, world="Ticker")
    assert room.call("ann", "session_info", at=1).to_move == room.call("ann", "view", at=1).to_move == ["ann"]
    monkeypatch.setattr(type(room), "is_over", lambda room: True)
    room.roster_changed()
    assert room.call("ann", "session_info", at=1).to_move == room.call("ann", "view", at=1).to_move == []


@pytest.mark.parametrize(
    ("world", "keys", "turns"),
    [
        ("nim", {}, True), ("statecraft", {}, True), ("Secrets", {}, False), ("Secrets", {"turn_based": True}, True),
        ("Ticker", {}, False), ("Ticker", {"step_ticks": 5}, True),
    ],
)  # fmt: skip
def test_the_session_info_says_whether_members_take_turns(world: str, keys: dict[str, object], turns: bool) -> None:
    assert make_room(RED, BLUE, world=world, **keys).call("ann", "session_info", at=1).turn_based is turns


def test_of_several_timers_of_members_the_earliest_is_due_first() -> None:
    room = make_room(player("ann", 0, stand_in="random"), BLUE, HOST, world="nim", stand_in_seconds=30)
    room.call("hostess", "widen", {"member": "bob", "may": ["send_broadcast"], "expires_in_s": 100}, at=0)
    room.system("presence", {"members": ["ann"], "here": False}, 0)
    assert room.next_deadline() == 30_000
    room.settle(30_000)
    assert room.state.members["ann"].played_by_bot
    assert room.next_deadline() == 100_000


@given(st.text(max_size=50) | st.sampled_from(["x3", "x", "fast", "x٣", "x²", "-1", "x1.0", "1"]))
def test_any_other_text_is_no_speed_and_the_nearest_ones_are_suggested(text: str) -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker")
    speeds = room.features.speeds
    if text not in speeds:
        with pytest.raises(UnknownAsset) as refused:
            room.call("hostess", "set_speed", {"speed_id": text}, at=1)
        assert set(refused.value.did_you_mean) <= speeds.keys()
    assert room.state.speed == "x1"


def test_a_view_of_an_archived_room_is_that_of_its_replay() -> None:
    room = make_room(RED, BLUE, HOST, world="nim", config={"stones": 1})
    room.call("ann", "take", {"n": 1}, at=1)
    room.call("hostess", "view", at=2)
    for command in ("archive", "unarchive"):
        room.call("hostess", command, at=3)
        texts = {one.call("ann", "view", at=4).text for one in (room, replayed(room), restored(room))}
        assert len(texts) == 1, command


@pytest.mark.parametrize(("wanted", "near"), [("x4", ["x5", "x2"]), ("x15", ["x10", "x20"]), ("999", ["x20", "x10"])])
def test_the_speeds_nearest_in_value_are_suggested_and_of_two_equally_near_the_slower_first(
    wanted: str, near: list[str]
) -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker")
    with pytest.raises(UnknownAsset) as refused:
        room.call("hostess", "set_speed", {"speed_id": wanted}, at=1)
    assert refused.value.did_you_mean == near


def test_every_turn_begins_when_the_one_before_has_ended() -> None:
    room = make_room(RED, BLUE, world="nim", turn_seconds=20)
    for at, who in ((1_000, "ann"), (5_000, "bob"), (9_000, "ann")):
        room.call(who, "take", {"n": 1}, at=at)
        assert (room.state.turn_started, room.next_deadline()) == (at, at + 20_000)


def test_who_had_passed_has_not_passed_in_the_next_game() -> None:
    room = make_room(RED, BLUE, GOD, world="Ticker", step_ticks=10)
    room.call("ann", "turn_advance", at=1)
    assert room.state.passed == ["ann"]
    room.call("zeus", "rematch", at=2)
    assert room.state.passed == []
    assert room.call("bob", "turn_advance", at=3).ticks == 0


def test_a_grant_that_expires_in_the_moment_in_which_a_turn_or_a_game_follows_expires_first() -> None:
    room = make_room(RED, BLUE, HOST, world="nim", turn_seconds=20, rematch_seconds=30, config={"stones": 3})
    room.call("hostess", "grant", {"member": "bob", "may": ["watch", "act"], "expires_in_s": 20}, at=0)
    room.settle(20_000)
    assert [entry.do for entry in entries(room)][-2:] == ["grant_expired", "turn_timeout"]
    room = make_room(RED, BLUE, HOST, world="nim", rematch_seconds=30, config={"stones": 3})
    room.call("ann", "take", {"n": 3}, at=0)
    assert room.is_over()
    room.call("hostess", "grant", {"member": "bob", "may": ["watch", "act"], "expires_in_s": 30}, at=0)
    room.settle(30_000)
    assert [entry.do for entry in entries(room)][-2:] == ["grant_expired", "rematch_due"]


def test_the_first_round_begins_when_the_first_player_comes_and_later_ones_have_what_is_left_of_it() -> None:
    agents = [{"id": name, "role": "player"} for name in ("ann", "bob")]
    room = make_room(*agents, world="crafter_shared", turn_seconds=10)
    room.call("ann", "jack_in", at=5_000)
    assert room.state.turn_started == 5_000
    room.call("bob", "jack_in", at=7_000)
    assert room.state.turn_started == 5_000
