"""One game: given brains on given seats, with a given seed, played to its end without a network, on virtual time.

The game is lockstep. All agents that are to move decide on one state, concurrently if they wait for a backend, and
their actions are applied in the order of the seats. So the same answers give the same record on any machine.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, Literal

import msgspec
from msgspec import Struct

from cohabit.agents.contract import Agent, Turn
from cohabit.agents.decision import PlayerDecision, Tally
from cohabit.agents.isolated import open_agent
from cohabit.agents.player import Act, Limits, Player
from cohabit.agents.spans import OpenSpan, span
from cohabit.errors import BadArgs, GameCrash
from cohabit.lab.opening import Opening
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import LastAction, Observation
from cohabit.registry import make_world
from cohabit.room.command_modules import command_table
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.room.timers import can_skip
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import Standing, World
from cohabit.wrong_kinds import wrong_kind

MAX_ACTIONS_PER_STEP = 8
"""In a real-time world, each agent may act this often between two steps of the clock."""
STEP_MS = 5_000
"""By how much of its own time a real-time world advances at a time, unless the game says otherwise."""
MAX_SETUPS = 256
"""The number of worlds that are remembered with their initial state and their introduction for players."""
MAX_DECISIONS = 10_000
"""Of all players together, after which a game that does not end is stopped."""
NOTHING_SEEN = Observation()
NO_SPAN = OpenSpan()


class GameSpec(Struct, frozen=True, gc=False):
    """Everything that defines a game. Equal specs with the same answers give the same record.

    Defaults are not omitted: msgspec recognizes them by identity, so equal specs could be encoded differently.
    """

    id: str
    world: str
    players: list[str]  # the brain on each seat, in the order of the seats
    names: list[str] = []  # of the players, for results; empty: their brains
    seed: str = "0"  # a decimal number
    config: dict[str, object] = {}
    partial_intel: bool = False  # fog, in worlds that let the scenario decide
    step_ticks: int | None = None  # None: the ticks of ``STEP_MS``
    max_ticks: int = 0  # stop a real-time world after this many ticks; 0: when it is over
    max_decisions: int = MAX_DECISIONS
    seconds: float | None = None  # per decision
    # The place of the game in its design:
    setting: str = ""  # the key of its world
    factors: dict[str, object] = {}  # the level of each factor
    lineup: str = ""
    order: int = 0  # which of the orders in which the line-up takes its seats

    @property
    def named(self) -> list[str]:
        """The name of the player on each seat."""
        return self.names or self.players


class GameResult(Struct, gc=False):
    """The outcome of a game."""

    spec: GameSpec
    ended: Literal["over", "limit"]
    decisions: int
    ticks: int
    seats: list[str]
    rewards: list[float]  # by seat: what its actions earned
    returns: dict[str, float]  # by the id of the seat, in worlds that count them
    standings: list[Standing]
    tallies: list[Tally]  # by seat
    entries: int
    head: str  # the digest of the record


OnDecision = Callable[[int, PlayerDecision, float], None]
"""Called with the index of the player, its decision, and the seconds of thinking."""


@dataclass(slots=True)
class LabPlayer:
    """A player on its seat: how it looks at the room and acts in it."""

    player: Player
    member: Member
    look: Callable[[], Observation]
    act: Act
    fallback: Callable[[], Action | None]
    decisions: int = 0
    turn: Turn = field(init=False)  # the last one


class Game:
    """A game in progress. ``at`` is virtual time in ms; each entry is one later than the last."""

    opened_as: Mapping[str, Any] | None = None  # the initial state of a game that is played again

    def __init__(
        self,
        spec: GameSpec,
        *,
        agents: Sequence[Agent] | None = None,
        on_decision: OnDecision | None = None,
        seconds: Callable[[], float] | None = None,
        source: str | None = None,
        load_from: str | None = None,
    ) -> None:
        """``source``: where the world is, if its file is not found from here, as the record says it. ``load_from``:
        where it is now, if its file was moved."""
        self.spec = spec
        source = source or spec.world
        self.at = 0
        self.decisions = 0
        self.turns = 0  # if players wait for something: how often time passed, or players moved together
        self._span = NO_SPAN  # of this turn
        world = make_world(load_from or source, spec.config)
        self._setup = setup_of(spec, source, world)
        secret = blake2b(spec.seed.encode(), digest_size=16, person=b"match secret").hexdigest()
        self.room = self._setup.opening.room(spec.id, int(spec.seed), secret, world, self.opened_as)
        self.room.counts_calls = False
        self.members: list[Member] = list(self.room.state.members.values())
        minds = agents or [open_agent(name, why) for name, why in zip(spec.players, purposes(spec), strict=True)]
        limits, fallback = Limits(spec.seconds), partial(_fallback, self.room)
        heard_by = [partial(on_decision, i) if on_decision is not None else None for i in range(len(minds))]
        self.players = [
            Player(mind, limits, on_decision=heard, seconds=seconds, name=name, plays_on=True)
            for mind, name, heard in zip(minds, spec.named, heard_by, strict=True)
        ]
        self._seated = [
            LabPlayer(player, member, self._look_of(player, member), self._act_of(member), partial(fallback, member))
            for player, member in zip(self.players, self.members, strict=True)
        ]
        self._may_pass = self.room.pace == "clock"
        self._quick = all(player.is_quick for player in self.players)  # nobody waits, so nothing is gained by tasks
        quick = self._quick and not self._may_pass and not self.room.has_moving_seats
        self._on_seat = {one.member.seat: one for one in self._seated} if quick else {}

    # -- playing ----------------------------------------------------------------------------------
    async def play(self) -> GameResult:
        """Play to the end, or to a limit of the spec. The players are closed, whatever happens."""
        if self._quick:
            await self._play()
        else:
            with span("game", game=self.spec.id, world=self.spec.world):
                await self._play()
        return self.result()

    async def _play(self) -> None:
        try:
            await self.begin()
            await self.step(sys.maxsize)
        finally:
            await self.close()

    async def begin(self) -> None:
        """Introduce the players to the world."""
        description, space = self._setup.introduction(self.room)
        for player, member in zip(self.players, self.members, strict=True):
            # A model reads the actions, so it gets only those that it may use.
            await player.initialize(description, self._actions_of(member) if player.thinks else space)

    async def step(self, most: int = 1) -> bool:
        """Up to ``most`` steps. In each, every player that is to move decides, in real time until all pass, and then
        time passes. False: the game is over, is at a limit of its spec, or waits for a player that does nothing."""
        room, spec = self.room, self.spec
        for _ in range(most):
            if room.is_over() or self.decisions >= spec.max_decisions:
                return False
            to_move = room.to_move()
            if len(to_move) == 1 and (only := self._on_seat.get(to_move[0])) is not None:
                # One script is to move: as below, without what takes longer than a script.
                decision = await only.player.move(self._turn(only), only.act)
                self.decisions += 1
                if decision.action is None and not self._go_on([only]):
                    return False
                continue
            if not self._quick:
                self._begin_turn()
            movers = self._movers()
            if self._may_pass:
                await self._act_until_all_pass(movers)
                self._advance()
                if spec.max_ticks and room.state.tick >= spec.max_ticks:
                    return False
            elif not (await self._moves(movers) or self._go_on(movers)):
                return False
            elif room.pace == "rounds":
                await self._tell_results()
        return True

    async def _tell_results(self) -> None:
        """Tell the players the outcome of the actions that they chose for this round."""
        room, over = self.room, self.room.is_over()
        for one in self._seated:
            if one.player.awaits_result:
                seat = one.member.seat
                await self._learn(one, room.last_action(seat) if seat is not None else None, over)

    async def _learn(self, one: LabPlayer, last: LastAction | None, over: bool) -> None:
        await one.player.learn(last, over=over)

    def _begin_turn(self) -> None:
        self._span.end()
        self.turns += 1
        self._span = OpenSpan("turn", game=self.spec.id, turn=self.turns)

    async def close(self) -> None:
        """Release what the players hold. No step follows."""
        self._span.end()
        for player in self.players:
            if player.closes:
                await player.close()
        for one in self._seated:
            one.act = _closed  # else it refers back to the game, which is freed only by a search for garbage

    def _actions_of(self, member: Member) -> ActionSpace:
        room = self.room
        usable = room.call(member.id, "rules", {}, at=self.at).your_commands
        actions = [c.as_action() for c in room.commands if c.is_action and c.tool_name in usable]
        return ActionSpace(actions, room.world.spec.examples)

    def _movers(self) -> list[LabPlayer]:
        """The players that are to move, as far as decisions are left for them."""
        to_move = self.room.to_move()
        movers = [one for one in self._seated if one.member.seat in to_move]
        return movers[: self.spec.max_decisions - self.decisions]

    def _go_on(self, movers: list[LabPlayer]) -> bool:
        """A player that did nothing, although the game waits for it, has missed its turn. False: the game cannot go on,
        because its world has no rule for that."""
        room = self.room
        idle = [one for one in movers if one.player.last.action is None]
        if not idle or room.is_over() or not any(one.member.seat in room.to_move() for one in idle):
            return bool(movers)
        if room.pace not in ("turns", "rounds") or (room.pace == "turns" and not can_skip(room.world)):
            return False
        room.system("turn_timeout", {}, self._time_after(1))
        return True

    async def _act_until_all_pass(self, acting: list[LabPlayer]) -> None:
        """Ask the players for actions between two steps of the clock."""
        for _ in range(MAX_ACTIONS_PER_STEP):
            acting = acting[: self.spec.max_decisions - self.decisions]
            if not acting or self.room.is_over():
                break
            await self._moves(acting)
            acting = [one for one in acting if one.player.last.outcome in ("chosen", "corrected")]

    def _time_after(self, ms: int) -> int:
        """Let virtual time pass. Returns the time of the next entry."""
        self.at += ms
        return self.at

    def _advance(self) -> None:
        """Let time pass."""
        ticks = self.spec.step_ticks or max(1, STEP_MS // self.room.world.spec.tick_ms)
        if self.spec.max_ticks:
            ticks = min(ticks, self.spec.max_ticks - self.room.state.tick)
        self.room.system("ticks", {"n": ticks}, self._time_after(ticks * self.room.world.spec.tick_ms))

    async def _moves(self, movers: list[LabPlayer]) -> bool:
        """One decision of each, on the state as it is now, applied in order. Returns whether all did something."""
        for one in movers:
            one.turn = self._turn(one)
        if self._quick:
            for one in movers:
                await one.player.move(one.turn, one.act)
        else:
            await self._move_together(movers)
        self.decisions += len(movers)
        return bool(movers) and all(one.player.last.action is not None for one in movers)

    async def _move_together(self, movers: list[LabPlayer]) -> None:
        """Players that wait for something decide concurrently."""
        moves = []
        before: asyncio.Event | None = None
        for one in movers:
            done = asyncio.Event()
            moves.append(_move_in_order(one, before, done))
            before = done
        with self._span.entered():
            if len(moves) == 1:
                await moves[0]
            else:
                await asyncio.gather(*moves)

    def _turn(self, one: LabPlayer) -> Turn:
        one.decisions += 1
        text = self.room.view(one.member).text if one.player.thinks else ""
        return Turn(one.look(), text, one.decisions, fallback=one.fallback, may_pass=self._may_pass, turn=self.turns)

    def _look_of(self, player: Player, member: Member) -> Callable[[], Observation]:
        """The function that gives a player its view. A script gets data alone, some without legal actions and text."""
        room = self.room
        if not player.looks:
            return lambda: NOTHING_SEEN
        if player.thinks:
            return lambda: room.view(member).observation
        if player.reads_choices:
            return partial(room.observe_with_choices, member, player.reads_text)
        observe = room.observe if player.reads_text else room.observe_data
        return lambda: observe(room.eye_of(member))

    def _act_of(self, member: Member) -> Act:
        """The function by which a player acts. Each entry is one ms later than the last."""
        who, call, other_commands = member.id, self.room.call, self._setup.other_commands

        async def act(action: Action | None) -> ActionResult | None:
            if action is None:
                return None
            if action.name in other_commands:  # such as `leave`: the line-up stays as it was designed
                raise BadArgs(f"{action.name} is not an action of this world, and a game of the lab takes no others")
            result = call(who, "act", action, at=self._time_after(1), look=False)
            return result if isinstance(result, ActionResult) else None

        return act

    # -- the result -------------------------------------------------------------------------------
    def result(self) -> GameResult:
        room = self.room
        return GameResult(
            spec=self.spec,
            ended="over" if room.is_over() else "limit",
            decisions=self.decisions,
            ticks=room.state.tick,
            seats=[member.seat or "" for member in self.members],
            rewards=[player.reward for player in self.players],
            returns=dict(room.state.returns),
            standings=_as_read_again(room, list(room.crash_on_bug(room.world.standings))),
            tallies=[player.tally for player in self.players],
            entries=room.record.seq + 1,
            head=room.record.digest.hex(),
        )

    def lines(self) -> list[Line]:
        """The whole record, from which ``Room.replay`` restores the same room."""
        return self.room.record.tail


def _as_read_again(room: Room, standings: list[Standing]) -> list[Standing]:
    """The scoreboard as it will be read from the file of a run. One that cannot be read would cost the whole run."""
    try:
        found = msgspec.json.decode(msgspec.json.encode(standings), type=list[Standing])
        for one in found:
            float(one.score)  # not so if it has hundreds of digits
        return found
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as wrong:
        raise GameCrash(
            f"the world {room.state.world!r} has a bug: standings() gives values that no file can hold ({wrong}). A "
            f"score is a finite int or float, and `data` has JSON values; it gives {standings!r:.300}"
        ) from None


def _fallback(room: Room, member: Member) -> Action | None:
    """The action for a player that gave no usable answer. If that is because of a value that the world shows, the game
    ends: it is no failure of the player."""
    seat = room.seat_of(member)
    found = wrong_kind(room.world, [seat] if seat is not None else [], [room.eye_of(member)])
    if found is not None:
        raise GameCrash(f"the world {room.state.world!r} has a bug: {found}")
    return room.fallback(member)


async def _closed(action: Action | None) -> ActionResult | None:
    raise RuntimeError("the game is closed")


async def _move_in_order(one: LabPlayer, before: asyncio.Event | None, done: asyncio.Event) -> None:
    async def act(action: Action | None) -> ActionResult | None:
        if before is not None:
            await before.wait()
        return await one.act(action)

    try:
        await one.player.settle()
        await one.player.move(one.turn, act)
    finally:
        if before is not None:
            await before.wait()
        done.set()


def handle(seat: int) -> str:
    """The handle of a player in its room. Others see it, so it does not say what the player is."""
    return f"p{seat + 1}"


class Setup:
    """The common setup of games with the same world, config and number of players."""

    def __init__(self, spec: GameSpec, source: str, world: World) -> None:
        handles = [handle(seat) for seat in range(len(spec.players))]
        scenario = Scenario(
            world=source,
            config=spec.config,
            partial_intel=spec.partial_intel,
            agents=[AgentSpec(id=handle, role="player", claim=f"auto:{i}") for i, handle in enumerate(handles)],
        )
        self.world = type(world)
        others = [command for command in command_table(world) if not command.is_action]
        self.other_commands = frozenset(name for other in others for name in (other.name, other.tool_name))
        self.opening = Opening(scenario, world, source, at=0)
        self._introduction: tuple[str, ActionSpace] | None = None

    def introduction(self, room: Room) -> tuple[str, ActionSpace]:
        """The text and the actions that players get about the world."""
        if self._introduction is None:
            room.snapshot()  # a world that cannot be saved fails at once
            self._introduction = room.world.describe(), room.commands.action_space()
        return self._introduction


_setups: dict[tuple[str, bytes, int, bool], Setup] = {}


def setup_of(spec: GameSpec, source: str, world: World) -> Setup:
    """The setup of a game. Most games of a process have the same, so it is made once."""
    key = source, msgspec.json.encode(spec.config), len(spec.players), spec.partial_intel
    known = _setups.get(key)
    if known is None or known.world is not type(world):  # a file may have been edited
        if len(_setups) >= MAX_SETUPS:
            _setups.clear()
        known = _setups[key] = Setup(spec, source, world)
    return known


def purposes(spec: GameSpec) -> list[str]:
    """The purpose of each player's random stream. It depends on the seed and the player, not on its seat or on the
    condition, so that games with the same seed are comparable."""
    seed, names = spec.seed, spec.named
    return [f"{seed}/{name}/{names[:i].count(name)}" for i, name in enumerate(names)]
