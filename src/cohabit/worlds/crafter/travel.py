"""The skills that Crafter teaches, its items that can leave it, and the bonuses of skills from other worlds."""

from collections.abc import Sequence

from cohabit.model.table_files import read_table
from cohabit.model.travel import Travel
from cohabit.worlds.crafter.repeats import Repeated
from cohabit.worlds.crafter.rules import ACHIEVEMENTS

TRAVEL = read_table(__file__, Travel)
GATHERED = ("collect_sapling", "collect_wood", "collect_stone", "collect_coal", "collect_iron", "collect_diamond")


def deeds_of(achievements: Sequence[int], repeated: Repeated) -> dict[str, int]:
    """The deeds of a player, from the counters of its achievements, in the order of ``ACHIEVEMENTS``.

    ``craft``, ``gather`` and ``defeat`` are the deeds that meta-goals ask for in every world. What is only repeated
    does not count, except that an achievement counts once.
    """
    counts = dict(zip(ACHIEVEMENTS, achievements, strict=True))
    gathered = sum(counts[name] for name in GATHERED) - repeated.lost - repeated.collected
    for name, again in (("collect_stone", repeated.collected), ("place_stone", repeated.placed)):
        counts[name] = max(min(1, counts[name]), counts[name] - again)
    sums = {
        "craft": sum(count for name, count in counts.items() if name.startswith("make_")),
        "gather": gathered,
        "defeat": counts["defeat_zombie"] + counts["defeat_skeleton"],
    }
    return {f"achievement:{name}": count for name, count in counts.items() if count} | {
        name: count for name, count in sums.items() if count
    }
