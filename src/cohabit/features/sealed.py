"""Sealed rooms: what a player sees is shown to others only if that player allows it.

A room whose world hides things is sealed, unless its scenario says ``sealed: false``. The members whom the scenario
lets see everything are named to everybody who joins; nobody else can see everything later. A host cannot pass on what a
seat sees, cannot get a token of somebody who sees something hidden, cannot give the seat of a player whom it removed to
somebody else in the same game, and cannot see by a save what a player has to itself.
"""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.grant import ROLES, Capability, Layer, role_or_default
from cohabit.model.seat import SeatId
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import system_entry
from cohabit.room.feature import Feature, Private
from cohabit.room.play import seats
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState, handle_of
from cohabit.scenario import Scenario
from cohabit.world import World

C = Capability
ALL = frozenset({C.READ_ALL})
MAX_GAMES = 1000
"""The number of games of a room for which it is remembered who has seen which seat."""


class Keeper(Struct, omit_defaults=True):
    """The player who has seen what is hidden in a seat."""

    identity: str
    sits: bool = True  # since this game began, or was loaded; a keeper who then leaves its seat frees it for others


class Seal(Struct, omit_defaults=True):
    """Of a room whose world hides things."""

    is_open: bool = False  # the scenario says that the room is not sealed
    see_all: list[str] = []  # the ids of members whom the scenario lets see everything
    games: dict[str, dict[SeatId, Keeper]] = {}  # a save can bring back an earlier game
    known: list[str] = []  # games of a player of whom somebody else got a token later
    moved: dict[str, int] | None = None  # the last entry with which each game was played on, if the world deals once
    to_move: list[SeatId] = []  # after the last entry; with `moved`
    over: list[str] | None = None  # earlier games that were played to their end


SEAL = Slice("sealed", Seal)


@system_entry()
def token_known(ctx: Context, identity: str) -> None:
    """Somebody else got a token of a player. What it saw in the games until then must not be seen with that token."""
    kept = SEAL.read(ctx.state)
    seen = [game for game, keepers in kept.games.items() if any(one.identity == identity for one in keepers.values())]
    kept.known = [*kept.known, *(game for game in seen if game not in kept.known)][-MAX_GAMES:]


@system_entry()
def looked(ctx: Context, members: list[str]) -> None:
    """Players have called, and may have seen what is hidden in their seats."""
    _follow_seats(ctx, SEAL.read(ctx.state), members)


def _names(handles: Iterable[str]) -> str:
    *others, last = handles
    return f"{', '.join(others)} and {last} see" if others else f"{last} sees"


def _keepers(state: RoomState) -> dict[SeatId, Keeper]:
    return SEAL.read(state).games.get(state.game, {})


