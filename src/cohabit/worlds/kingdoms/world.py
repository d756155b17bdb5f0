"""Kingdoms as a world of a room: seats, clock, queries and actions."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import msgspec
from msgspec import Struct, field

from cohabit.errors import GameRejected, UnknownAsset
from cohabit.model.action import Action
from cohabit.model.observation import Goal, Observation
from cohabit.model.suggest import nearest
from cohabit.world import Eye, Outcome, Range, Seat, SeatId, Standing, Stream, Told, WorldSpec, action, query
from cohabit.worlds.kingdoms import answers, arguments, imagined, maps, queries, save, scene
from cohabit.worlds.kingdoms.beginning import begin
from cohabit.worlds.kingdoms.drawing import picture
from cohabit.worlds.kingdoms.drawing.map import colour_of
from cohabit.worlds.kingdoms.history import History
from cohabit.worlds.kingdoms.observe import Mark, heard, mark, observation, powers_text, result
from cohabit.worlds.kingdoms.order_actions import GiveOrder, OrderActions
from cohabit.worlds.kingdoms.powers import casting, orders, spawns, terraform
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.rules import tick
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import YEAR, Kingdom, News, Sim
from cohabit.worlds.kingdoms.species import SPECIES_ROW
from cohabit.worlds.kingdoms.terrain import generate
from cohabit.worlds.seen_map import ExploredMap, SavedMap, SeenMap, no_map

PICTURE_SIZE = 1024
DIGEST_TICKS = 10
"""After a step of at least this many ticks a view says what has changed. Real time advances in smaller steps."""
REWARD_TICKS = 10 * YEAR
"""The number of ticks between two counts of rewards in real time. A step of several ticks counts them at its end."""


class Pending(Struct):
    """A world that replaces this one at the next tick."""

    zone_x: int = 0
    zone_y: int = 0
    data: bytes = b""  # a save; empty: a new world of this size


class MatchState(Struct):
    """The state of the match besides the simulation."""

    seed: str  # hexadecimal: 128 bits do not fit an integer of the snapshot
    claimed: int  # how many kingdoms are seats of the match
    paused: bool
    speed: str
    generated: int  # how many worlds were generated after the first
    pending: Pending | None
    marks: dict[int, Mark] = {}  # each kingdom before the last step of several ticks
    people: dict[int, int] = {}  # of each kingdom, when its reward was last counted
    rewards: dict[int, int] = {}  # of each kingdom: the people that it has won and lost
    seen: dict[int, SavedMap] = {}  # of each kingdom: its map, in a snapshot
    history: History = field(default_factory=History)  # for charts


class Kingdoms(OrderActions):
    """Kingdoms. Rule a kingdom in a simulated world of people, animals and gods, and be the last one left.

    People farm, build, settle, quarrel and die on their own; you steer your kingdom with orders. `muster` sets
    how many people are soldiers, `declare_war` and `offer_peace` decide on war and peace, `raid` sends the army
    against a kingdom or a city, `rally` gathers it at a place, `fortify` keeps it at home, `settle` sends the
    next settlers to a place, and `stand_down` leaves everything to the crown again.

    On your own land you can also `spawn` people of your race and use the powers that `list_powers` offers to
    kingdoms. Both cost faith, which grows by itself, faster with temples. Gods pay nothing and aim anywhere.

    A city falls when its defenders are beaten and the siege is complete; it then belongs to the besieger. A
    kingdom without cities soon ends. A match is over when only one of the claimed kingdoms is alive.

    In scenarios with fog of war a kingdom sees its own land and the surroundings of its people. The list of
    kingdoms and their sizes are public. `map` shows what it has seen so far.
    """

    spec = WorldSpec(
        name="kingdoms", version=4, title="Kingdoms", seats=(0, 16), pace="clock", fog=True, tick_ms=100, examples=True,
        tell_rewards=False, features=("worldbox",), front_end="front_end/map.html",
    )  # fmt: skip
    keys = MappingProxyType(
        {
            "f": Action("fortify", {"on": True}),
            "g": Action("fortify", {"on": False}),
            "k": Action("muster", {"percent": 10}),
            "m": Action("muster", {"percent": 35}),
            "l": Action("muster", {"percent": 60}),
            "x": Action("stand_down"),
        }
    )

    def __init__(
        self,
        zones_x: arguments.Zones = 4,
        zones_y: arguments.Zones = 4,
        kingdoms: Annotated[int, Range(0, 16, "number at the start; 0: as many as there are players, or 4")] = 0,
    ) -> None:
        self.zones_x = zones_x
        self.zones_y = zones_y
        self.kingdoms = kingdoms

    def describe(self) -> str:
        return f"{super().describe()}\n\n{powers_text()}"

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.state = MatchState(f"{seed:x}", len(seats), paused=False, speed="x1", generated=0, pending=None)
        self._make(seed, self.zones_x, self.zones_y)

    def _make(self, seed: int, zones_x: int, zones_y: int) -> None:
        claimed = self.state.claimed
        self.sim = Sim(seed, generate(seed, zones_x, zones_y))
        begin(self.sim, max(claimed, self.kingdoms or (4 if claimed < 2 else 0)), claimed)
        self.sim.take_news()  # views show it; otherwise it would be told as the result of the next command
        self._begin_counting()
        self._begin_maps()
        self.state.history.note(self.sim)
        self._changed()

    def _begin_maps(self) -> None:
        """In another world nothing was seen yet."""
        self.maps: dict[int, SeenMap] = {}
        self._look_around()

    def _look_around(self) -> None:
        """Each kingdom notes what it sees."""
        for kingdom in self.sim.alive:
            if kingdom.id not in self.maps:
                self.maps[kingdom.id] = maps.new_map(self.sim.land)
            maps.look_around(self.maps[kingdom.id], View(self.sim, kingdom.id, everything=False))

    def _changed(self) -> None:
        """Drop the cached views and pictures."""
        self._views: dict[Eye, View] = {}
        self._pictures: dict[Eye, bytes] = {}

    # -- seats and time ---------------------------------------------------------------------------
    def seats_now(self) -> Sequence[Seat]:
        over = self.is_over()  # then the losers get their seats back, and see how it ended
        return [Seat(str(k.id), k.name) for k in self.sim.kingdoms.values() if k.alive or (over and k.claimed)]

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.is_over() else [str(k.id) for k in self.sim.alive]

    def is_over(self) -> bool:
        return self.state.claimed > 1 and sum(k.claimed for k in self.sim.alive) <= 1

    def clock(self, paused: bool, speed: str) -> None:
        self.state.paused, self.state.speed = paused, speed

    def advance(self, ticks: int) -> Sequence[Told]:
        told: list[Told] = []
        counts = ticks >= DIGEST_TICKS
        if counts:
            self.state.marks = {kingdom.id: mark(self.sim, kingdom) for kingdom in self.sim.alive}
        for _ in range(ticks):
            if self._replace_world():
                told.append(Told("a new world begins"))
            if self.is_over():
                break
            tick.step(self.sim)
            if self.sim.tick % YEAR == 0:
                self._look_around()
                self.state.history.note(self.sim)
            counts = counts or self.sim.tick % REWARD_TICKS == 0
            if self.is_over():
                counts = True
                self.sim.tell(result(self.sim), kind="success")
        if counts:
            self._count_rewards()
        self._changed()
        return [*told, *map(_told, self.sim.take_news())]

    def _replace_world(self) -> bool:
        """Replace this world by the pending one, if there is one."""
        pending, self.state.pending = self.state.pending, None
        if pending is None:
            return False
        if pending.data:
            self.sim = save.load(pending.data)
            self.sim.take_news()
            self._begin_counting()
            self._begin_maps()
        else:
            self.state.generated += 1
            stream = Stream(int(self.state.seed, 16), f"world {self.state.generated}")
            seed = stream.bits64() << 64 | stream.bits64()
            self._make(seed, pending.zone_x, pending.zone_y)
        self._changed()
        return True

    def _schedule(self, pending: Pending) -> None:
        self._must_be_ready()
        self.state.pending = pending
        if self.state.paused:  # no tick will come
            self._replace_world()

    def _must_be_ready(self) -> None:
        if self.state.pending is not None:
            raise GameRejected("a world is loading; wait for the next tick")

    # -- views ------------------------------------------------------------------------------------
    def view(self, eye: Eye) -> View:
        """The view of an eye, cached until something changes."""
        found = self._views.get(eye)
        if found is None:
            kingdom = int(eye.seat) if eye.seat is not None and eye.seat.isdecimal() else None
            found = self._views[eye] = View(self.sim, kingdom, eye.sees == "all")
        return found

    def observe(self, eye: Eye) -> Observation:
        self.sim.refresh()  # a war may have been declared, or a kingdom founded, since the last tick
        state = self.state
        return observation(self.view(eye), state.paused, self.is_over(), state.speed, state.marks, state.history)

    def standings(self) -> Sequence[Standing]:
        best = sorted(self.sim.alive, key=lambda k: (-k.people, k.id))
        return [
            Standing(
                str(k.id), k.name, k.people,
                data={"id": k.id, "name": k.name, "units": k.people, "cities": k.cities, "wild": False},
                colour=colour_of(k.colour),
            )
            for k in best
        ]  # fmt: skip

    def returns(self) -> Mapping[SeatId, float]:
        """The people that a kingdom has won and lost. A new world neither gives nor takes any."""
        return {str(kingdom): total for kingdom, total in self.state.rewards.items()}

    def _begin_counting(self) -> None:
        self.state.people = {kingdom.id: kingdom.people for kingdom in self.sim.alive}

    def _count_rewards(self) -> None:
        people, rewards = self.state.people, self.state.rewards
        for kingdom in self.sim.kingdoms.values():
            now = kingdom.people if kingdom.alive else 0
            rewards[kingdom.id] = rewards.get(kingdom.id, 0) + now - people.get(kingdom.id, now)
            people[kingdom.id] = now

    def goals(self, seat: Seat) -> Sequence[Goal]:
        if self.state.claimed < 2:
            return []
        rivals = [k.name for k in self.sim.alive if k.claimed and str(k.id) != seat.id]
        return [
            Goal("last", "Be the last of the claimed kingdoms", progress=f"rivals left: {', '.join(rivals) or 'none'}")
        ]

    def legal(self, seat: Seat) -> Sequence[Action]:
        return orders.open_orders(self.sim, self._realm(seat))

    def fallback(self, seat: Seat) -> None:
        """Standing orders remain in force."""

    def picture(self, eye: Eye) -> bytes:
        if eye not in self._pictures:
            image = picture.draw(self.sim, self.view(eye).seen, PICTURE_SIZE)
            self._pictures[eye] = picture.encode(image, "png")
        return self._pictures[eye]

    def scene(self, eye: Eye) -> Mapping[str, Any]:
        self.sim.refresh()
        view = self.view(eye)
        known = self.maps.get(view.kingdom or 0)
        explored = None if view.everything or known is None else known.codes
        return scene.scene(view, self.state.history, explored)

    # -- queries ----------------------------------------------------------------------------------
    @query(category="discovery", listed=False)
    def list_tiles(self, eye: Eye) -> answers.Listed[answers.TileKind]:
        """The kinds of ground."""
        return queries.tile_kinds()

    @query(category="discovery", listed=False)
    def list_top_tiles(self, eye: Eye) -> answers.Listed[answers.TopKind]:
        """List what can cover the ground: grass, forest, road, fire …"""
        return queries.top_kinds()

    @query(category="discovery")
    def list_actors(self, eye: Eye) -> answers.Listed[answers.ActorKind]:
        """The species that can be spawned."""
        return queries.actor_kinds()

    @query(category="discovery")
    def list_powers(
        self, eye: Eye, for_kings: Annotated[bool, Range(doc="only powers that a kingdom's player may use")] = False
    ) -> answers.Listed[answers.PowerKind]:
        """All powers: what they do, where a kingdom's player may aim them (own, any, god), and their cost in faith."""
        mine = self.sim.kingdoms.get(self.view(eye).kingdom or 0)
        return queries.power_kinds(for_kings, mine.race if mine is not None else None)

    @query()
    def get_world_state(self, eye: Eye) -> answers.WorldState:
        """The size of the world, its tick, and its population."""
        return queries.world_state(self.view(eye), self.state.paused)

    @query(needs="read_own", listed=False)
    def map(self, eye: Eye) -> ExploredMap:
        """Show what you have seen so far, when, and where the unseen begins."""
        view = self.view(eye)
        if view.kingdom is None:
            return no_map((self.sim.land.width, self.sim.land.height), self.sim.tick)
        self.sim.refresh()
        return maps.map_of(self.maps.get(view.kingdom), view)

    @query()
    def get_tile(self, eye: Eye, x: arguments.X, y: arguments.Y) -> answers.Tile:
        """One tile: its ground, its cover and the creatures on it. An unseen tile is described from the chart."""
        casting.on_map(self.sim, x, y)
        return queries.tile(self.view(eye), x, y)

    @query(needs="read_own")
    def list_kingdoms(
        self, eye: Eye, include_wild: arguments.IncludeWild = False
    ) -> answers.Listed[answers.KingdomLine]:
        """All living kingdoms. Public, also with fog."""
        return queries.kingdoms(self.view(eye), include_wild)

    @query(needs="read_own")
    def list_cities(self, eye: Eye, kingdom_id: arguments.KingdomId | None = None) -> answers.Listed[answers.CityLine]:
        """The cities you may see: with fog, your own."""
        return queries.cities(self.view(eye), kingdom_id)

    @query(needs="read_own")
    def query_actors(
        self,
        eye: Eye,
        race: arguments.Race = None,
        kingdom_id: arguments.KingdomId | None = None,
        in_rect: arguments.Rect | None = None,
        alive: Annotated[bool, Range(doc="the dead are not stored, so false finds nobody")] = True,
        limit: arguments.Limit = 500,
        offset: arguments.Offset = 0,
    ) -> answers.Actors:
        """The creatures you may see, page by page: with fog, your own people."""
        page = min(max(limit, 1), arguments.MAX_ACTORS)
        view = self.view(eye) if alive else View(self.sim, None, False)
        return queries.actors(view, race, kingdom_id, in_rect, page, offset)

    @query(needs=("read_own", "read_all"), listed=False, sees_all=True)
    def screenshot(
        self,
        eye: Eye,
        max_dimension: arguments.MaxDimension = 1280,
        format: arguments.PictureFormat = "jpg",  # noqa: A002 - the wire's name
        quality: arguments.Quality = 80,
    ) -> answers.Screenshot:
        """A picture of the whole map, where fog hides nothing from you. `picture` shows what you may see."""
        return picture.screenshot(self.view(eye), max_dimension, format, quality)

    @query(listed=False)
    def get_ui_state(self, eye: Eye) -> answers.UiState:
        """Tell whether the game is paused, and whether a world is loading."""
        paused = self.state.paused
        return answers.UiState(False, paused, paused, self.state.pending is not None)

    @query(category="control", needs="advance_time", listed=False)
    def dismiss_window(self, eye: Eye) -> answers.Dismissed:
        """Close the open window. Kingdoms has no windows, so this does nothing."""
        return answers.Dismissed(False)

    # -- actions ----------------------------------------------------------------------------------
    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        return casting.out_of_scope(self.sim, self._realm(by), action, args)

    @action(gives=answers.PowerUsed, group="powers")
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
    ) -> Outcome:
        """Use a power at a place."""
        self._must_be_ready()
        usable = POWERS if by is None else [p.id for p in POWERS.values() if p.aim != "god"]
        power = _known(power_id, POWERS, "power", usable)
        use = casting.PowerUse(power, x, y, radius, pulses, x2, y2)
        return self._done(by, casting.invoke(self.sim, self._kingdom(by), use))

    @action(gives=answers.Spawned, group="powers")
    def spawn(
        self,
        by: Seat | None,
        entity_id: arguments.EntityId,
        x: arguments.X,
        y: arguments.Y,
        count: arguments.Count = 1,
        adult: arguments.Adult = False,
        spawn_height: Annotated[float, Range(doc="ignored; WorldBox clients send it")] = 6.0,
    ) -> Outcome:
        """Spawn creatures."""
        self._must_be_ready()
        kind = _known(entity_id, SPECIES_ROW, "creature", SPECIES_ROW if by is None else [self._realm(by).race])
        casting.on_map(self.sim, x, y)
        return self._done(by, spawns.spawn(self.sim, self._kingdom(by), kind, x, y, count, adult))

    @action(gives=answers.Painted, needs="act_global", group="powers")
    def paint_tile(
        self,
        by: Seat | None,
        x: arguments.X,
        y: arguments.Y,
        tile_id: arguments.TileId = None,
        top_id: arguments.TopId = None,
        radius: arguments.DiscRadius = 0,
    ) -> Outcome:
        """Change the ground or the cover of tiles. Cells off the map are skipped."""
        self._must_be_ready()
        return self._done(by, terraform.paint(self.sim, x, y, tile_id, top_id, max(0, radius)))

    @action(category="control", needs="control_world", gives=answers.Scheduled, group="world", listed=False)
    def generate_world(
        self, by: Seat | None, zone_x: arguments.Zones | None = None, zone_y: arguments.Zones | None = None
    ) -> Outcome:
        """Replace this world by a new one. Give both sizes, or neither."""
        both = zone_x is not None and zone_y is not None
        width, height = (zone_x, zone_y) if both else (self.zones_x, self.zones_y)
        self._schedule(Pending(width or self.zones_x, height or self.zones_y))
        note = "the new world begins at the next tick"
        data = answers.Scheduled(True, note, zone_x if both else None, zone_y if both else None)
        return Outcome("A new world begins at the next tick.", public="a new world is being generated", data=data)

    # -- helpers ----------------------------------------------------------------------------------
    def _order(self, by: Seat, name: str, give: GiveOrder) -> Outcome:
        self._must_be_ready()
        mine = self._realm(by)
        message = give(mine)
        return self._done(by, (answers.Ordered(mine.id, name, message), message))

    def _done(self, by: Seat | None, answer: tuple[Any, str]) -> Outcome:
        """The outcome of an action: a message and data for the actor, and the news for everybody else."""
        tick.remove_dead(self.sim)
        self._changed()
        data, message = answer
        own = [Told(message, seats=(by.id,))] if by is not None else []
        return Outcome(message, told=(*own, *map(_told, self.sim.take_news())), data=data)

    def _kingdom(self, by: Seat | None) -> Kingdom | None:
        """The kingdom of the acting seat; None for a god without a seat."""
        return self._realm(by) if by is not None else None

    def _realm(self, seat: Seat) -> Kingdom:
        return self.sim.kingdoms[int(seat.id)]

    # -- imagining --------------------------------------------------------------------------------
    def resample(self, eye: Eye, stream: Stream) -> None:
        view = self.view(eye)
        if view.everything:
            return
        imagined.redraw(view, list(heard(view)), stream)
        self.state.seed = f"{stream.bits64() << 64 | stream.bits64():x}"  # of worlds that are generated later
        self.state.marks = {number: known for number, known in self.state.marks.items() if number == view.kingdom}
        self.maps = {number: known for number, known in self.maps.items() if number == view.kingdom}
        self._changed()

    # -- saving -----------------------------------------------------------------------------------
    def snapshot(self) -> bytes:
        seen = {number: known.save() for number, known in self.maps.items()}
        head = msgspec.msgpack.encode(msgspec.structs.replace(self.state, seen=seen))
        return len(head).to_bytes(4, "little") + head + save.dump(self.sim)

    def restore(self, data: bytes) -> None:
        end = 4 + int.from_bytes(data[:4], "little")
        state = msgspec.msgpack.decode(data[4:end], type=MatchState)
        sim = save.load(data[end:])
        self.maps = {number: maps.loaded_map(sim.land, known) for number, known in state.seen.items()}
        state.seen = {}
        self.sim, self.state = sim, state
        self._changed()

    def save(self) -> bytes:
        self._must_be_ready()
        return save.dump(self.sim)

    def load(self, data: bytes) -> None:
        self._must_be_ready()
        save.load(data)  # a bad save is refused before anything changes
        self._schedule(Pending(data=data))


def _told(news: News) -> Told:
    seats = None if news.kingdoms is None else tuple(str(k) for k in news.kingdoms)
    return Told(news.text, seats=seats)


def _known(name: str, table: Mapping[str, Any], what: str, usable: Iterable[str]) -> Any:
    if name not in table:
        raise UnknownAsset(f"there is no {what} {name[:60]!r}", did_you_mean=nearest(name[:60], usable))
    return table[name]
