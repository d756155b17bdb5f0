"""Our own tic-tac-toe with the text that ``openspiel:tic_tac_toe`` has, so that a bench compares the rest."""

from collections.abc import Sequence
from typing import Annotated

from cohabit import Eye, Observation, Outcome, Range, Seat, action
from cohabit.worlds.tictactoe import TicTacToe


class Labelled(TicTacToe):
    """Tic-tac-toe with labels of rows and columns, and the last moves."""

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        super().reset(seed, seats)
        self.marked: list[int] = []

    def observe(self, eye: Eye) -> Observation:
        marks = [mark.lower() if mark in "XO" else "." for mark in self.board]
        rows = [f"{row}  {' '.join(marks[3 * row : 3 * row + 3])}" for row in range(3)]
        parts = ["\n".join(["   0 1 2", *rows])]
        if self.marked:
            said = [f"{'xo'[n % 2]} ({cell // 3},{cell % 3})" for n, cell in enumerate(self.marked)]
            parts.append(f"Last moves: {'; '.join(said[-8:])}")
        parts.append(f"You are {(eye.seat or '').lower()}.")
        return Observation(text="\n\n".join(parts), step=self.moves, text_says_all=True)

    @action()
    def mark(self, by: Seat, cell: Annotated[int, Range(0, 8)]) -> Outcome:
        """Mark a free cell."""
        done = super().mark(by, cell)
        self.marked.append(cell)
        return done
