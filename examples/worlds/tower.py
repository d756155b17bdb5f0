"""A world with bodies: they sleep, die, and carry things to other worlds."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from cohabit import Arrival, Eye, GameRejected, Observation, Outcome, Seat, SeatId, WorldSpec, action
from cohabit.bodies import BodyState, Death, DepartMode, EmbodiedWorld
from cohabit.model.avatar import RespawnOption, Stance
from cohabit.model.travel import BonusRule, Lesson, Portable, Travel

TOP, HEAVY, GROUND = 8, 3, RespawnOption("ground", "spawn_point", "the ground", description="At the foot of the tower.")


class Climber(Struct):
    name: str
    height: int = 0
    stones: int = 0
    grip: int = 1  # how many missteps it survives
    where: str = "here"  # or asleep, away, gone
    climbed: int = 0
    low: bool = False  # it crouches


class Tower(EmbodiedWorld):
    """Tower. Climb, and take stones from the wall. With three stones you are too heavy for the steps near the top. You
    hear who is one step away, unless they crouch; who crouches cannot climb."""

    spec = WorldSpec(name="tower", seats=(0, 20), quick=True)
    stances = ("standing", "crouching")
    travel = Travel(
        genre=("climbing",),
        lessons={"climb": Lesson("exploration", 0.02), "achievement:top": Lesson("planning", 0.05)},
        items={"stone": Portable("material", 1)},
        bonuses=(BonusRule("grip", "exploration", factor=10, whole=True, description="missteps that you survive"),),
    )

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.climbers = {seat.id: Climber(seat.name) for seat in seats}

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(seat, body.name) for seat, body in self.climbers.items() if body.where == "here"]

    def to_move(self) -> Sequence[SeatId]:
        return [seat for seat, body in self.climbers.items() if body.where == "here" and body.grip]

    def is_over(self) -> bool:
        return False

    def observe(self, eye: Eye) -> Observation:
        own = self.climbers.get(eye.seat or "") if eye.sees != "public" else None
        near = [b.name for b in self.climbers.values() if own and b is not own and b.height == own.height and b.grip]
        asleep = f" Here: {', '.join(near)}." if near else ""
        text = f"You are {own.height} of {TOP} up, with {own.stones} stones.{asleep}" if own else "A tower."
        return Observation(text=text)

    # -- bodies: what the room asks ------------------------------------------------------------------
    def arrive(self, arrival: Arrival) -> Seat:
        if (
            arrival.returns
            and arrival.seat in self.climbers
            and self.climbers[arrival.seat].where in ("asleep", "away")
        ):
            seat = arrival.seat
            self.climbers[seat].where = "here"
        else:
            if len(self.climbers) >= 500:
                raise GameRejected("too many have climbed this tower; wait for the next game")
            seat = str(len(self.climbers) + 1)
            self.climbers[seat] = Climber(arrival.name, grip=1 + int(arrival.bonuses.get("grip", 0)))
        return Seat(seat, self.climbers[seat].name)

    def depart(self, seat: Seat, mode: DepartMode) -> None:
        self.climbers[seat.id].where = {"dormant": "asleep", "despawn": "gone"}.get(mode, "away")

    def body(self, seat: SeatId) -> BodyState:
        body = self.climbers[seat]
        dead = not body.grip
        return BodyState(
            position=(0, body.height), health=body.grip, max_health=max(1, body.grip),
            inventory={"stone": body.stones} if body.stones else {}, encumbrance=min(1, body.stones / HEAVY),
            stance="crouching" if body.low else "standing", grounded=not body.height % 2, hearing_range=1,
            unsafe="you hang on the wall" if body.height % 2 else "",
            death=Death("fall") if dead else None, respawn_options=(GROUND,) if dead else (),
        )  # fmt: skip

    def is_alive(self, seat: SeatId) -> bool:
        return self.climbers[seat].grip > 0

    def respawn(self, seat: Seat, option: str) -> Outcome:
        body = self.climbers[seat.id]
        body.grip, body.height, body.low = 1, 0, False
        return Outcome("You stand on the ground.")

    def put_items(self, seat: SeatId, item: str, count: int) -> int:
        self.climbers[seat].stones += count
        return count

    def take_items(self, seat: SeatId, item: str, count: int) -> int:
        taken = min(count, self.climbers[seat].stones)
        self.climbers[seat].stones -= taken
        return taken

    def deeds(self, seat: SeatId) -> Mapping[str, int]:
        body = self.climbers[seat]
        return {"climb": body.climbed} | ({"achievement:top": 1} if body.climbed >= TOP else {})

    # -- optional: what a body hears, its stance, and what it cannot do ---------------------------------
    def hears(self, seat: SeatId) -> Sequence[str]:
        own = self.climbers[seat]
        loud = [body for body in self.climbers.values() if body.where == "here" and body.grip and not body.low]
        steps = [body.height - own.height for body in loud]
        return [words for step, words in ((1, "somebody above"), (-1, "somebody below")) if step in steps]

    def take_stance(self, seat: Seat, stance: Stance) -> Outcome:
        body = self.climbers[seat.id]
        if body.height % 2:
            raise GameRejected("you hang on the wall; climb on first")
        body.low = stance == "crouching"
        return Outcome(f"You are {stance}.")

    def blocked_actions(self, seat: Seat) -> Mapping[str, str]:
        why = self._why_not_climb(self.climbers[seat.id])
        return {"climb": why} if why else {}

    def _why_not_climb(self, body: Climber) -> str:
        return "you are at the top" if body.height >= TOP else "you crouch; stand up first" if body.low else ""

    # -- actions -------------------------------------------------------------------------------------
    @action()
    def climb(self, by: Seat) -> Outcome:
        """Climb one step."""
        body = self._alive(by)
        if why := self._why_not_climb(body):
            raise GameRejected(why)
        if body.stones >= HEAVY and body.height >= TOP // 2:
            body.grip -= 1
            return Outcome("The step breaks." + ("" if body.grip else " You fall."), success=False)
        body.height += 1
        body.climbed += 1
        return Outcome(f"You are {body.height} up.", public=f"{body.name} climbs.")

    @action()
    def take_stone(self, by: Seat) -> Outcome:
        """Break a stone out of the wall."""
        self._alive(by).stones += 1
        return Outcome("You have another stone.")

    def _alive(self, by: Seat) -> Climber:
        if not self.climbers[by.id].grip:
            raise GameRejected("you are dead; respawn")
        return self.climbers[by.id]
