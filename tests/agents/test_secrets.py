"""API keys: who gets them, and that they are nowhere else. Servers are real and local; what they answer is hostile."""

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.agents.llm.backend import BackendError, ChatMessage, Completion, Request
from cohabit.agents.llm.clients import completion
from cohabit.agents.llm.http import MAX_REPLY
from cohabit.agents.secrets import api_key, in_public
from cohabit.errors import BadArgs
from cohabit.house.agents.brains import check_makeable
from cohabit.registry import make_agent

from .servers import Handler, http_server, reply
from .test_bad_days import BRAINS, KEY, a_game, said

REQUEST = Request([ChatMessage("user", "What do you do?")])
VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "ollama": "OLLAMA_API_KEY"}
TAKE = '{"action": "take", "params": {"n": 1}}'


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES.values():
        monkeypatch.setenv(variable, KEY)
    monkeypatch.delenv("COHABIT_API_KEYS", raising=False)


def answers(data: bytes | Callable[[str], bytes]) -> Handler:
    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(data(path) if callable(data) else data)

    return handle


async def asked(name: str) -> Completion:
    """The answer of a brain's server to one request."""
    agent = make_agent(name, "test")
    try:
        found: Completion = await agent.backend.complete(REQUEST)
    finally:
        await agent.close()
    return found


