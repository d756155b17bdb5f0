"""A world with bodies as an ``AvatarGameAdapter`` of WSAP: agents jack into avatars, without a house.

It plays in a room of its own, as ``one_seat`` does. Each agent id is a member of that room. ``observe`` and ``act`` are
of the agent that jacked in last, because the protocol does not name one there; ``as_agent`` chooses another.
"""

from typing import Any, Protocol

import msgspec

from cohabit.adapter import GameAdapter
from cohabit.bodies import EmbodiedWorld
from cohabit.errors import AskerError, BadArgs, GameRejected
from cohabit.features.bodies.state import avatars_in
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.avatar import (
    AVATAR_ACTIONS,
    Avatar,
    AvatarRoster,
    AvatarSpec,
    AvatarState,
    DeathEvent,
    JackInResult,
    JackOutResult,
    RespawnOption,
)
from cohabit.model.observation import Observation
from cohabit.protocols.wsap.one_seat import PlayedWorld
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import World

HOST = "adapter"


class AvatarGameAdapter(GameAdapter, Protocol):
    """A game in which agents have bodies."""

    def list_avatars(self, agent_id: str) -> list[Avatar]:
        """All avatars of an agent in this game."""

    def create_avatar(self, agent_id: str, spec: AvatarSpec) -> Avatar:
        """Create an avatar for an agent."""

    def jack_in(self, agent_id: str, avatar_id: str) -> JackInResult:
        """Bind an agent to an avatar."""

    def jack_out(self, agent_id: str, mode: str = "dormant") -> JackOutResult:
        """Release the avatar that an agent controls."""

    def transfer(self, agent_id: str, avatar_id: str) -> JackInResult:
        """Leave the avatar that an agent controls, and bind it to another one."""

    def handle_death(self, avatar_id: str) -> DeathEvent:
        """How an avatar died, and how it can come back."""

    def respawn(self, avatar_id: str, option: RespawnOption | str) -> JackInResult:
        """Bring a dead avatar back, and jack in."""


def as_avatar_adapter(world: World | str, *, seed: int = 0, **config: Any) -> "Embodied":
    """A world with bodies, or its name or file, as an adapter. ``reset`` begins the same game again."""
    made = make_world(world, config) if isinstance(world, str) else world
    if not isinstance(made, EmbodiedWorld):
        raise BadArgs(f"{made.spec.name} has no bodies; use as_adapter")
    return Embodied(made, seed)


