"""Calls of `join` without a token: by code, name, open link or agent key, or with an invite as an argument."""

from collections.abc import Mapping
from typing import Any

from cohabit.errors import BadArgs, Unauthorized
from cohabit.house.access import signing
from cohabit.house.access.gate import join
from cohabit.house.access.signing import HouseKey
from cohabit.house.calls.context import Services
from cohabit.house.calls.door import Door
from cohabit.house.calls.resolve import STRANGER
from cohabit.house.running.calls import Deliver
from cohabit.house.running.egress import measured
from cohabit.house.store.identities import hashed
from cohabit.model.identity import Credential
from cohabit.model.refusals import NEWCOMER
from cohabit.room.commands import command_of

JOIN = command_of(join)
UNKNOWN_INVITE = "an invite that this house has not made: it is forged, or from another house"


async def knock(
    door: Door, args: Mapping[str, Any], token: str | None = None, address: str = "", deliver: Deliver = measured
) -> Any:
    """Call `join` for a caller without a token, or with an ``invite`` in the arguments. ``address``: where the caller
    is, for limits."""
    rest = dict(args)
    room, invite = rest.pop("room", None), rest.pop("invite", None)
    for given, longest, what in ((room, 64, "room"), (invite, signing.MAX_TOKEN, "invite")):
        if given is not None and not (isinstance(given, str) and 0 < len(given) <= longest):
            raise BadArgs(f"{what}: must be a text with at most {longest} characters")
    if token is not None:
        credential = door.identify(token)
    elif room is None:
        raise BadArgs("room: say which room you want to join")
    elif invite is not None:
        credential = await _identify_invite(door, invite, room)
    else:
        credential = Credential(hashed(f"{room} {address}"), "", room, STRANGER)
    return await door.call(credential, room, JOIN.name, rest, deliver=deliver)


async def _identify_invite(door: Door, invite: str, room: str) -> Credential:
    """The credential of an invite. Raises if it is not valid, with the reason."""
    house = door.services
    try:
        found = door.identify(invite, room)
    except Unauthorized as unknown:
        if house.identities.invite_with(invite) is not None:  # it was, and the error says what became of it
            raise
        key = await house.need(HouseKey).load()
        said = signing.verify_invite(invite, key.public_jwk, room, house.clock.now() / 1000)
        raise (
            Unauthorized(f"this invite is not valid: {said}", reason=said) if isinstance(said, str) else unknown
        ) from None
    if found.room not in (None, room):
        wrong = Unauthorized("this invite is not valid: wrong room", reason="wrong room")
        note_invalid_invite(house, invite, wrong, room)
        raise wrong
    return found


def note_invalid_invite(house: Services, token: str, wrong: Unauthorized, room: str | None = None) -> None:
    """Write to the audit of a room that somebody tried to join with an invite that is not valid: used up, expired,
    revoked, forged or unknown. ``room``: the one that the caller has named; else the one that the invite names."""
    known, body = house.identities.invite_with(token), signing.read(token, signing.InviteBody)
    named = room or (known.room if known is not None else body.room if body is not None else "")
    runner = house.rooms.get(named)
    if runner is not None:
        runner.refused(NEWCOMER, JOIN.name, wrong if known is not None else Unauthorized(UNKNOWN_INVITE))
