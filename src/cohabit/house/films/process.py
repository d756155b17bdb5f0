"""The program that makes films: ``python -m cohabit.house.films.process``, started by `film_maker`.

It reads requests from its standard input and writes replies to its standard output. It ends with its input. It is less
important than rooms that are running, so it asks the system for less of the CPU. A world that does not return ends it.
"""

import os
import signal
import sys
from contextlib import suppress

from msgspec.json import encode

from cohabit.errors import CohabitError, RecordCorrupt
from cohabit.feature_registry import load_features
from cohabit.house.films import wire
from cohabit.house.films.filming import Filming
from cohabit.house.films.wire import Begin, Play, Played
from cohabit.house.store.keyframes import Keyframe
from cohabit.house.store.loading import world_from
from cohabit.registry import load_protocol_names

STEP_LIMIT_S = 90
"""A request that takes longer ends the process."""
NICENESS = 10


class _Maker:
    """The film that is being made."""

    def __init__(self) -> None:
        self._film: Filming | None = None
        self._keyframes: list[Keyframe] = []

    def answer(self, request: wire.Request) -> Played:
        try:
            if isinstance(request, Begin):
                return self._begin(request)
            return self._play(request)
        except CohabitError as wrong:
            return self._failed(wrong.code, wrong.message)
        except Exception as bug:  # of a world
            return self._failed(RecordCorrupt.code, f"this record cannot be shown: {type(bug).__name__}")

    def _failed(self, code: str, message: str) -> Played:
        return Played(-1, keyframes=self._taken(), code=code, message=message)

    def _begin(self, request: Begin) -> Played:
        load_protocol_names()
        load_features(request.features)
        self._keyframes = []
        keep = self._keyframes.append if request.keep else None
        self._film = Filming(request.watch, world_from(request.source), keep)
        return Played(-1)

    def _play(self, request: Play) -> Played:
        film = self._film
        assert film is not None
        if request.start is not None and not self._starts(film, request.start):
            return Played(film.seq, bad_start=True)
        frames: list[tuple[int, bytes]] = []
        for _ in film.play(request.rows):
            if request.each and (frame := film.frame()) is not None:
                frames.append((film.seq, encode(frame)))
                if len(frames) >= request.each:
                    break
        if request.prime:
            film.frame()
            film.is_whole = True
        elif request.at is not None and (frame := film.frame(request.at)) is not None:
            frames.append((film.seq, encode(frame)))
        return Played(film.seq, frames, self._taken())

    @staticmethod
    def _starts(film: Filming, start: Keyframe) -> bool:
        snapshot = start.snapshot()
        if snapshot is None:
            return False
        try:
            film.begin(snapshot, start.cost_ms)
        except Exception:  # of another version of its world, for example
            return False
        return True

    def _taken(self) -> list[Keyframe]:
        taken = self._keyframes.copy()
        self._keyframes.clear()
        return taken


def main() -> None:
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a world prints is no reply
    maker, source = _Maker(), sys.stdin.buffer
    while (body := wire.read(source.read)) is not None:
        if hasattr(signal, "alarm"):
            signal.alarm(STEP_LIMIT_S)
        reply = maker.answer(wire.requests.decode(body))
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        out.write(wire.packed(reply))
        out.flush()


if __name__ == "__main__":
    main()
