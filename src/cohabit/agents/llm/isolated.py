"""The backend of an agent that runs in a process of its own, as its parent uses it."""

from cohabit.agents.isolated import IsolatedAgent
from cohabit.agents.llm.backend import BackendError, Completion, Request
from cohabit.agents.wire import AgentError, packed, unpacked


class IsolatedBackend:
    """Asks the backend in the agent's process."""

    def __init__(self, agent: IsolatedAgent) -> None:
        self._agent = agent
        self.name, self.constrains = agent.facts.backend, agent.facts.constrains

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
