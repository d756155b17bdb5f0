"""Avatars: the bodies of agents in games. An agent can have several avatars, and an avatar persists between visits."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, Literal, get_args

import msgspec

from cohabit.model.action import ActionDef, ActionSpace, ParamDef
from cohabit.model.observation import Observation, one_line

Emote = Literal["wave", "sit", "dance", "sleep", "point", "shrug", "nod", "shake"]
EMOTES: tuple[Emote, ...] = get_args(Emote)
Stance = Literal["standing", "crouching", "prone", "sitting", "swimming", "flying", "climbing"]
STANCES: tuple[Stance, ...] = get_args(Stance)


class AvatarState(Enum):
    UNBOUND = "unbound"  # no agent controls it
    BOUND = "bound"  # an agent controls it
    DORMANT = "dormant"  # the agent is away; the body stays in the world and can be harmed
    SUSPENDED = "suspended"  # the body is removed from the world until the agent returns
    DESTROYED = "destroyed"  # dead or despawned


class Avatar(msgspec.Struct, frozen=True, omit_defaults=True):
    """A body in one game. `bound_agent` is the agent that controls it; it is set only in the state `bound`."""

    avatar_id: str
    game_id: str
    bound_agent: str | None = None
    state: AvatarState = AvatarState.UNBOUND
    name: str = ""
    position: tuple[float, ...] = ()
    appearance: dict[str, Any] = {}
    health: float = 100.0
    max_health: float = 100.0
    inventory: dict[str, int] = {}
    equipment: dict[str, str] = {}  # slot to item id
    created_at: str = ""
    last_active: str = ""
    total_playtime: int = 0  # seconds
    death_count: int = 0
    respawn_point: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.avatar_id or not self.game_id:
            raise ValueError("an avatar needs an avatar_id and a game_id")
        if (self.state is AvatarState.BOUND) != (self.bound_agent is not None):
            raise ValueError(f"an avatar has an agent only while it is bound; {self.avatar_id!r} is "
                             f"{self.state.value} with agent {self.bound_agent!r}")  # fmt: skip
        if not (0 <= self.health < math.inf and 0 < self.max_health < math.inf):
            raise ValueError(f"health must be a finite number >= 0, not {self.health!r}/{self.max_health!r}")
        if self.total_playtime < 0 or self.death_count < 0:
            raise ValueError("total_playtime and death_count must be at least 0")


class AvatarSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """The requested properties of a new avatar. `skill_bonuses` come from the agent's skills in other games."""

    name: str | None = None
    appearance: dict[str, Any] = {}
    spawn_location: str = "safe"  # safe, random, challenging
    starting_loadout: str = "default"
    skill_bonuses: dict[str, float] = {}


class JackInResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of taking control of an avatar."""

    success: bool
    avatar: Avatar | None = None
    message: str = ""
    bonuses_applied: dict[str, Any] = {}
    initial_observation: Observation | None = None

    def __post_init__(self) -> None:
        if self.success and self.avatar is None:
            raise ValueError("a successful JackInResult needs an avatar")


class JackOutResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of leaving an avatar. `avatar_state` is its new state."""

    success: bool
    avatar_state: AvatarState
    message: str = ""
    session_stats: dict[str, Any] = {}


class RespawnOption(msgspec.Struct, frozen=True, omit_defaults=True):
    """An option to respawn, with its cost."""

    id: str
    type: str = "spawn_point"  # checkpoint, bed, spawn_point, random, or a type that the game defines
    location: tuple[float, ...] | str = ""
    cost: dict[str, int] | None = None
    penalties: list[str] = []  # lose_inventory, lose_xp, debuff, …
    description: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("the id of a respawn option must not be empty")


class DeathEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The death of an avatar: the cause, what was lost, and the respawn options."""

    avatar_id: str
    cause: str  # combat, fall, drowning, starvation, or a cause that the game defines
    killer: str | None = None
    location: tuple[float, ...] = ()
    timestamp: str = ""
    items_dropped: dict[str, int] = {}
    xp_lost: float = 0.0
    respawn_options: list[RespawnOption] = []


class AvatarRoster(msgspec.Struct, frozen=True, omit_defaults=True):
    """The avatars of one agent in one game."""

    agent_id: str
    game_id: str
    avatars: list[Avatar] = []
    active_avatar_id: str | None = None
    max_avatars: int = 3

    def __post_init__(self) -> None:
        if self.active_avatar_id is not None and self.get_active() is None:
            raise ValueError(f"the active avatar {self.active_avatar_id!r} is not in the roster")
        if self.max_avatars < 0:
            raise ValueError(f"max_avatars must be at least 0, not {self.max_avatars}")

    def get_active(self) -> Avatar | None:
        """The avatar that the agent controls, if any."""
        return next((avatar for avatar in self.avatars if avatar.avatar_id == self.active_avatar_id), None)

    def get_dormant(self) -> list[Avatar]:
        """The dormant avatars."""
        return [avatar for avatar in self.avatars if avatar.state is AvatarState.DORMANT]

    def can_create_new(self) -> bool:
        """True if the agent may have another avatar. Destroyed ones do not count."""
        alive = [avatar for avatar in self.avatars if avatar.state is not AvatarState.DESTROYED]
        return len(alive) < self.max_avatars


class EmbodiedObservation(Observation, frozen=True, omit_defaults=True, kw_only=True):
    """An observation through an avatar, limited by its senses."""

    avatar: Avatar
    facing: str = ""
    stance: str = "standing"
    velocity: tuple[float, ...] = ()
    vision_range: float | None = None  # None: no limit
    vision_cone: float = 360.0  # degrees
    hearing_range: float | None = None  # None: nothing can be heard
    is_grounded: bool = True
    can_see: list[str] = msgspec.field(default_factory=list)  # the names of `nearby_entities`, each once
    can_hear: list[str] = msgspec.field(default_factory=list)  # what is heard and not seen
    injuries: list[str] = msgspec.field(default_factory=list)
    fatigue: float | None = None  # from 0, rested, to 1; None: the game has no fatigue
    encumbrance: float | None = None  # from 0 to 1, as much as it can carry; None: the game has no weights
    actions_available: list[str] = msgspec.field(default_factory=list)
    actions_blocked: dict[str, str] = msgspec.field(default_factory=dict)  # action to the reason

    def __post_init__(self) -> None:
        if not 0 <= self.vision_cone <= 360:
            raise ValueError(f"vision_cone must be from 0 to 360 degrees, not {self.vision_cone!r}")
        check_share("fatigue", self.fatigue)
        check_share("encumbrance", self.encumbrance)

    def to_text(self) -> str:
        """The body, then what it perceives. `can_see` is left out, because that is told there, and so are
        `actions_available`: those are the actions that are not blocked."""
        return f"{self.body_text()}\n\n{super().to_text()}"

    def body_text(self) -> str:
        body = self.avatar
        facing = f"Facing: {self.facing} | " if self.facing else ""
        condition = [
            f"Injuries: {', '.join(self.injuries)}" if self.injuries else "",
            f"Fatigue: {self.fatigue:.0%}" if self.fatigue else "",
            f"Load: {self.encumbrance:.0%}" if self.encumbrance else "",
        ]
        lines = [
            f"=== AVATAR: {body.name or body.avatar_id} ===",
            f"Health: {body.health:g}/{body.max_health:g}",
            f"Position: ({', '.join(f'{number:g}' for number in body.position)})" if body.position else "",
            f"{facing}Stance: {self.stance}{'' if self.is_grounded else ' | Not on the ground'}",
            " | ".join(part for part in condition if part),
            f"Equipped: {', '.join(body.equipment.values())}" if body.equipment else "",
            f"Hear: {', '.join(self.can_hear)}" if self.can_hear else "",
            f"Blocked: {self._blocked_text()}" if self.actions_blocked else "",
        ]
        return "\n".join(one_line(line) for line in lines if line)

    def _blocked_text(self) -> str:
        """Each reason once, after the actions that it blocks."""
        actions: dict[str, list[str]] = {}
        for action, reason in self.actions_blocked.items():
            actions.setdefault(reason, []).append(action)
        return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in actions.items())


def check_share(name: str, value: float | None) -> None:
    """Refuse what is no part of a whole."""
    if value is not None and not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, not {value!r}")


AVATAR_ACTIONS = ActionSpace(
    [
        ActionDef(
            "jack_out", "Leave this avatar and return to the menu",
            [ParamDef("mode", "The state of the avatar while you are away", options=["dormant", "suspend", "despawn"],
                      optional=True)],
            ["Not in combat", "Not falling", "Safe location"], "meta",
        ),
        ActionDef("look", "Turn to face a direction or an entity", [ParamDef("target", "direction or entity_id")], [],
                  "avatar"),
        ActionDef("emote", "Perform an emote", [ParamDef("emote", "What to show", options=list(EMOTES))], [], "avatar"),
        ActionDef("inspect_self", "Inspect your body, equipment and status", [], [], "avatar"),
        ActionDef("check_inventory", "List what you carry and what you have equipped", [], [], "avatar"),
        ActionDef("stance", "Take a stance", [ParamDef("stance", "How to hold your body", options=list(STANCES))],
                  ["The game knows this stance"], "avatar"),
        ActionDef("equip", "Equip an item that you carry", [ParamDef("item", "The item")], [], "avatar"),
        ActionDef("unequip", "Put an equipped item away", [ParamDef("slot", "The slot")], [], "avatar"),
    ]
)  # fmt: skip
"""The actions of avatars, in addition to those of the game. A game without stances or equipment does not have the last
three."""
