"""The rules of Crafter for any number of players.

With one player and ``StockDraws`` this is the original game, draw for draw, including its oddities: a creature that
was just killed acts once more, crafting fails at the western and northern edge, and only chunks that something has
entered are ever populated. With several players, each rule that speaks of the player speaks of the nearest one.

The map has a border of cells that are ``OUTSIDE``, so no rule has to check the edge. A cell is one number, so that its
four neighbours are at fixed distances.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENT, ACTIVE_DISTANCE, ARROW, ARROW_DAMAGE, ARROWS_FLY, BALANCE_EVERY, BUNDLE, CHUNK, COLLECT, COW, COW_FOOD,
    CREATURES_WALK, DAMAGE, DIRECTIONS, DO, FIRST_HEALTH, FURNACE, GRASS, ITEMS, LAVA, MAKE, MATERIALS, MOST, NIGHT,
    NOOP, OUTSIDE, PATH, PLACE, PLANT, PLANT_FOOD, PLAYER, PLAYERS_WALK, RIPE_AFTER, SKELETON, SKELETON_RELOAD, SLEEP,
    TABLE, WATER, ZOMBIE, ZOMBIE_DAMAGE, ZOMBIE_DAMAGE_TO_SLEEPERS, ZOMBIE_PAUSE, daylight,
)  # fmt: skip
from cohabit.worlds.crafter.terrain import Terrain, first_creatures, make_terrain

_FOUR_DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Thing(Struct, eq=False):
    """Something that stands on a cell and is not a player."""

    kind: int
    x: int
    y: int
    cell: int
    health: int
    timer: int = 0  # a zombie's pause, a skeleton's reload, a plant's growth
    dx: int = 0  # the flight of an arrow
    dy: int = 0
    items: list[int] | None = None  # the contents of a bundle
    removed: bool = False

    @property
    def ripe(self) -> bool:
        return self.timer > RIPE_AFTER


class Chunk(Struct, eq=False):
    """A square of 12 x 12 cells. Creatures are spawned and removed chunk by chunk."""

    number: int
    x: int
    y: int
    width: int
    height: int
    grass: int = 0
    path: int = 0
    creatures: dict[int, dict[Thing, None]] = {}  # by kind; a dict is a set in the order of entering


class Game:
    """One world and the players in it."""

    def __init__(self, draws: Draws, size: tuple[int, int] = (64, 64), fighting: bool = False) -> None:
        self.draws = draws
        self.width, self.height = size
        self.fighting = fighting
        self.step_number = 0
        self.daylight = daylight(0)
        self.players: list[Player] = []
        self.things: dict[Thing, None] = {}  # in the order of their creation, which is the order in which they act
        self.start = (self.width // 2, self.height // 2)
        self.terrain = make_terrain(draws, size, self.start)
        self._lay_out()

    @classmethod
    def new(cls, draws: Draws, players: int = 1, size: tuple[int, int] = (64, 64), fighting: bool = False) -> "Game":
        """A new world with its creatures and this many players."""
        game = cls(draws, size, fighting)
        game.add_player(*game.start)
        for kind, x, y in first_creatures(draws, game.terrain, game.start):
            game._add(kind, x, y)
        for _ in range(players - 1):
            game.add_player(*game.free_start())
        return game

    def _lay_out(self) -> None:
        self.stride = self.height + 2
        padded = np.zeros((self.width + 2, self.stride), np.uint8)
        padded[1:-1, 1:-1] = self.terrain.materials
        self.material = bytearray(padded.tobytes())
        self.at: list[Thing | Player | None] = [None] * len(self.material)
        down = -(-self.height // CHUNK)
        self._grid = [
            Chunk(
                across * down + row, x, y, min(CHUNK, self.width - x), min(CHUNK, self.height - y),
                creatures={ZOMBIE: {}, SKELETON: {}, COW: {}},
            )
            for across, x in enumerate(range(0, self.width, CHUNK))
            for row, y in enumerate(range(0, self.height, CHUNK))
        ]  # fmt: skip
        self.chunk_at = [
            max(0, (cell // self.stride - 1) // CHUNK) * down + max(0, min(cell % self.stride - 1, self.height - 1) // CHUNK)
            for cell in range(self.width * self.stride + self.stride)
        ]
        for chunk in self._grid:
            part = self.terrain.materials[chunk.x : chunk.x + chunk.width, chunk.y : chunk.y + chunk.height]
            chunk.grass, chunk.path = int((part == GRASS).sum()), int((part == PATH).sum())
        self.chunks: dict[int, Chunk] = {}  # those that something has entered, in that order

    # -- the map -----------------------------------------------------------------------------------------
    def cell(self, x: int, y: int) -> int:
        return (x + 1) * self.stride + y + 1

    def materials(self) -> NDArray[np.uint8]:
        """The map, indexed by x and y."""
        return np.frombuffer(self.material, np.uint8).reshape(self.width + 2, self.stride)[1:-1, 1:-1]

    def _set_material(self, cell: int, material: int) -> None:
        chunk = self._grid[self.chunk_at[cell]]
        for kind, change in ((self.material[cell], -1), (material, 1)):
            if kind == GRASS:
                chunk.grass += change
            elif kind == PATH:
                chunk.path += change
        self.material[cell] = material

    def _add(self, kind: int, x: int, y: int) -> Thing:
        thing = Thing(kind, x, y, self.cell(x, y), FIRST_HEALTH[kind])
        self.things[thing] = None
        self.at[thing.cell] = thing
        self._enter(thing)
        return thing

    def _enter(self, thing: Thing | Player) -> None:
        number = self.chunk_at[thing.cell]
        chunk = self.chunks.get(number)
        if chunk is None:
            chunk = self.chunks[number] = self._grid[number]
        if thing.kind in chunk.creatures:
            chunk.creatures[thing.kind][thing] = None  # type: ignore[index]  # a player's kind is not among them

    def _remove(self, thing: Thing) -> None:
        if thing.removed:
            return
        thing.removed = True
        del self.things[thing]
        self.at[thing.cell] = None
        creatures = self._grid[self.chunk_at[thing.cell]].creatures.get(thing.kind)
        if creatures is not None:
            del creatures[thing]

    def _move(self, thing: Thing | Player, dx: int, dy: int, walks: frozenset[int] = CREATURES_WALK) -> bool:
        """Move by one cell if it is free. Also true of a creature that is gone: it acts once more, but stays put."""
        target = thing.cell + dx * self.stride + dy
        if self.at[target] is not None or self.material[target] not in walks:
            return False
        if thing.removed:
            return True
        self.at[thing.cell] = None
        self.at[target] = thing
        old, new = self.chunk_at[thing.cell], self.chunk_at[target]
        thing.x += dx
        thing.y += dy
        thing.cell = target
        if old != new:
            creatures = self._grid[old].creatures.get(thing.kind)
            if creatures is not None:
                del creatures[thing]  # type: ignore[arg-type]  # a player's kind is not among them
            self._enter(thing)
        return True

    # -- players -------------------------------------------------------------------------------------------
    def add_player(self, x: int, y: int, player: Player | None = None) -> Player:
        """Put a new player, or one who returns, on a free cell."""
        player = player or Player()
        player.x, player.y, player.cell = x, y, self.cell(x, y)
        player.removed = False
        player.number = len(self.players)
        self.players.append(player)
        self.at[player.cell] = player
        self._enter(player)
        return player

    def free_start(self) -> tuple[int, int]:
        """The free cell of grass, sand or path that is nearest to the start; equally near ones by chance."""
        best, found = (1 << 30, 0.0), None
        for cell in range(len(self.material)):
            if self.material[cell] in CREATURES_WALK and self.at[cell] is None:
                x, y = cell // self.stride - 1, cell % self.stride - 1
                near = (x - self.start[0]) ** 2 + (y - self.start[1]) ** 2
                if near <= best[0]:
                    rank = near, self.draws.uniform(purpose.START, cell)
                    if rank < best:
                        best, found = rank, (x, y)
        if found is None:
            raise ValueError("no cell is free")
        return found

    def remove_player(self, player: Player) -> None:
        """Take a player off the map. Their number stays theirs."""
        if not player.removed:
            player.removed = True
            self.at[player.cell] = None

    def _nearest(self, x: int, y: int) -> tuple[Player | None, int]:
        """The nearest player and the distance to them; of two equally near, the one who acts first."""
        best: Player | None = None
        nearest = 1 << 30
        for player in self._order:
            distance = abs(player.x - x) + abs(player.y - y)
            if distance < nearest:
                best, nearest = player, distance
        return best, nearest

    # -- a step ----------------------------------------------------------------------------------------------
    def step(self, actions: Mapping[int, int]) -> None:
        """One step of the world. ``actions`` are by player number; whoever is missing does nothing."""
        self.step_number += 1
        self.daylight = daylight(self.step_number)
        draws = self.draws
        draws.start_step(self.step_number)
        here = [player for player in self.players if not player.removed]
        if len(here) > 1:
            here.sort(key=lambda player: draws.uniform(purpose.PRIORITY, player.number))
        self._order = here
        things = list(self.things)
        for player in here:
            player.begin_step()
        for player in here:
            self._act(player, actions.get(player.number, NOOP))
        updates = _UPDATES
        if len(here) == 1:
            x, y = here[0].x, here[0].y
            for thing in things:
                if abs(thing.x - x) + abs(thing.y - y) < ACTIVE_DISTANCE:
                    updates[thing.kind](self, thing)
        elif here:
            for thing in things:
                if self._nearest(thing.x, thing.y)[1] < ACTIVE_DISTANCE:
                    updates[thing.kind](self, thing)
        if self.step_number % BALANCE_EVERY == 0:
            self._balance()
        if self.daylight < NIGHT:
            draws.night()
        for player in here:
            player.end_step()

    # -- what players do ---------------------------------------------------------------------------------------
    def _act(self, player: Player, action: int) -> None:
        if player.sleeping:
            if player.energy < MOST:
                if action not in (SLEEP, NOOP):
                    player.failure = ("asleep",)
                action = SLEEP
            else:
                player.sleeping = False
                player.achieve(ACHIEVEMENT["wake_up"])
        if action in DIRECTIONS:
            self._walk(player, *DIRECTIONS[action])
        elif action == DO:
            target = player.cell + player.dx * self.stride + player.dy
            thing = self.at[target]
            if thing is not None:
                self._touch(player, thing)
            else:
                self._collect(player, target)
        elif action == SLEEP:
            if player.energy < MOST:
                player.sleeping = True
            else:
                player.failure = ("rested",)
        elif action in PLACE:
            self._place(player, action)
        elif action in MAKE:
            self._make(player, action)
        player.live()

    def _walk(self, player: Player, dx: int, dy: int) -> None:
        player.dx, player.dy = dx, dy
        if not self._move(player, dx, dy, PLAYERS_WALK):
            target = player.cell + dx * self.stride + dy
            thing = self.at[target]
            player.failure = ("blocked", self.material[target] if thing is None else thing.kind)
        if self.material[player.cell] == LAVA:
            player.health = 0
            player.hurt_by = "lava"

    def _touch(self, player: Player, thing: "Thing | Player") -> None:
        kind = thing.kind
        if kind == PLANT:
            if thing.ripe:  # type: ignore[union-attr]
                thing.timer = 0  # type: ignore[union-attr]
                player.food += PLANT_FOOD
                player.achieve(ACHIEVEMENT["eat_plant"])
            else:
                player.failure = ("unripe",)
            return
        if kind == ARROW:
            player.failure = ("nothing", ARROW)
            return
        if kind == BUNDLE:
            self._take(player, thing)  # type: ignore[arg-type]
            return
        damage = next((damage for sword, damage in DAMAGE if player.items[sword]), 1)
        if kind == PLAYER:
            if self.fighting:
                thing.hurt(damage, player.name)  # type: ignore[union-attr]
            else:
                player.failure = ("peace",)
            return
        thing.health = max(0, thing.health - damage)
        player.struck = (kind, thing.health)
        if thing.health > 0:
            return
        if kind == ZOMBIE:
            player.achieve(ACHIEVEMENT["defeat_zombie"])
        elif kind == SKELETON:
            player.achieve(ACHIEVEMENT["defeat_skeleton"])
        elif kind == COW:
            player.food += COW_FOOD
            player.hunger = 0.0
            player.achieve(ACHIEVEMENT["eat_cow"])

    def _collect(self, player: Player, target: int) -> None:
        material = self.material[target]
        if material == WATER:
            player.thirst = 0.0
        found = COLLECT.get(material)
        if found is None:
            player.failure = ("nothing", material)
            return
        if found.tool is not None and not player.items[found.tool]:
            player.failure = ("tool", found.tool)
            return
        if found.leaves != material:
            self._set_material(target, found.leaves)
        if self.draws.uniform(purpose.COLLECT, target) > found.chance:
            player.failure = ("unlucky",)
            return
        if found.item is None:
            player.drink += 1
        else:
            player.gain(found.item)
        player.achieve(found.achievement)

    def _place(self, player: Player, action: int) -> None:
        target = player.cell + player.dx * self.stride + player.dy
        placing = PLACE[action]
        material, thing = self.material[target], self.at[target]
        if thing is not None:
            player.failure = ("where", thing.kind)
        elif material not in placing.where:
            player.failure = ("where", material)
        elif player.items[placing.item] < placing.amount:
            player.failure = ("short", placing.item, placing.amount)
        else:
            player.items[placing.item] -= placing.amount
            if placing.places == PLANT:
                self._add(PLANT, player.x + player.dx, player.y + player.dy)
            else:
                self._set_material(target, placing.places)
            player.achieve(placing.achievement)

    def _make(self, player: Player, action: int) -> None:
        making = MAKE[action]
        missing = [material for material in making.nearby if not self.is_near(player, material)]
        if missing:
            player.failure = ("nearby", *missing)
            return
        for item, amount in making.uses:
            if player.items[item] < amount:
                player.failure = ("short", item, amount)
                return
        for item, amount in making.uses:
            player.items[item] -= amount
        player.gain(making.gives)
        player.achieve(making.achievement)

    def is_near(self, player: Player, material: int) -> bool:
        """Whether the material is on one of the nine cells around the player.

        At the western and northern edge nothing is near, because the original slices from a negative index there."""
        if player.x == 0 or player.y == 0:
            return False
        first = player.cell - self.stride - 1
        return any(
            material in self.material[row : row + 3] for row in (first, first + self.stride, first + 2 * self.stride)
        )

    # -- trade ---------------------------------------------------------------------------------------------------
    def _take(self, player: Player, bundle: Thing) -> None:
        """Take from a bundle what can be carried."""
        assert bundle.items is not None
        move_items(bundle.items, player.items)
        if not any(bundle.items):
            self._remove(bundle)

    def give(self, player: Player, item: int, amount: int) -> int:
        """Hand items to the player in front; returns how many they could take."""
        other = self.at[player.cell + player.dx * self.stride + player.dy]
        if not isinstance(other, Player):
            return 0
        given = min(amount, player.items[item], MOST - other.items[item])
        player.items[item] -= given
        other.items[item] += given
        return given

    def drop(self, player: Player, item: int, amount: int) -> int:
        """Put items on the ground in front; returns how many were dropped."""
        x, y = player.x + player.dx, player.y + player.dy
        target = self.cell(x, y)
        there = self.at[target]
        if there is None and self.material[target] in CREATURES_WALK:
            bundle = self._add(BUNDLE, x, y)
            bundle.items = [0] * len(ITEMS)
        elif isinstance(there, Thing) and there.kind == BUNDLE:
            bundle = there
        else:
            return 0
        assert bundle.items is not None
        dropped = min(amount, player.items[item])
        player.items[item] -= dropped
        bundle.items[item] += dropped
        if not any(bundle.items):
            self._remove(bundle)
        return dropped

    def leave_bundle(self, player: Player) -> None:
        """Leave on the ground what a dead player carried."""
        if any(player.items) and self.at[player.cell] is None and self.material[player.cell] in CREATURES_WALK:
            bundle = self._add(BUNDLE, player.x, player.y)
            bundle.items, player.items = player.items, [0] * len(ITEMS)

    # -- what creatures do ---------------------------------------------------------------------------------------
    def _cow(self, cow: Thing) -> None:
        if cow.health <= 0:
            self._remove(cow)
        draws = self.draws
        if draws.uniform(purpose.COW_MOVES, cow.cell) < 0.5:
            self._move(cow, *_FOUR_DIRECTIONS[draws.below(4, purpose.COW_DIRECTION, cow.cell)])

    def _zombie(self, zombie: Thing) -> None:
        if zombie.health <= 0:
            self._remove(zombie)
        draws, cell = self.draws, zombie.cell
        player, distance = self._nearest(zombie.x, zombie.y)
        assert player is not None  # things are updated near players only
        if distance <= 8 and draws.uniform(purpose.ZOMBIE_CHASES, cell) < 0.9:
            self._move(zombie, *_toward(zombie, player, draws.uniform(purpose.ZOMBIE_AXIS, cell) < 0.8))
        else:
            self._move(zombie, *_FOUR_DIRECTIONS[draws.below(4, purpose.ZOMBIE_DIRECTION, cell)])
        if abs(player.x - zombie.x) + abs(player.y - zombie.y) <= 1:
            if zombie.timer:
                zombie.timer -= 1
            else:
                player.hurt(ZOMBIE_DAMAGE_TO_SLEEPERS if player.sleeping else ZOMBIE_DAMAGE, "zombie")
                zombie.timer = ZOMBIE_PAUSE

    def _skeleton(self, skeleton: Thing) -> None:
        if skeleton.health <= 0:
            self._remove(skeleton)
        skeleton.timer = max(0, skeleton.timer - 1)
        draws, cell = self.draws, skeleton.cell
        player, distance = self._nearest(skeleton.x, skeleton.y)
        assert player is not None
        if distance <= 3:
            dx, dy = _toward(skeleton, player, draws.uniform(purpose.SKELETON_FLEES, cell) < 0.6)
            if self._move(skeleton, -dx, -dy):
                return
        if distance <= 5 and draws.uniform(purpose.SKELETON_SHOOTS, cell) < 0.5:
            self._shoot(skeleton, *_toward(skeleton, player, True))
        elif distance <= 8 and draws.uniform(purpose.SKELETON_NEARS, cell) < 0.3:
            self._move(skeleton, *_toward(skeleton, player, draws.uniform(purpose.SKELETON_AXIS, cell) < 0.6))
        elif draws.uniform(purpose.SKELETON_MOVES, cell) < 0.2:
            self._move(skeleton, *_FOUR_DIRECTIONS[draws.below(4, purpose.SKELETON_DIRECTION, cell)])

    def _shoot(self, skeleton: Thing, dx: int, dy: int) -> None:
        target = skeleton.cell + dx * self.stride + dy
        if not skeleton.timer and self.at[target] is None and self.material[target] in ARROWS_FLY:
            arrow = self._add(ARROW, skeleton.x + dx, skeleton.y + dy)
            arrow.dx, arrow.dy = dx, dy
            skeleton.timer = SKELETON_RELOAD

    def _arrow(self, arrow: Thing) -> None:
        target = arrow.cell + arrow.dx * self.stride + arrow.dy
        hit, material = self.at[target], self.material[target]
        if hit is not None:
            if isinstance(hit, Player):
                hit.hurt(ARROW_DAMAGE, "arrow")
            else:
                hit.health = max(0, hit.health - ARROW_DAMAGE)
            self._remove(arrow)
        elif material not in ARROWS_FLY:
            self._remove(arrow)
            if material in (TABLE, FURNACE):
                self._set_material(target, PATH)
        else:
            self._move(arrow, arrow.dx, arrow.dy, ARROWS_FLY)

    def _plant(self, plant: Thing) -> None:
        plant.timer += 1
        for dx, dy in _FOUR_DIRECTIONS:
            neighbour = self.at[plant.cell + dx * self.stride + dy]
            if neighbour is not None and neighbour.kind in (ZOMBIE, SKELETON, COW):
                plant.health = max(0, plant.health - 1)
                break
        if plant.health <= 0:
            self._remove(plant)

    def _bundle(self, bundle: Thing) -> None:
        """A bundle lies where it is."""

    # -- the balance of creatures ----------------------------------------------------------------------------------
    def _balance(self) -> None:
        light = self.daylight
        zombies, cows = 3.5 - 3 * light, 1.5 + light
        for chunk in list(self.chunks.values()):
            few = 0 if chunk.grass < 50 else int(zombies)
            self._balance_kind(chunk, ZOMBIE, GRASS, few, int(zombies), 6, 0, 0.3, 0.4)
            self._balance_kind(chunk, SKELETON, PATH, 0 if chunk.path < 6 else 1, 2, 7, 7, 0.1, 0.1)
            self._balance_kind(chunk, COW, GRASS, 0 if chunk.grass < 30 else 1, int(cows), 5, 5, 0.01, 0.1)

    def _balance_kind(
        self, chunk: Chunk, kind: int, material: int, fewest: int, most: int, spawn_distance: int,
        removal_distance: int, spawn_chance: float, removal_chance: float,
    ) -> None:  # fmt: skip
        creatures = chunk.creatures[kind]
        count, draws, number = len(creatures), self.draws, chunk.number
        if fewest <= count <= most:
            return
        change, place = _BALANCE_DRAWS[kind]
        if count < fewest:
            if draws.uniform(change, number) < spawn_chance:
                space = chunk.grass if material == GRASS else chunk.path
                x, y = self._cell_with(chunk, material, draws.below(space, place, number))
                if self.at[self.cell(x, y)] is None and self._nearest(x, y)[1] >= spawn_distance:
                    self._add(kind, x, y)
        elif draws.uniform(change, number) < removal_chance:
            creature = draws.among(creatures, place, number)
            if self._nearest(creature.x, creature.y)[1] >= removal_distance:
                self._remove(creature)

    def _cell_with(self, chunk: Chunk, material: int, number: int) -> tuple[int, int]:
        """The cell of a chunk that is the number-th of this material, counted from 0 by x and then by y."""
        for x in range(chunk.x, chunk.x + chunk.width):
            first = self.cell(x, chunk.y)
            column = self.material[first : first + chunk.height]
            found = column.count(material)
            if number < found:
                at = -1
                for _ in range(number + 1):
                    at = column.index(material, at + 1)
                return x, chunk.y + at
            number -= found
        raise IndexError("a chunk has fewer cells of this material than it counted")


def _toward(thing: Thing, player: Player, long_axis: bool) -> tuple[int, int]:
    """One cell towards the player, along the longer or the shorter of the two distances."""
    dx, dy = player.x - thing.x, player.y - thing.y
    across = abs(dx) > abs(dy) if long_axis else abs(dx) <= abs(dy)
    if across:
        return (dx > 0) - (dx < 0), 0
    return 0, (dy > 0) - (dy < 0)


def move_items(source: list[int], target: list[int]) -> None:
    """Move as many of each item as the target can carry."""
    for item, amount in enumerate(source):
        moved = min(amount, MOST - target[item])
        source[item] -= moved
        target[item] += moved


_UPDATES = {
    COW: Game._cow, ZOMBIE: Game._zombie, SKELETON: Game._skeleton, ARROW: Game._arrow, PLANT: Game._plant,
    BUNDLE: Game._bundle,
}  # fmt: skip
_BALANCE_DRAWS = {
    ZOMBIE: (purpose.SPAWN_ZOMBIE, purpose.ZOMBIE_PLACE),
    SKELETON: (purpose.SPAWN_SKELETON, purpose.SKELETON_PLACE),
    COW: (purpose.SPAWN_COW, purpose.COW_PLACE),
}
