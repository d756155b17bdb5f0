"""The values on the wire between adapter, bridge and game, their limits, and a player's view as an observation.

The game's side is a script in another program, so nothing that it sends is trusted: texts are cut and have no control
characters, lists are cut, numbers must be finite and in their range, and a value of the wrong type is refused as a
whole.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.observation import Effect, Entity, Event, EventType, Goal, Location, Observation, Terrain

MAX_BODY = 256 * 1024
"""Bytes of a request or of a result."""
MAX_TEXT, MAX_ITEMS, MAX_DEPTH = 500, 128, 8
"""Characters of a text, and items of a list or an object; deeper nesting is refused."""
MAX_EVENTS = 8
"""Events of one action. Of more, the newest are kept."""
MAX_PLAYER_ID = 80
DEFAULT_PLAYER = "player"
"""The player of a request that names none, and of a game that polls for everyone."""
Kind = Literal["observe", "act", "reset"]
T = TypeVar("T")


class Command(Struct, frozen=True, omit_defaults=True):
    """A command to the game."""

    id: str
    type: Kind
    player_id: str
    action: str | None = None
    parameters: dict[str, Any] | None = None


# -- what the game reports --------------------------------------------------------------------------
class NearbyEntity(Struct, frozen=True, omit_defaults=True):
    type: str
    distance: float
    direction: str = ""
    name: str | None = None
    state: str | None = None
    interactable: bool = False


class NearbyTerrain(Struct, frozen=True, omit_defaults=True):
    type: str
    direction: str = ""
    passable: bool = True


class ActiveEffect(Struct, frozen=True, omit_defaults=True):
    name: str
    description: str = ""
    duration: float | None = None


class Quest(Struct, frozen=True, omit_defaults=True):
    id: str
    description: str
    type: str = "main"
    progress: str | None = None


class PlayerView(Struct, frozen=True, omit_defaults=True):
    """The result of an observation. ``food`` and ``facing`` are ours; other games on this wire leave them out."""

    health: float
    max_health: float
    energy: float
    max_energy: float
    position: tuple[float, float]
    world_name: str = ""
    location_description: str = ""
    inventory: dict[str, int] = {}
    nearby_entities: tuple[NearbyEntity, ...] = ()
    nearby_terrain: tuple[NearbyTerrain, ...] = ()
    effects: tuple[ActiveEffect, ...] = ()
    quests: tuple[Quest, ...] = ()
    time_of_day: str | None = None
    food: float | None = None
    max_food: float | None = None
    facing: str | None = None
    holding: str | None = None

    def __post_init__(self) -> None:
        if any(entity.distance < 0 for entity in self.nearby_entities):
            raise ValueError("the distance of an entity must be at least 0")
        for name in ("health", "energy", "food"):
            self._check_vital(name, getattr(self, name), getattr(self, f"max_{name}"))
        if any(count < 0 for count in self.inventory.values()):
            raise ValueError("the number of an item must be at least 0")
        if not (all(e.type for e in self.nearby_entities) and all(t.type for t in self.nearby_terrain)):
            raise ValueError("a type must not be empty")
        if not all(quest.id for quest in self.quests) or not all(effect.name for effect in self.effects):
            raise ValueError("a quest needs an id and an effect needs a name")

    def _check_vital(self, name: str, value: float | None, most: float | None) -> None:
        if (value is not None and value < 0) or (most is not None and most < 0):
            raise ValueError(f"{name} and max_{name} must be at least 0")


class GameEvent(Struct, frozen=True, omit_defaults=True):
    description: str
    type: str = "info"


class ActOutcome(Struct, frozen=True, omit_defaults=True):
    """The result of an action. ``observation``: the view after it, if the game sends it along."""

    success: bool
    message: str = ""
    reward: float = 0.0
    achievements: tuple[str, ...] = ()
    done: bool = False
    events: tuple[GameEvent, ...] = ()
    observation: PlayerView | None = None


def read_view(sent: Any) -> PlayerView:
    """Check an observation. Raises BAD_ARGS that says what is wrong."""
    return _converted(_view(_bounded(sent)), PlayerView)


def read_outcome(sent: Any) -> ActOutcome:
    """Check the result of an action. Raises BAD_ARGS that says what is wrong."""
    if isinstance(sent, dict) and isinstance(sent.get("events"), list):
        sent = {**sent, "events": sent["events"][-MAX_EVENTS:]}
    plain = _with_lists(_bounded(sent), ActOutcome)
    if isinstance(plain, dict):
        if isinstance(plain.get("observation"), dict):
            plain["observation"] = _view(plain["observation"])
        if isinstance(plain.get("events"), list):
            plain["events"] = [_event(event) for event in plain["events"]]
    return _converted(plain, ActOutcome)


def read_object(sent: Any) -> dict[str, Any]:
    """Check a result that may have any fields."""
    plain = _bounded(sent)
    if plain == []:  # an empty table of Lua
        return {}
    if not isinstance(plain, dict):
        raise BadArgs("the result must be an object")
    return plain


def as_plain(value: Struct) -> dict[str, Any]:
    """A value as it is on the wire and in a record: lists, no tuples."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return plain


def _event(event: Any) -> Any:
    """Older scripts send texts; a type that is not known is shown as information."""
    if isinstance(event, str):
        return {"description": event}
    if isinstance(event, dict) and event.get("type") not in get_args(EventType):
        return {**event, "type": "info"}
    return event


