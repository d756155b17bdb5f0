"""What is recorded for the audit alone: who made an invite, and what became of it. The house shows it (`audit`)."""

from cohabit.room.base import Context
from cohabit.room.commands import system_entry
from cohabit.room.feature import Feature
from cohabit.room.seeing.visibility import ACCOUNT


@system_entry(audit="invited")
def invited(ctx: Context, invite: str, room: str, by: str, handle: str, change: str, role: str | None = None) -> None:
    """An invite was created, accepted or revoked. The house record has all of them, a room those to it."""
    as_role = f" ({role})" if role is not None else ""
    ctx.tell(f"room {room}: {by}'s invite for {handle}{as_role} was {change}", ACCOUNT, members=())


class AuditFeature(Feature):
    name = "audit"
