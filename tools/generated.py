"""Check and rewrite files that are generated from the code."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

Files = Mapping[str, Callable[[], str]]
"""The function that generates each file, by path in the repository."""
ROOT = Path(__file__).parent.parent


def stale(files: Files) -> list[str]:
    """The files that are out of date."""
    return [name for name, made in files.items() if not (ROOT / name).is_file() or (ROOT / name).read_text() != made()]


def run(files: Files, script: str) -> int:
    """The command line of a script that generates files."""
    if "--check" in sys.argv:
        old = stale(files)
        if old:
            print(f"out of date: {', '.join(old)}; run python {script}")
        return 1 if old else 0
    for name, made in files.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(made())
        print(name)
    return 0
