"""The moves of cows, zombies, skeletons, arrows and plants in a step.

Where a creature wants to go depends only on itself, the player and its draws, so that is computed for all creatures of
all games at once. Whether it gets there depends on those that act before it. So moves are made in rounds: the first
thing of every game, then the second, and so on. Most things have no other one near them, and then the order does not
matter; and a thing that changes no cell takes part in no round.
"""

from typing import Any

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.batch.draws import StepDraws, under
from cohabit.worlds.crafter.batch.games import Games
from cohabit.worlds.crafter.batch.library import Array
from cohabit.worlds.crafter.batch.players import thing_at
from cohabit.worlds.crafter.batch.tables import MATERIAL_BITS, STAY, THING_BITS, standing

_WALKS, _HUNTS, _FLIES, _GROWS = range(4)  # how a thing takes part in a round
_NOT = -1
_NOTHING, _SHOOT, _MOVE = range(3)  # what a skeleton does if it does not flee


def update(games: Games, draws: StepDraws) -> None:
    """Let all things near the players act."""
    active = _Active(games)
    if not active.index.shape[0]:
        return
    active.decide(draws)
    zombies = active.of_kind(rules.ZOMBIE)
    rounds = _Rounds(active)
    rounds.play()
    rounds.finish()
    _attack(games, active, zombies)


class _Active:
    """The things near the players, game by game in order of creation, and what each wants to do."""

    def __init__(self, games: Games) -> None:
        xp, library = games.xp, games.library
        self.games = games
        slots = max(1, int(xp.max(games.used)))

        def by_slot(array: Array) -> Array:
            return xp.reshape(array, (games.count, games.slots))[:, :slots]

        away = xp.abs(by_slot(games.x) - games.player_x[:, None])
        away += xp.abs(by_slot(games.y) - games.player_y[:, None])
        found = library.where(xp.reshape(away < rules.ACTIVE_DISTANCE, (-1,)))
        self.game = found // slots
        self.index = found + self.game * (games.slots - slots)
        self.kind = games.kind[self.index]
        self.x, self.y = games.x[self.index], games.y[self.index]
        self.cell = games.cell(self.x, self.y)
        self.part = xp.full_like(found, _NOT, dtype=xp.int16)
        self.direction = xp.full_like(found, STAY)
        self.in_turn = xp.zeros_like(found, dtype=xp.bool)  # what it does concerns the whole game, not just cells
        self.hunters: tuple[Array, ...] = ()

    def of_kind(self, kind: int) -> Array:
        return self.games.library.where(self.kind == kind)

    def decide(self, draws: StepDraws) -> None:
        games = self.games
        put, xp = games.library.put, games.xp
        for kind, rule in ((rules.COW, _cows), (rules.ZOMBIE, _zombies), (rules.SKELETON, _skeletons)):
            chosen = self.of_kind(kind)
            if chosen.shape[0]:
                rule(self, draws, chosen)
        creature = (self.kind != rules.ARROW) & (self.kind != rules.PLANT)
        self.dead = creature & (games.health[self.index] <= 0)
        walks = ((self.direction != STAY) | self.dead) & (self.part == _NOT)
        self.part = xp.where(walks, _WALKS, self.part)
        arrows = self.of_kind(rules.ARROW)
        if arrows.shape[0]:
            # Whatever an arrow can kill must be there at its turn, even if it does not want to move.
            in_danger = xp.zeros_like(games.sleeping)
            put(in_danger, xp.unique_values(self.game[arrows]), True)
            self.part = xp.where(creature & (self.part == _NOT) & in_danger[self.game], _WALKS, self.part)
            put(self.part, arrows, _FLIES)
            direction = xp.astype(games.flight[self.index[arrows]], xp.int64)
            put(self.direction, arrows, direction)
            place = self.game[arrows] * games.tables.cells + self.cell[arrows]
            target = games.map[place + games.tables.delta[direction]]
            put(
                self.in_turn,
                arrows,
                ((target & THING_BITS) == _PLAYER) | (target == rules.TABLE) | (target == rules.FURNACE),
            )
        # Things that appear in this step act from the next one on.
        appeared = games.chunk_since[self.index] == games.step[self.game]
        plants = games.library.where((self.kind == rules.PLANT) & ~appeared)
        put(self.part, plants, _GROWS)
        grown = self.index[plants]
        put(games.timer, grown, games.timer[grown] + 1)

    def offsets(self, chosen: Array) -> tuple[Array, Array]:
        """The way from things to the player of their game."""
        game = self.game[chosen]
        return self.games.player_x[game] - self.x[chosen], self.games.player_y[game] - self.y[chosen]


