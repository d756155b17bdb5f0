"""A world of somebody's own that promises to be quick, defines every method, and hangs where its config says."""

import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from cohabit.world import (
    Action,
    Arrival,
    Eye,
    Goal,
    Observation,
    Outcome,
    Pace,
    Seat,
    SeatId,
    Standing,
    Told,
    World,
    WorldSpec,
    action,
    query,
)  # fmt: skip

HANGING = threading.Event()
"""Set when a world begins to hang."""
GO = threading.Event()
"""Ends a world that hangs in ``waits``."""


class Own(World):
    """Counts the moves of two players."""

    spec = WorldSpec(name="own", seats=(2, 4), pace="clock", tick_ms=100, fog=True, quick=True)

    def __init__(self, hangs_in: str = "", how: str = "spins", seconds: float = 0.0, from_move: int = 0) -> None:
        self.hangs_in, self.how, self.seconds, self.from_move = hangs_in, how, seconds, from_move
        self.moves = self.ticks = 0
        self.order: list[SeatId] = []
        self._hang("__init__")

    def _hang(self, where: str) -> None:
        if where != self.hangs_in or self.moves < self.from_move:
            return
        HANGING.set()
        if self.how == "spins":
            while True:
                pass
        elif self.how == "sleeps":
            time.sleep(self.seconds or 10**6)
        elif self.how == "waits":
            GO.wait()
        elif self.how == "computes":
            began = time.thread_time()
            while time.thread_time() - began < self.seconds:
                pass

    @property
    def pace(self) -> Pace:
        return "clock"

    def describe(self) -> str:
        self._hang("describe")
        return "Counts."

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self._hang("reset")
        self.order = [seat.id for seat in seats]
        self.moves = self.ticks = 0

    def to_move(self) -> Sequence[SeatId]:
        self._hang("to_move")
        return self.order

    def is_over(self) -> bool:
        self._hang("is_over")
        return False

    def observe(self, eye: Eye) -> Observation:
        self._hang("observe")
        return Observation(text=f"{self.moves} moves, tick {self.ticks}", status={"moves": self.moves})

    def returns(self) -> Mapping[SeatId, float]:
        self._hang("returns")
        return dict.fromkeys(self.order, self.moves)

    def arrive(self, arrival: Arrival) -> Seat:
        self._hang("arrive")
        raise NotImplementedError

    def depart(self, seat: Seat, mode: Any) -> None:
        self._hang("depart")

    def seats_now(self) -> Sequence[Seat] | None:
        self._hang("seats_now")
        return None

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        self._hang("scope")
        return None

    def advance(self, ticks: int) -> Sequence[Told]:
        self._hang("advance")
        self.ticks += ticks
        return ()

    def clock(self, paused: bool, speed: str) -> None:
        self._hang("clock")

    def goals(self, seat: Seat) -> Sequence[Goal]:
        self._hang("goals")
        return [Goal(f"goal-{seat.id}", "count")]

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        self._hang("legal")
        return [Action("move", {})]

    def fallback(self, seat: Seat) -> Action | None:
        self._hang("fallback")
        return Action("move", {})

    def standings(self) -> Sequence[Standing]:
        self._hang("standings")
        return [Standing(seat, seat, self.moves) for seat in self.order]

    def changes(self, before: Observation, now: Observation) -> str | None:
        self._hang("changes")
        return None

    def picture(self, eye: Eye) -> bytes | None:
        self._hang("picture")
        return b"PNG"

    def save(self) -> bytes:
        self._hang("save")
        return super().snapshot()

    def load(self, data: bytes) -> None:
        self._hang("load")
        super().restore(data)

    def snapshot(self) -> bytes:
        self._hang("snapshot")
        return super().snapshot()

    def restore(self, data: bytes) -> None:
        super().restore(data)
        self._hang("restore")

    @action()
    def move(self, by: Seat) -> Outcome:
        """Make a move."""
        self._hang("move")
        self.moves += 1
        return Outcome(public=f"move {self.moves}")

    @action()
    def backtrack(self, by: Seat, length: int) -> Outcome:
        """Match an expression that takes long, in native code."""
        re.fullmatch(r"(a+)+b", "a" * length)
        return Outcome()

    @query()
    def count(self, eye: Eye) -> int:
        """How many moves there were."""
        self._hang("count")
        return self.moves
