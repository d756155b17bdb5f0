"""Files of worlds and brains that are sent to other machines: the code of a design that is not installed there.

A machine that has the same files at the same place uses its own, with the data beside them. On another one they are
written under a folder, each at its whole path, so that they find each other as before.
"""

import atexit
import sys
from collections.abc import Iterable
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from msgspec import Struct

from cohabit.lab.design import is_file
from cohabit.lab.fingerprint import files_with_imports


class Sources(Struct, frozen=True):
    """Texts by absolute path, and the folders of the import path in which they are found."""

    files: dict[str, bytes]
    import_path: list[str]

    def here(self) -> str:
        """Make them usable on this machine. Returns the folder under which they are; empty: they were there."""
        are_there = all(_is_same(Path(path), text) for path, text in self.files.items())
        root = "" if are_there else self._copied()
        sys.path += [root + folder for folder in self.import_path if root + folder not in sys.path]
        return root

    def _copied(self) -> str:
        root = mkdtemp(prefix="cohabit-")
        atexit.register(rmtree, root, ignore_errors=True)
        for path, text in self.files.items():
            place = Path(root + path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text)
        return root


def sources_of(names: Iterable[str], *more: Path) -> Sources:
    """The files of worlds and brains, whose paths are absolute, and ``more`` files."""
    found = [Path(name.partition(".py")[0] + ".py") for name in names if is_file(name)]
    paths = [path.absolute() for path in [*files_with_imports(found), *more]]
    folders = [folder for folder in map(str, map(Path.absolute, map(Path, sys.path))) if _holds(folder, paths)]
    return Sources({str(path): path.read_bytes() for path in paths}, list(dict.fromkeys(folders)))


def moved(source: str, root: str) -> str:
    """The path of the file of a world or a brain under this folder. Its path is absolute."""
    return root + source if root and is_file(source) else source


def _holds(folder: str, paths: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for path in paths)


def _is_same(path: Path, text: bytes) -> bool:
    try:
        return path.read_bytes() == text
    except OSError:
        return False
