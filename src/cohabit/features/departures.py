"""The seats that players have left in the current game.

Apart from `absent_players`, whose slice this is: that one is asked after each action once it is active, this one only
when somebody leaves a seat.
"""

from msgspec import Struct

from cohabit.bodies import DepartMode, EmbodiedWorld
from cohabit.model.seat import Seat, SeatId
from cohabit.room.base import BaseRoom
from cohabit.room.feature import Feature
from cohabit.room.play.turn_order import ends_turns
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState
from cohabit.room.timers import can_skip


class Left(Struct, omit_defaults=True):
    game: str = ""  # the game that ``seats`` are of
    seats: list[SeatId] = []  # players have left them; other members may have taken them since


LEFT = Slice("absent_players", Left)


def game_now(state: RoomState) -> str:
    return f"{state.games} {state.game}"


def can_play_on(room: BaseRoom) -> bool:
    """True if a game in this room can continue without a player."""
    if ends_turns(room.state):
        return True
    if isinstance(room.world, EmbodiedWorld):
        return False
    return room.pace == "rounds" or (room.pace == "turns" and can_skip(room.world))


class DeparturesFeature(Feature):
    name = "departures"

    def departure_mode(self, room: BaseRoom, member: Member, seat: Seat, mode: DepartMode) -> DepartMode:
        if not can_play_on(room):
            return mode
        kept, game = LEFT.change(room.state), game_now(room.state)
        before = [left for left in kept.seats if left != seat.id] if kept.game == game else []
        kept.game, kept.seats = game, [*before, seat.id]
        return mode
