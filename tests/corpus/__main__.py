"""Play the corpus in two trees and compare: ``python -m tests.corpus --before COMMIT``.

The transcripts of a commit are kept in ``build/corpus``, so a second run plays this tree only.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .compare import Difference, Expected, differences
from .transcript import read_script

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = HERE / "scripts"
KEPT = ROOT / "build" / "corpus"
EXPECTED = HERE / "expected.json"


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    words.add_argument("--before", default="HEAD", help="a commit, or the folder of another tree")
    words.add_argument("--face", default="python", choices=["python", "http", "websocket", "mcp"])
    words.add_argument("--only", default="", help="scripts whose name contains this")
    words.add_argument("--show", type=int, default=3, help="differences shown of each script")
    words.add_argument("--seed", default="1", help="PYTHONHASHSEED of this tree")
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
        say(summary(scripts, out))
    say(f"{wrong} of {len(scripts)} scripts differ" if wrong else f"no difference in {len(scripts)} scripts")
    return 1 if wrong else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def name_of(path: Path) -> str:
    return path.name.partition(".")[0]


def transcript(folder: Path, script: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name_of(script)}.jsonl").read_text().split("\n")]


def step_of(path: Path, difference: Difference) -> str:
    steps = read_script(path)["steps"]
    return json.dumps(steps[difference.step])[:300] if difference.step < len(steps) else "the last look"


def unexpected(name: str, before: Sequence[Any], after: Sequence[Any]) -> list[Difference]:
    known = [Expected(**each) for each in json.loads(EXPECTED.read_text())] if EXPECTED.exists() else []
    return [each for each in differences(before, after) if not any(one.covers(name, each) for one in known)]


# -- running ------------------------------------------------------------------------------------------
def of_before(before: str, scripts: Sequence[Path], face: str) -> Path:
    """The folder with the transcripts of the other tree."""
    if Path(before).is_dir():
        out = KEPT / "other"
        run_tree(Path(before).resolve(), scripts, face, out)
        return out
    commit = git("rev-parse", f"{before}^{{commit}}").strip()
    tree = KEPT / commit / "tree"
    if not (tree / "src").exists():
        tree.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
    player = blake2b(b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py"))), digest_size=6).hexdigest()
    out = KEPT / commit / f"{face}-{player}"
    missing = [path for path in scripts if not is_kept(out, path)]
    run_tree(tree, missing, face, out, "2")
    for path in missing:
        (out / f"{name_of(path)}.of").write_text(digest(path))
    return out


def is_kept(out: Path, script: Path) -> bool:
    known = out / f"{name_of(script)}.of"
    return known.exists() and known.read_text() == digest(script)


def digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=12).hexdigest()


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def run_tree(tree: Path, scripts: Sequence[Path], face: str, out: Path, seed: str = "1", code: str = "") -> None:
    """Play scripts in a process of a tree. ``code`` runs there first: for tests that break something."""
    out.mkdir(parents=True, exist_ok=True)
    if not scripts:
        return
    path = os.pathsep.join(map(str, (tree / "src", tree, HERE.parent)))
    environment = {**os.environ, "PYTHONPATH": path, "CORPUS_TREE": str(tree), "PYTHONHASHSEED": seed}
    words = [face, str(out), *map(str, scripts)]
    program = f"import sys; from pathlib import Path; from corpus.play import main\n{code}\nmain(sys.argv[3:], sys.argv[1], Path(sys.argv[2]))"
    done = subprocess.run([sys.executable, "-c", program, *words], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{tree}: {done.stderr[-3000:]}")


# -- what was played ----------------------------------------------------------------------------------
def outcomes(scripts: Sequence[Path], folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Each call of the scripts, and ``ok`` or the code with which it was refused."""
    for path in scripts:
        for step, line in zip(read_script(path)["steps"], transcript(folder, path), strict=False):
            if "call" in step:
                yield step, line["refused"]["code"] if "refused" in line else "ok"


def summary(scripts: Sequence[Path], folder: Path) -> str:
    found = list(outcomes(scripts, folder))
    codes = Counter(code for _, code in found)
    steps = sum(len(read_script(path)["steps"]) for path in scripts)
    commands = {step["call"] for step, _ in found}
    sent = sum(len(json.dumps(line.get("sent", ""))) > 2 for path in scripts for line in transcript(folder, path))
    return (
        f"{len(scripts)} scripts, {steps} steps, {len(found)} calls of {len(commands)} commands: "
        f"{', '.join(f'{count} {code}' for code, count in codes.most_common())}; pushes after {sent} steps"
    )


if __name__ == "__main__":
    sys.exit(main())
