"""Tic-tac-toe: three in a row on a board of nine cells."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cohabit.model.action import Action
from cohabit.world import (
    ArraySpec,
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    World,
    WorldSpec,
    action,
)  # fmt: skip

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
OTHERS_IN_LINE = [[[c for c in line if c != cell] for line in LINES if cell in line] for cell in range(9)]
"""By cell: the other two cells of each line through it."""
MARKS = {str(cell): Action("mark", {"cell": cell}) for cell in range(9)}


class TicTacToe(World):
    """Tic-tac-toe. Players take turns to mark one of nine cells. Three marks in a row win.

    Cells are numbered 0 to 8, row by row from the top left. X starts.
    """

    spec = WorldSpec(name="tictactoe", title="Tic-tac-toe", seats=2, seat_names=("X", "O"), pace="turns", quick=True,
        open_information=True, front_end="tictactoe.html",
    )  # fmt: skip

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.board = list("012345678")  # a free cell shows its own number
        self.moves = 0
        self.winner = ""

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.winner or self.moves == 9 else [self.order[self.moves % 2]]

    def observe_data(self, eye: Eye) -> Observation:
        return self._observation(eye, "")

    def observe(self, eye: Eye) -> Observation:
        a, b, c, d, e, f, g, h, i = self.board
        text = f" {a} | {b} | {c}\n---+---+---\n {d} | {e} | {f}\n---+---+---\n {g} | {h} | {i}"
        if self.winner and eye.seat:
            text += "\nYou won." if eye.seat == self.winner else "\nYou lost."
        return self._observation(eye, text)

    def _observation(self, eye: Eye, text: str) -> Observation:
        status: dict[str, object] = {"you": eye.seat} if eye.seat else {}
        if self.winner:
            status["winner"] = self.winner
        return Observation(status=status, step=self.moves, text=text)

    @action(preconditions=["It is your turn", "The cell is free"])
    def mark(self, by: Seat, cell: Annotated[int, Range(0, 8, "the cell, 0 to 8")]) -> Outcome:
        """Mark a free cell."""
        board = self.board
        if not board[cell].isdigit():
            raise GameRejected(f"cell {cell} is taken by {board[cell]}; choose a free one")
        mark = board[cell] = by.id
        self.moves += 1
        public = f"{by.name} marks cell {cell}"
        if self.moves >= 5:  # before its third mark nobody has three in a row
            for a, b in OTHERS_IN_LINE[cell]:
                if board[a] == mark == board[b]:
                    self.winner = mark
                    return Outcome("Three in a row: you win.", public=public + " and wins", reward=1.0)
        return Outcome("Marked.", public=public)

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [*filter(None, map(MARKS.get, self.board))]  # a taken cell shows X or O

    def skip(self, seat: Seat) -> Outcome:
        """A player who runs out of time loses."""
        self.winner = next(s for s in self.order if s != seat.id)
        return Outcome(public=f"{seat.name} ran out of time; {self.winner} wins")

    def standings(self) -> Sequence[Standing]:
        """1 for the winner; ½ each for a draw."""
        if self.moves == 9 and not self.winner:
            return [Standing(s, s, 0.5) for s in self.order]
        first, second = self.order if self.winner != self.order[1] else self.order[::-1]
        return [Standing(first, first, int(first == self.winner)), Standing(second, second, 0)]

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {"board": ArraySpec(shape=(2, 3, 3), high=1)}

    def array(self, eye: Eye, form: str) -> Any:
        """The cells with the eye's own marks, then those with the other's; without a seat, those of X and of O."""
        import numpy as np  # only learners need it

        own = eye.seat if eye.seat in self.order else self.order[0]
        players = [own, *(seat for seat in self.order if seat != own)]
        return np.array([[cell == mark for cell in self.board] for mark in players], np.uint8).reshape(2, 3, 3)
