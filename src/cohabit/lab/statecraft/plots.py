"""The plots of a report as SVG text. Matplotlib is an optional dependency; without it there are no plots."""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from cohabit.lab.estimates import Estimate
from cohabit.lab.plots import escaped
from cohabit.lab.statecraft.summaries import Curve, LineupSummary, RatedPledges

COLOURS = (
    "#3366aa", "#cc5533", "#448855", "#aa7722", "#885599", "#338899", "#bb4477", "#777733", "#555555", "#99aabb",
    "#dd9977", "#88bb88",
)  # fmt: skip
INCOME_COLOURS = {
    "unspent": "#99aabb", "grants_paid": "#448855", "military_spending": "#aa7722", "income_destroyed": "#cc5533",
}  # fmt: skip
"""The uses of the gross income."""
PLOTS_PER_ROW = 3


def draw(lineups: Sequence[LineupSummary], rated: Sequence[RatedPledges]) -> dict[str, str]:
    """All plots by name."""
    plots = {
        "welfare": lambda: _welfare(lineups),
        "results": lambda: _results(lineups),
        "cooperation": lambda: _curves(lineups, "cooperation_over_time", "cooperation index"),
        "gini": lambda: _curves(lineups, "gini_over_time", "Gini of the welfare so far"),
        "wars": lambda: _wars(lineups),
        "pledges": lambda: _pledges(lineups, rated),
    }
    return {name: _svg(name, make) for name, make in plots.items()}


def _svg(name: str, make: Any) -> str:
    """Reproducible (no date, no random ids), and with ids of its own, because all plots are in one page."""
    import matplotlib

    matplotlib.use("svg")
    style: Any = {
        "svg.hashsalt": f"cohabit {name}", "svg.fonttype": "none", "svg.id": name, "font.family": "sans-serif",
        "font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "axes.spines.top": False, "axes.spines.right": False,
        "figure.constrained_layout.use": True,
    }  # fmt: skip
    from matplotlib import pyplot

    with matplotlib.rc_context(style):
        figure = make()
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]  # without the XML declaration


def _figure(rows: int = 1, columns: int = 1, size: tuple[float, float] = (8, 3.2), **more: Any) -> Any:
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=size, squeeze=False, **more)


def _points(curve: Curve) -> tuple[list[int], list[float]]:
    present = [(turn, float(value)) for turn, value in enumerate(curve) if value is not None]
    return [turn for turn, _ in present], [value for _, value in present]


def _colours(names: Sequence[str]) -> dict[str, str]:
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}


def _player_colours(lineups: Sequence[LineupSummary]) -> dict[str, str]:
    return _colours(sorted({player.player for lineup in lineups for player in lineup.players}))


def _welfare(lineups: Sequence[LineupSummary]) -> Any:
    rows, colours = ceil(len(lineups) / PLOTS_PER_ROW), _player_colours(lineups)
    figure, axes = _figure(rows, min(PLOTS_PER_ROW, len(lineups)), (9, 2.6 * rows), sharex=True, sharey=True)
    for plot, lineup in zip(axes.flat, lineups, strict=False):
        for player in lineup.players:
            colour, name = colours[player.player], escaped(player.player)
            plot.plot(*_points(player.welfare_over_time), color=colour, label=name, lw=1.6)
        plot.set_title(escaped(lineup.title), fontsize=9)
        plot.legend(fontsize=7)
    for plot in axes.flat[len(lineups) :]:
        plot.set_axis_off()
    figure.supxlabel("turn")
    figure.supylabel("welfare per nation")
    return figure


def _curves(lineups: Sequence[LineupSummary], curve: str, label: str) -> Any:
    figure, axes = _figure(size=(9, 3.2))
    plot, colours = axes[0][0], _colours([lineup.title for lineup in lineups])
    for lineup in lineups:
        plot.plot(*_points(getattr(lineup, curve)), label=escaped(lineup.title), color=colours[lineup.title], lw=1.6)
    plot.set(xlabel="turn", ylabel=label)
    plot.axhline(0, color="#999999", lw=0.8)
    plot.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))  # beside the curves, not on them
    return figure


