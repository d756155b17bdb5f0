"""The check that what is hidden from an eye reaches it in no way.

At some steps of a game it makes two copies, and lets ``resample`` redraw in one of them all that an eye may not see.
Then it compares what the eye gets in both, and what it is told when the same thing is done in both. In two more copies
somebody else does different things: if the difference is one that ``resample`` redraws, the eye must not be told it.
"""

from collections.abc import Iterator
from itertools import pairwise

from cohabit.model.observation import Observation
from cohabit.model.seat import ALL, Eye
from cohabit.room.room import Room
from cohabit.testing.checks.trial import CheckWarned, Trial
from cohabit.testing.play import Play, Stopped, Watched, as_text, detail
from cohabit.testing.twins import Attempt, Got, Twins
from cohabit.world import overrides

PROBES = 8
"""At how many steps of a play the worlds are compared."""
DRAWS = 2
"""The number of times that they are redrawn for an eye at each of these steps."""
OWN_ATTEMPTS, OTHER_ATTEMPTS = 10, 6
"""The number of actions that are tried at each of these steps: by the seat of the eye, and by the others."""
DRAW_EVERY = 3
"""Pictures and arrays are compared at every third of these steps."""
CHOOSING, CHOICES = 2, 3
"""The number of other seats that do different things at each of these steps, and of the things."""
HIDES_STEPS = 20


def check_secrets(trial: Trial) -> str:
    """What resample() redraws for an eye changes nothing that this eye gets."""
    plays = trial.reproducible_plays
    if not overrides(trial.world, "resample"):
        if _hides(trial):
            raise CheckWarned(
                "leaks were not tested: eyes see different things here, and the world has no resample() that redraws "
                "what an eye may not see"
            )
        return "every eye sees everything"
    probe = _Probe()
    for play in plays:
        again = Play(trial.source, play.seed, trial.config)
        for step in range(trial.steps):
            if step in [round(i * trial.steps / PROBES) for i in range(PROBES)]:
                probe.run(again)
            again.step()
    if not probe.changed:
        raise CheckWarned("leaks were not tested: resample() changed nothing that an eye that sees everything can see")
    return f"{probe.compared} comparisons with redrawn worlds, {probe.done} actions done in both: no difference"


def _hides(trial: Trial) -> bool:
    """True if some eye sees less than one that sees everything."""
    play = Play(trial.source, trial.seeds[0], trial.config)
    for _ in range(min(trial.steps, HIDES_STEPS)):
        world = play.room.world
        with Watched():
            for eye in _eyes(play):
                if as_text(world.observe(eye)) != as_text(world.observe(Eye(eye.seat, "all") if eye.seat else ALL)):
                    return True
        play.step()
    return False


def _eyes(play: Play) -> list[Eye]:
    return [eye for eye in play.eyes() if eye != ALL]


