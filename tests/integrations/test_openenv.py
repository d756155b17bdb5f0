"""Seats of rooms as OpenEnv environments: OpenEnv's own client plays them, through OpenEnv's own server."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .houses import Opened, opened, run

pytestmark = pytest.mark.soak
PROGRAM = Path(__file__).with_name("openenv_sessions.py")
SEATS = ("duel/ada", "duel/bob", "heap/learner")


@pytest.fixture(scope="module")
def found(need: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the sessions have seen. They are played once, because the libraries take seconds to import."""
    return asyncio.run(played(need("openenv"), tmp_path_factory.mktemp("openenv")))


async def played(python: Path, folder: Path) -> dict[str, Any]:
    async with opened() as house:
        hosts = house.links("duel/hostess", "heap/hostess")
        seen = await run(python, PROGRAM, "openenv", folder, COHABIT_SEATS=house.links(*SEATS), COHABIT_HOSTS=hosts)
        return {**seen, "record": await record_of(house)}


async def record_of(house: Opened) -> dict[str, list[str]]:
    """What each room has on record of its games and moves."""
    pages = {room: await house.call(room, "events", {"cursor": ""}) for room in ("duel", "heap")}
    return {room: [item.text for item in page.items] for room, page in pages.items()}


def test_two_clients_play_each_other_in_one_room_and_a_host_starts_their_next_game(found: dict[str, Any]) -> None:
    first, second = sorted(found["duels"], key=lambda games: games[0]["seat"] != "X")
    assert [end["game"] for end in first] == [end["game"] for end in second] == [1, 2]
    assert [end["total"] for end in first] == [1.0, 1.0], "the first free cells give X the diagonal"
    assert {end["seat"] for end in second} == {"O"}
    assert [line["score"] for line in first[0]["standings"]] == [1, 0]
    assert [text for text in found["record"]["duel"] if "rematch" in text] == ["hostess started a rematch: game 2"]


def test_each_session_has_a_seat_of_its_own_and_says_which(found: dict[str, Any]) -> None:
    assert {(state["room"], state["member"], state["seat"]) for state in found["states"]} == {
        ("duel", "ada", "X"),
        ("duel", "bob", "O"),
    }


def test_an_observation_has_the_view_the_legal_actions_and_whose_turn_it_is(found: dict[str, Any]) -> None:
    begun = found["begun"]
    assert "The heap: ooooooooo  (9 stones)" in begun["text"]
    assert begun["legal_actions"] == [{"action": "take", "params": {"n": n}} for n in (1, 2, 3)]
    assert (begun["your_turn"], begun["to_move"], begun["game"]) == (True, ["learner"], 1)
    assert begun["values"]["status"]["stones"] == 9


def test_a_refused_action_changes_nothing_and_says_why(found: dict[str, Any]) -> None:
    refused = found["refused"]
    assert "[BAD_ARGS]" in refused["refused"]
    assert (refused["reward"], refused["your_turn"]) == (0.0, True)
    assert refused["values"] == found["begun"]["values"]


def test_the_brain_on_the_other_seat_answers_before_the_step_returns(found: dict[str, Any]) -> None:
    assert found["left"]["values"]["status"]["stones"] == 4, "9, less 3, and the master leaves a multiple of 4"
    assert found["left"]["your_turn"] is True


def test_a_session_without_a_seat_is_told_what_to_do(found: dict[str, Any]) -> None:
    assert "3 of 3 seats are in use: close a session, or add links to COHABIT_SEATS" in found["none_free"]


def test_a_closed_session_frees_its_seat_and_reset_joins_the_running_game(found: dict[str, Any]) -> None:
    assert found["taken_over"]["seat"] == "first"
    assert found["taken_over"]["values"] == found["left"]["values"]


def test_the_rewards_of_a_lost_game_add_up_to_its_return(found: dict[str, Any]) -> None:
    assert [(end["game"], end["total"], end["total_reward"]) for end in found["heap"]] == [
        (1, -1.0, -1.0),
        (2, -1.0, -1.0),
    ]


def test_a_step_after_the_end_needs_a_reset(found: dict[str, Any]) -> None:
    assert "call reset" in found["after_the_end"]
