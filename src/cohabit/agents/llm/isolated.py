"""The language model of an agent that runs in a process of its own.

The agent's process sends each request. Retries, limits, the cache, spans and counting happen in its parent, here, as
for every other agent.
"""

from functools import partial

from msgspec import Raw

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import NO_SETTING, Setting
from cohabit.agents.isolated import IsolatedAgent
from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request
from cohabit.agents.llm.cached import CachedBackend
from cohabit.agents.llm.calls import ask, exchange
from cohabit.agents.llm.metered import MeteredBackend, check_cap
from cohabit.agents.llm.rate import rate_limit_of
from cohabit.agents.llm.retrying import RetryingBackend
from cohabit.agents.llm.telemetry import traced
from cohabit.agents.spending import Spending
from cohabit.agents.wire import AgentError, packed, unpacked


class IsolatedBackend:
    """Lets the agent's process send a request."""

    def __init__(self, agent: IsolatedAgent) -> None:
        self._agent = agent
        facts = agent.facts
        self.name, self.constrains, self.prompt_factor = facts.backend, facts.constrains, facts.prompt_factor

    async def complete(self, request: Request) -> Completion:
        try:
            completion: Completion = unpacked(await self._agent.complete(packed(request)), Completion)
        except AgentError as wrong:
            if wrong.failure is None or not wrong.failure.of_backend:
                raise
            raise wrong.failure.of_kind(BackendError) from None
        return completion

    async def close(self) -> None:
        """The agent closes it."""


def use_backend(agent: IsolatedAgent, setting: Setting | None) -> None:
    """Give the agent its ``backend``, and let it spend what the setting allows."""
    facts, setting, label = agent.facts, setting or NO_SETTING, parse_brain(agent.name).label
    if setting.spending is not None:
        check_cap(label, facts, setting.spending.cap)
    if not facts.backend:
        return
    metered = MeteredBackend(traced(IsolatedBackend(agent)), Spending())
    backend: Backend = RetryingBackend(metered, facts.retries, facts.per_minute, rate=rate_limit_of(facts.account))
    agent.backend = backend if setting.cache is None else CachedBackend(backend, setting.cache)
    agent.completing = partial(_complete, agent)

    def spend_from(spending: Spending) -> None:
        check_cap(label, facts, spending.cap)
        metered.spending = spending

    agent.spend_from = spend_from
    if setting.spending is not None:
        spend_from(setting.spending)


async def _complete(agent: IsolatedAgent, encoded: Raw) -> Raw:
    """The answer to a question, and the requests that it took."""
    request = unpacked(encoded, Request)
    found, calls = await ask(agent.backend, request, lambda made: agent.exchanges.append(made))
    agent.exchanges.append(exchange(request, found, calls))
    return packed((found, calls))
