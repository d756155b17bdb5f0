"""Complete matches of built-in players in a real room, without a house or a clock, for soaks and experiments."""

from collections.abc import Callable, Sequence
from typing import Any

from cohabit.agents.runner import MAX_ACTIONS_PER_TURN
from cohabit.errors import CohabitError
from cohabit.model.action import ActionResult
from cohabit.registry import make_agent, make_world
from cohabit.room.opening import opening_state
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.scenario import Scenario

BEAT = 50
"""Ticks between two decisions of the same player."""


class Match:
    """A room from a scenario, in which every member that has a brain decides once in ``beat`` ticks.

    With a stepped clock they act in every step and everybody passes, as in a house. The brains make the same calls as
    every client and see what their members may see, so a house could have written the same record.
    """

    def __init__(self, scenario: Scenario, seed: int, beat: int = BEAT) -> None:
        world = make_world(scenario.world, scenario.config)
        self.room = Room.create(opening_state(scenario, world, scenario.world, "match", seed, "00" * 16), world, 0)
        self.beat = beat
        self.refused: list[str] = []  # refused calls of the brains
        members = self.room.state.members.values()
        self.minds = [(m, _mind(self.room, m, m.stand_in)) for m in members if m.played_by_bot and m.stand_in]

    @property
    def tick(self) -> int:
        return self.room.state.tick

    def run(self, ticks: int, between: Callable[["Match"], None] | None = None) -> "Match":
        """Play until the game is over or tick ``ticks`` is reached. ``between`` is called after each beat."""
        while self.tick < ticks and not self.room.is_over():
            for member, mind in self.minds:
                actions = MAX_ACTIONS_PER_TURN if self.room.state.step_ticks else 1
                while actions and self._decide(member, mind):
                    actions -= 1
            self._advance(ticks)
            if between is not None:
                between(self)
        return self

    def lines(self) -> Sequence[Line]:
        """The whole record, from which ``Room.replay`` restores the same room."""
        return self.room.record.tail

    def _advance(self, ticks: int) -> None:
        if not self.room.state.step_ticks:
            self.room.system("ticks", {"n": min(self.beat, ticks - self.tick)}, self._now())
            return
        for member in self.room.awaited():
            via = member.stand_in if member.played_by_bot else None
            self.room.call(member.id, "turn_advance", at=self._now(), via=via)

    def _decide(self, member: Member, mind: Any) -> bool:
        """Let a brain act. Returns False if it does nothing or is refused."""
        action = mind.decide(self.room.view(member).observation)
        if action is None:
            return False
        args = {"action": action.name, "params": action.parameters, "reasoning": action.reasoning}
        try:
            result = self.room.call(member.id, "act", args, at=self._now(), via=member.stand_in)
        except CohabitError as refusal:
            self.refused.append(f"tick {self.tick}, {member.id}, {action.name}: {refusal.as_text()}")
            return False
        if isinstance(result, ActionResult):
            mind.reflect(result)
        return True

    def _now(self) -> int:
        """The time of this tick at normal speed, in ms."""
        return self.tick * self.room.world.spec.tick_ms


def _mind(room: Room, member: Member, brain: str) -> Any:
    mind: Any = make_agent(brain, f"{room.id}/{member.id}")
    mind.initialize(room.world.describe(), room.commands.action_space())
    return mind
