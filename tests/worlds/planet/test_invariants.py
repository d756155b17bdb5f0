"""What holds whatever players do."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.worlds.planet.playing import planet

from cohabit.model.seat import Seat
from cohabit.worlds.starbound.items import ITEM, limit
from cohabit.worlds.starbound.legal import NUMBERED
from cohabit.worlds.starbound.planets import HEIGHT, WIDTH
from cohabit.worlds.starbound.tiles import SOLID

STOCK = {
    "wood": 20, "stone": 20, "dirt": 20, "coal": 20, "iron": 12, "titanium": 9, "crystal": 9, "hide": 9, "fiber": 9,
    "meat": 3, "berries": 3, "bandage": 2, "pixels": 300, "iron_pickaxe": 1, "ladder": 9, "torch": 5, "bed": 1,
}  # fmt: skip


def check(world, before):
    assert len(world.game.bodies) == 2
    for body in world.game.bodies:
        land = world.game.land_of(body)
        assert 0 <= body.x < WIDTH
        assert 0 <= body.y < HEIGHT
        assert not SOLID[land.at(body.x, body.y)], (body.place, body.x, body.y)
        assert 0 <= body.health <= body.max_health
        assert (body.health == 0) == (not body.alive)
        assert all(0 <= vital <= 100 for vital in (body.energy, body.food, body.breath))
        assert all(0 < count <= limit(item) for item, count in body.items.items())
        assert all(item in body.items and ITEM[item].slot == slot for slot, item in body.equipment.items())
        deeds = world.deeds(body.seat)
        assert all(deeds.get(name, 0) >= count for name, count in before[body.seat].items())
    for land in world.game.lands.values():
        assert all(not SOLID[land.at(c.x, c.y)] for c in land.creatures)
        assert all(bundle.items for bundle in land.bundles)


@given(st.integers(0, 20), st.lists(st.tuples(*[st.integers(0, len(NUMBERED) - 1)] * 2), max_size=60))
@settings(max_examples=examples(40), deadline=None)
def test_bodies_stay_whole_and_in_the_open_whatever_players_choose(seed, rounds):
    world = planet("ada", "bob", seed=seed % 4, fighting=True, respawn_after=3)
    for body in world.game.bodies:
        body.items = dict(STOCK)
        body.equipment = {"tool": "iron_pickaxe"}
    for choices in rounds:
        before = {body.seat: dict(world.deeds(body.seat)) for body in world.game.bodies}
        for seat, number in zip(("1", "2"), choices, strict=True):
            action = NUMBERED[number]
            if world.is_alive(seat):
                getattr(world, action.name)(Seat(seat), **action.parameters)
        world.resolve()
        check(world, before)
