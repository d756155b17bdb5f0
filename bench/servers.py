"""The measured servers: a house, and bare servers with the same server library and settings."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

from bench.child import answer_as_stdout, say
from bench.common import ROOT, WORLDS

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
SEED = "5eed" * 8
"""Of every room; long, because a house warns of one that players can guess."""


async def house(
    *, members: int, world: str, role: str = "player", seated: bool = True, watchers: int = 0, data: str = "",
    store: str = "", config: dict[str, Any] | None = None, mcp: bool = False, rooms: int = 1, limits: bool = False,
    people: int = 0,
) -> None:  # fmt: skip
    """A house as ``cohabit serve`` runs it, with rooms of this many members. Reports its address and tokens.

    ``limits``: with the default limits instead of none. ``people``: members without a seat, who may write to everyone.
    A world from a file is trusted, so that it runs on the event loop as built-in ones do.
    """
    from cohabit.faces.serve import serve
    from cohabit.house.house import House
    from cohabit.house.settings import Settings
    from cohabit.house.store.memory import MemoryStore
    from cohabit.scenario import AgentSpec, Scenario

    # Most benches exceed what one member or one address may do.
    many = 10**9
    trusted = str(WORLDS / "plaza.py")
    settings = Settings(port=0, data=data, trusted_worlds=trusted) if limits else Settings(
        port=0, data=data, store=store, trusted_worlds=trusted, calls_per_second=many, frames_per_second=many,
        connections_limit=many, connections_per_address=many, member_bytes_per_hour=many**2,
        room_bytes=0, rooms_limit=10**6,
    )  # fmt: skip
    async with House.open(settings, store=None if data else MemoryStore()) as opened:
        tokens: list[str] = []
        for i in range(rooms):
            plan = Scenario(
                world=str(WORLDS / world) if world.endswith(".py") else world,
                config=config or {},
                agents=[AgentSpec(id=f"m{n}", role=role, claim=f"auto:{n}" if seated else None) for n in range(members)]
                + [AgentSpec(id=f"w{n}", role="agent") for n in range(watchers)]
                + [AgentSpec(id=f"p{n}", role="human", kind="human") for n in range(people)],
            )
            _, made = await opened.create_room(plan, f"bench-{i}", SEED)
            tokens += made.values()
        await serve(opened, ready=lambda url: say({"url": url, "tokens": tokens}), mcp=mcp)


async def hung_worlds(*, rooms: int, data: str) -> None:
    """A house with a room of nim, and rooms with a world that hangs if its player wants it to."""
    from cohabit.faces.serve import serve
    from cohabit.house.house import House
    from cohabit.house.settings import Settings
    from cohabit.scenario import AgentSpec, Scenario

    async with House.open(Settings(port=0, data=data)) as opened:
        member = AgentSpec(id="ann", role="narrator")
        _, tokens = await opened.create_room(Scenario(world="nim", agents=[member]), "quiet", SEED)
        for i in range(rooms):
            plan = Scenario(
                world=str(WORLDS / "stuck.py"), agents=[AgentSpec(id=f"m{i}", role="player", claim="auto:0")]
            )
            _, made = await opened.create_room(plan, f"stuck-{i}", SEED)
            tokens |= made
        await serve(opened, ready=lambda url: say({"url": url, "tokens": list(tokens.values())}), mcp=False)


async def serve_bare(app: Any) -> None:
    """The same server library and settings as ``cohabit.faces.serve``, but plain ASGI for WebSockets too."""
    config = uvicorn.Config(
        app,
        port=0,
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=1024 * 1024,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    await Bare(config).serve()


class Bare(uvicorn.Server):
    """uvicorn with a callback for startup."""

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        say({"url": f"http://127.0.0.1:{port}", "tokens": []})


async def echo(*, size: int) -> None:
    """Starlette's WebSocket, answering each message with one of ``size`` bytes."""
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute
    from starlette.websockets import WebSocket

    answer = "x" * size

    async def endpoint(socket: WebSocket) -> None:
        await socket.accept()
        async for _ in socket.iter_text():
            await socket.send_text(answer)

    await serve_bare(Starlette(routes=[WebSocketRoute("/ws", endpoint)]))


async def broadcast(*, frames: list[int], how: str) -> None:
    """Raw ASGI: after each received message all clients get ``frames`` (their sizes), in one of two ways."""
    texts = ["x" * size for size in frames]
    sends: list[Send] = []
    queues: list[asyncio.Queue[str]] = []

    async def write(send: Send, queue: asyncio.Queue[str]) -> None:
        while True:
            await send({"type": "websocket.send", "text": await queue.get()})

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return
        await receive()
        await send({"type": "websocket.accept"})
        queue: asyncio.Queue[str] = asyncio.Queue()
        sends.append(send)
        queues.append(queue)
        writer = asyncio.ensure_future(write(send, queue)) if how == "queue" else None
        while (await receive())["type"] == "websocket.receive":
            for text in texts:
                if how == "queue":
                    for each in queues:
                        each.put_nowait(text)
                else:
                    for other in sends:
                        await other({"type": "websocket.send", "text": text})
        if writer is not None:
            writer.cancel()
        sends.remove(send)
        queues.remove(queue)

    await serve_bare(app)


