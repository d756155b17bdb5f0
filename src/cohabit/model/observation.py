"""The observation of a participant: one frozen value per step, available as text and as data.

Every field has a default, so a card game needs no location and a chat room needs no health. Lists and dicts
are not copied: pass a copy of anything the world changes later.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, get_args

import msgspec

from cohabit.model.text_changes import changes
from cohabit.model.value import Value

EventType = Literal["info", "success", "danger", "reward"]

_EVENT_WORDS = {"info": "", "success": "", "danger": "danger: ", "reward": "reward: "}
"""Words and not marks, because a text of changes marks its lines."""
LAST_ACTION = "YOUR LAST ACTION"


class Location(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """The location of the participant: coordinates, a named region, and a description."""

    coordinates: tuple[float, ...] = ()
    region: str | None = None
    description: str = ""

    def to_text(self) -> str:
        if self.description:
            return one_line(self.description)
        place = one_line(self.region or "")
        point = f"({', '.join(_value(number) for number in self.coordinates)})" if self.coordinates else ""
        return f"{place} {point}".strip()


class Entity(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """Something in the world. `distance` is None in a world without distances."""

    type: str
    name: str | None = None
    distance: float | None = None
    direction: str = ""
    state: str | None = None
    interactable: bool = False
    description: str = ""

    def __post_init__(self) -> None:
        _need(self.type, "an entity's type")
        if self.distance is not None and not 0 <= self.distance < math.inf:
            raise ValueError(f"an entity's distance must be a finite number >= 0, not {self.distance!r}")

    def to_text(self) -> str:
        label = self.description or self.name or self.type
        details = [detail for detail in (self.name, self.type) if detail and detail != label]
        if self.distance is not None:
            details.append(f"{_value(self.distance)} away" if self.distance else "here")
        details += [detail for detail in (self.direction, self.state) if detail]
        if self.interactable:
            details.append("can interact")
        return one_line(_with_details(label, details))


class Terrain(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """A type of terrain, and its direction."""

    type: str
    direction: str = ""
    passable: bool = True

    def __post_init__(self) -> None:
        _need(self.type, "a terrain's type")

    def to_text(self) -> str:
        details = [self.direction] if self.direction else []
        return one_line(_with_details(self.type, details if self.passable else [*details, "cannot pass"]))


class Effect(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """A buff, a debuff or a condition. `duration` is the number of steps left; None means no fixed end."""

    name: str
    description: str = ""
    duration: int | None = None

    def __post_init__(self) -> None:
        _need(self.name, "an effect's name")
        if self.duration is not None and self.duration < 0:
            raise ValueError(f"an effect's duration must be at least 0, not {self.duration}")

    def to_text(self) -> str:
        label = f"{self.name}: {self.description}" if self.description else self.name
        details = [] if self.duration is None else [f"{self.duration} step{'' if self.duration == 1 else 's'} left"]
        return one_line(_with_details(label, details))


class Event(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """Something that just happened."""

    description: str
    type: EventType = "info"

    def __post_init__(self) -> None:
        if self.type not in _EVENT_WORDS:
            raise ValueError(f"the type of an event must be one of {', '.join(get_args(EventType))}, not {self.type!r}")

    def to_text(self) -> str:
        return f"{_EVENT_WORDS[self.type]}{one_line(self.description)}"


class Goal(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """An objective. `type` is main, side, achievement, or a type that the world defines."""

    id: str
    description: str
    type: str = "main"
    progress: str | None = None
    hints: list[str] = []

    def __post_init__(self) -> None:
        _need(self.id, "a goal's id")

    def to_text(self) -> str:
        kind = "" if self.type == "main" else f"[{self.type}] "
        first = one_line(_with_details(kind + self.description, [self.progress] if self.progress else []))
        return "\n".join([first, *(f"  hint: {one_line(hint)}" for hint in self.hints)])


class Achievement(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """Something that was accomplished."""

    name: str
    description: str = ""
    rarity: str | None = None

    def __post_init__(self) -> None:
        _need(self.name, "an achievement's name")

    def to_text(self) -> str:
        label = f"{self.name}: {self.description}" if self.description else self.name
        return one_line(_with_details(label, [self.rarity] if self.rarity else []))


class LastAction(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """The outcome of a player's own action in the last round, in a world of rounds."""

    name: str
    success: bool
    message: str = ""
    reward: float = 0.0
    achievements: list[str] = []

    def __post_init__(self) -> None:
        _need(self.name, "an action's name")

    def to_text(self, beside: str = "") -> str:
        """``beside``: the text that it is added to, which may have the message already."""
        message = "" if self.message in beside else self.message
        done = f"{self.name}: {message if self.message else 'done.'}"
        return one_line(done if self.success else f"{self.name} failed: {message}").rstrip(" :")


