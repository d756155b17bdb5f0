import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import CohabitError
from cohabit.registry import make_agent, make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import Eye, GameRejected, OutOfBounds, Seat, Stream, UnknownAsset
from cohabit.worlds.island import LAND, SEA, make_island
from cohabit.worlds.lanterns import (
    LEGEND,
    LIGHTING_OIL,
    MAX_CARRIED_OIL,
    MAX_TOWER_OIL,
    TOWER_TICKS_PER_OIL,
    Barrel,
    Lanterns,
)

SEATS = [Seat(name, name) for name in Lanterns.spec.seat_names]
AMBER, BLUE = SEATS[:2]


def lanterns(players: int = 2, seed: int = 1, **config: int) -> Lanterns:
    world = Lanterns(**config)
    world.reset(seed, SEATS[:players])
    return world


def put(world: Lanterns, seat: Seat, cell: int) -> None:
    """Move a keeper to a cell at once."""
    world.keepers[seat.id].at = cell
    world.keepers[seat.id].path = []


def seen(world: Lanterns, eye: Eye, kind: str) -> list[str]:
    return [e.name for e in world.observe(eye).nearby_entities if e.type == kind and e.name]


def own(seat: Seat) -> Eye:
    return Eye(seat.id, "own")


# -- the island ---------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(20))
def test_all_land_is_reachable_and_the_border_is_sea(seed):
    island = lanterns(4, seed).island
    land = island.land()
    assert sorted(island.ways(land[0])) == land
    end = island.size - 1
    for cell, ground in enumerate(island.ground):
        x, y = island.xy(cell)
        assert ground == SEA or (0 < x < end and 0 < y < end)


@given(st.integers(0, 2**32), st.integers(9, 15))
def test_an_island_of_any_size_has_room_for_everybody(seed: int, size: int) -> None:
    assert len(make_island(Stream(seed, "island"), size).land()) >= 9


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("size", range(9, 16))
def test_every_keeper_starts_at_its_own_burning_tower_on_land(players, size):
    world = lanterns(players, size=size)
    cells = [t.at for t in world.towers]
    assert len(dict.fromkeys(cells)) == len(cells) == 2 * players + 1
    assert all(world.island.ground[cell] == LAND for cell in cells)
    for seat, tower in zip(world.order, world.towers, strict=False):
        assert (tower.holder, tower.at) == (seat, world.keepers[seat].at)


# -- walking ------------------------------------------------------------------------------------
def test_a_keeper_walks_one_cell_per_tick_and_stops_at_its_destination():
    world = lanterns()
    start, goal = world.keepers["amber"].at, world.towers[1].at
    world.go(AMBER, "T2")
    path = list(world.keepers["amber"].path)
    world.advance(1)
    assert world.keepers["amber"].at == path[0]
    assert world.island.far(start, path[0]) == 1
    world.advance(len(path) + 5)
    assert world.keepers["amber"].at == goal


def test_a_walk_of_one_tick_is_told_in_the_singular():
    world = lanterns()
    beside = next(cell for cell in world.island.land() if world.island.far(world.keepers["amber"].at, cell) == 1)
    x, y = world.island.xy(beside)
    assert world.walk(AMBER, x, y).message == f"You set out for {x},{y}, 1 tick away."


def test_a_walking_keeper_can_change_its_destination_or_halt():
    world = lanterns()
    world.go(AMBER, "T2")
    world.advance(2)
    x, y = world.island.xy(world.towers[0].at)
    world.walk(AMBER, x, y)
    assert len(world.keepers["amber"].path) == 2
    world.halt(AMBER)
    here = world.keepers["amber"].at
    world.advance(3)
    assert world.keepers["amber"].at == here


def test_a_keeper_cannot_walk_to_the_sea_or_off_the_chart():
    world = lanterns()
    before = world.snapshot()
    with pytest.raises(GameRejected, match="0,0 is sea; choose a land cell"):
        world.walk(AMBER, 0, 0)
    for x, y in ((-1, 3), (3, 13)):
        with pytest.raises(OutOfBounds, match="0,0 to 12,12"):
            world.walk(AMBER, x, y)
    assert world.snapshot() == before


# -- oil and towers -----------------------------------------------------------------------------
def test_a_keeper_gathers_oil_beside_a_barrel_up_to_the_maximum_it_can_carry():
    world = lanterns()
    barrel = Barrel("O99", world.keepers["amber"].at, MAX_CARRIED_OIL)
    world.barrels = [barrel]
    carried = world.keepers["amber"].oil
    world.gather(AMBER)
    assert world.keepers["amber"].oil == MAX_CARRIED_OIL
    assert [b.oil for b in world.barrels] == [carried]
    with pytest.raises(GameRejected, match="the maximum"):
        world.gather(AMBER)
    world.keepers["amber"].oil = 0
    world.gather(AMBER)
    assert world.barrels == []
    with pytest.raises(GameRejected, match="no oil beside you"):
        world.gather(AMBER)


