"""What an operator sees of a house with workers: health, readiness, and numbers of each worker."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.faces.workers.serving import Workers, working

from cohabit.faces.metrics import PROXY_HEADERS
from cohabit.faces.workers import supervisor
from cohabit.house.nodes import cluster


async def asked(workers: Workers, path: str) -> httpx2.Response:
    headers = {"authorization": f"Bearer {workers.house.operator_token()}"}
    async with httpx2.AsyncClient(timeout=120) as http:
        return await http.get(f"{workers.url}{path}", headers=headers)


async def metrics(workers: Workers) -> dict[str, float]:
    lines = (await asked(workers, "/metrics")).text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


async def until_states(workers: Workers, wanted: dict[str, str]) -> httpx2.Response:
    """The answer about readiness, as soon as the workers are in these states."""
    while (answer := await asked(workers, "/ready")).json()["workers"] != wanted:
        await asyncio.sleep(0.02)
    return answer


async def test_each_worker_has_numbers_and_one_that_hangs_delays_nobody_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "SILENT_S", 0.1)
    monkeypatch.setattr(cluster, "NUMBERS_S", 1.0)
    async with working(tmp_path, metrics_rooms=1, worker_timeout_s=600) as workers:
        for room, calls in (("a", 1), ("b", 9)):
            await workers.create(room)
            for _ in range(calls):
                await workers.call(room, "whoami")
        await sums_and_parts(workers)
        answer = await until_states(workers, {"w1": "ready", "w2": "ready"})
        assert (answer.status_code, answer.json()["ready"]) == (200, True)
        stopped = [workers.supervisor.workers[name].process.pid for name in ("w1", "w2")]
        try:
            os.kill(stopped[0], signal.SIGSTOP)
            assert (await until_states(workers, {"w1": "silent", "w2": "ready"})).status_code == 200
            await says_who_has_not_answered(workers)
            assert [(await metrics(workers))[f'cohabit_worker_ready{{worker="{w}"}}'] for w in ("w1", "w2")] == [0, 1]
            os.kill(stopped[1], signal.SIGSTOP)
            answer = await until_states(workers, {"w1": "silent", "w2": "silent"})
            assert (answer.status_code, answer.json()["reasons"]) == (503, ["no worker answers"])
            assert (await asked(workers, "/health")).status_code == 200
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)
        await until_states(workers, {"w1": "ready", "w2": "ready"})


async def test_a_house_answers_for_all_its_workers_also_over_a_connection_that_one_of_them_has(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        for room in ("a", "b"):
            await workers.create(room)
        token = {"authorization": f"Bearer {workers.house.operator_token()}"}
        async with httpx2.AsyncClient(base_url=workers.url, headers=token, timeout=120) as http:
            fresh = [(await http.get(path)).json() for path in ("/health", "/ready")]
        limits = httpx2.Limits(max_connections=1)
        async with httpx2.AsyncClient(base_url=workers.url, headers=token, timeout=120, limits=limits) as http:
            ann = {"authorization": f"Bearer {workers.tokens['a']['ann']}"}
            assert (await http.get("/api/rooms/a/whoami", headers=ann)).status_code == 200
            assert [(await http.get(path)).json() for path in ("/health", "/ready")] == fresh
            assert "cohabit_rooms 2\n" in (await http.get("/metrics")).text
        assert (fresh[0]["rooms"], [*fresh[1]["workers"]]) == (2, ["w1", "w2"])


async def test_the_public_metrics_are_for_this_machine_alone_also_over_a_connection_that_a_worker_has(
    tmp_path: Path,
) -> None:
    limits = httpx2.Limits(max_connections=1)
    async with working(tmp_path) as workers:
        await workers.create("a")
        async with httpx2.AsyncClient(base_url=workers.url, timeout=120, limits=limits) as http:
            ann = {"authorization": f"Bearer {workers.tokens['a']['ann']}"}
            for _ in range(2):  # over a new connection, and over one that the worker has
                local = await http.get("/metrics")
                assert (local.status_code, "cohabit_rooms 1\n" in local.text) == (200, True)
                for name in PROXY_HEADERS:
                    assert (await http.get("/metrics", headers={name: "127.0.0.1"})).status_code == 401
                assert (await http.get("/api/rooms/a/whoami", headers=ann)).status_code == 200


async def says_who_has_not_answered(workers: Workers) -> None:
    """Sums without a worker would be too small, so there are none."""
    health = (await asked(workers, "/health")).json()
    assert [health[key] for key in ("rooms", "broken_rooms", "workers", "unanswered")] == [None, None, 1, ["w1"]]
    found = await metrics(workers)
    assert found["cohabit_workers_unanswered"] == 1
    assert not [name for name in found if name in ("cohabit_rooms", "cohabit_calls_total", "cohabit_resident_bytes")]
    assert found['cohabit_worker_rooms{worker="w2"}'] == 1


async def sums_and_parts(workers: Workers) -> None:
    found = await metrics(workers)
    of_workers = {what: [found[f'cohabit_worker_{what}{{worker="{w}"}}'] for w in ("w1", "w2")] for what in WHAT}
    assert of_workers["rooms"] == [1, 1]
    assert (found["cohabit_rooms"], found["cohabit_workers_unanswered"]) == (2, 0)
    health = (await asked(workers, "/health")).json()
    assert (health["rooms"], health["workers"], "unanswered" in health) == (2, 2, False)
    assert sorted(of_workers["calls_total"])[1] >= 9
    assert found["cohabit_calls_total"] >= sum(of_workers["calls_total"])
    assert min(of_workers["cpu_seconds_total"]) > 0
    assert min(of_workers["resident_bytes"]) > 1024**2
    assert found["cohabit_resident_bytes"] > sum(of_workers["resident_bytes"])  # the front needs memory, too
    rooms: dict[str, Any] = {name: value for name, value in found.items() if name.startswith("cohabit_room_calls")}
    assert [*rooms] == ['cohabit_room_calls_total{room="b"}']


WHAT = ("rooms", "watchers", "calls_total", "resident_bytes", "cpu_seconds_total")
