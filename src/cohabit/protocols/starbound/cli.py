"""``cohabit starbound``: a room for a Starbound game that runs on this machine or another one."""

import argparse
import asyncio
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from cohabit.errors import BadArgs
from cohabit.faces.cli.options import settings_of, settings_options
from cohabit.faces.cli.plans import Plan, plan_for
from cohabit.faces.cli.running import Greeting, run_house
from cohabit.faces.cli.say import UsageError, clean, paint, table, tell
from cohabit.faces.cli.up import open_room
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario

if TYPE_CHECKING:
    from cohabit.house.house import House

WORLD = "starbound"
GAME_PORT = 9999
LOOPBACK = ("127.0.0.1", "::1", "localhost")
TOKEN_VARIABLE, PASSWORD_VARIABLE = "COHABIT_STARBOUND_TOKEN", "COHABIT_RCON_PASSWORD"
TOKEN_FILE = "starbound-token"
MOD = Path(__file__).parent / "mod"


def starbound_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", nargs="?", metavar="SCENARIO", help="the members: a scenario by name or file")
    parser.add_argument("--game-host", default=LOOPBACK[0], help="address on which the bridge waits for the game")
    parser.add_argument("--game-port", type=int, default=GAME_PORT, help=f"its port (default {GAME_PORT})")
    parser.add_argument(
        "--token", help=f"the bridge's token; by default one is made and kept in the data folder ({TOKEN_VARIABLE})"
    )
    parser.add_argument(
        "--bridge", metavar="URL", help="use a bridge that runs elsewhere, which has one player, instead of opening one"
    )
    parser.add_argument("--player-id", metavar="ID", help="with --bridge: the player's id there (default player)")
    parser.add_argument(
        "--install-mod", metavar="MODS", help="copy the mod, with address and token, into this mods folder, and stop"
    )
    parser.add_argument(
        "--simulate", action="store_true", help="play without the game: our own planet world takes its place"
    )
    parser.add_argument("--rcon", metavar="HOST[:PORT]", help="instead of a room: the console of a game server")
    parser.add_argument(
        "--run", action="append", default=[], metavar="COMMAND", help="with --rcon: a command to run; repeatable"
    )
    parser.add_argument("--room", help="id of the room (default: named after the scenario)")
    parser.add_argument("--quiet", action="store_true", help="do not print the events of the room")
    settings_options(parser)


def starbound(args: argparse.Namespace) -> int:
    """Open a room for a running Starbound (the OpenStarbound client, with our mod) and serve it until Ctrl-C.

    The mod connects each player's game to the bridge; each player is a seat. In the room each agent has
    its own token, with a role, a seat, messages and a record. Without a SCENARIO there is one agent,
    pilot, on the first seat.

    With --rcon it shows who plays on a game server, or runs commands on its console, and stops. The
    password comes from COHABIT_RCON_PASSWORD.

    Examples:
      cohabit starbound --install-mod ~/OpenStarbound/mods
      cohabit starbound
      cohabit starbound crew.json --game-host 0.0.0.0
      cohabit starbound --simulate
      COHABIT_RCON_PASSWORD=… cohabit starbound --rcon 127.0.0.1 --run list
    """
    if args.rcon:
        return _console(args)
    settings = settings_of(args)
    given_token = args.token or os.environ.get(TOKEN_VARIABLE)
    if args.bridge:
        return _share_bridge(args, checked_url(args.bridge), given_token or "", settings)
    token = given_token or kept_token(settings)
    if args.install_mod:
        tell(f"The mod is in {install_mod(Path(args.install_mod), args.game_host, args.game_port, token)}")
        return 0
    plan = plan_of(args.scenario, args.room)

    async def prepare(house: "House") -> Greeting:
        from cohabit.faces.serve import listen
        from cohabit.protocols.starbound.bridge import Bridge
        from cohabit.protocols.starbound.connector import LocalLink, StarboundConnector
        from cohabit.protocols.starbound.server import BridgeServer
        from cohabit.protocols.starbound.simulated import SimulatedPlayers

        listener = listen(args.game_host, args.game_port, "--game-port")
        bridge = Bridge(house.clock)
        own = msgspec.structs.replace(settings, host=args.game_host, tls_cert="", tls_key="")
        server = BridgeServer(bridge, token, listener, own, house.clock)
        server.start()
        seated = {agent.id: agent.id for agent in plan.scenario.agents if agent.claim is not None}
        others = [SimulatedPlayers(f"http://127.0.0.1:{server.port}", token, seated)] if args.simulate else []
        connector = StarboundConnector(LocalLink(bridge, *others, server))
        house.rooms.connectors[plan.room] = connector
        greeting = await open_room(house, plan, args)
        await house.connect_room(plan.room, connector)
        return lambda address, beside: [
            *mod_lines(args.game_host, server.port, token),
            *(() if args.simulate else ["The room waits for the game: nobody can act until it connects.", ""]),
            *greeting(address, beside),
        ]

    return run_house(settings, prepare, args.quiet)


