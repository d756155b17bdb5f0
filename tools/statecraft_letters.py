"""``python tools/statecraft_letters.py``: measure what honesty, free-riding and lies are worth among built-in nations.

It plays the nations of the scenario ``statecraft`` with another player in the place of one of them, and writes the
table of docs/statecraft-world.md. It calculates with integers only, so the table is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from cohabit.agents.brains.statecraft import NATIONS
from cohabit.scenario import read_scenario
from cohabit.worlds.statecraft.agent_input import build_agent_input
from cohabit.worlds.statecraft.maps import make_map
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.setup import initial_state
from cohabit.worlds.statecraft.state import TurnResult
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.world import NATION_NAMES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "statecraft-world.md"
BEGIN, END = "<!-- letters: written by tools/statecraft_letters.py -->\n", "<!-- end of letters -->\n"
GAMES, TURNS = 60, 20
RULES = Rules()
PLAYERS = {
    "diplomat": "returns grants and keeps its word (`diplomat`)",
    "trader": "grants to everybody (`trader`)",
    "passive": "grants and promises nothing (`passive`)",
    "free_rider": "promises and pays nothing (`free_rider`)",
}


def default_nations() -> list[str]:
    """The nations of the scenario ``statecraft``, in the order of its seats."""
    brains = [agent.brain for agent in read_scenario("statecraft").agents]
    return [brain.replace("-", "_") for brain in brains if brain is not None]


class Result(Struct):
    """Sums over all games: of the player, and of the nations that it plays with."""

    welfare: int = 0
    income: int = 0
    wins: int = 0
    welfare_of_others: int = 0
    income_of_others: int = 0

    @property
    def rate(self) -> int:
        return percent(self.welfare, self.income)

    @property
    def rate_of_others(self) -> int:
        return percent(self.welfare_of_others, self.income_of_others)


def percent(part: int, whole: int) -> int:
    """In percent, rounded to the nearest integer."""
    return (200 * part + whole) // (2 * whole)


def measure(player: str, *, letters: bool, games: int) -> Result:
    """Games in which this player replaces each nation in turn. Without ``letters`` the others play their rules only."""
    result, nations = Result(), default_nations()
    for game in range(games):
        seat = game % len(nations)
        welfare, income = play([*nations[:seat], player, *nations[seat + 1 :]], seat, game, letters=letters)
        result.welfare += welfare[seat]
        result.income += income[seat]
        result.wins += welfare[seat] == max(welfare)
        result.welfare_of_others += sum(welfare) - welfare[seat]
        result.income_of_others += sum(income) - income[seat]
    return result


def play(kinds: Sequence[str], seat: int, seed: int, *, letters: bool) -> tuple[list[int], list[int]]:
    """The welfare and the income of each nation in one game."""
    names = NATION_NAMES[: len(kinds)]
    nations = {name: NATIONS[kind]() for name, kind in zip(names, kinds, strict=True)}
    state = initial_state(make_map("world", seed, 0, "elbow"), names, 0, seed)
    last: TurnResult | None = None
    income = dict.fromkeys(names, 0)
    for turn in range(TURNS):
        answers = {}
        for name, nation in nations.items():
            seen = build_agent_input(state, name, RULES, turns_left=TURNS - turn, last=last)
            answers[name] = nation.act(seen) if letters or name == names[seat] else nation.rule(seen)
        last = run_turn(state, answers, RULES)
        state = last.end
        for name in names:
            income[name] += last.ledgers.d_gross_income[name]
    return [state.welfare[name] for name in names], [income[name] for name in names]


def table(games: int = GAMES) -> Iterator[str]:
    yield "| a player that | its welfare if they read no letters | if they read letters | welfare of the others |"
    yield "|---|---:|---:|---:|"
    for player, title in PLAYERS.items():
        before, after = (measure(player, letters=letters, games=games) for letters in (False, True))
        welfare = f"{before.rate} ({before.wins} wins) | {after.rate} ({after.wins} wins)"
        yield f"| {title} | {welfare} | {before.rate_of_others} → {after.rate_of_others} |"


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(
        "".join([before, BEGIN, "\n", *(f"{line}\n" for line in table()), "\n", END, after]), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
