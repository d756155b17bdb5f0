"""Header values as RFC 9110 means them: without the white space around them.

The HTTP parser in use (httptools) strips it only in front, and MCP compares headers with the body letter by
letter: a client may not be refused for a blank at the end.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class TrimmedHeaders:
    """Hands requests on to `app` with clean headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope.get("headers", ())
        if any(value != value.strip(b" \t") for _, value in headers):
            scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in headers]}
        await self.app(scope, receive, send)
