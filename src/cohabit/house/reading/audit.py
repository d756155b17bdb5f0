"""The audit: refused calls, and every change of members, permissions, invites and tokens, in one list.

Changes are entries of the record, so they are durable and part of its hash chain. Refused calls are entries when their
minute is over; until then they are in memory. A host reads everything, other members what concerns them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from cohabit.errors import BadArgs, Unauthorized
from cohabit.house.calls.context import HouseContext
from cohabit.house.clock import DAY_MS
from cohabit.house.running.runner import RoomRunner
from cohabit.house.streams.cursors import seal, secret_for, unseal
from cohabit.model.grant import Capability
from cohabit.model.record import Entry
from cohabit.model.redacted import redacted
from cohabit.model.refusals import NEWCOMER, PRIVATE_REASONS, Refusal
from cohabit.room.commands import Resource, command
from cohabit.room.record import Line
from cohabit.room.state import HANDLE_SEPARATOR, Member, RoomState, handle_of
from cohabit.scenario import handle_for

C = Capability
Kind = Literal["refusals", "changes", "admissions", "invites", "tokens", "egress"]
KINDS: Mapping[str, Kind] = {
    "joined": "admissions", "knocked": "admissions", "denied": "admissions", "removed": "admissions",
    "unblocked": "admissions", "invited": "invites", "uninvited": "invites", "credential": "tokens", "sent": "egress",
}  # fmt: skip
"""The kind of a line, by what its command declares (``Command.audit``). All others are changes: of permissions,
consents, disclosures and policies."""
JOINED, LEFT, DENIED = " joined as ", " left", re.compile(r" denied (.+) entry$")
"""Parts of texts that name a member, in entries whose arguments name only a knock or an identity."""
HIDDEN = "(shown to members with read_all)"
MAX_PAGES = 50
"""The number of pages of the record that one call of a host reads, from its end or from its cursor back."""


class AuditLine(Struct, omit_defaults=True):
    """``what`` happened: `refused`, or the change, such as `granted`. ``by``: the member who did it. Of a refusal:
    ``command``, ``code``, the ``count`` of equal ones within a minute, and ``caller``, which tells newcomers apart: it
    is the same for one address or token. ``invite``: its id."""

    at: int
    kind: Kind
    what: str
    text: str
    by: str | None = None
    member: str | None = None
    command: str = ""
    code: str = ""
    count: int = 1
    invite: str = ""
    caller: str = ""


class AuditReply(Struct):
    """``cursor``: for the next, older lines; empty: there are none."""

    lines: list[AuditLine]
    cursor: str


Key = tuple[int, bool, int]
"""The order of lines: when, whether it is a refusal, and its number in the record or in the audit."""


class Found(Struct, frozen=True):
    key: Key
    line: AuditLine
    seq: int  # of the entry that has it; -1: it is in memory


class About(Struct, frozen=True):
    """The member whose lines are wanted, or a former one: by its ids, its handle and its identity."""

    ids: frozenset[str]
    handle: str = ""
    identity: str = ""


class Wanted(Struct, frozen=True):
    """Which lines are wanted, and who reads them."""

    reads_all: bool
    me: str  # the id of the reader; empty: it is no member
    about: About | None
    kinds: frozenset[str]
    since: int
    before: Key | None
    refusals_from: int  # older ones were deleted


@command(
    category="meta", where="house", about="either",
    resource=Resource("audit", "Audit", "Refused calls and changes: of everyone for hosts, else your own"),
)  # fmt: skip
async def audit(
    ctx: HouseContext,
    kinds: Annotated[list[Kind] | None, Meta(description="only these kinds of lines; default: all")] = None,
    member: Annotated[
        str | None, Meta(description=f"for hosts: only lines about this member, or {NEWCOMER} for newcomers")
    ] = None,
    since: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="only from this time on, in milliseconds since 1970")
    ] = None,
    max: Annotated[int, Meta(ge=1, le=500)] = 50,  # noqa: A002 - the wire's name
    cursor: Annotated[str, Meta(max_length=64, description="of the last reply, for older lines")] = "",
) -> AuditReply:
    """Refused calls, and every change of permissions, members, invites and tokens, newest first.

    Hosts see all of it, other members what concerns them. Without a room, hosts of the house see what belongs to no
    room: house-wide tokens, and the invites to all rooms.
    """
    runner = ctx.maybe_runner or ctx.house.ledger.runner
    while True:
        me = _reader(ctx, runner)
        reads_all = C.MANAGE_MEMBERS in me.held if me is not None and ctx.maybe_runner is not None else ctx.is_host
        private = me is not None and C.READ_ALL in me.held
        start, before = _position(runner, cursor)
        wanted = Wanted(
            reads_all, me.id if me is not None else "", _about(runner.room.state, me, reads_all, member),
            frozenset(kinds or ()), _since(ctx, since), before, runner.room.state.refusals_from,
        )  # fmt: skip
        found = await _page(runner, wanted, private, start, max)
        # Reading takes a while. Discard what was found under another grant.
        now = _reader(ctx, runner)
        if (now is None) == (me is None) and (now is None or me is None or now.held == me.held):
            return found


def _since(ctx: HouseContext, since: int | None) -> int:
    """Lines that are older than the house keeps them are not shown, even if the record of the room still has them."""
    days = ctx.house.settings.keep_audit_days
    oldest = ctx.house.clock.now() - int(days * DAY_MS) if days else 0
    return max(oldest, since or 0)


def _reader(ctx: HouseContext, runner: RoomRunner) -> Member | None:
    """The caller in this room, as it is now; None: a host of the house who is no member of the house record."""
    if ctx.maybe_member is not None:
        now = runner.room.state.members.get(ctx.maybe_member.id)
        if now is None:
            raise Unauthorized("you are no longer a member of this room")
        return now
    return runner.room.member_of(ctx.credential.identity)


def _about(state: RoomState, me: Member | None, reads_all: bool, handle: str | None) -> About | None:
    if not reads_all:
        return About(frozenset([me.id]), me.handle, me.identity) if me is not None else About(frozenset())
    if handle is None:
        return None
    known = state.with_handle(handle)
    if known is not None:
        return About(frozenset([known.id]), known.handle, known.identity)
    if handle == NEWCOMER:
        return About(frozenset([NEWCOMER]))
    used = state.handles_used.get(handle, 0)
    if not used:
        state.require_member(handle, me)
    return About(frozenset([handle, *(f"{handle}{HANDLE_SEPARATOR}{n}" for n in range(2, used + 1))]), handle)


# -- pages ----------------------------------------------------------------------------------------
async def _page(runner: RoomRunner, wanted: Wanted, private: bool, start: int | None, limit: int) -> AuditReply:
    """The newest lines before the cursor. All lines after the oldest entry that was read are known, because a refused
    call is recorded after it was refused. For a member who reads only its own lines, it reads back as far as it must:
    a short page would tell how much others have done."""
    found = {each.key: each for each in _in_memory(runner, wanted, private)}
    reached: Key | None = None
    pages_read = 0
    async with aclosing(runner.history.backwards(start)) as pages:
        async for lines in pages:
            for each in (each for line in lines for each in _in_entry(runner, line, wanted, private)):
                found.setdefault(each.key, each)
            pages_read += 1
            if not lines:
                continue
            reached = (lines[0].entry.at, False, lines[0].seq)
            known = sum(key >= reached for key in found)
            is_enough = wanted.reads_all and pages_read > MAX_PAGES
            if known >= limit or is_enough or reached[0] < wanted.since:
                break
        else:
            reached = None  # there is nothing before
    return _reply(runner.room.state.secret, found, limit, reached, wanted.since)


def _reply(secret: str, found: Mapping[Key, Found], limit: int, reached: Key | None, since: int) -> AuditReply:
    """``reached``: lines before this one may be missing; None: none are."""
    ordered = [found[key] for key in sorted(found, reverse=True)]
    shown = [each for each in ordered if reached is None or each.key >= reached][:limit]
    left = ordered[len(shown) :]
    if not left and (reached is None or reached[0] < since):
        return AuditReply([each.line for each in shown], "")
    last = shown[-1].key if reached is None or len(shown) == limit else reached
    restart = reached[2] - 1 if reached is not None else -1
    if shown:  # else the next page would read the same entries again
        restart = max([restart, *(each.seq for each in left)])
    return AuditReply([each.line for each in shown], _cursor(secret, last, restart))


def _cursor(secret: str, last: Key, restart: int) -> str:
    """The cursor of the next page. Numbers of entries and refusals are hidden, because they count those of others; so
    is the time, which may be that of somebody else's entry. The parts must not be valid as cursors of `events`: a
    member could try out which numbers its events have."""
    at, is_refusal, number = last
    secret = secret_for(secret, "audit")
    return ".".join(seal(secret, part) for part in (at, 2 * number + is_refusal, restart + 1))


def _position(runner: RoomRunner, cursor: str) -> tuple[int | None, Key | None]:
    """The entry before which to read on, and the line after which a page begins."""
    if not cursor:
        return None, None
    secret = secret_for(runner.room.state.secret, "audit")
    try:
        at, number, restart = (unseal(secret, part or "-", 2**62) for part in cursor.split("."))
        return restart, (at, bool(number % 2), number // 2)
    except (BadArgs, ValueError):
        raise BadArgs("invalid cursor for this audit; omit it to begin with the newest lines") from None


# -- lines ----------------------------------------------------------------------------------------
def _in_memory(runner: RoomRunner, wanted: Wanted, private: bool) -> Iterator[Found]:
    """The newest refusals. Those of the last minute are nowhere else."""
    return (each for kept in runner.room.audit.kept if (each := _refusal(kept, -1, wanted, private)))


def _in_entry(runner: RoomRunner, line: Line, wanted: Wanted, private: bool) -> Iterable[Found]:
    entry = line.entry
    known = runner.commands.by_name if entry.by is not None else runner.room.commands.system
    command = known.get(entry.do)
    if command is None or not command.audit:
        return
    if command.words is None and not wanted.reads_all and entry.by != wanted.me:
        return  # for hosts alone, such as a report, even if it is about the reader
    if isinstance(entry.args, dict) and isinstance(lines := entry.args.get("lines"), list):  # refused calls
        for kept in msgspec.convert(lines, list[Refusal]):
            if each := _refusal(kept, line.seq, wanted, private):
                yield each
    elif entry.told and (change := _change(entry, command.audit, line.seq, wanted)):
        yield change


def _refusal(kept: Refusal, seq: int, wanted: Wanted, private: bool) -> Found | None:
    key = (kept.at, True, kept.id)
    if not _is_wanted(key, "refusals", wanted) or kept.at < wanted.refusals_from:
        return None
    if wanted.about is not None and kept.member not in wanted.about.ids:
        return None
    hides = kept.code in PRIVATE_REASONS and kept.member != wanted.me and not private
    who, text = handle_of(kept.member), HIDDEN if hides else kept.reason
    made = AuditLine(
        kept.at, "refusals", "refused", text, who, who, kept.command, kept.code, kept.count, caller=kept.caller
    )
    return Found(key, made, seq)


def _change(entry: Entry, what: str, seq: int, wanted: Wanted) -> Found | None:
    key, kind = (entry.at, False, seq), KINDS.get(what, "changes")
    if not _is_wanted(key, kind, wanted):
        return None
    args: dict[str, Any] = entry.args if isinstance(entry.args, dict) else {}
    by, text = entry.by or args.get("by"), _text(entry)
    by, member = handle_of(by) if by else None, _member(args, what, text)
    # A host who asks for a member reads of its admission too, though the entry may have only the id of its knock.
    is_admitted = wanted.reads_all and kind == "admissions" and bool(member)
    if (
        wanted.about is not None
        and not _concerns(entry, wanted.about)
        and not (is_admitted and member == wanted.about.handle)
    ):
        return None
    if kind == "admissions" and by and by not in text:
        text = f"{text} (by {by})"
    invite = args.get("invite") or args.get("admission", {}).get("invite") or ""
    return Found(key, AuditLine(entry.at, kind, what, redacted(text), by, member, invite=invite), seq)


def _member(args: dict[str, Any], what: str, text: str) -> str | None:
    """The handle of the member that a change is about. Of somebody in the lobby: the one that it wants, or would get
    for its name."""
    if what == "joined" and JOINED in text:  # it may have got another handle than it wanted
        return text.partition(JOINED)[0]
    if what == "removed" and text.endswith(LEFT):  # its data was deleted, so the entry has only its identity
        return text.removesuffix(LEFT)
    if what == "denied" and (found := DENIED.search(text)):
        return handle_for(found[1])
    return handle_of(args.get("member") or args.get("admission", args).get("handle") or "") or None


def _text(entry: Entry) -> str:
    """The text of an entry for those whom it does not concern. A notice to nobody is for the audit; the first notice
    about a token speaks to its owner ("you")."""
    for_audit = [told.text for told in entry.told if told.members == ()]
    return for_audit[0] if for_audit else entry.told[-1 if entry.do == "credential" else 0].text


def _is_wanted(key: Key, kind: Kind, wanted: Wanted) -> bool:
    is_after = wanted.before is not None and key >= wanted.before
    return not is_after and key[0] >= wanted.since and (not wanted.kinds or kind in wanted.kinds)


def _concerns(entry: Entry, about: About) -> bool:
    """True if a change is about this member, or was made by it."""
    if entry.by in about.ids or any(told.members and not about.ids.isdisjoint(told.members) for told in entry.told):
        return True
    args = entry.args if isinstance(entry.args, dict) else {}
    named = args.get("member")
    if entry.by is None and not about.ids.isdisjoint(args.get("members", ())):
        return True
    if named in about.ids or (about.identity and args.get("identity") == about.identity):
        return True
    # A handle that was used before may name its earlier owner.
    return bool(about.handle) and named == about.handle and about.handle in about.ids
