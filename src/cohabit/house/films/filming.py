"""Makes the frames of a film: replays a record, and looks through one eye.

What a film shows at an entry is what a member with that eye would have got there, and follows from the record alone.
``Watch`` says through which eye somebody may look, at which entries.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.json import decode, encode

from cohabit.house.store.keyframes import EVERY_MS, Keyframe
from cohabit.model.film import FilmFrame, patch_of
from cohabit.model.seat import Eye
from cohabit.room.record import GENESIS, Line, Snapshot, read_lines
from cohabit.room.recorded import MakeWorld
from cohabit.room.room import Room
from cohabit.room.seeing.next_view import view_for
from cohabit.room.state import Member
from cohabit.world import overrides

Row = tuple[int, bytes, bytes]


class Watch(Struct, frozen=True, omit_defaults=True):
    """A viewer of a film, and its eye."""

    eye: Eye
    me: str = ""  # the id of the member who watches; empty: nobody in particular
    holder: str | None = None
    """The eye is that of a seat, and sees only while this member plays it: an earlier player's hand stays hidden."""
    otherwise: Eye | None = None  # while that seat is not there, or another member plays it; None: nothing is seen
    ended: bool = False  # only games that have ended are shown
    game: str = ""  # then: the game that is being played now; empty: none, it is over
    over: tuple[str, ...] | None = None  # the games that have ended; None: all but that one
    delayed: bool = False  # only entries until ``full_view_until`` are shown

    def eye_at(self, room: Room) -> Eye | None:
        """The eye at this moment of a record; None: nothing is shown."""
        state = room.state
        if self.ended and (state.game == self.game or (self.over is not None and state.game not in self.over)):
            return None
        if self.holder is not None:
            player = state.members.get(self.holder)
            if player is None or player.seat != self.eye.seat:
                return self.otherwise
        return self.eye if self.eye.seat is None or self.eye.seat in room.seats else self.otherwise

    def member_at(self, room: Room, eye: Eye) -> Member | None:
        """The member whose view is shown."""
        me = room.state.members.get(self.me) if self.me else None
        if eye.seat is None or eye != self.eye:
            return me
        if me is not None and (me.seat == eye.seat or me.through == eye.seat):
            return me
        return next((member for member in room.state.members.values() if member.seat == eye.seat), None)


class Filming:
    """A film that is being made."""

    def __init__(
        self,
        watch: Watch,
        make_world: MakeWorld,
        keep: Callable[[Keyframe], None] | None = None,
        cpu_s: Callable[[], float] = time.process_time,
    ) -> None:
        """``keep``: takes keyframes on the way."""
        self.watch = watch
        self.room: Room | None = None
        self._make_world = make_world
        self._keep = keep
        self._cpu_s = cpu_s
        self._began_s = cpu_s()  # such that the cost until now is what has passed since
        self._kept_ms = 0  # the cost until the last keyframe
        self.is_whole = True  # the next frame needs no other one
        self._view: dict[str, Any] | None = None  # as last shown
        self._scene: dict[str, bytes] = {}

    @property
    def seq(self) -> int:
        """The last entry that was replayed."""
        return self.room.record.seq if self.room is not None else -1

    # -- replaying --------------------------------------------------------------------------------
    def begin(self, snapshot: Snapshot, cost_ms: int) -> None:
        """Go to a snapshot. ``cost_ms``: the CPU time until there, from the beginning of the record."""
        self.room = Room.restore(snapshot, (), self._make_world)
        self._began_s = self._cpu_s() - cost_ms / 1000
        self._kept_ms = cost_ms

    def play(self, rows: Iterable[Row]) -> Iterable[Line]:
        """Replay the rows that follow, yielding each line after it was applied."""
        digest = self.room.record.digest if self.room is not None else GENESIS
        for line in read_lines(rows, self.seq, digest):
            if self.room is None:
                self.room, _ = next(iter(Room.replaying([line], self._make_world)))
            else:
                for _ in self.room.following([line]):
                    pass
            if self._keep is not None:
                self._keep_if_due(self.room, self._keep)
            yield line

    def _keep_if_due(self, room: Room, keep: Callable[[Keyframe], None]) -> None:
        cost_ms = int((self._cpu_s() - self._began_s) * 1000)
        if cost_ms - self._kept_ms >= EVERY_MS:
            keep(Keyframe.of(room.snapshot(), cost_ms))
            self._kept_ms = cost_ms

    # -- looking ----------------------------------------------------------------------------------
    def frame(self, at: int | None = None) -> FilmFrame | None:
        """The frame of this moment; None if nothing has changed since the frame before, or nothing is shown. ``at``: a
        time after the last entry."""
        room = self.room
        assert room is not None
        eye = self.watch.eye_at(room)
        if eye is None:
            return None
        view = view_of(room, eye, self.watch.member_at(room, eye))
        drawn: Mapping[str, Any] = room.world.scene(eye) if overrides(room.world, "scene") else {}
        scene = {name: encoded for name, layer in drawn.items() if (encoded := encode(layer)) != b"null"}
        patch = patch_of(self._view, view) if self._view is not None else None
        changed = {name: layer for name, layer in scene.items() if self._scene.get(name) != layer}
        gone = [name for name in self._scene if name not in scene]
        if patch == {} and not changed and not gone:
            return None
        is_whole, self.is_whole = self.is_whole or patch is None, False
        shown = FilmFrame(room.record.seq, room.record.at if at is None else at, room.state.games, whole=is_whole)
        shown.view = view if is_whole else patch or None
        layers = scene if is_whole else changed
        shown.scene = {name: msgspec.Raw(layer) for name, layer in layers.items()}
        if not is_whole:
            shown.scene |= dict.fromkeys(gone)
        self._view, self._scene = view, scene
        return shown


def view_of(room: Room, eye: Eye, me: Member | None) -> dict[str, Any]:
    """The reply of `next_view` to a member with this eye, as a client receives it."""
    found: dict[str, Any] = decode(encode(view_for(room, eye, me)))
    return found


def evenly(first: int, last: int, frames: int) -> Sequence[int]:
    """At most this many times from the first to the last."""
    steps = min(frames, last - first + 1) - 1
    return [first + (last - first) * step // steps for step in range(steps + 1)] if steps > 0 else [last]
