"""The whole view as front ends get it, live and in films."""

from hashlib import blake2b

from msgspec import field
from msgspec.json import encode

from cohabit.model.seat import Eye
from cohabit.room.base import BaseRoom
from cohabit.room.seeing.looking import ViewReply
from cohabit.room.seeing.view import View
from cohabit.room.state import Member


class NextView(ViewReply, omit_defaults=True):
    """A whole view, and the handles of the members who hold the seats. ``seat`` is the member's own."""

    players: dict[str, str] = field(default_factory=dict)
    seat: str | None = None


def view_id(seen: View) -> str:
    """A digest of what a member sees. It fits no other view, and says nothing that the member has not seen."""
    return blake2b(encode(seen), digest_size=6).hexdigest()


def view_for(room: BaseRoom, eye: Eye, me: Member | None) -> NextView:
    """The reply of `next_view` to a member with this eye; None: to somebody without a seat and a turn."""
    seen = room.view_through(eye)
    return NextView(
        seen.text, seen.to_move, me is not None and room.is_turn_of(me), seen.observation, seen.over, seen.paused,
        seen.tick, seen.total_reward, id=view_id(seen), players=room.state.players,
        seat=me.seat if me is not None else None,
    )  # fmt: skip
