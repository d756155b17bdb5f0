"""A cap on what a run may spend, shared by all its agents."""

from threading import Lock


class Spending:
    """Counts dollars. An answer whose price is unknown counts as ``unpriced`` dollars, so that a cap still works."""

    def __init__(self, cap: float | None = None, unpriced: float = 0.0) -> None:
        self.cap = cap
        self.spent = 0.0
        self._unpriced = unpriced
        self._lock = Lock()  # agents of a house and those on threads share it

    @property
    def is_over(self) -> bool:
        return self.cap is not None and self.spent >= self.cap

    def add(self, dollars: float | None) -> None:
        with self._lock:
            self.spent += self._unpriced if dollars is None else dollars
