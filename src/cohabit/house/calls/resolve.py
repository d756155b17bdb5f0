"""The first step of a call: which command, in which room, by which member."""

from cohabit.errors import (
    BadArgs,
    Busy,
    CohabitError,
    PermissionDenied,
    Quarantined,
    StorageFailed,
    UnknownCommand,
    UnknownRoom,
)
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.identities import FOR_A_PERSON, WATCH_LINK, Identities
from cohabit.model.identity import Credential
from cohabit.room.commands import Command
from cohabit.room.decide import by_grant, known_now
from cohabit.room.decision import refusal
from cohabit.room.feature import answer
from cohabit.room.room import Room
from cohabit.room.state import Member

STRANGER = "visitor"
"""The label of the credential of somebody without a token, which is not registered and can only join."""
JOINED = "you have joined, but this is the token of your invite: connect with the token that `join` gave you"


def resolve(house: Services, credential: Credential, room: str | None, name: str) -> HouseContext:
    """The command, room and member of a call. UNKNOWN_ROOM or UNKNOWN_COMMAND if the caller has none of that name."""
    wanted = room or credential.room
    if credential.room is not None and credential.room != wanted:
        raise unknown_room(room or "")
    runner = house.rooms.get(wanted) if wanted is not None else None
    if wanted is None or runner is None:
        command = house.commands.get(name)
        if command is not None and (command.about == "house" or (command.about == "either" and wanted is None)):
            _check_watch_link(credential, command)
            return HouseContext(house, credential, command)
        if wanted is None:
            raise BadArgs(f"{name[:80]} needs a room; pass its id as room")
    runner = runner or house.rooms.runner_of(wanted)
    if runner is None:
        return _resolve_broken(house, credential, wanted, name)
    command = runner.commands.get(name) or runner.commands.with_tool_name(name)
    if command is not None:
        _check_watch_link(credential, command)
    if command is not None and command.about == "house":
        return HouseContext(house, credential, command)
    member = runner.room.member_of(credential.identity)
    if member is None:
        absence = _absence(runner.room, credential.identity)
        if not may_join(house.identities, credential, runner):
            raise UnknownRoom(absence) if absence else unknown_room(wanted)
        if runner.failure is not None and command is not None and command.when_broken:
            if not house.identities.is_host(credential):
                raise unknown_room(wanted)
            return HouseContext(house, credential, command, broken_room=wanted)
        if command is None or not (command.before_joining or command.about != "room"):
            if absence:
                raise UnknownRoom(absence)
            raise _not_joined(house, credential, wanted)
        if not command.before_joining:
            if runner.room.state.knock_of(credential.identity) is not None and credential.room is not None:
                raise UnknownRoom("you wait in the lobby of this room; call `join`")
            if not command.records:  # what it reads of a room is for members
                raise _not_joined(house, credential, wanted)
            return HouseContext(house, credential, command)
    elif command is None:
        command = next((made for made in known_now(runner.room, member) if made.name == name), None)
        if command is None:
            raise _unknown_command(runner, member, name)
    assert command is not None
    if credential.label == FOR_A_PERSON and not command.joins and house.identities.unused_of(credential.hash):
        raise UnknownRoom(f"{JOINED}, or call `join` again")
    return HouseContext(house, credential, command, runner, member)


def _check_watch_link(credential: Credential, command: Command) -> None:
    """Once it belongs to the member of all who watch, nobody takes it away from the others, or deletes anything."""
    if credential.label == WATCH_LINK and credential.identity and command.records:
        raise PermissionDenied("with this link you can watch, and change nothing: others use the same one")


def _not_joined(house: Services, credential: Credential, room: str) -> UnknownRoom:
    invite = house.identities.invite_of(credential)
    if invite is not None and house.identities.unused_of(invite.hash) is not None:
        return UnknownRoom(f"{JOINED}, or call `join` again with keep_token")
    return UnknownRoom(f"you are not a member of room {room!r}; call `join` first")


def _unknown_command(runner: RoomRunner, member: Member, name: str) -> CohabitError:
    room, at = runner.room, runner.now()
    room.budget.spend(member.id, at)
    if room.budget.is_spent(member.id, at):  # finding similar names takes time
        busy = refusal(room.budget.refusal)
        runner.refused(member.id, "?", busy)
        return busy
    try:
        known = (*runner.commands, *room.commands_now())
        runner.commands.named(name, [c for c in known if by_grant(member, c) and not c.host_only])
    except UnknownCommand as unknown:
        runner.refused(member.id, "?", unknown)
        return unknown
    raise AssertionError(name)


def _resolve_broken(house: Services, credential: Credential, room: str, name: str) -> HouseContext:
    """A room that could not be opened has no known members; only a house host can act."""
    broken, is_host = house.rooms.broken.get(room), house.identities.is_host(credential)
    if broken is None and credential.room == room and (house.rooms.closing or house.rooms.is_elsewhere(room)):
        raise Busy("this room is not open in this process at the moment; try again soon", retry_after_s=1)
    if broken is None or not (is_host or credential.room == room):
        raise unknown_room(room)
    command = house.commands.get(name)
    if command is not None and command.when_broken:
        if not is_host:
            raise PermissionDenied("only a house host can reopen a room that could not be opened")
        return HouseContext(house, credential, command, broken_room=room)
    if isinstance(broken, Busy):  # it is being opened
        raise broken
    if isinstance(broken, StorageFailed):
        raise StorageFailed(f"room {room} is closed: {broken.message}. The house opens it by itself when that works")
    raise Quarantined(f"room {room} could not be opened: {broken.message}")


def may_join(identities: Identities, credential: Credential, runner: RoomRunner) -> bool:
    """True if a caller who is not a member may join this room."""
    if runner.id == HOUSE_RECORD:  # only the house adds members to it
        return False
    state = runner.room.state
    if not credential.identity:
        is_invite = credential.label != STRANGER and credential.room == runner.room.id
        return is_invite or state.entry_policy.admits_strangers
    if credential.room is None:
        by_claim = credential.role_in(runner.id) is not None
        return by_claim or identities.is_host(credential) or state.guests or state.entry_policy.admits_strangers
    return state.knock_of(credential.identity) is not None


def _absence(room: Room, identity: str) -> str:
    """The refusal for somebody who was a member by a feature; empty: the usual message."""
    asked = (answer(feature.absence, "", room.state, identity) for feature in room.features.that_answer["absence"])
    return next(filter(None, asked), "")


def unknown_room(room: str) -> UnknownRoom:
    return UnknownRoom(f"room {room[:64]!r} does not exist or you have no access to it")
