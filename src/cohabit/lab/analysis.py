"""The results of the games of a run, by world and condition: scores, paired differences, effects of seats, failures.

The seeds are the sample. Games with the same seed share a map and draws, so a player's score is first averaged over
its games of a seed; means and intervals are over seeds. Shares of won games have Wilson's interval over as many
independent games as theirs are worth.

Games of a player against itself, and games that were stopped before they had a result, are left out of comparisons.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from json import dumps
from math import isfinite
from statistics import median
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.agents.decision import Tally
from cohabit.lab.estimates import Estimate, estimate, independent_games, paired_difference, share_interval
from cohabit.lab.folder import TimingLine
from cohabit.lab.game import GameResult
from cohabit.lab.scoring import add_tally, is_between_players, is_won, scores, undecided, winners
from cohabit.world import Standing

Seed = str
BySeed = dict[Seed, Fraction]
"""The mean score of a player in its games of each seed."""


class Condition(Struct, frozen=True):
    """A world of the design, and the level of each factor."""

    setting: str
    factors: dict[str, Any] = {}

    @property
    def title(self) -> str:
        levels = ", ".join(f"{name} {level_text(level)}" for name, level in self.factors.items())
        return f"{self.setting} · {levels}" if levels else self.setting


def level_text(level: Any) -> str:
    return level if isinstance(level, str) else dumps(level, ensure_ascii=False)


class PlayerInCondition(Struct):
    """A player in its games of a condition, or of one line-up in it.

    Games against itself are counted apart, unless it has no others: then its score is over these.
    """

    player: str
    condition: str = ""  # its title
    games: int = 0
    won: int = 0
    drawn: int = 0
    stopped: int = 0  # at a limit, before the end
    points_by_seed: dict[Seed, list[Fraction]] = {}  # of games with others that have a result: a win is 1
    against_itself: int = 0  # games that are not in the numbers above
    by_seed: BySeed = {}
    tally: Tally = msgspec.field(default_factory=Tally)  # of all games
    seconds: list[float] = []  # of each decision
    measures: dict[str, dict[Seed, list[Fraction]]] = {}

    @property
    def score(self) -> Estimate | None:
        return estimate(list(self.by_seed.values()))

    @property
    def compared(self) -> int:
        """The number of games with others that have a result."""
        return sum(map(len, self.points_by_seed.values()))

    @property
    def points(self) -> Fraction:
        return sum(chain.from_iterable(self.points_by_seed.values()), Fraction(0))

    @property
    def win_share(self) -> float | None:
        return float(self.points) / self.compared if self.compared else None

    @property
    def win_interval(self) -> tuple[float, float] | None:
        return share_interval(self.win_share or 0.0, independent_games(self.points_by_seed.values()))

    @property
    def failure_rate(self) -> float:
        return self.tally.failures / self.tally.decisions if self.tally.decisions else 0.0

    @property
    def median_seconds(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    def measure(self, name: str) -> Estimate | None:
        return estimate([_mean(values) for values in self.measures.get(name, {}).values()])


class Difference(Struct, frozen=True):
    """A paired difference of scores: the first minus the second, by seed."""

    condition: str
    lineup: str
    first: str
    second: str
    difference: Estimate


class SeatEffect(Struct, frozen=True):
    """The scores on one seat, of all players who had it; and how much more than on the other seats, paired by seed."""

    condition: str
    seat: str
    games: int
    won: Fraction
    score: Estimate
    advantage: Estimate | None


class ConditionResults(Struct):
    """The games of one condition."""

    condition: Condition
    games: list[GameResult]
    players: list[PlayerInCondition]
    lineups: dict[str, list[PlayerInCondition]]  # the same for the games of each line-up
    differences: list[Difference]
    seats: list[SeatEffect]
    undecided: set[str]  # games without a result

    @property
    def seats_are_swapped(self) -> bool:
        """True if in each line-up each player had every seat equally often, so that seats and players are apart."""
        games = [game for game in self.games if game.spec.id not in self.undecided]
        return all(_had_each_seat(played) for played in _by_lineup(games).values())

    @property
    def compared(self) -> list[GameResult]:
        """The games between different players that have a result."""
        return [game for game in self.games if is_between_players(game) and game.spec.id not in self.undecided]

    @property
    def is_won_in_teams(self) -> bool:
        """True if no game has a winner, although not all seats have the best score: different players share a team."""
        found = [(game, winners(game)) for game in self.compared]
        nobody_won = not any(is_won(game, best) for game, best in found)
        return nobody_won and any(len(best) < len(game.seats) for game, best in found)

    @property
    def measure_names(self) -> list[str]:
        """The world's own measures that at least one player has."""
        return list(dict.fromkeys(name for player in self.players for name in player.measures))


