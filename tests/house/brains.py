"""Agents for the tests of a house: slow, failing, and ones that never return. A test opens their gates."""

import threading
from typing import Any, ClassVar

GO = threading.Event()
STARTED = threading.Semaphore(0)


class Scripted:
    """Takes one stone, without a gate."""

    def initialize(self, game_desc: str, action_space: Any) -> None: ...

    def decide(self, observation: Any) -> Any:
        from cohabit.model.action import Action

        return Action("take", {"n": 1}, "one is enough")

    def reflect(self, result: Any) -> None: ...

    def plan(self, goals: Any) -> list[str]:
        return []


class AlwaysRefused(Scripted):
    def decide(self, observation: Any) -> Any:
        from cohabit.model.action import Action

        return Action("take", {"n": 99})


class Slow(Scripted):
    def decide(self, observation: Any) -> Any:
        STARTED.release()
        GO.wait(60)
        return super().decide(observation)


class SlowReflect(Scripted):
    def reflect(self, result: Any) -> None:
        STARTED.release()
        GO.wait(60)


class Raises(Scripted):
    def decide(self, observation: Any) -> Any:
        raise ZeroDivisionError("a bug of the agent")


class CannotStart(Scripted):
    def initialize(self, game_desc: str, action_space: Any) -> None:
        raise ZeroDivisionError("a bug in initialize")


class CannotBeMade(Scripted):
    def __init__(self) -> None:
        raise OSError("no such device")


class Opens(Scripted):
    """Holds something that has to be closed."""

    opened = closed = 0

    def __init__(self) -> None:
        Opens.opened += 1

    async def close(self) -> None:
        Opens.closed += 1


class Blocks(Scripted):
    """An async agent that blocks its event loop, against the contract."""

    async def initialize(self, game_desc: str, action_space: Any) -> None: ...

    async def decide(self, observation: Any) -> Any:
        STARTED.release()
        GO.wait(60)
        return super().decide(observation)

    async def reflect(self, result: Any) -> None: ...

    async def plan(self, goals: Any) -> list[str]:
        return []


class Waits(Blocks):
    """An async agent that waits, and says when it is cancelled."""

    cancelled = threading.Event()

    async def decide(self, observation: Any) -> Any:
        import asyncio

        STARTED.release()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class Watches(Scripted):
    """Plays Lanterns by standing still, and keeps the ticks at which it decided."""

    ticks: ClassVar[list[int]] = []

    def decide(self, observation: Any) -> Any:
        from cohabit.model.action import Action

        self.ticks.append(observation.step)
        return Action("halt")
