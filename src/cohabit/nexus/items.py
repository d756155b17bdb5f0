"""Portable items: what leaves a world, and as what it can enter another one.

An item that enters a world becomes an item of that world: its origin changes, its category stays the same, and its tier
stays the same or falls. So nobody can improve an item by carrying it around.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from cohabit.model.travel import Entering, Travel
from cohabit.nexus.values import PortableItem


def to_portable(world: str, travel: Travel, items: Mapping[str, int]) -> list[PortableItem]:
    """The items of this world that can leave it, as an agent carries them. Others are left out."""
    return [
        PortableItem(f"{world}:{name}", kind.category, kind.tier, items[name])
        for name, kind in sorted(travel.items.items())
        if items.get(name, 0) > 0
    ]


def pack(carried: Sequence[PortableItem], more: Iterable[PortableItem]) -> list[PortableItem]:
    """Both together, in a stable order: one entry for each origin."""
    packed = {(item.origin, item.category, item.tier): item for item in carried}
    for item in more:
        key = (item.origin, item.category, item.tier)
        packed[key] = replace(item, count=item.count + (packed[key].count if key in packed else 0))
    return [packed[key] for key in sorted(packed)]


def local_name(world: str, travel: Travel, item: PortableItem) -> str | None:
    """The item of this world that a carried item becomes; None if there is none.

    An item that returns to its own world is what it was. Another becomes the item of its category with the highest tier
    that is not above its own; where several have that tier, the one with the same name, or the first by name.
    """
    own = item.origin.removeprefix(f"{world}:")
    if own != item.origin and own in travel.items:
        return own
    fits = {
        name: kind for name, kind in travel.items.items() if kind.category == item.category and kind.tier <= item.tier
    }
    same = item.origin.rpartition(":")[2]
    return min(fits, key=lambda name: (-fits[name].tier, name != same, name), default=None)


def equivalents(
    world: str, travel: Travel, carried: Sequence[PortableItem], wanted: Mapping[str, int] | None = None
) -> tuple[Entering, ...]:
    """The carried items that can enter a world, and the items of that world that they become.

    ``wanted`` limits what is taken along, by origin; None: everything. Items that return to their own world come first,
    then those of the highest tier.
    """
    wish = dict(wanted) if wanted is not None else None
    found = []
    for item in sorted(carried, key=lambda one: (not one.origin.startswith(f"{world}:"), -one.tier, one.origin)):
        count = item.count if wish is None else min(item.count, wish.get(item.origin, 0))
        name = local_name(world, travel, item)
        if name is not None and count > 0:
            found.append(Entering(item.origin, name, count))
            if wish is not None:
                wish[item.origin] -= count
    return tuple(found)


def taken_of(entering: Sequence[Entering], taken: Mapping[str, int]) -> tuple[Entering, ...]:
    """The items that have really entered, if the body could take only this many of each item of its world."""
    left = dict(taken)
    found = []
    for one in entering:
        count = min(one.count, max(0, left.get(one.item, 0)))
        if count:
            left[one.item] -= count
            found.append(replace(one, count=count))
    return tuple(found)


def settle(carried: Sequence[PortableItem], used: Sequence[Entering]) -> list[PortableItem]:
    """The items still carried after some have entered a world. ``ValueError`` if those were not carried."""
    leaves: dict[str, int] = {}
    for one in used:
        leaves[one.origin] = leaves.get(one.origin, 0) + one.count
    kept = []
    for item in sorted(carried, key=lambda one: (one.origin, -one.tier)):
        goes = min(item.count, leaves.get(item.origin, 0))
        if goes:
            leaves[item.origin] -= goes
        if item.count > goes:
            kept.append(replace(item, count=item.count - goes))
    if missing := [f"{count} of {origin}" for origin, count in leaves.items() if count]:
        raise ValueError(f"not carried: {', '.join(missing)}")
    return pack(kept, ())
