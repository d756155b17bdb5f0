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
        from tests.fuzz.targets import OF_A_HOUSE, SEEDS, run, words
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(SEEDS[args.target]):
            (corpus / str(number)).write_bytes(seed)
        options: list[str] = []
        if args.target in OF_A_HOUSE:
            known = Path(folder) / "words"
            known.write_text("".join(f'"{word}"\n' for word in words()))
            options.append(f"-dict={known}")
        options += [f"-runs={args.runs}", f"-artifact_prefix={FOUND}/{args.target}-", "-max_len=4096", "-timeout=60"]
        options += [f"-max_total_time={args.seconds}"] * bool(args.seconds)
        atheris.Setup(
            [sys.argv[0], *options, "-print_final_stats=1", "-verbosity=1", str(corpus)],
            lambda data: run(args.target, data),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
