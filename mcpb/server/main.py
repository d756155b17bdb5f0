"""Starts the server with what is in this bundle alone: nothing is installed, and nothing is downloaded."""

import platform
import sys
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent / "lib"
RUNTIME = f"{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"
"""One library is compiled, so the bundle has it once for each Python and platform that it supports."""


def main() -> int:
    if not (LIBRARY / RUNTIME).is_dir():
        there = ", ".join(sorted(found.name for found in LIBRARY.iterdir() if found.name.startswith("cpython-")))
        sys.stderr.write(f"This bundle has no libraries for {RUNTIME}. It has them for: {there}.\n")
        return 1
    sys.path[:0] = [str(LIBRARY), str(LIBRARY / RUNTIME)]
    from cohabit.workspace.__main__ import main as serve

    return serve([])


if __name__ == "__main__":
    sys.exit(main())
