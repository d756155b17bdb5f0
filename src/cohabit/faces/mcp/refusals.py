"""The form in which errors of the house are reported over MCP.

A tool that is refused answers with a result that is marked as an error, because that is what the model gets
to read. Everything else (resources, prompts, lists) has no such result and fails as JSON-RPC fails, with the
same message and the same object.
"""

from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from cohabit.errors import CohabitError, internal_error
from cohabit.faces.refusing import rpc_code


def refused(error: CohabitError, *, values: bool) -> types.CallToolResult:
    """The result of a tool that was refused, or failed. ``values``: with the error as an object too."""
    return types.CallToolResult(
        content=[types.TextContent(text=error.as_text())],
        structured_content={"error": msgspec.to_builtins(error.as_wire())} if values else None,
        is_error=True,
    )


def failed(error: CohabitError) -> MCPError:
    """The same for everything that is not a tool."""
    return MCPError(rpc_code(error), error.as_text(), msgspec.to_builtins(error.as_wire()))


async def mask(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: only errors of the protocol leave. (The SDK would put the text of others on the wire.)"""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except CohabitError as error:
        raise failed(error) from None
    except Exception as unforeseen:
        raise failed(internal_error(unforeseen, "the MCP interface")) from None
