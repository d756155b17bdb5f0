"""A record without the data of one identity: the same moves under a pseudonym.

The entries are applied again, one by one, in a second room beside the first. The identity, its handles and its name are
replaced, and its own words are blanked. Digests are computed again, so the new record verifies and replays like any
other. If that is not possible with other handles, because a world plays differently then, only the words are blanked.
"""

import logging
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct, structs

from cohabit.errors import CohabitError, RecordCorrupt
from cohabit.house.lifecycle import travel_words
from cohabit.house.lifecycle.travel_words import DELETED
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.loading import world_from
from cohabit.model.record import Entry
from cohabit.model.refusals import Refusal
from cohabit.room.commands import Command
from cohabit.room.record import GENESIS, Line, Snapshot, read_lines
from cohabit.room.recorded import MakeWorld
from cohabit.room.replies import keep_reply
from cohabit.room.room import Room
from cohabit.room.state import handle_of

log = logging.getLogger("cohabit")
ADMISSIONS = ("admitted", "knocked")
ARRIVALS = (*ADMISSIONS, "open", "transit_in")
OWN_WORDS = ("reason", "note", "remember")
"""The words in commands that are only for hosts, or for the caller itself."""


class NotRewritable(RecordCorrupt):
    """The record cannot be replayed from its beginning."""


class Person(Struct):
    """The person whose data is deleted, and what stands for it."""

    identity: str
    name: str
    pseudonym: str
    new_identity: str
    handles: tuple[str, ...] = ()  # in the house record, which names members of rooms
    invites: tuple[str, ...] = ()  # that it joined with
    members: tuple[str, ...] = ()  # ids that it had in the room, found on the way
    backends: tuple[str, ...] = ()  # what it has said that it uses; the house repeats it in entries of its own

    @classmethod
    def of(cls, identity: str, name: str) -> "Person":
        return cls(identity, name, f"deleted-{secrets.token_hex(4)}", f"i-{secrets.token_hex(8)}")

    def blank(self, backend: str) -> str:
        """The replacement of a backend. Another one stays another one, so that the record tells of the change."""
        if backend not in self.backends:
            self.backends += (backend,)
        number = self.backends.index(backend)
        return f"{DELETED} {number + 1}" if number else DELETED


def words_of(command: Command) -> tuple[str, ...]:
    """The arguments with words of the caller."""
    return (*OWN_WORDS, *(command.words or ()))


def mentions(store: Store, room: str, identity: str, handles: Iterable[str] = ()) -> bool:
    """True if anything stored of a room names this identity, or an invite for one of these handles."""
    wanted = [identity.encode(), *(msgspec.json.encode({"handle": handle})[1:-1] for handle in handles)]
    bodies = chain(store.snapshots(room), (body for _, body, _ in store.lines(room, -1)))
    return any(text in body for body in bodies for text in wanted)


def had_in(store: Store, room: str, identity: str, *, is_here: bool) -> frozenset[str]:
    """The ids that an identity had in a room as a member, from a replay. A member who joined once has no other ones."""
    found: set[str] = set()
    arrivals = (line.entry for line in _lines_of(store, room) if line.entry.by is None and line.entry.do in ARRIVALS)
    if sum(identity in str(entry.args) for entry in arrivals) == 1 and is_here:
        return frozenset()
    for again, _ in Room.replaying(_lines_of(store, room), _maker_of(store, room)):
        member = again.member_of(identity)
        if member is not None:
            found.add(member.id)
    return frozenset(found)


def _lines_of(store: Store, room: str) -> Iterator[Line]:
    """The record from its beginning, read while it is used: it may be larger than the memory."""
    rows = iter(store.lines(room, -1))
    first = next(rows, None)
    if first is None or first[0] != 0:
        raise NotRewritable(f"the beginning of the record of room {room} was deleted, so it cannot be replayed")
    return read_lines(chain([first], rows), -1, GENESIS)


def _maker_of(store: Store, room: str) -> MakeWorld:
    newest = store.snapshots(room)[:1]
    return world_from(Snapshot.decode(newest[0]).state.source if newest else None)


