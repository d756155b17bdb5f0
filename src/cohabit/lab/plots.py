"""The plots of a report, as SVG text that takes its colours from the page: light or dark.

Matplotlib is an optional dependency; without it there are no plots.
"""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from cohabit.agents.decision import OUTCOMES
from cohabit.lab.analysis import ConditionResults, PlayerInCondition
from cohabit.lab.curves import Curve
from cohabit.lab.ratings import PlayerRating

PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999", "#ee8866", "#44bb99", "#bbcc33")
"""Colours that can be told apart on a light and a dark ground, also by colour-blind readers."""
INK = "#010203"
"""Stands for the colour of the page's text."""
MAX_LABEL = 40
"""The number of characters of a player's name that a plot shows."""
OUTCOME_COLOURS = {
    "chosen": "#228833", "passed": "#66ccee", "corrected": "#ccbb44", "unreadable": "#ee8866", "refused": "#ee6677",
    "timeout": "#aa3377", "failed": "#cc3311", "late": "#999999",
}  # fmt: skip


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def colours_of(players: Sequence[str]) -> dict[str, str]:
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(players)}


def svg(name: str, draw: Callable[[Any], None], width: float, height: float, **grid: Any) -> str:
    """A figure as SVG. Reproducible (no date, no random ids); ``name`` makes its ids unique in the page.

    ``grid``: of ``Figure.subplots``, if ``draw`` takes several plots."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {
        "svg.hashsalt": f"cohabit {name}", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10,
        "axes.grid": True, "grid.alpha": 0.18, "grid.color": INK, "axes.spines.top": False, "axes.spines.right": False,
        "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.facecolor": "none", "figure.facecolor": "none", "legend.frameon": False, "axes.axisbelow": True,
    }  # fmt: skip
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser draws the texts, with fonts of its own
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.subplots(**grid))
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", text)
    return text.replace(INK, "currentColor")


def label_text(text: str) -> str:
    """Titles are texts of others, and Matplotlib treats a dollar sign as the start of a formula. Of a long one the
    middle is left out, or there would be no space for the plot."""
    if len(text) > MAX_LABEL:
        text = f"{text[: MAX_LABEL // 2]}…{text[-MAX_LABEL // 2 :]}"
    return text.replace("$", r"\$")


def _label_rows(axes: Any, rows: Sequence[PlayerInCondition | PlayerRating]) -> None:
    """One row for each player, from the top."""
    axes.set_yticks(range(len(rows)), [label_text(each.player) for each in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)


# -- the plots --------------------------------------------------------------------------------------
def score_plot(name: str, players: Sequence[PlayerInCondition], colours: dict[str, str]) -> str:
    """The mean score of each player, with its interval and the score of each seed as a dot."""

    def draw(axes: Any) -> None:
        for place, player in enumerate(players):
            found, colour = player.score, colours[player.player]
            values = [float(value) for value in player.by_seed.values()][:200]
            axes.plot(values, [place + 0.22] * len(values), "|", color=colour, alpha=0.6, ms=7)
            if found is not None:
                error = found.interval  # without one, no error bar: one of length 0 would look like certainty
                axes.errorbar(float(found.mean), place, xerr=error, fmt="o", color=colour, capsize=4, lw=2, ms=6)
        _label_rows(axes, players)
        axes.set_xlabel("mean score, 95 % interval over seeds; ticks are seeds")

    return svg(name, draw, 7.2, 0.9 + 0.42 * len(players))


def outcome_plot(name: str, players: Sequence[PlayerInCondition]) -> str:
    """The plot of the outcomes of each player's decisions."""

    def draw(axes: Any) -> None:
        left = [0.0] * len(players)
        for outcome in OUTCOMES:
            shares = [100 * p.tally.outcomes.get(outcome, 0) / max(1, p.tally.decisions) for p in players]
            if any(shares):
                axes.barh(range(len(players)), shares, left=left, color=OUTCOME_COLOURS[outcome], label=outcome)
                left = [a + b for a, b in zip(left, shares, strict=True)]
        _label_rows(axes, players)
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of decisions")
        axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)

    return svg(name, draw, 7.2, 1.5 + 0.36 * len(players))


def rating_plot(name: str, ratings: Sequence[PlayerRating], colours: dict[str, str]) -> str:
    """The rating of each player, with the 95 % range of its uncertainty."""

    def draw(axes: Any) -> None:
        for place, each in enumerate(ratings):
            colour = colours[each.player]
            axes.errorbar(each.mu, place, xerr=1.96 * each.sigma, fmt="o", color=colour, capsize=4, lw=2, ms=6)
        _label_rows(axes, ratings)
        axes.set_xlabel("OpenSkill rating, ± 1.96 standard deviations")

    return svg(name, draw, 7.2, 0.9 + 0.42 * len(ratings))


def curve_plot(name: str, found: Sequence[Curve], colours: dict[str, str]) -> str:
    """The mean score of each player over the course of a game, with the 95 % band."""

    def draw(axes: Any) -> None:
        for curve in found:
            means = [float(value.mean) for value in curve.values]
            half = [value.interval or 0.0 for value in curve.values]
            colour = colours[curve.player]
            axes.plot(curve.moments, means, color=colour, lw=2, label=label_text(curve.player))
            low = [mean - width for mean, width in zip(means, half, strict=True)]
            high = [mean + width for mean, width in zip(means, half, strict=True)]
            axes.fill_between(curve.moments, low, high, color=colour, alpha=0.15, lw=0)
        axes.set_xlabel("entries of the record")
        axes.set_ylabel("mean score")
        axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)

    return svg(name, draw, 7.2, 3.2)


def plots_of(name: str, found: ConditionResults, over_time: Sequence[Curve], colours: dict[str, str]) -> dict[str, str]:
    """The plots of a condition; none without matplotlib."""
    if not can_draw():
        return {}
    drawn = {"scores": score_plot(f"{name}-scores", found.players, colours)}
    if any(set(player.tally.outcomes) - {"chosen"} for player in found.players):
        drawn["outcomes"] = outcome_plot(f"{name}-outcomes", found.players)
    if over_time:
        drawn["curves"] = curve_plot(f"{name}-curves", over_time, colours)
    return drawn
