"""Experiments: playing rounds, resuming after interruptions, and validating descriptions."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.bare_statecraft import first_state, make_player, play_bare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.agents import isolated
from cohabit.agents.brains.statecraft import NATIONS, TRAITS
from cohabit.errors import BadArgs, Conflict, RecordCorrupt
from cohabit.faces.cli import main
from cohabit.lab.folder import FINGERPRINTS, RECORDS, read_record
from cohabit.lab.statecraft import measures
from cohabit.lab.statecraft import run as runs
from cohabit.lab.statecraft.config import Experiment, parse_experiment
from cohabit.lab.statecraft.folder import CONFIG_FILE, LOG_FILE, open_folder, read_rounds
from cohabit.lab.statecraft.play import assign_players, game_spec, play_round
from cohabit.lab.statecraft.report import write_report
from cohabit.lab.statecraft.rounds import Place, Round
from cohabit.lab.statecraft.run import run
from cohabit.lab.statecraft.tables import TABLES
from cohabit.registry import make_world
from cohabit.room.room import Room

from .example_rounds import eventful

SMALL: dict[str, Any] = {
    "name": "small",
    "lineups": {"ring": ["ring_builder"] * 3, "a hawk": ["hawk", "trader", "free_rider"]},
    "seeds": [1, 7],
    "rounds": 2,
    "turns": 5,
    "size": 9,
}


PLAYERS = ["ring_builder", "hawk", "trader", "free_rider"]
QUIET = "class Quiet:\n    def act(self, seen):\n        return {}\n"


def small(**changes: Any) -> Experiment:
    return parse_experiment(json.dumps({**SMALL, **changes}))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


STUCK = """
import threading

class Stuck:
    def act(self, agent_input):
        threading.Event().wait()

class Failing:
    def act(self, agent_input):
        raise SystemExit("enough")

class Segfaults:
    def act(self, agent_input):
        import faulthandler
        faulthandler._sigsegv()

class Exits:
    def act(self, agent_input):
        import os
        os._exit(0)
