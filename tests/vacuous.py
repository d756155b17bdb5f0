"""Finds tests that cannot fail, by reading them.

A test can fail if an assertion, or a call that checks, is on its way whatever happens: not only in a loop that may have
nothing to go through, in one branch of an `if`, or in the handler of an error that need not come.
"""

import ast
import functools
import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
HELPERS = (ROOT / "tests", ROOT / "src" / "cohabit" / "testing")
CHECKS = {
    "raises", "warns", "fail", "expect", "api_test", "seed_test", "parallel_api_test", "parallel_seed_test", "claim",
}  # fmt: skip
"""Calls of pytest, Playwright and PettingZoo that check, and the claims of `cohabit.testing`. So do those whose name begins
with `check_` or `assert_`, and our own helpers and fixtures in which a check is certain."""
NOT_SHORTER = {
    "chain", "copy", "dict", "encode", "enumerate", "items", "keys", "list", "map", "permutations", "product", "reversed",
    "set", "sorted", "split", "splitlines", "tuple", "values", "zip",
}  # fmt: skip
"""What these return is not empty if nothing that they are given is."""
ANY_ERROR = {"CohabitError", "AskerError", "WorldError", "HouseError", "Exception", "BaseException"}
COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | COMPREHENSION
Function = ast.FunctionDef | ast.AsyncFunctionDef
Found = tuple[ast.AST, "Source"]
"""A function, a class or a value, and the file that has it."""


def faults(where: "Source") -> Iterator[str]:
    """What is wrong with the tests of a file."""
    for node in where.tree.body:
        if isinstance(node, Function | ast.ClassDef):
            yield from (f"{where.name}: {name} accepts any error" for name in accepting_any_error(node))
        for test in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(test, Function) and test.name.startswith("test_") and not Body(test, where).is_certain():
                yield f"{where.name}: {test.name} may check nothing"


class Source:
    """One file: what it defines, and where the names come from that it imports."""

    def __init__(self, text: str, path: Path) -> None:
        self.tree = ast.parse(text)
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.names: dict[str, ast.AST] = dict(assignments(self.tree.body))
        self.names |= {node.name: node for node in self.tree.body if isinstance(node, Function | ast.ClassDef)}
        self.imports = {
            alias.asname or alias.name: (alias.name, place)
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom) and (place := self._place(node))
            for alias in node.names
        }

    def _place(self, node: ast.ImportFrom) -> Path | None:
        parts = (node.module or "").split(".")
        if node.level:
            return self.path.parents[node.level - 1].joinpath(*parts)
        top = {"tests": ROOT, "cohabit": ROOT / "src"}.get(parts[0])
        return top.joinpath(*parts) if top else None

    def find(self, name: str) -> Found | None:
        """What a name stands for, here or in the file that it is imported from."""
        if name in self.names:
            return self.names[name], self
        name, place = self.imports.get(name, (name, self.path))
        file = next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), self.path)
        return read(file).find(name) if file != self.path else None

    def fixture(self, name: str) -> Found | None:
        folders = [folder for folder in self.path.parents if folder.is_relative_to(ROOT / "tests")]
        shared = [folder / "conftest.py" for folder in folders]
        for where in (self, *(read(path) for path in shared if path.is_file())):
            if isinstance(found := where.names.get(name), Function):
                return found, where
        return None


@functools.cache
def read(path: Path) -> Source:
    return Source(path.read_text(), path)


