"""``python tools/statecraft_dilemma.py``: play the dilemma of Statecraft and write docs/statecraft-dilemma.md.

It calculates with integers only, so the page is the same on every machine. A test checks that it is up to date.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from cohabit.worlds.statecraft.batch import play
from cohabit.worlds.statecraft.rules import Rules

PAGE = Path(__file__).resolve().parent.parent / "docs" / "statecraft-dilemma.md"
GAMES, TURNS, SEED = 32, 24, 2026
NAMES = ("Aria", "Boru", "Cael", "Dune")
RULES = Rules()

DILEMMA: dict[str, tuple[str, ...]] = {
    "All passive": ("passive",) * 4,
    "Full ring": ("ring_builder",) * 4,
    "One free rider in a ring": ("free_rider", "ring_builder", "ring_builder", "ring_builder"),
    "One hawk against a ring": ("hawk", "ring_builder", "ring_builder", "ring_builder"),
    "Four hawks": ("hawk",) * 4,
}
RESPONDERS: dict[str, tuple[str, ...]] = {
    "A free rider among tit for tat": ("free_rider", "tit_for_tat", "tit_for_tat", "tit_for_tat"),
    "A hawk among tit for tat": ("hawk", "tit_for_tat", "tit_for_tat", "tit_for_tat"),
    "A hawk among grudgers": ("hawk", "grudger", "grudger", "grudger"),
    "A hawk among peace enforcers": ("hawk", "peace_enforcer", "peace_enforcer", "peace_enforcer"),
    "Four tit for tat": ("tit_for_tat",) * 4,
    "Four peace enforcers": ("peace_enforcer",) * 4,
}
HEAD = f"""# The dilemma, measured

Made by `python tools/statecraft_dilemma.py`. Four scripted nations play {TURNS} turns without letters, with the default
constants and no army at the start: {GAMES * len(NAMES)} games per line, on {GAMES} assignments of {len(NAMES) * 5}
territories, with every role in every seat. Each nation grants to the column on its right, the fourth to the first.