"""


# -- playing ----------------------------------------------------------------------------------------
def test_a_full_ring_reaches_the_optimum_and_passive_nations_keep_their_income() -> None:
    experiment = small(lineups={"ring": ["ring_builder"] * 3, "passive": ["passive"] * 3})
    assert measures.cooperation(play_round(experiment, Place("ring", 1, 1))) == 1
    assert measures.cooperation(play_round(experiment, Place("passive", 1, 1))) == 0


@pytest.mark.sampled
@pytest.mark.parametrize("player", ["Stuck", "Failing", "Segfaults", "Exits"])
def test_a_player_that_never_answers_or_ends_its_process_orders_nothing_and_the_round_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, player: str
) -> None:
    monkeypatch.setattr(isolated, "MIN_GRACE_S", 0.0)
    (tmp_path / "mine.py").write_text(STUCK)
    others = ["trader", "hawk"]
    quick = {"act_ms": 10, "shuffle": False}
    passive = small(lineups={"x": ["passive", *others]}, **quick)
    stuck = msgspec.structs.replace(passive, lineups={"x": [f"mine.py:{player}", *others]}, folder=str(tmp_path))
    one, other = play_round(stuck, Place("x", 1, 1)), play_round(passive, Place("x", 1, 1))
    assert [turn.welfare for turn in one.turns] == [turn.welfare for turn in other.turns]
    assert all(turn.dropped[0] for turn in one.turns)
    assert one.failures == {"Arden": len(one.turns)}


def test_noise_loses_answers_by_the_seed_and_without_it_nothing_is_lost() -> None:
    quiet, noisy, silent = (small(turns=20, noise=percent) for percent in (0, 30, 100))
    place = Place("ring", 1, 1)
    granted = [sum(sum(turn.grants_paid) for turn in play_round(one, place).turns) for one in (quiet, noisy, silent)]
    assert granted[0] > granted[1] > granted[2] == 0
    assert play_round(noisy, place) == play_round(noisy, place)
    assert play_round(noisy, place).turns != play_round(noisy, Place("ring", 2, 1)).turns
    with pytest.raises(BadArgs, match="noise: must be from 0 to 100"):
        small(noise=101)


@pytest.mark.parametrize("lineup", ["ring", "a hawk"])
def test_all_income_of_a_turn_is_accounted_for(lineup: str) -> None:
    played = play_round(small(turns=12), Place(lineup, 3, 1))
    assert len(played.turns) == 12
    for turn in played.turns:
        for i in range(3):
            unspent = turn.gross_income[i] - turn.income_destroyed[i] - turn.military_spending[i] - turn.grants_paid[i]
            assert unspent >= 0
            assert turn.welfare[i] == unspent + 2 * turn.grants_received[i]


def test_the_same_place_gives_the_same_round_and_other_places_have_other_territories() -> None:
    experiment = small()
    assert play_round(experiment, Place("a hawk", 1, 1)) == play_round(experiment, Place("a hawk", 1, 1))
    found = [first_state(experiment, Place("a hawk", seed, number)).territories for seed in (1, 7) for number in (1, 2)]
    assert all(found.count(territories) == 1 for territories in found)


def test_line_ups_of_the_same_seed_use_the_same_map_and_the_same_draw() -> None:
    experiment = small()
    ring, hawk = Place("ring", 7, 2), Place("a hawk", 7, 2)
    assert first_state(experiment, ring) == first_state(experiment, hawk)
    drawn = [tuple(assign_players(experiment, Place("a hawk", 1, number)).values()) for number in range(1, 13)]
    assert len(set(drawn)) > 1
    assert list(assign_players(small(shuffle=False), hawk).values()) == SMALL["lineups"]["a hawk"]


def test_a_player_that_fails_orders_nothing_and_the_round_continues(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Broken:\n    def act(self, seen):\n        raise RuntimeError\n"
        "class Quiet:\n    def act(self, seen):\n        return {}\n"
    )
    lineups = {"broken": ["mine.py:Broken", "trader"], "quiet": ["mine.py:Quiet", "trader"]}
    text = json.dumps({**SMALL, "lineups": lineups})
    broken, quiet = (play_round(parse_experiment(text, folder=str(tmp_path)), Place(title, 1, 1)) for title in lineups)
    assert [turn.welfare for turn in broken.turns] == [turn.welfare for turn in quiet.turns]
    nation = list(broken.players.values()).index("mine.py:Broken")
    assert measures.totals(broken, "dropped")[nation] >= 5


def test_a_player_from_a_file_can_take_a_trait(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Model:\n    def __init__(self, trait):\n        self.trait = trait\n"
        "    def act(self, seen):\n        return {'messages': {'all': self.trait}}\n"
    )
    player = make_player("mine.py:Model/sneaky", str(tmp_path))
    assert player.act({}) == {"messages": {"all": TRAITS["sneaky"]}}


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("mine.py:Gone", r"x\[0\]: .*mine\.py has no agent 'Gone'"),
        ("mine.py:Idle", r"x\[0\]: Idle in .*mine\.py is not an agent: it has no method decide, think or act"),
        ("mine.py:Model", r"x\[0\]: it cannot be created: TypeError"),
        ("mine.py:Model/sneeky", r"x\[0\]: unknown trait 'sneeky'"),
        ("mine.py:Exits", r"x\[0\]: the brain mine\.py:Exits cannot be created: its process ended with exit code 3"),
        ("broken.py:Model", r"x\[0\]: .*broken\.py cannot be imported: SyntaxError"),
        ("hawk/sneaky", r"x\[0\]: unknown player 'hawk/sneaky'"),
    ],
)
def test_a_player_that_cannot_be_created_is_reported_with_its_key(tmp_path: Path, player: str, message: str) -> None:
    (tmp_path / "broken.py").write_text("class")
    (tmp_path / "mine.py").write_text(
        "class Idle: pass\nclass Model:\n    def __init__(self, trait): pass\n    def act(self, seen): return {}\n"
        "class Exits(Model):\n    def __init__(self): import os; os._exit(3)\n"
    )
    with pytest.raises(BadArgs, match=message):
        parse_experiment(json.dumps({**SMALL, "lineups": {"x": [player, "hawk"]}}), folder=str(tmp_path))


NOTES = r"""
class Odd:
    def __init__(self):
        self.turn = 0

    def act(self, seen):
        self.turn += 1
        other = next(name for name in seen["agents"] if name != seen["self"])
        if self.turn == 6:
            raise ValueError
        return {
            1: {"money_grants": {other: 10, "nobody": 3}, "purchase_mils": (1,), "disband_mils": 10**30},
            2: "I grant nothing.",
            3: '```json\n{"money_grants": {"%s": 4}, "purchase_mils": 400}\n```' % other,
            4: None,
            5: {"purchase_mils": object(), "messages": {"all": "pledge: grant 2 to " + other}, "attacks": {other: 2.0}},
            7: b'{"purchase_mils": 1}',
        }[self.turn]


