"""The readiness check of a load balancer: may new requests be sent to this house, and if not, why."""

from collections.abc import Callable, Mapping
from typing import Final

Check = Callable[[], str]
"""Returns why the house is not ready; empty if it is, as far as this check knows."""


READY: Final = "ready"
"""The state of a worker that runs rooms and answers."""


class Readiness:
    """Each part of a house that knows a reason adds a check. Checks run on every question, so none of them waits."""

    def __init__(self, *checks: Check) -> None:
        self.checks = [*checks]
        self.workers: Callable[[], Mapping[str, str]] = dict  # the state of each worker, where there are any

    def reasons(self) -> list[str]:
        """The reasons why requests should go to another house, or be sent later; none: the house is ready."""
        return [reason for check in self.checks if (reason := check())]
