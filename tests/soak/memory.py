"""What the processes of a server use: memory, open files and threads."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.faces.workers.test_workers import children_of


class Sample(NamedTuple):
    """The sums over all processes of a server, after a number of rounds."""

    rounds: int
    kib: int  # memory of its own, and its share of what it shares
    files: int
    threads: int
    processes: int


def measured(server: int, rounds: int) -> Sample:
    kib = files = threads = processes = 0
    for process in _family(server):
        with suppress(FileNotFoundError, ProcessLookupError):  # one that has ended meanwhile
            folder = Path(f"/proc/{process}")
            kib += _number("Pss", (folder / "smaps_rollup").read_text())
            threads += _number("Threads", (folder / "status").read_text())
            files += len([*(folder / "fd").iterdir()])
            processes += 1
    return Sample(rounds, kib, files, threads, processes)


def _family(process: int) -> Iterator[int]:
    yield process
    with suppress(FileNotFoundError, ProcessLookupError):
        for child in children_of(process):
            yield from _family(child)


def _number(name: str, text: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    assert found is not None, f"no {name} in {text}"
    return int(found[1])


class Growth(NamedTuple):
    """How much more the last quarter of the samples has than the second one, by their medians."""

    rounds: float
    kib: float
    files: float
    threads: float

    @property
    def bytes_per_round(self) -> float:
        return self.kib * 1024 / self.rounds


def growth(samples: Sequence[Sample]) -> Growth:
    quarter = len(samples) // 4
    before, after = samples[quarter : 2 * quarter], samples[-quarter:]
    of = [(median([sample[n] for sample in after]) - median([sample[n] for sample in before])) for n in range(4)]
    return Growth(*of)


def as_table(samples: Sequence[Sample]) -> str:
    return "\n".join([HEAD, *map(as_line, samples)])


HEAD = f"{'rounds':>8} {'KiB':>9} {'files':>6} {'threads':>8} {'processes':>10}"


def as_line(sample: Sample) -> str:
    return f"{sample.rounds:>8} {sample.kib:>9} {sample.files:>6} {sample.threads:>8} {sample.processes:>10}"
