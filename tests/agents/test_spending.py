"""A spending cap holds: prices must be known, every request counts, and no odd amount ends the counting."""

import asyncio
import json
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.house.making import make_room, open_house, player

from cohabit.agents.contract import Setting, Usage
from cohabit.agents.llm.backend import BackendError, ChatMessage, Completion, Request, SpendingCapReached
from cohabit.agents.llm.metered import MeteredBackend, most_dollars
from cohabit.agents.spending import Spending
from cohabit.errors import BadArgs, Busy
from cohabit.house.agents.brains import check_makeable
from cohabit.lab.match import match
from cohabit.registry import make_agent

from .minds import ScriptedModel
from .servers import http_server, reply
from .test_bad_days import said

REQUEST = Request([ChatMessage("user", "x" * 300)], max_tokens=10)
MODEL = "openai:m"
MOST = 330.0
"""300 bytes, 10 tokens for the message and 10 for the answer's, and an answer of 10."""


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One dollar per token, so that the request above costs $330 at most."""
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({MODEL: [1e6, 1e6]}))
    monkeypatch.setenv("COHABIT_PRICES", str(path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")


class Model(ScriptedModel):
    name = MODEL


def capped(cap: float, *answers: Any) -> tuple[MeteredBackend, Spending, Model]:
    spending, model = Spending(cap), Model(*answers)
    return MeteredBackend(model, spending), spending, model


# -- prices -----------------------------------------------------------------------------------------
async def test_a_cap_is_refused_if_the_price_of_a_brain_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.delenv("COHABIT_PRICES", raising=False)
    for name in (MODEL, f"{MODEL}@http://127.0.0.1:1/v1"):
        with pytest.raises(
            BadArgs, match=r"the price of openai:m is not known.*COHABIT_PRICES.*\"openai:m\": \[prompt"
        ):
            make_agent(name, "test", setting=Setting(spending=Spending(1.0)))
        with pytest.raises(BadArgs, match="the price of openai:m is not known"):
            match("nim", name, "random", games=1, max_cost=1.0, progress=False)
        with pytest.raises(BadArgs, match="the price of openai:m is not known"):
            await check_makeable(name, 1.0)
    make_agent(MODEL, "test", setting=Setting(spending=Spending()))


@pytest.mark.usefixtures("prices")
def test_a_cap_is_accepted_if_the_price_is_known_or_the_model_is_free() -> None:
    for name in (MODEL, "ollama:m"):
        agent = make_agent(name, "test", setting=Setting(spending=Spending(1.0)))
        assert isinstance(agent.backend.backend, MeteredBackend), name


@pytest.mark.parametrize("price", ["NaN", "-1", "Infinity", "true", '"1"', "1e99"])
def test_a_price_that_is_none_is_refused(price: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "prices.json"
    path.write_text(f'{{"openai:m": [{price}, 1]}}')
    monkeypatch.setenv("COHABIT_PRICES", str(path))
    with pytest.raises(BadArgs, match="is not a price"):
        most_dollars(MODEL, REQUEST)


@pytest.mark.parametrize("cap", [float("nan"), float("inf"), -1.0])
def test_a_cap_that_is_no_amount_is_refused(cap: float) -> None:
    with pytest.raises(BadArgs, match="must be an amount of dollars"):
        Spending(cap)


OWN = """
from cohabit.agents.brain import parse_brain
from cohabit.agents.llm.mind import LlmAgent
from cohabit.agents.llm.openai import OpenAiBackend

class Mine(LlmAgent):
    def __init__(self, purpose=""):
        super().__init__(OpenAiBackend, parse_brain("openai:m@{url}/v1?retries=0"))
