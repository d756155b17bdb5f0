"""Each backend against a server that speaks its protocol, with a real model behind it.

OpenAI and Anthropic: the HTTP server of llama.cpp, through the official clients. Ollama: a small server of these tests
that speaks its documented protocol over the same model, through the official client.
"""

from collections.abc import Iterator

import pytest
import xllamacpp

from cohabit.agents.llm.local import CONTEXT_TOKENS, _weights
from cohabit.agents.player import Decision
from cohabit.lab.game import Game, GameSpec

from .servers import http_server, ollama_chat

SMALL = "max_tokens=60&temperature=0&brief=true&view=100&memory=0&reasoning=false&retries=0"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The HTTP server of llama.cpp with the model of the tests; its address."""
    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads, params.verbosity = CONTEXT_TOKENS, 1, 1, -1
    running = xllamacpp.Server(params)
    yield running.listening_address
    del running


async def decisions(name: str, number: int = 2) -> tuple[Game, list[Decision]]:
    made: list[Decision] = []
    game = Game(
        GameSpec("g", "nim", [name, "random"], seed="1"),
        on_decision=lambda player, decision, _: made.append(decision) if player == 0 else None,
    )
    await game._introduce()
    while len(made) < number:
        await game._moves(game._to_move())
    await game.players[0].close()
    return game, made


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of your own needs none."""
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


async def test_an_openai_brain_plays_with_a_real_model_server(server: str) -> None:
    game, made = await decisions(f"openai:smollm2@{server}/v1?{SMALL}")
    assert [decision.outcome for decision in made] == ["chosen", "chosen"]  # the schema allows nothing else
    assert game.players[0].tally.prompt_tokens > 0
    assert game.players[0].tally.unpriced == 2


async def test_an_anthropic_brain_plays_with_a_real_model_server(server: str) -> None:
    """This server ignores the schema, so that the answers are free text: legal, corrected, or defaulted."""
    game, made = await decisions(f"anthropic:smollm2@{server}?{SMALL}")
    assert {decision.outcome for decision in made} <= {"chosen", "corrected", "unreadable", "refused"}
    assert all(decision.action is not None and decision.exchanges for decision in made)
    assert game.players[0].tally.completion_tokens > 0


async def test_an_ollama_brain_plays_with_a_server_of_its_protocol() -> None:
    async with http_server(ollama_chat) as url:
        game, made = await decisions(f"ollama:smollm2:135m@{url}?{SMALL}")
    assert [decision.outcome for decision in made] == ["chosen", "chosen"]
    assert game.players[0].tally.prompt_tokens > 0


async def test_a_model_that_ollama_does_not_have_is_reported_with_the_command_that_gets_it() -> None:
    async with http_server(ollama_chat) as url:
        _, made = await decisions(f"ollama:nothing:1b@{url}?retries=0", 1)
    assert made[0].outcome == "failed"
    assert "get it with `ollama pull nothing:1b`" in made[0].problem
