"""The imports of the code in a file: modules of its author, which are hashed, and installed packages, with versions.

Found in the text of the file, so that imports inside functions count too. What is loaded by a name that is computed,
and data files, are not found.
"""

import ast
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct

INSTALLED = ("site-packages", "dist-packages")
OURS = "cohabit"


class Imported(Struct, frozen=True):
    """Files of the author's own modules, in order, and names of installed packages."""

    files: list[Path]
    packages: list[str]


def imported_by(path: Path) -> Imported:
    """The imports of a file, direct or through the author's own modules."""
    files: dict[Path, None] = {}
    packages: set[str] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        for name in _names(file):
            found = _location(name, path.parent)
            if isinstance(found, str):
                packages.add(name)
            elif found is not None:
                new = [each for each in _files_of(found) if each != path and each not in files]
                files.update(dict.fromkeys(new))
                waiting += new
    return Imported(sorted(files), sorted(packages))


def _names(file: Path) -> Iterator[str]:
    """The first parts of the names that a file imports. Those of its own package are in ``_files_of``."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


def _location(name: str, folder: Path) -> Path | Literal["installed"] | None:
    """The file or folder of a module, ``installed``, or None if it is part of Python or of Cohabit, or not found.

    A module beside the file counts also if the import system does not find it: the file may add its folder to the path
    only when it runs.
    """
    if name == OURS or name in sys.stdlib_module_names:
        return None
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        beside = [folder / f"{name}.py", folder / name]
        return next((each for each in beside if each.exists()), None)
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    if not places or not Path(places[0]).exists():
        return None
    place = Path(places[0])
    if any(part in INSTALLED for part in place.parts):
        return "installed"
    return place.parent if place.name == "__init__.py" else place


def _files_of(place: Path) -> list[Path]:
    """A module, or all modules of a package."""
    return sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.suffix == ".py" else []
