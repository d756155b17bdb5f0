"""The JavaScript module for agents, at ``/kibitz.js``, and as a classic script at ``/kibitz.global.js``."""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

MODULE = Path(__file__).parent / "web" / "kibitz" / "kibitz.js"
HEADERS = {"cache-control": "no-cache", "x-content-type-options": "nosniff", "access-control-allow-origin": "*"}
"""Any page may load the scripts. What they may do in a house depends on its tokens and on `allowed_origins`."""
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)


def global_script(module: str, name: str = "Kibitz") -> str:
    """A module as a classic script that defines one global: what the module exports.

    The module imports nothing, and exports only what it declares at the beginning of a line.
    """
    exported = _EXPORT.findall(module)
    body = re.sub(r"^export ", "", module, flags=re.MULTILINE)
    return (
        f'(() => {{\n"use strict";\n{body}\nglobalThis.{name} = Object.freeze({{ {", ".join(exported)} }});\n}})();\n'
    )


async def _module(request: Request) -> Response:
    return FileResponse(MODULE, media_type="text/javascript", headers=HEADERS)


async def _global(request: Request) -> Response:
    text = global_script(MODULE.read_text(encoding="utf-8"))
    return PlainTextResponse(text, media_type="text/javascript", headers=HEADERS)


ROUTES = [Route("/kibitz.js", _module), Route("/kibitz.global.js", _global)]