class Body:
    """What certainly happens in one function."""

    def __init__(self, function: Function, where: Source, around: "Body | None" = None) -> None:
        self.function = function
        self.where = where
        self.around = around
        self.arguments = {arg.arg: arg.annotation for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
        self._nodes = [*ast.walk(function)]
        self.inner = {node.name: node for node in self._nodes if isinstance(node, Function) and node is not function}
        self._asked: set[str] = set()

    @functools.cached_property
    def values(self) -> dict[str, list[ast.expr]]:
        """All values that its variables and its parametrized arguments get."""
        found: dict[str, list[ast.expr]] = {}
        for name, value in (*parametrized(self.function), *assignments(self._nodes)):
            found.setdefault(name, []).append(value)
        return found

    def is_certain(self) -> bool:
        """Whether a check runs, in the function or at the end of a fixture that it uses."""
        return self.any_checks(self.function.body) or any(map(self._checked_by, self.arguments))

    def any_checks(self, nodes: Iterable[ast.stmt]) -> bool:
        return any(map(self.checks, nodes))

    def checks(self, node: ast.stmt) -> bool:
        """Whether a check runs wherever this statement does."""
        match node:
            case ast.Assert():
                return self.says_something(node.test)
            case ast.For() | ast.AsyncFor():
                return self.calls_a_check(node.iter) or (self.runs(node.iter) and self.any_checks(node.body))
            case ast.While():
                endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
                return self.calls_a_check(node.test) or (endless and self.any_checks(node.body))
            case ast.If():
                return self.calls_a_check(node.test) or self.all_check(node.body, node.orelse)
            case ast.Match():
                return self.all_check(*(case.body for case in node.cases))
            case ast.Try():
                ways = ([*node.body, *node.orelse], *(handler.body for handler in node.handlers))
                return self.any_checks(node.finalbody) or self.all_check(*ways)
            case ast.With() | ast.AsyncWith():
                entered = any(
                    self.calls_a_check(item.context_expr, item.optional_vars is not None) for item in node.items
                )
                goes_on = "suppress" not in (name_of(item.context_expr) for item in node.items)
                return entered or (goes_on and self.any_checks(node.body))
            case ast.Raise():
                return fails([node])  # what should have happened before did not
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return False
        return self.calls_a_check(node, kept=not isinstance(node, ast.Expr | ast.Return))

    def all_check(self, *ways: list[ast.stmt]) -> bool:
        """Whether every way checks, or one of them is there to fail."""
        return any(map(fails, ways)) or all(map(self.any_checks, ways))

    def says_something(self, test: ast.expr) -> bool:
        """Whether an assertion says something if there is nothing to look at: `all` and `not any` do not."""
        match test:
            case ast.BoolOp(op=ast.And()):
                return any(map(self.says_something, test.values))
            case ast.Call(func=ast.Name(id="all"), args=[over]):
                return self.runs(over)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="any"), args=[over])):
                return self.runs(over)
            case ast.UnaryOp(op=ast.Not(), operand=over):
                return self.looks_through_something(over)
            case ast.Compare(left=over, ops=[ast.Eq()], comparators=[empty]) if is_empty(empty):
                return self.looks_through_something(over)
        return True

    def looks_through_something(self, over: ast.expr) -> bool:
        """Whether a list of faults could have one: without anything to look through it is always empty."""
        match over:
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                chosen = any(part.ifs for part in over.generators)
                return not chosen or all(self.runs(part.iter) for part in over.generators)
            case ast.Name() if len(self.values.get(over.id, ())) == 1:
                return self.looks_through_something(self.values[over.id][0])
        return True

    def calls_a_check(self, node: ast.AST, kept: bool = False) -> bool:
        """Whether this calls something that checks. A helper whose result is kept prepares the test."""
        inner = self.inner.keys() & set(names_in(node)) if self.inner else ()
        return any(self._is_check(call, kept) for call in calls(node)) or any(
            Body(self.inner[name], self.where, self).is_certain() for name in inner
        )

    def _is_check(self, call: ast.Call, kept: bool) -> bool:
        found: list[Found] = []
        name = name_of(call)
        match call.func:
            case _ if name in CHECKS or name.startswith(("check_", "assert_")):
                return True
            case ast.Name():
                found = [one] if (one := self.where.find(name)) else self._given_by_fixture(name)
            case ast.Attribute(value=ast.Name(id=owner)) if made := self._class_of(owner):
                found = [(each, made[1]) for each in made[0].body if isinstance(each, Function) and each.name == name]
            case _:
                found = methods().get(name, [])
        return bool(found) and all(
            isinstance(node, Function) and not (kept and returns(node)) and function_checks(node, where)
            for node, where in found
        )

    def _class_of(self, name: str) -> tuple[ast.ClassDef, Source] | None:
        """The class of a variable that is annotated with it or made by calling it."""
        if name == "self":
            classes = [node for node in self.where.tree.body if isinstance(node, ast.ClassDef)]
            return next(((node, self.where) for node in classes if self.function in node.body), None)
        annotation = self.arguments.get(name)
        kinds = {name_of(value) for value in self.values.get(name, ())} | (
            {ast.unparse(annotation)} if annotation else set()
        )
        match self.where.find(kinds.pop()) if len(kinds) == 1 else None:
            case (ast.ClassDef() as node, where):
                return node, where
        return None

    def _given_by_fixture(self, name: str) -> list[Found]:
        match self.where.fixture(name):
            case (ast.FunctionDef() | ast.AsyncFunctionDef() as fixture, where):
                return [(node, where) for node in fixture.body if isinstance(node, Function)]
        return []

    def _checked_by(self, name: str) -> bool:
        match self.where.fixture(name):
            case (ast.FunctionDef() | ast.AsyncFunctionDef() as fixture, where):
                given = [isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) for node in fixture.body]
                return True in given and Body(fixture, where).any_checks(fixture.body[given.index(True) + 1 :])
        return False

    def runs(self, over: ast.AST) -> bool:
        """Whether a loop over this certainly runs."""
        match over:
            case ast.Constant():
                return bool(over.value)
            case ast.JoinedStr():
                return True
            case ast.List() | ast.Tuple() | ast.Set():
                return any(not isinstance(item, ast.Starred) or self.runs(item.value) for item in over.elts)
            case ast.Dict():
                return any(key or self.runs(value) for key, value in zip(over.keys, over.values, strict=True))
            case ast.BinOp(op=ast.Add() | ast.BitOr()):
                return self.runs(over.left) or self.runs(over.right)
            case ast.BinOp(op=ast.Mult()):
                return self.runs(over.left) and self.runs(over.right)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return all(self.runs(part.iter) and not part.ifs for part in over.generators)
            case ast.Call():
                return self._result_runs(over)
            case ast.Name():
                return self._variable_runs(over.id)
        return False

    def _result_runs(self, call: ast.Call) -> bool:
        name = name_of(call)
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        given = call.args or owner
        match name:
            case "range":
                return self.runs(given[:2][-1])
            case "map":
                return all(map(self.runs, given[1:]))
            case "zip" if any(
                option.arg == "strict" and ast.unparse(option.value) == "True" for option in call.keywords
            ):
                return any(map(self.runs, given))
        return name in NOT_SHORTER and bool(given) and all(map(self.runs, given))

    def _variable_runs(self, name: str) -> bool:
        if name in self._asked:
            return True  # `rows = sorted(rows)`: another value decides
        if name in self.values:
            self._asked.add(name)
            found = all(map(self.runs, self.values[name]))
            self._asked.discard(name)
            return found
        if name in self.arguments:
            return "given" in map(name_of, self.function.decorator_list)  # Hypothesis tries more than empty ones
        if self.around:
            return self.around._variable_runs(name)
        constant = self.where.find(name)
        return bool(constant) and constant_runs(name, *constant)


