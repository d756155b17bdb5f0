"""Run the fault tests by hand: ``python -m tests.faults --faults 100 --seed 7``. Needs PostgreSQL."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.postgres import running as running_server

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import test_needs

from .experiment import Plan, run
from .nemesis import ONE_HOUSE, PAUSES_S, SEVERAL_HOUSES

SHOWN = 40
BEGAN = time.monotonic()


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    words.add_argument("--houses", type=int, default=1)
    words.add_argument("--standby", action="store_true", help="the second house waits until it can take over")
    words.add_argument("--workers", type=int, default=2, help="of each house")
    words.add_argument("--rooms", type=int, default=3)
    words.add_argument("--faults", type=int, default=20)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--revoke", action="store_true", help="revoke tokens meanwhile")
    words.add_argument("--only", default="", help="faults whose name contains this")
    words.add_argument("--pauses", type=float, nargs="+", default=PAUSES_S, help="how long faults take, in seconds")
    words.add_argument("--folder", type=Path, help="for the logs of the houses; default: a temporary one")
    given = words.parse_args()
    clustered = given.houses > 1 and not given.standby
    all_kinds = SEVERAL_HOUSES if clustered else ONE_HOUSE
    kinds = [[fault for fault in kind if given.only in fault.__name__] for kind in all_kinds]
    plan = Plan(
        given.houses, given.workers, given.rooms, clustered, given.seed, given.faults, kinds, given.pauses, given.revoke
    )
    found = test_needs.locate("postgres")
    if found is None:
        tell(test_needs.reason("postgres"))
        return 2
    with tempfile.TemporaryDirectory(prefix="faults-") as temporary, running_server(found.parent) as server:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        problems = asyncio.run(run(plan, server, folder, tell))
    for problem in problems[:SHOWN]:
        tell(f"PROBLEM {problem}")
    tell(f"{len(problems)} problems")
    return 1 if problems else 0


def tell(text: str) -> None:
    sys.stderr.write(f"{time.monotonic() - BEGAN:7.1f} {text}\n")


if __name__ == "__main__":
    sys.exit(main())
