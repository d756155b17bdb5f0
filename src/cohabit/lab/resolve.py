"""One turn by itself. The command line comes through here: faces know worlds by name only."""

from cohabit.worlds.statecraft.resolve import resolve_text

__all__ = ["resolve_text"]
