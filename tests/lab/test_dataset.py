"""Datasets: each row is what the player was given, nothing that its seat could not see, and what it gained."""

import asyncio
import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.agents.decision import FAILURES
from cohabit.errors import RecordCorrupt
from cohabit.faces.cli import main
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.settings import Settings
from cohabit.lab.dataset import COLUMNS, Row, run_rows
from cohabit.lab.design import parse_design
from cohabit.lab.folder import DECISIONS, read_decisions, read_games, record_path
from cohabit.lab.run import run
from cohabit.lab.scoring import scores
from cohabit.scenario import parse_scenario

DESIGN: dict[str, Any] = {
    "name": "data",
    "worlds": {
        "nim": {},
        "statecraft": {"config": {"turns": 3, "observability": "fog"}, "lineups": [["trader", "hawk", "random"]], "seeds": 1},
        "lanterns": {"lineups": [["lamplighter", "random"]], "seeds": 1},
        "kingdoms": {
            "config": {"zones_x": 2, "zones_y": 2}, "partial_intel": True, "lineups": [["warlord", "steward"]],
            "seeds": 1, "max_ticks": 100,
        },
    },
    "players": {"noisy": "noisy.py:Noisy"},
    "lineups": [["nim-master", "noisy"]],
    "seeds": 2,
}  # fmt: skip
NOISY = '''
"""Keeps every observation in a file. It also fails and answers illegally, so that fallbacks are in the record."""
from pathlib import Path
import msgspec
from cohabit.agents.brains.scripted import Random
from cohabit.model.action import Action

SEEN = Path(__file__).with_name("seen.jsonl")


class Noisy(Random):
    calls = 0

    def decide(self, observation):
        with SEEN.open("ab") as file:
            file.write(msgspec.json.encode(observation) + b"\\n")
        self.calls += 1
        if self.calls % 3 == 1:
            raise ValueError("no idea")
        if self.calls % 3 == 2:
            return Action("take", {"n": 99})
        return super().decide(observation)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("data")
    (made / "noisy.py").write_text(NOISY)
    run(parse_design(json.dumps(DESIGN), str(made)), made / "run")
    return made / "run"


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[Row]:
    return list(run_rows(folder))


def test_there_is_one_row_for_each_decision_with_its_action_outcome_and_reasoning(
    folder: Path, rows: list[Row]
) -> None:
    def key(game: str, player: str, number: int) -> tuple[str, str, int]:
        return game, player, number

    expected = {}
    for line in read_decisions(folder):
        made = line.decision
        played = None if made.action is None else {"action": made.action.name, "params": made.action.parameters}
        reasoning = None if made.action is None else made.action.reasoning
        expected[key(line.game, line.player, made.number)] = (made.outcome, played, reasoning, made.problem)
    found = {key(r.game, r.player, r.number): (r.outcome, r.action, r.reasoning, r.problem) for r in rows}
    assert found == expected
    assert len(rows) == len(expected)
    assert {row.outcome for row in rows} & set(FAILURES)  # the noisy player's are in it


def test_an_observation_is_exactly_what_the_player_was_given(folder: Path, rows: list[Row]) -> None:
    given_to_it = [json.loads(line) for line in (folder.parent / "seen.jsonl").read_text().splitlines()]
    exported = [
        {**row.observation, **({"choices": row.legal} if row.legal else {})} for row in rows if row.player == "noisy"
    ]
    assert [json.loads(msgspec.json.encode(each)) for each in exported] == given_to_it


def test_gains_add_up_to_the_score_on_the_scoreboard(folder: Path, rows: list[Row]) -> None:
    games = read_games(folder)
    assert {game.spec.world for game in games} == DESIGN["worlds"].keys()
    for game in games:
        for seat, score in zip(game.seats, scores(game), strict=True):
            mine = [row for row in rows if row.game == game.spec.id and row.seat == seat]
            assert {row.score for row in mine} == {score}
            if game.spec.world == "nim":
                assert sum(row.gain or 0.0 for row in mine) == pytest.approx(score)
            elif game.spec.world == "statecraft":  # in the fog the scoreboard is hidden until the end
                assert [row.gain for row in mine] == [None] * len(mine)


def test_the_rewards_of_a_seat_add_up_to_its_return_in_every_world(folder: Path, rows: list[Row]) -> None:
    rewarded = {
        game.spec.world
        for game in read_games(folder)
        for seat in game.seats
        if (mine := [row.reward for row in rows if row.game == game.spec.id and row.seat == seat])
        and sum(mine) == game.returns.get(seat, 0.0)
        and any(mine)
    }
    assert rewarded == {row.world for row in rows} == {"nim", "statecraft", "lanterns", "kingdoms"}
    for game in read_games(folder):
        for seat in game.seats:
            mine = [row.reward for row in rows if row.game == game.spec.id and row.seat == seat]
            assert sum(mine) == game.returns.get(seat, 0.0)


WITH_POWERS = '''
"""Nim with a power that its players do not have. One of them tries to use it."""
from cohabit.agents.brains.scripted import Random
from cohabit.model.action import Action
from cohabit.world import Outcome, Seat, action
from cohabit.worlds.nim import Nim