class Observation(msgspec.Struct, Value, frozen=True, omit_defaults=True, gc=False):
    """Everything a participant needs for its next decision.

    `text` is the world's own description, such as a board or a hand of cards. It comes first in `to_text`
    and keeps its line breaks. `choices` are the legal actions, each as it would be sent, if the world lists
    them. `text_says_all`: the text says what the other fields say, so `to_text` adds only the goals and `last_action`.
    """

    status: dict[str, Any] = {}
    inventory: dict[str, int] = {}
    location: Location | None = None
    nearby_entities: list[Entity] = []
    nearby_terrain: list[Terrain] = []
    active_effects: list[Effect] = []
    current_goals: list[Goal] = []
    recent_events: list[Event] = []
    step: Annotated[int, msgspec.Meta(ge=0)] = 0
    time_of_day: str | None = None
    text: str = ""
    choices: list[dict[str, Any]] = []
    text_says_all: bool = False
    last_action: LastAction | None = None

    def to_text(self) -> str:
        """The observation as text for a model. Empty sections are left out."""
        if self.step < 0:  # not in `__post_init__`, which would double the cost of making an observation
            raise ValueError(f"the step must be at least 0, not {self.step}")
        own = self.text.strip("\n")
        text = own if self.text_says_all else self._sections(own)
        if self.current_goals:
            text += _section("CURRENT GOALS", _bullets(goal.to_text() for goal in self.current_goals))
        if self.last_action is not None:
            text += _section(LAST_ACTION, [self.last_action.to_text(text)])
        return text

    def _sections(self, own: str) -> str:
        """The world's text, and what the other fields say."""
        text = f"Step {self.step}"
        if self.time_of_day:
            text += f" ({one_line(self.time_of_day)})"
        if own:
            text = f"{text}\n\n{own}"
        if self.status:
            text += "\n\nSTATUS:\n" + _pairs(self.status)
        if self.inventory:
            text += "\n\nINVENTORY:\n" + _pairs(self.inventory)
        if self.location:
            text += _section("LOCATION", [self.location.to_text()])
        if self.nearby_entities or self.nearby_terrain:
            nearby: tuple[Entity | Terrain, ...] = (*self.nearby_entities, *self.nearby_terrain)
            text += _section("NEARBY", _bullets(thing.to_text() for thing in nearby))
        if self.active_effects:
            text += _section("ACTIVE EFFECTS", _bullets(e.to_text() for e in self.active_effects))
        if self.recent_events:
            text += _section("RECENT EVENTS", _bullets(event.to_text() for event in self.recent_events))
        return text

    def changes_since(self, earlier: Observation) -> str:
        """The changes of the text, for a reader who has the earlier one; empty if there are none.

        `text_changes.apply_changes` restores this text from it. If two texts have little in common, it is the whole
        text: changes begin with `@`, which no text of an observation does.
        """
        text = self.to_text()
        found = changes(earlier.to_text(), text)
        return text if found is None or len(found) > len(text) else found


def one_line(text: str) -> str:
    """The text on one line, because a name with a line break could look like a section."""
    if text.isprintable() and "  " not in text:  # the usual case
        return text.strip()
    return " ".join(text.split())


def plain_line(text: str, most: int | None = None) -> str:
    """A text from outside on one line, without control characters and invisible ones. ``most``: characters."""
    if most is not None:
        text = text[: 4 * most]
    return one_line("".join(c if c.isprintable() else " " for c in text))[:most]


def _need(text: str, what: str) -> None:
    if not text:
        raise ValueError(f"{what} must not be empty")


def _with_details(label: str, details: list[str]) -> str:
    return f"{label} ({', '.join(details)})" if details else label


def _section(title: str, lines: list[str]) -> str:
    return f"\n\n{title}:\n" + "\n".join(lines) if any(lines) else ""


def _bullets(items: Iterable[str]) -> list[str]:
    return [f"- {item}" for item in items]


def _pairs(values: Mapping[str, Any]) -> str:
    lines = []
    for name, value in values.items():
        shown = value if type(value) is str or type(value) is int else _value(value)
        lines.append(one_line(f"{name}: {shown}"))
    return "\n".join(lines)


_SEVERAL = (dict, list, tuple)


def _value(value: object) -> str:
    """A value as text. Floats are rounded to two digits."""
    if type(value) is str or type(value) is int:  # the usual case
        return str(value)
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case float() if math.isfinite(value):
            return str(int(value)) if value.is_integer() else str(round(value, 2))
        case Enum():
            return str(value.value)
        case list() | tuple():
            return ", ".join(_nested(item) for item in value) or "none"
        case dict() if any(type(item) in _SEVERAL for item in value.values()):
            return "; ".join(f"{key} {_nested(item)}" for key, item in value.items())
        case dict():
            return ", ".join(f"{key} {_value(item)}" for key, item in value.items()) or "none"
    return str(value)


def _nested(value: object) -> str:
    return f"({_value(value)})" if isinstance(value, dict | list | tuple) and value else _value(value)
