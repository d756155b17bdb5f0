"""Boards of the library with rows and columns that have labels, so that a reader finds the square that a move names.

Each function takes the library's text, the game (``pyspiel.Game``) and the player who looks, and returns better text.
"""

import re
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

PIECES = "Capital letters are White's, small letters Black's; . is empty."


def table(rows: Sequence[Sequence[str]], row_labels: Sequence[Any], column_labels: Sequence[Any]) -> str:
    """Cells with labels on the left and above."""
    labels = [str(label) for label in column_labels]
    width = max(map(len, [*labels, *(cell for row in rows for cell in row)]))
    names = [str(label) for label in row_labels]
    margin = max(map(len, names))
    lines = zip([" " * margin, *names], [labels, *rows], strict=True)
    return "\n".join([f"{name:>{margin}}  {' '.join(_wide(cells, width))}" for name, cells in lines])


def _wide(cells: Sequence[str], width: int) -> Sequence[str]:
    return cells if width == 1 else [cell.rjust(width) for cell in cells]


def _cells(text: str) -> tuple[list[list[str]], str]:
    """The rows of cells at the beginning of a text, and what is below them."""
    lines = text.strip("\n").split("\n")
    width = len(lines[0].replace(" ", ""))
    count = next((n for n, line in enumerate(lines) if len(line.replace(" ", "")) != width), len(lines))
    return [list(line.replace(" ", "")) for line in lines[:count]], "\n".join(lines[count:]).strip("\n")


def _numbered(text: str, first: int) -> str:
    rows, below = _cells(text)
    board = table(rows, range(first, first + len(rows)), range(first, first + len(rows[0])))
    return f"{board}\n\n{below}" if below else board


def from_zero(text: str, game: Any, player: int | None) -> str:
    """Moves name (row, column), from 0 at the top left. Some texts begin with the player who looks."""
    return _numbered(re.sub(r"^P\d ", "", text), 0)


def from_one(text: str, game: Any, player: int | None) -> str:
    """The same, from 1."""
    return _numbered(text, 1)


def after_a_line(text: str, game: Any, player: int | None) -> str:
    """A board below a line that says whose turn it is."""
    return _numbered(text.partition("\n")[2], 0)


def columns(text: str, game: Any, player: int | None) -> str:
    """Moves name a column."""
    rows, below = _cells(text)
    board = "\n".join(" ".join(row) for row in [[str(n) for n in range(len(rows[0]))], *rows])
    return f"{board}\n{below}".strip("\n")


def letters(text: str, game: Any, player: int | None) -> str:
    """Moves name a column by its letter and a row by its number from the top: hexes, each row shifted to the right."""
    rows, below = _cells(text)
    head = "    " + " ".join(ascii_lowercase[: len(rows[0])])
    lines = [f"{n:>{n + 1}}  " + " ".join(row) for n, row in enumerate(rows, 1)]
    return "\n".join([head, *lines, below]).strip("\n")


def ranks(text: str, game: Any, player: int | None) -> str:
    """Rows that begin with their numbers, and a last row with the letters of the columns: 8bb.bbbbb"""
    found = [re.fullmatch(r"(\d+| )([^\d\s]+)", line) for line in text.split("\n")]
    lines = [f"{match[1]:>2} {' '.join(match[2])}" for match in found if match is not None]
    below = [line for line, match in zip(text.split("\n"), found, strict=True) if match is None and line.strip()]
    return "\n".join([*lines, *([""] * bool(below)), *below])


def go(text: str, game: Any, player: int | None) -> str:
    """Without the first line, which is for programs."""
    head, _, board = text.partition("\n\n")
    komi = re.search(r"komi=([\d.-]+)", head)
    rows = [re.sub(r"^( *\d+ |   )(\S+)$", lambda row: row[1] + " ".join(row[2]), line) for line in board.split("\n")]
    last = [f"X is Black, O is White, + is empty.{f' Komi {float(komi[1]):g}.' if komi else ''}"]
    return "\n".join([*rows, *last])


