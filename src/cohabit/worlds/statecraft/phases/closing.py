"""Phase 8: the armies after the turn, and the land that changes hands."""

from typing import Any, NamedTuple

from cohabit.worlds.statecraft.cessions import Ceded, cede
from cohabit.worlds.statecraft.ledgers import Amounts, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules


class Closing(NamedTuple):
    """The ledgers that this phase adds, and the armies and the land of the next standing."""

    written: dict[str, Any]
    mils: Amounts
    ceded: Ceded


def closing(standing: Standing, ledgers: Ledgers, rules: Rules) -> Closing:
    mils: Amounts = {}
    voluntary: Amounts = {}
    total: Amounts = {}
    for name, forced in ledgers.d_mils_disbanded_upkeep.items():
        survived = max(standing.mils[name] - forced - ledgers.d_mils_lost_by_attacker[name], 0)
        army = survived + ledgers.d_mil_purchased[name]
        voluntary[name] = dismissed = min(ledgers.d_mils_disband_intent[name], army)
        mils[name] = army - dismissed
        total[name] = forced + dismissed
    written = {"d_mils_disbanded_voluntary": voluntary, "d_mils_disbanded_total": total}
    return Closing(written, mils, cede(standing, ledgers.d_territory_cession))
