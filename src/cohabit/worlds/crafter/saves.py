"""A game as bytes, and back. Loading is exact, and refuses bytes that are no game before anything is made of them."""

from typing import Annotated, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct

from cohabit.errors import GameRejected
from cohabit.worlds.crafter.draws import Draws, KeyedDraws, StockDraws
from cohabit.worlds.crafter.events import events_text
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import Land, Thing
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import COW, FIRST_HEALTH, ITEMS, MATERIALS, MOST, SKELETON, ZOMBIE, daylight
from cohabit.worlds.seen_map import SavedMap, SeenMap

MAX_SIZE = 96  # cells per side
MAX_PLAYERS_EVER = 1000  # who have been in a game, also those who have left
T = TypeVar("T")
_Word = Annotated[int, Meta(ge=0, lt=1 << 32)]
_Step = Annotated[int, Meta(ge=-1, le=1)]
_Amount = Annotated[int, Meta(ge=0, lt=1 << 31)]
_Side = Annotated[int, Meta(ge=9, le=MAX_SIZE)]
_WORDS = {"stock": 626, "keyed": 7}


class _Thing(Struct, array_like=True, forbid_unknown_fields=True):
    kind: int
    x: int
    y: int
    health: Annotated[int, Meta(ge=0, le=MOST)]
    timer: _Amount
    dx: _Step
    dy: _Step
    items: (
        Annotated[list[Annotated[int, Meta(ge=0, lt=1 << 31)]], Meta(min_length=len(ITEMS), max_length=len(ITEMS))]
        | None
    )


class SavedGame(Struct, forbid_unknown_fields=True):
    draws: Literal["stock", "keyed"]
    words: Annotated[list[_Word], Meta(max_length=1000)]
    step: Annotated[int, Meta(ge=0)]
    size: tuple[_Side, _Side]
    start: tuple[int, int]
    fighting: bool
    materials: bytes  # by x, then by y
    things: Annotated[list[_Thing], Meta(max_length=MAX_SIZE**2)]  # in the order of their creation
    # In the order of entering, with their creatures as numbers of things:
    chunks: Annotated[list[tuple[int, list[int]]], Meta(max_length=MAX_SIZE)]
    players: Annotated[list[Player], Meta(max_length=MAX_PLAYERS_EVER)]
    # The parts of the land that each of them has seen; none in older saves:
    seen: Annotated[list[SavedMap], Meta(max_length=MAX_PLAYERS_EVER)] = []


def save_game(game: Game) -> SavedGame:
    """All of a game, as plain values."""
    land = game.land
    numbers = {thing: number for number, thing in enumerate(land.things)}
    return SavedGame(
        "stock" if isinstance(game.draws, StockDraws) else "keyed",
        game.draws.dump(),
        game.step_number,
        (land.width, land.height),
        game.start,
        game.fighting,
        land.materials().tobytes(),
        [_Thing(t.kind, t.x, t.y, t.health, t.timer, t.dx, t.dy, t.items) for t in land.things],
        [
            (chunk.number, [numbers[thing] for creatures in chunk.creatures.values() for thing in creatures])
            for chunk in land.chunks.values()
        ],
        game.players,
        [seen.save() for seen in game.seen],
    )


def load_game(saved: SavedGame) -> Game:
    """The game again. Raises GameRejected if the values do not fit together."""
    width, height = saved.size
    if (
        len(saved.words) != _WORDS[saved.draws]
        or len(saved.materials) != width * height
        or max(saved.materials) >= len(MATERIALS)
    ):
        raise GameRejected("this is not a save of Crafter")
    if saved.draws == "stock" and (saved.words[-2] > 624 or saved.words[-1] > 1):
        raise GameRejected("this is not a save of Crafter: its random numbers are damaged")
    land = Land(np.frombuffer(saved.materials, np.uint8).reshape(width, height))
    draws: Draws = StockDraws.load(saved.words) if saved.draws == "stock" else KeyedDraws.load(saved.words)
    game = Game(draws, land, saved.start, saved.fighting)
    game.step_number, game.daylight = saved.step, daylight(saved.step)
    things = [_place(land, thing) for thing in saved.things]
    for number, creatures in saved.chunks:
        if number in land.chunks or not 0 <= number < len(land.grid):
            raise GameRejected("this is not a save of Crafter: its chunks are damaged")
        land.chunks[number] = land.grid[number]
        for index in creatures:
            if not 0 <= index < len(things) or land.chunk_at[things[index].cell] != number:
                raise GameRejected("this is not a save of Crafter: its chunks are damaged")
            land.enter(things[index])
    counted = sum(len(creatures) for chunk in land.grid for creatures in chunk.creatures.values())
    if counted != sum(thing.kind in (COW, ZOMBIE, SKELETON) for thing in things):
        raise GameRejected("this is not a save of Crafter: its chunks are damaged")
    for number, player in enumerate(saved.players):
        _seat(land, player, number)
        game.players.append(player)
        game.seen.append(SeenMap(saved.size))
    if saved.seen and len(saved.seen) != len(game.players):
        raise GameRejected("this is not a save of Crafter: it has not one map for each player")
    for seen, kept in zip(game.seen, saved.seen, strict=False):
        seen.load(kept, len(MATERIALS))
    return game


def _place(land: Land, saved: _Thing) -> Thing:
    if saved.kind not in FIRST_HEALTH or not _is_free(land, saved.x, saved.y):
        raise GameRejected("this is not a save of Crafter: two things stand on one cell, or one outside the map")
    thing = Thing(
        saved.kind, saved.x, saved.y, land.cell(saved.x, saved.y), saved.health, saved.timer, saved.dx, saved.dy,
        saved.items,
    )  # fmt: skip
    land.things[thing] = None
    land.at[thing.cell] = thing
    return thing


def _seat(land: Land, player: Player, number: int) -> None:
    if player.number != number or abs(player.dx) + abs(player.dy) != 1 or not _can_be_told(player):
        raise GameRejected("this is not a save of Crafter: a player is damaged")
    if player.removed:
        return
    if not _is_free(land, player.x, player.y):
        raise GameRejected("this is not a save of Crafter: a player stands on an occupied cell, or outside the map")
    player.cell = land.cell(player.x, player.y)
    land.at[player.cell] = player


def _can_be_told(player: Player) -> bool:
    """True if the last step of a player can be told: the reasons of a failure have no declared form."""
    try:
        events_text(player)
    except (IndexError, KeyError, TypeError, ValueError):
        return False
    return True


def _is_free(land: Land, x: int, y: int) -> bool:
    return 0 <= x < land.width and 0 <= y < land.height and land.at[land.cell(x, y)] is None


def decode(data: bytes, kind: type[T]) -> T:
    """The saved values. Raises GameRejected if the bytes are something else."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise GameRejected(f"this is not a save of Crafter: {error}") from None