def rewritten(store: Store, room: str, person: Person, at: int) -> Write | None:
    """The replacement of the stored record of a room; None if the identity is not in it."""
    if not mentions(store, room, person.identity, person.handles):
        return None
    make = _maker_of(store, room)
    person.invites = _invites_of(_lines_of(store, room), person.identity)
    try:
        made, known = _again(_lines_of(store, room), person, make, rename=True)
    except CohabitError as differs:
        log.warning("room %s: handles are kept, because the game differs without them: %s", room, differs.message)
        made, known = _again(_lines_of(store, room), person, make, rename=False)
    person.members = tuple(old for old, new in known.items() if new.own)
    made.system("data_deleted", {"member": person.pseudonym}, max(at, made.record.at))
    quoted = _quoted(person, known)
    refusals = [
        Refusal(**{**structs.asdict(one), **_refused_line(structs.asdict(one), known, quoted)})
        for one in store.refusals(room)
    ]
    snapshot = made.snapshot()
    return Write(room, made.record.take_pending(), (snapshot.seq, snapshot.encode()), refusals, rewrite=True)


def _invites_of(lines: Iterable[Line], identity: str) -> tuple[str, ...]:
    """The invites that an identity joined with."""
    entries = (line.entry for line in lines if line.entry.by is None and line.entry.do in ADMISSIONS)
    admissions = [entry.args.get("admission", entry.args) for entry in entries]
    return tuple(one["invite"] for one in admissions if one.get("identity") == identity and one.get("invite"))


class _Known(Struct):
    """The name of a member in the new record, and if it is the person."""

    id: str
    own: bool


_OTHER = _Known("", False)


def _again(lines: Iterable[Line], person: Person, make: MakeWorld, rename: bool) -> tuple[Room, dict[str, _Known]]:
    """The new room, with every entry pending, and its members by the ids that they had."""
    before: Room | None = None
    after: Room | None = None
    known: dict[str, _Known] = {}
    names = _Names({}, {}, {})
    for old, line in Room.replaying(lines, make):
        before = old
        entry = line.entry
        if after is None:
            opening = entry.args["state"]
            members = opening.get("members", {})
            ours = [one for one, member in members.items() if member.get("identity") == person.identity]
            known = {one: _Known(_pseudonym(person, one, rename), True) for one in ours}
            state = _opened(opening, known, person)
            after = Room.open(state, make(before.state.source, before.state.config), entry.at)
        else:
            _apply(after, _changed(entry, after, names, known, person, rename))
        _follow(before, after, known, person)
        names = _names(before, after, known, person, rename)  # in the next entry
        if len(after.record.tail[-1].entry.told) != len(line.entry.told) or before.is_over() != after.is_over():
            raise RecordCorrupt(f"entry {line.seq} has another outcome", seq=line.seq)
    assert before is not None
    assert after is not None
    _check_alike(before, after)
    return after, known


def _opened(opening: Mapping[str, Any], known: Mapping[str, _Known], person: Person) -> dict[str, Any]:
    """The state of a new room. Of the person's texts only its own are changed: any other may be equal by chance."""
    if not known:
        return dict(opening)
    ids = {old: new.id for old, new in known.items()}
    handles = {handle_of(old): handle_of(new.id) for old, new in known.items()}
    made = {**opening, "members": {
        ids.get(one, one): {**_anonymous(member, person), "id": ids[one], "identity": person.new_identity}
        if one in ids else member
        for one, member in opening["members"].items()
    }}  # fmt: skip
    if "handles_used" in made:
        made["handles_used"] = {handles.get(handle, handle): count for handle, count in made["handles_used"].items()}
    if "teams" in made:
        made["teams"] = {team: [ids.get(one, one) for one in those] for team, those in made["teams"].items()}
    for field in ("turn_order", "passed"):
        if field in made:
            made[field] = [ids.get(one, one) for one in made[field]]
    if seal := made.get("slices", {}).get("sealed"):
        see_all = [ids.get(one, one) for one in seal.get("see_all", [])]
        made["slices"] = {**made["slices"], "sealed": {**seal, **({"see_all": see_all} if see_all else {})}}
    return made


ALIKE = (
    "id", "source", "world", "version", "config", "seed", "scenario", "partial_intel", "guests", "seats", "game",
    "games", "archived", "turn_based", "turn_ms", "step_ticks", "paused", "hide_brains", "rematch_ms", "speed", "tick",
    "features", "waiting_for", "returns",
)  # fmt: skip
ALIKE_OF_MEMBERS = ("kind", "role", "seat", "claim", "team", "through", "layers", "egress", "brain", "stand_in")


