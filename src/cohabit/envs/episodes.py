"""Games of one world, one after another, in which the caller plays some of the seats.

Each is a game of the lab: a room of its own on virtual time, without a network. So grants, refusals, rewards and the
record are those of any room, and the same actions give the same record.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from secrets import randbits
from typing import Any, TypeVar

from msgspec import Struct

from cohabit.agents.contract import Agent, adapted
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.isolated import open_agent
from cohabit.agents.player import LATE, Act
from cohabit.agents.process import end_idle_processes
from cohabit.envs.actions import NO_ACTION, Given
from cohabit.errors import AskerError, BadArgs
from cohabit.lab.design import check_brain
from cohabit.lab.game import Game, GameSpec, LabPlayer, handle, purposes
from cohabit.model.action import Action, ActionResult
from cohabit.model.observation import LastAction, Observation
from cohabit.model.seat import SeatId
from cohabit.model.stream import Stream
from cohabit.registry import check_plays
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.world import Standing, World, WorldSpec, overrides

T = TypeVar("T")
UNREADABLE = Action("?")
"""In place of what is no action. The game refuses it."""
SECOND_MS = 1000
MAX_WAIT = 10_000
"""After this many steps in which no learner is to move, an episode is truncated."""


class Setup(Struct, frozen=True):
    """The common setup of the episodes. ``players``: on each seat the name of a brain; None: a learner."""

    world: str
    players: list[str | None]
    config: dict[str, Any] = {}
    partial_intel: bool = False  # fog, in worlds that let the scenario decide
    step_ticks: int = 0  # how long a step of a real-time world takes; 0: one second at speed x1
    max_steps: int = 0  # truncate an episode after this many steps; 0: never

    def __post_init__(self) -> None:
        if self.step_ticks < 0 or self.max_steps < 0:
            raise BadArgs("step_ticks and max_steps must be at least 0")


class Learner:
    """The player whose actions come from the caller. It acts once in each step."""

    quick = True
    looks = reflects = False  # the caller does

    def __init__(self) -> None:
        self.given: Given = None
        self.refusal: AskerError | None = None
        self.played: Action | None = None
        self.message = ""
        self.last: LastAction | None = None  # its outcome, in a world of rounds
        self.earned = 0.0  # by its own actions

    def expect(self, given: Given) -> None:
        """Set the action for the next step."""
        self.given, self.refusal, self.played, self.message, self.last = given, None, None, "", None

    def decide(self, observation: Observation) -> Action | None:
        given, self.given = self.given, None
        if isinstance(given, AskerError):
            self.refusal = given
            return UNREADABLE
        return given

    def heard(self, decision: PlayerDecision) -> None:
        """Note the result of a decision in the game."""
        if decision.action is not None:
            self.played = decision.action
            self.earned += decision.reward
            self.message = decision.message

    def learned(self, last: LastAction | None) -> None:
        """The outcome of it when the round ended."""
        if last is not None and self.played is not None:
            self.last, self.message = last, last.message or self.message

    def result(self) -> dict[str, Any]:
        """The outcome of the last step, as information for the caller."""
        found: dict[str, Any] = {"message": self.message} if self.message else {}
        if self.last is not None:
            found["last_action"] = self.last.to_structured()
        if self.refusal is not None:
            found["refused"] = {**self.refusal.as_wire(), "played": self.played and deepcopy(self.played.choice)}
        return found


class StepGame(Game):
    """A game that notes why it refuses what a learner does. Its fallback is then played."""

    def __init__(self, spec: GameSpec, learners: Mapping[int, Learner], agents: Sequence[Agent]) -> None:
        self._learners = learners
        super().__init__(spec, agents=agents, on_decision=self._heard)

    def _heard(self, i: int, decision: PlayerDecision, seconds: float) -> None:
        if i in self._learners:
            self._learners[i].heard(decision)

    async def _learn(self, one: LabPlayer, last: LastAction | None, over: bool) -> None:
        learner = self._learners.get(self.members.index(one.member))
        if learner is not None and last is not None:
            learner.earned += last.reward
        await super()._learn(one, last, over)

    def _act_of(self, member: Member) -> Act:
        act, learner = super()._act_of(member), self._learners.get(self.members.index(member))
        return act if learner is None else _noting_refusals(learner, act)


def _noting_refusals(learner: Learner, act: Act) -> Act:
    async def act_or_note(action: Action | None) -> ActionResult | None:
        if action is UNREADABLE and learner.refusal is not None:
            raise learner.refusal
        try:
            return await act(action)
        except AskerError as refusal:
            learner.refusal = learner.refusal or refusal
            if refusal.code in LATE:  # time stands still here, so the learner is not late
                raise BadArgs(refusal.message) from refusal
            raise

    return act_or_note


class Episodes:
    """See the module. Players are known by their index, in the order of the seats."""

    def __init__(self, setup: Setup, world: World) -> None:
        for name in dict.fromkeys(name for name in setup.players if name is not None):
            check_brain(name)
            check_plays(name, setup.world)
        self.setup = setup
        self._handles = [handle(i) for i in range(len(setup.players))]
        self.learners = {i: Learner() for i, name in enumerate(setup.players) if name is None}
        self._spec = world.spec
        self._has_returns = overrides(world, "returns")
        self._has_standings = overrides(world, "standings")
        self._lists_useful = overrides(world, "useful")
        self._has_rounds = world.pace == "rounds"
        self._waits = world.pace != "clock"  # for the learners that are to move
        self._seeds: Stream | None = None
        self._game: StepGame | None = None
        self._driver: Driver | None = None
        self._taken: list[Mapping[int, Given]] = []  # the actions of the learners in this game, by step
        self.seed = 0
        self.steps = 0
        self._stuck = False
        self._seats: dict[int, SeatId] = {}  # the last seat of each learner
        self._paid: dict[int, float] = {}  # how much of its total each learner was given
        self._standings: tuple[int, dict[SeatId, Standing]] = (-1, {})  # by seat, after this entry of the record

    # -- playing ----------------------------------------------------------------------------------
    def reset(self, seed: int | None) -> None:
        """Begin a game, and let the others play until a learner is to move.

        Without a seed, the next one of a sequence that begins with the last seed that was given."""
        if seed is not None:
            self.seed, self._seeds = int(seed), Stream(int(seed), "episodes")
        else:
            self._seeds = self._seeds or Stream(randbits(64), "episodes")
            self.seed = self._seeds.below(1 << 63)
        self._begin()

    def _begin(self) -> None:
        """Begin the game of this seed."""
        self._end_game()
        for learner in self.learners.values():
            learner.expect(None)
            learner.earned = 0.0
        self._game = StepGame(self._game_spec(), self.learners, self._agents())
        self._taken, self.steps, self._stuck = [], 0, False
        self._seats, self._paid = {}, dict.fromkeys(self.learners, 0.0)
        self._standings = (-1, {})
        self._run(self._game.begin)
        if unseated := [i for i in self.learners if self.has_no_seat(i)]:
            raise BadArgs(f"{self.setup.world} has no seat for player {unseated[0] + 1} with this config")
        self._until_a_learner_moves()

    def step(self, given: Mapping[int, Given]) -> None:
        """One action of each learner that is to move, then the others until a learner is to move again."""
        if self._game is None:
            raise BadArgs("the environment is closed, or was not reset; call reset first")
        self._taken.append(given)
        for i, learner in self.learners.items():
            action = given.get(i)
            learner.expect(BadArgs(NO_ACTION) if action is None and self._waits else action)
        self.steps += 1
        self._run(self._game.step)
        for i, learner in self.learners.items() if self._has_rounds else ():
            learner.learned(self.room.last_action(self.member(i).seat or self._seats[i]))
        self._until_a_learner_moves()

    def _until_a_learner_moves(self) -> None:
        assert self._game is not None
        waited = 0
        while self._is_waiting():
            waited += 1
            if not self._run(self._game.step) or waited > MAX_WAIT:
                self._stuck = not self.room.is_over()
                break
        for i in self.learners:
            self._seats[i] = self.member(i).seat or self._seats[i]

    def _is_waiting(self) -> bool:
        playing = [i for i in self.learners if not self.has_ended(i)]
        return bool(playing) and not any(map(self.is_to_move, playing))

    def _game_spec(self) -> GameSpec:
        setup = self.setup
        return GameSpec(
            "env",
            setup.world,
            [name or "learner" for name in setup.players],
            seed=str(self.seed),
            config=setup.config,
            partial_intel=setup.partial_intel,
            step_ticks=setup.step_ticks or max(1, SECOND_MS // self._spec.tick_ms),
            max_decisions=sys.maxsize,
        )

    def _agents(self) -> list[Agent]:
        """The players of the next game."""
        named = zip(self.setup.players, purposes(self._game_spec()), strict=True)
        return [
            adapted(self.learners[i]) if name is None else open_agent(name, why) for i, (name, why) in enumerate(named)
        ]

    def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._driver is None:
            assert self._game is not None
            self._driver = Driver(quick=all(player.is_quick for player in self._game.players))
        return self._driver.run(work)

    def _end_game(self) -> None:
        game, self._game = self._game, None
        if game is not None and self._driver is not None:
            self._driver.run(game.close)

    def close(self) -> None:
        """End the game. Can be called again."""
        self._end_game()
        if self._driver is not None:
            self._driver.close()
            self._driver = None
            end_idle_processes()

    # -- copies -----------------------------------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        """For ``pickle`` and ``copy``: a game is its seed and the actions of its learners, which are played again."""
        if self._game is not None and not all(player.is_quick for player in self._game.players):
            raise BadArgs(
                "a game cannot be copied while an opponent plays that could answer otherwise when it is asked again, "
                "such as a language model; close the environment first"
            )
        head = self._game.room.record.digest if self._game is not None else None
        return {**self.__dict__, "_game": None, "_driver": None, "_standings": (-1, {}), "_head": head}

    def __setstate__(self, state: dict[str, Any]) -> None:
        head, taken, paid = state.pop("_head"), state["_taken"], state["_paid"]
        self.__dict__.update(state)
        if head is None:
            return
        self._begin()
        for given in taken:
            self.step(given)
        self._paid = paid
        if self.room.record.digest != head:
            raise BadArgs(f"{self.setup.world} goes another way when it is played again; has it changed?")

    # -- the state of the game --------------------------------------------------------------------
    @property
    def room(self) -> Room:
        if self._game is None:
            raise BadArgs("the environment is closed, or was not reset; call reset first")
        return self._game.room

    def member(self, i: int) -> Member:
        return self.room.state.members[self._handles[i]]

    def is_to_move(self, i: int) -> bool:
        """True if the game takes an action of this player now."""
        return not self.room.is_over() and self.member(i).seat in self.room.to_move()

    def has_ended(self, i: int) -> bool:
        """True if the game is over, this player's seat is gone, or the standings say that it is not alive."""
        if self.room.is_over() or self.has_no_seat(i):
            return True
        standing = self.standing(i)
        return standing is not None and not standing.alive

    def has_no_seat(self, i: int) -> bool:
        return self.member(i).seat not in self.room.seats

    def standing(self, i: int) -> Standing | None:
        """The line of a player's last seat in the standings, if there is one."""
        if not self._has_standings:
            return None
        room = self.room
        if self._standings[0] != room.record.seq:
            self._standings = room.record.seq, {each.seat: each for each in room.crash_on_bug(room.world.standings)}
        return self._standings[1].get(self.member(i).seat or self._seats.get(i, ""))

    def is_truncated(self) -> bool:
        """True if the game was stopped before its end: at the limit of steps, or because it cannot go on."""
        at_limit = 0 < self.setup.max_steps <= self.steps
        return (at_limit or self._stuck) and not self.room.is_over()

    def useful(self, i: int) -> Sequence[Action] | None:
        """The actions that a player that is to move can choose from; None if the world cannot list them now."""
        room, world = self.room, self.room.world
        listed = world.useful if self._lists_useful else world.legal
        found: Sequence[Action] | None = room.crash_on_bug(listed, room.seat_of(self.member(i)))
        return found

    def reward(self, i: int) -> float:
        """The gain of a learner since the last call."""
        total = self.room.state.returns.get(self._seats[i], 0.0) if self._has_returns else self.learners[i].earned
        gained, self._paid[i] = total - self._paid[i], total
        return gained


