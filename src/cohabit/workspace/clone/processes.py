"""What the system tells of other processes. Where it has no ``/proc``, nothing is known of them."""

from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """One that runs."""

    pid: int
    name: str
    parent: int
    started: str

    @property
    def mark(self) -> str:
        """Means this process and no later one with the same number."""
        return f"{self.pid}:{self.started}"


def look(pid: int | str) -> Process | None:
    """The process with this number; None where it has ended, or nothing is known of it."""
    try:
        said = Path(f"/proc/{pid}/stat").read_bytes().decode(errors="replace")
    except OSError:
        return None
    head, _, rest = said.rpartition(")")  # a name may have a ")" in it
    number, _, name = head.partition(" (")
    state, parent, *more = rest.split()
    return None if state in "ZX" else Process(int(number), name, int(parent), more[17])


def runs(mark: str) -> bool:
    """Whether the process that has this mark is still there."""
    pid = mark.partition(":")[0]
    found = look(pid) if pid.isdecimal() else None
    return found is not None and found.mark == mark
