"""``cohabit agent``: an agent of this machine plays in a house, on this machine or elsewhere."""

import argparse
import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Agent, Setting
from cohabit.agents.decision import PlayerDecision, Tally
from cohabit.agents.isolated import open_agent
from cohabit.agents.player import Limits, Player
from cohabit.agents.ready import make_once
from cohabit.agents.runner import ClientCalls, PlayLoop, Stopped
from cohabit.agents.spending import Spending
from cohabit.client import Client
from cohabit.errors import CohabitError, Disabled, OutcomeUnknown, Unreachable
from cohabit.faces.cli.options import Place, check_above_0, place_of, place_options
from cohabit.faces.cli.say import UsageError, clean, complain, looked_at, tell
from cohabit.faces.cli.watch import enter_room
from cohabit.faces.python import connect
from cohabit.registry import HUMAN

if TYPE_CHECKING:
    from rich.console import RenderableType

RETRY_S = (0.5, 1, 2, 5, 10, 30)
"""The delays between attempts to reconnect; the last one is repeated."""
GAME_OVER = "The game is over. Waiting for the next one; Ctrl-C stops."
DECISIONS_SHOWN = 8
MAX_TOLD = 1000
"""The number of different problems that are remembered, so that each is shown once."""
DEFAULT_SECONDS = 60.0


def agent_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "brain", metavar="BRAIN", help="what it thinks with, such as ollama:qwen3:8b, FILE.py or command:PROGRAM"
    )
    parser.add_argument("room", nargs="?", metavar="ROOM", help="the room, or a link from `cohabit up`")
    place_options(parser, room=False)
    parser.add_argument("--room", dest="room_option", metavar="ROOM", help="the same as ROOM")
    parser.add_argument("--games", type=int, metavar="N", help="stop after this many games (default: play on)")
    parser.add_argument(
        "--seconds", type=float, default=DEFAULT_SECONDS, help=f"per decision (default {DEFAULT_SECONDS:g})"
    )
    parser.add_argument("--max-dollars", type=float, metavar="X", help="the most that the model may cost")
    parser.add_argument("--memory", metavar="FILE", help="keep the agent's memory in this file")


def agent(args: argparse.Namespace) -> int:
    """Let an agent play in a room until Ctrl-C, or for --games N.

    It has the rights of the token, waits for its turns, reconnects when the connection is lost, and shows the
    world, what it thought, and its tokens, seconds and cost. An answer that cannot be used is asked for once
    more; then the world's fallback is played. `human` is you: the same as `cohabit play`.

    Examples:
      cohabit agent ollama:qwen3:8b 'http://127.0.0.1:8724/?room=demo#TOKEN'
      COHABIT_TOKEN=… cohabit agent local --url https://house.example.org --room demo --games 3
      cohabit agent ./mybot.py:Bot demo --token …
      cohabit agent 'command:node my_agent.js' demo
    """
    if args.room and args.room_option:
        raise UsageError("name the room once: as ROOM or with --room")
    args.room = args.room or args.room_option
    if parse_brain(args.brain).kind == HUMAN:
        from cohabit.faces.cli.play import play

        return play(args)
    if args.games is not None and args.games < 1:
        raise UsageError("--games must be at least 1")
    check_above_0("--seconds", args.seconds)
    check_above_0("--max-dollars", args.max_dollars)
    place = place_of(args)
    make_once(args.brain, args.max_dollars)  # before it takes a seat
    mind = _make(args)
    logging.getLogger("cohabit.agents").addHandler(logging.NullHandler())  # its problems are shown with its decisions
    with suppress(KeyboardInterrupt):
        return asyncio.run(_play(place, mind, args))
    return 0


def _make(args: argparse.Namespace) -> Agent:
    spending = Spending(args.max_dollars) if args.max_dollars is not None else None
    setting = Setting(memory=Path(args.memory) if args.memory else None, spending=spending)
    return open_agent(args.brain, "agent", setting, reuse=False)


async def _play(place: Place, mind: Agent, args: argparse.Namespace) -> int:
    tally = Tally()
    screen = LiveScreen(args.brain, tally) if looked_at() else Screen()
    player = Player(
        mind, Limits(args.seconds), tally=tally, on_decision=screen.decided, seconds=time.monotonic,
        name=f"the agent {parse_brain(args.brain).label}", plays_on=True,
    )  # fmt: skip
    code = 0
    async with SteadyCalls.open(place, screen) as calls:
        with screen:
            try:
                await PlayLoop(calls, player, on_over=lambda: screen.note(GAME_OVER)).play(args.games)
            except (Stopped, CohabitError) as ended:
                complain(str(ended) if isinstance(ended, Stopped) else ended.as_text())
                code = 1
            finally:
                await player.close()
    tell(summary(tally))
    return code


def summary(tally: Tally) -> str:
    """The outcomes of the decisions and their cost, in one line."""
    outcomes = ", ".join(f"{count} {name}" for name, count in tally.outcomes.items()) or "none"
    return f"Decisions: {tally.decisions} ({outcomes}). {cost(tally)}."


def cost(tally: Tally) -> str:
    most = f" to ${tally.charged:.4f}" if tally.charged > tally.dollars else ""
    price = f"${tally.dollars:.4f}{most}" + (
        f" and {tally.unpriced} answers of unknown price" if tally.unpriced else ""
    )
    return f"{tally.prompt_tokens:,} tokens in, {tally.completion_tokens:,} out, {tally.seconds:.1f} s, {price}"