def stones(text: str, game: Any, player: int | None) -> str:
    """Phantom Go: the same board, without a line for programs."""
    return re.sub(r"(?m)^( *\d+ |   )(\S+)$", lambda row: row[1] + " ".join(row[2]), text)


def points(text: str, game: Any, player: int | None) -> str:
    """Backgammon, with the points as the player counts them: from the other side for the second one."""
    lines = [line for line in text.strip().split("\n") if not line.startswith("Turn")]
    first = next(n for n, line in enumerate(lines) if line.startswith("+"))
    last = next(n for n, line in enumerate(lines) if n > first and line.startswith("+"))
    near, far = list(range(12, 0, -1)), list(range(13, 25))
    above, below = (far, near) if player == 1 else (near, far)
    board = [_with_bar([*line[1:7], *line[8:14]]) for line in lines[first + 1 : last]]
    found = dict(line.split(":", 1) for line in lines[last + 1 :] if ":" in line)
    off = found["Scores, X"].split(", O:")[0].strip(), found["Scores, X"].rpartition(":")[2].strip()
    dice, bar = " ".join(found["Dice"].strip()), found["Bar"].strip()
    return "\n".join([
        _with_bar([str(n) for n in above]), *board, _with_bar([str(n) for n in below]),
        f"Points are numbered as {'o' if player == 1 else 'x'} counts them.",
        f"Dice: {dice or 'not rolled'}. On the bar: {bar or 'nothing'}. Borne off: x {off[0]}, o {off[1]}.",
    ])  # fmt: skip


def _with_bar(cells: Sequence[str]) -> str:
    named = [f"{cell:>2}" for cell in cells]
    return f"{' '.join(named[:6])} | {' '.join(named[6:])}"


def goals(text: str, game: Any, player: int | None) -> str:
    """Pathfinding: the library shows the players and not where they want to go; that is in its grid."""
    grid = str(game.get_parameters()["grid"]).strip().split("\n")
    rows = zip(text.strip().split("\n"), grid, strict=True)
    return "\n".join("".join(_goal(*cell) for cell in zip(shown, drawn, strict=True)) for shown, drawn in rows)


def _goal(shown: str, drawn: str) -> str:
    return drawn if drawn.isupper() and shown == "." else shown


def fen(text: str, game: Any, player: int | None) -> str:
    """Forsyth-Edwards notation as a board, with what is hidden as question marks."""
    first, _, below = text.partition("\n")
    placed, _, rest = first.partition(" ")
    placed, _, pocket = placed.partition("[")
    ranks_of = [_squares(rank) for rank in placed.split("/") if rank]
    board = table(ranks_of, range(len(ranks_of), 0, -1), ascii_lowercase[: len(ranks_of[0])])
    extra = [f"In hand: {pocket.rstrip(']') or 'nothing'}."] if "[" in first else []
    return "\n".join([board, *extra, PIECES, f"FEN: {placed} {rest}".rstrip(), below]).rstrip("\n")


def own_pieces(text: str, game: Any, player: int | None) -> str:
    """The same where the pieces of the other player are not shown."""
    return fen(text, game, player).replace(". is empty.", ". is empty, or not known to you.")


def sensed(text: str, game: Any, player: int | None) -> str:
    """Reconnaissance blind chess: a number counts squares that are not known, and a space is a known empty one."""
    size, rows = int(game.get_parameters()["board_size"]), list[list[str]]()
    for rank in text.split("/", size - 1):
        marks = "".join("?" * int(mark) if mark.isdigit() else mark for mark in rank)[:size]
        rows.append(list(marks.replace(" ", ".")))
    board = table(rows, range(size, 0, -1), ascii_lowercase[:size])
    return f"{board}\nCapital letters are White's, small letters Black's; . is empty, ? is not known to you."


def _squares(rank: str) -> list[str]:
    """The squares of a rank. A number is that many empty ones; + belongs to the piece after it."""
    found: list[str] = []
    for part in re.findall(r"\d+|\+?[^\d]", rank):
        found += ["."] * int(part) if part.isdigit() else [part.replace("~", "")]
    return found


