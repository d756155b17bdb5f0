"""Kingdoms as a world of a room: new worlds, bad input, where players may aim, and the end of a match."""

import json

import pytest

from cohabit.errors import (
    BadArgs,
    CohabitError,
    GameRejected,
    OutOfBounds,
    PermissionDenied,
    ScopeViolation,
    UnknownAsset,
)
from cohabit.model.suggest import is_close
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.world import Eye, Seat
from cohabit.worlds.kingdoms.rules import realms
from cohabit.worlds.kingdoms.world import DIGEST_TICKS, REWARD_TICKS, Kingdoms

from .twins import opened, said


@pytest.fixture
def room() -> Room:
    return opened(ticks=20)


def ask(room: Room, who: str, command: str, **args: object) -> object:
    return room.call(who, command, args, at=2000)


# -- new worlds ---------------------------------------------------------------------------------------
def test_a_new_world_begins_at_the_next_tick_and_actions_are_refused_until_then(room):
    before = room.world.sim.seed
    answer = ask(room, "zeus", "generate_world", zone_x=3, zone_y=2)
    assert (answer.scheduled, answer.zone_x, answer.zone_y) == (True, 3, 2)
    assert ask(room, "zeus", "get_ui_state").world_loading
    for command, args in [
        ("generate_world", {}), ("spawn", {"entity_id": "wolf", "x": 60, "y": 60}), ("paint_tile", {"x": 1, "y": 1, "tile_id": "sand"}),
        ("invoke_power", {"power_id": "rain", "x": 60, "y": 60}),
    ]:  # fmt: skip
        with pytest.raises(GameRejected, match="loading"):
            ask(room, "zeus", command, **args)
    with pytest.raises(GameRejected, match="loading"):
        room.world.save()
    room.system("ticks", {"n": 1}, 3000)
    state = ask(room, "zeus", "get_world_state")
    assert (state.width, state.height) == (192, 128)
    assert room.world.sim.seed != before
    assert not ask(room, "zeus", "get_ui_state").world_loading


def test_in_a_paused_room_a_new_world_begins_at_once(room):
    ask(room, "zeus", "pause")
    ask(room, "zeus", "generate_world", zone_x=2, zone_y=3)
    assert ask(room, "zeus", "get_world_state").height == 192
    assert ask(room, "zeus", "get_world_state").paused


def test_players_keep_their_kingdoms_in_a_new_world(room):
    ask(room, "zeus", "generate_world")
    room.system("ticks", {"n": 1}, 3000)
    assert room.state.members["athena"].seat == "1"
    assert "You rule" in room.view(room.state.members["athena"]).text


def test_a_record_with_several_worlds_replays(room):
    ask(room, "zeus", "generate_world", zone_x=2, zone_y=2)
    room.system("ticks", {"n": 30}, 3000)
    ask(room, "zeus", "invoke_power", power_id="meteorite", x=64, y=64)
    rows = [(line.seq, line.body, line.digest) for line in room.record.tail]
    assert Room.replay(read_lines(rows, -1, GENESIS), make_world).digest() == room.digest()


# -- pictures -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("fog", [True, False])
def test_a_player_may_take_a_screenshot_unless_there_is_fog(fog):
    room = opened(ticks=0, partial_intel=fog)
    offered = ask(room, "athena", "rules").your_commands
    assert any("screenshot" in name for name in offered) is not fog
    if fog:
        with pytest.raises(PermissionDenied, match="fog hides") as refused:
            ask(room, "athena", "screenshot")
        assert refused.value.details["needs"] == ["read_all"]
    else:
        assert ask(room, "athena", "screenshot") == ask(room, "zeus", "screenshot")


