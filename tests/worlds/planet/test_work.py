"""Digging, building, crafting, wearing, eating, and the ship."""

import pytest
from tests.worlds.planet.playing import GROUND, body_of, do, flat, own, put

from cohabit.errors import UnknownAsset
from cohabit.model.seat import Eye, Seat
from cohabit.worlds.starbound.choices import Buyable, Craftable, Destination, Placeable
from cohabit.worlds.starbound.items import FOR_SALE, ITEM, ITEMS, PLACEABLE, RECIPE, RECIPES
from cohabit.worlds.starbound.planets import CREATURES, PLANET_NAMES
from cohabit.worlds.starbound.tiles import TILES


def test_stone_needs_a_pickaxe_and_gives_stone():
    world = flat()
    assert "wood_pickaxe" in do(world, "use_tool", direction="down").events[0][1]
    body = body_of(world)
    body.items, body.equipment = {"wood_pickaxe": 1}, {"tool": "wood_pickaxe"}
    do(world, "use_tool", direction="down_right")
    assert body.items["stone"] == 1
    assert world.game.land("verdant").at(101, GROUND) == 0


@pytest.mark.parametrize(("tile", "tool"), [("iron", "wood_pickaxe"), ("titanium", "stone_pickaxe")])
def test_better_ore_needs_a_better_pickaxe(tile, tool):
    world = flat()
    put(world, tile, (101, GROUND - 1))
    body = body_of(world)
    body.items, body.equipment = {tool: 1}, {"tool": tool}
    assert "needs" in do(world, "use_tool", direction="right").events[0][1]
    better = f"{'stone' if tile == 'iron' else 'iron'}_pickaxe"
    body.items, body.equipment = {better: 1}, {"tool": better}
    assert do(world, "use_tool", direction="right").items[tile] == 1


def test_a_tree_falls_as_a_whole_and_grows_again():
    world = flat()
    put(world, "tree", *[(101, GROUND - up) for up in (1, 2, 3)])
    assert do(world, "use_tool", direction="right").items["wood"] == 3
    assert world.game.land("verdant").at(101, GROUND - 3) == 0
    for _ in range(251):
        do(world, "wait")
    assert TILES[world.game.land("verdant").at(101, GROUND - 1)].name == "tree"


def test_water_flows_into_a_tile_that_was_dug_beside_it():
    world = flat()
    put(world, "water", (102, GROUND - 1))
    put(world, "dirt", (101, GROUND - 1))
    do(world, "use_tool", direction="right")
    assert TILES[world.game.land("verdant").at(101, GROUND - 1)].name == "water"


@pytest.mark.parametrize("digger", ["1", "2"])
def test_the_same_lump_counts_once_as_gathered_and_as_built_whoever_digs_it_up(digger):
    world = flat("ada", "bob")
    put(world, "dirt", (101, GROUND))
    body_of(world, "2").x = 102  # on the other side of it
    towards = {"1": "down_right", "2": "down_left"}
    do(world, "use_tool", "1", direction="down_right")
    for seat in [digger if turn % 2 else "1" for turn in range(8)]:
        one = body_of(world, seat)
        one.items, body_of(world, "2" if seat == "1" else "1").items = {"dirt": 1}, {}  # handed over
        do(world, "place", seat, item="dirt", direction=towards[seat])
        world.restore(world.snapshot())
        do(world, "use_tool", digger, direction=towards[digger])
        assert body_of(world, digger).items["dirt"] == 1
    ada, bob = body_of(world).tally, body_of(world, "2").tally
    assert (ada["gather"], ada["dig"], ada["build"], ada["place:dirt"] > 3) == (1, 1, 1, True)
    assert bob.keys().isdisjoint({"gather", "dig", "build"})


def test_a_building_counts_every_tile_that_its_builder_gathered_or_made():
    world = flat()
    body = body_of(world)
    body.items, body.equipment = {"wood": 1, "wood_pickaxe": 1}, {"tool": "wood_pickaxe"}
    do(world, "craft", item="ladder")
    for direction in ("left", "up_left", "right"):
        do(world, "place", item="ladder", direction=direction)
    for direction in ("down_left", "down_right"):
        do(world, "use_tool", direction=direction)
        do(world, "place", item="stone", direction=direction)
    assert body.tally["build"] == 5


def test_what_is_taken_down_and_placed_again_is_not_built_again():
    world = flat()
    body = body_of(world)
    body.items = {"wood": 1}
    do(world, "craft", item="ladder")
    for _ in range(3):  # it has three of them
        do(world, "place", item="ladder", direction="left")
        do(world, "use_tool", direction="left")
    assert (body.items["ladder"], body.tally["place:ladder"], body.tally["build"]) == (3, 3, 1)
    for direction in ("left", "up_left"):
        do(world, "place", item="ladder", direction=direction)
    assert body.tally["build"] == 2


def test_building_needs_something_to_hold_on_to_and_nobody_in_the_way():
    world = flat("ada", "bob")
    body = body_of(world)
    body.items = {"dirt": 3}
    assert "in the way" in do(world, "place", item="dirt", direction="right").events[0][1]
    assert "hold on" in do(world, "place", item="dirt", direction="up").events[0][1]
    assert body.items == {"dirt": 3}
    assert do(world, "place", item="dirt", direction="left").items == {"dirt": 2}


def test_tools_are_made_at_their_station_and_worn_at_once():
    world = flat()
    body = body_of(world)
    body.items = {"wood": 9}
    assert "workbench" in do(world, "craft", item="wood_pickaxe").events[0][1]
    do(world, "craft", item="workbench")
    do(world, "place", item="workbench", direction="right")
    do(world, "craft", item="wood_pickaxe")
    assert body.equipment == {"tool": "wood_pickaxe"}
    assert body.items["wood"] == 1
    assert world.deeds("1")["craft"] == 2


