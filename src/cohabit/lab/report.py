"""The report of a run: one HTML page without external files, readable on a phone, in light and dark.

It has no dates. Only the seconds per decision differ between two runs of the same design with the same answers.
"""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

import msgspec

from cohabit.agents.player import FAILURES, OUTCOMES, Tally
from cohabit.lab import plots
from cohabit.lab.analysis import ConditionResults, PlayerInCondition, analyse, between_conditions, level_text
from cohabit.lab.atomic import write_atomically
from cohabit.lab.curves import curves
from cohabit.lab.design import MAX_GAMES, Design, WorldPlan
from cohabit.lab.estimates import Estimate
from cohabit.lab.game import GameResult
from cohabit.lab.ratings import can_rate, rate
from cohabit.lab.results import Results, scores, winners
from cohabit.lab.tables import FORMATS, TABLES, can_write_parquet, write_tables

REPORT_FILE = "report.html"
MAX_LISTED = 500
"""How many games the page lists; the tables have all of them."""
STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5b6470; --ground: #fff; --line: #d9dde3; --row: #f5f6f8;
  --bad: #b00020; --bad-ground: #fdecee; --link: #2456b3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #9aa4b2; --ground: #14171c; --line: #343b46;
  --row: #1b2027; --bad: #ff8a94; --bad-ground: #3a161b; --link: #8ab4ff; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem 1rem 4rem;
  color: var(--ink); background: var(--ground); overflow-wrap: break-word; }
h1 { line-height: 1.2; font-size: 1.7rem; } h2 { margin: 2.5rem 0 0.5rem; padding-bottom: 0.2rem;
  border-bottom: 1px solid var(--line); } h3 { margin: 1.6rem 0 0.3rem; font-size: 1.02rem; }
a { color: var(--link); } .note { color: var(--soft); font-size: 0.92rem; max-width: 48rem; }
.bad { color: var(--bad); font-weight: 600; } .alarm { border: 2px solid var(--bad); border-radius: 6px;
  background: var(--bad-ground); color: var(--bad); padding: 0.6rem 1rem; margin: 1rem 0; font-weight: 600; }
.alarm ul { margin: 0.3rem 0; padding-left: 1.2rem; }
.wide { overflow-x: auto; } figure { margin: 0.6rem 0; } svg { max-width: 100%; height: auto; color: var(--ink); }
table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.28rem 0.65rem; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid var(--soft); vertical-align: bottom; font-weight: 600; }
.t1 td:nth-child(-n+1), .t1 th:nth-child(-n+1), .t2 td:nth-child(-n+2), .t2 th:nth-child(-n+2),
.t3 td:nth-child(-n+3), .t3 th:nth-child(-n+3), .t9 td, .t9 th { text-align: left; }
tr:nth-child(even) td { background: var(--row); }
code, pre { font: 0.86rem ui-monospace, monospace; } pre { overflow-x: auto; background: var(--row); padding: 0.8rem; }
nav a { margin-right: 0.9rem; display: inline-block; } summary { cursor: pointer; margin: 0.6rem 0; font-weight: 600; }
"""
Cell = str | tuple[str, str]
"""Text, or text with a class."""


def write_report(results: Results, folder: Path, *, tables: bool = True) -> Path:
    """Write the page, and the tables beside it. Returns the path of the page."""
    if tables:
        write_tables(results, folder)
    path = folder / REPORT_FILE
    write_atomically(path, page(results, tables=tables).encode())
    return path


def problems_of(results: Results) -> list[str]:
    """What makes the results doubtful: failures, and games that are missing."""
    found = results.problems()
    missing = results.planned - len(results.games)
    if missing and not results.stopped:
        found.insert(0, f"the run is not finished: {len(results.games):,} of {results.planned:,} games are played")
    return found


def page(results: Results, *, tables: bool = True) -> str:
    """The HTML page."""
    conditions = analyse(results.games, results.timings())
    colours = plots.colours_of(results.design.every_player())
    parts = [_top(results, conditions), _overview(results)]
    parts += [_condition(results, found, number, colours) for number, found in enumerate(conditions)]
    parts += [_ratings(results.games, colours), _factors(conditions), _games(results), _methods(results.design, tables)]
    title = escape(results.design.name)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n{''.join(parts)}</body>\n</html>\n"
    )


# -- pieces -----------------------------------------------------------------------------------------
def _table(head: Sequence[str], rows: Iterable[Sequence[Cell]], texts: int = 1) -> str:
    """``texts``: how many columns contain text, aligned to the left; 9: all."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table class="t{texts}">\n<tr>{top}</tr>\n{body}</table></div>\n'


