"""A backend that stops when a run has spent its money.

A request is counted before it is made, with an estimate: one that is given up, because of a timeout or because a person
takes the seat, is paid for all the same.
"""

from typing import Any

from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request, SpendingCapReached
from cohabit.agents.llm.memory import CHARS_PER_TOKEN
from cohabit.agents.llm.prices import VARIABLE, dollars
from cohabit.agents.spending import Spending
from cohabit.errors import BadArgs


class CappedBackend:
    def __init__(self, backend: Backend, spending: Spending) -> None:
        self.name, self.constrains = backend.name, backend.constrains
        self._backend, self._spending = backend, spending

    async def complete(self, request: Request) -> Completion:
        reserved = estimate(self.name, request)
        if not self._spending.reserve(reserved):
            raise SpendingCapReached(f"the spending cap of ${self._spending.cap:g} is reached", unpaid=True)
        try:
            completion = await self._backend.complete(request)
        except BackendError as wrong:
            if wrong.unpaid:
                self._spending.settle(reserved, 0.0)
            raise
        self._spending.settle(reserved, 0.0 if completion.usage.cached else completion.usage.dollars)
        return completion

    async def close(self) -> None:
        await self._backend.close()


def estimate(name: str, request: Request) -> float:
    """What a request costs at most, about: the whole prompt, and an answer as long as it may be. 0 if it is free."""
    prompt = sum(len(message.content) for message in request.messages) // CHARS_PER_TOKEN
    return dollars(name, prompt, request.max_tokens) or 0.0


def check_price(agent: Any, cap: float | None) -> None:
    """Refuse a cap that cannot be kept, because it is not known what the answers of an agent cost."""
    if cap is None or getattr(agent, "priced", True):
        return
    name = agent.brain.label
    raise BadArgs(
        f"the price of {name} is not known, so a cap of ${cap:g} cannot be kept. Set {VARIABLE} to a JSON file with "
        f'dollars per million tokens, as {{"{name}": [prompt, completion]}}; [0, 0] for a server of your own'
    )
