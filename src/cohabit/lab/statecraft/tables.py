"""All results as flat tables. Each is written as a CSV file and, row for row, as a JSONL file."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from cohabit.lab.statecraft import measures
from cohabit.lab.statecraft.pledges import PledgeOutcome, final_ratings, pledge_outcomes, ratings_with_history
from cohabit.lab.statecraft.rounds import Round
from cohabit.lab.tables import Kind, Row, write_table

SUM_COLUMNS = (
    "gross_income", "income_destroyed", "military_spending", "grants_paid", "grants_received", "welfare", "mils_lost",
)  # fmt: skip
"""The columns of a turn that are summed over a round."""
_SUMS, _PLEDGES = " ".join(SUM_COLUMNS), "pledges_kept pledges_broken pledges_open"
Rows = Callable[[Round], Iterable[Sequence[Any]]]


class RoundTable(NamedTuple):
    """The columns are listed, so that a table without rows still has a header. The first three are the place."""

    columns: list[str]
    rows: Rows

    def over(self, rounds: Iterable[Round]) -> Iterator[Row]:
        for played in rounds:
            for values in self.rows(played):
                yield dict(zip(self.columns, (*played.place, *values), strict=True))


TABLES: dict[str, RoundTable] = {}


def write_tables(rounds: Sequence[Round], folder: Path) -> None:
    """Write all tables row by row, because together they are larger than the rounds."""
    for name, table in TABLES.items():
        columns: dict[str, Kind] = dict.fromkeys(table.columns, "text")
        write_table(folder / f"{name}.csv", "csv", columns, table.over(rounds))
        write_table(folder / f"{name}.jsonl", "jsonl", columns, table.over(rounds))


def _table(name: str, columns: str) -> Callable[[Rows], Rows]:
    """A table of what the decorated function yields for each round, in these columns."""

    def add(rows: Rows) -> Rows:
        TABLES[name] = RoundTable(["lineup", "seed", "round", *columns.split()], rows)
        return rows

    return add


def _rounded(number: Fraction | None) -> float | None:
    return None if number is None else round(float(number), 6)


def _pledge_counts(outcomes: Sequence[PledgeOutcome]) -> Iterator[int]:
    return (sum(outcome.kept is kept for outcome in outcomes) for kept in (True, False, None))


@_table("by-round", f"nations turns {_SUMS} cooperation gini wars war_turns {_PLEDGES}")
def round_rows(played: Round) -> Iterator[Sequence[Any]]:
    fought, gini = measures.wars(played), measures.gini(measures.totals(played, "welfare"))
    yield (
        len(played.players), len(played.turns), *(measures.total(played.turns, column) for column in SUM_COLUMNS),
        _rounded(measures.cooperation(played)), _rounded(gini), len(fought), sum(war.turns for war in fought),
        *_pledge_counts(pledge_outcomes(played)),
    )  # fmt: skip


@_table("by-nation", f"nation player rank win {_SUMS} dropped mils territories {_PLEDGES} mean_keeps_word_rating")
def nation_rows(played: Round) -> Iterator[Sequence[Any]]:
    sums = [measures.totals(played, column) for column in (*SUM_COLUMNS, "dropped")]
    ranks, wins, outcomes = measures.ranks(played), measures.wins(played), pledge_outcomes(played)
    end = played.turns[-1]
    final = final_ratings(ratings_with_history(played))
    for i, (nation, player) in enumerate(played.players.items()):
        ratings = [entry.rating.keeps_word for entry in final if entry.rating.rated == nation]
        yield (
            nation, player, ranks[i], _rounded(wins[i]), *(values[i] for values in sums), end.mils[i],
            end.territories[i], *_pledge_counts([one for one in outcomes if one.pledge.author == nation]),
            _rounded(Fraction(sum(ratings), len(ratings))) if ratings else None,
        )  # fmt: skip


@_table("by-turn", f"turn nation player {_SUMS} mils territories dropped")
def turn_rows(played: Round) -> Iterator[Sequence[Any]]:
    for number, turn in enumerate(played.turns):
        columns = [getattr(turn, column) for column in (*SUM_COLUMNS, "mils", "territories", "dropped")]
        for i, (nation, player) in enumerate(played.players.items()):
            yield number, nation, player, *(values[i] for values in columns)


@_table("wars", "nation_a nation_b player_a player_b started_by first_turn last_turn mils income_destroyed")
def war_rows(played: Round) -> Iterator[Sequence[Any]]:
    for war in measures.wars(played):
        players = [played.players[nation] for nation in war.pair]
        yield *war.pair, *players, war.started_by, war.first, war.last, war.mils, _rounded(war.income_destroyed)


@_table("attacks", "turn attacker target mils")
def attack_rows(played: Round) -> Iterator[Sequence[Any]]:
    return ((number, *attack) for number, turn in enumerate(played.turns) for attack in turn.attacks)


@_table("grants", "turn giver receiver amount")
def grant_rows(played: Round) -> Iterator[Sequence[Any]]:
    return ((number, *grant) for number, turn in enumerate(played.turns) for grant in turn.grants)


@_table("pledges", "turn author player pledge target amount recipients done outcome")
def pledge_rows(played: Round) -> Iterator[Sequence[Any]]:
    for made, pledge, done, kept in pledge_outcomes(played):
        kind = "grant" if pledge.amount else "no attack"
        outcome = {True: "kept", False: "broken", None: "open"}[kept]
        player, recipients = played.players[pledge.author], " ".join(pledge.recipients)
        yield made, pledge.author, player, kind, pledge.target, pledge.amount, recipients, done, outcome


@_table("ratings", "turn rater rated keeps_word aggressor pledges_kept_before pledges_broken_before")
def rating_rows(played: Round) -> Iterator[Sequence[Any]]:
    return ((turn, *rating, kept, broken) for turn, rating, kept, broken in ratings_with_history(played))
