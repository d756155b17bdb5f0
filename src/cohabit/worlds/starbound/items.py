"""Items: what they are for, what they are made of, and what they cost."""

from typing import Literal

from msgspec import Struct

Slot = Literal["weapon", "tool", "armor", "tech"]
SLOTS: tuple[Slot, ...] = ("weapon", "tool", "armor", "tech")
MAX_STACK = 99
PIXELS = "pixels"
MAX_PIXELS = 9999
FISTS = 4  # damage without a weapon


class Item(Struct, frozen=True, gc=False):
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


ITEMS = (
    Item("wood", places="plank", worth=1),
    Item("dirt", places="dirt"),
    Item("stone", places="stone", worth=1),
    Item("sand", places="sand"),
    Item("snow", places="snow"),
    Item("ice", places="ice"),
    Item("ash", places="ash"),
    Item("obsidian", places="obsidian", worth=4),
    Item("coal", fuel=2, worth=2),
    Item("iron", price=30, worth=6),
    Item("titanium", worth=15),
    Item("diamond", worth=40),
    Item("crystal", fuel=20, price=60, worth=12),
    Item("fiber", worth=1),
    Item("hide", worth=3),
    Item("core", worth=200),
    Item("berries", food=12, worth=1),
    Item("mushroom", food=8, worth=1),
    Item("meat", food=10, worth=2),
    Item("cooked_meat", food=40, price=20, worth=4),
    Item("bandage", heals=30, price=25, worth=4),
    Item("torch", places="torch", price=5),
    Item("ladder", places="ladder"),
    Item("platform", places="platform"),
    Item("campfire", places="campfire"),
    Item("workbench", places="workbench"),
    Item("furnace", places="furnace"),
    Item("anvil", places="anvil"),
    Item("bed", places="bed"),
    Item("wood_pickaxe", slot="tool", tier=1),
    Item("stone_pickaxe", slot="tool", tier=2),
    Item("iron_pickaxe", slot="tool", tier=3),
    Item("titanium_pickaxe", slot="tool", tier=4),
    Item("wood_sword", slot="weapon", damage=8),
    Item("stone_sword", slot="weapon", damage=11),
    Item("iron_sword", slot="weapon", damage=16),
    Item("titanium_sword", slot="weapon", damage=24),
    Item("hide_armor", slot="armor", defence=2),
    Item("fur_coat", slot="armor", defence=2, protects=("cold",)),
    Item("iron_armor", slot="armor", defence=5),
    Item("hazard_suit", slot="armor", defence=6, protects=("cold", "heat", "poison")),
    Item("dash", slot="tech"),
    Item("double_jump", slot="tech"),
    Item(PIXELS),
)
ITEM = {item.name: item for item in ITEMS}
ITEM_NAMES = tuple(ITEM)
PLACEABLE = tuple(item.name for item in ITEMS if item.places)
EDIBLE = tuple(item.name for item in ITEMS if item.food or item.heals)
FOR_SALE = tuple(item.name for item in ITEMS if item.price)
SWORDS = ("wood_sword", "stone_sword", "iron_sword", "titanium_sword")


class Recipe(Struct, frozen=True, gc=False):
    """How an item is made. ``station``: the tile that must be near; empty: by hand."""

    item: str
    needs: dict[str, int]
    station: str = ""
    gives: int = 1


RECIPES = (
    Recipe("workbench", {"wood": 5}),
    Recipe("torch", {"wood": 1, "coal": 1}, gives=4),
    Recipe("campfire", {"wood": 3, "stone": 2}),
    Recipe("ladder", {"wood": 1}, gives=3),
    Recipe("platform", {"wood": 1}, gives=3),
    Recipe("bandage", {"fiber": 3}),
    Recipe("wood_pickaxe", {"wood": 3}, "workbench"),
    Recipe("wood_sword", {"wood": 3}, "workbench"),
    Recipe("stone_pickaxe", {"wood": 2, "stone": 4}, "workbench"),
    Recipe("stone_sword", {"wood": 1, "stone": 4}, "workbench"),
    Recipe("furnace", {"stone": 10}, "workbench"),
    Recipe("bed", {"wood": 6, "fiber": 4}, "workbench"),
    Recipe("hide_armor", {"hide": 4}, "workbench"),
    Recipe("fur_coat", {"hide": 5, "fiber": 3}, "workbench"),
    Recipe("cooked_meat", {"meat": 1}, "campfire"),
    Recipe("anvil", {"iron": 2, "stone": 5, "coal": 1}, "furnace"),
    Recipe("iron_pickaxe", {"wood": 2, "iron": 3, "coal": 1}, "anvil"),
    Recipe("iron_sword", {"wood": 1, "iron": 4, "coal": 1}, "anvil"),
    Recipe("iron_armor", {"iron": 6, "coal": 2}, "anvil"),
    Recipe("titanium_pickaxe", {"wood": 2, "titanium": 4}, "anvil"),
    Recipe("titanium_sword", {"wood": 1, "titanium": 5}, "anvil"),
    Recipe("hazard_suit", {"titanium": 4, "hide": 3}, "anvil"),
    Recipe("dash", {"crystal": 3, "iron": 2}, "anvil"),
    Recipe("double_jump", {"crystal": 4, "iron": 2}, "anvil"),
)
RECIPE = {recipe.item: recipe for recipe in RECIPES}
STATION_FOR = {"campfire": ("campfire", "furnace")}
"""Stations that can stand in for another: a furnace cooks as well."""


def stations_of(recipe: Recipe) -> tuple[str, ...]:
    """The stations at which this can be made."""
    return STATION_FOR.get(recipe.station, (recipe.station,))


def limit(item: str) -> int:
    """How many of an item a body can carry."""
    return MAX_PIXELS if item == PIXELS else MAX_STACK
