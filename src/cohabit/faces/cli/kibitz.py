"""``cohabit kibitz``: an agent that watches a game in a house and comments."""

import argparse
import asyncio
import secrets
from contextlib import suppress
from typing import Any

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Setting, Talker, awaited
from cohabit.agents.isolated import IsolatedAgent, open_agent
from cohabit.agents.ready import make_once
from cohabit.agents.spending import Spending
from cohabit.errors import BadArgs, Unauthorized, UnknownRoom
from cohabit.faces.cli.options import Place, check_above_0, place_of, place_options
from cohabit.faces.cli.say import UsageError, clean, tell
from cohabit.faces.cli.watch import enter_room
from cohabit.house.clock import SystemClock
from cohabit.model.stream import Stream
from cohabit.protocols.kibitz import Kibitzer, create_agent, open_room
from cohabit.protocols.kibitz.comments import AnyComments
from cohabit.registry import make_comments

DEFAULT_COOLDOWN_MS = 6000


def kibitz_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "room", nargs="?", metavar="ROOM", help="the room, or a link: an invite, or one of `cohabit up`"
    )
    place_options(parser, room=False)
    parser.add_argument(
        "--seat", metavar="SEAT", help="ask to see the hand of this seat or player, or of the first person (auto)"
    )
    parser.add_argument("--brain", metavar="BRAIN", help="a language model that writes the comments (default: phrases)")
    parser.add_argument(
        "--cooldown-ms", type=int, default=DEFAULT_COOLDOWN_MS, metavar="MS",
        help=f"minimum time between two remarks (default {DEFAULT_COOLDOWN_MS}); answers do not wait",
    )  # fmt: skip
    parser.add_argument("--max-dollars", type=float, metavar="X", help="the most that the model may cost")


def kibitz(args: argparse.Namespace) -> int:
    """Watch a game and comment on it in the chat, until Ctrl-C.

    It greets once, comments on notable events, and answers people. It never answers agents. With --seat it asks the
    player of that seat once for permission to see the hand, and tells only this player about it. If it may not talk,
    it asks the host.

    Examples:
      cohabit kibitz 'http://127.0.0.1:8724/?room=whist#TOKEN'
      cohabit kibitz 'http://127.0.0.1:8724/?room=whist#TOKEN' --seat auto
      COHABIT_TOKEN=… cohabit kibitz whist --brain ollama:qwen3:8b --cooldown-ms 20000
    """
    if args.cooldown_ms < 0:
        raise UsageError("--cooldown-ms must not be negative")
    check_above_0("--max-dollars", args.max_dollars)
    place, mind = place_of(args), _mind(args) if args.brain else None
    with suppress(KeyboardInterrupt):
        asyncio.run(_watch(place, args, mind))
    return 0


def _mind(args: argparse.Namespace) -> Talker:
    make_once(args.brain, args.max_dollars)
    spending = Spending(args.max_dollars) if args.max_dollars is not None else None
    mind = open_agent(args.brain, "kibitzer", Setting(spending=spending) if spending else None, reuse=False)
    if not isinstance(mind, Talker) or (isinstance(mind, IsolatedAgent) and "talk" not in mind.facts.methods):
        raise BadArgs(f"the brain {args.brain} cannot talk; use a language model, such as ollama:qwen3:8b or local")
    return mind


async def _watch(place: Place, args: argparse.Namespace, mind: Talker | None) -> None:
    place, me = await enter_room(place)
    stream = Stream(secrets.randbits(64), "kibitzer")
    comments = make_comments(str(me["world"]), stream) or AnyComments(stream)
    controller = await open_room(place.url, place.token, str(me["room"]))
    backend = parse_brain(args.brain).label if args.brain else None
    agent = await create_agent(controller, backend=backend, egress=None if backend else False)
    kibitzer = Kibitzer(
        agent,
        controller,
        comments,
        SystemClock(),
        seat=args.seat,
        mind=mind,
        cooldown_ms=args.cooldown_ms,
        on_said=_show,
    )
    tell(f"{clean(me['handle'])} watches {clean(me['room'])}.")
    watching = asyncio.get_running_loop().create_task(kibitzer.run())
    ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def refused(wrong: Exception) -> None:
        if isinstance(wrong, Unauthorized | UnknownRoom) and not ended.done():  # it was removed
            ended.set_exception(wrong)

    controller.on("refused", refused)
    try:
        await asyncio.wait((watching, ended), return_when=asyncio.FIRST_COMPLETED)
        for task in (watching, ended):
            if task.done():
                task.result()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await agent.leave()
        if (close := getattr(mind, "close", None)) is not None:
            await awaited(close)
        tell(summary(kibitzer.counts))


def _show(text: str, to: str | None) -> None:
    tell(f"{f'to {clean(to)}: ' if to is not None else ''}{clean(text)}")


def summary(counts: dict[str, int]) -> str:
    """The counts of lines said and not said, in one line."""
    others = "".join(f", {count} {what}" for what, count in counts.items() if what != "said" and count)
    return f"Lines said: {counts.get('said', 0)}{others}."
