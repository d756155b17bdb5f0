"""The world as data for the front end: what one eye sees, in layers of which clients get those that have changed.

The land is divided into at most 8 x 8 chunks with a layer each, so that a change sends one chunk. Like in the picture,
an unseen cell keeps its ground from the public chart, and nothing else.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.drawing.map import FIRST_BUILDING, FIRST_TOP, colour_of
from cohabit.worlds.kingdoms.drawing.map import scene as visible
from cohabit.worlds.kingdoms.history import History
from cohabit.worlds.kingdoms.names import city_id, name_of
from cohabit.worlds.kingdoms.rules import armies, cities
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import YEAR, City, Kingdom
from cohabit.worlds.kingdoms.species import IS_MONSTER, SPECIES
from cohabit.worlds.kingdoms.tiles import BUILDINGS, GROUND, TOPS

CHUNKS, SMALLEST_CHUNK = 8, 32
"""At most this many chunks on a side, and at least this many tiles on a side of a chunk."""
HIDDEN = 64
"""Added to the cover of a cell that is not in sight."""
LEVEL_STEP = 4
"""Heights are rounded to this, so that they compress well."""
GROUP_TILES = 8
"""Soldiers in the same square of this many tiles, or in neighbouring ones, are one army."""
SMALLEST_ARMY = 3
Layers = dict[str, Any]


def scene(view: View, history: History, explored: NDArray[np.uint8] | None) -> Layers:
    """``explored``: the codes of what the kingdom has seen at some time, by blocks of tiles; 0: never."""
    sim = view.sim
    return {
        "frame": _frame(sim.land.width, sim.land.height),
        "time": {"tick": sim.tick, "year": sim.tick // YEAR},
        "kingdoms": _kingdoms(view),
        "wars": [[war.attacker, war.defender, war.begun] for war in sim.wars],
        "cities": [_city(view, city) for city in sim.cities.values() if view.sees_city(city)],
        "armies": _armies(view),
        "marches": list(_marches(view)),
        "creatures": _creatures(view),
        "storms": [[storm.kind, storm.x, storm.y] for storm in sim.storms if _in_sight(view, storm.x, storm.y)],
        "explored": None if explored is None else {"across": explored.shape[1], "cells": _packed(explored > 0)},
        **_land(view),
        **history.layers(everything=view.everything, own=view.kingdom),
    }  # fmt: skip


def _in_sight(view: View, x: int, y: int) -> bool:
    return view.sim.land.holds(x, y) and view.sees(view.sim.land.cell(x, y))


def _packed(array: NDArray[Any]) -> str:
    return b64encode(array.tobytes()).decode()


def _coordinates(width: int, height: int) -> type[np.generic]:
    return np.uint8 if max(width, height) <= 256 else np.uint16


@cache
def _frame(width: int, height: int) -> Mapping[str, Any]:
    """The constant parts of a scene: the size of the map, and the kinds of things on it."""
    return {
        "size": [width, height],
        "chunk": _chunk(width, height),
        "hidden": HIDDEN,
        "level_step": LEVEL_STEP,
        "coordinates": 8 * np.dtype(_coordinates(width, height)).itemsize,
        "covers": [[kind.id, kind.colour] for kinds in (GROUND, TOPS, BUILDINGS) for kind in kinds],
        "first_top": FIRST_TOP,
        "first_building": FIRST_BUILDING,
        "water": [row for row, kind in enumerate(GROUND) if kind.water],
        "species": [[kind.id, kind.colour, int(IS_MONSTER[row])] for row, kind in enumerate(SPECIES)],
    }


# -- land -----------------------------------------------------------------------------------------
def _chunk(width: int, height: int) -> int:
    """The tiles on a side of a chunk. It divides the sides of every map, which are made of zones of 64 tiles."""
    size = SMALLEST_CHUNK
    while max(width, height) > CHUNKS * size:
        size *= 2
    return size


def _land(view: View) -> Layers:
    seen = visible(view.sim, view.seen)
    cover = np.where(seen.hidden, seen.cover + np.uint8(HIDDEN), seen.cover)
    level = np.where(seen.hidden, 0, seen.level // LEVEL_STEP).astype(np.uint8)
    owners = np.flatnonzero(np.bincount(seen.owner.ravel()))
    slots = np.zeros(int(owners[-1]) + 1, np.uint8)
    slots[owners] = np.arange(len(owners))
    owner = slots[seen.owner] if owners[-1] else np.zeros_like(level)
    found: Layers = {"owners": owners.tolist()}
    for name, layer in (("cover", cover), ("level", level), ("owner", owner)):
        for place, cells in _in_chunks(layer):
            if name == "cover" or cells.any():
                found[f"{name} {place}"] = _packed(cells)
    return found


def _in_chunks(layer: NDArray[np.uint8]) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    height, width = layer.shape
    size = _chunk(width, height)
    for top in range(0, height, size):
        for left in range(0, width, size):
            yield f"{left // size},{top // size}", layer[top : top + size, left : left + size]


# -- kingdoms and cities --------------------------------------------------------------------------
def _kingdoms(view: View) -> list[Layers]:
    return [_kingdom(view, k) for k in view.sim.alive]


def _kingdom(view: View, k: Kingdom) -> Layers:
    """The public data of a kingdom, and the rest for its own people and those who see everything."""
    sim = view.sim
    capital, king = sim.cities.get(k.capital), sim.creatures.row(k.king)
    found: Layers = {
        "id": k.id, "name": k.name, "race": k.race, "colour": colour_of(k.colour), "people": k.people,
        "cities": k.cities, "player": k.claimed, "king": name_of(sim, king) if king is not None else None,
        "capital": city_id(sim, capital) if capital and view.sees_city(capital) else None,
    }  # fmt: skip
    if view.knows(k.id):
        found |= {
            "soldiers": k.soldiers, "faith": k.faith, "weariness": k.weariness, "muster": armies.muster_percent(sim, k),
            "fortified": k.orders.fortify, "offers_peace_to": list(k.orders.peace),
        }  # fmt: skip
    return found


def _city(view: View, city: City) -> Layers:
    found: Layers = {
        "id": city_id(view.sim, city), "name": city.name, "kingdom": city.kingdom, "x": city.x, "y": city.y,
        "besieger": city.besieger, "siege": city.siege, "capital": view.sim.kingdoms[city.kingdom].capital == city.id,
    }  # fmt: skip
    if view.knows(city.kingdom):
        found |= {
            "people": city.people, "housing": cities.housing(city), "soldiers": city.soldiers, "loyalty": city.loyalty,
            "food": city.food, "wood": city.wood, "stone": city.stone, "gold": city.gold, "hungry": city.hungry,
        }  # fmt: skip
    return found


# -- creatures and armies -------------------------------------------------------------------------
def _armed(view: View, rows: Rows) -> NDArray[np.bool_]:
    """A mask of these rows: True for creatures known as soldiers, which are one's own and those of enemies."""
    c = view.sim.creatures
    soldier: NDArray[np.bool_] = c.job[rows] == Job.SOLDIER
    if not view.everything:
        known = view.sim.at_war[view.kingdom or 0].copy()
        known[view.kingdom or 0] = True
        soldier &= known[c.kingdom[rows]]
    return soldier & (c.kingdom[rows] > 0)


