"""Agents that fail in every way there is. ``mark``: a file that keeps what happened, and that a fault happens once."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from cohabit import Action
from cohabit.agents.contract import PlayerLeft


def crash(how: str) -> None:
    """What no exception handler catches."""
    match how:
        case "segfault":
            ctypes.string_at(0)
        case "abort":
            os.abort()
        case "exit":
            os._exit(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "fork":
            if os.fork() == 0:
                time.sleep(20)  # a helper that outlives the agent
            os._exit(3)
        case "program":
            os.system("sleep 1000 &")  # the same, with a program
            os._exit(3)
        case "closes":
            os.closerange(3, 4096)  # as programs do that go to the background
            time.sleep(1000)
        case "garbage":
            write(b"\0\0\0\4" + b"\xc1" * 4)
        case "huge":
            write(b"\xff" * 4)
            time.sleep(1000)
        case "flood":
            from cohabit.agents.wire import Call, frame, packed

            for number in range(2_000):
                write(frame(Call(number, "complete", packed(({},)))))
            time.sleep(1000)
        case "hold":
            ctypes.PyDLL(None).sleep(1000)  # in C, with the lock of the interpreter
        case "loop":
            while True:
                pass
        case "sleep":
            time.sleep(1000)
        case "raise":
            raise ZeroDivisionError("a bug")
        case "leave":
            raise PlayerLeft("bye")


def write(data: bytes) -> None:
    """Into the connection of the process with its parent."""
    os.write(int(sys.argv[1]), data)


class Sync:
    """Does what ``how`` says in the method ``where``: always, or once if there is a ``mark``."""

    def __init__(self, how: str = "", where: str = "", mark: str = "") -> None:
        self.how, self.where, self.mark = how, where, Path(mark) if mark else None

    def fault(self, where: str) -> None:
        if self.mark is not None:
            with self.mark.open("a") as file:  # other games, in other processes, append to it as well
                file.write(f"{where} ")
        if where == self.where and self.is_first():
            crash(self.how)

    def is_first(self) -> bool:
        """Whether the fault is to happen now. With a ``mark`` it happens to one agent, once."""
        if self.mark is None:
            return True
        try:
            self.mark.with_suffix(".done").open("x").close()
        except FileExistsError:
            return False
        return True

    def initialize(self, game_desc: str, action_space: Any) -> None:
        self.fault("initialize")

    def plan(self, goals: Any) -> list[str]:
        self.fault("plan")
        return []

    def decide(self, observation: Any) -> Any:
        self.fault("decide")
        choice = observation.choices[0]
        return Action(choice["action"], choice["params"])

    def reflect(self, result: Any) -> None:
        self.fault("reflect")

    def close(self) -> None:
        self.fault("close")


class Quick(Sync):
    quick = True


class Async(Sync):
    """The same with asynchronous methods, which block."""

    async def initialize(self, game_desc: str, action_space: Any) -> None:  # type: ignore[override]
        super().initialize(game_desc, action_space)

    async def plan(self, goals: Any) -> list[str]:  # type: ignore[override]
        return super().plan(goals)

    async def decide(self, observation: Any) -> Any:
        return super().decide(observation)

    async def reflect(self, result: Any) -> None:  # type: ignore[override]
        super().reflect(result)

    async def close(self) -> None:  # type: ignore[override]
        super().close()


class Thinks(Sync):
    """One that reads the whole turn."""

    async def think(self, turn: Any, correction: str = "") -> Any:
        from cohabit.agents.contract import Thought

        return Thought(super().decide(turn.observation))


class OnlyDecides:
    async def decide(self, observation: Any) -> Any:
        choice = observation.choices[0]
        return Action(choice["action"], choice["params"])


class Late(OnlyDecides):
    """Answers, but too late: a loop that is blocked notices no time limit."""

    async def decide(self, observation: Any) -> Any:
        time.sleep(0.7)  # noqa: ASYNC251 - as a bad agent does
        return await super().decide(observation)


class Patient(OnlyDecides):
    """Is too late as well, but can be cancelled."""

    async def decide(self, observation: Any) -> Any:
        await asyncio.sleep(1000)


class Busy(OnlyDecides):
    """Leaves a thread of its event loop that never ends."""

    async def decide(self, observation: Any) -> Any:
        asyncio.get_running_loop().run_in_executor(None, time.sleep, 1000)
        return await super().decide(observation)


class Asks(OnlyDecides):
    """Asks a language model. If it is ``hasty``, it does not wait for the answer."""

    def __init__(self, hasty: bool = False) -> None:
        self.backend, self.hasty = Model(), hasty

    async def decide(self, observation: Any) -> Any:
        from cohabit.agents.llm.backend import ChatMessage, Request

        question = asyncio.ensure_future(self.backend.complete(Request([ChatMessage("user", f"hasty: {self.hasty}")])))
        if self.hasty:
            await asyncio.sleep(0)
            return None
        return Action((await question).text)


class Model:
    name, constrains, priced = "model", False, False

    async def complete(self, request: Any) -> Any:
        raise NotImplementedError

    async def close(self) -> None: ...


class Remembers:
    """Keeps state in its class, against the contract."""

    games = 0

    def __init__(self) -> None:
        Remembers.games += 1

    def decide(self, observation: Any) -> Any:
        choice = observation.choices[min(Remembers.games, len(observation.choices)) - 1]
        return Action(choice["action"], choice["params"])


class WrongSignature:
    def decide(self) -> Any: ...


class Nothing:
    def decide(self, observation: Any) -> Any:
        return "no action"
