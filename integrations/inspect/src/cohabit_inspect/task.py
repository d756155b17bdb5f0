"""The task: a number of games, each on a free seat."""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from cohabit_inspect.scorer import game_result
from cohabit_inspect.solver import play_seat


@task
def match(games: int = 1, seats: str = "", hosts: str = "", rehearse: bool = False, **options: Any) -> Task:
    """Games of a model on seats of Cohabit rooms.

    Args:
        games: How many games.
        seats: A file with the links of the players. Default: the variable COHABIT_SEATS.
        hosts: A file with links of hosts, to start the next game with. Default: COHABIT_HOSTS.
        rehearse: Let a mock model play, which always chooses the first move: to try a setup without a model.
        options: Further arguments of `play_seat`.
    """
    return Task(
        dataset=[Sample(id=f"game-{number}", input="Play one game.") for number in range(1, games + 1)],
        solver=play_seat(seats=seats, hosts=hosts, **options),
        scorer=game_result(),
        model=get_model("mockllm/model", memoize=False, custom_outputs=first_move) if rehearse else None,
    )


def first_move(*asked: Any) -> ModelOutput:
    """With its usage: Inspect would count the tokens of a mock model with an encoding that it downloads."""
    output = ModelOutput.from_content(model="mockllm", content="1")
    output.usage = ModelUsage()
    return output
