"""``AgentsWorld``: what a world of turns (``turns.py``) and one of rounds (``rounds.py``) have in common.

A seat is an agent of the environment. A snapshot is the moves, because the environments cannot be copied.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from cohabit.libraries.global_random import GlobalRandom
from cohabit.libraries.pettingzoo.words import Words
from cohabit.model.action import Action
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.model.stream import Stream
from cohabit.replayed import ReplayedWorld
from cohabit.world import GameRejected, Observation, Standing

SEEDS = 2**31
"""The number of seeds that every environment accepts."""
MAX_MOVE = 200
REDRAW = "redraw"
"""A move that changes what an eye does not see, so that a redrawn world has snapshots, too."""


class AgentsWorld(ReplayedWorld):
    """An environment of PettingZoo. A class for each name fills in the attributes."""

    new_environment: ClassVar[Callable[[], Any]]  # a static method
    words: ClassVar[Words]
    rules: ClassVar[str]

    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        stream = Stream(seed, "pettingzoo")
        self._random = GlobalRandom(stream)
        with self.calling():
            self.env = type(self).new_environment()
            self.start(stream.below(SEEDS))
        self.agents = list(self.env.possible_agents)
        self.totals = dict.fromkeys(self.agents, 0.0)
        self.last_moves: list[str] = []  # what everybody may know of them, the newest last

    def start(self, seed: int) -> None:
        self.env.reset(seed=seed)

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Around each call of the environment."""
        with self._random.in_use():
            if hasattr(self, "env"):
                self.words.prepare(self.env)
            yield

    def agent_of(self, seat: SeatId | None) -> str | None:
        """The agent that a seat plays."""
        return next((a for a, s in zip(self.agents, self._seats, strict=True) if s.id == seat), None)

    def seat_of(self, agent: str) -> Seat:
        return self._seats[self.agents.index(agent)]

    def earn(self, rewards: Mapping[str, float]) -> None:
        for agent, reward in rewards.items():
            self.totals[agent] += float(reward)

    def returns(self) -> Mapping[SeatId, float]:
        return {self.seat_of(agent).id: total for agent, total in self.totals.items()}

    def standings(self) -> Sequence[Standing]:
        lines = [
            Standing(seat.id, seat.name or seat.id, round(total, 4))
            for seat, total in zip(self._seats, self.totals.values(), strict=True)
        ]
        return sorted(lines, key=lambda line: -line.score)

    def describe(self) -> str:
        return f"{self.spec.title}, of PettingZoo. {self.rules}"

    # -- moves ------------------------------------------------------------------------------------------
    def choices(self, agent: str) -> dict[str, Any]:
        """The possible moves of an agent now, by name; of large spaces some."""
        with self.calling():
            return self.words.choices(self.env, agent)

    def chosen(self, agent: str, move: str) -> Any:
        """The move with this name, as plain data."""
        found = self.choices(agent)
        if move in found:
            return found[move]
        if self.spec.examples:
            with self.calling():
                return self.words.read(self.env, agent, move)
        named = ", ".join(list(found)[:12])
        raise GameRejected(f"{move[:60]!r} is not possible now; possible moves: {named}{', …' * (len(found) > 12)}")

    def may_move(self, seat: SeatId) -> bool:
        return seat in self.to_move()

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        agent = self.agent_of(seat.id)
        if agent is None or not self.may_move(seat.id):
            return []
        return [Action("play", {"move": name}) for name in self.choices(agent)]

    # -- what is seen -----------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        agent = self.agent_of(eye.seat)
        with self.calling():
            shown = self.words.position(self.env, agent, eye.sees == "all")
        lines = [f"{self.spec.title}" + (f" – you are {eye.seat}." if agent else ""), shown.strip("\n")]
        if self.last_moves:
            lines.append("Last moves: " + "; ".join(self.last_moves[-6:]))
        if self.is_over():
            totals = ", ".join(f"{seat} {total:g}" for seat, total in self.returns().items())
            lines.append(f"The game is over. Totals: {totals}.")
        else:
            lines += filter(None, [self.about_choice(eye)])
        status = {"position": shown, "to_move": list(self.to_move())}
        return Observation(text="\n".join(lines), status=status, step=len(self.last_moves), text_says_all=True)

    def about_choice(self, eye: Eye) -> str:
        """Rounds: what was chosen already."""
        return ""
