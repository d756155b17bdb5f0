"""A cap on what a run may spend, shared by all its agents."""

from math import isfinite
from threading import Lock

from cohabit.errors import BadArgs


class Spending:
    """Counts dollars: what was paid, and what requests that are under way may cost."""

    def __init__(self, cap: float | None = None) -> None:
        if cap is not None and not (isfinite(cap) and cap >= 0):
            raise BadArgs(f"a spending cap must be an amount of dollars, not {cap}")
        self.cap = cap
        self.spent = 0.0
        self._lock = Lock()  # agents of a house and those on threads share it

    @property
    def is_over(self) -> bool:
        return self.cap is not None and self.spent >= self.cap

    def reserve(self, dollars: float) -> bool:
        """Count an estimate before asking. False: nothing is left, and nothing was counted."""
        with self._lock:
            if self.is_over:
                return False
            self.spent += _amount(dollars)
            return True

    def settle(self, reserved: float, paid: float | None) -> None:
        """Count what was really paid in place of the estimate. None: that is not known, so the estimate stays."""
        if paid is not None:
            with self._lock:
                self.spent += _amount(paid, reserved) - _amount(reserved)


def _amount(dollars: float, otherwise: float = 0.0) -> float:
    """An amount that is none, such as NaN, would end the counting."""
    return dollars if isfinite(dollars) and dollars >= 0 else _amount(otherwise)
