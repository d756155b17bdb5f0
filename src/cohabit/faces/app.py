"""All interfaces of a house in one ASGI app: HTTP, WebSocket, MCP and the web page."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from cohabit.errors import CohabitError, UnknownCommand
from cohabit.faces.guard import Guard, error_response
from cohabit.faces.http import http_routes
from cohabit.faces.oauth import oauth_routes
from cohabit.faces.while_valid import while_valid
from cohabit.faces.ws import WsFace
from cohabit.house.house import House
from cohabit.house.reading.front_ends import with_parts
from cohabit.house.settings import Settings, split_names

if TYPE_CHECKING:
    from cohabit.faces.mcp.server import McpFace

PAGE = Path(__file__).parent / "web"
PLAYER = Path(__file__).parents[1] / "front_ends"
"""The files that the page shares with front ends, exported files and notebooks."""
PRIVATE = {"referrer-policy": "no-referrer", "x-content-type-options": "nosniff", "cache-control": "no-cache"}
"""Headers of the documents."""


def make_app(
    house: House,
    *,
    mcp: "bool | McpFace" = True,
    ws: WsFace | None = None,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> Guard:
    """The ASGI app of a house. ``mcp=False`` omits MCP, which takes a second to import; an existing McpFace is
    used as is, and so is a WsFace. ``around``: middleware for every request that the guard admits.

    Call ``stopping`` before shutdown to end open streams.
    """
    routes: list[BaseRoute] = [*oauth_routes(house.signing_in), *http_routes(house)]
    face = None
    if mcp:
        from cohabit.faces.mcp.server import McpFace

        face = McpFace(house) if mcp is True else mcp
        routes += face.routes()
    routes += [Route("/kibitz.js", _module), Route("/kibitz.global.js", _global)]
    routes.append(Route("/", _page))
    routes.append(Route("/frame", _frame))
    routes.append(Mount("/web", Fresh(directory=PAGE)))
    routes.append(Mount("/front_ends", Fresh(directory=PLAYER)))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with nullcontext() if face is None else face.lifespan():
            yield

    handlers: dict[Any, Any] = {
        CohabitError: lambda request, error: error_response(error),
        HTTPException: _no_such_route,
    }
    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return Guard(
        while_valid(around(Switch(_for_other_origins(inner, house.settings), ws or WsFace(house))), house),
        house.settings,
        face.close if face is not None else lambda: None,
    )


def _for_other_origins(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Answer the preflights of browsers, and let pages of the allowed origins read the responses.

    Credentials are tokens in a header, so no cookies are allowed.
    """
    origins = split_names(settings.allowed_origins)
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["mcp-session-id", "www-authenticate"],
    )


class Fresh(StaticFiles):
    """Static files that browsers always revalidate, so an upgrade never mixes old modules with a new page."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


class Switch:
    """Routes WebSockets to WsFace and everything else to Starlette."""

    def __init__(self, http: ASGIApp, ws: ASGIApp) -> None:
        self._http = http
        self._ws = ws

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._ws(scope, receive, send)
            return
        try:
            await self._http(scope, receive, send)
        except CohabitError as refusal:  # raised while the body was read
            await error_response(refusal)(scope, receive, send)


async def _page(request: Request) -> Response:
    policy = (
        "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data: blob:; frame-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    return FileResponse(PAGE / "index.html", headers={"content-security-policy": policy, **PRIVATE})


async def _frame(request: Request) -> Response:
    """The frame in which the page shows the front end of a world: inline scripts and styles, and nothing else."""
    policy = (
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:; font-src data:; media-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
    )
    headers = {"content-security-policy": policy, "x-dns-prefetch-control": "off", **PRIVATE}
    return HTMLResponse(with_parts((PAGE / "frame.html").read_text(), PAGE), headers=headers)


def _no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = "method not allowed at" if error.status_code == 405 else "no route for"
    refusal = UnknownCommand(f"{problem} {request.url.path[:200]}; see /openapi.json")
    return error_response(refusal, error.status_code)


# -- the JavaScript module for agents -----------------------------------------------------------
MODULE = PAGE / "kibitz" / "kibitz.js"
HEADERS = {"cache-control": "no-cache", "x-content-type-options": "nosniff", "access-control-allow-origin": "*"}
"""Any page may load the scripts. What they may do in a house depends on its tokens and on `allowed_origins`."""
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)


def global_script(module: str) -> str:
    """A module as a classic script that defines one global: what the module exports.

    The module imports nothing, and exports only what it declares at the beginning of a line.
    """
    exported = _EXPORT.findall(module)
    body = re.sub(r"^export ", "", module, flags=re.MULTILINE)
    kibitz = f"globalThis.Kibitz = Object.freeze({{ {', '.join(exported)} }});"
    return f'(() => {{\n"use strict";\n{body}\n{kibitz}\n}})();\n'


async def _module(request: Request) -> Response:
    return FileResponse(MODULE, media_type="text/javascript", headers=HEADERS)


async def _global(request: Request) -> Response:
    text = global_script(MODULE.read_text(encoding="utf-8"))
    return PlainTextResponse(text, media_type="text/javascript", headers=HEADERS)
