"""A seeded mutation run: change one thing in the code, run the tests that should notice, and report the share that was.

    make mutants                                        # 60 changes, seed 1
    make mutants ARGS="--sample 200 --seed 7"
    make mutants ARGS="--only room/timers --list"       # show the changes, run nothing
    make mutants ARGS="--at-least 92"                   # exit code 1 if fewer percent were noticed

The changes are made in a copy of `src/`, so the working tree stays as it is. Some change nothing that anybody could
notice (a faster path that is not taken any more): they count as missed, and the report names each of them.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/cohabit")
TIMEOUT_S = 600.0
TEST_TIMEOUT_S = 60
"""For one test: a change that makes it hang is noticed sooner than by the suite's own timeout."""


class Target(NamedTuple):
    """Source files by pattern, and the tests that should notice a change in them: near ones first, they are faster."""

    name: str
    files: tuple[str, ...]
    near: tuple[str, ...]
    far: tuple[str, ...] = ()


TARGETS = (
    Target("room", ("room/*.py",), ("tests/room",), ("tests/house", "tests/worldbox/test_names.py")),
    Target("grants", ("model/grant.py",), ("tests/room/test_layers.py", "tests/room/test_grants.py"), ("tests/room",)),
    Target(
        "house",
        ("house/*.py", "house/running/*.py"),
        ("tests/house",),
        ("tests/faces/test_cli_heads.py", "tests/faces/test_ws.py", "tests/faces/test_cli_links.py"),
    ),
    Target(
        "store", ("house/store/*.py",), ("tests/house/test_sqlite.py", "tests/house/test_store.py"), ("tests/house",)
    ),
    Target("guard", ("faces/guard.py",), ("tests/faces/test_http.py", "tests/faces/test_starting.py")),
    Target(
        "merging",
        ("workspace/merging/*.py",),
        ("tests/workspace/test_merge.py", "tests/workspace/test_numbering.py", "tests/workspace/test_driver.py"),
        ("tests/workspace/test_conflicts.py", "tests/workspace/test_inbox.py", "tests/workspace/test_publish.py"),
    ),
    Target(
        "statecraft",
        tuple(f"worlds/statecraft/{name}.py" for name in ("turn", "cessions", "ratings", "state")),
        ("tests/worlds/statecraft",),
        ("tests/worlds/test_goldens.py",),
    ),
)


class Mutant(NamedTuple):
    """One change: what it is, where, and its number among the changes of its file."""

    target: Target
    file: Path  # relative to the root
    line: int
    change: str
    number: int


# -- the changes ------------------------------------------------------------------------------------
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
Edit = tuple[ast.AST, str, Callable[[], None]]
"""The node, the change in words, and how to make it."""


def mutants_of(target: Target, file: Path, text: str) -> Iterator[Mutant]:
    """Every change of one file."""
    for number, (node, change, _) in enumerate(list(_edits(ast.parse(text)))):
        yield Mutant(target, file, getattr(node, "lineno", 0), change, number)


def changed(text: str, number: int) -> str:
    """The text of a file with one of its changes made."""
    tree = ast.parse(text)
    _, _, make = list(_edits(tree))[number]
    make()
    return ast.unparse(ast.fix_missing_locations(tree))


def _edits(tree: ast.Module) -> Iterator[Edit]:
    skipped = set(map(id, _not_behaviour(tree)))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare):
            yield from _comparisons(node)
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            words = "or" if isinstance(node.op, ast.And) else "and"
            yield _set(node, "op", other, f"{words} instead: {ast.unparse(node)}")
        elif isinstance(node, ast.Constant):
            yield from _constants(node)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            yield _set(node, "test", _negated(node.test), f"negated: {ast.unparse(node.test)}")
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield from (_dropped(body, i) for i, each in enumerate(body) if _can_drop(each, skipped))


def _comparisons(node: ast.Compare) -> Iterator[Edit]:
    for i, operator in enumerate(node.ops):
        yield _set_item(node, node.ops, i, OPPOSITE[type(operator)](), f"another operator: {ast.unparse(node)}")


def _constants(node: ast.Constant) -> Iterator[Edit]:
    if isinstance(node.value, bool):
        yield _set(node, "value", not node.value, f"{not node.value} for {node.value}")
    elif isinstance(node.value, int):
        yield _set(node, "value", node.value + 1, f"{node.value + 1} for {node.value}")


def _negated(test: ast.expr) -> ast.expr:
    return (
        test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else ast.UnaryOp(ast.Not(), test)
    )


def _set(node: ast.AST, field: str, value: object, change: str) -> Edit:
    return node, change, lambda: setattr(node, field, value)


def _set_item(node: ast.AST, items: list[ast.cmpop], i: int, value: ast.cmpop, change: str) -> Edit:
    return node, change, lambda: items.__setitem__(i, value)