def _creatures(view: View) -> Layers:
    """The creatures in sight in groups of the same kingdom, species and arms, each with its number, sorted by id. An id
    is a part of the public one, enough to find a creature again in the next scene."""
    c, rows, land = view.sim.creatures, view.rows(), view.sim.land
    rows = rows[c.hp[rows] > 0]
    ids = c.public[rows] & 0xFFFF
    kinds = (c.kingdom[rows].astype(np.int64) << 16) | (c.species[rows].astype(np.int64) << 1) | _armed(view, rows)
    order = np.lexsort((ids, kinds))
    rows, ids = rows[order], ids[order]
    groups, counts = np.unique(kinds, return_counts=True)
    places = np.stack([c.x[rows], c.y[rows]], axis=1).astype(_coordinates(land.width, land.height))
    return {
        "groups": [
            [kind >> 16, kind >> 1 & 0x7FFF, kind & 1, count]
            for kind, count in zip(groups.tolist(), counts.tolist(), strict=True)
        ],
        "ids": _packed(ids.astype("<u2")),
        "places": _packed(places),
    }


def _armies(view: View) -> list[Layers]:
    """Soldiers in the field, in groups that stand together: their middle, their number and their kingdom."""
    sim, c, rows = view.sim, view.sim.creatures, view.rows()
    rows = rows[(c.hp[rows] > 0) & _armed(view, rows)]
    if not len(rows):
        return []
    home = sim.city_place[c.city[rows]]
    away = np.maximum(abs(c.x[rows] - home[:, 0]), abs(c.y[rows] - home[:, 1])) > armies.CAMP_RADIUS
    rows = rows[away | (c.city[rows] == 0)]
    found: list[Layers] = []
    for kingdom in np.unique(c.kingdom[rows]).tolist():
        own = rows[c.kingdom[rows] == kingdom]
        for group in _together(c.x[own].astype(np.int64), c.y[own].astype(np.int64)):
            if len(group) >= SMALLEST_ARMY:
                x, y = np.median(c.x[own[group]]), np.median(c.y[own[group]])
                found.append({"kingdom": kingdom, "x": int(x), "y": int(y), "soldiers": len(group)})
    return found


def _together(x: NDArray[np.int64], y: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Groups of places: those in the same square or in neighbouring ones."""
    squares, member = np.unique((y // GROUP_TILES) << 16 | x // GROUP_TILES, return_inverse=True)
    left = {square: number for number, square in enumerate(squares.tolist())}
    groups: list[NDArray[np.int64]] = []
    while left:
        todo, numbers = [next(iter(left))], []
        while todo:
            square = todo.pop()
            number = left.pop(square, None)
            if number is not None:
                numbers.append(number)
                todo += [square + (dy << 16) + dx for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
        groups.append(np.flatnonzero(np.isin(member, numbers)))
    return groups


def _marches(view: View) -> Iterator[Layers]:
    """The destinations of soldiers and settlers. Places that the eye neither sees nor has named are left out."""
    sim = view.sim
    for k in sim.alive:
        if not view.knows(k.id):
            continue
        ordered, goal = k.orders.rally, armies.goal_of(sim, k)
        if goal is not None and (goal[:2] == ordered or _in_sight(view, *goal[:2])):
            yield {"kingdom": k.id, "x": goal[0], "y": goal[1], "kind": "attack" if goal[2] else "rally"}
        place = k.band_to or k.orders.settle
        if place is not None and (place == k.orders.settle or _in_sight(view, *place)):
            yield {"kingdom": k.id, "x": place[0], "y": place[1], "kind": "settle"}
