"""The report: one self-contained HTML page with plots. It has no dates, so the same rounds give the same page."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path

from cohabit.lab.estimates import Estimate
from cohabit.lab.files import write_atomically
from cohabit.lab.page import alarm, details, figure, html_page, note, table
from cohabit.lab.report import REPORT_FILE
from cohabit.lab.statecraft import plots, summaries
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.rounds import Round
from cohabit.lab.statecraft.tables import TABLES, write_tables
from cohabit.model.table_files import read_table

NOTES = read_table(__file__, dict[str, str])
"""An explanation of the numbers, by section of the page."""
SHARES = ("none kept", "less than half", "half or more", "all kept")


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
    drawn = plots.draw(lineups, rated) if with_plots else {}
    body = [_head(experiment, rounds, bool(drawn)), *_sections(lineups, rated, drawn), _methods(experiment)]
    return html_page(experiment.name, body)


def _head(experiment: Experiment, rounds: Sequence[Round], has_plots: bool) -> str:
    planned = len(experiment.lineups) * len(experiment.every_seed) * experiment.rounds
    missing = planned - len(rounds)
    unfinished = f" <b>This run is not finished. Missing rounds: {missing:,}.</b>" if missing else ""
    no_plots = "" if has_plots else note("No plots. To get them: <code>pip install 'cohabit[lab]'</code>")
    size = f"{len(experiment.lineups)} line-ups × {len(experiment.every_seed)} seeds × {experiment.rounds}"
    return (
        f"<h1>{escape(experiment.name)}</h1>\n{alarm(summaries.problems(rounds))}"
        f"<p>{len(rounds):,} rounds of {experiment.turns} turns: {size}.{unfinished}</p>\n{no_plots}"
    )


def _sections(
    lineups: Sequence[summaries.LineupSummary], rated: Sequence[summaries.RatedPledges], drawn: dict[str, str]
) -> Iterable[str]:
    for title, name, figures, numbers in (
        ("Results", "results", ["results"], _results(lineups)),
        ("Welfare over time", "welfare", ["welfare"], ""),
        ("Cooperation and inequality", "cooperation", ["cooperation", "gini"], _cooperation(lineups)),
        ("Wars and their cost", "wars", ["wars"], _wars(lineups)),
        ("Pledges and ratings", "pledges", ["pledges"], _pledges(rated)),
    ):
        shown = "".join(figure(drawn.get(each)) for each in figures)
        yield f"<h2>{title}</h2>\n{note(NOTES[name])}{shown}{numbers}"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{float(value):.2f}" if isinstance(value, Fraction | float) else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return table(head, ([_cell(cell) for cell in row] for row in rows))


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
        f"<h2>Methods and data</h2>\n{note(NOTES['methods'])}"
        + note(
            f"All data is in the files beside this one: {files}, each also as <code>.jsonl</code>. "
            "They are derived from <code>rounds.jsonl</code>."
        )
        + details("The experiment", experiment.as_file())
    )
