"""Fog: nothing that a player can call reveals what its kingdom does not see."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohabit.room.visibility import feed
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.sight import seen_by

from .twins import ATHENA, opened, said, scramble, twin

READS = [
    ("get_world_state", {}), ("list_kingdoms", {}), ("list_kingdoms", {"include_wild": True}), ("list_cities", {}),
    ("list_cities", {"kingdom_id": 1}), ("list_cities", {"kingdom_id": 2}), ("list_cities", {"kingdom_id": 99}),
    ("query_actors", {}), ("query_actors", {"kingdom_id": 2}), ("query_actors", {"race": "elf"}),
    ("query_actors", {"race": "wolf"}), ("query_actors", {"kingdom_id": 1_000_002}),
    ("query_actors", {"in_rect": {"x": 0, "y": 0, "w": 128, "h": 128}}), ("query_actors", {"alive": False}),
    ("query_actors", {"limit": 1, "offset": 3}), ("get_ui_state", {}), ("list_powers", {}), ("view", {}),
    ("wait_for_turn", {"wait_ms": 0}), ("rules", {}), ("objective_status", {}), ("session_info", {}), ("whoami", {}),
    ("roster", {}), ("picture", {}), ("screenshot", {}), ("health", {}), ("list_speeds", {}), ("recv_messages", {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def rooms():
    """Two rooms that differ only where athena does not see."""
    one = opened()
    other = twin(one)
    scramble(other.world)
    return one, other


def test_the_two_rooms_really_differ_for_a_god(rooms):
    one, other = rooms
    assert said(one, "zeus", "list_cities") != said(other, "zeus", "list_cities")
    assert said(one, "zeus", "screenshot") != said(other, "zeus", "screenshot")
    assert said(one, "ares", "view") != said(other, "ares", "view")


@pytest.mark.parametrize(("command", "args"), READS, ids=lambda value: str(value))
def test_a_query_has_the_same_answer_whatever_the_fog_hides(rooms, command, args):
    one, other = rooms
    assert said(one, "athena", command, args) == said(other, "athena", command, args)


def test_every_read_command_of_the_room_is_covered_here(rooms):
    room = rooms[0]
    reads = {c.name for c in room.commands if not c.records and c.category in ("read", "meta", "bus", "discovery")}
    asked = {name for name, _ in READS} | {"get_tile", "list_tiles", "list_top_tiles", "list_actors"}
    assert reads - asked == {"audit"} & reads


def test_no_tile_reveals_what_the_fog_hides(rooms):
    one, other = rooms
    width, height = one.world.sim.land.width, one.world.sim.land.height
    places = [(x, y) for x in range(0, width, 5) for y in range(0, height, 5)]
    for x, y in places:
        assert said(one, "athena", "get_tile", {"x": x, "y": y}) == said(other, "athena", "get_tile", {"x": x, "y": y})


@pytest.mark.parametrize("power", list(POWERS))
def test_no_power_reveals_what_the_fog_hides(rooms, power):
    """Aimed at its own land, at a hidden city of the rival or at empty land, it gives the same answer and news."""
    one, other = rooms
    home = one.world.sim.cities_of(ATHENA)[0]
    hidden = np.flatnonzero(~seen_by(one.world.sim, ATHENA))
    rival = one.world.sim.cities_of(2)[0]
    places = [(home.x, home.y), (rival.x, rival.y), one.world.sim.land.xy(int(hidden[len(hidden) // 2]))]
    for x, y in places:
        args = {"power_id": power, "x": x, "y": y}
        assert said(twin(one), "athena", "invoke_power", args) == said(twin(other), "athena", "invoke_power", args)


ORDERS = [
    ("raid", {"kingdom_id": 2}), ("raid", {}), ("raid", {"kingdom_id": 3}), *(("raid", {"city_id": i}) for i in range(1, 6)),
    ("declare_war", {"kingdom_id": 3}), ("offer_peace", {"kingdom_id": 2}), ("muster", {"percent": 30}),
    ("fortify", {"on": True}), ("stand_down", {}),
]  # fmt: skip


@pytest.mark.parametrize(("order", "args"), ORDERS, ids=str)
def test_no_order_reveals_what_the_fog_hides(rooms, order, args):
    one, other = rooms
    assert said(twin(one), "athena", order, args) == said(twin(other), "athena", order, args)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.sampled_from(["rally", "settle", "spawn"]),
    x=st.integers(-5, 140),
    y=st.integers(-5, 140),
)
def test_no_target_of_an_order_reveals_what_the_fog_hides(rooms, order, x, y):
    one, other = rooms
    args = {"x": x, "y": y} | ({"entity_id": "human"} if order == "spawn" else {})
    assert said(twin(one), "athena", order, args) == said(twin(other), "athena", order, args)


def test_players_are_not_told_what_a_god_does_out_of_their_sight(rooms):
    room = twin(rooms[0])
    hidden = np.flatnonzero(~seen_by(room.world.sim, ATHENA) & ~seen_by(room.world.sim, 2))
    x, y = room.world.sim.land.xy(int(hidden[len(hidden) // 2]))
    athena = room.state.members["athena"]
    before = room.view(athena)
    for power in ("lightning", "meteorite", "wolf"):
        room.call("zeus", "invoke_power", {"power_id": power, "x": x, "y": y}, at=3000)
    told = [item for line in room.record.tail[-3:] for item in feed(line.entry, athena, room.eye(athena))]
    assert told == []
    assert room.view(athena) == before
