"""All errors, with their wire codes.

    CohabitError
    ├── AskerError            caller errors: nothing changed; the message says what to do instead
    │   ├── Unauthorized          UNAUTHORIZED             401
    │   ├── PermissionDenied      PERMISSION_DENIED        403
    │   ├── ScopeViolation        SCOPE_VIOLATION          403
    │   ├── EgressUsedUp          EGRESS_USED_UP           403  (nothing more is sent to this member)
    │   ├── UnknownCommand        UNKNOWN_COMMAND          404
    │   ├── UnknownRoom           UNKNOWN_ROOM             404
    │   ├── TurnNotYours          TURN_NOT_YOURS           409
    │   ├── Conflict              CONFLICT                 409
    │   ├── BadArgs               BAD_ARGS                 400
    │   ├── UnknownAsset          UNKNOWN_ASSET            400
    │   ├── OutOfBounds           OUT_OF_BOUNDS            400
    │   ├── TooLarge              TOO_LARGE                413
    │   ├── GameRejected          GAME_REJECTED            422
    │   └── Busy                  BUSY                     503  (slow down, then retry)
    ├── WorldError            world errors: the room was rolled back
    │   ├── GameCrash             GAME_CRASH               500
    │   ├── WorldTimeout          WORLD_TIMEOUT            504
    │   ├── Quarantined           QUARANTINED              503
    │   └── OutcomeUnknown        OUTCOME_UNKNOWN          504  (not rolled back: the action may have been done)
    └── HouseError            server errors
        ├── Disabled              DISABLED                 503
        ├── StorageFailed         STORAGE_FAILED           503
        ├── RecordCorrupt         RECORD_CORRUPT           500
        ├── Unreachable           UNREACHABLE              503  (the house, world or git remote could not be reached)
        ├── GitFailed             GIT_FAILED               502  (git failed; the message contains git's output)
        └── Internal              INTERNAL                 500

Interfaces translate codes and define none of their own.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

__all__ = [
    "AskerError", "BadArgs", "Busy", "CohabitError", "Conflict", "Disabled", "EgressUsedUp", "GameCrash",
    "GameRejected", "GitFailed", "HouseError", "Internal", "OutOfBounds", "OutcomeUnknown", "PermissionDenied",
    "Quarantined", "RecordCorrupt", "ScopeViolation", "StorageFailed", "TooLarge", "TurnNotYours", "Unauthorized",
    "UnknownAsset", "UnknownCommand", "UnknownRoom", "Unreachable", "WorldError", "WorldTimeout",
    "by_code", "every_error", "internal_error",
]  # fmt: skip
log = logging.getLogger("cohabit")


class CohabitError(Exception):
    """Base class of all Cohabit errors. ``code`` is the wire code, ``status`` the HTTP status."""

    code: ClassVar[str] = "INTERNAL"
    status: ClassVar[int] = 500

    def __init_subclass__(cls, code: str = "", status: int = 0) -> None:
        if code:
            cls.code, cls.status = code, status

    def __init__(self, message: str, *, did_you_mean: Sequence[str] = (), **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.did_you_mean = list(did_you_mean)
        self.details = details

    def as_wire(self) -> dict[str, Any]:
        """The ``error`` object sent over every interface."""
        wire: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.did_you_mean:
            wire["did_you_mean"] = self.did_you_mean
        wire.update(self.details)
        return wire

    def as_text(self) -> str:
        """The error as one line, for models and logs."""
        if not self.did_you_mean:
            return f"[{self.code}] {self.message}"
        stop = "" if self.message.endswith((".", "?", "!")) else "."
        return f"[{self.code}] {self.message}{stop} Did you mean: {', '.join(self.did_you_mean)}?"


class AskerError(CohabitError):
    """A caller error: the call was refused and nothing changed."""


class Unauthorized(AskerError, code="UNAUTHORIZED", status=401):
    """The credential is missing, invalid, revoked or expired."""


class PermissionDenied(AskerError, code="PERMISSION_DENIED", status=403):
    """The caller may not do this: its grant, its seat or its token does not allow it."""


class ScopeViolation(AskerError, code="SCOPE_VIOLATION", status=403):
    """The target belongs to another seat."""


class EgressUsedUp(AskerError, code="EGRESS_USED_UP", status=403):
    """The egress budget of this member is used up: nothing more is sent to it. It can leave; a host can raise it."""


class UnknownCommand(AskerError, code="UNKNOWN_COMMAND", status=404):
    """No such command in this room, or no such route."""


class UnknownRoom(AskerError, code="UNKNOWN_ROOM", status=404):
    """No such room, or this credential may not know that it exists."""


class TurnNotYours(AskerError, code="TURN_NOT_YOURS", status=409):
    """It is another member's turn."""


