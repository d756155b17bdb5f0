"""What is known about each game of a library, found out by playing it. ``results/NAME.json`` keeps it;
``docs/gallery/`` is made from that (``tools/gallery.py``).

    python -m tests.libraries.survey openspiel [GAME …]      renew the results, of all games or of these
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from cohabit.errors import CohabitError
from cohabit.registry import find_library, find_world, listed_games
from cohabit.testing.checker import check_world
from cohabit.testing.play import Play

RESULTS = Path(__file__).parent / "results"
MOST_MOVES = 5_000
"""A game of random players that has not ended after this many moves counts as one that goes on."""


class Row(Struct, omit_defaults=True):
    """One game."""

    title: str
    seats: tuple[int, int]
    hidden: bool = False
    kind: str = ""
    moves: int = 0  # of the game of random players
    ended: bool = False  # it came to its end
    failed: list[str] = []  # the checks of `cohabit check` that did not pass, with their messages
    leak: str = ""  # how strong the test of leaks was

    def without_counts(self) -> "Row":
        """Without the numbers of comparisons, which change with what the checker looks at."""
        return msgspec.structs.replace(self, leak=re.sub(r"\d+", "N", self.leak))


class Results(Struct):
    """A library."""

    games: dict[str, Row]
    left_out: dict[str, str]


def survey(source: str, leak: str = "") -> Row:
    """Open a game, play it to its end at random, and check it, also in another process with another hash seed and with
    an exact replay. ``leak``: how hidden information was tested, where not by ``resample``."""
    game = listed_games(source.partition(":")[0])[source]
    row = Row(game.title, game.seats, game.hidden, game.kind)
    assert find_world(source).spec.seat_range == game.seats
    row.moves, row.ended = played(source)
    report = check_world(source, seeds=(1, 2), steps=60)
    row.failed = [f"{finding.check}: {finding.message}" for finding in report.findings if finding.ok is False]
    row.leak = leak or next((finding.message for finding in report.findings if finding.check == "secrets"), "")
    return row


def played(source: str, seed: int = 1) -> tuple[int, bool]:
    """One game of random players: how many moves it had, and whether it ended."""
    play = Play(source, seed, wild=False)
    while play.steps < MOST_MOVES and not play.room.world.is_over():
        play.step()
    return play.steps, play.room.world.is_over()


def read_results(library: str) -> Results:
    path = RESULTS / f"{library}.json"
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else Results({}, {})


def write_results(library: str, results: Results) -> None:
    text = msgspec.json.format(msgspec.json.encode(results), indent=1)
    (RESULTS / f"{library}.json").write_bytes(text + b"\n")


def renew(library: str, names: Iterable[str] = ()) -> Results:
    """Survey these games, or all, and write the results after each."""
    listed, results = listed_games(library), read_results(library)
    results.games = {name: row for name, row in results.games.items() if name in listed}
    results.left_out = dict(find_library(library).left_out())
    for source in names or listed:
        try:
            results.games[source] = survey(source)
        except CohabitError as wrong:
            results.games[source] = Row(listed[source].title, listed[source].seats, failed=[wrong.as_text()])
        write_results(library, results)
        sys.stderr.write(f"{source}: {results.games[source]}\n")
    return results


if __name__ == "__main__":
    renew(sys.argv[1], [f"{sys.argv[1]}:{game}" for game in sys.argv[2:]])
