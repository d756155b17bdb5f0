"""Identities that are known again after their data was deleted: by an agent key, or by their account at an identity
provider. What a host has limited must not be lifted by a deletion.

So they do not join a room where they were limited: of their data, the house keeps only the digests of such rooms.
"""

from hashlib import sha256

from cohabit.errors import PermissionDenied
from cohabit.house.running.rooms import Rooms
from cohabit.house.running.runner import RoomRunner
from cohabit.model.identity import Identity
from cohabit.model.words import Words
from cohabit.room.room import Room

KEY = "i-key-"
"""The ids of identities that are known by an agent key begin so."""
OAUTH = "i-oauth-"
"""The ids of identities that sign in with OAuth begin so."""


def barred_after_deletion(rooms: Rooms, identity: str) -> dict[str, str]:
    """Those of these rooms that an identity may not join again, if it would be known again. By digests, because a new
    room may have the name of a deleted one; with the game in which it has seen something hidden, or empty: always."""
    found: dict[str, str] = {}
    for runner in rooms.values() if identity.startswith((KEY, OAUTH)) else ():
        state = runner.room.state
        if _is_limited(runner, identity):
            found[_digest(runner.room)] = ""
        elif identity in state.played:
            found[_digest(runner.room)] = state.game
    return found


def check_not_barred(room: Room, who: Identity) -> None:
    """Refuse to let somebody in who was limited in this room before its data was deleted."""
    game, what = who.barred.get(_digest(room)), "this key" if who.id.startswith(KEY) else "this account"
    if game == "":
        raise PermissionDenied(
            f"{what} was limited in this room, or has used its budget here, before its data was deleted; ask a host "
            "for an invite"
        )
    if game == room.state.game:
        raise PermissionDenied(f"{what} has played in this game before its data was deleted; join in the next game")


def _digest(room: Room) -> str:
    return sha256(room.state.secret.encode()).hexdigest()[:16]


def _is_limited(runner: RoomRunner, identity: str) -> bool:
    """True if a host has blocked, denied, muted or limited an identity, or a budget applies to it."""
    state, member, knock = runner.room.state, runner.room.member_of(identity), runner.room.state.knock_of(identity)
    if identity in state.blocked or identity in state.limited or (knock is not None and knock.denied):
        return True
    if member is not None and any(layer.kind == "limit" and layer not in member.given for layer in member.layers):
        return True
    account = runner.egress.accounts.get(identity)
    if account is not None and account.budget is not None:
        return True
    try:
        runner.room.check_words(None, Words((), True, identity=identity))
    except PermissionDenied:
        return True
    return False
