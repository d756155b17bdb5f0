"""``python -m tests.fuzz TARGET [--runs N]``: coverage-guided fuzzing of one target with atheris.

What is found is written to ``tests/fuzz/found/``, and is a test from then on. Needs Linux and the package atheris.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

FOUND = Path(__file__).parent / "found"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=0, help="stop after this time")
    args = parser.parse_args()
    with atheris.instrument_imports(include=["cohabit"]):
        from tests.fuzz.targets import SEEDS, run
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS[args.target]):
            (Path(corpus) / str(number)).write_bytes(seed)
        options = [f"-runs={args.runs}", f"-artifact_prefix={FOUND}/{args.target}-", "-max_len=4096", "-timeout=60"]
        options += [f"-max_total_time={args.seconds}"] * bool(args.seconds)
        atheris.Setup(
            [sys.argv[0], *options, "-print_final_stats=1", "-verbosity=1", corpus], lambda data: run(args.target, data)
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
