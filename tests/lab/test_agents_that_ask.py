"""Agents of somebody's own that ask a language model: every request counts, and a resumed run is the same run."""

from pathlib import Path
from typing import Any

import pytest
from tests.agents import asking
from tests.lab.test_cap import Service, prices, serving

from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import Completion
from cohabit.agents.spending import Spending
from cohabit.errors import BadArgs
from cohabit.lab.answers import Answer, AnswerLog, OtherQuestion
from cohabit.lab.design import Design
from cohabit.lab.match import match_design
from cohabit.lab.run import run

__all__ = ["prices"]


def design(kind: str, url: str, cap: float | None, model: str = "m", seconds: float | None = None) -> Design:
    names = [f"{asking.__file__}:{kind}?url={url}&model={model}", "random"]
    return match_design("nim", names, games=1, max_cost=cap, seconds=seconds)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["Derived", "Decides", "Retries", "Contains"])
def test_the_cap_holds_and_the_table_has_every_request(kind: str, tmp_path: Path) -> None:
    service = Service("error", "good")
    with serving(service) as url:
        capped = run(design(kind, url, 0.18), tmp_path / "capped")
        assert service.billed <= 0.18
        assert service.billed <= sum(capped.spent) + 1e-6
        before = service.requests
        results = run(design(kind, url, None), tmp_path / "run")
    tallies = [tally for game in results.games for tally in game.tallies]
    assert sum(tally.requests for tally in tallies) == service.requests - before
    assert sum(tally.dollars for tally in tallies) == pytest.approx(results.spent[0])
    assert sum(tally.charged for tally in tallies) == pytest.approx(sum(results.spent))


@pytest.mark.parametrize(
    ("kind", "model", "why"),
    [
        ("Synchronous", "m", "it is not asynchronous"),
        ("Two", "m", "it has several models"),
        ("Decides", "unlisted", "the price of openai:unlisted is not known"),
        ("Derived", "unlisted", "the price of openai:unlisted is not known"),
    ],
)
def test_a_cap_that_cannot_be_kept_is_refused(kind: str, model: str, why: str, tmp_path: Path) -> None:
    service = Service("good")
    with serving(service) as url, pytest.raises(BadArgs, match=why):
        run(design(kind, url, 1.0, model), tmp_path / "run")
    assert service.requests == 0


def test_a_question_that_the_agent_gives_up_is_not_asked_again(tmp_path: Path) -> None:
    service = Service("hang")
    with serving(service) as url:
        results = run(design("Impatient", url, None), tmp_path / "run")
    decisions = [line.decision for line in results.decisions() if line.player != "random"]
    assert {decision.outcome for decision in decisions} == {"chosen"}
    questions = [each.calls for decision in decisions for each in decision.exchanges]
    assert {tuple(call.cause for call in calls) for calls in questions} == {("no_reply",)}
    assert 0 < service.requests <= len(questions), "one that is given up early may not reach the service"


# -- resuming -----------------------------------------------------------------------------------------
def outcomes(results: Any) -> list[str]:
    return [line.decision.outcome for line in results.decisions() if line.player != "random"]


def test_a_logged_timeout_is_a_timeout_again_also_for_an_agent_that_catches_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service("hang", "good", "good", "good", "good", "good", "good", "good")
    with serving(service) as url:
        plan = design("Catches", url, None, seconds=8.0)
        with monkeypatch.context() as patched:
            patched.setattr("cohabit.lab.folder.write_record", killed)
            with pytest.raises(Killed):
                run(plan, tmp_path / "run")
        before = service.requests
        results = run(plan, tmp_path / "run")
    assert service.requests == before
    assert outcomes(results)[0] == "timeout"
    assert set(outcomes(results)[1:]) == {"chosen"}


class Killed(Exception):
    """The run ends before its game is kept."""


def killed(*_: object) -> None:
    raise Killed


def answer(asked: str) -> Answer:
    return Answer(0, asked, Completion(asked, usage=Usage()))


def test_answers_to_questions_at_the_same_time_are_found_in_any_order(tmp_path: Path) -> None:
    log = AnswerLog(Spending(), tmp_path / "log")
    for asked in ("b", "a", "c"):
        log.add(answer(asked))
    log.add(Answer(0, timeout=True))
    log.add(answer("d"))
    log.close()
    again = AnswerLog(Spending(), tmp_path / "log")
    assert again.take(0, "a") == answer("a")
    assert again.take(0, "b") == answer("b")
    with pytest.raises(OtherQuestion):
        again.take(0, "d")
    assert again.take(0, "c") == answer("c")


def test_a_run_that_cannot_be_resumed_stops_and_no_player_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Service("good")) as url:
        plan = design("Catches", url, None)
        with monkeypatch.context() as patched:
            patched.setattr("cohabit.lab.folder.write_record", killed)
            with pytest.raises(Killed):
                run(plan, tmp_path / "run")
        (log,) = (tmp_path / "run" / "unfinished").iterdir()
        lines = log.read_text().splitlines()
        log.write_text("\n".join(lines[1:]) + "\n")
        results = run(plan, tmp_path / "run")
    assert "belongs to another question" in results.stopped
    assert results.games == []
