"""What the rounds of a line-up say together: means over its rounds with their intervals, and curves over the turns."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from cohabit.lab import measures, promises
from cohabit.lab.intervals import Estimate, correlation, estimate
from cohabit.lab.record import Round

Curve = list[Fraction | None]
"""A mean per turn; None where no round has a value there."""


class Kind(NamedTuple):
    """How those fared who played alike. Where several do in a round, the round counts with their mean."""

    plays: str
    seats: int  # in a round
    welfare: Estimate  # per nation and turn
    wins: Fraction  # share of the rounds won; ties are shared
    arms: Estimate  # per nation and turn
    burnt: Estimate
    kept: int
    broken: int
    word: Fraction | None  # mean of the last rating of its word by each other
    over_time: Curve  # welfare in each turn


class Lineup(NamedTuple):
    title: str
    rounds: int
    cooperation: Estimate | None
    gini: Estimate
    wars: Estimate  # per round
    war_turns: Estimate
    burnt: Estimate  # percent of the gross income
    arms: Estimate
    granted: Estimate
    lost: Estimate  # mils per round
    kept: int
    broken: int
    open: int
    kinds: list[Kind]
    cooperation_over_time: Curve
    gini_over_time: Curve


class Looked(NamedTuple):
    """A round, with what takes long to work out and is needed more than once."""

    played: Round
    outcomes: list[promises.Outcome]
    words: list[promises.Judged]
    wars: list[measures.War]


def look(played: Round) -> Looked:
    words = promises.last_word(promises.ratings_against_promises(played))
    return Looked(played, promises.outcomes(played), words, measures.wars(played))


class Word(NamedTuple):
    """What a nation had seen kept by another, and how it rated it in the end."""

    lineup: str
    share: Fraction  # of the promises it knew of
    rating: int


def lineups(looked: Sequence[Looked]) -> list[Lineup]:
    """In the order in which they were played."""
    titles = dict.fromkeys(one.played.place.lineup for one in looked)
    return [lineup(title, [one for one in looked if one.played.place.lineup == title]) for title in titles]


def lineup(title: str, looked: Sequence[Looked]) -> Lineup:
    rounds = [one.played for one in looked]
    judged = [outcome.kept for one in looked for outcome in one.outcomes]
    return Lineup(
        title=title,
        rounds=len(rounds),
        cooperation=estimate([index for played in rounds if (index := measures.cooperation_of(played)) is not None]),
        gini=_mean(rounds, lambda played: measures.gini(measures.totals(played, "welfare"))),
        wars=_sure([len(one.wars) for one in looked]),
        war_turns=_sure([sum(war.turns for war in one.wars) for one in looked]),
        burnt=_mean(rounds, lambda played: _percent(played, "burnt")),
        arms=_mean(rounds, lambda played: _percent(played, "arms")),
        granted=_mean(rounds, lambda played: _percent(played, "granted")),
        lost=_mean(rounds, lambda played: measures.total(played.turns, "lost")),
        kept=judged.count(True),
        broken=judged.count(False),
        open=judged.count(None),
        kinds=[_kind(plays, looked) for plays in sorted(set(rounds[0].plays.values()))],
        cooperation_over_time=mean_curve([measures.cooperation_over_time(played) for played in rounds]),
        gini_over_time=mean_curve([measures.gini_over_time(played) for played in rounds]),
    )


def _kind(plays: str, looked: Sequence[Looked]) -> Kind:
    rounds = [one.played for one in looked]
    ratings = [
        word.rating.keeps_word for one in looked for word in one.words if one.played.plays[word.rating.rated] == plays
    ]
    judged = [
        outcome.kept for one in looked for outcome in one.outcomes if one.played.plays[outcome.pledge.by] == plays
    ]
    wins = [win for played in rounds for win in _of(played, plays, measures.wins(played))]
    return Kind(
        plays=plays,
        seats=len(_seats(rounds[0], plays)),
        welfare=_mean(rounds, lambda played: _per_turn(played, plays, "welfare")),
        wins=Fraction(sum(wins)) / len(rounds),
        arms=_mean(rounds, lambda played: _per_turn(played, plays, "arms")),
        burnt=_mean(rounds, lambda played: _per_turn(played, plays, "burnt")),
        kept=judged.count(True),
        broken=judged.count(False),
        word=Fraction(sum(ratings), len(ratings)) if ratings else None,
        over_time=mean_curve([_welfare_curve(played, plays) for played in rounds]),
    )


# -- promises against ratings -----------------------------------------------------------------------
def words(looked: Sequence[Looked]) -> list[Word]:
    """The last rating of each nation by each other that had been promised something by it."""
    return [
        Word(one.played.place.lineup, Fraction(word.kept, word.kept + word.broken), word.rating.keeps_word)
        for one in looked
        for word in one.words
        if word.kept + word.broken
    ]


def agreement(found: Sequence[Word]) -> float | None:
    """How far ratings follow promises kept: 1 is wholly, 0 not at all."""
    return correlation([(word.share, Fraction(word.rating)) for word in found])


# -- small sums -------------------------------------------------------------------------------------
def mean_curve(curves: Sequence[Sequence[Fraction | None]]) -> Curve:
    """The mean of each turn, over the rounds that have a value there."""
    found: Curve = []
    for values in zip(*curves, strict=True):
        there = [value for value in values if value is not None]
        found.append(sum(there, Fraction(0)) / len(there) if there else None)
    return found


def _sure(values: Sequence[int | Fraction]) -> Estimate:
    found = estimate(values)
    assert found is not None, "a line-up has rounds"
    return found


def _mean(rounds: Sequence[Round], of: Callable[[Round], int | Fraction]) -> Estimate:
    return _sure([of(played) for played in rounds])


def _percent(played: Round, column: str) -> Fraction:
    gross = measures.total(played.turns, "gross")
    return Fraction(100 * measures.total(played.turns, column), gross) if gross else Fraction(0)


def _seats(played: Round, plays: str) -> list[int]:
    return [i for i, kind in enumerate(played.plays.values()) if kind == plays]


def _of(played: Round, plays: str, values: Sequence[Fraction]) -> list[Fraction]:
    return [values[i] for i in _seats(played, plays)]


def _per_turn(played: Round, plays: str, column: str) -> Fraction:
    seats, sums = _seats(played, plays), measures.totals(played, column)
    return Fraction(sum(sums[i] for i in seats), len(seats) * len(played.turns))


def _welfare_curve(played: Round, plays: str) -> list[Fraction | None]:
    seats = _seats(played, plays)
    return [Fraction(sum(turn.welfare[i] for i in seats), len(seats)) for turn in played.turns]
