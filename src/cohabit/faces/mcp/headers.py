"""Header values as RFC 9110 defines them: without the white space around them.

The HTTP parser in use (httptools) strips only leading white space, and MCP compares headers with the body character
by character. A client must not be refused for a trailing space.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class TrimmedHeaders:
    """ASGI middleware: passes requests on with trimmed headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope.get("headers", ())
        if any(value != value.strip(b" \t") for _, value in headers):
            scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in headers]}
        await self.app(scope, receive, send)
