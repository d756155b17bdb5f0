"""The map of what a player has seen: only that, as it was seen last, and the same after a restart."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from cohabit.errors import GameRejected
from cohabit.model.seat import PUBLIC, Eye, Seat
from cohabit.registry import make_world
from cohabit.world import Stream, World
from cohabit.worlds.kingdoms.maps import CHARACTERS
from cohabit.worlds.seen_map import Letters, SavedMap, SeenMap

EXPLORERS = {"crafter": {"size": 24}, "crafter_shared": {"size": 24}, "planet": {}}
OWN = {"crafter": Eye("player", "own"), "crafter_shared": Eye("1", "own"), "planet": Eye("1", "own")}
GROUND = {"crafter": "ground", "crafter_shared": "ground", "planet": "map"}
PLAIN = Letters(" .#", {".": "grass", "#": "rock"}, frozenset({1}))


def begun(source: str, seed: int = 3) -> tuple[World, list[Seat]]:
    world = make_world(source, EXPLORERS[source])
    seats = [Seat("player", "player")] if source == "crafter" else [Seat("1", "ada"), Seat("2", "bob")]
    world.reset(seed, seats)
    return world, seats


def step(world: World, seats: list[Seat], draws: Stream) -> None:
    for seat in seats:
        if seat.id in world.to_move():
            chosen = draws.choice(world.legal(seat))
            spec = next(spec for spec in world.actions() if spec.name == chosen.name)
            spec.run(seat, **chosen.parameters)
    if world.pace == "rounds":
        world.resolve()


def cells_in_view(source: str, world: World) -> dict[tuple[int, int], str]:
    """What the player's own observation shows of the ground, by its place."""
    status = world.observe(OWN[source]).status
    rows, (x, y) = status[GROUND[source]], status["position"]
    left, up = len(rows[0]) // 2, len(rows) // 2
    found = {
        (x + column - left, y + row - up): letter
        for row, letters in enumerate(rows)
        for column, letter in enumerate(letters)
        if letter != " "
    }
    if source == "planet":
        if status["place"] != "verdant":  # aboard its ship
            return {}
        return {(x % 256, y): letter for (x, y), letter in found.items() if 0 <= y < 96}
    return found


def cells_on_map(shown: Any) -> dict[tuple[int, int], str]:
    (left, top), (width, _) = shown.corner, shown.size
    return {
        ((left + column) % width, top + row): letter
        for row, letters in enumerate(shown.rows)
        for column, letter in enumerate(letters)
        if letter != " "
    }


