"""The pictures of a report, as SVG text. Matplotlib is an extra: where it is not installed, there are none."""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from math import ceil
from typing import Any

from cohabit.lab.findings import Curve, Lineup, Word
from cohabit.lab.intervals import Estimate

COLOURS = (
    "#3366aa", "#cc5533", "#448855", "#aa7722", "#885599", "#338899", "#bb4477", "#777733", "#555555", "#99aabb",
    "#dd9977", "#88bb88",
)  # fmt: skip
PARTS = {"kept": "#99aabb", "granted": "#448855", "arms": "#aa7722", "burnt": "#cc5533"}
"""Where the income goes."""
ACROSS = 3
"""Small pictures beside each other."""


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def draw(found: Sequence[Lineup], words: Sequence[Word]) -> dict[str, str]:
    """Every picture by its name."""
    pictures = {
        "welfare": lambda: _welfare(found),
        "results": lambda: _results(found),
        "cooperation": lambda: _curves(found, "cooperation_over_time", "cooperation index"),
        "gini": lambda: _curves(found, "gini_over_time", "Gini of the welfare so far"),
        "wars": lambda: _wars(found),
        "promises": lambda: _promises(found, words),
    }
    return {name: _svg(name, make) for name, make in pictures.items()}


def _svg(name: str, make: Any) -> str:
    """The same text every time: no date, no random ids; and ids of its own, since all stand in one page."""
    import matplotlib

    matplotlib.use("svg")
    look: Any = {
        "svg.hashsalt": f"cohabit {name}", "svg.fonttype": "none", "svg.id": name, "font.family": "sans-serif",
        "font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "axes.spines.top": False, "axes.spines.right": False,
        "figure.constrained_layout.use": True,
    }  # fmt: skip
    from matplotlib import pyplot

    with matplotlib.rc_context(look):
        figure = make()
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]  # without the head of a file


def _figure(rows: int = 1, columns: int = 1, size: tuple[float, float] = (8, 3.2), **more: Any) -> Any:
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=size, squeeze=False, **more)


def _points(curve: Curve) -> tuple[list[int], list[float]]:
    there = [(turn, float(value)) for turn, value in enumerate(curve) if value is not None]
    return [turn for turn, _ in there], [value for _, value in there]


def _colours(names: Sequence[str]) -> dict[str, str]:
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}


def _kinds(found: Sequence[Lineup]) -> dict[str, str]:
    return _colours(sorted({kind.plays for lineup in found for kind in lineup.kinds}))


def _plain(text: str) -> str:
    """Titles are other people's text; a dollar would begin a formula."""
    return text.replace("$", r"\$")


def _welfare(found: Sequence[Lineup]) -> Any:
    rows, colours = ceil(len(found) / ACROSS), _kinds(found)
    figure, axes = _figure(rows, min(ACROSS, len(found)), (9, 2.6 * rows), sharex=True, sharey=True)
    for place, lineup in zip(axes.flat, found, strict=False):
        for kind in lineup.kinds:
            place.plot(*_points(kind.over_time), color=colours[kind.plays], label=_plain(kind.plays), lw=1.6)
        place.set_title(_plain(lineup.title), fontsize=9)
        place.legend(fontsize=7)
    for place in axes.flat[len(found) :]:
        place.set_axis_off()
    figure.supxlabel("turn")
    figure.supylabel("welfare per nation")
    return figure


def _curves(found: Sequence[Lineup], which: str, label: str) -> Any:
    figure, axes = _figure(size=(9, 3.2))
    place, colours = axes[0][0], _colours([lineup.title for lineup in found])
    for lineup in found:
        place.plot(*_points(getattr(lineup, which)), label=_plain(lineup.title), color=colours[lineup.title], lw=1.6)
    place.set(xlabel="turn", ylabel=label)
    place.axhline(0, color="#999999", lw=0.8)
    place.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))  # beside the curves, not on them
    return figure


def _results(found: Sequence[Lineup]) -> Any:
    rows = [(lineup, kind) for lineup in found for kind in lineup.kinds]
    figure, axes = _figure(size=(9, 0.8 + 0.26 * len(rows)))
    place, colours = axes[0][0], _kinds(found)
    for height, (_, kind) in enumerate(rows):
        place.errorbar(
            float(kind.welfare.mean), height, xerr=kind.welfare.half or 0, fmt="o", color=colours[kind.plays], capsize=3
        )
    labels = [_plain(f"{lineup.title}: {kind.plays} × {kind.seats}") for lineup, kind in rows]
    place.set(xlabel="welfare per nation and turn, with 95 % interval", yticks=range(len(rows)), yticklabels=labels)
    place.set_xlim(left=0)
    place.invert_yaxis()
    return figure


def _wars(found: Sequence[Lineup]) -> Any:
    figure, axes = _figure(1, 2, (9, 1.0 + 0.32 * len(found)), sharey=True)
    wars, money = axes[0]
    heights, titles = range(len(found)), [_plain(lineup.title) for lineup in found]
    wars.barh(heights, [float(lineup.wars.mean) for lineup in found], color="#cc5533",
              xerr=[lineup.wars.half or 0 for lineup in found], capsize=3)  # fmt: skip
    wars.set(xlabel="wars per round", yticks=heights, yticklabels=titles)
    start = [0.0] * len(found)
    for part, colour in PARTS.items():
        widths = [_part(lineup, part) for lineup in found]
        money.barh(heights, widths, left=start, color=colour, label=part)
        start = [left + width for left, width in zip(start, widths, strict=True)]
    money.set(xlabel="where the income went, in percent")
    money.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    wars.invert_yaxis()
    return figure


def _part(lineup: Lineup, part: str) -> float:
    if part == "kept":
        return float(100 - lineup.granted.mean - lineup.arms.mean - lineup.burnt.mean)
    share: Estimate = getattr(lineup, part)
    return float(share.mean)


def _promises(found: Sequence[Lineup], words: Sequence[Word]) -> Any:
    bars = list(_promise_bars(found))
    figure, axes = _figure(1, 2, (9, max(3.2, 0.8 + 0.24 * len(bars))))
    made, rated = axes[0]
    heights = range(len(bars))
    made.barh(heights, [kept for _, kept, _ in bars], color="#448855", label="kept")
    made.barh(
        heights, [broken for *_, broken in bars], left=[kept for _, kept, _ in bars], color="#cc5533", label="broken"
    )
    made.set(xlabel="promises", yticks=heights, yticklabels=[label for label, *_ in bars])
    made.invert_yaxis()
    made.legend(fontsize=7)
    dots = Counter((float(100 * word.share), word.rating) for word in words)
    most = max(dots.values(), default=1)
    for (share, rating), often in sorted(dots.items()):
        rated.scatter(share, rating, s=12 + 160 * often / most, color="#3366aa", alpha=0.5, linewidths=0)
    rated.set(xlabel="promises kept, in percent", ylabel="rating of its word", xlim=(-5, 105), ylim=(0.5, 10.5))
    return figure


def _promise_bars(found: Sequence[Lineup]) -> Iterator[tuple[str, int, int]]:
    for lineup in found:
        for kind in lineup.kinds:
            if kind.kept or kind.broken:
                yield _plain(f"{lineup.title}: {kind.plays}"), kind.kept, kind.broken
