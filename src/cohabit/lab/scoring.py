"""The score of a seat in a game, and who won."""

from collections.abc import Mapping, Sequence

from cohabit.agents.decision import Tally
from cohabit.lab.game import GameResult


def scores(game: GameResult) -> list[float]:
    """The score of each seat."""
    points = {standing.seat: float(standing.score) for standing in game.standings}
    return scores_of(game.seats, points, game.returns, game.rewards)


def scores_of(
    seats: Sequence[str], points: Mapping[str, float], returns: Mapping[str, float], rewards: Sequence[float]
) -> list[float]:
    """The score of each seat: its points on the scoreboard, else its return, else what its actions earned.

    A seat that is no longer on the scoreboard has 0.
    """
    counted = points or returns
    return [counted.get(seat, 0.0) for seat in seats] if counted else list(rewards)


def winners(game: GameResult) -> list[int]:
    """The seats with the best score; more than one is a draw. Empty: there is only one seat."""
    found = scores(game)
    if len(found) < 2:
        return []
    return [seat for seat, score in enumerate(found) if score == max(found)]


def is_won(game: GameResult, best: Sequence[int]) -> bool:
    """True if one player has the best score, and no draw: also if it has several of the best seats, as a team has."""
    return len(best) == 1 or (is_between_players(game) and len({game.spec.named[seat] for seat in best}) == 1)


def is_between_players(game: GameResult) -> bool:
    """True if different players met. A game of a player against itself says nothing about who is better."""
    return len(set(game.spec.named)) > 1


def undecided(games: Sequence[GameResult]) -> set[str]:
    """The games of a condition that were stopped at a limit and have no result.

    Where the scoreboard differs in some game that was stopped, the world keeps score on the way, and the scores at the
    limit count. Where it never does, the score is decided at the end only, which these games did not reach.
    """
    stopped = [game for game in games if game.ended == "limit" and len(game.seats) > 1]
    keeps_score = any(len(set(scores(game))) > 1 for game in stopped)
    return set() if keeps_score else {game.spec.id for game in stopped}


def add_tally(whole: Tally, part: Tally) -> None:
    for name in ("prompt_tokens", "completion_tokens", "dollars", "charged", "unpriced", "requests"):
        setattr(whole, name, getattr(whole, name) + getattr(part, name))
    for total, counts in ((whole.outcomes, part.outcomes), (whole.causes, part.causes)):
        for key, count in counts.items():
            total[key] = total.get(key, 0) + count
