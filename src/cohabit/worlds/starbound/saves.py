"""A game as bytes, and back. Loading is exact, and refuses bytes that are no game before anything is made of them.

Of a planet only what has changed since it was made is kept: the rest comes from the seed.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from cohabit.errors import GameRejected
from cohabit.model.stream import Stream
from cohabit.worlds.seen_map import SavedMap
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.choices import Choice, is_valid
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM, SLOTS
from cohabit.worlds.starbound.land import Bundle, Creature, Growth, make_land
from cohabit.worlds.starbound.maps import loaded_map
from cohabit.worlds.starbound.planets import CREATURE, HEIGHT, PLANET, SHIP, WIDTH
from cohabit.worlds.starbound.quests import ACHIEVEMENTS, QUEST
from cohabit.worlds.starbound.tiles import TILES

CELLS = WIDTH * HEIGHT
MAX_BODIES = 5000  # that have been in a game, also those that are gone


Seed = Annotated[str, Meta(pattern="^-?[0-9a-f]+$", max_length=40)]


class SavedLand(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The changes of a planet: cells with their tiles, in the order of the first change."""

    name: str
    cells: Annotated[list[int], Meta(max_length=CELLS)]
    tiles: bytes
    creatures: list[Creature]
    bundles: list[Bundle]
    growths: list[Growth]
    seed: Seed | None = None  # if it is not the seed of the game
    placed: Annotated[list[int], Meta(max_length=CELLS)] = []  # cells with tiles of players


class SavedView(Struct, array_like=True, forbid_unknown_fields=True):
    """The part of a planet that a body has seen."""

    body: int
    planet: str
    map: SavedMap


class SavedGame(Struct, forbid_unknown_fields=True, omit_defaults=True):
    seed: Seed
    step: Annotated[int, Meta(ge=0)]
    draws: Annotated[int, Meta(ge=0)]
    creatures_made: Annotated[int, Meta(ge=0)]
    bodies: Annotated[list[Body], Meta(max_length=MAX_BODIES)]
    lands: list[SavedLand]
    chosen: dict[str, Choice]
    totals: dict[str, float]
    lands_seed: Seed | None = None  # these two as well: they differ in games that are only imagined
    draws_seed: Seed | None = None
    seen: Annotated[list[SavedView], Meta(max_length=MAX_BODIES * len(PLANET))] = []


def save_game(game: Game, chosen: dict[str, Choice], totals: dict[str, float]) -> bytes:
    lands = [
        SavedLand(
            land.name,
            list(land.changes),
            bytes(land.changes.values()),
            land.creatures,
            land.bundles,
            land.growths,
            _other_seed(land.seed, game),
            sorted(land.placed),
        )
        for land in game.lands.values()
    ]
    saved = SavedGame(
        f"{game.seed:x}", game.step_number, game.draws.counter, game.creatures_made, game.bodies, lands, chosen, totals,
        _other_seed(game.lands_seed, game), _other_seed(game.draws.seed, game),
        [SavedView(*key, seen.save()) for key, seen in game.seen.items()],
    )  # fmt: skip
    return msgspec.msgpack.encode(saved)


def _other_seed(seed: int, game: Game) -> str | None:
    return None if seed == game.seed else f"{seed:x}"


def load_game(data: bytes, fighting: bool) -> tuple[Game, dict[str, Choice], dict[str, float]]:
    """The game again, with what was chosen and the totals. Raises GameRejected if the bytes are something else."""
    try:
        saved = msgspec.msgpack.decode(data, type=SavedGame)
    except msgspec.DecodeError as error:
        raise GameRejected(f"this is not a save of the planets: {error}") from None
    for number, body in enumerate(saved.bodies, 1):
        _check_body(body, number)
    for planet in saved.lands:
        _check_land(planet)
    seats = [body.seat for body in saved.bodies]
    if not all(seat in seats for seat in (*saved.chosen, *saved.totals)):
        raise GameRejected("this is not a save of the planets: it has choices of bodies that it does not have")
    if not all(is_valid(choice) for choice in saved.chosen.values()):
        raise GameRejected("this is not a save of the planets: it has an unknown choice")
    game = Game(int(saved.seed, 16), fighting)
    game.step_number, game.creatures_made = saved.step, saved.creatures_made
    game.draws = Stream(_seed(saved.draws_seed, game), "creatures", saved.draws)
    game.lands_seed = _seed(saved.lands_seed, game)
    game.bodies = saved.bodies
    for kept in saved.lands:
        land = make_land(_seed(kept.seed, game), kept.name, dict(zip(kept.cells, kept.tiles, strict=True)))
        land.creatures, land.bundles, land.growths = kept.creatures, kept.bundles, kept.growths
        land.placed = set(kept.placed)
        game.lands[kept.name] = land
    for view in saved.seen:
        if not (1 <= view.body <= len(game.bodies) and view.planet in PLANET):
            raise GameRejected("this is not a save of the planets: it has a map of a body that it does not have")
        game.seen[view.body, view.planet] = loaded_map(view.map)
    return game, saved.chosen, saved.totals


def _seed(kept: str | None, game: Game) -> int:
    return game.seed if kept is None else int(kept, 16)


def _check_body(body: Body, number: int) -> None:
    places = [body.place, *([body.fate.place] if body.fate else []), *([body.bed[0]] if body.bed else [])]
    good = (
        body.number == number
        and all(place == SHIP or place in PLANET for place in places)
        and body.orbit in PLANET
        and _is_inside(body.x, body.y)
        and (body.bed is None or (body.bed[0] in PLANET and _is_inside(body.bed[1], body.bed[2])))
        and (body.fate is None or _is_inside(body.fate.x, body.fate.y))
        and all(item in ITEM for item in (*body.items, *body.locker))
        and all(slot in SLOTS and item in body.items for slot, item in body.equipment.items())
        and all(ITEM[item].slot == slot for slot, item in body.equipment.items())
        and all(name in PLANET and _is_inside(*spot) for name, spot in body.landed.items())
        and all(name in PLANET for name in body.explored)
        and all(name in ACHIEVEMENTS for name in body.achievements)
        and all(name in QUEST for name in body.quests)
    )
    if not good:
        raise GameRejected("this is not a save of the planets: a body is damaged")


def _check_land(land: SavedLand) -> None:
    good = (
        land.name in PLANET
        and len(land.cells) == len(land.tiles)
        and all(0 <= cell < CELLS for cell in (*land.cells, *land.placed, *(growth.cell for growth in land.growths)))
        and all(tile < len(TILES) for tile in land.tiles)
        and all(0 <= growth.tile < len(TILES) for growth in land.growths)
        and all(c.kind in CREATURE and _is_inside(c.x, c.y) and c.facing in (-1, 1) for c in land.creatures)
        and all(_is_inside(bundle.x, bundle.y) and bundle.items for bundle in land.bundles)
        and all(item in ITEM and count > 0 for bundle in land.bundles for item, count in bundle.items.items())
    )
    if not good:
        raise GameRejected("this is not a save of the planets: a planet is damaged")


def _is_inside(x: int, y: int) -> bool:
    return 0 <= x < WIDTH and 0 <= y < HEIGHT
