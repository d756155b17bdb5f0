"""The link with which anybody watches a room: `watch_link`.

It is an invite that the house accepts at once, as one member for all who watch. So it is listed, revoked and limited
like any invite, and nobody who watches has to give a name. Its token changes nothing: see ``WATCH_LINK``.
"""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import Conflict
from cohabit.house.access.gate import join
from cohabit.house.access.invites import create_invite, revoke_invite
from cohabit.house.calls.context import HouseContext
from cohabit.model.grant import Capability
from cohabit.room.commands import command, command_of

C = Capability
WATCHERS = "watchers"
"""The handle of the member that all who watch with the link share."""
MAY = (C.WATCH, C.READ_ROSTER, C.SEE_SCREEN)
JOIN = command_of(join)


class WatchLink(Struct, omit_defaults=True):
    """``link`` and ``token`` are empty if there is none any more."""

    link: str = ""
    token: str = ""
    invite: str = ""
    note: str = ""  # how to complete the link


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True)
async def watch_link(
    ctx: HouseContext,
    off: Annotated[bool, Meta(description="only end the link that there is")] = False,
) -> WatchLink:
    """Create the link with which anybody watches this room, without a name. It shows what is public.

    There is one such link: a new one replaces the last, and those who watch with the old one have to open it.
    """
    house = ctx.house
    async with house.exclusive:
        for known in house.identities.all_invites(ctx.room.id):
            if known.watches and not known.revoked:
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
        raise Conflict("this room has a lobby: admit the watchers there, or close it (`set_entry`)")
    return WatchLink(made.link, made.code, made.invite, made.note)
