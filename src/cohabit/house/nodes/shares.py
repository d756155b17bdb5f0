"""Which house of a cluster should have which room. Pure: every house computes the same from the same survey, and when
two surveys differ, leases decide.
"""

from collections import Counter
from collections.abc import Collection, Mapping

from cohabit.house.directory import FRONT, HOUSE_RECORD
from cohabit.house.store.cluster_contract import Survey


def counts_by_place(survey: Survey) -> dict[str, int]:
    """The number of rooms of each place that takes rooms: they are not draining, and a process that runs rooms is
    there. In the order of their names."""
    takes = {node.place for node in survey.nodes if node.node != FRONT and not node.is_draining}
    counts = Counter(held.place for room, held in survey.rooms.items() if room != HOUSE_RECORD)
    return {place: counts[place] for place in sorted(takes)}


def with_places(
    orphans: Mapping[str, str], counts: Mapping[str, int], together: Collection[str] = (), home: str | None = None
) -> dict[str, str]:
    """The place for each of these rooms: the one that it was released for, else the one with the fewest rooms.
    ``together``: those that travel, which go to one place, their ``home`` if they have one."""
    found, counts = {}, dict(counts)
    if not counts:
        return {}
    for room in sorted(orphans):
        wished, fewest = orphans[room], min(counts, key=lambda place: counts[place])
        place = wished if wished in counts else fewest
        if room in together and wished not in counts:
            place = home = home if home in counts else fewest
        counts[place] += 1
        found[room] = place
    return found


def home_of_travellers(survey: Survey, places: Collection[str]) -> str | None:
    """The place where the rooms that travel together should be: the one that has most of them."""
    counts = Counter(held.place for held in survey.rooms.values() if held.travels and held.place in places)
    return max(sorted(counts), key=lambda place: counts[place], default=None)


def surplus(place: str, counts: Mapping[str, int]) -> dict[str, int]:
    """The number of rooms that a place should give to which others, so that all have about the same."""
    if place not in counts:
        return {}
    share, given = sum(counts.values()) // len(counts), dict[str, int]()
    left = counts[place] - share
    for other in sorted(counts, key=lambda other: counts[other]):
        lacks = min(share - counts[other], left)
        if other != place and lacks > 0:
            given[other] = lacks
            left -= lacks
    return given
