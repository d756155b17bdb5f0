"""The checks of ``cohabit check`` in this process. The one that starts other processes imports the library there again,
which takes seconds; the survey runs it."""

from cohabit.testing.checker import CHECKS
from cohabit.testing.checks.trial import CheckFailed, CheckSkipped, CheckWarned, Trial
from cohabit.testing.play import Stopped

ELSEWHERE = "process"


def problems(source: str, steps: int) -> dict[str, str]:
    """What is wrong with a world, or could not be tested, by check."""
    trial, found = Trial(source, (1,), steps, {}), {}
    for name, check in CHECKS.items():
        try:
            if name != ELSEWHERE:
                check(trial)
        except CheckSkipped:
            continue
        except (CheckFailed, Stopped) as wrong:
            found[name] = str(wrong)
        except CheckWarned as wrong:
            if name != "over":  # few steps end few games
                found[name] = str(wrong)
    return found