# -- bad input ----------------------------------------------------------------------------------------
HUGE = 2**62
WRONG = [
    ("get_tile", {"x": -1, "y": 0}, OutOfBounds),
    ("get_tile", {"x": 128, "y": 0}, OutOfBounds),
    ("get_tile", {"x": HUGE, "y": HUGE}, OutOfBounds),
    ("get_tile", {"x": "1", "y": 0}, BadArgs),
    ("get_tile", {"x": 1.5, "y": 0}, BadArgs),
    ("get_tile", {}, BadArgs),
    ("spawn", {"entity_id": "wolv", "x": 1, "y": 1}, UnknownAsset),
    ("spawn", {"entity_id": "wolf", "x": -1, "y": 1}, OutOfBounds),
    ("spawn", {"entity_id": "nobody", "x": -1, "y": 1}, UnknownAsset),
    ("spawn", {"entity_id": "wolf", "x": 1, "y": 1, "count": 0}, BadArgs),
    ("spawn", {"entity_id": "wolf", "x": 1, "y": 1, "count": 101}, BadArgs),
    ("spawn", {"entity_id": "wolf", "x": 0, "y": 0}, GameRejected),
    ("paint_tile", {"x": 1, "y": 1}, BadArgs),
    ("paint_tile", {"x": 1, "y": 1, "tile_id": "sanf"}, UnknownAsset),
    ("paint_tile", {"x": 1, "y": 1, "top_id": "forrest"}, UnknownAsset),
    ("paint_tile", {"x": 1, "y": 1, "tile_id": "sand", "radius": 201}, BadArgs),
    ("invoke_power", {"power_id": "meteorit", "x": 1, "y": 1}, UnknownAsset),
    ("invoke_power", {"power_id": "meteorite", "x": 1, "y": 999}, OutOfBounds),
    ("invoke_power", {"power_id": "rain", "x": 1, "y": 1, "radius": 51}, BadArgs),
    ("invoke_power", {"power_id": "rain", "x": 1, "y": 1, "pulses": 201}, BadArgs),
    ("invoke_power", {"power_id": "rain", "x": 1, "y": 1, "x2": 5}, BadArgs),
    ("invoke_power", {"power_id": "rain", "x": 1, "y": 1, "x2": 5, "y2": 5}, BadArgs),
    ("invoke_power", {"power_id": "rain", "x": 1, "y": 1, "x2": 500, "y2": 5, "pulses": 3}, OutOfBounds),
    ("generate_world", {"zone_x": 1, "zone_y": 4}, BadArgs),
    ("generate_world", {"zone_x": 4, "zone_y": 17}, BadArgs),
    ("set_speed", {"speed_id": "x99"}, UnknownAsset),
    ("screenshot", {"format": "gif"}, BadArgs),
    ("screenshot", {"max_dimension": -1}, BadArgs),
    ("query_actors", {"offset": -1}, BadArgs),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "args", "error"), WRONG, ids=lambda v: json.dumps(v) if isinstance(v, dict) else str(v)
)
def test_bad_input_is_refused_with_its_code_and_changes_nothing(room, command, args, error):
    before = room.digest()
    with pytest.raises(CohabitError) as refused:
        ask(room, "zeus", command, **args)
    assert type(refused.value) is error
    assert room.digest() == before


@pytest.mark.parametrize(
    ("command", "args", "near"),
    [
        ("spawn", {"entity_id": "wolv", "x": 1, "y": 1}, "wolf"),
        ("paint_tile", {"x": 1, "y": 1, "tile_id": "sanf"}, "sand"),
        ("paint_tile", {"x": 1, "y": 1, "top_id": "forrest"}, "forest"),
        ("invoke_power", {"power_id": "meteorit", "x": 1, "y": 1}, "meteorite"),
    ],
)
def test_a_misspelled_name_is_answered_with_suggestions(room, command, args, near):
    with pytest.raises(UnknownAsset) as refused:
        ask(room, "zeus", command, **args)
    assert refused.value.did_you_mean[0] == near
    assert all(is_close(next(v for v in args.values() if v != 1), name) for name in refused.value.did_you_mean)


def test_painting_counts_cells_off_the_map_as_skipped(room):
    answer = ask(room, "zeus", "paint_tile", x=0, y=0, tile_id="sand", radius=2)
    assert (answer.painted, answer.skipped) == (6, 7)
    answer = ask(room, "zeus", "paint_tile", x=-HUGE, y=HUGE, tile_id="sand")
    assert (answer.painted, answer.skipped) == (0, 1)


# -- own land -----------------------------------------------------------------------------------------
def test_a_king_can_act_only_on_its_own_land(room):
    home, theirs = room.world.sim.cities_of(1)[0], room.world.sim.cities_of(2)[0]
    race = room.world.sim.kingdoms[1].race
    room.world.sim.kingdoms[1].faith = 100
    assert ask(room, "athena", "spawn", entity_id=race, x=home.x, y=home.y).spawned == 1
    for command, args in [
        ("spawn", {"entity_id": race, "x": theirs.x, "y": theirs.y}),
        ("spawn", {"entity_id": "dragon", "x": home.x, "y": home.y}),
        ("invoke_power", {"power_id": "rain", "x": theirs.x, "y": theirs.y}),
        ("invoke_power", {"power_id": "meteorite", "x": home.x, "y": home.y}),
        ("invoke_power", {"power_id": "dragon", "x": home.x, "y": home.y}),
    ]:
        with pytest.raises(ScopeViolation):
            ask(room, "athena", command, **args)


def test_a_power_without_an_effect_costs_no_faith_and_says_so(room):
    mine = room.world.sim.kingdoms[1]
    mine.faith = 100
    home = room.world.sim.cities[mine.capital]
    where = {"power_id": "thaw", "x": home.x, "y": home.y}  # there is no snow
    room.call("athena", "invoke_power", where, at=10)
    assert room.record.tail[-1].entry.told[0].text == f"thaw at {home.x},{home.y}: no effect, so it cost no faith"
    room.call("athena", "invoke_power", {**where, "pulses": 3}, at=10)
    assert "0 of 3 pulses had an effect; the others cost no faith" in room.record.tail[-1].entry.told[0].text
    assert mine.faith == 100


