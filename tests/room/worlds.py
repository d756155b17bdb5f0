"""Tiny worlds for the tests: one per pace, and one for each kind of mistake that a world can make."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cohabit.room.base import WorldInterrupted
from cohabit.world import (
    Eye,
    GameRejected,
    Goal,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Told,
    World,
    WorldSpec,
    action,
    query,
)  # fmt: skip


class Secrets(World):
    """Pace step, with fog. Each seat keeps numbers that no other seat may see, and anybody may shout."""

    spec = WorldSpec(name="secrets", seats=(2, 4), seat_names=("red", "blue", "green"), fog=True, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.kept: dict[SeatId, list[int]] = {seat.id: [] for seat in seats}
        self.shouts: list[str] = []
        self.over = False

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.over else list(self.kept)

    def observe(self, eye: Eye) -> Observation:
        seen = self.kept if eye.sees == "all" else {}
        if eye.sees == "own" and eye.seat is not None:
            seen = {eye.seat: self.kept[eye.seat]}
        lines = [f"{seat} keeps {numbers}" for seat, numbers in seen.items()]
        return Observation(text="\n".join([*self.shouts, *lines]) or "silence", status={"kept": dict(seen)})

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        target = args.get("target")
        return f"{target} is not yours" if target not in (None, by.id) else None

    @action()
    def hide(self, by: Seat, n: int) -> Outcome:
        """Keep a number to yourself."""
        self.kept[by.id].append(n)
        return Outcome(f"you keep {n}", told=(Told(f"{by.id} keeps {n}", seats=(by.id,)),))

    @action()
    def mumble(self, by: Seat, n: int) -> Outcome:
        """Keep a number without telling anybody of it."""
        self.kept[by.id].append(n)
        return Outcome(f"you mumble {n}")

    @action()
    def shout(self, by: Seat | None, text: str) -> Outcome:
        """Say something to everybody."""
        self.shouts.append(f"{by.id if by else 'heaven'}: {text}")
        return Outcome("you shout", public=self.shouts[-1])

    @action()
    def strike(self, by: Seat | None, target: str) -> Outcome:
        """Empty a seat's hoard: your own, unless you are a god."""
        if target not in self.kept:
            raise GameRejected(f"there is no {target}")
        self.kept[target] = []
        return Outcome(public=f"lightning strikes {target}")

    @action()
    def break_down(self, by: Seat | None) -> Outcome:
        """Change much, then fail."""
        self.kept = {"nobody": [1]}
        self.shouts.append("half done")
        raise ZeroDivisionError("the secret is 42")

    @action(raw=True)
    def anything(self, by: Seat, given: Any = None) -> Outcome:
        """Take any value."""
        self.shouts.append(f"{given!r}"[:40])
        return Outcome(public=self.shouts[-1])

    @action()
    def weigh(self, by: Seat, grams: float) -> Outcome:
        """A number that is not whole."""
        self.shouts.append(f"{grams}")
        return Outcome(public=self.shouts[-1])

    @action(needs="control_world")
    def finish(self, by: Seat | None) -> Outcome:
        """End the game."""
        self.over = True
        return Outcome(public="the end")

    @action()
    def open(self, by: Seat) -> Outcome:
        """An ordinary action that has the name of something the house does."""
        self.shouts.append(f"{by.id} opens the door")
        return Outcome(public=self.shouts[-1])

    @query()
    def numbers(self, eye: Eye) -> dict[str, list[int]]:
        """The numbers this eye sees."""
        kept: dict[str, list[int]] = self.observe(eye).status["kept"]
        return kept

    @query()
    def trouble(self, eye: Eye) -> int:
        """A question that cannot be answered."""
        raise LookupError("the secret is 42")

    def standings(self) -> Sequence[Standing]:
        said = {seat: sum(s.startswith(f"{seat}:") for s in self.shouts) for seat in self.kept}
        return [Standing(seat, seat, said[seat]) for seat in sorted(said, key=lambda s: -said[s])]


