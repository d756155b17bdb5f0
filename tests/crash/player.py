"""The program that is killed: a real house whose clients act, and write down each answer they got.

    python player.py FOLDER WORLDS          a server: forks one player for every line it reads
    python player.py FOLDER WORLDS STATE    plays at once, until it is killed

A line (and STATE) is JSON: how far each client had come, by its name. Each client numbers its actions, uses the
number as the idempotency key, and continues from the last number that was answered, asking that one again: so
every number must be acted on exactly once, also where an answer was lost.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import cohabit.house.store.sqlite as sqlite_store
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario

ROOMS, PLAYERS = 2, 4
SEATS = ("red", "blue", "green", "4")


def token(room: str, who: str) -> str:
    return f"{room}-{who}-0123456789abcdefghijklmnopqrstuvwxyz"


def scenario(room: str, worlds: str) -> str:
    agents = [
        {"id": f"p{i}", "role": "player", "claim": f"auto:{i}", "token": token(room, f"p{i}")} for i in range(PLAYERS)
    ]
    return json.dumps({"world": f"{worlds}:Secrets", "agents": agents})


async def play(folder: str, worlds: str, reached: dict[str, int]) -> None:
    # Snapshots and digests come often, so that many of the kills fall among them.
    async with House.open(Settings(data=folder, snapshot_every=25)) as house:
        for i in range(ROOMS):
            if f"r{i}" not in house.rooms:
                await house.create_room(parse_scenario(scenario(f"r{i}", worlds)), f"r{i}")
            house.rooms[f"r{i}"].room.digest_every = 32
        names = [(f"r{i}", f"p{j}") for i in range(ROOMS) for j in range(PLAYERS)]
        await asyncio.gather(*(client(house, room, who, reached.get(f"{room}/{who}", 1)) for room, who in names))


async def client(house: House, room: str, who: str, n: int) -> None:
    me = house.identify(token(room, who))
    while True:
        if n % 40 == 0:
            await house.call(me, room, "strike", {"target": SEATS[int(who[1:])]}, key=str(n))
        elif n % 3 == 0:
            await house.call(me, room, "send_message", {"to": "p0", "content": str(n)}, key=str(n))
        else:
            await house.call(me, room, "hide", {"n": n}, key=str(n))
        os.write(1, f"{room}/{who} {n}\n".encode())  # after the answer: from now on it must not be lost
        n += 1


def serve(folder: str, worlds: str) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(play(folder, worlds, json.loads(line)))
            os._exit(0)
        os.write(1, f"pid {child}\n".encode())
        os.waitpid(child, 0)
        os.write(1, b"gone\n")


def weaken() -> None:
    """Make the store sync less often than it must, so that a power cut loses answers.

    Checkpoints are off: each of them syncs all answers so far, and the power may be cut right after one.
    """
    connect = sqlite_store.connect

    def weak(path: Path) -> object:
        db = connect(path)
        db.execute("pragma synchronous = normal")
        db.execute("pragma wal_autocheckpoint = 0")
        return db

    sqlite_store.connect = weak  # type: ignore[assignment]


if __name__ == "__main__":
    if os.environ.get("WEAKENED"):
        weaken()
    if len(sys.argv) > 3:
        asyncio.run(play(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
    else:
        serve(sys.argv[1], sys.argv[2])
