"""Worlds with bodies and every danger, in which nothing is made: what there is lies on the ground or is carried.

Caves and mines have the same rules and other items, so what leaves one has an equivalent in the other.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Struct

from cohabit.bodies import BodyState, Death, DepartMode, EmbodiedWorld
from cohabit.model.avatar import RespawnOption
from cohabit.model.travel import BonusRule, Lesson, Portable, Travel
from cohabit.world import Arrival, Eye, GameRejected, Observation, Outcome, Range, Seat, SeatId, Told, WorldSpec, action

PLACES = ("hall", "ledge", "pit")
HEALTH = 3
BODIES = 6
HOLDS = 4
"""How many items of a kind a body can carry."""
RESPAWNS = (
    RespawnOption("hall", "spawn_point", "the hall"),
    RespawnOption("bought", "checkpoint", "the pit", {"first": 1}, ["lose_item"]),
)


class CaveBody(Struct):
    """A body, in the world or out of it."""

    name: str
    place: str = "hall"
    health: int = HEALTH
    items: dict[str, int] = {}
    held: str = ""  # the item in its hand
    expresses: str = ""
    stance: str = "standing"
    out: bool = False  # its seat is closed
    asleep: bool = False  # its agent is away, and it is in the world
    gone: bool = False
    killer: str | None = None
    dropped: dict[str, int] = {}
    deeds: dict[str, int] = {}
    reward: float = 0.0

    @property
    def here(self) -> bool:
        """Whether it is in the world."""
        return self.asleep or not self.out


def _travel(first: str, second: str, third: str) -> Travel:
    return Travel(
        genre=("exploration",),
        lessons={
            "go": Lesson("exploration", 0.1), "take": Lesson("resource_management", 0.05), "hit": Lesson("combat", 0.2)
        },
        items={first: Portable("currency", 1), second: Portable("material", 2), third: Portable("weapon", 2)},
        bonuses=(BonusRule("health_bonus", "combat", factor=5, whole=True),),
    )  # fmt: skip


class Caves(EmbodiedWorld):
    """Caves. Three places: the hall, a ledge from which nobody can leave its body, and a pit. Whoever is at your place
    can hit you. Those who do not crouch are heard at the next place. The dead drop what they carry. Nothing is ever made: what one has, somebody else has not."""

    spec = WorldSpec(name="caves", seats=(0, BODIES), quick=True)
    travel = _travel("gold", "ore", "blade")
    avatars_per_agent = 3
    stances = ("standing", "crouching", "sitting")
    ITEMS: ClassVar[tuple[str, ...]] = ("gold", "ore", "blade")

    def __init__(self, each: Annotated[int, Range(0, 100)] = 5, respawns: bool = True) -> None:
        self.each = each  # items of each kind, in the hall
        self.respawns = respawns  # whether the dead can come back

    # -- seats -------------------------------------------------------------------------------------
    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.ground: dict[str, dict[str, int]] = {place: {} for place in PLACES}
        self.ground["hall"] = dict.fromkeys(self.ITEMS, self.each)
        self.bodies: dict[SeatId, CaveBody] = {str(n): CaveBody(seat.name) for n, seat in enumerate(seats, 1)}
        self.destroyed: dict[str, int] = {}  # with bodies that were despawned
        self.barred = False

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(seat, body.name) for seat, body in self.bodies.items() if not body.out]

    def why_not_arrive(self, arrival: Arrival, leaves: SeatId | None = None) -> str:
        """It does not tell whether the caves are full: that depends on how the other body is left."""
        return "the door is barred; wait until it is opened" if self.barred else ""

    def arrive(self, arrival: Arrival) -> Seat:
        if why := self.why_not_arrive(arrival):
            raise GameRejected(why)
        if arrival.returns and arrival.seat in self.bodies and not self.bodies[arrival.seat].gone:
            body = self.bodies[arrival.seat]
            body.out = body.asleep = False
            return Seat(arrival.seat, body.name)
        if arrival.seat is not None and not arrival.returns:
            raise GameRejected("seats cannot be chosen here")
        if sum(body.here for body in self.bodies.values()) >= BODIES:
            raise GameRejected("the caves are full")
        seat = str(len(self.bodies) + 1)
        place = "pit" if arrival.spawn == "challenging" else "hall"
        health = HEALTH + int(arrival.bonuses.get("health_bonus", 0))
        self.bodies[seat] = CaveBody(arrival.name, place, health)
        return Seat(seat, arrival.name)

    def depart(self, seat: Seat, mode: DepartMode) -> None:
        body = self.bodies[seat.id]
        body.out, body.asleep = True, mode == "dormant" and body.health > 0
        if mode == "despawn":
            body.gone, body.health = True, 0
            _move(body.items, self.destroyed)
            self._let_go(body)

    def to_move(self) -> Sequence[SeatId]:
        return [seat for seat, body in self.bodies.items() if not body.out and body.health > 0]

    def is_over(self) -> bool:
        return False

    # -- bodies ------------------------------------------------------------------------------------
    def body(self, seat: SeatId) -> BodyState:
        body = self.bodies[seat]
        dead = body.health <= 0 and not body.gone
        falling = body.place == "ledge" and body.here and body.health > 0
        return BodyState(
            position=(PLACES.index(body.place),), health=max(0, body.health), max_health=HEALTH,
            inventory=dict(body.items), equipment={"hand": body.held} if body.held else {}, stance=body.stance,
            grounded=not falling, hearing_range=1, injuries=("wounded",) if 0 < body.health < HEALTH else (),
            encumbrance=max([*body.items.values(), 0]) / HOLDS, unsafe="you would fall" if falling else "",
            death=Death("combat", body.killer, dict(body.dropped)) if dead else None,
            respawn_options=RESPAWNS if dead and self.respawns else (),
        )  # fmt: skip

    def respawn(self, seat: Seat, option: str) -> Outcome:
        body = self.bodies[seat.id]
        first = self.ITEMS[0]
        if option == "bought":
            if not body.items.get(first):
                raise GameRejected(f"that costs 1 {first}, which you do not have")
            _move({first: 1}, self.ground["hall"], body.items)
            self._let_go(body)
        body.health, body.killer, body.dropped, body.stance = HEALTH, None, {}, "standing"
        body.place = "pit" if option == "bought" else "hall"
        return Outcome("you live")

    def put_items(self, seat: SeatId, item: str, count: int) -> int:
        items = self.bodies[seat].items
        taken = min(count, max(0, HOLDS - items.get(item, 0)))
        if taken:
            items[item] = items.get(item, 0) + taken
        return taken

    def take_items(self, seat: SeatId, item: str, count: int) -> int:
        items = self.bodies[seat].items
        taken = min(count, items.get(item, 0))
        _move({item: taken}, {}, items)
        self._let_go(self.bodies[seat])
        return taken

    def deeds(self, seat: SeatId) -> Mapping[str, int]:
        return dict(self.bodies[seat].deeds)

    def turn_to(self, seat: Seat, target: str) -> Outcome:
        if target == "abyss":  # a bug of this world: it has changed something when it refuses
            self.bodies[seat.id].place = "pit"
        if target not in PLACES:
            raise GameRejected(f"look at one of: {', '.join(PLACES)}")
        return Outcome()

    def express(self, seat: Seat, emote: str) -> None:
        self.bodies[seat.id].expresses = emote

    def witnesses(self, seat: SeatId) -> tuple[SeatId, ...]:
        place = self.bodies[seat].place
        return tuple(other for other, body in self.bodies.items() if body.here and body.place == place)

    def hears(self, seat: SeatId) -> Sequence[str]:
        here = PLACES.index(self.bodies[seat].place)
        loud = [b for b in self.bodies.values() if not b.out and b.health > 0 and b.stance != "crouching"]
        return [f"somebody in the {b.place}" for b in loud if abs(PLACES.index(b.place) - here) == 1]

    def blocked_actions(self, seat: Seat) -> Mapping[str, str]:
        body = self.bodies[seat.id]
        blocked = {} if body.items else {"put": "you carry nothing"}
        return blocked if any(self.ground[body.place].values()) else blocked | {"take": "nothing lies here"}

    def take_stance(self, seat: Seat, stance: str) -> Outcome:
        body = self.bodies[seat.id]
        if body.place == "ledge":
            raise GameRejected("you would fall; go somewhere else first")
        body.stance = stance
        return Outcome(f"You are {stance}.")

    def wear(self, seat: Seat, item: str) -> Outcome:
        body = self.bodies[seat.id]
        if item not in body.items:
            raise GameRejected("you do not have that")
        body.held = item
        return Outcome(f"You hold the {item}.")

    def take_off(self, seat: Seat, slot: str) -> Outcome:
        body = self.bodies[seat.id]
        if not body.held or slot not in ("hand", body.held):
            raise GameRejected("your hand is empty")
        body.held = ""
        return Outcome("Your hand is empty.")

    def _let_go(self, body: CaveBody) -> None:
        """Nobody holds what it does not have."""
        if body.held not in body.items:
            body.held = ""

    def returns(self) -> Mapping[SeatId, float]:
        return {seat: body.reward for seat, body in self.bodies.items() if body.reward}

    # -- actions -----------------------------------------------------------------------------------
    @action()
    def go(self, by: Seat, place: str) -> Outcome:
        """Go to another place."""
        body = self._alive(by)
        if place not in PLACES:
            raise GameRejected(f"go to one of: {', '.join(PLACES)}")
        body.place = place
        return self._done(body, "go", f"you are in the {place}")

    @action()
    def take(self, by: Seat, item: str) -> Outcome:
        """Take an item that lies here."""
        body = self._alive(by)
        if not self.ground[body.place].get(item) or body.items.get(item, 0) >= HOLDS:
            raise GameRejected("you cannot take that here")
        _move({item: 1}, body.items, self.ground[body.place])
        return self._done(body, "take", f"you take 1 {item}")

    @action()
    def put(self, by: Seat, item: str) -> Outcome:
        """Put an item on the ground."""
        body = self._alive(by)
        if not body.items.get(item):
            raise GameRejected("you do not have that")
        _move({item: 1}, self.ground[body.place], body.items)
        self._let_go(body)
        return Outcome(f"you put down 1 {item}")

    @action()
    def hit(self, by: Seat, whom: SeatId) -> Outcome:
        """Hit the body of another seat, awake or asleep."""
        body, other = self._alive(by), self.bodies.get(whom)
        if other is None or other is body or not other.here or other.health <= 0 or other.place != body.place:
            raise GameRejected("it is not here")
        other.health -= 1
        if other.health <= 0:
            other.killer = body.name
            other.dropped = dict(other.items)
            _move(dict(other.items), self.ground[other.place], other.items)
            self._let_go(other)
        return self._done(body, "hit", "you hit", (Told("you are hit", "danger", (whom,)),))

    @action()
    def jump(self, by: Seat) -> Outcome:
        """Die with everything that you carry still on you."""
        body = self._alive(by)
        body.health, body.killer = 0, None
        return self._done(body, "jump", "you jump")

    @action(needs="act_global")
    def bar(self, by: Seat | None, barred: bool) -> Outcome:
        """Bar the door, or open it."""
        self.barred = barred
        return Outcome("done")

    @action()
    def collapse(self, by: Seat) -> Outcome:
        """A bug of this world: it has changed something when it fails."""
        self._alive(by).items["rubble"] = 99
        raise RuntimeError("the ceiling has come down")

    def _done(self, body: CaveBody, deed: str, message: str, told: tuple[Told, ...] = ()) -> Outcome:
        body.deeds[deed] = body.deeds.get(deed, 0) + 1
        body.reward += 1.0
        return Outcome(message, told=told)

    def _alive(self, by: Seat) -> CaveBody:
        body = self.bodies[by.id]
        if body.health <= 0:
            raise GameRejected("you are dead")
        return body

    # -- views -------------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        if eye.seat is None or eye.sees == "public":
            shown = msgspec.to_builtins(self.bodies) if eye.sees == "all" else {}
            return Observation(text=f"{len(self.seats_now())} in the caves", status=shown)
        body = self.bodies[eye.seat]
        near = [other.name for other in self.bodies.values() if other.here and other.place == body.place]
        return Observation(
            text=f"you are in the {body.place} with {', '.join(near)}",
            inventory=dict(body.items),
            status={"ground": dict(self.ground[body.place])},
        )

    # -- for tests ---------------------------------------------------------------------------------
    def all_items(self) -> dict[str, int]:
        """How many items of each kind there are, wherever they are."""
        found: dict[str, int] = {}
        for pile in (*self.ground.values(), self.destroyed, *(body.items for body in self.bodies.values())):
            for item, count in pile.items():
                found[item] = found.get(item, 0) + count
        return found


class Mines(Caves):
    """Mines. As caves, with other items."""

    spec = WorldSpec(name="mines", seats=(0, BODIES), quick=True)
    travel = _travel("coin", "iron", "axe")
    ITEMS = ("coin", "iron", "axe")


class TurnCaves(Caves):
    """Caves. As caves, and the one that has done least is to move.."""

    spec = WorldSpec(name="turn_caves", seats=(0, BODIES), pace="turns", quick=True)

    def to_move(self) -> Sequence[SeatId]:
        return sorted(super().to_move(), key=lambda seat: sum(self.bodies[seat].deeds.values()))[:1]


def _move(what: dict[str, int], to: dict[str, int], out_of: dict[str, int] | None = None) -> None:
    source: Any = what if out_of is None else out_of
    for item, count in list(what.items()):
        if count:
            source[item] -= count
            to[item] = to.get(item, 0) + count
            if not source[item]:
                del source[item]
