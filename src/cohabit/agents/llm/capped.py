"""A backend that stops when a run has spent its money."""

from cohabit.agents.llm.backend import Backend, Completion, Request, SpendingCapReached
from cohabit.agents.spending import Spending


class CappedBackend:
    def __init__(self, backend: Backend, spending: Spending) -> None:
        self.name, self.constrains = backend.name, backend.constrains
        self._backend, self._spending = backend, spending

    async def complete(self, request: Request) -> Completion:
        if self._spending.is_over:
            raise SpendingCapReached(f"the spending cap of ${self._spending.cap:g} is reached")
        completion = await self._backend.complete(request)
        if not completion.usage.cached:
            self._spending.add(completion.usage.dollars)
        return completion

    async def close(self) -> None:
        await self._backend.close()
