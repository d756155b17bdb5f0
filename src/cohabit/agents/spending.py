"""A cap on what a run may spend, shared by all its agents, also those in other processes."""

import os
from contextlib import AbstractContextManager
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import msgspec

from cohabit.errors import BadArgs, RecordCorrupt

ROUNDING = 1e-9
"""Dollars by which a sum of costs may be wrong."""


class Totals(Protocol):
    """Two numbers behind a lock, as a ``multiprocessing.Array`` has them: dollars paid, and dollars reserved."""

    def get_lock(self) -> AbstractContextManager[Any]: ...

    def __getitem__(self, index: int, /) -> float: ...

    def __setitem__(self, index: int, value: float, /) -> None: ...


class TotalsHere(list[float]):
    """The totals of this process."""

    def __init__(self, paid: float = 0.0, reserved: float = 0.0) -> None:
        super().__init__((paid, reserved))
        self._lock = Lock()  # agents of a house and those on threads share it

    def get_lock(self) -> AbstractContextManager[Any]:
        return self._lock


class SpendingLog:
    """The changes of the totals, one per line and written before a request is sent: a process that is killed leaves
    the reservations of its requests. Several processes append to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def add(self, paid: float, reserved: float) -> None:
        if self._handle is None:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(self._handle, msgspec.json.encode((paid, reserved)) + b"\n")

    def read(self) -> tuple[float, float]:
        """The sums of what was paid and of what is reserved."""
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return 0.0, 0.0
        whole = text[: text.rfind(b"\n") + 1]  # a killed process can leave an incomplete line, and sent nothing then
        paid = reserved = 0.0
        try:
            for line in whole.splitlines():
                one, other = msgspec.json.decode(line, type=tuple[float, float])
                paid, reserved = paid + one, reserved + other
        except msgspec.MsgspecError as wrong:
            raise RecordCorrupt(f"{self._path} cannot be read: {wrong}") from None
        return paid, max(0.0, reserved)

    def repair(self) -> None:
        """Remove an incomplete last line, to which the next one would be appended."""
        if self._path.exists():
            text = self._path.read_bytes()
            if not text.endswith(b"\n"):
                os.truncate(self._path, text.rfind(b"\n") + 1)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class Spending:
    """Counts dollars: what was paid, and what requests may cost whose cost is not known, or not yet."""

    def __init__(self, cap: float | None = None, totals: Totals | None = None, log: SpendingLog | None = None) -> None:
        if cap is not None and not (isfinite(cap) and cap >= 0):
            raise BadArgs(f"a spending cap must be an amount of dollars, not {cap}")
        self.cap = cap
        self._totals: Totals = totals if totals is not None else TotalsHere()
        self._log = log

    @property
    def paid(self) -> float:
        return self._totals[0]

    @property
    def reserved(self) -> float:
        """The possible cost of requests whose cost is not known."""
        return self._totals[1]

    @property
    def spent(self) -> float:
        """The amount that counts against the cap."""
        return self.paid + self.reserved

    @property
    def is_over(self) -> bool:
        return self.cap is not None and self.spent >= self.cap

    def reserve(self, dollars: float) -> bool:
        """Count the most that a request can cost, before it is sent. False: the cap does not leave as much, and
        nothing was counted."""
        wanted = amount(dollars) or 0.0
        with self._totals.get_lock():
            if self.cap is not None and (self.is_over or self.spent + wanted > self.cap + ROUNDING):
                return False
            self._add(0.0, wanted)
            return True

    def settle(self, reserved: float, paid: float | None) -> None:
        """Count what was really paid in place of the reservation. None: that is not known, so the reservation stays."""
        known = amount(paid) if paid is not None else None
        if known is not None:
            with self._totals.get_lock():
                self._add(known, -(amount(reserved) or 0.0))

    def add(self, dollars: float) -> None:
        """Count what an agent says that it has paid."""
        with self._totals.get_lock():
            self._add(amount(dollars) or 0.0, 0.0)

    def _add(self, paid: float, reserved: float) -> None:
        if not (paid or reserved):
            return
        if self._log is not None:
            self._log.add(paid, reserved)
        totals = self._totals
        totals[0], totals[1] = totals[0] + paid, max(0.0, totals[1] + reserved)


def amount(dollars: float) -> float | None:
    """The amount; None if it is not a valid one, such as NaN, with which every later sum would be NaN."""
    return dollars if isfinite(dollars) and dollars >= 0 else None
