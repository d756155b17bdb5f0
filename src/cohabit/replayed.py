"""``ReplayedWorld``: a world whose snapshots are its moves, for games that cannot be copied or written down."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.model.seat import ALL
from cohabit.world import Seat, World


class _Snapshot(Struct, array_like=True):
    seed: str  # hexadecimal: it has up to 128 bits, an integer of MessagePack 64
    seats: list[Seat]
    moves: list[Any]
    sees: str


class ReplayedWorld(World):
    """Write ``begin`` in place of ``reset``, and ``make``; change the game nowhere else. Actions, ``resolve`` and
    ``skip`` call ``self.do(move)``.

    Restoring a snapshot begins a new game with the same seed and makes the same moves, which takes as long as they
    took. They must lead to the same game: a snapshot has a digest of what an eye that sees everything observes, and a
    replay that ends differently is an error.
    """

    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        """Set up a new game, with all its attributes."""
        raise NotImplementedError

    def make(self, move: Any) -> Any:
        """Change the game by one move, a plain value such as ``["black", 17]``. Raise ``GameRejected`` before anything
        has changed. What it returns is what ``do`` returns."""
        raise NotImplementedError

    def do(self, move: Any) -> Any:
        """Make a move, and remember it."""
        made = self.make(move)
        self._moves.append(move)
        return made

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self._seed, self._seats, self._moves = seed, list(seats), list[Any]()
        self.begin(seed, seats)

    def snapshot(self) -> bytes:
        began = hasattr(self, "_seats")
        return msgspec.msgpack.encode(
            _Snapshot(hex(self._seed), self._seats, self._moves, self._sees()) if began else None
        )

    def restore(self, data: bytes) -> None:
        state = msgspec.msgpack.decode(data, type=_Snapshot | None)
        if state is None:
            return
        self.reset(int(state.seed, 16), state.seats)
        for move in state.moves:
            self.do(move)
        if self._sees() != state.sees:
            raise ValueError(
                f"{self.spec.name} is not deterministic: the same moves gave another observation. It must use no "
                "clock, and no random numbers but those that follow from its seed"
            )

    def _sees(self) -> str:
        return sha256(msgspec.json.encode(self.observe(ALL))).hexdigest()