class Realms(World):
    """Pace step. Seats open and close while it runs."""

    spec = WorldSpec(name="realms", seats=0, fog=True, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.alive: list[SeatId] = []
        self.deeds: list[str] = []

    def to_move(self) -> Sequence[SeatId]:
        return [*self.alive, "gods"]

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(name, name.title()) for name in self.alive]

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"{eye.seat or 'nobody'} sees {eye.sees}", status={"seat": eye.seat, "sees": eye.sees})

    @action(needs="act_global")
    def rise(self, by: Seat | None, name: str) -> Outcome:
        """A realm is founded."""
        self.alive.append(name)
        return Outcome(public=f"{name} rises")

    @action(needs="act_global")
    def fall(self, by: Seat | None, name: str) -> Outcome:
        """A realm is gone."""
        self.alive.remove(name)
        return Outcome(public=f"{name} falls")

    @action()
    def build(self, by: Seat | None, where: str = "anywhere") -> Outcome:
        """Build, in the own realm or, as a god, anywhere."""
        self.deeds.append(f"{by.id if by else 'god'} builds {where}")
        return Outcome(public=self.deeds[-1])

    @action()
    def pray(self, by: Seat) -> Outcome:
        """Only somebody with a realm can do this."""
        self.deeds.append(f"{by.id} prays")
        return Outcome(public=self.deeds[-1])

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        where = args.get("where", "anywhere")
        return f"{where} is not in {by.id}" if where not in ("anywhere", by.id) else None


class Founded(Realms):
    """Realms that are there from the start: the seed decides how many, and which."""

    spec = WorldSpec(name="founded", seats=0, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        super().reset(seed, seats)
        self.alive = [f"realm-{seed}-{number}" for number in range(seed % 3)]


class Bids(World):
    """Pace rounds. Everybody bids, and may bid again until the round is worked out; the highest wins it."""

    spec = WorldSpec(name="bids", seats=2, seat_names=("a", "b"), pace="rounds", quick=True)

    def __init__(self, rounds: int = 2) -> None:
        self.rounds = rounds

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.bids: dict[SeatId, int] = {}
        self.results: list[dict[SeatId, int]] = []

    def to_move(self) -> Sequence[SeatId]:
        return [] if len(self.results) >= self.rounds else [s for s in self.order if s not in self.bids]

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"{self.results}", status={"results": list(self.results)})

    @action()
    def bid(self, by: Seat, n: Annotated[int, Range(0, 9)]) -> Outcome:
        """Bid, or change your bid."""
        self.bids[by.id] = n
        return Outcome(f"you bid {n}")

    def resolve(self) -> Sequence[Told]:
        self.results.append(self.bids)
        self.bids = {}
        return [Told(f"round {len(self.results)}: {self.results[-1]}")]


class Ticker(World):
    """Pace clock. It counts, and seats may drop pebbles into it."""

    spec = WorldSpec(name="ticker", seats=2, seat_names=("east", "west"), pace="clock", tick_ms=100, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.ticks = 0
        self.pebbles: list[tuple[int, SeatId]] = []

    def to_move(self) -> Sequence[SeatId]:
        return self.order

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"tick {self.ticks}", status={"ticks": self.ticks})

    @action()
    def drop(self, by: Seat) -> Outcome:
        """Drop a pebble."""
        self.pebbles.append((self.ticks, by.id))
        return Outcome(public=f"{by.id} drops a pebble")

    def advance(self, ticks: int) -> Sequence[Told]:
        self.ticks += ticks
        return ()


class Moody(World):
    """Pace turns. Fails in one place, which its config names."""

    spec = WorldSpec(name="moody", seats=2, seat_names=("one", "two"), pace="turns", quick=True)

    def __init__(self, fails_in: str = "") -> None:
        self.fails_in = fails_in

    def _fail(self, where: str) -> None:
        if self.fails_in == where:
            raise ArithmeticError("the secret is 42")

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.moves = 0
        self._fail("reset")

    def to_move(self) -> Sequence[SeatId]:
        return [self.order[self.moves % 2]]

    def observe(self, eye: Eye) -> Observation:
        if self.moves:
            self._fail("observe")
        return Observation(text=f"{self.moves} moves", status={"moves": self.moves})

    @action()
    def move(self, by: Seat) -> Outcome:
        """Make a move."""
        self.moves += 1
        return Outcome(public=f"{by.id} moves")

    def skip(self, seat: Seat) -> Outcome:
        self.moves += 1
        self._fail("skip")
        if self.fails_in == "skip politely":
            raise GameRejected("no, thank you")
        return Outcome(public=f"{seat.id} sleeps")


