"""The audit log: every change of permissions and membership.

The changes are entries of the record, so they are durable and part of its hash chain. A host reads all of them, other
members those that concern them.
"""

from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.house.calls.context import HouseContext
from cohabit.model.grant import Capability
from cohabit.model.record import Entry
from cohabit.room.commands import command
from cohabit.room.record import Line
from cohabit.room.state import HANDLE_SEPARATOR, Member, handle_of

C = Capability
MAX_PAGES = 50
"""The number of pages of the record in which the audit looks for changes, from the end."""


class Change(Struct, omit_defaults=True):
    at: int
    kind: str  # as the command declares it
    text: str
    by: str | None = None


class AuditLog(Struct):
    changes: list[Change]


@command(category="meta", where="house")
async def audit_log(
    ctx: HouseContext,
    member: Annotated[str | None, Meta(description="for hosts: only changes that concern this member")] = None,
    max: Annotated[int, Meta(ge=1, le=500)] = 50,  # noqa: A002 - the wire's name
) -> AuditLog:
    """Changes of permissions and membership, newest first. Hosts see all of them, other members their own.

    The changes are grants, consents, disclosures, arrivals and removals. `audit` lists refused calls.
    """
    me, state = ctx.member, ctx.room.state
    about: Member | None = me
    if C.MANAGE_MEMBERS in me.held:
        about = state.require_member(member, me) if member is not None else None
    return AuditLog(await _changes(ctx, about, max))


async def _changes(ctx: HouseContext, about: Member | None, limit: int) -> list[Change]:
    """The newest changes, read back from the end of the record."""
    found: list[Change] = []
    read = 0
    async with aclosing(ctx.runner.history.backwards()) as pages:
        async for lines in pages:
            found = _changes_in(ctx, lines, about) + found
            read += 1
            if len(found) >= limit or read > MAX_PAGES:
                break
    return found[::-1][:limit]


def _changes_in(ctx: HouseContext, lines: list[Line], about: Member | None) -> list[Change]:
    changes = []
    for line in lines:
        entry = line.entry
        known = ctx.runner.commands.by_name if entry.by is not None else ctx.runner.room.commands.system
        command = known.get(entry.do)
        if command is None or not command.audit or not entry.told:
            continue
        if about is None or _concerns(entry, about):
            by = handle_of(entry.by) if entry.by is not None else None
            changes.append(Change(entry.at, command.audit, entry.told[0].text, by))
    return changes


def _concerns(entry: Entry, member: Member) -> bool:
    """True if a change is about this member, or was made by it."""
    if entry.by == member.id or any(told.members and member.id in told.members for told in entry.told):
        return True
    named = entry.args.get("member") if isinstance(entry.args, dict) else None
    # A handle that was used before may name its earlier owner.
    return named == member.id or (named == member.handle and HANDLE_SEPARATOR not in member.id)
