"""Files that are written from the code: which are out of date, and writing them anew."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

Files = Mapping[str, Callable[[], str]]
"""What each file must hold, by its path in the repository."""
ROOT = Path(__file__).parent.parent


def stale(files: Files) -> list[str]:
    """The files that no longer say what the code says."""
    return [name for name, made in files.items() if not (ROOT / name).is_file() or (ROOT / name).read_text() != made()]


def run(files: Files, script: str) -> int:
    """The command line of a script that writes such files."""
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
