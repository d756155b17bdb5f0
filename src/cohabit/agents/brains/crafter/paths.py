"""Finding the cheapest way over the known land."""

from collections.abc import Callable

from cohabit.agents.brains.crafter.map import STRIDE


def cheapest(costs: bytearray, start: int, is_goal: Callable[[int], int], limit: int = 1000) -> list[int]:
    """The cheapest way from a cell to the nearest goal: its cells without the start, the last one first.

    ``costs`` says for each cell what it costs to enter it; 0 is impossible. Without a way within the limit the list is
    empty, and also if the start is a goal; see ``is_goal``.

    The costs are small whole numbers, so cells wait in one list for each distance instead of in a heap.
    """
    best = {start: 0}
    came: dict[int, int] = {}
    waiting: list[list[int]] = [[start]]
    walked = 0
    while walked < len(waiting) and walked <= limit:
        for cell in waiting[walked]:
            if best[cell] < walked:
                continue  # a cheaper way was found meanwhile
            if is_goal(cell):
                return _trace(came, cell)
            for neighbour in (cell - 1, cell + 1, cell - STRIDE, cell + STRIDE):
                cost = costs[neighbour]
                if cost:
                    cost += walked
                    if neighbour not in best or cost < best[neighbour]:
                        best[neighbour] = cost
                        came[neighbour] = cell
                        while len(waiting) <= cost:
                            waiting.append([])
                        waiting[cost].append(neighbour)
        walked += 1
    return []


def _trace(came: dict[int, int], cell: int) -> list[int]:
    way = []
    while cell in came:
        way.append(cell)
        cell = came[cell]
    return way
