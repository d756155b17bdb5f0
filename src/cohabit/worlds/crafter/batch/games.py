"""The state of all games of a batch.

All arrays have one dimension. A map index is the game times the cells of a map plus a cell; a thing index is the game
times the slots of a game plus a slot. Slots are in order of creation, which is the order in which things act; removed
things leave holes, which are closed when a game runs out of slots.
"""

from typing import Any

from cohabit.worlds.crafter.batch.draws import SEED_WORDS
from cohabit.worlds.crafter.batch.library import Array, Library
from cohabit.worlds.crafter.batch.tables import MATERIAL_BITS, THING_BITS, make_tables, standing
from cohabit.worlds.crafter.batch.terrain import Worlds
from cohabit.worlds.crafter.land import BORDER
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, FIRST_HEALTH, GRASS, ITEMS, MOST, PATH, PLAYER

FIRST_SLOTS = 64
SPARE_SLOTS = 32
ROOM_FOR_A_STEP = 32
"""Things that can appear in one step before the balance: a plant, and arrows. An arrow and its skeleton take two of the
60 cells within five of the player."""
NOWHERE = 10_000
"""The coordinates of a hole: far from every player."""
NEVER = 2**62
"""The entry time of a chunk that nothing has entered."""
ENTRIES_IN_A_STEP = 4096
"""Entry times are counted by this many in a step: 0 is the player's, a thing's is its slot plus one."""
FACING_DOWN = 3


