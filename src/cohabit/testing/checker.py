"""``check_world``: check that a world meets the contract. Plays it in real rooms and says what to change.

    report = check_world("mygame.py")
    assert report.ok, report

Each check is a function whose docstring is its claim. It returns a summary, or raises ``CheckFailed``. They run in a
process of their own, which has limits (``watch``): a world that never returns, or ends its process, gets a report too.
"""

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import CohabitError
from cohabit.registry import lasting_source
from cohabit.testing.checks import arrivals, bodies, choices, declaration, determinism, playing, secrets
from cohabit.testing.checks.trial import CheckFailed, CheckSkipped, CheckWarned, Trial
from cohabit.testing.outside import own_files
from cohabit.testing.play import Stopped
from cohabit.testing.watch import DEFAULT_LIMITS, Limits, Order, cause_of_death

Check = Callable[[Trial], str]
CHECKS: dict[str, Check] = {
    "spec": declaration.check_spec,
    "pace": declaration.check_pace,
    "actions": declaration.check_actions,
    "names": declaration.check_names,
    "words": declaration.check_words,
    "keys": declaration.check_keys,
    "source": declaration.check_source,
    "play": playing.check_play,
    "outcomes": playing.check_outcomes,
    "to_move": playing.check_to_move,
    "legal": playing.check_legal,
    "returns": playing.check_returns,
    "data": playing.check_data,
    "scene": playing.check_scene,
    "training": playing.check_training,
    "arrivals": arrivals.check_arrivals,
    "bodies": bodies.check_bodies,
    "refusals": playing.check_refusals,
    "over": playing.check_over,
    "same seed": determinism.check_same_seed,
    "peeking": determinism.check_peeking,
    "ticks": determinism.check_ticks,
    "neighbour": determinism.check_neighbour,
    "process": determinism.check_process,
    "snapshot": determinism.check_snapshot,
    "reset": determinism.check_reset,
    "replay": determinism.check_replay,
    "choices": choices.check_choices,
    "secrets": secrets.check_secrets,
    "outside": playing.check_outside,
    playing.LIMITS: playing.check_limits,
}
"""Every check by name, in the order they run."""
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Numeric libraries take memory for each thread, on large machines more than a world may have."""
MAX_CHECK_S = 3600
"""A whole check may take this long."""
LOOK_S = 1.0
"""Seconds between two looks at the progress."""


MANY = 3
"""More checks than this that were skipped for one reason are one line of a report."""


class Finding(Struct, frozen=True):
    """The result of one check. ``ok`` is None if it was skipped. ``warned``: something could not be checked."""

    check: str
    ok: bool | None
    message: str
    warned: bool = False


class Report(Struct, frozen=True):
    """The results of all checks. Prints as a table."""

    world: str
    findings: list[Finding]
    steps: int = 0

    @property
    def ok(self) -> bool:
        return all(finding.ok for finding in self.findings)

    def failed(self) -> list[str]:
        """The names of the checks that failed."""
        return [finding.check for finding in self.findings if finding.ok is False]

    def __str__(self) -> str:
        width = max((len(f.check) for f in self.findings), default=0)
        marks = {True: "ok  ", False: "FAIL", None: "–   "}
        warned = [finding.check for finding in self.findings if finding.warned]
        lines = [f"{self.world}: {self.steps} steps played"]
        skipped = Counter(finding.message for finding in self.findings if finding.ok is None)
        for finding in self.findings:
            if skipped[finding.message] > MANY:
                continue
            head = f"  {'warn' if finding.warned else marks[finding.ok]}  {finding.check:<{width}}  "
            lines += textwrap.wrap(finding.message, 110, initial_indent=head, subsequent_indent=" " * len(head))
        lines += [f"  –     {n} others {why}" for why, n in skipped.items() if n > MANY]
        bad = len(self.failed())
        passed = f"  all checks passed{', except for ' * bool(warned)}{' and '.join(warned)}"
        lines.append(passed if self.ok else f"  {bad} of {len(self.findings)} checks failed")
        return "\n".join(lines)


def checks_in(names: Mapping[str, Any]) -> dict[str, Any]:
    """The checks among the names of a module, in order: the function ``check_next_game`` is the check ``next game``."""
    checks = {name.removeprefix("check_"): value for name, value in names.items() if name.startswith("check_")}
    return {name.replace("_", " "): check for name, check in checks.items()}


def check_world(
    source: str,
    *,
    seeds: Sequence[int] = (1, 2, 3),
    steps: int = 200,
    config: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    on_progress: Callable[[int, int], None] = lambda done, planned: None,
) -> Report:
    """Check the world of that name, or the one in that file (``mygame.py`` or ``mygame.py:ClassName``).

    It runs in a new process, which ends if one call of the world exceeds the limits. ``on_progress`` is called with the
    finished and planned numbers of checks.
    """
    order = Order(lasting_source(source), list(seeds), steps, dict(config or {}), limits)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "order").write_bytes(msgspec.json.encode(order))

        def tell() -> None:
            on_progress(len(_lines(folder)), len(CHECKS))

        status = _run_apart(folder, tell)
        tell()
        rows = [msgspec.json.decode(line, type=tuple[Finding, int]) for line in _lines(folder)]
        found = [finding for finding, _ in rows]
        if len(found) < len(CHECKS):
            missing = [name for name in list(CHECKS)[len(found) :] if name != playing.LIMITS]
            found += [Finding(name, None, "skipped: the world was stopped") for name in missing]
            why = cause_of_death(folder, status, limits, own_files(order.source))
            found.append(Finding(playing.LIMITS, False, why))
        return Report(source, found, max((steps for _, steps in rows), default=0))


def check_here(
    source: str, *, seeds: Sequence[int] = (1, 2, 3), steps: int = 200, config: Mapping[str, Any] | None = None
) -> Report:
    """The same in this process: without limits, and without looking at what the world uses outside of itself."""
    trial = Trial(source, seeds, steps, dict(config or {}))
    found = list(findings(trial))
    return Report(source, found, trial.steps_played)


def _lines(folder: Path) -> list[bytes]:
    """The findings of the process so far."""
    path = folder / "findings"
    return path.read_bytes().splitlines() if path.exists() else []


def _run_apart(folder: Path, meanwhile: Callable[[], None]) -> int:
    """Run the checks in a process that is in a group of its own, and end the group. Returns its exit status."""
    environment = {**ONE_THREAD, **os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    # -P: it finds the modules that this process finds, and none beside it in the current folder.
    lifeline, ours = os.pipe()  # its other end closes with this process, however that ends
    command = [sys.executable, "-P", "-u", "-m", "cohabit.testing.checks", str(folder), str(lifeline)]
    # Output of a world is for its author: on stderr, so that stdout has the report alone.
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True, pass_fds=(lifeline,)
    ) as run:
        os.close(lifeline)
        try:
            for _ in range(int(MAX_CHECK_S / LOOK_S)):
                meanwhile()
                with suppress(subprocess.TimeoutExpired):
                    return run.wait(LOOK_S)
            return -signal.SIGALRM
        finally:
            os.close(ours)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(run.pid, signal.SIGKILL)


def findings(trial: Trial) -> Iterator[Finding]:
    """Run every check."""
    for name, check in CHECKS.items():
        yield _finding(name, check, trial)


def _finding(name: str, check: Check, trial: Trial) -> Finding:
    try:
        return Finding(name, True, check(trial))
    except (CheckFailed, Stopped) as wrong:
        return Finding(name, False, str(wrong))
    except CheckSkipped as why:
        return Finding(name, None, f"skipped: {why}")
    except CheckWarned as why:
        return Finding(name, True, str(why), warned=True)
    except CohabitError as wrong:
        return Finding(name, False, wrong.as_text())
    except Exception as bug:
        return Finding(name, False, f"{type(bug).__name__}: {bug}")
    except SystemExit:
        return Finding(name, False, "the world raised SystemExit; raise GameRejected if an action cannot be done")
