"""The rules for reading why a player acted: its reasons, its prompts and its answers.

They are as hidden as the player's view, because they quote it, and a reason may be a plan:

* The player itself, and members who see everything, read them at once.
* Where the world hides something, everybody else waits until the game is over, or the hand in worlds with hands. A
  game that was left before its end stays secret, and so does every game as long as the room has saves: a save can
  bring it back.
* Where nothing is hidden, those who watch read them at once, other players when the game is over.
* What an agent saw, was asked and answered may quote messages to it, so others get those texts only if there were none.

A replay asks the same function as the command `decisions`.
"""

from collections.abc import Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from cohabit.house.agents.hidden import hidden_for_ever
from cohabit.model.film import FilmDecision
from cohabit.model.grant import Capability
from cohabit.room.base import BaseRoom
from cohabit.room.state import Member
from cohabit.world import overridden

C = Capability


class LoggedDecision(Struct, frozen=True):
    """A decision in the log of a room. ``hand``: see ``hand_of``; ``by_bot``: a built-in player made it."""

    shown: FilmDecision
    member: str  # its id
    seat: str | None
    hand: str
    by_bot: bool = False
    heard: bool = False  # messages, before it was made: its texts may quote them


class Reader(Struct, frozen=True):
    """A reader of the decisions of a room, and what is no secret for it any more."""

    member: str  # its id
    seat: str | None
    sees_all: bool
    watches: bool
    at_once: bool  # nothing is hidden, and it does not play
    brains_hidden: bool  # nobody is to know which players are built in; their reasons show it
    running: str  # the hand that is played; empty: the game is over
    over: Collection[str]  # the hands that were played to their end
    owns: frozenset[str] = frozenset()  # members for whom it is responsible
    views_private: bool = False  # also when the game is over: players write to one another in the world

    def may_read(self, made: LoggedDecision) -> bool:
        if made.by_bot and self.brains_hidden and not self.sees_all:
            return False
        if self._is_responsible(made):
            return True
        if not self.watches or not made.hand:
            return False
        return self.at_once or (made.hand in self.over and made.hand != self.running)

    def shown(self, made: LoggedDecision) -> FilmDecision:
        """One that it may read, without what quotes messages to others."""
        shown = made.shown
        if self._is_responsible(made) or not (made.heard or self.views_private):
            return shown
        action = shown.action.partition(" ")[0] if self.views_private else shown.action
        return replace(shown, action=action, saw="", asked="", answered="")

    def _is_responsible(self, made: LoggedDecision) -> bool:
        if self.sees_all or made.member in self.owns:
            return True
        # Without its seat, it sees nothing of that seat any more: a host may have its token now.
        return made.member == self.member and made.seat in (None, self.seat)


def hand_of(room: BaseRoom) -> str:
    """The game that is played now, and the hand where the world has hands."""
    world = room.world
    return f"{room.state.game[:16]}/{world.hand_number() if 'hand_number' in overridden(type(world)) else 0}"


def hides(room: BaseRoom) -> bool:
    """True if the seats of a room see different things."""
    return room.world.spec.hides(room.state.partial_intel)


def reader_of(
    room: BaseRoom,
    member: Member,
    over: Collection[str],
    owns: frozenset[str] = frozenset(),
    *,
    has_saves: bool,
) -> Reader:
    """``over``: the hands that were played to their end, by ``hand_of``. ``has_saves``: a game can be played on
    from one, so none that hides something is over.
    """
    state, held, now = room.state, member.held, hand_of(room)
    hidden, plays = hides(room), member.seat is not None or member.claim is not None or member.through is not None
    if state.over_since is not None:
        over = {*over, now}
    return Reader(
        member.id,
        member.seat,
        sees_all=C.READ_ALL in held,
        watches=C.WATCH in held,
        at_once=not hidden and not plays,
        brains_hidden=state.hide_brains,
        running=now if state.over_since is None else "",
        over=() if hidden and has_saves else over,
        owns=frozenset() if hidden else owns,
        views_private=bool(hidden_for_ever(room, has_saves=False)),
    )


def visible(
    made: Iterable[LoggedDecision], reader: Reader, first: int = 0, last: int | None = None
) -> list[FilmDecision]:
    """The decisions that a member may read, for the entries from ``first`` to ``last``."""
    return [
        reader.shown(one)
        for one in made
        if one.shown.seq >= first and (last is None or one.shown.seq <= last) and reader.may_read(one)
    ]
