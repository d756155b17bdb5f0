"""Counts the replies of an interface that makes something else of the results of calls, such as the text of a tool.

Each call is counted by the size of its result first; when the bytes are sent, the count is corrected. So an interface
that forgets to say what it has sent is counted all the same.
"""

from collections import deque
from typing import Protocol, TypeVar

from cohabit.house.running.calls import Call
from cohabit.house.running.egress import Account, Line, measured
from cohabit.model.egress import SentKind


class HasBody(Protocol):
    body: bytes | memoryview


Body = TypeVar("Body", bound=HasBody)


class Counts(Protocol):
    """The counts to which a reply was added."""

    def add(self, kind: SentKind, size: int, times: int = 1) -> None:
        """Count something that leaves. ``times=0``: a correction."""


class Shaped:
    """The replies to one request: pass ``deliver`` with each call, say what was ``sent``, and ``close`` at the end."""

    def __init__(self, account: Account | None = None) -> None:
        """``account``: of the caller, for what is sent without a call."""
        self.account = account
        self._expected: deque[tuple[Counts, SentKind, int]] = deque()
        self._last: tuple[Counts, SentKind] | None = None
        self._call: Call | None = None
        self._is_complete = False

    def deliver(self, call: Call) -> int:
        size, line = measured(call), call.leaves_by
        if not isinstance(line, Line):
            return size
        if call is self._call:  # its reply is withheld, and this is the refusal
            self._expect(*self._expected.pop(), -1)
        self._call = call
        self.counted(line, "refusals" if call.error is not None else call.reply.sends, size)
        return size

    def counted(self, line: Counts, kind: SentKind, size: int) -> None:
        """A reply of this size was counted, and will be sent."""
        self._last = line, kind
        self._expected.append((line, kind, size))
        self._expect(line, kind, size)

    def _expect(self, line: Counts, kind: SentKind, size: int, sign: int = 1) -> None:
        """After the response, as in the work of a task: the reply leaves with another request, which counts it."""
        if self._is_complete:
            line.add(kind, -size * sign, 0)

    def sent(self, size: int) -> None:
        """So many bytes were sent to the client."""
        while size and self._expected:
            line, kind, expected = self._expected.popleft()
            if expected > size:
                self._expected.appendleft((line, kind, expected - size))
            size = max(0, size - expected)
        if not size:
            return
        if self._last is not None:
            self._last[0].add(self._last[1], size, 0)
        elif self.account is not None:
            self.account.line.add("protocol", size)

    def response(self, response: Body) -> Body:
        """The only response to this request: count its body."""
        self.sent(len(response.body))
        self.close()
        return response

    def close(self) -> None:
        """The response is complete: what was expected and not sent did not leave."""
        for line, kind, expected in self._expected:
            line.add(kind, -expected, 0)
        self._expected.clear()
        self._is_complete, self._call = True, None
