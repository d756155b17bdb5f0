"""Commands that show what left the house, and a signed export of it."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.house.access.signing import EGRESS, EgressExport, EgressOfBackend, EgressOfMember, HouseKey
from cohabit.house.calls.across import question, where_room_is
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.calls.resolve import unknown_room
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.running.egress import Account, up
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.identities import OPERATOR
from cohabit.model.egress import Amount
from cohabit.model.grant import Capability
from cohabit.room.commands import command
from cohabit.room.state import handle_of

C = Capability


class EgressCount(Struct, omit_defaults=True):
    members: list[EgressOfMember]
    step: int = 0  # in a sealed room while its game runs: budgets and counts of others are multiples of this many bytes


@command(category="meta", where="house")
async def egress(
    ctx: HouseContext,
    member: Annotated[
        str | None, Meta(description="for hosts: only those with this handle, or `who`, also if they have left")
    ] = None,
) -> EgressCount:
    """Count the bytes sent to each member's backend, by kind, over every interface, and what is left of its budget.

    Hosts see all members, also those who have left; other members see their own. `export_egress` gives hosts a signed
    copy.
    """
    me, accounts = ctx.member, [ctx.runner.egress.of(ctx.member)]
    if C.MANAGE_MEMBERS in me.held:
        if member is not None and (known := ctx.room.state.with_handle(member)) is not None:
            ctx.runner.egress.of(known)  # it has an account from now on
        everyone = ctx.runner.egress.accounts.values()
        accounts = [account for account in everyone if member in (None, _handle(account), account.who)]
        if not accounts:
            ctx.room.state.require_member(member or "", me)
    await _store(ctx.runner)
    shown = [_of_account(account, _step(account, me.identity)) for account in accounts]
    step = ctx.runner.egress.of(me).step
    return EgressCount(shown, step if step > 1 else 0)


class ExportedEgress(Struct):
    export: str  # the signed text
    key: dict[str, str]  # the public key of this house, also at /.well-known/cohabit-key.json


@command(category="host", where="house", needs=C.MANAGE_MEMBERS)
async def export_egress(ctx: HouseContext) -> ExportedEgress:
    """Export what was sent to the backends of this room's members, signed by the house. `cohabit egress --verify FILE`
    checks it."""
    return await _export(ctx, ctx.runner)


@command(category="host", where="house", about="house", host_only=True, across=where_room_is)
async def house_egress(
    ctx: HouseContext,
    room: Annotated[str | None, Meta(description="of this room; default: what was sent outside of all rooms")] = None,
) -> ExportedEgress:
    """Export what was sent to the backends of a room's members, or to callers outside of all rooms. The house signs
    it."""
    runner = ctx.house.rooms.runner_of(room or HOUSE_RECORD)
    if runner is None:
        raise unknown_room(room or HOUSE_RECORD)
    return await _export(ctx, runner)


@question
async def correct_sent(house: Services, identity: str, room: str, command: str, refused: bool, size: int) -> None:
    """Another node has sent the reply of a command that was called here, in another form: it is larger by ``size``."""
    runner = house.rooms.get(room)
    account = runner.egress.accounts.get(identity) if runner is not None else None
    called = runner.commands.get(command) if runner is not None else None
    if account is not None:
        account.line.add("refusals" if refused or called is None else called.sends, size, 0)


async def _export(ctx: HouseContext, runner: RoomRunner) -> ExportedEgress:
    await _store(runner)
    history, key = runner.history, await ctx.house.need(HouseKey).load()
    members = [_of_account(one, _step(one, ctx.credential.identity)) for one in runner.egress.accounts.values()]
    said = EgressExport(EGRESS, runner.id, ctx.house.clock.now(), members=members)
    if ctx.credential.identity == OPERATOR.id:
        # To everybody else, number and digest would show that something hidden has happened, and confirm what.
        said.entry, said.digest = history.seq, history.digest.hex()
    return ExportedEgress(key.sign(said), dict(key.public_jwk))


async def _store(runner: RoomRunner) -> None:
    """Store the counts before a host is told of them."""
    done = runner.egress.store()
    if done is not None:
        await done


def _step(account: Account, reader: str) -> int:
    return 1 if account.who == reader else account.step


def _handle(account: Account) -> str:
    """The handle that a member has, or had."""
    named = [line.sent.handle for line in account.backends.values() if line.kinds]
    return handle_of(account.member) if account.member else named[0] if named else account.who


def _of_account(account: Account, step: int) -> EgressOfMember:
    lines = [line.sent for line in account.backends.values() if line.kinds]
    limit, used = account.budget, up(account.used, step)
    return EgressOfMember(
        member=_handle(account),
        who=account.who,
        bytes=used,
        budget=limit,
        left=max(0, limit - used) if limit is not None else None,
        backends=[
            EgressOfBackend(
                s.backend,
                s.outside,
                up(s.bytes, step),
                _kinds(s.kinds) if step == 1 else {},
                s.first,
                s.last if step == 1 else 0,
            )
            for s in lines
        ],
    )


def _kinds(kinds: dict[str, Amount]) -> dict[str, Amount]:
    """Copies: this reply is counted, too. Others get none while a game in a sealed room runs: a new kind, such as
    messages, would show when a player got the first of them."""
    shown = sorted((kind, amount) for kind, amount in kinds.items() if amount.times or amount.bytes)
    return {kind: Amount(amount.times, amount.bytes) for kind, amount in shown}
