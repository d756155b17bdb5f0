"""A player's view of the game as an observation for agents."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cohabit.model.observation import Effect, Entity, Event, Goal, Location, Observation, Terrain
from cohabit.starbound.wire import PlayerView

AROUND = {"above": "above you", "below": "below you"}


def observation_of(view: PlayerView, events: Sequence[Mapping[str, Any]] = (), step: int = 0) -> Observation:
    """What a model is shown. ``events``: what just happened, the newest last."""
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
