"""The pages "Bring a model", "Write an agent" and "Compare two agents", followed literally in an empty folder."""

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cohabit.faces.cli import main

from ..agents.servers import http_server, reply  # noqa: TID252 - the servers of the tests of agents

DOCS = Path(__file__).parent.parent.parent / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)


def commands(page: str, verb: str) -> list[list[str]]:
    """The commands of a page with this verb, without their comments."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith(f"cohabit {verb}")]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY", "COHABIT_PRICES"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def with_value(words: list[str], option: str, value: int) -> list[str]:
    """The same command with another value of an option."""
    return [str(value) if before == option else word for before, word in zip(["", *words], words, strict=False)]


# -- write an agent ---------------------------------------------------------------------------------
def test_the_agent_of_the_page_plays_as_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("write-an-agent.md", "python")
    Path(code.splitlines()[0].removeprefix("# ")).write_text(code)
    (match,) = commands("write-an-agent.md", "match")
    assert main(match) == 0
    assert re.search(r"^tictactoe +first\.py +20 ", capsys.readouterr().out, re.MULTILINE)
    for world, more in (("lanterns", ["--max-ticks", "100"]), ("statecraft", ["--config", "turns=2"])):
        assert main(["match", world, "first.py:First", "random", "--games", "2", *more]) == 0


# -- compare two agents -----------------------------------------------------------------------------
def test_the_commands_of_the_comparison_work_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    (match,) = commands("compare.md", "match")
    match = ["nim-master" if word == "local" else word for word in match]  # the model has tests of its own
    match = ["nim" if word == "tictactoe" else word for word in match]
    assert main(with_value(match, "--games", 4)) == 0
    report, *_ = commands("compare.md", "lab report")
    assert main(report) == 0
    assert Path("first/report.html").is_file()
    for words in commands("compare.md", "lab export")[:2]:
        assert main(words) == 0
    assert Path("first/dataset.jsonl").is_file()
    assert Path("first/dataset.parquet").is_file()
    rows = [json.loads(line) for line in Path("first/dataset.jsonl").read_text().splitlines()]
    assert {row["reward"] for row in rows} == {-1.0, 0.0, 1.0}
    game = next(Path("first/records").iterdir())
    assert main(["replay", str(game)]) == 0
    capsys.readouterr()


# -- bring a model ----------------------------------------------------------------------------------
async def answers(path: str, body: dict[str, Any], writer: Any) -> None:
    """A server that speaks OpenAI's protocol and marks the first free cell."""
    if path == "/v1/models":
        writer.write(reply(200, json.dumps({"object": "list", "data": []})))
    elif path == "/v1/chat/completions":
        free = re.search(r"Legal actions: \D*(\d)", body["messages"][-1]["content"])
        assert free is not None
        said = {"role": "assistant", "content": json.dumps({"action": "mark", "params": {"cell": int(free[1])}})}
        found = {
            "id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100_000, "completion_tokens": 10, "total_tokens": 100_010},
        }  # fmt: skip
        writer.write(reply(200, json.dumps(found)))
    else:
        writer.write(reply(404, json.dumps({"error": {"message": "no such page"}})))


async def typed(words: list[str]) -> int:
    """Run a command beside the server of this event loop."""
    return await asyncio.to_thread(main, words)


async def test_a_model_at_an_address_plays_and_what_it_costs_is_shown_and_capped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = next(words for words in commands("models.md", "match") if any("@" in word for word in words))
    async with http_server(answers) as url:
        words = [f"openai:MODEL@{url}/v1" if "@" in word else word for word in words]
        assert await typed(words) == 0
        assert re.search(r"\d00,000 \+ \d+ +\$0\.00 \+ \d+ unpriced", capsys.readouterr().out)
        (prices,) = blocks("models.md", "json")
        Path("prices.json").write_text(prices)
        monkeypatch.setenv("COHABIT_PRICES", "prices.json")
        capped = commands("models.md", "match")[-1] + ["--out", "capped"]
        capped = [f"openai:MODEL@{url}/v1" if word == "openai:MODEL" else word for word in capped]
        assert await typed(capped) == 1  # an answer costs 12.5 cents, so two dollars are soon spent
        assert "the run has reached its spending cap of $2" in capsys.readouterr().out
        assert await typed(with_value(capped, "--max-cost", 5)) == 1
        assert "the run has reached its spending cap of $5" in capsys.readouterr().out  # it went on, and stopped again


@pytest.mark.parametrize(
    ("brain", "advice"),
    [
        ("openai:MODEL", "set the environment variable OPENAI_API_KEY"),
        ("anthropic:MODEL", "set the environment variable ANTHROPIC_API_KEY"),
        ("openai:qwen3@http://127.0.0.1:9/v1", "no server answers at http://127.0.0.1:9/v1/; start it first"),
        ("ollama:qwen3:8b@http://127.0.0.1:9", "no Ollama server answers; start it with `ollama serve`"),
        ("local:nothing.gguf", "no file nothing.gguf with the weights of a model"),
    ],
)
def test_what_is_missing_is_reported_before_a_game_begins(
    brain: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", "tictactoe", brain, "random", "--games", "2", "--out", "out"]) == 1
    assert advice in capsys.readouterr().err
    design = {"name": "x", "worlds": ["tictactoe"], "lineups": [[brain, "random"]], "seeds": 1}
    Path("x.json").write_text(json.dumps(design))
    assert main(["lab", "run", "x.json", "--out", "out"]) == 1
    assert advice in capsys.readouterr().err
    assert not Path("out").exists()


async def test_a_match_in_which_a_model_failed_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    async with http_server(answers) as url:
        assert await typed(["match", "tictactoe", f"openai:m@{url}?retries=0", "random", "--games", "2"]) == 1
    said = capsys.readouterr().out
    assert "most often: BackendError: openai:m: HTTP 404: " in said
    assert "no such page" in said
