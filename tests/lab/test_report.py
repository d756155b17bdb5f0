"""Reports of runs: one page with everything in it, failures at the top, and the same numbers in tables."""

import csv
import io
import json
import re
import shutil
from collections.abc import Sequence
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.agents.decision import Tally
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.faces.cli import main
from cohabit.lab import plots, tables
from cohabit.lab.analysis import _is_measure, analyse, between_conditions
from cohabit.lab.curves import Curves, curves
from cohabit.lab.design import parse_design
from cohabit.lab.estimates import share_interval
from cohabit.lab.folder import read_games, record_path
from cohabit.lab.game import GameResult, GameSpec
from cohabit.lab.ratings import PlayerRating
from cohabit.lab.report import page, problems_of, write_report
from cohabit.lab.results import HEADINGS, Results
from cohabit.lab.run import run
from cohabit.lab.scoring import scores
from cohabit.lab.summaries import summaries
from cohabit.lab.tables import COLUMNS, TABLES, csv_line, write_tables
from cohabit.world import Standing
from cohabit.worlds.crafter.rules import ACHIEVEMENTS

pytest.importorskip("matplotlib")

DESIGN: dict[str, Any] = {
    "name": "Heaps & <b>seats</b>",
    "worlds": {
        "nim": {"factors": {"stones": [9, 12]}, "lineups": [["nim-master", "random"]]},
        "statecraft": {"config": {"turns": 3}, "lineups": [["trader", "hawk"]], "seeds": 2},
    },
    "seeds": 3,
}
BAD = """
from cohabit.agents.brains.scripted import Scripted


class Bad(Scripted):
    def decide(self, observation):
        raise ValueError("no")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("run")
    run(parse_design(json.dumps(DESIGN)), made)
    write_report(Results.read(made), made)
    return made


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("failing")
    (made / "bad.py").write_text(BAD)
    design = {
        "name": "bad",
        "worlds": ["nim"],
        "players": {"bad": "bad.py:Bad"},
        "lineups": [["bad", "random"]],
        "seeds": 2,
    }
    run(parse_design(json.dumps(design), str(made)), made / "run")
    return made / "run"


class Reader(HTMLParser):
    """Every opened element must be closed; remembers what the page refers to."""

    EMPTY = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [v for k, v in found.items() if k in ("href", "src", "xlink:href") and v]
        self.ids += [found["id"]] if found.get("id") else []  # type: ignore[list-item]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_the_page_is_whole_and_loads_nothing(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    found = read(text)
    assert len(found.ids) == len(set(found.ids))
    assert "<script" not in text
    assert "@import" not in text
    for link in found.links:
        assert link.startswith("#") or (folder / link).is_file(), link
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


def test_the_page_links_the_record_of_every_game_and_replay_shows_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links = read((folder / "report.html").read_text()).links
    records = [link for link in links if link.startswith("records/")]
    assert records == [f"records/{game.spec.id}.jsonl" for game in read_games(folder)]
    for path, players in zip(
        records[:2], ("p1 = nim-master, p2 = random", "p1 = random, p2 = nim-master"), strict=True
    ):
        assert main(["replay", str(folder / path)]) == 0
        shown = capsys.readouterr().out
        assert "wins" in shown
        assert shown.startswith(f"Players: {players}\n")


def test_names_of_others_are_escaped(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    assert "<b>seats</b>" not in text
    assert "Heaps &amp; &lt;b&gt;seats&lt;/b&gt;" in text


def test_the_same_run_gives_the_same_page(folder: Path) -> None:
    assert page(Results.read(folder)) == (folder / "report.html").read_text()


def test_plots_take_the_colours_of_the_page(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    assert "prefers-color-scheme: dark" in text
    assert "currentColor" in text
    assert "#010203" not in text


@pytest.mark.parametrize(("seeds", "bars"), [(2, 0), (6, 1)])
def test_a_plot_has_an_error_bar_only_where_there_is_an_interval(seeds: int, bars: int) -> None:
    games = [game(["a"], [number % 3], number, seed=str(number)) for number in range(seeds)]
    (found,) = analyse(games)
    drawn = plots.score_plot("s", found.players, plots.colours_of(["a"]))
    assert drawn.count('id="s-LineCollection') == bars
    design = parse_design(json.dumps({"name": "x", "worlds": ["nim"], "lineups": [["a"]]}), load=False)
    (axes,) = Results(design, games).plot().axes
    lines = [path for each in axes.collections for path in each.get_paths() if not np.isnan(path.vertices).any()]
    assert len(lines) == bars


@pytest.mark.filterwarnings("error")
def test_a_long_name_leaves_space_for_the_plot_and_one_in_any_script_needs_no_font_here() -> None:
    names = [f"openai:{'accounts/' * 20}llama?temperature={n}" for n in (0, 1)]
    players = [*names, "日本語"]
    rated = [PlayerRating(name, 25.0, 8.0, 1) for name in players]
    drawn = plots.rating_plot("r", rated, plots.colours_of(players))
    assert f"{names[0][:20]}…{names[0][-20:]}<" in drawn
    assert "日本語" in drawn
    space = re.search(r'<clipPath.*?<rect x="[^"]*" y="[^"]*" width="([^"]*)"', drawn, re.DOTALL)
    assert space is not None
    assert float(space[1]) > 200


@pytest.mark.usefixtures("without_plots")
def test_a_run_without_failures_has_no_alarm_and_exit_code_0(folder: Path) -> None:
    assert 'class="alarm"' not in (folder / "report.html").read_text()
    assert main(["lab", "report", str(folder)]) == 0


@pytest.mark.usefixtures("without_plots")
def test_failures_past_the_threshold_are_in_red_at_the_top_and_the_exit_code_is_1(
    failing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "report", str(failing)]) == 1
    assert "FAILED: bad: 100.0% of its decisions failed" in capsys.readouterr().out
    text = (failing / "report.html").read_text()
    alarm = text.index('class="alarm"')
    assert alarm < text.index("<p>")
    assert "bad: 100.0% of its decisions failed" in text[alarm:]
    assert '<td class="bad">100.0%</td>' in text


@pytest.mark.usefixtures("without_plots")
def test_the_methods_say_that_what_is_played_for_a_failed_decision_is_in_the_score(failing: Path) -> None:
    text = " ".join(page(Results.read(failing)).split())
    assert "never counted as play" not in text
    assert "the world’s fallback is played, and its outcome is in the score and the result of the game" in text


def test_failures_below_the_threshold_are_still_shown(failing: Path) -> None:
    results = Results.read(failing)
    allowed = parse_design(json.dumps({**json.loads(results.design.as_file()), "max_failures": 1}), load=False)
    text = page(Results(allowed, results.games, folder=failing))
    assert 'class="alarm"' not in text
    assert "(100.0%)" in text


@pytest.mark.usefixtures("without_plots")
def test_an_unfinished_run_says_so(folder: Path) -> None:
    results = Results.read(folder)
    part = Results(results.design, results.games[:2], folder=folder, planned=results.planned)
    assert problems_of(part) == [f"the run is not finished: 2 of {results.planned} games are played"]
    assert "the run is not finished" in page(part)


def test_a_limit_on_the_games_that_leaves_orders_of_the_seats_out_is_said() -> None:
    design = {"name": "cut", "worlds": ["nim"], "lineups": [["random", "nim-master"]], "seeds": 3}
    whole = parse_design(json.dumps(design))
    cut = parse_design(json.dumps({**design, "games": 1}))
    words = "as the design limits the games"
    assert words not in page(Results(whole, [], planned=6))
    assert f"1 of 6 orders and seeds, {words}" in page(Results(cut, [], planned=1))


def test_identifiers_on_a_scoreboard_are_no_measures() -> None:
    assert [_is_measure(*item) for item in {"id": 3, "city_id": 1, "gold": 2.5, "name": "x"}.items()] == [
        False, False, True, False,
    ]  # fmt: skip


def test_the_measures_of_a_player_that_was_eliminated_count_with_0() -> None:
    standings = [Standing("s0", "s0", 8, data={"units": 8, "id": 1})]
    games = [game(["a", "b"], [8, 0], n, seed=str(n), standings=standings) for n in range(2)]
    both = [Standing(seat, seat, units, data={"units": units}) for seat, units in (("s0", 6), ("s1", 4))]
    games.append(game(["b", "a"], [6, 4], 2, seed="2", standings=both))
    (found,) = analyse(games)
    means = {
        player.player: [estimate.mean for name in ("units", "alive") if (estimate := player.measure(name)) is not None]
        for player in found.players
    }
    assert means == {"a": [Fraction(20, 3), 1], "b": [2, Fraction(1, 3)]}


def test_a_game_without_a_scoreboard_says_of_nobody_that_it_was_eliminated() -> None:
    (found,) = analyse([game(["a", "b"], [1, 0], 0, standings=[])])
    assert found.measure_names == ["rewards of its actions"]


def crafter_game(player: str, seed: int, reached: Sequence[str]) -> GameResult:
    spec = GameSpec(f"{player}{seed}", "crafter", [player], [player], str(seed), setting="crafter", lineup=player)
    data = {name: int(name in reached) for name in ACHIEVEMENTS}
    standing = Standing("player", "player", len(reached), data=data)
    return GameResult(spec, "over", 0, 0, ["player"], [1.0], {}, [standing], [Tally({"chosen": 1})], 0, "")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def crafter() -> Results:
    """All reach wood; a reaches a sapling in every second of six games; nobody reaches anything else."""
    games = [
        crafter_game(player, seed, ["collect_wood", "collect_sapling"] if player == "a" and seed % 2 else ["collect_wood"])
        for player in ("a", "b")
        for seed in range(6)
    ]  # fmt: skip
    design = {"name": "x", "worlds": ["crafter"], "lineups": [["a"], ["b"]], "seeds": 6}
    return Results(parse_design(json.dumps(design), load=False), games)


@pytest.mark.usefixtures("without_plots")
def test_what_everybody_reaches_is_in_the_page_if_the_world_s_figures_are_computed_from_it(crafter: Results) -> None:
    text = page(crafter)
    assert "<td>collect_wood</td><td>1.00 (all 6 seeds alike)</td><td>1.00 (all 6 seeds alike)</td>" in text
    assert all(f"<td>{name}</td>" in text for name in ACHIEVEMENTS)


def test_what_is_the_same_for_everybody_is_left_out_of_the_page_otherwise(folder: Path) -> None:
    assert "<td>alive</td>" not in (folder / "report.html").read_text()


def test_a_report_of_no_games_is_a_page(folder: Path) -> None:
    results = Results.read(folder)
    read(page(Results(results.design, [], folder=folder, planned=3)))


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownAsset, match="there is no run in"):
        Results.read(tmp_path)


# -- the numbers ------------------------------------------------------------------------------------
def test_conditions_are_apart_and_scores_are_means_over_seeds(folder: Path) -> None:
    games = read_games(folder)
    found = analyse(games)
    assert [each.condition.title for each in found] == ["nim · stones 9", "nim · stones 12", "statecraft"]
    for each in found:
        for player in each.players:
            values: dict[str, list[float]] = {}
            for game in each.games:
                values.setdefault(game.spec.seed, []).append(scores(game)[game.spec.named.index(player.player)])
            means = [Fraction(sum(v)) / len(v) for v in values.values()]
            assert player.score is not None
            assert player.score.mean == sum(means, Fraction(0)) / len(means)
            assert player.score.n == len(means)
            assert player.games == len(each.games)


def test_the_closing_table_has_a_row_for_each_condition_and_player_with_scores_over_seeds(folder: Path) -> None:
    results = Results.read(folder)
    expected = [
        [each.condition.title, player.player, player.score.over_seeds()]
        for each in analyse(results.games)
        for player in each.players
        if player.score is not None
    ]
    place = HEADINGS.index("score")
    assert [[*row[:2], row[place]] for row in results.rows()] == expected
    assert len(expected) == 6
    drawn = results.plot()
    assert [axes.get_title() for axes in drawn.axes] == ["nim · stones 9", "nim · stones 12", "statecraft"]


def game(
    names: list[str], points: list[float], number: int, seed: str = "1", ended: str = "over",
    standings: list[Standing] | None = None,
) -> GameResult:  # fmt: skip
    seats = [f"s{i}" for i in range(len(names))]
    spec = GameSpec(f"g{number}", "w", names, names, seed, setting="w", lineup=" vs ".join(sorted(names)))
    if standings is None:
        standings = [Standing(seat, seat, point) for seat, point in zip(seats, points, strict=True)]
    tallies = [Tally({"chosen": 1}) for _ in names]
    return GameResult(spec, ended, 0, 0, seats, [0.0] * len(names), {}, standings, tallies, 0, "")  # type: ignore[arg-type]


@pytest.mark.usefixtures("without_plots")
def test_a_game_of_a_player_against_itself_counts_in_no_comparison_but_has_a_score_of_its_own() -> None:
    games = [game(["a", "b"], [1, 0], 0), game(["a", "b"], [1, 0], 1), game(["a", "a"], [1, 0], 2)]
    (found,) = analyse(games)
    a, b = found.players
    assert (a.games, a.won, a.compared, a.win_share, a.against_itself) == (2, 2, 2, 1.0, 1)
    assert a.win_interval == share_interval(1, 1)  # of one seed
    assert a.score is not None
    assert a.score.mean == 1
    assert a.tally.decisions == 4  # decisions and their costs are of all games
    assert (b.games, b.win_share) == (2, 0.0)
    design = parse_design(json.dumps({"name": "x", "worlds": ["nim"], "lineups": [["a", "b"]]}), load=False)
    text = page(Results(design, games))
    assert "A row is over all line-ups of its player" in text
    assert "1 game of a player against itself are left out" not in text
    assert "1 game of a player against itself is left out of its row and of the figure" in text
    alone = found.lineups["a vs a"][0]
    assert alone.score is not None
    assert (alone.games, alone.compared, alone.win_share, alone.score.mean) == (1, 0, None, Fraction(1, 2))


def test_a_game_counts_once_for_a_player_with_several_seats() -> None:
    (found,) = analyse([game(["a", "a", "b"], [1, 0, 0], 0), game(["a", "a", "b"], [0, 0, 1], 1)])
    a, b = found.players
    assert (a.games, a.won, a.compared, a.points) == (2, 1, 2, 1)
    assert (b.games, b.won, b.compared, b.points) == (2, 1, 2, 1)


@pytest.mark.usefixtures("without_plots")
def test_the_methods_say_what_the_interval_of_a_share_of_wins_is_over() -> None:
    alike = [
        game(["a", "b"], [seed % 2, 1 - seed % 2], 4 * seed + n, seed=str(seed)) for seed in range(6) for n in range(4)
    ]
    a = analyse(alike)[0].players[0]
    assert a.win_interval == share_interval(0.5, 6)  # the 24 games are worth one for each seed
    text = " ".join(page(Results(parse_design(json.dumps(DESIGN), load=False), alike)).split())
    assert "Wilson’s interval, over fewer games than were played if those with the same seed end alike" in text


def test_a_team_that_wins_every_game_has_won_all_of_them() -> None:
    (found,) = analyse([game(["a", "b", "a", "b"], [5, 2, 5, 2], n, seed=str(n)) for n in range(4)])
    a, b = found.players
    assert (a.won, a.win_share, a.win_interval) == (4, 1.0, share_interval(1, 4))
    assert (b.won, b.win_share, b.win_interval) == (0, 0.0, share_interval(0, 4))


@pytest.mark.usefixtures("without_plots")
def test_the_results_of_teams_of_different_players_say_why_nobody_wins() -> None:
    design = parse_design(json.dumps(DESIGN), load=False)
    teams = [game(["a", "b", "c", "d"], [5, 2, 5, 2], 0), game(["d", "a", "b", "c"], [4, 4, 4, 4], 1)]
    drawn = [game(["a", "b"], [1, 1], 0)]
    won = [*teams, game(["a", "b", "a", "b"], [5, 2, 5, 2], 2)]
    for games, is_said in ((teams, True), (drawn, False), (won, False)):
        results = Results(design, games)
        assert any("nobody has won" in note for note in results.notes()) == is_said
        assert ("Nobody has won, because different players share the best score" in page(results)) == is_said


def test_a_player_that_has_all_of_the_best_seats_has_won_and_not_drawn_with_itself() -> None:
    games = [game(["a", "b", "a", "b"], [5, 2, 5, 2], 0), game(["b", "a", "b", "a"], [4, 4, 4, 4], 1)]
    (found,) = analyse(games)
    a, b = found.players
    assert (a.won, a.drawn, a.win_share) == (1, 1, 0.75)
    assert (b.won, b.drawn, b.win_share) == (0, 1, 0.25)
    rows = list(TABLES["seats-of-games"](Results(parse_design(json.dumps(DESIGN), load=False), games)))
    assert [row["won"] for row in rows] == [True, False, True, False, *[False] * 4]
    assert [row["drawn"] for row in rows] == [*[False] * 4, *[True] * 4]


def test_a_game_that_was_stopped_before_it_had_a_result_is_no_draw() -> None:
    games = [game(["a", "b"], [1, 0], 0), game(["b", "a"], [0, 0], 1, ended="limit")]
    (found,) = analyse(games)
    a, b = found.players
    assert (a.games, a.won, a.drawn, a.stopped, a.compared, a.win_share) == (2, 1, 0, 1, 1, 1.0)
    assert (b.won, b.drawn, b.win_share) == (0, 0, 0.0)
    assert found.compared == games[:1]
    assert a.score is not None
    assert a.score.mean == 1
    assert found.differences[0].difference.mean == 1


def test_where_a_world_keeps_score_on_the_way_the_scores_at_the_limit_count() -> None:
    games = [
        game(["a", "b"], [30, 20], 0, ended="limit"),
        game(["b", "a"], [20, 20], 1, ended="limit"),
    ]
    (found,) = analyse(games)
    a, _ = found.players
    assert (a.won, a.drawn, a.stopped, a.compared, a.points) == (1, 1, 2, 2, Fraction(3, 2))
    assert found.compared == games


def test_the_report_and_the_command_line_say_which_games_have_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert main(["match", "nim", "random", "nim-master", "--games", "4", "--max-decisions", "3", "--out", out]) == 0
    shown = capsys.readouterr().out
    assert "4 of 4 games stopped at a limit, before they were over; 4 of them have no result" in shown
    assert "<p>4 of 4 games stopped at a limit" in Results.read(out)._repr_html_()
    text = page(Results.read(out))
    assert "<b>4 games had no result then</b>" in text
    assert "50%" not in text


@pytest.mark.usefixtures("without_plots")
def test_failures_are_tested_in_each_condition_and_the_commonest_problem_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "half.py").write_text(
        "from cohabit.agents.brains.scripted import Random\n"
        "class Half(Random):\n"
        "    def decide(self, seen):\n"
        "        if 'The heap' in seen.text: raise ValueError('no\\x1b[31m <i>idea</i>')\n"
        "        return super().decide(seen)\n"
    )
    design = {
        "name": "half",
        "worlds": {"nim": {"seeds": 1}, "tictactoe": {"seeds": 60}},
        "players": {"half": "half.py:Half"},
        "lineups": [["half", "random"]],
    }
    (tmp_path / "design.json").write_text(json.dumps(design))
    out = tmp_path / "out"
    assert main(["lab", "run", str(tmp_path / "design.json"), "--out", str(out)]) == 1
    failed = "half in nim: 100.0% of its decisions failed"
    reason = "most often: ValueError: no [31m <i>idea</i> (half.py:4)"
    shown = capsys.readouterr().out
    assert failed in shown
    assert reason in shown
    results = Results.read(out)
    whole = sum(game.tallies[game.spec.named.index("half")].decisions for game in results.games)
    failures = sum(tally.failures for game in results.games for tally in game.tallies)
    assert failures / whole < results.design.max_failures  # pooled over worlds it would not have been noticed
    assert [(player.condition, player.player) for player in results.failing()] == [("nim", "half")]
    text = page(results)
    assert reason.replace("<", "&lt;").replace(">", "&gt;") in text
    assert "<td>ValueError: no [31m &lt;i&gt;idea&lt;/i&gt; (half.py:4)</td>" in text


def test_a_head_to_head_difference_is_that_of_the_scores(folder: Path) -> None:
    found = analyse(read_games(folder))
    assert all(each.differences for each in found)
    assert len(found) == 3
    for each in found:
        by_name = {player.player: player.score for player in each.players}
        for difference in each.differences:
            first, second = by_name[difference.first], by_name[difference.second]
            assert first is not None
            assert second is not None
            assert difference.difference.mean == first.mean - second.mean


def test_differences_between_conditions_are_of_the_same_world_and_player(folder: Path) -> None:
    found = between_conditions(analyse(read_games(folder)))
    assert [(d.condition, d.first, d.second, d.difference.n) for d in found] == [
        ("nim-master", "nim · stones 9", "nim · stones 12", 3),
        ("random", "nim · stones 9", "nim · stones 12", 3),
    ]


@pytest.mark.usefixtures("without_plots")
def test_the_table_of_seats_says_if_it_is_about_the_players_too() -> None:
    design = parse_design(json.dumps(DESIGN), load=False)
    once, swapped = game(["a", "b"], [1, 0], 0), game(["b", "a"], [1, 0], 1)
    warning, claim = "Players did not have\nevery seat equally often", "no matter which player has it"
    for games, is_swapped in (([once], False), ([once, swapped], True), ([once, swapped, once], False)):
        text = page(Results(design, games))
        assert (warning in text, claim in text) == (not is_swapped, is_swapped)


def test_with_two_seats_what_one_gains_the_other_loses(folder: Path) -> None:
    found = analyse(read_games(folder))
    assert len(found) == 3
    for each in found:
        first, second = each.seats
        assert first.advantage is not None
        assert second.advantage is not None
        assert first.advantage.mean == -second.advantage.mean
        assert first.won + second.won == len(each.games)


def test_curves_end_at_the_final_scores(folder: Path) -> None:
    games = [game for game in read_games(folder) if game.spec.setting == "statecraft"]
    found = {curve.player: curve for curve in curves(folder, games).of_players}
    assert found.keys() == {"trader", "hawk"}
    for player in analyse(games)[0].players:
        assert found[player.player].values[-1] == player.score
        assert len(found[player.player].moments) == len(found[player.player].values)


def test_a_world_whose_score_changes_only_at_the_end_has_no_curves(folder: Path) -> None:
    assert curves(folder, [game for game in read_games(folder) if game.spec.setting == "nim"]) == Curves()


@pytest.mark.usefixtures("without_plots")
def test_curves_are_of_whole_seeds_with_all_line_ups_and_the_report_says_of_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = {
        "name": "d", "worlds": {"statecraft": {"config": {"turns": 2}}}, "seeds": 3,
        "lineups": [["trader", "hawk"], ["tit-for-tat", "random"]],
    }  # fmt: skip
    results = run(parse_design(json.dumps(design)), tmp_path)
    names = {"trader", "hawk", "tit-for-tat", "random"}
    whole = curves(tmp_path, results.games)
    assert ({curve.player for curve in whole.of_players}, whole.part) == (names, "")
    for most, part in (
        (9, "8 of 12 games, all games of 2 of 3 seeds"),
        (2, "2 of 12 games, a part of the first seed"),
    ):
        monkeypatch.setattr("cohabit.lab.curves.MAX_GAMES", most)
        assert {curve.player for curve in curves(tmp_path, results.games).of_players} == names
        assert f"The curves are from {part}: more are not replayed." in page(results)


def _edit(path: Path, what: str) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    match what:
        case "missing":
            path.unlink()
        case "cut":
            path.write_bytes(b"".join(lines[:-1]))
        case "not JSON":
            path.write_bytes(b"".join([lines[0], b"{\n", *lines[2:]]))
        case "no digest":
            path.write_bytes(b"".join([lines[0].replace(b'"digest":"', b'"digest":"x'), *lines[1:]]))


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("missing", "its record is missing"),
        ("cut", "its record is not the one that the game ended with"),
        ("not JSON", "jsonl, line 2 cannot be read"),
        ("no digest", "the digest is not a hexadecimal number"),
    ],
)
def test_the_report_and_the_command_say_which_games_have_no_curve_and_why(
    folder: Path, tmp_path: Path, what: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = Path(shutil.copytree(folder, tmp_path / "damaged"))
    game = next(game.spec.id for game in read_games(folder) if game.spec.setting == "statecraft")
    _edit(record_path(damaged, game), what)
    assert main(["lab", "report", str(damaged)]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if "curve" in line]
    assert line.startswith(f"1 game without a curve: {game} (")
    assert why in line
    text = (damaged / "report.html").read_text()
    assert f"1 game without a curve: {game}" in text
    assert text.count("In the course of a game") == 1  # of the other games
    assert "without a curve" not in (folder / "report.html").read_text()


@pytest.mark.usefixtures("without_plots")
def test_only_the_first_of_many_games_without_a_curve_are_named(folder: Path, tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(folder, tmp_path / "damaged"))
    shutil.rmtree(damaged / "records")
    found = write_report(Results.read(damaged), damaged)
    count = len(read_games(folder))
    assert found.without_curve.startswith(f"{count} games without a curve: ")
    assert found.without_curve.endswith(f"; and {count - 3} more")
    assert found.without_curve.count("its record is missing") == 3


# -- the tables -------------------------------------------------------------------------------------
def test_the_tables_are_the_same_in_every_format(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, columns in COLUMNS.items():
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        with (folder / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        packed = parquet.read_table(folder / f"{name}.parquet").to_pylist()
        assert len(lines) == len(rows) == len(packed) > 0
        for line, row, other in zip(lines, rows, packed, strict=True):
            assert list(line) == list(row) == list(other) == list(columns)
            for column, kind in columns.items():
                plain = json.loads(other[column]) if kind == "json" else other[column]
                assert plain == line[column]
                assert row[column].lstrip("'") == ("" if line[column] is None else
                    json.dumps(line[column], separators=(",", ":")) if kind == "json" else str(line[column]))  # fmt: skip


def test_the_table_of_games_has_every_seat_of_every_game(folder: Path) -> None:
    with (folder / "seats-of-games.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["game"], row["player"], float(row["score"])) for row in rows] == [
        (game.spec.id, name, score)
        for game in read_games(folder)
        for name, score in zip(game.spec.named, scores(game), strict=True)
    ]
    assert all((folder / row["record"]).is_file() for row in rows)


def test_the_table_of_measures_has_every_measure_of_every_player_with_its_interval(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "measures.jsonl").read_text().splitlines()]
    found = {(row["setting"], json.dumps(row["factors"]), row["player"], row["measure"]): row for row in rows}
    assert len(found) == len(rows)
    expected = {
        (each.condition.setting, json.dumps(each.condition.factors), player.player, name): player.measure(name)
        for each in analyse(read_games(folder))
        for player in each.players
        for name in each.measure_names
    }
    assert {key: (row["mean"], row["seeds"]) for key, row in found.items()} == {
        key: (float(value.mean), value.n) for key, value in expected.items() if value is not None
    }
    assert all(row["low_95"] is row["high_95"] is row["half_width_95"] is None for row in rows)  # too few seeds


def test_a_player_without_a_rated_game_is_not_in_the_table_of_ratings(tmp_path: Path) -> None:
    """A game in which a player has several seats is not rated."""
    pytest.importorskip("openskill")
    design = {"name": "d", "worlds": {"statecraft": {"config": {"turns": 1}}}, "seeds": 2}
    for lineup, rows in ((["hawk", "trader"], ["hawk", "trader"]), (["hawk", "trader", "trader"], [])):
        write_tables(run(parse_design(json.dumps({**design, "lineups": [lineup]}))), tmp_path)
        with (tmp_path / "ratings.csv").open() as file:
            assert sorted(row["player"] for row in csv.DictReader(file)) == rows


@pytest.mark.usefixtures("without_plots")
def test_ratings_of_players_that_never_met_and_have_no_common_opponent_are_in_tables_apart() -> None:
    pytest.importorskip("openskill")
    games = [game(["a", "b"], [1, 0], 0), game(["c", "d"], [1, 0], 1)]
    text = "No game connects these groups of players"
    design = {"name": "x", "worlds": ["w"], "lineups": [["a", "b"], ["c", "d"], ["a", "c"]], "seeds": 1}

    def ratings(games: list[GameResult]) -> str:
        whole = page(Results(parse_design(json.dumps(design), load=False), games))
        return whole[whole.index('id="ratings"') : whole.index('id="games"')]

    apart, together = ratings(games), ratings([*games, game(["a", "c"], [1, 0], 2)])
    assert (apart.count("cautious rating</th>"), apart.count(text)) == (2, 1)
    assert (together.count("cautious rating</th>"), together.count(text)) == (1, 0)


def test_the_table_of_measures_has_the_world_s_figures_with_their_intervals(crafter: Results, tmp_path: Path) -> None:
    write_tables(crafter, tmp_path)
    with (tmp_path / "measures.csv").open() as file:
        rows = {(row["player"], row["measure"]): row for row in csv.DictReader(file)}
    for player in analyse(crafter.games)[0].players:
        score, figure = rows[player.player, "Crafter score"], summaries("crafter", player.measures)["Crafter score"]
        assert figure.interval is not None
        assert (float(score["mean"]), score["half_width_95"], score["seeds"]) == (figure.value, "", "6")
        assert (float(score["low_95"]), float(score["high_95"])) == figure.interval
    sapling, wood = rows["a", "collect_sapling"], rows["a", "collect_wood"]
    half = float(sapling["half_width_95"])
    assert (float(sapling["mean"]), float(sapling["low_95"]), float(sapling["high_95"])) == (
        0.5,
        0.5 - half,
        0.5 + half,
    )
    assert (wood["mean"], wood["low_95"], wood["seeds"]) == ("1.0", "", "6")


@settings(max_examples=examples(50))
@given(st.text())
def test_a_spreadsheet_reads_no_text_as_a_formula(name: str) -> None:
    ((cell,),) = csv.reader(io.StringIO(csv_line([name]).decode(), newline=""))
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert cell in (name, f"'{name}")


def test_without_pyarrow_the_other_tables_are_written_and_parquet_names_the_extra(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setattr(tables, "can_write_parquet", lambda: False)
    written = write_tables(Results.read(folder), tmp_path)
    assert {path.suffix for path in written} == {".csv", ".jsonl"}
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadArgs, match=re.escape("pip install 'cohabit[lab]'")):
        tables.write_table(tmp_path / "x.parquet", "parquet", {"a": "text"}, [])
    assert not (tmp_path / "x.parquet").exists()
