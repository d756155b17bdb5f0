"""Links with which anybody can watch a room: `watch_link`.

A watch link is an invite that the house accepts at once. All who use it share one member, so nobody has to give a name,
and it is listed, revoked and limited like any invite. Its token can change nothing: see ``WATCH_LINK``.
"""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import Conflict
from cohabit.house.access.gate import join
from cohabit.house.access.invites import create_invite, revoke_invite
from cohabit.house.calls.context import HouseContext
from cohabit.house.running.calls import SystemCall
from cohabit.model.grant import Capability
from cohabit.room.access.members import check_invitation
from cohabit.room.base import Context
from cohabit.room.commands import command, command_of

C = Capability
WATCHERS = "watchers"
"""The handle of the member that is shared by all who watch with the link."""
MAY = (C.WATCH, C.READ_ROSTER, C.SEE_SCREEN)
JOIN = command_of(join)
LOBBY = "this room has a lobby, in which those who watch would wait; turn it off first (`set_entry`)"


class WatchLink(Struct, omit_defaults=True):
    """``link`` and ``token`` are empty if the link was turned off."""

    link: str = ""
    token: str = ""
    invite: str = ""
    note: str = ""  # how to complete the link


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True)
async def watch_link(
    ctx: HouseContext,
    off: Annotated[bool, Meta(description="turn the link off, and create no new one")] = False,
) -> WatchLink:
    """Create a link with which anybody can watch this room, without a name. It shows what is public.

    A room has one such link. A new one replaces it: those who watch with the old link have to open the new one.
    """
    house = ctx.house
    async with house.exclusive:
        old = [known for known in house.identities.all_invites(ctx.room.id) if known.watches and not known.revoked]
        if not off:
            _check_entry(ctx, replaces=bool(old))
        for known in old:
            await revoke_invite(ctx, known.id)
    if off:
        return WatchLink()
    handle = WATCHERS
    while ctx.room.state.with_handle(handle) is not None:
        handle += "-2"
    made = await create_invite(ctx, handle, "human", may=list(MAY), watches=True)
    credential = house.identities.identify(made.code, house.clock.now())
    joined = await join(HouseContext(house, credential, JOIN, ctx.runner), keep_token=True)
    if joined.status != "joined":
        raise Conflict(LOBBY)
    if ctx.room.hooks["full_view_until"]:  # the room is open to spectators
        member = ctx.room.state.with_handle(joined.member)
        if member is not None:  # its id is another one than its handle if there was such a link before
            await ctx.runner.submit(SystemCall("spectates", {"member": member.id}))
    return WatchLink(made.link, made.code, made.invite, made.note)


def _check_entry(ctx: HouseContext, replaces: bool) -> None:
    """Refuse before the old link ends, if the new one cannot be made or nobody could enter with it."""
    room, policy = ctx.room, ctx.room.state.entry_policy
    asking = Context(room, room.state, ctx.member, ctx.house.clock.now())
    check_invitation(asking, WATCHERS, "human", None, None, None, MAY)
    if policy.locked:
        raise Conflict("this room is locked; unlock it first (`set_entry`)")
    if policy.lobby:
        raise Conflict(LOBBY)
    if not replaces and len(room.state.members) >= ctx.house.settings.members_limit:
        raise Conflict("this room is full; remove a member first")
