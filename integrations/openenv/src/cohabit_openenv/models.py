"""The messages of an OpenEnv client: actions, observations, state."""

from typing import Any

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class SeatAction(Action):
    """An action of the world. One of `legal_actions` can be sent as it is."""

    action: str = Field(default="", description="The name of the action; empty: do nothing and wait for the next turn")
    params: dict[str, Any] = Field(default_factory=dict, description="The parameters of the action")
    reasoning: str | None = Field(default=None, description="Why, for the record of the room")


class SeatObservation(Observation):
    """The view of the seat. `reward` is what it got since the last observation, `done` says that the game is over."""

    text: str = Field(description="The view of the seat, written for a model")
    legal_actions: list[dict[str, Any]] = Field(description="The actions that the world lists as legal now")
    your_turn: bool = Field(description="Whether the world takes an action of this seat now")
    to_move: list[str] = Field(description="The members whose turn it is, at most 20")
    seat: str = Field(description="The id of the seat in its world")
    game: int = Field(description="The number of the game in this room, from 1")
    total_reward: float | None = Field(description="The sum in this game, in worlds that count rewards for each seat")
    message: str = Field(description="What the world said to the last action")
    refused: str = Field(description="Why the last action was not accepted; then nothing has changed")
    turn_seconds_left: int | None = Field(description="Until the time limit of the turn, if there is one")
    standings: list[dict[str, Any]] = Field(description="At the end: the score board of the world, the best first")
    values: dict[str, Any] = Field(description="The observation as values")


class SeatState(State):
    """The seat that this OpenEnv session plays."""

    room: str = ""
    member: str = ""
    seat: str = ""
    game: int = 0
