"""Checks of how a world behaves as a guest of its process: it returns, stays small, and uses nothing outside."""

from cohabit.testing.checks.trial import CheckFailed, Trial

MAX_LISTED = 20
LIMITS = "limits"
"""The name of the check that fails if the world ends the process or is ended."""


def check_outside(trial: Trial) -> str:
    """The world reads no environment variable and no clock, and uses no other files, network, processes, threads."""
    if trial.outside is None:
        return "not watched in this process"
    found = [f"{place} {words}" for place, words in trial.outside.found.items()]
    if found:
        more = len(found) - MAX_LISTED
        raise CheckFailed(f"{'. '.join(found[:MAX_LISTED])}{f' (and {more} more)' if more > 0 else ''}")
    _need_world(trial)
    return "no environment, files, network, processes or clock"


def check_limits(trial: Trial) -> str:
    """Every method returns within the limits of time and memory, and none ends the process."""
    watch = trial.watch
    if watch is None:
        return "not limited in this process"
    if watch.starved:
        raise CheckFailed(f"{watch.starved} needed more than {watch.limits.memory_mb} MB of memory")
    _need_world(trial)
    return f"every call returned within {watch.limits.cpu_s:g} s of CPU time and {watch.limits.wait_s:g} s in all"


def _need_world(trial: Trial) -> None:
    """Skip the check if there is no world that could have done something."""
    assert trial.world is not None
