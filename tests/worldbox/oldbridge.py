"""A WorldBox bridge as the game has it: one token, one request per connection, and failures on demand.

It speaks the wire and keeps a tiny world, so that the tests see what arrives and can lose an answer.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

TOKEN = "theGamesOwnTokenThatNobodyElseMayEverSee00000042"
NEWER = {"list_speeds", "get_ui_state", "dismiss_window"}
"""Commands that 0.4 added."""
ACTIONS = {
    "invoke_power", "spawn", "paint_tile", "pause", "resume", "set_speed", "generate_world", "save_world", "load_world",
}  # fmt: skip


def kingdom(number: int, race: str, people: int, **more: Any) -> dict[str, Any]:
    line = {
        "id": number,
        "name": f"Realm {number}",
        "race": race,
        "cities_count": 1,
        "units_count": people,
        "wild": False,
    }
    return line | more


class Refuses(Exception):
    def __init__(self, code: str, message: str = "no", **more: Any) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **more}


class OldBridge:
    """``planned`` says what happens to the next request of a command: hold, drop (done, but not answered), garbage,
    or a refusal. ``asked`` are the requests that arrived, ``done`` the actions that took place."""

    def __init__(self, version: str = "0.7.0") -> None:
        self.version = version
        self.planned: dict[str, list[Any]] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.done: list[tuple[str, dict[str, Any]]] = []
        self.arrivals: asyncio.Queue[str] = asyncio.Queue()
        self.held: list[asyncio.Event] = []
        self.heads: list[dict[str, str]] = []
        self.token = TOKEN
        self.most_at_once = self._at_once = 0
        self.blind = False  # ignores kingdom_id, as a broken bridge might
        self.land = {"width": 128, "height": 128, "seed": 5}
        self.kingdoms = [kingdom(9, "orc", 2), kingdom(4, "human", 3), kingdom(1, "wolf", 40, wild=True)]
        self.actors = [
            {"name": f"{race}-{i}", "asset_id": race, "kingdom_id": owner, "x": x + i, "y": 10}
            for race, owner, x, count in (("human", 4, 10, 3), ("orc", 9, 90, 2), ("wolf", 1, 50, 40))
            for i in range(count)
        ]
        self.url = ""
        self._server: asyncio.Server | None = None
        self._port = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    @classmethod
    @asynccontextmanager
    async def open(cls, version: str = "0.7.0") -> "AsyncIterator[OldBridge]":
        game = cls(version)
        await game.start()
        try:
            yield game
        finally:
            await game.stop()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        """The game has ended: nothing listens, and open connections are closed."""
        assert self._server is not None
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()

    def plan(self, command: str, *events: Any) -> None:
        self.planned.setdefault(command, []).extend(events)

    def release(self) -> None:
        held, self.held = self.held, []
        for event in held:
            event.set()

    def names(self) -> list[str]:
        return [name for name, _ in self.done]

    # -- the wire ---------------------------------------------------------------------------------
    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await self._exchange(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._at_once -= 1
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        self.heads.append(headers)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        answer = await self._answer(method, path, headers, body)
        if answer is None:
            return
        status, text = answer
        out = text if isinstance(text, bytes) else json.dumps(text).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json; charset=utf-8\r\n"
            f"Content-Length: {len(out)}\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n".encode()
            + out
        )
        await writer.drain()

    def _accepts(self, headers: dict[str, str]) -> bool:
        if self.version < "0.3":  # only the older header is known
            return headers.get("x-wb-token") == self.token
        return headers.get("authorization") == f"Bearer {self.token}"

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any] | None:
        if not self._accepts(headers):
            return 401, {"ok": False, "error": {"code": "UNAUTHORIZED", "message": f"not {headers['x-wb-token']}"}}
        if (method, path) == ("GET", "/capabilities"):
            return self._capabilities()
        name, args = "health", {}
        if (method, path) == ("POST", "/cmd"):
            asked = json.loads(body)
            name, args = asked["name"], asked["args"]
        self.asked.append((name, args))
        self.arrivals.put_nowait(name)
        event = self.planned[name].pop(0) if self.planned.get(name) else None
        if event == "hold":
            released = asyncio.Event()
            self.held.append(released)
            await released.wait()
        if event == "garbage":
            return 502, b"<html>Bad Gateway</html>"
        if isinstance(event, Refuses):
            return 400, {"ok": False, "error": event.error}
        try:
            result = self._run(name, args)
        except Refuses as no:
            return 400, {"ok": False, "error": no.error}
        if name == "health" and self.version < "0.3":
            return 200, {"ok": True}
        return None if event == "drop" else (200, {"ok": True, "result": result, "tick": 7})

    def _commands(self) -> list[str]:
        names = [name.removeprefix("_do_") for name in dir(self) if name.startswith("_do_")]
        return [n for n in names if self.version >= "0.4" or n not in NEWER]

    def _capabilities(self) -> tuple[int, Any]:
        if self.version < "0.3":
            return 404, {"ok": False, "error": {"code": "UNKNOWN_COMMAND", "message": "no such route"}}
        takes = {
            "invoke_power": ["power_id", "x", "y"],
            "spawn": ["entity_id", "x", "y", "count", "adult", "spawn_height"],
        }
        if self.version >= "0.6":
            takes["invoke_power"] += ["radius", "pulses", "x2", "y2"]
        return 200, {
            "mod_version": self.version,
            "commands": [
                {"name": n} | ({"schema": {"properties": {name: {} for name in takes[n]}}} if n in takes else {})
                for n in self._commands()
            ],
        }

    def _run(self, name: str, args: dict[str, Any]) -> Any:
        if name not in self._commands():
            raise Refuses("UNKNOWN_COMMAND", f"there is no command {name}", command=name)
        result = getattr(self, f"_do_{name}")(args)
        if name in ACTIONS:
            self.done.append((name, args))
        return result

    # -- the world --------------------------------------------------------------------------------
    def _do_health(self, args: dict[str, Any]) -> Any:
        return {"ok": True, "mod_version": self.version, "worldbox_version": "0.51.2", "tick": 7, "enabled": True}

    def _do_get_world_state(self, args: dict[str, Any]) -> Any:
        counts = {"population_alive": 45, "population_lifetime": 99, "kingdoms_alive": 3, "kingdoms_ever_created": 8}
        return {**self.land, "tick": 7, "paused": False, **counts, "cities_alive": 2, "cities_ever_created": 6}

    def _do_list_kingdoms(self, args: dict[str, Any]) -> Any:
        items = [k for k in self.kingdoms if args.get("include_wild") or not k["wild"]]
        return {"items": items, "count": len(items)}

    def _do_list_cities(self, args: dict[str, Any]) -> Any:
        wanted = None if self.blind else args.get("kingdom_id")
        items = [
            {"id": k["id"] * 10, "name": f"City {k['id']}", "kingdom_id": k["id"]}
            for k in self.kingdoms
            if not k["wild"] and wanted in (None, k["id"])
        ]
        return {"items": items, "count": len(items)}

    def _do_query_actors(self, args: dict[str, Any]) -> Any:
        wanted, rect = None if self.blind else args.get("kingdom_id"), args.get("in_rect")
        found = [
            a for a in self.actors
            if wanted in (None, a["kingdom_id"]) and args.get("race") in (None, a["asset_id"])
            and (not rect or (0 <= a["x"] - rect["x"] < rect["w"] and 0 <= a["y"] - rect["y"] < rect["h"]))
        ]  # fmt: skip
        offset, limit = args.get("offset", 0), args.get("limit", 500)
        page = found[offset : offset + limit]
        return {
            "items": page, "matched": len(found), "returned": len(page), "offset": offset, "limit": limit,
            "total_scanned": len(self.actors), "has_more": offset + len(page) < len(found),
        }  # fmt: skip

    def _do_get_tile(self, args: dict[str, Any]) -> Any:
        here = [a["name"] for a in self.actors if (a["x"], a["y"]) == (args["x"], args["y"])]
        return {**args, "tile_id": "soil_low", "top_id": "road", "height": 90, "actors": here, "actor_count": len(here)}

    def _do_screenshot(self, args: dict[str, Any]) -> Any:
        return {"format": "png", "width": 1, "height": 1, "base64": "aGk=", "bytes": 2}

    def _do_get_ui_state(self, args: dict[str, Any]) -> Any:
        return {"window_active": False, "config_paused": False, "effective_paused": False, "world_loading": False}

    def _do_dismiss_window(self, args: dict[str, Any]) -> Any:
        return {"dismissed": False}

    def _do_list_powers(self, args: dict[str, Any]) -> Any:
        return {"items": [{"id": "rain"}, {"id": "nuke"}], "count": 2}

    _do_list_tiles = _do_list_actors = _do_list_speeds = _do_list_powers

    def _do_invoke_power(self, args: dict[str, Any]) -> Any:
        if args["power_id"] not in ("rain", "nuke"):
            near = ["rain", "nuke"]
            raise Refuses("UNKNOWN_ASSET", f"no power {args['power_id']}", did_you_mean=near, args=args, command="x")
        return {**args, "accepted": True}

    def _do_spawn(self, args: dict[str, Any]) -> Any:
        count = args.get("count", 1)
        return {**args, "requested": count, "spawned": count, "failed": 0, "names": ["x"] * count}

    def _do_paint_tile(self, args: dict[str, Any]) -> Any:
        return {"center": {"x": args["x"], "y": args["y"]}, "radius": 0, "painted": 1, "skipped": 0}

    def _do_pause(self, args: dict[str, Any]) -> Any:
        return {"previous_paused": False, "paused": True}

    def _do_resume(self, args: dict[str, Any]) -> Any:
        return {"previous_paused": True, "paused": False}

    def _do_set_speed(self, args: dict[str, Any]) -> Any:
        return {"speed_id": args["speed_id"], "multiplier": 0.5}

    def _do_generate_world(self, args: dict[str, Any]) -> Any:
        self.land = {"width": 256, "height": 256, "seed": self.land["seed"] + 1}
        self.kingdoms = [kingdom(70, "elf", 1), kingdom(60, "dwarf", 1)]
        self.actors = []
        return {"scheduled": True, "note": "soon"}

    def _do_save_world(self, args: dict[str, Any]) -> Any:
        return {"saved": True, "folder": args["folder"], "compressed": True}

    def _do_load_world(self, args: dict[str, Any]) -> Any:
        return {"scheduled": True, "bytes": 3, "source": "bytes_b64", "note": "soon"}
