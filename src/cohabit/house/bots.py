"""The built-in players of a house: bots that play seats without a player."""

import asyncio
import inspect
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from cohabit.agents.contract import Agent, Heard, Listener
from cohabit.errors import BadArgs, CohabitError, PermissionDenied
from cohabit.house.calls import Call
from cohabit.model.action import ActionResult
from cohabit.model.suggest import nearest
from cohabit.registry import BRAINS, make_agent
from cohabit.room.looking import ViewReply
from cohabit.room.messages import INBOX_LIMIT, Received
from cohabit.room.turns import is_awaited, is_turn_of, takes_turns

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.runner import RoomRunner
    from cohabit.room.room import Room
    from cohabit.room.state import Member

log = logging.getLogger("cohabit")
STEP_MS = 600
"""Minimum time per move, so people can follow."""
STAND_IN_STEP_MS = 10_000
"""The same for a stand-in in a world with rounds, so that it does not play many of them before its player is back."""
IDLE_WAIT_MS = 20_000
"""How long a bot without a turn waits for a change before it checks again."""
MAX_ACTIONS_PER_TURN = 8
"""A bot that holds the turn of a turn-based room ends it after this many actions, or earlier if it is done."""
MAX_REFUSALS = 20
"""A bot stops after this many refused moves in a row."""


def check_brain(name: str | None) -> None:
    """Raise BAD_ARGS if there is no brain of this name."""
    if name is not None and name not in BRAINS:
        raise BadArgs(f"unknown brain {name[:40]!r}", did_you_mean=nearest(name[:40], list(BRAINS), 2))


class Bots:
    """One task per seat that a bot plays. Bots make the same calls as other members."""

    def __init__(self, house: "House") -> None:
        self._house = house
        self._tasks: dict[tuple[RoomRunner, str], asyncio.Task[None]] = {}
        self._heard: dict[tuple[RoomRunner, str], int] = {}  # the number of the last message that was passed on
        self.step_ms = STEP_MS

    def start_bots(self, runner: "RoomRunner") -> None:
        """Start a bot for every seat that needs one. Called after each roster change."""
        if self._house.closing or self._house.dormant or runner.room.state.archived:
            return
        for member in runner.room.state.members.values():
            key = (runner, member.id)
            if member.played_by_bot and member.stand_in in BRAINS and key not in self._tasks:
                task = asyncio.get_running_loop().create_task(self._play(runner, member.id, member.stand_in))
                self._tasks[key] = task
                self._heard.pop(key, None)
                task.add_done_callback(lambda _, key=key: self._tasks.pop(key, None))  # type: ignore[misc]  # mypy cannot infer a default in a lambda

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _play(self, runner: "RoomRunner", who: str, brain: str) -> None:
        try:
            agent = make_agent(brain, f"{runner.room.id}/{who}")
            world = runner.room.world
            agent.initialize(inspect.cleandoc(type(world).__doc__ or ""), runner.room.commands.action_space())
            refused = 0
            while runner.failure is None and refused < MAX_REFUSALS:
                member = runner.room.state.members.get(who)
                if member is None or not member.played_by_bot or runner.room.state.archived:
                    return
                if await self._step(runner, who, brain, agent):
                    refused = 0
                else:
                    refused += 1
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("bot %s for %s in room %s stopped", brain, who, runner.room.id)

    async def _step(self, runner: "RoomRunner", who: str, brain: str, agent: Agent) -> bool:
        """Wait for the turn, decide, act, end the turn. Returns False if the call was refused."""
        version = runner.version
        clock = self._house.clock
        try:
            if not await self._may_move(runner, who, brain):
                await runner.changed_since(version, clock.now() + IDLE_WAIT_MS)
                return True
            room = runner.room
            if not takes_turns(room.state) or not is_turn_of(room, room.state.members[who]):
                await self._act(runner, who, brain, agent)
                return True
            acting = True
            for _ in range(MAX_ACTIONS_PER_TURN):
                acting = acting and await self._act_in_turn(runner, who, brain, agent)
            await runner.submit(Call(who, "turn_advance", via=brain))
        except CohabitError as refusal:
            log.debug("bot %s for %s: %s", brain, who, refusal.as_text())
            await runner.changed_since(version, clock.now() + 1000)
            return refusal.code in ("TURN_NOT_YOURS", "PERMISSION_DENIED")
        return True

    async def _act_in_turn(self, runner: "RoomRunner", who: str, brain: str, agent: Agent) -> bool:
        """Act while it is this bot's turn. A refused action ends the turn, so that nobody waits for this bot."""
        try:
            mine = is_turn_of(runner.room, runner.room.state.members[who])
            return mine and await self._act(runner, who, brain, agent)
        except CohabitError as refusal:
            log.debug("bot %s for %s: %s", brain, who, refusal.as_text())
            return False

    async def _act(self, runner: "RoomRunner", who: str, brain: str, agent: Agent) -> bool:
        """Decide and act. Returns False if the agent chose to do nothing."""
        await self._pause(self._step_ms(runner.room, runner.room.state.members[who]))
        if isinstance(agent, Listener):
            with suppress(PermissionDenied):  # a member that may not read messages still plays
                await self._listen(runner, who, brain, agent)
        seen = await self._may_move(runner, who, brain)
        if seen is None or seen.observation is None:  # the game has ended or somebody has moved in the meantime
            return False
        action = await asyncio.to_thread(agent.decide, seen.observation)
        if action is None:
            return False
        args = {"action": action.name, "params": action.parameters, "reasoning": action.reasoning}
        result = await runner.submit(Call(who, "act", args, via=brain))
        if isinstance(result, ActionResult):  # only world actions have one
            agent.reflect(result)
        return True

    async def _may_move(self, runner: "RoomRunner", who: str, brain: str) -> ViewReply | None:
        """The current view, if the game is running and it is the bot's turn."""
        seen: ViewReply = await runner.submit(Call(who, "view", via=brain))
        member = runner.room.state.members[who]
        # A god has no turn, unless time waits for it; a narrator has none.
        waits_for_turn = member.seat is not None or member.claim is not None or is_awaited(runner.room, member)
        return None if seen.over or (waits_for_turn and not seen.your_turn) else seen

    async def _listen(self, runner: "RoomRunner", who: str, brain: str, agent: Listener) -> None:
        """Pass the new messages on. An agent starts with those that arrive after it took the seat."""
        key = (runner, who)
        since = self._heard.get(key)
        asked = {"since_seq": since or 0, "max": INBOX_LIMIT}
        got: Received = await runner.submit(Call(who, "recv_messages", asked, via=brain))
        self._heard[key] = got.next_cursor
        for item in got.items if since is not None else []:
            sender = runner.room.state.with_handle(str(item["from"]))
            agent.hear(Heard(str(item["from"]), str(item["content"]), sender.seat if sender is not None else None))

    def _step_ms(self, room: "Room", member: "Member") -> int:
        """How long a bot waits before it acts. A stand-in stays within half of the time limit."""
        if member.stand_in_since is None or room.pace != "rounds":
            return self.step_ms
        return min(STAND_IN_STEP_MS, (room.state.turn_ms or 2 * STAND_IN_STEP_MS) // 2)

    async def _pause(self, ms: int) -> None:
        if ms:
            done = asyncio.Event()
            self._house.clock.call_at(self._house.clock.now() + ms, done.set)
            await done.wait()