EXITS: dict[str, type[BaseException]] = {
    "SystemExit": SystemExit,
    "KeyboardInterrupt": KeyboardInterrupt,
    "CancelledError": asyncio.CancelledError,
    "GeneratorExit": GeneratorExit,
    "StopIteration": StopIteration,
    "AssertionError": AssertionError,
    "MemoryError": MemoryError,
    "RecursionError": RecursionError,
}


class Exits(World):
    """Pace clock. In the place that its config names it raises what would end a program or a task."""

    spec = WorldSpec(name="exits", seats=2, seat_names=("one", "two"), pace="clock", quick=True)

    def __init__(self, where: str = "", raises: str = "SystemExit") -> None:
        self.where = where
        self.raises = raises
        self._exit("init")

    def _exit(self, where: str) -> None:
        if self.where == where:
            raise (WorldInterrupted if self.raises == "WorldInterrupted" else EXITS[self.raises])("the secret is 42")

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.n = 0
        self._exit("reset")

    def to_move(self) -> Sequence[SeatId]:
        if self.n:
            self._exit("to_move")
        return self.order

    def observe(self, eye: Eye) -> Observation:
        if self.n:
            self._exit("observe")
        return Observation(text=f"n={self.n}", status={"n": self.n})

    @action()
    def add(self, by: Seat, n: int) -> Outcome:
        """Add to the number."""
        self.n += n
        self._exit("action")
        return Outcome(public=f"n={self.n}")

    @action()
    def safe(self, by: Seat) -> Outcome:
        """Do nothing."""
        return Outcome(public="nothing")

    @query()
    def number(self, eye: Eye) -> int:
        """The number."""
        self._exit("query")
        return self.n

    def returns(self) -> Mapping[SeatId, float]:
        if self.n:
            self._exit("returns")
        return {}

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        self._exit("scope")
        return None

    def legal(self, seat: Seat) -> None:
        self._exit("legal")

    def picture(self, eye: Eye) -> bytes | None:
        self._exit("picture")
        return b"PNG"

    def standings(self) -> Sequence[Standing]:
        self._exit("standings")
        return ()

    def advance(self, ticks: int) -> Sequence[Told]:
        self.n += ticks
        self._exit("advance")
        return ()

    def clock(self, paused: bool, speed: str) -> None:
        if paused:
            self._exit("clock")

    def save(self) -> bytes:
        self._exit("save")
        return super().save()

    def load(self, data: bytes) -> None:
        self.n = 10**6
        self._exit("load")
        super().load(data)


class Hasty(World):
    """Pace step. It changes something before it refuses, which a world must not do."""

    spec = WorldSpec(name="hasty", seats=2, seat_names=("one", "two"), quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.n = 3

    def to_move(self) -> Sequence[SeatId]:
        return self.order

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"n={self.n}", status={"n": self.n})

    @action()
    def add(self, by: Seat, n: int) -> Outcome:
        """Add to the number, up to 100."""
        self.n += n
        if self.n > 100:
            raise GameRejected("that is more than 100")
        return Outcome(public=f"n={self.n}")

    @action()
    def check_first(self, by: Seat, n: int) -> Outcome:
        """The same, as it should be."""
        if self.n + n > 100:
            raise GameRejected("that is more than 100")
        self.n += n
        return Outcome(public=f"n={self.n}")


class Stuck(World):
    """Pace step, and not quick: an action may take for ever, or for a while."""

    spec = WorldSpec(name="stuck", seats=2, seat_names=("one", "two"))

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.moves = 0

    def to_move(self) -> Sequence[SeatId]:
        return self.order

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"{self.moves} moves", status={"moves": self.moves})

    @action()
    def move(self, by: Seat) -> Outcome:
        """Make a move."""
        self.moves += 1
        return Outcome(public=f"move {self.moves}")

    @action()
    def spin(self, by: Seat) -> Outcome:
        """Never come back."""
        self.moves += 100
        while True:
            self.moves += 0

    @action()
    def doze(self, by: Seat, ms: int) -> Outcome:
        """Come back late."""
        self.moves += 1
        time.sleep(ms / 1000)
        return Outcome(public=f"move {self.moves}")


class StuckQuick(Stuck):
    """The same, promising to be quick."""

    spec = WorldSpec(name="stuck_quick", seats=2, seat_names=("one", "two"), quick=True)


