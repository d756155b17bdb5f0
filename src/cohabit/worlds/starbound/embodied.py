"""The bodies of the planet world: they arrive, leave, sleep, die, come back, and carry things in and out."""

from collections.abc import Mapping, Sequence

from cohabit.bodies import BodyState, Death, DepartMode
from cohabit.errors import GameRejected
from cohabit.model.avatar import Stance
from cohabit.world import Arrival, Outcome, Seat, SeatId, Stream
from cohabit.worlds.newcomers import unique_name, why_not_new_body
from cohabit.worlds.starbound import harm, maps, saves
from cohabit.worlds.starbound.actions import PlanetActions
from cohabit.worlds.starbound.body import MAX_VITAL, Body
from cohabit.worlds.starbound.building import DIRECTIONS
from cohabit.worlds.starbound.choices import Choice
from cohabit.worlds.starbound.environment import is_submerged
from cohabit.worlds.starbound.items import ITEM, PIXELS, SWORDS
from cohabit.worlds.starbound.land import Land, across, landing_site
from cohabit.worlds.starbound.legal import blocked
from cohabit.worlds.starbound.planets import SHIP, WIDTH
from cohabit.worlds.starbound.senses import HEARING, heard, nearest_tile, view_of
from cohabit.worlds.starbound.status import vision_range
from cohabit.worlds.starbound.tiles import LADDER, LIQUIDS
from cohabit.worlds.starbound.travel import TRAVEL
from cohabit.worlds.words import with_article

MAX_PLAYERS = 100
CHALLENGE = "dune"  # where bodies land that ask for a challenge
DANGER = 5  # tiles within which a hostile creature makes a body unsafe
JUST_NOW = 2  # steps after a blow in which a body cannot be left, so that leaving is no way to dodge the next one


