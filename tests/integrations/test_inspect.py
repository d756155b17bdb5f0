"""Games as Inspect tasks: Inspect evaluates its mock model, which plays seats of rooms."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .houses import opened, run

pytestmark = pytest.mark.soak
PROGRAM = Path(__file__).with_name("inspect_evals.py")


@pytest.fixture(scope="module")
def found(need: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the logs of the evaluations say. They are run once, because the library takes seconds to import."""
    return asyncio.run(evaluated(need("inspect"), tmp_path_factory.mktemp("inspect")))


async def evaluated(python: Path, folder: Path) -> dict[str, Any]:
    async with opened() as house:
        (folder / "duel").write_text(house.links("duel/ada", "duel/bob"))
        (folder / "heap").write_text(house.links("heap/learner"))
        hosts = house.links("heap/hostess")
        seen = await run(python, PROGRAM, "inspect", folder, COHABIT_HOSTS=hosts)
        standings = (await house.call("duel", "objective_status")).standings
        return {**seen, "duel_standings": {line.seat: line.score for line in standings}}


def test_two_samples_play_each_other_and_their_scores_are_those_of_the_world(found: dict[str, Any]) -> None:
    duel = found["duel"]
    assert duel["status"] == "success"
    assert (
        {sample["seat"]: sample["value"] for sample in duel["samples"]} == found["duel_standings"] == {"X": 1, "O": 0}
    )
    assert duel["metrics"]["mean"] == 0.5


def test_the_model_reads_the_rules_the_view_and_numbered_moves(found: dict[str, Any]) -> None:
    rules, first, *_ = found["clumsy"]["samples"][0]["asked"]
    assert "The player who takes the last one wins." in rules
    assert "The heap: ooooooooo  (9 stones)" in first
    assert 'Moves:\n1. take {"n": 1}\n2. take {"n": 2}\n3. take {"n": 3}' in first


def test_after_unusable_answers_the_fallback_is_played_and_counted(found: dict[str, Any]) -> None:
    (clumsy,) = found["clumsy"]["samples"]
    assert (clumsy["unreadable"], clumsy["refused"], clumsy["fallbacks"]) == (2, 1, 1)
    assert any("not accepted: [BAD_ARGS]" in text for text in clumsy["asked"])


def test_the_score_of_a_lost_game_is_its_return(found: dict[str, Any]) -> None:
    (clumsy,) = found["clumsy"]["samples"]
    assert (clumsy["over"], clumsy["value"], clumsy["game"]) == (True, -1.0, 1)


def test_the_next_sample_gets_the_next_game_and_stops_at_its_limit_of_turns(found: dict[str, Any]) -> None:
    (again,) = found["again"]["samples"]
    assert (again["game"], again["turns"], again["over"]) == (2, 1, False)
    assert (again["unreadable"], again["refused"]) == (0, 0), "move 2 is a number of the list"


def test_a_move_is_read_from_the_last_line_or_the_last_json_of_an_answer(found: dict[str, Any]) -> None:
    assert found["misread"] == []
