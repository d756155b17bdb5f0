"""The way for MCP clients to find the identity provider of a house: protected resource metadata (RFC 9728), and the
challenge that points to it.

The whole house is one resource, whichever endpoint a client uses: its audience is the address of the house.
"""

from typing import Final
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cohabit.errors import CohabitError
from cohabit.house.access.sign_in import InsufficientScope, SignIn

METADATA: Final = "/.well-known/oauth-protected-resource"
HEADERS: Final = {"cache-control": "max-age=300"}


def oauth_routes(signing_in: SignIn | None) -> list[Route]:
    """The routes of the metadata; none in a house without an identity provider. Clients add the path of the endpoint to
    the address."""
    if signing_in is None:
        return []

    async def metadata(request: Request) -> Response:
        said = {
            "resource": signing_in.resource,
            "authorization_servers": [signing_in.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Cohabit",
            **({"scopes_supported": signing_in.scopes} if signing_in.scopes else {}),
        }
        return Response(msgspec.json.encode(said), media_type="application/json", headers=HEADERS)

    return [Route(f"{METADATA}{path}", metadata) for path in ("", "/mcp", "/mcp/{room}")]


def add_challenge(
    response: Response, signing_in: SignIn | None, path: str, refusal: CohabitError, *, has_token: bool
) -> None:
    """Say in a refusal how a client of MCP signs in, if the house has an identity provider and that would help."""
    is_scope = isinstance(refusal, InsufficientScope)
    if signing_in is None or not (refusal.status == 401 or is_scope):
        return
    said = {"realm": "cohabit"}
    if has_token:
        said["error"] = "insufficient_scope" if is_scope else "invalid_token"
    if signing_in.scopes:
        said["scope"] = " ".join(signing_in.scopes)
    said["resource_metadata"] = f"{signing_in.resource}{METADATA}{quote(path)}"
    response.headers["www-authenticate"] = "Bearer " + ", ".join(f'{name}="{value}"' for name, value in said.items())
