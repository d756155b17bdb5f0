"""Progress of a call that waits, for clients that ask for it.

A client gives up on a call that is silent for too long. Reports tell it that the call is still waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from cohabit.house.calls.command_list import CommandInfo

REPORT_EVERY_S: Final = 5.0


@asynccontextmanager
async def reporting(
    ctx: ServerRequestContext[Any, Any], info: CommandInfo, args: Mapping[str, Any]
) -> AsyncIterator[None]:
    """Report how much of its time to wait a call has used, for as long as the block runs."""
    wait_ms = _wait_ms(info, args)
    if wait_ms <= 0 or ctx.meta is None or "progress_token" not in ctx.meta:
        yield
        return
    reporter = asyncio.create_task(_report(ctx, wait_ms / 1000), name=f"progress of {info.name}")
    try:
        yield
    finally:
        reporter.cancel()
        await asyncio.gather(reporter, return_exceptions=True)  # a client that is gone needs no reports


async def _report(ctx: ServerRequestContext[Any, Any], total_s: float) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        await ctx.session.report_progress(loop.time() - began, total_s, "waiting")
        await asyncio.sleep(REPORT_EVERY_S)


def _wait_ms(info: CommandInfo, args: Mapping[str, Any]) -> int:
    declared = info.schema.get("properties", {}).get("wait_ms", {})
    given = args.get("wait_ms", declared.get("default", 0))
    return given if info.waits and isinstance(given, int) else 0
