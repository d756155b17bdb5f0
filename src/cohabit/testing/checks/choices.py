"""The check that what a seat chooses in a round stays secret until the round is resolved.

At some steps of a game one seat chooses different things in copies of the room. Until the round ends, everybody else
must get the same in all of them. It needs no ``resample``.
"""

from collections.abc import Mapping
from itertools import combinations

from msgspec import Struct

from cohabit.errors import CohabitError
from cohabit.model.action import ActionResult
from cohabit.model.seat import PUBLIC, Eye
from cohabit.model.stream import Stream
from cohabit.registry import make_world
from cohabit.room.record import Snapshot
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.room.state import Member
from cohabit.testing.checks.trial import CheckFailed, CheckWarned, Trial
from cohabit.testing.play import Play, Watched, as_text, detail
from cohabit.testing.samples import sample_args

PROBES = 8
"""At how many steps of a play different things are chosen."""
CHOOSING, CHOICES, TRIES = 2, 3, 12
"""At each of these steps: the number of seats that choose, of their choices, and of attempts to make some."""


def check_choices(trial: Trial) -> str:
    """In rounds, nobody else learns of a pending choice before the round ends."""
    plays = trial.reproducible_plays
    if trial.world.pace != "rounds" or trial.world.spec.open_information:
        return "no secret choices"
    compared, shown = 0, ""
    for play in plays:
        again = Play(trial.source, play.seed, trial.config)
        probed = [round(i * trial.steps / PROBES) for i in range(PROBES)]
        for step in range(trial.steps):
            if step in probed:
                with Watched():
                    for first, second in _pairs(again):
                        compared += 1
                        shown = shown or _compare(again, first, second)
            again.step()
    if shown:
        raise CheckWarned(shown)
    if not compared:
        return "no seat could choose between two things while others had not chosen"
    return f"{compared} pairs of choices: nobody else can tell one from the other"


class _Chosen(Struct, frozen=True):
    """A copy of the room in which a seat has chosen something, and what the others got."""

    said: str
    to_move: list[str]
    told: Mapping[Eye, str]
    seen: Mapping[Eye, str]


def _pairs(play: Play) -> list[tuple[_Chosen, _Chosen]]:
    room = play.room
    awaited = room.to_move()
    if len(awaited) < 2:  # a choice of the last seat ends the round
        return []
    choosing = [member for member in play.members() if member.seat in awaited][:CHOOSING]
    return [pair for member in choosing for pair in combinations(_choices(play, member), 2)]


def _choices(play: Play, member: Member) -> list[_Chosen]:
    """Up to ``CHOICES`` different things that this member can choose, each done in a copy."""
    draws = Stream(play.seed, f"choices {play.steps} {member.id}")
    seat = play.room.seat_of(member)
    legal = play.room.world.legal(seat) if seat is not None else None
    if legal is None:
        drawn = [draws.choice(play.actions()) for _ in range(TRIES)]
        calls = [(command.name, sample_args(command.schema, draws)) for command in drawn]
    else:
        calls = [(action.name, dict(action.parameters)) for action in legal]
        draws.shuffle(calls)
    found: dict[str, _Chosen] = {}
    for name, args in calls[:TRIES]:
        chosen = _chosen(play, member, name, args)
        if chosen is not None:
            found.setdefault(chosen.said, chosen)
        if len(found) == CHOICES:
            break
    return list(found.values())


def _chosen(play: Play, member: Member, name: str, args: Mapping[str, object]) -> _Chosen | None:
    """None if it is refused, or happens at once."""
    room = Room.restore(Snapshot.decode(play.room.snapshot().encode()), [], make_world)
    room.checks_refusals = room.counts_calls = False
    first = len(room.record.tail)
    try:
        result = room.call(member.id, name, dict(args), at=play.at + 1000, look=False)
    except CohabitError:
        return None
    if not isinstance(result, ActionResult) or not result.pending:
        return None
    room.roster_changed()  # drop the room's cached views
    others = {other.seat: other for other in play.members() if other.seat is not None and other.seat != member.seat}
    eyes = {PUBLIC: None, **{Eye(seat, "own"): other for seat, other in others.items()}}
    return _Chosen(
        f"{member.id}: {name}{f' {as_text(args)}' if args else ''}",
        list(room.to_move()),
        {eye: _told(room, first, eye, other) for eye, other in eyes.items()},
        {eye: as_text([room.world.observe(eye), room.view_through(eye), room.world.standings()]) for eye in eyes},
    )


def _told(room: Room, first: int, eye: Eye, member: Member | None) -> str:
    """The news of the entries since ``first``, for a member or a spectator."""
    entries = [line.entry for line in room.record.tail[first:]]
    if member is None:
        return as_text(
            [(t.kind, t.text) for entry in entries for t in entry.told if t.seats is None and t.members is None]
        )
    return as_text([(item.kind, item.text, item.data) for entry in entries for item in feed(entry, member, eye)])


def _compare(play: Play, first: _Chosen, second: _Chosen) -> str:
    """Raise if somebody is told which choice it was. Returns a warning if somebody only sees it."""
    if first.to_move != second.to_move:
        return ""  # one of them leaves more to choose, and whom a round waits for is public
    either = f"{first.said}, or {second.said}"
    where = f"(seed {play.seed}, step {play.steps})"
    for eye, seen in first.seen.items():
        name = eye.seat or "a spectator"
        if seen != second.seen[eye]:
            return (
                f"{name} sees before the round ends what another seat has chosen: {either}"
                f"{detail(seen, second.seen[eye])} {where}. If the rules want it so, ignore this"
            )
        if first.told[eye] != second.told[eye]:
            raise CheckFailed(
                f"{name} is told before the round ends what another seat has chosen: {either}"
                f"{detail(first.told[eye], second.told[eye])} {where}. Leave it out of `public` and `told` of the "
                "pending Outcome, and tell it in resolve(); what the rules reveal must also be in what this eye sees"
            )
    return ""
