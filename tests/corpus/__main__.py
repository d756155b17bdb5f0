"""Play the corpus in two trees and compare: ``python -m tests.corpus --before COMMIT``.

The transcripts of a commit are kept in ``build/corpus``, so a second run plays this tree only.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .compare import Difference, Expected, differences
from .coverage import outcomes, table
from .transcript import read_script
from .trees import HERE, ROOT, SCRIPTS, name_of, of_before, run_tree, transcript

EXPECTED = HERE / "expected.json"
"""Differences that the changelog announces: a list of ``{"scripts", "pattern", "why"}``, see `compare.Expected`."""


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    words.add_argument("--before", default="HEAD", help="a commit, or the folder of another tree")
    words.add_argument("--face", default="python", choices=["python", "http", "websocket", "mcp"])
    words.add_argument("--only", default="", help="scripts whose name contains this")
    words.add_argument("--show", type=int, default=3, help="differences shown of each script")
    words.add_argument("--seed", default="1", help="PYTHONHASHSEED of this tree")
    words.add_argument("--coverage", action="store_true", help="show which roles have called which commands")
    given = words.parse_args()
    scripts = [path for path in sorted(SCRIPTS.iterdir()) if given.only in path.name]
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder, ThreadPoolExecutor(2) as pool:
        before = pool.submit(of_before, given.before, scripts, given.face)
        out = Path(folder)
        now = pool.submit(run_tree, ROOT, scripts, given.face, out, given.seed)
        now.result()
        old = before.result()
        wrong = 0
        for path in scripts:
            found = unexpected(name_of(path), transcript(old, path), transcript(out, path))
            wrong += bool(found)
            for difference in found[: given.show]:
                say(f"{name_of(path)}, {difference}\n      script {step_of(path, difference)}")
            if len(found) > given.show:
                say(f"{name_of(path)}: {len(found) - given.show} more")
        if given.coverage:
            say("\n".join(table(scripts, out, commands())))
        say(summary(scripts, out))
    say(f"{wrong} of {len(scripts)} scripts differ" if wrong else f"no difference in {len(scripts)} scripts")
    return 1 if wrong else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def step_of(path: Path, difference: Difference) -> str:
    steps = read_script(path)["steps"]
    return json.dumps(steps[difference.step])[:300] if difference.step < len(steps) else "the last look"


def unexpected(name: str, before: Sequence[Any], after: Sequence[Any]) -> list[Difference]:
    known = [Expected(**each) for each in json.loads(EXPECTED.read_text())] if EXPECTED.exists() else []
    return [each for each in differences(before, after) if not any(one.covers(name, each) for one in known)]


def summary(scripts: Sequence[Path], folder: Path) -> str:
    found = list(outcomes(scripts, folder))
    codes = Counter(code for _, _, code in found)
    lines = [line for path in scripts for line in transcript(folder, path)]
    return (
        f"{len(scripts)} scripts, {len(lines)} steps, {len(found)} calls of {len({name for name, _, _ in found})} "
        f"commands: {', '.join(f'{count} {code}' for code, count in codes.most_common())}; "
        f"pushes after {sum('sent' in line for line in lines)} steps"
    )


def commands() -> list[str]:
    """The commands of the house and of every room."""
    found = re.findall(
        r"^### `(\w+)`$", (ROOT / "docs" / "commands.md").read_text().partition("## World:")[0], re.MULTILINE
    )
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    sys.exit(main())