class Driver:
    """Runs the coroutines of a game. Scripts never wait, so they need no event loop. For other opponents there is one
    on a thread of its own, because the caller may run in a loop itself, as notebooks do."""

    def __init__(self, *, quick: bool) -> None:
        self._thread = None if quick else ThreadPoolExecutor(1, "opponents")
        self._runner = asyncio.Runner()

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._thread is not None:
            return self._thread.submit(lambda: self._runner.run(work())).result()
        try:
            work().send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        raise AssertionError("a script waited for something")

    def close(self) -> None:
        if self._thread is not None:
            self._thread.submit(self._runner.close).result()
            self._thread.shutdown()


# -- who plays ----------------------------------------------------------------------------------------
def one_learner(
    spec: WorldSpec, seat: int | str, opponents: str | Sequence[str], seats: int | None = None
) -> list[str | None]:
    """The players of a world with one learner: ``opponents`` has the other seats, in their order; a single name all of
    them. ``seats``: how many there are, if that is not clear."""
    listed = None if isinstance(opponents, str) else list(opponents)
    count = _seat_count(spec, seats or (len(listed) + 1 if listed is not None else max(1, spec.seat_range[0])))
    others = listed if listed is not None else [str(opponents)] * (count - 1)
    if len(others) != count - 1:
        raise BadArgs(f"opponents: {count} seats need {count - 1} opponents, not {len(others)}")
    place = _seat_index(spec, seat, count)
    return [*others[:place], None, *others[place:]]


def only_learners(spec: WorldSpec, seats: int | None = None) -> list[str | None]:
    """A learner on each seat: as many as the world needs, at least two where it allows that."""
    fewest, most = spec.seat_range
    return [None] * _seat_count(spec, seats or max(fewest, min(2, most)))


def _seat_count(spec: WorldSpec, count: int) -> int:
    fewest, most = spec.seat_range
    if most == 0:
        raise BadArgs(f"{spec.name} has no seats, so nobody can learn there; choose a world with seats")
    if not max(1, fewest) <= count <= most:
        allowed = str(most) if fewest == most else f"{max(1, fewest)} to {most}"
        raise BadArgs(f"{spec.name} has {allowed} seats, not {count}")
    return count


def _seat_index(spec: WorldSpec, seat: int | str, count: int) -> int:
    """The place of a seat, which is given by its number, from 1, or by its name."""
    names = list(spec.seat_names[:count])
    if isinstance(seat, int) and 1 <= seat <= count:
        return seat - 1
    if seat in names:
        return names.index(str(seat))
    known = f" or one of {', '.join(names)}" if names else ""
    raise BadArgs(f"seat: give its number, from 1 to {count}{known}, not {seat!r}")
