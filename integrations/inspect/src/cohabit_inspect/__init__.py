"""Games in Cohabit rooms as Inspect tasks."""

from cohabit_inspect.scorer import game_result
from cohabit_inspect.solver import play_seat
from cohabit_inspect.task import match

__all__ = ["game_result", "match", "play_seat"]
