"""Experiments are played to the end, whatever happens in the middle, and come out the same."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Conflict, RecordCorrupt
from cohabit.lab import log, measures
from cohabit.lab import run as runs
from cohabit.lab.config import Experiment, parse_experiment
from cohabit.lab.play import Table, beginning, cast, play_round
from cohabit.lab.players import make_player
from cohabit.lab.record import Place, Round
from cohabit.lab.report import write_report
from cohabit.lab.run import run
from cohabit.lab.tables import TABLES
from cohabit.model.seat import Eye, Seat
from cohabit.worlds.statecraft.nations import NATIONS, TRAITS
from cohabit.worlds.statecraft.world import Statecraft

from .rounds import eventful

SMALL: dict[str, Any] = {
    "name": "small",
    "lineups": {"ring": ["ring_builder"] * 3, "a hawk": ["hawk", "trader", "free_rider"]},
    "seeds": [1, 7],
    "rounds": 2,
    "turns": 5,
    "size": 9,
}


def small(**changes: Any) -> Experiment:
    return parse_experiment(json.dumps({**SMALL, **changes}))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


STUCK = """
import threading

class Stuck:
    def act(self, agent_input):
        threading.Event().wait()

class Failing:
    def act(self, agent_input):
        raise SystemExit("enough")
"""


# -- playing ----------------------------------------------------------------------------------------
def test_a_full_ring_reaches_the_optimum_and_a_round_of_passives_keeps_its_income() -> None:
    experiment = small(lineups={"ring": ["ring_builder"] * 3, "still": ["passive"] * 3})
    assert measures.cooperation_of(play_round(experiment, Place("ring", 1, 1))) == 1
    assert measures.cooperation_of(play_round(experiment, Place("still", 1, 1))) == 0


@pytest.mark.parametrize("player", ["Stuck", "Failing"])
def test_a_player_that_never_answers_counts_as_one_that_does_nothing(tmp_path: Path, player: str) -> None:
    (tmp_path / "mine.py").write_text(STUCK)
    others = ["trader", "hawk"]
    quick = {"act_ms": 10, "shuffle": False}
    still = small(lineups={"x": ["passive", *others]}, **quick)
    stuck = msgspec.structs.replace(still, lineups={"x": [f"mine.py:{player}", *others]}, folder=str(tmp_path))
    one, other = play_round(stuck, Place("x", 1, 1)), play_round(still, Place("x", 1, 1))
    assert [turn.welfare for turn in one.turns] == [turn.welfare for turn in other.turns]
    assert all(turn.dropped[0] for turn in one.turns)


@pytest.mark.parametrize("lineup", ["ring", "a hawk"])
def test_no_money_is_lost_from_the_books(lineup: str) -> None:
    played = play_round(small(turns=12), Place(lineup, 3, 1))
    for turn in played.turns:
        for i in range(3):
            kept = turn.gross[i] - turn.burnt[i] - turn.arms[i] - turn.granted[i]
            assert kept >= 0
            assert turn.welfare[i] == kept + 2 * turn.received[i]


def test_the_same_place_is_the_same_round_and_other_seeds_deal_other_land() -> None:
    experiment = small()
    assert play_round(experiment, Place("a hawk", 1, 1)) == play_round(experiment, Place("a hawk", 1, 1))
    lands = [beginning(experiment, Place("a hawk", seed, number)).territories for seed in (1, 7) for number in (1, 2)]
    assert all(lands.count(land) == 1 for land in lands)


def test_line_ups_of_the_same_seed_are_played_on_the_same_land_by_the_same_draw() -> None:
    experiment = small()
    ring, hawk = Place("ring", 7, 2), Place("a hawk", 7, 2)
    assert beginning(experiment, ring) == beginning(experiment, hawk)
    drawn = [tuple(cast(experiment, Place("a hawk", 1, number)).values()) for number in range(1, 13)]
    assert len(set(drawn)) > 1
    assert list(cast(small(shuffle=False), hawk).values()) == SMALL["lineups"]["a hawk"]


def test_a_player_that_fails_hands_in_nothing_and_the_round_goes_on(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Broken:\n    def act(self, seen):\n        raise RuntimeError\n"
        "class Quiet:\n    def act(self, seen):\n        return {}\n"
    )
    lineups = {"broken": ["mine.py:Broken", "trader"], "quiet": ["mine.py:Quiet", "trader"]}
    text = json.dumps({**SMALL, "lineups": lineups})
    broken, quiet = (play_round(parse_experiment(text, folder=str(tmp_path)), Place(title, 1, 1)) for title in lineups)
    assert [turn.welfare for turn in broken.turns] == [turn.welfare for turn in quiet.turns]
    seat = list(broken.plays.values()).index("mine.py:Broken")
    assert measures.totals(broken, "dropped")[seat] >= 5


def test_a_player_of_ones_own_may_take_a_trait_and_is_told_what_it_is_like(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Model:\n    def __init__(self, trait):\n        self.trait = trait\n"
        "    def act(self, seen):\n        return {'messages': {'all': self.trait}}\n"
    )
    player = make_player("mine.py:Model/sneaky", str(tmp_path))
    assert player.act({}) == {"messages": {"all": TRAITS["sneaky"]}}


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("mine.py:Gone", r"x\[0\]: mine\.py has no class 'Gone'"),
        ("mine.py:Idle", r"x\[0\]: mine\.py:Idle has no method act"),
        ("mine.py:Model", r"x\[0\]: mine\.py:Model cannot be made: TypeError"),
        ("mine.py:Model/sneeky", r"x\[0\]: there is no trait 'sneeky'"),
        ("broken.py:Model", r"x\[0\]: broken\.py:Model cannot be made: SyntaxError"),
        ("hawk/sneaky", r"x\[0\]: there is no nation 'hawk/sneaky'"),
    ],
)
def test_a_player_that_cannot_be_made_is_told_with_its_place(tmp_path: Path, player: str, message: str) -> None:
    (tmp_path / "broken.py").write_text("class")
    (tmp_path / "mine.py").write_text(
        "class Idle: pass\nclass Model:\n    def __init__(self, trait): pass\n    def act(self, seen): return {}\n"
    )
    with pytest.raises(BadArgs, match=message):
        parse_experiment(json.dumps({**SMALL, "lineups": {"x": [player, "hawk"]}}), folder=str(tmp_path))


@pytest.mark.parametrize("observability", ["full", "own_army", "fog"])
def test_nations_see_what_the_world_would_show_them_and_come_to_the_same_welfare(observability: str) -> None:
    config = {
        "turns": 8,
        "map": "generated",
        "size": 12,
        "observability": observability,
        "mils": 2,
        "publish_ratings": True,
    }
    lineups = {"all sorts": ["hawk", "grudger", "tit_for_tat", "opportunist"]}
    experiment, place = small(lineups=lineups, **config), Place("all sorts", 5, 1)
    found, table = play_round(experiment, place), Table(experiment, experiment.rules, beginning(experiment, place))
    world = Statecraft(**config)
    seats = [Seat(nation, nation) for nation in found.plays]
    world.reset(0, seats)
    world.standing = table.standing
    for turn in found.turns:
        answers = {}
        for seat in seats:
            seen = table.seen(seat.id)
            shown = {
                key: value for key, value in world.observe(Eye(seat.id, "own")).status.items() if key != "messages"
            }
            assert shown == {key: seen[key] for key in shown}
            answers[seat.id] = NATIONS[found.plays[seat.id]]().act(seen)
            world.submit(seat, answer=answers[seat.id])
        world.resolve()
        assert world.standing == table.turn(answers).end
        assert [table.last.ledgers.d_total_welfare_this_turn[seat.id] for seat in seats] == turn.welfare
    assert world.is_over()


# -- resuming ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The experiment, played without a break."""
    folder = tmp_path_factory.mktemp("whole")
    run(small(), folder)
    return folder


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_run_that_was_cut_off_anywhere_goes_on_to_the_same_file(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = (whole / log.NAME).read_bytes()
    kept = data.draw(st.integers(0, len(text)))
    folder = tmp_path_factory.mktemp("cut")
    (folder / runs.CONFIG).write_bytes((whole / runs.CONFIG).read_bytes())
    (folder / log.NAME).write_bytes(text[:kept])
    run(small(), folder)
    assert files(folder) == files(whole)


def test_what_is_there_is_not_played_again(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (whole / log.NAME).read_bytes().splitlines(keepends=True)
    (tmp_path / runs.CONFIG).write_bytes((whole / runs.CONFIG).read_bytes())
    (tmp_path / log.NAME).write_bytes(b"".join(lines[:5]) + lines[5][:40])
    asked: list[Place] = []

    def counted(experiment: Experiment, place: Place) -> Round:
        asked.append(place)
        return play_round(experiment, place)

    monkeypatch.setattr(runs, "play_round", counted)
    told: list[tuple[int, int]] = []
    run(small(), tmp_path, on_round=lambda *numbers: told.append(numbers))
    assert asked == list(small().places())[5:]
    assert told == [(5, 8), (6, 8), (7, 8), (8, 8)]


def test_a_crash_in_the_middle_leaves_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(experiment: Experiment, place: Place) -> Round:
        if place.lineup == "a hawk":
            raise MemoryError
        return play_round(experiment, place)

    monkeypatch.setattr(runs, "play_round", dies)
    with pytest.raises(MemoryError):
        run(small(), tmp_path)
    assert [played.place.lineup for played in log.read_rounds(tmp_path)] == ["ring"] * 4


KILLED = """
import sys
from pathlib import Path
from cohabit.lab.config import parse_experiment
from cohabit.lab.run import run
if __name__ == "__main__":
    run(parse_experiment(sys.argv[1]), Path(sys.argv[2]), 2, lambda done, planned: print(done, flush=True))
"""


def test_a_run_that_is_killed_takes_its_processes_with_it_and_goes_on_to_the_same_files(
    whole: Path, tmp_path: Path
) -> None:
    script, folder = tmp_path / "killed.py", tmp_path / "out"
    script.write_text(KILLED)
    words = [sys.executable, str(script), json.dumps(SMALL), str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as going:
        assert going.stdout is not None
        assert [going.stdout.readline() for _ in range(3)] == ["0\n", "1\n", "2\n"]
        going.kill()
        going.stdout.read()  # ends when the last process that could write there has ended
    assert len(log.read_rounds(folder)) >= 2
    run(small(), folder)
    assert files(folder) == files(whole)


def test_two_processes_write_the_same_files_as_one(whole: Path, tmp_path: Path) -> None:
    run(small(), tmp_path, workers=2)
    assert files(tmp_path) == files(whole)


def test_a_round_is_synced_before_anybody_is_told_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    monkeypatch.setattr("os.fsync", lambda handle: happened.append("synced"))
    run(small(seeds=[1]), tmp_path, on_round=lambda done, planned: happened.append(f"told {done}"))
    assert happened[-8:] == ["synced", "told 1", "synced", "told 2", "synced", "told 3", "synced", "told 4"]


def test_a_last_line_of_zeros_after_a_power_cut_is_dropped_too(whole: Path, tmp_path: Path) -> None:
    lines = (whole / log.NAME).read_bytes().splitlines(keepends=True)
    (tmp_path / log.NAME).write_bytes(lines[0] + b"\0" * 300 + b"\n")
    with log.opened(tmp_path, list(small().places())) as kept:
        assert len(kept.rounds) == 1
    assert (tmp_path / log.NAME).read_bytes() == lines[0]


def test_a_broken_line_before_the_last_is_not_ours_to_repair(whole: Path, tmp_path: Path) -> None:
    lines = (whole / log.NAME).read_bytes().splitlines(keepends=True)
    broken = lines[0] + b"{}\n" + lines[1]
    (tmp_path / log.NAME).write_bytes(broken)
    with pytest.raises(RecordCorrupt, match="line 2"):
        log.read_rounds(tmp_path)
    with pytest.raises(RecordCorrupt, match="line 2"), log.opened(tmp_path, list(small().places())):
        pass
    assert (tmp_path / log.NAME).read_bytes() == broken


def test_a_round_that_is_there_twice_or_was_never_asked_for_is_found(tmp_path: Path) -> None:
    line = msgspec.json.encode(eventful()) + b"\n"
    (tmp_path / log.NAME).write_bytes(line)
    with pytest.raises(RecordCorrupt, match="never asked for"), log.opened(tmp_path, []):
        pass
    (tmp_path / log.NAME).write_bytes(line * 2)
    with pytest.raises(RecordCorrupt, match=r"line 2.*twice"), log.opened(tmp_path, [eventful().place]):
        pass


def test_a_folder_belongs_to_one_experiment_and_to_one_run_at_a_time(tmp_path: Path) -> None:
    experiment = small(seeds=[1], rounds=1)
    run(experiment, tmp_path)
    with pytest.raises(Conflict, match="another experiment"):
        run(small(turns=6), tmp_path)
    with log.opened(tmp_path, list(experiment.places())), pytest.raises(Conflict, match="another run"):
        run(experiment, tmp_path)
    (tmp_path / runs.CONFIG).unlink()
    with pytest.raises(Conflict, match=r"no experiment\.json"):
        run(experiment, tmp_path)


def test_the_same_experiment_gives_the_same_files_down_to_the_last_byte(tmp_path: Path) -> None:
    experiment, found = small(seeds=[1], rounds=1), []
    for name in ("one", "two"):
        write_report(experiment, run(experiment, tmp_path / name), tmp_path / name)
        found.append(files(tmp_path / name))
    assert found[0] == found[1]


# -- the description --------------------------------------------------------------------------------
def test_a_description_that_is_read_back_is_the_same_and_comments_do_not_count() -> None:
    experiment = small()
    assert parse_experiment(experiment.as_file()) == experiment
    assert small(_comment="hello") == experiment
    assert small(seeds=2) != experiment
    assert small(seeds=3).every_seed == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lineups": {"x": ["hauk", "hawk"]}}, r"^lineups\.x\[0\]: there is no nation 'hauk'"),
        ({"lineups": {"x": ["hawk"]}}, r"^lineups\.x: how many nations"),
        ({"lineups": {}}, r"^lineups: at least one"),
        ({"lineups": {"x\n": ["hawk", "hawk"]}}, r"^lineups: 'x\\n' is no title"),
        ({"lineups": {"x": ["hawk", 3]}}, r"lineups"),
        ({"lineups": {"x": ["hawk", "gone.py:Mine"]}}, r"^lineups\.x\[1\]: there is no file gone.py"),
        ({"seeds": 0}, r"^seeds: must be from 1"),
        ({"seeds": []}, r"^seeds: at least one"),
        ({"seeds": [1, 2, 1]}, r"^seeds\[2\]: 1 stands there twice"),
        ({"seeds": [-1]}, r"^seeds\[0\]: must be from 0"),
        ({"seeds": 1.5}, r"seeds"),
        ({"rounds": 0}, r"^rounds: must be from 1"),
        ({"turns": 0}, r"^turns: must be from 1"),
        ({"mils": -1}, r"^mils: must be from 0"),
        ({"name": " "}, r"^name: "),
        ({"turn": 3}, r"unknown field `turn`"),
        ({"folder": "/"}, r"no key `folder`"),
        ({"map": "moon"}, r"map"),
        ({"size": 1}, r"^size: must be from 2"),
        ({"size": 2}, r"^lineups\.ring: 3 nations, and the map has only 2 territories"),
        ({"map": {"a": ["b"], "b": ["a"]}}, r"^lineups\.ring: 3 nations"),
        ({"map": {"a": ["b"], "b": [], "c": []}}, r"^map: "),
        ({"map": {"a": 3}}, r"map"),
        ({"lineups": {"x": ["hawk"] * 17}}, r"^lineups\.x: how many nations: must be from 2 to 16"),
        ({"constants": {"c_gold": 1}}, r"^constants: .*c_gold"),
        ({"constants": {"c_mil_purchase_price": 0}}, r"^constants: c_mil_purchase_price"),
        ({"constants": {"c_trade_factor": "much"}}, r"^constants: c_trade_factor"),
        ({"constants": {"c_trade_factor": "1e99999999"}}, r"^constants: c_trade_factor"),
        ({"observability": "none"}, r"observability"),
    ],
)
def test_a_mistake_in_a_description_is_told_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgs, match=message):
        small(**change)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"name": NaN}', '{"name": "a", "name": "b"}', "[" * 100_000, b"\xff", '{"name": "\\ud800"}'],
)
def test_what_is_no_json_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadArgs, match="the experiment"):
        parse_experiment(text)


def test_the_page_about_experiments_has_every_key_every_nation_and_every_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "statecraft-experiments.md").read_text(encoding="utf-8")
    for word in (*Experiment.__struct_fields__, *NATIONS, *TABLES):
        assert word == "folder" or f"`{word}`" in page, word