def _check_alike(before: Room, after: Room) -> None:
    """Compare the two rooms in what does not depend on names. The world is compared too."""
    old, new = before.state, after.state
    wrong = [field for field in ALIKE if getattr(old, field, None) != getattr(new, field, None)]
    for mine, other in zip(old.members.values(), new.members.values(), strict=True):
        wrong += [f for f in ALIKE_OF_MEMBERS if getattr(mine, f, None) != getattr(other, f, None)]
    if (old.entry is None) != (new.entry is None) or _switches(old.entry) != _switches(new.entry):
        wrong.append("entry")
    if wrong or before.world.standings() != after.world.standings():
        raise RecordCorrupt(f"the rooms differ: {', '.join(wrong) or 'standings'}")


def _switches(policy: Any) -> dict[str, Any]:
    """The switches of an entry policy, without its texts."""
    plain = msgspec.to_builtins(policy) if policy is not None else {}
    return {name: value for name, value in plain.items() if isinstance(value, bool)}


def _pseudonym(person: Person, member: str, rename: bool) -> str:
    return member.replace(handle_of(member), person.pseudonym, 1) if rename else member


def _follow(before: Room, after: Room, known: dict[str, _Known], person: Person) -> None:
    """Note who is who: both rooms have their members in the same order."""
    if len(before.state.members) != len(after.state.members):
        raise RecordCorrupt("the members of the room differ")
    for old, new in zip(before.state.members.values(), after.state.members, strict=True):
        if old.id not in known:
            known[old.id] = _Known(new, old.identity == person.identity)
        if old.backend and old.identity == person.identity:
            person.blank(old.backend)


def _anonymous(member: Mapping[str, Any], person: Person) -> dict[str, Any]:
    """The person as a member of a new room."""
    own = {"name": person.pseudonym, "backend": person.blank(member["backend"]) if member.get("backend") else ""}
    return {**member, **{field: text for field, text in own.items() if member.get(field)}}


class _Names(Struct):
    """Replacements where a member is named: by handle, as members do, or by id, as system entries do; and the
    person's own texts, where the house repeats them."""

    handles: dict[str, str]
    ids: dict[str, str]
    texts: dict[str, str]


MEMBERS = frozenset(("agent_id", "app", "by", "handle", "identity", "member", "members", "to", "who", "confirm"))
"""The arguments that name members or identities."""
TEXTS = frozenset(("backend", "name", "names", "handle", "label"))
"""The arguments that may repeat a person's name, or what it has disclosed."""
PREFIXED = frozenset(("request", "report"))
"""The arguments that begin with the id of a member."""


def _names(before: Room, after: Room, known: Mapping[str, _Known], person: Person, rename: bool) -> _Names:
    handles = {
        old.handle: new.handle
        for old, new in zip(before.state.members.values(), after.state.members.values(), strict=True)
    }
    own = {handle_of(old): handle_of(new.id) for old, new in known.items() if new.own and rename}
    gone = {**dict.fromkeys(person.handles, person.pseudonym), **own}
    handles = {**{old: new for old, new in gone.items() if old not in handles}, **handles}
    ids = {**{old: new.id for old, new in known.items()}, person.identity: person.new_identity}
    others = {member.name for member in before.state.members.values() if member.identity != person.identity}
    words = {
        **{backend: person.blank(backend) for backend in person.backends},
        **dict.fromkeys(filter(None, (person.name, *person.handles)), person.pseudonym),
    }
    return _Names(
        {**handles, person.identity: person.new_identity}, ids, {k: v for k, v in words.items() if k not in others}
    )


def _changed(
    entry: Entry, room: Room, names: _Names, known: Mapping[str, _Known], person: Person, rename: bool
) -> Entry:
    """The entry as the new record has it, without its outcome."""
    own = entry.by is not None and entry.by in known and known[entry.by].own
    command = room.commands.of_entry(entry)
    args = dict(entry.args) if isinstance(entry.args, dict) else entry.args
    if entry.do in ADMISSIONS and entry.by is None:
        args = _admission(args, person, rename)
    elif isinstance(args, dict):
        words = words_of(command)
        members = names.ids if entry.by is None else names.handles
        args = {
            name: person.blank(value) if own and name == "backend" and isinstance(value, str) and value
            else _blank(value, command, name) if own and name in words
            else value if name in words or command.where == "world"
            else _renamed(value, name, members, names.texts)
            for name, value in args.items()
        }  # fmt: skip
        if entry.do == "invited" and args["invite"] in person.invites and rename:
            args["handle"] = person.pseudonym
        if entry.do == "refused":
            quoted = _quoted(person, known)
            args["lines"] = [_refused_line(one, known, quoted) for one in entry.args["lines"]]
        if entry.by is None:
            args = _travels(entry, args, room.state.world, known, person)
    by = known[entry.by].id if entry.by is not None and entry.by in known else entry.by
    why, key = (None, None) if own else (entry.why, entry.key)
    return Entry(entry.seq, entry.at, entry.do, by, args, (), why, key, entry.via)


