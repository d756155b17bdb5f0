"""What left the house: the commands that show it, and a signed export of it."""

from copy import copy
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.house.access.signing import EGRESS, EgressExport, EgressOfBackend, EgressOfMember, HouseKey
from cohabit.house.calls.context import HouseContext
from cohabit.house.calls.resolve import unknown_room
from cohabit.house.running.egress import Account
from cohabit.house.running.rooms import HOUSE_ROOM
from cohabit.house.running.runner import RoomRunner
from cohabit.model.egress import Amount
from cohabit.model.grant import Capability
from cohabit.room.commands import command
from cohabit.room.state import handle_of

C = Capability


class EgressCount(Struct):
    members: list[EgressOfMember]


@command(category="meta", where="house")
async def egress(
    ctx: HouseContext,
    member: Annotated[str | None, Meta(description="for hosts: only this member")] = None,
) -> EgressCount:
    """How many bytes were sent to each member's backend, by kind, over every interface, and what is left of its budget.

    Hosts see all members, also those who have left; other members see their own. `export_egress` gives hosts a signed
    copy.
    """
    me, state = ctx.member, ctx.room.state
    about = me
    if C.MANAGE_MEMBERS in me.held and member is not None:
        about = state.require_member(member, me)
    await _store(ctx.runner)
    accounts = [ctx.runner.egress.of(about)]
    if C.MANAGE_MEMBERS in me.held and member is None:
        accounts = list(ctx.runner.egress.accounts.values())
    return EgressCount([_of_account(account) for account in accounts])


class ExportedEgress(Struct):
    export: str  # the signed text
    key: dict[str, str]  # the public key of this house, also at /.well-known/cohabit-key.json


@command(category="host", where="house", about="house")
async def export_egress(
    ctx: HouseContext,
    room: Annotated[
        str | None,
        Meta(description=f"default: the room of your token; {HOUSE_ROOM}: what was sent outside of all rooms"),
    ] = None,
) -> ExportedEgress:
    """What was sent to the backends of a room, signed by this house. `cohabit egress --verify FILE` checks it.

    For hosts of the room and of the house.
    """
    runner = _room_for_host(ctx, room or ctx.credential.room)
    await _store(runner)
    history, key = runner.history, await ctx.house.need(HouseKey).load()
    members = [_of_account(account) for account in runner.egress.accounts.values()]
    said = EgressExport(EGRESS, runner.id, ctx.house.clock.now(), history.seq, history.digest.hex(), members)
    return ExportedEgress(key.sign(said), dict(key.public_jwk))


def _room_for_host(ctx: HouseContext, room: str | None) -> RoomRunner:
    if room is None:
        raise BadArgs(f"room: say which; {HOUSE_ROOM} is what was sent outside of all rooms")
    runner = ctx.house.rooms.runner_of(room)
    if runner is not None and ctx.is_host:
        return runner
    if runner is None or ctx.credential.room not in (None, room):
        raise unknown_room(room)
    member = runner.room.member_of(ctx.credential.identity)
    if member is None:
        raise unknown_room(room)
    if C.MANAGE_MEMBERS not in member.held:
        refusal = PermissionDenied("only a host of the room can export this; `egress` shows your own count")
        runner.refused(member.id, ctx.command.name, refusal)
        raise refusal
    return runner


async def _store(runner: RoomRunner) -> None:
    """What a host is told is on disk."""
    done = runner.egress.store()
    if done is not None:
        await done


def _of_account(account: Account) -> EgressOfMember:
    lines = [line.sent for line in account.backends.values() if line.kinds]
    limit = account.budget
    return EgressOfMember(
        member=handle_of(account.member) if account.member else lines[0].handle if lines else account.who,
        who=account.who,
        bytes=account.used,
        budget=limit,
        left=max(0, limit - account.used) if limit is not None else None,
        backends=[EgressOfBackend(s.backend, s.outside, s.bytes, _kinds(s.kinds), s.first, s.last) for s in lines],
    )


def _kinds(kinds: dict[str, Amount]) -> dict[str, Amount]:
    """Copies: this reply is counted, too."""
    return {kind: copy(amount) for kind, amount in sorted(kinds.items()) if amount.times or amount.bytes}
