"""The cache of answers: what a model was asked before is not asked, or paid for, again."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cohabit.faces.cli import main
from cohabit.lab.results import Results


class Model(ThreadingHTTPServer):
    """A server that speaks OpenAI's protocol, answers with one move, and counts the questions."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.asked = 0

    @property
    def brain(self) -> str:
        return f"openai:m@http://127.0.0.1:{self.server_address[1]}"


class Answers(BaseHTTPRequestHandler):
    server: Model

    def do_GET(self) -> None:
        self._reply({"data": [{"id": "m"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.asked += 1
        message = {"role": "assistant", "content": '{"action": "take", "params": {"n": 1}}'}
        self._reply(
            {
                "id": "1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        )  # fmt: skip

    def _reply(self, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("command", ["match", "lab run"])
def test_the_second_run_with_a_cache_asks_nothing_and_costs_nothing(
    command: str, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prices.json").write_text(json.dumps({"openai:m": [1000, 1000]}))
    monkeypatch.setenv("COHABIT_PRICES", str(tmp_path / "prices.json"))
    design = {"name": "x", "worlds": ["nim"], "lineups": [[model.brain, "random"]], "seeds": 1, "games": 1}
    Path("design.json").write_text(json.dumps(design))
    words = (
        ["match", "nim", model.brain, "random", "--games", "1"] if command == "match" else ["lab", "run", "design.json"]
    )

    def play(out: str, *more: str) -> tuple[int, Results]:
        before = model.asked
        assert main([*words, "--out", out, *more]) == 0
        return model.asked - before, Results.read(out)

    asked, first = play("first", "--cache", "answers")
    assert asked > 1
    again, second = play("second", "--cache", "answers")
    assert again == 0
    assert [game.head for game in second.games] == [game.head for game in first.games]
    assert first.games[0].tallies[0].dollars > 0
    assert second.games[0].tallies[0].dollars == second.games[0].tallies[0].charged == 0
    assert second.games[0].tallies[0].prompt_tokens == first.games[0].tallies[0].prompt_tokens
    exchanges = [exchange for line in second.decisions() for exchange in line.decision.exchanges]
    assert exchanges
    assert all(exchange.usage.cached for exchange in exchanges)
    assert play("third")[0] == asked, "without the cache it is asked again"
