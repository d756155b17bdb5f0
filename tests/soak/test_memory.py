"""The memory of a server that runs for a long time stays flat. The load is counted in rounds, not in hours.

With `COHABIT_SOAK_LOG=FILE` each sample is appended to a file as it is taken.
"""

import asyncio
import os
from pathlib import Path

import pytest
from tests.faces.workers.cluster import HouseProcess

from .memory import HEAD, Sample, as_line, as_table, growth, measured
from .months import Tokens, build, months

pytestmark = [pytest.mark.soak, pytest.mark.timeout(24 * 3600)]
ROUNDS = int(os.environ.get("COHABIT_SOAK_ROUNDS", "320"))
WARM_UP = 100
"""Rounds before the first sample: lists of refusals, replies to keys and sessions of a token are full by then."""
SAMPLES = 32
CACHES_KIB = 16 * 1024
"""Of what is limited, and fills slowly: 1 MiB of reasons in each room where bots play, prepared cursors of 4,096 rooms with
2 KiB each; and memory that the allocator holds in one sample and not in another."""
KIB_PER_ROUND = 20
"""What a round leaves in rooms that still exist: who joined, with ended tokens and counts, about 6 KiB; and what the
allocator cannot reuse between these. A round makes about a hundred calls: keeping each of them takes 700 KiB."""
MORE_FILES, MORE_THREADS = 2, 1


async def test_the_memory_of_a_server_that_runs_for_long_stays_flat(tmp_path: Path) -> None:
    tokens = await build(tmp_path / "house")
    alone = {"houses_address": "", "houses_key": ""}
    house = HouseProcess("house", "", tmp_path, recent_entries=200, snapshot_every=200, **alone)
    await asyncio.to_thread(house.start)
    try:
        samples = await measured_rounds(house, tokens)
    finally:
        house.kill()
    grown = growth(samples)
    table = f"{as_table(samples)}\n{grown}: {grown.bytes_per_round:.0f} bytes per round"
    assert grown.kib < CACHES_KIB + KIB_PER_ROUND * grown.rounds, table
    assert grown.files <= MORE_FILES, table
    assert grown.threads <= MORE_THREADS, table


async def measured_rounds(house: HouseProcess, tokens: Tokens) -> list[Sample]:
    """A sample after each of equal numbers of rounds."""
    assert house.process is not None
    samples: list[Sample] = []
    tell(HEAD)
    async with months(house.url, house.host_token, tokens) as going:
        for number in range(SAMPLES):
            while going.number < WARM_UP + ROUNDS * (number + 1) // SAMPLES:
                await going.round()
            samples.append(measured(house.process.pid, going.number))
            tell(as_line(samples[-1]))
    return samples


def tell(line: str) -> None:
    if path := os.environ.get("COHABIT_SOAK_LOG"):
        with Path(path).open("a") as file:
            print(line, file=file)
