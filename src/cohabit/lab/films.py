"""Games of the lab as replays, made from their records: everything is in sight, and why each player did what it did."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cohabit.agents.decision import PlayerDecision
from cohabit.errors import BadArgs
from cohabit.film_html import Replay
from cohabit.house.films.command import empty_film
from cohabit.house.films.filming import Filming, Watch
from cohabit.house.reading.front_ends import read_front_end
from cohabit.lab.folder import DecisionLine
from cohabit.lab.game import GameResult, handle
from cohabit.model.film import Film, FilmDecision, FilmEvent, FilmFrame
from cohabit.model.record import Entry
from cohabit.model.seat import ALL, Eye
from cohabit.registry import make_world, trusted_source
from cohabit.room.record import Line
from cohabit.room.recorded import MakeWorld
from cohabit.world import World

MAX_TEXT = 20_000
"""The number of characters of a question to an agent or of its answer that are in a film."""


def replay_of(
    game: GameResult,
    lines: Sequence[Line],
    decisions: Iterable[DecisionLine],
    worlds: Sequence[str],
    frames: int,
) -> Replay:
    """A game to watch again. ``decisions``: its own. ``worlds``: the files of worlds that may be loaded."""
    used: list[type[World]] = []

    def make(recorded: str, config: Mapping[str, Any]) -> World:
        world = make_world(trusted_source(recorded, worlds), config)
        used.append(type(world))
        return world

    film = film_of(lines, make, frames)
    names = {handle(seat): f"{name} ({handle(seat)})" for seat, name in enumerate(game.spec.named)}
    made: dict[str, list[PlayerDecision]] = {}
    for line in decisions:
        made.setdefault(handle(line.seat), []).append(line.decision)
    film.decisions = decisions_of(lines, made)
    for decision in film.decisions:
        decision.member = names.get(decision.member, decision.member)
    film.seats = {seat: names.get(member, member) for seat, member in film.seats.items()}
    return Replay(film, read_front_end(used[0]) if used[0].spec.front_end else "")


def film_of(lines: Sequence[Line], make: MakeWorld, frames: int, eye: Eye = ALL) -> Film:
    """The film of a record as seen by an eye, in about this many frames."""
    every = -(-len(lines) // frames)
    filming = Filming(Watch(eye), make)
    shot: list[FilmFrame] = []
    events: list[FilmEvent] = []
    for line in filming.play([(line.seq, line.body, line.digest) for line in lines]):
        events += _events(line.entry, eye)
        if (line.seq % every == 0 or line.seq == lines[-1].seq) and (frame := filming.frame()) is not None:
            shot.append(frame)
    if filming.room is None:
        raise BadArgs("a film needs a record")
    film = empty_film(filming.room, eye)
    film.frames, film.events = shot, events
    film.first, film.last, film.live = lines[0].seq, lines[-1].seq, False
    return film


def _events(entry: Entry, eye: Eye) -> Iterable[FilmEvent]:
    for told in entry.told:
        if told.members is None and (told.seats is None or eye.sees == "all" or eye.seat in told.seats):
            yield FilmEvent(entry.seq, entry.at, told.kind, told.text, "" if told.by_world else entry.by or "")


# -- why -------------------------------------------------------------------------------------------
def decisions_of(lines: Sequence[Line], made: Mapping[str, Sequence[PlayerDecision]]) -> list[FilmDecision]:
    """The decisions of each member, at the entries of its actions."""
    found: list[FilmDecision] = []
    left = {member: list(reversed(decisions)) for member, decisions in made.items()}
    for line in lines:
        member = line.entry.by or ""
        while left.get(member):
            decision = left[member].pop()
            found.append(_decision(line.entry, member, decision))
            if decision.action is not None:
                break
    return found


def _decision(entry: Entry, member: str, made: PlayerDecision) -> FilmDecision:
    last = made.exchanges[-1] if made.exchanges else None
    usages = [exchange.usage for exchange in made.exchanges]
    return FilmDecision(
        entry.seq,
        entry.at,
        member,
        made.action.text if made.action is not None else "",
        made.action.reasoning or "" if made.action is not None else "",
        asked="\n\n".join(each["content"] for each in last.messages)[:MAX_TEXT] if last is not None else "",
        answered="\n\n".join(filter(None, (last.thinking, last.answer)))[:MAX_TEXT] if last is not None else "",
        tokens_in=sum(usage.prompt_tokens for usage in usages),
        tokens_out=sum(usage.completion_tokens for usage in usages),
        dollars=sum(usage.dollars or 0.0 for usage in usages),
        failure=made.problem if made.failed else "",
    )
