"""The games of a room: starting one from its seed, and remembering who has played which seat in it."""

from hashlib import blake2b

from cohabit.room.base import BaseRoom, Context
from cohabit.room.play import seats
from cohabit.room.play.claims import named_seats, seats_needed
from cohabit.room.play.seats import remember_seat, seat_in_game
from cohabit.room.state import RoomState
from cohabit.world import Seat

MAX_GAMES_REMEMBERED = 1000
"""The number of earlier games of a room for which it remembers who played which seat."""

MAX_STANDINGS_KEPT = 8
"""The number of standings of the last game that are remembered, the best first."""


def next_seed(ctx: Context) -> str:
    """The seed of a rematch. The secret of the room keeps members who know the last seed from computing it."""
    state = ctx.state
    secret = bytes.fromhex(state.secret)
    return blake2b(state.seed.encode(), key=secret, digest_size=16, person=b"rematch").hexdigest()


def stood_still(room: BaseRoom, gap: int) -> None:
    """No time has passed in the room for ``gap`` ms: shift the timers."""
    state = room.state
    state.turn_started += gap
    if state.paused:
        state.paused_at += gap
    if state.over_since is not None:
        state.over_since += gap
    for member in state.members.values():
        if member.away_since is not None:
            member.away_since += gap
    for feature in room.hooks["after_downtime"]:
        room.crash_on_error(feature.after_downtime, room, gap)


def begin_again(ctx: Context, seed: str) -> None:
    """Start another game in the same room."""
    state, room = ctx.state, ctx.room
    standings = room.crash_on_error(room.world.standings) if state.over_since is not None else ()
    state.last_result = ", ".join([f"{s.name} {s.score}" for s in standings[:MAX_STANDINGS_KEPT]])
    for feature in room.hooks["game_ends"]:  # before anything of the old game is gone
        room.crash_on_error(feature.game_ends, ctx, False)
    state.games += 1
    state.passed = []
    begin(ctx, seed)
    state.turn_started = ctx.at


def begin(ctx: Context, seed: str) -> None:
    """Set the world up from a seed and bind claims."""
    state, room = ctx.state, ctx.room
    state.seed = seed
    state.tick = 0
    state.waiting_for = []
    state.over_since = None
    state.returns = {}
    for member in state.members.values():
        if member.moves_by_bot or member.timeouts:
            member.moves_by_bot = member.timeouts = 0
    switch_game(state, game_of(seed))
    if room.has_arrivals:
        state.played = {}  # it opens new seats for those who arrive
        for member in state.members.values():
            member.seat = None
    starting = starting_seats(ctx)
    same_seats = seats.are_unchanged(room, starting)
    if not same_seats:
        seats.release_claims(state)
    room.crash_on_error(room.world.reset, int(seed, 16), starting)
    clock_changed(room)
    if not same_seats:
        opened = room.crash_on_error(room.world.seats_now) if room.has_moving_seats else None
        seats.adopt_seats(room, opened or starting)
        leave_closed_seats(ctx)
        keep_to_played_seats(ctx, {})
    state.turn_index = 0


def clock_changed(room: BaseRoom) -> None:
    """Tell a real-time world whether it is paused and how fast it runs."""
    if room.pace == "clock":
        room.crash_on_error(room.world.clock, room.state.paused, room.state.speed)


def game_of(seed: str) -> str:
    """The id of a game with this seed. The same seed has the same secrets, so it is the same game."""
    return blake2b(seed.encode(), digest_size=16).hexdigest()


def starting_seats(ctx: Context) -> list[Seat]:
    """The fixed number of seats, or as many as the room's players need."""
    spec = ctx.room.world.spec
    fewest, most = spec.seat_range
    count = fewest
    if fewest != most:
        # If arriving players get new seats, only claims need a seat at the start.
        by_seat = not ctx.room.has_arrivals
        wanted = sum(1 for m in ctx.state.members.values() if m.claim is not None or (by_seat and m.seat is not None))
        count = seats_needed(spec, wanted)
    seats = list(named_seats(spec.seat_names, count))
    if not ctx.room.has_arrivals:
        return seats
    # A member who arrives later gives its seat a name, so the first players do as well.
    players = {m.claim: m.handle for m in ctx.state.members.values() if m.claim is not None}
    return [Seat(seat.id, players.get(f"auto:{i}", seat.name)) for i, seat in enumerate(seats)]


def switch_game(state: RoomState, game: str) -> None:
    """Continue with what is known of this game: a save, or its seed, can bring back one that was played before."""
    if game == state.game:
        return
    if state.played:
        state.played_before[state.game] = state.played
        if len(state.played_before) > MAX_GAMES_REMEMBERED:
            del state.played_before[next(iter(state.played_before))]
    state.game, state.played = game, state.played_before.pop(game, {})


def resume(ctx: Context, game: str, played: dict[str, str]) -> None:
    """Continue a game that was loaded from a save. ``played``: what the save knows of who took which seat."""
    state, room = ctx.state, ctx.room
    switch_game(state, game)
    for feature in room.hooks["game_ends"]:
        room.crash_on_error(feature.game_ends, ctx, True)
    if room.has_arrivals:  # only the save knows whose its seats are; nobody else may take them
        state.played = dict(played)
        state.seats_ever = []
        for member in state.members.values():
            if not room.world.spec.open_information and played.get(member.identity or member.id) != member.seat:
                member.seat = None
        held = {member.seat for member in state.members.values()}
        for seat in room.crash_on_error(room.world.seats_now) or ():
            if seat.id not in held:
                room.crash_on_error(room.world.depart, seat, "left")
    if room.has_moving_seats:
        opened = room.crash_on_error(room.world.seats_now)
        seats.adopt_seats(room, opened if opened is not None else state.seats)
    leave_closed_seats(ctx)
    keep_to_played_seats(ctx, played)
    for feature in room.hooks["game_loaded"]:
        room.crash_on_error(feature.game_loaded, ctx, played)


def leave_closed_seats(ctx: Context) -> None:
    """Members on seats that a new game does not have lose them."""
    open_seats = ctx.room.seats
    for member in ctx.state.members.values():
        if member.seat not in open_seats:
            member.seat = None


def keep_to_played_seats(ctx: Context, played: dict[str, str]) -> None:
    """A member that has seen another seat's hidden information in this game leaves its seat, and looks through none.

    ``played``: what a save knows of this game.
    """
    state, room = ctx.state, ctx.room
    if room.world.spec.open_information:
        return
    state.played = {**played, **state.played}
    for member in state.members.values():
        known = seat_in_game(state, member)
        if member.seat is not None and known not in (None, member.seat):
            ctx.tell(f"{member.handle} leaves seat {member.seat}: it has played seat {known} in this game", "roster")
            member.seat = None
        if member.through is not None and known not in (None, member.through):
            ctx.tell(f"{member.handle} no longer sees what seat {member.through} sees", "roster")
            member.through = member.through_player = None
        remember_seat(room, member)
    seats.adopt_seats(room, state.seats)  # claims to the seats that were left
