"""A picture of coloured squares as a PNG, with nothing but the standard library."""

import struct
import zlib
from collections.abc import Sequence

Colour = tuple[int, int, int]


def squares(
    width: int, ground: Sequence[int], marks: Sequence[int], palette: Sequence[Colour], scale: int = 12
) -> bytes:
    """Cells row by row, ``width`` in a row: a square of colour ``ground[i]``, and inside it a smaller one of
    colour ``marks[i]``. Colours are numbers into the palette (256 at most)."""
    edge = scale // 4
    rows: list[bytes] = []
    for start in range(0, len(ground), width):
        plain = b"".join(bytes([colour]) * scale for colour in ground[start : start + width])
        marked = b"".join(
            bytes([ground[i]]) * edge + bytes([marks[i]]) * (scale - 2 * edge) + bytes([ground[i]]) * edge
            for i in range(start, start + width)
        )
        rows += [plain] * edge + [marked] * (scale - 2 * edge) + [plain] * edge
    return encode(width * scale, rows, palette)


def encode(width: int, rows: Sequence[bytes], palette: Sequence[Colour]) -> bytes:
    """Rows of palette numbers as a PNG with a palette, eight bits a pixel."""
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)
    pixels = b"".join(b"\0" + row for row in rows)  # 0: this row is not filtered
    chunks = (
        (b"IHDR", header),
        (b"PLTE", bytes(part for colour in palette for part in colour)),
        (b"IDAT", zlib.compress(pixels, 1)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
