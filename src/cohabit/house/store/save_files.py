"""Saves of worlds that are files, as in data folders of earlier versions: ``saves/ROOM/NAME/world.save``."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cohabit.house.store.disk import sync_folder

SAVES, SAVE_FILE = "saves", "world.save"
SaveFile = tuple[str, str, Path]
"""The room, the name of the save, and its file."""


def saves_in(folder: Path) -> list[SaveFile]:
    """Links are left alone, as are other files."""
    home = folder / SAVES
    if not home.is_dir() or home.is_symlink():
        return []
    found: list[SaveFile] = []
    for file in sorted(home.rglob(SAVE_FILE)):
        room, *name = file.parent.relative_to(home).parts or ("",)
        if name and file.is_file() and not file.is_symlink():
            found.append((room, "/".join(name), file))
    return found


def delete_saves(folder: Path, found: Sequence[SaveFile]) -> None:
    """Delete these files, and the folders that are empty then."""
    home = folder / SAVES
    for _, _, file in found:
        file.unlink(missing_ok=True)
        for above in file.parents:
            if not above.is_relative_to(home):
                break
            with suppress(OSError):  # something else is in it
                above.rmdir()
    sync_folder(folder)
