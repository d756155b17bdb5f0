"""Fog: nothing that a player can call reveals what its kingdom does not see."""

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.room.seeing.visibility import feed
from cohabit.worlds.kingdoms.names import city_id
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.sight import seen_by
from cohabit.worlds.kingdoms.tiles import CAN_GROW

from .twins import ATHENA, opened, said, scramble, twin

READS = [
    ("get_world_state", {}), ("map", {}), ("list_kingdoms", {}), ("list_kingdoms", {"include_wild": True}), ("list_cities", {}),
    ("list_cities", {"kingdom_id": 1}), ("list_cities", {"kingdom_id": 2}), ("list_cities", {"kingdom_id": 99}),
    ("query_actors", {}), ("query_actors", {"kingdom_id": 2}), ("query_actors", {"race": "elf"}),
    ("query_actors", {"race": "wolf"}), ("query_actors", {"kingdom_id": 1_000_002}),
    ("query_actors", {"in_rect": {"x": 0, "y": 0, "w": 128, "h": 128}}), ("query_actors", {"alive": False}),
    ("query_actors", {"limit": 1, "offset": 3}), ("get_ui_state", {}), ("list_powers", {}), ("view", {}),
    ("wait_for_turn", {"wait_ms": 0}), ("rules", {}), ("objective_status", {}), ("session_info", {}), ("whoami", {}),
    ("roster", {}), ("view_notes", {}), ("scene", {}), ("keys", {}), ("picture", {}), ("screenshot", {}), ("health", {}), ("list_speeds", {}), ("recv_messages", {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def rooms():
    """Two rooms that differ only where athena does not see."""
    made = opened()
    one, other = twin(made), twin(made)
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
    assert reads - asked == {"app_schemas", "app_view", "audit", "next_view", "requests"} & reads


def test_no_tile_reveals_what_the_fog_hides(rooms):
    one, other = rooms
    width, height = one.world.sim.land.width, one.world.sim.land.height
    places = [(x, y) for x in range(0, width, 5) for y in range(0, height, 5)]
    assert len(places) > 100
    for x, y in places:
        assert said(one, "athena", "get_tile", {"x": x, "y": y}) == said(other, "athena", "get_tile", {"x": x, "y": y})


@pytest.mark.sampled(kind=lambda power: POWERS[power].family)
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


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


# -- one state, forked ----------------------------------------------------------------------------
HIDDEN_DEEDS = [
    ("ares", "muster", {"percent": 44}), ("ares", "raid", {"kingdom_id": 1}), ("ares", "fortify", {"on": True}),
    ("ares", "spawn", {"entity_id": "RACE", "x": "X", "y": "Y", "count": 2, "adult": True}),
    ("ares", "invoke_power", {"power_id": "rain", "x": "X", "y": "Y", "radius": 3, "pulses": 3}),
    ("ares", "settle", {"x": "HIDDEN_X", "y": "HIDDEN_Y"}), ("ares", "rally", {"x": "X", "y": "Y"}), ("ares", "stand_down", {}),
    ("zeus", "spawn", {"entity_id": "dragon", "x": "X", "y": "Y", "count": 3}),
    ("zeus", "invoke_power", {"power_id": "bounty", "x": "X", "y": "Y"}),
    ("zeus", "invoke_power", {"power_id": "meteorite", "x": "HIDDEN_X", "y": "HIDDEN_Y"}),
    ("zeus", "paint_tile", {"x": "HIDDEN_X", "y": "HIDDEN_Y", "tile_id": "lava0", "radius": 2}),
]  # fmt: skip
"""What is done out of athena's sight: X, Y is the capital of ares. How many cities he has is public, so none falls."""
OWN_DEEDS = [
    ("spawn", {"entity_id": "RACE", "x": "X", "y": "Y", "count": 2, "adult": True}),
    ("invoke_power", {"power_id": "rain", "x": "X", "y": "Y", "radius": 6, "pulses": 2}),
    ("invoke_power", {"power_id": "fog", "x": "X", "y": "Y", "radius": 9}),
    ("raid", {"kingdom_id": 2}), ("raid", {"city_id": 3}), ("rally", {"x": "X", "y": "Y"}), ("muster", {"percent": 20}),
    ("offer_peace", {"kingdom_id": 2}), ("declare_war", {"kingdom_id": 3}), ("spawn", {"entity_id": "wolf", "x": 1, "y": 1}),
]  # fmt: skip


def filled(args, world, kingdom):
    """The arguments, with the race and the capital of a kingdom filled in."""
    realm = world.sim.kingdoms[kingdom]
    city = world.sim.cities[realm.capital]
    empty = (world.sim.land.city == 0) & CAN_GROW[world.sim.land.chart]
    land, seen = world.sim.land, seen_by(world.sim, ATHENA) | seen_by(world.sim, 2)
    x, y = next(at for at in map(land.xy, np.flatnonzero(empty).tolist()) if not seen[land.disc(*at, 14)].any())
    values = {"RACE": realm.race, "X": city.x, "Y": city.y, "HIDDEN_X": x, "HIDDEN_Y": y}
    return {name: values.get(value, value) for name, value in args.items()}


def everything_reachable(room, who, kingdom):
    """All that a member can read, then all that it gets for its own actions, and its feed."""
    width, height = room.world.sim.land.width, room.world.sim.land.height
    tiles = [("get_tile", {"x": x, "y": y}) for x in range(0, width, 16) for y in range(0, height, 16)]
    heard = [said(room, who, command, args) for command, args in (*READS, *tiles)]
    heard += [said(room, who, command, filled(args, room.world, kingdom)) for command, args in OWN_DEEDS]
    member = room.state.members[who]
    told = [item for line in room.record.tail for item in feed(line.entry, member, room.eye(member))]
    return [*heard, *(said(room, who, command, args) for command, args in READS), msgspec.json.encode(told).decode()]


@pytest.mark.sampled(kind=lambda command: command)
@pytest.mark.parametrize(("who", "command", "args"), HIDDEN_DEEDS, ids=str)
def test_until_the_next_tick_a_rivals_hidden_deed_changes_nothing_that_another_member_can_reach(
    rooms, who, command, args
):
    state = twin(rooms[0])
    state.world.sim.kingdoms[1].faith = state.world.sim.kingdoms[2].faith = 300
    state.world.sim.kingdoms[2].orders.muster = 30
    quiet, busy = twin(state), twin(state)
    for _ in range(3):
        busy.call(who, command, filled(args, busy.world, 2), at=1500)
    assert busy.world.snapshot() != quiet.world.snapshot(), "something was done"
    assert everything_reachable(busy, "athena", 1) == everything_reachable(quiet, "athena", 1)


def test_news_from_before_the_first_tick_is_not_told_as_the_result_of_the_next_command():
    room = opened(ticks=0)
    member = room.state.members["ares"]
    room.call("ares", "muster", {"percent": 20}, at=5)
    told = [item.text for item in feed(room.record.tail[-1].entry, member, room.eye(member))]
    assert told == [f"20 percent of the people of {room.world.sim.kingdoms[2].name} will be under arms."]


def test_names_and_ids_do_not_follow_from_numbers_that_a_player_could_try():
    """Worlds of neighbouring seeds, and neighbouring cities and creatures, have unrelated names and ids."""
    sims = [opened(seed, ticks=0).world.sim for seed in (5, 6)]
    ids = [[city_id(sim, city) for city in sim.cities.values()] for sim in sims]
    assert all(number > 2**32 for number in (*ids[0], *ids[1]))
    assert not set(ids[0]) & set(ids[1])
    shown = sims[0].creatures.public
    assert len(set(shown.tolist())) == len(shown)
    assert shown.max() < 2**53
    assert abs(np.diff(shown)).min() > 2**20


def test_a_generated_world_has_a_seed_of_128_bits():
    room = opened(ticks=0)
    room.call("zeus", "generate_world", {"zone_x": 2, "zone_y": 2}, at=5)
    room.system("ticks", {"n": 1}, 1000)
    assert room.world.sim.seed > 2**96
