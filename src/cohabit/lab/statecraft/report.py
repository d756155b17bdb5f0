"""The report: one self-contained HTML page with plots. It has no dates, so the same rounds give the same page."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path

from cohabit.lab.estimates import Estimate
from cohabit.lab.files import write_atomically
from cohabit.lab.plots import can_draw
from cohabit.lab.statecraft import plots, summaries
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.rounds import Round
from cohabit.lab.statecraft.tables import TABLES, write_tables

REPORT_FILE = "report.html"
STYLE = Path(__file__).with_suffix(".css").read_text()


def write_report(experiment: Experiment, rounds: Sequence[Round], folder: Path) -> Path:
    """Write the tables and the page for the given rounds; returns the path of the page."""
    write_tables(rounds, folder)
    path = folder / REPORT_FILE
    write_atomically(path, page(experiment, rounds).encode())
    return path


def page(experiment: Experiment, rounds: Sequence[Round], with_plots: bool = True) -> str:
    """The HTML page."""
    analyses = [summaries.analyse(played) for played in rounds]
    lineups, rated = summaries.summarise(analyses), summaries.rated_pledges(analyses)
    drawn = plots.draw(lineups, rated) if lineups and with_plots and can_draw() else {}
    body = [_head(experiment, rounds, bool(drawn)), *_sections(lineups, rated, drawn), _methods(experiment)]
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(experiment.name)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n<style>\n{STYLE}</style>\n{"".join(body)}</html>\n'
    )


def _head(experiment: Experiment, rounds: Sequence[Round], has_plots: bool) -> str:
    planned = len(experiment.lineups) * len(experiment.every_seed) * experiment.rounds
    missing = planned - len(rounds)
    unfinished = f" <b>This run is not finished. Missing rounds: {missing:,}.</b>" if missing else ""
    no_plots = "" if has_plots else "<p class=note>No plots. To get them: <code>pip install 'cohabit[lab]'</code></p>"
    size = f"{len(experiment.lineups)} line-ups × {len(experiment.every_seed)} seeds × {experiment.rounds}"
    failed = "".join(f'<p style="color:#b00020">{escape(text)}.</p>\n' for text in summaries.problems(rounds))
    return (
        f"<h1>{escape(experiment.name)}</h1>\n"
        f"<p>{len(rounds):,} rounds of {experiment.turns} turns: {size}.{unfinished}</p>\n{failed}{no_plots}"
    )


def _sections(
    lineups: Sequence[summaries.LineupSummary], rated: Sequence[summaries.RatedPledges], drawn: dict[str, str]
) -> Iterable[str]:
    yield _section("Results", _results(lineups), RESULTS, drawn.get("results"))
    yield _section("Welfare over time", "", WELFARE, drawn.get("welfare"))
    yield _section(
        "Cooperation and inequality", _cooperation(lineups), COOPERATION, drawn.get("cooperation"), drawn.get("gini")
    )
    yield _section("Wars and their cost", _wars(lineups), WARS, drawn.get("wars"))
    yield _section("Pledges and ratings", _pledges(rated), PLEDGES, drawn.get("pledges"))


def _section(title: str, table: str, note: str, *figures: str | None) -> str:
    shown = "".join(f"<figure>{figure}</figure>\n" for figure in figures if figure)
    return f"<h2>{title}</h2>\n<p class=note>{note}</p>\n{shown}<div class=wide>{table}</div>\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = ("".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) for row in rows)
    return f"<table>\n<tr>{top}</tr>\n" + "".join(f"<tr>{line}</tr>\n" for line in lines) + "</table>\n"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{float(value):.2f}" if isinstance(value, Fraction | float) else str(value)


# -- the sections -----------------------------------------------------------------------------------
RESULTS = """Welfare per nation and turn by player, and the player’s share of the rounds won (ties are shared). If a
player has several nations in a round, the round counts once, with their mean. ± is the half-width of the 95 % interval.
Military spending and destroyed income are per nation and turn. The mean rating is the mean of the final
<code>keeps_word_report</code> ratings by the other nations."""
WELFARE = "The welfare that a nation gains in each turn, by player: the mean over rounds and nations."
COOPERATION = """The cooperation index is (sum of welfare / sum of gross income - 1) / (trade factor - 1): 1 if
everything is granted to others, 0 if all nations keep their income, below 0 if armies and wars cost more than trade
gains. The Gini index is that of the nations’ welfare in the whole round: 0 if all have the same."""
WARS = """A war is an unbroken run of turns in which at least one nation of a pair sent mils against the other.
Destroyed income is what damage took from the income (damage beyond the income destroys nothing). Military spending is
upkeep and purchases. Both are in percent of the total gross income. Mils lost are those that attackers lost, per
round."""
PLEDGES = """A pledge is a line <code>pledge: grant N to X</code> or <code>pledge: no attack on X</code> in a message,
and holds for the next turn. It is kept if at least N was paid, or if no mil was sent. The final rating
(<code>keeps_word_report</code>, 1 to 10) of each nation by each other nation is compared with the share of kept pledges
among those that the rater had received and seen fall due. Larger dots stand for more cases."""
METHODS = """Intervals: mean ± t × s / √n over the n rounds of a line-up, with s² the sum of squared deviations divided
by n - 1, and t the 97.5 % quantile of Student’s distribution with n - 1 degrees of freedom. They estimate the error of
the mean over maps and seats for the given players: rounds of deterministic players differ only by the map and by the
nation of each player. All line-ups of a seed with the same number of nations use the same maps."""
SHARES = ("none kept", "less than half", "half or more", "all kept")


def _results(lineups: Sequence[summaries.LineupSummary]) -> str:
    head = (
        "line-up", "player", "nations", "welfare", "won", "military spending", "income destroyed", "pledges kept",
        "pledges broken", "mean rating",
    )  # fmt: skip
    rows = [
        (lineup.title, player.player, player.nations, player.welfare, f"{float(100 * player.wins):.0f} %",
         player.military_spending, player.income_destroyed, player.pledges_kept, player.pledges_broken,
         player.mean_rating)
        for lineup in lineups
        for player in lineup.players
    ]  # fmt: skip
    return _table(head, rows)


def _cooperation(lineups: Sequence[summaries.LineupSummary]) -> str:
    head = ("line-up", "cooperation", "Gini", "grants paid %")
    return _table(head, [(one.title, one.cooperation, _three_digits(one.gini), one.grants_paid) for one in lineups])


def _three_digits(number: Estimate) -> str:
    return f"{float(number.mean):.3f}" + ("" if number.half_width is None else f" ± {number.half_width:.3f}")


def _wars(lineups: Sequence[summaries.LineupSummary]) -> str:
    head = ("line-up", "wars", "turns of war", "income destroyed %", "military spending %", "mils lost")
    rows = [
        (one.title, one.wars, one.war_turns, one.income_destroyed, one.military_spending, one.mils_lost)
        for one in lineups
    ]
    return _table(head, rows)


def _pledges(rated: Sequence[summaries.RatedPledges]) -> str:
    groups = {label: [one.rating for one in rated if _share_label(one.share_kept) == label] for label in SHARES}
    rows = [
        (label, len(ratings), Fraction(sum(ratings), len(ratings)) if ratings else None)
        for label, ratings in groups.items()
    ]
    correlation = summaries.rating_correlation(rated)
    result = "is undefined, because one of the two is constant" if correlation is None else f"is {correlation:.2f}"
    return _table(("pledges", "cases", "mean rating"), rows) + (
        f"<p>Pearson’s correlation of the share of kept pledges with the rating {result}; {len(rated):,} cases.</p>\n"
    )


def _share_label(share: Fraction) -> str:
    if share in (0, 1):
        return "all kept" if share else "none kept"
    return "less than half" if share < Fraction(1, 2) else "half or more"


def _methods(experiment: Experiment) -> str:
    files = ", ".join(f"<code>{name}.csv</code>" for name in TABLES)
    return (
        f"<h2>Methods and data</h2>\n<p class=note>{METHODS}</p>\n"
        f"<p class=note>All data is in the files beside this one: {files}, each also as <code>.jsonl</code>. "
        "They are derived from <code>rounds.jsonl</code>.</p>\n"
        f"<details><summary>The experiment</summary><pre>{escape(experiment.as_file().decode())}</pre></details>\n"
    )
