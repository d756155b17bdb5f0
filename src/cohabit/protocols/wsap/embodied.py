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
from cohabit.model import avatar as avatars
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Observation
from cohabit.protocols.wsap.one_seat import PlayedWorld
from cohabit.registry import make_world
from cohabit.scenario import AgentSpec
from cohabit.world import World

HOST = "adapter"


class AvatarGameAdapter(GameAdapter, Protocol):
    """A game in which agents have bodies."""

    def list_avatars(self, agent_id: str) -> list[avatars.Avatar]:
        """All avatars of an agent in this game."""

    def create_avatar(self, agent_id: str, spec: avatars.AvatarSpec) -> avatars.Avatar:
        """Create an avatar for an agent."""

    def jack_in(self, agent_id: str, avatar_id: str) -> avatars.JackInResult:
        """Bind an agent to an avatar."""

    def jack_out(self, agent_id: str, mode: str = "dormant") -> avatars.JackOutResult:
        """Release the avatar that an agent controls."""

    def transfer(self, agent_id: str, avatar_id: str) -> avatars.JackInResult:
        """Leave the avatar that an agent controls, and bind it to another one."""

    def handle_death(self, avatar_id: str) -> avatars.DeathEvent:
        """The death of an avatar, and the ways to come back."""

    def respawn(self, avatar_id: str, option: avatars.RespawnOption | str) -> avatars.JackInResult:
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
        of_avatars = [action for action in avatars.AVATAR_ACTIONS.actions if self._is_of_avatars(action.name)]
        return ActionSpace([*ours, *of_avatars], self.world.spec.examples)

    def _is_of_avatars(self, action: str) -> bool:
        """True if it is an action of avatars that this game has, and not an action of the game itself."""
        command = self.room.commands.get(action)
        return action in avatars.AVATAR_ACTIONS.names() and command is not None and not command.is_action

    def reset(self) -> Observation:
        self.agent = ""
        self._open(HOST, [AgentSpec(id=HOST, role="host")], self._seed)
        return Observation(text="Nobody has jacked in yet.")

    def as_agent(self, agent_id: str) -> "Embodied":
        """From now on ``observe`` and ``act`` are of this agent."""
        self._member(agent_id)
        self.agent = agent_id
        return self

    def observe(self) -> Observation:
        """The view of the agent: through its body if it has one."""
        if not self.agent:
            return Observation(text="Nobody has jacked in yet.")
        try:
            seen: Observation = self._call(self.agent, "inspect_self")
        except GameRejected:
            seen = self.room.observe(self.room.eye_of(self.room.state.members[self.agent]))
        return seen

    def act(self, action: Action) -> ActionResult:
        """Execute an action of the game or of the avatar."""
        try:
            if not self.agent:
                raise GameRejected("jack in first")
            if self._is_of_avatars(action.name):
                done = msgspec.to_builtins(self._call(self.agent, action.name, action.parameters))
                result = ActionResult(True, str(done.get("message", "")) or "Done.")
            else:
                result = self._call(self.agent, "act", {**action.choice, "reasoning": action.reasoning})
        except AskerError as refused:
            result = ActionResult(False, refused.as_text())
        return msgspec.structs.replace(result, done=self.room.is_over(), observation=self.observe())

    # -- avatars --------------------------------------------------------------------------------------
    def roster(self, agent_id: str) -> avatars.AvatarRoster:
        self._member(agent_id)
        found: avatars.AvatarRoster = self._call(agent_id, "avatars")
        return found

    def list_avatars(self, agent_id: str) -> list[avatars.Avatar]:
        return self.roster(agent_id).avatars

    def create_avatar(self, agent_id: str, spec: avatars.AvatarSpec) -> avatars.Avatar:
        """The bonuses of ``spec`` come from skills, which an adapter without the Nexus does not know."""
        self._member(agent_id)
        args = {"name": spec.name, "appearance": spec.appearance or None, "spawn_location": spec.spawn_location}
        made: avatars.Avatar = self._call(agent_id, "create_avatar", args)
        return made

    def jack_in(self, agent_id: str, avatar_id: str | None = None) -> avatars.JackInResult:
        self._member(agent_id)
        return self._bound(agent_id, "jack_in", {"avatar_id": avatar_id})

    def transfer(self, agent_id: str, avatar_id: str, mode: str = "dormant") -> avatars.JackInResult:
        """``mode``: how the present avatar is left, as in ``jack_out``."""
        self._member(agent_id)
        return self._bound(agent_id, "transfer", {"avatar_id": avatar_id, "mode": mode})

    def jack_out(self, agent_id: str, mode: str = "dormant") -> avatars.JackOutResult:
        self._member(agent_id)
        try:
            left: avatars.JackOutResult = self._call(agent_id, "jack_out", {"mode": mode})
        except AskerError as refused:
            active = self.roster(agent_id).get_active()
            state = active.state if active else avatars.AvatarState.UNBOUND
            return avatars.JackOutResult(False, state, refused.as_text())
        return left

    def handle_death(self, avatar_id: str) -> avatars.DeathEvent:
        found: avatars.DeathEvent = self._call(self._owner(avatar_id), "death")
        return found

    def respawn(self, avatar_id: str, option: avatars.RespawnOption | str) -> avatars.JackInResult:
        wanted = option if isinstance(option, str) else option.id
        return self._bound(self._owner(avatar_id), "respawn", {"option": wanted})

    # -- the room -------------------------------------------------------------------------------------
    def _owner(self, avatar_id: str) -> str:
        avatar = avatars_in(self.room.state).get(avatar_id)
        if avatar is None:
            raise BadArgs(f"there is no avatar {avatar_id!r}")
        return avatar.owner

    def _member(self, agent_id: str) -> None:
        if agent_id not in self.room.state.members:
            self._call(HOST, "add_member", {"id": agent_id, "role": "player"})

    def _bound(self, agent_id: str, name: str, args: dict[str, Any]) -> avatars.JackInResult:
        """The result of a command that gives an agent a body."""
        try:
            result: avatars.JackInResult = self._call(agent_id, name, args)
        except AskerError as refused:
            return avatars.JackInResult(False, message=refused.as_text())
        if result.success:
            self.agent = agent_id
        return result
