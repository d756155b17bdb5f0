"""Keyframes: made while a room runs, spread over its record, and never believed if they do not belong to it."""

import os
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from cohabit.house.running.calls import SystemCall
from cohabit.house.store import keyframes as module
from cohabit.house.store.keyframes import FOLDER, Keyframe, Keyframes, digest_at
from cohabit.room.record import Snapshot
from cohabit.scenario import read_scenario

from .making import Client, open_house


def snapshot(seq: int, filler: int = 0) -> Snapshot:
    return Snapshot(seq, bytes([seq % 256]) * 32, seq, b"", os.urandom(filler))


def add(kept: Keyframes, seq: int, cost_ms: int, filler: int = 0) -> None:
    kept.add("den", Keyframe.of(snapshot(seq, filler), cost_ms))


def of_the_record(seq: int) -> bytes:
    return bytes([seq % 256]) * 32


def test_the_last_keyframe_before_an_entry_is_found_also_by_another_process(tmp_path: Path) -> None:
    kept = Keyframes(tmp_path)
    for seq in (10, 20, 30):
        add(kept, seq, seq * 100)
    other = Keyframes(tmp_path)
    for at, expected in ((9, None), (10, 10), (29, 20), (99, 30)):
        found = other.before("den", at, of_the_record)
        assert (found.seq if found is not None else None) == expected
    assert other.before("other", 99, of_the_record) is None


@pytest.mark.parametrize("damage", ["cut off", "changed", "another record"])
def test_a_keyframe_that_is_damaged_or_of_another_record_is_deleted_and_an_earlier_one_used(
    tmp_path: Path, damage: str
) -> None:
    kept = Keyframes(tmp_path)
    add(kept, 10, 1000)
    add(kept, 20, 2000)
    file = next(path for path in (tmp_path / FOLDER / "den").iterdir() if path.name.startswith("20-"))
    data = file.read_bytes()
    if damage != "another record":
        file.write_bytes(data[:-5] if damage == "cut off" else data[:40] + b"?" + data[41:])
    found = kept.before("den", 99, lambda seq: b"" if (damage, seq) == ("another record", 20) else of_the_record(seq))
    assert found is not None
    assert found.seq == 10
    assert not file.exists()
    add(kept, 20, 2000)  # it is made again
    assert kept.before("den", 99, of_the_record) == Keyframe.of(snapshot(20), 2000)


def test_keyframes_are_thinned_evenly_to_stay_below_a_bound(tmp_path: Path) -> None:
    kept = Keyframes(tmp_path, max_bytes=40_000)
    for seq in range(1, 200):
        add(kept, seq, seq * module.EVERY_MS, filler=1000)
    places = kept.places("den")
    assert sum(place.bytes for place in places) <= 40_000
    gaps = [after.cost_ms - before.cost_ms for before, after in pairwise(places)]
    assert len(places) >= 10
    assert max(gaps) <= 4 * min(gaps)
    assert places[-1].cost_ms > 150 * module.EVERY_MS


def test_what_a_killed_process_left_half_written_is_no_keyframe(tmp_path: Path) -> None:
    kept = Keyframes(tmp_path)
    add(kept, 10, 1000)
    whole = next((tmp_path / FOLDER / "den").iterdir())
    whole.with_name(f"{whole.name}.123.part").write_bytes(b"half")
    assert [place.seq for place in Keyframes(tmp_path).places("den")] == [10]


def test_a_keyframe_that_waits_to_be_written_is_dropped_when_the_room_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, waiting = Keyframes(tmp_path), []
    monkeypatch.setattr(module.Worker, "submit", lambda self, job: waiting.append(job))
    kept.add_later("den", snapshot(10), 1000)
    kept.forget("den")
    kept.add_later("den", snapshot(11), 1000)
    for job in waiting:
        job()
    assert [place.seq for place in kept.places("den")] == [11]
    kept.close()


async def test_a_running_room_takes_keyframes_by_the_time_that_its_world_computes(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.create_room(read_scenario("demo"), "den")
        runner = house.rooms["den"]
        for _ in range(60):
            await runner.submit(SystemCall("ticks", {"n": 10}))
        made = runner._keyframes
        assert made._cost_ms is not None
        expected = int(made._cost_ms // (2 * module.EVERY_MS))
    places = Keyframes(tmp_path).places("den")
    assert len(places) >= max(1, expected - module.MAX_QUEUED)
    async with open_house(tmp_path) as house:
        found = house.keyframes.before("den", 10**9, partial(digest_at, house.store, "den"))
        assert found is not None
        assert found.seq == house.keyframes.places("den")[-1].seq
        assert found.seq >= places[-1].seq  # on a slow machine, opening the room makes another one


async def test_keyframes_go_with_the_room_and_with_the_data_of_a_person(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        _, tokens = await house.create_room(read_scenario("demo"), "den")
        add(house.keyframes, 0, 1000)
        client = Client(house, "den", "spectator", tokens["spectator"])
        await client("view")
        assert house.keyframes.places("den")
        house.keyframes.sweep(house.store)  # not of this record
        assert not house.keyframes.places("den")
        add(house.keyframes, 0, 1000)
        await house.call(house.identify(tokens["spectator"]), None, "forget_me", {"confirm": "spectator"})
        assert not house.keyframes.places("den")
        add(house.keyframes, 0, 1000)
        await house.rooms.delete("den")
        assert not (tmp_path / FOLDER / "den").exists()
