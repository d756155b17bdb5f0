"""Lanterns: keepers on a dark island. It shows what Nim does not: a clock, fog, scope, goals and pictures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct

from cohabit.model.action import Action
from cohabit.model.observation import Entity, Event, Goal, Location
from cohabit.model.suggest import nearest
from cohabit.world import (
    Eye,
    GameRejected,
    Observation,
    Outcome,
    OutOfBounds,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    Told,
    UnknownAsset,
    World,
    WorldSpec,
    action,
    query,
)  # fmt: skip
from cohabit.worlds.island import LAND, ROCK, SEA, Island, make_island
from cohabit.worlds.png import squares

CARRY, START, BARREL, POUR, TOWER_HOLDS = 20, 12, 8, 4, 12  # oil
LANTERN_TICKS, TOWER_TICKS, TIDE_TICKS = 10, 6, 10  # how long one oil burns; between two barrels
MOST_BARRELS = 8
REACH = {"evening": 4, "night": 3, "small hours": 2}
GLOW = 2  # how far a burning tower's light and claim reach
LEGEND = "~ sea  ^ rock  . lit land  : dark land  1-9 towers T1-T9  o oil  @ you  A-D keepers by initial"
PALETTE = (
    (12, 20, 48), (70, 66, 72), (34, 40, 34), (142, 132, 92), (120, 120, 128), (20, 16, 12), (245, 245, 235),
    (255, 180, 40), (70, 140, 255), (255, 100, 90), (190, 190, 215),
)  # fmt: skip
SEA_C, ROCK_C, DARK_C, LAND_C, TOWER_C, OIL_C, YOU_C, FIRST_C = range(8)
Column = Annotated[int, Range(doc="column of the chart, from 0 in the west")]
Row = Annotated[int, Range(doc="row of the chart, from 0 in the north")]
TowerName = Annotated[str, Range(doc="the tower's name, such as T2")]


class Keeper(Struct):
    at: int
    oil: int = START
    way: list[int] = []  # the cells still to walk, in order


class Tower(Struct):
    name: str
    at: int
    holder: SeatId = ""
    oil: int = 0


class Barrel(Struct):
    name: str
    at: int
    oil: int = BARREL


class TowerLine(Struct):
    """A tower as it shows to everybody."""

    tower: str
    x: int
    y: int
    burns_for: SeatId | None


class Lanterns(World):
    """Lanterns. Keepers with lanterns light the towers of a dark island; most land at dawn wins.

    Time runs by itself, a tick a second, from evening until dawn. Your keeper walks one cell a tick along
    the way you sent it on: `walk` to a cell, `go` to something by its name, or `halt`.

    Everybody has the chart: sea, rock, land and the towers T1, T2, …; a burning tower is seen from
    everywhere, and whose it is. Keepers and oil are seen only in the light of your lantern (4 cells in the
    evening, 3 at night, 2 in the small hours, 1 without oil) and of your own towers (2 cells).

    Your lantern burns 1 oil every 10 ticks. Barrels wash ashore; `gather` beside one takes what you can
    carry (20 at most). `light` a dark tower beside you for 4 oil, or feed your own; a tower holds 12 and
    burns 1 every 6 ticks. `douse` puts out a rival's tower, only when you are beside it. Beside means on
    it or on one of the eight cells around.

    Land within 2 cells of burning towers belongs to whoever's tower is nearest, and to nobody where two
    rivals' are equally near. It is over at dawn, or as soon as all towers burn for one keeper.
    """

    spec = WorldSpec(
        name="lanterns", title="Lanterns", seats=(2, 4), seat_names=("amber", "blue", "coral", "dove"),
        pace="clock", fog=True, quick=True, tick_ms=1000,
    )  # fmt: skip

    def __init__(
        self,
        size: Annotated[int, Range(9, 15, "cells on a side")] = 13,
        ticks: Annotated[int, Range(1, 100_000, "from evening to dawn")] = 240,
    ) -> None:
        self.size = size
        self.ticks = ticks

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.island: Island = make_island(Stream(seed, "island"), self.size)
        self.tide = Stream(seed, "tide")
        self.tick = 0
        self.over = False
        self.news: list[tuple[int, SeatId, str]] = []  # tick, for whom ("": for everybody), what
        homes = self.island.corners()[: len(seats)]
        sites = self.island.apart(Stream(seed, "towers"), homes, len(seats) + 1)
        self.keepers = {seat: Keeper(cell) for seat, cell in zip(self.order, homes, strict=True)}
        self.towers = [Tower(f"T{i}", cell) for i, cell in enumerate([*homes, *sites], 1)]
        for seat, tower in zip(self.order, self.towers, strict=False):
            tower.holder, tower.oil = seat, TOWER_HOLDS
        self.barrels: list[Barrel] = []
        self.washed = 0
        for _ in range(2 * len(seats)):
            self._wash_ashore()

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.over else list(self.order)

    # -- seeing -----------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        lit, me = self._lit(eye), self.keepers.get(eye.seat or "")
        status: dict[str, object] = {"dawn_in": self.ticks - self.tick, "land": self._land()}
        if me is not None:
            mine = {t.name: t.oil * TOWER_TICKS for t in self.towers if t.holder == eye.seat}
            status |= {"you": eye.seat, "light": self._reach(me), "walking": len(me.way), "your_towers": mine}
        heard = [(at, what) for at, whom, what in self.news if eye.sees == "all" or whom in ("", eye.seat)]
        return Observation(
            text=f"{self._map(lit, me)}\n{LEGEND}",
            status=status,
            inventory={"oil": me.oil} if me else {},
            location=Location(self.island.xy(me.at)) if me else None,
            nearby_entities=[self._entity(me, *thing) for thing in self._things(lit, me)],
            recent_events=[Event(f"tick {at}: {what}") for at, what in heard[-6:]],
            step=self.tick,
            time_of_day=self._hour(),
        )

    def goals(self, seat: Seat) -> Sequence[Goal]:
        land = self._land()
        best = max(n for s, n in land.items() if s != seat.id)
        hints = ["feed your towers before they burn out", "a dark tower is free to take"]
        progress = f"you {land[seat.id]}, best rival {best}"
        return [Goal("land", "Hold the most land at dawn", progress=progress, hints=hints)]

    def standings(self) -> Sequence[Standing]:
        land = self._land()
        return [Standing(s, s, land[s]) for s in sorted(self.order, key=lambda s: -land[s])]

    @query()
    def chart(self, eye: Eye) -> list[str]:
        """The island as everybody knows it, row by row: ~ sea, ^ rock, . land."""
        return [self.island.ground[i : i + self.size] for i in range(0, self.size**2, self.size)]

    @query()
    def list_towers(self, eye: Eye) -> list[TowerLine]:
        """Every tower: where it stands, and for whom it burns."""
        return [TowerLine(t.name, *self.island.xy(t.at), t.holder or None) for t in self.towers]

    def picture(self, eye: Eye) -> bytes:
        lit, me = self._lit(eye), self.keepers.get(eye.seat or "")
        bare = {SEA: SEA_C, ROCK: ROCK_C}
        ground = [bare.get(g, LAND_C if lit[i] else DARK_C) for i, g in enumerate(self.island.ground)]
        marks = list(ground)
        for kind, _, at, whose in self._things(lit, me):
            marks[at] = FIRST_C + self.order.index(whose) if whose else TOWER_C if kind == "tower" else OIL_C
        if me is not None:
            marks[me.at] = YOU_C
        return squares(self.size, ground, marks, PALETTE)

    def legal(self, seat: Seat) -> Sequence[Action]:
        me = self.keepers[seat.id]
        found = [Action("gather")] if me.oil < CARRY and self._barrel_beside(me) else []
        for tower in (t for t in self.towers if self.island.beside(me.at, t.at)):
            if tower.holder not in ("", seat.id):
                found.append(Action("douse", {"tower": tower.name}))
            elif me.oil >= POUR and tower.oil < TOWER_HOLDS:
                found.append(Action("light", {"tower": tower.name}))
        things = self._things(self._lit(Eye(seat.id, "own")), me)
        found += [Action("go", {"to": name}) for _, name, at, _ in things if at != me.at]
        steps = [self.island.xy(cell) for cell in self.island.around(me.at)]
        return [*found, *(Action("walk", {"x": x, "y": y}) for x, y in steps), Action("halt")]

    # -- acting -----------------------------------------------------------------------------------
    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        tower = next((t for t in self.towers if t.name == args.get("tower")), None)
        if tower is None or tower.holder in ("", by.id):
            return None
        if action == "light":
            return f"{tower.name} burns for {tower.holder}; all you can do is douse it, from beside it"
        near = self.island.beside(self.keepers[by.id].at, tower.at)
        return None if near else f"{tower.name} burns for {tower.holder}, and you are not beside it"

    @action(preconditions=["The cell is land"], group="move")
    def walk(self, by: Seat, x: Column, y: Row) -> Outcome:
        """Set out for a cell of the chart, by a shortest way."""
        if not (0 <= x < self.size and 0 <= y < self.size):
            raise OutOfBounds(f"the chart goes from 0,0 to {self.size - 1},{self.size - 1}")
        ground = self.island.ground[self.island.cell(x, y)]
        if ground != LAND:
            raise GameRejected(f"{x},{y} is {'sea' if ground == SEA else 'rock'}; choose land")
        return self._set_out(by, self.island.cell(x, y), f"{x},{y}")

    @action(preconditions=["It is a tower, or you see it"], group="move")
    def go(self, by: Seat, to: Annotated[str, Range(doc="name of a tower, a barrel or a keeper")]) -> Outcome:
        """Set out for something by its name, to where it is now."""
        things = self._things(self._lit(Eye(by.id, "own")), self.keepers[by.id])
        seen = {name: at for _, name, at, _ in things}
        if to not in seen:  # the same words whether it is unseen or not there at all
            raise UnknownAsset(f"you see nothing called {to[:40]!r}", did_you_mean=nearest(to[:40], seen, 3))
        return self._set_out(by, seen[to], to)

    @action(group="move")
    def halt(self, by: Seat) -> Outcome:
        """Stand still."""
        self.keepers[by.id].way = []
        return self._quietly(by, "You stand still.")

    @action(preconditions=["A barrel is beside you"], group="work")
    def gather(self, by: Seat) -> Outcome:
        """Take oil from a barrel beside you, as much as you can carry."""
        me = self.keepers[by.id]
        barrel = self._barrel_beside(me)
        if barrel is None:
            raise GameRejected("there is no oil beside you; go to a barrel first")
        if me.oil >= CARRY:
            raise GameRejected(f"you carry {CARRY} oil, and that is all you can")
        taken = min(barrel.oil, CARRY - me.oil)
        me.oil += taken
        barrel.oil -= taken
        self.barrels = [b for b in self.barrels if b.oil]
        return self._quietly(by, f"You gather {taken} oil and carry {me.oil}.")

    @action(preconditions=["The tower is beside you, not a rival's", f"You carry {POUR} oil"], group="work")
    def light(self, by: Seat, tower: TowerName) -> Outcome:
        """Light a dark tower beside you, or feed one that burns for you."""
        me, found = self.keepers[by.id], self._tower_beside(by, tower)
        if found.holder not in ("", by.id):
            raise GameRejected(f"{tower} burns for {found.holder}; douse it first")
        if me.oil < POUR:
            raise GameRejected(f"it takes {POUR} oil, and you carry {me.oil}; gather some")
        if found.oil >= TOWER_HOLDS:
            raise GameRejected(f"{tower} is full")
        fed = found.holder == by.id
        me.oil -= POUR
        found.holder, found.oil = by.id, min(TOWER_HOLDS, found.oil + POUR)
        words = f"{tower} burns for you, {found.oil * TOWER_TICKS} ticks more."
        if fed:
            return self._quietly(by, words)
        told = [*self._tell(f"{tower} burns for {by.id}"), *self._end_if_over()]
        return Outcome(words, told=tuple(told), reward=1.0)

    @action(preconditions=["The tower is beside you, and a rival's"], group="work")
    def douse(self, by: Seat, tower: TowerName) -> Outcome:
        """Put out a rival's tower beside you."""
        found = self._tower_beside(by, tower)
        if found.holder in ("", by.id):
            raise GameRejected(f"{tower} {'burns for you' if found.holder else 'is dark already'}")
        return self._put_out(found, f"{tower} was put out", 0.5)

    @action(needs="act_global", group="god")
    def storm(self, by: Seat | None, tower: TowerName) -> Outcome:
        """Let a storm blow out a tower. Only a god can."""
        return self._put_out(self._tower(tower), f"a storm leaves {tower} dark", 0.0)

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
            keeper.at = keeper.way.pop(0) if keeper.way else keeper.at
            if self.tick % LANTERN_TICKS == 0 and keeper.oil:
                keeper.oil -= 1
                if not keeper.oil:
                    yield from self._tell("your lantern goes dark", seat)
        for tower in self.towers if self.tick % TOWER_TICKS == 0 else ():
            tower.oil = max(0, tower.oil - 1)
            if tower.holder and not tower.oil:
                tower.holder = ""
                yield from self._tell(f"{tower.name} has burnt out")
        if self.tick % TIDE_TICKS == 0 and len(self.barrels) < MOST_BARRELS:
            self._wash_ashore()
        yield from self._end_if_over()

    def _end_if_over(self) -> Iterator[Told]:
        first = self.towers[0].holder
        if self.tick >= self.ticks or (first and all(t.holder == first for t in self.towers)):
            self.over = True
            land = self._land()
            best = [s for s in self.order if land[s] == max(land.values())]
            yield from self._tell(f"it is over: {' and '.join(best)} with {land[best[0]]} land")

    def _wash_ashore(self) -> None:
        shores = self.island.shores([*(t.at for t in self.towers), *(b.at for b in self.barrels)])
        if shores:
            self.washed += 1
            self.barrels.append(Barrel(f"O{self.washed}", self.tide.choice(shores)))

    # -- light ------------------------------------------------------------------------------------
    def _hour(self) -> str:
        return list(REACH)[min(2, 3 * self.tick // self.ticks)]

    def _reach(self, keeper: Keeper) -> int:
        return REACH[self._hour()] if keeper.oil else 1

    def _lit(self, eye: Eye) -> list[bool]:
        """Which cells this eye sees into."""
        lit = [eye.sees == "all"] * len(self.island.ground)
        if eye.sees == "own" and eye.seat in self.keepers:
            me = self.keepers[eye.seat]
            glows = [(t.at, GLOW) for t in self.towers if t.holder == eye.seat]
            for at, reach in [(me.at, self._reach(me)), *glows]:
                for cell, _ in self.island.disc(at, reach):
                    lit[cell] = True
        return lit

    def _land(self) -> dict[SeatId, int]:
        """How much land each holds: a cell is whoever's burning tower is nearest."""
        best: dict[int, tuple[int, SeatId]] = {}
        for tower in (t for t in self.towers if t.holder):
            for cell, far in self.island.disc(tower.at, GLOW):
                known, whose = best.get(cell, (far + 1, ""))
                if far < known:
                    best[cell] = (far, tower.holder)
                elif far == known and whose != tower.holder:
                    best[cell] = (far, "")
        owners = [whose for cell, (_, whose) in best.items() if self.island.ground[cell] == LAND]
        return {seat: owners.count(seat) for seat in self.order}

    def _things(self, lit: Sequence[bool], me: Keeper | None) -> Iterator[tuple[str, str, int, SeatId]]:
        """What shows in this light: kind, name, cell, whose. Towers are on everybody's chart."""
        yield from (("tower", t.name, t.at, t.holder) for t in self.towers)
        yield from (("oil", b.name, b.at, "") for b in self.barrels if lit[b.at])
        yield from (("keeper", s, k.at, s) for s, k in self.keepers.items() if k is not me and lit[k.at])

    def _map(self, lit: Sequence[bool], me: Keeper | None) -> str:
        cells = [":" if g == LAND and not lit[i] else g for i, g in enumerate(self.island.ground)]
        for kind, name, at, _ in self._things(lit, me):
            cells[at] = "o" if kind == "oil" else name[1:] if kind == "tower" else name[0].upper()
        if me is not None:
            cells[me.at] = "@"
        return self.island.drawn(cells)

    def _entity(self, me: Keeper | None, kind: str, name: str, at: int, whose: SeatId) -> Entity:
        state = (f"burns for {whose}" if whose else "dark") if kind == "tower" else None
        if me is None:
            return Entity(kind, name, direction="at {},{}".format(*self.island.xy(at)), state=state)
        far, way = self.island.far(me.at, at), self.island.compass(me.at, at)
        return Entity(kind, name, far, way, state, self.island.beside(me.at, at))

    # -- small things -----------------------------------------------------------------------------
    def _tower(self, name: str) -> Tower:
        known = {t.name: t for t in self.towers}
        if name not in known:
            raise UnknownAsset(f"there is no tower {name[:40]!r}", did_you_mean=nearest(name[:40], known, 3))
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
        me.way = self.island.way(me.at, goal)
        return self._quietly(by, f"You set out for {name}, {len(me.way)} ticks away.")

    def _put_out(self, tower: Tower, words: str, reward: float) -> Outcome:
        tower.holder, tower.oil = "", 0
        return Outcome(f"{tower.name} is dark.", told=tuple(self._tell(words)), reward=reward)

    def _tell(self, what: str, seat: SeatId = "") -> list[Told]:
        """Something worth knowing: kept for the next views, and told."""
        self.news = [*self.news[-30:], (self.tick, seat, what)]
        return [Told(what, seats=(seat,) if seat else None)]

    def _quietly(self, by: Seat, what: str) -> Outcome:
        """What only the keeper itself, and whoever sees all, gets to know."""
        return Outcome(what, told=(Told(f"{by.id}: {what}", seats=(by.id,)),))
