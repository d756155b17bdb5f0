"""Finds forbidden code in the source of a world: clocks, global random numbers, threads, the order of sets.

A line that ends in ``# cohabit: ok`` and a reason is left alone.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ALLOWED = "# cohabit: ok"
MODULES = {
    "time": "reads the wall clock; count your own steps or ticks",
    "random": "is one generator for the whole process; use Stream(seed, purpose)",
    "secrets": "is not reproducible; use Stream(seed, purpose)",
    "uuid": "is not reproducible; use your own counter",
    "asyncio": "is for the house; a world runs only while it is called",
    "threading": "is for the house; a world runs only while it is called",
    "socket": "is for interfaces; a world must not use the network",
    "numpy.random": "differs between versions; use Stream(seed, purpose)",
}
CALLS = {
    "now": "reads the wall clock; count your own steps or ticks",
    "utcnow": "reads the wall clock; count your own steps or ticks",
    "today": "reads the wall clock; count your own steps or ticks",
    "urandom": "is not reproducible; use Stream(seed, purpose)",
}
BUILTINS = {
    "hash": "differs between processes; use your own key",
    "id": "is a memory address and differs between processes; use a name or a number",
}
ORDERLY = ("sorted", "len", "sum", "min", "max", "any", "all", "set", "frozenset")


def scan(module: ModuleType) -> list[str]:
    """All forbidden code in the module and in the modules it imports from its own folder."""
    return [line for file in _sources(module) for line in _scan_file(file)]


def _sources(module: ModuleType) -> list[Path]:
    found: list[Path] = []
    todo = [module]
    while todo:
        file = inspect.getsourcefile(todo.pop())
        if file is None or Path(file) in found:
            continue
        found.append(Path(file))
        todo += [m for m in _imported(Path(file)) if _is_local(m, found[0].parent)]
    return found


def _is_local(module: ModuleType, folder: Path) -> bool:
    """True if a module is part of the world: in its folder, and neither ours nor installed there."""
    file = Path(getattr(module, "__file__", None) or "/nowhere")
    ours = module.__name__.partition(".")[0] == "cohabit"
    return file.is_relative_to(folder) and not ours and "site-packages" not in file.parts


def _imported(file: Path) -> Iterator[ModuleType]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (sys.modules[name] for name in names if name in sys.modules)


def _scan_file(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    tree = ast.parse(text)
    orderly = [part for node in ast.walk(tree) for part in _orderly_parts(node)]
    for node in ast.walk(tree):
        if node not in orderly:
            number = getattr(node.iter if isinstance(node, ast.comprehension) else node, "lineno", 1)
            if not lines[number - 1 : number] or ALLOWED not in lines[number - 1]:
                yield from (f"{file.name}:{number}: {wrong}" for wrong in _wrong_with(node))


def _orderly_parts(node: ast.AST) -> list[ast.comprehension]:
    """Loops over sets whose order has no effect: inside sorted(…), len(…), another set."""
    match node:
        case ast.SetComp(generators=loops):
            return loops
        case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp(generators=loops), *_]) if name in ORDERLY:
            return loops
    return []


def _wrong_with(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (f"{a.name} {MODULES[a.name]}" for a in names if a.name in MODULES)
        case ast.ImportFrom(module=str(name), names=names) if name in MODULES:
            yield f"{name} {MODULES[name]}"
        case ast.ImportFrom(module=str(name), names=names):
            whole = [f"{name}.{alias.name}" for alias in names]
            yield from (f"{w} {MODULES[w]}" for w in whole if w in MODULES)
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in CALLS:
            yield f"{ast.unparse(node.func)}() {CALLS[attr]}"
        case ast.Call(func=ast.Name(id=name)) if name in BUILTINS:
            yield f"{name}() {BUILTINS[name]}"
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name not in ORDERLY and _is_set(first):
            if name in ("list", "tuple", "enumerate", "iter", "map", "zip", "dict"):
                yield f"{ast.unparse(node)} reads a set in arbitrary order; sort it"
        case ast.For(iter=it) | ast.comprehension(iter=it) if _is_set(it):
            yield f"iterating over {ast.unparse(it)} has no fixed order; use a list or a dict, or sort it"


def _is_set(node: ast.AST) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.Sub(), left=left, right=right):
            return _is_set(left) or _is_set(right)
    return False