* **Welfare** (bold): per 100 of the nation's income. Doing nothing gives 100.
* **[Cooperation index](statecraft.md#the-rules)**: 1 for a full ring of grants, 0 for none, negative in a war.
* **Destroyed** income, and **military** costs, per 100 of the total income.
"""
HOW_TO_REPEAT = """
## Run your own

`play` plays a batch of games. Each array of the result is turns x games x nations, with the nations in name order.

```python
from cohabit.worlds.statecraft.batch import play
from cohabit.worlds.statecraft.rules import Rules

lineup = {"Aria": "grudger", "Boru": "hawk", "Cael": "trader"}
result = play(lineup, games=1000, turns=24, rules=Rules(), seed=1, noise=5)
print(result.nations, result.welfare.sum(axis=0).mean(axis=0))
```

Every game has its own assignment of territories. `noise` says how many of 100 answers are lost; without it, many games
of a batch have the same course.

For policies of your own, `batch.step(state, orders, rules)` takes the orders of all games as arrays, with exactly the
results of the plain engine. The games of a batch share their map and their nations. Numbers that could overflow 64 bits
are refused with `BadArgs`. `batch.convert.to_game_state` gives one game of a batch to the plain engine. Only the deal
differs: an enclosed nation takes nothing from its neighbours, and the most equal of four deals is used.

## On a GPU

`step` uses the library of the arrays that it is given, and `play` the one in `xp`, through
[array-api-compat](https://data-apis.org/array-api-compat/) in the extra `gpu`. Install the library for your hardware:

```text
pip install 'cohabit[gpu]' cupy-cuda13x
```

```text
import cupy
result = play(lineup, games=131_072, turns=24, rules=Rules(), seed=1, xp=cupy)
```

Tried by hand with CuPy 14.2 on one NVIDIA H200 and eight nations: the results are those of NumPy. A step runs at
170,000 game-turns a second with 1,024 games and 17 million with 131,072; with scripted nations that decide, `play`
reaches 2 million. With fewer than about 4,000 games NumPy is as fast."""


class Totals(Struct):
    """The sums over all games of a line-up. Lists are by role."""

    welfare: list[int]
    income: list[int]
    destroyed: int = 0
    granted: int = 0

    def rate(self, role: int) -> int:
        return percent(self.welfare[role], self.income[role])

    @property
    def together(self) -> int:
        return percent(sum(self.welfare), sum(self.income))

    @property
    def destroyed_rate(self) -> int:
        return percent(self.destroyed, sum(self.income))

    @property
    def military_rate(self) -> int:
        """The income that was neither destroyed nor granted nor kept."""
        factor = RULES.trade_numerator - RULES.trade_denominator
        without_bonus = sum(self.welfare) - self.granted * factor // RULES.trade_denominator
        return percent(sum(self.income) - self.destroyed - without_bonus, sum(self.income))

    @property
    def index(self) -> str:
        """The cooperation index with two decimals, calculated with integers."""
        gain = (sum(self.welfare) - sum(self.income)) * RULES.trade_denominator
        hundredths = percent(gain, sum(self.income) * (RULES.trade_numerator - RULES.trade_denominator))
        return f"{'-' if hundredths < 0 else ''}{abs(hundredths) // 100}.{abs(hundredths) % 100:02}"


def percent(part: int, whole: int) -> int:
    """In percent, rounded to the nearest integer."""
    return (200 * part + whole) // (2 * whole)


def play_lineup(kinds: Sequence[str]) -> Totals:
    """Play a line-up in all its rotations."""
    size = len(kinds)
    totals = Totals([0] * size, [0] * size)
    for rotation in range(size):
        lineup = {name: kinds[(seat - rotation) % size] for seat, name in enumerate(NAMES)}
        result = play(lineup, GAMES, TURNS, RULES, SEED)
        for seat in range(size):
            totals.welfare[(seat - rotation) % size] += int(result.welfare[:, :, seat].sum())
            totals.income[(seat - rotation) % size] += int(result.income[:, :, seat].sum())
        # Damage beyond the income of the target destroys nothing.
        totals.destroyed += int(result.end.xp.minimum(result.damage, result.income).sum())
        totals.granted += int(result.given.sum())
    return totals


def page() -> str:
    """The whole page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    results = {title: play_lineup(kinds) for title, kinds in (DILEMMA | RESPONDERS).items()}
    yield HEAD
    yield from _table(DILEMMA, results)
    yield from ("", *_conclusions(results), "", "## Nations that respond", "")
    yield "The free rider and the hawk among nations that respond to how they are treated, and those among themselves:"
    yield ""
    yield from _table(RESPONDERS, results)
    yield HOW_TO_REPEAT


def _table(lineups: dict[str, tuple[str, ...]], results: dict[str, Totals]) -> Iterator[str]:
    yield "| line-up | first | second | third | fourth | all | cooperation index | destroyed | military |"
    yield "|---|" + "---:|" * 8
    for title, kinds in lineups.items():
        one = results[title]
        each = " | ".join(f"{kind.replace('_', ' ')} **{one.rate(role)}**" for role, kind in enumerate(kinds))
        yield f"| {title} | {each} | {one.together} | {one.index} | {one.destroyed_rate} | {one.military_rate} |"


def _conclusions(results: dict[str, Totals]) -> Iterator[str]:
    """The first table in words, with its numbers."""
    ring, rider = results["Full ring"], results["One free rider in a ring"]
    hawk, hawks = results["One hawk against a ring"], results["Four hawks"]
    yield (
        f"In a full ring every nation has {ring.rate(0)}, the maximum for all together. A nation that leaves the ring"
        f" has {rider.rate(0)}, and the next nation is left with {rider.rate(1)}. In a single turn a grant never pays"
        f" for the giver; if all keep everything, all are back at {results['All passive'].rate(0)}."
    )
    yield ""
    yield (
        f"War is worse. A hawk in the ring has {hawk.rate(0)}, less than a free rider, because an army earns nothing."
        f" All nations together have {hawk.together} with one hawk, and {hawks.together} with four."
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