def _view(plain: Any) -> Any:
    plain = _with_lists(plain, PlayerView)
    if isinstance(plain, dict):
        inventory = plain.get("inventory")
        if inventory == []:
            plain["inventory"] = {}
        elif isinstance(inventory, dict):
            plain["inventory"] = {name: _count(number) for name, number in inventory.items()}
    return plain


def _with_lists(plain: Any, of: type[Struct]) -> Any:
    """Lua has one empty table: where a list belongs, an empty object is an empty list. Null means left out."""
    if not isinstance(plain, dict):
        return plain
    lists = {field.name for field in msgspec.structs.fields(of) if field.default == ()}
    return {k: [] if k in lists and v == {} else v for k, v in plain.items() if v is not None}


def _count(number: Any) -> Any:
    """Lua may write 3 as 3.0."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _bounded(value: Any, depth: int = 0) -> Any:
    """A copy with short texts and lists, and with rounded numbers, because tiny movements are not worth a record."""
    if depth > MAX_DEPTH:
        raise BadArgs("the value is nested too deeply")
    match value:
        case str():
            return clean(value)
        case float():
            if not math.isfinite(value):
                raise BadArgs("a number is not finite")
            return round(value, 2)
        case int() if not -(2**53) <= value <= 2**53:
            raise BadArgs("a number is too large")
        case list():
            return [_bounded(item, depth + 1) for item in value[:MAX_ITEMS]]
        case dict():
            return {clean(str(k)): _bounded(v, depth + 1) for k, v in list(value.items())[:MAX_ITEMS]}
    return value


def clean(text: str) -> str:
    """A short text. Control characters, and others that cannot be seen, become spaces: line breaks could look like
    sections of a view, and escape sequences are for terminals."""
    short = text[:MAX_TEXT]
    return short if short.isprintable() else "".join(c if c.isprintable() else " " for c in short)


def _converted(plain: Any, to: type[T]) -> T:
    try:
        return msgspec.convert(plain, to)
    except msgspec.ValidationError as wrong:
        raise BadArgs(str(wrong)) from None


# -- observations -----------------------------------------------------------------------------------
AROUND = {"above": "above you", "below": "below you"}


def observation_of(view: PlayerView, events: Sequence[Mapping[str, Any]] = (), step: int = 0) -> Observation:
    """The observation for a model. ``events``: what just happened, the newest last."""
    status: dict[str, Any] = {
        "health": view.health, "max_health": view.max_health, "energy": view.energy, "max_energy": view.max_energy,
    }  # fmt: skip
    optional = {"food": view.food, "max_food": view.max_food, "facing": view.facing, "holding": view.holding}
    status |= {name: value for name, value in optional.items() if value is not None}
    nearest = sorted(view.nearby_entities, key=lambda entity: entity.distance)
    return Observation(
        status=status,
        inventory=dict(view.inventory),
        location=Location(view.position, view.world_name or None, _place(view)),
        nearby_entities=[
            Entity(e.type, e.name, e.distance, AROUND.get(e.direction, e.direction), e.state, e.interactable)
            for e in nearest
        ],
        nearby_terrain=[Terrain(t.type, AROUND.get(t.direction, t.direction), t.passable) for t in view.nearby_terrain],
        active_effects=[
            Effect(e.name, e.description, None if e.duration is None else max(0, math.ceil(e.duration)))
            for e in view.effects
        ],
        current_goals=[Goal(q.id, q.description, q.type, q.progress) for q in view.quests],
        recent_events=[Event(event["description"], event.get("type", "info")) for event in events],
        step=step,
        time_of_day=view.time_of_day,
    )


def _place(view: PlayerView) -> str:
    x, y = view.position
    where = ", ".join(part for part in (view.location_description, view.world_name) if part)
    return f"{where} at ({x:g}, {y:g})" if where else f"at ({x:g}, {y:g})"


# -- requests ---------------------------------------------------------------------------------------
class Asked(Struct, frozen=True):
    """A request of an adapter."""

    player_id: str = DEFAULT_PLAYER
    action: str = ""
    parameters: dict[str, Any] = {}


def read_json(body: bytes) -> dict[str, Any]:
    """The object in a body; an empty body is an empty object."""
    try:
        said = msgspec.json.decode(body or b"{}")
    except (ValueError, RecursionError) as wrong:  # not JSON, not UTF-8, or nested too deeply
        raise BadArgs(f"the body is not JSON: {wrong}") from None
    if not isinstance(said, dict):
        raise BadArgs("the body must be a JSON object")
    return said


def read_request(body: bytes) -> Asked:
    said = read_json(body)
    if said.get("parameters") in ([], None):
        said.pop("parameters", None)
    known = {name: said[name] for name in Asked.__struct_fields__ if said.get(name) is not None}
    asked = _converted(known, Asked)
    if len(asked.action) > MAX_PLAYER_ID or not asked.action.isprintable():
        raise BadArgs(f"action must be a text of at most {MAX_PLAYER_ID} printable characters")
    return msgspec.structs.replace(
        asked, player_id=checked_player(asked.player_id), parameters=_bounded(asked.parameters)
    )


def label(text: str) -> str:
    """A name that the game reports, as others are shown it: short, on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_PLAYER_ID]


def checked_player(player: str) -> str:
    """The id of a player, if it is one: a short text on one line."""
    if not player or len(player) > MAX_PLAYER_ID or not player.isprintable():
        raise BadArgs(f"player_id must be a text of 1 to {MAX_PLAYER_ID} printable characters")
    return player