def test_lighting_a_dark_tower_costs_oil_and_claims_the_land_around():
    world = lanterns()
    dark = world.towers[-1]
    put(world, AMBER, dark.at)
    land, oil = world._land()["amber"], world.keepers["amber"].oil
    outcome = world.light(AMBER, dark.name)
    assert (dark.holder, dark.oil) == ("amber", LIGHTING_OIL)
    assert world.keepers["amber"].oil == oil - LIGHTING_OIL
    assert world._land()["amber"] > land
    assert [told.text for told in outcome.told] == [f"{dark.name} burns for amber"]


def test_a_tower_burns_out_unless_it_is_refilled():
    world = lanterns()
    home = world.towers[0]
    world.advance(TOWER_TICKS_PER_OIL * (MAX_TOWER_OIL - 1))
    assert (home.holder, home.oil) == ("amber", 1)
    world.light(AMBER, home.name)
    assert home.oil == 1 + LIGHTING_OIL
    told = world.advance(TOWER_TICKS_PER_OIL * (1 + LIGHTING_OIL))
    assert home.holder == ""
    assert "T1 has burnt out" in [t.text for t in told]


def test_a_tower_is_lit_only_from_beside_it_and_with_enough_oil():
    world = lanterns()
    dark = world.towers[-1]
    with pytest.raises(GameRejected, match="not beside you"):
        world.light(AMBER, dark.name)
    with pytest.raises(GameRejected, match="is full"):
        world.light(AMBER, "T1")
    put(world, AMBER, dark.at)
    world.keepers["amber"].oil = LIGHTING_OIL - 1
    with pytest.raises(GameRejected, match="gather some"):
        world.light(AMBER, dark.name)
    with pytest.raises(UnknownAsset) as refusal:
        world.light(AMBER, "T44")
    assert "T4" in refusal.value.did_you_mean


def test_a_rivals_tower_can_be_doused_only_from_beside_it():
    world = lanterns()
    with pytest.raises(GameRejected, match="not beside you"):
        world.douse(AMBER, "T2")
    put(world, AMBER, world.towers[1].at)
    world.douse(AMBER, "T2")
    assert world.towers[1].holder == ""
    with pytest.raises(GameRejected, match="already dark"):
        world.douse(AMBER, "T2")
    world.light(AMBER, "T2")
    with pytest.raises(GameRejected, match="burns for you"):
        world.douse(AMBER, "T2")


def test_a_rivals_tower_is_out_of_scope_except_to_douse_it_from_beside_it():
    world = lanterns()
    far, free = {"tower": "T2"}, {"tower": world.towers[-1].name}
    assert "not beside it" in (world.scope(AMBER, "douse", far) or "")
    assert "douse it" in (world.scope(AMBER, "light", far) or "")
    assert world.scope(AMBER, "light", free) is None
    assert world.scope(AMBER, "light", {"tower": "T1"}) is None
    assert world.scope(AMBER, "go", {"to": "T2"}) is None
    put(world, AMBER, world.towers[1].at)
    assert world.scope(AMBER, "douse", far) is None
    assert world.scope(AMBER, "light", far) is not None


def test_land_equally_near_to_two_rivals_belongs_to_nobody():
    world = lanterns()
    one, other = world.towers[:2]
    row = next(c for c in world.island.land() if all(world.island.ground[c + i] == LAND for i in range(5)))
    one.at, other.at = row, row + 4
    between = [c for c in (row + 2 - 13, row + 2, row + 2 + 13) if world.island.ground[c] == LAND]
    separate = world._land()
    other.holder = "amber"
    assert world._land()["amber"] == separate["amber"] + separate["blue"] + len(between)


def test_the_seed_decides_where_oil_washes_ashore():
    def shores(seed: int) -> list[int]:
        world = lanterns(seed=seed)
        world.barrels = []
        world.advance(60)
        return [b.at for b in world.barrels]

    assert shores(1) == shores(1) != shores(2)
    assert len(shores(1)) == 6


# -- the end ------------------------------------------------------------------------------------
def test_the_game_ends_at_dawn_and_time_stops():
    world = lanterns(ticks=30)
    told = world.advance(100)
    assert world.to_move() == []
    assert world.tick == 30
    assert told[-1].text.startswith("the game is over: ")
    before = world.snapshot()
    assert list(world.advance(10)) == []
    assert world.snapshot() == before


def test_the_game_ends_when_all_towers_burn_for_one_keeper():
    world = lanterns()
    for tower in world.towers[1:-1]:
        tower.holder, tower.oil = "amber", 3
    put(world, AMBER, world.towers[-1].at)
    assert world.to_move() == ["amber", "blue"]
    outcome = world.light(AMBER, world.towers[-1].name)
    assert world.to_move() == []
    assert outcome.told[-1].text.startswith("the game is over: amber won with")


