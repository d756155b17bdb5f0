"""A spending cap is a cap: a service that bills every request it gets never bills more, whatever goes wrong."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.servers import Handler, http_server, reply
from tests.agents.test_bad_days import HTML, said

from cohabit.agents.spending import Spending, SpendingLog
from cohabit.lab.design import Design
from cohabit.lab.folder import read_spending
from cohabit.lab.match import match_design
from cohabit.lab.results import Results
from cohabit.lab.run import run

PRICE = 1e-4
"""Dollars per token, of the prompt and of the answer."""
TAKE = '{"action": "take", "params": {"n": 1}}'


class Service:
    """Bills every request for its whole prompt and the longest answer, and answers as the plan says, again and again."""

    def __init__(self, *plan: str) -> None:
        self.plan = plan
        self.billed = 0.0
        self.requests = 0
        self.hanging = Event()

    async def __call__(self, path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        kind = self.plan[self.requests % len(self.plan)]
        self.requests += 1
        prompt = sum(len(message["content"]) for message in body["messages"]) // 4
        tokens = prompt, 9 if kind == "good" else body["max_tokens"]
        self.billed += sum(tokens) * PRICE
        answer = json.loads(said("openai", TAKE))
        answer["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
        match kind:
            case "good":
                writer.write(reply(200, json.dumps(answer)))
            case "no count":
                del answer["usage"]
                writer.write(reply(200, json.dumps(answer)))
            case "html":
                writer.write(reply(200, HTML, "text/html"))
            case "error":
                writer.write(reply(500, '{"error": {"message": "oops"}}'))
            case "cut":
                writer.write(reply(200, json.dumps(answer)[:40], length=5000))
            case _:
                self.hanging.set()
                await asyncio.Event().wait()


@contextmanager
def serving(handler: Handler) -> Iterator[str]:
    """A server on a thread of its own, so that a run may block or use several processes."""
    loop, found, stop = asyncio.new_event_loop(), list[str](), asyncio.Event()
    ready = Event()

    async def serve() -> None:
        async with http_server(handler) as url:
            found.append(url)
            ready.set()
            await stop.wait()

    thread = Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.fixture(autouse=True)
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"openai:m": [1e6 * PRICE, 1e6 * PRICE]}))
    monkeypatch.setenv("COHABIT_PRICES", str(path))
    monkeypatch.setattr("cohabit.agents.llm.retrying.FIRST_WAIT_S", 0.0)


def design(url: str, cap: float | None, seconds: float | None = None, games: int = 8) -> Design:
    names = [f"openai:m@{url}/v1?retries=2", "random"]
    return match_design("nim", names, games=games, max_cost=cap, seconds=seconds)


PLANS = {
    "good": (["good"], None),
    "failing and tried again": (["error", "good", "html", "error", "html", "cut"], None),
    "slow": (["hang"], 0.3),
    "mixed": (["good", "hang", "error", "good", "no count"], 0.3),
}


@pytest.mark.parametrize(
    ("plan", "workers"), [("mixed", 2), *(pytest.param(plan, 1, marks=pytest.mark.soak) for plan in PLANS)]
)
def test_a_service_never_bills_more_than_the_cap_and_the_run_says_what_it_spent(
    plan: str, workers: int, tmp_path: Path
) -> None:
    kinds, seconds = PLANS[plan]
    service = Service(*kinds)
    with serving(service) as url:
        results = run(design(url, 1.0, seconds), tmp_path / "run", workers)
        billed = service.billed
        again = run(design(url, 1.0, seconds), tmp_path / "run", workers)
    assert service.billed <= 1.0
    paid, reserved = results.spent
    assert paid <= billed + 1e-6
    assert billed <= paid + reserved + 1e-6
    assert paid + reserved <= 1.0 + 1e-6
    assert paid + reserved > 0.2
    assert "reached its spending cap of $1" in results.stopped
    assert "the run has spent $" in str(results)
    assert again.spent[0] + again.spent[1] <= 1.0 + 1e-6
    assert Results.read(tmp_path / "run").spent == pytest.approx(again.spent)


def test_the_table_and_the_run_agree_if_every_game_is_finished(tmp_path: Path) -> None:
    service = Service("good", "error", "good", "html")
    with serving(service) as url:
        results = run(design(url, None, games=2), tmp_path / "run")
    tallies = [tally for game in results.games for tally in game.tallies]
    assert sum(tally.requests for tally in tallies) == service.requests
    assert sum(tally.dollars for tally in tallies) == pytest.approx(results.spent[0])
    assert sum(tally.charged for tally in tallies) == pytest.approx(sum(results.spent))
    assert sum(tally.dollars for tally in tallies) <= service.billed <= sum(tally.charged for tally in tallies)


KILLED = """
import sys
from pathlib import Path
from tests.lab.test_cap import design
from cohabit.lab.run import run
run(design(sys.argv[1], 1.0), Path(sys.argv[2]))
"""


def test_requests_of_a_run_that_was_killed_count_when_it_is_resumed(tmp_path: Path) -> None:
    service = Service("good", "good", "hang")
    with serving(service) as url:
        words = [sys.executable, "-c", KILLED, url, str(tmp_path / "run")]
        process = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": os.getcwd()})
        service.hanging.wait()
        process.send_signal(signal.SIGKILL)
        process.wait()
        billed = service.billed
        assert sum(read_spending(tmp_path / "run")) >= billed
        service.plan = ("good",)
        results = run(design(url, 1.0), tmp_path / "run")
    assert service.billed <= 1.0
    assert sum(results.spent) >= service.billed


# -- the counting itself ------------------------------------------------------------------------------
amounts = st.floats(0, 2, allow_nan=False)


@given(st.floats(0, 3), st.lists(st.tuples(amounts, st.one_of(st.none(), st.floats(0, 1)))))
def test_if_no_request_costs_more_than_its_reservation_the_cap_holds(
    cap: float, requests: list[tuple[float, float | None]]
) -> None:
    """Any number of them may be under way at the same time."""
    spending, open_requests = Spending(cap), list[tuple[float, float | None]]()
    bill = 0.0
    for most, share in requests:
        if spending.reserve(most):
            bill += most * (1 if share is None else share)
            open_requests.append((most, share))
        assert bill <= spending.spent + 1e-6
        assert spending.spent <= cap + 1e-6
        if len(open_requests) > 3:
            most, share = open_requests.pop(0)
            spending.settle(most, None if share is None else most * share)
    assert bill <= cap + 1e-6


def test_a_line_that_was_not_written_to_its_end_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "spending.jsonl"
    path.write_bytes(b"[0.0,0.5]\n[0.2,-0.5]\n[0.0,0.")
    log = SpendingLog(path)
    assert log.read() == (0.2, 0.0)
    log.repair()
    log.add(0.0, 0.25)
    log.close()
    assert log.read() == (0.2, 0.25)