def _cell(cell: Cell) -> str:
    if isinstance(cell, tuple):
        return f'<td class="{cell[1]}">{escape(cell[0])}</td>'
    return f"<td>{escape(cell)}</td>"


def _note(text: str) -> str:
    return f'<p class="note">{text}</p>\n'


def _figure(drawn: str | None) -> str:
    return f"<figure>{drawn}</figure>\n" if drawn else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.3g}"


def _estimate(found: Estimate | None) -> str:
    if found is None:
        return "–"
    mean = float(found.mean)
    digits = 0 if abs(mean) >= 1000 else 1 if abs(mean) >= 100 else 2
    shown = f"{mean:,.{digits}f}"
    return f"{shown} (one seed)" if found.half_width is None else f"{shown} ± {found.half_width:,.{digits}f}"


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2g} s" if value >= 0.1 else f"{1000 * value:.2g} ms"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# -- the top ----------------------------------------------------------------------------------------
def _top(results: Results, conditions: Sequence[ConditionResults]) -> str:
    links = "".join(f'<a href="#c{i}">{escape(c.condition.title)}</a>' for i, c in enumerate(conditions))
    more = '<a href="#ratings">Ratings</a><a href="#games">Games</a><a href="#methods">Methods</a>'
    return (
        f"<h1>{escape(results.design.name)}</h1>\n{_alarm(problems_of(results))}"
        f"<p>{_design_in_words(results)}</p>\n<nav>{links}{more}</nav>\n"
    )


def _alarm(problems: Sequence[str]) -> str:
    if not problems:
        return ""
    items = "".join(f"<li>{escape(problem)}.</li>" for problem in problems)
    return f'<div class="alarm" role="alert">These results cannot be trusted as they are.<ul>{items}</ul></div>\n'


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


def _costs(tally: Tally) -> list[Cell]:
    if not tally.prompt_tokens and not tally.dollars:
        return ["–", "–"]
    unpriced = f" + {_plural(tally.unpriced, 'answer')} of unknown price" if tally.unpriced else ""
    return [f"{tally.prompt_tokens:,} + {tally.completion_tokens:,}", f"${tally.dollars:.4f}{unpriced}"]


def _overview(results: Results) -> str:
    found, limit = results.players(), results.design.max_failures
    head = ["player", "brain", "games", "won", "drawn", "decisions", "failed", "per decision"]
    costs = any(player.tally.prompt_tokens or player.tally.dollars for player in found)
    rows: list[list[Cell]] = []
    for player in found:
        tally = player.tally
        failed = f"{tally.failures:,} ({player.failure_rate:.1%})" if tally.failures else "0"
        row: list[Cell] = [
            player.player, results.design.players.get(player.player, player.player), f"{player.games:,}",
            f"{player.won:,}", f"{player.drawn:,}", f"{tally.decisions:,}",
            (failed, "bad") if player.failure_rate > limit else failed,
            _seconds(tally.seconds / tally.decisions if tally.decisions else None),
        ]  # fmt: skip
        rows.append([*row, *(_costs(tally) if costs else ())])
    return (
        "<h2>Players</h2>\n"
        + _note(
            f"Over all worlds. Scores are compared within a world only, below. <i>Failed</i>: no usable answer "
            f"({', '.join(FAILURES)}), so the world’s fallback was played. The limit is "
            f"{results.design.max_failures:.0%} of a player’s decisions. The time of a decision includes waiting for "
            "the players on earlier seats, if several move at once."
        )
        + _table([*head, *(COSTS if costs else ())], rows, 2)
    )


# -- a condition ------------------------------------------------------------------------------------
def _condition(results: Results, found: ConditionResults, number: int, colours: dict[str, str]) -> str:
    over_time = curves(results.folder, found.games, results.worlds) if plots.can_draw() else []
    drawn = plots.plots_of(f"c{number}", found, over_time, colours)
    limited = sum(game.ended == "limit" for game in found.games)
    stopped = f" {_plural(limited, 'game')} stopped at a limit, before the end." if limited else ""
    parts = [
        f'<h2 id="c{number}">{escape(found.condition.title)}</h2>\n',
        _note(f"{_plural(len(found.games), 'game')}.{stopped}"),
        _figure(drawn.get("scores")),
        _table(
            ("player", "games", "won", "drawn", "share of wins, 95 %", "score"), map(_score_row, found.players)
        ),
    ]  # fmt: skip
    if found.differences:
        parts += ["<h3>Paired differences</h3>\n", _note(DIFFERENCES), _differences(found)]
    if len(found.seats) > 1:
        parts += ["<h3>Seats</h3>\n", _note(SEATS), _seats(found)]
    if "curves" in drawn:
        parts += ["<h3>In the course of a game</h3>\n", _note(CURVES), _figure(drawn["curves"])]
    parts += _measures(found)
    parts += ["<h3>Decisions</h3>\n", _figure(drawn.get("outcomes")), _outcomes(results.design, found.players)]
    return "".join(parts)