class Embodied(PlayedWorld):
    """The members of ``AvatarGameAdapter``. A refusal is a result without success; its message says what to do."""

    world: EmbodiedWorld

    def __init__(self, world: EmbodiedWorld, seed: int) -> None:
        self.world = world
        self._seed = seed
        self.reset()

    # -- the game -----------------------------------------------------------------------------------
    @property
    def action_space(self) -> ActionSpace:
        """The actions of the game, and those that its avatars have."""
        ours = self.room.commands.action_space().actions
        avatars = [action for action in AVATAR_ACTIONS.actions if self._is_of_avatars(action.name)]
        return ActionSpace([*ours, *avatars], self.world.spec.examples)

    def _is_of_avatars(self, action: str) -> bool:
        """Whether it is an action of avatars that this game has, and not an action of the game itself."""
        command = self.room.commands.get(action)
        return action in AVATAR_ACTIONS.names() and command is not None and not command.is_action

    def reset(self) -> Observation:
        spec = self.world.spec
        scenario = Scenario(world=spec.name, agents=[AgentSpec(id=HOST, role="host")], partial_intel=spec.fog)
        state = opening_state(scenario, self.world, spec.name, HOST, self._seed, "00" * 16)
        self._at = 0
        self.agent = ""
        self.room = Room.create(state, self.world, self._at)
        return Observation(text="Nobody has jacked in yet.")

    def as_agent(self, agent_id: str) -> "Embodied":
        """From now on ``observe`` and ``act`` are of this agent."""
        self._member(agent_id)
        self.agent = agent_id
        return self

    def observe(self) -> Observation:
        """What the agent sees: through its body if it has one."""
        if not self.agent:
            return Observation(text="Nobody has jacked in yet.")
        try:
            seen: Observation = self._call(self.agent, "inspect_self")
        except GameRejected:
            seen = self.room.observe(self.room.eye_of(self.room.state.members[self.agent]))
        return seen

    def act(self, action: Action) -> ActionResult:
        """Execute an action of the game or of the avatar."""
        args: dict[str, Any] = {"action": action.name, "params": action.parameters, "reasoning": action.reasoning}
        try:
            if not self.agent:
                raise GameRejected("jack in first")
            if self._is_of_avatars(action.name):
                done = msgspec.to_builtins(self._call(self.agent, action.name, action.parameters))
                result = ActionResult(True, str(done.get("message", "")) or "Done.")
            else:
                result = self._call(self.agent, "act", args)
        except AskerError as refused:
            result = ActionResult(False, refused.as_text())
        return msgspec.structs.replace(result, done=self.room.is_over(), observation=self.observe())

    # -- avatars --------------------------------------------------------------------------------------
    def roster(self, agent_id: str) -> AvatarRoster:
        self._member(agent_id)
        found: AvatarRoster = self._call(agent_id, "avatars")
        return found

    def list_avatars(self, agent_id: str) -> list[Avatar]:
        return self.roster(agent_id).avatars

    def create_avatar(self, agent_id: str, spec: AvatarSpec) -> Avatar:
        """The bonuses of ``spec`` come from skills, which an adapter without the Nexus does not know."""
        self._member(agent_id)
        args = {"name": spec.name, "appearance": spec.appearance or None, "spawn_location": spec.spawn_location}
        made: Avatar = self._call(agent_id, "create_avatar", args)
        return made

    def jack_in(self, agent_id: str, avatar_id: str | None = None) -> JackInResult:
        self._member(agent_id)
        result = self._tried(agent_id, "jack_in", {"avatar_id": avatar_id})
        if result.success:
            self.agent = agent_id
        return result

    def transfer(self, agent_id: str, avatar_id: str, mode: str = "dormant") -> JackInResult:
        """``mode``: how the present avatar is left, as in ``jack_out``."""
        self._member(agent_id)
        result = self._tried(agent_id, "transfer", {"avatar_id": avatar_id, "mode": mode})
        if result.success:
            self.agent = agent_id
        return result

    def jack_out(self, agent_id: str, mode: str = "dormant") -> JackOutResult:
        self._member(agent_id)
        try:
            left: JackOutResult = self._call(agent_id, "jack_out", {"mode": mode})
        except AskerError as refused:
            active = self.roster(agent_id).get_active()
            return JackOutResult(False, active.state if active else AvatarState.UNBOUND, refused.as_text())
        return left

    def handle_death(self, avatar_id: str) -> DeathEvent:
        found: DeathEvent = self._call(self._owner(avatar_id), "death")
        return found

    def respawn(self, avatar_id: str, option: RespawnOption | str) -> JackInResult:
        agent = self._owner(avatar_id)
        result = self._tried(agent, "respawn", {"option": option if isinstance(option, str) else option.id})
        if result.success:
            self.agent = agent
        return result

    # -- the room -------------------------------------------------------------------------------------
    def _owner(self, avatar_id: str) -> str:
        avatar = avatars_in(self.room.state).get(avatar_id)
        if avatar is None:
            raise BadArgs(f"there is no avatar {avatar_id!r}")
        return avatar.owner

    def _member(self, agent_id: str) -> None:
        if agent_id not in self.room.state.members:
            self._call(HOST, "add_member", {"id": agent_id, "role": "player"})

    def _tried(self, agent_id: str, name: str, args: dict[str, Any]) -> JackInResult:
        try:
            result: JackInResult = self._call(agent_id, name, args)
        except AskerError as refused:
            return JackInResult(False, message=refused.as_text())
        return result

    def _call(self, agent_id: str, name: str, args: dict[str, Any] | None = None) -> Any:
        self._at += 1
        return self.room.call(agent_id, name, args, at=self._at)