def _results(lineups: Sequence[LineupSummary]) -> Any:
    rows = [(lineup, player) for lineup in lineups for player in lineup.players]
    figure, axes = _figure(size=(9, 0.8 + 0.26 * len(rows)))
    plot, colours = axes[0][0], _player_colours(lineups)
    for height, (_, player) in enumerate(rows):
        welfare, colour = player.welfare, colours[player.player]
        plot.errorbar(float(welfare.mean), height, xerr=welfare.half_width or 0, fmt="o", color=colour, capsize=3)
    labels = [escaped(f"{lineup.title}: {player.player} × {player.nations}") for lineup, player in rows]
    plot.set(xlabel="welfare per nation and turn, with 95 % interval", yticks=range(len(rows)), yticklabels=labels)
    plot.set_xlim(left=0)
    plot.invert_yaxis()
    return figure


def _wars(lineups: Sequence[LineupSummary]) -> Any:
    figure, axes = _figure(1, 2, (9, 1.0 + 0.32 * len(lineups)), sharey=True)
    wars, income = axes[0]
    heights, titles = range(len(lineups)), [escaped(lineup.title) for lineup in lineups]
    wars.barh(heights, [float(lineup.wars.mean) for lineup in lineups], color="#cc5533",
              xerr=[lineup.wars.half_width or 0 for lineup in lineups], capsize=3)  # fmt: skip
    wars.set(xlabel="wars per round", yticks=heights, yticklabels=titles)
    start = [0.0] * len(lineups)
    for use, colour in INCOME_COLOURS.items():
        widths = [_income_share(lineup, use) for lineup in lineups]
        income.barh(heights, widths, left=start, color=colour, label=use.replace("_", " "))
        start = [left + width for left, width in zip(start, widths, strict=True)]
    income.set(xlabel="use of the gross income, in percent")
    income.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    wars.invert_yaxis()
    return figure


def _income_share(lineup: LineupSummary, use: str) -> float:
    if use == "unspent":
        return float(100 - lineup.grants_paid.mean - lineup.military_spending.mean - lineup.income_destroyed.mean)
    share: Estimate = getattr(lineup, use)
    return float(share.mean)


def _pledges(lineups: Sequence[LineupSummary], rated: Sequence[RatedPledges]) -> Any:
    bars = list(_pledge_bars(lineups))
    figure, axes = _figure(1, 2, (9, max(3.2, 0.8 + 0.24 * len(bars))))
    outcomes, ratings = axes[0]
    heights, all_kept = range(len(bars)), [kept for _, kept, _ in bars]
    outcomes.barh(heights, all_kept, color="#448855", label="kept")
    outcomes.barh(heights, [broken for *_, broken in bars], left=all_kept, color="#cc5533", label="broken")
    outcomes.set(xlabel="pledges", yticks=heights, yticklabels=[label for label, *_ in bars])
    outcomes.invert_yaxis()
    outcomes.legend(fontsize=7)
    dots = Counter((float(100 * one.share_kept), one.rating) for one in rated)
    largest = max(dots.values(), default=1)
    for (share, rating), count in sorted(dots.items()):
        ratings.scatter(share, rating, s=12 + 160 * count / largest, color="#3366aa", alpha=0.5, linewidths=0)
    ratings.set(xlabel="pledges kept, in percent", ylabel="final rating", xlim=(-5, 105), ylim=(0.5, 10.5))
    return figure


def _pledge_bars(lineups: Sequence[LineupSummary]) -> Iterator[tuple[str, int, int]]:
    for lineup in lineups:
        for player in lineup.players:
            if player.pledges_kept or player.pledges_broken:
                label = escaped(f"{lineup.title}: {player.player}")
                yield label, player.pledges_kept, player.pledges_broken
