"""Items: what they are for, what they are made of, and what they cost."""

from typing import Literal

from msgspec import Struct

from cohabit.model.table_files import read_table

Slot = Literal["weapon", "tool", "armor", "tech"]
SLOTS: tuple[Slot, ...] = ("weapon", "tool", "armor", "tech")
MAX_STACK = 99
PIXELS = "pixels"
MAX_PIXELS = 9999
FISTS = 4  # damage without a weapon


class Item(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One kind of item. A name that is also a tile's can be placed as that tile."""

    name: str
    slot: Slot | None = None
    tier: int = 0  # of a tool
    damage: int = 0
    defence: int = 0
    protects: tuple[str, ...] = ()  # from which hazards
    food: int = 0
    heals: int = 0
    fuel: int = 0
    places: str = ""  # the tile that it becomes
    price: int = 0  # in pixels, as the ship's shop sells it; 0: not for sale
    worth: int = 0  # in pixels, as the shop buys it
    colour: tuple[int, int, int] | None = None  # of its picture


class Recipe(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The recipe of an item. ``station``: the tile that must be near; empty: by hand."""

    item: str
    needs: dict[str, int]
    station: str = ""
    gives: int = 1


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    items: tuple[Item, ...]
    recipes: tuple[Recipe, ...]


_TABLE = read_table(__file__, _Table)
ITEMS, RECIPES = _TABLE.items, _TABLE.recipes
ITEM = {item.name: item for item in ITEMS}
ITEM_NAMES = tuple(ITEM)
PLACEABLE = tuple(item.name for item in ITEMS if item.places)
EDIBLE = tuple(item.name for item in ITEMS if item.food or item.heals)
FOR_SALE = tuple(item.name for item in ITEMS if item.price)
SWORDS = ("wood_sword", "stone_sword", "iron_sword", "titanium_sword")
RECIPE = {recipe.item: recipe for recipe in RECIPES}
STATION_FOR = {"campfire": ("campfire", "furnace")}
"""Stations that can stand in for another: a furnace cooks as well."""


def stations_of(recipe: Recipe) -> tuple[str, ...]:
    """The stations at which this can be made."""
    return STATION_FOR.get(recipe.station, (recipe.station,))


def limit(item: str) -> int:
    """The largest number of this item that a body can carry."""
    return MAX_PIXELS if item == PIXELS else MAX_STACK
