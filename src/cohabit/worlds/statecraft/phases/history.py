"""Phase 10: what the nations want to remember is kept for them."""

from typing import NamedTuple

from cohabit.worlds.statecraft.ledgers import Ledgers, Standing, Texts

KEPT = 64
"""The newest summaries are at hand, older ones are in the record: so a turn costs the same in a long game."""


class Remembered(NamedTuple):
    """The texts of the next standing."""

    history: Texts
    summaries: dict[str, list[tuple[int, str]]]


def history(standing: Standing, ledgers: Ledgers) -> Remembered:
    """A history replaces the one before; a summary is added to the others. Empty texts say nothing."""
    compressed = {name: text for name, text in ledgers.d_history_summary.items() if text}
    summed_up = {
        name: [*standing.summaries.get(name, ())[1 - KEPT :], (standing.turn, text)]
        for name, text in ledgers.d_turn_summary.items()
        if text
    }
    return Remembered({**standing.history, **compressed}, {**standing.summaries, **summed_up})
