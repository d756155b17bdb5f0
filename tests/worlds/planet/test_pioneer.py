"""The built-in player really plays."""

import pytest
from tests.worlds.planet.playing import own, planet

from cohabit.agents.brains.planet.pioneer import Pioneer
from cohabit.model.seat import Seat


def play(seed, steps, players=1):
    world = planet(*[f"p{n}" for n in range(players)], seed=seed)
    minds = {str(number): Pioneer(f"p{number}") for number in range(1, players + 1)}
    for _ in range(steps):
        for seat, mind in minds.items():
            if seat in world.to_move():
                action = mind.decide(world.observe_data(own(seat)))
                getattr(world, action.name)(Seat(seat), **action.parameters)
        world.resolve()
    return world


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_pioneer_makes_an_iron_pickaxe_and_visits_another_planet(seed):
    world = play(seed, 420)
    body = world.game.bodies[0]
    assert {"make_iron_pickaxe", "space_traveller", "survive_a_night"} <= set(body.achievements)
    assert body.tally.get("deaths", 0) == 0


def test_pioneers_share_a_planet():
    world = play(4, 150, players=3)
    assert len(world.game.bodies) == 3
    assert all(len(body.quests) >= 3 for body in world.game.bodies)
