"""Responses that refuse an HTTP request before its interface gets it, in the format of that interface.

MCP clients need a JSON-RPC error with the id of their request.
"""

from typing import Final

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cohabit.errors import AskerError, Busy, CohabitError
from cohabit.faces.guard import error_response

INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
MAX_READ: Final = 64 * 1024
"""In a larger body the id is not looked for."""


class _Asked(msgspec.Struct):
    id: str | int | None = None


_decode = msgspec.json.Decoder(_Asked).decode


async def refuse(error: CohabitError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request whose body was not read yet."""
    body, more = b"", is_mcp(scope["path"]) and scope["method"] == "POST"
    while more and len(body) <= MAX_READ:
        message = await receive()
        if message["type"] != "http.request":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await refusal(error, scope["path"], body)(scope, receive, send)


def refusal(error: CohabitError, path: str, body: bytes = b"") -> Response:
    """The response to a request. ``body``: of the request, if it is known."""
    return rpc_error(error, body) if is_mcp(path) else error_response(error)


def is_mcp(path: str) -> bool:
    return path == "/mcp" or path.startswith("/mcp/")


def rpc_error(error: CohabitError, body: bytes = b"") -> Response:
    """The error as JSON-RPC has it."""
    try:
        asked = _decode(body)
    except (msgspec.MsgspecError, RecursionError):
        asked = _Asked()
    response = error_response(error)
    said = {"code": rpc_code(error), "message": error.as_text(), "data": error.as_wire()}
    response.body = msgspec.json.encode({"jsonrpc": "2.0", "id": asked.id, "error": said})
    response.headers["content-length"] = str(len(response.body))
    return response


def rpc_code(error: CohabitError) -> int:
    return INVALID_PARAMS if isinstance(error, AskerError) and not isinstance(error, Busy) else INTERNAL_ERROR
