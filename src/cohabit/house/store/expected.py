"""What the end of a record is compared with: a chain cannot prove by itself that nothing came after it."""

from msgspec import Struct

from cohabit.errors import RecordCorrupt


class Expected(Struct, frozen=True):
    """A digest that the chain must have at an entry: of a snapshot, or of a head that was noted elsewhere."""

    seq: int
    digest: bytes
    source: str  # in words, for the error

    def check_end(self, end: int) -> None:
        """``end``: the number of the last entry."""
        if end < self.seq:
            raise RecordCorrupt(
                f"the record ends with entry {end}, but {self.source} is of entry {self.seq}: entries are missing",
                seq=end + 1,
            )

    def check_digest(self, digest: bytes) -> None:
        """``digest``: of the chain at this entry."""
        if digest != self.digest:
            raise RecordCorrupt(f"{self.source}, of entry {self.seq}, does not belong to this record", seq=self.seq)