def sfen(text: str, game: Any, player: int | None) -> str:
    """The notation of shogi: columns 9 to 1, rows a to i, captured pieces in hand."""
    placed, _, in_hand, *_ = text.strip().split(" ")
    rows = [_squares(rank) for rank in placed.split("/")]
    board = table(rows, ascii_lowercase[: len(rows)], range(len(rows[0]), 0, -1))
    hand = "nothing" if in_hand == "-" else in_hand
    sides = "Capital letters are Black's (who begins, at the bottom), small letters White's; + is promoted."
    return f"{board}\n{sides}\nIn hand: {hand}."


def star(text: str, game: Any, player: int | None) -> str:
    """Chinese checkers: moves name cells by their numbers, so the empty ones show theirs."""
    lines, cell = [], 0
    for row in text.rstrip("\n").split("\n")[:-1]:
        named = []
        for mark in row.split():
            named.append(str(cell) if mark == "." else f"{ascii_lowercase[int(mark) - 1].upper()}{cell}")
            cell += 1
        lines.append(" ".join(f"{name:^4}" for name in named).center(66).rstrip())
    return "\n".join([*lines, "A17 is a piece of player 0 on cell 17, B of player 1; a number alone is an empty cell."])


def mancala(text: str, game: Any, player: int | None) -> str:
    """The pits with their numbers."""
    above, stores, below = (re.findall(r"\d+", line) for line in text.strip().split("\n")[:3])
    count = len(above)
    return "\n".join(
        [
            "pit     " + " ".join(f"{n:>3}" for n in range(2 * count + 1, count + 1, -1)) + "   (player1)",
            "seeds   " + " ".join(f"{n:>3}" for n in above),
            "seeds   " + " ".join(f"{n:>3}" for n in below),
            "pit     " + " ".join(f"{n:>3}" for n in range(1, count + 1)) + "   (player0)",
            f"Stores: player0 {stores[1]}, player1 {stores[0]}.",
        ]
    )


def nim(text: str, game: Any, player: int | None) -> str:
    piles = text.partition(": ")[2].split()
    return "Objects left: " + ", ".join(f"pile {n} has {pile}" for n, pile in enumerate(piles, 1)) + "."


def morpion(text: str, game: Any, player: int | None) -> str:
    """Points that are set are +; moves name [row,column] of each point of a line."""
    return _numbered(text.replace("0", ".").replace("1", "+"), 0)


def ships(text: str, game: Any, player: int | None) -> str:
    """Battleship: two framed boards, with rows and columns from 0."""
    found = []
    for title, board in re.findall(r"(.*):\n\+-+\+\n((?:\|.*\|\n)+)\+-+\+", text):
        rows = [list(line.strip("|").replace(" ", ".")) for line in board.strip().split("\n")]
        named = "Your ships (letters; * and # are where you were shot at)" if "ships" in title else "Your shots"
        found.append(f"{named}:\n{table(rows, range(len(rows)), range(len(rows[0])))}")
    return "\n\n".join(found)


def payoffs(text: str, game: Any, player: int | None) -> str:
    """The payoffs of each combination of moves, in place of the library's text."""
    lines = ["Payoffs:"]
    moves = [[*_all_moves(game, one)] for one in range(game.num_players())]
    for joint in _combinations([len(each) for each in moves]):
        state = game.new_initial_state()
        state.apply_actions([moves[one][n][0] for one, n in enumerate(joint)])
        named = ", ".join(f"player{one} {moves[one][n][1]}" for one, n in enumerate(joint))
        lines.append(f"  {named}: " + ", ".join(f"{score:g}" for score in state.returns()))
    return "\n".join(lines)


def _all_moves(game: Any, player: int) -> list[tuple[int, str]]:
    state = game.new_initial_state()
    return [(step, state.action_to_string(player, step)) for step in state.legal_actions(player)]


def _combinations(counts: Sequence[int]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for count in counts:
        found = [(*one, n) for one in found for n in range(count)]
    return found
