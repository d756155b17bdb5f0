"""A house that serves the wire of the WorldBox bridge in the loop of the test, on a fake clock."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from msgspec import Struct

from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.protocols.worldbox.server import BridgeServer, bridge_app
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock
from cohabit.world import (
    Eye,
    GameRejected,
    Observation,
    Outcome,
    OutOfBounds,
    Seat,
    SeatId,
    Standing,
    UnknownAsset,
    World,
    WorldSpec,
    action,
    query,
)  # fmt: skip

BOX = f"{__file__}:Box"
AGENTS = [
    {"id": "zeus", "role": "god"},
    {"id": "athena", "role": "player", "kingdom_claim": "auto:0"},
    {"id": "ares", "role": "player", "kingdom_claim": "auto:1"},
    {"id": "argus", "role": "observer"},
]
SMALL = {"world": "kingdoms", "config": {"zones_x": 2, "zones_y": 2}, "scenario": "pvp", "partial_intel": True}


class Cell(Struct):
    x: int
    top_id: str | None = None
    notes: list[dict[str, Any]] = []


class Painted(Struct):
    x: int
    tile_id: str


class Box(World):
    """A small world for clients of the bridge, with a command for each kind of failure."""

    spec = WorldSpec(name="box", seats=(0, 2), seat_names=("1", "2"), pace="clock", quick=True, features=("worldbox",))

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.cells = ["sand"] * 4

    def to_move(self) -> Sequence[SeatId]:
        return ["1", "2"]

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=" ".join(self.cells))

    def standings(self) -> Sequence[Standing]:
        return [Standing("1", "Reds", 3, data={"id": 1, "name": "Reds", "units": 3, "cities": 1, "wild": False})]

    @query()
    def get_tile(self, eye: Eye, x: int) -> Cell:
        """A cell."""
        if not 0 <= x < 4:
            raise OutOfBounds(f"{x} is off the map")
        return Cell(x, notes=[{"of": None, "x": x}])

    @action(needs="act_global", gives=Painted)
    def paint_tile(self, by: Seat | None, x: int, tile_id: str) -> Outcome:
        """Paint a cell."""
        if tile_id not in ("sand", "soil"):
            raise UnknownAsset(f"there is no tile {tile_id!r}", did_you_mean=["sand", "soil"])
        if self.cells[x] == tile_id:
            raise GameRejected("it is that already")
        self.cells[x] = tile_id
        return Outcome("painted", data=Painted(x, tile_id))

    @action()
    def work(self, by: Seat) -> Outcome:
        """Work on your land."""
        return Outcome("you work")

    @query(category="control", needs="advance_time")
    def dismiss_window(self, eye: Eye) -> Cell:
        """Close a window."""
        return Cell(0)

    @query()
    def crash(self, eye: Eye) -> Cell:
        """Fail."""
        raise ZeroDivisionError("the secret is 42")

    @query()
    def hang(self, eye: Eye) -> Cell:
        """Never return."""
        while True:
            pass


class Bridged:
    """The port of the bridge, and the tokens of its agents."""

    def __init__(self, house: House, clock: FakeClock, port: int, tokens: dict[str, str]) -> None:
        self.house, self.clock, self.port, self.tokens = house, clock, port, tokens

    def http(self, who: str | None = None, **headers: str) -> httpx2.AsyncClient:
        if who is not None:
            headers["authorization"] = f"Bearer {self.tokens[who]}"
        url = f"http://127.0.0.1:{self.port}"
        return httpx2.AsyncClient(
            base_url=url, headers=headers, timeout=120, verify=False
        )  # no TLS, so no certificates

    async def cmd(self, who: str, name: Any, args: Any = None) -> httpx2.Response:
        """One command, as a client sends it."""
        async with self.http(who) as client:
            return await client.post("/cmd", json={"name": name, "args": {} if args is None else args})

    async def result(self, who: str, name: str, **args: Any) -> Any:
        answer = await self.cmd(who, name, args)
        body = answer.json()
        assert answer.status_code == 200, body
        assert body.keys() == {"ok", "result", "tick"}
        assert body["ok"] is True
        return body["result"]

    async def refusal(self, who: str, name: str, **args: Any) -> tuple[int, str]:
        answer = await self.cmd(who, name, args)
        return answer.status_code, answer.json()["error"]["code"]


@asynccontextmanager
async def bridged(folder: Path | None = None, settings: Any = None, **scenario: Any) -> AsyncIterator[Bridged]:
    """A house with the room ``realm``, a god, two players and an observer in it; ``SMALL``: a room of Kingdoms."""
    clock = FakeClock()
    trusted = {
        "trusted_worlds": BOX,
        **(settings or {}),
    }  # on the event loop, so that it is always in step with the clock
    chosen = Settings(port=0, data=str(folder) if folder is not None else "", **trusted)
    text = json.dumps({"world": BOX, "agents": AGENTS, **scenario})
    async with House.open(chosen, clock=clock) as house:
        _, tokens = await house.create_room(parse_scenario(text), "realm", seed=3)
        server = BridgeServer(house, bridge_app(house), 0, "--bridge-port")
        server.listen()
        async with server.serving():
            yield Bridged(house, clock, server.port, tokens)
