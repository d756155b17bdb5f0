"""What front ends draw besides the view: nothing of it is hidden from the eye that gets it, and all that it needs is
there."""

import msgspec
import pytest

from cohabit.model.seat import ALL, PUBLIC, Eye, Seat
from cohabit.registry import make_world
from cohabit.world import Stream, World
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.shared import CrafterShared
from cohabit.worlds.starbound.items import ITEM
from cohabit.worlds.starbound.planet import Planet
from cohabit.worlds.starbound.planets import CREATURE
from cohabit.worlds.starbound.tiles import TILES

TILED = ("crafter", "crafter_shared", "planet")


def text(value: object) -> bytes:
    return msgspec.json.encode(value)


def played(name: str, steps: int = 20) -> World:
    world = make_world(name, {})
    seats = [Seat(seat, f"p{seat}") for seat in world.spec.seat_names or ("1", "2", "3")]
    world.reset(4, seats)
    draws = Stream(4, "moves")
    for _ in range(steps):
        for seat in seats:
            action = draws.choice([action for action in world.useful(seat) or () if action.name != "beam_up"])
            next(spec for spec in world.actions() if spec.name == action.name).run(seat, **action.parameters)
        if world.pace == "rounds":
            world.resolve()
    return world


def copy_of(world: World) -> World:
    copy = make_world(world.spec.name, {})
    copy.restore(world.snapshot())
    return copy


@pytest.mark.parametrize("name", TILED)
def test_a_scene_is_asked_for_without_a_change_of_the_world_and_is_the_same_each_time(name: str) -> None:
    world = played(name)
    for eye in (Eye("1" if name != "crafter" else "player", "own"), PUBLIC, ALL):
        before, first = world.snapshot(), text(world.scene(eye))
        assert text(world.scene(eye)) == first == text(copy_of(world).scene(eye))
        assert world.snapshot() == before


def test_what_a_player_of_crafter_does_not_see_is_not_in_its_scene() -> None:
    world = played("crafter_shared")
    other = copy_of(world)
    assert isinstance(other, CrafterShared)
    land, me = other.game.land, other.game.players[0]
    for player in other.game.players[1:]:
        near = abs(player.x - me.x) <= rules.VIEW_WIDTH // 2 and abs(player.y - me.y) <= rules.VIEW_HEIGHT // 2
        player.items, player.health, player.achievements = [5] * len(rules.ITEMS), 3, [1] * len(rules.ACHIEVEMENTS)
        if not near:
            player.dx, player.dy = -player.dx, -player.dy
    for x in range(land.width):
        for y in range(land.height):
            seen = abs(x - me.x) <= rules.VIEW_WIDTH // 2 and abs(y - me.y) <= rules.VIEW_HEIGHT // 2
            if not seen and land.at[land.cell(x, y)] is None:
                land.set_material(land.cell(x, y), rules.LAVA)
    eye = Eye("1", "own")
    assert text(other.scene(eye)) == text(world.scene(eye))
    assert text(other.observe(ALL)) != text(world.observe(ALL))


def test_a_player_of_crafter_gets_the_figure_of_another_only_while_it_sees_it() -> None:
    world = played("crafter_shared", 0)
    assert isinstance(world, CrafterShared)
    me, other = world.game.players[:2]
    eye = Eye("1", "own")
    for away, seen in ((rules.VIEW_WIDTH // 2, True), (rules.VIEW_WIDTH // 2 + 1, False)):
        other.x, other.y = me.x + away, me.y
        assert (other.name in world.scene(eye)["figures"]) is seen
    assert "figures" not in world.scene(PUBLIC)
    assert set(world.scene(ALL)["figures"]) == {"p1", "p2", "p3"}


def test_what_a_player_does_not_know_of_the_planets_is_not_in_its_scene() -> None:
    world = played("planet")
    for eye in (PUBLIC, *(Eye(seat, "own") for seat in ("1", "2", "3"))):
        everything = set()
        for number in range(4):
            copy = copy_of(world)
            copy.resample(eye, Stream(number, "test"))
            assert text(copy.scene(eye)) == text(world.scene(eye))
            everything.add(text(copy.scene(ALL)))
        assert len(everything) == 4


def test_the_light_of_a_planet_says_nothing_of_tiles_that_are_not_seen() -> None:
    world = played("planet")
    assert isinstance(world, Planet)
    world.game.step_number = 200  # at night it does not see the sky at the edges
    status, light = world.observe(Eye("1", "own")).status, world.scene(Eye("1", "own"))["light"]
    unseen = [(x, y) for y, row in enumerate(status["map"]) for x, letter in enumerate(row) if letter == " "]
    assert unseen
    assert {light["open"][y][x] for x, y in unseen} == {"0"}
    assert "1" in "".join(light["open"])


def test_a_layer_of_a_planet_changes_only_where_something_has_changed() -> None:
    world = played("planet")
    assert isinstance(world, Planet)
    before = world.scene(ALL)
    world.game.lands["verdant"].put(10, 90, 0)
    after = world.scene(ALL)
    assert [name for name in after if after[name] != before[name]] == ["land verdant 88"]


def test_there_are_drawings_of_everything() -> None:
    crafter = played("crafter", 0).scene(Eye("player", "own"))["drawings"]
    things = {rules.NAMES[kind] for kind in rules.FIRST_HEALTH}
    assert things | {"ripe plant", "front", "back", "side", "asleep"} <= crafter["figures"].keys()
    known = {*crafter["icons"], *crafter["figures"], *crafter["fixtures"]}
    deeds = {crafter["icon_of"].get(deed, deed.partition("_")[2]) for deed in rules.ACHIEVEMENTS}
    assert known >= {*rules.ITEMS, *rules.VITALS, *deeds}
    ground = {material for surface in crafter["surfaces"] for material in surface["materials"]}
    assert ground | set(crafter["fixtures"]) == set(rules.MATERIALS)
    planets = set(played("planet", 0).scene(PUBLIC)["sprites"]["names"])
    assert {f"tile {tile.name} 0" for tile in TILES if tile.name != "air"} <= planets
    assert {f"figure {name}" for name in CREATURE} | {f"item {name}" for name in ITEM} <= planets


@pytest.mark.parametrize("name", TILED)
def test_each_key_does_something_that_the_world_accepts(name: str) -> None:
    world = played(name, 0)
    declared = {spec.name for spec in world.actions() if spec.changes}
    assert {action.name for action in world.keys.values()} <= declared
    for key, action in world.keys.items():
        if not key.isdecimal() or name != "planet":  # the slots of a bag may be empty
            assert action in [*world.numbered(), *world.legal(Seat("1", "p1"))], key
