"""Land in a batch: how much each nation owns, and ceding it."""

from typing import Any

from cohabit.worlds.statecraft.batch.arrays import Array, BatchOrders, BatchStanding, Board, by_nation


def land(xp: Any, owner: Array, nations: int) -> Array:
    """games x nations: how many territories each owns."""
    counts = [xp.sum(xp.astype(owner == nation, xp.int32), axis=1, dtype=xp.int32) for nation in range(nations)]
    return xp.astype(by_nation(xp, counts), xp.int64)


def cede(standing: BatchStanding, orders: BatchOrders) -> tuple[Array, Array]:
    """The owners after all cessions, and which were carried out.

    An order must be sound on the map as the turn began and, one by one in the order of givers and slots, on the
    map as it has become. Most orders of most turns are none, so it goes in waves: the first sound order of every
    game, then the second of those that have one, and so on.
    """
    xp = standing.board.xp
    games, givers, slots = orders.ceded.shape
    every = givers * slots
    if not every:
        return standing.owner, orders.ceded >= 0
    what, to = (xp.reshape(table, (games, every)) for table in (orders.ceded, orders.ceded_to))
    number = xp.arange(every, dtype=xp.int64)[None, :]
    sound = _sound(standing, xp.broadcast_to(number // slots, (games, every)), what, to)
    queue = xp.sort(xp.where(sound, number, every), axis=1)  # of each game: its sound orders, then what is none
    waves = int(xp.max(xp.sum(xp.astype(sound, xp.int64), axis=1)))
    owner, done = standing.owner, xp.zeros((games, every), dtype=xp.bool)
    for wave in range(waves):
        turn = queue[:, wave : wave + 1]  # games x 1, as all of the wave
        place = xp.minimum(turn, every - 1)
        its_what, its_to = (xp.take_along_axis(table, place, axis=1) for table in (xp.maximum(what, 0), to))
        carried = (turn < every) & _fits(standing.board, owner, place // slots, its_what, its_to)
        here = xp.arange(owner.shape[1], dtype=xp.int64)[None, :] == its_what
        owner = xp.where(here & carried, its_to, owner)
        done = done | ((number == turn) & carried)
    return owner, xp.reshape(done, (games, givers, slots))


def _sound(standing: BatchStanding, giver: Array, what: Array, to: Array) -> Array:
    """Which orders are sound as the turn begins. The capital stays."""
    xp = standing.board.xp
    capital = xp.take_along_axis(standing.capitals, giver, axis=1)
    meant = (what >= 0) & (to >= 0) & (to != giver) & (what != capital)
    return meant & _fits(standing.board, standing.owner, giver, xp.maximum(what, 0), to)


def _fits(board: Board, owner: Array, giver: Array, what: Array, to: Array) -> Array:
    """On this map: the giver owns it and, where there is a graph, the receiver owns a neighbour of it.

    All are games x orders, and ``what`` is always a territory.
    """
    xp = board.xp
    fits = _at(xp, owner, what) == giver
    if board.neighbours is None:
        return fits
    beside = to < 0
    for neighbour in xp.unstack(board.neighbours, axis=1):
        beside = beside | (_at(xp, owner, _each(xp, neighbour, what)) == to)
    return fits & beside


def _at(xp: Any, owner: Array, what: Array) -> Array:
    """Who owns these territories, games x any number of them. One long list is quicker to look up in than rows."""
    games, places = owner.shape
    game = xp.arange(games, dtype=xp.int64)[:, None]
    return _each(xp, xp.reshape(xp.permute_dims(owner, (1, 0)), (games * places,)), what * games + game)


def _each(xp: Any, values: Array, index: Array) -> Array:
    """The values at an index of any shape."""
    return xp.reshape(xp.take(values, xp.reshape(index, (-1,))), index.shape)
