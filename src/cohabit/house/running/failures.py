"""What members are told about a room whose world fails or does not return."""

from cohabit.errors import Disabled, Quarantined, WorldTimeout

WHO_REOPENS = "A member with control_world or a host of the house can reopen it (reopen_room)"


def late_call(limit_s: float) -> WorldTimeout:
    """For a call that exceeds its deadline."""
    return WorldTimeout(
        f"the world did not return within {limit_s:g} s; the room is quarantined, and this call had no effect"
    )


def late_world(limit_s: float) -> Quarantined:
    """For calls after that one, until the world returns."""
    return Quarantined(
        f"this room is quarantined: its world did not return within {limit_s:g} s. The room is reopened as soon as its "
        f"world returns. {WHO_REOPENS} now"
    )


def hung_world() -> Quarantined:
    return Quarantined(f"this room is quarantined: its world hung. {WHO_REOPENS}")


def failed_world(why: str) -> Quarantined:
    return Quarantined(f"this room is quarantined: {why}. {WHO_REOPENS}")


def moving_to_thread() -> Disabled:
    return Disabled("this room is being reopened, because its world took too long; reconnect in a moment")
