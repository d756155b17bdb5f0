"""Summaries of the rounds of a line-up: means with intervals, and curves over the turns."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from cohabit.lab.estimates import Estimate, correlation, estimate
from cohabit.lab.statecraft import measures, pledges
from cohabit.lab.statecraft.rounds import Round

MAX_FAILURES = 0.05
"""The share of a player's decisions in a line-up that may fail."""
Curve = list[Fraction | None]
"""A mean per turn; None if no round has a value for it."""


class PlayerSummary(NamedTuple):
    """The results of one player of a line-up. A round with several nations of the player counts with their mean."""

    player: str
    nations: int  # in a round
    welfare: Estimate  # per nation and turn
    wins: Fraction  # share of the rounds won; ties are shared
    military_spending: Estimate  # per nation and turn
    income_destroyed: Estimate
    pledges_kept: int
    pledges_broken: int
    mean_rating: Fraction | None  # of the final keeps_word ratings by the other nations
    welfare_over_time: Curve


class LineupSummary(NamedTuple):
    """The results of a line-up over all its rounds."""

    title: str
    cooperation: Estimate | None
    gini: Estimate
    wars: Estimate  # per round
    war_turns: Estimate
    income_destroyed: Estimate  # percent of the gross income
    military_spending: Estimate
    grants_paid: Estimate
    mils_lost: Estimate  # per round
    players: list[PlayerSummary]
    cooperation_over_time: Curve
    gini_over_time: Curve


class RatedPledges(NamedTuple):
    """The share of pledges that a nation had seen another one keep, and its final rating of that nation."""

    share_kept: Fraction
    rating: int


class RoundAnalysis(NamedTuple):
    """A round with derived data that is expensive to compute and used more than once."""

    played: Round
    outcomes: list[pledges.PledgeOutcome]
    final_ratings: list[pledges.RatingWithHistory]
    wars: list[measures.War]


def analyse(played: Round) -> RoundAnalysis:
    ratings = pledges.final_ratings(pledges.ratings_with_history(played))
    return RoundAnalysis(played, pledges.pledge_outcomes(played), ratings, measures.wars(played))


def summarise(rounds: Sequence[RoundAnalysis]) -> list[LineupSummary]:
    """One summary per line-up, in the order in which they were played."""
    titles = dict.fromkeys(one.played.place.lineup for one in rounds)
    return [_lineup(title, [one for one in rounds if one.played.place.lineup == title]) for title in titles]


def _lineup(title: str, analyses: Sequence[RoundAnalysis]) -> LineupSummary:
    rounds = [one.played for one in analyses]
    cooperation = [index for played in rounds if (index := measures.cooperation(played)) is not None]
    return LineupSummary(
        title=title,
        cooperation=estimate(cooperation),
        gini=_mean(rounds, lambda played: measures.gini(measures.totals(played, "welfare"))),
        wars=_estimate([len(one.wars) for one in analyses]),
        war_turns=_estimate([sum(war.turns for war in one.wars) for one in analyses]),
        income_destroyed=_mean(rounds, lambda played: _percent_of_income(played, "income_destroyed")),
        military_spending=_mean(rounds, lambda played: _percent_of_income(played, "military_spending")),
        grants_paid=_mean(rounds, lambda played: _percent_of_income(played, "grants_paid")),
        mils_lost=_mean(rounds, lambda played: measures.total(played.turns, "mils_lost")),
        players=[_player(player, analyses) for player in sorted(set(rounds[0].players.values()))],
        cooperation_over_time=mean_curve([measures.cooperation_over_time(played) for played in rounds]),
        gini_over_time=mean_curve([measures.gini_over_time(played) for played in rounds]),
    )


