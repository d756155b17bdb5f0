"""``EnvironmentWorld``: an environment with the interface of Gymnasium, as a world with one seat.

A snapshot is the moves (``ReplayedWorld``), because most environments can be neither copied nor written down. The
environment gets its randomness through ``reset(seed=…)``.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any, ClassVar

from msgspec import Struct
from PIL import Image

from cohabit.model.action import Action
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.model.stream import Stream
from cohabit.replayed import ReplayedWorld
from cohabit.world import ActionSpec, Outcome, Standing

SEEDS = 2**31
"""The number of seeds that every environment accepts."""
REDRAW = "redraw"


class NoArguments(Struct, forbid_unknown_fields=True):
    """An action that takes none."""


class EnvironmentWorld(ReplayedWorld):
    """Subclasses say what is seen (``observe``) and how a step is told (``tell``)."""

    env: Any
    rules: ClassVar[str] = ""
    how: ClassVar[str] = ""  # rules of all games of this class

    @classmethod
    def fitted(cls, first: Any) -> dict[str, Any]:
        """The attributes of a subclass that follow from its environment."""
        return {}

    @staticmethod
    def new_environment() -> Any:
        """An environment, not yet reset."""
        raise NotImplementedError

    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        if hasattr(self, "env"):
            self.env.close()
        self.players = list(seats)
        self.env = self.new_environment()
        self.total, self.steps = 0.0, 0
        self.terminated = self.truncated = False
        self.seed_environment(Stream(seed, "environment"))
        self.saw()

    def seed_environment(self, stream: Stream) -> None:
        """Start the environment."""
        self.seen, self.info = self.env.reset(seed=stream.below(SEEDS))

    def saw(self) -> None:
        """Called after each observation (``seen``, ``info``) of the environment."""

    def make(self, move: Any) -> Outcome:
        before = self.seen
        self.seen, reward, terminated, truncated, self.info = self.env.step(self.decode(move))
        self.steps += 1
        self.total += float(reward)
        self.terminated, self.truncated = bool(terminated), bool(truncated)
        self.saw()
        return self.tell(move, before, float(reward))

    def decode(self, move: Any) -> Any:
        """The move as the environment takes it."""
        return move

    def tell(self, move: Any, before: Any, reward: float) -> Outcome:
        """The outcome of a move, in words."""
        raise NotImplementedError

    # -- the game ---------------------------------------------------------------------------------
    def to_move(self) -> Sequence[SeatId]:
        return [] if self.terminated or self.truncated else [seat.id for seat in self.players]

    def returns(self) -> Mapping[SeatId, float]:
        return {seat.id: self.total for seat in self.players}

    def standings(self) -> Sequence[Standing]:
        return [Standing(seat.id, seat.name, round(self.total, 4)) for seat in self.players]

    def describe(self) -> str:
        return f"{self.spec.title}. {self.rules}"


class HidingWorld(EnvironmentWorld):
    """An environment that shows its player only a part of itself. ``redraw`` changes the rest.

    The player is alone, so everybody who watches sees what the player sees, and no more.
    """

    def redraw(self, stream: Stream) -> None:
        raise NotImplementedError

    def make(self, move: Any) -> Outcome:
        match move:
            case [str(kind), str(seed), str(purpose), int(counter)] if kind == REDRAW:
                self.redraw(Stream(int(seed, 16), purpose, counter))
                return Outcome()
        return super().make(move)

    def resample(self, eye: Eye, stream: Stream) -> None:
        # It is one of the moves, so that a redrawn world has snapshots, too.
        if eye.sees != "all":
            self.do([REDRAW, hex(stream.seed), stream.purpose, stream.counter])


MOVE_KEYS = {
    "ArrowLeft": ("left", "west", "turn_left"), "ArrowRight": ("right", "east", "turn_right"),
    "ArrowUp": ("up", "north", "forward"), "ArrowDown": ("down", "south"), " ": ("toggle",), "p": ("pick_up",),
    "d": ("drop", "drop_off"), "Enter": ("done",), "h": ("hit",), "s": ("stick",),
}  # fmt: skip
"""Keys of a keyboard, and the names of moves that they stand for."""


class NamedMoves(EnvironmentWorld):
    """An environment whose actions are a few numbers, each with a name: one action of the world for each."""

    moves: ClassVar[Mapping[str, str]]  # name: what it does; their order is that of the numbers

    @classmethod
    def fitted(cls, first: Any) -> dict[str, Any]:
        """Some environments have only the first of these actions."""
        moves = dict(list(cls.moves.items())[: int(first.action_space.n)])
        keys = {key: Action(name) for key, names in MOVE_KEYS.items() for name in names if name in moves}
        return {"moves": moves, "keys": keys}

    def actions(self) -> Sequence[ActionSpec]:
        return [
            ActionSpec(name=name, run=partial(self._act, number), description=about, args=NoArguments)
            for number, (name, about) in enumerate(self.moves.items())
        ]

    def _act(self, number: int, by: Seat, /) -> Outcome:
        made: Outcome = self.do(number)
        return made

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        return self.numbered() if self.to_move() else []

    def numbered(self) -> Sequence[Action] | None:
        return [Action(name) for name in self.moves]


def as_png(frame: Any) -> bytes:
    """An array of red, green and blue, or of grey, as a PNG."""
    out = BytesIO()
    Image.fromarray(frame).save(out, "PNG", compress_level=1)
    return out.getvalue()
