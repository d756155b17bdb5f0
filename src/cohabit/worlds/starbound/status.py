"""The state and the view of a body, as data for programs and as an observation."""

import re
from collections.abc import Sequence
from typing import Any, Final

from cohabit.model.observation import Effect, Entity, Event, EventType, Location, Observation, Terrain
from cohabit.worlds.shifted_view import offset
from cohabit.worlds.starbound import text
from cohabit.worlds.starbound.body import MAX_BREATH, Body
from cohabit.worlds.starbound.crafting import craftable
from cohabit.worlds.starbound.environment import hazard_now
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.planets import PLANET, SHIP, time_of_day
from cohabit.worlds.starbound.quests import open_quests, progress
from cohabit.worlds.starbound.senses import Seen, heard, sight, view_of
from cohabit.worlds.starbound.tiles import OPEN, TILES

FAILED: Final = re.compile(r"\w+ failed: ")  # what `acting.act` tells a body


def status_of(game: Game, body: Body, has_chosen: bool = False) -> dict[str, Any]:
    """The state and the view of a body, as data.

    ``map`` has the rows of the view from top to bottom, with a letter for each tile (``tiles.NAME_OF_LETTER``) and a
    space where nothing is seen; the body is in the middle. ``things`` are [name, x, y, state, health] with offsets
    from the body, x to the right and y down. ``hears``: what is near and not seen.
    """
    land = game.land_of(body)
    view = view_of(game, body)
    planet = PLANET[body.orbit if body.place == SHIP else body.place]
    status: dict[str, Any] = {
        "name": body.name,
        "alive": body.alive,
        "health": body.health,
        "max_health": body.max_health,
        "energy": body.energy,
        "food": body.food,
        "breath": body.breath,
        "place": body.place,
        "biome": planet.biome,
        "time": time_of_day(planet, game.step_number),
        "position": [body.x, body.y],
        "facing": "right" if body.facing > 0 else "left",
        "crouching": body.crouching,
        "falling": not land.is_supported(body.x, body.y),
        "depth": 0 if land.kind is None else max(0, body.y - land.surface[body.x]),
        "hazard": hazard_now(game, land, body),
        "poison": body.poison,
        "map": view.rows,
        "things": [[thing.name, thing.x, thing.y, thing.state, thing.health] for thing in view.things],
        "hears": heard(game, body, view),
        "equipment": dict(body.equipment),
        "can_craft": [recipe.item for recipe in craftable(game, body)],
        "quests": {quest.id: f"{progress(body, quest)}/{quest.times}" for quest in open_quests(body)},
        "quests_done": len(body.quests),
        "achievements": list(body.achievements),
        "events": [words for _, words in events_of(body, has_chosen)],
    }
    if body.place == SHIP:
        status |= {"orbit": body.orbit, "fuel": body.fuel, "locker": dict(body.locker)}
    if body.fate is not None:
        status["death"] = body.fate.cause
    return status


def events_of(body: Body, has_chosen: bool) -> list[tuple[EventType, str]]:
    """The events of a body's last step. Once its next action is chosen, the failure of the last one is left out: it
    would be taken for that of the next."""
    return [event for event in body.events if not (has_chosen and FAILED.match(event[1]))]


def observation_of(game: Game, body: Body, with_text: bool = True, *, has_chosen: bool = False) -> Observation:
    """The observation of a player. ``has_chosen``: it has chosen its action of the next step."""
    status = status_of(game, body, has_chosen)
    land = game.land_of(body)
    return Observation(
        status=status,
        inventory=dict(body.items),
        location=Location((body.x, body.y), body.place),
        nearby_entities=[_entity(Seen(*thing)) for thing in status["things"]],
        nearby_terrain=[
            Terrain(TILES[tile].name, way, OPEN[tile])
            for way, tile in (
                ("left", land.at(body.x - 1, body.y)),
                ("right", land.at(body.x + 1, body.y)),
                ("above", land.at(body.x, body.y - 1)),
                ("below", land.at(body.x, body.y + 1)),
            )
        ],
        active_effects=_effects(body, status),
        recent_events=[Event(words, kind) for kind, words in events_of(body, has_chosen)],
        step=game.step_number,
        time_of_day=status["time"],
        text=text.whole_text(game.step_number, status, dict(body.items)) if with_text else "",
        text_says_all=True,
    )


def _entity(thing: Seen) -> Entity:
    away = abs(thing.x) + abs(thing.y)
    kind, _, name = thing.name.partition(" ")
    return Entity(
        kind, name or None, away, offset(thing.x, thing.y), thing.state or None, interactable=away <= 2,
        description=f"{thing.name} {thing.health}".strip(),
    )  # fmt: skip


def _effects(body: Body, status: dict[str, Any]) -> list[Effect]:
    effects = [Effect("poisoned", duration=body.poison)] if body.poison else []
    if status["hazard"]:
        effects.append(Effect(status["hazard"], "hurts until you find cover or protection"))
    if body.food == 0:
        effects.append(Effect("starving"))
    if body.breath < MAX_BREATH:
        effects.append(Effect("out of breath", duration=body.breath))
    return effects


def crowd_observation(game: Game, bodies: Sequence[Body], everything: bool) -> Observation:
    """The observation of somebody without a seat: the players and their progress, with more if ``everything``."""
    rows = []
    for body in bodies:
        row: dict[str, Any] = {
            "name": body.name,
            "alive": body.alive,
            "achievements": len(body.achievements),
            "quests": len(body.quests),
        }
        if everything:
            row |= {
                "place": body.place, "position": [body.x, body.y], "asleep": body.presence == "dormant",
                "health": body.health, "food": body.food, "energy": body.energy, "fuel": body.fuel,
                "inventory": dict(body.items), "equipment": dict(body.equipment),
            }  # fmt: skip
        rows.append(row)
    status: dict[str, Any] = {"step": game.step_number, "players": rows}
    if everything:
        status["creatures"] = {
            name: [[c.kind, c.x, c.y, c.health] for c in land.creatures] for name, land in game.lands.items()
        }
    return Observation(
        status=status, step=game.step_number, text=text.crowd_text(game.step_number, status), text_says_all=True
    )


def vision_range(body: Body) -> float:
    return float(sight(body)[0])
