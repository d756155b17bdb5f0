"""Where worlds come from: a built-in name, an installed package's entry point, or a file.

Worlds are imported only when somebody opens one.
"""

import importlib
import inspect
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.suggest import nearest
from cohabit.world import World

BUILT_IN = {
    "nim": "cohabit.worlds.nim:Nim",
    "tictactoe": "cohabit.worlds.tictactoe:TicTacToe",
    "lanterns": "cohabit.worlds.lanterns:Lanterns",
    "kingdoms": "cohabit.worlds.kingdoms.world:Kingdoms",
    "statecraft": "cohabit.worlds.statecraft.world:Statecraft",
}
REMOTE = {
    "worldbox": "cohabit.worlds.worldbox:WorldBox",
    "workspace": "cohabit.worlds.workspace:Workspace",
}
"""Worlds that are elsewhere. Their rooms are opened with the way there (``cohabit worldbox``, ``cohabit workspace
serve``), so no list has them."""
ENTRY_POINTS = "cohabit.worlds"


def known_worlds() -> dict[str, str]:
    """Every world by name, and where it is: ``module:Class``."""
    from importlib.metadata import entry_points

    installed = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    return {**installed, **BUILT_IN}


def find_world(source: str) -> type[World]:
    """The world of that name, or the one in that file (``mygame.py``, or ``mygame.py:ClassName``)."""
    path, _, name = source.partition(".py:")
    if name or source.endswith(".py"):
        return _from_file(Path(path + ".py" if name else source), name)
    target = BUILT_IN.get(source) or REMOTE.get(source) or known_worlds().get(source)
    if target is None:
        known = list(known_worlds())
        raise UnknownAsset(
            f"there is no world {source!r}; there are {', '.join(known)}, or give the path of a .py file",
            did_you_mean=nearest(source, known, 2),
        )
    module, _, attribute = target.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    return _checked(found, source)


def lasting_source(source: str) -> str:
    """The source in a form that finds the same world again from another folder."""
    path, dot, name = source.partition(".py:")
    if dot or source.endswith(".py"):
        return str(Path(path + ".py" if dot else source).resolve()) + (f":{name}" if name else "")
    return source


def make_world(source: str, config: Mapping[str, Any]) -> World:
    """A world ready for ``reset``. Its config is what its ``__init__`` takes, checked."""
    cls = find_world(source)
    params = list(inspect.signature(cls).parameters.values())
    hints = inspect.get_annotations(cls.__init__, eval_str=True) if params else {}
    fields: list[Any] = [
        (p.name, hints.get(p.name, Any), msgspec.NODEFAULT if p.default is p.empty else p.default) for p in params
    ]
    shape = msgspec.defstruct("config", fields, forbid_unknown_fields=True, kw_only=True)
    try:
        checked = msgspec.convert(config, shape)
    except msgspec.ValidationError as wrong:
        takes = ", ".join(p.name for p in params) or "nothing"
        raise BadArgs(f"config of {source}: {wrong}; it takes {takes}") from None
    return cls(**{p.name: getattr(checked, p.name) for p in params})


def _from_file(path: Path, name: str) -> type[World]:
    if not path.is_file():
        raise UnknownAsset(f"there is no file {path}")
    resolved, text = str(path.resolve()), path.read_bytes()
    # One module per content: an edited file is a new module, and old rooms keep theirs until restart.
    module_name = f"cohabit_world_{path.stem}_{sha256(resolved.encode() + text).hexdigest()[:12]}"
    module = sys.modules.get(module_name)
    if module is None:
        module = ModuleType(module_name)
        module.__file__ = resolved
        sys.modules[module_name] = module
        try:
            # Not through an import: Python takes cached bytecode for current when a file was edited within the same
            # second and kept its size.
            exec(compile(text, resolved, "exec", dont_inherit=True), vars(module))
        except (Exception, SystemExit) as bug:  # a script that ends itself must not end the house
            del sys.modules[module_name]
            raise BadArgs(f"{path} cannot be imported: {type(bug).__name__}: {bug}") from bug
    here = {n: v for n, v in vars(module).items() if _is_world(v) and v.__module__ == module_name}
    if name:
        if name not in here:
            raise UnknownAsset(f"{path} has no world {name!r}", did_you_mean=nearest(name, list(here), 2))
        return _checked(here[name], str(path))
    if len(here) != 1:
        found = f"{len(here)} worlds ({', '.join(here)})" if here else "no class derived from World"
        raise BadArgs(f"{path} has {found}; name one as {path}:ClassName" if here else f"{path} has {found}")
    return _checked(next(iter(here.values())), str(path))


def _is_world(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, World) and value is not World


def _checked(found: Any, source: str) -> type[World]:
    if not _is_world(found):
        raise BadArgs(f"{source} is not a World class")
    if not hasattr(found, "spec"):
        raise BadArgs(f"{source}: {found.__name__} has no spec = WorldSpec(name=…)")
    world: type[World] = found
    return world