def _share_bridge(args: argparse.Namespace, url: str, token: str, settings: Settings) -> int:
    """The same with a bridge at an address."""
    plan = plan_of(args.scenario, args.room)

    async def prepare(house: "House") -> Greeting:
        from cohabit.protocols.starbound.connector import HttpLink, StarboundConnector
        from cohabit.protocols.starbound.wire import DEFAULT_PLAYER

        connector = StarboundConnector(HttpLink(url, house.clock, token, args.player_id or DEFAULT_PLAYER))
        house.rooms.connectors[plan.room] = connector
        greeting = await open_room(house, plan, args)
        await house.connect_room(plan.room, connector)
        return greeting

    return run_house(settings, prepare, args.quiet)


def checked_url(url: str) -> str:
    """The address of a bridge. Raises if it is none, or contains a name or password."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or parts.username is not None:
            raise ValueError
    except ValueError:  # also half an IPv6 address, and a port that is not a number
        raise BadArgs(
            f"the bridge's address must look like http://127.0.0.1:{GAME_PORT}, without a name or password"
        ) from None
    return url.rstrip("/")


# -- the room ---------------------------------------------------------------------------------------
def plan_of(wanted: str | None, room: str | None) -> Plan:
    """The members of a scenario. Of a scenario for another world, the world, its config and its scripts are dropped."""
    if wanted is None:
        host = AgentSpec(id="host", kind="human", role="host")
        members = [host, AgentSpec(id="pilot", role="player", claim="auto:0")]
        return Plan(room or WORLD, Scenario(agents=members, scenario=WORLD, world=WORLD), "no scenario")
    named = plan_for(wanted)
    if named.scenario.world == WORLD:
        return Plan(room or named.room, named.scenario, named.source)
    players = [msgspec.structs.replace(agent, brain=None, stand_in=None) for agent in named.scenario.agents]
    changed = {"world": WORLD, "config": {}, "speed": "x1", "ticks_per_turn": 0, "step_ticks": 0, "agents": players}
    return Plan(room or f"{WORLD}-{named.room}", msgspec.structs.replace(named.scenario, **changed), named.source)


def kept_token(settings: Settings) -> str:
    """The token of this data folder's bridge. It stays the same, so that the mod need not be configured again."""
    path = settings.folder / TOKEN_FILE
    if path.exists():
        if kept := path.read_text().strip():
            return kept
        path.unlink()  # a token that was never written: an empty one would let everybody in
    token = secrets.token_urlsafe(24)
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(token + "\n")
    return token


# -- the mod ----------------------------------------------------------------------------------------
def mod_config(host: str, port: int, token: str) -> dict[str, str]:
    """The settings that the mod needs."""
    shown = "localhost" if host in LOOPBACK or host in ("0.0.0.0", "::") else host
    return {"url": f"http://{f'[{shown}]' if ':' in shown else shown}:{port}", "token": token}


def mod_lines(host: str, port: int, token: str) -> Iterator[str]:
    yield paint("bold", "The game connects with the mod (`cohabit starbound --install-mod MODS` copies it)")
    yield f"  in starbound.config: {json.dumps({'cohabitBridge': mod_config(host, port, token)})}"
    trusted = {"safe": {"luaHttp": {"enabled": True, "trustedSites": ["localhost"]}}}
    yield f"  and once:            {json.dumps(trusted)}"
    if host not in LOOPBACK:
        yield "  This bridge listens beyond this machine, without encryption: use it in a network that you trust."
    yield ""


def install_mod(mods: Path, host: str, port: int, token: str) -> Path:
    """Copy the mod and write its configuration. Returns its folder."""
    if not mods.is_dir():
        raise BadArgs(f"--install-mod: {mods} is not a folder; give the mods folder of OpenStarbound")
    target = mods / "cohabit"
    shutil.copytree(MOD, target, dirs_exist_ok=True)
    path = target / "cohabit_bridge.config"
    path.write_text(json.dumps(json.loads(path.read_text()) | mod_config(host, port, token), indent=2) + "\n")
    return target


# -- the console of a server ------------------------------------------------------------------------
def _console(args: argparse.Namespace) -> int:
    from cohabit.house.clock import SystemClock
    from cohabit.protocols.starbound.rcon import StarboundServer, connect

    host, port = _address(args.rcon)
    password = os.environ.get(PASSWORD_VARIABLE)
    if not password:
        raise UsageError(f"the password of the console is needed: set {PASSWORD_VARIABLE}")

    async def main() -> None:
        async with connect(host, port, password, SystemClock()) as console:
            for command in args.run:
                tell(clean(await console.run(command)))
            if not args.run:
                players = await StarboundServer(console).players()
                rows = [(str(p.id), clean(p.name), clean(p.world or "-")) for p in players]
                tell(table(("id", "player", "world"), rows) if rows else "Nobody is online.")

    asyncio.run(main())
    return 0


def _address(text: str) -> tuple[str, int]:
    from cohabit.protocols.starbound.rcon import DEFAULT_PORT

    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        return text.strip("[]"), DEFAULT_PORT
    if not host or not port.isdecimal():
        raise UsageError(f"--rcon expects HOST:PORT, not {text!r}")
    return host.strip("[]"), int(port)
