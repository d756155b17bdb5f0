"""What a failed decision says about its cause: over every kind of client, with real servers that misbehave."""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from cohabit.agents.brain import parse_brain
from cohabit.agents.causes import CAUSES, Cause
from cohabit.agents.contract import Exchange
from cohabit.agents.decision import PlayerDecision, Tally
from cohabit.agents.llm import local
from cohabit.agents.llm.backend import BackendError, ChatMessage, Completion, Request
from cohabit.agents.llm.calls import gathered
from cohabit.agents.llm.local import LocalBackend
from cohabit.lab.game import Game, GameSpec

from .minds import ScriptedModel, mind, played
from .servers import Handler, http_server, reply
from .test_bad_days import BRAINS, ERROR, HTML, said

GOOD = '{"action": "take", "params": {"n": 1}}'
TROUBLE: dict[str, tuple[Callable[[str], bytes], str, str]] = {
    "too many requests": (lambda _: reply(429, ERROR % ("slow down", "x")), "rate_limit", "HTTP 429.*slow down"),
    "internal error": (lambda _: reply(500, ERROR % ("oops", "x")), "server_error", "HTTP 500.*oops"),
    "html": (lambda _: reply(200, HTML, "text/html"), "unreadable_reply", "the server's reply"),
    "broken json": (lambda b: reply(200, said(b, "{}")[:-9]), "unreadable_reply", "the server's reply"),
    "another shape": (lambda _: reply(200, "[1, 2]"), "unreadable_reply", "the server's reply"),
    "cut off": (lambda b: reply(200, said(b, "{}")[:40], length=5000), "broken_reply", "ended before the reply"),
}
"""The reply, and the cause and words that a decision must have."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, and no waiting before a request is repeated."""
    for name in ("OPENAI", "ANTHROPIC", "OLLAMA"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-0123456789abcdef")
    monkeypatch.setattr("cohabit.agents.llm.retrying.FIRST_WAIT_S", 0.0)


async def one_decision(name: str, seconds: float | None = None) -> PlayerDecision:
    made: list[PlayerDecision] = []
    spec = GameSpec("g", "nim", [name, "random"], seed="1", max_decisions=1, seconds=seconds)
    await Game(spec, on_decision=lambda _, decision, __: made.append(decision)).play()
    return made[0]


def twice_then_silence(bad: bytes) -> tuple[Handler, list[str]]:
    """A server that gives a bad reply to two requests and none to the third."""
    asked: list[str] = []

    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        asked.append(path)
        if len(asked) <= 2:
            writer.write(bad)
        else:
            await asyncio.Event().wait()

    return handle, asked


# -- requests ---------------------------------------------------------------------------------------
@pytest.mark.sampled
@pytest.mark.parametrize("brain", BRAINS)
@pytest.mark.parametrize("trouble", TROUBLE)
async def test_a_timeout_says_how_often_the_server_was_asked_and_its_last_error(trouble: str, brain: str) -> None:
    bad, cause, says = TROUBLE[trouble]
    for seconds in (0.4, 2, 10, 60):  # on a busy machine three requests take longer
        handler, asked = twice_then_silence(bad(brain))
        async with http_server(handler) as url:
            decision = await one_decision(BRAINS[brain].format(url=url), seconds)
        if len(asked) == 3:
            break
    assert decision.outcome == "timeout"
    assert decision.cause == cause
    assert decision.problem.startswith(
        f"no answer in {seconds:g} s (3 requests, no reply to the last one; the last error: "
    )
    assert re.search(says, decision.problem)
    assert [call.cause for call in decision.exchanges[-1].calls] == [cause, cause, "no_reply"]
    assert "The heap" not in decision.problem


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("brain", BRAINS)
@pytest.mark.parametrize("trouble", TROUBLE)
async def test_a_failure_names_its_cause_and_keeps_every_request(trouble: str, brain: str) -> None:
    bad, cause, _ = TROUBLE[trouble]

    async def always_bad(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(bad(brain))

    async with http_server(always_bad) as url:
        decision = await one_decision(BRAINS[brain].format(url=url) + "?retries=2")
    assert (decision.outcome, decision.cause) == ("failed", cause)
    assert [call.cause for call in decision.exchanges[-1].calls] == [cause] * 3
    assert decision.problem.endswith("(3 requests failed)")


async def test_a_request_that_waits_for_the_rate_limit_says_so() -> None:
    agent = mind(ScriptedModel(GOOD), "per_minute=1")
    agent.backend._rate.reserve(asyncio.get_running_loop().time(), 1)  # type: ignore[attr-defined]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await agent.backend.complete(REQUEST)
    with gathered() as calls, pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await agent.backend.complete(REQUEST)
    assert [(call.cause, call.problem) for call in calls] == [
        ("rate_limit", "not sent yet: 1 requests per minute are allowed")
    ]


REQUEST = Request([ChatMessage("user", "hi")])


# -- answers ----------------------------------------------------------------------------------------
def without_text(brain: str, kind: str) -> str:
    """A reply in which the model refuses, calls a tool, or says nothing."""
    found = json.loads(said(brain, ""))
    refused, why = kind == "refusal", "I cannot help with that."
    match brain:
        case "openai":
            choice = found["choices"][0]
            call = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
            extra = {"refusal": why} if refused else {"tool_calls": [call]} if kind == "tool_call" else {}
            choice["message"] = {"role": "assistant", "content": None, **extra}
            choice["finish_reason"] = "tool_calls" if kind == "tool_call" else "stop"
        case "anthropic":
            block = {"type": "tool_use", "id": "t", "name": "look_up", "input": {}}
            found["content"] = [{"type": "text", "text": why}] if refused else [block] if kind == "tool_call" else []
            found["stop_reason"] = {"refusal": "refusal", "tool_call": "tool_use"}.get(kind, "end_turn")
        case _:
            call = {"function": {"name": "look_up", "arguments": {}}}
            found["message"] = {
                "role": "assistant",
                "content": "",
                **({} if kind == "empty" else {"tool_calls": [call]}),
            }
    return json.dumps(found)


@pytest.mark.parametrize(
    ("brain", "kind"),
    [(brain, kind) for brain in BRAINS for kind in ("refusal", "tool_call", "empty") if (brain, kind) != ("ollama", "refusal")],
)  # fmt: skip
async def test_a_refusal_and_a_call_of_a_tool_are_not_an_empty_answer(brain: str, kind: str) -> None:
    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, without_text(brain, kind)))

    async with http_server(handle) as url:
        decision = await one_decision(BRAINS[brain].format(url=url))
    assert (decision.outcome, decision.cause) == ("unreadable", kind)
    says = {
        "refusal": "The model refused to answer: I cannot help with that.",
        "tool_call": "The model called a tool that it was not offered (calls the tool look_up).",
        "empty": "The answer is empty.",
    }[kind]
    assert decision.problem.startswith(says)


