"""What was decided about files that conflict: kept with the clone, and good for exactly the two versions met."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from cohabit.workspace.clone import objects
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.whole import write_whole

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

NAME: Final = "decided.json"


class Sides(Protocol):
    """A clash, as far as a decision is about it."""

    @property
    def path(self) -> str: ...
    @property
    def ours(self) -> Entry | None: ...
    @property
    def theirs(self) -> Entry | None: ...


@dataclass(frozen=True, slots=True)
class Decision:
    """For one file: when these two versions meet, the result is that one (None: no file)."""

    ours: str | None
    theirs: str | None
    mode: str | None
    sha: str | None


def apply(ws: "Workspace", clashes: Sequence[Sides]) -> dict[str, Entry | None]:
    """What was decided about these clashes, by path. A file that changed since then is asked about again."""
    if not clashes:
        return {}
    known = _read(ws)
    found: dict[str, Entry | None] = {}
    for clash in clashes:
        decision = known.get(_key(clash.path))
        if decision is None or (decision.ours, decision.theirs) != _versions(clash):
            continue
        found[clash.path] = Entry(decision.mode, decision.sha) if decision.mode and decision.sha else None
    there = objects.read(ws, [entry.sha for entry in found.values() if entry])
    return {path: entry for path, entry in found.items() if entry is None or entry.sha in there}


def decide(ws: "Workspace", verdicts: Sequence[tuple[Sides, Entry | None]]) -> None:
    """Keep what was decided, for the next integration."""
    known = _read(ws)
    for clash, entry in verdicts:
        result = (entry.mode, entry.sha) if entry else (None, None)
        known[_key(clash.path)] = Decision(*_versions(clash), *result)
    _write(ws, known)


def forget(ws: "Workspace") -> None:
    """After an integration went through: nothing that was decided is needed again."""
    _place(ws).unlink(missing_ok=True)


def _key(path: str) -> str:
    """How a file is called here: JSON cannot hold a name that is no UTF-8."""
    return os.fsencode(path).hex()


def _versions(clash: Sides) -> tuple[str | None, str | None]:
    return clash.ours.sha if clash.ours else None, clash.theirs.sha if clash.theirs else None


def _read(ws: "Workspace") -> dict[str, Decision]:
    try:
        return msgspec.json.decode(_place(ws).read_bytes(), type=dict[str, Decision])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def _write(ws: "Workspace", known: dict[str, Decision]) -> None:
    write_whole(_place(ws), msgspec.json.encode(known))


def _place(ws: "Workspace") -> Path:
    return ws.own / NAME
