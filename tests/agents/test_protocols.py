"""Each backend against a server that speaks its protocol, with a real model behind it.

OpenAI and Anthropic: the HTTP server of llama.cpp, through the official clients. Ollama, and Anthropic's structured
output: small servers of these tests that speak the documented protocols over the same model, through the official
clients.
"""

from collections.abc import Iterator

import pytest
import xllamacpp

from cohabit.agents.decision import PlayerDecision
from cohabit.agents.llm.local import CONTEXT_TOKENS, _weights
from cohabit.agents.llm.schema import fit
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action, ActionSpace
from cohabit.model.answers import parse_action

from .servers import anthropic_messages, http_server, ollama_chat

SMALL = "temperature=0&brief=true&view=100&memory=0&reasoning=false&retries=0"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The HTTP server of llama.cpp with the model of the tests; its address."""
    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads, params.verbosity = CONTEXT_TOKENS, 1, 1, -1
    running = xllamacpp.Server(params)
    yield running.listening_address
    del running


async def decisions(name: str, number: int = 1) -> tuple[Game, list[PlayerDecision]]:
    made: list[PlayerDecision] = []
    game = Game(
        GameSpec("g", "nim", [name, "random"], seed="1"),
        on_decision=lambda player, decision, _: made.append(decision) if player == 0 else None,
    )
    await game.begin()
    while len(made) < number:
        await game._moves(game._movers())
    await game.players[0].close()
    return game, made


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of your own needs none."""
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.soak
async def test_an_openai_brain_plays_with_a_real_model_server(server: str) -> None:
    game, made = await decisions(f"openai:smollm2@{server}/v1?{SMALL}&max_tokens=60")
    assert [decision.outcome for decision in made] == ["chosen"]  # the schema allows nothing else
    assert game.players[0].tally.prompt_tokens > 0
    assert game.players[0].tally.unpriced == 1


@pytest.mark.soak
async def test_an_anthropic_brain_plays_with_a_real_model_server(server: str) -> None:
    """This server ignores the schema, so the answers are free text. The outcome is what they say, and nothing else."""
    game, made = await decisions(f"anthropic:smollm2@{server}?{SMALL}&max_tokens=20")  # it would talk on and on
    legal = [Action("take", {"n": n}) for n in (1, 2, 3)]  # more than three stones are left
    for decision in made:
        said = [read(exchange.answer, game.room.commands.action_space(), legal) for exchange in decision.exchanges]
        usable = [action for action in said if action in legal]
        assert len(said) == (1 if said[0] in legal else 2)
        if usable:
            assert (decision.outcome, decision.action) == ("chosen" if len(said) == 1 else "corrected", usable[0])
        else:
            outcome = "unreadable" if said[-1] is None else "refused"
            assert (decision.outcome, decision.action) == (outcome, legal[0])
    usages = [exchange.usage for decision in made for exchange in decision.exchanges]
    assert all(usage.prompt_tokens > 100 and usage.completion_tokens > 0 for usage in usages)
    assert game.players[0].tally.completion_tokens == sum(usage.completion_tokens for usage in usages)


def read(answer: str, space: ActionSpace, legal: list[Action]) -> Action | None:
    """The action in a free answer, without its reason; None: there is none."""
    try:
        found = fit(parse_action(answer, space), space, [action.choice for action in legal])
    except ValueError:
        return None
    return Action(found.name, found.parameters)


@pytest.mark.soak  # as long as that of OpenAI's protocol, with the same server
async def test_an_anthropic_brain_answers_under_the_schema_where_the_server_follows_it() -> None:
    async with http_server(anthropic_messages) as url:
        game, made = await decisions(f"anthropic:smollm2@{url}?{SMALL}&max_tokens=60")
    assert [decision.outcome for decision in made] == ["chosen"]
    assert [len(decision.exchanges) for decision in made] == [1]
    assert game.players[0].tally.prompt_tokens > 0
    assert game.players[0].tally.unpriced == 1


async def test_an_ollama_brain_plays_with_a_server_of_its_protocol() -> None:
    async with http_server(ollama_chat) as url:
        game, made = await decisions(f"ollama:smollm2:135m@{url}?{SMALL}&max_tokens=60")
    assert [decision.outcome for decision in made] == ["chosen"]
    assert game.players[0].tally.prompt_tokens > 0


async def test_a_model_that_ollama_does_not_have_is_reported_with_the_command_that_gets_it() -> None:
    async with http_server(ollama_chat) as url:
        _, made = await decisions(f"ollama:nothing:1b@{url}?retries=0", 1)
    assert made[0].outcome == "failed"
    assert "get it with `ollama pull nothing:1b`" in made[0].problem