class Plain(Stuck):
    """Pace step. It has goals, no picture yet, and actions that return something else than an outcome."""

    spec = WorldSpec(name="plain", seats=2, seat_names=("one", "two"), quick=True)

    def goals(self, seat: Seat) -> Sequence[Goal]:
        return [Goal(f"goal-{seat.id}", f"be the best of {seat.id}")]

    def picture(self, eye: Eye) -> bytes | None:
        return b"PNG" if self.moves else None

    @action()
    def say(self, by: Seat, text: str) -> str:
        """Answer with plain text."""
        return text

    @action()
    def nod(self, by: Seat) -> None:
        """Answer with nothing."""

    @action()
    def win(self, by: Seat, reward: str) -> Outcome:
        """Get a reward."""
        return Outcome("won", reward=float(reward))


class Curtain(Stuck):
    """Pace step. It says itself when it is over: after two moves, although anybody could still move."""

    spec = WorldSpec(name="curtain", seats=2, seat_names=("one", "two"), quick=True)

    def is_over(self) -> bool:
        return self.moves >= 2


class Interval(Stuck):
    """Pace step. It is never over, although after two moves nobody can move."""

    spec = WorldSpec(name="interval", seats=2, seat_names=("one", "two"), quick=True)

    def to_move(self) -> Sequence[SeatId]:
        return self.order if self.moves < 2 else []

    def is_over(self) -> bool:
        return False


class Slow(Stuck):
    """Takes its time, wherever it is asked to begin."""

    spec = WorldSpec(name="slow", seats=2, seat_names=("one", "two"))

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        super().reset(seed, seats)
        self._dawdle()

    def restore(self, data: bytes) -> None:
        super().restore(data)
        self._dawdle()

    def _dawdle(self) -> None:
        for _ in range(15):  # many short naps: a busy machine delays the world and the event loop alike
            time.sleep(0.01)


class Endless(Stuck):
    """Never gets ready."""

    spec = WorldSpec(name="endless", seats=2, seat_names=("one", "two"))

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        super().reset(seed, seats)
        while True:
            self.moves += 0


class Fickle(Stuck):
    """Breaks the first rule of a world: the same calls do not give the same world."""

    spec = WorldSpec(name="fickle", seats=2, seat_names=("one", "two"), quick=True)
    moods = iter(range(10**9))

    @action()
    def move(self, by: Seat) -> Outcome:
        """Never the same twice."""
        self.moves += 1
        return Outcome(public=f"mood {next(self.moods)}")

    @action()
    def fail(self, by: Seat) -> Outcome:
        """Make the room go back."""
        raise ArithmeticError("the secret is 42")


class Lamp(Ticker):
    """Pace clock. It burns for 30 ticks, tells each time that it is advanced, and shows what it knows of its clock."""

    spec = WorldSpec(name="lamp", seats=2, seat_names=("east", "west"), pace="clock", tick_ms=100, fog=True, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        super().reset(seed, seats)
        self.clocks: list[tuple[bool, str]] = []
        self.asleep: list[SeatId] = []

    def to_move(self) -> Sequence[SeatId]:
        return [seat for seat in self.order if seat not in self.asleep]

    @action()
    def sleep(self, by: Seat) -> Outcome:
        """Wait for nothing any more."""
        self.asleep.append(by.id)
        return Outcome(public=f"{by.id} sleeps")

    def clock(self, paused: bool, speed: str) -> None:
        self.clocks.append((paused, speed))

    def is_over(self) -> bool:
        return self.ticks >= 30

    def advance(self, ticks: int) -> Sequence[Told]:
        self.ticks += ticks
        return [Told(f"{ticks} ticks pass")]

    @query(sees_all=True)
    def oil(self, eye: Eye) -> int:
        """How much oil is left, for those from whom nothing is hidden."""
        return 30 - self.ticks


class Gloomy(Moody):
    """Refuses to be observed, with an error of ours, once a move was made."""

    def _fail(self, where: str) -> None:
        if self.fails_in == where:
            raise GameRejected("too dark to see")


class Double(Moody):
    """Pace turns. Each seat moves twice in a row."""

    def to_move(self) -> Sequence[SeatId]:
        return [self.order[self.moves // 2 % 2]]
