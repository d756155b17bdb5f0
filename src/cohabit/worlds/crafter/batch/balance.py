"""The balance of creatures: every ten steps each chunk that something has entered may gain or lose some."""

from typing import NamedTuple

from cohabit.worlds.crafter.balance import KINDS, Kind
from cohabit.worlds.crafter.batch.draws import StepDraws, under
from cohabit.worlds.crafter.batch.games import NEVER, Games
from cohabit.worlds.crafter.batch.library import Array
from cohabit.worlds.crafter.batch.tables import MATERIAL_BITS, THING_BITS, standing
from cohabit.worlds.crafter.land import BORDER
from cohabit.worlds.crafter.rules import BALANCE_EVERY, CHUNK, COW, DAY, GRASS, SKELETON, ZOMBIE

_ENTRY_BITS, _KIND_BITS = 36, 2


class _Spawned(NamedTuple):
    game: Array
    entered: Array  # orders the chunks
    kind: int
    cell: Array


def balance(games: Games, draws: StepDraws) -> None:
    """Spawn and remove creatures in the games for which it is time."""
    xp = games.xp
    due = games.library.where(games.step % BALANCE_EVERY == 0)
    if not due.shape[0]:
        return
    chunks = games.tables.chunks
    index = xp.reshape(due[:, None] * chunks + games.library.arange(chunks)[None, :], (-1,))
    index = index[games.entered[index] != NEVER]
    game = index // chunks
    hour = games.step[game] % DAY
    zombies, cows = games.tables.zombies[hour], games.tables.cows[hour]
    limits = {ZOMBIE: (zombies, zombies), SKELETON: (1, 2), COW: (1, cows)}
    creatures = _creatures(games, due)
    spawned = [_balance(games, draws, rule, index, creatures[rule.kind][index], *limits[rule.kind]) for rule in KINDS]
    _add(games, [part for part in spawned if part is not None])


def _creatures(games: Games, due: Array) -> dict[int, Array]:
    """The number of creatures of each kind by chunk, in the games given."""
    xp, tables = games.xp, games.tables
    slots = xp.reshape(due[:, None] * games.slots + games.library.arange(games.slots)[None, :], (-1,))
    kind = games.kind[slots]
    slots = slots[(kind == ZOMBIE) | (kind == SKELETON) | (kind == COW)]
    kind = games.kind[slots]
    chunk = slots // games.slots * tables.chunks + tables.chunk_at[games.cell(games.x[slots], games.y[slots])]
    return {rule.kind: games.library.counts(chunk[kind == rule.kind], games.count * tables.chunks) for rule in KINDS}


def _balance(
    games: Games, draws: StepDraws, rule: Kind, index: Array, number: Array, fewest: Array | int, most: Array | int
) -> _Spawned | None:
    xp = games.xp
    space = (games.grass if rule.material == GRASS else games.path)[index]
    few = (number < fewest) & (space >= rule.space)
    many = ~few & (number > most)
    chosen = games.library.where(few | many)
    index, few, number, space = index[chosen], few[chosen], number[chosen], space[chosen]
    chunks = games.tables.chunks
    game, chunk = index // chunks, index % chunks
    luck = draws.bits(rule.change, game, chunk)
    happens = games.library.where(xp.where(few, luck < under(rule.spawn_chance), luck < under(rule.removal_chance)))
    index, game, chunk, few = index[happens], game[happens], chunk[happens], few[happens]
    options = xp.where(few, space[happens], xp.astype(number[happens], space.dtype))
    number = draws.below(xp.astype(options, xp.int64), rule.place, game, chunk)
    fewer, more = games.library.where(~few), games.library.where(few)
    _remove(games, rule, game[fewer], chunk[fewer], number[fewer])
    return _spawn(games, rule, game[more], chunk[more], number[more])


def _distance(games: Games, game: Array, x: Array, y: Array) -> Array:
    return games.xp.abs(games.player_x[game] - x) + games.xp.abs(games.player_y[game] - y)


def _spawn(games: Games, rule: Kind, game: Array, chunk: Array, number: Array) -> _Spawned | None:
    if not game.shape[0]:
        return None
    xp, tables = games.xp, games.tables
    size = CHUNK * CHUNK
    cells = tables.chunk_cells[chunk[:, None] * size + games.library.arange(size)[None, :]]
    material = games.map[game[:, None] * tables.cells + cells] & MATERIAL_BITS
    up_to = xp.cumulative_sum(xp.astype(material == rule.material, xp.int64), axis=1)
    at = xp.sum(xp.astype(up_to <= number[:, None], xp.int64), axis=1)
    cell = tables.chunk_cells[chunk * size + at]
    place = game * tables.cells + cell
    x, y = cell // tables.stride - BORDER, cell % tables.stride - BORDER
    free = (games.map[place] & THING_BITS) == 0
    free = games.library.where(free & (_distance(games, game, x, y) >= rule.spawn_distance))
    game, cell, place = game[free], cell[free], place[free]
    games.library.put(games.map, place, games.map[place] | standing(rule.kind))  # seen by the kinds that follow
    return _Spawned(game, games.entered[game * tables.chunks + chunk[free]], rule.kind, cell)


def _remove(games: Games, rule: Kind, game: Array, chunk: Array, number: Array) -> None:
    """Remove from each chunk the creature with this number, in the order in which they came into the chunk."""
    if not game.shape[0]:
        return
    xp, tables = games.xp, games.tables
    is_kind = games.rows(games.kind, game) == rule.kind
    x, y = games.rows(games.x, game), games.rows(games.y, game)
    cell = xp.where(is_kind, games.cell(x, y), 0)
    candidate = is_kind & (tables.chunk_at[cell] == chunk[:, None])
    came = games.rows(games.chunk_since, game) * games.slots + games.library.arange(games.slots)[None, :]
    came = xp.sort(xp.where(candidate, came, NEVER), axis=1)
    slots = came.shape[1]
    slot = xp.reshape(came, (-1,))[games.library.arange(game.shape[0]) * slots + number] % games.slots
    index = game * games.slots + slot
    far = games.library.where(_distance(games, game, games.x[index], games.y[index]) >= rule.removal_distance)
    index, game = index[far], game[far]
    games.clear(game * tables.cells + games.cell(games.x[index], games.y[index]))
    games.remove(index)


def _add(games: Games, spawned: list[_Spawned]) -> None:
    """Give the spawned creatures slots in the order of creation: by chunk, and then by kind."""
    if not spawned:
        return
    xp, library = games.xp, games.library
    game = xp.concat([part.game for part in spawned])
    if not game.shape[0]:
        return
    entered = xp.concat([part.entered for part in spawned])
    kind = xp.concat([xp.full_like(part.game, part.kind) for part in spawned])
    turn = xp.concat([xp.full_like(part.game, number) for number, part in enumerate(spawned)])
    cell = xp.concat([part.cell for part in spawned])
    order = xp.argsort((((game << _ENTRY_BITS) + entered) << _KIND_BITS) + turn)
    game, kind, cell = game[order], kind[order], cell[order]
    rank = library.rank_in_game(game, games.count)
    games.make_room(int(xp.max(rank)) + 1)
    games.add(game, games.used[game] + rank, kind, cell)
    games.used = games.used + xp.astype(library.counts(game, games.count), xp.int64)
