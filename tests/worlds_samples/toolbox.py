"""A world whose actions are computed from its config: one for each tool, and one that takes a typed argument."""

from collections.abc import Callable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.world import (
    ActionSpec,
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    World,
    WorldSpec,
)  # fmt: skip

MAX_LOG = 50


class Use(Struct, forbid_unknown_fields=True):
    """What every tool takes."""

    times: Annotated[int, Range(1, 3, "how often")] = 1
    on: Annotated[str, Meta(max_length=20, description="what to use it on")] = "wood"


class Toolbox(World):
    """Toolbox. Each tool of the box is an action; the work log is public."""

    spec = WorldSpec(name="toolbox", seats=2, seat_names=("left", "right"), open_information=True, quick=True)

    def __init__(self, tools: Annotated[list[str], "the names of the tools"] = ["saw", "hammer"]) -> None:  # noqa: B006 - never changed
        self.tools = list(tools)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.log: list[str] = []

    def to_move(self) -> Sequence[SeatId]:
        return self.order

    def observe(self, eye: Eye) -> Observation:
        return Observation(text="\n".join(self.log) or "no work yet", status={"done": len(self.log)})

    def actions(self) -> Sequence[ActionSpec]:
        used = [
            ActionSpec(name=f"use_{tool}", run=self._user(tool), description=f"Use the {tool}.", args=Use)
            for tool in self.tools
        ]
        log = ActionSpec(name="work_log", run=self._read_log, changes=False, category="read", needs=("watch",))
        return [*used, log]

    def _user(self, tool: str) -> Callable[..., Outcome]:
        def use(by: Seat, times: int, on: str) -> Outcome:
            if len(self.log) + times > MAX_LOG:
                raise GameRejected("the log is full")
            self.log.extend([f"{by.id} uses the {tool} on {on}"] * times)
            return Outcome(public=self.log[-1])

        return use

    def _read_log(self, eye: Eye, last: Annotated[int, Range(1, MAX_LOG, "how many lines")] = 10) -> list[str]:
        """The newest lines of the log."""
        return self.log[-last:]
