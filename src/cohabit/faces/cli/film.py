"""Makes the film of a stored room that ``cohabit export --html`` writes."""

from collections.abc import Iterator
from functools import partial

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from cohabit.errors import UnknownAsset
from cohabit.faces.cli.records import Source, with_progress
from cohabit.faces.cli.replay import begin
from cohabit.film_html import film_html
from cohabit.house.agents.decision_rights import reader_of, visible
from cohabit.house.agents.decisions import RoomLog
from cohabit.house.films import moments
from cohabit.house.films.command import empty_film, events_of
from cohabit.house.films.filming import Filming, Watch, evenly
from cohabit.house.films.rights import full_view_until, own_watch
from cohabit.house.reading.front_ends import read_front_end
from cohabit.house.store.contract import LastingStore
from cohabit.house.store.keyframes import Keyframes, digest_at
from cohabit.house.store.loading import load_room
from cohabit.model.film import Film, FilmDecision, FilmEvent, FilmFrame
from cohabit.model.grant import Capability, Layer
from cohabit.model.record import Entry, decode_entry
from cohabit.model.seat import ALL, PUBLIC, Eye
from cohabit.model.suggest import nearest
from cohabit.room.room import Room
from cohabit.room.state import Member, handle_of

EVERYTHING, EVERYBODY = "all", "public"
EVERY_MS = 2_000
"""The time between two frames, where time runs by itself."""


class _Watcher(Struct):
    """Through which eye a film is made, and whose events are in it."""

    watch: Watch
    member: Member | None  # None: everything
    eye: Eye | None
    until: int | None = None  # the last entry that is shown; None: all are


def page_of(
    store: LastingStore, keyframes: Keyframes, source: Source, decisions: RoomLog, who: str, frames: int
) -> tuple[str, Film]:
    """The HTML file of a room as a member could see it, `public` or `all`; and the film in it."""
    room = load_room(store, source.name)
    watcher = _watcher(room, who, _first(store, source))
    film = film_of(store, keyframes, source, room, decisions, watcher, frames)
    document = read_front_end(type(room.world)) if room.world.spec.has_front_end else ""
    return film_html(film, document), film


def _first(store: LastingStore, source: Source) -> int:
    """The first entry that a film can show: if older ones were deleted, it begins with a snapshot."""
    oldest = moments.oldest(store, source.name)
    return source.snapshots[0].seq if oldest > 0 else 0


def _watcher(room: Room, who: str, first: int) -> _Watcher:
    """``first``: the first entry that a film can show."""
    if who == EVERYTHING:
        return _Watcher(Watch(ALL), None, ALL)
    if who == EVERYBODY:
        public = Member("", role="observer", layers=[Layer("limit", (Capability.WATCH,))])
        return _Watcher(Watch(PUBLIC), public, PUBLIC)
    member = room.state.with_handle(who)
    if member is None:
        known = [*(each.handle for each in room.state.members.values()), EVERYBODY, EVERYTHING]
        raise UnknownAsset(f"no member of this room is called {who!r}", did_you_mean=nearest(who, known, 2))
    eye = room.eye_of(member)
    until = full_view_until(room, member)
    if until is not None and until >= first:
        return _Watcher(Watch(ALL, member.id, delayed=True), member, eye, until)
    return _Watcher(own_watch(member, eye), member, eye)


def film_of(
    store: LastingStore, keyframes: Keyframes, source: Source, room: Room, decisions: RoomLog, watcher: _Watcher,
    frames: int,
) -> Film:  # fmt: skip
    """``room``: as it is now."""
    made = empty_film(room, watcher.watch.eye)
    numbers = Capability.READ_ALL in watcher.member.held if watcher.member is not None else True
    head = store.head(source.name)
    head = head if watcher.until is None else min(head, watcher.until)
    film = Filming(watcher.watch, source.make_world, partial(keyframes.add, source.name))
    shots = _over_time if room.pace == "clock" else _each_change
    read_to = moments.oldest(store, source.name) - 1
    told = _decisions(room, decisions, watcher, has_saves=bool(store.saves(source.name)))
    for seq, frame in shots(store, keyframes, source, film, head, frames):
        if frame is not None:
            frame.seq = seq if numbers else len(made.frames) + 1
            made.frames.append(_plain(frame))
        for _, body, _ in store.lines(source.name, read_to, seq - read_to) if seq > read_to else ():
            for event in _events(decode_entry(body), watcher):
                event.seq = event.seq if numbers else len(made.frames)
                made.events.append(event)
        for decision in (one for one in told if read_to < one.seq <= seq):
            made.decisions.append(replace(decision, seq=decision.seq if numbers else len(made.frames)))
        read_to = max(read_to, seq)
    if made.frames:
        made.first, made.last = made.frames[0].seq, made.frames[-1].seq
    return made


def _plain(frame: FilmFrame) -> FilmFrame:
    return decode(encode(frame), type=FilmFrame)


def _events(entry: Entry, watcher: _Watcher) -> list[FilmEvent]:
    if watcher.member is not None:
        return events_of(entry, watcher.member, watcher.eye)
    by = handle_of(entry.by) if entry.by is not None else ""
    return [
        FilmEvent(entry.seq, entry.at, told.kind, told.text, by, ", ".join(map(handle_of, told.members or ())))
        for told in entry.told
    ]


def _decisions(room: Room, log: RoomLog, watcher: _Watcher, *, has_saves: bool) -> list[FilmDecision]:
    """Why players acted, as far as this watcher may read it."""
    made, over = log.all()
    if watcher.member is None:
        return [one.shown for one in made]
    return visible(made, reader_of(room, watcher.member, over, has_saves=has_saves))


def _over_time(
    store: LastingStore, keyframes: Keyframes, source: Source, film: Filming, head: int, frames: int
) -> Iterator[tuple[int, FilmFrame | None]]:
    """Frames at times that are evenly spread."""
    first, last = moments.span(store, source.name, head)
    times = evenly(first, last, min(frames, (last - first) // EVERY_MS + 1))
    for at in with_progress(times, len(times), source.name):
        seq = moments.seq_at(store, source.name, head, at)
        _go_to(store, keyframes, source, film, seq)
        yield seq, film.frame(at)


def _each_change(
    store: LastingStore, keyframes: Keyframes, source: Source, film: Filming, head: int, frames: int
) -> Iterator[tuple[int, FilmFrame | None]]:
    """A frame after each entry that changes the view."""
    _go_to(store, keyframes, source, film, moments.oldest(store, source.name))
    frame = film.frame()
    yield film.seq, frame
    count = int(frame is not None)
    for line in with_progress(film.play(store.lines(source.name, film.seq, head - film.seq)), head, source.name):
        frame = film.frame()
        count += frame is not None
        yield line.seq, frame
        if count >= frames:
            return


def _go_to(store: LastingStore, keyframes: Keyframes, source: Source, film: Filming, seq: int) -> None:
    """Replay up to an entry, from the nearest keyframe."""
    if any(film.seq < place.seq <= seq for place in keyframes.places(source.name)):
        begin(film, keyframes, source.name, seq, partial(digest_at, store, source.name))
    if film.room is None and moments.oldest(store, source.name) > 0:
        film.begin(source.snapshots[0], 0)  # older entries were deleted
    if seq > film.seq:
        for _ in film.play(store.lines(source.name, film.seq, seq - film.seq)):
            pass
