"""The model server has a bad day: the game goes on, the outcome is counted, and the transcript says what happened.

Every server here is real and local; only what it answers is wrong.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cohabit.agents.llm.rate as rate_module
from cohabit.agents.contract import Turn
from cohabit.agents.llm.anthropic import AnthropicBackend
from cohabit.agents.llm.backend import BackendError, ChatMessage, Request
from cohabit.agents.llm.openai import OpenAiBackend
from cohabit.agents.llm.rate import RateLimit
from cohabit.agents.llm.retrying import LONGEST_WAIT_S, RetryingBackend
from cohabit.agents.player import Player
from cohabit.errors import BadArgs
from cohabit.house.agents.brains import check_makeable
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation
from cohabit.registry import make_agent

from .minds import ScriptedModel
from .servers import Handler, http_server, reply

KEY = "sk-recognisable-0123456789abcdef"
BRAINS = {"openai": "openai:m@{url}/v1", "anthropic": "anthropic:m@{url}", "ollama": "ollama:m@{url}"}


def said(brain: str, text: str, stopped: str = "end") -> str:
    """An answer of the model in the protocol of this brain."""
    reason = {"openai": ("stop", "length"), "anthropic": ("end_turn", "max_tokens"), "ollama": ("stop", "length")}[
        brain
    ]
    why = reason[stopped != "end"]
    match brain:
        case "openai":
            message = {"role": "assistant", "content": text}
            found: dict[str, Any] = {
                "id": "x", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": why}],
                "usage": {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59},
            }  # fmt: skip
        case "anthropic":
            found = {
                "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": why,
                "stop_sequence": None, "content": [{"type": "text", "text": text}],
                "usage": {"input_tokens": 50, "output_tokens": 9},
            }  # fmt: skip
        case _:
            found = {
                "model": "m", "done": True, "done_reason": why, "message": {"role": "assistant", "content": text},
                "prompt_eval_count": 50, "eval_count": 9,
            }  # fmt: skip
    return json.dumps(found)


def always(make: Callable[[str], bytes]) -> Callable[[str], Handler]:
    """A server that gives the same reply to every request of a brain."""

    def for_brain(brain: str) -> Handler:
        async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
            writer.write(make(brain))

        return handle

    return for_brain


def never(brain: str) -> Handler:
    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return handle


def echo(brain: str) -> Handler:
    """A server that repeats the whole request in its error, and the key."""

    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        message = f"cannot handle {KEY} {body['messages'][-1]['content']} {json.dumps(body)}"
        writer.write(reply(400, json.dumps({"error": {"message": message, "type": "bad"}})))

    return handle


HTML = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
ERROR = '{"error": {"message": "%s", "type": "bad", "code": "%s"}}'
DAYS: dict[str, tuple[Callable[[str], Handler], str, str]] = {
    "slow": (never, "timeout", r"no answer in 0.2 s"),
    "html": (always(lambda _: reply(200, HTML, "text/html")), "failed", r"cannot be read|no choices|Error"),
    "html error": (always(lambda _: reply(502, HTML, "text/html")), "failed", r"502|Bad Gateway"),
    "cuts the stream": (always(lambda b: reply(200, said(b, "{}")[:40], length=5000)), "failed", r"reach|closed|read|Error"),
    "invalid json": (always(lambda b: reply(200, said(b, "{}")[:-9])), "failed", r"read|reach|Error"),
    "another language": (always(lambda b: reply(200, said(b, "我拿两颗石头。"))), "unreadable", r"There is no JSON"),
    "loops": (always(lambda b: reply(200, said(b, "the the the " * 80, "length"))), "unreadable", r"cut off after \d+ tokens"),
    "too many requests": (
        always(lambda _: reply(429, ERROR % ("slow down", "rate_limit"), retry_after="3600")), "failed", r"429|slow down",
    ),
    "out of quota": (always(lambda _: reply(402, ERROR % ("no credit left", "billing"))), "failed", r"402|no credit"),
    "internal error": (always(lambda _: reply(500, ERROR % ("oops", "internal"))), "failed", r"500|oops"),
    "echoes": (echo, "failed", r"400|cannot handle"),
    "another shape": (always(lambda _: reply(200, "[1, 2]")), "failed", r"read|Error|choices"),
}  # fmt: skip


async def a_game(name: str, seconds: float = 30) -> tuple[Game, list[Any]]:
    made: list[Any] = []
    spec = GameSpec("g", "nim", [name, "random"], seed="1", config={"stones": 5}, seconds=seconds)
    game = Game(spec, on_decision=lambda player, decision, _: made.append(decision) if player == 0 else None)
    await game.play()
    return game, made


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)


@pytest.mark.sampled
@pytest.mark.parametrize("brain", BRAINS)
@pytest.mark.parametrize("day", DAYS)
async def test_on_a_bad_day_the_game_goes_on_and_the_transcript_says_what_happened(
    day: str, brain: str, caplog: pytest.LogCaptureFixture
) -> None:
    server, outcome, says = DAYS[day]
    with caplog.at_level(logging.INFO):
        async with http_server(server(brain)) as url:
            game, made = await a_game(BRAINS[brain].format(url=url) + "?retries=0", 0.2 if day == "slow" else 30)
    assert game.room.is_over()
    assert {decision.outcome for decision in made} == {outcome}
    assert game.players[0].tally.failures == len(made)
    assert all(re.search(says, decision.problem) for decision in made), made[0].problem
    public = " ".join(decision.problem for decision in made) + caplog.text
    assert KEY not in public
    assert "The heap" not in public
    assert "Players take turns to remove" not in public
    assert KEY not in repr(made)


@pytest.mark.parametrize("brain", BRAINS)
async def test_a_server_that_is_down_fails_every_decision_and_not_the_game(brain: str) -> None:
    async with http_server(never(brain)) as url:
        pass  # it was there, and its port is free now
    game, made = await a_game(BRAINS[brain].format(url=url) + "?retries=0")
    assert game.room.is_over()
    assert {decision.outcome for decision in made} == {"failed"}
    assert "reach" in made[0].problem or "no Ollama server answers" in made[0].problem


@pytest.mark.parametrize("brain", BRAINS)
async def test_a_good_answer_is_played_and_its_tokens_are_counted(brain: str) -> None:
    good = always(lambda b: reply(200, said(b, '{"action": "take", "params": {"n": 1}}')))
    async with http_server(good(brain)) as url:
        game, made = await a_game(BRAINS[brain].format(url=url))
    assert {decision.outcome for decision in made} == {"chosen"}
    assert game.players[0].tally.prompt_tokens == 50 * len(made)
    assert game.players[0].tally.completion_tokens == 9 * len(made)


def test_a_missing_key_is_reported_when_the_agent_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, name in (("OPENAI_API_KEY", "openai:m"), ("ANTHROPIC_API_KEY", "anthropic:m")):
        monkeypatch.delenv(variable)
        with pytest.raises(BadArgs, match=variable):
            make_agent(name, "test")


# -- whether a hosted service can be asked -----------------------------------------------------------
HOSTED = {"openai:m": ("OPENAI", "/v1"), "anthropic:m": ("ANTHROPIC", "")}


def served_at(url: str, brain: str, monkeypatch: pytest.MonkeyPatch, *, provider: bool = True) -> None:
    """The service of a brain is at this address: that of the provider, or a gateway to it."""
    name, path = HOSTED[brain]
    monkeypatch.setenv(f"{name}_BASE_URL", url + path)
    if provider:
        monkeypatch.setattr(OpenAiBackend, "provider", url)
        monkeypatch.setattr(AnthropicBackend, "provider", url)


@pytest.mark.parametrize("brain", HOSTED)
@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, r"the service does not accept the key in (OPENAI|ANTHROPIC)_API_KEY \(HTTP 401: "),
        (403, "the service does not accept the key in "),
        (404, "the service has no model 'm'; check its name"),
    ],
)
async def test_a_hosted_service_that_refuses_the_key_or_the_model_is_reported_before_a_game(
    brain: str, status: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = json.dumps({"type": "error", "error": {"type": "wrong", "message": f"refused: {KEY}", "code": "wrong"}})
    heads: list[str] = []
    async with http_server(always(lambda _: reply(status, wrong))(brain), heads) as url:
        served_at(url, brain, monkeypatch)
        with pytest.raises(BadArgs, match=f"{brain}: {says}") as refusal:
            await check_makeable(brain)
    assert KEY not in str(refusal.value)
    assert [head.split()[:2] for head in heads] == [["GET", "/v1/models/m"]]  # no tokens are spent


@pytest.mark.parametrize("brain", HOSTED)
async def test_a_hosted_service_that_cannot_be_reached_is_reported_before_a_game(
    brain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_server(never(brain)) as url:
        pass  # its port is free now
    served_at(url, brain, monkeypatch)
    with pytest.raises(BadArgs, match=f"{brain}: {url}.* cannot be reached; check the network connection"):
        await check_makeable(brain)


@pytest.mark.parametrize("brain", HOSTED)
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, {"id": "m", "type": "model", "object": "model", "created": 1, "owned_by": "x", "display_name": "M",
               "created_at": "2026-01-01T00:00:00Z"}),
        (403, {"error": {"message": "Missing scopes: api.model.read", "type": "x"}}),
        (429, {"error": {"message": "slow down", "type": "x"}}),
        (503, {"error": {"message": "busy", "type": "x"}}),
    ],
)  # fmt: skip
async def test_a_hosted_service_that_has_the_model_or_is_busy_is_ready(
    brain: str, status: int, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_server(always(lambda _: reply(status, json.dumps(body)))(brain)) as url:
        served_at(url, brain, monkeypatch)
        await check_makeable(brain)


UNKNOWN_REQUESTS = {
    "404 in JSON": reply(404, '{"detail": "Not Found"}'),
    "404 of another service": reply(404, ERROR % ("File Not Found", "404")),
    "404 in HTML": reply(404, "<pre>Cannot GET /v1/models/m</pre>", "text/html"),
    "403": reply(403, ERROR % ("this key may not call this route", "forbidden")),
    "405": reply(405, "Method Not Allowed", "text/plain"),
    "501": reply(501, HTML, "text/html"),
    "a page": reply(200, HTML, "text/html"),
    "no JSON": reply(200, "OK"),
    "a list": reply(200, "[]"),
    "nothing": reply(204, ""),
    "somewhere else": reply(307, "", location="/login"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["openai:m", "openai:m@{url}/v1", "anthropic:m", "anthropic:m@{url}"])
@pytest.mark.parametrize("models", UNKNOWN_REQUESTS)
async def test_a_gateway_that_knows_nothing_about_models_plays(
    models: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gateway(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        good = said(kind.partition(":")[0], '{"action": "take", "params": {"n": 1}}')
        writer.write(UNKNOWN_REQUESTS[models] if path.startswith("/v1/models") else reply(200, good))

    async with http_server(gateway) as url:
        if "@" not in kind:
            served_at(url, kind, monkeypatch, provider=False)
        await check_makeable(kind.format(url=url))
        _, made = await a_game(kind.format(url=url))
    assert {decision.outcome for decision in made} == {"chosen"}


@pytest.mark.parametrize(
    ("brain", "status", "error", "says"),
    [
        ("openai:m", 404, {"message": "The model 'm' does not exist", "code": "model_not_found"}, "has no model 'm'"),
        ("anthropic:m", 404, {"type": "not_found_error", "message": "model: m"}, "has no model 'm'"),
        ("openai:m", 401, {"message": "no such key"}, "does not accept the key in OPENAI_API_KEY"),
        ("anthropic:m", 401, {"message": "no such key"}, "does not accept the key in ANTHROPIC_API_KEY"),
    ],
)
async def test_a_gateway_that_says_that_the_key_or_the_model_is_wrong_is_reported_before_a_game(
    brain: str, status: int, error: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_server(always(lambda _: reply(status, json.dumps({"error": error})))(brain)) as url:
        served_at(url, brain, monkeypatch, provider=False)
        with pytest.raises(BadArgs, match=f"{brain}: the server at {url}.* {says}"):
            await check_makeable(brain)


@pytest.mark.parametrize("brain", ["openai", "anthropic"])
async def test_a_server_of_your_own_that_requires_a_key_is_reported_before_a_game(
    brain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_server(always(lambda _: reply(401, ERROR % ("no key", "auth")))(brain)) as url:
        name = BRAINS[brain].format(url=url)
        with pytest.raises(BadArgs, match=f"the server at {url}.* requires a key; COHABIT_API_KEYS says which it gets"):
            await check_makeable(name)
        monkeypatch.setenv("MINE_API_KEY", "sk-mine-0123456789")
        monkeypatch.setenv("COHABIT_API_KEYS", f"{url}=MINE_API_KEY")
        with pytest.raises(BadArgs, match="does not accept the key in COHABIT_API_KEYS"):
            await check_makeable(name)


async def test_a_server_that_knows_no_schemas_is_reported_with_the_option_that_leaves_them_out() -> None:
    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if "response_format" in body:
            writer.write(reply(400, ERROR % ("this response_format type is unavailable", "bad")))
        else:
            writer.write(reply(200, said("openai", '{"action": "take", "params": {"n": 1}}')))

    async with http_server(handle) as url:
        name = BRAINS["openai"].format(url=url)
        _, refused = await a_game(name)
        _, made = await a_game(f"{name}?schema=false")
    assert refused[0].problem.endswith(
        "this response_format type is unavailable; the option schema=false leaves it out"
    )
    assert {decision.outcome for decision in made} == {"chosen"}


@pytest.mark.parametrize("answer", [reply(404, "404 page not found", "text/plain"), reply(405, ""), reply(501, HTML)])
async def test_a_server_that_speaks_a_part_of_the_protocol_of_ollama_is_ready(answer: bytes) -> None:
    async with http_server(always(lambda _: answer)("ollama")) as url:
        await check_makeable(f"ollama:m@{url}")


async def test_a_model_that_ollama_does_not_have_is_reported_before_a_game() -> None:
    async with http_server(always(lambda _: reply(404, '{"error": "model \'m\' not found"}'))("ollama")) as url:
        with pytest.raises(BadArgs, match="model 'm' not found; get it with `ollama pull m`"):
            await check_makeable(f"ollama:m@{url}")


async def test_a_server_of_your_own_for_anthropic_must_answer() -> None:
    async with http_server(never("anthropic")) as url:
        pass
    with pytest.raises(BadArgs, match="anthropic:m: no server answers at "):
        await check_makeable(f"anthropic:m@{url}")


class Moody:
    """An agent that fails in one of two ways, in turn."""

    def __init__(self) -> None:
        self.asked = 0

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None: ...

    async def decide(self, observation: Observation) -> Action | None:
        self.asked += 1
        raise RuntimeError(("it rains", "it snows")[self.asked % 2])

    async def reflect(self, result: ActionResult) -> None: ...

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        return []


async def test_the_log_has_a_problem_once_although_every_decision_fails(caplog: pytest.LogCaptureFixture) -> None:
    player = Player(Moody(), name="moody")

    async def act(action: Action | None) -> None: ...

    for number in range(6):
        await player.move(Turn(Observation(), "", number), act)
    assert player.tally.failures == 6
    assert [record.getMessage() for record in caplog.records] == [
        "moody failed: RuntimeError: it snows",
        "moody failed: RuntimeError: it rains",
    ]


# -- retries and rates ------------------------------------------------------------------------------
class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.at, self.slept = 0.0, list[float]()

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


REQUEST = Request([ChatMessage("user", "hi")])


def busy(after_s: float | None = None) -> BackendError:
    return BackendError("busy", retry=True, after_s=after_s)


async def test_a_busy_server_is_asked_again_after_longer_and_longer_waits() -> None:
    clock, model = Clock(), ScriptedModel(busy(), busy(), busy(), "yes")
    found = await RetryingBackend(model, 3, now=clock.now, sleep=clock.sleep).complete(REQUEST)
    assert found.text == "yes"
    assert [0.75 * 0.5 * 2**i <= wait <= 1.25 * 0.5 * 2**i for i, wait in enumerate(clock.slept)] == [True] * 3


async def test_the_wait_that_the_server_asks_for_is_kept_unless_it_is_too_long() -> None:
    clock = Clock()
    await RetryingBackend(ScriptedModel(busy(12), "yes"), 3, now=clock.now, sleep=clock.sleep).complete(REQUEST)
    assert clock.slept == [12]
    with pytest.raises(BackendError, match="busy"):
        await RetryingBackend(
            ScriptedModel(busy(LONGEST_WAIT_S + 1), "yes"), now=clock.now, sleep=clock.sleep
        ).complete(REQUEST)
    assert clock.slept == [12]


async def test_an_error_that_cannot_pass_is_not_tried_again() -> None:
    clock, model = Clock(), ScriptedModel(BackendError("no such model"), "yes")
    with pytest.raises(BackendError, match="no such model"):
        await RetryingBackend(model, 3, now=clock.now, sleep=clock.sleep).complete(REQUEST)
    assert len(model.requests) == 1


@pytest.mark.parametrize("together", [False, True])
async def test_no_minute_has_more_requests_than_allowed(together: bool) -> None:
    clock, starts = Clock(), list[float]()

    class Watched(ScriptedModel):
        async def complete(self, request: Request) -> Any:
            starts.append(clock.at)
            return await super().complete(request)

    async def passing(seconds: float) -> None:
        until = clock.at + seconds
        while clock.at < until:  # others may sleep as well
            clock.at = min(until, clock.at + 1)
            await asyncio.sleep(0)

    backend = RetryingBackend(Watched("yes"), 0, 5, now=clock.now, sleep=passing if together else clock.sleep)
    if together:
        await asyncio.gather(*(backend.complete(REQUEST) for _ in range(23)))
    else:
        for _ in range(23):
            await backend.complete(REQUEST)
            clock.at += 1
    assert len(starts) == 23
    assert all(start >= 60 * (number // 5) for number, start in enumerate(sorted(starts)))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 4)), max_size=60))
def test_agents_with_different_limits_on_one_account_keep_the_largest_and_each_waits_for_its_own(
    asked: list[tuple[int, int]],
) -> None:
    rate, now, starts = RateLimit(), 0.0, list[float]()
    for later, per_minute in asked:
        now += later
        start = rate.reserve(now, per_minute)
        assert start >= now
        assert sum(start - 60 < each <= start for each in starts) < per_minute
        starts.append(start)
    for start in starts:
        assert sum(start - 60 < each <= start for each in starts) <= max(limit for _, limit in asked)


@pytest.mark.parametrize("kind", ["openai", "anthropic", "ollama"])
async def test_agents_with_the_same_service_and_key_share_one_limit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"{kind.upper()}_API_KEY"

    def account(url: str, model: str, key: str) -> RateLimit:
        monkeypatch.setenv(variable, key)
        found: RateLimit = make_agent(f"{kind}:{model}@{url}?per_minute=5", "x").backend._rate
        return found

    here, there = "http://127.0.0.1:1", "http://127.0.0.1:2"
    monkeypatch.setenv("COHABIT_API_KEYS", f"{here}={variable},{there}={variable}")
    ten = {id(account(here, model, "sk-first-key")) for model in ["small", "large"] * 5}
    assert len(ten) == 1
    assert id(account(there, "small", "sk-first-key")) not in ten
    assert id(account(here, "small", "sk-other-key")) not in ten
    assert not any("sk-" in name for name in rate_module._limits)


async def test_ten_agents_with_one_key_ask_no_more_often_than_one() -> None:
    clock, model = Clock(), ScriptedModel("yes")
    rate = RateLimit()
    agents = [RetryingBackend(model, 0, 5, rate=rate, now=clock.now, sleep=clock.sleep) for _ in range(10)]
    for number in range(20):
        await agents[number % 10].complete(REQUEST)
    assert clock.at == 180.0  # five at once in each of the minutes 0, 1, 2 and 3
