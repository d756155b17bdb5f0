"""Agents for the tests of a house: slow, failing, and ones that never return. They run in processes of their own, and
tell a test what they do over the socket that the option ``gate`` names; the test opens their gates."""

import socket
from typing import Any


class Scripted:
    """Takes one stone, without a gate."""

    def __init__(self, gate: str = "") -> None:
        self.gate = gate

    def initialize(self, game_desc: str, action_space: Any) -> None: ...

    def decide(self, observation: Any) -> Any:
        from cohabit.model.action import Action

        return Action("take", {"n": 1}, "one is enough")

    def reflect(self, result: Any) -> None: ...

    def plan(self, goals: Any) -> list[str]:
        return []

    def tell(self, what: str) -> None:
        """Tell the test. Returns when it has been heard; after ``wait`` when the gate is open."""
        with socket.socket(socket.AF_UNIX) as test:
            test.connect(self.gate)
            test.sendall(what.encode())
            test.recv(1)


class AlwaysRefused(Scripted):
    def decide(self, observation: Any) -> Any:
        from cohabit.model.action import Action

        return Action("take", {"n": 99})


class Slow(Scripted):
    def decide(self, observation: Any) -> Any:
        self.tell("wait")
        return super().decide(observation)


class SlowReflect(Scripted):
    def reflect(self, result: Any) -> None:
        self.tell("wait")


class Raises(Scripted):
    def decide(self, observation: Any) -> Any:
        raise ZeroDivisionError("a bug of the agent")


class CannotStart(Scripted):
    def initialize(self, game_desc: str, action_space: Any) -> None:
        raise ZeroDivisionError("a bug in initialize")


class CannotBeMade(Scripted):
    def __init__(self, gate: str = "") -> None:
        raise OSError("no such device")


class Opens(Scripted):
    """Holds something that has to be closed."""

    def __init__(self, gate: str) -> None:
        super().__init__(gate)
        self.tell("opened")

    async def close(self) -> None:
        self.tell("closed")


class OpensSync(Opens):
    def close(self) -> None:  # type: ignore[override]
        self.tell("closed")


class Blocks(Scripted):
    """An async agent that blocks its event loop, against the contract."""

    async def initialize(self, game_desc: str, action_space: Any) -> None: ...

    async def decide(self, observation: Any) -> Any:
        self.tell("wait")
        return super().decide(observation)

    async def reflect(self, result: Any) -> None: ...

    async def plan(self, goals: Any) -> list[str]:
        return []


class Waits(Blocks):
    """An async agent that waits, and says when it is cancelled."""

    async def decide(self, observation: Any) -> Any:
        import asyncio

        self.tell("started")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.tell("cancelled")
            raise


class Watches(Scripted):
    """Plays Lanterns by standing still, and tells the ticks at which it decided."""

    def decide(self, observation: Any) -> Any:
        from cohabit.model.action import Action

        self.tell(f"tick {observation.step}")
        return Action("halt")


class OnlyDecides:
    """An async agent without any other method."""

    def __init__(self, gate: str = "") -> None: ...

    async def decide(self, observation: Any) -> Any:
        from cohabit.model.action import Action

        return Action("take", {"n": 1})


class Segfaults(Scripted):
    def decide(self, observation: Any) -> Any:
        import ctypes

        ctypes.string_at(0)


class Exits(Scripted):
    def decide(self, observation: Any) -> Any:
        import os

        os._exit(0)