def _score_row(player: PlayerInCondition) -> list[Cell]:
    share = player.win_interval
    points = float(player.points) / player.games
    shown = f"{points:.0%} ({share[0]:.0%} to {share[1]:.0%})" if share else "–"
    return [player.player, f"{player.games:,}", f"{player.won:,}", f"{player.drawn:,}", shown, _estimate(player.score)]


def _differences(found: ConditionResults) -> str:
    rows = [
        [each.lineup, f"{each.first} − {each.second}", _estimate(each.difference), str(each.difference.n)]  # noqa: RUF001
        for each in found.differences
    ]
    return _table(("line-up", "difference of scores", "mean", "seeds"), rows, 2)


def _seats(found: ConditionResults) -> str:
    rows = [
        [each.seat, f"{each.games:,}", f"{float(each.won) / each.games:.0%}", _estimate(each.score),
         _estimate(each.advantage)]
        for each in found.seats
    ]  # fmt: skip
    return _table(("seat", "games", "share of wins", "score", "more than on the other seats"), rows)


def _measures(found: ConditionResults) -> list[str]:
    names = [name for name in found.measure_names if _says_more(found, name)]
    if not names:
        return []
    rows = [[player.player, *(_estimate(player.measure(name)) for name in names)] for player in found.players]
    return ["<h3>Measures of the world</h3>\n", _note(MEASURES), _table(("player", *names), rows)]


def _says_more(found: ConditionResults, name: str) -> bool:
    """Whether a measure is neither the same for everybody nor the score again."""
    values = {value for p in found.players for group in p.measures.get(name, {}).values() for value in group}
    return len(values) > 1 and any(player.measure(name) != player.score for player in found.players)


def _outcomes(design: Design, players: Sequence[PlayerInCondition]) -> str:
    """Outcomes that no player had are left out; the share of failures is always there."""
    had = [outcome for outcome in OUTCOMES if any(player.tally.outcomes.get(outcome) for player in players)]
    costs = any(player.tally.prompt_tokens or player.tally.dollars for player in players)
    head = ["player", "decisions", *had, "failed", "median time", *(COSTS if costs else ())]
    rows: list[list[Cell]] = []
    for player in players:
        tally, rate = player.tally, f"{player.failure_rate:.1%}"
        rows.append(
            [
                player.player, f"{tally.decisions:,}", *(f"{tally.outcomes.get(outcome, 0):,}" for outcome in had),
                (rate, "bad") if player.failure_rate > design.max_failures else rate,
                _seconds(player.median_seconds), *(_costs(tally) if costs else ()),
            ]
        )  # fmt: skip
    return _table(head, rows)


# -- ratings, factors, games ------------------------------------------------------------------------
def _ratings(games: Sequence[GameResult], colours: dict[str, str]) -> str:
    parts = ['<h2 id="ratings">Ratings</h2>\n', _note(RATINGS)]
    if not can_rate():
        return "".join([*parts, _note("Not computed. To get them: <code>pip install 'cohabit[lab]'</code>")])
    for number, setting in enumerate(dict.fromkeys(game.spec.setting for game in games)):
        found = [each for each in rate(game for game in games if game.spec.setting == setting) if each.games]
        if not found:
            continue
        rows = [
            [each.player, f"{each.games:,}", f"{each.mu:.1f}", f"{each.sigma:.1f}", f"{each.ordinal:.1f}"]
            for each in found
        ]
        parts.append(f"<h3>{escape(setting)}</h3>\n")
        if plots.can_draw():
            parts.append(_figure(plots.rating_plot(f"r{number}", found, colours)))
        parts.append(_table(("player", "rated games", "rating", "uncertainty", "cautious rating"), rows))
    return "".join(parts)


