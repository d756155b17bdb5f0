"""Steps of OpenSpiel's tic-tac-toe in a room: beside the bare library, Kaggle's wrapping, and our own tic-tac-toe."""

import os
import random
import time
from functools import partial
from typing import Any

from bench.common import WORLDS, child, quotients, take_turns
from bench.report import Report

HOW = """
Random tic-tac-toe in process, steps per CPU second, always with the text of the board, the last moves and the side for
the player to move, and with the legal moves. In a room the token is authenticated, and the call is decided, validated,
run and recorded, as in the bench of a step. The game is OpenSpiel's, or our own with the same text. The bare loop calls
the library and makes the same text. Kaggle's loop gives each move to `env.step` of `kaggle-environments` and reads what
it shows the player to move: the library's own text, and the legal moves. Every game starts from the beginning.
That takes more than half of Kaggle's time, because it validates its schemas again: "moves only" leaves it out. Kaggle's
package needs 1.7 GB and other versions of our packages, so it is measured only if `BENCH_KAGGLE_PYTHON` is the Python
of an environment that has it.
""".strip()
KAGGLE = "BENCH_KAGGLE_PYTHON"
OPENING = (4, 0, 8)
OURS, THEIRS, MOVES = "openspiel:tic_tac_toe in a room", "kaggle-environments", ", moves only"


class InRoom:
    """A room with a world of tic-tac-toe, and two players who have tokens."""

    def __init__(self, source: str) -> None:
        from cohabit.house.store.identities import Identities, hashed, make_token
        from cohabit.model.identity import Credential
        from cohabit.registry import make_world
        from cohabit.room.opening import opening_state
        from cohabit.room.room import Room
        from cohabit.scenario import AgentSpec, Scenario

        members = [AgentSpec(id=f"p{n}", role="player", claim=f"auto:{n}") for n in range(2)]
        plan = Scenario(world=source, agents=[*members, AgentSpec(id="host", role="host")])
        self.at, self.world = 1_000_000, make_world(source, {})
        state = opening_state(plan, self.world, source, "bench", 1, "00" * 16)
        self.room = Room.create(state, self.world, self.at)
        self.identities = Identities()
        self.tokens = [make_token() for _ in plan.agents]
        for agent, token in zip(plan.agents, self.tokens, strict=True):
            self.identities.put_credential(Credential(hashed(token), agent.id, "bench"))
        self.choose = random.Random(1).choice

    def round(self, seconds: float, moves_only: bool = False) -> float:
        """Moves per CPU second. ``moves_only``: without the time that a rematch takes."""
        steps, spent, ends = 0, 0.0, time.process_time() + seconds
        while time.process_time() < ends:
            began = time.process_time()
            steps += self._moves()
            ended = time.process_time()
            self._again()
            spent += (ended if moves_only else time.process_time()) - began
        return steps / spent

    def _moves(self) -> int:
        steps = 0
        while not self.step(steps, None):
            steps += 1
        return steps + 1

    def step(self, number: int, cell: int | None) -> bool:
        """Read the text and move: to the given cell, or anywhere. Returns whether the game is over."""
        room, self.at = self.room, self.at + 1
        who = self.identities.identify(self.tokens[number % 2], self.at).identity
        assert self._text(who)
        seat = room.seat_of(room.state.members[who])
        assert seat is not None
        legal = self.world.legal(seat)
        assert legal is not None
        move = self.choose(legal) if cell is None else legal[self._free().index(cell)]
        return bool(room.call(who, move.name, move.parameters, at=self.at, look=False).done)

    def _text(self, who: str) -> str:
        looks = self.room.eye(self.room.state.members[who])
        assert looks is not None
        return self.room.observe(looks).to_text()

    def _free(self) -> list[int]:
        return [cell for cell in range(9) if cell not in OPENING[: self.moved]]

    def opening_text(self) -> str:
        """The view of the second player after three moves."""
        for self.moved, cell in enumerate(OPENING):
            self.step(self.moved, cell)
        text = self._text("p1")
        self._again()
        return text

    def _again(self) -> None:
        self.room.call("host", "rematch", at=self.at)
        self.room.record.take_pending()
        if len(self.room.record.tail) >= 1000:
            self.room.stored(self.room.snapshot())


