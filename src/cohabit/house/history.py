"""The durable entries of a room: the newest from memory, older ones from the store."""

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING

from cohabit.errors import BadArgs
from cohabit.house.running.threads import run_in_thread
from cohabit.model.record import decode_entry
from cohabit.room.record import Line

if TYPE_CHECKING:
    from cohabit.house.door import HouseContext

PAGE = 1000
"""How many entries are read from the store at once."""


async def history(ctx: "HouseContext", after: int) -> AsyncIterator[Line]:
    """The durable lines after a number: from memory if they are there, else from the store."""
    runner = ctx.runner
    recent = list(runner.recent)
    oldest = recent[0].seq if recent else runner.durable_seq + 1
    while after + 1 < oldest:
        start, limit = after, min(PAGE, oldest - after - 1)
        page = await run_in_thread("a page of the record", partial(_page, ctx, start, limit))
        for line in page:
            yield line
        if not page:
            break
        after = page[-1].seq
    for line in recent:
        if line.seq > after:
            yield line


def _page(ctx: "HouseContext", after: int, limit: int) -> list[Line]:
    lines = kept_lines(ctx, after, limit)
    if lines and lines[0].seq != after + 1 and after >= 0:
        raise BadArgs("this cursor is too old: its events were deleted. Omit it to start from the oldest event")
    return lines


def kept_lines(ctx: "HouseContext", after: int, limit: int) -> list[Line]:
    """The lines after a number that are still in the store."""
    rows = ctx.house.store.lines(ctx.room.id, after, limit)
    return [Line(seq, body, digest, decode_entry(body)) for seq, body, digest in rows]