def _factors(conditions: Sequence[ConditionResults]) -> str:
    found = between_conditions(conditions)
    if not found:
        return ""
    rows = [
        [each.condition, each.first, each.second, _estimate(each.difference), str(each.difference.n)] for each in found
    ]
    head = ("player", "score in", "minus score in", "mean", "seeds")
    return "<h2>Between conditions</h2>\n" + _note(BETWEEN) + _table(head, rows, 3)


def _games(results: Results) -> str:
    more = len(results.games) - MAX_LISTED
    left_out = f" The first {MAX_LISTED} are listed; {more:,} more are in the tables." if more > 0 else ""
    rows = "".join(map(_game_row, results.games[:MAX_LISTED]))
    head = "".join(f"<th>{name}</th>" for name in ("game", "result (seat: player score)", "ended", "failed"))
    return (
        '<h2 id="games">Games</h2>\n'
        + _note(
            "Every game was recorded and can be watched again. In the folder of the run: "
            "<code>cohabit replay records/GAME.jsonl</code>; with <code>--every</code> it shows each step, and "
            f"<code>cohabit verify</code> checks the record.{left_out}"
        )
        + f'<details open><summary>{_plural(len(results.games), "game")}</summary>\n<div class="wide">'
        f'<table class="t9">\n<tr>{head}</tr>\n{rows}</table></div></details>\n'
    )


def _game_row(game: GameResult) -> str:
    best = winners(game)
    players = " · ".join(
        f"{'<b>' if best == [i] else ''}{escape(seat)}: {escape(name)} {_number(score)}{'</b>' if best == [i] else ''}"
        for i, (seat, name, score) in enumerate(zip(game.seats, game.spec.named, scores(game), strict=True))
    )
    failures = sum(tally.failures for tally in game.tallies)
    path = f"records/{game.spec.id}.jsonl"
    failed = f'<td class="bad">{failures}</td>' if failures else "<td>0</td>"
    link = f'<a href="{escape(quote(path))}" title="cohabit replay {escape(path)}">{escape(game.spec.id)}</a>'
    return f"<tr><td>{link}</td><td>{players}</td><td>{game.ended}</td>{failed}</tr>\n"


# -- methods ----------------------------------------------------------------------------------------
DIFFERENCES = """The score of the first minus the score of the second in the games they share, averaged over the games
of a seed and then over seeds. If the interval does not contain 0, the players differ at the 5 % level (one comparison;
with many, some differ by chance)."""
SEATS = """What a seat is worth, whoever sits on it, and how much more its scores are than those of the other seats of
the same seed. Swapping cancels this in the comparison of players."""
CURVES = """The mean score after each entry of the record, with the 95 % band over seeds. A game that is over keeps its
last score."""
MEASURES = (
    "Means over seeds with 95 % intervals: the numbers of the world’s scoreboard, and what a player’s actions earned."
)
RATINGS = """OpenSkill (Plackett-Luce), from 25 ± 8.3, for the games of each world in the order of the plan. The
uncertainty is a standard deviation, and large after few games; the cautious rating is three of them lower. Ratings
depend on the opponents in the design."""
BETWEEN = "What the factors change: the scores of the same player on the same seeds in two conditions."
METHODS = """<b>Sample.</b> The seeds are the sample: games with the same seed share a map and draws, so scores are
first averaged over the games of a seed. <b>Intervals.</b> Mean ± t × s / √n over n seeds, with t the 97.5 % quantile
of Student’s distribution; with one seed there is none, and with few it is wide. ± 0 says that all seeds gave the same,
not that the next one must. Players that repeat themselves, such as a model at temperature 0, differ between seeds only
by the draws of the world and of the others. Shares of wins: a draw is shared among its players; Wilson’s interval over
games, which treats games as independent. <b>Score.</b> The return of a seat if the world counts returns, else its score
on the scoreboard, else what its actions earned. <b>Failures.</b> Decisions without a usable answer are never counted as
play: they are shown, and past the limit this page says so at its top."""


def _methods(design: Design, tables: bool) -> str:
    forms = [form for form in FORMATS if form != "parquet" or can_write_parquet()]
    names = ", ".join(f"<code>{name}</code>" for name in TABLES)
    beside = f"The tables are beside this page: {names}, each as {', '.join(forms)}. " if tables else ""
    return (
        f'<h2 id="methods">Methods and data</h2>\n{_note(METHODS)}'
        + _note(
            f"{beside}<code>decisions.jsonl</code> has every prompt and answer. <code>cohabit lab export</code> writes "
            "a dataset of all decisions."
        )
        + f"<details><summary>The design</summary><pre>{escape(design.as_file().decode())}</pre></details>\n"
    )
