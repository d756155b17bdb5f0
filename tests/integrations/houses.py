"""A house with rooms for trainers, and programs that play there from environments of their own."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario

from ..faces.serving import listening  # noqa: TID252 - houses that listen are made there

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
HOST = {"id": "hostess", "role": "host", "kind": "human"}


def player(name: str, number: int, **more: str) -> dict[str, str]:
    return {"id": name, "role": "player", "claim": f"auto:{number}", **more}


ROOMS: dict[str, dict[str, Any]] = {
    "duel": {"world": "tictactoe", "agents": [player("ada", 0), player("bob", 1), HOST]},
    "heap": {
        "world": "nim",
        "config": {"stones": 9},
        "agents": [player("learner", 0), player("master", 1, brain="nim-master"), HOST],
    },
}


class Opened:
    """The rooms of a house that listens: their links, and what happens in them."""

    def __init__(self, house: House, url: str, tokens: dict[str, dict[str, str]]) -> None:
        self._house, self._url, self._tokens = house, url, tokens

    def links(self, *members: str) -> str:
        """Of members, each as ``room/name``."""
        named = [member.split("/") for member in members]
        return "\n".join(f"{self._url}/?room={room}#{self._tokens[room][name]}" for room, name in named)

    async def call(self, room: str, command: str, args: Any = None) -> Any:
        """As the host of the room."""
        who = self._house.identify(self._tokens[room]["hostess"])
        return await self._house.call(who, room, command, args)


@asynccontextmanager
async def opened() -> AsyncIterator[Opened]:
    async with House.open(Settings(port=0, data="")) as house:
        tokens = {}
        for room, scenario in ROOMS.items():
            _, tokens[room] = await house.create_room(parse_scenario(json.dumps(scenario)), room)
        async with listening(house) as url:
            yield Opened(house, url, tokens)


async def run(python: Path, program: Path, package: str, folder: Path, **variables: str) -> Any:
    """What a program prints, as JSON. It gets our packages, and of our variables only those that it needs."""
    paths = [INTEGRATIONS / name / "src" for name in ("seat", package)]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        **variables,
    }
    process = await asyncio.create_subprocess_exec(
        python, program, cwd=folder, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    tokens = [link.partition("#")[2] for links in variables.values() for link in links.split()]
    assert tokens
    assert not [token for token in tokens if token.encode() in out + errors]
    return json.loads(out)