def test_the_text_says_why_a_keeper_has_no_land_and_how_the_game_has_ended():
    world = lanterns()
    keeper, public = own(AMBER), Eye()
    assert world.observe(keeper).text.endswith(LEGEND)
    world.storm(None, "T1")
    assert world.observe(keeper).text.endswith(
        "\nNow no tower burns for you, so you hold no land. You can light a dark tower beside you for 4 oil."
    )
    assert world.observe(own(BLUE)).text.endswith(LEGEND)
    world.advance(world.ticks)
    for eye in (keeper, public):
        text = world.observe(eye).text
        assert text.endswith("\nIt is dawn, and no tower burns. So nobody holds land, and the game is a draw.")

    world = lanterns()
    world.storm(None, "T1")
    for tower in world.towers:
        tower.holder, tower.oil = "blue", 12
    world.land = world._land()
    world.advance(1)
    ending = f"\nAll towers burn for one keeper. The land decides: blue {world.land['blue']}, amber 0"
    assert world.observe(keeper).text.endswith(f"{ending}; no tower burns for you, so you hold no land.")
    assert world.observe(public).text.endswith(f"{ending}.")


def test_many_ticks_at_once_give_the_same_state_as_one_by_one():
    one, other = lanterns(), lanterns()
    for world in (one, other):
        world.go(AMBER, "T2")
    one.advance(50)
    for _ in range(50):
        other.advance(1)
    assert one.snapshot() == other.snapshot()


# -- fog ----------------------------------------------------------------------------------------
def test_fog_hides_keepers_and_oil_beyond_the_light():
    world = lanterns()
    assert seen(world, own(AMBER), "keeper") == []
    assert seen(world, Eye(), "keeper") == seen(world, Eye(), "oil") == []
    assert seen(world, Eye(sees="all"), "keeper") == ["amber", "blue"]
    assert seen(world, Eye("amber", "all"), "keeper") == ["blue"]
    near = [b.name for b in world.barrels if b.name in seen(world, own(AMBER), "oil")]
    assert 0 < len(near) < len(seen(world, Eye(sees="all"), "oil"))


def test_a_rival_is_visible_in_the_light_of_the_own_lantern_and_towers():
    world = lanterns()
    put(world, BLUE, world.keepers["amber"].at)
    assert seen(world, own(AMBER), "keeper") == ["blue"]
    put(world, AMBER, world.towers[1].at)  # far away, but T1 still burns for amber where blue stands
    assert seen(world, own(AMBER), "keeper") == ["blue"]
    world.towers[0].holder = ""
    assert seen(world, own(AMBER), "keeper") == []


def test_the_light_gets_smaller_at_night_and_without_oil():
    world = lanterns(ticks=90)
    radii = []
    for _ in range(3):
        world.keepers["amber"].oil = 5
        radii.append(world.observe(own(AMBER)).status["light"])
        world.advance(30)
    assert radii == [4, 3, 2]
    world.keepers["amber"].oil = 0
    assert world.observe(own(AMBER)).status["light"] == 1


def test_hidden_changes_do_not_change_what_others_see():
    world = lanterns()
    shown = [world.observe(eye) for eye in (own(AMBER), Eye())]
    drawn = [world.picture(eye) for eye in (own(AMBER), Eye())]
    world.keepers["blue"].oil = 1
    world.go(BLUE, "T4")
    world.barrels = [b for b in world.barrels if b.name in seen(world, own(AMBER), "oil")]
    world.keepers["blue"].at = world.keepers["blue"].path[0]
    assert [world.observe(eye) for eye in (own(AMBER), Eye())] == shown
    assert [world.picture(eye) for eye in (own(AMBER), Eye())] == drawn


def test_a_keeper_can_only_go_to_visible_things_and_a_refusal_reveals_nothing_hidden():
    world = lanterns()
    hidden = next(b.name for b in world.barrels if b.name not in seen(world, own(AMBER), "oil"))
    for name in ("blue", hidden, "nobody"):
        with pytest.raises(UnknownAsset, match="you see nothing called") as refusal:
            world.go(AMBER, name)
        assert not {"blue", hidden} & set(refusal.value.did_you_mean)


def test_private_events_are_told_to_their_keeper_only():
    world = lanterns()
    assert [told.seats for told in world.halt(AMBER).told] == [("amber",)]
    world.keepers["amber"].oil = 1
    told = world.advance(10)
    assert [(t.text, t.seats) for t in told] == [("your lantern goes dark", ("amber",))]
    events = [[e.description for e in world.observe(eye).recent_events] for eye in (own(AMBER), own(BLUE), Eye())]
    assert events == [["tick 10: your lantern goes dark"], [], []]


