"""A house on a disk that loses every write that was not synced: the same claims, over power cuts."""

import json
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from .checking import PLAYER, WORLDS, Kept, answered, gaps, progress
from .lossy import Disk

CUTS = 12


def play_and_cut(disk: Disk, given: set[tuple[str, int]], enough: int, **variables: str) -> set[tuple[str, int]]:
    """Play until this many answers were given, then cut the power; all answers, also those that came later."""
    command = [sys.executable, str(PLAYER), "house", str(WORLDS), json.dumps(progress(given))]
    with disk.run(command, **variables) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(enough)]
        os.killpg(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()
    assert all(line.endswith(b"\n") for line in lines), "the house failed"
    disk.cut()
    return given | {answered(line) for line in lines}


def kept_in(folder: Path) -> Kept:
    kept = Kept(folder)
    kept.read_on()
    return kept


@pytest.mark.timeout(300)
def test_one_power_cut_after_another_takes_nothing_that_was_answered(disk: Disk) -> None:
    chance = random.Random(7)
    given: set[tuple[str, int]] = set()
    for i in range(CUTS):
        given = play_and_cut(disk, given, chance.choice((1, chance.randint(2, 40), chance.randint(100, 400))))
        kept = kept_in(disk.root / "house")
        lost = given - kept.acted.keys()
        assert not lost, f"lost in cut {i}: {sorted(lost)[:5]}"
        assert gaps(kept) == []
        assert kept.replays() > 0


def test_a_folder_made_just_before_the_first_answer_is_there_after_the_power_cut(disk: Disk) -> None:
    given = play_and_cut(disk, set(), 1)
    assert given <= kept_in(disk.root / "house").acted.keys()


def test_a_store_that_syncs_less_than_fully_does_lose_what_was_answered(disk: Disk) -> None:
    given = play_and_cut(disk, set(), 60)
    assert given <= kept_in(disk.root / "house").acted.keys()
    more = play_and_cut(disk, given, 60, WEAKENED="1")
    assert len(more) > len(given)
    kept = kept_in(disk.root / "house")
    assert not more <= kept.acted.keys(), "this check would not notice a house that loses answers"
    assert gaps(kept) == [], "even then nothing is half there"
