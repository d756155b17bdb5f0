"""In which order the processes of a house start."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cohabit.faces.workers import supervisor, worker
from cohabit.house.nodes.link import Link
from cohabit.house.running.computing import shared_memory
from cohabit.house.settings import Settings

IN_ORDER = ["MCP is imported", "the house is opened"]


class Opened(Exception):
    """As far as these tests go."""


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []

    def opens(*given: Any, **more: Any) -> Any:
        found.append("the house is opened")
        raise Opened

    for module in (supervisor, worker):
        monkeypatch.setattr(module, "import_mcp", lambda: found.append("MCP is imported"))
        monkeypatch.setattr(module.House, "open", opens)
    monkeypatch.setattr(supervisor, "_opened_store", opens)  # before the house: its leases begin there
    return found


async def test_a_front_imports_mcp_before_it_has_a_lease_that_it_could_not_renew_meanwhile(
    happened: list[str], tmp_path: Path
) -> None:
    with pytest.raises(Opened):
        async with supervisor.open_front(Settings(data=str(tmp_path))):
            raise AssertionError("it does not open")
    assert happened == IN_ORDER


async def test_a_worker_imports_mcp_before_it_has_a_lease_that_it_could_not_renew_meanwhile(
    happened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "log_to_stderr", lambda level: None)
    start = worker.Start("w1", Settings(), str(tmp_path / "store"), str(tmp_path / "w1"), "http://localhost", "word")
    ours, theirs = socket.socketpair()
    link, memory = await Link.over(ours, {"hello": lambda pid: start}), shared_memory()
    try:
        with pytest.raises(Opened):
            await worker.work(theirs, theirs, memory)
    finally:
        link.close()
        os.close(memory)
    assert happened == IN_ORDER


async def test_a_house_that_is_stopped_while_its_workers_start_stops_them_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    started, handlers = asyncio.Event(), supervisor.Supervisor._handlers

    def noting(self: supervisor.Supervisor, of: supervisor.WorkerProcess) -> Mapping[str, Callable[..., Any]]:
        found = handlers(self, of)

        def hello(pid: int) -> Any:
            started.set()
            return found["hello"](pid)

        return {**found, "hello": hello}

    monkeypatch.setattr(supervisor.Supervisor, "_handlers", noting)

    async def opening() -> None:
        async with supervisor.open_front(Settings(data=str(tmp_path), workers=1), mcp=False):
            raise AssertionError("it is stopped before")

    opened = asyncio.ensure_future(opening())
    await asyncio.wait({asyncio.ensure_future(started.wait()), opened}, return_when=asyncio.FIRST_COMPLETED)
    opened.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opened
    assert caplog.records == []
    assert capfd.readouterr().err == ""
