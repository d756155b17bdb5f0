"""Decides if what a room hides may be shown when its game is over."""

from cohabit.remote import RemoteWorld
from cohabit.room.base import BaseRoom
from cohabit.room.commands import Command
from cohabit.world import SPOKEN


def hidden_for_ever(room: BaseRoom, *, has_saves: bool) -> str:
    """The reason why what is hidden in this room stays hidden when a game is over; empty: it does not."""
    if not room.world.spec.hides(room.state.partial_intel):
        return ""
    if isinstance(room.world, RemoteWorld):
        return "what is hidden in a remote world may stay hidden there"
    if has_saves:
        return "this room has saves, from which a game can be played on"
    if any(command.is_action and _has_letters(command) for command in room.commands):
        return "players of this world write to one another, and that stays private"
    return ""


def _has_letters(command: Command) -> bool:
    """True if players write to one another with an action."""
    words = command.words or ()
    return tuple(words) != SPOKEN or any(word in command.schema.get("properties", {}) for word in words)
