"""The client of the official MCP SDK, which signs in with OAuth by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken


class Storage:
    """What a client keeps."""

    def __init__(self) -> None:
        self.tokens: list[OAuthToken] = []
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """Opens the page of the provider, where the person signs in, and comes back with a code."""

    def __init__(self) -> None:
        self.visits = 0
        self.auth: OAuthClientProvider | None = None  # of the client that has opened it
        self._back: dict[str, list[str]] = {}

    async def open(self, address: str) -> None:
        self.visits += 1
        async with httpx2.AsyncClient(follow_redirects=False) as http:
            answer = await http.get(address)
        self._back = parse_qs(urlsplit(answer.headers["location"]).query)

    async def code(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=self._back["code"][0], state=self._back["state"][0], iss=self._back["iss"][0]
        )


@asynccontextmanager
async def signing_in(
    url: str, mode: str, storage: Storage | None = None, browser: Browser | None = None
) -> AsyncIterator[Client]:
    """The client of the official SDK, which signs in by itself."""
    browser = browser or Browser()
    metadata = OAuthClientMetadata(client_name="a test", redirect_uris=["http://127.0.0.1:1/callback"])  # type: ignore[list-item]
    browser.auth = auth = OAuthClientProvider(url, metadata, storage or Storage(), browser.open, browser.code)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client
