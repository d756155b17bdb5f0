"""The games that agents can travel to: the rooms of this house that are open to the Nexus."""

from typing import TYPE_CHECKING

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import Busy, UnknownAsset
from cohabit.features.visits.state import VISITS
from cohabit.house.calls.across import moving_rooms
from cohabit.model.suggest import nearest
from cohabit.model.travel import Travel
from cohabit.nexus.values import GameInfo, Status
from cohabit.registry import find_world, known_worlds
from cohabit.room.room import Room
from cohabit.world import World

if TYPE_CHECKING:
    from cohabit.house.calls.context import Services
    from cohabit.house.running.runner import RoomRunner

NO_TRAVEL = Travel()


def games_of(house: "Services") -> list[GameInfo]:
    """The registered games, sorted by id."""
    return [
        game_of(runner) for _, runner in sorted(house.rooms.items()) if VISITS.read(runner.room.state).nexus is not None
    ]


def game_of(runner: "RoomRunner") -> GameInfo:
    """The facts about a room that agents in the Nexus know."""
    room = runner.room
    state, world, travel = room.state, room.world, travel_of(room.world)
    entry = VISITS.read(state).nexus
    return GameInfo(
        id=room.id,
        name=world.spec.title or world.spec.name,
        description=entry.description if entry is not None else "",
        status=_status(runner),
        genre=travel.genre,
        dimensions=travel.dimensions,
        multiplayer=world.spec.seat_range[1] > 1,
        persistent_world=isinstance(world, EmbodiedWorld),
        skill_domains=travel.domains,
        active_agents=len(VISITS.read(state).visits),
        max_agents=entry.capacity if entry is not None else None,
        world=state.world,
    )


def _status(runner: "RoomRunner") -> Status:
    room: Room = runner.room
    entry = VISITS.read(room.state).nexus
    if runner.failure is not None or room.state.archived or entry is None:
        return "offline"
    if entry.maintenance or room.state.entry_policy.locked:
        return "maintenance"
    if len(VISITS.read(room.state).visits) >= entry.capacity:
        return "busy"
    return "available"


def find_game(house: "Services", game_id: str) -> "RoomRunner":
    """The room of a game."""
    runner = house.rooms.get(game_id)
    if runner is None and moving_rooms(house):  # whatever its name: private rooms stay unknown
        raise Busy("rooms of this house are being opened, perhaps this game too; try again soon", retry_after_s=1)
    if runner is None or VISITS.read(runner.room.state).nexus is None:
        known = [game.id for game in games_of(house)]
        raise UnknownAsset(
            f"unknown game {game_id[:40]!r}; the games are: {', '.join(known[:20]) or 'none yet'}",
            did_you_mean=nearest(game_id[:40], known, 3),
        )
    return runner


def travel_of(world: World) -> Travel:
    """The travel rules that a world declares; empty ones if it has no bodies."""
    return world.travel if isinstance(world, EmbodiedWorld) else NO_TRAVEL


def travel_named(world: str) -> Travel:
    """The travel rules that the world with this name declares."""
    if world not in known_worlds():
        return NO_TRAVEL
    found = find_world(world)
    return found.travel if issubclass(found, EmbodiedWorld) else NO_TRAVEL
