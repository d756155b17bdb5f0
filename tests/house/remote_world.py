"""Remote worlds for the tests: a depot that runs elsewhere, and the connector to it.

The connector keeps a tiny world, so that the tests see what arrives there, and can hold or lose an answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from cohabit.errors import OutcomeUnknown, ScopeViolation, UnknownAsset, UnknownCommand, Unreachable
from cohabit.remote import Ask, Plan, Polled, RemoteWorld, Sent, SeparateWorld
from cohabit.world import Eye, Observation, Outcome, Range, Seat, SeatId, Told, WorldSpec, action, query

DEPOT, WORKSHOPS = (f"{Path(__file__)}:{name}" for name in ("Depot", "Workshops"))
FREE = 9
"""Crates that fit into a bay at once."""


class Bay(Struct, frozen=True):
    id: str
    crates: int


class Site(Struct, frozen=True):
    """The depot as it was last polled."""

    number: int = 0
    bays: tuple[Bay, ...] = ()


class Depot(RemoteWorld):
    """A depot. Each seat is a bay, and stores crates in it."""

    spec = WorldSpec(name="depot", title="The depot", seats=0, fog=True, quick=True)
    refresh_after = ("rebuild",)
    how_to_connect = "start it with `depot connect`"

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.site = Site()
        self.about: dict[str, str] = {}
        self.reachable = False
        self.pending: Sent | None = None

    def poll(self) -> Plan:
        found = msgspec.convert((yield Ask("site")), Site)
        return None if found == self.site else msgspec.to_builtins(found)

    def polled(self, state: Mapping[str, Any]) -> Polled:
        before, self.site = self.site, msgspec.convert(state, Site)
        old, new = ([bay.id for bay in site.bays] for site in (before, self.site))
        told = [Told(f"{bay} has opened") for bay in new if bay not in old]
        told += [Told(f"{bay} has closed") for bay in old if bay not in new]
        return Polled(told, replaced=bool(before.number) and before.number != self.site.number)

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        if answer.get("garbled"):
            raise KeyError("the depot answered nonsense")
        text = f"{sent.action} {answer.get('crates', '')}".strip()
        return Outcome(text, public=text if sent.action == "ring" else "", data=dict(answer))

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(bay.id, bay.id) for bay in self.site.bays]

    def to_move(self) -> Sequence[SeatId]:
        return [bay.id for bay in self.site.bays]

    def is_over(self) -> bool:
        return False

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        return "a bay stores no dragons" if args.get("label") == "dragons" else None

    def observe(self, eye: Eye) -> Observation:
        lines = [f"{bay.id}: {bay.crates} crates{' (yours)' * (bay.id == eye.seat)}" for bay in self.site.bays]
        return Observation(text="\n".join(["connected" if self.reachable else "not connected", *lines]))

    @query()
    def weather(self, eye: Eye) -> Plan:
        """What the sky looks like there."""
        return (yield Ask("weather"))

    @query()
    def inventory(self, eye: Eye) -> Plan:
        """The crates you may know of."""
        found = yield Ask("inventory")
        return found if eye.sees == "all" else {eye.seat: found.get(eye.seat or "")}

    @query()
    def broken(self, eye: Eye) -> Plan:
        """A query that fails."""
        yield Ask("weather")
        raise KeyError("a secret")

    @action(gives=dict)
    def store(
        self, by: Seat | None, crates: Annotated[int, Range(1, 99)], label: str = "", fragile: bool = False
    ) -> Plan:
        """Put crates into your bay, if they fit."""
        if by is None:
            return
        free = yield Ask("free", {"bay": by.id})
        if crates > free["crates"]:
            raise ScopeViolation(f"{free['crates']} crates fit into {by.id}")

    @action(category="control", gives=dict)
    def ring(self, by: Seat | None) -> Plan:
        """Ring the bell, for everybody to hear."""
        yield from ()

    @action(needs="act_global", gives=dict)
    def rebuild(self, by: Seat | None) -> Plan:
        """Tear the depot down and build another one."""
        yield from ()


class Workshops(SeparateWorld, Depot):
    """Workshops. Each member works in one of its own."""

    spec = WorldSpec(name="workshops", title="The workshops", seats=0, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        super().reset(seed, seats)
        self.sent: dict[str, Sent] = {}


class FakeConnector:
    """``then`` says what happens to the next request of a name: "hold" it until ``release``, "lose" the answer after it
    was done, raise an error, or give another answer. ``asked`` are the requests that came, ``done`` the actions."""

    poll_ms = 5_000

    def __init__(self) -> None:
        self.number = 1
        self.bays = {"north": 0, "south": 0}
        self.asked: list[str] = []
        self.done: list[tuple[str, dict[str, Any]]] = []
        self.behalf: list[str | None] = []  # on whose behalf each request came
        self.removed: list[str] = []
        self.closed: list[bool] = []
        self.answers = True
        self.unknown: set[str] = set()  # requests that the other side is too old for
        self.max_at_once = self._at_once = 0
        self._arrivals: asyncio.Queue[str] = asyncio.Queue()
        self._held: list[asyncio.Event] = []
        self._next: dict[str, list[Any]] = {}

    def then(self, name: str, *what: Any) -> None:
        self._next.setdefault(name, []).extend(what)

    def release(self) -> None:
        held, self._held = self._held, []
        for event in held:
            event.set()

    async def arrival(self, name: str) -> None:
        """Wait until this request has arrived."""
        while await self._arrivals.get() != name:
            pass

    def forget(self) -> None:
        """Begin to count: what has arrived so far does not matter."""
        self.asked.clear()
        self.behalf.clear()
        self._arrivals = asyncio.Queue()

    def names(self) -> list[str]:
        return [name for name, _ in self.done]

    # -- the connector ----------------------------------------------------------------------------
    async def about(self) -> dict[str, str]:
        if not self.answers:
            raise Unreachable("the depot does not answer")
        return {"version": "1.0"}

    def check(self, ask: Ask) -> None:
        if ask.name in self.unknown:
            raise UnknownCommand(f"the depot is too old for {ask.name}")

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        if not self.answers:
            raise Unreachable("the depot does not answer")
        self.asked.append(ask.name)
        self.behalf.append(by)
        self._arrivals.put_nowait(ask.name)
        self._at_once += 1
        self.max_at_once = max(self.max_at_once, self._at_once)
        try:
            return await self._answer(ask)
        finally:
            self._at_once -= 1

    def member_removed(self, member: str) -> None:
        self.removed.append(member)

    async def close(self, delete: bool = False) -> None:
        self.closed.append(delete)

    async def _answer(self, ask: Ask) -> dict[str, Any]:
        planned = self._next.get(ask.name)
        what = planned.pop(0) if planned else None
        if what == "hold":
            event = asyncio.Event()
            self._held.append(event)
            await event.wait()
        if isinstance(what, Exception):
            raise what
        if isinstance(what, dict):
            return what
        answer: dict[str, Any] = getattr(self, f"_{ask.name}")(ask.args)
        if ask.name in ("store", "ring", "rebuild"):
            self.done.append((ask.name, ask.args))
        if what == "lose":
            raise OutcomeUnknown("no answer came")
        return answer

    # -- the depot --------------------------------------------------------------------------------
    def _site(self, args: dict[str, Any]) -> dict[str, Any]:
        bays = [{"id": bay, "crates": crates} for bay, crates in self.bays.items()]
        return {"number": self.number, "bays": bays}

    def _weather(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"sky": "grey"}

    def _inventory(self, args: dict[str, Any]) -> dict[str, Any]:
        return dict(self.bays)

    def _free(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"crates": FREE}

    def _store(self, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("label") == "unheard-of":
            raise UnknownAsset("there is no such label", did_you_mean=["fruit"])
        return {"crates": args["crates"]}

    def _ring(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"rung": True}

    def _rebuild(self, args: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        self.bays = {"east": 0, "west": 0}
        return {"number": self.number}
