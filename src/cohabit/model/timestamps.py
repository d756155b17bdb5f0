"""Times as text."""

from datetime import UTC, datetime


def utc(at: int) -> str:
    """A time in milliseconds as ISO 8601 with seven decimals, the .NET format."""
    seconds, ms = divmod(at, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03}0000Z"