@pytest.mark.parametrize("source", EXPLORERS)
def test_a_map_has_all_that_a_player_was_shown_as_it_was_shown_last_and_nothing_else(source: str) -> None:
    world, seats = begun(source)
    draws, known = Stream(7, "moves"), cells_in_view(source, world)
    last: dict[tuple[int, int], int] = {}
    for number in range(41):
        if number:
            step(world, seats, draws)
        if world.observe(OWN[source]).status["health"] == 0:
            break
        now = cells_in_view(source, world)
        known |= now
        last |= {(x // 8, y // 8): number for x, y in now}
    assert len(known) > 100
    shown = world.map(OWN[source])  # type: ignore[attr-defined]
    assert shown.seen == len(known)
    assert cells_on_map(shown) == known | ({shown.you: "@"} if shown.you is not None else {})
    blocks = {(x, y): at for y, row in enumerate(shown.last_seen) for x, at in enumerate(row) if at >= 0}
    assert blocks == last


@pytest.mark.parametrize("source", EXPLORERS)
def test_looking_changes_nothing_and_a_restored_game_has_the_same_map(source: str) -> None:
    world, seats = begun(source)
    draws = Stream(7, "moves")
    for _ in range(15):
        step(world, seats, draws)
    saved = world.snapshot()
    shown = world.map(OWN[source])  # type: ignore[attr-defined]
    assert world.snapshot() == saved
    again = begun(source, seed=9)[0]
    again.restore(saved)
    assert again.map(OWN[source]) == shown  # type: ignore[attr-defined]


@pytest.mark.parametrize("source", ["crafter_shared", "planet"])
def test_what_others_see_is_on_their_own_maps_and_those_who_play_no_seat_have_none(source: str) -> None:
    world, seats = begun(source)
    shown = set(cells_in_view(source, world))
    draws = Stream(7, "moves")
    for _ in range(15):
        step(world, seats[1:], draws)
        shown |= set(cells_in_view(source, world))
    bob = world.map(Eye("2", "own"))  # type: ignore[attr-defined]
    ada = world.map(Eye("1", "own"))  # type: ignore[attr-defined]
    assert set(cells_on_map(ada)) == shown
    assert set(cells_on_map(bob)) - shown
    for eye in (PUBLIC, Eye(None, "all")):
        none = world.map(eye)  # type: ignore[attr-defined]
        assert none.text.startswith("Only players have a map")
        assert (none.rows, none.frontier, none.last_seen) == ([], [], [])


def test_a_change_out_of_sight_is_on_the_map_when_it_is_seen() -> None:
    world, _ = begun("crafter_shared")
    game, player = world.game, world.game.players[0]  # type: ignore[attr-defined]
    x, y = player.x, player.y
    cell, before = game.land.cell(x, y - 3), cells_on_map(world.map(OWN["crafter_shared"]))  # type: ignore[attr-defined]
    player.y += 2  # it is elsewhere when the cell changes
    game.land.set_material(cell, 11)
    game.look_around(player)
    assert cells_on_map(world.map(OWN["crafter_shared"]))[x, y - 3] == before[x, y - 3] != "t"  # type: ignore[attr-defined]
    player.y -= 2
    game.look_around(player)
    assert cells_on_map(world.map(OWN["crafter_shared"]))[x, y - 3] == "t"  # type: ignore[attr-defined]


# -- Kingdoms -----------------------------------------------------------------------------------------
def kingdoms(ticks: int = 130) -> World:
    world = make_world("kingdoms", {"zones_x": 2, "zones_y": 2})
    world.reset(1, [Seat("1", "1"), Seat("2", "2")])
    world.advance(ticks)
    return world


def test_twins_of_a_world_give_a_player_the_same_map() -> None:
    for world, eye in ((kingdoms(), Eye("1", "own")), (begun("planet")[0], Eye("1", "own"))):
        shown, saved = world.map(eye), world.snapshot()  # type: ignore[attr-defined]
        for number in range(3):
            world.restore(saved)
            world.resample(eye, Stream(number, "twins"))
            assert world.map(eye) == shown  # type: ignore[attr-defined]


def test_a_kingdom_knows_what_it_has_seen_and_sees_all_without_fog() -> None:
    world = kingdoms()
    own = world.map(Eye("1", "own"))  # type: ignore[attr-defined]
    whole = world.map(Eye("1", "all"))  # type: ignore[attr-defined]
    assert 0 < own.seen < whole.seen == sum(map(len, whole.rows))
    assert "C" in "".join(own.rows)
    assert own.frontier
    assert not whole.frontier
    assert max(step for row in own.last_seen for step in row) == 130
    again = kingdoms(0)
    again.restore(world.snapshot())
    assert again.map(Eye("1", "own")) == own  # type: ignore[attr-defined]
    assert again.snapshot() == world.snapshot()


def test_a_kingdom_remembers_land_that_it_has_lost_sight_of() -> None:
    world = kingdoms(60)
    far = np.zeros_like(world.maps[1].codes)  # type: ignore[attr-defined]
    far[0, 0] = CHARACTERS.index("E")
    world.maps[1].codes[0, 0] = far[0, 0]  # type: ignore[attr-defined]
    world.maps[1].blocks[0, 0] = 30  # type: ignore[attr-defined]
    world.advance(60)
    shown = world.map(Eye("1", "own"))  # type: ignore[attr-defined]
    assert shown.corner == (0, 0)
    assert shown.rows[0][0] == "E"
    assert shown.legend["E"] == "city of another kingdom"
    assert shown.last_seen[0][0] == 30


# -- the map itself -----------------------------------------------------------------------------------
def test_a_map_says_where_the_unseen_begins_the_nearest_place_first() -> None:
    seen = SeenMap((10, 10))
    land = np.ones((10, 10), np.uint8)
    land[4, :] = 2  # rock in the south
    seen.see(land, 0, 0, 4, 5, step=3)
    shown = seen.explored(PLAIN, 5, (1, 1))
    assert shown.frontier == [(3, 1), (3, 0), (3, 2), (3, 3)]
    assert shown.text.split("\n") == [
        "Seen: 20 of 100 cells, step 5. You are at 1,1.",
        "MAP (x to the right, y down; a blank was never seen, the rest is as you saw it last):",
        "     0",
        "   0 ....",
        "   1 .@..",
        "   2 ....",
        "   3 ....",
        "   4 ####",
        "@ you, . grass, # rock",
        "The unseen begins at 3,1 3,0 3,2 3,3 (the nearest first).",
        "Step when a part of each 8 x 8 tiles was last in view:",
        "x    0",
        "y0   3",
    ]


def test_a_round_map_is_shown_across_its_edge() -> None:
    seen = SeenMap((256, 96), is_round=True)
    xs = np.arange(250, 262) % 256
    seen.see_cells(xs, np.full(12, 40), np.ones(12, np.uint8), 1)
    shown = seen.explored(PLAIN, 1, (255, 40))
    assert (shown.corner, shown.rows) == ((250, 40), ["." * 5 + "@" + "." * 6])
    assert shown.frontier[:3] == [(255, 40), (0, 40), (254, 40)]
    assert SeenMap((256, 96)).explored(PLAIN, 1, None).rows == [" "]  # nothing was seen


@pytest.mark.parametrize(
    "damaged",
    [
        SavedMap(b"\0\0", b"\0\0\0\0", b"\1"),
        SavedMap(b"\0\0", b"\0", b"\1" * 64),
        SavedMap(b"\xff\xff", b"\0\0\0\0", b"\1" * 64),
        SavedMap(b"\0\0", b"\0\0\0\0", b"\x63" * 64),
    ],
)
def test_a_damaged_map_is_refused_and_the_game_stays_as_it_was(damaged: SavedMap) -> None:
    world, _ = begun("crafter")
    saved = msgspec.msgpack.decode(world.snapshot())
    saved["seen"] = [[damaged.numbers, damaged.steps, damaged.codes]]
    before = world.snapshot()
    with pytest.raises(GameRejected, match="the map of a player is damaged"):
        world.restore(msgspec.msgpack.encode(saved))
    assert world.snapshot() == before
