"""Kingdoms as a world: its seats, its clock, what can be asked of it and what can be done to it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from cohabit.model.action import Action
from cohabit.model.observation import Goal
from cohabit.model.suggest import nearest
from cohabit.world import (
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    Told,
    UnknownAsset,
    WorldSpec,
    action,
    query,
)  # fmt: skip
from cohabit.worldbox.arguments import (
    MAX_ACTORS,
    Adult,
    BrushRadius,
    Count,
    DiscRadius,
    DragEnd,
    EntityId,
    IncludeWild,
    KingdomId,
    Limit,
    MaxDimension,
    Offset,
    PictureFormat,
    PowerId,
    Pulses,
    Quality,
    Race,
    Rect,
    TileId,
    TopId,
    X,
    Y,
    Zones,
)  # fmt: skip
from cohabit.worlds.kingdoms import casting, read, rules, save
from cohabit.worlds.kingdoms.answers import (
    ActorKind,
    Actors,
    CityLine,
    Dismissed,
    KingdomLine,
    Listed,
    Ordered,
    Painted,
    PowerKind,
    PowerUsed,
    Scheduled,
    Screenshot,
    Spawned,
    Tile,
    TileKind,
    TopKind,
    UiState,
    WorldState,
)
from cohabit.worlds.kingdoms.beginning import begin
from cohabit.worlds.kingdoms.court import Court, GiveOrder
from cohabit.worlds.kingdoms.drawing import picture
from cohabit.worlds.kingdoms.drawing.screenshot import screenshot
from cohabit.worlds.kingdoms.landscape.terrain import generate
from cohabit.worlds.kingdoms.observe import observation
from cohabit.worlds.kingdoms.powers import orders
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.realms import Kingdom, News
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES
from cohabit.worlds.kingdoms.tiles import GROUND, TOPS

PICTURE_SIZE = 1024


class Pending(Struct):
    """A world on its way: it takes the place of this one at the next tick."""

    zone_x: int = 0
    zone_y: int = 0
    data: bytes = b""  # a save; empty: a new world of that many zones


class Kept(Struct):
    """What this world remembers beside the simulation."""

    seed: int
    claimed: int
    paused: bool
    speed: str
    made: int
    pending: Pending | None


class Kingdoms(Court):
    """Kingdoms. A living land of people, beasts and gods; whoever rules a kingdom wants to be the last.

    Time runs by itself. People farm, build, settle, quarrel and die without anybody's help; you steer a
    kingdom by orders. `muster` says how many take up arms, `declare_war` and `offer_peace` are yours alone
    to say, `raid` sends the army against a kingdom or a city, `rally` gathers it at a place, `fortify` keeps
    it at home, `settle` sends the next settlers, `stand_down` leaves all of it to the crown again.

    On your own land you can also `spawn` people of your race and `invoke_power` such powers as `list_powers`
    gives to kingdoms, for faith: it grows by itself, faster with temples. Gods pay nothing and aim anywhere.

    A city falls when its defenders are beaten and the siege is complete; it then serves whoever took it. A
    kingdom ends with its last city. A match is over when only one of the claimed kingdoms is alive.

    Where the scenario hides things, a kingdom sees its own land and what lies around its people. The list of
    kingdoms and everybody's numbers are public.
    """

    spec = WorldSpec(
        name="kingdoms", title="Kingdoms", seats=(0, 16), pace="clock", fog=True, tick_ms=100, extension="worldbox"
    )  # fmt: skip

    def __init__(
        self,
        zones_x: Zones = 4,
        zones_y: Zones = 4,
        kingdoms: Annotated[int, Range(0, 16, "how many there are at first; 0: as many as play, or 4")] = 0,
    ) -> None:
        self.zones_x = zones_x
        self.zones_y = zones_y
        self.kingdoms = kingdoms

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.kept = Kept(seed, len(seats), paused=False, speed="x1", made=0, pending=None)
        self._make(seed, self.zones_x, self.zones_y)

    def _make(self, seed: int, zones_x: int, zones_y: int) -> None:
        claimed = self.kept.claimed
        self.sim = Sim(seed, generate(seed, zones_x, zones_y))
        begin(self.sim, max(claimed, self.kingdoms or (4 if claimed < 2 else 0)), claimed)
        self._changed()

    def _changed(self) -> None:
        """What was seen before is no longer what there is."""
        self._views: dict[Eye, View] = {}
        self._pictures: dict[Eye, bytes] = {}

    # -- seats and time ---------------------------------------------------------------------------
    def seats_now(self) -> Sequence[Seat]:
        return [Seat(str(k.id), k.name) for k in self.sim.alive]

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.is_over() else [str(k.id) for k in self.sim.alive]

    def is_over(self) -> bool:
        return self.kept.claimed > 1 and sum(k.claimed for k in self.sim.alive) <= 1

    def clock(self, paused: bool, speed: str) -> None:
        self.kept.paused, self.kept.speed = paused, speed

    def advance(self, ticks: int) -> Sequence[Told]:
        told: list[Told] = []
        for _ in range(ticks):
            if self._arrive():
                told.append(Told("a new world begins"))
            if self.is_over():
                break
            rules.step(self.sim)
            if self.is_over():
                last = [k.name for k in self.sim.alive if k.claimed]
                self.sim.tell(f"the match is over: {last[0] if last else 'nobody'} is left", kind="success")
        self._changed()
        return [*told, *map(_told, self.sim.collect())]

    def _arrive(self) -> bool:
        """Let the world that was announced take the place of this one."""
        pending, self.kept.pending = self.kept.pending, None
        if pending is None:
            return False
        if pending.data:
            self.sim = save.load(pending.data)
        else:
            self.kept.made += 1
            seed = Stream(self.kept.seed, f"world {self.kept.made}").bits64() >> 1
            self._make(seed, pending.zone_x, pending.zone_y)
        self._changed()
        return True

    def _announce(self, pending: Pending) -> None:
        self._ready()
        self.kept.pending = pending
        if self.kept.paused:  # no tick is to come
            self._arrive()

    def _ready(self) -> None:
        if self.kept.pending is not None:
            raise GameRejected("a world is loading; wait for the next tick")

    # -- seeing -----------------------------------------------------------------------------------
    def view(self, eye: Eye) -> View:
        """What an eye may see; kept until something changes."""
        found = self._views.get(eye)
        if found is None:
            kingdom = int(eye.seat) if eye.seat is not None and eye.seat.isdecimal() else None
            found = self._views[eye] = View(self.sim, kingdom, eye.sees == "all")
        return found

    def observe(self, eye: Eye) -> Observation:
        return observation(self.view(eye), self.kept.paused, self.is_over())

    def standings(self) -> Sequence[Standing]:
        best = sorted(self.sim.alive, key=lambda k: (-k.people, k.id))
        return [
            Standing(
                str(k.id), k.name, k.people,
                data={"id": k.id, "name": k.name, "units": k.people, "cities": k.cities, "wild": False},
            )
            for k in best
        ]  # fmt: skip

    def goals(self, seat: Seat) -> Sequence[Goal]:
        if self.kept.claimed < 2:
            return []
        rivals = [k.name for k in self.sim.alive if k.claimed and str(k.id) != seat.id]
        return [Goal("last", "Be the last of the claimed kingdoms", progress=f"still there: {', '.join(rivals)}")]

    def legal(self, seat: Seat) -> Sequence[Action]:
        return orders.open_to(self.sim, self._realm(seat))

    def picture(self, eye: Eye) -> bytes:
        if eye not in self._pictures:
            image = picture.draw(self.sim, self.view(eye).seen, PICTURE_SIZE)
            self._pictures[eye] = picture.encode(image, "png")
        return self._pictures[eye]

    # -- asking -----------------------------------------------------------------------------------
    @query(category="discovery")
    def list_tiles(self, eye: Eye) -> Listed[TileKind]:
        """The kinds of ground."""
        items = [TileKind(g.id, g.colour, g.edge, g.biome) for g in GROUND]
        return Listed(items, len(items))

    @query(category="discovery")
    def list_top_tiles(self, eye: Eye) -> Listed[TopKind]:
        """What can lie on the ground: grass, forest, road, fire …"""
        items = [TopKind(t.id, t.colour, t.burns, t.food) for t in TOPS[1:]]
        return Listed(items, len(items))

    @query(category="discovery")
    def list_actors(self, eye: Eye) -> Listed[ActorKind]:
        """Every kind of creature that can be spawned."""
        items = [ActorKind(s.id, s.id, s.temper, s.health, s.damage, 60 // s.pace, s.home != "land") for s in SPECIES]
        return Listed(items, len(items))

    @query(category="discovery")
    def list_powers(
        self, eye: Eye, for_kings: Annotated[bool, Range(doc="only those that a kingdom's player may use")] = False
    ) -> Listed[PowerKind]:
        """Every power: what it does, where a kingdom's player may aim it (own, any, god), and what faith it costs."""
        items = [
            PowerKind(
                p.id, p.family, "world" if p.toggle else "tile", p.words, p.aim, p.faith, p.brush, p.toggle
            )
            for p in POWERS.values()
            if p.aim != "god" or not for_kings
        ]  # fmt: skip
        return Listed(items, len(items))

    @query()
    def get_world_state(self, eye: Eye) -> WorldState:
        """The world's size, its tick, and how many live in it."""
        return read.world_state(self.view(eye), self.kept.paused)

    @query()
    def get_tile(self, eye: Eye, x: X, y: Y) -> Tile:
        """One tile: its ground, what covers it and who stands there. Unseen, it is as on the chart."""
        self._on_map(x, y)
        return read.tile(self.view(eye), x, y)

    @query(needs="read_own")
    def list_kingdoms(self, eye: Eye, include_wild: IncludeWild = False) -> Listed[KingdomLine]:
        """Every kingdom that is alive. Never hidden."""
        return read.kingdoms(self.view(eye), include_wild)

    @query(needs="read_own")
    def list_cities(self, eye: Eye, kingdom_id: KingdomId | None = None) -> Listed[CityLine]:
        """The cities you may know of: with fog, your own."""
        return read.cities(self.view(eye), kingdom_id)

    @query(needs="read_own")
    def query_actors(
        self,
        eye: Eye,
        race: Race = None,
        kingdom_id: KingdomId | None = None,
        in_rect: Rect | None = None,
        alive: Annotated[bool, Range(doc="the dead are not kept, so false finds nobody")] = True,
        limit: Limit = 500,
        offset: Offset = 0,
    ) -> Actors:
        """Creatures you may know of, page by page: with fog, your own people."""
        page = min(max(limit, 1), MAX_ACTORS)
        view = self.view(eye) if alive else View(self.sim, None, False)
        return read.actors(view, race, kingdom_id, in_rect, page, offset)

    @query(needs="read_all")
    def screenshot(
        self,
        eye: Eye,
        max_dimension: MaxDimension = 1280,
        format: PictureFormat = "jpg",  # noqa: A002 - the wire's name
        quality: Quality = 80,
    ) -> Screenshot:
        """A picture of the whole map. `picture` is one through your own eyes."""
        return screenshot(self.view(eye), max_dimension, format, quality)

    @query()
    def get_ui_state(self, eye: Eye) -> UiState:
        """Whether time stands still, and whether a world is loading."""
        paused = self.kept.paused
        return UiState(False, paused, paused, self.kept.pending is not None)

    @query(category="control", needs="advance_time")
    def dismiss_window(self, eye: Eye) -> Dismissed:
        """Close the window that is open. There never is one here."""
        return Dismissed(False)

    # -- acting -----------------------------------------------------------------------------------
    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        return casting.beyond(self.sim, self._realm(by), action, args)

    @action(gives=PowerUsed, group="powers")
    def invoke_power(
        self,
        by: Seat | None,
        power_id: PowerId,
        x: X,
        y: Y,
        radius: BrushRadius | None = None,
        pulses: Pulses = 1,
        x2: DragEnd | None = None,
        y2: DragEnd | None = None,
    ) -> Outcome:
        """Use a power at a place."""
        self._ready()
        power = _known(power_id, POWERS, "power")
        use = casting.Use(power, x, y, radius, pulses, x2, y2)
        return self._done(by, casting.invoke(self.sim, self._kingdom(by), use))

    @action(gives=Spawned, group="powers")
    def spawn(
        self,
        by: Seat | None,
        entity_id: EntityId,
        x: X,
        y: Y,
        count: Count = 1,
        adult: Adult = False,
        spawn_height: Annotated[float, Range(doc="kept for clients that send it")] = 6.0,
    ) -> Outcome:
        """Let creatures appear."""
        self._ready()
        kind = _known(entity_id, {s.id: row for row, s in enumerate(SPECIES)}, "creature")
        self._on_map(x, y)
        return self._done(by, casting.spawn(self.sim, self._kingdom(by), kind, x, y, count, adult))

    @action(gives=Painted, needs="act_global", group="powers")
    def paint_tile(
        self,
        by: Seat | None,
        x: X,
        y: Y,
        tile_id: TileId = None,
        top_id: TopId = None,
        radius: DiscRadius = 0,
    ) -> Outcome:
        """Make tiles into others. Cells off the map are skipped."""
        self._ready()
        return self._done(by, casting.paint(self.sim, x, y, tile_id, top_id, max(0, radius)))

    @action(category="control", needs="control_world", gives=Scheduled, group="world")
    def generate_world(self, by: Seat | None, zone_x: Zones | None = None, zone_y: Zones | None = None) -> Outcome:
        """Begin a new world in place of this one; give both sizes, or neither."""
        both = zone_x is not None and zone_y is not None
        width, height = (zone_x, zone_y) if both else (self.zones_x, self.zones_y)
        self._announce(Pending(width or self.zones_x, height or self.zones_y))
        note = "it is there from the next tick on"
        data = Scheduled(True, note, zone_x if both else None, zone_y if both else None)
        return Outcome(f"A new world: {note}.", public="a new world is on its way", data=data)

    # -- helping ----------------------------------------------------------------------------------
    def _order(self, by: Seat, name: str, give: GiveOrder) -> Outcome:
        self._ready()
        mine = self._realm(by)
        words = give(mine)
        return self._done(by, (Ordered(mine.id, name, words), words))

    def _done(self, by: Seat | None, answer: tuple[Any, str]) -> Outcome:
        """What an action did: for the actor in words and values; for others the news it made."""
        rules.bury(self.sim)
        self._changed()
        data, words = answer
        own = [Told(words, seats=(by.id,))] if by is not None else []
        return Outcome(words, told=(*own, *map(_told, self.sim.collect())), data=data)

    def _kingdom(self, by: Seat | None) -> Kingdom | None:
        """The kingdom that an action is for; None for a god who holds no seat."""
        return self._realm(by) if by is not None else None

    def _realm(self, seat: Seat) -> Kingdom:
        return self.sim.kingdoms[int(seat.id)]

    def _on_map(self, x: int, y: int) -> None:
        casting.on_map(self.sim, x, y)

    # -- keeping ----------------------------------------------------------------------------------
    def snapshot(self) -> bytes:
        head = msgspec.msgpack.encode(self.kept)
        return len(head).to_bytes(4, "little") + head + save.dump(self.sim)

    def restore(self, data: bytes) -> None:
        end = 4 + int.from_bytes(data[:4], "little")
        kept = msgspec.msgpack.decode(data[4:end], type=Kept)
        self.sim = save.load(data[end:])
        self.kept = kept
        self._changed()

    def save(self) -> bytes:
        self._ready()
        return save.dump(self.sim)

    def load(self, data: bytes) -> None:
        self._ready()
        save.load(data)  # refused here, before anything is announced
        self._announce(Pending(data=data))


def _told(news: News) -> Told:
    seats = None if news.kingdoms is None else tuple(str(k) for k in news.kingdoms)
    return Told(news.text, seats=seats)


def _known(name: str, table: Mapping[str, Any], what: str) -> Any:
    if name not in table:
        raise UnknownAsset(f"there is no {what} {name[:60]!r}", did_you_mean=nearest(name[:60], list(table)))
    return table[name]
