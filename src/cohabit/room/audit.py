"""The audit log of refused calls, and the command that shows it. Repeats are counted, so it cannot be flooded."""

from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.model.grant import Capability
from cohabit.room.commands import Resource, command
from cohabit.room.context import Context
from cohabit.room.grants import Granted, grant_wire
from cohabit.room.state import Member

C = Capability
WINDOW_MS = 60_000
REFUSALS_KEPT = 500
"""Refusals kept per room, in memory and in the store."""


class Refusal(Struct, omit_defaults=True):
    """One line of the audit log: ``count`` identical refusals within a minute of ``at``."""

    at: int
    member: str
    command: str
    code: str
    reason: str
    count: int = 1
    id: int = 0


class Audit:
    """The newest refusals in one room, and those not stored yet."""

    def __init__(self) -> None:
        self.kept: list[Refusal] = []
        self._open: dict[tuple[str, str, str], Refusal] = {}
        self.changed: dict[int, Refusal] = {}
        self._next = 1
        self.totals: dict[str, int] = {}  # by code, since the room was opened

    def refused(self, at: int, member: str, command: str, code: str, reason: str) -> None:
        key = (member, command, code)
        self.totals[code] = self.totals.get(code, 0) + 1
        line = self._open.get(key)
        if line is None or at - line.at >= WINDOW_MS:
            line = Refusal(at, member, command, code, reason, 0, self._next)
            self._next += 1
            self._open[key] = line
            self.kept.append(line)
            if len(self.kept) > REFUSALS_KEPT:
                gone = self.kept.pop(0)
                self._open = {k: v for k, v in self._open.items() if v is not gone}
        line.count += 1
        self.changed[line.id] = line

    def drain(self) -> list[Refusal]:
        """The lines that changed since the last call."""
        changed, self.changed = list(self.changed.values()), {}
        return changed

    def load(self, kept: list[Refusal]) -> None:
        """Load the stored refusals."""
        self.kept = kept[-REFUSALS_KEPT:]
        self._next = max((line.id for line in kept), default=0) + 1


PRIVATE_REASONS = ("GAME_REJECTED", "UNKNOWN_ASSET", "OUT_OF_BOUNDS", "SCOPE_VIOLATION", "BAD_ARGS", "UNKNOWN_COMMAND")
"""Refusals whose reason comes from the world or quotes what the caller sent, and may reveal hidden information."""


def _shown(refusal: Refusal, reader: Member) -> Refusal:
    if refusal.code in PRIVATE_REASONS and C.READ_ALL not in reader.held:
        return structs.replace(refusal, reason="(shown to members with read_all)")
    return refusal


class AuditReply(Struct):
    refusals: list[Refusal]
    grants: list[Granted]


@command(
    category="host",
    needs=C.MANAGE_MEMBERS,
    resource=Resource("audit", "Audit", "Refused calls, for hosts"),
)
def audit(
    ctx: Context,
    member: Annotated[str | None, Meta(description="only the refusals of this member")] = None,
    max: Annotated[int, Meta(ge=1, le=500)] = 50,  # noqa: A002 - the wire's name
) -> AuditReply:
    """Refused calls, newest first, and all grants that differ from the member's role.

    Grant changes are listed in `events`.
    """
    wanted = ctx.state.require_member(member, ctx.member).id if member is not None else None
    lines = [_shown(r, ctx.member) for r in reversed(ctx.room.audit.kept) if wanted in (None, r.member)]
    changed = [Granted(m.handle, grant_wire(m)) for m in ctx.state.members.values() if m.layers]
    return AuditReply(lines[:max], changed)