IN_TEAMS = (
    "nobody has won, because different players share the best score, as in a team: compare their shares of wins and "
    "scores, with `swap` as `permute`, so that each player has each partner; or let one player have a whole team"
)


def condition_of(game: GameResult) -> Condition:
    return Condition(game.spec.setting, game.spec.factors)


def analyse(games: Iterable[GameResult], timings: Mapping[str, TimingLine] | None = None) -> list[ConditionResults]:
    """The results of each condition, in the order of the plan."""
    groups: dict[str, tuple[Condition, list[GameResult]]] = {}
    for game in games:
        condition = condition_of(game)
        groups.setdefault(condition.title, (condition, []))[1].append(game)
    return [_analyse(condition, found, timings or {}) for condition, found in groups.values()]


def _analyse(condition: Condition, games: list[GameResult], timings: Mapping[str, TimingLine]) -> ConditionResults:
    title, without = condition.title, undecided(games)
    scored = [game for game in games if _has_score(game, without)]
    return ConditionResults(
        condition,
        games,
        player_results(title, games, timings, without),
        {lineup: player_results(title, played, timings, without) for lineup, played in _by_lineup(games).items()},
        head_to_head(title, scored),
        seat_effects(title, [game for game in games if game.spec.id not in without]),
        without,
    )


def _has_score(game: GameResult, without_result: set[str]) -> bool:
    """In a game without a result, a scoreboard full of zeros is not a score."""
    return game.spec.id not in without_result or any(scores(game))


def _by_lineup(games: Iterable[GameResult]) -> dict[str, list[GameResult]]:
    found: dict[str, list[GameResult]] = {}
    for game in games:
        found.setdefault(game.spec.lineup, []).append(game)
    return found


# -- players ----------------------------------------------------------------------------------------
def player_results(
    condition: str, games: Sequence[GameResult], timings: Mapping[str, TimingLine], without_result: set[str]
) -> list[PlayerInCondition]:
    found: dict[str, PlayerInCondition] = {}
    by_seed: dict[str, dict[Seed, list[Fraction]]] = {}
    met_others = {name for game in games if is_between_players(game) for name in game.spec.named}
    shown = {name for game in games for standing in game.standings for name in _quantities(standing)}
    for game in games:
        timing, measured, results = timings.get(game.spec.id), _measures(game, sorted(shown)), scores(game)
        has_score = _has_score(game, without_result)
        for name, seats in _seats_of(game).items():
            player = found.setdefault(name, PlayerInCondition(name, condition))
            for seat in seats:
                add_tally(player.tally, game.tallies[seat])
                player.seconds += timing.decisions[seat] if timing is not None else []
            if name in met_others and not is_between_players(game):
                player.against_itself += 1
                continue
            player.games += 1
            player.stopped += game.ended == "limit"
            if is_between_players(game) and game.spec.id not in without_result:
                _count(player, game, seats)
            for seat in seats:
                if has_score:
                    by_seed.setdefault(name, {}).setdefault(game.spec.seed, []).append(Fraction(results[seat]))
                for measure, value in measured[seat].items():
                    player.measures.setdefault(measure, {}).setdefault(game.spec.seed, []).append(value)
    for name, player in found.items():
        player.by_seed = _means(by_seed.get(name, {}))
    return list(found.values())


def _seats_of(game: GameResult) -> dict[str, list[int]]:
    """The seats of each player in a game."""
    found: dict[str, list[int]] = {}
    for seat, name in enumerate(game.spec.named):
        found.setdefault(name, []).append(seat)
    return found


def _count(player: PlayerInCondition, game: GameResult, seats: Sequence[int]) -> None:
    """Count a game once, also if the player had several seats in it."""
    best = winners(game)
    mine, won = sum(seat in best for seat in seats), is_won(game, best)
    player.won += bool(mine) and won
    player.drawn += bool(mine) and not won
    player.points_by_seed.setdefault(game.spec.seed, []).append(Fraction(mine, len(best)))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _means(by_seed: Mapping[Seed, Sequence[Fraction]]) -> BySeed:
    return {seed: _mean(values) for seed, values in by_seed.items()}


