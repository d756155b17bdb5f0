"""The list of a person's workspaces, ``workspaces.json``, which all their clients share.

The file is replaced atomically and under a lock; values of other programs in it are kept. If it does not exist yet,
Multisphere's ``config.json`` is read instead, and never written.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cohabit.errors import BadArgs
from cohabit.workspace.atomic import write_atomically
from cohabit.workspace.person import config

FILE: Final = "workspaces.json"
LEGACY: Final = "config.json"
NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One workspace: its remote and the folder of its clone."""

    name: str
    remote: str
    local_path: str


def checked(name: str) -> str:
    """A valid name for a new workspace, or BadArgs."""
    if not NAME.fullmatch(name):
        raise BadArgs(
            "name must be 1 to 64 letters, digits, spaces, '.', '_' or '-', beginning and ending with a letter or digit"
        )
    return name


class Registry:
    """The file; it is read again for every question."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def places(self) -> dict[str, Place]:
        return _places(self._read())

    def default(self) -> str | None:
        """The workspace that is active in a new process."""
        active = self._read().get("active_workspace")
        return active if isinstance(active, str) and active else None

    def place(self, name: str) -> Place:
        found = self.places().get(name)
        if found is None:
            raise BadArgs(f'workspace "{name[:80]}" is not registered. Call workspace_init first.')
        return found

    def add(self, place: Place) -> str:
        """Register a workspace and return the default, which is this one if there was none."""
        with self._changed() as data:
            entries = data.setdefault("workspaces", {})
            old = entries.get(place.name)
            kept = old if isinstance(old, dict) else {}
            entries[place.name] = {**kept, "remote": place.remote, "local_path": place.local_path}
            active = data.get("active_workspace") or place.name
            data["active_workspace"] = active
        return str(active)

    def set_default(self, name: str) -> None:
        with self._changed() as data:
            data["active_workspace"] = name

    def _read(self) -> dict[str, Any]:
        data = config.read(self.home, FILE)
        if data is None:
            legacy = config.read(self.home, LEGACY) or {}
            data = {key: legacy[key] for key in ("workspaces", "active_workspace") if key in legacy}
        data.setdefault("workspaces", {})
        data.setdefault("active_workspace", None)
        if not isinstance(data["workspaces"], dict):
            raise BadArgs(f"{FILE} in the settings folder: workspaces must be an object; repair or remove it")
        return data

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """The content of the file, to be changed; it is written back if the block succeeds."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self.home / "workspaces.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            data = self._read()
            yield data
            write_atomically(self.home / FILE, (json.dumps(data, indent=2) + "\n").encode())
        finally:
            os.close(lock)


def _places(data: dict[str, Any]) -> dict[str, Place]:
    places = {}
    for name, entry in data["workspaces"].items():
        where = f'{FILE}: workspace "{name[:80]}"'
        if not isinstance(entry, dict):
            raise BadArgs(f"{where} must be an object with remote and local_path; repair or remove it")
        remote, path = (config.text(entry, key, FILE) for key in ("remote", "local_path"))
        if not path:
            raise BadArgs(f"{where} has no local_path; repair or remove it")
        places[name] = Place(name=name, remote=remote, local_path=path)
    return places
