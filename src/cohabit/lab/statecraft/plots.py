"""The plots of a report as SVG text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil, nan
from typing import Any

from cohabit.lab.estimates import Estimate
from cohabit.lab.plots import INK, can_draw, colours_of, label_text, svg
from cohabit.lab.statecraft.summaries import Curve, LineupSummary, RatedPledges

GOOD, BAD = "#228833", "#ee6677"
INCOME_COLOURS = {
    "unspent": "#66ccee", "grants_paid": GOOD, "military_spending": "#ccbb44", "income_destroyed": BAD,
}  # fmt: skip
"""The uses of the gross income."""
PLOTS_PER_ROW = 3
WIDTH = 9.0


def draw(lineups: Sequence[LineupSummary], rated: Sequence[RatedPledges]) -> dict[str, str]:
    """All plots by name; none without matplotlib."""
    if not lineups or not can_draw():
        return {}
    rows, bars = ceil(len(lineups) / PLOTS_PER_ROW), list(_pledge_bars(lineups))
    shared = {"nrows": rows, "ncols": min(PLOTS_PER_ROW, len(lineups)), "sharex": True, "sharey": True}
    cooperation = partial(_curves, lineups, "cooperation_over_time", "cooperation index")
    gini = partial(_curves, lineups, "gini_over_time", "Gini of the welfare so far")
    results = 0.8 + 0.26 * sum(len(lineup.players) for lineup in lineups)
    wars, pledges = 1.0 + 0.32 * len(lineups), max(3.2, 0.8 + 0.24 * len(bars))
    return {
        "welfare": svg("welfare", partial(_welfare, lineups), WIDTH, 2.6 * rows, squeeze=False, **shared),
        "results": svg("results", partial(_results, lineups), WIDTH, results),
        "cooperation": svg("cooperation", cooperation, WIDTH, 3.2),
        "gini": svg("gini", gini, WIDTH, 3.2),
        "wars": svg("wars", partial(_wars, lineups), WIDTH, wars, ncols=2, sharey=True),
        "pledges": svg("pledges", partial(_pledges, bars, rated), WIDTH, pledges, ncols=2),
    }


def _points(curve: Curve) -> tuple[list[int], list[float]]:
    present = [(turn, float(value)) for turn, value in enumerate(curve) if value is not None]
    return [turn for turn, _ in present], [value for _, value in present]


def _player_colours(lineups: Sequence[LineupSummary]) -> dict[str, str]:
    return colours_of(sorted({player.player for lineup in lineups for player in lineup.players}))


def _welfare(lineups: Sequence[LineupSummary], axes: Any) -> None:
    colours = _player_colours(lineups)
    for plot, lineup in zip(axes.flat, lineups, strict=False):
        for player in lineup.players:
            colour, label = colours[player.player], label_text(player.player)
            plot.plot(*_points(player.welfare_over_time), color=colour, label=label, lw=1.6)
        plot.set_title(label_text(lineup.title), fontsize=9)
        plot.legend(fontsize=7)
    for plot in axes.flat[len(lineups) :]:
        plot.set_axis_off()
    figure = axes.flat[0].figure
    figure.supxlabel("turn")
    figure.supylabel("welfare per nation")


def _curves(lineups: Sequence[LineupSummary], curve: str, label: str, plot: Any) -> None:
    colours = colours_of([lineup.title for lineup in lineups])
    for lineup in lineups:
        plot.plot(*_points(getattr(lineup, curve)), label=label_text(lineup.title), color=colours[lineup.title], lw=1.6)
    plot.set(xlabel="turn", ylabel=label)
    plot.axhline(0, color="#999999", lw=0.8)
    plot.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))  # beside the curves, not on them


def _results(lineups: Sequence[LineupSummary], plot: Any) -> None:
    rows = [(lineup, player) for lineup in lineups for player in lineup.players]
    colours = _player_colours(lineups)
    for height, (_, player) in enumerate(rows):
        welfare, colour = player.welfare, colours[player.player]
        plot.errorbar(float(welfare.mean), height, xerr=welfare.half_width or None, fmt="o", color=colour, capsize=3)
    labels = [label_text(f"{lineup.title}: {player.player} × {player.nations}") for lineup, player in rows]
    plot.set(xlabel="welfare per nation and turn, with 95 % interval", yticks=range(len(rows)), yticklabels=labels)
    plot.set_xlim(left=0)
    plot.invert_yaxis()


def _wars(lineups: Sequence[LineupSummary], axes: Any) -> None:
    wars, income = axes
    heights, titles = range(len(lineups)), [label_text(lineup.title) for lineup in lineups]
    wars.barh(heights, [float(lineup.wars.mean) for lineup in lineups], color=BAD,
              xerr=[lineup.wars.half_width or nan for lineup in lineups], ecolor=INK, capsize=3)  # fmt: skip
    wars.set(xlabel="wars per round", yticks=heights, yticklabels=titles)
    start = [0.0] * len(lineups)
    for use, colour in INCOME_COLOURS.items():
        widths = [_income_share(lineup, use) for lineup in lineups]
        income.barh(heights, widths, left=start, color=colour, label=use.replace("_", " "))
        start = [left + width for left, width in zip(start, widths, strict=True)]
    income.set(xlabel="use of the gross income, in percent")
    income.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    wars.invert_yaxis()


def _income_share(lineup: LineupSummary, use: str) -> float:
    if use == "unspent":
        return float(100 - lineup.grants_paid.mean - lineup.military_spending.mean - lineup.income_destroyed.mean)
    share: Estimate = getattr(lineup, use)
    return float(share.mean)


def _pledges(bars: Sequence[tuple[str, int, int]], rated: Sequence[RatedPledges], axes: Any) -> None:
    outcomes, ratings = axes
    heights, all_kept = range(len(bars)), [kept for _, kept, _ in bars]
    outcomes.barh(heights, all_kept, color=GOOD, label="kept")
    outcomes.barh(heights, [broken for *_, broken in bars], left=all_kept, color=BAD, label="broken")
    outcomes.set(xlabel="pledges", yticks=heights, yticklabels=[label for label, *_ in bars])
    outcomes.invert_yaxis()
    outcomes.legend(fontsize=7)
    dots = Counter((float(100 * one.share_kept), one.rating) for one in rated)
    largest = max(dots.values(), default=1)
    for (share, rating), count in sorted(dots.items()):
        ratings.scatter(share, rating, s=12 + 160 * count / largest, color="#4477aa", alpha=0.5, linewidths=0)
    ratings.set(xlabel="pledges kept, in percent", ylabel="final rating", xlim=(-5, 105), ylim=(0.5, 10.5))


def _pledge_bars(lineups: Sequence[LineupSummary]) -> Iterator[tuple[str, int, int]]:
    for lineup in lineups:
        for player in lineup.players:
            if player.pledges_kept or player.pledges_broken:
                label = label_text(f"{lineup.title}: {player.player}")
                yield label, player.pledges_kept, player.pledges_broken