def labelled() -> InRoom:
    """Our own game with the same text."""
    return InRoom(str(WORLDS / "labelled.py"))


class Bare:
    """The library alone."""

    def __init__(self) -> None:
        import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]

        self.game: Any = pyspiel.load_game("tic_tac_toe")
        self.choose = random.Random(1).choice

    def round(self, seconds: float) -> float:
        steps, began = 0, time.process_time()
        while time.process_time() < began + seconds:
            state, said = self.game.new_initial_state(), list[str]()
            while not state.is_terminal():
                assert self._text(state, said)
                legal = [(cell, state.action_to_string(cell)) for cell in state.legal_actions()]
                self._move(state, said, *self.choose(legal))
                steps += 1
        return steps / (time.process_time() - began)

    def _move(self, state: Any, said: list[str], cell: int, words: str) -> None:
        said.append(f"{words[0]} {words[1:]}")
        state.apply_action(cell)

    def _text(self, state: Any, said: list[str]) -> str:
        rows = state.observation_string(0).split("\n")
        board = "\n".join(["   0 1 2", *(f"{n}  {' '.join(row)}" for n, row in enumerate(rows))])
        last = f"\n\nLast moves: {'; '.join(said[-8:])}" if said else ""
        return f"{board}{last}\n\nYou are {'xo'[state.current_player()]}."

    def opening_text(self) -> str:
        state, said = self.game.new_initial_state(), list[str]()
        for cell in OPENING:
            self._move(state, said, cell, state.action_to_string(cell))
        return self._text(state, said)


def run(quick: bool) -> Report:
    seconds, times = (0.2, 2) if quick else (1.0, 9)
    report = Report("openspiel", "A step of OpenSpiel's tic-tac-toe", HOW)
    with (
        child("bench.openspiel:InRoom", 0, source="openspiel:tic_tac_toe") as theirs,
        child("bench.openspiel:labelled", 0) as own,
        child("bench.openspiel:Bare", 0) as bare,
    ):
        texts = {each.ask("opening_text") for each in (theirs, own, bare)}
        assert len(texts) == 1, f"these are not the same text: {texts}"
        named = {OURS: theirs, "our tic-tac-toe in a room": own, "bare OpenSpiel": bare}
        sides = {name: partial(side.ask, "round", seconds=seconds) for name, side in named.items()}
        if python := os.environ.get(KAGGLE):
            with child("bench.kaggle_game:Kaggle", 0, python=python) as kaggle:
                for name, side in {OURS: theirs, THEIRS: kaggle}.items():
                    sides[name] = partial(side.ask, "round", seconds=seconds)
                    sides[name + MOVES] = partial(side.ask, "round", seconds=seconds, moves_only=True)
                found = take_turns(sides, times)
        else:
            found = take_turns(sides, times)
    for name, values in found.items():
        report.measure(name, values, "steps / CPU-s")
    in_room = found[OURS]
    if kaggle_games := found.get(THEIRS):
        report.ratio("openspiel: a room over Kaggle's environment", quotients(in_room, kaggle_games), 30)
        moves = quotients(found[OURS + MOVES], found[THEIRS + MOVES])
        report.ratio("openspiel: a room over Kaggle's environment, moves only", moves)
    ours, alone = found["our tic-tac-toe in a room"], found["bare OpenSpiel"]
    report.ratio("openspiel: a room over a room with our tic-tac-toe", quotients(in_room, ours), 0.3)
    report.ratio("openspiel: a room over the bare library", quotients(in_room, alone))
    return report
