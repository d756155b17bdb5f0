"""``python -m cohabit.testing.checks FOLDER LIFELINE``: the process of ``check_world``. It writes to the folder."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from cohabit.agents.process import end_with_parent
from cohabit.registry import find_world
from cohabit.testing.checker import findings
from cohabit.testing.checks.trial import Trial
from cohabit.testing.outside import Outside, own_files
from cohabit.testing.watch import Order, Watch


def main(folder: Path) -> None:
    order = msgspec.json.decode((folder / "order").read_bytes(), type=Order)
    trial = Trial(order.source, order.seeds, order.steps, order.config)
    trial.outside = Outside(own_files(trial.source))
    trial.outside.install()
    trial.watch = watch = Watch(folder, order.limits)
    with (folder / "findings").open("wb") as file:
        with suppress(Exception):  # the check of the spec says why
            watch.wrap(watch.during(f"the import of {order.source}", lambda: find_world(trial.source)))
        for finding in findings(trial):
            file.write(msgspec.json.encode((finding, trial.steps_played)) + b"\n")
            file.flush()
    os._exit(0)  # threads of the world, or what it does at exit, could keep the process


if __name__ == "__main__":
    end_with_parent(int(sys.argv[2]))
    main(Path(sys.argv[1]))
