"""Actions that are computed from the config."""

from collections.abc import Callable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from cohabit import ActionSpec, Eye, GameRejected, Observation, Outcome, Range, Seat, SeatId, World, WorldSpec

MAX_LOG = 50


class Use(Struct, forbid_unknown_fields=True):
    """The arguments of every tool."""

    times: Annotated[int, Range(1, 3, "how often")] = 1
    on: Annotated[str, Meta(max_length=20, description="what to use it on")] = "wood"


class Toolbox(World):
    """Toolbox. Each tool in the box is an action. The work log is public."""

    spec = WorldSpec(name="toolbox", seats=2, seat_names=("left", "right"), open_information=True, quick=True)

    def __init__(self, tools: tuple[str, ...] = ("saw", "hammer")) -> None:
        self.tools = list(tools)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.log: list[str] = []

    def to_move(self) -> Sequence[SeatId]:
        return self.order

    def observe(self, eye: Eye) -> Observation:
        return Observation(text="\n".join(self.log) or "no work yet", status={"done": len(self.log)})

    def actions(self) -> Sequence[ActionSpec]:
        uses = [
            ActionSpec(name=f"use_{tool}", run=self._user(tool), description=f"Use the {tool}.", args=Use)
            for tool in self.tools
        ]
        return [
            *uses,
            ActionSpec(name="work_log", run=self._work_log, changes=False, category="read", needs=("watch",)),
        ]

    def _user(self, tool: str) -> Callable[..., Outcome]:
        def use(by: Seat, times: int, on: str) -> Outcome:
            if len(self.log) + times > MAX_LOG:
                raise GameRejected("the log is full")
            self.log.extend([f"{by.id} uses the {tool} on {on!r}"] * times)
            return Outcome(public=self.log[-1])

        return use

    def _work_log(self, eye: Eye, last: Annotated[int, Range(1, MAX_LOG, "how many lines")] = 10) -> list[str]:
        """The newest lines of the work log."""
        return self.log[-last:]
