"""Lanterns: keepers on a dark island. An example of a world with a clock, fog, scope, goals and pictures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Struct

from cohabit.errors import GameRejected, OutOfBounds, UnknownAsset
from cohabit.model.action import Action
from cohabit.model.observation import Entity, Event, Goal, Location, Observation
from cohabit.model.suggest import nearest
from cohabit.world import Eye, Outcome, Range, Seat, SeatId, Standing, Stream, Told, World, WorldSpec, action, query
from cohabit.worlds import lanterns_training as training
from cohabit.worlds.island import LAND, ROCK, SEA, Island, make_island
from cohabit.worlds.png import squares
from cohabit.worlds.words import counted

STARTING_OIL, MAX_CARRIED_OIL, BARREL_OIL = 12, 20, 8
LIGHTING_OIL, MAX_TOWER_OIL = 4, 12
LANTERN_TICKS_PER_OIL, TOWER_TICKS_PER_OIL, TICKS_PER_BARREL = 10, 6, 10
MAX_BARRELS = 8
LANTERN_RADIUS = {"evening": 4, "night": 3, "small hours": 2}
TOWER_RADIUS = 2  # of its light, and of the land that it claims
MAX_NEWS = 31
MAX_SHOWN_NEWS = 6
MAX_ECHO_CHARS = 40
LEGEND = "~ sea  ^ rock  . lit land  : dark land  1-9 towers T1-T9  o oil  @ you  A-D keepers by initial"
PALETTE = (
    (12, 20, 48), (70, 66, 72), (34, 40, 34), (142, 132, 92), (120, 120, 128), (20, 16, 12), (245, 245, 235),
    (255, 180, 40), (70, 140, 255), (255, 100, 90), (190, 190, 215),
)  # fmt: skip
SEA_COLOUR, ROCK_COLOUR, DARK_COLOUR, LAND_COLOUR, TOWER_COLOUR, OIL_COLOUR, YOU_COLOUR, FIRST_SEAT_COLOUR = range(8)
Column = Annotated[int, Range(doc="column of the chart, from 0 in the west")]
Row = Annotated[int, Range(doc="row of the chart, from 0 in the north")]
TowerName = Annotated[str, Range(doc="the tower's name, such as T2")]


class Keeper(Struct):
    at: int  # a cell of the island
    oil: int = STARTING_OIL
    path: list[int] = []  # the cells still to walk, in order


class Tower(Struct):
    name: str
    at: int
    holder: SeatId = ""
    oil: int = 0


class Barrel(Struct):
    name: str
    at: int
    oil: int = BARREL_OIL


class TowerLine(Struct):
    """The public information about a tower."""

    tower: str
    x: int
    y: int
    burns_for: SeatId | None


class Lanterns(World):
    """Lanterns. Keepers with lanterns light the towers of a dark island. The most land at dawn wins.

    Time runs continuously, one tick per second, from evening until dawn. Your keeper walks one cell per tick
    towards its destination: `walk` to a cell, `go` to something by its name, or `halt`.

    The chart is public: sea, rock, land, the towers T1, T2, …, which of them burn, and for whom. Keepers
    and oil are visible only in the light of your lantern (4 cells in the evening, 3 at night, 2 in the
    small hours, 1 without oil) and of your own towers (2 cells).

    Your lantern burns 1 oil every 10 ticks. Barrels wash ashore; `gather` beside one takes as much as you
    can carry (up to 20). `light` a dark tower beside you for 4 oil, or refill your own; a tower holds up to
    12 oil and burns 1 every 6 ticks; your view says for how many ticks each of yours will burn. `douse` puts
    out a rival's tower beside you. Beside means on the same cell or on one of the eight cells around it.

    Land within 2 cells of a burning tower belongs to the keeper of the nearest one, and to nobody if two
    rivals' towers are equally near. The game ends at dawn, or when all towers burn for one keeper.
    """

    spec = WorldSpec(
        name="lanterns", version=4, title="Lanterns", seats=(2, 4), seat_names=("amber", "blue", "coral", "dove"),
        pace="clock", quick=True, tick_ms=1000, examples=True, tell_rewards=False,
    )  # fmt: skip
    keys = {  # noqa: RUF012
        **{f"Arrow{way.capitalize()}": Action("step", {"direction": way}) for way in ("up", "right", "down", "left")},
        "g": training.GATHER, " ": training.HALT,
    }  # fmt: skip

    def __init__(
        self,
        size: Annotated[int, Range(9, 15, "cells per side")] = 13,
        ticks: Annotated[int, Range(1, 100_000, "number of ticks from evening to dawn")] = 240,
    ) -> None:
        self.size = size
        self.ticks = ticks

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.island: Island = make_island(Stream(seed, "island"), self.size)
        self.tide = Stream(seed, "tide")
        self.tick = 0
        self.over = False
        self.news: list[tuple[int, SeatId, str]] = []  # tick, seat ("" for everybody), text
        homes = self.island.corners()[: len(seats)]
        sites = self.island.apart(Stream(seed, "towers"), homes, len(seats) + 1)
        self.keepers = {seat: Keeper(cell) for seat, cell in zip(self.order, homes, strict=True)}
        self.towers = [Tower(f"T{i}", cell) for i, cell in enumerate([*homes, *sites], 1)]
        for seat, tower in zip(self.order, self.towers, strict=False):
            tower.holder, tower.oil = seat, MAX_TOWER_OIL
        self.barrels: list[Barrel] = []
        self.washed = 0
        for _ in range(2 * len(seats)):
            self._wash_ashore()
        self.land = self.first_land = self._land()

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.over else list(self.order)

    # -- observing --------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        lit, me = self._lit(eye), self.keepers.get(eye.seat or "")
        status: dict[str, object] = {"dawn_in": self.ticks - self.tick, "land": dict(self.land)}
        if me is not None:
            mine = {t.name: t.oil * TOWER_TICKS_PER_OIL for t in self.towers if t.holder == eye.seat}
            status |= {"you": eye.seat, "light": self._light_radius(me), "walking": len(me.path), "your_towers": mine}
        legend = LEGEND if me is not None else LEGEND.replace("@ you  ", "")
        events = [(at, text) for at, seat, text in self.news if eye.sees == "all" or seat in ("", eye.seat)]
        return Observation(
            text="\n".join(filter(None, [self._map(lit, me), legend, self._explained(me, eye.seat or "")])),
            status=status,
            inventory={"oil": me.oil} if me else {},
            location=Location(self.island.xy(me.at)) if me else None,
            nearby_entities=[self._entity(me, *thing) for thing in self._visible_things(lit, me)],
            recent_events=[Event(f"tick {at}: {text}") for at, text in events[-MAX_SHOWN_NEWS:]],
            step=self.tick,
            time_of_day=self._hour(),
        )

    def _explained(self, me: Keeper | None, seat: SeatId) -> str:
        """How the game has ended; and why a keeper has no land."""
        none = "no tower burns for you, so you hold no land" if me is not None and not self.land[seat] else ""
        if not self.over:
            return f"Now {none}. You can light a dark tower beside you for {LIGHTING_OIL} oil." if none else ""
        if not any(self.land.values()):
            return "It is dawn, and no tower burns. So nobody holds land, and the game is a draw."
        why = "It is dawn" if self.tick >= self.ticks else "All towers burn for one keeper"
        land = ", ".join(f"{one.name} {one.score:g}" for one in self.standings())
        return f"{why}. The land decides: {land}" + (f"; {none}." if none else ".")

    def goals(self, seat: Seat) -> Sequence[Goal]:
        land = self.land
        best = max(n for s, n in land.items() if s != seat.id)
        hints = ["Refill your towers before they burn out", "You can take a dark tower"]
        progress = f"you {land[seat.id]}, best rival {best}"
        return [Goal("land", "Hold the most land at dawn", progress=progress, hints=hints)]

    def standings(self) -> Sequence[Standing]:
        land = self.land
        colours = {s: f"#{bytes(PALETTE[FIRST_SEAT_COLOUR + i]).hex()}" for i, s in enumerate(self.order)}
        return [Standing(s, s, land[s], colour=colours[s]) for s in sorted(self.order, key=lambda s: -land[s])]

    def returns(self) -> Mapping[SeatId, float]:
        """The land that a keeper has won or lost."""
        return {seat: land - self.first_land[seat] for seat, land in self.land.items()}

    @query()
    def chart(self, eye: Eye) -> list[str]:
        """The public map of the island, row by row: ~ sea, ^ rock, . land."""
        return [self.island.ground[i : i + self.size] for i in range(0, self.size**2, self.size)]

    @query()
    def list_towers(self, eye: Eye) -> list[TowerLine]:
        """Every tower: its position, and for which keeper it burns."""
        return [TowerLine(t.name, *self.island.xy(t.at), t.holder or None) for t in self.towers]

    def picture(self, eye: Eye) -> bytes:
        lit, me = self._lit(eye), self.keepers.get(eye.seat or "")
        unlit = {SEA: SEA_COLOUR, ROCK: ROCK_COLOUR}
        ground = [unlit.get(g, LAND_COLOUR if lit[i] else DARK_COLOUR) for i, g in enumerate(self.island.ground)]
        marks = list(ground)
        for kind, _, at, seat in self._visible_things(lit, me):
            neutral = TOWER_COLOUR if kind == "tower" else OIL_COLOUR
            marks[at] = FIRST_SEAT_COLOUR + self.order.index(seat) if seat else neutral
        if me is not None:
            marks[me.at] = YOU_COLOUR
        return squares(self.size, ground, marks, PALETTE)

    def legal(self, seat: Seat) -> Sequence[Action]:
        me = self.keepers[seat.id]
        things = self._visible_things(self._lit(Eye(seat.id, "own")), me)
        goals = [Action("go", {"to": name}) for _, name, at, _ in things if at != me.at]
        steps = [self.island.xy(cell) for cell in self.island.around(me.at)]
        return [*self._work(seat.id), *goals, *(Action("walk", {"x": x, "y": y}) for x, y in steps), training.HALT]

    def _work(self, seat: SeatId) -> Iterator[Action]:
        """The actions that a keeper can do where it is."""
        me = self.keepers[seat]
        if me.oil < MAX_CARRIED_OIL and self._barrel_beside(me):
            yield training.GATHER
        for tower in (t for t in self.towers if self.island.beside(me.at, t.at)):
            if tower.holder not in ("", seat):
                yield training.DOUSE[tower.name]
            elif me.oil >= LIGHTING_OIL and tower.oil < MAX_TOWER_OIL:
                yield training.LIGHT[tower.name]

    # -- training ---------------------------------------------------------------------------------
    def numbered(self) -> Sequence[Action]:
        return training.numbered(self.size)

    def useful(self, seat: Seat) -> Sequence[Action]:
        """Walks to the next cells only, as in ``legal``: among all cells, a learner hardly ever tries anything else."""
        me, walks = self.keepers[seat.id], training.walks(self.size)
        return [
            *([training.HALT] if me.path else []),
            *self._work(seat.id),
            *(training.GO[tower.name] for tower in self.towers if tower.at != me.at),
            *(walks[cell] for cell in self.island.around(me.at)),
        ]

    def arrays(self) -> training.Forms:
        return training.forms(self.size)

    def array(self, eye: Eye, form: str) -> Any:
        lit, me, cells = self._lit(eye), self.keepers.get(eye.seat or ""), len(self.island.ground)
        things = list(self._visible_things(lit, me))
        rivals = [land for seat, land in self.land.items() if seat != eye.seat]
        own = [me.oil / MAX_CARRIED_OIL, self._light_radius(me) / max(LANTERN_RADIUS.values())] if me else [0, 0]
        land = [self.land.get(eye.seat or "", 0) / cells, max(rivals) / cells]
        return training.chart(
            self.island,
            lit,
            oil=[at for kind, _, at, _ in things if kind == "oil"],
            keepers=[at for kind, _, at, _ in things if kind == "keeper"],
            you=[me.at] if me else [],
            destination=me.path[-1:] if me else [],
            towers=[
                (t.at, t.holder == eye.seat, t.oil / MAX_TOWER_OIL if t.holder == eye.seat else 0, bool(t.holder))
                for t in self.towers
            ],
            scalars=[*own, 1 - self.tick / self.ticks, *land],
        )

    # -- acting -----------------------------------------------------------------------------------
    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        tower = next((t for t in self.towers if t.name == args.get("tower")), None)
        if tower is None or tower.holder in ("", by.id):
            return None
        if action == "light":
            return f"{tower.name} burns for {tower.holder}; you can only douse it, from beside it"
        near = self.island.beside(self.keepers[by.id].at, tower.at)
        return None if near else f"{tower.name} burns for {tower.holder}, and you are not beside it"

    @action(preconditions=["The cell is land"], group="move")
    def walk(self, by: Seat, x: Column, y: Row) -> Outcome:
        """Walk to a cell on the shortest path."""
        if not (0 <= x < self.size and 0 <= y < self.size):
            raise OutOfBounds(f"the chart has the cells 0,0 to {self.size - 1},{self.size - 1}")
        ground = self.island.ground[self.island.cell(x, y)]
        if ground != LAND:
            raise GameRejected(f"{x},{y} is {'sea' if ground == SEA else 'rock'}; choose a land cell")
        return self._set_out(by, self.island.cell(x, y), f"{x},{y}")

    @action(preconditions=["It is a tower, or visible to you"], group="move")
    def go(self, by: Seat, to: Annotated[str, Range(doc="name of a tower, a barrel or a keeper")]) -> Outcome:
        """Walk to the current position of something, by its name."""
        things = self._visible_things(self._lit(Eye(by.id, "own")), self.keepers[by.id])
        visible = {name: at for _, name, at, _ in things}
        if to not in visible:  # the same message for something hidden and something that does not exist
            name = to[:MAX_ECHO_CHARS]
            raise UnknownAsset(
                f"you see nothing called {name!r}; choose from what `view` shows",
                did_you_mean=nearest(name, visible, 3),
            )
        return self._set_out(by, visible[to], to)

    @action(group="move", for_model=False)
    def step(self, by: Seat, direction: Literal["up", "right", "down", "left"]) -> Outcome:
        """Walk one cell, or on from the cell that you walk to: for people with arrow keys."""
        me = self.keepers[by.id]
        to = self.island.neighbours(me.path[-1] if me.path else me.at)[direction]
        if self.island.ground[to] != LAND:
            raise GameRejected(f"there is {'sea' if self.island.ground[to] == SEA else 'rock'} {direction} of you")
        return self._set_out(by, to, ",".join(map(str, self.island.xy(to))))

    @action(group="move")
    def halt(self, by: Seat) -> Outcome:
        """Stand still."""
        self.keepers[by.id].path = []
        return self._private(by, "You stand still.")

    @action(preconditions=["A barrel is beside you"], group="work")
    def gather(self, by: Seat) -> Outcome:
        """Take as much oil as you can carry from a barrel beside you."""
        me = self.keepers[by.id]
        barrel = self._barrel_beside(me)
        if barrel is None:
            raise GameRejected("there is no oil beside you; go to a barrel first")
        if me.oil >= MAX_CARRIED_OIL:
            raise GameRejected(f"you already carry {MAX_CARRIED_OIL} oil, the maximum")
        taken = min(barrel.oil, MAX_CARRIED_OIL - me.oil)
        me.oil += taken
        barrel.oil -= taken
        self.barrels = [b for b in self.barrels if b.oil]
        return self._private(by, f"You gather {taken} oil and carry {me.oil}.")

    @action(preconditions=["The tower is beside you and not a rival's", f"You carry {LIGHTING_OIL} oil"], group="work")
    def light(self, by: Seat, tower: TowerName) -> Outcome:
        """Light a dark tower beside you, or refill one that burns for you."""
        me, found = self.keepers[by.id], self._tower_beside(by, tower)
        if found.holder not in ("", by.id):
            raise GameRejected(f"{tower} burns for {found.holder}; douse it first")
        if me.oil < LIGHTING_OIL:
            raise GameRejected(f"you need {LIGHTING_OIL} oil, but you carry {me.oil}; gather some")
        if found.oil >= MAX_TOWER_OIL:
            raise GameRejected(f"{tower} is full")
        refilled = found.holder == by.id
        me.oil -= LIGHTING_OIL
        found.holder, found.oil = by.id, min(MAX_TOWER_OIL, found.oil + LIGHTING_OIL)
        self.land = self._land()
        message = f"{tower} burns for you for {found.oil * TOWER_TICKS_PER_OIL} more ticks."
        if refilled:
            return self._private(by, message)
        told = [*self._tell(f"{tower} burns for {by.id}"), *self._end_if_over()]
        return Outcome(message, told=tuple(told))

    @action(preconditions=["The tower is beside you and a rival's"], group="work")
    def douse(self, by: Seat, tower: TowerName) -> Outcome:
        """Put out a rival's tower beside you."""
        found = self._tower_beside(by, tower)
        if found.holder in ("", by.id):
            raise GameRejected(f"{tower} {'burns for you' if found.holder else 'is already dark'}")
        return self._put_out(found, f"{tower} was put out")

    @action(needs="act_global", group="god")
    def storm(self, by: Seat | None, tower: TowerName) -> Outcome:
        """Put out a tower with a storm. Only for gods."""
        return self._put_out(self._tower(tower), f"a storm put out {tower}")

    # -- time -------------------------------------------------------------------------------------
    def advance(self, ticks: int) -> Sequence[Told]:
        told: list[Told] = []
        for _ in range(min(ticks, self.ticks - self.tick)):
            if not self.over:
                told += self._one_tick()
        return told

    def _one_tick(self) -> Iterator[Told]:
        self.tick += 1
        for seat, keeper in self.keepers.items():
            keeper.at = keeper.path.pop(0) if keeper.path else keeper.at
            if self.tick % LANTERN_TICKS_PER_OIL == 0 and keeper.oil:
                keeper.oil -= 1
                if not keeper.oil:
                    yield from self._tell("your lantern goes dark", seat)
        for tower in self.towers if self.tick % TOWER_TICKS_PER_OIL == 0 else ():
            tower.oil = max(0, tower.oil - 1)
            if tower.holder and not tower.oil:
                tower.holder = ""
                self.land = self._land()
                yield from self._tell(f"{tower.name} has burnt out")
        if self.tick % TICKS_PER_BARREL == 0 and len(self.barrels) < MAX_BARRELS:
            self._wash_ashore()
        yield from self._end_if_over()

    def _end_if_over(self) -> Iterator[Told]:
        first = self.towers[0].holder
        if self.tick >= self.ticks or (first and all(t.holder == first for t in self.towers)):
            self.over = True
            land = self.land
            most = max(land.values())
            best = [s for s in self.order if land[s] == most]
            if len(best) == 1:
                result = f"{best[0]} won with {most} land"
            else:
                result = f"{' and '.join(best)} draw with {most} land" if most else "nobody holds land, so it is a draw"
            yield from self._tell(f"the game is over: {result}")

    def _wash_ashore(self) -> None:
        shores = self.island.shores([*(t.at for t in self.towers), *(b.at for b in self.barrels)])
        if shores:
            self.washed += 1
            self.barrels.append(Barrel(f"O{self.washed}", self.tide.choice(shores)))

    # -- what an eye does not see -----------------------------------------------------------------
    def resample(self, eye: Eye, stream: Stream) -> None:
        """Redraw the keepers and barrels in the dark, what others carry and plan, and where barrels will wash ashore.

        Keepers are where they can have walked since they were last known to be somewhere."""
        self.tide = Stream(stream.bits64(), "tide")
        if eye.sees == "all":
            return
        me = eye.seat if eye.sees == "own" else None
        lit = self._lit(eye)
        dark = [cell for cell in self.island.land() if not lit[cell]]
        self.news = [line for line in self.news if line[1] in ("", me)]
        for seat, keeper in self.keepers.items():
            if seat != me and self.tick:
                self._redraw_keeper(seat, keeper, dark, stream)
        for tower in self.towers:
            if tower.holder not in ("", me) and self.tick:
                tower.oil = stream.between(1, MAX_TOWER_OIL)
        self._redraw_barrels(lit, stream)

    def _redraw_keeper(self, seat: SeatId, keeper: Keeper, dark: Sequence[int], stream: Stream) -> None:
        known, steps = self.island.corners()[self.order.index(seat)], self.tick
        for at, to, text in self.news:
            for tower in self.towers:
                if not to and text == f"{tower.name} burns for {seat}":
                    known, steps = tower.at, self.tick - at + 2  # it was beside the tower
        if keeper.at in dark:
            keeper.at = stream.choice([c for c in dark if self.island.far(known, c) <= steps] or [keeper.at])
        keeper.oil = stream.between(0, MAX_CARRIED_OIL)
        goal = stream.choice(self.island.land())
        keeper.path = self.island.way(keeper.at, goal) if stream.chance(1, 2) else []

    def _redraw_barrels(self, lit: Sequence[bool], stream: Stream) -> None:
        seen = [barrel for barrel in self.barrels if lit[barrel.at]]
        names = [name for i in range(1, self.washed + 1) if (name := f"O{i}") not in [b.name for b in seen]]
        shores = [c for c in self.island.shores([t.at for t in self.towers]) if not lit[c]]
        stream.shuffle(names)
        stream.shuffle(shores)
        hidden = len(self.barrels) - len(seen)
        if self.tick:  # at first it is known how many there are
            hidden = min(MAX_BARRELS - len(seen), max(0, hidden + stream.between(-1, 1)))
        drawn = zip(names[:hidden], shores, strict=False)
        least = 1 if self.tick else BARREL_OIL
        barrels = [Barrel(name, at, stream.between(least, BARREL_OIL)) for name, at in drawn]
        self.barrels = sorted([*seen, *barrels], key=lambda barrel: int(barrel.name[1:]))

    # -- light ------------------------------------------------------------------------------------
    def _hour(self) -> str:
        return list(LANTERN_RADIUS)[min(2, 3 * self.tick // self.ticks)]

    def _light_radius(self, keeper: Keeper) -> int:
        return LANTERN_RADIUS[self._hour()] if keeper.oil else 1

    def _lit(self, eye: Eye) -> list[bool]:
        """For each cell, whether it is lit for this eye."""
        lit = [eye.sees == "all"] * len(self.island.ground)
        if eye.sees == "own" and eye.seat in self.keepers:
            me = self.keepers[eye.seat]
            towers = [(t.at, TOWER_RADIUS) for t in self.towers if t.holder == eye.seat]
            for at, radius in [(me.at, self._light_radius(me)), *towers]:
                for cell, _ in self.island.disc(at, radius):
                    lit[cell] = True
        return lit

    def _land(self) -> dict[SeatId, int]:
        """The land of each keeper: a cell belongs to the nearest burning tower."""
        nearest_tower: dict[int, tuple[int, SeatId]] = {}
        for tower in (t for t in self.towers if t.holder):
            for cell, distance in self.island.disc(tower.at, TOWER_RADIUS):
                shortest, holder = nearest_tower.get(cell, (distance + 1, ""))
                if distance < shortest:
                    nearest_tower[cell] = (distance, tower.holder)
                elif distance == shortest and holder != tower.holder:
                    nearest_tower[cell] = (distance, "")
        owners = [holder for cell, (_, holder) in nearest_tower.items() if self.island.ground[cell] == LAND]
        return {seat: owners.count(seat) for seat in self.order}

    def _visible_things(self, lit: Sequence[bool], me: Keeper | None) -> Iterator[tuple[str, str, int, SeatId]]:
        """The things that are visible in this light: kind, name, cell and seat. Towers are always visible."""
        yield from (("tower", t.name, t.at, t.holder) for t in self.towers)
        yield from (("oil", b.name, b.at, "") for b in self.barrels if lit[b.at])
        yield from (("keeper", s, k.at, s) for s, k in self.keepers.items() if k is not me and lit[k.at])

    def _map(self, lit: Sequence[bool], me: Keeper | None) -> str:
        cells = [":" if g == LAND and not lit[i] else g for i, g in enumerate(self.island.ground)]
        for kind, name, at, _ in self._visible_things(lit, me):
            cells[at] = "o" if kind == "oil" else name[1:] if kind == "tower" else name[0].upper()
        if me is not None:
            cells[me.at] = "@"
        return self.island.drawn(cells)

    def _entity(self, me: Keeper | None, kind: str, name: str, at: int, seat: SeatId) -> Entity:
        state = (f"burns for {seat}" if seat else "dark") if kind == "tower" else None
        if me is None:
            return Entity(kind, name, direction="at {},{}".format(*self.island.xy(at)), state=state)
        distance, direction = self.island.far(me.at, at), self.island.compass(me.at, at)
        return Entity(kind, name, distance, direction, state, self.island.beside(me.at, at))

    # -- helpers ----------------------------------------------------------------------------------
    def _tower(self, name: str) -> Tower:
        known = {t.name: t for t in self.towers}
        if name not in known:
            shown = name[:MAX_ECHO_CHARS]
            raise UnknownAsset(f"there is no tower {shown!r}", did_you_mean=nearest(shown, known, 3))
        return known[name]

    def _tower_beside(self, by: Seat, name: str) -> Tower:
        found = self._tower(name)
        if not self.island.beside(self.keepers[by.id].at, found.at):
            raise GameRejected(f"{name} is not beside you; go there first")
        return found

    def _barrel_beside(self, keeper: Keeper) -> Barrel | None:
        return next((b for b in self.barrels if self.island.beside(keeper.at, b.at)), None)

    def _set_out(self, by: Seat, goal: int, name: str) -> Outcome:
        me = self.keepers[by.id]
        me.path = self.island.way(me.at, goal)
        return self._private(by, f"You set out for {name}, {counted(len(me.path), 'tick')} away.")

    def _put_out(self, tower: Tower, news: str) -> Outcome:
        tower.holder, tower.oil = "", 0
        self.land = self._land()
        return Outcome(f"{tower.name} is dark.", told=tuple(self._tell(news)))

    def _tell(self, text: str, seat: SeatId = "") -> list[Told]:
        """Tell everybody, or one seat, and keep it for the next observations."""
        self.news = [*self.news[1 - MAX_NEWS :], (self.tick, seat, text)]
        return [Told(text, seats=(seat,) if seat else None)]

    def _private(self, by: Seat, message: str) -> Outcome:
        """An outcome that only the keeper itself, and viewers who see everything, are told."""
        return Outcome(message, told=(Told(f"{by.id}: {message}", seats=(by.id,)),))