def _admission(args: dict[str, Any], person: Person, rename: bool) -> dict[str, Any]:
    """An admission of the person itself has a handle that no member has yet."""
    inner = args.get("admission", args)
    if inner.get("identity") != person.identity:
        return args  # of somebody else, who may have the same name
    changed = {**inner, "identity": person.new_identity, "name": person.pseudonym}
    if changed.get("backend"):
        changed["backend"] = person.blank(changed["backend"])
    if rename:
        changed["handle"] = person.pseudonym
    return {**args, "admission": changed} if "admission" in args else changed


def _travels(
    entry: Entry, args: dict[str, Any], world: str, known: Mapping[str, _Known], person: Person
) -> dict[str, Any]:
    """System entries about remote worlds and visits, without the words of the person."""
    own = known.get(entry.args.get("by") or "", _OTHER).own
    if entry.do == "asked" and own:
        return travel_words.asked(args, world)
    if entry.do == "answered" and own and world == travel_words.NEXUS:
        return travel_words.answered(args)
    if entry.do == "polled" and world == travel_words.NEXUS:
        return travel_words.polled(args, person.new_identity)
    if entry.do == "transit_in" and args["package"]["identity"] == person.new_identity:
        return {**args, "package": travel_words.package(args["package"], person.pseudonym)}
    return args


def _quoted(person: Person, known: Mapping[str, _Known]) -> re.Pattern[str]:
    """Finds the person where the reason of a refusal names it: such a text quotes handles."""
    own = {one for old, new in known.items() if new.own for one in (old, handle_of(old))}
    words = sorted({*own, *person.handles, person.name, person.identity} - {""}, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w-])")


def _refused_line(line: Mapping[str, Any], known: Mapping[str, _Known], quoted: re.Pattern[str]) -> dict[str, Any]:
    """A refused call. The reason of one of the person's is deleted; of others', only what names the person."""
    who, reason = known.get(line.get("member", "")), line.get("reason", "")
    changed = DELETED if who is not None and who.own else quoted.sub(DELETED, reason)
    return {**line, **({"member": who.id} if who is not None else {}), **({"reason": changed} if reason else {})}


def _blank(value: Any, command: Command, name: str) -> Any:
    """Blank every text. Of an argument of any type the whole value; else its form stays."""
    kinds = command.schema.get("properties", {}).get(name, {})
    if value is not None and not ({"type", "anyOf", "$ref"} & kinds.keys()):
        return DELETED
    if isinstance(value, str):
        return DELETED if value else value
    if isinstance(value, dict):
        return {key: _blank(one, command, name) for key, one in value.items()}
    return [_blank(one, command, name) for one in value] if isinstance(value, list) else value


def _renamed(value: Any, name: str, members: Mapping[str, str], texts: Mapping[str, str]) -> Any:
    """The same plain value with other names where ``name``, or the nearest key, says that a member or its texts are
    named. Any other text may be equal by chance."""
    if isinstance(value, str):
        if name in PREFIXED:
            who, dash, number = value.rpartition("-")
            return f"{members.get(who, who)}{dash}{number}"
        found = members.get(value, value) if name in MEMBERS else value
        if name == "label" and found in texts:  # of an agent key, which must not be called by the pseudonym
            return ""
        return texts.get(found, found) if name in TEXTS else found
    if isinstance(value, Mapping):
        return {key: _renamed(one, key, members, texts) for key, one in value.items()}
    return [_renamed(one, name, members, texts) for one in value] if isinstance(value, list | tuple) else value


def _apply(room: Room, entry: Entry) -> None:
    """Run an entry in the new room, and record it with its outcome there."""
    if entry.do == "digest" and entry.by is None:
        room.record.append(Entry(entry.seq, entry.at, entry.do, args={"sha256": room.digest()}))
        return
    command = room.commands.of_entry(entry)
    try:
        result, told = room.perform(entry.by, entry.at, command, command.check(entry.args))
    except CohabitError:
        raise
    except Exception as bug:
        raise RecordCorrupt(f"entry {entry.seq} cannot be applied: {type(bug).__name__}", seq=entry.seq) from bug
    done = Entry(
        entry.seq, entry.at, entry.do, entry.by, entry.args, tuple(told), entry.why, entry.key, entry.via,
        room.players_of(told),
    )  # fmt: skip
    keep_reply(room.state, done, result)
    room.record.append(done)
