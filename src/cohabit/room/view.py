"""A view: what an eye sees of the world now, as values and as text for a model."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.room.state import RoomState

CHOICES_SHOWN = 40
"""How many legal actions the text lists."""
MOVERS_SHOWN = 20
"""How many of the members whose turn it is are named."""


class View(Struct, frozen=True, omit_defaults=True, gc=False):
    text: str
    observation: Observation
    to_move: list[str]
    over: bool = False
    paused: bool = False
    tick: int = 0
    total_reward: float | None = None  # of the eye's own seat, if the world has rewards


def make_view(
    state: RoomState,
    seen: Observation,
    movers: list[str],
    turn: str,
    choices: Sequence[Action],
    over: bool,
    total_reward: float | None,
    tool_name: Callable[[str], str],
) -> View:
    """Combine the observation, the turn and the legal actions. ``tool_name``: what an action is called here."""
    text = f"{seen.to_text()}\n\n{turn}" if turn else seen.to_text()
    if total_reward is not None:
        text += f"\nYour total reward: {total_reward:g}"
    if choices:
        seen = msgspec.structs.replace(seen, choices=[a.choice for a in choices])
        text += "\nLegal actions: " + _choices_text(choices, tool_name)
    return View(text, seen, movers[:MOVERS_SHOWN], over, state.paused, state.tick, total_reward)


def seats_text(state: RoomState) -> str:
    """A line that says who plays which seat, because a world names its seats and the room its members."""
    if len(state.seats) > MOVERS_SHOWN:
        return ""
    players = {m.seat: m.handle for m in state.members.values() if m.seat is not None}
    named = [f"{s.name or s.id} = {players[s.id]}" for s in state.seats if s.id in players]
    return f"Seats: {', '.join(named)}\n" if named else ""


def turn_text(movers: list[str], over: bool, turn_ms: int | None = None, rematch_ms: int | None = None) -> str:
    """Whose turn it is and how long it may take, as text; at the end, when the next game begins."""
    if over:
        again = f" The next game begins {_seconds(rematch_ms)} after the end." if rematch_ms else ""
        return f"The game is over.{again}"
    if not movers:
        return "No one is to move."
    more = f" and {len(movers) - MOVERS_SHOWN} more" if len(movers) > MOVERS_SHOWN else ""
    limit = f" (time limit: {_seconds(turn_ms)})" if turn_ms else ""
    return f"To move: {', '.join(movers[:MOVERS_SHOWN])}{more}{limit}"


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


def _choices_text(choices: Sequence[Action], tool_name: Callable[[str], str]) -> str:
    shown = " | ".join([tool_name(a.name) + a.text[len(a.name) :] for a in choices[:CHOICES_SHOWN]])
    return shown if len(choices) <= CHOICES_SHOWN else f"{shown} … and {len(choices) - CHOICES_SHOWN} more"
