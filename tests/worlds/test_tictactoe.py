import pytest

from cohabit.world import Eye, GameRejected, Seat
from cohabit.worlds.tictactoe import LINES, TicTacToe

X, O = Seat("X", "X"), Seat("O", "O")  # noqa: E741 - the name of the mark


def board(*cells: int) -> TicTacToe:
    world = TicTacToe()
    world.reset(1, [X, O])
    for i, cell in enumerate(cells):
        world.mark((X, O)[i % 2], cell)
    return world


def test_x_starts_and_then_they_take_turns():
    assert board().to_move() == ["X"]
    assert board(4).to_move() == ["O"]
    assert board(4, 0).to_move() == ["X"]


@pytest.mark.parametrize("line", LINES)
def test_three_in_a_row_win(line):
    elsewhere = [cell for cell in range(9) if cell not in line]
    world = board(line[0], elsewhere[0], line[1], elsewhere[1])
    assert world.to_move() == ["X"]
    assert world.mark(X, line[2]).reward == 1.0
    assert world.to_move() == []
    assert world.standings()[0].seat == "X"


def test_a_full_board_without_a_row_is_a_draw_which_is_worth_half_a_win():
    world = board(0, 1, 2, 4, 3, 5, 7, 6)
    assert [s.score for s in world.standings()] == [0, 0]
    world.mark(X, 8)
    assert world.to_move() == []
    assert [s.score for s in world.standings()] == [0.5, 0.5]
    assert [s.score for s in board(0, 3, 1, 4, 2).standings()] == [1, 0]


def test_at_the_end_each_player_reads_whether_it_won_or_lost():
    world = board(0, 3, 1, 4)
    assert "You " not in world.observe(Eye("X")).text
    world.mark(X, 2)
    assert world.observe(Eye("X")).text.endswith("\nYou won.")
    assert world.observe(Eye("O")).text.endswith("\nYou lost.")
    assert "You " not in world.observe(Eye()).text


def test_a_row_on_the_last_free_cell_wins():
    assert [(s.seat, s.score) for s in board(0, 1, 3, 4, 5, 2, 7, 8, 6).standings()] == [("X", 1), ("O", 0)]


def test_marking_a_taken_cell_is_refused_and_changes_nothing():
    world = board(4)
    before = world.snapshot()
    with pytest.raises(GameRejected, match="cell 4 is taken by X"):
        world.mark(O, 4)
    assert world.snapshot() == before
    assert [a.parameters["cell"] for a in world.legal(O)] == [0, 1, 2, 3, 5, 6, 7, 8]


def test_a_player_who_runs_out_of_time_loses():
    world = board(4)
    world.skip(O)
    assert (world.winner, world.to_move()) == ("X", [])


def test_the_text_shows_the_board_and_the_numbers_of_free_cells():
    assert board(4, 0).observe(Eye()).text.splitlines() == [
        " O | 1 | 2", "---+---+---", " 3 | X | 5", "---+---+---", " 6 | 7 | 8",
    ]  # fmt: skip
