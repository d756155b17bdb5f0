"""Small HTTP servers for tests: one that misbehaves as told, and those that speak a protocol over the local model.

There is no Ollama server in the tests, nor one that follows Anthropic's structured output. ``ollama_chat`` answers
`/api/chat`, and ``anthropic_messages`` `/v1/messages`, as their documentation describes it, with the embedded model
behind them.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from cohabit.agents.brain import parse_brain
from cohabit.agents.llm.backend import ChatMessage, Request
from cohabit.agents.llm.local import LocalBackend

Handler = Callable[[str, dict[str, Any], asyncio.StreamWriter], Awaitable[None]]
"""Gets the path, the JSON body, and where to write the reply."""


@asynccontextmanager
async def http_server(handler: Handler, heads: list[str] | None = None) -> AsyncIterator[str]:
    """A server on a free port; its address. ``heads`` gets the request line and the headers of every request."""
    tasks: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        writers.append(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if heads is not None:
                heads.append(head)
            length = next(
                (int(h.split(":")[1]) for h in head.splitlines() if h.lower().startswith("content-length")), 0
            )
            body = json.loads(await reader.readexactly(length) or b"{}")
            await handler(head.split()[1], body, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        host, port = server.sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:  # also one whose client does not read the reply
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


def reply(
    status: int, body: str, kind: str = "application/json", *, length: int | None = None, **headers: str
) -> bytes:
    """A whole HTTP reply, or with ``length`` one that promises more than it has."""
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", "connection: close"]
    lines += [f"content-length: {len(body.encode()) if length is None else length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


async def ollama_chat(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """POST /api/chat, not streamed: model, messages, format, options; message, done_reason and counts come back."""
    if path != "/api/chat" or body["stream"]:
        writer.write(reply(404, json.dumps({"error": "not found"})))
        return
    if body["model"] != "smollm2:135m":
        writer.write(reply(404, json.dumps({"error": f"model '{body['model']}' not found"})))
        return
    messages = [ChatMessage(m["role"], m["content"]) for m in body["messages"]]
    options = body["options"]
    request = Request(messages, body.get("format"), options["num_predict"], options["temperature"], options.get("seed"))
    found = await LocalBackend(parse_brain("local")).complete(request)
    said = {
        "model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": True,
        "message": {"role": "assistant", "content": found.text},
        "done_reason": "stop" if found.stopped == "end" else "length",
        "prompt_eval_count": found.usage.prompt_tokens, "eval_count": found.usage.completion_tokens,
    }  # fmt: skip
    writer.write(reply(200, json.dumps(said)))


async def anthropic_messages(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """POST /v1/messages, not streamed, with structured output: the answer follows ``output_config.format``."""
    if path.partition("?")[0] != "/v1/messages" or body.get("stream"):
        writer.write(reply(404, json.dumps({"type": "error", "error": {"type": "not_found_error", "message": "no"}})))
        return
    system = [ChatMessage("system", block["text"]) for block in body.get("system", [])]
    messages = [*system, *(ChatMessage(m["role"], m["content"]) for m in body["messages"])]
    wanted = body["output_config"]["format"]
    assert wanted["type"] == "json_schema"
    request = Request(messages, wanted["schema"], body["max_tokens"], body["temperature"])
    found = await LocalBackend(parse_brain("local")).complete(request)
    said = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [{"type": "text", "text": found.text}], "stop_sequence": None,
        "stop_reason": "end_turn" if found.stopped == "end" else "max_tokens",
        "usage": {"input_tokens": found.usage.prompt_tokens, "output_tokens": found.usage.completion_tokens},
    }  # fmt: skip
    writer.write(reply(200, json.dumps(said)))