class Conflict(AskerError, code="CONFLICT", status=409):
    """Already in use: a seat, a name, an idempotency key of another call, a data folder."""


class BadArgs(AskerError, code="BAD_ARGS", status=400):
    """The arguments do not match the declared types."""


class UnknownAsset(AskerError, code="UNKNOWN_ASSET", status=400):
    """Unknown id; ``did_you_mean`` lists similar ones."""


class OutOfBounds(AskerError, code="OUT_OF_BOUNDS", status=400):
    """Coordinates outside the map."""


class TooLarge(AskerError, code="TOO_LARGE", status=413):
    """Larger than the configured limit."""


class GameRejected(AskerError, code="GAME_REJECTED", status=422):
    """Not allowed by the rules of the world."""


class Busy(AskerError, code="BUSY", status=503):
    """Too many calls from this member or to this room, or a reader that is too slow. Wait a moment and retry."""


class WorldError(CohabitError):
    """A world error: the world failed, and the room was rolled back."""


class GameCrash(WorldError, code="GAME_CRASH", status=500):
    """The code of the world or of a feature raised an unexpected exception."""


class WorldTimeout(WorldError, code="WORLD_TIMEOUT", status=504):
    """World code did not return in time; the room is quarantined."""


class Quarantined(WorldError, code="QUARANTINED", status=503):
    """The room is stopped because its world hung or its record could not be replayed."""


class OutcomeUnknown(WorldError, code="OUTCOME_UNKNOWN", status=504):
    """The call was sent, but no reply arrived. It may have been executed; nothing was rolled back."""


class HouseError(CohabitError):
    """A server error: the house itself failed."""


class Disabled(HouseError, code="DISABLED", status=503):
    """The house is shutting down or the room is archived."""


class StorageFailed(HouseError, code="STORAGE_FAILED", status=503):
    """The record could not be written; the call had no effect."""


class RecordCorrupt(HouseError, code="RECORD_CORRUPT", status=500):
    """The stored record is damaged, or does not replay to the digests it carries."""


class Unreachable(HouseError, code="UNREACHABLE", status=503):
    """The house, or the remote world of a room, could not be reached. Nothing was done."""


class GitFailed(HouseError, code="GIT_FAILED", status=502):
    """Git refused or failed in a workspace; the message quotes git's output."""

    output = ""
    """The output of git, unchanged."""


class Internal(HouseError, code="INTERNAL", status=500):
    """A bug in Cohabit."""


def every_error() -> Iterator[type[CohabitError]]:
    """All error classes that define a wire code."""
    todo: list[type[CohabitError]] = [CohabitError]
    while todo:
        cls = todo.pop()
        todo.extend(cls.__subclasses__())
        if "code" in vars(cls) and cls is not CohabitError:
            yield cls


def by_code(wire: dict[str, Any]) -> CohabitError:
    """The error for a wire ``error`` object. Unknown codes become ``INTERNAL``."""
    rest = dict(wire)
    code = rest.pop("code", "INTERNAL")
    message = str(rest.pop("message", "no message"))
    hints = rest.pop("did_you_mean", ())
    cls = next((c for c in every_error() if c.code == code), Internal)
    return cls(message, did_you_mean=hints, **{str(k): v for k, v in rest.items() if k != "self"})


def internal_error(error: BaseException, where: str) -> Internal:
    """Log an unexpected exception. Only its type is shown: the text may contain hidden information."""
    log.error("internal error in %s", where, exc_info=error)
    return Internal(f"internal error ({type(error).__name__}). It was logged")
