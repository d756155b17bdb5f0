"""Clients write and read over every interface while houses, workers, the database and the network fail.

Every acknowledged call is in the record once, every room's history linearizes, no entry was written by a house that
did not have the room, and a revoked token gets nothing more.
"""

from pathlib import Path

import pytest

from tests.postgres import Server

from .cluster import Tell
from .experiment import Plan, run
from .nemesis import (
    SEVERAL_HOUSES,
    SHORT_S,
    cut_from_the_database,
    end_sessions,
    kill_a_front,
    kill_a_house,
    kill_a_worker,
    kill_the_database,
    restart_a_house,
    restart_the_database,
)

QUICK = ((kill_a_worker, kill_a_front), (kill_the_database,), (cut_from_the_database,))
TAKEN_OVER = ((kill_a_front, kill_a_house, restart_a_house), (restart_the_database, end_sessions))


async def test_a_house_with_workers_on_postgresql_loses_and_doubles_nothing_and_revocations_hold(
    postgres: Server, tmp_path: Path, tell: Tell
) -> None:
    plan = Plan(rooms=2, faults=3, kinds=QUICK, pauses_s=[SHORT_S], revokes=True)
    assert await run(plan, postgres, tmp_path, tell) == []


@pytest.mark.soak
@pytest.mark.parametrize("workers", [1, 2])
async def test_one_house_through_faults_of_all_kinds(
    postgres: Server, tmp_path: Path, tell: Tell, workers: int
) -> None:
    plan = Plan(workers=workers, seed=workers, faults=26, revokes=True)
    assert await run(plan, postgres, tmp_path, tell) == []


@pytest.mark.soak
async def test_a_second_house_takes_over_from_one_that_has_stopped(
    postgres: Server, tmp_path: Path, tell: Tell
) -> None:
    plan = Plan(houses=2, seed=3, faults=10, kinds=TAKEN_OVER)
    assert await run(plan, postgres, tmp_path, tell) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", [4, 5])
async def test_two_houses_that_serve_one_database_through_faults_of_all_kinds(
    postgres: Server, tmp_path: Path, tell: Tell, seed: int
) -> None:
    plan = Plan(houses=2, clustered=True, seed=seed, faults=60, kinds=SEVERAL_HOUSES, revokes=True)
    assert await run(plan, postgres, tmp_path, tell) == []