# -- the key in the environment ---------------------------------------------------------------------
@pytest.mark.sampled
@pytest.mark.parametrize("brain", BRAINS)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", " \t"])
async def test_a_key_from_a_file_is_sent_without_the_end_of_its_line(
    brain: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[str] = []
    async with http_server(answers(reply(200, said(brain, TAKE))), heads) as url:
        monkeypatch.setenv(VARIABLES[brain], KEY + end)
        monkeypatch.setenv("COHABIT_API_KEYS", f"{url}={VARIABLES[brain]}")
        assert (await asked(BRAINS[brain].format(url=url))).text == TAKE
    assert KEY in heads[0]


@pytest.mark.parametrize("key", [f"{KEY}\rx", f"{KEY}\x00", f"{KEY}é", f"{KEY}\u200b", f"{KEY} {KEY}"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "\x00" in key:
        key = key.replace("\x00", "\x01")  # an environment cannot hold a zero
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(BadArgs, match="OPENAI_API_KEY has a character that no key has") as refusal:
        make_agent("openai:m", "test")
    assert KEY not in str(refusal.value)


def test_an_empty_key_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " \n")
    assert api_key("OPENAI_API_KEY") is None
    with pytest.raises(BadArgs, match="set the environment variable OPENAI_API_KEY"):
        make_agent("openai:m", "test")


@pytest.mark.parametrize("written", [KEY, repr(KEY + "\r"), json.dumps(KEY), str(f"Bearer {KEY}\r".encode())])
def test_a_key_is_hidden_however_it_is_written(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + "\r")
    assert KEY not in in_public(f"Illegal header value {written}")


@given(st.integers(0, 40_000), st.sampled_from([" ", "\n", "x"]))
def test_cutting_a_long_message_leaves_no_part_of_a_key(before: int, filler: str) -> None:
    shown = in_public(filler * before + KEY + filler * 100)
    assert KEY[:8] not in shown


def test_a_message_of_a_server_has_no_control_characters() -> None:
    assert in_public("bad \x1b]0;title\x07\x1b[2J thing\n2026 INFO forged\u202e") == (
        "bad ]0;title [2J thing 2026 INFO forged"
    )


# -- who gets it ------------------------------------------------------------------------------------
@pytest.mark.parametrize("brain", BRAINS)
async def test_an_address_in_the_name_of_a_brain_gets_no_key(brain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", f"{KEY}-token")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-mine: {KEY}")
    heads: list[str] = []
    async with http_server(answers(reply(200, said(brain, TAKE))), heads) as url:
        assert (await asked(BRAINS[brain].format(url=url))).text == TAKE
    assert heads
    assert not [head for head in heads if KEY in head or "org-of-mine" in head]


async def test_a_server_gets_only_the_key_that_the_environment_lists_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "groq-0123456789")
    heads: list[str] = []
    async with http_server(answers(reply(200, said("openai", TAKE))), heads) as url:
        port = url.rpartition(":")[2]
        for listed in (
            f"{url}=GROQ_API_KEY",
            f"https://127.0.0.1:{port}=GROQ_API_KEY",
            "http://127.0.0.1=GROQ_API_KEY",
        ):
            monkeypatch.setenv("COHABIT_API_KEYS", f"https://elsewhere.example=OPENAI_API_KEY, {listed}")
            await asked(f"openai:m@{url}/v1")
    assert ["groq-0123456789" in head for head in heads] == [True, False, False]
    assert not [head for head in heads if KEY in head]


@pytest.mark.parametrize("listed", ["sk-secret-key", "api.groq.com=GROQ_API_KEY", "https://api.groq.com=sk-secret"])
def test_a_list_of_keys_that_cannot_be_read_is_refused_and_not_repeated(
    listed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHABIT_API_KEYS", listed)
    with pytest.raises(BadArgs, match="https://host=NAME_API_KEY") as refusal:
        make_agent("openai:m@http://127.0.0.1:1/v1", "test")
    assert "sk-secret" not in str(refusal.value)


@pytest.mark.parametrize("brain", BRAINS)
async def test_a_redirect_is_not_followed(brain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[str] = []
    async with (
        http_server(answers(reply(200, said(brain, TAKE))), there) as other,
        http_server(answers(reply(307, "", location=f"{other}/x"))) as url,
    ):
        monkeypatch.setenv("COHABIT_API_KEYS", f"{url}={VARIABLES[brain]}")
        with pytest.raises(BackendError, match="307"):
            await asked(BRAINS[brain].format(url=url) + "?retries=0")
    assert there == []


# -- what comes back --------------------------------------------------------------------------------
async def test_a_refused_key_is_not_shown_to_the_member_who_chose_the_brain(monkeypatch: pytest.MonkeyPatch) -> None:
    async with http_server(answers(reply(401, json.dumps({"error": f"bad key {KEY}"})))) as url:
        with pytest.raises(BadArgs, match=r"bad key \[hidden\]"):
            await check_makeable(f"ollama:m@{url}")


async def test_a_failure_in_a_file_is_shown_without_keys(tmp_path: Any) -> None:
    (tmp_path / "mine.py").write_text(
        "import os\nclass Mine:\n    def __init__(self): raise RuntimeError(os.environ['OPENAI_API_KEY'])\n"
        "    def decide(self, observation): ...\n"
    )
    with pytest.raises(BadArgs, match=r"cannot be created: RuntimeError: \[hidden\]"):
        await check_makeable(str(tmp_path / "mine.py"))


@pytest.mark.parametrize("brain", BRAINS)
async def test_a_key_that_a_server_repeats_in_its_answer_is_removed_before_it_is_read(brain: str) -> None:
    echo = json.dumps({"reasoning": f"your key is {KEY}", "action": "take", "params": {"n": 1}})
    async with http_server(answers(reply(200, said(brain, echo)))) as url:
        game, made = await a_game(BRAINS[brain].format(url=url))
    assert {decision.outcome for decision in made} == {"chosen"}
    assert KEY not in repr(made)
    assert KEY not in repr([line.entry for line in game.lines()])
    assert made[0].action is not None
    assert made[0].action.reasoning == "your key is [hidden]"


# -- how long a reply may be ------------------------------------------------------------------------
def zipped(status: int, text: bytes) -> bytes:
    data = gzip.compress(text)
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\nconnection: close\r\n"
    return head.encode() + f"content-length: {len(data)}\r\n\r\n".encode() + data


@pytest.mark.parametrize("brain", BRAINS)
@pytest.mark.parametrize("status", [200, 500])
async def test_a_reply_is_read_up_to_a_limit(brain: str, status: int) -> None:
    async with http_server(answers(reply(status, "[" + "1," * MAX_REPLY + "1]"))) as url:
        with pytest.raises(BackendError, match=r"m: the reply is longer than 1,048,576 bytes"):
            await asked(BRAINS[brain].format(url=url) + "?retries=0")


@pytest.mark.parametrize("brain", BRAINS)
@pytest.mark.parametrize("status", [200, 500])
async def test_a_compressed_reply_is_not_unpacked(brain: str, status: int) -> None:
    async with http_server(answers(zipped(status, b"a" * 10**6))) as url:
        with pytest.raises(BackendError, match="m: the reply is compressed"):
            await asked(BRAINS[brain].format(url=url) + "?retries=0")


async def test_a_server_with_a_long_list_of_models_is_ready() -> None:
    async with http_server(answers(reply(200, "[" + "1," * MAX_REPLY + "1]"))) as url:
        await check_makeable(f"openai:m@{url}/v1")


# -- odd answers ------------------------------------------------------------------------------------
ODD: list[Any] = [None, "many", float("nan"), -(10**9), 10**400, True, {"a": 1}, [], 1.5]


@pytest.mark.parametrize("count", ODD, ids=repr)
def test_a_count_of_tokens_that_is_none_is_estimated_from_the_text(count: Any) -> None:
    found = completion("openai:m", REQUEST, "four score", tokens=(count, count))
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (5, 4)


@given(st.one_of(st.none(), st.integers(), st.text(st.characters()), st.lists(st.dictionaries(st.text(), st.text()))))
def test_whatever_a_server_sends_the_answer_is_text_that_can_be_written(sent: Any) -> None:
    found = completion("openai:m", REQUEST, sent, sent)
    assert found.text.encode() == found.thinking.encode()


@pytest.mark.parametrize(
    "change",
    [
        {"usage": None},
        {"usage": {"prompt_tokens": None, "completion_tokens": None}},
        {"usage": {"prompt_tokens": "many", "completion_tokens": "few"}},
        {"usage": {"prompt_tokens": -5, "completion_tokens": float("nan")}},
        {"message": {"content": f"\ud800 {TAKE}"}},
        {"message": {"content": TAKE, "reasoning_content": {"a": 1}}},
        {"message": {"content": TAKE, "reasoning_content": "\ud800x"}},
        {"message": {"content": [{"type": "text", "text": TAKE}]}},
    ],
    ids=repr,
)
async def test_an_odd_reply_is_played_and_the_game_goes_on(change: dict[str, Any]) -> None:
    sent = json.loads(said("openai", TAKE))
    sent["choices"][0]["message"] |= change.get("message", {})
    if "usage" in change:
        sent["usage"] = change["usage"]
    async with http_server(answers(reply(200, json.dumps(sent)))) as url:
        game, made = await a_game(f"openai:m@{url}/v1?retries=0")
    assert game.room.is_over()
    assert {decision.outcome for decision in made} == {"chosen"}
    assert game.players[0].tally.prompt_tokens > 0
