"""Notices that the code of a player or a world is edited during a run.

The processes of agents take an edited file for the next game, so its games would be of two versions under the one
fingerprint that was taken at the start.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from cohabit.agents.brain import parse_brain
from cohabit.agents.isolated import facts_of
from cohabit.lab.design import Design, located
from cohabit.lab.fingerprint import PACKAGE, code_of_files, files_of, files_with_imports
from cohabit.registry import find_world, is_foreign

Stamp = tuple[int, int, int]
"""The modification time, size and inode of a file: much faster to compare than its content."""


class Watch:
    """The code in files, by the title of its player or world, as it is when this is made."""

    def __init__(self, files: Mapping[str, list[Path]]) -> None:
        self._code = {title: _Code(files) for title, files in files.items()}

    def changed(self) -> str:
        """The players and worlds whose code is not what it was, and what to do; empty: none."""
        changed = [f"the code of {title} has changed" for title, code in self._code.items() if code.has_changed()]
        if not changed:
            return ""
        return (
            f"{'; '.join(changed)} during the run, and results of different versions are not mixed. Restore what "
            "changed to resume this run, or begin a new one"
        )


class _Code:
    def __init__(self, files: list[Path]) -> None:
        self._files = files
        self._all = files_with_imports(files)
        self._stamps = _stamps(self._all)  # before the hash, so that no edit is between them
        self._hash = code_of_files(files)

    def has_changed(self) -> bool:
        if (stamps := _stamps(self._all)) == self._stamps:
            return False
        try:
            if code_of_files(self._files) != self._hash:
                return True
        except OSError:  # a file was removed
            return True
        self._stamps = stamps  # saved without an edit
        return False


def files_outside(design: Design) -> dict[str, list[Path]]:
    """The files of the players and worlds of a design that are not part of Cohabit, by title."""
    found: dict[str, list[Path]] = {}
    for player in design.every_player():
        name = design.brain(player)
        if is_foreign(parse_brain(name)):
            found[f"player {player}"] = [Path(file) for file in facts_of(name).files]
    for title, plan in design.world_plans().items():
        found[f"world {title}"] = files_of(find_world(located(plan.world, design.folder)))
    return {title: [path for path in files if not path.is_relative_to(PACKAGE)] for title, files in found.items()}


def _stamps(files: Iterable[Path]) -> list[Stamp | None]:
    return [_stamp(path) for path in files]


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
