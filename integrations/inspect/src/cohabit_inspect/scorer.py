"""The score of a game: the reward of the seat in worlds that count it, else its score on the score board."""

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from cohabit_inspect.solver import RESULT


@scorer(metrics=[mean(), stderr()])
def game_result() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        result = state.store.get(RESULT)
        if result is None:
            return Score.unscored(reason="no_game", explanation="no game was played to its end")
        value = points(result)
        ended = "" if result["over"] else f", stopped after {result['turns']} turns"
        words = f"game {result['game']} in room {result['room']}, seat {result['seat']}{ended}"
        if value is None:
            return Score.unscored(reason="no_result", explanation=f"{words}: the world has no score", metadata=result)
        return Score(value=value, answer=f"{value:g}", explanation=words, metadata=result)

    return score


def points(result: dict[str, Any]) -> float | None:
    """Of the seat that was played; None in worlds that count nothing."""
    if result["total_reward"] is not None:
        return float(result["total_reward"])
    own = [each["score"] for each in result["standings"] if each["seat"] == result["seat"]]
    return float(own[0]) if own else None
