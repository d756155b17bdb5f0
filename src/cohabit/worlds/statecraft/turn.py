"""A turn: intake, then the phases in order. Pure: the standing that comes in is not changed."""

from typing import Any

from cohabit.worlds.statecraft.intake import take_in
from cohabit.worlds.statecraft.ledgers import Answers, Dropped, Ledgers, Standing, Turn
from cohabit.worlds.statecraft.phases import PHASES
from cohabit.worlds.statecraft.phases.closing import closing
from cohabit.worlds.statecraft.phases.history import history
from cohabit.worlds.statecraft.rules import Rules


def run_turn(standing: Standing, answers: Answers, rules: Rules) -> Turn:
    """What comes of these answers. The same answers in any order give the same turn; no answer can make it fail."""
    ledgers, dropped = take_in(standing, answers, rules)
    return resolve_intentions(standing, ledgers, dropped, rules)


def resolve_intentions(standing: Standing, ledgers: Ledgers, dropped: list[Dropped], rules: Rules) -> Turn:
    """The phases after intake. The ledgers are those of intake, and are filled here."""
    for phase in PHASES:
        _write(ledgers, phase(standing, ledgers, rules))
    end = closing(standing, ledgers, rules)
    _write(ledgers, end.written)
    remembered = history(standing, ledgers)
    gained = ledgers.d_total_welfare_this_turn
    after = Standing(
        turn=standing.turn + 1,
        mils=end.mils,
        territories=end.ceded.territories,
        welfare={name: standing.welfare.get(name, 0) + gain for name, gain in gained.items()},
        capitals=standing.capitals,
        graph=standing.graph,
        history=remembered.history,
        summaries=remembered.summaries,
    )
    return Turn(after, ledgers, dropped, end.ceded.done, end.ceded.refused)


def _write(ledgers: Ledgers, written: dict[str, Any]) -> None:
    for name, ledger in written.items():
        setattr(ledgers, name, ledger)