def constant_runs(name: str, value: ast.AST, where: Source) -> bool:
    """Whether a constant is not empty: of the package the value itself is looked at, since it may be computed."""
    if not where.path.is_relative_to(ROOT / "src"):
        return Body(NOTHING, where).runs(value)
    parts = where.path.relative_to(ROOT / "src").with_suffix("").parts
    return bool(vars(importlib.import_module(".".join(parts).removesuffix(".__init__")))[name])


_checks: dict[ast.AST, bool] = {}


def function_checks(function: Function, where: Source) -> bool:
    if function not in _checks:
        _checks[function] = False  # it does not because it calls itself
        _checks[function] = Body(function, where).is_certain()
    return _checks[function]


def forget() -> None:
    """Let go of all files that were read: millions of nodes, which a garbage collection would visit."""
    _checks.clear()
    methods.cache_clear()
    read.cache_clear()


@functools.cache
def methods() -> dict[str, list[Found]]:
    """The methods of all classes that help tests, by name."""
    found: dict[str, list[Found]] = {}
    for path in (path for folder in HELPERS for path in sorted(folder.rglob("*.py"))):
        for node in (node for kind in read(path).tree.body if isinstance(kind, ast.ClassDef) for node in kind.body):
            if isinstance(node, Function):
                found.setdefault(node.name, []).append((node, read(path)))
    return found


def accepting_any_error(node: Function | ast.ClassDef) -> Iterator[str]:
    """The name of the function, once for each `raises` of a base class that is followed by no look at the error."""
    for item in (each for each in ast.walk(node) if isinstance(each, ast.withitem)):
        call = item.context_expr
        if (
            isinstance(call, ast.Call)
            and name_of(call) == "raises"
            and "match" not in {option.arg for option in call.keywords}
        ):
            expected = {name for error in call.args[:1] for name in names_in(error)}
            if expected & ANY_ERROR and not (item.optional_vars and is_used(ast.unparse(item.optional_vars), node)):
                yield node.name


def is_used(name: str, node: ast.AST) -> bool:
    return sum(found == name for found in names_in(node)) > 1


def names_in(node: ast.AST) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]


def assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        match node:
            case ast.Assign(targets=[*targets], value=value):
                for target in targets:
                    yield from bound(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from bound(target, value)


def bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=names), ast.Tuple(elts=values):
            for one, its in zip(names, values, strict=False):
                yield from bound(one, its)
        case ast.Tuple(elts=names), ast.Name():
            for one in names:
                yield from bound(one, value)


def parametrized(function: Function) -> Iterator[tuple[str, ast.expr]]:
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, ast.List(elts=cases), *_]):
                named = names.elts if isinstance(names, ast.Tuple) else [names]
                for case in cases:
                    several = (
                        case.args
                        if isinstance(case, ast.Call)
                        else case.elts
                        if isinstance(case, ast.Tuple)
                        else [case]
                    )
                    for name, value in zip(named, several if len(named) > 1 else [case], strict=False):
                        yield ast.literal_eval(name), value


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that run with this node: not those of a lambda or a comprehension in it."""
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, LATER):
            yield from calls(child)


def returns(function: Function) -> bool:
    return any(isinstance(node, ast.Return | ast.Yield) and node.value is not None for node in ast.walk(function))


def name_of(call: ast.AST) -> str:
    function = call.func if isinstance(call, ast.Call) else None
    return getattr(function, "id", getattr(function, "attr", ""))


def fails(way: list[ast.stmt]) -> bool:
    """Whether a way ends the test as failed. Then what leads to it is an assertion."""
    match way:
        case [*_, ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError")))]:
            return True
        case [*_, ast.Expr(value=ast.Call(func=ast.Attribute(attr="fail")))]:
            return True
    return False


def is_empty(node: ast.expr) -> bool:
    return ast.unparse(node) in ("[]", "{}", "()", "set()")


NOTHING = next(node for node in ast.parse("def nothing(): ...").body if isinstance(node, ast.FunctionDef))
