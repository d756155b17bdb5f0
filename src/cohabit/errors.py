"""Every error there is, with the one code it has on the wire.

    CohabitError
    ├── AskerError            yours: nothing changed; the message says what to do instead
    │   ├── Unauthorized          UNAUTHORIZED             401
    │   ├── PermissionDenied      PERMISSION_DENIED        403
    │   ├── ScopeViolation        SCOPE_VIOLATION  403
    │   ├── UnknownCommand        UNKNOWN_COMMAND          404
    │   ├── UnknownRoom           UNKNOWN_ROOM             404
    │   ├── TurnNotYours          TURN_NOT_YOURS           409
    │   ├── Conflict              CONFLICT                 409
    │   ├── BadArgs               BAD_ARGS                 400
    │   ├── UnknownAsset          UNKNOWN_ASSET            400
    │   ├── OutOfBounds           OUT_OF_BOUNDS            400
    │   ├── TooLarge              TOO_LARGE                413
    │   ├── GameRejected          GAME_REJECTED            422
    │   └── Busy                  BUSY                     503  (slow down, then the same again)
    ├── WorldError            the world's: the room went back to where it was before the call
    │   ├── GameCrash             GAME_CRASH               500
    │   ├── WorldTimeout          WORLD_TIMEOUT      504
    │   ├── Quarantined           QUARANTINED              503
    │   └── OutcomeUnknown        OUTCOME_UNKNOWN          504  (a remote world may have acted)
    └── HouseError            ours
        ├── Disabled              DISABLED                 503
        ├── StorageFailed         STORAGE_FAILED           503
        ├── RecordCorrupt         RECORD_CORRUPT           500
        ├── Unreachable           UNREACHABLE              503  (no house, world or git remote answers there)
        ├── GitFailed             GIT_FAILED               502  (git refused or failed; its words are in the message)
        └── Internal              INTERNAL                 500

Interfaces translate a code, they never invent one.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

__all__ = [
    "AskerError", "BadArgs", "Busy", "CohabitError", "Conflict", "Disabled", "GameCrash", "GameRejected",
    "GitFailed", "HouseError", "Internal", "OutOfBounds", "OutcomeUnknown", "PermissionDenied", "Quarantined",
    "RecordCorrupt", "ScopeViolation", "StorageFailed", "TooLarge", "TurnNotYours", "Unauthorized",
    "UnknownAsset", "UnknownCommand", "UnknownRoom", "Unreachable", "WorldError", "WorldTimeout",
    "by_code", "every_error",
]  # fmt: skip


class CohabitError(Exception):
    """Anything Cohabit refuses or fails at. ``code`` and ``status`` are what the wire says."""

    code: ClassVar[str] = "INTERNAL"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, did_you_mean: Sequence[str] = (), **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.did_you_mean = list(did_you_mean)
        self.details = details

    def as_wire(self) -> dict[str, Any]:
        """The ``error`` object every face sends."""
        wire: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.did_you_mean:
            wire["did_you_mean"] = self.did_you_mean
        wire.update(self.details)
        return wire

    def as_text(self) -> str:
        """One line a model can act on."""
        hint = f" Did you mean: {', '.join(self.did_you_mean)}?" if self.did_you_mean else ""
        return f"[{self.code}] {self.message}{hint}"


class AskerError(CohabitError):
    """The asker's: the call was refused and nothing changed."""


class Unauthorized(AskerError):
    """No credential, a wrong one, or one that was revoked or has expired."""

    code = "UNAUTHORIZED"
    status = 401


class PermissionDenied(AskerError):
    """The grant lacks the capability this command needs."""

    code = "PERMISSION_DENIED"
    status = 403


class ScopeViolation(AskerError):
    """The target belongs to another seat."""

    code = "SCOPE_VIOLATION"
    status = 403


class UnknownCommand(AskerError):
    """No such command in this room, or no such route."""

    code = "UNKNOWN_COMMAND"
    status = 404


class UnknownRoom(AskerError):
    """No such room, or none that this credential may know of."""

    code = "UNKNOWN_ROOM"
    status = 404


class TurnNotYours(AskerError):
    """Somebody else is to move."""

    code = "TURN_NOT_YOURS"
    status = 409


class Conflict(AskerError):
    """It is taken: a seat, a name, an idempotency key used for something else, a data folder in use."""

    code = "CONFLICT"
    status = 409


class BadArgs(AskerError):
    """The arguments do not fit the declared type."""

    code = "BAD_ARGS"
    status = 400


class UnknownAsset(AskerError):
    """An id that the world does not know; ``did_you_mean`` has the nearest."""

    code = "UNKNOWN_ASSET"
    status = 400


class OutOfBounds(AskerError):
    """Coordinates off the map."""

    code = "OUT_OF_BOUNDS"
    status = 400


class TooLarge(AskerError):
    """More bytes than the house takes."""

    code = "TOO_LARGE"
    status = 413


class GameRejected(AskerError):
    """The rules of the world say no."""

    code = "GAME_REJECTED"
    status = 422


class Busy(AskerError):
    """Too much at once, from this member or for this room: wait a moment and ask again."""

    code = "BUSY"
    status = 503


class WorldError(CohabitError):
    """The world's fault: the room went back to where it was before the call."""


class GameCrash(WorldError):
    """World code raised something that is not one of these errors."""

    code = "GAME_CRASH"
    status = 500


class WorldTimeout(WorldError):
    """World code did not come back in time; the room is quarantined."""

    code = "WORLD_TIMEOUT"
    status = 504


class Quarantined(WorldError):
    """The room stands still after its world hung or its record would not replay."""

    code = "QUARANTINED"
    status = 503


class OutcomeUnknown(WorldError):
    """A remote world did not answer; it may or may not have acted."""

    code = "OUTCOME_UNKNOWN"
    status = 504


class HouseError(CohabitError):
    """Ours."""


class Disabled(HouseError):
    """The house is shutting down or the room is archived."""

    code = "DISABLED"
    status = 503


class StorageFailed(HouseError):
    """The record could not be written; the call did not happen."""

    code = "STORAGE_FAILED"
    status = 503


class RecordCorrupt(HouseError):
    """The stored record is damaged, or does not replay to the digests it carries."""

    code = "RECORD_CORRUPT"
    status = 500


class Unreachable(HouseError):
    """A client found no house at the address, or a room found no world at the other end; nothing was done."""

    code = "UNREACHABLE"
    status = 503


class GitFailed(HouseError):
    """Git refused or failed in a workspace; the message has its words."""

    code = "GIT_FAILED"
    status = 502


class Internal(HouseError):
    """A bug of ours."""

    code = "INTERNAL"
    status = 500


def every_error() -> Iterator[type[CohabitError]]:
    """Each error class that has a wire code of its own."""
    todo: list[type[CohabitError]] = [CohabitError]
    while todo:
        cls = todo.pop()
        todo.extend(cls.__subclasses__())
        if "code" in vars(cls) and cls is not CohabitError:
            yield cls


def by_code(wire: dict[str, Any]) -> CohabitError:
    """The error that an ``error`` object from the wire stands for; unknown codes become ``INTERNAL``."""
    rest = dict(wire)
    code = rest.pop("code", "INTERNAL")
    message = str(rest.pop("message", "no message"))
    hints = rest.pop("did_you_mean", ())
    cls = next((c for c in every_error() if c.code == code), Internal)
    return cls(message, did_you_mean=hints, **{str(k): v for k, v in rest.items() if k != "self"})
