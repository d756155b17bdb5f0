"""Runs scripts in a tree, in a process of its own, and keeps the transcripts of a commit in ``build/corpus``."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = HERE / "scripts"
KEPT = ROOT / "build" / "corpus"
PROGRAM = """
import sys
from pathlib import Path
from corpus.play import main
{code}
main(sys.argv[3:], sys.argv[1], Path(sys.argv[2]))
"""


def name_of(script: Path) -> str:
    return script.name.partition(".")[0]


def transcript(folder: Path, script: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name_of(script)}.jsonl").read_text().split("\n")]


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
    program = [sys.executable, "-c", PROGRAM.format(code=code)]
    done = subprocess.run([*program, *words], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{tree}: {done.stderr[-3000:]}")
