"""Failures in the report: their causes, and the first of them with every request, nested as in the transcript."""

import re
from pathlib import Path

import pytest

from cohabit.agents.contract import Call, Exchange
from cohabit.agents.decision import PlayerDecision, Tally
from cohabit.lab.failures import MAX_LISTED, cause_rows, failed_decisions
from cohabit.lab.folder import DecisionLine
from cohabit.lab.report import write_report
from cohabit.lab.run import run

from .test_cap import Service, design, prices, serving  # noqa: F401 - a fixture


def failed(game: str, turn: int, number: int, *calls: Call, problem: str = "no answer") -> DecisionLine:
    decision = PlayerDecision(
        number, "timeout", problem=problem, exchanges=[Exchange([], calls=list(calls))], turn=turn
    )
    return DecisionLine(game, 0, "m", decision)


def test_the_calls_of_a_failed_decision_are_below_its_game_and_turn() -> None:
    busy, gone = Call("rate_limit", "HTTP 429"), Call("no_reply", "given up", reserved=0.5)
    lines = [failed("g1", 3, 2, busy, gone), failed("g1", 4, 3, busy), failed("g2", 1, 1), failed("other", 1, 1)]
    lines.insert(1, DecisionLine("g1", 1, "r", PlayerDecision(2, "chosen", turn=3)))
    found = failed_decisions(lines, {"g1", "g2"})
    assert found.count("<li>game ") == 2
    assert re.sub(r"</?(ul|details|summary)>", "", found).replace("</li>", "").split("<li>")[1:6] == [
        "game g1",
        "turn 3",
        "decision 2 of m: timeout, rate_limit: no answer",
        "call 1: rate_limit: HTTP 429",
        "call 2: no_reply: given up (up to $0.5000)",
    ]
    assert found.count("<ul>") == found.count("</ul>")


def test_texts_of_others_are_escaped_and_the_list_is_short() -> None:
    lines = [failed("g", 0, number, problem="<script>" + "x" * 1000) for number in range(100)]
    found = failed_decisions(lines, {"g"})
    assert "<script>" not in found
    assert found.count("decision ") == MAX_LISTED
    assert failed_decisions([], {"g"}) == ""


def test_the_most_frequent_cause_comes_first_with_its_meaning() -> None:
    rows = cause_rows([("m", Tally({"failed": 4}, causes={"empty": 1, "rate_limit": 3}))])
    assert [row[:4] for row in rows] == [["m", "rate_limit", "3", "75.0%"], ["m", "empty", "1", "25.0%"]]
    assert "429" in rows[0][4]


@pytest.mark.usefixtures("prices", "without_plots")
def test_a_report_says_why_decisions_failed_and_what_was_spent(tmp_path: Path) -> None:
    service = Service("error")
    with serving(service) as url:
        results = run(design(url, 100.0, games=2), tmp_path / "run")
    page = write_report(results, tmp_path / "run", tables=False).path.read_text()
    assert "<h3>Failures</h3>" in page
    assert "<td>server_error</td>" in page
    assert "call 3: server_error: openai:m: HTTP 500" in page
    assert "the run has spent $0.0000 to $" in page