async def broadcast_in_c(*, size: int) -> None:
    """picows, a WebSocket server in C: all clients get each received text, filled up to ``size``."""
    from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_create_server

    transports: dict[WSTransport, None] = {}

    class Listener(WSListener):
        def on_ws_connected(self, transport: WSTransport) -> None:
            transports[transport] = None

        def on_ws_disconnected(self, transport: WSTransport) -> None:
            del transports[transport]

        def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
            if frame.msg_type == WSMsgType.TEXT:
                text = frame.get_payload_as_bytes().ljust(size)
                for other in transports:
                    other.send(WSMsgType.TEXT, text)

    server = await ws_create_server(lambda request: Listener(), "127.0.0.1", 0)
    say({"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "tokens": []})
    await server.serve_forever()


def colyseus() -> None:
    """A Colyseus server instead of this process, so its CPU time and memory are those of the process."""
    sys.path.insert(0, str(ROOT / "tools"))
    import test_needs

    for name in ("node22", "colyseus"):
        if test_needs.locate(name) is None:
            sys.exit(f"{test_needs.reason(name)}; run: python tools/test_needs.py {name}")
    node = str(test_needs.locate("node22"))
    os.chdir(test_needs.tools_of("bench/colyseus"))
    answer_as_stdout()
    os.execve(node, [node, str(ROOT / "bench/colyseus/server.mjs")], {**os.environ, "NODE_ENV": "production"})


async def mcp(*, how: str, result: dict[str, Any]) -> None:
    """A bare low-level server of the SDK with 20 tools that all answer ``result``.

    ``how``: as the SDK builds it (``default``); told that no tool has header parameters, so it does not list its
    tools before each call (``hook``); the same, and answers without a stream (``json``).
    """
    from contextlib import asynccontextmanager

    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    schema = {"type": "object", "properties": {"to": {"type": "string"}, "content": {"type": "string"}}}
    tools = [types.Tool(name=f"tool{i}", description="A tool.", input_schema=schema) for i in range(20)]
    text = [types.TextContent(text=part["text"]) for part in result["content"]]

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[*text], structured_content=result["structuredContent"])

    hook: dict[str, Any] = {} if how == "default" else {"get_tool_input_schema": lambda name: None}
    server: Server[Any] = Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool, **hook)
    manager = StreamableHTTPSessionManager(server, json_response=how == "json")

    class Endpoint:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        async with manager.run():
            yield

    await serve_bare(Starlette(routes=[Route("/mcp", Endpoint())], lifespan=lifespan))


async def waiting_agents(*, agents: int, model: str) -> None:
    """A house in which agents, two to a room, ask a model server. A member is in a room of its own."""
    from cohabit.faces.serve import serve
    from cohabit.house.house import House
    from cohabit.house.settings import Settings
    from cohabit.scenario import AgentSpec, Scenario

    async with House.open(Settings(port=0, rooms_limit=10**6, trusted_worlds=str(WORLDS / "plaza.py"))) as opened:
        brain = f"openai:bench@{model}/v1?retries=0"
        for i in range(agents // 2):
            seats = [AgentSpec(id=f"m{n}", role="player", claim=f"auto:{n}", brain=brain) for n in range(2)]
            await opened.create_room(Scenario(world=str(WORLDS / "plaza.py"), agents=seats), f"bench-{i}", SEED)
        member = AgentSpec(id="ann", role="human", kind="human")
        _, made = await opened.create_room(Scenario(world="nim", agents=[member]), "quiet", SEED)
        await serve(opened, ready=lambda url: say({"url": url, "tokens": list(made.values())}), mcp=False)


async def slow_model(*, delay_s: float) -> None:
    """Chat completions as OpenAI's protocol has them, each after ``delay_s``."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def models(request: Request) -> JSONResponse:
        return JSONResponse({"data": []})

    async def chat(request: Request) -> JSONResponse:
        await asyncio.sleep(delay_s)
        message = {"role": "assistant", "content": '{"action": "bump", "params": {"by_n": 1}}'}
        return JSONResponse(
            {
                "id": "1", "object": "chat.completion", "created": 1, "model": "bench",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        )  # fmt: skip

    routes = [Route("/v1/models", models), Route("/v1/chat/completions", chat, methods=["POST"])]
    await serve_bare(Starlette(routes=routes))
