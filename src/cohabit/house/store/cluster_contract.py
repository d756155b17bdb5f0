"""The contract of a store for a cluster of houses: several houses, each with its processes, on one database.

A *place* is one house: a front and its workers, which share a store. A *node* is one process of it, with a row of its
own in ``houses`` and leases of its own. A row is live until its leases end, by the clock of the store.

Every write that concerns all processes (`Write.concerns_all`) is also a *change* in a log, stored in the same
transaction. The order of the numbers in the log is the order of the commits. Each place reads the log after its last
one, applies it, and acknowledges it. A row can be missed by nobody: if rows were removed that a place has not read,
reading raises `ChangesMissed`, and the house has to start again.

What ``listen`` hears are hints. Who hears nothing for a while reads as well.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct, structs

from cohabit.errors import Conflict
from cohabit.house.store.contract import Store, Write


class News(StrEnum):
    """The notifications of a place from the store."""

    CHANGES = "changes"  # the log has grown
    APPLIED = "applied"  # a place has acknowledged changes, or has ended
    ROOMS = "rooms"  # a lease was taken or released, a place has begun or is draining
    RECONNECTED = "reconnected"  # any of these may have been missed


class ChangesMissed(Conflict):
    """This house was away for so long that changes were removed that it has not read."""


class Change(Struct, frozen=True):
    """A write that concerns all processes: the part that others need. ``seq``: its number in the log. ``place`` and
    ``house``: the place that has stored it, and the id of the process. ``is_new``: it makes the room."""

    write: Write
    is_new: bool = False
    seq: int = 0
    place: str = ""
    house: str = ""


def change_of(write: Write) -> Change:
    """The part that others need. Copies: the house changes its own objects later."""
    part = Write(
        write.room,
        identities=write.identities,
        credentials=[structs.replace(each) for each in write.credentials],
        invites=[structs.replace(each) for each in write.invites],
        forget=write.forget,
        delete=write.delete,
        rewrite=write.rewrite,
    )
    house = write.holder[0] if write.holder is not None else ""
    return Change(part, bool(write.lines and write.lines[0].seq == 0), house=house)


class LiveNode(Struct, frozen=True):
    """A process whose leases have not ended. ``house``: its id in the store. ``address``: of its place, for other
    places. ``is_draining``: its place is being stopped, and takes no more rooms. ``lasts_s``: when its leases end, in
    seconds from the survey, if they are not renewed."""

    house: str
    node: str
    place: str
    address: str
    is_draining: bool = False
    lasts_s: float = 0.0


class HeldRoom(Struct, frozen=True):
    """The holder of a room. ``travels``: it has to be in one process with the others that travel."""

    house: str
    place: str
    node: str
    travels: bool = False


class Survey(Struct, frozen=True):
    """All nodes and rooms of the cluster at one moment. The house record is a room too.

    ``orphans``: the stored rooms that no live process has, and the place that should open each; "" if any may. The
    rooms of a process that has ended, in a place that has not, are for that place. ``travelling``: those of them that
    were marked as such, in a process that has ended. ``dead``: the places that have ended without leaving, lately.
    """

    nodes: Sequence[LiveNode]
    rooms: dict[str, HeldRoom]
    orphans: dict[str, str]
    travelling: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()


class ClusterStore(Store, Protocol):
    """A store that was opened for a cluster. The other places hear of what ``lease`` takes and ends (for 0 ms), and of
    what ``release`` releases (`News.ROOMS`). All places of a database are of one cluster: a house that is alone does
    not get leases beside them, nor they beside it (CONFLICT)."""

    place_id: str
    """This place."""
    first_change: int
    """The end of the log when the store was opened: what was read from the store afterwards has everything up to it."""
    last_change: int
    """The number of the last change that this place has stored."""

    # -- nodes and rooms --------------------------------------------------------------------------
    def begin(self, house: str, node: str, ms: int) -> int:
        """A process begins, with leases that end this long from now. Returns its epoch, for ``lease``."""

    def survey(self) -> Survey:
        """See `Survey`."""

    def mark_travels(self, rooms: Sequence[str], house: str) -> None:
        """These rooms of a process have to be in one process with the others that travel."""

    def release_for(self, rooms: Sequence[str], house: str, place: str) -> None:
        """Release the leases of these rooms, for this place to open them. Should it end first, any place may."""

    def drain(self) -> None:
        """This place is being stopped, and takes no more rooms."""

    # -- the log of changes -----------------------------------------------------------------------
    def changes(self, after: int) -> list[Change]:
        """All changes after this number, in order, also those of this place. ChangesMissed if some were removed."""

    def acknowledge(self, seq: int) -> None:
        """All processes of this place have applied the changes up to this one."""

    def acknowledged_by_others(self) -> int | None:
        """Up to which change all other live places have acknowledged; None if there are none."""

    def tidy_changes(self) -> None:
        """Remove changes that all live places have acknowledged, and that are older than a minute."""

    def listen(self, heard: Callable[[News], None]) -> Callable[[], None]:
        """Call ``heard`` for all news, on a thread, until the returned function is called."""
