"""Calls that were refused or slowed down to protect the house: counted by kind, and logged without flooding the log."""

import logging

from cohabit.house.clock import Clock

log = logging.getLogger("cohabit")
LOG_EVERY_MS = 10_000
"""Each kind is logged at most once in this time, with the number of repetitions."""
KINDS = {
    "connections": "a connection was refused: the house has too many (connections_limit)",
    "address": "a connection was refused: its address has too many (connections_per_address)",
    "token": "a connection was refused: its token has too many (connections_per_member)",
    "headers": "a request was refused: its headers are too large (header_limit)",
    "url": "a request was refused: its address is too long (url_limit)",
    "malformed": "a request was refused: it is not valid HTTP",
    "pipelined": "a connection was closed: it sent too many requests without waiting for an answer",
    "late": "a connection was closed: its request was not complete in time (request_timeout_s)",
    "stalled": "a connection was closed: its client stopped reading (write_timeout_s)",
    "frames": "a WebSocket was slowed down: it sends too many frames (frames_per_second)",
    "reader": "a subscription or connection ended: its client reads too slowly (outbox_bytes, outboxes_bytes)",
    "login": "a login failed: the token is missing, unknown, revoked or expired",
    "queue": "calls were refused: too many wait for a room (queue_limit, queue_bytes)",
    "calls": "calls were refused with BUSY (calls_per_second)",
    "member_bytes": "calls were refused: a member has written too much this hour (member_bytes_per_hour)",
    "room_bytes": "calls were refused: the record of a room is full (room_bytes)",
}
"""Every kind, with the line for the log."""


class OverloadLog:
    """Counts by kind since the start; see ``KINDS``."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.counts = dict.fromkeys(KINDS, 0)
        self._logged = dict.fromkeys(KINDS, 0)  # the count at the last line
        self._quiet_until = dict.fromkeys(KINDS, 0)

    def add(self, kind: str, where: str = "", times: int = 1) -> None:
        """Count a refusal. ``where``: the address or the room, for the log."""
        self.counts[kind] += times
        now = self._clock.now()
        if now < self._quiet_until[kind]:
            return
        self._quiet_until[kind] = now + LOG_EVERY_MS
        new = self.counts[kind] - self._logged[kind]
        self._logged[kind] = self.counts[kind]
        repeated = f"; {new} times since the last line" if new > 1 else ""
        log.warning("%s%s%s", KINDS[kind], f" [{where}]" if where else "", repeated)
