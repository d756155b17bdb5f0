"""The page about the long run of Kingdoms: tables, and charts drawn with Matplotlib (extra `bench`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kingdoms_soak_results import Alone, Fought, Results

DOCS = Path(__file__).resolve().parent.parent / "docs"
COLOURS = {"warlord": "#c0392b", "steward": "#2471a3", None: "#7f8c8d"}
HEAD = """# Kingdoms, the long run

Made by `make soak` (or `python tools/kingdoms_soak.py`): built-in players play whole matches in real rooms. The results
depend on the seeds alone, so they are the same on every machine.
"""


def write_page(results: Results) -> None:
    """Write the page and its charts."""
    images = DOCS / "images"
    _draw_matches(results.matches, images / "kingdoms-matches.svg")
    _draw_worlds(results.alone, images / "kingdoms-alone.svg")
    (DOCS / "kingdoms-soak.md").write_text("\n".join(_lines(results)) + "\n", encoding="utf-8")


# -- text -----------------------------------------------------------------------------------------
def _lines(results: Results) -> Iterator[str]:
    yield HEAD
    claims = [(claim.words, claim.seen, "yes" if claim.holds else "**no**") for claim in results.claims()]
    yield from _table(("requirement", "result", "met"), claims)
    yield from _of_matches(results.matches)
    yield from _of_passive(results.passive)
    yield from _of_alone(results.alone)


def _of_matches(matches: Sequence[Fought]) -> Iterator[str]:
    yield from ("", "## Warlord against steward", "")
    seeds = len({match.seed for match in matches})
    yield f"The preset `pvp` on {seeds} seeds, each played twice with the seats swapped."
    yield from (
        "",
        "![Length and winner of the matches](images/kingdoms-matches.svg)",
        "",
        "Wins and losses by race:",
        "",
    )
    yield from _table(("race", "won", "lost"), list(_by_race(matches)))


def _by_race(matches: Sequence[Fought]) -> Iterator[tuple[str, int, int]]:
    over = [match for match in matches if match.winner is not None]
    for race in sorted({race for match in over for race in match.races}):
        played = [match.winning_race == race for match in over if race in match.races]
        yield race, sum(played), len(played) - sum(played)


def _of_passive(matches: Sequence[Fought]) -> Iterator[str]:
    yield from ("", "## Warlord against a passive player", "")
    ticks = sorted(match.tick for match in matches)
    wins = sum(match.winning_brain is not None for match in matches)
    yield f"The warlord wins on {wins} of {len(matches)} seeds, after {ticks[0]:,} to {ticks[-1]:,} ticks."


def _of_alone(worlds: Sequence[Alone]) -> Iterator[str]:
    yield from ("", "## Without players", "", f"{len(worlds)} worlds without players, 50,000 ticks each.", "")
    yield from ("![The worlds over time](images/kingdoms-alone.svg)", "")
    head = "seed", "kingdoms at the end", "people at the end", "wars begun", "wars ended", "cities taken", "rebellions"
    rows = [
        (w.seed, w.kingdoms, w.samples[-1].people, w.wars_begun, w.wars_ended, w.cities_taken, w.rebellions, w.silence)
        for w in worlds
    ]
    yield from _table((*head, "longest time without news, in ticks"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


# -- charts ---------------------------------------------------------------------------------------
def _figure(rows: int, height: float) -> tuple[Any, Any]:
    import matplotlib  # imported here, because only a finished run needs it

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "cohabit", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(rows, 1, figsize=(8, height), sharex=True, layout="constrained")
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})


def _draw_matches(matches: Sequence[Fought], path: Path) -> None:
    figure, axes = _figure(1, 3)
    for brain, colour in COLOURS.items():
        found = [match for match in matches if match.winning_brain == brain]
        if found:
            label = f"{brain or 'nobody'} wins ({len(found)})"
            axes.scatter([m.seed for m in found], [m.tick for m in found], color=colour, label=label, alpha=0.8)
    axes.set(xlabel="seed", ylabel="ticks", ylim=(0, None), xticks=sorted({match.seed for match in matches}))
    axes.legend()
    _save(figure, path)


def _draw_worlds(worlds: Sequence[Alone], path: Path) -> None:
    figure, rows = _figure(3, 8)
    for axes, what in zip(rows, ("people", "kingdoms", "wars"), strict=True):
        for world in worlds:
            ticks = [sample.tick for sample in world.samples]
            axes.plot(ticks, [getattr(sample, what) for sample in world.samples], label=f"seed {world.seed}", lw=1)
        axes.set(ylabel=what, ylim=(0, None))
    rows[0].legend(ncols=5, fontsize=7)
    rows[-1].set(xlabel="tick")
    _save(figure, path)