class Notes:
    # Writes down what it was shown.
    def act(self, seen):
        import json, pathlib
        with pathlib.Path(__file__).with_name("seen.jsonl").open("a") as notes:
            notes.write(json.dumps(seen) + "\n")
        return {"messages": {"all": "hello"}, "history_summary": "my notes"}
"""


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lineup=st.lists(st.sampled_from([*NATIONS, "mine.py:Odd"]), min_size=2, max_size=5),
    changes=st.fixed_dictionaries({}, optional={
        "observability": st.sampled_from(["full", "own_army", "fog"]), "noise": st.integers(0, 100),
        "mils": st.integers(0, 9), "publish_ratings": st.booleans(), "open_messages": st.booleans(),
        "intake": st.sampled_from(["strict", "lenient"]), "map": st.sampled_from(["world", "generated"]),
        "shuffle": st.booleans(), "loss_cap": st.sampled_from(["committed", "army"]),
        "constants": st.sampled_from([{}, {"c_trade_factor": "3/2", "c_mil_purchase_price": 3}]),
    }),
    seed=st.integers(0, 2**63 - 1),
)  # fmt: skip
def test_a_round_of_the_lab_is_the_one_that_the_engine_alone_plays(
    tmp_path: Path, lineup: list[str], changes: dict[str, Any], seed: int
) -> None:
    (tmp_path / "mine.py").write_text(NOTES)
    text = json.dumps({"name": "x", "lineups": {"x": lineup}, "turns": 7, "size": 12, **changes})
    experiment, place = parse_experiment(text, folder=str(tmp_path)), Place("x", seed, 1)
    found = play_round(experiment, place)
    assert msgspec.structs.replace(found, failures={}) == play_bare(experiment, place)
    odd = [nation for nation, player in found.players.items() if player == "mine.py:Odd"]
    assert found.failures == dict.fromkeys(odd, 1)


def test_a_player_from_a_file_gets_the_whole_input_object(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(NOTES)
    changes = {"lineups": {"x": ["mine.py:Notes", "trader"]}, "shuffle": False, "turns": 3}
    experiment = parse_experiment(json.dumps({**SMALL, **changes}), folder=str(tmp_path))
    play_round(experiment, Place("x", 1, 1))
    first, second, third = map(json.loads, (tmp_path / "seen.jsonl").read_text().splitlines())
    assert first["self"] == "Arden"
    assert "previous_turn_news" not in first
    assert {"from": "Arden", "to": "all", "text": "hello"} in second["messages"]
    assert any("Borland granted" in line for line in second["previous_turn_news"])
    assert any(line.startswith("Welfare: ") for line in second["previous_turn_report"])
    assert "my notes" in third["history_context"]
    assert any("Borland kept its pledge" in line for line in third["previous_turn_news"])


@pytest.mark.usefixtures("without_plots")
def test_the_failures_of_a_player_are_counted_and_make_its_results_doubtful(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "class Often:\n    def act(self, seen):\n        return {} if seen['turn'] else 1 / 0\n"
        "class Seldom:\n    def act(self, seen):\n        return {} if seen['turn'] or seen['self'] < 'B' else 1 / 0\n"
    )
    lineups = {"bad": ["mine.py:Often", "trader"], "good": ["mine.py:Seldom", "mine.py:Seldom"]}
    description = {**SMALL, "lineups": lineups, "turns": 10, "seeds": [1], "rounds": 3}
    (tmp_path / "doubtful.json").write_text(json.dumps(description))
    folder = tmp_path / "out"
    assert main(["statecraft", "run", str(tmp_path / "doubtful.json"), "--out", str(folder)]) == 1
    told = "mine.py:Often in bad: 10.0% of its decisions failed; the limit is 5%. These are not results of its play."
    assert f"FAILED: {told}" in capsys.readouterr().out
    assert told in (folder / "report.html").read_text()
    assert [sum(played.failures.values()) for played in read_rounds(folder)] == [1] * 6
    assert main(["statecraft", "report", str(folder)]) == 1
    assert capsys.readouterr().out.count("FAILED") == 1


def test_rounds_without_failures_are_written_as_before() -> None:
    assert b"failures" not in msgspec.json.encode(eventful())
    assert msgspec.json.decode(msgspec.json.encode(eventful()), type=Round) == eventful()


def test_a_round_can_be_played_beside_an_event_loop() -> None:
    async def in_a_notebook() -> Round:
        return play_round(small(), Place("ring", 1, 1))

    assert asyncio.run(in_a_notebook()) == play_round(small(), Place("ring", 1, 1))


# -- resuming ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The experiment, played without an interruption."""
    folder = tmp_path_factory.mktemp("whole")
    run(small(), folder)
    return folder


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_run_that_is_interrupted_anywhere_resumes_to_the_same_files(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = (whole / LOG_FILE).read_bytes()
    kept = data.draw(st.integers(0, len(text)))
    folder = tmp_path_factory.mktemp("interrupted")
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    (folder / LOG_FILE).write_bytes(text[:kept])
    for place in list(small().places())[text[:kept].count(b"\n") :]:
        record = folder / RECORDS / f"{game_spec(small(), place, []).id}.jsonl"
        record.write_bytes(record.read_bytes()[: data.draw(st.integers(0, 99))])
    run(small(), folder)
    assert files(folder) == files(whole)


def test_finished_rounds_are_not_played_again(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (whole / LOG_FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / CONFIG_FILE).write_bytes((whole / CONFIG_FILE).read_bytes())
    (tmp_path / LOG_FILE).write_bytes(b"".join(lines[:5]) + lines[5][:40])
    played: list[Place] = []

    def counted(experiment: Experiment, place: Place, folder: Path) -> Round:
        played.append(place)
        return play_round(experiment, place, folder)

    monkeypatch.setattr(runs, "play_round", counted)
    progress: list[tuple[int, int]] = []
    run(small(), tmp_path, on_round=lambda *numbers: progress.append(numbers))
    assert played == list(small().places())[5:]
    assert progress == [(5, 8), (6, 8), (7, 8), (8, 8)]


def test_a_crash_keeps_the_finished_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(experiment: Experiment, place: Place, folder: Path) -> Round:
        if place.lineup == "a hawk":
            raise MemoryError
        return play_round(experiment, place, folder)

    monkeypatch.setattr(runs, "play_round", dies)
    with pytest.raises(MemoryError):
        run(small(), tmp_path)
    assert [played.place.lineup for played in read_rounds(tmp_path)] == ["ring"] * 4


KILLED = """
import sys
from pathlib import Path
from cohabit.lab.statecraft.config import parse_experiment
from cohabit.lab.statecraft.run import run
if __name__ == "__main__":
    run(parse_experiment(sys.argv[1]), Path(sys.argv[2]), 2, lambda done, planned: print(done, flush=True))
"""


def test_a_killed_run_ends_its_worker_processes_and_resumes_to_the_same_files(whole: Path, tmp_path: Path) -> None:
    script, folder = tmp_path / "killed.py", tmp_path / "out"
    script.write_text(KILLED)
    command = [sys.executable, str(script), json.dumps(SMALL), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(3)] == ["0\n", "1\n", "2\n"]
        process.kill()
        process.stdout.read()  # returns when the last worker process has ended
    assert len(read_rounds(folder)) >= 2
    run(small(), folder)
    assert files(folder) == files(whole)


def test_two_processes_write_the_same_files_as_one(whole: Path, tmp_path: Path) -> None:
    run(small(), tmp_path, workers=2)
    assert files(tmp_path) == files(whole)


def test_a_round_is_synced_to_disk_before_it_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    monkeypatch.setattr("os.fsync", lambda handle: events.append("synced"))
    run(small(seeds=[1]), tmp_path, on_round=lambda done, planned: events.append(f"reported {done}"))
    assert events[-8:] == [event for done in range(1, 5) for event in ("synced", f"reported {done}")]


def test_a_last_line_of_zero_bytes_is_dropped(whole: Path, tmp_path: Path) -> None:
    lines = (whole / LOG_FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / CONFIG_FILE).write_bytes(small().as_file())
    (tmp_path / LOG_FILE).write_bytes(lines[0] + b"\0" * 300 + b"\n")
    with open_folder(tmp_path, small()) as (_, rounds):
        assert len(rounds) == 1
    assert (tmp_path / LOG_FILE).read_bytes() == lines[0]


def test_a_broken_line_before_the_last_is_reported_and_not_repaired(whole: Path, tmp_path: Path) -> None:
    lines = (whole / LOG_FILE).read_bytes().splitlines(keepends=True)
    broken = lines[0] + b"{}\n" + lines[1]
    (tmp_path / CONFIG_FILE).write_bytes(small().as_file())
    (tmp_path / LOG_FILE).write_bytes(broken)
    with pytest.raises(RecordCorrupt, match="line 2"):
        read_rounds(tmp_path)
    with pytest.raises(RecordCorrupt, match="line 2"), open_folder(tmp_path, small()):
        pass
    assert (tmp_path / LOG_FILE).read_bytes() == broken


def test_a_duplicate_or_unplanned_round_is_reported(tmp_path: Path) -> None:
    line = msgspec.json.encode(eventful()) + b"\n"
    (tmp_path / CONFIG_FILE).write_bytes(small().as_file())
    (tmp_path / LOG_FILE).write_bytes(line)
    with pytest.raises(RecordCorrupt, match="not part of the experiment"), open_folder(tmp_path, small()):
        pass
    line = msgspec.json.encode(eventful(Place("ring", 1, 1))) + b"\n"
    (tmp_path / LOG_FILE).write_bytes(line * 2)
    with pytest.raises(RecordCorrupt, match=r"line 2.*duplicated"), open_folder(tmp_path, small()):
        pass


def test_a_folder_belongs_to_one_experiment_and_one_run_at_a_time(tmp_path: Path) -> None:
    experiment = small(seeds=[1], rounds=1)
    run(experiment, tmp_path)
    with pytest.raises(Conflict, match="another experiment"):
        run(small(turns=6), tmp_path)
    with open_folder(tmp_path, experiment), pytest.raises(Conflict, match="another run"):
        run(experiment, tmp_path)
    (tmp_path / CONFIG_FILE).unlink()
    with pytest.raises(Conflict, match=r"no experiment\.json"):
        run(experiment, tmp_path)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_player_edited_during_a_run_stops_it_and_no_round_of_the_new_version_is_kept(
    workers: int, tmp_path: Path
) -> None:
    mine, folder = tmp_path / "mine.py", tmp_path / "out"
    mine.write_text(QUIET)
    text = json.dumps({**SMALL, "lineups": {"x": ["mine.py:Quiet", "hawk"]}, "seeds": [1, 2, 3, 4]})
    experiment = parse_experiment(text, folder=str(tmp_path))

    def edit_after_a_round(finished: int, planned: int) -> None:
        if finished == 1:
            mine.write_text(QUIET + "# better now\n")

    with pytest.raises(Conflict, match=r"the code of player mine\.py:Quiet has changed during the run"):
        run(experiment, folder, workers, edit_after_a_round)
    assert len(read_rounds(folder)) == 1
    mine.write_text(QUIET)
    assert run(experiment, folder) == run(experiment, tmp_path / "whole")


def test_a_run_is_not_resumed_with_a_player_that_was_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, helper, folder = tmp_path / "mine.py", tmp_path / "helper_of_mine.py", tmp_path / "out"
    helper.write_text("AMOUNT = 1")
    mine.write_text("import helper_of_mine\n" + QUIET)
    monkeypatch.syspath_prepend(tmp_path)
    text = json.dumps({**SMALL, "lineups": {"x": ["mine.py:Quiet", "hawk"]}, "seeds": [1]})
    experiment = parse_experiment(text, folder=str(tmp_path))
    whole = run(experiment, folder)
    before = files(folder)
    helper.write_text("AMOUNT = 2")
    with pytest.raises(Conflict, match=r"the code of player mine\.py:Quiet has changed"):
        run(experiment, folder)
    assert files(folder) == before
    helper.write_text("AMOUNT = 1")
    assert run(experiment, folder) == whole


def test_a_run_is_not_resumed_with_another_version_of_the_world(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    prints = json.loads((tmp_path / FINGERPRINTS).read_text())
    assert list(prints) == ["cohabit", "world statecraft", *(f"player {name}" for name in PLAYERS)]
    prints["world statecraft"]["version"] += 1
    (tmp_path / FINGERPRINTS).write_text(json.dumps(prints))
    with pytest.raises(Conflict, match=r"world statecraft has changed \(version was 3, now 2\)"):
        run(small(), tmp_path)
    (tmp_path / FINGERPRINTS).unlink()  # a folder of an earlier build has none
    run(small(), tmp_path)
    assert files(tmp_path) == files(whole)


def test_the_record_of_every_round_is_kept_and_replays(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = sorted((whole / RECORDS).iterdir())
    assert len(records) == len(list(small().places()))
    welfare = {tuple(measures.totals(played, "welfare")) for played in read_rounds(whole)}
    for path in records:
        room = Room.replay(read_record(whole, path.stem), make_world)
        assert tuple(standing.score for standing in sorted(room.world.standings(), key=lambda s: s.name)) in welfare
        assert room.is_over()
    assert main(["replay", str(records[0])]) == 0
    assert "The game is over. Welfare: " in capsys.readouterr().out


@pytest.mark.usefixtures("without_plots")
def test_the_same_experiment_gives_identical_files(tmp_path: Path) -> None:
    experiment, found = small(seeds=[1], rounds=1), []
    for name in ("one", "two"):
        write_report(experiment, run(experiment, tmp_path / name), tmp_path / name)
        found.append(files(tmp_path / name))
    assert found[0] == found[1]


# -- the description --------------------------------------------------------------------------------
def test_a_written_description_is_read_back_unchanged_and_comments_are_ignored() -> None:
    experiment = small()
    assert parse_experiment(experiment.as_file()) == experiment
    assert small(_comment="hello") == experiment
    assert small(seeds=2) != experiment
    assert small(seeds=3).every_seed == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lineups": {"x": ["hauk", "hawk"]}}, r"^lineups\.x\[0\]: unknown player 'hauk'"),
        ({"lineups": {"x": ["hawk"]}}, r"^lineups\.x: number of nations"),
        ({"lineups": {}}, r"^lineups: there must be at least one"),
        ({"lineups": {"x\n": ["hawk", "hawk"]}}, r"^lineups: 'x\\n' must be"),
        ({"lineups": {"x": ["hawk", 3]}}, r"lineups"),
        ({"lineups": {"x": ["hawk", "gone.py:Mine"]}}, r"^lineups\.x\[1\]: there is no file gone.py"),
        ({"seeds": 0}, r"^seeds: must be from 1"),
        ({"seeds": []}, r"^seeds: there must be at least one"),
        ({"seeds": [1, 2, 1]}, r"^seeds\[2\]: duplicate seed 1"),
        ({"seeds": [-1]}, r"^seeds\[0\]: must be from 0"),
        ({"seeds": 1.5}, r"seeds"),
        ({"rounds": 0}, r"^rounds: must be from 1"),
        ({"turns": 0}, r"^turns: must be from 1"),
        ({"mils": -1}, r"^mils: must be from 0"),
        ({"name": " "}, r"^name: "),
        ({"turn": 3}, r"unknown key 'turn'; the keys are name, lineups, "),
        ({"folder": "/"}, r"unknown key 'folder'"),
        ({"map": "moon"}, r"map"),
        ({"size": 1}, r"^size: must be from 2"),
        ({"size": 2}, r"^lineups\.ring: 3 nations, but the map has only 2 territories"),
        ({"map": {"a": ["b"], "b": ["a"]}}, r"^lineups\.ring: 3 nations"),
        ({"map": {"a": ["b"], "b": [], "c": []}}, r"^map: "),
        ({"map": {"a": 3}}, r"map"),
        ({"lineups": {"x": ["hawk"] * 17}}, r"^lineups\.x: number of nations: must be from 2 to 16"),
        ({"constants": {"c_gold": 1}}, r"^constants: .*c_gold"),
        ({"constants": {"c_mil_purchase_price": 0}}, r"^constants: c_mil_purchase_price"),
        ({"constants": {"c_trade_factor": "much"}}, r"^constants: c_trade_factor"),
        ({"constants": {"c_trade_factor": "1e99999999"}}, r"^constants: c_trade_factor"),
        ({"observability": "none"}, r"observability"),
    ],
)
def test_a_mistake_in_a_description_is_reported_with_its_key(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgs, match=message):
        small(**change)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"name": NaN}', '{"name": "a", "name": "b"}', "[" * 100_000, b"\xff", '{"name": "\\ud800"}'],
)
def test_a_description_that_is_not_a_json_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadArgs, match="the experiment"):
        parse_experiment(text)


def test_the_documentation_lists_every_key_every_nation_and_every_table() -> None:
    page = (Path(__file__).parents[3] / "docs" / "statecraft-experiments.md").read_text(encoding="utf-8")
    for word in (*Experiment.__struct_fields__, *NATIONS, *TABLES):
        assert word == "folder" or f"`{word}`" in page, word
