"""The declaration of a power."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.sim import Sim

Family = Literal["spawn", "weather", "disaster", "blessing", "curse", "terraform", "order", "law"]
Aim = Literal["own", "any", "god"]
"""The place where a kingdom's player may use it. own: on its own land, where it affects only its own people · any:
anywhere, as an order to its own kingdom · god: nowhere."""


class Cast(Struct, frozen=True):
    """One pulse of a power. ``by`` is the kingdom whose player uses it, or 0 for a god."""

    x: int
    y: int
    cells: Cells  # the cells under the brush that are on the map; one cell if the power has no brush
    by: int = 0
    x2: int | None = None  # the end of a drag
    y2: int | None = None
    pulse: int = 0  # a different number for every pulse, so that each draws its own random numbers


Run = Callable[[Sim, Cast], bool]
"""Applies the power and returns whether it had an effect. Raises GameRejected before it has changed anything."""


class Power(Struct, frozen=True):
    """A power, and who may use it where."""

    id: str
    family: Family
    description: str  # one line for players
    run: Run
    aim: Aim = "god"
    brush: bool = False  # does it take a radius?
    toggle: bool = False  # does it switch a law of the world on and off?
    faith: int = 0  # what a kingdom's player pays for a pulse


class Powers(list[Power]):
    """The powers of one family, in the order in which they are listed."""

    def __init__(self, family: Family) -> None:
        super().__init__()
        self.family = family

    def add(
        self, name: str, description: str, run: Run, aim: Aim = "god", *, brush: bool = False, faith: int = 0
    ) -> None:
        self.append(Power(name, self.family, description, run, aim, brush, faith=faith))

    def power(
        self, description: str, aim: Aim = "god", *, brush: bool = False, faith: int = 0, called: str = ""
    ) -> Callable[[Run], Run]:
        """Adds a function as a power. Its id is the name of the function, unless another one is given."""

        def add(run: Run) -> Run:
            self.add(called or run.__name__, description, run, aim, brush=brush, faith=faith)
            return run

        return add