# -- text and pictures --------------------------------------------------------------------------
def test_the_text_contains_what_a_player_needs():
    text = lanterns().observe(own(AMBER)).to_text()
    for part in ("@", "@ you", "your_towers: T1 72", "oil: 12", "T2 (tower", "burns for blue", "dawn_in: 240"):
        assert part in text


def test_a_picture_is_a_png_of_the_right_size():
    data = lanterns().picture(own(AMBER))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (156, 156)
    at, names, pixels = 8, [], b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + body)
        names.append(name)
        pixels += body if name == b"IDAT" else b""
        at += 12 + length
    assert names == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    assert len(zlib.decompress(pixels)) == 156 * 157


def test_goals_and_standings_show_the_leader():
    world = lanterns()
    world.storm(None, world.towers[1].name)
    assert [(s.seat, s.score > 0) for s in world.standings()] == [("amber", True), ("blue", False)]
    assert "you 0" in (world.goals(BLUE)[0].progress or "")


@given(st.integers(0, 2**32), st.integers(2, 4), st.data())
def test_the_return_of_a_keeper_is_the_land_it_has_won_since_the_start(seed, players, data):
    world = lanterns(players, seed)
    begun = world._land()
    assert set(world.returns().values()) == {0}
    for _ in range(data.draw(st.integers(0, 40))):
        seat = data.draw(st.sampled_from(SEATS[:players]))
        deed = data.draw(st.sampled_from(["walk to", "light", "douse", "storm", "time"]))
        tower = data.draw(st.sampled_from(world.towers))
        if deed == "walk to":
            put(world, seat, tower.at)
        elif deed == "time":
            world.advance(data.draw(st.integers(1, 20)))
        else:
            try:
                world.storm(None, tower.name) if deed == "storm" else getattr(world, deed)(seat, tower.name)
            except CohabitError:
                continue
        assert world.returns() == {s: n - begun[s] for s, n in world._land().items()}
        assert world.land == world._land()


# -- in a room ----------------------------------------------------------------------------------
def room(partial_intel: bool = True, seed: int = 1, **config: int) -> Room:
    world = make_world("lanterns", config)
    ann = AgentSpec(id="ann", role="player", claim="auto:0")
    ben = AgentSpec(id="ben", role="player", claim="auto:1")
    agents = [ann, ben, AgentSpec(id="zeus", role="god")]
    scenario = Scenario(agents=agents, world="lanterns", config=config, partial_intel=partial_intel)
    return Room.create(opening_state(scenario, world, "lanterns", "test", seed, "00" * 16), world, 0)


@pytest.mark.parametrize("partial_intel", [True, False])
def test_the_rules_hide_what_is_in_the_dark_whatever_the_scenario_says(partial_intel):
    opened = room(partial_intel)
    view = opened.view(opened.state.members["ann"])
    types = {entity.type for entity in view.observation.nearby_entities}
    assert "tower" in types
    assert "keeper" not in types


@pytest.mark.parametrize("partial_intel", [True, False])
@pytest.mark.parametrize("ticks", [0, 40, 120])
def test_a_keeper_can_go_to_everything_that_its_view_lists(partial_intel, ticks):
    opened = room(partial_intel)
    opened.system("ticks", {"n": ticks}, 1)
    listed = [entity.name for entity in opened.view(opened.state.members["ann"]).observation.nearby_entities]
    assert listed
    for name in listed:
        assert opened.call("ann", "go", {"to": name}, at=2).success


def test_a_god_can_send_a_storm_and_a_player_cannot():
    opened = room()
    with pytest.raises(CohabitError) as refusal:
        opened.call("ann", "storm", {"tower": "T2"}, at=0)
    assert refusal.value.code == "PERMISSION_DENIED"
    opened.call("zeus", "storm", {"tower": "T2"}, at=0)
    assert [t.burns_for for t in opened.call("ann", "list_towers", at=0)][:2] == ["amber", None]


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_lamplighter_beats_a_random_player_from_either_seat(seed, seat):
    opened = room(seed=seed)
    names = ["lamplighter", "random"] if seat == 0 else ["random", "lamplighter"]
    brains = {who: make_agent(names[i], f"{seed}/{who}") for i, who in enumerate(("ann", "ben"))}
    at = 0
    while opened.world.to_move():
        at += 1000
        for who, brain in brains.items():
            if opened.world.to_move():
                action = brain.decide(opened.view(opened.state.members[who]).observation)
                opened.call(who, action.name, action.parameters, at=at)  # refused: the test fails
        opened.system("ticks", {"n": 1}, at)
    best = opened.world.standings()
    assert best[0].seat == ("amber", "blue")[seat]
    assert best[0].score > best[1].score
