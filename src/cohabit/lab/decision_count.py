"""How many decisions the games of a run have had so far, including those of games that are not finished.

Nothing is done for a decision: a game knows how many it has had, and is asked when somebody wants to know. A worker
process reports its number about once a second.
"""

from collections.abc import Sequence

from cohabit.lab.game import Game


class DecisionCount:
    """The decisions of one process, and of its workers. The display of progress reads it on another thread."""

    def __init__(self) -> None:
        self.of_workers: Sequence[int] = ()  # shared with the workers
        self._finished = 0
        self._playing: list[Game] = []

    def begin(self, game: Game) -> None:
        self._playing.append(game)

    def end(self, game: Game) -> None:
        self._playing.remove(game)
        self._finished += game.decisions

    def total(self) -> int:
        playing = sum([game.decisions for game in self._playing.copy()])
        return self._finished + playing + sum(self.of_workers)
