"""Plays seats with the client of OpenEnv, through its server; run by `test_openenv.py` in an environment of its own. Prints
what the sessions have seen, as JSON."""

import asyncio
import json
import socket
import sys
from contextlib import asynccontextmanager

import uvicorn
from openenv.core.generic_client import GenericEnvClient

from cohabit_openenv import make_app
from cohabit_seat import Seats, client


@asynccontextmanager
async def serving(seats):
    listener = socket.create_server(("127.0.0.1", 0))
    async with client() as http:
        server = uvicorn.Server(uvicorn.Config(make_app(seats, http, 30), log_level="warning", lifespan="off"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


async def play(session, games):
    """The last result of each game, with the sum of all rewards."""
    ends = []
    for _ in range(games):
        result = await session.reset(seed=7)
        total = result.reward
        while not result.done:
            result = await session.step(result.observation["legal_actions"][0])
            total += result.reward
        ends.append({"total": total, **result.observation})
    return ends


async def sessions(url):
    found = {}
    async with GenericEnvClient(url) as one, GenericEnvClient(url) as two, GenericEnvClient(url) as extra:
        found["duels"] = await asyncio.gather(play(one, 2), play(two, 2))
        found["states"] = [await one.state(), await two.state()]
        async with GenericEnvClient(url) as third:
            found["begun"] = (await third.reset()).observation
            illegal = await third.step({"action": "take", "params": {"n": 7}})
            found["refused"] = {"reward": illegal.reward, **illegal.observation}
            found["left"] = (await third.step({"action": "take", "params": {"n": 3}})).observation
            try:
                await extra.reset()
            except RuntimeError as wrong:
                found["none_free"] = str(wrong)
        found["taken_over"] = (await extra.reset()).observation
        found["heap"] = await play(extra, 2)
        try:
            await extra.step({"action": "take", "params": {"n": 1}})
        except RuntimeError as wrong:
            found["after_the_end"] = str(wrong)
    return found


async def main():
    async with serving(Seats.of_environment()) as url:
        json.dump(await sessions(url), sys.stdout)


asyncio.run(main())
