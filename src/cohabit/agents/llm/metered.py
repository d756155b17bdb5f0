"""A backend whose every request is counted: among those of its question, and against the spending cap.

The most that a request can cost is reserved before it is sent. When its cost is known, that counts instead; if it never
becomes known, after a timeout or a broken reply, the reservation stays: the service may have worked and may charge it.
"""

from typing import Any

import msgspec

from cohabit.agents.contract import Call
from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request, SpendingCapReached, WrappedBackend
from cohabit.agents.llm.calls import note
from cohabit.agents.llm.prices import VARIABLE, dollars
from cohabit.agents.spending import Spending, amount
from cohabit.errors import BadArgs

TOKENS_PER_MESSAGE = 10
"""The tokens that chat templates add to each message, and once for the answer."""
GIVEN_UP = "the request was given up"


class MeteredBackend(WrappedBackend):
    def __init__(self, backend: Backend, spending: Spending) -> None:
        super().__init__(backend)
        self.spending = spending

    async def complete(self, request: Request) -> Completion:
        reserved, spending = most_dollars(self.name, request, self.prompt_factor), self.spending
        if not spending.reserve(reserved):
            raise SpendingCapReached(self._cap_text(reserved), unpaid=True, cause="spending_cap")
        try:
            completion = await self.backend.complete(request)
        except BackendError as wrong:
            if wrong.unpaid:
                spending.settle(reserved, 0.0)
            note(Call(wrong.cause, str(wrong), reserved=0.0 if wrong.unpaid else reserved))
            raise
        except Exception as bug:
            cause = "no_reply" if isinstance(bug, TimeoutError) else "exception"
            note(Call(cause, type(bug).__name__, reserved=reserved))
            raise
        except BaseException:  # cancelled, because nobody waits for it any more
            note(Call("no_reply", GIVEN_UP, reserved=reserved))
            raise
        usage = completion.usage
        paid = 0.0 if usage.cached else usage.dollars if usage.counted else None
        if paid is not None and amount(paid) is None:
            paid = None  # such as NaN
        spending.settle(reserved, paid)
        note(Call(paid=paid) if paid is not None else Call(reserved=reserved))
        return completion

    def _cap_text(self, reserved: float) -> str:
        spending, cap = self.spending, self.spending.cap or 0.0
        if spending.spent >= cap:
            return f"the spending cap of ${cap:g} is reached"
        return (
            f"the spending cap of ${cap:g} leaves ${cap - spending.spent:.4f}, "
            f"and a request may cost up to ${reserved:.4f}"
        )


def most_dollars(name: str, request: Request, prompt_factor: float = 1.0) -> float:
    """The most that a request can cost: no token is shorter than a byte, and the answer may be as long as is allowed.

    ``prompt_factor``: how much more than its price the service charges for a prompt at most. 0.0 if it is free.
    """
    bytes_sent = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    if request.schema is not None:
        bytes_sent += len(msgspec.json.encode(request.schema))
    prompt = bytes_sent + TOKENS_PER_MESSAGE * (len(request.messages) + 1)
    return dollars(name, prompt * prompt_factor, request.max_tokens) or 0.0


def check_cap(label: str, about: Any, cap: float | None) -> None:
    """Refuse a cap that cannot be kept, because it is not known what the answers of a brain cost. ``about``: an agent,
    or the facts of one in a process of its own."""
    if cap is None:
        return
    if why := getattr(about, "uncounted", ""):
        raise BadArgs(
            f"a cap of ${cap:g} cannot be kept, because the requests of {label} cannot be counted: {why}. "
            "An agent whose requests count decides asynchronously and asks one model, with `self.backend`"
        )
    if not getattr(about, "priced", True):
        asked = getattr(about, "backend", "")
        name = asked.partition("@")[0] if isinstance(asked, str) and asked else label
        raise BadArgs(
            f"the price of {name} is not known, so a cap of ${cap:g} cannot be kept. Set {VARIABLE} to a JSON file "
            f'with dollars per million tokens, as {{"{name}": [prompt, completion]}}; [0, 0] for a server of your own'
        )
