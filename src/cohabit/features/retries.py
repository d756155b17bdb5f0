"""Idempotency keys end with their game: a reply of an earlier game is never given in a new one."""

from cohabit.room.base import Context
from cohabit.room.feature import Feature

OUTSIDE_THE_GAME = ("bus", "host")
"""Messages and changes of the membership are the same in every game, so their replies stay valid."""


class RetriesFeature(Feature):
    name = "retries"

    def game_ends(self, ctx: Context, is_loaded: bool) -> None:
        """By reset, rematch, a save, or time: calls of the game that ends cannot be repeated. They are remembered, so
        that repeating one is refused, rather than executed in the new game."""
        for kept in (kept for replies in ctx.state.replies.values() for kept in replies.values()):
            command = ctx.room.commands.get(kept.do)
            kept.earlier = kept.earlier or command is None or command.category not in OUTSIDE_THE_GAME
