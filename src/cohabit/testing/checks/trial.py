"""A trial: the world that is being checked, and the plays that the checks share."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from cohabit.errors import CohabitError
from cohabit.registry import lasting_source, make_world
from cohabit.room.commands import Command, commands_of
from cohabit.testing.outside import Outside
from cohabit.testing.play import Frozen, Play, Stopped, difference
from cohabit.testing.watch import Watch
from cohabit.world import World


class CheckFailed(Exception):
    """A check failed. The message tells the author what to do."""


class CheckSkipped(Exception):
    """A check was skipped because an earlier one failed."""


class CheckWarned(Exception):
    """Nothing is wrong, but something could not be checked. The message says what is missing."""


class Trial:
    """Shared by the checks: the world, the reference plays, and what watches the process, if it is one of its own."""

    watch: Watch | None = None
    outside: Outside | None = None

    def __init__(self, source: str, seeds: Sequence[int], steps: int, config: dict[str, Any]) -> None:
        self.source = lasting_source(source)
        self.seeds = list(seeds)
        self.steps = steps
        self.config = config
        self.steps_played = 0
        self.reproducible = True  # until a second play with the same seed differs

    @cached_property
    def world(self) -> World:
        try:
            return make_world(self.source, self.config)
        except Exception:
            raise CheckSkipped("the world could not be created") from None

    @cached_property
    def commands(self) -> list[Command]:
        return list(commands_of(self.world))

    def play(self, seed: int, between: Callable[[Play], None] | None = None) -> Play:
        return Play(self.source, seed, self.config).run(self.steps, between)

    @cached_property
    def _first(self) -> list[Play] | str:
        try:
            return [self.play(seed) for seed in self.seeds]
        except (Stopped, CohabitError, ValueError) as stopped:
            return str(stopped)

    @property
    def plays(self) -> list[Play]:
        """The plays, one per seed, if they completed."""
        if isinstance(self._first, str):
            raise CheckSkipped("the play stopped early")
        return self._first

    @property
    def stopped(self) -> str:
        return self._first if isinstance(self._first, str) else ""

    @property
    def reproducible_plays(self) -> list[Play]:
        """The plays, if they are reproducible."""
        plays = self.plays
        if not self.reproducible:
            raise CheckSkipped("the same seed does not give the same world")
        return plays

    def compare(self, play: Play, other: Sequence[Frozen], what: str) -> None:
        found = difference(play.frozen, other)
        if found:
            raise CheckFailed(f"{what}; seed {play.seed}, {found}")

    def first_problem(self, check: str) -> None:
        for play in self.plays:
            if check in play.problems:
                raise CheckFailed(play.problems[check])
