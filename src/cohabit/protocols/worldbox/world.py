"""WorldBox, the desktop game, as a remote world: the allowed requests to its bridge, and the visible part of answers.

Fog and claims are enforced here: the bridge has one token and shows its holder everything. A request is narrowed
before it is sent, and its answer is filtered.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from cohabit.model.observation import plain_line
from cohabit.remote import Ask, Plan, Polled, RemoteWorld, Sent
from cohabit.world import (
    Eye,
    Observation,
    Outcome,
    Range,
    ScopeViolation,
    Seat,
    SeatId,
    Standing,
    Told,
    WorldSpec,
    action,
    query,
)  # fmt: skip
from cohabit.worlds.kingdoms import arguments

SPAWN_DISTANCE = 12
"""A player spawns its people at most this many tiles from one of them."""
SHOWN_FIELDS = (
    "entity_id", "power_id", "speed_id", "x", "y", "spawned", "accepted", "accepted_count", "painted", "paused",
    "saved", "scheduled",
)  # fmt: skip
"""The fields of an action's answer that the feed shows."""
PUBLIC_ACTIONS = ("pause", "resume", "set_speed", "generate_world", "load_world")
"""Actions that are public events."""
MAX_NAME, MAX_SUMMARY = 80, 500
"""Limits of texts of the game in views and events, in characters. Answers to queries have them as they are."""
Answer = dict[str, Any]


Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A number of the game, as snapshots can hold it."""


class Kingdom(Struct, frozen=True, omit_defaults=True):
    """A kingdom as the bridge lists it. Old bridges leave some fields out."""

    id: Number
    name: str = ""
    race: str = ""
    cities_count: Number = 0
    units_count: Number = 0
    king_name: str | None = None
    capital_id: Number | None = None
    wild: bool = False


class Map(Struct, frozen=True, omit_defaults=True):
    """The size and the seed of a map; another map differs in one of them."""

    width: Number = 0
    height: Number = 0
    seed: Number = 0


class GameState(Struct, frozen=True, omit_defaults=True):
    """The game as it was when last polled."""

    kingdoms: tuple[Kingdom, ...] = ()
    map: Map = Map()
    paused: bool = False


class WorldBox(RemoteWorld):
    """WorldBox. The god game on a desktop, shared by several agents and people, each with its own permissions.

    Time passes in the game whether or not anyone acts. Gods use every power anywhere. The player of a kingdom can
    `spawn` people of its race near its own, pause and resume time, and negotiate with the other players.

    If the scenario has fog, a kingdom sees only its own cities and people. The list of kingdoms and their
    numbers are public; they are polled every few seconds.
    """

    spec = WorldSpec(
        name="worldbox", title="WorldBox", seats=0, pace="step", fog=True, quick=True, features=("worldbox",)
    )  # fmt: skip

    how_to_connect = "start it with `cohabit worldbox --bridge URL`"

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.now = GameState()
        self.about: dict[str, str] = {}
        self.reachable = False
        self.pending: Sent | None = None

    # -- polling and answers ------------------------------------------------------------------------
    def poll(self) -> Plan:
        listed = yield Ask("list_kingdoms")
        state = yield Ask("get_world_state")
        kingdoms = msgspec.convert(_items(listed), tuple[Kingdom, ...])
        loaded = msgspec.convert({k: v for k, v in state.items() if k in Map.__struct_fields__}, Map)
        if not loaded.width:  # no map is loaded, or it is still loading
            return None
        civilised = {k.id: _with_plain_names(k) for k in kingdoms if not k.wild}
        found = GameState(tuple(civilised[number] for number in sorted(civilised)), loaded, bool(state.get("paused")))
        return None if found == self.now else msgspec.to_builtins(found)

    def polled(self, state: Mapping[str, Any]) -> Polled:
        before, self.now = self.now, msgspec.convert(state, GameState)
        if before.map.width and before.map != self.now.map:
            return Polled([Told("the game has another world now")], replaced=True)
        old, new = ({k.id: k for k in found.kingdoms} for found in (before, self.now))
        told = [Told(f"a new kingdom: {k.name}") for k in new.values() if k.id not in old]
        told += [Told(f"{k.name} has fallen") for k in old.values() if k.id not in new]
        return Polled(told)

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        shown = [f"{name} {answer[name]}" for name in SHOWN_FIELDS if name in answer]
        summary = plain_line(", ".join([sent.action.replace("_", " "), *shown]), MAX_SUMMARY)
        if sent.action in ("pause", "resume"):
            self.now = msgspec.structs.replace(self.now, paused=bool(answer.get("paused")))
        public = summary if sent.action in PUBLIC_ACTIONS else ""
        return Outcome(summary, public=public, data=dict(answer))

    # -- seats and views --------------------------------------------------------------------------
    def seats_now(self) -> Sequence[Seat]:
        return [Seat(str(k.id), k.name) for k in self.now.kingdoms]

    def to_move(self) -> Sequence[SeatId]:
        return [str(k.id) for k in self.now.kingdoms]

    def is_over(self) -> bool:
        return False

    def standings(self) -> Sequence[Standing]:
        best = sorted(self.now.kingdoms, key=lambda k: (-k.units_count, k.id))
        return [
            Standing(
                str(k.id), k.name, k.units_count,
                data={"id": k.id, "name": k.name, "units": k.units_count, "cities": k.cities_count, "wild": False},
            )
            for k in best
        ]  # fmt: skip

    def observe(self, eye: Eye) -> Observation:
        now = self.now
        size = f"{now.map.width} by {now.map.height} tiles" if now.map.width else "not known yet"
        lines = [f"The map: {size}{', paused' if now.paused else ''}."]
        if not self.reachable:
            lines.append("The game does not answer at the moment; this is its last known state.")
        lines += [
            f"{k.name} (id {k.id}, {k.race}): people {k.units_count}, cities {k.cities_count}"
            + (" - yours" if str(k.id) == eye.seat else "")
            for k in now.kingdoms
        ]
        own = self._of(eye.seat)
        status: dict[str, Any] = {"paused": now.paused, "kingdoms": len(now.kingdoms), "reachable": self.reachable}
        if own is not None:
            status |= {"kingdom": own.id, "race": own.race, "people": own.units_count, "cities": own.cities_count}
        return Observation(text="\n".join(lines), status=status)

    def _of(self, seat: SeatId | None) -> Kingdom | None:
        return next((k for k in self.now.kingdoms if str(k.id) == seat), None)

    # -- queries ----------------------------------------------------------------------------------
    @query(category="discovery")
    def list_tiles(self, eye: Eye) -> Plan:
        """The kinds of ground."""
        return _ask("list_tiles")

    @query(category="discovery")
    def list_actors(self, eye: Eye) -> Plan:
        """Every kind of creature that can be spawned."""
        return _ask("list_actors")

    @query(category="discovery")
    def list_powers(self, eye: Eye) -> Plan:
        """Every power of the game."""
        return _ask("list_powers")

    @query(category="discovery")
    def list_speeds(self, eye: Eye) -> Plan:
        """The speeds that `set_speed` takes, and the current one."""
        return _ask("list_speeds")

    @query()
    def get_world_state(self, eye: Eye) -> Plan:
        """The size of the world, its tick and its counts. With fog, only what the list of kingdoms shows as well."""
        state = yield Ask("get_world_state")
        if eye.sees == "all":
            return state
        people, cities = (sum(getattr(k, n) for k in self.now.kingdoms) for n in ("units_count", "cities_count"))
        known = {k: state[k] for k in ("width", "height", "tick", "paused") if k in state}
        count = len(self.now.kingdoms)
        return {
            **known, "seed": 0, "population_alive": people, "population_lifetime": people, "kingdoms_alive": count,
            "kingdoms_ever_created": count, "cities_alive": cities, "cities_ever_created": cities,
        }  # fmt: skip

    @query()
    def get_tile(self, eye: Eye, x: arguments.X, y: arguments.Y) -> Plan:
        """One tile: ground, cover and creatures. With fog, cover and creatures only where your own people stand."""
        tile = yield Ask("get_tile", {"x": x, "y": y})
        if eye.sees == "all" or (yield from self._has_people_near(eye.seat, x, y, 0)):
            return tile
        ground = {k: tile[k] for k in ("x", "y", "tile_id", "height") if k in tile}
        return {**ground, "actors": [], "actor_count": 0, "visible": False}

    @query(needs="read_own")
    def list_kingdoms(self, eye: Eye, include_wild: arguments.IncludeWild = False) -> Plan:
        """Every living kingdom. Fog does not hide the list, only the numbers of wild ones."""
        found = yield Ask("list_kingdoms", {"include_wild": include_wild})
        if eye.sees == "all":
            return found
        items = [{**k, "units_count": 0} if k.get("wild") else k for k in _items(found)]
        return {"items": items, "count": len(items)}

    @query(needs="read_own")
    def list_cities(self, eye: Eye, kingdom_id: arguments.KingdomId | None = None) -> Plan:
        """The cities that you can see: with fog, your own."""
        if eye.sees == "all":
            return (yield Ask("list_cities", {} if kingdom_id is None else {"kingdom_id": kingdom_id}))
        own = self._of(eye.seat)
        if own is None or kingdom_id not in (None, own.id):
            return {"items": [], "count": 0}
        found = yield Ask("list_cities", {"kingdom_id": own.id})
        items = _of_kingdom(found, own.id)
        return {"items": items, "count": len(items)}

    @query(needs="read_own")
    def query_actors(
        self,
        eye: Eye,
        race: arguments.Race = None,
        kingdom_id: arguments.KingdomId | None = None,
        in_rect: arguments.Rect | None = None,
        alive: Annotated[bool, Range(doc="false: also the dead, if the game keeps them")] = True,
        limit: arguments.Limit = 500,
        offset: arguments.Offset = 0,
    ) -> Plan:
        """The creatures that you can see, page by page: with fog, your own people."""
        page = min(max(limit, 1), arguments.MAX_ACTORS)
        asked: Answer = {"alive": alive, "limit": page, "offset": offset}
        if race is not None:
            asked["race"] = race
        if in_rect is not None:
            asked["in_rect"] = msgspec.to_builtins(in_rect)
        if eye.sees == "all":
            return (yield Ask("query_actors", asked | ({} if kingdom_id is None else {"kingdom_id": kingdom_id})))
        own = self._of(eye.seat)
        if own is None or kingdom_id not in (None, own.id):
            return _page([], 0, page, offset, own.units_count if own is not None else 0)
        found = yield Ask("query_actors", {**asked, "kingdom_id": own.id})
        items = _of_kingdom(found, own.id)
        # A bridge that sends other kingdoms' creatures ignored the filter, so its count reveals too much.
        matched = found.get("matched") if len(items) == len(_items(found)) else None
        return _page(items, matched if isinstance(matched, int) else offset + len(items), page, offset, own.units_count)

    @query(needs=("read_own", "read_all"), sees_all=True)
    def screenshot(
        self,
        eye: Eye,
        max_dimension: arguments.MaxDimension = 1280,
        format: arguments.PictureFormat = "jpg",  # noqa: A002 - the wire's name
        quality: arguments.Quality = 80,
    ) -> Plan:
        """A picture of the game's screen, where fog hides nothing from you."""
        return _ask("screenshot", max_dimension=max_dimension, format=format, quality=quality)

    @query()
    def get_ui_state(self, eye: Eye) -> Plan:
        """Whether a window is open (which pauses the game), and whether a world is loading."""
        return _ask("get_ui_state")

    @query(category="control", needs="advance_time")
    def dismiss_window(self, eye: Eye) -> Plan:
        """Close the open window, so the game resumes."""
        return _ask("dismiss_window")

    # -- actions ----------------------------------------------------------------------------------
    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        own = self._of(by.id)
        if action != "spawn" or own is None or args["entity_id"] == own.race:
            return None
        return f"{own.name} can only spawn its own people ({own.race}); other creatures are for gods"

    @action(needs="act_global", gives=dict, group="powers")
    def invoke_power(
        self,
        by: Seat | None,
        power_id: arguments.PowerId,
        x: arguments.X,
        y: arguments.Y,
        radius: arguments.BrushRadius | None = None,
        pulses: arguments.Pulses = 1,
        x2: arguments.DragEnd | None = None,
        y2: arguments.DragEnd | None = None,
    ) -> None:
        """Use a power at a place."""

    @action(gives=dict, group="powers")
    def spawn(
        self,
        by: Seat | None,
        entity_id: arguments.EntityId,
        x: arguments.X,
        y: arguments.Y,
        count: arguments.Count = 1,
        adult: arguments.Adult = False,
        spawn_height: Annotated[float, Range(doc="from how high they fall")] = 6.0,
    ) -> Plan:
        """Spawn creatures; the player of a kingdom spawns its own people, near some of them."""
        if by is not None and not (yield from self._has_people_near(by.id, x, y, SPAWN_DISTANCE)):
            raise ScopeViolation(
                f"none of your people are within {SPAWN_DISTANCE} tiles of {x},{y}; worldbox_query_actors shows where "
                "they are"
            )

    @action(needs="act_global", gives=dict, group="powers")
    def paint_tile(
        self,
        by: Seat | None,
        x: arguments.X,
        y: arguments.Y,
        tile_id: arguments.TileId = None,
        top_id: arguments.TopId = None,
        radius: arguments.DiscRadius = 0,
    ) -> None:
        """Change tiles. Cells off the map are skipped."""

    @action(category="control", needs="advance_time", gives=dict, group="time")
    def pause(self, by: Seat | None) -> None:
        """Pause the game until a member calls resume."""

    @action(category="control", needs="advance_time", gives=dict, group="time")
    def resume(self, by: Seat | None) -> None:
        """Resume the game."""

    @action(category="control", needs="advance_time", gives=dict, group="time")
    def set_speed(
        self, by: Seat | None, speed_id: Annotated[str, Range(doc="one of the ids of `list_speeds`, such as x5")]
    ) -> None:
        """Set how fast the game's time runs."""

    @action(category="control", needs="control_world", gives=dict, group="world")
    def generate_world(
        self, by: Seat | None, zone_x: arguments.Zones | None = None, zone_y: arguments.Zones | None = None
    ) -> None:
        """Generate a new world in place of this one; give both sizes, or neither."""

    @action(category="control", needs="control_world", gives=dict, group="world")
    def save_world(
        self,
        by: Seat | None,
        folder: Annotated[str, Range(doc="the name of the save, such as save3")],
        compress: Annotated[bool, Range(doc="make it smaller")] = True,
    ) -> None:
        """Save the world, on the machine where the game runs."""

    @action(category="control", needs="control_world", gives=dict, group="world")
    def load_world(
        self,
        by: Seat | None,
        path: Annotated[str | None, Range(doc="the name of a save on the machine where the game runs")] = None,
        bytes_b64: Annotated[str | None, Range(doc="or a whole save, in base64; it wins over path")] = None,
    ) -> None:
        """Replace the world with a save."""

    def _has_people_near(self, seat: SeatId | None, x: int, y: int, distance: int) -> Plan:
        """Ask whether any people of this kingdom are within this many tiles."""
        own = self._of(seat)
        if own is None:
            return False
        side = 2 * distance + 1
        rect = {"x": x - distance, "y": y - distance, "w": side, "h": side}
        found = yield Ask("query_actors", {"kingdom_id": own.id, "in_rect": rect, "limit": 1})
        return bool(_of_kingdom(found, own.id))


def _ask(name: str, **args: Any) -> Plan:
    """One request whose answer is returned unchanged."""
    return (yield Ask(name, args))


def _with_plain_names(kingdom: Kingdom) -> Kingdom:
    """With names that cannot pass for a line of a view."""
    names = {"name": kingdom.name, "race": kingdom.race, "king_name": kingdom.king_name}
    return msgspec.structs.replace(kingdom, **{key: name and plain_line(name, MAX_NAME) for key, name in names.items()})


def _items(answer: Answer) -> list[Answer]:
    items = answer.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _of_kingdom(answer: Answer, kingdom: int) -> list[Answer]:
    return [item for item in _items(answer) if item.get("kingdom_id") == kingdom]


def _page(items: list[Answer], matched: int, limit: int, offset: int, people: int) -> Answer:
    """A page of creatures whose counts reveal nothing about hidden ones."""
    return {
        "items": items, "matched": matched, "returned": len(items), "offset": offset, "limit": limit,
        "total_scanned": max(matched, people), "has_more": offset + len(items) < matched,
    }  # fmt: skip
