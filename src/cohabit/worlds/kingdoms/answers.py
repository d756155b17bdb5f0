"""The result types of the commands. Their field names are those of the WorldBox bridge."""

from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Listed(Struct, Generic[T]):
    items: list[T]
    count: int


class TileKind(Struct, omit_defaults=True):
    id: str
    color_hex: str
    edge_color_hex: str = ""
    has_biome_tags: bool = False


class TopKind(Struct, omit_defaults=True):
    id: str
    color_hex: str
    burns: bool = False
    food: int = 0


class ActorKind(Struct, omit_defaults=True):
    id: str
    race: str
    asset_type: str
    base_health: int
    base_damage: int
    base_speed: int
    water_walking: bool = False


class PowerKind(Struct, omit_defaults=True):
    id: str
    tab_id: str
    target_type: str
    description: str
    aim: str
    faith: int = 0
    supports_radius: bool = False
    is_toggle: bool = False


class PowerUsed(Struct, omit_defaults=True):
    """For one pulse ``accepted``; for more, how many were applied and how many of them had an effect.

    ``effect`` is what the power does, if it did anything. A player is told the faith, too.
    """

    power_id: str
    x: int
    y: int
    via: str
    accepted: bool | None = None
    pulses: int | None = None
    pulses_applied: int | None = None
    accepted_count: int | None = None
    effect: str | None = None
    faith_spent: int | None = None
    faith_left: int | None = None
    stopped: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    x2: int | None = None
    y2: int | None = None
    radius: int | None = None
    brush: str | None = None


class Spawned(Struct, omit_defaults=True):
    entity_id: str
    x: int
    y: int
    requested: int
    spawned: int
    failed: int
    names: list[str]
    faith_spent: int | None = None  # of a player
    faith_left: int | None = None


class Point(Struct):
    x: int
    y: int


class Painted(Struct, omit_defaults=True):
    center: Point
    radius: int
    painted: int
    skipped: int
    tile_id: str | None = None
    top_id: str | None = None


class Ordered(Struct, omit_defaults=True):
    """The result of an order to a kingdom."""

    kingdom_id: int
    order: str
    note: str


class Scheduled(Struct, omit_defaults=True):
    scheduled: bool
    note: str
    zone_x: int | None = None
    zone_y: int | None = None


class WorldState(Struct):
    """``seed``: its lower 53 bits, which every client can read; 0 for an eye that does not see everything."""

    width: int
    height: int
    seed: int
    tick: int
    paused: bool
    population_alive: int
    population_lifetime: int
    kingdoms_alive: int
    kingdoms_ever_created: int
    cities_alive: int
    cities_ever_created: int


class Tile(Struct, omit_defaults=True):
    x: int
    y: int
    tile_id: str
    height: int
    actors: list[str]
    actor_count: int
    top_id: str | None = None
    building: str | None = None
    kingdom_id: int | None = None
    city_id: int | None = None
    visible: bool = True


class KingdomLine(Struct, omit_defaults=True):
    id: int
    name: str
    race: str
    cities_count: int
    units_count: int
    wild: bool
    king_name: str | None = None
    capital_id: int | None = None
    claimed: bool = False


class CityLine(Struct, omit_defaults=True):
    id: int
    name: str
    kingdom_id: int
    kingdom_name: str
    building_count: int
    unit_count: int
    x: int
    y: int
    soldiers: int
    food: int
    loyalty: int
    leader_name: str | None = None
    besieged_by: int | None = None


class ActorLine(Struct, omit_defaults=True):
    name: str
    asset_id: str
    x: int
    y: int
    id: int
    kingdom_id: int | None = None
    city_id: int | None = None
    age: int = 0
    health: int = 0
    hunger: int = 0
    sex: str = ""
    job: str = ""


class Actors(Struct):
    items: list[ActorLine]
    matched: int
    returned: int
    offset: int
    limit: int
    total_scanned: int
    has_more: bool


class Screenshot(Struct, omit_defaults=True):
    format: str
    width: int
    height: int
    source_width: int
    source_height: int
    base64: bytes  # msgspec writes bytes as base64
    bytes: int
    quality: int | None = None


class UiState(Struct, omit_defaults=True):
    window_active: bool
    config_paused: bool
    effective_paused: bool
    world_loading: bool
    current_window: str | None = None


class Dismissed(Struct, omit_defaults=True):
    dismissed: bool
    window: str | None = None
