"""Agents of somebody's own that ask a language model, each in another way."""

import asyncio
from typing import Any

from cohabit import Action
from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Thought, Turn
from cohabit.agents.llm.backend import ChatMessage, Request
from cohabit.agents.llm.mind import LlmAgent
from cohabit.agents.llm.openai import OpenAiBackend
from cohabit.agents.llm.retrying import RetryingBackend
from cohabit.model.action import ActionSpace
from cohabit.model.observation import Observation


def question(seen: Observation, topic: str = "") -> Request:
    return Request([ChatMessage("user", topic + seen.to_text())], None, 100)


def first(seen: Observation) -> Action:
    return Action(seen.choices[0]["action"], seen.choices[0]["params"])


class Derived(LlmAgent):
    def __init__(self, url: str, model: str = "m") -> None:
        super().__init__(OpenAiBackend, parse_brain(f"openai:{model}@{url}/v1?retries=2"))


class Decides:
    def __init__(self, url: str, model: str = "m") -> None:
        self.backend: Any = OpenAiBackend(parse_brain(f"openai:{model}@{url}/v1"))

    async def decide(self, seen: Observation) -> Action:
        await self.backend.complete(question(seen))
        return first(seen)


class Retries(Decides):
    def __init__(self, url: str, model: str = "m") -> None:
        super().__init__(url, model)
        self.backend = RetryingBackend(self.backend, 2)


class Contains:
    def __init__(self, url: str, model: str = "m") -> None:
        self.inner = Derived(url, model)

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        await self.inner.initialize(game_desc, action_space)

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        return await self.inner.think(turn, correction)


class Two(Contains):
    def __init__(self, url: str, model: str = "m") -> None:
        super().__init__(url, model)
        self.other = Derived(url, model)


class Synchronous(Decides):
    def decide(self, seen: Observation) -> Action:  # type: ignore[override]
        asyncio.run(self.backend.complete(question(seen)))
        return first(seen)


class Catches(Decides):
    """Goes on after any exception."""

    async def decide(self, seen: Observation) -> Action:
        try:
            await self.backend.complete(question(seen))
        except Exception:
            return first(seen)
        return first(seen)


class AsksTwice(Decides):
    """Asks two questions at the same time."""

    async def decide(self, seen: Observation) -> Action:
        await asyncio.gather(*(self.backend.complete(question(seen, topic)) for topic in ("slow ", "quick ")))
        return first(seen)


class Impatient(Decides):
    """Waits for an answer as long as it wants to."""

    async def decide(self, seen: Observation) -> Action:
        try:
            async with asyncio.timeout(0.2):
                await self.backend.complete(question(seen))
        except TimeoutError:
            pass
        return first(seen)
