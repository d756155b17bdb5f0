"""The report of a run: one HTML page without external files, readable on a phone, in light and dark.

It has no dates. Only the seconds per decision differ between two runs of the same design with the same answers.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby, islice, takewhile
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec import Struct

from cohabit.agents.decision import FAILURES, OUTCOMES, Tally
from cohabit.errors import CohabitError
from cohabit.lab import failures, plots
from cohabit.lab.analysis import IN_TEAMS, ConditionResults, PlayerInCondition, analyse, between_conditions, level_text
from cohabit.lab.curves import Curves, curves
from cohabit.lab.design import MAX_GAMES, Design, WorldPlan
from cohabit.lab.estimates import Estimate
from cohabit.lab.files import write_atomically
from cohabit.lab.folder import DecisionLine
from cohabit.lab.game import GameResult
from cohabit.lab.page import Cell, alarm, details, figure, html_page, note, table
from cohabit.lab.ratings import PlayerRating, can_rate, rate
from cohabit.lab.results import Results, dollars_text, seconds_text
from cohabit.lab.scoring import add_tally, is_won, scores, winners
from cohabit.lab.summaries import summaries, with_summary
from cohabit.lab.tables import FORMATS, TABLES, can_write_parquet, write_tables
from cohabit.model.observation import one_line
from cohabit.model.table_files import read_table

REPORT_FILE = "report.html"
TEXTS = read_table(__file__, dict[str, str])
MAX_LEFT_OUT = 3
"""The number of games without a curve that are named."""
MAX_LISTED = 500
"""The number of games that the page lists; the tables have all of them."""
REPLAYS = "replays"
MAX_REPLAYS, MAX_REPLAYED, REPLAY_FRAMES = 40, 20_000, 500
"""The number of games written as replays, of the entries of these together, and of the frames of each replay."""


class Report(Struct, frozen=True):
    """A report that was written. ``without_curve``: which games have no curve and why, on one line; empty: none."""

    path: Path
    without_curve: str


def write_report(results: Results, folder: Path, *, tables: bool = True) -> Report:
    """Write the page, and the tables beside it."""
    if tables:
        write_tables(results, folder)
    path = folder / REPORT_FILE
    conditions = analyse(results.games, results.timings())
    over_time = _over_time(results, conditions)
    write_replays(results, folder)
    write_atomically(path, _page(results, conditions, over_time, tables, folder).encode())
    return Report(path, _left_out({game: why for each in over_time for game, why in each.left_out.items()}))


def write_replays(results: Results, folder: Path) -> None:
    """Write the first games as HTML files beside the page, as far as their records are kept and can be replayed."""
    if results.folder is None:
        return
    (folder / REPLAYS).mkdir(exist_ok=True)
    games = list(takewhile(_Budget(MAX_REPLAYED).takes, results.games[:MAX_REPLAYS]))
    decisions: dict[str, list[DecisionLine]] = {game.spec.id: [] for game in games}
    for line in results.decisions():
        if line.game in decisions:
            decisions[line.game].append(line)
    for name, made in decisions.items():
        path = folder / REPLAYS / f"{name}.html"
        try:
            write_atomically(path, results.replay(name, frames=REPLAY_FRAMES, decisions=made).html().encode())
        except (CohabitError, OSError):  # the world has changed since, or the file: the report is about the results
            path.unlink(missing_ok=True)


class _Budget:
    """Takes games until they have this many entries together."""

    def __init__(self, entries: int) -> None:
        self._left = entries

    def takes(self, game: GameResult) -> bool:
        self._left -= game.entries
        return self._left >= 0


def _replay_path(game: GameResult) -> str:
    return f"{REPLAYS}/{game.spec.id}.html"


def problems_of(results: Results) -> list[str]:
    """The reasons to doubt the results: failures, and games that are missing."""
    found = results.problems()
    missing = results.planned - len(results.games)
    if missing and not results.stopped:
        found.insert(0, f"the run is not finished: {len(results.games):,} of {results.planned:,} games are played")
    return found


def page(results: Results) -> str:
    """The HTML page."""
    conditions = analyse(results.games, results.timings())
    return _page(results, conditions, _over_time(results, conditions), tables=True, folder=results.folder)


def _over_time(results: Results, conditions: Sequence[ConditionResults]) -> list[Curves]:
    """The curves of each condition. There are none without records, matplotlib or the code of its world."""
    if results.folder is None or not plots.can_draw():
        return [Curves() for _ in conditions]
    unknown, folder = results.worlds_not_loaded(), results.folder
    return [
        Curves() if found.games[0].spec.world in unknown else curves(folder, found.games, results.worlds)
        for found in conditions
    ]


def _left_out(games: Mapping[str, str]) -> str:
    """The games without a curve and the reasons, on one line."""
    if not games:
        return ""
    named = "; ".join(f"{game} ({one_line(why)})" for game, why in islice(games.items(), MAX_LEFT_OUT))
    more = f"; and {len(games) - MAX_LEFT_OUT:,} more" if len(games) > MAX_LEFT_OUT else ""
    return f"{_plural(len(games), 'game')} without a curve: {named}{more}"


def _page(
    results: Results,
    conditions: Sequence[ConditionResults],
    over_time: Sequence[Curves],
    tables: bool,
    folder: Path | None,
) -> str:
    """``folder``: of the page; what is beside it is linked."""
    colours = plots.colours_of(results.design.every_player())
    problems = results.commonest_problems()
    parts = [_top(results, conditions), _overview(results, conditions)]
    parts += [
        _condition(results, found, its_curves, number, colours, problems)
        for number, (found, its_curves) in enumerate(zip(conditions, over_time, strict=True))
    ]
    parts += [
        _ratings(conditions, colours),
        _factors(conditions),
        _games(results, folder),
        _methods(results.design, tables),
    ]
    return html_page(results.design.name, parts)


# -- pieces -----------------------------------------------------------------------------------------
def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.3g}"


def _estimate(found: Estimate | None) -> str:
    if found is None:
        return "–"
    mean = abs(float(found.mean))
    return found.over_seeds(0 if mean >= 1000 else 1 if mean >= 100 else 2)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# -- the top ----------------------------------------------------------------------------------------
def _top(results: Results, conditions: Sequence[ConditionResults]) -> str:
    links = "".join(f'<a href="#c{i}">{escape(c.condition.title)}</a>' for i, c in enumerate(conditions))
    more = '<a href="#ratings">Ratings</a><a href="#games">Games</a><a href="#methods">Methods</a>'
    return (
        f"<h1>{escape(results.design.name)}</h1>\n{alarm(problems_of(results))}"
        f"<p>{_design_in_words(results)}</p>\n<nav>{links}{more}</nav>\n"
    )


def _design_in_words(results: Results) -> str:
    design, words = results.design, []
    for title, plan in design.world_plans().items():
        specs = list(design._specs(title, plan))
        seeds, lineups = {spec.seed for spec in specs}, {spec.lineup for spec in specs}
        levels = {level_text(spec.factors) for spec in specs}
        words.append(
            f"<b>{escape(title)}</b>: {_plural(len(specs), 'game')} "
            f"({_plural(len(lineups), 'line-up')}, {_plural(len(seeds), 'seed')}"
            + (f", {_plural(len(levels), 'condition')}" if len(levels) > 1 else "")
            + f", {_swap_in_words(plan.swap or design.swap)}{_cut_in_words(design, title, plan, len(specs))})"
        )
    return f"{_plural(len(results.games), 'game')} of {results.planned:,} planned. " + "; ".join(words) + "."


def _cut_in_words(design: Design, title: str, plan: WorldPlan, planned: int) -> str:
    """A limit on the games leaves some orders of the seats out."""
    whole = len(list(design._specs(title, msgspec.structs.replace(plan, games=MAX_GAMES))))
    return (
        f"; <b>{planned:,} of {whole:,} orders and seeds, as the design limits the games</b>" if planned < whole else ""
    )


def _swap_in_words(swap: str) -> str:
    return {
        "rotate": "players rotated over the seats within each seed",
        "permute": "every order of the players on the seats within each seed",
        "none": "<b>seats not swapped</b>",
    }[swap]


COSTS = ("tokens in + out", "cost")


def _has_costs(tally: Tally) -> bool:
    return bool(tally.prompt_tokens or tally.dollars or tally.charged)


def _costs(tally: Tally) -> list[Cell]:
    if not _has_costs(tally):
        return ["–", "–"]
    unpriced = f" + {_plural(tally.unpriced, 'answer')} of unknown price" if tally.unpriced else ""
    return [f"{tally.prompt_tokens:,} + {tally.completion_tokens:,}", f"{dollars_text(tally, 4)}{unpriced}"]


def _overview(results: Results, conditions: Sequence[ConditionResults]) -> str:
    limit = results.design.max_failures
    head = ["player", "brain", "games", "decisions", "failed", "per decision"]
    found = _totals(results.games, conditions)
    failing = {player.player for each in conditions for player in each.players if player.failure_rate > limit}
    costs = any(_has_costs(tally) for _, tally in found.values())
    rows: list[list[Cell]] = []
    for player, (games, tally) in found.items():
        failed = f"{tally.failures:,} ({tally.failures / tally.decisions:.1%})" if tally.failures else "0"
        row: list[Cell] = [
            player, results.design.players.get(player, player), f"{games:,}", f"{tally.decisions:,}",
            (failed, "bad") if player in failing else failed,
            seconds_text(tally.seconds / tally.decisions if tally.decisions else None),
        ]  # fmt: skip
        rows.append([*row, *(_costs(tally) if costs else ())])
    return (
        "<h2>Players</h2>\n"
        + note(
            f"Over all worlds. Scores are compared within a world only, below. <i>Failed</i>: no usable answer "
            f"({', '.join(FAILURES)}), so the world’s fallback was played. The limit is "
            f"{results.design.max_failures:.0%} of a player’s decisions in each condition. The time of a decision "
            "is that of the player’s own thinking."
        )
        + table([*head, *(COSTS if costs else ())], rows, 2)
        + "".join(note(f"In dollars, {escape(text)}.") for text in results.spent_in_words())
    )


def _totals(games: Sequence[GameResult], conditions: Sequence[ConditionResults]) -> dict[str, tuple[int, Tally]]:
    """For each player, how many games it played, and what its decisions came to in all of them."""
    tallies: dict[str, Tally] = {}
    for player in (player for found in conditions for player in found.players):
        whole = tallies.setdefault(player.player, Tally())
        add_tally(whole, player.tally)
        whole.seconds += sum(player.seconds)
    return {name: (sum(name in game.spec.named for game in games), tally) for name, tally in tallies.items()}


# -- a condition ------------------------------------------------------------------------------------
def _condition(
    results: Results,
    found: ConditionResults,
    over_time: Curves,
    number: int,
    colours: dict[str, str],
    problems: Mapping[tuple[str, str], str],
) -> str:
    drawn = plots.plots_of(f"c{number}", found, over_time.of_players, colours)
    parts = [
        f'<h2 id="c{number}">{escape(found.condition.title)}</h2>\n',
        note(_games_in_words(found)),
        figure(drawn.get("scores")),
        table(SCORES, map(_score_row, found.players)),
    ]
    if len(found.lineups) > 1:
        rows = [[lineup, *_score_row(player)] for lineup, players in found.lineups.items() for player in players]
        parts += ["<h3>By line-up</h3>\n", note(TEXTS["lineups"]), table(("line-up", *SCORES), rows, 2)]
    if found.differences:
        parts += ["<h3>Paired differences</h3>\n", note(TEXTS["differences"]), _differences(found)]
    if len(found.seats) > 1:
        text = TEXTS["seats" if found.seats_are_swapped else "seats_with_players"]
        parts += ["<h3>Seats</h3>\n", note(text), _seats(found)]
    if "curves" in drawn:
        text = f"{TEXTS['curves']} {over_time.part}"
        parts += ["<h3>In the course of a game</h3>\n", note(text), figure(drawn["curves"])]
    if over_time.left_out:
        parts.append(note(f"{escape(_left_out(over_time.left_out))}."))
    parts += _measures(found)
    parts += ["<h3>Decisions</h3>\n", figure(drawn.get("outcomes")), _outcomes(results.design, found, problems)]
    return "".join([*parts, _failures(results, found)])


def _failures(results: Results, found: ConditionResults) -> str:
    rows = failures.cause_rows((player.player, player.tally) for player in found.players)
    if not rows:
        return ""
    listed = failures.failed_decisions(results.decisions(), {game.spec.id for game in found.games})
    head = ("player", "cause", "decisions", "share", "meaning")
    return "<h3>Failures</h3>\n" + note(failures.NOTE) + table(head, rows, 2) + listed


SCORES = ("player", "games", "won", "drawn", "stopped", "share of wins, 95 %", "score")


def _games_in_words(found: ConditionResults) -> str:
    """The number of games, and those that are left out of comparisons, in words."""
    alone = sum(player.against_itself for player in found.players)
    stopped = sum(game.ended == "limit" for game in found.games)
    words = [f"{_plural(len(found.games), 'game')}."]
    if len(found.lineups) > 1:
        words.append("A row is over all line-ups of its player; below they are apart.")
    if alone:
        are = "is" if alone == 1 else "are"
        words.append(
            f"{_plural(alone, 'game')} of a player against itself {are} left out of its row and of the figure."
        )
    if stopped:
        words.append(f"{_plural(stopped, 'game')} stopped at a limit, before the end.")
    if found.undecided:
        words.append(
            f"<b>{_plural(len(found.undecided), 'game')} had no result then</b>, because scores were equal in every "
            "game that was stopped: left out of shares and ratings."
        )
    if found.is_won_in_teams:
        words.append(f"<b>{IN_TEAMS[0].upper()}{IN_TEAMS[1:]}.</b>")
    return " ".join(words)


def _score_row(player: PlayerInCondition) -> list[Cell]:
    share, interval = player.win_share, player.win_interval
    shown = f"{share:.0%} ({interval[0]:.0%} to {interval[1]:.0%})" if share is not None and interval else "–"
    counts = (player.games, player.won, player.drawn, player.stopped)
    return [player.player, *(f"{count:,}" for count in counts), shown, _estimate(player.score)]


def _differences(found: ConditionResults) -> str:
    rows = [
        [each.lineup, f"{each.first} − {each.second}", _estimate(each.difference), str(each.difference.n)]  # noqa: RUF001
        for each in found.differences
    ]
    return table(("line-up", "difference of scores", "mean", "seeds"), rows, 2)


def _seats(found: ConditionResults) -> str:
    rows = [
        [each.seat, f"{each.games:,}", f"{float(each.won) / each.games:.0%}", _estimate(each.score),
         _estimate(each.advantage)]
        for each in found.seats
    ]  # fmt: skip
    return table(("seat", "games", "share of wins", "score", "more than on the other seats"), rows)


def _measures(found: ConditionResults) -> list[str]:
    world = found.games[0].spec.world
    own = [summaries(world, player.measures) for player in found.players]
    whole = with_summary(world) is not None  # its figures are computed from all measures
    rows: list[list[Cell]] = [
        [name, *(str(figures[name]) if name in figures else "–" for figures in own)]
        for name in dict.fromkeys(name for figures in own for name in figures)
    ]
    rows += [
        [name, *(_estimate(player.measure(name)) for player in found.players)]
        for name in found.measure_names
        if whole or _says_more(found, name)
    ]
    if not rows:
        return []
    head = ("measure", *(player.player for player in found.players))
    return ["<h3>Measures of the world</h3>\n", note(TEXTS["measures"]), table(head, rows)]


def _says_more(found: ConditionResults, name: str) -> bool:
    """True if a measure is neither the same for everybody nor the score again."""
    values = {value for p in found.players for group in p.measures.get(name, {}).values() for value in group}
    return len(values) > 1 and any(player.measure(name) != player.score for player in found.players)


def _outcomes(design: Design, found: ConditionResults, problems: Mapping[tuple[str, str], str]) -> str:
    """Outcomes that no player had are left out; the share of failures is always there."""
    players = found.players
    had = [outcome for outcome in OUTCOMES if any(player.tally.outcomes.get(outcome) for player in players)]
    costs = any(_has_costs(player.tally) for player in players)
    failed = any(player.tally.failures for player in players)
    more = [*(COSTS if costs else ()), *(["commonest problem"] if failed else ())]
    head = ["player", "decisions", *had, "failed", "median time", *more]
    rows: list[list[Cell]] = []
    for player in players:
        tally, rate = player.tally, f"{player.failure_rate:.1%}"
        rows.append(
            [
                player.player, f"{tally.decisions:,}", *(f"{tally.outcomes.get(outcome, 0):,}" for outcome in had),
                (rate, "bad") if player.failure_rate > design.max_failures else rate,
                seconds_text(player.median_seconds), *(_costs(tally) if costs else ()),
                *([problems.get((player.condition, player.player), "–")] if failed else ()),
            ]
        )  # fmt: skip
    return table(head, rows)


# -- ratings, factors, games ------------------------------------------------------------------------
def _ratings(conditions: Sequence[ConditionResults], colours: dict[str, str]) -> str:
    parts = ['<h2 id="ratings">Ratings</h2>\n', note(TEXTS["ratings"])]
    if not can_rate():
        return "".join([*parts, note("Not computed. To get them: <code>pip install 'cohabit[lab]'</code>")])
    for number, condition in enumerate(conditions):
        found = [each for each in rate(condition.compared) if each.games]
        if not found:
            continue
        parts.append(f"<h3>{escape(condition.condition.title)}</h3>\n")
        groups = [list(group) for _, group in groupby(found, key=lambda each: each.group)]
        if len(groups) > 1:
            parts.append(note(TEXTS["unconnected"]))
        for group in groups:
            parts += _ratings_of(group, f"r{number}-{group[0].group}", colours)
    return "".join(parts)


def _ratings_of(group: Sequence[PlayerRating], name: str, colours: dict[str, str]) -> list[str]:
    """The ratings of players that games connect."""
    rows = [
        [each.player, f"{each.games:,}", f"{each.mu:.1f}", f"{each.sigma:.1f}", f"{each.ordinal:.1f}"] for each in group
    ]
    drawn = [figure(plots.rating_plot(name, group, colours))] if plots.can_draw() else []
    return [*drawn, table(("player", "rated games", "rating", "uncertainty", "cautious rating"), rows)]


def _factors(conditions: Sequence[ConditionResults]) -> str:
    found = between_conditions(conditions)
    if not found:
        return ""
    rows = [
        [each.condition, each.first, each.second, _estimate(each.difference), str(each.difference.n)] for each in found
    ]
    head = ("player", "score in", "minus score in", "mean", "seeds")
    return "<h2>Between conditions</h2>\n" + note(TEXTS["between"]) + table(head, rows, 3)


def _games(results: Results, folder: Path | None) -> str:
    replays = [_replay_path(game) for game in results.games[:MAX_REPLAYS]] if folder is not None else []
    beside = {path for path in replays if folder is not None and (folder / path).exists()}
    more = len(results.games) - MAX_LISTED
    left_out = f" The first {MAX_LISTED} are listed; {more:,} more are in the tables." if more > 0 else ""
    rows = "".join(_game_row(game, beside) for game in results.games[:MAX_LISTED])
    watch = " <b>watch</b> opens one in the browser, with the reasons of its players." if beside else ""
    head = "".join(f"<th>{name}</th>" for name in ("game", "result (seat: player score)", "ended", "failed"))
    return (
        '<h2 id="games">Games</h2>\n'
        + note(
            f"Every game was recorded and can be watched again.{watch} In the folder of the run: "
            "<code>cohabit replay records/GAME.jsonl</code>; with <code>--every</code> it shows each step, and "
            f"<code>cohabit verify</code> checks the record.{left_out}"
        )
        + f'<details open><summary>{_plural(len(results.games), "game")}</summary>\n<div class="wide">'
        f'<table class="t9">\n<tr>{head}</tr>\n{rows}</table></div></details>\n'
    )


def _game_row(game: GameResult, beside: set[str]) -> str:
    best = winners(game)
    bold = best if is_won(game, best) else []
    players = " · ".join(
        f"{'<b>' if i in bold else ''}{escape(seat)}: {escape(name)} {_number(score)}{'</b>' if i in bold else ''}"
        for i, (seat, name, score) in enumerate(zip(game.seats, game.spec.named, scores(game), strict=True))
    )
    failures = sum(tally.failures for tally in game.tallies)
    path = f"records/{game.spec.id}.jsonl"
    failed = f'<td class="bad">{failures}</td>' if failures else "<td>0</td>"
    link = f'<a href="{escape(quote(path))}" title="cohabit replay {escape(path)}">{escape(game.spec.id)}</a>'
    if (replay := _replay_path(game)) in beside:
        link += f' <a href="{escape(quote(replay))}"><b>watch</b></a>'
    return f"<tr><td>{link}</td><td>{players}</td><td>{game.ended}</td>{failed}</tr>\n"


# -- methods ----------------------------------------------------------------------------------------
def _methods(design: Design, tables: bool) -> str:
    forms = [form for form in FORMATS if form != "parquet" or can_write_parquet()]
    names = ", ".join(f"<code>{name}</code>" for name in TABLES)
    beside = f"The tables are beside this page: {names}, each as {', '.join(forms)}. " if tables else ""
    return (
        f'<h2 id="methods">Methods and data</h2>\n{note(TEXTS["methods"])}'
        + note(
            f"{beside}<code>decisions.jsonl</code> has every prompt and answer. <code>cohabit lab export</code> writes "
            "a dataset of all decisions."
        )
        + details("The design", design.as_file())
    )
