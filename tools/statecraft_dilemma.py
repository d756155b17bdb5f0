"""``python tools/statecraft_dilemma.py``: play the dilemma of Statecraft and write docs/statecraft-dilemma.md.

Whole numbers all the way, so the page is the same on every machine, and a test asks whether it is fresh.
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
ANSWERS: dict[str, tuple[str, ...]] = {
    "A free rider among tit for tat": ("free_rider", "tit_for_tat", "tit_for_tat", "tit_for_tat"),
    "A hawk among tit for tat": ("hawk", "tit_for_tat", "tit_for_tat", "tit_for_tat"),
    "A hawk among grudgers": ("hawk", "grudger", "grudger", "grudger"),
    "A hawk among peace enforcers": ("hawk", "peace_enforcer", "peace_enforcer", "peace_enforcer"),
    "Four tit for tat": ("tit_for_tat",) * 4,
    "Four peace enforcers": ("peace_enforcer",) * 4,
}
HEAD = f"""# The dilemma, measured

Made by `python tools/statecraft_dilemma.py`; a test says when it is no longer fresh.

Four scripted nations play {TURNS} turns with the constants as they come and no army to begin with, on one map of
{len(NAMES) * 5} territories dealt in {GAMES} ways. Each deal is played four times, with the roles moved on by one
seat, so that everybody has everybody's land: {GAMES * len(NAMES)} games for each line. Nations stand in the order
of the ring: who gives to the next gives to the column on the right, the fourth to the first.

* **Welfare**: what a nation made of each 100 of its land's income. Doing nothing gives 100.
* **Cooperation index**: (all welfare / all income - 1) / (trade factor - 1). Everybody giving everything round a ring
  gives 1, doing nothing gives 0, war gives less than 0.
* **Burnt**: of each 100 of all income, what attacks destroyed. **Armed**: what went into buying and keeping armies.
"""
YOURSELF = """
## Measure your own

`play` plays whole batches of the scripted nations; each array it returns is turns x games x nations, nations in name
order.

```python
from cohabit.worlds.statecraft.batch import play
from cohabit.worlds.statecraft.rules import Rules

lineup = {"Aria": "grudger", "Boru": "hawk", "Cael": "trader"}
played = play(lineup, games=1000, turns=24, rules=Rules(), seed=1)
print(played.nations, played.welfare.sum(axis=0).mean(axis=0))
```

Below it, `batch.step(standing, orders, rules)` takes the orders of all games as arrays, for policies of your own.
Games of one batch share their map and their nations. It comes to the same, number for number, as the plain engine;
only numbers that might not fit into 64 bits are refused (`BadArgs`)."""


class Found(Struct):
    """The sums over all games of a line-up; lists are by role."""

    welfare: list[int]
    income: list[int]
    burnt: int = 0
    given: int = 0

    def rate(self, role: int) -> int:
        return percent(self.welfare[role], self.income[role])

    @property
    def together(self) -> int:
        return percent(sum(self.welfare), sum(self.income))

    @property
    def burnt_rate(self) -> int:
        return percent(self.burnt, sum(self.income))

    @property
    def armed_rate(self) -> int:
        """Money that neither burnt, nor was given, nor stayed."""
        factor = RULES.trade_numerator - RULES.trade_denominator
        stayed = sum(self.welfare) - self.given * factor // RULES.trade_denominator  # grants count without their bonus
        return percent(sum(self.income) - self.burnt - stayed, sum(self.income))

    @property
    def index(self) -> str:
        """With two decimals, by whole numbers only."""
        gain = (sum(self.welfare) - sum(self.income)) * RULES.trade_denominator
        hundredths = percent(gain, sum(self.income) * (RULES.trade_numerator - RULES.trade_denominator))
        return f"{'-' if hundredths < 0 else ''}{abs(hundredths) // 100}.{abs(hundredths) % 100:02}"


def percent(part: int, whole: int) -> int:
    """Of a hundred, to the nearest whole number."""
    return (200 * part + whole) // (2 * whole)


def measured(kinds: Sequence[str]) -> Found:
    """Play a line-up in all its rotations."""
    size = len(kinds)
    found = Found([0] * size, [0] * size)
    for moved in range(size):
        lineup = {name: kinds[(seat - moved) % size] for seat, name in enumerate(NAMES)}
        played = play(lineup, GAMES, TURNS, RULES, SEED)
        for seat in range(size):
            found.welfare[(seat - moved) % size] += int(played.welfare[:, :, seat].sum())
            found.income[(seat - moved) % size] += int(played.income[:, :, seat].sum())
        # What attacks do beyond the income of their victim burns nothing.
        found.burnt += int(played.end.board.xp.minimum(played.damage, played.income).sum())
        found.given += int(played.given.sum())
    return found


def page() -> str:
    """The whole page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    found = {title: measured(kinds) for title, kinds in (DILEMMA | ANSWERS).items()}
    yield HEAD
    yield from _table(DILEMMA, found)
    yield from ("", *_lesson(found), "", "## Nations that answer", "")
    yield "Over many turns it pays to be somebody whom others answer well. The same two among nations that answer what"
    yield "is done to them, and those nations among themselves:"
    yield ""
    yield from _table(ANSWERS, found)
    yield YOURSELF


def _table(lineups: dict[str, tuple[str, ...]], found: dict[str, Found]) -> Iterator[str]:
    yield "| line-up | first | second | third | fourth | all together | cooperation index | burnt | armed |"
    yield "|---|" + "---:|" * 8
    for title, kinds in lineups.items():
        one = found[title]
        each = " | ".join(f"{kind.replace('_', ' ')} **{one.rate(role)}**" for role, kind in enumerate(kinds))
        yield f"| {title} | {each} | {one.together} | {one.index} | {one.burnt_rate} | {one.armed_rate} |"


def _lesson(found: dict[str, Found]) -> Iterator[str]:
    """What the first table says, in words, with its own numbers."""
    ring, rider = found["Full ring"], found["One free rider in a ring"]
    hawk, hawks = found["One hawk against a ring"], found["Four hawks"]
    yield (
        f"In a full ring everybody has {ring.rate(0)}, and together they cannot have more. But who leaves it has"
        f" {rider.rate(0)}, and the next one pays for that with {rider.rate(1)}. In any one turn what a nation gives"
        " away is lost to it, whatever the others do: keeping everything is the best answer of each, and if each"
        f" gives that answer, all are back at {found['All passive'].rate(0)}."
    )
    yield ""
    yield (
        f"War is the other way down. A hawk in the ring has {hawk.rate(0)}, less than if it only kept what it has:"
        f" an army earns nothing, it costs and burns. It leaves {hawk.together} to all together, and four hawks"
        f" {hawks.together}."
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
