"""Games of the lab on a Ray cluster of this machine, beside processes."""

import json
import subprocess
import sys
import time

from bench.common import ROOT, quotients
from bench.report import Report

HOW = """
Statecraft games of four scripted nations and 40 turns per second of wall time, in memory, with two workers: in
processes, and on a cluster of Ray that is started on this machine for the bench. A run is measured from its first tenth
to its end, so the time to start processes or workers does not count. Starting Ray takes 10 to 20 s more.
""".strip()
NAMESPACE = ("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
"""Ray opens ports on every network address. Here nobody reaches them."""


def games_per_second(games: int, on: str) -> float:
    from cohabit.lab.match import match_design
    from cohabit.lab.run import run

    arrived: list[tuple[float, int]] = []

    def on_game(done: int, planned: int) -> None:
        if done >= planned / 10:
            arrived.append((time.perf_counter(), done))

    run(match_design("statecraft", ["hawk", "trader", "tit-for-tat", "opportunist"], games=games, config={"turns": 40}),
        None, 2, on_game, on=on)  # fmt: skip
    (began, before), (ended, all_of_them) = arrived[0], arrived[-1]
    return (all_of_them - before) / (ended - began)


def measure(games: int, times: int) -> None:
    """Print the rates of both, which take turns on one cluster."""
    from cohabit.lab.cluster import connected

    with connected("ray", 2):
        print(json.dumps([[games_per_second(games, on) for on in ("", "ray")] for _ in range(times)]))


def run(quick: bool) -> Report:
    command = [*NAMESPACE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-m", "bench.on_ray"]
    sizes = ["60", "1"] if quick else ["400", "3"]
    done = subprocess.run([*command, *sizes], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    processes, on_ray = map(list, zip(*json.loads(done.stdout.splitlines()[-1]), strict=True))
    report = Report("on-ray", "Games on a Ray cluster", HOW)
    report.measure("Statecraft in two processes", processes, "games / s")
    report.measure("Statecraft on Ray, two workers", on_ray, "games / s")
    report.ratio("on-ray: Ray over processes", quotients(on_ray, processes), 0.8)
    return report


if __name__ == "__main__":
    measure(*map(int, sys.argv[1:]))
