"""Ways to worlds elsewhere that a house knows by itself: nobody has to tell it, also after a restart."""

from cohabit.house.clock import Clock
from cohabit.house.remote import Way
from cohabit.house.settings import Settings
from cohabit.room.room import Room


def has_own_way(room: Room) -> bool:
    return room.state.source == "workspace"


def own_way(room: Room, settings: Settings, clock: Clock) -> Way:
    """Of a workspace: the shared repository, which the room's config names, or which the house keeps itself."""
    from cohabit.house.desks import Desks

    folder = settings.folder if settings.data else None
    return Desks(folder, room.id, room.state.config.get("remote"), clock)
