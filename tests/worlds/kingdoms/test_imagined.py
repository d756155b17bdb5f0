"""``resample``: what an eye may not see is drawn again, and the eye cannot tell."""

from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cohabit.model.seat import ALL, PUBLIC, Eye
from cohabit.room.room import Room
from cohabit.world import Stream
from cohabit.worlds.kingdoms.invariants import first_violation
from cohabit.worlds.kingdoms.sight import seen_by

from .test_fog import READS
from .twins import ATHENA, opened, said, twin

OWN = Eye(str(ATHENA), "own")


@cache
def played(seed: int, ticks: int) -> Room:
    return opened(seed, ticks)


def imagined(room: Room, eye: Eye, draw: int) -> Room:
    other = twin(room)
    other.world.resample(eye, Stream(draw, "imagine"))
    return other


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(seed=st.sampled_from([5, 6]), ticks=st.sampled_from([0, 60, 600]), draw=st.integers(0, 2**63))
def test_an_eye_gets_the_same_to_the_byte_after_what_it_may_not_see_is_redrawn(seed, ticks, draw):
    both = twin(played(seed, ticks)), imagined(played(seed, ticks), OWN, draw)
    for room in both:
        room.counts_calls = room.checks_refusals = False  # it would notice that the world was redrawn
    width, height = both[0].world.sim.land.width, both[0].world.sim.land.height
    tiles = [("get_tile", {"x": x, "y": y}) for x in range(0, width, 9) for y in range(0, height, 9)]
    orders = [("raid", {"city_id": 3}), ("settle", {"x": 64, "y": 64}), ("rally", {"x": 30, "y": 90})]
    for command, args in (*READS, *tiles, *orders):
        mine, theirs = (said(room, "athena", command, args) for room in both)
        assert mine == theirs, command
    assert both[0].world.observe(PUBLIC) == both[1].world.observe(PUBLIC)
    assert both[0].world.standings() == both[1].world.standings()


@settings(max_examples=3, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(ticks=st.sampled_from([60, 600]), draw=st.integers(0, 2**63))
def test_a_redrawn_world_is_valid_differs_in_the_fog_and_can_be_played_on(ticks, draw):
    room = played(5, ticks)
    before = room.world.snapshot()
    other = imagined(room, OWN, draw)
    assert room.world.snapshot() == before, "only the copy is changed"
    assert first_violation(other.world.sim) is None
    assert said(room, "zeus", "query_actors") != said(other, "zeus", "query_actors")
    assert said(room, "zeus", "list_cities") != said(other, "zeus", "list_cities")
    assert said(room, "zeus", "screenshot") != said(other, "zeus", "screenshot")
    assert imagined(room, OWN, draw).world.snapshot() == other.world.snapshot()
    assert imagined(room, OWN, draw + 1).world.snapshot() != other.world.snapshot()
    other.system("ticks", {"n": 60}, 5000)
    assert first_violation(other.world.sim) is None


def test_the_hidden_city_of_a_rival_is_elsewhere_in_a_redrawn_world():
    room = opened(6, 60, config={"zones_x": 4, "zones_y": 4})
    places = set()
    for draw in range(6):
        sim = imagined(room, OWN, draw).world.sim
        city = sim.cities[sim.kingdoms[2].capital]
        places.add((city.x, city.y))
        assert sim.land.city[sim.land.cell(city.x, city.y)] == city.id
        assert sim.land.built[sim.land.cell(city.x, city.y)]
        people = np.flatnonzero(sim.creatures.city == city.id)
        assert len(people) > 10
        assert not seen_by(sim, ATHENA)[sim.land.cells(sim.creatures.x[people], sim.creatures.y[people])].any()
    assert len(places) > 3


def test_the_dice_of_a_redrawn_world_are_other_dice():
    """A player that searches ahead must not learn its own luck."""
    room = played(5, 60)
    futures = []
    for draw in range(2):
        other = imagined(room, OWN, draw)
        other.system("ticks", {"n": 40}, 5000)
        futures.append(said(other, "athena", "query_actors"))
    assert futures[0] != futures[1]


@pytest.mark.parametrize("eye", [ALL, Eye(str(ATHENA), "all")])
def test_nothing_is_redrawn_for_an_eye_that_sees_everything(eye):
    room = played(5, 60)
    assert imagined(room, eye, 1).world.snapshot() == room.world.snapshot()


def test_a_spectator_cannot_tell_a_redrawn_world_either():
    room = played(5, 60)
    other = imagined(room, PUBLIC, 3)
    assert other.world.snapshot() != room.world.snapshot()
    assert room.world.observe(PUBLIC) == other.world.observe(PUBLIC)
    assert room.world.picture(PUBLIC) == other.world.picture(PUBLIC)
