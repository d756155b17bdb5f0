"""Bodies: agents jack into avatars, leave them behind and return to them. In worlds whose seats are bodies.

state       what a room keeps of them
avatars     what there is, and how it follows from seats and bodies; jacking in and out
own         which avatars a member has
actions     what a body can do in every such world
sleep       players who are absent, and rounds that do not wait for them
views       what an agent is shown of its avatars
"""

from collections.abc import Iterator, Mapping

from cohabit.bodies import DepartMode, EmbodiedWorld
from cohabit.features.bodies import actions, avatars, sleep
from cohabit.features.bodies.own import (
    avatars_of,
    check_limit,
    owner_of,
    why_no_body,
    why_no_seat,
    why_not_in,
)
from cohabit.features.bodies.state import BODIES, Bodies, avatars_in
from cohabit.features.bodies.views import bodies_text, world_of
from cohabit.model.seat import Seat, SeatId
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Command
from cohabit.room.decision import Decision
from cohabit.room.feature import Feature
from cohabit.room.state import Member
from cohabit.room.timers import Due
from cohabit.scenario import Scenario
from cohabit.world import World


class BodiesFeature(Feature):
    name = "bodies"
    room_slice = BODIES
    modules = (avatars, actions, sleep)

    def active(self, room: BaseRoom) -> bool:
        return isinstance(room.world, EmbodiedWorld)

    def opening(self, scenario: Scenario, world: World) -> Bodies | None:
        seconds = scenario.sleep_seconds
        if not seconds or not isinstance(world, EmbodiedWorld) or world.pace != "rounds":
            return None
        return Bodies(sleep_ms=seconds * 1000)

    def follow(self, ctx: Context) -> None:
        avatars.follow(ctx)
        sleep.follow(ctx)

    def due(self, room: BaseRoom) -> Iterator[Due]:
        return sleep.due(room)

    def round_ended(self, room: BaseRoom) -> None:
        sleep.round_ended(room)

    def acted(self, room: BaseRoom, member: Member) -> None:
        """Count an action of a body. In rounds, a choice counts once."""
        avatar = avatars.controlled(room, member) if has_chosen(room, member) else None
        if avatar is not None:
            avatar.actions += 1
        sleep.acted(room, member)

    def game_ends(self, ctx: Context, is_loaded: bool) -> None:
        if not is_loaded:
            avatars.end_game(ctx, count=True)

    def game_loaded(self, ctx: Context, played: Mapping[str, SeatId]) -> None:
        avatars.end_game(ctx, count=False)
        avatars.adopt_bodies(ctx, played)

    def after_downtime(self, room: BaseRoom, gap: int) -> None:
        for avatar in avatars_in(room.state).values():
            if avatar.by is not None:
                avatar.bound_at += gap

    def take_seat(self, ctx: Context, member: Member, seat: SeatId | None) -> bool:
        """A member without a wish gets a body of its own; a seat may be the body of a built-in player."""
        room = ctx.room
        own = [avatar.id for avatar in avatars_of(room, owner_of(member)) if avatar.seat == seat]
        if seat is None or (own and seat not in room.seats):
            avatars.take_body(ctx, member, own[0] if own else None)
            return True
        check_limit(room, member)
        return False

    def departure_mode(self, room: BaseRoom, member: Member, seat: Seat, mode: DepartMode) -> DepartMode:
        """A member that leaves the room while its body is in danger leaves it in the world."""
        if mode in ("left", "removed") and room.crash_on_error(world_of(room).body, seat.id).unsafe:
            mode = "dormant"
        for avatar in avatars_in(room.state).values():
            if avatar.by == member.id:
                avatar.left_as = mode
        return mode

    def refuses(self, room: BaseRoom, member: Member, command: Command) -> Decision | None:
        """The rules of the world about death and about turning hold for every way into a body. A replay does not ask,
        so rooms whose record is older keep what happened in them."""
        why = ""
        if command.name == "look" and world_of(room).turning_takes_time:
            why = "turning takes a step here: use the actions of this world, such as moving in that direction"
        elif command.name == "create_avatar":
            why = why_no_body(room, owner_of(member), None)
        elif command.name in ("sit", "jack_in") and avatars.controlled(room, member) is None:
            why = (why_no_seat if command.name == "sit" else why_not_in)(room, member)
        return Decision("GAME_REJECTED", why) if why else None

    def without_seat(self, member: Member, command: Command) -> str:
        return f"{command.name} requires a body, and {member.handle} has none. Call `jack_in` to take one"

    def keeps_seated(self, room: BaseRoom, seat: SeatId) -> str:
        """A body that is falling, fighting or the like cannot be left."""
        unsafe = room.crash_on_error(world_of(room).body, seat).unsafe
        return f"you cannot leave this body now: {unsafe}; act on, and try again when it is safe" if unsafe else ""

    def absent(self, room: BaseRoom) -> list[SeatId]:
        return sleep.absent(room)

    def reply_note(self, room: BaseRoom, member: Member) -> str:
        """The hint to come back to life, for a player who has died in the round that its action ended."""
        world = world_of(room)
        if member.seat not in room.seats or not world.respawns or room.crash_on_error(world.is_alive, member.seat):
            return ""
        return "`respawn` brings you back to life."

    def view_lines(self, room: BaseRoom, member: Member) -> str:
        return "\n".join(filter(None, (sleep.text(room, member), bodies_text(room, member))))


def has_chosen(room: BaseRoom, member: Member) -> bool:
    """True if an action counts: in rounds, only the first choice of a round does."""
    return room.pace != "rounds" or member.seat in room.state.waiting_for