def test_the_reply_to_a_power_has_its_effect_and_the_faith_spent_and_left(room):
    sim = room.world.sim
    mine, home = sim.kingdoms[1], sim.cities_of(1)[0]
    mine.faith = 25
    sim.creatures.x[:], sim.creatures.y[:], sim.creatures.hp[:] = home.x, home.y, 1
    healed = ask(room, "athena", "invoke_power", power_id="heal", x=home.x, y=home.y)
    assert (healed.effect, healed.faith_spent, healed.faith_left) == ("Heals wounds.", 10, 15)
    nothing = ask(room, "athena", "invoke_power", power_id="thaw", x=home.x, y=home.y)
    assert (nothing.effect, nothing.faith_spent, nothing.faith_left) == (None, 0, 15)
    by_god = ask(room, "zeus", "invoke_power", power_id="heal", x=home.x, y=home.y)
    assert (by_god.faith_spent, by_god.faith_left) == (None, None)


def test_a_kings_actions_cost_faith_and_refused_ones_cost_nothing(room):
    mine, home = room.world.sim.kingdoms[1], room.world.sim.cities_of(1)[0]
    mine.faith = 25
    room.stored(room.snapshot())  # changed behind the record, so a rollback has to start from here
    spawned = ask(room, "athena", "spawn", entity_id=mine.race, x=home.x, y=home.y, count=2)
    assert (spawned.faith_spent, spawned.faith_left, mine.faith) == (20, 5, 5)
    with pytest.raises(GameRejected, match="faith"):
        ask(room, "athena", "spawn", entity_id=mine.race, x=home.x, y=home.y)
    assert room.world.sim.kingdoms[1].faith == 5


# -- the end ------------------------------------------------------------------------------------------
def test_a_match_is_over_when_one_of_the_claimed_kingdoms_is_left(room):
    assert not room.is_over()
    realms.end_kingdom(room.world.sim, room.world.sim.kingdoms[2], "a test")
    room.system("ticks", {"n": 1}, 3000)
    assert room.is_over()
    tick = room.world.sim.tick
    room.system("ticks", {"n": 10}, 4000)
    assert room.world.sim.tick == tick
    assert '"GAME_REJECTED"' in said(room, "athena", "muster", {"percent": 5}, at=5000)
    room.call("zeus", "rematch", at=6000)
    assert not room.is_over()


def test_the_end_of_an_unclaimed_kingdom_does_not_end_the_match(room):
    realms.end_kingdom(room.world.sim, room.world.sim.kingdoms[3], "a test")
    room.system("ticks", {"n": 1}, 3000)
    assert not room.is_over()


# -- rewards --------------------------------------------------------------------------------------
def test_in_real_time_rewards_are_counted_now_and_then_and_in_steps_after_each() -> None:
    world = Kingdoms(zones_x=2, zones_y=2)
    world.reset(3, [Seat("1", "a"), Seat("2", "b")])
    begun = {str(k.id): k.people for k in world.sim.alive}
    counted = set()
    while world.sim.tick < 2 * REWARD_TICKS:
        before = world.returns()
        world.advance(1)
        if world.returns() != before:
            counted.add(world.sim.tick)
            assert world.returns() == {str(k.id): k.people - begun[str(k.id)] for k in world.sim.alive}
    assert counted <= {REWARD_TICKS, 2 * REWARD_TICKS}
    assert counted
    world.advance(DIGEST_TICKS)
    assert world.returns() == {str(k.id): k.people - begun[str(k.id)] for k in world.sim.alive}


def test_a_world_that_is_loaded_gives_and_takes_no_rewards() -> None:
    world, larger = Kingdoms(zones_x=2, zones_y=2), Kingdoms(zones_x=2, zones_y=2)
    for each, ticks in ((world, 100), (larger, 400)):
        each.reset(3, [Seat("1", "a"), Seat("2", "b")])
        each.advance(ticks)
    before = world.returns()
    assert before != larger.returns()
    world.load(larger.save())
    world.advance(1)
    assert world.returns() == before
    assert [k.people for k in world.sim.alive] == [k.people for k in larger.sim.alive]


def test_the_view_of_sixteen_kings_can_be_made_before_the_first_tick() -> None:
    world = make_world("kingdoms", {"zones_x": 8, "zones_y": 8, "kingdoms": 16})
    world.reset(3, [Seat(str(number), str(number)) for number in range(16)])
    seats = world.seats_now()
    assert len(seats) == 16
    assert all(world.observe(Eye(seat.id, "own")).text for seat in seats)