"""


@pytest.mark.usefixtures("prices")
async def test_an_agent_in_a_file_that_is_made_of_ours_keeps_the_cap(tmp_path: Path) -> None:
    spending = Spending(400)
    async with http_server(answers_html) as url:
        (tmp_path / "mine.py").write_text(OWN.format(url=url))
        agent = make_agent(f"{tmp_path}/mine.py:Mine", "test", setting=Setting(spending=spending))
        with pytest.raises(BackendError, match="has no choices"):
            await agent.backend.complete(REQUEST)
        with pytest.raises(SpendingCapReached):
            await agent.backend.complete(REQUEST)
        await agent.close()
    assert spending.spent == MOST


# -- counting ---------------------------------------------------------------------------------------
@given(st.lists(st.tuples(st.floats(), st.one_of(st.none(), st.floats()))))
def test_no_amount_ends_the_counting(amounts: list[tuple[float, float | None]]) -> None:
    spending = Spending(1.0)
    for reserved, paid in amounts:
        if spending.reserve(reserved):
            spending.settle(reserved, paid)
    spending.cap = None
    spending.reserve(1000.0)
    spending.cap = 1.0
    assert spending.is_over


@pytest.mark.usefixtures("prices")
async def test_an_answer_counts_with_what_it_cost_and_not_with_the_estimate() -> None:
    backend, spending, _ = capped(400, Completion("", usage=Usage(1, 1, 2.0)))
    await backend.complete(REQUEST)
    assert spending.spent == 2.0


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize("dollars", [None, float("nan"), float("inf"), -5.0])
async def test_an_answer_of_unknown_price_counts_with_the_estimate(dollars: float | None) -> None:
    backend, spending, _ = capped(400, Completion("", usage=Usage(1, 1, dollars)))
    await backend.complete(REQUEST)
    assert spending.spent == MOST


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize(("unpaid", "counted"), [(True, 0.0), (False, MOST)])
async def test_a_failure_counts_unless_it_is_certain_that_it_costs_nothing(unpaid: bool, counted: float) -> None:
    backend, spending, _ = capped(400, BackendError("no", unpaid=unpaid))
    with pytest.raises(BackendError):
        await backend.complete(REQUEST)
    assert spending.spent == counted


@pytest.mark.usefixtures("prices")
async def test_a_request_that_is_given_up_counts() -> None:
    class Slow(Model):
        async def complete(self, request: Request) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    spending = Spending(400)
    asking = asyncio.ensure_future(MeteredBackend(Slow(), spending).complete(REQUEST))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert spending.spent == MOST
    with pytest.raises(SpendingCapReached):
        await MeteredBackend(Model("x"), spending).complete(REQUEST)


@pytest.mark.usefixtures("prices")
async def test_requests_under_way_are_counted_so_that_many_at_once_do_not_pass_the_cap() -> None:
    backend, _, model = capped(700, Completion("", usage=Usage(1, 1, 100.0)))
    found = await asyncio.gather(*(backend.complete(REQUEST) for _ in range(20)), return_exceptions=True)
    assert len(model.requests) == 4  # a fifth could have cost more than was left
    assert sum(isinstance(each, SpendingCapReached) for each in found) == 16


@pytest.mark.usefixtures("prices")
async def test_every_attempt_of_a_request_that_is_tried_again_counts() -> None:
    spending = Spending(1e9)
    async with http_server(answers_html) as url:
        agent = make_agent(f"{MODEL}@{url}/v1?retries=1", "test", setting=Setting(spending=spending))
        with pytest.raises(BackendError):
            await agent.backend.complete(REQUEST)
        await agent.close()
    assert spending.spent == 2 * MOST


async def answers_html(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    writer.write(reply(200, "<html>", "text/html"))


def add_many(total: Any) -> None:
    spending = Spending(None, total)
    for _ in range(10_000):
        assert spending.reserve(2.0)
        spending.settle(2.0, 1.0)


def test_the_processes_of_a_run_lose_no_dollar() -> None:
    context = get_context("spawn")
    total = context.Array("d", 2)
    processes = [context.Process(target=add_many, args=(total,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert list(total) == [20_000, 0]


@pytest.mark.usefixtures("prices")
def test_a_run_counts_requests_that_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def play() -> Any:
        async def hang(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
            asked.append(path)
            await asyncio.Event().wait()

        async with http_server(hang) as url:
            name = f"{MODEL}@{url}/v1?retries=0"
            return await asyncio.to_thread(
                match, "nim", name, "random", games=1, seconds=0.2, max_cost=2500, progress=False
            )

    results = asyncio.run(play())
    assert len(asked) == 1
    assert "reached its spending cap" in results.stopped


# -- in a house -------------------------------------------------------------------------------------
@pytest.mark.usefixtures("prices")
async def test_a_player_who_hands_the_seat_over_and_takes_it_back_does_not_pass_the_cap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = asyncio.Semaphore(0)
    count: list[str] = []

    async def slow(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if path.endswith("/models"):
            writer.write(reply(200, '{"object": "list", "data": []}'))
            return
        count.append(path)
        asked.release()
        await asyncio.Event().wait()

    async with http_server(slow) as url, open_house(agents_dollars=2500) as house:
        who = await make_room(
            house,
            player("ann", 0, stand_in=f"{MODEL}@{url}/v1?retries=0&strict=false"),
            player("bob", 1),
            world="nim",
        )
        await who["ann"]("whoami")
        await who["ann"]("hand_back")
        await asked.acquire()
        await who["ann"]("take_over")
        with pytest.raises(Busy, match="less than 5 s ago"):
            await who["ann"]("hand_back")
        await house.clock.advance(6_000)
        await who["ann"]("hand_back")
        async with asyncio.timeout(100):
            while (
                "ann" not in [who for _, who in house.bots.agents] or not house.bots.agents["den", "ann"].tally.failures
            ):
                await asyncio.sleep(0)
        assert "the spending cap of $2500 leaves $" in house.bots.agents["den", "ann"].last.problem
    assert len(count) == 1


@pytest.mark.usefixtures("prices")
async def test_a_paid_answer_is_counted_in_the_house(monkeypatch: pytest.MonkeyPatch) -> None:
    async def good(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, said("openai", '{"action": "take", "params": {"n": 1}}')))

    spending = Spending(1e9)
    async with http_server(good) as url:
        agent = make_agent(f"{MODEL}@{url}/v1", "test", setting=Setting(spending=spending))
        await agent.backend.complete(REQUEST)
        await agent.close()
    assert spending.spent == 59.0