# -- the connection -----------------------------------------------------------------------------
class SteadyCalls(ClientCalls):
    """Calls in a room over a connection that is made again when it is lost.

    An action carries an idempotency key, so it is performed once even if its reply was lost. A subscription shows what
    happens, and counts as presence while the agent thinks.
    """

    def __init__(self, place: Place, screen: "Screen") -> None:
        self._place, self._screen = place, screen
        self._me: Client | None = None
        self._connected = asyncio.Lock()
        self._close: Any = None
        self._following: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, place: Place, screen: "Screen") -> "AsyncIterator[SteadyCalls]":
        calls = cls(place, screen)
        await calls._connect()  # the first time, a failure is reported at once
        try:
            yield calls
        finally:
            await calls._disconnect()

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        key = secrets.token_hex(8)
        for attempt in range(1_000_000):
            me = self._me
            try:
                if me is None:
                    me = await self._connect()
                return await me.call(command, args, key=key)
            except (Unreachable, OutcomeUnknown, Disabled) as lost:
                await self._lost(me, lost, attempt)
        raise AssertionError

    async def _connect(self) -> Client:
        async with self._connected:
            if self._me is None:
                self._place, who = await enter_room(self._place)
                opening = connect(self._place.url, self._place.token, self._place.room)
                me = await opening.__aenter__()
                self._close = opening.__aexit__
                self._screen.connected(str(who["handle"]), str(who["room"]), str(who["world"]))
                self._following = asyncio.get_running_loop().create_task(self._follow(me))
                self._me = me
            return self._me

    async def _lost(self, me: Client | None, why: CohabitError, attempt: int) -> None:
        if me is not None and me is self._me:
            await self._disconnect()
        delay = RETRY_S[min(attempt, len(RETRY_S) - 1)]
        self._screen.note(f"{why.message.partition('. ')[0]}; connecting again in {delay:g} s")
        await asyncio.sleep(delay)

    async def _disconnect(self) -> None:
        self._me, following, close = None, self._following, self._close
        self._following = self._close = None
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        if close is not None:
            with suppress(Exception):  # the connection is gone already
                await close(None, None, None)

    async def _follow(self, me: Client) -> None:
        with suppress(CohabitError):  # the calls say why
            async for push in me.subscribe():
                if push["push"] == "view":
                    self._screen.view(push["view"]["text"])


# -- what is shown ------------------------------------------------------------------------------
def decision_text(decision: PlayerDecision, seconds: float, told: set[str]) -> str:
    """One decision in one line. What a model wrote is shown without control characters.

    ``told``: the problems that were shown before, which are not repeated.
    """
    played = decision.action.text if decision.action is not None else "nothing"
    used = [exchange.usage for exchange in decision.exchanges]
    tokens = f", {sum(u.prompt_tokens for u in used)} + {sum(u.completion_tokens for u in used)} tokens" if used else ""
    why = decision.action.reasoning if decision.action is not None else ""
    said = f"  “{why}”" if why else ""
    wrong = f"  [{decision.problem}]" if decision.problem and decision.problem not in told else ""
    if decision.problem and len(told) < MAX_TOLD:
        told.add(decision.problem)
    return clean(f"{decision.number}. {played} ({decision.outcome}, {seconds:.1f} s{tokens}){said}{wrong}")


class Screen:
    """The display of an agent's play. This one is for an output that is not a terminal: a line for each decision."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *_: object) -> None: ...

    def connected(self, handle: str, room: str, world: str) -> None:
        tell(f"Playing as {clean(handle)} in {clean(room)}: {clean(world)}.")

    def view(self, text: str) -> None: ...

    def note(self, text: str) -> None:
        tell(clean(text))

    def decided(self, decision: PlayerDecision, seconds: float) -> None:
        tell(decision_text(decision, seconds, self._told))


class LiveScreen(Screen):
    """The world above, what the agent thought below, and what it cost."""

    def __init__(self, brain: str, tally: Tally) -> None:
        from rich.live import Live

        super().__init__()
        self._brain, self._tally = parse_brain(brain).label, tally
        self._title = self._scene = self._note = ""
        self._decisions: deque[str] = deque(maxlen=DECISIONS_SHOWN)
        self._live = Live(get_renderable=self._render, refresh_per_second=4)

    def __enter__(self) -> "LiveScreen":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def connected(self, handle: str, room: str, world: str) -> None:
        self._title, self._note = f"{handle} in {room}: {world}", ""

    def view(self, text: str) -> None:
        self._scene = text

    def note(self, text: str) -> None:
        self._note = text

    def decided(self, decision: PlayerDecision, seconds: float) -> None:
        self._note = ""  # of a game that was over
        self._decisions.append(decision_text(decision, seconds, self._told))

    def _render(self) -> "RenderableType":
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        thoughts = Text("\n".join(self._decisions) or "thinking …")
        return Group(
            Panel(Text(clean(self._scene, lines=True)), title=Text(clean(self._title))),
            Panel(thoughts, title=Text(clean(self._brain)), subtitle=Text(cost(self._tally))),
            Text(clean(self._note), style="red"),
        )