def _player(player: str, analyses: Sequence[RoundAnalysis]) -> PlayerSummary:
    rounds = [one.played for one in analyses]
    ratings = [
        entry.rating.keeps_word
        for one in analyses
        for entry in one.final_ratings
        if one.played.players[entry.rating.rated] == player
    ]
    kept = [
        outcome.kept
        for one in analyses
        for outcome in one.outcomes
        if one.played.players[outcome.pledge.author] == player
    ]
    wins = [measures.wins(played)[i] for played in rounds for i in _indices(played, player)]
    return PlayerSummary(
        player=player,
        nations=len(_indices(rounds[0], player)),
        welfare=_mean(rounds, lambda played: _per_nation_and_turn(played, player, "welfare")),
        wins=Fraction(sum(wins)) / len(rounds),
        military_spending=_mean(rounds, lambda played: _per_nation_and_turn(played, player, "military_spending")),
        income_destroyed=_mean(rounds, lambda played: _per_nation_and_turn(played, player, "income_destroyed")),
        pledges_kept=kept.count(True),
        pledges_broken=kept.count(False),
        mean_rating=Fraction(sum(ratings), len(ratings)) if ratings else None,
        welfare_over_time=mean_curve([_welfare_curve(played, player) for played in rounds]),
    )


# -- failures ---------------------------------------------------------------------------------------
def problems(rounds: Sequence[Round]) -> list[str]:
    """The players that failed too often, one sentence each."""
    decisions: Counter[tuple[str, str]] = Counter()
    failures: Counter[tuple[str, str]] = Counter()
    for played in rounds:
        for nation, player in played.players.items():
            decisions[played.place.lineup, player] += len(played.turns)
            failures[played.place.lineup, player] += played.failures.get(nation, 0)
    return [
        f"{player} in {lineup}: {failures[lineup, player] / n:.1%} of its decisions failed; the limit is "
        f"{MAX_FAILURES:.0%}. These are not results of its play"
        for (lineup, player), n in decisions.items()
        if failures[lineup, player] > n * MAX_FAILURES
    ]


# -- pledges and ratings ----------------------------------------------------------------------------
def rated_pledges(rounds: Sequence[RoundAnalysis]) -> list[RatedPledges]:
    """The final rating of each nation by each other nation that had received a pledge from it."""
    return [
        RatedPledges(Fraction(entry.kept, entry.kept + entry.broken), entry.rating.keeps_word)
        for one in rounds
        for entry in one.final_ratings
        if entry.kept + entry.broken
    ]


def rating_correlation(found: Sequence[RatedPledges]) -> float | None:
    """Pearson's correlation of the share of kept pledges with the rating."""
    return correlation([(one.share_kept, Fraction(one.rating)) for one in found])


# -- helpers ----------------------------------------------------------------------------------------
def mean_curve(curves: Sequence[Sequence[Fraction | None]]) -> Curve:
    """The mean of each turn, over the rounds that have a value for it."""
    found: Curve = []
    for values in zip(*curves, strict=True):
        present = [value for value in values if value is not None]
        found.append(sum(present, Fraction(0)) / len(present) if present else None)
    return found


def _estimate(values: Sequence[int | Fraction]) -> Estimate:
    found = estimate(values)
    assert found is not None, "a line-up has at least one round"
    return found


def _mean(rounds: Sequence[Round], value: Callable[[Round], int | Fraction]) -> Estimate:
    return _estimate([value(played) for played in rounds])


def _percent_of_income(played: Round, column: str) -> Fraction:
    gross = measures.total(played.turns, "gross_income")
    return Fraction(100 * measures.total(played.turns, column), gross) if gross else Fraction(0)


def _indices(played: Round, player: str) -> list[int]:
    """The column indices of the nations with this player."""
    return [i for i, name in enumerate(played.players.values()) if name == player]


def _per_nation_and_turn(played: Round, player: str, column: str) -> Fraction:
    indices, sums = _indices(played, player), measures.totals(played, column)
    return Fraction(sum(sums[i] for i in indices), len(indices) * len(played.turns))


def _welfare_curve(played: Round, player: str) -> list[Fraction | None]:
    indices = _indices(played, player)
    return [Fraction(sum(turn.welfare[i] for i in indices), len(indices)) for turn in played.turns]
