"""A seeded mutation run: change one thing in the code, run the tests that reach it, and report the share noticed.

    make mutants                                        # 60 changes, seed 1
    make mutants ARGS="--sample 200 --seed 7"
    make mutants ARGS="--only room/timers --list"       # show the changes, run nothing
    make mutants ARGS="--at-least 92"                   # exit code 1 if fewer percent were noticed
    make mutants ARGS="--map .mutants.jsonl"             # keep what the tests reach, for the next run

The changes are made in a copy of `src/`, so the working tree stays as it is. First all tests run once, to see which
lines each of them reaches (`tools/reached_lines.py`). A change is then tried on the tests that reach its line: those of
its own part first, fast ones before slow ones, until one fails or the CPU time for one change is used up.

Changes that nobody could notice are not made: see `_not_behaviour`. Among the others some are without effect too (a
faster path that is not taken any more). Those that somebody has looked at are in `WITHOUT_EFFECT`, with reasons; the
report names those of the sample. All others count as missed, and the report names each of them.
"""

import argparse
import ast
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/cohabit")
TESTS_S = 60.0
"""CPU time: tests that take longer than this together are not all run for one change, and it may be missed."""
UNREACHED_S = 20.0
"""The same, for changes of lines that no test reaches in its own process."""
SLOW_S = 1.0
"""Near tests that take longer than this would use up the time, so far ones are run before them."""
TIMEOUT_S = 400.0
TEST_TIMEOUT_S = 30.0
"""For one test: a change that makes it hang is noticed sooner than by the suite's own timeout. Both are wall time,
because a test that hangs uses no CPU time, so on a busy machine they are longer (`stretched`)."""
FIRST_FILES = 2
"""The files with the most tests that reach a change are run before the others."""
AT_LEAST = 6
"""So many changes of each target are tried, however small its part of the code."""


class Target(NamedTuple):
    """Source files by pattern, and the tests that should notice a change in them. The near ones are run first."""

    name: str
    files: tuple[str, ...]
    near: tuple[str, ...]
    far: tuple[str, ...] = ()