def _toward(xp: Any, dx: Array, dy: Array, long_axis: Array) -> Array:
    """The direction to the player along the longer or the shorter of the two distances."""
    wide, high = xp.abs(dx), xp.abs(dy)
    along_x = xp.where(long_axis, wide > high, wide <= high)
    step = xp.where(along_x, dx, dy)
    first = 2 * xp.astype(~along_x, xp.int64)
    return xp.where(step == 0, STAY, first + xp.astype(step > 0, xp.int64))


def _any_direction(draws: StepDraws, xp: Any, what: int, game: Array, cell: Array) -> Array:
    return xp.astype(draws.bits(what, game, cell) >> 30, xp.int64)


def _cows(active: _Active, draws: StepDraws, chosen: Array) -> None:
    put = active.games.library.put
    game, cell = active.game[chosen], active.cell[chosen]
    moving = active.games.library.where(draws.bits(purpose.COW_MOVES, game, cell) < under(0.5))
    chosen, game, cell = chosen[moving], game[moving], cell[moving]
    put(active.direction, chosen, _any_direction(draws, active.games.xp, purpose.COW_DIRECTION, game, cell))


def _zombies(active: _Active, draws: StepDraws, chosen: Array) -> None:
    xp = active.games.xp
    game, cell = active.game[chosen], active.cell[chosen]
    dx, dy = active.offsets(chosen)
    near = xp.abs(dx) + xp.abs(dy) <= 8
    chases = near & (draws.bits(purpose.ZOMBIE_CHASES, game, cell) < under(0.9))
    nearer = _toward(xp, dx, dy, draws.bits(purpose.ZOMBIE_AXIS, game, cell) < under(0.8))
    wandering = _any_direction(draws, xp, purpose.ZOMBIE_DIRECTION, game, cell)
    active.games.library.put(active.direction, chosen, xp.where(chases, nearer, wandering))


def _skeletons(active: _Active, draws: StepDraws, chosen: Array) -> None:
    games = active.games
    xp, put = games.xp, games.library.put
    index = active.index[chosen]
    timer = games.timer[index]
    timer = timer - xp.astype(timer > 0, xp.int32)
    put(games.timer, index, timer)
    game, cell = active.game[chosen], active.cell[chosen]

    def happens(what: int, chance: float) -> Array:
        return draws.bits(what, game, cell) < under(chance)

    dx, dy = active.offsets(chosen)
    distance = xp.abs(dx) + xp.abs(dy)
    flees = distance <= 3
    nearer = _toward(xp, dx, dy, happens(purpose.SKELETON_FLEES, 0.6))
    away = xp.where(nearer == STAY, STAY, nearer ^ 1)
    shoots = (distance <= 5) & happens(purpose.SKELETON_SHOOTS, 0.5)
    nears = ~shoots & (distance <= 8) & happens(purpose.SKELETON_NEARS, 0.3)
    moves = ~shoots & ~nears & happens(purpose.SKELETON_MOVES, 0.2)
    nearer = _toward(xp, dx, dy, shoots | happens(purpose.SKELETON_AXIS, 0.6))
    direction = xp.where(moves, _any_direction(draws, xp, purpose.SKELETON_DIRECTION, game, cell), nearer)
    direction = xp.where(shoots | nears | moves, direction, STAY)
    shot = shoots & (timer == 0)
    hunts = games.library.where(flees | shot)
    put(active.part, chosen[hunts], _HUNTS)
    put(active.in_turn, chosen[shot], True)
    # One who only walks is like the other walkers; one who shoots while reloading does nothing.
    put(active.direction, chosen, xp.where(shoots & ~shot & ~flees, STAY, direction))
    walks = ~shoots & (direction != STAY)
    what = xp.astype(shot, xp.int8) * _SHOOT + xp.astype(walks, xp.int8) * _MOVE
    active.hunters = (chosen[hunts], flees[hunts], away[hunts], what[hunts])