class _Probe:
    """Compares worlds at steps of plays, and counts."""

    def __init__(self) -> None:
        self.compared = 0
        self.done = 0
        self.changed = False  # something that an eye with all can see
        self._number = 0
        self._before: dict[tuple[int, Eye], Observation] = {}

    def run(self, play: Play) -> None:
        drawing = self._number % DRAW_EVERY == 0
        self._number += 1
        with Watched():
            for eye in [*_eyes(play), ALL]:
                for draw in range(DRAWS):
                    twins = Twins(play, eye, draw)
                    self._look(play, twins, drawing and draw == 0)
                    if draw == 0:
                        self._check_stream(play, twins)
                        self._act(play, twins)
                        self._act_differently(play, twins)
                self._before[play.seed, eye] = play.room.world.observe(eye)

    # -- what the eye gets without doing anything -------------------------------------------------------
    def _look(self, play: Play, twins: Twins, drawing: bool) -> None:
        before = self._before.get((play.seed, twins.eye))
        mine, theirs = (twins.seen(room, drawing=drawing, before=before) for room in twins.both)
        self.compared += len(mine)
        if found := _difference(mine, theirs):
            name = _name(twins.eye)
            raise Stopped(
                f"{found[0]} shows {name} what is hidden from it{found[1]} {_where(play)}. resample() has redrawn what "
                f"{name} may not see: either the world shows it, or resample() redraws too much"
            )
        if twins.eye != ALL:
            self.changed = self.changed or len({twins.everything(room) for room in twins.both}) > 1

    def _check_stream(self, play: Play, twins: Twins) -> None:
        if not twins.same_stream_gives_the_same():
            raise Stopped(
                f"resample({_name(twins.eye)}) gives different worlds for the same stream {_where(play)}: "
                "draw from the stream that is given, and from nothing else"
            )

    def _check_playable(self, play: Play, twins: Twins) -> None:
        """Check that an action that is legal after resample() is accepted."""
        member, room = twins.member(twins.other), twins.other
        seat = room.seat_of(member) if member is not None else None
        if member is None or seat is None or seat.id not in room.to_move():
            return
        for action in (room.world.legal(seat) or ())[:1]:
            result = twins.do(room, Attempt(member.id, action.name, action.parameters))
            if result.refused:
                raise Stopped(
                    f"after resample({_name(twins.eye)}) legal() lists {action.text}, but it is refused: "
                    f"{result.refused} {_where(play)}"
                )

    # -- what the eye is told when the same is done in both -----------------------------------------------
    def _act(self, play: Play, twins: Twins) -> None:
        if twins.eye == ALL:
            return  # nothing is hidden from it
        self._check_playable(play, twins)
        twins.renew()
        own = twins.member(twins.room)
        left = {True: OWN_ATTEMPTS, False: OTHER_ATTEMPTS}
        for attempt in self._some(play, twins):
            is_own = own is not None and attempt.by == own.id
            if not left[is_own]:
                continue
            left[is_own] -= 1
            results = [twins.do(room, attempt) for room in twins.both]
            refusals = [result.refused for result in results]
            if is_own and refusals[0] != refusals[1]:
                self._fail_by_refusal(play, twins, attempt, *refusals)
            if not any(refusals):
                self.done += 1
                self._compare_told(play, twins, attempt, *(result.told for result in results))
            if not all(refusals):
                twins.renew()  # a refusal changes nothing

    def _act_differently(self, play: Play, twins: Twins) -> None:
        """If another seat does one thing or another in secret, the eye must be told the same."""
        if twins.eye == ALL:
            return
        for choices in twins.choices_of_others(CHOOSING, CHOICES):
            rooms = [twins.copy() for _ in choices]
            tried = [(choice, room, twins.do(room, choice)) for choice, room in zip(choices, rooms, strict=True)]
            done = [found for found in tried if not found[2].refused]
            for (first, room, result), (second, other, another) in pairwise(done):
                self.done += 1
                if result.told != another.told and self._is_secret(twins, room, other):
                    raise Stopped(
                        f"an event tells {_name(twins.eye)} what is hidden from it: {first}, or {second}"
                        f"{detail(result.told, another.told)} {_where(play)}. What the rules reveal must also be in "
                        "what this eye sees afterwards, and resample() must keep it"
                    )

    def _is_secret(self, twins: Twins, room: Room, other: Room) -> bool:
        """True if the rooms differ, but only in what the eye does not see and resample() redraws."""
        if _difference(twins.glance(room), twins.glance(other)) or twins.everything(room) == twins.everything(other):
            return False
        for one in (room, other):
            twins.redraw(one)
        return room.world.snapshot() == other.world.snapshot()

    def _some(self, play: Play, twins: Twins) -> Iterator[Attempt]:
        yield from twins.time_passes()
        yield from twins.attempts(play, OWN_ATTEMPTS)

    def _fail_by_refusal(self, play: Play, twins: Twins, attempt: Attempt, mine: str, theirs: str) -> None:
        answers = f": {mine or 'it is accepted'} – and in the other: {theirs or 'it is accepted'}"
        raise Stopped(
            f"a refusal tells {_name(twins.eye)} what is hidden from it. {attempt}{answers} {_where(play)}. Refuse the "
            "same way whatever is hidden; an attempt that can fail is an Outcome with success=False"
        )

    def _compare_told(self, play: Play, twins: Twins, attempt: Attempt, mine: str, theirs: str) -> None:
        """If everything that the eye sees afterwards is the same, it must have been told the same, too."""
        if mine == theirs:
            return
        if _difference(*(twins.glance(room) for room in twins.both)) is None:
            raise Stopped(
                f"an event tells {_name(twins.eye)} what is hidden from it: {attempt}{detail(mine, theirs)} "
                f"{_where(play)}. What the rules reveal must also be in what this eye sees afterwards"
            )


def _difference(mine: Got, theirs: Got) -> tuple[str, str] | None:
    for name, text in mine.items():
        if theirs.get(name) != text:
            return name, detail(text, theirs.get(name, ""))
    return None


def _name(eye: Eye) -> str:
    return eye.seat or {"public": "a spectator", "all": "an eye that sees all"}[eye.sees]


def _where(play: Play) -> str:
    return f"(seed {play.seed}, step {play.steps})"