def _files(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/test_{name}.py" for name in names.split())


FACES = _files(
    "faces",
    "guard http starting ws overload matrix refusals cli_heads cli_links cli_token client direct world_contract",
)
DECLARED = "tests/house/test_exceptions_to_the_rules.py"  # what commands declare, of rooms too
DOCS = "tests/test_docs.py"  # the reference pages have the arguments of commands, and settings, with their defaults
TARGETS = (
    Target(
        "room",
        ("room/*.py",),
        ("tests/room", "tests/model", "tests/nexus", DECLARED, DOCS),
        ("tests/house", "tests/testing", *FACES),
    ),
    Target("grants", ("model/grant.py",), ("tests/room", "tests/model"), ("tests/house",)),
    Target(
        "house",
        ("house/*.py", "house/running/*.py"),
        ("tests/house", "tests/kibitz/test_media.py", DOCS),
        ("tests/room", "tests/testing", "tests/agents/test_kingdoms_turns.py", *FACES),
    ),
    Target("store", ("house/store/*.py",), ("tests/house",), FACES),
    Target("guard", ("faces/guard.py",), FACES),
    Target(
        "merging",
        ("workspace/merging/*.py",),
        _files("workspace", "merge numbering driver order ownership lost rewritten"),
        _files("workspace", "conflicts inbox publish"),
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
    reached_by: range | None
    """The lines of which a test has to reach one; None for code that runs when it is imported."""
    inside: range | None
    """The lines within the statement, such as those after a condition."""


# -- the changes ------------------------------------------------------------------------------------
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
Edit = tuple[ast.AST, str, Callable[[], None]]
"""The node, the change in words, and how to make it."""


def mutants_of(target: Target, file: Path, text: str) -> Iterator[Mutant]:
    """Every change of one file."""
    tree = ast.parse(text)
    lines = dict(_lines(tree))
    for number, (node, change, _) in enumerate(list(_edits(tree))):
        yield Mutant(target, file, getattr(node, "lineno", 0), change, number, *lines[id(node)])


Lines = tuple[range | None, range | None]


def _lines(node: ast.AST, within: Lines = (None, None), in_function: bool = False) -> Iterator[tuple[int, Lines]]:
    """For each part of the code the lines of its statement: the head, and those inside if there are statements."""
    if in_function and isinstance(node, ast.stmt):
        body, end = getattr(node, "body", None), (node.end_lineno or node.lineno) + 1
        inside = max(node.lineno + 1, body[0].lineno) if body else end
        within = range(node.lineno, inside), range(inside, end)
    yield id(node), within
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for field, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _lines(each, within, in_function or (is_function and field == "body"))


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


def _is_size(node: ast.Constant) -> bool:
    return isinstance(node.value, int) and node.value > 9


def _is_unpromised(name: str) -> bool:
    return name.isupper() and name not in DOCUMENTED_LIMITS


STRUCT_OPTIONS = ("frozen", "kw_only", "gc", "eq", "slots", "omit_defaults")
"""How a struct may be built and changed. With or without `omit_defaults` a reader gets the same value."""


DOCUMENTED_LIMITS = {
    "FAIR_BYTES", "HOUR_MS", "INBOX_LIMIT", "KEYS_KEPT", "LOG_EVERY_MS", "MAX_PENDING_CALLS",
    "MAX_QUEUED_CALLS_OF_MEMBER", "MAX_SAVE", "MAX_SAVES", "MAX_WAIT_MS", "REFUSALS_KEPT", "SLOW_FOR_MS",
    "STAND_IN_STEP_MS", "TOKEN_LENGTH", "WINDOW_MS",
}  # fmt: skip
"""Numbers that the documentation states; `tests/house/test_documented_limits.py` has them too."""


def _not_behaviour(tree: ast.Module) -> Iterator[ast.AST]:
    """Parts whose change nobody could notice in what the program does.

    Annotations, imports for types, `__all__` and the like. Checks of ourselves: assertions, `zip(strict=True)`, methods
    that a subclass has to write, the options of structs. The wording of the log. In a refusal: how many characters of a
    wrong value it quotes, and how many names it suggests. The size of a limit with a name that the documentation
    does not state, such as `VIEWS_CACHED = 64`: it is there for speed, or to bound something, and 65 would do as well.
    So would the size of an `lru_cache`. How many random bytes a secret has.
    """
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
            case ast.Raise(ast.Name("NotImplementedError")) | ast.Raise(ast.Call(ast.Name("AssertionError"))):
                parts = [node]
            case ast.FormattedValue(ast.Subscript(slice=ast.Slice() as cut)):
                parts = [cut]
            case ast.Call(ast.Name("nearest" | "lru_cache")) | ast.Call(ast.Attribute(ast.Name("secrets"))):
                parts = list(node.args)
            case ast.Assign([ast.Name(id=name) | ast.Tuple([ast.Name(id=name), *_])]) if _is_unpromised(name):
                parts = [each for each in ast.walk(node.value) if isinstance(each, ast.Constant) and _is_size(each)]
            case ast.ClassDef() | ast.Call(ast.Name("dataclass")):
                parts = [each for each in node.keywords if each.arg in STRUCT_OPTIONS]
            case ast.Call(ast.Name("zip")):
                parts = list(node.keywords)
        for part in parts:
            if part is not None:
                yield from ast.walk(part)


class WithoutEffect(NamedTuple):
    """A change that somebody has looked at, and that no caller, user or attacker can notice."""

    file: str  # in the package
    was: str  # on the first line of what is changed
    becomes: str
    why: str


WITHOUT_EFFECT = (
    WithoutEffect(
        "faces/guard.py", "refusal.message[:120]", "refusal.message[:121]",
        "No refusal of the guard is that long; a longer one would not fit into the frame that closes a WebSocket.",
    ),
    WithoutEffect(
        "room/decide.py", "self._spent.get(caller, 0) > self", "self._spent.get(caller, 1) > self",
        "A limit is at least one call a second, which one call does not exceed.",
    ),
    WithoutEffect(
        "room/game_time.py", "_nearest_speeds(speed_id[:40], speeds)", "_nearest_speeds(speed_id[:41], speeds)",
        "How many characters of a wrong value are compared with the right ones.",
    ),
    *(
        WithoutEffect(file, "round(", ", 7)", "How many decimals of a sum of rewards are kept.")
        for file in ("room/avatars.py", "room/visits.py")
    ),
    WithoutEffect(
        "room/avatars.py", "state.avatars_made += 1", "state.avatars_made += 2",
        "The numbers from which ids are made only have to differ, and nobody is shown them.",
    ),
    WithoutEffect(
        "room/avatar_views.py", "playtime += max(0, ", "playtime += max(1, ",
        "A millisecond of a time that is shown in seconds.",
    ),
    WithoutEffect(
        "room/embodied.py", "self._at = 0", "self._at = 1",
        "When the time of a room begins that nothing else knows.",
    ),
    *(
        WithoutEffect("room/visibility.py", was, becomes, "About how many characters a value has: it is an estimate.")
        for was, becomes in (("return 8", "return 9"), ("(of) + 4", "(of) + 5"), ("(of) + 2", "(of) + 3"))
    ),
    WithoutEffect(
        "room/timers.py", "self._stale = False", "pass",
        "The timers of members are computed again each time, with the same result.",
    ),
    WithoutEffect(
        "house/running/remote.py", "self._actions_ended = 0", "self._actions_ended = 1",
        "It is compared only with an earlier value of itself.",
    ),
    WithoutEffect(
        "room/audit.py", "default=0) + 1", "default=0) + 2",
        "Numbers of refusals only have to grow, and nobody is shown them.",
    ),
    WithoutEffect(
        "room/recorded.py", "self._refusals.get(kind, 0) + 1", "self._refusals.get(kind, 0) + 2",
        "It asks whether the count is a power of two, which does not change when every count is doubled.",
    ),
    WithoutEffect(
        "house/bots.py", "2 * STAND_IN_STEP_MS) // 2", "3 * STAND_IN_STEP_MS) // 2",
        "Half of it is compared with STAND_IN_STEP_MS, and the smaller one counts.",
    ),
    WithoutEffect(
        "house/front_ends.py", "file.read(MAX_BYTES + 1)", "file.read(MAX_BYTES + 2)",
        "One byte more than is allowed shows that a file is too large; a second one adds nothing.",
    ),
    WithoutEffect(
        "house/loading.py", "store.lines(room_id, expected.seq - 1, 1)", "store.lines(room_id, expected.seq - 1, 2)",
        "Of the entries that are read only the expected one is looked at.",
    ),
    WithoutEffect(
        "house/fanout.py", "self._grouped_version = room.roster_version", "pass",
        "The groups are then made for every batch, with the same result.",
    ),
    WithoutEffect(
        "house/fanout.py", "roster_version: int = -1", "roster_version: int = -2",
        "A version that no roster has; versions begin at 0.",
    ),
    WithoutEffect(
        "workspace/merging/merge.py", "found[0].heading", "found[1].heading",
        "Either of two versions of an entry names it in a conflict.",
    ),
    WithoutEffect(
        "house/heads.py", "os.pread(handle, 1, end - 1)", "os.pread(handle, 2, end - 1)",
        "There is one byte to read.",
    ),
    WithoutEffect(
        "house/challenges.py", "sha256)[:16]", "sha256)[:17]",
        "How many bytes of a MAC are compared.",
    ),
    WithoutEffect(
        "house/store/sqlite.py", "cached_statements=2 * ROWS_PER_INSERT", "cached_statements=3 * ROWS_PER_INSERT",
        "The size of a cache.",
    ),
    WithoutEffect(
        "house/store/sqlite.py", "uri=True", "uri=False",
        "Where SQLite is compiled with URI file names, as usual, it takes them without this option.",
    ),
    WithoutEffect(
        "house/store/sqlite.py", "pragma synchronous = full", "pass",
        "It is the default of SQLite, unless it was compiled with another one.",
    ),
)  # fmt: skip


def reason_without_effect(mutant: Mutant, root: Path = ROOT) -> str:
    """Why nobody can notice a change; empty if somebody might."""
    file = mutant.file.relative_to(PACKAGE).as_posix()
    text = (root / mutant.file).read_text(encoding="utf-8")
    line = text.splitlines()[mutant.line - 1]
    for known in WITHOUT_EFFECT:
        if known.file == file and known.was in line and known.becomes in changed(text, mutant.number):
            return known.why
    return ""


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
class PassingTest(NamedTuple):
    """A test that passes, the CPU time it takes, and the lines that it reaches, by file."""

    name: str
    seconds: float
    lines: dict[str, frozenset[int]]

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


class Copy:
    """A copy of the sources that tests can be run against."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self._root = root
        self._folder = folder
        shutil.copytree(root / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))

    def reached(self, targets: Iterable[Target]) -> str:
        """What each test of the targets reaches, a JSON object on each line."""
        path = self._folder / "reached.jsonl"
        folders = dict.fromkeys(tests for target in targets for tests in (*target.near, *target.far))
        self._pytest(folders, {"REACHED_LINES": str(path)}, None)
        return path.read_text(encoding="utf-8")

    def notices(self, mutant: Mutant, tests: Sequence[PassingTest]) -> str:
        """The test that notices a change; empty if none does."""
        path = self._folder / mutant.file
        before = path.read_bytes()
        self._write(path, changed(before.decode(), mutant.number).encode())
        try:
            chosen = chosen_tests(mutant, tests)
            # To collect all files takes longer than to run most tests, and most changes are noticed by the first.
            first = {file for file, _ in Counter(test.file for test in chosen).most_common(FIRST_FILES)}
            stages = (
                [test.name for test in chosen if test.file in first],
                [t.name for t in chosen if t.file not in first],
            )
            return next(filter(None, map(self.fails, stages)), "")
        finally:
            self._write(path, before)

    def fails(self, names: Sequence[str]) -> str:
        """The first of some tests that fails."""
        if not names:
            return ""
        listed = self._folder / "tests.txt"
        listed.write_text("\n".join(names), encoding="utf-8")
        files = dict.fromkeys(name.partition("::")[0] for name in names)
        timeout = f"--timeout={stretched(TEST_TIMEOUT_S):.0f}"
        return self._pytest(files, {"CHOSEN_TESTS": str(listed)}, stretched(TIMEOUT_S), "-x", timeout)

    def _write(self, path: Path, text: bytes) -> None:
        # Two versions of a file can have the same size and the same second.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_bytes(text)

    def _pytest(self, tests: Iterable[str], settings: dict[str, str], timeout: float | None, *options: str) -> str:
        paths = (self._folder / "src", ROOT / "tools")
        env = {**os.environ, **settings, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        words = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "reached_lines"]
        with subprocess.Popen(
            [*words, *options, *tests],
            cwd=self._root, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return "the tests did not end"
        if process.returncode == 0:
            return ""
        _, _, summary = output.rpartition("short test summary info")
        named = [line.split(" ", 1)[1] for line in summary.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return named[0].partition(" - ")[0] if named else f"pytest ended with {process.returncode}"


def stretched(seconds: float) -> float:
    """A time limit, longer by as much as other programs slow this one down."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def chosen_tests(mutant: Mutant, tests: Sequence[PassingTest]) -> list[PassingTest]:
    """The tests that reach the line of a change, or else its file: near ones first, and fast ones; slow ones last.

    Those that go on inside the statement and those that do not take turns: a change may concern either.
    """
    file = mutant.file.relative_to(PACKAGE).as_posix()

    def reach(lines: range | None) -> list[PassingTest]:
        return [test for test in in_file if not test.lines[file].isdisjoint(lines or ())]

    in_file = [test for test in tests if file in test.lines]
    at_line, inside = reach(mutant.reached_by), set(map(id, reach(mutant.inside)))
    if mutant.reached_by is None:  # every test may depend on what is declared there
        at_line, inside = list(tests), set(map(id, in_file))
    # A line that no test reaches may be one that is reached in another process.
    found = sorted(at_line or in_file or tests, key=lambda test: test.seconds)
    ranks = [
        (test.seconds > SLOW_S, not test.name.startswith(mutant.target.near), rank, test)
        for group in (True, False)
        for rank, test in enumerate(test for test in found if (id(test) in inside) is group)
    ]
    total, most = 0.0, TESTS_S if at_line else UNREACHED_S
    chosen: list[PassingTest] = []
    for *_, test in sorted(ranks, key=lambda ranked: ranked[:3]):
        if total + test.seconds <= most:
            total += test.seconds
            chosen.append(test)
    return chosen


def run(chosen: Sequence[Mutant], root: Path = ROOT, kept: Path | None = None) -> list[Mutant]:
    """Try each change, print what happens, and return those that no test noticed. ``kept``: see ``--map``."""
    missed: list[Mutant] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder), root)
        tests = _tests(copy, chosen, kept)
        noticed_by: dict[str, None] = {}
        for number, mutant in enumerate(chosen, 1):
            begun = time.monotonic()
            if how := copy.notices(mutant, tests):
                noticed_by[how] = None
            else:
                missed.append(mutant)
            took = time.monotonic() - begun
            result = "noticed" if how else "MISSED "
            print(f"{number}/{len(chosen)} {result} {took:4.0f} s  {where(mutant)}  {how}", flush=True)
        if wrong := copy.fails([name for name in noticed_by if "::" in name]):
            print(f"This test fails without any change, so it notices nothing: {wrong}")
    return missed


def _tests(copy: Copy, chosen: Sequence[Mutant], kept: Path | None) -> list[PassingTest]:
    if kept is not None and kept.exists():
        text = kept.read_text(encoding="utf-8")
    else:
        print("running the tests once, to see what they reach ...", flush=True)
        text = copy.reached(dict.fromkeys(mutant.target for mutant in chosen))
        if kept is not None:
            kept.write_text(text, encoding="utf-8")
    return [
        PassingTest(test["name"], test["seconds"], {file: frozenset(lines) for file, lines in test["lines"].items()})
        for test in map(json.loads, text.splitlines())
    ]


def where(mutant: Mutant) -> str:
    return f"{mutant.file.as_posix()}:{mutant.line}  {mutant.change[:100]}"


def sampled(found: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """Changes of every target: in proportion to its size, but a few of each."""
    random = Random(seed)
    chosen: list[Mutant] = []
    for target in dict.fromkeys(mutant.target for mutant in found):
        own = [mutant for mutant in found if mutant.target is target]
        share = max(round(size * len(own) / len(found)), min(AT_LEAST, size))
        chosen += random.sample(own, min(share, len(own)))
    return chosen


def table(chosen: Sequence[Mutant], missed: Sequence[Mutant]) -> str:
    """How many changes of each target were noticed, and those that were not."""
    tried = Counter(mutant.target.name for mutant in chosen)
    lost = Counter(mutant.target.name for mutant in missed)
    rows = [(name, all_ - lost[name], all_) for name, all_ in tried.items()]
    rows.append(("all", len(chosen) - len(missed), len(chosen)))
    lines = [f"{name:12} {noticed:4} of {all_:4}  {100 * noticed / all_:5.1f} %" for name, noticed, all_ in rows]
    return "\n".join([*lines, *(f"  missed: {where(mutant)}" for mutant in missed)])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=60, help="about how many changes to try (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="which changes are chosen (default 1)")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--at-least", type=float, default=0.0, help="exit code 1 if fewer percent are noticed")
    parser.add_argument("--map", type=Path, help="a file: keep there what the tests reach, or use what it has")
    parser.add_argument("--list", action="store_true", help="print the chosen changes and run nothing")
    args = parser.parse_args(argv)
    found = all_mutants(args.only)
    sample = sampled(found, args.sample, args.seed)
    print(f"{len(sample)} of {len(found)} possible changes, seed {args.seed}")
    reasons = [reason_without_effect(mutant) for mutant in sample]
    for mutant, why in zip(sample, reasons, strict=True):
        if why:
            print(f"not tried, without effect: {where(mutant)}  {why}")
    chosen = [mutant for mutant, why in zip(sample, reasons, strict=True) if not why]
    if args.list or not chosen:
        print("\n".join(map(where, chosen)))
        return 0
    missed = run(chosen, kept=args.map)
    print(table(chosen, missed))
    return 0 if 100 * (1 - len(missed) / len(chosen)) >= args.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
