"""What the generic front end finds in views: boards in values and in text, and the cells that moves name."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohabit.house.reading.front_ends import blocked_in, read_front_end
from cohabit.registry import find_world

FRONT_ENDS = Path(__file__).parents[2] / "src/cohabit/front_ends"
RUN = """
const [scripts, observation, you] = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const script of scripts) require("vm").runInThisContext(script);
const { boards, parts } = readBoards(observation);
const places = boards.map((board) => (observation.choices ?? []).map((choice) => placesOf(choice, board, you)));
console.log(JSON.stringify({ boards, parts, places, cards: (observation.text ?? "").split("\\n").map(cardsIn) }));
"""
CHESS = """   a b c d e f g h
8  r n b q k b n r
7  p p p p p p p p
6  . . . . . . . .
5  . . . . . . . .
4  . . . . . . . .
3  . . . . . . . .
2  P P P P P P P P
1  R N B Q K B N R"""
DENSE = "    012345\n  0 ~~~~~~\n  1 ~..^.~\n  2 ~.@..~\n~ sea  . land"
HEXES = "   a b c\n1  . . .\n 2  . o .\n  3  . . x"
CELLS = " O | 1 | 2 \n---+---+---\n 3 | O | 5 \n---+---+---\n X | 7 | X "


@pytest.fixture
def read(need: Callable[[str], Path]) -> Callable[..., Any]:
    scripts = [(FRONT_ENDS / name).read_text() for name in ("boards.js", "moves.js", "looks.js")]
    node = need("node22")

    def run(text: str = "", *moves: str, you: str = "", **status: Any) -> Any:
        choices = [{"action": "play", "params": {"move": move}} for move in moves]
        given = json.dumps([scripts, {"text": text, "status": status, "choices": choices}, you])
        return json.loads(
            subprocess.run([node, "-e", RUN], input=given, capture_output=True, text=True, check=True).stdout
        )

    return run


@pytest.mark.parametrize(
    ("text", "rows", "row_names", "column_names", "slant"),
    [
        (CHESS, 8, list("87654321"), list("abcdefgh"), False),
        (DENSE, 3, list("012"), list("012345"), False),
        (HEXES, 3, list("123"), list("abc"), True),
        (CELLS, 3, None, None, False),
        ("0 1 2 3\n. . . .\n. . x o", 2, None, list("0123"), False),
        ("+-----+\n|  2  .  4  |\n|  .  8  .  |\n|  2  2  .  |\n+-----+", 3, None, None, False),
    ],
)
def test_a_board_in_a_text_is_found_with_its_names(
    read: Callable[..., Any], text: str, rows: int, row_names: list[str], column_names: list[str], slant: bool
) -> None:
    (board,) = read(f"Before it.\n\n{text}\n\nAfter it.")["boards"]
    found = (len(board["rows"]), board["rowNames"], board["columnNames"], board["slant"])
    assert found == (rows, row_names, column_names, slant)


@pytest.mark.parametrize(
    "status",
    [
        {"board": [["x", ""], ["", "o"]]}, {"grid": ["x..", "...", "..o"]}, {"cells": ["x", "", "", "o"]},
        {"map": {"rows": [[1, 0], [0, 2]]}}, {"cells": [1, 0, 0, 2, 0, 0], "width": 3},
    ],
)  # fmt: skip
def test_a_board_among_the_values_is_found(read: Callable[..., Any], status: dict[str, Any]) -> None:
    (board,) = read("No board here.", **status)["boards"]
    assert len(board["rows"]) >= 2
    assert {len(row) for row in board["rows"]} == {len(board["rows"][0])}


@pytest.mark.parametrize(
    "text",
    [
        "You are in the hall.\nThere is a door to the east.\nIt is open.",
        "Pot: 3\nBets: 2\nYour card: J",
        "one two\nten six\nred sea",
        " 3    |..\n 4    |.<\n 5  ....d",
        "S K94               S QT6\nH 65                H KT9\nD J6                D A987",
        "N: AH QH KD \nE: TS KH 6S \nS: 5S 5D 8S ",
        "DJ D9 DA HT\nST S9 SA SJ\nCK CQ CA C9",
    ],
)
def test_prose_is_no_board(read: Callable[..., Any], text: str) -> None:
    assert read(text)["boards"] == []


@pytest.mark.parametrize(
    ("text", "move", "places"),
    [
        (CHESS, "e2e4", [{"from": 52, "to": 36}]),
        (CHESS, "Nf3", [{"from": 62, "to": 45}]),
        (CHESS, "e4", [{"from": 52, "to": 36}]),
        (HEXES, "b2", [{"to": 4}]),
        (CELLS, "[5]", [{"to": 5}]),
        ("   0 1 2\n0  . . .\n1  . x .\n2  . . .", "(1,2)", [{"to": 5}]),
        ("X . .\n. O .\n. . .", "row 1 column 3", [{"to": 2}]),
        ("1 2 3\n. . .\n. x .", "column 3", [{"column": 2}]),
        ("1 2 3\n. . .\n. x .", "pass", []),
    ],
)
def test_a_move_names_cells_of_a_board(read: Callable[..., Any], text: str, move: str, places: list[Any]) -> None:
    assert read(text, move, you="white")["places"] == [[places]]


def test_the_generic_front_end_uses_nothing_that_its_sandbox_blocks_and_makes_no_elements_from_data() -> None:
    document = read_front_end(find_world("nim"))
    assert blocked_in(document) == []
    assert not any(part in document for part in ("innerHTML", "insertAdjacentHTML", "document.write", "<form"))
    assert len(document) < 96 * 1024


def test_a_line_of_cards_is_read_and_a_line_of_numbers_is_not(read: Callable[..., Any]) -> None:
    hand, pot = read("Your hand: 8♣, TH (18)\nPot: 8, 9")["cards"]
    assert [(card["rank"], card["suit"]) for card in hand["cards"]] == [("8", "♣"), ("10", "♥")]
    assert pot is None