class _Rounds:
    """The things that take part in rounds, in the order of the rounds and in each by their part."""

    def __init__(self, active: _Active) -> None:
        games = active.games
        xp, library = games.xp, games.library
        self.games, self.active = games, active
        chosen = library.where(active.part != _NOT)
        key = self._round(chosen) * 4 + active.part[chosen]
        order = xp.argsort(key, stable=True)
        key, chosen = key[order], chosen[order]
        self.chosen = chosen
        self.game, self.index = active.game[chosen], active.index[chosen]
        self.cell, self.direction = active.cell[chosen], active.direction[chosen]
        self.place = self.game * games.tables.cells + self.cell
        self.target = self.place + games.tables.delta[self.direction]
        self.dead = active.dead[chosen]
        self.gone = library.copy(self.dead)
        self.moved = xp.zeros_like(self.dead)
        last = int(key[-1]) if key.shape[0] else -1
        bounds = xp.searchsorted(key, xp.arange(last + 2, dtype=key.dtype, device=library.device))
        self.bounds = library.host(bounds).tolist()
        self._count_the_dead()
        self.written = 0  # up to here the new positions are in the state
        self.shots: list[tuple[Array, ...]] = []
        if active.hunters:
            at = xp.zeros_like(active.index)
            library.put(at, chosen, library.arange(chosen.shape[0]))
            who, *plans = active.hunters
            self.plans = []
            for plan in plans:
                sorted_plan = xp.zeros(chosen.shape[0], dtype=plan.dtype, device=library.device)
                library.put(sorted_plan, at[who], plan)
                self.plans.append(sorted_plan)

    def _round(self, chosen: Array) -> Array:
        """The round of each thing. One that nothing else is near to can act at any time, so it acts in the first."""
        games, active, xp = self.games, self.active, self.games.xp
        place = active.game[chosen] * games.tables.cells + active.cell[chosen]
        around = games.map[place[:, None] + games.tables.around[None, :]] & THING_BITS
        crowded = xp.any((around != 0) & (around != _PLAYER), axis=1)
        ordered = games.library.where(crowded | active.in_turn[chosen])
        number = xp.zeros_like(active.part[chosen])
        rank = games.library.rank_in_game(active.game[chosen[ordered]], games.count)
        games.library.put(number, ordered, xp.astype(rank, number.dtype))
        return number

    def _count_the_dead(self) -> None:
        xp = self.games.xp
        total = xp.cumulative_sum(xp.astype(self.dead, xp.int64), include_initial=True)
        bounds = self.games.library.array(self.bounds, xp.int64)
        self.dead_before = self.games.library.host(total[bounds]).tolist()

    def play(self) -> None:
        ways = {_WALKS: self._walk, _HUNTS: self._hunt, _FLIES: self._fly, _GROWS: self._grow}
        for number, (first, end) in enumerate(zip(self.bounds, self.bounds[1:], strict=False)):
            if first < end:
                dead = self.dead_before[number] < self.dead_before[number + 1]
                ways[number % 4](slice(first, end), dead)

    def _walk(self, these: slice, some_are_dead: bool) -> None:
        games = self.games
        if some_are_dead:
            games.clear(self.place[these][self.dead[these]])
        target = self.target[these]
        byte = games.map[target]
        free = games.library.look_up(games.tables.walk, byte)
        if some_are_dead:
            free = free & ~self.dead[these]
        self.moved[these] = free
        movers = games.library.where(free)
        self._move(self.place[these][movers], target[movers], byte[movers])

    def _move(self, here: Array, there: Array, ground: Array) -> None:
        """Move what stands at one place to another one, whose byte is given."""
        games, put = self.games, self.games.library.put
        byte = games.map[here]
        put(games.map, there, ground | (byte & THING_BITS))
        put(games.map, here, byte & MATERIAL_BITS)

    def _hunt(self, these: slice, some_are_dead: bool) -> None:
        games, xp = self.games, self.games.xp
        place, alive = self.place[these], ~self.dead[these]
        flees, away, what = (plan[these] for plan in self.plans)
        if some_are_dead:
            games.clear(place[~alive])
        delta, look_up = games.tables.delta, games.library.look_up
        # One that was killed has nowhere to go, but if it could flee it does nothing else.
        fled = flees & look_up(games.tables.walk, games.map[place + delta[away]])
        other = self.target[these]
        walks = ~fled & (what == _MOVE) & look_up(games.tables.walk, games.map[other])
        moved = (fled | walks) & alive
        direction = xp.where(fled, away, self.direction[these])
        self.direction[these] = direction
        self.moved[these] = moved
        movers = games.library.where(moved)
        there = (place + delta[direction])[movers]
        self._move(place[movers], there, games.map[there])
        shoots = ~fled & (what == _SHOOT) & look_up(games.tables.fly, games.map[other])
        shooters = games.library.where(shoots)
        if shooters.shape[0]:
            self._shoot(these, shooters)

    def _shoot(self, these: slice, who: Array) -> None:
        games, put = self.games, self.games.library.put
        game, index, direction = self.game[these][who], self.index[these][who], self.direction[these][who]
        put(games.timer, index, rules.SKELETON_RELOAD)
        cell = self.cell[these][who] + games.tables.delta[direction]
        arrows = games.add_one(game, rules.ARROW, cell)
        self.shots.append((game, games.tables.chunk_at[cell], index % games.slots + 1))
        put(games.flight, arrows, games.xp.astype(direction, games.xp.int8))

    def _fly(self, these: slice, some_are_dead: bool) -> None:
        games, xp, put = self.games, self.games.xp, self.games.library.put
        game, place, target = self.game[these], self.place[these], self.target[these]
        byte = games.map[target]
        flies = games.library.look_up(games.tables.fly, byte)
        self.moved[these] = flies
        flying = games.library.where(flies)
        self._move(place[flying], target[flying], byte[flying])
        if flying.shape[0] == flies.shape[0]:
            return
        self.gone[these] = ~flies
        stopped = games.library.where(~flies)
        game, byte, cell = game[stopped], byte[stopped], (target - game * games.tables.cells)[stopped]
        games.clear(place[stopped])
        thing = byte & THING_BITS
        hit = game[thing == _PLAYER]
        left = games.vitality[hit] - rules.ARROW_DAMAGE
        put(games.vitality, hit, xp.where(left > 0, left, 0))
        struck = games.library.where((thing != 0) & (thing != _PLAYER))
        if struck.shape[0]:
            self._write(these.start)
            index = thing_at(games, game[struck], cell[struck])
            health = games.health[index]
            put(games.health, index, xp.where(health > rules.ARROW_DAMAGE, health - rules.ARROW_DAMAGE, 0))
            self._notice_the_killed(these.stop)
        smashed = games.library.where((byte == rules.TABLE) | (byte == rules.FURNACE))
        if smashed.shape[0]:
            games.set_material(game[smashed], cell[smashed], xp.full_like(smashed, rules.PATH))

    def _notice_the_killed(self, after: int) -> None:
        """An arrow killed something, which is gone when it acts later in this step."""
        games, later = self.games, slice(after, None)
        kind, health = games.kind[self.index[later]], games.health[self.index[later]]
        killed = (kind != rules.ARROW) & (kind != rules.PLANT) & (health <= 0)
        self.dead[later] = killed
        self.gone[later] = killed
        self._count_the_dead()

    def _grow(self, these: slice, some_are_dead: bool) -> None:
        games, xp, put = self.games, self.games.xp, self.games.library.put
        index, place = self.index[these], self.place[these]
        eaten = xp.zeros_like(index, dtype=xp.bool)
        for delta in (-games.tables.stride, games.tables.stride, -1, 1):
            eaten = eaten | games.library.look_up(games.tables.eats_plants, games.map[place + delta])
        health = xp.where(eaten, 0, games.health[index])
        put(games.health, index, health)
        self.gone[these] = health <= 0
        games.clear(place[health <= 0])

    def _write(self, end: int) -> None:
        """Write the positions of those before this one into the state."""
        games = self.games
        put, tables = games.library.put, games.tables
        done = slice(self.written, end)
        self.written = end
        moved = games.library.where(self.moved[done])
        index, direction = self.index[done][moved], self.direction[done][moved]
        x, y = games.x[index] + tables.dx[direction], games.y[index] + tables.dy[direction]
        put(games.x, index, x)
        put(games.y, index, y)
        # A zombie that was killed strikes once more, so its place is still needed.
        put(self.active.x, self.chosen[done][moved], x)
        put(self.active.y, self.chosen[done][moved], y)
        games.remove(self.index[done][self.gone[done]])

    def finish(self) -> None:
        """Write the rest, and note who entered which chunk."""
        games, xp = self.games, self.games.xp
        tables = games.tables
        self._write(self.index.shape[0])
        moved = games.library.where(self.moved)
        cell = self.cell[moved]
        before, after = tables.chunk_at[cell], tables.chunk_at[cell + tables.delta[self.direction[moved]]]
        crossed = games.library.where(before != after)
        moved = moved[crossed]
        index, game = self.index[moved], self.game[moved]
        games.library.put(games.chunk_since, index, games.step[game])
        entries = [(game, after[crossed], index % games.slots + 1), *self.shots]
        game, chunk, order = (xp.concat(parts) for parts in zip(*entries, strict=True))
        games.enter(game, chunk, order)


def _attack(games: Games, active: _Active, zombies: Array) -> None:
    """Zombies next to the player hit it, or wait for their next blow."""
    xp, put = games.xp, games.library.put
    dx, dy = active.offsets(zombies)
    near = zombies[xp.abs(dx) + xp.abs(dy) <= 1]
    if not near.shape[0]:
        return
    game, index = active.game[near], active.index[near]
    timer = games.timer[index]
    put(games.timer, index, xp.where(timer > 0, timer - 1, rules.ZOMBIE_PAUSE))
    blows = xp.astype(games.library.counts(game[timer == 0], games.count), xp.int32)
    more_to_sleepers = xp.astype(games.sleeping, xp.int32) * (rules.ZOMBIE_DAMAGE_TO_SLEEPERS - rules.ZOMBIE_DAMAGE)
    left = games.vitality - blows * (rules.ZOMBIE_DAMAGE + more_to_sleepers)
    games.vitality = xp.where(left > 0, left, 0)


_PLAYER = standing(rules.PLAYER)