class SealedFeature(Feature):
    name = "sealed"
    room_slice = SEAL

    def opening(self, scenario: Scenario, world: World) -> Seal | None:
        if not world.spec.hides(scenario.partial_intel):
            return None
        for i, known in enumerate(scenario.entry.agent_keys if scenario.entry is not None and scenario.sealed else ()):
            if known.may is not None and C.READ_ALL in known.may:
                raise BadArgs(
                    f"entry.agent_keys[{i}]: this key gives read_all. In a sealed room only members of the scenario "
                    "see everything: add it to agents with the role observer, or set sealed to false"
                )
        named = [agent.id for agent in scenario.agents if ROLES[role_or_default(agent.role, agent.kind)] >= ALL]
        return Seal(
            not scenario.sealed, named, moved={} if world.spec.deals_once and scenario.sealed else None, over=[]
        )

    # -- changes ----------------------------------------------------------------------------------
    def follow(self, ctx: Context) -> None:
        kept = SEAL.read(ctx.state)
        if kept.moved is not None and (kept.to_move != ctx.state.waiting_for or ctx.state.game not in kept.moved):
            kept.to_move = list(ctx.state.waiting_for)
            _played_on(ctx.room, kept.moved)

    def follow_roster(self, ctx: Context) -> None:
        kept = SEAL.read(ctx.state)
        if kept.is_open:
            return
        _follow_seats(ctx, kept)
        for member in ctx.state.members.values():
            if C.READ_ALL in member.held and member.id not in kept.see_all:
                limit = Layer("limit", but=(C.READ_ALL,))
                member.set_layers([*(layer.without(ALL) for layer in member.layers), limit])
                ctx.room.roster_changed()

    def acted(self, room: BaseRoom, member: Member) -> None:
        if (moved := SEAL.read(room.state).moved) is not None:
            _played_on(room, moved)

    def game_loaded(self, ctx: Context, played: Mapping[str, SeatId]) -> None:
        """A game that is continued was not played on by that."""
        kept = SEAL.read(ctx.state)
        kept.to_move = list(ctx.room.world.to_move()) if kept.moved is not None else []

    def game_ends(self, ctx: Context, is_loaded: bool) -> None:
        """Players who lose their seats to another game have not given them up. A loaded game is for its own players."""
        kept, state = SEAL.read(ctx.state), ctx.state
        if kept.over is not None and not is_loaded:  # also of one that was over before, and was then played again
            is_over = [state.game] if state.over_since is not None else []
            kept.over = [*(game for game in kept.over if game != state.game), *is_over][-MAX_GAMES:]
        for keepers in kept.games.values():
            for keeper in keepers.values():
                keeper.sits = False
        for member in state.members.values() if is_loaded else ():
            if member.seat is not None and self.closes_seat(ctx.room, member, member.seat):
                ctx.tell(f"{member.handle} leaves seat {member.seat}: another player had it in this game", "roster")
                member.seat = None

    # -- questions --------------------------------------------------------------------------------
    def keeps_from(self, room: BaseRoom, member: Member | None, given: frozenset[Capability]) -> str:
        kept = SEAL.read(room.state)
        if kept.is_open or C.READ_ALL not in given or (member is not None and member.id in kept.see_all):
            return ""
        return (
            "this room is sealed: only members whom its scenario names see everything. To see what one seat sees, ask "
            "its player (`ask` with through)"
        )

    def keeps_private(self, room: BaseRoom, member: Member | None, what: Private) -> str:
        if SEAL.read(room.state).is_open:
            return ""
        if member is None:
            return "this room is sealed: everybody who joins has a token that nobody else knows"
        if what == "view":
            return (
                f"this room is sealed: only {member.handle} can share what its seat sees. The member who wants to see "
                "it asks (`ask` with through), and the player answers (`allow`)"
            )
        if C.READ_ALL in member.held | member.role_grant:
            who = member.handle
            return f"this room is sealed, and {who} sees everything in it: only {who} can replace its token"
        keeps = any(keeper.identity == member.identity for keeper in _keepers(room.state).values())  # it was removed
        if room.state.over_since is not None or (member.seat is None and member.through is None and not keeps):
            return ""
        return (
            f"this room is sealed, and {member.handle} sees what is hidden in a running game: only {member.handle} can "
            "replace its token (`rotate_token`). You can when the game is over, or when it has left its seat"
        )

    def closes_seat(self, room: BaseRoom, member: Member, seat: SeatId) -> str:
        keeper = _keepers(room.state).get(seat) if member.identity else None  # a built-in player shows it to nobody
        if keeper is None or keeper.identity == member.identity:
            return ""
        return f"this room is sealed, and another player has seat {seat} in this game; you can take it in the next game"

    def games_over(self, room: BaseRoom) -> Collection[str] | None:
        return SEAL.read(room.state).over

    def closes_save(self, room: BaseRoom, game: str, seq: int) -> str:
        kept = SEAL.read(room.state)
        if kept.is_open:
            return ""
        if game in kept.known:
            return (
                "this room is sealed, and since this game was played somebody else got a token of one of its players; "
                "begin a new game (`rematch`)"
            )
        if kept.moved is not None and seq < kept.moved.get(game, seq + 1):
            return (
                "this room is sealed, and this game was played on after the save: the same secrets would come again, "
                "and some are known by now. Load a save of where the game was left, or begin a new one (`rematch`)"
            )
        return ""

    def notice(self, room: BaseRoom) -> str:
        kept, members = SEAL.read(room.state), room.state.members
        named = [handle_of(who) for who in kept.see_all if who in members]
        if kept.is_open:
            named = [member.handle for member in members.values() if C.READ_ALL in member.held]
        rule = (
            "This room is not sealed: a host can let others see what a player sees, and the player is told."
            if kept.is_open
            else "This room is sealed: what a player sees is shown to others only if that player allows it."
        )
        only = "" if kept.is_open else "Only "
        return f"{rule} {only}{_names(named)} everything." if named else f"{rule} Nobody sees everything."


def _follow_seats(ctx: Context, kept: Seal, looked: Collection[str] = ()) -> None:
    """Remember who has seen a seat in this game, until that player leaves it by itself."""
    state, game, is_freed = ctx.state, ctx.state.game, False
    keepers = kept.games.get(game, {})
    for seat, keeper in list(keepers.items()):
        member = ctx.room.member_of(keeper.identity)
        if member is not None and member.seat == seat:
            keeper.sits = True
        elif keeper.sits and (member is not None or keeper.identity in state.former):
            del keepers[seat]
            is_freed = True
        else:  # it was removed, or lost its seat to another game
            keeper.sits = False
    if is_freed:  # a built-in player that gave way, or another claim, gets the seat
        seats.adopt_seats(ctx.room, state.seats)
    for member in state.members.values():
        has_looked = member.here or member.id in looked
        if has_looked and member.identity and member.seat is not None and member.seat not in keepers:
            keepers[member.seat] = Keeper(member.identity)
    if keepers:
        kept.games[game] = keepers
        if len(kept.games) > MAX_GAMES:
            del kept.games[next(iter(kept.games))]
    else:
        kept.games.pop(game, None)


def _played_on(room: BaseRoom, moved: dict[str, int]) -> None:
    moved[room.state.game] = room.record.seq + 1
    if len(moved) > MAX_GAMES:
        del moved[next(iter(moved))]
