"""The cost of starting: the import, and the command line's help."""

import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

from bench.common import median, quotients, take_turns
from bench.report import Report

HOW = """
CPU time of whole processes, minus that of `python -c pass`, with compiled files present. The budgets are 150 ms for
`import cohabit` and 300 ms for `cohabit --help`; a ratio is the used part of the budget.
""".strip()
BUDGET = {"import cohabit": 150.0, "cohabit --help": 300.0}


def cpu_ms(*command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def run(quick: bool) -> Report:
    script = str(Path(sys.executable).with_name("cohabit"))
    found = take_turns(
        {
            "bare Python": partial(cpu_ms, sys.executable, "-c", "pass"),
            "import cohabit": partial(cpu_ms, sys.executable, "-c", "import cohabit"),
            "cohabit --help": partial(cpu_ms, script, "--help"),
        },
        3 if quick else 25,
    )
    report = Report("start", "Starting", HOW)
    bare = found["bare Python"]
    report.measure("bare Python", bare, "CPU-ms")
    for name, budget in BUDGET.items():
        above = [mine - theirs for mine, theirs in zip(found[name], bare, strict=True)]
        report.measure(f"{name}, above that", above, "CPU-ms")
        report.ratio(f"start: {name} over its budget", quotients(above, [budget] * len(above)), 1.0, "at most")
    assert median(bare) > 0
    return report
