"""A view: what an eye sees of the world now, as values and as text for a model."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

import msgspec
from msgspec import Struct

from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.seat import SeatId
from cohabit.room.state import RoomState

CHOICES_SHOWN = 40
"""The number of legal actions that the text lists."""
YOUR_TURN = "It is your turn."
LEGAL, EXAMPLES = "Legal actions", "Examples of actions"
"""How the text lists actions: where the world lists all that are legal, and where it cannot."""
MOVERS_SHOWN = 20
"""The number of members to move that are named."""

as_sent, _in_words = attrgetter("choice"), attrgetter("text")  # a legal action as it would be sent, and as text
NO_REMATCH = " No game follows by itself; a member with control_world, such as a host, can start one."


class View(Struct, frozen=True, omit_defaults=True, gc=False):
    text: str
    observation: Observation
    to_move: list[str]
    over: bool = False
    paused: bool = False
    tick: int = 0
    total_reward: float | None = None  # of the eye's own seat, if the world has rewards


class TurnStatus(Struct, frozen=True, gc=False):
    """The members and seats to move, the same for every viewer."""

    seats: frozenset[SeatId]  # that the world waits for
    movers: list[str]
    shown: list[str]  # the first of them
    over: bool
    text: str


def turn_status(
    state: RoomState, to_move: Iterable[SeatId], movers: list[str], over: bool, runs_by_itself: bool
) -> TurnStatus:
    text = seats_text(state, with_empty=not runs_by_itself)
    if over or not runs_by_itself:
        text += turn_text(movers, over, state.turn_ms, state.rematch_ms)
    if over and not state.rematch_ms and not state.archived:
        text += NO_REMATCH
    return TurnStatus(frozenset(to_move), movers, movers[:MOVERS_SHOWN], over, text.rstrip("\n"))


def make_view(
    state: RoomState,
    seen: Observation,
    turn: TurnStatus,
    own: str,
    choices: Sequence[Action],
    total_reward: float | None = None,
    tool_name: Callable[[str], str] | None = str,
    examples: bool = False,
) -> View:
    """Combine the observation, the turn, lines for this viewer alone (``own``) and the legal actions.

    ``tool_name``: what an action is called here; None: the text does not list them. ``examples``: some of them.
    """
    text = f"{seen.to_text()}\n\n{turn.text}{own}" if turn.text or own else seen.to_text()
    if total_reward is not None:
        text += f"\nYour total reward: {total_reward:g}"
    if choices:
        seen = msgspec.structs.replace(seen, choices=[*map(as_sent, choices)])
        if tool_name is not None:
            text += f"\n{EXAMPLES if examples else LEGAL}: " + _choices_text(choices, tool_name)
    return View(text, seen, turn.shown, turn.over, state.paused, state.tick, total_reward)


def seats_text(state: RoomState, with_empty: bool) -> str:
    """A line that says who plays which seat, because a world names its seats and the room its members. ``with_empty``:
    also which seats nobody plays, because others wait for their turns."""
    if len(state.seats) > MOVERS_SHOWN:
        return ""
    players = state.players
    called = [(s.name or s.id, players.get(s.id, "nobody")) for s in state.seats if with_empty or s.id in players]
    named = [f"{name} = {handle}" for name, handle in called if name != handle]
    return f"Seats: {', '.join(named)}\n" if named else ""


def turn_text(movers: list[str], over: bool, turn_ms: int | None = None, rematch_ms: int | None = None) -> str:
    """The members to move and their time limit, as text; at the end, when the next game begins."""
    if over:
        return f"The game is over.{next_game_text(rematch_ms)}"
    if not movers:
        return "No one is to move."
    more = f" and {len(movers) - MOVERS_SHOWN} more" if len(movers) > MOVERS_SHOWN else ""
    limit = f" (time limit: {_seconds(turn_ms)})" if turn_ms else ""
    return f"To move: {', '.join(movers[:MOVERS_SHOWN])}{more}{limit}"


def next_game_text(rematch_ms: int | None) -> str:
    return f" The next game begins {_seconds(rematch_ms)} after the end." if rematch_ms else ""


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


def _choices_text(choices: Sequence[Action], tool_name: Callable[[str], str]) -> str:
    if tool_name is str:  # the usual case: actions are called by their own names
        shown = " | ".join(map(_in_words, choices[:CHOICES_SHOWN]))
    else:
        shown = " | ".join([tool_name(a.name) + a.text[len(a.name) :] for a in choices[:CHOICES_SHOWN]])
    return shown if len(choices) <= CHOICES_SHOWN else f"{shown} … and {len(choices) - CHOICES_SHOWN} more"
