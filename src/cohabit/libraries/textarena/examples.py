"""Moves that may be possible, as examples: TextArena has no list of the legal ones.

Its games name moves in square brackets, in the rules and often below the board. A table has patterns for games whose
texts name too few: ``[<0-8>]`` stands for nine moves, and ``[<Accept|Deny>]`` for two. What depends on the board is
read from the one that the player sees: ``[<cells .>]`` stands for its cells with a dot, as row and column, and
``[<pairs>]`` for what its tables pair, by the names of a row and a column.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from cohabit.libraries.textarena.game import ACTION, ADMIN, Message
from cohabit.model.stream import Stream

MAX_EXAMPLES = 60
_TOKEN = re.compile(r"\[[^\[\]\n]{1,60}\]")
_CHOICE = re.compile(r"<([^<>]*)>")


def expanded(pattern: str, board: str = "") -> Iterator[str]:
    """All moves of a pattern on a board."""
    parts = _CHOICE.split(pattern)  # texts, with a choice between every two of them
    yield from map("".join, product(*(_choices(part, board) if i % 2 else [part] for i, part in enumerate(parts))))


def _choices(choice: str, board: str) -> list[str]:
    if found := re.fullmatch(r"cells (\S)", choice):
        return list(_cells(board, found[1]))
    if choice == "pairs":
        return list(_pairs(board))
    if found := re.fullmatch(r"(\d+)-(\d+)", choice):
        return [str(n) for n in range(int(found[1]), int(found[2]) + 1)]
    if found := re.fullmatch(r"([A-Za-z])-([A-Za-z])", choice):
        return [chr(n) for n in range(ord(found[1]), ord(found[2]) + 1)]
    return choice.split("|")


def _cells(board: str, sign: str) -> Iterator[str]:
    """The cells with this sign on a board whose rows begin with their numbers; columns count from 0."""
    for row, cells in re.findall(r"^ *R?(\d+)((?: +\S)+) *$", board, re.MULTILINE):
        yield from (f"{int(row)} {column}" for column, cell in enumerate(cells.split()) if cell == sign)


def _pairs(board: str) -> Iterator[str]:
    """The names of each row and column of tables with bars between columns, whose first line begins with spaces."""
    columns: list[str] = []
    for line in board.splitlines():
        if "|" in line and line.startswith(" "):
            columns = line.replace("|", " ").split()
        elif "|" in line:
            yield from (f"{line.split()[0]} {column}" for column in columns)


def is_distinct(move: str) -> bool:
    """True if no part of a move comes twice."""
    parts = re.findall(r"\w+", move)
    return len(set(parts)) == len(parts)


def moves_in(heard: Sequence[Message]) -> list[str]:
    """The moves in the newest text of the game that names any; the oldest one is the rules."""
    for message in reversed(heard):
        if message.kind not in (ACTION, ADMIN) and (found := named(message.text)):
            return found
    return []


def named(text: str) -> list[str]:
    """The bracketed words that could be a move: the cells of a board and the marks of players are not."""
    return [token for token in dict.fromkeys(_TOKEN.findall(text)) if re.search(r"[A-Za-z0-9]", token)]


def mixed(moves: Iterable[str], turn: int) -> list[str]:
    """These moves, each once. A long list is in another order each turn."""
    found = list(dict.fromkeys(moves))
    if len(found) > MAX_EXAMPLES:
        Stream(turn, "examples").shuffle(found)
    return found


def some(moves: Iterable[str], without: Sequence[str], turn: int) -> list[str]:
    """Some of these moves, each once and without those that were tried in vain: from all parts of a long list, and
    other ones each turn."""
    found = [move for move in dict.fromkeys(moves) if move not in without]
    if len(found) <= MAX_EXAMPLES:
        return found
    return [found[(place * len(found) // MAX_EXAMPLES + turn * 7) % len(found)] for place in range(MAX_EXAMPLES)]