class Games:
    """Maps, things and players of all games."""

    def __init__(self, library: Library, games: int, width: int, height: int) -> None:
        xp = library.xp
        self.library, self.xp, self.count = library, xp, games
        self.tables = make_tables(library, width, height)
        self.numbers = library.arange(games)
        self.words = [library.zeros(games, library.word) for _ in range(SEED_WORDS)]
        self.step = library.zeros(games, xp.int64)
        # The map.
        self.map = library.zeros(games * self.tables.cells, xp.uint8)
        self.grass = library.zeros(games * self.tables.chunks, xp.int32)
        self.path = library.zeros(games * self.tables.chunks, xp.int32)
        self.entered = library.full(games * self.tables.chunks, NEVER, xp.int64)  # orders the chunks of a game
        # Things.
        self.slots = FIRST_SLOTS
        self.used = library.zeros(games, xp.int64)  # slots, holes included
        size = games * self.slots
        self.kind = library.zeros(size, xp.uint8)  # 0: a hole
        self.x = library.full(size, NOWHERE, xp.int16)
        self.y = library.full(size, NOWHERE, xp.int16)
        self.health = library.zeros(size, xp.int8)
        self.timer = library.zeros(size, xp.int32)
        self.flight = library.zeros(size, xp.int8)  # the direction of an arrow
        self.chunk_since = library.zeros(size, xp.int64)  # the step in which it came into its chunk
        first_health = [FIRST_HEALTH.get(kind, 0) for kind in range(max(FIRST_HEALTH) + 1)]
        self._first_health = library.array(first_health, xp.int8)
        # Players.
        self.player_x = library.zeros(games, xp.int16)
        self.player_y = library.zeros(games, xp.int16)
        self.player_cell = library.zeros(games, xp.int64)
        self.facing = library.zeros(games, xp.int64)
        self.sleeping = library.zeros(games, xp.bool)
        self.vitality = library.zeros(games, xp.int32)  # their health; that of things is `health`
        self.food = library.zeros(games, xp.int32)
        self.drink = library.zeros(games, xp.int32)
        self.energy = library.zeros(games, xp.int32)
        # Twice the scalar game's hunger, thirst and recovery, which have halves.
        self.hunger = library.zeros(games, xp.int32)
        self.thirst = library.zeros(games, xp.int32)
        self.recovery = library.zeros(games, xp.int32)
        self.fatigue = library.zeros(games, xp.int32)
        self.vitality_when_awake = library.zeros(games, xp.int32)
        self.vitality_before = library.zeros(games, xp.int32)
        self.items = library.zeros(games * len(ITEMS), xp.int32)
        self.achievements = library.zeros(games * len(ACHIEVEMENTS), xp.int32)
        self.unlocked = library.zeros(games * len(ACHIEVEMENTS), xp.bool)  # in this step

    # -- the map -----------------------------------------------------------------------------------------
    def cell(self, x: Array, y: Array) -> Array:
        """The cell at these coordinates."""
        wide = self.xp.int64
        return (self.xp.astype(x, wide) + BORDER) * self.tables.stride + self.xp.astype(y, wide) + BORDER

    def clear(self, places: Array) -> None:
        """Nothing stands there any more."""
        self.library.put(self.map, places, self.map[places] & MATERIAL_BITS)

    def set_material(self, game: Array, cell: Array, material: Array) -> None:
        """Change one cell of each of these games."""
        xp, put = self.xp, self.library.put
        place = game * self.tables.cells + cell
        chunk = game * self.tables.chunks + self.tables.chunk_at[cell]
        byte = self.map[place]
        before = byte & MATERIAL_BITS
        for counted, kind in ((self.grass, GRASS), (self.path, PATH)):
            change = xp.astype(material == kind, xp.int32) - xp.astype(before == kind, xp.int32)
            put(counted, chunk, counted[chunk] + change)
        put(self.map, place, (byte & THING_BITS) | xp.astype(material, xp.uint8))

    def enter(self, game: Array, chunk: Array, order: Array) -> None:
        """Remember when chunks were first entered. ``order``: of the entries of this step in one game."""
        xp = self.xp
        index = game * self.tables.chunks + chunk
        new = self.library.where(self.entered[index] == NEVER)
        if not new.shape[0]:
            return
        index = index[new]
        time = self.step[game[new]] * ENTRIES_IN_A_STEP + order[new]
        by_time = xp.argsort(time, stable=True)
        by_chunk = by_time[xp.argsort(index[by_time], stable=True)]
        index, time = index[by_chunk], time[by_chunk]
        first = xp.concat([xp.ones_like(index[:1], dtype=xp.bool), index[1:] != index[:-1]])
        self.library.put(self.entered, index[first], time[first])

    # -- things ------------------------------------------------------------------------------------------
    def rows(self, array: Array, game: Array) -> Array:
        """The slots of these games: games x slots."""
        return self.xp.take(self.xp.reshape(array, (self.count, self.slots)), game, axis=0)

    def add(self, game: Array, slot: Array, kind: Array, cell: Array) -> Array:
        """New things in free slots. Returns their indices."""
        xp, put = self.xp, self.library.put
        index = game * self.slots + slot
        put(self.kind, index, xp.astype(kind, xp.uint8))
        put(self.x, index, xp.astype(cell // self.tables.stride - BORDER, xp.int16))
        put(self.y, index, xp.astype(cell % self.tables.stride - BORDER, xp.int16))
        put(self.health, index, self._first_health[xp.astype(kind, xp.int64)])
        put(self.timer, index, 0)
        put(self.chunk_since, index, self.step[game])
        place = game * self.tables.cells + cell
        put(self.map, place, self.map[place] | xp.astype((kind - PLAYER + 1) * 16, xp.uint8))
        return index

    def add_one(self, game: Array, kind: int, cell: Array) -> Array:
        """One new thing in each of these games."""
        slot = self.used[game]
        self.library.put(self.used, game, slot + 1)
        return self.add(game, slot, self.xp.full_like(cell, kind), cell)

    def remove(self, index: Array) -> None:
        """Leave holes. The cells were cleared before."""
        for array, value in ((self.kind, 0), (self.x, NOWHERE), (self.y, NOWHERE)):
            self.library.put(array, index, value)

    def make_room(self, needed: int) -> None:
        """See to it that each game has this many free slots."""
        if int(self.xp.max(self.used)) + needed <= self.slots:
            return
        self._close_holes()
        if int(self.xp.max(self.used)) + needed > self.slots:
            self._set_slots(int(self.xp.max(self.used)) + needed + SPARE_SLOTS)

    def _close_holes(self) -> None:
        xp, library = self.xp, self.library
        live = library.where(self.kind != 0)
        game = live // self.slots
        to = game * self.slots + library.rank_in_game(game, self.count)
        for name, hole in _THINGS.items():
            old = getattr(self, name)
            new = xp.full_like(old, hole)
            library.put(new, to, old[live])
            setattr(self, name, new)
        self.used = xp.astype(library.counts(game, self.count), xp.int64)

    def _set_slots(self, slots: int) -> None:
        xp = self.xp
        if slots >= ENTRIES_IN_A_STEP:
            raise OverflowError(f"a game has more than {ENTRIES_IN_A_STEP} things")
        for name, hole in _THINGS.items():
            old = xp.reshape(getattr(self, name), (self.count, self.slots))
            more = xp.full((self.count, slots - self.slots), hole, dtype=old.dtype, device=self.library.device)
            setattr(self, name, xp.reshape(xp.concat([old, more], axis=1), (-1,)))
        self.slots = slots

    def begin(self, game: Array, words: Array, worlds: Worlds, start: tuple[int, int]) -> None:
        """Start these games again, in new worlds."""
        xp, put, tables = self.xp, self.library.put, self.tables
        put(self.step, game, 0)
        for number in range(SEED_WORDS):
            put(self.words[number], game, words[number])
        self._set_maps(game, worlds.materials)
        self._new_players(game, *start)
        slot = self.library.rank_in_game(worlds.world, game.shape[0])
        number = self.library.counts(worlds.world, game.shape[0])
        self._empty(game)
        most = int(xp.max(number))
        if most + ROOM_FOR_A_STEP > self.slots:
            self._set_slots(most + ROOM_FOR_A_STEP)
        put(self.used, game, xp.astype(number, xp.int64))
        owner = game[worlds.world]
        cell = self.cell(worlds.x, worlds.y)
        self.add(owner, slot, worlds.kind, cell)
        self.enter(game, tables.chunk_at[self.player_cell[game]], xp.zeros_like(game))
        self.enter(owner, tables.chunk_at[cell], slot + 1)

    def _set_maps(self, game: Array, materials: Array) -> None:
        xp, tables = self.xp, self.tables
        games = game.shape[0]
        padded = xp.zeros((games, tables.width + 2 * BORDER, tables.stride), dtype=xp.uint8, device=self.library.device)
        padded[:, BORDER:-BORDER, BORDER:-BORDER] = materials
        flat = xp.reshape(padded, (games, tables.cells))
        self._put_rows(self.map, game, flat)
        in_chunks = xp.take(flat, tables.chunk_cells, axis=1)
        for counted, kind in ((self.grass, GRASS), (self.path, PATH)):
            where = xp.reshape(in_chunks == kind, (games, tables.chunks, -1))
            self._put_rows(counted, game, xp.sum(xp.astype(where, xp.int32), axis=2))
        self._put_rows(self.entered, game, NEVER)

    def _put_rows(self, array: Array, game: Array, rows: Any) -> None:
        """Replace the part of an array that belongs to these games."""
        xp = self.xp
        length = array.shape[0] // self.count
        index = xp.reshape(game[:, None] * length + self.library.arange(length)[None, :], (-1,))
        self.library.put(array, index, rows if isinstance(rows, int) else xp.reshape(rows, (-1,)))

    def _empty(self, game: Array) -> None:
        for name, hole in _THINGS.items():
            self._put_rows(getattr(self, name), game, hole)

    # -- players -----------------------------------------------------------------------------------------
    def achieve(self, game: Array, achievement: Array) -> None:
        """Count one achievement in each of these games."""
        index = game * len(ACHIEVEMENTS) + achievement
        times = self.achievements[index] + 1
        self.library.put(self.achievements, index, times)
        self.library.put(self.unlocked, index[times == 1], True)

    def gain(self, game: Array, item: Array) -> None:
        index = game * len(ITEMS) + item
        amount = self.items[index]
        self.library.put(self.items, index, amount + self.xp.astype(amount < MOST, self.xp.int32))

    def _new_players(self, game: Array, x: int, y: int) -> None:
        """Fresh players, facing down."""
        put = self.library.put
        for array, value in (
            (self.player_x, x), (self.player_y, y), (self.facing, FACING_DOWN), (self.sleeping, False),
            (self.vitality, MOST), (self.food, MOST), (self.drink, MOST), (self.energy, MOST), (self.hunger, 0),
            (self.thirst, 0), (self.recovery, 0), (self.fatigue, 0), (self.vitality_when_awake, MOST),
            (self.vitality_before, MOST),
            (self.player_cell, (x + BORDER) * self.tables.stride + y + BORDER),
        ):  # fmt: skip
            put(array, game, value)
        for array in (self.items, self.achievements):
            self._put_rows(array, game, 0)
        place = game * self.tables.cells + self.player_cell[game]
        put(self.map, place, self.map[place] | standing(PLAYER))


_THINGS = {
    "kind": 0, "x": NOWHERE, "y": NOWHERE, "health": 0, "timer": 0, "flight": 0, "chunk_since": 0,
}  # fmt: skip
"""The arrays of things and their values in a hole."""
