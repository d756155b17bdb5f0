"""HTTP to model servers: which server gets which key, and how long a reply may be.

The official clients come with their own versions of httpx, so the class here is made for the one of each client.
"""

import os
import sys
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from cohabit.agents.secrets import api_key, is_secret_name
from cohabit.errors import BadArgs
from cohabit.model.cached import cached

MAX_REPLY = 1024 * 1024
"""Bytes of a reply. A long answer of a model has some ten thousand."""
KEYS_VARIABLE = "COHABIT_API_KEYS"
"""The servers besides the provider's own that get a key: ``https://host=VARIABLE``, several separated by commas."""
PLAIN_HEADERS = frozenset(
    ("host", "content-type", "content-length", "accept", "accept-encoding", "connection", "user-agent",
     "transfer-encoding", "anthropic-version")
)  # fmt: skip
"""The headers that a server without a key is sent: clients add keys and accounts of the environment."""


class UnreadableReply(Exception):
    """A reply that is not read. The message says why, and has nothing of the reply."""


def key_for(url: str, provider: str, variable: str) -> str | None:
    """The key for a server; None if it gets none.

    The address in the name of a brain can be anybody's. Only the provider and the servers that the environment lists
    get a key. ``variable`` has the provider's.
    """
    if not url or origin_of(url) == provider:
        return api_key(variable)
    listed = keys_listed().get(origin_of(url))
    return api_key(listed) if listed is not None else None


def origin_of(url: str) -> str:
    """Scheme, host and port of an address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadArgs(f"{url[:80]!r} is not an address") from None
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{parts.hostname or ''}" + (f":{port}" if port not in (None, default) else "")


def keys_listed() -> dict[str, str]:
    """The variables with keys, by server."""
    found: dict[str, str] = {}
    for pair in os.environ.get(KEYS_VARIABLE, "").replace(",", " ").split():
        url, _, variable = pair.rpartition("=")
        if not url.startswith(("http://", "https://")) or not (variable.isidentifier() and is_secret_name(variable)):
            # the pair is not quoted: somebody may have written a key into it
            raise BadArgs(
                f"{KEYS_VARIABLE} must list servers and the variables with their keys, as https://host=NAME_API_KEY; "
                "the name must end in KEY, TOKEN, SECRET or PASSWORD"
            )
        found[origin_of(url)] = variable
    return found


def client(base: type[Any], with_key: bool, **options: Any) -> Any:
    """An httpx client derived from ``base``, which follows no redirects."""
    made = _limited(base)
    return made(with_key, follow_redirects=False, **options)


@cached
def _limited(base: type[Any]) -> type[Any]:
    library: Any = sys.modules[next(c.__module__ for c in base.__mro__ if c.__name__ == "AsyncClient").split(".")[0]]

    class Body(library.AsyncByteStream):  # type: ignore[misc]  # the library is not known before
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > MAX_REPLY:
                    raise UnreadableReply(f"the reply is longer than {MAX_REPLY:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Limited(base):  # type: ignore[misc]  # its base is an argument
        def __init__(self, with_key: bool, **options: Any) -> None:
            super().__init__(**options)
            self._with_key = with_key

        async def send(self, request: Any, *, stream: bool = False, **more: Any) -> Any:
            """A compressed reply can become a thousand times as long, so none is asked for and none is read."""
            request.headers["accept-encoding"] = "identity"
            if not self._with_key:
                for name in [name for name in request.headers if name.lower() not in PLAIN_HEADERS]:
                    del request.headers[name]
            response = await super().send(request, stream=True, **more)
            try:
                if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
                    raise UnreadableReply("the reply is compressed, which was not asked for")
                response.stream = Body(response.stream)
                if not stream:
                    await response.aread()
            except BaseException:
                await response.aclose()
                raise
            return response

    return Limited
