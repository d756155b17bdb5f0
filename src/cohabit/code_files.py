"""Python files as modules, and the classes in them: worlds, agents and features that users write."""

import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.suggest import nearest


def module_from(path: Path) -> ModuleType:
    """The module of a file. The same content is run once."""
    if not path.is_file():
        raise UnknownAsset(f"file not found: {path}")
    resolved, text = str(path.resolve()), path.read_bytes()
    # One module per content: an edited file is a new module, and old rooms keep theirs until restart.
    module_name = f"cohabit_file_{path.stem}_{sha256(resolved.encode() + text).hexdigest()[:12]}"
    with _one_at_a_time(module_name):
        module = sys.modules.get(module_name)
        if module is None:
            module = ModuleType(module_name)
            module.__file__ = resolved
            sys.modules[module_name] = module
            try:
                # Not through an import: Python reuses stale bytecode if a file was edited within the same second and
                # kept its size.
                exec(compile(text, resolved, "exec", dont_inherit=True), vars(module))
            except BaseException as bug:
                del sys.modules[module_name]
                if isinstance(bug, Exception | SystemExit):  # a script that calls sys.exit() must not stop the house
                    where = _own_line(bug, Path(resolved).parent)
                    raise BadArgs(f"{path} cannot be imported: {type(bug).__name__}: {bug}{where}") from bug
                raise
    return module


def _own_line(bug: BaseException, folder: Path) -> str:
    """The innermost line of the files in this folder that raised an exception. A syntax error has its own."""
    own = [f for f in traceback.extract_tb(bug.__traceback__) if Path(f.filename).parent == folder]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


_module_locks: "dict[str, threading.RLock]" = {}


@contextmanager
def _one_at_a_time(module: str) -> Iterator[None]:
    """Rooms are made and opened on threads. No thread gets a module that another one has not finished loading."""
    lock = _module_locks.setdefault(module, threading.RLock())
    while not lock.acquire(timeout=0.1):  # in steps, so that a thread that waits can be interrupted
        pass
    try:
        yield
    finally:
        lock.release()


def classes_in(module: ModuleType, fits: Callable[[type], bool]) -> dict[str, type]:
    """The classes that a module defines and that fit."""
    theirs = vars(module).items()
    return {n: v for n, v in theirs if isinstance(v, type) and v.__module__ == module.__name__ and fits(v)}


def only_class(here: Mapping[str, Any], path: Path, name: str, what: str, base: str) -> Any:
    """The class with this name; without a name, the only one."""
    if name:
        if name not in here:
            raise UnknownAsset(f"{path} has no {what} {name!r}", did_you_mean=nearest(name, list(here), 2))
        return here[name]
    if len(here) != 1:
        if not here:
            raise BadArgs(f"{path} has no {base}" if what == "agent" else f"{path} has no class derived from {base}")
        raise BadArgs(f"{path} has {len(here)} {what}s ({', '.join(here)}); name one as {path}:ClassName")
    return next(iter(here.values()))
