"""A seeded mutation run: change one thing in the code, run the tests that reach it, and report the share noticed.

    make mutants                                        # 60 changes, seed 1
    make mutants ARGS="--sample 200 --seed 7"
    make mutants ARGS="--only room/timers --list"       # show the changes, run nothing
    make mutants ARGS="--at-least 92"                   # exit code 1 if fewer percent were noticed
    make mutants ARGS="--map .mutants.jsonl"             # keep what the tests reach, for the next run

The changes are made in a copy of `src/`, so the working tree stays as it is. First all tests run once, to see which
lines each of them reaches (`tools/reached_lines.py`). A change is then tried on the tests that reach its line: those of
its own part first, fast ones before slow ones, until one fails or the CPU time for one change is used up. They run in a
copy of a process that has collected them (`tools/warm_tests.py`), or, if the change is of code that runs at import, in
a new process.

`tools/mutations.py` has the changes, and those that are known to be without effect; the report names those of the
sample. All others that no test notices count as missed, and the report names each of them.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from math import sqrt
from pathlib import Path
from queue import SimpleQueue
from random import Random
from types import TracebackType
from typing import NamedTuple, Self

from mutations import PACKAGE, ROOT, Mutant, Target, all_mutants, changed, reason_without_effect
from warm_tests import PASSED, TOO_LATE

TESTS_S = 60.0
"""CPU time: tests that take longer than this together are not all run for one change, and it may be missed."""
UNREACHED_S = 20.0
"""The same, for changes of lines that no test reaches in its own process."""
SLOW_S = 1.0
"""Near tests that take longer than this would use up the time, so far ones are run before them."""
TIMEOUT_S = 400.0
TEST_TIMEOUT_S = 30.0
"""For one test: a change that makes it hang is noticed sooner than by the suite's own timeout. Both are wall time,
because a test that hangs uses no CPU time, so on a busy machine they are longer (`stretched`)."""
FIRST_FILES = 2
"""The files with the most tests that reach a change are run before the others."""
AT_LEAST = 6
"""At least this many changes of each target are tried, however small its part of the code."""


def _files(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/test_{name}.py" for name in names.split())


FACES = _files(
    "faces",
    "guard http starting ws overload matrix refusals cli_heads cli_links cli_token client direct world_contract",
)
DECLARED = "tests/house/test_exceptions_to_the_rules.py"  # what commands declare, of rooms too
DOCS = "tests/test_docs.py"  # the reference pages have the arguments of commands, and settings, with their defaults
OF_ROOMS = ("tests/room", "tests/model", "tests/nexus", DECLARED, DOCS)
AROUND_ROOMS = ("tests/house", "tests/testing", *FACES)
HOUSE_PACKAGES = ("streams", "running", "calls", "agents", "reading", "films", "access", "lifecycle", "nodes")
TARGETS = (
    Target("room", ("room/*.py", "room/*/*.py"), OF_ROOMS, AROUND_ROOMS),
    Target("features", ("features/*.py", "features/*/*.py"), OF_ROOMS, AROUND_ROOMS),
    Target("grants", ("model/grant.py",), ("tests/room", "tests/model"), ("tests/house",)),
    Target(
        "house",
        ("house/*.py", *(f"house/{name}/*.py" for name in HOUSE_PACKAGES)),
        ("tests/house", "tests/kibitz/test_media.py", DOCS),
        ("tests/room", "tests/testing", "tests/agents/test_kingdoms_turns.py", *FACES),
    ),
    Target("store", ("house/store/*.py",), ("tests/house",), FACES),
    Target("guard", ("faces/guard.py",), FACES),
    Target(
        "merging",
        ("workspace/merging/*.py",),
        _files("workspace", "merge merge_work numbering driver order ownership damage identity_of_items lost"),
        _files("workspace", "conflicts inbox large_boards git_histories publish rewritten"),
    ),
    Target(
        "statecraft",
        tuple(f"worlds/statecraft/{name}.py" for name in ("turn", "cessions", "ratings", "state")),
        ("tests/worlds/statecraft",),
        ("tests/worlds/test_goldens.py",),
    ),
)


# -- running ----------------------------------------------------------------------------------------
class PassingTest(NamedTuple):
    """A test that passes, the CPU time it takes, and the lines that it reaches, by file."""

    name: str
    seconds: float
    lines: dict[str, frozenset[int]]

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


class Copy:
    """A copy of the sources, and a process that has collected the tests that are tried against it."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self._root = root
        self._folder = folder
        self._warm: WarmTests | None = None
        shutil.copytree(root / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, wrong: BaseException | None, at: TracebackType | None) -> None:
        if self._warm is not None:
            self._warm.stop()

    def reached(self, targets: Iterable[Target]) -> str:
        """The lines that each test of the targets reaches, a JSON object for each test."""
        path = self._folder / "reached.jsonl"
        folders = dict.fromkeys(tests for target in targets for tests in (*target.near, *target.far))
        self._pytest(folders, {"REACHED_LINES": str(path)}, None)
        return path.read_text(encoding="utf-8")

    def collect(self, tests: Sequence[PassingTest]) -> None:
        """Start a process that collects the files of these tests."""
        self._warm = WarmTests(self._folder, self._root, dict.fromkeys(test.file for test in tests))
        self._warm.wait()

    def notices(self, mutant: Mutant, tests: Sequence[PassingTest]) -> str:
        """The test that notices a change; empty if none does."""
        path, original = self._folder / mutant.file, self._root / mutant.file
        text = original.read_text(encoding="utf-8")
        names = [test.name for test in chosen_tests(mutant, tests)]
        self._write(path, changed(text, mutant.number))  # for the processes that a test starts
        try:
            failed = self.fails(names, (str(path), str(original), mutant.number))
            return self._fails_in_new_process(names) if failed == TOO_LATE else failed
        finally:
            self._write(path, text)

    def fails(self, names: Sequence[str], change: tuple[str, str, int] | None = None) -> str:
        """The first of some tests that fails, with or without a change."""
        assert self._warm is not None
        reply = self._warm.run(names, change, stretched(TIMEOUT_S))
        return "" if reply == PASSED else reply

    def _fails_in_new_process(self, names: Sequence[str]) -> str:
        # To collect all files takes longer than to run most tests, and most changes are noticed by the first.
        files = [name.partition("::")[0] for name in names]
        first = {file for file, _ in Counter(files).most_common(FIRST_FILES)}
        stages = (
            [name for name, file in zip(names, files, strict=True) if (file in first) is early]
            for early in (True, False)
        )
        return next(filter(None, map(self._chosen, stages)), "")

    def _chosen(self, names: Sequence[str]) -> str:
        if not names:
            return ""
        listed = self._folder / "tests.txt"
        listed.write_text("\n".join(names), encoding="utf-8")
        files = dict.fromkeys(name.partition("::")[0] for name in names)
        timeout = f"--timeout={stretched(TEST_TIMEOUT_S):.0f}"
        return self._pytest(files, {"CHOSEN_TESTS": str(listed)}, stretched(TIMEOUT_S), "-x", timeout)

    def _write(self, path: Path, text: str) -> None:
        # Two versions of a file can have the same size and the same second.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")

    def _pytest(self, tests: Iterable[str], settings: dict[str, str], timeout: float | None, *options: str) -> str:
        with subprocess.Popen(
            [*PYTEST, "-p", "reached_lines", *options, *tests],
            cwd=self._root, env=environment(self._folder, settings), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return "the tests did not end"
        if process.returncode == 0:
            return ""
        _, _, summary = output.rpartition("short test summary info")
        named = [line.split(" ", 1)[1] for line in summary.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return named[0].partition(" - ")[0] if named else f"pytest ended with {process.returncode}"


PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")


def environment(folder: Path, settings: dict[str, str]) -> dict[str, str]:
    """The variables of a process that imports the copy of the sources in a folder."""
    paths = (folder / "src", ROOT / "tools")
    return {**os.environ, **settings, "PYTHONPATH": os.pathsep.join(map(str, paths))}


class WarmTests:
    """A process that has collected tests, and runs some of them in a fork whenever it is asked to."""

    def __init__(self, folder: Path, root: Path, files: Iterable[str]) -> None:
        requests, self._ask = os.pipe()
        self._answer, replies = os.pipe()
        settings = {"WARM_TESTS": f"{requests},{replies},{folder / 'outcome.txt'}"}
        options = (f"--timeout={stretched(TEST_TIMEOUT_S):.0f}", f"--basetemp={folder / 'temporary'}")
        self._process = subprocess.Popen(
            [*PYTEST, "-p", "warm_tests", *options, *files], cwd=root, env=environment(folder, settings),
            pass_fds=(requests, replies), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(requests)
        os.close(replies)
        self._requests = os.fdopen(self._ask, "w", encoding="utf-8", buffering=1)
        self._replies = os.fdopen(self._answer, encoding="utf-8")

    def wait(self) -> None:
        """Until the tests are collected, from files without a change."""
        self._reply()

    def run(self, names: Sequence[str], change: tuple[str, str, int] | None, timeout: float) -> str:
        """The result of the trial: see `warm_tests.Server`."""
        self._requests.write(json.dumps({"change": change, "tests": names, "timeout": timeout}) + "\n")
        return self._reply()

    def _reply(self) -> str:
        if not (reply := self._replies.readline()):
            raise SystemExit("The process that runs the tests has ended. Collect them with pytest to see why.")
        return reply.rstrip("\n")

    def stop(self) -> None:
        self._requests.close()
        self._process.wait()
        self._replies.close()


def stretched(seconds: float) -> float:
    """A time limit, longer by as much as other programs slow this one down."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def chosen_tests(mutant: Mutant, tests: Sequence[PassingTest]) -> list[PassingTest]:
    """The tests that reach the line of a change, or else its file: near ones first, and fast ones; slow ones last.

    Those that go on inside the statement and those that do not take turns: a change may concern either.
    """
    file = mutant.file.relative_to(PACKAGE).as_posix()

    def reach(lines: range | None) -> list[PassingTest]:
        return [test for test in in_file if not test.lines[file].isdisjoint(lines or ())]

    in_file = [test for test in tests if file in test.lines]
    at_line, inside = reach(mutant.reached_by), set(map(id, reach(mutant.inside)))
    if mutant.reached_by is None:  # every test may depend on what is declared there
        at_line, inside = list(tests), set(map(id, in_file))
    # A line that no test reaches may be one that is reached in another process.
    found = sorted(at_line or in_file or tests, key=lambda test: test.seconds)
    ranks = [
        (test.seconds > SLOW_S, not test.name.startswith(mutant.target.near), rank, test)
        for group in (True, False)
        for rank, test in enumerate(test for test in found if (id(test) in inside) is group)
    ]
    total, most = 0.0, TESTS_S if at_line else UNREACHED_S
    chosen: list[PassingTest] = []
    for *_, test in sorted(ranks, key=lambda ranked: ranked[:3]):
        if total + test.seconds <= most:
            total += test.seconds
            chosen.append(test)
    return chosen


def run(chosen: Sequence[Mutant], root: Path = ROOT, kept: Path | None = None, jobs: int = 1) -> list[Mutant]:
    """Try each change, print what happens, and return those that no test noticed. ``kept``: see ``--map``."""
    with ExitStack() as stack:
        copies = []
        for _ in range(jobs):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True))
            copies.append(stack.enter_context(Copy(Path(folder), root)))
        tests = _tests(copies[0], chosen, kept)
        free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            copy.collect(tests)
            free.put(copy)
        done: list[str] = []

        def attempt(mutant: Mutant) -> str:
            copy, begun = free.get(), time.monotonic()
            try:
                how = copy.notices(mutant, tests)
            finally:
                free.put(copy)
            done.append(how)
            result, took = "noticed" if how else "MISSED ", time.monotonic() - begun
            print(f"{len(done)}/{len(chosen)} {result} {took:4.0f} s  {where(mutant)}  {how}", flush=True)
            return how

        with ThreadPoolExecutor(jobs) as pool:
            how_noticed = list(pool.map(attempt, chosen))
        if wrong := copies[0].fails([name for name in dict.fromkeys(how_noticed) if "::" in name]):
            print(f"This test fails without any change, so it notices nothing: {wrong}")
    return [mutant for mutant, how in zip(chosen, how_noticed, strict=True) if not how]


def _tests(copy: Copy, chosen: Sequence[Mutant], kept: Path | None) -> list[PassingTest]:
    if kept is not None and kept.exists():
        text = kept.read_text(encoding="utf-8")
    else:
        print("running the tests once, to see what they reach ...", flush=True)
        text = copy.reached(dict.fromkeys(mutant.target for mutant in chosen))
        if kept is not None:
            kept.write_text(text, encoding="utf-8")
    return [
        PassingTest(test["name"], test["seconds"], {file: frozenset(lines) for file, lines in test["lines"].items()})
        for test in map(json.loads, text.splitlines())
    ]


def where(mutant: Mutant) -> str:
    return f"{mutant.file.as_posix()}:{mutant.line}  {mutant.change[:100]}"


def sampled(found: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """Changes of every target: in proportion to its size, but a few of each."""
    random = Random(seed)
    chosen: list[Mutant] = []
    for target in dict.fromkeys(mutant.target for mutant in found):
        own = [mutant for mutant in found if mutant.target is target]
        share = max(round(size * len(own) / len(found)), min(AT_LEAST, size))
        chosen += random.sample(own, min(share, len(own)))
    return chosen


def table(chosen: Sequence[Mutant], missed: Sequence[Mutant]) -> str:
    """How many changes of each target were noticed, and those that were not."""
    tried = Counter(mutant.target.name for mutant in chosen)
    lost = Counter(mutant.target.name for mutant in missed)
    rows = [(name, all_ - lost[name], all_) for name, all_ in tried.items()]
    rows.append(("all", len(chosen) - len(missed), len(chosen)))
    lines = [f"{name:12} {noticed:4} of {all_:4}  {100 * noticed / all_:5.1f} %" for name, noticed, all_ in rows]
    low, high = interval(len(chosen) - len(missed), len(chosen))
    lines[-1] += f" (95 % interval: {100 * low:.1f} to {100 * high:.1f} %)"
    return "\n".join([*lines, *(f"  missed: {where(mutant)}" for mutant in missed)])


def interval(noticed: int, tried: int) -> tuple[float, float]:
    """Wilson's interval of a share: 95 of 100 such samples have the share of all possible changes in theirs."""
    z, share = 1.96, noticed / tried
    middle, spread = share + z * z / (2 * tried), z * sqrt(share * (1 - share) / tried + (z / (2 * tried)) ** 2)
    return (middle - spread) / (1 + z * z / tried), (middle + spread) / (1 + z * z / tried)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=60, help="about how many changes to try (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="which changes are chosen (default 1)")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--at-least", type=float, default=0.0, help="exit code 1 if fewer percent are noticed")
    parser.add_argument("--map", type=Path, help="a file: keep there what the tests reach, or use what it has")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many are tried at a time")
    parser.add_argument("--list", action="store_true", help="print the chosen changes and run nothing")
    args = parser.parse_args(argv)
    found = all_mutants(TARGETS, args.only)
    sample = sampled(found, args.sample, args.seed)
    print(f"{len(sample)} of {len(found)} possible changes, seed {args.seed}")
    reasons = [reason_without_effect(mutant) for mutant in sample]
    for mutant, why in zip(sample, reasons, strict=True):
        if why:
            print(f"not tried, without effect: {where(mutant)}  {why}")
    chosen = [mutant for mutant, why in zip(sample, reasons, strict=True) if not why]
    if args.list or not chosen:
        print("\n".join(map(where, chosen)))
        return 0
    missed = run(chosen, kept=args.map, jobs=args.jobs)
    print(table(chosen, missed))
    return 0 if 100 * (1 - len(missed) / len(chosen)) >= args.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