class PlanetBodies(PlanetActions):
    """The methods of the contract of worlds with bodies."""

    travel = TRAVEL
    stances = ("standing", "crouching")
    chosen: dict[SeatId, Choice]

    def _new_body(self, name: str) -> Body:
        number = len(self.game.bodies) + 1
        body = self.game.add_body(unique_name(name, number, {body.name for body in self.game.bodies}))
        maps.look_around(self.game, body)
        return body

    def _body_of(self, seat: SeatId) -> Body:
        return self.game.bodies[int(seat) - 1]

    def _present(self) -> list[Body]:
        """The bodies that somebody controls, also dead ones."""
        return [body for body in self.game.bodies if body.presence == "awake"]

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(body.seat, body.name) for body in self._present()]

    def why_not_arrive(self, arrival: Arrival, leaves: SeatId | None = None) -> str:
        if self._woken(arrival) is not None:
            return ""
        present = sum(body.seat != leaves for body in self._present())
        return why_not_new_body(arrival, self.is_over(), present, MAX_PLAYERS, len(self.game.bodies), saves.MAX_BODIES)

    def arrive(self, arrival: Arrival) -> Seat:
        if why := self.why_not_arrive(arrival):
            raise GameRejected(why)
        if (waiting := self._woken(arrival)) is not None:
            waiting.harm = arrival.damage
            return self._wake(waiting)
        body = self._new_body(arrival.name)
        self._apply_bonuses(body, arrival.bonuses)
        body.harm = arrival.damage
        self._land(body, arrival.spawn)
        return Seat(body.seat, body.name)

    def _land(self, body: Body, spawn: str) -> None:
        """Place a new body: at the landing site, anywhere on the first planet, or on a harder one."""
        if spawn == "random":
            first = Stream(self.game.seed, f"spawn {body.number}").below(WIDTH)
            body.x, body.y = landing_site(self.game.land_of(body), body.number, first)
        elif spawn == "challenging":
            body.place = body.orbit = CHALLENGE
            body.x, body.y = landing_site(self.game.land_of(body), body.number)
            body.tally = {"planets": 1, f"visit:{CHALLENGE}": 1}
            body.explored = {}
        self.game.explore(body)
        maps.forget(self.game, body)
        maps.look_around(self.game, body)

    def _woken(self, arrival: Arrival) -> Body | None:
        """The body that wakes up when a player returns."""
        return self._waiting(arrival.seat) if arrival.returns and arrival.seat is not None else None

    def _waiting(self, seat: SeatId) -> Body | None:
        """The body of this seat, if it waits for its player."""
        known = seat.isascii() and seat.isdecimal() and 1 <= int(seat) <= len(self.game.bodies)
        body = self._body_of(seat) if known else None
        return body if body is not None and body.presence in ("dormant", "suspended") else None

    def _wake(self, body: Body) -> Seat:
        land = self.game.land_of(body)
        if body.presence == "suspended" and body.alive and not land.is_open(body.x, body.y):
            body.y = land.top(body.x)  # somebody has built there since
        body.presence = "awake"
        body.events = [("info", "You wake up.")]
        return Seat(body.seat, body.name)

    def _apply_bonuses(self, body: Body, bonuses: Mapping[str, float]) -> None:
        body.scanner = max(0, min(6, int(bonuses.get("scanner_range", 0))))
        body.price = max(0.5, min(1.0, bonuses.get("price_modifier", 1.0)))
        body.max_health = max(1, min(1000, round(body.max_health * (1 + bonuses.get("health", 0.0)))))
        body.health = body.max_health
        tier = int(bonuses.get("weapon_tier", 0))
        if tier >= 1:
            sword = SWORDS[min(tier, len(SWORDS)) - 1]
            body.add(sword)
            body.equipment["weapon"] = sword

    def depart(self, seat: Seat, mode: DepartMode) -> None:
        body = self._body_of(seat.id)
        body.crouching = False
        self.chosen.pop(seat.id, None)
        if mode == "dormant":
            body.presence = "dormant"
        elif mode == "despawn":
            body.presence, body.items, body.equipment, body.locker = "gone", {}, {}, {}
            maps.forget(self.game, body)
        else:
            body.presence = "suspended"

    # -- what the room asks --------------------------------------------------------------------------------------------
    def body(self, seat: SeatId) -> BodyState:
        body = self._body_of(seat)
        land = self.game.land_of(body)
        return BodyState(
            position=(float(body.x), float(body.y)),
            health=float(body.health),
            max_health=float(body.max_health),
            inventory=dict(body.items),
            equipment=dict(body.equipment),
            facing="right" if body.facing > 0 else "left",
            stance=_stance(land, body),
            grounded=land.is_supported(body.x, body.y),
            vision_range=vision_range(body),
            hearing_range=float(HEARING),
            injuries=_injuries(land, body),
            fatigue=1 - body.energy / MAX_VITAL,
            unsafe=self._unsafe(body) if body.alive else "",
            death=Death(body.fate.cause, body.fate.killer, dict(body.fate.dropped)) if body.fate else None,
            respawn_options=harm.respawn_options(self.game, body) if body.fate and body.presence != "gone" else (),
            respawn_point=(float(body.bed[1]), float(body.bed[2])) if body.bed else None,
        )

    def is_alive(self, seat: SeatId) -> bool:
        return self._body_of(seat).alive

    def _unsafe(self, body: Body) -> str:
        """Why a body cannot be left now. It says nothing of what the body does not see."""
        land = self.game.land_of(body)
        if not land.is_supported(body.x, body.y):
            return "you are falling"
        if is_submerged(land, body):
            return "you are under water"
        if body.struck_at is not None and self.game.step_number - body.struck_at <= JUST_NOW:
            return "you were just hurt"
        for thing in view_of(self.game, body).things:
            if thing.state == "hostile" and abs(thing.x) + abs(thing.y) <= DANGER:
                return f"{with_article(thing.name)} is near"
        return ""

    def respawn(self, seat: Seat, option: str) -> Outcome:
        body = self._body_of(seat.id)
        if body.fate is None:
            raise GameRejected("you are alive")
        known = {choice.id: choice for choice in harm.respawn_options(self.game, body)}
        if option not in known:
            raise GameRejected(f"you can respawn at: {', '.join(known)}")
        cost = (known[option].cost or {}).get(PIXELS, 0)
        if body.items.get(PIXELS, 0) < cost:
            raise GameRejected(f"that costs {cost} pixels and you have {body.items.get(PIXELS, 0)}")
        harm.respawn(self.game, body, option)
        return Outcome(f"You are alive again, at {known[option].location if option != 'corpse' else 'that place'}.")

    def put_items(self, seat: SeatId, item: str, count: int) -> int:
        return self._body_of(seat).add(item, count) if item in ITEM else 0

    def take_items(self, seat: SeatId, item: str, count: int) -> int:
        return self._body_of(seat).remove(item, count)

    def deeds(self, seat: SeatId) -> Mapping[str, int]:
        body = self._body_of(seat)
        return body.tally | {f"achievement:{name}": 1 for name in body.achievements}

    def turn_to(self, seat: Seat, target: str) -> Outcome:
        body = self._body_of(seat.id)
        if target in DIRECTIONS:
            dx, where = DIRECTIONS[target][0], target
        else:
            dx, where = self._seen(body, target)
        if dx:
            body.facing = 1 if dx > 0 else -1
        return Outcome(f"You look {where}.")

    def _seen(self, body: Body, target: str) -> tuple[int, str]:
        """The distance to the right of the nearest thing or tile of this name, and a phrase for looking at it."""
        view = view_of(self.game, body)
        for thing in view.things:
            if target in (thing.name, thing.name.removeprefix("player ")):
                return thing.x, f"at {target}" if thing.name.startswith("player ") else f"at the {target}"
        spot = nearest_tile(view.rows, target)
        if spot is None:
            raise GameRejected(f"there is no {target[:40]!r} in sight; name a direction or something you see")
        return spot[0], f"at the {target}"

    def hears(self, seat: SeatId) -> Sequence[str]:
        body = self._body_of(seat)
        return heard(self.game, body, view_of(self.game, body))

    def blocked_actions(self, seat: Seat) -> Mapping[str, str]:
        return blocked(self.game, self._body_of(seat.id))

    def take_stance(self, seat: Seat, stance: Stance) -> Outcome:
        body = self._body_of(seat.id)
        now = _stance(self.game.land_of(body), body)
        if stance == "crouching" and now not in self.stances:
            raise GameRejected(f"you cannot crouch while you are {now}")
        body.crouching = stance == "crouching"
        return Outcome(f"You are {stance}.")

    def express(self, seat: Seat, emote: str) -> None:
        self._body_of(seat.id).emote = emote

    def witnesses(self, seat: SeatId) -> tuple[SeatId, ...]:
        body = self._body_of(seat)
        if body.place == SHIP:
            return ()
        name = f"player {body.name}"
        near = [
            other for other in self._present()
            if other is not body and other.alive and other.place == body.place and abs(across(other.x, body.x)) <= 14
        ]  # fmt: skip
        return tuple(o.seat for o in near if any(thing.name == name for thing in view_of(self.game, o).things))


def _stance(land: Land, body: Body) -> str:
    here = land.at(body.x, body.y)
    if not body.alive or body.presence == "dormant":
        return "prone"
    if here in LIQUIDS or here == LADDER:
        return "climbing" if here == LADDER else "swimming"
    if not land.is_supported(body.x, body.y):
        return "falling"
    return "crouching" if body.crouching else "standing"


def _injuries(land: Land, body: Body) -> tuple[str, ...]:
    """The injuries of a living body; none if it is dead."""
    found = {
        "badly wounded": body.health <= body.max_health // 4,
        "wounded": body.max_health // 4 < body.health <= body.max_health // 2,
        "poisoned": body.poison > 0,
        "starving": body.food == 0,
        "drowning": body.breath == 0 and is_submerged(land, body),
    }
    return tuple(injury for injury, has in found.items() if has and body.alive)
