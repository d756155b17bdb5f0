"""What a power is, and how one is declared."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.sim import Sim

Family = Literal["spawn", "weather", "disaster", "blessing", "curse", "terraform", "order", "law"]
Aim = Literal["own", "any", "god"]
"""Where a player may aim it. own: at cells of its own land (and there at its own people alone) · any:
everywhere (orders to its own kingdom) · god: not at all."""


class Cast(Struct, frozen=True):
    """One use of a power. ``by`` is the kingdom whose player uses it, or 0 for a god."""

    x: int
    y: int
    cells: Cells  # the cells under the brush, all on the map; one cell where the power takes no brush
    by: int = 0
    x2: int | None = None  # where a drag ends
    y2: int | None = None
    pulse: int = 0  # the number of this pulse, so that each rolls dice of its own


Run = Callable[[Sim, Cast], bool]
"""Does it, and says whether anything came of it. Raises GameRejected before it has changed anything."""


class Power(Struct, frozen=True):
    """A power, and who may use it where."""

    id: str
    family: Family
    words: str  # one line: what it does, for players
    run: Run
    aim: Aim = "god"
    brush: bool = False  # does it take a radius?
    toggle: bool = False  # does it switch a law of the world on and off?
    faith: int = 0  # what a player's kingdom pays for a pulse
