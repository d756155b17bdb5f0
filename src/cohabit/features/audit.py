"""Records the invites, tokens, refused calls, sent data and deletions of the house, which `audit` shows."""

from typing import Any

from cohabit.room.access.admission import managers
from cohabit.room.access.members import drop_member, forget_former
from cohabit.room.base import Context
from cohabit.room.commands import system_entry
from cohabit.room.feature import Feature
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.state import handle_of


@system_entry(audit="invited")
def invited(ctx: Context, invite: str, room: str, by: str, handle: str, change: str, role: str | None = None) -> None:
    """An invite was created, accepted or revoked. The house record has all of them, a room those to it."""
    as_role = f" ({role})" if role is not None else ""
    ctx.tell(f"room {room}: {by}'s invite for {handle}{as_role} was {change}", ACCOUNT, members=())


@system_entry(audit="credential")
def credential(ctx: Context, member: str, change: str, by: str | None = None, label: str = "") -> None:
    """A credential of a member was issued, rotated or revoked. The member and the roster are notified."""
    who, author = ctx.state.members.get(member), handle_of(by) if by is not None else "a host of this house"
    if who is None:
        return
    if by == member:
        author = who.handle
    yours, theirs = _CREDENTIAL_CHANGES[change]
    named = f" ({label})" if label else ""
    ctx.tell(f"{'you' if by == member else author} {yours}{named}", ACCOUNT, members=(member,))
    ctx.tell(f"{author} {theirs.format(who.handle)}", "roster")


_CREDENTIAL_CHANGES = {
    "issued": ("created a token for you", "created a token for {}"),
    "replaced": ("replaced your token", "replaced the token of {}"),
    "revoked": ("revoked your tokens", "revoked the tokens of {}"),
}


@system_entry(audit="blocked")
def refused(ctx: Context, lines: list[dict[str, Any]]) -> None:
    """Calls were refused. The audit has them first; this puts them into the chain of the record."""
    ctx.state.audited = max(ctx.state.audited, max((line["id"] for line in lines), default=0))
    ctx.room.audit.recorded(ctx.state.audited)


@system_entry()
def refusals_deleted(ctx: Context, before: int) -> None:
    """The house has deleted the refused calls before this time. This record still has some; the audit does not."""
    ctx.state.refusals_from = before


@system_entry(audit="sent")
def sent_outside(ctx: Context, member: str, backend: str, replies: int, frames: int, size: int) -> None:
    """A member that uses a model elsewhere got replies and pushed frames since the last such entry."""
    text = f"to {backend} through {handle_of(member)}: {replies} replies and {frames} pushed frames ({size} bytes)"
    ctx.tell(text, ACCOUNT, members=())


@system_entry(audit="removed")
def withdrawn(ctx: Context, identity: str) -> None:
    """An identity is deleted, so it leaves: the room, also an archived one, or its lobby."""
    member, knock = ctx.room.member_of(identity), ctx.state.knock_of(identity)
    if member is not None:
        drop_member(ctx, member)
        forget_former(ctx.state, member)
        ctx.tell(f"{member.handle} left", "roster")
    if knock is not None:
        del ctx.state.knocks[knock.id]
        ctx.tell(f"{knock.name} no longer waits in the lobby", "roster", members=managers(ctx.state))


@system_entry(audit="removed")
def data_deleted(ctx: Context, member: str) -> None:
    """The data of a former member was deleted. The record was written again: its moves are under this pseudonym."""
    ctx.tell(f"the messages and the name of a former member were deleted; its moves are those of {member}", "roster")


class AuditFeature(Feature):
    name = "audit"
