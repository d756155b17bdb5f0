"""Sound and screens: opaque frames that are relayed to the members of a room, and never recorded.

The sender needs ``speak``, a receiver ``hear_audio`` or ``see_screen``, checked for every frame. A receiver that is not
ready for a frame does not get it: nobody waits for a slow reader.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from cohabit.errors import Busy, CohabitError, PermissionDenied, TooLarge
from cohabit.house.settings import Settings
from cohabit.model.egress import SentKind
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.room.decide import by_credential
from cohabit.room.decision import refusal
from cohabit.room.room import Room
from cohabit.room.state import Member

C = Capability
LANES = {1: ("audio", C.HEAR_AUDIO), 2: ("screen", C.SEE_SCREEN)}
"""The lanes by their number on the wire: the name, and what a receiver needs."""
SECOND_MS = 1_000
Deliver = Callable[[bytes], bool]
"""Sends a frame now, or returns False: then it is dropped."""


def is_media(frame: bytes | str) -> bool:
    """True if a message is a media frame: its first byte is a lane. JSON never begins with that byte."""
    return isinstance(frame, bytes) and frame[:1] in (b"\x01", b"\x02")


class Sent(Struct):
    """The frames that a member has sent in the current second."""

    second: int = -1
    frames: int = 0
    size: int = 0


class Allowance(Protocol):
    """Counts what was sent to a member, up to a limit."""

    def allows(self, size: int) -> bool:
        """True if this many bytes may be sent."""
        ...

    def pushed(self, kind: SentKind, size: int) -> None:
        """Count a frame."""
        ...

    def refusal(self) -> CohabitError:
        """The error for a member to whom nothing more is sent."""
        ...


class Accounts(Protocol):
    """Those of all members of a room."""

    def of(self, member: Member) -> Allowance: ...


class MediaRoom(Protocol):
    """The parts of a running room that relaying media needs."""

    room: Room
    settings: Settings
    media: "MediaRelay"

    @property
    def egress(self) -> "Accounts": ...

    @property
    def now(self) -> Callable[[], int]: ...

    def refused(self, who: str, name: str, error: CohabitError) -> None:
        """Write a refusal to the audit."""
        ...


class MediaReader:
    """One connection that receives, and may send, media in a room."""

    def __init__(self, runner: MediaRoom, member: str, credential: Credential, deliver: Deliver) -> None:
        self.runner = runner
        self.member = member
        self.credential = credential
        self.deliver = deliver
        self.relay = runner.media
        self._told = -1  # the second in which the sender was last told of a refusal
        self.relay.readers[self] = None

    @property
    def room(self) -> str:
        return self.runner.room.id

    def close(self) -> None:
        self.relay.readers.pop(self, None)
        if not any(reader.member == self.member for reader in self.relay.readers):
            self.relay.sent.pop(self.member, None)

    def send(self, frame: bytes) -> CohabitError | None:
        """Relay a frame, or refuse it, which is in the audit. Returns the first refusal of a second."""
        refused = self._refusal(frame)
        if refused is None:
            self.relay.relay(self, frame)
            return None
        self.runner.refused(self.member, LANES[frame[0]][0], refused)
        second = self.runner.now() // SECOND_MS
        told, self._told = self._told, second
        return refused if told != second else None

    def _refusal(self, frame: bytes) -> CohabitError | None:
        settings, member = self.runner.settings, self.runner.room.state.members.get(self.member)
        ended = by_credential(self.credential, self.runner.now())
        if ended.code:  # its connection stays open until its last call is answered
            return refusal(ended)
        if member is None or C.SPEAK not in member.held:
            return PermissionDenied("sending sound or a screen requires speak; a host can grant it", needs=["speak"])
        if len(frame) > settings.media_frame_limit:
            return TooLarge(f"a media frame may have at most {settings.media_frame_limit} bytes")
        sent = self.relay.sent.setdefault(self.member, Sent())
        second = self.runner.now() // SECOND_MS
        if sent.second != second:
            sent.second, sent.frames, sent.size = second, 0, 0
        sent.frames += 1
        sent.size += len(frame)
        if sent.frames > settings.media_frames_per_second or sent.size > settings.media_bytes_per_second:
            return Busy(
                f"a member may send {settings.media_frames_per_second} media frames, and "
                f"{settings.media_bytes_per_second} bytes of them, per second; this one was dropped"
            )
        return None


class MediaRelay:
    """The readers of media in one room."""

    def __init__(self) -> None:
        self.readers: dict[MediaReader, None] = {}
        self.sent: dict[str, Sent] = {}

    def relay(self, sender: MediaReader, frame: bytes) -> None:
        """Pass a frame on to all other members who may have it now: lane, length of the handle, handle, payload."""
        room = sender.runner.room
        state, hearing = room.state, room.hooks["hears"]
        speaker = state.members[sender.member]
        handle = speaker.handle.encode()
        needed, now = LANES[frame[0]][1], sender.runner.now()
        made = frame[:1] + len(handle).to_bytes(2, "big") + handle + frame[1:]
        kind: SentKind = "sound" if needed is C.HEAR_AUDIO else "screens"
        for reader in list(self.readers):
            member = state.members.get(reader.member)
            if member is None or reader.member == sender.member or needed not in member.held:
                continue
            if by_credential(reader.credential, now).code:
                continue
            if not all(feature.hears(room, speaker, member) for feature in hearing):
                continue
            account = reader.runner.egress.of(member)
            if account.allows(len(made)) and reader.deliver(made):
                account.pushed(kind, len(made))
