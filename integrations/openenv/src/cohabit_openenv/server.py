"""The OpenEnv server in front of the seats: `cohabit-openenv`."""

import argparse
import asyncio
import sys

import httpx
import uvicorn
from fastapi import FastAPI
from openenv.core.env_server.http_server import create_fastapi_app

from cohabit_openenv.environment import SeatEnvironment
from cohabit_openenv.models import SeatAction, SeatObservation, SeatState
from cohabit_seat import Seats, client

SPARE_SESSIONS = 16
"""Sessions beyond the number of seats. Their `reset` says what to do, which OpenEnv's own refusal does not."""


def make_app(seats: Seats, http: httpx.AsyncClient, wait_s: float) -> FastAPI:
    """The server of OpenEnv, with one seat for each session."""
    return create_fastapi_app(
        lambda: SeatEnvironment(seats, http, wait_s),
        SeatAction,
        SeatObservation,
        max_concurrent_envs=len(seats) + SPARE_SESSIONS,
        env_name="cohabit",
        state_cls=SeatState,
    )


async def serve(seats: Seats, host: str, port: int, wait_s: float) -> None:
    """Print the address when clients can connect to it."""
    async with client() as http:
        config = uvicorn.Config(make_app(seats, http, wait_s), host, port, log_level="warning")
        listener = config.bind_socket()
        print(f"{len(seats)} seats, at http://{host}:{listener.getsockname()[1]}", flush=True)
        await uvicorn.Server(config).serve([listener])


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description="Seats of Cohabit rooms as OpenEnv environments.",
        epilog="Without --seats and --hosts, the links are read from the variables COHABIT_SEATS and COHABIT_HOSTS.",
    )
    parser.add_argument("--seats", default="", metavar="FILE", help="the links of the players, one per line")
    parser.add_argument("--hosts", default="", metavar="FILE", help="links of hosts, to start the next game with")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="the port to listen on; 0: a free one")
    parser.add_argument(
        "--wait",
        type=float,
        default=50.0,
        metavar="SECONDS",
        help="how long reset and step wait for the seat's turn; less than the message timeout of the client (60)",
    )
    options = parser.parse_args()
    try:
        seats = Seats.of_environment(options.seats, options.hosts)
    except (ValueError, OSError) as wrong:
        sys.exit(f"cohabit-openenv: {wrong}")
    asyncio.run(serve(seats, options.host, options.port, options.wait))
