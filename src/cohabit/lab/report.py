"""The report: one page of HTML that needs nothing else, pictures included. It has no dates: same rounds, same page."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path

from cohabit.lab import findings, plots
from cohabit.lab.config import Experiment
from cohabit.lab.findings import Lineup, Word
from cohabit.lab.intervals import Estimate
from cohabit.lab.record import Round
from cohabit.lab.run import write_whole
from cohabit.lab.tables import TABLES, write_tables

NAME = "report.html"
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.9rem; } th, td { padding: 0.25rem 0.6rem; text-align: right; }
td { white-space: nowrap; }
th { border-bottom: 1px solid #999; vertical-align: bottom; } td:first-child, th:first-child { text-align: left; }
tr:nth-child(even) td { background: #f6f6f4; } .note { color: #555; max-width: 48rem; } code { font-size: 0.9em; }
"""


def write_report(experiment: Experiment, rounds: Sequence[Round], folder: Path) -> Path:
    """The tables and the page, from the rounds that there are; the path of the page."""
    write_tables(rounds, folder)
    path = folder / NAME
    write_whole(path, page(experiment, rounds).encode())
    return path


def page(experiment: Experiment, rounds: Sequence[Round], pictures: bool = True) -> str:
    """The whole page."""
    looked = [findings.look(played) for played in rounds]
    found, words = findings.lineups(looked), findings.words(looked)
    drawn = plots.draw(found, words) if found and pictures and plots.can_draw() else {}
    body = [_head(experiment, rounds, bool(drawn)), *_sections(found, words, drawn), _how(experiment)]
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(experiment.name)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style>\n{"".join(body)}</html>\n'
    )


def _head(experiment: Experiment, rounds: Sequence[Round], drawn: bool) -> str:
    planned = len(experiment.lineups) * len(experiment.every_seed) * experiment.rounds
    missing = "" if len(rounds) == planned else f" <b>It is not finished: {planned - len(rounds):,} are missing.</b>"
    bare = "" if drawn else "<p class=note>No pictures: they need <code>pip install 'cohabit[lab]'</code>.</p>"
    size = f"{len(experiment.lineups)} line-ups × {len(experiment.every_seed)} seeds × {experiment.rounds}"
    return (
        f"<h1>{escape(experiment.name)}</h1>\n"
        f"<p>{len(rounds):,} rounds of {experiment.turns} turns: {size}.{missing}</p>\n{bare}"
    )


def _sections(found: Sequence[Lineup], words: Sequence[Word], drawn: dict[str, str]) -> Iterable[str]:
    yield _section("Results", _results(found), RESULTS, drawn.get("results"))
    yield _section("Welfare over time", "", WELFARE, drawn.get("welfare"))
    yield _section(
        "Cooperation and inequality", _whole(found), COOPERATION, drawn.get("cooperation"), drawn.get("gini")
    )
    yield _section("Wars and their cost", _wars(found), WARS, drawn.get("wars"))
    yield _section("Promises and ratings", _promises(words), PROMISES, drawn.get("promises"))


def _section(title: str, table: str, note: str, *pictures: str | None) -> str:
    shown = "".join(f"<figure>{picture}</figure>\n" for picture in pictures if picture)
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
RESULTS = """Welfare per nation and turn, by what plays it, and its share of the rounds won (ties are shared). Where
several nations of a round are played alike, the round counts once, with their mean. ± is the half-width of the 95 %
interval. Arms and burnt are money per nation and turn; “its word” is the mean of the others’ last ratings of it."""
WELFARE = "The welfare that a nation gains in each turn, by what plays it: the mean over rounds and nations."
COOPERATION = """The index is (sum of welfare / sum of gross income - 1) / (trade factor - 1): 1 where everything is
granted to others, 0 where everybody keeps its own, below 0 where arms and war take more than trade gives. Gini is that
of the nations’ welfare in the whole round: 0 where all have the same."""
WARS = """A war is an unbroken run of turns in which one of a pair of nations, or both, sent mils at the other. Burnt is
income that damage took away (damage beyond the income burns nothing); arms is what upkeep and purchases cost; both in
percent of all gross income. Lost are the mils that attackers lost, per round."""
PROMISES = """A promise is a line <code>pledge: grant N to X</code> or <code>pledge: no attack on X</code> in a message,
and holds for the next turn. It is kept if at least N was really paid, or not one mil was sent. The last rating
(<code>keeps_word_report</code>, 1 to 10) that each nation gave each other is set against the share kept of the promises
that the rater had received from it and seen fall due. Bigger dots are more cases."""
HOW = """Intervals: mean ± t × s / √n over the n rounds of a line-up, with s² the sum of squared deviations over n - 1
and t the 97.5 % point of Student’s distribution with n - 1 degrees of freedom. They say how far the mean may be off for
other lands and other seats at the table, given these players: players that always decide the same differ between rounds
only by the land that was dealt and by who sat where. All line-ups of a seed that have as many nations play on the same
land."""


def _results(found: Sequence[Lineup]) -> str:
    head = (
        "line-up", "plays", "nations", "welfare", "won", "arms", "burnt", "promises kept", "broken", "its word",
    )  # fmt: skip
    rows = [
        (lineup.title, kind.plays, kind.seats, kind.welfare, f"{float(100 * kind.wins):.0f} %",
         kind.arms, kind.burnt, kind.kept, kind.broken, kind.word)
        for lineup in found
        for kind in lineup.kinds
    ]  # fmt: skip
    return _table(head, rows)


def _whole(found: Sequence[Lineup]) -> str:
    head = ("line-up", "cooperation", "Gini", "granted %")
    return _table(head, [(one.title, one.cooperation, _fine(one.gini), one.granted) for one in found])


def _fine(number: Estimate) -> str:
    """With three digits: it is small."""
    return f"{float(number.mean):.3f}" + ("" if number.half is None else f" ± {number.half:.3f}")


def _wars(found: Sequence[Lineup]) -> str:
    head = ("line-up", "wars", "turns of war", "burnt %", "arms %", "mils lost")
    return _table(head, [(one.title, one.wars, one.war_turns, one.burnt, one.arms, one.lost) for one in found])


BINS = ("none kept", "less than half", "half or more", "all kept")


def _promises(words: Sequence[Word]) -> str:
    groups = {label: [word.rating for word in words if _bin(word.share) == label] for label in BINS}
    rows = [
        (label, len(ratings), Fraction(sum(ratings), len(ratings)) if ratings else None)
        for label, ratings in groups.items()
    ]
    agreement = findings.agreement(words)
    said = "cannot be told: one of the two is always the same" if agreement is None else f"is {agreement:.2f}"
    return _table(("of its promises", "cases", "mean rating"), rows) + (
        f"<p>The correlation (Pearson) of the share kept with the rating {said}; {len(words):,} cases.</p>\n"
    )


def _bin(share: Fraction) -> str:
    if share in (0, 1):
        return "all kept" if share else "none kept"
    return "less than half" if share < Fraction(1, 2) else "half or more"


def _how(experiment: Experiment) -> str:
    files = ", ".join(f"<code>{name}.csv</code>" for name in TABLES)
    return (
        f"<h2>How this was made</h2>\n<p class=note>{HOW}</p>\n"
        f"<p class=note>Everything is in the files beside this one: {files}, each also as <code>.jsonl</code>; "
        "<code>rounds.jsonl</code> has it all.</p>\n"
        f"<details><summary>The experiment</summary><pre>{escape(experiment.as_file().decode())}</pre></details>\n"
    )