class Powers(Nim):
    spec = Nim.spec

    @action(needs="act_global")
    def sweep(self, by: Seat | None) -> Outcome:
        """Take all but one stone."""
        self.stones = 1
        return Outcome("Swept.")


class Reaching(Random):
    def decide(self, observation):
        self.tries = getattr(self, "tries", 0) + 1
        return Action("sweep") if self.tries % 2 else super().decide(observation)
'''


def test_a_decision_after_which_nothing_was_played_is_exported_too(tmp_path: Path) -> None:
    file = tmp_path / "powers.py"
    file.write_text(WITH_POWERS)
    worlds, players = {"powers": {"world": f"{file}:Powers"}}, {"reaching": f"{file}:Reaching"}
    design = {"name": "late", "worlds": worlds, "players": players, "lineups": [["reaching", "random"]], "seeds": 3}
    run(parse_design(json.dumps(design)), tmp_path / "run")
    found = list(run_rows(tmp_path / "run", worlds=[f"{file}:Powers"]))
    late = [row for row in found if row.outcome == "late"]
    assert late
    assert all(row.action is None for row in late)
    assert len(found) == len(list(read_decisions(tmp_path / "run")))


HARVEST = Path(__file__).parent.parent / "worlds_samples" / "harvest.py"


def test_a_reward_that_comes_later_belongs_to_the_decision_before_it(tmp_path: Path) -> None:
    """In a round all submit; the last submission pays all of them."""
    worlds = {"harvest": {"world": str(HARVEST)}}
    design = {"name": "rounds", "worlds": worlds, "lineups": [["random", "random", "random"]], "seeds": 3}
    run(parse_design(json.dumps(design)), tmp_path)
    found = list(run_rows(tmp_path, worlds=[str(HARVEST)]))
    assert len(found) == 3 * 3 * 5
    paid = 0
    for game, number in {(row.game, row.number) for row in found}:
        together = [row for row in found if (row.game, row.number) == (game, number)]
        taken = [row.action["params"]["baskets"] if row.action else 0 for row in together]
        assert [row.reward for row in together] == ([float(n) for n in taken] if sum(taken) <= 6 else [0.0] * 3)
        assert [row.observation["status"] for row in together] == [{"round": number - 1, "submitted": None}] * 3
        paid += sum(taken) <= 6
    assert paid


def test_only_the_last_decision_of_a_seat_ends_it(folder: Path, rows: list[Row]) -> None:
    games = read_games(folder)
    assert {game.ended for game in games} == {"over", "limit"}
    for game in games:
        for seat in game.seats:
            mine = [row for row in rows if (row.game, row.seat) == (game.spec.id, seat)]
            assert [row.number for row in mine] == list(range(1, len(mine) + 1))
            assert not any(row.done or row.truncated for row in mine[:-1])
            assert (mine[-1].done, mine[-1].truncated) == (game.ended == "over", game.ended == "limit")


def test_what_was_chosen_is_among_the_legal_actions_where_the_world_lists_them(rows: list[Row]) -> None:
    nim = [row for row in rows if row.world == "nim"]
    assert nim
    for row in nim:
        assert row.legal is not None
        assert row.action in row.legal


def test_a_row_contains_nothing_that_its_seat_could_not_see(rows: list[Row]) -> None:
    """In the fog a nation does not see the private messages of others; each row is of one seat."""
    nations = [row for row in rows if row.world == "statecraft"]
    assert len({row.seat for row in nations}) == 3
    for row in nations:
        assert f"You are {row.seat}" in row.text
        assert row.text.count("You are ") == 1


def test_an_edited_decision_is_noticed(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    text = (copy / DECISIONS).read_text()
    assert '"reasoning":"the heap is a multiple of four' in text
    (copy / DECISIONS).write_text(text.replace("the heap is a multiple of four", "because", 1))
    with pytest.raises(RecordCorrupt, match="does not lead to the recorded game"):
        list(run_rows(copy))


def test_a_missing_decision_is_named(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "run")
    lines = (folder / DECISIONS).read_text().splitlines(keepends=True)
    nim = [number for number, line in enumerate(lines) if json.loads(line)["player"] == "nim-master"]
    (copy / DECISIONS).write_text("".join(lines[: nim[1]] + lines[nim[1] + 1 :]))
    with pytest.raises(RecordCorrupt, match=r"decisions\.jsonl has no line for decision \d+ of nim-master"):
        list(run_rows(copy))


def test_an_export_of_a_damaged_run_says_which_game_is_damaged(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    game = read_games(copy)[1].spec.id
    lines = record_path(copy, game).read_text().splitlines(keepends=True)
    record_path(copy, game).write_text("".join([lines[0], *lines[2:]]))
    with pytest.raises(RecordCorrupt, match=rf"^{re.escape(game)}: "):
        list(run_rows(copy))


def test_an_action_that_is_not_listed_is_of_a_world_that_lists_examples(rows: list[Row]) -> None:
    unlisted = {row.world for row in rows if row.action is not None and row.legal and not _is_listed(row)}
    assert unlisted
    assert unlisted <= {row.world for row in rows if row.legal_are_examples}
    assert {row.world for row in rows if not row.legal_are_examples} == {"nim"}


def _is_listed(row: Row) -> bool:
    return any(choice == row.action for choice in row.legal or ())


TALKER = """
from cohabit.agents.contract import Exchange, Thought
from cohabit.model.action import Action

class Talker:
    async def think(self, turn, correction=""):
        asked = [{"role": "user", "content": f"{turn.number} {correction[:11]}"}]
        n = 99 if turn.number == 1 and not correction else 1
        return Thought(Action("take", {"n": n}), [Exchange(asked, f"I take {n}")])
"""


def test_a_row_has_what_a_model_was_asked_and_answered_last(tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text(TALKER)
    design = {"name": "talk", "worlds": ["nim"], "lineups": [["talker.py:Talker", "random"]], "seeds": 1, "games": 1}
    run(parse_design(json.dumps(design), str(tmp_path)), tmp_path / "run")
    found = list(run_rows(tmp_path / "run"))
    asked = [(row.prompt, row.answer) for row in found if row.player != "random"]
    assert asked[:2] == [
        ([{"role": "user", "content": "1 [BAD_ARGS] "}], "I take 1"),
        ([{"role": "user", "content": "2 "}], "I take 1"),
    ]
    assert {(row.prompt, row.answer) for row in found if row.player == "random"} == {(None, None)}


@pytest.mark.parametrize(("words", "message"), [
    (["-o", "rows.txt"], "-o rows.txt: give --format, or a name that ends in .jsonl, .csv or .parquet"),
    (["-o", "rows.csv", "--format", "jsonl"], "-o rows.csv: --format jsonl would write something else than the name"),
])  # fmt: skip
def test_a_name_that_does_not_fit_the_format_is_refused(
    words: list[str], message: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["lab", "export", str(folder), *words]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sampled
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_the_command_writes_the_rows_in_the_format_of_the_name(
    folder: Path, rows: list[Row], form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"out.{form}"
    assert main(["lab", "export", str(folder), "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: {len(rows):,} rows\n"
    if form == "csv":
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert list(lines[0]) == list(COLUMNS)
        assert [line["observation"] for line in lines] == [
            msgspec.json.encode(row.observation).decode() for row in rows
        ]
        return
    if form == "jsonl":
        found = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        found = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
        for row in found:
            row |= {name: json.loads(row[name]) for name, kind in COLUMNS.items() if kind == "json" and row[name]}
    assert found == [json.loads(msgspec.json.encode(row)) for row in rows]


# -- records of a house -----------------------------------------------------------------------------
SCENARIO = json.dumps({
    "world": "nim", "config": {"stones": 7}, "seed": 3,
    "agents": [
        {"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "bob", "role": "player", "claim": "auto:1"},
        {"id": "zeus", "role": "god"},
    ],
})  # fmt: skip


async def play(folder: Path) -> None:
    async with House.open(Settings(data=str(folder))) as house:
        await house.create_room(parse_scenario(SCENARIO), "table")
        runner = house.rooms["table"]
        await runner.submit(Call("ann", "take", {"n": 3}))
        await runner.submit(Call("ann", "send_message", {"to": "zeus", "content": "psst: I win"}))
        await runner.submit(Call("bob", "act", {"action": "take", "params": {"n": 1}, "reasoning": "my plan"}))
        await runner.submit(Call("ann", "take", {"n": 3}))
        await runner.submit(Call("zeus", "rematch"))
        await runner.submit(Call("ann", "take", {"n": 1}))


async def test_a_room_of_a_house_and_its_exported_record_give_the_same_rows(tmp_path: Path) -> None:
    await play(tmp_path)
    data, record = ["--data", str(tmp_path)], tmp_path / "table.jsonl"
    assert main(["export", "table", "-o", str(record), *data]) == 0
    assert main(["lab", "export", "table", "-o", str(tmp_path / "a"), *data]) == 0
    assert main(["lab", "export", str(record), "-o", str(tmp_path / "b")]) == 0
    text = (tmp_path / "a").read_text()
    assert text == (tmp_path / "b").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    assert [
        (
            r["game"],
            r["player"],
            r["number"],
            r["action"]["params"]["n"],
            r["observation"]["status"]["stones"],
            r["done"],
        )
        for r in found
    ] == [
        ("table#1", "ann", 1, 3, 7, False),
        ("table#1", "bob", 1, 1, 4, True),
        ("table#1", "ann", 2, 3, 3, True),
        ("table#2", "ann", 1, 1, 7, False),
    ]
    assert [r["reasoning"] for r in found] == [None, "my plan", None, None]
    assert [r["reward"] for r in found] == [0.0, -1.0, 1.0, 0.0]
    assert [r["score"] for r in found] == [1.0, 0.0, 1.0, None]  # the second game is not over
    assert found[-1]["truncated"]
    assert "psst" not in text
    assert "zeus" not in "".join(r["player"] for r in found)


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=12))
def test_any_record_of_nim_gives_the_heaps_that_the_players_saw(takes: list[int]) -> None:
    from cohabit.lab.dataset import ObservedRoom, record_rows
    from cohabit.lab.game import Game, GameSpec
    from cohabit.registry import make_world

    game = Game(GameSpec("g", "nim", ["random", "random"], config={"stones": 20}))
    heaps, left = [], 20
    for number, take in enumerate(takes):
        if take > left or left == 0:
            break
        game.room.call(f"p{1 + number % 2}", "take", {"n": take}, at=number)
        heaps.append(left)
        left -= take
    found = list(record_rows(ObservedRoom.replaying(game.lines(), make_world), "g"))
    assert [row.observation["status"]["stones"] for row in found] == heaps


def test_a_name_that_is_neither_a_run_nor_a_room_is_refused_as_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lab", "export", "first", "--data", str(tmp_path)]) == 1
    assert "there is no folder of a run 'first' here, and no house in" in capsys.readouterr().err


def test_with_a_data_folder_a_name_is_a_room_although_a_folder_has_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(play(tmp_path / "data"))
    assert main(["match", "nim", "random", "random", "--games", "1", "--out", "table"]) == 0
    assert main(["lab", "export", "table", "--data", "data", "-o", "room.jsonl"]) == 0
    assert "table#1" in Path("room.jsonl").read_text()
    for source in (["table"], ["./table", "--data", "data"]):
        assert main(["lab", "export", *source, "-o", "run.jsonl"]) == 0
        assert "nim.random-vs-random" in Path("run.jsonl").read_text()