def _measures(game: GameResult, shown: Sequence[str]) -> list[dict[str, Fraction]]:
    """For each seat the world's own measures: the numbers beside its score on the scoreboard, and its rewards.

    A seat that is no longer on the scoreboard has 0 in those that are ``shown`` there: means over the survivors alone
    would say that nobody ever lost."""
    standings = {standing.seat: standing for standing in game.standings}
    found: list[dict[str, Fraction]] = []
    for number, seat in enumerate(game.seats):
        measured: dict[str, Fraction] = {}
        if (standing := standings.get(seat)) is not None:
            measured |= _quantities(standing) | {"alive": Fraction(standing.alive)}
        elif standings:
            measured |= dict.fromkeys([*shown, "alive"], Fraction(0))
        if game.standings and game.returns:
            measured["return"] = Fraction(game.returns.get(seat, 0.0))
        measured["rewards of its actions"] = Fraction(game.rewards[number])
        found.append(measured)
    return found


def _quantities(standing: Standing) -> dict[str, Fraction]:
    return {name: Fraction(value) for name, value in standing.data.items() if _is_measure(name, value)}


def _is_measure(name: str, value: Any) -> bool:
    """True if a value on the scoreboard is a quantity."""
    return isinstance(value, int | float) and isfinite(value) and name != "id" and not name.endswith("_id")


def _had_each_seat(games: Sequence[GameResult]) -> bool:
    """True if in these games of a line-up each player had every seat equally often."""
    counts = Counter((name, seat) for game in games for seat, name in enumerate(game.spec.named))
    names, seats = {name for name, _ in counts}, {seat for _, seat in counts}
    return all(len({counts[name, seat] for seat in seats}) == 1 for name in names)


# -- differences ------------------------------------------------------------------------------------
def head_to_head(condition: str, games: Sequence[GameResult]) -> list[Difference]:
    """For each line-up, and each two of its players: the difference of their scores in the games they share."""
    found = []
    for lineup, played in _by_lineup(games).items():
        for first, second in combinations(dict.fromkeys(played[0].spec.named), 2):
            mine, other = _by_seed(played, first), _by_seed(played, second)
            if (difference := paired_difference(mine, other)) is not None:
                found.append(Difference(condition, lineup, first, second, difference))
    return found


def between_conditions(results: Sequence[ConditionResults]) -> list[Difference]:
    """For each world, each two of its conditions, and each player in both: the difference that the factors make."""
    found = []
    for first, second in combinations(results, 2):
        if first.condition.setting != second.condition.setting:
            continue
        others = {player.player: player for player in second.players}
        for player in first.players:
            other = others.get(player.player)
            difference = paired_difference(player.by_seed, other.by_seed) if other is not None else None
            if difference is not None:
                pair = first.condition.title, second.condition.title
                found.append(Difference(player.player, "", *pair, difference))
    return found


def _by_seed(games: Iterable[GameResult], player: str) -> BySeed:
    found: dict[Seed, list[Fraction]] = {}
    for game in games:
        for name, score in zip(game.spec.named, scores(game), strict=True):
            if name == player:
                found.setdefault(game.spec.seed, []).append(Fraction(score))
    return _means(found)


# -- seats ------------------------------------------------------------------------------------------
def seat_effects(condition: str, games: Sequence[GameResult]) -> list[SeatEffect]:
    """The effect of each seat on scores. It is independent of the players only if they were rotated over the seats."""
    scored = [(game, [Fraction(score) for score in scores(game)], winners(game)) for game in games]
    found = []
    for number in range(max((len(game.seats) for game in games), default=0)):
        mine: dict[Seed, list[Fraction]] = {}
        rest: dict[Seed, list[Fraction]] = {}
        for game, values, _ in scored:
            for seat, value in enumerate(values):
                (mine if seat == number else rest).setdefault(game.spec.seed, []).append(value)
        names = [game.seats[number] for game in games if number < len(game.seats)]
        points = sum((Fraction(1, len(best)) for _, _, best in scored if number in best), Fraction(0))
        mean = estimate(list(_means(mine).values()))
        assert mean is not None
        advantage = paired_difference(_means(mine), _means(rest))
        found.append(SeatEffect(condition, names[0], len(names), points, mean, advantage))
    return found
