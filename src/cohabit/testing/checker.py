"""``check_world``: check that a world meets the contract. Plays it in real rooms and says what to change.

    report = check_world("mygame.py")
    assert report.ok, report

Each check is a function whose docstring is its claim. It returns a summary, or raises ``CheckFailed``.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from cohabit.errors import CohabitError
from cohabit.testing.checks import arrivals, bodies, declaration, determinism, playing, training
from cohabit.testing.checks.trial import CheckFailed, CheckSkipped, Trial
from cohabit.testing.play import Stopped

Check = Callable[[Trial], str]
CHECKS: dict[str, Check] = {
    "spec": declaration.check_spec,
    "pace": declaration.check_pace,
    "actions": declaration.check_actions,
    "names": declaration.check_names,
    "words": declaration.check_words,
    "source": declaration.check_source,
    "play": playing.check_play,
    "to_move": playing.check_to_move,
    "legal": playing.check_legal,
    "returns": playing.check_returns,
    "data": playing.check_data,
    "training": training.check_training,
    "arrivals": arrivals.check_arrivals,
    "bodies": bodies.check_bodies,
    "refusals": playing.check_refusals,
    "over": playing.check_over,
    "same seed": determinism.check_same_seed,
    "peeking": determinism.check_peeking,
    "neighbour": determinism.check_neighbour,
    "process": determinism.check_process,
    "snapshot": determinism.check_snapshot,
    "reset": determinism.check_reset,
    "replay": determinism.check_replay,
}
"""Every check by name, in the order they run."""


class Finding(Struct, frozen=True):
    """The result of one check. ``ok`` is None if it was skipped."""

    check: str
    ok: bool | None
    message: str


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
        lines = [f"{self.world}: {self.steps} steps played"]
        for finding in self.findings:
            head = f"  {marks[finding.ok]}  {finding.check:<{width}}  "
            lines += textwrap.wrap(finding.message, 110, initial_indent=head, subsequent_indent=" " * len(head))
        bad = len(self.failed())
        lines.append("  all checks passed" if self.ok else f"  {bad} of {len(self.findings)} checks failed")
        return "\n".join(lines)


def check_world(
    source: str, *, seeds: Sequence[int] = (1, 2, 3), steps: int = 200, config: Mapping[str, Any] | None = None
) -> Report:
    """Check the world of that name, or the one in that file (``mygame.py`` or ``mygame.py:ClassName``)."""
    trial = Trial(source, seeds, steps, dict(config or {}))
    findings = [_finding(name, check, trial) for name, check in CHECKS.items()]
    return Report(source, findings, trial.steps_played)


def _finding(name: str, check: Check, trial: Trial) -> Finding:
    try:
        return Finding(name, True, check(trial))
    except (CheckFailed, Stopped) as wrong:
        return Finding(name, False, str(wrong))
    except CheckSkipped as why:
        return Finding(name, None, f"skipped: {why}")
    except CohabitError as wrong:
        return Finding(name, False, wrong.as_text())
    except Exception as bug:
        return Finding(name, False, f"{type(bug).__name__}: {bug}")
