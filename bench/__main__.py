"""``python -m bench [NAME …] [--quick]``: run benches, print their tables, save the results."""

import argparse
import importlib
import sys

from rich.console import Console

from bench import BENCHES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(BENCHES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="a smoke run of a few seconds; its results are not saved")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in BENCHES]
    if unknown:
        parser.error(f"there is no bench {unknown[0]!r}; there are {', '.join(BENCHES)}")
    from bench.needs import missing
    from bench.report import keep, show, write_page

    is_complete = True
    console = Console(width=None if sys.stdout.isatty() else 120)
    for name in given.names or BENCHES:
        if lacks := missing(name):
            is_complete = False
            console.print(f"{name}: not measured: {lacks}", markup=False, soft_wrap=True)
            continue
        bench = importlib.import_module(f"bench.{name.replace('-', '_')}")
        with console.status(f"{name} …"):
            report = bench.run(given.quick)
        report.quick = given.quick
        show(report, console)
        if not given.quick:
            keep(report)
            write_page(BENCHES)
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
