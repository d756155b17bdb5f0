"""Environments in which agents move one after another (PettingZoo's AEC)."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from cohabit.libraries.pettingzoo.environment import MAX_MOVE, REDRAW, AgentsWorld
from cohabit.libraries.pettingzoo.words import Words
from cohabit.model.stream import Stream
from cohabit.world import Eye, Outcome, Seat, SeatId, action


class TurnsWorld(AgentsWorld):
    """An environment of turns."""

    def start(self, seed: int) -> None:
        super().start(seed)
        self._pass_the_dead()

    def make(self, move: Any) -> None:
        match move:
            case [str(kind), agent, str(seed), str(purpose), int(counter)] if kind == REDRAW:
                self.words.redraw(self.env, agent or None, Stream(int(seed, 16), purpose, counter))
                return
        agent = self.env.agent_selection
        with self.calling():
            name = self.words.told(self.env, agent, move)
            self.env.step(self.words.decoded(self.env, agent, move))
            self.earn(self.env.rewards)
            self._pass_the_dead()
        self.last_moves.append(f"{self.seat_of(agent).id} {name}")

    def _pass_the_dead(self) -> None:
        """Agents whose game is over have to be passed one by one."""
        env = self.env
        while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(None)

    def to_move(self) -> Sequence[SeatId]:
        return [self.seat_of(self.env.agent_selection).id] if self.env.agents else []

    @action()
    def play(self, by: Seat, move: Annotated[str, Meta(min_length=1, max_length=MAX_MOVE)]) -> Outcome:
        """Make a move, by its name."""
        agent = self.env.agent_selection
        self.do(self.chosen(agent, move))
        return Outcome(f"You played {move}.", public=f"{by.name or by.id} {self._told()}.")

    def _told(self) -> str:
        """The public text of the last move."""
        move = self.last_moves[-1].partition(" ")[2]
        return move if type(self.words).told is Words.told else f"plays {move}"

    def skip(self, seat: Seat) -> Outcome:
        self.do(self.words.fallback(self.choices(self.env.agent_selection)))
        return Outcome("You missed your turn.", public=f"{seat.name or seat.id} missed a turn.")


class HidingTurnsWorld(TurnsWorld):
    """One whose agents see different things that can be redrawn."""

    def resample(self, eye: Eye, stream: Stream) -> None:
        if eye.sees != "all" and not self.is_over():
            self.do([REDRAW, self.agent_of(eye.seat) or "", hex(stream.seed), stream.purpose, stream.counter])
