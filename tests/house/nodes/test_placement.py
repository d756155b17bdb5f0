"""Where rooms go, without any process."""

from hypothesis import given
from hypothesis import strategies as st

from cohabit.house.nodes.placement import STRIKES, WITHIN_MS, Placement, Strikes

WORKERS = ["w1", "w2", "w3"]
rooms = st.lists(st.tuples(st.integers(0, 40).map("r{}".format), st.booleans()), max_size=40)


def placed(wanted: list[tuple[str, bool]], workers: list[str]) -> Placement:
    placement = Placement()
    for room, travels in wanted:
        if travels and placement.worker_of(room) is None:
            placement.travels(room, workers)
        if placement.worker_of(room) is None:
            placement.put(room, placement.worker_for(room, workers))
    return placement


@given(rooms)
def test_rooms_that_travel_are_in_one_worker_and_the_others_are_spread_evenly(wanted: list[tuple[str, bool]]) -> None:
    placement = placed(wanted, WORKERS)
    assert len({placement.worker_of(room) for room in placement.together} - {None}) <= 1
    if not placement.together:
        counts = placement.counts(WORKERS).values()
        assert max(counts) - min(counts) <= 1


@given(rooms, st.sampled_from(WORKERS))
def test_when_a_worker_dies_only_its_rooms_move_and_they_go_to_live_ones(
    wanted: list[tuple[str, bool]], dead: str
) -> None:
    placement, live = placed(wanted, WORKERS), [worker for worker in WORKERS if worker != dead]
    before = {room: placement.worker_of(room) for room, _ in wanted}
    for room in placement.left_by(dead):
        placement.remove(room)
        placement.put(room, placement.worker_for(room, live))
    for room, worker in before.items():
        assert placement.worker_of(room) == worker or worker == dead
        assert placement.worker_of(room) in live
    assert len({placement.worker_of(room) for room in placement.together}) <= 1


def test_rooms_that_may_have_killed_a_worker_are_kept_apart() -> None:
    placement = Placement()
    placement.put("a", "w1")
    assert placement.worker_for("b", ["w1", "w2"], avoid=["a", "b"]) == "w2"
    placement.put("c", "w2")
    placement.put("d", "w2")
    assert placement.worker_for("b", ["w1", "w2"], avoid=["a", "b"]) == "w2", "even if there are fewer rooms elsewhere"
    assert placement.worker_for("b", ["w1"], avoid=["a", "b"]) == "w1", "if there is no other"


def test_deaths_count_against_a_room_only_if_they_are_close_in_time() -> None:
    strikes = Strikes()
    assert [strikes.add(["a"], at) for at in (0, 1)] == [[], []]
    assert strikes.add(["a"], WITHIN_MS + 1) == [], "the first two are too old"
    assert strikes.add(["b", "a"], WITHIN_MS + 2) == []
    assert strikes.add(["a"], WITHIN_MS + 3) == ["a"]
    strikes.forget("a")
    assert [strikes.add(["a"], WITHIN_MS + 4) for _ in range(STRIKES - 1)] == [[], []]
