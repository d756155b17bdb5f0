"""Environments in which all agents move at the same time (PettingZoo's parallel ones): everybody chooses in secret."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from cohabit.libraries.pettingzoo.environment import MAX_MOVE, REDRAW, AgentsWorld
from cohabit.model.stream import Stream
from cohabit.world import Eye, GameRejected, Outcome, Seat, SeatId, Told, action

CHOOSE, RESOLVE = "choose", "resolve"


class RoundsWorld(AgentsWorld):
    """An environment of rounds."""

    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        self.pending: dict[str, Any] = {}
        self.results: dict[str, str] = {}  # of the last round, for each agent alone
        self.rounds, self.made = 0, ""
        super().begin(seed, seats)

    def start(self, seed: int) -> None:
        self.words.seen(self.env, self.env.reset(seed=seed)[0])

    def make(self, move: Any) -> None:
        match move:
            case [str(kind), agent, str(seed), str(purpose), int(counter)] if kind == REDRAW:
                draws = Stream(int(seed, 16), purpose, counter)
                hidden = [other for other in self.pending if other != agent]
                self.pending |= {other: draws.choice(list(self.choices(other).values())) for other in hidden}
            case [str(kind), str(agent), choice] if kind == CHOOSE:
                self.pending[agent] = choice
            case _:
                self._step()

    def _step(self) -> None:
        """An agent that chose nothing makes the first possible move."""
        absent = [agent for agent in self.env.agents if agent not in self.pending]
        self.pending |= {agent: self.words.fallback(self.choices(agent)) for agent in absent}
        with self.calling():
            names = [f"{self.seat_of(a).id} {self.words.told(self.env, a, m)}" for a, m in self.pending.items()]
            moves = {agent: self.words.decoded(self.env, agent, self.pending[agent]) for agent in self.env.agents}
            seen, rewards, *_ = self.env.step(moves)
            self.words.seen(self.env, seen)
            own = {a: self.words.name(self.env, a, m) for a, m in self.pending.items()}
        shown = f"{'; '.join(sorted(names))}." if self.words.shows_choices else ""
        self.results = {a: f"{shown or f'You played {own[a]}.'} Reward: {float(rewards.get(a, 0)):g}." for a in own}
        self.made = shown or "The round is over."
        self.rounds += 1
        self.earn(rewards)
        if self.words.shows_choices:
            self.last_moves += sorted(names)
        self.pending = {}

    def to_move(self) -> Sequence[SeatId]:
        return [self.seat_of(agent).id for agent in self.env.agents if agent not in self.pending]

    def is_over(self) -> bool:
        return not self.env.agents

    def may_move(self, seat: SeatId) -> bool:
        return self.agent_of(seat) in self.env.agents  # a choice can be changed

    @action()
    def play(self, by: Seat, move: Annotated[str, Meta(min_length=1, max_length=MAX_MOVE)]) -> Outcome:
        """Choose a move, by its name. Nobody sees it before all have chosen."""
        agent = self.agent_of(by.id)
        if agent is None or agent not in self.env.agents:
            raise GameRejected("your part in this game is over")
        self.do([CHOOSE, agent, self.chosen(agent, move)])
        return Outcome(f"You chose {move}.", pending=True)

    def resolve(self) -> Sequence[Told]:
        self.do([RESOLVE])
        return [Told(self.made)]

    def outcome(self, seat: Seat) -> Outcome | None:
        found = self.results.get(self.agent_of(seat.id) or "")
        return None if found is None else Outcome(found)

    def about_choice(self, eye: Eye) -> str:
        agent = self.agent_of(eye.seat)
        shown = [each for each in self.pending if each == agent or eye.sees == "all"]
        chosen = [f"{self.seat_of(each).id} chose {self.words.name(self.env, each, self.pending[each])}."
                  for each in shown]  # fmt: skip
        return " ".join([f"Round {self.rounds + 1}.", *chosen])

    def resample(self, eye: Eye, stream: Stream) -> None:
        if eye.sees != "all" and self.pending:
            self.do([REDRAW, self.agent_of(eye.seat) or "", hex(stream.seed), stream.purpose, stream.counter])
