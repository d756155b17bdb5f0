"""The command ``thumbnail``: a room in a few lines, for lists of rooms.

It shows what everybody may see, no matter who asks, so it is made once for all who look at a list, and at most every
few seconds. Somebody who is no member yet gets it of rooms that people of this house enter freely.
"""

from collections.abc import Hashable

from msgspec import Struct

from cohabit.errors import UnknownRoom
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.calls.newest import Newest
from cohabit.house.running.calls import PeekCall
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.keyframes import Keyframes
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.seat import PUBLIC
from cohabit.room.commands import command
from cohabit.room.room import Room
from cohabit.room.state import Member

C = Capability
MAX_ROOMS = 1_000
"""The number of rooms whose thumbnails are kept."""
KEPT_MS = 3_000
"""A thumbnail serves for this long, whether or not the room has changed: that would tell of what is hidden."""
MAX_LINES, MAX_COLUMNS = 14, 48
MAX_SCORES = 6
MAX_PLAYERS = 16
CAN_LOOK = (C.WATCH, C.READ_ALL)


class Score(Struct):
    name: str
    score: int | float


class Thumbnail(Struct):
    lines: list[str]  # of what is public
    scores: list[Score]
    players: dict[str, str]  # by seat
    over: bool


class Made(Struct):
    record: Hashable  # another room may have its name by now, or the data of a person be deleted
    at: int
    shown: Thumbnail

    def serves(self, record: Hashable, now: int) -> bool:
        return self.record == record and now < self.at + KEPT_MS


class Thumbnails:
    """The newest thumbnails, by room."""

    def __init__(self) -> None:
        self._newest: Newest[Made] = Newest(MAX_ROOMS)

    async def get(self, ctx: HouseContext) -> Thumbnail:
        clock, runner = ctx.house.clock, ctx.runner
        record = (ctx.room.state.secret, ctx.house.need(Keyframes).forgotten(ctx.room.id))

        async def make() -> Made:
            shown: Thumbnail = await runner.submit(PeekCall(_make))
            return Made(record, clock.now(), shown)

        made = await self._newest.get(ctx.room.id, lambda kept: kept.serves(record, clock.now()), make)
        return made.shown


def _make(room: Room) -> Thumbnail:
    text = room.view_through(PUBLIC).observation.text
    standings = room.crash_on_bug(room.world.standings)
    return Thumbnail(
        [line.rstrip()[:MAX_COLUMNS] for line in text.strip("\n").split("\n", MAX_LINES)[:MAX_LINES]],
        [Score(one.name, one.score) for one in standings[:MAX_SCORES]],
        dict([*room.state.players.items()][:MAX_PLAYERS]),
        room.is_over(),
    )


def may_see(house: Services, caller: Credential, runner: RoomRunner, member: Member | None) -> bool:
    """True if a caller who may enter a room gets its thumbnail."""
    state = runner.room.state
    if runner.failure is not None:
        return False
    if member is not None:
        return not member.held.isdisjoint(CAN_LOOK) and not runner.egress.of(member).is_used_up
    me, policy = house.identities.get(caller.identity), state.entry_policy
    waits = policy.locked or policy.lobby or caller.identity in state.blocked
    return me is not None and me.kind == "human" and state.guests and caller.room is None and not waits


@command(category="read", where="house", needs=CAN_LOOK, before_joining=True, for_model=False, sends="views")
async def thumbnail(ctx: HouseContext) -> Thumbnail:
    """This room in a few lines, with its scores and players, as everybody may see it. It may be some seconds old."""
    if not may_see(ctx.house, ctx.credential, ctx.runner, ctx.maybe_member):
        raise UnknownRoom(f"you are not a member of room {ctx.room.id!r}; call `join` first")
    return await ctx.house.need(Thumbnails).get(ctx)