async def test_a_filter_of_the_service_is_a_refusal() -> None:
    found = json.loads(said("openai", '{"action": "ta'))
    found["choices"][0]["finish_reason"] = "content_filter"

    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, json.dumps(found)))

    async with http_server(handle) as url:
        decision = await one_decision(BRAINS["openai"].format(url=url))
    assert decision.cause == "refusal"


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (Completion("", stopped="length"), "cut_off"),
        (Completion("I take one stone."), "no_action"),
        (Completion("x" * 200_000), "too_large"),
        (Completion(json.dumps({"action": "take", "params": {"n": 99}})), "illegal"),
        (BackendError("no", cause="spending_cap"), "spending_cap"),
        (ValueError("a bug"), "exception"),
    ],
)
async def test_every_failure_has_a_cause_that_is_counted(answer: Any, cause: str) -> None:
    game, (decision, *_) = await played(mind(ScriptedModel(answer)), decisions=1)
    assert decision.cause == cause
    assert game.players[0].tally.causes == {cause: 1}


def test_every_cause_has_a_meaning() -> None:
    assert set(CAUSES) == set(Cause.__args__)  # type: ignore[attr-defined]
    tally = Tally()
    tally.add(PlayerDecision(1, "timeout", exchanges=[Exchange([])]))
    assert tally.causes == {"time": 1}


# -- the embedded model -------------------------------------------------------------------------------
LOCAL = {
    "dies": ("raise SystemExit", "broken_reply"),
    "error": ("""print('{"error": "no context left"}', flush=True)""", "rejected"),
    "not json": ("print('<html>', flush=True)", "unreadable_reply"),
    "another shape": ("""print('{"choices": []}', flush=True)""", "unreadable_reply"),
}


@pytest.mark.parametrize("trouble", LOCAL)
async def test_an_embedded_model_that_misbehaves_names_the_cause(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    code, cause = LOCAL[trouble]
    process = subprocess.Popen(  # noqa: ASYNC220 - it starts at once
        [sys.executable, "-c", f"input()\n{code}\ninput()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    monkeypatch.setattr(local, "missing", lambda path: "")
    monkeypatch.setattr(local, "_process", lambda path: process)
    try:
        with pytest.raises(BackendError) as wrong:
            await LocalBackend(parse_brain("local")).complete(REQUEST)
        assert wrong.value.cause == cause
    finally:
        local._end(process)