def test_what_cannot_be_paid_costs_nothing():
    world = flat()
    body = body_of(world)
    body.items = {"wood": 4}
    assert do(world, "craft", item="workbench").events[0][1] == (
        "craft failed: workbench needs 5 wood; you have 4 wood."
    )
    assert body.items == {"wood": 4}


def test_the_list_of_recipes_says_what_can_be_made_and_otherwise_what_is_missing():
    world = flat()
    body_of(world).items = {"wood": 5, "iron": 3, "coal": 1}
    now = {row["item"]: (row["needs"], row["now"]) for row in world.open_crafting(own())}
    assert now["workbench"] == ("5 wood", "craftable")
    assert now["stone_sword"] == ("1 wood, 4 stone", "you have 0 stone")
    assert now["iron_pickaxe"][1] == "iron_pickaxe is made within 3 tiles of an anvil"
    assert {row["now"] for row in world.open_crafting(Eye("1", "public"))} == {""}


def test_what_stands_in_the_way_has_an_article_and_a_material_has_none():
    world = flat()
    body_of(world).items = {"dirt": 1}
    put(world, "tree", (101, GROUND - 1))
    for direction, obstacle in (("right", "a tree"), ("down", "stone")):
        body = do(world, "place", item="dirt", direction=direction)
        assert body.events[0][1] == f"place failed: {obstacle} is in the way."


def test_interacting_with_nothing_says_that_there_is_nothing():
    world = flat()
    assert do(world, "interact").events[0][1] == "interact failed: there is nothing to interact with within 2 tiles."
    assert do(world, "interact", target="bed").events[0][1] == "interact failed: there is no bed within 2 tiles."


def test_items_are_named_or_numbered():
    world = flat()
    body = body_of(world)
    body.items, body.food = {"wood": 1, "berries": 2}, 50
    do(world, "consume", item="2")
    assert body.items == {"wood": 1, "berries": 1}
    assert body.food == 62
    with pytest.raises(UnknownAsset, match="unknown item"):
        world.consume(Seat("1"), "beries")


def test_use_item_does_what_an_item_is_for():
    world = flat()
    body = body_of(world)
    body.items, body.health = {"bandage": 1, "wood_sword": 1, "torch": 1}, 50
    for slot in ("bandage", "wood_sword", "torch"):
        do(world, "use_item", slot=slot)
    assert body.health >= 80
    assert body.equipment == {"weapon": "wood_sword"}
    assert TILES[world.game.land("verdant").at(101, GROUND - 1)].name == "torch"
    do(world, "unequip", slot="weapon")
    assert body.equipment == {}


def test_dropped_items_can_be_taken_by_another_player():
    world = flat("ada", "bob")
    body_of(world).items = {"iron": 3}
    do(world, "drop_item", slot="iron", count=2)
    do(world, "interact", "2")
    assert body_of(world).items == {"iron": 1}
    assert body_of(world, "2").items == {"iron": 2}


def test_a_ship_flies_for_fuel_and_lands_on_another_planet():
    world = flat()
    body = body_of(world)
    body.items = {"coal": 5}
    do(world, "beam_up")
    assert "10 fuel" in do(world, "warp", destination="dune").events[0][1]
    do(world, "consume", item="coal", count=5)
    do(world, "warp", destination="dune")
    do(world, "beam_down")
    assert (body.place, body.fuel) == ("dune", 0)
    assert world.deeds("1")["planets"] == 2
    assert "space_traveller" in body.achievements


def test_a_roof_blocks_the_beam():
    world = flat()
    put(world, "stone", (100, GROUND - 4))
    assert "open sky" in do(world, "beam_up").events[0][1]


def test_the_locker_keeps_items_and_the_shop_trades_for_pixels():
    world = flat()
    body = body_of(world)
    body.items, body.price = {"diamond": 2, "wood": 1}, 0.8
    do(world, "beam_up")
    do(world, "store", item="diamond")
    do(world, "sell", item="diamond")
    assert body.locker == {"diamond": 1}
    assert body.items["pixels"] == 40 * 1.2
    do(world, "buy", item="bandage")
    assert body.items["pixels"] == 28
    do(world, "sell", item="bandage")
    assert body.tally["trade"] == 2, "each kind of item counts once"
    do(world, "fetch", item="diamond")
    assert body.items["diamond"] == 1


def test_the_declared_choices_are_those_of_the_tables():
    def names(literal):
        return set(literal.__args__)

    assert names(Craftable) == set(RECIPE)
    assert names(Placeable) == set(PLACEABLE)
    assert names(Buyable) == set(FOR_SALE)
    assert names(Destination) == {"ship", "surface", *PLANET_NAMES}


def test_every_name_in_a_table_exists():
    assert {item for recipe in RECIPES for item in recipe.needs} <= set(ITEM)
    assert {recipe.station for recipe in RECIPES if recipe.station} <= {tile.name for tile in TILES}
    assert {item.places for item in ITEMS if item.places} <= {tile.name for tile in TILES}
    assert {tile.drop for tile in TILES if tile.drop} <= set(ITEM)
    assert {item for kind in CREATURES for item, _ in kind.drops} <= set(ITEM)
    assert {planet for kind in CREATURES for planet in kind.planets} <= set(PLANET_NAMES)
    assert len({tile.letter for tile in TILES}) == len(TILES)
