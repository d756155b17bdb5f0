"""The changes of a mutation run: a condition negated, another operator, another number, a statement left out.

`tools/mutants.py` chooses some of them and looks for a test that notices each. Changes that nobody could notice are not
made: see `_not_behaviour`. Among the others some are without effect too (a faster path that is not taken any more).
Those that somebody has looked at are in `WITHOUT_EFFECT`, with reasons.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/cohabit")


class Target(NamedTuple):
    """Source files by pattern, and the tests that should notice a change in them. The near ones are run first."""

    name: str
    files: tuple[str, ...]
    near: tuple[str, ...]
    far: tuple[str, ...] = ()


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
    return ast.unparse(changed_tree(text, number))


def changed_tree(text: str, number: int) -> ast.Module:
    """The same as a tree, in which everything else has the line that it has in the text."""
    tree = ast.parse(text)
    _, _, make = list(_edits(tree))[number]
    make()
    return ast.fix_missing_locations(tree)


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
    "ARRIVALS", "FAIR_BYTES", "FORGERIES", "GUESSES", "GUESSES_OF_ALL", "HOUR_MS", "INBOX_LIMIT", "KEYS_KEPT",
    "LINES_OF_NEWCOMERS", "LINES_PER_MEMBER", "LOG_EVERY_MS", "MAX_PENDING_CALLS", "MAX_QUEUED_CALLS_OF_MEMBER",
    "MAX_SAVE", "MAX_SAVES", "MAX_WAIT_MS", "MIN_CHOSEN", "REFUSALS_KEPT", "SLOW_FOR_MS", "STAND_IN_STEP_MS",
    "TOKEN_LENGTH", "WINDOW_MS",
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
        "room/access/budget.py", "self._spent.get(caller, 0) > self", "self._spent.get(caller, 1) > self",
        "A limit is at least one call a second, which one call does not exceed.",
    ),
    WithoutEffect(
        "house/running/quotas.py", "self._hour = -1", "self._hour = -2",
        "An hour that is never counted; hours begin at 0.",
    ),
    WithoutEffect(
        "lab/opening.py", 'source, "", 0, "")', "source, '', 1, '')",
        "A seed that is never used: each room gets its own.",
    ),
    WithoutEffect(
        "lab/opening.py", "made.timers.idle = self._has_no_timer", "pass",
        "The first call then looks for timers and finds none.",
    ),
    WithoutEffect(
        "lab/opening.py", "self._opened = msgspec.to_builtins(same)", "pass",
        "Every room is then opened like the first one, with the same result.",
    ),
    WithoutEffect(
        "room/record.py", "digest: bytes = GENESIS, at: int = 0", "at: int=1)",
        "A room writes its first entry, which has a time, before anything reads the time of its record.",
    ),
    WithoutEffect(
        "room/play/claims.py", "len(text) < 6 and", "len(text) < 7 and",
        "A longer number is not one of a seat either: no world has as many.",
    ),
    WithoutEffect(
        "features/game_clock.py", "_nearest_speeds(speed_id[:40], speeds)", "_nearest_speeds(speed_id[:41], speeds)",
        "How many characters of a wrong value are compared with the right ones.",
    ),
    *(
        WithoutEffect(file, "round(", ", 7)", "How many decimals of a sum of rewards are kept.")
        for file in ("features/bodies/avatars.py", "features/visits/visits.py")
    ),
    WithoutEffect(
        "features/bodies/avatars.py", "kept.made += 1", "kept.made += 2",
        "The numbers from which ids are made only have to differ, and nobody is shown them.",
    ),
    WithoutEffect(
        "features/bodies/views.py", "playtime += max(0, ", "playtime += max(1, ",
        "A millisecond of a time that is shown in seconds.",
    ),
    WithoutEffect(
        "protocols/wsap/one_seat.py", "self._at = 0", "self._at = 1",
        "When the time of a room begins that nothing else knows.",
    ),
    *(
        WithoutEffect("model/limits.py", was, becomes, "About how many characters a value has.")
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
        "model/refusals.py", "default=0) + 1", "default=0) + 2",
        "Numbers of refusals only have to grow, and nobody is shown them.",
    ),
    WithoutEffect(
        "room/recorded.py", "self._refusals.get(kind, 0) + 1", "self._refusals.get(kind, 0) + 2",
        "It asks whether the count is a power of two, which does not change when every count is doubled.",
    ),
    WithoutEffect(
        "room/recorded.py", "if state.format < FORMAT else", "if state.format <= FORMAT else",
        "It is asked only if they differ.",
    ),
    WithoutEffect(
        "features/stand_ins.py", "2 * STAND_IN_STEP_MS) // 2", "3 * STAND_IN_STEP_MS) // 2",
        "Half of it is compared with STAND_IN_STEP_MS, and the smaller one counts.",
    ),
    WithoutEffect(
        "house/reading/front_ends.py", "file.read(MAX_BYTES + 1)", "file.read(MAX_BYTES + 2)",
        "One byte more than is allowed shows that a file is too large; a second one adds nothing.",
    ),
    WithoutEffect(
        "house/store/loading.py", "store.lines(room_id, expected.seq - 1, 1)",
        "store.lines(room_id, expected.seq - 1, 2)",
        "Of the entries that are read only the expected one is looked at.",
    ),
    WithoutEffect(
        "house/streams/fanout.py", "self._grouped_version = room.roster_version", "pass",
        "The groups are then made for every batch, with the same result.",
    ),
    WithoutEffect(
        "house/streams/fanout.py", "roster_version: int = -1", "roster_version: int = -2",
        "A version that no roster has; versions begin at 0.",
    ),
    WithoutEffect(
        "workspace/merging/merge.py", "found[0].heading", "found[1].heading",
        "Either of two versions of an entry names it in a conflict.",
    ),
    WithoutEffect(
        "house/store/heads.py", "os.pread(handle, 1, end - 1)", "os.pread(handle, 2, end - 1)",
        "There is one byte to read.",
    ),
    WithoutEffect(
        "house/access/codes.py", "sha256)[:16]", "sha256)[:17]",
        "How many bytes of a MAC are compared.",
    ),
    WithoutEffect(
        "house/store/sqlite_opening.py",
        "cached_statements=2 * ROWS_PER_INSERT", "cached_statements=3 * ROWS_PER_INSERT",
        "The size of a cache.",
    ),
    WithoutEffect(
        "house/store/sqlite_opening.py", "uri=True", "uri=False",
        "Where SQLite is compiled with URI file names, as usual, it takes them without this option.",
    ),
    WithoutEffect(
        "house/store/sqlite_opening.py", "pragma synchronous = full", "pass",
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


def all_mutants(targets: Iterable[Target], only: str = "", root: Path = ROOT) -> list[Mutant]:
    """Every change of every target, in a fixed order. ``only``: of files whose path contains this."""
    found: list[Mutant] = []
    for target in targets:
        for pattern in target.files:
            for path in sorted((root / PACKAGE).glob(pattern)):
                file = path.relative_to(root)
                if only in file.as_posix():
                    found.extend(mutants_of(target, file, path.read_text(encoding="utf-8")))
    return found