def _dropped(body: list[ast.stmt], i: int) -> Edit:
    words = ast.unparse(body[i]).split("\n")[0]
    return body[i], f"dropped: {words}", lambda: body.__setitem__(i, ast.Pass())


def _can_drop(statement: ast.stmt, skipped: set[int]) -> bool:
    """Statements with an effect. Dropping the assignment of a variable would only be an error of its own."""
    if id(statement) in skipped:
        return False
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)  # a docstring, or `...`
    return isinstance(statement, ast.AugAssign | ast.Delete | ast.Raise | ast.Continue | ast.Break)


def _not_behaviour(tree: ast.Module) -> Iterator[ast.AST]:
    """Parts whose change no test should notice: annotations, assertions, log lines, imports for types, names."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        match node:
            case ast.AnnAssign():
                parts = [node.annotation]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                args = node.args
                parts = [node.returns, *(a.annotation for a in (*args.posonlyargs, *args.args, *args.kwonlyargs))]
            case ast.Assert():
                parts = [node]
            case ast.Expr(ast.Call(ast.Attribute(ast.Name("log")))):
                parts = [node]
            case ast.If(ast.Name("TYPE_CHECKING")):
                parts = [node]
            case ast.Assign([ast.Name(id=name)]) if name.startswith("__"):
                parts = [node]
        for part in parts:
            if part is not None:
                yield from ast.walk(part)


def all_mutants(only: str = "", root: Path = ROOT, targets: Iterable[Target] = TARGETS) -> list[Mutant]:
    """Every change of every target, in a fixed order. ``only``: of files whose path contains this."""
    found: list[Mutant] = []
    for target in targets:
        for pattern in target.files:
            for path in sorted((root / PACKAGE).glob(pattern)):
                file = path.relative_to(root)
                if only in file.as_posix():
                    found.extend(mutants_of(target, file, path.read_text(encoding="utf-8")))
    return found


# -- running ----------------------------------------------------------------------------------------
class Copy:
    """A copy of the sources that tests can be run against."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self._root = root
        self._folder = folder
        shutil.copytree(root / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))

    def notices(self, mutant: Mutant) -> str:
        """How the tests notice a change; empty if they do not."""
        path = self._folder / mutant.file
        before = path.read_bytes()
        path.write_text(changed(before.decode(), mutant.number), encoding="utf-8")
        try:
            return next(filter(None, (self._fails(tests) for tests in (mutant.target.near, mutant.target.far))), "")
        finally:
            path.write_bytes(before)

    def _fails(self, tests: Sequence[str]) -> str:
        if not tests:
            return ""
        # Without bytecode: two versions of a file can have the same size and the same second.
        env = {**os.environ, "PYTHONPATH": str(self._folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        options = ["-x", "-q", "--no-header", f"--timeout={TEST_TIMEOUT_S}", "-p", "no:cacheprovider"]
        words = [sys.executable, "-m", "pytest", *options, *tests]
        try:
            done = subprocess.run(
                words, cwd=self._root, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return "the tests did not end"
        if done.returncode == 0:
            return ""
        named = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return named[0].partition(" - ")[0] if named else f"pytest ended with {done.returncode}"


def run(chosen: Sequence[Mutant], root: Path = ROOT) -> list[Mutant]:
    """Try each change, print what happens, and return those that no test noticed."""
    missed: list[Mutant] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder), root)
        for number, mutant in enumerate(chosen, 1):
            begun = time.monotonic()
            how = copy.notices(mutant)
            if not how:
                missed.append(mutant)
            took = time.monotonic() - begun
            print(
                f"{number}/{len(chosen)} {'noticed' if how else 'MISSED '} {took:4.0f} s  {where(mutant)}", flush=True
            )
    return missed


def where(mutant: Mutant) -> str:
    return f"{mutant.file.as_posix()}:{mutant.line}  {mutant.change[:100]}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=60, help="how many changes to try (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="which changes are chosen (default 1)")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--at-least", type=float, default=0.0, help="exit code 1 if fewer percent are noticed")
    parser.add_argument("--list", action="store_true", help="print the chosen changes and run nothing")
    args = parser.parse_args(argv)
    found = all_mutants(args.only)
    chosen = Random(args.seed).sample(found, min(args.sample, len(found)))
    print(f"{len(chosen)} of {len(found)} possible changes, seed {args.seed}")
    if args.list:
        print("\n".join(map(where, chosen)))
        return 0
    missed = run(chosen)
    share = 100 * (1 - len(missed) / len(chosen)) if chosen else 100.0
    print(f"noticed: {len(chosen) - len(missed)} of {len(chosen)} ({share:.0f} %)")
    for mutant in missed:
        print(f"  missed: {where(mutant)}")
    return 0 if share >= args.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
